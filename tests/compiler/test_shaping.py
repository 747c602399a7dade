"""Arrays of other shapes, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


M = np.arange(24.0).reshape(4, 6)


def test_known_shapes() -> None:
    check(
        lambda m: (m.reshape(24), m.reshape(-1), m.reshape((2, -1)), np.reshape(m, (2, 3, 4)), m.ravel()), M
    )
    check(lambda m: (m.T.reshape(-1), m.T.ravel(), m[:, ::2].reshape(12), m[::2].reshape(2, 6, 1)), M)
    check(lambda m: (np.expand_dims(m, 1), np.expand_dims(m, (0, -1)), (m + 1).reshape(3, 8)), M)
    check(lambda m: m.reshape(5, 5), M, native=False)


def test_shapes_that_are_computed() -> None:
    for a, b in ((4, 6), (-1, 6), (4, -1), (24, 1), (5, 5), (-1, -1), (0, -1), (-2, 3), (-3, -8), (7, -1)):
        check(lambda m, a, b: m.reshape(a, b), M, a, b, native=False)
        check(lambda m, a: m[:a, :a].reshape(a * a), M, a, native=False)
    check(lambda x, n: x[:n].reshape(-1, 2), np.arange(20.0), 6)
    check(lambda x, n: x[:n].reshape(-1, 2), np.arange(20.0), 5)
    check(lambda x, n: x[:n].reshape(2, -1) + 1, np.arange(20.0), 8)
    check(lambda x, n: np.arange(n).reshape(n, 1) * x.reshape(1, n), np.arange(20.0), 20)


def test_writes_go_through_views_only() -> None:
    def fn(m):
        m.reshape(-1)[3] = -1
        m.T.reshape(-1)[1] = -2
        m[:, None].reshape(4, 6)[1, 1] = -3
        m[:, ::2].reshape(12)[2] = -4
        m[:2, :].reshape(3, 4)[0] = -5
        m[::2].reshape(2, 3, 2)[0, 1] = -6
        m.ravel()[5] = -7
        return m

    check(fn, M, native=False)

    def views(m):
        return m.reshape(2, 12), m[:, ::2].reshape(12), m[::2].reshape(2, 3, 2), m.T.reshape(6, 2, 2)

    wanted, got = views(M), ag.to_graph(views)(M)
    for a, b in zip(wanted, got):
        np.testing.assert_array_equal(a, b)
        assert np.shares_memory(a, M) == np.shares_memory(b, M)


def test_slices_with_steps_that_are_computed() -> None:
    def read(x, a, b, c):
        return x[a:b:c], x[::c], x[a::c], x[:b:c], x[a:b:-2], x[b::-1]

    def write(x, a, b, c):
        x[a:b:c] = -1.0
        x[b:a:-3] = -2.0
        return x

    x = np.arange(11.0)
    for a, b, c in (
        (0, 11, 2),
        (9, 1, -3),
        (-1, -20, -1),
        (3, 3, 1),
        (20, -20, -4),
        (2, 8, 3),
        (0, 5, 0),
        (-3, 99, 5),
    ):
        check(read, x, a, b, c)
        check(write, x, a, b, c)
    check(lambda m, k: m[::k, ::-k], M, 2)
    check(lambda m, k: m[::k, ::-k], M, -1)
    check(lambda x, n: [x[:n][k:0:-1].sum() for k in range(3)], x, 7, native=False)
