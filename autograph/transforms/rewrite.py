"""Copying a graph with changes: the one place where passes make new graphs.

A pass first looks at a graph and notes in `Changes` what shall differ; `apply` then makes the new graph.
What was given is never touched, and a pass that noted nothing gives back the graph itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.graph.graph import Graph, Operation, Place, Region, Tensor
from autograph.graph.tree import NESTED
from autograph.graph.types import Const, Py, Scalar, Singleton, TupleT, Type, Union, const_key
from autograph.records import field, record_class

SIMPLE = frozenset({bool, int, float, complex, str, bytes, type(None)})
"""Classes of constants that may stand anywhere a tensor of their value stood."""


@record_class
class Changes:
    """What shall be different in the copy of a graph; operations, tensors and graphs go by their ids."""

    values: dict[int, Any] = field(default_factory=dict)
    """A tensor: what stands in its place."""
    dropped: set[int] = field(default_factory=set)
    """Operations that go."""
    spliced: dict[int, Region] = field(default_factory=dict)
    """A cond: the body that takes its place."""
    moved: dict[int, list[Operation]] = field(default_factory=dict)
    """An operation: what stands before it now; these are `dropped` where they were."""
    args: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    """An operation: its operands, in the place of its own."""
    kept: dict[int, list[int]] = field(default_factory=dict)
    """A cond or loop: the positions of what it gives, or carries, that stay."""
    inlined: set[int] = field(default_factory=set)
    """Calls whose graph takes their place."""

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def resolve(self, leaf: Any) -> Any:
        """What stands in the place of a leaf."""
        while isinstance(leaf, Tensor) and id(leaf) in self.values:
            leaf = self.values[id(leaf)]
        return leaf


def apply(graph: Graph, changes: Changes) -> Graph:
    """A copy of a graph, and of all graphs that it calls, with these changes; the graph itself without any.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(n: int) -> int
    ...   m: int = mul(n, 1)
    ...   k: int = add(m, m)
    ...   return k
    ... ''')
    >>> first = graph.body.ops[0]
    >>> print(apply(graph, Changes(values={id(first.outputs[0]): graph.params[0]}, dropped={id(first)})))
    graph f(n: int) -> int
      k: int = add(n, n)
      return k
    """
    return _copied(graph, changes) if changes else graph


def copied(graph: Graph) -> Graph:
    """A copy of a graph and of all that it calls."""
    return _copied(graph, Changes())


def _copied(graph: Graph, changes: Changes) -> Graph:
    return copy_with(lambda copies, g, _: Copier(copies, changes, g), graph, None)


def copy_with(copier: Callable[[dict[int, Graph], Graph, Any], Copier], graph: Graph, given: Any) -> Graph:
    """A copy of a graph and of all that it calls, each made by `copier(copies by id, its copy, given)`."""
    functions = graph.functions()
    copies = {
        id(g): Graph(g.name, g.place, result_type=g.result_type, host=g.host, native_reason=g.native_reason)
        for g in functions
    }
    for g in functions:
        copier(copies, copies[id(g)], given).function(g)
    return copies[id(graph)]


class Copier:
    """Copies operations into one graph; `caller` is the call that they take the place of."""

    def __init__(
        self, copies: dict[int, Graph], changes: Changes, graph: Graph, caller: Place | None = None
    ) -> None:
        self.copies, self.changes, self.graph, self.caller = copies, changes, graph, caller
        self.env: dict[int, Any] = {}
        self.values = changes.values

    def function(self, source: Graph) -> None:
        body = self.graph.body
        body.params = self.tensors(source.params)
        self.fill(body, source.body)
        self.graph.captures = [(outer, self.env[id(inner)]) for outer, inner in source.captures]

    # -- values ----------------------------------------------------------------------------------------------

    def tensors(self, given: list[Tensor], operation: Operation | None = None) -> list[Tensor]:
        made = [Tensor(t._ag_type, self.graph, operation, t._ag_name) for t in given]
        for old, new in zip(given, made):
            self.env[id(old)] = new
        return made

    def leaf(self, leaf: Any) -> Any:
        if type(leaf) is Tensor:
            key = id(leaf)
            if key in self.values:
                return self.leaf(self.values[key])
            return self.env[key]
        return self.tree(leaf) if isinstance(leaf, NESTED) else leaf

    def tree(self, tree: Any) -> Any:
        kind = type(tree)
        if kind is tuple:
            return tuple([self.leaf(item) for item in tree])
        if kind is slice:
            return slice(self.leaf(tree.start), self.leaf(tree.stop), self.leaf(tree.step))
        if kind is list:
            return [self.leaf(item) for item in tree]
        if kind is dict:
            return {key: self.leaf(item) for key, item in tree.items()}
        if hasattr(tree, "_fields"):
            return kind(*[self.leaf(item) for item in tree])
        return tree

    def place(self, place: Place | None) -> Place | None:
        """A place under the call that its code is now a part of."""
        if self.caller is None:
            return place
        if place is None:
            return self.caller
        return Place(place.code, place.lasti, place.line, self.place(place.caller))

    # -- operations ------------------------------------------------------------------------------------------

    def fill(self, region: Region, source: Region, kept: list[int] | None = None, shift: int = 0) -> None:
        """The operations and results of a body; of the results after the first `shift`, those `kept`."""
        self.operations(source.ops, region.ops)
        results = source.results
        if results is not None:
            if kept is not None:
                results = (*results[:shift], *(results[shift + i] for i in kept))
            results = tuple([self.leaf(r) for r in results])
        region.results = results

    def operations(self, source: list[Operation], out: list[Operation]) -> None:
        changes = self.changes
        for operation in source:
            key = id(operation)
            if key in changes.moved:
                for moved in changes.moved[key]:
                    self.copy(moved, out)
            if key in changes.spliced:
                self.splice(operation, changes.spliced[key], out)
            elif key in changes.inlined:
                self.inline(operation, out)
            elif key not in changes.dropped:
                self.copy(operation, out)

    def splice(self, operation: Operation, region: Region, out: list[Operation]) -> None:
        self.operations(region.ops, out)
        for output, result in zip(operation.outputs, region.results or ()):
            self.env[id(output)] = self.leaf(result)

    def inline(self, operation: Operation, out: list[Operation]) -> None:
        callee = operation.callee
        assert callee is not None
        inner = Copier(self.copies, self.changes, self.graph, self.place(operation.place))
        for param, arg in zip(callee.params, operation.args):
            inner.env[id(param)] = self.leaf(arg)
        inner.operations(callee.body.ops, out)
        for output, result in zip(operation.outputs, callee.body.results or ()):
            self.env[id(output)] = inner.leaf(result)

    def copy(self, operation: Operation, out: list[Operation]) -> None:
        args, outputs = operation.args, operation.outputs
        if self.changes.args:
            args = self.changes.args.get(id(operation), args)
        kept = self.changes.kept.get(id(operation))
        if kept is not None:
            outputs = [outputs[i] for i in kept]
            args = tuple([args[i] for i in kept]) if operation.name == "while_loop" else args
        kwargs = operation.kwargs
        callee = operation.callee
        new = Operation(
            operation.name,
            self.tree(args),
            self.tree(kwargs) if kwargs else {},
            [],
            (),
            None if callee is None else self.copies[id(callee)],
            operation.place if self.caller is None else self.place(operation.place),
            operation.op,
        )
        if operation.regions:
            new.regions = tuple([self.region(operation, r, kept) for r in operation.regions])
        new.outputs = self.tensors(outputs, new)
        out.append(new)

    def region(self, operation: Operation, source: Region, kept: list[int] | None) -> Region:
        region = Region(self.graph)
        params = source.params
        loop = operation.name == "while_loop"
        if kept is not None and loop:
            params = [params[i] for i in kept]
        region.params = self.tensors(params)
        self.fill(region, source, kept, int(loop and source is operation.regions[0]))
        return region


# -- what passes ask -----------------------------------------------------------------------------------------

EFFECTS = frozenset({"writes", "host", "effect"})
"""Traits of what must stay where it is."""

_NONE: frozenset[str] = frozenset()


_IMMUTABLE = (Py, Scalar, Const, Singleton)


def is_mutable(t: Type) -> bool:
    """Whether a value of a type is, or holds, something that can be written.

    >>> is_mutable(Py(int)), is_mutable(TupleT((Py(int), Py(str))))
    (False, False)
    """
    kind = type(t)
    if kind in _IMMUTABLE:
        return False
    if isinstance(t, Union):
        return any(map(is_mutable, t.members))
    if isinstance(t, TupleT):
        return any(map(is_mutable, t.items))
    return True


def traits(operation: Operation) -> frozenset[str]:
    """The traits of an operation that has an op, with these operands: `n += 1` writes nothing."""
    op = operation.op
    if not op.traits and op.out is None and not operation.kwargs:
        return _NONE
    found: frozenset[str] = op.effects(operation.args, operation.kwargs)
    if "writes" not in found or type(operation.args[0]) is not Tensor:
        return found
    if any(is_mutable(t._ag_type) for t in operation.inputs):
        return found
    return found - {"writes", "view"}


def has_effect(operation: Operation) -> bool:
    """Whether an operation that has an op must stay where it is."""
    return not EFFECTS.isdisjoint(traits(operation))


def bodies(graph: Graph) -> Iterator[Graph]:
    """The graph and those that it calls: a pass goes through each on its own."""
    return iter(graph.functions())


class Unknown:
    """The value of a type that has more than one."""


UNKNOWN = Unknown()


def is_simple(value: Any) -> bool:
    """Whether a constant is a number, a text, None, or a tuple of such."""
    cls = type(value)
    if cls is int:
        return bool(-(2**63) <= value < 2**63)
    if cls is tuple:
        return all(map(is_simple, value))
    return bool(cls in SIMPLE or isinstance(value, (np.number, np.bool_)))


def known_value(t: Type) -> Any:
    """The only value of a type, where it is a number, a text, None or a tuple of such; else UNKNOWN.

    >>> known_value(TupleT((Const(2), Const(3)))), known_value(Const(None))
    ((2, 3), None)
    """
    if type(t) is Const:
        return t.value if is_simple(t.value) else UNKNOWN
    if type(t) is TupleT and t.cls is tuple:
        items = tuple([known_value(item) for item in t.items])
        return UNKNOWN if any(item is UNKNOWN for item in items) else items
    return UNKNOWN


def same_leaf(a: Any, b: Any) -> bool:
    """Whether two leaves are one tensor, or equal simple constants of one class."""
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return a is b
    return is_simple(a) and is_simple(b) and bool(const_key(a) == const_key(b))
