"""Gives comparisons that Python decides itself (`==`, `is`, `in`, chains) to operators."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["transform"]

_OPERATORS = {
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
    "Is": "is_",
    "IsNot": "is_not",
    "In": "in_",
    "NotIn": "not_in",
}
_NUMERIC = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
_SIGNS = {
    "Eq": "==",
    "NotEq": "!=",
    "Lt": "<",
    "LtE": "<=",
    "Gt": ">",
    "GtE": ">=",
    "Is": "is",
    "IsNot": "is not",
    "In": "in",
    "NotIn": "not in",
}


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces the comparisons that a symbolic value cannot answer by its own methods.

    Those with a number stay; in others both sides may be tuples, which Python compares item by item.

    >>> from autograph.converters.example import example
    >>> print(example("(a == b, a < b, n == 0, k in d)", transform))
    (ag__.eq(a, b), ag__.lt(a, b), n == 0, ag__.in_(k, d))
    >>> print(example("a < b <= c", transform))
    ag__.compare_chain(a, ('<', '<='), (lambda: b, lambda: c))
    """
    return _Compare().visit(tree)


class _Compare(Transformer):
    def visit_Compare(self, node: Any) -> Any:
        self.generic_visit(node)
        if len(node.ops) > 1:
            return node if self.in_class else self.chain(node)
        kind = type(node.ops[0]).__name__
        [right] = node.comparators
        if kind in _NUMERIC and (is_number(node.left) or is_number(right)):
            return node
        return quote_expression(f"ag__.{_OPERATORS[kind]}(a, b)", a=node.left, b=right)

    def chain(self, node: Any) -> Any:
        signs = [gast.Constant(_SIGNS[type(op).__name__], None) for op in node.ops]
        others = [quote_expression("lambda: value", value=value) for value in node.comparators]
        return quote_expression(
            "ag__.compare_chain(first, signs, others)",
            first=node.left,
            signs=gast.Tuple(signs, gast.Load()),
            others=gast.Tuple(others, gast.Load()),
        )


def is_number(node: Any) -> bool:
    """True for a numeric literal, with or without a sign."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, (gast.USub, gast.UAdd)):
        node = node.operand
    return isinstance(node, gast.Constant) and type(node.value) in (int, float, complex)
