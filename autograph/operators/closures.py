"""Functions made while the graph runs: code that is known, over captured values that are not.

A nested function that refers to constants only stays a plain Python function of the trace. One that refers to
values of the graph is, as a value, a function made when the graph runs, which may outlive it: over the values
themselves, and the places of its variables. Where the graph calls it, what it captured is read back.
"""

from __future__ import annotations

import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograph.core.generated import is_generated
from autograph.graph.graph import Tensor
from autograph.graph.types import BOTTOM, MADE, ClosureT, Const, Type, Union
from autograph.operators.tracer import Trace, current, emit, require, vtype
from autograph.operators.variables import Box
from autograph.ops.base import define, type_of


class Template:
    """The part of a closure that is known while the graph is built."""

    def __init__(self, function: types.FunctionType, key: Any) -> None:
        self.function, self.key = function, key

    def __repr__(self) -> str:
        return f"function {self.function.__name__}"


MAKE_CLOSURE = define(
    "closure",
    lambda template, *captures: _make(template, captures),
    lambda template, *captures: ClosureT(
        template.key, template.function, tuple(type_of(c) for c in captures)
    ),
    "alloc",
)


def _captured_rule(closure: Any, index: int) -> Type:
    return closure.captures[index] if isinstance(closure, ClosureT) else BOTTOM


CAPTURED = define("captured", lambda fn, index: MADE[fn][1][index], _captured_rule, "total", "view")


def _parts(fn: types.FunctionType) -> Iterator[tuple[str, Any, Any]]:
    """What a function refers to: (kind, index or name, value), cells before defaults."""
    for i, cell in enumerate(fn.__closure__ or ()):
        try:
            yield "cell", i, cell.cell_contents
        except ValueError:
            yield "empty", i, None
    for i, value in enumerate(fn.__defaults__ or ()):
        yield "default", i, value
    for name, value in (fn.__kwdefaults__ or {}).items():
        yield "keyword", name, value


def _is_captured(value: Any) -> bool:
    return isinstance(value, (Tensor, Box, bool, int, float, complex, tuple)) or refers(value)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Box) and isinstance(value.cell, Tensor):
        yield value.cell
    elif isinstance(value, tuple):
        for item in value:
            yield from _tensors(item)


def captured_tensors(fn: Any) -> Iterator[Tensor]:
    """The tensors that a nested function refers to, directly."""
    if isinstance(fn, types.FunctionType) and is_generated(fn.__code__):
        for _, _, content in _parts(fn):
            yield from _tensors(content)


def is_local(value: Any) -> bool:
    """Whether a value is a nested function that refers to values of a branch, a turn of a loop or a call."""
    trace = current()
    if trace is None:
        return False
    body = trace.graph.body
    return refers(value, lambda tensor: tensor._ag_region not in (None, body))


def refers(
    value: Any, choose: Callable[[Tensor], bool] = lambda tensor: True, seen: frozenset[int] = frozenset()
) -> bool:
    """Whether a value is a nested function that refers to such tensors, directly or through others."""
    if not isinstance(value, types.FunctionType) or not is_generated(value.__code__) or id(value) in seen:
        return False
    seen = seen | {id(value)}
    return any(
        any(map(choose, _tensors(content))) or refers(content, choose, seen)
        for _, _, content in _parts(value)
    )


def _split(fn: types.FunctionType) -> tuple[Any, list[Any]]:
    """The known part of a function, as a key, and its captured values."""
    from autograph.graph.types import const_key

    key: list[Any] = [id(fn.__code__)]
    captures: list[Any] = []
    for kind, where, value in _parts(fn):
        if value is fn:
            key.append((kind, where, "itself"))
        elif _is_captured(value):
            key.append((kind, where, type(value) is Box))
            captures.append(value.cell if isinstance(value, Box) else value)
        else:
            key.append((kind, where, const_key(value)))
    return tuple(key), captures


def closure_type(fn: types.FunctionType) -> Type:
    """The type of a local function as a value."""
    key, captures = _split(fn)
    return ClosureT(key, fn, tuple(closure_type(c) if refers(c) else vtype(c) for c in captures))


def pack_closure(fn: types.FunctionType) -> Any:
    """The run-time value of a local function: the same each time, as far as it reaches."""
    from autograph.operators.tracer import pack

    trace = require()
    key, captures = _split(fn)
    known = trace.closures.get(id(fn))
    if known is not None and known[:2] == (fn, key) and trace.reaches(known[3]):
        same = itertools.zip_longest(known[2], captures, fillvalue=known)
        if all(itertools.starmap(operator.is_, same)):
            return known[3]
    if fn in trace.closing:
        trace.refuse(
            f"the function '{fn.__name__}' is kept or returned, and refers to itself through another one",
            "Each would have to be made before the other.",
            "Make the functions outside.",
        )
    trace.closing.append(fn)
    try:
        values = [pack_closure(c) if refers(c) else pack(c) for c in captures]
    finally:
        trace.closing.pop()
    made = emit(MAKE_CLOSURE, Template(fn, key), *values, raw=True)
    trace.closures[id(fn)] = fn, key, captures, made
    return made


def as_value(value: Any) -> Any:
    """A function over values of the graph as one made when the graph runs; anything else as it is."""
    if isinstance(value, Tensor):
        if not may_be_of_trace(value._ag_type):
            return value
        from autograph.operators.branches import split

        return split(value, _is_of_trace, as_value, lambda other: other)
    return pack_closure(value) if refers(value) else value


def _is_of_trace(t: Type) -> bool:
    return isinstance(t, Const) and refers(t.value)


def may_be_of_trace(t: Type) -> bool:
    """Whether one of the alternatives of a type is a function of the trace over values of the graph."""
    return isinstance(t, Union) and any(map(_is_of_trace, t.members))


def rebuild(closure: Tensor) -> types.FunctionType:
    """A plain function of the trace over the captured values of a function made when the graph runs."""
    t = closure._ag_type
    assert isinstance(t, ClosureT)
    values = (emit(CAPTURED, closure, i) for i in range(len(t.captures)))
    return _assembled(t.template, values, current())


def _make(template: Template, captures: tuple[Any, ...]) -> types.FunctionType:
    """The run-time value: a function that outlives the graph."""
    made = _assembled(template.function, iter(captures), None)
    MADE[made] = template.key, captures
    return made


def _assembled(
    template: types.FunctionType, values: Iterator[Any], owner: Trace | None
) -> types.FunctionType:
    """A function of a template's code over other captured values, with the variables of a trace (or none)."""
    cells: list[types.CellType] = []
    defaults: list[Any] = []
    keywords: dict[str, Any] = {}
    itself: list[types.CellType] = []
    for kind, where, value in _parts(template):
        if value is template:
            new: Any = None
        elif isinstance(value, Box):
            new = Box.around(value.name, next(values), owner)
        elif _is_captured(value):
            new = next(values)
        else:
            new = value
        if kind in ("cell", "empty"):
            cell = types.CellType() if kind == "empty" else types.CellType(new)
            cells.append(cell)
            if value is template:
                itself.append(cell)
        elif kind == "default":
            defaults.append(new)
        else:
            keywords[where] = new
    made = types.FunctionType(
        template.__code__,
        template.__globals__,
        template.__name__,
        tuple(defaults) or None,
        tuple(cells) if cells else None,
    )
    made.__kwdefaults__ = keywords or None
    made.__qualname__, made.__module__, made.__doc__ = (
        template.__qualname__,
        template.__module__,
        template.__doc__,
    )
    made.__annotations__ = template.__annotations__
    for cell in itself:
        cell.cell_contents = made
    return made
