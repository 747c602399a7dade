"""Lowers loops that end in the middle of a turn: a `break` or `return` is a jump out of the loop.

In a graph it sets a flag, which the test of the loop looks at: `while not did_break and i < n`. Where a turn
ends with a branch that sets the flag, that branch leaves the loop at once, and the other one knows that the
flag is not set; so the flag is in no register, and what a turn computes does not depend on it.
"""

from __future__ import annotations

from typing import Any

from autograph.compiler import loops, unions
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import Known, Number, Value, array_type
from autograph.graph.graph import Operation, Region, Tensor, region_operations
from autograph.graph.types import Const, Py


def lower(f: FunctionLowering, operation: Operation) -> bool:
    """Emits a loop of that kind, if it is one."""
    flags = _flags(operation)
    if not flags or not _is_plain(operation):
        return False
    inits = [f.value_of(a) for a in operation.args]
    if any(isinstance(inits[i], Known) and getattr(inits[i], "value", False) for i in flags):
        return False
    _Loop(f, operation, flags).lower(inits)
    return True


def _flags(operation: Operation) -> list[int]:
    """The places of the bools with which, if they are true, the test of a loop does not hold."""
    head, turn = operation.regions
    if not head.results or turn.results is None:
        return []
    if any(r is not p for r, p in zip(head.results[1:], head.params)):
        return []
    test = head.results[0]
    bools = [(i, p) for i, p in enumerate(head.params) if p._ag_type == Py(bool)]
    return [i for i, p in bools if _known(test, id(p)) is False]


def _known(leaf: Any, true: int) -> bool | None:
    """A value in the test of a loop, where it follows from one that is true."""
    if not isinstance(leaf, Tensor):
        return leaf if type(leaf) is bool else None
    if isinstance(leaf._ag_type, Const):
        return _known(leaf._ag_type.value, true)
    if id(leaf) == true:
        return True
    operation = leaf._ag_op
    if operation is None:
        return None
    if operation.name in ("not", "bool"):
        found = _known(operation.args[0], true)
        return found if found is None else found is (operation.name == "bool")
    if operation.name != "cond" or any(r.results is None for r in operation.regions):
        return None
    at = next(i for i, out in enumerate(operation.outputs) if out is leaf)
    test = _known(operation.args[0], true)
    arms = [_known((r.results or ())[at], true) for r in operation.regions]
    if test is None:
        return arms[0] if arms[0] is arms[1] else None
    return arms[0 if test else 1]


def _is_plain(operation: Operation) -> bool:
    """Whether a loop has nothing to do with arrays but for their elements."""
    if any(array_type(p._ag_type) is not None for p in operation.outputs):
        return False
    return not any(
        array_type(t._ag_type) is not None
        for region in operation.regions
        for inner in region_operations(region)
        for t in inner.outputs
    )


class _Loop:
    """Such a loop, while it is written."""

    def __init__(self, f: FunctionLowering, operation: Operation, flags: list[int]) -> None:
        self.f, self.operation, self.flags = f, operation, flags
        self.head, self.turn = operation.regions
        self.carried: list[loops.Carried | None] = []
        self.ends: list[tuple[str, dict[int, Value]]] = []  # the ways out, with what is carried there
        self.goes_on = False

    def lower(self, inits: list[Value]) -> None:
        f, b, head, turn = self.f, self.f.b, self.head, self.turn
        for i, param in enumerate(head.params):
            flag = i in self.flags
            self.carried.append(None if flag else loops._before(f, self.operation, i, param, inits[i]))
        loops.announce(f, self.operation, self.carried)
        f.depth += 1
        self.start, self.after = b.label("loop"), b.label("done")
        tests = [f.test(inits[i]) for i in self.flags if not isinstance(inits[i], Known)]
        before = b.block
        if tests:
            test = self._any(tests)
            first = {i: c.value for i, c in enumerate(self.carried) if c is not None}
            self.ends.append((b.block, first | {i: inits[i] for i in self.flags}))
            b.branch(test, self.after, self.start)
        else:
            b.jump(self.start)
        b.start(self.start)
        heavy, b.heavy = b.heavy, False
        for i, (c, param) in enumerate(zip(self.carried, head.params)):
            if c is not None:
                f.env[id(param)] = loops._phis(f, c, before)
            elif i in self.flags:
                f.env[id(param)] = Known(False)
            elif isinstance(param._ag_type, Const):
                f.env[id(param)] = Known(param._ag_type.value)
            else:
                f.env[id(param)] = inits[i]
            f.env[id(turn.params[i])] = f.env[id(param)]
        if f.region(head):
            self._turn()
        b.heavy = b.heavy or heavy
        f.depth -= 1
        if not self.ends:
            f.dead = True
            return
        b.start(self.after)
        self._join()

    def _any(self, tests: list[str]) -> str:
        result = tests[0]
        for test in tests[1:]:
            result = self.f.b.value(f"or i1 {result}, {test}")
        return result

    def _turn(self) -> None:
        f, b = self.f, self.f.b
        assert self.head.results is not None and self.turn.results is not None
        test = f.value_of(self.head.results[0])
        body, work = b.label("turn"), b.label("work")
        if isinstance(test, Known) and test.value:
            b.jump(body)
        else:
            self.ends.append((b.block, {i: f.value_of(p) for i, p in enumerate(self.head.params)}))
            b.branch(f.test(test), body, self.after)
        b.start(work, after=b.block)
        if not isinstance(test, Known):
            b.true.setdefault(f.test(test), []).append(work)
        self._region(self.turn, list(self.turn.results))
        b.start(body)
        if self.goes_on:
            f.poll(b.heavy, self.operation)
        b.jump(work)

    def _region(self, region: Region, results: list[Any]) -> None:
        """A part of a turn at whose end the turn ends."""
        f, b = self.f, self.f.b
        last = region.ops[-1] if region.ops and region.results is not None else None
        place = {id(out): i for i, out in enumerate(last.outputs)} if last is not None else {}
        if last is None or last.name != "cond" or not any(id(results[i]) in place for i in self.flags):
            if f.region(region):
                f.flush()
                self._end(results)
            return
        for operation in region.ops[:-1]:
            f.operation(operation)
            if f.dead:
                f.dead = False
                return
        f.flush()
        f.current = last
        test = f.value_of(last.args[0])
        labels = [b.label("then"), b.label("else")]
        b.branch(f.test(test), *labels)
        for label, arm in zip(labels, last.regions):
            b.start(label)
            saved, pending, heavy = dict(f.env), list(f.pending), b.heavy
            given = arm.results or ()
            inner = [given[place[id(r)]] if given and id(r) in place else r for r in results]
            came, self.goes_on = self.goes_on, False
            self._region(arm, inner)
            if not self.goes_on:  # what is run once, on the way out, makes no turn long
                b.heavy = heavy
            self.goes_on = self.goes_on or came
            f.env, f.pending = saved, pending

    def _end(self, results: list[Any]) -> None:
        """The end of a turn: out of the loop or back to its test."""
        f, b = self.f, self.f.b
        values: dict[int, Value] = {i: f.value_of(results[i]) for i in self.flags}
        owners: list[tuple[int, str]] = []
        for i, c in enumerate(self.carried):
            if c is None or c.kind == "object":
                if c is not None and results[i] is not self.turn.params[i]:
                    owners.append((c.slot, f.owned(results[i])))
            else:
                values[i] = unions.like(f, f.value_of(results[i]), c.param._ag_type)
        for slot, owner in owners:
            f.set_slot(slot, owner)
        flags = [values[i] for i in self.flags]
        if any(isinstance(v, Known) and v.value for v in flags):
            self.ends.append((b.block, values))
            b.jump(self.after)
            return
        self.goes_on = True
        for i, c in enumerate(self.carried):
            if c is not None and c.kind != "object":
                for phi, (_, piece) in zip(c.phis, unions.pieces(values[i])):
                    phi.incoming.append((piece, b.block))
        tests = [f.test(v) for v in flags if not isinstance(v, Known)]
        if tests:
            test = self._any(tests)
            self.ends.append((b.block, values))
            b.branch(test, self.after, self.start)
        else:
            b.jump(self.start)

    def _join(self) -> None:
        """The values after the loop."""
        f = self.f
        blocks = [block for block, _ in self.ends]
        for i, (c, out) in enumerate(zip(self.carried, self.operation.outputs)):
            if (c is None and i not in self.flags) or (c is not None and c.kind == "object"):
                f.env[id(out)] = f.env[id(self.head.params[i])]
                continue
            found = [unions.like(f, values[i], out._ag_type) for _, values in self.ends]
            joined = unions.join(f, found, blocks)
            if isinstance(joined, Number):
                lows, highs = [n.low for n in found], [n.high for n in found]
                joined.low = None if None in lows else min(lows)
                joined.high = None if None in highs else max(highs)
            f.env[id(out)] = joined
