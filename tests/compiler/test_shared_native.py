"""Loops whose turns threads share: results and exceptions are those of a loop that runs in order."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import threads

RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(0.0, 60.0, 3000)
A = RANDOM.standard_normal((120, 90))


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")
    before = threads.pool().threads
    yield
    if before:
        threads.use(before)


def mandelbrot(re: Any, im: Any, limit: int) -> Any:
    out = np.empty((len(im), len(re)), np.int32)
    for y in range(len(im)):
        for x in range(len(re)):
            a = 0.0
            b = 0.0
            n = 0
            while n < limit:
                a, b = a * a - b * b + re[x], 2 * a * b + im[y]
                if a * a + b * b > 4:
                    break
                n += 1
            out[y, x] = n
    return out


def searched(x: Any) -> Any:
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        t = 0.0
        while t < v:
            t += 0.5
        out[i] = t
    return out


def left_in_variables(x: Any) -> Any:
    out, t, last = np.zeros(len(x)), -1.0, -1
    for i in range(len(x)):
        t = 0.0
        while t < x[i]:
            t += 0.5
        last = i
        out[i] = t
    return out, t, last


def downwards(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x) - 1, 4, -3):
        v = 0.0
        for j in range(200):
            v += x[i] * j
        out[i - 2] = v
    return out


def backwards(x: Any) -> Any:
    n = len(x)
    out = np.zeros((n, 4))
    for i in range(n):
        for j in range(50):
            for k in range(4):
                out[n - 1 - i, k] = x[i] * j + k
    return out


def from_the_end(x: Any) -> Any:
    out = np.zeros(len(x) + 5)
    for i in range(len(x)):
        v = 0.0
        for j in range(200):
            v += x[i] * j
        out[-1 - i] = v
    return out


def products(a: Any, b: Any) -> Any:
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(b.shape[0]):
                s += a[i, k] * b[k, j]
            out[i, j] = s
    return out


def by_rows(a: Any) -> Any:
    out = np.zeros((a.shape[0], a.shape[1] + 2))
    for i in range(a.shape[0]):
        row = out[i]
        row[1:-1] = a[i] * 2.0
        for j in range(1, 40):
            row[j] += a[i, j - 1] - row[j - 1]
        out[i, 0] = 7.0
    return out


def by_columns(a: Any) -> Any:
    out = np.zeros((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            v = a[i, j]
            for _ in range(20):
                v = v * 0.5 + 1.0
            out[j, i] = v
    return out


def into_an_argument(x: Any, out: Any) -> Any:
    for i in range(len(out)):
        v = 0.0
        for j in range(len(x)):
            v += x[j] * i
        out[i] += v
    return out


def upper_half(x: Any) -> Any:
    n = len(x)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            out[i, j] = abs(x[i] - x[j])
    return out


def any_index(x: Any, idx: Any) -> Any:
    out = np.zeros(len(idx))
    for i in range(len(idx)):
        v = 0.0
        for j in range(100):
            v += x[idx[i]] * j
        out[i] = v
    return out


def two_arrays(x: Any) -> Any:
    p, q = np.zeros(len(x)), np.zeros((len(x), 2), np.int64)
    for i in range(len(x)):
        v, steps = x[i], 0
        while v > 1.0:
            v *= 0.75
            steps += 1
        p[i] = v
        q[i, 1] = steps
    return {"p": p, "q": q}["q"], p


def with_a_start(x: Any, start: int, shift: int) -> Any:
    out = np.zeros(len(x) + 20)
    for i in range(start, len(x)):
        v = 0.0
        for j in range(100):
            v += x[i] * j
        out[i + shift] = v
    return out


def kernel(x: Any, out: Any, n: int, m: int) -> None:
    for i in range(n):
        v = 0.0
        for j in range(m):
            v += x[j + 1] * i
        out[i + 1] = v


def stencil(a: Any, out: Any, n: int, m: int) -> None:
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def but_for_the_edge(a: Any, n: int, m: int) -> Any:
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i > 0 and j > 0:
                out[i, j] = a[i - 1, j - 1] * 0.5 + a[i, j]
    return out


def triangles(a: Any, out: Any, n: int) -> None:
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += a[i, k] * a[j, n - 1 - k]
            out[n - 1 - i, j] += s


def totals_of_turns(x: Any, k: Any) -> Any:
    out, count, steps, whole = np.zeros(len(x)), 5, 0, np.int64(7)
    for i in range(len(x)):
        t = 0.0
        while t < x[i]:
            t += 0.5
            steps += 1
        if t > 30.0:
            count += 2
        elif t > 10.0:
            count -= 1
        whole += k[i]
        whole = whole - 3
        out[i] = t
    return out, count, steps, whole


def only_counts(x: Any) -> Any:
    found = 0
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] * x[j] > 900.0:
                found += 1
    return found


def counted_by_hand(x: Any) -> Any:
    out, i = np.zeros(len(x)), 0
    while i < len(x):
        v = 0.0
        for j in range(100):
            v += x[i] * j
        out[i] = v
        i += 1
    return out, i


SHARED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (mandelbrot, (np.linspace(-2, 1, 90), np.linspace(-1, 1, 70), 60)),
    (searched, (X,)),
    (left_in_variables, (X,)),
    (downwards, (X,)),
    (backwards, (X,)),
    (from_the_end, (X,)),
    (products, (A, A.T.copy())),
    (by_rows, (RANDOM.standard_normal((500, 60)),)),
    (by_columns, (A,)),
    (into_an_argument, (X[:500], X[::5].copy())),
    (into_an_argument, (X[:500], RANDOM.uniform(0.0, 60.0, 3000)[::5])),
    (upper_half, (X[:600],)),
    (any_index, (X, RANDOM.integers(-3000, 3000, 2000))),
    (two_arrays, (X,)),
    (with_a_start, (X, 7, 11)),
    (with_a_start, (X, 7, -7)),
    (kernel, (X, np.zeros(1000), 900, 400)),
    (stencil, (RANDOM.standard_normal((400, 300)), np.ones((500, 600)), 400, 300)),
    (but_for_the_edge, (RANDOM.standard_normal((400, 300)), 400, 300)),
    (triangles, (RANDOM.standard_normal((130, 120)), np.ones((120, 120)), 120)),
    (totals_of_turns, (X, RANDOM.integers(2**61, 2**62, 3000))),
    (only_counts, (X[:700],)),
    (counted_by_hand, (X,)),
]


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(_strided(a) if isinstance(a, np.ndarray) else a for a in args)


def _strided(a: Any) -> Any:
    """A copy with the same strides."""
    if a.flags.c_contiguous:
        return a.copy()
    whole = np.zeros((*a.shape[:-1], a.shape[-1] * (a.strides[-1] // a.itemsize)), a.dtype)
    part = whole[..., :: a.strides[-1] // a.itemsize]
    part[...] = a
    return part


def run(fn: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    args = copied(args)
    result = fn(*args)
    return [*(result if isinstance(result, tuple) else (result,)), *args]


def equal(a: list[Any], b: list[Any]) -> None:
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert type(x) is type(y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def is_shared(compiled: Any, args: tuple[Any, ...]) -> bool:
    return "threads share its turns" in compiled.get_native(*args, kind="loops")


def check(fn: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Compares with Python, for several numbers of threads; tells whether threads share the loop."""
    compiled = ag.to_graph(fn)
    expected = run(fn, args)
    for count in (1, 2, 5):
        threads.use(count)
        for _ in range(2):
            equal(run(compiled, args), expected)
    return is_shared(compiled, args)


@pytest.mark.parametrize(("fn", "args"), SHARED, ids=lambda v: getattr(v, "__name__", ""))
def test_results_do_not_depend_on_the_number_of_threads(
    fn: Callable[..., Any], args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(fn, args)
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "interpreter")
    small = tuple(a[:9] if isinstance(a, np.ndarray) and a.ndim == 1 else a for a in args)
    if fn not in (any_index, kernel, stencil, but_for_the_edge, triangles, totals_of_turns):
        equal(run(ag.to_graph(fn), small), run(fn, small))


def test_threads_do_share_them() -> None:
    compiled = ag.to_graph(searched)
    compiled(X)
    line = searched.__code__.co_firstlineno + 2
    assert f"test_shared_native.py:{line}: loop: threads share its turns" in compiled.explain(X)
    assert "@ag_turns(ptr @ag_part" in "\n".join(v.text for v in compiled.get_graph(X).native.values())


def test_sizes_that_are_not_known_before_the_run() -> None:
    for fn in (searched, left_in_variables, backwards, from_the_end, downwards, counted_by_hand):
        compiled = ag.to_graph(fn)
        for count in (1, 3):
            threads.use(count)
            for n in (2000, 1500, 3, 1, 2, 1000, 7):
                equal(run(compiled, (X[:n].copy(),)), run(fn, (X[:n].copy(),)))


def test_loops_that_run_no_turn_or_one() -> None:
    def rows(out: Any, n: int, m: int) -> Any:
        last = -1
        for i in range(n):
            last = 0
            for j in range(m):
                last += j % 3
            out[i] = last
        return last

    compiled = ag.to_graph(rows)
    threads.use(3)
    for n, m in ((0, 10**6), (1, 10**6), (-5, 10), (2, 10**6), (5, 10**6), (5, 0)):
        equal(run(compiled, (np.zeros(5), n, m)), run(rows, (np.zeros(5), n, m)))


def test_what_goes_wrong_is_found_before_the_loop() -> None:
    """Indices that leave an array, or count from its end, are left to the loop in order."""
    a = RANDOM.standard_normal((200, 200))
    cases: list[tuple[Any, list[tuple[Any, ...]]]] = [
        (kernel, [(X, X.copy(), n, m) for n, m in ((3000, 50), (2999, 50), (50, 3000), (50, 2999), (-3, 9))]),
        (stencil, [(a, a.copy(), n, m) for n, m in ((200, 200), (201, 200), (200, 201), (2, 500), (300, 2))]),
        (triangles, [(a, a.copy(), n) for n in (200, 201, 0, 1)]),
    ]
    threads.use(3)
    for fn, rows in cases:
        compiled = ag.to_graph(fn)
        for args in rows:
            mine, plain = copied(args), copied(args)
            errors = []
            for f, given in ((compiled, mine), (fn, plain)):
                try:
                    f(*given)
                    errors.append("")
                except IndexError as error:
                    errors.append(str(error))
            assert errors[0] == errors[1]
            for x, y in zip(mine, plain):
                np.testing.assert_array_equal(x, y)


# -- loops whose turns depend on each other ------------------------------------------------------------------


def reads_the_one_before(x: Any) -> Any:
    out = np.ones(len(x))
    for i in range(1, len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[i] = v + out[i - 1] * 0.5
    return out


def reads_a_row_before(a: Any) -> Any:
    out = np.zeros_like(a)
    for i in range(1, a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] + out[i - 1, j]
    return out


def reads_through_a_view(x: Any) -> Any:
    out = np.ones(len(x) + 1)
    view = out[1:]
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        view[i] = v + out[i]
    return out


def reads_all(x: Any) -> Any:
    out = np.ones(len(x))
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[i] = v + np.max(out)
    return out


def writes_where_an_index_says(x: Any, idx: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[idx[i]] = v
    return out


def writes_halves(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[i // 2] = v
    return out


def writes_a_ring(x: Any) -> Any:
    out = np.zeros(len(x) // 2)
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[i - len(x) // 2] = v
    return out


def writes_two_places(x: Any) -> Any:
    out = np.zeros(len(x) + 1)
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[i] = v
        out[i + 1] = -v
    return out


def writes_both_halves(x: Any) -> Any:
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i, len(x)):
            out[i, j] = x[i] - x[j]
            out[j, i] = x[i] + x[j]
    return out


def carries_a_float(x: Any) -> Any:
    out, s = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        for j in range(50):
            s += x[i] * j
        out[i] = s
    return out, s


def carries_the_one_before(x: Any) -> Any:
    out, before = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        v = before
        for j in range(50):
            v += x[i] * j
        out[i] = v
        before = x[i]
    return out


def swaps(x: Any) -> Any:
    a, b = np.zeros(len(x)), np.ones(len(x))
    for i in range(len(x)):
        for j in range(50):
            a[i] += x[i] * j
        a, b = b, a
    return a, b


def looks_at_a_total(x: Any) -> Any:
    out, count = np.zeros(len(x)), 0
    for i in range(len(x)):
        for j in range(50):
            out[i] += x[i] * j
        if count < 10:
            count += 1
    return out, count


def doubles_a_total(x: Any) -> Any:
    out, count = np.zeros(len(x)), 1
    for i in range(len(x)):
        for j in range(50):
            out[i] += x[i] * j
        if x[i] > 59.5:
            count = count + count % 3
    return out, count


def may_overflow(x: Any, k: int) -> Any:
    out, total = np.zeros(len(x)), 0
    for i in range(len(x)):
        for j in range(50):
            out[i] += x[i] * j
        total += k * i
    return out, total


def appends(x: Any) -> Any:
    out, found = np.zeros(len(x)), []
    for i in range(len(x)):
        for j in range(50):
            out[i] += x[i] * j
        if i % 1000 == 0:
            found.append(i)
    return out, len(found)


def prints(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(50):
            out[i] += x[i] * j
        if i % 1000 == 0:
            print(i)
    return out


def keeps_views(x: Any) -> Any:
    out = np.zeros((len(x), 2))
    rows = [out[3], out[4]]
    for i in range(len(x)):
        for j in range(50):
            out[i, 0] += x[i] * j + rows[1][0]
    return out


def a_view_in_a_turn(x: Any) -> Any:
    out = np.ones(len(x) + 1)
    for i in range(len(x)):
        view = out[1:]
        v = 0.0
        for j in range(50):
            v += x[i] * j
        view[i] = v + out[i] * 0.5
    return out


def a_view_the_other_way_round(x: Any) -> Any:
    out = np.ones(len(x))
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        out[::-1][i] = v
        out[i] = -v
    return out


def a_row_and_a_column(x: Any) -> Any:
    out = np.ones((len(x), len(x)))
    for i in range(len(x)):
        v = 0.0
        for j in range(50):
            v += x[i] * j
        row = out[5]
        row[i] = v
        out[i][5] = -v
    return out


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (a_view_in_a_turn, (X,)),
        (a_view_the_other_way_round, (X,)),
        (a_row_and_a_column, (X[:700],)),
        (reads_the_one_before, (X,)),
        (reads_a_row_before, (RANDOM.standard_normal((700, 300)),)),
        (reads_through_a_view, (X,)),
        (reads_all, (X,)),
        (writes_where_an_index_says, (X, RANDOM.integers(0, 3000, 3000))),
        (writes_halves, (X,)),
        (writes_two_places, (X,)),
        (writes_both_halves, (X[:400],)),
        (carries_a_float, (X,)),
        (carries_the_one_before, (X,)),
        (swaps, (X,)),
        (looks_at_a_total, (X,)),
        (doubles_a_total, (X,)),
        (may_overflow, (X, 3)),
        (appends, (X,)),
        (prints, (X,)),
        (keeps_views, (X,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_loops_whose_turns_depend_on_each_other_run_in_order(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    assert not check(fn, args)


def test_an_index_that_goes_round_is_found_before_the_loop() -> None:
    check(writes_a_ring, (X,))
    for shift in (-20, -7, -6, 0, 13):  # from negative indices to others
        check(with_a_start, (X, 7, shift))


def test_arguments_that_overlap() -> None:
    compiled = ag.to_graph(into_an_argument)
    threads.use(3)
    for first, second in ((slice(0, 900), slice(100, 1000)), (slice(0, 900), slice(0, 900))):
        p, q = X.copy(), X.copy()
        compiled(p[first], p[second])
        into_an_argument(q[first], q[second])
        np.testing.assert_array_equal(p, q)

    def one_array_twice(x: Any, out: Any) -> None:
        for i in range(1, len(out)):
            v = 0.0
            for j in range(100):
                v += x[i - 1] * j
            out[i] = v * 1e-4

    compiled = ag.to_graph(one_array_twice)
    compiled(X.copy(), X.copy())
    for shift in (0, 1):
        p, q = X.copy(), X.copy()
        compiled(p[shift:], p[: len(p) - shift])
        one_array_twice(q[shift:], q[: len(q) - shift])
        np.testing.assert_array_equal(p, q)


# -- exceptions ----------------------------------------------------------------------------------------------


def raises_at(x: Any, first: int, second: int) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = 0.0
        while v < x[i]:
            v += 0.25
        if i == first or i == second:
            raise ValueError(f"turn {i}: {v}")
        out[i] = v
    return out


def test_the_first_turn_that_raises_is_the_one() -> None:
    compiled = ag.to_graph(raises_at)
    compiled(X, -1, -1)
    assert is_shared(compiled, (X, -1, -1))
    for count in (1, 2, 5):
        threads.use(count)
        for first, second in ((700, 20), (2999, 2998), (0, 1), (20, 700), (-1, 1500)):
            with pytest.raises(ValueError, match="turn") as mine:
                compiled(X, first, second)
            with pytest.raises(ValueError, match="turn") as other:
                raises_at(X, first, second)
            assert str(mine.value) == str(other.value)


def test_totals_before_an_exception() -> None:
    def counts(x: Any, bad: int) -> Any:
        out, count = np.zeros(len(x)), 0
        for i in range(len(x)):
            t = 0.0
            while t < x[i]:
                t += 0.5
                count += 1
            if i == bad:
                raise ValueError(f"turn {i}")
            out[i] = t
        return out, count

    def around(x: Any, bad: int) -> Any:
        try:
            return counts(x, bad)
        except ValueError as error:
            return str(error), bad

    compiled = ag.to_graph(counts)
    threads.use(3)
    for bad in (-1, 20, 2999):
        equal(run(ag.to_graph(around), (X, bad)), run(around, (X, bad)))
        if bad >= 0:
            with pytest.raises(ValueError, match=f"turn {bad}"):
                compiled(X, bad)
    equal(run(compiled, (X, -1)), run(counts, (X, -1)))
    assert is_shared(compiled, (X, -1))


def test_an_index_error_in_the_middle() -> None:
    compiled = ag.to_graph(any_index)
    threads.use(3)
    idx = RANDOM.integers(-3000, 3000, 3000)
    compiled(X, idx)
    assert is_shared(compiled, (X, idx))
    for wrong, later in ((20, 700), (2999, 2999), (0, 1)):
        bad = idx.copy()
        bad[wrong], bad[later] = 3000 + wrong, 5000
        if wrong == later:
            bad[wrong] = 3001
        with pytest.raises(IndexError, match=f"index {bad[wrong]} is out of bounds"):
            compiled(X, bad)


def test_a_turn_that_never_ends_comes_after_one_that_raises() -> None:
    def spins(x: Any, n: int) -> Any:
        out = np.zeros(n)
        for i in range(n):
            v = 1.0
            while v < 1e6 or i > n // 2:
                v += 1.0
            out[i] = v
            if x[i] < 0.0:
                raise ValueError(f"turn {i}")
        return out

    x = np.ones(64)
    x[[7, 20]] = -1.0
    compiled = ag.to_graph(spins)
    threads.use(2)
    with pytest.raises(ValueError, match="turn 7"):
        compiled(x, 64)
    assert is_shared(compiled, (x, 64))


def test_what_the_caller_sees_after_an_exception_was_written_in_order() -> None:
    def fills(x: Any, out: Any, bad: int) -> None:
        for i in range(len(out)):
            v = 0.0
            while v < x[i]:
                v += 0.25
            if i == bad:
                raise ValueError("bad")
            out[i] = v

    def caught(x: Any, bad: int) -> Any:
        out = np.zeros(len(x))
        try:
            for i in range(len(x)):
                v = 0.0
                while v < x[i]:
                    v += 0.25
                if i == bad:
                    raise ValueError("bad")
                out[i] = v
        except ValueError:
            out[0] = -1.0
        return out

    def shown(x: Any, bad: int) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            v = 0.0
            while v < x[i]:
                v += 0.25
            if i == bad:
                raise ValueError(out)
            out[i] = v
        return out

    compiled, other, last = ag.to_graph(fills), ag.to_graph(caught), ag.to_graph(shown)
    for count in (1, 4):
        threads.use(count)
        for bad in (20, 2500, -1):
            p, q = np.zeros(3000), np.zeros(3000)
            for fn, out in ((compiled, p), (fills, q)):
                try:
                    fn(X, out, bad)
                except ValueError:
                    assert bad >= 0
            np.testing.assert_array_equal(p, q)
            np.testing.assert_array_equal(other(X, bad), caught(X, bad))
            if bad >= 0:
                with pytest.raises(ValueError) as mine:
                    last(X, bad)
                with pytest.raises(ValueError) as plain:
                    shown(X, bad)
                np.testing.assert_array_equal(mine.value.args[0], plain.value.args[0])
    assert not is_shared(compiled, (X, np.zeros(3000), -1))
    assert not is_shared(other, (X, -1))
    assert not is_shared(last, (X, -1))


def test_integers_that_do_not_fit_raise_in_their_turn() -> None:
    def powers(n: int) -> Any:
        out = np.zeros(n, np.int8)
        for i in range(n):
            v = 0
            for j in range(2000):
                v = (v + j * i) % 1000
            out[i] = v // 4 + (100 if i > 900 else -100)
        return out

    compiled = ag.to_graph(powers)
    threads.use(3)
    for n in (900, 1500):
        try:
            expected: Any = powers(n)
        except OverflowError as error:
            with pytest.raises(OverflowError) as mine:
                compiled(n)
            assert str(mine.value) == str(error)
        else:
            np.testing.assert_array_equal(compiled(n), expected)


# -- what is around the loop ---------------------------------------------------------------------------------


def test_loops_in_functions_that_are_called() -> None:
    def smooth(x: Any, times: int) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            v = x[i]
            for _ in range(times):
                v = math.sqrt(v + 1.0)
            out[i] = v
        return out

    def outer(x: Any, n: int) -> Any:
        total = smooth(x, 40)
        if n > 3:
            total = total + smooth(total, 50)
        for _ in range(n):
            total = total + smooth(total, 2)
        return total, (lambda v: smooth(v, 30))(x)

    assert check(outer, (X, 5))


def test_branches_around_the_loop() -> None:
    def chosen(x: Any, way: int) -> Any:
        out = np.zeros(len(x))
        if way == 1:
            for i in range(len(x)):
                while out[i] < x[i]:
                    out[i] += 0.5
        elif way == 2:
            out = x[::-1].copy()
            for i in range(len(x)):
                while out[i] < x[i]:
                    out[i] += 0.5
        return out

    for way in (0, 1, 2):
        check(chosen, (X, way))


def test_a_loop_in_a_finally() -> None:
    def cleans_up(x: Any, i: int) -> Any:
        out = np.zeros(len(x))
        try:
            first = x[i]
        except IndexError:
            first = -1.0
        finally:
            for k in range(len(x)):
                v = 0.0
                while v < x[k]:
                    v += 0.5
                out[k] = v
        return out, first

    def leaves(x: Any, out: Any, i: int) -> None:
        try:
            out[0] = x[i]
        finally:
            for k in range(1, len(x)):
                v = 0.0
                for j in range(100):
                    v += x[k] * j
                out[k] = v

    for i in (5, 5000):
        check(cleans_up, (X, i))
    compiled = ag.to_graph(leaves)
    threads.use(3)
    for i in (5, 5000):
        p, q = X.copy(), X.copy()
        for fn, out in ((compiled, p), (leaves, q)):
            try:
                fn(X, out, i)
            except IndexError:
                assert i == 5000
        np.testing.assert_array_equal(p, q)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ctrl_c_ends_a_shared_loop(count: int) -> None:
    def spins(n: int, limit: float) -> Any:
        out = np.zeros(n)
        for i in range(n):
            v = 0.0
            while v < limit:
                v += 1.0
            out[i] = v
        return out

    def ring(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    compiled = ag.to_graph(spins)
    threads.use(count)
    compiled(1000, 100.0)
    assert is_shared(compiled, (1000, 100.0))
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        for n in (1000, 4):
            started = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(KeyboardInterrupt):
                compiled(n, 1e300)
            assert time.monotonic() - started < 1.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    equal(run(compiled, (1000, 100.0)), run(spins, (1000, 100.0)))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_a_signal_that_raises_nothing_is_handled_meanwhile() -> None:
    heard: list[int] = []
    compiled = ag.to_graph(searched)
    expected = compiled(X)
    threads.use(2)
    previous = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        until = time.monotonic() + 0.5
        while time.monotonic() < until or not heard:
            np.testing.assert_array_equal(compiled(X), expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_small_loops_stay_as_they_are() -> None:
    compiled = ag.to_graph(searched)
    compiled(np.ones(5))
    assert not is_shared(compiled, (np.ones(5),))

    def light(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            out[i] = x[i] * 2.0
        return out

    assert not check(light, (X,))
