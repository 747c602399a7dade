"""Arrays of other shapes: views where NumPy gives views, copies where nobody can tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograph.compiler import arrays
from autograph.compiler.creation import as_array, constant, part
from autograph.compiler.indexing import size_of
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import Elements, Known, Memory, Number, Tuple, Value, array_type
from autograph.graph.graph import Operation
from autograph.graph.types import Array
from autograph.records import replace

INT = np.dtype(np.int64)


@rule("ndarray.reshape", "np.reshape", "ndarray.ravel", "np.ravel", "np.expand_dims")
def reshape(f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    x = as_array(f, x)
    if t is None or x is None:
        return None
    name = operation.name.split(".")[1]
    if name == "expand_dims":
        return _expanded(f, x, args, options, t)
    if options or (name == "ravel" and args):
        return None
    if isinstance(x, Elements):
        return _of_elements(f, operation, x, t)
    if name == "ravel":
        total = size_of(f, arrays.dims_of(x))
        return _as(f, operation, x, (total,), True)
    dims = _asked(f, operation, arrays.dims_of(x), args, t)
    return None if dims is None else _as(f, operation, x, dims, False)


def _of_elements(f: FunctionLowering, operation: Operation, x: Elements, t: Array) -> Value | None:
    if t.shape is None or None in t.shape or not f.is_pure(operation.outputs[0]):
        return None
    return Elements(x.dtype, arrays._known_dims(t), x.items)


def _expanded(f: FunctionLowering, x: Any, args: tuple[Any, ...], options: Any, t: Array) -> Value | None:
    try:
        axis = constant(args[0] if args else options["axis"])
    except KeyError:
        return None
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = len(t.shape or ())
    if len(args) + len(options) != 1 or not all(type(a) is int and -rank <= a < rank for a in axes):
        return None
    new = {a % rank for a in axes}
    m = arrays.memory(f, x)
    dims, strides = iter(m.dims), iter(m.strides)
    result = part(
        m,
        tuple(1 if a in new else next(dims) for a in range(rank)),
        tuple(0 if a in new else next(strides) for a in range(rank)),
    )
    if m.contiguous:
        return f.as_contiguous(result)
    return replace(result, ordered=arrays.in_order(m))


def _asked(
    f: FunctionLowering, operation: Operation, own: tuple[Any, ...], args: tuple[Any, ...], t: Array
) -> tuple[Any, ...] | None:
    """The dimensions that are asked for, checked; a negative one is what is left over."""
    given: Any = args[0] if len(args) == 1 else args
    if isinstance(given, Tuple):
        given = given.items
    elif isinstance(given, Known) and isinstance(given.value, tuple):
        given = tuple(Known(v) for v in given.value)
    elif not isinstance(given, tuple):
        given = getattr(given, "virtual", (given,))  # a list is as good as a tuple
    asked: list[Any] = []
    for v in given:
        if isinstance(v, Known) and not isinstance(v.value, (int, np.integer)):
            return None
        if not isinstance(v, (Known, Number)):
            return None
        n = f.number(v)
        if n.dtype.kind not in "iu":
            return None
        asked.append(n.low if n.low is not None and n.low == n.high else f.whole(operation, n))
    if t.shape is None or len(asked) != len(t.shape):
        return None
    asked = [a if d is None else d for a, d in zip(asked, t.shape)]
    b, total = f.b, size_of(f, own)
    if all(isinstance(a, int) and a >= 0 for a in asked):
        product = math.prod(asked)
        if isinstance(total, int):
            return tuple(asked) if product == total else None
        f.guard(b.value(f"icmp eq i64 {total}, {product}"), operation)
        return tuple(asked)
    return _inferred(f, operation, asked, total)


def _inferred(
    f: FunctionLowering, operation: Operation, asked: list[Any], total: Any
) -> tuple[Any, ...] | None:
    b = f.b
    open_ = [i for i, a in enumerate(asked) if isinstance(a, int) and a < 0]
    if len(open_) > 1:
        return None
    flags = {i: b.value(f"icmp slt i64 {a}, 0") for i, a in enumerate(asked) if isinstance(a, str)}
    others: Any = 1
    for i, a in enumerate(asked):
        if i not in open_:
            one = b.value(f"select i1 {flags[i]}, i64 1, i64 {a}") if i in flags else a
            others = f.times(others, one)
    if isinstance(others, int) and isinstance(total, int):
        if others == 0 or total % others:
            return None
        rest: Any = total // others
    else:
        safe = others if isinstance(others, int) else b.call("i64", "llvm.smax.i64", f"i64 {others}", "i64 1")
        rest = b.value(f"sdiv i64 {total}, {max(safe, 1) if isinstance(safe, int) else safe}")
    dims = []
    count: Any = str(len(open_))
    for i, a in enumerate(asked):
        if i in open_:
            dims.append(rest)
        elif i in flags:
            dims.append(b.value(f"select i1 {flags[i]}, i64 {rest}, i64 {a}", "dim"))
            count = b.value(f"add i64 {count}, {b.value(f'zext i1 {flags[i]} to i64')}")
        else:
            dims.append(a)
    product: Any = 1
    for d in dims:
        product = f.times(product, d)
    good = b.value(f"icmp eq i64 {product}, {total}")
    few = b.value(f"icmp ule i64 {count}, 1")
    some = b.value(f"icmp ne i64 {others}, 0")
    none = b.value(f"icmp eq i64 {count}, 0")
    either = b.value(f"or i1 {some}, {none}")
    good = b.value(f"and i1 {b.value(f'and i1 {good}, {few}')}, {either}")
    f.guard(good, operation)
    return tuple(dims)


def _as(
    f: FunctionLowering, operation: Operation, x: Any, dims: tuple[Any, ...], ravel: bool
) -> Value | None:
    """An array with other dimensions, of as many elements; `ravel` copies all that is not contiguous."""
    m = arrays.memory(f, x)
    if m.contiguous:
        return f.as_contiguous(part(m, dims, ()))
    all_known = all(isinstance(d, int) for d in (*m.dims, *m.strides, *dims))
    told = not arrays.in_order(m) and sum(d != 1 for d in dims) > 1  # results would have the order of a view
    if not all_known and (told or not f.is_private(operation.outputs[0])):
        return None  # a view or a copy
    known = _without_copy(m, dims)
    if known is not None and (not ravel or _is_dense(m)):
        return part(m, dims, known)
    target = arrays.allocate(f, m.dtype, dims, operation)
    own = f.contiguous_strides(m.dims, m.dtype.itemsize)
    arrays.fill(f, part(target, m.dims, own), m)
    return target


def _is_dense(m: Memory) -> bool:
    """Whether an array of known strides is contiguous: those of axes of length 1 may be any."""
    step: Any = m.dtype.itemsize
    for d, s in zip(reversed(m.dims), reversed(m.strides)):
        if d != 1 and s != step:
            return False
        step *= d
    return True


def _without_copy(m: Memory, dims: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The strides of a view with other dimensions, where there is one (NumPy's own search)."""
    if not all(isinstance(d, int) for d in (*m.dims, *m.strides, *dims)) or 0 in m.dims:
        return None
    old = [(int(d), int(s)) for d, s in zip(m.dims, m.strides) if d != 1]
    new = [int(d) for d in dims]
    strides = [0] * len(new)
    oi, ni = 0, 0
    while oi < len(old) and ni < len(new):
        oj, nj = oi + 1, ni + 1
        op, np_ = old[oi][0], new[ni]
        while op != np_:
            if np_ < op:
                np_ *= new[nj]
                nj += 1
            else:
                op *= old[oj][0]
                oj += 1
        if any(old[k][1] != old[k + 1][0] * old[k + 1][1] for k in range(oi, oj - 1)):
            return None
        step = old[oj - 1][1]
        for k in range(nj - 1, ni - 1, -1):
            strides[k] = step
            step *= new[k]
        oi, ni = oj, nj
    last = strides[ni - 1] if ni else m.dtype.itemsize
    for k in range(ni, len(new)):
        strides[k] = last
    return tuple(strides)
