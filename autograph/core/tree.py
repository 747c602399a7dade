"""Walks trees: a transformer that keeps the user's positions and knows when it is in a class body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

__all__ = ["Transformer", "children", "is_operator_call", "locate"]

_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def children(node: Any) -> Iterator[Any]:
    """The direct children of a node, in the order of its fields."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            for item in value:
                if isinstance(item, gast.AST):
                    yield item
        elif isinstance(value, gast.AST):
            yield value


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


# Operators and contexts hold nothing to visit; leaving them out saves a third of the work.
_LEAVES = {"ctx", "op", "ops", "kind", "type_comment", "annotation", "returns", "type_params"}
_fields: dict[type, tuple[str, ...]] = {}


def _visited_fields(kind: type) -> tuple[str, ...]:
    if kind not in _fields:
        # What an AnnAssign in a class body says is read by dataclasses and the like.
        leaves = _LEAVES - {"annotation"} if kind is gast.AnnAssign else _LEAVES
        _fields[kind] = tuple(name for name in kind._fields if name not in leaves)  # type: ignore[attr-defined]
    return _fields[kind]


class Transformer:
    """Rewrites a tree in place: a method `visit_<Node>` returns what stands in place of the node.

    New nodes get the position of the node they replace. `in_class` tells whether the code at hand runs in a
    class body, where a nested function cannot see the names that the body binds: whatever has to wrap code
    in functions leaves a class body as it is.
    """

    in_class = False
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
            return self.generic_visit(node)
        result = method(self, node)
        if result is not node and result is not None:
            locate(result, node)
        return result

    def generic_visit(self, node: Any) -> Any:
        for name in _visited_fields(type(node)):
            value = getattr(node, name, None)
            if isinstance(value, list):
                if value:
                    setattr(node, name, self.visit_block(value))
            elif isinstance(value, gast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_block(self, statements: list[Any]) -> list[Any]:
        """The nodes of a list, each replaced by one node, by several, or by none (None)."""
        result = []
        for statement in statements:
            if not isinstance(statement, gast.AST):  # the key of `**d` in a dict display, a missing default
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
