"""Turns generator functions into functions that hand each value to a callback, `yield__`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import StatementTransformer, children

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces yield statements; the callback answers whether its consumer has left.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def count(n):
    ...     yield n
    ...     yield from range(n)''', transform))
    def count(yield__, n):
        if yield__(n):
            return
        if ag__.yield_from(range(n), yield__):
            return
    """
    return _Yield(ctx).visit(tree)


class _Yield(StatementTransformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.callback = ""

    def visit_FunctionDef(self, node: Any) -> Any:
        outer = self.callback
        if _is_generator(node):
            self.callback = self.ctx.namer.fresh("yield__")
            first = gast.Name(self.callback, gast.Param(), None, None)
            if node.args.posonlyargs:
                node.args.posonlyargs = [first, *node.args.posonlyargs]
            else:
                node.args.args = [first, *node.args.args]
            node.generator = True
        super().visit_FunctionDef(node)
        self.callback = outer
        return node

    def visit_Expr(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.value, gast.Yield):
            value = node.value.value or gast.Constant(None, None)
            return self.emit(value)
        if isinstance(node.value, gast.YieldFrom):
            call = quote_expression(
                "ag__.yield_from(values, callback)", values=node.value.value, callback=self.callback
            )
            call.generated = True
            return [gast.If(call, [gast.Return(None)], [])]
        return node

    def emit(self, value: Any) -> list[Any]:
        call = quote_expression("callback(value)", callback=self.callback, value=value)
        call.generated = True
        return [gast.If(call, [gast.Return(None)], [])]


def _is_generator(function: Any) -> bool:
    pending = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (gast.Yield, gast.YieldFrom)):
            return True
        if not isinstance(node, (gast.FunctionDef, gast.Lambda)):
            pending.extend(children(node))
    return False
