"""Converts functions on demand, and keeps what was converted."""

from __future__ import annotations

import builtins
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

from autograph import kept
from autograph.converters import Resolved, convert
from autograph.core.loader import UserFunctions, compile_factory
from autograph.core.parser import FunctionSource, parse_function
from autograph.graph.types import const_key
from autograph.operators import calls
from autograph.operators.external import is_user_module
from autograph.operators.scope import Scope
from autograph.operators.tracer import current
from autograph.operators.variables import CellReference, GlobalReference, Reference

_lock = threading.RLock()
_KEY = "__autograph_converted__"
_MISSING = object()


class _Source:
    """What is known of a code object: its source, once it is needed, and its records."""

    def __init__(self, fn: types.FunctionType) -> None:
        key = id(fn.__code__)
        self.code = weakref.ref(fn.__code__, lambda _: _sources.pop(key, None))
        self.cells = frozenset(fn.__code__.co_freevars)
        self.parsed: FunctionSource | None = None
        self.records: dict[frozenset[str], kept.Record] = {}
        self.resolved: dict[frozenset[str], Resolved] = {}
        self.factories: dict[Any, types.CodeType] = {}

    def source(self, fn: types.FunctionType) -> FunctionSource:
        if self.parsed is None:
            self.parsed = parse_function(fn)
        return self.parsed

    def record(self, fn: types.FunctionType, shadowed: frozenset[str]) -> kept.Record:
        if shadowed not in self.records:
            name = None if _debugging() else kept.name_of(fn, shadowed)
            found = kept.load(name)
            if found is None:
                resolved = Resolved(self.source(fn), shadowed, self.cells)
                self.resolved[shadowed] = resolved
                found = kept.Record(name, sorted(resolved.external_names()))
            self.records[shadowed] = found
        return self.records[shadowed]


_sources: dict[int, _Source] = {}


class _Converted:
    """The converted form of one function object, and the outside values that it was made for."""

    def __init__(
        self,
        fn: types.FunctionType,
        result: Any,
        tree: Callable[[types.FunctionType], Any],
        outside: list[tuple[Reference, Any]],
    ) -> None:
        self.function = weakref.ref(fn)
        self.result, self.tree, self.outside = result, tree, outside
        self.defaults = (fn.__defaults__, fn.__kwdefaults__)

    def holds(self, fn: types.FunctionType) -> bool:
        same = self.function() is fn and all(_peek(r) is v for r, v in self.outside)
        return same and self.defaults[0] is fn.__defaults__ and self.defaults[1] is fn.__kwdefaults__


class _Defaults(Reference):
    """The default values of a function's parameters: numbers by value, other objects by identity."""

    def __init__(self, fn: types.FunctionType) -> None:
        self.fn = fn
        self.key = ("defaults", id(fn))

    def get(self) -> Any:
        keywords = self.fn.__kwdefaults__ or {}
        return const_key((*(self.fn.__defaults__ or ()), *keywords, *keywords.values()))

    def __repr__(self) -> str:
        return f"{self.fn.__name__}.__defaults__"


def _debugging() -> bool:
    return os.environ.get("AUTOGRAPH_DEBUG", "0") >= "1"


def _peek(reference: Reference) -> Any:
    try:
        return reference.get()
    except NameError:
        return _MISSING


def _is_static_name(value: Any) -> bool:
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)):
        return True
    return hasattr(type(value), "__autograph_call__") or type(value).__name__ == "ufunc"


def converted(fn: types.FunctionType) -> _Converted:
    """The converted form of a function, made anew where an outside name changed its meaning."""
    with _lock:
        found = fn.__dict__.get(_KEY)
        if found is None or not found.holds(fn):
            found = _convert(fn)
            fn.__dict__[_KEY] = found
    trace = current()
    if trace is not None:
        for reference, value in found.outside:
            trace.guards.setdefault(reference.key, (reference, ("static", value)))
        if fn.__defaults__ or fn.__kwdefaults__:
            defaults = _Defaults(fn)
            trace.guards.setdefault(defaults.key, (defaults, ("value", defaults.get())))
    return found


def _convert(fn: types.FunctionType) -> _Converted:
    entry = _sources.get(id(fn.__code__))
    if entry is None or entry.code() is not fn.__code__:
        entry = _sources[id(fn.__code__)] = _Source(fn)
    namespace = fn.__globals__
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    shadowed = frozenset(n for n in namespace if hasattr(builtins, n) and not n.startswith("__"))
    static: dict[str, tuple[Reference, Any]] = {}
    record = entry.record(fn, shadowed)
    for name in record.names:
        reference: Reference = (
            CellReference(cells[name], name) if name in cells else GlobalReference(namespace, name)
        )
        value = _peek(reference)
        if value is not _MISSING and _is_static_name(value):
            static[name] = (reference, value)
    modules = frozenset(
        n
        for n, (_, v) in static.items()
        if isinstance(v, types.ModuleType) and not is_user_module(v.__name__) and v is not sys
    )
    free = tuple(n for n in static if n in cells)

    def tree(fn: types.FunctionType) -> Any:
        return convert(
            entry.source(fn),
            static=frozenset(static),
            external_cells=entry.cells,
            modules=modules,
            shadowed=shadowed,
            resolved=entry.resolved.pop(shadowed, None),
        )

    kind = repr((sorted(static), sorted(modules), free))
    code = entry.factories.get((kind, shadowed)) or record.code(kind)
    if code is None:
        new = tree(fn)
        factory = compile_factory(
            new,
            filename=fn.__code__.co_filename,
            fn_globals=namespace,
            static_free=free,
            qualname=fn.__qualname__,
            name=fn.__name__ if fn.__name__ == "<lambda>" else fn.__code__.co_name,
            user_functions=UserFunctions(entry.source(fn).node),
        )
        code = factory.__code__  # alone: the globals of a factory are the function's, which must not be kept
        record.add(kind, code)
        if _debugging():
            from autograph.core.unparser import to_source

            print(to_source(new), file=sys.stderr)
    entry.factories[kind, shadowed] = code
    scope = Scope(namespace, cells, {n: r for n, (r, _) in static.items()})
    result = types.FunctionType(code, namespace)(scope, *(static[n][1] for n in free))
    target = getattr(result, "__autograph_generator__", result)
    target.__defaults__, target.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    for function in {result, target}:
        function.__name__, function.__qualname__ = fn.__name__, fn.__qualname__
        function.__module__, function.__doc__ = fn.__module__, fn.__doc__
    names = (_names(fn.__code__) - shadowed - set(cells)).intersection(dir(builtins))
    known = [
        (GlobalReference(namespace, n), getattr(builtins, n)) for n in sorted(names) if not n.startswith("__")
    ]
    return _Converted(fn, result, tree, [*static.values(), *known])


def _names(code: types.CodeType) -> set[str]:
    """The names of globals and attributes in a function and those inside it."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def convert_function(fn: types.FunctionType) -> Any:
    """The converted function to call in the place of `fn`."""
    return converted(fn).result


calls.converter = convert_function
