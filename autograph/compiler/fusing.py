"""Finds the elementwise functions that one loop computes: those that end up in one array, and several arrays.

    d = a / b; y = np.exp(d * d) + d; z = np.where(y > 1, d, y); return y, z

`d` is read several times, but only by elementwise functions whose values all go into `y` and `z`: an element
of it is computed once, and no array `d` is ever made. And `y` and `z` are written by one loop: what they both
read is read once.
"""

from __future__ import annotations

from autograph.compiler.elementwise import ELEMENT, UFUNC_OF
from autograph.compiler.values import array_type
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.tree import leaves

OTHERS = frozenset({"np.where", "ndarray.astype"})
"""Elementwise functions that are no ufuncs."""

MOST = 6
"""Most arrays that one loop writes: each is a stream of its own through the caches."""


class Fusion:
    """What loops compute: by identity, the tensors of several uses that need not be stored, and those that
    one loop stores with others, in the order of their operations."""

    def __init__(self) -> None:
        self.fused: set[int] = set()
        self.together: dict[int, list[Tensor]] = {}


class _Loop:
    """A loop that is made where the last of the operations is whose arrays it stores, by their positions."""

    def __init__(self, last: int, inputs: set[int]) -> None:
        self.last, self.stored, self.inputs = last, [last], inputs


def is_elementwise(operation: Operation) -> bool:
    """Whether an operation computes each element of its one result from the elements at its place."""
    name = UFUNC_OF.get(operation.name, operation.name.removeprefix("np."))
    known = name in ELEMENT or operation.name in OTHERS
    return known and len(operation.outputs) == 1 and not operation.regions and not operation.kwargs


def fusion(graph: Graph) -> Fusion:
    """The loops of a graph."""
    found = Fusion()

    def walk(region: Region) -> None:
        _of_region(region, found)
        for operation in region.ops:
            for nested in operation.regions:
                walk(nested)

    walk(graph.body)
    return found


def _of_region(region: Region, found: Fusion) -> None:
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
    loops: dict[int, _Loop] = {}  # by position of an elementwise operation: the loop that computes it
    for position in range(len(region.ops) - 1, -1, -1):
        operation = region.ops[position]
        if not is_elementwise(operation):
            continue
        out = operation.outputs[0]
        array = array_type(out._ag_type)
        readers = users.get(id(out), set())
        inputs = {id(t) for t in operation.inputs if array_type(t._ag_type) is not None}
        goals = {loops.get(r) if _has_shape(region.ops[r], array) else None for r in readers}
        goal = goals.pop() if len(goals) == 1 else None
        if array is None or id(out) in kept or goal is None or barriers[goal.last] > position:
            loops[position] = _Loop(position, inputs)
            if array is not None and array.shape:
                _join(region, position, loops, readers, barriers)
            continue
        loops[position] = goal
        goal.inputs |= inputs
        found.fused.add(id(out))
    for loop in {id(loop): loop for loop in loops.values()}.values():
        together = [region.ops[i].outputs[0] for i in reversed(loop.stored)]
        found.together.update(dict.fromkeys(map(id, together), together) if len(together) > 1 else {})


def _join(
    region: Region, position: int, loops: dict[int, _Loop], readers: set[int], barriers: list[int]
) -> None:
    """Lets a later loop store an array, if it reads that or the same others, and no other reads it before."""
    out = region.ops[position].outputs[0]
    array = array_type(out._ag_type)
    own = loops[position]
    for loop in {id(loop): loop for at, loop in sorted(loops.items()) if at > position}.values():
        related = id(out) in loop.inputs or own.inputs & loop.inputs
        if not related or len(loop.stored) >= MOST or barriers[loop.last] > position:
            continue
        if not _has_shape(region.ops[loop.last], array):
            continue
        before = [r for r in readers if r <= loop.last]
        if all(loops.get(r) is loop and _has_shape(region.ops[r], array) for r in before):
            loop.stored.append(position)
            loop.inputs |= own.inputs
            loops[position] = loop
            return


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


__all__ = ["Fusion", "fusion", "is_elementwise"]
