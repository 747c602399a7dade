"""Operations on single numbers: powers, divmod, membership, bit for bit as Python and NumPy have them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import check


def square(z):
    return z**2


def cube(z):
    return z**3


def float_cube(z):
    return z**3.0


def seventh(z):
    return z**7


def none(z):
    return z**0


PARTS = (0.0, -0.0, 1.5, -1e-200, 1e160, math.inf, math.nan)


def bits(value: Any) -> Any:
    """A number by its class and its bits."""
    return type(value), np.asarray(value).tobytes()


def outcome(fn, *args) -> Any:
    try:
        return bits(fn(*args))
    except ArithmeticError as error:
        return type(error), str(error)


@pytest.mark.parametrize("fn", [square, cube, float_cube, seventh, none])
@pytest.mark.parametrize("cls", [complex, np.complex128, np.complex64])
def test_powers_of_complex_numbers(fn, cls) -> None:
    staged = ag.to_graph(fn)
    for real, imag in itertools.product(PARTS, PARTS):
        with np.errstate(all="ignore"):
            z = cls(complex(real, imag))
            a, b = outcome(staged, z), outcome(fn, z)
        if "nan" in repr(fn(1 + 1j)) or isinstance(b[1], str):
            assert a == b, z
            continue
        x, y = (np.frombuffer(v[1], np.float32 if cls is np.complex64 else float) for v in (a, b))
        assert a[0] is b[0]
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(np.signbit(x[~np.isnan(x)]), np.signbit(y[~np.isnan(y)]))
    check(fn, cls(1.25 - 0.5j))


@pytest.mark.parametrize("cls", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize("fn", [square, cube, seventh])
def test_powers_of_integers_wrap(fn, cls) -> None:
    info = np.iinfo(cls)
    for value in (0, 1, 3, 11, info.max, info.min, info.max // 2):
        with np.errstate(all="ignore"):
            check(fn, cls(value))


def divided(a, b):
    return divmod(a, b)


@pytest.mark.parametrize(
    "args",
    [
        (np.int64(-7), np.int64(3)),
        (np.int16(7), np.int16(-3)),
        (np.uint8(200), np.uint8(7)),
        (np.int32(-7), 3),
        (np.float64(-7.5), np.float64(2.0)),
        (np.float32(7.5), np.float32(-2.0)),
        (np.float64(7.5), 2),
        (np.float64(1e300), 1e-5),
    ],
)
def test_divmod_of_numbers_of_numpy(args) -> None:
    check(divided, *args)


def among_constants(a):
    return a in (0, 3, 7), a not in (1, 2.5), a in {1, 3, 200}, a in [True, 4]


def among_values(a, b, c):
    return a in (b, 2, c), a in [1, b]


@pytest.mark.parametrize("a", [3, -1, True, 2.5, 3.0, np.int64(3), np.uint8(200), np.float32(2.5)])
def test_membership(a) -> None:
    check(among_constants, a)


def test_membership_among_integers() -> None:
    for args in itertools.product((1, 2, 5), (5, 1), (np.int64(1), 9)):
        check(among_values, *args)


@pytest.mark.parametrize(
    "args", [(math.nan, 1.0, 2.0), (2.0, math.nan, 1.0), (2**62, 1.0, 4.0), (None, 1, 2)]
)
def test_membership_that_may_ask_for_identity(args) -> None:
    check(among_values, *args, native=False)


def test_a_nan_is_in_what_holds_it() -> None:
    nan = math.nan
    assert ag.to_graph(among_values)(nan, nan, 1.0) == (True, True)


def in_a_loop(x):
    total = 0
    for v in x:
        if v in (1, 2, 7):
            total += int(v**2)
    return total


def test_membership_and_powers_in_a_loop() -> None:
    check(in_a_loop, np.arange(10))
    check(in_a_loop, np.arange(10, dtype=np.uint8))
