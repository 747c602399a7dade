"""The native compiler: a graph becomes one machine-code function, through LLVM IR text."""
