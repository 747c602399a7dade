"""Finds loops whose turns are independent: in whatever order they run, the results are the same.

In `for y in range(n): ...; out[y, x] = v` each turn writes a row of its own, and reads nothing that another
one writes. What a turn leaves in variables must be made anew in each turn; all that it writes of an array,
and reads of it, must be at one index of one axis, which is a line over the counter, `a * y + b`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograph.compiler import totals, unions
from autograph.compiler.elementwise import ELEMENT, UFUNC_OF
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import array_type
from autograph.graph.graph import Operation, Region, Tensor, region_operations
from autograph.graph.tree import leaves
from autograph.graph.types import Array, Const, Py, Scalar, TupleT, Type

DEPTH = 6
"""Sums and products in an index, at most."""
FAR = 1 << 30
"""Factors of a line stay below."""
SHAPES = frozenset({"len", "ndarray.shape", "ndarray.ndim", "ndarray.size"})
"""Operations that look at no element of an array."""
Terms = tuple[tuple[int, int], ...]


class Line(NamedTuple):
    """An integer of a turn: factor * counter + the sum of fixed integers, each with a factor, + offset."""

    factor: int
    terms: Terms  # by the ids of the tensors
    offset: int


class Place(NamedTuple):
    """Where an array of a turn lies: in the array with this id, at an index of an axis of it, or anywhere."""

    base: int
    axis: int = -1
    line: Line | None = None


class Turns(NamedTuple):
    """What is to be known of a loop whose turns are independent."""

    counter: int  # its position among what the loop carries
    totals: tuple[int, ...]  # the positions of integers that turns add to
    last: bool  # what the last turn leaves in variables is used later
    lines: tuple[Line, ...]  # the indices at which turns write: in no two turns may they mean one element
    fixed: dict[int, Tensor]  # the tensors of their terms
    reads: bool  # turns read what they write
    seen: bool  # what is written can be seen where the function raises


class _Dependent(Exception):
    """Turns depend on each other, or it is not known that they do not."""


def turns(f: FunctionLowering, operation: Operation) -> Turns | None:
    """What is to be known of a loop whose turns are independent; None for other loops."""
    counter = _counter(f, operation)
    if counter is None:
        return None
    try:
        return _Loop(f, operation, counter).examine()
    except _Dependent:
        return None


def _counter(f: FunctionLowering, operation: Operation) -> int | None:
    """The position of the counter of a loop that runs while this is less than a number from outside."""
    head, turn = operation.regions
    if not head.results or turn.results is None or len(head.ops) != 1 or head.ops[0].name != "lt":
        return None
    test = head.ops[0]
    if head.results[0] is not test.outputs[0] or any(test.args[1] is p for p in head.params):
        return None
    if any(r is not p for r, p in zip(head.results[1:], head.params)):
        return None
    for i, param in enumerate(head.params):
        if test.args[0] is param and id(param) in f.counters and param._ag_type == Py(int):
            return i
    return None


class _Loop:
    """A loop while it is looked at."""

    def __init__(self, f: FunctionLowering, operation: Operation, counter: int) -> None:
        self.f, self.operation, self.counter = f, operation, counter
        self.head, self.turn = operation.regions
        self.inside: set[int] = set()  # the tensors that a turn makes, its counter among them
        self.fixed: dict[int, Tensor] = {}
        self.places: dict[int, Place] = {}  # of the views that a turn makes
        self.bases: dict[int, Tensor] = {}
        self.same: dict[int, Any] = {}  # parameters that stand for a value from outside
        self.written: list[Place] = []
        self.read: list[Place] = []

    def examine(self) -> Turns:
        f, operation, turn = self.f, self.operation, self.turn
        last, sums = False, []
        assert turn.results is not None
        for i, param in enumerate(turn.params):
            if i == self.counter:
                continue
            if turn.results[i] is param:
                self.same[id(param)] = operation.args[i]
            elif f.uses.get(id(param)):
                if not totals.is_total(f, operation, i):
                    raise _Dependent
                sums.append(i)
                self.inside.add(id(param))
            else:
                last = last or bool(f.uses.get(id(operation.outputs[i])))
        self.inside.add(id(turn.params[self.counter]))
        self._region(turn, raises=False)
        lines, seen, reads = self._conflicts()
        fixed = {key: self.fixed[key] for line in lines for key, _ in line.terms}
        return Turns(self.counter, tuple(sums), last, lines, fixed, reads, seen)

    # -- what a turn does ------------------------------------------------------------------------------------

    def _region(self, region: Region, raises: bool) -> None:
        """`raises`: the end of the region is not reached, and all it does is left to the loop in order."""
        for operation in region.ops:
            self.inside |= {id(t) for t in operation.outputs}
            if operation.name == "cond":
                self._cond(operation, raises)
            elif operation.name == "while_loop":
                self._inner(operation, raises)
            else:
                self._op(operation, raises)

    def _cond(self, operation: Operation, raises: bool) -> None:
        self._plain(operation.outputs)
        for region in operation.regions:
            self._region(region, raises or region.results is None)

    def _inner(self, operation: Operation, raises: bool) -> None:
        head, turn = operation.regions
        for i, param in enumerate(head.params):
            results = [(r.results or (None,) * (k + 1))[k] for r, k in ((head, i + 1), (turn, i))]
            if results[0] is param and results[1] is turn.params[i]:
                self.same |= {id(t): operation.args[i] for t in (param, turn.params[i], operation.outputs[i])}
            else:
                self._plain([param, turn.params[i], operation.outputs[i]])
                self.inside |= {id(param), id(turn.params[i])}
        for region in operation.regions:
            self._region(region, raises)

    def _plain(self, tensors: list[Tensor]) -> None:
        """Values that are joined may not be arrays, or objects."""
        if not all(unions.is_number_type(t._ag_type) or isinstance(t._ag_type, Const) for t in tensors):
            raise _Dependent

    def _op(self, operation: Operation, raises: bool) -> None:
        if operation.op is None:  # `try`, `call`
            raise _Dependent
        effects = operation.op.effects(operation.args, operation.kwargs)
        if operation.name in SHAPES:
            return
        target = operation.args[0] if operation.args else None
        others = [t for t in leaves((operation.args[1:], operation.kwargs)) if isinstance(t, Tensor)]
        arrays = [t for t in operation.inputs if array_type(t._ag_type) is not None]
        writes = isinstance(target, Tensor) and not unions.is_number_type(target._ag_type)
        if writes and "writes" in effects:
            self._write(operation, raises)
            arrays = [t for t in others if array_type(t._ag_type) is not None]
        elif "writes" in effects and (operation.name[1:] not in UFUNC_OF or operation.kwargs):
            raise _Dependent
        if not raises and effects & {"host", "effect"}:
            raise _Dependent
        if not raises and not all(_is_simple(t._ag_type) for t in (*operation.inputs, *operation.outputs)):
            raise _Dependent
        if operation.name == "get_item" and arrays and arrays[0] is target:
            self._item(operation)
            arrays = [t for t in others if array_type(t._ag_type) is not None]
        elif not (raises or is_elementwise(operation) or (writes and "writes" in effects)) and any(
            isinstance(t._ag_type, Array) for t in operation.outputs
        ):
            raise _Dependent  # it would be a new object for Python
        self.read += map(self._place, arrays)
        if any(
            isinstance(leaf, np.ndarray) for leaf in map(_known, leaves((operation.args, operation.kwargs)))
        ):
            self.read.append(Place(self.f.roots.OUTSIDE))

    def _write(self, operation: Operation, raises: bool) -> None:
        target = operation.args[0]
        if raises or operation.kwargs or array_type(target._ag_type) is None:
            raise _Dependent
        if operation.name == "set_item":
            self.written.append(self._at(target, operation.args[1]))
            return
        if operation.name[:1] != "i" or operation.name[1:] not in UFUNC_OF:
            raise _Dependent
        place = self._place(target)
        self.written.append(place)
        self.read.append(place)
        self.places[id(operation.outputs[0])] = place

    def _item(self, operation: Operation) -> None:
        place = self._at(operation.args[0], operation.args[1])
        out = operation.outputs[0]
        if unions.is_number_type(out._ag_type):
            self.read.append(place)
        else:  # it is read, or written, where it is used
            self.places[id(out)] = place

    def _outer(self, tensor: Any) -> Any:
        """The value from outside that a parameter stands for."""
        while isinstance(tensor, Tensor) and id(tensor) in self.same:
            tensor = self.same[id(tensor)]
        return tensor

    def _place(self, tensor: Tensor) -> Place:
        tensor = self._outer(tensor)
        if not isinstance(tensor, Tensor) or isinstance(tensor._ag_type, Const):
            return Place(self.f.roots.OUTSIDE)
        self.bases.setdefault(id(tensor), tensor)
        return self.places.get(id(tensor), Place(id(tensor)))

    def _at(self, tensor: Tensor, index: Any) -> Place:
        """The part of an array that an index picks; of a view that the turn made, that is all of the view."""
        place = self._place(tensor)
        if place.line is not None or place.base in self.inside or id(self._outer(tensor)) in self.places:
            return place
        for axis, part in enumerate(index if isinstance(index, tuple) else (index,)):
            if isinstance(part, slice):
                continue
            if not isinstance(part, int) and not (isinstance(part, Tensor) and _is_integer(part._ag_type)):
                break
            line = self._line(part, 0)
            if line is not None and line.factor:
                return Place(place.base, axis, line)
        return place

    # -- lines -----------------------------------------------------------------------------------------------

    def _line(self, leaf: Any, depth: int) -> Line | None:
        """An integer of Python as a line over the counter."""
        leaf = _known(self._outer(leaf))
        if not isinstance(leaf, Tensor):
            return Line(0, (), leaf) if type(leaf) is int and abs(leaf) < FAR else None
        if leaf._ag_type != Py(int) or depth > DEPTH:
            return None
        if leaf is self.turn.params[self.counter]:
            return Line(1, (), 0)
        if id(leaf) not in self.inside:
            self.fixed[id(leaf)] = leaf
            return Line(0, ((id(leaf), 1),), 0)
        operation = leaf._ag_op
        if operation is None or operation.kwargs or operation.outputs[0] is not leaf:
            return None
        name = (
            operation.name.removeprefix("i") if operation.name in ("iadd", "isub", "imul") else operation.name
        )
        if name == "neg":
            return _times(self._line(operation.args[0], depth + 1), -1)
        if name == "range_item":
            index, start, step = (self._line(arg, depth + 1) for arg in operation.args)
            return _sum(start, _product(index, step))
        if name not in ("add", "sub", "mul"):
            return None
        x, y = (self._line(arg, depth + 1) for arg in operation.args)
        if name == "mul":
            return _product(x, y)
        return _sum(x, y if name == "add" else _times(y, -1))

    # -- conflicts -------------------------------------------------------------------------------------------

    def _conflicts(self) -> tuple[tuple[Line, ...], bool, bool]:
        """The lines of what is written; whether it is seen where the function raises; whether it is read."""
        f = self.f
        written: dict[int, Place] = {}
        for place in self.written:
            if place.line is None or written.setdefault(place.base, place) != place:
                raise _Dependent
        seen, reads = f.targets != ["error"], False
        for base, place in written.items():
            own = _private(f, self.bases.get(base), self.operation)
            if own is None and not _is_argument(f, self.bases.get(base)):
                raise _Dependent
            seen = seen or own is None
            for other in (*self.read, *written.values()):
                if other.base == base:
                    if other != place:
                        raise _Dependent
                elif other.base in own if own is not None else self._may_meet(base, other.base):
                    raise _Dependent
            reads = reads or any(other.base == base for other in self.read)
        return tuple(dict.fromkeys(p.line for p in written.values() if p.line is not None)), seen, reads

    def _may_meet(self, a: int, b: int) -> bool:
        roots = self.f.roots
        return self.f.may_alias(roots.find(a), roots.find(b))


def is_elementwise(operation: Operation) -> bool:
    """Whether an array that an operation makes is a view, or computed where it is written."""
    name = operation.name
    return name == "get_item" or name in UFUNC_OF or (name.startswith("np.") and name[3:] in ELEMENT)


def _known(leaf: Any) -> Any:
    """A leaf, or the constant that it stands for."""
    return leaf._ag_type.value if isinstance(leaf, Tensor) and isinstance(leaf._ag_type, Const) else leaf


def _private(f: FunctionLowering, base: Tensor | None, loop: Operation) -> set[int] | None:
    """The ids of an array and its views, if the function made it and nobody else knows it in a loop."""
    made = None if base is None else base._ag_op
    if base is None or made is None or made.op is None or array_type(base._ag_type) is None:
        return None
    if made.op.effects(made.args, made.kwargs) & {"view", "writes", "host", "effect"}:
        return None
    own = {id(base)}
    for operation in _until(f.graph.body, loop):
        results = [leaf for region in operation.regions for leaf in leaves(region.results or ())]
        used = any(id(t) in own for t in operation.inputs)
        if any(id(leaf) in own for leaf in results) or (used and not _keeps_private(operation)):
            return None
        if (
            used
            and operation.op is not None
            and "view" in operation.op.effects(operation.args, operation.kwargs)
        ):
            own |= {id(t) for t in operation.outputs if array_type(t._ag_type) is not None}
    return own


def _keeps_private(operation: Operation) -> bool:
    """Whether an operation on an array gives it to nobody: its results are numbers, or arrays."""
    if operation.op is None:
        return False
    if operation.name in SHAPES:
        return True
    effects = operation.op.effects(operation.args, operation.kwargs)
    target = operation.args[0] if operation.args else None
    in_array = isinstance(target, Tensor) and array_type(target._ag_type) is not None
    if effects & {"host", "effect"} or ("writes" in effects and not in_array):
        return False
    return all(
        isinstance(t._ag_type, Const)
        or unions.is_number_type(t._ag_type)
        or array_type(t._ag_type) is not None
        for t in operation.outputs
    )


def _until(region: Region, loop: Operation) -> list[Operation]:
    """The operations of a region, in order, up to a loop and what is in it."""
    operations = list(region_operations(region))
    at = next(i for i, operation in enumerate(operations) if operation is loop)
    return operations[: at + 1 + sum(len(list(region_operations(r))) for r in loop.regions)]


def _is_argument(f: FunctionLowering, base: Tensor | None) -> bool:
    """Whether an array is an argument of the whole: where such are written, their elements lie apart."""
    graph = f.compilation.graph
    return f.graph is graph and not f.compilation.is_called(graph) and any(base is p for p in graph.params)


def _is_simple(t: Type) -> bool:
    """Whether values of a type are numbers, arrays, constants, or tuples of them."""
    if isinstance(t, TupleT):
        return all(map(_is_simple, t.items))
    return isinstance(t, Const) or unions.is_number_type(t) or array_type(t) is not None


def _is_integer(t: Type) -> bool:
    return t == Py(int) or (isinstance(t, Scalar) and t.dtype.kind in "iu")


def _sum(x: Line | None, y: Line | None) -> Line | None:
    if x is None or y is None:
        return None
    terms = dict(x.terms)
    for key, factor in y.terms:
        terms[key] = terms.get(key, 0) + factor
    left = tuple(sorted((key, factor) for key, factor in terms.items() if factor))
    return _near(Line(x.factor + y.factor, left, x.offset + y.offset))


def _times(x: Line | None, factor: int) -> Line | None:
    if x is None or factor == 0:
        return None
    terms = tuple((key, k * factor) for key, k in x.terms)
    return _near(Line(x.factor * factor, terms, x.offset * factor))


def _product(x: Line | None, y: Line | None) -> Line | None:
    for one, other in ((x, y), (y, x)):
        if one is not None and not one.factor and not one.terms:
            return _times(other, one.offset)
    return None


def _near(line: Line) -> Line | None:
    numbers = (line.factor, line.offset, *(factor for _, factor in line.terms))
    return line if all(abs(n) < FAR for n in numbers) else None
