"""Gives the reading of elements to `ag__.get_item` where the index is not a literal."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.compare import is_number
from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces subscripts that are read.

    >>> from autograph.converters.example import example
    >>> print(example("(x[i], x[:n, 0], x[-1])", transform))
    (ag__.get_item(x, i), ag__.get_item(x, (slice(None, n, None), 0)), x[-1])
    >>> print(example("x[1:, None]", transform))
    ag__.get_item(x, (slice(1, None, None), None))
    """
    return _Subscript(ctx).visit(tree)


class _Subscript(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_Subscript(self, node: Any) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        if _is_literal(node.slice) and not isinstance(
            node.value, gast.Attribute
        ):  # np.mgrid[...] makes an array
            return node
        return quote_expression("ag__.get_item(value, index)", value=node.value, index=self.index(node.slice))

    def index(self, node: Any) -> Any:
        if isinstance(node, gast.Slice):
            parts = [
                gast.Constant(None, None) if p is None else p for p in (node.lower, node.upper, node.step)
            ]
            call = quote_expression(f"{self.ctx.slice_name}(parts)", parts=parts)
            call.generated = True
            return call
        if isinstance(node, gast.Tuple):
            node.elts = [self.index(each) for each in node.elts]
        return node


def _is_literal(node: Any) -> bool:
    if isinstance(node, gast.Tuple):
        return all(map(_is_literal, node.elts))
    if isinstance(node, gast.Slice):
        return all(part is None or _is_literal(part) for part in (node.lower, node.upper, node.step))
    return is_number(node)  # None, ... and booleans make arrays of NumPy scalars
