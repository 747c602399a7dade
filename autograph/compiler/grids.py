"""Arrays of all pairs: `np.add.outer(x, y)`, `np.mgrid[0:n, 0:m]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compiler import arrays
from autograph.compiler.creation import line, whole_number
from autograph.compiler.elementwise import ELEMENT, Lanes
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import Computed, Known, Number, Tuple, Value, array_type
from autograph.graph.graph import Operation
from autograph.records import replace

INT = np.dtype(np.int64)


@rule(*(f"np.{name}.outer" for name in ELEMENT))
def outer(
    f: FunctionLowering, operation: Operation, a: Any, b: Any, *rest: Any, **options: Any
) -> Value | None:
    """The function of each element of one array with each of another: with more axes, they broadcast."""
    first, second = (arrays.value_as_array(f, v) if isinstance(v, Value) else None for v in (a, b))
    if rest or options or first is None or second is None:
        return None
    rank = len(arrays.dims_of(second))
    if rank and arrays.dims_of(first):
        m = arrays.memory(f, first)
        first = replace(
            m,
            dims=(*m.dims, *(1,) * rank),
            strides=(*m.strides, *(0,) * rank),
            is_object=False,
            contiguous=False,
            ordered=m.contiguous or m.ordered,
        )
    return arrays.elementwise(f, operation, operation.name.split(".")[1], [first, second])


@rule("np.mgrid[]")
def mgrid(f: FunctionLowering, operation: Operation, index: Any) -> Value | None:
    """The indices of a grid, those of each axis in a plane of its own."""
    t = array_type(operation.outputs[0]._ag_type)
    parts = index.items if isinstance(index, Tuple) else index
    if t is None or t.dtype != INT or not isinstance(parts, tuple) or t.shape is None:
        return None
    axes = [_axis(f, operation, part) for part in parts]
    if len(t.shape) != len(parts) + 1 or any(axis is None for axis in axes):
        return None
    starts, counts = zip(*(axis for axis in axes if axis is not None))
    target = arrays.allocate(f, INT, (len(axes), *counts), operation)
    for k, start in enumerate(starts):

        def element(lanes: Lanes, place: list[str], k: int = k, start: Any = start) -> tuple[str, ...]:
            last = k == len(place) - 1
            i = line(lanes, place[k]) if last else lanes.splat(place[k], "i64")
            return (i if start == 0 else lanes.op("add", "i64", i, lanes.splat(str(start), "i64")),)

        plane = arrays.row(f, target, k)
        arrays.fill(f, plane, Computed(INT, counts, None, (), 1, element, True))
    return target


def _axis(f: FunctionLowering, operation: Operation, part: Any) -> tuple[Any, Any] | None:
    """Start and length of a slice of integers whose step is 1."""
    if isinstance(part, Known) and isinstance(part.value, slice):
        part = slice(*(Known(v) for v in (part.value.start, part.value.stop, part.value.step)))
    if not isinstance(part, slice):
        return None
    if not all(v is None or isinstance(v, (Known, Number)) for v in (part.start, part.stop, part.step)):
        return None
    given = [
        None if isinstance(v, Known) and v.value is None else v for v in (part.start, part.stop, part.step)
    ]
    start, step = (d if v is None else whole_number(f, v) for v, d in ((given[0], 0), (given[2], 1)))
    stop = whole_number(f, given[1])
    if not isinstance(start, int) or abs(start) >= 2**40 or stop is None or step != 1:
        return None
    if isinstance(stop, int):
        return (start, stop - start) if stop >= start else None
    b = f.b
    count = stop if start == 0 else b.value(f"sub i64 {stop}, {start}")
    f.guard(b.value(f"icmp ult i64 {count}, {2**40}"), operation)  # NumPy raises where it is negative
    return start, count
