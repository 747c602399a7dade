"""What the tables of the passes say of ops is true of their kernels, for edge values of all numbers."""

from __future__ import annotations

import itertools
import random
import warnings
from typing import Any

import numpy as np
import pytest

from autograph.graph.graph import Tensor
from autograph.graph.types import BOTTOM, Array, Const, Py, Scalar, Type, const_key
from autograph.ops.algebra import HARMLESS, IDENTITIES, NOTHING, never_raises, simpler
from autograph.ops.base import NeedConcrete, Op, Refuse

FLOATS = (0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan"), 1e308, 5e-324)
INTS = (0, 1, -1, 7, 2**63 - 1, -(2**63))
VALUES: dict[type, tuple[Any, ...]] = {
    bool: (False, True),
    int: INTS,
    float: FLOATS,
    complex: (0j, complex("nan"), complex(1e308, -1e308), -1j),
    str: ("", "ab"),
    range: (range(0), range(3)),
}
DTYPES = ("?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES = ((), (3,), (2, 3), (1, 3), (0, 3), (4,), (2,))
CONSTANTS = (0, 1, -1, 2, 300, 0.0, 1.0, -0.0, 0.5, True, False, 1j, "a", None)
TYPES: list[Type] = [
    *(Py(cls) for cls in VALUES),
    *(Scalar(np.dtype(d)) for d in DTYPES),
    *(Array(np.dtype(d), s) for d in ("?", "i1", "i8", "u8", "f4", "f8", "c16") for s in SHAPES),
    Array(np.dtype("f8"), (None,)),
    Array(np.dtype("f8"), (None, 3)),
]
TRIES = 300


def edges(dtype: np.dtype[Any]) -> list[Any]:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [0, 1, info.max, info.min]
    return (
        [True, False]
        if dtype.kind == "b"
        else [x for x in FLOATS if dtype.itemsize > 4 or abs(x) < 1e4 or x != x]
    )


def value_of(t: Type, pick: random.Random) -> Any:
    if isinstance(t, Py):
        return pick.choice(VALUES[t.cls])
    if isinstance(t, Scalar):
        return np.array(pick.choice(edges(t.dtype))).astype(t.dtype)[()]
    assert isinstance(t, Array) and t.shape is not None
    shape = tuple(pick.choice((0, 1, 2, 3)) if d is None else d for d in t.shape)
    items = [pick.choice(edges(t.dtype)) for _ in range(int(np.prod(shape)))]
    return np.array(items, dtype=t.dtype).reshape(shape)


def operand(pick: random.Random) -> Any:
    """A constant, a slice, a shape, or a tensor."""
    kind = pick.random()
    if kind < 0.2:
        return pick.choice(CONSTANTS)
    if kind < 0.25:
        return slice(pick.choice((None, -1, 5)), pick.choice((None, -7, 2)), pick.choice((None, -1, 2)))
    if kind < 0.3:
        return pick.choice(((0, 1), (3,), (), (None, 0), (..., -1)))
    return Tensor(pick.choice(TYPES), None)  # type: ignore[arg-type]


def known(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether the op's rule takes the operands: a graph may have such an operation."""
    types = tuple(a._ag_type if isinstance(a, Tensor) else a for a in args)
    try:
        return op.infer(types, {}) not in (BOTTOM, None)
    except (Refuse, NeedConcrete, TypeError, ValueError, IndexError, AttributeError):
        return False


def calls(op: Op, table: Any) -> list[tuple[Any, ...]]:
    pick = random.Random(op.name)
    made = (tuple(operand(pick) for _ in range(pick.choice((1, 2, 2, 2, 3)))) for _ in range(TRIES))
    return [args for args in made if table(op, args) and known(op, args)]


@pytest.mark.parametrize("op", HARMLESS, ids=lambda op: op.name)
def test_harmless_calls_raise_nothing(op: Op) -> None:
    pick = random.Random(0)
    for args in calls(op, lambda op, args: never_raises(op, args, {})):
        for _ in range(6):
            values = [value_of(a._ag_type, pick) if isinstance(a, Tensor) else a for a in args]
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                op.kernel(*values)


@pytest.mark.parametrize("op", IDENTITIES, ids=lambda op: op.name)
def test_identities_are_exact(op: Op) -> None:
    ones = [0, 1, 0.0, -0.0, 1.0, True, False, -1]
    x = [Tensor(t, None) for t in TYPES if isinstance(t, (Py, Scalar))]  # type: ignore[arg-type]
    pairs = [*itertools.product(x, ones), *itertools.product(ones, x), *((t,) for t in x)]
    ranges = [(t, start, step) for t in x for start in (0, 1) for step in (1, 2)]
    for args in (*pairs, *ranges):
        found = simpler(op, args, {})
        if found is NOTHING or not known(op, args):
            continue
        tensor = next(a for a in args if isinstance(a, Tensor))
        assert found is tensor
        given = tensor._ag_type
        values = VALUES[given.cls] if isinstance(given, Py) else map(given.dtype.type, FLOATS)
        for value in values:
            with np.errstate(all="ignore"):
                result = op.kernel(*(value if isinstance(a, Tensor) else a for a in args))
            assert const_key(result) == const_key(value), (op, args, value)


def test_constants_are_told_apart() -> None:
    assert const_key(0.0) != const_key(-0.0) and Const(1) != Const(1.0)
