"""The operator table: operators and functions x kinds of operands x edge values, in graph mode and plainly.

    python -m tests.programs.table --share 1.0        # everything
    python -m tests.programs.table --operator '**'    # one operator

Each operator is one function `f(a, b)`, converted once and called for all pairs of values of all pairs of
kinds, so that it is traced once per pair of kinds. A refusal counts as right only where Python's result is
an integer that does not fit 64 bits.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import linecache
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.programs.oracle import Outcome, difference, outcome

__all__ = ["BINARY", "KINDS", "UNARY", "check_operator", "main"]

BINARY = {
    **{operator: f"a {operator} b" for operator in ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")},
    **{operator: f"a {operator} b" for operator in ("<", "<=", ">", ">=", "==", "!=", "and", "or")},
    **{name: f"{name}(a, b)" for name in ("divmod", "pow", "min", "max", "round", "complex")},
    **{f"math.{name}": f"math.{name}(a, b)" for name in (
        "atan2", "copysign", "fmod", "hypot", "pow", "gcd", "lcm", "ldexp", "remainder", "isclose", "log", "comb",
        "nextafter")},
    **{f"np.{name}": f"np.{name}(a, b)" for name in (
        "add", "multiply", "true_divide", "floor_divide", "remainder", "power", "maximum", "minimum", "fmax", "arctan2",
        "hypot", "copysign", "equal", "less", "logical_and", "bitwise_and", "left_shift", "float_power", "divmod")},
    "in": "a in (b, 1, 2.0)", "chain": "-1 < a <= b", "either": "a if b else -a", "sum": "sum([a, b, a])",
    "+=": "(lambda a, b: a + b)(a, b)",
}  # fmt: skip

UNARY = {
    **{f"unary {operator}": f"{operator} a" for operator in ("-", "+", "~", "not")},
    **{name: f"{name}(a)" for name in (
        "abs", "round", "int", "float", "bool", "complex", "str", "repr", "sum", "min", "len")},
    **{f"math.{name}": f"math.{name}(a)" for name in (
        "sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "fabs", "isnan", "isinf", "isfinite", "degrees",
        "radians", "gamma", "lgamma", "erf", "erfc", "frexp", "modf", "isqrt", "factorial")},
    **{f"np.{name}": f"np.{name}(a)" for name in (
        "sqrt", "exp", "log", "log1p", "sin", "arctan", "tanh", "floor", "rint", "trunc", "absolute", "sign", "square",
        "isnan", "isfinite", "logical_not", "negative", "conjugate", "float64", "int64", "float32", "int8", "bool_", "round")},
    **{text: text for text in (
        "a + 1", "1 - a", "a * 2", "2 * a", "a / 2", "1 / a", "a // 2", "7 // a", "a % 3", "7 % a", "a ** 2", "a ** -1",
        "a ** 0.5", "2 ** a", "(-8.0) ** a", "(-2) ** a", "a << 1", "1 << a", "a >> 1", "a & 6", "a | 1", "a ^ 3", "a < 1",
        "a == 1", "a != 0.0", "1.5 < a", "a == None", "a is None", "a + True", "a + 1.5", "a * 1j", "max(a, 1)", "max(1, a)",
        "min(a, 2.0)", "max(a, 0, 1.5)", "round(a, 2)", "round(a, -1)", "a and 1", "a or 2", "not a == 1", "f'{a}'", "f'{a!r}'",
        "f'{a:.3g}'", "'%s' % a", "str(a)", "isinstance(a, int)", "isinstance(a, float)", "type(a)", "type(a).__name__",
        "a.real", "a.imag", "a.dtype", "a.is_integer()", "a.bit_length()", "a.conjugate()", "a.item()", "range(a)",
        "list(range(a % 4))", "[10, 20, 30][a]", "(1, 2, 3)[a]", "a if a else 0", "-1 <= a < 2", "a in (1, 2)", "0 < a",
        "2**53 + 1 == a", "a > 2**53", "a - a", "a == a", "int(a) + 1", "float(a) * 2", "bool(a) + bool(a)", "np.zeros(a % 3)",
        "np.arange(3)[a]", "np.arange(3.0) + a", "np.arange(3, dtype=np.int8) + a", "np.float32(1) + a", "np.full(2, a)",
        "np.array([a, a])", "np.array(a)", "np.where(a, a, 0)", "int(str(int(a)))", "a ** 3 % 7", "pow(a, 2, 7)", "+(-a)", "~(~a)")},
}  # fmt: skip


def _scalars(dtype: str) -> list[Any]:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        values: list[Any] = [True, False]
    elif kind.kind in "iu":
        limits = np.iinfo(kind)
        values = [0, 1, 3, 7, limits.max, limits.min, limits.max // 2] + [-1, -5] * (kind.kind == "i")
    elif kind.kind == "f":
        limit = np.finfo(kind)
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -8.0, 2.5, math.nan, math.inf, -math.inf, limit.max, limit.tiny]
    else:
        values = [0, 1 + 2j, -1.5j, complex(math.nan, 0), complex(math.inf, -1), 2, -0.0]
    return [kind.type(value) for value in values]


DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip

KINDS: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [0, 1, -1, 2, 3, -7, 10, 63, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)],
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 3.0, -8.0, 1 / 3, math.nan, math.inf, -math.inf, 1e308, 5e-324, 2.0**53, 2.0**63],
    "complex": [0j, 1 + 2j, -1.5j, complex(math.nan, 0), complex(math.inf, -1), complex(-0.0, 0.0), 2 + 0j],
    **{f"np.{dtype}": _scalars(dtype) for dtype in DTYPES},
    **{f"0d {dtype}": [np.array(value) for value in _scalars(dtype)[:5]] for dtype in ("bool", "int64", "float64", "uint8")},
    **{f"1d {dtype}": [np.array(_scalars(dtype)[:3])] for dtype in ("bool", "int64", "float64", "float32", "uint8", "complex128")},
    "1d empty": [np.array([])],
}  # fmt: skip

SLOW = (
    "**",
    "round",
    "<<",
    "pow",
    "math.comb",
    "math.ldexp",
    "math.factorial",
    "1 << a",
    "2 ** a",
    "(-2) ** a",
    "range",
)
LIMIT = 2**63


def make_function(text: str) -> Callable[..., Any]:
    """A function of a and b that returns the value of an expression; its source can be found."""
    filename = f"<table {text}>"
    source = f"import math\nimport numpy as np\ndef f(a, b=None):\n    return {text}\n"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"__name__": "table", "__file__": filename}
    exec(compile(source, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def check_operator(
    name: str, share: float = 1.0, pairs: float = 1.0, convert: Callable[..., Any] | None = None
) -> tuple[list[str], Counter[str]]:
    """The differences for one operator, and counts; `share` of the kinds and `pairs` of the values are tried."""
    import autograph as ag
    from autograph.errors import StagingError

    text = BINARY.get(name) or UNARY[name]
    plain = make_function(text)
    converted = (convert or ag.to_graph)(plain)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    for kinds, values in _cases(name, share, pairs):
        counts["traces"] += 1
        for args in values:
            if _too_big(name, args):
                continue
            counts["calls"] += 1
            expected = outcome(plain, lambda args=args: _fresh(args))
            got = outcome(converted, lambda args=args: _fresh(args), refusals=(StagingError,))
            if got.refused is not None:
                if _too_wide(expected) and "IntegerOverflow" in got.refused:
                    counts["overflows"] += 1
                    continue
                problem = f"refused: {got.refused.splitlines()[0]} (expected {expected})"
            else:
                found = difference(expected, got)
                if found is None:
                    continue
                problem = str(found)
            problems.append(f"{text} with {' and '.join(kinds)}: {', '.join(map(repr, args))}: {problem}")
    return problems, counts


def _cases(name: str, share: float, pairs: float) -> Iterator[tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    rng = random.Random(name)
    for first in KINDS:
        if name in UNARY:
            if rng.random() < share * 4:
                yield (first,), [(value,) for value in KINDS[first]]
            continue
        for second in KINDS:
            common = all(
                kind in ("int", "float", "bool", "np.float64", "np.int64") for kind in (first, second)
            )
            if rng.random() < (share * 8 if common else share):
                values = [(a, b) for a in KINDS[first] for b in KINDS[second]]
                keep = max(1, min(len(values), round(len(values) * (max(pairs, 0.5) if common else pairs))))
                yield (first, second), values if keep == len(values) else rng.sample(values, keep)


def _fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)


def _too_big(name: str, args: tuple[Any, ...]) -> bool:
    """Whether plain Python would work for ages on a huge integer or list."""
    if name not in SLOW and "factorial" not in name and "range(a)" not in name and "**" not in name:
        return False
    return all(isinstance(arg, int | np.integer) for arg in args) and any(
        abs(int(arg)) > 1000 for arg in args[-1:]
    )


def _too_wide(expected: Outcome) -> bool:
    """Whether a result has an integer beyond 64 bits."""
    if expected.result is None:
        return expected.exception is not None and expected.exception.type in (
            "OverflowError",
            "ValueError",
            "MemoryError",
        )
    parts = [expected.result, *(part for _, part in expected.result.parts)]
    return any(isinstance(part.payload, int) and not -LIMIT <= part.payload < LIMIT for part in parts) or any(
        isinstance(part.payload, float | bool) for part in parts
    )


def main(argv: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=1.0, help="share of the pairs of kinds")
    parser.add_argument("--pairs", type=float, default=1.0, help="share of the pairs of values")
    parser.add_argument("--operator", action="append", help="only this one")
    parser.add_argument("--show", type=int, default=3, help="differences to print per operator")
    options = parser.parse_args(argv)
    started, total, wrong = time.monotonic(), Counter[str](), 0
    names = options.operator or [*BINARY, *UNARY]
    for name in names:
        problems, counts = check_operator(name, options.share, options.pairs)
        total += counts
        wrong += len(problems)
        for problem in problems[: options.show]:
            print(problem[:400])
        if len(problems) > options.show:
            print(f"   ... {len(problems)} differences for {name}")
    print(f"{len(names)} operators, {dict(total)}, {wrong} differences, {time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
