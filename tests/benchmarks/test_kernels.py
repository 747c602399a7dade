"""Each kernel of the benchmarks is captured, and does in a graph what it does as plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from benchmarks.kernels import KERNELS, Kernel, difference, result

CASES = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def test_there_are_kernels_of_both_kinds() -> None:
    kinds = [kernel.kind for kernel in KERNELS.values()]
    assert kinds.count("loops") >= 20 and kinds.count("arrays") >= 40


@CASES
def test_kernel_as_graph(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_CHECK", "1")
    converted = ag.to_graph(kernel.function)
    expected = result(kernel.function, kernel.inputs(tiny=True))
    with ag.graph():
        for _ in range(2):
            assert difference(expected, result(converted, kernel.inputs(tiny=True))) is None
    assert converted.cache_info().traces == 1


@CASES
def test_inputs_are_the_same_every_time(kernel: Kernel) -> None:
    first, second = kernel.inputs(tiny=True), kernel.inputs(tiny=True)
    assert difference(first, second) is None
    assert not any(np.shares_memory(a, b) for a, b in zip(first, second) if isinstance(a, np.ndarray))


def strided(a: np.ndarray) -> np.ndarray:
    """The same numbers, every second in memory."""
    steps = (slice(None, None, 2),) * a.ndim
    view = np.empty(tuple(2 * n for n in a.shape), a.dtype)[steps]
    view[...] = a
    return view


def backwards(a: np.ndarray) -> np.ndarray:
    """The same numbers, with negative strides."""
    steps = (slice(None, None, -1),) * a.ndim
    return a[steps].copy()[steps]


def single(a: np.ndarray) -> np.ndarray:
    """In single precision."""
    return a.astype({"f": np.float32, "c": np.complex64}.get(a.dtype.kind, a.dtype))


def whole(a: np.ndarray) -> np.ndarray:
    """Whole numbers where they were real."""
    return (a * 10).astype(np.int64) if a.dtype.kind == "f" else a


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return result(function, arguments)
    except Exception as error:
        return type(error), str(error)


@CASES
def test_kernel_of_other_arrays(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other dtypes and layouts give what NumPy gives, or its exception; the interpreter does to the bit."""
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "interpreter")
    converted = ag.to_graph(kernel.function)
    for change in (np.asfortranarray, strided, backwards, single, whole):

        def inputs(change: Any = change) -> tuple[Any, ...]:
            return tuple(
                change(value) if isinstance(value, np.ndarray) else value
                for value in kernel.inputs(tiny=True)
            )

        expected = outcome(kernel.function, inputs())
        with ag.graph():
            got = outcome(converted, inputs())
        if expected and isinstance(expected[0], type):
            assert got == expected, change.__name__
        else:
            assert difference(expected, got) is None, change.__name__


def same(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-9))


def inputs(name: str) -> tuple[Any, ...]:
    return KERNELS[name].inputs(tiny=True)


def after(name: str) -> tuple[Any, ...]:
    return result(KERNELS[name].function, inputs(name))


TRUTHS: dict[str, Callable[[], bool]] = {
    "cholesky": lambda: same(np.tril(after("cholesky")[1]), np.linalg.cholesky(inputs("cholesky")[0])),
    "cholesky_loops": lambda: same(
        np.tril(after("cholesky_loops")[1]), np.linalg.cholesky(inputs("cholesky_loops")[0])
    ),
    "ludcmp": lambda: same(after("ludcmp")[0][0], np.linalg.solve(*inputs("ludcmp"))),
    "trisolv": lambda: same(after("trisolv")[0], np.linalg.solve(*inputs("trisolv"))),
    "covariance": lambda: same(after("covariance")[0], np.cov(inputs("covariance")[0].T)),
    "gramschmidt": lambda: same(np.matmul(*after("gramschmidt")[0]), inputs("gramschmidt")[0]),
    "matmul_loops": lambda: same(after("matmul_loops")[0], np.matmul(*inputs("matmul_loops"))),
    "jacobi_eigenvalues": lambda: same(
        after("jacobi_eigenvalues")[0], np.linalg.eigvalsh(inputs("jacobi_eigenvalues")[0])
    ),
    "conjugate_gradient": lambda: same(
        after("conjugate_gradient")[0][0], np.linalg.solve(*inputs("conjugate_gradient"))
    ),
    "stockham_fft": lambda: same(after("stockham_fft")[0], np.fft.fft(inputs("stockham_fft")[0])),
    "insertion_sort": lambda: same(after("insertion_sort")[1], np.sort(inputs("insertion_sort")[0])),
    "quickselect": lambda: same(
        after("quickselect")[0], np.sort(inputs("quickselect")[0])[inputs("quickselect")[1]]
    ),
    "binary_search": lambda: same(after("binary_search")[0], np.searchsorted(*inputs("binary_search"))),
    "sieve": lambda: after("sieve")[0] == len(after("sieve_slices")[0]) == 15,
    "queens": lambda: after("queens")[0] == 10,
    "coin_change": lambda: after("coin_change")[0][30] == 15,
    "azimint_naive": lambda: same(after("azimint_naive")[0][:-1], after("azimint_loops")[0][:-1]),
    "edit_distance": lambda: 3 <= after("edit_distance")[0] <= 9,
}


@pytest.mark.parametrize("name", TRUTHS)
def test_kernel_computes_what_it_says(name: str) -> None:
    assert TRUTHS[name]()
