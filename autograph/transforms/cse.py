"""Merges equal operations: what was computed once is not computed again where it is still known.

What reads memory is merged only while nothing writes that memory; what makes an array, only where nobody can
tell two equal arrays from one, and only where it costs more than to read the array.
"""

from __future__ import annotations

import itertools
from typing import Any

from autograph.graph.graph import Graph, Operation, Region, Tensor, region_operations
from autograph.graph.types import BOTTOM, Array, Ref, SeqT, TupleT, Type, Union, const_key
from autograph.ops.algebra import CHEAP, OUT_OF_PLACE, READS, STORED_READS, is_view
from autograph.transforms.memory import Memory
from autograph.transforms.rewrite import EFFECTS, Changes, apply, bodies, is_mutable, traits

__all__ = ["cse"]


def cse(graph: Graph) -> Graph:
    """Merges equal operations, also into nested bodies.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(x: float64[9], i: int) -> float64
    ...   t1: int = sub(i, 1)
    ...   t2: float64 = get_item(x, t1)
    ...   t3: int = sub(i, 1)
    ...   t4: float64 = get_item(x, t3)
    ...   t5: float64 = add(t2, t4)
    ...   set_item(x, 0, t5)
    ...   t6: float64 = get_item(x, t1)
    ...   return t6
    ... ''')
    >>> print(cse(graph))
    graph f(x: float64[9], i: int) -> float64
      t1: int = sub(i, 1)
      t2: float64 = get_item(x, t1)
      t5: float64 = add(t2, t2)
      set_item(x, 0, t5)
      t6: float64 = get_item(x, t1)
      return t6
    """
    changes = Changes()
    for function in bodies(graph):
        if not _may_repeat(function):
            continue
        memory = Memory(function)
        if not memory.sees_values:
            _Merging(memory, changes, function.host).region(function.body)
    return apply(graph, changes)


def _may_repeat(graph: Graph) -> bool:
    """Whether two operations have the same op and operands: a quick look that spares the thorough one."""
    seen: set[tuple[Any, ...]] = set()
    for operation in region_operations(graph.body):
        op = operation.op
        if op is not None and ("effect" not in op.traits or op in READS):
            key = (OUT_OF_PLACE.get(op, op), *map(id, operation.inputs))
            if key in seen:
                return True
            seen.add(key)
    return False


class _Merging:
    """Goes through a graph in program order; `known` holds what has been computed by now."""

    def __init__(self, memory: Memory, changes: Changes, host: bool) -> None:
        self.memory, self.changes, self.host = memory, changes, host
        self.known: dict[Any, Tensor] = {}
        self.versions: dict[int, int] = {}
        self.equals: dict[int, int] = {}  # an array that stays though an equal one was made before: that one
        self.numbers = itertools.count(1)

    def region(self, region: Region) -> None:
        """A body: what it computes is forgotten at its end."""
        added: list[Any] = []
        for operation in region.ops:
            if operation.op is not None:
                self.operation(operation, added)
                continue
            repeats = operation.name != "cond"  # a loop, or a handler, may come after its own writes
            before = self.versions
            for inner in operation.regions:
                self.versions = before.copy()  # a branch does not see what the other one writes
                if repeats:
                    self.forget(operation)
                self.region(inner)
            self.versions = before
            self.forget(operation)
        for key in added:
            del self.known[key]

    def forget(self, operation: Operation) -> None:
        """What the operation writes is no longer what was read."""
        for root in self.memory.touched(operation):
            self.versions[root] = next(self.numbers)

    def operation(self, operation: Operation, added: list[Any]) -> None:
        op = operation.op
        effects = traits(operation)
        if effects and not EFFECTS.isdisjoint(effects) and (op not in READS or self.host):
            self.forget(operation)
            return
        output = operation.outputs[0]
        made = output._ag_type
        if "alloc" in effects or made is BOTTOM:
            return
        versions = self.read(operation)
        if versions is None or (is_mutable(made) and not _is_plain(made)):
            return
        view = "view" in effects
        op = OUT_OF_PLACE.get(op, op)
        try:
            key = (op, self.key(operation.args, view), self.key(operation.kwargs, view), versions)
            found = self.known.get(key)
        except TypeError:  # a constant that is not hashable
            return
        if found is None:
            self.known[key] = output
            added.append(key)
        elif found._ag_type == made and self.interchangeable(found, output, operation):
            if is_mutable(made) and op in CHEAP:
                self.equals[id(output)] = id(found)
                return
            self.changes.values[id(output)] = found
            self.changes.dropped.add(id(operation))

    def read(self, operation: Operation) -> tuple[int, ...] | None:
        """The versions of the memory that an operation reads; None if it may read more than that."""
        versions: tuple[int, ...] = ()
        for t in operation.inputs:
            kind = t._ag_type
            if is_mutable(kind):
                if not _is_plain(kind) and (
                    operation.op not in STORED_READS or self.host or not _is_stored(kind)
                ):
                    return None
                versions += (self.versions.get(self.memory.find(id(t)), 0),)
        return versions

    def interchangeable(self, found: Tensor, output: Tensor, operation: Operation) -> bool:
        """Whether nobody can tell the results of two equal operations apart."""
        if not is_mutable(output._ag_type):
            return True
        memory = self.memory
        if not memory.private(found) or not memory.private(output):
            return False
        return (
            is_view(operation.op, operation.args)
            or not {memory.find(id(found)), memory.find(id(output))} & memory.written
        )

    def key(self, tree: Any, view: bool) -> Any:
        """What is equal for equal arguments; a view of one array is not one of an equal array."""
        kind = type(tree)
        if kind is Tensor:
            known = id(self.changes.resolve(tree)) if self.changes.values else id(tree)
            return known if view else self.equals.get(known, known)
        if kind is tuple:
            return (tuple, *[self.key(item, view) for item in tree])
        if kind is list:
            return (list, *[self.key(item, view) for item in tree])
        if kind is slice:
            return (slice, *[self.key(part, view) for part in (tree.start, tree.stop, tree.step)])
        if kind is dict:
            return tuple([(name, self.key(value, view)) for name, value in tree.items()])
        return const_key(tree)


def _is_plain(t: Type) -> bool:
    """An array, or a union of arrays and immutable values."""
    if isinstance(t, Union):
        return all(isinstance(m, Array) or not is_mutable(m) for m in t.members)
    return isinstance(t, Array)


def _is_stored(t: Type) -> bool:
    """A list, tuple or cell."""
    return isinstance(t, (TupleT, SeqT)) or (isinstance(t, Ref) and t.kind in ("list", "cell"))
