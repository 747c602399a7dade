"""Arrays of all pairs, shapes given as lists, complex systems, sums of single numbers."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


X, Y = np.arange(12.0).reshape(3, 4), np.linspace(-2.0, 2.0, 5)
N = np.array([3, -1, 7], np.int16)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, y, n: np.add.outer(x, y),
        lambda x, y, n: np.multiply.outer(y[::2], x[:, 1]) + 1.0,
        lambda x, y, n: np.minimum(x[:, :3], np.add.outer(x[:, 1], x[1, :3])),
        lambda x, y, n: np.subtract.outer(n, n),
        lambda x, y, n: np.less.outer(n, y),
        lambda x, y, n: np.add.outer(y * 2.0, 3.0),
        lambda x, y, n: np.add.outer(2.0, x),
        lambda x, y, n: np.add.outer(np.float64(2.0), np.float64(0.5)),
    ],
)
def test_outer(fn: Any) -> None:
    check(fn, X, Y, N)


def test_grids() -> None:
    def planes(n, m):
        i, j = np.mgrid[0:n, 0:m]
        i[0, :1] += 5
        return i * 10 + j, np.mgrid[2:n, -1:3, 0:m]

    for n, m in ((3, 4), (0, 2), (-5, 2), (70, 40), (2, 1)):
        check(planes, n, m)

    def late(n):
        return np.mgrid[3:n, 0:2]

    check(late, 9)
    check(late, -9)
    check(lambda n: np.mgrid[0:n:2, 0:3], 7, native=False)
    check(lambda n: np.mgrid[0:n:0, 0:3], 7, native=False)
    check(lambda n: np.mgrid[0 : 4 : 3 * 1j, 0:n], 7, native=False)


def test_shapes_given_as_lists() -> None:
    def made(x, n):
        y = x[:n]
        a = np.empty([y.shape[0], y.shape[1] // 2], dtype=x.dtype)
        a[:] = 2.0
        return a, np.zeros([n, 2]), np.full([2, n], 7), y.reshape([n, -1, 2]), np.reshape(y, [-1])

    check(made, X, 2)
    check(made, X, 3)
    check(lambda x, n: np.zeros([n, -1]), X, 2, native=False)


def test_transposed_by_name() -> None:
    check(lambda x, n: np.transpose(np.reshape(x, (n, 2, -1)), axes=(1, 0, 2))[1, 0] + 0.0, X, 3)


def test_unpacked_rows() -> None:
    def rows(x):
        a, b, c = x
        b[0] = 9.0
        return a + b, c

    check(rows, X)
    check(rows, np.ones((2, 3)), native=False)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64, np.float64, np.float32])
def test_systems(dtype: Any) -> None:
    def solved(a, b, n):
        t = np.zeros((n, n), dtype=a.dtype)
        t += a
        return np.linalg.solve(t, b), np.linalg.inv(t) @ a, np.linalg.solve(t, b[:, 0])

    random = np.random.default_rng(0)
    real = np.dtype(dtype).kind == "f"
    a = (random.random((4, 4)) + (0 if real else 1j) * random.random((4, 4)) + 4 * np.eye(4)).astype(dtype)
    b = random.random((4, 3)).astype(dtype)
    check(solved, a, b, 4)
    check(solved, np.zeros((4, 4), dtype), b, 4)
    if real:
        check(lambda a: (np.linalg.cholesky(a @ a.T), np.linalg.det(a)), a)


@pytest.mark.parametrize(
    "x", [-0.0, 2.5, np.float32(-0.0), 3, np.int8(-3), np.uint8(7), True, np.bool_(0), np.nan]
)
def test_reductions_of_a_number(x: Any) -> None:
    check(lambda x: (np.sum(x), np.prod(x), np.max(x), np.min(x), np.mean(x), np.any(x), np.all(x)), x)


def test_linspace_with_its_dtype() -> None:
    check(lambda a, b, n: np.linspace(a, b, n, dtype=np.float64), 0.5, 2.0, 7)
    check(lambda a, b, n: np.linspace(a, b, n, dtype=np.float32), 0.5, 2.0, 7, native=False)


@pytest.mark.parametrize(
    "n", [(3, 39), (-2, 63), (2, 62), (7, -2), (-1, 10**9), (0, 5), (10, -330), (0, 0), (0, -1)]
)
def test_powers_of_integers(n: tuple[int, int]) -> None:
    check(lambda a, b: (a**b, a**b / 3, a**b > 5), *n)


def test_powers_of_integers_are_sizes() -> None:
    def parts(x, n, k):
        return x[: n**k] * 2.0, np.reshape(x, (n**k, -1)), np.zeros(n**k)

    for n, k in ((2, 1), (2, 2), (2, 0), (3, 1), (5, 1)):
        check(parts, np.arange(12.0), n, k)
    check(parts, np.arange(12.0), 2, -1)
