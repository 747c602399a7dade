"""Complex numbers: what elementwise functions and Python's operators do to their two parts.

Division is Smith's, as in NumPy and CPython; exp, log, powers and the like are the C library's, as in NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import machine
from autograph.compiler.elementwise import COST, ELEMENT, Lanes, NoRule, Parts, Rule
from autograph.compiler.ir import Builder, float_literal
from autograph.compiler.values import part, register

FLOAT, COMPLEX = np.dtype(float), np.dtype(complex)


def _extended(name: str, cost: int = 1) -> Callable[[Rule], Rule]:
    """Registers the rule of a function for complex numbers; others have the rule that is there."""

    def add(fn: Rule) -> Rule:
        old = ELEMENT.get(name)

        def rule(lanes: Lanes, dtype: np.dtype[Any], *args: Parts) -> Parts:
            if dtype.kind == "c":
                if lanes.width > 1:
                    raise NoRule
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
    return x[0], lanes.b.value(f"fneg {register(dtype)} {x[1]}")


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


HYPOT = """define internal double @ag_hypot(double %x, double %y) {
  %yy = fmul double %y, %y
  %q = call double @llvm.fma.f64(double %x, double %x, double %yy)
  %big = fcmp olt double %q, HIGH
  %small = fcmp ogt double %q, LOW
  %fine = and i1 %big, %small
  br i1 %fine, label %fast, label %slow
fast:
  %h = call double @llvm.sqrt.f64(double %q)
  %hh = fmul double %h, %h
  %xx = fmul double %x, %x
  %ny = fneg double %y
  %nhh = fneg double %hh
  %nxx = fneg double %xx
  %d = fsub double %hh, %xx
  %c1 = call double @llvm.fma.f64(double %ny, double %y, double %d)
  %c2 = call double @llvm.fma.f64(double %h, double %h, double %nhh)
  %c3 = call double @llvm.fma.f64(double %x, double %x, double %nxx)
  %c4 = fadd double %c1, %c2
  %c = fsub double %c4, %c3
  %twice = fadd double %h, %h
  %e = fdiv double %c, %twice
  %r = fsub double %h, %e
  ret double %r
slow:
  %s = call double @hypot(double %x, double %y)
  ret double %s
}"""


def absolute(lanes: Lanes, x: str, y: str) -> str:
    """The size of a complex number: the larger part first, a root and its error."""
    b = lanes.b
    if not machine.has_fma():
        return b.call("double", "hypot", f"double {x}", f"double {y}")
    module = b.module
    if "ag_hypot" not in module.functions:
        module.declare("hypot", "double", "double", "double")
        for name, count in (("llvm.fma.f64", 3), ("llvm.sqrt.f64", 1)):
            module.declare(name, "double", *["double"] * count)
        text = HYPOT.replace("HIGH", float_literal(2.0**900)).replace("LOW", float_literal(2.0**-900))
        module.functions["ag_hypot"] = text
    sizes = [lanes.intrinsic("fabs", "double", p) for p in (x, y)]
    more = b.value(f"fcmp ogt double {sizes[0]}, {sizes[1]}")
    large = b.value(f"select i1 {more}, double {sizes[0]}, double {sizes[1]}")
    small = b.value(f"select i1 {more}, double {sizes[1]}, double {sizes[0]}")
    return b.value(f"call double @ag_hypot(double {large}, double {small})")


@_extended("absolute", 10)
def _absolute(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    size = absolute(lanes, *_as_double(lanes, dtype, *x))
    return lanes.cast((size,), FLOAT, part(dtype))


def library(b: Builder, name: str, *args: str) -> Parts:
    """A complex function of the C library."""
    pair = b.call("{ double, double }", name, *(f"double {a}" for a in args))
    return tuple(b.value(f"extractvalue {{ double, double }} {pair}, {i}") for i in (0, 1))


_LIBRARY = {
    "exp": "cexp",
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
for _name, _function in _LIBRARY.items():

    @_extended(_name, 60)
    def _call(lanes: Lanes, dtype: np.dtype[Any], x: Parts, function: str = _function) -> Parts:
        found = library(lanes.b, function, *_as_double(lanes, dtype, *x))
        return lanes.cast(found, COMPLEX, dtype)


def cube(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    """x ** 3 as NumPy computes it."""
    return ELEMENT["multiply"](lanes, dtype, x, ELEMENT["multiply"](lanes, dtype, x, x))


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
    return ELEMENT[name](lanes, COMPLEX, one, other)


__all__ = ["absolute", "cube", "library", "python_sum", "quotient"]
