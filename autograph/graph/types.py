"""Types: what is known of a value before the graph runs.

A type over-approximates a run-time value. The run-time value is always the real Python or NumPy object, so it
is its own tag: a `Union` needs no other. Mutable containers, objects and cells are known by the `Site` that
made them; what a site may hold is a table that only grows.
"""

from __future__ import annotations

import struct
import types
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np

Dim = int | None
Shape = tuple[Dim, ...] | None

MAX_UNION = 20
MAX_TUPLE_DEPTH = 6
NESTED_TUPLES = "tuples nested without bound"


class Type:
    """Base of all types; instances are immutable and hashable."""

    __slots__ = ()


class PlainType(Type):
    """Base of the types that are equal where they are of one class and their parts are equal."""

    __slots__ = ()
    parts: Callable[[Any], Any]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self.parts(self) == self.parts(other))

    def __hash__(self) -> int:
        return hash(self.parts(self))


function_key: Callable[[Any], Hashable] = id
"""What tells two functions apart; those the tracer made of equal code and variables count as one."""


def const_key(value: Any) -> Hashable:
    """What tells two constants apart: exact type and bits of numbers, else equality or identity."""
    cls = type(value)
    if cls is float:
        return (cls, struct.pack("<d", value))
    if cls is complex:
        return (cls, struct.pack("<dd", value.real, value.imag))
    if isinstance(value, np.generic):
        return (cls, value.tobytes(), value.dtype)
    if value is None or cls in (bool, int, str, bytes) or isinstance(value, np.dtype):
        return (cls, value)
    if cls is tuple:
        return (cls, tuple(const_key(item) for item in value))
    if cls is slice:
        return (cls, const_key(value.start), const_key(value.stop), const_key(value.step))
    if cls is range:
        return (cls, value.start, value.stop, value.step)
    if cls is types.FunctionType:
        return (cls, function_key(value))
    return (cls, id(value))


class Const(Type):
    """A value that is known: None, a string, a function, a class, a number, ..."""

    __slots__ = ("_key", "value")
    value: Any

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = const_key(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        value = self.value
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None), np.generic)):
            return f"={value!r}"
        return f"={getattr(value, '__name__', type(value).__name__)}"


class Py(PlainType):
    """An immutable Python object of exactly this class: bool, int, float, complex, str, bytes, slice, ..."""

    __slots__ = ("cls",)
    parts = attrgetter("cls")

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __repr__(self) -> str:
        return self.cls.__name__


class Scalar(PlainType):
    """A NumPy scalar."""

    __slots__ = ("dtype",)
    parts = attrgetter("dtype")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"{self.dtype.name}"


class Array(PlainType):
    """A `numpy.ndarray`: its dtype, and its shape; a dimension may be unknown (None), or all of the shape."""

    __slots__ = ("dtype", "shape")
    parts = attrgetter("dtype", "shape")

    def __init__(self, dtype: np.dtype[Any], shape: Shape) -> None:
        self.dtype, self.shape = dtype, shape

    @property
    def ndim(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def __repr__(self) -> str:
        if self.shape is None:
            return f"{self.dtype.name}[...]"
        return f"{self.dtype.name}[{','.join('?' if d is None else str(d) for d in self.shape)}]"


class TupleT(PlainType):
    """A tuple of known length; `cls` is the named-tuple class, or tuple."""

    __slots__ = ("cls", "depth", "items")
    parts = attrgetter("items", "cls")

    def __init__(self, items: tuple[Type, ...], cls: type = tuple) -> None:
        self.items, self.cls = items, cls
        self.depth: int = 1 + max(map(_depth, items), default=0)

    def __repr__(self) -> str:
        name = "" if self.cls is tuple else self.cls.__name__
        return f"{name}({', '.join(map(repr, self.items))}{',' if len(self.items) == 1 else ''})"


class SeqT(PlainType):
    """A tuple of unknown length."""

    __slots__ = ("depth", "elem")
    parts = attrgetter("elem")

    def __init__(self, elem: Type) -> None:
        self.elem = elem
        self.depth: int = 1 + _depth(elem)

    def __repr__(self) -> str:
        return f"({self.elem!r}, ...)"


class IterT(PlainType):
    """A run-time iterator or view (dict views, iterators) that gives `elem`."""

    __slots__ = ("cls", "elem")
    parts = attrgetter("elem", "cls")

    def __init__(self, elem: Type, cls: type | None = None) -> None:
        self.elem, self.cls = elem, cls

    def __repr__(self) -> str:
        return f"iter[{self.elem!r}]"


class ClosureT(PlainType):
    """A function made when the graph runs: code (`key`, `template`) and the types of what it captured."""

    __slots__ = ("captures", "key", "template")
    parts = attrgetter("key", "captures")

    def __init__(self, key: Hashable, template: Any, captures: tuple[Type, ...]) -> None:
        self.key, self.template, self.captures = key, template, captures

    def __repr__(self) -> str:
        return f"function[{self.template.__name__}]"


MADE: weakref.WeakKeyDictionary[Any, tuple[Hashable, tuple[Any, ...]]] = weakref.WeakKeyDictionary()
"""Of the functions that graphs have made: the key of their type, and what they captured."""


class Host(PlainType):
    """An object that only the host understands: a host call's result, an exception, a view of a dict, ..."""

    __slots__ = ("cls",)
    parts = attrgetter("cls")

    def __init__(self, cls: type | None = None) -> None:
        self.cls = cls

    def __repr__(self) -> str:
        return f"object[{self.cls.__name__}]" if self.cls else "object"


class Singleton(PlainType):
    __slots__ = ("name",)
    parts = attrgetter("name")

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


BOTTOM = Singleton("never")
"""The type of a value that never comes to be: the operation always raises, or is not known yet."""


class Unbound:
    """The run-time and trace-time value of a name that is not bound."""

    __slots__ = ("name",)

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<unbound {self.name}>"


UNBOUND = Singleton("unbound")


class Cell:
    """The run-time place of a variable that a closure shares or a handler reads."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class TypeChoice:
    """Some alternatives of a union, as a constant of the graph."""

    def __init__(self, choices: tuple[Type, ...]) -> None:
        self.types = choices

    def __repr__(self) -> str:
        return "|".join(map(repr, self.types))


class Site:
    """An allocation site of a list, dict, set, object or cell, and what its instances may hold.

    The table only grows. `on_change` is called when it grows after it was read in this pass of the trace.
    """

    def __init__(
        self, key: Hashable, kind: str, cls: type, on_change: Callable[[], None] | None = None
    ) -> None:
        self.key, self.kind, self.cls = key, kind, cls
        self.elem: Type = (
            BOTTOM  # list, set, cell: what it holds; dict: values under keys that are not constants
        )
        self.key_type: Type = BOTTOM  # dict: the keys that are not constants
        self.fixed: tuple[Type, ...] | None = None  # list: types by position while the length never changes
        self.varies = False  # list: the length changes
        self.fields: dict[Any, Type] = {}  # dict: by constant key; object: by attribute
        self.closed = True  # dict: the keys are those of the display, always, in this order
        self.root: Any = None  # the live object, if it existed before the trace
        self.was_read = False
        self.made = 0  # how often an instance was made in this trace
        self.on_change = on_change
        self.number = 0

    def _changed(self) -> None:
        if self.was_read and self.on_change is not None:
            self.on_change()

    def read(self) -> Type:
        """The type of an element, whichever."""
        self.was_read = True
        result = self.elem
        if self.fixed is not None:
            result = join(result, *self.fixed)
        if self.kind == "dict":
            result = join(result, *self.fields.values())
        return result

    def read_key(self) -> Type:
        """dict: the type of a key, whichever."""
        self.was_read = True
        return join(self.key_type, *(Const(k) for k in self.fields))

    def read_field(self, name: Any) -> Type:
        """The type under a constant key or attribute, joined with what unknown keys may have written."""
        self.was_read = True
        return join(self.fields.get(name, BOTTOM), self.elem)

    def widen(self, value: Type) -> None:
        """Any element may be `value`."""
        new = join(self.elem, value)
        if new != self.elem:
            self.elem = new
            self._changed()

    def widen_key(self, key: Type, value: Type) -> None:
        """dict: an unknown key of type `key` may hold `value`."""
        new = join(self.key_type, key)
        if new != self.key_type or self.closed:
            self.key_type, self.closed = new, False
            self._changed()
        self.widen(value)

    def widen_field(self, name: Any, value: Type) -> None:
        old = self.fields.get(name)
        new = value if old is None else join(old, value)
        if new != old:
            self.fields[name] = new
            self._changed()

    def open_keys(self) -> None:
        """dict: keys come and go."""
        if self.closed:
            self.closed = False
            self._changed()

    def widen_position(self, index: int, value: Type) -> None:
        """list: the element at a constant position may be `value`."""
        if self.fixed is None or not -len(self.fixed) <= index < len(self.fixed):
            self.widen(value)
            return
        items = list(self.fixed)
        items[index] = join(items[index], value)
        if tuple(items) != self.fixed:
            self.fixed = tuple(items)
            self._changed()

    def unfix(self) -> None:
        """list: the length changes; positions are no longer told apart."""
        self.varies = True
        if self.fixed is not None:
            items, self.fixed = self.fixed, None
            self.elem = join(self.elem, *items)
            self._changed()

    def made_with(self, items: tuple[Type, ...]) -> None:
        """list: an instance is made of these elements."""
        self.made += 1
        if self.made == 1 and self.fixed is None and not self.varies and not self.was_read:
            self.fixed = items
        elif self.fixed is not None and len(self.fixed) == len(items):
            for index, item in enumerate(items):
                self.widen_position(index, item)
        else:
            self.unfix()
            self.widen(join(*items))

    def absorb(self, other: Site) -> None:
        """Takes in all that the instances of another site may hold: the two cannot be told apart."""
        if self.fixed is not None and (other.fixed is None or len(other.fixed) != len(self.fixed)):
            self.unfix()
        if other.fixed is not None:
            for index, item in enumerate(other.fixed):
                self.widen_position(index, item)
        self.varies = self.varies or other.varies
        if list(self.fields) != list(other.fields) or not other.closed:
            self.open_keys()
        for name, value in other.fields.items():
            self.widen_field(name, value)
        self.key_type = join(self.key_type, other.key_type)
        self.widen(other.elem)

    def replace(self, sites: dict[Site, Site]) -> None:
        """Speaks of other sites in the place of these."""
        self.elem = with_sites(self.elem, sites)
        self.key_type = with_sites(self.key_type, sites)
        if self.fixed is not None:
            self.fixed = tuple(with_sites(t, sites) for t in self.fixed)
        self.fields = {name: with_sites(t, sites) for name, t in self.fields.items()}

    def forget(self, unwanted: Callable[[Type], bool]) -> None:
        """Drops alternatives from the table (between two passes of a trace)."""
        self.elem = without(self.elem, unwanted)
        self.key_type = without(self.key_type, unwanted)
        if self.fixed is not None:
            self.fixed = tuple(without(t, unwanted) for t in self.fixed)
        self.fields = {name: without(t, unwanted) for name, t in self.fields.items()}

    def __repr__(self) -> str:
        return f"{self.cls.__name__}#{self.number}"


class Ref(Type):
    """A reference to a list, dict, set, object or cell made at `site`."""

    __slots__ = ("site",)

    def __init__(self, site: Site) -> None:
        self.site = site

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ref) and self.site is other.site

    def __hash__(self) -> int:
        return id(self.site)

    @property
    def kind(self) -> str:
        return self.site.kind

    @property
    def cls(self) -> type:
        return self.site.cls

    def __repr__(self) -> str:
        return repr(self.site)


class Union(Type):
    """One of several types; the run-time value tells which."""

    __slots__ = ("_hash", "depth", "members")
    members: tuple[Type, ...]
    depth: int

    def __init__(self, members: tuple[Type, ...]) -> None:
        self.members = members
        self.depth = max(map(_depth, members))
        self._hash = hash(frozenset(members))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Union) and frozenset(self.members) == frozenset(other.members)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return "|".join(map(repr, self.members))


class TooManyTypes(Exception):
    """A join would need more alternatives than a union may have."""


NUMBERS = (bool, int, float, complex)


def members(t: Type) -> tuple[Type, ...]:
    """The alternatives of a type: its members if it is a union, none if it never comes to be."""
    if isinstance(t, Union):
        return t.members
    return () if t is BOTTOM else (t,)


def python_class(t: Type) -> type | None:
    """The exact class of the values of a type, where it is known."""
    if isinstance(t, Const):
        return type(t.value)
    if isinstance(t, Py):
        return t.cls
    if isinstance(t, Scalar):
        return t.dtype.type
    if isinstance(t, Array):
        return np.ndarray
    if isinstance(t, TupleT):
        return t.cls
    if isinstance(t, SeqT):
        return tuple
    if isinstance(t, Ref):
        return t.cls
    if isinstance(t, (Host, IterT)):
        return t.cls
    return None


def generalize(t: Type) -> Type:
    """Forgets the value of a number or string constant."""
    if isinstance(t, Const):
        value = t.value
        if type(value) in (bool, int, float, complex, str, bytes, range, slice):
            return Py(type(value))
        if isinstance(value, np.generic):
            return Scalar(value.dtype)
    return t


def generalize_deep(t: Type) -> Type:
    """As `generalize` for numbers, also inside tuples; strings and other constants stay."""
    if isinstance(t, TupleT):
        return TupleT(tuple(generalize_deep(i) for i in t.items), t.cls)
    if isinstance(t, Const) and (type(t.value) in NUMBERS or isinstance(t.value, np.generic)):
        return generalize(t)
    return t


def _depth(t: Type) -> int:
    """How deep tuples are nested in a type."""
    return t.depth if isinstance(t, (TupleT, SeqT, Union)) else 0


def _join_shapes(a: Shape, b: Shape) -> Shape:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b))


def _merge(a: Type, b: Type) -> Type | None:
    """One type for both, where no information that a union would keep is lost that matters; else None."""
    cls = type(a)
    if cls is not type(b):
        if cls is Const or type(b) is Const:
            ga, gb = generalize(a), generalize(b)
            return ga if ga == gb and type(ga) is not Const else None
        if cls is SeqT and isinstance(b, TupleT) and b.cls is tuple:
            return SeqT(join(a.elem, *b.items))  # type: ignore[attr-defined]
        if type(b) is SeqT and isinstance(a, TupleT) and a.cls is tuple:
            return SeqT(join(b.elem, *a.items))
        return None
    if a == b:
        return a
    merge = _MERGES.get(cls)
    return None if merge is None else merge(a, b)


def _merge_constants(a: Any, b: Any) -> Type | None:
    ga, gb = generalize(a), generalize(b)
    return ga if ga == gb and type(ga) is not Const else None


def _merge_arrays(a: Array, b: Array) -> Type | None:
    if a.dtype != b.dtype:
        return None
    if a.shape is None or b.shape is None:
        return Array(a.dtype, None)
    return Array(a.dtype, _join_shapes(a.shape, b.shape)) if len(a.shape) == len(b.shape) else None


def _merge_tuples(a: TupleT, b: TupleT) -> Type | None:
    if a.cls is not b.cls or len(a.items) != len(b.items):
        return None
    return TupleT(tuple(join(x, y) for x, y in zip(a.items, b.items)), a.cls)


def _merge_closures(a: ClosureT, b: ClosureT) -> Type | None:
    if a.key != b.key:
        return None
    return ClosureT(b.key, b.template, tuple(join(x, y) for x, y in zip(a.captures, b.captures)))


def _merge_iterators(a: IterT, b: IterT) -> Type | None:
    return IterT(join(a.elem, b.elem), a.cls) if a.cls is b.cls else None


_MERGES: dict[type, Callable[[Any, Any], Type | None]] = {
    Const: _merge_constants,
    Array: _merge_arrays,
    TupleT: _merge_tuples,
    ClosureT: _merge_closures,
    SeqT: lambda a, b: SeqT(join(a.elem, b.elem)),
    IterT: _merge_iterators,
}


def join(*types: Type) -> Type:
    """The least type that covers all of `types`.

    >>> join(Const(1), Const(2)), join(Const(1), Const(2.0)), join(Py(int), BOTTOM)
    (int, =1|=2.0, int)
    """
    if len(types) == 2 and types[0] == types[1]:
        return types[0]
    out: list[Type] = []
    for t in types:
        for member in members(t):
            for i, old in enumerate(out):
                merged = _merge(old, member)
                if merged is not None:
                    out[i] = merged
                    break
            else:
                out.append(member)
    if not out:
        return BOTTOM
    if len(out) > 1 and any(type(t) in _UNBOUNDED for t in out):
        out = _simplify(out)
    if len(out) == 1:
        return out[0]
    if len(out) > MAX_UNION:
        raise TooManyTypes(", ".join(map(repr, out)))
    return Union(tuple(out))


_UNBOUNDED = (TupleT, SeqT, Array)


def _simplify(out: list[Type]) -> list[Type]:
    """Bounds the height of the lattice: many tuple lengths, many ranks, deep tuples."""
    tuples = [t for t in out if isinstance(t, TupleT) and t.cls is tuple]
    open_ones = [t for t in out if isinstance(t, SeqT)]
    if len(tuples) > 3 or (tuples and open_ones):
        elem = join(*(i for t in tuples for i in t.items), *(t.elem for t in open_ones))
        out = [t for t in out if t not in tuples and t not in open_ones] + [SeqT(elem)]
    arrays: dict[np.dtype[Any], list[Array]] = {}
    for t in out:
        if isinstance(t, Array):
            arrays.setdefault(t.dtype, []).append(t)
    for dtype, same in arrays.items():
        if len(same) > 3 or (len(same) > 1 and any(t.shape is None for t in same)):
            out = [t for t in out if t not in same] + [Array(dtype, None)]
    if any(_depth(t) > MAX_TUPLE_DEPTH for t in out):
        raise TooManyTypes(NESTED_TUPLES)
    merged: list[Type] = []
    for t in out:  # a merge may have made two members equal
        if t not in merged:
            merged.append(t)
    return merged


def without(t: Type, unwanted: Callable[[Type], bool]) -> Type:
    """A type less some of its alternatives, also inside tuples."""
    if unwanted(t):
        return BOTTOM
    if isinstance(t, Union):
        return join(*(without(m, unwanted) for m in t.members))
    if isinstance(t, TupleT):
        return TupleT(tuple(without(i, unwanted) for i in t.items), t.cls)
    if isinstance(t, SeqT):
        return SeqT(without(t.elem, unwanted))
    return t


def with_sites(t: Type, sites: dict[Site, Site]) -> Type:
    """A type with references to other sites in the place of these."""
    if isinstance(t, Ref):
        return Ref(sites.get(t.site, t.site))
    if isinstance(t, Union):
        return join(*(with_sites(m, sites) for m in t.members))
    if isinstance(t, TupleT):
        return TupleT(tuple(with_sites(i, sites) for i in t.items), t.cls)
    if isinstance(t, SeqT):
        return SeqT(with_sites(t.elem, sites))
    if isinstance(t, IterT):
        return IterT(with_sites(t.elem, sites), t.cls)
    return t


def alike(t: Type) -> tuple[Site, ...]:
    """Sites among the alternatives of a type that a value does not tell apart: of one class.

    >>> first, second = Site("a", "list", list), Site("b", "list", list)
    >>> len(alike(join(Ref(first), Ref(second), Py(int)))), alike(Py(int))
    (2, ())
    """
    if not isinstance(t, Union):
        return ()
    found: dict[type, list[Site]] = {}
    for m in t.members:
        if isinstance(m, Ref):
            found.setdefault(m.cls, []).append(m.site)
    return next((tuple(sites) for sites in found.values() if len(sites) > 1), ())


def typeof_scalar(value: Any) -> Type | None:
    """The type (not the constant) of a number, string or NumPy value; None for everything else."""
    cls = type(value)
    if cls in (bool, int, float, complex, str, bytes, range, slice):
        return Py(cls)
    if isinstance(value, np.generic):
        return Scalar(value.dtype)
    if cls is np.ndarray:
        return Array(value.dtype, value.shape)
    return None


def walk(t: Type) -> Iterator[Type]:
    """A type and all types inside it (not through references)."""
    yield t
    parts: Iterable[Type] = ()
    if isinstance(t, Union):
        parts = t.members
    elif isinstance(t, TupleT):
        parts = t.items
    elif isinstance(t, (SeqT, IterT)):
        parts = (t.elem,)
    for part in parts:
        yield from walk(part)


def conforms(value: Any, t: Type) -> bool:
    """Whether a run-time value is one that the type foretold."""
    if isinstance(t, Union):
        return any(conforms(value, m) for m in t.members)
    if t is UNBOUND:
        return isinstance(value, Unbound)
    if isinstance(t, Const):
        if type(value) in NUMBERS or isinstance(value, (str, bytes, slice, np.generic)):
            return const_key(value) == const_key(t.value)
        if isinstance(value, types.FunctionType):
            return isinstance(t.value, types.FunctionType) and const_key(value) == const_key(t.value)
        return value is t.value or (
            type(value) is type(t.value) and isinstance(value, tuple) and value == t.value
        )
    if isinstance(t, Py):
        return type(value) is t.cls
    if isinstance(t, ClosureT):
        return isinstance(value, types.FunctionType) and value in MADE and MADE[value][0] == t.key
    if isinstance(t, Scalar):
        return isinstance(value, np.generic) and value.dtype == t.dtype
    if isinstance(t, Array):
        if type(value) is not np.ndarray or value.dtype != t.dtype:
            return False
        if t.shape is None:
            return True
        return len(t.shape) == value.ndim and all(d is None or d == n for d, n in zip(t.shape, value.shape))
    if isinstance(t, TupleT):
        return (
            isinstance(value, tuple)
            and type(value) is t.cls
            and len(value) == len(t.items)
            and all(conforms(v, i) for v, i in zip(value, t.items))
        )
    if isinstance(t, SeqT):
        return type(value) is tuple and all(conforms(v, t.elem) for v in value)
    if isinstance(t, Ref):
        return type(value) is t.cls
    if isinstance(t, Host):
        return t.cls is None or isinstance(value, t.cls)
    return isinstance(t, IterT)


def conforms_deep(value: Any, t: Type, seen: set[int]) -> bool:
    """Whether a value, and all that it reaches, is as the type and the tables of its sites foretold."""
    if isinstance(t, Union):
        return any(conforms_deep(value, m, seen) for m in t.members)
    if not conforms(value, t):
        return False
    if isinstance(t, TupleT):
        return all(conforms_deep(v, i, seen) for v, i in zip(value, t.items))
    if isinstance(t, SeqT):
        return all(conforms_deep(v, t.elem, seen) for v in value)
    if not isinstance(t, Ref) or id(value) in seen:
        return True
    seen.add(id(value))
    site = t.site
    if site.kind == "list" and site.fixed is not None:
        same = len(value) == len(site.fixed)
        return same and all(conforms_deep(v, join(i, site.elem), seen) for v, i in zip(value, site.fixed))
    if site.kind == "dict" and site.closed and list(value) != list(site.fields):
        return False
    if site.kind in ("list", "set"):
        return all(conforms_deep(v, site.elem, seen) for v in value)
    if site.kind == "dict":
        return all(
            conforms_deep(v, join(site.fields[k], site.elem), seen)
            if k in site.fields
            else conforms(k, site.key_type) and conforms_deep(v, site.elem, seen)
            for k, v in value.items()
        )
    if site.kind == "object":
        return all(
            conforms_deep(v, site.fields[k], seen)
            for k, v in getattr(value, "__dict__", {}).items()
            if k in site.fields
        )
    return True
