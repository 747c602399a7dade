"""np.linalg.solve, inv, det and cholesky of one matrix, by the routines of LAPACK that NumPy calls.

As in NumPy, all is computed in double precision. Complex matrices are solved and inverted only.

LAPACK counts by columns: it works on a copy of the transposed matrix. Where it finds the matrix singular,
NumPy's function runs, which raises.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compiler import arrays, blas, parallel
from autograph.compiler.elementwise import Lanes
from autograph.compiler.ir import float_literal
from autograph.compiler.linear import (
    at_least_one,
    by_reference,
    copied,
    equal,
    letter,
    operand,
    swapped,
)
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
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
from autograph.graph.graph import Operation
from autograph.graph.types import Scalar
from autograph.records import replace

DOUBLE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}
"""What is computed with, by the kind of the result."""


def _routine(dtype: np.dtype[Any] | None, name: str, kinds: str = "f") -> str | None:
    if dtype is None or dtype.kind not in kinds:
        return None
    return blas.symbol(blas.LETTER[key(DOUBLE[dtype.kind])] + name)


def _cast(f: FunctionLowering, m: Memory, dtype: np.dtype[Any]) -> Memory:
    """A copy of a matrix as the result's dtype."""
    target = arrays.allocate(f, dtype, m.dims)
    arrays.fill(f, target, m)
    return target


def _matrix(f: FunctionLowering, operation: Operation, v: Any, dtype: np.dtype[Any]) -> Memory | None:
    """A square matrix that is not empty, or one whose size is not known."""
    v = arrays.value_as_array(f, v) if isinstance(v, Value) else None
    if not isinstance(v, (Memory, Elements, Lazy)):
        return None
    dims = arrays.dims_of(v)
    if len(dims) != 2 or dims[0] == 0 or not equal(f, operation, *dims):
        return None
    return operand(f, v, dtype)


def _by_columns(f: FunctionLowering, m: Memory) -> Memory:
    """A copy of a matrix, by columns: its transpose, by rows."""
    return copied(f, swapped(m))


def _info(f: FunctionLowering) -> tuple[str, str]:
    """A place for the status of a routine, and it as an argument."""
    place = by_reference(f, 0)
    return place.split()[1], place


def _good(f: FunctionLowering, place: str) -> str:
    kind = blas.integer()
    return f.b.value(f"icmp eq {kind} {f.b.value(f'load {kind}, ptr {place}')}, 0")


def _pivots(f: FunctionLowering, n: Any) -> str:
    if isinstance(n, int) and n <= 1024:
        return f.b.alloca(f"[{n} x i64]")
    return arrays.allocate(f, np.dtype(np.int64), (n,)).data


def _work(f: FunctionLowering, n: Any) -> Any:
    """What an algorithm on a square matrix costs."""
    return f.times(f.times(n, n), n)


def _solved(f: FunctionLowering, operation: Operation, routine: str, a: Memory, b: Memory) -> None:
    """b becomes the solution; the matrix and b are by columns."""
    n, info = a.dims[0], _info(f)
    columns = b.dims[0] if len(b.dims) == 2 else 1
    size = by_reference(f, n)
    least = by_reference(f, at_least_one(f, n))
    count, pivots = by_reference(f, columns), _pivots(f, n)
    with parallel.unlocked(f, _work(f, n)):
        f.b.call(
            "void", routine, size, count, f"ptr {a.data}", least, f"ptr {pivots}", f"ptr {b.data}", least,
            info[1],
        )  # fmt: skip
    f.guard(_good(f, info[0]), operation)


@rule("np.linalg.solve")
def solve(f: FunctionLowering, operation: Operation, a: Any, b: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    routine = _routine(t.dtype if t is not None else None, "gesv", "fc")
    right = arrays.value_as_array(f, b) if isinstance(b, Value) else None
    if t is None or routine is None or not isinstance(right, (Memory, Elements, Lazy)):
        return None
    dims, double = arrays.dims_of(right), DOUBLE[t.dtype.kind]
    m = _matrix(f, operation, a, double)
    if m is None or len(dims) not in (1, 2) or not equal(f, operation, m.dims[0], dims[0]):
        return None
    if len(dims) == 1:
        target = arrays.allocate(f, double, dims, operation)
        arrays.fill(f, target, right)
        _solved(f, operation, routine, _by_columns(f, m), target)
        return target if t.dtype == double else _cast(f, target, t.dtype)
    if dims[1] == 0:
        return None
    columns = _by_columns(f, operand(f, right, double))
    _solved(f, operation, routine, _by_columns(f, m), columns)
    return _cast(f, swapped(columns), t.dtype)


@rule("np.linalg.inv")
def inv(f: FunctionLowering, operation: Operation, a: Any) -> Value | None:
    """The solution for the unit matrix, as in NumPy."""
    t = array_type(operation.outputs[0]._ag_type)
    routine = _routine(t.dtype if t is not None else None, "gesv", "fc")
    if t is None or routine is None:
        return None
    double = DOUBLE[t.dtype.kind]
    m = _matrix(f, operation, a, double)
    if m is None:
        return None
    n = m.dims[0]
    unit = arrays.allocate(f, double, (n, n), operation)
    arrays.fill(f, unit, Number(Scalar(double), double, f.literal(0, double)))
    step = f.plus(unit.strides[0], double.itemsize)
    diagonal = replace(unit, dims=(n,), strides=(step,), contiguous=False)
    arrays.fill(f, diagonal, Number(Scalar(double), double, f.literal(1, double)))
    _solved(f, operation, routine, _by_columns(f, m), unit)
    return _cast(f, swapped(unit), t.dtype)


@rule("np.linalg.cholesky")
def cholesky(f: FunctionLowering, operation: Operation, a: Any) -> Value | None:
    t = array_type(operation.outputs[0]._ag_type)
    routine = _routine(t.dtype if t is not None else None, "potrf")
    if t is None or routine is None:
        return None
    m = _matrix(f, operation, a, DOUBLE["f"])
    if m is None:
        return None
    work, info = _by_columns(f, m), _info(f)
    n = m.dims[0]
    with parallel.unlocked(f, _work(f, n)):
        f.b.call(
            "void", routine, f"ptr {letter(f, 'L')}", by_reference(f, n), f"ptr {work.data}",
            by_reference(f, at_least_one(f, n)), info[1],
        )  # fmt: skip
    f.guard(_good(f, info[0]), operation)
    target = arrays.allocate(f, t.dtype, (n, n), operation)
    arrays.fill(f, target, Number(Scalar(t.dtype), t.dtype, f.literal(0, t.dtype)))
    lanes = Lanes(f.b)

    def row(i: str) -> None:
        end = f.plus(int(i) if not i.startswith("%") else i, 1)

        def single(j: str) -> None:
            parts = lanes.cast(arrays.load(f, lanes, work, [j, i]), work.dtype, target.dtype)
            arrays.store(f, lanes, target, [i, j], parts)

        arrays.count_loop(f, 0, end, 1, single)

    arrays.count_loop(f, 0, n, 1, row)
    return target


@rule("np.linalg.det")
def det(f: FunctionLowering, operation: Operation, a: Any) -> Value | None:
    """By logarithms, as in NumPy: no product on the way overflows."""
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    routine = _routine(dtype, "getrf")
    if dtype is None or routine is None:
        return None
    double = DOUBLE["f"]
    m = _matrix(f, operation, a, double)
    if m is None:
        return None
    b, kind, n = f.b, register(double), m.dims[0]
    integer = blas.integer()
    work, info, pivots = _by_columns(f, m), _info(f), _pivots(f, n)
    size, least = by_reference(f, n), by_reference(f, at_least_one(f, n))
    with parallel.unlocked(f, _work(f, n)):
        b.call("void", routine, size, size, f"ptr {work.data}", least, f"ptr {pivots}", info[1])
    log, odd = b.alloca(kind), b.alloca("i1")
    b.emit(f"store {kind} 0.0, ptr {log}")
    b.emit(f"store i1 false, ptr {odd}")

    def element(i: str) -> None:
        place = b.value(f"getelementptr {integer}, ptr {pivots}, i64 {i}")
        pivot = b.value(f"load {integer}, ptr {place}")
        row = b.value(f"add i64 {i}, 1")
        row = row if integer == "i64" else b.value(f"trunc i64 {row} to {integer}")
        moved = b.value(f"icmp ne {integer} {pivot}, {row}")
        x = arrays.load(f, Lanes(b), work, [i, i])[0]
        negative = b.value(f"fcmp olt {kind} {x}, 0.0")
        change = b.value(f"xor i1 {moved}, {negative}")
        parity = b.value(f"load i1, ptr {odd}")
        b.emit(f"store i1 {b.value(f'xor i1 {change}, {parity}')}, ptr {odd}")
        size = Lanes(b).intrinsic("fabs", kind, x)
        one = b.call(kind, "log", f"{kind} {size}")
        old = b.value(f"load {kind}, ptr {log}")
        b.emit(f"store {kind} {b.value(f'fadd {kind} {old}, {one}')}, ptr {log}")

    arrays.count_loop(f, 0, n, 1, element)
    value = b.call(kind, "exp", f"{kind} {b.value(f'load {kind}, ptr {log}')}")
    minus = b.value(f"fneg {kind} {value}")
    parity = b.value(f"load i1, ptr {odd}")
    value = b.value(f"select i1 {parity}, {kind} {minus}, {kind} {value}")
    result = b.value(f"select i1 {_good(f, info[0])}, {kind} {value}, {kind} {float_literal(0.0, kind)}")
    return Number(out, dtype, Lanes(b).cast((result,), double, dtype))
