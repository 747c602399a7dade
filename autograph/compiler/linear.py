"""Matrix products: by BLAS where they are large, by loops of our own where they are small.

A product of two arrays becomes products of matrices, which are `Memory` of two dimensions: a vector is a
matrix of one row or column, a batch is a loop. How a matrix lies in memory decides what is done with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.compiler import arrays, blas, listing, parallel, reductions, routines, threads
from autograph.compiler.elementwise import ELEMENT, UFUNC_OF, Lanes
from autograph.compiler.lowering import SMALL, FunctionLowering, rule
from autograph.compiler.values import (
    Computed,
    Elements,
    Lazy,
    Memory,
    Number,
    Value,
    array_type,
    key,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import Scalar
from autograph.records import record_class, replace

FEW = 32**3
"""A product of matrices with at most so many multiplications is done by our own loops."""
FEW_OF_VECTOR = 1 << 14
"""The same for a matrix by a vector."""
CHEAP = 20
"""What an element of a matrix may cost that is computed for a product with a vector, and not stored."""
SCRATCH = 1 << 12
"""Bytes of a product that may lie on the stack."""
STACK = 1 << 14
"""Bytes of a copy that may lie on the stack."""
THIN = 8
"""A product with so few columns is left to BLAS, and one with so few rows where the second matrix had to be
copied for them."""
SOME_ROWS = 64
CACHED = 1 << 19
"""Whole fours of at most so many rows are multiplied by a matrix of at most so many bytes where it lies."""
RATE = 7
"""How many multiplications a thread does in an eighth of a nanosecond."""
HUGE = 1 << 31
"""Dimensions from here on may not fit the integers of BLAS."""


# -- from products of arrays to products of matrices ---------------------------------------------------------


@rule("matmul", "np.dot", "np.matmul", "ndarray.dot", "np.inner", "np.vdot")
def matmul(
    f: FunctionLowering, operation: Operation, a: Value, b: Value, *rest: Any, **options: Any
) -> Value | None:
    if rest or options:
        return None
    values = [arrays.value_as_array(f, v) if isinstance(v, Value) else None for v in (a, b)]
    if any(not isinstance(v, (Memory, Elements, Lazy)) for v in values):
        return None
    x, y = values
    dx, dy = arrays.dims_of(x), arrays.dims_of(y)
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if len(dx) != 1 or len(dy) != 1:
        return product(f, operation, x, y)
    if dtype is None or not equal(f, operation, dx[0], dy[0]):
        return None
    if dtype.kind == "c" and operation.name == "np.vdot":
        return None
    x, y = (replace(v, dims=dx) if isinstance(v, Memory) else v for v in (x, y))
    if dtype.kind == "f" and all(isinstance(v, Memory) and v.dtype == dtype for v in (x, y)):
        return Number(out, dtype, (dot(f, x, y),))
    if dtype.kind in "bc":
        place = f.b.alloca(f"[{dtype.itemsize} x i8]", 16)
        cell = f.as_contiguous(Memory(dtype, place, (1, 1), (), root=("stack", place)))
        multiply(f, cell, _as_row(f, operand(f, x, dtype)), _as_column(operand(f, y, dtype)))
        return Number(out, dtype, f.load_scalar(place, dtype))
    lazy: Any = Lazy(dtype, dx, arrays.Map("multiply", (dtype, dtype), dtype), (x, y))
    if isinstance(x, Elements) and isinstance(y, Elements):
        lazy = arrays.elements(f, lazy)
    return reductions.reduce(f, operation, "sum", lazy, {0}, dtype, False, True)


def product(f: FunctionLowering, operation: Operation, x: Any, y: Any) -> Value | None:
    """The product of two arrays, at least one of them a matrix."""
    dx, dy = arrays.dims_of(x), arrays.dims_of(y)
    t = array_type(operation.outputs[0]._ag_type)
    name = operation.name.split(".")[-1]
    if t is None or not dx or not dy or name == "vdot":
        return None
    if name == "inner":
        if max(len(dx), len(dy)) > 2:
            return None
        if len(dy) == 2:
            y = swapped(arrays.memory(f, y))
            dy = y.dims
    if name == "dot" and len(dx) > 1 and len(dy) > 2:
        return None
    inner = dx[-1], dy[-2] if len(dy) > 1 else dy[0]
    if max(len(dx), len(dy)) > 3 and not (arrays.in_order(x) and arrays.in_order(y)):
        return None
    if not equal(f, operation, *inner):
        return None
    if _tiny(f, operation, t, x, y):
        return _straight(f, t, x, y)
    if _is_put_off(x, t.dtype) and len(dx) == 2 and len(dy) == 1 and y.dtype == t.dtype:
        times = arrays.Map("multiply", (t.dtype, t.dtype), t.dtype)
        lazy = Lazy(t.dtype, dx, times, (x, arrays.memory(f, y)), x.cost + 1)
        return reductions.reduce(f, operation, "sum", lazy, {1}, t.dtype, False, False)
    batch = arrays.broadcast_dims(f, operation, [dx[:-2], dy[:-2], ()]) if _batched(dx, dy) else ()
    if batch is None:
        return None
    a, b = operand(f, x, t.dtype), operand(f, y, t.dtype)
    dims = (*batch, *dx[-2:-1], *(dy[-1:] if len(dy) > 1 else ()))
    summand = _summand(f, operation, t.dtype, dims, a, b)
    plus = summand is not None
    target = summand or _result(f, operation, t.dtype, dims)
    if target.slot is not None and not plus:
        f.products[id(operation.outputs[0])] = operation
    a = _as_row(f, a) if len(dx) == 1 else a
    b = _as_column(b) if len(dy) == 1 else b
    if not batch:
        multiply(f, _matrix(f, target, a.dims[-2], b.dims[-1]), a, b, plus=plus)
        return target
    if len(dy) <= 2 and a.contiguous:  # all rows of the batch at once
        rows: Any = 1
        for d in a.dims[:-1]:
            rows = f.times(rows, d)
        a = _matrix(f, a, rows, a.dims[-1])
        multiply(f, _matrix(f, target, rows, b.dims[-1]), a, b, plus=plus)
        return target
    c = replace(target, dims=(*batch, a.dims[-2], b.dims[-1]))
    c = f.as_contiguous(c)

    def each(index: list[str]) -> None:
        multiply(f, *(of_batch(f, m, index, batch) for m in (c, a, b)), plus=plus)

    cost: Any = f.times(f.times(a.dims[-2], a.dims[-1]), b.dims[-1])
    for d in batch[1:]:
        cost = f.times(cost, d)
    parallel.split(f, batch[0], cost, lambda begin, end: nest(f, list(batch), each, (begin, end)))
    return target


def _is_put_off(x: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a matrix is large and cheap to compute: a product with a vector takes elements as they come."""
    if not isinstance(x, Lazy) or isinstance(x, Computed) or x.dtype != dtype or dtype.kind != "f":
        return False
    known = [d for d in x.dims if isinstance(d, int)]
    return x.cost <= CHEAP and (len(known) < len(x.dims) or math.prod(known) > FEW_OF_VECTOR)


def _result(f: FunctionLowering, operation: Operation, dtype: np.dtype[Any], dims: Any) -> Memory:
    """Where a product goes: on the stack, where it is small and only elements of it are used, once."""
    out = operation.outputs[0]
    user = f.users.get(id(out))
    known = [d for d in dims if isinstance(d, int)]
    size = math.prod(known) * dtype.itemsize
    if (
        len(known) < len(dims)
        or size > SCRATCH
        or f.uses.get(id(out)) != 1
        or id(out) in f.plan.objects
        or user is None
        or user.kwargs
        or not _reads_elements(user, out)
    ):
        return arrays.allocate(f, dtype, dims, operation)
    place = f.b.alloca(f"[{max(size, 1)} x i8]", 64)
    return f.as_contiguous(Memory(dtype, place, dims, (), root=("stack", place)))


def _summand(
    f: FunctionLowering, operation: Operation, dtype: np.dtype[Any], dims: Any, a: Memory, b: Memory
) -> Memory | None:
    """The array to which the next operation adds a product, where it leaves the sum; None if there is none.

    It is added there at once, and the next operation finds it done: an array that is written in place, or
    another product that nobody else reads.
    """
    out = operation.outputs[0]
    user = f.users.get(id(out))
    if user is None or user.name not in ("add", "iadd") or user.kwargs or f.uses.get(id(out)) != 1:
        return None
    if id(out) in f.plan.objects or not f.is_next(user) or len(a.dims) < 2 or len(b.dims) != 2:
        return None
    rows = math.prod(a.dims[:-1]) if a.contiguous and all(isinstance(d, int) for d in a.dims) else a.dims[-2]
    other = user.args[0] if user.args[1] is out else user.args[1]
    if not _is_tiled(rows, b) or not isinstance(other, Tensor):
        return None
    value = f.env.get(id(other))
    if not isinstance(value, Memory) or value.dtype != dtype or value.dims != dims or not value.contiguous:
        return None
    if user.args[0] is out if user.name == "iadd" else not f.is_only_for(user, other):
        return None
    if any(f.may_alias(m.root, value.root) for m in (a, b)):
        return None
    f.flush()
    f.env[id(out)] = Lazy(dtype, dims, arrays.Map("positive", (dtype,), dtype), (value,))
    is_writeable = arrays.writeable(f, user, value)
    del f.env[id(out)]
    if not is_writeable:
        return None
    f.done[id(user)] = value
    return value


def _reads_elements(user: Operation, x: Any) -> bool:
    """Whether an operation makes something new of the elements of an array, or writes them elsewhere."""
    name = user.name
    if name == "matmul" or name in UFUNC_OF:
        return True
    if name == "set_item" or name[1:] in UFUNC_OF:
        return user.args[-1] is x and user.args[0] is not x
    return name.startswith("np.") and isinstance(getattr(np, name[3:], None), np.ufunc)


def _batched(dx: Any, dy: Any) -> bool:
    return len(dx) > 2 or len(dy) > 2


def _as_row(f: FunctionLowering, m: Memory) -> Memory:
    """A vector as a matrix of one row."""
    return replace(m, dims=(1, *m.dims), strides=(f.times(m.dims[0], m.dtype.itemsize), *m.strides))


def _as_column(m: Memory) -> Memory:
    return replace(m, dims=(*m.dims, 1), strides=(*m.strides, m.dtype.itemsize))


def _matrix(f: FunctionLowering, m: Memory, rows: Any, columns: Any) -> Memory:
    """Contiguous memory seen as a matrix."""
    return f.as_contiguous(replace(m, dims=(rows, columns)))


def of_batch(f: FunctionLowering, m: Memory, index: list[str], batch: Any) -> Memory:
    """The matrix of a batch at an index of the whole (broadcast) batch."""
    outer = len(m.dims) - 2
    where = []
    for d, whole, i in zip(m.dims[:outer], batch[len(batch) - outer :], index[len(index) - outer :]):
        if d == 1 and whole != 1:
            i = "0"
        elif d != whole and isinstance(d, str):
            one = f.b.value(f"icmp eq i64 {d}, 1")
            i = f.b.value(f"select i1 {one}, i64 0, i64 {i}")
        where.append(i)
    data = arrays.address(f, m, where)
    return replace(m, data=data, dims=m.dims[outer:], strides=m.strides[outer:])


def nest(
    f: FunctionLowering,
    dims: list[Any],
    body: Callable[[list[str]], None],
    first: tuple[Any, Any] | None = None,
) -> None:
    """Loops over all indices; of the first axis over a range only, if there is one."""
    ranges: list[tuple[Any, Any]] = [(0, d) for d in dims]
    if first is not None:
        ranges[0] = first

    def level(axis: int, index: list[str]) -> None:
        if axis == len(dims):
            body(index)
        else:
            arrays.count_loop(f, *ranges[axis], step=1, body=lambda i: level(axis + 1, [*index, i]))

    level(0, [])


def equal(f: FunctionLowering, operation: Operation, p: Any, q: Any) -> bool:
    """Whether two dimensions are equal, checked at run time where they are not known."""
    if p == q:
        return True
    if isinstance(p, int) and isinstance(q, int):
        return False
    f.guard(f.b.value(f"icmp eq i64 {p}, {q}"), operation)
    return True


def swapped(m: Memory) -> Memory:
    """A matrix transposed."""
    return replace(m, dims=m.dims[::-1], strides=m.strides[::-1], contiguous=False)


def operand(f: FunctionLowering, v: Any, dtype: np.dtype[Any]) -> Memory:
    """An array in memory, of a dtype."""
    if v.dtype != dtype:
        v = Lazy(dtype, arrays.dims_of(v), arrays.Map("astype", (dtype,), dtype), (v,))
    return arrays.memory(f, v)


# -- products in registers -----------------------------------------------------------------------------------


def _tiny(f: FunctionLowering, operation: Operation, t: Any, x: Any, y: Any) -> bool:
    out = operation.outputs[0]
    shapes = [arrays.dims_of(x), arrays.dims_of(y), t.shape]
    if not all(isinstance(d, int) for s in shapes for d in s) or any(len(s) > 2 for s in shapes):
        return False
    small = all(math.prod(s) <= SMALL for s in shapes) and t.dtype.kind != "c"
    return small and f.is_pure(out) and id(out) not in f.plan.memory and id(out) not in f.plan.objects


def _straight(f: FunctionLowering, t: Any, x: Any, y: Any) -> Elements:
    lanes = Lanes(f.b)
    ex, ey = arrays.elements(f, x), arrays.elements(f, y)
    xs = [lanes.cast(p, ex.dtype, t.dtype)[0] for p in ex.items]
    ys = [lanes.cast(p, ey.dtype, t.dtype)[0] for p in ey.items]
    count = ex.shape[-1]
    rows = ex.shape[0] if len(ex.shape) == 2 else 1
    columns = ey.shape[1] if len(ey.shape) == 2 else 1
    items = []
    for i in range(rows):
        for j in range(columns):
            total = f.literal(0, t.dtype)[0]
            for k in range(count):
                total = _multiply_add(lanes, t.dtype, xs[i * count + k], ys[k * columns + j], total)
            items.append((total,))
    return Elements(t.dtype, tuple(t.shape), tuple(items))


def _multiply_add(lanes: Lanes, dtype: np.dtype[Any], x: str, y: str, total: str) -> str:
    kind = register(dtype)
    if dtype.kind == "f":
        return lanes.intrinsic("fmuladd", kind, x, y, total)
    one = ELEMENT["multiply"](lanes, dtype, (x,), (y,))
    return ELEMENT["add"](lanes, dtype, (total,), one)[0]


# -- the product of two matrices -----------------------------------------------------------------------------


def sizes_of(a: Memory, b: Memory) -> Any:
    """Rows, inner dimension and columns of a product."""
    return *a.dims, b.dims[1]


def multiply(f: FunctionLowering, c: Memory, a: Memory, b: Memory, *, plus: bool = False) -> None:
    """c = a @ b for matrices of one dtype, or c += a @ b if `is_tiled`; the rows of c are dense."""
    m, k, n = sizes_of(a, b)
    dtype = c.dtype
    added = ", added" if plus else ""
    f.note(f"product {listing.shape((m, k))} @ {listing.shape((k, n))} of {dtype}{added}")
    if plus:
        _by_tiles(f, c, a, b, plus)
        return
    if dtype.kind not in "fc":
        _plainly(f, c, a, b)
        return
    routine = blas.symbol(f"{blas.LETTER[key(dtype)]}{'gemv' if 1 in (m, n) else 'gemm'}")
    real = dtype.kind == "f"
    ours = _small_product if real else _plainly
    if routine is None and (not real or 1 in (m, n)):
        ours(f, c, a, b)
        return
    limit = (FEW_OF_VECTOR if 1 in (m, n) else FEW) if real else 0
    small = _any(
        f, [_at_most(f, f.times(f.times(m, n), k), limit), *(_at_least(f, d, HUGE) for d in (m, n, k))]
    )
    narrow = [_at_most(f, n, THIN)]
    if b.strides[1] != dtype.itemsize:
        narrow.append(_at_most(f, m, THIN))
    wide = _not(f, _any(f, narrow)) if real and 1 not in (m, n) else False

    def large() -> None:
        if routine is None:
            _by_tiles(f, c, a, b)
            return
        arrays.either(f, wide, lambda: _by_tiles(f, c, a, b), lambda: _by_blas(f, routine, c, a, b))

    arrays.either(f, small, lambda: ours(f, c, a, b), large)


def _is_tiled(m: Any, b: Memory) -> bool:
    """Whether m rows are sure to be multiplied by a matrix in tiles."""
    k, n = b.dims
    if b.dtype.kind != "f" or not all(isinstance(d, int) and THIN < d < HUGE for d in (m, k, n)):
        return False
    return bool(m * n * k > FEW)


def _at_most(f: FunctionLowering, d: Any, most: int) -> bool | str:
    return d <= most if isinstance(d, int) else f.b.value(f"icmp ule i64 {d}, {most}")


def _at_least(f: FunctionLowering, d: Any, least: int) -> bool | str:
    return _not(f, _at_most(f, d, least - 1))


def _not(f: FunctionLowering, test: bool | str) -> bool | str:
    return not test if isinstance(test, bool) else f.b.value(f"xor i1 {test}, true")


def _any(f: FunctionLowering, tests: list[bool | str]) -> bool | str:
    return _not(f, _all_of(f, [_not(f, t) for t in tests]))


def _by_columns(f: FunctionLowering, c: Memory, a: Memory, b: Memory, plus: bool) -> bool:
    """The same for few rows and a second matrix that stays in the caches: no part of it is copied."""
    m, k, n = sizes_of(a, b)
    size = c.dtype.itemsize
    if not (isinstance(m, int) and isinstance(k, int) and isinstance(n, int)) or b.strides[1] != size:
        return False
    if m % 4 or m > SOME_ROWS or k * n * size > CACHED:
        return False
    name = routines.name_of("plus" if plus else "matrix", c.dtype, n)
    columns = routines.block_columns(size) // 2

    def piece(begin: Any, end: Any) -> None:
        first = f.times(begin, columns)
        last = f.b.call("i64", "llvm.smin.i64", f"i64 {f.times(end, columns)}", f"i64 {n}")
        offset = f.times(first, size)
        count = last if first == 0 else f.b.value(f"sub nsw i64 {last}, {first}")
        f.b.call(
            "void", name, f"ptr {f.at(c.data, offset)}", f"i64 {c.strides[0]}", f"ptr {a.data}",
            f"i64 {a.strides[0]}", f"i64 {a.strides[1]}", f"ptr {f.at(b.data, offset)}",
            f"i64 {b.strides[0]}", f"i64 {m}", f"i64 {count}", f"i64 {k}",
        )  # fmt: skip

    parallel.split(
        f, _blocks(f, n, columns), max(m * min(n, columns) * k // RATE, 1), piece, worth=threads.SOME
    )
    return True


def _by_tiles(f: FunctionLowering, c: Memory, a: Memory, b: Memory, plus: bool = False) -> None:
    """c = a @ b, or c += a @ b, for real matrices that are not thin, in blocks that threads may share."""
    if _by_columns(f, c, a, b, plus):
        return
    m, k, n = sizes_of(a, b)
    size = c.dtype.itemsize
    columns = routines.block_columns(size)
    count = f.times(_blocks(f, m, routines.BLOCK), _blocks(f, n, columns))
    numbers = [
        f"ptr {c.data}", f"i64 {c.strides[0]}", f"ptr {a.data}", f"i64 {a.strides[0]}", f"i64 {a.strides[1]}",
        f"ptr {b.data}", f"i64 {b.strides[0]}", f"i64 {b.strides[1]}", *(f"i64 {d}" for d in (m, n, k)),
        f"i1 {str(plus).lower()}",
    ]  # fmt: skip
    name = routines.name_of("tiled", c.dtype)
    rows = min(m, routines.BLOCK) if isinstance(m, int) else routines.BLOCK
    cost = f.times(k, max(rows * (min(n, columns) if isinstance(n, int) else columns) // RATE, 1))

    def piece(begin: Any, end: Any) -> None:
        f.b.call("void", name, *numbers, f"i64 {begin}", f"i64 {end}")

    parallel.split(f, count, cost, piece, worth=threads.SOME)


def _blocks(f: FunctionLowering, d: Any, size: int) -> Any:
    """How many blocks of a size cover a dimension."""
    if isinstance(d, int):
        return -(-d // size)
    return f.b.value(f"udiv i64 {f.plus(d, size - 1)}, {size}")


def _plainly(f: FunctionLowering, c: Memory, a: Memory, b: Memory) -> None:
    """Row by row of b, for all dtypes."""
    dtype = c.dtype
    arrays.fill(f, c, _literal(f, 0, dtype))
    width = arrays.width_for(b, dtype) if b.strides[1] == dtype.itemsize else 1

    def body(lanes: Lanes, index: list[str]) -> None:
        i, p, j = index
        x = tuple(lanes.splat(s, register(dtype)) for s in arrays.load(f, Lanes(f.b), a, [i, p]))
        products = ELEMENT["multiply"](lanes, dtype, x, arrays.load(f, lanes, b, [p, j]))
        total = ELEMENT["add"](lanes, dtype, arrays.load(f, lanes, c, [i, j]), products)
        arrays.store(f, lanes, c, [i, j], total)

    cost = 2 if width > 1 else 8
    arrays.nest(f, [a.dims[0], a.dims[1], b.dims[1]], width, body, cost, [0, 2])


# -- BLAS ----------------------------------------------------------------------------------------------------


@record_class
class Form:
    """A matrix as BLAS takes it: dense by rows (`by_rows` holds) or by columns, `step` elements apart."""

    data: str
    step: Any
    by_rows: bool | str


def blas_form(f: FunctionLowering, m: Memory) -> Form:
    """A matrix as BLAS takes it; one that is not dense either way is copied."""
    rows, columns = m.dims
    size = m.dtype.itemsize
    if m.contiguous:
        return Form(m.data, at_least_one(f, columns), True)
    by_rows, by_columns = _is_dense(f, m), _is_dense(f, swapped(m))
    if by_rows is True:
        return Form(m.data, _step(f, rows, columns, m.strides[0], size), True)
    if by_columns is True and by_rows is False:
        return Form(m.data, _step(f, columns, rows, m.strides[1], size), False)
    if by_rows is False and by_columns is False:
        return Form(copied(f, m).data, at_least_one(f, columns), True)
    b = f.b
    texts = ["true" if t is True else "false" if t is False else t for t in (by_rows, by_columns)]
    direct, other, after = b.label("dense"), b.label("copy"), b.label("form")
    b.branch(b.value(f"or i1 {texts[0]}, {texts[1]}"), direct, other)
    b.start(direct)
    steps = [
        _step(f, rows, columns, m.strides[0], size),
        _step(f, columns, rows, m.strides[1], size),
    ]
    step = b.value(f"select i1 {texts[0]}, i64 {steps[0]}, i64 {steps[1]}")
    direct = b.block
    b.jump(after)
    b.start(other)
    copy = copied(f, m)
    least = at_least_one(f, columns)
    other = b.block
    b.jump(after)
    b.start(after)
    data, step_phi, form = b.phi("ptr"), b.phi("i64"), b.phi("i1")
    data.incoming = [(m.data, direct), (copy.data, other)]
    step_phi.incoming = [(step, direct), (str(least), other)]
    form.incoming = [(texts[0], direct), ("true", other)]
    return Form(data.name, step_phi.name, form.name)


def at_least_one(f: FunctionLowering, d: Any) -> Any:
    return max(d, 1) if isinstance(d, int) else f.b.call("i64", "llvm.smax.i64", f"i64 {d}", "i64 1")


def _step(f: FunctionLowering, rows: Any, columns: Any, stride: Any, size: int) -> Any:
    """How many elements lie between two rows."""
    if rows == 1:
        return at_least_one(f, columns)
    step: Any = stride // size if isinstance(stride, int) else f.b.value(f"sdiv i64 {stride}, {size}")
    if isinstance(rows, int):
        return step
    one = f.b.value(f"icmp sle i64 {rows}, 1")
    return f.b.value(f"select i1 {one}, i64 {at_least_one(f, columns)}, i64 {step}")


def _is_dense(f: FunctionLowering, m: Memory) -> bool | str:
    """Whether rows are dense and lie one after the other: known, or an IR test."""
    (rows, columns), (across, along), size = m.dims, m.strides, m.dtype.itemsize
    tests: list[str] = []
    known: bool | None

    def test(good: bool | None, text: Callable[[], str]) -> bool:
        """False if it certainly does not hold."""
        if good is None:
            tests.append(text())
        return good is not False

    b = f.b

    def or_few(condition: str, d: Any) -> str:
        if isinstance(d, int):
            return condition
        return b.value(f"or i1 {condition}, {b.value(f'icmp sle i64 {d}, 1')}")

    if not (isinstance(columns, int) and columns <= 1):
        decided = isinstance(along, int) and (along == size or isinstance(columns, int))
        known = along == size if decided else None
        if not test(known, lambda: or_few(b.value(f"icmp eq i64 {along}, {size}"), columns)):
            return False
    if isinstance(rows, int) and rows <= 1:
        return _all_of(f, tests)
    least = f.times(columns, size)
    known = None
    if isinstance(across, int) and isinstance(least, int):
        good = across % size == 0 and least <= across < HUGE * size
        known = good if good or isinstance(rows, int) else None

    def far_enough() -> str:
        whole = b.value(f"icmp eq i64 {b.value(f'srem i64 {across}, {size}')}, 0")
        far = b.value(f"icmp sge i64 {across}, {least}")
        near = b.value(f"icmp slt i64 {across}, {HUGE * size}")
        return or_few(b.value(f"and i1 {whole}, {b.value(f'and i1 {far}, {near}')}"), rows)

    return _all_of(f, tests) if test(known, far_enough) else False


def _all_of(f: FunctionLowering, tests: Sequence[bool | str]) -> bool | str:
    if False in tests:
        return False
    whole: bool | str = True
    for t in tests:
        if isinstance(t, str):
            whole = t if whole is True else f.b.value(f"and i1 {whole}, {t}")
    return whole


def by_reference(f: FunctionLowering, value: Any) -> str:
    """A place that holds an integer, as Fortran wants its arguments."""
    kind = blas.integer()
    place = f.b.alloca(kind)
    known = isinstance(value, int) or kind == "i64"
    narrow = value if known else f.b.value(f"trunc i64 {value} to {kind}")
    f.b.emit(f"store {kind} {narrow}, ptr {place}")
    return f"ptr {place}"


def letter(f: FunctionLowering, c: str) -> str:
    name = f"ag.letter.{c}"
    f.b.module.globals[name] = f'@{name} = private unnamed_addr constant [1 x i8] c"{c}"'
    return f"@{name}"


def _literal(f: FunctionLowering, value: int, dtype: np.dtype[Any]) -> Number:
    return Number(Scalar(dtype), dtype, f.literal(value, dtype))


def _choose(f: FunctionLowering, test: bool | str, kind: str, x: Any, y: Any) -> Any:
    if isinstance(test, bool):
        return x if test else y
    return f.b.value(f"select i1 {test}, {kind} {x}, {kind} {y}")


def _constant(f: FunctionLowering, dtype: np.dtype[Any], value: int) -> str:
    place = f.b.alloca(f"[2 x {register(dtype)}]", 16)
    f.store_scalar(place, _literal(f, value, dtype))
    return f"ptr {place}"


def _by_blas(f: FunctionLowering, routine: str, c: Memory, a: Memory, b: Memory) -> None:
    """c = a @ b. BLAS counts by columns: it computes c.T = b.T @ a.T."""
    m, k, n = sizes_of(a, b)
    one, zero = _constant(f, c.dtype, 1), _constant(f, c.dtype, 0)
    if 1 in (m, n):
        if n != 1:
            a, b, m, n = swapped(b), swapped(a), n, 1
        form, x = blas_form(f, a), _dense_vector(f, b)
        turned = _choose(f, form.by_rows, "ptr", letter(f, "T"), letter(f, "N"))
        sizes = [_choose(f, form.by_rows, "i64", p, q) for p, q in ((k, m), (m, k))]
        ref, step = [by_reference(f, s) for s in sizes], by_reference(f, 1)
        last = by_reference(f, form.step)
        with parallel.unlocked(f, f.times(m, k)):
            f.b.call(
                "void", routine, f"ptr {turned}", *ref, one, f"ptr {form.data}", last, f"ptr {x.data}", step,
                zero, f"ptr {c.data}", step,
            )  # fmt: skip
        return
    first, second = blas_form(f, a), blas_form(f, b)
    turns = [
        f"ptr {_choose(f, form.by_rows, 'ptr', letter(f, 'N'), letter(f, 'T'))}" for form in (second, first)
    ]
    with parallel.unlocked(f, f.times(f.times(m, n), k)):
        f.b.call(
            "void", routine, *turns, by_reference(f, n), by_reference(f, m), by_reference(f, k), one,
            f"ptr {second.data}", by_reference(f, second.step), f"ptr {first.data}",
            by_reference(f, first.step), zero, f"ptr {c.data}", by_reference(f, n),
        )  # fmt: skip


def _dense_vector(f: FunctionLowering, m: Memory) -> Memory:
    """A matrix of one column (or row) as a dense vector."""
    axis = 0 if m.dims[1] == 1 else 1
    vector = replace(m, dims=(m.dims[axis],), strides=(m.strides[axis],))
    dense = m.contiguous or vector.strides[0] == m.dtype.itemsize
    return replace(vector, contiguous=True) if dense else copied(f, vector)


def copied(f: FunctionLowering, m: Memory) -> Memory:
    """A dense copy of a matrix or vector, for this product only."""
    size = m.dtype.itemsize
    known = [d for d in m.dims if isinstance(d, int)]
    count = math.prod(known) * size
    if len(known) == len(m.dims) and count <= STACK:
        place = f.b.alloca(f"[{max(count, 1)} x i8]", 64)
        target = f.as_contiguous(Memory(m.dtype, place, m.dims, (), root=("stack", place)))
    else:
        target = arrays.allocate(f, m.dtype, m.dims)
    rows, across = (m.dims[0], m.strides[0]) if len(m.dims) == 2 else (1, 0)
    f.b.call(
        "void", routines.name_of("copy", m.dtype), f"ptr {target.data}", f"ptr {m.data}", f"i64 {across}",
        f"i64 {m.strides[-1]}", f"i64 {rows}", f"i64 {m.dims[-1]}",
    )  # fmt: skip
    return target


# -- small products ------------------------------------------------------------------------------------------


def _small_product(f: FunctionLowering, c: Memory, a: Memory, b: Memory) -> None:
    """c = a @ b for real matrices by a routine."""
    m, k, n = sizes_of(a, b)
    size = c.dtype.itemsize
    if n == 1 and a.strides[1] == size:
        x = _dense_vector(f, b)
        name = routines.name_of("rows", c.dtype, k)
        f.b.call(
            "void", name, f"ptr {c.data}", f"ptr {a.data}", f"i64 {a.strides[0]}", f"ptr {x.data}",
            f"i64 {m}", f"i64 {k}",
        )  # fmt: skip
        return
    if n == 1:
        a, b, m, n = swapped(b), swapped(a), 1, m
        c = replace(c, dims=(1, n), strides=(0, size))
    if b.strides[1] != size and n != 1:
        b = copied(f, b)
    name = routines.name_of("row" if m == 1 else "matrix", c.dtype, n)
    f.b.call(
        "void", name, f"ptr {c.data}", f"i64 {c.strides[0]}", f"ptr {a.data}", f"i64 {a.strides[0]}",
        f"i64 {a.strides[1]}", f"ptr {b.data}", f"i64 {b.strides[0]}", f"i64 {m}", f"i64 {n}", f"i64 {k}",
    )  # fmt: skip


def dot(f: FunctionLowering, x: Memory, y: Memory) -> str:
    """The sum of the products of two real vectors of one length."""
    name = routines.name_of("dot", x.dtype, x.dims[0])
    return f.b.call(
        register(x.dtype), name, f"ptr {x.data}", f"i64 {x.strides[0]}", f"ptr {y.data}",
        f"i64 {y.strides[0]}", f"i64 {x.dims[0]}",
    )  # fmt: skip


from autograph.compiler import contractions, joining, lapack  # noqa: E402, F401 - they register their rules
