"""Complete algorithms as people write them in NumPy: plain functions, each with inputs to run it on."""
