"""Lists, tuples and cells: read and written in place, without a call to Python where the types are known."""

from __future__ import annotations

from typing import Any

from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Object,
    Tuple,
    Value,
    known_item,
    scalar_dtype,
)
from autograph.graph.graph import Operation, Tensor
from autograph.graph.tree import leaves
from autograph.graph.types import UNBOUND, Py, Ref, SeqT, TupleT, members
from autograph.records import record_class

SIZE, ITEMS, TUPLE_ITEMS, CELL = 16, 24, 24, 16
"""Offsets in objects of CPython: length, a list's pointer to its items, a tuple's items, a cell's value."""


@record_class(eq=False)
class VirtualList(Value):
    """A list that no one needs as an object: it is only read by operations that know its items."""

    virtual: tuple[Value, ...]


def is_list(f: FunctionLowering, v: Value) -> bool:
    return isinstance(v, Object) and isinstance(v.type, Ref) and v.type.kind == "list" and v.type.cls is list


def items_of(f: FunctionLowering, leaf: Any) -> tuple[Value, ...] | None:
    """The values in a list or tuple whose items are known."""
    if isinstance(leaf, Tensor):
        v = f.value_of(leaf)
        if isinstance(v, VirtualList):
            return v.virtual
        if isinstance(v, Tuple):
            return v.items
        if isinstance(v, Known) and isinstance(v.value, tuple):
            return tuple(Known(i) for i in v.value)
        return None
    if isinstance(leaf, (tuple, list)):
        return tuple(_nested(f, x) for x in leaf)
    return None


def _nested(f: FunctionLowering, leaf: Any) -> Value:
    if isinstance(leaf, (tuple, list)) and any(isinstance(x, Tensor) for x in leaves(leaf)):
        return VirtualList(tuple(_nested(f, x) for x in leaf))
    return f.value_of(leaf) if not isinstance(leaf, list) else VirtualList(tuple(_nested(f, x) for x in leaf))


@rule("new_list")
def new_list(f: FunctionLowering, operation: Operation, items: Any, *rest: Any) -> Value | None:
    if id(operation.outputs[0]) in f.plan.objects:
        return None
    leaf = operation.args[0]
    if not isinstance(leaf, tuple):
        return None
    values = []
    for x in leaf:
        v = f.value_of(x)
        if isinstance(v, Lazy):
            f._settle(x)
            v = f.value_of(x)
        if not isinstance(v, (Number, Known, Elements, Memory, VirtualList, Tuple)):
            f.plan.need(f.plan.objects, operation.outputs[0])
        values.append(v)
    return VirtualList(tuple(values))


@rule("new_set")
def new_set(f: FunctionLowering, operation: Operation, items: Any) -> Value | None:
    """A set of constant integers in which only one number is looked for: no set is made."""
    out = operation.outputs[0]
    user = f.users.get(id(out))
    if user is None or f.uses.get(id(out)) != 1 or user.name != "contains" or user.args[0] is not out:
        return None
    if id(out) in f.plan.objects:
        return None
    item = user.args[1]
    dtype = scalar_dtype(item._ag_type) if isinstance(item, Tensor) else None
    if dtype is None or dtype.kind == "c" or not isinstance(items, tuple):
        return None
    small = all(isinstance(v, Known) and type(v.value) is int and abs(v.value) <= 2**53 for v in items)
    return VirtualList(items) if small else None


def get_item(f: FunctionLowering, operation: Operation, x: Value, index: Any) -> Value | None:
    out = operation.outputs[0]
    if isinstance(x, VirtualList):
        return known_item(x.virtual, index)
    if f.graph.host or not isinstance(index, Value):
        return None
    if isinstance(x, Object) and isinstance(x.type, Ref) and x.type.cls is dict:
        return _dict_item(f, operation, x, index)
    listed = is_list(f, x)
    if not listed and not (
        isinstance(x, Object) and isinstance(x.type, (TupleT, SeqT)) and x.type.__class__ is SeqT
    ):
        return None
    place = _position(f, operation, x, index, listed)
    if place is None:
        return None
    pointer = f.b.value(f"load ptr, ptr {place}")
    item = f.unbox(pointer, out._ag_type, out, owned=False)
    dense = isinstance(x, Object) and isinstance(x.type, Ref) and x.type.site in f.compilation.dense
    return f.as_contiguous(item) if dense and isinstance(item, Memory) else item


def _dict_item(f: FunctionLowering, operation: Operation, x: Object, index: Value) -> Value | None:
    """The value under a key that is known."""
    if not isinstance(index, Known) or type(index.value) not in (str, int):
        return None
    out = operation.outputs[0]
    key = f.object_constant(index.value)
    found = f.b.call("ptr", "PyDict_GetItemWithError", f"ptr {f.get_slot(x.slot)}", f"ptr {key}")
    f.guard(f.b.value(f"icmp ne ptr {found}, null"), operation)
    return f.unbox(found, out._ag_type, out, owned=False)


@rule("get_field")
def get_field(f: FunctionLowering, operation: Operation, x: Value, name: Any) -> Value | None:
    out = operation.outputs[0]
    if not isinstance(x, Object) or not isinstance(x.type, Ref) or x.type.kind != "object" or f.graph.host:
        return None
    key = f.object_constant(operation.args[1])
    found = f.b.call("ptr", "PyObject_GetAttr", f"ptr {f.get_slot(x.slot)}", f"ptr {key}")
    _check(f, operation, f.b.value(f"icmp eq ptr {found}, null"))
    return f.unbox(found, out._ag_type, out)


def _check(f: FunctionLowering, operation: Operation, bad: str) -> None:
    """Leaves with the exception that is set, where there is one."""
    failed, good = f.b.label("failed"), f.b.label("good")
    f.b.branch(bad, failed, good, unlikely="then")
    f.b.start(failed)
    f.fail(f.compilation.sites.number(operation))
    f.b.start(good)


@rule("set_field")
def set_field(f: FunctionLowering, operation: Operation, x: Value, name: Any, value: Any) -> Value | None:
    if not isinstance(x, Object) or not isinstance(x.type, Ref) or x.type.kind != "object" or f.graph.host:
        return None
    key = f.object_constant(operation.args[1])
    pointer, owned = f.box_leaf(operation.args[2])
    status = f.b.call("i32", "PyObject_SetAttr", f"ptr {f.get_slot(x.slot)}", f"ptr {key}", f"ptr {pointer}")
    if owned:
        f.decref(pointer)
    _check(f, operation, f.b.value(f"icmp ne i32 {status}, 0"))
    return Known(None)


def _position(f: FunctionLowering, operation: Operation, x: Any, index: Value, listed: bool) -> str | None:
    """The address of an item at an integer index, checked."""
    b = f.b
    if isinstance(index, Known) and type(index.value) is not int:
        return None
    if not isinstance(index, (Known, Number)):
        return None
    n = f.number(index)
    if n.dtype.kind not in "iu":
        return None
    ir = f.whole(operation, n)
    pointer = f.get_slot(x.slot)
    size = b.value(f"load i64, ptr {f.at(pointer, SIZE)}")
    if n.low is None or n.low < 0:
        negative = b.value(f"icmp slt i64 {ir}, 0")
        moved = b.value(f"add i64 {ir}, {size}")
        ir = b.value(f"select i1 {negative}, i64 {moved}, i64 {ir}")
    f.guard(b.value(f"icmp ult i64 {ir}, {size}"), operation)
    base = b.value(f"load ptr, ptr {f.at(pointer, ITEMS)}") if listed else f.at(pointer, TUPLE_ITEMS)
    return b.value(f"getelementptr ptr, ptr {base}, i64 {ir}")


def set_item(f: FunctionLowering, operation: Operation, x: Value, index: Any, value: Any) -> Value | None:
    if not is_list(f, x) or not isinstance(index, Value):
        return None
    place = _position(f, operation, x, index, True)
    if place is None:
        return None
    new = f.owned(operation.args[2])
    old = f.b.value(f"load ptr, ptr {place}")
    f.b.emit(f"store ptr {new}, ptr {place}")
    f.decref(old)
    return Known(None)


@rule("list.append")
def append(f: FunctionLowering, operation: Operation, x: Value, value: Any) -> Value | None:
    if not is_list(f, x):
        return None
    pointer, owned = f.box_leaf(operation.args[1])
    status = f.b.call("i32", "PyList_Append", f"ptr {f.get_slot(x.slot)}", f"ptr {pointer}")  # type: ignore[attr-defined]
    if owned:
        f.decref(pointer)
    bad, good = f.b.label("full"), f.b.label("appended")
    f.b.branch(f.b.value(f"icmp ne i32 {status}, 0"), bad, good, unlikely="then")
    f.b.start(bad)
    f.fail(f.compilation.sites.number(operation))
    f.b.start(good)
    return Known(None)


def length(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    if isinstance(x, VirtualList):
        return Known(len(x.virtual))
    if isinstance(x, Tuple):
        return Known(len(x.items))
    if is_list(f, x) or (isinstance(x, Object) and isinstance(x.type, SeqT)):
        size = f.b.value(f"load i64, ptr {f.at(f.get_slot(x.slot), SIZE)}")  # type: ignore[attr-defined]
        return Number(Py(int), Py_INT, (size,), 0)
    return None


@rule("has_index")
def has_index(f: FunctionLowering, operation: Operation, x: Value, index: Value) -> Value | None:
    """Whether a loop over a list has an item left."""
    size = length(f, operation, x)
    if not isinstance(size, Number) or not isinstance(index, Number) or index.dtype != Py_INT:
        return None
    return Number(Py(bool), np.dtype(bool), (f.b.value(f"icmp slt i64 {index.ir}, {size.ir}"),))


def truth(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    """Whether a list has items, or has none."""
    size = length(f, operation, x) if is_list(f, x) else None
    if not isinstance(size, Number):
        return None
    test = "ne" if operation.name == "bool" else "eq"
    return Number(Py(bool), np.dtype(bool), (f.b.value(f"icmp {test} i64 {size.ir}, 0"),))


@rule("list.pop")
def pop(f: FunctionLowering, operation: Operation, x: Value, *where: Any, **options: Any) -> Value | None:
    """Takes the last item from a list."""
    size = length(f, operation, x) if is_list(f, x) else None
    if where or options or f.graph.host or not isinstance(size, Number):
        return None
    b, out = f.b, operation.outputs[0]
    f.guard(b.value(f"icmp ne i64 {size.ir}, 0"), operation)
    last = b.value(f"sub i64 {size.ir}, 1")
    things = f.get_slot(x.slot)  # type: ignore[attr-defined]
    base = b.value(f"load ptr, ptr {f.at(things, ITEMS)}")
    item = f.incref(b.value(f"load ptr, ptr {b.value(f'getelementptr ptr, ptr {base}, i64 {last}')}"))
    status = b.call("i32", "PyList_SetSlice", f"ptr {things}", f"i64 {last}", f"i64 {size.ir}", "ptr null")
    _check(f, operation, b.value(f"icmp ne i32 {status}, 0"))
    return f.unbox(item, out._ag_type, out)


def tuple_item(f: FunctionLowering, operation: Operation, x: Value, index: Any) -> Value | None:
    if not isinstance(x, Object) or not isinstance(x.type, TupleT) or not isinstance(index, Known):
        return None
    if type(index.value) is not int or not 0 <= index.value < len(x.type.items) or f.graph.host:
        return None
    out = operation.outputs[0]
    pointer = f.b.value(f"load ptr, ptr {f.at(f.get_slot(x.slot), TUPLE_ITEMS + 8 * index.value)}")
    return f.unbox(pointer, out._ag_type, out, owned=False)


@rule("cell_get")
def cell_get(f: FunctionLowering, operation: Operation, x: Value, *rest: Any) -> Value | None:
    out = operation.outputs[0]
    if not isinstance(x, Object) or not isinstance(x.type, Ref) or f.graph.host:
        return None
    if any(m is UNBOUND for m in members(x.type.site.elem)):
        return None
    pointer = f.b.value(f"load ptr, ptr {f.at(f.get_slot(x.slot), CELL)}")
    return f.unbox(pointer, out._ag_type, out, owned=False)


@rule("cell_set")
def cell_set(f: FunctionLowering, operation: Operation, x: Value, value: Any) -> Value | None:
    if not isinstance(x, Object) or not isinstance(x.type, Ref):
        return None
    place = f.at(f.get_slot(x.slot), CELL)
    new = f.owned(operation.args[1])
    old = f.b.value(f"load ptr, ptr {place}")
    f.b.emit(f"store ptr {new}, ptr {place}")
    f.decref(old)
    return Known(None)


import numpy as np  # noqa: E402

Py_INT = np.dtype(np.int64)
__all__ = ["Memory", "VirtualList"]
