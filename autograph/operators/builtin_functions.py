"""Python's builtin functions, on values of a trace."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
from typing import Any

import numpy as np

from autograph.graph.graph import Tensor
from autograph.graph.types import (
    BOTTOM,
    Array,
    ClosureT,
    Host,
    IterT,
    Ref,
    TupleT,
    Type,
    members,
    python_class,
)
from autograph.operators import sums
from autograph.operators.branches import if_exp, if_stmt, is_object, not_, or_, split, truth
from autograph.operators.calls import BoundMethod, call, handles, host_call
from autograph.operators.containers import format_value, materialize, new_dict, repr_of, str_of
from autograph.operators.exceptions import try_stmt
from autograph.operators.generators import GeneratorValue, NextIterator
from autograph.operators.loops import (
    NEXT,
    Enumerate,
    Filtered,
    Lazy,
    Map,
    Reversed,
    Zip,
    for_stmt,
    is_stream,
    known_items,
)
from autograph.operators.objects import (
    again,
    asked,
    beside,
    compare,
    get_attr,
    has_object,
    method_of,
    object_iterator,
    set_attr,
    special_call,
    special_index,
    split_objects,
    watch_class,
)
from autograph.operators.tracer import TracedValue, emit, has_tensor, pack, require, vtype
from autograph.operators.variables import Box
from autograph.ops import arithmetic, core
from autograph.ops import containers as ops
from autograph.ops.base import Op


def refuse(what: str, why: str = "", instead: str = "") -> Any:
    return require().refuse(what, why, instead)


def consumed(value: Any) -> Any:
    """An iterable as a value that ops take: generators and lazy iterables become lists."""
    return materialize(value)


def register(function: Any, op: Op) -> None:
    """A builtin that is one op on numbers, and a special method on objects."""
    special = f"__{function.__name__}__"

    @handles(function)
    def handler(x: Any, *args: Any, **kwargs: Any) -> Any:
        handled = split_objects(
            x, lambda o: special_call(o, special, op, *args), lambda o: call(function, o, *args, **kwargs)
        )
        if handled is not None:
            return handled[0]
        return emit(op, consumed(x) if isinstance(x, TracedValue) else x, *map(pack, args), **kwargs)


for _function, _op in (
    (abs, core.ABS),
    (round, core.ROUND),
    (ord, core.ORD),
    (len, ops.LEN),
):
    register(_function, _op)


def register_of_index(function: Any, op: Op) -> None:
    """A builtin that takes an integer, or what `__index__` gives."""
    handles(function)(lambda x: emit(op, special_index(x)))


register_of_index(chr, core.CHR)
register_of_index(hex, core.HEX)
register_of_index(bin, core.BIN)
register_of_index(oct, core.OCT)


@handles(float)
def float_(*args: Any) -> Any:
    if not args:
        return 0.0
    return as_number(core.TO_FLOAT, args, ("__float__", "__index__"))


@handles(int)
def int_(*args: Any, **kwargs: Any) -> Any:
    if not args:
        return 0
    return as_number(core.TO_INT, args, ("__int__", "__index__"), **kwargs)


@handles(complex)
def complex_(*args: Any) -> Any:
    return as_number(core.TO_COMPLEX, args, ("__complex__", "__float__", "__index__"))


def as_number(op: Op, args: tuple[Any, ...], names: tuple[str, ...], **kwargs: Any) -> Any:
    """A number made of the arguments; of a user's object by the first special method that it has."""

    def of_object(o: Any) -> Any:
        found = next((method for name in names if (method := method_of(o, name)) is not None), None)
        if found is None:
            return emit(op, o, type_=BOTTOM)
        name = found.function.__name__
        return emit(op, asked(found, name) if name in core.SPECIAL else call(found))

    if (
        len(args) == 1
        and not kwargs
        and (handled := split_objects(args[0], of_object, lambda v: emit(op, v)))
    ):
        return handled[0]
    return emit(op, *args, **kwargs)


@handles(bool)
def bool_(*args: Any) -> Any:
    return truth(args[0]) if args else False


@handles(str)
def str_(*args: Any, **kwargs: Any) -> Any:
    if not args:
        return ""
    if len(args) > 1 or kwargs:
        return emit(core.STR_OF, *args, **kwargs)
    return str_of(args[0])


@handles(repr)
def repr_(value: Any) -> Any:
    return repr_of(value)


@handles(ascii)
def ascii_(value: Any) -> Any:
    return emit(core.ASCII, pack(value))


@handles(format)
def format_(value: Any, spec: Any = "") -> Any:
    return format_value(value, "", spec)


@handles(len)
def length(x: Any) -> Any:
    """`len(x)`."""
    if isinstance(x, tuple):
        return len(x)
    handled = split_objects(x, lambda o: special_call(o, "__len__", ops.LEN), length)
    if handled is not None:
        return handled[0]
    if isinstance(x, Lazy):
        probe: Any = {Zip: zip(), Map: map(len, ()), Enumerate: enumerate(()), Filtered: filter(None, ())}
        return emit(core.HOST_CALL, len, probe.get(type(x), iter(())), type_=BOTTOM)  # raises: no len()
    return emit(ops.LEN, x)


@handles(print)
def print_(*values: Any, **options: Any) -> None:
    """`print(...)` when the graph runs, in program order."""
    from autograph.operators.calls import Splat
    from autograph.operators.containers import new_tuple

    if any(isinstance(v, Splat) for v in values):
        spread = new_tuple(*(v if isinstance(v, Splat) else _printable(v) for v in values))
        emit(core.PRINT_ALL, pack(spread), **{k: pack(v) for k, v in options.items()})
        return
    emit(core.PRINT, *(_printable(v) for v in values), **{k: pack(v) for k, v in options.items()})


def _printable(value: Any) -> Any:
    if has_object(value):
        return str_of(value)
    return pack(materialize(value) if isinstance(value, Lazy) else value)


@handles(isinstance)
def isinstance_(value: Any, classes: Any) -> Any:
    if isinstance(value, BoundMethod):
        return False
    if isinstance(value, TracedValue):
        refuse(
            "isinstance() asks about a generator or iterator",
            "In a graph it is no object of its own: it is consumed where it is made.",
            "Leave the question out, or make a list first: items = list(...).",
        )
    if isinstance(value, tuple):
        return isinstance(value, _classes(value, classes))
    return emit(core.ISINSTANCE, value, _classes(value, classes))


def _classes(value: Any, classes: Any) -> Any:
    if has_tensor(classes):
        refuse(
            "isinstance() is given classes that are only known when the graph runs",
            "Types are told apart while the graph is built.",
            "Name the classes directly: isinstance(x, (int, float)).",
        )
    try:
        isinstance(None, classes)
    except TypeError as error:
        if not has_tensor(value):
            return classes  # Python tells, when the graph runs
        refuse(
            f"isinstance() or issubclass() is given something else than classes: {error}",
            "Types are told apart while the graph is built.",
            "Name the classes directly: isinstance(x, (int, float)).",
        )
    return classes


@handles(issubclass)
def issubclass_(cls: Any, classes: Any) -> Any:
    return emit(core.ISSUBCLASS, cls, _classes(cls, classes))


@handles(type)
def type_(*args: Any) -> Any:
    if len(args) != 1:
        refuse(
            "a class is made by type()",
            "A class must be known while the graph is built, with its source.",
            "Write a class statement, outside the function.",
        )
    value = args[0]
    if isinstance(value, tuple):
        return type(value)
    return emit(core.TYPE, value)


@handles(callable)
def callable_(value: Any) -> Any:
    if isinstance(value, Tensor):
        return split(value, _is_callable, lambda v: True, lambda v: False)
    return isinstance(value, BoundMethod) or callable(value)


def _is_callable(t: Type) -> bool:
    cls = python_class(t)
    if cls is None and not isinstance(t, ClosureT):
        refuse(
            "callable() asks about a value of a type that is not known",
            "The answer must be known while the graph is built.",
            "Ask before the value comes into the graph.",
        )
    return cls is None or any("__call__" in vars(c) for c in cls.__mro__)


@handles(id)
def id_(value: Any) -> Any:
    return refuse(
        "id() of a value is asked for",
        "The address of a value differs from run to run, and the values of a graph need not have one.",
        "Compare identities with 'is', or give the objects a key of your own.",
    )


@handles(hash)
def hash_(value: Any) -> Any:
    if not has_tensor(value):
        return hash(value)
    return refuse(
        "hash() of a traced value is asked for",
        "No operation of a graph computes it.",
        "Use the value itself as the key of a dict, or compare with '=='.",
    )


@handles(range)
def range_(*args: Any) -> Any:
    if not has_tensor(args):
        return emit(ops.RANGE, *args)
    return emit(ops.RANGE, *(special_index(a) for a in args))


@handles(enumerate)
def enumerate_(iterable: Any, start: Any = 0) -> Any:
    if type(start) is not int:
        start = emit(core.INDEX, special_index(start))
    return Enumerate(_streamed(iterable), start)


def _streamed(iterable: Any) -> Any:
    """What a lazy iterable runs over, item by item where it is made so."""
    if has_object(iterable) and is_object(iterable._ag_type):
        inner = object_iterator(iterable)
        iterable = iterable if inner is None else inner[0]
    return iterable if is_stream(iterable) else _source(iterable)


def _source(iterable: Any) -> Any:
    """What a lazy iterable runs over: a generator becomes a list first."""
    if has_object(iterable) or isinstance(iterable, (GeneratorValue, Filtered, NextIterator)):
        return materialize(iterable)
    return iterable


@handles(zip)
def zip_(*parts: Any, strict: Any = False) -> Any:
    if strict:
        refuse(
            "zip(strict=True) is called",
            "A graph has no loop that ends with an error where the lengths differ.",
            "Compare the lengths first: assert len(a) == len(b), then call zip(a, b).",
        )
    return Zip(tuple(_streamed(p) for p in parts))


@handles(reversed)
def reversed_(iterable: Any) -> Any:
    method = method_of(iterable, "__reversed__")
    if method is not None:
        return call(method)
    if has_object(iterable):
        if method_of(iterable, "__len__") is None or method_of(iterable, "__getitem__") is None:
            return emit(core.HOST_CALL, reversed, iterable, type_=BOTTOM)  # raises: not reversible
        refuse(
            "reversed() is called on an object that has no __reversed__",
            "A graph does not read its items from the end by __getitem__.",
            "Write the loop: for i in range(len(x) - 1, -1, -1).",
        )
    if isinstance(iterable, (GeneratorValue, Lazy)):
        return emit(ops.ITER, iterable)  # raises: not reversible
    return Reversed(iterable if isinstance(iterable, Tensor) else _source(iterable))


@handles(map)
def map_(fn: Any, *parts: Any) -> Any:
    return Map(fn, tuple(_streamed(p) for p in parts))


@handles(filter)
def filter_(fn: Any, iterable: Any) -> Any:
    return Filtered(fn, _streamed(iterable))


@handles(iter)
def iter_(iterable: Any, *sentinel: Any) -> Any:
    if sentinel:
        refuse(
            "iter() is called with a sentinel",
            "It makes an iterator that calls a function until it has the sentinel; a graph has no such "
            "object.",
            "Write the loop: while (item := function()) != sentinel.",
        )
    if isinstance(iterable, (GeneratorValue, Lazy)):
        return iterable
    if has_object(iterable) and is_object(iterable._ag_type):
        inner = object_iterator(iterable)
        if inner is not None:
            return inner[0]
    return emit(ops.ITER, pack(iterable))


@handles(next)
def next_(iterator: Any, *default: Any) -> Any:
    method = method_of(iterator, "__next__")
    if method is not None and not default:
        return call(method)
    if (
        isinstance(iterator, Tensor)
        and isinstance(iterator._ag_type, IterT)
        and iterator._ag_type.cls is None
    ):
        return emit(NEXT, iterator, *(pack(d) for d in default))
    return refuse(
        "next() is called on a generator, or on an iterator that the graph does not hold",
        "A graph cannot suspend a generator between two items.",
        "Write a for loop that ends with break, or index the sequence: items[0].",
    )


def _list_of(op: Op) -> Any:
    def handler(*args: Any) -> Any:
        if not args:
            return emit(op, ())
        value = consumed(args[0])
        if isinstance(value, tuple):
            value = tuple(pack(v) for v in value)
        return emit(op, value)

    return handler


handles(list)(_list_of(ops.TO_LIST))
handles(set)(_list_of(ops.TO_SET))


@handles(tuple)
def tuple_(*args: Any) -> Any:
    if not args:
        return ()
    value = args[0]
    if isinstance(value, tuple):
        return tuple(value)
    known = None if isinstance(value, GeneratorValue) else known_items(value)
    if known is not None and not isinstance(value, Filtered):
        if isinstance(value, Lazy):
            value.use()
        return tuple(known)
    made = emit(ops.TO_TUPLE, consumed(value), raw=True)
    if isinstance(made, Tensor) and isinstance(made._ag_type, TupleT):
        from autograph.operators.tracer import unpack_tuple

        return unpack_tuple(made, made._ag_type)
    return made


@handles(frozenset)
def frozenset_(*args: Any) -> Any:
    if not has_tensor(args):
        return frozenset(*args)
    return refuse(
        "a frozenset of traced values is made",
        "A frozenset is a constant of a graph: its items must be known while the graph is built.",
        "Use a set, or a tuple.",
    )


@handles(dict)
def dict_(*args: Any, **kwargs: Any) -> Any:
    if not args:
        return new_dict(*kwargs.items())
    value = args[0]
    if isinstance(value, (Lazy, GeneratorValue)) and not isinstance(value, Filtered):
        known = known_items(value) if isinstance(value, Lazy) else None
        if known is not None:
            value.use()  # type: ignore[union-attr]
            from autograph.operators.containers import unpack

            return new_dict(*(unpack(pair, 2) for pair in known), *kwargs.items())
    return emit(ops.TO_DICT, pack(consumed(value)), **{k: pack(v) for k, v in kwargs.items()})


@handles(sorted)
def sorted_(iterable: Any, *, key: Any = None, reverse: Any = False) -> Any:
    items = emit(ops.TO_LIST, pack(consumed(iterable)))
    if key is None:
        _no_objects(items, "sorted()")
        return emit(ops.SORTED, items, reverse)
    return emit(ops.SORTED_BY, items, _keys(items, key), reverse)


def _keys(items: Any, key: Any) -> Any:
    return materialize(Map(key, (items,)))


def _no_objects(items: Any, what: str) -> None:
    if not isinstance(items, Tensor) or not isinstance(items._ag_type, Ref):
        return
    if any(is_object(m) and method_of_type(m, "__lt__") for m in members(items._ag_type.site.read())):
        refuse(
            f"{what} compares objects by their __lt__",
            "A graph sorts numbers and strings, and calls no method while it sorts.",
            "Give a key: key=lambda item: item.value.",
        )


def method_of_type(t: Type, name: str) -> bool:
    cls = python_class(t)
    return cls is not None and getattr(cls, name, None) is not getattr(object, name, None)


def _extreme_object(items: Any, name: str, options: dict[str, Any]) -> Any:
    """The least or greatest of objects, compared by their own methods, in order."""
    best = Box(f"the result of {name}()")
    empty = Box("whether there was none yet", True)

    def turn(item: Any) -> None:
        def better() -> Any:
            return compare("<" if name == "min" else ">", item, best.get())

        if_stmt(
            or_(empty.get(), better),
            lambda: best.set(item),
            lambda: None,
            lambda: (),
            lambda v: None,
            (),
        )
        empty.set(False)

    for_stmt(items, None, turn, lambda: (), lambda v: None, ())
    if "default" in options:
        return if_exp(empty.get(), lambda: options["default"], best.get)
    if_stmt(
        empty.get(),
        lambda: emit(ops.MIN if name == "min" else ops.MAX, ()),
        lambda: None,
        lambda: (),
        lambda v: None,
        (),
    )
    return best.get()


def _extreme(op: Op, by: Op, name: str) -> Any:
    def handler(*args: Any, key: Any = None, **options: Any) -> Any:
        if len(args) == 1:
            args = (consumed(args[0]),)
        if key is not None:
            items = (
                emit(ops.TO_LIST, pack(args[0]))
                if len(args) == 1
                else emit(ops.NEW_LIST, tuple(map(pack, args)))
            )
            if options:
                return if_exp(
                    truth(items), lambda: emit(by, items, _keys(items, key)), lambda: options["default"]
                )
            return emit(by, items, _keys(items, key))
        items = args[0] if len(args) == 1 else tuple(args)
        if _holds_objects(items):
            return _extreme_object(items, name, options)
        return emit(op, *(pack(a) for a in args), **{k: pack(v) for k, v in options.items()})

    return handler


handles(min)(_extreme(ops.MIN, ops.MIN_BY, "min"))
handles(max)(_extreme(ops.MAX, ops.MAX_BY, "max"))


@handles(sum)
def sum_(iterable: Any, /, start: Any = 0) -> Any:
    if _has_rows(iterable) and not has_object(start):
        return sums.of_rows(iterable, start)
    if isinstance(iterable, (GeneratorValue, Lazy)):
        total = sums.in_loop(iterable, start)
        if total is not None:
            return total
        iterable = consumed(iterable)
        sums.decide(arithmetic.element_type(vtype(iterable)), start)
    items = consumed(iterable)
    if _holds_objects(items) or has_object(start):
        total = Box("the sum", start)
        for_stmt(items, None, lambda i: total.set(total.get() + i), lambda: (), lambda v: None, ())
        return total.get()
    return emit(ops.SUM, pack(items), pack(start))


def _has_rows(x: Any) -> bool:
    shape = x._ag_type.shape if isinstance(x, Tensor) and isinstance(x._ag_type, Array) else None
    return shape is not None and len(shape) > 1 and bool(shape[0])


def _holds_objects(items: Any) -> bool:
    if isinstance(items, tuple):
        return any(map(has_object, items))
    elem = arithmetic.element_type(vtype(items))
    return elem is not None and any(is_object(m) for m in members(elem))


def _quantifier(op: Op, stop_at: bool) -> Any:
    def handler(iterable: Any) -> Any:
        traced = isinstance(iterable, (GeneratorValue, Lazy)) or has_object(iterable)
        if not traced and not _holds_objects(iterable):
            return emit(op, pack(iterable))
        found = Box("the answer", False)

        def turn(item: Any) -> None:
            test = truth(item)
            if_stmt(
                test if stop_at else not_(test),
                lambda: found.set(True),
                lambda: None,
                lambda: (),
                lambda v: None,
                (),
            )

        for_stmt(iterable, lambda: not_(found.get()), turn, lambda: (), lambda v: None, ())
        return found.get() if stop_at else not_(found.get())

    return handler


handles(any)(_quantifier(ops.ANY, True))
handles(all)(_quantifier(ops.ALL, False))


@handles(divmod)
def divmod_(a: Any, b: Any) -> Any:
    if has_object(a) or has_object(b):
        for value, other in ((a, lambda v: divmod_(v, b)), (b, lambda v: divmod_(a, v))):
            if has_object(value) and not is_object(value._ag_type):
                return split(value, is_object, other, other)
        own, reflected = method_of(a, "__divmod__"), method_of(b, "__rdivmod__")
        if own is not None:
            result = call(own, b)
            if result is NotImplemented:
                result = again("divmod", own, "__divmod__", b, a)
            if result is not NotImplemented:
                return result
        if reflected is not None:
            result = beside("divmod", a, b, ("__rdivmod__",), lambda v: call(reflected, v))
            if result is not NotImplemented:
                return result
        if own is not None or reflected is not None:
            return emit(arithmetic.UNSUPPORTED, "divmod", pack(a), pack(b))
    result = emit(arithmetic.DIVMOD, a, b)
    if isinstance(result, Tensor) and isinstance(result._ag_type, TupleT):
        from autograph.operators.tracer import unpack_tuple

        return unpack_tuple(result, result._ag_type)
    return result


@handles(pow)
def pow_(a: Any, b: Any, *modulus: Any) -> Any:
    if not modulus and (has_object(a) or has_object(b)):
        return a**b
    if has_object(a):
        return split(a, is_object, lambda o: _pow_modulo(o, b, *modulus), lambda v: pow_(v, b, *modulus))
    return emit(arithmetic.POW, a, pack(b), *map(pack, modulus))


def _pow_modulo(x: Any, b: Any, modulus: Any) -> Any:
    """`pow(x, b, modulus)`, which asks no other operand than a user's `x`."""
    method = method_of(x, "__pow__")
    result = NotImplemented if method is None else call(method, b, modulus)
    return (
        emit(arithmetic.POW, x, pack(b), pack(modulus), type_=BOTTOM) if result is NotImplemented else result
    )


@handles(getattr)
def getattr_(x: Any, name: Any, *default: Any) -> Any:
    if not isinstance(name, str):
        refuse(
            "getattr() is given a name that is only known when the graph runs",
            "Which attribute is meant must be known while the graph is built.",
            "Write the name as a constant, or keep the values in a dict.",
        )
    if default:
        return if_exp(_has(x, name), lambda: get_attr(x, name), lambda: default[0])
    return get_attr(x, name)


def _has(x: Any, name: str) -> Any:
    if has_object(x):
        return split(x, is_object, lambda o: _object_has(o, name), lambda o: _has(o, name))
    if isinstance(x, Tensor):
        if any(isinstance(m, Host) for m in members(x._ag_type)):
            return emit(core.HASATTR, x, name)
        cls = python_class(x._ag_type)
        if cls is None:
            refuse(
                f"whether a value has the attribute '{name}' is asked, but it may be of several types",
                "Which attributes a value has must be known while the graph is built.",
                "Test the type first: if isinstance(x, ...).",
            )
        return hasattr(cls, name)
    return hasattr(x, name)


def _object_has(x: Any, name: str) -> Any:
    """Whether an object has an attribute now: it may have been set on one way only, or deleted."""
    cls = x._ag_type.site.cls
    watch_class(cls, name)
    found = inspect.getattr_static(cls, name, None)
    computed = isinstance(found, (property, functools.cached_property)) or (
        found is None and isinstance(inspect.getattr_static(cls, "__getattr__", None), types.FunctionType)
    )
    if not computed:
        slot = isinstance(found, types.MemberDescriptorType)
        return True if hasattr(cls, name) and not slot else emit(core.HASATTR, x, name)
    has = Box(f"whether it has '{name}'", True)
    try_stmt(lambda: get_attr(x, name), ((lambda: AttributeError, lambda error: has.set(False)),))
    return has.get()


@handles(hasattr)
def hasattr_(x: Any, name: Any) -> Any:
    return _has(x, name) if isinstance(name, str) else host_call(hasattr, (x, name), {})


@handles(setattr)
def setattr_(x: Any, name: Any, value: Any) -> None:
    if not isinstance(name, str):
        refuse(
            "setattr() is given a name that is only known when the graph runs",
            "Which attribute is meant must be known while the graph is built.",
            "Write the name as a constant, or keep the values in a dict.",
        )
    set_attr(x, name, value)


@handles(delattr)
def delattr_(x: Any, name: Any) -> None:
    from autograph.operators.objects import del_attr

    del_attr(x, name)


def _unsupported(function: Any) -> None:
    name = function.__name__

    @handles(function)
    def unsupported(*args: Any, **kwargs: Any) -> Any:
        return refuse(
            f"{name}() is called",
            "It looks at, or changes, the running program or the host.",
            f"Call it outside the function, or as ag.host_call({name}, ...).",
        )


for _refused in (vars, dir, globals, locals, eval, exec, compile, input, open, memoryview, bytearray):
    _unsupported(_refused)


@handles(functools.partial)
def partial_(fn: Any, *args: Any, **kwargs: Any) -> Any:
    return functools.partial(_Callable(fn) if isinstance(fn, (TracedValue, Tensor)) else fn, *args, **kwargs)


class _Callable:
    """Lets functools.partial hold a callable that exists only in the trace."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call(self.fn, *args, **kwargs)

    __autograph_call__ = __call__


@handles(functools.reduce)
def reduce_(fn: Any, iterable: Any, *initial: Any) -> Any:
    items = consumed(iterable)
    known = known_items(items)
    if known is not None and len(known) <= 64:
        values = [*initial, *known]
        if not values:
            return emit(core.HOST_CALL, functools.reduce, max, (), type_=BOTTOM)
        result = values[0]
        for value in values[1:]:
            result = call(fn, result, value)
        return result
    if not initial:
        refuse(
            "functools.reduce() is called without an initial value",
            "It raises or not by the number of items, which is only known when the graph runs.",
            "Give the initial value: functools.reduce(function, items, 0).",
        )
    total = Box("the result of reduce", initial[0])
    for_stmt(items, None, lambda i: total.set(call(fn, total.get(), i)), lambda: (), lambda v: None, ())
    return total.get()


@handles(functools.wraps)
def wraps_(wrapped: Any, *args: Any, **kwargs: Any) -> Any:
    return lambda_(lambda fn: fn)


class lambda_:
    """A function of the trace's own."""

    def __init__(self, fn: Any) -> None:
        self.__autograph_fn = fn

    def __autograph_call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__autograph_fn(*args, **kwargs)

    __call__ = __autograph_call__


@handles(itertools.chain)
def chain_(*parts: Any) -> Any:
    out = emit(ops.NEW_LIST, ())
    for part in parts:
        emit(ops.METHODS["list", "extend"], out, pack(consumed(part)))
    return out


@handles(itertools.islice)
def islice_(iterable: Any, *bounds: Any) -> Any:
    items = emit(ops.TO_LIST, pack(consumed(iterable)))
    return emit(ops.GET_ITEM, items, slice(*bounds))


@handles(itertools.accumulate)
def accumulate_(iterable: Any, fn: Any = None, *, initial: Any = None) -> Any:
    items = consumed(iterable)
    out = emit(ops.NEW_LIST, ())
    append = ops.METHODS["list", "append"]
    total = Box("the accumulated value", initial)
    first = Box("whether this is the first", initial is None)
    if initial is not None:
        emit(append, out, pack(initial))

    def turn(item: Any) -> None:
        from autograph.operators.branches import if_exp

        def step() -> Any:
            return total.get() + item if fn is None else call(fn, total.get(), item)

        total.set(if_exp(first.get(), lambda: item, step))
        first.set(False)
        emit(append, out, pack(total.get()))

    for_stmt(items, None, turn, lambda: (), lambda v: None, ())
    return out


@handles(slice)
def slice_(*args: Any, **kwargs: Any) -> Any:
    if not 1 <= len(args) <= 3 or kwargs:
        return emit(core.HOST_CALL, slice, *args, type_=BOTTOM, **kwargs)  # raises TypeError
    return slice(*map(pack, args))


@handles(np.errstate)
def errstate_(*args: Any, **kwargs: Any) -> Any:
    if all(v == "ignore" or v == "warn" for v in kwargs.values()):
        from autograph.operators.exceptions import Nullcontext

        return Nullcontext()
    return refuse(
        "np.errstate asks for an exception or a call on a floating point error",
        "NumPy's floating point errors are not reported by a graph.",
        "Test the values: if np.isnan(x).any(): raise ...",
    )


@handles(np.seterr, np.geterr, np.seterrcall, np.geterrcall)
def error_state_(*args: Any, **kwargs: Any) -> Any:
    return refuse(
        "the state of NumPy's floating point errors is read or set",
        "NumPy's floating point errors are not reported by a graph.",
        "Set it outside the function.",
    )


@handles(np.ndarray)
def ndarray_(shape: Any, dtype: Any = float, buffer: Any = None, *rest: Any, **options: Any) -> Any:
    """Without a buffer it is what `np.empty` makes."""
    if buffer is None and not rest and not options:
        return call(np.empty, shape, dtype)
    return refuse(
        "np.ndarray is called with more than a shape and a dtype",
        "It would describe the memory of another object.",
        "Use np.empty, np.frombuffer or np.lib.stride_tricks.as_strided outside the function.",
    )


@handles(np.printoptions)
def printoptions_(*args: Any, **kwargs: Any) -> Any:
    from autograph.operators.exceptions import PrintOptions

    return PrintOptions(*args, **kwargs)


@handles(np.vectorize)
def vectorize_(*args: Any, **kwargs: Any) -> Any:
    return refuse(
        "np.vectorize is called",
        "It calls a function of yours from inside NumPy, which a graph cannot see.",
        "Write the loop over the items: it becomes a part of the graph.",
    )


@handles(sys.exit)
def exit_(*args: Any) -> Any:
    from autograph.operators.exceptions import raise_stmt

    raise_stmt(call(SystemExit, *args))
