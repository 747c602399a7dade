"""Short loops inside of loops, whose turns are written out."""

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


def pairs(p, v, steps, dt):
    for _ in range(steps):
        for i in range(len(p)):
            for j in range(i + 1, len(p)):
                d = p[i] - p[j]
                f = dt / (d * d + 0.01)
                v[i] -= d * f
                v[j] += d * f
        for i in range(len(p)):
            p[i] += dt * v[i]
    return p


def counters(n):
    s = 0
    last = -1
    for a in range(n):
        for i in range(3, 7):
            for j in range(i, 2, -1):
                s = s * 3 % 1009 + i * j
            last = i
        for k in range(5, 2):
            last = k
        m = 0
        while m < 4:
            m += 1
            s += m
        s += m
    return s, last


def changes_type(x, n):
    s = 0
    for a in range(n):
        for i in range(3):
            s += x[i]
        s = s / 2
    return s


def outside(x, n):
    s = 0.0
    for a in range(n):
        for i in range(4):
            if i < 2 or a < 3:
                s += x[i + a]
    return s


def raises(x, n):
    for a in range(n):
        for i in range(3):
            if x[i] > a:
                x[i] = i / (x[i] - 4)
            else:
                raise ValueError(f"{i} of {a}")
    return x


def leaves(x, n):
    s = 0.0
    for a in range(n):
        for i in range(4):
            if x[i] > 2:
                break
            s += x[i]
        for i in range(4):
            if i == a:
                continue
            s -= i
        else:
            s += 100
    return s


def shares(x, y, n):
    for a in range(n):
        for i in range(3):
            x[i] = y[i + 1] + x[i] * 0.5
            y[i] = x[i] + a
    return x, y


def matrix(m, n):
    r = np.zeros((3, 3))
    for a in range(n):
        for i in range(3):
            for j in range(3):
                t = 0.0
                for k in range(3):
                    t += m[i, k] * m[k, j]
                r[i, j] = t
        m = m + 0.125 * r
    return m, r


def mixed(x, n):
    s = 0
    for a in range(n):
        for i in range(4):
            if i == 2:
                v = x[i]
            else:
                v = i
            s = s + v * 2
            w = 1 if i % 2 else 2.5
            s += w * v
    return s, v, w


def appends(n):
    found = []
    for a in range(n):
        for i in range(3):
            if (i + a) % 2:
                found.append(i * a)
    return found


X = np.array([0.5, 1.5, 2.25, -3.0, 4.5, 1.0])
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (pairs, (X[:5].copy(), np.zeros(5), 20, 0.01)),
    (pairs, (X[:1].copy(), np.zeros(1), 2, 0.01)),
    (counters, (0,)),
    (counters, (4,)),
    (changes_type, (X, 5)),
    (changes_type, (X, 0)),
    (outside, (X, 3)),
    (outside, (X, 6)),
    (raises, (X, 1)),
    (raises, (np.array([1.0, 4.0, 3.0]), 2)),
    (raises, (np.array([2.0, 5.0, 3.0]), 2)),
    (leaves, (X, 6)),
    (shares, (X.copy(), X[::-1].copy(), 4)),
    (matrix, (X[:5].reshape(5, 1)[:3] * X[:3], 3)),
    (mixed, (X, 3)),
    (mixed, (X, 1)),
    (appends, (4,)),
]


@pytest.mark.parametrize("fn, args", CALLS)
def test_short_loops_do_what_python_does(fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
    check(fn, *args, native=False)


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_elements_of_one_memory_are_read_again(shift: int) -> None:
    base = np.arange(8.0)
    expected = base.copy()
    shares(expected[:4], expected[shift : shift + 4], 3)
    ag.to_graph(shares)(base[:4], base[shift : shift + 4], 3)
    np.testing.assert_array_equal(base, expected)


def test_turns_that_are_written_out_have_no_loop() -> None:
    text = ag.to_graph(pairs).get_native(X[:5].copy(), np.zeros(5), 20, 0.01)
    assert text.count("fdiv double") == 10


def test_a_long_loop_stays_one() -> None:
    @ag.to_graph
    def sums(x, n):
        s = 0.0
        for a in range(n):
            for i in range(100):
                s += x[i] * a
        return s

    text = sums.get_native(np.ones(100), 3)
    assert text.count("fmul double") < 40
    assert sums(np.ones(100), 3) == 300.0


VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x[1:],
    lambda x: x[::-1],
    lambda x: np.asarray(x),
    lambda x: np.ravel(x),
    lambda x: x.reshape(2, -1)[0],
    lambda x: x.T,
    lambda x: x.view(),
    lambda x: np.flip(x),
    lambda x: x.real,
    lambda x: x.astype(np.float64, copy=False),
    lambda x: np.split(x, 2)[1],
    lambda x: x[None][0],
    lambda x: [x][0],
    lambda x: {"a": x}["a"],
    lambda x: np.stack([x, x])[1],
    lambda x: np.concatenate([x]),
    lambda x: x.copy(),
    lambda x: x * 1.0,
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("turns", [2, 3])
def test_what_is_written_through_one_name_is_read_through_another(
    view: Callable[[Any], Any], turns: int
) -> None:
    def mixes(x, n):
        y = view(x)
        for k in range(n):
            for i in range(turns):
                a = x[i]
                y[i] = a * 0.5 + 1
                x[i] = a + x[i] + y[turns - 1 - i]
                b = y[i]
                x[turns - 1 - i] -= 0.5 * b
                y[0] = x[1]
        return x, y

    check(mixes, np.arange(1.0, 9.0), 3, native=False)
