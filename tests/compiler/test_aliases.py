"""Writes through names that may stand for one array or another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag


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
