"""Functions that make arrays: from sizes, ranges, lists and other arrays."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM, Array, Const, Dim, Py, Scalar, TupleT, Type, join, members
from autograph.ops.base import (
    NeedConcrete,
    Refuse,
    array_like,
    broadcast,
    checked_dtype,
    define,
    result_type,
    sample,
    shape_of,
    static,
    type_of,
)
from autograph.ops.rules import Static, data, numpy_op, quietly, sizes, typed
from autograph.ops.shaping import joined

__all__ = ["dtype_of"]


def dtype_of(dtype: Any, default: Any = None) -> np.dtype[Any] | Type:
    """The dtype that an argument names; BOTTOM if it names none.

    >>> dtype_of("f4"), dtype_of(int), dtype_of("no such type")
    (dtype('float32'), dtype('int64'), never)
    """
    dtype = static(dtype, "'dtype'")
    try:
        return checked_dtype(np.dtype(default if dtype is None else dtype))
    except TypeError:
        return BOTTOM


def _of_shape(default: Any = float) -> Any:
    def rule(
        shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
    ) -> Type:
        return _array(sizes(shape), dtype_of(dtype, default))

    return typed(rule)


def _array(shape: Any, dtype: Any) -> Type:
    if shape is BOTTOM or dtype is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    return Array(dtype, shape)


def _full(
    shape: Any,
    fill_value: Type,
    dtype: Static = None,
    order: Static = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Type:
    value = quietly(np.asarray, sample(fill_value))
    dims = sizes(shape)
    if dims is BOTTOM or isinstance(dims, Type):
        return BOTTOM
    if dims is not None and broadcast(dims, shape_of(fill_value)) is BOTTOM and 0 not in dims:
        return BOTTOM
    return _array(dims, checked_dtype(value.dtype) if dtype is None else dtype_of(dtype))


def _like(fn: Any) -> Any:
    def rule(
        prototype: Type,
        dtype: Static = None,
        order: Static = "K",
        subok: Static = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Type:
        made = quietly(np.empty_like, sample(prototype), dtype)
        if isinstance(made, Exception):
            return BOTTOM
        return _array(shape_of(prototype) if shape is None else sizes(shape), checked_dtype(made.dtype))

    def named(a: Any, *args: Any, **kwargs: Any) -> Type:
        return typed(rule)(a, *args, **kwargs)

    def prototype(prototype: Any, *args: Any, **kwargs: Any) -> Type:
        return typed(rule)(prototype, *args, **kwargs)

    def filled(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Type:
        result = typed(rule)(a, *args, **kwargs)
        return BOTTOM if type_of(fill_value) == Const(None) else result

    return {"empty_like": prototype, "full_like": filled}.get(fn.__name__, named)


def _arange_length(start: Any, stop: Any, step: Any) -> Dim:
    try:
        length = math.ceil((stop - start) / step)
    except (ZeroDivisionError, OverflowError, ValueError, TypeError):
        return None
    return len(np.arange(start, stop, step)) if length < 1_000_000 else None


def _arange(*args: Any, dtype: Any = None, device: Any = None, like: Any = None, **named: Any) -> Type:
    if len(args) > 4 or (not args and not named):
        return BOTTOM
    order = ("start", "stop", "step", "dtype")
    given = {**dict(zip(order, args)), **named}
    if len(args) == 1 and "stop" not in named:
        given = {**named, "start": 0, "stop": args[0]}
    dtype = static(given.pop("dtype", dtype), "'dtype'")
    if set(given) - set(order):
        return BOTTOM
    if "start" not in given:
        given["start"] = 0
    if given.get("stop") is None:
        given = {**given, "start": 0, "stop": given["start"]} if "stop" not in given else given
    types = [type_of(given[n]) for n in ("start", "stop", "step") if n in given]
    types = [Const(0) if t == Const(None) and i == 0 else t for i, t in enumerate(types)]
    if any(isinstance(t, Array) and t.shape not in ((), None) for t in types):
        return _arange_of_arrays(types, dtype)
    values = [sample(Array(t.dtype, ()) if isinstance(t, Array) else t) for t in types]
    if all(isinstance(t, Const) for t in types):
        try:
            value = quietly(np.arange, *values, dtype=dtype) if _is_short(values) else None
        except TypeError:
            value = None
        if isinstance(value, np.ndarray):
            return Array(checked_dtype(value.dtype), value.shape)
        if isinstance(value, Exception):
            return BOTTOM
    small = [np.ones((), t.dtype)[()] if isinstance(t, Scalar) else _small(v) for t, v in zip(types, values)]
    value = quietly(np.arange, *small, dtype=dtype)
    if isinstance(value, Exception):
        return BOTTOM
    return Array(checked_dtype(value.dtype), (None,))


def _small(value: Any) -> Any:
    return (
        type(value)(1)
        if type(value) in (bool, int, float, complex) or isinstance(value, np.generic)
        else value
    )


def _is_short(values: list[Any]) -> bool:
    start, stop, step = (*values, 1)[:3] if len(values) < 3 else values
    with np.errstate(all="ignore"):
        return bool(step and abs((stop - start) / (1 if step is None else step)) < 1_000_000)


def _arange_of_arrays(types: list[Type], dtype: Any) -> Type:
    raise Refuse("'np.arange' of arrays that are not 0-d", "", "Give it numbers.")


def _linspace(
    start: Type,
    stop: Type,
    num: Any = 50,
    endpoint: Static = True,
    retstep: Static = False,
    dtype: Static = None,
    axis: Static = 0,
    *,
    device: Any = None,
) -> Type:
    dims = sizes(num)
    if not isinstance(dims, tuple) or len(dims) != 1:
        return BOTTOM
    shape = broadcast(shape_of(start), shape_of(stop))
    if isinstance(shape, Type):
        return BOTTOM
    results = []
    for count in (0, 1, 2, 3) if dims[0] is None else (min(dims[0], 3),):
        value = quietly(np.linspace, sample(start), sample(stop), count, endpoint, retstep, dtype, axis)
        if isinstance(value, Exception):
            continue
        results.append(_spaced(value, dims[0], shape, axis))
    return join(*results)


def _spaced(value: Any, num: Dim, shape: Any, axis: Any) -> Type:
    if isinstance(value, tuple):
        return TupleT((_spaced(value[0], num, shape, axis), result_type(value[1], shape)))
    place = axis % (len(shape) + 1)
    return result_type(value, (*shape[:place], num, *shape[place:]))


def _logspace(fn: Any) -> Any:
    def body(
        start: Type,
        stop: Type,
        num: Any = 50,
        endpoint: Static = True,
        base: Type = 10.0,  # type: ignore[assignment]
        dtype: Static = None,
        axis: Static = 0,
    ) -> Type:
        dims = sizes(num)
        if not isinstance(dims, tuple) or len(dims) != 1:
            return BOTTOM
        geometric = fn is np.geomspace
        shape = broadcast(shape_of(start), shape_of(stop), () if geometric else shape_of(base))
        if isinstance(shape, Type):
            return BOTTOM
        more = {} if geometric else {"base": sample(base)}
        value = quietly(fn, sample(start), sample(stop), 3, endpoint, dtype=dtype, axis=axis, **more)
        return BOTTOM if isinstance(value, Exception) else _spaced(value, dims[0], shape, axis)

    def logspace(
        start: Any,
        stop: Any,
        num: Any = 50,
        endpoint: Any = True,
        base: Any = 10.0,
        dtype: Any = None,
        axis: Any = 0,
    ) -> Type:
        return typed(body)(start, stop, num, endpoint, base, dtype, axis)

    def geomspace(
        start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0
    ) -> Type:
        return typed(body)(start, stop, num, endpoint, 10.0, dtype, axis)

    return geomspace if fn is np.geomspace else logspace


def _eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Static = float,
    order: Static = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Type:
    return _array(_pair(N, N if M is None else M), dtype_of(dtype, float))


def _pair(rows: Any, columns: Any) -> Any:
    first, second = sizes(rows), sizes(columns)
    if not (isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second) == 1):
        return BOTTOM
    return (first[0], second[0])


def _identity(n: Any, dtype: Static = None, *, like: Any = None) -> Type:
    return _array(_pair(n, n), dtype_of(dtype, float))


def _tri(N: Any, M: Any = None, k: Any = 0, dtype: Static = float, *, like: Any = None) -> Type:
    return _array(_pair(N, N if M is None else M), dtype_of(dtype, float))


def converted(t: Any, dtype: Any, ndmin: int = 0) -> Type:
    """The type of `np.array(t, dtype)`."""
    results: list[Type] = []
    if dtype is not None and isinstance(given := quietly(np.dtype, dtype), np.dtype):
        checked_dtype(given)
    for member in members(array_like(t)):
        assert isinstance(member, Array)
        new = quietly(np.dtype, dtype) if dtype is not None else member.dtype
        if isinstance(new, Exception):
            return BOTTOM
        if isinstance(type_of(t), Py) and type_of(t).cls is complex and new.kind not in "c":  # type: ignore[attr-defined]
            return BOTTOM
        shape = member.shape
        if ndmin:
            shape = None if shape is None else (1,) * (ndmin - len(shape)) + shape
        results.append(Array(checked_dtype(new), shape))
    return join(*results)


def _asarray(a: Any, dtype: Static = None, order: Static = None, **options: Any) -> Type:
    return converted(a, dtype)


def _new_array(
    object: Any,
    dtype: Static = None,
    *,
    copy: Static = True,
    order: Static = "K",
    subok: Static = False,
    ndmin: Static = 0,
    like: Any = None,
) -> Type:
    return converted(object, dtype, ndmin)


def _at_least_1d(a: Any, dtype: Static = None, *, like: Any = None) -> Type:
    return converted(a, dtype, 1)


def _copy(a: Any, order: Static = "K", subok: Static = False) -> Type:
    return converted(a, None)


def _meshgrid(*xi: Type, copy: Static = True, sparse: Static = False, indexing: Static = "xy") -> Type:
    lengths: list[Any] = []
    for x in xi:
        size: Dim = 1
        for dim in shape_of(x) or ():
            size = None if size is None or dim is None else size * dim
        lengths.append(size)
    if indexing not in ("xy", "ij"):
        return BOTTOM
    outs: list[Type] = []
    swap = indexing == "xy" and len(xi) > 1
    for i, x in enumerate(xi):
        dims = [d if not sparse or j == i else 1 for j, d in enumerate(lengths)]
        if swap:
            dims[0], dims[1] = dims[1], dims[0]
        outs.append(Array(np.asarray(sample(x)).dtype, tuple(dims)))
    return TupleT(tuple(outs))


def _vander(x: Type, N: Any = None, increasing: Static = False) -> Type:
    shape = shape_of(x)
    if shape is None or len(shape) != 1:
        return BOTTOM
    dims = sizes(N) if N is not None else shape
    value = quietly(np.vander, sample(x))
    if isinstance(value, Exception) or not isinstance(dims, tuple):
        return BOTTOM
    return result_type(value, (shape[0], dims[0]))


def _indices(dimensions: Any, dtype: Static = int, sparse: Static = False) -> Type:
    dims = sizes(dimensions)
    kind = dtype_of(dtype, int)
    if isinstance(dims, Type) or isinstance(kind, Type):
        return BOTTOM
    if dims is None:
        raise NeedConcrete("the number of dimensions")
    if not sparse:
        return Array(kind, (len(dims), *dims))
    return TupleT(
        tuple(Array(kind, tuple(d if i == j else 1 for j, d in enumerate(dims))) for i in range(len(dims)))
    )


def _fromfunction(*args: Any, **kwargs: Any) -> Type:
    raise Refuse(
        "'np.fromfunction' is called",
        "It calls a function of yours from inside NumPy, which a graph cannot see.",
        "Call the function with np.indices(shape).",
    )


def _fromiter(iter: Any, dtype: Static, count: Any = -1, *, like: Any = None) -> Type:
    kind = dtype_of(dtype)
    return _array((None,), kind)


for _name, _default in (("zeros", float), ("ones", float), ("empty", float)):
    numpy_op(_name, _of_shape(_default))
for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    numpy_op(_name, _like(getattr(np, _name)))
numpy_op("full", typed(_full))
numpy_op("arange", _arange)
numpy_op("linspace", typed(_linspace))
numpy_op("logspace", _logspace(np.logspace))
numpy_op("geomspace", _logspace(np.geomspace))
numpy_op("eye", typed(_eye))
numpy_op("identity", typed(_identity))
numpy_op("tri", typed(_tri))
numpy_op("array", typed(_new_array))
numpy_op("asarray", typed(_asarray), "view")
numpy_op("asanyarray", typed(_asarray), "view")
numpy_op("asarray_chkfinite", typed(_asarray), "view")
numpy_op("require", typed(_asarray), "view")
numpy_op("ascontiguousarray", typed(_at_least_1d), "view")
numpy_op("asfortranarray", typed(_at_least_1d), "view")
numpy_op("copy", typed(_copy))
numpy_op("meshgrid", typed(_meshgrid))
numpy_op("vander", typed(_vander))
numpy_op("indices", typed(_indices))
numpy_op("fromfunction", _fromfunction)
numpy_op("fromiter", typed(_fromiter))


def _window(fn: Any) -> Any:
    def rule(M: Any, *rest: Any) -> Type:
        t = type_of(M)
        if not isinstance(t, Const):
            value = quietly(fn, sample(t), *map(sample, rest))
            return BOTTOM if isinstance(value, Exception) else Array(value.dtype, (None,))
        if not isinstance(t.value, (int, float, np.number)):
            return BOTTOM
        value = quietly(fn, t.value, *map(sample, rest))
        return BOTTOM if isinstance(value, Exception) else Array(value.dtype, value.shape)

    return rule


for _name in ("hamming", "hanning", "blackman", "bartlett", "kaiser"):
    numpy_op(_name, _window(getattr(np, _name)))


def mgrid(index: Any) -> Any:
    """`np.mgrid[index]` as a function."""
    return np.mgrid[index]


def ogrid(index: Any) -> Any:
    """`np.ogrid[index]` as a function."""
    return np.ogrid[index]


def _grid(sparse: bool) -> Any:
    def rule(index: Any) -> Type:
        if isinstance(index, TupleT):
            index = index.items
        parts = [
            p.value if isinstance(p, Const) else p for p in (index if isinstance(index, tuple) else (index,))
        ]
        if not all(isinstance(p, slice) for p in parts):
            raise NeedConcrete("the slices of a grid")
        ranges = [_range_of(p) for p in parts]
        kinds = {a.dtype for a, _ in ranges}
        dtype = np.result_type(*kinds)
        dims = tuple(d for _, d in ranges)
        if not isinstance(index, tuple):
            return Array(dtype, dims)
        if not sparse:
            return Array(dtype, (len(dims), *dims))
        places = range(len(dims))
        return TupleT(
            tuple(Array(dtype, tuple(d if i == j else 1 for j, d in enumerate(dims))) for i in places)
        )

    return rule


def _range_of(s: slice) -> tuple[Any, Dim]:
    """A sample of one dimension of a grid, and its length."""
    bounds = [type_of(v) for v in (s.start, s.stop, s.step)]
    if all(isinstance(b, Const) for b in bounds):
        value = quietly(lambda: np.mgrid[slice(*(b.value for b in bounds))])  # type: ignore[attr-defined]
        if isinstance(value, Exception):
            raise Refuse(f"a grid over {s} ({value})")
        return value, len(value)
    if isinstance(bounds[2], Py) and bounds[2].cls is complex:
        value = np.mgrid[sample(bounds[0]) if s.start is not None else 0 : sample(bounds[1]) : 3j]
        return value, None
    samples = [sample(b) for b in bounds]
    value = quietly(lambda: np.mgrid[(slice(*samples),)][0])
    if isinstance(value, Exception):  # the sample of an end lies before a start that is known
        value = np.empty(0, np.result_type(*(s for s in samples if s is not None)))
    length = len(value) if isinstance(bounds[2], Const) and isinstance(bounds[2].value, complex) else None
    return value, length


define("np.mgrid[]", mgrid, _grid(False), handles=(np.mgrid,))
define("np.ogrid[]", ogrid, _grid(True), handles=(np.ogrid,))


def r_(index: Any) -> Any:
    """`np.r_[index]` as a function."""
    return np.r_[index]


def c_(index: Any) -> Any:
    """`np.c_[index]` as a function."""
    return np.c_[index]


def _side_by_side(fn: Any, axis: int, least: int) -> Any:
    def rule(index: Any) -> Type:
        items = index.items if isinstance(index, TupleT) else index if isinstance(index, tuple) else (index,)
        choices = [_pieces(item) for item in items]
        return join(*(_joined_pieces(fn, pieces, axis, least) for pieces in itertools.product(*choices)))

    return rule


def _pieces(item: Any) -> list[tuple[Any, Any]]:
    """The alternatives of one part of an index of `np.r_`: a sample and the shape."""
    if isinstance(item, Const) and isinstance(item.value, slice):
        item = item.value
    if isinstance(item, slice):
        value, length = _range_of(item)
        return [(value[:1] if len(value) else np.ones(1, value.dtype), (length,))]
    choices = []
    for t in data(item):
        if isinstance(t, str) or not isinstance(t, Type) or (isinstance(t, Array) and t.shape is None):
            raise Refuse(
                f"np.r_ or np.c_ with {item!r}",
                "The number of dimensions of each part must be known while the graph is built.",
                "Use np.concatenate.",
            )
        choices.append((sample(t), shape_of(t)))
    return choices


def _joined_pieces(fn: Any, pieces: tuple[tuple[Any, Any], ...], axis: int, least: int) -> Type:
    value = quietly(fn, tuple(v for v, _ in pieces))
    if isinstance(value, Exception):
        return BOTTOM
    padded = []
    for _, shape in pieces:
        ones = (1,) * (least - len(shape))
        padded.append(Array(value.dtype, (*shape, *ones) if len(shape) == 1 else (*ones, *shape)))
    shape = joined(padded, axis)
    return BOTTOM if isinstance(shape, Type) else Array(checked_dtype(value.dtype), shape)


define("np.r_[]", r_, _side_by_side(r_, 0, 1), handles=(np.r_,))
define("np.c_[]", c_, _side_by_side(c_, -1, 2), handles=(np.c_,))
