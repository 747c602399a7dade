"""Which values may share memory, what is written, and which objects are seen as such: flow-insensitive.

Each array that a graph makes is a class of its own, together with its views and with what branches and loops
may make of it. Everything that comes from outside, or lies in a list, a cell, an object or a tuple, is one
class, OUTSIDE: any call of unknown code may write it.
"""

from __future__ import annotations

from typing import Any

from autograph.graph.graph import Graph, Operation, Tensor, region_operations
from autograph.graph.tree import leaves
from autograph.graph.types import Array, Type, Union
from autograph.ops.algebra import READS, SEES_IDENTITY
from autograph.transforms.rewrite import EFFECTS, has_effect, is_mutable, traits

__all__ = ["Memory"]


def _is_array(t: Type) -> bool:
    """Whether all that can be written in a value is an array that it is."""
    if isinstance(t, Union):
        return all(isinstance(m, Array) or not is_mutable(m) for m in t.members)
    return isinstance(t, Array)


class Memory:
    """The memory of one graph. `version` tells how often what a class holds may have changed by now."""

    OUTSIDE = 0

    def __init__(self, graph: Graph) -> None:
        self._parent: dict[int, int] = {}
        self._users: dict[int, list[Operation]] = {}
        self._passed: set[int] = set()  # what goes into or out of bodies and calls
        self._private: dict[int, bool] = {}
        self._touched: dict[int, set[int]] = {}
        self.written: set[int] = set()
        self.sees_values = False  # the identity of numbers and texts is looked at
        writes: list[int] = []
        for param in graph.params:
            self._unite([param], None)
        self._pass(graph.body.results)
        for operation in region_operations(graph.body):
            if operation.op is None:
                self._structure(operation, writes)
            else:
                self._plain(operation, writes)
        self.written = {self.find(w) for w in writes}

    # -- classes ---------------------------------------------------------------------------------------------

    def find(self, key: int) -> int:
        """The class of a tensor, by its id."""
        parent = self._parent.get(key, key)
        if parent == key:
            return key
        root = self._parent[key] = self.find(parent)
        return root

    def _unite(self, tensors: list[Tensor], other: Tensor | None) -> None:
        """With another tensor, or with OUTSIDE."""
        target = self.find(self.OUTSIDE if other is None else id(other))
        for t in tensors:
            root = self.find(id(t))
            if root == target:
                continue
            if root == self.OUTSIDE:
                root, target = target, root
            self._parent[root] = target

    def _mutable(self, tree: Any) -> list[Tensor]:
        return [t for t in leaves(tree) if isinstance(t, Tensor) and is_mutable(t._ag_type)]

    def _pass(self, tree: Any) -> list[Tensor]:
        found = self._mutable(tree) if tree else []
        self._passed.update(map(id, found))
        return found

    def _structure(self, operation: Operation, writes: list[int]) -> None:
        name, outputs = operation.name, operation.outputs
        if name == "call":
            writes.append(self.OUTSIDE)
            self._unite(self._pass(operation.args) + self._mutable(outputs), None)
        if name == "try":
            for region in operation.regions:
                self._unite(self._mutable(region.params), None)
        for region in operation.regions:
            self._pass(region.results)
            results = region.results or ()
            if name == "while_loop" and region is operation.regions[0]:
                results = results[1:]
            for output, result in zip(outputs, results):
                self._join(output, result)
        if name == "while_loop":
            self._pass(operation.args)
            test, body = operation.regions
            for i, output in enumerate(outputs):
                for other in (operation.args[i], test.params[i], body.params[i]):
                    self._join(output, other)

    def _join(self, output: Tensor, tree: Any) -> None:
        if is_mutable(output._ag_type):
            self._unite(self._mutable(tree), output if _is_array(output._ag_type) else None)
            if not _is_array(output._ag_type):
                self._unite([output], None)

    def _plain(self, operation: Operation, writes: list[int]) -> None:
        op = operation.op
        found = operation.inputs
        inputs = [t for t in found if is_mutable(t._ag_type)]
        if not operation.outputs:  # it raises, and what it raises goes out
            self._unite(self._pass((operation.args, operation.kwargs)), None)
            return
        output = operation.outputs[0]
        if op in SEES_IDENTITY and len(inputs) < len(found) and not any(map(_is_single, operation.args)):
            self.sees_values = True
        made = is_mutable(output._ag_type)
        if not inputs and not made:
            if has_effect(operation):
                writes.append(self.OUTSIDE)
            return
        for t in inputs:
            self._users.setdefault(id(t), []).append(operation)
        effects = traits(operation)
        if is_strange(operation, effects, inputs):
            self._unite([*inputs, output] if made else inputs, None)
            if effects & EFFECTS and op not in READS:
                writes.append(self.OUTSIDE)
            return
        if made and "view" in effects:
            self._unite(inputs, output)
        if "writes" in effects:
            writes += map(id, written(operation, inputs))

    # -- questions -------------------------------------------------------------------------------------------

    def touched(self, operation: Operation) -> set[int]:
        """The classes that an operation, with its bodies, may write."""
        key = id(operation)
        known = self._touched.get(key)
        if known is None:
            known = self._touched[key] = set()
            self._find_touched(operation, known)
        return known

    def _find_touched(self, operation: Operation, found: set[int]) -> None:
        op = operation.op
        if op is None:
            if operation.name == "call":
                found.add(self.find(self.OUTSIDE))
            for region in operation.regions:
                for inner in region.ops:
                    if inner.regions:
                        found |= self.touched(inner)
                    else:
                        self._find_touched(inner, found)
            return
        if op in READS or not has_effect(operation):
            return
        inputs = [t for t in operation.inputs if is_mutable(t._ag_type)]
        if is_strange(operation, traits(operation), inputs):
            found.add(self.find(self.OUTSIDE))
        else:
            found.update(self.find(id(t)) for t in written(operation, inputs))

    def private(self, tensor: Tensor) -> bool:
        """Whether nobody can tell the object from an equal one that shares its memory.

        It is neither passed on nor kept: it is only computed with, read, and written.
        """
        key = id(tensor)
        known = self._private.get(key)
        if known is None:
            self._private[key] = False
            known = self._private[key] = key not in self._passed and all(
                self._only_reads(user) for user in self._users.get(key, ())
            )
        return known

    def _only_reads(self, user: Operation) -> bool:
        effects = traits(user)
        inputs = [t for t in user.inputs if is_mutable(t._ag_type)]
        if user.op in SEES_IDENTITY or is_strange(user, effects, inputs):
            return False
        output = user.outputs[0]
        return "view" not in effects or not is_mutable(output._ag_type) or self.private(output)


def _is_single(constant: Any) -> bool:
    """Whether there is no second object that equals this constant."""
    return constant is None or constant is ... or isinstance(constant, (bool, type))


def is_strange(operation: Operation, effects: frozenset[str], inputs: list[Tensor]) -> bool:
    """Whether an operation does more with what can be written than to compute with arrays."""
    if "host" in effects or "effect" in effects:
        return True
    output = operation.outputs[0]._ag_type
    return (is_mutable(output) and not _is_array(output)) or not all(_is_array(t._ag_type) for t in inputs)


def written(operation: Operation, inputs: list[Tensor]) -> list[Tensor]:
    """What an operation that writes arrays writes: what it is given for its results, or its first operand."""
    given = operation.op.given(operation.args, operation.kwargs)
    if given is not None:
        return [t for t in leaves(given) if isinstance(t, Tensor)]
    first = operation.args[0] if operation.args else None
    return inputs if operation.kwargs or not isinstance(first, Tensor) else [first]
