"""Builds new code from quoted Python with placeholders, so that a converter shows what it writes."""

from __future__ import annotations

import ast
import functools
import itertools
from typing import Any

import gast

from autograph.core.parser import translate
from autograph.core.tree import FIELDS, walk

__all__ = ["copy_tree", "quote", "quote_expression"]


@functools.cache
def _parse(text: str) -> list[Any]:
    lines = text.strip("\n").split("\n")
    margin = len(lines[0]) - len(lines[0].lstrip())
    plain = ast.parse("\n".join(line[margin:] for line in lines))
    body = [translate(statement) for statement in plain.body]
    for node in itertools.chain.from_iterable(map(walk, body)):
        for position in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            node.__dict__.pop(position, None)
    return body


def quote(text: str, /, **fill: Any) -> list[Any]:
    """The statements of `text`, with each name in `fill` replaced.

    A placeholder stands where a name may stand: a string gives another name, a node an expression, a list
    of expressions takes the place of one argument or element, and a list of statements that of a statement.

    >>> import ast
    >>> [loop] = quote("while test: body", test=quote_expression("x < 3"), body=quote("x += 1"))
    >>> print(ast.unparse(gast.gast_to_ast(loop)))
    while x < 3:
        x += 1
    """
    result = _filled(_parse(text), fill)
    assert isinstance(result, list)
    return result


def quote_expression(text: str, /, **fill: Any) -> Any:
    """The expression that `text` is, with each name in `fill` replaced.

    >>> gast.dump(quote_expression("f", f="g"))
    "Name(id='g', ctx=Load(), annotation=None, type_comment=None)"
    """
    [statement] = quote(text, **fill)
    return statement.value


def _filled(node: Any, fill: dict[str, Any]) -> Any:
    if isinstance(node, list):
        result = []
        for item in node:
            new = _filled(item, fill)
            if isinstance(new, list):
                result.extend(new)
            else:
                result.append(new)
        return result
    if not isinstance(node, gast.AST):
        return node
    if isinstance(node, gast.Name) and node.id in fill:
        value = fill[node.id]
        return gast.Name(value, node.ctx, None, None) if isinstance(value, str) else value
    if isinstance(node, gast.Expr) and isinstance(node.value, gast.Name):
        value = fill.get(node.value.id)
        if isinstance(value, list):
            return value
    new = _shallow_copy(node)
    parts = new.__dict__
    for name in FIELDS[type(node)]:
        if isinstance(parts.get(name), (list, gast.AST)):
            parts[name] = _filled(parts[name], fill)
    if isinstance(new, gast.FunctionDef):
        new.name = fill.get(new.name, new.name)
    return new


def copy_tree(node: Any) -> Any:
    """A copy of a tree, with everything that the analyses noted on its nodes.

    >>> gast.dump(copy_tree(quote_expression("x")))
    "Name(id='x', ctx=Load(), annotation=None, type_comment=None)"
    """
    if isinstance(node, list):
        return [copy_tree(item) for item in node]
    if not isinstance(node, gast.AST):
        return node
    new = _shallow_copy(node)
    parts = new.__dict__
    for name in FIELDS[type(node)]:
        value = parts.get(name)
        if value is not None and isinstance(value, (list, gast.AST)):
            parts[name] = copy_tree(value)
    return new


def _shallow_copy(node: Any) -> Any:
    kind: Any = type(node)
    new = kind.__new__(kind)
    new.__dict__.update(node.__dict__)
    return new
