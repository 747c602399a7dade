"""Small methods, and builtins over arrays, compared with Python and NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


X = np.array(
    [3.5, -1.25, 0.1, 8.0, -0.0, 2.675, 0.3, 0.7, 1e3, -7.5, 12.0, 0.5, 1.5, 2.5, 99.0, 0.01, 5.0, 6.0]
)
I = np.array([3, -1, 0, 8, 5, 2] * 4)


def test_extrema() -> None:
    nan = np.where(X == 8.0, np.nan, X)
    for x in (X, nan, nan[3:], I, I.astype(np.uint8), X > 1, X[:1], X[:0]):
        check(lambda x: (min(x), max(x)), x, native=len(x) > 0)
    check(lambda x: max(x * 2), X)


def test_sums() -> None:
    for x in (X, I, X.astype(np.float32), I.astype(np.int8)):
        check(lambda x: sum(x), x)
        check(lambda x, s: sum(x, s), x, 2)
    check(lambda x: sum(x[:0]), X, native=False)
    check(lambda x: (any(x > 3), all(x > 3), any(x), all(x > -1e9)), X)


def test_quotients() -> None:
    for a, b in (
        (7, 3),
        (-7, 3),
        (7, -3),
        (0, 5),
        (7, 0),
        (7.5, 2),
        (-7.5, 2.0),
        (7.5, 0.0),
        (-0.0, 3),
        (5, 0.3),
    ):
        check(lambda a, b: divmod(a, b), a, b, native=False)

    def digits(n):
        total = 0
        while n:
            n, d = divmod(n, 10)
            total += d
        return total

    check(digits, 987654321)


def test_methods() -> None:
    check(lambda x: (x[0].item(), x.sum().item(), (x > 1).any().item(), x.astype(np.float32)[2].item()), X)

    def fill(x, v):
        x[:3].fill(v)
        return x

    check(fill, X, 2.5)
    check(fill, X, 2)
    check(fill, I, 3)
    check(fill, I, 3.7, native=False)
    check(lambda x: (np.round(x), x.round(2), np.around(x, -1), np.round(x * 3, 1)[2:]), X)
    check(lambda x: (round(x[0], 1), np.round(x[5], 2), x[0].round()), X, native=False)
    check(lambda x, i: (np.take(x, i), x.take(i)), X, I)
    check(lambda x, i: np.take(x, i, axis=0), X.reshape(9, 2), I)
    check(lambda x, i: x.take(i), X, I + 30)


def test_whole_powers() -> None:
    for dtype in (np.int64, np.int8, np.uint16):
        x = (I * 3).astype(dtype)
        check(lambda x: (x**2, x**3, x**4, x**7, x**8), x)
    check(lambda x, k: x**k, I, 3, native=False)
    check(lambda x, k: x**k, I, -1, native=False)


@pytest.mark.parametrize("pair", [(12, 18), (0, 0), (-4, 6), (2**40, 2**35 * 3), (7, 0)])
def test_whole_mathematics(pair: tuple[Any, ...]) -> None:
    check(lambda a, b: math.gcd(a, b), *pair)
    check(lambda a, b: (math.isqrt(a), math.isqrt(b)), *pair)


def test_roots() -> None:
    for n in (
        2**62 - 1,
        2**62,
        94906267**2,
        94906267**2 - 1,
        (2**31 - 1) ** 2,
        (2**31 - 1) ** 2 - 1,
        3037000499**2,
    ):
        check(lambda n: math.isqrt(n), n)


def test_mathematics() -> None:
    def fn(x):
        return math.radians(x), math.degrees(x), math.log2(x), math.log(x), math.log10(x)

    for x in (1, 2, 10, 0.3, 1e300, 7, 0, -1, 2**53 + 1):
        check(fn, x, native=False)
