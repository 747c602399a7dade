"""Each workload of the peers, on small inputs of the same form, does as a graph what it does eagerly."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

import numpy as np
import pytest

import autograph as ag
from benchmarks.kernels import difference

FORMS = [
    *("collatz", "collatz_single", "newton", "rnn_64_32", "mnist_linear_train", "mlp_train", "dispatch"),
    *("eager_add", "elementwise", "blackscholes", "ema", "nbody", "lorenz", "mandelbrot", "treelstm_rec"),
    *("treelstm_batched", "matmul_chain", "softmax", "layernorm", "conv2d", "compile_500ops", "rosenbrock"),
    "beam_search",
]


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def small(name: str) -> dict[str, Any]:
    """The inputs of a workload under the names that its maker gives them, as small as can be."""
    learning = {
        "x": floats(12, 5),
        "onehot": np.eye(3, dtype=np.float32)[np.arange(12) % 3],
        "batch": 4,
        "steps": 5,
    }
    adam = {"lr": 1e-3, "b1": 0.9, "b2": 0.999, "eps": 1e-8}
    layers = [floats(*shape) for shape in [(5, 4), (4,), (4, 3), (3,), (3, 3), (3,)]]
    cell = {"Wx": floats(3, 3), "Wh": floats(4, 3)[:3], "bh": floats(3), "Wo": floats(3, 7), "bo": floats(7)}
    tree = {"left": ints(-1, -1, 0), "right": ints(-1, -1, 1), "word": ints(0, 1, -1), "roots": ints(2)}
    gates = {"x": floats(2, 2), "Wl": floats(2, 6), "bl": floats(6), "Wn": floats(4, 10), "bn": floats(10)}
    lorenz = {"state": np.ones(3), "sigma": 10.0, "rho": 28.0, "beta": 8.0 / 3.0, "dt": 1e-3, "steps": 4}
    planets = {"pos": floats(3, 3) + 0.0, "vel": floats(3, 3), "mass": np.ones(3, np.float32)}
    return {
        "collatz": {"n": 30},
        "collatz_single": {"n": 27},
        "newton": {"n": 5, "tol": 1e-9},
        "rnn_64_32": {
            "x": floats(2, 4, 3),
            "lens": ints(4, 2),
            "Wx": floats(3, 5),
            "Wh": floats(5, 5),
            "b": floats(5),
        },
        "mnist_linear_train": {**learning, "W": floats(5, 3), "b": floats(3), "lr": 0.1},
        "mlp_train": {**learning, **adam, "params": layers},
        "blackscholes": {
            "S": 20 + abs(floats(5)),
            "K": 19 + abs(floats(5)),
            "T": 1 + abs(floats(5)),
            "r": 0.02,
            "vol": 0.3,
        },
        "ema": {"x": floats(9).astype(float), "alpha": 0.1},
        "nbody": {**{key: value.astype(float) for key, value in planets.items()}, "dt": 0.01, "steps": 4},
        "lorenz": lorenz,
        "mandelbrot": {"re": np.linspace(-2.0, 0.5, 7), "im": np.linspace(-1.25, 1.25, 6), "max_iter": 9},
        "treelstm_rec": {**tree, **gates},
        "treelstm_batched": {**tree, **gates},
        "matmul_chain": {"A": floats(4, 4), "B": floats(4, 4), "b": floats(4), "C": floats(4, 4)},
        "layernorm": {"x": floats(3, 4), "g": floats(4), "b": floats(4), "eps": 1e-5},
        "conv2d": {"x": floats(2, 5, 5, 3), "w": floats(3, 3, 3, 2)},
        "rosenbrock": {"x0": np.array([-1.2, 1.0]), "lr": 1e-3, "steps": 50, "gtol": 1e-12},
        "beam_search": {**cell, "emb": floats(7, 3), "beam": 3, "steps": 5, "init": 1, "eos": 2},
        "compile_500ops": {"x": floats(4), "n": 500},
    }.get(name, {"x": floats(3, 4), "y": floats(3, 4)})


def tree_levels(inputs: dict[str, Any]) -> tuple[np.ndarray, list[tuple[np.ndarray, ...]]]:
    """The schedule of the small tree: two leaves, one inner node."""
    return ints(0, 1), [(ints(2), ints(0), ints(1))]


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> Any:
    data = types.ModuleType("data")
    vars(data).update(inputs=small, tree_levels=tree_levels)
    monkeypatch.setitem(sys.modules, "data", data)
    monkeypatch.delitem(sys.modules, "benchmarks.peer_autograph", raising=False)
    yield importlib.import_module("benchmarks.peer_autograph")
    del sys.modules["benchmarks.peer_autograph"]


@pytest.mark.parametrize("name", FORMS)
def test_workload_as_graph(name: str, peer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_CHECK", "1")
    for table in (peer.WORKLOADS, peer.MASKED):
        if name in table:
            with ag.eager():
                expected = table[name]()()
            unit = table[name]()
            for _ in range(2):
                assert difference(expected, unit()) is None


def test_every_form_is_covered(peer: Any) -> None:
    forms = {form.split("_")[0] for form in FORMS}
    assert {name.split("_")[0] for name in peer.WORKLOADS} == forms
