"""Writes out the turns of short loops that are inside of other loops, where their number is known.

In `for i in range(5): for j in range(i + 1, 5): v[i] -= p[j]` all indices become numbers: they are checked
while the graph is compiled, and elements that several turns write stay in registers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autograph.compiler import unions
from autograph.compiler.exits import _is_plain
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import Known, Value
from autograph.graph.graph import Operation, Region, Tensor
from autograph.graph.types import Const, Py

TURNS = 16
SIZE = 640
"""Operations that are written out for a loop, at most."""

FOLDED: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne")},
    **{"i" + name: getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod")},
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "neg": operator.neg,
    "not": operator.not_,
    "range_length": lambda *args: len(range(*args)),
    "range_item": lambda i, start, step: start + i * step,
}
"""What is computed while the graph is compiled, if its operands are known integers."""


def fold(f: FunctionLowering, operation: Operation) -> bool:
    """Gives the result of an operation on known integers its value, if it is one."""
    if operation.name not in FOLDED or operation.outputs[0]._ag_type not in (Py(int), Py(bool)):
        return False
    found = _result(operation, [_value(f, arg, {}) for arg in operation.args])
    if found is None:
        return False
    f.env[id(operation.outputs[0])] = Known(found)
    return True


def _result(operation: Operation, args: list[int | None]) -> int | None:
    if any(a is None for a in args) or operation.kwargs:
        return None
    try:
        found: int = FOLDED[operation.name](*args)
    except (ArithmeticError, ValueError):
        return None
    return found if -(2**63) <= found < 2**63 else None


def _value(f: FunctionLowering, leaf: Any, facts: dict[int, int]) -> int | None:
    """An integer that is known, or that follows from facts about tensors that have no value yet."""
    if not isinstance(leaf, Tensor):
        return leaf if type(leaf) in (int, bool) else None
    if isinstance(leaf._ag_type, Const):
        return _value(f, leaf._ag_type.value, facts)
    if id(leaf) in facts:
        return facts[id(leaf)]
    known = f.env.get(id(leaf))
    if isinstance(known, Known):
        return known.value if type(known.value) in (int, bool) else None
    operation = leaf._ag_op
    if operation is None or known is not None or not facts or operation.name not in FOLDED:
        return None
    return _result(operation, [_value(f, arg, facts) for arg in operation.args])


def _turns(f: FunctionLowering, operation: Operation, facts: dict[int, int]) -> tuple[int, range] | None:
    """The counter of a loop, and what it counts, if these are known."""
    head, turn = operation.regions
    if not head.results or turn.results is None or len(head.ops) != 1 or head.ops[0].name != "lt":
        return None
    test = head.ops[0]
    if head.results[0] is not test.outputs[0]:
        return None
    if any(r is not p for r, p in zip(head.results[1:], head.params)):
        return None
    at = next((i for i, p in enumerate(head.params) if p is test.args[0]), None)
    if at is None or any(test.args[1] is p for p in head.params):
        return None
    result = turn.results[at]
    step = result._ag_op if isinstance(result, Tensor) else None
    if step is None or step.name not in ("add", "iadd") or step.args[0] is not turn.params[at]:
        return None
    first, bound = _value(f, operation.args[at], facts), _value(f, test.args[1], facts)
    if type(step.args[1]) is not int or step.args[1] != 1 or first is None or bound is None:
        return None
    return at, range(first, bound)


def _size(f: FunctionLowering, region: Region, facts: dict[int, int]) -> int:
    """How many operations a region becomes; too many where it has a loop that is not written out."""
    total = 0
    for operation in region.ops:
        total += 1
        if operation.name == "while_loop":
            total += _loop_size(f, operation, facts)
        else:
            total += sum(_size(f, inner, facts) for inner in operation.regions)
        if total > SIZE:
            break
    return total


def _loop_size(f: FunctionLowering, operation: Operation, facts: dict[int, int]) -> int:
    found = _turns(f, operation, facts)
    if found is None or len(found[1]) > TURNS or operation.regions[1].results is None:
        return SIZE + 1
    at, counted = found
    head, turn = operation.regions
    total = 0
    for count in counted:
        total += _size(f, turn, facts | {id(head.params[at]): count, id(turn.params[at]): count})
        if total > SIZE:
            break
    return total


def lower(f: FunctionLowering, operation: Operation) -> bool:
    """Writes out a loop, if it is of that kind."""
    if f.depth == 0 or f.quick is not None or not _is_plain(operation):
        return False
    found = _turns(f, operation, {})
    if found is None or _loop_size(f, operation, {}) > SIZE:
        return False
    at, counted = found
    head, turn = operation.regions
    assert turn.results is not None
    f.note(f"{len(counted)} turns are written out")
    given = [_as(f, f.value_of(a), p) for a, p in zip(operation.args, head.params)]
    for count in counted:
        given[at] = Known(count)
        for value, *params in zip(given, head.params, turn.params):
            f.env |= {id(p): value for p in params}
        if not f.region(turn):
            f.dead = True
            return True
        f.flush()
        given = [_as(f, f.value_of(r), p) for r, p in zip(turn.results, head.params)]
    given[at] = Known(max(counted.start, counted.stop))
    f.env |= {id(out): value for out, value in zip(operation.outputs, given)}
    return True


def _as(f: FunctionLowering, value: Value, param: Tensor) -> Value:
    if isinstance(param._ag_type, Const):
        return Known(param._ag_type.value)
    if unions.is_number_type(param._ag_type):
        return unions.like(f, value, param._ag_type)  # type: ignore[no-any-return]
    return value
