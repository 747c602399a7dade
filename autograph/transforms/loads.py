"""Reads numbers from outside of the function before the loops that use them.

A global number or one of an enclosing function is what it was when the function was called, unless the graph
writes it or runs code of the host, which may. (That it exists, and is a number, the call has looked at.)
"""

from __future__ import annotations

from autograph.graph.graph import Graph, Operation, Region, region_operations
from autograph.graph.types import Py, Scalar, Type
from autograph.ops import core
from autograph.transforms.rewrite import Changes, apply, bodies

__all__ = ["loads"]


def loads(graph: Graph) -> Graph:
    """Moves reads of numbers to before the outermost loop around them.

    A bool stays where it is: as a flag it may be for another thread to set.
    """
    operations = [o for function in bodies(graph) for o in region_operations(function.body)]
    if not any(o.op is core.LOAD for o in operations):
        return graph
    written = {o.args[0].key for o in operations if o.op in (core.STORE, core.DELETE)}
    changes = Changes()
    if not any(o.op is not None and "host" in o.op.effects(o.args, o.kwargs) for o in operations):
        for function in bodies(graph):
            if not function.host:
                _move(function.body, written, changes)
    return apply(graph, changes)


def _move(region: Region, written: set[object], changes: Changes) -> None:
    for operation in region.ops:
        inner = [o for body in operation.regions for o in region_operations(body)]
        if operation.name != "while_loop":
            for body in operation.regions:
                _move(body, written, changes)
        elif found := [o for o in inner if _is_fixed(o, written)]:
            changes.moved[id(operation)] = found
            changes.dropped.update(map(id, found))


def _is_fixed(operation: Operation, written: set[object]) -> bool:
    return (
        operation.op is core.LOAD
        and operation.args[0].key not in written
        and _is_number(operation.outputs[0]._ag_type)
    )


def _is_number(t: Type) -> bool:
    return t in (Py(int), Py(float), Py(complex)) or (isinstance(t, Scalar) and t.dtype.kind in "iufc")
