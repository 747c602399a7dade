"""Our vector mathematics: errors in units of the last place, special values, the same bits for all widths."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from autograph.compiler import vmath

Array = np.ndarray[Any, np.dtype[Any]]
DTYPES: dict[str, np.dtype[Any]] = {"float": np.dtype(np.float32), "double": np.dtype(np.float64)}
WIDTHS = (1, 4, 8, 16)
POINTS = 4001

LOOP = """\
define void @run.{symbol}(ptr %a, ptr %b, ptr %result, i64 %n) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a.i = getelementptr {dtype}, ptr %a, i64 %i
  %b.i = getelementptr {dtype}, ptr %b, i64 %i
  %result.i = getelementptr {dtype}, ptr %result, i64 %i
  %x = load {type}, ptr %a.i, align 4
  %y = load {type}, ptr %b.i, align 4
  %z = call {type} @{symbol}({arguments})
  store {type} %z, ptr %result.i, align 4
  %next = add i64 %i, {width}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def module_text(definitions: list[vmath.Definition], loops: list[str]) -> str:
    texts: dict[str, str] = {}
    declarations: set[str] = set()
    while definitions:
        definition = definitions.pop()
        texts[definition.symbol] = definition.text
        declarations |= definition.declarations
        definitions += definition.needs
    return "\n".join([*sorted(declarations), *texts.values(), *loops])


@functools.cache
def engine(dtype: str, width: int, has_fma: bool) -> Any:
    """All functions, compiled for this machine; the functions of the C library are found in the process."""
    definitions, loops = [], []
    for name, arity in vmath.NAMES.items():
        definition = vmath.function(name, dtype, width, has_fma)
        definitions.append(definition)
        type_ = dtype if width == 1 else f"<{width} x {dtype}>"
        arguments = f"{type_} %x" + (f", {type_} %y" if arity == 2 else "")
        loop = LOOP.format(
            symbol=definition.symbol[1:], dtype=dtype, type=type_, width=width, arguments=arguments
        )
        loops.append(loop)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(module_text(definitions, loops))
    module.triple = llvm.get_process_triple()
    machine = llvm.Target.from_triple(module.triple).create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), jit=True
    )
    module.verify()
    compiled = llvm.create_mcjit_compiler(module, machine)
    compiled.finalize_object()
    return compiled


def apply(name: str, *arguments: Array, width: int = 8, has_fma: bool = True) -> Array:
    """The function at these points."""
    (dtype,) = (name for name, dtype in DTYPES.items() if dtype == arguments[0].dtype)
    address = engine(dtype, width, has_fma).get_function_address(
        "run." + vmath.function(name, dtype, width, has_fma).symbol[1:]
    )
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(address)
    n = -(-len(arguments[0]) // width) * width
    first, second = (np.resize(argument, n) for argument in (arguments[0], arguments[-1]))
    result = np.empty(n, DTYPES[dtype])
    run(first.ctypes.data, second.ctypes.data, result.ctypes.data, n)
    found: Array = result[: len(arguments[0])]
    return found


def linear(low: float, high: float) -> Callable[[np.random.Generator], Array]:
    return lambda random: random.uniform(low, high, POINTS)


def magnitudes(low: float, high: float, signs: tuple[int, ...] = (-1, 1)) -> Callable[[Any], Array]:
    return lambda random: (
        np.exp2(random.uniform(math.log2(low), math.log2(high), POINTS)) * random.choice(signs, POINTS)
    )


def near(point: float, low: float, high: float) -> Callable[[np.random.Generator], Array]:
    return lambda random: point + magnitudes(low, high)(random)


def multiples(period: float, count: int) -> Callable[[np.random.Generator], Array]:
    return lambda random: random.integers(-count, count, POINTS) * period


def positive(low: float, high: float) -> Callable[[np.random.Generator], Array]:
    return magnitudes(low, high, (1,))


LOGARITHMIC = [linear(0.5, 2), near(1, 1e-6, 0.1), positive(1e-37, 1e37), positive(1e-44, 1e-37)]
TRIGONOMETRIC = [
    linear(-1, 1),
    linear(-100, 100),
    linear(-1e5, 1e5),
    multiples(math.pi / 2, 100),
    multiples(math.pi / 2, 20000),
    magnitudes(1e-20, 1e30),
]
HYPERBOLIC = [linear(-1, 1), linear(-10, 10), linear(-89, 89), magnitudes(1e-30, 1)]
# Ranges of the arguments: several per function, close to where it is hard.
RANGES: dict[str, list[Any]] = {
    "exp": [linear(-1, 1), linear(-80, 80), linear(-104, 89), magnitudes(1e-30, 1)],
    "exp2": [linear(-1, 1), linear(-126, 128), linear(-149, -120)],
    "expm1": [linear(-1, 1), linear(0.3, 0.4), linear(-20, 88), magnitudes(1e-30, 1)],
    "log": LOGARITHMIC,
    "log2": LOGARITHMIC,
    "log10": LOGARITHMIC,
    "log1p": [
        linear(-0.35, 0.5),
        linear(-1, 3),
        near(-1, 1e-6, 0.1),
        magnitudes(1e-30, 1),
        positive(1, 1e37),
    ],
    "sin": TRIGONOMETRIC,
    "cos": TRIGONOMETRIC,
    "tan": TRIGONOMETRIC,
    "sinh": HYPERBOLIC,
    "cosh": HYPERBOLIC,
    "tanh": [*HYPERBOLIC, linear(0.05, 0.3)],
    "arcsin": [linear(-1, 1), linear(0.49, 0.55), near(1, 1e-6, 0.01), magnitudes(1e-30, 1)],
    "arccos": [linear(-1, 1), linear(0.49, 0.55), near(1, 1e-6, 0.01), near(-1, 1e-6, 0.01)],
    "arctan": [linear(-1, 1), linear(0.9, 1.2), magnitudes(1e-30, 1e30)],
    "arcsinh": [linear(-1, 1), linear(0.4, 1.2), magnitudes(1e-30, 1e37)],
    "arccosh": [linear(1, 2), near(1, 1e-6, 0.1), positive(1, 1e37)],
    "arctanh": [linear(-1, 1), linear(0.1, 0.3), near(1, 1e-6, 0.1), magnitudes(1e-30, 1)],
    "cbrt": [linear(-1, 1), magnitudes(1e-37, 1e37), magnitudes(1e-44, 1e-37)],
    "erf": [linear(-1, 1), linear(0.95, 1.1), linear(-6, 6), magnitudes(1e-30, 1)],
    "arctan2": [
        (linear(-1, 1), linear(-1, 1)),
        (magnitudes(1e-15, 1e15), magnitudes(1e-15, 1e15)),
        (linear(-1, 1), linear(-3, -2)),
    ],
    "hypot": [
        (linear(-1, 1), linear(-1, 1)),
        (magnitudes(1e-37, 1e37), magnitudes(1e-37, 1e37)),
        (magnitudes(1e-37, 1e-36), magnitudes(1e-37, 1e-36)),
    ],
    "power": [
        (linear(0, 10), linear(-5, 5)),
        (near(1, 1e-4, 0.1), linear(-100, 100)),
        (near(1, 1e-4, 1e-3), linear(-1e5, 1e5)),
        (positive(1e-20, 1e20), linear(-10, 10)),
        (linear(0.5, 2), linear(-126, 126)),
        (linear(-100, 100), multiples(1, 10)),
    ],
    "logaddexp": [
        (linear(1, 5), linear(1, 5)),
        (linear(-10, -5), linear(-10, -5)),
        (linear(0, 50), linear(0, 50)),
    ],
}
# Arguments that only doubles have.
RANGES_OF_DOUBLES: dict[str, list[Any]] = {
    "exp": [linear(-745, 709)],
    "exp2": [linear(-1022, 1023), linear(-1074, -1000)],
    "expm1": [linear(0, 709)],
    "log": [positive(1e-300, 1e300), positive(1e-320, 1e-300)],
    "sin": [linear(-1e8, 1e8)],
    "cos": [linear(-1e8, 1e8)],
    "tan": [linear(-1e8, 1e8)],
    "sinh": [linear(-710, 710)],
    "cosh": [linear(-710, 710)],
    "cbrt": [magnitudes(1e-300, 1e308), magnitudes(1e-320, 1e-300)],
    "hypot": [
        (magnitudes(1e-307, 1e-300), magnitudes(1e-307, 1e-300)),
        (magnitudes(1e300, 1e307), magnitudes(1e300, 1e307)),
    ],
    "power": [(linear(0.5, 2), linear(-1020, 1020)), (positive(1e-300, 1e300), linear(-1, 1))],
}


def erf(x: Array) -> Array:
    """The error function by the series without cancellation."""
    term = x.copy()
    total = x.copy()
    for n in range(1, 200):
        term = term * (2 * x * x / (2 * n + 1))
        total = total + term
    found: Array = total * np.exp(-x * x) * (2 / np.sqrt(np.arctan(np.ones(1, x.dtype)) * 4))
    return found


def exact(name: str, *arguments: Array) -> Array:
    """The value in a wider type."""
    wide = np.float64 if arguments[0].dtype == np.float32 else np.longdouble
    formula = erf if name == "erf" else getattr(np, name)
    result: Array = formula(*(argument.astype(wide) for argument in arguments))
    return result


def errors(result: Array, reference: Array) -> Array:
    """The distances in units of the last place; infinite where only one is finite, zero where neither is."""
    rounded = reference.astype(result.dtype)
    unit = np.spacing(np.maximum(np.abs(rounded), np.finfo(result.dtype).smallest_normal))
    both, neither = np.isfinite(rounded) & np.isfinite(result), ~np.isfinite(rounded) & ~np.isfinite(result)
    distance = np.abs(result.astype(reference.dtype) - reference) / unit.astype(reference.dtype)
    found: Array = np.where(both, distance, np.where(neither, 0.0, np.inf))
    return found


def needs_long_double(dtype: str) -> None:
    if dtype == "double" and np.finfo(np.longdouble).nmant < 63:
        pytest.skip("this platform has no type wider than double")


def samples(name: str, dtype: str) -> Iterator[tuple[Array, ...]]:
    random = np.random.default_rng(7)
    for ranges in RANGES[name] + (RANGES_OF_DOUBLES.get(name, []) if dtype == "double" else []):
        ranges = ranges if isinstance(ranges, tuple) else (ranges,)
        yield tuple(draw(random).astype(DTYPES[dtype]) for draw in ranges)


@pytest.mark.parametrize("has_fma", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", vmath.NAMES)
def test_errors_are_below_two_and_a_half_units(name: str, dtype: str, has_fma: bool) -> None:
    needs_long_double(dtype)
    for arguments in samples(name, dtype):
        found = errors(apply(name, *arguments, has_fma=has_fma), exact(name, *arguments))
        worst = int(np.argmax(found))
        assert found[worst] <= 2.5, (found[worst], [argument[worst] for argument in arguments])


@pytest.mark.parametrize("dtype", DTYPES)
def test_power_of_doubles_is_nearly_rounded_right(dtype: str) -> None:
    needs_long_double(dtype)
    for arguments in samples("power", dtype):
        assert np.max(errors(apply("power", *arguments), exact("power", *arguments))) <= 0.9


def special_values(dtype: np.dtype[Any]) -> Array:
    limits = np.finfo(dtype)
    magnitudes = [
        0,
        0.1,
        1 / 3,
        0.5,
        1,
        1.5,
        2,
        3,
        4,
        5,
        7,
        10,
        100,
        20,
        88.7,
        89,
        103.9,
        104,
        127,
        128,
        149,
        150,
    ]
    magnitudes += [
        709.7,
        710,
        745,
        746,
        1023,
        1024,
        1074,
        1075,
        math.pi / 2,
        math.pi,
        1e5,
        1e8,
        1e15 + 1,
        1e30,
    ]
    magnitudes += [2.0**23, 2.0**24 - 1, 2.0**24, 2.0**31, 2.0**52, 2.0**53 - 1, 2.0**53, math.inf]
    magnitudes += [float(limits.max), float(limits.tiny), float(limits.smallest_subnormal)]
    magnitudes += [3 * float(limits.smallest_subnormal), 1 + float(limits.eps), 1 - float(limits.epsneg)]
    values = np.array(magnitudes, dtype)
    return np.concatenate([values, -values, [np.nan]]).astype(dtype)


def special_arguments(name: str, dtype: str) -> tuple[Array, ...]:
    values = special_values(DTYPES[dtype])
    if vmath.NAMES[name] == 1:
        return (values,)
    first, second = np.array(list(itertools.product(values, values))).T
    return first.copy(), second.copy()


@pytest.mark.parametrize("has_fma", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", vmath.NAMES)
def test_special_values_are_those_of_numpy(name: str, dtype: str, has_fma: bool) -> None:
    arguments = special_arguments(name, dtype)
    result = apply(name, *arguments, has_fma=has_fma)
    formula = np.vectorize(math.erf, [DTYPES[dtype]]) if name == "erf" else getattr(np, name)
    expected = formula(*arguments)
    kinds = [(np.isnan(x), np.isinf(x), x == 0, np.signbit(x) & ~np.isnan(x)) for x in (result, expected)]
    for got, wanted in zip(*kinds):
        differ = np.flatnonzero(got != wanted)
        cases = [([x[i] for x in arguments], result[i], expected[i]) for i in differ[:5]]
        assert not cases
    if name != "logaddexp":  # its error is that of the larger argument
        assert np.max(errors(result, expected)) <= 4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", vmath.NAMES)
def test_all_widths_give_the_same_bits(name: str, dtype: str) -> None:
    arguments = special_arguments(name, dtype)
    more = [np.concatenate(parts) for parts in zip(arguments, *samples(name, dtype))]
    scalar = apply(name, *more, width=1)
    for width in WIDTHS[1:]:
        np.testing.assert_array_equal(apply(name, *more, width=width), scalar)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_powers_are_exact(dtype: str) -> None:
    digits = np.finfo(DTYPES[dtype]).nmant + 1
    pairs = [(x, n) for x in range(-100, 101) for n in range(60) if abs(x) ** n < 2**digits]
    base, exponent = np.array(pairs, DTYPES[dtype]).T.copy()
    np.testing.assert_array_equal(apply("power", base, exponent), [float(x**n) for x, n in pairs])


@pytest.mark.parametrize("dtype", DTYPES)
def test_exact_results_are_exact(dtype: str) -> None:
    form = DTYPES[dtype]
    limits = np.finfo(form)
    whole = np.arange(limits.minexp, limits.maxexp, dtype=form)
    np.testing.assert_array_equal(apply("exp2", whole), np.exp2(whole.astype(np.longdouble)).astype(form))
    np.testing.assert_array_equal(apply("log2", apply("exp2", whole)), whole)
    small = np.arange(-100, 101, dtype=form)
    np.testing.assert_array_equal(apply("cbrt", small**3), small)
    tens = np.arange(11 if dtype == "float" else 23)
    np.testing.assert_array_equal(apply("log10", np.array([10.0 ** int(n) for n in tens], form)), tens)


def test_a_large_angle_does_not_change_its_neighbours() -> None:
    x = np.linspace(-10, 10, 16)
    alone = apply("sin", x)
    x[5] = 1e300
    beside = apply("sin", x)
    assert beside[5] == pytest.approx(np.sin(1e300), abs=1e-15)
    np.testing.assert_array_equal(np.delete(beside, 5), np.delete(alone, 5))


def test_a_definition_is_made_once() -> None:
    assert vmath.function("exp", "double", 8) is vmath.function("exp", "double", 8)
