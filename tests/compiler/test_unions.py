"""Numbers of one of several types in registers: each operation does what it does for the type at hand."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check, outcome, same


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def largest(x, start):
    for v in range(len(x)):
        start = max(start, x[v])
    return start


def smallest(x, a, b):
    for i in range(len(x)):
        a = min(a, int(x[i]), b, float(x[i]))
    return a


def total(x):
    t = 0
    for v in x:
        t += v
    return t / 2, t * t, -t, abs(t), t > 3, not t, float(t), int(t)


def mixed(x, c):
    t = 0.0
    if c:
        t = x[0]
    y = np.zeros(3)
    y[1] = t
    y[0] += t
    return t**2, 1 / t, t // 2, t % 2, np.sqrt(t + 9), round(t), y * t, [t, 1], (t,), {"a": t}


def indices(x, n):
    k = 1
    if n > 2:
        k = x[n]
    s = 0
    for i in range(k, len(x)):
        s += i
    return x[k], k + 1, k * 2**61, s, isinstance(k, int), k is None, str(k), f"{k}"


def truths(x, n):
    b = n > 3
    if n > 2:
        b = x[n] > 1
    return not b, b + 1, b and n, b or x[0], int(b), b & True


def four(x, n):
    k = 1
    if n > 2:
        k = 2.5
    if n > 4:
        k = x[0]
    if n > 5:
        k = True
    return k, k + 1, k * x[1], k < 2, bool(k)


def inner(y):
    j = len(y) - 1
    while j >= 0 and y[j] > 1.0:
        y[j] = 0.0
        j -= 1
    return j


def power(n):
    return 2 ** (n % 5 - 2)


def passed(x, n):
    def helper(v):
        return v * 2

    t = 0.0
    for i in range(n):
        t = t + x[i] if i else 1
        t = helper(t)
    return helper(t)


INTEGERS = np.array([3, 1, 4, 1, 5, 9])
FLOATS = INTEGERS + 0.5


def unused_length(x, n):
    y = x
    for i in range(n):
        try:
            n -= len(y)
        except Exception:
            print("no length")
            raise
        y[:] += 1
        y = 0.5


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    *(
        (largest, (x, s))
        for x in (FLOATS, -FLOATS, INTEGERS, FLOATS.astype(np.float32))
        for s in (0, 0.0, 4.5)
    ),
    (largest, (np.array([np.nan, 1.0]), 0.0)),
    (largest, (np.array([1.0, np.nan, 2.0]), 0)),
    (smallest, (FLOATS, 0, 1.0)),
    (smallest, (-FLOATS, 7, 2.5)),
    (smallest, (FLOATS * 1e17, 2**60, 2.0**60)),
    (smallest, (np.array([2.0**62, 3.0]), 2**62 + 1, 2.0**62)),
    (smallest, (np.array([2.0**53]), 2**53 + 1, 2.0**53)),
    (smallest, (np.array([-(2.0**53)]), -(2**53) - 1, -(2.0**53))),
    (smallest, (np.array([2.0**53]), 2**63 - 1, 2.0**63)),
    (smallest, (np.array([1.0]), 1, float("nan"))),
    *((total, (x,)) for x in (FLOATS, INTEGERS, FLOATS[:0], FLOATS > 4)),
    *((mixed, (x, c)) for x in (FLOATS, -FLOATS) for c in (True, False)),
    *((indices, (INTEGERS, n)) for n in range(1, 6)),
    *((truths, (INTEGERS, n)) for n in range(1, 6)),
    *((four, (FLOATS, n)) for n in range(1, 7)),
    (inner, (FLOATS,)),
    (inner, (FLOATS - 3.0,)),
    *((power, (n,)) for n in (7, 3, 0)),
    *((passed, (FLOATS, n)) for n in range(4)),
    (unused_length, (FLOATS, 1)),
    (unused_length, (FLOATS, 4)),
]


def outcome(function: Any, arguments: tuple[Any, ...]) -> str:
    given = copy.deepcopy(arguments)
    try:
        return repr((function(*given), given))
    except Exception as error:
        return repr((type(error), str(error), given))


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_type_and_value_are_those_of_python(function: Any, arguments: tuple[Any, ...]) -> None:
    converted = ag.to_graph(function)
    assert outcome(converted, arguments) == outcome(function, arguments)


@pytest.mark.parametrize(
    ("function", "arguments"), [(largest, (FLOATS, 0.0)), (total, (FLOATS,)), (inner, (FLOATS,))]
)
def test_nothing_is_called_back(function: Any, arguments: tuple[Any, ...]) -> None:
    assert "calls back" not in ag.to_graph(function).explain(*copy.deepcopy(arguments))


def test_a_list_keeps_the_class_of_a_number_of_several_types():
    def stored(x, choice, items, table):
        v = x[1] if choice else 5
        items[0] = v
        items[choice] = v
        items.append(v)
        table["a"] = v
        return tuple(items), (v, table["a"])

    def looped(x, turns, items):
        total = 0
        for i in range(turns):
            total = total + (x[i] if i == 2 else 1)
        items[-1] = total
        return tuple(items)

    for kind in (np.int64, np.float64):
        for choice in (0, 1):
            check(stored, np.arange(3).astype(kind), choice, [1, 2], {}, native=False)
        for turns in (1, 4):
            check(looped, np.arange(5).astype(kind), turns, [1, 2], native=False)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.uint64, np.complex64])
def test_arrays_meet_a_number_of_several_types_as_what_it_is(dtype):
    def compared(x, y, choice):
        v = x[1] if choice else 0.1
        return y == v, y < v, np.where(y > v, 1, 0), y * v

    def whole(x, y, choice):
        v = x[1] if choice else -1
        return y == v, y < v, y >= v

    def written(x, y, choice):
        v = x[1] if choice else -1
        y[0] = v
        y[1:3] = v
        return y

    for choice in (0, 1):
        check(compared, np.arange(3) * 0.1, np.full(20, 0.1).astype(dtype), choice, native=False)
        check(whole, np.arange(3) - 2, np.arange(20).astype(dtype), choice, native=False)
        check(written, np.arange(3) - 2, np.arange(20).astype(dtype), choice, native=False)


@pytest.mark.parametrize("rounded", [math.floor, math.ceil, round, int])
def test_numbers_near_the_largest_are_rounded_as_in_python(rounded):
    def f(x):
        return rounded(x)

    def g(x, choice):
        return rounded(x[0] if choice else 7)

    for v in (np.int64(2**53 + 1), np.int64(-(2**63)), np.uint64(2**53 + 1), np.int8(-3), -(2.0**63), -2.5):
        check(f, v, native=False)
        check(g, np.array([v]), 1, native=False)
        check(g, np.array([v]), 0, native=False)


def first_bound_in_a_loop(x, n):
    for i in range(n):
        t = x[i % len(x)] * 2
        u = t + i
    return u


def bound_where_it_is_larger(x, n):
    best = -1e9
    for i in range(n):
        for j in range(len(x)):
            d = x[j] - i * 0.5
            if d > best:
                best = d
                at = j
    return best, at


def bound_or_not(c, n):
    for i in range(n):
        if i == c:
            v = i * 0.5
        elif i == c + 1:
            v = i
    if n > 3:
        v = v + 1
    return v


def handled(c):
    for i in range(3):
        if i == c:
            v = i + 1
    try:
        r = v
    except UnboundLocalError:
        r = -1.5
    return r


def taken_away(c):
    s = 0
    for i in range(5):
        w = i * 2
        if i == c:
            del w
        s += i
    return s + w


def shown(c):
    for i in range(3):
        if i == c:
            v = i
    f = lambda: v
    print(c, f())
    return [v, v + 0.5]


@pytest.mark.parametrize(
    "fn, calls",
    [
        (first_bound_in_a_loop, [(np.arange(3.0), 5), (np.arange(3.0), 0), (np.arange(3.0), 1)]),
        (bound_where_it_is_larger, [(np.arange(3.0), 2), (np.arange(0.0), 2), (np.full(2, -1e10), 1)]),
        (bound_or_not, [(1, 2), (1, 4), (7, 2), (7, 5), (1, 0), (0, 1), (2, 3)]),
        (handled, [(0,), (2,), (5,)]),
        (taken_away, [(9,), (4,), (2,)]),
        (shown, [(0,), (2,), (7,)]),
    ],
)
def test_a_name_may_be_unbound_and_is_a_number_otherwise(fn: Any, calls: Any) -> None:
    for args in calls:
        check(fn, *args, native=False)


def test_a_name_that_may_be_unbound_is_in_registers() -> None:
    f = ag.to_graph(bound_where_it_is_larger)
    text = f.get_native(np.arange(3.0), 2, kind="loops")
    assert "at: unbound|int" in text or "at: int|unbound" in text
    assert "in objects" not in text


def sums(x, out, limit):
    for i in range(len(x)):
        s = 0
        for v in x[: i + 1]:
            if v < limit:
                s += v
        out[i, 1] = s
        out[i, 0] = s if i % 2 else True
    return out * s - (1.0 if limit > 0 else 2), s / (out + 3.0)


@pytest.mark.parametrize("limit", [0.5, -1.0])
def test_a_number_of_several_types_in_arrays_of_floats(limit: float) -> None:
    x = np.random.default_rng(0).integers(0, 10, 12) / 10
    check(sums, x, np.zeros((12, 2)), limit)
    check(sums, x, np.zeros((12, 2), np.float32), limit, native=False)
    check(sums, x, np.zeros((12, 2), np.int64), limit, native=False)
    check(sums, np.arange(5), np.zeros((5, 2), np.float32), 3, native=False)


def test_in_place_with_a_number_of_several_types() -> None:
    def scaled(x, n):
        top = max(1, x.max())
        x /= top
        k = n if n > 2 else 0.5
        x *= k
        x -= max(1.0, x[0])
        return x, k - x

    for n in (1, 5):
        check(scaled, np.arange(20.0), n)
        check(scaled, np.arange(20.0, dtype=np.float32), n, native=False)
        check(scaled, np.arange(20), n, native=False)


def larger_of_two_kinds(a, k, j):
    for i in range(a.shape[0]):
        a[i] = max(a[i], k) if i != j else min(k, a[i])
    return a


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, bool])
def test_extrema_of_an_element_and_another_number_are_stored(dtype: type) -> None:
    graph = ag.to_graph(larger_of_two_kinds)
    for k in (0, 3, -1, 200, 2**40, 1.5, np.int8(5), np.uint64(7), np.float32(2.5), True):
        x = np.arange(6).astype(dtype)
        same(outcome(larger_of_two_kinds, (x, k, 2)), outcome(graph, (x, k, 2)))


def test_such_an_element_needs_no_call_back() -> None:
    check(larger_of_two_kinds, np.arange(6, dtype=np.int32), 3, 2)
