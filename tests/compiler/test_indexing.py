"""Indexing with arrays and masks, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check, outcome, same


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


X = np.arange(12.0)
M = np.arange(24.0).reshape(4, 6)
T = np.arange(120.0).reshape(4, 5, 6)
I = np.array([2, 0, -1, 2, 3, -4])
J = np.array([5, 1, 0, -6, 2, 2])
EMPTY = np.array([], dtype=np.int64)
LONG = np.arange(200.0) - 100.0
LONG_INDEX = (np.arange(150) * 37) % 200 - 100


def test_gather() -> None:
    def take(x, i):
        return x[i]

    for x in (X, M, T, X.astype(np.float32), M > 3, M * 1j, X.astype(np.int8), M[:, ::2], M.T):
        for index in (I, I.astype(np.int32), I.reshape(2, 3), EMPTY, np.array([1, 2], np.uint8)):
            check(take, x, index)
    check(take, LONG, LONG_INDEX)
    check(take, LONG, np.array([0, 200]))
    check(take, LONG, np.array([-201, 0]))
    check(take, M, np.array([4]))


def test_gather_is_fused() -> None:
    def fn(x, y, i):
        return np.sum(np.exp(x[i]) * y[i + 1] + i)

    check(lambda x, i: x[i] * 2.0 + x[i + 1], LONG, LONG_INDEX - 1)
    args = (LONG / 100, LONG / 50, LONG_INDEX - 1)
    assert np.isclose(fn(*args), ag.to_graph(fn)(*args), rtol=1e-14)


def test_mixed_indices() -> None:
    check(lambda x, i, j: x[i, j], M, I, J)
    check(lambda x, i, j: x[i, j], T, I, J[:, None] % 5)
    check(lambda x, i: x[i, 2], M, I)
    check(lambda x, i: x[:, i], M, J)
    check(lambda x, i: x[1:, i], M, J)
    check(lambda x, i: x[i, 1:4], M, I)
    check(lambda x, i: x[i, ::-2], M, I)
    check(lambda x, i: x[i, None], M, I)
    check(lambda x, i: x[..., i], T, J)
    check(lambda x, i, j: x[i, :, j], T, I, J)
    check(lambda x, i, j: x[:, i, j], T, I, J)
    check(lambda x, i: x[[0, 2], 1:], M, I)
    check(lambda x, i, k: x[i, k], M, I, 2)
    check(lambda x, i, k: x[i, k], M, I, 6)
    check(lambda x, i, j: x[i, j], M, I, J[:3], native=False)


def test_masks() -> None:
    check(lambda x: x[x > 3], X)
    check(lambda x: x[x > 3], M)
    check(lambda x, y: x[y], M.T, (M > 3).T)
    check(lambda x: x[x > 3], M[:, ::2])
    check(lambda x: x[x > 3] * 2 + 1, LONG)
    check(lambda x, m: x[m], LONG, LONG > 1e9)
    check(lambda x, m: x[m], M, np.array([True, False, True, True]))
    check(lambda x, m: x[:, m], M, np.array([True, False, True, True, False, False]))
    check(lambda x, m: x[m, 1], M, np.array([True, False, True, True]))
    check(lambda x, m: x[m], T, T[:, :, 0] > 50)
    check(lambda x, m: x[m], M, np.array([True, False]), native=False)
    check(lambda x, m: x[~m].sum(), LONG, LONG > 5)


def test_writes() -> None:
    def put(x, i, v):
        x[i] = v
        return x

    for x in (X, M, M.T, T, M[:, ::2], X.astype(np.float32), X.astype(np.int16)):
        check(put, x, I, 7)
        check(put, x, EMPTY, 7)
    check(put, X, I, np.arange(6.0))
    check(put, X.astype(np.int64), I, np.arange(6.0) + 0.5)
    check(put, M, I, np.arange(6.0))
    check(put, M, I, np.arange(36.0).reshape(6, 6))
    check(put, X, np.array([0, 12]), 1.0)
    check(put, X, I, np.arange(5.0), native=False)
    check(put, X, X > 5, 1.0)
    check(put, M, M > 5, 1.0)
    check(put, M.T, M.T > 5, 1)
    check(put, LONG, LONG > 5, 1.0)
    check(put, LONG[::2], LONG[::2] > 5, 1.0)
    check(put, LONG.astype(np.int8), LONG > 5, 1)
    check(put, LONG.astype(np.int8), LONG > 5, 128)
    check(put, M > 3, M > 5, False)
    check(put, LONG, LONG > 5, np.arange(94.0))
    check(put, LONG, LONG > 5, np.arange(93.0))
    check(put, LONG, LONG > 5, np.array([3.0]))
    check(put, M, np.array([True, False, True, False]), np.arange(6.0))
    check(put, M * 1j, M > 5, 2.0)

    def pairs(x, i, j, v):
        x[i, j] = v
        x[i, 1:3] = v
        return x

    check(pairs, M, I, J, 9.0)

    def add(x, i, v):
        x[i] += v
        return x

    check(add, X, I, 1.0)
    check(add, LONG, LONG > 5, 1.0)
    check(add, LONG, LONG > 5, LONG[106:])


def test_writes_of_what_is_read() -> None:
    def shuffle(x, i):
        x[i] = x[:6]
        return x

    def own(x):
        x[x] = x + 1
        return x

    def mask(x):
        x[x > 2] = x[x <= 2][0]
        return x

    def swap(x, i, j):
        x[i], x[j] = x[j], x[i]
        return x

    check(shuffle, X, I)
    if np.lib.NumpyVersion(np.__version__) >= "2.3.0":  # NumPy read the indices after writing over them
        check(own, np.array([3, 1, 0, 2, 2]))
    check(mask, X)
    check(swap, X, I, J)


def test_float_into_integers() -> None:
    def put(x, v):
        x[0] = v
        x[1:] = v
        return x

    for dtype in (np.int64, np.int8, np.uint16):
        for v in (2.7, -2.7, np.float64(3.2), float("nan"), float("inf"), 1e30, 300.5, -1.0):
            check(put, np.zeros(4, dtype), v)


def test_positions() -> None:
    check(lambda x: np.nonzero(x > 3)[0], LONG)
    check(lambda x: np.nonzero(x), M)
    check(lambda x: np.where(x > 3)[0] + 1, X)
    check(lambda x: np.flatnonzero(x > 3), M)
    check(lambda x: np.argwhere(x > 3), M)
    check(lambda x: np.count_nonzero(x), LONG)
    check(lambda x: np.count_nonzero(x), M.T)


def test_a_view_of_another_array_is_written() -> None:
    def fn(x, i):
        y = x[i]
        x[0] = 100.0
        return y, x

    check(fn, X, np.array([0, 1, 0]))
    check(fn, LONG, np.arange(40))


def test_the_order_of_axes_in_memory_is_the_same() -> None:
    index = np.array([0, 1, 2, 0, 1, 2, 0, 1])
    for fn in (
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x[..., i],
        lambda x, i: x[i, :, i],
        lambda x, i: x[:, 1, i],
        lambda x, i: x[1, i],
    ):
        for x in (T, T.transpose(2, 1, 0), T[:, ::-1]):
            wanted, got = fn(x, index), ag.to_graph(fn)(x, index)
            assert wanted.strides == got.strides
            np.testing.assert_array_equal(wanted, got)
    pairs = np.array([[0, 1], [2, 3]]).repeat(8, 1)
    for i in (pairs, pairs.T, np.asfortranarray(pairs)):
        for x in (X, M):
            assert x[i].strides == ag.to_graph(lambda x, i: x[i])(x, i).strides


def test_what_numpy_does_not_look_at() -> None:
    check(lambda x, i, j: x[i, j], M[:1], np.array([3]), EMPTY)
    check(lambda x, i, n: x[i, i[:n]], M, np.array([30]), 0)
    check(lambda x, i, n: x[i[:n]], M[:, :0], np.array([30]), 1)
    check(lambda x, i: x[1::2, None, i, ..., 2], T, I)
    check(lambda x, i: x[i, ..., 2, 1], T, I[:3])


def read_masked(x, m):
    return x[m], x[m].sum()


def written_masked(x, m):
    x[m] = 7
    x[m] += 2
    return x


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0), (0, 5), (2, 2)])
def test_a_mask_without_elements_fits_every_array(shape: tuple[int, ...]) -> None:
    x, mask = np.arange(6.0).reshape(2, 3), np.zeros(shape, bool)
    for fn in (read_masked, written_masked):
        graph = ag.to_graph(fn)
        for m in (mask, np.ones((2, 3)[: mask.ndim], bool), np.ones((2, 1)[: mask.ndim], bool), mask):
            same(outcome(fn, (x, m)), outcome(graph, (x, m)))
