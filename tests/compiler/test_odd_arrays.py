"""Odd arrays: of bytes that are no bools, of elements that share memory, of any strides."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import autograph as ag
from autograph.errors import StagingError
from tests.compiler.comparing import check, same


def bools(n: int) -> np.ndarray:
    return np.resize(np.array([2, 0, 255, 1], np.uint8), n).view(bool)


@pytest.mark.parametrize("n", [4, 67, 200])
def test_any_byte_but_0_is_true(n: int) -> None:
    def f(x, y):
        z = x.view(bool)
        return z & y, ~z, z.sum(), np.where(z, 1.0, 2.0), z.any(), z.all(), z ^ y, y[z], np.count_nonzero(z)

    check(f, bools(n).view(np.uint8), np.arange(n) % 3 == 0, native=False)

    def g(x, y):
        total = 0.0
        for i in range(len(x)):
            if x[i]:
                total += y[i]
        return total, y * x, y[x], x[::2], x[1:] | x[:-1]

    check(g, bools(n), np.arange(n) * 0.5)


def windows() -> np.ndarray:
    return as_strided(np.arange(60.0), (20, 30), (8, 8))


def double(x):
    x *= 2
    return x.sum()


def shift(x):
    x[:] = x + x[::-1]
    return x.sum()


def by_mask(x):
    x[x > 5] = 1.0
    x[[1, 0, 2]] = x[:3]
    return x.sum()


def in_order(x):
    x[...] = np.arange(600.0).reshape(x.shape)
    return x.sum()


@pytest.mark.parametrize("fn", [double, shift, by_mask, in_order])
@pytest.mark.parametrize(
    "make", [windows, lambda: windows().T, lambda: windows()[:, ::-1], lambda: windows()[3]]
)
def test_written_arrays_whose_elements_share_memory(fn, make) -> None:
    if make().ndim != 2 and fn in (by_mask, in_order):
        return
    x, y = make(), make()
    same(fn(x), ag.to_graph(fn)(y))
    np.testing.assert_array_equal(x, y)
    z = [make()]

    def inside(items):
        return fn(items[0])

    compiled = ag.to_graph(inside)
    if make().ndim == 1:
        same(fn(make()), compiled(z))
        return
    with pytest.raises(StagingError, match="share memory"):
        compiled(z)
    np.testing.assert_array_equal(z[0], make())


def test_strided_arrays_whose_elements_lie_apart_are_written() -> None:
    def f(x):
        x += 1
        x[:, 0] = 5
        x[::-1] *= x
        return x

    @ag.to_graph
    def inside(items):
        return f(items[0])

    for make in (
        lambda: np.zeros((6, 8))[::2, ::3],
        lambda: np.ones((6, 8)).T,
        lambda: np.ones((2, 3, 4)).transpose(1, 2, 0)[0],
        lambda: np.ones((0, 6))[:, ::2],
        lambda: np.ones((3, 1))[:, ::-1],
    ):
        same(f(make()), inside([make()]))


def test_length_1_axes_of_any_stride_do_not_hide_overlaps() -> None:
    def f(a, b):
        a += b[::-1]
        return b.copy()

    compiled = ag.to_graph(f)

    def overlapping(k):
        base = np.arange(200.0).reshape(4, 50)
        return base[::-1][k : k + 1], base[3 - k]

    for _ in range(3):
        compiled(np.zeros((1, 50)), np.ones(50))
    for k in (0, 1, 2):
        same(f(*overlapping(k)), compiled(*overlapping(k)))
    same(f(np.zeros((1, 50)), np.ones(50)), compiled(np.zeros((1, 50)), np.ones(50)))


@pytest.mark.parametrize("code", ["q", "Q", "l", "L", "i", "I", "p"])
def test_integers_of_another_class_than_their_dtype_tells_are_refused(code) -> None:
    def f(x):
        return x[0], x + 1, x.sum()

    def g(items):
        return items[0] + 1

    plain = np.dtype(np.dtype(code).str)
    for fn, wrapped in ((f, lambda x: x), (g, lambda x: [x[0]])):
        compiled = ag.to_graph(fn)
        compiled(wrapped(np.arange(1, 4).astype(plain)))
        x = wrapped(np.arange(1, 4).astype(code))
        if np.dtype(code).type is plain.type:
            same(fn(x), compiled(x))
            continue
        for _ in range(2):
            with pytest.raises(StagingError, match="another class"):
                compiled(x)
