"""Reductions of reductions: variances, positions of extrema, running sums, sums of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compiler import arrays, parallel, reductions
from autograph.compiler.creation import arguments, as_array, known, part, whole_number
from autograph.compiler.elementwise import ELEMENT, Lanes
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Value,
    array_type,
    register,
    scalar_dtype,
)
from autograph.compiler.values import part as real_part
from autograph.graph.graph import Operation
from autograph.graph.types import Scalar
from autograph.records import replace

INT, BOOL = np.dtype(np.int64), np.dtype(bool)
WIDTH = 8


def axes_of(axis: Any, rank: int) -> set[int] | None:
    """The axes that an argument names, None where it names none."""
    given = axis if isinstance(axis, tuple) else tuple(range(rank)) if axis is None else (axis,)
    if not all(type(a) is int and -rank <= a < rank for a in given):
        return None
    return {a % rank for a in given}


# -- variances -----------------------------------------------------------------------------------------------


@rule("np.std", "np.var", "ndarray.std", "ndarray.var")
def variance(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    """The mean of the squared distances from the mean, in two passes."""
    given = arguments("a axis dtype out ddof keepdims", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or "dtype" in given or "out" in given or x.dtype.kind == "c":
        return None
    try:
        axis, keep = known(given, "axis", None), known(given, "keepdims", False)
    except KeyError:
        return None
    ddof = whole_number(f, given.get("ddof", Known(0)))
    dims = arrays.dims_of(x)
    axes = axes_of(axis, len(dims))
    out = operation.outputs[0]._ag_type
    t, dtype = array_type(out), scalar_dtype(out)
    dtype = t.dtype if t is not None else dtype
    if dtype is None or dtype.kind != "f" or not axes or not isinstance(ddof, int) or type(keep) is not bool:
        return None
    if t is None and len(axes) != len(dims):
        return None
    if len(dims) - len(axes) > 1 and not arrays.in_order(x):
        return None
    scalar = t is None
    x = x if isinstance(x, Elements) else arrays.memory(f, x)
    if x.dtype != dtype:
        x = arrays.materialize(f, Lazy(dtype, dims, arrays.Map("astype", (dtype,), dtype), (x,), 1))
    mean = reductions.reduce(f, operation, "mean", x, axes, dtype, True, scalar)
    if mean is None:
        return None
    distance = _lazy("subtract", dtype, dims, x, mean)
    squares: Any = _lazy("multiply", dtype, dims, distance, distance)
    if isinstance(x, Elements):
        squares = arrays.elements(f, squares)
    total = reductions.reduce(f, operation, "sum", squares, axes, dtype, keep, scalar)
    count: Any = f.plus(_size(f, dims, axes), -ddof)
    count = (
        max(count, 0) if isinstance(count, int) else f.b.call("i64", "llvm.smax.i64", f"i64 {count}", "i64 0")
    )
    n = Number(Scalar(dtype), dtype, Lanes(f.b).cast((str(count),), INT, dtype))
    if total is None:
        return None
    root = operation.name.endswith("std")
    if isinstance(total, Number):
        parts = ELEMENT["divide"](Lanes(f.b), dtype, total.parts, n.parts)
        return Number(out, dtype, ELEMENT["sqrt"](Lanes(f.b), dtype, parts) if root else parts)
    result = _lazy("divide", dtype, arrays.dims_of(total), total, n)
    result = Lazy(dtype, result.dims, arrays.Map("sqrt", (dtype,), dtype), (result,), 8) if root else result
    return arrays.elements(f, result) if isinstance(total, Elements) else arrays.materialize(f, result)


def _lazy(name: str, dtype: np.dtype[Any], dims: tuple[Any, ...], *args: Any) -> Lazy:
    return Lazy(dtype, dims, arrays.Map(name, (dtype,) * len(args), dtype), args, 4)


def _size(f: FunctionLowering, dims: tuple[Any, ...], axes: set[int]) -> Any:
    count: Any = 1
    for a in sorted(axes):
        count = f.times(count, dims[a])
    return count


@rule("np.ptp")
def ptp(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or x.dtype.kind not in "fiu":
        return None
    try:
        axes = axes_of(known(given, "axis", None), len(arrays.dims_of(x)))
    except KeyError:
        return None
    out = operation.outputs[0]._ag_type
    t = array_type(out)
    if not axes or (t is None and len(axes) != len(arrays.dims_of(x))):
        return None
    x = x if isinstance(x, Elements) else arrays.memory(f, x)
    ends = [reductions.reduce(f, operation, n, x, axes, x.dtype, False, t is None) for n in ("max", "min")]
    if any(e is None for e in ends):
        return None
    high, low = ends
    if isinstance(high, Number) and isinstance(low, Number):
        return Number(out, x.dtype, ELEMENT["subtract"](Lanes(f.b), x.dtype, high.parts, low.parts))
    return arrays.build(f, operation, arrays.Map("subtract", (x.dtype,) * 2, x.dtype), ends)


@rule("np.trace", "ndarray.trace")
def trace(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    dtype = scalar_dtype(operation.outputs[0]._ag_type)
    x = as_array(f, args[0]) if len(args) == 1 and not options else None
    if dtype is None or x is None or x.dtype.kind == "c" or len(arrays.dims_of(x)) != 2:
        return None
    m = arrays.memory(f, x)
    rows, columns = m.dims
    if isinstance(rows, int) and isinstance(columns, int):
        length: Any = min(rows, columns)
    else:
        length = f.b.call("i64", "llvm.smin.i64", f"i64 {rows}", f"i64 {columns}")
    line = part(m, (length,), (f.plus(*m.strides),))
    return reductions.reduce(f, operation, "sum", line, {0}, dtype, False, True)


def of_complex(
    f: FunctionLowering, operation: Operation, name: str, x: Any, axes: set[int], keep: bool, scalar: bool
) -> Value | None:
    """The sum or mean of complex numbers: of their parts."""
    if name not in ("sum", "mean"):
        return None
    real = real_part(x.dtype)
    m = arrays.memory(f, x)
    sums: list[Any] = []
    for at in (0, 1):
        view = arrays.part_view(f, m, at)
        sums.append(reductions.reduce(f, operation, "sum", view, axes, real, keep, scalar))
    if any(s is None for s in sums):
        return None
    wide, lanes = np.dtype(complex), Lanes(f.b)
    count = lanes.cast((str(_size(f, arrays.dims_of(m), axes)),), INT, wide)
    if scalar:
        parts: tuple[str, ...] = (sums[0].ir, sums[1].ir)
        if name == "mean":
            quotient = ELEMENT["divide"](lanes, wide, lanes.cast(parts, x.dtype, wide), count)
            parts = lanes.cast(quotient, wide, x.dtype)
        return Number(operation.outputs[0]._ag_type, x.dtype, parts)
    target = arrays.allocate(f, x.dtype, arrays.dims_of(sums[0]), operation)
    for at, s in enumerate(sums):
        goal = arrays.part_view(f, target, at)
        assert isinstance(goal, Memory)
        arrays.fill(f, goal, s)
    if name == "mean":  # a NaN or an infinity in one part is seen in the other
        n = Number(Scalar(wide), wide, count)
        arrays.fill(f, target, _lazy("divide", wide, target.dims, target, n))
    return target


# -- positions of extrema ------------------------------------------------------------------------------------


def _is_better(lanes: Lanes, dtype: np.dtype[Any], new: str, old: str, largest: bool) -> str:
    """Whether a value is the extremum in place of an earlier one: greater (or less), or the first NaN."""
    if dtype.kind == "b":
        first, second = (new, old) if largest else (old, new)
        return lanes.op("and", "i1", first, lanes.op("xor", "i1", second, lanes.constant("true", "i1")))
    better = lanes.compare("gt" if largest else "lt", dtype, new, old)
    if dtype.kind != "f":
        return better
    kind = lanes.type(register(dtype))
    nan = lanes.b.value(f"fcmp uno {kind} {new}, {new}")
    number = lanes.b.value(f"fcmp ord {kind} {old}, {old}")
    return lanes.op("or", "i1", better, lanes.op("and", "i1", nan, number))


@rule("ndarray.argmax", "ndarray.argmin", "np.argmax", "np.argmin")
def position(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or x.dtype.kind == "c" or not arrays.dims_of(x):
        return None
    try:
        axis = known(given, "axis", None)
    except KeyError:
        return None
    dims = arrays.dims_of(x)
    out = operation.outputs[0]._ag_type
    largest = operation.name.endswith("max")
    if axis is None and len(dims) > 1:
        x = arrays.memory(f, x)
        if not x.contiguous:
            return None
        dims = (_size(f, dims, set(range(len(dims)))),)
        x = part(x, dims, (x.dtype.itemsize,))
        axis = 0
    axis = 0 if axis is None else axis
    if type(axis) is not int or not -len(dims) <= axis < len(dims) or dims[axis] == 0:
        return None
    if not isinstance(dims[axis], int):
        f.guard(f.b.value(f"icmp ne i64 {dims[axis]}, 0"), operation)
    if len(dims) == 1:
        if scalar_dtype(out) is None:
            return None
        x = arrays._in_memory(f, x)
        n = f.times(arrays.cost_of(x, 1), dims[0])
        with parallel.unlocked(f, n):
            where = _along(f, x, [], 0, largest)
        return Number(out, INT, (where,), 0)
    return _positions(f, operation, arrays._in_memory(f, x), axis % len(dims), largest)


def _along(f: FunctionLowering, x: Any, index: list[str], axis: int, largest: bool) -> str:
    """The position of the extremum along an axis, at an index of the other axes."""
    b, dims = f.b, arrays.dims_of(x)
    n, dtype = dims[axis], x.dtype
    kind = register(dtype)

    def at(i: str) -> list[str]:
        return [*index[:axis], i, *index[axis:]]

    width = WIDTH if axis == len(dims) - 1 and arrays.width_for(x, dtype) > 1 else 1
    if isinstance(n, int) and n < 4 * WIDTH:
        width = 1
    read = [*arrays.leaves_of(x), *arrays.maps_of(x)]
    goal = Memory(dtype, "", dims, (0,) * (len(dims) - 1) + (dtype.itemsize,))
    if width > 1 and (arrays._vector_test(f, read, goal, dims) != "true" or not isinstance(n, int)):
        width = 1

    def run(lanes: Lanes, begin: Any, end: Any) -> tuple[str, str]:
        t, ints = lanes.type(kind), lanes.type("i64")
        best, where = b.alloca(t, 64), b.alloca(ints, 64)
        steps = ", ".join(f"i64 {k}" for k in range(lanes.width))
        own = f"<{steps}>" if lanes.width > 1 else "0"
        f.evaluated.clear()
        first = arrays.evaluate(f, lanes, x, at(str(begin)), dims)[0]
        b.emit(f"store {t} {first}, ptr {best}")
        start = lanes.op("add", "i64", own, lanes.splat(str(begin), "i64"))
        b.emit(f"store {ints} {start}, ptr {where}")

        def body(i: str) -> None:
            new = arrays.evaluate(f, lanes, x, at(i), dims)[0]
            old = b.value(f"load {t}, ptr {best}")
            better = _is_better(lanes, dtype, new, old, largest)
            b.emit(f"store {t} {lanes.select(better, kind, new, old)}, ptr {best}")
            before = b.value(f"load {ints}, ptr {where}")
            here = lanes.op("add", "i64", own, lanes.splat(i, "i64"))
            b.emit(f"store {ints} {lanes.select(better, 'i64', here, before)}, ptr {where}")

        arrays.count_loop(f, f.plus(begin, lanes.width), end, lanes.width, body)
        return b.value(f"load {t}, ptr {best}"), b.value(f"load {ints}, ptr {where}")

    if width == 1:
        return run(Lanes(b), 0, n)[1]
    whole = n - n % width
    vectors = Lanes(b, width)
    bests, wheres = run(vectors, 0, whole)
    candidates = [
        (
            b.value(f"extractelement {vectors.type(kind)} {bests}, i64 {k}"),
            b.value(f"extractelement {vectors.type('i64')} {wheres}, i64 {k}"),
        )
        for k in range(width)
    ]
    if whole < n:
        candidates.append(run(Lanes(b), whole, n))
    best, where = candidates[0]
    one = Lanes(b)
    for value, place in candidates[1:]:
        better = _is_better(one, dtype, value, best, largest)
        worse = _is_better(one, dtype, best, value, largest)
        equal = b.value(f"xor i1 {one.op('or', 'i1', better, worse)}, true")
        earlier = b.value(f"icmp ult i64 {place}, {where}")
        take = one.op("or", "i1", better, one.op("and", "i1", equal, earlier))
        best, where = one.select(take, kind, value, best), one.select(take, "i64", place, where)
    return where


def _positions(f: FunctionLowering, operation: Operation, x: Any, axis: int, largest: bool) -> Value:
    """Positions along one of several axes, as an array."""
    dims = arrays.dims_of(x)
    others = [d for a, d in enumerate(dims) if a != axis]
    target = arrays.allocate(f, INT, tuple(others), operation)
    if axis == len(dims) - 1:

        def row(lanes: Lanes, index: list[str]) -> None:
            arrays.store(f, Lanes(f.b), target, index, (_along(f, x, index, axis, largest),))

        arrays.nest(f, others, 1, row, f.times(arrays.cost_of(x, 1), dims[axis]))
        return target
    best = arrays.allocate(f, x.dtype, tuple(others), operation)
    kind = register(x.dtype)

    def at(index: list[str], i: str) -> list[str]:
        return [*index[:axis], i, *index[axis:]]

    def start(lanes: Lanes, index: list[str]) -> None:
        arrays.store(f, lanes, best, index, arrays.evaluate(f, lanes, x, at(index, "0"), dims))
        arrays.store(f, lanes, target, index, (lanes.constant("0", "i64"),))

    width = (
        WIDTH if arrays.width_for(x, x.dtype) > 1 and isinstance(dims[-1], int) and dims[-1] >= WIDTH else 1
    )
    read = [*arrays.leaves_of(x), *arrays.maps_of(x)]
    goal = Memory(x.dtype, "", dims, (0,) * (len(dims) - 1) + (x.dtype.itemsize,))
    if width > 1 and arrays._vector_test(f, read, goal, dims) != "true":
        width = 1
    arrays.nest(f, others, width, start)

    def turn(i: str) -> None:
        def body(lanes: Lanes, index: list[str]) -> None:
            new = arrays.evaluate(f, lanes, x, at(index, i), dims)[0]
            old = arrays.load(f, lanes, best, index)[0]
            better = _is_better(lanes, x.dtype, new, old, largest)
            arrays.store(f, lanes, best, index, (lanes.select(better, kind, new, old),))
            before = arrays.load(f, lanes, target, index)[0]
            here = lanes.select(better, "i64", lanes.splat(i, "i64"), before)
            arrays.store(f, lanes, target, index, (here,))

        arrays.nest(f, others, width, body)

    arrays.count_loop(f, 1, dims[axis], 1, turn)
    return target


# -- running sums --------------------------------------------------------------------------------------------


@rule("np.cumsum", "np.cumprod", "ndarray.cumsum", "ndarray.cumprod")
def running(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("a axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or t is None or not arrays.dims_of(x):
        return None
    try:
        axis = known(given, "axis", None)
    except KeyError:
        return None
    x = arrays._in_memory(f, x)
    dims = arrays.dims_of(x)
    if axis is None and len(dims) > 1:
        x = arrays.memory(f, x)
        if not x.contiguous:
            return None
        dims, axis = (_size(f, dims, set(range(len(dims)))),), 0
        x = part(x, dims, (x.dtype.itemsize,))
    axis = 0 if axis is None else axis
    if type(axis) is not int or not -len(dims) <= axis < len(dims) or not arrays.in_order(x):
        return None
    combine = "multiply" if operation.name.endswith("prod") else "add"
    if t.dtype.kind == "c" and combine == "multiply":
        return None
    target = arrays.allocate(f, t.dtype, dims, operation)
    _run(f, x, target, axis % len(dims), combine)
    return target


def _run(f: FunctionLowering, x: Any, target: Memory, axis: int, combine: str) -> None:
    b, dims, dtype = f.b, target.dims, target.dtype
    others = [d for a, d in enumerate(dims) if a != axis]

    def at(index: list[str], i: str) -> list[str]:
        return [*index[:axis], i, *index[axis:]]

    def value(lanes: Lanes, index: list[str]) -> tuple[str, ...]:
        return lanes.cast(arrays.evaluate(f, lanes, x, index, dims), x.dtype, dtype)

    if axis == len(dims) - 1:
        kind = register(dtype)
        start = f.literal(1 if combine == "multiply" else 0, dtype)
        if dtype.kind in "fc" and combine == "add":
            start = tuple(
                f.literal(-0.0, np.dtype(float if kind == "double" else np.float32))[0] for _ in start
            )

        def row(lanes: Lanes, index: list[str]) -> None:
            places = [b.alloca(kind, 8) for _ in start]
            for place, s in zip(places, start):
                b.emit(f"store {kind} {s}, ptr {place}")

            def step(i: str) -> None:
                one = Lanes(b)
                old = tuple(b.value(f"load {kind}, ptr {place}") for place in places)
                new = ELEMENT[combine](one, dtype, old, value(one, [*index, i]))
                for place, n in zip(places, new):
                    b.emit(f"store {kind} {n}, ptr {place}")
                arrays.store(f, one, target, [*index, i], new)

            arrays.count_loop(f, 0, dims[axis], 1, step)

        arrays.nest(f, others, 1, row, f.times(arrays.cost_of(x, 1) + 4, dims[axis]))
        return

    def first(lanes: Lanes, index: list[str]) -> None:
        arrays.store(f, lanes, target, at(index, "0"), value(lanes, at(index, "0")))

    some = replace(target)
    arrays.count_loop(f, 0, _at_most_one(f, dims[axis]), 1, lambda i: arrays.nest(f, others, 1, first))

    def turn(i: str) -> None:
        before = b.value(f"sub i64 {i}, 1")

        def body(lanes: Lanes, index: list[str]) -> None:
            old = arrays.load(f, lanes, some, at(index, before))
            new = ELEMENT[combine](lanes, dtype, old, value(lanes, at(index, i)))
            arrays.store(f, lanes, some, at(index, i), new)

        arrays.nest(f, others, 1, body)

    arrays.count_loop(f, 1, dims[axis], 1, turn)


def _at_most_one(f: FunctionLowering, d: Any) -> Any:
    return min(d, 1) if isinstance(d, int) else f.b.call("i64", "llvm.smin.i64", f"i64 {d}", "i64 1")
