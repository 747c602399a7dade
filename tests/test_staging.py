"""A traced function is a graph: none of its lines run again, it is small, and traced once for a signature."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import backend
from autograph.core.generated import is_generated
from tests import staged_functions
from tests.staged_functions import ROWS


def nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def code_of(module: types.ModuleType) -> dict[int, types.CodeType]:
    """All code of the functions and classes of a module, by identity."""
    owners = [module, *(c for c in vars(module).values() if inspect.isclass(c))]
    functions = [inspect.unwrap(f) for o in owners for f in vars(o).values() if inspect.isfunction(f)]
    functions += [p.fget for o in owners for p in vars(o).values() if isinstance(p, property) and p.fget]
    mine = [f.__code__ for f in functions if f.__module__ == module.__name__]
    return {id(code): code for top in mine for code in nested(top)}


USER_CODE = code_of(staged_functions)


class Watch:
    """Notes each call of the user's code and of converted code, in every thread."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.frames = 0

    def __call__(self, frame: types.FrameType, event: str, argument: Any) -> None:
        self.frames += 1
        code = frame.f_code
        if id(code) in USER_CODE or is_generated(code):
            self.seen.append(f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})")

    def __enter__(self) -> Watch:
        self.before = sys.gettrace()
        threading.settrace(self)
        sys.settrace(self)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.settrace(self.before)
        threading.settrace(None)  # type: ignore[arg-type]


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, str]:
    """The result or the exception, and what was printed."""
    args = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = repr(function(*args))
        except Exception as error:
            result = repr(error)
    return result, printed.getvalue()


def test_the_watch_sees_plain_and_converted_code() -> None:
    function = ag.to_graph(staged_functions.closures)
    with Watch() as plain:
        function.eager(2, 5)
    with Watch() as tracing:
        function(2, 5)
    with ag.eager(ops=True), Watch() as ops:
        function(2, 5)
    for watch in (plain, tracing, ops):
        assert {entry.split()[0] for entry in watch.seen} >= {"closures", "step", "<lambda>"}


@pytest.mark.parametrize(("function", "args"), ROWS, ids=[f.__name__ for f, _ in ROWS])
def test_no_line_runs_in_a_cached_call(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    expected = outcome(function, args)
    graph = ag.to_graph(function)
    assert outcome(graph, args) == expected
    assert graph.cache_info().misses == 1
    with Watch() as watch:
        assert outcome(graph, args) == expected
    assert watch.seen == []
    assert watch.frames > 0 or backend.backend() == "native", "the interpreter itself was seen"
    info = graph.cache_info()
    assert (info.misses, info.hits) == (1, 1)


@pytest.mark.parametrize(("function", "args"), ROWS, ids=[f.__name__ for f, _ in ROWS])
def test_no_line_runs_in_a_cached_call_of_another_thread(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    graph = ag.to_graph(function)
    expected = outcome(graph, args)
    found: list[tuple[str, str]] = []
    with Watch() as watch:
        thread = threading.Thread(target=lambda: found.append(outcome(graph, args)))
        thread.start()
        thread.join()
    assert (found, watch.seen) == ([expected], [])


def test_other_values_of_the_same_types_run_no_line() -> None:
    graph = ag.to_graph(staged_functions.loops)
    graph(3)
    with Watch() as watch:
        results = [graph(n) for n in range(12)]
    assert results == [staged_functions.loops(n) for n in range(12)]
    assert watch.seen == []


# -- how often a function is traced, and how large its graph is ----------------------------------------------


def traced_runs(function: Callable[..., Any], args: tuple[Any, ...]) -> dict[int, int]:
    """How often each piece of converted code starts while a function is converted and traced."""
    graph = ag.to_graph(function)
    counts: dict[int, int] = {}
    codes: list[types.CodeType] = []  # kept alive, so that no two have one identity

    def watch(frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "call" and is_generated(frame.f_code):
            codes.append(frame.f_code)
            counts[id(frame.f_code)] = counts.get(id(frame.f_code), 0) + 1

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        graph.get_graph(*args)
    finally:
        sys.settrace(before)
    return counts


def nest_3(n: int) -> int:
    total = 0
    for a in range(n):
        for b in range(n):
            for c in range(n):
                total += a * b - c
    return total


def nest_8(n: int) -> int:
    total = 0
    for a in range(n):
        for b in range(n):
            for c in range(n):
                for d in range(n):
                    for e in range(n):
                        for f in range(n):
                            for g in range(n):
                                for h in range(n):
                                    total += a * b - c + d - e * f + g - h
    return total


def test_a_nest_of_eight_loops_is_traced_a_few_times() -> None:
    shallow, deep = traced_runs(nest_3, (2,)), traced_runs(nest_8, (2,))
    assert max(deep.values()) <= max(shallow.values()) + 2, (
        "the number of passes does not grow with the depth"
    )
    assert sum(deep.values()) <= 4 * sum(shallow.values())
    graph = ag.to_graph(nest_8)
    assert graph(2) == nest_8(2)
    operations = graph.get_graph(2).op_types()
    assert operations.total() < 60


def nest_of_while(n: int) -> int:
    total = 0
    a = 0
    while a < n:
        b = 0
        while b < n:
            c = 0
            while c < n:
                d = 0
                while d < n:
                    e = 0
                    while e < n:
                        f = 0
                        while f < n:
                            total += a - b + c * d - e + f
                            f += 1
                        e += 1
                    d += 1
                c += 1
            b += 1
        a += 1
    return total


def test_a_nest_of_while_loops_is_traced_a_few_times() -> None:
    assert max(traced_runs(nest_of_while, (2,)).values()) <= 12
    graph = ag.to_graph(nest_of_while)
    assert graph(2) == nest_of_while(2)
    assert graph.get_graph(2).op_types().total() < 60


def nest_of_ifs(x: int) -> int:
    total = 0
    if x > 0:
        if x > 1:
            if x > 2:
                if x > 3:
                    if x > 4:
                        if x > 5:
                            if x > 6:
                                if x > 7:
                                    total += x
                                total += 1
                            total += 2
                        total += 3
                    total += 4
                total += 5
            total += 6
        total += 7
    return total


def test_a_nest_of_branches_is_traced_a_few_times() -> None:
    assert max(traced_runs(nest_of_ifs, (2,)).values()) <= 4
    graph = ag.to_graph(nest_of_ifs)
    assert [graph(x) for x in range(10)] == [nest_of_ifs(x) for x in range(10)]
    assert graph.get_graph(2).op_types().total() < 60


def long_loop(x: float) -> float:
    for i in range(100_000):
        x = x * 0.5 + i
        if x > 100.0:
            x -= 1.0
    return x


def long_loop_with_a_list(n: int) -> int:
    squares = [i * i for i in range(100_000)]
    return squares[n]


@pytest.mark.parametrize(("function", "value"), [(long_loop, 1.5), (long_loop_with_a_list, 7)])
def test_a_long_loop_is_a_small_graph(function: Callable[..., Any], value: Any) -> None:
    operations = ag.to_graph(function).get_graph(value).op_types()
    assert operations.total() < 100
    assert operations["while_loop"] >= 1
    assert ag.to_graph(function)(value) == function(value)


def link_0(x: float) -> float:
    return x + 1


def link_1(x: float) -> float:
    return link_0(x) + link_0(x * 2)


def link_2(x: float) -> float:
    return link_1(x) + link_1(x * 2)


def link_3(x: float) -> float:
    return link_2(x) + link_2(x * 2)


def link_4(x: float) -> float:
    return link_3(x) + link_3(x * 2)


def link_5(x: float) -> float:
    return link_4(x) + link_4(x * 2)


def link_6(x: float) -> float:
    return link_5(x) + link_5(x * 2)


def link_7(x: float) -> float:
    return link_6(x) + link_6(x * 2)


def link_8(x: float) -> float:
    return link_7(x) + link_7(x * 2)


def link_9(x: float) -> float:
    return link_8(x) + link_8(x * 2)


def link_10(x: float) -> float:
    return link_9(x) + link_9(x * 2)


def link_11(x: float) -> float:
    return link_10(x) + link_10(x * 2)


def link_12(x: float) -> float:
    return link_11(x) + link_11(x * 2)


def test_a_chain_of_calls_does_not_double_at_each_link() -> None:
    graph = ag.to_graph(link_12)
    assert graph(0.25) == link_12(0.25)
    assert graph.get_graph(0.25).op_types().total() < 2000  # 12288 of them, if each call were inlined
    assert sum(traced_runs(link_12, (0.25,)).values()) < 3000


# -- the cache -----------------------------------------------------------------------------------------------


def total(x: Any) -> Any:
    result = 0.0
    for value in x:
        result += value
    return result


def test_two_traces_for_two_hundred_lengths() -> None:
    graph = ag.to_graph(total)
    for n in range(200):
        assert graph(np.ones(n)) == n
    assert graph.cache_info().misses <= 2


def test_two_traces_for_two_hundred_lengths_of_a_list() -> None:
    graph = ag.to_graph(total)
    for n in range(200):
        assert graph([1.0] * n) == n
    assert graph.cache_info().misses <= 2


def test_one_trace_for_two_hundred_numbers() -> None:
    graph = ag.to_graph(lambda x: x * 2 if x > 50.0 else x)
    for i in range(200):
        assert graph(i / 2) == (i if i > 100 else i / 2)
    assert graph.cache_info().misses == 1


def test_the_cache_keeps_what_was_used_last() -> None:
    def first(x: float, kind: int) -> float:
        return x + kind

    graph = ag.to_graph(first, static="kind")
    limit = graph.cache_info().limit
    for kind in range(limit):
        graph(1.0, kind)
    assert graph.cache_info()[:3] == (limit, 0, limit)
    assert graph(1.0, 0) == 1.0  # the oldest, used again
    graph(1.0, limit)
    assert graph.cache_info()[:3] == (limit, 1, limit + 1), "one went"
    assert graph(1.0, 0) == 1.0
    assert graph.cache_info().misses == limit + 1, "and not the one that was used"
    graph(1.0, 1)
    assert graph.cache_info().misses == limit + 2, "but the one that was used least lately"


def test_static_names_of_a_partial() -> None:
    def scaled(factor: float, x: float, kind: int) -> float:
        return factor * x + kind

    graph = ag.to_graph(functools.partial(scaled, 2.0), static="kind")
    assert [graph(1.0, kind) for kind in (1, 2, 1)] == [3.0, 4.0, 3.0]
    assert graph.cache_info()[:3] == (2, 1, 2)
    assert "argument 'x' was float, is int" in graph.explain(1, 1)


def test_a_guard_that_broke_holds_again() -> None:
    names: dict[str, Any] = {"LEVEL": "low"}

    def level() -> str:
        return LEVEL  # type: ignore[name-defined]

    graph = ag.to_graph(types.FunctionType(level.__code__, names, "level"))
    for value in ("low", "high", "low", "high"):
        names["LEVEL"] = value
        assert graph() == value
    assert graph.cache_info().misses <= 2
