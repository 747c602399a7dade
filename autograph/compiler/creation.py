"""Arrays whose elements follow a rule (ranges, identities), and rearrangements of arrays.

What follows a rule is a lazy array where that is cheap; copies of parts are written by vector loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import arrays
from autograph.compiler.elementwise import Lanes
from autograph.compiler.indexing import as_operand, finish, size_of
from autograph.compiler.ir import float_literal
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Computed,
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Tuple,
    Value,
    array_type,
    register,
)
from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import Array, Scalar
from autograph.records import replace

INT, FLOAT = np.dtype(np.int64), np.dtype(float)
EXACT = 2**53
"""Up to here integers are exact as floats."""


def is_array(v: Any) -> bool:
    return isinstance(v, (Memory, Elements, Lazy))


def as_array(f: FunctionLowering, v: Any) -> Any:
    """A value as an array, None where it is none."""
    found = arrays.value_as_array(f, v) if isinstance(v, Value) else None
    return found if is_array(found) else None


def numbered(f: FunctionLowering, v: Any) -> Number | None:
    """A value as a number, None where it is none."""
    if isinstance(v, Known) and not isinstance(v.value, (bool, int, float, complex, np.generic)):
        return None
    return f.number(v) if isinstance(v, (Known, Number)) else None


def whole_number(f: FunctionLowering, v: Any) -> Any:
    """An integer as an int where it is known, else as an operand; None where it is none or may not fit."""
    n = numbered(f, v)
    if n is None or n.dtype.kind not in "iu":
        return None
    if n.low is not None and n.low == n.high:
        return n.low
    if n.dtype == np.uint64:
        return None
    return Lanes(f.b).cast(n.parts, n.dtype, INT)[0]


def arguments(names: str, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments by name; None where there are others."""
    order = names.split()
    if len(args) > len(order) or set(options) - set(order):
        return None
    return {**dict(zip(order, args)), **options}


def known(given: dict[str, Any], name: str, default: Any) -> Any:
    """The value of an argument that is a constant; raises KeyError where it is none."""
    v = given.get(name)
    return default if v is None else constant(v)


def constant(v: Any) -> Any:
    """The value of a constant, or of a tuple of these; raises KeyError where it is none."""
    if isinstance(v, Known):
        return v.value
    if isinstance(v, (tuple, Tuple)):
        return tuple(constant(x) for x in (v.items if isinstance(v, Tuple) else v))
    raise KeyError(v)


def by_rule(
    f: FunctionLowering,
    operation: Operation,
    dtype: np.dtype[Any],
    dims: tuple[Any, ...],
    element: Callable[[Lanes, list[str]], tuple[str, ...]],
    sources: tuple[Value, ...] = (),
    vector: bool = True,
    cost: int = 2,
) -> Value:
    """A lazy array by its elements."""
    vector = vector and dtype.kind != "c"
    return finish(f, operation, Computed(dtype, dims, None, sources, cost, element, vector))


def line(lanes: Lanes, i: str, kind: str = "i64") -> str:
    """The indices along the last axis: one, or a vector of them."""
    if lanes.width == 1:
        return i
    steps = ", ".join(f"{kind} {k}" for k in range(lanes.width))
    return lanes.op("add", kind, lanes.splat(i, kind), f"<{steps}>")


# -- ranges --------------------------------------------------------------------------------------------------


@rule("np.arange")
def arange(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("start stop step dtype", args, options)
    if t is None or given is None or t.dtype.kind not in "if":
        return None
    if "stop" not in given or (isinstance(given["stop"], Known) and given["stop"].value is None):
        given["start"], given["stop"] = Known(0), given.get("start", Known(0))
    start, stop, step = (
        numbered(f, given.get(n, Known(d))) for n, d in (("start", 0), ("stop", 0), ("step", 1))
    )
    if start is None or stop is None or step is None:
        return None
    kinds = start.dtype.kind + stop.dtype.kind + step.dtype.kind
    if set(kinds) == {"i"}:
        return _integers(f, operation, t, start, stop, step)
    if (
        set(kinds) <= {"i", "f"}
        and t.dtype == FLOAT
        and all(n.dtype in (INT, FLOAT) for n in (start, stop, step))
    ):
        return _floats(f, operation, t, start, stop, step)
    return None


def _integers(
    f: FunctionLowering, operation: Operation, t: Array, start: Number, stop: Number, step: Number
) -> Value | None:
    b = f.b
    length = t.shape[0] if t.shape else None
    first, last, by = (Lanes(b).cast(n.parts, n.dtype, INT)[0] for n in (start, stop, step))
    count: Any = length
    if count is None:
        if by != "1":
            if by.startswith("%"):
                f.guard(b.value(f"icmp ne i64 {by}, 0"), operation)
            elif by == "0":
                return None
        for n in (first, last, by):
            if n.startswith("%"):
                shifted = b.value(f"add i64 {n}, {EXACT}")
                f.guard(b.value(f"icmp ule i64 {shifted}, {2 * EXACT}"), operation)
        count = _count(f, first, last, by)
        f.guard(b.value(f"icmp ult i64 {count}, {2**40}"), operation)
    kind = register(t.dtype)
    if t.dtype.kind == "i":

        def element(lanes: Lanes, index: list[str]) -> tuple[str, ...]:
            i = line(lanes, index[0])
            if by != "1":
                i = lanes.op("mul", "i64", i, lanes.splat(by, "i64"))
            if first != "0":
                i = lanes.op("add", "i64", i, lanes.splat(first, "i64"))
            return lanes.cast((i,), INT, t.dtype)

        return by_rule(f, operation, t.dtype, (count,), element)
    a, second = (Lanes(b).cast((n,), INT, t.dtype)[0] for n in (first, b.value(f"add i64 {first}, {by}")))
    return _spaced(f, operation, t, count, a, b.value(f"fsub {kind} {second}, {a}"))


def _count(f: FunctionLowering, first: str, last: str, by: str) -> str:
    """How many numbers a range has, its step not 0."""
    b = f.b
    up, down = b.value(f"sub i64 {last}, {first}"), b.value(f"sub i64 {first}, {last}")
    distance, size = up, by
    if by.startswith("%"):
        positive = b.value(f"icmp sgt i64 {by}, 0")
        distance = b.value(f"select i1 {positive}, i64 {up}, i64 {down}")
        size = b.call("i64", "llvm.abs.i64", f"i64 {by}", "i1 false")
    elif by.startswith("-"):
        distance, size = down, by[1:]
    some = b.call("i64", "llvm.smax.i64", f"i64 {distance}", "i64 0")
    if size == "1":
        return some
    more = b.value(f"add i64 {some}, {b.value(f'sub i64 {size}, 1')}")
    return b.value(f"udiv i64 {more}, {size}")


def _spaced(
    f: FunctionLowering, operation: Operation, t: Array, count: Any, first: str, delta: str
) -> Value | None:
    """first + i * delta, as NumPy fills a range of floats."""
    kind = register(t.dtype)

    def element(lanes: Lanes, index: list[str]) -> tuple[str, ...]:
        i = lanes.cast((line(lanes, index[0]),), INT, t.dtype)[0]
        product = lanes.op("fmul", kind, i, lanes.splat(delta, kind))
        return (lanes.op("fadd", kind, lanes.splat(first, kind), product),)

    return by_rule(f, operation, t.dtype, (count,), element)


def _floats(
    f: FunctionLowering, operation: Operation, t: Array, start: Number, stop: Number, step: Number
) -> Value | None:
    b = f.b
    for n in (start, stop, step):
        if n.dtype == INT and n.ir.startswith("%"):
            shifted = b.value(f"add i64 {n.ir}, {EXACT}")
            f.guard(b.value(f"icmp ule i64 {shifted}, {2 * EXACT}"), operation)
    first, last, by = (Lanes(b).cast(n.parts, n.dtype, FLOAT)[0] for n in (start, stop, step))
    count: Any = t.shape[0] if t.shape else None
    if count is None:
        distance = b.value(f"fsub double {last}, {first}")
        turns = b.value(f"fdiv double {distance}, {by}")
        size = Lanes(b).intrinsic("fabs", "double", turns)
        fine = b.value(f"fcmp olt double {size}, {float_literal(2.0**40)}")
        some = b.value(f"fcmp une double {turns}, 0.0")
        none = b.value(f"fcmp oeq double {distance}, 0.0")
        f.guard(b.value(f"and i1 {fine}, {b.value(f'or i1 {some}, {none}')}"), operation)
        whole = b.value(f"fptosi double {Lanes(b).intrinsic('ceil', 'double', turns)} to i64")
        count = b.call("i64", "llvm.smax.i64", f"i64 {whole}", "i64 0")
    second = b.value(f"fadd double {first}, {by}")
    return _spaced(f, operation, t, count, first, b.value(f"fsub double {second}, {first}"))


@rule("np.linspace")
def linspace(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("start stop num endpoint", args, {k: v for k, v in options.items() if k != "dtype"})
    if t is None or given is None or t.dtype != FLOAT or len(t.shape or ()) != 1:
        return None
    ends = [numbered(f, given.get(n)) for n in ("start", "stop")]
    if any(n is None or n.dtype not in (INT, FLOAT) for n in ends):
        return None
    num = whole_number(f, given.get("num", Known(50)))
    endpoint = given.get("endpoint", Known(True))
    if num is None or not isinstance(endpoint, Known) or (isinstance(num, int) and num < 0):
        return None
    b, lanes = f.b, Lanes(f.b)
    if not isinstance(num, int):
        f.guard(b.value(f"icmp ult i64 {num}, {2**40}"), operation)
    first, last = (lanes.cast(n.parts, n.dtype, FLOAT)[0] for n in ends if n is not None)
    element = between(f, first, last, num, bool(endpoint.value))
    return by_rule(f, operation, FLOAT, (num,), element, cost=6)


def between(
    f: FunctionLowering, first: str, last: str, num: Any, endpoint: bool
) -> Callable[[Lanes, list[str]], tuple[str, ...]]:
    """The rule of the numbers that `np.linspace` gives."""
    b, lanes = f.b, Lanes(f.b)
    count: Any = f.plus(num, -1 if endpoint else 0)
    parts = (
        max(count, 1) if isinstance(count, int) else b.call("i64", "llvm.smax.i64", f"i64 {count}", "i64 1")
    )
    divisor = lanes.cast((str(parts),), INT, FLOAT)[0]
    delta = b.value(f"fsub double {last}, {first}")
    step = b.value(f"fdiv double {delta}, {divisor}")
    nothing = b.value(f"fcmp oeq double {step}, 0.0")
    factor = b.value(f"select i1 {nothing}, double {delta}, double {step}")
    divide = b.value(f"select i1 {nothing}, double {divisor}, double 1.0")
    goal = count
    if not isinstance(num, int):
        one = b.value(f"icmp eq i64 {num}, 1")
        goal = b.value(f"select i1 {one}, i64 -1, i64 {count}")

    def element(lanes: Lanes, index: list[str]) -> tuple[str, ...]:
        i = line(lanes, index[0])
        x = lanes.cast((i,), INT, FLOAT)[0]
        x = lanes.op("fdiv", "double", x, lanes.splat(divide, "double"))
        x = lanes.op("fmul", "double", x, lanes.splat(factor, "double"))
        x = lanes.op("fadd", "double", x, lanes.splat(first, "double"))
        if not endpoint or (isinstance(num, int) and num < 2):
            return (x,)
        at_end = lanes.compare("eq", INT, i, lanes.splat(str(goal), "i64"))
        return (lanes.select(at_end, "double", lanes.splat(last, "double"), x),)

    return element


# -- matrices of a pattern -----------------------------------------------------------------------------------


def _sides(
    f: FunctionLowering, operation: Operation, given: dict[str, Any], names: str
) -> tuple[Any, Any] | None:
    rows_name, columns_name = names.split()
    rows = arrays._shape_values(f, operation, given[rows_name])
    other = given.get(columns_name)
    columns = rows if other is None or (isinstance(other, Known) and other.value is None) else None
    columns = columns or arrays._shape_values(f, operation, other)
    if rows is None or columns is None or len(rows) != 1 or len(columns) != 1:
        return None
    return rows[0], columns[0]


@rule("np.eye", "np.identity", "np.tri")
def eye(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("n dtype" if operation.name == "np.identity" else "N M k dtype", args, options)
    if t is None or given is None or not given:
        return None
    sides = _sides(f, operation, given, "n m" if "n" in given else "N M")
    k = whole_number(f, given.get("k", Known(0)))
    if sides is None or not isinstance(k, int):
        return None
    kind = register(t.dtype)
    one, zero = f.literal(1, t.dtype), f.literal(0, t.dtype)
    predicate = "le" if operation.name == "np.tri" else "eq"

    def element(lanes: Lanes, index: list[str]) -> tuple[str, ...]:
        diagonal = lanes.splat(str(f.plus(as_operand(index[0]), k)), "i64")
        test = lanes.compare(predicate, INT, line(lanes, index[1]), diagonal)
        pairs = zip(one, zero)
        return tuple(lanes.select(test, kind, *(lanes.constant(x, kind) for x in pair)) for pair in pairs)

    return by_rule(f, operation, t.dtype, sides, element)


def can_be_vector(v: Any, dims: tuple[Any, ...]) -> bool:
    """Whether a value can be read in vectors along the last axis of these dimensions."""
    if arrays.width_for(v, v.dtype) == 1:
        return False
    for x in [*arrays.leaves_of(v), *arrays.maps_of(v)]:
        own = arrays.dims_of(x)
        if own and own[-1] != dims[-1]:
            return False
        if own and isinstance(x, Memory) and x.strides[-1] != x.dtype.itemsize:
            return False
    return True


@rule("np.tril", "np.triu")
def triangle(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("m k", args, options)
    x = as_array(f, given.get("m")) if given else None
    if t is None or x is None or given is None or len(arrays.dims_of(x)) != 2 or not arrays.in_order(x):
        return None
    k = whole_number(f, given.get("k", Known(0)))
    if not isinstance(k, int):
        return None
    x = arrays._in_memory(f, x)
    dims = arrays.dims_of(x)
    kind, zero = register(t.dtype), f.literal(0, t.dtype)
    lower = operation.name == "np.tril"

    def element(lanes: Lanes, index: list[str]) -> tuple[str, ...]:
        diagonal = lanes.splat(str(f.plus(as_operand(index[0]), k)), "i64")
        test = lanes.compare("le" if lower else "ge", INT, line(lanes, index[1]), diagonal)
        parts = arrays.evaluate(f, lanes, x, index, dims)
        return tuple(lanes.select(test, kind, p, lanes.constant(z, kind)) for p, z in zip(parts, zero))

    return by_rule(f, operation, t.dtype, dims, element, (x,), can_be_vector(x, dims), 3)


def is_only_read(f: FunctionLowering, t: Tensor) -> bool:
    """Whether a view has one use, which reads it."""
    user = f.users.get(id(t))
    if user is None or user.op is None or f.uses.get(id(t)) != 1:
        return False
    return not user.op.effects(user.args, user.kwargs) & {"writes", "view", "host", "effect"}


@rule("np.diag", "np.diagonal", "ndarray.diagonal")
def diagonal(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    x = as_array(f, args[0]) if args else None
    if t is None or x is None or options or len(args) > 2:
        return None
    k = whole_number(f, args[1]) if len(args) > 1 else 0
    if not isinstance(k, int):
        return None
    m = arrays.memory(f, x)
    if len(m.dims) == 1 and operation.name == "np.diag":
        side = f.plus(m.dims[0], abs(k))
        target = arrays.allocate(f, t.dtype, (side, side), operation)
        arrays.fill(f, target, Number(Scalar(t.dtype), t.dtype, f.literal(0, t.dtype)))
        offset = f.times(target.strides[1] if k >= 0 else target.strides[0], abs(k))
        step = f.plus(target.strides[0], target.strides[1])
        arrays.fill(f, Memory(t.dtype, f.at(target.data, offset), m.dims, (step,)), m)
        return target
    if len(m.dims) != 2 or not all(isinstance(d, int) for d in m.dims):
        return None
    if id(out) in f.plan.objects or not (f.is_private(out) or is_only_read(f, out)):
        return None  # NumPy's may not be written
    rows, columns = (int(d) for d in m.dims)
    length = max(min(rows, columns - k) if k >= 0 else min(rows + k, columns), 0)
    offset = f.times(m.strides[1] if k >= 0 else m.strides[0], abs(k)) if length else 0
    step = f.plus(*m.strides)
    return Memory(m.dtype, f.at(m.data, offset), (length,), (step,), m.slot, False, False, m.root, m.aligned)


@rule("np.outer", "np.linalg.outer")
def outer(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    if t is None or len(args) != 2 or options:
        return None
    sides = [as_array(f, a) for a in args]
    if any(s is None or len(arrays.dims_of(s)) != 1 for s in sides):
        return None
    a, b = (arrays.memory(f, s) for s in sides)
    found = arrays.resolve("multiply", [a, b])
    if found is None or found[-1] != t.dtype:
        return None
    column = replace(a, dims=(a.dims[0], 1), strides=(a.strides[0], 0), contiguous=False)
    row = replace(b, dims=(1, b.dims[0]), strides=(0, b.strides[0]), contiguous=False)
    return arrays.build(f, operation, arrays.Map("multiply", tuple(found[:-1]), found[-1]), [column, row])


# -- rearrangements ------------------------------------------------------------------------------------------


def part(m: Memory, dims: tuple[Any, ...], strides: tuple[Any, ...], data: str = "") -> Memory:
    """Elements of an array, seen with other dimensions and strides."""
    return replace(
        m, data=data or m.data, dims=dims, strides=strides, is_object=False, contiguous=False, ordered=False
    )


@rule("np.flip", "np.flipud", "np.fliplr")
def flip(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("m axis", args, options)
    x = as_array(f, given["m"]) if given else None
    if given is None or x is None:
        return None
    m = arrays.memory(f, x)
    rank = len(m.dims)
    try:
        axis = {"np.flipud": 0, "np.fliplr": 1}.get(operation.name, known(given, "axis", None))
    except KeyError:
        return None
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not rank:
        return None
    if axes == (None,):
        axes = tuple(range(rank))
    if not all(type(a) is int and -rank <= a < rank for a in axes):
        return None
    chosen = {a % rank for a in axes}
    offset: Any = 0
    strides = list(m.strides)
    for a in chosen:
        offset = f.plus(offset, f.times(f.plus(m.dims[a], -1), m.strides[a]))
        strides[a] = f.times(m.strides[a], -1)
    return part(m, m.dims, tuple(strides), f.at(m.data, offset))


@rule("np.roll")
def roll(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a shift axis", args, options)
    x = as_array(f, given["a"]) if given else None
    if given is None or x is None or not arrays.dims_of(x) or not arrays.in_order(x):
        return None
    rank = len(arrays.dims_of(x))
    try:
        axis = known(given, "axis", None)
    except KeyError:
        return None
    shift = given["shift"]
    shifts = list(shift.items) if isinstance(shift, Tuple) else [shift]
    if isinstance(shift, Known) and isinstance(shift.value, tuple):
        shifts = [Known(s) for s in shift.value]
    elif isinstance(shift, tuple):
        shifts = list(shift)
    steps = [whole_number(f, s) for s in shifts]
    if any(s is None for s in steps):
        return None
    m = arrays.memory(f, x)
    if axis is None:
        if len(steps) != 1 or not (m.contiguous or rank == 1):
            return None
        flat = m if rank == 1 else part(m, (size_of(f, m.dims),), (m.dtype.itemsize,))
        target = arrays.allocate(f, m.dtype, m.dims, operation)
        _rolled(f, flat, part(target, flat.dims, (m.dtype.itemsize,)), 0, steps[0])
        return target
    axes = axis if isinstance(axis, tuple) else (axis,)
    if len(steps) != len(axes) or not all(type(a) is int and -rank <= a < rank for a in axes):
        return None
    for a, s in zip(axes, steps):
        target = arrays.allocate(f, m.dtype, m.dims, operation)
        _rolled(f, m, target, a % rank, s)
        m = target
    return m


def _rolled(f: FunctionLowering, m: Memory, target: Memory, axis: int, shift: Any) -> None:
    """Two copies: the last `shift` places come first."""
    n = m.dims[axis]
    if isinstance(n, int) and isinstance(shift, int):
        split: Any = shift % n if n else 0
    elif isinstance(n, int) and n == 0:
        split = 0
    else:
        b = f.b
        safe = n if isinstance(n, int) else b.call("i64", "llvm.smax.i64", f"i64 {n}", "i64 1")
        rest = b.value(f"srem i64 {shift}, {safe}")
        negative = b.value(f"icmp slt i64 {rest}, 0")
        split = b.value(f"select i1 {negative}, i64 {b.value(f'add i64 {rest}, {safe}')}, i64 {rest}")
    keep = n - split if isinstance(n, int) and isinstance(split, int) else f.b.value(f"sub i64 {n}, {split}")

    def piece(whole: Memory, start: Any, size: Any) -> Memory:
        dims = (*whole.dims[:axis], size, *whole.dims[axis + 1 :])
        return part(whole, dims, whole.strides, f.at(whole.data, f.times(whole.strides[axis], start)))

    arrays.fill(f, piece(target, split, keep), piece(m, 0, keep))
    if not (isinstance(split, int) and split == 0):
        arrays.fill(f, piece(target, 0, split), piece(m, keep, split))


@rule("np.repeat", "ndarray.repeat")
def repeat(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a repeats axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or not arrays.dims_of(x):
        return None
    axis = given.get("axis", Known(None))
    count = arrays._shape_values(f, operation, given.get("repeats"))
    if not isinstance(axis, Known) or count is None or len(count) != 1:
        return None
    m = arrays.memory(f, x)
    rank = len(m.dims)
    if axis.value is None:
        if rank > 1 and not m.contiguous:
            return None
        m = m if rank == 1 else part(m, (size_of(f, m.dims),), (m.dtype.itemsize,))
        at, rank = 0, 1
    elif type(axis.value) is int and -rank <= axis.value < rank:
        at = axis.value % rank
    else:
        return None
    k = count[0]
    dims = (*m.dims[:at], f.times(m.dims[at], k), *m.dims[at + 1 :])
    target = arrays.allocate(f, m.dtype, dims, operation)
    wide = (*m.dims[: at + 1], k, *m.dims[at + 1 :])
    s = target.strides
    steps = (*s[:at], f.times(s[at], k), s[at], *s[at + 1 :])
    source = part(
        m, (*m.dims[: at + 1], 1, *m.dims[at + 1 :]), (*m.strides[: at + 1], 0, *m.strides[at + 1 :])
    )
    arrays.fill(f, part(target, wide, steps), source)
    return target


@rule("np.tile")
def tile(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("A reps", args, options)
    x = as_array(f, given.get("A")) if given else None
    if given is None or x is None or not arrays.dims_of(x):
        return None
    counts = arrays._shape_values(f, operation, given.get("reps"))
    if counts is None:
        return None
    m = arrays.memory(f, x)
    rank = max(len(counts), len(m.dims))
    reps = (1,) * (rank - len(counts)) + counts
    own = (1,) * (rank - len(m.dims)) + m.dims
    steps = (0,) * (rank - len(m.dims)) + m.strides
    target = arrays.allocate(f, m.dtype, tuple(f.times(r, d) for r, d in zip(reps, own)), operation)
    wide, goal, dims, strides = [], [], [], []
    for r, d, s, g in zip(reps, own, steps, target.strides):
        wide += [r, d]
        goal += [f.times(g, d), g]
        dims += [1, d]
        strides += [0, s]
    arrays.fill(f, part(target, tuple(wide), tuple(goal)), part(m, tuple(dims), tuple(strides)))
    return target


@rule("np.pad")
def pad(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("array pad_width mode constant_values", args, options)
    x = as_array(f, given.get("array")) if given else None
    if given is None or x is None or t is None or not arrays.in_order(x):
        return None
    try:
        mode, widths = known(given, "mode", "constant"), known(given, "pad_width", None)
    except KeyError:
        return None
    value = numbered(f, given.get("constant_values", Known(0)))
    if mode != "constant" or value is None or (value.dtype.kind in "fc" and t.dtype.kind in "iub"):
        return None
    if value.dtype.kind == "c" and t.dtype.kind != "c":
        return None
    rank = len(arrays.dims_of(x))
    try:
        sizes = np.broadcast_to(np.asarray(widths), (rank, 2)).tolist()
    except ValueError:
        return None
    if not all(type(w) is int and w >= 0 for pair in sizes for w in pair):
        return None
    m = arrays.memory(f, x)
    dims = tuple(f.plus(d, before + after) for d, (before, after) in zip(m.dims, sizes))
    target = arrays.allocate(f, t.dtype, dims, operation)
    arrays.fill(f, target, arrays.convert(f, operation, value, t.dtype))
    offset: Any = 0
    for (before, _), s in zip(sizes, target.strides):
        offset = f.plus(offset, f.times(s, before))
    arrays.fill(f, part(target, m.dims, target.strides, f.at(target.data, offset)), m)
    return target


@rule("np.diff")
def diff(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("a n axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or t is None or not arrays.dims_of(x) or x.dtype.kind == "b":
        return None
    try:
        n, axis = known(given, "n", 1), known(given, "axis", -1)
    except KeyError:
        return None
    m = arrays.memory(f, x)
    rank = len(m.dims)
    if n != 1 or type(axis) is not int or not -rank <= axis < rank:
        return None
    at = axis % rank
    size = m.dims[at]
    less: Any = max(size - 1, 0) if isinstance(size, int) else _less(f, size)
    dims = (*m.dims[:at], less, *m.dims[at + 1 :])
    low = replace(part(m, dims, m.strides), ordered=arrays.in_order(m))
    high = replace(low, data=f.at(m.data, m.strides[at]))
    return arrays.build(f, operation, arrays.Map("subtract", (t.dtype,) * 2, t.dtype), [high, low])


def _less(f: FunctionLowering, size: Any) -> str:
    return f.b.call("i64", "llvm.smax.i64", f"i64 {f.plus(size, -1)}", "i64 0")


@rule("np.meshgrid")
def meshgrid(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    if id(operation.outputs[0]) in f.plan.objects or set(options) - {"indexing"} or not args:
        return None
    indexing = options.get("indexing", Known("xy"))
    sides = [as_array(f, a) for a in args]
    if not isinstance(indexing, Known) or indexing.value not in ("xy", "ij"):
        return None
    if any(s is None or len(arrays.dims_of(s)) != 1 for s in sides):
        return None
    memories = [arrays.memory(f, s) for s in sides]
    places = list(range(len(sides)))
    if indexing.value == "xy" and len(sides) > 1:
        places[:2] = [1, 0]
    dims: list[Any] = [1] * len(sides)
    for m, p in zip(memories, places):
        dims[p] = m.dims[0]
    results = []
    for m, p in zip(memories, places):
        target = arrays.allocate(f, m.dtype, tuple(dims), operation)
        shape = tuple(m.dims[0] if a == p else 1 for a in range(len(dims)))
        strides = tuple(m.strides[0] if a == p else 0 for a in range(len(dims)))
        arrays.fill(f, target, part(m, shape, strides))
        results.append(target)
    return Tuple(tuple(results))


@rule("np.broadcast_to")
def broadcast_to(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    x = as_array(f, args[0]) if len(args) == 2 and not options else None
    if t is None or x is None or t.shape is None or None in t.shape:
        return None
    if not f.is_private(out):
        return None  # NumPy's may not be written
    m = arrays.memory(f, x)
    extra = len(t.shape) - len(m.dims)
    if extra < 0 or not all(isinstance(d, int) for d in m.dims):
        return None
    own = (1,) * extra + m.dims
    steps = (0,) * extra + m.strides
    strides = tuple(0 if d != whole else s for d, whole, s in zip(own, t.shape, steps))
    return part(m, tuple(int(d) for d in t.shape if d is not None), strides)


# -- other shapes --------------------------------------------------------------------------------------------


@rule("ndarray.squeeze", "np.squeeze", "ndarray.swapaxes", "np.swapaxes", "np.moveaxis")
def axes_rearranged(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    """Views with other axes: NumPy itself says, for an array of these strides, which."""
    x = as_array(f, args[0]) if args else None
    try:
        rest, named = [constant(a) for a in args[1:]], {k: constant(v) for k, v in options.items()}
    except KeyError:
        return None
    if x is None:
        return None
    m = arrays.memory(f, x)
    if not all(isinstance(d, int) for d in m.dims):
        return None
    name = operation.name.split(".")[1]
    sample = np.lib.stride_tricks.as_strided(
        np.zeros(1, np.int8), [int(d) for d in m.dims], [8 * (i + 1) for i in range(len(m.dims))]
    )
    try:
        seen = getattr(np, name)(sample, *rest, **named)
    except (ValueError, TypeError):
        return None
    strides = tuple(m.strides[s // 8 - 1] for s in seen.strides)
    if not seen.shape and name == "squeeze":
        return None
    if len(seen.shape) == len(m.dims) and name == "squeeze":
        return m if isinstance(x, Lazy) else x
    same = m.contiguous and name == "squeeze"
    result = part(m, seen.shape, strides)
    return replace(result, contiguous=same, ordered=same or (arrays.in_order(m) and name == "squeeze"))


@rule("ndarray.flatten")
def flatten(f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any) -> Value | None:
    x = as_array(f, x)
    if x is None or args or options:
        return None
    if isinstance(x, Elements) and f.is_pure(operation.outputs[0]):
        return Elements(x.dtype, (math.prod(x.shape),), x.items)
    dims = arrays.dims_of(x)
    target = arrays.allocate(f, x.dtype, (size_of(f, dims),), operation)
    arrays.fill(f, part(target, dims, f.contiguous_strides(dims, x.dtype.itemsize)), x)
    return target


from autograph.compiler import grids  # noqa: E402, F401 - it registers its rules
