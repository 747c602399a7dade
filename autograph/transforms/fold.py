"""Puts values that are known in the place of operations: by their types, or by computing with constants."""

from __future__ import annotations

import numpy as np

from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import Const, TupleT, conforms
from autograph.ops.algebra import never_raises
from autograph.transforms.rewrite import UNKNOWN, Changes, apply, bodies, is_simple, known_value, traits

__all__ = ["fold"]

NUMBERS = (bool, int, float, complex)


def fold(graph: Graph) -> Graph:
    """Replaces what has only one value by that value; `prune` then removes what computed it.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(x: float64[3,4]) -> float
    ...   t1: (=3, =4) = ndarray.shape(x)
    ...   t2: =4 = get_item(t1, 1)
    ...   t3: int = add(t2, 1)
    ...   t4: float = truediv(1.0, t3)
    ...   return t4
    ... ''')
    >>> print(fold(graph))
    graph f(x: float64[3,4]) -> float
      t1: (=3, =4) = ndarray.shape(x)
      t2: =4 = get_item((3, 4), 1)
      return 0.2
    """
    changes = Changes()
    for function in bodies(graph):
        _Folding(changes).region(function.body)
    return apply(graph, changes)


class _Folding:
    def __init__(self, changes: Changes) -> None:
        self.changes = changes

    def region(self, region: Region) -> None:
        for operation in region.ops:
            constant = self.known(operation.inputs)
            if constant and operation.op is not None:
                self.compute(operation)
            for inner in operation.regions:
                self.region(inner)
        self.known([leaf for leaf in leaves(region.results or ()) if isinstance(leaf, Tensor)])

    def known(self, tensors: list[Tensor]) -> bool:
        """Notes the known values among the tensors; whether all are constants then."""
        constant = True
        for leaf in tensors:
            if id(leaf) in self.changes.values:
                continue
            kind = type(leaf._ag_type)
            value = known_value(leaf._ag_type) if kind is Const or kind is TupleT else UNKNOWN
            if value is UNKNOWN:
                constant = False
            else:
                self.changes.values[id(leaf)] = value
        return constant

    def compute(self, operation: Operation) -> None:
        """The result of an operation on constants; one that raises, or is large, is left to the run."""
        if not operation.outputs:  # it raises
            return
        op, output = operation.op, operation.outputs[0]
        if operation.kwargs or known_value(output._ag_type) is not UNKNOWN or traits(operation):
            return
        args = map_tree(self.changes.resolve, operation.args)
        if not all(type(leaf) in NUMBERS for leaf in leaves(args)) or not args:
            return
        if not never_raises(op, args, {}):
            return
        try:
            with np.errstate(all="ignore"):
                value = op.kernel(*args)
        except Exception:
            return
        if type(value) in NUMBERS and is_simple(value) and conforms(value, output._ag_type):
            self.changes.values[id(output)] = value
            self.changes.dropped.add(id(operation))
