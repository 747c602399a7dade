"""The rules of `math`, `cmath` and of the methods of Python's own classes against the real functions."""

from __future__ import annotations

import cmath
import itertools
import math
import warnings
from typing import Any

import numpy as np
import pytest

from autograph.graph.types import BOTTOM, Array, Const, Py, Ref, Scalar, Site, TupleT, conforms
from autograph.ops import base, math_ops
from autograph.ops.base import BY_FUNCTION, Refuse, infer
from autograph.ops.methods import python_method

NUMBERS: tuple[Any, ...] = (
    True, 3, 0.5, 1 + 2j, np.bool_(1), np.int64(3), np.uint8(2), np.float32(0.5), np.float64(0.5),
    np.complex64(1),
    np.array(2), np.array(0.5), np.array([0.5]), np.array([1, 2]), (1, 2), (0.5, 2), (np.float64(1), 2.5),
    (True, 2),
)  # fmt: skip


def told(value: Any) -> Any:
    if isinstance(value, tuple):
        return TupleT(tuple(told(v) for v in value))
    if isinstance(value, np.generic):
        return Scalar(value.dtype)
    return Array(value.dtype, value.shape) if isinstance(value, np.ndarray) else Py(type(value))


FUNCTIONS = [
    f for m in (math, cmath) for n, f in sorted(vars(m).items()) if callable(f) and not n.startswith("_")
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=[f"{f.__module__}.{f.__name__}" for f in FUNCTIONS])
def test_math_is_foretold(fn: Any) -> None:
    op = BY_FUNCTION[fn]
    calls = [(x,) for x in NUMBERS] + list(itertools.product(NUMBERS, repeat=2))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for args in calls:
            try:
                result = fn(*args)
            except (TypeError, ValueError, OverflowError, ZeroDivisionError):
                continue
            try:
                foretold = infer(op, tuple(map(told, args)), {})
            except Refuse:
                continue
            assert conforms(result, foretold), (args, result, foretold)


METHOD_CALLS: list[tuple[Any, str, tuple[Any, ...]]] = [
    (5, "bit_length", ()), (True, "bit_length", ()), (5, "conjugate", ()), (True, "conjugate", ()),
    (5, "as_integer_ratio", ()),
    (5, "to_bytes", (2, "big")), (2.5, "is_integer", ()), (2.5, "as_integer_ratio", ()), (2.5, "hex", ()),
    (2.5, "conjugate", ()),
    (1j, "conjugate", ()), ("aB", "upper", ()), ("a b", "split", ()), ("a,b", "split", (",",)),
    ("ab", "startswith", ("a",)),
    ("x{}", "format", (3,)), ("abc", "find", ("c",)), ("7", "zfill", (3,)), ("7", "isdigit", ()),
    ("ab", "encode", ()),
    ("a-b", "partition", ("-",)), ("a\nb", "splitlines", ()), (",", "join", (["a", "b"],)),
    ("ab", "count", ("a",)),
    (b"ab", "decode", ()), (b"ab", "hex", ()), (b"a b", "split", ()), ("a", "ljust", (4,)),
    ("abc", "replace", ("a", "b")), (range(3, 9, 2), "index", (5,)), (range(3), "count", (2,)),
]  # fmt: skip


@pytest.mark.parametrize("call", METHOD_CALLS, ids=[f"{type(v).__name__}.{n}" for v, n, _ in METHOD_CALLS])
def test_methods_of_python_values(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "new_site", lambda kind, cls, what="": Site("test", kind, cls))
    value, name, args = call
    op = python_method(type(value), name)
    assert op is not None
    assert conforms(op.kernel(value, *args), infer(op, (Py(type(value)), *args), {}))


@pytest.mark.parametrize("value", [3, True, 2.5, 1j, range(3, 9, 2)])
def test_attributes_of_python_values(value: Any) -> None:
    for name in ("real", "imag", "numerator", "denominator", "start", "stop", "step"):
        op = python_method(type(value), name)
        assert (op is not None) == hasattr(value, name)
        if op is not None:
            assert conforms(op.kernel(value), infer(op, (Py(type(value)),), {}))


def test_split_gives_a_list_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "new_site", lambda kind, cls, what="": Site("test", kind, cls))
    x = np.zeros((6, 2))
    for fn, sections in (
        (np.split, 3),
        (np.split, [1, 4]),
        (np.array_split, 4),
        (np.vsplit, 2),
        (np.hsplit, 2),
    ):
        for type_of_x in (Array(x.dtype, x.shape), Array(x.dtype, (None, None))):
            result = infer(BY_FUNCTION[fn], (type_of_x, sections), {})
            assert isinstance(result, Ref)
            assert result.site.fixed is not None
            parts = fn(x, sections)
            assert len(parts) == len(result.site.fixed)
            assert all(map(conforms, parts, result.site.fixed))
    assert infer(BY_FUNCTION[np.split], (Array(x.dtype, x.shape), Py(int)), {}).site.fixed is None
    assert infer(BY_FUNCTION[np.split], (Array(x.dtype, x.shape), 4), {}) is BOTTOM


def test_tolist_gives_nested_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograph.ops.methods import METHODS

    monkeypatch.setattr(base, "new_site", lambda kind, cls, what="": Site(what, kind, cls))
    result = infer(METHODS["tolist"], (Array(np.dtype("f4"), (2, None)),), {})
    assert isinstance(result, Ref)
    row = result.site.read()
    assert isinstance(row, Ref)
    assert row.site.read() == Py(float)
    assert infer(METHODS["tolist"], (Scalar(np.dtype("i2")),), {}) == Py(int)
    assert infer(BY_FUNCTION[np.ndim], (Array(np.dtype("f4"), (2, None)),), {}) == Const(2)


assert math_ops
