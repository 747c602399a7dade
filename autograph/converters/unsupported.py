"""Refuses what has no staged meaning, with the place, the reason and what to write instead."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.tree import walk

__all__ = ["transform"]

_FRAME_READERS = {
    "locals": "it reads the variables of a running frame, and converted code keeps them elsewhere",
    "globals": "it gives out the module's variables for reading and writing, unseen by the graph",
    "eval": "the code it runs is only known at run time, so it cannot be converted",
    "exec": "the code it runs is only known at run time, so it cannot be converted",
}
_INSTEAD = {
    "locals": "Name the variables: {'x': x, 'y': y}.",
    "globals": "Name the global variables that are needed, or pass them as arguments.",
    "eval": "Write the expression out, or choose between functions.",
    "exec": "Write the statements out, or choose between functions.",
}
_CHECKED = {
    "AsyncFunctionDef",
    "AsyncFor",
    "AsyncWith",
    "Await",
    "comprehension",
    "TryStar",
    "Yield",
    "YieldFrom",
    "TypeAlias",
    "FunctionDef",
    "ClassDef",
    "Try",
    "ImportFrom",
    "Call",
}


def transform(tree: Any, ctx: Context) -> Any:
    """Returns the tree unchanged, or raises ConversionError."""
    if isinstance(tree, gast.AsyncFunctionDef):
        raise _asynchronous(tree, ctx, "async def")
    nodes = walk(tree)
    statements = {id(node.value) for node in nodes if isinstance(node, gast.Expr)}
    for node in nodes:
        if type(node).__name__ in _CHECKED:
            _check(node, ctx, nodes, statements)
    return tree


def _check(node: Any, ctx: Context, nodes: list[Any], statements: set[int]) -> None:
    kind = type(node).__name__
    if kind in ("AsyncFunctionDef", "AsyncFor", "AsyncWith", "Await"):
        names = {"AsyncFunctionDef": "async def", "AsyncFor": "async for", "AsyncWith": "async with"}
        raise _asynchronous(node, ctx, names.get(kind, "await"))
    if kind == "comprehension" and node.is_async:
        raise _asynchronous(node.iter, ctx, "an asynchronous comprehension")
    if kind == "TryStar":
        raise ctx.error(
            node,
            "'except*' cannot be converted.",
            "Exception groups split one exception over several handlers, which a graph has no operation for.",
            "Use 'except' with a tuple of types.",
        )
    if kind in ("Yield", "YieldFrom") and id(node) not in statements:
        raise ctx.error(
            node,
            "the value of 'yield' is used, which cannot be converted.",
            "A generator is staged by running its consumer at each yield; nothing can be sent into it.",
            "Write 'yield' as a statement of its own, and pass values in as arguments.",
        )
    if kind == "TypeAlias" or getattr(node, "type_params", None):
        raise ctx.error(
            node,
            "type parameters cannot be converted.",
            "They are made when the function is defined, and a graph has no use for them.",
            "Define the generic type at module level.",
        )
    if kind == "Try":
        _check_finally(node.finalbody, ctx, in_loop=False)
    if kind == "ImportFrom" and any(alias.name == "*" for alias in node.names):
        raise ctx.error(
            node,
            "'import *' cannot be converted.",
            "The names it binds are not known when the function is converted.",
            "Import the names that are used.",
        )
    if kind == "Call" and isinstance(node.func, gast.Name):
        _check_call(node, ctx, nodes)


def _check_call(node: Any, ctx: Context, nodes: list[Any]) -> None:
    name = node.func.id
    if name in ctx.shadowed or name in ctx.external_cells:
        return
    reason, instead = _FRAME_READERS.get(name), _INSTEAD.get(name)
    if name in ("vars", "dir") and not node.args and not node.keywords:
        reason, instead = _FRAME_READERS["locals"], _INSTEAD["locals"]
    if reason is not None and instead is not None and not _binds(nodes, name):
        raise ctx.error(
            node, f"'{name}()' cannot be converted.", f"{reason[0].upper()}{reason[1:]}.", instead
        )


def _binds(nodes: list[Any], name: str) -> bool:
    return any(isinstance(n, gast.Name) and n.id == name and not isinstance(n.ctx, gast.Load) for n in nodes)


def _check_finally(statements: list[Any], ctx: Context, in_loop: bool) -> None:
    for node in statements:
        if isinstance(node, gast.Return) or (isinstance(node, (gast.Break, gast.Continue)) and not in_loop):
            word = type(node).__name__.lower()
            raise ctx.error(
                node,
                f"'{word}' inside 'finally' cannot be converted.",
                "It would drop an exception on its way, which a staged 'finally' never does.",
                f"Move the '{word}' after the try statement.",
            )
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            continue
        inside = in_loop or isinstance(node, (gast.While, gast.For))
        for field in ("body", "finalbody", "handlers"):
            _check_finally(getattr(node, field, []), ctx, inside)
        _check_finally(
            getattr(node, "orelse", []), ctx, in_loop or (isinstance(node, (gast.If, gast.Try)) and in_loop)
        )
        for case in getattr(node, "cases", []):
            _check_finally(case.body, ctx, in_loop)


def _asynchronous(node: Any, ctx: Context, construct: str) -> Exception:
    return ctx.error(
        node,
        f"'{construct}' cannot be converted.",
        "A graph runs in program order and never waits for an event loop.",
        "Write a plain function, and await its inputs before calling it.",
    )
