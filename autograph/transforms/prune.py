"""Removes what nobody needs: operations, results of branches, and values that loops carry.

An operation stays if it has an effect or may raise, or if what it gives is needed by one that stays. A loop
always stays: nobody can tell whether it ends. A value that a loop carries only for itself goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograph.graph.graph import Graph, Operation, Region, Tensor, region_operations
from autograph.graph.tree import NESTED, leaves
from autograph.graph.types import BOTTOM
from autograph.ops.algebra import never_raises
from autograph.transforms.rewrite import Changes, apply, bodies, has_effect

__all__ = ["prune"]


def prune(graph: Graph) -> Graph:
    """Removes operations without effect whose results nothing needs.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(n: int) -> int
    ...   t1: range = range(n)
    ...   i: int, square: int, last: int = while_loop(0, 0, 0)
    ...     test (i_1: int, square_1: int, last_1: int)
    ...       t2: bool = lt(i_1, n)
    ...       yield t2, i_1, square_1, last_1
    ...     body (i_2: int, square_2: int, last_2: int)
    ...       i_3: int = add(i_2, 1)
    ...       square_3: int = mul(i_2, i_2)
    ...       yield i_3, square_3, i_2
    ...   return last
    ... ''')
    >>> print(prune(graph))
    graph f(n: int) -> int
      i: int, last: int = while_loop(0, 0)
        test (i_1: int, last_1: int)
          t2: bool = lt(i_1, n)
          yield t2, i_1, last_1
        body (i_2: int, last_2: int)
          i_3: int = add(i_2, 1)
          yield i_3, i_2
      return last
    """
    changes = Changes()
    for function in bodies(graph):
        _Function(function).note(changes)
    return apply(graph, changes)


class _Function:
    """Marks what one graph needs, from its effects and its results backwards."""

    def __init__(self, graph: Graph) -> None:
        self.live: set[int] = set()
        self.kept: set[int] = set()
        self.operations = list(region_operations(graph.body))
        self.around: dict[int, Operation] = {}  # an operation -> the one whose body it stands in
        self.loops: dict[int, tuple[Operation, int]] = {}  # a parameter -> its loop and position
        self.todo: list[Tensor] = []
        self.results(graph.body)
        for operation in self.operations:
            self.look(operation)
        for operation in self.operations:
            stays = operation.name != "cond" if operation.op is None else has_effect(operation)
            if stays:
                self.keep(operation)
        self.spread()
        for operation in self.operations:
            if operation.op is not None and id(operation) not in self.kept and not removable(operation):
                self.keep(operation)
                self.spread()

    def look(self, operation: Operation) -> None:
        for region in operation.regions:
            for inner in region.ops:
                self.around[id(inner)] = operation
            if region.results is None:
                self.keep(operation)
            if operation.name == "while_loop":
                for i, param in enumerate(region.params):
                    self.loops[id(param)] = operation, i

    def results(self, region: Region) -> None:
        self.need(region.results or ())

    def need(self, values: Iterable[Any]) -> None:
        for value in values:
            if type(value) is Tensor:
                if id(value) not in self.live:
                    self.live.add(id(value))
                    self.todo.append(value)
            elif isinstance(value, NESTED):
                self.need(leaves(value))

    def keep(self, operation: Operation) -> None:
        """An operation that stays needs its operands; so do those around it."""
        around: Operation | None = operation
        while around is not None and id(around) not in self.kept:
            self.kept.add(id(around))
            name = around.name
            if around.op is not None or name in ("cond", "call"):
                self.need(around.inputs)
            if name == "while_loop" and around.op is None:
                self.need((around.regions[0].results or ())[:1])
                if around.regions[0].results is None:
                    self.need(around.args)
            around = self.around.get(id(around))

    def spread(self) -> None:
        """Whatever makes a tensor that is needed is needed."""
        while self.todo:
            tensor = self.todo.pop()
            operation = tensor._ag_op
            if operation is None:
                if id(tensor) in self.loops:
                    self.carry(*self.loops[id(tensor)])
                continue
            self.keep(operation)
            if operation.regions:
                position = next(i for i, t in enumerate(operation.outputs) if t is tensor)
                if operation.name == "while_loop":
                    self.carry(operation, position)
                else:
                    for region in operation.regions:
                        self.need((region.results or ())[position : position + 1])

    def carry(self, loop: Operation, position: int) -> None:
        test, body = loop.regions
        self.need(loop.args[position : position + 1])
        self.need((test.results or ())[position + 1 : position + 2])
        self.need((body.results or ())[position : position + 1])
        self.live.update(
            id(t) for t in (test.params[position], body.params[position], loop.outputs[position])
        )

    def note(self, changes: Changes) -> None:
        for operation in self.operations:
            if id(operation) not in self.kept:
                changes.dropped.add(id(operation))
            elif operation.name in ("cond", "while_loop") and operation.op is None:
                kept = [i for i, t in enumerate(operation.outputs) if id(t) in self.live]
                whole = operation.name == "while_loop" and operation.regions[0].results is None
                if len(kept) < len(operation.outputs) and not whole:
                    changes.kept[id(operation)] = kept


def removable(operation: Operation) -> bool:
    """Whether an operation without effect may go when nobody needs what it gives."""
    op = operation.op
    if operation.outputs[0]._ag_type is BOTTOM:
        return False
    return "total" in op.traits or never_raises(op, operation.args, operation.kwargs)
