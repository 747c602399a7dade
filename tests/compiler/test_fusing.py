"""Arrays that several elementwise functions of one loop read are never made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check, outcome, same


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


RNG = np.random.default_rng(7)
X, Y = RNG.normal(size=(37, 50)), RNG.uniform(1, 2, size=(37, 50))


def nests(fn: Any, *args: Any) -> int:
    """How many loops over elements a function becomes."""
    text = str(ag.to_graph(fn).get_native(*args, kind="loops"))
    return sum(line.strip().startswith("nest ") for line in text.splitlines())


def shared(x, y):
    d = x / y
    s = d * d
    return np.where(d > 0, np.sqrt(s) + d, 1 - s)


def test_shared_values_are_in_one_loop() -> None:
    assert nests(shared, X, Y) == 1
    check(shared, X, Y)
    check(shared, X.T.copy().T, Y)
    check(shared, X.astype(np.float32), Y.astype(np.float32))


def test_what_two_loops_read_is_stored() -> None:
    def fn(x, y):
        d = x / y
        return np.sqrt(d * d) + d, d - d.max()

    check(fn, X, Y)


def test_what_is_written_between_is_computed_before() -> None:
    def fn(x, y):
        d = x + y
        e = d * d
        y[0] = 0.0
        return d + e, y

    def other(x, y):
        d = x + y
        e = d * d
        x += 1.0
        return e - d

    check(fn, X, Y)
    check(other, X, Y)


def test_a_deep_dag_is_not_walked_as_a_tree() -> None:
    def fn(x):
        for _ in range(60):
            x = x * 0.5 + x / (1 + x * x)
        return x

    def written_out(x):
        a = x * 0.5 + x / (1 + x * x)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        a = a * 0.5 + a / (1 + a * a)
        return a * 0.5 + a / (1 + a * a)

    check(fn, X)
    check(written_out, X)
    assert nests(written_out, X) <= 5


def test_broadcast_and_mixed_dtypes() -> None:
    def fn(x, row, column):
        a = x + row
        b = a * column
        return (b > a).astype(np.float64) + b * a

    check(fn, X, X[0], X[:, :1])
    check(fn, X.astype(np.float32), X[0].astype(np.float32), X[:, :1])


def test_arrays_are_computed_where_they_are_joined() -> None:
    def gathered(x, y, rows):
        return np.concatenate([x[rows], y[rows] + 1], 1)

    def stacked(x, y):
        return np.stack([x + y, x * y])

    def written_later(x, y):
        z = np.concatenate([x + 1, y])
        x[0] = 9.0
        return z, x

    def used_again(x, y):
        z = [x + 1, y]
        a = np.concatenate(z)
        x[0] = 5.0
        z[1][0] = 7.0
        return a, z[0], z[1]

    rows = np.array([3, 1, 1, 30])
    check(gathered, X, Y, rows)
    check(stacked, X, Y)
    check(written_later, X, Y)
    check(used_again, X, Y, native=False)
    check(lambda x, y: np.concatenate([x.T, y.T * 2]), X, Y, native=False)


def test_what_index_arrays_pick_is_a_copy() -> None:
    def fn(x, y, rows):
        a = x[rows]
        b = x[rows, rows] + 1
        x[rows] = y[rows] * 2
        x[0] += 1
        a[0] += 5
        return a, b, x, np.concatenate([x[rows], y[rows]], 1)

    def loop(x, rows):
        for i in range(3):
            z = np.concatenate([x[rows], x[rows + 1]], 1)
            x[rows] = z[:, 50:] + i
        return x

    rows = np.array([3, 1, 1, 30])
    check(fn, X, Y, rows)
    check(loop, X, rows)


def _kept_readonly(x: Any) -> Any:
    x = x.copy()
    x.flags.writeable = False
    return x


def test_errors_about_arrays_that_are_never_made() -> None:
    def rows(x: Any, y: Any, i: Any) -> Any:
        x[i, 1:] = y[i, 1:] * 2.0 + 1.0
        x[: i + 1] += y[: i + 1] * 3.0 - x[: i + 1]
        x[0] -= (y * 2.0)[i]
        return x

    x, y = np.arange(20.0).reshape(4, 5), np.ones((4, 5))
    for i in (0, 3, 4, -4, -5):
        check(rows, x, y, i)
    check(rows, x, np.ones((4, 4)), 2, native=False)
    check(rows, x, np.ones((3, 5)), 2, native=False)
    check(rows, _kept_readonly(x), y, 2)

    def scaled(x: Any, y: Any, n: Any) -> Any:
        return (x[:n] * 2.0 + y) * (y - 1.0), x[:n] + y[: n - 1] * 2.0

    for n in (5, 4, 2, 1):
        check(scaled, np.arange(5.0), np.ones(5), n)


def test_what_is_written_in_a_loop_over_rows_is_not_made() -> None:
    def update(c: Any, a: Any, alpha: float) -> None:
        for i in range(a.shape[0]):
            for k in range(a.shape[1]):
                c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]

    graph = ag.to_graph(update)
    a = np.arange(42.0).reshape(6, 7)
    c, d = np.zeros((6, 6)), np.zeros((6, 6))
    graph(c, a, 0.5)
    update(d, a, 0.5)
    np.testing.assert_array_equal(c, d)
    native = graph.get_native(c, a, 0.5)
    assert graph.get_native(c, a, 0.5, kind="loops").count("nest") == 1
    assert (
        "@ag_large(" not in native.split("define", 1)[1]
        and "@ag_parallel(" not in native.split("define", 1)[1]
    )


def test_views_that_a_loop_carries_keep_their_order() -> None:
    def react(n: Any, x: Any) -> Any:
        a, b = np.zeros((8, 9)), np.ones((8, 9))
        u, v = a[1:-1, 1:-1], b[1:-1, 1:-1]
        u[:] = x
        for _ in range(n):
            d = a[:-2, 1:-1] + a[2:, 1:-1] - 2.0 * u
            u += 0.1 * d - v * u
            v += u * v - 0.5
        return a, b, u + v

    check(react, 5, np.arange(42.0).reshape(6, 7))

    def turned(n: Any, x: Any) -> Any:
        u = x[1:, 1:]
        for _ in range(n):
            u = u.T
            u += 1.0
        return u * 2.0

    for n in (0, 1, 2):
        check(turned, n, np.arange(36.0).reshape(6, 6), native=False)
    check(lambda x: (np.average(x), np.average(x, axis=0)), np.arange(12.0).reshape(3, 4))


def masked(x: Any, y: Any, n: Any) -> Any:
    a, b = x, y
    count = np.zeros(x.shape, np.int32)
    active = np.ones(x.shape, bool)
    i = 0
    while i < n and active.any():
        t = a * a - b * b + x
        u = 2 * a * b + y
        a = np.where(active, t, a)
        b = np.where(active, u, b)
        active = active & (a * a + b * b <= 4.0)
        count += active
        i += 1
    return count, a, b


def test_arrays_of_the_same_sources_are_stored_by_one_loop() -> None:
    def both(x: Any, y: Any) -> Any:
        return x + y, x - y

    def chained(x: Any, y: Any) -> Any:
        h = np.sqrt(x * x + 1)
        g = 1 - h * h
        return h, g, y * g

    def of_dtypes(x: Any, y: Any) -> Any:
        big = x > y
        return big, big.astype(np.int32), np.where(big, x, y).astype(np.float32)

    assert nests(both, X, Y) == nests(chained, X, Y) == nests(of_dtypes, X, Y) == 1
    for x, y in ((X, Y), (X[::2], Y[::2]), (X.T, Y.T), (X[:0], Y[:0]), (X[:1, :3], Y[:1, :3]), (X, Y[0])):
        for fn in (both, chained, of_dtypes):
            check(fn, x, y, native=False)
    text = ag.to_graph(masked).get_native(X, Y, 20, kind="loops")
    assert "float64, float64, bool" in text
    check(masked, X / 4, Y / 4, 20)
    check(masked, *np.random.default_rng(3).uniform(-1, 1, (2, 300, 400)), 30)


def test_arrays_are_stored_before_others_than_elementwise_functions_read_them() -> None:
    def fn(x: Any, y: Any) -> Any:
        a = x * y
        s = a.max(0)
        b = a + x
        return a, b - s, s

    def rows(x: Any, y: Any) -> Any:
        h = np.abs(x)
        e = h / h.max(-1, keepdims=True)
        return h, e, h - y

    def matrices(x: Any, y: Any) -> Any:
        h = np.sqrt(x * x + 1)
        p = h @ y.T
        g = 1 - h * h
        return p, g, h

    def written(x: Any, y: Any) -> Any:
        a = x + y
        x[0] = 7.0
        b = x - y
        return a, b, a * b

    def branches(x: Any, y: Any, n: Any) -> Any:
        a = x + y
        b = x - y
        if n > 1:
            c = a * b
        else:
            c = a
        return a, b, c

    def kept(x: Any, y: Any) -> Any:
        a = x + y
        made = [a, x - y]
        made[0][0] = 3.0
        return a, made[1], a is made[0]

    def same(x: Any, y: Any) -> Any:
        a = x + y
        return a, a, x - y

    for fn_ in (fn, rows, matrices, written, kept, same):
        check(fn_, X, Y, native=False)
    for n in (1, 2):
        check(branches, X, Y, n)


def test_arrays_that_one_loop_stores_may_be_many_and_long() -> None:
    def many(x: Any, y: Any) -> Any:
        return x + y, x - y, x * y, x / y, x + 1, y + 1, x - 1, y - 1, x * 2, y * 2

    def deep(x: Any, y: Any) -> Any:
        a = b = x
        for _ in range(30):
            a = a * 0.5 + y
            b = b * a + x
        return a, b

    def mixed(x: Any, y: Any) -> Any:
        a = x // y
        return a, x - a * y, np.sqrt(y)

    check(many, X, Y)
    check(deep, X / 10, Y / 10)
    check(mixed, X, Y)


def test_stored_arrays_are_apart() -> None:
    def fn(x: Any, y: Any) -> Any:
        a = x + y
        b = a * 2
        a[0] = -1.0
        b += a
        return a, b

    def turns(x: Any, y: Any) -> Any:
        for _ in range(3):
            x, y = x + y, x - y
            x[0, 0] += 1
        return x, y

    check(fn, X, Y)
    check(turns, X, Y)


def a_view_of_what_waits(x):
    y = -x
    np.clip(abs(y), 1, 2.0)  # nobody uses it, so no loop of it stores y
    v = y[:]
    y[0] = 1
    return v


def test_an_array_waits_for_a_loop_that_is_not_made() -> None:
    for x in (np.arange(4.0), np.arange(100.0), np.arange(4)):
        same(outcome(a_view_of_what_waits, (x,)), outcome(ag.to_graph(a_view_of_what_waits), (x,)))
