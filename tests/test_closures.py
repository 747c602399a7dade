"""Functions made while a graph runs: they outlive the branch, turn or call that made them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag


def in_a_list(n: Any) -> Any:
    made = []
    for i in range(n):
        made.append(lambda t, i=i: i * t)
    return [f(2) for f in made]


def with_state(n: Any) -> Any:
    def make(k: Any) -> Any:
        count = k * 2

        def add(v: Any) -> Any:
            nonlocal count
            count += v
            return count

        return add

    counters = [make(i) for i in range(n)]
    out = []
    for f in counters:
        out.append(f(1))
        out.append(f(10))
    return out


def from_a_branch(x: Any) -> Any:
    if x > 0:
        y = x * 2
        f = lambda v: v + y
    else:
        f = lambda v: v - x
    return f(10)


def bound_late(n: Any) -> Any:
    made = []
    for i in range(n):
        made.append(lambda: i)
    return [f() for f in made]


def in_a_dict(n: Any) -> Any:
    made = {}
    for i in range(n):
        made[i] = (lambda k: lambda v: v * k)(i)
    total = 0
    for key, f in made.items():
        total += f(key)
    return total


def over_arrays(x: Any) -> Any:
    made = [lambda v, row=row: v @ row for row in x]
    return [f(x[0]) for f in made]


def known_defaults(x: Any) -> Any:
    made = [lambda t, i=i: i + t for i in range(3)]
    return [f(x) for f in made]


CASES = [
    (in_a_list, (3,)),
    (in_a_list, (0,)),
    (with_state, (3,)),
    (from_a_branch, (3,)),
    (from_a_branch, (-3,)),
    (bound_late, (3,)),
    (in_a_dict, (4,)),
    (over_arrays, (np.arange(6.0).reshape(3, 2),)),
    (known_defaults, (1,)),
]


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_closures_outlive_what_made_them(fn: Any, args: Any) -> None:
    assert ag.to_graph(fn)(*args) == fn(*args)


def test_a_function_made_in_the_graph_is_not_returned() -> None:
    @ag.to_graph
    def make(n: Any) -> Any:
        return lambda v: v + n

    with pytest.raises(ag.StagingError, match="made in the graph"):
        make(3)
