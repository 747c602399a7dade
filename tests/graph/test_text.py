"""The printed form: golden texts, and that it is the same in every trace and reads back in every run."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import autograph as ag
from autograph.graph.check import check
from autograph.graph.graph import Graph
from autograph.graph.parse import parse_text
from autograph.graph.text import constants, equal, to_text
from tests.conformance.case import assert_same, outcome
from tests.conformance.test_conformance import NAMES, load
from tests.graph.functions import ARGUMENTS


@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
def test_golden_text(function: Callable[..., Any]) -> None:
    graph = ag.to_graph(function).get_graph(*ARGUMENTS[function])
    expected = (Path(__file__).parent / "golden" / f"{function.__name__}.txt").read_text()
    assert f"{graph}\n" == expected
    assert_reads_back(graph)


@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
def test_two_traces_print_the_same(function: Callable[..., Any]) -> None:
    first, second = (ag.to_graph(function).get_graph(*ARGUMENTS[function]) for _ in range(2))
    assert str(first) == str(second)
    assert equal(first, second)


def assert_reads_back(graph: Graph) -> Graph:
    text, table = to_text(graph), constants(graph)
    parsed = parse_text(text, table)
    assert to_text(parsed) == text
    assert equal(parsed, graph)
    assert list(constants(parsed)) == list(table)
    check(parsed)
    return parsed


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[name for _, name in NAMES])
def test_parsed_graph_does_the_same(module: str, name: str) -> None:
    plain, staged = load(module), load(module)
    expected, case = plain.suite.cases[name], staged.suite.cases[name]
    function = ag.to_graph(case.function)
    for given, plainly_given in zip(case.inputs, expected.inputs):
        trace_only(function, given)
        for concrete in kept(function):
            check(concrete.graph)
            concrete.graph = assert_reads_back(concrete.graph)
        wanted = outcome(expected.function, expected, plainly_given, plain)
        assert_same(outcome(function, case, given, staged), wanted)


def trace_only(function: ag.GraphFunction, given: Any) -> None:
    args, kwargs = copy.deepcopy(given)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        function.get_graph(*args, **kwargs)  # a call that does not fit the signature has no graph


def kept(function: Any) -> Iterator[Any]:
    for traces in function._traces.values():
        yield from traces


def test_equal_sees_what_differs() -> None:
    text = "graph f(n: int) -> int\n  m: int = add(n, 1)\n  return m"
    graph = parse_text(text)
    assert equal(graph, parse_text(text.replace("m", "k")))
    assert not equal(graph, parse_text(text.replace("add(n, 1)", "add(n, 2)")))
    assert not equal(graph, parse_text(text.replace("add(n, 1)", "add(1, n)")))
    assert not equal(graph, parse_text(text.replace("add(n, 1)", "add(n, True)")))
    assert not equal(graph, parse_text(text.replace("add", "sub")))
    with_constant = "graph f()\n  host_call($f)\n  return"
    assert equal(parse_text(with_constant, {"f": len}), parse_text(with_constant, {"f": len}))
    assert not equal(parse_text(with_constant, {"f": len}), parse_text(with_constant, {"f": max}))


def test_users_names_stay_apart_from_ours() -> None:
    def f(t1: int, n: int) -> int:
        n_1 = n
        while n_1 > t1:
            n = n_1 = n_1 - 1
        return n + n_1

    text = str(assert_reads_back(ag.to_graph(f).get_graph(3, 8)))
    assert text.startswith("graph f(t1: int, n: int) -> int")


def test_repr_is_short() -> None:
    assert repr(Graph("f")) == "<graph f: 0 operations>"


def test_functions_made_at_run_time_have_a_text() -> None:
    from autograph.graph.parse import parse_text
    from autograph.graph.text import constants

    @ag.to_graph
    def f(n):
        made = []
        for i in range(n):
            made.append(lambda x, k=i: x + k)
        return made[0](n) + made[-1](n)

    assert f(3) == 8
    graph = f.get_graph(3)
    text = to_text(graph)
    assert "function[$" in text and to_text(parse_text(text, constants(graph))) == text
