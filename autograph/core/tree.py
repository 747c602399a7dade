"""Walks trees: a transformer that keeps the user's positions and knows when it is in a class body.

Operators and contexts (`gast.Add`, `gast.Load`) hold nothing, and are never visited.
"""

from __future__ import annotations

from typing import Any

import gast

__all__ = [
    "FIELDS",
    "StatementTransformer",
    "Transformer",
    "children",
    "is_operator_call",
    "locate",
    "statements",
    "walk",
]

_AST = gast.AST
_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")
# No part of a tree stands in these fields.
_PLAIN = {"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "module", "level", "conversion"}
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of a type of nodes in which parts of the tree may stand, without those of some names."""

    def __init__(self, without: frozenset[str] = frozenset(), only: tuple[str, ...] = ()) -> None:
        self.without, self.only = without | _PLAIN, only

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        without = self.without | ({"value"} if kind is gast.Constant else frozenset())
        if kind is gast.AnnAssign:
            # What an AnnAssign in a class body says is read by dataclasses and the like.
            without = without - {"annotation"}
        names = tuple(n for n in kind._fields if n not in without and (not self.only or n in self.only))
        self[kind] = names
        return names


FIELDS = _Fields()
"""The fields of a type of nodes in which parts of the tree stand."""


def children(node: Any) -> list[Any]:
    """The direct children of a node, in the order of its fields."""
    found = []
    values = node.__dict__
    for name in FIELDS[type(node)]:
        value = values.get(name)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, _AST)]
        elif value is not None and isinstance(value, _AST):
            found.append(value)
    return found


def walk(tree: Any) -> list[Any]:
    """A node and all nodes in it, those nearer to it first.

    >>> [type(node).__name__ for node in walk(gast.parse("x = f(-y)").body[0])]
    ['Assign', 'Name', 'Call', 'Name', 'UnaryOp', 'Name']
    """
    found = [tree]
    for node in found:
        values = node.__dict__
        for name in FIELDS[type(node)]:
            value = values.get(name)
            if value.__class__ is list:
                found += [item for item in value if isinstance(item, _AST)]
            elif value is not None and isinstance(value, _AST):
                found.append(value)
    return found


def statements(tree: Any) -> list[Any]:
    """As `walk`, without the expressions: the functions and classes of a tree are all among them."""
    found = [tree]
    for node in found:
        for name in _STATEMENT_FIELDS[type(node)]:
            value = getattr(node, name, None)
            if isinstance(value, list):
                found += value
    return found


def locate(new: Any, origin: Any) -> Any:
    """Gives new code (a node or a list of statements) the position of the user's code it was made from.

    Nodes that have a position keep it: they are the user's.
    """
    if getattr(origin, "lineno", None) is None:
        return new
    pending = list(new) if isinstance(new, list) else [new]
    while pending:
        node = pending.pop()
        if getattr(node, "lineno", None) is not None:
            continue
        if "lineno" in node._attributes:
            for name in _POSITION:
                setattr(node, name, getattr(origin, name, None))
        pending.extend(children(node))
    return new


def is_operator_call(node: Any) -> bool:
    """True for a call that a converter wrote: of `ag__.something`, or of a function that it hoisted."""
    if getattr(node, "generated", False):
        return True
    func = node.func
    return isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name) and func.value.id == "ag__"


_VISITED = _Fields(without=frozenset(["annotation", "returns", "type_params"]))
_STATEMENT_FIELDS = _Fields(only=_BLOCKS)


class Transformer:
    """Rewrites a tree in place: a method `visit_<Node>` returns what stands in place of the node.

    New nodes get the position of the node they replace. `in_class` tells whether the code at hand runs in a
    class body, where a nested function cannot see the names that the body binds: whatever has to wrap code
    in functions leaves a class body as it is.
    """

    in_class = False
    fields = _VISITED
    _methods: dict[type, Any]

    def __init_subclass__(cls) -> None:
        cls._methods = {}

    def visit(self, node: Any) -> Any:
        kind = type(node)
        try:
            method = self._methods[kind]
        except KeyError:
            method = self._methods[kind] = getattr(type(self), f"visit_{kind.__name__}", None)
        if method is None:
            return self.generic_visit(node) if self.fields[kind] else node
        result = method(self, node)
        if result is not node and result is not None:
            locate(result, node)
        return result

    def generic_visit(self, node: Any) -> Any:
        values = node.__dict__
        for name in self.fields[type(node)]:
            value = values.get(name)
            if value.__class__ is list:
                if value:
                    values[name] = self.visit_block(value)
            elif value is not None and isinstance(value, _AST):
                new = self.visit(value)
                if new is not value:
                    values[name] = new
        return node

    def visit_block(self, statements: list[Any]) -> list[Any]:
        """The nodes of a list, each replaced by one node, by several, or by none (None)."""
        result = []
        for statement in statements:
            if not isinstance(statement, _AST):  # the key of `**d` in a dict display, a missing default
                result.append(statement)
                continue
            new = self.visit(statement)
            if isinstance(new, list):
                result.extend(new)
            elif new is not None:
                result.append(new)
        return result

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.args = self.visit(node.args)
        outer, self.in_class = self.in_class, False
        node.body = self.visit_block(node.body)
        self.in_class = outer
        return node

    def visit_Lambda(self, node: Any) -> Any:
        node.args = self.visit(node.args)
        outer, self.in_class = self.in_class, False
        node.body = self.visit(node.body)
        self.in_class = outer
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        outer, self.in_class = self.in_class, True
        node.body = self.visit_block(node.body)
        self.in_class = outer
        return node


class StatementTransformer(Transformer):
    """A transformer that looks at statements only: no expression is visited by itself."""

    fields = _STATEMENT_FIELDS

    def visit_FunctionDef(self, node: Any) -> Any:
        outer, self.in_class = self.in_class, False
        node.body = self.visit_block(node.body)
        self.in_class = outer
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        outer, self.in_class = self.in_class, True
        node.body = self.visit_block(node.body)
        self.in_class = outer
        return node
