"""Threads: one trace per signature and right results; and nothing of a trace is left behind by a call."""

from __future__ import annotations

import contextlib
import gc
import pathlib
import threading
import types
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.graph.graph import Tensor
from autograph.operators.tracer import TracedValue, current

THREADS = 8


def at_once(call: Callable[[int], Any]) -> list[Any]:
    """What `call(i)` gives or raises in each of 8 threads that begin together."""
    barrier = threading.Barrier(THREADS)

    def run(i: int) -> Any:
        barrier.wait()
        try:
            return call(i)
        except Exception as error:
            return type(error), str(error)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_first_call_in_eight_threads() -> None:
    f = ag.to_graph(collatz)
    assert at_once(lambda i: f(27 + i)) == [collatz(27 + i) for i in range(THREADS)]
    info = f.cache_info()
    assert (info.traces, info.misses, info.hits) == (1, 1, THREADS - 1)


def test_one_trace_per_signature() -> None:
    @ag.to_graph
    def twice(x: Any) -> Any:
        return x + x

    values = [1, 1.5, True, 2j, np.float32(3), np.ones(2), np.ones(3, "int8"), "text"]
    results = at_once(lambda i: [twice(values[(i + k) % THREADS]) for k in range(THREADS)])
    for i, row in enumerate(results):
        for k, result in enumerate(row):
            expected = values[(i + k) % THREADS] + values[(i + k) % THREADS]
            assert type(result) is type(expected) and np.array_equal(result, expected)
    assert twice.cache_info().misses == len(values)


def test_conversion_of_one_helper_in_many_threads() -> None:
    def helper(n: int) -> int:
        return n * n

    functions = [ag.to_graph(lambda n, k=k: helper(n) + k) for k in range(THREADS)]
    assert at_once(lambda i: functions[i](i)) == [i * i + i for i in range(THREADS)]


@ag.to_graph
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@ag.to_graph
def outer(n: int) -> int:
    total = 0
    for i in range(n):
        total += inner(i)
    return total


@ag.to_graph
def inner(n: int) -> int:
    return n * n


def test_nested_decorated_calls_and_recursion() -> None:
    def call(i: int) -> tuple[int, int, int]:
        return outer(i), inner(i), fibonacci(i + 3)

    expected = [2, 3, 5, 8, 13, 21, 34, 55]
    squares = [sum(k * k for k in range(i)) for i in range(THREADS)]
    assert at_once(call) == [(squares[i], i * i, expected[i]) for i in range(THREADS)]
    assert outer.cache_info().traces == inner.cache_info().traces == fibonacci.cache_info().traces == 1


def test_two_functions_that_call_each_other() -> None:
    @ag.to_graph
    def even(n: int) -> bool:
        return True if n == 0 else odd(n - 1)

    @ag.to_graph
    def odd(n: int) -> bool:
        return False if n == 0 else even(n - 1)

    assert at_once(lambda i: (even(i), odd(i)) if i % 2 else (odd(i), even(i))) == [
        (i % 2 == 0, i % 2 == 1) if i % 2 else (i % 2 == 1, i % 2 == 0) for i in range(THREADS)
    ]


def test_exceptions_in_some_threads() -> None:
    @ag.to_graph
    def divide(a: int, b: int) -> int:
        if b == 5:
            raise KeyError(b)
        return a // b

    results = at_once(lambda i: divide(100, i))
    zero = (ZeroDivisionError, "integer division or modulo by zero")
    assert results == [zero, 100, 50, 33, 25, (KeyError, "5"), 16, 14]
    assert divide.cache_info().traces == 1


def test_refusals_in_some_threads() -> None:
    @ag.to_graph
    def f(x: Any) -> Any:
        if isinstance(x, float):
            return hash(x)
        return x + 1

    results = at_once(lambda i: f(float(i)) if i % 2 else f(i))
    assert results[::2] == [1, 3, 5, 7]
    assert all(r[0] is ag.StagingError and "hash" in r[1] for r in results[1::2])
    assert current() is None


def test_state_is_written_by_each_thread() -> None:
    @ag.to_graph
    def fill(x: Any, value: float) -> None:
        for i in range(len(x)):
            x[i] = value + i

    arrays = [np.zeros(50) for _ in range(THREADS)]
    at_once(lambda i: fill(arrays[i], float(i)))
    assert all(np.array_equal(a, i + np.arange(50.0)) for i, a in enumerate(arrays))


def test_modes_belong_to_a_thread() -> None:
    def where() -> str:
        return ag.get_mode()

    def call(i: int) -> Any:
        modes = [ag.graph(), ag.eager(), ag.eager(ops=True)]
        with modes[i % 3]:
            inside = [f(2 + i) for _ in range(20)]
            return inside, ag.get_mode()

    @ag.to_graph
    def f(n: int) -> int:
        return n + 1

    results = at_once(call)
    names = []
    for mode in (ag.graph(), ag.eager(), ag.eager(ops=True)):
        with mode:
            names.append(where())
    assert results == [([3 + i] * 20, names[i % 3]) for i in range(THREADS)]
    assert f.cache_info().hits + f.cache_info().misses == 60


# -- what a call leaves behind -------------------------------------------------------------------------------


def traced_values_in(*roots: Any) -> list[Any]:
    """The symbolic values that can be reached from the user's values (not through globals)."""
    seen: set[int] = set()
    todo: list[Any] = list(roots)
    found = []
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, (types.ModuleType, ag.GraphFunction, type)):
            continue
        seen.add(id(value))
        if isinstance(value, (Tensor, TracedValue)):
            found.append(value)
        if isinstance(value, types.FrameType):
            todo.extend(value.f_locals.values())
        elif isinstance(value, types.FunctionType):
            todo.extend([value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__])
        else:
            todo.extend(gc.get_referents(value))
    return found


class Account:
    """An object that functions write to."""

    def __init__(self) -> None:
        self.total: Any = 0
        self.log: list[Any] = []
        self.table: dict[str, Any] = {}


ACCOUNT = Account()
HISTORY: list[Any] = []
LAST: Any = None


def work(account: Account, items: list[Any], table: dict[str, Any], x: Any, how: str) -> Any:
    global LAST
    account.total += x.sum()
    account.log.append(x * 2)
    account.table["last"] = x[0]
    items.append(x[0] + 1)
    table["x"] = (x, x[0])
    ACCOUNT.total = x[0]
    ACCOUNT.log.append(x)
    HISTORY.append(x[0])
    LAST = x[-1]
    if how == "refused":
        account.total = hash(x[0])
    if how == "overflow":
        account.total = (int(x[0]) + 2**62) * 4
    if how == "failed":
        account.total = x[100]
    if how == "handled":
        try:
            account.total = x[100]
        except IndexError as error:
            account.log.append(error)
    return [account.total, lambda: 0][0]


@pytest.mark.parametrize("how", ["", "failed", "refused", "overflow", "handled"])
def test_no_symbolic_value_is_left(how: str) -> None:
    f = ag.to_graph(work, static=["how"])
    account, items, table, x = Account(), [1.0], {"x": (np.zeros(2), 1.0)}, np.arange(3.0)
    error: BaseException | None = None
    for _ in range(2):
        try:
            f(account, items, table, x, how)
        except Exception as raised:
            error = raised
    assert (error is None) == (how in ("", "handled")), error
    gc.collect()
    assert current() is None
    assert not traced_values_in(account, items, table, x, ACCOUNT, HISTORY, LAST, error)


@pytest.mark.parametrize("how", ["", "failed", "refused"])
def test_traces_go_with_their_function(how: str) -> None:
    def make() -> tuple[Any, weakref.ref[Any], list[weakref.ref[Any]]]:
        def f(x: Any) -> Any:
            total = x[0]
            for i in range(len(x)):
                total += helper(x[i])
            if how == "failed":
                return x[100]
            if how == "refused":
                return hash(total)
            return total

        def helper(v: Any) -> Any:
            return v * v

        staged = ag.to_graph(f)
        try:
            staged(np.ones(3))
        except (IndexError, ag.StagingError):
            pass
        graphs = [weakref.ref(c.graph) for kept in staged._traces.values() for c in kept]
        assert len(graphs) == (how != "refused")
        return staged, weakref.ref(f), graphs

    gc.collect()
    before = sum(isinstance(o, Tensor) for o in gc.get_objects())
    staged, function, graphs = make()
    del staged
    gc.collect()
    assert function() is None
    assert [g() for g in graphs] == [None] * len(graphs)
    assert sum(isinstance(o, Tensor) for o in gc.get_objects()) <= before


def test_a_namespace_goes_with_its_functions(tmp_path: pathlib.Path) -> None:
    """Code run by exec: nothing that is kept about its functions reaches their globals."""
    path = tmp_path / "program.py"
    path.write_text(
        "def helper(v):\n    return v * 2 if v > 1 else str(v)\n"
        "def f(x, n):\n    y = []\n    for i in range(n):\n        y.append(helper(x[i]))\n"
        "    return y, x + (1 if n > 2 else 'a')\n"
    )

    def make() -> list[weakref.ref[Any]]:
        namespace: dict[str, Any] = {"__name__": "program"}
        exec(compile(path.read_text(), str(path), "exec"), namespace)
        f = namespace["f"]
        with contextlib.suppress(TypeError, ag.StagingError):
            ag.to_graph(f)(np.arange(3.0), 3)
        with contextlib.suppress(TypeError, ag.StagingError):
            ag.to_graph(f)(np.arange(3.0), 2)
        return [weakref.ref(f), weakref.ref(namespace["helper"]), weakref.ref(f.__code__)]

    kept = make()
    gc.collect()
    assert [k() for k in kept] == [None] * 3
