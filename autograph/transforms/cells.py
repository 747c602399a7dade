"""Cells that nobody but their own function sees become values, which loops carry and branches give.

A variable that closures share, or that the consumer of a generator rebinds, is a cell. This is the promotion
of memory to registers, on structured control flow (as in Cytron et al., "Efficiently Computing Static Single
Assignment Form", 1991).
"""

from __future__ import annotations

from typing import Any

from autograph.graph.check import type_of_value
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.tree import leaves
from autograph.graph.types import UNBOUND, Array, Const, Py, Scalar, Type, join, members
from autograph.ops import core
from autograph.transforms.rewrite import Changes, Copier, copy_with, is_simple

__all__ = ["cells"]

USES = frozenset({"cell_get", "cell_peek", "cell_set"})


def cells(graph: Graph) -> Graph:
    """Replaces cells by what they hold.

    >>> from autograph.graph.parse import parse_text
    >>> graph = parse_text('''
    ... graph f(n: int) -> int
    ...   c: cell#1 = cell(0, cell#1)
    ...   i: int = while_loop(0)
    ...     test (i_1: int)
    ...       t1: bool = lt(i_1, n)
    ...       yield t1, i_1
    ...     body (i_2: int)
    ...       t2: int = cell_peek(c)
    ...       t3: int = add(t2, i_2)
    ...       cell_set(c, t3)
    ...       i_3: int = add(i_2, 1)
    ...       yield i_3
    ...   t4: int = cell_peek(c)
    ...   return t4
    ... where
    ...   cell#1: cell of int
    ... ''')
    >>> print(cells(graph))
    graph f(n: int) -> int
      i: int, c: int = while_loop(0, 0)
        test (i_1: int, c_1: int)
          t1: bool = lt(i_1, n)
          yield t1, i_1, c_1
        body (i_2: int, c_2: int)
          t3: int = add(c_2, i_2)
          i_3: int = add(i_2, 1)
          yield i_3, t3
      return c
    """
    found: dict[int, Tensor] = {}
    for function in graph.functions():
        found |= _local_cells(function)
    return copy_with(_Promoter, graph, found) if found else graph


def _local_cells(graph: Graph) -> dict[int, Tensor]:
    """The cells of a function that are only read and set, in its body and in the loops and branches in it."""
    made: dict[int, tuple[Tensor, tuple[Region, ...]]] = {}
    lost: set[int] = set()

    def carried(value: Any) -> bool:
        """Whether loops may carry a value: a number, a text, None, or an array."""
        return all(
            m is UNBOUND
            or isinstance(m, (Py, Scalar, Array))
            or (isinstance(m, Const) and is_simple(m.value))
            for m in members(type_of_value(value))
        )

    def walk(region: Region, barriers: tuple[Region, ...]) -> None:
        for operation in region.ops:
            for position, arg in enumerate((*operation.args, *operation.kwargs.values())):
                for leaf in leaves(arg):
                    key = id(leaf)
                    if key not in made:
                        continue
                    plain = position == 0 and operation.name in USES and barriers == made[key][1]
                    if not plain or (operation.name == "cell_set" and not carried(operation.args[1])):
                        lost.add(key)
            if operation.name == "cell" and carried(operation.args[0]):
                made[id(operation.outputs[0])] = operation.outputs[0], barriers
            inside = operation.regions
            if operation.name not in ("cond", "while_loop"):
                for inner in inside:
                    walk(inner, (*barriers, inner))
            else:
                for inner in inside:
                    walk(inner, barriers)
        lost.update(id(leaf) for leaf in leaves(region.results or ()) if id(leaf) in made)

    walk(graph.body, ())
    lost.update(id(outer) for function in graph.functions() for outer, _ in function.captures)
    return {key: tensor for key, (tensor, _) in made.items() if key not in lost}


class _Promoter(Copier):
    """Copies a graph without some of its cells."""

    def __init__(self, copies: dict[int, Graph], graph: Graph, found: dict[int, Tensor]) -> None:
        super().__init__(copies, Changes(), graph)
        self.found = found
        self.held: dict[int, Any] = {}  # by cell: what it holds here
        self._set: dict[int, dict[int, list[Type]]] = {}

    def copy(self, operation: Operation, out: list[Operation]) -> None:
        cell = id(operation.args[0]) if operation.args and operation.name in USES else None
        if operation.name == "cell" and id(operation.outputs[0]) in self.found:
            self.held[id(operation.outputs[0])] = self.leaf(operation.args[0])
        elif cell not in self.found:
            written = self.set_in(operation) if operation.name in ("cond", "while_loop") else {}
            if written:
                self.around(operation, list(written), out)
            else:
                super().copy(operation, out)
        elif operation.name == "cell_set":
            self.held[cell] = self.leaf(operation.args[1])
        else:
            value = self.held[cell]
            types = members(type_of_value(value))
            if operation.name == "cell_get" and UNBOUND in types:
                check = Operation(
                    "check_bound", (value, *operation.args[1:]), {}, [], place=self.place(operation.place),
                    op=core.CHECK_BOUND,
                )  # fmt: skip
                check.outputs = self.tensors(operation.outputs, check)
                out.append(check)
            else:
                self.env[id(operation.outputs[0])] = value

    def set_in(self, operation: Operation) -> dict[int, list[Type]]:
        """The cells made outside of an operation that its bodies set, with the types of those values."""
        known = self._set.get(id(operation))
        if known is not None:
            return known
        known = self._set[id(operation)] = {}
        inside: set[int] = set()
        for region in operation.regions:
            for inner in region.ops:
                if inner.name == "cell":
                    inside.add(id(inner.outputs[0]))
                elif inner.name == "cell_set" and id(inner.args[0]) in self.found:
                    known.setdefault(id(inner.args[0]), []).append(type_of_value(inner.args[1]))
                for key, types in self.set_in(inner).items() if inner.regions else ():
                    known.setdefault(key, []).extend(types)
        for key in inside & set(known):
            del known[key]
        return known

    def around(self, operation: Operation, written: list[int], out: list[Operation]) -> None:
        """A loop or a cond that carries or gives what the cells hold that are set in it."""
        before = dict(self.held)
        loop = operation.name == "while_loop"
        kinds = [join(type_of_value(before[key]), *self.set_in(operation)[key]) for key in written]
        args = self.tree(operation.args)
        if loop:
            args = (*args, *(before[key] for key in written))
        new = Operation(
            operation.name, args, {}, [], (), None, self.place(operation.place), operation.op
        )  # fmt: skip
        regions = []
        for source in operation.regions:
            region = Region(self.graph)
            region.params = self.tensors(source.params)
            self.held = dict(before)
            if loop:
                for key, t in zip(written, kinds):
                    param = Tensor(t, self.graph, None, self.found[key]._ag_name)
                    region.params.append(param)
                    self.held[key] = param
            self.fill(region, source)
            if region.results is not None:
                region.results = (*region.results, *(self.held[key] for key in written))
            regions.append(region)
        new.regions = tuple(regions)
        new.outputs = self.tensors(operation.outputs, new)
        self.held = before
        for key, t in zip(written, kinds):
            output = Tensor(t, self.graph, new, self.found[key]._ag_name)
            new.outputs.append(output)
            self.held[key] = output
        out.append(new)
