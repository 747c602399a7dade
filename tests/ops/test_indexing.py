"""The rule of indexing against NumPy, for random indices of every form told with random detail."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM, Array, Const, Py, Scalar, conforms, generalize
from autograph.ops.base import Refuse, type_of
from autograph.ops.indexing import get_item_rule, set_item_rule


def erased(a: np.ndarray, rng: random.Random) -> Array:
    if rng.random() < 0.1:
        return Array(a.dtype, None)
    return Array(a.dtype, tuple(d if rng.random() < 0.5 else None for d in a.shape))


def random_slice(rng: random.Random) -> tuple[Any, Any]:
    bounds = [
        rng.choice([None, None, 0, 1, -1, 2]),
        rng.choice([None, 0, 1, -1, 2]),
        rng.choice([None, 1, -1, 2]),
    ]
    value = slice(*bounds)
    told = slice(*(Py(int) if b is not None and rng.random() < 0.5 else b for b in bounds))
    return value, rng.choice([value, told, Const(value), Py(slice)])


def random_part(shape: tuple[int, ...], rng: random.Random) -> tuple[Any, Any]:
    """One part of an index, and what the rule is told of it."""
    kind = rng.randint(0, 11)
    if kind < 3:
        number = rng.choice([0, 0, 1, -1, 2])
        return number, rng.choice([number, Py(int), Const(number)])
    if kind < 5:
        return random_slice(rng)
    if kind < 7:
        return (None, None) if kind == 5 else (Ellipsis, Ellipsis)
    if kind == 7:
        array = np.zeros(rng.choice([(), (1,), (2,), (2, 1), (3,)]), rng.choice(["i8", "u1"]))
        return array, Array(array.dtype, tuple(d if rng.random() < 0.5 else None for d in array.shape))
    if kind == 8:
        start, rank = rng.randint(0, len(shape)), rng.randint(0, 2)
        dims = shape[start : start + rank] if rng.random() < 0.9 else (2,) * rank
        mask = np.array(np.random.default_rng(rng.randint(0, 9)).random(dims) > 0.5)
        return mask, Array(mask.dtype, tuple(d if rng.random() < 0.5 else None for d in mask.shape))
    if kind == 9:
        flag = rng.choice([True, False, np.True_])
        return flag, rng.choice([flag, type_of(flag), generalize(type_of(flag))])
    if kind == 10:
        items = rng.choice([[0], [0, 0], [], [[0], [0]], [True, False], (0, 1)])
        return items, items
    return np.int32(0), rng.choice([np.int32(0), Scalar(np.dtype("i4"))])


def check(rng: random.Random) -> str | None:
    shape = tuple(rng.choice([0, 1, 2, 3, 4]) for _ in range(rng.randint(0, 4)))
    x: Any = np.zeros(shape, rng.choice(["f8", "i4", "c8"]))
    parts = [random_part(shape, rng) for _ in range(rng.randint(0, 4))]
    index, told = tuple(v for v, _ in parts), tuple(t for _, t in parts)
    if len(parts) == 1 and rng.random() < 0.5 and not isinstance(index[0], tuple):
        index, told = index[0], told[0]
    told_x: Any = erased(x, rng)
    if not shape and rng.random() < 0.5:
        x, told_x = x[()], Scalar(x.dtype)
    try:
        foretold = get_item_rule(told_x, told)
        result = x[index]
    except (Refuse, IndexError, ValueError, TypeError):
        return None
    if not conforms(result, foretold):
        return f"{told_x}[{told}] -> {foretold}, but {np.shape(result)} of {index} on {shape}"
    if isinstance(x, np.ndarray):
        value = np.zeros(rng.choice([result.shape, (1, *result.shape), (), (1,)]))
        try:
            x[index] = value
        except (ValueError, TypeError):
            return None
        if set_item_rule(told_x, told, erased(value, rng)) is BOTTOM:
            return f"{told_x}[{told}] = {value.shape} -> never, but it is fine for {index} on {shape}"
    return None


def test_indexing_is_foretold() -> None:
    rng = random.Random(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [w for w in (check(rng) for _ in range(15_000)) if w]
    assert not wrong, "\n".join(wrong[:5])
