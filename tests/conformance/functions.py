"""Cases about calls, closures, classes, recursion, generators, exceptions, match and print."""

import contextlib
import functools

import numpy as np

from tests.conformance.case import Suite, call

suite = Suite()
add = suite.add
A = np.array


def _poly(x, c=3):
    if x > c:
        return x - c
    return c - x


def calls_helper(x):
    return _poly(x) + _poly(x, c=10) * 2


add(calls_helper, [(5,), (12,), (0,)], "call_user defaults return_multi", "branch")


def closure_counts(n):
    step = n + 1

    def bump(v):
        return v + step

    t = 0
    for _ in range(n):
        t = bump(t)
    return t


add(closure_counts, [(3,), (0,)], "closure for_range zero_trip", "while")


def nonlocal_in_loop(n):
    total = 0

    def take(v):
        nonlocal total
        if v % 2 == 1:
            total += v

    for i in range(n):
        take(i)
    return total


add(nonlocal_in_loop, [(7,), (0,)], "nonlocal closure for_range if zero_trip", "while")


CALLS = 0


def global_counter(x):
    global CALLS
    if x > 0:
        CALLS = CALLS + 1
    return CALLS * 10 + x


add(global_counter, [(5,), (-2,), (1,)], "global if", watch="CALLS")


def late_binding(n):
    k = 1
    f = lambda v: v * k
    k = n
    return f(3)


add(late_binding, [(5,), (-1,)], "lambda closure")


def two_lambdas_one_line(x):
    up, down = (lambda a: a + 1 if a > 0 else a), (lambda a: a - 1 if a > 0 else a)
    return up(x) * 10 + down(x)


add(two_lambdas_one_line, [(4,), (-4,)], "lambda ifexp", "branch")


clamp = lambda x, lo, hi: lo if x < lo else hi if x > hi else x

add(clamp, [(5, 0, 3), (-5, 0, 3), (2, 0, 3)], "lambda ifexp", "branch", name="lambda_entry")


def higher_order(x):
    def twice(f, v):
        return f(f(v))

    def step(v):
        if v > 100:
            return v
        return v * 3 + 1

    return twice(step, x)


add(higher_order, [(5,), (50,), (200,)], "closure call_user return_multi", "branch")


def kwargs_call(a, b=2, *, c=3):
    if a > b:
        return a - c
    return b + c


add(
    kwargs_call,
    [call(1), call(5, b=4), call(1, 2, c=10), call(a=9, c=1)],
    "kwargs defaults return_multi",
    "branch",
)


def varargs_sum(*xs, **opts):
    s = opts.get("start", 0)
    for v in xs:
        if v > 0:
            s += v
    return s + len(xs)


add(varargs_sum, [call(1, -2, 3), call(), call(5, start=100)], "varargs kwargs if zero_trip")


def _scaled(factor):
    def deco(f):
        @functools.wraps(f)
        def inner(*args, **kw):
            return f(*args, **kw) * factor

        return inner

    return deco


@_scaled(3)
def decorated_entry(x):
    if x > 2:
        return x
    return 2


add(decorated_entry, [(5,), (0,)], "decorator closure varargs return_multi", "branch")


def partial_inside(x):
    f = functools.partial(_poly, c=x - 1)
    return f(4) + functools.partial(_poly, 6)(2)


add(partial_inside, [(3,), (9,)], "partial call_user", "branch")


class Meter:
    total = 0

    def __init__(self, step):
        self.step = step
        self.value = 0

    def feed(self, v):
        if v > self.step:
            self.value += v
        else:
            self.value -= 1
        return self.value

    @property
    def double(self):
        return self.value * 2

    @classmethod
    def unit(cls, x):
        return cls(x)

    @staticmethod
    def limit(v):
        return v if v < 100 else 100

    def __call__(self, v):
        return self.feed(v) + self.step


def object_in_loop(n):
    m = Meter(2)
    for i in range(n):
        m.feed(i)
    return m.value, m.double


add(object_in_loop, [(6,), (0,)], "method attr property class_inside for_range if zero_trip", "while")


def class_and_static(x):
    m = Meter.unit(x)
    r = m(5)
    return Meter.limit(r * 40), m.value


add(class_and_static, [(2,), (9,)], "classmethod staticmethod callable_obj if", "branch")


_meter = Meter(3)

add(_meter.limit, [(50,), (500,)], "staticmethod ifexp", "branch", name="staticmethod_entry")


class Filter:
    def __init__(self, a):
        self.a = a

    def run(self, x):
        y = 0.0
        for v in x:
            y = self.a * y + v
            if y > 10.0:
                y = 10.0
        return y

    def __call__(self, x):
        return self.run(x) + self.a


add(
    Filter(0.5).run,
    [(A([1.0, 2.0, 4.0]),), (A([30.0, 2.0, 4.0]),)],
    "method for_array if",
    "branch",
    name="bound_method_entry",
)
add(
    Filter(0.25),
    [(A([1.0, 2.0, 4.0]),), (A([30.0, 2.0, 4.0]),)],
    "callable_obj method for_array if",
    name="callable_object_entry",
)
add(
    functools.partial(_poly, c=7),
    [(4,), (12,)],
    "partial defaults return_multi",
    "branch",
    name="partial_entry",
)


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


add(factorial, [(5,), (0,), (10,)], "recursion return_multi", "dynamic")


def fib_rec(n):
    return n if n < 2 else fib_rec(n - 1) + fib_rec(n - 2)


add(fib_rec, [(7,), (1,), (0,)], "recursion ifexp", "dynamic")


def _is_even(n):
    if n == 0:
        return True
    return _is_odd(n - 1)


def _is_odd(n):
    if n == 0:
        return False
    return _is_even(n - 1)


def mutual_recursion(n):
    return _is_even(n), _is_odd(n)


add(mutual_recursion, [(4,), (7,), (0,)], "recursion call_user return_multi", "dynamic")


def _countdown(n):
    while n > 0:
        yield n
        n -= 2


def generator_inside(n):
    s = 0
    for v in _countdown(n):
        s = s * 3 + v
    return s


add(generator_inside, [(5,), (0,), (4,)], "generator while zero_trip", "while")


def generator_static(x):
    def parts():
        yield x
        yield x * 2
        yield x * 3

    return sum(parts()) + max(parts())


add(generator_static, [(4,), (-4,)], "generator closure builtin")


class Track:
    def __init__(self):
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *exc):
        self.depth -= 10
        return False


def with_object(x):
    t = Track()
    with t as u:
        if x > 0:
            x = x + u.depth
        else:
            x = x - u.depth
    return x, t.depth


add(with_object, [(3,), (-3,)], "with if attr", "branch")


def return_inside_with(x):
    with contextlib.nullcontext(5) as k:
        if x > k:
            return x - k
        x = x * k
    return x + 1


add(return_inside_with, [(9,), (2,)], "with return_multi", "branch")


def try_finally_flow(x):
    log = 0
    try:
        if x > 3:
            log += 1
        else:
            log += 2
    finally:
        log = log * 10
    return log


add(try_finally_flow, [(5,), (1,)], "try finally if", "branch")


def try_static_except(x, d):
    try:
        v = d["missing"]
    except KeyError:
        v = d["k"] + x
    else:
        v = v * 2
    return v


add(try_static_except, [(1, {"k": 5}), (1, {"k": 5, "missing": 8})], "try dict")


def raise_on_negative(x):
    if x < 0:
        raise ValueError("x must not be negative")
    return x * 2


add(raise_on_negative, [(3,), (-1,), (0,)], "raise if error", "guard")


def raise_in_loop(a, limit):
    s = 0
    for v in a:
        s += v
        if s > limit:
            raise OverflowError("sum is over the limit")
    return s


add(raise_in_loop, [(A([1, 2, 3]), 10), (A([5, 6, 7]), 10)], "raise for_array error")


def except_of_raise(x):
    try:
        if x < 0:
            raise ValueError("neg")
        r = x + 1
    except ValueError:
        r = -100
    return r


add(except_of_raise, [(3,), (-3,)], "try raise if")


def assert_with_message(x):
    assert x > 0, "needs a positive x"
    return x + 1


add(assert_with_message, [(2,), (-2,)], "assert error")


def index_error_at_run(a, i):
    return a[i] * 2


add(index_error_at_run, [(A([1, 2, 3]), 2), (A([1, 2, 3]), 3), (A([1, 2, 3]), -3)], "error slice_read")


def match_values(n, mode):
    match mode:
        case "inc":
            n = n + 1
        case "neg" | "minus":
            n = -n
        case _:
            n = 0
    match n:
        case 0:
            return 100
        case 1 | 2:
            return 200
        case v if v < 0:
            return v
        case _:
            return 300


add(
    match_values,
    [(1, "inc"), (5, "neg"), (4, "zzz"), (8, "inc")],
    "match str_none_arg return_multi",
    "branch",
)


def print_loop(n):
    print("start")
    for i in range(n):
        if i % 2 == 1:
            print("odd", i)
        else:
            print("even", i, sep="=")
    print("end", n)
    return n


add(print_loop, [(3,), (0,)], "print for_range if zero_trip", "while cond print")


def print_options(x):
    print(x, x + 1, sep=", ", end=";\n")
    print("a", end=" ")
    print()
    print(f"x={x:>4d}|{x / 4:.2f}|")
    return x


add(print_options, [(7,), (-12,)], "print fstring", "print")


def print_array(x):
    print(x)
    print("sum:", np.sum(x), "first:", x[0])
    return x[0]


add(print_array, [(A([1, 2, 3]),), (A([4, 0, -1]),)], "print", "print")


def print_before_raise(x):
    print("checking", x)
    if x > 5:
        raise RuntimeError("too big")
    print("fine")
    return x


add(print_before_raise, [(3,), (8,)], "print raise error", "guard print")


def print_static_text(x):
    name = "pos" if x > 0 else "non-pos"
    print("value is", name)
    return x


add(print_static_text, [(2,), (-2,)], "print ifexp string")
