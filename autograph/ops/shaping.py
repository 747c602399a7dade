"""Functions that change the shape of arrays, join them and split them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Dim,
    Py,
    Ref,
    Scalar,
    SeqT,
    Shape,
    TupleT,
    Type,
    join,
    members,
)
from autograph.ops import base
from autograph.ops.base import (
    NeedConcrete,
    Refuse,
    broadcast,
    result_type,
    sample,
    sequence,
    shape_of,
    static,
    type_of,
)
from autograph.ops.rules import Static, Types, alternatives, data, numpy_op, quietly, sizes, typed

__all__ = ["axes_of", "dtype_in", "list_of", "reshaped", "size_of", "transposed", "unknown_along"]


def dtype_in(a: Any) -> np.dtype[Any]:
    """The dtype of `np.asarray(a)` for a number or array."""
    return a.dtype if isinstance(a, (Array, Scalar)) else np.asarray(sample(a)).dtype


def size_of(shape: Shape) -> Dim:
    """The number of elements, where it is known.

    >>> size_of((2, 3)), size_of((2, None)), size_of((0, None))
    (6, None, 0)
    """
    if shape is None:
        return None
    if 0 in shape:
        return 0
    return None if None in shape else math.prod(d for d in shape if d is not None)


def plus(*dims: Dim) -> Dim:
    return None if None in dims else sum(d for d in dims if d is not None)


def times(a: Dim, b: Dim) -> Dim:
    return size_of((a, b))


def axes_of(axis: Any, rank: int) -> Any:
    """One axis or several as non-negative integers; BOTTOM if one does not exist or is there twice."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    out = []
    for a in axes:
        try:
            place = a.__index__()
        except (AttributeError, TypeError):
            return BOTTOM
        if not -rank <= place < rank:
            return BOTTOM
        out.append(place % rank)
    return BOTTOM if len(set(out)) != len(out) else out


def reshaped(dtype: np.dtype[Any], old: Shape, shape: Any) -> Type:
    """The type of an array of this dtype and shape after a reshape; a dimension of -1 is computed.

    >>> reshaped(np.dtype(int), (4, 6), (3, -1)), reshaped(np.dtype(int), (4, None), (-1,))
    (int64[3,8], int64[?])
    """
    t = type_of(shape)
    items, length = sequence(t)
    if items is None:
        if isinstance(t, Array) and t.shape != ():
            return Array(dtype, sizes(t) if isinstance(sizes(t), tuple) else None)  # type: ignore[arg-type]
        items, length = (t,), 1
    if length is None:
        return Array(dtype, None)
    if len(items) != length:
        items = items * length
    dims: list[Any] = []
    for item in items:
        options = {_reshape_dim(m) for m in members(item)} - {BOTTOM}
        if not options:
            return BOTTOM
        dims.append(options.pop() if len(options) == 1 else None)
    if dims.count(-1) > 1 or any(d is not None and d < -1 for d in dims):
        return BOTTOM
    size = size_of(old)
    if -1 in dims:
        rest = size_of(tuple(d for d in dims if d != -1))
        if size is None or rest is None:
            inferred = None
        elif rest == 0 or size % rest:
            return BOTTOM
        else:
            inferred = size // rest
        dims = [inferred if d == -1 else d for d in dims]
    elif size is not None and None not in dims and size_of(tuple(dims)) != size:
        return BOTTOM
    return Array(dtype, tuple(dims))


def _reshape_dim(t: Type) -> Any:
    if isinstance(t, Const):
        return t.value.__index__() if hasattr(t.value, "__index__") else BOTTOM
    if isinstance(t, Py) and t.cls in (int, bool):
        return None
    if isinstance(t, (Scalar, Array)) and t.dtype.kind in "biu":
        return None
    return BOTTOM


def transposed(a: Array, axes: Any) -> Type:
    """The type of an array with its axes permuted."""
    shape = a.shape
    assert shape is not None
    if axes is None:
        return Array(a.dtype, shape[::-1])
    order = axes_of(axes, len(shape))
    if order is BOTTOM or len(order) != len(shape):
        return BOTTOM
    return Array(a.dtype, tuple(shape[i] for i in order))


def _array(a: Type) -> Array:
    return a if isinstance(a, Array) else Array(dtype_in(a), ())


def _kind(fn: Callable[..., Any], a: Type, *args: Any) -> Callable[[Type], Type]:
    """Keeps an array type, or makes it the scalar that the function gives for scalars."""
    value = quietly(fn, sample(a), *args) if not isinstance(a, Array) else None

    def give(t: Type) -> Type:
        if isinstance(t, Array) and t.shape == () and isinstance(value, np.generic):
            return Scalar(t.dtype)
        return t

    return give


def _reshape(
    a: Type, /, shape: Any = None, order: Static = "C", *, newshape: Any = None, copy: Static = None
) -> Type:
    target = newshape if shape is None else shape
    array = _array(a)
    result = reshaped(array.dtype, array.shape, target)
    if result is BOTTOM or isinstance(a, Array):
        return result
    return join(result, Scalar(array.dtype)) if shape_of(result) in ((), None) else result


def _ravel(a: Type, order: Static = "C") -> Type:
    return Array(dtype_in(a), (size_of(shape_of(a)),))


def _transpose(a: Type, axes: Static = None) -> Type:
    return _kind(np.transpose, a)(transposed(_array(a), axes))


def _permute_dims(a: Type, axes: Static = None) -> Type:
    return _transpose(a, axes)


def _matrix_transpose(x: Type, /) -> Type:
    shape = shape_of(x)
    if shape is None or len(shape) < 2:
        return BOTTOM
    return Array(dtype_in(x), (*shape[:-2], shape[-1], shape[-2]))


def _swapaxes(a: Type, axis1: Static, axis2: Static) -> Type:
    shape: Any = list(shape_of(a))  # type: ignore[arg-type]
    first, second = axes_of(axis1, len(shape)), axes_of(axis2, len(shape))
    if first is BOTTOM or second is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    i, j = first[0], second[0]
    shape[i], shape[j] = shape[j], shape[i]
    return Array(dtype_in(a), tuple(shape))


def _moveaxis(a: Type, source: Static, destination: Static) -> Type:
    shape: Any = shape_of(a)
    value = quietly(np.moveaxis, np.empty(range(len(shape)), np.int8), source, destination)
    if isinstance(value, Exception):
        return BOTTOM
    return Array(dtype_in(a), tuple(shape[i] for i in value.shape))


def _rollaxis(a: Type, axis: Static, start: Static = 0) -> Type:
    shape: Any = shape_of(a)
    value = quietly(np.rollaxis, np.empty(range(len(shape)), np.int8), axis, start)
    if isinstance(value, Exception):
        return BOTTOM
    return Array(dtype_in(a), tuple(shape[i] for i in value.shape))


def _expand_dims(a: Type, axis: Static) -> Type:
    shape: Any = shape_of(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = axes_of(tuple(axes), len(shape) + len(axes))
    if places is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    rest = iter(shape)
    return Array(dtype_in(a), tuple(1 if i in places else next(rest) for i in range(len(shape) + len(axes))))


def squeezed(shape: Any, axis: Any) -> Any:
    """The shape without dimensions of length 1; None: their number is not known, BOTTOM: one cannot go."""
    if axis is None:
        known = tuple(d for d in shape if d != 1)
        return known if None not in known else None
    places = axes_of(axis, len(shape)) if len(shape) or axis != () else []
    if places is BOTTOM or any(shape[i] not in (1, None) for i in places):
        return BOTTOM
    return tuple(d for i, d in enumerate(shape) if i not in places)


def _squeeze(a: Type, axis: Static = None) -> Type:
    if not isinstance(a, Array):
        value = quietly(np.squeeze, sample(a), axis)
        return BOTTOM if isinstance(value, Exception) else result_type(value)
    shape = squeezed(a.shape, axis)
    return BOTTOM if shape is BOTTOM else Array(a.dtype, shape)


def _broadcast_to(array: Type, shape: Any, subok: Static = False) -> Type:
    dims = sizes(shape)
    if dims is BOTTOM or isinstance(dims, Type):
        return BOTTOM
    if dims is None:
        return Array(dtype_in(array), None)
    old: Any = shape_of(array)
    if len(old) > len(dims):
        return BOTTOM
    for d, n in zip(reversed(old), reversed(dims)):
        if d is not None and n is not None and d not in (1, n):
            return BOTTOM
    return Array(dtype_in(array), dims)


def _broadcast_arrays(*args: Type, subok: Static = False) -> Type:
    shape = broadcast(*map(shape_of, args))
    if isinstance(shape, Type):
        return BOTTOM
    return TupleT(tuple(Array(dtype_in(a), shape) for a in args))


def _broadcast_shapes(*args: Any) -> Type:
    dims = [sizes(a) for a in args]
    if any(isinstance(d, Type) for d in dims):
        return BOTTOM
    shape = broadcast(*dims)  # type: ignore[arg-type]
    if isinstance(shape, Type):
        return BOTTOM
    if shape is None:
        return SeqT(Py(int))
    return TupleT(tuple(Py(int) if d is None else Const(d) for d in shape))


def joined(arrays: list[Array], axis: Any) -> Shape | Type:
    """The shape of arrays concatenated along an axis."""
    ranks = {len(a.shape or ()) for a in arrays}
    if len(ranks) != 1 or ranks == {0}:
        return BOTTOM
    rank = ranks.pop()
    places = axes_of(axis, rank)
    if places is BOTTOM or isinstance(axis, tuple):
        return BOTTOM
    out: list[Dim] = []
    for i in range(rank):
        dims = [a.shape[i] for a in arrays if a.shape is not None]
        if i == places[0]:
            out.append(plus(*dims))
            continue
        known = set(dims) - {None}
        if len(known) > 1:
            return BOTTOM
        out.append(known.pop() if known else None)
    return tuple(out)


def _concatenate(
    arrays: Types, axis: Static = 0, out: Any = None, *, dtype: Static = None, casting: Static = "same_kind"
) -> Type:
    if not arrays:
        return BOTTOM
    flat = [_array(a) for a in arrays]
    if axis is None:
        flat = [Array(a.dtype, (size_of(a.shape),)) for a in flat]
        axis = 0
    shape = joined(flat, axis)
    if isinstance(shape, Type):
        return BOTTOM
    return _joined_type(np.concatenate, flat, shape, out, dtype, casting)


def _joined_type(fn: Any, arrays: list[Array], shape: Any, out: Any, dtype: Any, casting: Any) -> Type:
    options = {"dtype": dtype, "casting": casting} if dtype is not None or casting != "same_kind" else {}
    value = quietly(np.concatenate, [np.ones(1, a.dtype) for a in arrays], **options)
    if isinstance(value, Exception):
        return BOTTOM
    return type_of(out) if out is not None else result_type(value, shape)


def _stack(
    arrays: Types, axis: Static = 0, out: Any = None, *, dtype: Static = None, casting: Static = "same_kind"
) -> Type:
    if not arrays:
        return BOTTOM
    parts = [_array(a) for a in arrays]
    if len({len(a.shape or ()) for a in parts}) != 1:
        return BOTTOM
    rank = len(parts[0].shape or ())
    places = axes_of(axis, rank + 1)
    if places is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    i = places[0]
    grown = [Array(a.dtype, (*a.shape[:i], 1, *a.shape[i:])) for a in parts if a.shape is not None]
    shape = joined(grown, i)
    if isinstance(shape, Type):
        return BOTTOM
    return _joined_type(np.stack, parts, shape, out, dtype, casting)


def _stacker(grow: Callable[[Any], Any], axis: Callable[[int], int]) -> Callable[..., Type]:
    def body(tup: Types, *, dtype: Static = None, casting: Static = "same_kind") -> Type:
        if not tup:
            return BOTTOM
        parts = [Array(dtype_in(a), grow(shape_of(a))) for a in tup]
        shape = joined(parts, axis(len(parts[0].shape or ())))
        if isinstance(shape, Type):
            return BOTTOM
        return _joined_type(np.concatenate, parts, shape, None, dtype, casting)

    return typed(body)


def _block(arrays: Any) -> Type:
    """The innermost lists are joined along the last axis, those around them along the one before it."""
    tree, found, depths = _nested(arrays)
    if len(depths) != 1:
        return BOTTOM
    depth = depths.pop()

    def body(*blocks: Any) -> Type:
        leaves = [_array(block) for block in blocks]
        rank = max(depth, *(len(a.shape or ()) for a in leaves))
        rest = iter([Array(a.dtype, (1,) * (rank - len(a.shape or ())) + (a.shape or ())) for a in leaves])

        def build(tree: Any, level: int) -> Type:
            if tree is None:
                return next(rest)
            parts = [build(part, level + 1) for part in tree]
            if not all(isinstance(part, Array) for part in parts):
                return BOTTOM
            shape = joined(parts, rank - depth + level)  # type: ignore[arg-type]
            if isinstance(shape, Type):
                return BOTTOM
            return _joined_type(np.concatenate, parts, shape, None, None, "same_kind")  # type: ignore[arg-type]

        whole = build(tree, 0)
        together = _joined_type(np.concatenate, leaves, (), None, None, "same_kind")
        if isinstance(whole, Array) and isinstance(together, Array) and whole.dtype != together.dtype:
            raise Refuse(
                "np.block joins arrays of dtypes whose order matters", "", "Convert them to one dtype."
            )
        return whole

    return alternatives([(body, pick, {}) for pick in itertools.product(*map(data, found))])


def _is_list(value: Any) -> bool:
    t = value.value if isinstance(value, Const) else value
    return isinstance(t, list) or (isinstance(t, Ref) and t.kind == "list")


def _nested(arrays: Any) -> tuple[Any, list[Any], set[int]]:
    """Lists in lists: their tree (None for what is no list), what it holds, and how deep that lies."""
    found: list[Any] = []
    depths: set[int] = set()

    def walk(value: Any, depth: int) -> Any:
        items, length = (value, len(value)) if isinstance(value, list) else sequence(type_of(value))
        if items is None or not _is_list(value):
            found.append(value)
            depths.add(depth if items is None else -1)
            return None
        if length is None:
            raise Refuse(
                "np.block is called with a list of unknown length",
                "The places of the blocks must be known while the graph is built.",
                "Use np.concatenate.",
            )
        if not items:
            depths.add(-1)
        return [walk(item, depth + 1) for item in items]

    tree = walk(arrays, 0)  # -1 stands for what NumPy refuses: a tuple, an empty list
    return tree, found, depths if -1 not in depths else set()


def _two(shape: Any) -> Any:
    return (1,) * (2 - len(shape)) + shape


def _three(shape: Any) -> Any:
    return (
        (1, 1, 1)
        if not shape
        else (1, *shape, 1)
        if len(shape) == 1
        else (*shape, 1)
        if len(shape) == 2
        else shape
    )


def _column(shape: Any) -> Any:
    return (*(shape or (1,)), 1) if len(shape) < 2 else shape


def _atleast(fn: Any, grow: Callable[[Any], Any]) -> Any:
    def body(*arys: Type) -> Type:
        types = tuple(Array(dtype_in(a), grow(shape_of(a))) for a in arys)
        return types[0] if len(types) == 1 else TupleT(types)

    return typed(body)


def list_of(items: list[Type], length: Dim, what: str = "", many: bool = False) -> Type:
    """The type of a new list of NumPy's making; `many` such lists may be made at one place.

    Each position has its type where the length is known, else all have the only one in `items`.
    """
    site = base.new_site("list", list, what)
    if length is not None and len(items) == length:
        for _ in range(2 if many else 1):
            site.made_with(tuple(items))
        return Ref(site)
    site.made_with(())
    site.unfix()
    site.widen(join(*items))
    return Ref(site)


def _splitter(fn: Any, fixed_axis: Callable[[int], int | None]) -> Any:
    """np.split and its kind: a list of views, whose lengths are found by splitting an array of no bytes."""

    def body(ary: Type, indices_or_sections: Any, axis: Static = 0) -> Type:
        shape: Any = shape_of(ary)
        place = fixed_axis(len(shape))
        found = axes_of(axis if place is None else place, len(shape))
        if found is BOTTOM or not isinstance(ary, Array):
            return BOTTOM
        i = found[0]

        def part(length: Dim) -> Type:
            return Array(ary.dtype, (*shape[:i], length, *shape[i + 1 :]))

        try:
            sections = static(indices_or_sections, "the sections")
        except NeedConcrete:
            return list_of([part(None)], None)
        if isinstance(sections, np.ndarray) and sections.ndim == 1:
            sections = sections.tolist()
        if shape[i] is None:
            count = len(sections) + 1 if isinstance(sections, list | tuple) else int(sections)
            return list_of([part(None)] * count, count if count < 64 else None)
        dims = [1] * max(len(shape), 2 if fn is np.vsplit else 0)
        dims[i] = shape[i]
        value = quietly(fn, np.empty(dims, np.int8), sections, *(() if place is not None else (axis,)))
        if isinstance(value, Exception):
            return BOTTOM
        return list_of([part(v.shape[i]) for v in value], len(value))

    def named(ary: Type, indices_or_sections: Any) -> Type:
        return body(ary, indices_or_sections)

    return typed(body if fn in (np.split, np.array_split) else named)


def _repeat(a: Type, repeats: Any, axis: Static = None) -> Type:
    array = _array(a)
    shape: Any = array.shape
    if axis is None or not shape:
        shape, axis = (size_of(shape),), axis or 0
    places = axes_of(axis, len(shape))
    if places is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    i = places[0]
    count = type_of(repeats)
    if isinstance(count, Const) and isinstance(count.value, (int, np.integer)):
        if count.value < 0:
            return BOTTOM
        new = times(shape[i], int(count.value))
    else:
        items, length = sequence(count)
        known = [m.value for m in items or () if isinstance(m, Const) and isinstance(m.value, int)]
        if items is not None and length == len(known) and min(known, default=0) < 0:
            return BOTTOM
        new = sum(known) if items is not None and length == len(known) and length == shape[i] else None
    if quietly(np.repeat, np.ones(1), _ones_of(count)).__class__ is TypeError:
        return BOTTOM
    return Array(array.dtype, (*shape[:i], new, *shape[i + 1 :]))


def _ones_of(t: Type) -> Any:
    if isinstance(t, Scalar):  # a number that fits may be cast to fewer bits, an array may not
        return t.dtype.type(1)
    if isinstance(t, Array):
        return np.ones(1, t.dtype)
    return 1 if sequence(t)[0] is not None else sample(t)


def _tile(A: Type, reps: Any) -> Type:
    t = type_of(reps)
    items, length = sequence(t)
    if isinstance(t, Array):
        items, length = ((Scalar(t.dtype),), None) if t.shape != () else (None, None)
        if t.shape is not None and len(t.shape) == 1 and t.shape[0] is not None:
            items, length = (Scalar(t.dtype),) * t.shape[0], t.shape[0]
    elif items is None:
        items, length = (t,), 1
    if isinstance(t, Array) and t.shape == ():
        items, length = (Scalar(t.dtype),), 1
    if length is None or items is None:
        return Array(dtype_in(A), None)
    if len(items) != length:
        items = items * length
    counts: list[Dim] = [
        int(i.value) if isinstance(i, Const) and isinstance(i.value, (int, np.integer)) else None
        for i in items
    ]
    shape: Any = shape_of(A)
    rank = max(len(counts), len(shape))
    counts = [*[1] * (rank - len(counts)), *counts]
    shape = (1,) * (rank - len(shape)) + shape
    if any(c is not None and c < 0 for c in counts):
        return BOTTOM
    return Array(dtype_in(A), tuple(times(d, c) for d, c in zip(shape, counts)))


def _flip(m: Type, axis: Static = None) -> Type:
    shape: Any = shape_of(m)
    value = quietly(np.flip, sample(m), axis)
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape)


def _roll(a: Type, shift: Any, axis: Static = None) -> Type:
    shape: Any = shape_of(a)
    count = type_of(shift)
    if axis is None:
        return Array(dtype_in(a), shape)
    if not isinstance(count, (Const, Py, Scalar)) and sequence(count)[0] is None and shape_of(count) is None:
        raise NeedConcrete("'shift'")
    axes = axis if isinstance(axis, tuple) else (axis,)
    return BOTTOM if any(axes_of(i, len(shape)) is BOTTOM for i in axes) else Array(dtype_in(a), shape)


def _rot90(m: Type, k: Any = 1, axes: Static = (0, 1)) -> Type:
    shape: Any = shape_of(m)
    places = axes_of(axes, len(shape))
    if places is BOTTOM or len(places) != 2:
        return BOTTOM
    turned = list(shape)
    turned[places[0]], turned[places[1]] = shape[places[1]], shape[places[0]]
    turns = type_of(k)
    same, other = Array(dtype_in(m), tuple(shape)), Array(dtype_in(m), tuple(turned))
    if isinstance(turns, Const):
        return other if turns.value % 2 else same
    return join(same, other)


def _pad(array: Type, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Type:
    shape: Any = shape_of(array)
    if callable(mode.value if isinstance(mode, Const) else mode):
        raise Refuse("'np.pad' with a function as mode", "", "Use one of the named modes.")
    try:
        widths = np.broadcast_to(_static_width(pad_width), (len(shape), 2))
    except (NeedConcrete, ValueError, TypeError):
        return Array(dtype_in(array), (None,) * len(shape))
    dims = tuple(plus(d, int(w[0]), int(w[1])) for d, w in zip(shape, widths))
    return Array(dtype_in(array), dims if all((d or 0) >= 0 for d in dims) else (None,) * len(shape))


def _static_width(value: Any) -> Any:
    return static(value, "'pad_width'")


def _triangle(fn: Any) -> Any:
    def body(m: Type, k: Any = 0) -> Type:
        shape: Any = shape_of(m)
        value = quietly(fn, np.ones((1,) * len(shape), dtype_in(m)))
        if isinstance(value, Exception):
            return BOTTOM
        return Array(value.dtype, shape if len(shape) != 1 else (shape[0], shape[0]))

    return typed(body)


def _minus_offset(rows: Dim, columns: Dim, k: Any) -> Dim:
    """The length of the k-th diagonal."""
    offset = type_of(k)
    if rows is None or columns is None or not isinstance(offset, Const):
        return None
    n = int(offset.value)
    return max(min(rows, columns - n) if n >= 0 else min(rows + n, columns), 0)


def _diag(v: Type, k: Any = 0) -> Type:
    shape: Any = shape_of(v)
    if len(shape) == 1:
        offset = type_of(k)
        n = plus(shape[0], abs(int(offset.value))) if isinstance(offset, Const) else None
        return Array(dtype_in(v), (n, n))
    if len(shape) != 2:
        return BOTTOM
    return Array(dtype_in(v), (_minus_offset(shape[0], shape[1], k),))


def _diagflat(v: Type, k: Any = 0) -> Type:
    return _diag(Array(dtype_in(v), (size_of(shape_of(v)),)), k)


def _diagonal(a: Type, offset: Any = 0, axis1: Static = 0, axis2: Static = 1) -> Type:
    shape: Any = shape_of(a)
    places = axes_of((axis1, axis2), len(shape))
    if places is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    rest = tuple(d for i, d in enumerate(shape) if i not in places)
    return Array(dtype_in(a), (*rest, _minus_offset(shape[places[0]], shape[places[1]], offset)))


def _outer(a: Type, b: Type, out: Any = None) -> Type:
    value = quietly(np.multiply, np.ones(1, dtype_in(a)), np.ones(1, dtype_in(b)))
    if isinstance(value, Exception):
        return BOTTOM
    return (
        type_of(out) if out is not None else Array(value.dtype, (size_of(shape_of(a)), size_of(shape_of(b))))
    )


def _kron(a: Type, b: Type) -> Type:
    first: Any = shape_of(a)
    second: Any = shape_of(b)
    rank = max(len(first), len(second))
    first, second = (1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second
    value = quietly(np.kron, sample(a), sample(b))
    if isinstance(value, Exception):
        return BOTTOM
    return result_type(value, tuple(times(m, n) for m, n in zip(first, second)))


def _append(arr: Type, values: Type, axis: Static = None) -> Type:
    first, second = _array(arr), _array(values)
    if axis is None:
        first, second = (Array(a.dtype, (size_of(a.shape),)) for a in (first, second))
        axis = 0
    return _concatenate.__wrapped__((first, second), axis)  # type: ignore[attr-defined, no-any-return]


def _insert_or_delete(fn: Any) -> Any:
    def insert(arr: Type, obj: Any, values: Type, axis: Static = None) -> Type:
        return unknown_along(arr, axis)

    def delete(arr: Type, obj: Any, axis: Static = None) -> Type:
        return unknown_along(arr, axis)

    return typed(insert if fn is np.insert else delete)


def unknown_along(arr: Type, axis: Any) -> Type:
    """An array like `arr`, of unknown length along `axis` (None: flattened)."""
    shape: Any = shape_of(arr)
    if axis is None:
        return Array(dtype_in(arr), (None,))
    places = axes_of(axis, len(shape))
    if places is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    return Array(dtype_in(arr), tuple(None if i == places[0] else d for i, d in enumerate(shape)))


def _resize(a: Type, new_shape: Any) -> Type:
    dims = sizes(new_shape)
    return BOTTOM if dims is BOTTOM else Array(dtype_in(a), dims)  # type: ignore[arg-type]


def _trim_zeros(filt: Any, trim: Static = "fb", axis: Static = None) -> Type:
    t = type_of(filt)
    if not isinstance(t, Array):
        raise Refuse(
            "'np.trim_zeros' of what is not an array",
            "Its result is then a list or tuple.",
            "Use np.asarray.",
        )
    if t.shape is None:
        return t
    if axis is None:
        return Array(t.dtype, (None,) * len(t.shape))
    return unknown_along(t, axis)


def _sliding_window_view(x: Type, window_shape: Static, axis: Static = None, **options: Any) -> Type:
    shape: Any = shape_of(x)
    windows = window_shape if isinstance(window_shape, tuple) else (window_shape,)
    places = axes_of(axis if axis is not None else tuple(range(len(shape))), len(shape))
    if places is BOTTOM or len(places) != len(windows):
        return BOTTOM
    dims = list(shape)
    for i, n in zip(places, windows):
        dims[i] = None if dims[i] is None else dims[i] - n + 1
        if n < 0 or (dims[i] is not None and dims[i] < 0):
            return BOTTOM
    return Array(dtype_in(x), (*dims, *(int(n) for n in windows)))


def _unstack(x: Type, /, *, axis: Static = 0) -> Type:
    shape: Any = shape_of(x)
    places = axes_of(axis, len(shape))
    if places is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    i = places[0]
    value = quietly(np.unstack, sample(x), axis=axis)
    part = result_type(value[0], (*shape[:i], *shape[i + 1 :]))
    if shape[i] is None:
        return SeqT(part)
    return TupleT((part,) * shape[i])


_concatenate = typed(_concatenate)
for _name, _rule, _traits in (
    ("reshape", typed(_reshape), "view"),
    ("ravel", typed(_ravel), "view"),
    ("transpose", typed(_transpose), "view"),
    ("matrix_transpose", typed(_matrix_transpose), "view"),
    ("swapaxes", typed(_swapaxes), "view"),
    ("moveaxis", typed(_moveaxis), "view"),
    ("rollaxis", typed(_rollaxis), "view"),
    ("expand_dims", typed(_expand_dims), "view"),
    ("squeeze", typed(_squeeze), "view"),
    ("broadcast_to", typed(_broadcast_to), "view"),
    ("broadcast_arrays", typed(_broadcast_arrays), "view"),
    ("broadcast_shapes", _broadcast_shapes, ""),
    ("hstack", _stacker(lambda s: s or (1,), lambda rank: 0 if rank == 1 else 1), ""),
    ("vstack", _stacker(_two, lambda rank: 0), ""),
    ("dstack", _stacker(_three, lambda rank: 2), ""),
    ("block", _block, ""),
    ("atleast_1d", _atleast(np.atleast_1d, lambda s: s or (1,)), "view"),
    ("atleast_2d", _atleast(np.atleast_2d, _two), "view"),
    ("atleast_3d", _atleast(np.atleast_3d, _three), "view"),
    ("repeat", typed(_repeat), ""),
    ("tile", typed(_tile), ""),
    ("flip", typed(_flip), "view"),
    ("roll", typed(_roll), ""),
    ("rot90", typed(_rot90), "view"),
    ("pad", typed(_pad), ""),
    ("triu", _triangle(np.triu), ""),
    ("tril", _triangle(np.tril), ""),
    ("diag", typed(_diag), "view"),
    ("diagflat", typed(_diagflat), ""),
    ("diagonal", typed(_diagonal), "view"),
    ("kron", typed(_kron), ""),
    ("append", typed(_append), ""),
    ("insert", _insert_or_delete(np.insert), ""),
    ("delete", _insert_or_delete(np.delete), ""),
    ("resize", typed(_resize), ""),
    ("trim_zeros", typed(_trim_zeros), "view"),
    ("lib.stride_tricks.sliding_window_view", typed(_sliding_window_view), "view"),
    ("unstack", typed(_unstack), "view"),
    ("split", _splitter(np.split, lambda rank: None), "view"),
    ("array_split", _splitter(np.array_split, lambda rank: None), "view"),
    ("hsplit", _splitter(np.hsplit, lambda rank: 0 if rank == 1 else 1), "view"),
    ("vsplit", _splitter(np.vsplit, lambda rank: 0), "view"),
    ("dsplit", _splitter(np.dsplit, lambda rank: 2), "view"),
):
    numpy_op(_name, _rule, *filter(None, [_traits]))
numpy_op("concatenate", _concatenate, out=2)
numpy_op("stack", typed(_stack), out=2)
numpy_op("outer", typed(_outer), out=2)


def _same(arguments: dict[str, Any]) -> Any:
    return shape_of(arguments["m"])


def _column_stack(tup: Types) -> Type:
    if not tup:
        return BOTTOM
    parts = [Array(dtype_in(a), _column(shape_of(a))) for a in tup]
    shape = joined(parts, 1)
    return (
        BOTTOM
        if isinstance(shape, Type)
        else _joined_type(np.concatenate, parts, shape, None, None, "same_kind")
    )


def _flipper(axis: int) -> Any:
    def body(m: Type) -> Type:
        shape: Any = shape_of(m)
        return BOTTOM if len(shape) <= axis else Array(dtype_in(m), shape)

    return typed(body)


numpy_op("column_stack", typed(_column_stack))
numpy_op("fliplr", _flipper(1), "view")
numpy_op("flipud", _flipper(0), "view")
