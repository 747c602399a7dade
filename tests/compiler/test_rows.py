"""Elementwise functions and reductions along the last axis in one loop over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import backend
from tests.compiler.comparing import check


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layernorm(x, gain, bias, eps):
    m = x.mean(-1, keepdims=True)
    c = x - m
    v = (c * c).mean(-1, keepdims=True)
    return c / np.sqrt(v + eps) * gain + bias


def columns(x):
    total = np.sum(x, axis=1)
    return x / total[:, None] - np.amin(x, axis=-1)[:, None]


def used_twice(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    s = e.sum(-1, keepdims=True)
    return e / s, s


def written_between(x):
    m = x.max(-1, keepdims=True)
    x[0] = 100.0
    return x - m


def same_row(x):
    y = x * 2.0
    m = y.max(-1, keepdims=True)
    y[:, 0] = 7.0
    return y - m


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(3, 8), (2, 9), (4, 64), (1, 130), (2, 3, 40), (33,), (0, 9), (3, 4100)])
@pytest.mark.parametrize("fn", [softmax, columns, used_twice, written_between, same_row])
def test_rows(fn: Any, shape: tuple[int, ...], dtype: Any) -> None:
    if len(shape) != 2 and fn is not softmax:
        pytest.skip("written for matrices")
    if shape[0] == 0 and fn is written_between:
        pytest.skip("no row to write to")
    x = np.random.default_rng(3).uniform(0.5, 2.0, size=shape).astype(dtype)
    got, want = ag.to_graph(fn)(x.copy()), fn(x.copy())
    for g, w in zip(got, want) if isinstance(want, tuple) else [(got, want)]:
        assert type(g) is type(w) and g.dtype == w.dtype and g.shape == w.shape
        np.testing.assert_allclose(g, w, rtol=2e-5 if dtype is np.float32 else 1e-13)


def test_layernorm_broadcasts_its_parameters() -> None:
    rng = np.random.default_rng(5)
    x, gain, bias = (rng.normal(size=s).astype(np.float32) for s in ((5, 77), (77,), (77,)))
    got = ag.to_graph(layernorm)(x, gain, bias, np.float32(1e-5))
    np.testing.assert_allclose(got, layernorm(x, gain, bias, np.float32(1e-5)), rtol=2e-4, atol=1e-5)


def test_a_python_float_does_not_take_the_vectors_away() -> None:
    x = np.random.default_rng(5).normal(size=(5, 77)).astype(np.float32)
    fn = ag.to_graph(layernorm)
    assert "<16 x float>" in str(fn.get_native(x, x[0], x[1], 1e-5, kind="llvm"))
    np.testing.assert_allclose(fn(x, x[0], x[1], 1e-5), layernorm(x, x[0], x[1], 1e-5), rtol=2e-4, atol=1e-5)


def test_transposed_rows() -> None:
    x = np.random.default_rng(6).normal(size=(40, 12))
    np.testing.assert_allclose(ag.to_graph(lambda a: softmax(a.T))(x), softmax(x.T), rtol=1e-13)


def test_backend_names_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "fast")
    with pytest.raises(ValueError, match="AUTOGRAPH_BACKEND is 'fast'"):
        backend.backend()


def test_what_a_group_reads_is_there_when_it_is_computed() -> None:
    def fn(x: Any, y: Any) -> Any:
        t = x * 2
        s = t.max()
        m = t.max(-1, keepdims=True)
        w = np.cumsum(y[0])
        u = x * 3
        v = u * u + u.min()
        return y - m, w, s, v

    for side in (20, 300):
        x, y = np.random.default_rng(0).normal(size=(2, side, side))
        check(fn, x, y, native=False)
