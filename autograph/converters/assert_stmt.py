"""Gives assert statements to `ag__.assert_stmt`; the message is evaluated only when the test fails."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import StatementTransformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces assert statements.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(x):
    ...     assert x > 0, g(x)''', transform))
    def f(x):
        ag__.assert_stmt(x > 0, lambda: g(x))
    """
    return _Assert().visit(tree)


class _Assert(StatementTransformer):
    def visit_Assert(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        message = gast.Constant(None, None)
        if node.msg is not None:
            message = quote_expression("lambda: message", message=node.msg)
        return quote("ag__.assert_stmt(test, message)", test=node.test, message=message)
