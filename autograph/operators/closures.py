"""Functions made while the graph runs: code that is known, over captured values that are not.

A nested function that only refers to values which exist in the whole graph stays a plain Python function of
the trace. One that refers to values of a branch, of a turn of a loop or of a called graph may outlive them:
as a value it is a run-time `Closure`, whose captured values are read back where it is called.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from autograph.core.generated import is_generated
from autograph.graph.graph import Tensor
from autograph.graph.types import BOTTOM, ClosureT, Type
from autograph.operators.tracer import current, emit, vtype
from autograph.ops.base import define, type_of


class Closure:
    """The run-time value of a function made in the graph."""

    __slots__ = ("captures", "key", "template")

    def __init__(self, template: types.FunctionType, key: Any, captures: tuple[Any, ...]) -> None:
        self.template, self.key, self.captures = template, key, captures


class Template:
    """The part of a closure that is known while the graph is built."""

    def __init__(self, function: types.FunctionType, key: Any) -> None:
        self.function, self.key = function, key

    def __repr__(self) -> str:
        return f"function {self.function.__name__}"


MAKE_CLOSURE = define(
    "closure",
    lambda template, *captures: Closure(template.function, template.key, captures),
    lambda template, *captures: ClosureT(
        template.key, template.function, tuple(type_of(c) for c in captures)
    ),
    "alloc",
)


def _captured_rule(closure: Any, index: int) -> Type:
    return closure.captures[index] if isinstance(closure, ClosureT) else BOTTOM


CAPTURED = define("captured", lambda closure, index: closure.captures[index], _captured_rule, "total", "view")


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
    from autograph.operators.variables import Box

    return isinstance(value, (Tensor, Box, bool, int, float, complex, tuple)) or is_local(value)


def _tensors(value: Any) -> Iterator[Tensor]:
    from autograph.operators.variables import Box

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


def is_local(value: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value is a nested function that refers to values which do not exist in the whole graph."""
    if not isinstance(value, types.FunctionType) or not is_generated(value.__code__) or id(value) in seen:
        return False
    trace = current()
    if trace is None:
        return False
    seen = seen | {id(value)}
    for _, _, content in _parts(value):
        if any(t._ag_region is not None and t._ag_region is not trace.graph.body for t in _tensors(content)):
            return True
        if is_local(content, seen):
            return True
    return False


def _split(fn: types.FunctionType) -> tuple[Any, list[Any]]:
    """The known part of a function, as a key, and its captured values."""
    from autograph.graph.types import const_key
    from autograph.operators.variables import Box

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
    return ClosureT(key, fn, tuple(vtype(c) for c in captures))


def pack_closure(fn: types.FunctionType) -> Any:
    """The run-time value of a local function."""
    from autograph.operators.tracer import pack

    key, captures = _split(fn)
    return emit(MAKE_CLOSURE, Template(fn, key), *(pack(c) for c in captures), raw=True)


def rebuild(closure: Tensor) -> types.FunctionType:
    """A plain function of the trace over the captured values of a run-time closure."""
    from autograph.operators.variables import Box

    t = closure._ag_type
    assert isinstance(t, ClosureT)
    template = t.template
    values = iter([emit(CAPTURED, closure, i) for i in range(len(t.captures))])
    cells: list[types.CellType] = []
    defaults: list[Any] = []
    keywords: dict[str, Any] = {}
    itself: list[types.CellType] = []
    for kind, where, value in _parts(template):
        if value is template:
            new: Any = None
        elif isinstance(value, Box):
            new = Box.around(value.name, next(values))
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
    made.__qualname__ = template.__qualname__
    for cell in itself:
        cell.cell_contents = made
    return made
