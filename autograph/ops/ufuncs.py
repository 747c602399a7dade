"""NumPy's ufuncs and their methods: the dtype and kind by trying them, the shape by broadcasting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.graph import FINDERS
from autograph.graph.types import BOTTOM, Array, Const, Host, Scalar, Shape, TupleT, Type, join, members
from autograph.ops.base import (
    BY_FUNCTION,
    Op,
    Refuse,
    broadcast,
    define,
    result_type,
    sample,
    shape_of,
    static,
    type_of,
)
from autograph.ops.rules import Static, alternatives, data, is_given, known, quietly, typed

__all__ = ["UFUNCS", "ufunc_method"]

GENERALIZED = ("matmul", "vecdot", "matvec", "vecmat")
UFUNCS: dict[str, np.ufunc] = {
    fn.__name__: fn
    for fn in vars(np).values()
    if isinstance(fn, np.ufunc) and fn.__name__ not in (*GENERALIZED, "isnat")
}


def ufunc_rule(ufunc: np.ufunc) -> Callable[..., Type]:
    """The rule of a ufunc with its keywords `out`, `where` and `dtype`."""

    def rule(*args: Any, out: Any = None, where: Any = True, **options: Any) -> Type:
        if not ufunc.nin <= len(args) <= ufunc.nargs:
            return BOTTOM
        inputs, outs = args[: ufunc.nin], args[ufunc.nin :] or out
        if outs is not None and not isinstance(outs, tuple):
            outs = outs.items if isinstance(outs, TupleT) else (outs,)
        if outs is not None:
            outs = tuple(None if o is None or o == Const(None) else type_of(o) for o in outs)
            if not all(o is None or isinstance(o, Array) for o in outs):
                return BOTTOM
        fixed = {name: static(value, f"'{name}'") for name, value in options.items()}
        choices = [data(a) for a in (*inputs, where)]
        body = functools.partial(_result, ufunc, outs, fixed)
        return alternatives([(body, (pick[:-1], pick[-1]), {}) for pick in itertools.product(*choices)])

    return rule


def _of_none(ufunc: np.ufunc, inputs: tuple[Any, ...], shape: Shape) -> Type:
    """None among the operands: comparisons take it, and so does all where an array has no items."""
    value = quietly(ufunc, *map(sample, inputs))
    if isinstance(value, Exception):
        if shape is not None and not {0, None} & {*shape}:
            return BOTTOM
        value = quietly(ufunc, *map(_emptied, inputs))
        if isinstance(value, Exception):
            return BOTTOM
        return Array(value.dtype, shape) if _is_truth(value) else Host()
    if not _is_truth(value):
        raise Refuse(
            f"'np.{ufunc.__name__}' is given None",
            "It computes with Python objects then, and arrays in a graph hold numbers.",
            "Test for None first.",
        )
    return result_type(value, shape)


def _is_truth(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "b"


def _result(ufunc: np.ufunc, outs: Any, options: dict[str, Any], inputs: tuple[Any, ...], where: Any) -> Type:
    shape = broadcast(*map(shape_of, inputs), shape_of(where))
    if isinstance(shape, Type):
        return BOTTOM
    if any(i is None for i in inputs):
        plain = outs is None and type_of(where) == Const(True) and not options
        plain = plain and any(isinstance(i, Type) and not isinstance(i, Const) for i in inputs)
        return _of_none(ufunc, inputs, shape) if plain else BOTTOM
    keywords = dict(options)
    if outs is not None:
        keywords["out"] = tuple(
            None if o is None else np.ones((1,) * len(shape or ()), o.dtype) for o in outs
        )
    if where is not True:
        keywords["where"] = sample(where)
    value = quietly(ufunc, *map(sample, inputs), **keywords)
    if isinstance(value, Exception) and not isinstance(value, TypeError) and shape:
        value = quietly(
            ufunc, *map(_emptied, inputs), **keywords
        )  # nothing to compute: only types can be wrong
    if isinstance(value, Exception):
        return BOTTOM
    if outs is None:
        return result_type(value, shape)
    if ufunc.nout == 1:
        return result_type(value, shape) if outs[0] is None else outs[0]
    return TupleT(tuple(result_type(v, shape) if o is None else o for v, o in zip(value, outs)))


def _emptied(t: Any) -> Any:
    return np.ones((0,) * len(t.shape), t.dtype) if isinstance(t, Array) and t.shape else sample(t)


for _ufunc in UFUNCS.values():
    define(f"np.{_ufunc.__name__}", _ufunc, ufunc_rule(_ufunc), handles=(_ufunc,), out=_ufunc.nin)


def reduced_shape(shape: tuple[Any, ...], axis: Any, keepdims: Any) -> Any:
    """The shape after a reduction over `axis` (None: all); axes are known to be valid."""
    if not shape:
        return ()
    axes = range(len(shape)) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    gone = {int(a) % len(shape) for a in axes}
    if keepdims is not np._NoValue and keepdims:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def _reduce(ufunc: np.ufunc) -> Callable[..., Type]:
    def body(
        array: Type,
        axis: Static = 0,
        dtype: Static = None,
        out: Any = None,
        keepdims: Static = False,
        initial: Type | None = np._NoValue,  # type: ignore[assignment]
        where: Type = True,  # type: ignore[assignment]
    ) -> Type:
        keywords: dict[str, Any] = {"axis": axis, "dtype": dtype, "keepdims": keepdims}
        if is_given(initial):
            keywords["initial"] = sample(initial)
        if where is not True:  # type: ignore[comparison-overlap]
            keywords["where"] = sample(where)
        if out is not None:
            keywords["out"] = sample(out)
        value = quietly(ufunc.reduce, sample(array), **keywords)
        if isinstance(value, Exception):
            return BOTTOM
        if out is not None:
            return type_of(out)
        shape: Any = shape_of(array)
        if where is not True:  # type: ignore[comparison-overlap]
            shape = broadcast(shape, shape_of(where))
            if shape is BOTTOM:
                return BOTTOM  # type: ignore[no-any-return]
        return result_type(value, reduced_shape(shape, axis, keepdims))

    return typed(body)


def _accumulate(ufunc: np.ufunc) -> Callable[..., Type]:
    def body(array: Type, axis: Static = 0, dtype: Static = None, out: Any = None) -> Type:
        keywords: dict[str, Any] = {"axis": axis, "dtype": dtype}
        if out is not None:
            keywords["out"] = sample(out)
        value = quietly(ufunc.accumulate, sample(array), **keywords)
        if isinstance(value, Exception):
            return BOTTOM
        return result_type(value, shape_of(array)) if out is None else type_of(out)

    return typed(body)


def _reduceat(ufunc: np.ufunc) -> Callable[..., Type]:
    def body(array: Type, indices: Type, axis: Static = 0, dtype: Static = None, out: Any = None) -> Type:
        shape, places = shape_of(array), shape_of(indices)
        if not isinstance(array, Array) or not shape or places is None or len(places) != 1:
            return BOTTOM
        keywords: dict[str, Any] = {"axis": axis, "dtype": dtype}
        if out is not None:
            keywords["out"] = sample(out)
        value = quietly(ufunc.reduceat, sample(array), np.zeros(1, indices.dtype), **keywords)  # type: ignore[attr-defined]
        if isinstance(value, Exception):
            return BOTTOM
        axis = int(axis) % len(shape)
        new = (*shape[:axis], places[0], *shape[axis + 1 :])
        return result_type(value, new) if out is None else type_of(out)

    return typed(body)


def _outer(ufunc: np.ufunc) -> Callable[..., Type]:
    def rule(A: Any, B: Any, /, **options: Any) -> Type:
        if "out" in options or "where" in options:
            raise Refuse(
                f"'{ufunc.__name__}.outer' with 'out' or 'where'", "", "Use broadcasting: x[:, None] and y."
            )
        fixed = {name: static(value, f"'{name}'") for name, value in options.items()}

        def body(a: Type, b: Type) -> Type:
            value = quietly(ufunc.outer, sample(a), sample(b), **fixed)
            if isinstance(value, Exception):
                return BOTTOM
            return result_type(value, (*shape_of(a), *shape_of(b)))  # type: ignore[misc]

        return typed(body)(A, B)

    return rule


def _at(ufunc: np.ufunc) -> Callable[..., Type]:
    def rule(a: Any, indices: Any, b: Any = None, /) -> Type:
        from autograph.ops.indexing import (
            get_item_rule,  # indexing does not need ufuncs; ufuncs need it only here
        )

        values = [None] if b is None else data(b)
        return join(*(_at_result(ufunc, get_item_rule, a, indices, value) for value in values))

    return rule


def _at_result(ufunc: np.ufunc, get_item_rule: Any, a: Any, indices: Any, b: Any) -> Type:
    if not isinstance(a, Array) or (b is None) != (ufunc.nin == 1) or ufunc.nout != 1:
        return BOTTOM
    target = get_item_rule(a, indices)
    if target is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    given: tuple[Any, ...] = () if b is None else (b,)
    operands = [np.ones(1, t.dtype) if isinstance(t, (Array, Scalar)) else sample(t) for t in given]
    if isinstance(quietly(ufunc.at, np.ones(1, a.dtype), [0], *operands), TypeError):
        return BOTTOM
    shapes = [t.shape if isinstance(t, Array) else () for t in members(target)]
    if given and all(_never_fits(s, shape_of(b)) for s in shapes):
        return BOTTOM
    return Const(None)


def _never_fits(target: Any, value: Any) -> bool:
    return known(target) and known(value) and 0 not in target and broadcast(target, value) is BOTTOM


METHODS: dict[str, tuple[Callable[[np.ufunc], Any], tuple[str, ...], int | None]] = {
    "reduce": (_reduce, (), 3),
    "accumulate": (_accumulate, (), 3),
    "reduceat": (_reduceat, (), 4),
    "outer": (_outer, (), None),
    "at": (_at, ("writes",), None),
}


@functools.cache
def ufunc_method(ufunc: np.ufunc, method: str) -> Op:
    """The op for a bound method of a ufunc, such as `np.add.reduce`.

    >>> ufunc_method(np.add, "reduce")
    <op np.add.reduce>
    """
    if method not in METHODS or ufunc not in BY_FUNCTION:
        raise Refuse(f"'{ufunc.__name__}.{method}'")
    make, traits, out = METHODS[method]
    return define(f"np.{ufunc.__name__}.{method}", getattr(ufunc, method), make(ufunc), *traits, out=out)


def _find(name: str) -> Op | None:
    """The op of a name such as `np.add.reduce`, made when it is asked for first."""
    _, _, path = name.partition(".")
    ufunc, _, method = path.partition(".")
    known = UFUNCS.get(ufunc) if name.startswith("np.") else None
    return None if known is None or method not in METHODS else ufunc_method(known, method)


FINDERS.append(_find)
