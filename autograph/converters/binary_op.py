"""Gives `%` to an operator where its left side may be a string."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.compare import is_number
from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["SIGNS", "transform"]

SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "**",
    "MatMult": "@",
    "BitAnd": "&",
    "BitOr": "|",
    "BitXor": "^",
    "LShift": "<<",
    "RShift": ">>",
}


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces `%`: a format string would format a symbolic value before the value gets a say.

    >>> from autograph.converters.example import example
    >>> print(example("(text % n, 7 % n, a + b)", transform))
    (ag__.mod(text, n), 7 % n, a + b)
    """
    return _BinaryOp().visit(tree)


class _BinaryOp(Transformer):
    def visit_BinOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, gast.Mod) and not is_number(node.left):
            return quote_expression("ag__.mod(left, right)", left=node.left, right=node.right)
        return node
