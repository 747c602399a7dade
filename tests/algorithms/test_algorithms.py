"""Each algorithm does the same in plain Python, as a graph, eagerly, and op by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from autograph.compiler import backend
from tests.algorithms import learning, linear_algebra, signals, simulation  # noqa: F401 - they fill the table
from tests.algorithms.sample import SAMPLES, Inputs
from tests.programs.oracle import difference, magnitude, outcome

MODES: dict[str, Callable[[], Any]] = {
    "graph": ag.graph,
    "eager": ag.eager,
    "ops": lambda: ag.eager(ops=True),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fn, inputs", SAMPLES, ids=[fn.__name__ for fn, _ in SAMPLES])
def test_algorithm(
    fn: Callable[..., Any], inputs: Inputs, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRAPH_CHECK", "1")
    converted = ag.to_graph(fn)

    def call(*args: Any) -> Any:
        with MODES[mode]():
            return converted(*args)

    for make in (*inputs, inputs[0]):
        expected, got = outcome(fn, make), outcome(call, make, refusals=(ag.errors.StagingError,))
        assert got.refused is None
        rtol = 1e-12 if mode == "graph" and backend.backend() == "native" else 0.0
        size = magnitude(expected) if rtol else 0.0
        assert difference(expected, got, rtol=rtol, size=size) is None


def test_loops_are_staged() -> None:
    """The graph of an algorithm does not grow with its input."""
    for fn, make in ((simulation.sieve, (1000,)), (linear_algebra.lu, (linear_algebra.spd(50),))):
        graph = ag.to_graph(fn).get_graph(*make)
        assert graph.op_types()["while_loop"] == 1
        assert len(list(graph.operations())) < 100
