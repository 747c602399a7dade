"""Python's operators on numbers, strings, tuples, lists and arrays."""

from __future__ import annotations

import operator
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
    SeqT,
    TupleT,
    Type,
    generalize,
    join,
    members,
    python_class,
)
from autograph.ops import base
from autograph.ops.base import Op, Refuse, define, elementwise, has_index, is_number, sequence, type_of

NUMBERS = (bool, int, float, complex)


def _python_number(t: Type) -> bool:
    return (isinstance(t, Py) and t.cls in NUMBERS) or (isinstance(t, Const) and type(t.value) in NUMBERS)


def _refuse_host(symbol: str, *types: Type) -> None:
    for t in types:
        if isinstance(t, Host) and (t.cls is None or not issubclass(t.cls, BaseException)):
            raise Refuse(
                f"the result of a host call is used with '{symbol}', but its type is not known",
                "A function that is not converted runs on the host when the graph runs, "
                "so the graph cannot know what it returns.",
                'Declare it: ag.host_call(function, ..., result=ag.spec("float64")), or pass the value in as '
                "an argument.",
            )


def _pow_python(a: Type, b: Type) -> Type | None:
    """int ** int may be a float, float ** float may be complex: the values tell."""
    p, q = python_class(a), python_class(b)
    if p in (bool, int) and q in (bool, int):
        if (isinstance(b, Const) and b.value >= 0) or q is bool:
            return Py(int)
        if isinstance(b, Const):
            return Py(float)
        return join(Py(int), Py(float))
    if p in (bool, int, float) and q in (bool, int, float):
        if q is not float or (isinstance(b, Const) and float(b.value).is_integer()):
            return Py(float)
        if isinstance(a, Const) and a.value >= 0:
            return Py(float)
        return join(Py(float), Py(complex))
    return None


def _binary_rule(symbol: str, fn: Callable[[Any, Any], Any]) -> Any:
    numeric = elementwise(fn)

    def rule(a: Any, b: Any) -> Type:
        s, t = type_of(a), type_of(b)
        if is_number(s) and is_number(t):
            if symbol == "**" and _python_number(s) and _python_number(t):
                special = _pow_python(s, t)
                if special is not None:
                    return special
            found = numeric(s, t)
            squares = isinstance(s, Array) and s.dtype == bool and isinstance(t, Py) and t.cls is int
            if symbol == "**" and squares and isinstance(found, (Array, Scalar)):
                int8 = np.dtype(np.int8)  # which is what NumPy squares to
                return join(found, Array(int8, found.shape) if isinstance(found, Array) else Scalar(int8))
            return found
        _refuse_host(symbol, s, t)
        result = _sequences(symbol, s, t, numeric)
        return _of_empty(fn, s, t) if result is BOTTOM else result

    return rule


def _of_empty(fn: Callable[[Any, Any], Any], s: Type, t: Type) -> Type:
    """What an array that may be empty gives with what is no number: there is no item that would fail."""
    array, other = (s, t) if isinstance(s, Array) else (t, s)
    if not isinstance(array, Array) or not (array.shape is None or {0, None} & {*array.shape}):
        return BOTTOM
    none = np.ones((0,) * len(array.shape or (0,)), array.dtype)
    item = "" if python_class(other) is str else b"" if python_class(other) is bytes else None
    try:
        value = fn(none, item) if array is s else fn(item, none)
    except Exception:
        return BOTTOM
    return Host() if value.dtype == object else Array(value.dtype, array.shape)


def _is_array(t: Type) -> bool:
    return isinstance(t, (Array, Scalar)) or (isinstance(t, Const) and isinstance(t.value, np.generic))


def _sequences(symbol: str, s: Type, t: Type, numeric: base.Rule) -> Type:
    p, q = python_class(s), python_class(t)
    if symbol == "%" and p in (str, bytes):
        return Py(p)
    if symbol == "+" and p is q and p in (str, bytes):
        return Py(p)
    if symbol == "*" and p in (str, bytes):
        return Py(p) if has_index(t) and not isinstance(t, Array) else BOTTOM
    if symbol == "*" and q in (str, bytes):
        return Py(q) if has_index(s) and not isinstance(s, Array) else BOTTOM
    s_items, s_length = sequence(s)
    t_items, t_length = sequence(t)
    if (_is_array(s) and t_items is not None) or (_is_array(t) and s_items is not None):
        scalar = s if _is_array(s) else t
        if not isinstance(scalar, Array) and symbol == "*":
            tried = base.sample_call(operator.mul, scalar, Const((1,)))
            if isinstance(tried, Exception):
                return BOTTOM
            if isinstance(tried, tuple):
                return _repeat(t if scalar is s else s, Py(int))
            raise Refuse(
                "a sequence is multiplied by a NumPy scalar",
                "NumPy repeats it or makes an array of it, depending on the types.",
                "Convert one of them first: int(n), or np.asarray(items).",
            )
        return numeric(s, t)
    if isinstance(s, Ref) and s.kind == "list" and isinstance(t, Ref) and t.kind == "list" and symbol == "+":
        site = base.new_site("list", list)
        site.made_with(())
        site.unfix()
        site.widen(join(s.site.read(), t.site.read()))
        return Ref(site)
    if (
        symbol == "+"
        and s_items is not None
        and t_items is not None
        and issubclass(p or int, tuple)
        and issubclass(q or int, tuple)
    ):
        if s_length is None or t_length is None:
            return SeqT(join(*s_items, *t_items))
        return TupleT((*s_items, *t_items))
    if symbol == "*":
        return _repeat(s, t) if s_items is not None else (_repeat(t, s) if t_items is not None else BOTTOM)
    if isinstance(s, Ref) and s.kind in ("set", "dict") and isinstance(t, Ref) and t.kind == s.kind:
        return _set_operation(symbol, s, t)
    if isinstance(s, IterT) or isinstance(t, IterT):
        raise Refuse(
            f"'{symbol}' is used on a view of a dict or an iterator",
            "A graph has no operation for it.",
            "Make a list or a set of it first.",
        )
    return BOTTOM


def _repeat(s: Type, count: Type) -> Type:
    if not has_index(count):
        return BOTTOM
    items, _ = sequence(s)
    if isinstance(s, Ref):
        site = base.new_site("list", list)
        assert items is not None
        if isinstance(count, Const) and s.site.fixed is not None:
            site.made_with(items * count.value)
        else:
            site.made_with(())
            site.unfix()
            site.widen(join(*items))
        return Ref(site)
    assert items is not None
    if isinstance(count, Const) and isinstance(s, (TupleT, Const)):
        return TupleT(items * count.value)
    return SeqT(join(*items))


def _set_operation(symbol: str, s: Ref, t: Ref) -> Type:
    if s.kind == "dict":
        if symbol != "|":
            return BOTTOM
        site = base.new_site("dict", dict)
        for source in (s.site, t.site):
            source.was_read = True
            for name, value in source.fields.items():
                site.widen_field(name, value)
            if source.key_type is not BOTTOM:
                site.widen_key(source.key_type, source.elem)
        site.open_keys()
        return Ref(site)
    if symbol not in ("|", "&", "-", "^"):
        return BOTTOM
    site = base.new_site("set", set)
    site.widen(join(s.site.read(), t.site.read()))
    return Ref(site)


SYMBOLS: dict[str, tuple[str, Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "+": ("add", operator.add, operator.iadd),
    "-": ("sub", operator.sub, operator.isub),
    "*": ("mul", operator.mul, operator.imul),
    "/": ("truediv", operator.truediv, operator.itruediv),
    "//": ("floordiv", operator.floordiv, operator.ifloordiv),
    "%": ("mod", operator.mod, operator.imod),
    "**": ("pow", operator.pow, operator.ipow),
    "@": ("matmul", operator.matmul, operator.imatmul),
    "&": ("and", operator.and_, operator.iand),
    "|": ("or", operator.or_, operator.ior),
    "^": ("xor", operator.xor, operator.ixor),
    "<<": ("lshift", operator.lshift, operator.ilshift),
    ">>": ("rshift", operator.rshift, operator.irshift),
}


def _matmul_rule(a: Any, b: Any) -> Type:
    s, t = type_of(a), type_of(b)
    op = base.BY_FUNCTION.get(np.matmul)
    if not (isinstance(s, Array) or isinstance(t, Array)):  # NumPy's scalars have no @
        _refuse_host("@", s, t)
        return BOTTOM
    if op is None:
        raise Refuse("matrix products are not known")
    return op.rule(s, t)


def _inplace_rule(symbol: str, binary: base.Rule) -> base.Rule:
    def rule(a: Any, b: Any) -> Type:
        s, t = type_of(a), type_of(b)
        if isinstance(s, Array):
            result = binary(s, t)
            return BOTTOM if result is BOTTOM or isinstance(result, Host) else s
        if isinstance(s, Ref) and s.kind == "list":
            return _inplace_list(symbol, s, t, binary)
        if isinstance(s, Ref) and s.kind == "set" and symbol in ("|", "&", "-", "^"):
            if not (isinstance(t, Ref) and t.kind == "set"):
                return BOTTOM
            s.site.widen(t.site.read())
            return s
        if (
            isinstance(s, Ref)
            and s.kind == "dict"
            and symbol == "|"
            and isinstance(t, Ref)
            and t.kind == "dict"
        ):
            merged = _set_operation("|", s, t)
            assert isinstance(merged, Ref)
            s.site.open_keys()
            for name, value in merged.site.fields.items():
                s.site.widen_field(name, value)
            if merged.site.key_type is not BOTTOM:
                s.site.widen_key(merged.site.key_type, merged.site.elem)
            return s
        return binary(s, t)

    return rule


def _inplace_list(symbol: str, s: Ref, t: Type, binary: base.Rule) -> Type:
    if isinstance(t, Array) or (_is_array(t) and not (symbol == "*" and has_index(t))):
        return binary(s, t)
    if symbol == "+":
        elem = element_type(t)
        if elem is None:
            return BOTTOM
        s.site.unfix()
        s.site.widen(elem)
        return s
    if symbol == "*" and has_index(t):
        s.site.unfix()
        return s
    return BOTTOM


def element_type(t: Type) -> Type | None:
    """What iterating over a value of this type gives, joined; None if it cannot be iterated."""
    items, _ = sequence(t)
    if items is not None:
        return join(*items)
    if isinstance(t, Array):
        if t.shape == ():
            return None
        if t.shape is None:
            return join(Scalar(t.dtype), Array(t.dtype, None))
        return Scalar(t.dtype) if len(t.shape) == 1 else Array(t.dtype, t.shape[1:])
    if isinstance(t, Ref) and t.kind == "set":
        return t.site.read()
    if isinstance(t, Ref) and t.kind == "dict":
        return t.site.read_key()
    if isinstance(t, IterT):
        return t.elem
    if python_class(t) is str:
        return Py(str)
    if python_class(t) is bytes:
        return Py(int)
    return None


def _wide_power(a: Any, b: Any, modulus: Any = None, *more: Any) -> bool:
    return type(a) is int and type(b) is int and b > 64 and abs(a) > 1 and modulus is None


def _wide_shift(a: Any, b: Any) -> bool:
    return type(a) in (int, bool) and type(b) is int and b > 64 and a != 0


_WIDE = {"**": _wide_power, "<<": _wide_shift}
BINARY: dict[str, Op] = {}
INPLACE: dict[str, Op] = {}
for _symbol, (_name, _fn, _ifn) in SYMBOLS.items():
    _rule = _matmul_rule if _symbol == "@" else _binary_rule(_symbol, _fn)
    _wide = _WIDE.get(_symbol)
    BINARY[_symbol] = define(_name, _fn, _rule, handles=(_fn,), wide=_wide)
    INPLACE[_symbol] = define(
        "i" + _name, _ifn, _inplace_rule(_symbol, _rule), "writes", "view", handles=(_ifn,), wide=_wide
    )


def _compare_rule(fn: Callable[[Any, Any], Any], symbol: str) -> Any:
    numeric = elementwise(fn)

    def rule(a: Any, b: Any) -> Type:
        s, t = type_of(a), type_of(b)
        if is_number(s) and is_number(t):
            return numeric(s, t)
        if _is_array(s) or _is_array(t):
            other = t if _is_array(s) else s
            if sequence(other)[0] is not None:
                return numeric(s, t)
            if symbol in ("==", "!="):
                array = s if _is_array(s) else t
                if isinstance(array, Array) and array.shape != () and not isinstance(other, Host):
                    return Array(np.dtype(bool), array.shape)
                if not isinstance(array, Array) or array.shape == ():
                    return _scalar_equality(array, other)
        if symbol in ("==", "!="):
            return Py(bool)
        _refuse_host(symbol, s, t)
        p, q = python_class(s), python_class(t)
        if (p is q and p in (str, bytes, list, tuple, set)) or (
            p and q and issubclass(p, tuple) and issubclass(q, tuple)
        ):
            plain = p in (str, bytes, set) or (_is_plain(s) and _is_plain(t))
            if plain:
                return Py(bool)
            return Host() if _has_array(s) or _has_array(t) else join(Py(bool), generalize(Const(np.True_)))
        return _of_empty(fn, s, t)

    return rule


def _is_plain(t: Type) -> bool:
    """Whether the items of a sequence are Python's own: an order of others is a bool of theirs."""
    if isinstance(t, Const):
        return not isinstance(t.value, tuple) or (
            all(_is_plain(Const(v)) for v in t.value)
            and not any(isinstance(v, (np.generic, np.ndarray)) for v in t.value)
        )
    if isinstance(t, TupleT):
        return all(_is_plain(x) for x in t.items)
    if isinstance(t, SeqT):
        return _is_plain(t.elem)
    return isinstance(t, Py)


def _has_array(t: Type, depth: int = 0) -> bool:
    """Whether an item of a sequence, or of one in it, may be an array."""
    if depth > 4:  # a list that holds itself
        return False
    return any(
        isinstance(m, (Array, Host)) or _has_array(m, depth + 1)
        for item in sequence(t)[0] or ()
        for m in members(item)
    )


def _scalar_equality(scalar: Any, other: Type) -> Type:
    """What a NumPy scalar gives with what is neither a number nor a sequence: its own bool, or Python's."""
    numpy_bool = generalize(Const(np.True_))
    dtype = scalar.value.dtype if isinstance(scalar, Const) else scalar.dtype
    text = python_class(other)
    if text is str or text is bytes:  # Python's own bool before NumPy 2.3
        number = np.zeros((), dtype) if isinstance(scalar, Array) else np.zeros((), dtype)[()]
        return generalize(Const(number == text()))
    if isinstance(scalar, Array) and isinstance(other, Const):
        return numpy_bool
    if not isinstance(other, Const):
        return join(Py(bool), numpy_bool)
    return generalize(Const(np.zeros((), dtype)[()] == other.value))


COMPARE: dict[str, Op] = {}
for _symbol, _name, _fn in (
    ("<", "lt", operator.lt),
    ("<=", "le", operator.le),
    (">", "gt", operator.gt),
    (">=", "ge", operator.ge),
    ("==", "eq", operator.eq),
    ("!=", "ne", operator.ne),
):
    COMPARE[_symbol] = define(_name, _fn, _compare_rule(_fn, _symbol), handles=(_fn,))


_CALLED: dict[str, Callable[[Any, Any], Any]] = {
    **{symbol: op.kernel for symbol, op in COMPARE.items()},
    **{symbol: fn for symbol, (_, fn, _) in SYMBOLS.items()},
    **{symbol + "=": fn for symbol, (_, _, fn) in SYMBOLS.items()},
    "divmod": divmod,
}


def _unsupported(symbol: str, a: Any, b: Any) -> Any:
    return _CALLED[symbol](_bare(a), _bare(b))


def _bare(x: Any) -> Any:
    """For a user's object, one with nothing of its class but the name: no method is called again."""
    cls = type(x)
    known = isinstance(x, (np.generic, np.ndarray)) or cls.__module__ == "builtins"
    return x if known else type(cls.__name__, (), {})()


UNSUPPORTED = define("unsupported", _unsupported, lambda symbol, a, b: BOTTOM)
"""What Python raises once the methods of both operands have returned NotImplemented."""


def _contains_rule(container: Any, value: Any) -> Type:
    t = type_of(container)
    if isinstance(t, Host) and t.cls is not None and hasattr(t.cls, "__contains__"):
        return Py(bool)
    _refuse_host("in", t)
    return BOTTOM if element_type(t) is None and not isinstance(t, Array) else Py(bool)


CONTAINS = define("contains", operator.contains, _contains_rule, handles=(operator.contains,))


def _unary_rule(symbol: str, fn: Callable[[Any], Any]) -> Any:
    numeric = elementwise(fn)

    def rule(x: Any) -> Type:
        t = type_of(x)
        if is_number(t):
            return numeric(t)
        _refuse_host(symbol, t)
        return BOTTOM

    return rule


UNARY = {
    symbol: define(name, fn, _unary_rule(symbol, fn), handles=(fn,))
    for symbol, name, fn in (
        ("-", "neg", operator.neg),
        ("+", "pos", operator.pos),
        ("~", "invert", operator.invert),
    )
}


def _divmod_rule(a: Any, b: Any) -> Type:
    quotient, rest = BINARY["//"].rule(a, b), BINARY["%"].rule(a, b)
    if quotient is BOTTOM or rest is BOTTOM:
        return BOTTOM
    return TupleT((quotient, rest))


DIVMOD = define("divmod", divmod, _divmod_rule, handles=(divmod,))


def _pow_rule(a: Any, b: Any, modulus: Any = None) -> Type:
    if modulus is None or (isinstance(modulus, Const) and modulus.value is None):
        return BINARY["**"].rule(a, b)
    return Py(int)


POW = define("pow3", pow, _pow_rule, handles=(pow,), wide=_wide_power)
