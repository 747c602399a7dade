"""Programs that end with an exception of the user's: `test_errors.py` compares it with Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograph as ag

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def fails(*args: Any) -> Callable[[Any], Any]:
    """Registers a program with the arguments that make it fail."""

    def register(fn: Any) -> Any:
        PROGRAMS[fn.__name__] = (fn, args)
        return fn

    return register


class Odd(Exception):
    """An exception with a constructor of its own."""

    def __init__(self, code: int, place: Any) -> None:
        super().__init__(f"code {code}")
        self.place = place


@fails(np.zeros(3), 7)
def index_of_an_array(x, i):
    total = 0.0
    for k in range(i):
        total += x[k]
    return total


@fails([1, 2], 5)
def index_of_a_list(items, i):
    return items[i]


@fails(4)
def index_of_a_tuple(i):
    return (1, 2, 3)[i]


@fails({"a": 1}, "b")
def key_of_a_dict(table, key):
    return table[key]


@fails(0)
def division_by_zero(n):
    return 10 // n


@fails(0)
def modulo_by_zero(n):
    return 10 % n


@fails(0)
def division_of_known_values(n):
    if n == 0:
        return 1 // 0
    return n


@fails(0)
def failing_assert(n):
    assert n > 0, f"n is {n}"
    return n


@fails(0)
def failing_assert_without_a_message(n):
    assert n > 0
    return n


@fails(4)
def raise_in_a_nested_loop(n):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                raise ValueError(f"{i} times {j}")
    return n


@fails(0)
def unbound_local(n):
    if n:
        y = 1
    return y


@fails(3)
def unbound_global(n):
    return n + not_there


@fails(3)
def attribute_error(n):
    return n.missing


@fails(3)
def wrong_operand(n):
    return n + "a"


@fails(3)
def broadcasting(n):
    return np.zeros(n) + np.zeros(n + 1)


@fails(3)
def matrix_product(n):
    return np.zeros((2, 3)) @ np.zeros((2, n))


@fails(3)
def singular_matrix(n):
    return np.linalg.inv(np.zeros((n, n)))


@fails(-1.0)
def domain_of_a_function(x):
    import math

    return math.sqrt(x)


@fails("12a")
def text_to_number(text):
    return int(text)


@fails(3)
def unpacking_too_many(n):
    a, b = (n, n, n)
    return a + b


@fails([1])
def unpacking_too_few(items):
    a, b = items
    return a + b


@fails(2)
def own_exception(n):
    if n > 1:
        raise Odd(n, (n, "x"))
    return n


@fails(2)
def exception_class(n):
    if n > 1:
        raise StopIteration
    return n


def called(n):
    return 10 // (n - n)


@fails(2)
def in_a_called_function(n):
    total = 0
    while total < 5:
        total += called(n)
    return total


@fails(5)
def recursion(n):
    if n == 0:
        raise KeyError(n)
    return recursion(n - 1) + 1


@fails(5)
def in_a_lambda(n):
    divide = lambda v: 1 // (v - v)
    return n and divide(n)


@fails(5)
def in_a_nested_function(n):
    def inner(v):
        return [v][v]

    return inner(n)


class Meter:
    """A method and a property that fail."""

    def __init__(self, scale: int) -> None:
        self.scale = scale

    def read(self, n: int) -> int:
        return n // self.scale

    @property
    def inverse(self) -> int:
        return 1 // self.scale


METER = Meter(0)


@fails(5)
def in_a_method(n):
    return METER.read(n)


@fails(5)
def in_a_property(n):
    return METER.inverse + n


@ag.do_not_convert
def on_the_host(n):
    return deeper_on_the_host(n)


def deeper_on_the_host(n):
    return [1][n]


@fails(3)
def in_host_code(n):
    return on_the_host(n)


def takes_one(a):
    return a


def yields_one(a):
    yield a


@fails(3)
def too_few_arguments(n):
    return takes_one() + n


@fails(3)
def too_many_arguments(n):
    return takes_one(n, n, n)


@fails(3)
def unexpected_keyword(n):
    return takes_one(b=n)


@fails(3)
def too_few_arguments_of_a_generator(n):
    return list(yields_one())


@fails(3)
def too_many_arguments_of_a_generator(n):
    return list(yields_one(n, n))


@fails(1, 2)
def too_many_arguments_of_all(n):
    return n


@fails(0)
def raised_again(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        n += 1
        raise


@fails(0)
def raised_from(n):
    try:
        return 1 // n
    except ZeroDivisionError as error:
        raise KeyError(n) from error


@fails(0)
def raised_from_none(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        raise KeyError(n) from None


@fails(0)
def raised_in_a_handler(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        return [1][n + 3]


@fails(0)
def raised_in_nested_handlers(n):
    try:
        try:
            return 1 // n
        except ZeroDivisionError:
            raise ValueError(n)
    except ValueError:
        raise OSError("end")


@fails(0)
def raised_by_a_call_in_a_handler(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        return called(n)


@fails(0)
def raised_in_finally(n):
    try:
        return 1 // n
    finally:
        [1, 2][n + 5]


@fails(0)
def raised_after_a_handler(n):
    try:
        return 1 // n
    except ZeroDivisionError:
        n = 1
    return [1][n + 3]


@fails(0)
def raised_after_handlers_in_a_loop(n):
    for i in range(3):
        try:
            if i < 2:
                1 // n
            else:
                [1][n + 3]
        except ZeroDivisionError:
            continue
    return n


@fails(0)
def not_caught(n):
    try:
        return 1 // n
    except (KeyError, ValueError):
        return 2
    finally:
        n += 1


@fails(3)
def modulo_of_a_tuple(n):
    pair = (n, 2)
    return pair % 5


@fails(3)
def modulo_in_place_of_a_tuple(n):
    pair = (n, 2)
    pair %= 5
    return pair


@fails(3)
def modulo_in_place_of_none(n):
    nothing = None
    nothing %= n
    return nothing


@fails(3)
def added_in_place_to_a_known_number(n):
    known = 5
    known += None
    return known, n


@fails(3)
def number_spread_in_a_list(n):
    return [*n, 1]


@fails(3)
def none_spread_in_a_tuple(n):
    return (*None, n)


@fails(3)
def none_spread_in_a_set(n):
    return {*None, n}


@fails(3)
def number_spread_in_a_dict(n):
    return {**n, 1: 2}


@fails(3)
def pairs_spread_in_a_dict(n):
    return {**[(1, 2)], "n": n}


def _pair(a=1, b=2):
    return a, b


@fails(3)
def none_spread_in_a_call(n):
    return _pair(n, *None)


@fails(3)
def none_spread_as_keywords(n):
    return _pair(n, **None)


@fails(3)
def keyword_given_twice(n):
    return _pair(**{"b": 1}, **{"b": n})


@fails(3)
def too_few_arguments_of_a_method(n):
    return [n].append()


@fails(3)
def keyword_of_a_method_without_any(n):
    return [n].append(x=1)


@fails(3)
def two_arguments_of_list(n):
    return list([n], 1)  # type: ignore[call-overload]


@fails(3)
def two_arguments_of_bool(n):
    return bool(n, 1)  # type: ignore[call-arg]


@fails(3)
def two_arguments_of_all(n):
    return all([n], 1)  # type: ignore[call-arg]


@fails(3)
def keyword_of_len(n):
    return len([n], x=1)  # type: ignore[call-arg]


@fails(3)
def name_of_an_attribute_that_is_a_number(n):
    return hasattr(n, 5)  # type: ignore[arg-type]


@fails(3)
def positional_argument_of_sort(n):
    return [n].sort(n)  # type: ignore[misc]


@fails(3)
def slice_of_a_dict(n):
    return {"a": n}[n:]


class Returning:
    """An object whose special methods return what they should not."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __bool__(self) -> Any:
        return self.value > 1

    def __len__(self) -> Any:
        return self.value

    def __str__(self) -> Any:
        return self.value

    def __float__(self) -> Any:
        return self.value


@fails(np.float64(3))
def truth_that_is_no_bool(x):
    return 1 if Returning(x) else 2


@fails(-3)
def negative_length(n):
    return len(Returning(n))


@fails(2.5)
def length_that_is_no_number(x):
    return len(Returning(x))


@fails(3)
def text_that_is_a_number(n):
    return f"{Returning(n)}"


@fails(3)
def float_that_is_an_int(n):
    return float(Returning(n))


class Iterating:
    """An object that gives what is no iterator."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __iter__(self) -> Any:
        return self.value


@fails(3)
def iterator_that_is_a_number(n):
    return list(Iterating(n))


@fails(3)
def iterator_that_is_a_list(n):
    for item in Iterating([n]):
        n += item
    return n


@fails(3)
def with_on_an_object_without_methods(n):
    with Iterating(n):
        return n


@fails(3)
def in_place_operator_that_a_class_has_not(n):
    x = Iterating(n)
    x += n
    return x


@fails(np.array([3.0, 1.0]))
def keyword_of_a_method_of_an_array(x):
    return x.sort(key=abs)
