"""Arrays that follow a rule and rearrangements of arrays, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


X = np.arange(20.0) * 3
M = np.arange(60.0).reshape(6, 10)
T = np.arange(120).reshape(4, 5, 6)


@pytest.mark.parametrize("values", [(0,), (1,), (7,), (40,), (-3,), (np.int64(5),), (3.5,), (0.0,)])
def test_ranges_to(values: tuple[Any, ...]) -> None:
    check(lambda n: np.arange(n), *values)
    check(lambda n: np.arange(n) * 2 + 1, *values)


@pytest.mark.parametrize(
    "values",
    [(0, 10, 1), (3, 20, 4), (20, 3, -3), (5, 5, 1), (5, 4, 1), (0, 10, 0), (0.0, 1.0, 0.1), (1, 2, 0.25)],
)
def test_ranges(values: tuple[Any, ...]) -> None:
    check(lambda a, b, c: np.arange(a, b, c), *values, native=False)
    check(lambda a, b: np.arange(a, b), *values[:2])


def test_ranges_of_dtypes() -> None:
    check(lambda n: (np.arange(n, dtype=np.float64), np.arange(n, dtype=np.int32)), 30)
    check(lambda n: (np.arange(0.5, n), np.arange(1, n, dtype=np.float32), np.arange(2.0, n, 0.5)), 30)
    check(lambda n: np.arange(10, n, -2), 1)
    check(lambda: (np.arange(100) ** 2, np.arange(3) + 0.5))


def test_spaced() -> None:
    def fn(a, b, n):
        return (
            np.linspace(a, b, n),
            np.linspace(a, b, n, endpoint=False),
            np.linspace(a, b),
            np.linspace(a, b, 5),
        )

    for a, b, n in ((0.0, 1.0, 11), (-2, 3, 30), (1.0, 1.0, 7), (0.0, 1.0, 1), (0.0, 1.0, 0), (2.5, -1.5, 2)):
        check(fn, a, b, n)
    check(lambda n: np.linspace(0, 1, n), -1)


def test_matrices() -> None:
    for n in (1, 3, 20):
        check(lambda n: (np.eye(n), np.identity(n), np.eye(n, 5, 1), np.eye(4, n, -2, dtype=np.int64)), n)
        check(lambda n: (np.tri(n), np.tri(n, 4, -1), np.eye(n, dtype=complex), np.zeros((n, n))), n)
        check(
            lambda n, m: (np.zeros((n, m)), np.ones((m, n), dtype=np.int32), np.full((n, m, n), 2.5)),
            n,
            n + 1,
        )
    check(lambda m: (np.tril(m), np.triu(m, 1), np.tril(m, -2) + m), M)
    check(lambda x: np.diag(x), X)
    check(lambda x: np.diag(x, -2), X)
    check(lambda m: np.diag(m) * 2.0, M)
    check(lambda m: np.diagonal(m, 3).sum(), M)
    check(lambda m: np.zeros_like(m[1:, ::2]), M)
    check(lambda n, m: np.zeros((n, m)), 2**40, 2**40)
    check(lambda n: np.zeros((n, 3)), -1)


def test_products() -> None:
    check(lambda x, y: np.outer(x, y) + 1, X, np.arange(7))
    check(lambda m, x, y: m + np.outer(x[:6], y), M, X, np.arange(10.0))


def test_flips() -> None:
    check(lambda m: (np.flip(m), np.flip(m, 0), np.flip(m, axis=1), np.flipud(m), np.fliplr(m)), M)
    check(lambda x: np.flip(x) * x, X)

    def write(x):
        y = np.flip(x)
        y[0] = -1
        return x, y

    check(write, X)


def test_rolls() -> None:
    for shift in (0, 1, -1, 7, 23, -45):
        check(lambda x, k: np.roll(x, k), X, shift)
        check(lambda m, k: (np.roll(m, k, 0), np.roll(m, k, axis=1), np.roll(m, k)), M, shift)
    check(lambda m: np.roll(np.roll(m, 1, 0), -1, 1) + m, M)
    check(lambda m: np.roll(m, (1, 2), (0, 1)), M)
    check(lambda x, k: np.roll(x[:0], k), X, 3)


def test_repeats() -> None:
    for k in (0, 1, 3):
        check(lambda x, k: (np.repeat(x, k), x.repeat(k), np.tile(x, k)), X, k)
        check(lambda m, k: (np.repeat(m, k), np.repeat(m, k, 0), np.repeat(m, k, axis=1)), M, k)
        check(lambda m, k: (np.tile(m, k), np.tile(m, (k, 2)), np.tile(m, (2, 1, 1))), M, k)
    check(lambda x: np.repeat(x, -1), X, native=False)


def test_pads() -> None:
    check(lambda x: (np.pad(x, 2), np.pad(x, (1, 3)), np.pad(x, 1, constant_values=7)), X)
    check(lambda m: (np.pad(m, 1), np.pad(m, ((1, 0), (2, 3)), mode="constant", constant_values=2.5)), M)


def test_differences() -> None:
    check(lambda x: (np.diff(x), np.diff(x[:1]), np.diff(x[:0])), X**2)
    check(lambda m: (np.diff(m), np.diff(m, axis=0)), M**2)


def test_grids() -> None:
    def fn(x, y):
        a, b = np.meshgrid(x, y)
        c, d = np.meshgrid(x, y, indexing="ij")
        return a + b, c * d, np.broadcast_to(x, (3, 20)) + 1

    check(fn, X, np.arange(4.0), native=False)


def test_views() -> None:
    check(lambda t: (np.swapaxes(t, 0, 2), t.swapaxes(1, 2), np.moveaxis(t, 0, -1), t.flatten()), T)
    check(
        lambda m: (m[None].squeeze(), np.squeeze(m[:, None], 1), np.squeeze(m[1:2]), m.T.flatten()),
        M,
        native=False,
    )

    def write(t):
        t.swapaxes(0, 1)[0, 1] = -1
        np.squeeze(t[:1])[0] = 5
        t.flatten()[0] = 77
        return t

    check(write, T)


def test_what_is_written_later_is_not_seen() -> None:
    def fn(x):
        y = np.tril(np.outer(x, x)) + np.roll(x, 1)
        z = np.repeat(x, 2)
        x[:] = 0
        return y, z

    check(fn, X)
    assert isinstance(ag.to_graph(fn)(X.copy()), tuple)
