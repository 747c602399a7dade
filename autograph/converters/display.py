"""Gives list, set and dict displays to operators, and starred elements; tuples stay tuples."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces displays: what they make is mutable, so it lives at run time.

    >>> from autograph.converters.example import example
    >>> print(example("([a, *b], {a}, {k: v, **d})", transform))
    (ag__.new_list(a, *ag__.star_items(b)), ag__.new_set(a), ag__.new_dict((k, v), (ag__.splat, d)))
    """
    return _Display().visit(tree)


class _Display(Transformer):
    def visit_List(self, node: Any) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        return quote_expression("ag__.new_list(items)", items=_items(node.elts))

    def visit_Set(self, node: Any) -> Any:
        self.generic_visit(node)
        return quote_expression("ag__.new_set(items)", items=_items(node.elts, "ag__.star_set(value)"))

    def visit_Tuple(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, gast.Load) and any(isinstance(e, gast.Starred) for e in node.elts):
            return quote_expression("ag__.new_tuple(items)", items=_items(node.elts))
        return node

    def visit_Dict(self, node: Any) -> Any:
        self.generic_visit(node)
        items = []
        for key, value in zip(node.keys, node.values):
            first = quote_expression("ag__.splat") if key is None else key
            items.append(gast.Tuple([first, value], gast.Load()))
        return quote_expression("ag__.new_dict(items)", items=items)


def _items(elements: list[Any], star: str = "ag__.star_items(value)") -> list[Any]:
    for element in elements:
        if isinstance(element, gast.Starred):
            element.value = quote_expression(star, value=element.value)
    return elements
