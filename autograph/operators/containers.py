"""Displays, subscripts, unpacking, augmented assignment and text."""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import inspect
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.graph import Region, Tensor
from autograph.graph.types import (
    BOTTOM,
    ClosureT,
    Host,
    Ref,
    TupleT,
    Type,
    TypeChoice,
    join,
    members,
    python_class,
)
from autograph.operators.branches import and_, if_exp, in_, is_object, narrow, split
from autograph.operators.calls import Splat, call
from autograph.operators.loops import Lazy, for_stmt, is_stream, known_items
from autograph.operators.objects import (
    asked,
    compare,
    has_object,
    inplace,
    method_of,
    object_iterator,
    special_call,
    special_index,
)
from autograph.operators.tracer import (
    TracedValue,
    current,
    emit,
    has_tensor,
    pack,
    require,
    unpack_tuple,
    vtype,
)
from autograph.ops import arithmetic, core
from autograph.ops import containers as ops
from autograph.ops.base import Op, op_of

splat = object()
"""Marks, in a dict display, a mapping that is spread."""


def materialize(value: Any) -> Any:
    """A list of the items of an object, or of an iterable that exists only in the trace."""
    from autograph.operators.generators import GeneratorValue, NextIterator
    from autograph.operators.loops import Filtered

    if has_object(value):
        if not is_object(value._ag_type):
            return split(value, is_object, materialize, materialize)
        inner = object_iterator(value)
        return value if inner is None else materialize(inner[0])
    if isinstance(value, NextIterator):
        out = emit(ops.NEW_LIST, ())
        append = ops.METHODS["list", "append"]
        for_stmt(value, None, lambda i: emit(append, out, pack(i)), lambda: (), lambda v: None, ())
        return out
    if isinstance(value, GeneratorValue):
        out = emit(ops.NEW_LIST, ())

        def callback(item: Any) -> bool:
            emit(ops.METHODS["list", "append"], out, pack(item))
            return False

        value.run(callback)
        return out
    if isinstance(value, Lazy):
        known = None if isinstance(value, Filtered) else known_items(value)
        if known is not None:
            value.use()
            return emit(ops.NEW_LIST, tuple(pack(i) for i in known))
        out = emit(ops.NEW_LIST, ())
        append = ops.METHODS["list", "append"]
        for_stmt(value, None, lambda i: emit(append, out, pack(i)), lambda: (), lambda v: None, ())
        return out
    return value


def _spread(items: tuple[Any, ...], op: Op = ops.SPREAD) -> Any:
    """The items of a display, spread ones included: a tuple, or a traced tuple."""
    if not any(isinstance(i, Splat) for i in items):
        return items
    parts: list[Any] = []
    run: list[Any] = []
    for item in items:
        if isinstance(item, Splat):
            parts.append(tuple(run))
            parts.append(emit(op, pack(materialize(item.value)), raw=True))
            run = []
        else:
            run.append(item)
    parts.append(tuple(run))
    return emit(core.CONCAT_TUPLES, *(pack(p) for p in parts if isinstance(p, Tensor) or p), raw=True)


def new_list(*items: Any) -> Any:
    """`[items...]`."""
    if current() is None:
        return list(items)
    spread = _spread(items)
    return emit(ops.NEW_LIST, spread if isinstance(spread, Tensor) else tuple(pack(i) for i in spread))


class ListBuilder:
    """The items of a list comprehension: a list of known length, while its loops are unrolled."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.items: list[Any] = []
        self.made: Any = None

    def make(self) -> Any:
        """The list, made where the comprehension began; later items are appended to it."""
        if self.made is None:
            with require().within(self.region):
                self.made = emit(ops.NEW_LIST, tuple(self.items))
        return self.made


def list_builder() -> Any:
    """What a list comprehension puts its items in."""
    trace = current()
    return [] if trace is None else ListBuilder(trace.region)


def add_item(builder: Any, item: Any) -> None:
    """Puts one more item in what `list_builder` made."""
    trace = current()
    if trace is None:
        builder.append(item)
    elif builder.made is None and trace.region is builder.region:
        builder.items.append(pack(item))
    else:
        emit(ops.METHODS["list", "append"], builder.make(), pack(item))


def built(builder: Any) -> Any:
    """The list of all items."""
    return builder.make() if isinstance(builder, ListBuilder) else builder


def new_tuple(*items: Any) -> Any:
    """`(items...)` with spread items."""
    return items if current() is None else _spread(items)


def varargs(items: tuple[Any, ...]) -> Any:
    """The `*args` parameter of a converted function; a call may have spread an unknown number of items."""
    return items if current() is None else _spread(items, ops.SPREAD_ARGUMENTS)


def new_set(*items: Any) -> Any:
    """`{items...}`."""
    if current() is None:
        return set(items)
    spread = _spread(items, ops.TO_TUPLE)
    return emit(ops.NEW_SET, spread if isinstance(spread, Tensor) else tuple(pack(i) for i in spread))


def new_dict(*entries: tuple[Any, Any]) -> Any:
    """`{key: value, ...}`; an entry `(splat, mapping)` spreads a mapping."""
    trace = current()
    if trace is None:
        out: dict[Any, Any] = {}
        for key, value in entries:
            if key is splat:
                out.update({**value})
            else:
                out[key] = value
        return out
    if not any(key is splat for key, _ in entries):
        return emit(ops.NEW_DICT, tuple(pack(k) for k, _ in entries), tuple(pack(v) for _, v in entries))
    made = emit(ops.NEW_DICT, (), ())
    for key, value in entries:
        if key is splat:
            emit(ops.SPREAD_DICT, made, pack(value))
        else:
            emit(ops.SET_ITEM, made, pack(key), pack(value))
    return made


def kwargs_dict(mapping: dict[str, Any]) -> Any:
    """The `**kwargs` parameter of a converted function, as a dict of the trace."""
    trace = current()
    if trace is None:
        return mapping
    before, trace.hint = trace.hint, tuple(mapping)  # calls with other names make another kind of dict
    try:
        return new_dict(*mapping.items())
    finally:
        trace.hint = before


# -- subscripts ----------------------------------------------------------------------------------------------


def get_item(x: Any, index: Any) -> Any:
    """`x[index]`."""
    if current() is None:
        return x[index]
    index = _position(x, index)
    if isinstance(x, (tuple, str, bytes, range)):
        if not has_tensor(index):
            with contextlib.suppress(IndexError, TypeError, ValueError):
                return x[index]
        return emit(ops.GET_ITEM, pack(x), _index(index))
    if isinstance(x, Tensor):
        if has_object(x):
            return split(
                x,
                is_object,
                lambda o: special_call(o, "__getitem__", ops.GET_ITEM, index),
                lambda o: get_item(o, index),
            )
        return emit(ops.GET_ITEM, x, _index(index))
    if isinstance(x, np.generic):
        return emit(ops.GET_ITEM, x, _index(index))
    subscriptable = isinstance(x, type) and (
        hasattr(x, "__class_getitem__") or hasattr(type(x), "__getitem__")
    )
    if isinstance(x, TracedValue) or subscriptable or hasattr(type(x), "__class_getitem__"):
        if isinstance(x, TracedValue):
            require().refuse(
                "a generator or iterator is subscripted",
                "In a graph it is consumed where it is made, and holds no items.",
                "Make a list of it first: items = list(...).",
            )
        return x[index]
    if not has_tensor(index):
        return emit(ops.GET_ITEM, x, index)  # Enum classes, np.mgrid, NumPy scalars
    if type(x).__module__ == "numpy.lib._index_tricks_impl" and (grid := op_of(x)) is not None:
        return emit(grid, _index(index))
    if not hasattr(type(x), "__getitem__"):
        return emit(ops.GET_ITEM, x, _index(index))  # raises TypeError
    return call(type(x).__getitem__, x, index)


def _position(x: Any, index: Any) -> Any:
    """The number that an object with `__index__` stands for, where `x` has items by number."""
    if has_object(index) and python_class(vtype(x)) in (list, tuple, str, bytes, range, np.ndarray):
        return special_index(index)
    return index


def _index(index: Any) -> Any:
    """An index with its traced parts as leaves."""
    if isinstance(index, tuple):
        return tuple(_index(i) for i in index)
    if isinstance(index, slice):
        return slice(*(pack(i) for i in (index.start, index.stop, index.step)))
    return pack(index)


def set_item(x: Any, index: Any, value: Any) -> None:
    """`x[index] = value`."""
    if isinstance(x, Tensor):
        index = _position(x, index)
        if has_object(x):
            split(
                x,
                is_object,
                lambda o: special_call(o, "__setitem__", ops.SET_ITEM, index, value),
                lambda o: set_item(o, index, value),
            )
            return
        if isinstance(index, slice) and all(
            isinstance(m, Ref) and m.kind == "list" for m in members(x._ag_type)
        ):
            value = materialize(value)
        emit(ops.SET_ITEM, x, _index(index), pack(value))
        return
    if current() is not None and not hasattr(type(x), "__setitem__"):
        emit(ops.SET_ITEM, x, _index(index), pack(value))  # raises TypeError
        return
    x[index] = value


def del_item(x: Any, index: Any) -> None:
    """`del x[index]`."""
    if has_object(x):
        split(
            x,
            is_object,
            lambda o: special_call(o, "__delitem__", ops.DEL_ITEM, index),
            lambda o: del_item(o, index),
        )
        return
    emit(ops.DEL_ITEM, x, _index(index))


def _first_items(stream: Any, count: int) -> Any:
    """A list of at most this many items: more, unpacking does not ask a generator for."""
    out = emit(ops.NEW_LIST, ())
    append = ops.METHODS["list", "append"]
    for_stmt(
        stream,
        lambda: emit(ops.LEN, out) < count,
        lambda i: emit(append, out, pack(i)),
        lambda: (),
        lambda v: None,
        (),
    )
    return out


def unpack(value: Any, before: int, after: int | None = None) -> tuple[Any, ...]:
    """The parts of `value` for `before` targets, or for `before` targets, a starred one, and `after` more."""
    if current() is None:
        return ops._unpack(value, before, after)
    if isinstance(value, TracedValue):
        value = (
            materialize(value)
            if after is not None or not is_stream(value)
            else _first_items(value, before + 1)
        )
    if isinstance(value, tuple):
        if after is None and len(value) == before:
            return value
        if after is not None and len(value) >= before + after:
            middle = new_list(*value[before : len(value) - after])
            return (*value[:before], middle, *value[len(value) - after :])
    elif has_object(value):
        if not is_object(value._ag_type):
            parts = functools.partial(unpack, before=before, after=after)
            return unpack(
                split(value, is_object, parts, parts), before if after is None else before + after + 1
            )
        inner = object_iterator(value)
        if inner is not None:
            return unpack(inner[0], before, after)
    packed = emit(ops.UNPACK, pack(value), before, after, raw=True)
    if not isinstance(packed, Tensor):
        return tuple(packed)
    t = packed._ag_type
    if isinstance(t, TupleT):
        return unpack_tuple(packed, t)
    count = before if after is None else before + after + 1
    return tuple(emit(core.ITEM, packed, i, type_=_part_type(t, i)) for i in range(count))


def _part_type(t: Type, index: int) -> Type:
    """The type of one part, where some alternatives have no known type."""
    return join(*(m.items[index] if isinstance(m, TupleT) else Host() for m in members(t)))


# -- operators that plain Python cannot leave to the operands ------------------------------------------------


def mod(a: Any, b: Any) -> Any:
    """`a % b` (text formatting included)."""
    if current() is None:
        return a % b
    if not (has_tensor(a) or has_tensor(b)):
        return emit(arithmetic.BINARY["%"], a, b)
    if isinstance(a, (str, bytes)):
        a, b = _texts_of_objects(a, b)
        return emit(arithmetic.BINARY["%"], a, pack(b))
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return a % b
    return emit(arithmetic.BINARY["%"], a, b)


_FIELD = re.compile(r"%(\([^)]*\))?[-#0 +]*(\*|\d*)(\.(\*|\d*))?[hlL]?(.)", re.DOTALL)


def _texts_of_objects(text: str | bytes, values: Any) -> tuple[str | bytes, Any]:
    """Both operands of a `%` on text, with the texts of users' objects where a field asks for them."""
    items = list(values) if isinstance(values, tuple) else [values]
    if isinstance(text, bytes) or not any(map(has_object, items)):
        return text, values
    out, end, position = "", 0, 0
    for field in _FIELD.finditer(text):
        if field[1] is not None:
            return text, values
        position += [field[2], field[4]].count("*")
        if field[5] == "%":
            continue
        if field[5] in "sr" and position < len(items) and has_object(items[position]):
            items[position] = (str_of if field[5] == "s" else repr_of)(items[position])
            out, end = out + text[end : field.start(5)] + "s", field.end(5)
        position += 1
    return out + text[end:], tuple(items) if isinstance(values, tuple) else items[0]


def eq(a: Any, b: Any) -> Any:
    """`a == b`."""
    if current() is None or not (has_tensor(a) or has_tensor(b)):
        return a == b
    if isinstance(a, TracedValue) or isinstance(b, TracedValue):
        return a is b
    return compare("==", a, b)


def ne(a: Any, b: Any) -> Any:
    """`a != b`."""
    if current() is None or not (has_tensor(a) or has_tensor(b)):
        return a != b
    if isinstance(a, TracedValue) or isinstance(b, TracedValue):
        return a is not b
    return compare("!=", a, b)


def _ordering(symbol: str) -> Any:
    plain = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}[symbol]

    def compared(a: Any, b: Any) -> Any:
        if current() is None:
            return plain(a, b)
        if not (has_tensor(a) or has_tensor(b)):
            with contextlib.suppress(TypeError):  # raised when the graph runs
                return plain(a, b)
            return emit(arithmetic.COMPARE[symbol], a, b)
        if isinstance(a, TracedValue) or isinstance(b, TracedValue):
            return emit(arithmetic.COMPARE[symbol], a, b)
        return compare(symbol, a, b)

    compared.__doc__ = f"`a {symbol} b`."
    return compared


lt, le, gt, ge = map(_ordering, ("<", "<=", ">", ">="))


def aug_assign(symbol: str, a: Any, b: Any) -> Any:
    """The new value of a target after `a <symbol>= b`."""
    if current() is None:
        return arithmetic.SYMBOLS[symbol][2](a, b)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        if isinstance(a, Tensor):
            return inplace(symbol, a, b)
        if symbol == "%":
            return mod(a, b) if isinstance(a, (str, bytes)) else inplace(symbol, a, b)
        return arithmetic.SYMBOLS[symbol][2](a, b)
    if isinstance(a, (str, bytes)) and symbol == "%":
        return mod(a, b)
    if not (isinstance(a, TracedValue) or isinstance(b, TracedValue)):
        try:
            with np.errstate(all="ignore"):
                arithmetic.SYMBOLS[symbol][2](a, b)
        except Exception:  # in words about `%=`
            return emit(arithmetic.INPLACE[symbol], a, b, type_=BOTTOM)
    return emit(arithmetic.BINARY[symbol], a, b)


# -- text ----------------------------------------------------------------------------------------------------


def _is_made(method: Any) -> bool:
    """Whether `dataclasses` made a method."""
    return bool(inspect.unwrap(method).__code__.co_filename == "<string>")


def str_of(value: Any) -> Any:
    """`str(value)`, through a user's `__str__` or `__repr__`."""
    for name in ("__str__", "__repr__"):
        method = method_of(value, name)
        if method is not None and not _is_made(method.function):
            return asked(method, name)
    return emit(core.STR_OF, pack(value))


def repr_of(value: Any) -> Any:
    """`repr(value)`."""
    method = method_of(value, "__repr__")
    if method is not None and not _is_made(method.function):
        return asked(method, "__repr__")
    return emit(core.REPR_OF, pack(value))


def format_value(value: Any, conversion: str = "", spec: Any = "") -> Any:
    """One replacement field of an f-string."""
    if current() is None:
        return core._format_value(value, conversion, spec)
    if not has_tensor(value) and not has_tensor(spec):
        with contextlib.suppress(Exception):
            return core._format_value(value, conversion, spec)
    if has_object(value) and is_object(value._ag_type):
        if conversion == "r":
            value, conversion = repr_of(value), ""
        elif method_of(value, "__format__") is not None and not conversion:
            return asked(method_of(value, "__format__"), "__format__", spec)
        elif spec == "" or conversion == "s":
            value, conversion = str_of(value), ""
    return emit(core.FORMAT_VALUE, pack(value), conversion, pack(spec))


def fstring(*parts: Any) -> Any:
    """The text of an f-string."""
    if not has_tensor(parts):
        return "".join(parts)
    return emit(core.CONCAT_STR, *parts)


# -- match ---------------------------------------------------------------------------------------------------


def match_sequence(subject: Any, before: int, after: int | None = None) -> tuple[Any, tuple[Any, ...]]:
    """Whether a sequence pattern of this length fits, and the items (the starred ones as a list)."""
    if current() is None or not has_tensor(subject):
        fits = isinstance(subject, collections.abc.Sequence) and not isinstance(
            subject, (str, bytes, bytearray)
        )
        fits = fits and (len(subject) == before if after is None else len(subject) >= before + after)
        return fits, unpack(tuple(subject), before, after) if fits else ()
    if isinstance(subject, tuple):
        fits = len(subject) == before if after is None else len(subject) >= before + after
        return fits, unpack(subject, before, after) if fits else ()
    maybe, whole = _where(subject, _is_sequence)
    if maybe is False:
        return False, ()

    def of_length() -> Any:
        length = call(len, whole())
        return eq(length, before) if after is None else length >= before + after

    return and_(maybe, of_length), _LazyItems(whole, before, after)  # type: ignore[return-value]


def _where(subject: Any, choose: Callable[[Type], bool]) -> tuple[Any, Callable[[], Any]]:
    """Whether a value is of one of the types that `choose` accepts, and what gives it as one of these."""
    alternatives = members(subject._ag_type) if isinstance(subject, Tensor) else (vtype(subject),)
    chosen = tuple(m for m in alternatives if choose(m))
    if not chosen or len(chosen) == len(alternatives):
        return bool(chosen), lambda: subject
    return emit(core.IS_TYPE, subject, TypeChoice(chosen)), lambda: narrow(subject, chosen)


class _LazyItems:
    """The items of a matched sequence, read only where the pattern has matched."""

    def __init__(self, subject: Callable[[], Any], before: int, after: int | None) -> None:
        self.subject, self.before, self.after = subject, before, after

    def __getitem__(self, i: int) -> Any:
        subject = self.subject()
        if self.after is None or i < self.before:
            return get_item(subject, i)
        if i > self.before:
            return get_item(subject, i - self.before - self.after - 1)
        stop = None if self.after == 0 else -self.after
        return call(list, get_item(subject, slice(self.before, stop)))


def _is_sequence(t: Type) -> bool:
    return _is_a(t, collections.abc.Sequence) and not _is_a(t, str, bytes, bytearray)


def _is_mapping(t: Type) -> bool:
    return _is_a(t, collections.abc.Mapping)


def _is_a(t: Type, *classes: type) -> bool:
    cls = python_class(t)
    if cls is None and not isinstance(t, ClosureT):
        require().refuse(
            "a pattern is matched with a value of a type that is not known",
            "Whether it is a sequence or a mapping must be known while the graph is built.",
            "Test the type first: if isinstance(x, (list, tuple)).",
        )
    return cls is not None and issubclass(cls, classes)


def match_mapping(subject: Any, keys: tuple[Any, ...], rest: bool = False) -> tuple[Any, ...]:
    """Whether a mapping pattern with these keys fits, their values, and the other entries."""
    if current() is None or not has_tensor(subject):
        fits: Any = isinstance(subject, collections.abc.Mapping) and all(k in subject for k in keys)
        values: Any = tuple(subject[k] for k in keys) if fits else ()
        more = ({k: v for k, v in subject.items() if k not in keys} if fits else {},) if rest else ()
        return (fits, values, *more)
    fits, whole = _where(subject, _is_mapping)
    if fits is False:
        return (False, (), *((None,) if rest else ()))
    for key in keys:
        fits = and_(fits, functools.partial(_has_key, whole, key))
    values = _LazyEntries(whole, keys)
    if not rest:
        return (fits, values)

    def without_keys() -> Any:
        others = call(dict, whole())
        for key in keys:
            emit(ops.METHODS["dict", "pop"], others, key, None)
        return others

    return (fits, values, if_exp(fits, without_keys, lambda: None))


def _has_key(mapping: Callable[[], Any], key: Any) -> Any:
    return in_(key, mapping())


class _LazyEntries:
    """The values of a matched mapping, read only where the pattern has matched."""

    def __init__(self, subject: Callable[[], Any], keys: tuple[Any, ...]) -> None:
        self.subject, self.keys = subject, keys

    def __getitem__(self, i: int) -> Any:
        return get_item(self.subject(), self.keys[i])


def match_class(subject: Any, cls: Any, positional: int, names: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """Whether a class pattern fits, and the attributes that its subpatterns look at."""
    from autograph.operators.objects import get_attr

    fits = call(isinstance, subject, cls)
    if fits is False:
        return False, ()
    if positional and cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
        return fits, (subject,)
    wanted = (*getattr(cls, "__match_args__", ())[:positional], *names)
    if fits is True:
        return True, tuple(get_attr(subject, n) for n in wanted)
    return fits, _LazyAttributes(subject, wanted)


class _LazyAttributes:
    def __init__(self, subject: Any, names: tuple[str, ...]) -> None:
        self.subject, self.names = subject, names

    def __getitem__(self, i: int) -> Any:
        from autograph.operators.objects import get_attr

        return get_attr(self.subject, self.names[i])
