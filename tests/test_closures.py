"""Functions made while a graph runs: they outlive the branch, turn or call that made them."""

from __future__ import annotations

import functools
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


KEPT: list[Any] = []


def _directly(n: Any, out: Any) -> Any:
    return lambda v: v + n


def _in_a_branch(n: Any, out: Any) -> Any:
    found = None
    if n > 0:
        twice = n * 2
        found = lambda v: v + twice
    return found


def _in_a_list(n: Any, out: Any) -> Any:
    found: Any = 1
    if n > 0:
        twice = n * 2
        found = [(lambda v: v + twice, n)]
    return {"found": found}


def _by_default(n: Any, out: Any) -> Any:
    return [lambda v, n=n: v + n]


def _within_another(n: Any, out: Any) -> Any:
    def inner(v: Any) -> Any:
        return v + n

    return (lambda v: inner(v), 1)


def _put_into_an_argument(n: Any, out: Any) -> None:
    out.append(lambda v: v + n)


def _put_into_a_global(n: Any, out: Any) -> None:
    KEPT.append([lambda v: v + n])


def _made_global(n: Any, out: Any) -> None:
    global KEPT
    KEPT = lambda v: v + n


def _functions(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [f for item in value for f in _functions(item)]
    if isinstance(value, dict):
        return _functions(list(value.values()))
    return [value] if callable(value) else []


@pytest.mark.parametrize(
    "make",
    [
        _directly, _in_a_branch, _in_a_list, _by_default, _within_another, _put_into_an_argument,
        _put_into_a_global, _made_global,
    ],
)  # fmt: skip
def test_a_function_made_in_the_graph_outlives_it(make: Any) -> None:
    global KEPT
    found = []
    for f in (make, ag.to_graph(make)):
        out: list[Any] = []
        KEPT = []
        functions = _functions([f(3, out), out, KEPT])
        found.append([(g(5), g.__name__, g.__qualname__, type(g)) for g in functions])
    KEPT = []
    assert found[0] == found[1] != []


def _through_itself(n: Any) -> Any:
    f = lambda k: n if k < 1 else k * f(k - 1)
    return f


def _through_another(n: Any) -> Any:
    def even(k: Any) -> Any:
        return n if k == 0 else odd(k - 1)

    def odd(k: Any) -> Any:
        return -n if k == 0 else even(k - 1)

    return even


def _in_a_partial(n: Any) -> Any:
    return [functools.partial(lambda a, b: a + b + n, 2)]


def _in_a_class(n: Any) -> Any:
    class Adder:
        def add(self, v: Any) -> Any:
            return v + n

    return Adder()


def _generator(n: Any) -> Any:
    def numbers() -> Any:
        for i in range(n):
            yield i

    return numbers


@pytest.mark.parametrize("make", [_through_itself, _through_another, _in_a_partial, _in_a_class, _generator])
def test_what_cannot_outlive_the_graph_is_refused(make: Any) -> None:
    with pytest.raises(ag.StagingError, match="made in the graph"):
        ag.to_graph(make)(3)


def _counter(n: Any) -> Any:
    def up(by: Any = 1) -> Any:
        nonlocal n
        n += by
        return n

    up()
    return up, (lambda: n), up


def test_variables_are_shared_after_the_graph() -> None:
    for f in (_counter, ag.to_graph(_counter)):
        up, get, again = f(3)
        assert (up(), up(by=2.5), get(), up is again) == (5, 7.5, 7.5, True)
    first, second = ag.to_graph(_counter)(1), ag.to_graph(_counter)(10)
    assert (first[0](), second[0](), first[1](), second[1]()) == (3, 12, 3, 12)


def _recursive_lambda(n: Any) -> Any:
    factorial = lambda k: 1 if k < 1 else k * factorial(k - 1)
    return factorial(n)


def _recursive_over_an_argument(n: Any) -> Any:
    def power(k: Any) -> Any:
        return n if k < 1 else n * power(k - 1)

    return power(3)


def _recursive_in_a_list(n: Any) -> Any:
    found = []
    for i in range(3):

        def factorial(k: Any) -> Any:
            return i if k < 1 else k * factorial(k - 1)

        found.append(factorial)
    return [f(n) for f in found]


@pytest.mark.parametrize("fn", [_recursive_lambda, _recursive_over_an_argument, _recursive_in_a_list])
def test_recursive_functions_inside(fn: Any) -> None:
    for n in (0, 4):
        assert ag.to_graph(fn)(n) == fn(n)


def test_a_function_of_a_graph_runs_in_another() -> None:
    def make(n: Any) -> Any:
        def add(v: Any) -> Any:
            if v > n:
                return v - n
            return v + n

        return add

    def use(f: Any, v: Any) -> Any:
        total = 0
        for i in range(v):
            total += f(i)
        return total

    for n in (2, 4):
        assert ag.to_graph(use)(ag.to_graph(make)(n), 9) == use(make(n), 9)


def test_a_function_of_constants_may_leave_the_graph() -> None:
    @ag.to_graph
    def make(n: Any) -> Any:
        three = 3
        return (lambda v: v + three, n)

    function, n = make(4)
    assert function(n) == 7


@pytest.mark.parametrize("n", [0, 3])
def test_a_function_made_in_a_loop_may_leave_it_and_the_graph(n: int) -> None:
    def last_made(n):
        for i in range(n):

            def add(t, extra=5):
                return t * 2 + i + extra

        return {"add": add}

    staged = ag.to_graph(last_made)
    if n:
        assert staged(n)["add"](3) == last_made(n)["add"](3)
    else:
        with pytest.raises(UnboundLocalError):
            staged(n)
