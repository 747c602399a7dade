"""Innermost counted loops in two copies: what they compute, and where they raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def axpy(a, x, y):
    for i in range(len(x)):
        y[i] += a * x[i]


def shifted(x, y, k):
    for i in range(len(y)):
        y[i] = x[i + k]


def strided(x, y, step, start):
    for i in range(len(y)):
        y[i] = x[step * i + start]


def backwards(x, y):
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] + y[len(x) - 1 - i]


def flat(x, m, n):
    total = 0.0
    for i in range(m):
        for j in range(n):
            total += x[i * n + j]
    return total


def scan(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x


def stencil(x, y):
    n = x.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def conditional(x, best):
    for i in range(len(x)):
        if x[i] > best[i]:
            best[i] = x[i]
        elif x[i] < -5:
            best[i + 1] = 0


def counting(x):
    n = 0
    for i in range(len(x)):
        if x[i] > 0:
            n += 1
    return n


def early(x, y):
    for i in range(len(x)):
        if x[i] < 0:
            break
        y[i] = x[i]
    return i


def integers(x, n):
    k = 7
    for i in range(n):
        k = (k * 31 + i) % 1009
        x[i] = k
    return k


def compare(fn: Any, *args: Any) -> None:
    def run(f: Any) -> tuple[Any, list[Any], str]:
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        try:
            return f(*given), given, ""
        except Exception as error:
            return None, given, f"{type(error).__name__}: {error}"

    want, got = run(fn), run(ag.to_graph(fn))
    assert got[2] == want[2]
    assert type(got[0]) is type(want[0])
    np.testing.assert_array_equal(got[0], want[0])
    for g, w in zip(got[1], want[1]):
        np.testing.assert_array_equal(g, w)


rng = np.random.default_rng(9)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 64, 1001])
def test_vectors(n: int) -> None:
    x, y = rng.normal(size=n), rng.normal(size=n)
    compare(axpy, 0.5, x, y)
    compare(axpy, np.float32(0.5), x.astype("f4"), y.astype("f4"))
    compare(backwards, x, y)
    compare(scan, x)
    compare(counting, x)
    compare(early, np.abs(x), y)
    compare(early, x, y)


@pytest.mark.parametrize("k", [0, 1, 5, 6, 9, -1, -3, -10, -11, 2**40, -(2**62), 2**63 - 1])
def test_offsets_that_fit_and_that_do_not(k: int) -> None:
    compare(shifted, rng.normal(size=10), np.zeros(5), k)


@pytest.mark.parametrize("step", [1, 2, 0, -1, 3, 2**31, -(2**33), 2**62])
@pytest.mark.parametrize("start", [0, 4, 9, -1, 2**61])
def test_lines(step: int, start: int) -> None:
    compare(strided, rng.normal(size=10), np.zeros(5), step, start)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (4, 3), (0, 4), (4, 0), (4, 4), (1, 13), (-1, 2)])
def test_flat_indices(m: int, n: int) -> None:
    compare(flat, rng.normal(size=12), m, n)


def test_stencils() -> None:
    compare(stencil, rng.normal(size=(12, 12)), np.zeros((12, 12)))
    compare(stencil, rng.normal(size=(12, 12)), np.zeros((11, 12)))
    compare(stencil, rng.normal(size=(12, 5)), np.zeros((12, 12)))


def test_branches_that_would_raise() -> None:
    x = np.array([1.0, -9.0, 3.0])
    compare(conditional, x, np.zeros(3))
    compare(conditional, x[::-1].copy(), np.zeros(3))
    compare(conditional, np.array([1.0, 2.0, -9.0]), np.zeros(3))


def test_read_only_arrays() -> None:
    y = np.zeros(4)
    y.flags.writeable = False
    f = ag.to_graph(axpy)
    with pytest.raises(ValueError, match="read-only"):
        f(2.0, np.ones(4), y)
    f(2.0, np.ones(0), np.zeros(0))


def test_overlapping_arguments() -> None:
    base, plain = np.arange(9.0), np.arange(9.0)
    ag.to_graph(axpy)(2.0, base[:8], base[1:])
    axpy(2.0, plain[:8], plain[1:])
    np.testing.assert_array_equal(base, plain)


def test_python_integers_in_the_loop() -> None:
    compare(integers, np.zeros(20, np.int64), 20)
    compare(integers, np.zeros(20, np.int16), 25)


def test_an_index_that_is_no_line() -> None:
    def gather(x, index, y):
        for i in range(len(index)):
            y[i] = x[index[i]]

    x = rng.normal(size=6)
    compare(gather, x, np.array([5, -6, 0, 3]), np.zeros(4))
    compare(gather, x, np.array([5, -7, 0, 3]), np.zeros(4))
    compare(gather, x, np.array([5, 6, 0, 3]), np.zeros(4))
    compare(gather, x, np.array([5, 2], np.uint8), np.zeros(4))
