"""Small methods of arrays and numbers, and Python's builtins over arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from autograph.compiler import arrays, indexing, numbers, reductions
from autograph.compiler.creation import arguments, as_array, known, numbered, whole_number
from autograph.compiler.elementwise import ELEMENT, Lanes, divmod_float
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.reducing import _is_better
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Tuple,
    Value,
    array_type,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation
from autograph.graph.types import Py, TupleT

INT, FLOAT, BOOL = np.dtype(np.int64), np.dtype(float), np.dtype(bool)


# -- builtins over arrays ------------------------------------------------------------------------------------


@rule("sum")
def total(f: FunctionLowering, operation: Operation, x: Any, start: Any = None) -> Value | None:
    """Python's sum: one after the other."""
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    first = numbered(f, Known(0) if start is None else start)
    if dtype is None or first is None or dtype.kind == "c":
        return None
    if isinstance(x, Tuple) and isinstance(out, Py):
        return _of_numbers(f, operation, [*x.items], first)
    x = as_array(f, x)
    if (
        x is None
        or len(arrays.dims_of(x)) != 1
        or not (x.dtype == dtype or (x.dtype == BOOL and dtype == INT))
    ):
        return None
    if (not first.weak and first.dtype != dtype) or (first.dtype.kind == "f" and dtype.kind != "f"):
        return None
    b, lanes, kind = f.b, Lanes(f.b), register(dtype)
    place = b.alloca(kind, 8)
    b.emit(f"store {kind} {arrays.convert(f, operation, first, dtype).ir}, ptr {place}")
    x = arrays._in_memory(f, x)

    def add(i: str) -> None:
        new = lanes.cast(arrays.evaluate(f, lanes, x, [i], arrays.dims_of(x)), x.dtype, dtype)
        old = b.value(f"load {kind}, ptr {place}")
        b.emit(f"store {kind} {ELEMENT['add'](lanes, dtype, (old,), new)[0]}, ptr {place}")

    arrays.count_loop(f, 0, arrays.dims_of(x)[0], 1, add)
    return Number(out, dtype, (b.value(f"load {kind}, ptr {place}"),))


def _of_numbers(f: FunctionLowering, operation: Operation, items: list[Any], first: Number) -> Value | None:
    out = operation.outputs[0]._ag_type
    assert isinstance(out, Py)
    if out.cls not in (int, float) or (out.cls is float and sys.version_info >= (3, 12)):
        return None  # sums of floats are compensated
    whole: list[Any] = [numbered(f, i) for i in items]
    if any(n is None or n.type != out for n in whole):
        return None
    result: Any = first
    for n in whole:
        result = numbers.python_arithmetic(f, operation, "add", result, n)
        if result is None:
            return None
    return result if isinstance(result, Number) else None


@rule("any", "all")
def some(f: FunctionLowering, operation: Operation, x: Any) -> Value | None:
    x = as_array(f, x)
    if x is None or len(arrays.dims_of(x)) != 1:
        return None
    return reductions.reduce(f, operation, operation.name, x, {0}, BOOL, False, True)


def extremum(f: FunctionLowering, operation: Operation, x: Any) -> Value | None:
    """min(x) or max(x) of a one-dimensional array, as Python compares."""
    out = operation.outputs[0]._ag_type
    x = as_array(f, x)
    if x is None or len(arrays.dims_of(x)) != 1 or scalar_dtype(out) != x.dtype or x.dtype.kind == "c":
        return None
    b, lanes, kind = f.b, Lanes(f.b), register(x.dtype)
    n = arrays.dims_of(x)[0]
    if n == 0:
        return None
    if not isinstance(n, int):
        f.guard(b.value(f"icmp ne i64 {n}, 0"), operation)
    x = arrays._in_memory(f, x)
    place = b.alloca(kind, 8)
    f.evaluated.clear()
    b.emit(f"store {kind} {arrays.evaluate(f, lanes, x, ['0'], (n,))[0]}, ptr {place}")

    def compare(i: str) -> None:
        new = arrays.evaluate(f, lanes, x, [i], (n,))[0]
        old = b.value(f"load {kind}, ptr {place}")
        if x.dtype.kind == "f":
            better = lanes.compare("lt" if operation.name == "min" else "gt", x.dtype, new, old)
        else:
            better = _is_better(lanes, x.dtype, new, old, operation.name == "max")
        b.emit(f"store {kind} {lanes.select(better, kind, new, old)}, ptr {place}")

    arrays.count_loop(f, 1, n, 1, compare)
    return Number(out, x.dtype, (b.value(f"load {kind}, ptr {place}"),))


@rule("divmod")
def quotient_and_rest(f: FunctionLowering, operation: Operation, x: Any, y: Any) -> Value | None:
    out = operation.outputs[0]
    p, q = numbered(f, x), numbered(f, y)
    t = out._ag_type
    if p is None or q is None or not isinstance(t, TupleT) or id(out) in f.plan.objects:
        return None
    kinds = p.dtype.kind + q.dtype.kind
    if "c" in kinds:
        return None
    first, second = t.items
    if not (p.weak and q.weak):
        return _divided(f, operation, [p, q], t)
    if set(kinds) <= {"i", "b"}:
        a, c = numbers._as_int(f, p), numbers._as_int(f, q)

        def number(ir: str, low: int | None = None, high: int | None = None) -> Number:
            return Number(first, INT, (ir,), low, high)

        if c.low is None or c.low <= 0:  # both or neither: what divmod itself raises
            lowest = f.b.value(f"icmp eq i64 {a.ir}, {-(2**63)}")
            minus = f.b.value(f"icmp eq i64 {c.ir}, -1")
            f.guard(f.b.value(f"xor i1 {f.b.value(f'and i1 {lowest}, {minus}')}, true"), operation)
        parts = [numbers._integer_division(f, operation, n, a, c, number) for n in ("floordiv", "mod")]
        return Tuple(tuple(parts))
    a1, c1 = numbers._double(f, p), numbers._double(f, q)
    f.guard(f.b.value(f"fcmp une double {c1}, 0.0"), operation)
    pair = divmod_float(Lanes(f.b), FLOAT, a1, c1)
    return Tuple((Number(first, FLOAT, (pair[0],)), Number(second, FLOAT, (pair[1],))))


def _divided(f: FunctionLowering, operation: Operation, numbers: list[Number], t: TupleT) -> Value | None:
    """divmod of numbers of which one is NumPy's."""
    found = arrays.resolve("floor_divide", numbers)
    if found is None or found != arrays.resolve("remainder", numbers) or len(set(found)) > 1:
        return None
    dtype = found[0]
    if dtype.kind not in "iuf" or any(scalar_dtype(i) != dtype for i in t.items):
        return None
    sides = [arrays.convert(f, operation, n, dtype).parts for n in numbers]
    parts = [ELEMENT[name](Lanes(f.b), dtype, *sides) for name in ("floor_divide", "remainder")]
    return Tuple(tuple(Number(i, dtype, p) for i, p in zip(t.items, parts)))


# -- methods -------------------------------------------------------------------------------------------------


@rule("ndarray.item")
def item(f: FunctionLowering, operation: Operation, x: Any, *args: Any) -> Value | None:
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if args or not isinstance(x, Number) or x.weak or dtype is None or not isinstance(out, Py):
        return None
    if x.dtype.kind == "u" and x.dtype.itemsize == 8:
        return None
    return Number(out, dtype, Lanes(f.b).cast(x.parts, x.dtype, dtype))


@rule("ndarray.fill")
def fill(f: FunctionLowering, operation: Operation, x: Any, value: Any) -> Value | None:
    n = numbered(f, value)
    if not isinstance(x, Memory) or n is None or (n.dtype.kind == "f" and x.dtype.kind in "iu"):
        f.flush()
        return None
    if not n.weak and n.dtype != x.dtype:
        return None
    if not arrays.writeable(f, operation, x):
        f.flush()
        return None
    return arrays.assign(f, operation, x, Known(Ellipsis), n)


@rule("np.round", "np.around", "ndarray.round")
def rounded(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    """To a number of decimals: scaled, rounded, scaled back, as NumPy does it."""
    given = arguments("a decimals", args, options)
    if given is None or "a" not in given:
        return None
    x: Any = as_array(f, given["a"]) or numbered(f, given["a"])
    decimals = whole_number(f, given.get("decimals", Known(0)))
    out = operation.outputs[0]._ag_type
    t = array_type(out)
    dtype = t.dtype if t is not None else scalar_dtype(out)
    if x is None or not isinstance(decimals, int) or abs(decimals) > 22 or dtype is None or dtype.kind != "f":
        return None
    if x.dtype != dtype or (isinstance(x, Number) and (x.weak or t is not None)):
        return None
    scale = Number(operation.outputs[0]._ag_type, dtype, f.literal(10.0 ** abs(decimals), dtype))
    names = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    if isinstance(x, Number):
        lanes, parts = Lanes(f.b), x.parts
        parts = ELEMENT[names[0]](lanes, dtype, parts, scale.parts) if decimals else parts
        parts = ELEMENT["rint"](lanes, dtype, parts)
        return Number(out, dtype, ELEMENT[names[1]](lanes, dtype, parts, scale.parts) if decimals else parts)
    dims = arrays.dims_of(x)
    if not decimals:
        return arrays.build(f, operation, arrays.Map("rint", (dtype,), dtype), [x])
    if not arrays.in_order(x):
        return None
    pair = (dtype, dtype)
    inner = Lazy(dtype, dims, arrays.Map(names[0], pair, dtype), (x, scale), 4)
    whole = Lazy(dtype, dims, arrays.Map("rint", (dtype,), dtype), (inner,), 5)
    source: Any = arrays.elements(f, whole) if isinstance(x, Elements) else whole
    return arrays.build(f, operation, arrays.Map(names[1], pair, dtype), [source, scale])


@rule("np.take", "ndarray.take")
def take(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a indices axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None:
        return None
    indices = as_array(f, given.get("indices"))
    try:
        axis = known(given, "axis", None)
    except KeyError:
        return None
    if indices is None or indices.dtype.kind not in "iu" or not arrays.dims_of(indices):
        return None
    if axis != 0 and not (len(arrays.dims_of(x)) == 1 and axis in (None, -1)):
        return None
    if not all(arrays.in_order(v) for v in (x, indices)):
        return None
    return indexing.get_item(f, operation, x, (indices,))
