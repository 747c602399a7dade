"""Compiles converted functions and makes them callable, without touching the module they came from.

A converted function is compiled inside a factory:

    def factory(ag__, <static free variables>):
        def <unique name>(<parameters>): ...
        return <unique name>

so that `ag__` and the free variables reach it as closure cells. The tree is compiled directly (its text is
only for people), with the user's file name and lines, so that tracebacks and debuggers show the user's
source. The unique name keeps the function itself out of its own body's sight, where its name means what it
meant for the user (the decorated function, for a recursive one); the code objects get the real name back
afterwards.
"""

from __future__ import annotations

import ast
import types
import weakref
from collections.abc import Callable
from typing import Any

import gast

__all__ = ["UserFunctions", "compile_factory", "is_generated", "is_part"]

_FACTORY = "factory__"
_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")

# By identity: code objects compare by content, and a user's function may have the same content.
_generated: dict[int, weakref.ref[types.CodeType]] = {}
_parts: dict[int, weakref.ref[types.CodeType]] = {}


class UserFunctions:
    """Which of the functions in converted code the user wrote; the others are parts of those around them."""

    def __init__(self, tree: Any) -> None:
        self._names: set[str] = set()
        self._lambdas: list[range] = []
        for node in gast.walk(tree):
            if isinstance(node, gast.FunctionDef):
                self._names.add(node.name)
            elif isinstance(node, gast.Lambda):
                self._lambdas.append(range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def __contains__(self, code: types.CodeType) -> bool:
        if code.co_name == "<lambda>":
            return any(code.co_firstlineno in lines for lines in self._lambdas)
        return code.co_name in self._names or "<" in code.co_name


def compile_factory(
    node: Any,
    *,
    filename: str,
    fn_globals: dict[str, Any],
    static_free: tuple[str, ...],
    qualname: str = "",
    name: str = "",
    user_functions: UserFunctions | None = None,
) -> Callable[..., types.FunctionType]:
    """Compiles a converted function to `factory(ag, *values_of_static_free) -> function`.

    The function's globals are `fn_globals` itself, in which nothing is stored. The tree is not changed. `name` is
    the user's name of the function, where the tree has another one (a lambda). Code that is not one of
    `user_functions` is called as the function around it, so that tracebacks show the user's names only.

    >>> node = gast.parse("def double(x): return ag__.times(x, two)").body[0]
    >>> factory = compile_factory(node, filename="model.py", fn_globals={}, static_free=("two",))
    >>> double = factory(types.SimpleNamespace(times=lambda a, b: a * b), 2)
    >>> double(21), double.__name__, double.__qualname__, double.__code__.co_filename
    (42, 'double', 'double', 'model.py')
    """
    unique = f"{node.name}__converted"
    definition = gast.gast_to_ast(node)
    _complete_locations(definition)
    definition.name = unique
    parameters = ast.parse(f"def {_FACTORY}({', '.join(('ag__', *static_free))}): return {unique}")
    factory = parameters.body[0]
    assert isinstance(factory, ast.FunctionDef)
    factory.body.insert(0, definition)
    module_code = compile(parameters, filename, "exec", dont_inherit=True)
    factory_code = next(
        c for c in module_code.co_consts if isinstance(c, types.CodeType) and c.co_name == _FACTORY
    )
    name = name or node.name
    factory_code = _renamed(factory_code, f"{_FACTORY}.<locals>.{unique}", unique, qualname or name, name)
    factory_code = _register(factory_code, name, user_functions)
    # A function made by hand, not by exec: exec would add __builtins__ to the dict.
    return types.FunctionType(factory_code, fn_globals, _FACTORY)


def is_generated(code: types.CodeType) -> bool:
    """True for the code of a converted function, and of the functions nested in it.

    >>> is_generated(is_generated.__code__)
    False
    """
    reference = _generated.get(id(code))
    return reference is not None and reference() is code


def is_part(code: types.CodeType) -> bool:
    """True for converted code that is a part of the user's function around it: the body of a loop, for example."""
    reference = _parts.get(id(code))
    return reference is not None and reference() is code


def _complete_locations(tree: ast.AST) -> None:
    """Gives each node a whole position: its own where it has one, else its parent's.

    `ast.fix_missing_locations` fills the four numbers one by one; the start of one node and the end of
    another make a range that the compiler refuses.
    """
    pending: list[tuple[ast.AST, tuple[int, int, int, int]]] = [(tree, (1, 0, 1, 0))]
    while pending:
        node, position = pending.pop()
        if "lineno" in node._attributes:
            position = _own_position(node) or position
            for name, value in zip(_POSITION, position, strict=True):
                setattr(node, name, value)
        pending += [(child, position) for child in ast.iter_child_nodes(node)]


def _own_position(node: ast.AST) -> tuple[int, int, int, int] | None:
    line, column, end_line, end_column = (getattr(node, name, None) for name in _POSITION)
    if line is None:
        return None
    column = column or 0
    if end_line is None or end_column is None or (end_line, end_column) < (line, column):
        end_line, end_column = line, column
    return line, column, end_line, end_column


def _renamed(code: types.CodeType, path: str, unique: str, qualname: str, name: str) -> types.CodeType:
    """The code with the unique name replaced by the user's, in its names, qualified names and nested code."""

    def constant(value: Any) -> Any:
        if isinstance(value, types.CodeType):
            return _renamed(value, path, unique, qualname, name)
        # Before Python 3.11 the qualified name is not in the code object but a constant beside it.
        if isinstance(value, str) and (value == path or value.startswith(path + ".")):
            return qualname + value[len(path) :]
        return value

    changes: dict[str, Any] = {"co_consts": tuple(map(constant, code.co_consts))}
    if code.co_name == unique:
        changes["co_name"] = name
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = constant(code.co_qualname)
    return code.replace(**changes)


def _register(code: types.CodeType, name: str, user_functions: UserFunctions | None, depth: int = 0) -> types.CodeType:
    """The code, noted as converted together with all code in it, under the names of the user's functions."""
    part = depth > 1 and user_functions is not None and code not in user_functions
    if not part and depth > 0:
        name = code.co_name
    constants = tuple(
        _register(c, name, user_functions, depth + 1) if isinstance(c, types.CodeType) else c for c in code.co_consts
    )
    code = code.replace(co_consts=constants, **({"co_name": name} if part else {}))
    key = id(code)
    _generated[key] = weakref.ref(code, lambda _: _generated.pop(key, None))
    if part:
        _parts[key] = weakref.ref(code, lambda _: _parts.pop(key, None))
    return code
