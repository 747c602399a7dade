"""Classes of NumPy scalars called as functions; questions about dtypes and shapes, answered at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM, Array, Const, IterT, Py, Ref, Scalar, SeqT, TupleT, Type, join
from autograph.ops.base import (
    NeedConcrete,
    Refuse,
    define,
    is_number,
    result_type,
    sample,
    sequence,
    shape_of,
    static,
    type_of,
)
from autograph.ops.methods import METHODS, shape_type
from autograph.ops.rules import Static, data, numpy_op, quietly, sizes, typed
from autograph.ops.shaping import axes_of, size_of

__all__: list[str] = []


def _constructor(cls: type) -> Any:
    """np.float32(x) and its kind: a scalar of a number or string, an array of an array."""

    def numeric(x: Type) -> Type:
        values = [quietly(cls, sample(x))]
        if isinstance(x, Array) and x.shape:  # older versions make a scalar of an array of one element
            values = [quietly(cls, np.ones((2,) * len(x.shape), x.dtype))]
            if all(d in (1, None) for d in x.shape):
                values.append(quietly(cls, sample(x)))
        if all(isinstance(value, TypeError) for value in values):
            return BOTTOM
        failed = [value for value in values if isinstance(value, Exception)]
        if failed:
            raise Refuse(f"'np.{cls.__name__}' of this value ({failed[0]})")
        return join(*(result_type(value, shape_of(x)) for value in values))

    rule = typed(numeric)

    def construct(*args: Any, **kwargs: Any) -> Type:
        if kwargs or len(args) > 1:
            if len(args) == 2 and issubclass(cls, np.complexfloating):
                return Scalar(np.dtype(cls)) if all(map(is_number, args)) else BOTTOM
            return BOTTOM
        if not args:
            return Scalar(np.dtype(cls))
        t = type_of(args[0])
        if isinstance(t, (Py, Const)) and not is_number(t) and sequence(t)[0] is None:
            text = (isinstance(t, Py) and t.cls in (str, bytes)) or (
                isinstance(t, Const) and isinstance(t.value, (str, bytes))
            )
            if text:
                return Scalar(np.dtype(cls))
            value = quietly(cls, sample(t))
            return BOTTOM if isinstance(value, Exception) else result_type(value)
        return rule(t)

    return construct


_CLASSES = [np.dtype(code).type for code in "?bBhHiIlLqQefdgFDG"]
for _cls in dict.fromkeys(_CLASSES):
    define(f"np.{_cls.__name__}", _cls, _constructor(_cls), handles=(_cls,))


# -- dtypes ----------------------------------------------------------------------------------------


def _constant(fn: Callable[..., Any]) -> Any:
    """The rule of a function that is evaluated on the spot; of numbers and arrays only the types matter."""

    def rule(*args: Any, **kwargs: Any) -> Type:
        values = [_value(a) for a in args]
        value = quietly(fn, *values, **{k: _value(v) for k, v in kwargs.items()})
        return BOTTOM if isinstance(value, Exception) else Const(value)

    return rule


def _value(a: Any) -> Any:
    t = type_of(a)
    if isinstance(t, (Array, Scalar)):
        if isinstance(t, Array) and t.shape is None:
            return np.ones(1, t.dtype)
        return sample(t)
    if isinstance(t, Py):
        if t.cls in (str, bytes, slice):
            raise NeedConcrete("an argument")
        return sample(t)
    return static(a, "an argument")


def _result_type(*args: Any) -> Type:
    return _constant(np.result_type)(*args)  # type: ignore[no-any-return]


@functools.cache
def finfo(dtype: Any) -> Any:
    """`np.finfo`, the same object each time."""
    return np.finfo(dtype)


@functools.cache
def iinfo(dtype: Any) -> Any:
    """`np.iinfo`, the same object each time."""
    return np.iinfo(dtype)


def _info(fn: Callable[..., Any]) -> Any:
    def rule(dtype: Any) -> Type:
        t = type_of(dtype)
        if isinstance(t, (Array, Scalar)):
            value = quietly(fn, t.dtype)
        else:
            value = quietly(fn, np.dtype(type(sample(t))) if is_number(t) else static(dtype, "'dtype'"))
        return BOTTOM if isinstance(value, Exception) else Const(value)

    def kernel(dtype: Any) -> Any:
        return fn(dtype.dtype if isinstance(dtype, (np.ndarray, np.generic)) else dtype)

    return rule, kernel


for _name, _fn in (("finfo", finfo), ("iinfo", iinfo)):
    _rule, _kernel = _info(_fn)
    define(f"np.{_name}", _kernel, _rule, handles=(getattr(np, _name),))

for _name in ("can_cast", "promote_types", "issubdtype", "result_type", "common_type", "isdtype"):
    if hasattr(np, _name):
        numpy_op(_name, _constant(getattr(np, _name)))


def _dtype(dtype: Any, *args: Any, **kwargs: Any) -> Type:
    value = quietly(np.dtype, static(dtype, "'dtype'"), *args, **kwargs)
    return BOTTOM if isinstance(value, Exception) else Const(value)


define("np.dtype", np.dtype, _dtype, handles=(np.dtype,))


def _min_scalar_type(a: Any) -> Type:
    t = type_of(a)
    if isinstance(t, Array) and t.shape not in ((), None):
        return Const(t.dtype)
    return Const(np.min_scalar_type(static(a, "its argument")))


numpy_op("min_scalar_type", _min_scalar_type)


# -- shapes ----------------------------------------------------------------------------------------


def _shape(a: Type) -> Type:
    return shape_type(a)


def _ndim(a: Type) -> Type:
    return Const(len(shape_of(a) or ()))


def _size(a: Type, axis: Static = None) -> Type:
    shape = shape_of(a)
    if axis is None:
        n = size_of(shape)
    else:
        places = axes_of(axis, len(shape or ()))
        if places is BOTTOM:
            return BOTTOM  # type: ignore[no-any-return]
        n = size_of(tuple((shape or ())[i] for i in places))
    return Py(int) if n is None else Const(n)


def _isscalar(element: Any) -> Type:
    t = type_of(element)
    if isinstance(t, Const):
        return Const(np.isscalar(t.value))
    return Const(
        isinstance(t, Scalar) or (isinstance(t, Py) and t.cls in (bool, int, float, complex, str, bytes))
    )


def _iterable(y: Any) -> Type:
    t = type_of(y)
    if isinstance(t, Const):
        return Const(np.iterable(t.value))
    if isinstance(t, Array):
        return Py(bool) if t.shape is None else Const(len(t.shape) > 0)
    if isinstance(t, (TupleT, SeqT, IterT)) or (isinstance(t, Ref) and t.kind in ("list", "dict", "set")):
        return Const(True)
    if isinstance(t, (Py, Scalar)):
        return Const(isinstance(t, Py) and t.cls in (str, bytes, range))
    return Py(bool)


def _is_complex(wanted: bool) -> Any:
    def rule(x: Type) -> Type:
        return Const((np.asarray(sample(x)).dtype.kind == "c") is wanted)

    return typed(rule)


def _bool(*args: Any, **kwargs: Any) -> Type:
    return Py(bool)


def _text(*args: Any, **kwargs: Any) -> Type:
    return Py(str)


def _ndindex(*shape: Any) -> Type:
    dims = sizes(shape[0] if len(shape) == 1 else shape)
    if isinstance(dims, Type):
        return BOTTOM
    return IterT(SeqT(Py(int)) if dims is None else TupleT((Py(int),) * len(dims)), np.ndindex)


def _ndenumerate(arr: Any) -> Type:
    (t,) = data(arr) if len(data(arr)) == 1 else (None,)
    if not isinstance(t, Array) or t.shape is None:
        raise Refuse(
            "'np.ndenumerate' of what is not an array of known rank", "", "Use np.asarray and reshape."
        )
    return IterT(TupleT((TupleT((Py(int),) * len(t.shape)), Scalar(t.dtype))), np.ndenumerate)


if hasattr(np, "astype"):
    numpy_op("astype", METHODS["astype"].rule)
numpy_op("shape", typed(_shape))
numpy_op("ndim", typed(_ndim))
numpy_op("size", typed(_size))
numpy_op("isscalar", _isscalar)
numpy_op("iterable", _iterable)
numpy_op("iscomplexobj", _is_complex(True))
numpy_op("isrealobj", _is_complex(False))
for _name in ("shares_memory", "may_share_memory", "isfortran"):
    numpy_op(_name, _bool)
for _name in (
    "base_repr",
    "binary_repr",
    "array2string",
    "array_repr",
    "array_str",
    "format_float_positional",
):
    numpy_op(_name, _text)
for _name, _rule in (("ndindex", _ndindex), ("ndenumerate", _ndenumerate)):
    define(f"np.{_name}", getattr(np, _name), _rule, handles=(getattr(np, _name),))
