"""The operators of generated code, in plain Python: each does what Python itself would do."""

from __future__ import annotations

import builtins
import functools
import operator
import sys
from types import SimpleNamespace
from typing import Any

_MISSING = object()


class Undefined:
    """Stands for the value of a name that is not bound."""

    def __init__(self, name):
        self.name = name


def _local_error(name):
    if sys.version_info < (3, 11):
        return UnboundLocalError(f"local variable '{name}' referenced before assignment")
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def _free_error(name):
    if sys.version_info < (3, 11):
        return NameError(f"free variable '{name}' referenced before assignment in enclosing scope")
    return NameError(
        f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    )


class Box:
    """A cell: the value of one variable."""

    def __init__(self, name, value=_MISSING):
        self.name, self.value = name, value

    def get(self):
        if self.value is _MISSING:
            raise _local_error(self.name)
        return self.value

    def get_free(self):
        if self.value is _MISSING:
            raise _free_error(self.name)
        return self.value

    def set(self, value):
        assert not isinstance(value, Undefined), self.name
        self.value = value
        return value

    def delete(self):
        if self.value is _MISSING:
            raise _local_error(self.name)
        self.value = _MISSING


def check(value, name):
    if isinstance(value, Undefined):
        raise _local_error(name)
    return value


def check_free(value, name):
    if isinstance(value, Undefined):
        raise _free_error(name)
    return value


def if_stmt(test, body, orelse, get_state, set_state, names):
    assert len(get_state()) == len(names)
    set_state(get_state())
    assert (body if test else orelse)() is None


def while_stmt(test, body, get_state, set_state, names):
    assert len(get_state()) == len(names)
    set_state(get_state())
    while test():
        assert body() is None


def for_stmt(iterable, extra_test, body, get_state, set_state, names):
    assert len(get_state()) == len(names)
    iterator = iter(iterable)
    while extra_test is None or extra_test():
        try:
            item = next(iterator)
        except StopIteration:
            return
        set_state(get_state())
        assert body(item) is None


def try_stmt(body, handlers, orelse, finalbody):
    try:
        try:
            body()
        except BaseException as error:
            for types, handler in handlers:
                if types is None or _matches(error, types()):
                    handler(error)
                    break
            else:
                raise
        else:
            if orelse is not None:
                orelse()
    finally:
        if finalbody is not None:
            finalbody()


def _matches(error, types):
    try:
        raise error
    except types:
        return True
    except BaseException as other:
        if other is error:
            return False
        raise


def with_stmt(manager, body):
    with manager as value:
        body(value)


def and_(value, *others):
    for other in others:
        if not value:
            return value
        value = other()
    return value


def or_(value, *others):
    for other in others:
        if value:
            return value
        value = other()
    return value


_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def compare_chain(left, signs, others):
    for position, (sign, other) in enumerate(zip(signs, others)):
        right = other()
        result = _COMPARE[sign](left, right)
        if position == len(signs) - 1 or not result:
            return result
        left = right


_AUGMENTED = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
    "<<": operator.ilshift,
    ">>": operator.irshift,
}


def aug_assign(sign, a, b):
    assert not isinstance(a, Undefined)
    return _AUGMENTED[sign](a, b)


def call(function, /, *args, **kwargs):
    assert not any(isinstance(value, Undefined) for value in args)
    return function(*args, **kwargs)


def unpack(value, before, after=None):
    """By Python itself, so that the messages are Python's."""
    names = [f"x{i}" for i in range(before)] + (["*m"] if after is not None else [])
    names += [f"y{i}" for i in range(after or 0)]
    return _unpacker(", ".join(names))(value)


@functools.lru_cache(maxsize=None)
def _unpacker(targets):
    result = targets.replace("*", "")
    space: dict[str, Any] = {}
    exec(
        f"def unpacker(value):\n    [{targets}] = value\n    return ({result + ',' if result else ''})", space
    )
    return space["unpacker"]


def new_dict(*items):
    result = {}
    for key, value in items:
        if key is splat:
            result = {**result, **value}
        else:
            result[key] = value
    return result


splat = object()


def format_value(value, conversion, spec):
    convert = {"": lambda v: v, "r": repr, "s": str, "a": ascii}[conversion]
    return format(convert(value), spec)


def assert_stmt(test, message):
    if not test:
        if message is None:
            raise AssertionError
        raise AssertionError(message())


def raise_stmt(exc, *cause):
    if cause:
        raise exc from cause[0]
    raise exc


def reraise():
    raise


class _Left(Exception):
    pass


def generator(function):
    """The wrapper that makes an iterator of a function with a callback."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return _Generator(function, args, kwargs)

    return wrapper


class _Generator:
    """Runs the function in a thread of its own; the callback waits until the next value is asked for."""

    def __init__(self, function, args, kwargs):
        import threading

        self._threading = threading
        self._call = lambda give: function(give, *args, **kwargs)
        self._state = "new"
        self._resume = threading.Semaphore(0)
        self._given = threading.Semaphore(0)

    def __iter__(self):
        return self

    def __next__(self):
        if self._state == "done":
            raise StopIteration
        if self._state == "new":
            self._state = "running"
            self._thread = self._threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        else:
            self._resume.release()
        self._given.acquire()
        kind, value = self._message
        if kind == "value":
            return value
        self._state = "done"
        if kind == "error":
            raise value
        raise StopIteration

    def _run(self):
        try:
            self._call(self._give)
            self._message = ("end", None)
        except BaseException as error:
            self._message = ("error", error)
        self._given.release()

    def _give(self, value):
        self._message = ("value", value)
        self._given.release()
        self._resume.acquire()
        return self._state == "closing"

    def close(self):
        if self._state == "running":
            self._state = "closing"
            self._resume.release()
            self._given.acquire()
            self._state = "done"

    __del__ = close


def generator_exp(function, iterable):
    return function(iter(iterable))


def match_sequence(subject, before, after):
    import collections.abc

    if isinstance(subject, (str, bytes, bytearray)) or not isinstance(subject, collections.abc.Sequence):
        return False, ()
    count = len(subject)
    if after is None:
        return (True, tuple(subject)) if count == before else (False, ())
    if count < before + after:
        return False, ()
    items = list(subject)
    end = count - after
    return True, (*items[:before], items[before:end], *items[end:])


def match_mapping(subject, keys, rest):
    import collections.abc

    no = (False, (), {}) if rest else (False, ())
    if not isinstance(subject, collections.abc.Mapping) or len(subject) < len(keys):
        return no
    missing = object()
    values = []
    for key in keys:
        value = subject.get(key, missing)
        if value is missing:
            return no
        values.append(value)
    if rest:
        return True, tuple(values), {k: v for k, v in subject.items() if k not in keys}
    return True, tuple(values)


_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def match_class(subject, cls, positional, names):
    if not isinstance(subject, cls):
        return False, ()
    values = []
    if positional:
        match_args = getattr(cls, "__match_args__", None)
        if match_args is None and issubclass(cls, _SELF_MATCHING):
            if positional > 1:
                raise TypeError(f"{cls.__name__}() accepts 1 positional sub-pattern ({positional} given)")
            values.append(subject)
        else:
            match_args = match_args or ()
            if len(match_args) < positional:
                count = f"{len(match_args)} positional sub-pattern{'' if len(match_args) == 1 else 's'}"
                raise TypeError(f"{cls.__name__}() accepts {count} ({positional} given)")
            names = (*match_args[:positional], *names)
    for name in names:
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return False, ()
    return True, tuple(values)


def make_operators(function_globals, cells):
    """The namespace `ag__` for a function with these globals and free variables (name -> cell)."""

    def load(name):
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                raise _free_error(name) from None
        if name in function_globals:
            return function_globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name '{name}' is not defined", name=name)

    def store(name, value):
        if name in cells:
            cells[name].cell_contents = value
        else:
            function_globals[name] = value
        return value

    def delete(name):
        if name in cells:
            load(name)
            del cells[name].cell_contents
        elif name in function_globals:
            del function_globals[name]
        else:
            raise NameError(f"name '{name}' is not defined", name=name)

    return SimpleNamespace(
        Undefined=Undefined,
        Box=Box,
        check=check,
        check_free=check_free,
        if_stmt=if_stmt,
        while_stmt=while_stmt,
        for_stmt=for_stmt,
        try_stmt=try_stmt,
        with_stmt=with_stmt,
        if_exp=lambda test, body, orelse: body() if test else orelse(),
        and_=and_,
        or_=or_,
        not_=lambda value: not value,
        compare_chain=compare_chain,
        mod=operator.mod,
        eq=operator.eq,
        lt=operator.lt,
        le=operator.le,
        gt=operator.gt,
        ge=operator.ge,
        ne=operator.ne,
        is_=operator.is_,
        is_not=operator.is_not,
        in_=lambda a, b: a in b,
        not_in=lambda a, b: a not in b,
        call=call,
        spreading=lambda function: function,
        star=lambda value: value,
        star_items=lambda value: (*value,),
        star_set=tuple,
        star_kwargs=lambda value: value,
        get_attr=getattr,
        set_attr=setattr,
        local_class=lambda cls: cls,
        del_attr=delattr,
        get_item=lambda value, index: value[index],
        slice=slice,
        aug_assign=aug_assign,
        new_list=lambda *items: list(items),
        list_builder=list,
        add_item=list.append,
        built=lambda items: items,
        new_set=lambda *items: set(items),
        new_dict=new_dict,
        new_tuple=lambda *items: items,
        varargs=lambda value: value,
        kwargs_dict=lambda value: value,
        splat=splat,
        unpack=unpack,
        generator=generator,
        yield_from=lambda values, callback: any(map(callback, values)),
        generator_exp=generator_exp,
        fstring=lambda *parts: "".join(parts),
        format_value=format_value,
        assert_stmt=assert_stmt,
        raise_stmt=raise_stmt,
        reraise=reraise,
        load=load,
        store=store,
        delete=delete,
        decorator=lambda function: lambda value: call(function, value),
        match_sequence=match_sequence,
        match_mapping=match_mapping,
        match_class=match_class,
    )
