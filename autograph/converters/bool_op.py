"""Gives `and`, `or` and `not` to operators; operands after the first wait until they are needed."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces `and`, `or` and `not`.

    >>> from autograph.converters.example import example
    >>> print(example("a and b or not c", transform))
    ag__.or_(ag__.and_(a, lambda: b), lambda: ag__.not_(c))
    """
    return _BoolOp().visit(tree)


class _BoolOp(Transformer):
    def visit_BoolOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        first, *others = node.values
        lazy = [quote_expression("lambda: value", value=value) for value in others]
        if isinstance(node.op, gast.And):
            return quote_expression("ag__.and_(first, others)", first=first, others=lazy)
        return quote_expression("ag__.or_(first, others)", first=first, others=lazy)

    def visit_UnaryOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, gast.Not):
            return quote_expression("ag__.not_(operand)", operand=node.operand)
        return node
