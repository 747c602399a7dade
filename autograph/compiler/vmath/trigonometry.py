"""The trigonometric functions and their inverses."""

from __future__ import annotations

import math

from autograph.compiler.vmath.steps import (
    FORMATS,
    nearest_integer,
    polynomial,
    sign_bit,
    two_difference,
    two_product,
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

__all__ = ["LIMITS", "arccos", "arcsin", "arctan", "arctan2", "cos", "sin", "tan"]

LIMITS = {("float", True): 2.0**15, ("double", True): 2.0**27, ("double", False): 2.0**20}
"""Where the reduction of sin, cos and tan ends, by kind of float and whether there is fma.

Floats without fma have none: their parts of pi / 2 would be too short.
"""

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


def _sine_and_cosine(x: Value) -> tuple[Value, Value, Value]:
    """Sine and cosine of x's distance from the nearest multiple of pi / 2, and which multiple that is."""
    n, quadrant = nearest_integer(x, 2 / math.pi)
    r = x
    for part in _HALF_PI[x.kind, x.block.has_fma]:
        r = fma(n, -part, r)
    square = r * r
    sine = fma(r * square, polynomial(square, _SIN[x.kind]), r)
    cosine = fma(square * square, polynomial(square, _COS[x.kind]), fma(square, -0.5, 1.0))
    return sine, cosine, quadrant


def _is_even(quadrant: Value) -> Value:
    return is_equal(quadrant & 1, 0)


def sin(x: Value) -> Value:
    """The sine."""
    sine, cosine, quadrant = _sine_and_cosine(absolute(x))
    flip = (quadrant & 2) << (30 if x.kind == "float" else 62)
    return as_float(as_bits(select(_is_even(quadrant), sine, cosine)) ^ flip ^ sign_bit(x))


def cos(x: Value) -> Value:
    """The cosine."""
    sine, cosine, quadrant = _sine_and_cosine(x)
    flip = ((quadrant + 1) & 2) << (30 if x.kind == "float" else 62)
    return as_float(as_bits(select(_is_even(quadrant), cosine, sine)) ^ flip)


def tan(x: Value) -> Value:
    """The tangent: sine / cosine, which need the rounding errors of the reduction to be exact enough."""
    magnitude = absolute(x)
    n, quadrant = nearest_integer(magnitude, 2 / math.pi)
    first, second, *others = _HALF_PI[x.kind, x.block.has_fma]
    product, product_low = two_product(n, second)
    r, error = two_difference(fma(n, -first, magnitude), product)
    error = error - product_low
    for part in others:
        error = fma(n, -part, error)
    r, error = two_sum(r, error)
    square = r * r
    half = square * 0.5
    sine = r + fma(r * square, polynomial(square, _SIN[x.kind]), error)
    cosine = 1.0 - half
    rest = fma(square * square, polynomial(square, _COS[x.kind]), (1.0 - cosine) - half)
    cosine = cosine + fma(-r, error, rest)
    is_even = _is_even(quadrant)
    quotient = select(is_even, sine, cosine) / select(is_even, cosine, sine)
    flip = (quadrant & 1) << (31 if x.kind == "float" else 63)
    return as_float(as_bits(quotient) ^ flip ^ sign_bit(x))


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
    return fma(polynomial(square, _ARCTAN[t.kind]), t * square, t)


def arctan(x: Value) -> Value:
    """The arctangent; above 1 from that of 1 / x."""
    magnitude = absolute(x)
    is_far = magnitude > 1.0
    angle = _arctan_near(select(is_far, 1.0 / magnitude, magnitude))
    high, low = _RIGHT_ANGLE[x.kind]
    return copysign(select(is_far, high - (angle - low), angle), x)


def arctan2(y: Value, x: Value) -> Value:
    """The angle of the point (x, y)."""
    x_magnitude, y_magnitude = absolute(x), absolute(y)
    is_steep = y_magnitude > x_magnitude
    numerator = select(is_steep, x_magnitude, y_magnitude)
    denominator = select(is_steep, y_magnitude, x_magnitude)
    # Equal ones may both be 0 or both infinite.
    of_equal = select(is_equal(denominator, 0.0), denominator, 1.0)
    t = select(is_equal(numerator, denominator), of_equal, numerator / denominator)
    # The angle is counted from one of the four half axes, forwards or backwards.
    x_sign = sign_bit(x)
    is_left = x_sign < 0
    flip = x_sign ^ select(is_steep, x_sign.like(FORMATS[x.kind].sign), 0)
    angle = as_float(as_bits(_arctan_near(t)) ^ flip)
    high, low = _RIGHT_ANGLE[x.kind]
    axis = select(is_steep, high, select(is_left, x.like(2 * high), 0.0))
    axis_low = select(is_steep, low, select(is_left, x.like(2 * low), 0.0))
    return copysign(axis + (angle + axis_low), y)


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


def _arcsin_near(x: Value) -> tuple[Value, Value]:
    """Whether |x| > 1/2, and then half the arccosine of |x|, else its arcsine (Cephes: asin.c)."""
    magnitude = absolute(x)
    is_far = magnitude > 0.5
    square = select(is_far, (1.0 - magnitude) * 0.5, magnitude * magnitude)
    s = select(is_far, sqrt(square), magnitude)
    return is_far, fma(s * square, polynomial(square, _ARCSIN[x.kind]), s)


def arcsin(x: Value) -> Value:
    """The arcsine."""
    is_far, angle = _arcsin_near(x)
    high, low = _RIGHT_ANGLE[x.kind]
    return copysign(select(is_far, high - (angle * 2.0 - low), angle), x)


def arccos(x: Value) -> Value:
    """The arccosine."""
    is_far, angle = _arcsin_near(x)
    high, low = _RIGHT_ANGLE[x.kind]
    far = select(x < 0.0, 2 * high - (angle * 2.0 - 2 * low), angle * 2.0)
    return select(is_far, far, high - (copysign(angle, x) - low))
