"""Replaces what is equal to one of its operands by it, and branches that are decided by the way they take."""

from __future__ import annotations

from typing import Any

from autograph.graph.check import type_of_value
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.tree import map_tree
from autograph.graph.types import generalize
from autograph.ops.algebra import IDENTITIES, NOTHING, simpler
from autograph.transforms.rewrite import Changes, apply, bodies, is_simple, same_leaf

__all__ = ["simplify"]


def simplify(graph: Graph) -> Graph:
    """Replaces operations by what they are equal to, exactly: also in class, sign and bits.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(n: int, x: float) -> float
    ...   t1: int = mul(n, 1)
    ...   t2: int = add(0, t1)
    ...   t3: bool = gt(t2, 0)
    ...   t4: bool = not(t3)
    ...   t5: bool = not(t4)
    ...   y: float, m: int = cond(t5)
    ...     then
    ...       t6: float = mul(x, 2.0)
    ...       yield t6, n
    ...     else
    ...       yield x, n
    ...   t7: float = add(y, m)
    ...   return t7
    ... ''')
    >>> print(simplify(graph))
    graph f(n: int, x: float) -> float
      t3: bool = gt(n, 0)
      t4: bool = not(t3)
      y: float, m: int = cond(t3)
        then
          t6: float = mul(x, 2.0)
          yield t6, n
        else
          yield x, n
      t7: float = add(y, n)
      return t7
    """
    changes = Changes()
    for function in bodies(graph):
        _region(function.body, changes)
    return apply(graph, changes)


def _region(region: Region, changes: Changes) -> None:
    for operation in region.ops:
        for inner in operation.regions:
            _region(inner, changes)
        if operation.op is not None:
            if operation.op in IDENTITIES:
                _operation(operation, changes)
        elif operation.name == "cond":
            _cond(operation, changes)


def _operation(operation: Operation, changes: Changes) -> None:
    args = operation.args
    if changes.values:
        args = map_tree(changes.resolve, args)
    leaf = simpler(operation.op, args, operation.kwargs)
    if leaf is not NOTHING and _fits(leaf, operation.outputs[0]):
        changes.values[id(operation.outputs[0])] = leaf
        changes.dropped.add(id(operation))


def _fits(leaf: Any, output: Tensor) -> bool:
    """Whether a leaf may stand in the place of a tensor: it has the very type."""
    if not isinstance(leaf, Tensor) and not is_simple(leaf):
        return False
    found, wanted = type_of_value(leaf), output._ag_type
    return found == wanted or generalize(found) == wanted


def _cond(operation: Operation, changes: Changes) -> None:
    test = changes.resolve(operation.args[0])
    then, orelse = operation.regions
    if type(test) is bool:
        taken = then if test else orelse
        if taken.results is not None:
            changes.spliced[id(operation)] = taken
        return
    if then.results is None or orelse.results is None:
        return
    for output, a, b in zip(operation.outputs, then.results, orelse.results):
        a, b = changes.resolve(a), changes.resolve(b)
        if same_leaf(a, b) and _fits(a, output):
            changes.values[id(output)] = a
