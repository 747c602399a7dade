"""Gives the body of a with statement to `ag__.with_stmt`; one statement per manager."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.blocks import block_function, parameter
from autograph.converters.context import Context
from autograph.core.templates import quote
from autograph.core.tree import StatementTransformer, locate

__all__ = ["split", "transform"]


def split(tree: Any, ctx: Context) -> Any:
    """Nests the managers of one with statement.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f():
    ...     with a as x, b:
    ...         body()''', split))
    def f():
        with a as x:
            with b:
                body()
    """
    return _Split().visit(tree)


class _Split(StatementTransformer):
    def visit_With(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        first, *others = node.items
        body = node.body
        for item in reversed(others):
            body = locate([gast.With([item], body, None)], item.context_expr)
        node.items, node.body = [first], body
        return node


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces with statements.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(manager, log):
    ...     with manager as value:
    ...         log.append(value)'''))
    def f(manager, log):
        def with_body(value):
            ag__.call(ag__.get_attr(log, 'append'), value)
        ag__.with_stmt(manager, with_body)
    """
    return _With(ctx).visit(tree)


class _With(StatementTransformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_With(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        [item] = node.items
        name, start = parameter(self.ctx, item.optional_vars, "value", ())
        body = block_function(self.ctx, "with_body", start + node.body, (), name)
        return locate(
            [body, *quote("ag__.with_stmt(manager, body)", manager=item.context_expr, body=body.name)], node
        )
