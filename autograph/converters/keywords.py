"""`*args` and `**options` parameters: Python's tuple and dict become those of the operators."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote
from autograph.core.tree import locate, statements


def transform(tree: Any, ctx: Context) -> Any:
    """Copies them at the start of the body, under the user's names.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(*values, **options):
    ...     return options, values''', transform))
    def f(*values_1, **options_1):
        options = ag__.kwargs_dict(options_1)
        values = ag__.varargs(values_1)
        return options, values
    """
    for node in statements(tree):
        if isinstance(node, gast.FunctionDef):
            for field, template in _TEMPLATES.items():
                if getattr(node.args, field) is not None:
                    _copy(node, field, template, ctx)
    return tree


_TEMPLATES = {"vararg": "name = ag__.varargs(value)", "kwarg": "name = ag__.kwargs_dict(value)"}


def _copy(node: Any, field: str, template: str, ctx: Context) -> None:
    parameter = getattr(node.args, field)
    name = parameter.id
    fresh = ctx.namer.fresh(name)
    setattr(node.args, field, gast.copy_location(gast.Name(fresh, gast.Param(), None, None), parameter))
    value = gast.Name(fresh, gast.Load(), None, None)
    node.body[_start(node) : _start(node)] = locate(quote(template, name=name, value=value), node)


def _start(node: Any) -> int:
    first = node.body[0]
    docstring = (
        isinstance(first, gast.Expr)
        and isinstance(first.value, gast.Constant)
        and isinstance(first.value.value, str)
    )
    return 1 if docstring else 0
