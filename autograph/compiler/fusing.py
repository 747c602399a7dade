"""Finds the arrays that have several readers, all of which end up in one loop: they are not stored.

    d = a / b; y = np.exp(d * d) + d

`d` is read three times, but only by elementwise functions whose values all go into `y`: the loop that writes
`y` computes an element of `d` once, and no array `d` is ever made.
"""

from __future__ import annotations

from autograph.compiler.elementwise import ELEMENT, UFUNC_OF
from autograph.compiler.values import array_type
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.tree import leaves

OTHERS = frozenset({"np.where", "ndarray.astype"})
"""Elementwise functions that are no ufuncs."""


def is_elementwise(operation: Operation) -> bool:
    """Whether an operation computes each element of its one result from the elements at its place."""
    name = UFUNC_OF.get(operation.name, operation.name.removeprefix("np."))
    known = name in ELEMENT or operation.name in OTHERS
    return known and len(operation.outputs) == 1 and not operation.regions and not operation.kwargs


def fused(graph: Graph) -> set[int]:
    """The tensors of several uses that need not be stored, by identity."""
    found: set[int] = set()

    def walk(region: Region) -> None:
        found.update(_of_region(region))
        for operation in region.ops:
            for nested in operation.regions:
                walk(nested)

    walk(graph.body)
    return found


def _of_region(region: Region) -> set[int]:
    users: dict[int, set[int]] = {}
    kept = {id(leaf) for leaf in leaves(region.results or ()) if isinstance(leaf, Tensor)}
    last_barrier = -1
    barriers: list[int] = []  # by position: the last operation before it at which all arrays are stored
    for position, operation in enumerate(region.ops):
        barriers.append(last_barrier)
        for t in operation.inputs:
            users.setdefault(id(t), set()).add(position)
        for nested in operation.regions:
            kept.update(_read_inside(nested))
        if _stores_all(operation):
            last_barrier = position
    ends: dict[int, int] = {}  # by position of an elementwise operation: the operation whose loop computes it
    found: set[int] = set()
    for position in range(len(region.ops) - 1, -1, -1):
        operation = region.ops[position]
        if not is_elementwise(operation):
            continue
        out = operation.outputs[0]
        array = array_type(out._ag_type)
        readers = users.get(id(out), set())
        goals = {ends.get(r) if _has_shape(region.ops[r], array) else None for r in readers}
        goal = goals.pop() if len(goals) == 1 else None
        if array is None or id(out) in kept or goal is None or barriers[goal] > position:
            ends[position] = position
            continue
        ends[position] = goal
        found.add(id(out))
    return found


def _has_shape(operation: Operation, t: object) -> bool:
    own = array_type(operation.outputs[0]._ag_type) if operation.outputs else None
    return own is not None and own.shape == getattr(t, "shape", None)


def _stores_all(operation: Operation) -> bool:
    if operation.regions or operation.op is None:
        return True
    return bool(operation.op.effects(operation.args, operation.kwargs) & {"writes", "host", "effect"})


def _read_inside(region: Region) -> set[int]:
    found = {id(leaf) for leaf in leaves(region.results or ()) if isinstance(leaf, Tensor)}
    for operation in region.ops:
        found.update(id(t) for t in operation.inputs)
        for nested in operation.regions:
            found |= _read_inside(nested)
    return found


__all__ = ["fused", "is_elementwise"]
