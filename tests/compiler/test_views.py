"""Views and copies that can be told apart: by writes, by identity, by what is returned or kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check, same

ARRAYS = {
    "dense": lambda: np.arange(48.0).reshape(6, 8),
    "transposed": lambda: np.arange(48.0).reshape(8, 6).T,
    "columns": lambda: np.arange(96.0).reshape(6, 16)[:, ::2],
    "rows": lambda: np.arange(96.0).reshape(12, 8)[::2],
    "line": lambda: np.arange(96.0)[::2],
}


def shared(result, x):
    found = result if isinstance(result, (tuple, list)) else (result,)
    return [isinstance(r, np.ndarray) and np.shares_memory(r, x) for r in found]


def written_line(x):
    z = x[::2].ravel()
    z[0] = 100.0
    return x.sum(), z


def written_parts(x):
    a, b, c = x[::-1].ravel(), x.T.ravel(), x[1:].ravel()
    d, e = x[::2].reshape(-1, 2), x.reshape(-1)
    a[0], b[0], c[0], d[0], e[0] = 1.0, 2.0, 3.0, 4.0, 5.0
    return x.sum(), a, b, c, d, e


def returned_part(x):
    z = x.reshape(-1)
    return z[1:]


def returned_both(x):
    z = x.reshape(-1)
    return x.ravel(), z, z.reshape(2, -1)


def kept(x):
    items = []
    items.append(x.reshape(-1)[::2])
    return items


def read_later(x):
    z = x.reshape(-1)
    w = z * 2
    x[0] = 5.0
    return z + w


@pytest.mark.parametrize("fn", [written_line, written_parts, returned_part, returned_both, kept, read_later])
@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_reshaped_arrays_share_memory_where_those_of_numpy_do(fn, make) -> None:
    x, y = make(), make()
    want, got = fn(x), ag.to_graph(fn)(y)
    same(tuple(want) if isinstance(want, list) else want, tuple(got) if isinstance(got, list) else got)
    assert shared(got, y) == shared(want, x)
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("make", ARRAYS.values(), ids=ARRAYS)
def test_an_array_squeezed_of_nothing_is_the_array(make) -> None:
    @ag.to_graph
    def f(x):
        a = np.squeeze(x)
        a += 1
        b = x.squeeze()
        return a, b

    x = make()
    assert all(r is x for r in f(x))


def test_a_view_of_what_may_not_be_written_may_not_be_written() -> None:
    def f(x):
        y = np.broadcast_to(x, (3, 5))
        return y[1:], y.T

    for result in ag.to_graph(f)(np.arange(5.0)):
        assert not result.flags.writeable


@pytest.mark.parametrize("name", ["std", "var", "mean", "sum", "clip"])
@pytest.mark.parametrize("dtype", [np.float64, np.int16])
def test_results_have_the_order_of_the_array(name, dtype) -> None:
    def f(x):
        return getattr(x, name)(axis=0) if name != "clip" else x.clip(2, 30)

    x = np.arange(120).astype(dtype).reshape(2, 3, 4, 5).transpose(3, 0, 2, 1)
    assert ag.to_graph(f)(x).strides == f(x).strides


@pytest.mark.parametrize("kind", [np.complex128, np.complex64])
def test_means_of_complex_numbers_spread_what_is_not_finite(kind) -> None:
    def f(x):
        return x.mean(), x.mean(axis=0), x.mean(axis=1), x.mean(axis=(0, 1), keepdims=True)

    x = (np.arange(60.0).reshape(3, 20) * (1 + 2j)).astype(kind)
    check(f, x, native=False)
    for bad in (np.nan, np.inf, complex(0, np.nan), complex(1, -np.inf)):
        x[1, 4] = bad
        check(f, x, native=False)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.int32, np.float32])
def test_bounds_beyond_a_type_do_not_clip(dtype) -> None:
    def f(x):
        return np.clip(x, -1, 1000), x.clip(3, 5)

    check(f, np.arange(100).astype(dtype), native=False)


def test_positions_lie_in_memory_as_those_of_numpy() -> None:
    def f(x):
        return (*np.nonzero(x), np.argwhere(x), *np.where(x > 2), np.flatnonzero(x))

    def g(x):
        i, j = np.nonzero(x)
        i[0] = 5
        rows = np.argwhere(x)
        rows[0] = 7
        return i, j, rows, rows.sum(0), x[np.nonzero(x)]

    for shape in ((3, 4), (40, 7), (1, 5)):
        x = np.arange(math.prod(shape)).reshape(shape) % 4
        for fn in (f, g):
            check(fn, x, native=False)
            for mine, want in zip(ag.to_graph(fn)(x), fn(x)):
                assert mine.strides == want.strides or len(want) < 2


def repeated(x):
    y = x + 1
    return [y[:, 0] for _ in range(3)]


def several(x):
    y = x * 2
    return y[0], y[1:], y.T, y[0]


def of_views(x):
    y = x * 2
    z = y[1:]
    return z[:1], z[0], z.T[0]


def of_numbers(x):
    y = np.array([1.0, 2.0, 3.0])
    return y[:2], y[1:], y[::-1]


def chosen(x):
    y = x + 1 if x[0, 0] > 0 else x + 2
    return y[0], y[:1]


@pytest.mark.parametrize("fn", [repeated, several, of_views, of_numbers, chosen])
@pytest.mark.parametrize("shape", [(2, 3), (6, 10)])
def test_views_of_a_small_array_that_is_made_share_its_memory(fn, shape) -> None:
    x = np.arange(float(math.prod(shape))).reshape(shape)
    want, got = fn(x), ag.to_graph(fn)(x)
    same(tuple(want), tuple(got))
    for i in range(len(want)):
        assert shared(list(got), got[i]) == shared(list(want), want[i])


def test_results_of_a_reshaped_array_have_its_order() -> None:
    def f(x):
        return x.reshape(x.shape + (1,)).any(1), x.reshape(x.shape + (1,)).sum(0) + 1

    x = np.asfortranarray(np.arange(1320.0).reshape(2, 20, 33))
    for mine, want in zip(ag.to_graph(f)(x), f(x)):
        assert mine.strides == want.strides


def diagonals(x):
    d = x.diagonal()
    return d, d[:], d[:1], d[::-1], d.T, d.reshape(-1), d[None], np.diag(x)[1:], np.diagonal(x, 1)[...]


def written_diagonal(x):
    x.diagonal()[:1][...] = 3.0
    return x


def test_parts_of_a_diagonal_may_not_be_written() -> None:
    for shape in ((3, 3), (1, 4), (4, 1)):
        x = np.ones(shape)
        given = ag.to_graph(diagonals)(x)
        assert not any(d.flags.writeable for d in given) and all(d.base is not None for d in given)
        check(written_diagonal, x, native=False)
