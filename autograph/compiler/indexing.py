"""Indexing with arrays: gathers are lazy arrays, masks are read 64 at a time, writes are done in order.

All index arrays are checked before the first element is read or written, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import arrays, parallel
from autograph.compiler.elementwise import Lanes
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Computed,
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Tuple,
    Value,
    array_type,
    memory,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation
from autograph.records import record_class, replace

INT, BOOL = np.dtype(np.int64), np.dtype(bool)
POSITIONS = "positions"
WORD = 64
"""How many elements of a mask are looked at at once."""


def as_operand(i: str) -> Any:
    """An index as text, as a number where it is one."""
    return i if i.startswith("%") else int(i)


# -- what an index picks -------------------------------------------------------------------------------------


@record_class
class Picked:
    """The elements that an index picks: where they start, the result's dimensions, what varies along them."""

    data: str
    dims: tuple[Any, ...]
    steps: list[tuple[int, Any]]  # of slices: an axis of the result, its stride
    indices: list[tuple[Any, Any, Any]]  # index array, the dimension it indexes, the stride of that
    first: int  # axis of the result where the dimensions of the index arrays start
    shape: tuple[Any, ...]  # the broadcast shape of the index arrays


def _parts(f: FunctionLowering, index: Any) -> list[Any] | None:
    """The parts of an index, arrays among them as values; None where it has others."""
    if isinstance(index, Known) and isinstance(index.value, tuple):
        index = tuple(Known(v) for v in index.value)
    elif isinstance(index, Tuple):
        index = index.items
    parts = list(index) if isinstance(index, tuple) else [index]
    out: list[Any] = []
    for p in parts:
        if isinstance(p, list) or hasattr(p, "virtual"):
            p = _listed(f, p if isinstance(p, list) else p.virtual)
            if p is None:
                return None
        if isinstance(p, Known) and isinstance(p.value, np.ndarray):
            p = arrays.value_as_array(f, p)
        if isinstance(p, (Memory, Elements, Lazy)):
            if p.dtype.kind not in "iub" or not arrays.dims_of(p):
                return None
            out.append(p)
            continue
        basic = arrays._index_parts((p,))
        if basic is None:
            return None
        out += basic
    return out


def _listed(f: FunctionLowering, items: Any) -> Elements | None:
    """A list of integers as an array."""
    found = []
    for i in items:
        if isinstance(i, Known) and type(i.value) is not int:
            return None
        if not isinstance(i, (Known, Number)):
            return None
        n = f.number(i)
        if n.dtype.kind != "i":
            return None
        found.append(Lanes(f.b).cast(n.parts, n.dtype, INT))
    return Elements(INT, (len(found),), tuple(found)) if found else None


def _is_array(p: Any) -> bool:
    return isinstance(p, (Memory, Elements, Lazy))


def pick(f: FunctionLowering, operation: Operation, m: Memory, parts: list[Any]) -> Picked | None:
    """Resolves an index with arrays in it; checks it."""
    whole: list[Any] = []
    for p in parts:
        if _is_array(p) and p.dtype.kind == "b":
            axis = sum(1 for q in whole if q is not None and q is not Ellipsis)
            if Ellipsis in whole:
                return None
            if not _check_mask(f, operation, p, m.dims[axis : axis + len(arrays.dims_of(p))]):
                return None
            found = nonzero(f, arrays.memory(f, p))
            whole += [replace(n, root=(POSITIONS, n.slot)) for n in found]
        else:
            whole.append(p)
    used = sum(1 for p in whole if p is not None and p is not Ellipsis)
    if used > len(m.dims) or sum(1 for p in whole if p is Ellipsis) > 1:
        return None
    if Ellipsis not in whole:
        whole.append(Ellipsis)
    at = next(i for i, p in enumerate(whole) if p is Ellipsis)
    full: Any = slice(Known(None), Known(None), Known(None))
    whole[at : at + 1] = [full] * (len(m.dims) - used) or [Ellipsis]  # it separates even where it is empty
    return _picked(f, operation, m, whole)


def _picked(f: FunctionLowering, operation: Operation, m: Memory, parts: list[Any]) -> Picked | None:
    found = [p for p in parts if _is_array(p)]
    if any(len(arrays.dims_of(p)) > 3 for p in found):
        return None
    shape = arrays.broadcast_dims(f, operation, [arrays.dims_of(p) for p in found])
    if shape is None:
        return None
    dims: list[Any] = []
    steps: list[tuple[int, Any]] = []
    indices = []
    offset: Any = 0
    first, last, separate, axis = -1, -1, False, 0
    for place, p in enumerate(parts):
        if p is Ellipsis:
            continue
        if p is None:
            dims.append(1)
            continue
        dim, stride = m.dims[axis], m.strides[axis]
        axis += 1
        if isinstance(p, slice):
            resolved = arrays._slice(f, p, dim, operation)
            if resolved is None:
                return None
            start, length, step = resolved
            steps.append((len(dims), f.times(stride, step)))
            dims.append(length)
            offset = f.plus(offset, f.times(stride, start))
            continue
        if first < 0:
            first = len(dims)
        elif last != place - 1:
            separate = True
        last = place
        if _is_array(p):
            p = _constant(f, p, dim)
            kept = (
                p if isinstance(p, Memory) or (isinstance(p, Lazy) and p.cost <= 2) else arrays.memory(f, p)
            )
            indices.append((kept, dim, stride))
        else:
            start = arrays.position(f, operation, p, dim)
            if start is None:
                return None
            offset = f.plus(offset, f.times(stride, start))
    if separate:
        first = 0
    dims[first:first] = shape
    rank = len(shape)
    steps = [(a if a < first else a + rank, s) for a, s in steps]
    nothing = ""  # where the index arrays are broadcast to nothing, NumPy looks at none of them
    if len(indices) > 1 and any(isinstance(d, str) for d in shape):
        nothing = f.b.value(f"icmp eq i64 {size_of(f, shape)}, 0")
    for p, dim, _ in indices if 0 not in shape else []:
        _check(f, operation, p, dim, nothing)
    return Picked(f.at(m.data, offset), tuple(dims), steps, indices, first, shape)


def _constant(f: FunctionLowering, p: Any, dim: Any) -> Any:
    """An array of known positions; others as they are."""
    if not isinstance(p, Elements) or not isinstance(dim, int) or p.dtype.kind != "i":
        return p
    if any(item[0].startswith("%") or not -dim <= int(item[0]) < dim for item in p.items):
        return p
    items = tuple((str(int(item[0]) % dim),) for item in p.items)
    m = arrays.memory(f, Elements(p.dtype, p.shape, items))
    return replace(m, root=(POSITIONS, m.data))


def _check_mask(f: FunctionLowering, operation: Operation, mask: Any, dims: tuple[Any, ...]) -> bool:
    """Checks that a mask has the dimensions that it picks from, or no elements, which picks nothing."""
    own = arrays.dims_of(mask)
    if len(own) != len(dims):
        return False
    for d, whole in zip(own, dims):
        if isinstance(d, int) and isinstance(whole, int):
            if d != whole:
                return False
        elif d != whole:
            f.guard(f.b.value(f"icmp eq i64 {d}, {whole}"), operation, rare=f"icmp eq i64 {d}, 0")
    return True


def _check(f: FunctionLowering, operation: Operation, index: Any, dim: Any, nothing: str) -> None:
    """Checks that all elements of an index array are positions in a dimension."""
    if _is_natural(index):
        return
    b = f.b
    width = 8 if arrays.width_for(index, INT) > 1 else 1
    dims = arrays.dims_of(index)
    if isinstance(index, Memory) and index.contiguous and len(dims) > 1:
        count: Any = 1
        for d in dims:
            count = f.times(count, d)
        index = arrays._flattened(index, count)
        dims = (count,)
    sources = [*arrays.leaves_of(index), *arrays.maps_of(index)]
    goal = Memory(INT, "", dims, (0,) * (len(dims) - 1) + (8,))
    if width > 1 and arrays._vector_test(f, sources, goal, dims) != "true":
        width = 1
    if isinstance(dims[-1], int) and dims[-1] < width:
        width = 1
    found = b.alloca("i64")
    b.emit(f"store i64 0, ptr {found}")
    places: dict[int, str] = {}

    def body(lanes: Lanes, at: list[str]) -> None:
        x = lanes.cast(arrays.evaluate(f, lanes, index, at, dims), index.dtype, INT)[0]
        t = lanes.type("i64")
        if index.dtype.kind == "u":
            shifted, limit = x, dim
        else:
            shifted = lanes.op("add", "i64", x, lanes.splat(str(dim), "i64"))
            limit = f.times(2, dim)
        bad = b.value(f"icmp uge {t} {shifted}, {lanes.splat(str(limit), 'i64')}")
        wide = b.value(f"sext {lanes.type('i1')} {bad} to {t}")
        old = b.value(f"load {t}, ptr {places[lanes.width]}")
        b.emit(f"store {t} {b.value(f'or {t} {old}, {wide}')}, ptr {places[lanes.width]}")

    def piece(ranges: list[tuple[Any, Any]]) -> None:
        for w in {width, 1}:
            places[w] = b.alloca(Lanes(b, w).type("i64"), 64)
            b.emit(f"store {Lanes(b, w).type('i64')} zeroinitializer, ptr {places[w]}")
        arrays.loops(f, list(dims), ranges, width, body)
        total = b.value(f"load i64, ptr {places[1]}")
        if width > 1:
            vector = b.value(f"load <{width} x i64>, ptr {places[width]}")
            across = b.call("i64", f"llvm.vector.reduce.or.v{width}i64", f"<{width} x i64> {vector}")
            total = b.value(f"or i64 {total}, {across}")
        b.value(f"atomicrmw or ptr {found}, i64 {total} seq_cst")  # of all pieces

    arrays.share(f, list(dims), arrays.cost_of(index, width), piece)
    good = b.value(f"icmp eq i64 {b.value(f'load i64, ptr {found}')}, 0")
    f.guard(b.value(f"or i1 {good}, {nothing}") if nothing else good, operation)


def place(f: FunctionLowering, picked: Picked, index: list[str]) -> str:
    """The address of the element at an index of the result."""
    offset: Any = 0
    for axis, stride in picked.steps:
        offset = f.plus(offset, f.times(stride, as_operand(index[axis])))
    rank = len(picked.shape)
    at = index[picked.first : picked.first + rank]
    lanes = Lanes(f.b)
    for values, dim, stride in picked.indices:
        parts = arrays.evaluate(f, lanes, values, at, picked.shape)
        position = lanes.cast(parts, values.dtype, INT)[0]
        if values.dtype.kind != "u" and not _is_natural(values):
            negative = f.b.value(f"icmp slt i64 {position}, 0")
            moved = f.b.value(f"add i64 {position}, {dim}")
            position = f.b.value(f"select i1 {negative}, i64 {moved}, i64 {position}")
        offset = f.plus(offset, f.times(stride, position))
    return f.at(picked.data, offset)


def _is_natural(values: Any) -> bool:
    """Whether an index array was made of a mask here: its elements are positions."""
    return isinstance(values, Memory) and isinstance(values.root, tuple) and values.root[0] == POSITIONS


def _is_dense(m: Memory, picked: Picked) -> bool:
    """Whether the last axis of what is picked is dense in memory."""
    last = len(picked.dims) - 1
    return any(axis == last and stride == m.dtype.itemsize for axis, stride in picked.steps)


def get_item(f: FunctionLowering, operation: Operation, x: Any, index: Any) -> Value | None:
    """x[index] with arrays in the index: a copy."""
    t = array_type(operation.outputs[0]._ag_type)
    parts = _parts(f, index)
    if t is None or parts is None or not any(_is_array(p) for p in parts):
        return None
    m = arrays.memory(f, x)
    if len(parts) == 1 and parts[0].dtype.kind == "b" and len(arrays.dims_of(parts[0])) == len(m.dims):
        return compress(f, operation, m, parts[0])
    picked = pick(f, operation, m, parts)
    if picked is None or len(picked.dims) != len(t.shape or ()):
        return None

    def element(lanes: Lanes, at: list[str]) -> tuple[str, ...]:
        pointer = place(f, picked, at)
        if lanes.width == 1:
            return f.load_scalar(pointer, m.dtype)
        if m.dtype.kind == "b":
            raw = f.b.value(f"load <{lanes.width} x i8>, ptr {pointer}, align 1")
            return (f.b.value(f"icmp ne <{lanes.width} x i8> {raw}, zeroinitializer"),)
        t = lanes.type(memory(m.dtype))
        return (f.b.value(f"load {t}, ptr {pointer}, align 1"),)

    sources = (m, *(p for p, _, _ in picked.indices))
    vector = _is_dense(m, picked) and m.dtype.kind != "c"
    found = Computed(m.dtype, picked.dims, None, sources, 6, element, vector)
    plain = all(arrays.in_order(p) for p in sources)
    if not plain and not (len(picked.steps) <= 1 and len(m.dims) > 1):
        return None  # NumPy's result has the order of the array or of the indices
    if picked.first == 0:
        return finish(f, operation, found)
    return _axes_moved(f, found, picked.first, len(picked.shape))


def _axes_moved(f: FunctionLowering, v: Computed, first: int, rank: int) -> Value:
    """The result where the axes of the index arrays are not the first ones: in memory they are."""
    axes = [*range(first, first + rank), *range(first), *range(first + rank, len(v.dims))]
    made = arrays.allocate(f, v.dtype, tuple(v.dims[a] for a in axes))
    strides = [made.strides[axes.index(a)] for a in range(len(axes))]
    result = Memory(
        v.dtype, made.data, v.dims, tuple(strides), made.slot, False, False, made.root, made.aligned
    )
    arrays.fill(f, result, v)
    return result


def finish(f: FunctionLowering, operation: Operation, v: Computed) -> Value:
    """A lazy array as the result of an operation: in memory where that is better."""
    out = operation.outputs[0]
    if arrays._small(v.dims) and f.is_pure(out) and id(out) not in f.plan.memory:
        return arrays.elements(f, v)
    if f.uses.get(id(out), 0) > 1 or not f.is_pure(out):
        return arrays.materialize(f, v)
    return v


# -- masks ---------------------------------------------------------------------------------------------------


def size_of(f: FunctionLowering, dims: tuple[Any, ...]) -> Any:
    count: Any = 1
    for d in dims:
        count = f.times(count, d)
    return count


def _word(f: FunctionLowering, mask: Memory, at: str) -> str:
    """The next 64 elements of a mask as bits."""
    b = f.b
    raw = b.value(f"load <{WORD} x i8>, ptr {f.at(mask.data, as_operand(at))}, align 1")
    bits = b.value(f"icmp ne <{WORD} x i8> {raw}, zeroinitializer")
    return b.value(f"bitcast <{WORD} x i1> {bits} to i64")


def count_true(f: FunctionLowering, mask: Memory) -> str:
    """How many elements of a mask are true."""
    b = f.b
    total = b.alloca("i64")
    b.emit(f"store i64 0, ptr {total}")

    def add(n: str) -> None:
        old = b.value(f"load i64, ptr {total}")
        b.emit(f"store i64 {b.value(f'add i64 {old}, {n}')}, ptr {total}")

    if mask.contiguous:
        n = size_of(f, mask.dims)
        whole = n - n % WORD if isinstance(n, int) else b.value(f"and i64 {n}, {-WORD}")
        arrays.count_loop(
            f, 0, whole, WORD, lambda i: add(b.call("i64", "llvm.ctpop.i64", f"i64 {_word(f, mask, i)}"))
        )
        flat = replace(mask, dims=(n,), strides=(1,))
        arrays.count_loop(f, whole, n, 1, lambda i: add(_as_i64(f, flat, [i])))
    else:
        arrays.nest(f, list(mask.dims), 1, lambda lanes, index: add(_as_i64(f, mask, index)))
    return b.value(f"load i64, ptr {total}", "count")


def _as_i64(f: FunctionLowering, mask: Memory, index: list[str]) -> str:
    return f.b.value(f"zext i1 {arrays.load(f, Lanes(f.b), mask, index)[0]} to i64")


def each_true(f: FunctionLowering, mask: Memory, body: Callable[[list[str], str], None], flat: bool) -> None:
    """Calls `body` with the index (flat where asked for) and the number of each true element, in order."""
    b = f.b
    counter = b.alloca("i64")
    b.emit(f"store i64 0, ptr {counter}")

    def one(index: list[str]) -> None:
        k = b.value(f"load i64, ptr {counter}")
        f.evaluated.clear()
        body(index, k)
        b.emit(f"store i64 {b.value(f'add nuw nsw i64 {k}, 1')}, ptr {counter}")

    def tested(source: Memory) -> Callable[[Lanes, list[str]], None]:
        def test(lanes: Lanes, index: list[str]) -> None:
            then, after = b.label("true"), b.label("next")
            b.branch(arrays.load(f, lanes, source, index)[0], then, after)
            b.start(then)
            one(index)
            b.jump(after)
            b.start(after)

        return test

    if not flat:
        arrays.nest(f, list(mask.dims), 1, tested(mask))
        return
    n = size_of(f, mask.dims)
    whole = n - n % WORD if isinstance(n, int) else b.value(f"and i64 {n}, {-WORD}")

    def word(i: str) -> None:
        head, turn, after = b.label("bits"), b.label("bit"), b.label("word")
        start, before = _word(f, mask, i), b.block
        b.jump(head)
        b.start(head)
        bits = b.phi("i64")
        bits.incoming.append((start, before))
        b.branch(b.value(f"icmp ne i64 {bits.name}, 0"), turn, after)
        b.start(turn)
        low = b.call("i64", "llvm.cttz.i64", f"i64 {bits.name}", "i1 true")
        one([str(f.plus(as_operand(i), low))])
        less = b.value(f"sub i64 {bits.name}, 1")
        bits.incoming.append((b.value(f"and i64 {bits.name}, {less}"), b.block))
        b.jump(head)
        b.start(after)

    arrays.count_loop(f, 0, whole, WORD, word)
    line = replace(mask, dims=(n,), strides=(1,))
    arrays.count_loop(f, whole, n, 1, lambda i: tested(line)(Lanes(b), [i]))


def compress(f: FunctionLowering, operation: Operation, m: Memory, mask: Any) -> Value | None:
    """x[mask] for a mask of the shape of the array."""
    if not _check_mask(f, operation, mask, m.dims):
        return None
    test = arrays.memory(f, mask)
    flat = test.contiguous and (m.contiguous or len(m.dims) == 1)
    source = _line(f, m) if flat else m
    target = arrays.allocate(f, m.dtype, (count_true(f, test),), operation)

    def body(index: list[str], k: str) -> None:
        arrays.store(f, Lanes(f.b), target, [k], arrays.load(f, Lanes(f.b), source, index))

    each_true(f, test, body, flat)
    return target


def _line(f: FunctionLowering, m: Memory) -> Memory:
    """A contiguous array (or any of one dimension) as one of one dimension."""
    if len(m.dims) == 1:
        return m
    return replace(m, dims=(size_of(f, m.dims),), strides=(m.dtype.itemsize,))


def nonzero(f: FunctionLowering, mask: Memory) -> list[Memory]:
    """The positions of the true elements, an array for each axis."""
    count = count_true(f, mask)
    flat = mask.contiguous and len(mask.dims) == 1
    targets = [arrays.allocate(f, INT, (count,)) for _ in mask.dims]

    def body(index: list[str], k: str) -> None:
        for target, i in zip(targets, index):
            arrays.store(f, Lanes(f.b), target, [k], (i,))

    each_true(f, mask, body, flat)
    return targets


# -- writing -------------------------------------------------------------------------------------------------


def in_range(f: FunctionLowering, n: Number, dtype: np.dtype[Any]) -> str:
    """Whether int(n) is in the range of an integer dtype."""
    info = np.iinfo(dtype)
    b = f.b
    wide = Lanes(b).cast(n.parts, n.dtype, np.dtype(float))[0]
    whole = Lanes(b).intrinsic("trunc", "double", wide)
    from autograph.compiler.ir import float_literal

    low = b.value(f"fcmp oge double {whole}, {float_literal(float(info.min))}")
    high = b.value(f"fcmp olt double {whole}, {float_literal(float(int(info.max) + 1))}")
    return b.value(f"and i1 {low}, {high}")


def or_callback(f: FunctionLowering, operation: Operation, good: str, work: Callable[[], None]) -> None:
    """Does the work where `good` holds, else calls back the operation, which has no result."""
    b = f.b
    quick, slow, after = b.label("quick"), b.label("slow"), b.label("both")
    b.branch(good, quick, slow, unlikely="else")
    b.start(slow)
    f.decref(f.callback(operation))
    b.jump(after)
    b.start(quick)
    work()
    b.jump(after)
    b.start(after)


def set_item(f: FunctionLowering, operation: Operation, x: Memory, index: Any, source: Any) -> bool:
    """x[index] = source with arrays in the index; False where it is not done here."""
    parts = _parts(f, index)
    if parts is None or not any(_is_array(p) for p in parts):
        return False
    if source.dtype.kind == "c" and x.dtype.kind != "c":
        return False
    if isinstance(source, Number) and source.dtype.kind == "f" and x.dtype.kind in "iu":
        return False
    arrays.check_apart(f, operation, x, x)
    if isinstance(source, Number):
        if not source.weak and x.dtype.kind in "iu" and not np.can_cast(source.dtype, x.dtype):
            return False
        source = arrays.convert(f, operation, source, x.dtype)
    elif any(arrays._overlaps(f, s, x) or _same(s, x) for s in arrays.leaves_of(source)):
        source = arrays.materialize(f, source) if isinstance(source, Lazy) else arrays._copied(f, source)
    parts = [_separate(f, p, x) if _is_array(p) else p for p in parts]
    if len(parts) == 1 and parts[0].dtype.kind == "b" and len(arrays.dims_of(parts[0])) == len(x.dims):
        return _masked(f, operation, x, parts[0], source)
    picked = pick(f, operation, x, parts)
    if picked is None or not _fits(f, operation, arrays.dims_of(source), picked.dims):
        return False
    source = arrays._in_memory(f, source)
    f.flush()
    width = 1
    if _is_dense(x, picked) and x.dtype.kind != "c":
        width = arrays.width_for(source, x.dtype)
        last = picked.dims[-1]
        goal = Memory(x.dtype, "", picked.dims, (0,) * (len(picked.dims) - 1) + (x.dtype.itemsize,))
        read = [*arrays.leaves_of(source), *arrays.maps_of(source)]
        if arrays._vector_test(f, read, goal, picked.dims) != "true":
            width = 1
        while isinstance(last, int) and 1 < width > last:
            width //= 2

    def body(lanes: Lanes, at: list[str]) -> None:
        parts = lanes.cast(arrays.evaluate(f, lanes, source, at, picked.dims), source.dtype, x.dtype)
        target = Memory(x.dtype, place(f, picked, at), (), ())
        arrays.store(f, lanes, target, [], parts)

    arrays.nest(f, list(picked.dims), width, body)
    return True


def _same(s: Any, x: Memory) -> bool:
    return isinstance(s, Memory) and (s.data == x.data or s.root == x.root)


def _separate(f: FunctionLowering, p: Any, x: Memory) -> Any:
    """An index array that is not overwritten while it is read."""
    m = arrays.memory(f, p)
    return arrays._copied(f, m) if f.may_alias(m.root, x.root) else m


def _fits(f: FunctionLowering, operation: Operation, shape: tuple[Any, ...], dims: tuple[Any, ...]) -> bool:
    """Checks that a value of a shape can be written where the dimensions are these."""
    if len(shape) > len(dims):
        return False
    for d, whole in zip(reversed(shape), reversed(dims)):
        if d == whole or d == 1:
            continue
        if isinstance(d, int) and isinstance(whole, int):
            return False
        equal = f.b.value(f"icmp eq i64 {d}, {whole}")
        if isinstance(d, str):
            equal = f.b.value(f"or i1 {equal}, {f.b.value(f'icmp eq i64 {d}, 1')}")
        f.guard(equal, operation)
    return True


def _masked(f: FunctionLowering, operation: Operation, x: Memory, mask: Any, source: Any) -> bool:
    """x[mask] = source for a mask of the shape of the array."""
    if not _check_mask(f, operation, mask, x.dims) or len(arrays.dims_of(source)) > 1:
        return False
    test = arrays.memory(f, mask)
    flat = test.contiguous and (x.contiguous or len(x.dims) == 1)
    target = _line(f, x) if flat else x
    if arrays.dims_of(source):
        source = arrays.memory(f, source)
        if not _fits(f, operation, source.dims, (count_true(f, test),)):
            return False
        step: Any = source.strides[0]
        if isinstance(source.dims[0], str):
            one = f.b.value(f"icmp eq i64 {source.dims[0]}, 1")
            step = f.b.value(f"select i1 {one}, i64 0, i64 {step}")
        elif source.dims[0] == 1:
            step = 0
        source = replace(source, strides=(step,))
        f.flush()

        def write(index: list[str], k: str) -> None:
            parts = Lanes(f.b).cast(arrays.load(f, Lanes(f.b), source, [k]), source.dtype, x.dtype)
            arrays.store(f, Lanes(f.b), target, index, parts)

        each_true(f, test, write, flat)
        return True
    f.flush()
    if not isinstance(source, Number):
        source = Number(None, source.dtype, arrays.evaluate(f, Lanes(f.b), source, [], ()))  # type: ignore[arg-type]
    value = Lanes(f.b).cast(source.parts, source.dtype, x.dtype)
    if not flat or x.dtype.kind == "c":
        each_true(f, test, lambda index, k: arrays.store(f, Lanes(f.b), target, index, value), flat)
        return True
    _blend(f, test, target, Number(source.type, x.dtype, value))
    return True


def _blend(f: FunctionLowering, mask: Memory, target: Memory, value: Number) -> None:
    """Writes a number where a mask is true, a vector at a time."""
    n = size_of(f, mask.dims)
    line, target = replace(mask, dims=(n,), strides=(1,)), replace(target, dims=(n,))
    width = {8: 8, 4: 16, 2: 16, 1: 32}[target.dtype.itemsize]
    if target.strides[0] != target.dtype.itemsize:
        width = 1
    kind = register(target.dtype)

    def body(lanes: Lanes, index: list[str]) -> None:
        test = arrays.load(f, lanes, line, index)[0]
        old = arrays.load(f, lanes, target, index)
        new = lanes.select(test, kind, lanes.splat(value.ir, kind), old[0])
        arrays.store(f, lanes, target, index, (new,))

    arrays.nest(f, list(target.dims), width, body, parallel.EACH + 2)


# -- positions as results ------------------------------------------------------------------------------------


def _as_mask(f: FunctionLowering, x: Any) -> Memory:
    """Which elements of an array are not zero."""
    if x.dtype.kind == "b":
        return arrays.memory(f, x)
    test = Lazy(BOOL, arrays.dims_of(x), arrays.Map("astype", (BOOL,), BOOL), (x,), 1)
    return arrays.materialize(f, test)


@rule("np.nonzero", "ndarray.nonzero", "np.flatnonzero", "np.argwhere")
def positions(f: FunctionLowering, operation: Operation, x: Any, *rest: Any, **options: Any) -> Value | None:
    x = arrays.value_as_array(f, x) if isinstance(x, Value) else None
    if rest or options or not isinstance(x, (Memory, Elements, Lazy)) or not arrays.dims_of(x):
        return None
    name = operation.name.split(".")[1]
    if name == "flatnonzero" and len(arrays.dims_of(x)) > 1 and not (isinstance(x, Memory) and x.contiguous):
        return None
    mask = _as_mask(f, x)
    if name == "flatnonzero":
        return nonzero(f, _line(f, mask))[0]
    rank, count = len(mask.dims), count_true(f, mask)
    if name == "argwhere":  # NumPy makes it of the positions along each axis, and transposes it
        m = arrays.allocate(f, INT, (rank, count))
        turned = replace(m, dims=m.dims[::-1], strides=m.strides[::-1], is_object=False)
        _positions(f, mask, turned)
        return replace(turned, contiguous=False)
    if id(operation.outputs[0]) in f.plan.objects:
        return None
    if rank == 1:
        return Tuple(tuple(nonzero(f, mask)))
    m = arrays.allocate(f, INT, (count, rank))
    _positions(f, mask, m)
    columns = []
    for axis in range(rank):  # views, as NumPy's are
        start, root = f.at(m.data, 8 * axis), m.root
        column = Memory(INT, start, (count,), (8 * rank,), m.slot, False, False, root)
        columns.append(arrays.view_object(f, column))
    return Tuple(tuple(columns))


def _positions(f: FunctionLowering, mask: Memory, target: Memory) -> None:
    """Writes the positions of the true elements, a row for each."""

    def body(index: list[str], k: str) -> None:
        for axis, i in enumerate(index):
            arrays.store(f, Lanes(f.b), target, [k, str(axis)], (i,))

    each_true(f, mask, body, mask.contiguous and len(mask.dims) == 1)


@rule("np.count_nonzero")
def count_nonzero(
    f: FunctionLowering, operation: Operation, x: Any, *rest: Any, **options: Any
) -> Value | None:
    out = operation.outputs[0]._ag_type
    x = arrays.value_as_array(f, x) if isinstance(x, Value) else None
    if rest or options or not isinstance(x, (Memory, Elements, Lazy)) or scalar_dtype(out) is None:
        return None
    if not arrays.dims_of(x):
        return None
    return Number(out, INT, (count_true(f, _as_mask(f, x)),), 0)
