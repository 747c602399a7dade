"""Functions that are made of log: logarithms and the inverse hyperbolic functions."""

from __future__ import annotations

import math

from autograph.compiler.vmath.exponentials import exp
from autograph.compiler.vmath.steps import (
    FORMATS,
    exponent_and_significand,
    integer_to_float,
    polynomial,
    power_of_two,
    two_sum,
)
from autograph.compiler.vmath.vectors import (
    Value,
    absolute,
    as_bits,
    as_float,
    copysign,
    fma,
    is_equal,
    select,
    sqrt,
)

__all__ = ["arccosh", "arcsinh", "arctanh", "log", "log1p", "log2", "log10", "logaddexp"]

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
# ln(2) in two parts; products of the first with exponents are exact (msun, as above).
_LN2 = {
    "float": (6.9313812256e-01, 9.0580006145e-06),
    "double": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}


def _reduce(x: Value) -> tuple[Value, Value]:
    """k, as a float, and m - 1 for any positive x = m * 2**k."""
    form = FORMATS[x.kind]
    shift = form.digits + 2
    is_small = x < form.smallest_normal
    exponent, m = exponent_and_significand(select(is_small, x * 2.0**shift, x))
    return integer_to_float(select(is_small, exponent - shift, exponent), x.kind), m - 1.0


def _tail(f: Value, half_square: Value) -> Value:
    """log(1 + f) - f + f**2 / 2, which is s (f**2 / 2 + R(s**2)) with s = f / (2 + f)."""
    s = f / (f + 2.0)
    square = s * s
    return s * fma(square, polynomial(square, _LOG[f.kind]), half_square)


def _with_specials(x: Value, result: Value) -> Value:
    """The logarithms of 0, infinity, negative numbers and NaN."""
    result = select(is_equal(x, math.inf), x, result)
    result = select(is_equal(x, 0.0), -math.inf, result)
    return select(x >= 0.0, result, select(x < 0.0, math.nan, x))


def log(x: Value) -> Value:
    """The natural logarithm."""
    k, f = _reduce(x)
    high, low = _LN2[x.kind]
    half_square = f * f * 0.5
    rest = fma(k, low, _tail(f, half_square))
    return _with_specials(x, fma(k, high, f - (half_square - rest)))


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
    """log(x) / log(base), with the logarithm of the significand in two parts."""
    (high, low), (k_high, k_low) = _BASES[x.kind, base]
    k, f = _reduce(x)
    half_square = f * f * 0.5
    # The first part is short enough for exact products.
    mask = -0x1000 if x.kind == "float" else -0x100000000
    main = as_float(as_bits(f - half_square) & mask)
    rest = ((f - main) - half_square) + _tail(f, half_square)
    result, error = two_sum(k * k_high, main * high)
    error = fma(rest + main, low, fma(rest, high, error))
    if k_low:
        error = fma(k, k_low, error)
    return _with_specials(x, result + error)


def log2(x: Value) -> Value:
    """The logarithm to base 2."""
    return _log_to_base(x, 2)


def log10(x: Value) -> Value:
    """The logarithm to base 10."""
    return _log_to_base(x, 10)


def _log_of_sum(u: Value, error: Value, doubled: Value | None = None) -> Value:
    """log(u + error) for an error in the order of u's rounding; log of its double where `doubled` is set."""
    exponent, m = exponent_and_significand(u)
    # The error is scaled like the significand; from 2**100 on it does not matter.
    error = error * power_of_two(0 - select(exponent > 100, 100, exponent), u.kind)
    if doubled is not None:
        exponent = select(doubled, exponent + 1, exponent)
    k, f = integer_to_float(exponent, u.kind), m - 1.0
    high, low = _LN2[u.kind]
    square = f * f
    half_square = square * 0.5
    # error / (1 + f), for which 1 - f + f**2 is near enough.
    correction = error * (square - f + 1.0)
    rest = fma(k, low, correction) + _tail(f, half_square)
    return _with_specials(u, fma(k, high, f - (half_square - rest)))


def _log1p(x: Value, low: Value | None = None) -> Value:
    """log(1 + x + low), without zero's sign."""
    u = x + 1.0
    back = u - 1.0
    error = (1.0 - (u - back)) + (x - back)
    return _log_of_sum(u, error if low is None else error + low)


def log1p(x: Value) -> Value:
    """log(1 + x)."""
    return select(absolute(x) < 2.0**-60, x, _log1p(x))


def logaddexp(x: Value, y: Value) -> Value:
    """log(exp(x) + exp(y)): the larger one + log1p(exp(-|x - y|)), but infinities have no difference."""
    difference = x - y
    larger = select(difference > 0.0, x, y)
    result = larger + _log1p(exp(-absolute(difference)))
    return select(is_equal(x, y), x + math.log(2), result)


# From here on, x**2 + 1 and x**2 - 1 are x**2.
_LARGE = {"float": 2.0**14, "double": 2.0**28}


def arcsinh(x: Value) -> Value:
    """log(|x| + sqrt(x**2 + 1)), where the sum is written 1 + |x| + x**2 / (1 + sqrt(x**2 + 1))."""
    magnitude = absolute(x)
    is_large = magnitude > _LARGE[x.kind]
    a = select(is_large, 1.0, magnitude)
    square = a * a
    t, t_low = two_sum(a, square / (sqrt(square + 1.0) + 1.0))
    u = t + 1.0
    back = u - 1.0
    error = (1.0 - (u - back)) + (t - back) + t_low
    error = select(is_large, 0.0, error)
    result = _log_of_sum(select(is_large, magnitude, u), error, is_large)
    return select(magnitude < 2.0**-60, x, copysign(result, x))


def arccosh(x: Value) -> Value:
    """log(x + sqrt(x**2 - 1))."""
    is_large = x > _LARGE[x.kind]
    a = select(is_large, 1.0, x)
    t = a - 1.0
    u, error = two_sum(a, sqrt(fma(t, t, t * 2.0)))
    result = _log_of_sum(select(is_large, x, u), error, is_large)
    return select(x < 1.0, math.nan, result)


def arctanh(x: Value) -> Value:
    """log1p(2 |x| / (1 - |x|)) / 2."""
    magnitude = absolute(x)
    result = _log1p(magnitude * 2.0 / (1.0 - magnitude)) * 0.5
    return select(magnitude < 2.0**-60, x, copysign(result, x))
