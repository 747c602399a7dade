"""Reductions and running totals over axes."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM
from autograph.ops.base import broadcast, shape_of
from autograph.ops.rules import is_given, numpy_op, probed
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
    if not shape:
        return BOTTOM
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


for _name in [
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "amax",
    "amin",
    "all",
    "any",
    "argmax",
    "argmin",
    "ptp",
    "median",
    "count_nonzero",
    "nansum",
    "nanprod",
    "nanmean",
    "nanstd",
    "nanvar",
    "nanmax",
    "nanmin",
    "nanmedian",
    "nanargmax",
    "nanargmin",
]:
    _fn = getattr(np, _name)
    _code = inspect.unwrap(_fn).__code__
    _parameters = _code.co_varnames[: _code.co_argcount]
    numpy_op(_name, probed(_fn, reduce_shape), out=_parameters.index("out") if "out" in _parameters else None)
for _name in ["quantile", "percentile", "nanquantile", "nanpercentile"]:
    numpy_op(_name, probed(getattr(np, _name), _quantile_shape), out=3)
for _name in ["cumsum", "cumprod", "nancumsum", "nancumprod"]:
    numpy_op(_name, probed(getattr(np, _name), same_or_flat), out=3)
if hasattr(np, "cumulative_sum"):

    def _cumulative(arguments: dict[str, Any]) -> Any:
        shape: Any = shape_of(arguments["x"])
        if not shape:
            return BOTTOM
        axis = 0 if arguments["axis"] is None else arguments["axis"] % len(shape)
        more = int(bool(arguments["include_initial"]))
        return tuple(d if i != axis or d is None else d + more for i, d in enumerate(shape))

    for _name in ("cumulative_sum", "cumulative_prod"):
        numpy_op(_name, probed(getattr(np, _name), _cumulative, static_names=("include_initial",)), out=3)
numpy_op("diff", probed(np.diff, _diff_shape, static_names=("n",)))
numpy_op("ediff1d", probed(np.ediff1d))
numpy_op("average", probed(np.average, reduce_shape))


def _trapezoid_shape(arguments: dict[str, Any]) -> Any:
    shape: Any = shape_of(arguments["y"])
    x = shape_of(arguments["x"]) if is_given(arguments["x"]) else ()
    axis = arguments["axis"]
    if len(x) > 1:  # type: ignore[arg-type]
        return tuple(None for _ in shape[1:]) if len(x) <= len(shape) else BOTTOM  # type: ignore[arg-type]
    return reduced_shape(shape, axis, False)


numpy_op("trapezoid", probed(np.trapezoid, _trapezoid_shape))
