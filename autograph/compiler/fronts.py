"""Looks before a loop at what its turns would check: what is the same in all turns, and where indices go.

An index in a turn is a sum of integers that are fixed and of counters of loops, so it is known between what
it stays; as these are compared with `NEAR`, no sum of them overflows.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from autograph.compiler import parallel
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.overlaps import Terms, terms
from autograph.compiler.values import Number

NEAR = 1 << 30
"""Integers of which indices are made are not larger."""
TERMS = 4
"""Of so many of them an index is made, at most."""
DEPTH = 3
"""Counters that limit each other."""
FIRST, LAST = "first", "last"
"""The names of the counter in the first and the last turn, in a sum."""

_MOVED = re.compile(
    r"(?:add|sub|mul|and|or|xor|icmp|select|[sz]ext|trunc) [^<]*$"
    r"|call i64 @llvm\.(?:[su]m(?:in|ax)|abs)\.i64\("
    r"|call { i64, i1 } @llvm\.s(?:add|sub|mul)\.with\.overflow\.i64\("
    r"|extractvalue { i64, i1 } "
)
"""Instructions that may be written before the loop: nothing goes wrong where their results are not used."""
_OPERAND = re.compile(r"%[\w.]+")
_FLAGS = re.compile(r"\b(?:nuw|nsw|exact|disjoint|nneg) ")


class Front:
    """What is found while the turns are written, and is to be looked at before the loop.

    Nothing is, unless it is `wanted`: where a turn does not do what is checked, the loop would run in order.
    """

    def __init__(self, f: FunctionLowering, wanted: bool) -> None:
        self.f, self.wanted = f, wanted
        self.turn = ""  # the counter
        self.moved: dict[str, str] = {}  # instructions of a turn that are written before the loop, in order
        self.near: dict[str, None] = {}
        self.true: dict[str, None] = {}
        self.ranges: dict[
            tuple[Any, ...], None
        ] = {}  # the least and the largest that an index is, its dimension
        self._varying: set[str] = set()

    def holds(self, test: str) -> bool:
        """Whether a test is the same in all turns: then it is made before the loop."""
        if not (self.wanted and self._is_fixed(test)):
            return False
        self.true[test] = None
        return True

    def inside(self, ir: str, dim: Any) -> bool:
        """Whether it is looked at before the loop that an index is in range."""
        ends = self._ends(ir) if self.wanted and self._is_fixed(str(dim)) else None
        if ends is None:
            return False
        self.ranges[tuple(ends[0].items()), tuple(ends[1].items()), str(dim)] = None
        return True

    def bounded(self, n: Number) -> Number:
        """The same number, with bounds where it has none."""
        if not self.wanted or n.dtype.str[1:] != "i8" or (n.low is not None and n.high is not None):
            return n
        ends = self._ends(n.ir)
        if ends is None:
            return n
        sizes = [sum(abs(factor) * (NEAR if name else 1) for name, factor in end.items()) for end in ends]
        for name in itertools.chain(*ends):
            self.near[name] = None
        low, high = n.low, n.high
        return Number(
            n.type,
            n.dtype,
            n.parts,
            -sizes[0] if low is None else low,
            sizes[1] if high is None else high,
            n.line,
        )

    def _ends(self, ir: str, depth: int = 0) -> tuple[Terms, Terms] | None:
        """The least and the largest that an integer is, as sums of fixed ones."""
        low: Terms = {}
        high: Terms = {}
        for name, factor in terms(self.f.b, ir).items():
            ends = ({"": 1}, {"": 1}) if not name else self._limits(name, depth)
            if ends is None or abs(factor) >= NEAR:
                return None
            for total, end in zip((low, high), ends if factor > 0 else ends[::-1]):
                for part, k in end.items():
                    total[part] = total.get(part, 0) + factor * k
        far = any(abs(k) >= NEAR for end in (low, high) for k in end.values())
        return None if far or max(len(low), len(high)) > TERMS + 1 else (low, high)

    def _limits(self, name: str, depth: int) -> tuple[Terms, Terms] | None:
        """As `_ends`, for a value that is no sum."""
        dims, b = self.f.dims, self.f.b
        if "*" in name:
            return None
        if name == self.turn:
            return {FIRST: 1}, {LAST: 1}
        if self._is_fixed(name):
            return ({name: 1}, {name: 1}) if parallel.type_of(b, name) == "i64" else None
        limits = [d for block, d in dims.smaller.get(name, ()) if b.follows(block)]
        lows = [low for block, low, _ in dims.seen.get(name, ()) if b.follows(block) and abs(low) < NEAR]
        ends = self._ends(limits[0], depth + 1) if limits and lows and depth < DEPTH else None
        if ends is None:
            return None
        return {"": lows[0]}, {**ends[1], "": ends[1].get("", 0) - 1}

    def _is_fixed(self, name: str) -> bool:
        """Whether an operand is from outside, or made of such by instructions that may be written there."""
        b = self.f.b
        if not name.startswith(f"%{b.prefix}") or name in self.moved:
            return True
        origin = None if name in self._varying else b.origins.get(name)
        moves = isinstance(origin, str) and _MOVED.match(origin)
        if moves and isinstance(origin, str) and all(map(self._is_fixed, _OPERAND.findall(origin))):
            self.moved[name] = origin
            return True
        self._varying.add(name)
        return False


class Tests:
    """What is tested before the loop."""

    def __init__(self, f: FunctionLowering, front: Front, first: str, bound: str) -> None:
        self.f = f
        last = str(f.plus(bound, -1)) if bound.startswith("%") else str(int(bound) - 1)
        self.names = {FIRST: first, LAST: last}
        self.tests: dict[str, None] = {}
        for name in (first, bound):
            self._near(name)
        for name, text in front.moved.items():
            moved = _OPERAND.sub(lambda match: self.names.get(match[0], match[0]), _FLAGS.sub("", text))
            self.names[name] = f.b.value(moved)
        for name in filter(None, front.near):
            self._near(self.names.get(name, name))
        for test in front.true:
            self.tests[self.names.get(test, test)] = None
        for low, high, dim in front.ranges:
            self.tests[f.b.value(f"icmp sge i64 {self.sum(dict(low))}, 0")] = None
            self.tests[f.b.value(f"icmp slt i64 {self.sum(dict(high))}, {self.names.get(dim, dim)}")] = None

    def _near(self, ir: str) -> None:
        if ir.startswith("%"):
            shifted = self.f.b.value(f"add i64 {ir}, {NEAR}")
            self.tests[self.f.b.value(f"icmp ule i64 {shifted}, {2 * NEAR}")] = None

    def sum(self, total: Terms) -> str:
        """A sum of fixed integers, each with a factor."""
        b, found = self.f.b, str(total.get("", 0))
        for name, factor in total.items():
            if name and factor:
                name = self.names.get(name, name)
                self._near(name)
                found = b.value(f"add i64 {found}, {b.value(f'mul i64 {name}, {factor}')}")
        return found
