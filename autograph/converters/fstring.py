"""Gives f-strings to `ag__.fstring`; each value is formatted where it stands, in order."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote_expression
from autograph.core.tree import Transformer

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces f-strings.

    >>> from autograph.converters.example import example
    >>> print(example("f'x={x!r:>{width}}'", transform))
    ag__.fstring('x=', ag__.format_value(x, 'r', ag__.fstring('>', ag__.format_value(width, '', ''))))
    """
    return _FString().visit(tree)


class _FString(Transformer):
    def visit_JoinedStr(self, node: Any) -> Any:
        self.generic_visit(node)
        if all(isinstance(value, gast.Constant) for value in node.values):
            return gast.Constant("".join(value.value for value in node.values), None)
        # Python 3.12.1 ends the parts of a format with an empty text.
        parts = [v for v in node.values if not (isinstance(v, gast.Constant) and v.value == "")]
        return quote_expression("ag__.fstring(parts)", parts=parts)

    def visit_FormattedValue(self, node: Any) -> Any:
        self.generic_visit(node)
        conversion = "" if node.conversion == -1 else chr(node.conversion)
        return quote_expression(
            "ag__.format_value(value, conversion, spec)",
            value=node.value,
            conversion=gast.Constant(conversion, None),
            spec=node.format_spec or gast.Constant("", None),
        )
