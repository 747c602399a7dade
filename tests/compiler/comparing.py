"""Compares what a function does natively with what NumPy does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import autograph as ag


def outcome(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result and the arguments afterwards, or the exception."""
    args = copy.deepcopy(args)
    try:
        return fn(*args), args
    except Exception as error:
        return type(error), str(error), args


def same(a: Any, b: Any) -> None:
    assert type(a) is type(b), (a, b)
    if isinstance(a, tuple):
        assert len(a) == len(b), (a, b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, (a, b)
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, np.generic):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b or a != a, (a, b)


def check(fn: Callable[..., Any], *args: Any, native: bool = True) -> None:
    """The function gives the same natively, without calls back to NumPy where it says so."""
    compiled = ag.to_graph(fn)
    same(outcome(fn, args), outcome(compiled, args))
    if native:
        graph = compiled.get_graph(*args)
        assert graph.native, "it was not compiled"
        for variant in graph.native.values():
            assert variant is not None, graph.native_reason
            assert not variant.fallbacks, [(o.name, o.args, o.outputs) for o in variant.fallbacks]
