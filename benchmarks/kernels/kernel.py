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


def difference(
    expected: Any, got: Any, loose: float = 1.0, types: bool = True, where: str = "result"
) -> str | None:
    """The first difference of two results as text, None where there is none.

    Numbers of floating point must agree up to 1e-12 (1e-5 in single precision) of the largest one, times
    `loose`; everything else exactly. `types` says whether kinds and dtypes count too.
    """
    if isinstance(expected, tuple):
        if not isinstance(got, tuple) or len(got) != len(expected):
            return f"{where}: {type(got).__name__} in place of a tuple of {len(expected)}"
        pairs = enumerate(zip(expected, got))
        items = (difference(e, g, loose, types, f"{where}[{i}]") for i, (e, g) in pairs)
        return next((text for text in items if text), None)
    if types and type(expected) is not type(got):
        return f"{where}: {type(got).__name__} in place of {type(expected).__name__}"
    if expected is None or got is None:
        return None if expected is got else f"{where}: one of them is None"
    e, g = np.asarray(expected), np.asarray(got)
    if (types and e.dtype != g.dtype) or e.shape != g.shape:
        return f"{where}: {g.dtype}{list(g.shape)} in place of {e.dtype}{list(e.shape)}"
    return numeric_difference(e, g, loose, where)


def numeric_difference(e: np.ndarray, g: np.ndarray, loose: float, where: str) -> str | None:
    """The difference of two arrays of one shape."""
    if e.dtype.kind not in "fc":
        return None if np.array_equal(e, g) else f"{where}: {np.sum(e != g)} of {e.size} differ"
    finite = np.isfinite(e)
    if not np.array_equal(finite, np.isfinite(g)) or not np.array_equal(
        e[~finite], g[~finite], equal_nan=True
    ):
        return f"{where}: other values are not finite"
    e, g = e[finite], g[finite]
    scale = np.max(np.abs(e), initial=0.0)
    relative = loose * (1e-5 if e.dtype in (np.float32, np.complex64) else 1e-12)
    error = np.max(np.abs(e - g), initial=0.0)
    return None if error <= relative * scale else f"{where}: off by {error:.3g}, the largest is {scale:.3g}"
