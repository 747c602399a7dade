"""Whole programs do after all passes what they did before, in all that a caller can see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph import transforms
from autograph.compiler import backend
from autograph.graph.graph import Graph
from autograph.graph.text import to_text
from autograph.runtime import interpreter
from benchmarks.kernels import KERNELS, Kernel, difference, result
from tests.conformance.case import assert_same, outcome
from tests.conformance.test_conformance import NAMES, load
from tests.programs.compare import check
from tests.programs.generator import LEVELS, generate

QUICK, ALL = range(15), range(15, 100)


def run_optimised(graph: Graph, arguments: list[Any]) -> Any:
    """The interpreter on the graph that the passes make; they leave the graph itself as it is."""
    if graph.optimised is None:
        before = to_text(graph)
        graph.optimised = transforms.optimise(graph)
        assert to_text(graph) == before
    return interpreter.run(graph.optimised, arguments)[0]


@pytest.fixture(autouse=True)
def optimising(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "interpreter")
    monkeypatch.setenv("AUTOGRAPH_CHECK", "1")
    monkeypatch.setattr(backend, "run", run_optimised)


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_conformance_case(module: str, name: str) -> None:
    plain, staged = load(module), load(module)
    expected, case = plain.suite.cases[name], staged.suite.cases[name]
    function = ag.to_graph(case.function)
    for given, plainly_given in zip(case.inputs, expected.inputs):
        wanted = outcome(expected.function, expected, plainly_given, plain)
        with ag.graph():
            got = outcome(function, case, given, staged)
        assert_same(got, wanted)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_kernel(kernel: Kernel) -> None:
    converted = ag.to_graph(kernel.function)
    expected = result(kernel.function, kernel.inputs(tiny=True))
    with ag.graph():
        assert difference(expected, result(converted, kernel.inputs(tiny=True))) is None


def compare(level: str, seeds: range) -> None:
    for seed in seeds:
        report = check(generate(level, seed), ("graph",), 30.0)
        assert not report.failures, f"{report.failures[0]}\n{report.program}"


@pytest.mark.parametrize("level", LEVELS)
def test_random_programs(level: str) -> None:
    compare(level, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_more_random_programs(level: str) -> None:
    compare(level, ALL)


def test_the_lines_of_a_traceback_stay() -> None:
    """An operation that was moved or merged raises where the user wrote it first."""

    @ag.to_graph
    def f(x: Any, n: int) -> Any:
        total = 0.0
        for i in range(3):
            total += x[n] * i
            total += x[n]
        return total

    for fn in (f, f.python_function):
        with pytest.raises(IndexError) as caught:
            fn(np.ones(3), 5)
        line = caught.traceback[-1].lineno - f.python_function.__code__.co_firstlineno
        assert line == 3
