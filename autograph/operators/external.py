"""What is known of live values: the signature of a call's arguments, and their types in a trace."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Hashable
from typing import Any, cast

import numpy as np

from autograph.errors import IntegerOverflow, StagingError
from autograph.graph.types import Array, Const, Host, Py, Ref, Scalar, TupleT, Type, join
from autograph.operators.tracer import Trace

_FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    type,
    np.ufunc,
    functools.partial,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
)
_KINDS = "biufc"


class Spec:
    """The type of a value that is not at hand; see `autograph.spec`."""

    def __init__(self, type_: Type) -> None:
        self.type = type_

    def __repr__(self) -> str:
        return f"spec({self.type!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.type == other.type

    def __hash__(self) -> int:
        return hash(self.type)


def is_static(value: Any) -> bool:
    """Values that are constants of a graph: None, strings, functions, classes, modules, enum members, ..."""
    if value is None or value is Ellipsis or value is NotImplemented:
        return True
    if isinstance(value, (str, bytes, enum.Enum, np.dtype, slice, range, frozenset)):
        return True
    return isinstance(value, _FUNCTIONS) or hasattr(value, "python_function")


def is_user_object(value: Any) -> bool:
    """An instance of a class written in Python whose fields a graph may read."""
    cls = type(value)
    return is_user_class(cls)


def is_user_class(cls: type) -> bool:
    if not isinstance(cls, type) or cls.__flags__ & (1 << 9) == 0:  # not a heap type
        return False
    if issubclass(
        cls, (tuple, list, dict, set, int, float, complex, str, bytes, BaseException, enum.Enum, np.ndarray)
    ):
        return False
    if cls.__new__ is not object.__new__ or cls.__getattribute__ is not object.__getattribute__:
        return False
    return is_user_module(cls.__module__)


@functools.lru_cache(maxsize=4096)
def is_user_module(name: str | None) -> bool:
    """Modules whose code is converted: not the standard library, not installed packages, not this library."""
    import sys

    if name is None:  # made by exec in a namespace without __name__
        return True
    top = name.partition(".")[0]
    if top == "__main__":
        return True
    if top in sys.stdlib_module_names or top in ("numpy", "scipy", "autograph"):
        return False
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) or ""
    return "site-packages" not in file and "dist-packages" not in file


def fields_of(value: Any) -> dict[str, Any]:
    """The instance attributes of a user's object, slots included."""
    found: dict[str, Any] = {}
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    found.update(getattr(value, "__dict__", {}))
    return found


def signature(value: Any, memo: dict[int, int] | None = None) -> Hashable:
    """What a trace depends on: classes, dtypes, shapes, structure, aliasing of mutable parts, constants."""
    cls = type(value)
    if cls is int and not -(2**63) <= value < 2**63:
        return ("int", "of more than 64 bits")  # a trace refuses it
    if cls in (bool, int, float, complex):
        return cast(Hashable, cls)
    if isinstance(value, np.generic):
        return ("scalar", value.dtype) if value.dtype.char not in _TWINS else ("twin", value.dtype.char)
    if cls is np.ndarray:
        if value.dtype.char in _TWINS:
            return ("twin", value.dtype.char)  # equal to another dtype, but a trace refuses it
        return ("array", value.dtype, value.shape)
    if cls is Spec:
        return ("spec", value)
    if cls is slice:
        return ("slice", *((type(v), v) for v in (value.start, value.stop, value.step)))
    if is_static(value):
        return ("static", value if _hashable(value) else id(value))
    if memo is None:
        memo = {}
    if cls is tuple or (isinstance(value, tuple) and hasattr(cls, "_fields")):
        return ("tuple", cls, tuple(signature(v, memo) for v in value))
    if id(value) in memo:
        return ("same", memo[id(value)])
    memo[id(value)] = len(memo)
    if cls is list:
        parts = [signature(v, memo) for v in value]
        if parts and all(p == parts[0] for p in parts) and _plain(parts[0]):
            return ("list", parts[0])
        return ("list", tuple(parts))
    if cls is dict:
        return ("dict", tuple((k if _hashable(k) else id(k), signature(v, memo)) for k, v in value.items()))
    if cls is set:
        return ("set", frozenset(signature(v, memo) for v in value))
    if is_user_object(value):
        return ("object", cls, tuple((k, signature(v, memo)) for k, v in fields_of(value).items()))
    return ("host", cls, id(value))


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _plain(part: Hashable) -> bool:
    return isinstance(part, type) or (isinstance(part, tuple) and part[0] in ("scalar", "array"))


def abstract(trace: Trace, value: Any, path: Hashable, memo: dict[int, Type]) -> Type:
    """The type of a live value; containers and objects become sites named by their path."""
    cls = type(value)
    if cls is int and not -(2**63) <= value < 2**63:
        raise IntegerOverflow(
            f"the integer {_digits(value)} does not fit in 64 bits",
            why="Python integers are 64 bits wide in a graph.",
            instead="Pass a float or np.uint64, or run the function in eager mode.",
        )
    if cls in (bool, int, float, complex):
        return Py(cls)
    if isinstance(value, np.generic):
        _check_dtype(value.dtype)
        return Scalar(value.dtype)
    if cls is np.ndarray:
        _check_dtype(value.dtype)
        return Array(value.dtype, value.shape)
    if isinstance(value, np.ndarray):
        raise StagingError(
            f"a value is a {cls.__name__}, a subclass of numpy.ndarray",
            why="Its operators may differ from those of an array, and a graph knows those of numpy.ndarray "
            "only.",
            instead="Pass np.asarray(value).",
        )
    if isinstance(value, Spec):
        return value.type
    if is_static(value):
        return Const(value)
    if isinstance(value, tuple) and (cls is tuple or hasattr(cls, "_fields")):
        return TupleT(tuple(_part(trace, v, (path, i), memo, f"[{i}]") for i, v in enumerate(value)), cls)
    if id(value) in memo:
        return memo[id(value)]
    if cls in (list, dict, set) or is_user_object(value):
        return _abstract_reference(trace, value, path, memo)
    return Host(cls)  # an object that only the host understands: its methods run there


def _digits(value: int) -> str:
    return str(value) if abs(value) < 10**40 else f"of {value.bit_length()} bits"


_TWINS = frozenset(c for c in "bBhHiIlLqQ" if np.dtype(c).type is not np.dtype(np.dtype(c).str).type)
"""Integer dtypes that equal others, but have numbers of another class: often `np.longlong`."""


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.char in _TWINS:
        raise StagingError(
            f"a value has the dtype np.{dtype.type.__name__}",
            why="It equals the dtype of np." + np.dtype(dtype.str).type.__name__ + ", but its numbers have "
            "another class, which a graph does not tell apart.",
            instead=f"Convert it: x.astype(np.{np.dtype(dtype.str).type.__name__}).",
        )
    if not dtype.isnative:
        raise StagingError(
            f"a value has the dtype {dtype!r}, whose bytes are in foreign order",
            why="A graph computes with numbers in the machine's own byte order.",
            instead="Convert it: x.astype(x.dtype.newbyteorder('=')).",
        )
    if dtype.kind not in _KINDS or dtype.itemsize > 16 or dtype.fields is not None:
        raise StagingError(
            f"a value has the dtype {dtype}",
            why="A graph holds booleans, integers, floats and complex numbers.",
            instead="Convert it to a numeric dtype, or pass its fields as arrays of their own.",
        )


def _abstract_reference(trace: Trace, value: Any, path: Hashable, memo: dict[int, Type]) -> Type:
    cls = type(value)
    kind = cls.__name__ if cls in (list, dict, set) else "object"
    site = trace.decisions.site(("live", path), kind, cls)
    t = memo[id(value)] = Ref(site)
    trace.external[id(value)] = t
    trace.keep_alive.append(value)
    if trace.decisions.host_called:
        site.unfix()
        site.closed = site.closed and kind != "dict"
    if kind == "list":
        items = tuple(
            _part(trace, v, (path, "*" if _uniform(value) else i), memo, f"[{i}]")
            for i, v in enumerate(value)
        )
        if _uniform(value):
            site.unfix()
            site.widen(join(*items))
        elif site.fixed is None and not site.varies:
            site.fixed = items
        elif site.fixed is not None and len(site.fixed) == len(items):
            for i, item in enumerate(items):
                site.widen_position(i, item)
        else:
            site.unfix()
            site.widen(join(*items))
    elif kind == "set":
        site.widen(join(*(abstract(trace, v, (path, "*"), memo) for v in value)))
    elif kind == "dict":
        for k, v in value.items():
            site.widen_field(k, _part(trace, v, (path, k), memo, f"[{k!r}]"))
    else:
        for k, v in fields_of(value).items():
            site.widen_field(k, _part(trace, v, (path, k), memo, f".{k}"))
    return t


def _part(trace: Trace, value: Any, path: Hashable, memo: dict[int, Type], inside: str) -> Type:
    """The type of a part of a value; an error tells the way to it."""
    try:
        return abstract(trace, value, path, memo)
    except StagingError as error:
        error.inside = inside + error.inside
        raise


def _uniform(value: list[Any]) -> bool:
    parts = [signature(v) for v in value]
    return bool(parts) and all(p == parts[0] for p in parts) and _plain(parts[0])


def external_type(trace: Trace, value: Any, reference: Any) -> Type:
    """The type of a live value reached by name; the same object has the same site however it is reached."""
    if id(value) in trace.external:
        return trace.external[id(value)]
    memo = dict(trace.external)
    return abstract(trace, value, reference.key, memo)
