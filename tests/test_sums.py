"""sum() and other consumers of generators: the items are added as they come, and no list is made."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


def squares(n):
    return sum(i * i for i in range(n) if i % 3)


def of_rows(x):
    return sum(r * 2 for r in x)


def of_an_array(x):
    return sum(x)


def of_floats(x):
    return sum(float(v) for v in x)


def of_floats_from(x, start):
    return sum((float(v) for v in x), start)


def mapped(x):
    return sum(map(lambda r: r.max(), x))


def counted(x):
    return sum(1 for v in x if v > 0.5), any(v > 3 for v in x), all(v > -9 for v in x)


def of_numbers_of_numpy(x):
    return sum(v * 2 for v in x)


FLOATS = [
    [],
    [0.1] * 10,
    [1e16, 1.0, -1e16],
    [-0.0],
    [math.inf, 1.0],
    [math.inf, -math.inf],
    [1e308, 1e308, -1e308],
    [math.nan, 1.0],
]


@pytest.mark.parametrize("values", FLOATS)
def test_sums_of_floats_have_the_bits_of_python(values) -> None:
    """From Python 3.12 on they carry what they round off."""
    check(of_floats, np.array(values))
    for start in (0.0, -0.0, 2.5):
        check(of_floats_from, np.array(values), start)
    check(of_floats_from, np.array(values), 3, native=False)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        *((squares, (n,)) for n in (0, 1, 100)),
        *((of_rows, (np.arange(12.0).reshape(rows, -1) - 3,)) for rows in (1, 3, 12)),
        (of_rows, (np.ones((3, 4), bool),)),
        (of_rows, (np.arange(12, dtype=np.int8).reshape(3, 4),)),
        (of_an_array, (np.arange(24.0).reshape(2, 3, 4),)),
        (of_an_array, (np.ones((1, 3), np.float32),)),
        (mapped, (np.arange(12.0).reshape(3, 4),)),
        (counted, (np.arange(5.0),)),
        (counted, (np.zeros(0),)),
        (of_numbers_of_numpy, (np.arange(5, dtype=np.int16),)),
        (of_numbers_of_numpy, (np.linspace(0, 1, 7),)),
    ],
)
def test_nothing_calls_back(fn, args) -> None:
    check(fn, *args)


def of_several_kinds(x, k):
    return sum(float(v) if v > 1 else k for v in x)


def of_matrices(x):
    return sum(m.T for m in x)


def of_lists(x):
    return sum(([v, 1] for v in x), [])  # noqa: RUF017


def of_what_is_no_number(x):
    return sum(str(v) for v in x)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (of_several_kinds, (np.arange(4.0), 1)),
        (of_several_kinds, (np.arange(4.0), True)),
        (of_matrices, (np.arange(24.0).reshape(2, 3, 4),)),
        (of_matrices, (np.zeros((0, 3, 4)),)),
        (of_an_array, (np.zeros((0, 3)),)),
        (of_an_array, (np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),)),
        (of_rows, (np.zeros((0, 3)),)),
        (of_rows, (np.zeros((3, 0)),)),
        (of_lists, ([1, 2],)),
        (of_what_is_no_number, ([1, 2],)),
    ],
)
def test_what_needs_a_list_still_has_one(fn, args) -> None:
    check(fn, *args, native=False)


def raising(x, limit):
    seen = []

    def item(v):
        seen.append(v)
        if v > limit:
            raise KeyError(v)
        return "text" if v > 2 else v

    try:
        return sum(map(item, x))
    except (TypeError, KeyError) as error:
        return type(error).__name__, seen


def test_items_are_added_before_the_next_is_made() -> None:
    for limit in (0, 1, 5):
        assert ag.to_graph(raising)([1, 2, 1, 2], limit) == raising([1, 2, 1, 2], limit)


def shared(n):
    total, largest = 0, 0

    def add(v):
        nonlocal total, largest
        total += v
        if v > largest:
            largest = v
        return total

    for i in range(n):
        add(i * 7 % 5)
    return total, largest, add(1)


def from_a_generator(x, limit):
    def running():
        total = 0.0
        for v in x:
            total += v
            if total > limit:
                yield -total
            yield total

    found, last = 0, 0.0
    for value in running():
        if value > 8:
            break
        found += 1
        last = value
    return found, last


@pytest.mark.parametrize("n", [0, 1, 6])
def test_variables_that_closures_share_are_carried_by_loops(n) -> None:
    check(shared, n)
    check(from_a_generator, np.arange(float(n)), 3.0)
