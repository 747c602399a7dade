"""What is known of ops beyond types: which calls surely raise nothing, and which are equal to less.

The passes ask here, so that none of them knows an op by its name. What is not in a table may raise, and is
equal to nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autograph.graph.graph import Tensor
from autograph.graph.tree import map_tree
from autograph.graph.types import Array, Const, Py, Ref, Scalar, SeqT, TupleT, Type
from autograph.ops import arithmetic, containers, core, methods
from autograph.ops.base import BY_FUNCTION, OPS, Op, broadcast, type_of
from autograph.ops.ufuncs import UFUNCS

__all__ = [
    "CHEAP",
    "IDENTITIES",
    "NOTHING",
    "OUT_OF_PLACE",
    "READS",
    "RESHAPES",
    "SEES_IDENTITY",
    "STORED_READS",
    "TRANSPOSES",
    "composed_slices",
    "is_bounded",
    "is_view",
    "never_raises",
    "simpler",
]

HARMLESS: dict[Op, Callable[..., bool]] = {}
"""Of an op: whether it raises nothing, in Python, for operands of these types."""

BOUNDED: set[Op] = set()
"""Ops whose integers are sure to have 64 bits, whatever their operands."""

READS = frozenset({core.CELL_GET, core.CELL_PEEK})
"""Ops with an effect that only read."""

STORED_READS = frozenset({*READS, containers.GET_ITEM, containers.LEN})
"""Ops that read from a list or cell what was put there, and do nothing else."""

OUT_OF_PLACE = {op: arithmetic.BINARY[symbol] for symbol, op in arithmetic.INPLACE.items()}
"""Ops that write their first operand, where it can be written: the op that does the same otherwise."""

SEES_IDENTITY = frozenset({core.IS, OPS["np.shares_memory"], OPS["np.may_share_memory"]})
"""Ops that tell an object from an equal one."""

RESHAPES = frozenset({OPS["np.reshape"], OPS["np.ravel"], OPS["ndarray.reshape"], OPS["ndarray.ravel"]})
"""Ops that put the elements of one array, in their order, into another shape."""

TRANSPOSES = frozenset({methods.ATTRIBUTES["T"]})
"""Ops that turn the axes of one array around: twice is not at all."""


CHEAP = frozenset(
    {
        *(op for symbol, op in arithmetic.BINARY.items() if symbol not in ("**", "@", "//", "%")),
        *arithmetic.COMPARE.values(),
        *arithmetic.UNARY.values(),
        core.ABS,
        OPS["np.where"],
        *(OPS[f"np.{name}"] for name in ("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like")),
        *(OPS[f"np.{name}"] for name in ("add", "subtract", "multiply", "divide", "negative", "absolute")),
        *(
            OPS[f"np.{name}"]
            for name in ("square", "maximum", "minimum", "sqrt", "logical_and", "logical_or")
        ),
    }
)
"""Ops of arrays that cost no more, in a loop over the elements, than to read what they gave before."""


def composed_slices(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The operands of one slice of an array that gives what a slice of a slice does, where they are known.

    >>> x = Tensor(Array(np.dtype(float), (9,)), None)
    >>> composed_slices((x, slice(1, -1)), (x, slice(1, None, 2)))[1]
    slice(2, 8, 2)
    """
    x, first = inner
    second = outer[1]
    dim = x._ag_type.shape[0] if isinstance(x._ag_type, Array) and x._ag_type.shape else None
    if dim is None or not (_is_constant_slice(first) and _is_constant_slice(second)):
        return None
    left = range(dim)[first][second]
    return (x, slice(left.start, left.stop, left.step)) if left.step > 0 and left else None


def _is_constant_slice(index: Any) -> bool:
    return type(index) is slice and all(
        part is None or type(part) is int for part in (index.start, index.stop, index.step)
    )


def is_view(op: Op, args: tuple[Any, ...]) -> bool:
    """Whether what a call gives is sure to share the memory of its first operand, not a copy.

    >>> x = Tensor(Array(np.dtype(float), (3,)), None)
    >>> is_view(containers.GET_ITEM, (x, slice(1, None))), is_view(containers.GET_ITEM, (x, [0, 1]))
    (True, False)
    """
    if op in TRANSPOSES:
        return True
    if op is not containers.GET_ITEM or not isinstance(args[0], Tensor):
        return False
    parts = args[1] if type(args[1]) is tuple else (args[1],)
    return isinstance(args[0]._ag_type, Array) and all(
        p is None or p is ... or isinstance(p, slice) or _class(type_of(_abstract(p))) is int for p in parts
    )


def never_raises(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call raises nothing in Python; a graph may still refuse an integer of more than 64 bits.

    >>> x = Tensor(Py(float), None)
    >>> [never_raises(arithmetic.BINARY[s], (x, 2.0), {}) for s in ("+", "/", "**")]
    [True, True, False]
    >>> never_raises(arithmetic.BINARY["/"], (2.0, x), {})
    False
    """
    rule = HARMLESS.get(op)
    if rule is None:
        return False
    try:
        return rule(*[_abstract(a) for a in args], **{k: _abstract(v) for k, v in kwargs.items()})
    except TypeError:  # not the arguments that the table speaks of
        return False


def is_bounded(op: Op, result: Type) -> bool:
    """Whether what an op gives, if Python raises nothing, cannot be an integer of more than 64 bits."""
    return (
        op in BOUNDED
        or isinstance(result, (Scalar, Array))
        or (isinstance(result, Py) and result.cls is not int)
    )


def _abstract(tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return tree._ag_type
    if isinstance(tree, (tuple, list, slice)):
        return map_tree(lambda leaf: leaf._ag_type if isinstance(leaf, Tensor) else leaf, tree)
    return tree


# -- numbers -------------------------------------------------------------------------------------------------

PYTHON = (bool, int, float, complex)


def _any_class(t: Type) -> type | None:
    """The class of an immutable Python object."""
    return t.cls if isinstance(t, Py) else type(t.value) if isinstance(t, Const) else None


def _class(t: Type) -> type | None:
    """The class of a Python number."""
    cls = _any_class(t)
    return cls if cls in PYTHON else None


def _dtype(t: Type) -> np.dtype[Any] | None:
    """The dtype of a NumPy scalar or array of numbers."""
    if isinstance(t, (Scalar, Array)):
        return t.dtype if t.dtype.kind in "biufc" else None
    return t.value.dtype if isinstance(t, Const) and isinstance(t.value, (np.number, np.bool_)) else None


def _numbers(*values: Any) -> bool:
    """Numbers, and arrays whose shapes surely fit, that can be computed with each other."""
    types = [type_of(v) for v in values]
    dtypes = [d for t in types if (d := _dtype(t)) is not None]
    ints = []
    for t in types:
        if _dtype(t) is None:
            cls = _class(t)
            if cls is None:
                return False
            if cls is int:
                ints.append(t)
    if ints and any(not _takes(d, t) for d in dtypes for t in ints):
        return False
    arrays = [t for t in types if isinstance(t, Array)]
    if len([a for a in arrays if a.shape != ()]) > 1:
        return all(_is_known(a) for a in arrays) and not isinstance(
            broadcast(*(a.shape for a in arrays)), Type
        )
    return True


def _takes(dtype: np.dtype[Any], t: Type) -> bool:
    """Whether NumPy takes a Python integer beside this dtype, whatever its value is."""
    if dtype.kind in "fcb" or dtype == np.int64:
        return True
    info = np.iinfo(dtype)
    return isinstance(t, Const) and info.min <= t.value <= info.max


def _is_known(a: Array) -> bool:
    return a.shape is not None and None not in a.shape


def _shaped(x: Any) -> bool:
    """An array of numbers whose shape is known."""
    return isinstance(x, Array) and _dtype(x) is not None and _is_known(x)


def _by_nonzero(a: Any, b: Any) -> bool:
    """The operands of a division that does not divide by zero, or does so in NumPy's way."""
    s, t = type_of(a), type_of(b)
    if not _numbers(s, t):
        return False
    if _dtype(s) is not None or _dtype(t) is not None:
        return True
    return isinstance(t, Const) and t.value != 0 and complex not in (_class(s), _class(t))


def _power(a: Any, b: Any) -> bool:
    s, t = type_of(a), type_of(b)
    dtype, exponent = _dtype(s), _dtype(t)
    if dtype is None or dtype.kind not in "fc" or not _numbers(s, t):
        return False
    return exponent is None or exponent.kind in "fc"


def _real(*values: Any) -> bool:
    kinds = [_dtype(type_of(v)) for v in values]
    return _numbers(*values) and all(
        _class(type_of(v)) is not complex if d is None else d.kind != "c" for v, d in zip(values, kinds)
    )


def _whole(*values: Any) -> bool:
    """Integers and truth values."""
    kinds = [_dtype(type_of(v)) for v in values]
    return _numbers(*values) and all(
        _class(type_of(v)) in (int, bool) if d is None else d.kind in "biu" for v, d in zip(values, kinds)
    )


def _comparable(a: Any, b: Any) -> bool:
    plain = (str, bytes, type(None), *PYTHON)
    classes = [
        t.cls if isinstance(t, Py) else type(t.value) if isinstance(t, Const) else None
        for t in map(type_of, (a, b))
    ]
    return _numbers(a, b) or all(cls in plain for cls in classes)


def _one(x: Any) -> bool:
    """A number that is no array, or a text."""
    t = type_of(x)
    return _class(t) is not None or (_dtype(t) is not None and not isinstance(t, Array)) or _is_text(t)


def _is_text(t: Type) -> bool:
    return _any_class(t) in (str, bytes)


def _python(*classes: type) -> Callable[..., bool]:
    """Whether the only operand is a Python number of these classes."""

    def rule(x: Any) -> bool:
        return _class(type_of(x)) in classes

    return rule


def _to_float(x: Any) -> bool:
    t = type_of(x)
    dtype = _dtype(t)
    return _class(t) in (bool, int, float) or (
        dtype is not None and dtype.kind in "biuf" and isinstance(t, Scalar)
    )


def _to_int(x: Any) -> bool:
    t = type_of(x)
    dtype = _dtype(t)
    return _class(t) in (bool, int) or (dtype is not None and dtype.kind in "bi" and isinstance(t, Scalar))


def _some(*values: Any) -> bool:
    """The least or greatest of several numbers."""
    return len(values) > 1 and _real(*values) and not any(isinstance(type_of(v), Array) for v in values)


def _add(rule: Callable[..., bool], ops: Iterable[Op | None], bounded: bool = False) -> None:
    for op in ops:
        if op is not None:
            HARMLESS[op] = rule
            if bounded:
                BOUNDED.add(op)


_add(_numbers, (arithmetic.BINARY[s] for s in "+-*"))
_add(_by_nonzero, (arithmetic.BINARY[s] for s in ("/", "//", "%")))
_add(_power, [arithmetic.BINARY["**"]])
_add(_whole, (arithmetic.BINARY[s] for s in "&|^"))
_add(_real, (arithmetic.COMPARE[s] for s in ("<", "<=", ">", ">=")))
_add(_comparable, (arithmetic.COMPARE[s] for s in ("==", "!=")))
_add(_numbers, (arithmetic.UNARY[s] for s in "+-"))
_add(_whole, [arithmetic.UNARY["~"]])
_add(_real, [core.ABS])
_add(_one, (core.BOOLEAN, core.NOT), bounded=True)
_add(_to_int, [core.TO_INT])
_add(_to_float, [core.TO_FLOAT])
_add(_python(bool, int), [core.INDEX])
_add(_python(*PYTHON), [core.TO_COMPLEX])
_add(_some, (OPS["min"], OPS["max"]))


def _in_place(rule: Callable[..., bool]) -> Callable[..., bool]:
    """What holds of an operator where its first operand is nothing that can be written."""
    return lambda a, b: not isinstance(a, Array) and rule(a, b)


for _inplace, _plain in OUT_OF_PLACE.items():
    if _plain in HARMLESS:
        HARMLESS[_inplace] = _in_place(HARMLESS[_plain])

PARTIAL = ("power", "ldexp", "left_shift", "right_shift", "gcd", "lcm")


def _ufunc(ufunc: np.ufunc) -> Callable[..., bool]:
    def rule(*values: Any) -> bool:
        return len(values) == ufunc.nin and _numbers(*values)

    return rule


for _name, _function in UFUNCS.items():
    if _function.nout == 1 and _name not in PARTIAL:
        HARMLESS[BY_FUNCTION[_function]] = _ufunc(_function)

_add(
    _python(float),
    (
        BY_FUNCTION.get(f)
        for f in (
            math.fabs,
            math.isnan,
            math.isinf,
            math.isfinite,
            math.atan,
            math.tanh,
            math.asinh,
            math.erf,
        )
    ),
)


# -- arrays and containers -----------------------------------------------------------------------------------


def _array(x: Any) -> bool:
    return isinstance(x, Array)


def _array_or_scalar(x: Any) -> bool:
    return isinstance(x, (Array, Scalar))


def _length(x: Any) -> bool:
    if isinstance(x, Array):
        return x.shape is not None and len(x.shape) > 0
    if isinstance(x, Ref):
        return x.cls in (list, dict, set)
    return isinstance(x, (TupleT, SeqT, tuple)) or _is_text(type_of(x)) or x == Py(range)


def _python_ints(*values: Any) -> bool:
    return all(_class(type_of(v)) is int for v in values)


def _range(*values: Any) -> bool:
    step = values[2] if len(values) == 3 else 1
    step = step.value if isinstance(step, Const) else step
    return _python_ints(*values) and type(step) is int and step != 0


def _get_item(x: Any, index: Any) -> bool:
    """Slices of an array, positions that it surely has, and items of a tuple."""
    if isinstance(x, TupleT) or type(x) is tuple:
        length = len(x.items) if isinstance(x, TupleT) else len(x)
        value = index.value if isinstance(index, Const) else index
        return type(value) is int and -length <= value < length
    if not isinstance(x, Array) or x.shape is None:
        return False
    parts = index if type(index) is tuple else (index,)
    spare = len(x.shape) - sum(p is not None and p is not ... for p in parts)
    if spare < 0 or sum(p is ... for p in parts) > 1:
        return False
    axis = 0
    for part in parts:
        if part is None:
            continue
        if part is ...:
            axis += spare
            continue
        if not _in_range(part, x.shape[axis]):
            return False
        axis += 1
    return True


def _in_range(part: Any, dim: int | None) -> bool:
    if isinstance(part, slice):
        step = part.step
        bounds = all(b is None or _class(type_of(b)) is int for b in (part.start, part.stop))
        return bounds and (step is None or (type(step) is int and step != 0))
    value = part.value if isinstance(part, Const) else part
    return type(value) is int and dim is not None and -dim <= value < dim


def _made(shape: Any, dtype: Any = float) -> bool:
    """A new array of a known shape."""
    dims = shape if type(shape) is tuple else (shape,)
    known = all(type(d) is int and d >= 0 for d in dims)
    return known and (dtype in (bool, int, float, complex) or isinstance(dtype, (type, np.dtype)))


def _axes(option: Any) -> bool:
    """An axis, some axes, lengths, or None."""
    if type(option) is tuple:
        return all(type(item) is int for item in option)
    return option is None or type(option) is int


def _reduced(x: Any, axis: Any = None, keepdims: Any = False) -> bool:
    """An array of a known shape that has elements, over axes that its type was found with."""
    return _shaped(x) and 0 not in x.shape and _axes(axis) and type(keepdims) is bool


def _reshaped(x: Any, *options: Any) -> bool:
    """An array of a known shape, and lengths or axes that its type was found with."""
    return _shaped(x) and all(map(_axes, options)) and None not in options


def _placed(x: Any, *options: Any) -> bool:
    """The same, with single numbers only."""
    return _shaped(x) and all(type(option) is int for option in options)


def _product(a: Any, b: Any) -> bool:
    return _shaped(a) and _shaped(b)


def _anything(*values: Any, **named: Any) -> bool:
    return True


_add(_length, [containers.LEN], bounded=True)
_add(_range, (containers.RANGE, containers.RANGE_LENGTH), bounded=True)
_add(_python_ints, [containers.RANGE_ITEM], bounded=True)
_add(_get_item, [containers.GET_ITEM], bounded=True)
_add(lambda items: type(items) is tuple, [containers.NEW_LIST])
_add(_anything, [core.MAKE_CELL])
_add(
    _array_or_scalar,
    (methods.ATTRIBUTES[a] for a in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")),
    True,
)
_add(_array, (methods.ATTRIBUTES[a] for a in ("T",)))
_add(
    _shaped,
    (
        methods.METHODS["copy"],
        OPS["np.copy"],
        OPS["np.zeros_like"],
        OPS["np.ones_like"],
        OPS["np.empty_like"],
    ),
)
_add(_made, (OPS["np.zeros"], OPS["np.ones"], OPS["np.empty"]))
_add(lambda c, a, b: _numbers(c, a, b), [OPS["np.where"]])
_add(_product, (arithmetic.BINARY["@"], BY_FUNCTION.get(np.matmul)))
for _name in ("sum", "prod", "mean", "std", "var", "any", "all", "max", "min", "argmax", "argmin"):
    _add(_reduced, (OPS[f"np.{_name}"], OPS[f"ndarray.{_name}"]))
for _name in ("reshape", "transpose"):
    _add(_reshaped, [OPS[f"ndarray.{_name}"]])
    _add(lambda x, axes=(): _reshaped(x, axes), [OPS[f"np.{_name}"]])
for _name in ("swapaxes", "squeeze", "expand_dims", "flip", "diagonal", "diag", "triu", "tril"):
    _add(_placed, [OPS[f"np.{_name}"]])
_add(_shaped, (OPS["np.ravel"], OPS["ndarray.ravel"]))


# -- what is equal to less -----------------------------------------------------------------------------------

NOTHING = object()
"""What `simpler` gives where a call is equal to none of its operands."""

IDENTITIES: dict[Op, Callable[..., Any]] = {}


def simpler(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operand, or constant, that a call is equal to: in value, class and bits; NOTHING where none is.

    >>> n, x = Tensor(Py(int), None, name="n"), Tensor(Py(float), None, name="x")
    >>> simpler(arithmetic.BINARY["+"], (n, 0), {}), simpler(arithmetic.BINARY["*"], (1, x), {})
    (<tensor n: int>, <tensor x: float>)
    >>> simpler(arithmetic.BINARY["+"], (x, 0), {}) is NOTHING  # -0.0 + 0 is 0.0
    True
    """
    rule = IDENTITIES.get(op)
    if rule is None or kwargs:
        return NOTHING
    try:
        return rule(*args)
    except TypeError:  # not the arguments that the table speaks of
        return NOTHING


def _of(x: Any, *classes: type) -> bool:
    """Whether an operand is a tensor of exactly one of these Python classes."""
    return isinstance(x, Tensor) and isinstance(x._ag_type, Py) and x._ag_type.cls in classes


def _floating(x: Any) -> bool:
    return isinstance(x, Tensor) and isinstance(x._ag_type, Scalar) and x._ag_type.dtype == np.float64


def _is(x: Any, value: int | float) -> bool:
    """Whether an operand is this number; of floats also in its sign."""
    return type(x) in (int, float) and x == value and math.copysign(1, x) == math.copysign(1, value)


def _plus(a: Any, b: Any) -> Any:
    if _of(a, int) and type(b) is int and b == 0:
        return a
    if _of(b, int) and type(a) is int and a == 0:
        return b
    if _of(a, float) and type(b) is float and _is(b, -0.0):
        return a
    return NOTHING


def _minus(a: Any, b: Any) -> Any:
    if (_of(a, int) and type(b) is int and b == 0) or (_of(a, float) and _is(b, 0.0)):
        return a
    return NOTHING


def _times(a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if (_of(x, int) and type(y) is int and y == 1) or ((_of(x, float) or _floating(x)) and _is(y, 1)):
            return x
    return NOTHING


def _over(a: Any, b: Any) -> Any:
    return a if (_of(a, float) or _floating(a)) and _is(b, 1) else NOTHING


def _over_whole(a: Any, b: Any) -> Any:
    return a if _of(a, int) and type(b) is int and b == 1 else NOTHING


def _to_the(a: Any, b: Any) -> Any:
    return a if (_of(a, int) and type(b) is int and b == 1) or (_of(a, float) and _is(b, 1)) else NOTHING


def _itself(*classes: type) -> Callable[[Any], Any]:
    return lambda x: x if _of(x, *classes) else NOTHING


def _twice(op: Op, *classes: type) -> Callable[[Any], Any]:
    """Twice is not at all."""

    def rule(x: Any) -> Any:
        made = x._ag_op if isinstance(x, Tensor) else None
        if made is not None and made.op is op and _of(made.args[0], *classes):
            return made.args[0]
        return NOTHING

    return rule


def _item(x: Any, index: Any) -> Any:
    """An item of a tuple that was made of known items."""
    made = x._ag_op if isinstance(x, Tensor) else None
    if made is None or made.op is not core.MAKE_TUPLE or type(index) is not int:
        return NOTHING
    items = made.args[0]
    return items[index] if type(items) is tuple and -len(items) <= index < len(items) else NOTHING


def _nth(i: Any, start: Any, step: Any) -> Any:
    return i if _of(i, int) and type(start) is type(step) is int and (start, step) == (0, 1) else NOTHING


IDENTITIES.update(
    {
        arithmetic.BINARY["+"]: _plus,
        arithmetic.BINARY["-"]: _minus,
        arithmetic.BINARY["*"]: _times,
        arithmetic.BINARY["/"]: _over,
        arithmetic.BINARY["//"]: _over_whole,
        arithmetic.BINARY["**"]: _to_the,
        arithmetic.UNARY["+"]: _itself(int, float),
        arithmetic.UNARY["-"]: _twice(arithmetic.UNARY["-"], int, float),
        core.NOT: _twice(core.NOT, bool),
        core.BOOLEAN: _itself(bool),
        core.TO_INT: _itself(int),
        core.INDEX: _itself(int),
        core.TO_FLOAT: _itself(float),
        core.TO_COMPLEX: _itself(complex),
        containers.GET_ITEM: _item,
        core.ITEM: _item,
        containers.RANGE_ITEM: _nth,
    }
)
IDENTITIES.update({op: IDENTITIES[plain] for op, plain in OUT_OF_PLACE.items() if plain in IDENTITIES})
