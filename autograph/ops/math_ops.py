"""The functions of `math` and `cmath`, whose result types depend on the classes of numbers."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Host,
    IterT,
    Py,
    Ref,
    Scalar,
    TupleT,
    Type,
    join,
    members,
)
from autograph.ops.base import BY_FUNCTION, Refuse, define, has_index, sequence, type_of

__all__: list[str] = []

FLOAT = Py(float)
NUMBER_CLASSES = (bool, int, float, complex)


def kinds_of(t: Any) -> str:
    """b, i, u, f, c for a number (or an array of one element); '' for no number; '?' for an object."""
    t = type_of(t)
    if isinstance(t, Const):
        if isinstance(t.value, np.generic):
            return t.value.dtype.kind
        return {bool: "b", int: "i", float: "f", complex: "c"}.get(type(t.value), "")
    if isinstance(t, Py):
        return {bool: "b", int: "i", float: "f", complex: "c"}.get(t.cls, "")
    if isinstance(t, (Scalar, Array)):
        return t.dtype.kind
    return "?" if isinstance(t, Host) or (isinstance(t, Ref) and t.kind == "object") else ""


def _one_number(name: str, *args: Any) -> bool:
    """Whether arguments can be converted to float: numbers that are not complex, arrays of one element."""
    ok = True
    for a in args:
        kind = kinds_of(a)
        if kind == "?":
            raise Refuse(f"'{name}' of an object", "", "Convert it with float(...) first.")
        t = type_of(a)
        large = isinstance(t, Array) and t.shape is not None and any(d not in (1, None) for d in t.shape)
        complex_array = kind == "c" and isinstance(t, Array)
        if not kind or (kind == "c" and not complex_array and not isinstance(t, (Scalar, Const))) or large:
            ok = False
        if kind == "c" and (isinstance(t, Const) and not isinstance(t.value, np.generic)):
            ok = False
    return ok


def _to(result: Type, count: int, most: int | None = None) -> Callable[..., Type]:
    def rule(*args: Any) -> Type:
        if not count <= len(args) <= (count if most is None else most):
            return BOTTOM
        return result if _one_number("math", *args) else BOTTOM

    return rule


def _rounded(fn: Any) -> Callable[..., Type]:
    """floor, ceil, trunc: an int for Python and NumPy floats; what `__floor__` gives for others."""

    def rule(x: Any, /) -> Type:
        t = type_of(x)
        if not _one_number(fn.__name__, t):
            return BOTTOM
        if fn is math.trunc and isinstance(t, (Array, Scalar)):
            cls = np.ndarray if isinstance(t, Array) else t.dtype.type
            return Py(int) if hasattr(cls, "__trunc__") else BOTTOM
        return Py(int)

    return rule


def _of_integers(name: str, count: int | None, most: int | None = None) -> Callable[..., Type]:
    def rule(*args: Any) -> Type:
        if count is not None and not count <= len(args) <= (most or count):
            return BOTTOM
        if name in ("comb", "perm") and len(args) == 2 and type_of(args[1]) == Const(None):
            args = args[:1]
        return Py(int) if all(map(has_index, args)) else BOTTOM

    return rule


def _elements(t: Any) -> Type:
    """The type of an element of an iterable."""
    t = type_of(t)
    items, _ = sequence(t)
    if items is not None:
        return join(*items)
    if isinstance(t, IterT):
        return t.elem
    if isinstance(t, Array):
        if t.shape == ():
            return BOTTOM
        if t.shape is None or len(t.shape) == 1:
            return Scalar(t.dtype)
        return Array(t.dtype, t.shape[1:])
    if isinstance(t, Ref) and t.kind == "dict":
        return t.site.read_key()
    if isinstance(t, Ref) and t.kind == "set":
        return t.site.read()
    raise Refuse(f"an iteration over a value of type {t!r}")


def _fsum(seq: Any, /) -> Type:
    _elements(seq)
    return FLOAT


def _product_type(total: Type, element: Type) -> Type:
    from autograph.ops.base import infer, sample_call

    fn = np.multiply
    if any(isinstance(t, (Array,)) for t in (total, element)):
        return infer(BY_FUNCTION[fn], (total, element), {})
    a, b = total, element
    value = sample_call(_times, _general(a), _general(b))
    if isinstance(value, Exception):
        return BOTTOM
    return Scalar(value.dtype) if isinstance(value, np.generic) else Py(type(value))


def _times(a: Any, b: Any) -> Any:
    return a * b


def _general(t: Type) -> Type:
    from autograph.graph.types import generalize

    return generalize(t)


def _prod(iterable: Any, /, *, start: Any = 1) -> Type:
    element = _elements(iterable)
    result: Type = type_of(start)
    items, length = sequence(type_of(iterable))
    if items is not None and length == len(items):
        for item in items:
            result = join(*(_product_type(r, i) for r in members(result) for i in members(item)))
        return result if items else type_of(start)
    for _ in range(8):
        more = join(result, *(_product_type(r, e) for r in members(result) for e in members(element)))
        if more == result:
            return result
        result = more
    raise Refuse("'math.prod' of values whose type changes")


def _dist(p: Any, q: Any, /) -> Type:
    for point in (p, q):
        _elements(point)
    return FLOAT


def _sumprod(p: Any, q: Any, /) -> Type:
    first, second = _elements(p), _elements(q)
    results: list[Type] = [Py(int)]
    kinds = {kinds_of(m) for t in (first, second) for m in members(t)}
    if any(not isinstance(m, (Py, Const)) for t in (first, second) for m in members(t)):
        raise Refuse("'math.sumprod' of NumPy numbers", "", "Use np.dot.")
    if kinds & {"f"}:
        results.append(FLOAT)
    if kinds & {"c"}:
        results.append(Py(complex))
    return join(*results)


def _hypot(*coordinates: Any) -> Type:
    return FLOAT if _one_number("hypot", *coordinates) else BOTTOM


def _log(x: Any, base: Any = None, /) -> Type:
    args = (x,) if base is None else (x, base)
    return FLOAT if _one_number("log", *args) else BOTTOM


def _isclose(a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Type:
    return Py(bool) if _one_number("isclose", a, b, rel_tol, abs_tol) else BOTTOM


def _ldexp(x: Any, i: Any, /) -> Type:
    return FLOAT if _one_number("ldexp", x) and kinds_of(i) in ("b", "i", "u", "?") else BOTTOM


def _nextafter(x: Any, y: Any, /, *, steps: Any = None) -> Type:
    return FLOAT if _one_number("nextafter", x, y) else BOTTOM


_RULES: dict[str, Callable[..., Type]] = {
    **{n: _of_integers(n, 1) for n in ("factorial", "isqrt")},
    **{n: _of_integers(n, None) for n in ("gcd", "lcm")},
    "comb": _of_integers("comb", 2),
    "perm": _of_integers("perm", 1, 2),
    **{n: _to(Py(bool), 1) for n in ("isfinite", "isinf", "isnan")},
    **{n: _to(FLOAT, 2) for n in ("atan2", "copysign", "fmod", "pow", "remainder")},
    "fma": _to(FLOAT, 3),
    "frexp": _to(TupleT((FLOAT, Py(int))), 1),
    "modf": _to(TupleT((FLOAT, FLOAT)), 1),
    **{n: _rounded(getattr(math, n)) for n in ("floor", "ceil", "trunc")},
    "fsum": _fsum,
    "prod": _prod,
    "dist": _dist,
    "sumprod": _sumprod,
    "hypot": _hypot,
    "log": _log,
    "isclose": _isclose,
    "ldexp": _ldexp,
    "nextafter": _nextafter,
}


def _wide_perm(n: Any, k: Any = None, /) -> bool:
    """At least k! ways."""
    k = n if k is None else k
    return isinstance(n, (int, np.integer)) and isinstance(k, (int, np.integer)) and int(n) >= int(k) > 20


def _wide_comb(n: Any, k: Any, /) -> bool:
    """At least 2 ** k ways for k up to half of n."""
    return isinstance(n, (int, np.integer)) and isinstance(k, (int, np.integer)) and int(n) - 64 > int(k) > 64


_WIDE: dict[str, Callable[..., bool]] = {
    "factorial": _wide_perm,
    "comb": _wide_comb,
    "perm": _wide_perm,
}

for _name in dir(math):
    _fn = getattr(math, _name)
    if callable(_fn) and not _name.startswith("_"):
        _rule = _RULES.get(_name, _to(FLOAT, 1))
        define(f"math.{_name}", _fn, _rule, handles=(_fn,), wide=_WIDE.get(_name))


def _complex_number(*args: Any) -> bool:
    for a in args:
        kind = kinds_of(a)
        if kind == "?":
            raise Refuse("'cmath' of an object", "", "Convert it with complex(...) first.")
        t = type_of(a)
        if not kind or (
            isinstance(t, Array) and t.shape is not None and any(d not in (1, None) for d in t.shape)
        ):
            return False
    return True


def _complex_to(result: Type, count: int, most: int | None = None) -> Callable[..., Type]:
    def rule(*args: Any, **options: Any) -> Type:
        if not count <= len(args) <= (most or count):
            return BOTTOM
        return result if _complex_number(*args) else BOTTOM

    return rule


_COMPLEX_RULES = {
    **{n: _complex_to(Py(bool), 1) for n in ("isfinite", "isinf", "isnan")},
    "isclose": _complex_to(Py(bool), 2),
    "phase": _complex_to(FLOAT, 1),
    "polar": _complex_to(TupleT((FLOAT, FLOAT)), 1),
    "rect": _complex_to(Py(complex), 2),
    "log": _complex_to(Py(complex), 1, 2),
}

for _name in dir(cmath):
    _fn = getattr(cmath, _name)
    if callable(_fn) and not _name.startswith("_"):
        define(f"cmath.{_name}", _fn, _COMPLEX_RULES.get(_name, _complex_to(Py(complex), 1)), handles=(_fn,))
