"""The steps that the functions have in common: polynomials, sums and products in pairs, parts of floats."""

from __future__ import annotations

from collections.abc import Sequence

from autograph.compiler.vmath.vectors import Number, Value, as_bits, as_float, convert, fma, select
from autograph.records import record_class

__all__ = [
    "FORMATS",
    "Format",
    "clamp",
    "exponent_and_significand",
    "integer_to_float",
    "nearest_integer",
    "polynomial",
    "power_of_two",
    "residue",
    "scale",
    "sign_bit",
    "two_difference",
    "two_product",
    "two_sum",
]


@record_class(frozen=True)
class Format:
    """What the algorithms need to know of a floating-point format."""

    digits: int
    """Bits of the significand that are stored."""
    bias: int
    """The exponent that is stored for 1."""
    magic: float
    """Added to a number, it rounds to an integer, which then stands in the lowest bits."""
    magic_bits: int
    smallest_normal: float
    sqrt_half: int
    """The bits of the square root of 1/2 (in the double format of its upper half)."""
    sign: int
    """The integer that has the sign bit alone."""


FORMATS = {
    "float": Format(23, 127, 12582912.0, 0x4B400000, 2.0**-126, 0x3F3504F3, -1 << 31),
    "double": Format(
        52, 1023, 6755399441055744.0, 0x4338000000000000, 2.0**-1022, 0x3FE6A09E00000000, -1 << 63
    ),
}


def polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """A polynomial; the lowest degree comes first.

    A short one is done by Horner's scheme, a long one by that of Estrin, which goes in shorter chains:
    neighbours first, then pairs of neighbours, and so on.
    """
    if len(coefficients) <= 8:
        result: Value = x.like(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = fma(result, x, coefficient)
        return result
    terms: list[Value] = [x.like(coefficient) for coefficient in coefficients]
    power = x
    while len(terms) > 1:
        pairs = [fma(high, power, low) for low, high in zip(terms[::2], terms[1::2])]
        terms = pairs + terms[2 * len(pairs) :]
        if len(terms) > 1:
            power = power * power
    return terms[0]


def clamp(x: Value, low: float, high: float) -> Value:
    """Limits `x`; NaN stays."""
    x = select(x > high, high, x)
    return select(x < low, low, x)


def two_sum(large: Number, small: Value) -> tuple[Value, Value]:
    """The sum and its rounding error, for |large| >= |small| (Dekker)."""
    total = large + small
    return total, small - (total - large)


def two_difference(x: Value, y: Value) -> tuple[Value, Value]:
    """The difference and its rounding error, for any two numbers (Knuth)."""
    total = x - y
    back = total - x
    return total, (x - (total - back)) - (y + back)


def two_product(x: Value, y: Number) -> tuple[Value, Value]:
    """The product and its rounding error (Dekker)."""
    y = x.like(y)
    product = x * y
    if x.block.has_fma:
        return product, fma(x, y, -product)
    (x_high, x_low), (y_high, y_low) = _split(x), _split(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def residue(x: Value, quotient: Value, divisor: Value) -> Value:
    """What is left of x: x - quotient * divisor, for the rounded quotient."""
    if x.block.has_fma:
        return fma(-quotient, divisor, x)
    product, error = two_product(quotient, divisor)
    return (x - product) - error


def _split(x: Value) -> tuple[Value, Value]:
    """Two halves, short enough for exact products (Veltkamp)."""
    shifted = x * (4097.0 if x.kind == "float" else 134217729.0)
    high = shifted - (shifted - x)
    return high, x - high


def nearest_integer(x: Value, factor: float = 1.0) -> tuple[Value, Value]:
    """`rint(x * factor)`, as a float and as an integer; no processor need have such an instruction."""
    form = FORMATS[x.kind]
    shifted = x + form.magic if factor == 1.0 else fma(x, factor, form.magic)
    return shifted - form.magic, as_bits(shifted) - form.magic_bits


def integer_to_float(n: Value, kind: str) -> Value:
    """A small integer as a float of the same size."""
    if kind == "float":
        return convert(n, kind)
    # Few processors convert 64-bit integers: the number is put behind the magic one.
    return as_float(n + FORMATS[kind].magic_bits) - FORMATS[kind].magic


def power_of_two(exponent: Value, kind: str) -> Value:
    """`2 ** exponent`, for the exponents of normal numbers."""
    return as_float((exponent + FORMATS[kind].bias) << FORMATS[kind].digits)


def scale(x: Value, exponent: Value) -> Value:
    """`x * 2 ** exponent` in two steps, so that both ends of the range are right."""
    # Shifted to positive numbers first: few processors have an arithmetic shift of 64-bit integers.
    half = ((exponent + 4096) >> 1) - 2048
    return x * power_of_two(half, x.kind) * power_of_two(exponent - half, x.kind)


def exponent_and_significand(x: Value) -> tuple[Value, Value]:
    """k and m of a positive normal x = m * 2**k, with m between sqrt(1/2) and sqrt(2)."""
    form = FORMATS[x.kind]
    bits = as_bits(x) + ((form.bias << form.digits) - form.sqrt_half)
    exponent = (bits >> form.digits) - form.bias
    return exponent, as_float((bits & ((1 << form.digits) - 1)) + form.sqrt_half)


def sign_bit(x: Value) -> Value:
    """The bits of a float with all but the sign cleared."""
    return as_bits(x) & FORMATS[x.kind].sign
