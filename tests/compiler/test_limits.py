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
