"""Powers and roots."""

from __future__ import annotations

import math

from autograph.compiler.vmath.exponentials import EXP_TAIL
from autograph.compiler.vmath.steps import (
    clamp,
    exponent_and_significand,
    integer_to_float,
    nearest_integer,
    polynomial,
    power_of_two,
    residue,
    scale,
    sign_bit,
    two_product,
    two_sum,
)
from autograph.compiler.vmath.vectors import (
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

__all__ = ["cbrt", "hypot", "power"]

# (atanh(s) / s - 1) / s**2 in s**2 for log's significands; minimax, 2**-44.9 ...
_LOG_SHORT = (
    0.33333333337923243,
    0.19999997802305516,
    0.14286055575675788,
    0.11088049473910615,
    0.09792765295078644,
)
# ... and the same without the first term; 2**-73.5 of the whole.
_LOG_LONG = (
    0.1999999999999999,
    0.1428571428572261,
    0.11111111108755299,
    0.0909090943674618,
    0.07692278326955475,
    0.06668162891647061,
    0.05837324227852762,
    0.059952158188734964,
)
# As EXP_TAIL; 2**-32.
_EXP_SHORT = (
    0.5000000046518726,
    0.16666666817997824,
    0.04166635416969337,
    0.008333272846034759,
    0.0013941050105817344,
    0.0001991427907229539,
)
# Sums of two doubles.
_LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
_LN2 = (0.6931471805599453, 2.3190468138462996e-17)
_THIRD = (0.3333333333333333, 1.850371707708594e-17)


def _power_of_floats(x: Value, y: Value) -> Value:
    """|x| ** y, in double arithmetic; not for x = 0 and infinity."""
    exponent, m = exponent_and_significand(convert(absolute(x), "double"))
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    log2 = fma(
        s * (2 * _LOG2_E[0]),
        fma(square, polynomial(square, _LOG_SHORT), 1.0),
        integer_to_float(exponent, "double"),
    )
    # Infinite y are limited so that 1 ** y is 1.
    product = clamp(log2 * clamp(convert(y, "double"), -(2.0**150), 2.0**150), -200.0, 200.0)
    n, exponent = nearest_integer(product)
    r = (product - n) * math.log(2)
    result = fma(polynomial(r, _EXP_SHORT), r * r, r) + 1.0
    return convert(result * power_of_two(exponent, "double"), "float")


def _log2(x: Value) -> tuple[Value, Value]:
    """log2(x) of a positive double as a sum of two, with an error of some 2**-65."""
    is_small = x < 2.0**-1022
    exponent, m = exponent_and_significand(select(is_small, x * 2.0**54, x))
    k = integer_to_float(select(is_small, exponent - 54, exponent), "double")
    # The quotient s of m - 1 and m + 1.
    f = m - 1.0
    divisor, divisor_low = two_sum(1.0, m)
    reciprocal = 1.0 / divisor
    s = f * reciprocal
    s_low = fma(-s, divisor_low, residue(f, s, divisor)) * reciprocal
    # The series w of s**2 / 3 + s**4 / 5 and so on.
    square, square_low = two_product(s, s)
    square_low = fma(s * 2.0, s_low, square_low)
    w, w_low = two_product(square, _THIRD[0])
    w_low = fma(square, _THIRD[1], fma(square_low, _THIRD[0], w_low))
    w, w_low = two_sum(w, fma(square * square, polynomial(square, _LOG_LONG), w_low))
    # The sum of k and 2 log2(e) s (1 + w).
    series, series_low = two_sum(1.0, w)
    series_low = series_low + w_low
    factor, factor_low = two_product(s, 2 * _LOG2_E[0])
    factor_low = fma(s, 2 * _LOG2_E[1], fma(s_low, 2 * _LOG2_E[0], factor_low))
    fraction, fraction_low = two_product(factor, series)
    fraction_low = fma(factor, series_low, fma(factor_low, series, fraction_low))
    high, low = two_sum(k, fraction)
    return two_sum(high, low + fraction_low)


def _power_of_doubles(x: Value, y: Value) -> Value:
    """|x| ** y; not for x = 0 and infinity. Pairs up to the last sum let exact powers come out exact."""
    log2, log2_low = _log2(absolute(x))
    y = clamp(y, -(2.0**600), 2.0**600)
    product, product_low = two_product(y, log2)
    product_low = fma(y, log2_low, product_low)
    limited = clamp(product, -1100.0, 1100.0)
    product_low = select(is_equal(limited, product), product_low, 0.0)
    n, exponent = nearest_integer(limited)
    fraction, fraction_low = two_sum(limited - n, product_low)
    r, r_low = two_product(fraction, _LN2[0])
    r_low = fma(fraction, _LN2[1], fma(fraction_low, _LN2[0], r_low))
    result, error = two_sum(1.0, r)
    tail = fma(polynomial(r, EXP_TAIL["double"]), r * r, fma(r, r_low, r_low))
    return scale(result + (error + tail), exponent)


def power(x: Value, y: Value) -> Value:
    """x ** y."""
    result = _power_of_floats(x, y) if x.kind == "float" else _power_of_doubles(x, y)
    magnitude = absolute(x)
    # 0 and infinity to a power other than 0 give one or the other.
    is_zero, is_infinite = is_equal(magnitude, 0.0), is_equal(magnitude, math.inf)
    result = select(is_zero | is_infinite, select(is_zero ^ (y > 0.0), x.like(math.inf), 0.0), result)
    # Negative numbers: a whole y decides the sign by its last bit, another one gives NaN.
    half = y * 0.5
    is_whole = is_equal(round_to_zero(y), y)
    is_odd = is_whole & (is_equal(round_to_zero(half), half) ^ -1)
    result = as_float(as_bits(result) | select(is_odd, sign_bit(x), 0))
    result = select((x < 0.0) & ((is_whole | is_infinite) ^ -1), math.nan, result)
    result = select(is_nan(x, y), x + y, result)
    return select(is_equal(x, 1.0) | is_equal(y, 0.0), 1.0, result)


def hypot(x: Value, y: Value) -> Value:
    """sqrt(x**2 + y**2)."""
    a, b = absolute(x), absolute(y)
    is_infinite = is_equal(a, math.inf) | is_equal(b, math.inf)
    if x.kind == "float":
        a, b = convert(a, "double"), convert(b, "double")
        return select(is_infinite, math.inf, convert(sqrt(a * a + b * b), "float"))
    is_less = a < b
    large, small = select(is_less, b, a), select(is_less, a, b)
    # The squares shall neither overflow nor vanish.
    is_huge, is_tiny = large > 2.0**500, large < 2.0**-400
    forth = select(is_huge, 2.0**-600, select(is_tiny, x.like(2.0**600), 1.0))
    back = select(is_huge, 2.0**600, select(is_tiny, x.like(2.0**-600), 1.0))
    large, small = large * forth, small * forth
    return select(is_infinite, math.inf, sqrt(fma(large, large, small * small)) * back)


# The binomial series of (1 - e) ** (-1/3) without its first term.
_CUBE_ROOT = (1 / 3, 2 / 9, 14 / 81, 35 / 243, 91 / 729)


def cbrt(x: Value) -> Value:
    """The cube root: x times the square of its inverse, which is found without a division.

    The inverse starts with a third of the exponent (Kahan); e = 1 - x y**3 then gives the factor by which y
    is wrong, (1 - e) ** (-1/3).
    """
    wide = convert(absolute(x), "double")
    is_small = wide < 1.0
    scaled = wide * select(is_small, wide.like(2.0**54), 2.0**-54)
    # The upper half of the bits, as a number, divided by -3.
    upper = integer_to_float(as_bits(scaled) >> 32, "double")
    _, estimate = nearest_integer(fma(upper, -1 / 3, float(0x553EE8B4)))
    y = as_float(estimate << 32)
    e = 1.0 - (scaled * y) * (y * y)
    y = fma(y * e, polynomial(e, _CUBE_ROOT), y)
    if x.kind == "double":
        e = 1.0 - (scaled * y) * (y * y)
        y = fma(y * e, polynomial(e, _CUBE_ROOT[:2]), y)
    # One step of Newton's method with an exact residue.
    square = y * y
    root = scaled * square
    root_square, root_square_low = two_product(root, root)
    cube, cube_low = two_product(root, root_square)
    residue = ((scaled - cube) - cube_low) - root * root_square_low
    root = fma(residue, square * (1 / 3), root)
    root = root * select(is_small, wide.like(2.0**-18), 2.0**18)
    result = copysign(convert(root, x.kind), x)
    return select(is_equal(x, 0.0) | is_equal(absolute(x), math.inf), x, result)
