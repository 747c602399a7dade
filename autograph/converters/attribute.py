"""Gives the attributes of values to operators; attributes of static modules stay as they are written."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.binary_op import SIGNS
from autograph.converters.context import Context
from autograph.core.templates import copy_tree, quote, quote_expression
from autograph.core.tree import Transformer, locate, walk

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces loads, stores and deletions of attributes.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(p):
    ...     p.x = np.pi * p.y
    ...     p.n += 1
    ...     del p.z''', static='np'))
    def f(p):
        ag__.set_attr(p, 'x', np.pi * ag__.get_attr(p, 'y'))
        ag__.set_attr(p, 'n', ag__.aug_assign('+', ag__.get_attr(p, 'n'), 1))
        ag__.del_attr(p, 'z')
    """
    return _Attribute(ctx).visit(tree)


class _Attribute(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_Attribute(self, node: Any) -> Any:
        self.generic_visit(node)
        plain = not isinstance(node.ctx, gast.Load) or self.is_module(node)
        if plain or (isinstance(node.value, gast.Name) and node.value.id == "ag__"):
            return node
        return quote_expression("ag__.get_attr(value, name)", value=node.value, name=_text(node.attr))

    def is_module(self, node: Any) -> bool:
        while isinstance(node, gast.Attribute):
            node = node.value
        if not isinstance(node, gast.Name):
            return False
        variable = getattr(node, "variable", None)
        return (
            variable is not None
            and variable.external
            and not variable.written
            and node.id in self.ctx.modules
        )

    def visit_Assign(self, node: Any) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, gast.Attribute):
            return node
        code: list[Any] = []
        value = node.value
        if not self.in_any_order(target.value, value):
            # Python evaluates the value before the object.
            name = self.ctx.namer.fresh("value")
            code = quote("name = value", name=name, value=value)
            value = gast.Name(name, gast.Load(), None, None)
        code += quote(
            "ag__.set_attr(base, name, value)", base=target.value, name=_text(target.attr), value=value
        )
        return locate(code, node)

    def in_any_order(self, base: Any, value: Any) -> bool:
        if isinstance(value, gast.Constant):
            return True
        if not isinstance(base, gast.Name) or getattr(base, "check", False):
            return False
        variable = getattr(base, "variable", None)
        if variable is not None and (
            variable.boxed or (variable.external and base.id not in self.ctx.static)
        ):
            return isinstance(value, gast.Name)
        return not any(isinstance(inner, gast.NamedExpr) for inner in walk(value))

    def visit_AugAssign(self, node: Any) -> Any:
        self.generic_visit(node)
        target = node.target
        if not isinstance(target, gast.Attribute):
            return node
        return quote(
            "ag__.set_attr(base, name, ag__.aug_assign(sign, ag__.get_attr(again, name), value))",
            base=target.value,
            again=copy_tree(target.value),
            name=_text(target.attr),
            sign=_text(SIGNS[type(node.op).__name__]),
            value=node.value,
        )

    def visit_Delete(self, node: Any) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, gast.Attribute):
            return node
        return quote("ag__.del_attr(base, name)", base=target.value, name=_text(target.attr))


def _text(text: str) -> Any:
    return gast.Constant(text, None)
