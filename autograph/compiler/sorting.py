"""Searching in sorted arrays, counting, histograms; sorting of a few numbers; the first of a stable sort.

Long arrays are sorted by NumPy, whose code for it is as good as it gets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compiler import arrays, reductions
from autograph.compiler.creation import arguments, as_array, between, known, numbered, part, whole_number
from autograph.compiler.elementwise import ELEMENT, Lanes
from autograph.compiler.indexing import size_of
from autograph.compiler.ir import float_literal
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Computed,
    Known,
    Lazy,
    Memory,
    Number,
    Tuple,
    Value,
    array_type,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import Array, Const, Scalar

INT, FLOAT = np.dtype(np.int64), np.dtype(float)
FEW = 24
"""Up to so many numbers are sorted here."""
FIRST = 32
"""So many positions at most are found by looking for the first of a stable sort only."""


def precedes(lanes: Lanes, dtype: np.dtype[Any], x: str, y: str) -> str:
    """Whether x is sorted before y: NaN comes last."""
    if dtype.kind == "b":
        return lanes.op("and", "i1", lanes.op("xor", "i1", x, lanes.constant("true", "i1")), y)
    less = lanes.compare("lt", dtype, x, y)
    if dtype.kind != "f":
        return less
    kind = lanes.type(register(dtype))
    nan = lanes.b.value(f"fcmp uno {kind} {y}, {y}")
    number = lanes.b.value(f"fcmp ord {kind} {x}, {x}")
    return lanes.op("or", "i1", less, lanes.op("and", "i1", nan, number))


# -- sorting -------------------------------------------------------------------------------------------------


def _insertion(f: FunctionLowering, m: Memory) -> None:
    """Sorts a short array in memory."""
    b, one = f.b, Lanes(f.b)

    def place(i: str) -> None:
        new = arrays.load(f, one, m, [i])[0]
        head, test, move, after = (b.label(n) for n in ("back", "test", "move", "put"))
        before = b.block
        b.jump(head)
        b.start(head)
        k = b.phi("i64")
        k.incoming.append((i, before))
        b.branch(b.value(f"icmp eq i64 {k.name}, 0"), after, test)
        b.start(test)
        previous = b.value(f"sub i64 {k.name}, 1")
        old = arrays.load(f, one, m, [previous])[0]
        b.branch(precedes(one, m.dtype, new, old), move, after)
        b.start(move)
        arrays.store(f, one, m, [k.name], (old,))
        k.incoming.append((previous, b.block))
        b.jump(head)
        b.start(after)
        arrays.store(f, one, m, [k.name], (new,))

    arrays.count_loop(f, 1, m.dims[0], 1, place)


def _is_short(dims: tuple[Any, ...]) -> bool:
    return len(dims) == 1 and isinstance(dims[0], int) and dims[0] <= FEW


@rule("np.sort")
def sort(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a axis", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or x.dtype.kind not in "fiub" or not _is_short(arrays.dims_of(x)):
        return None
    try:
        if known(given, "axis", -1) not in (-1, 0, None):
            return None
    except KeyError:
        return None
    target = arrays._copied(f, x)
    _insertion(f, target)
    return target


@rule("ndarray.sort")
def sort_in_place(
    f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any
) -> Value | None:
    if args or options or not isinstance(x, Memory) or x.dtype.kind not in "fiub" or not _is_short(x.dims):
        return None
    if not arrays.writeable(f, operation, x):
        return None
    arrays.check_apart(f, operation, x, x)
    f.flush()
    _insertion(f, x)
    return Known(None)


@rule("np.argsort", "ndarray.argsort")
def argsort(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    """`argsort(x, kind="stable")[:k]`: only the first few are looked for, where k is small."""
    given = arguments("a axis kind", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or x.dtype.kind not in "fiub" or len(arrays.dims_of(x)) != 1:
        return None
    try:
        stable = known(given, "kind", None) in ("stable", "mergesort")
        axis = known(given, "axis", -1)
    except KeyError:
        return None
    count = _wanted(f, operation)
    if not stable or axis not in (-1, 0, None) or count is None or (isinstance(count, int) and count > FIRST):
        return None
    source = operation.args[0]
    f._settle(source)
    m = arrays.memory(f, f.value_of(source))
    b, slot = f.b, f.new_slot()
    size = m.dims[0]
    small = b.value(f"icmp ult i64 {count}, {min(FIRST, size) if isinstance(size, int) else FIRST}")
    if not isinstance(size, int):
        small = b.value(f"and i1 {small}, {b.value(f'icmp ult i64 {count}, {size}')}")
    few, all_, after = b.label("few"), b.label("all"), b.label("sorted")
    b.branch(small, few, all_)
    b.start(few)
    first = _first(f, operation, m, str(count))
    assert first.slot is not None
    f.set_slot(slot, f.incref(f.get_slot(first.slot)))
    b.jump(after)
    b.start(all_)
    f.set_slot(slot, f.callback(operation))
    b.jump(after)
    b.start(after)
    return f.as_contiguous(f.unpack_array(slot, Array(INT, (None,)), operation.outputs[0]))


def _wanted(f: FunctionLowering, operation: Operation) -> Any:
    """How many of a result's first elements are used, where nothing else of it is; else None."""
    out = operation.outputs[0]
    user = f.users.get(id(out))
    if user is None or f.uses.get(id(out)) != 1 or user.name != "get_item" or id(out) in f.plan.objects:
        return None
    index = user.args[1]
    index = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if not isinstance(index, slice) or index.start not in (None, 0) or index.step not in (None, 1):
        return None
    if isinstance(index.stop, Tensor) and not isinstance(index.stop._ag_type, Const):
        return whole_number(f, f.env.get(id(index.stop)))
    stop = f.value_of(index.stop)
    is_count = isinstance(stop, Known) and type(stop.value) is int and stop.value >= 0
    return stop.value if is_count else None  # type: ignore[attr-defined]


def _first(f: FunctionLowering, operation: Operation, m: Memory, count: str) -> Memory:
    """The positions of the first elements of a stable sort: the best so far are kept in order."""
    b, one = f.b, Lanes(f.b)
    target = arrays.allocate(f, INT, (count,), operation)
    size = m.dtype.itemsize
    place = b.alloca(f"[{FIRST} x [{size} x i8]]", 64)
    best = Memory(m.dtype, place, (count,), (size,), None, False, True, ("stack", place))
    last = b.value(f"sub i64 {count}, 1")

    def insert(i: str, free: str) -> None:
        f.evaluated.clear()
        new = arrays.load(f, one, m, [i])[0]
        head, test, move, after = (b.label(n) for n in ("back", "test", "move", "put"))
        before = b.block
        b.jump(head)
        b.start(head)
        k = b.phi("i64")
        k.incoming.append((free, before))
        b.branch(b.value(f"icmp eq i64 {k.name}, 0"), after, test)
        b.start(test)
        previous = b.value(f"sub i64 {k.name}, 1")
        old = arrays.load(f, one, best, [previous])[0]
        b.branch(precedes(one, m.dtype, new, old), move, after)
        b.start(move)
        arrays.store(f, one, best, [k.name], (old,))
        arrays.store(f, one, target, [k.name], arrays.load(f, one, target, [previous]))
        k.incoming.append((previous, b.block))
        b.jump(head)
        b.start(after)
        arrays.store(f, one, best, [k.name], (new,))
        arrays.store(f, one, target, [k.name], (i,))

    def better(lanes: Lanes, i: str) -> str:
        """Whether elements from a place on precede the last one that is kept."""
        f.evaluated.clear()
        worst = arrays.load(f, one, best, [last])[0]
        new = arrays.load(f, lanes, m, [i])[0]
        return precedes(lanes, m.dtype, new, lanes.splat(worst, register(m.dtype)))

    def consider(i: str) -> None:
        enter, after = b.label("enter"), b.label("next")
        b.branch(better(one, i), enter, after)
        b.start(enter)
        insert(i, last)
        b.jump(after)
        b.start(after)

    def block(i: str) -> None:
        lanes = Lanes(b, width)
        some = better(lanes, i)
        some = b.call("i1", f"llvm.vector.reduce.or.v{width}i1", f"{lanes.type('i1')} {some}")
        look, after = b.label("look"), b.label("next")
        b.branch(some, look, after)
        b.start(look)
        arrays.count_loop(f, i, b.value(f"add i64 {i}, {width}"), 1, consider)
        b.jump(after)
        b.start(after)

    some = b.value(f"icmp ne i64 {count}, 0")
    work, done = b.label("work"), b.label("first")
    b.branch(some, work, done)
    b.start(work)
    arrays.count_loop(f, 0, count, 1, lambda i: insert(i, i))
    width = 1 if m.dtype.kind == "b" or m.strides[0] != size else arrays.width_for(m, m.dtype)
    rest: Any = count
    if width > 1:
        rest = arrays.whole_vectors(f, count, m.dims[0], width)
        arrays.count_loop(f, count, rest, width, block)
    arrays.count_loop(f, rest, m.dims[0], 1, consider)
    b.jump(done)
    b.start(done)
    return target


# -- searching -----------------------------------------------------------------------------------------------


@rule("np.searchsorted", "ndarray.searchsorted")
def searchsorted(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    given = arguments("a v side", args, options)
    a = as_array(f, given.get("a")) if given else None
    if given is None or a is None or len(arrays.dims_of(a)) != 1 or a.dtype.kind not in "fiu":
        return None
    v: Any = as_array(f, given.get("v")) or numbered(f, given.get("v"))
    side = given.get("side", Known("left"))
    if v is None or not isinstance(side, Known) or side.value not in ("left", "right"):
        return None
    weak = isinstance(v, Number) and v.weak
    if v.dtype != a.dtype and not (weak and v.dtype.kind in "if" and a.dtype == FLOAT):
        return None
    m = arrays.memory(f, a)
    out = operation.outputs[0]._ag_type
    if isinstance(v, Number):
        if scalar_dtype(out) is None:
            return None
        key = Lanes(f.b).cast(v.parts, v.dtype, m.dtype)[0]
        return Number(out, INT, (_found(f, m, key, side.value == "right"),), 0)
    if array_type(out) is None:
        return None
    v = arrays._in_memory(f, v)
    dims = arrays.dims_of(v)
    target = arrays.allocate(f, INT, dims, operation)

    def body(lanes: Lanes, index: list[str]) -> None:
        key = arrays.evaluate(f, lanes, v, index, dims)[0]
        arrays.store(f, lanes, target, index, (_found(f, m, key, side.value == "right"),))

    arrays.nest(f, list(dims), 1, body)
    return target


def _found(f: FunctionLowering, m: Memory, key: str, right: bool) -> str:
    """Where a number belongs in a sorted array: halves what is left, without branches on the numbers."""
    b, one = f.b, Lanes(f.b)
    head, turn, after = b.label("search"), b.label("half"), b.label("found")
    before = b.block
    b.jump(head)
    b.start(head)
    low, left = b.phi("i64"), b.phi("i64")
    low.incoming.append(("0", before))
    left.incoming.append((str(m.dims[0]), before))
    b.branch(b.value(f"icmp sgt i64 {left.name}, 0"), turn, after)
    b.start(turn)
    half = b.value(f"lshr i64 {left.name}, 1")
    middle = b.value(f"add i64 {low.name}, {half}")
    f.evaluated.clear()
    other = arrays.load(f, one, m, [middle])[0]
    if right:
        later = one.op("xor", "i1", precedes(one, m.dtype, key, other), "true")
    else:
        later = precedes(one, m.dtype, other, key)
    next_low = b.value(f"select i1 {later}, i64 {b.value(f'add i64 {middle}, 1')}, i64 {low.name}")
    rest = b.value(f"sub i64 {b.value(f'sub i64 {left.name}, {half}')}, 1")
    next_left = b.value(f"select i1 {later}, i64 {rest}, i64 {half}")
    low.incoming.append((next_low, b.block))
    left.incoming.append((next_left, b.block))
    b.jump(head)
    b.start(after)
    return low.name


# -- counting ------------------------------------------------------------------------------------------------


@rule("np.bincount")
def bincount(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    given = arguments("x weights minlength", args, options)
    x = as_array(f, given.get("x")) if given else None
    if given is None or x is None or t is None or len(arrays.dims_of(x)) != 1:
        return None
    if x.dtype.kind != "i" and not (x.dtype.kind == "u" and x.dtype.itemsize < 8):
        return None
    weights = given.get("weights", Known(None))
    w = None
    if not (isinstance(weights, Known) and weights.value is None):
        w = as_array(f, weights)
        if w is None or w.dtype.kind not in "fiub" or arrays.dims_of(w) != arrays.dims_of(x):
            return None
    least = whole_number(f, given.get("minlength", Known(0)))
    if least is None or (isinstance(least, int) and least < 0):
        return None
    b = f.b
    if not isinstance(least, int):
        f.guard(b.value(f"icmp ult i64 {least}, {2**40}"), operation)
    m = arrays.memory(f, x)
    if isinstance(w, Lazy):
        w = arrays.materialize(f, w)
    w = None if w is None else arrays._in_memory(f, w)
    span = (
        arrays.materialize(f, Lazy(INT, m.dims, arrays.Map("astype", (INT,), INT), (m,), 1))
        if m.dtype != INT
        else m
    )
    largest = reductions._whole(f, reductions.KINDS["max"], span, INT)[0]
    smallest = reductions._whole(f, reductions.KINDS["min"], span, INT)[0]
    f.guard(b.value(f"icmp sge i64 {smallest}, 0"), operation)
    some = b.call("i64", "llvm.smax.i64", f"i64 {largest}", "i64 -1")
    f.guard(b.value(f"icmp slt i64 {some}, {2**40}"), operation)
    count = b.call("i64", "llvm.smax.i64", f"i64 {b.value(f'add i64 {some}, 1')}", f"i64 {least}")
    target = arrays.allocate(f, t.dtype, (count,), operation)
    arrays.fill(f, target, Number(Scalar(t.dtype), t.dtype, f.literal(0, t.dtype)))

    def body(i: str) -> None:
        at = arrays.load(f, Lanes(b), span, [i])[0]
        _add(f, target, at, w, [i])

    arrays.count_loop(f, 0, span.dims[0], 1, body)
    return target


def _add(f: FunctionLowering, target: Memory, at: str, weights: Any, index: list[str]) -> None:
    """Adds 1, or a weight, to a count."""
    one, dtype = Lanes(f.b), target.dtype
    if weights is None:
        parts = f.literal(1, dtype)
    else:
        found = arrays.evaluate(f, one, weights, index, arrays.dims_of(weights))
        parts = one.cast(found, weights.dtype, dtype)
    old = arrays.load(f, one, target, [at])
    arrays.store(f, one, target, [at], ELEMENT["add"](one, dtype, old, parts))


@rule("np.histogram")
def histogram(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    """With equal bins: a number's bin is computed, then corrected by the edges, as NumPy does it."""
    out = operation.outputs[0]
    given = arguments("a bins range density weights", args, options)
    x = as_array(f, given.get("a")) if given else None
    if given is None or x is None or x.dtype != FLOAT or id(out) in f.plan.objects:
        return None
    bins = whole_number(f, given.get("bins", Known(10)))
    density, weights = given.get("density", Known(None)), given.get("weights", Known(None))
    if (
        bins is None
        or not isinstance(density, Known)
        or density.value
        or (isinstance(bins, int) and bins < 1)
    ):
        return None
    dims = arrays.dims_of(x)
    w = None
    if not (isinstance(weights, Known) and weights.value is None):
        w = as_array(f, weights)
        if w is None or w.dtype != FLOAT or arrays.dims_of(w) != dims or len(dims) != 1:
            return None
        w = arrays.memory(f, w)
    m = arrays.memory(f, x)
    if len(dims) != 1:
        if not m.contiguous:
            return None
        m = part(m, (size_of(f, dims),), (8,))
    ends = _ends(f, operation, m, given.get("range", Known(None)))
    if ends is None:
        return None
    b = f.b
    if not isinstance(bins, int):
        f.guard(b.value(f"icmp sge i64 {bins}, 1"), operation)
        f.guard(b.value(f"icmp slt i64 {bins}, {2**40}"), operation)
    edge_count = f.plus(bins, 1)
    element = between(f, *ends, edge_count, True)
    edges = arrays.materialize(f, Computed(FLOAT, (edge_count,), None, (), 6, element, True))
    dtype = INT if w is None else FLOAT
    counts = arrays.allocate(f, dtype, (bins,), operation)
    arrays.fill(f, counts, Number(Scalar(dtype), dtype, f.literal(0, dtype)))
    _into_bins(f, m, w, ends, bins, edges, counts)
    return Tuple((counts, edges))


def _ends(f: FunctionLowering, operation: Operation, m: Memory, span: Any) -> tuple[str, str] | None:
    """The first and the last edge."""
    b, one = f.b, Lanes(f.b)
    if isinstance(span, Known) and span.value is None:
        if not isinstance(m.dims[0], int) or m.dims[0] == 0:
            return None
        ends = [reductions._whole(f, reductions.KINDS[n], m, FLOAT)[0] for n in ("min", "max")]
    else:
        items = span.items if isinstance(span, Tuple) else span
        if isinstance(span, Known):
            items = tuple(Known(v) for v in span.value) if isinstance(span.value, tuple) else None
        if not isinstance(items, tuple) or len(items) != 2:
            return None
        found = [numbered(f, v) for v in items]
        if any(n is None or n.dtype not in (INT, FLOAT) for n in found):
            return None
        ends = [one.cast(n.parts, n.dtype, FLOAT)[0] for n in found if n is not None]
        f.guard(b.value(f"fcmp ole double {ends[0]}, {ends[1]}"), operation)
    for end in ends:
        size = one.intrinsic("fabs", "double", end)
        f.guard(b.value(f"fcmp olt double {size}, {float_literal(float('inf'))}"), operation)
    empty = b.value(f"fcmp oeq double {ends[0]}, {ends[1]}")
    low = b.value(f"select i1 {empty}, double {b.value(f'fsub double {ends[0]}, 0.5')}, double {ends[0]}")
    high = b.value(f"select i1 {empty}, double {b.value(f'fadd double {ends[1]}, 0.5')}, double {ends[1]}")
    return low, high


def _into_bins(
    f: FunctionLowering, m: Memory, w: Any, ends: tuple[str, str], bins: Any, edges: Memory, counts: Memory
) -> None:
    b, one = f.b, Lanes(f.b)
    width = b.value(f"fsub double {ends[1]}, {ends[0]}")
    scale = one.cast((str(bins),), INT, FLOAT)[0]
    last = f.plus(bins, -1)

    def body(i: str) -> None:
        x = arrays.load(f, one, m, [i])[0]
        after_first = b.value(f"fcmp oge double {x}, {ends[0]}")
        before_last = b.value(f"fcmp ole double {x}, {ends[1]}")
        inside, after = b.label("inside"), b.label("counted")
        b.branch(b.value(f"and i1 {after_first}, {before_last}"), inside, after)
        b.start(inside)
        share = b.value(f"fdiv double {b.value(f'fsub double {x}, {ends[0]}')}, {width}")
        at = one.cast((b.value(f"fmul double {share}, {scale}"),), FLOAT, INT)[0]
        at = b.value(f"select i1 {b.value(f'icmp eq i64 {at}, {bins}')}, i64 {last}, i64 {at}")
        f.evaluated.clear()
        low = arrays.load(f, one, edges, [at])[0]
        less = b.value(f"fcmp olt double {x}, {low}")
        at = b.value(f"sub i64 {at}, {b.value(f'zext i1 {less} to i64')}")
        high = arrays.load(f, one, edges, [b.value(f"add i64 {at}, 1")])[0]
        reached = b.value(f"fcmp oge double {x}, {high}")
        more = b.value(f"and i1 {reached}, {b.value(f'icmp ne i64 {at}, {last}')}")
        at = b.value(f"add i64 {at}, {b.value(f'zext i1 {more} to i64')}")
        _add(f, counts, at, w, [i])
        b.jump(after)
        b.start(after)

    arrays.count_loop(f, 0, m.dims[0], 1, body)
