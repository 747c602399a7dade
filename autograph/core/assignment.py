"""Finds the reads of names that may be unbound, and the blocks that must start with an unbound marker.

A forward walk over code without break, continue and early return. A name is checked where an assignment
before it cannot be proven. Where a function made for a block shares a name that has no value yet, the block
that owns the name starts with `name = ag__.Undefined('name')`.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.core.activity import events
from autograph.core.scopes import Variable
from autograph.core.templates import quote
from autograph.core.tree import children, locate, walk

__all__ = ["mark_unbound"]

_Names = set[Variable]


def mark_unbound(function: Any, at: int) -> None:
    """Notes `check` on names that may be unbound; the function's own markers go before statement `at`."""
    _Assignment(function, at).run()


class _Assignment:
    def __init__(self, function: Any, at: int) -> None:
        self.function = function
        self.scope = function.scope
        self.at = at
        self.owner: dict[Variable, list[Any]] = {}
        self.markers: dict[int, tuple[list[Any], _Names]] = {}
        self.given: dict[int, Any] = {}  # the target that a block starts with, by the block

    def run(self) -> None:
        assigned = {v for v in self.scope.variables.values() if v.parameter}
        self.block(self.function.body, assigned)
        for statements, variables in self.markers.values():
            at = self.at if statements is self.function.body else 0
            target = self.given.get(id(statements))
            given = getattr(target, "variable", None) if isinstance(target, gast.Name) else None
            unset = sorted((v for v in variables if v is not given), key=lambda v: v.index)
            new = [self.marker(variable) for variable in unset]
            locate(new, self.function)
            statements[at:at] = new

    def marker(self, variable: Variable) -> Any:
        [statement] = quote(
            "name = ag__.Undefined(text)", name=variable.name, text=gast.Constant(variable.name, None)
        )
        statement.targets[0].marks = variable
        return statement

    def require(self, variable: Variable, assigned: _Names | None) -> bool:
        """Makes sure that a name can be shared or read; returns whether it may be unbound."""
        if variable.boxed or (assigned is not None and variable in assigned):
            return False
        block = self.owner.get(variable, self.function.body)
        if not (variable.parameter and block is self.function.body):  # a parameter has a value from the start
            self.markers.setdefault(id(block), (block, set()))[1].add(variable)
        return assigned is not None

    # Each method takes the names surely bound before, and returns those after; None where nothing gets.

    def block(self, statements: list[Any], assigned: _Names | None) -> _Names | None:
        for statement in statements:
            assigned = self.statement(statement, assigned)
        return assigned

    def statement(self, node: Any, assigned: _Names | None) -> _Names | None:
        if isinstance(node, gast.If):
            assigned = self.simple(node.test, assigned)
            self.share(node, assigned)
            body = self.inner(node, 0, assigned)
            orelse = self.inner(node, 1, assigned)
            return _either(body, orelse)
        if isinstance(node, gast.While):
            head = self.without_deleted(node, assigned)
            self.share(node, head)
            after = self.simple(node.test, head)
            self.inner(node, 0, after)
            return after
        if isinstance(node, gast.For):
            assigned = self.simple(node.iter, assigned)
            head = self.without_deleted(node, assigned)
            self.share(node, head)
            after = self.simple(getattr(node, "extra_test", None), head)
            self.inner(node, 0, after, node.target)
            return after
        if isinstance(node, gast.With):
            [item] = node.items
            assigned = self.simple(item.context_expr, assigned)
            self.inner(node, 0, assigned, item.optional_vars)
            return self.without_deleted(node, assigned)
        if isinstance(node, gast.Try):
            return self.try_statement(node, assigned)
        assigned = self.simple(node, assigned)
        return None if isinstance(node, (gast.Raise, gast.Return)) else assigned

    def try_statement(self, node: Any, assigned: _Names | None) -> _Names | None:
        body = self.inner(node, 0, assigned)
        result = self.inner(node, 1, body)
        caught = self.without_deleted(node, assigned)
        for index, handler in enumerate(node.handlers):
            self.simple(handler.type, caught)
            after = self.inner(node, 2 + index, caught, handler.name)
            if after is not None and handler.name is not None:
                after.discard(handler.name.variable)
            result = _either(result, after)
        self.inner(node, 2 + len(node.handlers), caught)
        return result

    def inner(self, node: Any, index: int, assigned: _Names | None, target: Any = None) -> _Names | None:
        """The block of a statement, in which what is not shared with the outside is a name of its own."""
        statements, changes = node.blocks[index]
        own = [v for v in changes if v not in getattr(node, "state", ()) and not v.boxed]
        outer = {variable: self.owner.get(variable) for variable in own}
        result = None if assigned is None else assigned.difference(own)
        for variable in own:
            self.owner[variable] = statements
        if target is not None:
            self.given[id(statements)] = target
            result = self.simple(target, result)
        result = self.block(statements, result)
        if result is not None and assigned is not None:  # outside, a name of the block's own is as it was
            result = result.difference(own) | assigned.intersection(own)
        for variable, block in outer.items():
            if block is None:
                self.owner.pop(variable, None)
            else:
                self.owner[variable] = block
        return result

    def share(self, node: Any, assigned: _Names | None) -> None:
        node.state = [variable for variable in node.state if not variable.boxed]
        for variable in node.state:
            self.require(variable, assigned)

    def without_deleted(self, node: Any, assigned: _Names | None) -> _Names | None:
        """A block may run partly, or again: what it deletes may be unbound."""
        if assigned is None or not any(variable.deleted for variable in assigned):
            return assigned if assigned is None else set(assigned)
        deleted = set()
        for statements, _ in node.blocks:
            for statement in statements:
                for inner in walk(statement):
                    if isinstance(inner, gast.Name) and isinstance(inner.ctx, gast.Del):
                        deleted.add(inner.variable)
        return assigned - deleted

    def simple(self, node: Any, assigned: _Names | None) -> _Names | None:
        result = None if assigned is None else set(assigned)
        for kind, variable, place in events(node, self.scope):
            if kind == "write":
                if result is not None:
                    result.add(variable)
                continue
            if kind == "capture":
                continue  # what a later function sees is bound once and before it, or boxed
            unsure = self.require(variable, result)
            if unsure and place is not None:
                place.check = True
            if kind == "delete" and result is not None:
                result.discard(variable)
        if isinstance(node, gast.FunctionDef) and node.scope.comprehension:
            self.nested(node, result)
        return result

    def nested(self, node: Any, assigned: _Names | None) -> None:
        """The reads in a comprehension, which runs in the statement that follows."""
        pending = [node]
        while pending:
            inner = pending.pop()
            if isinstance(inner, gast.Name) and isinstance(inner.ctx, gast.Load):
                variable = getattr(inner, "variable", None)
                if variable is None or variable.scope is not self.scope or variable.boxed:
                    continue
                if variable.deleted or (assigned is not None and variable not in assigned):
                    self.require(variable, set())
                    inner.check = True
            pending.extend(children(inner))


def _either(one: _Names | None, other: _Names | None) -> _Names | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other
