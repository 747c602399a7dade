"""Searching, counting and sorting, compared with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


RNG = np.random.default_rng(5)
X = RNG.normal(size=300)
NAN = np.array([1.0, np.nan, -2.0, np.inf, 0.5, np.nan, -np.inf, 3.0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
def test_short_arrays_are_sorted(dtype: Any) -> None:
    def place(x):
        x.sort()
        x[::2].sort()
        return x

    for n in (0, 1, 2, 7, 20):
        x = (X[:n] * 10).astype(dtype)
        check(lambda x: (np.sort(x), np.sort(x * x), np.sort(x[::-1])), x)
        check(place, x)


def test_nan_comes_last() -> None:
    check(lambda x: np.sort(x), NAN)
    check(lambda x, v: (np.searchsorted(x, v), np.searchsorted(x, v, side="right")), np.sort(NAN), NAN)


def test_long_arrays_are_sorted() -> None:
    check(lambda x: (np.sort(x), np.argsort(x)), X, native=False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.int8])
def test_the_first_of_a_stable_sort(dtype: Any) -> None:
    def fn(x, k):
        return np.argsort(x, kind="stable")[:k], x.argsort(kind="stable")[:3] + 1

    def largest(x, k):
        best = np.argsort(-x, kind="stable")[:k]
        return best, x[best]

    for n in (0, 1, 7, 31, 33, 300):
        x = (X[:n] * 3).astype(dtype)
        for k in (0, 1, 6, 32, 33, -2, 500):
            check(largest, x, k)
        check(fn, x, 5)
        check(fn, x[::-1], 5)
    if np.dtype(dtype).kind == "f":
        x = np.tile(NAN, 9).astype(dtype)
        check(fn, x, 20)
        check(largest, x, 6)


def test_searching() -> None:
    def fn(x, v, k):
        return (
            np.searchsorted(x, v),
            x.searchsorted(v, "right"),
            np.searchsorted(x, k),
            x.searchsorted(k, "right"),
        )

    for n in (0, 1, 2, 50, 300):
        x = np.sort(X[:n])
        check(fn, x, np.concatenate([X[::7], x[::5]]), 0.25)
        check(fn, x, X[:12].reshape(3, 4), x[n // 2] if n else -1.0)
    check(
        lambda x, v: np.searchsorted(x, v), np.sort((X * 20).astype(np.int64)), (X[:40] * 20).astype(np.int64)
    )


def test_counts() -> None:
    i = RNG.integers(0, 30, 200)
    for x in (i, i.astype(np.int8), i.astype(np.uint16), i[:0]):
        check(lambda x: (np.bincount(x), np.bincount(x, minlength=50)), x)
        check(lambda x, w: np.bincount(x, weights=w), x, X[: len(x)])
        check(lambda x, w: np.bincount(x, w), x, np.arange(len(x)))
    check(lambda x: np.bincount(x), i - 5)
    check(lambda x, k: np.bincount(x, None, k), i, 40)


def test_histograms() -> None:
    def weighted(x, w, k):
        c, e = np.histogram(x, k, weights=w)
        return c[1:], e * 2

    check(lambda x: np.histogram(x)[0], X)
    check(lambda x: np.histogram(x, bins=17)[1], X)
    check(lambda x, k: np.histogram(x, k, range=(-1, 0.75))[0], X, 9)
    check(lambda x, k: np.histogram(x, k)[0] + 1, np.round(X, 1), 13)
    check(weighted, X, np.round(X, 2) ** 2 * 64, 11)
    check(lambda x: np.histogram(x)[0], np.ones(5))
    check(lambda x: np.histogram(x, 5, (2, 1))[0], X)
    check(lambda x, k: np.histogram(x, k)[0], X, 0)
    check(lambda x: np.histogram(x)[0], NAN)
    for n in (3, 10, 97):
        check(lambda x, k: np.histogram(x, k, (0, 1))[0], np.arange(n + 1) / n, n)
    check(lambda x: np.histogram(x, 6), X, native=False)
