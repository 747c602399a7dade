"""The operator table: operators and functions x kinds of operands x edge values, in graph mode and plainly.

    python -m tests.programs.table --share 1.0        # everything
    python -m tests.programs.table --operator '**'    # one row

Each row is one function `f(a, b)`, converted once and called for all pairs of values of all pairs of kinds, so
that it is traced once per pair of kinds. A refusal counts as right only where plain Python computes an integer
that does not fit 64 bits, in the result or on the way to it. Most calls agree at the first look; the oracle sees
only those that do not.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import ast
import linecache
import math
import random
import re
import sys
import time
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import autograph as ag
from autograph.compiler import backend
from autograph.errors import StagingError
from tests.programs.oracle import difference, magnitude, outcome

__all__ = ["BINARY", "KINDS", "UNARY", "check_call", "check_operator", "main", "make_function"]

OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")

BINARY = {
    **{operator: f"a {operator} b" for operator in OPERATORS},
    **{f"{operator}=": f"c = a; a {operator}= b; return a, c" for operator in OPERATORS},
    **{operator: f"a {operator} b" for operator in ("<", "<=", ">", ">=", "==", "!=", "and", "or")},
    **{name: f"{name}(a, b)" for name in ("divmod", "pow", "min", "max", "round", "complex")},
    **{f"math.{name}": f"math.{name}(a, b)" for name in (
        "atan2", "copysign", "fmod", "hypot", "pow", "gcd", "lcm", "ldexp", "remainder", "isclose", "log", "comb", "perm",
        "nextafter")},
    **{f"np.{name}": f"np.{name}(a, b)" for name in (
        "add", "multiply", "true_divide", "floor_divide", "remainder", "fmod", "power", "maximum", "minimum", "fmax",
        "arctan2", "hypot", "copysign", "equal", "less", "logical_and", "bitwise_and", "left_shift", "float_power",
        "divmod", "heaviside", "logaddexp", "nextafter", "gcd", "ldexp", "isclose")},
    "in": "a in (b, 1, 2.0)", "in list": "a in [1, b]", "not in": "a not in (b,)", "in set": "a in {1, b}",
    "chain": "-1 < a <= b", "chain ==": "a == b != 1", "chain in": "a < b in (True, 2)",
    "either": "a if b else -a", "branch": "a if a < b else b", "not and": "not (a and b)",
    "sum": "sum([a, b, a])", "sum start": "sum((a, b), 0.5)", "sum from b": "sum([a, a], b)",
    "prod": "math.prod([a, b, a])", "fsum": "math.fsum([a, b, -a])",
    "max 3": "max(a, b, 1)", "min list": "min([a, 2.0, b])", "max key": "max(a, b, key=abs)", "min default": "min((a, b), default=0)",
    "pow modulo": "pow(a, b, 7)", "modulo pow": "pow(2, a, b)", "len range": "len(range(a, b))",
    "where": "np.where(a < b, a, b)", "bool +": "bool(a) + b", "mixed": "(a + 1) * b - a", "sorted": "sorted([a, b])",
    "row": "x = np.array([a, a]); x[0] += b; return x", "item": "x = np.array([a, a]); x[1] = b; return x",
    "union +": "x = a if a else b; return x + b, b - x", "union <": "x = b if a else a; return x < b, x == a, max(x, b)",
    "union neg": "x = a if b else 2.5; return -x, abs(x), x * 2", "union int": "x = a if b else 1; return int(x), float(x)",
    "union round": "x = a if b else -2.5; return round(x), x // 2, x % 2", "union **": "x = a if b else 3; return x ** 2, 2 ** (x % 5)",
    "loop +": "s = a\nfor i in range(3):\n    s = s + b\nreturn s", "loop *=": "s = a\nfor i in range(2):\n    s *= b\nreturn s",
    "loop /": "s = a\ni = 0\nwhile i < 2:\n    s = s / b\n    i += 1\nreturn s",
    "loop max": "s = a\nfor v in (b, 0, 1.5, b):\n    s = max(s, v)\nreturn s", "loop -": "s = 0\nfor v in [a, b, a]:\n    s -= v\nreturn s",
    "try /": "try:\n    return a / b\nexcept ZeroDivisionError as error:\n    return str(error)",
    "try //": "try:\n    x = a // b\nexcept (ZeroDivisionError, TypeError):\n    x = -1\nreturn x",
    "sum of generator": "sum(v * 0.1 for v in [a, b, a])", "sum of comprehension": "sum([v + 0.1 for v in (a, b, a)], a)",
    "max of generator": "max(v for v in (a, b, a))", "min of map": "min(map(abs, [a, b]))", "any": "any(v > 1 for v in (a, b))",
    "sorted reverse": "sorted([b, a, b], reverse=True)", "index": "[a, 1, b].index(b)", "count": "[a, 1, b].count(a)",
    "lists ==": "[a, 1] == [b, 1.0]", "tuples <": "(a, 1) < (b, 2)", "array of both": "np.array([a, b])", "clip": "np.clip(a, b, 5)",
    "f-string": "f'{a} {b!r:>20}'", "power mod": "a ** 2 % b", "not <": "not a < b", "bit test": "a & 1 == b & 1",
}  # fmt: skip

UNARY = {
    **{f"unary {operator}": f"{operator} a" for operator in ("-", "+", "~", "not")},
    **{f"{name}(a)": f"{name}(a)" for name in (
        "abs", "round", "int", "float", "bool", "complex", "str", "repr", "sum", "min", "len", "bin")},
    **{f"math.{name}(a)": f"math.{name}(a)" for name in (
        "sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "asinh", "acosh", "atanh", "floor", "ceil", "trunc", "fabs", "isnan", "isinf", "isfinite", "degrees",
        "radians", "gamma", "lgamma", "erf", "erfc", "frexp", "modf", "isqrt", "factorial", "ulp", "cbrt")},
    **{f"np.{name}(a)": f"np.{name}(a)" for name in (
        "sqrt", "exp", "log", "log1p", "sin", "arctan", "tanh", "floor", "rint", "trunc", "absolute", "sign", "square",
        "isnan", "isfinite", "logical_not", "negative", "conjugate", "float64", "int64", "float32", "int8", "bool_", "round",
        "uint64", "float16", "complex64", "reciprocal", "invert", "signbit")},
    **{text: text for text in (
        "a + 1", "1 - a", "a * 2", "2 * a", "a / 2", "1 / a", "a // 2", "7 // a", "a % 3", "7 % a", "a ** 2", "a ** -1",
        "a ** 0.5", "a ** (1/3)", "2 ** a", "(-8.0) ** a", "(-2) ** a", "a << 1", "1 << a", "a >> 1", "a >> 70", "a & 6",
        "a | 1", "a ^ 3", "a < 1", "a == 1", "a != 0.0", "1.5 < a", "a == None", "a is None", "a + True", "a + 1.5", "a * 1j",
        "max(a, 1)", "max(1, a)", "max(1, a, 2.0)", "min(a, 2.0)", "max(a, 0, 1.5)", "max(float('nan'), a)", "round(a, 2)",
        "round(a, -1)", "round(a, None)", "a and 1", "a or 2", "not a == 1", "f'{a}'", "f'{a!r}'", "f'{a:.3g}'", "'%s' % a",
        "'%d' % a", "'{:>8}'.format(a)", "isinstance(a, int)", "isinstance(a, float)", "type(a)", "type(a).__name__",
        "a.real", "a.imag", "a.dtype", "a.is_integer()", "a.bit_length()", "a.conjugate()", "a.item()", "range(a)",
        "list(range(a % 4))", "[10, 20, 30][a]", "(1, 2, 3)[a]", "'abc'[a]", "{0: 5, 1: 6}[a]", "a if a else 0", "-1 <= a < 2",
        "a in (1, 2)", "a in [0.0, 1]", "0 < a", "2**53 + 1 == a", "a > 2**53", "a < 2.0**63", "a - a", "a == a",
        "int(a) + 1", "float(a) * 2", "bool(a) + bool(a)", "True + a", "False ** a", "a // -2", "a % -3", "-7 // a", "-7 % a",
        "divmod(a, 0)", "divmod(-7.5, a)", "a // 0", "a % 0", "a / 0", "a % 0.0", "a // 0.0", "0 ** a", "0.0 ** a",
        "np.zeros(a % 3)", "np.arange(3)[a]", "np.arange(3.0) + a", "np.arange(3, dtype=np.int8) + a", "np.float32(1) + a",
        "np.full(2, a)", "np.array([a, a])", "np.array(a)", "np.where(a, a, 0)", "int(str(int(a)))", "a ** 3 % 7",
        "pow(a, 2, 7)", "+(-a)", "~(~a)", "~True + a", "np.True_ + a", "a + np.int8(100)", "a * np.uint64(3)",
        "a - np.uint8(1)", "np.int64(-1) + a", "a % np.int64(-3)", "a + np.float16(1.5)", "abs(-a)", "int(-a)",
        "int(a / 3)", "[1, 2] * a", "'ab' * a", "a * (1, 2)",
        "[1, 2] + a", "a <= (1, 2)", "[1, 2] == a", "[1, 2, 3][:a]", "b'abc'[a]", "'abc'[a:]", "chr(a)", "int('11', a)",
        "'a'.rjust(a % 9)", "a + None", "a < None", "'x' + a", "a + 'x'", "a == 'x'", "a < 'x'", "a[0]", "a.foo", "f'{a:d}'",
        "f'{a:+.2e}'", "f'{a:>10}'", "f'{a:,}'", "f'{a:x}'", "f'{a:.1%}'", "'%5.2f|%s' % (a, a)", "isinstance(a, np.generic)",
        "isinstance(a, (np.floating, complex))", "np.ndim(a)", "np.isscalar(a)", "np.sum(a)", "np.max(a)", "np.mean(a)", "np.prod(a)",
        "np.cumsum(a)", "np.clip(a, 0, 2)", "a.sum()", "a.astype(np.int8)", "a.astype(bool)", "np.array([1, 2]) + [a, a]",
        "np.asarray(a).dtype", "np.equal(a, None)", "np.add(None, a)", "np.float64(a) % 3", "math.floor(a / 3)", "int(round(a))", "a.__class__", "str(a) + repr(a)",
        "np.ones(2)[a % 2]", "list(range(3))[a % 3 - 1]", "(a,) * 2", "1 in a", "None in a", "bool(a) is True", "a is True")},
    **{text: f"x = [1, 2, 3, 4]; {text}; return x" for text in (
        "x[a] = 9", "x[a] += a", "x[0] //= a", "x[:a] = [a]", "del x[a]", "x.insert(a, 9)", "x.append(x.pop(a))", "y = x; x += a; x = (x, y)", "y = x; x *= a; x = (x, y)")},
    **{f"{dtype}[] {operator}=": f"x = np.ones(3, np.{dtype}); x {operator}= a; return x"
       for dtype in ("int64", "float64", "uint8", "bool_", "complex64") for operator in ("+", "*", "//", "/", "**", "&", "<<")},
    **{f"{dtype}[] =": f"x = np.zeros(3, np.{dtype}); x[1] = a; return x"
       for dtype in ("int64", "float64", "uint8", "bool_", "complex64", "float16")},
}  # fmt: skip


def _scalars(dtype: str) -> list[Any]:
    kind = np.dtype(dtype)
    if kind.kind == "b":
        values: list[Any] = [True, False]
    elif kind.kind in "iu":
        limits = np.iinfo(kind)
        values = [0, 1, 7, limits.max, limits.min] + [-1, -5] * (kind.kind == "i")
    elif kind.kind == "f":
        limit = np.finfo(kind)
        values = [0.0, -0.0, 1.0, 2.5, -8.0, math.nan, -math.inf, limit.max]
    else:
        values = [0, 1 + 2j, -1.5j, complex(math.nan, 0), complex(math.inf, -1), -0.0]
    return [kind.type(value) for value in values]


DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128")  # fmt: skip

KINDS: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [0, 1, -1, 2, 3, -7, 10, 63, 2**31, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)],
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 3.0, -8.0, 1 / 3, math.nan, math.inf, -math.inf, 1e308, 5e-324, 2.0**53, 2.0**63],
    "complex": [0j, 1 + 2j, -1.5j, complex(math.nan, 0), complex(math.inf, -1), complex(-0.0, 0.0), 2 + 0j],
    **{f"np.{dtype}": _scalars(dtype) for dtype in DTYPES},
    **{f"0d {dtype}": [np.array(value) for value in _scalars(dtype)[:5]] for dtype in (
        "bool", "int64", "float64", "uint8", "float16", "complex128")},
    **{f"1d {dtype}": [np.array(_scalars(dtype)[:3])] for dtype in ("bool", "int64", "float64", "float32", "uint8", "complex128")},
    "1d one": [np.array([3.5])],
    "1d empty": [np.array([])],
}  # fmt: skip

COMMON = ("int", "float", "bool", "np.float64", "np.int64")
LIMIT = 2**63
COUNT = re.compile(
    r"(?:\b[a12]|-2\)) (?:\*\*|<<)=? ([ab])\b|(?<![.\w])pow\(a, (b)\)|(?:comb|perm|round)\(a, (b)\)|factorial\((a)\)"
    r"|[\]'] \* (a)|(a) \* \(|y = x; x \*= (a)"
)
"""The operand that says how long plain Python works, or how much memory it fills."""


def make_function(text: str) -> Callable[..., Any]:
    """A function of a and b that returns the value of an expression, or has statements for its body."""
    filename = f"<table {text}>"
    body = text.replace("\n", "\n    ") if "return" in text else f"return {text}"
    source = f"import math\nimport numpy as np\ndef f(a, b=None):\n    {body}\n"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"__name__": "table", "__file__": filename}
    with warnings.catch_warnings():  # where `~True` is an error, Python compiles it to other code
        warnings.simplefilter("ignore")
        exec(compile(source, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def check_operator(
    name: str, share: float = 1.0, pairs: float = 1.0, convert: Callable[..., Any] = ag.to_graph
) -> tuple[list[str], Counter[str]]:
    """The differences for one row, and counts; `share` of the kinds and `pairs` of the values are tried."""
    text = BINARY.get(name) or UNARY[name]
    plain = make_function(text)
    converted = convert(plain)
    in_ops_mode = _in_ops_mode(converted)
    counts: Counter[str] = Counter()
    problems: list[str] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for kinds, values in _cases(name, share, pairs):
            counts["kinds"] += 1
            for args in values:
                if _endless(text, args):
                    counts["endless"] += 1
                    continue
                expected = _run(plain, args)
                for mode, call in (("graph", converted), ("ops", in_ops_mode)):
                    counts["calls"] += 1
                    if _agree(expected, _run(call, args)):
                        continue
                    problem = _problem(text, plain, call, args)
                    if problem == "overflow":
                        counts["overflows"] += 1
                    elif problem is not None:
                        given = ", ".join(map(repr, args))
                        problems.append(f"{text} with {' and '.join(kinds)} ({mode}): {given}: {problem}")
    return problems, counts


def check_call(text: str, *args: Any) -> list[str]:
    """The differences for one text and one call, in graph mode and in ops mode."""
    plain = make_function(text)
    converted = ag.to_graph(plain)
    found = [_problem(text, plain, call, args) for call in (converted, _in_ops_mode(converted))]
    return [problem for problem in found if problem is not None]


def _in_ops_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with ag.eager(ops=True):
            return function(*args)

    return call


def _cases(name: str, share: float, pairs: float) -> Iterator[tuple[tuple[str, ...], list[tuple[Any, ...]]]]:
    rng = random.Random(name)
    for first in KINDS:
        if name in UNARY:
            if rng.random() < share * 4:
                yield (first,), [(value,) for value in KINDS[first]]
            continue
        for second in KINDS:
            common = first in COMMON and second in COMMON
            if rng.random() < (share * 8 if common else share):
                values = [(a, b) for a in KINDS[first] for b in KINDS[second]]
                keep = max(1, min(len(values), round(len(values) * (max(pairs, 0.5) if common else pairs))))
                yield (first, second), values if keep == len(values) else rng.sample(values, keep)


def _endless(text: str, args: tuple[Any, ...]) -> bool:
    """Whether plain Python would work for ages on a huge integer or list."""
    found = COUNT.search(text)
    if found is None:
        return False
    count = args[found[found.lastindex or 0] == "b"]
    if np.ndim(count) or np.asarray(count).dtype.kind not in "biu":
        return False
    if "round" in text:
        return type(args[0]) is not float and abs(int(count)) > 1000
    wraps = "**" in text or "<<" in text or "pow" in text  # a number of NumPy's does
    if wraps and not all(type(arg) in (int, bool) for arg in args):
        return False
    return abs(int(count)) > 1000


# -- comparing -----------------------------------------------------------------------------------------------


Ran = tuple[tuple[Any, ...], Any, BaseException | None]
"""The arguments after a call, its result, its exception."""


def _fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args)


def _run(function: Callable[..., Any], args: tuple[Any, ...]) -> Ran:
    args = _fresh(args)
    try:
        return args, function(*args), None
    except Exception as error:
        return args, None, error


def _agree(expected: Ran, got: Ran) -> bool:
    """Whether two calls did the same for sure; a quick look, False leaves it to the oracle."""
    args, result, error = expected
    other_args, other_result, other_error = got
    if error is not None or other_error is not None:
        if type(error) is not type(other_error) or str(error) != str(other_error):
            return False
    elif not _same(result, other_result) or not _same_arrays(result, args, other_result, other_args):
        return False
    return all(_same(a, b) for a, b in zip(args, other_args) if isinstance(a, np.ndarray))


def _same(a: Any, b: Any) -> bool:
    cls = type(a)
    if cls is not type(b):
        return False
    if cls in (int, bool, str, type, type(None), range, np.dtype):
        return bool(a == b)
    if cls is float or cls is complex:
        return repr(a) == repr(b)
    if cls in (tuple, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if cls is np.ndarray:
        return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())
    return isinstance(a, np.generic) and (a.tobytes() == b.tobytes() or (a != a and repr(a) == repr(b)))


def _same_arrays(result: Any, args: tuple[Any, ...], other: Any, other_args: tuple[Any, ...]) -> bool:
    """Whether the same arrays are one object, or share memory, in both calls."""
    parts, others = _objects((result, args)), _objects((other, other_args))
    return len(parts) == len(others) and (len(parts) < 2 or _links(parts) == _links(others))


def _objects(value: Any) -> list[Any]:
    if isinstance(value, (np.ndarray, list)):
        return [value]
    return [part for item in value for part in _objects(item)] if isinstance(value, tuple) else []


def _links(values: list[Any]) -> list[bool]:
    return [
        a is b or (isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b))
        for i, a in enumerate(values)
        for b in values[:i]
    ]


def _problem(
    text: str, plain: Callable[..., Any], call: Callable[..., Any], args: tuple[Any, ...]
) -> str | None:
    """What the oracle finds; "overflow" where integers were refused for being too wide."""
    expected = outcome(plain, lambda: _fresh(args))
    got = outcome(call, lambda: _fresh(args), refusals=(StagingError,))
    if got.refused is None:
        rounds = backend.backend() == "native" and re.search(r"np\.|\*\*|sum|mean|@", text)
        size = magnitude(expected) if rounds else 0.0
        found = difference(expected, got, rtol=1e-12 if rounds else 0.0, size=size)
        return None if found is None else str(found)
    if "IntegerOverflow" in got.refused and _too_wide(text, args):
        return "overflow"
    return f"refused: {got.refused.splitlines()[0]} (expected {expected})"


def _too_wide(text: str, args: tuple[Any, ...]) -> bool:
    """Whether some part of the text, or some variable, has an integer beyond 64 bits."""
    if "\n" in text or ";" in text:
        return any(_is_wide(value) for value in _variables(text, args))
    names = {"b": None, **dict(zip("ab", _fresh(args))), "math": math, "np": np}
    for node in ast.walk(ast.parse(text + ("; abs(a); abs(b)" if "abs" in text else ""))):
        if not isinstance(node, ast.expr) or isinstance(node, ast.Constant):
            continue
        try:
            value = eval(ast.unparse(node), dict(names))
        except Exception:
            continue
        if _is_wide(value):
            return True
    return False


def _is_wide(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_wide, value))
    return type(value) is int and not -LIMIT <= value < LIMIT


def _variables(text: str, args: tuple[Any, ...]) -> list[Any]:
    """All values that variables have in a run of the text, and its result."""
    found: list[Any] = []

    def look(frame: types.FrameType, event: str, value: Any) -> Any:
        if frame.f_code.co_filename.startswith("<table"):
            found.extend((*frame.f_locals.values(), value if event == "return" else None))
            return look
        return None

    before = sys.gettrace()
    sys.settrace(look)
    try:
        make_function(text)(*_fresh(args))
    except Exception:
        return found
    finally:
        sys.settrace(before)
    return found


def main(argv: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=1.0, help="share of the pairs of kinds")
    parser.add_argument("--pairs", type=float, default=1.0, help="share of the pairs of values")
    parser.add_argument("--operator", action="append", help="only this one")
    parser.add_argument("--show", type=int, default=3, help="differences to print per operator")
    parser.add_argument("--times", action="store_true", help="print how long each row takes")
    options = parser.parse_args(argv)
    started, total, wrong = time.monotonic(), Counter[str](), 0
    names = options.operator or [*BINARY, *UNARY]
    for name in names:
        begun = time.monotonic()
        problems, counts = check_operator(name, options.share, options.pairs)
        total += counts
        wrong += len(problems)
        for problem in problems[: options.show]:
            print(problem[:400], flush=True)
        if len(problems) > options.show:
            print(f"   ... {len(problems)} differences for {name}", flush=True)
        if options.times:
            print(f"{time.monotonic() - begun:6.1f} s  {name}  {dict(counts)}", flush=True)
    print(f"{len(names)} operators, {dict(total)}, {wrong} differences, {time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
