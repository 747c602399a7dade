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
from collections.abc import Callable
from typing import Any

import gast

from autograph.core.generated import note_generated
from autograph.core.tree import walk

__all__ = ["UserFunctions", "compile_factory"]

_FACTORY = "factory__"
_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class UserFunctions:
    """Which of the functions in converted code the user wrote; the others are parts of those around them."""

    def __init__(self, tree: Any) -> None:
        self._names: set[str] = set()
        self._lambdas: list[range] = []
        for node in walk(tree):
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

    The function's globals are `fn_globals` itself, in which nothing is stored. The tree is not changed.
    `name` is the user's name of the function, where the tree has another one (a lambda). Code that is not one
    of `user_functions` is called as the function around it, so that tracebacks show the user's names only.

    >>> node = gast.parse("def double(x): return ag__.times(x, two)").body[0]
    >>> factory = compile_factory(node, filename="model.py", fn_globals={}, static_free=("two",))
    >>> double = factory(types.SimpleNamespace(times=lambda a, b: a * b), 2)
    >>> double(21), double.__name__, double.__qualname__, double.__code__.co_filename
    (42, 'double', 'double', 'model.py')
    """
    unique = f"{node.name}__converted"
    definition = _to_ast(node, (1, 0, 1, 0))
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
    path, made = f"{_FACTORY}.<locals>.{unique}", getattr(node, "made_functions", {})
    factory_code = _renamed(
        factory_code, unique, name, lambda text: _qualified(text, path, qualname or name, made)
    )
    factory_code = _register(factory_code, name, user_functions)
    # A function made by hand, not by exec: exec would add __builtins__ to the dict.
    return types.FunctionType(factory_code, fn_globals, _FACTORY)


_Position = tuple[int, int, int, int]
_SHARED: dict[type, Any] = {}  # operators and contexts: they hold nothing


def _to_ast(node: Any, position: _Position) -> Any:
    """The tree for the compiler. Each node gets a whole position: its own, or else its parent's.

    `ast.fix_missing_locations` fills the four numbers one by one; the start of one node and the end of
    another make a range that the compiler refuses.
    """
    kind = type(node)
    if kind in _SHARED:
        return _SHARED[kind]
    target = getattr(ast, kind.__name__)
    if not target._fields and not target._attributes:
        return _SHARED.setdefault(kind, target())
    if kind is gast.arguments:
        return _arguments_to_ast(node, position)
    parts: dict[str, Any] = {}
    if "lineno" in target._attributes:
        position = _own_position(node) or position
        parts["lineno"], parts["col_offset"], parts["end_lineno"], parts["end_col_offset"] = position
        if kind is gast.Attribute and isinstance(node.value, gast.Name) and node.value.id == "ag__":
            # The compiler takes the last line of `a.b` for the line of the call `a.b()`.
            parts["end_lineno"], parts["end_col_offset"] = position[:2]
    values = node.__dict__
    for name in target._fields:
        value = values.get(name)
        if value.__class__ is list:
            value = [_to_ast(item, position) if isinstance(item, ast.AST) else item for item in value]
        elif value is not None and isinstance(value, ast.AST):
            value = _to_ast(value, position)
        parts[name] = value
    if kind is gast.ExceptHandler and node.name is not None:
        parts["name"] = node.name.id
    new = target.__new__(target)
    new.__dict__.update(parts)
    return new


def _arguments_to_ast(node: Any, position: _Position) -> ast.arguments:
    """The parameters of a function, which are names in gast."""

    def parameter(name: Any) -> ast.arg:
        annotation = None if name.annotation is None else _to_ast(name.annotation, position)
        own = dict(zip(_POSITION, _own_position(name) or position))
        return ast.arg(name.id, annotation, name.type_comment, **own)

    def default(value: Any) -> Any:
        return None if value is None else _to_ast(value, position)

    return ast.arguments(
        posonlyargs=[parameter(each) for each in node.posonlyargs],
        args=[parameter(each) for each in node.args],
        vararg=None if node.vararg is None else parameter(node.vararg),
        kwonlyargs=[parameter(each) for each in node.kwonlyargs],
        kw_defaults=[default(each) for each in node.kw_defaults],
        kwarg=None if node.kwarg is None else parameter(node.kwarg),
        defaults=[default(each) for each in node.defaults],
    )


def _own_position(node: Any) -> _Position | None:
    get = node.__dict__.get
    line = get("lineno")
    if line is None:
        return None
    column, end_line, end_column = get("col_offset") or 0, get("end_lineno"), get("end_col_offset")
    if end_line is None or end_column is None or (end_line, end_column) < (line, column):
        end_line, end_column = line, column
    return line, column, end_line, end_column


def _qualified(text: str, path: str, qualname: str, made: dict[str, str]) -> str:
    """The qualified name that a function has in the user's source, from the one that the compiler gave it.

    `made` maps the functions that converters made to what Python calls such a function; those that stand for
    no function of Python's (a branch, the body of a loop) to an empty text.

    >>> made = {"if_body": "", "list_comp": "<listcomp>"}
    >>> _qualified("factory.<locals>.f.<locals>.if_body.<locals>.C.method", "factory.<locals>.f", "A.f", made)
    'A.f.<locals>.C.method'
    >>> _qualified("factory.<locals>.f.<locals>.list_comp.<locals>.<lambda>", "factory.<locals>.f", "f", made)
    'f.<locals>.<listcomp>.<locals>.<lambda>'
    """
    if text != path and not text.startswith(path + "."):
        return text
    inside = text[len(path) :].split(".<locals>.")[1:]
    parts = [made.get(part, part) for part in inside[:-1]] + inside[-1:]
    return ".<locals>.".join([qualname, *filter(None, parts)])


def _renamed(code: types.CodeType, unique: str, name: str, qualified: Callable[[str], str]) -> types.CodeType:
    """The code with the unique name replaced by the user's, in its names, qualified names and nested code."""

    def constant(value: Any) -> Any:
        if isinstance(value, types.CodeType):
            return _renamed(value, unique, name, qualified)
        # Before Python 3.11 the qualified name is not in the code object but a constant beside it.
        return qualified(value) if isinstance(value, str) else value

    changes: dict[str, Any] = {"co_consts": tuple(map(constant, code.co_consts))}
    if code.co_name == unique:
        changes["co_name"] = name
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = constant(code.co_qualname)
    return code.replace(**changes)


def _register(
    code: types.CodeType, name: str, user_functions: UserFunctions | None, depth: int = 0
) -> types.CodeType:
    """The code, noted as converted together with all code in it, under the names of the user's functions."""
    part = depth > 1 and user_functions is not None and code not in user_functions
    if not part and depth > 0:
        name = code.co_name
    constants = tuple(
        _register(c, name, user_functions, depth + 1) if isinstance(c, types.CodeType) else c
        for c in code.co_consts
    )
    code = code.replace(co_consts=constants, co_name=name if part else code.co_name)
    note_generated(code, part)
    return code
