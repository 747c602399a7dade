"""Arrays joined into one: np.stack, np.concatenate and their relatives, of arrays known or of a list."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograph.compiler import arrays, containers, parallel
from autograph.compiler.elementwise import Lanes
from autograph.compiler.lowering import SMALL, FunctionLowering, rule
from autograph.compiler.values import Elements, Known, Lazy, Memory, Object, Value, array_type, scalar_dtype
from autograph.graph.graph import Operation
from autograph.graph.types import Array, members
from autograph.records import record_class, replace


@record_class
class Join:
    """How arrays of a rank are joined: along which axis of the result, and whether that axis is new."""

    axis: int
    new: bool


def how(name: str, axis: int, rank: int) -> Join | None:
    """What a function does with arrays of a rank; None where it is not done here.

    >>> how("vstack", 0, 1), how("hstack", 0, 2)
    (Join(axis=0, new=True), Join(axis=1, new=False))
    """
    if name == "stack":
        return Join(axis % (rank + 1), True) if -rank - 1 <= axis <= rank else None
    if rank == 0:
        return None
    if name == "concatenate":
        return Join(axis % rank, False) if -rank <= axis < rank else None
    if name == "hstack":
        return Join(0 if rank == 1 else 1, False)
    if name == "vstack":
        return Join(0, rank == 1)
    return Join(1, rank == 1)  # column_stack


@rule("np.stack", "np.concatenate", "np.hstack", "np.vstack", "np.column_stack")
def join(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    axis = args[1] if len(args) == 2 else options.pop("axis", Known(0))
    if len(args) not in (1, 2) or options or not isinstance(axis, Known) or type(axis.value) is not int:
        return None
    name = operation.name.removeprefix("np.")
    items = f.virtual_items(operation.args[0])
    if items is not None:
        return of_items(f, operation, name, axis.value, items)
    value = args[0]
    if containers.is_list(f, value):
        return of_list(f, operation, name, axis.value, value)
    return None


def of_items(
    f: FunctionLowering,
    operation: Operation,
    name: str,
    axis: int,
    items: tuple[Value, ...],
    keeps_order: bool = True,
) -> Value | None:
    """Joins arrays that are known one by one."""
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    parts: list[Any] = [arrays.value_as_array(f, v) for v in items]
    if t is None or not parts or not all(isinstance(p, (Memory, Elements, Lazy)) for p in parts):
        return None
    if keeps_order and not all(arrays.in_order(p) for p in parts):
        return None  # NumPy keeps their order
    joins = [how(name, axis, len(arrays.dims_of(p))) for p in parts]
    shapes = [_grown(arrays.dims_of(p), j) for p, j in zip(parts, joins) if j is not None]
    if len(shapes) < len(parts) or len({len(s) for s in shapes}) != 1 or not joins[0]:
        return None
    axis = joins[0].axis
    dims = list(shapes[0])
    for s in shapes[1:]:
        for k, d in enumerate(s):
            if k == axis:
                dims[k] = f.plus(dims[k], d)
            elif d != dims[k]:
                if isinstance(d, int) and isinstance(dims[k], int):
                    return None
                f.guard(f.b.value(f"icmp eq i64 {d}, {dims[k]}"), operation)
                dims[k] = d if isinstance(d, int) else dims[k]
    if _in_registers(f, out, dims) and all(isinstance(p, (Elements, Lazy)) for p in parts):
        return _elements(f, t, parts, shapes, axis)
    target = arrays.allocate(f, t.dtype, tuple(dims), operation)
    start: Any = 0
    for p, s, j in zip(parts, shapes, joins):
        arrays.fill(f, _part(f, target, axis, start, arrays.dims_of(p), j is not None and j.new), p)
        start = f.plus(start, s[axis])
    return target


def _grown(dims: tuple[Any, ...], j: Join) -> tuple[Any, ...]:
    """The dimensions of an array as it is joined."""
    return (*dims[: j.axis], 1, *dims[j.axis :]) if j.new else dims


def _part(
    f: FunctionLowering, target: Memory, axis: int, start: Any, dims: tuple[Any, ...], new: bool
) -> Memory:
    """The part of the result that an array of some dimensions is copied to."""
    strides = target.strides[:axis] + target.strides[axis + 1 :] if new else target.strides
    data = f.at(target.data, f.times(target.strides[axis], start))
    return replace(target, data=data, dims=dims, strides=strides, contiguous=axis == 0)


def _in_registers(f: FunctionLowering, out: Any, dims: list[Any]) -> bool:
    known = [d for d in dims if isinstance(d, int)]
    small = len(known) == len(dims) and math.prod(known) <= SMALL
    return small and f.is_pure(out) and id(out) not in f.plan.memory and id(out) not in f.plan.objects


def _elements(f: FunctionLowering, t: Any, parts: list[Any], shapes: list[Any], axis: int) -> Elements:
    lanes = Lanes(f.b)
    items: list[Any] = []
    numbers = []
    for p, shape in zip(parts, shapes):
        small = arrays.elements(f, p)
        numbers.append(np.arange(len(items), len(items) + len(small.items)).reshape(shape))
        items += [lanes.cast(item, small.dtype, t.dtype) for item in small.items]
    order = np.concatenate(numbers, axis)
    return Elements(t.dtype, order.shape, tuple(items[i] for i in order.ravel()))


# -- lists ---------------------------------------------------------------------------------------------------


def of_list(f: FunctionLowering, operation: Operation, name: str, axis: int, value: Any) -> Value | None:
    """Joins the arrays of a list: their sizes are looked at in one loop, they are copied in a second one."""
    b = f.b
    t, item = array_type(operation.outputs[0]._ag_type), array_type(_item_type(value))
    j = None if item is None or item.shape is None else how(name, axis, len(item.shape))
    if t is None or item is None or item.shape is None or j is None or f.graph.host:
        return None
    pointer = f.get_slot(value.slot)
    count = b.value(f"load i64, ptr {f.at(pointer, containers.SIZE)}")
    f.guard(b.value(f"icmp ne i64 {count}, 0"), operation)
    items = b.value(f"load ptr, ptr {f.at(pointer, containers.ITEMS)}")
    if len(item.shape) < 2:
        return _joined(f, operation, t.dtype, item, items, count, j)
    slot = f.new_slot()
    plain, other, after = b.label("plain"), b.label("other"), b.label("joined")
    b.branch(_all_in_order(f, items, count), plain, other)
    b.start(plain)
    m = _joined(f, operation, t.dtype, item, items, count, j)
    assert m.slot is not None
    f.set_slot(slot, f.incref(f.get_slot(m.slot)))
    b.jump(after)
    b.start(other)
    f.set_slot(slot, f.callback(operation))
    b.jump(after)
    b.start(after)
    return f.unpack_array(slot, t, operation.outputs[0])


def _all_in_order(f: FunctionLowering, items: str, count: str) -> str:
    """Whether all arrays are in C order: NumPy keeps another order that they have."""
    b = f.b
    flags = b.alloca("i32", 4)
    b.emit(f"store i32 1, ptr {flags}")

    def each(i: str) -> None:
        pointer = b.value(f"load ptr, ptr {b.value(f'getelementptr ptr, ptr {items}, i64 {i}')}")
        own, old = b.value(f"load i32, ptr {f.at(pointer, 64)}"), b.value(f"load i32, ptr {flags}")
        b.emit(f"store i32 {b.value(f'and i32 {own}, {old}')}, ptr {flags}")

    arrays.count_loop(f, 0, count, 1, each)
    return b.value(f"icmp ne i32 {b.value(f'load i32, ptr {flags}')}, 0")


def _joined(
    f: FunctionLowering,
    operation: Operation,
    dtype: np.dtype[Any],
    item: Array,
    items: str,
    count: str,
    j: Join,
) -> Memory:
    b = f.b
    dims = _sizes(f, operation, item, items, count, j)
    target = arrays.allocate(f, dtype, dims, operation)
    place = b.alloca("i64")
    b.emit(f"store i64 0, ptr {place}")

    def each(i: str) -> None:
        m = _array_at(f, items, i, item)
        start = b.value(f"load i64, ptr {place}")
        arrays.fill(f, _part(f, target, j.axis, start, m.dims, j.new), m)
        end = f.plus(start, 1 if j.new else m.dims[j.axis])
        b.emit(f"store i64 {end}, ptr {place}")

    with parallel.held(f):  # the items are the list's
        arrays.count_loop(f, 0, count, 1, each)
    return target


def array(
    f: FunctionLowering, operation: Operation, x: Value, items: tuple[Value, ...] | None
) -> Value | None:
    """np.array of a list: of arrays, which are stacked, or of numbers."""
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    if items is not None:
        parts = [arrays.value_as_array(f, v) for v in items]
        same = all(isinstance(p, (Memory, Elements, Lazy)) and t and p.dtype == t.dtype for p in parts)
        if not same or len({arrays.dims_of(p) for p in parts}) != 1:
            return None
        return of_items(f, operation, "stack", 0, tuple(parts), keeps_order=False)
    item = _item_type(x) if containers.is_list(f, x) else None
    if item is None or f.graph.host or not isinstance(x, Object):
        return None
    inner = array_type(item)
    dtype = inner.dtype if inner is not None else scalar_dtype(item)
    kinds = [m for m in members(out._ag_type) if isinstance(m, Array) and m.dtype == dtype]
    if dtype is None or not kinds or (inner is not None and inner.shape is None):
        return None
    b, slot = f.b, f.new_slot()
    pointer = f.get_slot(x.slot)
    count = b.value(f"load i64, ptr {f.at(pointer, containers.SIZE)}")
    found = b.value(f"load ptr, ptr {f.at(pointer, containers.ITEMS)}")
    some, none, after = b.label("some"), b.label("none"), b.label("array")
    b.branch(b.value(f"icmp ne i64 {count}, 0"), some, none)
    b.start(some)
    if inner is not None:
        m = _joined(f, operation, dtype, inner, found, count, Join(0, True))
    else:
        m = _of_numbers(f, operation, item, dtype, found, count)
    assert m.slot is not None
    f.set_slot(slot, f.incref(f.get_slot(m.slot)))
    b.jump(after)
    b.start(none)
    f.set_slot(slot, f.callback(operation))
    b.jump(after)
    b.start(after)
    if t is None:  # of an empty list NumPy makes an array of another type
        return Object(out._ag_type, slot)
    return f.as_contiguous(f.unpack_array(slot, t, out))


def _of_numbers(
    f: FunctionLowering, operation: Operation, item: Any, dtype: np.dtype[Any], items: str, count: str
) -> Memory:
    target = arrays.allocate(f, dtype, (count,), operation)

    def each(i: str) -> None:
        pointer = f.b.value(f"load ptr, ptr {f.b.value(f'getelementptr ptr, ptr {items}, i64 {i}')}")
        arrays.store(f, Lanes(f.b), target, [i], f._unbox_parts(pointer, item, dtype))

    arrays.count_loop(f, 0, count, 1, each)
    return target


def _item_type(value: Any) -> Any:
    return getattr(getattr(value.type, "site", None), "elem", None)


def _sizes(
    f: FunctionLowering, operation: Operation, item: Array, items: str, count: str, j: Join
) -> tuple[Any, ...]:
    """The dimensions of the result; where those of the arrays are not known, that they fit is checked."""
    b = f.b
    shape = item.shape
    assert shape is not None
    total = b.alloca("i64")
    b.emit(f"store i64 0, ptr {total}")
    first = _array_at(f, items, "0", item).dims
    others = [k for k, d in enumerate(shape) if d is None and (j.new or k != j.axis)]
    along = None if j.new else shape[j.axis]
    if others or (not j.new and along is None):

        def each(i: str) -> None:
            dims = _array_at(f, items, i, item).dims
            for k in others:
                f.guard(b.value(f"icmp eq i64 {dims[k]}, {first[k]}"), operation)
            if not j.new:
                old = b.value(f"load i64, ptr {total}")
                b.emit(f"store i64 {f.plus(old, dims[j.axis])}, ptr {total}")

        arrays.count_loop(f, 0, count, 1, each)
    if j.new:
        return (*first[: j.axis], count, *first[j.axis :])
    whole = b.value(f"load i64, ptr {total}") if along is None else f.times(count, along)
    return (*first[: j.axis], whole, *first[j.axis + 1 :])


def _array_at(f: FunctionLowering, items: str, i: str, t: Array) -> Memory:
    """The array at a position of a list, borrowed."""
    b = f.b
    pointer = b.value(f"load ptr, ptr {b.value(f'getelementptr ptr, ptr {items}, i64 {i}')}")
    data = b.value(f"load ptr, ptr {f.at(pointer, 16)}", "data")
    assert t.shape is not None
    dims: list[Any] = list(t.shape)
    strides: list[Any] = []
    if dims:
        sizes, steps = (b.value(f"load ptr, ptr {f.at(pointer, k)}") for k in (32, 40))
        dims = [
            b.value(f"load i64, ptr {f.at(sizes, 8 * k)}, !range !3", "dim") if d is None else d
            for k, d in enumerate(dims)
        ]
        strides = [b.value(f"load i64, ptr {f.at(steps, 8 * k)}", "stride") for k in range(len(dims))]
    return Memory(t.dtype, data, tuple(dims), tuple(strides), contiguous=not dims)
