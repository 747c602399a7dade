"""Converts nested function definitions: decorators become calls, annotations go, generators are marked."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import StatementTransformer, locate, statements

__all__ = ["drop_annotations", "transform"]

_DESCRIPTORS = ("staticmethod", "classmethod", "property")


def drop_annotations(tree: Any, ctx: Context) -> Any:
    """Removes the annotations of parameters and results, which converted code never reads.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(x: int, *, y: str='s') -> int:
    ...     return x''', drop_annotations))
    def f(x, *, y='s'):
        return x
    """
    for node in statements(tree):
        if isinstance(node, gast.FunctionDef):
            node.returns = None
            parameters = node.args
            for name in [
                *parameters.posonlyargs,
                *parameters.args,
                *parameters.kwonlyargs,
                parameters.vararg,
                parameters.kwarg,
            ]:
                if name is not None:
                    name.annotation = None
    return tree


def transform(tree: Any, ctx: Context) -> Any:
    """Applies decorators by `ag__.call`, so that what they run is converted as well.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(n):
    ...     @repeat(n)
    ...     def step(x):
    ...         return x'''))
    def f(n):
        decorator = ag__.call(ag__.load('repeat'), n)
        def step(x):
            return x
        step = ag__.call(decorator, step)
    """
    return _FunctionDef(ctx, tree).visit(tree)


class _FunctionDef(StatementTransformer):
    def __init__(self, ctx: Context, root: Any) -> None:
        self.ctx = ctx
        self.root = root

    def visit_FunctionDef(self, node: Any) -> Any:
        super().visit_FunctionDef(node)
        return self.decorated(node)

    def visit_ClassDef(self, node: Any) -> Any:
        super().visit_ClassDef(node)
        return self.decorated(node)

    def decorated(self, node: Any) -> Any:
        if self.in_class:
            node.decorator_list = [self.in_place(decorator) for decorator in node.decorator_list]
            return node
        before: list[Any] = []
        names = []
        for decorator in node.decorator_list:
            if not isinstance(decorator, gast.Name):
                name = self.ctx.namer.fresh("decorator")
                before += locate(quote("name = value", name=name, value=decorator), decorator)
                decorator = locate(gast.Name(name, gast.Load(), None, None), decorator)
            names.append(decorator)
        node.decorator_list = names  # `variables` writes the calls: until then the name is bound once
        return [*before, node] if before else node

    def in_place(self, decorator: Any) -> Any:
        if isinstance(decorator, gast.Name) and decorator.id in _DESCRIPTORS:
            return decorator
        return locate(quote_expression("ag__.decorator(value)", value=decorator), decorator)
