"""Numbers from outside are read before the loops that use them, where nothing can change them meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from autograph import transforms

FACTOR = 3
SHARE = 0.5
LIMIT = 10
STOP = False
COUNT = 0


def in_a_loop(graph: Any) -> list[str]:
    """What is read from outside in the loops of a graph."""
    found: list[str] = []
    for operation in transforms.optimise(graph).operations():
        if operation.name == "while_loop":
            for region in operation.regions:
                found += [repr(o.args[0]) for o in region.ops if o.name == "load"]
    return found


def test_a_global_number_is_read_once() -> None:
    global FACTOR

    @ag.to_graph
    def scaled(n):
        total = 0.0
        for i in range(n):
            for j in range(i):
                total += j * FACTOR
            total *= SHARE
        return total

    def expected(n: int) -> float:
        return float(scaled.python_function(n))

    assert in_a_loop(scaled.get_graph(9)) == []
    assert scaled(9) == expected(9)
    FACTOR = 7
    assert scaled(9) == expected(9)
    FACTOR = 2.5  # type: ignore[assignment]
    assert scaled(9) == expected(9)
    FACTOR = 3


def test_a_variable_of_an_enclosing_function_is_read_once() -> None:
    def make(step: int) -> tuple[Callable[[int], int], Callable[[int], None]]:
        def sums(n):
            total = 0
            while total < n:
                total += step
            return total

        def change(value: int) -> None:
            nonlocal step
            step = value

        return sums, change

    sums, change = make(4)
    compiled = ag.to_graph(sums)
    assert in_a_loop(compiled.get_graph(9)) == []
    assert compiled(9) == 12
    change(5)
    assert compiled(9) == 10


def test_a_name_that_the_graph_writes_is_read_where_it_stands() -> None:
    @ag.to_graph
    def counts(n):
        global COUNT
        seen = 0
        for i in range(n):
            seen += COUNT
            COUNT = i
        return seen

    assert in_a_loop(counts.get_graph(5)) == ["COUNT"]
    assert counts(5) == 0 + 0 + 1 + 2 + 3
    assert COUNT == 4


def changed() -> None:
    global LIMIT
    LIMIT -= 1


def test_a_name_that_the_host_may_write_is_read_where_it_stands() -> None:
    global LIMIT

    @ag.to_graph
    def reaches(n):
        turns = 0
        while turns < LIMIT:
            ag.host_call(changed)
            turns += 1
        return turns

    LIMIT = 10
    assert in_a_loop(reaches.get_graph(0)) == ["LIMIT"]
    assert reaches(0) == 5


def test_a_flag_is_read_in_every_turn() -> None:
    @ag.to_graph
    def turns(n):
        count = 0
        while count < n:
            if STOP:
                break
            count += 1
        return count

    assert in_a_loop(turns.get_graph(5)) != [] or "load" not in str(turns.get_graph(5))
    assert turns(5) == 5


def test_a_name_that_does_not_exist_is_missed_where_it_is_read() -> None:
    @ag.to_graph
    def misses(n):
        total = 0
        for i in range(n):
            total += MISSING
        return total

    assert misses(0) == 0
    with pytest.raises(NameError, match="MISSING"):
        misses(1)
