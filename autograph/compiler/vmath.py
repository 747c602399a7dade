"""Vector mathematics as LLVM IR text: NumPy's elementary functions for floats and doubles, of any width.

Each function is one algorithm for all widths, so that a result does not depend on its place in an array: a
loop over vectors of 8 and the scalar loop over the rest give the same bits. Errors are below 2.5 units in the
last place, special values are NumPy's. There are no fast-math flags; `fma` is called where the target has it,
and else the variants whose constants leave room for exact products serve.

The formulas are classics: the reductions are those of Cody and Waite ("Software Manual for the Elementary
Functions"), the polynomials those of FreeBSD's msun (musl) and of Cephes; a polynomial marked "minimax" was
found with the Remez algorithm in 45 digits. Arguments of sin, cos and tan that are too large for a reduction
in two or three steps go to the C library one by one, as all arguments of a few rare functions do.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

from autograph.compiler.vector_ir import (
    Block,
    Number,
    Value,
    absolute,
    as_bits,
    as_float,
    convert,
    copysign,
    fma,
    is_equal,
    is_nan,
    round_to_zero,
    select,
    sqrt,
)

__all__ = ["NAMES", "Definition", "function"]


@dataclasses.dataclass(frozen=True)
class Definition:
    """One function of a module: its symbol with the `@`, its text, and what the module needs besides."""

    symbol: str
    text: str
    declarations: frozenset[str]
    needs: tuple[Definition, ...]


@dataclasses.dataclass(frozen=True)
class _Format:
    """What the algorithms need to know of a floating-point format."""

    digits: int  # explicit bits of the significand
    bias: int
    magic: float  # adding it rounds to an integer, which then stands in the lowest bits
    magic_bits: int
    smallest_normal: float
    # Logarithms of 2 in two parts: products of the first with exponents are exact.
    ln2: tuple[float, float]
    # The bits of sqrt(1/2), which is where the significands of log's reduction begin.
    sqrt_half: int


_FORMATS = {
    "float": _Format(
        23, 127, 12582912.0, 0x4B400000, 2.0**-126, (0.693145751953125, 1.428606765330187e-06), 0x3F3504F3
    ),
    "double": _Format(
        52,
        1023,
        6755399441055744.0,
        0x4338000000000000,
        2.0**-1022,
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        0x3FE6A09E00000000,
    ),
}


# --------------------------------------------------------------------------------- building blocks


def _polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Horner's scheme; the lowest degree comes first."""
    result: Value = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = fma(result, x, coefficient)
    return result


def _pairwise(x: Value, coefficients: Sequence[float]) -> Value:
    """Estrin's scheme, whose chains are shorter: neighbours first, then pairs of neighbours, and so on."""
    terms: list[Value] = [x.like(coefficient) for coefficient in coefficients]
    power = x
    while len(terms) > 1:
        pairs = [fma(high, power, low) for low, high in zip(terms[::2], terms[1::2])]
        terms = pairs + terms[2 * len(pairs) :]
        if len(terms) > 1:
            power = power * power
    return terms[0]


def _clamp(x: Value, low: float, high: float) -> Value:
    """Limits `x`; NaN stays."""
    x = select(x > high, high, x)
    return select(x < low, low, x)


def _two_sum(large: Number, small: Value) -> tuple[Value, Value]:
    """The sum and its rounding error, for |large| >= |small| (Dekker)."""
    total = large + small
    return total, small - (total - large)


def _split(x: Value) -> tuple[Value, Value]:
    """Two halves with few enough bits for exact products (Veltkamp)."""
    shifted = x * 134217729.0
    high = shifted - (shifted - x)
    return high, x - high


def _two_product(x: Value, y: Number) -> tuple[Value, Value]:
    """The product of doubles and its rounding error (Dekker)."""
    y = x.like(y)
    product = x * y
    if x.block.has_fma:
        return product, fma(x, y, -product)
    (x_high, x_low), (y_high, y_low) = _split(x), _split(y)
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error


def _nearest_integer(x: Value, factor: float = 1.0) -> tuple[Value, Value]:
    """`rint(x * factor)`, as a float and as an integer."""
    form = _FORMATS[x.kind]
    shifted = x + form.magic if factor == 1.0 else fma(x, factor, form.magic)
    return shifted - form.magic, as_bits(shifted) - form.magic_bits


def _power_of_two(exponent: Value, kind: str) -> Value:
    """`2 ** exponent` for an exponent of normal numbers."""
    form = _FORMATS[kind]
    return as_float((exponent + form.bias) << form.digits)


def _scale(x: Value, exponent: Value) -> Value:
    """`x * 2 ** exponent` in two steps, so that both ends of the range are right."""
    # Shifted to positive numbers first: few processors have an arithmetic shift of 64-bit integers.
    half = ((exponent + 4096) >> 1) - 2048
    return x * _power_of_two(half, x.kind) * _power_of_two(exponent - half, x.kind)


# ------------------------------------------------------------------------------------ exponentials

# (exp(r) - 1 - r) / r**2 for |r| <= ln(2) / 2; minimax, relative to expm1(r): 2**-26.2, 2**-55.6.
_EXP = {
    "float": (0.5, 0.166665435, 0.0416662805, 0.00836661085, 0.00139464962),
    "double": (
        0.5000000000000006,
        0.16666666666666685,
        0.04166666666657332,
        0.008333333333314501,
        0.001388888893248465,
        0.00019841269903231524,
        2.480150431136982e-05,
        2.7557227770260675e-06,
        2.762638257174148e-07,
        2.5114532576472475e-08,
    ),
}

# Beyond these, exp is 0 or infinite.
_EXP_RANGE = {"float": (-104.0, 89.0), "double": (-746.0, 710.0)}


def _exp_tail(r: Value) -> Value:
    """The polynomial of exp, see there."""
    return _polynomial(r, _EXP[r.kind]) if r.kind == "float" else _pairwise(r, _EXP[r.kind])


def _reduce_exp(x: Value) -> tuple[Value, Value, Value]:
    """The exponent n, and r = x - n ln 2 with its rounding error (Cody and Waite)."""
    high, low = _FORMATS[x.kind].ln2
    n, exponent = _nearest_integer(x, 1.4426950408889634)
    first = fma(n, -high, x)
    r = fma(n, -low, first)
    return exponent, r, fma(n, -low, first - r)


def _exp(x: Value) -> Value:
    exponent, r, _ = _reduce_exp(_clamp(x, *_EXP_RANGE[x.kind]))
    return _scale(fma(_exp_tail(r), r * r, r) + 1.0, exponent)


def _exp2(x: Value) -> Value:
    x = _clamp(x, -151.0, 129.0) if x.kind == "float" else _clamp(x, -1076.0, 1025.0)
    n, exponent = _nearest_integer(x)
    r = (x - n) * math.log(2)
    return _scale(fma(_exp_tail(r), r * r, r) + 1.0, exponent)


def _half_exp(x: Value) -> Value:
    """`exp(x) / 2` without overflow where that is finite, for x >= 0."""
    exponent, r, _ = _reduce_exp(
        select(x > 720.0, 720.0, x) if x.kind == "double" else select(x > 95.0, 95.0, x)
    )
    return _scale(fma(_exp_tail(r), r * r, r) + 1.0, exponent - 1)


def _half_expm1(x: Value) -> Value:
    """`(exp(x) - 1) / 2` for x in the range of exp's normal results, and -1/2 below."""
    exponent, r, error = _reduce_exp(x)
    reduced = r + fma(_exp_tail(r), r * r, error)
    scale = _power_of_two(exponent - 1, x.kind)
    return fma(reduced, scale, scale - 0.5)


def _expm1(x: Value) -> Value:
    result = _half_expm1(_clamp(x, -50.0, _EXP_RANGE[x.kind][1])) * 2.0
    return select(absolute(x) < _FORMATS[x.kind].smallest_normal * 4.0, x, result)


def _tanh(x: Value) -> Value:
    limit = 10.0 if x.kind == "float" else 20.0
    magnitude = absolute(x)
    half = _half_expm1(select(magnitude > limit, limit, magnitude) * 2.0)
    return copysign(half / (half + 1.0), x)


# (sinh(x) / x - 1) / x**2 in x**2, for |x| <= 1; minimax, 2**-34, 2**-63.
_SINH = {
    "float": (0.166666672, 0.00833335053, 0.000198360663, 2.81743951e-06),
    "double": (
        0.16666666666666669,
        0.008333333333333139,
        0.00019841269841437684,
        2.7557319155336477e-06,
        2.505212339860958e-08,
        1.6057240337562338e-10,
        7.75931230255535e-13,
    ),
}


def _sinh(x: Value) -> Value:
    magnitude = absolute(x)
    square = x * x
    near = fma(x * square, _polynomial(square, _SINH[x.kind]), x)
    half = _half_exp(magnitude)
    far = copysign(half - 0.25 / half, x)
    return select(magnitude < 1.0, copysign(near, x), far)


def _cosh(x: Value) -> Value:
    half = _half_exp(absolute(x))
    return half + 0.25 / half


# -------------------------------------------------------------------------------------- logarithms

# (log((1 + s) / (1 - s)) - 2 s) / s in s**2 without its constant term (msun: e_logf.c, e_log.c).
_LOG = {
    "float": (0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841),
    "double": (
        6.666666666666735130e-01,
        3.999999999940941908e-01,
        2.857142874366239149e-01,
        2.222219843214978396e-01,
        1.818357216161805012e-01,
        1.531383769920937332e-01,
        1.479819860511658591e-01,
    ),
}
_LN2 = {
    "float": (6.9313812256e-01, 9.0580006145e-06),
    "double": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}


def _integer_to_float(n: Value, kind: str) -> Value:
    """An exponent as a float."""
    if kind == "float":
        return convert(n, kind)
    # Few processors convert 64-bit integers: the number is put behind the magic one.
    form = _FORMATS[kind]
    return as_float(n + form.magic_bits) - form.magic


def _exponent_and_significand(x: Value) -> tuple[Value, Value]:
    """k and m of a positive normal x = m * 2**k, with m between sqrt(1/2) and sqrt(2)."""
    form = _FORMATS[x.kind]
    one = form.bias << form.digits
    bits = as_bits(x) + (one - form.sqrt_half)
    exponent = (bits >> form.digits) - form.bias
    return exponent, as_float((bits & ((1 << form.digits) - 1)) + form.sqrt_half)


def _reduce_log(x: Value) -> tuple[Value, Value]:
    """k, as a float, and m - 1 for any positive x = m * 2**k."""
    form = _FORMATS[x.kind]
    shift = form.digits + 2
    is_small = x < form.smallest_normal
    exponent, m = _exponent_and_significand(select(is_small, x * 2.0**shift, x))
    return _integer_to_float(select(is_small, exponent - shift, exponent), x.kind), m - 1.0


def _log_tail(f: Value, half_square: Value) -> Value:
    """log(1 + f) - f + f**2 / 2, which is s (f**2 / 2 + R(s**2)) with s = f / (2 + f)."""
    s = f / (f + 2.0)
    square = s * s
    return s * fma(square, _polynomial(square, _LOG[f.kind]), half_square)


def _log_specials(x: Value, result: Value) -> Value:
    """The logarithms of 0, infinity, negative numbers and NaN."""
    result = select(is_equal(x, math.inf), x, result)
    result = select(is_equal(x, 0.0), -math.inf, result)
    return select(x >= 0.0, result, select(x < 0.0, math.nan, x))


def _log(x: Value) -> Value:
    k, f = _reduce_log(x)
    high, low = _LN2[x.kind]
    half_square = f * f * 0.5
    s_part = fma(k, low, _log_tail(f, half_square))
    return _log_specials(x, fma(k, high, f - (half_square - s_part)))


# 1 / ln(2), 1 / ln(10) and log10(2) in two parts, the first short (msun: e_log2.c, e_log10.c, e_log2f.c ...).
_BASES = {
    ("float", 2): ((1.4428710938e00, -1.7605285393e-04), (1.0, 0.0)),
    ("double", 2): ((1.44269504072144627571e00, 1.67517131648865118353e-10), (1.0, 0.0)),
    ("float", 10): ((4.3432617188e-01, -3.1689971365e-05), (3.0102920532e-01, 7.9034151668e-07)),
    ("double", 10): (
        (4.34294481878168880939e-01, 2.50829467116452752298e-11),
        (3.01029995663611771306e-01, 3.69423907715893078616e-13),
    ),
}


def _log_to_base(x: Value, base: int) -> Value:
    """log(x) / log(base) with the quotient in two parts."""
    (high, low), (k_high, k_low) = _BASES[x.kind, base]
    k, f = _reduce_log(x)
    half_square = f * f * 0.5
    # The significant half of log(1 + f), short enough for exact products, and the rest.
    mask = -0x1000 if x.kind == "float" else -0x100000000
    main = as_float(as_bits(f - half_square) & mask)
    rest = ((f - main) - half_square) + _log_tail(f, half_square)
    k_main, product = k * k_high, main * high
    result, error = _two_sum(k_main, product)
    error = fma(rest + main, low, fma(rest, high, error))
    if k_low:
        error = fma(k, k_low, error)
    return _log_specials(x, result + error)


def _log2(x: Value) -> Value:
    return _log_to_base(x, 2)


def _log10(x: Value) -> Value:
    return _log_to_base(x, 10)


def _log1p(x: Value) -> Value:
    # u = 1 + x and its rounding error, which is then scaled like the significand.
    u = x + 1.0
    back = u - 1.0
    error = (1.0 - (u - back)) + (x - back)
    exponent, m = _exponent_and_significand(u)
    scale = _power_of_two(0 - select(exponent > 100, 100, exponent), x.kind)
    k, f = _integer_to_float(exponent, x.kind), m - 1.0
    high, low = _LN2[x.kind]
    square = f * f
    half_square = square * 0.5
    # error / (1 + f), for which 1 - f + f**2 is near enough.
    correction = error * scale * (square - f + 1.0)
    s_part = fma(k, low, correction) + _log_tail(f, half_square)
    result = fma(k, high, f - (half_square - s_part))
    result = select(is_equal(u, math.inf), u, result)
    result = select(is_equal(u, 0.0), -math.inf, result)
    result = select(u >= 0.0, result, select(u < 0.0, math.nan, u))
    return select(absolute(x) < 2.0**-60, x, result)


def _logaddexp(x: Value, y: Value) -> Value:
    # As NumPy: the larger one + log1p(exp(-|x - y|)); equal ones first, as infinities have no difference.
    difference = x - y
    larger = select(difference > 0.0, x, y)
    result = larger + _log1p(_exp(-absolute(difference)))
    return select(is_equal(x, y), x + math.log(2), result)


# ------------------------------------------------------------------------------------ trigonometry

# sin and cos up to pi / 4 in x**2, without their first terms (Cephes: sinf.c; msun: k_sin.c, k_cos.c).
_SIN = {
    "float": (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    "double": (
        -1.66666666666666307295e-1,
        8.33333333332211858878e-3,
        -1.98412698295895385996e-4,
        2.75573136213857245213e-6,
        -2.50507477628578072866e-8,
        1.58962301576546568060e-10,
    ),
}
_COS = {
    "float": (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
    "double": (
        4.16666666666665929218e-2,
        -1.38888888888730564116e-3,
        2.48015872888517047646e-5,
        -2.75573141792967388112e-7,
        2.08757008419747316778e-9,
        -1.13585365213876817300e-11,
    ),
}

# pi / 2 in parts. With fma a part can have all bits, else n * part has to be exact (msun: e_rem_pio2.c).
_HALF_PI = {
    ("float", True): (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
    ("double", True): (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    ("double", False): (
        1.57079632673412561417e00,
        6.07710050630396597660e-11,
        2.02226624871116645580e-21,
        8.47842766036889956997e-32,
    ),
}
_TRIGONOMETRY_LIMIT = {("float", True): 2.0**15, ("double", True): 2.0**27, ("double", False): 2.0**20}


def _sine_and_cosine(x: Value) -> tuple[Value, Value, Value]:
    """Sine and cosine of x's difference to the nearest multiple of pi / 2, and that multiple (an integer)."""
    n, quadrant = _nearest_integer(x, 2 / math.pi)
    r = x
    for part in _HALF_PI[x.kind, x.block.has_fma]:
        r = fma(n, -part, r)
    square = r * r
    sine = fma(r * square, _polynomial(square, _SIN[x.kind]), r)
    cosine = fma(square * square, _polynomial(square, _COS[x.kind]), fma(square, -0.5, 1.0))
    return sine, cosine, quadrant


def _sign_bit(x: Value) -> Value:
    """All bits of a float but the sign cleared, as an integer."""
    return as_bits(x) & (-1 << 31 if x.kind == "float" else -1 << 63)


def _sin(x: Value) -> Value:
    sine, cosine, quadrant = _sine_and_cosine(absolute(x))
    magnitude = select(is_equal(quadrant & 1, 0), sine, cosine)
    flip = (quadrant & 2) << (30 if x.kind == "float" else 62)
    return as_float(as_bits(magnitude) ^ flip ^ _sign_bit(x))


def _cos(x: Value) -> Value:
    sine, cosine, quadrant = _sine_and_cosine(x)
    magnitude = select(is_equal(quadrant & 1, 0), cosine, sine)
    flip = ((quadrant + 1) & 2) << (30 if x.kind == "float" else 62)
    return as_float(as_bits(magnitude) ^ flip)


def _tan(x: Value) -> Value:
    sine, cosine, quadrant = _sine_and_cosine(absolute(x))
    is_even = is_equal(quadrant & 1, 0)
    quotient = select(is_even, sine, cosine) / select(is_even, cosine, sine)
    flip = (quadrant & 1) << (31 if x.kind == "float" else 63)
    return as_float(as_bits(quotient) ^ flip ^ _sign_bit(x))


# pi / 2 and the rest that its float does not hold.
_RIGHT_ANGLE = {
    "float": (1.5707963705062866, -4.371138828673793e-08),
    "double": (1.5707963267948966, 6.123233995736766e-17),
}

# (atan(t) / t - 1) / t**2 in t**2 for 0 <= t <= 1; minimax, 2**-28.7, 2**-57.7.
_ARCTAN = {
    "float": (
        -0.333333015,
        0.199986383,
        -0.142652452,
        0.109575771,
        -0.0841946155,
        0.0582345873,
        -0.0314557366,
        0.0110644577,
        -0.00182721659,
    ),
    "double": (
        -0.33333333333333093,
        0.1999999999995544,
        -0.14285714282802398,
        0.1111111101365568,
        -0.09090907119333312,
        0.07692281187546099,
        -0.06666415002983395,
        0.058805925830185526,
        -0.05253805666938027,
        0.04723293711533571,
        -0.042217186348804725,
        0.0366935409887526,
        -0.029985586773250302,
        0.022085165066332475,
        -0.0139949975060535,
        0.007263365241241268,
        -0.0029193466135531486,
        0.0008434867201821645,
        -0.00015479763094547485,
        1.3489350355778403e-05,
    ),
}


def _arctan_near(t: Value) -> Value:
    """The arctangent of 0 <= t <= 1."""
    square = t * t
    return fma(_pairwise(square, _ARCTAN[t.kind]), t * square, t)


def _arctan(x: Value) -> Value:
    magnitude = absolute(x)
    is_far = magnitude > 1.0
    angle = _arctan_near(select(is_far, 1.0 / magnitude, magnitude))
    high, low = _RIGHT_ANGLE[x.kind]
    return copysign(select(is_far, high - (angle - low), angle), x)


def _arctan2(y: Value, x: Value) -> Value:
    x_magnitude, y_magnitude = absolute(x), absolute(y)
    is_steep = y_magnitude > x_magnitude
    numerator = select(is_steep, x_magnitude, y_magnitude)
    denominator = select(is_steep, y_magnitude, x_magnitude)
    # Equal ones may both be 0 or both infinite.
    of_equal = select(is_equal(denominator, 0.0), denominator, 1.0)
    t = select(is_equal(numerator, denominator), of_equal, numerator / denominator)
    angle = as_bits(_arctan_near(t))
    # The angle is counted from one of the four half axes, forwards or backwards.
    x_sign = _sign_bit(x)
    is_left = x_sign < 0
    high, low = _RIGHT_ANGLE[x.kind]
    steep_sign = select(is_steep, x_sign.like(-1 << 31 if x.kind == "float" else -1 << 63), 0)
    angle = as_float(angle ^ x_sign ^ steep_sign)
    base = select(is_steep, high, select(is_left, x.like(2 * high), 0.0))
    base_low = select(is_steep, low, select(is_left, x.like(2 * low), 0.0))
    return copysign(base + (angle + base_low), y)


# (asin(s) / s - 1) / s**2 in s**2 for s <= 1/2; minimax, 2**-31.7, 2**-55.9.
_ARCSIN = {
    "float": (0.166666597, 0.0750051066, 0.0445157178, 0.0318176262, 0.0144025572, 0.0375652649),
    "double": (
        0.16666666666665383,
        0.07500000000343064,
        0.04464285682346574,
        0.030381959331866666,
        0.0223717535113211,
        0.01735977124616311,
        0.01388459744863685,
        0.0121732841609132,
        0.006510838762973537,
        0.019573931840013457,
        -0.016294095555544466,
        0.03195897026604978,
    ),
}


def _half_arcsin(x: Value) -> tuple[Value, Value]:
    """Whether |x| > 1/2; then half the arc cosine of |x|, else the arc sine of |x|."""
    magnitude = absolute(x)
    is_far = magnitude > 0.5
    square = select(is_far, (1.0 - magnitude) * 0.5, magnitude * magnitude)
    s = select(is_far, sqrt(square), magnitude)
    return is_far, fma(s * square, _pairwise(square, _ARCSIN[x.kind]), s)


def _arcsin(x: Value) -> Value:
    is_far, angle = _half_arcsin(x)
    high, low = _RIGHT_ANGLE[x.kind]
    return copysign(select(is_far, high - (angle * 2.0 - low), angle), x)


def _arccos(x: Value) -> Value:
    is_far, angle = _half_arcsin(x)
    high, low = _RIGHT_ANGLE[x.kind]
    double = angle * 2.0
    far = select(x < 0.0, 2 * high - (double - 2 * low), double)
    return select(is_far, far, high - (copysign(angle, x) - low))


# -------------------------------------------------------------------------------- powers and roots

# (atanh(s) / s - 1) / s**2 in s**2 for the significands of log: minimax, 2**-44.9 ...
_LOG2_SHORT = (
    0.33333333337923243,
    0.19999997802305516,
    0.14286055575675788,
    0.11088049473910615,
    0.09792765295078644,
)
# ... and without the first term: 2**-73.5 of the whole.
_LOG2_LONG = (
    0.1999999999999999,
    0.1428571428572261,
    0.11111111108755299,
    0.0909090943674618,
    0.07692278326955475,
    0.06668162891647061,
    0.05837324227852762,
    0.059952158188734964,
)
# As exp's polynomial, 2**-32.
_EXP_SHORT = (
    0.5000000046518726,
    0.16666666817997824,
    0.04166635416969337,
    0.008333272846034759,
    0.0013941050105817344,
    0.0001991427907229539,
)
# log2(e) and ln(2) as sums of two doubles.
_LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
_LN2_PAIR = (0.6931471805599453, 2.3190468138462996e-17)


def _power_float(x: Value, y: Value) -> Value:
    """|x| ** y of floats, in double arithmetic; 0 and infinity are left to the caller."""
    wide = convert(absolute(x), "double")
    exponent, m = _exponent_and_significand(wide)
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    log2 = fma(
        s * (2 * _LOG2_E[0]),
        fma(square, _polynomial(square, _LOG2_SHORT), 1.0),
        _integer_to_float(exponent, "double"),
    )
    # (-1) ** infinity is 1: 0 * y has to be 0.
    product = _clamp(log2 * _clamp(convert(y, "double"), -(2.0**150), 2.0**150), -200.0, 200.0)
    n, exponent = _nearest_integer(product)
    r = (product - n) * math.log(2)
    result = fma(_polynomial(r, _EXP_SHORT), r * r, r) + 1.0
    return convert(result * _power_of_two(exponent, "double"), "float")


def _log2_pair(x: Value) -> tuple[Value, Value]:
    """log2(x) of a positive x as a sum of two doubles, with some 68 bits."""
    is_small = x < 2.0**-1022
    exponent, m = _exponent_and_significand(select(is_small, x * 2.0**54, x))
    k = _integer_to_float(select(is_small, exponent - 54, exponent), "double")
    # The quotient s of m - 1 and m + 1.
    f = m - 1.0
    below, below_low = _two_sum(1.0, m)
    reciprocal = 1.0 / below
    s = f * reciprocal
    back, back_low = _two_product(s, below)
    s_low = (((f - back) - back_low) - s * below_low) * reciprocal
    # The series w of s**2 / 3 + s**4 / 5 and so on.
    square, square_low = _two_product(s, s)
    square_low = fma(s * 2.0, s_low, square_low)
    third = 0.3333333333333333
    w, w_low = _two_product(square, third)
    w_low = w_low + square * 1.850371707708594e-17 + square_low * third
    w_low = fma(square * square, _pairwise(square, _LOG2_LONG), w_low)
    w, w_low = _two_sum(w, w_low)
    # The sum of k and 2 log2(e) s (1 + w).
    series, series_low = _two_sum(1.0, w)
    series_low = series_low + w_low
    factor, factor_low = _two_product(s, 2 * _LOG2_E[0])
    factor_low = factor_low + s * (2 * _LOG2_E[1]) + s_low * (2 * _LOG2_E[0])
    fraction, fraction_low = _two_product(factor, series)
    fraction_low = fraction_low + factor * series_low + factor_low * series
    high, low = _two_sum(k, fraction)
    return _two_sum(high, low + fraction_low)


def _power_double(x: Value, y: Value) -> Value:
    """|x| ** y of doubles; 0 and infinity are left to the caller."""
    log2, log2_low = _log2_pair(absolute(x))
    y = _clamp(y, -(2.0**600), 2.0**600)
    product, product_low = _two_product(y, log2)
    product_low = fma(y, log2_low, product_low)
    clamped = _clamp(product, -1100.0, 1100.0)
    product_low = select(is_equal(clamped, product), product_low, 0.0)
    n, exponent = _nearest_integer(clamped)
    # exp of (product - n) ln 2, with all but the last steps in pairs: exact powers come out exact.
    fraction, product_low = _two_sum(clamped - n, product_low)
    r, r_low = _two_product(fraction, _LN2_PAIR[0])
    r_low = r_low + fraction * _LN2_PAIR[1] + product_low * _LN2_PAIR[0]
    result, error = _two_sum(1.0, r)
    tail = fma(_pairwise(r, _EXP["double"]), r * r, fma(r, r_low, r_low))
    return _scale(result + (error + tail), exponent)


def _power(x: Value, y: Value) -> Value:
    result = _power_float(x, y) if x.kind == "float" else _power_double(x, y)
    magnitude = absolute(x)
    # 0 and infinity to a power other than 0 give one or the other.
    is_zero, is_infinite = is_equal(magnitude, 0.0), is_equal(magnitude, math.inf)
    result = select(is_zero | is_infinite, select(is_zero ^ (y > 0.0), math.inf, x.like(0.0)), result)
    # Negative numbers: a whole y decides the sign by its last bit, another one gives NaN.
    half = y * 0.5
    is_whole = is_equal(round_to_zero(y), y)
    is_odd = is_whole & (is_equal(round_to_zero(half), half) ^ -1)
    sign = select(is_odd, _sign_bit(x), 0)
    result = as_float(as_bits(result) | sign)
    result = select((x < 0.0) & ((is_whole | is_infinite) ^ -1), math.nan, result)
    result = select(is_nan(x, y), x + y, result)
    return select(is_equal(x, 1.0) | is_equal(y, 0.0), 1.0, result)


def _hypot(x: Value, y: Value) -> Value:
    is_infinite = is_equal(absolute(x), math.inf) | is_equal(absolute(y), math.inf)
    if x.kind == "float":
        wide_x, wide_y = convert(x, "double"), convert(y, "double")
        result = convert(sqrt(wide_x * wide_x + wide_y * wide_y), "float")
        return select(is_infinite, math.inf, result)
    a, b = absolute(x), absolute(y)
    is_less = a < b
    large, small = select(is_less, b, a), select(is_less, a, b)
    # Squares must neither overflow nor vanish.
    is_huge, is_tiny = large > 2.0**500, large < 2.0**-400
    scale = select(is_huge, 2.0**-600, select(is_tiny, x.like(2.0**600), 1.0))
    back = select(is_huge, 2.0**600, select(is_tiny, x.like(2.0**-600), 1.0))
    large, small = large * scale, small * scale
    result = sqrt(fma(large, large, small * small)) * back
    return select(is_infinite, math.inf, result)


# --------------------------------------------------------------------------------- the C library's

# NumPy's names of the functions that go to the C library, and its names.
_LIBRARY = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "cbrt": "cbrt",
    "erf": "erf",
}


@functools.cache
def _library_function(name: str, dtype: str, width: int) -> Definition:
    """A function of the C library, applied to one element after the other.

    Floats go through the double function: it is exact enough, and there on every platform.
    """
    library = f"@{_LIBRARY[name]}"
    block = Block(width)
    vector, suffix = block.type(dtype), block.suffix(dtype)
    symbol = f"@ag.library.{name}.{suffix}"
    widen = f"fpext {dtype} %x.i to double" if dtype == "float" else "fadd double %x.i, -0.0"
    narrow = f"fptrunc double %y.i to {dtype}" if dtype == "float" else "fadd double %y.i, -0.0"
    text = f"""\
define internal {vector} {symbol}({vector} %x) noinline nounwind {{
entry:
  %buffer = alloca {vector}
  store {vector} %x, ptr %buffer
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds {dtype}, ptr %buffer, i64 %i
  %x.i = load {dtype}, ptr %at
  %x.wide = {widen}
  %y.i = call double {library}(double %x.wide)
  %y.narrow = {narrow}
  store {dtype} %y.narrow, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, {width}
  br i1 %more, label %loop, label %done
done:
  %y = load {vector}, ptr %buffer
  ret {vector} %y
}}
"""
    return Definition(symbol, text, frozenset({f"declare double {library}(double)"}), ())


# ----------------------------------------------------------------------------------- the functions

_UNARY: dict[str, Callable[[Value], Value]] = {
    "exp": _exp,
    "exp2": _exp2,
    "expm1": _expm1,
    "log": _log,
    "log2": _log2,
    "log10": _log10,
    "log1p": _log1p,
    "sin": _sin,
    "cos": _cos,
    "tan": _tan,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arctan": _arctan,
}
_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "arctan2": _arctan2,
    "power": _power,
    "hypot": _hypot,
    "logaddexp": _logaddexp,
}
_TRIGONOMETRIC = ("sin", "cos", "tan")

NAMES = dict.fromkeys((*_UNARY, *_LIBRARY), 1) | dict.fromkeys(_BINARY, 2)
"""NumPy's names of the functions, with the number of their arguments."""


@functools.cache
def function(name: str, dtype: str, width: int, has_fma: bool = True) -> Definition:
    """The definition of a function of NumPy for vectors of `width` floats or doubles.

    >>> print(function("hypot", "float", 1).text)
    define internal float @ag.hypot.f32(float %x, float %y) nounwind memory(none) {
    ...
    }
    """
    block = Block(width, has_fma)
    arguments = [Value(block, argument, dtype) for argument in ("%x", "%y")[: NAMES[name]]]
    needs: tuple[Definition, ...] = ()
    if name in _TRIGONOMETRIC or name not in (*_UNARY, *_BINARY):
        needs = (_library_function(name, dtype, width),)
    if name in _TRIGONOMETRIC:
        result = _trigonometric(name, arguments[0], needs[0].symbol)
    elif needs:
        result = _call(needs[0].symbol, arguments[0])
    elif name in _UNARY:
        result = _UNARY[name](arguments[0])
    else:
        result = _BINARY[name](arguments[0], arguments[1])
    attributes = "nounwind" if needs else "nounwind memory(none)"
    parameters = ", ".join(argument.typed for argument in arguments)
    symbol = f"@ag.{name}.{block.suffix(dtype)}"
    body = "\n".join(block.lines)
    text = (
        f"define internal {block.type(dtype)} {symbol}({parameters}) {attributes} {{\n"
        f"entry:\n{body}\n  ret {result.typed}\n}}\n"
    )
    return Definition(symbol, text, frozenset(block.declarations), needs)


def _call(symbol: str, x: Value, attributes: str = "") -> Value:
    return x.block.emit(f"call {x.block.type(x.kind)} {symbol}({x.typed}){attributes}", x.kind)


def _trigonometric(name: str, x: Value, library: str) -> Value:
    """The function in the range of its reduction; larger arguments, which are rare, go to the C library."""
    block, kind = x.block, x.kind
    work = x if block.has_fma else convert(x, "double")
    result = convert(_UNARY[name](work), kind)
    is_large = absolute(x) >= _TRIGONOMETRY_LIMIT[work.kind, block.has_fma]
    block.lines.append(f"  br i1 {block.any(is_large)}, label %large, label %done\nlarge:")
    mixed = select(is_large, _call(library, x, " cold"), result)
    block.lines.append("  br label %done\ndone:")
    vector = block.type(kind)
    return block.emit(f"phi {vector} [ {result.name}, %entry ], [ {mixed.name}, %large ]", kind)
