"""Every conformance case does in every mode what the plain function does."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import io
import itertools
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

import autograph as ag
from tests.conformance.case import Case, assert_same, outcome

MODULES = ("branches", "loops", "containers", "functions", "numbers", "reports")
MODES = {
    "graph": ag.graph,
    "eager": ag.eager,
    "ops": lambda: ag.eager(ops=True),
}
COPIES = itertools.count()


def load(name: str) -> ModuleType:
    """A fresh copy of a module of cases: its globals and objects belong to one run."""
    spec = importlib.util.spec_from_file_location(
        f"cases_{name}_{next(COPIES)}", Path(__file__).parent / f"{name}.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


NAMES = [(module, case) for module in MODULES for case in load(module).suite.cases]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_case(module: str, name: str, mode: str) -> None:
    plain, staged = load(module), load(module)
    expected, case = plain.suite.cases[name], staged.suite.cases[name]
    function = ag.to_graph(case.function)
    for given, plainly_given in zip(case.inputs, expected.inputs):
        wanted = outcome(expected.function, expected, plainly_given, plain)
        with MODES[mode]():
            got = outcome(function, case, given, staged)
        assert_same(got, wanted)
    if mode == "graph" and case.needs:
        assert case.needs <= staged_kinds(function, case)


def staged_kinds(function: ag.GraphFunction, case: Case) -> set[str]:
    """Which of the words that `needs` may use hold for the graph of the first input."""
    args, kwargs = copy.deepcopy(case.inputs[0])
    with contextlib.redirect_stdout(io.StringIO()):
        ops: Counter[str] = function.get_graph(*args, **kwargs).op_types()
    kinds = {kind for kind in ("cond", "print") if ops[kind]}
    if ops["while_loop"] or ops["for_loop"]:
        kinds.add("while")
    if ops["cond"] or ops["select"]:
        kinds.add("branch")
    if ops["cond"] or ops["assert"]:
        kinds.add("guard")
    if kinds & {"cond", "while"}:
        kinds.add("dynamic")
    return kinds
