"""Replaces break, continue and early return by flags and branches, so that code only flows downwards.

Where a branch always leaves, what follows the if statement moves into the other branch, and no flag is
needed. Otherwise the jump sets a flag, and what it skips is guarded by that flag. Flags that nothing looks
at vanish. An exception can overtake a jump on its way out (raised by a `finally` or a context manager):
whatever catches it takes the jump back.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.scopes import Variable
from autograph.core.templates import quote_expression
from autograph.core.tree import StatementTransformer, locate, walk
from autograph.records import record_class

__all__ = ["For", "transform"]


class For(gast.For):  # type: ignore[misc]
    """A for loop with a test before each item is fetched (an expression, or None)."""

    _fields = (*gast.For._fields, "extra_test")
    extra_test: Any = None


def transform(tree: Any, ctx: Context) -> Any:
    """Lowers the jumps of every function in the tree.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(x):
    ...     for v in x:
    ...         if v < 0:
    ...             break
    ...         print(v)'''))
    def f(x):
        did_break = False
        def loop_body(v):
            def if_body():
                nonlocal did_break
                did_break = True
            def else_body():
                ag__.call(print, v)
            def get_state():
                return (did_break,)
            def set_state(values):
                nonlocal did_break
                (did_break,) = values
            ag__.if_stmt(v < 0, if_body, else_body, get_state, set_state, ('did_break',))
        def get_state_1():
            return (did_break,)
        def set_state_1(values):
            nonlocal did_break
            (did_break,) = values
        ag__.for_stmt(x, lambda: ag__.not_(did_break), loop_body, get_state_1, set_state_1, ('did_break',))
    """
    return _Functions(ctx).visit(tree)


class _Functions(StatementTransformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def visit_FunctionDef(self, node: Any) -> Any:
        super().visit_FunctionDef(node)
        _Jumps(self.ctx, node).run()
        return node


@record_class(eq=False)
class _Flag:
    """A flag of one loop or function; made when the first statement looks at it."""

    stem: str
    variable: Variable | None = None


class _SetFlag(gast.Pass):  # type: ignore[misc]
    """Stands for `flag = value` until it is known whether anything looks at the flag."""

    flag: _Flag
    value: bool


_NOTHING: frozenset[str] = frozenset()


class _Jumps:
    def __init__(self, ctx: Context, function: Any) -> None:
        self.ctx = ctx
        self.function = function
        self.scope = function.scope
        self.result: Variable | None = None
        self.implicit_return: Any = None
        self.targets: dict[str, _Flag] = {"return": _Flag("do_return")}
        self.notes: dict[int, tuple[frozenset[str], bool]] = {}
        self.kept: list[Any] = []  # notes are by identity: the nodes must live as long

    def run(self) -> None:
        body = self.function.body
        start = _after_docstring(body)
        exits, falls = self.scan(body)
        if "return" not in exits and not any(self.exits_inside(statement) for statement in body):
            return
        last = body[-1]
        early = any("return" in self.note(statement)[0] for statement in body[:-1])
        if not early and isinstance(last, gast.Return):
            body[:] = [*self.block(body[:-1]), last]
            self.finish(body, start)
            return
        returns_value = any(_has_value(node) for node in self.returns(body))
        if returns_value:
            self.result = self.ctx.variable("retval_", self.scope)
            if falls:
                self.implicit_return = locate(gast.Return(gast.Constant(None, None)), last)
                body = [*body, self.implicit_return]
        body = self.block(body)
        if self.result is not None:
            body.append(locate(gast.Return(self.ctx.name(self.result)), last))
        self.function.body = body
        self.finish(body, start)

    def finish(self, body: list[Any], start: int) -> None:
        flag = self.targets["return"]
        if flag.variable is not None:
            body.insert(start, locate(self.assign_flag(flag.variable, False), self.function))
        _settle(self.ctx, body)
        self.function.body = body or [locate(gast.Pass(), self.function)]

    # --- what a statement may do: leave by which jumps, and whether it can reach the next statement

    def note(self, node: Any) -> tuple[frozenset[str], bool]:
        if id(node) not in self.notes:
            self.kept.append(node)
            self.notes[id(node)] = self.look(node)
        return self.notes[id(node)]

    def scan(self, statements: list[Any]) -> tuple[frozenset[str], bool]:
        exits: set[str] = set()
        for statement in statements:
            own, falls = self.note(statement)
            exits |= own
            if not falls:
                return frozenset(exits), False
        return frozenset(exits), True

    def look(self, node: Any) -> tuple[frozenset[str], bool]:
        if isinstance(node, (gast.Break, gast.Continue, gast.Return)):
            return frozenset([type(node).__name__.lower()]), False
        if isinstance(node, gast.Raise):
            return _NOTHING, False
        if isinstance(node, gast.If):
            body, orelse = self.scan(node.body), self.scan(node.orelse)
            return body[0] | orelse[0], body[1] or orelse[1]
        if isinstance(node, (gast.While, gast.For)):
            body, orelse = self.scan(node.body), self.scan(node.orelse)
            ends = not (isinstance(node, gast.While) and _is_true(node.test))
            exits = (body[0] - {"break", "continue"}) | (orelse[0] if ends else _NOTHING)
            return exits, "break" in body[0] or (ends and orelse[1])
        if isinstance(node, gast.With):
            return self.scan(node.body)[0], True  # the manager may swallow an exception
        if isinstance(node, gast.Try):
            return self.look_try(node)
        return _NOTHING, True

    def look_try(self, node: Any) -> tuple[frozenset[str], bool]:
        exits, falls = self.scan(node.body)
        if falls:
            orelse = self.scan(node.orelse)
            exits, falls = exits | orelse[0], orelse[1]
        for handler in node.handlers:
            caught = self.scan(handler.body)
            exits, falls = exits | caught[0], falls or caught[1]
        return exits, falls and self.scan(node.finalbody)[1]

    def exits_inside(self, node: Any) -> bool:
        """True where a loop in the statement has a jump of its own, or an else."""
        if isinstance(node, (gast.FunctionDef, gast.ClassDef, gast.Lambda)):
            return False
        if isinstance(node, (gast.Break, gast.Continue)):
            return True
        if isinstance(node, (gast.While, gast.For)) and node.orelse:
            return True
        return any(self.exits_inside(child) for child in _substatements(node))

    def returns(self, statements: list[Any]) -> list[Any]:
        found = []
        pending = list(statements)
        while pending:
            node = pending.pop()
            if isinstance(node, gast.Return):
                found.append(node)
            elif not isinstance(node, (gast.FunctionDef, gast.ClassDef)):
                pending.extend(_substatements(node))
        return found

    # --- lowering

    def block(self, statements: list[Any]) -> list[Any]:
        result: list[Any] = []
        pending = list(reversed(statements))
        while pending:
            node = pending.pop()
            exits, falls = self.note(node)
            if isinstance(node, (gast.Break, gast.Continue, gast.Return)):
                result += self.jump(node)
                return result
            if isinstance(node, gast.If) and exits and pending and self.absorb(node, pending):
                pending = []
                exits, falls = self.note(node)
            if isinstance(node, (gast.While, gast.For)):
                exits = self.scan(node.body)[0] - {"break", "continue"}
                lowered, orelse = self.loop(node)
                result += lowered
                if not falls and not orelse:
                    return result
                pending.extend(reversed(orelse))
            elif (
                exits
                and isinstance(node, gast.With)
                and self.is_default(pending)
                and not self.late(node.body)
            ):
                # Whatever happens in the body, the value to return is known: no flag is needed.
                [assign] = self.jump(pending.pop())[:1]
                result += [assign, *self.descend(node)]
            else:
                result += self.descend(node)
                if not falls:
                    return result  # what follows is never reached
            if exits and pending:
                result.append(self.guard(exits, list(reversed(pending)), node))
                return result
        return result

    def is_default(self, pending: list[Any]) -> bool:
        return len(pending) == 1 and pending[0] is self.implicit_return

    def absorb(self, node: Any, pending: list[Any]) -> bool:
        """Moves what follows an if statement into the branch that goes on, where the other one never does."""
        body, orelse = self.scan(node.body)[1], self.scan(node.orelse)[1]
        if body and orelse:
            return False
        rest = list(reversed(pending))
        if body:
            node.body = [*node.body, *rest]
        elif orelse:
            node.orelse = [*node.orelse, *rest]
        self.notes.pop(id(node))
        return True

    def late(self, statements: list[Any]) -> bool:
        """True where an exception may be raised after a jump was taken: by a `finally` or a manager."""
        for node in statements:
            if not self.note(node)[0] and not isinstance(node, (gast.While, gast.For)):
                continue
            if isinstance(node, gast.With) or (isinstance(node, gast.Try) and node.finalbody):
                return True
            if self.late(_substatements(node)):
                return True
        return False

    def jump(self, node: Any) -> list[Any]:
        kind = type(node).__name__.lower()
        code: list[Any] = []
        if kind == "return":
            value = node.value
            if self.result is not None:
                value = gast.Constant(None, None) if value is None else value
                code.append(gast.Assign([self.ctx.name(self.result, gast.Store())], value, None))
            elif value is not None and not isinstance(value, gast.Constant):
                code.append(gast.Expr(value))
        code.append(self.set_flag(kind, True))
        return locate(code, node)  # type: ignore[no-any-return]

    def set_flag(self, kind: str, value: bool) -> Any:
        statement = _SetFlag()
        statement.flag, statement.value = self.targets[kind], value
        return statement

    def not_set(self, kinds: frozenset[str]) -> Any:
        """The test that none of the jumps was taken."""
        names = []
        for kind in ("break", "continue", "return"):
            if kind in kinds:
                flag = self.targets[kind]
                if flag.variable is None:
                    flag.variable = self.ctx.variable(flag.stem, self.scope)
                names.append(self.ctx.name(flag.variable))
        return quote_expression(
            "not flags", flags=names[0] if len(names) == 1 else gast.BoolOp(gast.Or(), names)
        )

    def guard(self, kinds: frozenset[str], rest: list[Any], origin: Any) -> Any:
        test = self.not_set(kinds)
        return locate(gast.If(test, self.block(rest), []), rest[0] if rest else origin)

    def descend(self, node: Any) -> list[Any]:
        """Lowers the blocks of a statement that is no loop."""
        if isinstance(node, gast.If):
            node.body = self.block(node.body)
            node.orelse = self.block(node.orelse)
        elif isinstance(node, gast.With):
            exits = self.scan(node.body)[0]
            late = self.late(node.body)
            node.body = self.block(node.body)
            if late:  # the manager may swallow an exception that overtook the jump
                handler = gast.ExceptHandler(None, None, [*self.take_back(exits), gast.Raise(None, None)])
                node.body = [gast.Try(node.body, [handler], [], [])]
                locate(node.body, node)
        elif isinstance(node, gast.Try):
            self.descend_try(node)
        return [node]

    def descend_try(self, node: Any) -> None:
        exits, _ = self.scan(node.body)
        late = self.late(node.body)
        node.body = self.block(node.body)
        if node.orelse and exits:
            node.orelse = [self.guard(exits, node.orelse, node)]
        else:
            node.orelse = self.block(node.orelse)
        for handler in node.handlers:
            handler.body = self.block(handler.body)
            if late:
                handler.body = locate(self.take_back(exits), handler) + handler.body
        node.finalbody = self.block(node.finalbody)

    def take_back(self, kinds: frozenset[str]) -> list[Any]:
        return [self.set_flag(kind, False) for kind in sorted(kinds)]

    def loop(self, node: Any) -> tuple[list[Any], list[Any]]:
        """A loop without jumps, and what of it runs after it: its else."""
        exits, _ = self.scan(node.body)
        outer = self.targets
        self.targets = {**outer, "break": _Flag("did_break"), "continue": _Flag("did_continue")}
        body = self.block(node.body)
        skip = self.targets["continue"].variable
        if skip is not None:
            body.insert(0, locate(self.assign_flag(skip, False), node))
        node.body = body
        leaving = exits - {"continue"}
        if leaving:
            tests = [self.not_set(frozenset([kind])) for kind in sorted(leaving)]
            node = self.add_tests(node, tests)
        orelse, node.orelse = node.orelse, []
        if orelse and "break" in exits:
            test = self.not_set(frozenset(["break"]))
            orelse = [locate(gast.If(test, orelse, []), orelse[0])]
        start = []
        stop = self.targets["break"].variable
        if stop is not None:
            start = [locate(self.assign_flag(stop, False), node)]
        self.targets = outer
        return [*start, node], orelse

    def add_tests(self, node: Any, tests: list[Any]) -> Any:
        if isinstance(node, gast.While):
            if not _is_true(node.test):
                for inner in walk(node.test):
                    if isinstance(inner, gast.NamedExpr) and inner.target.variable is not None:
                        inner.target.variable.boxed = True  # it is evaluated lazily from now on
                tests = [*tests, node.test]
            test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
            node.test = locate(test, node.test)
            return node
        loop = For(node.target, node.iter, node.body, node.orelse, None)
        loop.extra_test = tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)
        return locate(loop, node)

    def assign_flag(self, variable: Variable, value: bool) -> Any:
        target = self.ctx.name(variable, gast.Store())
        return gast.Assign([target], gast.Constant(value, None), None)


def _settle(ctx: Context, statements: list[Any]) -> None:
    """Makes assignments of the flags that something looks at, and drops the others."""
    result = []
    for node in statements:
        if isinstance(node, _SetFlag):
            variable = node.flag.variable
            if variable is not None:
                target = ctx.name(variable, gast.Store())
                assign = gast.Assign([target], gast.Constant(node.value, None), None)
                assign.flag = variable
                result.append(locate(assign, node))
            continue
        if not isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list):
                    _settle(ctx, block)
                    if name == "body" and not block:
                        block.append(locate(gast.Pass(), node))
            for handler in getattr(node, "handlers", []):
                _settle(ctx, handler.body)
                if not handler.body:
                    handler.body.append(locate(gast.Pass(), handler))
        result.append(node)
    statements[:] = result


def _substatements(node: Any) -> list[Any]:
    found: list[Any] = []
    for name in ("body", "orelse", "finalbody"):
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += value
    for handler in getattr(node, "handlers", []):
        found += handler.body
    return found


def _has_value(node: Any) -> bool:
    value = node.value
    return value is not None and not (isinstance(value, gast.Constant) and value.value is None)


def _is_true(test: Any) -> bool:
    return isinstance(test, gast.Constant) and bool(test.value)


def _after_docstring(body: list[Any]) -> int:
    first = body[0]
    is_text = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    return 1 if is_text and isinstance(first.value.value, str) else 0
