"""Counters at the ends of their types."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph.errors import IntegerOverflow
from tests.compiler.comparing import check


@pytest.mark.parametrize("bound", [1e30, np.float64(1e30), np.uint64(2**64 - 1), float("inf")])
def test_a_counter_below_a_bound_of_another_type_overflows_loudly(bound) -> None:
    @ag.to_graph
    def f(i, bound):
        while i < bound:
            i += 1
        return i

    with pytest.raises(IntegerOverflow):
        f(2**63 - 3, bound)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16])
def test_a_narrow_counter_below_a_wide_bound_wraps(kind) -> None:
    def f(i, x, bound):
        total, turns = 0.0, 0
        while i < bound:
            total += x[i]
            i = i + 1
            turns += 1
            if turns > 70000:
                break
        return total, i

    for n in (300, 40000):
        check(f, kind(100), np.arange(float(n)), 2**20, native=False)
    check(f, kind(3), np.arange(100.0), kind(90), native=False)


WIDE = 2**64


@pytest.mark.parametrize(
    "narrow, wide",
    [
        (1, WIDE),
        ((1, 2), (1, -WIDE)),
        ([1, 2], [WIDE, 2]),
        ({"a": 1}, {"a": WIDE}),
        ([[1], {"a": 2}], [[1], {"a": 2**63}]),
    ],
)
def test_an_integer_of_more_than_64_bits_is_refused_before_anything_is_done(narrow, wide) -> None:
    @ag.to_graph
    def f(x, given):
        x[0] = 1.0
        return given

    for _ in range(2):
        x = np.zeros(2)
        f(x, narrow)
        assert x[0] == 1
        x = np.zeros(2)
        with pytest.raises(IntegerOverflow, match="does not fit in 64 bits"):
            f(x, wide)
        assert x[0] == 0


@pytest.mark.parametrize(
    "step", [2**62, -(2**63), 2**63 - 1, np.uint64(2), np.uint64(2**64 - 1), np.int8(-3)]
)
def test_slices_with_any_step(step) -> None:
    def f(x, start, stop, step):
        return x[start:stop:step], len(x[stop:start:step])

    for size in (0, 1, 10):
        for start, stop in ((0, 10), (3, -1), (-(2**63), 2**63 - 1), (2**62, 0)):
            check(f, np.arange(size), start, stop, step, native=False)
