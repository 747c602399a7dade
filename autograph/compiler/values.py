"""What a tensor is in machine code: a constant, a number, a Python object, an array, a tuple of these."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograph.graph.types import (
    UNBOUND,
    Array,
    Const,
    Py,
    Scalar,
    SeqT,
    TupleT,
    Type,
    Unbound,
    Union,
    generalize,
)

Ir = str
"""The text of an IR operand: a name or a literal."""

REGISTER = {
    "b1": "i1",
    "i1": "i8",
    "i2": "i16",
    "i4": "i32",
    "i8": "i64",
    "u1": "i8",
    "u2": "i16",
    "u4": "i32",
    "u8": "i64",
    "f4": "float",
    "f8": "double",
}
"""The IR type of a scalar of a dtype, by kind and size; complex numbers are pairs."""


@functools.cache
def key(dtype: np.dtype[Any]) -> str:
    """Kind and size: 'f8', 'i4', 'b1', 'c16'."""
    return f"{dtype.kind}{dtype.itemsize}"


def part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the real part."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


@functools.cache
def register(dtype: np.dtype[Any]) -> str:
    return REGISTER[key(part(dtype))]


def memory(dtype: np.dtype[Any]) -> str:
    """The IR type in memory: booleans take a byte."""
    return "i8" if dtype.kind == "b" else register(dtype)


@functools.cache
def supported(dtype: np.dtype[Any]) -> bool:
    return dtype.isnative and (key(dtype) in REGISTER or key(dtype) in ("c8", "c16"))


PYTHON = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(float), complex: np.dtype(complex)}
"""The machine types of Python's numbers."""


def scalar_dtype(t: Type) -> np.dtype[Any] | None:
    """The dtype that holds the values of a type in a register; None if it is no supported number."""
    if isinstance(t, Py):
        return PYTHON.get(t.cls)
    if isinstance(t, Scalar) and supported(t.dtype):
        return t.dtype
    return None


NOTHING = Unbound()
"""What a name holds that is not bound; which name it is, those say that read it."""


def alternative_dtype(t: Type) -> np.dtype[Any] | None:
    """As `scalar_dtype`; nothing, which has no value, is in a register that nobody reads."""
    return PYTHON[bool] if t is UNBOUND else scalar_dtype(t)


def alternatives(t: Type) -> tuple[Type, ...]:
    """The types of the numbers that a union is of, always in the same order; none if it is of others.

    A name that may be unbound is one, too: `UNBOUND` is among the types.
    """
    if not isinstance(t, Union):
        return ()
    found = {generalize(m) for m in t.members}
    if not 2 <= len(found) <= 4 or any(alternative_dtype(m) is None for m in found):
        return ()
    return tuple(sorted(found, key=repr))


class Value:
    """Base of all values."""

    __slots__ = ()

    def __repr__(self) -> str:
        parts = (f"{name}={getattr(self, name)!r}" for c in type(self).__mro__[::-1] for name in _slots(c))
        return f"{type(self).__name__}({', '.join(parts)})"


def _slots(cls: type) -> tuple[str, ...]:
    return cls.__dict__.get("__slots__", ())  # type: ignore[no-any-return]


class Known(Value):
    """A value known while the graph is compiled."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Number(Value):
    """A number in a register, of two parts if complex. `low`, `high`: bounds of an integer.

    `line`: factor and offset over the counter of the quick copy that is being written.
    """

    __slots__ = ("dtype", "high", "line", "low", "parts", "type")

    def __init__(
        self,
        type: Type,
        dtype: np.dtype[Any],
        parts: tuple[Ir, ...],
        low: int | None = None,
        high: int | None = None,
        line: Any = None,
    ) -> None:
        self.type, self.dtype, self.parts = type, dtype, parts
        self.low, self.high, self.line = low, high, line

    @property
    def ir(self) -> Ir:
        return self.parts[0]

    @property
    def weak(self) -> bool:
        return isinstance(self.type, Py)


class Tagged(Value):
    """A number of one of several types; at run time the tag, an i8, is its place among them.

    `numbers` has one for each type; those of one dtype are in the same registers.
    """

    __slots__ = ("numbers", "tag", "types")

    def __init__(self, types: tuple[Type, ...], numbers: tuple[Number, ...], tag: Ir) -> None:
        self.types, self.numbers, self.tag = types, numbers, tag


class Object(Value):
    """A Python object; the frame's slot owns the reference."""

    __slots__ = ("slot", "type")

    def __init__(self, type: Type, slot: int) -> None:
        self.type, self.slot = type, slot


class Tuple(Value):
    __slots__ = ("cls", "items")

    def __init__(self, items: tuple[Value, ...], cls: type = tuple) -> None:
        self.items, self.cls = items, cls


class Range(Value):
    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Value, stop: Value, step: Value) -> None:
        self.start, self.stop, self.step = start, stop, step


class Memory(Value):
    """An array in memory: pointer, dimensions and strides (bytes; numbers where known).

    `slot` owns the memory, where a slot does; `is_object` says that the slot's object is the array itself.
    `ordered`: its strides never grow from one axis to the next, so NumPy computes results of it in C order.
    `writeable`: it is known to be so, as long as the function runs. `streamed`: vectors are stored to it past
    the caches (`streams`); each is aligned to its size, or to 64 bytes.
    """

    __slots__ = (
        *("dtype", "data", "dims", "strides", "slot", "is_object"),
        *("contiguous", "root", "aligned", "ordered", "writeable", "streamed"),
    )

    def __init__(
        self,
        dtype: np.dtype[Any],
        data: Ir,
        dims: tuple[int | Ir, ...],
        strides: tuple[int | Ir, ...],
        slot: int | None = None,
        is_object: bool = False,
        contiguous: bool = False,
        root: Any = None,
        aligned: bool = True,
        ordered: bool = False,
        writeable: bool = False,
        streamed: bool = False,
    ) -> None:
        self.dtype, self.data, self.dims, self.strides = dtype, data, dims, strides
        self.slot, self.is_object, self.contiguous, self.root = slot, is_object, contiguous, root
        self.aligned, self.ordered, self.writeable, self.streamed = aligned, ordered, writeable, streamed


class Elements(Value):
    """A small array whose elements are in registers, in C order.

    `origin`: a slot that holds the array object that these are the elements of, or null.
    `fresh`: made by a computation: no array object exists of it.
    """

    __slots__ = ("dtype", "fresh", "items", "origin", "shape")

    def __init__(
        self,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        items: tuple[tuple[Ir, ...], ...],
        origin: int | None = None,
        fresh: bool = True,
    ) -> None:
        self.dtype, self.shape, self.items, self.origin, self.fresh = dtype, shape, items, origin, fresh


class Lazy(Value):
    """An array that is computed, element by element, where it is used; `op` is an `arrays.Map`."""

    __slots__ = ("args", "cost", "dims", "dtype", "op")

    def __init__(
        self,
        dtype: np.dtype[Any],
        dims: tuple[int | Ir, ...],
        op: Any,
        args: tuple[Value, ...],
        cost: int = 1,
    ) -> None:
        self.dtype, self.dims, self.op, self.args, self.cost = dtype, dims, op, args, cost


class Computed(Lazy):
    """A lazy array given by its element at an index; `args` are the arrays that it reads, at any index.

    `element` takes lanes and an index. `vector` says whether it gives vectors along the last axis too.
    """

    __slots__ = ("element", "vector")

    def __init__(
        self,
        dtype: np.dtype[Any],
        dims: tuple[int | Ir, ...],
        op: Any,
        args: tuple[Value, ...],
        cost: int = 1,
        element: Any = None,
        vector: bool = False,
    ) -> None:
        super().__init__(dtype, dims, op, args, cost)
        self.element, self.vector = element, vector


def known_item(items: tuple[Value, ...], index: Any) -> Value | None:
    """The item at a position that is known; None where it is not, or there is none."""
    if isinstance(index, Known) and type(index.value) is int and -len(items) <= index.value < len(items):
        return items[index.value]
    return None


def array_type(t: Type) -> Array | None:
    """The type as an array of known rank and a supported dtype, if it is one."""
    if isinstance(t, Array) and t.shape is not None and supported(t.dtype):
        return t
    return None


def is_number(t: Type) -> bool:
    if isinstance(t, Const):
        return isinstance(t.value, (bool, int, float, complex, np.generic))
    return scalar_dtype(t) is not None


def may_hold_array(t: Type) -> bool:
    """Whether a value of a type is, or may refer to, an array: not None, numbers, texts, tuples of them."""
    if isinstance(t, TupleT):
        return any(map(may_hold_array, t.items))
    if isinstance(t, SeqT):
        return may_hold_array(t.elem)
    if isinstance(t, Union):
        return any(map(may_hold_array, t.members))
    if isinstance(t, Const):
        return t.value is not None and not isinstance(t.value, str) and not is_number(t)
    return not (isinstance(t, Py) and t.cls in (str, bytes, range)) and not is_number(t)


__all__ = [
    "Computed",
    "Elements",
    "Known",
    "Lazy",
    "Memory",
    "Number",
    "Object",
    "Range",
    "Tagged",
    "Tuple",
    "TupleT",
    "Value",
    "known_item",
    "may_hold_array",
]
