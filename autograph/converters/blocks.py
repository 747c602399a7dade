"""Makes a function of a block, and the pair of functions that reads and writes what blocks share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.scopes import Variable
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import locate

__all__ = ["block_function", "parameter", "state_functions"]


def block_function(
    ctx: Context, stem: str, body: list[Any], shared: Sequence[Variable], argument: str | None = None
) -> Any:
    """A function that runs a block; the variables it shares with the code around it are noted on it."""
    [function] = quote("def name(): body", name=ctx.namer.fresh(stem), body=body or quote("pass"))
    if argument is not None:
        function.args.args = [gast.Name(argument, gast.Param(), None, None)]
    function.block = True
    function.shared = frozenset(shared)
    if body:
        locate(function, body[0])
    return function


def parameter(ctx: Context, target: Any, stem: str, shared: Sequence[Variable]) -> tuple[str, list[Any]]:
    """The parameter that takes an item, and what the block must start with to store it in its target.

    A name of the block's own is the parameter itself.
    """
    if target is None:
        return ctx.namer.fresh(stem), []
    variable = target.variable
    if variable is not None and not (variable.boxed or variable.external or variable in shared):
        return target.id, []
    name = ctx.namer.fresh(stem)
    start = [gast.Assign([target], gast.Name(name, gast.Load(), None, None), None)]
    return name, locate(start, target)


def state_functions(ctx: Context, state: Sequence[Variable]) -> tuple[list[Any], dict[str, Any]]:
    """`get_state` and `set_state` for the variables, and what stands for them in the operator's call."""
    if not state:
        return [], {
            "get_state": quote_expression("lambda: ()"),
            "set_state": quote_expression(f"lambda {ctx.shared_name('values')}: None"),
            "names": gast.Tuple([], gast.Load()),
        }
    get_state, set_state = ctx.namer.fresh("get_state"), ctx.namer.fresh("set_state")
    values = ctx.shared_name("values")
    names = [variable.name for variable in state]
    functions = quote(
        """
        def get_state():
            return current
        def set_state(values):
            [new] = values
        """,
        get_state=get_state,
        set_state=set_state,
        values=values,
        current=gast.Tuple([gast.Name(name, gast.Load(), None, None) for name in names], gast.Load()),
    )
    targets = gast.Tuple([gast.Name(name, gast.Store(), None, None) for name in names], gast.Store())
    functions[1].body[0].targets = [targets]
    functions[1].body.insert(0, gast.Nonlocal(names))
    for function in functions:
        function.block = True
        function.shared = frozenset()
    return functions, {
        "get_state": get_state,
        "set_state": set_state,
        "names": gast.Tuple([gast.Constant(name, None) for name in names], gast.Load()),
    }
