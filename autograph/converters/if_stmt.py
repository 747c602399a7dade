"""Gives the branches of an if statement to `ag__.if_stmt`."""

from __future__ import annotations

from typing import Any

from autograph.converters.blocks import block_function, state_functions
from autograph.converters.context import Context
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import Transformer, locate

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces if statements; expects `state` on them.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(x):
    ...     y = 0
    ...     if x > 0:
    ...         t = x * 2
    ...         y = t + 1
    ...     return y'''))
    def f(x):
        y = 0
        def if_body():
            nonlocal y
            t = x * 2
            y = t + 1
        def get_state():
            return (y,)
        def set_state(values):
            nonlocal y
            (y,) = values
        ag__.if_stmt(x > 0, if_body, lambda: None, get_state, set_state, ('y',))
        return y
    """
    return _If(ctx).visit(tree)


class _If(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_If(self, node: Any) -> Any:
        if self.in_class:
            return self.generic_visit(node)
        node.test = self.visit(node.test)
        body = block_function(self.ctx, "if_body", [], node.state)
        body.body = self.visit_block(node.body)
        functions = [body]
        orelse: Any = quote_expression("lambda: None")
        if node.orelse:
            other = block_function(self.ctx, "else_body", [], node.state)
            locate(other, node.orelse[0])
            other.body = self.visit_block(node.orelse)
            functions.append(other)
            orelse = other.name
        state, arguments = state_functions(self.ctx, node.state)
        call = quote(
            "ag__.if_stmt(test, body, orelse, get_state, set_state, names)",
            test=node.test,
            body=body.name,
            orelse=orelse,
            **arguments,
        )
        return locate([*functions, *state, *call], node)
