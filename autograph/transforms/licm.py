"""Moves what is the same in every turn of a loop to before the loop.

The loop may not run at all: only what surely raises nothing is moved, or what the loop is sure to do first of
all.
"""

from __future__ import annotations

import functools

from autograph.graph.graph import Graph, Operation, Region, Tensor, region_operations
from autograph.graph.types import BOTTOM, Array
from autograph.ops.algebra import is_bounded, never_raises
from autograph.transforms.memory import Memory
from autograph.transforms.rewrite import Changes, apply, bodies, has_effect, is_mutable

__all__ = ["licm"]

NUMBERS = (bool, int, float)


def licm(graph: Graph) -> Graph:
    """Moves loop-invariant operations to before their loops.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(n: int, x: float) -> float
    ...   i: int, y: float = while_loop(0, 1.0)
    ...     test (i_1: int, y_1: float)
    ...       t1: bool = lt(i_1, n)
    ...       yield t1, i_1, y_1
    ...     body (i_2: int, y_2: float)
    ...       i_3: int = add(i_2, 1)
    ...       t2: float = mul(x, x)
    ...       t3: float = truediv(1.0, x)
    ...       t4: float = add(y_2, t2)
    ...       t5: float = mul(t4, t3)
    ...       yield i_3, t5
    ...   return y
    ... ''')
    >>> print(licm(graph))
    graph f(n: int, x: float) -> float
      t2: float = mul(x, x)
      i: int, y: float = while_loop(0, 1.0)
        test (i_1: int, y_1: float)
          t1: bool = lt(i_1, n)
          yield t1, i_1, y_1
        body (i_2: int, y_2: float)
          i_3: int = add(i_2, 1)
          t3: float = truediv(1.0, x)
          t4: float = add(y_2, t2)
          t5: float = mul(t4, t3)
          yield i_3, t5
      return y
    """
    changes = Changes()
    for function in bodies(graph):
        if any(operation.name == "while_loop" for operation in region_operations(function.body)):
            _Moving(function, changes).region(function.body)
    return apply(graph, changes)


class _Moving:
    def __init__(self, graph: Graph, changes: Changes) -> None:
        self.graph, self.changes = graph, changes

    @functools.cached_property
    def memory(self) -> Memory:
        """Of the whole graph; most loops of numbers get by without it."""
        return Memory(self.graph)

    def region(self, region: Region) -> set[int]:
        """Inner loops first; gives what is defined in the body and in those inside it."""
        defined = {id(t) for t in region.params}
        for operation in region.ops:
            inside: set[int] = set()
            for inner in operation.regions:
                inside |= self.region(inner)
            if operation.op is None and operation.name == "while_loop":
                self.loop(operation, inside)
            defined |= inside
            for here in (*self.changes.moved.get(id(operation), ()), operation):
                defined.update(id(t) for t in here.outputs)
        return defined

    def loop(self, loop: Operation, inside: set[int]) -> None:
        """Moves what it can; `inside` is all that is defined in the loop, and loses what is moved."""
        test, body = loop.regions
        out: list[Operation] = []
        sure = self.body(loop, test, inside, out, True)
        self.body(loop, body, inside, out, sure and _runs(loop))
        if out:
            self.changes.moved[id(loop)] = out
            self.changes.dropped.update(map(id, out))

    def body(
        self, loop: Operation, region: Region, inside: set[int], out: list[Operation], sure: bool
    ) -> bool:
        """Moves operations of a body; `sure`: it runs, and nothing has happened in it yet. Gives the same."""
        for operation in self.in_order(region):
            plain = operation.op is not None
            if plain and self.is_invariant(operation, inside, loop) and (sure or _is_total(operation)):
                self.take(operation)
                out.append(operation)
                inside.difference_update(id(t) for t in operation.outputs)
            elif sure:
                sure = plain and not has_effect(operation) and _is_total(operation)
        return sure

    def in_order(self, region: Region) -> list[Operation]:
        """The operations of a body with those that were moved to before its loops, where they are now."""
        found: list[Operation] = []
        for operation in region.ops:
            found += self.changes.moved.get(id(operation), ())
            if id(operation) not in self.changes.dropped:
                found.append(operation)
        return found

    def take(self, operation: Operation) -> None:
        """Takes an operation from where it was moved to before."""
        if id(operation) in self.changes.dropped:
            for moved in self.changes.moved.values():
                if any(m is operation for m in moved):
                    moved[:] = [m for m in moved if m is not operation]

    def is_invariant(self, operation: Operation, inside: set[int], loop: Operation) -> bool:
        inputs = operation.inputs
        if any(id(t) in inside for t in inputs):
            return False
        output = operation.outputs[0]
        made = output._ag_type
        if has_effect(operation) or "alloc" in operation.op.traits or made is BOTTOM:
            return False
        for t in inputs:
            if is_mutable(t._ag_type) and not self.is_unwritten(t, loop):
                return False
        if not is_mutable(made):
            return True
        return isinstance(made, Array) and self.is_worth(operation, inputs, made)

    def is_unwritten(self, tensor: Tensor, loop: Operation) -> bool:
        """Whether it is an array that the loop does not write."""
        memory = self.memory
        return isinstance(tensor._ag_type, Array) and memory.find(id(tensor)) not in memory.touched(loop)

    def is_worth(self, operation: Operation, inputs: list[Tensor], made: Array) -> bool:
        """An array is made once only if nobody writes or keeps it, and if it is no larger than an operand."""
        output = operation.outputs[0]
        if not self.memory.private(output):
            return False
        if "view" in operation.op.traits:
            return True
        if self.memory.find(id(output)) in self.memory.written:
            return False
        return any(isinstance(t._ag_type, Array) and t._ag_type.shape == made.shape for t in inputs)


def _is_total(operation: Operation) -> bool:
    """Whether an operation raises nothing, nor is refused."""
    op = operation.op
    if "total" in op.traits:
        return True
    return is_bounded(op, operation.outputs[0]._ag_type) and never_raises(
        op, operation.args, operation.kwargs
    )


def _runs(loop: Operation) -> bool:
    """Whether a loop is sure to run its first turn: its test holds for the constants that it starts with."""
    test = loop.regions[0]
    if not test.results:
        return False
    values = {id(p): a for p, a in zip(test.params, loop.args)}
    for operation in test.ops[:1]:
        args = [values.get(id(a), a) if isinstance(a, Tensor) else a for a in operation.args]
        if operation.op is None or operation.kwargs or not all(type(a) in NUMBERS for a in args):
            return False
        if not never_raises(operation.op, tuple(args), {}):
            return False
        values[id(operation.outputs[0])] = operation.op.kernel(*args)
    first = test.results[0]
    return (values.get(id(first)) if isinstance(first, Tensor) else first) is True
