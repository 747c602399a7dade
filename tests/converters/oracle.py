"""Runs a function as it is and as converted code, and compares value, exception and printed text."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import re
import types

from autograph.converters import convert, external_names
from autograph.core.loader import compile_factory
from autograph.core.parser import parse_function
from autograph.core.unparser import to_source
from tests.converters.plain_operators import make_operators

_ADDRESS = re.compile("0x[0-9a-f]+")
_STATIC = (types.FunctionType, type, types.ModuleType, types.BuiltinFunctionType)


def convert_plainly(function):
    """The converted function, on plain operators; its `tree` is what was generated."""
    source = parse_function(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    space = function.__globals__

    def value(name):
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                return None
        return space.get(name)

    names = external_names(source)
    static = frozenset(name for name in names if isinstance(value(name), _STATIC))
    modules = frozenset(name for name in static if isinstance(value(name), types.ModuleType))
    node = convert(source, static=static, external_cells=frozenset(cells), modules=modules)
    free = tuple(sorted(name for name in static if name in cells))
    factory = compile_factory(
        node, filename=source.filename, fn_globals=space, static_free=free, qualname=function.__qualname__
    )
    result = factory(make_operators(space, cells), *[value(name) for name in free])
    if inspect.isfunction(result) and not inspect.isgeneratorfunction(function):
        result.__defaults__ = function.__defaults__
        result.__kwdefaults__ = function.__kwdefaults__
    result.tree = node
    return result


def outcome(function, args, kwargs=None, watch=()):
    """What a call does, as comparable text."""
    args, kwargs = copy.deepcopy((args, kwargs or {}))
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        try:
            value = function(*args, **kwargs)
            if inspect.isgenerator(value) or type(value).__name__ == "_Generator":
                value = ("generator", list(value))
            result = ("value", show(value))
        except Exception as error:
            chain = (type(error.__cause__), type(error.__context__), error.__suppress_context__)
            result = ("error", type(error), _ADDRESS.sub("0x", str(error)), chain)
    return result, _ADDRESS.sub("0x", text.getvalue()), show((args, kwargs))


def show(value):
    """A text of a value that does not depend on where it lies in memory."""
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [show(each) for each in value]
        return type(value).__name__, tuple(
            sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
        )
    if isinstance(value, dict):
        return "dict", tuple((show(k), show(v)) for k, v in value.items())
    if callable(value):
        return "callable", getattr(value, "__name__", "")
    if hasattr(value, "__dict__") and type(value).__repr__ is object.__repr__:
        return type(value).__name__, show(vars(value))
    return type(value).__name__, _ADDRESS.sub("0x", repr(value))


def check(function, *calls):
    """Asserts that the converted function does what the function does, for every tuple of arguments."""
    converted = convert_plainly(function)
    for args in calls or ((),):
        expected, actual = outcome(function, args), outcome(converted, args)
        assert actual == expected, f"{args}\n{expected}\n{actual}\n{to_source(converted.tree)}"
    return converted
