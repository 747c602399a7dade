"""Reductions over axes: sums in blocks with carried errors, extrema that keep NaN, logic, positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import arrays, listing, parallel, threads
from autograph.compiler.elementwise import ELEMENT, Lanes
from autograph.compiler.ir import float_literal
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Value,
    array_type,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation
from autograph.graph.types import Scalar
from autograph.records import record_class, replace

BLOCK = 32
"""How many vectors are added up plainly before the sum goes to the compensated total."""
CHUNK = 32 * 4 * BLOCK
"""Chunks of a row are multiples of this: they consist of whole blocks of vectors of any width."""


@record_class(frozen=True)
class Kind:
    """A reduction: the elementwise function that combines two values, and the value of nothing."""

    combine: str
    identity: Any  # None: there is none, an empty array raises


KINDS = {
    "sum": Kind("add", 0),
    "prod": Kind("multiply", 1),
    "max": Kind("maximum", None),
    "min": Kind("minimum", None),
    "any": Kind("logical_or", False),
    "all": Kind("logical_and", True),
    "mean": Kind("add", 0),
}


def _names() -> list[str]:
    names = []
    for kind in KINDS:
        names += [f"ndarray.{kind}", f"np.{kind}"]
    return [*names, "np.amax", "np.amin", "np.average"]


@rule(*_names())
def reduction(f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any) -> Value | None:
    name = {"amax": "max", "amin": "min", "average": "mean"}.get(operation.name[3:]) or (
        operation.name.split(".")[1]
    )
    return _reduction(f, operation, name, x, args, options)


UFUNCS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
"""The reduction that the method `reduce` of a ufunc is, besides that its axis is 0 where none is given."""


@rule(*(f"np.{ufunc}.reduce" for ufunc in UFUNCS))
def of_ufunc(f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any) -> Value | None:
    if not isinstance(x, (Memory, Elements, Lazy)):
        return None
    options = options if args else {"axis": Known(0), **options}
    return _reduction(f, operation, UFUNCS[operation.name.split(".")[1]], x, args, options)


def _reduction(
    f: FunctionLowering,
    operation: Operation,
    name: str,
    x: Any,
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Value | None:
    allowed = {"axis", "keepdims", "dtype"} if name in ("sum", "prod") else {"axis", "keepdims"}
    if len(args) > 1 or set(options) - allowed or not isinstance(x, Value):
        return None
    x = arrays.value_as_array(f, x) if isinstance(x, Known) else x
    if isinstance(x, Number):
        return _of_number(f, operation, name, x) if not args and not options else None
    if not isinstance(x, (Memory, Elements, Lazy)):
        return None
    axis = args[0] if args else options.get("axis", Known(None))
    if isinstance(axis, tuple) and all(isinstance(a, Known) for a in axis):
        axis = Known(tuple(a.value for a in axis))
    keep = options.get("keepdims", Known(False))
    if not isinstance(axis, Known) or not isinstance(keep, Known):
        return None
    dims = arrays.dims_of(x)
    if axis.value is None:
        axes = set(range(len(dims)))
    else:
        given = axis.value if isinstance(axis.value, tuple) else (axis.value,)
        if not all(type(a) is int and -len(dims) <= a < len(dims) for a in given):
            return None
        axes = {a % len(dims) for a in given}
    out = operation.outputs[0]._ag_type
    t = array_type(out)
    dtype = t.dtype if t is not None else scalar_dtype(out)
    if dtype is None or (t is None and len(axes) != len(dims)) or not axes:
        return None
    if operation.name == "np.average":  # it divides by the size of the result
        kept = [d for a, d in enumerate(dims) if a not in axes]
        if not all(isinstance(d, int) and d > 0 for d in kept):
            return None
    if x.dtype.kind == "c":
        if dtype != x.dtype:
            return None
        from autograph.compiler import reducing

        return reducing.of_complex(f, operation, name, x, axes, keep.value is True, t is None)
    if dtype.kind == "c":
        return None
    return reduce(f, operation, name, x, axes, dtype, keep.value is True, t is None)


def _of_number(f: FunctionLowering, operation: Operation, name: str, x: Number) -> Value | None:
    """The sum, largest, ... of a number: itself, as a NumPy scalar of the result's dtype."""
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if dtype is None or "c" in (dtype.kind, x.dtype.kind):
        return None
    lanes = Lanes(f.b)
    parts = lanes.cast(x.parts, x.dtype, dtype)
    if name in ("sum", "mean") and dtype.kind == "f":  # of -0.0 it is 0.0
        parts = (lanes.op("fadd", register(dtype), parts[0], lanes.real(0.0, register(dtype))),)
    return Number(out, dtype, parts)


def reduce(
    f: FunctionLowering,
    operation: Operation,
    name: str,
    x: Any,
    axes: set[int],
    dtype: np.dtype[Any],
    keep: bool,
    scalar: bool,
) -> Value | None:
    kind = KINDS[name]
    dims = arrays.dims_of(x)
    names = listing.functions([m.op.name for m in reversed(arrays.maps_of(x))] + [name])
    f.note(f"reduction of {listing.shape(dims)} of {x.dtype} over axes {sorted(axes)}: {names}")
    work = np.dtype(bool) if name in ("any", "all") else dtype
    count: Any = 1
    for a in axes:
        count = f.times(count, dims[a])
    if kind.identity is None:
        if isinstance(count, int):
            if count == 0:
                return None
        else:
            f.guard(f.b.value(f"icmp ne i64 {count}, 0"), operation)
    if name == "mean" and dtype.kind != "f":
        return None
    if isinstance(x, Elements):
        x = replace(x)
        return _of_elements(
            f, operation, kind, x, axes, work, keep, scalar, count if name == "mean" else None
        )
    x = arrays._in_memory(f, x)
    kept = [a for a in range(len(dims)) if a not in axes]
    if len(kept) > 1 and not arrays.in_order(x):
        return None
    out_dims = [dims[a] if a not in axes else 1 for a in range(len(dims)) if keep or a not in axes]
    if not kept:
        parts = _whole(f, kind, x, work)
        parts = _mean(f, parts, work, count) if name == "mean" else parts
        number = Number(Scalar(work), work, parts)
        if scalar:
            return Number(operation.outputs[0]._ag_type, work, parts)
        target = arrays.allocate(f, work, tuple(out_dims))
        f.store_scalar(target.data, number)
        return target
    target = arrays.allocate(f, work, tuple(out_dims))
    if max(kept) < min(axes):
        _inner(f, kind, x, kept, sorted(axes), target, work, name, count, keep)
    else:
        _outer(f, kind, x, axes, target, work, name, count, keep)
    return target


def _mean(f: FunctionLowering, parts: tuple[str, ...], dtype: np.dtype[Any], count: Any) -> tuple[str, ...]:
    kind = register(dtype)
    n = (
        float_literal(float(count), kind)
        if isinstance(count, int)
        else f.b.value(f"sitofp i64 {count} to {kind}")
    )
    return (f.b.value(f"fdiv {kind} {parts[0]}, {n}"),)


def _of_elements(
    f: FunctionLowering,
    operation: Operation,
    kind: Kind,
    x: Elements,
    axes: set[int],
    dtype: np.dtype[Any],
    keep: bool,
    scalar: bool,
    count: Any,
) -> Value | None:
    lanes = Lanes(f.b)
    shape = tuple(1 if a in axes else d for a, d in enumerate(x.shape))
    zero = f.literal(0, dtype) if kind.combine == "add" and dtype.kind in "fc" else None
    results: list[Any] = [zero] * math.prod(shape)  # 0.0 + -0.0 is 0.0
    for i, item in enumerate(x.items):
        index = np.unravel_index(i, x.shape)
        where = int(np.ravel_multi_index([0 if a in axes else int(k) for a, k in enumerate(index)], shape))
        value = lanes.cast(item, x.dtype, dtype)
        old = results[where]
        results[where] = value if old is None else ELEMENT[kind.combine](lanes, dtype, old, value)
    identity = None if kind.identity is None else f.literal(kind.identity, dtype)
    if any(r is None for r in results) and identity is None:
        return None
    parts: list[Any] = [identity if r is None else r for r in results]
    if count is not None:
        parts = [_mean(f, p, dtype, count) for p in parts]
    if scalar:
        return Number(operation.outputs[0]._ag_type, dtype, parts[0])
    final = shape if keep else tuple(d for a, d in enumerate(x.shape) if a not in axes)
    return Elements(dtype, final, tuple(parts))


CHUNKS, MANY = 64, 1024
"""Most chunks of a reduction of a whole array, and of one so long that a Ctrl-C ends it between two of them.
They depend on its shape only, and with them the result."""


def _whole(f: FunctionLowering, kind: Kind, x: Any, dtype: np.dtype[Any]) -> tuple[str, ...]:
    """Combines all elements: in chunks, whose results are combined in order, where the array may be large."""
    b, dims = f.b, arrays.dims_of(x)
    axes = list(range(len(dims)))
    cost: Any = arrays.cost_of(x, arrays.width_for(x, dtype))
    for d in dims:
        cost = f.times(cost, d)
    if not parallel.is_large(1, cost):
        return _all(f, kind, x, axes, {}, dtype).result()
    shared = arrays.widest(dims)
    count, unit = dims[shared], (CHUNK if shared == len(dims) - 1 else 1)
    if isinstance(cost, int):
        most: Any = MANY if cost >= threads.AGES else CHUNKS
    else:
        ages = b.value(f"icmp uge i64 {cost}, {threads.AGES}")
        most = b.value(f"select i1 {ages}, i64 {MANY}, i64 {CHUNKS}")
    step = _rounded_up(f, _rounded_up(f, count, most, divide=True), unit)
    chunks = _rounded_up(f, count, step, divide=True)
    size = dtype.itemsize
    totals, errors = (b.alloca(f"[{CHUNKS if most == CHUNKS else MANY} x i64]", 16) for _ in range(2))
    element = register(dtype)

    def one(i: str) -> None:
        begin = f.times(step, i if i.startswith("%") else int(i))
        stop = f.plus(begin, step)
        if isinstance(stop, int) and isinstance(count, int):
            end: Any = min(stop, count)
        else:
            end = b.call("i64", "llvm.smin.i64", f"i64 {stop}", f"i64 {count}")
        total = _all(f, kind, x, axes, {}, dtype, {shared: (begin, end)})
        value, error = total.parts()
        at = f.times(size, i if i.startswith("%") else int(i))
        b.emit(f"store {element} {value}, ptr {f.at(totals, at)}")
        if total.exact:
            b.emit(f"store {element} {error}, ptr {f.at(errors, at)}")

    each = cost if isinstance(chunks, int) and chunks == 1 else _rounded_up(f, cost, chunks, divide=True)
    parallel.split(f, chunks, each, lambda begin, end: arrays.count_loop(f, begin, end, 1, one))
    final = _Total(f, kind, dtype, kind.combine == "add" and dtype.kind == "f")

    def join(i: str) -> None:
        at = f.times(size, i if i.startswith("%") else int(i))
        value = b.value(f"load {element}, ptr {f.at(totals, at)}")
        final.join(value, b.value(f"load {element}, ptr {f.at(errors, at)}") if final.exact else "")

    arrays.count_loop(f, 0, chunks, 1, join)
    return final.result()


def _rounded_up(f: FunctionLowering, n: Any, step: Any, divide: bool = False) -> Any:
    """The least multiple of the step that is no less, or how many steps that is (at least one)."""
    if isinstance(n, int) and isinstance(step, int):
        steps: Any = max(-(-n // step), 1)
    else:
        up = f.plus(n, f.plus(step, -1))
        steps = f.b.value(f"udiv i64 {up}, {step}")
        steps = f.b.call("i64", "llvm.umax.i64", f"i64 {steps}", "i64 1")
    return steps if divide else f.times(steps, step)


def _all(
    f: FunctionLowering,
    kind: Kind,
    x: Any,
    axes: list[int],
    fixed: dict[int, str],
    dtype: np.dtype[Any],
    ranges: dict[int, tuple[Any, Any]] | None = None,
) -> _Total:
    """Combines all elements along the axes (the last ones of the array), at fixed indices of the others.

    `ranges` has the first index and the end of axes of which only a part is combined.
    """
    ranges = {} if ranges is None else ranges
    b = f.b
    dims = arrays.dims_of(x)
    width = arrays.width_for(x, dtype)
    last = dims[-1]
    if isinstance(last, int):
        while width > 1 and width > last:
            width //= 2
    test = (
        arrays._vector_test(
            f,
            [*arrays.leaves_of(x), *arrays.maps_of(x)],
            Memory(dtype, "", dims, (0,) * (len(dims) - 1) + (dtype.itemsize,)),
            dims,
        )
        if width > 1
        else "false"
    )
    exact = kind.combine == "add" and dtype.kind == "f"
    total = _Total(f, kind, dtype, exact)
    if test != "false":
        total.accumulator(width)

    def row(prefix: list[str], wide: int) -> None:
        total.row(x, prefix, dims, wide, ranges.get(len(dims) - 1))

    outer = [a for a in axes if a != len(dims) - 1]

    def level(k: int, indices: dict[int, str], wide: int) -> None:
        if k == len(outer):
            row([indices[a] for a in range(len(dims) - 1)], wide)
            return
        begin, end = ranges.get(outer[k], (0, dims[outer[k]]))
        arrays.count_loop(f, begin, end, 1, lambda i: level(k + 1, {**indices, outer[k]: i}, wide))

    if test in ("true", "false"):
        level(0, dict(fixed), width if test == "true" else 1)
        return total
    fast, slow, after = b.label("vector"), b.label("scalar"), b.label("reduced")
    b.branch(test, fast, slow)
    b.start(fast)
    level(0, dict(fixed), width)
    b.jump(after)
    b.start(slow)
    level(0, dict(fixed), 1)
    b.jump(after)
    b.start(after)
    return total


class _Total:
    """The running result: a vector and a scalar accumulator; for sums of floats with carried errors."""

    def __init__(self, f: FunctionLowering, kind: Kind, dtype: np.dtype[Any], exact: bool) -> None:
        self.f, self.kind, self.dtype, self.exact = f, kind, dtype, exact
        self.accumulators: dict[int, tuple[str, str]] = {}
        self.single = self._new(1)

    def _new(self, width: int) -> tuple[str, str]:
        b = self.f.b
        lanes = Lanes(b, width)
        kind = register(self.dtype)
        t = lanes.type(kind)
        value, error = b.alloca(t, 64), b.alloca(t, 64)
        start = lanes.constant(self.f.literal(self._start(), self.dtype)[0], kind)
        b.emit(f"store {t} {start}, ptr {value}")
        if self.exact:
            b.emit(f"store {t} {lanes.real(0.0, kind)}, ptr {error}")
        return value, error

    def _start(self) -> Any:
        if self.kind.identity is not None:
            return self.kind.identity
        d = self.dtype
        if d.kind == "b":
            return self.kind.combine == "minimum"
        if d.kind == "f":
            return -np.inf if self.kind.combine == "maximum" else np.inf
        info = np.iinfo(d)
        return info.min if self.kind.combine == "maximum" else info.max

    def accumulator(self, width: int) -> tuple[str, str]:
        """The accumulator of a width; made before the loops that use it."""
        if width not in self.accumulators:
            self.accumulators[width] = self._new(width)
        return self.accumulators[width]

    def row(
        self,
        x: Value,
        prefix: list[str],
        dims: tuple[Any, ...],
        width: int,
        span: tuple[Any, Any] | None = None,
    ) -> None:
        """Takes in the elements of a row, or of a span of it."""
        f, b = self.f, self.f.b
        first, last = span or (0, dims[-1])
        source = x.dtype  # type: ignore[attr-defined]

        def get(lanes: Lanes, i: str) -> tuple[str, ...]:
            parts = arrays.evaluate(f, lanes, x, [*prefix, i], dims)
            return lanes.cast(parts, source, self.dtype)

        def combine_into(place: str, lanes: Lanes, i: str) -> None:
            kind = register(self.dtype)
            t = lanes.type(kind)
            new = get(lanes, i)
            old = b.value(f"load {t}, ptr {place}")
            result = ELEMENT[self.kind.combine](lanes, self.dtype, (old,), new)[0]
            b.emit(f"store {t} {result}, ptr {place}")

        if not self.exact:
            rest: Any = first
            if width > 1:
                rest = arrays.whole_vectors(f, first, last, width)
                place, _ = self.accumulator(width)
                arrays.count_loop(f, first, rest, width, lambda i: combine_into(place, Lanes(b, width), i))
            arrays.count_loop(f, rest, last, 1, lambda i: combine_into(self.single[0], Lanes(b), i))
            return
        self._exact_row(get, first, last, width)

    def _exact_row(
        self, get: Callable[[Lanes, str], tuple[str, ...]], start: Any, last: Any, width: int
    ) -> None:
        f, b = self.f, self.f.b
        kind = register(self.dtype)

        def span(start: Any, stop: Any, lanes: Lanes, unroll: int) -> None:
            """Adds up plainly, then carries the sum over to the total."""
            t = lanes.type(kind)
            places = [b.alloca(t, 64) for _ in range(unroll)]
            for place in places:
                b.emit(f"store {t} {lanes.real(-0.0, kind)}, ptr {place}")

            def step(i: str) -> None:
                for k, place in enumerate(places):
                    at = i if k == 0 else str(f.plus(i if i.startswith("%") else int(i), k * lanes.width))
                    new = get(lanes, at)[0]
                    old = b.value(f"load {t}, ptr {place}")
                    b.emit(f"store {t} {b.value(f'fadd {t} {old}, {new}')}, ptr {place}")

            arrays.count_loop(f, start, stop, lanes.width * unroll, step)
            sums = [b.value(f"load {t}, ptr {place}") for place in places]
            while len(sums) > 1:
                sums = [b.value(f"fadd {t} {p}, {q}") for p, q in zip(sums[::2], sums[1::2])]
            self._carry(lanes, sums[0])

        rest: Any = start
        if width > 1:
            unroll = 4
            block = width * unroll * BLOCK
            blocks = arrays.whole_vectors(f, start, last, block)
            vectors = Lanes(b, width)

            def whole(i: str) -> None:
                span(
                    i if i.startswith("%") else int(i),
                    f.plus(i if i.startswith("%") else int(i), block),
                    vectors,
                    unroll,
                )

            arrays.count_loop(f, start, blocks, block, whole)
            rest = arrays.whole_vectors(f, start, last, width)
            if not (isinstance(blocks, int) and isinstance(rest, int) and blocks == rest):
                span(blocks, rest, vectors, 1)
        if isinstance(rest, int) and isinstance(last, int) and rest == last:
            return
        if isinstance(last, int) and isinstance(rest, int) and last - rest <= 8:
            span(rest, last, Lanes(b), 1)
            return
        if width > 1:
            span(rest, last, Lanes(b), 1)
            return
        small = 8
        groups = arrays.whole_vectors(f, start, last, small)

        def group(i: str) -> None:
            first = i if i.startswith("%") else int(i)
            span(first, f.plus(first, small), Lanes(b), 1)

        arrays.count_loop(f, start, groups, small, group)
        span(groups, last, Lanes(b), 1)

    def _carry(self, lanes: Lanes, new: str) -> None:
        """Adds to the total; what rounding loses is kept apart (Knuth's two-sum)."""
        b = self.f.b
        kind = register(self.dtype)
        t = lanes.type(kind)
        value, error = self.single if lanes.width == 1 else self.accumulator(lanes.width)
        total, lost = b.value(f"load {t}, ptr {value}"), b.value(f"load {t}, ptr {error}")
        s = b.value(f"fadd {t} {total}, {new}")
        back = b.value(f"fsub {t} {s}, {total}")
        first = b.value(f"fsub {t} {total}, {b.value(f'fsub {t} {s}, {back}')}")
        second = b.value(f"fsub {t} {new}, {back}")
        more = b.value(f"fadd {t} {first}, {second}")
        b.emit(f"store {t} {s}, ptr {value}")
        b.emit(f"store {t} {b.value(f'fadd {t} {lost}, {more}')}, ptr {error}")

    def parts(self) -> tuple[str, str]:
        """What the accumulators come to, and the error to be added to it."""
        b = self.f.b
        kind = register(self.dtype)
        value = b.value(f"load {kind}, ptr {self.single[0]}")
        error = b.value(f"load {kind}, ptr {self.single[1]}") if self.exact else ""
        for width, (place, lost) in self.accumulators.items():
            lanes = Lanes(b, width)
            vector = b.value(f"load {lanes.type(kind)}, ptr {place}")
            value = self._across(lanes, vector, value)
            if self.exact:
                errors = b.value(f"load {lanes.type(kind)}, ptr {lost}")
                error = b.value(f"fadd {kind} {error}, {self._across(lanes, errors, None)}")
        return value, error

    def join(self, value: str, error: str) -> None:
        """Takes in the parts of another total."""
        b = self.f.b
        kind = register(self.dtype)
        place, lost = self.single
        if self.exact:
            self._carry(Lanes(b), value)
            place, value = lost, error
        old = b.value(f"load {kind}, ptr {place}")
        combine = ELEMENT["add" if self.exact else self.kind.combine]
        b.emit(f"store {kind} {combine(Lanes(b), self.dtype, (old,), (value,))[0]}, ptr {place}")

    def result(self) -> tuple[str, ...]:
        b = self.f.b
        kind = register(self.dtype)
        scalar = Lanes(b)
        value, error = self.parts()
        if self.exact:
            corrected = b.value(f"fadd {kind} {value}, {error}")
            finite = scalar.intrinsic("fabs", kind, error)
            good = b.value(f"fcmp olt {kind} {finite}, {float_literal(math.inf, kind)}")
            value = scalar.select(good, kind, corrected, value)
        return (value,)

    def _across(self, lanes: Lanes, vector: str, value: str | None) -> str:
        b = self.f.b
        kind = register(self.dtype)
        parts = [b.value(f"extractelement {lanes.type(kind)} {vector}, i64 {k}") for k in range(lanes.width)]
        scalar = Lanes(b)
        while len(parts) > 1:
            parts = [
                ELEMENT[self.kind.combine](scalar, self.dtype, (p,), (q,))[0]
                for p, q in zip(parts[::2], parts[1::2])
            ]
        if value is None:
            return parts[0]
        return ELEMENT[self.kind.combine](scalar, self.dtype, (value,), (parts[0],))[0]


def _inner(
    f: FunctionLowering,
    kind: Kind,
    x: Value,
    kept: list[int],
    axes: list[int],
    target: Memory,
    dtype: np.dtype[Any],
    name: str,
    count: Any,
    keep: bool,
) -> None:
    """The last axes are reduced: each result by itself."""
    dims = arrays.dims_of(x)
    shared = arrays.widest(dims, kept)
    cost: Any = arrays.cost_of(x, arrays.width_for(x, dtype))
    for a, d in enumerate(dims):
        cost = cost if a == shared else f.times(cost, d)

    def level(k: int, indices: dict[int, str], span: tuple[Any, Any]) -> None:
        if k < len(kept):
            begin, end = span if kept[k] == shared else (0, dims[kept[k]])
            arrays.count_loop(f, begin, end, 1, lambda i: level(k + 1, {**indices, kept[k]: i}, span))
            return
        parts = _all(f, kind, x, axes, indices, dtype).result()
        parts = _mean(f, parts, dtype, count) if name == "mean" else parts
        where = [indices.get(a, "0") for a in range(len(dims)) if keep or a in indices]
        arrays.store(f, Lanes(f.b), target, where, parts)

    parallel.split(f, dims[shared], cost, lambda begin, end: level(0, {}, (begin, end)))


def _outer(
    f: FunctionLowering,
    kind: Kind,
    x: Value,
    axes: set[int],
    target: Memory,
    dtype: np.dtype[Any],
    name: str,
    count: Any,
    keep: bool,
) -> None:
    """Other axes are reduced: results are updated in memory, in the order of the array."""
    dims = arrays.dims_of(x)
    lanes = Lanes(f.b)
    start = _Total.__new__(_Total)
    start.kind, start.dtype = kind, dtype
    arrays.fill(f, target, Number(Scalar(dtype), dtype, f.literal(start._start(), dtype)))
    source = x.dtype  # type: ignore[attr-defined]

    def body(lanes: Lanes, index: list[str]) -> None:
        where = [("0" if a in axes else i) for a, i in enumerate(index) if keep or a not in axes]
        new = lanes.cast(arrays.evaluate(f, lanes, x, index, dims), source, dtype)
        old = arrays.load(f, lanes, target, where, vector=True)
        arrays.store(f, lanes, target, where, ELEMENT[kind.combine](lanes, dtype, old, new))

    width = arrays.width_for(x, dtype) if (len(dims) - 1) not in axes else 1
    last = dims[-1]
    if isinstance(last, int):
        while width > 1 and width > last:
            width //= 2
    test = "false"
    if width > 1:
        goal = Memory(dtype, "", dims, (0,) * (len(dims) - 1) + (dtype.itemsize,))
        test = arrays._vector_test(f, [*arrays.leaves_of(x), *arrays.maps_of(x)], goal, dims)
    width = width if test == "true" else 1
    kept = [a for a in range(len(dims)) if a not in axes]
    arrays.nest(f, list(dims), width, body, arrays.cost_of(x, width), kept)
    if name == "mean":

        def divide(lanes: Lanes, index: list[str]) -> None:
            old = arrays.load(f, lanes, target, index)
            arrays.store(f, lanes, target, index, _mean(f, old, dtype, count))

        arrays.nest(f, list(target.dims), 1, divide)
    del lanes
