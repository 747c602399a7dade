"""What an op is, the registry, and how the type of a result is inferred."""

from __future__ import annotations

import itertools
import math
import operator
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from operator import attrgetter
from types import NoneType
from typing import Any

import numpy as np

from autograph.graph.graph import FINDERS
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Dim,
    Host,
    PlainType,
    Py,
    Ref,
    Scalar,
    SeqT,
    Shape,
    Site,
    TupleT,
    Type,
    Union,
    const_key,
    join,
    members,
    typeof_scalar,
)


class NeedConcrete(Exception):
    """A rule needs the value of an argument that is only known when the graph runs."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


class NeedsTrace(Exception):
    """A rule makes an allocation site, which only a trace can do."""


class Refuse(Exception):
    """A rule cannot foretell a type; the trace ends with a StagingError made of these texts."""

    def __init__(self, what: str, why: str = "", instead: str = "") -> None:
        self.what, self.why, self.instead = what, why, instead
        super().__init__(what)


Rule = Callable[..., Type]


class Op:
    """One op: its name, the function that computes it, and the rule for the type of its result.

    `rule` is called like the kernel, with a `Type` in the place of each traced argument (never a
    `Union`, but with the trait `joins`) and plain values elsewhere. It returns BOTTOM where the kernel
    always raises. Traits: `writes` (through its first operand), `view` (the result may share memory with,
    or be, an operand), `host` (runs foreign code), `effect` (visible otherwise), `total` (never raises),
    `joins` (the rule gives for unions the join of what it gives for their members). `out` is the position
    of an output argument, see `effects`. `always` is the type of every result, where there is one.
    `wide` tells of arguments for which the result is sure to be an integer of more than 64 bits: a graph
    does not compute it (it may take Python for ages).
    """

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        rule: Rule,
        traits: frozenset[str] = frozenset(),
        handles: tuple[Any, ...] = (),
        out: int | None = None,
        always: Type | None = None,
        wide: Callable[..., bool] | None = None,
    ) -> None:
        self.name, self.kernel, self.rule, self.traits = name, kernel, rule, traits
        self.handles, self.out, self.always, self.wide = handles, out, always, wide

    def effects(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> frozenset[str]:
        """The traits of one call: with `out` it writes and gives it; without `copy` it may do so."""
        traits = self.traits
        if self.given(args, kwargs) is not None:
            traits = traits | {"writes", "view"}
        return traits if kwargs.get("copy", True) is True else traits | {"view"}

    def given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call is given to write its results to: an array, a tuple of such, or None."""
        given = kwargs.get("out")
        if given is None and self.out is not None and len(args) > self.out:
            several = isinstance(self.kernel, np.ufunc) and self.kernel.nout > 1
            given = args[self.out :] if several else args[self.out]
        return given

    def infer(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Type | None:
        """As the function `infer`; None for a rule that can only tell while a function is traced."""
        try:
            return infer(self, args, kwargs)
        except NeedsTrace:
            return None
        except NeedConcrete as need:
            if (found := for_all_axes(need.what, self, args, kwargs)) is None:
                raise
            return found

    def __repr__(self) -> str:
        return f"<op {self.name}>"


OPS: dict[str, Op] = {}
BY_FUNCTION: dict[Any, Op] = {}
"""The op that answers for a NumPy, math or builtin function."""


FINDERS.append(OPS.get)


def define(
    name: str,
    kernel: Callable[..., Any],
    rule: Rule,
    *traits: str,
    handles: tuple[Any, ...] = (),
    out: int | None = None,
    always: Type | None = None,
    wide: Callable[..., bool] | None = None,
) -> Op:
    """Registers an op; a name is defined once."""
    if name in OPS:
        raise ValueError(f"op {name!r} is defined twice")
    op = Op(name, kernel, rule, frozenset(traits), handles, out, always, wide)
    OPS[name] = op
    for function in handles:
        BY_FUNCTION[function] = op
    return op


def op_of(fn: Any) -> Op | None:
    """The op that answers for a function, if any."""
    try:
        return BY_FUNCTION.get(fn)
    except TypeError:  # not hashable
        return None


def type_of(value: Any) -> Type:
    """The type of an argument of a rule: itself, or the constant's.

    >>> type_of(3), type_of((1, Py(float)))
    (=3, (=1, float))
    """
    if isinstance(value, Type):
        return value
    if isinstance(value, tuple):
        return TupleT(tuple(type_of(v) for v in value), type(value))
    if isinstance(value, np.ndarray):
        return Array(value.dtype, value.shape)
    if isinstance(value, slice) and any(isinstance(v, Type) for v in (value.start, value.stop, value.step)):
        return Py(slice)
    return Const(value)


_INFERRED: dict[Any, Type] = {}
_INFERRED_LIMIT = 4096


def infer(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Type:
    """The result type of `op` for argument trees with types at the traced leaves; unions are taken apart.

    It is kept, where it depends on numbers and arrays only.
    """
    try:
        key = (op, *map(_plain_key, args), *((name, _plain_key(value)) for name, value in kwargs.items()))
    except _NotPlain:
        return _infer(op, args, kwargs)
    result = _INFERRED.get(key)
    if result is None:
        result = _infer(op, args, kwargs)
        if all(isinstance(t, (Array, Scalar, Py)) for t in members(result)):
            if len(_INFERRED) >= _INFERRED_LIMIT:
                _INFERRED.clear()
            _INFERRED[key] = result
    return result


class _NotPlain(Exception):
    """A value whose type may mean something else at another time or place."""


def _plain_key(value: Any) -> Any:
    """What tells arguments apart that are numbers and arrays, or types of these."""
    kind = type(value)
    if kind is Array:
        return kind, value.dtype, value.dtype.num, value.shape
    if kind is Scalar:
        return kind, value.dtype, value.dtype.num
    if kind is Py or (kind is type and issubclass(value, np.generic)):
        return value
    if kind is Const:
        return kind, _plain_key(value.value)
    if kind in (int, float, bool, complex, str, NoneType) or issubclass(kind, np.generic):
        return const_key(value)
    if kind is tuple:
        return tuple([_plain_key(item) for item in value])
    raise _NotPlain


def _infer(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Type:
    unions = [leaf for leaf in leaves((args, kwargs)) if isinstance(leaf, Union)]
    if any(leaf is BOTTOM for leaf in leaves((args, kwargs))):
        return BOTTOM
    if not unions or "joins" in op.traits:
        return type_of(_ruled(op, args, kwargs))
    results: dict[Type, None] = {}  # most combinations give the same few types
    count = 1
    for u in unions:
        count *= len(u.members)
    if count > 4096:
        raise Refuse(
            f"'{op.name}' is given values that may have too many different types",
            "Each combination of their types is a case of its own.",
            "Convert them to one type first: float(x), np.asarray(x).",
        )
    refused: Refuse | None = None
    for choice in itertools.product(*(u.members for u in unions)):
        picks = iter(choice)
        a, k = map_tree(lambda leaf: next(picks) if isinstance(leaf, Union) else leaf, (args, kwargs))  # noqa: B023
        try:
            results[type_of(_ruled(op, a, k))] = None
        except Refuse as error:
            refused = error
    if refused is None:
        return join(*results)
    if all(r == Host() for r in results if r is not BOTTOM):
        raise refused
    # of all the alternatives, one has no known type: what it gives, the run tells
    return join(*results, op.always or Host())


def _ruled(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Type:
    """What the rule says; where it cannot be called so, neither can the function, in words of its own."""
    try:
        return op.rule(*args, **kwargs)
    except TypeError as error:
        if not re.search(_MISFIT, str(error)):
            raise
        return BOTTOM


_MISFIT = (
    r"\(\) (got an unexpected keyword|got multiple values|got some pos|missing \d+ required|takes .* given)"
)


def for_all_axes(what: str, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Type | None:
    """The type of a result for whichever axis (or `keepdims`); None where that is not all that is unknown.

    >>> x = Array(np.dtype(float), (2, 3))
    >>> for_all_axes("'axis'", BY_FUNCTION[np.sum], (x, Py(int)), {})
    float64[?]
    """
    arrays = [t for leaf in leaves((args, kwargs)) for t in _arrays_in(leaf)]
    ranks = [len(t.shape) for t in arrays if t.shape]
    if what == "'n'" and op.name == "np.diff":
        what = "'axis'"  # how often: it changes lengths only
    if what not in ("'axis'", "'axis1'", "'axis2'", "'keepdims'") or not ranks:
        return None
    options: list[list[Any]] = []

    def numbered(leaf: Any) -> Any:
        if leaf == Py(int) or (isinstance(leaf, Scalar) and leaf.dtype.kind in "iu"):
            options.append([Const(i) for i in range(max(ranks) + 1)])
        elif leaf == Py(bool):
            options.append([Const(False), Const(True)])
        return leaf

    map_tree(numbered, (args, kwargs))
    if len(options) not in (1, 2):
        return None
    results: list[Type] = []
    for pick in itertools.product(*options):
        values = iter(pick)

        def chosen(leaf: Any, values: Iterator[Any] = values) -> Any:
            count = len(options)
            numbered(leaf)
            if len(options) == count:
                return leaf
            options.pop()
            return next(values)

        try:
            results.append(infer(op, *map_tree(chosen, (args, kwargs))))
        except (NeedConcrete, Refuse):
            return None
    return join(*results)


def _arrays_in(t: Any) -> list[Array]:
    """The arrays of which a value is made: itself, or the items of a sequence."""
    if not isinstance(t, Type):
        return []
    if isinstance(t, Union):
        return [a for m in t.members for a in _arrays_in(m)]
    if isinstance(t, Array):
        return [t]
    items, _ = sequence(t) if isinstance(t, (TupleT, SeqT, Ref)) else (None, None)
    return [m for item in items or () for m in members(item) if isinstance(m, Array)]


def static(value: Any, what: str) -> Any:
    """The plain value of an argument that a rule must know; NeedConcrete if it is traced."""
    if isinstance(value, Const):
        return value.value
    if isinstance(value, TupleT):
        return tuple(static(v, what) for v in value.items)
    if isinstance(value, Ref) and value.site.fixed is not None:
        value.site.was_read = True
        return [static(v, what) for v in value.site.fixed]
    if isinstance(value, tuple):
        return tuple(static(v, what) for v in value)
    if isinstance(value, Type):
        raise NeedConcrete(what)
    return value


_SAMPLE = {
    bool: True,
    int: 1,
    float: 1.0,
    complex: 1 + 0j,
    str: "a",
    bytes: b"a",
    slice: slice(0, 1),
    range: range(1),
}


class NoSample(Refuse):
    """No representative value exists for a type."""


class Empty(PlainType):
    """Asks `sample` for an array of this type without elements."""

    __slots__ = ("like",)
    parts = attrgetter("like")

    def __init__(self, like: Array) -> None:
        self.like = like


def sample(t: Any) -> Any:
    """A small value of a type: ones, each dimension of length 1."""
    t = type_of(t)
    if isinstance(t, Const):
        return t.value
    if isinstance(t, Py) and t.cls in _SAMPLE:
        return _SAMPLE[t.cls]
    if isinstance(t, Scalar):
        return t.dtype.type(1)
    if isinstance(t, Array) and t.shape is not None:
        return np.ones((1,) * len(t.shape), t.dtype)
    if isinstance(t, Empty):
        return np.ones((0,) * len(t.like.shape or ()), t.like.dtype)
    if isinstance(t, TupleT):
        items = [sample(i) for i in t.items]
        return tuple(items) if t.cls is tuple else t.cls(*items)
    raise NoSample(
        f"a value of type {t!r} is given to a function of arrays and numbers",
        "The dtype and shape of what it gives must be known while the graph is built.",
        "Declare the type where the value comes from: "
        "ag.host_call(function, ..., result=ag.spec(dtype, shape)).",
    )


def result_type(value: Any, shape: Shape = ()) -> Type:
    """The type of a sample result, with `shape` in place of the sample's shape if it is an array."""
    if isinstance(value, (np.ndarray, np.generic)):
        checked_dtype(value.dtype)
    if type(value) is np.ndarray:
        return Array(value.dtype, shape)
    if isinstance(value, tuple):
        return TupleT(tuple(result_type(v, shape) for v in value), type(value))
    t = typeof_scalar(value)
    return Const(value) if t is None else t


def shape_of(t: Any) -> Shape:
    """The shape that NumPy sees: () for scalars."""
    t = type_of(t)
    if isinstance(t, Array):
        return t.shape
    return ()


def broadcast(*shapes: Shape) -> Shape | Type:
    """NumPy's broadcasting over known and unknown dimensions; BOTTOM where the shapes never fit.

    >>> broadcast((3, 1), (4,)), broadcast((None,), (5,)), broadcast((2,), (3,))
    ((3, 4), (5,), never)
    """
    if any(s is None for s in shapes):
        return None
    rank = max((len(s) for s in shapes if s is not None), default=0)
    out: list[int | None] = []
    for axis in range(-rank, 0):
        dims = [s[axis] for s in shapes if s is not None and len(s) >= -axis]
        known = {d for d in dims if d is not None and d != 1}
        if len(known) > 1:
            return BOTTOM
        if known:
            out.append(known.pop())
        else:
            out.append(None if None in dims else 1)
    return tuple(out)


def unknown_rank(scalar: Any) -> Type:
    """The type of a result whose rank is unknown: a scalar, or an array of any rank."""
    value = np.asarray(scalar)
    return join(Scalar(value.dtype), Array(value.dtype, None))


def new_site(kind: str, cls: type, what: str = "") -> Site:
    """The allocation site of the place that is being traced; the operators put the real function here."""
    raise NeedsTrace


_CACHE: dict[Any, Any] = {}


def sample_call(fn: Callable[..., Any], *args: Any) -> Any:
    """`fn` on sample values of the argument types; the exception it raises is returned. Cached."""
    key = (fn, *(_sample_key(a) for a in args))
    if key not in _CACHE:
        with np.errstate(all="ignore"):
            try:
                _CACHE[key] = fn(*(sample(a) for a in args))
            except NoSample:
                raise
            except Exception as error:  # the kernel's own refusal is the answer
                error.__context__ = None  # what is kept must not reach the frames of a trace
                _CACHE[key] = error.with_traceback(None)
    return _CACHE[key]


def _sample_key(a: Any) -> Any:
    t = type_of(a)
    return Array(t.dtype, (1,) * len(t.shape)) if isinstance(t, Array) and t.shape is not None else t


def is_number(t: Any) -> bool:
    """Python and NumPy numbers and arrays (anything that a ufunc takes)."""
    t = type_of(t)
    if isinstance(t, Const):
        return isinstance(t.value, (bool, int, float, complex, np.generic))
    return isinstance(t, (Scalar, Array)) or (isinstance(t, Py) and t.cls in (bool, int, float, complex))


def _index_kinds() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            operator.index(np.True_)  # type: ignore[arg-type]
        except TypeError:
            return "iu"
    return "biu"


INDEX_KINDS = _index_kinds()
"""The kinds of NumPy scalars with `__index__`: a bool had it, deprecated, before NumPy 2.3."""


def has_index(t: Any) -> bool:
    """Whether values of the type may stand for an index or a count (they have `__index__`).

    >>> [has_index(t) for t in (Py(bool), 2, Scalar(np.dtype("u1")), Array(np.dtype(int), ()))]
    [True, True, True, True]
    >>> [has_index(t) for t in (Py(float), Array(np.dtype(bool), ()), Array(np.dtype(int), (1,)))]
    [False, False, False]
    """
    t = type_of(t)
    if isinstance(t, Scalar):
        return t.dtype.kind in INDEX_KINDS
    if isinstance(t, Array):
        return t.dtype.kind in "iu" and t.shape in ((), None)
    if isinstance(t, Const):
        return isinstance(t.value, int) or (
            isinstance(t.value, np.generic) and t.value.dtype.kind in INDEX_KINDS
        )
    return isinstance(t, Py) and t.cls in (int, bool)


def elementwise(fn: Callable[..., Any]) -> Rule:
    """The rule of a broadcasting function of numbers: dtype and kind by samples, shape by broadcasting."""

    def rule(*args: Any) -> Type:
        args = tuple(as_array_argument(a) for a in args)
        results = [_elementwise(fn, pick) for pick in itertools.product(*(members(a) for a in args))]
        return join(*results)

    return rule


def _elementwise(fn: Callable[..., Any], args: tuple[Type, ...]) -> Type:
    shape = broadcast(*(shape_of(a) for a in args))
    if isinstance(shape, Type):
        return BOTTOM
    if shape is None:
        ones = [Array(a.dtype, (1,)) if isinstance(a, Array) and a.shape is None else a for a in args]
        value = sample_call(fn, *ones)
        return BOTTOM if isinstance(value, Exception) else _unknown(value)
    value = sample_call(fn, *args)
    if isinstance(value, Exception) and not isinstance(value, TypeError) and shape:
        value = sample_call(fn, *(Empty(a) if isinstance(a, Array) and a.shape else a for a in args))
    return BOTTOM if isinstance(value, Exception) else result_type(value, shape)


def _unknown(value: Any) -> Type:
    if isinstance(value, tuple):
        return TupleT(tuple(_unknown(v) for v in value))
    return unknown_rank(value) if isinstance(value, np.ndarray) else result_type(value)


def as_array_argument(a: Any) -> Any:
    """Lists, tuples and ranges as NumPy takes them: arrays of the joined dtype and the nested shape."""
    t = type_of(a)
    if isinstance(t, (TupleT, SeqT)) or (isinstance(t, Ref) and t.kind == "list") or t == Py(range):
        return array_like(t)
    return t


class _Inside(threading.local):
    """The lists whose items are being looked at."""

    def __init__(self) -> None:
        self.sites: list[Site] = []


_inside = _Inside()


def array_like(t: Any) -> Type:
    """The type of `np.asarray(t)` (a union: it may be empty); BOTTOM: it always raises.

    >>> array_like((Py(int), 2.5)), array_like(SeqT(Py(int)))
    (float64[2], float64[0]|int64[?])
    """
    t = type_of(t)
    if isinstance(t, Union):
        return join(*(array_like(m) for m in t.members))
    if isinstance(t, Array):
        return t
    items, length = sequence(t)
    if items is None:
        return _scalar_array(t)
    nothing = Array(np.dtype(np.float64), (0,))
    if not items or length == 0:
        return nothing
    site = t.site if isinstance(t, Ref) else None
    if site in _inside.sites:
        raise Refuse(
            "an array is made of a list that may hold itself",
            "Its rank has no bound.",
            "Keep the list and the numbers in variables of their own.",
        )
    if site is not None:
        _inside.sites.append(site)
    try:
        options = [members(array_like(item)) for item in items]
    finally:
        if site is not None:
            _inside.sites.pop()
    if length is None:
        kinds = options[0]
        if len(kinds) > 5:
            raise Refuse(
                "an array is made of a sequence whose items have too many types",
                "The dtype of an array must be known while the graph is built.",
                "Convert the items to one type first: float(item).",
            )
        subsets = [c for n in range(1, len(kinds) + 1) for c in itertools.combinations(kinds, n)]
        return join(nothing, *(_stacked(parts, None) for parts in subsets))
    if math.prod(map(len, options)) > 256:
        raise Refuse(
            "an array is made of a sequence whose items have too many types",
            "The dtype of an array must be known while the graph is built.",
            "Convert the items to one type first: float(item).",
        )
    return join(*(_stacked(parts, length) for parts in itertools.product(*options)))


def _scalar_array(t: Type) -> Type:
    if isinstance(t, (Const, Py)) and isinstance(t.value if isinstance(t, Const) else t.cls(), (str, bytes)):
        raise Refuse(
            "an array of strings is made", "Arrays in a graph hold numbers.", "Keep the strings in a list."
        )
    if not is_number(t):
        raise Refuse(
            f"a value of type {t!r} cannot become an array of numbers",
            "Arrays in a graph hold numbers.",
            "Pass numbers, or a list of numbers.",
        )
    return Array(checked_dtype(np.asarray(sample(t)).dtype), ())


def _stacked(parts: tuple[Type, ...], length: Dim) -> Type:
    """The type of an array of equal parts; Python scalars count as their default dtype here."""
    arrays = [p for p in parts if isinstance(p, Array)]
    dtype = np.result_type(*{p.dtype for p in arrays})
    shapes = {p.shape for p in arrays}
    if None in shapes:
        return Array(dtype, None)
    ranks = {len(s) for s in shapes if s is not None}
    if len(ranks) > 1:
        return Array(dtype, None) if any(0 in s or None in s for s in shapes if s) else BOTTOM
    dims: list[Dim] = []
    for axis in range(ranks.pop()):
        sizes = {s[axis] for s in shapes if s is not None}
        known = sizes - {None}
        if len(known) > 1:
            return BOTTOM
        dims.append(known.pop() if known else None)
    return Array(dtype, (length, *dims))


def checked_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype itself if a graph can hold it, which is to say numbers."""
    if dtype.kind not in "biufc" or not dtype.isnative:
        raise Refuse(
            f"an array of dtype '{dtype}' is made",
            "Arrays in a graph hold numbers.",
            "Use a bool, integer, float or complex dtype.",
        )
    return dtype


def sequence(t: Type) -> tuple[tuple[Type, ...] | None, int | None]:
    """(item types, length) of a tuple or list type, else (None, None). Of unknown length: one item type."""
    if isinstance(t, Const) and isinstance(t.value, (tuple, list, frozenset)):
        return tuple(type_of(v) for v in t.value), len(t.value)
    if isinstance(t, Const) and isinstance(t.value, range):
        return (Py(int),), len(t.value)
    if isinstance(t, Py) and t.cls is range:
        return (Py(int),), None
    if isinstance(t, TupleT):
        return t.items, len(t.items)
    if isinstance(t, SeqT):
        return (t.elem,), None
    if isinstance(t, Ref) and t.kind == "list":
        elem = t.site.read()
        if t.site.fixed is not None:
            return t.site.fixed, len(t.site.fixed)
        return (() if elem is BOTTOM else (elem,)), None
    return None, None
