"""The table of algorithms, and how one enters it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

__all__ = ["SAMPLES", "normal", "sample"]

F = TypeVar("F", bound=Callable[..., Any])
Inputs = tuple[Callable[[], tuple[Any, ...]], ...]

SAMPLES: list[tuple[Callable[..., Any], Inputs]] = []


def sample(*inputs: Callable[[], tuple[Any, ...]]) -> Callable[[F], F]:
    """Adds a function to the table; each input makes its arguments anew."""

    def add(fn: F) -> F:
        SAMPLES.append((fn, inputs))
        return fn

    return add


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Normally distributed numbers, the same ones every time."""
    return np.random.default_rng(seed).standard_normal(shape)
