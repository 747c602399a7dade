"""Lowers operations on single numbers: Python's with Python's rules and checks, NumPy's with NumPy's."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import arrays, values
from autograph.compiler.elementwise import COMPARISONS, ELEMENT, UFUNC_OF, Lanes, NoRule, divmod_float, rooted
from autograph.compiler.ir import constant_float, float_literal
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Tagged,
    Value,
    alternatives,
    is_number,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation
from autograph.graph.types import Py, Scalar, Type

INT, FLOAT, BOOL = np.dtype(np.int64), np.dtype(float), np.dtype(bool)
ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "and",
    "or",
    "xor",
    "lshift",
    "rshift",
)
ADDED = (3, 5, 9)
"""Factors of products that take one addition of a shifted number: faster than one that tells of overflow."""
LIBM = "nounwind willreturn memory(none) nobuiltin"
"""Attributes of functions of the C library; LLVM must not replace them: pow(x, 3.0) is not x * x * x."""
TWO = ("2", float_literal(2.0))
"""The second power of a NumPy number is a product, as that of an array: the nearest float, which `pow` nearly
always gives, too."""
COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")


def is_scalar(value: Value) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, (bool, int, float, complex, np.generic))
    return isinstance(value, Number)


def is_array(value: Value) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, np.ndarray)
    return isinstance(value, (Memory, Elements, Lazy))


@rule(*ARITHMETIC)
def binary(f: FunctionLowering, operation: Operation, a: Value, b: Value) -> Value | None:
    name = operation.name
    if is_array(a) or is_array(b):
        return arrays.elementwise(f, operation, UFUNC_OF[name], [a, b])
    out = operation.outputs[0]._ag_type
    if name == "pow" and alternatives(out) == (Py(float), Py(int)) and is_scalar(a) and is_scalar(b):
        return _power_of_integers(f, operation, f.number(a), f.number(b))
    if name == "pow" and alternatives(out) == (Py(complex), Py(float)) and is_scalar(a) and is_scalar(b):
        return _power_of_reals(f, operation, f.number(a), f.number(b))
    if not (is_scalar(a) and is_scalar(b)) or scalar_dtype(out) is None:
        return None
    x, y = f.number(a), f.number(b)
    if isinstance(
        out, Py
    ):  # of Python's numbers, or of a complex and a float64, which is a float of Python's
        return python_arithmetic(f, operation, name, x, y)
    if x.weak and y.weak:
        return None
    return numpy_scalar(f, operation, UFUNC_OF[name], [x, y])


def _power_of_integers(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> Value | None:
    """x ** y for integers of Python: an integer, or a float where y is negative."""
    if not (x.weak and y.weak and x.dtype.kind in "bi" and y.dtype.kind in "bi"):
        return None
    x, y = _as_int(f, x), _as_int(f, y)
    b = f.b
    negative, nothing = b.value(f"icmp slt i64 {y.ir}, 0"), b.value(f"icmp eq i64 {x.ir}, 0")
    f.guard(b.value(f"xor i1 {b.value(f'and i1 {negative}, {nothing}')}, true"), operation)
    steps = b.value(f"select i1 {negative}, i64 0, i64 {y.ir}")
    pair = b.call("{ i64, i1 }", "ag_power", f"i64 {x.ir}", f"i64 {steps}")
    far = b.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
    f.guard(b.value(f"xor i1 {far}, true"), operation)
    whole = b.value(f"extractvalue {{ i64, i1 }} {pair}, 0")
    operands = (_double(f, x), _double(f, y))
    real = b.call("double", "pow", *(f"double {p}" for p in operands), attributes=LIBM)
    low = 0 if x.low is not None and x.low >= 0 else None
    numbers = Number(Py(float), FLOAT, (real,)), Number(Py(int), INT, (whole,), low)
    return Tagged((Py(float), Py(int)), numbers, b.value(f"select i1 {negative}, i8 0, i8 1"))


def _power_of_reals(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> Value | None:
    """x ** y for real numbers of Python, which may be complex where x is negative: then Python is asked."""
    from autograph.compiler import unions

    if not (x.weak and y.weak and x.dtype.kind in "bif" and y.dtype.kind in "bif"):
        return None
    b, types = f.b, (Py(complex), Py(float))
    p, q = _double(f, x), _double(f, y)
    result = b.call("double", "pow", f"double {p}", f"double {q}", attributes=LIBM)
    size = Lanes(b).intrinsic("fabs", "double", result)
    finite = b.value(f"fcmp olt double {size}, {float_literal(float('inf'))}")
    natural = b.value(f"fcmp oge double {p}, 0.0")
    quick, slow, after = b.label("quick"), b.label("slow"), b.label("both")
    heavy = b.heavy
    b.branch(b.value(f"and i1 {natural}, {finite}"), quick, slow, unlikely="else")
    b.start(slow)
    pointer = f.callback(operation)
    other = unions.unbox(f, pointer, types)
    f.decref(pointer)
    slow_end = b.block
    b.jump(after)
    b.start(quick)
    mine = unions.tagged(f, Number(Py(float), FLOAT, (result,)), types)
    b.jump(after)
    b.start(after)
    b.heavy = heavy
    return unions.join(f, [mine, other], [quick, slow_end])  # type: ignore[no-any-return]


@rule(*("i" + name for name in ARITHMETIC))
def inplace(f: FunctionLowering, operation: Operation, a: Value, b: Value) -> Value | None:
    if is_array(a):
        return arrays.inplace(f, operation, UFUNC_OF[operation.name[1:]], a, b)
    if is_array(b):
        return arrays.elementwise(f, operation, UFUNC_OF[operation.name[1:]], [a, b])
    out = operation.outputs[0]._ag_type
    if not (is_scalar(a) and is_scalar(b)) or scalar_dtype(out) is None:
        return None
    x, y = f.number(a), f.number(b)
    if isinstance(
        out, Py
    ):  # of Python's numbers, or of a complex and a float64, which is a float of Python's
        return python_arithmetic(f, operation, operation.name[1:], x, y)
    if x.weak and y.weak:
        return None
    return numpy_scalar(f, operation, UFUNC_OF[operation.name[1:]], [x, y])


@rule(*COMPARE)
def compare(f: FunctionLowering, operation: Operation, a: Value, b: Value) -> Value | None:
    if is_array(a) or is_array(b):
        return arrays.elementwise(f, operation, UFUNC_OF[operation.name], [a, b])
    if not (is_scalar(a) and is_scalar(b)):
        return None
    x, y = f.number(a), f.number(b)
    result = _compared(f, operation, x, y)
    return None if result is None else Number(operation.outputs[0]._ag_type, BOOL, (result,))


@rule("contains")
def contains(f: FunctionLowering, operation: Operation, x: Any, item: Any) -> Value | None:
    """Whether a number is among numbers; not where it could be a nan that is the same object."""
    items: Any = x if isinstance(x, tuple) else getattr(x, "virtual", getattr(x, "items", None))
    if items is None or not all(isinstance(v, Value) and is_scalar(v) for v in (item, *items)):
        return None
    tests = [_equal(f, operation, f.number(v), f.number(item)) for v in items]
    if any(t is None for t in tests):
        return None
    found = "false"
    for t in tests:
        found = t if found == "false" else f.b.value(f"or i1 {found}, {t}")  # type: ignore[assignment]
    return Number(operation.outputs[0]._ag_type, BOOL, (found,))


def _equal(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> str | None:
    """Whether two numbers are equal, or the same object; None where that is not told by their values."""
    kinds = {x.dtype.kind, y.dtype.kind}
    if kinds <= set("biu"):
        return _compared_integers(f, "eq", x, y)
    constants = [n.ir for n in (x, y) if n.dtype.kind == "f" and not n.ir.startswith("%")]
    if (
        "c" in kinds
        or (kinds == {"f"} and not constants)
        or any(math.isnan(constant_float(c)) for c in constants)
    ):
        return None
    lanes = Lanes(f.b)
    if x.weak and y.weak:
        whole = next((n for n in (x, y) if n.dtype.kind == "i"), None)
        if whole is not None and constants:
            value = constant_float(constants[0])
            if not (value.is_integer() and abs(value) < 2**63):
                return "false"
            return lanes.compare("eq", INT, whole.ir, str(int(value)))
        constant = None if whole is None else _constant(whole)
        if whole is not None and (constant is None or abs(constant) > 2**53):
            return None
        return lanes.compare("eq", FLOAT, _double(f, x), _double(f, y))
    found = arrays.resolve("equal", [x, y])
    if found is None or found[0].kind != "f":
        return None
    return lanes.compare("eq", found[0], *(arrays.convert(f, operation, n, found[0]).ir for n in (x, y)))


def _compared(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> str | None:
    lanes = Lanes(f.b)
    name = operation.name
    kinds = x.dtype.kind + y.dtype.kind
    if "c" in kinds:
        if name not in ("eq", "ne"):
            return None
        if not (x.weak and y.weak):
            resolved = arrays.resolve(UFUNC_OF[name], [x, y])
            if resolved is None:
                return None
            sides = [arrays.convert(f, operation, n, resolved[0]).parts for n in (x, y)]
            return ELEMENT[UFUNC_OF[name]](lanes, resolved[0], *sides)[0]
        if "i" in kinds:
            return None
        p, q = (lanes.cast(n.parts, n.dtype, np.dtype(complex)) for n in (x, y))
        return ELEMENT[UFUNC_OF[name]](lanes, np.dtype(complex), p, q)[0]
    if set(kinds) <= set("biu"):
        return _compared_integers(f, name, x, y)
    if x.weak and y.weak:
        if set(kinds) & set("iu"):
            return _int_with_float(f, operation, x, y)
        common = FLOAT
    else:
        resolved = arrays.resolve(UFUNC_OF[name], [x, y])
        if resolved is None:
            return None
        common = resolved[0]
    converted = [arrays.convert(f, operation, n, common) for n in (x, y)]
    return lanes.compare(name, common, *(c.ir for c in converted))


def _compared_integers(f: FunctionLowering, name: str, x: Number, y: Number) -> str:
    lanes = Lanes(f.b)
    unsigned = [n.dtype.kind == "u" and n.dtype.itemsize == 8 for n in (x, y)]
    if any(unsigned) and not all(n.dtype.kind in "ub" for n in (x, y)):
        wide = []
        for n in (x, y):
            how = "sext" if n.dtype.kind == "i" else "zext"
            wide.append(f.b.value(f"{how} {register(n.dtype)} {n.ir} to i128"))
        sign = "" if name in ("eq", "ne") else "s"
        return f.b.value(f"icmp {sign}{name} i128 {wide[0]}, {wide[1]}")
    if x.dtype == y.dtype and x.dtype.kind != "b":
        return lanes.compare(name, x.dtype, x.ir, y.ir)
    common = np.dtype(np.uint64) if any(unsigned) else INT
    operands = [lanes.cast(n.parts, n.dtype, common)[0] for n in (x, y)]
    return lanes.compare(name, common, *operands)


def _int_with_float(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> str:
    """Python compares an int with a float exactly: in double where the int is below 2^53 in size."""
    lanes, b = Lanes(f.b), f.b
    whole = x if x.dtype.kind == "i" else y
    operands = [lanes.cast(n.parts, n.dtype, FLOAT)[0] for n in (x, y)]
    if whole.low is not None and whole.high is not None and max(abs(whole.low), abs(whole.high)) <= 2**53:
        return lanes.compare(operation.name, FLOAT, *operands)
    shifted = b.value(f"add i64 {whole.ir}, {2**53}")
    small = b.value(f"icmp ule i64 {shifted}, {2**54}")
    return _joined(f, operation, small, lambda: (lanes.compare(operation.name, FLOAT, *operands),), BOOL)[0]


def compared_exactly(
    f: FunctionLowering, operation: Operation, name: str, x: Number, y: Number
) -> str | None:
    """Compares two real numbers as Python or NumPy does, without a call; None where a check may be needed."""
    lanes, b = Lanes(f.b), f.b
    kinds = x.dtype.kind + y.dtype.kind
    if set(kinds) <= set("biu"):
        return _compared_integers(f, name, x, y)
    if "c" in kinds:
        return None
    if not (x.weak and y.weak):
        resolved = arrays.resolve(UFUNC_OF[name], [x, y])
        if resolved is None:
            return None
        return lanes.compare(
            name, resolved[0], *(arrays.convert(f, operation, n, resolved[0]).ir for n in (x, y))
        )
    p, q = (_double(f, n) for n in (x, y))
    plain = lanes.compare(name, FLOAT, p, q)
    if kinds == "ff":
        return plain
    # the nearest float of an integer is on the right side of another float, or equal to it
    whole, real, swapped = (x, q, False) if x.dtype.kind in "bi" else (y, p, True)
    floor = b.call("i64", "llvm.fptosi.sat.i64.f64", f"double {real}")
    huge = b.value(f"fcmp oge double {real}, {float_literal(2.0**63)}")
    pair = (floor, _as_int(f, whole).ir) if swapped else (_as_int(f, whole).ir, floor)
    exact = lanes.compare(name, INT, *pair)
    beyond = {"lt": not swapped, "le": not swapped, "gt": swapped, "ge": swapped}[name]
    exact = b.value(f"select i1 {huge}, i1 {str(beyond).lower()}, i1 {exact}")
    return b.value(f"select i1 {b.value(f'fcmp oeq double {p}, {q}')}, i1 {exact}, i1 {plain}")


def _joined_alone(
    f: FunctionLowering, operation: Operation, fast: str, result: tuple[str, ...]
) -> tuple[str, ...]:
    """As `_joined`, without Python: floats that are not finite give others that are not, as in its `math`."""
    b = f.b
    numbers = [f.number(v) for v in map(f.value_of, operation.args) if is_scalar(v)]
    floats = [(register(n.dtype), p) for n in numbers if n.dtype.kind in "fc" for p in n.parts]
    if not floats:  # of integers: what Python does exactly
        f.compilation.asked.add(id(operation))
        f.guard(fast, operation)
        return result

    def some(test: Callable[[str, str], str]) -> str:
        found = "false"
        for kind, p in floats:
            found = b.value(f"or i1 {found}, {test(kind, p)}")
        return found

    def infinite(kind: str, p: str) -> str:
        return b.value(
            f"fcmp oeq {kind} {Lanes(b).intrinsic('fabs', kind, p)}, {float_literal(math.inf, kind)}"
        )

    nan, far = some(lambda kind, p: b.value(f"fcmp uno {kind} {p}, {p}")), some(infinite)
    undefined = b.value(f"fcmp uno double {result[0]}, {result[0]}")
    either = b.value(f"or i1 {nan}, {far}")
    fine = b.value(f"select i1 {undefined}, i1 {nan}, i1 {either}")
    f.guard(b.value(f"or i1 {fast}, {fine}"), operation)
    return result


def _joined(
    f: FunctionLowering, operation: Operation, fast: str, compute: Any, dtype: np.dtype[Any]
) -> tuple[str, ...]:
    """The quick way where `fast` holds, else the real operation's result."""
    b = f.b
    if f.plan.standalone:
        return _joined_alone(f, operation, fast, compute())
    quick, slow, after = b.label("quick"), b.label("slow"), b.label("both")
    b.branch(fast, quick, slow, unlikely="else")
    b.start(quick)
    one = compute()
    quick_end, heavy = b.block, b.heavy
    b.start(slow)
    out = operation.outputs[0]
    pointer = f.callback(operation)
    other = f._unbox_parts(pointer, out._ag_type, dtype)
    f.decref(pointer)
    slow_end = b.block
    b.jump(after)
    b.switch(quick_end)
    b.jump(after)
    b.start(after)
    b.heavy = heavy
    results = []
    for p, q in zip(one, other):
        phi = b.phi(register(dtype))
        phi.incoming = [(p, quick_end), (q, slow_end)]
        results.append(phi.name)
    return tuple(results)


# -- Python's numbers ----------------------------------------------------------------------------------------


def python_arithmetic(
    f: FunctionLowering, operation: Operation, name: str, x: Number, y: Number
) -> Value | None:
    out = operation.outputs[0]._ag_type
    assert isinstance(out, Py)
    kinds = x.dtype.kind + y.dtype.kind
    if out.cls is bool and kinds == "bb" and name in ("and", "or", "xor"):
        return Number(out, BOOL, (f.b.value(f"{name} i1 {x.ir}, {y.ir}"),))
    if out.cls is int:
        return _integer(f, operation, name, _as_int(f, x), _as_int(f, y))
    if out.cls is float and "c" not in kinds:
        return _float(f, operation, name, x, y)
    if out.cls is complex:
        return _complex(f, operation, name, x, y)
    return None


def _complex(f: FunctionLowering, operation: Operation, name: str, x: Number, y: Number) -> Value | None:
    from autograph.compiler import complexes

    lanes, z = Lanes(f.b), complexes.COMPLEX
    whole = [n.parts if n.dtype.kind == "c" else (_double(f, n),) for n in (x, y)]
    out = operation.outputs[0]._ag_type
    if name in ("add", "sub", "mul"):
        parts = complexes.python_sum(lanes, UFUNC_OF[name], *whole)
        return None if parts is None else Number(out, z, parts)
    if name == "pow":
        return _complex_power(f, operation, x, y)
    if name != "truediv" or sys.version_info >= (3, 14):
        return None
    p, q = (lanes.cast(n.parts, n.dtype, z) for n in (x, y))
    tests = [f.b.value(f"fcmp une double {part}, 0.0") for part in q]
    f.guard(f.b.value(f"or i1 {tests[0]}, {tests[1]}"), operation)
    return Number(out, z, complexes.quotient(lanes, z, p, q, python=True))


MOST_FACTORS = 16
"""The largest power of which the factors are written out."""


def _whole_exponent(y: Number) -> int | None:
    """A constant exponent of Python's that is a small natural number."""
    if not y.weak or y.dtype.kind not in "if" or y.ir.startswith("%"):
        return None
    value = _constant(y) if y.dtype.kind == "i" else constant_float(y.ir)
    return int(value) if value is not None and value in range(MOST_FACTORS + 1) else None


def _complex_power(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> Value | None:
    """z ** n as Python has it for small integers n: by squares, from 1 on (`c_powu` in complexobject.c)."""
    from autograph.compiler import complexes

    n = _whole_exponent(y)
    if n is None or x.dtype.kind != "c" or sys.version_info >= (3, 14):
        return None
    lanes, z = Lanes(f.b), complexes.COMPLEX
    result: tuple[str, ...] = (float_literal(1.0), float_literal(0.0))
    square: tuple[str, ...] = x.parts
    for bit in range(n.bit_length()):
        square = complexes.product(lanes, z, square, square, fused=False) if bit else square
        result = complexes.product(lanes, z, result, square, fused=False) if n >> bit & 1 else result
    for part in result if n else ():
        size = lanes.intrinsic("fabs", "double", part)
        f.guard(f.b.value(f"fcmp une double {size}, {float_literal(float('inf'))}"), operation)
    return Number(operation.outputs[0]._ag_type, z, result)


def _scalar_power(
    f: FunctionLowering, dtype: np.dtype[Any], x: tuple[str, ...], y: Number
) -> tuple[str, ...] | None:
    """A power of an integer or complex number of NumPy, of a small constant exponent (`npy_cpow`)."""
    from autograph.compiler import complexes

    n = _whole_exponent(y)
    if n is None or dtype.kind not in "iuc":
        return None
    if n == 0:
        return f.literal(1, dtype)
    lanes, b = Lanes(f.b), f.b

    def times(p: tuple[str, ...], q: tuple[str, ...]) -> tuple[str, ...]:
        if dtype.kind == "c":
            return complexes.product(lanes, dtype, p, q, fused=False)
        return ELEMENT["multiply"](lanes, dtype, p, q)

    if dtype.kind != "c" or n <= 3:
        result = x
        for _ in range(n - 1):
            result = times(x, result)
    else:
        result, square = f.literal(1, dtype), x
        for bit in range(n.bit_length()):
            square = times(square, square) if bit else square
            result = times(result, square) if n >> bit & 1 else result
    if dtype.kind != "c":
        return result
    kind, zero = register(dtype), f.literal(0, dtype)[0]
    tests = [b.value(f"fcmp oeq {kind} {part}, {zero}") for part in x]
    nothing = b.value(f"and i1 {tests[0]}, {tests[1]}")
    return tuple(b.value(f"select i1 {nothing}, {kind} {zero}, {kind} {part}") for part in result)


def _as_int(f: FunctionLowering, x: Number) -> Number:
    if x.dtype.kind != "b":
        return x
    parts = Lanes(f.b).cast(x.parts, x.dtype, INT)
    return Number(Py(int), INT, parts, 0, 1)


def _bounds(name: str, x: Number, y: Number) -> tuple[int | None, int | None]:
    if None in (x.low, x.high, y.low, y.high):
        if name == "add" and x.low is not None and y.low is not None:
            return (x.low + y.low if x.low >= 0 and y.low >= 0 else None), None
        if name == "sub":
            low = None if x.low is None or y.high is None else x.low - y.high
            return low, None if x.high is None or y.low is None else x.high - y.low
        if name == "mul" and x.low is not None and y.low is not None and x.low >= 0 and y.low >= 0:
            return x.low * y.low, None
        return None, None
    assert x.low is not None and x.high is not None and y.low is not None and y.high is not None
    if name == "add":
        return x.low + y.low, x.high + y.high
    if name == "sub":
        return x.low - y.high, x.high - y.low
    products = [p * q for p in (x.low, x.high) for q in (y.low, y.high)]
    return min(products), max(products)


def _never_overflows(name: str, x: Number, y: Number) -> bool:
    """Whether a sum or difference has 64 bits, whatever its operands are within their bounds."""
    a, b = (-(2**63) if n.low is None else n.low for n in (x, y))
    c, d = (2**63 - 1 if n.high is None else n.high for n in (x, y))
    low, high = (a + b, c + d) if name == "add" else (a - d, c - b)
    return name != "mul" and _fits(low, high)


def _fits(low: int | None, high: int | None) -> bool:
    return low is not None and high is not None and low >= -(2**63) and high < 2**63


def _integer(f: FunctionLowering, operation: Operation, name: str, x: Number, y: Number) -> Value | None:
    b = f.b
    out = operation.outputs[0]._ag_type

    def number(ir: str, low: int | None = None, high: int | None = None) -> Number:
        return Number(out, INT, (ir,), low, high)

    if f.shared is not None and name in ("add", "sub", "mul"):
        x, y = f.shared.front.bounded(x), f.shared.front.bounded(y)
    line = None if f.quick is None else f.quick.combined(name, x, y)
    fits = f"{name} i64" if f.taken else f"{name} nsw i64"  # what is not taken may be wrong, but no poison
    if line is not None:
        low, _ = _bounds(name, x, y)
        return Number(out, INT, (b.value(f"{fits} {x.ir}, {y.ir}"),), low, None, line)
    if name in ("add", "sub", "mul"):
        low, high = _bounds(name, x, y)
        if id(operation) in f.plain_adds or _fits(low, high) or _never_overflows(name, x, y):
            if name != "mul" and y.ir.lstrip("-").isdigit() and x.ir.startswith("%") and not f.taken:
                ir = str(f.plus(x.ir, int(y.ir) if name == "add" else -int(y.ir)))
            else:
                ir = b.value(f"{fits} {x.ir}, {y.ir}")
            return number(ir, low, high if high is not None and high < 2**63 else None)
        if name == "mul" and (_constant(x) in ADDED or _constant(y) in ADDED):
            return _by_sum(f, operation, *((x, y) if _constant(y) in ADDED else (y, x)))
        pair = b.call("{ i64, i1 }", f"llvm.s{name}.with.overflow.i64", f"i64 {x.ir}", f"i64 {y.ir}")
        over = b.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
        f.guard(b.value(f"xor i1 {over}, true"), operation)
        return number(
            b.value(f"extractvalue {{ i64, i1 }} {pair}, 0"), low if low is not None and low >= 0 else None
        )
    if name in ("floordiv", "mod"):
        return _integer_division(f, operation, name, x, y, number)
    if name in ("and", "or", "xor"):
        low = 0 if name == "and" and ((x.low or -1) >= 0 or (y.low is not None and y.low >= 0)) else None
        if name == "and" and ((x.low is not None and x.low >= 0) or (y.low is not None and y.low >= 0)):
            low = 0
        return number(b.value(f"{name} i64 {x.ir}, {y.ir}"), low)
    if name == "rshift":
        f.guard(b.value(f"icmp sge i64 {y.ir}, 0") if y.low is None or y.low < 0 else "true", operation)
        big = b.value(f"icmp ugt i64 {y.ir}, 63")
        count = b.value(f"select i1 {big}, i64 63, i64 {y.ir}")
        return number(b.value(f"ashr i64 {x.ir}, {count}"), 0 if x.low is not None and x.low >= 0 else None)
    if name == "lshift":
        near = b.value(f"icmp ult i64 {y.ir}, 64")
        nothing = b.value(f"icmp eq i64 {x.ir}, 0")
        natural = b.value(f"icmp sge i64 {y.ir}, 0")
        f.guard(b.value(f"or i1 {near}, {b.value(f'and i1 {nothing}, {natural}')}"), operation)
        count = b.value(f"select i1 {near}, i64 {y.ir}, i64 0")
        moved = b.value(f"shl i64 {x.ir}, {count}")
        back = b.value(f"ashr i64 {moved}, {count}")
        f.guard(b.value(f"icmp eq i64 {back}, {x.ir}"), operation)
        return number(moved, 0 if x.low is not None and x.low >= 0 else None)
    if name == "pow":
        return _integer_power(f, operation, x, y)
    return None


def _constant(x: Number) -> int | None:
    return x.low if x.low == x.high else None


def _by_sum(f: FunctionLowering, operation: Operation, x: Number, factor: Number) -> Number:
    """A product with one of a few small odd factors; the check needs no wait for the product."""
    assert factor.low is not None
    b, k = f.b, factor.low
    limit = (2**63 - 1) // k
    positive = x.low is not None and x.low >= 0
    place = x.ir if positive else b.value(f"add i64 {x.ir}, {limit}")
    f.guard(b.value(f"icmp ule i64 {place}, {limit if positive else 2 * limit}"), operation)
    product = b.value(f"mul {'' if f.taken else 'nsw '}i64 {x.ir}, {k}")
    low = x.low * k if positive and x.low is not None else -limit * k
    return Number(operation.outputs[0]._ag_type, INT, (product,), low, limit * k)


def _integer_power(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> Value | None:
    if y.low is None or y.low != y.high or not 0 <= y.low <= 64:
        return None
    out = operation.outputs[0]._ag_type
    b = f.b
    exponent = y.low
    if exponent == 0:
        return Number(out, INT, ("1",), 1, 1)
    result, base = "", x.ir

    def product(p: str, q: str) -> str:
        pair = b.call("{ i64, i1 }", "llvm.smul.with.overflow.i64", f"i64 {p}", f"i64 {q}")
        over = b.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
        f.guard(b.value(f"xor i1 {over}, true"), operation)
        return b.value(f"extractvalue {{ i64, i1 }} {pair}, 0")

    while True:
        if exponent & 1:
            result = base if not result else product(result, base)
        exponent >>= 1
        if not exponent:
            break
        base = product(base, base)
    return Number(out, INT, (result,), 0 if y.low % 2 == 0 or (x.low is not None and x.low >= 0) else None)


def _integer_division(
    f: FunctionLowering, operation: Operation, name: str, x: Number, y: Number, number: Any
) -> Value:
    b = f.b
    if y.low is not None and y.low == y.high and y.low > 0:
        divisor = y.low
        if divisor & (divisor - 1) == 0:
            if name == "mod":
                return number(b.value(f"and i64 {x.ir}, {divisor - 1}"), 0, divisor - 1)  # type: ignore[no-any-return]
            shift = divisor.bit_length() - 1
            low = None if x.low is None else x.low >> shift
            high = None if x.high is None else x.high >> shift
            return number(b.value(f"ashr i64 {x.ir}, {shift}") if shift else x.ir, low, high)  # type: ignore[no-any-return]
    elif y.low is not None and y.low >= 0:
        if y.low == 0:
            f.guard(b.value(f"icmp ne i64 {y.ir}, 0"), operation)
    else:
        f.guard(b.value(f"icmp ne i64 {y.ir}, 0"), operation)
        lowest = b.value(f"icmp eq i64 {x.ir}, {-(2**63)}")
        minus = b.value(f"icmp eq i64 {y.ir}, -1")
        both = b.value(f"and i1 {lowest}, {minus}")
        if name == "floordiv":
            f.guard(b.value(f"xor i1 {both}, true"), operation)
        else:
            safe = b.value(f"select i1 {both}, i64 0, i64 {x.ir}")
            x = Number(x.type, INT, (safe,), x.low, x.high)
    positive = y.low is not None and y.low >= 0  # 0 has raised
    natural = positive and x.low is not None and x.low >= 0
    q = b.value(f"{'udiv' if natural else 'sdiv'} i64 {x.ir}, {y.ir}")
    product = b.value(f"mul i64 {q}, {y.ir}")
    r = b.value(f"sub i64 {x.ir}, {product}")
    high = y.high - 1 if y.high is not None and positive else None
    if natural:
        return number(r, 0, high) if name == "mod" else number(q, 0, x.high)  # type: ignore[no-any-return]
    if positive:
        adjust = b.value(f"icmp slt i64 {r}, 0")
    else:
        signs = b.value(f"xor i64 {r}, {y.ir}")
        differ = b.value(f"icmp slt i64 {signs}, 0")
        some = b.value(f"icmp ne i64 {r}, 0")
        adjust = b.value(f"and i1 {differ}, {some}")
    if name == "mod":
        moved = b.value(f"add i64 {r}, {y.ir}")
        return number(b.value(f"select i1 {adjust}, i64 {moved}, i64 {r}"), 0 if positive else None, high)  # type: ignore[no-any-return]
    one = b.value(f"zext i1 {adjust} to i64")
    return number(b.value(f"sub i64 {q}, {one}"))  # type: ignore[no-any-return]


def _double(f: FunctionLowering, x: Number) -> str:
    return Lanes(f.b).cast(x.parts, x.dtype, FLOAT)[0]


def _float(f: FunctionLowering, operation: Operation, name: str, x: Number, y: Number) -> Value | None:
    b, lanes = f.b, Lanes(f.b)
    out = operation.outputs[0]._ag_type
    if name == "truediv" and x.dtype.kind in "ib" and y.dtype.kind in "ib":
        return _int_quotient(f, operation, _as_int(f, x), _as_int(f, y))
    p, q = _double(f, x), _double(f, y)
    code = {"add": "fadd", "sub": "fsub", "mul": "fmul"}.get(name)
    if code:
        return Number(out, FLOAT, (b.value(f"{code} double {p}, {q}"),))
    if name in ("truediv", "floordiv", "mod"):
        if not q.startswith("0x") or float_literal(0.0) == q or float_literal(-0.0) == q:
            f.guard(b.value(f"fcmp one double {q}, 0.0"), operation, f"fcmp uno double {q}, 0.0")  # one jump
        if name == "truediv":
            return Number(out, FLOAT, (b.value(f"fdiv double {p}, {q}"),))
        pair = divmod_float(lanes, FLOAT, p, q)
        return Number(out, FLOAT, (pair[0 if name == "floordiv" else 1],))
    if name == "pow":
        result = b.call("double", "pow", f"double {p}", f"double {q}", attributes=LIBM)
        size = lanes.intrinsic("fabs", "double", result)
        finite = b.value(f"fcmp olt double {size}, {float_literal(float('inf'))}")
        return Number(out, FLOAT, _joined(f, operation, finite, lambda: (result,), FLOAT))
    return None


def _int_quotient(f: FunctionLowering, operation: Operation, x: Number, y: Number) -> Value:
    """int / int is the nearest float of the exact quotient: division in double where both are exact there."""
    b, lanes = f.b, Lanes(f.b)
    if y.low is None or (y.low <= 0 and not (y.high is not None and y.high < 0)):
        f.guard(b.value(f"icmp ne i64 {y.ir}, 0"), operation)
    p, q = _double(f, x), _double(f, y)
    tests = []
    for n in (x, y):
        if n.low is not None and n.high is not None and max(abs(n.low), abs(n.high)) <= 2**53:
            continue
        shifted = b.value(f"add i64 {n.ir}, {2**53}")
        tests.append(b.value(f"icmp ule i64 {shifted}, {2**54}"))
    out = operation.outputs[0]._ag_type
    if not tests:
        return Number(out, FLOAT, (lanes.op("fdiv", "double", p, q),))
    fast = tests[0] if len(tests) == 1 else b.value(f"and i1 {tests[0]}, {tests[1]}")
    parts = _joined(f, operation, fast, lambda: (lanes.op("fdiv", "double", p, q),), FLOAT)
    return Number(out, FLOAT, parts)


@rule("neg", "pos", "invert", "abs")
def unary(f: FunctionLowering, operation: Operation, a: Value) -> Value | None:
    name = operation.name
    if is_array(a):
        return arrays.elementwise(f, operation, UFUNC_OF[name], [a])
    out = operation.outputs[0]._ag_type
    if not is_scalar(a) or scalar_dtype(out) is None:
        return None
    x = f.number(a)
    if not x.weak:
        return numpy_scalar(f, operation, UFUNC_OF[name], [x])
    b = f.b
    if x.dtype.kind in "ib":
        x = _as_int(f, x)
        if name == "pos":
            return Number(out, INT, x.parts, x.low, x.high)
        if name == "invert":
            return Number(out, INT, (b.value(f"xor i64 {x.ir}, -1"),))
        if x.low is None or x.low <= -(2**63):
            f.guard(b.value(f"icmp ne i64 {x.ir}, {-(2**63)}"), operation)
        minus = b.value(f"sub nsw i64 0, {x.ir}")
        if name == "neg":
            bounds = (None, None) if x.high is None or x.low is None else (-x.high, -x.low)
            return Number(out, INT, (minus,), *bounds)
        negative = b.value(f"icmp slt i64 {x.ir}, 0")
        return Number(out, INT, (b.value(f"select i1 {negative}, i64 {minus}, i64 {x.ir}"),), 0)
    if x.dtype.kind == "f":
        if name == "pos":
            return x
        if name == "neg":
            return Number(out, FLOAT, (b.value(f"fneg double {x.ir}"),))
        return Number(out, FLOAT, (Lanes(b).intrinsic("fabs", "double", x.ir),))
    if name == "neg" and x.dtype.kind == "c":
        return Number(out, x.dtype, tuple(b.value(f"fneg double {p}") for p in x.parts))
    if name == "abs" and x.dtype.kind == "c":
        from autograph.compiler import complexes

        size = complexes.absolute(Lanes(b), *x.parts)
        finite = b.value(f"fcmp olt double {size}, {float_literal(float('inf'))}")
        return Number(out, FLOAT, _joined(f, operation, finite, lambda: (size,), FLOAT))
    return None


@rule("not", "bool")
def truth(f: FunctionLowering, operation: Operation, a: Value) -> Value | None:
    if not is_scalar(a):
        from autograph.compiler import containers

        return containers.truth(f, operation, a)
    out = operation.outputs[0]._ag_type
    x = f.number(a)
    test = Lanes(f.b).cast(x.parts, x.dtype, BOOL)[0]
    if operation.name == "not":
        test = f.b.value(f"xor i1 {test}, true")
    return Number(out, BOOL, (test,))


@rule("float")
def to_float(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    if len(args) != 1 or not is_scalar(args[0]):
        return None
    x = f.number(args[0])
    if x.dtype.kind == "c":
        return None
    return Number(operation.outputs[0]._ag_type, FLOAT, (_double(f, x),))


@rule("int", "index", "math.trunc", "math.floor", "math.ceil", "round")
def to_int(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    out = operation.outputs[0]._ag_type
    if len(args) != 1 or not is_scalar(args[0]) or out != Py(int):
        return None
    x = f.number(args[0])
    b = f.b
    by_float = operation.name in ("math.floor", "math.ceil") and not x.weak  # NumPy's integers have no rule
    if x.dtype.kind in "biu" and not by_float:
        if x.dtype.kind == "u" and x.dtype.itemsize == 8:
            f.guard(b.value(f"icmp sge i64 {x.ir}, 0"), operation)
        low = 0 if x.dtype.kind in "ub" else x.low
        return Number(out, INT, Lanes(b).cast(x.parts, x.dtype, INT), low, x.high)
    if x.dtype.kind not in "biuf":
        return None
    lanes = Lanes(b)
    value = _double(f, x)
    rounding = {"math.floor": "floor", "math.ceil": "ceil", "round": "roundeven"}.get(operation.name)
    if rounding:
        value = lanes.intrinsic(rounding, "double", value)
    least = b.value(f"fcmp oge double {value}, {float_literal(-(2.0**63))}")
    most = b.value(f"fcmp olt double {value}, {float_literal(2.0**63)}")
    f.guard(b.value(f"and i1 {least}, {most}"), operation)
    return Number(out, INT, (b.value(f"fptosi double {value} to i64"),))


# -- NumPy scalars -------------------------------------------------------------------------------------------


def numpy_scalar(f: FunctionLowering, operation: Operation, name: str, numbers: list[Number]) -> Value | None:
    """A ufunc on scalars, at least one of them NumPy's."""
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    found = arrays.resolve(name, numbers)
    if found is None or dtype is None or name not in ELEMENT:
        return None
    if name == "power" and found[0].kind != "f":
        base = arrays.convert(f, operation, numbers[0], found[0])
        parts = _scalar_power(f, found[0], base.parts, numbers[1]) if found[-1] == dtype else None
        return None if parts is None else Number(out, dtype, parts)
    line = None
    if f.quick is not None and name in LINES and dtype == INT and all(n.dtype == INT for n in numbers):
        line = f.quick.may_be(LINES[name], *numbers)
    if name in COMPARISONS and all(n.dtype.kind in "biu" for n in numbers):
        return Number(out, BOOL, (_compared_integers(f, COMPARISONS[name], *numbers),))
    *inputs, result = found
    if result != dtype or len(set(inputs)) > 1:
        return None
    converted = [arrays.convert(f, operation, n, d) for n, d in zip(numbers, inputs)]
    if any(c is None for c in converted):
        return None
    try:
        if name == "power" and register(inputs[0]) in ("float", "double") and numbers[1].ir in TWO:
            parts = ELEMENT["square"](Lanes(f.b), inputs[0], converted[0].parts)
        elif name == "power" and inputs[0] == FLOAT:
            parts = (f.b.call("double", "pow", *(f"double {c.ir}" for c in converted), attributes=LIBM),)
        elif name == "multiply" and inputs[0].kind == "c" and operation.name in ("mul", "imul"):
            from autograph.compiler import complexes

            a, b = (c.parts for c in converted)  # the operator rounds once more than the ufunc
            parts = complexes.product(Lanes(f.b), inputs[0], a, b, fused=False)
        else:
            parts = ELEMENT[name](Lanes(f.b), inputs[0], *(c.parts for c in converted))
    except NoRule:
        return None
    if operation.name == "np.power" and arrays.ufunc_roots():
        x, y = (c.parts for c in converted)
        parts = rooted(Lanes(f.b), inputs[0], x, y, parts)
    return Number(out, dtype, parts, line=line)


LINES = {"add": "add", "subtract": "sub", "multiply": "mul"}


def _ufunc_rule(f: FunctionLowering, operation: Operation, *args: Value, **options: Value) -> Value | None:
    name = operation.name[3:]
    if options or len(args) != getattr(np, name).nin:
        return None
    if any(is_array(a) for a in args):
        return arrays.elementwise(f, operation, name, list(args))
    if not all(is_scalar(a) for a in args):
        return None
    return numpy_scalar(f, operation, name, [f.number(a) for a in args])


def _register_ufuncs() -> None:
    for name in ELEMENT:
        if isinstance(getattr(np, name, None), np.ufunc):
            rule(f"np.{name}")(_ufunc_rule)


_register_ufuncs()


@rule(
    *(
        f"np.{d}"
        for d in (
            "float64",
            "float32",
            "int64",
            "int32",
            "int16",
            "int8",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "bool",
        )
    )
)
def new_scalar(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if len(args) != 1 or not is_scalar(args[0]) or not isinstance(out, Scalar) or dtype is None:
        return None
    x = f.number(args[0])
    if x.dtype.kind == "c":
        return None
    if x.weak and dtype.kind in "iu" and x.dtype.kind != "i":
        return None
    if x.weak and dtype.kind in "iu":
        converted = arrays.convert(f, operation, x, dtype)
        return None if converted is None else Number(out, dtype, converted.parts)
    if x.dtype.kind == "f" and dtype.kind in "iu":
        return None
    return Number(out, dtype, Lanes(f.b).cast(x.parts, x.dtype, dtype))


# -- math ----------------------------------------------------------------------------------------------------

_LIBM = """acos acosh asin asinh atan atan2 atanh cos cosh erf erfc exp expm1 fmod log1p sin sinh sqrt tan
tanh copysign fabs pow log log10 log2 exp2 cbrt radians degrees"""


@rule(*(f"math.{name}" for name in _LIBM.split()))
def mathematics(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    """The C library's function, as CPython calls it; where the result is not finite, Python's is asked."""
    name = operation.name[5:]
    out = operation.outputs[0]._ag_type
    if out != Py(float) or not all(is_scalar(a) for a in args) or (name == "log" and len(args) != 1):
        return None
    numbers = [f.number(a) for a in args]
    if any(n.dtype.kind == "c" for n in numbers):
        return None
    if name in ("log", "log10", "log2") and any(n.dtype.kind in "iu" and not n.weak for n in numbers):
        return None
    b, lanes = f.b, Lanes(f.b)
    operands = [_double(f, n) for n in numbers]
    if name == "fabs":
        return Number(out, FLOAT, (lanes.intrinsic("fabs", "double", operands[0]),))
    if name in ("radians", "degrees"):
        factor = math.pi / 180.0 if name == "radians" else 180.0 / math.pi
        return Number(out, FLOAT, (lanes.op("fmul", "double", operands[0], float_literal(factor)),))
    if name == "copysign":
        return Number(out, FLOAT, (lanes.intrinsic("copysign", "double", *operands),))
    if name == "sqrt":
        f.guard(b.value(f"fcmp uge double {operands[0]}, 0.0"), operation)
        return Number(out, FLOAT, (lanes.intrinsic("sqrt", "double", operands[0]),))
    result = b.call("double", name, *(f"double {o}" for o in operands), attributes=LIBM)
    size = lanes.intrinsic("fabs", "double", result)
    finite = b.value(f"fcmp olt double {size}, {float_literal(float('inf'))}")
    return Number(out, FLOAT, _joined(f, operation, finite, lambda: (result,), FLOAT))


@rule("math.gcd")
def greatest_divisor(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    if len(args) != 2 or not all(is_scalar(a) for a in args):
        return None
    numbers = [f.number(a) for a in args]
    if any(n.dtype != INT for n in numbers):
        return None
    b = f.b
    sizes = [b.call("i64", "llvm.abs.i64", f"i64 {n.ir}", "i1 false") for n in numbers]
    head, turn, after = b.label("gcd"), b.label("rest"), b.label("divisor")
    before = b.block
    b.jump(head)
    b.start(head)
    x, y = b.phi("i64"), b.phi("i64")
    x.incoming.append((sizes[0], before))
    y.incoming.append((sizes[1], before))
    b.branch(b.value(f"icmp ne i64 {y.name}, 0"), turn, after)
    b.start(turn)
    rest = b.value(f"urem i64 {x.name}, {y.name}")
    x.incoming.append((y.name, turn))
    y.incoming.append((rest, turn))
    b.jump(head)
    b.start(after)
    f.guard(b.value(f"icmp sge i64 {x.name}, 0"), operation)
    return Number(operation.outputs[0]._ag_type, INT, (x.name,), 0)


@rule("int.bit_length", "int.bit_count")
def bits(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    """The bits of the absolute value: up to the first one that is set, or all that are."""
    if not is_scalar(x) or not f.number(x).weak or f.number(x).dtype.kind not in "bi":
        return None
    b = f.b
    size = b.call("i64", "llvm.abs.i64", f"i64 {_as_int(f, f.number(x)).ir}", "i1 false")
    if operation.name == "int.bit_count":
        count = b.call("i64", "llvm.ctpop.i64", f"i64 {size}")
    else:
        count = b.value(f"sub nsw i64 64, {b.call('i64', 'llvm.ctlz.i64', f'i64 {size}', 'i1 false')}")
    return Number(operation.outputs[0]._ag_type, INT, (count,), 0, 64)


@rule("math.isqrt")
def whole_root(f: FunctionLowering, operation: Operation, a: Value) -> Value | None:
    if not is_scalar(a) or f.number(a).dtype != INT:
        return None
    b, x = f.b, f.number(a)

    def root() -> tuple[str]:
        near = Lanes(b).intrinsic("sqrt", "double", _double(f, x))
        guess = b.value(f"fptosi double {near} to i64")
        square = b.value(f"mul i64 {guess}, {guess}")
        above = b.value(f"zext i1 {b.value(f'icmp ugt i64 {square}, {x.ir}')} to i64")
        guess = b.value(f"sub i64 {guess}, {above}")
        following = b.value(f"add i64 {guess}, 1")
        square = b.value(f"mul i64 {following}, {following}")
        below = b.value(f"zext i1 {b.value(f'icmp ule i64 {square}, {x.ir}')} to i64")
        return (b.value(f"add i64 {guess}, {below}"),)

    fits = b.value(f"icmp ult i64 {x.ir}, {2**62}")
    return Number(operation.outputs[0]._ag_type, INT, _joined(f, operation, fits, root, INT), 0)


@rule("math.isnan", "math.isinf", "math.isfinite")
def classify(f: FunctionLowering, operation: Operation, a: Value) -> Value | None:
    if not is_scalar(a):
        return None
    x = f.number(a)
    if x.dtype.kind == "c":
        return None
    parts = ELEMENT[operation.name[5:]](Lanes(f.b), FLOAT, (_double(f, x),))
    return Number(operation.outputs[0]._ag_type, BOOL, parts)


# -- builtins ------------------------------------------------------------------------------------------------


@rule("min", "max")
def extremum(f: FunctionLowering, operation: Operation, *args: Value, **options: Value) -> Value | None:
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if len(args) == 1 and not options and is_array(args[0]):
        from autograph.compiler import members

        return members.extremum(f, operation, args[0])
    if options or len(args) < 2 or not all(is_scalar(a) or isinstance(a, Tagged) for a in args):
        return None
    if values.alternatives(out):
        from autograph.compiler import unions

        return unions.extremum(f, operation, [a if isinstance(a, Tagged) else f.number(a) for a in args])
    if dtype is None or dtype.kind == "c" or not all(is_scalar(a) for a in args):
        return None
    numbers = [f.number(a) for a in args]
    if any(n.type != out for n in numbers):
        return None
    return _extremum(f, operation, out, dtype, numbers)


def _extremum(
    f: FunctionLowering, operation: Operation, out: Type, dtype: np.dtype[Any], numbers: list[Number]
) -> Number:
    b, lanes = f.b, Lanes(f.b)
    best = numbers[0]
    for other in numbers[1:]:
        predicate = "lt" if operation.name == "min" else "gt"
        better = lanes.compare(predicate, dtype, other.ir, best.ir)
        ir = b.value(f"select i1 {better}, {register(dtype)} {other.ir}, {register(dtype)} {best.ir}")
        low = None
        if best.low is not None and other.low is not None:
            low = (min if operation.name == "min" else max)(best.low, other.low)
        best = Number(out, dtype, (ir,), low)
    return best


@rule("complex", "np.complex128", "np.complex64")
def new_complex(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    out = operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if dtype is None or not args or len(args) > 2 or not all(is_scalar(a) for a in args):
        return None
    numbers = [f.number(a) for a in args]
    if len(numbers) == 1:
        return Number(out, dtype, Lanes(f.b).cast(numbers[0].parts, numbers[0].dtype, dtype))
    if operation.name != "complex" or any(n.dtype.kind == "c" for n in numbers):
        return None
    return Number(out, dtype, (_double(f, numbers[0]), _double(f, numbers[1])))


@rule("complex.real", "complex.imag", "ndarray.real", "ndarray.imag", "np.real", "np.imag")
def part_of(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    """A part of a number, or the view of an array that has this part of its elements."""
    out = operation.outputs[0]._ag_type
    at = 0 if operation.name.endswith("real") else 1
    if is_scalar(x) and scalar_dtype(out) is not None:
        n = f.number(x)
        if n.dtype.kind == "c":
            return Number(out, values.part(n.dtype), (n.parts[at],))
        return Number(out, n.dtype, n.parts) if at == 0 and scalar_dtype(out) == n.dtype else None
    if not isinstance(x, (Memory, Lazy, Elements)) or x.dtype.kind != "c":
        return None
    return arrays.part_view(f, x, at)


@rule("complex.conjugate")
def python_conjugate(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    n = f.number(x)
    if n.dtype.kind != "c":
        return None
    return Number(n.type, n.dtype, (n.parts[0], f.b.value(f"fneg double {n.parts[1]}")))


@rule("ndarray.conj", "ndarray.conjugate")
def conjugate(f: FunctionLowering, operation: Operation, x: Value) -> Value | None:
    if is_array(x):
        if getattr(x, "dtype", BOOL).kind != "c":
            return None  # the array itself
        return arrays.elementwise(f, operation, "conjugate", [x])
    return numpy_scalar(f, operation, "conjugate", [f.number(x)]) if is_scalar(x) else None


@rule("range_length")
def range_length(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    if not all(is_scalar(a) for a in args):
        return None
    numbers = [f.number(a) for a in args]
    if any(n.dtype.kind not in "iu" for n in numbers):
        return None
    b = f.b
    whole = [Lanes(b).cast(n.parts, n.dtype, INT)[0] for n in numbers]
    start, stop, step = ("0", whole[0], "1") if len(whole) == 1 else (*whole, "1")[:3]
    out = operation.outputs[0]._ag_type
    first = numbers[0].low if len(whole) > 1 else 0
    if step in ("1", "-1"):
        turns = f.dims.minus(stop, start) if step == "1" else f.dims.minus(start, stop)
        bounds = None if turns is None else f.dims.bounds(turns)
        if bounds is not None and bounds[0] >= 0:
            return Number(out, INT, (str(turns),), *bounds)
    if step == "1" and first is not None and first >= 0:
        end = b.call("i64", "llvm.smax.i64", f"i64 {stop}", f"i64 {start}")
        return Number(out, INT, (end if start == "0" else b.value(f"sub nsw i64 {end}, {start}"),), 0)
    if step == "1":
        more = b.value(f"icmp sgt i64 {stop}, {start}")
        pair = b.call("{ i64, i1 }", "llvm.ssub.with.overflow.i64", f"i64 {stop}", f"i64 {start}")
        over = b.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
        bad = b.value(f"and i1 {more}, {over}")
        f.guard(b.value(f"xor i1 {bad}, true"), operation)
        difference = b.value(f"extractvalue {{ i64, i1 }} {pair}, 0")
        return Number(out, INT, (b.value(f"select i1 {more}, i64 {difference}, i64 0"),), 0)
    fine = b.value(f"icmp ne i64 {step}, 0")
    for n in (start, stop):
        shifted = b.value(f"add i64 {n}, {2**61}")
        near = b.value(f"icmp ule i64 {shifted}, {2**62}")
        fine = b.value(f"and i1 {fine}, {near}")

    def count() -> tuple[str]:
        up = b.value(f"icmp sgt i64 {step}, 0")
        forward, backward = b.value(f"sub i64 {stop}, {start}"), b.value(f"sub i64 {start}, {stop}")
        distance = b.value(f"select i1 {up}, i64 {forward}, i64 {backward}")
        size = b.call("i64", "llvm.abs.i64", f"i64 {step}", "i1 false")
        some = b.value(f"icmp sgt i64 {distance}, 0")
        less = b.value(f"sub i64 {distance}, 1")
        turns = b.value(f"add i64 {b.value(f'udiv i64 {less}, {size}')}, 1")
        return (b.value(f"select i1 {some}, i64 {turns}, i64 0"),)

    return Number(out, INT, _joined(f, operation, fine, count, INT), 0)


@rule("range")
def new_range(f: FunctionLowering, operation: Operation, *args: Value) -> Value | None:
    """A range that nobody looks at, as the loop over it counts itself: only its step is checked."""
    if f.uses.get(id(operation.outputs[0])) or not all(is_scalar(a) for a in args):
        return None
    numbers = [f.number(a) for a in args]
    if any(n.dtype.kind not in "iub" for n in numbers) or not 1 <= len(numbers) <= 3:
        return None
    if len(numbers) == 3:
        step = numbers[2]
        f.guard(f.b.value(f"icmp ne {register(step.dtype)} {step.ir}, 0"), operation)
    return Known(None)


@rule("range_item")
def range_item(
    f: FunctionLowering, operation: Operation, i: Value, start: Value, step: Value
) -> Value | None:
    if not all(is_scalar(a) for a in (i, start, step)):
        return None
    at, first, by = (f.number(a) for a in (i, start, step))
    b = f.b
    line = None
    if f.quick is not None and all(n.dtype == INT for n in (at, first, by)):
        product = f.quick.combined("mul", at, by)
        if product is not None:
            line = f.quick.combined("add", Number(Py(int), INT, ("",), None, None, product), first)
    whole = [Lanes(b).cast(n.parts, n.dtype, INT)[0] for n in (at, first, by)]
    offset = whole[0] if whole[2] == "1" else b.value(f"mul nsw i64 {whole[0]}, {whole[2]}")
    ir = offset if whole[1] == "0" else b.value(f"add nsw i64 {offset}, {whole[1]}")
    low = None
    if at.low is not None and first.low is not None and by.low is not None and by.low >= 0:
        low = first.low + at.low * by.low
    elif f.dims.natural(ir):
        low = 0
    high = None
    if first.high is not None and by.high is not None and by.high <= 0 and at.low is not None and at.low >= 0:
        high = first.high + at.low * by.high
    return Number(operation.outputs[0]._ag_type, INT, (ir,), low, high, line)


@rule("is")
def identity(f: FunctionLowering, operation: Operation, a: Value, b: Value) -> Value | None:
    left, right = operation.args
    if left is right:
        return Known(True)
    if is_scalar(a) or is_scalar(b) or isinstance(a, Tagged) or isinstance(b, Tagged):
        from autograph.compiler.lowering import Unsupported

        raise Unsupported("the identity of numbers is asked for")
    return None


@rule("check_bound")
def check_bound(f: FunctionLowering, operation: Operation, value: Value, *rest: Value) -> Value | None:
    return value if isinstance(value, (Number, Tagged, Memory, Elements)) else None


__all__ = ["is_array", "is_number", "is_scalar"]
