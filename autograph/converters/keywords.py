"""`**options` parameters: the dict that Python makes becomes a dict of the operators."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote
from autograph.core.tree import locate


def transform(tree: Any, ctx: Context) -> Any:
    """Copies the dict at the start of the body, under the user's name.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(**options):
    ...     return options''', transform))
    def f(**options_1):
        options = ag__.kwargs_dict(options_1)
        return options
    """
    for node in list(gast.walk(tree)):
        if isinstance(node, gast.FunctionDef) and node.args.kwarg is not None:
            _copy(node, ctx)
    return tree


def _copy(node: Any, ctx: Context) -> None:
    parameter = node.args.kwarg
    name = parameter.id
    fresh = ctx.namer.fresh(name)
    node.args.kwarg = gast.copy_location(gast.Name(fresh, gast.Param(), None, None), parameter)
    statements = locate(
        quote("name = ag__.kwargs_dict(value)", name=name, value=gast.Name(fresh, gast.Load(), None, None)),
        node,
    )
    node.body[_start(node) : _start(node)] = statements


def _start(node: Any) -> int:
    first = node.body[0]
    docstring = (
        isinstance(first, gast.Expr)
        and isinstance(first.value, gast.Constant)
        and isinstance(first.value.value, str)
    )
    return 1 if docstring else 0
