"""Large new arrays are stored past the caches, where the stores are aligned; the results are the same."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

import autograph as ag
from autograph.compiler import buffers, machine
from tests.compiler.comparing import check, outcome, same

PAST = "!nontemporal"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")
    monkeypatch.setattr(buffers, "STREAMED", buffers.LEAST)


def affine(x):
    return x * 2 + 1


def compared(x, y):
    return (x > y) | (y == 0)


def several(x, y):
    return x + y, x - y, x * y


def broadcast(x, y):
    return x + y[0]


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def read_again(x):
    y = x * 3
    y[5:9] += y[:4].sum()
    return y, y[::-1] + 1


def in_place_of_the_first(x):
    y = x + 1
    y = y * y[0, 0]
    return y * 2


def values(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    x = (np.arange(np.prod(shape)) % 251 - 100).reshape(shape)
    return (x + 0.5j * x if np.dtype(dtype).kind == "c" else x).astype(dtype)


def is_past(fn: Callable[..., Any], *args: Any) -> bool:
    return PAST in ag.to_graph(fn).get_native(*args, kind="llvm")


CAN = machine.fence() is not None


@pytest.mark.parametrize(
    "shape", [(1 << 17,), (100_003,), (400, 256), (400, 255), (20, 30, 160), (60_000, 2)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.complex64, np.complex128])
def test_all_layouts_and_dtypes(shape: tuple[int, ...], dtype: Any) -> None:
    x = values(shape, dtype)
    check(affine, x)
    if x.nbytes >= buffers.LEAST and np.dtype(dtype).kind != "c":
        assert is_past(affine, x) == CAN


def test_several_results_masks_and_what_is_broadcast() -> None:
    x, y = values((300, 512), np.float32), values((300, 512), np.float32)[::-1].copy()
    check(compared, x, y)
    check(several, x, y)
    check(broadcast, x, y)
    check(broadcast, x[:, :511].copy(), y[:, :511].copy())
    assert all(is_past(fn, x, y) == CAN for fn in (compared, several, broadcast))
    assert not is_past(broadcast, x[:, :511].copy(), y[:, :511].copy())  # its rows are not aligned


def test_rows() -> None:
    for columns in (256, 100):
        x = values((400, columns), np.float32) / 64
        np.testing.assert_allclose(ag.to_graph(softmax)(x), softmax(x), rtol=1e-5)
        assert is_past(softmax, x) == (CAN and columns == 256)


def test_what_is_read_and_written_after_it() -> None:
    check(read_again, values((1 << 17,), np.float64))
    check(in_place_of_the_first, values((300, 300), np.float64))


def test_small_arrays_and_those_of_open_sizes_are_not() -> None:
    assert not is_past(affine, np.ones(100))
    graph = ag.to_graph(affine)
    for size in (buffers.LEAST, buffers.LEAST + 8, buffers.LEAST + 16):
        x = np.arange(float(size))
        same(outcome(affine, (x,)), outcome(graph, (x,)))


def test_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x = values((1 << 21,), np.float32)
    graph = ag.to_graph(several)
    for _ in range(20):
        for got, expected in zip(graph(x, x), several(x, x)):
            np.testing.assert_array_equal(got, expected)


class _Allocator(ctypes.Structure):
    _fields_ = (
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    )


class _Handler(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator))


MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
CALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
REALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
SET = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the C library's functions are looked up by name"
)
def test_memory_of_others_that_is_not_aligned() -> None:
    """An allocator whose arrays begin 16 bytes behind a line of the caches."""
    from autograph.compiler.host import array_api

    libc = ctypes.CDLL(None)
    libc.malloc.restype = libc.calloc.restype = ctypes.c_void_p
    libc.malloc.argtypes, libc.calloc.argtypes, libc.free.argtypes = (
        [ctypes.c_size_t],
        [ctypes.c_size_t] * 2,
        [ctypes.c_void_p],
    )
    blocks: dict[int, int] = {}

    def shifted(block: int) -> int:
        place = (block + 63) // 64 * 64 + 16
        blocks[place] = block
        return place

    functions = (
        MALLOC(lambda _, size: shifted(libc.malloc(size + 128))),
        CALLOC(lambda _, count, size: shifted(libc.calloc(count * size + 128, 1))),
        REALLOC(lambda _, place, size: None),
        FREE(lambda _, place, size: libc.free(blocks.pop(place))),
    )
    handler = _Handler(b"shifted", 1, _Allocator(None, *(ctypes.cast(f, ctypes.c_void_p) for f in functions)))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.addressof(handler), b"mem_handler", None)
    x = np.arange(float(1 << 14))
    graph = ag.to_graph(affine)
    expected = graph(x)
    put = SET(array_api(304))
    before = put(capsule)
    try:
        result = graph(x)
        name, place = get_handler_name(result), result.ctypes.data
        right = result.tolist() == expected.tolist()
        del result
    finally:
        put(before)
    assert (name, place % 64, right, blocks) == ("shifted", 16, True, {})
