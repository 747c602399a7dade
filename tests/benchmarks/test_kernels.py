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
