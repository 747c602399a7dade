"""Functions that choose, search, sort and count elements, and numerical functions of one or two arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM, Array, Const, Dim, Py, Scalar, TupleT, Type, join, members
from autograph.ops.base import (
    NeedConcrete,
    Refuse,
    broadcast,
    result_type,
    sample,
    sequence,
    shape_of,
    type_of,
)
from autograph.ops.reductions import same_or_flat
from autograph.ops.rules import (
    Static,
    Types,
    data,
    into,
    numpy_op,
    probed,
    quietly,
    sizes,
    typed,
)
from autograph.ops.shaping import axes_of, dtype_in, plus, size_of, unknown_along

__all__: list[str] = []

INTP = np.dtype(np.intp)


def _shape_like(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda arguments: shape_of(arguments[name])


# -- choosing --------------------------------------------------------------------------------------


_ABSENT = Const(Ellipsis)


def _where(condition: Type, x: Type = _ABSENT, y: Type = _ABSENT, /) -> Type:
    if x is _ABSENT and y is _ABSENT:
        return _nonzero(condition)
    if x is _ABSENT or y is _ABSENT:
        return BOTTOM
    shape = broadcast(shape_of(condition), shape_of(x), shape_of(y))
    if isinstance(shape, Type):
        return BOTTOM
    value = quietly(np.where, sample(condition), sample(x), sample(y))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape)


def _nonzero(a: Type) -> Type:
    shape = shape_of(a)
    if not shape and isinstance(quietly(np.nonzero, sample(a)), Exception):
        return BOTTOM
    return TupleT((Array(INTP, (None,)),) * max(len(shape or ()), 1))


def _argwhere(a: Type) -> Type:
    return Array(INTP, (None, len(shape_of(a) or ())))


def _select(condlist: Types, choicelist: Types, default: Type = 0) -> Type:  # type: ignore[assignment]
    if len(condlist) != len(choicelist) or not condlist:
        return BOTTOM
    shape = broadcast(*map(shape_of, (*condlist, *choicelist, default)))
    if isinstance(shape, Type):
        return BOTTOM
    value = quietly(np.select, [*map(sample, condlist)], [*map(sample, choicelist)], sample(default))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape)


def _choose(a: Type, choices: Types, out: Any = None, mode: Static = "raise") -> Type:
    shape = broadcast(shape_of(a), *map(shape_of, choices))
    if isinstance(shape, Type):
        return BOTTOM
    index = np.zeros((1,) * len(shape_of(a) or ()), dtype_in(a))
    value = quietly(
        np.choose, index if isinstance(a, Array) else index[()], [*map(sample, choices)], mode=mode
    )
    if isinstance(value, Exception):
        return BOTTOM
    return into(out, isinstance(a, Scalar)) if out is not None else result_type(value, shape)


def _clip(
    a: Type,
    a_min: Type | None = None,
    a_max: Type | None = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **options: Any,
) -> Type:
    bounds = [b for b in (a_min, a_max) if b is not None]
    for named in (min, max):
        if named is not None and type_of(named) != Const(None):
            (bound,) = data(named) if len(data(named)) == 1 else (None,)
            if bound is None:
                raise Refuse("'np.clip' with a list of unknown length as a bound")
            bounds.append(bound)
    shape = broadcast(shape_of(a), *map(shape_of, bounds))
    if isinstance(shape, Type):
        return BOTTOM
    lower = sample(a_min) if a_min is not None else _sample_or_none(min)
    upper = sample(a_max) if a_max is not None else _sample_or_none(max)
    value = quietly(np.clip, sample(a), lower, upper, **options)
    if isinstance(value, Exception):
        return BOTTOM
    return into(out, isinstance(a, Scalar)) if out is not None else result_type(value, shape)


def _sample_or_none(value: Any) -> Any:
    return None if value is None or type_of(value) == Const(None) else sample(data(value)[0])


def taken(a: Type, indices: Any, axis: Any) -> Type:
    """The type of `np.take` for an index argument that is a number or array."""
    shape: Any = shape_of(a)
    places: Any = shape_of(indices)
    if axis is None:
        result: Any = places
    else:
        found = axes_of(axis, max(len(shape), 1))
        if found is BOTTOM:
            return BOTTOM  # type: ignore[no-any-return]
        i = found[0]
        result = (*shape[:i], *places, *shape[i + 1 :])
    return Array(dtype_in(a), result)


def _take(a: Type, indices: Type, axis: Static = None, out: Any = None, mode: Static = "raise") -> Type:
    result = taken(a, indices, axis)
    value = quietly(np.take, sample(a), _zero(indices), axis, mode=mode)
    if result is BOTTOM or isinstance(value, Exception):
        return BOTTOM
    return into(out, isinstance(a, Scalar)) if out is not None else result_type(value, shape_of(result))


def _zero(t: Any) -> Any:
    return np.zeros_like(sample(t)) if isinstance(t, Array) else type(sample(t))(0)


def _take_along_axis(arr: Type, indices: Type, axis: Static = -1) -> Type:
    shape: Any = shape_of(arr)
    places: Any = shape_of(indices)
    if not isinstance(arr, Array) or not isinstance(indices, Array) or indices.dtype.kind not in "iu":
        return BOTTOM
    if axis is None:
        return BOTTOM if len(places) != 1 else Array(arr.dtype, places)
    found = axes_of(axis, len(shape))
    if found is BOTTOM or len(places) != len(shape):
        return BOTTOM
    i = found[0]
    rest = broadcast((*shape[:i], 1, *shape[i + 1 :]), (*places[:i], 1, *places[i + 1 :]))
    if isinstance(rest, Type) or rest is None:
        return BOTTOM
    return Array(arr.dtype, (*rest[:i], places[i], *rest[i + 1 :]))


def writing(*, scalars: bool = False) -> Callable[..., Type]:
    """The rule of a function that writes into its first operand and gives None.

    `scalars`: NumPy scalars are taken too (a copy is written).
    """

    def rule(a: Any, *args: Any, **kwargs: Any) -> Type:
        t = type_of(a)
        scalar = isinstance(t, Scalar) or (isinstance(t, Const) and isinstance(t.value, np.generic))
        if not isinstance(t, Array) and not (scalars and scalar):
            return BOTTOM
        return Const(None)

    return rule


def _compress(condition: Type, a: Type, axis: Static = None, out: Any = None) -> Type:
    if len(shape_of(condition) or ()) != 1:
        return BOTTOM
    if out is not None:
        return type_of(out)
    return unknown_along(a, axis)


def _extract(condition: Type, arr: Type) -> Type:
    return Array(dtype_in(arr), (None,))


# -- sorting and searching -------------------------------------------------------------------------


def _sorted_shape(arguments: dict[str, Any]) -> Any:
    return same_or_flat(arguments)


def _lexsort(keys: Types, axis: Static = -1) -> Type:
    shapes = {shape_of(k) for k in keys}
    if not keys:
        return BOTTOM
    rank = len(next(iter(shapes)) or ())
    if any(len(s or ()) != rank for s in shapes):
        return BOTTOM
    dims = tuple(next((s[i] for s in shapes if s and s[i] is not None), None) for i in range(rank))
    value = quietly(np.lexsort, [np.ones((1,) * rank, dtype_in(k)) for k in keys], axis)
    return BOTTOM if isinstance(value, Exception) else result_type(value, dims)


def _searchsorted(a: Type, v: Type, side: Static = "left", sorter: Any = None) -> Type:
    if len(shape_of(a) or ()) != 1:
        return BOTTOM
    value = quietly(np.searchsorted, sample(a), sample(v), side)
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(v))


def _unique(
    ar: Type,
    return_index: Static = False,
    return_inverse: Static = False,
    return_counts: Static = False,
    axis: Static = None,
    *,
    equal_nan: Static = True,
    sorted: Static = True,
) -> Type:
    shape: Any = shape_of(ar)
    value = quietly(np.unique, sample(ar), True, return_inverse, True, axis)
    if isinstance(value, Exception):
        return BOTTOM
    if axis is None:
        values: Shape = (None,)
    else:
        i = axis % len(shape)
        values = tuple(None if j == i else d for j, d in enumerate(shape))
    results: list[Type] = [Array(dtype_in(ar), values)]
    if return_index:
        results.append(Array(INTP, (None,)))
    if return_inverse:
        inverse = value[2]
        flat = inverse.ndim != len(shape)
        dims: Any = (size_of(shape) if axis is None else shape[axis],) if flat else shape
        if axis is not None and not flat:
            dims = (
                tuple(d if j == axis % len(shape) else 1 for j, d in enumerate(shape))
                if inverse.ndim > 1
                else shape
            )
        results.append(Array(INTP, (None,) * inverse.ndim if axis is not None else dims))
    if return_counts:
        results.append(Array(INTP, (None,)))
    return results[0] if len(results) == 1 else TupleT(tuple(results))


Shape = tuple[Dim, ...]


def _unique_named(fn: Any) -> Any:
    def body(x: Type, /) -> Type:
        value = quietly(fn, sample(x))
        if isinstance(value, Exception):
            return BOTTOM
        items = []
        for name, part in zip(value._fields, value):
            items.append(Array(part.dtype, shape_of(x) if name == "inverse_indices" else (None,)))
        return TupleT(tuple(items), type(value))

    return typed(body)


def _unknown_length(fn: Any, *names: str) -> Any:
    """The rule of a set function of two arrays: a 1-d array."""

    def shape(arguments: dict[str, Any]) -> Any:
        return [(None,)] * 3 if arguments.get("return_indices") else (None,)

    return probed(fn, shape)


def _bincount(x: Type, /, weights: Type | None = None, minlength: Any = 0) -> Type:
    shape = shape_of(x)
    if shape is None or len(shape) != 1:
        return BOTTOM
    value = quietly(
        np.bincount, np.ones(1, dtype_in(x)), None if weights is None else np.ones(1, dtype_in(weights))
    )
    if isinstance(value, TypeError) and 0 in shape:
        value = quietly(
            np.bincount, np.ones(0, dtype_in(x)), None if weights is None else np.ones(0, dtype_in(weights))
        )
    if isinstance(value, TypeError) and None in shape and isinstance(x, Array) and x.dtype == np.float64:
        value = np.bincount([0])  # an empty list is float64
    if isinstance(value, Exception):
        return BOTTOM
    result = Array(value.dtype, (None,))
    if weights is None or shape[0] not in (0, None):
        return result
    counts = Array(INTP, (None,))  # of nothing, even with weights
    return counts if shape[0] == 0 else join(result, counts)


def _bin_dims(bins: Any) -> Dim:
    t = type_of(bins)
    if isinstance(t, Const) and isinstance(t.value, (int, np.integer)):
        return int(t.value)
    if isinstance(t, (Array,)) and t.shape is not None and len(t.shape) == 1 and t.shape[0] is not None:
        return t.shape[0] - 1
    _, length = sequence(t)
    return None if length is None else length - 1


def _histogram(fn: Any) -> Any:
    def body(
        a: Type, bins: Any = 10, range: Any = None, density: Static = None, weights: Type | None = None
    ) -> Type:
        t = type_of(bins)
        if isinstance(t, Py) and t.cls is str:
            raise NeedConcrete("'bins'")
        kind = bins if isinstance(t, Const) and isinstance(t.value, str) else None
        n = None if kind else _bin_dims(t)
        count = plus(n, 1) if n is not None else None
        if fn is np.histogram_bin_edges:
            return _edges(a, t, range, count)
        values = quietly(np.histogram, np.ones(2, dtype_in(a)), 3, None, density, _some(weights))
        if isinstance(values, Exception):
            return BOTTOM
        return TupleT((Array(values[0].dtype, (n,)), _edges(a, t, range, count)))

    return typed(body)


def _some(weights: Any) -> Any:
    return None if weights is None else np.ones(2, dtype_in(weights))


def _edges(a: Type, bins: Type, range_: Any, count: Dim) -> Type:
    options = data(bins) if sequence(bins)[0] is not None else [bins]
    results = []
    for option in options:
        if isinstance(option, Array) and option.shape != ():
            results.append(Array(option.dtype, (count,)))
            continue
        limits = None if range_ is None else (np.float32(0), np.float32(1)) if False else _limits(range_)
        for values in (np.ones(2, dtype_in(a)), np.ones(0, dtype_in(a))):
            value = quietly(np.histogram_bin_edges, values, 3, limits)
            if not isinstance(value, Exception):
                results.append(Array(value.dtype, (count,)))
    return join(*results)


def _limits(range_: Any) -> Any:
    low, high = (sample(i) for i in (sequence(type_of(range_))[0] or (Const(0.0), Const(1.0))))
    return (low, low + type(low)(1)) if not low < high else (low, high)


def _digitize(x: Type, bins: Type, right: Any = False) -> Type:
    if len(shape_of(bins) or ()) != 1:
        return BOTTOM
    value = quietly(np.digitize, sample(x), sample(bins))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(x))


def _interp(x: Type, xp: Type, fp: Type, left: Any = None, right: Any = None, period: Any = None) -> Type:
    if len(shape_of(xp) or ()) != 1 or len(shape_of(fp) or ()) != 1:
        return BOTTOM
    value = quietly(np.interp, sample(x), sample(xp), sample(fp))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(x))


def _answers_bool(fn: Any) -> Any:
    def body(*args: Type) -> Type:
        value = quietly(fn, *map(sample, args))
        return BOTTOM if isinstance(value, TypeError) else Py(bool)

    def rule(a: Any, b: Any = None, /, *rest: Any, **options: Any) -> Type:
        for name in ("a", "b", "a1", "a2"):
            if name in options:
                raise Refuse(f"'{fn.__name__}' with its arrays given by name", "", "Give them by position.")
        return typed(body)(a, b)

    return rule


def _isclose(a: Type, b: Type, rtol: Type = 1e-5, atol: Type = 1e-8, equal_nan: Any = False) -> Type:  # type: ignore[assignment]
    shape = broadcast(*map(shape_of, (a, b, rtol, atol)))
    if isinstance(shape, Type):
        return BOTTOM
    value = quietly(np.isclose, sample(a), sample(b), sample(rtol), sample(atol))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape)


def _isin(element: Type, test_elements: Type, *rest: Any, **options: Any) -> Type:
    value = quietly(np.isin, sample(element), sample(test_elements))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(element))


# -- indices ---------------------------------------------------------------------------------------


def _triangle_indices(n: Any, k: Any = 0, m: Any = None) -> Type:
    part = Array(np.dtype(np.int64), (None,))
    values = [type_of(v) for v in (n, k, m)]
    if all(isinstance(v, Const) for v in values):
        value = quietly(np.tril_indices, *(v.value for v in values))  # type: ignore[attr-defined]
        if isinstance(value, Exception):
            return BOTTOM
    return TupleT((part, part))


def _triangle_indices_from(arr: Type, k: Any = 0) -> Type:
    return _triangle_indices(1) if len(shape_of(arr) or ()) == 2 else BOTTOM


def _diag_indices(n: Any, ndim: Static = 2) -> Type:
    dims = sizes(n)
    if not isinstance(dims, tuple) or len(dims) != 1:
        return BOTTOM
    return TupleT((Array(np.dtype(np.int64), dims),) * ndim)


def _ix(*args: Type) -> Type:
    out: list[Type] = []
    for i, a in enumerate(args):
        shape = shape_of(a)
        if shape is None or len(shape) != 1:
            return BOTTOM
        boolean = dtype_in(a).kind == "b"
        empty = isinstance(a, Array) and (shape[0] in (0, None)) and not boolean
        kinds = {INTP if boolean else dtype_in(a)} | ({INTP} if empty else set())
        dims = tuple((None if boolean else shape[0]) if i == j else 1 for j in range(len(args)))
        out.append(join(*(Array(k, dims) for k in kinds)))
    return TupleT(tuple(out))


def _unravel_index(indices: Type, shape: Any, order: Static = "C") -> Type:
    dims = sizes(shape)
    if isinstance(dims, Type):
        return BOTTOM
    if dims is None:
        raise NeedConcrete("the number of dimensions of 'shape'")
    value = quietly(np.unravel_index, _zero(indices), (1,) * len(dims), order)
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(indices))


def _ravel_multi_index(multi_index: Types, dims: Any, mode: Static = "raise", order: Static = "C") -> Type:
    shape = broadcast(*map(shape_of, multi_index))
    if isinstance(shape, Type):
        return BOTTOM
    value = quietly(np.ravel_multi_index, tuple(map(_zero, multi_index)), (1,) * len(multi_index))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape)


# -- numerical functions ---------------------------------------------------------------------------


def _gradient(f: Type, *varargs: Any, axis: Static = None, edge_order: Static = 1) -> Type:
    shape: Any = shape_of(f)
    value = quietly(np.gradient, np.ones((3,) * len(shape), dtype_in(f)), axis=axis, edge_order=edge_order)
    if isinstance(value, Exception):
        return BOTTOM
    steps = [d for v in varargs for d in data(v)]
    spaced = quietly(
        np.gradient,
        np.ones(3, dtype_in(f)),
        *(
            [
                np.arange(3).astype(dtype_in(s)) if isinstance(s, Array) and s.shape else sample(s)
                for s in steps[:1]
            ]
        ),
    )
    if isinstance(spaced, Exception) or (len(steps) > 1 and any(dtype_in(s).kind == "c" for s in steps)):
        raise Refuse("'np.gradient' with these steps")
    if isinstance(value, list):
        raise Refuse("a list of gradients", "", "Name the axis, or use an array.")
    if isinstance(value, (tuple, list)) and not value:
        return TupleT(())
    if isinstance(value, tuple):
        kinds = [np.result_type(value[0].dtype, spaced.dtype)] * len(value)
        return TupleT(tuple(Array(k, shape) for k in kinds)) if len(steps) <= 1 else _refuse_gradient()
    if len(steps) > 1:
        return _refuse_gradient()
    return Array(spaced.dtype, shape)


def _refuse_gradient() -> Type:
    raise Refuse("'np.gradient' with several steps", "", "Name one axis at a time.")


def _convolve(fn: Any) -> Any:
    def body(a: Type, v: Type, mode: Static = "valid" if fn is np.correlate else "full") -> Type:
        first, second = (np.ones((1,) * max(len(shape_of(t) or ()), 1), dtype_in(t)) for t in (a, v))
        value = quietly(fn, first, second, mode)
        if isinstance(value, Exception) or value.ndim != 1:
            return BOTTOM
        m, n = ((shape_of(t) or (1,))[0] for t in (a, v))
        if m is None or n is None:
            return Array(value.dtype, (None,))
        if 0 in (m, n):
            return BOTTOM
        size = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - min(m, n) + 1}.get(mode)
        return Array(value.dtype, (size,))

    return typed(body)


def _polyval(p: Type, x: Type) -> Type:
    if not isinstance(p, Array):
        return BOTTOM
    results = []
    for count in {0, 1, 2, 3} if None in (p.shape or ()) else {min((p.shape or (1,))[0] or 0, 3)}:
        value = quietly(np.polyval, np.ones((count, *(1 for _ in (p.shape or ())[1:])), p.dtype), sample(x))
        if isinstance(value, Exception):
            return BOTTOM
        results.append(result_type(value, shape_of(x)))
    return join(*results) if len(p.shape or ()) == 1 else BOTTOM


def _round(fn: Any) -> Any:
    def body(a: Type, decimals: Any = 0, out: Any = None) -> Type:
        digits = type_of(decimals)
        if not isinstance(digits, Const):
            digits = (
                Const(1) if quietly(np.round, 1.5, sample(digits)).__class__ is not TypeError else Const(None)
            )
        results = []
        for count in {digits.value} if isinstance(type_of(decimals), Const) else {0, 1, -1}:
            value = quietly(fn, sample(a), count)
            if isinstance(value, Exception):
                return BOTTOM
            results.append(result_type(value, shape_of(a)))
        return into(out, isinstance(a, Scalar)) if out is not None else join(*results)

    return typed(body)


def _cross_shape(arguments: dict[str, Any]) -> Any:
    return None


def _cov(fn: Any) -> Any:
    inner = probed(fn)

    def rule(m: Any, y: Any = None, *args: Any, **kwargs: Any) -> Type:
        results = []
        for a in data(m):
            shape = shape_of(a)
            if isinstance(a, Array) and shape is not None and len(shape) == 2 and shape[0] != 1:
                grown = inner(Array(a.dtype, (2, 3)), y, *args, **kwargs)
                kind = {
                    t.dtype
                    for t in (grown.members if hasattr(grown, "members") else (grown,))
                    if hasattr(t, "dtype")
                }
                if y is None and len(kind) == 1:
                    dtype = kind.pop()
                    n = shape[0] if not args and kwargs.get("rowvar", True) is True else None
                    results.append(
                        Array(dtype, (n, n))
                        if n is not None
                        else join(Array(dtype, (None, None)), *_zero_d(fn, dtype))
                    )
                    continue
            results.append(inner(a, y, *args, **kwargs))
        return join(*results)

    return rule


def _zero_d(fn: Any, dtype: Any) -> tuple[Type, ...]:
    return (Array(dtype, ()), Scalar(dtype))


def _piecewise(*args: Any, **kwargs: Any) -> Type:
    raise Refuse(
        "'np.piecewise' is called",
        "It calls functions of yours from inside NumPy, which a graph cannot see.",
        "Write np.where or np.select.",
    )


def _calls_back(name: str, instead: str) -> Callable[..., Type]:
    def rule(*args: Any, **kwargs: Any) -> Type:
        raise Refuse(
            f"'np.{name}' is called",
            "It calls a function of yours from inside NumPy, which a graph cannot see.",
            instead,
        )

    return rule


def _nan_to_num(x: Type, copy: Static = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Type:
    if copy is not True and copy is not np.True_:
        raise Refuse("'np.nan_to_num' with copy=False", "", "Write x[np.isnan(x)] = 0.")
    value = quietly(np.nan_to_num, sample(x))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(x))


def _like_sample(fn: Any, name: str) -> Any:
    """The rule of a function of one array that keeps its shape."""
    return probed(fn, _shape_like(name))


for _name, _rule, _traits in (
    ("where", typed(_where), ""),
    ("nonzero", typed(_nonzero), ""),
    ("argwhere", typed(_argwhere), ""),
    ("flatnonzero", typed(lambda a: Array(INTP, (None,))), ""),
    ("select", typed(_select), ""),
    ("choose", typed(_choose), ""),
    ("take", typed(_take), ""),
    ("take_along_axis", typed(_take_along_axis), ""),
    ("put", writing(scalars=True), "writes"),
    ("put_along_axis", writing(), "writes"),
    ("place", writing(), "writes"),
    ("putmask", writing(), "writes"),
    ("copyto", writing(), "writes"),
    ("fill_diagonal", writing(), "writes"),
    ("compress", typed(_compress), ""),
    ("extract", typed(_extract), ""),
    ("sort", probed(np.sort, same_or_flat), ""),
    ("argsort", probed(np.argsort, same_or_flat), ""),
    ("partition", probed(np.partition, same_or_flat, instead={"kth": 0}), ""),
    ("argpartition", probed(np.argpartition, same_or_flat, instead={"kth": 0}), ""),
    ("sort_complex", probed(np.sort_complex, _shape_like("a")), ""),
    ("lexsort", typed(_lexsort), ""),
    ("searchsorted", typed(_searchsorted), ""),
    ("unique", typed(_unique), ""),
    ("bincount", typed(_bincount), ""),
    ("digitize", typed(_digitize), ""),
    ("isin", typed(_isin), ""),
    ("interp", typed(_interp), ""),
    ("isclose", typed(_isclose), ""),
    ("tril_indices", _triangle_indices, ""),
    ("triu_indices", _triangle_indices, ""),
    ("tril_indices_from", typed(_triangle_indices_from), ""),
    ("triu_indices_from", typed(_triangle_indices_from), ""),
    ("diag_indices", typed(_diag_indices), ""),
    ("ix_", typed(_ix), ""),
    ("unravel_index", typed(_unravel_index), ""),
    ("ravel_multi_index", typed(_ravel_multi_index), ""),
    ("gradient", typed(_gradient), ""),
    ("convolve", _convolve(np.convolve), ""),
    ("correlate", _convolve(np.correlate), ""),
    ("polyval", typed(_polyval), ""),
    ("nan_to_num", typed(_nan_to_num), ""),
    ("piecewise", _piecewise, ""),
    ("vectorize", _calls_back("vectorize", "Write a loop, or array operations."), ""),
    ("apply_along_axis", _calls_back("apply_along_axis", "Write a loop over the slices."), ""),
    ("apply_over_axes", _calls_back("apply_over_axes", "Call the function once for each axis."), ""),
    ("frompyfunc", _calls_back("frompyfunc", "Write a loop, or array operations."), ""),
):
    numpy_op(_name, _rule, *filter(None, [_traits]))

numpy_op("clip", typed(_clip), out=3)
for _name in ("round", "around"):
    numpy_op(_name, _round(getattr(np, _name)), out=2)
for _name in ("histogram", "histogram_bin_edges"):
    numpy_op(_name, _histogram(getattr(np, _name)))
for _name in ("allclose", "array_equal", "array_equiv"):
    numpy_op(_name, _answers_bool(getattr(np, _name)))
for _name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
    numpy_op(_name, _unknown_length(getattr(np, _name)))
for _name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
    if hasattr(np, _name) and _name != "unique_values":
        numpy_op(_name, _unique_named(getattr(np, _name)))
for _name, _parameter in (
    ("real", "val"),
    ("imag", "val"),
    ("angle", "z"),
    ("sinc", "x"),
    ("i0", "x"),
    ("unwrap", "p"),
    ("real_if_close", "a"),
    ("fix", "x"),
    ("isposinf", "x"),
    ("isneginf", "x"),
    ("isreal", "x"),
    ("iscomplex", "x"),
):
    if _name in ("real_if_close",):
        continue
    numpy_op(
        _name,
        probed(getattr(np, _name), _shape_like(_parameter)),
        *(["view"] if _name in ("real", "imag") else []),
    )
for _name in ("cov", "corrcoef"):
    numpy_op(_name, _cov(getattr(np, _name)))
for _name in (
    "cross",
    "polyfit",
    "polyadd",
    "polysub",
    "polyder",
    "polyint",
    "histogram2d",
):
    numpy_op(_name, probed(getattr(np, _name), static_names=("m",)))


def _by_values(fn: Any, *, real: bool = False) -> Any:
    """The rule of a function of polynomials whose length (leading zeros), or realness, depends on values."""
    rule = probed(fn)

    def blurred(*args: Any, **kwargs: Any) -> Type:
        return _any_length(rule(*args, **kwargs), real)

    return blurred


def _any_length(t: Type, real: bool) -> Type:
    if isinstance(t, TupleT):
        return TupleT(tuple(_any_length(i, real) for i in t.items), t.cls)
    results: list[Type] = []
    for m in members(t):
        if not isinstance(m, Array):
            results.append(m)
            continue
        results.append(Array(m.dtype, None if m.shape is None else (None,) * len(m.shape)))
        if real:
            number = np.ones((), m.dtype)
            kinds = {number.real.dtype, (number * np.complex64(1)).dtype}
            results += [Array(dtype, (None,)) for dtype in kinds]
    return join(*results)


numpy_op("roots", _by_values(np.roots, real=True))
numpy_op("poly", _by_values(np.poly, real=True))
numpy_op("polymul", _by_values(np.polymul))
numpy_op("polydiv", _by_values(np.polydiv))


def _real_if_close(a: Type, tol: Any = 100) -> Type:
    results = []
    for number in (1, 1j) if dtype_in(a).kind == "c" else (1,):
        value = quietly(np.real_if_close, np.full((1,) * len(shape_of(a) or ()), number, dtype_in(a)))
        results.append(Array(value.dtype, shape_of(a)))
    return join(*results)


def _bits(fn: Any, signature: str) -> Any:
    return probed(fn, signature=signature, static_names=("count", "bitorder"))


numpy_op("real_if_close", typed(_real_if_close), "view")
numpy_op("packbits", _bits(np.packbits, "a, /, axis=None, bitorder='big'"))
numpy_op("unpackbits", _bits(np.unpackbits, "a, /, axis=None, count=None, bitorder='big'"))
numpy_op("diag_indices_from", probed(np.diag_indices_from))
if hasattr(np, "unique_values"):
    numpy_op("unique_values", probed(np.unique_values, lambda arguments: (None,)))
