"""Passes: each takes a graph and gives a graph that does the same with less."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from autograph.graph.graph import Graph
from autograph.transforms.cells import cells
from autograph.transforms.compose import compose
from autograph.transforms.cse import cse
from autograph.transforms.dead_carried import dead_carried
from autograph.transforms.fold import fold
from autograph.transforms.inline import inline
from autograph.transforms.licm import licm
from autograph.transforms.loads import loads
from autograph.transforms.prune import prune
from autograph.transforms.simplify import simplify

__all__ = [
    "PIPELINE",
    "cells",
    "compose",
    "cse",
    "dead_carried",
    "fold",
    "inline",
    "licm",
    "loads",
    "optimise",
    "prune",
    "simplify",
]

Pass = Callable[[Graph], Graph]

PIPELINE: list[Pass] = [
    inline,  # first: what stands in the place of a call is simplified with the code around it
    cells,  # after inline: what a closure shares with its maker is seen then
    fold,
    simplify,  # after fold: tests that are known decide branches
    compose,
    dead_carried,  # after simplify: a branch that gives the same either way changes nothing
    loads,  # before cse: reads of one name become one
    cse,  # after dead_carried: operands of inner loops are those outside
    licm,  # after cse: what is equal is moved once
    prune,  # last: removes what the others left unused
]


def optimise(graph: Graph) -> Graph:
    """The graph after all passes; with `AUTOGRAPH_CHECK=1` each result is checked.

    >>> from autograph.graph.parse import parse_text
    >>> print(optimise(parse_text('''
    ... graph f(n: int, x: float64[4]) -> int
    ...   t1: (=4,) = ndarray.shape(x)
    ...   t2: =4 = get_item(t1, 0)
    ...   t3: int = mul(n, 1)
    ...   t4: int = add(t3, t2)
    ...   return t4
    ... ''')))
    graph f(n: int, x: float64[4]) -> int
      t4: int = add(n, 4)
      return t4
    """
    checking = os.environ.get("AUTOGRAPH_CHECK") == "1"
    showing = os.environ.get("AUTOGRAPH_DEBUG", "0") >= "2"
    for transform in PIPELINE:
        before, graph = graph, transform(graph)
        if graph is before:
            continue
        if checking:
            from autograph.graph.check import check

            check(graph)
        if showing:
            print(f"after {transform.__name__}:\n{graph}", file=sys.stderr)
    return graph
