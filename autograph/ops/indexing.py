"""What reading and writing `x[index]` gives, for arrays and NumPy scalars and every form of index."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Dim,
    Host,
    Py,
    Ref,
    Scalar,
    SeqT,
    Shape,
    TupleT,
    Type,
    Union,
    generalize,
    join,
    members,
)
from autograph.ops.base import Refuse, array_like, broadcast, sequence, type_of
from autograph.ops.rules import over_ranks
from autograph.records import record_class

__all__ = ["get_item_rule", "set_item_rule", "slice_length"]


@record_class(frozen=True)
class Part:
    """One part of an index: `kind` is int, slice, new, ellipsis, array or mask."""

    kind: str
    value: Any = None  # int: its value or None; slice: the slice; array, mask: the shape

    def takes(self) -> int:
        """How many dimensions of the array it uses up."""
        if self.kind == "mask":
            return len(self.value)
        return 1 if self.kind in ("int", "slice", "array") else 0


class Never(Exception):
    """The index always raises."""


def get_item_rule(x: Any, index: Any) -> Type:
    """The type of `x[index]`.

    >>> x = Array(np.dtype("f8"), (3, None))
    >>> get_item_rule(x, (0, slice(None))), get_item_rule(x, (0, 1)), get_item_rule(x, (0, 1, ...))
    (float64[?], float64, float64[])
    >>> get_item_rule(x, (slice(1, 9), Py(int))), get_item_rule(x, ([0, 1, 2, 0], None))
    (float64[2], float64[4,1,?])
    >>> get_item_rule(x, (0, 0, 0))
    never
    """
    x = generalize(type_of(x))
    if not isinstance(x, (Array, Scalar)):
        return BOTTOM
    items = _items(index)
    if items is None:
        return join(Scalar(x.dtype), Array(x.dtype, None))
    if isinstance(x, Scalar) and not items:
        return x
    array = x if isinstance(x, Array) else Array(x.dtype, ())
    results = [over_ranks(_get, (array, *pick), {}) for pick in itertools.product(*items)]
    return join(*results)


def set_item_rule(x: Any, index: Any, value: Any) -> Type:
    """The type of `x[index] = value`: None, or BOTTOM where the shapes never fit.

    >>> set_item_rule(Array(np.dtype("f8"), (3,)), slice(None), Array(np.dtype("f8"), (2,)))
    never
    """
    x = type_of(x)
    if not isinstance(x, Array):
        return BOTTOM
    target = get_item_rule(x, index)
    if target is BOTTOM:
        return BOTTOM
    values = _value_shapes(value)
    targets = [m.shape if isinstance(m, Array) else () for m in members(target)]
    if all(_never_fits(t, v) for t in targets for v in values):
        return BOTTOM
    return Const(None)


def _value_shapes(value: Any) -> list[Shape]:
    t = type_of(value)
    if isinstance(t, Array):
        return [t.shape]
    if sequence(t)[0] is not None:
        try:
            return [m.shape for m in members(array_like(t)) if isinstance(m, Array)] or [None]
        except Refuse:
            return [None]
    if isinstance(t, (Const, Py, Scalar)):
        return [()]
    raise Refuse(
        f"a value of type {t!r} is written into an array",
        "Arrays in a graph hold numbers.",
        "Convert it first: float(value).",
    )


def _never_fits(target: Shape, value: Shape) -> bool:
    """Whether a value of this shape can certainly not be written where the target has that shape."""
    if target is None or value is None:
        return False
    while len(value) > len(target):
        if value[0] not in (1, None):
            return True
        value = value[1:]
    if len(value) == 0 or any(d == 0 for d in (*target, *value)):
        return False
    return any(
        v is not None and t is not None and v not in (1, t) for t, v in zip(reversed(target), reversed(value))
    )


# --------------------------------------------------------------------------------------------------


def _items(index: Any) -> list[tuple[Any, ...]] | None:
    """The alternatives of each part of an index; None if their number is not known."""
    if isinstance(index, Const) and isinstance(index.value, tuple):
        index = index.value
    if isinstance(index, SeqT):
        return None
    if isinstance(index, TupleT):
        index = index.items
    parts = index if isinstance(index, tuple) else (index,)
    return [members(p) if isinstance(p, Union) else (p,) for p in parts]


def _get(x: Array, *index: Any) -> Type:
    try:
        alternatives = [_parts(item) for item in index]
        results = [_indexed(x, list(parts)) for parts in itertools.product(*alternatives)]
    except Never:
        return BOTTOM
    return join(*results)


def _parts(item: Any) -> list[Part]:
    """The alternatives of one part of an index."""
    if isinstance(item, slice):
        return [Part("slice", _checked_slice(item))]
    if isinstance(item, list):
        item = tuple(item)
    t = type_of(item)
    if isinstance(t, Const):
        value = t.value
        if value is None:
            return [Part("new")]
        if value is Ellipsis:
            return [Part("ellipsis")]
        if isinstance(value, slice):
            return [Part("slice", _checked_slice(value))]
        if isinstance(value, (bool, np.bool_)):
            return [Part("mask", ())]
        if isinstance(value, (int, np.integer)):
            return [Part("int", int(value))]
    if isinstance(t, Py):
        if t.cls is slice:
            return [Part("slice", None)]
        if t.cls in (int, bool):
            return [Part("int") if t.cls is int else Part("mask", ())]
    if isinstance(t, Scalar):
        t = Array(t.dtype, ())
    is_list = not isinstance(t, Array)
    if is_list and sequence(t)[0] is None:
        if isinstance(t, (Const, Py)):
            raise Never
        if isinstance(t, Ref) or t is not None:
            if isinstance(t, Host):
                raise Refuse(
                    "a host call's result is used as an index, but its type is not known",
                    "A function that is not converted runs on the host when the graph runs, "
                    "so the graph cannot know what it returns.",
                    'Declare it: ag.host_call(function, ..., result=ag.spec("int")), '
                    "or pass the value in as an argument.",
                )
            raise Refuse(
                f"an array is indexed with a value of type {t!r}",
                "An index is made of integers, slices, None, ... and arrays of integers or booleans.",
                "Convert it first: int(i), or np.asarray(indices).",
            )
    parts = [_array_part(m, is_list) for m in members(array_like(t))]
    if not parts:
        raise Never
    return parts


def _array_part(t: Any, is_list: bool) -> Part:
    if t.shape is None:
        raise Refuse(
            "an array is indexed with one whose number of dimensions is not known",
            "The rank of every array must be known while the graph is built.",
            "Reshape the index first: index.reshape(-1).",
        )
    if t.dtype.kind == "b":
        return Part("mask", t.shape)
    if t.dtype.kind in "iu":
        return Part("int") if t.shape == () else Part("array", t.shape)
    if is_list and 0 in t.shape:
        return Part("array", t.shape)  # NumPy takes an empty list as integers
    raise Never


def _checked_slice(s: slice) -> slice:
    """A slice whose parts are None, int, or a `Type` for an integer that is not known."""
    return slice(_bound(s.start), _bound(s.stop), _bound(s.step))


def _bound(value: Any) -> Any:
    if isinstance(value, Union):
        return Py(int)  # perhaps None or an integer: not known
    t = type_of(value)
    if isinstance(t, Const):
        if t.value is None:
            return None
        if hasattr(t.value, "__index__"):
            return t.value.__index__()
        raise Never
    if isinstance(t, Py) and t.cls in (int, bool):
        return t
    if isinstance(t, (Scalar, Array)) and t.dtype.kind in "biu":
        return t
    if isinstance(t, (Ref, Py, Scalar, Array)) and not (isinstance(t, Ref) and t.kind == "object"):
        raise Never
    return Py(int)


def slice_length(s: slice | None, dim: Dim) -> Dim:
    """The length of a slice of a dimension, where it is known.

    >>> slice_length(slice(1, None, 2), 6), slice_length(slice(None, 3), None)
    (3, None)
    """
    if s is None:
        return None
    if isinstance(s.step, int) and s.step == 0:
        raise Never
    if s.start is None and s.stop is None and s.step in (None, 1, -1):
        return dim
    if isinstance(s.start, Type) or isinstance(s.stop, Type) or isinstance(s.step, Type) or dim is None:
        return None
    return len(range(*s.indices(dim)))


def _indexed(x: Array, parts: list[Part]) -> Type:
    shape = x.shape
    assert shape is not None
    if sum(p.kind == "ellipsis" for p in parts) > 1:
        return BOTTOM
    spare = len(shape) - sum(p.takes() for p in parts)
    if spare < 0:
        return BOTTOM
    ellipsis = [p.kind for p in parts].index("ellipsis") if any(p.kind == "ellipsis" for p in parts) else None
    fancy = any(p.kind in ("array", "mask") for p in parts)
    full = [Part("slice", slice(None))] * spare
    if ellipsis is None:
        parts = parts + full
    elif full:
        parts = parts[:ellipsis] + full + parts[ellipsis + 1 :]
    out: list[Any] = []  # dimensions of the result; "*" where the dimensions of the index arrays come
    arrays: list[Shape] = []
    axis, last = 0, None
    separate = False
    for place, part in enumerate(parts):
        dim = shape[axis] if part.takes() else None
        axis += part.takes()
        if part.kind == "new":
            out.append(1)
        elif part.kind == "slice":
            out.append(slice_length(part.value, dim))
        elif part.kind != "ellipsis":
            if part.kind == "int" and not fancy:
                if part.value is not None and dim is not None and not -dim <= part.value < dim:
                    return BOTTOM
                continue
            if last is None:
                out.append("*")
            elif last != place - 1:
                separate = True
            last = place
            arrays.append(() if part.kind == "int" else (None,) if part.kind == "mask" else part.value)
            if part.kind == "mask" and not _mask_fits(part.value, shape[axis - len(part.value) : axis]):
                return BOTTOM
    if not fancy:
        return Array(x.dtype, tuple(out)) if out or ellipsis is not None else Scalar(x.dtype)
    joined = broadcast(*arrays)
    if isinstance(joined, Type):
        return BOTTOM
    place = 0 if separate else out.index("*")
    out.remove("*")
    return Array(x.dtype, (*out[:place], *joined, *out[place:]))  # type: ignore[misc]


def _mask_fits(mask: tuple[Dim, ...], dims: tuple[Dim, ...]) -> bool:
    return 0 in mask or all(m is None or d is None or m == d for m, d in zip(mask, dims))
