"""NumPy kernels as people write them: the table `KERNELS`, by name."""

from benchmarks.kernels import linear_algebra, networks, science, stencils, tables  # noqa: F401 - they fill the table
from benchmarks.kernels.kernel import KERNELS, Kernel, difference, result

__all__ = ["KERNELS", "Kernel", "difference", "result"]
