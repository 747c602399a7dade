"""Fuses elementwise functions with reductions along the last axis: one loop over the rows does all of it.

    m = x.max(-1, keepdims=True); e = np.exp(x - m); y = e / e.sum(-1, keepdims=True)

A group ends in an array `y` of rows; everything else that it computes is used inside the group only. Of each
row, numbers such as `m` stay in registers, and a row such as `e`, that several loops read, in a small buffer:
memory is read and written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import arrays, listing, parallel, reductions
from autograph.compiler.elementwise import COST, ELEMENT, UFUNC_OF, Lanes, NoRule
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Value,
    array_type,
)
from autograph.graph.graph import Operation, Region, Tensor
from autograph.graph.tree import leaves
from autograph.graph.types import Array, Const, Scalar
from autograph.records import record_class, replace

EXPENSIVE = 6
"""From this cost on a row that several loops read is kept instead of computed again."""
STACK = 4096
"""Rows that are kept lie on the stack if they have at most so many elements."""
PARTS = 32
"""Most parts of a group whose rows are longer: each has a buffer."""


@record_class
class Group:
    """Operations that are computed row by row, in program order; the last one gives the result."""

    operations: list[Operation]
    kinds: dict[int, str]  # by operation: row, number, reduce, same


def _last_axis(operation: Operation) -> bool | None:
    """Whether a reduction along the last axis keeps it; None where it is no such reduction."""
    kind = operation.name.split(".")[-1]
    kind = kind.removeprefix("a") if kind in ("amax", "amin") else kind
    if kind not in reductions.KINDS or operation.name.count(".") != 1 or kind in ("any", "all"):
        return None
    if set(operation.kwargs) - {"axis", "keepdims"} or len(operation.args) not in (1, 2):
        return None
    source = operation.args[0]
    t = array_type(source._ag_type) if isinstance(source, Tensor) else None
    if t is None or not t.shape or t.dtype.kind != "f":
        return None
    axis = operation.args[1] if len(operation.args) == 2 else operation.kwargs.get("axis")
    if isinstance(axis, tuple) and len(axis) == 1:
        axis = axis[0]
    if type(axis) is not int or axis not in (-1, len(t.shape) - 1):
        return None
    keep = operation.kwargs.get("keepdims", False)
    return keep if type(keep) is bool else None


def _is_column(operation: Operation) -> bool:
    """`x[..., None]` of one number a row."""
    if operation.name != "get_item" or len(operation.args) != 2:
        return False
    source, index = operation.args
    t = array_type(source._ag_type) if isinstance(source, Tensor) else None
    if t is None or t.shape is None or not isinstance(index, tuple):
        return False
    whole = (slice(None), slice(None, None, None), Ellipsis)
    return (
        index[-1] is None
        and all(i in whole for i in index[:-1])
        and (len(index) == len(t.shape) + 1 or Ellipsis in index)
    )


def _elementwise_name(operation: Operation) -> str | None:
    name = UFUNC_OF.get(operation.name)
    if name is None and operation.name.startswith("np."):
        name = operation.name[3:]
    if name is None or name not in ELEMENT or operation.kwargs or name in ("power", "where", "astype"):
        return None
    ufunc = getattr(np, name, None)
    return (
        name if isinstance(ufunc, np.ufunc) and ufunc.nout == 1 and len(operation.args) == ufunc.nin else None
    )


def plan(f: FunctionLowering, region: Region) -> dict[int, Group]:
    """The groups of a region, by the identity of their last operation."""
    groups: dict[int, Group] = {}
    if not any(_last_axis(o) is not None for o in region.ops):
        return groups
    where = {id(t): i for i, o in enumerate(region.ops) for t in o.outputs}
    users: dict[int, list[int]] = {}
    for i, o in enumerate(region.ops):
        for t in o.inputs if not o.regions else []:
            users.setdefault(id(t), []).append(i)
    outside = {id(leaf) for leaf in leaves(region.results or ()) if isinstance(leaf, Tensor)}
    for o in region.ops:
        for nested in o.regions:
            outside.update(id(t) for t in _nested_inputs(nested))
        if o.regions:
            outside.update(id(t) for t in o.inputs)
    taken: set[int] = set()
    for last in range(len(region.ops) - 1, -1, -1):
        if last in taken:
            continue
        group = _group(f, region, last, where, users, outside)
        if group is not None:
            groups[id(region.ops[last])] = group
            taken.update(where[id(o.outputs[0])] for o in group.operations)
    return groups


def _nested_inputs(region: Region) -> list[Tensor]:
    found = [leaf for leaf in leaves(region.results or ()) if isinstance(leaf, Tensor)]
    for o in region.ops:
        found += o.inputs
        for nested in o.regions:
            found += _nested_inputs(nested)
    return found


def _group(
    f: FunctionLowering,
    region: Region,
    last: int,
    where: dict[int, int],
    users: dict[int, list[int]],
    outside: set[int],
) -> Group | None:
    final = region.ops[last]
    t = array_type(final.outputs[0]._ag_type) if final.outputs else None
    if t is None or not t.shape or t.dtype.kind != "f" or _elementwise_name(final) is None:
        return None
    if None in t.shape[-1:] or (t.shape[-1] or 0) < 8:
        return None
    kinds: dict[int, str] = {}
    chosen: set[int] = set()
    todo = [last]
    while todo:
        at = todo.pop()
        if at in chosen:
            continue
        operation = region.ops[at]
        kind = _kind(operation, t.shape)
        if kind is None:
            continue
        if at != last and not _inside(operation, chosen | set(todo) | {at}, users, outside):
            continue
        chosen.add(at)
        kinds[id(operation)] = kind
        sources = [where[id(t)] for t in operation.inputs if id(t) in where]
        todo.extend(i for i in sources if i < at)
    changed = True
    while changed:  # what is used outside of the group is computed before it
        changed = False
        for at in sorted(chosen):
            if at != last and not _inside(region.ops[at], chosen, users, outside):
                chosen.discard(at)
                kinds.pop(id(region.ops[at]), None)
                changed = True
        for at in sorted(chosen):
            operation = region.ops[at]
            if kinds[id(operation)] == "same" and where.get(id(operation.args[0])) not in chosen:
                chosen.discard(at)
                kinds.pop(id(operation), None)
                changed = True
    if "reduce" not in kinds.values() or last not in chosen:
        return None
    first = min(chosen)
    for at in range(first, last + 1):
        o = region.ops[at]
        if o.regions or o.op is None or o.op.effects(o.args, o.kwargs) & {"writes", "host", "effect"}:
            return None
    return Group([region.ops[i] for i in sorted(chosen)], kinds)


def _inside(operation: Operation, chosen: set[int], users: dict[int, list[int]], outside: set[int]) -> bool:
    out = operation.outputs[0]
    return id(out) not in outside and all(i in chosen for i in users.get(id(out), []))


def _kind(operation: Operation, shape: tuple[Any, ...]) -> str | None:
    """What an operation is in a group whose rows have this shape: a row, a number a row, a reduction."""
    if len(operation.outputs) != 1:
        return None
    out = operation.outputs[0]._ag_type
    t = array_type(out)
    keep = _last_axis(operation)
    if keep is not None:
        source = array_type(operation.args[0]._ag_type)
        return (
            "reduce"
            if source is not None and source.shape == shape and (keep or len(shape) == 1 or t)
            else None
        )
    numbers = (*shape[:-1], 1)
    if _is_column(operation):
        return "same" if t is not None and t.shape == numbers else None
    if _elementwise_name(operation) is None:
        return None
    if t is not None and t.dtype.kind == "f":
        if t.shape == shape:
            return "row"
        if t.shape in (numbers, shape[:-1]) and shape[:-1]:
            return "number"
    return None


def lower(f: FunctionLowering, group: Group) -> bool:
    """Emits a group; False where it must be lowered operation by operation after all."""
    final = group.operations[-1]
    out = final.outputs[0]
    t = array_type(out._ag_type)
    assert t is not None and t.shape is not None
    if any(d is None for d in t.shape):
        return False
    shape = tuple(int(d) for d in t.shape if d is not None)
    outer: dict[int, Any] = {}
    members = {id(o.outputs[0]) for o in group.operations}
    for operation in group.operations:
        for leaf in operation.args:
            if isinstance(leaf, Tensor) and id(leaf) not in members:
                value = arrays.value_as_array(f, f.value_of(leaf))
                if value is None or not isinstance(value, (Number, Memory, Elements, Lazy)):
                    return False
                if isinstance(value, Memory) and value.dtype.kind not in "fiub":
                    return False
                outer[id(leaf)] = arrays._in_memory(f, value)
    if not all(arrays.in_order(v) for v in outer.values()):
        return False
    types = [_resolved(f, o, outer, group) for o in group.operations]
    if any(x is None for x in types):
        return False
    f.note(f"rows of {listing.shape(shape)}: " + listing.functions([o.name for o in group.operations]))
    target = arrays.allocate(f, t.dtype, shape, final)
    cost = sum(arrays.cost_of(v, 8) for v in outer.values()) + parallel.EACH
    cost += sum(1 + COST.get(_elementwise_name(o) or "", 1) for o in group.operations)
    width = {8: 8, 4: 16}.get(t.dtype.itemsize, 1)
    sources = [v for value in outer.values() for v in arrays.leaves_of(value)]
    maps = [m for value in outer.values() for m in arrays.maps_of(value)]
    if not all(_dense(v, shape) for v in [*sources, *maps]):
        width = 1
    wide = [v for v in outer.values() if not isinstance(v, Number)]  # a number is converted before the loops
    width = min([width, *(arrays.width_for(v, t.dtype) for v in wide)])
    while width > shape[-1]:
        width //= 2
    kept = [id(o) for o in group.operations[:-1] if _is_kept(group, o)]

    shared = arrays.widest(shape[:-1]) if shape[:-1] else 0
    ranges: list[tuple[Any, Any]] = [(0, d) for d in shape[:-1]]

    count = shape[shared] if ranges else 1
    cost *= shape[-1] * (math.prod(shape[:-1]) // max(count, 1))

    def rows(past: bool) -> None:
        stored = replace(target, streamed=past)

        def piece(scratch: dict[int, str], begin: Any, end: Any) -> None:
            if ranges:
                ranges[shared] = begin, end
            _loops(f, group, outer, types, stored, shape, width, scratch, ranges)
            if past:
                arrays.settle_streams(f)

        if kept and shape[-1] > STACK:
            _with_buffers(f, kept, shape[-1], count, cost, piece)
        else:
            room = f"[{shape[-1]} x double]"
            parallel.split(
                f, count, cost, lambda *ends: piece({o: f.b.alloca(room, 64) for o in kept}, *ends)
            )

    arrays.streamed(f, arrays.streams(f, [target], width), rows)
    f.bind(out, target)
    return True


def _with_buffers(
    f: FunctionLowering,
    kept: list[int],
    length: int,
    count: int,
    cost: int,
    piece: Callable[[dict[int, str], Any, Any], None],
) -> None:
    """The same where rows are too long for a stack: in parts that each have buffers in memory."""
    step = max(-(-count // PARTS), 1)
    parts = -(-count // step)
    whole = arrays.allocate(f, np.dtype(float), (max(parts, 1), len(kept), length))

    def part(i: str) -> None:
        number: Any = i if i.startswith("%") else int(i)
        begin = f.times(step, number)
        stop = f.plus(begin, step)
        if isinstance(stop, int):
            end: Any = min(stop, count)
        else:
            end = f.b.call("i64", "llvm.smin.i64", f"i64 {stop}", f"i64 {count}")
        first = f.at(whole.data, f.times(8 * length * len(kept), number))
        piece({o: f.at(first, 8 * length * k) for k, o in enumerate(kept)}, begin, end)

    parallel.split(f, parts, cost * step, lambda begin, end: arrays.count_loop(f, begin, end, 1, part))


def _dense(v: Any, shape: tuple[int, ...]) -> bool:
    """Whether an operand can be read in vectors along the last axis."""
    dims = arrays.dims_of(v)
    if isinstance(v, Number) or not dims:
        return True
    if dims[-1] == 1:
        return True
    return dims[-1] == shape[-1] and (not isinstance(v, Memory) or v.strides[-1] == v.dtype.itemsize)


def _resolved(f: FunctionLowering, operation: Operation, outer: dict[int, Any], group: Group) -> Any:
    """The dtypes that an operation computes with, or None."""
    kind = group.kinds[id(operation)]
    t = operation.outputs[0]._ag_type
    result = t.dtype if isinstance(t, (Array, Scalar)) else None
    if kind in ("reduce", "same"):
        source = operation.args[0]._ag_type
        same = isinstance(source, (Array, Scalar)) and source.dtype == result
        return ((result,), result) if same else None
    name = _elementwise_name(operation)
    assert name is not None
    asked: list[Any] = []
    for leaf in operation.args:
        if isinstance(leaf, Tensor) and id(leaf) not in outer and not isinstance(leaf._ag_type, Const):
            own = leaf._ag_type
            if not isinstance(own, (Array, Scalar)):
                return None
            asked.append(Number(Scalar(own.dtype), own.dtype, ("0",)))
        else:
            value = outer.get(id(leaf)) if isinstance(leaf, Tensor) else arrays.value_as_array(f, Known(leaf))
            if value is None:
                return None
            asked.append(value)
    found = arrays.resolve(name, asked)
    if found is None or found[-1] != result or len(set(found[:-1])) > 1:
        return None
    if any(isinstance(v, Number) and v.weak and v.dtype.kind == "i" and found[0].kind in "iu" for v in asked):
        return None
    try:
        ELEMENT[name](arrays._Probe(), found[0], *(("%x",) for _ in found[:-1]))
    except NoRule:
        return None
    return found[:-1], found[-1]


def _is_kept(group: Group, operation: Operation) -> bool:
    """Whether a row is read by several loops and worth keeping."""
    if group.kinds[id(operation)] != "row":
        return False
    cost = COST.get(_elementwise_name(operation) or "", 1)
    out = operation.outputs[0]
    readers = sum(any(t is out for t in other.inputs) for other in group.operations)
    return readers > 1 and cost >= EXPENSIVE


def _loops(
    f: FunctionLowering,
    group: Group,
    outer: dict[int, Any],
    types: list[Any],
    target: Memory,
    shape: tuple[int, ...],
    width: int,
    scratch: dict[int, str],
    ranges: list[tuple[Any, Any]],
) -> None:
    def level(axis: int, prefix: list[str]) -> None:
        if axis < len(ranges):
            arrays.count_loop(f, *ranges[axis], 1, lambda i: level(axis + 1, [*prefix, i]))
        else:
            _row(f, group, outer, types, target, shape, width, scratch, prefix)

    level(0, [])


def _row(
    f: FunctionLowering,
    group: Group,
    outer: dict[int, Any],
    types: list[Any],
    target: Memory,
    shape: tuple[int, ...],
    width: int,
    scratch: dict[int, str],
    prefix: list[str],
) -> None:
    local: dict[int, Any] = {}
    zeros = (0,) * (len(shape) - 1)

    def operand(leaf: Any) -> Any:
        if isinstance(leaf, Tensor) and id(leaf) in local:
            return local[id(leaf)]
        if isinstance(leaf, Tensor) and id(leaf) in outer:
            return outer[id(leaf)]
        return arrays.value_as_array(f, f.value_of(leaf) if isinstance(leaf, Tensor) else Known(leaf))

    for operation, (inputs, result) in zip(group.operations, types):
        kind = group.kinds[id(operation)]
        out = operation.outputs[0]
        if kind == "same":
            local[id(out)] = operand(operation.args[0])
            continue
        if kind == "reduce":
            local[id(out)] = _reduced(f, operation, operand(operation.args[0]), result, shape, width, prefix)
            continue
        name = _elementwise_name(operation)
        assert name is not None
        args = [operand(leaf) for leaf in operation.args]
        args = [
            arrays.convert(f, operation, a, d) if isinstance(a, Number) else a for a, d in zip(args, inputs)
        ]
        if kind == "number":
            dims = (*shape[:-1], 1)
            f.evaluated.clear()
            parts = []
            for a, d in zip(args, inputs):
                own = len(arrays.dims_of(a))
                index = [*prefix, "0"][: len(shape) - 1 if own == len(shape) - 1 else len(shape)]
                whole = shape[:-1] if own == len(shape) - 1 else dims
                found = arrays.evaluate(f, Lanes(f.b), a, index, whole)
                parts.append(Lanes(f.b).cast(found, a.dtype, d))
            local[id(out)] = Number(Scalar(result), result, ELEMENT[name](Lanes(f.b), inputs[0], *parts))
            continue
        lazy = Lazy(result, shape, arrays.Map(name, inputs, result), tuple(args), 1)
        if operation is group.operations[-1]:
            _each(f, lazy, target, prefix, shape, width)
        elif id(operation) in scratch:
            strides = (*zeros, result.itemsize)
            buffer = Memory(
                result, scratch[id(operation)], shape, strides, None, False, False, ("row", id(operation))
            )
            _each(f, lazy, buffer, prefix, shape, width)
            local[id(out)] = buffer
        else:
            local[id(out)] = lazy


def _each(
    f: FunctionLowering, v: Lazy, target: Memory, prefix: list[str], shape: tuple[int, ...], width: int
) -> None:
    """Computes a row into memory."""

    def body(lanes: Lanes, i: str) -> None:
        index = [*prefix, i]
        arrays.store(f, lanes, target, index, arrays.evaluate(f, lanes, v, index, shape))

    n = shape[-1]
    whole = n - n % width
    if width > 1:
        arrays.count_loop(f, 0, whole, width, lambda i: body(Lanes(f.b, width), i))
    else:
        whole = 0
    arrays.count_loop(f, whole, n, 1, lambda i: body(Lanes(f.b), i))


def _reduced(
    f: FunctionLowering,
    operation: Operation,
    source: Any,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    width: int,
    prefix: list[str],
) -> Value:
    name = operation.name.split(".")[-1]
    name = name.removeprefix("a") if name in ("amax", "amin") else name
    kind = reductions.KINDS[name]
    total = reductions._Total(f, kind, dtype, kind.combine == "add")
    if width > 1:
        total.accumulator(width)
    total.row(source, prefix, shape, width)
    parts = total.result()
    if name == "mean":
        parts = reductions._mean(f, parts, dtype, shape[-1])
    return Number(Scalar(dtype), dtype, parts)


__all__ = ["Group", "lower", "plan"]
