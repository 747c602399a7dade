"""A snippet for each row of the tables of docs/supported.md, and for each function that they name."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autograph as ag

ROWS: dict[str, list[tuple[Callable[..., Any], list[tuple[Any, ...]], str]]] = {}
"""By the first cell of a row: functions, their inputs, and ops that the graph of the first input holds."""

REFUSED: dict[str, list[tuple[Callable[..., Any], tuple[Any, ...], str]]] = {}
"""By the first cell of a row: functions that are refused, an input, and what the message says."""


def row(cell: str, *inputs: tuple[Any, ...], ops: str = "") -> Callable[[Any], Any]:
    """Declares a snippet of a row."""

    def add(function: Any) -> Any:
        ROWS.setdefault(cell, []).append((function, list(inputs), ops))
        return function

    return add


def refused(cell: str, *given: Any, message: str) -> Callable[[Any], Any]:
    """Declares a snippet that a row calls refused."""

    def add(function: Any) -> Any:
        REFUSED.setdefault(cell, []).append((function, given, message))
        return function

    return add


X = np.arange(6.0).reshape(2, 3)

# -- statements ----------------------------------------------------------------------------------------------


@row("`if` / `elif` / `else`", (1,), (5,), (-3,), (0,), ops="cond")
def if_statement(n):
    if n == 0:
        return "zero"
    elif n < 0:
        found = -n
    elif n > 3:
        for _ in range(n):
            n -= 1
        found = float(n)
    else:
        found = None
    return found


@row("`if` / `elif` / `else`", (-1,), (2,), ops="cond")
def if_raises(n):
    if n < 0:
        raise ValueError(f"negative: {n}")
    return n


@row("`while`, `while ... else`", (27,), (1,), ops="while_loop")
def while_statement(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps == 100:
            break
    else:
        return steps
    return "long", n


FOR = "`for`, `for ... else`"


@row(FOR, (4,), (0,), (9,), ops="while_loop")
def for_range(n):
    total = 0
    for i in range(n, -n, -2):
        if i == -5:
            break
        total += i * i
    else:
        total = -total
    return total


@row(FOR, (X,), ops="while_loop")
def for_rows(x):
    best = -1.0
    for row in x:
        best = max(best, row.sum())
    return best


@row(FOR, ([1, 2, 3], {"a": 1, "b": 2}), ([], {}), ops="while_loop")
def for_containers(items, table):
    found = []
    for item in items:
        found.append(item * 2)
    for key in table:
        found.append(key)
    for value in table.values():
        found.append(value)
    for key, value in table.items():
        found.append(key * value)
    return found


@row(FOR, (2.0,), (-1.0,))
def for_tuple_and_string(x):
    for i in (1, 2.5):
        x += i
    text = ""
    for letter in "abc":
        text = letter + text
    return x, text


@row(FOR, ([1, 2, 3], [4.0, 5.0]), ops="while_loop")
def for_combined(a, b):
    total = 0.0
    for i, v in enumerate(a, 1):
        total += i * v
    for v, w in zip(a, b):
        total -= v * w
    for v in reversed(a):
        total = total * 2 + v
    for v in (k * k for k in a if k != 2):
        total += v
    return total


@row("`break`, `continue`, `return`", (30,), (5,), (0,), ops="while_loop")
def jumps(n):
    for i in range(n):
        if i % 2:
            continue
        try:
            for j in range(i):
                if j == 7:
                    break
                if i * j > 70:
                    return i, j
        finally:
            n += 1
    return n


@refused("`break`, `continue`, `return`", 1, message="'return' inside 'finally'")
def return_in_finally(n):
    try:
        n += 1
    finally:
        return n


@row("assignment, unpacking, starred, swap, `+=` and the like", (1, [2, 3, 4], X), (2, [5, 6], X + 1))
def assignment(n, items, x):
    a = b = n
    first, *rest = items
    (c, d), e = (a, 2), [n]
    a, b = b + 1, a
    b **= 2
    b -= c
    items[0] += 5
    items[1:2] = [n, n]
    x[0] *= 2
    x[:, 1] = n
    x[1, 2] //= 2
    return a, b, c, d, e, first, rest, items, x


@row("`del`", ([1, 2, 3], {"a": 1}, True), ([1, 2, 3], {"a": 1}, False))
def deletion(items, table, drop):
    del items[0]
    del table["a"]
    if drop:
        del items
    return items, table


ASSERT = "`assert`, `raise`, `raise ... from`, bare `raise`"


@row(ASSERT, (2,), (0,), (-1,), (9,))
def raising(n):
    assert n >= 0, f"negative {n}"
    try:
        if n > 5:
            raise KeyError(n)
        return 6 // n
    except ZeroDivisionError as error:
        raise ValueError("zero") from error
    except KeyError:
        raise


@row("`try` / `except` / `else` / `finally`", ("1",), (0,), (1,), (2,), ops="try")
def trying(n):
    log = []
    try:
        value = 10 // n
        log.append(value)
        if n == 2:
            raise IndexError("two")
    except (ZeroDivisionError, IndexError) as error:
        log.append(str(error))
    except TypeError:
        log.append("type")
    else:
        log.append("fine")
    finally:
        log.append("end")
    return log


@contextlib.contextmanager
def doubled(log, value):
    log.append(value)
    try:
        yield value * 2
    except ValueError:
        log.append("caught")
    finally:
        log.append("closed")


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, value, traceback):
        self.log.append(kind is None)
        return False


@row("`with`", (1,), (-1,))
def with_statement(n):
    log = []
    with Manager(log) as m, doubled(m.log, n) as value:
        if n < 0:
            raise ValueError(n)
        log.append(value)
    return log


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


@row("`match`", (0,), (None,), ("b",), ([1, 2],), ([1, 2, 3],), ({"k": 5},), (Point(1.0, 2.0),), (7,), (2.5,))
def match_statement(value):
    match value:
        case 0 | "b":
            return "literal"
        case None:
            return "none"
        case [a, b]:
            return a + b
        case [a, *rest]:
            return rest
        case {"k": v, **others}:
            return v, others
        case Point(x=x, y=y):
            return x - y
        case int(n) if n > 5:
            return n
        case other:
            return "other", other


@row("`def`, `lambda`, `class` inside a function", (3,), (0,))
def definitions(n):
    class Local:
        scale = 2

        def times(self, k):
            return k * self.scale

    def decorate(function):
        return lambda *args: function(*args) + 1

    @decorate
    def inner(k, *, by=10):
        return Local().times(k) * by

    count = 0

    def bump():
        nonlocal count
        count += n

    for _ in range(n):
        bump()
    return inner(n), count, (lambda k=n: k)()


COUNTER = 0


@row("`global`, `nonlocal`", (2,), (3,))
def globals_and_nonlocals(n):
    global COUNTER
    COUNTER = 0
    for i in range(n):
        COUNTER += i
    return COUNTER


def numbers(n):
    for i in range(n):
        if i != 1:
            yield i
    yield from [n, n + 1]


@row("`yield`, `yield from`", (4,), (0,))
def generators(n):
    total = 0
    for value in numbers(n):
        total = total * 2 + value
    return total, list(numbers(n)), sum(numbers(n))


@refused("`yield`, `yield from`", 3, message="next")
def next_of_a_generator(n):
    values = numbers(n)
    return next(values) + next(values)


@row("`import`", (2.0,))
def importing(x):
    import math as m
    from operator import add

    return add(m.sqrt(x), 1)


REFUSALS = "`async`, `await`, `exec`, `eval`, `locals()`, `globals()`"


@refused(REFUSALS, 1, message="'async def'")
async def asynchronous(n):
    await asyncio.sleep(0)
    return n


@refused(REFUSALS, 1, message="'exec()'")
def executing(n):
    exec("n += 1")
    return n


@refused(REFUSALS, 1, message="'eval()'")
def evaluating(n):
    return eval("n + 1")


@refused(REFUSALS, 1, message="'locals()'")
def reading_locals(n):
    return locals()


@refused(REFUSALS, 1, message="'globals()'")
def reading_globals(n):
    return globals()["COUNTER"] + n


# -- expressions ---------------------------------------------------------------------------------------------

ARITHMETIC = "arithmetic, bitwise, comparison, `@`"


@row(ARITHMETIC, (7, 2, X), (-7, 3, X), (7.5, -2, X))
def arithmetic(a, b, x):
    whole = int(a)
    return (
        (a + b, a - b, a * b, a / b, a // b, a % b, b**whole, -a, +b, abs(a)),
        (whole & b, whole | b, whole ^ b, whole << 2, whole >> 1, ~whole),
        (a < b, a <= b, a == b, a != b, a > b, a >= b),
        x @ x.T,
    )


@refused(ARITHMETIC, 2**62, message="64 bits")
def too_large(n):
    return n * 4


OPERATORS = "operators of a user's classes"


class Vector:
    """Has operators of its own, and leaves NumPy's arrays none."""

    __array_ufunc__ = None

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __rmul__(self, k):
        return Vector(k * self.x, k * self.y)


class Angle:
    def __init__(self, turns):
        self.turns = turns

    def __rmul__(self, k):
        return self.turns * k


@row(OPERATORS, (X, 2), (X * 0.1, -1.5))
def operators(x, n):
    v = Vector(1.0, n) + x[0, 1] * Vector(n, 3)
    w = x * v
    return v.x, v.y, w.x, w.y, x[1, 2] * Angle(0.5)


@refused(OPERATORS, X, message="an array and an object of the class Angle")
def array_beside_object(x):
    return x * Angle(0.25)


@row("`and`, `or`, `not`", (0, 2.5), (3, ""), (0, 0), ops="cond")
def boolean_operators(a, b):
    return a and b, a or b or "none", not a, (a and 1 // a) or b


@row("`a < b < c`", (1, 5), (4, 2), (0, 0))
def chained(a, b):
    log = []

    def noted(v):
        log.append(v)
        return v

    return noted(a) < noted(b) < noted(4), a != b != 2 != a, log


@row("`is`, `in` and their negations", (1, [1, 2], {"a": 1}, None), (3, [], {}, 2))
def identity(n, items, table, other):
    same = items
    return (
        same is items,
        items is not table,
        other is None,
        n in items,
        n not in items,
        "a" in table,
        "b" in "abc",
    )


@row("`a if c else b`", (0,), (4,), ops="cond")
def conditional(n):
    return 12 // n if n else "none"


@row("`:=`", (5,), (20,), ops="while_loop")
def walrus(n):
    while (n := n - 3) > 0:
        pass
    return n, (k := n + 1) * k


@row("comprehensions, generator expressions", (4,), (0,), ops="while_loop")
def comprehensions(n):
    return (
        [i * j for i in range(n) for j in range(i) if i != j],
        {i % 3 for i in range(n)},
        {i: [i] for i in range(n)},
        sum(i for i in range(n)),
        [[k for k in range(i)] for i in range(n)],
    )


@row("f-strings, formatting", (1, 2.5), (-10, 1e10))
def formatting(n, x):
    width = 8
    return (
        f"{n}|{x:.3f}|{n!r:>{width}}|{x=}",
        "%d and %.2f" % (n, x),
        "{} {b}".format(n, b=x),
        str(x),
        repr(n),
    )


@row("`x[i]`, `x[a:b:c]`, `x[mask]`, `x[:, None]`, `x[..., k]`", (X, 1), (X * 2, 0))
def subscripts(x, k):
    read = (x[k], x[0:2:1, ::-1], x[x > 2], x[:, None].shape, x[..., k], x[k, k], x[[1, 0]], x[:, [2, 0]])
    copies = [np.copy(r) if isinstance(r, np.ndarray) else r for r in read]
    x[k, 0] = 9.0
    x[x > 5] = 0.0
    x[..., 1] += 1
    x[:, ::2] *= 2
    x[[0, 1], [1, 2]] -= 3
    return copies, x


class Named:
    label = "class"

    def __init__(self, value):
        self.value = value

    @property
    def twice(self):
        return self.value * 2


@row("attributes", (3, X), (2.5, X))
def attributes(n, x):
    thing = Named(n)
    thing.value += 1
    thing.extra = "new"
    return thing.value, thing.twice, thing.extra, Named.label, x.shape, x.T.ndim, x.dtype


@row("calls with `*args`, `**kwargs`, keyword-only, defaults", (1, 2.0), (3, 4.0))
def calling(a, b):
    def callee(x, y=3, *more, z=5, **options):
        return x, y, more, z, options

    both = (a, b)
    return callee(a), callee(*both, 7, z=b, k=a), callee(**{"x": a, "y": b}), callee(b, z=a)


# -- builtins and the standard library -----------------------------------------------------------------------

BUILTINS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "abs": (lambda n, x: (abs(n), abs(x), abs(-1j * n)), (-3, X - 2)),
    "all": (lambda a: (all(a), all(v > 0 for v in a)), ([1, 0, 2],)),
    "any": (lambda a: (any(a), any(v > 1 for v in a)), ([1, 0, 2],)),
    "bool": (lambda n, a: (bool(n), bool(a), bool()), (2, [])),
    "complex": (lambda a, b: complex(a, b), (1, 2.5)),
    "dict": (lambda n: (dict(a=n, b=2), dict([(n, 1)]), dict({n: 2})), (3,)),
    "divmod": (lambda a, b: (divmod(a, b), divmod(-a, 2.5)), (7, 2)),
    "enumerate": (lambda a: [(i, v) for i, v in enumerate(a, 3)], ([4, 5],)),
    "filter": (lambda a: list(filter(lambda v: v > 1, a)), ([1, 2, 3],)),
    "float": (lambda n, x: (float(n), float(x[0, 1])), (3, X)),
    "int": (lambda x, n: (int(x), int(-x), int(n > 1)), (2.7, 3)),
    "isinstance": (lambda n, x: (isinstance(n, int), isinstance(x, (list, np.ndarray))), (3, X)),
    "len": (lambda a, x, d: (len(a), len(x), len(d)), ([1, 2], X, {"a": 1})),
    "list": (lambda a, n: (list(a), list(range(n)), list()), ([1, 2], 3)),
    "map": (lambda a: list(map(lambda v: v * 2, a)), ([1, 2],)),
    "max": (lambda a, n: (max(a), max(n, 2.0), max(a, key=lambda v: -v), max([], default=n)), ([1, 3, 2], 1)),
    "min": (lambda a, n: (min(a), min(n, 2.0), min(a, key=lambda v: -v)), ([1, 3, 2], 1)),
    "pow": (lambda n, x: (pow(n, 2), pow(2, -n), pow(x, 0.5), pow(n, 3, 5)), (3, 2.0)),
    "print": (lambda n, x: print("n", n, x, sep="; ", end="!\n"), (3, X)),
    "range": (lambda n: (range(n), len(range(1, n, 2)), n in range(3)), (5,)),
    "reversed": (lambda a: list(reversed(a)), ([1, 2, 3],)),
    "round": (lambda x: (round(x), round(x, 1), round(-2.5)), (2.55,)),
    "set": (lambda a: (set(a), set()), ([1, 2, 1],)),
    "sorted": (lambda a: (sorted(a), sorted(a, reverse=True), sorted(a, key=lambda v: v % 3)), ([3, 1, 2],)),
    "sum": (lambda a, x: (sum(a), sum(a, 1.5), sum(v * v for v in a), sum(x)), ([1, 2], X)),
    "tuple": (lambda a: (tuple(a), tuple()), ((1, 2.0),)),
    "type": (lambda n, x: (type(n), type(x), type(n) is int), (3, 2.5)),
    "zip": (lambda a, b: list(zip(a, b)), ([1, 2, 3], [4.0, 5.0])),
}


@row("methods of lists, dicts, sets", ([3, 1, 2], {"a": 1}, {1, 2}, 5), ([], {}, set(), 0))
def container_methods(items, table, group, n):
    items.append(n)
    items.extend([n, 1])
    items.insert(0, 7)
    last = items.pop()
    items.remove(7)
    items.sort()
    items.reverse()
    table["b"] = n
    table.update({"c": last})
    got = table.get("a"), table.setdefault("d", n), table.pop("b"), list(table.items())
    group.add(n)
    group.discard(1)
    return (
        items,
        items.count(n),
        items.index(n),
        items.copy(),
        table,
        got,
        list(table.keys()),
        group | {9},
        group & {n},
    )


@row("`math`", (0.5, 10), (2.25, 3))
def mathematics(x, n):
    angles = math.sin(x), math.atan2(x, 2), math.pi * x
    return (
        angles,
        math.sqrt(x),
        math.floor(x),
        math.gcd(n, 4),
        math.factorial(n),
        math.isclose(x, 0.5),
        math.exp(-x),
    )


HOST = "any other function without Python source, or marked `ag.do_not_convert`"


@ag.do_not_convert
def measured(n):
    return {"level": n * 1.5}["level"]


@row(HOST, (3,), (4,), ops="host_call")
def on_the_host(n):
    return measured(n)


@row(HOST, (3,), (4,), ops="declared_host_call")
def computed_with(n):
    return ag.host_call(measured, n, result=ag.spec("float64")) + 1


@refused(HOST, 3, message="result=ag.spec")
def computed_with_undeclared(n):
    return measured(n) + 1


def power(base, exponent, *, scale=1):
    return scale * base**exponent


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + 1

    return wrapper


@logged
def tripled(n):
    return n * 3


@row("`functools.partial`, `functools.wraps`", (3,), (0,))
def functional(n):
    square = functools.partial(power, exponent=2, scale=10)
    return square(n), functools.partial(power, n)(3), tripled(n), tripled.__name__


Pair = collections.namedtuple("Pair", "left right")


@row("dataclasses, named tuples", (3, Point(1.0, 2.0), Pair(1, 2)), (0.5, Point(0.0), Pair(1.5, 4)))
def records(n, point, pair):
    point.x += n
    made = Point(n, point.y)
    return point, made, made == Point(n, point.y), Pair(n, pair.left), pair.right, pair._replace(left=n)


# -- NumPy ---------------------------------------------------------------------------------------------------

A = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
V = np.array([3.0, 1.0, 2.0])
I = np.array([2, 0, 1, 1])

NUMPY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "maximum": (lambda x, v: np.maximum(x, v), (X, V)),
    "minimum": (lambda x, v: np.minimum(x, v), (X, V)),
    "fmax": (lambda x, v: np.fmax(x, v), (X, V)),
    "fmin": (lambda x, v: np.fmin(x, v), (X, V)),
    "hypot": (lambda x, v: np.hypot(x, v), (X, V)),
    "arctan2": (lambda x, v: np.arctan2(x, v), (X, V)),
    ".reduce": (lambda x: (np.add.reduce(x), np.maximum.reduce(x, axis=1)), (X,)),
    ".accumulate": (lambda x: np.multiply.accumulate(x, axis=1), (X,)),
    ".outer": (lambda a, b: np.subtract.outer(a, b), (V, V)),
    ".at": (lambda x, i: np.add.at(x, i, 1.0), (np.zeros(3), I)),
    "zeros": (lambda n: np.zeros((n, 2), dtype=np.int32), (3,)),
    "ones": (lambda n: np.ones(n), (3,)),
    "full": (lambda n: np.full((2, n), 1.5), (3,)),
    "empty": (lambda n: np.empty(n).shape, (3,)),
    "zeros_like": (lambda x: np.zeros_like(x), (X,)),
    "ones_like": (lambda x: np.ones_like(x, dtype=int), (X,)),
    "full_like": (lambda x, n: np.full_like(x, n), (X, 2)),
    "arange": (lambda n: (np.arange(n), np.arange(1, n, 0.5)), (4,)),
    "linspace": (lambda a, n: np.linspace(a, 1.0, n), (0.0, 5)),
    "eye": (lambda n: np.eye(n, k=1), (3,)),
    "identity": (lambda n: np.identity(n), (3,)),
    "array": (lambda n, x: (np.array([n, 2.5]), np.array(x)), (1, X)),
    "asarray": (lambda x, n: (np.asarray(x), np.asarray(n)), (X, 2)),
    "copy": (lambda x: (np.copy(x), x.copy()), (X,)),
    "sum": (lambda x: (x.sum(), np.sum(x, axis=0, keepdims=True)), (X,)),
    "prod": (lambda x: np.prod(x + 1, axis=1), (X,)),
    "mean": (lambda x: (x.mean(), np.mean(x, axis=0)), (X,)),
    "var": (lambda x: np.var(x, axis=1), (X,)),
    "std": (lambda x: x.std(), (X,)),
    "min": (lambda x: (x.min(), np.min(x, axis=1)), (X,)),
    "max": (lambda x: (x.max(), np.max(x, axis=(0, 1))), (X,)),
    "any": (lambda x: np.any(x > 4, axis=0), (X,)),
    "all": (lambda x: np.all(x < 4), (X,)),
    "argmin": (lambda x: np.argmin(x, axis=1), (X,)),
    "argmax": (lambda x: x.argmax(), (X,)),
    "count_nonzero": (lambda x: np.count_nonzero(x, axis=0), (X,)),
    "cumsum": (lambda x: np.cumsum(x, axis=1), (X,)),
    "cumprod": (lambda x: np.cumprod(x), (X,)),
    "diff": (lambda x: np.diff(x, axis=0), (X,)),
    "reshape": (lambda x: (x.reshape(3, -1), np.reshape(x, 6)), (X,)),
    "ravel": (lambda x: x.ravel(), (X,)),
    "transpose": (lambda x: (x.transpose(1, 0), np.transpose(x)), (X,)),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), (X,)),
    "moveaxis": (lambda x: np.moveaxis(x, 0, 1), (X,)),
    "expand_dims": (lambda x: np.expand_dims(x, 1), (X,)),
    "squeeze": (lambda x: np.squeeze(x[:1]), (X,)),
    "broadcast_to": (lambda v: np.broadcast_to(v, (2, 3)), (V,)),
    "concatenate": (lambda x, v: np.concatenate([x, v[None]]), (X, V)),
    "stack": (lambda a, b: np.stack([a, b], axis=1), (V, V)),
    "hstack": (lambda a, b: np.hstack((a, b)), (V, V)),
    "vstack": (lambda a, b: np.vstack((a, b)), (V, V)),
    "block": (lambda a, b: np.block([[a, a], [b, b]]), (X, X)),
    "split": (lambda x: np.split(x, 3, axis=1), (X,)),
    "tile": (lambda v: np.tile(v, (2, 2)), (V,)),
    "repeat": (lambda v: np.repeat(v, 2), (V,)),
    "flip": (lambda x: np.flip(x, axis=1), (X,)),
    "roll": (lambda v, n: np.roll(v, n), (V, 1)),
    "pad": (lambda v: np.pad(v, 2), (V,)),
    "triu": (lambda a: np.triu(a), (A,)),
    "tril": (lambda a: np.tril(a, -1), (A,)),
    "diag": (lambda a, v: (np.diag(a), np.diag(v)), (A, V)),
    "meshgrid": (lambda a, b: np.meshgrid(a, b), (V, V)),
    "outer": (lambda a, b: np.outer(a, b), (V, V)),
    "kron": (lambda a, b: np.kron(a, b), (A, V)),
    "where": (lambda x: (np.where(x > 2, x, -1.0), np.where(x > 2)), (X,)),
    "select": (lambda x: np.select([x < 1, x < 3], [x, -x], 9.0), (X,)),
    "clip": (lambda x: (np.clip(x, 1, 3), x.clip(min=2)), (X,)),
    "take": (lambda v, i: np.take(v, i), (V, I)),
    "compress": (lambda x: np.compress([True, False], x, axis=0), (X,)),
    "choose": (lambda i, v: np.choose(i, [v[0], v[1], v[2]]), (I, V)),
    "nonzero": (lambda x: np.nonzero(x > 1), (X,)),
    "searchsorted": (lambda v, x: np.searchsorted(v, x), (np.sort(V), X)),
    "sort": (lambda v: np.sort(v), (V,)),
    "argsort": (lambda v: np.argsort(v), (V,)),
    "unique": (lambda i: np.unique(i, return_counts=True), (I,)),
    "bincount": (lambda i: np.bincount(i, minlength=5), (I,)),
    "histogram": (lambda x: np.histogram(x, bins=3), (X,)),
    "@": (lambda a, v: (a @ v, a @ a), (A, V)),
    "dot": (lambda a, v: (np.dot(a, v), v.dot(v)), (A, V)),
    "inner": (lambda a, b: np.inner(a, b), (V, V)),
    "vdot": (lambda a, b: np.vdot(a, b), (V, V)),
    "tensordot": (lambda a, b: np.tensordot(a, b, axes=1), (A, A)),
    "einsum": (lambda a, v: np.einsum("ij,j->i", a, v), (A, V)),
    "trace": (lambda a: np.trace(a), (A,)),
    "norm": (lambda v: np.linalg.norm(v), (V,)),
    "inv": (lambda a: np.linalg.inv(a), (A,)),
    "solve": (lambda a, v: np.linalg.solve(a, v), (A, V)),
    "det": (lambda a: np.linalg.det(a), (A,)),
    "eigh": (lambda a: tuple(np.linalg.eigh(a)), (A,)),
    "svd": (lambda a: np.linalg.svd(a)[1], (A,)),
    "qr": (lambda a: tuple(np.linalg.qr(a)), (A,)),
    "cholesky": (lambda a: np.linalg.cholesky(a), (A,)),
    "lstsq": (lambda a, v: np.linalg.lstsq(a, v, rcond=None)[0], (A, V)),
}

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]


def promoted(x, y, n):
    return x + y, x * n, x.astype(y.dtype), x == y


UFUNCS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "arithmetic": (lambda x, v: np.add(x, v) - np.multiply(x, 2) / np.power(v, 2) + np.mod(x, v), (X, V)),
    "comparison": (lambda x, v: (np.less(x, v), np.not_equal(x, v), np.greater_equal(x, 2)), (X, V)),
    "logical": (lambda x, v: (np.logical_and(x, v > 1), np.logical_not(x), np.logical_xor(x, v)), (X, V)),
    "bitwise": (lambda i: (np.bitwise_and(i, 1), np.left_shift(i, 2), np.invert(i)), (I,)),
    "trigonometric": (lambda x: (np.sin(x), np.cos(x), np.tan(x), np.arctan(x), np.tanh(x)), (X,)),
    "exponential": (lambda x: (np.exp(x), np.expm1(x), np.log(x + 1), np.log1p(x), np.exp2(x)), (X,)),
    "rounding": (
        lambda x: (np.floor(x / 2), np.ceil(x / 2), np.rint(x / 2), np.trunc(x), np.round(x, 1)),
        (X,),
    ),
}


@row("string operations on traced strings", ("a b", 2), ("", 0))
def strings(text, n):
    return text + "!", text * n, text.upper(), text == "a b", len(text)
