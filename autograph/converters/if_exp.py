"""Gives conditional expressions to `ag__.if_exp`; only the chosen branch is evaluated."""

from __future__ import annotations

from typing import Any

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces conditional expressions.

    >>> from autograph.converters.example import example
    >>> print(example("a if test else b", transform))
    ag__.if_exp(test, lambda: a, lambda: b)
    """
    return _IfExp().visit(tree)


class _IfExp(Transformer):
    def visit_IfExp(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        return quote_expression(
            "ag__.if_exp(test, lambda: body, lambda: orelse)",
            test=node.test,
            body=node.body,
            orelse=node.orelse,
        )
