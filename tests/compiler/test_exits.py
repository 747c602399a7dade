"""Loops that are left in the middle of a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def search(x, v):
    for i in range(len(x)):
        if x[i] == v:
            return i
    return -1


def two_ways(n, m):
    s = 0
    while True:
        n = n * 3 % 1000
        if n == m:
            break
        s += 1
        if s > 100:
            s = -1
            break
        if n % 7 == 0:
            continue
        s += 1
    return s, n


def otherwise(x, v):
    for i in range(len(x)):
        if x[i] > v:
            r = i * 2
            break
    else:
        r = -5
    return r


def escapes(limit, a, b):
    x = 0.0
    y = 0.0
    n = 0
    while n < limit:
        x, y = x * x - y * y + a, 2 * x * y + b
        if x * x + y * y > 4:
            break
        n += 1
    return n, x, y


def nested(x, bound):
    found = 0
    at = -1.0
    for i in range(len(x)):
        total = 0.0
        for j in range(i, len(x)):
            total += x[j]
            if total > bound:
                found += 1
                at = total
                break
        if found > 2:
            break
    return found, at


def leaves_both(x, v):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] == v:
                return i, j
            if x[i, j] < 0:
                break
    return -1, -1


def at_the_end(n):
    s = 0
    while n > 0:
        s += n
        n -= 1
        if s > 20:
            break
    return s, n


def in_the_first_turn(x):
    last = 0.0
    for v in x:
        last = v
        if v > 0:
            break
        last = v * 2
    return last


def raises(x, v):
    for i in range(len(x)):
        if x[i] == v:
            break
        if x[i] < 0:
            raise ValueError("negative")
        if x[i] > 100:
            return i / (x[i] - x[i])
    return i


def changes_type(x, v):
    s = 0
    for i in range(len(x)):
        if x[i] > v:
            s = s + 0.5
        if s > 2:
            break
        s += i
    return s


def swaps(n):
    a = "left"
    b = "right"
    count = 0
    while count < n:
        a, b = b, a
        count += 1
        if count == 4:
            break
    return a + b, count


def writes(x, v):
    for i in range(len(x)):
        if x[i] == v:
            break
        x[i] = -1.0
    return x


def tries(x, v):
    i = 0
    s = 0.0
    while i < 10:
        try:
            s += 1 / (x[i] - v)
            if s > 1.5:
                break
        except ZeroDivisionError:
            s += 100.0
        finally:
            i += 1
    return s, i


def dynamic(x, v):
    done = False
    s = 0.0
    i = 0
    while not done:
        s += x[i]
        i += 1
        done = s > v or i == len(x)
    return s, i, done


X = np.array([0.5, 1.5, -2.0, 3.25, 4.0, 0.0, 7.0])
CALLS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (search, [(X, 3.25), (X, 0.5), (X, 9.0), (X[:0], 1.0)]),
    (two_ways, [(5, 7), (5, 635), (5, 15), (7, 9), (0, 0)]),
    (otherwise, [(X, 3.0), (X, 30.0), (X[:0], 1.0)]),
    (escapes, [(50, 0.1, 0.1), (50, 0.5, 0.5), (50, 3.0, 0.0), (0, 1.0, 1.0), (1, 3.0, 3.0), (2, 1.0, 1.0)]),
    (nested, [(X, 4.0), (X, 1.0), (X, 100.0)]),
    (leaves_both, [(X[:6].reshape(2, 3), v) for v in (0.5, -2.0, 3.25, 0.0, 8.0)]),
    (at_the_end, [(3,), (20,), (6,), (0,)]),
    (in_the_first_turn, [(X,), (-X,), (-abs(X),)]),
    (raises, [(X, 1.5), (X, 3.25), (np.array([1.0, 200.0]), 5.0)]),
    (changes_type, [(X, 1.0), (X, 100.0), (X, -3.0)]),
    (swaps, [(0,), (3,), (4,), (9,)]),
    (writes, [(X, 3.25), (X, 99.0)]),
    (tries, [(X, 3.25), (X, 0.5), (X, 100.0)]),
    (dynamic, [(X, 1.0), (X, 100.0), (X, -1.0)]),
]


@pytest.mark.parametrize("fn, args", [(fn, args) for fn, calls in CALLS for args in calls])
def test_loops_end_as_in_python(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(fn, *args, native=False)


def test_a_search_touches_no_object_in_its_turns() -> None:
    text = ag.to_graph(search).get_native(X, 3.25)
    loop = text[text.index("fcmp") :]
    assert "IncRef" not in loop[: loop.index("br i1")]


def test_a_flag_is_in_no_register() -> None:
    text = ag.to_graph(escapes).get_native(50, 0.1, 0.1)
    assert "phi i1" not in text
