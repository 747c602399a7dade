"""Ops of the language itself: tuples, names, cells, attributes, truth, identity, printing, raising."""

from __future__ import annotations

import builtins
import copy
import operator
import types
from collections.abc import Callable
from typing import Any

from autograph.errors import StagingError
from autograph.graph.types import (
    BOTTOM,
    UNBOUND,
    Array,
    Cell,
    Const,
    Host,
    IterT,
    Py,
    Ref,
    SeqT,
    TupleT,
    Type,
    TypeChoice,
    Unbound,
    conforms,
    conforms_deep,
    join,
    members,
    python_class,
)
from autograph.ops.base import (
    Refuse,
    define,
    elementwise,
    has_index,
    is_number,
    result_type,
    sample_call,
    type_of,
)


def always(t: Type) -> Any:
    """The rule of an op whose result has this type whatever its arguments."""

    def rule(*args: Any, **kwargs: Any) -> Type:
        return t

    return rule


BOOL, INT, FLOAT, STR, NONE = Py(bool), Py(int), Py(float), Py(str), Const(None)


# -- tuples --------------------------------------------------------------------------------------------------


def _make_tuple(items: Any) -> Any:
    return items


MAKE_TUPLE = define(
    "tuple", _make_tuple, lambda items: TupleT(tuple(type_of(i) for i in items)), "total", "joins"
)
MAKE_NAMEDTUPLE = define(
    "namedtuple",
    lambda cls, *items: cls(*items),
    lambda cls, *items: TupleT(tuple(type_of(i) for i in items), cls),
    "joins",
)
MAKE_SLICE = define("slice", slice, always(Py(slice)), "total", "joins")


def _item_rule(t: Any, index: int) -> Type:
    t = type_of(t)
    if isinstance(t, TupleT):
        return t.items[index]
    return t.elem if isinstance(t, SeqT) else BOTTOM


ITEM = define("item", operator.getitem, _item_rule, "total", "view")


def _concat(*parts: Any) -> Any:
    return tuple(item for part in parts for item in part)


def _concat_rule(*parts: Any) -> Type:
    items: list[Type] = []
    unknown = False
    for part in parts:
        t = type_of(part)
        if isinstance(t, TupleT):
            items.extend(t.items)
        elif isinstance(t, SeqT):
            items.append(t.elem)
            unknown = True
        else:
            return BOTTOM
    return SeqT(join(*items)) if unknown else TupleT(tuple(items))


CONCAT_TUPLES = define("concat_tuples", _concat, _concat_rule, "total")


# -- names and cells -----------------------------------------------------------------------------------------


def unbound_error(name: str, free: bool = False) -> Exception:
    """The very exception that Python raises for an unbound name."""
    source = (
        f"def f():\n def g():\n  return {name}\n g()\n {name} = 1\n"
        if free
        else f"def f():\n {name}\n {name} = 1\n"
    )
    scope: dict[str, Any] = {}
    exec(source, scope)  # the message differs between versions of Python
    try:
        scope["f"]()
    except NameError as error:
        return error.with_traceback(None)
    raise AssertionError(name)


def _check_bound(value: Any, name: str, free: bool = False) -> Any:
    if isinstance(value, Unbound):
        raise unbound_error(name, free)
    return value


def _check_bound_rule(value: Any, name: str, free: bool = False) -> Type:
    t = type_of(value)
    return BOTTOM if t is UNBOUND or isinstance(value, Unbound) else t


CHECK_BOUND = define("check_bound", _check_bound, _check_bound_rule, "view")


def _cell_get(cell: Cell, name: str, free: bool = False) -> Any:
    return _check_bound(cell.value, name, free)


def _cell_get_rule(cell: Any, name: str, free: bool = False) -> Type:
    t = cell.site.read()
    return join(*(m for m in members(t) if m is not UNBOUND))


def _cell_set(cell: Cell, value: Any) -> None:
    cell.value = value


def _cell_set_rule(cell: Any, value: Any) -> Type:
    cell.site.widen(UNBOUND if isinstance(value, Unbound) else type_of(value))
    return NONE


MAKE_CELL = define("cell", lambda value, site: Cell(value), lambda value, site: Ref(site), "alloc")
CELL_GET = define("cell_get", _cell_get, _cell_get_rule, "effect")
CELL_PEEK = define("cell_peek", lambda cell: cell.value, lambda cell: cell.site.read(), "effect")
CELL_SET = define("cell_set", _cell_set, _cell_set_rule, "writes")


def _load(ref: Any) -> Any:
    return ref.get()


LOAD = define("load", _load, always(Host()), "effect")
STORE = define("store", lambda ref, value: ref.set(value), always(NONE), "effect")
DELETE = define("delete", lambda ref: ref.delete(), always(NONE), "effect")


# -- truth, identity, types ----------------------------------------------------------------------------------


def _bool_rule(x: Any) -> Type:
    t = type_of(x)
    if isinstance(t, Const):
        return Const(bool(t.value))
    if isinstance(t, TupleT):
        return Const(bool(t.items))
    if isinstance(t, Host) and t.cls is None:
        raise Refuse(
            "the truth of a host call's result is used, but its type is not known",
            "A function that is not converted runs on the host when the graph runs, "
            "so the graph cannot know what it returns.",
            'Declare it: ag.host_call(function, ..., result=ag.spec("bool")), or pass the value in as an '
            "argument.",
        )
    return BOOL


BOOLEAN = define("bool", bool, _bool_rule, always=BOOL)


def _not_rule(x: Any) -> Type:
    t = _bool_rule(x)
    return Const(not t.value) if isinstance(t, Const) else t


NOT = define("not", operator.not_, _not_rule)


def _is_rule(a: Any, b: Any) -> Type:
    s, t = type_of(a), type_of(b)
    if isinstance(s, Const) and isinstance(t, Const):
        if s == t and (s.value is None or isinstance(s.value, (bool, type, types.FunctionType))):
            return Const(True)
        if s.value is t.value and type(s.value) not in (int, float, complex, str):
            return Const(True)
    p, q = python_class(s), python_class(t)
    if p is not None and q is not None and p is not q and not (isinstance(s, Host) or isinstance(t, Host)):
        return Const(False)
    return BOOL


IS = define("is", operator.is_, _is_rule, "total")


def _is_type(value: Any, choices: tuple[Type, ...]) -> bool:
    return any(conforms(value, t) for t in choices)


IS_TYPE = define("is_type", lambda value, choice: _is_type(value, choice.types), always(BOOL), "total")


def _narrow(value: Any, choice: TypeChoice) -> Any:
    if not _is_type(value, choice.types):
        raise StagingError(
            f"internal error of autograph: a value is {type(value).__name__} where one of {choice!r} was "
            "foretold",
            why="This is a bug of the library, not of the function.",
        )
    return value


def _check_attr(value: Any, name: str, choice: TypeChoice) -> None:
    if not _is_type(value, choice.types):
        getattr(value, name)


CHECK_ATTR = define("check_attr", _check_attr, lambda value, name, choice: NONE)
NARROW = define("narrow", _narrow, lambda value, choice: join(*choice.types), "total", "view")


def _isinstance_rule(x: Any, cls: Any) -> Type:
    exact = python_class(type_of(x))
    t = type_of(x)
    classes = type_of(cls)
    wanted = classes.value if isinstance(classes, Const) else tuple(i.value for i in classes.items)  # type: ignore[attr-defined]
    if exact is None or isinstance(t, (Host, IterT)):
        return Const(True) if exact is not None and issubclass(exact, wanted) else BOOL
    if isinstance(t, Const):
        return Const(isinstance(t.value, wanted))
    return Const(issubclass(exact, wanted))


ISSUBCLASS = define("issubclass", issubclass, always(BOOL))
ISINSTANCE = define("isinstance", isinstance, _isinstance_rule)


def _type_rule(x: Any) -> Type:
    t = type_of(x)
    exact = python_class(t)
    if exact is None or isinstance(t, (Host, IterT)):
        return Host(type)
    return Const(exact)


TYPE = define("type", type, _type_rule, "total")


# -- attributes of objects (the operators say what type a field has) -----------------------------------------

GET_ATTR = define("get_attr", getattr, always(Host()), "effect")


def _get_field(x: Any, name: str) -> Any:
    return getattr(x, name)


HASATTR = define("hasattr", hasattr, always(BOOL), "effect")
GET_FIELD = define("get_field", _get_field, always(Host()), "effect")
SET_FIELD = define("set_field", setattr, always(NONE), "writes")


def _exception_field(error: Any, name: str, choice: TypeChoice) -> Any:
    value = getattr(error, name)
    if not any(conforms_deep(value, t, set()) for t in choice.types):
        raise StagingError(
            f"the attribute '{name}' of a {type(error).__name__} is a {type(value).__name__}, which was not "
            "foreseen",
            why="The exception was made by code that is not converted.",
            instead="Make it in converted code, or convert the attribute: int(...), float(...).",
        )
    return value


EXCEPTION_FIELD = define(
    "exception_field", _exception_field, lambda error, name, choice: join(*choice.types), "effect", "view"
)
NEW_EXCEPTION = define(
    "new_exception", lambda cls, *a, **k: cls.__new__(cls, *a, **k), lambda cls, *a, **k: Host(cls), "alloc"
)
SET_FROZEN = define("set_frozen_field", object.__setattr__, always(NONE), "writes")
DEL_FIELD = define("del_field", delattr, always(NONE), "writes")
NEW_OBJECT = define("new_object", lambda cls, site: cls.__new__(cls), lambda cls, site: Ref(site), "alloc")


# -- host world ----------------------------------------------------------------------------------------------


class Made:
    """An exception that Python raised while the graph was built: each run raises its own copy."""

    def __init__(self, error: Exception) -> None:
        self.error = error.with_traceback(None)
        error.__context__ = None

    def copy(self) -> Exception:
        try:
            other = copy.copy(self.error)
        except Exception:  # an exception class with its own constructor
            return self.error.with_traceback(None)
        same = type(other) is type(self.error) and other.args == self.error.args
        return other if same else self.error.with_traceback(None)

    def __repr__(self) -> str:
        return repr(self.error)


_NO_CAUSE = Unbound()


def _raise(error: Any, cause: Any = _NO_CAUSE) -> Any:
    if isinstance(error, type):
        error = error()
    elif isinstance(error, Made):
        error = error.copy()
    if not isinstance(cause, Unbound):
        raise error from cause
    raise error


RAISE = define("raise", _raise, always(BOTTOM), "effect")
RERAISE = define("reraise", _raise, always(BOTTOM), "effect")


def _enter(manager: Any) -> Any:
    with manager:
        raise AssertionError(manager)


ENTER = define("enter", _enter, always(BOTTOM), "effect")


def _impossible(value: Any) -> Any:
    raise StagingError(
        f"internal error of autograph: {value!r} is called, which no run was thought to reach",
        why="This is a bug of the library, not of the function.",
    )


IMPOSSIBLE = define("impossible", _impossible, always(BOTTOM), "effect")
PRINT = define("print", builtins.print, always(NONE), "effect")
PRINT_ALL = define(
    "print_all", lambda values, **options: builtins.print(*values, **options), always(NONE), "effect"
)


def _host_call(fn: Any, *args: Any, ag__types: TypeChoice | None = None, **kwargs: Any) -> Any:
    if ag__types is None:
        return fn(*args, **kwargs)
    try:
        return fn(*args, **kwargs)
    finally:
        seen: set[int] = set()
        values = (*args, *kwargs.values())
        if not all(conforms_deep(v, t, seen) for v, t in zip(values, ag__types.types)):
            raise StagingError(
                f"'{getattr(fn, '__name__', fn)}', which is not converted, put a value of a new type into a "
                "container",
                why="The graph was built for the types that its own code puts there.",
                instead="Do it in converted code, or make the container outside and pass it in as an "
                "argument.",
            )


HOST_CALL = define("host_call", _host_call, always(Host()), "host")
MAKE_EXCEPTION = define(
    "exception", lambda cls, *a, **k: cls(*a, **k), lambda cls, *a, **k: Host(cls), "alloc"
)


# -- text ----------------------------------------------------------------------------------------------------

_CONVERT: dict[str, Callable[[Any], Any]] = {"": lambda x: x, "r": repr, "s": str, "a": ascii}


def _format_value(value: Any, conversion: str = "", spec: str = "") -> str:
    return format(_CONVERT[conversion](value), spec)


FORMAT_VALUE = define("format_value", _format_value, always(STR))
CONCAT_STR = define("concat_str", lambda *parts: "".join(parts), always(STR), "total")
STR_OF = define("str", str, always(STR))
REPR_OF = define("repr", repr, always(STR))


SPECIAL: dict[str, tuple[Callable[[Any], Any], type]] = {
    "__bool__": (bool, bool),
    "__len__": (len, int),
    "__index__": (operator.index, int),
    "__int__": (int, int),
    "__float__": (float, float),
    "__str__": (str, str),
    "__repr__": (repr, str),
    "__format__": (format, str),
    "__iter__": (iter, object),
}
"""What asks for a special method, and the class of what the method has to return."""


def _returned(value: Any, name: str, cls: type) -> Any:
    ask, wanted = SPECIAL[name]
    if type(value) is wanted and name != "__len__":
        return value
    return ask(type(cls.__name__, (), {name: lambda self, *spec: value})())


def _returned_rule(value: Any, name: str, cls: type) -> Type:
    t, wanted = type_of(value), SPECIAL[name][1]
    given = python_class(t)
    if given is wanted:
        return t
    if given is None:
        return Py(wanted)
    lenient = given is bool or (name == "__len__" and has_index(t))  # with a DeprecationWarning, partly
    return Py(wanted) if issubclass(given, wanted) or (wanted is int and lenient) else BOTTOM


RETURNED = define("returned", _returned, _returned_rule)


# -- numbers -------------------------------------------------------------------------------------------------


def _convert_rule(cls: type) -> Any:
    def rule(x: Any = 0, *more: Any, **kwargs: Any) -> Type:
        t = type_of(x)
        if isinstance(t, (Ref, TupleT, SeqT, Host, IterT)) or (isinstance(t, Const) and t.value is None):
            return BOTTOM
        if isinstance(t, (Py, Const)) and python_class(t) is complex and cls is not complex:
            return BOTTOM
        return Py(cls)

    return rule


TO_INT = define("int", int, _convert_rule(int))
TO_FLOAT = define("float", float, _convert_rule(float))
TO_COMPLEX = define("complex", complex, _convert_rule(complex))


def _round_rule(x: Any, ndigits: Any = None) -> Type:
    if not is_number(x):
        return BOTTOM
    value = sample_call(round, x, ndigits) if ndigits is not None else sample_call(round, x)
    if isinstance(value, Exception):
        return BOTTOM
    t = type_of(x)
    return result_type(value, t.shape if isinstance(t, Array) else ())


ROUND = define("round", round, _round_rule)
ABS = define("abs", abs, lambda x: elementwise(abs)(x) if is_number(x) else BOTTOM)
INDEX = define("index", operator.index, lambda x: INT if has_index(x) else BOTTOM)
CHR = define("chr", chr, always(STR))
ORD = define("ord", ord, always(INT))
HEX = define("hex", hex, always(STR))
BIN = define("bin", bin, always(STR))
OCT = define("oct", oct, always(STR))
ASCII = define("ascii", ascii, always(STR))
