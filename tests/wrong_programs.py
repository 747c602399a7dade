"""Programs that cannot be a graph: `test_errors.py` holds the message of each, in `wrong_programs.txt`."""

from __future__ import annotations

import functools
import random
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Case = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
PROGRAMS: dict[str, Case] = {}


def wrong(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """Registers a program with the arguments that it is called with, and the options of `to_graph`."""

    def register(fn: Any) -> Any:
        PROGRAMS[fn.__name__] = (fn, args, options)
        return fn

    return register


class Plain:
    """An object with a field that the test sets."""


class Huge:
    """Holds what a graph cannot."""

    def __init__(self) -> None:
        self.parts = [1, 2**70]


class Ordered:
    """Compares by a method of its own."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __lt__(self, other: Ordered) -> bool:
        return self.value < other.value


class Stack(list):  # type: ignore[type-arg]
    """A class with a base that is written in C."""


PLAIN, HUGE, MASKED, BIG, LOCK = Plain(), Huge(), np.ma.array([1]), 2**70, threading.Lock()


def first(a: Any, b: Any, c: Any) -> Any:
    return a


def count(**values: Any) -> int:
    return len(values)


# -- the syntax ----------------------------------------------------------------------------------------------


@wrong(1.0)
async def async_function(x):
    return x


@wrong(1.0)
def async_inside(x):
    async def later():
        return x

    return later


@wrong(1.0)
def runs_exec(x):
    exec("y = 1")
    return x


@wrong(1.0)
def runs_eval(x):
    return eval("x + 1")


@wrong(1.0)
def reads_locals(x):
    return locals()["x"]


@wrong(1.0)
def reads_globals(x):
    return globals()["BIG"]


@wrong(1.0)
def reads_vars(x):
    return vars()


@wrong(1.0)
def sends_into_yield(x):
    def echo():
        y = yield x
        yield y

    return list(echo())


@wrong(3)
def returns_in_finally(n):
    try:
        n = 1 // n
    finally:
        return n


@wrong(3)
def breaks_in_finally(n):
    while n:
        try:
            n -= 1
        finally:
            break
    return n


@wrong(3)
def continues_in_finally(n):
    for i in range(n):
        try:
            n -= i
        finally:
            continue
    return n


# -- generators ----------------------------------------------------------------------------------------------


@wrong(3)
def calls_next(n):
    squares = (i * i for i in range(n))
    return next(squares)


@wrong(3)
def calls_send(n):
    def numbers():
        yield n

    source = numbers()
    return source.send(None)


@wrong(3)
def keeps_a_generator(n):
    squares = (i * i for i in range(n))
    return [squares]


@wrong(3)
def returns_a_generator(n):
    def numbers():
        yield n

    return numbers()


@wrong(3)
def uses_a_generator_twice(n):
    squares = (i * i for i in range(n))
    return sum(squares) + sum(squares)


@wrong(3)
def iterates_with_a_sentinel(n):
    return list(iter(lambda: n, 3))


@wrong(3)
def zips_strictly(n):
    return list(zip(range(n), range(n), strict=True))


# -- what must be known while the graph is built -------------------------------------------------------------


@wrong(np.ones((2, 3)), 1)
def axis_from_a_loop(x, k):
    while k < 1:
        k += 1
    return np.moveaxis(x, k, 0)


@wrong(np.ones((2, 3)))
def axis_from_an_array(x):
    return np.tensordot(x, x.T, axes=int(x[0, 0]))


@wrong(np.ones(3))
def dtype_from_a_branch(x):
    kind = "float32" if x[0] > 0 else "int64"
    return x.astype(kind)


@wrong([1, 2, 3])
def star_of_a_list(values):
    values.append(4)
    return first(*values)


@wrong(1)
def star_of_a_dict(n):
    names = {}
    for i in range(n):
        names[str(i)] = n
    return count(**names)


@wrong("field", 3)
def attribute_by_a_name(name, n):
    key = name + str(n)
    return getattr(PLAIN, key)


@wrong("field", 3)
def sets_an_attribute_by_a_name(name, n):
    setattr(PLAIN, name + str(n), n)


@wrong(3)
def exception_class_from_a_branch(n):
    kinds = ValueError if n > 1 else KeyError
    try:
        return 1 // n
    except kinds:
        return 0


@wrong(3)
def class_from_a_branch(n):
    kind = int if n > 1 else float
    return isinstance(n, kind)


@wrong(3)
def classes_that_are_none(n):
    return isinstance(n, 5)


@wrong(3)
def operator_on_a_generator(n):
    squares = (i * i for i in range(n))
    return squares + 1


@wrong(3)
def operator_on_a_zip(n):
    return zip([n], [n])[0]


@wrong(3)
def number_spread_in_a_call(n):
    return max(*n)


# -- types that never settle ---------------------------------------------------------------------------------


@wrong(1)
def loop_variable_never_settles(n):
    nested = ()
    while n < 100:
        nested = (nested, n)
        n += 1
    return nested


@wrong(3)
def tuples_nested_in_a_try(n):
    nested = ()
    try:
        for i in range(n):
            nested = (nested, n // i)
    except ZeroDivisionError:
        pass
    return nested


@wrong(3, 4)
def tuples_nested_in_branches(n, x):
    if n > 1:
        x = (x, 1)
    if n > 2:
        x = (x, 2)
    if n > 3:
        x = (x, 3)
    if n > 4:
        x = (x, 4)
    if n > 5:
        x = (x, 5)
    if n > 6:
        x = (x, 6)
    if n > 7:
        x = (x, 7)
    return x


@wrong(1)
def list_of_too_many_types(n):
    items = [n]
    items.append(np.zeros(n, "bool"))
    items.append(np.zeros(n, "int8"))
    items.append(np.zeros(n, "int16"))
    items.append(np.zeros(n, "int32"))
    items.append(np.zeros(n, "int64"))
    items.append(np.zeros(n, "uint8"))
    items.append(np.zeros(n, "uint16"))
    items.append(np.zeros(n, "uint32"))
    items.append(np.zeros(n, "uint64"))
    items.append(np.zeros(n, "float16"))
    items.append(np.zeros(n, "float32"))
    items.append(np.zeros(n, "float64"))
    items.append(np.zeros((n, n), "bool"))
    items.append(np.zeros((n, n), "int8"))
    items.append(np.zeros((n, n), "int16"))
    items.append(np.zeros((n, n), "int32"))
    items.append(np.zeros((n, n), "int64"))
    items.append(np.zeros((n, n), "uint8"))
    items.append(np.zeros((n, n), "uint16"))
    items.append(np.zeros((n, n), "uint32"))
    items.append(np.zeros((n, n), "uint64"))
    return items


@wrong(1)
def branches_of_too_many_types(n):
    x = n
    for i in range(n):
        x = np.zeros(n, "bool") if i == 1 else x
        x = np.zeros(n, "int8") if i == 2 else x
        x = np.zeros(n, "int16") if i == 3 else x
        x = np.zeros(n, "int32") if i == 4 else x
        x = np.zeros(n, "int64") if i == 5 else x
        x = np.zeros(n, "uint8") if i == 6 else x
        x = np.zeros(n, "uint16") if i == 7 else x
        x = np.zeros(n, "uint32") if i == 8 else x
        x = np.zeros(n, "uint64") if i == 9 else x
        x = np.zeros(n, "float16") if i == 10 else x
        x = np.zeros(n, "float32") if i == 11 else x
        x = np.zeros(n, "float64") if i == 12 else x
        x = np.zeros((n, n), "bool") if i == 13 else x
        x = np.zeros((n, n), "int8") if i == 14 else x
        x = np.zeros((n, n), "int16") if i == 15 else x
        x = np.zeros((n, n), "int32") if i == 16 else x
        x = np.zeros((n, n), "int64") if i == 17 else x
        x = np.zeros((n, n), "uint8") if i == 18 else x
        x = np.zeros((n, n), "uint16") if i == 19 else x
        x = np.zeros((n, n), "uint32") if i == 20 else x
        x = np.zeros((n, n), "uint64") if i == 21 else x
    return x


# -- integers ------------------------------------------------------------------------------------------------


@wrong(1)
def overflow_of_a_constant(n):
    return n + 2**64


@wrong(2**62)
def overflow_at_run_time(n):
    return n * 4


@wrong(2**62)
def overflow_is_not_caught(n):
    try:
        return n * 4
    except Exception:
        return -1


@wrong(2**70)
def overflow_of_an_argument(n):
    return n


@wrong({"sizes": [1, 2**70]})
def overflow_inside_an_argument(options):
    return options["sizes"][0]


@wrong(1)
def overflow_of_a_global(n):
    return n + BIG


@wrong(1)
def overflow_inside_a_global(n):
    return HUGE.parts[0] + n


# -- arguments and outside values ----------------------------------------------------------------------------


@wrong(np.array([1, "a"], dtype=object))
def array_of_objects(x):
    return x


@wrong(np.array(["a"]))
def array_of_strings(x):
    return x


@wrong(np.ma.array([1]))
def subclass_of_array(x):
    return x


@wrong(1)
def global_subclass_of_array(n):
    return n + MASKED


@wrong([1], static=("n",))
def static_that_has_no_hash(n):
    return n


# -- the host ------------------------------------------------------------------------------------------------


@wrong(2.0)
def computes_with_a_host_result(x):
    return random.random() * x


@wrong(2.0)
def compares_a_host_result(x):
    return time.time() > x


@wrong(2.0)
def branches_on_a_host_result(x):
    if random.random():
        return x
    return -x


@wrong(np.ones(3))
def indexes_with_a_host_result(x):
    return x[random.randrange(3)]


@wrong(2.0)
def loops_over_a_host_result(x):
    for value in random.sample([1, 2], 2):
        x += value
    return x


@wrong(2.0)
def subscripts_a_host_result(x):
    return time.localtime()[0] + x


@wrong(2.0)
def length_of_a_host_result(x):
    return len(time.localtime()) + x


@wrong(np.ones(3))
def computes_with_a_library_result(x):
    größe = statistics.mean(x) + 1
    return größe


@wrong(1)
def opens_a_file(n):
    return open("table.txt").read(n)


@wrong(1)
def asks_a_person(n):
    return input(n)


@wrong(3)
def holds_a_lock(n):
    with LOCK:
        return n


# -- NumPy ---------------------------------------------------------------------------------------------------


@wrong(1.0)
def asks_for_floating_point_errors(x):
    with np.errstate(divide="raise"):
        return np.float64(1.0) / x


@wrong(np.ones(3))
def vectorizes(x):
    return np.vectorize(lambda v: v + 1)(x)


@wrong(np.ones(3))
def applies_along_an_axis(x):
    return np.apply_along_axis(lambda v: v, 0, x)


@wrong(np.ones(3))
def reaches_the_memory(x):
    return x.ctypes


@wrong(np.ones(3))
def makes_strings(x):
    return np.array(["a", "b"])


@wrong(3)
def sets_the_shape(n):
    x = np.zeros(n)
    x.shape = (1, n)
    return x


@wrong(np.ones(3))
def reduces_without_a_start(x):
    return functools.reduce(lambda a, b: a + b, x)


# -- objects, functions, classes -----------------------------------------------------------------------------


@wrong(np.ones(3))
def asks_for_the_identity(x):
    return id(x)


@wrong(3)
def asks_for_the_hash(n):
    return hash(n)


@wrong(3)
def makes_a_frozenset(n):
    return frozenset([n, 1])


@wrong(3)
def keeps_a_bound_method(n):
    class Adder:
        def add(self):
            return n

    methods = [Adder().add]
    return methods[0]()


@wrong(3)
def makes_a_list_of_its_own(n):
    return Stack()


@wrong(3)
def makes_a_class(n):
    return type("Made", (), {})


@wrong(3)
def sorts_objects(n):
    return sorted([Ordered(1), Ordered(n)])[0].value


@wrong(3)
def opens_the_fields(n):
    return Stack.__dict__, vars(n)


def calls_deeply_inner(x):
    return random.random() + x


def calls_deeply_middle(x):
    for _ in range(3):
        x = calls_deeply_inner(x)
    return x


@wrong(2.0)
def fails_in_a_function_that_is_called(x):
    y = calls_deeply_middle(x)
    return y


@wrong(np.zeros(3), 5)
def raises_again_on_the_way_out(x, n):
    try:
        x[n] = 1.0
    finally:
        raise


__all__ = ["PROGRAMS"]
