"""Finds integers that the turns of a loop add to: in whatever order they do, the sum is the same."""

from __future__ import annotations

from typing import Any

from autograph.compiler.lowering import FunctionLowering
from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import Py, Scalar

ADDED = frozenset({"add", "iadd", "sub", "isub"})


def is_total(f: FunctionLowering, loop: Operation, i: int) -> bool:
    """Whether a carried value is such a sum, which cannot overflow or wraps, and nothing else looks at it."""
    param = loop.regions[1].params[i]
    if isinstance(param._ag_type, Scalar):
        exact = param._ag_type.dtype.str[1:] == "i8"
    else:
        exact = param._ag_type == Py(int) and None not in f.bounds(param)
    return exact and _Sum(f, loop, i).is_one()


class _Sum:
    """What is made of a value in a turn, from its end back to its start."""

    def __init__(self, f: FunctionLowering, loop: Operation, i: int) -> None:
        self.f, self.loop, self.i = f, loop, i
        self.type = loop.regions[1].params[i]._ag_type
        self.seen: dict[int, int] = {}  # how often each value is used on the way

    def is_one(self) -> bool:
        """Whether all that is used of the value is added to."""
        turn = self.loop.regions[1]
        found = turn.results is not None and self._comes(turn.results[self.i], turn.params[self.i])
        return found and all(self.f.uses.get(key) == count for key, count in self.seen.items())

    def _comes(self, leaf: Any, start: Tensor) -> bool:
        """Whether a value is the one at the start, with something added."""
        if not isinstance(leaf, Tensor) or leaf._ag_type != self.type:
            return False
        known = id(leaf) in self.seen
        self.seen[id(leaf)] = self.seen.get(id(leaf), 0) + 1
        operation = leaf._ag_op
        if leaf is start or known:
            return True
        if operation is None:
            return False
        if operation.name in ADDED:
            if operation.kwargs:
                return False
            moved, step = operation.args
            if operation.name == "add" and not self._reaches(moved, start):
                moved, step = step, moved
            return not self._reaches(step, start) and self._comes(moved, start)
        at = next(k for k, out in enumerate(operation.outputs) if out is leaf)
        if operation.name == "cond":
            return all(r.results is None or self._comes(r.results[at], start) for r in operation.regions)
        return operation.name == "while_loop" and self._loop(operation, at, start)

    def _loop(self, operation: Operation, at: int, start: Tensor) -> bool:
        head, turn = operation.regions
        if head.results is None or turn.results is None or head.results[1 + at] is not head.params[at]:
            return False
        self.seen[id(head.params[at])] = 1
        inside = self._comes(turn.results[at], turn.params[at])
        return inside and self._comes(operation.args[at], start)

    def _reaches(self, leaf: Any, start: Tensor) -> bool:
        """Whether an operand is of the chain."""
        if not isinstance(leaf, Tensor) or leaf._ag_type != self.type:
            return False
        operation = leaf._ag_op
        if leaf is start or operation is None:
            return leaf is start
        if operation.name in ADDED:
            return any(self._reaches(arg, start) for arg in operation.args)
        if operation.name == "cond":
            at = next(k for k, out in enumerate(operation.outputs) if out is leaf)
            return any(
                r.results is not None and self._reaches(r.results[at], start) for r in operation.regions
            )
        if operation.name == "while_loop":
            at = next(k for k, out in enumerate(operation.outputs) if out is leaf)
            return self._reaches(operation.args[at], start)
        return False
