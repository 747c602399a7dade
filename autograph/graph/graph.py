"""The graph: tensors (edges), operations (nodes), regions (nested bodies) and graphs (functions)."""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograph.errors import Location
from autograph.graph.tree import NESTED, leaves
from autograph.graph.types import Type
from autograph.records import replace
from autograph.tracebacks import Spot

FINDERS: list[Callable[[str], Any]] = []
"""Functions that give the op of a name, or None; those who declare ops add theirs: the graph knows no ops."""


class Place:
    """Where in the user's source an operation comes from; resolved to a `Location` only when asked for.

    `caller` is the place of the call that the code stands in, where that call is a part of the same graph.
    """

    __slots__ = ("caller", "code", "lasti", "line")

    def __init__(self, code: types.CodeType, lasti: int, line: int, caller: Place | None = None) -> None:
        self.code, self.lasti, self.line, self.caller = code, lasti, line, caller

    def spot(self) -> Spot:
        """The place as a traceback shows it."""
        end_line, column, end_column = self.line, -1, -1
        if hasattr(self.code, "co_positions") and self.lasti >= 0:
            for line, end, start, stop in itertools.islice(self.code.co_positions(), self.lasti // 2, None):
                if line == self.line and None not in (end, start, stop):
                    end_line, column, end_column = end, start, stop
                break
        return Spot(self.code.co_filename, self.code.co_name, self.line, end_line, column, end_column)

    def spots(self) -> Iterator[Spot]:
        """The place and those of the calls around it, the innermost first."""
        place: Place | None = self
        while place is not None:
            yield place.spot()
            place = place.caller

    def location(self) -> Location:
        spot = self.spot()
        location = Location(spot.filename, spot.line, function=spot.function)
        if spot.column < 0:
            return location
        text = location.source_line().encode()
        start = len(text[: spot.column].decode(errors="ignore"))
        # A construct of several lines is underlined on its first one only.
        stop = spot.end_column if spot.end_line == spot.line else len(text.rstrip())
        end = len(text[:stop].decode(errors="ignore"))
        return replace(location, column=start, end_column=end)

    def __repr__(self) -> str:
        return f"{self.code.co_filename}:{self.line}"


class Tensor:
    """An edge of a graph: the result of an operation, or a parameter of a region.

    While a function is traced, tensors stand for the values; Python's and NumPy's protocols on them are
    answered by the operators, which register themselves in `Tensor.dispatch`.
    """

    __slots__ = ("__weakref__", "_ag_graph", "_ag_name", "_ag_op", "_ag_region", "_ag_type")
    dispatch: Callable[..., Any]
    _ag_type: Type
    _ag_graph: Graph
    _ag_op: Operation | None
    _ag_region: Region | None
    _ag_name: str

    def __init__(self, type_: Type, graph: Graph, op: Operation | None = None, name: str = "") -> None:
        object.__setattr__(self, "_ag_type", type_)
        object.__setattr__(self, "_ag_graph", graph)
        object.__setattr__(self, "_ag_op", op)
        object.__setattr__(self, "_ag_region", None)
        object.__setattr__(self, "_ag_name", name)

    def __repr__(self) -> str:
        return f"<tensor {self._ag_name or '?'}: {self._ag_type!r}>"

    __hash__ = object.__hash__


class Region:
    """A nested body: parameters, operations in program order, results (None: its end is not reached)."""

    def __init__(
        self,
        graph: Graph,
        results: tuple[Any, ...] | None = (),
        parent: Region | None = None,
    ) -> None:
        self.graph, self.results, self.parent = graph, results, parent
        self.params: list[Tensor] = []
        self.ops: list[Operation] = []
        # while a loop is traced: its key, and whether it may be unrolled instead
        self.loop: Any = None


class Operation:
    """A node: its op's name, argument trees (of tensors and constants), results, bodies, and place.

    `op` is the `ops.base.Op`; None for cond, while_loop, try, call.
    """

    def __init__(
        self,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: list[Tensor],
        regions: tuple[Region, ...] = (),
        callee: Graph | None = None,
        place: Place | None = None,
        op: Any = None,
    ) -> None:
        self.name, self.args, self.kwargs, self.outputs = name, args, kwargs, outputs
        self.regions, self.callee, self.place, self.op = regions, callee, place, op

    @property
    def inputs(self) -> list[Tensor]:
        found: list[Tensor] = []
        for arg in (*self.args, *self.kwargs.values()) if self.kwargs else self.args:
            if type(arg) is Tensor:
                found.append(arg)
            elif isinstance(arg, NESTED):
                found += [leaf for leaf in leaves(arg) if isinstance(leaf, Tensor)]
        return found


class Graph:
    """A captured function: parameters, body, one result (a tree of tensors and constants)."""

    def __init__(
        self,
        name: str,
        place: Place | None = None,
        result_type: Type | None = None,
        host: bool = False,
        native_reason: str = "",
    ) -> None:
        self.name, self.place, self.result_type = name, place, result_type
        self.body = Region(self)
        self.captures: list[tuple[Tensor, Tensor]] = []
        self.host = host  # host code runs in it: what it reads from places is checked at run time
        self.code: Any = None  # what a runtime made of it; kept here, so that it goes with the graph
        self.native: Any = None  # the same, by the compiler: machine code for each kind of arguments
        self.native_reason = native_reason  # why the compiler declined it
        self.optimised: Any = None  # what the passes made of it

    @property
    def params(self) -> list[Tensor]:
        return self.body.params

    @property
    def result(self) -> Any:
        return self.body.results[0] if self.body.results else None

    def operations(self) -> Iterator[Operation]:
        """All operations of this graph and of the graphs that it calls, nested bodies included, each once."""
        seen: set[int] = set()
        todo: list[Graph] = [self]
        while todo:
            graph = todo.pop(0)
            if id(graph) in seen:
                continue
            seen.add(id(graph))
            for operation in region_operations(graph.body):
                yield operation
                if operation.callee is not None:
                    todo.append(operation.callee)

    def functions(self) -> list[Graph]:
        """This graph, then all graphs that it calls, directly or not, in order of first call."""
        found: list[Graph] = [self]
        for graph in found:
            _callees(graph.body, found)
        return found

    def op_types(self) -> collections.Counter[str]:
        """How often each op stands in the graph, over all nested bodies and called graphs."""
        return collections.Counter(operation.name for operation in self.operations())

    def __str__(self) -> str:
        from autograph.graph.text import to_text

        return to_text(self)

    def __repr__(self) -> str:
        return f"<graph {self.name}: {sum(1 for _ in region_operations(self.body))} operations>"


def region_operations(region: Region) -> Iterator[Operation]:
    """The operations of a region and of the regions inside it, in program order."""
    found: list[Operation] = []
    _operations(region, found)
    return iter(found)


def _operations(region: Region, found: list[Operation]) -> None:
    for operation in region.ops:
        found.append(operation)
        for nested in operation.regions:
            _operations(nested, found)


def _callees(region: Region, found: list[Graph]) -> None:
    """Adds the graphs that a region calls to those found."""
    for operation in region.ops:
        if operation.callee is not None and operation.callee not in found:
            found.append(operation.callee)
        for nested in operation.regions:
            _callees(nested, found)
