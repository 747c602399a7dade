"""Random programs that compare every mode of the library with plain Python."""
