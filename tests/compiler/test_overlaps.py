"""Writes to parts of arrays that are computed of other parts of the same arrays."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler.ir import Builder, LateJump, Module
from autograph.compiler.overlaps import ahead, apart
from autograph.compiler.values import Memory


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def rows(x):
    for i in range(1, x.shape[0] - 1):
        x[i, 1:-1] = 0.5 * x[i - 1, 1:-1] + x[i + 1, 2:]
    return x.sum()


def columns(x):
    for j in range(1, x.shape[1] - 1):
        x[1:-1, j] = x[1:-1, j - 1] - 0.25 * x[2:, j + 1]
        x[:, j] += x[:, j - 1]


def upwards(x):
    for i in range(x.shape[0]):
        x[i, :-1] += x[i, 1:]
        x[i, :-2] = x[i, 2:] * 2.0 - x[i, 1:-1]


def downwards(x):
    for i in range(x.shape[0]):
        x[i, 1:] += x[i, :-1]
        x[i, 2:] = x[i, :-2] * 2.0 - x[i, 1:-1]


def planes(x):
    x[:-1, :-1] = x[1:, 1:] + x[:-1, 1:]
    x[1:, 1:] -= x[:-1, :-1]
    x[:, 1:-1] = x[:, 2:] - x[:, :-2]


def turned(x):
    n = min(x.shape)
    x[:n, :n] = x[:n, :n].T + 1.0
    x[::-1] += x
    x[:, ::2] = x[:, 1::2][:, : x[:, ::2].shape[1]][:, :1]
    x[2, ::-1] = x[2] * 2.0


def triangles(x):
    n = min(x.shape)
    for i in range(n):
        x[i, : i + 1] += x[: i + 1, i] * 2.0
        x[i, : i + 1] *= 0.5
        x[:i, i] += x[i, :i] + x[:i, i - 1]


def counted(x):
    n = min(x.shape) - 1
    for i in range(n):
        for j in range(i, n):
            x[i, j] = x[i + 1, j] - x[i, j + 1] * x[n - i, j]


def named(x):
    a, b = x[:-1], x[1:]
    for _ in range(3):
        a[:, 0] = b[:, 0] + a[:, 1]
        b[...] = a * 0.5
        a, b = b, a


FUNCTIONS = [rows, columns, upwards, downwards, planes, turned, triangles, counted, named]


@pytest.mark.parametrize("fn", FUNCTIONS)
@pytest.mark.parametrize("shape", [(6, 8), (9, 7), (40, 50), (130, 70)])
def test_parts_of_one_array(fn: Any, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(3).integers(-8, 8, shape).astype(float)
    y = x.copy()
    graph = ag.to_graph(fn)
    for _ in range(2):
        got, expected = graph(x), fn(y)
        assert (got, expected) == (None, None) or got == pytest.approx(expected, rel=1e-14)
        np.testing.assert_array_equal(x, y)
        x, y = (np.repeat(v, 2, axis=1)[:, :-1] for v in (x, y))  # another shape


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.complex128, bool])
def test_parts_of_one_vector(dtype: Any) -> None:
    def mixed(x, n):
        x[:n] = x[1 : n + 1]
        x[n:-1] = x[n + 1 :]
        x[1:] = x[:-1]
        x[: -2 * n : 2] = x[1 : -2 * n : 2]
        return x[::2]

    x = (np.random.default_rng(4).integers(0, 100, 90) % 3).astype(dtype)
    y = x.copy()
    for n in (1, 3, 20):
        np.testing.assert_array_equal(ag.to_graph(mixed)(x, n), mixed(y, n))
        np.testing.assert_array_equal(x, y)


def test_no_array_is_made_for_parts_that_are_apart() -> None:
    def sweep(p, q):
        for j in range(1, p.shape[1]):
            p[1:-1, j] = -1.0 / (2.0 * p[1:-1, j - 1] + 3.0)
            q[1:-1, j] = q[1:-1, j - 1] * p[1:-1, j - 1] + q[:-2, j - 1]

    listing = ag.to_graph(sweep).get_native(np.ones((90, 80)), np.ones((90, 80)), kind="loops")
    assert listing.count("nest") == 2


def strided(offset: int, axes: list[tuple[int, int]], dtype: Any = np.float64) -> Memory:
    strides, dims = zip(*axes) if axes else ((), ())
    data = f"%v{offset}" if offset else "%x"
    return Memory(np.dtype(dtype), data, tuple(dims), tuple(strides))


def places(m: Memory, offset: int) -> list[int]:
    """Where the elements are, in order."""
    found = [offset]
    for stride, d in zip(m.strides, m.dims):
        found = [at + int(stride) * i for at in found for i in range(int(d))]
    return found


def test_apart_and_ahead_are_true() -> None:
    random = np.random.default_rng(5)
    counts = {"apart": 0, "ahead": 0}
    for _ in range(4000):
        b = Builder(Module())
        strides = random.choice([-80, -16, -8, 0, 4, 8, 8, 16, 24, 40, 80], random.integers(1, 4))
        dims = random.integers(0, 5, len(strides))
        others = dims if random.random() < 0.6 else random.integers(1, 5, len(strides))
        far = int(random.integers(-100, 100))
        x, y = (strided(0, list(zip(map(int, strides), map(int, d)))) for d in (dims, others))
        if random.random() < 0.2:
            y.strides = tuple(-int(s) for s in y.strides)
        y.data = b.value(f"getelementptr i8, ptr %x, i64 {b.value(f'add nsw i64 {far}, 0')}")
        one, two = places(x, 0), places(y, far)
        if apart(b, x, y, lambda name: None):
            counts["apart"] += 1
            assert not any(abs(p - q) < 8 for p in one for q in two)
        if ahead(b, x, y):  # what is read in a turn was not written in a turn before it
            counts["ahead"] += 1
            assert not any(abs(p - q) < 8 for i, p in enumerate(one) for q in two[:i])
    assert min(counts.values()) > 100


def test_equal_instructions_are_written_once_where_the_first_one_is_known() -> None:
    b = Builder(Module())
    b.start("start", after="entry")
    first = b.value("add i64 %i, 1")
    b.branch("%c", "then", "else")
    b.start("then")
    inner = b.value("mul i64 %i, 8")
    assert b.value("add i64 %i, 1") == first
    b.jump("join")
    b.start("else")
    assert b.value("mul i64 %i, 8") != inner
    b.jump("join")
    b.start("join")
    assert b.value("mul i64 %i, 8") != inner
    assert b.value("add i64 %i, 1") == first
    b.jump("loop")
    b.start("loop")
    assert b.value("load i64, ptr %p") != b.value("load i64, ptr %p")
    b.jump("loop")
    with pytest.raises(LateJump):
        b.switch("start")
        b.jump("loop")
