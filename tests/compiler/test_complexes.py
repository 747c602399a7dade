"""Complex numbers, compared with NumPy and Python."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


Z = np.array([1 + 2j, -0.5 + 0.25j, 3 - 4j, 1e-3j, -2.0, 0.5 - 0.5j])
W = np.array([0.5 - 1j, 2 + 2j, -1 + 0.125j, 4, 1j, -3 + 1j])
BIG = np.tile(Z, 20).reshape(10, 12)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_arithmetic(dtype: type) -> None:
    z, w = Z.astype(dtype), W.astype(dtype)
    check(lambda x, y: x + y, z, w)
    check(lambda x, y: x - y * 2, z, w)
    check(lambda x, y: (x + y * 1j, x * y.real), z, w)
    check(lambda x: (-x, +x, x.conj(), np.conj(x), np.conjugate(x)), z)
    check(lambda x: (x == 1j, x != 3 - 4j, x.real + 1, x.imag * 2), z)
    check(lambda x: (np.isnan(x), np.isfinite(x), np.isinf(x), np.where(x == 1j, x, 2.0)), z)
    check(lambda x: x + np.arange(6), z, native=False)


def close(fn: Any, *args: Any) -> None:
    wanted, got = fn(*args), ag.to_graph(fn)(*args)
    for a, b in zip(wanted, got):
        assert type(a) is type(b) and getattr(a, "dtype", 0) == getattr(b, "dtype", 0)
        np.testing.assert_allclose(
            a, b, rtol=1e-6 if str(getattr(a, "dtype", "")).endswith(("64", "32")) else 4e-16
        )


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_functions(dtype: type) -> None:
    z, w = Z.astype(dtype), W.astype(dtype)
    close(lambda x, y: (x / y, x * y, abs(x), np.abs(y), 1 / y, x / 2), z, w)
    close(lambda x: (x**2, x**3, np.square(x), np.reciprocal(x)), z)
    close(lambda x: (np.exp(x), np.sqrt(x), np.log(x), np.sin(x), np.cosh(x)), z)
    close(lambda x, y: ((x * y + 1.0).sum(), abs(x * y + 1), np.mean(x)), z, w)
    close(lambda x: (x.sum(), x.sum(0), x.mean(1), np.sum(x * 1j, axis=0)), BIG.astype(dtype))


def test_sizes_of_any_scale() -> None:
    parts = [0.0, -0.0, 1e-320, 1e-200, 1.0, -3.0, 1e200, 1.7e308, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a, b in itertools.product(parts, parts)])
    with np.errstate(all="ignore"):
        close(lambda x: (np.abs(x),), z)
        check(lambda x, y: x / y, z[:40:3], np.array(2 - 3j))
    rng = np.random.default_rng(0)
    z = rng.normal(size=5000) * 10.0 ** rng.integers(-9, 9, 5000) + 1j * rng.normal(size=5000)
    got = ag.to_graph(lambda x: np.abs(x))(z)
    wanted = np.array([math.hypot(x.real, x.imag) for x in z])
    assert np.max(np.abs(got - wanted) / wanted) <= 2.3e-16


def test_arrays_are_made_and_written() -> None:
    def make(n):
        a = np.zeros((n, 3), dtype=complex)
        b = np.full(n, 1 + 2j)
        c = np.ones_like(a)
        d = np.array([1j, 2, n])
        a[0] = 3
        a[1, 2] = 1j
        a[:, 1] += b
        a *= 2
        return a, b, c, d, a.copy(), b.astype(np.complex64)

    check(make, 4, native=False)

    def parts(x):
        y = x.copy()
        r = y.real
        r[1] = 100.0
        y.imag[0] += 7.0
        return y, r

    check(parts, Z)

    def grow(z, c):
        for _ in range(5):
            z = z * z + c
        return z

    check(grow, np.zeros(6, complex), W / 4)


def test_numbers() -> None:
    def numbers(x, y):
        z = complex(x, y)
        w = (z * z + 1.5) / z - z
        return w.real, w.imag, abs(z), z == w, -z, z + 1, 2.0 * z, z.conjugate()

    check(numbers, 1.5, -2.5, native=False)
    check(numbers, 0.0, 0.0, native=False)

    def scalars(z):
        s = z[0] * z[1] + 1j
        return s, s.real, s.imag, s == z[0], s * 2.0

    check(scalars, Z)


def test_products_of_arrays_are_rounded_as_numpy_rounds_them() -> None:
    rng = np.random.default_rng(1)
    z, w = (rng.normal(size=101) + 1j * rng.normal(size=101) for _ in range(2))
    check(lambda x, y: (x * y, x**2, np.square(y), x * y + x), z, w)
    check(lambda x, y: (x[3] * y[3], x[5] ** 2 + y[0]), z, w, native=False)
    check(lambda x, y: (x * 1j + y, x.conj() - y, -x, np.where(x == y, x, y)), z.reshape(1, 101), w)
    check(lambda x, y: (x * y)[::2] + y[::2], z.astype(np.complex64), w.astype(np.complex64))


def test_exponentials_of_any_size() -> None:
    parts = [0.0, -0.0, 1.5, -710.0, 710.0, 745.0, 1e9, 1e300, np.inf, -np.inf, np.nan]
    z = np.array([complex(a, b) for a, b in itertools.product(parts, parts)])
    with np.errstate(all="ignore"):
        close(lambda x: (np.exp(x), np.exp(x[:40])), z)
        close(lambda x: (np.exp(x * 1j), np.exp(x[1] * 2)), np.linspace(-20, 20, 101) + 0.5j)
        close(lambda x: (np.exp(x * 1j),), (np.linspace(-20, 20, 101) + 0.5j).astype(np.complex64))


@pytest.mark.parametrize("kind", [np.complex128, np.complex64])
def test_products_round_as_often_as_those_of_numpy(kind) -> None:
    def scalars(x, y):
        a, b = x[0], y[0]
        c = a * b
        c *= a
        return a * b, c, 2 * a

    def arrays(x, y):
        return x * y, x**3, np.multiply(x[0], y[0])

    compiled = [(fn, ag.to_graph(fn)) for fn in (scalars, arrays)]
    r = np.random.default_rng(0)
    for _ in range(30):
        x, y = ((r.normal(size=20) + 1j * r.normal(size=20)).astype(kind) for _ in range(2))
        for fn, graph in compiled:
            for want, got in zip(fn(x, y), graph(x, y)):
                assert np.array_equal(want, got)


def test_cubes_of_large_complex_numbers_are_not_finite_as_in_numpy() -> None:
    x = np.array([-1e308 + 1e200j, complex(1e308, np.inf), 1e200j, 1e-200 + 1e200j] * 10)
    check(lambda x: x**3, x, native=False)
