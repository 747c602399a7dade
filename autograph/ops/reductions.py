"""Reductions and running totals over axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM, Array, Type
from autograph.ops.base import Refuse, broadcast, shape_of
from autograph.ops.rules import Static, is_given, numpy_op, probed, typed
from autograph.ops.ufuncs import reduced_shape

__all__: list[str] = []


def reduce_shape(arguments: dict[str, Any]) -> Any:
    """The shape of a reduction of `a` over `axis`."""
    shape: Any = shape_of(arguments["a"])
    where = arguments.get("where")
    if is_given(where):
        shape = broadcast(shape, shape_of(where))
        if shape is BOTTOM:
            return BOTTOM
    return reduced_shape(shape, arguments.get("axis"), arguments.get("keepdims", False))


def same_or_flat(arguments: dict[str, Any]) -> Any:
    """The shape of a running total: that of `a`, or flat without an axis."""
    shape: Any = shape_of(arguments["a"])
    if arguments.get("axis") is not None:
        return shape if shape != () else (1,)
    size: Any = 1
    for dim in shape:
        size = None if dim is None or size is None else size * dim
    return (size,)


def _quantile_shape(arguments: dict[str, Any]) -> Any:
    reduced = reduce_shape(arguments)
    return BOTTOM if reduced is BOTTOM else (*shape_of(arguments["q"]), *reduced)  # type: ignore[misc]


def _diff_shape(arguments: dict[str, Any]) -> Any:
    shape: Any = shape_of(arguments["a"])
    n, axis = arguments["n"], arguments["axis"]
    extra: Any = 0
    for name in ("prepend", "append"):
        value = arguments[name]
        if is_given(value):
            more = shape_of(value)
            size = 1 if more == () else None if more is None else more[axis]
            extra = None if size is None or extra is None else extra + size
    axis %= len(shape)
    if n == 0:
        return shape
    old = shape[axis]
    new = None if old is None or extra is None else max(old + extra - n, 0)
    return (*shape[:axis], new, *shape[axis + 1 :])


for _name in (
    "sum prod mean std var max min amax amin all any argmax argmin ptp median count_nonzero"
    " nansum nanprod nanmean nanstd nanvar nanmax nanmin nanmedian nanargmax nanargmin"
).split():
    _fn = getattr(np, _name)
    _parameters = list(__import__("inspect").signature(_fn).parameters)
    numpy_op(_name, probed(_fn, reduce_shape), out=_parameters.index("out") if "out" in _parameters else None)
for _name in "quantile percentile nanquantile nanpercentile".split():
    numpy_op(_name, probed(getattr(np, _name), _quantile_shape), out=3)
for _name in "cumsum cumprod nancumsum nancumprod".split():
    numpy_op(_name, probed(getattr(np, _name), same_or_flat), out=3)
if hasattr(np, "cumulative_sum"):

    def _cumulative(arguments: dict[str, Any]) -> Any:
        shape: Any = shape_of(arguments["x"])
        axis = 0 if arguments["axis"] is None else arguments["axis"] % len(shape)
        more = int(bool(arguments["include_initial"]))
        return tuple(d if i != axis or d is None else d + more for i, d in enumerate(shape))

    for _name in ("cumulative_sum", "cumulative_prod"):
        numpy_op(_name, probed(getattr(np, _name), _cumulative, static_names=("include_initial",)), out=3)
numpy_op("diff", probed(np.diff, _diff_shape, static_names=("n",)))
numpy_op("ediff1d", probed(np.ediff1d))


def _average_shape(arguments: dict[str, Any]) -> Any:
    return reduce_shape(arguments)


def _average(fn: Callable[..., Any]) -> Any:
    inner = probed(fn, _average_shape)
    weights = probed(fn)

    def body(
        a: Type,
        axis: Static = None,
        weights_: Type | None = None,
        returned: Static = False,
        *,
        keepdims: Static = np._NoValue,
    ) -> Type:
        if weights_ is None:
            return inner(a, axis, None, returned, keepdims=keepdims)
        if shape_of(a) != shape_of(weights_) and axis is None:
            if isinstance(a, Array) and isinstance(weights_, Array) and len(a.shape or ()) == len(weights_.shape or ()):
                return weights(a, axis, weights_, returned, keepdims=keepdims)
            return BOTTOM
        if shape_of(a) != shape_of(weights_):
            return weights(a, axis, weights_, returned, keepdims=keepdims)
        return inner(a, axis, weights_, returned, keepdims=keepdims)

    rule = typed(body)

    def renamed(*args: Any, **kwargs: Any) -> Type:
        if "weights" in kwargs:
            kwargs["weights_"] = kwargs.pop("weights")
        return rule(*args, **kwargs)

    return renamed


numpy_op("average", _average(np.average))


def _refuse_trapezoid(*args: Any, **kwargs: Any) -> Type:
    raise Refuse("'np.trapz'", "It is gone from newer versions of NumPy.", "Write np.trapezoid.")


def _trapezoid_shape(arguments: dict[str, Any]) -> Any:
    shape: Any = shape_of(arguments["y"])
    x = shape_of(arguments["x"]) if is_given(arguments["x"]) else ()
    axis = arguments["axis"]
    if len(x) > 1:  # type: ignore[arg-type]
        return tuple(None for _ in shape[1:]) if len(x) <= len(shape) else BOTTOM  # type: ignore[arg-type]
    return reduced_shape(shape, axis, False)


numpy_op("trapezoid", probed(np.trapezoid, _trapezoid_shape))
