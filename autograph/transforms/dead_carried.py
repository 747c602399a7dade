"""Values that a loop carries without ever changing them become values from outside of the loop."""

from __future__ import annotations

from autograph.graph.check import type_of_value
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.types import generalize
from autograph.transforms.rewrite import Changes, apply, bodies, is_simple

__all__ = ["dead_carried"]


def dead_carried(graph: Graph) -> Graph:
    """Replaces what a loop carries and never changes by what it starts with.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(n: int, x: float) -> float
    ...   i: int, y: float, step: float = while_loop(0, 1.0, x)
    ...     test (i_1: int, y_1: float, step_1: float)
    ...       t1: bool = lt(i_1, n)
    ...       yield t1, i_1, y_1, step_1
    ...     body (i_2: int, y_2: float, step_2: float)
    ...       i_3: int = add(i_2, 1)
    ...       y_3: float = mul(y_2, step_2)
    ...       yield i_3, y_3, step_2
    ...   t2: float = add(y, step)
    ...   return t2
    ... ''')
    >>> print(dead_carried(graph))
    graph f(n: int, x: float) -> float
      i: int, y: float = while_loop(0, 1.0)
        test (i_1: int, y_1: float)
          t1: bool = lt(i_1, n)
          yield t1, i_1, y_1
        body (i_2: int, y_2: float)
          i_3: int = add(i_2, 1)
          y_3: float = mul(y_2, x)
          yield i_3, y_3
      t2: float = add(y, x)
      return t2
    """
    changes = Changes()
    for function in bodies(graph):
        _look(function.body, changes)
    return apply(graph, changes)


def _look(region: Region, changes: Changes) -> None:
    for operation in region.ops:
        for inner in operation.regions:
            _look(inner, changes)
        if operation.name == "while_loop" and operation.op is None:
            _loop(operation, changes)


def _loop(loop: Operation, changes: Changes) -> None:
    """Inner loops were looked at before: what they pass on unchanged is known to be what they were given."""
    test, body = loop.regions
    if test.results is None:
        return
    gone = [i for i in range(len(loop.args)) if _never_changes(loop, i, changes)]
    for i in gone:
        for tensor in (test.params[i], body.params[i], loop.outputs[i]):
            changes.values[id(tensor)] = loop.args[i]
    if gone:
        changes.kept[id(loop)] = [i for i in range(len(loop.args)) if i not in gone]


def _never_changes(loop: Operation, i: int, changes: Changes) -> bool:
    test, body = loop.regions
    assert test.results is not None
    first, param = loop.args[i], test.params[i]
    if changes.resolve(test.results[1 + i]) is not param:
        return False
    if body.results is not None:
        again = changes.resolve(body.results[i])
        if again is not body.params[i] and again is not param:
            return False
    if not isinstance(first, Tensor) and not is_simple(first):
        return False
    return generalize(type_of_value(first)) == generalize(param._ag_type)
