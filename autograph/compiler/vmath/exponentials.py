"""Functions that are made of exp: exponentials, hyperbolic functions and the error function."""

from __future__ import annotations

import math

from autograph.compiler.vmath.steps import (
    FORMATS,
    clamp,
    nearest_integer,
    polynomial,
    power_of_two,
    residue,
    scale,
)
from autograph.compiler.vmath.vectors import Value, absolute, copysign, fma, select

__all__ = ["EXP_TAIL", "cosh", "erf", "exp", "exp2", "expm1", "sinh", "tanh"]

EXP_TAIL = {
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
"""(exp(r) - 1 - r) / r**2 for |r| <= ln(2) / 2; minimax, relative to expm1(r): 2**-26.2, 2**-55.6."""

# ln(2) in two parts; products of the first with exponents are exact (the doubles as in msun's e_exp.c).
_LN2 = {
    "float": (0.693145751953125, 1.428606765330187e-06),
    "double": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}

# Beyond these, exp is 0 or infinite.
_EXP_RANGE = {"float": (-104.0, 89.0), "double": (-746.0, 710.0)}


def _tail(r: Value) -> Value:
    return polynomial(r, EXP_TAIL[r.kind])


def _reduce(x: Value) -> tuple[Value, Value, Value]:
    """The exponent n, and r = x - n ln 2 with its rounding error (Cody and Waite)."""
    high, low = _LN2[x.kind]
    n, exponent = nearest_integer(x, 1 / math.log(2))
    first = fma(n, -high, x)
    r = fma(n, -low, first)
    return exponent, r, fma(n, -low, first - r)


def _exp_near(r: Value) -> Value:
    return fma(_tail(r), r * r, r) + 1.0


def exp(x: Value) -> Value:
    """e ** x."""
    exponent, r, _ = _reduce(clamp(x, *_EXP_RANGE[x.kind]))
    return scale(_exp_near(r), exponent)


def exp2(x: Value) -> Value:
    """2 ** x."""
    x = clamp(x, -151.0, 129.0) if x.kind == "float" else clamp(x, -1076.0, 1025.0)
    n, exponent = nearest_integer(x)
    return scale(_exp_near((x - n) * math.log(2)), exponent)


def _half_exp(x: Value) -> Value:
    """`exp(x) / 2` for x >= 0, finite also where exp(x) is not."""
    limit = 95.0 if x.kind == "float" else 720.0
    exponent, r, _ = _reduce(select(x > limit, limit, x))
    return scale(_exp_near(r), exponent - 1)


def _half_expm1(x: Value) -> Value:
    """`(exp(x) - 1) / 2` where exp(x) is neither too large nor too small for a float."""
    exponent, r, error = _reduce(x)
    reduced = r + fma(_tail(r), r * r, error)
    half = power_of_two(exponent - 1, x.kind)
    return fma(reduced, half, half - 0.5)


def expm1(x: Value) -> Value:
    """exp(x) - 1."""
    result = _half_expm1(clamp(x, -50.0, _EXP_RANGE[x.kind][1])) * 2.0
    # Where that loses bits and the sign of zero, the result is x.
    return select(absolute(x) < 4 * FORMATS[x.kind].smallest_normal, x, result)


def tanh(x: Value) -> Value:
    """h / (h + 1) with h = expm1(2 |x|) / 2; a second step corrects the rounding of both."""
    limit = 10.0 if x.kind == "float" else 20.0
    magnitude = absolute(x)
    half = _half_expm1(select(magnitude > limit, limit, magnitude) * 2.0)
    divisor = half + 1.0
    divisor_low = half - (divisor - 1.0)
    reciprocal = 1.0 / divisor
    quotient = half * reciprocal
    rest = fma(-quotient, divisor_low, residue(half, quotient, divisor))
    return copysign(fma(rest, reciprocal, quotient), x)


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


def sinh(x: Value) -> Value:
    """(exp(x) - exp(-x)) / 2, and a polynomial up to 1."""
    magnitude = absolute(x)
    square = x * x
    near = fma(x * square, polynomial(square, _SINH[x.kind]), x)
    half = _half_exp(magnitude)
    return copysign(select(magnitude < 1.0, near, half - 0.25 / half), x)


def cosh(x: Value) -> Value:
    """(exp(x) + exp(-x)) / 2."""
    half = _half_exp(absolute(x))
    return half + 0.25 / half


# erf(x) / x - 1 in x**2, for |x| <= 1; minimax, 2**-29.6, 2**-56.9.
_ERF_NEAR = {
    "float": (
        0.128379166,
        -0.37612626,
        0.112835854,
        -0.0268538129,
        0.00518832775,
        -0.000801019429,
        7.85386364e-05,
    ),
    "double": (
        0.12837916709551256,
        -0.3761263890318352,
        0.11283791670944185,
        -0.02686617064311151,
        0.005223977606118751,
        -0.000854832592932579,
        0.00012055293577199674,
        -1.492471230721731e-05,
        1.6447131630213587e-06,
        -1.6206314174210144e-07,
        1.3710982053571266e-08,
        -7.779471325247432e-10,
    ),
}
# -log(erfc(x)) from 1 to 4 or 6, where erf becomes 1; minimax for the error of erf, 2**-29.9, 2**-57.1.
_ERF_FAR = {
    "float": (
        0.00035374632,
        1.12703991,
        0.638225853,
        0.103037179,
        -0.0218052231,
        0.00293958234,
        -0.000185571349,
    ),
    "double": (
        5.133351079207815e-07,
        1.128373990775122,
        0.6366440594315063,
        0.10270227746851299,
        -0.01898801786631627,
        -0.00041357119055588417,
        0.0019189831521034967,
        -0.0007730745152750596,
        0.0001365747861339953,
        1.9513195473270177e-05,
        -2.2528956138278376e-05,
        8.577536131243558e-06,
        -2.1144937149899563e-06,
        3.695084638361864e-07,
        -4.5925465908199865e-08,
        3.8892883816702064e-09,
        -2.0199261399116645e-10,
        4.8639933308516676e-12,
    ),
}


def erf(x: Value) -> Value:
    """The error function: a polynomial up to 1, then 1 - exp(-polynomial)."""
    magnitude = absolute(x)
    square = x * x
    near = fma(x, polynomial(square, _ERF_NEAR[x.kind]), x)
    limit = 4.0 if x.kind == "float" else 6.0
    limited = select(magnitude > limit, limit, magnitude)
    exponent, r, _ = _reduce(-polynomial(limited, _ERF_FAR[x.kind]))
    far = fma(-_exp_near(r), power_of_two(exponent, x.kind), 1.0)
    return select(magnitude < 1.0, near, copysign(far, x))
