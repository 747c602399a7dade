"""Lists what an expression or a simple statement reads and writes, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from autograph.core.scopes import Scope, Variable
from autograph.core.tree import children

__all__ = ["Event", "events"]

# What happens ("read", "write", "delete", or "capture" by a function that runs later), to which variable, and
# the node where (None: in a nested function).
Event = tuple[str, Variable, Any]


def events(node: Any, scope: Scope) -> Iterator[Event]:
    """The reads and writes of the variables of `scope`, in order.

    What a nested function reads counts where the function is made, and for a hoisted comprehension or
    lambda body also where it is used. Statements with blocks are not entered.
    """
    if node is None:
        return
    if isinstance(node, list):
        for item in node:
            yield from events(item, scope)
        return
    handler = _HANDLERS.get(type(node).__name__, _in_field_order)
    yield from handler(node, scope)


def _in_field_order(node: Any, scope: Scope) -> Iterator[Event]:
    for child in children(node):
        yield from events(child, scope)


def _name(node: Any, scope: Scope) -> Iterator[Event]:
    hoisted = getattr(node, "function", None)
    if hoisted is not None:
        yield from _free(hoisted, scope)
    variable = getattr(node, "variable", None)
    if variable is None or variable.scope is not scope:
        return
    kind = {"Load": "read", "Del": "delete"}.get(type(node.ctx).__name__, "write")
    yield kind, variable, node


def _free(node: Any, scope: Scope) -> Iterator[Event]:
    kind = "read" if node.scope.comprehension else "capture"
    for variable in sorted(node.scope.free_reads, key=lambda variable: variable.index):
        if variable.scope is scope:
            yield kind, variable, None


def _bound(node: Any, scope: Scope) -> Iterator[Event]:
    variable = getattr(node, "variable", None)
    if variable is not None and variable.scope is scope:
        yield "write", variable, node


def _function(node: Any, scope: Scope) -> Iterator[Event]:
    yield from events(getattr(node, "decorator_list", []), scope)
    yield from events(node.args.defaults, scope)
    yield from events(node.args.kw_defaults, scope)
    yield from _bound(node, scope)  # first: a recursive function sees itself
    yield from _free(node, scope)


def _class(node: Any, scope: Scope) -> Iterator[Event]:
    yield from events([*node.decorator_list, *node.bases, *node.keywords], scope)
    yield from events(node.body, scope)
    yield from _free(node, scope)
    yield from _bound(node, scope)


def _assign(node: Any, scope: Scope) -> Iterator[Event]:
    yield from events(node.value, scope)
    yield from events(node.targets, scope)


def _aug_assign(node: Any, scope: Scope) -> Iterator[Event]:
    if isinstance(node.target, gast.Name):
        for _, variable, _ in _name(node.target, scope):
            yield "read", variable, node.target
        yield from events(node.value, scope)
        yield from _name(node.target, scope)
    else:
        yield from events(node.target, scope)
        yield from events(node.value, scope)


def _ann_assign(node: Any, scope: Scope) -> Iterator[Event]:
    if node.value is not None:
        yield from events(node.value, scope)
        yield from events(node.target, scope)


def _named(node: Any, scope: Scope) -> Iterator[Event]:
    yield from events(node.value, scope)
    yield from events(node.target, scope)


def _if_exp(node: Any, scope: Scope) -> Iterator[Event]:
    yield from events([node.test, node.body, node.orelse], scope)


def _dict(node: Any, scope: Scope) -> Iterator[Event]:
    for key, value in zip(node.keys, node.values):
        yield from events(key, scope)
        yield from events(value, scope)


_HANDLERS = {
    "Name": _name,
    "Lambda": _function,
    "FunctionDef": _function,
    "ClassDef": _class,
    "alias": _bound,
    "Assign": _assign,
    "AugAssign": _aug_assign,
    "AnnAssign": _ann_assign,
    "NamedExpr": _named,
    "IfExp": _if_exp,
    "Dict": _dict,
}
