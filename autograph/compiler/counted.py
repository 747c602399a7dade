"""Innermost counted loops in two copies: one without the checks that a look before the loop shows to hold.

In `for i in range(n): y[i] = a * x[i + k]` the indices are lines `a * i + b` over the counter, with `a` and
`b` fixed during the loop: if they are inside the array in the first and in the last turn, they always are.
The quick copy leaves these checks out (and those for overflow of the lines, and the looks for Ctrl-C), so
that it can run in vectors; where the look says no, the checked copy runs, and raises in the turn that is
wrong.
"""

from __future__ import annotations

import re
from typing import Any

from autograph.compiler import bounded, unions
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.machine import QUICK_LOOPS
from autograph.compiler.values import Known, Memory, Number
from autograph.graph.graph import Operation, Region, Tensor
from autograph.graph.types import Const

MOST = 1 << 26
"""Turns of a quick copy: it never looks for a Ctrl-C, and must end soon."""

WIDE = 1 << 30
"""Factors and numbers of turns stay below, so that lines do not overflow."""

OPERATIONS = frozenset(
    {
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or"),
        *("xor", "lshift", "rshift", "iadd", "isub", "imul", "itruediv", "ifloordiv"),
        *("imod", "iand", "ior", "ixor", "neg", "pos", "invert", "abs"),
        *("not", "bool", "lt", "le", "gt", "ge", "eq", "ne"),
        *("float", "int", "index", "min", "max", "get_item", "set_item", "range_item"),
        *("len", "item", "ndarray.shape", "is_type", "narrow"),
    }
)
"""What a loop may hold to be worth two copies, beside functions of NumPy and math."""


class Quick:
    """A quick copy while it is written: what must hold before the loop."""

    def __init__(self, f: FunctionLowering, before: str, first: str, turns: str) -> None:
        self.f, self.before, self.first, self.turns = f, before, first, turns
        self.marker, self.slots = f.b.counter, f.slots
        self.tests: dict[Any, str] = {}
        self.known: set[str] = set()
        self.needs: list[tuple[Any, tuple[str, ...]]] | None = None  # what a line needs that may not be used

    def fixed(self, operand: Any) -> bool:
        """Whether an operand is the same in all turns, and known before the loop."""
        if isinstance(operand, int) or not operand.startswith("%") or operand.startswith("%x"):
            return True
        if not operand.startswith(
            f"%{self.f.b.prefix}"
        ):  # it is from outside of the pieces that threads share
            return True
        digits = re.search(r"(\d+)$", operand)
        return operand in self.known or (digits is not None and int(digits.group(1)) <= self.marker)

    def at_front(self, text: str) -> str:
        """An instruction before the loop."""
        b = self.f.b
        here = b.block
        b.switch(self.before)
        name = b.value(text)
        b.switch(here)
        self.known.add(name)
        return name

    def require(self, key: Any, *texts: str) -> None:
        """Tests that must hold; `{}` in a text stands for the result of the text before."""
        if self.needs is not None:
            self.needs.append((key, texts))
            return
        if key in self.tests:
            return
        result = ""
        for text in texts:
            result = self.at_front(text.replace("{}", result))
        self.tests[key] = result

    def inside(self, value: Number, dim: Any) -> bool:
        """Whether an index needs no check of its own: it is a line, or fixed, and is looked at before."""
        line = self.line(value)
        if line is None or not self.fixed(dim):
            return False
        factor, offset, needs = line
        for need in needs:
            self.require(need[0], *need[1])
        self._short(offset)
        wraps = self.wraps(value, dim)
        if factor == 0:
            self.require(("in", offset, dim), f"icmp ult i64 {offset}, {dim}")
            return True
        for name, turn in (("first", self.first), ("last", self.turns)):
            key = (name, factor, offset, dim, wraps)
            if key in self.tests:
                continue
            product = turn if factor == 1 else self.at_front(f"mul i64 {turn}, {factor}")
            if name == "last":  # the line at `turns - 1`
                product = self.at_front(f"sub i64 {product}, {factor}")
            place = product if offset == 0 else self.at_front(f"add i64 {product}, {offset}")
            if wraps:
                self.require(key, f"add i64 {place}, {dim}", f"icmp ult i64 {{}}, {2 * dim}")
            else:
                self.require(key, f"icmp ult i64 {place}, {dim}")
        self._narrow(factor)
        return True

    def wraps(self, value: Number, dim: Any) -> bool:
        """Whether an index is sure to be negative in the first turn: `x[i - 1]` of a ring."""
        line = self.line(value)
        if line is None or not isinstance(dim, int) or self.first.startswith("%"):
            return False
        factor, offset, _ = line
        known = isinstance(factor, int) and isinstance(offset, int) and factor != 0
        return known and -dim <= factor * int(self.first) + offset < 0

    def line(self, value: Number) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """Factor and offset of a number as a line over the counter, and what must hold for it to be one."""
        if value.line is not None:
            factor, offset, needs = value.line
            return factor, offset, needs
        if value.dtype.str[1:] == "i8" and self.fixed(value.ir):
            return 0, int(value.ir) if not value.ir.startswith("%") else value.ir, ()
        return None

    def _narrow(self, factor: Any) -> None:
        if isinstance(factor, str):
            self.require(("narrow", factor), f"add i64 {factor}, {WIDE}", f"icmp ule i64 {{}}, {2 * WIDE}")

    def _short(self, offset: Any) -> None:
        if isinstance(offset, str):
            self.require(("short", offset), f"add i64 {offset}, {1 << 60}", f"icmp ule i64 {{}}, {1 << 61}")

    def combined(self, name: str, x: Number, y: Number) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """The line that a sum, difference or product of Python's integers is; None where it is none."""
        line = self.may_be(name, x, y)
        for need in () if line is None else line[2]:
            self.require(need[0], *need[1])
        return line

    def may_be(self, name: str, x: Number, y: Number) -> tuple[Any, Any, tuple[Any, ...]] | None:
        """As `combined`, where nothing needs to be known as long as the line is not used."""
        p, q = self.line(x), self.line(y)
        if p is None or q is None:
            return None
        self.needs = [*p[2], *q[2]]
        try:
            line = self._combined(name, p, q)
            return None if line is None else (*line, tuple(self.needs))
        finally:
            self.needs = None

    def _combined(self, name: str, p: tuple[Any, ...], q: tuple[Any, ...]) -> tuple[Any, Any] | None:
        if name == "mul":
            if p[0] != 0 and q[0] != 0:
                return None
            (factor, offset, _), k = (p, q[1]) if q[0] == 0 else (q, p[1])
            result = self._times(factor, k), self._times(offset, k)
        elif name in ("add", "sub"):
            result = self._sum(name, p[0], q[0]), self._sum(name, p[1], q[1])
        else:
            return None
        for part in result:
            if isinstance(part, int) and abs(part) >= WIDE:
                return None
        self._narrow(result[0])
        self._short(result[1])
        return result

    def _times(self, a: Any, k: Any) -> Any:
        if isinstance(a, int) and isinstance(k, int):
            return a * k
        if a == 0 or k == 0:
            return 0
        if a == 1 or k == 1:
            return k if a == 1 else a
        self._narrow(a)
        self._narrow(k)
        return self.at_front(f"mul i64 {a}, {k}")

    def _sum(self, name: str, a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return a + b if name == "add" else a - b
        if b == 0:
            return a
        if a == 0 and name == "add":
            return b
        self._short(a)
        self._short(b)
        return self.at_front(f"{name} i64 {a}, {b}")

    def near(self, value: Number) -> None:
        """Asks that a count is so small that it cannot overflow in the turns of this copy."""
        if value.low is None or value.high is None or max(-value.low, value.high) > bounded.FAR // 2:
            half = bounded.FAR // 2
            self.require(("near", value.ir), f"add i64 {value.ir}, {half}", f"icmp ule i64 {{}}, {2 * half}")

    def writeable(self, m: Memory) -> bool:
        """Whether an array that is written is looked at before the loop, which must have begun with it."""
        if m.slot is None or m.slot >= self.slots:
            return False
        key = ("writeable", m.slot)
        if key not in self.tests:
            owner = self.at_front(f"getelementptr ptr, ptr %slots, i64 {m.slot}")
            array = self.at_front(f"load ptr, ptr {owner}")
            place = self.at_front(f"getelementptr i8, ptr {array}, i64 64")
            flags = self.at_front(f"load i32, ptr {place}")
            self.require(key, f"and i32 {flags}, 1024", "icmp ne i32 {}, 0")
        return True


def eligible(f: FunctionLowering, operation: Operation) -> int | None:
    """The position of the counter of a loop that may have a quick copy."""
    head, turn = operation.regions
    if f.quick is not None or not head.results or turn.results is None or len(head.ops) != 1:
        return None
    test = head.ops[0]
    if test.name != "lt" or head.results[0] is not test.outputs[0]:
        return None
    if any(r is not p for r, p in zip(head.results[1:], head.params)):
        return None
    for i, param in enumerate(head.params):
        same = turn.results[i] is turn.params[i]
        if not same and not unions.is_number_type(param._ag_type) and not isinstance(param._ag_type, Const):
            return None
    bound = test.args[1]
    if any(bound is p for p in head.params):
        return None
    if not _simple(turn) or not any(o.name in ("get_item", "set_item") for o in turn.ops):
        return None
    for i, param in enumerate(head.params):
        if test.args[0] is param and id(param) in f.counters:
            return i
    return None


def _simple(region: Region) -> bool:
    for operation in region.ops:
        if operation.name == "cond":
            if not all(_simple(r) and r.results is not None for r in operation.regions):
                return False
            continue
        known = operation.name in OPERATIONS or operation.name.startswith(("np.", "math."))
        if not known or not all(unions.is_number_type(t._ag_type) or _plain(t) for t in operation.outputs):
            return False
    return True


def _plain(t: Tensor) -> bool:
    return isinstance(t._ag_type, Const)


def lower(f: FunctionLowering, operation: Operation, counter: int) -> None:
    """Emits the loop: the look before it, the quick and the checked copy, and where both end."""
    from autograph.compiler import loops

    b = f.b
    head, turn = operation.regions
    inits = loops.inits(f, operation)
    carried = [
        unions.like(f, v, p._ag_type) if unions.is_number_type(p._ag_type) else v
        for v, p in zip(inits, head.params)
    ]
    varying = [
        i
        for i, p in enumerate(head.params)
        if unions.is_number_type(p._ag_type)
        and turn.results is not None
        and turn.results[i] is not turn.params[i]
    ]
    bound = f.number(f.value_of(head.ops[0].args[1]))
    first = carried[counter]
    assert isinstance(first, Number)
    if bound.dtype.str[1:] != "i8" or first.dtype.str[1:] != "i8":
        loops.lower_checked(f, operation)
        return
    before = b.block
    quick, checked, after = b.label("quick"), b.label("checked"), b.label("ended")
    f.quick = Quick(f, before, first.ir, bound.ir)
    saved = dict(f.env)
    fallbacks = set(f.compilation.fallbacks)
    b.start(quick, after=before)
    ends = _copy(f, operation, carried, varying, counter, bound)
    fast, f.quick = f.quick, None
    quick_end = b.block
    f.env = saved
    calls = set(f.compilation.fallbacks) != fallbacks
    tests = list(fast.tests.values())
    b.switch(before)
    if not calls:  # where Python is called, two copies are not worth it
        tests.append(b.value(f"icmp sgt i64 {bound.ir}, {first.ir}"))
        tests.append(b.value(f"icmp sle i64 {bound.ir}, {MOST}"))
        tests.append(b.value(f"icmp sge i64 {first.ir}, 0"))
        all_hold = tests[0]
        for t in tests[1:]:
            all_hold = b.value(f"and i1 {all_hold}, {t}")
        b.branch(all_hold, quick, checked)
    else:
        b.branch("false", quick, checked)
    b.start(checked)
    loops.lower_checked(f, operation)
    if f.dead:
        raise AssertionError("a counted loop ends")
    others = [unions.like(f, f.env[id(operation.outputs[i])], head.params[i]._ag_type) for i in varying]
    b.jump(after)
    checked_end = b.block
    b.switch(quick_end)
    b.jump(after)
    b.start(after)
    for i, mine, other in zip(varying, ends, others):
        joined = unions.join(f, [other, mine], [checked_end, quick_end])
        if isinstance(other, Number):
            joined.low = other.low
        f.env[id(operation.outputs[i])] = joined
    f.compilation.marks.add(QUICK_LOOPS)
    b.heavy = True


def _copy(
    f: FunctionLowering,
    operation: Operation,
    carried: list[Any],
    varying: list[int],
    counter: int,
    bound: Number,
) -> list[Any]:
    """The quick copy; gives what it carries at its end."""
    b = f.b
    head, turn = operation.regions
    before = b.block
    start, body, done = b.label("loop"), b.label("turn"), b.label("done")
    b.jump(start)
    b.start(start)
    phis: dict[int, list[Any]] = {}
    for i, (param, value) in enumerate(zip(head.params, carried)):
        if i in varying:
            phis[i] = []
            for kind, p in unions.pieces(value):
                phi = b.phi(kind)
                phi.incoming.append((p, before))
                phis[i].append(phi)
            first = value
            value = unions.rebuilt(value, iter([p.name for p in phis[i]]))
            if i == counter:
                value.low, value.line = first.low, (1, 0, ())
            elif isinstance(value, Number):
                value.low, value.high = f.bounds(param)
                if value.high is not None:
                    f.quick.near(first)
        elif isinstance(param._ag_type, Const):
            value = Known(param._ag_type.value)
        f.env[id(param)] = value
        f.env[id(turn.params[i])] = value
    ends = [f.env[id(head.params[i])] for i in varying]
    at = f.env[id(head.params[counter])]
    assert isinstance(at, Number)
    b.branch(b.value(f"icmp slt i64 {at.ir}, {bound.ir}"), body, done)
    b.start(body)
    assert turn.results is not None
    if not f.region(turn):
        raise AssertionError("the end of a counted loop's turn is reached")
    for i in varying:
        again = unions.like(f, f.value_of(turn.results[i]), head.params[i]._ag_type)
        for phi, (_, p) in zip(phis[i], unions.pieces(again)):
            phi.incoming.append((p, b.block))
    b.jump(start)
    b.start(done)
    return ends
