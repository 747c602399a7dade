"""The memory of large arrays is kept for the next ones; the arrays are as any others."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

import autograph as ag
from autograph.compiler import buffers


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


@ag.to_graph
def affine(x):
    return x * 2 + 1


COUNT = buffers.LEAST // 8


def test_large_arrays_have_their_allocator_and_leave_that_of_others() -> None:
    before = get_handler_name()
    large, small = affine(np.ones(COUNT)), affine(np.ones(COUNT - 1))
    assert get_handler_name(large) == "autograph"
    assert get_handler_name(small) == get_handler_name() == before
    assert large.flags.owndata and large.base is None


@pytest.mark.skipif(sys.platform == "win32", reason="its C library has no such memory that can be freed")
def test_large_arrays_begin_at_a_page() -> None:
    made = [affine(np.ones(COUNT + 1000 * k)) for k in range(5)]
    assert all(m.ctypes.data % buffers.PAGE == 0 for m in made)


def test_memory_is_used_again_only_after_its_array_is_gone() -> None:
    first = affine(np.ones(COUNT))
    address = first.ctypes.data
    second = affine(np.zeros(COUNT))
    assert second.ctypes.data != address and (first == 3).all() and (second == 1).all()
    del first
    assert affine(np.ones(COUNT)).ctypes.data == address


def test_arrays_can_be_resized() -> None:
    for size in (10, COUNT, 3 * COUNT):
        y = affine(np.ones(2 * COUNT))
        y.resize(size, refcheck=False)
        assert (y[: 2 * COUNT] == 3).all() and not y[2 * COUNT :].any()
    assert (affine(np.ones(3 * COUNT)) == 3).all()


def test_more_than_what_is_kept() -> None:
    sizes = [COUNT + 512 * k for k in range(2 * buffers.SLOTS)] + [buffers.LIMIT // 8 + 1]
    for _ in range(2):
        made = [affine(np.full(n, float(n))) for n in sizes]
        assert all((m == 2 * n + 1).all() for m, n in zip(made, sizes))
        del made


def test_threads() -> None:
    wrong = []

    def work(k: int) -> None:
        for n in range(100):
            y = affine(np.full(COUNT + n % 5 * 64, float(k)))
            if not (y == 2 * k + 1).all():
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
