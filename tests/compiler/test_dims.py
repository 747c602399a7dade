"""Arrays of sizes that differ from call to call: what is told of them is never taken for granted."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import backend
from tests.compiler.comparing import outcome, same


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


SIZES = [0, 1, 2, 3, 15, 16, 17, 18, 40]


def broadcast(x, y):
    return x * y + x - 2.0, (x + y).sum()


def neighbours(x, y):
    x[1:-1] = 0.5 * (x[:-2] + x[2:]) + y[1:-1]
    x[:-3] += x[3:] * 2.0
    return x


def written(x, y):
    x[:] = y * 2.0 + 1.0
    x += y
    return x[-3:], y[2:5], x[::2]


def counted(x, y):
    total = 0.0
    n = x.shape[0]
    for i in range(1, n - 1):
        x[i] = x[i - 1] + y[i + 1]
        total += x[: i + 1].sum() + x[i : i + 3].sum() + y[i - 1 : n - 1].sum()
    for i in range(len(y)):
        total += y[i] * x[i]
    return total


def backwards(x, y):
    n = x.shape[0]
    for j in range(n - 2, 0, -1):
        x[j] = x[j + 1] - y[j - 1] + x[: j + 1].sum()
    for j in range(n - 1, -1, -1):
        x[: n - j] += x[j]
        x[j - 1] -= y[j]
    for j in range(n - 3, -3, -1):
        x[j] += j
    for j in range(3, n):
        y[j - 3] = x[j] + y[j - n]
    return x[n - 1 :], y


def past_the_end(x, y):
    n = x.shape[0]
    for j in range(n, -1, -1):
        y[j - 1] += x[j - n - 1]
        x[j] = j
    return x


def rows_apart(x, y):
    n = x.shape[0]
    z = np.zeros((n, n + 3))
    for j in range(1, n - 1):
        z[j, 1:-1] = z[j - 1, 1:-1] + x[:1] - z[j, :-2]
        z[1:-1, j] = z[1:-1, j + 1] * 0.5 + z[:-2, j] + j
    for j in range(n - 2, 0, -1):
        z[j, 1:-1] = z[j + 1, 1:-1] * y[:1] + z[j, 2:]
        z[1:-1, j] = z[1:-1, j + 1] - z[1:-1, j - 1]
        z[j, : n - 1] += z[j + 1, 1:n]
    return z


def ends(x, y):
    return x[0] + y[-1], x[15] * y[-16], x[2:][1], y[: y.shape[0] - 1] * 2.0


def again(x, y):
    if len(x) < 2:
        return x.sum() + y.sum()
    return x[0] + again(x[::2], y)


FUNCTIONS = [broadcast, neighbours, written, counted, backwards, past_the_end, rows_apart, ends, again]


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_vectors_of_all_sizes(fn: Any) -> None:
    random = np.random.default_rng(6)
    graph = ag.to_graph(fn)
    for _ in range(260):
        n = int(random.choice(SIZES))
        m = n if random.random() < 0.5 else int(random.choice(SIZES))
        args = np.arange(float(n)), random.integers(0, 9, m).astype(float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(outcome(fn, args), outcome(graph, args))


def plates(x, y):
    y[1:-1, 1:-1] = x[1:-1, 1:-1] + x[:-2, 1:-1] * x[1:-1, 2:]
    n, m = x.shape
    for i in range(n):
        y[i, : i + 1] += x[i, : i + 1] * 2.0
    return (x + y[:1] - y[:, :1]).sum(axis=1), y[1 : n - 1, 1 : m - 1] - 1.0, x @ y.T


def test_matrices_of_all_sizes() -> None:
    random = np.random.default_rng(7)
    graph = ag.to_graph(plates)
    for _ in range(150):
        n, m = (int(random.choice(SIZES)) for _ in range(2))
        other = (n, m) if random.random() < 0.7 else (int(random.choice(SIZES)), m)
        args = random.integers(0, 9, (n, m)).astype(float), random.integers(0, 9, other).astype(float)
        if random.random() < 0.2:
            args = args[0][::-1].T, args[1].T
        same(outcome(plates, args), outcome(graph, args))


def test_equal_sizes_are_one_loop() -> None:
    def chain(a, b, c):
        return np.exp(a * b + c) / (1.0 + b[:] * b), a[1:] - a[:-1] * b[1:]

    graph = ag.to_graph(chain)
    for n in (20, 30, 50):
        graph(*(np.ones(n) for _ in range(3)))
    listing = graph.get_native(*(np.ones(70) for _ in range(3)), kind="loops")
    assert listing.count("nest") == 2
    assert graph.cache_info().traces == 2


def test_kinds_of_sizes_are_few() -> None:
    graph = ag.to_graph(lambda *x: sum(v.sum() for v in x))
    random = np.random.default_rng(8)
    for _ in range(60):
        args = [np.ones(int(n)) for n in random.choice([1, 2, 3, 20, 30], 5)]
        assert graph(*args) == sum(map(len, args))
    for variants in (graph.get_graph(*args).native for args in [[np.ones(n) for n in (2, 3, 4, 5, 6)]]):
        assert variants is not None and len(variants) <= backend.MOST + 1


def gates(z, c):
    m = c.shape[1]
    first = z[:, :m] * c + z[:, m : 2 * m] * 2.0
    c += z[:, 2 * m :] - first
    return np.maximum(c, z[:, 2 * m : 3 * m]) + z[:1, :m], c


def test_parts_of_which_the_sizes_turn_out_to_be_equal() -> None:
    graph = ag.to_graph(gates)
    for n, m, more in (
        (20, 17, 0),
        (20, 17, -16),
        (18, 20, 0),
        (18, 20, -20),
        (18, 20, 5),
        (1, 20, 0),
        (3, 1, 0),
        (0, 4, 0),
    ):
        z = (np.arange(float(n * (3 * m + more))) % 11).reshape(n, 3 * m + more)
        args = z, np.ones((n, m))
        same(outcome(gates, args), outcome(graph, args))
    many = ag.to_graph(lambda a, b: a @ b)
    for n, k, m in ((16, 64, 30), (9, 20, 17), (70, 40, 30), (20, 600, 500), (2, 20, 20)):
        a, b = (np.arange(float(p * q)).reshape(p, q) % 5 for p, q in ((n, k), (k, m)))
        np.testing.assert_array_equal(many(a, b), a @ b)


def unused_sum(x):
    doubled = np.repeat(x, 2)
    doubled + np.array([1, 2, 3])
    return x


def chosen(x):
    return x[np.tile(np.arange(1), 2), np.array([0, 0, 0])]


def test_sizes_that_are_known_not_to_fit() -> None:
    for fn, args in ((unused_sum, (np.ones(1), np.ones(2))), (chosen, (np.ones((1, 1)),))):
        graph = ag.to_graph(fn)
        for x in args:
            same(outcome(fn, (x,)), outcome(graph, (x,)))
