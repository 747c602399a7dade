"""What the project is measured with: kernels, workloads, calls, scaling, and the front end."""
