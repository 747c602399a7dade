"""Lowers `while_loop`: what it carries becomes phis, a slot, or nothing where it never changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compiler import arrays, unions
from autograph.compiler.ir import Phi
from autograph.compiler.lowering import SMALL, FunctionLowering
from autograph.compiler.machine import QUICK_LOOPS
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Value,
    alternatives,
    array_type,
    register,
    scalar_dtype,
)
from autograph.graph.check import type_of_value
from autograph.graph.graph import Operation, Region, Tensor
from autograph.graph.types import Const, Py, Scalar, generalize
from autograph.records import field, record_class, replace


@record_class
class Carried:
    """One carried value: how it is represented, and its phis."""

    kind: str  # number, tagged, object, array (an object), memory, elements
    param: Tensor
    value: Value
    phis: list[Phi] = field(default_factory=list)
    slot: int = -1


def lower(f: FunctionLowering, operation: Operation) -> None:
    """Emits a loop; an innermost one with a counter in two copies, where that pays."""
    from autograph.compiler import counted, exits, shared, unrolled

    if unrolled.lower(f, operation):
        return
    _counters(f, operation)
    shared.lower(f, operation)
    counter = counted.eligible(f, operation)
    if counter is not None:
        counted.lower(f, operation, counter)
    elif not exits.lower(f, operation):
        lower_checked(f, operation)


def inits(f: FunctionLowering, operation: Operation) -> list[Value]:
    """What a loop carries before its first turn, or before those that threads have left."""
    values = [f.value_of(a) for a in operation.args]
    for i, value in f.begun.get(id(operation), {}).items():
        values[i] = value
    return values


def lower_checked(f: FunctionLowering, operation: Operation) -> None:
    """Emits a loop with all its checks, and now and then a look for Ctrl-C."""
    head, turn = operation.regions
    b = f.b
    carried: list[Carried | None] = []
    given = inits(f, operation)
    for i, param in enumerate(head.params):
        carried.append(_before(f, operation, i, param, given[i]))
    announce(f, operation, carried)
    f.depth += 1
    before = b.block
    start = b.label("loop")
    b.jump(start)
    b.start(start)
    heavy, b.heavy = b.heavy, False
    for i, c in enumerate(carried):
        param = head.params[i]
        if c is None:
            f.env[id(param)] = (
                given[i] if not isinstance(param._ag_type, Const) else Known(param._ag_type.value)
            )
        else:
            f.env[id(param)] = _phis(f, c, before)
    if not f.region(head):
        f.dead = True
        f.depth -= 1
        return
    assert head.results is not None
    test = f.value_of(head.results[0])
    middle = [f.value_of(r) for r in head.results[1:]]
    for leaf in head.results[1:]:
        if isinstance(leaf, Tensor) and isinstance(f.value_of(leaf), Lazy):
            f._settle(leaf)
    middle = [f.value_of(r) for r in head.results[1:]]
    middle = [
        unions.like(f, v, p._ag_type) if unions.is_number_type(p._ag_type) else v
        for v, p in zip(middle, turn.params)
    ]
    body, after = b.label("turn"), b.label("done")
    if isinstance(test, Known):
        b.jump(body if test.value else after)
    else:
        b.branch(f.test(test), body, after)
    for param, value, out in zip(turn.params, middle, operation.outputs):
        f.env[id(param)] = value
        f.env[id(out)] = value
    for param, inner, value in zip(head.params, turn.params, middle):
        if id(param) in f.counters:
            f.env[id(inner)] = _below_bound(f, value, head.results[0])
    work = b.label("work")
    b.start(work, after=b.block)
    if not isinstance(test, Known):
        b.true.setdefault(f.test(test), []).append(work)
        f.dims.less(f.test(test))
    for param, inner in zip(head.params, turn.params):
        counter = f.env[id(inner)]
        if id(param) in f.counters and isinstance(counter, Number) and counter.low is not None:
            f.dims.note(counter.ir, counter.low, 2**62 if counter.high is None else counter.high)
    goes_on = f.region(turn)
    if goes_on:
        f.flush()
        _again(f, operation, carried, start)
    b.start(body)
    if goes_on:
        f.poll(b.heavy, operation)  # not at the end of a turn: there it would stand between what is computed
    b.jump(work)
    b.heavy = b.heavy or heavy
    b.start(after)
    f.depth -= 1
    if isinstance(test, Known) and test.value:
        b.emit("unreachable")
        f.dead = True
        return
    for out in operation.outputs:
        if id(out) in f.plan.objects and array_type(out._ag_type) is not None:
            f.env[id(out)] = f.as_object(f.env[id(out)], out)


def announce(f: FunctionLowering, operation: Operation, carried: list[Carried | None]) -> None:
    """Says in the listing how a loop is made, and to the machine how it is treated."""
    f.note(_described(carried))
    if all(map(_of_numbers, operation.regions)) and any(map(_has_checks, operation.regions)):
        f.compilation.marks.add(QUICK_LOOPS)


def _of_numbers(region: Region) -> bool:
    """Whether a region computes with single numbers only: of such loops LLVM makes more."""
    return all(
        all(unions.is_number_type(t._ag_type) or isinstance(t._ag_type, Const) for t in operation.outputs)
        and all(map(_of_numbers, operation.regions))
        for operation in region.ops
        if operation.name not in ("range", "ndarray.shape")
    )


CHECKED = frozenset({"get_item", "set_item", "mod", "floordiv", "imod", "ifloordiv", "rshift", "irshift"})
"""Operations whose checks LLVM leaves out, or out of a loop, where it knows the bounds of integers."""


def _has_checks(region: Region) -> bool:
    return any(_is_checked(o) or any(map(_has_checks, o.regions)) for o in region.ops)


def _is_checked(operation: Operation) -> bool:
    if operation.name not in CHECKED:
        return False
    by_known = operation.name not in ("get_item", "set_item") and isinstance(operation.args[1], int)
    return not by_known or operation.args[1] <= 0


def _described(carried: list[Carried | None]) -> str:
    """A line of the listing: where the values live that a loop carries."""
    homes = {"number": "registers", "tagged": "registers", "elements": "registers", "memory": "arrays"}
    found: dict[str, list[str]] = {}
    for c in carried:
        if c is not None:
            name = (c.param._ag_name or "value").removeprefix("arg:")
            found.setdefault(homes.get(c.kind, "objects"), []).append(f"{name}: {c.param._ag_type!r}")
    return "loop" + "".join(f"; in {home}: {', '.join(names)}" for home, names in found.items())


def _counters(f: FunctionLowering, operation: Operation) -> None:
    """Marks additions of 1 to a counter below a bound: they cannot overflow."""
    head, turn = operation.regions
    if not head.results or not isinstance(head.results[0], Tensor):
        return
    test = head.results[0]._ag_op
    if test is None or test.name not in ("lt", "ne") or test not in head.ops or turn.results is None:
        return
    if test.name == "ne":
        return
    counter = test.args[0]
    if not _is_in_reach(counter, test.args[1]):
        return
    for i, param in enumerate(head.params):
        if param is not counter or head.results[1 + i] is not param:
            continue
        result = turn.results[i]
        step = result._ag_op if isinstance(result, Tensor) else None
        if (
            step is not None
            and step.name in ("add", "iadd")
            and step.args[0] is turn.params[i]
            and type(step.args[1]) is int
            and step.args[1] == 1
        ):
            f.plain_adds.add(id(step))
            f.counters.add(id(param))


def _below_bound(f: FunctionLowering, counter: Value, test: Any) -> Value:
    """A counter in the turns of its loop, where the test holds that it is less than a bound."""
    bound = test._ag_op.args[1]
    if isinstance(bound, Tensor) and not isinstance(bound._ag_type, Const) and id(bound) not in f.env:
        return counter  # it is computed anew for each test
    highest = f.number(f.value_of(bound)).high
    if not isinstance(counter, Number) or highest is None:
        return counter
    return replace(counter, high=highest - 1)


def _is_in_reach(counter: Any, bound: Any) -> bool:
    """Whether a counter below a bound cannot overflow: below a float, or a number of another type, it may."""
    t, limit = generalize(type_of_value(counter)), generalize(type_of_value(bound))
    narrow = isinstance(limit, Scalar) and limit.dtype.kind in "iu" and np.can_cast(limit.dtype, np.int64)
    return t == limit or (t == Py(int) and narrow)


def _needs_object(f: FunctionLowering, operation: Operation, i: int, output: bool = True) -> bool:
    head, turn = operation.regions
    ids = [id(head.params[i]), id(turn.params[i])]
    if output:
        ids.append(id(operation.outputs[i]))
    return any(x in f.plan.objects for x in ids)


def _before(f: FunctionLowering, operation: Operation, i: int, param: Tensor, init: Value) -> Carried | None:
    """How a value is carried, set up for the first turn; None: it never changes."""
    head, turn = operation.regions
    t = param._ag_type
    same = (
        head.results is not None
        and head.results[1 + i] is param
        and turn.results is not None
        and turn.results[i] is turn.params[i]
    )
    array = array_type(t)
    if isinstance(t, Const):
        return None
    dtype = scalar_dtype(t)
    if dtype is not None:
        number = f.number(init)
        if same:
            f.env[id(param)] = number
            return None
        low, high = f.bounds(param)
        if id(param) in f.counters:
            low = number.low
        number = replace(number, low=low, high=high)
        return Carried("number", param, number)
    if alternatives(t):
        value = unions.like(f, init, t)
        if same:
            f.env[id(param)] = value
            return None
        return Carried("tagged", param, value)
    if same and not isinstance(init, (Known, Lazy)) and not (array and _needs_object(f, operation, i)):
        return None
    if array is None:
        slot = f.new_slot()
        f.set_slot(slot, f.owned(operation.args[i]))
        return Carried("object", param, init, slot=slot)
    is_view = isinstance(init, Memory) and not init.is_object
    if _needs_object(f, operation, i, output=False) or (
        _needs_object(f, operation, i) and (is_view or not _in_registers(f, param, init, array))
    ):
        if same and isinstance(init, Memory) and init.is_object:
            return None
        slot = f.new_slot()
        f.set_slot(slot, f.owned(operation.args[i]))
        value = f.value_of(operation.args[i])
        contiguous = isinstance(value, Memory) and value.contiguous and id(param) not in f.plan.strided
        return Carried("array", param, Known(contiguous), slot=slot)
    if _in_registers(f, param, init, array):
        elements = arrays.elements(f, init)
        slot = -1
        if id(operation.outputs[i]) in f.plan.objects:
            slot = f.new_slot()
            if isinstance(init, Elements) and init.origin is None and not init.fresh:
                f.plan.need(f.plan.objects, operation.args[i])  # it may be an object that others know
            owner = init.origin if isinstance(init, Elements) else getattr(init, "slot", None)
            f.set_slot(slot, "null" if owner is None else f.incref(f.get_slot(owner)))
        return Carried("elements", param, elements, slot=slot)
    memory = arrays.lasting(f, init)
    slot = f.new_slot()
    f.set_slot(slot, f.incref(f.get_slot(memory.slot)) if memory.slot is not None else "null")
    if memory.contiguous and id(param) in f.plan.strided:
        memory = replace(memory, contiguous=False, ordered=True)
    ordered = arrays.in_order(memory) and id(param) not in f.plan.unordered
    memory = replace(memory, ordered=ordered)
    return Carried("memory", param, memory, slot=slot)


def _in_registers(f: FunctionLowering, param: Tensor, init: Value, t: Any) -> bool:
    if id(param) in f.plan.memory or None in t.shape:
        return False
    size = 1
    for d in t.shape:
        size *= d
    ordered = arrays.in_order(init)
    return size <= SMALL and f.is_pure(param) and isinstance(init, (Elements, Memory, Lazy)) and ordered


def _phis(f: FunctionLowering, c: Carried, before: str) -> Value:
    b = f.b

    def phi(kind: str, operand: int | str) -> str:
        new = b.phi(kind)
        new.incoming.append((str(operand), before))
        c.phis.append(new)
        return new.name

    v = c.value
    t = c.param._ag_type
    if c.kind == "number":
        assert isinstance(v, Number)
        parts = tuple(phi(register(v.dtype), p) for p in v.parts)
        return Number(t, v.dtype, parts, v.low, v.high)
    if c.kind == "tagged":
        return unions.rebuilt(v, iter([phi(kind, p) for kind, p in unions.pieces(v)]))  # type: ignore[no-any-return]
    if c.kind == "object":
        return f.from_slot(c.slot, t, c.param)
    if c.kind == "array":
        assert isinstance(v, Known)
        m = f.unpack_array(c.slot, array_type(t), c.param)
        return f.as_contiguous(m) if v.value else m
    if c.kind == "elements":
        assert isinstance(v, Elements)
        kind = register(v.dtype)
        items = tuple(tuple(phi(kind, p) for p in item) for item in v.items)
        return Elements(v.dtype, v.shape, items, c.slot if c.slot >= 0 else None, False)
    assert isinstance(v, Memory)
    array = array_type(t)
    assert array is not None and array.shape is not None
    data = phi("ptr", v.data)
    dims = tuple(d if d is not None else phi("i64", v.dims[k]) for k, d in enumerate(array.shape))
    root = f.roots.find(id(c.param))
    if v.contiguous:
        return f.as_contiguous(Memory(v.dtype, data, dims, (), c.slot, False, True, root))
    strides = tuple(phi("i64", s) for s in v.strides)
    return Memory(v.dtype, data, dims, strides, c.slot, False, False, root, ordered=v.ordered)


def _again(f: FunctionLowering, operation: Operation, carried: list[Carried | None], start: str) -> None:
    """The way back: new values for the phis and slots."""
    b = f.b
    head, turn = operation.regions
    assert head.results is not None and turn.results is not None
    incoming: list[tuple[Phi, str]] = []
    owners: list[tuple[int, str]] = []
    for i, c in enumerate(carried):
        if c is None:
            continue
        leaf = turn.results[i]
        value = f.value_of(leaf)
        if c.kind == "number":
            number = f.number(value)
            incoming += list(zip(c.phis, number.parts))
        elif c.kind == "tagged":
            same = unions.like(f, value, c.param._ag_type)
            incoming += list(zip(c.phis, (name for _, name in unions.pieces(same))))
        elif c.kind == "object":
            if leaf is not turn.params[i] or head.results[1 + i] is not head.params[i]:
                owners.append((c.slot, f.owned(leaf)))
        elif c.kind == "array":
            owners.append((c.slot, f.owned(leaf)))
            assert isinstance(c.value, Known)
            value = f.value_of(leaf)
            if c.value.value and not (isinstance(value, Memory) and value.contiguous):
                f.plan.need(f.plan.strided, c.param)
        elif c.kind == "elements":
            passed = leaf is turn.params[i]
            elements = arrays.elements(f, value)
            if c.slot >= 0 and not passed:
                if isinstance(value, Memory) and value.is_object and value.slot is not None:
                    owners.append((c.slot, f.incref(f.get_slot(value.slot))))
                elif isinstance(value, Memory) or (isinstance(value, Elements) and not value.fresh):
                    f.plan.need(f.plan.memory, c.param)
                else:
                    owners.append((c.slot, "null"))
            flat = [p for item in elements.items for p in item]
            incoming += list(zip(c.phis, flat))
        else:
            assert isinstance(c.value, Memory)
            memory = arrays.lasting(f, value)
            if c.value.contiguous and not memory.contiguous:
                f.plan.need(f.plan.strided, c.param)
            if c.value.ordered and not arrays.in_order(memory):
                f.plan.need(f.plan.unordered, c.param)
            operands: list[int | str] = [memory.data]
            array = array_type(c.param._ag_type)
            assert array is not None and array.shape is not None
            operands += [memory.dims[k] for k, d in enumerate(array.shape) if d is None]
            if not c.value.contiguous:
                operands += list(memory.strides)
            incoming += [(p, str(o)) for p, o in zip(c.phis, operands)]
            owners.append((c.slot, f.incref(f.get_slot(memory.slot)) if memory.slot is not None else "null"))
    for slot, owner in owners:
        if owner == "null":
            f.empty_slot(slot)
        else:
            f.set_slot(slot, owner)
    for phi, operand in incoming:
        phi.incoming.append((operand, b.block))
    b.jump(start)
