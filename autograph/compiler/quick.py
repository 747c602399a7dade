"""Adds what a call has shown to the quick way into compiled code (`entry`)."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.compiler import backend, entry
from autograph.compiler.entry import (
    ARRAY,
    BY_CALL,
    DICT,
    EXACT,
    IDENTITY,
    IN_CELL,
    IN_DICT,
    INTEGER,
    TUPLE,
    Refused,
)
from autograph.graph.graph import Graph
from autograph.graph.types import Array, Const, Py, Ref, Scalar, TupleT, Type

NUMBERS = (bool, int, float, complex)
SETTLED = (
    str,
    type,
    np.ufunc,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    type(np.sum),
)
"""Classes of objects of which a trace sees no more than which ones they are."""


def spec_of(value: Any, t: Type, leaves: list[Any]) -> tuple[Any, ...]:
    """How an argument like this one, of a type, is told from others; its leaves are added to the list."""
    if isinstance(t, Const):
        if type(value) in NUMBERS or isinstance(value, (tuple, np.generic)):
            raise Refused
        return IDENTITY, value
    if isinstance(t, TupleT):
        if type(value) is not t.cls:
            raise Refused
        items: Any = value
        return TUPLE, t.cls, [spec_of(v, i, leaves) for v, i in zip(items, t.items)]
    leaves.append(value)
    if isinstance(t, Py) and t.cls is int:
        return INTEGER, int
    if isinstance(t, Py) and t.cls in NUMBERS:
        return EXACT, t.cls
    if isinstance(t, Scalar):
        return EXACT, type(value)
    if isinstance(t, Array) and t.shape is not None:
        return _array(value, t.shape)
    if isinstance(t, Ref) and t.kind == "dict" and type(value) is dict:
        return DICT, dict, [(k, _held(v)) for k, v in value.items() if _key(k)]
    raise Refused


def _key(key: Any) -> bool:
    if type(key) is not str:
        raise Refused
    return True


def _array(value: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
    if not (value.flags.c_contiguous and value.flags.aligned) or value.dtype is not np.dtype(
        value.dtype.char
    ):
        raise Refused
    return ARRAY, np.ndarray, value.dtype, shape, value.flags.writeable


def _held(value: Any) -> tuple[Any, ...]:
    """As `spec_of` for what a dict holds: of the very kind that is there."""
    if type(value) is int:
        return INTEGER, int
    if type(value) in NUMBERS or isinstance(value, np.generic):
        return EXACT, type(value)
    if type(value) is np.ndarray:
        return _array(value, value.shape)
    if value is None or isinstance(value, str):
        return IDENTITY, value
    raise Refused


def _sized(spec: tuple[Any, ...], kinds: Iterator[tuple[int, ...]], seen: set[int]) -> tuple[Any, ...]:
    """The same with what is told of open dimensions, as `entry` takes it."""
    if spec[0] == TUPLE:
        return (*spec[:2], [_sized(item, kinds, seen) for item in spec[2]])
    codes = iter(next(kinds, ()) if spec[0] != IDENTITY else ())
    if spec[0] != ARRAY:
        return spec
    dims = []
    for d in spec[3]:
        code = next(codes, 0) if d is None else 0
        dims.append(1 if code == 1 else -(2 * code + (code in seen)) if code else d)
        seen.add(code)
    return (*spec[:3], tuple(dims), spec[4])


def add(
    record: entry.Record,
    graph: Graph,
    types: tuple[Type, ...],
    args: tuple[Any, ...],
    guards: list[tuple[int, Any, Any, Any]],
) -> None:
    """Adds the variant that a call has run, if its kind is one that the routine can tell."""
    leaves: list[Any] = []
    try:
        specs = [spec_of(v, t, leaves) for v, t in zip(args, types)]
    except Refused:
        return
    arrays = sum(type(v) is np.ndarray for v in leaves)
    holders = sum(type(v) is dict for v in leaves)
    if len(leaves) > entry.MAX_LEAVES or arrays > entry.MAX_ARRAYS or holders > 1:
        return
    kinds = iter(backend.sizes(graph, leaves))
    seen: set[int] = set()
    specs = [_sized(spec, kinds, seen) for spec in specs]
    native = backend.variant(graph, leaves)
    if native is None or not backend.all_plain(leaves):
        return
    record.add(specs, native, guards, arrays > 1)


def guard(reference: Any, value: Any, holds: Callable[[], bool]) -> tuple[int, Any, Any, Any]:
    """How the routine checks that an outside value is as it was."""
    if _settled(value):
        namespace, name = getattr(reference, "namespace", None), getattr(reference, "name", None)
        if type(namespace) is dict:  # a name that is not there is a builtin's
            return IN_DICT, namespace, name, value if name in namespace else entry.NOTHING
        cell = getattr(reference, "cell", None)
        if cell is not None:
            return IN_CELL, cell, None, value
    return BY_CALL, holds, None, True


def _settled(value: Any) -> bool:
    """Whether an object is all that a trace has seen of it as long as it is the same one."""
    known = value is None or type(value) in (*NUMBERS, *SETTLED)
    return known or hasattr(type(value), "__autograph_call__")
