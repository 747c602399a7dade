"""sum() of what is made item by item, without a list of the items.

Of which kinds the items are is known once they were traced: the first pass makes a list; where they add up
one by one, the next pass has a loop.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import Array, Const, Py, Scalar, Type, generalize, members
from autograph.operators.branches import if_exp
from autograph.operators.calls import call
from autograph.operators.loops import for_stmt
from autograph.operators.objects import has_object
from autograph.operators.tracer import Restart, emit, pack, require, vtype
from autograph.ops import arithmetic, core
from autograph.ops.base import infer

COMPENSATED = sys.version_info >= (3, 12)
"""Whether Python's sum of floats carries what it rounds off (Neumaier's algorithm)."""


def kind_of(elem: Type | None) -> Any:
    """How items of a type are added: "plainly", as "floats" (of Python's); "" if they need a list.

    For arrays that are all alike, of one dimension, their type: the sum has a buffer from the beginning.
    """
    if elem is None:
        return ""
    kinds = {generalize(m) for m in members(elem)}
    if kinds == {Py(float)}:
        return "floats" if COMPENSATED else "plainly"
    if len(kinds) == 1 and isinstance(kind := next(iter(kinds)), Array) and is_row(kind):
        return kind
    plain = (Py(int), Py(bool))
    return "plainly" if kinds and all(isinstance(k, (Array, Scalar)) or k in plain for k in kinds) else ""


def is_row(t: Array) -> bool:
    """Whether arrays of a type have one dimension, of a known size, and numbers."""
    return t.shape is not None and len(t.shape) == 1 and t.shape[0] is not None and t.dtype.kind in "biufc"


def in_loop(iterable: Any, start: Any) -> Any:
    """The sum of items, added as they come, where an earlier pass found that they can be; else None."""
    trace = require()
    key = trace.key("sum")
    kind = trace.decisions.sums.get(key)
    if not kind:
        return None

    def check(item: Any) -> None:
        if kind_of(vtype(item)) != kind:
            trace.decisions.sums[key] = ""
            raise Restart

    if kind == "floats":
        return _floats(iterable, start, check)
    if isinstance(kind, Array) and vtype(start) == Const(0):
        return _rows(iterable, kind, check)
    return _plainly(iterable, start, check)


def of_rows(x: Any, start: Any) -> Any:
    """The sum of the rows of an array, of which there is at least one."""
    first = emit(arithmetic.BINARY["+"], pack(start), pack(x[0]))
    return first if x._ag_type.shape[0] == 1 else _plainly(x[1:], first, lambda item: None)


def decide(elem: Type | None, start: Any) -> None:
    """Decides, once, whether items of a type are added as they come, in the next pass."""
    trace = require()
    kind = kind_of(elem) if not has_object(start) else ""
    if kind == "floats" and vtype(start) != Const(0) and generalize(vtype(start)) != Py(float):
        kind = ""
    if trace.key("sum") not in trace.decisions.sums:
        trace.decisions.sums[trace.key("sum")] = kind
        if kind:
            trace.decisions.change("what sum() is given is added as it comes")


def _plainly(iterable: Any, start: Any, check: Callable[[Any], None]) -> Any:
    state = [start]

    def turn(item: Any) -> None:
        check(item)
        state[0] = emit(arithmetic.BINARY["+"], pack(state[0]), pack(item))

    _loop(iterable, turn, state, ("the sum",))
    return state[0]


def _rows(iterable: Any, t: Array, check: Callable[[Any], None]) -> Any:
    """The sum of arrays: of zeros and all of them, which is what 0 and all of them give, or 0 without any."""
    total = infer(arithmetic.BINARY["+"], (Const(0), t), {})
    assert isinstance(total, Array)
    state: list[Any] = [call(np.zeros, t.shape, total.dtype), False]

    def turn(item: Any) -> None:
        check(item)
        state[:] = [state[0] + item, True]

    _loop(iterable, turn, state, ("the sum", "whether there is an item"))
    return if_exp(state[1], lambda: state[0], lambda: 0)


def _floats(iterable: Any, start: Any, check: Callable[[Any], None]) -> Any:
    """The sum of Python's floats as Python 3.12 and later have it."""
    of_float = generalize(vtype(start)) == Py(float)
    state = [start if of_float else 0.0, 0.0, of_float]

    def turn(item: Any) -> None:
        check(item)
        total, rest, _ = state
        new = total + item
        large = emit(core.ABS, pack(total)) >= emit(core.ABS, pack(item))
        lost = if_exp(large, lambda: (total - new) + item, lambda: (item - new) + total)
        state[:] = [new, rest + lost, True]

    _loop(iterable, turn, state, ("the sum", "what the sum lacks", "whether there is an item"))
    total, rest, some = state
    finite = if_exp(rest != 0.0, lambda: emit(core.ABS, pack(rest)) < float("inf"), lambda: False)
    return if_exp(some, lambda: if_exp(finite, lambda: total + rest, lambda: total), lambda: 0)


def _loop(iterable: Any, turn: Callable[[Any], None], state: list[Any], names: tuple[str, ...]) -> None:
    def put(values: tuple[Any, ...]) -> None:
        state[:] = values

    for_stmt(iterable, None, turn, lambda: tuple(state), put, names)


__all__ = ["decide", "in_loop", "of_rows"]
