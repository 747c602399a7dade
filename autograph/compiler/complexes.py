"""Complex numbers: what elementwise functions and Python's operators do to their two parts.

Division is Smith's, as in NumPy and CPython; exp, log, powers and the like are the C library's, as in NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import machine
from autograph.compiler.elementwise import COST, ELEMENT, Lanes, NoRule, Parts, Rule, mathematical
from autograph.compiler.ir import Builder, float_literal
from autograph.compiler.values import part, register

INT, FLOAT, COMPLEX = np.dtype(np.int64), np.dtype(float), np.dtype(complex)


def _extended(name: str, cost: int = 1) -> Callable[[Rule], Rule]:
    """Registers the rule of a function for complex numbers; others have the rule that is there."""

    def add(fn: Rule) -> Rule:
        old = ELEMENT.get(name)

        def rule(lanes: Lanes, dtype: np.dtype[Any], *args: Parts) -> Parts:
            if dtype.kind == "c":
                return fn(lanes, dtype, *args)
            if old is None:
                raise NoRule
            return old(lanes, dtype, *args)

        ELEMENT[name] = rule
        COST.setdefault(name, cost)
        return fn

    return add


def quotient(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts, python: bool = False) -> Parts:
    """x / y; Python divides by the scaled denominator, NumPy multiplies with its reciprocal."""
    kind = register(dtype)
    real = part(dtype)

    def op(name: str, a: str, b: str) -> str:
        return lanes.op(name, kind, a, b)

    sizes = [lanes.intrinsic("fabs", kind, p) for p in y]
    first = lanes.compare("ge", real, *sizes)
    large, small = (lanes.select(first, kind, *pair) for pair in (y, y[::-1]))
    ratio = op("fdiv", small, large)
    scale = op("fadd", large, op("fmul", small, ratio))
    a, b = x
    p = lanes.select(first, kind, op("fadd", a, op("fmul", b, ratio)), op("fadd", op("fmul", a, ratio), b))
    q = lanes.select(first, kind, op("fsub", b, op("fmul", a, ratio)), op("fsub", op("fmul", b, ratio), a))
    if python:
        return op("fdiv", p, scale), op("fdiv", q, scale)
    factor = op("fdiv", lanes.real(1.0, kind), scale)
    zero = lanes.compare("eq", real, lanes.select(first, kind, *sizes), lanes.real(0.0, kind))
    return (
        lanes.select(zero, kind, op("fdiv", a, sizes[0]), op("fmul", p, factor)),
        lanes.select(zero, kind, op("fdiv", b, sizes[0]), op("fmul", q, factor)),
    )


@_extended("divide", 8)
def _divide(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    return quotient(lanes, dtype, x, y)


@_extended("reciprocal", 8)
def _reciprocal(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    kind = register(dtype)
    sizes = [lanes.intrinsic("fabs", kind, p) for p in x]
    first = lanes.compare("ge", part(dtype), *sizes)
    large, small = lanes.select(first, kind, *x), lanes.select(first, kind, *x[::-1])
    ratio = lanes.op("fdiv", kind, small, large)
    scale = lanes.op("fadd", kind, large, lanes.op("fmul", kind, small, ratio))
    one, minus = (lanes.op("fdiv", kind, lanes.real(v, kind), scale) for v in (1.0, -1.0))
    scaled = lanes.op("fdiv", kind, ratio, scale)
    negative = lanes.b.value(f"fneg {lanes.type(kind)} {scaled}")
    return lanes.select(first, kind, one, scaled), lanes.select(first, kind, negative, minus)


@_extended("conjugate")
def _conjugate(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    return x[0], lanes.b.value(f"fneg {lanes.type(register(dtype))} {x[1]}")


@_extended("positive")
def _positive(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    return x


@_extended("isfinite")
def _isfinite(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    tests = [ELEMENT["isfinite"](lanes, part(dtype), (p,))[0] for p in x]
    return (lanes.op("and", "i1", *tests),)


@_extended("isinf")
def _isinf(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    tests = [ELEMENT["isinf"](lanes, part(dtype), (p,))[0] for p in x]
    return (lanes.op("or", "i1", *tests),)


def _as_double(lanes: Lanes, dtype: np.dtype[Any], *args: str) -> list[str]:
    return [lanes.cast((a,), part(dtype), FLOAT)[0] for a in args]


def absolute(lanes: Lanes, x: str, y: str) -> str:
    """The size of a complex number, by the C library."""
    return lanes.b.call("double", "hypot", f"double {x}", f"double {y}")


def _size(lanes: Lanes, x: str, y: str) -> str:
    """The root of the sum of squares, scaled by a power of two that keeps it in range."""
    b, real, bits = lanes.b, lanes.type("double"), lanes.type("i64")
    kind, dtype = "double", FLOAT
    x, y = (lanes.intrinsic("fabs", kind, p) for p in (x, y))
    more = lanes.compare("gt", dtype, x, y)
    large, small = lanes.select(more, kind, x, y), lanes.select(more, kind, y, x)
    exponent = lanes.op(
        "and", "i64", b.value(f"bitcast {real} {large} to {bits}"), lanes.constant(str(EXPONENT), "i64")
    )
    inverse = lanes.op("sub", "i64", lanes.constant(str(2046 << 52), "i64"), exponent)
    inverse = lanes.intrinsic("smax", "i64", inverse, lanes.constant(str(1 << 51), "i64"))
    down = b.value(f"bitcast {bits} {inverse} to {real}")
    zero = lanes.compare("eq", INT, exponent, lanes.constant("0", "i64"))
    down = lanes.select(zero, kind, lanes.real(2.0**1022, kind), down)
    exponent = lanes.intrinsic("smax", "i64", exponent, lanes.constant(str(1 << 52), "i64"))
    up = b.value(f"bitcast {bits} {exponent} to {real}")
    p, q = lanes.op("fmul", kind, large, down), lanes.op("fmul", kind, small, down)
    squares = lanes.intrinsic("fma", kind, p, p, lanes.op("fmul", kind, q, q))
    size = lanes.op("fmul", kind, lanes.intrinsic("sqrt", kind, squares), up)
    limit = lanes.real(float("inf"), kind)
    infinite = lanes.op("or", "i1", *(lanes.compare("eq", dtype, s, limit) for s in (x, y)))
    return lanes.select(infinite, kind, limit, size)


EXPONENT = 0x7FF << 52
"""The bits of a double's exponent."""


@_extended("absolute", 10)
def _absolute(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    parts = _as_double(lanes, dtype, *x)
    size = _size(lanes, *parts) if machine.has_fma() else absolute(lanes, *parts)
    return lanes.cast((size,), FLOAT, part(dtype))


def product(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts, fused: bool) -> Parts:
    """x * y; NumPy's loops over arrays round once less."""
    kind = register(dtype)
    crossed = [lanes.op("fmul", kind, x[1], p) for p in (y[1], y[0])]
    if not fused:
        first = [lanes.op("fmul", kind, x[0], p) for p in y]
        return lanes.op("fsub", kind, first[0], crossed[0]), lanes.op("fadd", kind, first[1], crossed[1])
    minus = lanes.b.value(f"fneg {lanes.type(kind)} {crossed[0]}")
    return (
        lanes.intrinsic("fma", kind, x[0], y[0], minus),
        lanes.intrinsic("fma", kind, x[0], y[1], crossed[1]),
    )


@_extended("multiply", 4)
def _multiply(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    return product(lanes, dtype, x, y, machine.has_fma())


def library(b: Builder, name: str, *args: str) -> Parts:
    """A complex function of the C library."""
    pair = b.call("{ double, double }", name, *(f"double {a}" for a in args))
    return tuple(b.value(f"extractvalue {{ double, double }} {pair}, {i}") for i in (0, 1))


_LIBRARY = {
    "log": "clog",
    "sqrt": "csqrt",
    "sin": "csin",
    "cos": "ccos",
    "tan": "ctan",
    "sinh": "csinh",
    "cosh": "ccosh",
    "tanh": "ctanh",
    "arcsin": "casin",
    "arccos": "cacos",
    "arctan": "catan",
    "arcsinh": "casinh",
    "arccosh": "cacosh",
    "arctanh": "catanh",
}


def is_call(name: str) -> bool:
    """Whether a function of complex numbers is a call of the C library, element by element."""
    return name in _LIBRARY or (name == "absolute" and not machine.has_fma())


for _name, _function in _LIBRARY.items():

    @_extended(_name, 60)
    def _call(lanes: Lanes, dtype: np.dtype[Any], x: Parts, function: str = _function) -> Parts:
        found = library(lanes.b, function, *_as_double(lanes, dtype, *x))
        return lanes.cast(found, COMPLEX, dtype)


@_extended("exp", 40)
def _exp(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    """exp(a) (cos b + i sin b) where that cannot overflow; else the C library's."""
    b, kind, real = lanes.b, register(dtype), part(dtype)
    sizes = [lanes.intrinsic("fabs", kind, p) for p in x]
    limits = (700.0, 1e9) if kind == "double" else (80.0, 1e5)
    tests = [lanes.compare("lt", real, s, lanes.real(limit, kind)) for s, limit in zip(sizes, limits)]
    good = lanes.op("and", "i1", *tests)
    if lanes.width > 1:
        good = b.call("i1", f"llvm.vector.reduce.and.v{lanes.width}i1", f"{lanes.type('i1')} {good}")
    quick, slow, after = b.label("quick"), b.label("slow"), b.label("exp")
    b.branch(good, quick, slow, unlikely="else")
    b.start(slow)
    others = _each(lanes, dtype, x)
    slow_end = b.block
    b.jump(after)
    b.start(quick)
    size, cosine, sine = (
        mathematical(lanes, name, real, p)[0] for name, p in (("exp", x[0]), ("cos", x[1]), ("sin", x[1]))
    )
    found = [lanes.op("fmul", kind, size, p) for p in (cosine, sine)]
    quick_end = b.block
    b.jump(after)
    b.start(after)
    results = []
    for p, q in zip(found, others):
        phi = b.phi(lanes.type(kind))
        phi.incoming = [(p, quick_end), (q, slow_end)]
        results.append(phi.name)
    return tuple(results)


def _each(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    """The C library's exp, element by element."""
    b, one, kind = lanes.b, Lanes(lanes.b), register(dtype)
    if lanes.width == 1:
        return one.cast(library(b, "cexp", *_as_double(one, dtype, *x)), COMPLEX, dtype)
    t = lanes.type(kind)
    vectors = ["poison", "poison"]
    for k in range(lanes.width):
        parts = [b.value(f"extractelement {t} {p}, i64 {k}") for p in x]
        found = one.cast(library(b, "cexp", *_as_double(one, dtype, *parts)), COMPLEX, dtype)
        vectors = [b.value(f"insertelement {t} {v}, {kind} {p}, i64 {k}") for v, p in zip(vectors, found)]
    return tuple(vectors)


def cube(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    """x ** 3 as NumPy's power computes it: by products that round each time."""
    return product(lanes, dtype, x, product(lanes, dtype, x, x, fused=False), fused=False)


ELEMENT["cube"] = cube
COST["cube"] = 4
ELEMENT["real part"] = lambda lanes, dtype, x: (x[0],)
ELEMENT["imaginary part"] = lambda lanes, dtype, x: (x[1],)
COST["real part"] = COST["imaginary part"] = 1


# -- Python's complex numbers --------------------------------------------------------------------------------


def python_sum(lanes: Lanes, name: str, x: Parts, y: Parts) -> Parts | None:
    """x + y, x - y or x * y, at least one of them complex."""
    if len(x) + len(y) < 4 and sys.version_info >= (3, 14):
        return None  # real numbers are no longer made complex first
    one, other = (p if len(p) == 2 else (*p, float_literal(0.0)) for p in (x, y))
    if name == "multiply":
        return product(lanes, COMPLEX, one, other, fused=False)
    return ELEMENT[name](lanes, COMPLEX, one, other)


__all__ = ["absolute", "cube", "library", "python_sum", "quotient"]
