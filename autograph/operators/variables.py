"""Names: unbound ones, boxes shared with closures and handlers, and names from outside the function."""

from __future__ import annotations

import builtins
import types
from collections.abc import Hashable
from typing import Any

from autograph.errors import StagingError
from autograph.graph.graph import Tensor
from autograph.graph.types import BOTTOM, UNBOUND, Cell, Const, Unbound, join, members
from autograph.operators.external import external_type, is_static, signature
from autograph.operators.tracer import Trace, Variable, current, emit, pack, vtype
from autograph.ops import core

Undefined = Unbound
"""The value of a name before it is bound."""


def check(value: Any, name: str, free: bool = False) -> Any:
    """A read of a name that may be unbound."""
    if isinstance(value, Unbound):
        if current() is None:
            raise core.unbound_error(name, free)
        return emit(core.CHECK_BOUND, value, name, free)
    if isinstance(value, Tensor) and UNBOUND in members(value._ag_type):
        bound = join(*(m for m in members(value._ag_type) if m is not UNBOUND))
        return emit(core.CHECK_BOUND, value, name, free, type_=bound)
    return value


def check_free(value: Any, name: str) -> Any:
    """A read, in a nested function, of a variable of the function around it that may be unbound."""
    return check(value, name, True)


class Box(Variable):
    """A variable shared with a closure, or read by a handler: a place that exists when the graph runs."""

    __slots__ = ("cell", "name")

    def __init__(self, name: str, *value: Any) -> None:
        initial = value[0] if value else Unbound(name)
        self.name = name
        self.owner = trace = current()
        self.key = None
        if trace is None:
            self.cell: Any = Cell(initial)
        else:
            site = trace.decisions.site(trace.key("box " + name), "cell", Cell)
            count = trace.box_counts[site.key] = trace.box_counts.get(site.key, 0) + 1
            self.key = (site.key, count)
            trace.boxes[self.key] = self
            site.widen(vtype(initial))
            self.cell = emit(core.MAKE_CELL, _packed(initial), site)
            object.__setattr__(self.cell, "_ag_name", name)

    @classmethod
    def around(cls, name: str, cell: Any, owner: Trace | None) -> Box:
        """The box of a cell that exists: of a trace, or of none, for a function that outlives it."""
        box = object.__new__(cls)
        box.name, box.cell, box.owner, box.key = name, cell, owner, None
        return box

    def get(self) -> Any:
        if self.owner is None:
            return core._cell_get(self.cell, self.name)
        return emit(core.CELL_GET, self.cell, self.name)

    def get_free(self) -> Any:
        """A read in a nested function."""
        if self.owner is None:
            return core._cell_get(self.cell, self.name, True)
        return emit(core.CELL_GET, self.cell, self.name, True)

    def set(self, value: Any) -> Any:
        if self.owner is None:
            self.cell.value = value
        else:
            kept = _packed(value)
            emit(core.CELL_SET, self.cell, kept)
            if isinstance(kept, Tensor) and UNBOUND in members(kept._ag_type):  # which no rule is told
                for cell in members(vtype(self.cell)):
                    cell.site.widen(UNBOUND)  # type: ignore[attr-defined]
        return value

    def delete(self) -> None:
        self.get()
        self.set(Unbound(self.name))


def _packed(value: Any) -> Any:
    return value if isinstance(value, Unbound) else pack(value)


class Reference:
    """A place outside the function that the graph reads or writes when it runs."""

    key: Hashable

    def get(self) -> Any:
        raise NotImplementedError

    def set(self, value: Any) -> None:
        raise NotImplementedError

    def delete(self) -> None:
        raise NotImplementedError


class GlobalReference(Reference):
    """A module's global name (or a builtin, if the module has none)."""

    def __init__(self, namespace: dict[str, Any], name: str) -> None:
        self.namespace, self.name = namespace, name
        self.key = ("global", id(namespace), name)

    def get(self) -> Any:
        if self.name in self.namespace:
            return self.namespace[self.name]
        if hasattr(builtins, self.name):
            return getattr(builtins, self.name)
        raise NameError(f"name {self.name!r} is not defined", name=self.name)

    def set(self, value: Any) -> None:
        self.namespace[self.name] = value

    def delete(self) -> None:
        if self.name not in self.namespace:
            raise NameError(f"name {self.name!r} is not defined", name=self.name)
        del self.namespace[self.name]

    def __repr__(self) -> str:
        return self.name


class CellReference(Reference):
    """A variable of an enclosing function that was not captured."""

    def __init__(self, cell: types.CellType, name: str) -> None:
        self.cell, self.name = cell, name
        self.key = ("cell", id(cell))

    def get(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            raise core.unbound_error(self.name, free=True) from None

    def set(self, value: Any) -> None:
        self.cell.cell_contents = value

    def delete(self) -> None:
        del self.cell.cell_contents

    def __repr__(self) -> str:
        return self.name


class AttributeReference(Reference):
    """An attribute of an object that existed before the trace (for guards)."""

    def __init__(self, parent: Reference, name: str) -> None:
        self.parent, self.name = parent, name
        self.key = ("attr", parent.key, name)

    def get(self) -> Any:
        return getattr(self.parent.get(), self.name)

    def __repr__(self) -> str:
        return f"{self.parent!r}.{self.name}"


def load(reference: Reference) -> Any:
    """The value of an outside name: a known function, class, module, string, None; else read at run time."""
    trace = current()
    if trace is None:
        return reference.get()
    trace.keep_alive.append(reference)
    written = ("stored", reference.key) in trace.decisions.specialized
    try:
        value = reference.get()
    except NameError:
        if not written:
            return emit(core.LOAD, reference, type_=BOTTOM)
        value = Unbound()
    return read_outside(trace, reference, value)


def read_outside(trace: Trace, reference: Reference, value: Any) -> Any:
    site = trace.decisions.site(reference.key, "outside", Cell)
    if not isinstance(value, Unbound):
        guard(trace, reference, value)
        try:
            t = Const(value) if is_static(value) else external_type(trace, value, reference)
        except StagingError as error:
            error.what = f"'{reference!r}{error.inside}': {error.what}"
            trace.located(error)
            trace.poison = error
            raise
        if ("load", reference.key) in trace.decisions.specialized:
            guard(trace, reference, value, exact=True)
            if ("stored", reference.key) not in trace.decisions.specialized:
                return value
        site.widen(t)
    t = site.read()
    if isinstance(t, Const):
        return t.value
    return emit(core.LOAD, reference, type_=t)


def guard(trace: Trace, reference: Reference, value: Any, exact: bool = False) -> None:
    seen = ("value", value) if exact else signature(value)
    if exact or reference.key not in trace.guards:
        trace.guards[reference.key] = (reference, seen)


def store(reference: Reference, value: Any) -> None:
    """`global name; name = value` (or nonlocal)."""
    trace = current()
    if trace is None:
        reference.set(value)
        return
    site = trace.decisions.site(reference.key, "outside", Cell)
    site.widen(vtype(value))
    if ("stored", reference.key) not in trace.decisions.specialized:
        trace.decisions.specialized.add(("stored", reference.key))
        trace.decisions.change(f"'{reference!r}' is written")
    emit(core.STORE, reference, pack(value))


def delete(reference: Reference) -> None:
    if current() is None:
        reference.delete()
        return
    emit(core.DELETE, reference)
