"""Gives raise statements to operators."""

from __future__ import annotations

from typing import Any

from autograph.converters.context import Context
from autograph.core.templates import quote
from autograph.core.tree import StatementTransformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces raise statements.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(e):
    ...     raise ValueError('x') from e''', transform))
    def f(e):
        ag__.raise_stmt(ValueError('x'), e)
    """
    return _Raise().visit(tree)


class _Raise(StatementTransformer):
    def visit_Raise(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        if node.exc is None:
            return quote("ag__.reraise()")
        if node.cause is None:
            return quote("ag__.raise_stmt(exc)", exc=node.exc)
        return quote("ag__.raise_stmt(exc, cause)", exc=node.exc, cause=node.cause)
