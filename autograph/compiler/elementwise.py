"""What an elementwise function does to one element, or to a vector of elements, of each dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import machine
from autograph.compiler.ir import Builder, float_literal
from autograph.compiler.values import part, register

Parts = tuple[str, ...]

UFUNC_OF = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
    "neg": "negative",
    "pos": "positive",
    "invert": "invert",
    "abs": "absolute",
}
"""The ufunc that an operator of Python calls on arrays and NumPy scalars."""

COMPARISONS = {
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
}


class Lanes:
    """Emits operations on scalars (width 1) or vectors."""

    def __init__(self, b: Builder, width: int = 1) -> None:
        self.b, self.width = b, width

    def type(self, kind: str) -> str:
        return kind if self.width == 1 else f"<{self.width} x {kind}>"

    def suffix(self, kind: str) -> str:
        short = {"float": "f32", "double": "f64"}.get(kind, kind)
        return short if self.width == 1 else f"v{self.width}{short}"

    def constant(self, literal: str, kind: str) -> str:
        return literal if self.width == 1 else f"splat ({kind} {literal})"

    def real(self, value: float, kind: str) -> str:
        return self.constant(float_literal(value, kind), kind)

    def splat(self, scalar: str, kind: str) -> str:
        if self.width == 1:
            return scalar
        if not scalar.startswith("%"):
            return self.constant(scalar, kind)
        t = self.type(kind)
        one = self.b.value(f"insertelement {t} poison, {kind} {scalar}, i64 0")
        return self.b.value(f"shufflevector {t} {one}, {t} poison, <{self.width} x i32> zeroinitializer")

    def op(self, name: str, kind: str, x: str, y: str) -> str:
        return self.b.value(f"{name} {self.type(kind)} {x}, {y}")

    def intrinsic(self, name: str, kind: str, *args: str) -> str:
        t = self.type(kind)
        return self.b.call(t, f"llvm.{name}.{self.suffix(kind)}", *(f"{t} {a}" for a in args))

    def select(self, test: str, kind: str, x: str, y: str) -> str:
        t = self.type(kind)
        return self.b.value(f"select {self.type('i1')} {test}, {t} {x}, {t} {y}")

    def compare(self, predicate: str, dtype: np.dtype[Any], x: str, y: str) -> str:
        kind = register(dtype)
        if dtype.kind == "f":
            ordered = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}[
                predicate
            ]
            return self.b.value(f"fcmp {ordered} {self.type(kind)} {x}, {y}")
        sign = "" if predicate in ("eq", "ne") else ("s" if dtype.kind == "i" else "u")
        return self.b.value(f"icmp {sign}{predicate} {self.type(kind)} {x}, {y}")

    def convert(self, how: str, x: str, source: str, target: str) -> str:
        return self.b.value(f"{how} {self.type(source)} {x} to {self.type(target)}")

    def cast(self, parts: Parts, source: np.dtype[Any], target: np.dtype[Any]) -> Parts:
        """As `astype`, for one element."""
        if source == target:
            return parts
        if target.kind == "c":
            if source.kind == "c":
                return tuple(self.cast((p,), part(source), part(target))[0] for p in parts)
            return self.cast(parts, source, part(target))[0], self.real(0.0, register(target))
        if source.kind == "c":
            if target.kind == "b":
                x, y = (self.cast((p,), part(source), target)[0] for p in parts)
                return (self.op("or", "i1", x, y),)
            return self.cast(parts[:1], part(source), target)
        return (self._cast(parts[0], source, target),)

    def _cast(self, x: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
        s, t = register(source), register(target)
        if target.kind == "b":
            zero = self.real(0.0, s) if source.kind == "f" else self.constant("0", s)
            return self.compare("ne", source, x, zero)
        if source.kind == "b":
            return self.convert("uitofp" if target.kind == "f" else "zext", x, s, t)
        if source.kind == "f" and target.kind == "f":
            return self.convert("fpext" if target.itemsize > source.itemsize else "fptrunc", x, s, t)
        if target.kind == "f":
            return self.convert("sitofp" if source.kind == "i" else "uitofp", x, s, t)
        if source.kind == "f":
            wide = "i32" if target.itemsize < 4 or (target.itemsize == 4 and target.kind == "i") else "i64"
            if target.str[1:] == "u8":
                return self._to_unsigned(x, source)
            y = self._to_signed(x, source, wide)
            return y if wide == t else self.convert("trunc", y, wide, t)
        if target.itemsize == source.itemsize:
            return x
        if target.itemsize < source.itemsize:
            return self.convert("trunc", x, s, t)
        return self.convert("sext" if source.kind == "i" else "zext", x, s, t)

    def _to_signed(self, x: str, source: np.dtype[Any], wide: str) -> str:
        """Cut off to an integer; what is out of its range becomes the smallest one, as on the machine."""
        s, limit = register(source), 2.0 ** (31 if wide == "i32" else 63)
        size = self.intrinsic("fabs", s, x)
        fits = self.compare("lt", source, size, self.real(limit, s))
        y = self.convert("fptosi", self.select(fits, s, x, self.real(0.0, s)), s, wide)
        return self.select(fits, wide, y, self.constant(str(-int(limit)), wide))

    def _to_unsigned(self, x: str, source: np.dtype[Any]) -> str:
        """As C compilers do it: numbers from 2^63 on are shifted down first, negative ones wrap."""
        s, middle = register(source), self.real(2.0**63, register(source))
        large = self.compare("ge", source, x, middle)
        y = self._to_signed(self.select(large, s, self.op("fsub", s, x, middle), x), source, "i64")
        up = self.op("xor", "i64", y, self.constant(str(-(2**63)), "i64"))
        return self.select(large, "i64", up, y)


Rule = Callable[..., Parts]
ELEMENT: dict[str, Rule] = {}
SCALAR_ONLY: set[str] = set()
COST: dict[str, int] = {}


def element(*names: str, scalar_only: bool = False, cost: int = 1) -> Callable[[Rule], Rule]:
    """Registers a rule (lanes, dtype of the inputs, *parts) -> parts."""

    def register_rule(fn: Rule) -> Rule:
        for name in names:
            ELEMENT[name] = fn
            COST[name] = cost
            if scalar_only:
                SCALAR_ONLY.add(name)
        return fn

    return register_rule


class NoRule(Exception):
    """There is no rule for these dtypes."""


def _arithmetic(name: str, integer: str, real: str) -> None:
    @element(name)
    def rule(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
        kind = register(dtype)
        if dtype.kind == "b":
            logic = {"add": "or", "multiply": "and"}.get(name)
            if logic is None:
                raise NoRule
            return (lanes.op(logic, "i1", x[0], y[0]),)
        if dtype.kind == "c":
            if name == "multiply":
                products = [
                    lanes.op("fmul", kind, a, b)
                    for a, b in ((x[0], y[0]), (x[1], y[1]), (x[0], y[1]), (x[1], y[0]))
                ]
                return lanes.op("fsub", kind, *products[:2]), lanes.op("fadd", kind, *products[2:])
            return tuple(lanes.op(real, kind, a, b) for a, b in zip(x, y))
        return (lanes.op(real if dtype.kind == "f" else integer, kind, x[0], y[0]),)


for _name, _integer, _real in (
    ("add", "add", "fadd"),
    ("subtract", "sub", "fsub"),
    ("multiply", "mul", "fmul"),
):
    _arithmetic(_name, _integer, _real)


@element("divide", cost=4)
def _divide(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    return (lanes.op("fdiv", register(dtype), x[0], y[0]),)


def _divmod_integer(lanes: Lanes, dtype: np.dtype[Any], x: str, y: str) -> tuple[str, str]:
    """NumPy's: rounds down; a division by zero gives 0, and the smallest number divided by -1 wraps."""
    kind = register(dtype)
    zero, one = lanes.constant("0", kind), lanes.constant("1", kind)
    none = lanes.compare("eq", dtype, y, zero)
    if dtype.kind == "u":
        safe = lanes.select(none, kind, one, y)
        q, r = lanes.op("udiv", kind, x, safe), lanes.op("urem", kind, x, safe)
        return lanes.select(none, kind, zero, q), lanes.select(none, kind, zero, r)
    minus = lanes.compare("eq", dtype, y, lanes.constant("-1", kind))
    safe = lanes.select(lanes.op("or", "i1", none, minus), kind, one, y)
    q, r = lanes.op("sdiv", kind, x, safe), lanes.op("srem", kind, x, safe)
    other = lanes.compare("lt", dtype, lanes.op("xor", kind, r, safe), zero)
    adjust = lanes.op("and", "i1", other, lanes.compare("ne", dtype, r, zero))
    q = lanes.select(adjust, kind, lanes.op("sub", kind, q, one), q)
    r = lanes.select(adjust, kind, lanes.op("add", kind, r, safe), r)
    q = lanes.select(minus, kind, lanes.op("sub", kind, zero, x), q)
    return lanes.select(none, kind, zero, q), lanes.select(none, kind, zero, r)


def divmod_float(lanes: Lanes, dtype: np.dtype[Any], x: str, y: str) -> tuple[str, str]:
    """Floor division and modulo of floats, as both CPython and NumPy compute them."""
    kind = register(dtype)
    zero, one, half = (lanes.real(v, kind) for v in (0.0, 1.0, 0.5))
    rest = lanes.op("frem", kind, x, y)
    quotient = lanes.op("fdiv", kind, lanes.op("fsub", kind, x, rest), y)
    some = lanes.compare("ne", dtype, rest, zero)
    below = lanes.op("xor", "i1", lanes.compare("lt", dtype, y, zero), lanes.compare("lt", dtype, rest, zero))
    adjust = lanes.op("and", "i1", some, below)
    moved = lanes.select(adjust, kind, lanes.op("fadd", kind, rest, y), rest)
    signed_zero = lanes.intrinsic("copysign", kind, zero, y)
    modulus = lanes.select(some, kind, moved, signed_zero)
    quotient = lanes.select(adjust, kind, lanes.op("fsub", kind, quotient, one), quotient)
    floor = lanes.intrinsic("floor", kind, quotient)
    far = lanes.compare("gt", dtype, lanes.op("fsub", kind, quotient, floor), half)
    floor = lanes.select(far, kind, lanes.op("fadd", kind, floor, one), floor)
    nothing = lanes.compare("eq", dtype, quotient, zero)
    ratio = lanes.op("fdiv", kind, x, y)
    floor = lanes.select(nothing, kind, lanes.intrinsic("copysign", kind, zero, ratio), floor)
    by_zero = lanes.compare("eq", dtype, y, zero)
    return lanes.select(by_zero, kind, ratio, floor), lanes.select(by_zero, kind, rest, modulus)


@element("floor_divide", scalar_only=True, cost=20)
def _floor_divide(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    if dtype.kind in "iu":
        return (_divmod_integer(lanes, dtype, x[0], y[0])[0],)
    if dtype.kind == "f":
        return (divmod_float(lanes, dtype, x[0], y[0])[0],)
    raise NoRule


@element("remainder", scalar_only=True, cost=20)
def _remainder(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    if dtype.kind in "iu":
        return (_divmod_integer(lanes, dtype, x[0], y[0])[1],)
    if dtype.kind == "f":
        return (divmod_float(lanes, dtype, x[0], y[0])[1],)
    raise NoRule


@element("fmod", scalar_only=True, cost=20)
def _fmod(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    return (lanes.op("frem", register(dtype), x[0], y[0]),)


for _name, _code in (("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor")):

    @element(_name)
    def _bitwise(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts, code: str = _code) -> Parts:
        if dtype.kind not in "biu":
            raise NoRule
        return (lanes.op(code, register(dtype), x[0], y[0]),)


for _name, _code in (("logical_and", "and"), ("logical_or", "or"), ("logical_xor", "xor")):

    @element(_name)
    def _logical(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts, code: str = _code) -> Parts:
        a = lanes.cast(x, dtype, np.dtype(bool))[0]
        return (lanes.op(code, "i1", a, lanes.cast(y, dtype, np.dtype(bool))[0]),)


@element("logical_not")
def _logical_not(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    return (lanes.op("xor", "i1", lanes.cast(x, dtype, np.dtype(bool))[0], lanes.constant("true", "i1")),)


@element("left_shift")
def _left_shift(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    kind = register(dtype)
    bits = lanes.constant(str(8 * dtype.itemsize), kind)
    inside = lanes.b.value(f"icmp ult {lanes.type(kind)} {y[0]}, {bits}")
    count = lanes.select(inside, kind, y[0], lanes.constant("0", kind))
    return (lanes.select(inside, kind, lanes.op("shl", kind, x[0], count), lanes.constant("0", kind)),)


@element("right_shift")
def _right_shift(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    kind = register(dtype)
    bits = 8 * dtype.itemsize
    inside = lanes.b.value(f"icmp ult {lanes.type(kind)} {y[0]}, {lanes.constant(str(bits), kind)}")
    most = lanes.constant(str(bits - 1), kind)
    count = lanes.select(inside, kind, y[0], most)
    if dtype.kind == "i":
        return (lanes.op("ashr", kind, x[0], count),)
    return (lanes.select(inside, kind, lanes.op("lshr", kind, x[0], count), lanes.constant("0", kind)),)


for _name, _predicate in COMPARISONS.items():

    @element(_name)
    def _compare(
        lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts, predicate: str = _predicate
    ) -> Parts:
        if dtype.kind == "c":
            if predicate not in ("eq", "ne"):
                raise NoRule
            real = part(dtype)
            tests = [lanes.compare(predicate, real, a, b) for a, b in zip(x, y)]
            return (lanes.op("and" if predicate == "eq" else "or", "i1", *tests),)
        return (lanes.compare(predicate, dtype, x[0], y[0]),)


@element("negative")
def _negative(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    kind = register(dtype)
    if dtype.kind in "fc":
        return tuple(lanes.b.value(f"fneg {lanes.type(kind)} {p}") for p in x)
    if dtype.kind == "b":
        raise NoRule
    return (lanes.op("sub", kind, lanes.constant("0", kind), x[0]),)


@element("positive", "conjugate")
def _positive(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind == "c":
        raise NoRule
    return x


@element("invert")
def _invert(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    kind = register(dtype)
    return (lanes.op("xor", kind, x[0], lanes.constant("true" if dtype.kind == "b" else "-1", kind)),)


@element("absolute", "fabs")
def _absolute(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    kind = register(dtype)
    if dtype.kind == "f":
        return (lanes.intrinsic("fabs", kind, x[0]),)
    if dtype.kind in "ub":
        return x
    if dtype.kind == "i":
        zero = lanes.constant("0", kind)
        negative = lanes.compare("lt", dtype, x[0], zero)
        return (lanes.select(negative, kind, lanes.op("sub", kind, zero, x[0]), x[0]),)
    raise NoRule


@element("square")
def _square(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    return ELEMENT["multiply"](lanes, dtype, x, x)


def _powers() -> None:
    """Whole powers of integers: products that wrap."""
    for exponent in range(3, 9):

        @element(f"power {exponent}", cost=exponent // 2)
        def rule(lanes: Lanes, dtype: np.dtype[Any], x: Parts, exponent: int = exponent) -> Parts:
            if dtype.kind not in "iu":
                raise NoRule
            kind = register(dtype)
            result, base = "", x[0]
            while exponent:
                if exponent & 1:
                    result = lanes.op("mul", kind, result, base) if result else base
                exponent >>= 1
                base = lanes.op("mul", kind, base, base) if exponent else base
            return (result,)


_powers()


@element("reciprocal", cost=4)
def _reciprocal(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    return (lanes.op("fdiv", register(dtype), lanes.real(1.0, register(dtype)), x[0]),)


@element("sign")
def _sign(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    kind = register(dtype)
    if dtype.kind not in "fi":
        raise NoRule
    zero = lanes.real(0.0, kind) if dtype.kind == "f" else lanes.constant("0", kind)
    one = lanes.real(1.0, kind) if dtype.kind == "f" else lanes.constant("1", kind)
    minus = lanes.real(-1.0, kind) if dtype.kind == "f" else lanes.constant("-1", kind)
    low = lanes.select(lanes.compare("lt", dtype, x[0], zero), kind, minus, zero)
    result = lanes.select(lanes.compare("gt", dtype, x[0], zero), kind, one, low)
    if dtype.kind == "f":
        nan = lanes.b.value(f"fcmp uno {lanes.type(kind)} {x[0]}, {x[0]}")
        result = lanes.select(nan, kind, x[0], result)
    return (result,)


for _name, _intrinsic, _cost in (
    ("sqrt", "sqrt", 6),
    ("floor", "floor", 1),
    ("ceil", "ceil", 1),
    ("trunc", "trunc", 1),
    ("rint", "roundeven", 1),
):

    @element(_name, cost=_cost)
    def _rounding(lanes: Lanes, dtype: np.dtype[Any], x: Parts, intrinsic: str = _intrinsic) -> Parts:
        if dtype.kind in "iub" and intrinsic != "sqrt":
            return x
        if dtype.kind != "f":
            raise NoRule
        return (lanes.intrinsic(intrinsic, register(dtype), x[0]),)


@element("copysign")
def _copysign(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    return (lanes.intrinsic("copysign", register(dtype), x[0], y[0]),)


@element("isnan")
def _isnan(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind in "iub":
        return (lanes.constant("false", "i1"),)
    kind = lanes.type(register(dtype))
    tests = [lanes.b.value(f"fcmp uno {kind} {p}, {p}") for p in x]
    return (tests[0] if len(tests) == 1 else lanes.op("or", "i1", *tests),)


@element("isinf")
def _isinf(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    kind = register(dtype)
    return (lanes.compare("eq", dtype, lanes.intrinsic("fabs", kind, x[0]), lanes.real(float("inf"), kind)),)


@element("isfinite")
def _isfinite(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    kind = register(dtype)
    return (lanes.compare("lt", dtype, lanes.intrinsic("fabs", kind, x[0]), lanes.real(float("inf"), kind)),)


@element("signbit")
def _signbit(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    kind = register(dtype)
    bits = "i32" if kind == "float" else "i64"
    y = lanes.b.value(f"bitcast {lanes.type(kind)} {x[0]} to {lanes.type(bits)}")
    return (lanes.b.value(f"icmp slt {lanes.type(bits)} {y}, {lanes.constant('0', bits)}"),)


for _name, _real, _signed, _unsigned in (
    ("maximum", "maximum", "smax", "umax"),
    ("minimum", "minimum", "smin", "umin"),
    ("fmax", "maxnum", "smax", "umax"),
    ("fmin", "minnum", "smin", "umin"),
):

    @element(_name)
    def _extremum(
        lanes: Lanes,
        dtype: np.dtype[Any],
        x: Parts,
        y: Parts,
        names: tuple[str, str, str] = (_real, _signed, _unsigned),
    ) -> Parts:
        kind = register(dtype)
        if dtype.kind == "b":
            return (lanes.op("or" if names[1] == "smax" else "and", "i1", x[0], y[0]),)
        if dtype.kind == "c":
            raise NoRule
        if names[0] == "maximum" and dtype.kind == "f":
            return (_nan_extremum(lanes, dtype, x[0], y[0], "ogt"),)
        if names[0] == "minimum" and dtype.kind == "f":
            return (_nan_extremum(lanes, dtype, x[0], y[0], "olt"),)
        name = names[0] if dtype.kind == "f" else names[1] if dtype.kind == "i" else names[2]
        return (lanes.intrinsic(name, kind, x[0], y[0]),)


def _nan_extremum(lanes: Lanes, dtype: np.dtype[Any], x: str, y: str, predicate: str) -> str:
    """NumPy's rule: a NaN of the first operand stays, else one of the second."""
    kind = lanes.type(register(dtype))
    better = lanes.b.value(f"fcmp {predicate} {kind} {x}, {y}")
    nan = lanes.b.value(f"fcmp uno {kind} {x}, {x}")
    keep = lanes.op("or", "i1", better, nan)
    return lanes.select(keep, register(dtype), x, y)


@element("where")
def _where(lanes: Lanes, dtype: np.dtype[Any], test: Parts, x: Parts, y: Parts) -> Parts:
    return tuple(lanes.select(test[0], register(dtype), a, b) for a, b in zip(x, y))


@element("deg2rad", "radians")
def _radians(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    factor = np.pi / 180 if dtype.itemsize == 8 else float(np.float32(np.pi) / np.float32(180))
    return (lanes.op("fmul", register(dtype), x[0], lanes.real(factor, register(dtype))),)


@element("rad2deg", "degrees")
def _degrees(lanes: Lanes, dtype: np.dtype[Any], x: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    factor = 180 / np.pi if dtype.itemsize == 8 else float(np.float32(180) / np.float32(np.pi))
    return (lanes.op("fmul", register(dtype), x[0], lanes.real(factor, register(dtype))),)


@element("power", cost=40)
def _power(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    if dtype.kind != "f":
        raise NoRule
    return mathematical(lanes, "power", dtype, x[0], y[0])


@element("power_by_one", cost=42)
def _power_by_one(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts) -> Parts:
    """Powers by one exponent for all elements."""
    return rooted(lanes, dtype, x, y, _power(lanes, dtype, x, y))


def rooted(lanes: Lanes, dtype: np.dtype[Any], x: Parts, y: Parts, power: Parts) -> Parts:
    """A power; by one half NumPy takes the root, which is another number for two numbers."""
    b, kind = lanes.b, register(dtype)
    t, bits = lanes.type(kind), lanes.type("i1")
    half, least, nothing = (
        b.value(f"fcmp oeq {t} {p}, {lanes.real(v, kind)}")
        for p, v in ((y[0], 0.5), (x[0], float("-inf")), (x[0], 0.0))
    )
    same = b.value(f"select {bits} {nothing}, {t} {x[0]}, {t} {power[0]}")
    root = b.value(f"select {bits} {least}, {t} {lanes.real(float('nan'), kind)}, {t} {same}")
    return (b.value(f"select {bits} {half}, {t} {root}, {t} {power[0]}"),)


def mathematical(lanes: Lanes, name: str, dtype: np.dtype[Any], *args: str) -> Parts:
    """A call of our own vector mathematics."""
    from autograph.compiler import vmath

    definition = vmath.function(name, register(dtype), lanes.width, machine.has_fma())
    _define(lanes.b, definition)
    t = lanes.type(register(dtype))
    return (lanes.b.value(f"call {t} {definition.symbol}({', '.join(f'{t} {a}' for a in args)})"),)


def _define(b: Builder, definition: Any) -> None:
    module = b.module
    if definition.symbol[1:] in module.functions:
        return
    module.functions[definition.symbol[1:]] = definition.text
    for line in sorted(definition.declarations):
        module.declarations.setdefault(line.split("@")[1].split("(")[0], line)
    for needed in definition.needs:
        _define(b, needed)


def _mathematical_rules() -> None:
    from autograph.compiler import vmath

    for name in vmath.NAMES:
        if name in ELEMENT:
            continue

        @element(name, cost=20)
        def rule(lanes: Lanes, dtype: np.dtype[Any], *args: Parts, name: str = name) -> Parts:
            if dtype.kind != "f":
                raise NoRule
            return mathematical(lanes, name, dtype, *(a[0] for a in args))


_mathematical_rules()
