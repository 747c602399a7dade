"""Finds bounds of the integers that loops carry, which hold in all turns.

A count that starts near 0, and to which a turn adds 1 or 2, needs years of turns to reach 2^62, whatever the
loops around it do: it needs no check for an overflow, and a loop that counts can run in vectors. An integer
made of others that are not negative, by sums, products, quotients, is not negative: an overflow raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.types import Const, Py

FAR = 1 << 62
"""What a count never reaches."""
NEAR = 1 << 32
"""Where it may start."""
STEP = 2
DEPTH = 8
"""Steps and choices that one turn may make."""

ALL_NATURAL = frozenset(
    {"add", "iadd", "mul", "imul", "floordiv", "ifloordiv", "or", "ior", "xor", "ixor", "min", "range_item"}
    | {"rshift", "irshift", "lshift", "ilshift"}
)
"""Operations whose result is not negative where no operand is."""
NATURAL = frozenset({"len", "abs", "range_length"})

Is = Callable[["Bounded", Operation, int], bool]


class Bounded:
    """The bounds of what the loops of a graph carry, by the tensor: low and high, None where not known."""

    def __init__(self, graph: Graph) -> None:
        self._sources: dict[int, tuple[Any, ...]] = {}  # all that a carried value may come from
        self._carried: dict[int, int] = {}  # a parameter or output of a loop, and what it stands for
        self._walk(graph.body)
        counts = self._those(lambda value: abs(value) <= NEAR, Bounded._is_count)
        naturals = self._those(lambda value: value >= 0, Bounded._is_natural)
        self.bounds: dict[int, tuple[int | None, int | None]] = {}
        for tensor, key in self._carried.items():
            low, high = (-FAR, FAR) if key in counts else (None, None)
            self.bounds[tensor] = (0 if key in naturals else low, high)

    def _walk(self, region: Region) -> None:
        for operation in region.ops:
            if operation.name == "while_loop":
                self._loop(operation)
            for nested in operation.regions:
                self._walk(nested)

    def _loop(self, operation: Operation) -> None:
        head, turn = operation.regions
        for i, param in enumerate(head.params):
            if param._ag_type != Py(int):
                continue
            found = [operation.args[i]]
            for results in ((head.results or ())[1:], turn.results or ()):
                found += results[i : i + 1]
            self._sources[id(param)] = tuple(found)
            for tensor in (param, turn.params[i], operation.outputs[i]):
                self._carried[id(tensor)] = id(param)

    def _those(self, constant: Callable[[int], bool], made: Is) -> set[int]:
        """The carried values of a kind: all that are not shown to be of another."""
        self._constant, self._made = constant, made
        self._known = wrong = set(self._sources)
        while wrong:
            self._found: dict[int, bool] = {}
            wrong = {k for k in self._known if not all(self._is(leaf, 0) for leaf in self._sources[k])}
            self._known = self._known - wrong
        return self._known

    def _is(self, leaf: Any, depth: int) -> bool:
        if isinstance(leaf, Tensor) and isinstance(leaf._ag_type, Const):
            leaf = leaf._ag_type.value
        if not isinstance(leaf, Tensor):
            return type(leaf) is int and self._constant(leaf)
        if id(leaf) in self._carried:
            return self._carried[id(leaf)] in self._known
        if id(leaf) not in self._found:
            operation = leaf._ag_op
            fine = operation is not None and leaf._ag_type == Py(int) and depth < DEPTH
            if operation is not None and operation.name == "cond":
                at = next(i for i, out in enumerate(operation.outputs) if out is leaf)
                arms = [r.results[at] for r in operation.regions if r.results is not None]
                fine = fine and all(self._is(arm, depth + 1) for arm in arms)
            elif operation is not None:
                fine = fine and not operation.kwargs and self._made(self, operation, depth + 1)
            self._found[id(leaf)] = fine
        return self._found[id(leaf)]

    def _is_count(self, operation: Operation, depth: int) -> bool:
        """Whether an operation makes of a count another one, by a small step or a choice."""
        if operation.name in ("min", "max") and len(operation.args) > 1:
            return all(self._is(arg, depth) for arg in operation.args)
        if operation.name not in ("add", "iadd", "sub", "isub"):
            return False
        moved, step = operation.args
        if type(moved) is int and operation.name == "add":
            moved, step = step, moved
        return type(step) is int and abs(step) <= STEP and self._is(moved, depth)

    def _is_natural(self, operation: Operation, depth: int) -> bool:
        args, name = operation.args, operation.name
        if name in ALL_NATURAL and (name != "min" or len(args) > 1):
            return all(self._is(arg, depth) for arg in args)
        if name in ("and", "iand") or (name == "max" and len(args) > 1):
            return any(self._is(arg, depth) for arg in args)
        if name in ("mod", "imod"):  # it has the sign of the divisor
            return self._is(args[1], depth)
        return name in NATURAL
