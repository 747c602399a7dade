"""Finds which variables a statement with blocks has to share with the code around it.

It runs on code without break, continue and early return, so one walk up (what each statement needs, what it
surely overwrites) and one walk down (what is needed after it) are enough: time grows with the size of the
code, however deep its loops are nested.

Notes left on If, While and For: `state`, the variables that their blocks change and that matter outside one
run of one block. Variables that try and with statements change and that matter outside one of their blocks
are boxed instead: an exception may leave a block anywhere. All get `blocks`: (statements, what they change).
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.core.activity import events
from autograph.core.scopes import Scope, Variable
from autograph.core.tree import locate

__all__ = ["find_state"]

_NONE: frozenset[Variable] = frozenset()


class _Flow:
    """What some code reads before it writes it, what it surely writes, and what it may write."""

    def __init__(
        self,
        needs: frozenset[Variable] = _NONE,
        writes: frozenset[Variable] = _NONE,
        changes: frozenset[Variable] = _NONE,
    ) -> None:
        self.needs, self.writes, self.changes = needs, writes, changes

    def then(self, other: _Flow) -> _Flow:
        return _Flow(
            self.needs | (other.needs - self.writes),
            self.writes | other.writes,
            self.changes | other.changes,
        )

    def either(self, other: _Flow) -> _Flow:
        return _Flow(self.needs | other.needs, self.writes & other.writes, self.changes | other.changes)

    def maybe(self) -> _Flow:
        return _Flow(self.needs, _NONE, self.changes)


def find_state(function: Any) -> None:
    """Notes `state` and `blocks` on the statements of a function, and boxes what try and with share."""
    liveness = _Liveness(function.scope)
    liveness.block(function.body)
    liveness.mark(function.body, _NONE)


class _Liveness:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.flows: dict[Any, _Flow] = {}
        self.guarded = 0  # how many try and with statements are around the code at hand

    # --- up: the flow of each statement

    def block(self, statements: list[Any]) -> _Flow:
        needs: set[Variable] = set()
        writes: set[Variable] = set()
        changes: set[Variable] = set()
        for statement in statements:
            flow = self.statement(statement)
            needs |= flow.needs - writes
            writes |= flow.writes
            changes |= flow.changes
        result = _Flow(frozenset(needs), frozenset(writes), frozenset(changes))
        self.flows[id(statements)] = result
        return result

    def statement(self, node: Any) -> _Flow:
        if isinstance(node, gast.If):
            body, orelse = self.block(node.body), self.block(node.orelse)
            flow = self.simple(node.test).then(body.either(orelse))
        elif isinstance(node, gast.While):
            test = self.flows[id(node.test)] = self.simple(node.test)
            flow = test.then(self.block(node.body).maybe())
        elif isinstance(node, gast.For):
            test = self.flows[id(node)] = self.simple(getattr(node, "extra_test", None))
            body = self.simple(node.target).then(self.block(node.body))
            flow = self.simple(node.iter).then(test).then(body.maybe())
        elif isinstance(node, gast.With):
            [item] = node.items
            body = self.simple(item.optional_vars).then(self.block(node.body))
            flow = self.simple(item.context_expr).then(body.maybe())
        elif isinstance(node, gast.Try):
            flow = self.try_statement(node)
        else:
            flow = self.simple(node)
        self.flows[id(node), "all"] = flow
        return flow

    def try_statement(self, node: Any) -> _Flow:
        body, orelse = self.block(node.body), self.block(node.orelse)
        final = self.block(node.finalbody)
        normal = body.then(orelse)
        needs = normal.needs | final.needs
        writes = normal.writes
        changes = normal.changes | final.changes
        for handler in node.handlers:
            caught = self.handler(handler)
            needs |= caught.needs
            writes &= caught.writes
            changes |= caught.changes
        return _Flow(needs, writes | final.writes, changes)

    def handler(self, handler: Any) -> _Flow:
        # A handler's name is unbound at its end, which is a write as well.
        flow = self.simple(handler.type).then(self.simple(handler.name)).then(self.block(handler.body))
        self.flows[id(handler)] = flow
        return flow

    def simple(self, node: Any) -> _Flow:
        needs: set[Variable] = set()
        writes: set[Variable] = set()
        for kind, variable, _ in events(node, self.scope):
            if kind in ("read", "capture"):
                if variable not in writes:
                    needs.add(variable)
            else:
                if kind == "delete" and variable not in writes:
                    needs.add(variable)  # deleting an unbound name is an error
                writes.add(variable)
        return _Flow(frozenset(needs), frozenset(writes), frozenset(writes))

    # --- down: what is live after each statement

    def mark(self, statements: list[Any], live: frozenset[Variable]) -> None:
        for index in reversed(range(len(statements))):
            statement = statements[index]
            flag = getattr(statement, "flag", None)
            if flag is not None and flag not in live and not self.guarded:
                # A jump's flag that nothing looks at from here on.
                statements[index : index + 1] = (
                    [] if len(statements) > 1 else locate([gast.Pass()], statement)
                )
                continue
            self.mark_statement(statement, live)
            flow = self.flows[id(statement), "all"]
            live = flow.needs | (live - flow.writes)

    def mark_statement(self, node: Any, live: frozenset[Variable]) -> None:
        if isinstance(node, gast.If):
            body, orelse = self.flows[id(node.body)], self.flows[id(node.orelse)]
            self.note(node, (body.changes | orelse.changes) & (live | body.needs | orelse.needs))
            node.blocks = [(node.body, body.changes), (node.orelse, orelse.changes)]
            self.mark(node.body, live)
            self.mark(node.orelse, live)
        elif isinstance(node, gast.While):
            self.mark_loop(node, self.flows[id(node.test)], self.flows[id(node.body)], live)
        elif isinstance(node, gast.For):
            body = self.simple(node.target).then(self.flows[id(node.body)])
            self.mark_loop(node, self.flows[id(node)], body, live)
        elif isinstance(node, gast.With):
            [item] = node.items
            body = self.simple(item.optional_vars).then(self.flows[id(node.body)])
            self.share(body, live)
            node.blocks = [(node.body, body.changes)]
            self.guarded += 1
            self.mark(node.body, live)
            self.guarded -= 1
        elif isinstance(node, gast.Try):
            self.mark_try(node, live)

    def mark_loop(self, node: Any, test: _Flow, body: _Flow, live: frozenset[Variable]) -> None:
        head = test.needs | ((body.needs | live) - test.writes)
        # A name that the test binds and the body reads crosses two functions, so it is state as well.
        self.note(node, (body.changes | test.changes) & (head | live | body.needs))
        node.blocks = [(node.body, body.changes)]
        self.mark(node.body, head)

    def mark_try(self, node: Any, live: frozenset[Variable]) -> None:
        body, orelse = self.flows[id(node.body)], self.flows[id(node.orelse)]
        final = self.flows[id(node.finalbody)]
        handlers = [self.flows[id(handler)] for handler in node.handlers]
        after = live | final.needs
        after_body = after.union(orelse.needs, *(handler.needs for handler in handlers))
        self.share(body, after_body)
        self.share(orelse, after)
        self.share(final, live)
        for handler in handlers:
            self.share(handler, after)
        node.blocks = [(node.body, body.changes), (node.orelse, orelse.changes)]
        node.blocks += [(each.body, flow.changes) for each, flow in zip(node.handlers, handlers)]
        node.blocks += [(node.finalbody, final.changes)]
        self.guarded += 1
        self.mark(node.body, after_body)
        self.mark(node.orelse, after)
        self.mark(node.finalbody, live)
        for handler in node.handlers:
            self.mark(handler.body, after)
        self.guarded -= 1

    def note(self, node: Any, state: frozenset[Variable]) -> None:
        node.state = sorted(state, key=lambda variable: variable.index)

    def share(self, block: _Flow, live: frozenset[Variable]) -> None:
        """Boxes what a block of a try or with statement changes and other code sees."""
        for variable in block.changes & (block.needs | live):
            variable.boxed = True
