"""Writes through names that may stand for one array or another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def joined(c, x):
    a = x * 2.0
    b = x * 3.0
    z = a if c else b
    z[1:] = a[:-1]
    a[0] += 5.0
    return a, b, z


def swapped(n, x):
    a = x * 2.0
    z = x * 3.0
    for i in range(n):
        z[1:] = a[:-1] + 1.0
        a, z = z, a
        a[1:] += a[:-1]
    return a, z


def maybe_copied(c, x):
    a = x * 2.0
    b = a
    if c:
        b = x * 1.0
    b[2:] = a[:-2]
    return a, b


def in_a_list(c, x):
    items = [x, x * 2.0]
    y = items[c]
    y[1:] = x[:-1]
    return items[0], y


@pytest.mark.parametrize("fn", [joined, swapped, maybe_copied, in_a_list])
@pytest.mark.parametrize("choice", [0, 1])
def test_names_of_one_array(fn: Any, choice: int) -> None:
    x, y = np.arange(40.0), np.arange(40.0)
    got, want = ag.to_graph(fn)(choice, x), fn(choice, y)
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w)
    np.testing.assert_array_equal(x, y)
    assert [[g is h for h in got] for g in got] == [[w is v for v in want] for w in want]


def test_an_array_that_was_joined_and_then_changed_in_place_stays_the_same_object():
    def looped(a, b):
        for _ in range(2):
            b *= a
        b += a
        return b

    def chosen(a, b):
        c = a if a[0] > 0 else b
        c += 1
        d = c[1:] + 1
        c -= 2
        return (c, d)[0]

    def swapped(a, b):
        for _ in range(3):
            a, b = b, a
            a += 1
        a -= 1
        return a

    for fn, i in ((looped, 1), (chosen, 0), (chosen, 1), (swapped, 1)):
        given = np.arange(40.0) + (i == 0), np.arange(40.0) + 1
        result = ag.to_graph(fn)(*given)
        assert result is given[i], fn

    def compared(a, turns):
        x = a * 2
        y = x
        for _ in range(turns):
            x += a
            x, y = y, x
        x -= 1
        return x is y, x

    def kept(a, turns):
        items = [a]
        for _ in range(turns):
            a += 1
        a *= 2
        return items[0] is a, a[1:] + 1

    for fn in (compared, kept):
        check(fn, np.arange(40.0), 1, native=False)
        check(fn, np.arange(40.0), 2, native=False)
