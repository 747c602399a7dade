"""Objects: attributes, methods, construction, and operators that a user's class overloads."""

from __future__ import annotations

import contextlib
import enum
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.graph.graph import FINDERS, Tensor
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
    TypeChoice,
    Union,
    join,
    members,
    python_class,
)
from autograph.operators.branches import in_, is_object, narrow, not_, split, truth
from autograph.operators.calls import BoundMethod, BoundOp, call, call_host, handles
from autograph.operators.external import is_static, is_user_class, is_user_module
from autograph.operators.tracer import Trace, TracedValue, current, emit, has_tensor, pack, require, vtype
from autograph.operators.variables import AttributeReference, Reference, read_outside
from autograph.ops import arithmetic, containers, core
from autograph.ops.base import Op

_MISSING = object()


class ObjectReference(Reference):
    """A class or function that exists outside the trace, as the start of an attribute path."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = ("object", id(value))

    def get(self) -> Any:
        return self.value

    def __repr__(self) -> str:
        return getattr(self.value, "__name__", repr(self.value))


_DATA = object()
_LOOKED_UP = (types.FunctionType, property, staticmethod, classmethod, functools.cached_property, type)


class ClassEntry(Reference):
    """What a class and its bases have under a name: the method itself, "a value", or nothing."""

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name
        self.key = ("class entry", id(cls), name)

    def get(self) -> Any:
        for cls in self.cls.__mro__:
            if self.name in cls.__dict__:
                found = cls.__dict__[self.name]
                return found if isinstance(found, _LOOKED_UP) else _DATA
        return _MISSING

    def __repr__(self) -> str:
        return f"{self.cls.__name__}.{self.name}"


def watch_class(cls: type, name: str) -> None:
    """The trace holds while the class has the same method, property, ... under the name."""
    trace = current()
    if trace is not None and cls not in trace.local_classes and is_user_module(cls.__module__):
        entry = ClassEntry(cls, name)
        if entry.key not in trace.guards:
            trace.guards[entry.key] = (entry, ("static", entry.get()))


def outside_object(trace: Trace, value: Any) -> Any:
    """A live object met outside the trace, as a value of the trace."""
    if is_static(value) or isinstance(value, tuple):
        return value
    return read_outside(trace, ObjectReference(value), value)


# -- reading attributes --------------------------------------------------------------------------------------


def get_attr(x: Any, name: str) -> Any:
    """`x.name`."""
    trace = current()
    if trace is None:
        return getattr(x, name)
    if isinstance(x, Tensor):
        return _tensor_attr(trace, x, name)
    if isinstance(x, TracedValue):
        return x.attribute(name) if hasattr(x, "attribute") else _no_attribute(trace, x, name)
    if isinstance(x, types.ModuleType):
        return _module_attr(trace, x, name)
    if isinstance(x, type):
        return class_attr(trace, x, name)
    if isinstance(x, tuple):
        return _tuple_attr(trace, x, name)
    op = constant_method(x, name)
    if op is not None and callable(getattr(x, name, None)):
        return BoundOp(op, x)
    try:
        value = getattr(x, name)
    except AttributeError:
        return emit(core.GET_ATTR, x, name, type_=BOTTOM)
    if isinstance(x, _IMMUTABLE) or name.startswith("__"):
        return value
    return read_outside(trace, AttributeReference(ObjectReference(x), name), value)


_IMMUTABLE = (
    int,
    float,
    complex,
    str,
    bytes,
    range,
    slice,
    frozenset,
    enum.Enum,
    np.generic,
    np.dtype,
    np.finfo,
    np.iinfo,
    np.ufunc,
    types.BuiltinFunctionType,
    functools.partial,
)
"""What a constant of the trace may be an attribute of, unguarded."""


def _tuple_attr(trace: Trace, x: tuple[Any, ...], name: str) -> Any:
    if name in _TUPLE and getattr(type(x), name) is getattr(tuple, name):
        return BoundOp(_TUPLE[name], x)
    try:
        value = getattr(x, name)
    except AttributeError:
        return emit(core.GET_ATTR, x, name, type_=BOTTOM)
    if isinstance(value, (types.MethodWrapperType, types.BuiltinMethodType)) and value.__self__ is x:
        _refuse_attribute(trace, type(x), name)
    return value


def _refuse_attribute(trace: Trace, cls: type, name: str) -> None:
    special = name.startswith("__")
    trace.refuse(
        f"'{name}' of a traced value of class '{cls.__name__}' is read",
        "A graph has no operation for it.",
        "Use the operator or the built-in function that calls it: a + b, abs(a), str(a), len(a)."
        if special
        else "Read it in a function called by ag.host_call(function, ..., result=ag.spec(...)).",
    )


def _module_attr(trace: Trace, module: types.ModuleType, name: str) -> Any:
    try:
        value = getattr(module, name)
    except AttributeError:
        return emit(core.GET_ATTR, module, name, type_=BOTTOM)
    if module is sys and hasattr(value, "write"):  # sys.stdout may be another at each call
        return emit(core.LOAD, AttributeReference(ObjectReference(module), name), type_=Host(None))
    if not (is_user_module(module.__name__) or isinstance(value, np.ndarray)):
        return value
    return read_outside(trace, AttributeReference(ObjectReference(module), name), value)


def _no_attribute(trace: Trace, x: Any, name: str) -> Any:
    trace.refuse(
        f"the attribute '{name}' of a {type(x).__name__.lower()} is read",
        "It exists only while the graph is built, and has no attributes in a graph.",
        "Call it, or loop over it, where it is made.",
    )


def local_class(cls: type) -> type:
    """Marks a class made by converted code: it lives as long as the graph, so it must hold constants."""
    trace = current()
    if trace is None:
        return cls
    for name, value in vars(cls).items():
        if name.startswith("__"):
            continue
        if has_tensor(value) or isinstance(value, (list, dict, set, np.ndarray)):
            trace.refuse(
                f"the class '{cls.__name__}', made in the function, has an attribute '{name}' that is no "
                "constant",
                "The class is made once, while the graph is built: its attributes would be shared by all "
                "calls.",
                "Make the class outside the function, or set the attribute in __init__.",
            )
    trace.local_classes.append(cls)
    return cls


def class_attr(trace: Trace, cls: type, name: str) -> Any:
    """An attribute of a class: functions as they are, values read when the graph runs."""
    if isinstance(cls, enum.EnumMeta) or not is_user_module(cls.__module__) or name.startswith("__"):
        try:
            return getattr(cls, name)
        except AttributeError:
            return emit(core.GET_ATTR, cls, name, type_=BOTTOM)
    watch_class(cls, name)
    try:
        value = getattr(cls, name)
    except AttributeError:
        return emit(core.GET_ATTR, cls, name, type_=BOTTOM)
    if isinstance(value, (types.FunctionType, types.MethodType, type, property)):
        return value
    return read_outside(trace, AttributeReference(ObjectReference(cls), name), value)


def _tensor_attr(trace: Trace, x: Tensor, name: str) -> Any:
    t = x._ag_type
    if len(members(t)) > 1:
        having = tuple(m for m in members(t) if not _lacks(m, name))
        if len(having) == 1 and is_object(having[0]):
            emit(core.CHECK_ATTR, x, name, TypeChoice(having))  # the others raise AttributeError here
            return object_attr(trace, narrow(x, having), name)
    if len(members(t)) > 1 and _any_method(members(t), name):
        return UnionMethod(x, name)
    if any(is_object(m) for m in members(t)):
        return split(x, is_object, lambda o: object_attr(trace, o, name), lambda o: get_attr(o, name))
    if len(members(t)) > 1 and any(map(_is_named, members(t))):
        return split(x, _is_named, lambda o: get_attr(o, name), lambda o: get_attr(o, name))
    kinds = [member_op(m, name) for m in members(t)]
    found = [k for k in kinds if k is not None]
    if not found:
        return _host_attr(trace, x, name)
    is_method = found[0][0]
    if len(kinds) == 1:
        op = found[0][1]
    else:
        op = _joint_op(name, is_method)
    if op.name == "list.sort":
        return ListSort(op, x)
    return BoundOp(op, x) if is_method else emit(op, x)


def _lacks(t: Type, name: str) -> bool:
    """Whether values of a type surely have no attribute of this name: None, numbers, arrays, lists, ..."""
    if isinstance(t, Const):
        return t.value is None and not hasattr(None, name)
    cls = python_class(t)
    if cls is None or isinstance(t, (Host, IterT)) or is_object(t):
        return False
    return not hasattr(cls, name)


def _is_graph_function(value: Any) -> bool:
    return not isinstance(value, Tensor) and hasattr(value, "python_function")


def _is_method(t: Type, name: str) -> bool:
    """Whether an attribute of a type is something to call, bound to the value."""
    if name == "sort" and isinstance(t, Ref) and t.kind == "list":
        return True
    if is_object(t):
        found = inspect.getattr_static(t.site.cls, name, None)  # type: ignore[attr-defined]
        bound = isinstance(found, (types.FunctionType, classmethod, staticmethod)) or _is_graph_function(
            found
        )
        return bound and name not in t.site.fields  # type: ignore[attr-defined]
    return False


def _any_method(alternatives: tuple[Type, ...], name: str) -> bool:
    """Whether one type of a union has a method that only a call may tell from the others' attributes."""
    if any(_is_method(m, name) for m in alternatives):
        return True
    if not any(is_object(m) or _is_named(m) for m in alternatives):
        return False
    found = [member_op(m, name) for m in alternatives]
    return any(f is not None and f[0] for f in found)


class UnionMethod(TracedValue):
    """A method of one of several types: which one, the call decides when the graph runs."""

    def __init__(self, owner: Tensor, name: str) -> None:
        self.owner, self.name = owner, name

    def __autograph_call__(self, *args: Any, **kwargs: Any) -> Any:
        def called(o: Any) -> Any:
            return call(get_attr(o, self.name), *args, **kwargs)

        return split(
            self.owner, lambda t: _is_method(t, self.name) or is_object(t) or _is_named(t), called, called
        )

    def pack(self) -> Any:
        require().refuse(
            f"the method '{self.name}' of a value of several types is kept as a value",
            "Which method it is, is only known when the graph runs.",
            "Call the method where it is looked up, or wrap it in a lambda.",
        )

    def truth(self) -> bool:
        return True


class ListSort(BoundOp):
    """`list.sort`: the keys are computed by converted code first."""

    def __autograph_call__(self, *args: Any, key: Any = None, reverse: Any = False, **more: Any) -> Any:
        if args or more:
            return emit(self.op, self.self, *map(pack, args), type_=BOTTOM, **more)  # Python tells why not
        if key is None:
            return emit(self.op, self.self, reverse=reverse)
        from autograph.operators.containers import materialize
        from autograph.operators.loops import Map

        return emit(containers.SORT_BY, self.self, materialize(Map(key, (self.self,))), reverse)


def _is_named(t: Type) -> bool:
    """A known function, class or module among the alternatives of a union."""
    return isinstance(t, Const) and not isinstance(
        t.value, (bool, int, float, complex, str, bytes, np.generic, type(None))
    )


def _host_attr(trace: Trace, x: Tensor, name: str) -> Any:
    t = x._ag_type
    if isinstance(t, TupleT) and t.cls is not tuple and name in getattr(t.cls, "_fields", ()):
        return emit(core.ITEM, x, t.cls._fields.index(name))  # type: ignore[attr-defined]
    hosts = [m for m in members(t) if isinstance(m, Host)]
    classes = [m.cls for m in hosts if m.cls is not None and issubclass(m.cls, BaseException)]
    rest = [m for m in members(t) if m not in hosts and (m != Const(None) or hasattr(None, name))]
    if classes and len(classes) == len(hosts) and not rest:
        return _exception_attr(x, functools.reduce(_common, classes), name)
    if any(isinstance(m, Host) for m in members(t)):
        if isinstance(t, Host) and t.cls is type and name in ("__name__", "__qualname__", "__module__"):
            return emit(core.GET_ATTR, x, name, type_=Py(str))
        return emit(core.GET_ATTR, x, name, type_=Host())
    if name == "__class__":
        return call(type, x)
    for m in members(t):
        cls = python_class(m)
        if cls is not None and hasattr(m.value if isinstance(m, Const) else cls, name):
            _refuse_attribute(trace, cls, name)
    return emit(core.GET_ATTR, x, name, type_=BOTTOM)


def _exception_attr(x: Tensor, cls: type, name: str) -> Any:
    if name == "args":
        return emit(core.GET_ATTR, x, name, type_=SeqT(Host()))
    if name in ("__class__",):
        return emit(core.TYPE, x)
    found = inspect.getattr_static(cls, name, None)
    if not any(name in vars(other) for other in _subclasses(cls)):
        if isinstance(found, types.FunctionType) and is_user_module(found.__module__):
            return BoundMethod(found, x)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            return call(found.fget, x)
    t = _exception_field_type(require(), cls, name)
    if found is None and t is not BOTTOM:
        return emit(core.EXCEPTION_FIELD, x, name, TypeChoice(members(t)))
    return emit(core.GET_ATTR, x, name, type_=Host())


def _common(a: type, b: type) -> type:
    return next(c for c in a.__mro__ if issubclass(b, c))


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for other in cls.__subclasses__():
        yield other
        yield from _subclasses(other)


def _exception_field_type(trace: Trace, cls: type, name: str) -> Type:
    """What converted code sets an attribute of exceptions to, of this class or of those that it may be."""
    trace.reads_exceptions = True
    found: list[Type] = []
    for site in {id(s): s for s in trace.decisions.sites.values()}.values():
        if site.kind == "exception" and (issubclass(site.cls, cls) or issubclass(cls, site.cls)):
            site.was_read = True
            found.append(site.fields.get(name, BOTTOM))
    return join(*found)


def _set_exception_field(trace: Trace, cls: type, name: str, t: Type) -> None:
    known = len(trace.decisions.sites)
    site = trace.decisions.site(("exception", cls.__qualname__), "exception", cls)
    if len(trace.decisions.sites) > known and trace.reads_exceptions:
        trace.decisions.change(f"attributes of {cls.__name__} are set after they are read")
    site.widen_field(name, t)


def _new_exception(trace: Trace, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An exception; an `__init__` of the user's is converted."""
    packed = tuple(map(pack, args))
    named = {k: pack(v) for k, v in kwargs.items()}
    init = inspect.getattr_static(cls, "__init__", None)
    if not isinstance(init, types.FunctionType) or not is_user_module(init.__module__) or _python_new(cls):
        return emit(core.MAKE_EXCEPTION, cls, *packed, **named)
    instance = emit(core.NEW_EXCEPTION, cls, *packed, **named)
    call(init, instance, *args, **kwargs)
    return instance


def _python_new(cls: type) -> bool:
    return any(isinstance(vars(base).get("__new__"), staticmethod) for base in cls.__mro__)


def member_op(t: Type, name: str) -> tuple[bool, Op] | None:
    """(is it a method, the op that answers) for an attribute of one type."""
    from autograph.ops import methods

    if isinstance(t, (Array, Scalar)) or (isinstance(t, Const) and isinstance(t.value, np.generic)):
        if name in methods.ATTRIBUTES:
            return False, methods.ATTRIBUTES[name]
        return (True, methods.METHODS[name]) if name in methods.METHODS else None
    if isinstance(t, Ref) and (t.kind, name) in containers.METHODS:
        return True, containers.METHODS[t.kind, name]
    if isinstance(t, IterT):
        return None
    cls = python_class(t)
    if cls in (int, float, complex, bool, str, bytes, slice, range):
        op = methods.python_method(cls, name)
        if op is not None:
            return callable(getattr(cls, name, None)), op
    if cls is tuple and name in ("count", "index"):
        return True, _TUPLE[name]
    return None


from autograph.ops.base import define  # noqa: E402

_TUPLE = {n: define(f"tuple.{n}", getattr(tuple, n), core.always(Py(int))) for n in ("count", "index")}


@functools.cache
def _joint_op(name: str, is_method: bool) -> Op:
    """One op for an attribute that several types of a union have, each in its way."""

    def rule(x: Any, *args: Any, **kwargs: Any) -> Type:
        found = member_op(vtype(x) if not isinstance(x, Type) else x, name)
        return BOTTOM if found is None else found[1].rule(x, *args, **kwargs)

    if is_method:
        return Op(f"method.{name}", lambda x, *a, **k: getattr(x, name)(*a, **k), rule, frozenset({"writes"}))
    return Op(f"attribute.{name}", lambda x: getattr(x, name), rule)


def constant_method(value: Any, name: str) -> Op | None:
    """The op for a method of a constant string or number."""
    found = (
        member_op(Const(value), name)
        if isinstance(value, (int, float, complex, str, bytes, slice, np.generic))
        else None
    )
    return found[1] if found is not None else None


def _find(name: str) -> Op | None:
    """The op of a name such as `method.sum` or `attribute.shape`."""
    kind, _, member = name.partition(".")
    return _joint_op(member, kind == "method") if kind in ("method", "attribute") else None


FINDERS.append(_find)


def object_attr(trace: Trace, x: Any, name: str) -> Any:
    """An attribute of a user's object: property, method, field, class attribute, `__getattr__`."""
    site = x._ag_type.site
    cls = site.cls
    if name == "__class__":
        return cls
    if name == "__dict__":
        trace.refuse(
            "'__dict__' of an object is read",
            "A graph knows the fields of an object by their names, one by one.",
            "Read the fields by name.",
        )
    watch_class(cls, name)
    found = inspect.getattr_static(cls, name, _MISSING)
    if isinstance(found, property):
        return call(found.fget, x)
    if isinstance(found, functools.cached_property):
        if name not in site.fields:
            value = call(found.func, x)
            site.widen_field(name, vtype(value))
            emit(core.SET_FIELD, x, name, pack(value))
            return value
        return _read_field(trace, x, name, None)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return BoundMethod(found.__func__, cls)
    if (isinstance(found, types.FunctionType) or _is_graph_function(found)) and name not in site.fields:
        return BoundMethod(found, x)
    if isinstance(found, (types.MemberDescriptorType, types.GetSetDescriptorType)):
        found = _MISSING
    elif found is not _MISSING and hasattr(type(found), "__get__") and not callable(found):
        getter = inspect.getattr_static(type(found), "__get__", None)
        if isinstance(getter, types.FunctionType):
            return call(getter, outside_object(trace, found), x, cls)
    default: Any = None if found is _MISSING else (class_attr(trace, cls, name),)
    if name not in site.fields and default is None:
        fallback = inspect.getattr_static(cls, "__getattr__", None)
        if isinstance(fallback, types.FunctionType):
            return call(fallback, x, name)
    return _read_field(trace, x, name, default)


def _read_field(trace: Trace, x: Any, name: str, default: tuple[Any] | None) -> Any:
    site = x._ag_type.site
    site.was_read = True
    if name not in site.fields and default is not None and callable(default[0]):
        return default[0]
    t = site.read_field(name)
    if default is not None:
        t = join(t, vtype(default[0]))
    if isinstance(t, Const) and default is None and name in site.fields:
        return t.value if not _may_lack(site, name) else emit(core.GET_FIELD, x, name, type_=t)
    return emit(core.GET_FIELD, x, name, type_=t)


def _may_lack(site: Any, name: str) -> bool:
    return True


# -- writing attributes --------------------------------------------------------------------------------------


def set_attr(x: Any, name: str, value: Any) -> None:
    """`x.name = value`."""
    trace = current()
    if trace is None:
        setattr(x, name, value)
        return
    if isinstance(x, Tensor):
        if any(is_object(m) for m in members(x._ag_type)):
            split(
                x,
                is_object,
                lambda o: _set_object_attr(trace, o, name, value),
                lambda o: set_attr(o, name, value),
            )
            return
        _set_array_attr(trace, x, name, value)
        return
    if isinstance(x, (type, types.ModuleType, types.FunctionType)):
        from autograph.operators.variables import store

        if x in trace.local_classes:
            trace.refuse(
                f"the attribute '{name}' of the class '{x.__name__}', made in the function, is set",
                "The class is made once, while the graph is built: a change would be seen by the next call.",
                "Make the class outside the function, or keep the value in a variable.",
            )

        store(SettableReference(ObjectReference(x), name), value)
        return
    if isinstance(x, TracedValue):
        trace.refuse(
            f"the attribute '{name}' of a {type(x).__name__.lower()} is set",
            "It exists only while the graph is built, and has no attributes in a graph.",
            "Keep the value in a variable, or in an object of a class.",
        )
    emit(core.SET_FIELD, pack(x), name, pack(value))


class SettableReference(AttributeReference):
    """An attribute of a class, module or function, written when the graph runs."""

    def set(self, value: Any) -> None:
        setattr(self.parent.get(), self.name, value)


def _set_array_attr(trace: Trace, x: Tensor, name: str, value: Any) -> None:
    if any(isinstance(m, Array) for m in members(x._ag_type)):
        trace.refuse(
            f"the attribute '{name}' of an array is set",
            "It changes the array's shape or dtype in place.",
            "Make a new array: x = x.reshape(...), x = x.view(...).",
        )
    if any(isinstance(m, Host) for m in members(x._ag_type)):
        for m in members(x._ag_type):
            if isinstance(m, Host) and m.cls is not None and issubclass(m.cls, BaseException):
                _set_exception_field(trace, m.cls, name, vtype(value))
        emit(core.SET_FIELD, x, name, pack(value))
        return
    emit(core.SET_FIELD, x, name, pack(value), type_=BOTTOM)


def _set_object_attr(trace: Trace, x: Tensor, name: str, value: Any) -> None:
    cls = x._ag_type.site.cls  # type: ignore[attr-defined]
    found = inspect.getattr_static(cls, name, _MISSING)
    if isinstance(found, property):
        if found.fset is None:
            emit(core.SET_FIELD, x, name, pack(value), type_=BOTTOM)
        call(found.fset, x, value)
        return
    setter = inspect.getattr_static(cls, "__setattr__", None)
    if isinstance(setter, types.FunctionType):
        if setter.__code__.co_filename == "<string>":  # a frozen dataclass: raises
            emit(core.SET_FIELD, x, name, pack(value), type_=BOTTOM)
        call(setter, x, name, value)
        return
    write_field(x, name, value)


def write_field(x: Tensor, name: str, value: Any, op: Op = core.SET_FIELD) -> None:
    """Writes an instance attribute itself."""
    x._ag_type.site.widen_field(name, vtype(value))  # type: ignore[attr-defined]
    emit(op, x, name, pack(value))


def del_attr(x: Any, name: str) -> None:
    """`del x.name`."""
    trace = current()
    if trace is None:
        delattr(x, name)
        return
    emit(core.DEL_FIELD, pack(x), name)


@handles(object.__setattr__)
def _object_setattr(x: Any, name: str, value: Any) -> None:
    write_field(x, name, value, core.SET_FROZEN)


@handles(object.__init__, object.__init_subclass__)
def _object_init(*args: Any) -> None:
    return None


# -- construction --------------------------------------------------------------------------------------------


def instantiate(trace: Trace, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`cls(*args, **kwargs)`."""
    if issubclass(cls, BaseException):
        return _new_exception(trace, cls, args, kwargs)
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and _plain_namedtuple(cls):
        return cls(*args, **kwargs)
    if isinstance(cls, enum.EnumMeta):
        if has_tensor(args):
            trace.refuse(
                f"a member of {cls.__name__} is looked up by a traced value",
                "Members of an enumeration are constants of a graph.",
                f"Compare values instead: if value == {cls.__name__}.NAME.value.",
            )
        return cls(*args, **kwargs)
    if cls is contextlib.nullcontext or cls is contextlib.suppress:
        from autograph.operators import exceptions

        return (exceptions.Nullcontext if cls is contextlib.nullcontext else exceptions.Suppress)(
            *args, **kwargs
        )
    if is_user_class(cls):
        return new_object(trace, cls, args, kwargs)
    if is_user_module(cls.__module__) and cls.__flags__ & (1 << 9):
        trace.refuse(
            f"an object of class '{cls.__name__}' is made",
            "Classes with a base class written in C, a metaclass, __new__ or __getattribute__ are not "
            "supported.",
            "Use a plain class, or make the object outside the function.",
        )
    return call_host(trace, cls, args, kwargs)


def _plain_namedtuple(cls: type) -> bool:
    new = cls.__new__
    return isinstance(new, types.FunctionType) and (new.__module__ or "").startswith("namedtuple_")


def new_object(trace: Trace, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An instance of a user's class, made when the graph runs; `__init__` is converted."""
    site = trace.decisions.site(trace.key("object"), "object", cls)
    instance = emit(core.NEW_OBJECT, cls, site)
    watch_class(cls, "__init__")
    init = inspect.getattr_static(cls, "__init__", None)
    if isinstance(init, types.FunctionType):
        if hasattr(cls, "__dataclass_fields__") and init.__code__.co_filename == "<string>":
            _dataclass_init(cls, instance, init, args, kwargs)
        else:
            call(init, instance, *args, **kwargs)
    elif args or kwargs:
        emit(core.HOST_CALL, cls, *map(pack, args), type_=BOTTOM, **kwargs)
    return instance


def _dataclass_init(cls: type, instance: Any, init: Any, args: Any, kwargs: Any) -> None:
    import dataclasses

    try:
        bound = inspect.signature(init).bind(instance, *args, **kwargs)
    except TypeError:
        emit(core.HOST_CALL, cls, *map(pack, args), type_=BOTTOM, **{k: pack(v) for k, v in kwargs.items()})
        return
    given = bound.arguments
    frozen = cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
    op = core.SET_FROZEN if frozen else core.SET_FIELD
    late = []
    for field in cls.__dataclass_fields__.values():  # type: ignore[attr-defined]
        kind = field._field_type
        if field.name in given:
            value = given[field.name]
        elif field.default is not dataclasses.MISSING:
            value = outside_object(require(), field.default)
            if kind.name == "_FIELD" and not field.init:
                continue
        elif field.default_factory is not dataclasses.MISSING:
            value = call(field.default_factory)
        else:
            continue
        if kind.name == "_FIELD_INITVAR":
            late.append(value)
        elif kind.name == "_FIELD":
            write_field(instance, field.name, value, op)
    post = inspect.getattr_static(cls, "__post_init__", None)
    if isinstance(post, types.FunctionType):
        call(post, instance, *late)


# -- operators that classes overload -------------------------------------------------------------------------

_NAMES = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
}
_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS = {
    "<": ("__lt__", "__gt__"),
    "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"),
    "==": ("__eq__", "__eq__"),
    "!=": ("__ne__", "__ne__"),
}


def method_of(x: Any, name: str) -> Any:
    """A special method of an object, bound; None if its class does not define it in Python."""
    if not (isinstance(x, Tensor) and is_object(x._ag_type)):
        return None
    cls = x._ag_type.site.cls  # type: ignore[attr-defined]
    watch_class(cls, name)
    found = inspect.getattr_static(cls, name, None)
    return BoundMethod(found, x) if isinstance(found, types.FunctionType) else None


def has_object(value: Any) -> bool:
    return isinstance(value, Tensor) and any(is_object(m) for m in members(value._ag_type))


def split_objects(value: Any, special: Callable[[Any], Any], rest: Callable[[Any], Any]) -> tuple[Any] | None:
    """`special` for each alternative that is a user's object, else `rest`; None if none is an object."""
    if not has_object(value):
        return None
    return (split(value, is_object, special, rest),)


def binary(symbol: str, a: Any, b: Any, op: Op | None = None) -> Any:
    """`a <symbol> b`, where a class may overload it; `op` is what it is where none does."""
    op = arithmetic.BINARY[symbol] if op is None else op
    for value, other in ((a, lambda v: binary(symbol, v, b, op)), (b, lambda v: binary(symbol, a, v, op))):
        if has_object(value) and not is_object(value._ag_type):
            return split(value, is_object, other, other)
    if _may_be_numpy(a) and is_object(vtype(b)):
        return beside(symbol, a, b, _names(symbol)[1:], lambda v: _binary(symbol, v, b, op))
    return _binary(symbol, a, b, op)


def _names(symbol: str) -> tuple[str, str]:
    name = _NAMES[symbol]
    return f"__{name}__", f"__r{name}__"


def _binary(symbol: str, a: Any, b: Any, op: Op) -> Any:
    name, reflected = _names(symbol)
    attempts = [(method_of(a, name), b), (method_of(b, reflected), a)]
    if attempts[1][0] is not None and _is_subclass(b, a):
        attempts.reverse()
    result = _first(attempts)
    if result is not NotImplemented:
        return result
    if (own := method_of(a, name)) is not None:
        result = again(symbol, own, name, b, a)
        if result is not NotImplemented:
            return result
    if symbol == "*":  # the number of times that a sequence is repeated
        a, b = (special_index(v) if python_class(vtype(w)) in _REPEATED else v for v, w in ((a, b), (b, a)))
    if any(method is not None for method, _ in attempts) and (is_object(vtype(a)) or is_object(vtype(b))):
        told = symbol + "=" if op is arithmetic.INPLACE[symbol] else symbol
        return emit(arithmetic.UNSUPPORTED, told, pack(a), pack(b))
    return emit(op, pack(a), pack(b))


_REPEATED = (list, tuple, str, bytes)
_ARRAY_LIKE = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")


def _is_numpy(t: Type) -> bool:
    return (
        isinstance(t.value, (np.generic, np.ndarray))
        if isinstance(t, Const)
        else isinstance(t, (Scalar, Array))
    )


def _may_be_numpy(value: Any) -> bool:
    return not isinstance(value, TracedValue) and any(map(_is_numpy, members(vtype(value))))


def _apart(value: Any, use: Callable[[Any], Any]) -> Any:
    """`use(value)`, for each alternative apart where only some are NumPy's, or some are arrays."""
    if isinstance(value, Tensor) and isinstance(value._ag_type, Union):
        return split(value, _is_numpy, lambda v: use(v), use)
    return use(value)


def _for_method(symbol: str, x: Any, thing: Any, names: tuple[str, ...], in_place: bool = False) -> Any:
    """What the methods `names` of the object `thing` are called with where the other operand is `x`.

    NumPy takes an object for one item (NEP 13 and `__array_priority__` apart): the methods of its class meet
    the items of an array one by one, as Python's own numbers, and their results make an array of objects.
    """
    if not _may_be_numpy(x):
        return x
    cls = python_class(vtype(thing))
    assert cls is not None
    for name in (*_ARRAY_LIKE, "__array_ufunc__", "__array_priority__"):
        watch_class(cls, name)
    ufunc = inspect.getattr_static(cls, "__array_ufunc__", _MISSING)
    is_array = python_class(vtype(x)) is np.ndarray
    if ufunc is _MISSING:
        priority = inspect.getattr_static(cls, "__array_priority__", None)
        defers = isinstance(priority, (int, float)) and priority > (0.0 if is_array else -1e6)
    else:
        defers = ufunc is None and not (in_place and is_array)
    if defers:
        return x
    sequence = all(hasattr(cls, name) for name in ("__len__", "__getitem__"))
    own = ufunc is not _MISSING or sequence or any(hasattr(cls, name) for name in _ARRAY_LIKE)
    meets = symbol in ("==", "!=") or any(_defines(vtype(thing), name) for name in names)
    if own or (is_array and meets):
        require().refuse(
            f"an operator ({symbol}) has an array and an object of the class {cls.__name__} as its operands",
            "NumPy takes the object for an array of its own, or for one item: it calls the class's methods "
            "with each item of the array, and makes an array of objects from what they return.",
            f"Put the object on the left, give {cls.__name__} the attribute __array_ufunc__ = None (so that "
            "NumPy leaves the operation to its methods), or call a method by its name.",
        )
    return call(get_attr(x, "item")) if meets and not is_array and symbol != "@" else x


def beside(symbol: str, x: Any, thing: Any, names: tuple[str, ...], use: Callable[[Any], Any]) -> Any:
    """`use` of what the methods `names` of `thing` are called with where the other operand is `x`."""
    return _apart(x, lambda v: use(_for_method(symbol, v, thing, names)))


def again(symbol: str, method: Any, name: str, x: Any, thing: Any) -> Any:
    """What a method of `thing` gives when NumPy calls it again, as it left the operation to `x`."""

    def use(v: Any) -> Any:
        own = _for_method(symbol, v, thing, (name,))
        return NotImplemented if own is v else call(method, own)

    return _decided(_apart(x, use)) if _may_be_numpy(x) else NotImplemented


def inplace(symbol: str, a: Any, b: Any) -> Any:
    """`a <symbol>= b`; gives the new value of a."""
    if has_object(a) or has_object(b):
        if has_object(a) and not is_object(a._ag_type):
            return split(a, is_object, lambda v: inplace(symbol, v, b), lambda v: inplace(symbol, v, b))
        if has_object(b) and not is_object(b._ag_type):
            return split(b, is_object, lambda v: inplace(symbol, a, v), lambda v: inplace(symbol, a, v))
        if symbol == "+" and all(isinstance(m, Ref) and m.kind == "list" for m in members(vtype(a))):
            call(get_attr(a, "extend"), b)
            return a
        method = method_of(a, f"__i{_NAMES[symbol]}__")
        if method is not None:
            result = call(method, b)
            if result is not NotImplemented:
                return result
        if _may_be_numpy(a) and is_object(vtype(b)):
            use = functools.partial(
                _for_method, symbol + "=", thing=b, names=_names(symbol)[1:], in_place=True
            )
            return _apart(a, lambda v: _binary(symbol, use(v), b, arithmetic.INPLACE[symbol]))
        return binary(symbol, a, b, arithmetic.INPLACE[symbol])
    return emit(arithmetic.INPLACE[symbol], pack(a), pack(b))


def _is_subclass(b: Any, a: Any) -> bool:
    p, q = python_class(vtype(b)), python_class(vtype(a))
    return p is not None and q is not None and p is not q and issubclass(p, q)


def _first(attempts: list[tuple[Any, Any]]) -> Any:
    for method, other in attempts:
        if method is None:
            continue
        result = _decided(call(method, other))
        if result is not NotImplemented:
            return result
    return NotImplemented


def _decided(result: Any) -> Any:
    if isinstance(result, Tensor) and Const(NotImplemented) in members(result._ag_type):
        require().refuse(
            "an overloaded operator returns NotImplemented for some values only",
            "Which method answers must be known while the graph is built.",
            "Decide by the type of the operand.",
        )
    return result


def compare(symbol: str, a: Any, b: Any) -> Any:
    """`a <symbol> b` for a comparison, where a class may overload it."""
    if not (has_object(a) or has_object(b)):
        return emit(arithmetic.COMPARE[symbol], pack(a), pack(b))
    for value, other in ((a, lambda v: compare(symbol, v, b)), (b, lambda v: compare(symbol, a, v))):
        if has_object(value) and not is_object(value._ag_type):
            return split(value, is_object, other, other)
    if is_object(vtype(a)) and _may_be_numpy(b) and _leaves(method_of(a, _COMPARISONS[symbol][0])):
        return _apart(b, lambda v: _compare(symbol, a, v, met=(a, _met(symbol, v, a))))
    if is_object(vtype(b)) and _may_be_numpy(a):
        return _apart(a, lambda v: _compare(symbol, v, b, met=(_met(symbol, v, b), b)))
    return _compare(symbol, a, b)


def _met(symbol: str, x: Any, thing: Any) -> Any:
    return _for_method(symbol, x, thing, _COMPARISONS[symbol])


def _of_dataclass(method: Any) -> bool:
    return method is not None and method.function.__code__.co_filename == "<string>"


def _leaves(method: Any) -> bool:
    """Whether a comparison with what is no object of the class is left to the other operand."""
    return method is None or _of_dataclass(method)


def _compare(symbol: str, a: Any, b: Any, met: tuple[Any, Any] | None = None) -> Any:
    """`a <symbol> b`; `met` is what the methods of the two are called with."""
    left, right = _COMPARISONS[symbol]
    x, y = (a, b) if met is None else met
    if symbol == "!=" and method_of(a, "__ne__") is None and method_of(b, "__ne__") is None:
        return not_(compare("==", a, b))
    first, second = method_of(a, left), method_of(b, right)
    for method, own, other in ((first, a, b), (second, b, a)):
        if _of_dataclass(method) and _same_class(own, other):
            return _dataclass_compare(symbol if own is a else _SWAPPED.get(symbol, symbol), own, other)
    attempts = [(m, other) for m, other in ((first, y), (second, x)) if not _of_dataclass(m)]
    if second is not None and _is_subclass(b, a):
        attempts.reverse()
    result = _first(attempts)
    if result is not NotImplemented:
        return result
    if met is None and first is not None:
        result = again(symbol, first, left, b, a)
        if result is not NotImplemented:
            return result
    if symbol == "==":
        return emit(core.IS, pack(a), pack(b))
    if symbol != "!=" and any(method is not None for method, _ in attempts):
        return emit(arithmetic.UNSUPPORTED, symbol, pack(a), pack(b))
    return emit(arithmetic.COMPARE[symbol], pack(a), pack(b))


def _same_class(x: Any, y: Any) -> bool:
    return (
        isinstance(y, Tensor) and is_object(y._ag_type) and python_class(y._ag_type) is python_class(vtype(x))
    )


def _dataclass_compare(symbol: str, x: Any, y: Any) -> Any:
    cls = x._ag_type.site.cls
    import dataclasses  # who has not loaded it has no such class

    names = [f.name for f in dataclasses.fields(cls) if f.compare]
    left, right = (tuple(get_attr(o, n) for n in names) for o in (x, y))
    return emit(arithmetic.COMPARE[symbol], pack(left), pack(right))


def unary(symbol: str, x: Any) -> Any:
    """`-x`, `+x`, `~x`."""
    name = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[symbol]
    handled = split_objects(
        x, lambda o: special_call(o, name, arithmetic.UNARY[symbol]), lambda o: unary(symbol, o)
    )
    return emit(arithmetic.UNARY[symbol], x) if handled is None else handled[0]


def special_call(x: Any, name: str, op: Op, *args: Any) -> Any:
    """A special method, or the op (which raises what Python raises) where the class has none."""
    method = method_of(x, name)
    if method is None:
        return emit(op, x, *args, type_=BOTTOM)
    return asked(method, name, *args) if name in core.SPECIAL else call(method, *args)


def asked(method: Any, name: str, *args: Any) -> Any:
    """What a special method returns, which must be of the class that Python wants of it."""
    value = call(method, *args)
    if python_class(vtype(value)) is core.SPECIAL[name][1] and name != "__len__":
        return value
    return emit(core.RETURNED, pack(value), name, python_class(vtype(method.self)))


def special_index(value: Any) -> Any:
    """The number that an object with `__index__` stands for; anything else is given back."""
    handled = split_objects(value, _through_index, lambda v: v)
    return value if handled is None else handled[0]


def _through_index(x: Any) -> Any:
    method = method_of(x, "__index__")
    return x if method is None else asked(method, "__index__")


def object_truth(x: Any) -> Any:
    """`bool(x)`: `__bool__`, else `__len__`, else True."""
    for name in ("__bool__", "__len__"):
        method = method_of(x, name)
        if method is not None:
            return truth(asked(method, name))
    return True


def contains_object(container: Any, value: Any) -> tuple[Any] | None:
    """`value in container` where the container is a user's object, or its items may be."""
    if has_object(container):
        if not is_object(container._ag_type):
            part = functools.partial(in_, value)
            return (split(container, is_object, part, part),)
        method = method_of(container, "__contains__")
        if method is not None:
            return (truth(call(method, value)),)
        if method_of(container, "__iter__") is None and method_of(container, "__getitem__") is None:
            return (emit(arithmetic.CONTAINS, container, pack(value), type_=BOTTOM),)  # raises: not iterable
        return (_search(container, value),)
    if isinstance(container, TracedValue):
        return (_search(container, value),)
    elem = arithmetic.element_type(vtype(container))
    t = container._ag_type if isinstance(container, Tensor) else None
    kind = t.kind if isinstance(t, Ref) else ""
    compared = [] if elem is None or kind in ("dict", "set") else [*members(elem), *members(vtype(value))]
    if any(is_object(m) and _defines(m, "__eq__") for m in compared):
        return (_search(container, value),)
    return None


def _defines(t: Type, name: str) -> bool:
    return isinstance(inspect.getattr_static(python_class(t), name, None), types.FunctionType)


def _search(items: Any, value: Any) -> Any:
    """`value in items`, by the items' own `==`, one after the other."""
    from autograph.operators.branches import if_stmt, is_, not_, or_
    from autograph.operators.loops import for_stmt
    from autograph.operators.variables import Box

    found = Box("whether it is in", False)

    def turn(item: Any) -> None:
        same = or_(is_(item, value), lambda: truth(compare("==", item, value)))
        if_stmt(same, lambda: found.set(True), lambda: None, lambda: (), lambda v: None, ())

    for_stmt(items, lambda: not_(found.get()), turn, lambda: (), lambda v: None, ())
    return found.get()


def object_iterator(x: Tensor) -> tuple[Any] | None:
    """What `for` runs over for an object with `__iter__` (or `__getitem__` and `__len__`)."""
    if not is_object(x._ag_type):
        return None
    method = method_of(x, "__iter__")
    if method is not None:
        result = call(method)
        if isinstance(result, Tensor) and is_object(result._ag_type):
            from autograph.operators.generators import NextIterator

            return (NextIterator(result),)
        given = None if isinstance(result, TracedValue) else python_class(vtype(result))
        if given is not None and not hasattr(given, "__next__"):
            emit(core.RETURNED, pack(result), "__iter__", python_class(x._ag_type), type_=BOTTOM)
        return (result,)
    if method_of(x, "__getitem__") is not None:
        from autograph.operators.generators import NextIterator

        return (NextIterator(x, by_index=True),)
    return None


@handles(super)
def super_(*args: Any) -> Any:
    """`super(cls, self)`."""
    if len(args) != 2:
        require().refuse(
            "super() is called with one argument",
            "It makes an unbound super object, which a graph has no value for.",
            "Write super() inside a method.",
        )
    return Super(*args)


class Super(TracedValue):
    """The attributes of the classes after `cls` in the order of resolution of self's class."""

    def __init__(self, cls: type, self_: Any) -> None:
        self.cls, self.self = cls, self_

    def attribute(self, name: str) -> Any:
        owner = self.self if isinstance(self.self, type) else python_class(vtype(self.self))
        assert owner is not None
        mro = owner.__mro__
        for cls in mro[mro.index(self.cls) + 1 :]:
            if name in cls.__dict__:
                watch_class(cls, name)
                return self._bind(cls.__dict__[name], name)
        return emit(core.GET_ATTR, pack(self.self), name, type_=BOTTOM)

    def _bind(self, found: Any, name: str) -> Any:
        if isinstance(found, property):
            return call(found.fget, self.self)
        if isinstance(found, staticmethod):
            return found.__func__
        if isinstance(found, classmethod):
            owner = self.self if isinstance(self.self, type) else self.self._ag_type.site.cls
            return BoundMethod(found.__func__, owner)
        if isinstance(found, types.FunctionType):
            return BoundMethod(found, self.self)
        if isinstance(vtype(self.self), Host) and isinstance(found, types.WrapperDescriptorType):
            return functools.partial(found, self.self)
        if name == "__init__":
            return lambda *a, **k: None
        if name == "__setattr__":
            return lambda n, v: write_field(self.self, n, v)
        if name in ("__eq__",):
            return lambda other: emit(core.IS, pack(self.self), pack(other))
        return found

    def pack(self) -> Any:
        require().refuse(
            "super() is kept as a value",
            "A graph has no value for it: it only looks up methods.",
            "Call the method at once: super().method(...).",
        )

    def truth(self) -> bool:
        return True
