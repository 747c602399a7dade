"""Puts small graphs in the place of the calls to them."""

from __future__ import annotations

from autograph.graph.graph import Graph, region_operations
from autograph.transforms.rewrite import EFFECTS, Changes, apply, traits

__all__ = ["inline"]

SMALL = 12
"""The most operations of a graph that takes the place of a call."""

GROWTH = 200
"""The most operations that a graph gets in this way."""


def inline(graph: Graph) -> Graph:
    """Replaces calls of small graphs, that neither call graphs nor have effects, by what these do.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(x: float) -> float
    ...   y: float = call square(x)
    ...   z: float = call square(y)
    ...   return z
    ...
    ... graph square(x: float) -> float
    ...   y: float = mul(x, x)
    ...   return y
    ... ''')
    >>> print(inline(graph))
    graph f(x: float) -> float
      y: float = mul(x, x)
      y_1: float = mul(y, y)
      return y_1
    """
    changes = Changes()
    functions = graph.functions()
    sizes = {id(g): _size(g, graph) for g in functions} if len(functions) > 1 else {}
    growth = 0
    for function in functions if sizes else ():
        for operation in region_operations(function.body):
            size = None if operation.callee is None else sizes[id(operation.callee)]
            if size is None or function.host != operation.callee.host:  # type: ignore[union-attr]
                continue
            growth += size
            if growth <= GROWTH:
                changes.inlined.add(id(operation))
    return apply(graph, changes)


def _size(graph: Graph, top: Graph) -> int | None:
    """How many operations a graph has; None if it is not to be put in the place of a call."""
    if graph is top or graph.body.results is None:
        return None
    size = 0
    for operation in region_operations(graph.body):
        size += 1
        if size > SMALL or operation.name in ("call", "try"):
            return None
        if operation.op is not None and traits(operation) & EFFECTS - {"writes"}:
            return None
    return size
