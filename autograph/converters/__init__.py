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
from autograph.core.tree import locate, statements, walk

__all__ = ["PIPELINE", "Resolved", "convert", "external_names"]


def _note_kinds(tree: Any, ctx: Context) -> Any:
    ctx.kinds = frozenset(kind.__name__ for kind in set(map(type, walk(tree)[1:])))
    return tree


def _resolve(tree: Any, ctx: Context) -> Any:
    ctx.externals = scopes.resolve(tree)
    return tree


def _analyse(tree: Any, ctx: Context) -> Any:
    functions = [node for node in statements(tree) if isinstance(node, gast.FunctionDef)]
    for node in functions:
        liveness.find_state(node)
    for node in functions:
        assignment.mark_unbound(node, 1 if _docstring(node) else 0)
    return tree


PIPELINE: list[Callable[[Any, Context], Any]] = [
    unsupported.transform,
    _note_kinds,
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
    _note_kinds,
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

_NEEDS: dict[Callable[[Any, Context], Any], frozenset[str]] = {
    match_stmt.transform: frozenset(["Match"]),
    with_stmt.split: frozenset(["With"]),
    hoist.transform: frozenset(["ListComp", "SetComp", "DictComp", "GeneratorExp", "Lambda"]),
    yield_stmt.transform: frozenset(["Yield", "YieldFrom", "GeneratorExp"]),
    function_def.transform: frozenset(["FunctionDef", "ClassDef"]),
    assert_stmt.transform: frozenset(["Assert"]),
    raise_stmt.transform: frozenset(["Raise"]),
    call.transform: frozenset(["Call"]),
    fstring.transform: frozenset(["JoinedStr", "FormattedValue"]),
    binary_op.transform: frozenset(["BinOp"]),
    compare.transform: frozenset(["Compare"]),
    bool_op.transform: frozenset(["BoolOp", "UnaryOp"]),
    if_exp.transform: frozenset(["IfExp"]),
    subscript.transform: frozenset(["Subscript"]),
    display.transform: frozenset(["List", "Set", "Dict", "Starred"]),
    attribute.transform: frozenset(["Attribute"]),
    if_stmt.transform: frozenset(["If"]),
    while_stmt.transform: frozenset(["While"]),
    for_stmt.transform: frozenset(["For"]),
    with_stmt.transform: frozenset(["With"]),
    try_stmt.transform: frozenset(["Try"]),
}
"""What a converter looks for: it is left out where the last `_note_kinds` before it saw none of that. So no
converter may write, between there and here, what another one looks for."""


class Resolved:
    """The first half of a conversion, for which nothing outside the function need be known."""

    def __init__(self, source: FunctionSource, shadowed: frozenset[str], cells: frozenset[str]) -> None:
        tree = _as_function(copy_tree(source.node))
        names = identifiers(tree) | cells
        self.context = ctx = Context(source, Namer(names), frozenset(), cells, frozenset(), shadowed)
        ctx.slice_name = "ag__.slice" if "slice" in names | shadowed else "slice"
        if isinstance(tree, gast.Lambda):
            tree = _lambda_function(tree, ctx)
        self.tree = _run(PIPELINE[:_HALF], tree, ctx)

    def external_names(self) -> set[str]:
        """The names that the function reads or writes and that are neither its own nor only builtins."""
        externals, shadowed = self.context.externals, self.context.shadowed
        names = {
            name
            for name, variable in externals.items()
            if variable.written or name in shadowed or not hasattr(builtins, name)
        }
        if "super" in externals:
            names.add("__class__")
        return names


_HALF = PIPELINE.index(_resolve) + 1


def _run(transforms: list[Callable[[Any, Context], Any]], tree: Any, ctx: Context) -> Any:
    for transform in transforms:
        needs = _NEEDS.get(transform)
        if needs is None or not needs.isdisjoint(ctx.kinds):
            tree = transform(tree, ctx)
    return tree


def convert(
    source: FunctionSource,
    *,
    static: frozenset[str],
    external_cells: frozenset[str] = frozenset(),
    modules: frozenset[str] = frozenset(),
    shadowed: frozenset[str] = frozenset(),
    resolved: Resolved | None = None,
) -> Any:
    """The converted function as a gast FunctionDef, whose code calls the operators as `ag__.something`.

    `static` are the external names that stay bare; `external_cells` those that are free variables;
    `modules` the static names of modules, whose attributes are read directly; `shadowed` the names of
    builtins that the module redefines. The defaults of the function itself are left out: its caller sets
    them from the original. `resolved` is the first half of the work, where it has been done; it is used up.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def double(n):
    ...     LIMIT = g(n)
    ...     return n * 2 if n < LIMIT else h''', static="g"))
    def double(n):
        LIMIT = ag__.call(g, n)
        return ag__.if_exp(ag__.lt(n, LIMIT), lambda: n * 2, lambda: ag__.load('h'))
    """
    if resolved is None:
        resolved = Resolved(source, shadowed, external_cells)
    ctx = resolved.context
    ctx.static, ctx.modules = static, modules
    tree = _run(PIPELINE[_HALF:], resolved.tree, ctx)
    tree.made_functions = _made_functions(ctx)
    return tree


def external_names(source: FunctionSource, shadowed: frozenset[str] = frozenset()) -> set[str]:
    """The names that a function reads or writes and that are neither its own nor only builtins."""
    return Resolved(source, shadowed, frozenset()).external_names()


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
