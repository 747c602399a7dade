"""The memory of large arrays that are read for the last time is that of the result; nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import buffers
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


SIDE = 200
assert SIDE * SIDE * 4 > buffers.LEAST
RANDOM = np.random.default_rng(11)
X, Y = RANDOM.uniform(-1, 1, (2, SIDE, SIDE))
ORDER = RANDOM.permutation(SIDE)


def taken(fn: Any, *args: Any) -> int:
    """At how many places of its code a function takes an array instead of a new one, if it can."""
    compiled = ag.to_graph(fn)
    compiled(*args)
    return str(compiled.get_native(*args)).count("call ptr @ag_again")


def test_arrays_of_a_loop_are_computed_in_place() -> None:
    def fn(x: Any, y: Any, n: Any) -> Any:
        a, b = x * 1.0, y * 1.0
        for _ in range(n):
            t = a * 0.5 + b
            b = np.where(t > 0, t, b)
            a = t - b
        return a, b

    def swapped(x: Any, y: Any, n: Any) -> Any:
        a, b = x + 0.0, y + 0.0
        for _ in range(n):
            a, b = b, a * 0.5 + b
        return a, b

    def narrowed(x: Any, y: Any, n: Any) -> Any:
        a, m = x * 1.0, x > 0
        for _ in range(n):
            a = np.where(m, a * 0.5 + y, a)
            m = m & (a < 0.9)
        return a, m

    for f in (fn, swapped, narrowed):
        assert taken(f, X, Y, 5) > 0
        for n in (0, 1, 2, 7):
            check(f, X, Y, n)


def test_arguments_and_what_others_have_stay_as_they_are() -> None:
    def carried(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x * 0.5 + 1
        return x

    def listed(x: Any, n: Any) -> Any:
        a = x + 1
        made = []
        for _ in range(n):
            made.append(a)
            a = a * 2
        return tuple(made), a

    def twice(x: Any, n: Any) -> Any:
        a = b = x + 1
        for _ in range(n):
            a = a + 1
            b = b * 2
        return a, b

    def first(x: Any, n: Any) -> Any:
        a = x + 1
        start = a
        for _ in range(n):
            a = a * 2
        return a - start, start

    def held(x: Any, n: Any) -> Any:
        a = x + 1

        def read() -> Any:
            return a.sum()

        for _ in range(n):
            a = a * 2
        return a, read()

    for fn in (carried, listed, twice, first):
        for n in (1, 4):
            check(fn, X, n, native=False)
    x = np.ones((SIDE, SIDE))
    check(held, x, 3, native=False)


def test_what_is_read_elsewhere_is_not_written() -> None:
    def reversed_(x: Any, n: Any) -> Any:
        a = x + 1
        for _ in range(n):
            a = a * 0.5 + a[::-1]
        return a

    def gathered(x: Any, n: Any) -> Any:
        a = x + 1
        for _ in range(n):
            a = a[ORDER] + a
        return a

    def broadcast(x: Any, n: Any) -> Any:
        a = x + 1
        for _ in range(n):
            a = a * 0.5 + a[0] + a[:, 1:2]
        return a

    def viewed(x: Any, n: Any) -> Any:
        a = x + 1
        total = 0.0
        for _ in range(n):
            v = a[3:5]
            a = a * 2
            total += v.max()
        return a, total

    def put_off(x: Any, n: Any) -> Any:
        a = x + 1
        for _ in range(n):
            late = a * 3
            b = a - 1
            c = b * b
            a = late * 0.1 + c + b
        return a

    def later(x: Any, n: Any) -> Any:
        a = x + 1
        b = a * 2
        c = b + b.max()
        return c * b, a - c

    def written(x: Any, n: Any) -> Any:
        a = x + 1
        b = a * 0.5
        a += b
        a[0] = 3
        return a, b

    def transposed(x: Any, n: Any) -> Any:
        a = x + 1
        for _ in range(n):
            a = a.T * 0.5 + a
        return a

    for fn in (reversed_, gathered, broadcast, viewed, put_off, later, written, transposed):
        for n in (1, 3):
            check(fn, X, n, native=False)


def test_ways_out_of_a_loop_have_the_values_of_before() -> None:
    def left(x: Any, n: Any) -> Any:
        a = x + 1
        for i in range(n):
            new = a * 0.5
            if i == 2:
                break
            a = new + 1
        return a

    def left_later(x: Any, n: Any) -> Any:
        a = b = x + 1
        for i in range(n):
            b = a
            a = a * 0.5
            if i == 2:
                break
        return a, b

    def returned(x: Any, n: Any) -> Any:
        a = x + 1
        for i in range(n):
            b = a * 0.5
            if b.max() < 0.3:
                return a, i
            a = b
        return a, -1

    def skipped(x: Any, n: Any) -> Any:
        a = x + 1
        for i in range(n):
            if i % 2:
                continue
            a = a * 0.5
        return a

    def caught(x: Any, n: Any) -> Any:
        a = x + 1
        try:
            for i in range(n):
                a = a * 0.5
                if i == 2:
                    raise ValueError("late")
                a = a + 1
        except ValueError:
            return a, "caught"
        return a, "done"

    def nested(x: Any, n: Any) -> Any:
        a = x + 1
        for i in range(n):
            b = a * 0.5
            for _ in range(i):
                b = b + a
            a = b if i % 2 else a + b
        return a

    for fn in (left, left_later, returned, skipped, caught, nested):
        for n in (0, 1, 2, 3, 6):
            check(fn, X, n, native=False)


def test_sizes_that_are_not_known() -> None:
    def fn(x: Any, n: Any) -> Any:
        a = x * 1.0
        for _ in range(n):
            a = a * 0.5 + x
        return a

    graph = ag.to_graph(fn)
    for size in (3, 70_000, 50_000, 0, 1, 66_000):
        x = RANDOM.normal(size=size)
        before = x.copy()
        np.testing.assert_array_equal(graph(x, 4), fn(x, 4))
        np.testing.assert_array_equal(x, before)
