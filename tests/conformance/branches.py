"""Cases about branches: if, expressions of choice, names and structures that differ between the ways."""

import collections
import dataclasses

import numpy as np

from tests.conformance.case import Suite

suite = Suite()
add = suite.add
A = np.array


def sign_class(x):
    if x > 0:
        r = 1
    elif x < 0:
        r = -1
    else:
        r = 0
    return r


add(sign_class, [(5,), (-3,), (0,), (2.5,)], "if", "branch")


def tariff(w):
    if w <= 2:
        cost = 4.0
    elif w <= 10:
        if w > 6:
            cost = 9.5
        else:
            cost = 7.0
        cost = cost + 0.25
    else:
        cost = w * 1.5
    return cost


add(tariff, [(1,), (8,), (3,), (20,)], "if nested_if", "branch")


def two_outputs(a, b):
    if a < b:
        lo, hi = a, b
    else:
        lo, hi = b, a
    gap = hi - lo
    return lo, hi, gap


add(two_outputs, [(3, 8), (8, 3), (4, 4)], "if unpack", "branch")


def if_without_else(x, limit):
    clipped = False
    if x > limit:
        x = limit
        clipped = True
    return x, clipped


add(if_without_else, [(9.0, 4.0), (3.0, 4.0)], "if", "branch")


def truth_of_number(n):
    if n:
        return 10 // n
    return 0


add(truth_of_number, [(3,), (0,), (-4,)], "if return_multi", "branch")


def branch_with_loop(n, up):
    total = 0
    if up:
        for i in range(n):
            total += i * i
    else:
        while n > 0:
            total -= n
            n -= 2
    return total, n


add(
    branch_with_loop,
    [(4, True), (5, False), (0, True), (0, False)],
    "if for_range while zero_trip",
    "while cond",
)


def defined_in_one_branch(x):
    if x > 10:
        bonus = x - 10
    if x > 10:
        x = x + bonus * 2
    return x


add(defined_in_one_branch, [(15,), (4,)], "undef if", "branch")


def unused_after_branch(x):
    if x > 0:
        t = x * 3
        x = t + 1
    else:
        u = -x
        x = u - 1
    return x


add(unused_after_branch, [(2,), (-5,)], "undef if", "branch")


def undefined_result(x):
    if x > 0:
        y = x * 2
    return y


add(undefined_result, [(3,), (-3,), (7,)], "undef error")


def undefined_after_loop(n):
    for i in range(n):
        last = i * 7
    return last


add(undefined_after_loop, [(3,), (0,)], "undef zero_trip error")


def none_in_one_branch(x):
    best = None
    if x > 3:
        best = x * 2
    if best is None:
        return -1
    return best + 1


add(none_in_one_branch, [(5,), (1,)], "none_branch in_is return_multi", "branch")


def none_until_found(a, key):
    where = None
    for i in range(len(a)):
        if a[i] == key:
            where = i
    if where is not None:
        return where
    return -100


add(none_until_found, [(A([4, 9, 4, 2]), 4), (A([4, 9]), 5)], "none_branch for_range in_is return_multi")


def int_or_float_branch(x):
    if x > 1:
        y = 1
    else:
        y = 0.25
    return y * 8.0


add(int_or_float_branch, [(3,), (0,)], "dtype_branch if", "branch")


def loop_turns_float(n):
    acc = 0
    for i in range(n):
        acc = acc + i * 0.5
    return acc + 0.0


add(loop_turns_float, [(4,), (0,), (1,)], "dtype_branch for_range zero_trip", "while")


def tuple_through_branch(x):
    p = (x, x + 1)
    if x > 2:
        p = (p[1], p[0])
    return p


add(tuple_through_branch, [(5,), (1,)], "struct if", "branch")


def dict_through_loop(n):
    d = {"even": 0, "odd": 0}
    i = 0
    while i < n:
        if i % 2 == 0:
            d["even"] += i
        else:
            d["odd"] += 1
        i += 1
    return d


add(dict_through_loop, [(6,), (0,), (1,)], "struct while if dict zero_trip", "while")


Point = collections.namedtuple("Point", ["x", "y"])


def namedtuple_loop(n):
    p = Point(0, 1)
    for _ in range(n):
        p = Point(p.y, p.x + p.y)
    return p


add(namedtuple_loop, [(10,), (0,), (1,)], "struct for_range zero_trip", "while")


@dataclasses.dataclass
class Account:
    balance: float
    moves: int = 0


def dataclass_branch(amount):
    acc = Account(10.0)
    if amount > acc.balance:
        acc.balance = acc.balance - 1.0
    else:
        acc.balance -= amount
        acc.moves += 1
    return acc.balance, acc.moves


add(dataclass_branch, [(4.0,), (40.0,)], "struct attr if", "branch")


def list_elements_in_loop(n):
    state = [1, 0]
    while n > 0:
        state[0], state[1] = state[0] + state[1], state[0]
        n -= 1
    return state


add(list_elements_in_loop, [(7,), (0,)], "struct list while unpack zero_trip", "while")


def ternary_chain(x):
    return x * 2 if x > 10 else (x + 100 if x > 0 else -x)


add(ternary_chain, [(20,), (5,), (-7,)], "ifexp", "branch")


def ternary_lazy(a, i):
    return a[i] if i < len(a) else -1


add(ternary_lazy, [(A([4, 5, 6]), 1), (A([4, 5, 6]), 3), (A([4, 5, 6]), 50)], "ifexp slice_read")


def chained_between(x, lo, hi):
    inside = lo <= x < hi
    return 1 if inside else 0


add(chained_between, [(3, 1, 5), (5, 1, 5), (0, 1, 5)], "chained_cmp ifexp")


def and_guards_index(x, n):
    i = 0
    while i < n and x[i] > 0:
        i += 1
    return i


add(
    and_guards_index,
    [(A([1, 2, -3]), 3), (A([1, 2, 3]), 3), (A([1, 2]), 0)],
    "boolop while slice_read zero_trip",
    "while",
)


def or_value(a, b):
    return a or b


add(or_value, [(0, 7), (3, 7), (0, 0)], "boolop")


def and_value(a, b):
    c = a and b
    return c + 1


add(and_value, [(0, 7), (3, 7), (5, 0)], "boolop")


def not_and_mix(a, b):
    if not a > 3 and (b or not a == 0):
        return 1
    return 2


add(not_and_mix, [(5, True), (2, False), (0, False), (0, True)], "boolop if return_multi", "branch")


def _noisy(tag, v):
    print("eval", tag)
    return v


def short_circuit_effects(x):
    r = _noisy("left", x > 0) and _noisy("right", x < 10)
    print("done", r)
    return r


add(short_circuit_effects, [(5,), (-1,), (50,)], "boolop print call_user", "cond print")


def in_static_tuple(x):
    if x in (2, 3, 5, 7):
        return x * 100
    return x not in (0, 1) and x + 1


add(in_static_tuple, [(5,), (8,)], "in_is if return_multi", "branch")


def in_array(a, k):
    return (k in a), (k not in a)


add(in_array, [(A([1, 5, 9]), 5), (A([1, 5, 9]), 4)], "in_is")


def is_none_default(x, scale=None):
    if scale is None:
        scale = 2
    return x * scale


add(is_none_default, [(4,), (4, 10), (4, None)], "in_is str_none_arg defaults")
