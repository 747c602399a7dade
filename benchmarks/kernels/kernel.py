"""The table of kernels, and how one enters it.

A kernel is a plain function: its inputs come from a fixed seed, and its result is what it returns and what it
writes into its arguments. It knows nothing of who runs it, and this package imports nothing but NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

__all__ = ["KERNELS", "Kernel", "difference", "kernel", "normal", "result", "uniform"]

F = TypeVar("F", bound=Callable[..., Any])
Kind = Literal["loops", "arrays"]


@dataclass(frozen=True)
class Kernel:
    """A function and its inputs.

    Its kind says what takes the time: "loops" over elements, or expressions of whole "arrays" and slices.
    """

    name: str
    kind: Kind
    function: Callable[..., Any]
    make: Callable[..., tuple[Any, ...]]
    size: tuple[int, ...]
    tiny: tuple[int, ...]

    def inputs(self, tiny: bool = False) -> tuple[Any, ...]:
        """New arguments: of the size that is measured, or as small as a test wants them."""
        return self.make(*(self.tiny if tiny else self.size))


KERNELS: dict[str, Kernel] = {}


def kernel(
    kind: Kind, make: Callable[..., tuple[Any, ...]], size: tuple[int, ...], tiny: tuple[int, ...]
) -> Callable[[F], F]:
    """Adds the decorated function to the table and leaves it as it is."""

    def add(function: F) -> F:
        name = function.__name__
        assert name not in KERNELS, name
        KERNELS[name] = Kernel(name, kind, function, make, size, tiny)
        return function

    return add


def normal(*shape: int, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Normally distributed numbers, the same ones every time."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def uniform(*shape: int, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Numbers between 0 and 1, the same ones every time."""
    return np.random.default_rng([seed, *shape]).random(shape).astype(dtype)


def result(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call returns, and after it the arrays among its arguments."""
    returned = function(*arguments)
    return (returned, *(value for value in arguments if isinstance(value, np.ndarray)))


def difference(expected: Any, got: Any, loose: float = 1.0, where: str = "result") -> str | None:
    """The first difference of two results as text, None where there is none.

    Kinds, dtypes and shapes must agree; numbers of floating point up to 1e-12 (1e-5 in single precision) of
    the largest one, times `loose`; everything else exactly.
    """
    if isinstance(expected, tuple):
        if not isinstance(got, tuple) or len(got) != len(expected):
            return f"{where}: {type(got).__name__} in place of a tuple of {len(expected)}"
        items = (difference(e, g, loose, f"{where}[{i}]") for i, (e, g) in enumerate(zip(expected, got)))
        return next((text for text in items if text), None)
    if type(expected) is not type(got):
        return f"{where}: {type(got).__name__} in place of {type(expected).__name__}"
    if expected is None:
        return None
    e, g = np.asarray(expected), np.asarray(got)
    if e.dtype != g.dtype or e.shape != g.shape:
        return f"{where}: {g.dtype}{list(g.shape)} in place of {e.dtype}{list(e.shape)}"
    if e.dtype.kind not in "fc":
        return None if np.array_equal(e, g) else f"{where}: {np.sum(e != g)} of {e.size} differ"
    if not np.array_equal(np.isfinite(e), np.isfinite(g)):
        return f"{where}: other places are finite"
    e, g = e[np.isfinite(e)], g[np.isfinite(e)]
    scale = np.max(np.abs(e), initial=0.0)
    relative = loose * (1e-5 if e.dtype in (np.float32, np.complex64) else 1e-12)
    error = np.max(np.abs(e - g), initial=0.0)
    return None if error <= relative * scale else f"{where}: off by {error:.3g}, the largest is {scale:.3g}"
