"""Converts a function: each Python construct has one file here, and one list gives their order."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

import gast

from autograph.converters import (
    assert_stmt,
    assign,
    attribute,
    binary_op,
    bool_op,
    call,
    compare,
    display,
    for_stmt,
    fstring,
    function_def,
    hoist,
    if_exp,
    if_stmt,
    jumps,
    keywords,
    match_stmt,
    raise_stmt,
    subscript,
    try_stmt,
    unsupported,
    variables,
    while_stmt,
    with_stmt,
    yield_stmt,
)
from autograph.converters.context import Context
from autograph.core import assignment, liveness, scopes
from autograph.core.names import Namer, identifiers
from autograph.core.parser import FunctionSource
from autograph.core.templates import copy_tree
from autograph.core.tree import locate

__all__ = ["PIPELINE", "convert", "external_names"]


def _resolve(tree: Any, ctx: Context) -> Any:
    ctx.externals = scopes.resolve(tree)
    return tree


def _analyse(tree: Any, ctx: Context) -> Any:
    for node in list(gast.walk(tree)):
        if isinstance(node, gast.FunctionDef):
            liveness.find_state(node)
    for node in list(gast.walk(tree)):
        if isinstance(node, gast.FunctionDef):
            assignment.mark_unbound(node, 1 if _docstring(node) else 0)
    return tree


PIPELINE: list[Callable[[Any, Context], Any]] = [
    unsupported.transform,
    # Constructs that are short for plainer ones. The result is still an ordinary Python program.
    function_def.drop_annotations,
    keywords.transform,
    match_stmt.transform,  # before hoist: its guards and values may hold comprehensions
    with_stmt.split,  # before hoist: what a manager's expression needs goes after the managers before it
    hoist.transform,  # before yield_stmt: a generator expression becomes a generator function
    yield_stmt.transform,  # before jumps: it writes return statements
    function_def.transform,
    assign.transform,  # after hoist: comprehensions have targets, too
    # From here on every name knows its variable.
    _resolve,
    variables.drop_declarations,
    jumps.transform,
    _analyse,  # after jumps: it needs code that only flows downwards
    # Expressions. Each leaves calls of `ag__` alone.
    assert_stmt.transform,
    raise_stmt.transform,
    call.transform,  # before attribute: it looks at what is called
    fstring.transform,
    binary_op.transform,
    compare.transform,
    bool_op.transform,
    if_exp.transform,
    subscript.transform,
    display.transform,
    attribute.transform,
    # Statements with blocks: each block becomes a function.
    if_stmt.transform,
    while_stmt.transform,
    for_stmt.transform,
    with_stmt.transform,
    try_stmt.transform,
    variables.transform,  # last: it writes names in their final form
]


def convert(
    source: FunctionSource,
    *,
    static: frozenset[str],
    external_cells: frozenset[str] = frozenset(),
    modules: frozenset[str] = frozenset(),
    shadowed: frozenset[str] = frozenset(),
) -> Any:
    """The converted function as a gast FunctionDef, whose code calls the operators as `ag__.something`.

    `static` are the external names that stay bare; `external_cells` those that are free variables;
    `modules` the static names of modules, whose attributes are read directly; `shadowed` the names of
    builtins that the module redefines. The defaults of the function itself are left out: its caller sets
    them from the original.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def double(n):
    ...     LIMIT = g(n)
    ...     return n * 2 if n < LIMIT else h''', static="g"))
    def double(n):
        LIMIT = ag__.call(g, n)
        return ag__.if_exp(ag__.lt(n, LIMIT), lambda: n * 2, lambda: ag__.load('h'))
    """
    tree = _as_function(copy_tree(source.node))
    names = identifiers(tree) | static | external_cells
    ctx = Context(source, Namer(names), static, external_cells, modules, shadowed)
    ctx.slice_name = "ag__.slice" if "slice" in names | shadowed else "slice"
    if isinstance(tree, gast.Lambda):
        tree = _lambda_function(tree, ctx)
    for transform in PIPELINE:
        tree = transform(tree, ctx)
    tree.made_functions = _made_functions(ctx)
    return tree


def external_names(source: FunctionSource, shadowed: frozenset[str] = frozenset()) -> set[str]:
    """The names that a function reads or writes and that are neither its own nor only builtins."""
    tree = copy_tree(source.node)
    ctx = Context(source, Namer(identifiers(tree)), frozenset(), frozenset(), frozenset(), shadowed)
    if isinstance(tree, gast.Lambda):
        tree = _lambda_function(tree, ctx)
    tree = _as_function(tree)
    for transform in PIPELINE[: PIPELINE.index(_resolve) + 1]:
        tree = transform(tree, ctx)
    names = {
        name
        for name, variable in ctx.externals.items()
        if variable.written or name in shadowed or not hasattr(builtins, name)
    }
    if "super" in ctx.externals:
        names.add("__class__")
    return names


def _made_functions(ctx: Context) -> dict[str, str]:
    """What Python calls each function that was made here, for the qualified names of functions inside it."""
    inlined = sys.version_info >= (3, 12)  # Python has no function for a list, set or dict comprehension
    calls = {
        "list_comp": "" if inlined else "<listcomp>",
        "set_comp": "" if inlined else "<setcomp>",
        "dict_comp": "" if inlined else "<dictcomp>",
        "generator_exp": "<genexpr>",
        "lambda_body": "<lambda>",
    }
    return {name: calls.get(stem, "") for name, stem in ctx.namer.given.items()}


def _as_function(tree: Any) -> Any:
    if isinstance(tree, gast.FunctionDef):
        tree.args.defaults = []
        tree.args.kw_defaults = [None] * len(tree.args.kwonlyargs)
        tree.decorator_list = []
    return tree


def _lambda_function(tree: Any, ctx: Context) -> Any:
    body = [gast.Return(tree.body)]
    function = gast.FunctionDef(ctx.namer.fresh("lambda_function"), tree.args, body, [], None, None, [])
    return _as_function(locate(function, tree))


def _docstring(node: Any) -> bool:
    first = node.body[0]
    is_text = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    return is_text and isinstance(first.value.value, str)
