"""Loops whose first turns change the types that they carry: what is left of them carries one type each."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.graph.graph import Graph, Operation, region_operations
from autograph.graph.types import Union

ARRAYS = [np.zeros(0), np.array([2.5]), np.array([-1.0, 4.0]), np.array([5.0, -1.0, 3.0, 7.0, 2.0])]
COUNTS = [0, 1, 2, 3, 7]


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, str]:
    """The result or the exception, and what was printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
            shown = f"{type(result).__name__} {result!r}"
        except Exception as error:
            shown = repr(error)
    return shown, printed.getvalue()


def same_as_plain(function: Callable[..., Any], rows: list[tuple[Any, ...]]) -> Any:
    graph = ag.to_graph(function)
    for args in rows:
        assert outcome(graph, args) == outcome(function, args), args
    return graph


def loops(graph: Graph) -> list[Operation]:
    return [o for o in graph.operations() if o.name == "while_loop"]


def has_loop(loop: Operation) -> bool:
    return any(o.name == "while_loop" for region in loop.regions for o in region_operations(region))


def carries_unions(loop: Operation) -> bool:
    return any(isinstance(p._ag_type, Union) for region in loop.regions for p in region.params)


# -- a turn always changes the types -------------------------------------------------------------------------


def total(x: Any) -> Any:
    s = 0
    for v in x:
        s += v
    return s


def total_of_floats(x: Any) -> Any:
    s, w = 0.0, 1.0
    for v in x:
        s += v
        w *= 1.5
    return s, w


def largest(x: Any) -> Any:
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def previous(x: Any) -> Any:
    prev = 0
    changes = 0.0
    for v in x:
        changes += abs(v - prev)
        prev = v
    return changes, prev


def fibonacci_of_two_turns(x: Any) -> Any:
    a, b = None, 0
    for v in x:
        a, b = b, b + v
    return a, b


def difference(x: Any) -> Any:
    out = 0
    for i, v in enumerate(x):
        if i > 0:
            out = out + v - last  # bound in the turn before
        last = v
    return out


def with_position(x: Any) -> Any:
    place = 0
    i = 0
    while i < len(x):
        place = place + np.int64(i) * 2
        i += 1
    return place


def until(x: Any) -> Any:
    s = 0
    i = 0
    while i < len(x) and s < 6:
        s += x[i]
        i += 1
    return s, i


def halved(n: Any) -> Any:
    x = n
    while x > 1:
        x = x / 2
    return x


def flagged(x: Any) -> Any:
    done = False
    i = 0
    while not done and i < len(x):
        done = x[i] > 3
        i += 1
    return done, i


def pairs(x: Any) -> Any:
    low_high = (0, 0)
    for v in x:
        low_high = (low_high[0] + v, low_high[1] - v)
    return low_high


def zipped(x: Any) -> Any:
    s = 0
    for a, b in zip(x, reversed(x)):
        s = a - s * b
    return s


def over_a_dict(x: Any) -> Any:
    table = {"a": x.sum(), "b": 2.0, "c": 3.5}
    s = 0
    for key in sorted(table):
        s += table[key]
        print(key, s)
    return s


def over_a_list(x: Any) -> Any:
    values = []
    for v in x:
        values.append(v * 2)
    s = 0
    for v in values:
        s = v - s
    return s


def over_a_generator(x: Any) -> Any:
    s = 0
    for v in (v * 2 for v in x if v > 0):
        s += v
    return s


def else_runs(x: Any) -> Any:
    s = 0
    for v in x:
        s += v
    else:
        s = s * 2
    return s


def raises(x: Any) -> Any:
    s = 0
    for v in x:
        if v < 0:
            raise ValueError(f"{v} after {s!r}")
        s += v
    return s


def caught(x: Any) -> Any:
    s = 0
    try:
        for v in x:
            print(type(s).__name__, s)
            s += 6 // int(v + 1)
    except ZeroDivisionError as error:
        return f"{s!r} {error}"
    return s


def fails_at_once(x: Any) -> Any:
    s = 0
    for v in x:
        s = v / s if v > 100 else 1 // s
    return s


def arrays(x: Any) -> Any:
    s = 0
    for v in x:
        s = s + v * np.arange(3)
    return s


def type_of_each_turn(x: Any) -> Any:
    s = 0
    for v in x:
        print(type(s).__name__, isinstance(s, int))
        s += v
    return s


STRAIGHT = [
    total,
    largest,
    previous,
    fibonacci_of_two_turns,
    with_position,
    until,
    flagged,
    pairs,
    zipped,
    else_runs,
    raises,
    arrays,
    type_of_each_turn,
    total_of_floats,
    over_a_list,
]
SOME_UNION = [over_a_dict, over_a_generator, caught, fails_at_once]


@pytest.mark.parametrize("function", STRAIGHT, ids=lambda f: f.__name__)
def test_a_loop_that_changes_its_types_in_the_first_turn_is_peeled(function: Callable[..., Any]) -> None:
    graph = same_as_plain(function, [(x,) for x in ARRAYS])
    found = graph.get_graph(ARRAYS[-1])
    assert loops(found)
    assert not any(map(carries_unions, loops(found))), found
    assert " loop: peeled 1 turn, in which the type of '" in graph.explain(ARRAYS[-1])


@pytest.mark.parametrize("function", SOME_UNION, ids=lambda f: f.__name__)
def test_a_loop_does_what_python_does(function: Callable[..., Any]) -> None:
    same_as_plain(function, [(x,) for x in ARRAYS])


def test_a_number_that_becomes_a_float() -> None:
    graph = same_as_plain(halved, [(n,) for n in COUNTS])
    assert [carries_unions(o) for o in loops(graph.get_graph(3))] == [False]


def test_a_loop_over_a_range() -> None:
    def harmonic(n: int) -> Any:
        s = 0
        for k in range(1, n):
            s += 1 / k
        return s

    graph = same_as_plain(harmonic, [(n,) for n in COUNTS])
    assert [carries_unions(o) for o in loops(graph.get_graph(3))] == [False]


# -- some turns change the types -----------------------------------------------------------------------------


def total_of_some(x: Any) -> Any:
    s = 0
    for v in x:
        if v > 0:
            s += v
    return s


def total_until(x: Any) -> Any:
    s = 0
    for v in x:
        if v > 4:
            break
        s += v
    else:
        return "all", s
    return s


def largest_of_some(x: Any) -> Any:
    best = None
    for v in x:
        if v == 3.0:
            continue
        if v > 0 and (best is None or v > best):
            best = v
    return best


def two_of_some(x: Any) -> Any:
    low, high = 0, 0
    for v in x:
        if v > 2:
            high += v
        elif v < 2:
            low -= v
        print(low, high)
    return low, high


def asked_in_the_test(x: Any) -> Any:
    s = 0
    i = -1
    while (i := i + 1) < len(x) and s < 9:
        if x[i] > 0:
            s += x[i]
    return s, i


def rebound_in_the_test(x: Any) -> Any:
    s = 0
    i = 0
    while (s := s + x[i] if x[i] > 0 else s) < 6 and i < len(x) - 1:
        print(i, s)
        i += 1
    return s, i


def asked_once_a_turn(x: Any) -> Any:
    s = 0
    asked = []

    def ask(i: int) -> bool:
        asked.append(i)
        return i < len(x)

    i = 0
    while ask(i):
        if x[i] > 0:
            s += x[i]
        i += 1
    return s, asked


def in_a_generator(x: Any) -> Any:
    def positive() -> Iterator[Any]:
        for v in x:
            if v > 0:
                yield v

    s = 0
    for i, v in enumerate(positive()):
        if i != 1:
            s += v
    return s


SPLIT = [difference, total_of_some, total_until, largest_of_some, two_of_some, asked_in_the_test]


@pytest.mark.parametrize("function", SPLIT, ids=lambda f: f.__name__)
def test_a_loop_whose_types_change_in_some_turn_is_split(function: Callable[..., Any]) -> None:
    graph = same_as_plain(function, [(x,) for x in ARRAYS])
    found = graph.get_graph(ARRAYS[-1])
    assert [carries_unions(o) for o in loops(found)] == [True, False], found
    assert " loop: split in two, where the type of '" in graph.explain(ARRAYS[-1])


@pytest.mark.parametrize(
    "function", [in_a_generator, rebound_in_the_test, asked_once_a_turn], ids=lambda f: f.__name__
)
def test_a_split_loop_does_what_python_does(function: Callable[..., Any]) -> None:
    same_as_plain(function, [(x,) for x in ARRAYS])


# -- what is not peeled --------------------------------------------------------------------------------------


def alternates(x: Any) -> Any:
    s = 0
    for v in x:
        s = v if isinstance(s, int) else 1
    return s


def resets(x: Any) -> Any:
    s = 0
    for v in x:
        if v > 3:
            s = 0
        else:
            s += v
    return s


def searches(x: Any) -> Any:
    found = None
    for v in x:
        if v > 3:
            found = v
            break
    return found


def returns(x: Any) -> Any:
    for v in x:
        if v > 3:
            return v
    return None


def walks(x: Any) -> Any:
    node = ("a", ("b", ("c", None)))
    names = ""
    while node is not None:
        names += node[0]
        node = node[1]  # type: ignore[assignment]
    return names, x.sum()


def passes_on(x: Any) -> Any:
    count = 0
    for v in x:
        count += 1
    return count, (v if count else None)


@pytest.mark.parametrize(
    "function", [alternates, resets, searches, returns, walks, passes_on], ids=lambda f: f.__name__
)
def test_a_loop_that_would_not_become_simpler_stays_whole(function: Callable[..., Any]) -> None:
    graph = same_as_plain(function, [(x,) for x in ARRAYS])
    found = graph.get_graph(ARRAYS[-1])
    assert len(loops(found)) <= 1, found
    assert "peeled" not in graph.explain(ARRAYS[-1])
    assert "split" not in graph.explain(ARRAYS[-1])


# -- loops in loops ------------------------------------------------------------------------------------------


def matrix_total(a: Any) -> Any:
    s = 0
    for row in a:
        for v in row:
            s += v
    return s


def row_totals(a: Any) -> Any:
    best = None
    for row in a:
        s = 0
        for v in row:
            if v > 1:
                s += v
        if best is None or s > best:
            best = s
    return best


MATRICES = [np.zeros((0, 3)), np.zeros((2, 0)), np.arange(6.0).reshape(2, 3), -np.ones((3, 1))]


@pytest.mark.parametrize("function", [matrix_total, row_totals], ids=lambda f: f.__name__)
def test_nested_loops(function: Callable[..., Any]) -> None:
    graph = same_as_plain(function, [(a,) for a in MATRICES])
    last = loops(graph.get_graph(MATRICES[2]))[-1]
    assert not carries_unions(last)


def source(depth: int, shared: bool) -> str:
    lines = ["def f(x):", "    n = len(x)"]
    names = ["s"] * depth if shared else [f"s{k}" for k in range(depth)]
    if shared:
        lines.append("    s = 0")
    for k in range(depth):
        indent = "    " * (k + 1)
        if not shared:
            lines.append(f"{indent}{names[k]} = 0")
        lines.append(f"{indent}for i{k} in range(n):")
    lines.append("    " * (depth + 1) + f"{names[-1]} += x[i{depth - 1}]")
    if not shared:
        lines += ["    " * (k + 2) + f"{names[k]} += {names[k + 1]}" for k in reversed(range(depth - 1))]
    return "\n".join([*lines, f"    return {names[0]}", ""])


@pytest.mark.parametrize(("depth", "shared"), [*itertools.product([2, 3, 5, 8], [True, False])])
def test_a_nest_of_loops_is_peeled_up_to_a_size(depth: int, shared: bool) -> None:
    text, name = source(depth, shared), f"<nest {depth} {shared}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    graph = same_as_plain(namespace["f"], [(x,) for x in ARRAYS[:3]])
    found = graph.get_graph(ARRAYS[2])
    innermost = [o for o in found.operations() if o.name == "get_item"]
    assert 2 <= len(innermost) <= 8
    assert int(graph.explain(ARRAYS[2]).split(" pass(es)")[0].split()[-1]) < 12
    assert not any(carries_unions(o) for o in loops(found) if not has_loop(o))


def test_a_function_called_with_different_types_has_loops_of_its_own() -> None:
    def both(x: Any, y: Any) -> Any:
        return total(x), total(y)

    graph = same_as_plain(both, [(ARRAYS[-1], np.arange(4)), (ARRAYS[0], np.arange(0))])
    found = graph.get_graph(ARRAYS[-1], np.arange(4))
    assert [carries_unions(o) for o in loops(found)] == [False, False]


def test_loops_one_after_the_other() -> None:
    def twice(x: Any) -> Any:
        s = 0
        for v in x:
            s += v
        for v in x:
            s = s - v * 2
        return s

    graph = same_as_plain(twice, [(x,) for x in ARRAYS])
    assert [carries_unions(o) for o in loops(graph.get_graph(ARRAYS[-1]))] == [False, False]


def test_a_function_made_in_a_turn() -> None:
    def made(x: Any) -> Any:
        s = 0
        functions = []
        for v in x:
            functions.append(lambda v=v, s=s: v * 2 - s)
            s += v
        return s, [f() for f in functions]

    same_as_plain(made, [(x,) for x in ARRAYS])


def test_lists_and_objects_made_in_turns_are_of_one_place() -> None:
    def rows(x: Any) -> Any:
        s = 0
        made = []
        for v in x:
            row = [s, v]
            s += v
            made.append(row)
        made.append([1, 2.0])
        return made, s

    same_as_plain(rows, [(x,) for x in ARRAYS])


def test_a_generator_of_the_first_turn_is_not_run_again() -> None:
    def once(n: int) -> Any:
        items = None
        s = 0
        for i in range(n):
            if items is None:
                items = (k * 2 for k in range(3))
            if i > 0:
                for k in items:
                    s += k
        return s

    assert outcome(ag.to_graph(once), (4,))[0].startswith("StagingError")
