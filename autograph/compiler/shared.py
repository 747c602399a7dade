"""Shares the turns of a loop that the user wrote among threads, where they are independent.

    for y in range(n):            turns = ag_turns(part, ...)       the threads do turns, each of them a few
        ...                  ->   for y in range(turns, n):         in order: none, or what they have left
        out[y, x] = v                 ...

A piece does as the loop does, but for what needs Python. Where a turn would raise, the piece notes it and
ends; the loop is then gone on with in order, from the first turn that was noted, which raises what it raises.
So a turn may be done twice, and later ones before it: turns that read what they write, or write an array that
can be seen after the function has raised, are shared only where they raise nothing.
"""

from __future__ import annotations

from typing import Any

from autograph.compiler import costs, fronts, independent, parallel, threads, unions
from autograph.compiler.fronts import NEAR, TERMS
from autograph.compiler.independent import Turns
from autograph.compiler.ir import Phi, float_literal
from autograph.compiler.lowering import POLL, FunctionLowering
from autograph.compiler.values import Known, Number, Value
from autograph.graph.graph import Operation
from autograph.graph.types import Const, Py

LIGHT = 60
"""Turns with less work, without a loop inside, are not worth a second copy of them."""


class _Left(Exception):
    """The loop is not shared after all."""


class Pieces:
    """The function that does pieces of a loop, while it is written."""

    def __init__(self, f: FunctionLowering, state: str, safe: bool) -> None:
        self.f, self.state = f, state
        self.poll = f.b.alloca("i32", 4)
        self.turn = ""  # the counter
        self.failing, self.ending = f.b.label("failing"), f.b.label("ending")
        self.front = fronts.Front(f, safe)

    def look(self, turn: str = "") -> None:
        """Ends the piece where it is no longer needed."""
        b = self.f.b
        stop = b.call("i1", "ag_stop", f"ptr {self.state}", f"i64 {turn or self.turn}")
        on = b.label("quiet")
        b.branch(stop, self.ending, on, unlikely="then")
        b.start(on)

    def left(self) -> str:
        """Leaves the turn to the loop in order; what is written next is never run."""
        b = self.f.b
        b.jump(self.failing)
        b.start(b.label("never"))
        return "null"

    def give_up(self) -> None:
        """Ends all this: a turn always needs Python."""
        raise _Left


def lower(f: FunctionLowering, operation: Operation) -> None:
    """Emits what threads do of a loop, where that is worth it; the loop in order goes on from there."""
    f.begun.pop(id(operation), None)  # what is in a `finally` is written twice
    if f.depth or f.shared is not None or f.b.outlining or not f.b.numbered or f.quick is not None:
        return
    found = independent.turns(f, operation)
    if found is None or any(len(line.terms) > TERMS for line in found.lines):
        return
    first, bound = (
        f.number(v) if isinstance(v, (Number, Known)) else None for v in _ends(f, operation, found)
    )
    if first is None or bound is None or {first.dtype.str[1:], bound.dtype.str[1:]} != {"i8"}:
        return
    if any(_is_known(n) and abs(int(n.ir)) > NEAR for n in (first, bound)):
        return
    cost = costs.Cost(f, operation, found.counter, (first, bound))
    if not cost.nested and isinstance(cost.turn, float) and cost.turn < LIGHT:
        return
    turns = int(bound.ir) - int(first.ir) if _is_known(first) and _is_known(bound) else None
    if turns is not None and isinstance(cost.turn, float) and cost.turn * max(turns, 0) < threads.WORTH:
        return
    _Sharing(f, operation, found, first, bound).emit(cost)


def _ends(f: FunctionLowering, operation: Operation, turns: Turns) -> tuple[Value, Value]:
    return f.value_of(operation.args[turns.counter]), f.value_of(operation.regions[0].ops[0].args[1])


def _is_known(n: Number) -> bool:
    return not n.ir.startswith("%")


class _Sharing:
    """A loop while it is shared."""

    def __init__(
        self, f: FunctionLowering, operation: Operation, turns: Turns, first: Number, bound: Number
    ) -> None:
        self.f, self.operation, self.turns, self.first, self.bound = f, operation, turns, first, bound
        self.front: Any = None

    def emit(self, cost: costs.Cost) -> None:
        f, b = self.f, self.f.b
        size = threads.STATE_SIZE + 8 * len(self.turns.totals)
        state = b.alloca(f"[{size} x i8]", 16)
        part = self._part(state)
        if part is None:
            return
        name, captured = part
        stop = str(f.plus(_operand(self.bound.ir), -1)) if self.turns.last else self.bound.ir
        tests = self._tests()
        turn = cost.emitted()
        before = b.block
        count = b.value(f"sub i64 {stop}, {self.first.ir}")
        wide = b.value(f"sitofp i64 {count} to double")
        work = b.value(f"fmul double {wide}, {turn}")
        tests.append(b.value(f"fcmp oge double {work}, {float_literal(float(threads.WORTH))}"))
        tests.append(b.value(f"icmp sgt i64 {count}, 1"))
        holds = tests[0]
        for test in tests[1:]:
            holds = b.value(f"and i1 {holds}, {test}")
        share, on, serial = b.label("share"), b.label("shared"), b.label("inorder")
        b.branch(holds, share, serial)
        b.start(share)
        given = parallel.structure(f, captured)
        for k in range(len(self.turns.totals)):
            b.emit(f"store i64 0, ptr {f.at(state, threads.STATE_SIZE + 8 * k)}")
        each = b.call("i64", "llvm.fptosi.sat.i64.f64", f"double {turn}")
        numbers = (f"i64 {count}", f"i64 {each}")
        ended = b.call("i1", "ag_turns", f"ptr @{name}", f"ptr {given}", f"ptr {state}", *numbers)
        raised = b.label("signal")
        b.branch(ended, raised, on, unlikely="then")
        b.start(raised)
        f.fail(f.compilation.sites.number(self.operation))
        b.start(on)
        changed = self._changed(state, stop)
        b.jump(serial)
        b.start(serial)
        begun = f.begun[id(self.operation)] = {}
        for i, (old, new) in changed.items():
            phi = b.phi("i64")
            phi.incoming += [(old.ir, before), (new, on)]
            low, high = (
                (old.low, None) if i == self.turns.counter else f.bounds(self.operation.regions[0].params[i])
            )
            begun[i] = Number(old.type, old.dtype, (phi.name,), low, high)
        f.compilation.shared.append(self.operation)
        f.note("loop: threads share its turns")
        b.heavy = True

    def _changed(self, state: str, stop: str) -> dict[int, tuple[Number, str]]:
        """What is carried before and after what the threads did: where a turn failed, no sum is of use."""
        f, b = self.f, self.f.b
        failed = b.value(f"load i64, ptr {state}")
        if not self.turns.totals:
            reached = b.call("i64", "llvm.smin.i64", f"i64 {failed}", f"i64 {stop}")
            return {self.turns.counter: (self.first, reached)}
        done = b.value(f"icmp eq i64 {failed}, {threads.NEVER}")
        found = {
            self.turns.counter: (self.first, b.value(f"select i1 {done}, i64 {stop}, i64 {self.first.ir}"))
        }
        for k, i in enumerate(self.turns.totals):
            t = self.operation.regions[0].params[i]._ag_type
            old = unions.like(f, f.value_of(self.operation.args[i]), t)
            added = b.value(f"load i64, ptr {f.at(state, threads.STATE_SIZE + 8 * k)}")
            new = b.value(f"add i64 {old.ir}, {added}")
            found[i] = old, b.value(f"select i1 {done}, i64 {new}, i64 {old.ir}")
        return found

    def _tests(self) -> list[str]:
        """What must hold so that no two turns write one element, and no index is wrong."""
        b, natural = self.f.b, self.first.low is not None and self.first.low >= 0
        front = fronts.Tests(self.f, self.front, self.first.ir, self.bound.ir)
        for line in self.turns.lines:  # where indices are negative, all are
            if natural and line.factor > 0 and not line.terms and line.offset >= 0:
                continue
            fixed = {"": line.offset}
            for key, factor in line.terms:
                name = self.f.number(self.f.value_of(self.turns.fixed[key])).ir
                fixed[name] = fixed.get(name, 0) + factor
            ends = [front.sum({**fixed, end: line.factor}) for end in (fronts.FIRST, fronts.LAST)]
            low, high = ends if line.factor > 0 else reversed(ends)
            pair = b.value(f"icmp sge i64 {low}, 0"), b.value(f"icmp slt i64 {high}, 0")
            front.tests[b.value(f"or i1 {pair[0]}, {pair[1]}")] = None
        return list(front.tests)

    # -- the pieces ------------------------------------------------------------------------------------------

    def _part(self, state: str) -> tuple[str, list[tuple[str, str]]] | None:
        """The function that does pieces, and what it is given; None where there is none."""
        f, b = self.f, self.f.b
        compilation = f.compilation
        env, pending, targets, notes = dict(f.env), list(f.pending), f.targets, len(compilation.notes)
        depth, heavy, current, fallbacks = f.depth, b.heavy, f.current, dict(compilation.fallbacks)
        seen, smaller = f.dims.seen, f.dims.smaller
        held = [test for test in b.true if b.holds(test)]
        known = {text: [pair for pair in pairs if pair[1] in held] for text, pairs in b.known.items()}
        bounds = {
            name: [(low, high) for block, low, high in found if b.follows(block)]
            for name, found in seen.items()
        }
        limits = {
            name: [limit for block, limit in found if b.follows(block)] for name, found in smaller.items()
        }

        def body(begin: Any, end: Any) -> None:
            block = b.block
            b.true = {test: [block] for test in held}
            b.known = {text: [(block, name) for _, name in pairs] for text, pairs in known.items() if pairs}
            f.dims.seen = {name: [(block, *pair) for pair in pairs] for name, pairs in bounds.items()}
            f.dims.smaller = {name: [(block, limit) for limit in found] for name, found in limits.items()}
            self._piece(state, begin, end)

        f.depth += 1
        try:
            found = parallel.outlined(f, body)
        except _Left:
            found = None
        finally:
            f.shared, f.env, f.pending, f.targets = None, env, pending, targets
            f.depth, f.dead, b.heavy, f.current = depth, False, heavy, current
            f.dims.seen, f.dims.smaller = seen, smaller
            del compilation.notes[notes:]
        if len(compilation.fallbacks) != len(fallbacks):
            compilation.fallbacks = fallbacks
            return None
        return found

    def _piece(self, state: str, begin: str, end: str) -> None:
        f, b, turns = self.f, self.f.b, self.turns
        safe = turns.reads or turns.seen  # a turn may not fail
        pieces = f.shared = Pieces(f, state, safe)
        self.front = pieces.front
        f.targets = [pieces.failing]
        b.emit(f"store i32 {POLL}, ptr {pieces.poll}")
        start = b.value(f"add nsw i64 {self.first.ir}, {begin}")
        stop = b.value(f"add nsw i64 {self.first.ir}, {end}")
        pieces.look(start)
        loop, body, done, before = b.label("loop"), b.label("turn"), b.label("done"), b.block
        b.jump(loop)
        b.start(loop)
        phi = b.phi("i64")
        phi.incoming.append((start, before))
        pieces.turn = pieces.front.turn = phi.name
        sums = {i: b.phi("i64") for i in turns.totals}
        for total in sums.values():
            total.incoming.append(("0", before))
        b.branch(b.value(f"icmp slt i64 {phi.name}, {stop}"), body, done)
        work = b.label("work")
        b.start(work, after=b.block)
        b.heavy = False
        self._enter(phi, sums, work)
        if not f.region(self.operation.regions[1]):
            raise _Left
        f.flush()
        if b.block in b.dominators.dead:
            raise _Left
        for i, total in sums.items():
            total.incoming.append(
                (f.number(f.value_of((self.operation.regions[1].results or ())[i])).ir, b.block)
            )
        phi.incoming.append((b.value(f"add nsw i64 {phi.name}, 1"), b.block))
        b.jump(loop)
        b.start(body)
        f.poll(b.heavy, self.operation)
        b.jump(work)
        if any(source not in b.dominators.dead for source in b.dominators.jumps.get(pieces.failing, ())):
            if safe:
                raise _Left
            b.start(pieces.failing)
            b.emit(f"%{b.prefix}first = atomicrmw min ptr {state}, i64 {phi.name} seq_cst")
            b.emit("ret void")
        b.start(pieces.ending)
        b.emit("ret void")
        b.start(done)
        for k, total in enumerate(sums.values()):
            place = f.at(state, threads.STATE_SIZE + 8 * k)
            b.emit(f"%{b.prefix}old{k} = atomicrmw add ptr {place}, i64 {total.name} seq_cst")

    def _enter(self, phi: Phi, sums: dict[int, Phi], work: str) -> None:
        """What is known in a turn: the counter, and what never changes."""
        f, b = self.f, self.f.b
        head, turn = self.operation.regions
        given = [f.value_of(a) for a in self.operation.args]
        low = -NEAR if self.first.low is None else max(self.first.low, -NEAR)  # it was looked at before
        high = NEAR if self.bound.high is None else min(self.bound.high - 1, NEAR)
        counter = Number(Py(int), self.first.dtype, (phi.name,), low, high)
        for i, (param, inner) in enumerate(zip(head.params, turn.params)):
            if i == self.turns.counter:
                value: Value = counter
            elif i in sums:
                dtype = f.number(unions.like(f, given[i], param._ag_type)).dtype
                value = Number(param._ag_type, dtype, (sums[i].name,), *f.bounds(param))
            elif isinstance(param._ag_type, Const):
                value = Known(param._ag_type.value)
            elif turn.results is not None and turn.results[i] is not inner:
                continue  # it is made anew before it is used
            elif unions.is_number_type(param._ag_type):
                value = unions.like(f, given[i], param._ag_type)
            else:
                value = given[i]
            f.env[id(param)] = f.env[id(inner)] = value
        test = b.value(f"icmp slt i64 {phi.name}, {self.bound.ir}")
        b.true.setdefault(test, []).append(work)
        f.dims.less(test)
        f.dims.note(counter.ir, low, high)


def _operand(ir: str) -> Any:
    return ir if ir.startswith("%") else int(ir)
