"""Methods and attributes of arrays, NumPy scalars, and Python's numbers and strings.

`METHODS` and `ATTRIBUTES` answer for arrays and NumPy scalars, `python_method` for immutable Python objects.
The first argument of each op is the object; a kernel calls the real method on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    IterT,
    Py,
    Scalar,
    SeqT,
    TupleT,
    Type,
    generalize,
    join,
)
from autograph.ops import base, linalg, selecting  # noqa: F401 - methods share the rules of functions
from autograph.ops.base import (
    BY_FUNCTION,
    Op,
    Refuse,
    Rule,
    define,
    result_type,
    sample,
    shape_of,
    static,
    type_of,
)
from autograph.ops.creation import dtype_of
from autograph.ops.reductions import reduce_shape, same_or_flat
from autograph.ops.rules import Static, probed, quietly, typed
from autograph.ops.shaping import axes_of, dtype_in, list_of, reshaped, size_of, transposed

__all__ = ["ATTRIBUTES", "METHODS", "python_method"]

METHODS: dict[str, Op] = {}
ATTRIBUTES: dict[str, Op] = {}


def caller(name: str) -> Callable[..., Any]:
    """A function that calls the method `name` of its first argument."""

    def call(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


def getter(name: str) -> Callable[[Any], Any]:
    def get(x: Any, /) -> Any:
        return getattr(x, name)

    get.__name__ = get.__qualname__ = name
    return get


def method(name: str, rule: Rule, *traits: str, out: int | None = None) -> None:
    METHODS[name] = define(f"ndarray.{name}", caller(name), rule, *traits, out=out)


def probed_method(name: str, signature: str, shape: Any, *, static_names: tuple[str, ...] = ()) -> Rule:
    return probed(
        caller(name),
        shape,
        signature=f"a, /, {signature}" if signature else "a, /",
        static_names=static_names,
    )


def _function(fn: Any) -> Rule:
    """The rule of a method that does for arrays what a function does."""
    return BY_FUNCTION[fn].rule


def _array_only(rule: Rule, name: str) -> Rule:
    """The rule of a function for arrays; for scalars the method itself is tried."""

    def either(x: Any, /, *args: Any, **kwargs: Any) -> Type:
        if isinstance(x, Array):
            return rule(x, *args, **kwargs)
        fixed = [static(a, "an argument") for a in args]
        value = quietly(
            caller(name), sample(x), *fixed, **{k: static(v, f"'{k}'") for k, v in kwargs.items()}
        )
        if isinstance(value, Exception):
            return BOTTOM
        return result_type(value, np.shape(value) if isinstance(value, np.ndarray) else ())

    return either


# -- reductions ------------------------------------------------------------------------------------

_WHERE = "keepdims=False, initial=NoValue, where=True"
for _name, _text, _out in (
    ("sum", f"axis=None, dtype=None, out=None, {_WHERE}", 3),
    ("prod", f"axis=None, dtype=None, out=None, {_WHERE}", 3),
    ("max", f"axis=None, out=None, {_WHERE}", 2),
    ("min", f"axis=None, out=None, {_WHERE}", 2),
    ("any", "axis=None, out=None, keepdims=False, *, where=True", 2),
    ("all", "axis=None, out=None, keepdims=False, *, where=True", 2),
    ("mean", "axis=None, dtype=None, out=None, keepdims=False, *, where=True", 3),
    ("std", "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=NoValue", 3),
    ("var", "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=NoValue", 3),
    ("argmax", "axis=None, out=None, *, keepdims=False", 2),
    ("argmin", "axis=None, out=None, *, keepdims=False", 2),
):
    method(_name, probed_method(_name, _text, reduce_shape), out=_out)
for _name in ("cumsum", "cumprod"):
    method(_name, probed_method(_name, "axis=None, dtype=None, out=None", same_or_flat), out=3)


# -- shape -----------------------------------------------------------------------------------------


def _spread(args: tuple[Any, ...]) -> Any:
    """`x.reshape(2, 3)` is `x.reshape((2, 3))`."""
    return args[0] if len(args) == 1 else args


def _reshape_method(x: Type, /, *shape: Any, order: Static = "C", copy: Static = None) -> Type:
    if not shape:
        return BOTTOM
    target = _spread(shape)
    array = x if isinstance(x, Array) else Array(dtype_in(x), ())
    if type_of(target) == Const(None):
        return Array(array.dtype, array.shape)
    result = reshaped(array.dtype, array.shape, target)
    if isinstance(x, Array) or result is BOTTOM:
        return result
    return join(result, Scalar(array.dtype)) if shape_of(result) in ((), None) else result


def _transpose_method(x: Type, /, *axes: Static) -> Type:
    order = tuple(static(a, "the axes") for a in axes)
    if not isinstance(x, Array):
        return x
    if not order or order == (None,):
        return transposed(x, None)
    return transposed(x, _spread(order))


def _flatten(x: Type, /, order: Static = "C") -> Type:
    return Array(dtype_in(x), (size_of(shape_of(x)),))


def _copy_method(x: Type, /, order: Static = "C") -> Type:
    return x


def _astype(
    x: Type,
    /,
    dtype: Static,
    order: Static = "K",
    casting: Static = "unsafe",
    subok: Static = True,
    copy: Static = True,
) -> Type:
    if dtype_of(dtype) is BOTTOM:
        return BOTTOM
    value = quietly(caller("astype"), sample(x), dtype, order, casting)
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape_of(x))


def _view(x: Type, /, dtype: Static = None, type: Static = None) -> Type:
    if type is not None or (isinstance(dtype, builtin_type) and issubclass(dtype, np.ndarray)):
        raise Refuse("'view' with a class of arrays")
    if dtype is None:
        return x
    new = dtype_of(dtype)
    if isinstance(new, Type):
        return BOTTOM
    if not isinstance(x, Array):
        value = quietly(caller("view"), sample(x), new)
        return BOTTOM if isinstance(value, Exception) else result_type(value)
    old, shape = x.dtype.itemsize, x.shape
    if old == new.itemsize or not shape:
        return Array(new, shape) if old == new.itemsize else BOTTOM
    last = shape[-1]
    if last is None:
        return Array(new, (*shape[:-1], None))
    if last * old % new.itemsize:
        return BOTTOM
    return Array(new, (*shape[:-1], last * old // new.itemsize))


builtin_type = type


def _round_method(x: Type, /, decimals: Any = 0, out: Any = None) -> Type:
    return BY_FUNCTION[np.round].rule(x, decimals, out)


def _clip_method(x: Type, /, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Type:
    return BY_FUNCTION[np.clip].rule(x, min, max, out, **options)


def _choose_method(x: Any, /, *choices: Any, out: Any = None, mode: Any = "raise") -> Type:
    return BY_FUNCTION[np.choose].rule(x, _spread(choices), out=out, mode=mode)


def _compress_method(x: Any, /, condition: Any, axis: Any = None, out: Any = None) -> Type:
    return BY_FUNCTION[np.compress].rule(condition, x, axis=axis, out=out)


def _squeeze_method(x: Any, /, axis: Any = None) -> Type:
    return BY_FUNCTION[np.squeeze].rule(x, axis)


_ARGPARTITION = probed(
    caller("argpartition"),
    same_or_flat,
    signature="a, /, kth, axis=-1, kind='introselect', order=None",
    instead={"kth": 0},
)
for _name, _rule, _traits in (
    ("reshape", typed(_reshape_method), "view"),
    ("transpose", typed(_transpose_method), "view"),
    ("ravel", _function(np.ravel), "view"),
    ("flatten", typed(_flatten), ""),
    ("squeeze", _squeeze_method, "view"),
    ("swapaxes", _array_only(_function(np.swapaxes), "swapaxes"), "view"),
    ("diagonal", _function(np.diagonal), "view"),
    ("trace", _function(np.trace), ""),
    ("repeat", _function(np.repeat), ""),
    ("take", _function(np.take), ""),
    ("nonzero", _function(np.nonzero), ""),
    ("searchsorted", _function(np.searchsorted), ""),
    ("dot", _function(np.dot), ""),
    ("argsort", probed_method("argsort", "axis=-1, kind=None, order=None, *, stable=None", same_or_flat), ""),
    ("argpartition", _ARGPARTITION, ""),
    ("astype", typed(_astype), ""),
    ("copy", typed(_copy_method), ""),
    ("__copy__", typed(_copy_method), ""),
    ("view", typed(_view), "view"),
    ("round", typed(_round_method), ""),
    ("clip", _clip_method, ""),
    ("choose", _choose_method, ""),
    ("compress", _compress_method, ""),
    ("conj", probed_method("conj", "", lambda v: shape_of(v["a"])), "view"),
    ("conjugate", probed_method("conjugate", "", lambda v: shape_of(v["a"])), "view"),
):
    method(_name, _rule, *filter(None, [_traits]))


# -- writing ---------------------------------------------------------------------------------------


def _writes(x: Any, /, *args: Any, **kwargs: Any) -> Type:
    if isinstance(x, Array):
        return Const(None)
    return BOTTOM if isinstance(x, (Const, Py)) else join(Const(None), type_of(x))


def _sort_in_place(
    x: Any, /, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Type:
    if not isinstance(x, Array):
        return Const(None) if quietly(caller("sort"), sample(x)) is None else BOTTOM
    place = type_of(axis)
    if x.shape is not None and isinstance(place, Const) and axes_of(place.value, len(x.shape)) is BOTTOM:
        return BOTTOM  # type: ignore[no-any-return]
    return Const(None)


def _scalar_writes(name: str) -> Rule:
    """Scalars have these methods too, for what they are worth."""

    def rule(x: Any, /, *args: Any, **kwargs: Any) -> Type:
        if not isinstance(x, Array):
            raise Refuse(
                f"'{name}' of a NumPy scalar", "It writes into a copy that nobody sees.", "Use an array."
            )
        return Const(None)

    return rule


for _name in ("fill", "put", "partition"):
    method(_name, _scalar_writes(_name), "writes")
method("sort", _sort_in_place, "writes")


def _byteswap(x: Type, /, inplace: Static = False) -> Type:
    if inplace:
        raise Refuse("'byteswap' in place", "", "Assign its result: x[...] = x.byteswap().")
    return generalize(x)


method("byteswap", typed(_byteswap))


# -- Python values ---------------------------------------------------------------------------------


def _item_type(dtype: np.dtype[Any]) -> Type:
    value = np.ones((), dtype).item()
    return Scalar(value.dtype) if isinstance(value, np.generic) else Py(type(value))


def _item(x: Type, /, *args: Any) -> Type:
    shape = shape_of(x)
    if not args and shape is not None and size_of(shape) not in (1, None):
        return BOTTOM
    return _item_type(dtype_in(x))


def _tolist(x: Any, /) -> Type:
    t = type_of(x)
    if not isinstance(t, Array):
        return _item_type(dtype_in(t))
    if t.shape is None:
        raise Refuse("'tolist' of an array whose number of dimensions is not known", "", "Reshape it first.")
    return _nested_list(_item_type(t.dtype), t.shape, 0)


def _nested_list(item: Type, shape: Any, level: int) -> Type:
    if not shape:
        return item
    inner = _nested_list(item, shape[1:], level + 1)
    length = shape[0] if shape[0] is None or shape[0] <= 64 else None
    return list_of(
        [inner] * (1 if length is None else length), length, f"level {level}" if level else "", level > 0
    )


def _bytes(x: Any, /, *args: Any, **kwargs: Any) -> Type:
    return Py(bytes)


def _refused(name: str, why: str = "", instead: str = "") -> Rule:
    def rule(*args: Any, **kwargs: Any) -> Type:
        raise Refuse(
            f"'{name}' of an array is used",
            why or "It reaches the memory of the array, or a file, past the graph.",
            instead or "Do it outside the function, with the array that the function returns.",
        )

    return rule


method("item", typed(_item))
method("tolist", _tolist, "alloc")
method("tobytes", _bytes)
for _name in (
    "resize",
    "setflags",
    "setfield",
    "getfield",
    "tofile",
    "dump",
    "dumps",
    "newbyteorder",
    "to_device",
):
    method(_name, _refused(_name))


def _of_scalar(name: str) -> Rule:
    """A method that only NumPy scalars have."""

    def rule(x: Any, /, *args: Any) -> Type:
        if isinstance(x, Array):
            return BOTTOM
        value = quietly(caller(name), sample(x), *map(sample, args))
        return (
            BOTTOM
            if isinstance(value, Exception)
            else base.result_type(value)
            if not isinstance(value, tuple)
            else TupleT(tuple(base.result_type(v) for v in value))
        )

    return rule


for _name in ("is_integer", "as_integer_ratio", "bit_count", "hex"):
    method(_name, _of_scalar(_name))


# -- attributes ------------------------------------------------------------------------------------


def shape_type(x: Any) -> Type:
    """The type of `x.shape`.

    >>> shape_type(Array(np.dtype(int), (3, None)))
    (=3, int)
    """
    shape = shape_of(x)
    if shape is None:
        return SeqT(Py(int))
    return TupleT(tuple(Py(int) if d is None else Const(d) for d in shape))


def _int(n: int | None) -> Type:
    return Py(int) if n is None else Const(n)


def _ndim(x: Any, /) -> Type:
    shape = shape_of(x)
    return Py(int) if shape is None else Const(len(shape))


def _size(x: Any, /) -> Type:
    return _int(size_of(shape_of(x)))


def _nbytes(x: Any, /) -> Type:
    size = size_of(shape_of(x))
    return _int(None if size is None else size * dtype_in(x).itemsize)


def _transposed(x: Type, /) -> Type:
    return transposed(x, None) if isinstance(x, Array) else x


def _matrix_transposed(x: Any, /) -> Type:
    if not isinstance(x, Array):
        return BOTTOM
    return BY_FUNCTION[np.matrix_transpose].rule(x)


def _part(name: str) -> Rule:
    def rule(x: Any, /) -> Type:
        if isinstance(x, Array):
            dtype = getattr(np.ones((), x.dtype), name).dtype
            return Array(dtype, x.shape)
        return result_type(getattr(sample(x), name))

    return rule


def _strides(x: Any, /) -> Type:
    shape = shape_of(x)
    return SeqT(Py(int)) if shape is None else TupleT((Py(int),) * len(shape))


def _flat(x: Any, /) -> Type:
    return IterT(Scalar(dtype_in(x)), np.flatiter)


for _name, _rule, _traits in (  # type: ignore[assignment]
    ("shape", shape_type, ""),
    ("ndim", _ndim, ""),
    ("size", _size, ""),
    ("nbytes", _nbytes, ""),
    ("itemsize", lambda x, /: Const(dtype_in(x).itemsize), ""),
    ("dtype", lambda x, /: Const(dtype_in(x)), ""),
    ("T", typed(_transposed), "view"),
    ("mT", _matrix_transposed, "view"),
    ("real", _part("real"), "view"),
    ("imag", _part("imag"), "view"),
    ("strides", _strides, ""),
    ("flat", _flat, "view"),
    ("base", _refused("base"), ""),
    ("data", _refused("data"), ""),
    ("flags", _refused("flags"), ""),
    ("ctypes", _refused("ctypes"), ""),
    ("device", lambda x, /: Const("cpu"), ""),
):
    ATTRIBUTES[_name] = define(f"ndarray.{_name}", getter(_name), _rule, *filter(None, [_traits]))


# -- Python's own classes --------------------------------------------------------------------------

_INT, _FLOAT, _BOOL, _STR, _BYTES = Py(int), Py(float), Py(bool), Py(str), Py(bytes)
_RATIO = TupleT((_INT, _INT))

_TEXT_METHODS: dict[str, Any] = {
    **dict.fromkeys(
        [
            "capitalize",
            "center",
            "expandtabs",
            "join",
            "ljust",
            "lower",
            "lstrip",
            "replace",
            "rjust",
            "rstrip",
            "strip",
            "swapcase",
            "title",
            "translate",
            "upper",
            "zfill",
            "removeprefix",
            "removesuffix",
        ],
        "same",
    ),
    **dict.fromkeys(["count", "find", "index", "rfind", "rindex"], _INT),
    **dict.fromkeys(
        [
            "isalnum",
            "isalpha",
            "isascii",
            "isdigit",
            "islower",
            "isspace",
            "istitle",
            "isupper",
            "startswith",
            "endswith",
        ],
        _BOOL,
    ),
    **dict.fromkeys(("partition", "rpartition"), "three"),
    **dict.fromkeys(("split", "rsplit", "splitlines"), "list"),
}
_INT_METHODS: dict[str, Any] = {
    "bit_length": _INT,
    "bit_count": _INT,
    "conjugate": _INT,
    "as_integer_ratio": _RATIO,
    "to_bytes": _BYTES,
    "is_integer": _BOOL,
}
_PYTHON_METHODS: dict[type, dict[str, Any]] = {
    int: _INT_METHODS,
    bool: _INT_METHODS,
    float: {"is_integer": _BOOL, "as_integer_ratio": _RATIO, "hex": _STR, "conjugate": _FLOAT},
    complex: {"conjugate": Py(complex)},
    str: {
        **_TEXT_METHODS,
        **dict.fromkeys(["casefold", "format", "format_map"], "same"),
        **dict.fromkeys(["isdecimal", "isidentifier", "isnumeric", "isprintable"], _BOOL),
        "encode": _BYTES,
    },
    bytes: {**_TEXT_METHODS, "decode": _STR, "hex": _STR},
    slice: {"indices": TupleT((_INT,) * 3)},
    range: {"count": _INT, "index": _INT},
}
_PYTHON_ATTRIBUTES: dict[type, dict[str, Type]] = {
    **{cls: dict.fromkeys(("real", "imag", "numerator", "denominator"), _INT) for cls in (int, bool)},
    float: dict.fromkeys(("real", "imag"), _FLOAT),
    complex: dict.fromkeys(("real", "imag"), _FLOAT),
    **{cls: dict.fromkeys(("start", "stop", "step"), _INT) for cls in (range,)},
}


@functools.cache
def python_method(cls: type, name: str) -> Op | None:
    """The op for a method or an attribute of the immutable class `cls`; None if there is none.

    Whether it is an attribute shows in the trait `attribute`.

    >>> python_method(float, "is_integer"), python_method(int, "real").traits, python_method(int, "nothing")
    (<op float.is_integer>, frozenset({'attribute'}), None)
    """
    attribute = _PYTHON_ATTRIBUTES.get(cls, {}).get(name)
    if attribute is not None:
        return define(f"{cls.__name__}.{name}", getter(name), _always(attribute), "attribute")
    result = _PYTHON_METHODS.get(cls, {}).get(name)
    if result is None or not hasattr(cls, name):
        return None
    if result == "same":
        result = Py(cls)
    elif result == "three":
        result = TupleT((Py(cls),) * 3)
    if result == "list":
        return define(f"{cls.__name__}.{name}", caller(name), _list_rule(Py(cls)), "alloc")
    return define(f"{cls.__name__}.{name}", caller(name), _always(result))


def _always(t: Type) -> Rule:
    def rule(*args: Any, **kwargs: Any) -> Type:
        return t

    return rule


def _list_rule(item: Type) -> Rule:
    def rule(*args: Any, **kwargs: Any) -> Type:
        return list_of([item], None)

    return rule
