"""Shows what conversion makes of a piece of source; the doctests of the converters use it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.names import Namer, identifiers
from autograph.core.parser import FunctionSource
from autograph.core.unparser import to_source

__all__ = ["example"]


def example(text: str, transform: Callable[[Any, Context], Any] | None = None, static: str = "") -> str:
    """The code that one converter alone, or the whole pipeline, makes of a function or of an expression.

    `static` names, separated by spaces, stand for themselves; they count as modules.

    >>> from autograph.converters import bool_op
    >>> example("not a", bool_op.transform)
    'ag__.not_(a)'
    """
    text = textwrap.dedent(text).strip()
    is_expression = _is_expression(text)
    node = gast.parse(f"def f():\n    return {text}" if is_expression else text).body[0]
    names = frozenset(static.split())
    source = FunctionSource(node, "<example>", node.name, node.name, tuple(text.splitlines()))
    if transform is None:
        from autograph.converters import convert

        result = convert(source, static=names, modules=names)
    else:
        ctx = Context(source, Namer(identifiers(node)), names, frozenset(), names, frozenset())
        result = transform(node, ctx)
    if is_expression:
        result = result.body[-1].value
    written = to_source(result)
    return "\n".join(line.rstrip() for line in written.strip().splitlines() if line.strip())


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True
