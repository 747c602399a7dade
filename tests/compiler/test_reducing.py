"""Variances, positions of extrema, running sums, sums of complex numbers, compared with NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


RNG = np.random.default_rng(3)
X = RNG.normal(size=101)
M = RNG.normal(size=(7, 40))
T = RNG.normal(size=(3, 5, 17))


def close(fn: Any, *args: Any, native: bool = True) -> None:
    compiled = ag.to_graph(fn)
    for a, b in zip(fn(*args), compiled(*args)):
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-6 if a.dtype in (np.float32, np.complex64) else 1e-14)
    if native:
        for variant in compiled.get_graph(*args).native.values():
            assert not variant.fallbacks, [(o.name, o.args) for o in variant.fallbacks]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_variances(dtype: Any) -> None:
    x, m, t = ((10 * v).astype(dtype) for v in (X, M, T))
    close(lambda x: (np.std(x), x.std(), np.var(x), x.var(ddof=1), np.var(x[:3])), x)
    close(lambda m: (np.std(m, 0), np.std(m, axis=1), m.var(-1, keepdims=True), np.var(m), m.T.std(0)), m)
    close(lambda t: (np.std(t, (0, 2)), t.var(axis=1), np.var(t, axis=(0, 1), keepdims=True)), t)
    close(lambda x: (np.std(x * 2 + 1), np.var(x[::2])), x)


def test_sums_over_several_axes() -> None:
    close(lambda t: (np.sum(t, axis=(1, 2)), np.max(t, axis=(0, 1)), t.min((0, 2)), t.mean((1,))), T)
    close(lambda m: (np.sum(m, dtype=np.float32), m.sum(0, dtype=np.float64)), M.astype(np.float32))
    close(lambda m: (np.ptp(m), np.ptp(m, 0), np.trace(m), np.trace(m.T)), M)


def test_complex_sums() -> None:
    z = M + 1j * M[::-1]
    close(lambda z: (z.sum(), z.sum(0), np.sum(z * 2, axis=1), z.mean(), z.mean(1, keepdims=True)), z)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.uint16, bool])
def test_positions(dtype: Any) -> None:
    def fn(x):
        return x.argmax(), np.argmin(x), x[:5].argmax(), x[::3].argmin()

    def of_axes(m):
        return m.argmax(0), np.argmin(m, axis=1), m.argmax(-1), np.argmax(m), m[:, ::3].argmin(0)

    for scale in (1, 100):
        check(fn, (scale * X).astype(dtype))
        check(of_axes, (scale * M).astype(dtype))
        check(lambda t: (t.argmax(0), t.argmin(1), t.argmax(2)), (scale * T).astype(dtype))
    check(lambda x: x.argmax(), X[:0].astype(dtype), native=False)
    check(lambda x, y: (x * y).argmin(), X, X[::-1])


def test_positions_of_nan() -> None:
    for places in ([0], [50, 60], [100], [97, 98], list(range(101))):
        x = X.copy()
        x[places] = np.nan
        check(lambda x: (x.argmax(), x.argmin(), x[3:].argmax()), x)
    m = M.copy()
    m[3, ::7] = np.nan
    m[5, 7:9] = np.nan
    check(lambda m: (m.argmax(0), m.argmin(1), m.argmin()), m)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, bool])
def test_running(dtype: Any) -> None:
    x, m, t = (v.astype(dtype) for v in (X, M, T))
    check(lambda x: (np.cumsum(x), x.cumprod(), np.cumsum(x[:0]), np.cumsum(x[::-2])), x)
    check(lambda m: (m.cumsum(0), np.cumsum(m, axis=1), np.cumprod(m, -1), np.cumsum(m)), m)
    check(lambda t: (t.cumsum(0), t.cumsum(1), t.cumprod(2)), t)
    check(lambda x: np.cumsum(x * 2) + 1, x)
    check(lambda z: (np.cumsum(z), np.cumsum(z[::-1])), X + 1j)
    check(lambda x: np.cumsum(x), np.array([-0.0, -0.0]))


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.uint8, np.bool_, np.complex128])
def test_over_no_axes(dtype) -> None:
    def f(x):
        return x.sum(axis=()), x.max(axis=()), x.any(axis=()), np.mean(x, axis=(), keepdims=True)

    for shape in ((3,), (3, 4), (0, 4), (5, 40)):
        check(f, np.arange(math.prod(shape)).reshape(shape).astype(dtype), native=False)


def test_sums_of_complex_numbers_have_the_dtype_that_is_asked_for() -> None:
    def f(x):
        return x.sum(dtype=np.float32), x.sum(axis=0, dtype=np.complex64), np.sum(x, dtype=complex)

    for kind in (np.complex64, np.complex128):
        check(f, (np.arange(40) * (1 + 1j)).astype(kind).reshape(4, 10), native=False)


def test_averages_of_nothing_raise() -> None:
    def f(x):
        return np.average(x, axis=0), np.average(x, axis=-1)

    check(f, np.ones((3, 4)), native=False)
    compiled = ag.to_graph(f)
    for shape in ((4, 0), (0, 4), (0, 0)):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            compiled(np.ones(shape))


def reduced_by_ufuncs(x):
    return (
        np.add.reduce(x),
        np.multiply.reduce(x, 1),
        np.maximum.reduce(x, axis=-1, keepdims=True),
        np.minimum.reduce(x, axis=None),
        np.logical_and.reduce(x, axis=0),
        np.logical_or.reduce(x),
        np.add.reduce(x, axis=(0, 1)),
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.uint16, bool])
@pytest.mark.parametrize("shape", [(3, 4), (1, 5), (4, 1)])
def test_the_method_reduce_is_the_reduction_of_axis_0(dtype, shape) -> None:
    x = (np.arange(np.prod(shape)).reshape(shape) % 3).astype(dtype)
    check(reduced_by_ufuncs, x)
