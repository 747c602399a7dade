"""Gives the test and the body of a while loop to `ag__.while_stmt`."""

from __future__ import annotations

from typing import Any

from autograph.converters.blocks import block_function, state_functions
from autograph.converters.context import Context
from autograph.core.templates import quote
from autograph.core.tree import Transformer, locate

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces while loops; expects `state` on them.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(n):
    ...     while n > 1:
    ...         n = n // 2
    ...     return n'''))
    def f(n):
        def loop_test():
            return n > 1
        def loop_body():
            nonlocal n
            n = n // 2
        def get_state():
            return (n,)
        def set_state(values):
            nonlocal n
            (n,) = values
        ag__.while_stmt(loop_test, loop_body, get_state, set_state, ('n',))
        return n
    """
    return _While(ctx).visit(tree)


class _While(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_While(self, node: Any) -> Any:
        if self.in_class:
            return self.generic_visit(node)
        test = block_function(self.ctx, "loop_test", [], node.state)
        test.body = locate(quote("return test", test=self.visit(node.test)), node.test)
        body = block_function(self.ctx, "loop_body", [], node.state)
        body.body = self.visit_block(node.body)
        state, arguments = state_functions(self.ctx, node.state)
        call = quote(
            "ag__.while_stmt(test, body, get_state, set_state, names)",
            test=test.name,
            body=body.name,
            **arguments,
        )
        return locate([test, body, *state, *call], node)
