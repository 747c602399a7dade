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


def filled(x, start):
    n, m = x.shape
    j = n * m - 1
    while j >= start:
        x[j // m, j % m] += 1.0
        j -= 1
    return x


def test_an_array_that_must_not_be_written_is_told_in_every_call() -> None:
    converted = ag.to_graph(filled)
    for writeable in (True, True, True, False, True, False, False, True):
        mine, other = np.zeros((3, 4)), np.zeros((3, 4))
        mine.flags.writeable = other.flags.writeable = writeable
        results = []
        for function, x in ((converted, mine), (filled, other)):
            try:
                results.append(function(x, 2).tolist())
            except ValueError as error:
                results.append(str(error))
        assert results[0] == results[1]
        assert np.array_equal(mine, other)


def test_a_host_call_may_forbid_writes() -> None:
    @ag.do_not_convert
    def forbid(x):
        x.flags.writeable = False

    def function(x):
        x[0] = 1.0
        forbid(x)
        x[1] = 1.0

    x = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        ag.to_graph(function)(x)
    assert x.tolist() == [1.0, 0.0]


def stepped(x, start, step):
    for k in range(start, len(x), step):
        x[k] = 1.0
    return x


@pytest.mark.parametrize("step", [1, 3, -1, -2, 0])
def test_steps_that_are_not_known(step: int) -> None:
    converted = ag.to_graph(stepped)
    try:
        expected = stepped(np.zeros(9), 2, step).tolist()
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).replace("(", r"\(").replace(")", r"\)")):
            converted(np.zeros(9), 2, step)
        return
    assert converted(np.zeros(9), 2, step).tolist() == expected
    assert "calls back" not in converted.explain(np.zeros(9), 2, step)


def far(x, a, b):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * (a * b)
    return total


@pytest.mark.parametrize(("a", "b"), [(2, 3), (2**40, 2**20), (2**40, 2**40), (-(2**62), 2)])
def test_numbers_that_are_the_same_in_every_turn_may_be_large(a: int, b: int) -> None:
    x = np.arange(4.0)
    converted = ag.to_graph(far)
    if abs(a * b) < 2**63 or a * b == -(2**63):
        assert converted(x, a, b) == far(x, a, b)
    else:
        with pytest.raises(OverflowError):
            converted(x, a, b)


def ring(x, y, n):
    for i in range(len(x)):
        y[i] = x[i - 1] + x[(i + 1) % n] + x[i - 3] * x[-i]
    return y


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 40])
def test_indices_that_are_negative_in_the_first_turns(size: int) -> None:
    compare(ring, np.arange(size) + 0.5, np.zeros(size), size)


def bag(x, weights, least):
    for w in weights:
        for c in range(len(x) - 1, w - least, -1):
            if x[c - w] + w > x[c]:
                x[c] = x[c - w] + w
    return x


@pytest.mark.parametrize("least", [1, 3, 12])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_lines_of_numpy_integers(least: int, dtype: type) -> None:
    compare(bag, np.arange(20) % 7, np.array([2, 5, 9], dtype), least)


def multiplied(x, k):
    total = 0.0
    for i in range(len(x)):
        total += x[(i * k) & 3]
    return total


@pytest.mark.parametrize("k", [3, 2**40, 2**62, -(2**63)])
def test_numpy_integers_that_wrap(k: int) -> None:
    compare(multiplied, np.arange(9.0), np.int64(k))


def rotated(a):
    n = a.shape[0]
    for i in range(n):
        a[i, i] += i
    return np.sort(np.diag(a))


def test_a_diagonal_of_an_array_that_is_written() -> None:
    compare(rotated, np.arange(25.0).reshape(5, 5)[::-1].copy())
    assert "calls back" not in ag.to_graph(rotated).explain(np.ones((5, 5)))


def one_of_two(a, c):
    x = a.copy()
    for i in range(len(a)):
        y = x if c > i else a
        y[0] = y[i] + 1
    return x, a


def test_an_array_that_each_turn_chooses_is_looked_at_there() -> None:
    for a in (np.arange(3.0), np.arange(3.0)[::-1], np.arange(6.0)[::2]):
        for c in (5, 1, -1):
            compare(one_of_two, a, c)
