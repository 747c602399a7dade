"""Gives the iterable and the body of a for loop to `ag__.for_stmt`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.blocks import block_function, parameter, state_functions
from autograph.converters.context import Context
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import Transformer, locate

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces for loops; expects `state` on them, and a name as the target.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(x):
    ...     s = 0
    ...     for v in x:
    ...         s += v
    ...     return s'''))
    def f(x):
        s = 0
        def loop_body(v):
            nonlocal s
            s += v
        def get_state():
            return (s,)
        def set_state(values):
            nonlocal s
            (s,) = values
        ag__.for_stmt(x, None, loop_body, get_state, set_state, ('s',))
        return s
    """
    return _For(ctx).visit(tree)


class _For(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_For(self, node: Any) -> Any:
        if self.in_class:
            return self.generic_visit(node)
        name, start = parameter(self.ctx, node.target, "item", node.state)
        body = block_function(self.ctx, "loop_body", [], node.state, name)
        body.body = start + self.visit_block(node.body)
        extra_test = getattr(node, "extra_test", None)
        if extra_test is None:
            test = gast.Constant(None, None)
        else:
            test = quote_expression("lambda: test", test=self.visit(extra_test))
        state, arguments = state_functions(self.ctx, node.state)
        call = quote(
            "ag__.for_stmt(iterable, test, body, get_state, set_state, names)",
            iterable=self.visit(node.iter),
            test=test,
            body=body.name,
            **arguments,
        )
        return locate([body, *state, *call], node)
