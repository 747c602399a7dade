"""Gives every call to `ag__.call`, which decides by the callee: convert, stage, or call."""

from __future__ import annotations

import sys
from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer, is_operator_call

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces calls.

    >>> from autograph.converters.example import example
    >>> print(example("f(a, *xs, k=v, **d)", transform))
    ag__.spreading(f)(a, *ag__.star(xs), k=v, **ag__.star_kwargs(d))
    """
    return _Call(ctx).visit(tree)


class _Call(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.functions: list[Any] = []
        self.classes = 0

    def visit_FunctionDef(self, node: Any) -> Any:
        self.functions.append(node)
        super().visit_FunctionDef(node)
        self.functions.pop()
        return node

    def visit_Lambda(self, node: Any) -> Any:
        self.functions.append(node)
        super().visit_Lambda(node)
        self.functions.pop()
        return node

    def visit_ClassDef(self, node: Any) -> Any:
        self.classes += 1
        super().visit_ClassDef(node)
        self.classes -= 1
        return node

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        if is_operator_call(node):
            return node
        arguments = self.super_arguments(node) or [self.argument(each) for each in node.args]
        if any(isinstance(a, gast.Starred) for a in arguments) or any(k.arg is None for k in node.keywords):
            template = "ag__.spreading(function)(arguments)"
        else:
            template = "ag__.call(function, arguments)"
        call = quote_expression(template, function=node.func, arguments=arguments)
        call.generated = True
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = quote_expression("ag__.star_kwargs(value)", value=keyword.value)
        call.keywords = node.keywords
        return call

    def argument(self, node: Any) -> Any:
        if isinstance(node, gast.Starred):
            node.value = quote_expression("ag__.star(value)", value=node.value)
        return node

    def super_arguments(self, node: Any) -> list[Any]:
        """What `super()` finds in the frame that calls it: the class and the first argument."""
        # Comprehensions are functions of their own up to Python 3.11: `super()` looks at their iterator.
        is_super = isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args
        if not is_super or node.keywords or not node.func.variable.external:
            return []
        inlined = sys.version_info >= (3, 12)
        function = next(f for f in reversed(self.functions) if not (inlined and f.scope.comprehension))
        names = [*function.args.posonlyargs, *function.args.args]
        names = names[1:] if getattr(function, "generator", False) else names
        if not names:
            return self.fails("super(): no arguments")
        if not self.classes and "__class__" not in self.ctx.external_cells:
            return self.fails("super(): __class__ cell not found")
        first = self.ctx.name(names[0].variable)
        if self.classes:
            owner = gast.Name("__class__", gast.Load(), None, None)
        else:
            owner = quote_expression("ag__.load('__class__')")
        return [owner, first]

    def fails(self, message: str) -> list[Any]:
        return [quote_expression("ag__.raise_stmt(RuntimeError(text))", text=gast.Constant(message, None))]
