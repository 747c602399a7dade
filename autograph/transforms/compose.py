"""Puts one change of an array's axes, shape or extent in the place of two after each other.

Each sees the same elements in the same memory as before: what may be a copy is left alone where it is
written.
"""

from __future__ import annotations

import functools
from typing import Any

from autograph.graph.graph import Graph, Operation, Tensor, region_operations
from autograph.ops.algebra import RESHAPES, TRANSPOSES, composed_slices, is_view
from autograph.transforms.memory import Memory
from autograph.transforms.rewrite import Changes, apply, bodies

__all__ = ["compose"]


def compose(graph: Graph) -> Graph:
    """Composes transposes, reshapes and slices; `prune` then removes what is left over.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(x: float64[2,3], y: float64[9]) -> float64
    ...   t1: float64[3,2] = ndarray.T(x)
    ...   t2: float64[2,3] = ndarray.T(t1)
    ...   t3: float64[7] = get_item(y, slice(1, -1, None))
    ...   t4: float64[6] = get_item(t3, slice(1, None, None))
    ...   t5: float64[6] = ndarray.reshape(t2, 6)
    ...   t6: float64[6] = mul(t4, t5)
    ...   t7: float64 = np.sum(t6)
    ...   return t7
    ... ''')
    >>> print(compose(graph))
    graph f(x: float64[2,3], y: float64[9]) -> float64
      t1: float64[3,2] = ndarray.T(x)
      t3: float64[7] = get_item(y, slice(1, -1, None))
      t4: float64[6] = get_item(y, slice(2, 8, 1))
      t5: float64[6] = ndarray.reshape(x, 6)
      t6: float64[6] = mul(t4, t5)
      t7: float64 = np.sum(t6)
      return t7
    """
    changes = Changes()
    for function in bodies(graph):
        composing = _Composing(function, changes)
        for operation in region_operations(function.body):
            first = operation.args[0] if operation.op is not None and operation.args else None
            inner = changes.resolve(first)._ag_op if type(first) is Tensor else None
            if inner is not None and inner.op is not None and not (operation.kwargs or inner.kwargs):
                composing.look(inner, operation)
    return apply(graph, changes)


class _Composing:
    def __init__(self, graph: Graph, changes: Changes) -> None:
        self.graph, self.changes = graph, changes

    @functools.cached_property
    def memory(self) -> Memory:
        """Of the whole graph; few graphs have anything to compose."""
        return Memory(self.graph)

    def look(self, inner: Operation, outer: Operation) -> None:
        """Two operations, the outer one of what the inner one gives."""
        output = outer.outputs[0]
        args = self.changes.args.get(id(inner), inner.args)
        if inner.op in TRANSPOSES and outer.op in TRANSPOSES:
            if self.memory.private(output):
                self.changes.values[id(output)] = args[0]
                self.changes.dropped.add(id(outer))
        elif inner.op in RESHAPES and outer.op in RESHAPES:
            ordered = any(isinstance(a, str) for a in (*args, *outer.args))  # not in the order of C
            if not ordered and self.is_unwritten(args[0]) and self.memory.private(output):
                self.changes.args[id(outer)] = (args[0], *outer.args[1:])
        elif inner.op is outer.op and is_view(outer.op, outer.args) and is_view(inner.op, inner.args):
            composed = composed_slices(args, outer.args)
            if composed is not None:
                self.changes.args[id(outer)] = composed

    def is_unwritten(self, x: Any) -> bool:
        memory = self.memory
        written = {memory.find(root) for root in (*memory.written, memory.OUTSIDE)}
        return type(x) is Tensor and memory.find(id(x)) not in written
