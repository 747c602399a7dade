"""Arrays in machine code: views, elements read and written, loops over elements put off and fused."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import buffers, host, listing, machine, overlaps, parallel, threads
from autograph.compiler.elementwise import COMPARISONS, COST, ELEMENT, SCALAR_ONLY, Lanes, NoRule
from autograph.compiler.lowering import SMALL, FunctionLowering, rule
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
    known_item,
    part,
    register,
    scalar_dtype,
    supported,
)
from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import Array, Py, Scalar
from autograph.records import record_class, replace

INT, BOOL = np.dtype(np.int64), np.dtype(bool)
Dim = "int | str"
Index = "list[str]"


class Map:
    """What a lazy array computes: an elementwise function of its arguments, each cast to a dtype first."""

    __slots__ = ("inputs", "name", "result")

    def __init__(self, name: str, inputs: tuple[np.dtype[Any], ...], result: np.dtype[Any]) -> None:
        self.name, self.inputs, self.result = name, inputs, result


# -- types of operations -------------------------------------------------------------------------------------


def resolve(name: str, values: list[Any]) -> tuple[np.dtype[Any], ...] | None:
    """The dtypes that a ufunc computes with for arguments (numbers or arrays): inputs, then the result."""
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1:
        return None
    asked: list[Any] = []
    for v in values:
        if isinstance(v, Number) and v.weak and isinstance(v.type, Py) and v.type.cls is not bool:
            asked.append(v.type.cls)
        else:
            asked.append(v.dtype)
    try:
        found = ufunc.resolve_dtypes((*asked, None))
    except TypeError:
        return None
    return found if all(supported(d) for d in found) else None


def convert(f: FunctionLowering, operation: Operation, n: Number, dtype: np.dtype[Any]) -> Number:
    """A number as the dtype that NumPy computes with; a Python integer that does not fit raises."""
    lanes = Lanes(f.b)
    if n.weak and n.dtype.kind == "i":
        if dtype.kind in "iu":
            _check_fits(f, operation, n, dtype)
        elif dtype.kind in "fc" and register(dtype) == "float":
            wide = lanes.cast(n.parts, n.dtype, np.dtype(float))
            return Number(n.type, dtype, lanes.cast(wide, np.dtype(float), dtype))
    return Number(n.type, dtype, lanes.cast(n.parts, n.dtype, dtype), n.low, n.high)


def _check_fits(f: FunctionLowering, operation: Operation, n: Number, dtype: np.dtype[Any]) -> None:
    info = np.iinfo(dtype)
    if n.low is not None and n.high is not None and info.min <= n.low and n.high <= info.max:
        return
    if dtype == INT:
        return
    b = f.b
    if dtype.kind == "u":
        good = b.value(f"icmp ule i64 {n.ir}, {min(info.max, 2**63 - 1)}")
    else:
        shifted = b.value(f"add i64 {n.ir}, {-info.min}")
        good = b.value(f"icmp ule i64 {shifted}, {info.max - info.min}")
    f.guard(good, operation, of_shapes=True)


def value_as_array(f: FunctionLowering, v: Value) -> Any:
    """A constant array as memory; other values as they are."""
    if isinstance(v, Known) and isinstance(v.value, np.ndarray):
        array = array_type(Array(v.value.dtype, v.value.shape))
        if array is None:
            return None
        slot = f.new_slot()
        f.set_slot(slot, f.incref(f.object_constant(v.value)))
        m = f.unpack_array(slot, array, None)
        return replace(m, root=f.roots.find(f.roots.OUTSIDE))
    if isinstance(v, Known):
        return f.number(v) if isinstance(v.value, (bool, int, float, complex, np.generic)) else None
    return v if isinstance(v, (Number, Memory, Elements, Lazy)) else None


def dims_of(v: Value) -> tuple[Any, ...]:
    if isinstance(v, Elements):
        return v.shape
    return v.dims if isinstance(v, (Memory, Lazy)) else ()


def broadcast_dims(
    f: FunctionLowering, operation: Operation, shapes: list[tuple[Any, ...]]
) -> tuple[Any, ...] | None:
    """The dimensions of the result; where they are not known, that they fit is checked here.

    None if they are known not to fit: the operation itself raises.
    """
    rank = max(map(len, shapes))
    out: list[Any] = []
    for axis in range(-rank, 0):
        dims = [s[axis] for s in shapes if len(s) >= -axis]
        known = {d for d in dims if isinstance(d, int) and d != 1}
        unknown = list(dict.fromkeys(d for d in dims if isinstance(d, str)))
        if len(known) > 1:
            return None
        if known:
            size: Any = known.pop()
            for d in unknown:
                check_fits(f, operation, d, size)
            out.append(size)
        elif unknown:
            size = max(unknown, key=f.dims.least)
            for d in unknown:
                if d == size:
                    continue
                if f.dims.least(size) > 1:
                    check_fits(f, operation, d, size)
                    continue
                equal = f.b.value(f"icmp eq i64 {d}, {size}")
                one = f.b.value(f"icmp eq i64 {d}, 1")
                other = f.b.value(f"icmp eq i64 {size}, 1")
                either = f.b.value(f"or i1 {one}, {other}")
                f.guard(f.b.value(f"or i1 {equal}, {either}"), operation, of_shapes=True)
                size = f.b.value(f"select i1 {other}, i64 {d}, i64 {size}", "dim")
            out.append(size)
        else:
            out.append(1)
    return tuple(out)


def check_fits(f: FunctionLowering, operation: Operation, d: Any, whole: Any) -> None:
    """Checks that a dimension is that of the whole, or 1."""
    if d == whole or d == 1:
        return
    good = f.b.value(f"icmp eq i64 {d}, {whole}")
    if f.dims.least(d) < 2:
        good = f.b.value(f"or i1 {good}, {f.b.value(f'icmp eq i64 {d}, 1')}")
    f.guard(good, operation, of_shapes=True)


# -- elementwise functions -----------------------------------------------------------------------------------


def elementwise(f: FunctionLowering, operation: Operation, name: str, args: list[Value]) -> Value | None:
    """A ufunc, at least one argument an array."""
    out = operation.outputs[0]
    dtype = scalar_dtype(out._ag_type)
    t = array_type(out._ag_type)
    if t is None and dtype is None:
        return None
    values = [value_as_array(f, a) for a in args]
    if any(v is None for v in values):
        return None
    found = mapping(operation, name, values)
    if found is None or found[0].result != (t.dtype if t is not None else dtype):
        return None
    return build(f, operation, *found)


def mapping(operation: Operation, name: str, values: list[Any]) -> tuple[Map, list[Any]] | None:
    """What a ufunc computes for values, and of which of them; None where there is no rule for it."""
    if name == "power":
        simple = _simple_power(values, roots=operation.name != "np.power" or ufunc_roots())
        if simple is None:
            return None
        name, values = simple
    if name == "cube" or name[:6] == "power ":
        found: Any = (values[0].dtype,) * 2
    else:
        found = resolve("power" if name == "power_by_one" else name, values)
    if found is None or name not in ELEMENT or len(set(found[:-1])) > 1:
        return None
    if name in COMPARISONS and any(not fits(v, found[0]) for v in values):
        if found[0] == np.uint64:
            return None
        found = (INT, INT, BOOL)  # a Python integer of any size can be compared
    return Map(name, tuple(found[:-1]), found[-1]), values


def fits(v: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a value, if it is a Python integer, is sure to fit into an integer dtype."""
    if (
        not isinstance(v, Number)
        or not v.weak
        or v.dtype.kind != "i"
        or dtype.kind not in "iu"
        or dtype == INT
    ):
        return True
    info = np.iinfo(dtype)
    return v.low is not None and v.high is not None and info.min <= v.low and v.high <= info.max


@functools.cache
def ufunc_roots() -> bool:
    """Whether np.power takes the root, as the operator does, where one exponent for all is one half."""
    with np.errstate(all="ignore"):
        return bool(np.isnan(np.power(np.array([-np.inf, 1.0]), 0.5)[0]))


def _simple_power(values: list[Any], roots: bool) -> tuple[str, list[Any]] | None:
    base, exponent = values
    if (
        isinstance(exponent, Number)
        and exponent.weak
        and exponent.dtype.kind in "if"
        and base.dtype.kind in "fc"
    ):
        literal = exponent.ir
        if literal in ("2", "0x4000000000000000"):
            return "square", [base]
        if literal == "0x3FE0000000000000" and roots:
            return "sqrt", [base]
        if literal in ("1", "0x3FF0000000000000"):
            return "positive", [base]
        if literal in ("3", "0x4008000000000000") and base.dtype.kind == "c":
            return "cube", [base]
    if isinstance(exponent, Number) and exponent.weak and base.dtype.kind in "iu":
        if exponent.ir == "2":
            return "square", [base]
        if exponent.ir in ("3", "4", "5", "6", "7", "8"):
            return f"power {exponent.ir}", [base]
    if base.dtype.kind != "f" and exponent.dtype.kind != "f":
        return None
    single = isinstance(exponent, Number) or not dims_of(exponent)
    if ufunc_roots() and not (single or isinstance(base, Number)) and all(d == 1 for d in dims_of(exponent)):
        single = any(isinstance(d, int) and d > 1 for d in dims_of(base))
    roots = roots and (ufunc_roots() or not isinstance(base, Number))
    return "power_by_one" if single and roots else "power", values


STACK = 1 << 12
"""Bytes of an array that may lie on the stack for a moment."""

LONGEST = 100
"""Most functions that one loop computes: it is walked by recursion, and its values are in registers."""


def build(f: FunctionLowering, operation: Operation, op: Map, values: list[Any]) -> Value | None:
    """The array that an elementwise function gives: in registers where it is small, else put off."""
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    prepared: list[Value] = []
    for v, d in zip(values, op.inputs):
        prepared.append(convert(f, operation, v, d) if isinstance(v, Number) else v)
    if not has_rule(op.name, op.inputs[-1] if op.name == "where" else op.inputs[0], len(op.inputs)):
        return None
    if t is None:  # 0-d arrays give scalars
        if any(dims_of(v) for v in prepared):
            return None
        f.evaluated.clear()
        parts = evaluate_map(f, Lanes(f.b), op, prepared, [], ())
        return Number(out._ag_type, op.result, parts)
    dims = broadcast_dims(f, operation, [dims_of(v) for v in prepared])
    if dims is None or not keeps_order(prepared, dims):
        return None
    cost = COST[op.name] + sum(v.cost for v in prepared if isinstance(v, Lazy))
    lazy = Lazy(op.result, dims, op, tuple(prepared), cost)
    if _small(dims) and f.is_pure(out) and id(out) not in f.plan.memory:
        return elements(f, lazy)
    shared = f.uses.get(id(out), 0) > 1
    size = 1 + sum(f.sizes[id(v)][1] for v in prepared if id(v) in f.sizes)
    mixed = shared or any(f.sizes[id(v)][2] for v in prepared if id(v) in f.sizes)
    if mixed:  # what is read several times is computed once
        maps = maps_of(lazy)
        size = len(maps)
        cost = sum(COST.get(m.op.name, 1) for m in maps)
        cost += sum(v.cost for v in leaves_of(lazy) if isinstance(v, Computed))
        lazy.cost = cost
    f.sizes[id(lazy)] = lazy, size, mixed
    if id(out) in f.fusion.together and not f.waits(out):
        return store_together(f, f.fusion.together[id(out)], lazy)
    kept = shared and id(out) not in f.fusion.fused and not f.waits(out)
    if kept or cost > 400 or size > LONGEST:
        return materialize(f, lazy, set(), done=True)
    return lazy


def store_together(f: FunctionLowering, tensors: list[Tensor], last: Lazy) -> Memory:
    """Stores the arrays that were put off to be computed in one loop, and gives the last of them."""
    waiting = [(t, v) for t in tensors[:-1] if isinstance(v := f.env.get(id(t)), Lazy)]
    scalar = width_for(last, last.dtype) == 1
    fitting = [(t, v) for t, v in waiting if v.dims == last.dims and (width_for(v, v.dtype) == 1) == scalar]
    if len(_unlike([*(v for _, v in fitting), last])) > LONGEST:
        fitting = []
    together = {id(t) for t, _ in fitting}
    for t, v in waiting:
        if id(t) not in together:
            f.env[id(t)] = f._rooted(materialize(f, v), t)
    values = [*(v for _, v in fitting), last]
    targets = targets_for(f, values, together, True)
    fill_all(f, targets, values, new=True)
    for (t, _), target in zip(fitting, targets):
        f.env[id(t)] = f._rooted(target, t)
    return targets[-1]


def targets_for(f: FunctionLowering, values: list[Any], tensors: set[int], done: bool) -> list[Memory]:
    """New arrays for the values of tensors: in place of those that are read here for the last time."""
    spare: list[Memory] = []
    if any(map(_may_be_large, values)):
        sources = _sources(values)
        read = [x for x in sources if isinstance(x, Memory)]
        anywhere = {m.slot for x in sources if isinstance(x, Computed) for a in x.args for m in read_by(a)}
        for m in read:
            alike = all(_same(x, m) for x in read if x.slot == m.slot)
            if m.contiguous and m.slot not in anywhere and alike and all(m.slot != s.slot for s in spare):
                spare += [m] if m.dims == values[-1].dims and f.is_spare(m, tensors, done) else []
    targets = []
    for v in values:
        instead = next((m for m in spare if m.dtype == v.dtype), None)
        spare = [m for m in spare if m is not instead]
        targets.append(allocate(f, v.dtype, v.dims, instead=instead))
    return targets


def _may_be_large(v: Lazy) -> bool:
    size = _size(v)
    return size is None or size * v.dtype.itemsize >= buffers.LEAST


def _unlike(values: list[Any]) -> list[Lazy]:
    """All functions that values are computed by, each once."""
    return list({id(m): m for v in values for m in maps_of(v)}.values())


def in_order(v: Value) -> bool:
    """Whether an array's axes are in C order; a result that has the order of others is NumPy's to make."""
    if not isinstance(v, Memory) or v.contiguous or v.ordered:
        return True
    return sum(d != 1 for d in v.dims) < 2


def keeps_order(values: list[Any], dims: tuple[Any, ...]) -> bool:
    """Whether an elementwise result of arrays is in C order: NumPy keeps an order that all of them have."""
    return (
        sum(d != 1 for d in dims) < 2
        or all(in_order(v) for v in values)
        or any(in_order(v) and dims_of(v) == dims for v in values)
    )


@functools.cache
def has_rule(name: str, dtype: np.dtype[Any], count: int) -> bool:
    """Whether an elementwise function has a rule for arguments of a dtype."""
    try:
        parts = ("%x",) * (2 if dtype.kind == "c" else 1)
        ELEMENT[name](_Probe(), dtype, *(parts for _ in range(count)))
    except NoRule:
        return False
    return True


class _Probe(Lanes):
    """Emits nothing: tells whether a rule exists."""

    def __init__(self) -> None:
        from autograph.compiler.ir import Builder, Module

        super().__init__(Builder(Module()))


def _small(dims: tuple[Any, ...]) -> bool:
    return all(isinstance(d, int) for d in dims) and math.prod(dims) <= SMALL


def flat_index(position: int, shape: tuple[int, ...]) -> list[str]:
    return [str(int(i)) for i in np.unravel_index(position, shape)] if shape else []


def elements(f: FunctionLowering, v: Value) -> Elements:
    """A small array with its elements in registers."""
    if isinstance(v, Elements):
        return v
    assert isinstance(v, (Memory, Lazy))
    shape = tuple(int(d) for d in v.dims)
    lanes = Lanes(f.b)
    f.evaluated.clear()
    items = [evaluate(f, lanes, v, flat_index(i, shape), shape) for i in range(math.prod(shape))]
    return Elements(v.dtype, shape, tuple(items), fresh=isinstance(v, Lazy))


def evaluate(
    f: FunctionLowering, lanes: Lanes, v: Any, index: list[str], dims: tuple[Any, ...]
) -> tuple[str, ...]:
    """The element (or vector of elements along the last axis) at an index of the result's shape."""
    if isinstance(v, Number):
        kind = register(v.dtype)
        return tuple(lanes.splat(p, kind) for p in v.parts)
    own = dims_of(v)
    offset = len(dims) - len(own)
    where: list[str] = []
    for axis, d in enumerate(own):
        whole = dims[offset + axis]
        i = index[offset + axis]
        if d == 1 and whole != 1:
            i = "0"
        elif isinstance(d, str) and not f.dims.spans(d, whole):
            one = f.b.value(f"icmp eq i64 {d}, 1")
            i = f.b.value(f"select i1 {one}, i64 0, i64 {i}")
        where.append(i)
    dense = bool(own) and len(index) > 0 and where[-1] == index[-1] and f.dims.spans(own[-1], dims[-1])
    if isinstance(v, Computed):
        return computed(f, lanes, v, where, dense)
    if isinstance(v, Lazy):
        if lanes.width > 1 and not dense:
            single = evaluate_map(f, Lanes(f.b), v.op, list(v.args), where, v.dims)
            return tuple(lanes.splat(p, register(v.dtype)) for p in single)
        return evaluate_map(f, lanes, v.op, list(v.args), where, v.dims)
    if isinstance(v, Elements):
        return _pick(f, lanes, v, where)
    assert isinstance(v, Memory)
    return load(f, lanes, v, where, vector=dense)


def computed(
    f: FunctionLowering, lanes: Lanes, v: Computed, index: list[str], dense: bool
) -> tuple[str, ...]:
    """The element, or vector of elements where `dense`, of an array that is given by its elements."""
    if lanes.width == 1 or (v.vector and dense):
        found: tuple[str, ...] = v.element(lanes, index)
        return found
    kind = register(v.dtype)
    if not dense:
        return tuple(lanes.splat(p, kind) for p in v.element(Lanes(f.b), index))
    vectors = ["poison"] * (2 if v.dtype.kind == "c" else 1)
    for k in range(lanes.width):
        at = str(f.plus(_number_or_name(index[-1]), k))
        for j, one in enumerate(v.element(Lanes(f.b), [*index[:-1], at])):
            vectors[j] = f.b.value(f"insertelement {lanes.type(kind)} {vectors[j]}, {kind} {one}, i64 {k}")
    return tuple(vectors)


def _number_or_name(i: str) -> Any:
    return i if i.startswith("%") else int(i)


def _pick(f: FunctionLowering, lanes: Lanes, v: Elements, where: list[str]) -> tuple[str, ...]:
    if all(not i.startswith("%") for i in where):
        position = int(np.ravel_multi_index([int(i) for i in where], v.shape)) if v.shape else 0
        return tuple(lanes.splat(p, register(v.dtype)) for p in v.items[position])
    return load(f, lanes, memory(f, v), where, vector=False)


def evaluate_map(
    f: FunctionLowering, lanes: Lanes, op: Map, args: list[Any], index: list[str], dims: tuple[Any, ...]
) -> tuple[str, ...]:
    parts = []
    for v, d in zip(args, op.inputs):
        parts.append(lanes.cast(_evaluated(f, lanes, v, index, dims), v.dtype, d))
    main = op.inputs[-1] if op.name == "where" else op.inputs[0]
    return ELEMENT[op.name](lanes, main, *parts)


def _evaluated(
    f: FunctionLowering, lanes: Lanes, v: Any, index: list[str], dims: tuple[Any, ...]
) -> tuple[str, ...]:
    """As `evaluate`, for what may be asked for again in the same block."""
    key = (id(v), tuple(index), lanes.width, f.b.block)
    if key not in f.evaluated:
        f.evaluated[key] = evaluate(f, lanes, v, index, dims)
    return f.evaluated[key]  # type: ignore[no-any-return]


def address(f: FunctionLowering, m: Memory, index: list[str]) -> str:
    """The address of an element."""
    offset: Any = 0
    for i, stride in zip(index, m.strides):
        offset = f.plus(offset, f.times(stride, int(i) if not i.startswith("%") else i))
    return f.at(m.data, offset)


def load(
    f: FunctionLowering, lanes: Lanes, m: Memory, index: list[str], vector: bool = True
) -> tuple[str, ...]:
    pointer = address(f, m, index)
    if lanes.width == 1:
        return f.load_scalar(pointer, m.dtype)
    kind = register(m.dtype)
    if not vector:
        return tuple(lanes.splat(p, kind) for p in f.load_scalar(pointer, m.dtype))
    b = f.b
    if m.dtype.kind == "b":
        raw = b.value(f"load <{lanes.width} x i8>, ptr {pointer}, align 1")
        return (b.value(f"icmp ne <{lanes.width} x i8> {raw}, zeroinitializer"),)
    if m.dtype.kind == "c":
        pairs = f"<{2 * lanes.width} x {kind}>"
        raw = b.value(f"load {pairs}, ptr {pointer}, align 1")
        picks = [", ".join(f"i32 {2 * k + at}" for k in range(lanes.width)) for at in (0, 1)]
        return tuple(
            b.value(f"shufflevector {pairs} {raw}, {pairs} poison, <{lanes.width} x i32> <{pick}>")
            for pick in picks
        )
    return (b.value(f"load {lanes.type(kind)}, ptr {pointer}, align 1"),)


def store(f: FunctionLowering, lanes: Lanes, m: Memory, index: list[str], parts: tuple[str, ...]) -> None:
    pointer = address(f, m, index)
    if lanes.width == 1:
        f.store_scalar(pointer, Number(Scalar(m.dtype), m.dtype, parts))
        return
    kind, b = register(m.dtype), f.b
    if m.dtype.kind == "b":
        wide = b.value(f"zext <{lanes.width} x i1> {parts[0]} to <{lanes.width} x i8>")
        b.emit(f"store <{lanes.width} x i8> {wide}, ptr {pointer}, {_how(m, lanes)}")
        return
    if m.dtype.kind == "c":
        t, double = lanes.type(kind), 2 * lanes.width
        order = ", ".join(f"i32 {k}, i32 {k + lanes.width}" for k in range(lanes.width))
        both = b.value(f"shufflevector {t} {parts[0]}, {t} {parts[1]}, <{double} x i32> <{order}>")
        b.emit(f"store <{double} x {kind}> {both}, ptr {pointer}, {_how(m, lanes)}")
        return
    b.emit(f"store {lanes.type(kind)} {parts[0]}, ptr {pointer}, {_how(m, lanes)}")


def _how(m: Memory, lanes: Lanes) -> str:
    """How a vector is stored: with its alignment."""
    return f"align {min(lanes.width * m.dtype.itemsize, LINE)}, !nontemporal !4" if m.streamed else "align 1"


LINE = 64
"""Bytes of a line of the caches."""


def streams(f: FunctionLowering, targets: list[Memory], width: int) -> str:
    """The test whether new arrays are stored past the caches; "false" for what is no new, large array.

    A store otherwise reads what it overwrites into the caches, where it takes the place of what is used. What
    is stored last is no longer there either when all of it is read, if it is about as large as they are.
    """
    b = f.b
    test = "false" if machine.fence() is None else "true"
    for m in targets:
        sizes = [d for d in m.dims if isinstance(d, int)]
        aligned = len(sizes) < 2 or sizes[-1] * m.dtype.itemsize % LINE == 0
        size = math.prod(sizes) * m.dtype.itemsize if len(sizes) == len(m.dims) else 0
        if not (m.contiguous and aligned and width > 1 and size >= buffers.STREAMED):
            return "false"
    for m in targets if test == "true" else ():
        place = b.value(f"and i64 {b.value(f'ptrtoint ptr {m.data} to i64')}, {LINE - 1}")
        one = b.value(f"icmp eq i64 {place}, 0")
        test = one if test == "true" else b.value(f"and i1 {test}, {one}")
    return test


def streamed(f: FunctionLowering, test: str, body: Callable[[bool], None]) -> None:
    """What `body` emits, told whether it stores past the caches: as the test of `streams` says."""
    if test == "false":
        body(False)
    else:
        either(f, test, lambda: body(True), lambda: body(False))


def settle_streams(f: FunctionLowering) -> None:
    """After stores past the caches: other threads see them before all that is stored from here on."""
    if name := machine.fence():
        f.b.call("void", name)


# -- memory --------------------------------------------------------------------------------------------------


def allocate(
    f: FunctionLowering,
    dtype: np.dtype[Any],
    dims: tuple[Any, ...],
    operation: Operation | None = None,
    instead: Memory | None = None,
) -> Memory:
    """A new array object, its elements not set; or another one, if that turns out to be nobody else's."""
    b = f.b
    slot = f.new_slot()
    if instead is not None:
        f.set_slot(slot, "null")  # in a loop it may be that array which is there
    shape = b.alloca(f"[{max(len(dims), 1)} x i64]")
    for axis, d in enumerate(dims):
        b.emit(f"store i64 {d}, ptr {f.at(shape, 8 * axis)}")
    descr = f.incref(f.object_constant(dtype))
    kind = f.object_constant(np.ndarray)
    how = [f"ptr {kind}", f"ptr {descr}", f"i32 {len(dims)}", f"ptr {shape}"]
    known = math.prod(dims) * dtype.itemsize if all(isinstance(d, int) for d in dims) else buffers.LEAST
    if instead is not None and instead.slot is not None:
        place = f.slot_pointer(instead.slot)
        pointer = b.call("ptr", "ag_again", *how, f"i64 {dtype.itemsize}", f"ptr {place}")
    elif known < buffers.LEAST:
        pointer = b.call("ptr", "ag_array_new", *how, "ptr null", "ptr null", "i32 0", "ptr null")
    else:
        pointer = b.call("ptr", "ag_large", *how, f"i64 {dtype.itemsize}")
    bad, good = b.label("null"), b.label("got")
    b.branch(b.value(f"icmp eq ptr {pointer}, null"), bad, good, unlikely="then")
    b.start(bad)
    f.fail(f.compilation.sites.number(operation) if operation is not None else -1)
    b.start(good)
    f.apart.add(slot)
    f.set_slot(slot, pointer)
    data = b.value(f"load ptr, ptr {f.at(pointer, 16)}", "data")
    strides = f.contiguous_strides(dims, dtype.itemsize)
    return Memory(dtype, data, dims, strides, slot, True, True, ("new", slot))


def nest(
    f: FunctionLowering,
    dims: list[Any],
    width: int,
    body: Callable[[Lanes, list[str]], None],
    cost: Any = 0,
    axes: list[int] | None = None,
    done: Callable[[], None] = lambda: None,
) -> None:
    """Loops over all indices; the last axis in vectors of a width, then its rest one by one.

    `cost` is that of one element if the indices of one of the `axes` (None: of any) may be shared by threads.
    `done` emits what each of them does at its end.
    """
    if not dims:
        body(Lanes(f.b), [])
        return

    def piece(ranges: list[tuple[Any, Any]]) -> None:
        loops(f, dims, ranges, width, body)
        done()

    if not cost:
        piece([(0, d) for d in dims])
    else:
        share(f, dims, cost, piece, axes)


def loops(
    f: FunctionLowering,
    dims: list[Any],
    ranges: list[tuple[Any, Any]],
    width: int,
    body: Callable[[Lanes, list[str]], None],
) -> None:
    """As `nest`, for a range of each axis, as `share` gives them."""
    last = len(dims) - 1

    def level(axis: int, prefix: list[str]) -> None:
        begin, end = ranges[axis]
        if axis < last:
            count_loop(f, begin, end, 1, lambda i: level(axis + 1, [*prefix, i]))
            return
        whole = begin
        if width > 1:
            even = isinstance(dims[axis], int) and dims[axis] % width == 0  # pieces are, too
            whole = end if even else whole_vectors(f, begin, end, width)
            count_loop(f, begin, whole, width, lambda i: body(Lanes(f.b, width), [*prefix, i]))
        if whole == end:
            return
        count_loop(f, whole, end, 1, lambda i: body(Lanes(f.b), [*prefix, i]))

    level(0, [])


def share(
    f: FunctionLowering,
    dims: list[Any],
    cost: Any,
    piece: Callable[[list[tuple[Any, Any]]], None],
    axes: list[int] | None = None,
) -> None:
    """Runs `piece` with ranges of the axes that cover all indices: one of the `axes` is shared by threads."""
    whole = [(0, d) for d in dims]
    most = [f.dims.most(d) for d in dims]
    if isinstance(cost, int) and None not in most and cost * math.prod(m or 0 for m in most) < threads.WORTH:
        piece(whole)
        return
    shared = widest(dims, axes)
    for axis, d in enumerate(dims):
        cost = cost if axis == shared else f.times(cost, d)

    def part(begin: Any, end: Any) -> None:
        ranges: list[tuple[Any, Any]] = [(0, d) for d in dims]
        ranges[shared] = begin, end
        piece(ranges)

    unit = parallel.LAST_AXIS if shared == len(dims) - 1 else 1
    parallel.split(f, dims[shared], cost, part, unit)


def whole_vectors(f: FunctionLowering, begin: Any, end: Any, step: int) -> Any:
    """Where the last whole step from `begin` on ends."""
    if isinstance(begin, int) and isinstance(end, int):
        return end - (end - begin) % step
    distance = end if begin == 0 else f.b.value(f"sub nsw i64 {end}, {begin}")
    return f.plus(begin, f.b.value(f"and i64 {distance}, {-step}"))


def widest(dims: Any, axes: list[int] | None = None) -> int:
    """The axis whose indices threads share: the first one that has many, or may have."""
    chosen = list(range(len(dims))) if axes is None else axes
    for axis in chosen:
        if not isinstance(dims[axis], int) or dims[axis] >= 16:
            return axis
    return max(chosen, key=lambda axis: (dims[axis], -axis))


def count_loop(f: FunctionLowering, start: Any, stop: Any, step: int, body: Callable[[str], None]) -> None:
    """for i in range(start, stop, step), the distance a multiple of the step."""
    b = f.b
    if isinstance(start, int) and isinstance(stop, int):
        if start >= stop:
            return
        if stop - start == step:
            f.evaluated.clear()
            body(str(start))
            return
    head, turn, after = b.label("each"), b.label("item"), b.label("end")
    most = f.dims.most(stop)
    b.heavy = b.heavy or most is None or most > 256
    before = b.block
    b.jump(head)
    b.start(head)
    i = b.phi("i64", "i")
    i.incoming.append((str(start), before))
    b.branch(b.value(f"icmp slt i64 {i.name}, {stop}"), turn, after)
    b.start(turn)
    f.evaluated.clear()
    body(i.name)
    following = b.value(f"add nuw nsw i64 {i.name}, {step}")
    i.incoming.append((following, b.block))
    b.jump(
        head,
        _few_turns(f) if isinstance(stop, int) and isinstance(start, int) and stop - start <= FEW else "",
    )
    b.start(after)
    f.evaluated.clear()


FEW = 16
"""Turns of a loop that is written out, if LLVM cares for it."""


def _few_turns(f: FunctionLowering) -> str:
    """What a jump back says of a loop with few turns: LLVM is to make no vectors of them.

    It models twice what such vectors cost, and where the two do not agree, an assertion ends the process.
    """
    text = '!5 = distinct !{!5, !6}\n!6 = !{!"llvm.loop.vectorize.enable", i1 false}'
    f.b.module.globals["ag.few"] = text
    return ", !llvm.loop !5"


def either(f: FunctionLowering, test: bool | str, yes: Callable[[], None], no: Callable[[], None]) -> None:
    """What a test chooses, which is the only one emitted where the test is known."""
    if isinstance(test, bool):
        (yes if test else no)()
        return
    b = f.b
    then, other, after = b.label("then"), b.label("else"), b.label("after")
    b.branch(test, then, other)
    for label, body in ((then, yes), (other, no)):
        b.start(label)
        f.evaluated.clear()
        body()
        b.jump(after)
    b.start(after)
    f.evaluated.clear()


def leaves_of(v: Any) -> list[Any]:
    """The arrays and numbers that a lazy array is computed of."""
    return [x for x in _all_of(v) if not isinstance(x, Lazy) or isinstance(x, Computed)]


def read_by(v: Any) -> list[Memory]:
    """All arrays in memory that a value is computed of."""
    return [x for x in _all_of(v, into_computed=True) if isinstance(x, Memory)]


def maps_of(v: Value) -> list[Lazy]:
    """The functions that a lazy array is computed by, the last one first."""
    return [x for x in _all_of(v) if isinstance(x, Lazy) and not isinstance(x, Computed)]


def _all_of(v: Any, into_computed: bool = False) -> list[Any]:
    """A value and all that it is computed of, each once, before its arguments."""
    found: dict[int, Any] = {}
    todo = [v]
    while todo:
        x = todo.pop()
        if id(x) in found:
            continue
        found[id(x)] = x
        if isinstance(x, Lazy) and (into_computed or not isinstance(x, Computed)):
            todo.extend(reversed(x.args))
    return list(found.values())


def width_for(v: Any, target: np.dtype[Any], pairs: bool = False) -> int:
    """How many elements a vector has: 1 where a function has no vector form or a dtype no vectors.

    Complex numbers have them where `pairs` says that the loop is made for it: a vector for each part.
    """
    dtypes = {target, *(x.dtype for x in leaves_of(v)), *(m.dtype for m in maps_of(v))}
    for m in maps_of(v):
        dtypes.update(m.op.inputs)
        if m.op.name in SCALAR_ONLY:
            return 1
    if any(d.kind == "c" for d in dtypes):
        if not pairs or any(complexes.is_call(m.op.name) for m in maps_of(v)):
            return 1
        dtypes = {part(d) for d in dtypes}
    single = [x for x in leaves_of(v) if isinstance(x, Computed) and not x.vector]
    if single and sum(COST[m.op.name] for m in maps_of(v)) < 15:
        return 1
    size = max(d.itemsize for d in dtypes)
    return {8: 8, 4: 16, 2: 16, 1: 32}[size]


def fill(f: FunctionLowering, target: Memory, v: Any, serial: bool = False) -> None:
    """Writes the elements of a value (broadcast) into memory, cast to its dtype; `serial`: in one thread."""
    fill_all(f, [target], [v], serial)


def fill_all(
    f: FunctionLowering, targets: list[Memory], values: list[Any], serial: bool = False, new: bool = False
) -> None:
    """As `fill`, for several values, all of them in one loop; the targets have one shape and lie apart.

    `new`: they are arrays that were made for this.
    """
    dims = targets[0].dims
    width = min(width_for(v, t.dtype, pairs=True) for t, v in zip(targets, values))
    names = listing.functions([m.op.name for m in reversed(_unlike(values))])
    dtypes = ", ".join(str(t.dtype) for t in targets)
    f.note(f"nest {listing.shape(dims)} of {dtypes}, {width} at a time: {names or 'copy'}")
    done: dict[int, Value] = {}
    values = [_in_memory(f, v, done) for v in values]
    sources = _sources(values)
    alike = _alike_test(f, sources, dims) if width > 1 else ""
    if alike:
        same, other, after = f.b.label("alike"), f.b.label("other"), f.b.label("filled")
        f.b.branch(alike, same, other)
        f.b.start(same)
        notes = len(f.compilation.notes)
        done = {}
        fill_all(f, targets, [_alike(f, v, dims, done) for v in values], serial, new)
        del f.compilation.notes[notes:]
        f.b.jump(after)
        f.b.start(other)
        nest(f, list(dims), 1, _storing(f, targets, values), 0 if serial else _cost_of_all(values, 1))
        f.b.jump(after)
        f.b.start(after)
        return
    flat = all(t.contiguous for t in targets) and all(
        isinstance(s, Number)
        or (isinstance(s, Lazy) and not isinstance(s, Computed))
        or (isinstance(s, Memory) and s.contiguous)
        for s in sources
    )
    if flat and len(dims) != 1 and all(s.dims == dims for s in sources if not isinstance(s, Number)):
        count: Any = 1
        for d in dims:
            count = f.times(count, d)
        done = {}
        values = [_flattened(v, count, done) for v in values]
        targets = [replace(t, dims=(count,), strides=(t.dtype.itemsize,)) for t in targets]
        dims = (count,)
        sources = _sources(values)
    if dims and isinstance(dims[-1], int):
        while width > 1 and width > dims[-1]:
            width //= 2
    if not dims:
        width = 1
    body = _storing(f, targets, values)
    cost = 0 if serial else _cost_of_all(values, width)
    if width == 1:
        nest(f, list(dims), 1, body, cost)
        return

    def vectors(past: bool) -> None:
        if not past:
            nest(f, list(dims), width, body, cost)
            return
        storing = _storing(f, [replace(t, streamed=True) for t in targets], values)
        nest(f, list(dims), width, storing, cost, done=lambda: settle_streams(f))

    past = streams(f, targets, width) if new else "false"
    test = _vector_test(f, [*sources, *targets[1:]], targets[0], dims)
    if test == "true":
        streamed(f, past, vectors)
        return
    if test == "false":
        nest(f, list(dims), 1, body, cost)
        return
    b = f.b
    fast, slow, after = b.label("vector"), b.label("scalar"), b.label("filled")
    b.branch(test, fast, slow)
    b.start(fast)
    streamed(f, past, vectors)
    b.jump(after)
    b.start(slow)
    nest(f, list(dims), 1, body, cost)
    b.jump(after)
    b.start(after)


def _storing(
    f: FunctionLowering, targets: list[Memory], values: list[Any]
) -> Callable[[Lanes, list[str]], None]:
    """What writes one element, or vector of elements, of each target: all are computed before."""

    def body(lanes: Lanes, index: list[str]) -> None:
        found = [_evaluated(f, lanes, v, index, targets[0].dims) for v in values]
        for target, v, parts in zip(targets, values, found):
            store(f, lanes, target, index, lanes.cast(parts, v.dtype, target.dtype))

    return body


def _sources(values: list[Any]) -> list[Any]:
    """All that values are computed of and by, each once."""
    return list({id(x): x for v in values for x in _all_of(v)}.values())


def _alike_test(f: FunctionLowering, values: list[Any], dims: tuple[Any, ...]) -> str:
    """Whether all dimensions that may be 1 are those of the result; "" where there are none."""
    found: dict[tuple[str, Any], None] = {}
    for v in values:
        for d, whole in zip(reversed(dims_of(v)), reversed(dims)):
            if isinstance(d, str) and not f.dims.spans(d, whole):
                found[d, whole] = None
    result = ""
    for d, whole in found:
        test = f.b.value(f"icmp eq i64 {d}, {whole}")
        result = f.b.value(f"and i1 {result}, {test}") if result else test
    return result


def _alike(f: FunctionLowering, v: Any, dims: tuple[Any, ...], done: dict[int, Value]) -> Any:
    """The same value where `_alike_test` holds: its open dimensions are those of the result."""

    def change(x: Any, args: tuple[Value, ...]) -> Value:
        own = dims_of(x)
        if not own:
            return x  # type: ignore[no-any-return]
        whole = dims[len(dims) - len(own) :]
        new = tuple(w if isinstance(d, str) and not f.dims.spans(d, w) else d for d, w in zip(own, whole))
        if isinstance(x, Lazy) and not isinstance(x, Computed):
            return Lazy(x.dtype, new, x.op, args, x.cost)
        return replace(x, dims=new)  # type: ignore[no-any-return]

    return _changed(v, change, done)


def cost_of(v: Any, width: int) -> int:
    """What an element of a value costs to compute and write, in eighths of a nanosecond, roughly."""
    each = 1 if isinstance(v, Memory) and v.dtype.itemsize == 1 else parallel.EACH
    return each + (v.cost if isinstance(v, Lazy) else 0) * (1 if width > 1 else 4)


def _cost_of_all(values: list[Any], width: int) -> int:
    """As `cost_of`, for values that are computed together."""
    if len(values) == 1:
        return cost_of(values[0], width)
    computed = sum(x.cost for x in _sources(values) if isinstance(x, Computed))
    functions = sum(COST.get(m.op.name, 1) for m in _unlike(values))
    return parallel.EACH * len(values) + (computed + functions) * (1 if width > 1 else 4)


def _vector_test(f: FunctionLowering, sources: list[Any], target: Memory, dims: tuple[Any, ...]) -> str:
    """Whether the last axis of all arrays is dense and of the result's length (or certainly 1)."""
    b = f.b
    tests: list[str] = []
    for s in [*sources, target]:
        if isinstance(s, Number) or not dims_of(s):
            continue
        last = dims_of(s)[-1]
        if last == 1 and dims[-1] != 1:
            continue
        if not f.dims.spans(last, dims[-1]):
            return "false"
        if isinstance(s, Memory) and s.strides[-1] != s.dtype.itemsize:
            if isinstance(s.strides[-1], int):
                return "false"
            tests.append(b.value(f"icmp eq i64 {s.strides[-1]}, {s.dtype.itemsize}"))
    result = "true"
    for t in tests:
        result = t if result == "true" else b.value(f"and i1 {result}, {t}")
    return result


def _flattened(v: Value, count: Any, done: dict[int, Value] | None = None) -> Value:
    def change(x: Any, args: tuple[Value, ...]) -> Value:
        if isinstance(x, Memory):
            return replace(x, dims=(count,), strides=(x.dtype.itemsize,))
        return Lazy(x.dtype, (count,), x.op, args, x.cost) if isinstance(x, Lazy) else x

    return _changed(v, change, {} if done is None else done)


def _changed(v: Any, change: Callable[[Any, tuple[Value, ...]], Value], done: dict[int, Value]) -> Value:
    """A value whose parts are changed, each once: what is read several times stays one value."""
    if id(v) not in done:
        args = v.args if isinstance(v, Lazy) else ()
        done[id(v)] = change(v, tuple(_changed(a, change, done) for a in args))
    return done[id(v)]


def _in_memory(f: FunctionLowering, v: Value, done: dict[int, Value] | None = None) -> Value:
    """The same value with all its arrays in memory: inside a loop they are indexed."""

    def change(x: Any, args: tuple[Value, ...]) -> Value:
        if isinstance(x, Elements):
            return memory(f, x)
        if isinstance(x, Lazy) and not isinstance(x, Computed):
            return Lazy(x.dtype, x.dims, x.op, args, x.cost)
        return x  # type: ignore[no-any-return]

    return _changed(v, change, {} if done is None else done)


def memory(f: FunctionLowering, v: Value) -> Memory:
    """A value as an array in memory."""
    if isinstance(v, Memory):
        return v
    if isinstance(v, Elements):
        place = f.b.alloca(f"[{max(len(v.items), 1)} x [{v.dtype.itemsize} x i8]]", 16)
        strides = f.contiguous_strides(v.shape, v.dtype.itemsize)
        m = Memory(v.dtype, place, v.shape, strides, None, False, True, ("stack", place))
        for i, item in enumerate(v.items):
            store(f, Lanes(f.b), m, flat_index(i, v.shape), item)
        return m
    if isinstance(v, Known):
        found = value_as_array(f, v)
        if isinstance(found, Memory):
            return found
    assert isinstance(v, Lazy), v
    return materialize(f, v)


def lasting(f: FunctionLowering, v: Value) -> Memory:
    """A value as an array in memory that stays as it is when this code runs again."""
    if isinstance(v, Elements):
        return _elements_object(f, Elements(v.dtype, v.shape, v.items))
    m = memory(f, v)
    return _copied(f, m) if m.slot is None else m


def materialize(f: FunctionLowering, v: Lazy, tensors: set[int] | None = None, done: bool = False) -> Memory:
    """Stores a value that was put off; if it is that of known tensors, maybe in place of what it reads."""
    target = allocate(f, v.dtype, v.dims) if tensors is None else targets_for(f, [v], tensors, done)[0]
    fill_all(f, [target], [v], new=True)
    return target


def as_object(f: FunctionLowering, v: Value, tensor: Tensor | None) -> Value:
    """An array as a Python object of its own."""
    if isinstance(v, Memory) and v.is_object:
        return v
    if isinstance(v, Lazy):
        return materialize(f, v)
    if isinstance(v, Elements):
        return _elements_object(f, v)
    if isinstance(v, Memory):
        return view_object(f, v)
    return v


def blank(f: FunctionLowering, v: Lazy) -> str:
    """A new reference to an array of the shape and dtype of another, its elements all one 0."""
    f.b.module.globals["ag.blank"] = "@ag.blank = private constant [16 x i8] zeroinitializer, align 16"
    return _new_view(f, v.dtype, v.dims, [0] * len(v.dims), "@ag.blank", "256")


def _new_view(
    f: FunctionLowering, dtype: np.dtype[Any], dims: Any, strides: Any, data: str, flags: str
) -> str:
    """A new reference to an array over memory that is there; who owns the memory it does not know yet."""
    b = f.b
    rank = max(len(dims), 1)
    shape, steps = b.alloca(f"[{rank} x i64]"), b.alloca(f"[{rank} x i64]")
    for axis, (d, s) in enumerate(zip(dims, strides)):
        b.emit(f"store i64 {d}, ptr {f.at(shape, 8 * axis)}")
        b.emit(f"store i64 {s}, ptr {f.at(steps, 8 * axis)}")
    descr = f.incref(f.object_constant(dtype))
    pointer = b.call(
        "ptr", "ag_array_new", f"ptr {f.object_constant(np.ndarray)}", f"ptr {descr}", f"i32 {len(dims)}",
        f"ptr {shape}", f"ptr {steps}", f"ptr {data}", f"i32 {flags}", "ptr null",
    )  # fmt: skip
    bad, good = b.label("null"), b.label("got")
    b.branch(b.value(f"icmp eq ptr {pointer}, null"), bad, good, unlikely="then")
    b.start(bad)
    f.fail(-1)
    b.start(good)
    return pointer


def _elements_object(f: FunctionLowering, v: Elements) -> Memory:
    if v.origin is None:
        target = allocate(f, v.dtype, v.shape)
        for i, item in enumerate(v.items):
            store(f, Lanes(f.b), target, flat_index(i, v.shape), item)
        return target
    b = f.b
    slot = f.new_slot()
    old = f.get_slot(v.origin)
    make, keep, after = b.label("make"), b.label("keep"), b.label("made")
    b.branch(b.value(f"icmp eq ptr {old}, null"), make, keep)
    b.start(keep)
    f.set_slot(slot, f.incref(old))
    b.jump(after)
    b.start(make)
    new = _elements_object(f, Elements(v.dtype, v.shape, v.items))
    assert new.slot is not None
    f.set_slot(slot, f.incref(f.get_slot(new.slot)))
    b.jump(after)
    b.start(after)
    return f.unpack_array(slot, Array(v.dtype, v.shape), None)


def view_object(f: FunctionLowering, m: Memory) -> Memory:
    """An array object for memory that another object owns."""
    b = f.b
    if m.slot is None:  # on the stack: a copy
        target = allocate(f, m.dtype, m.dims)
        fill(f, target, m)
        return target
    owner = f.get_slot(m.slot)
    flags = b.value(f"load i32, ptr {f.at(owner, 64)}")
    writeable = b.value(f"and i32 {flags}, 1024")
    flags = b.value(f"or i32 {writeable}, 256") if m.aligned else writeable
    pointer = _new_view(f, m.dtype, m.dims, m.strides, m.data, flags)
    slot = f.new_slot()
    f.set_slot(slot, pointer)
    b.call("i32", "ag_array_base", f"ptr {pointer}", f"ptr {f.incref(owner)}")
    return replace(m, slot=slot, is_object=True)


# -- reading and writing -------------------------------------------------------------------------------------


@record_class
class View:
    """A basic index resolved: where it starts, and the dimensions that are left."""

    data: str
    dims: list[Any]
    strides: list[Any]


def _index_parts(index: Any) -> list[Any] | None:
    """The parts of an index: numbers, slices, None, Ellipsis; None where it is none of these."""
    if isinstance(index, Known) and isinstance(index.value, tuple):
        parts: list[Any] = [Known(v) for v in index.value]
    elif isinstance(index, Tuple):
        parts = list(index.items)
    else:
        parts = list(index) if isinstance(index, tuple) else [index]
    out: list[Any] = []
    for p in parts:
        if isinstance(p, slice):
            if not all(isinstance(x, (Known, Number)) for x in (p.start, p.stop, p.step)):
                return None
            out.append(p)
        elif isinstance(p, Known):
            v = p.value
            if isinstance(v, slice):
                out.append(slice(Known(v.start), Known(v.stop), Known(v.step)))
            elif v is None or v is Ellipsis:
                out.append(v)
            elif isinstance(v, (int, np.integer)) and not isinstance(v, (bool, np.bool_)):
                out.append(p)
            else:
                return None
        elif isinstance(p, Number) and p.dtype.kind in "iu":
            out.append(p)
        else:
            return None
    return out


def view(f: FunctionLowering, operation: Operation, m: Memory, index: Any) -> View | None:
    """A basic index of an array; checks the bounds of integers."""
    parts = _index_parts(index)
    if parts is None:
        return None
    used = sum(1 for p in parts if p is not None and p is not Ellipsis)
    if used > len(m.dims):
        return None
    if sum(1 for p in parts if p is Ellipsis) > 1:
        return None
    if Ellipsis not in parts:
        parts = [*parts, Ellipsis]
    result = View(m.data, [], [])
    axis = 0
    offset: Any = 0
    for p in parts:
        if p is Ellipsis:
            for _ in range(len(m.dims) - used):
                result.dims.append(m.dims[axis])
                result.strides.append(m.strides[axis])
                axis += 1
            continue
        if p is None:
            result.dims.append(1)
            result.strides.append(0)
            continue
        dim, stride = m.dims[axis], m.strides[axis]
        axis += 1
        if isinstance(p, slice):
            found = _slice(f, p, dim, operation)
            if found is None:
                return None
            start, length, step = found
            result.dims.append(length)
            result.strides.append(f.times(stride, step))
        else:
            start = position(f, operation, p, dim, of_shapes=True)
            if start is None:
                return None
        offset = f.plus(offset, f.times(stride, start))
    result.data = f.at(m.data, offset)
    return result


def position(
    f: FunctionLowering, operation: Operation, index: Value, dim: Any, of_shapes: bool = False
) -> Any:
    """An integer index as a position, checked; None where it can be told that it never fits."""
    b = f.b
    n = f.number(index)
    if n.low is not None and n.low == n.high and isinstance(dim, int):
        k = n.low
        if not -dim <= k < dim:
            return None
        return k % dim
    ir = Lanes(b).cast(n.parts, n.dtype, INT)[0]
    unsigned = n.dtype.kind == "u"
    is_constant = n.low is not None and n.low == n.high
    if n.low is not None and n.low >= 0 and n.high is not None and isinstance(dim, int) and n.high < dim:
        return ir
    if is_constant and isinstance(dim, str):
        assert n.low is not None
        if -f.dims.least(dim) <= n.low < f.dims.least(dim):
            return f.plus(dim, n.low) if n.low < 0 else n.low
    if not unsigned and (n.low is None or n.low < 0) and f.dims.natural(ir):
        n = replace(n, low=0)
    if n.low is not None and n.low >= 0 and not unsigned and f.dims.below(ir, dim):
        return ir
    if f.shared is not None and not (is_constant or unsigned) and f.shared.front.inside(ir, dim):
        return ir
    if f.quick is not None and not is_constant and f.quick.inside(n, dim):
        if not f.quick.wraps(n, dim):
            return ir
        negative = b.value(f"icmp slt i64 {ir}, 0")
        return b.value(f"select i1 {negative}, i64 {b.value(f'add i64 {ir}, {dim}')}, i64 {ir}")
    if n.low is not None and n.low == n.high and n.low < 0:
        ir = b.value(f"add i64 {dim}, {n.low}")
    elif not (unsigned or (n.low is not None and n.low >= 0)):
        negative = b.value(f"icmp slt i64 {ir}, 0")
        moved = b.value(f"add i64 {ir}, {dim}")
        ir = b.value(f"select i1 {negative}, i64 {moved}, i64 {ir}")
    f.guard(b.value(f"icmp ult i64 {ir}, {dim}"), operation, of_shapes=of_shapes)
    return ir


def _slice(f: FunctionLowering, s: Any, dim: Any, operation: Operation) -> tuple[Any, Any, Any] | None:
    """Start, length and step of a slice of a dimension."""
    step = s.step
    if isinstance(step, Known):
        step = 1 if step.value is None else step.value
        if type(step) is not int or step == 0 or abs(step) >= 2**31:
            return None
    elif step.low is not None and step.low == step.high and 0 < abs(step.low) < 2**31:
        step = step.low
    whole: list[Any] = []
    for x in (s.start, s.stop):
        if isinstance(x, Known) and x.value is None:
            whole.append(None)
        elif isinstance(x, Known):
            if not isinstance(x.value, (int, np.integer)):
                return None
            whole.append(max(-(2**62), min(int(x.value), 2**62)))
        else:
            if x.dtype.kind not in "iu" or (x.dtype.kind == "u" and x.dtype.itemsize == 8):
                return None
            whole.append(x if x.dtype == INT else Number(x.type, INT, Lanes(f.b).cast(x.parts, x.dtype, INT)))
    start, stop = whole
    if isinstance(step, Number):
        return _stepped(f, operation, start, stop, step, dim)
    if isinstance(dim, int) and not isinstance(start, Number) and not isinstance(stop, Number):
        a, z, _ = slice(start, stop, step).indices(dim)
        return a, len(range(a, z, step)), step
    if step < 0 and not (start is None and stop is None):
        return _stepped(f, operation, start, stop, step, dim)
    if step < 0:
        last = f.plus(dim, -1)
        length = dim if step == -1 else _length(f, 0, dim, -step)
        return last, length, step
    first = 0 if start is None else _clamped(f, start, dim)
    end = dim if stop is None else _clamped(f, stop, dim)
    return first, _length(f, first, end, step), step


def _stepped(
    f: FunctionLowering, operation: Operation, start: Any, stop: Any, step: Any, dim: Any
) -> tuple[Any, Any, Any] | None:
    """A slice whose step is negative or not known, as CPython resolves it."""
    b = f.b
    if isinstance(step, Number):
        if step.dtype.kind not in "iu" or step.dtype == np.uint64:
            return None
        by = Lanes(b).cast(step.parts, step.dtype, INT)[0]
        if step.low is None or step.low <= 0:
            f.guard(b.value(f"icmp ne i64 {by}, 0"), operation)
        # a longer step takes one element, too
        by = b.call("i64", "llvm.smax.i64", f"i64 {by}", f"i64 {-(2**40)}")
        by = b.call("i64", "llvm.smin.i64", f"i64 {by}", f"i64 {2**40}")
        down = "false" if step.low is not None and step.low > 0 else b.value(f"icmp slt i64 {by}, 0")
    else:
        by, down = str(step), "true"
    top = str(f.plus(dim, -1))

    def resolved(x: Any, default: tuple[str, str]) -> str:
        if x is None:
            return b.value(f"select i1 {down}, i64 {default[0]}, i64 {default[1]}")
        ir = str(x) if isinstance(x, int) else x.ir
        negative = b.value(f"icmp slt i64 {ir}, 0")
        moved = b.value(f"select i1 {negative}, i64 {b.value(f'add i64 {ir}, {dim}')}, i64 {ir}")
        low = b.value(f"select i1 {down}, i64 -1, i64 0")
        high = b.value(f"select i1 {down}, i64 {top}, i64 {dim}")
        moved = b.call("i64", "llvm.smax.i64", f"i64 {moved}", f"i64 {low}")
        return b.call("i64", "llvm.smin.i64", f"i64 {moved}", f"i64 {high}")

    first, end = resolved(start, (top, "0")), resolved(stop, ("-1", str(dim)))
    forward, backward = b.value(f"sub i64 {end}, {first}"), b.value(f"sub i64 {first}, {end}")
    distance = b.value(f"select i1 {down}, i64 {backward}, i64 {forward}")
    distance = b.call("i64", "llvm.smax.i64", f"i64 {distance}", "i64 0")
    size = b.call("i64", "llvm.abs.i64", f"i64 {by}", "i1 false")
    more = b.value(f"add i64 {distance}, {b.value(f'sub i64 {size}, 1')}")
    return first, b.value(f"udiv i64 {more}, {size}"), int(by) if not by.startswith("%") else by


def _clamped(f: FunctionLowering, x: Any, dim: Any) -> Any:
    b = f.b
    if isinstance(x, int):
        if isinstance(dim, int):
            return slice(x, None).indices(dim)[0]
        if x >= 0:
            few = x <= f.dims.least(dim)
            return x if few else b.call("i64", "llvm.smin.i64", f"i64 {x}", f"i64 {dim}")
        moved = f.plus(dim, x)
        if f.dims.least(dim) + x >= 0:
            return moved
        return b.call("i64", "llvm.smax.i64", f"i64 {moved}", "i64 0")
    ir = x.ir
    if x.low is None or x.low < 0:
        negative = b.value(f"icmp slt i64 {ir}, 0")
        moved = b.value(f"add i64 {ir}, {dim}")
        ir = b.value(f"select i1 {negative}, i64 {moved}, i64 {ir}")
        ir = b.call("i64", "llvm.smax.i64", f"i64 {ir}", "i64 0")
    elif f.dims.at_most(ir, dim) or (x.high is not None and x.high <= f.dims.least(dim)):
        return _bounded(f, ir, x, dim)
    return _bounded(f, b.call("i64", "llvm.smin.i64", f"i64 {ir}", f"i64 {dim}"), x, dim)


def _bounded(f: FunctionLowering, ir: str, x: Number, dim: Any) -> str:
    """An end of a slice: its bounds are those of the index and of the dimension."""
    own = x.high if x.low is not None and x.low >= 0 else None  # a negative one counts from the end
    highs = [high for high in (own, f.dims.most(dim)) if high is not None]
    if highs:
        f.dims.note(ir, 0, max(min(highs), 0))
    return ir


def _length(f: FunctionLowering, start: Any, stop: Any, step: int) -> Any:
    if isinstance(start, int) and isinstance(stop, int):
        return len(range(start, stop, step))
    b = f.b
    if start == 0:
        span = str(stop)
    else:
        difference = f.dims.minus(stop, start)
        if isinstance(difference, int):
            return len(range(0, difference, step))
        difference = difference or b.value(f"sub nsw i64 {stop}, {start}")
        bounds = f.dims.bounds(difference)
        natural = bounds is not None and bounds[0] >= 0
        span = difference if natural else b.call("i64", "llvm.smax.i64", f"i64 {difference}", "i64 0")
        if (most := f.dims.most(stop)) is not None:
            f.dims.note(span, 0, max(most, 0))
    if step == 1:
        return span
    more = b.value(f"add nuw nsw i64 {span}, {step - 1}")
    return b.value(f"udiv i64 {more}, {step}")


@rule("get_item")
def get_item(f: FunctionLowering, operation: Operation, x: Value, index: Any) -> Value | None:
    out = operation.outputs[0]
    if isinstance(x, Tuple):
        return known_item(x.items, index)
    if isinstance(x, Known) and isinstance(x.value, np.ndarray):
        x = value_as_array(f, x) or x
    if isinstance(x, Elements):
        picked = _element(f, operation, x, index)
        if picked is not None:
            return picked
    if not isinstance(x, (Memory, Elements, Lazy)):
        from autograph.compiler import containers

        return containers.get_item(f, operation, x, index)
    t = array_type(out._ag_type)
    dtype = scalar_dtype(out._ag_type)
    if (t is None and dtype is None) or x.dtype != (t.dtype if t is not None else dtype):
        return None
    if _index_parts(index) is None:
        from autograph.compiler import indexing

        return indexing.get_item(f, operation, x, index)
    m = memory(f, x)
    found = view(f, operation, m, index)
    if found is None:
        return None
    if t is None:
        if found.dims:
            return None
        note = f.compilation.scopes.note(m.root)
        return Number(out._ag_type, m.dtype, f.load_scalar(found.data, m.dtype, note))
    dense = tuple(found.strides) == f.contiguous_strides(tuple(found.dims), m.dtype.itemsize)
    return Memory(
        m.dtype, found.data, tuple(found.dims), tuple(found.strides), m.slot, False, dense, m.root, m.aligned,
        m.contiguous or m.ordered, m.writeable,
    )  # fmt: skip


def _element(f: FunctionLowering, operation: Operation, x: Elements, index: Any) -> Value | None:
    out = operation.outputs[0]
    parts = _index_parts(index)
    if parts is None or len(parts) != len(x.shape):
        return None
    where = []
    for p, d in zip(parts, x.shape):
        if not (isinstance(p, Known) and isinstance(p.value, (int, np.integer)) and -d <= p.value < d):
            return None
        where.append(int(p.value) % d)
    at = int(np.ravel_multi_index(where, x.shape)) if x.shape else 0
    return Number(out._ag_type, x.dtype, x.items[at])


@rule("set_item")
def set_item(f: FunctionLowering, operation: Operation, x: Value, index: Any, value: Any) -> Value | None:
    if not isinstance(x, Memory):
        from autograph.compiler import containers

        return containers.set_item(f, operation, x, index, value)
    source = value_as_array(f, value) if isinstance(value, Value) else None
    if source is None or not writeable(f, operation, x):
        f.flush()
        return None
    if _index_parts(index) is None:
        from autograph.compiler import indexing

        if indexing.set_item(f, operation, x, index, source):
            return Known(None)
        f.flush()
        return None
    return assign(f, operation, x, index, source)


def writeable(f: FunctionLowering, operation: Operation, m: Memory) -> bool:
    """Checks that an array may be written; arrays that were made here may be."""
    if m.writeable or (isinstance(m.root, tuple) and m.root[0] == "new"):
        return True
    if m.slot is None:
        return False
    if f.quick is not None and f.quick.writeable(m):
        return True
    flags = f.b.value(f"load i32, ptr {f.at(f.get_slot(m.slot), 64)}")
    bit = f.b.value(f"and i32 {flags}, 1024")
    f.guard(f.b.value(f"icmp ne i32 {bit}, 0"), operation, of_shapes=True)
    return True


def check_apart(f: FunctionLowering, operation: Operation, x: Memory, target: Memory | View) -> None:
    """Refuses to write a part of an array of which elements share memory: NumPy's order is its own."""
    dims, steps = target.dims, target.strides
    if x.contiguous or x.slot in f.apart or not dims:
        return
    b, size = f.b, x.dtype.itemsize
    if len(dims) == 1:
        if isinstance(steps[0], int) and abs(steps[0]) >= size:
            return
        step = b.call("i64", "llvm.abs.i64", f"i64 {steps[0]}", "i1 false")
        far, short = b.value(f"icmp uge i64 {step}, {size}"), b.value(f"icmp ult i64 {dims[0]}, 2")
        good = b.value(f"or i1 {far}, {short}")
    else:
        places = [b.alloca(f"[{len(dims)} x i64]") for _ in range(2)]
        for pointer, numbers in zip(places, (dims, steps)):
            for axis, n in enumerate(numbers):
                b.emit(f"store i64 {n}, ptr {f.at(pointer, 8 * axis)}")
        good = b.call("i1", "ag_apart", *(f"ptr {p}" for p in places), f"i64 {len(dims)}", f"i64 {size}")
    bad, fine = b.label("folded"), b.label("apart")
    b.branch(good, fine, bad, unlikely="else")
    b.start(bad)
    f._raise_now(host.folded(operation))
    b.start(fine)


def assign(f: FunctionLowering, operation: Operation, x: Memory, index: Any, source: Any) -> Value | None:
    """x[index] = source for a basic index."""
    if source.dtype.kind == "c" and x.dtype.kind != "c":
        return None
    if isinstance(source, Number):
        if source.weak and source.dtype.kind in "if" and x.dtype.kind in "iu":
            if source.dtype.kind == "f":
                return _float_into_int(f, operation, x, index, source)
            source = convert(f, operation, source, x.dtype)
        elif source.dtype.kind == "f" and x.dtype.kind in "iu":
            return _float_into_int(f, operation, x, index, source)
        elif x.dtype.kind in "iu" and not np.can_cast(source.dtype, x.dtype):
            return _assign_checked(f, operation, x, index, source)
        else:
            source = convert(f, operation, source, x.dtype)
    elif source.dtype.kind == "f" and x.dtype.kind in "iub":
        pass
    found = view(f, operation, x, index)
    if found is None:
        f.flush()
        return None
    if not found.dims:
        if not isinstance(source, Number):
            if dims_of(source):
                f.flush()
                return None
            parts = evaluate(f, Lanes(f.b), source, [], ())
            source = Number(Scalar(source.dtype), source.dtype, parts)
        f.flush(_inputs(operation))
        f.flush()
        parts = Lanes(f.b).cast(source.parts, source.dtype, x.dtype)
        note = f.compilation.scopes.note(x.root)
        f.store_scalar(found.data, Number(Scalar(x.dtype), x.dtype, parts), note)
        return Known(None)
    target = Memory(
        x.dtype, found.data, tuple(found.dims), tuple(found.strides), x.slot, False, False, x.root
    )
    dense = tuple(found.strides) == f.contiguous_strides(target.dims, x.dtype.itemsize)
    target = replace(target, contiguous=dense)
    shape = dims_of(source)
    extra = len(shape) - len(target.dims)
    if extra > 0:
        f.flush()
        return None
    check_apart(f, operation, x, target)
    for d, whole in zip(reversed(shape), reversed(target.dims)):
        if isinstance(d, int) and isinstance(whole, int) and d not in (whole, 1):
            f.flush()
            return None
        check_fits(f, operation, d, whole)
    if isinstance(source, Memory) and source.dtype == target.dtype and _same(source, target):
        f.flush()
        return Known(None)  # what `x[i] += y` puts back is there
    _taken(f, source)
    f.flush()
    write(f, target, source)
    return Known(None)


def _assign_checked(
    f: FunctionLowering, operation: Operation, x: Memory, index: Any, source: Number
) -> Value | None:
    """x[index] = a NumPy integer that may not fit; where it does not, NumPy raises, or wraps, itself."""
    from autograph.compiler import indexing

    b, lanes = f.b, Lanes(f.b)
    own, goal = np.iinfo(source.dtype), np.iinfo(x.dtype)
    fits = "true"
    for predicate, bound, needed in (
        ("ge", goal.min, own.min < goal.min),
        ("le", goal.max, own.max > goal.max),
    ):
        if needed:
            test = lanes.compare(predicate, source.dtype, source.ir, str(bound))
            fits = test if fits == "true" else b.value(f"and i1 {fits}, {test}")
    f.flush()
    converted = Number(Scalar(x.dtype), x.dtype, lanes.cast(source.parts, source.dtype, x.dtype))
    done: list[Value | None] = []
    indexing.or_callback(f, operation, fits, lambda: done.append(assign(f, operation, x, index, converted)))
    return done[0]


def _inputs(operation: Operation) -> list[Tensor]:
    return operation.inputs


def _copied(f: FunctionLowering, m: Any) -> Memory:
    target = allocate(f, m.dtype, dims_of(m))
    fill(f, target, m)
    return target


def _taken(f: FunctionLowering, v: Any) -> None:
    """What was put off is computed as it is written: it has no other use, or is computed there as well."""
    f.pending = [tensor for tensor in f.pending if f.env.get(id(tensor)) is not v]


def _same(x: Memory, y: Memory) -> bool:
    """Whether two arrays are the same elements of the same memory."""
    return x.data == y.data and x.strides == y.strides and x.dims == y.dims


def _overlaps(f: FunctionLowering, source: Any, target: Memory) -> bool:
    """Whether elements of a source may be written before they are read."""
    if isinstance(source, Computed):
        return any(f.may_alias(s.root, target.root) for a in source.args for s in read_by(a))
    if not isinstance(source, Memory):
        return False
    if _same(source, target):
        return False  # each element is read just before it is written
    return f.may_alias(source.root, target.root) and not overlaps.apart(f.b, source, target, f.dims.bounds)


def write(f: FunctionLowering, target: Memory, v: Any) -> None:
    """Writes the elements of a value, of which some may be those that are written."""
    met = [s for s in leaves_of(v) if _overlaps(f, s, target)]
    in_order = all(isinstance(s, Memory) and overlaps.ahead(f.b, s, target) for s in met)
    if not met or (in_order and not parallel.is_large(_size(target), cost_of(v, 8))):
        fill(f, target, v, serial=bool(met))
        return
    fill(f, target, _aside(f, v))


def _aside(f: FunctionLowering, v: Any) -> Memory:
    """A value computed elsewhere, to be copied from there: on the stack where it is small."""
    dims = dims_of(v)
    size = _size(v) * v.dtype.itemsize if all(isinstance(d, int) for d in dims) else STACK + 1
    if size > STACK:
        return materialize(f, v) if isinstance(v, Lazy) else _copied(f, v)
    place = f.b.alloca(f"[{max(size, 1)} x i8]", 64)
    target = f.as_contiguous(Memory(v.dtype, place, dims, (), root=("stack", place)))
    fill(f, target, v)
    return target


def _size(v: Any) -> Any:
    """How many elements an array has; None where that is not known."""
    dims = dims_of(v)
    return math.prod(dims) if all(isinstance(d, int) for d in dims) else None


def _float_into_int(
    f: FunctionLowering, operation: Operation, x: Memory, index: Any, source: Number
) -> Value | None:
    """x[index] = a float, x an array of integers: int(source) is written, or what that raises is raised."""
    from autograph.compiler import indexing

    f.flush()
    target = view(f, operation, x, index)
    if target is None:
        return None
    parts = Lanes(f.b).cast(source.parts, source.dtype, x.dtype)
    value = Number(Scalar(x.dtype), x.dtype, parts)
    check_apart(f, operation, x, target)
    place = Memory(x.dtype, target.data, tuple(target.dims), tuple(target.strides), x.slot, root=x.root)
    fits = indexing.in_range(f, source, x.dtype)
    indexing.or_callback(f, operation, fits, lambda: fill(f, place, value))
    return Known(None)


def inplace(f: FunctionLowering, operation: Operation, name: str, a: Value, b: Value) -> Value | None:
    """a op= b for an array."""
    if not isinstance(a, Memory):
        f.flush()
        return None
    other = value_as_array(f, b)
    if other is None or name == "power" or not writeable(f, operation, a):
        f.flush()
        return None
    found = mapping(operation, name, [a, other])
    if found is None or not write_map(f, operation, a, *found):
        f.flush()
        return None
    return a


def write_map(f: FunctionLowering, operation: Operation, target: Memory, op: Map, values: list[Any]) -> bool:
    """Writes what a function of elements gives; False where NumPy has to, and then nothing is written."""
    kind = op.inputs[-1] if op.name == "where" else op.inputs[0]
    if not np.can_cast(op.result, target.dtype, "same_kind") or not has_rule(op.name, kind, len(op.inputs)):
        return False
    values = [convert(f, operation, v, d) if isinstance(v, Number) else v for v, d in zip(values, op.inputs)]
    for shape in map(dims_of, values):
        pairs = list(zip(reversed(shape), reversed(target.dims)))
        if len(shape) > len(target.dims) or any(
            d not in (w, 1) for d, w in pairs if isinstance(d, int) and isinstance(w, int)
        ):
            return False
    for shape in map(dims_of, values):
        for d, whole in zip(reversed(shape), reversed(target.dims)):
            check_fits(f, operation, d, whole)
    check_apart(f, operation, target, target)
    for v in values:
        _taken(f, v)
    f.flush()
    write(f, target, Lazy(op.result, target.dims, op, tuple(values)))
    return True


# -- making arrays -------------------------------------------------------------------------------------------


def _shape_values(f: FunctionLowering, operation: Operation, v: Any) -> tuple[Any, ...] | None:
    if isinstance(v, Known):
        items = v.value if isinstance(v.value, tuple) else (v.value,)
        values: list[Any] = [Known(i) for i in items]
    elif isinstance(v, Tuple):
        values = list(v.items)
    elif isinstance(v, tuple):
        values = list(v)
    else:
        values = list(getattr(v, "virtual", (v,)))  # a list is as good as a tuple
    dims: list[Any] = []
    for item in values:
        if isinstance(item, Known):
            if not isinstance(item.value, (int, np.integer)) or item.value < 0:
                return None
            dims.append(int(item.value))
        elif isinstance(item, Number) and item.dtype.kind in "iu":
            ir = Lanes(f.b).cast(item.parts, item.dtype, INT)[0]
            good = f.b.value(f"icmp ult i64 {ir}, {2**40}")
            f.guard(good, operation)
            dims.append(ir)
        else:
            return None
    if math.prod(d for d in dims if isinstance(d, int)) >= 2**40:
        return None
    if sum(isinstance(d, str) for d in dims) > 1:
        _check_size(f, operation, dims)
    return tuple(dims)


def _check_size(f: FunctionLowering, operation: Operation, dims: list[Any]) -> None:
    """Checks that an array of these dimensions, each not too large, is not too large."""
    b = f.b
    total: Any = dims[0]
    for d in dims[1:]:
        pair = b.call("{ i64, i1 }", "llvm.umul.with.overflow.i64", f"i64 {total}", f"i64 {d}")
        total = b.value(f"extractvalue {{ i64, i1 }} {pair}, 0")
        over = b.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
        f.guard(b.value(f"xor i1 {over}, true"), operation)
    f.guard(b.value(f"icmp ult i64 {total}, {2**40}"), operation)


@rule(
    "np.zeros",
    "np.ones",
    "np.empty",
    "np.full",
    "np.zeros_like",
    "np.ones_like",
    "np.empty_like",
    "np.full_like",
)
def create(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    if t is None or set(options) - {"dtype", "shape", "fill_value"}:
        return None
    name = operation.name[3:]
    like = name.endswith("_like")
    base = name.removesuffix("_like")
    if "shape" in options and like:
        return None
    shape_arg = options.get("shape", args[0] if args else None)
    if like:
        if not args or not isinstance(args[0], (Memory, Elements, Lazy)):
            return None
        if not in_order(args[0]):
            return None
        dims: tuple[Any, ...] | None = dims_of(args[0])
    else:
        dims = _shape_values(f, operation, shape_arg)
    if dims is None or len(dims) != len(t.shape or ()):
        return None
    count = 2 if base == "full" else 1
    if len(args) > count + 1:
        return None
    source: Number | None = None
    if base == "full":
        value = args[1] if len(args) > 1 else options.get("fill_value")
        number = value_as_array(f, value) if isinstance(value, Value) else None
        if not isinstance(number, Number) or (number.dtype.kind in "fc" and t.dtype.kind in "iub"):
            return None
        if number.dtype.kind == "c" and t.dtype.kind != "c":
            return None
        source = convert(f, operation, number, t.dtype)
    elif base in ("zeros", "ones"):
        source = Number(Scalar(t.dtype), t.dtype, f.literal(0 if base == "zeros" else 1, t.dtype))
    if source is not None and _small(dims) and f.is_pure(out) and id(out) not in f.plan.memory:
        items = (source.parts,) * math.prod(dims)
        return Elements(t.dtype, dims, items)
    target = allocate(f, t.dtype, dims, operation)
    if source is not None:
        fill(f, target, source)
    return target


@rule("np.array", "np.asarray")
def array(f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    items = f.virtual_items(operation.args[0])
    if items is None or any(isinstance(v, (Memory, Elements, Lazy)) for v in items):
        from autograph.compiler import joining

        return None if args or options else joining.array(f, operation, x, items)
    if t is None or t.shape is None or None in t.shape or set(options) - {"dtype"}:
        return None
    flat: list[Any] = []

    def walk(v: Any) -> bool:
        if isinstance(v, Tuple):
            return all(walk(i) for i in v.items)
        inner = getattr(v, "virtual", None)
        if inner is not None:
            return all(walk(i) for i in inner)
        if isinstance(v, Known) and isinstance(v.value, tuple):
            return all(walk(Known(i)) for i in v.value)
        if isinstance(v, Known) and not isinstance(v.value, (bool, int, float, np.generic)):
            return False
        if isinstance(v, (Known, Number)):
            flat.append(f.number(v))
            return True
        return False

    if not all(walk(v) for v in items) or len(flat) != math.prod(_known_dims(t)):
        return None
    if any(
        (n.dtype.kind == "c" and t.dtype.kind != "c") or (n.dtype.kind == "f" and t.dtype.kind in "iub")
        for n in flat
    ):
        return None
    if any(n.weak and n.dtype.kind == "i" and t.dtype.kind in "fu" for n in flat) and t.dtype.kind == "u":
        return None
    parts = [convert(f, operation, n, t.dtype).parts for n in flat]
    v = Elements(t.dtype, _known_dims(t), tuple(parts))
    if f.is_pure(out) and id(out) not in f.plan.memory and len(parts) <= SMALL:
        return v
    return as_object(f, v, out)


@rule("ndarray.copy", "np.copy")
def copy(f: FunctionLowering, operation: Operation, x: Value, *args: Any, **options: Any) -> Value | None:
    if args or options or not isinstance(x, (Memory, Elements, Lazy)):
        return None
    if isinstance(x, Memory) and not x.contiguous and len(x.dims) > 1 and operation.name == "np.copy":
        return None
    out = operation.outputs[0]
    if array_type(out._ag_type) is None:
        return None
    if isinstance(x, Elements) and f.is_pure(out):
        return Elements(x.dtype, x.shape, x.items)
    return _copied(f, x)


@rule("ndarray.astype")
def astype(f: FunctionLowering, operation: Operation, x: Value, *args: Any, **options: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    if t is None or len(args) != 1 or options or not isinstance(x, (Memory, Elements, Lazy)):
        return None
    if x.dtype.kind == "c" and t.dtype.kind not in "cb":
        return None
    return build(f, operation, Map("astype", (t.dtype,), t.dtype), [x])


ELEMENT["astype"] = lambda lanes, dtype, x: x
COST["astype"] = 1


def part_view(f: FunctionLowering, x: Any, at: int) -> Value:
    """The real or imaginary parts of an array."""
    real = part(x.dtype)
    m = memory(f, x)
    data = f.at(m.data, at * real.itemsize)
    return Memory(real, data, m.dims, m.strides, m.slot, False, not m.dims, m.root, m.aligned)


@rule("np.where")
def where(f: FunctionLowering, operation: Operation, *args: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    if len(args) == 1:
        from autograph.compiler import indexing

        return indexing.positions(f, operation, *args)
    if len(args) != 3 or t is None:
        return None
    values = [value_as_array(f, a) if isinstance(a, Value) else None for a in args]
    if any(v is None or not fits(v, t.dtype) for v in values):
        return None
    return build(f, operation, Map("where", (BOOL, t.dtype, t.dtype), t.dtype), values)


@rule("ndarray.clip", "np.clip")
def clip(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    out = operation.outputs[0]
    t = array_type(out._ag_type)
    if len(args) != 3 or options or t is None or t.dtype.kind == "c":
        return None
    values: list[Any] = [value_as_array(f, a) if isinstance(a, Value) else None for a in args]
    if any(v is None for v in values) or values[0].dtype != t.dtype:
        return None
    low, high = values[1], values[2]
    if not all(isinstance(v, Number) and (v.weak or v.dtype == t.dtype) for v in (low, high)):
        return None
    if not all(fits(v, t.dtype) for v in (low, high)) or not in_order(values[0]):
        return None
    lower = Lazy(
        t.dtype,
        dims_of(values[0]),
        Map("maximum", (t.dtype,) * 2, t.dtype),
        (convert(f, operation, low, t.dtype), values[0]),  # of equal zeros the array's own stays
    )
    return build(f, operation, Map("minimum", (t.dtype,) * 2, t.dtype), [high, lower])


# -- shapes --------------------------------------------------------------------------------------------------


@rule("len")
def length(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    if isinstance(x, (Memory, Elements, Lazy)) and dims_of(x):
        return _dimension(f, dims_of(x)[0])
    from autograph.compiler import containers

    return containers.length(f, operation, x)


def _dimension(f: FunctionLowering, d: Any) -> Value:
    if isinstance(d, int):
        return Number(Py(int), INT, (str(d),), d, d)
    bounds = f.dims.bounds(d)
    return Number(Py(int), INT, (d,), f.dims.least(d), None if bounds is None else bounds[1])


@rule("ndarray.shape")
def shape(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    if not isinstance(x, (Memory, Elements, Lazy)):
        return None
    return Tuple(tuple(_dimension(f, d) for d in dims_of(x)))


@rule("ndarray.size", "np.size")
def size(f: FunctionLowering, operation: Operation, x: Value, *rest: Any) -> Value | None:
    if rest or not isinstance(x, (Memory, Elements, Lazy)):
        return None
    count: Any = 1
    for d in dims_of(x):
        count = f.times(count, d)
    return _dimension(f, count)


@rule("item")
def item(f: FunctionLowering, operation: Operation, x: Value, index: Any) -> Value | None:
    if isinstance(x, Tuple) and isinstance(index, Known):
        picked: Value = x.items[index.value]
        return picked
    if isinstance(x, Known) and isinstance(x.value, tuple) and isinstance(index, Known):
        return Known(x.value[index.value])
    from autograph.compiler import containers

    return containers.tuple_item(f, operation, x, index)


@rule("tuple")
def make_tuple(f: FunctionLowering, operation: Operation, items: Any) -> Value | None:
    leaf = operation.args[0]
    if not isinstance(leaf, tuple):
        return None
    values = []
    for x in leaf:
        v = f.value_of(x)
        if isinstance(v, Lazy):
            f._settle(x)
            v = f.value_of(x)
        if isinstance(v, (Elements,)) or (isinstance(v, Memory) and not v.is_object):
            f.plan.need(f.plan.objects, x)
        values.append(v)
    return Tuple(tuple(values), type(leaf))


@rule("unpack")
def unpack(f: FunctionLowering, operation: Operation, x: Any, count: Any, after: Any = None) -> Value | None:
    if not isinstance(count, Known) or (isinstance(after, Known) and after.value is not None):
        return None
    n = count.value
    if isinstance(x, Known) and isinstance(x.value, tuple):
        x = Tuple(tuple(Known(v) for v in x.value))
    if type(x) is tuple and all(isinstance(v, Value) for v in x):  # of a graph whose constants were found
        x = Tuple(x)
    if isinstance(x, Tuple) and len(x.items) == n:
        return x
    if not isinstance(x, (Memory, Elements, Lazy)) or not dims_of(x) or dims_of(x)[0] != n:
        return None
    if len(dims_of(x)) > 1:
        m = memory(f, x)
        return Tuple(tuple(row(f, m, i) for i in range(n)))
    small = elements(f, x) if n <= SMALL else None
    if small is None:
        return None
    return Tuple(tuple(Number(Scalar(x.dtype), x.dtype, parts) for parts in small.items))


def row(f: FunctionLowering, m: Memory, i: int) -> Memory:
    """The part of an array at a known index of its first axis."""
    data = f.at(m.data, f.times(m.strides[0], i))
    return Memory(
        m.dtype, data, m.dims[1:], m.strides[1:], m.slot, False, m.contiguous, m.root, m.aligned,
        m.contiguous or m.ordered, m.writeable,
    )  # fmt: skip


def _known_dims(t: Array) -> tuple[int, ...]:
    return tuple(d for d in t.shape or () if d is not None)


@rule("ndarray.T", "ndarray.transpose", "np.transpose")
def transpose(f: FunctionLowering, operation: Operation, x: Any, *args: Any, **options: Any) -> Value | None:
    if "axes" in options and not args and len(options) == 1:
        args, options = (options["axes"],), {}
    if options or not isinstance(x, (Memory, Elements, Lazy)):
        return None
    rank = len(dims_of(x))
    axes: list[int] = list(range(rank))[::-1]
    if args:
        given: Any = args[0] if len(args) == 1 else args
        if isinstance(given, Known) and isinstance(given.value, tuple):
            given = tuple(Known(v) for v in given.value)
        if isinstance(given, Tuple):
            given = given.items
        if not isinstance(given, tuple) or len(given) != rank:
            return None
        if not all(
            isinstance(a, Known) and isinstance(a.value, int) and -rank <= a.value < rank for a in given
        ):
            return None
        axes = [a.value % rank for a in given]
    if sorted(axes) != list(range(rank)):
        return None
    m = memory(f, x)
    dims, strides = tuple(m.dims[a] for a in axes), tuple(m.strides[a] for a in axes)
    dense = rank < 2 and m.contiguous
    return Memory(
        m.dtype, m.data, dims, strides, m.slot, False, dense, m.root, m.aligned, writeable=m.writeable
    )


from autograph.compiler import complexes  # noqa: E402 - it extends what `elementwise` has
