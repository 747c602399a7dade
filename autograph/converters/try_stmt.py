"""Gives the blocks of a try statement to `ag__.try_stmt`; what they share is boxed, so no state is passed."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.blocks import block_function
from autograph.converters.context import Context
from autograph.core.templates import copy_tree, quote, quote_expression
from autograph.core.tree import Transformer, locate

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces try statements.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(d, log):
    ...     x = 0
    ...     try:
    ...         x = d.pop()
    ...     except KeyError as e:
    ...         log.append(e)
    ...     finally:
    ...         d.clear()
    ...     return x'''))
    def f(d, log):
        x = ag__.Box('x')
        x.set(0)
        def try_body():
            x.set(ag__.call(ag__.get_attr(d, 'pop')))
        def except_body(e):
            ag__.call(ag__.get_attr(log, 'append'), e)
        def finally_body():
            ag__.call(ag__.get_attr(d, 'clear'))
        ag__.try_stmt(try_body, ((lambda: KeyError, except_body),), None, finally_body)
        return x.get()
    """
    return _Try(ctx).visit(tree)


class _Try(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_Try(self, node: Any) -> Any:
        if self.in_class:
            return self.generic_visit(node)
        functions = [self.block("try_body", node.body)]
        handlers = gast.Tuple([], gast.Load())
        for handler in node.handlers:
            function = self.handler(handler)
            functions.append(function)
            caught = gast.Constant(None, None)
            if handler.type is not None:
                caught = quote_expression("lambda: kind", kind=self.visit(handler.type))
            pair = gast.Tuple([caught, gast.Name(function.name, gast.Load(), None, None)], gast.Load())
            handlers.elts.append(locate(pair, handler))
        parts = {"orelse": "else_body", "finalbody": "finally_body"}
        for field, stem in parts.items():
            statements = getattr(node, field)
            if statements:
                functions.append(self.block(stem, statements))
                parts[field] = functions[-1].name
            else:
                parts[field] = gast.Constant(None, None)
        call = quote(
            "ag__.try_stmt(body, handlers, orelse, finalbody)",
            body=functions[0].name,
            handlers=handlers,
            **parts,
        )
        return locate([*functions, *call], node)

    def block(self, stem: str, statements: list[Any]) -> Any:
        function = block_function(self.ctx, stem, [], ())
        locate(function, statements[0])
        function.body = self.visit_block(statements)
        return function

    def handler(self, handler: Any) -> Any:
        target = handler.name
        body = handler.body
        if target is None:
            name = self.ctx.namer.fresh("error")
        elif target.variable is None or not (target.variable.boxed or target.variable.external):
            name = target.id
        else:
            # Python unbinds the name when the handler is left, in whatever way.
            name = self.ctx.namer.fresh("error")
            clear = quote("target = None; del target", target=target)
            clear[0].targets = [copy_tree(target)]
            clear[1].targets = [copy_tree(target)]
            clear[1].targets[0].ctx = gast.Del()
            clear[1].targets[0].check = False
            start = gast.Assign([target], gast.Name(name, gast.Load(), None, None), None)
            body = locate([start, gast.Try(body, [], [], clear)], target)
        function = block_function(self.ctx, "except_body", [], (), name)
        locate(function, handler)
        function.body = self.visit_block(body)
        return function
