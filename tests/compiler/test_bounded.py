"""Bounds of the integers that loops carry: which are found, and that no wrong one is believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler.bounded import FAR, Bounded
from autograph.errors import IntegerOverflow

MOST = 2**63 - 1


def bounds(fn: Callable[..., Any], *args: Any) -> dict[str, tuple[int | None, int | None]]:
    """The bounds of what the loops of a function carry, by name."""
    found: dict[str, tuple[int | None, int | None]] = {}
    graph = ag.to_graph(fn).get_graph(*args)
    known = Bounded(graph).bounds
    for operation in graph.operations():
        if operation.name == "while_loop":
            for tensor in operation.outputs:
                if id(tensor) in known:
                    found[tensor._ag_name] = known[id(tensor)]
    return found


def counts(x, n):
    found = 0
    turns = 0
    back = 10
    for i in range(n):
        for j in range(len(x)):
            if x[j] > i:
                found += 1
            elif x[j] < 0:
                found += 2
            turns += 1
        back -= 1
    return found, turns, back


def test_counts_stay_near() -> None:
    found = bounds(counts, np.arange(3.0), 4)
    assert found["found"] == found["turns"] == (0, FAR)
    assert found["back"] == (-FAR, FAR)


def grows(n, start):
    total = 0
    double = 1
    fast = 0
    given = start
    mixed = 0
    for i in range(n):
        total += i
        double += double
        fast += 1000
        given += 1
        mixed -= 1
        mixed = mixed * mixed
    return total, double, fast, given, mixed


def test_what_may_grow_fast_has_no_upper_bound() -> None:
    found = bounds(grows, 5, 7)
    assert found["total"][1] is found["double"][1] is found["fast"][1] is None
    assert found["double"] == found["fast"] == (0, None)
    assert found["given"] == (None, None)
    assert found["mixed"] == (None, None)


def sinks(n, m):
    a = 5
    b = 7
    c = 9
    d = 1
    e = 6
    for i in range(n):
        a = a - b
        b = b // 2
        c = c // -2
        d = d % m
        e = (e * 5 + 3) & 1023
    return a, b, c, d, e


def test_only_what_cannot_sink_is_natural() -> None:
    found = bounds(sinks, 5, -3)
    assert found["a"][0] is found["c"][0] is found["d"][0] is None
    assert found["b"][0] == found["e"][0] == 0


@pytest.mark.parametrize(
    "args", [(0, 0), (1, MOST - 1), (2, MOST), (40, MOST - 39), (40, MOST - 40), (70, 0)]
)
def test_an_overflow_is_found(args: tuple[int, int]) -> None:
    n, start = args

    @ag.to_graph
    def run(n, start):
        double = 1
        given = start
        count = 0
        while count < n:
            given += 1
            double += double
            count += 1
        return double, given, count

    if n <= 62 and start + n <= MOST:
        assert run(n, start) == (2**n, start + n, n)
    else:
        with pytest.raises(IntegerOverflow):
            run(n, start)


def greatest_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@pytest.mark.parametrize("a", [12, -12, 0, 7, -(2**63), 2**63 - 1])
def test_remainders_have_the_sign_of_the_divisor(a: int) -> None:
    def divided(a, n):
        quotients = 0
        remainders = 0
        d = 3
        for i in range(n):
            quotients += a // d
            remainders += a % d
            d = d * 5 % 17
        return quotients, remainders, greatest_divisor(a, d)

    assert ag.to_graph(divided)(a, 2) == divided(a, 2)
    for b in (8, -8, 1, -1, 0):
        assert ag.to_graph(greatest_divisor)(a, b) == greatest_divisor(a, b)


@pytest.mark.parametrize("n", [1, 3, 4, 9])
def test_a_divisor_that_becomes_zero_is_found(n: int) -> None:
    def divides(n):
        total = 0
        d = 8
        for i in range(n):
            total += (i - 5) // d + (i - 5) % d
            d = d // 2
        return total

    try:
        expected = divides(n)
    except ZeroDivisionError as error:
        with pytest.raises(ZeroDivisionError, match=str(error).replace("(", ".").replace(")", ".")):
            ag.to_graph(divides)(n)
    else:
        assert ag.to_graph(divides)(n) == expected


@pytest.mark.parametrize("fn, args", [(counts, (np.arange(-3.0, 9.0), 5)), (sinks, (9, -3)), (sinks, (9, 4))])
def test_loops_give_what_python_gives(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert ag.to_graph(fn)(*args) == fn(*args)


def test_a_count_in_a_quick_loop_needs_no_check() -> None:
    @ag.to_graph
    def positive(x):
        found = 0
        for i in range(len(x)):
            if x[i] > 0:
                found += 1
        return found

    x = np.random.default_rng(3).normal(size=1001)
    assert positive(x) == int((x > 0).sum())
    assert "sadd.with.overflow" not in positive.get_native(x)


def test_a_count_that_starts_far_away_is_checked() -> None:
    @ag.to_graph
    def positive(x, found):
        for i in range(len(x)):
            if x[i] > 0:
                found += 1
        return found

    x = np.ones(50)
    assert positive(x, MOST - 50) == MOST
    with pytest.raises(IntegerOverflow):
        positive(x, MOST - 49)
