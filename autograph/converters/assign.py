"""Splits assignments and deletions into one store at a time: several targets, unpacking, annotations."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import StatementTransformer, locate, walk

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Splits assignments so that each statement stores to names only, or to one attribute or element.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(v, point):
    ...     a, (b, *c) = point.x = v
    ...     del a, b''', transform))
    def f(v, point):
        value = v
        a, item = ag__.unpack(value, 2)
        b, c = ag__.unpack(item, 1, 0)
        point.x = value
        del a
        del b
    """
    return _Assign(ctx).visit(tree)


class _Assign(StatementTransformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_Assign(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class or getattr(node, "generated", False):
            return node
        if all(isinstance(target, gast.Name) for target in node.targets):
            return node
        if len(node.targets) == 1:
            return self.store(node.targets[0], node.value)
        value = self.ctx.namer.fresh("value")
        code = quote("value = source", value=value, source=node.value)
        for target in node.targets:
            code += self.store(target, gast.Name(value, gast.Load(), None, None))
        return code

    def store(self, target: Any, value: Any) -> list[Any]:
        if not isinstance(target, (gast.Tuple, gast.List)):
            return [gast.Assign([target], value, None)]
        starred = [i for i, each in enumerate(target.elts) if isinstance(each, gast.Starred)]
        plain = (
            not starred
            and isinstance(value, (gast.Tuple, gast.List))
            and len(value.elts) == len(target.elts)
            and not any(isinstance(each, gast.Starred) for each in value.elts)
        )
        if plain:
            value = gast.Tuple(value.elts, gast.Load())
            if all(isinstance(each, gast.Subscript) for each in target.elts):
                return [gast.Assign([gast.Tuple(target.elts, gast.Store())], value, None)]
        else:
            value = self.unpack(value, len(target.elts), starred)
        names: list[Any] = []
        after: list[Any] = []
        for each in target.elts:
            if isinstance(each, gast.Starred):
                each = each.value
            if isinstance(each, gast.Name) and not after:
                names.append(each)
                continue
            # From the first target that is no name on, the order of stores can be seen: one statement each.
            item = self.ctx.namer.fresh("item")
            names.append(gast.Name(item, gast.Store(), None, None))
            after += self.store(each, gast.Name(item, gast.Load(), None, None))
        return [gast.Assign([gast.Tuple(names, gast.Store())], value, None), *after]

    def unpack(self, value: Any, count: int, starred: list[int]) -> Any:
        before = gast.Constant(starred[0] if starred else count, None)
        if not starred:
            return quote_expression("ag__.unpack(value, before)", value=value, before=before)
        after = gast.Constant(count - starred[0] - 1, None)
        return quote_expression("ag__.unpack(value, before, after)", value=value, before=before, after=after)

    def visit_For(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class or isinstance(node.target, gast.Name):
            return node
        item = self.ctx.namer.fresh("item")
        start = self.store(node.target, gast.Name(item, gast.Load(), None, None))
        node.body = locate(start, node.target) + node.body
        node.target = locate(gast.Name(item, gast.Store(), None, None), node.target)
        return node

    def visit_With(self, node: Any) -> Any:
        self.generic_visit(node)
        target = node.items[0].optional_vars
        if self.in_class or target is None or isinstance(target, gast.Name):
            return node
        value = self.ctx.namer.fresh("value")
        start = self.store(target, gast.Name(value, gast.Load(), None, None))
        node.body = locate(start, target) + node.body
        node.items[0].optional_vars = locate(gast.Name(value, gast.Store(), None, None), target)
        return node

    def visit_AnnAssign(self, node: Any) -> Any:
        if self.in_class:
            return node
        self.generic_visit(node)
        if node.value is not None:
            return self.store(node.target, node.value)
        if isinstance(node.target, gast.Attribute):
            return gast.Expr(node.target.value)
        if isinstance(node.target, gast.Subscript):
            return [gast.Expr(node.target.value), gast.Expr(node.target.slice)]
        return node  # a bare `x: int` makes x a local name; it is dropped once names are resolved

    def visit_Delete(self, node: Any) -> Any:
        self.generic_visit(node)
        if self.in_class:
            return node
        return [gast.Delete([target]) for each in node.targets for target in _flat(each)]

    def visit_AugAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        target = node.target
        if self.in_class or not isinstance(target, gast.Attribute):
            return node
        simple = isinstance(target.value, gast.Name)
        if simple and not any(isinstance(inner, gast.NamedExpr) for inner in walk(node.value)):
            return node
        base = self.ctx.namer.fresh("base")  # evaluated once
        code = quote("base = value", base=base, value=target.value)
        target.value = locate(gast.Name(base, gast.Load(), None, None), target.value)
        return [*code, node]


def _flat(target: Any) -> list[Any]:
    if isinstance(target, (gast.Tuple, gast.List)):
        return [inner for each in target.elts for inner in _flat(each)]
    return [target]
