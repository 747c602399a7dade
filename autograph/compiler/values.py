"""What a tensor is in machine code: a constant, a number, a Python object, an array, a tuple of these."""

from __future__ import annotations

import dataclasses
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


@dataclasses.dataclass(eq=False, slots=True)
class Known(Value):
    """A value known while the graph is compiled."""

    value: Any


@dataclasses.dataclass(eq=False, slots=True)
class Number(Value):
    """A number in a register, of two parts if complex. `low`, `high`: bounds of an integer."""

    type: Type
    dtype: np.dtype[Any]
    parts: tuple[Ir, ...]
    low: int | None = None
    high: int | None = None
    line: Any = None  # factor and offset over the counter of the quick copy that is being written

    @property
    def ir(self) -> Ir:
        return self.parts[0]

    @property
    def weak(self) -> bool:
        return isinstance(self.type, Py)


@dataclasses.dataclass(eq=False, slots=True)
class Tagged(Value):
    """A number of one of several types; at run time the tag, an i8, is its place among them.

    `numbers` has one for each type; those of one dtype are in the same registers.
    """

    types: tuple[Type, ...]
    numbers: tuple[Number, ...]
    tag: Ir


@dataclasses.dataclass(eq=False, slots=True)
class Object(Value):
    """A Python object; the frame's slot owns the reference."""

    type: Type
    slot: int


@dataclasses.dataclass(eq=False, slots=True)
class Tuple(Value):
    items: tuple[Value, ...]
    cls: type = tuple


@dataclasses.dataclass(eq=False, slots=True)
class Range(Value):
    start: Value
    stop: Value
    step: Value


@dataclasses.dataclass(eq=False, slots=True)
class Memory(Value):
    """An array in memory: pointer, dimensions and strides (bytes; numbers where known).

    `slot` owns the memory, where a slot does; `is_object` says that the slot's object is the array itself.
    `ordered`: its strides never grow from one axis to the next, so NumPy computes results of it in C order.
    """

    dtype: np.dtype[Any]
    data: Ir
    dims: tuple[int | Ir, ...]
    strides: tuple[int | Ir, ...]
    slot: int | None = None
    is_object: bool = False
    contiguous: bool = False
    root: Any = None
    aligned: bool = True
    ordered: bool = False
    writeable: bool = False  # it is known to be so, as long as the function runs


@dataclasses.dataclass(eq=False, slots=True)
class Elements(Value):
    """A small array whose elements are in registers, in C order."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    items: tuple[tuple[Ir, ...], ...]
    origin: int | None = None  # a slot that holds the array object that these are the elements of, or null
    fresh: bool = True  # made by a computation: no array object exists of it


@dataclasses.dataclass(eq=False, slots=True)
class Lazy(Value):
    """An array that is computed, element by element, where it is used."""

    dtype: np.dtype[Any]
    dims: tuple[int | Ir, ...]
    op: Any  # arrays.Map
    args: tuple[Value, ...]
    cost: int = 1


@dataclasses.dataclass(eq=False, slots=True)
class Computed(Lazy):
    """A lazy array given by its element at an index; `args` are the arrays that it reads, at any index.

    `element` takes lanes and an index. `vector` says whether it gives vectors along the last axis too.
    """

    element: Any = None
    vector: bool = False


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
