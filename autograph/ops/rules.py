"""How rules are made: from annotated functions, and by trying the real function on small stand-ins.

`typed` prepares the arguments of a rule by the annotations of its parameters: `Type` is a number or array
(lists and tuples become arrays, every alternative and every rank is tried), `Types` a sequence of those,
`Static` a value that must be known; everything else arrives untouched. `probed` makes the whole rule: the
real function is called with arrays of length-1 dimensions, which gives dtype, kind and the refusals;
`shape` gives the shape. Without a `shape` the function is called several times with arrays of different
small sizes, and a dimension of the result is known only if it always equals the same known dimension.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Dim,
    IterT,
    Py,
    Ref,
    Scalar,
    SeqT,
    Shape,
    TupleT,
    Type,
    Union,
    generalize,
    join,
    members,
)
from autograph.ops.base import (
    BY_FUNCTION,
    OPS,
    NeedConcrete,
    Refuse,
    Rule,
    array_like,
    as_array_argument,
    broadcast,
    checked_dtype,
    define,
    result_type,
    sample,
    sequence,
    shape_of,
    static,
    type_of,
)

__all__ = [
    "RANKS",
    "Static",
    "Types",
    "alternatives",
    "broadcast_rule",
    "into",
    "known",
    "method_signature",
    "numpy_op",
    "probed",
    "quietly",
    "settle",
    "sizes",
    "typed",
]

Static = Any
Types = tuple[Type, ...]

RANKS = (0, 1, 2, 3, 4, 5, 6)
HIGH_RANK = 3
EXACT_SIZE = STAND_IN_SIZE = 4096
_LOCK = threading.RLock()


def quietly(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`fn(*args, **kwargs)` without warnings; the exception it raises is returned.

    >>> quietly(np.log, 0.0), type(quietly(np.log, "a")).__name__
    (np.float64(-inf), 'TypeError')
    """
    with np.errstate(all="ignore"), _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fn(*args, **kwargs)
        except Exception as error:  # the function's own refusal is the answer
            return error


def known(shape: Shape) -> bool:
    """Whether all dimensions are known."""
    return shape is not None and None not in shape


def typed(body: Callable[..., Type]) -> Rule:
    """The rule that prepares arguments as the annotations of `body` say, and calls it for each choice."""

    @functools.wraps(body)
    def rule(*args: Any, **kwargs: Any) -> Type:
        signature, roles, variadic = _roles(body)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:
            return BOTTOM  # the kernel has the same signature
        choices: list[list[Any]] = []
        for name, value in bound.arguments.items():
            role = roles[name]
            if name in variadic and role == "Type":
                choices.append([tuple(pick) for pick in itertools.product(*map(data, value))])
            elif role.startswith("Types"):
                choices.append(list(data_sequence(value)))
            elif role.startswith("Type"):
                choices.append(data(value))
            elif role == "Static":
                choices.append([static(value, f"'{name}'")])
            else:
                choices.append([value])
        calls = []
        for pick in itertools.product(*choices):
            bound.arguments.update(zip(bound.arguments, pick))
            calls.append((body, bound.args, bound.kwargs))
        return alternatives(calls)

    return rule


@functools.cache
def _roles(body: Callable[..., Type]) -> tuple[inspect.Signature, dict[str, str], set[str]]:
    """The signature, the annotation of each parameter, and which parameter takes all further arguments."""
    signature = inspect.signature(body)
    roles = {name: str(p.annotation) for name, p in signature.parameters.items()}
    return signature, roles, {p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL}


def alternatives(calls: list[tuple[Callable[..., Type], tuple[Any, ...], dict[str, Any]]]) -> Type:
    """The join of the results of a rule; an alternative that fits no rank of an array is left out."""
    results: list[Type] = []
    refusal: Refuse | None = None
    for body, args, kwargs in calls:
        try:
            results.append(over_ranks(body, args, kwargs))
        except NoRank as error:
            refusal = error
    if refusal is not None and not results:
        raise refusal
    return join(*results)


def data(value: Any) -> list[Any]:
    """The alternatives of a numeric argument: numbers and arrays; lists and tuples become arrays."""
    if value is None or (isinstance(value, Const) and value.value is None):
        return [None]
    if isinstance(value, Const) and isinstance(value.value, (np.ndarray, list)):
        value = value.value
    if isinstance(value, list):
        value = tuple(value)
    converted = as_array_argument(value)
    if isinstance(converted, Union) or converted is BOTTOM:
        return list(members(converted))
    if isinstance(converted, Const) and not isinstance(
        converted.value, (bool, int, float, complex, np.generic)
    ):
        return [converted.value]
    if isinstance(converted, (Array, Scalar)):
        checked_dtype(converted.dtype)
    elif isinstance(converted, (Ref, IterT)) or (isinstance(converted, Py) and converted.cls is range):
        return list(members(array_like(converted)))
    return [converted]


def data_sequence(value: Any) -> Iterator[Types]:
    """The alternatives of a sequence of arrays; for an unknown length 1, 2 and 3 elements stand for all."""
    t = type_of(value) if not isinstance(value, list) else type_of(tuple(value))
    if isinstance(t, Array):
        if t.shape == ():
            return
        row: Type = Array(t.dtype, t.shape[1:]) if t.shape and len(t.shape) > 1 else Scalar(t.dtype)
        items: tuple[Type, ...] | None = (row if t.shape else join(row, Array(t.dtype, None)),)
        length: Dim = t.shape[0] if t.shape else None
    else:
        items, length = sequence(t)
    if items is None:
        raise Refuse(
            f"a sequence of arrays is needed, not a value of type {t!r}",
            "How many arrays there are, and of which types, must be known while the graph is built.",
            "Pass a tuple or list of arrays.",
        )
    if len(items) == 1 and length not in (None, 1) and length <= 64:
        items = items * length
    if len(items) == length:
        yield from itertools.product(*(d for d in map(data_item, items)))
        return
    options = [option for item in items for option in data_item(item)]
    for count in (1, 2, 3):
        yield from itertools.islice(itertools.product(options, repeat=count), 256)


def data_item(item: Type) -> list[Any]:
    return [choice for member in members(item) for choice in data(member)]


class NoRank(Refuse):
    """No rank that was tried for an array of unknown rank fits."""


def over_ranks(body: Callable[..., Type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Type:
    """`body` for arguments among which are arrays of unknown rank: it is called for many ranks."""
    open_arrays = [t for t in leaves((args, kwargs)) if isinstance(t, Array) and t.shape is None]
    if not open_arrays:
        return body(*args, **kwargs)
    ranks = (RANKS, (0, 1, 2, 3, 4), (0, 1, 3, 4), (0, 1, 3, 4))[min(len(open_arrays), 4) - 1]
    if len(open_arrays) > 4:
        raise Refuse("too many arrays whose number of dimensions is not known")
    results: list[tuple[bool, Type]] = []
    refusal: Refuse | None = None
    for pick in itertools.product(ranks, repeat=len(open_arrays)):
        chosen = iter(pick)

        def give(t: Any, chosen: Iterator[int] = chosen) -> Any:
            return Array(t.dtype, (None,) * next(chosen)) if isinstance(t, Array) and t.shape is None else t

        some_args, some_kwargs = map_tree(give, (args, kwargs))
        try:
            result = body(*some_args, **some_kwargs)
        except Refuse as error:
            refusal = error
            continue
        results.append((max(pick) >= HIGH_RANK, result))
    if not results and refusal:
        raise refusal
    return settle(results)


def settle(results: list[tuple[bool, Type]]) -> Type:
    """One type for results under many ranks of the arguments; `True` marks high ranks, which stand for all.

    >>> dtype = np.dtype(int)
    >>> settle([(False, Scalar(dtype)), (True, Array(dtype, (None,))), (True, Array(dtype, ()))])
    int64|int64[...]
    """
    types = [t for _, t in results if t is not BOTTOM]
    if not types:
        raise NoRank(
            "the number of dimensions of an array is not known here", "", "Reshape the array before its use."
        )
    if all(isinstance(t, TupleT) for t in types):
        tuples = [t for t in types if isinstance(t, TupleT)]
        if len({(len(t.items), t.cls) for t in tuples}) == 1:
            count, cls = len(tuples[0].items), tuples[0].cls
            marked = [(high, t) for high, t in results if isinstance(t, TupleT)]
            return TupleT(tuple(settle([(h, t.items[i]) for h, t in marked]) for i in range(count)), cls)
        return SeqT(settle([(h, i) for h, t in results if isinstance(t, TupleT) for i in t.items]))
    high = [t for is_high, t in results if is_high]
    if all(t is BOTTOM for t in high):
        return join(*types)
    ranks = {len(m.shape) for t in high for m in members(t) if isinstance(m, Array) and m.shape is not None}
    if len(ranks) < 2 and BOTTOM not in high:
        return join(*types)
    return join(*(Array(m.dtype, None) if isinstance(m, Array) else m for t in types for m in members(t)))


# --------------------------------------------------------------------------------------------------

STATIC_NAMES = frozenset(
    [
        "axis",
        "axes",
        "axis1",
        "axis2",
        "dtype",
        "keepdims",
        "order",
        "subok",
        "copy",
        "casting",
        "side",
        "mode",
        "method",
        "kind",
        "full_matrices",
        "compute_uv",
        "full",
        "return_index",
        "return_inverse",
        "return_counts",
        "equal_nan",
        "assume_unique",
        "unique",
        "stable",
        "hermitian",
        "UPLO",
        "returned",
        "rowvar",
        "bias",
        "increasing",
        "sparse",
        "indexing",
        "deg",
        "endpoint",
        "retstep",
        "ord",
        "offset",
        "source",
        "destination",
        "overwrite_input",
        "like",
        "signature",
        "optimize",
        "norm",
        "upper",
        "sorted",
        "density",
        "correction",
        "invert",
        "trim",
        "return_indices",
        "cov",
        "interpolation",
        "descending",
    ]
)
SEQUENCE_NAMES = frozenset({"arrays", "tup", "choicelist", "condlist", "keys", "arys", "seq"})


def into(out: Any, number: bool) -> Type:
    """The type of what a function gives that is given `out`; `number`: the number in an array that holds one.

    >>> into(Array(np.dtype(float), ()), number=True)
    float64
    """
    t = type_of(out)
    return Scalar(t.dtype) if number and isinstance(t, Array) and t.shape == () else t


def probed(
    fn: Callable[..., Any],
    shape: Callable[[dict[str, Any]], Any] | None = None,
    *,
    signature: str | None = None,
    static_names: Iterable[str] = (),
    plain_names: Iterable[str] = (),
    fill: Callable[[tuple[int, ...], np.dtype[Any]], Any] | None = None,
    instead: dict[str, Any] | None = None,
) -> Rule:
    """The rule of a function whose dtype and kind do not depend on values or sizes.

    `shape` computes the shape of the result (a list of shapes for a tuple) from the arguments by name.
    `instead` has values for arguments that must fit the stand-ins.
    """
    fixed = (STATIC_NAMES | set(static_names)) - set(plain_names)

    def rule(*args: Any, **kwargs: Any) -> Type:
        described = _signature(fn, signature)
        try:
            bound = described.bind(*args, **kwargs)
        except TypeError:
            return BOTTOM
        choices: list[list[Any]] = []
        slots: list[Any] = []
        for name, value in bound.arguments.items():
            parameter = described.parameters[name]
            if parameter.kind is parameter.VAR_KEYWORD:
                choices.append([{k: static(v, f"'{k}'") for k, v in value.items()}])
            elif parameter.kind is parameter.VAR_POSITIONAL:
                choices.append([tuple(p) for p in itertools.product(*map(data, value))])
            elif instead and name in instead:
                choices.append([instead[name]])
            elif name in fixed:
                choices.append([static(value, f"'{name}'")])
            elif name in SEQUENCE_NAMES:
                choices.append(list(data_sequence(value)))
            else:
                choices.append(data(value))
            slots.append(name)
        probe = _Probe(fn, described, shape, fill)
        return alternatives([(probe, (dict(zip(slots, pick)),), {}) for pick in itertools.product(*choices)])

    return rule


@functools.cache
def _signature(fn: Callable[..., Any], text: str | None) -> inspect.Signature:
    if text is None:
        return inspect.signature(fn)
    scope: dict[str, Any] = {"np": np, "NoValue": np._NoValue}
    exec(f"def described({text}): pass", scope)
    return inspect.signature(scope["described"])


class TooLarge(Exception):
    """A stand-in would take too long to compute with."""


class _Probe:
    """Calls a function with stand-ins for its arguments, which are given by name."""

    def __init__(self, fn: Any, signature: inspect.Signature, shape: Any, fill: Any) -> None:
        self.fn, self.signature, self.shape, self.fill = fn, signature, shape, fill or _ones
        self.name = getattr(fn, "__name__", str(fn))

    def __call__(self, arguments: dict[str, Any]) -> Type:
        for value in leaves(arguments):
            if isinstance(value, Py) and value.cls in (str, bytes):
                raise NeedConcrete("a string argument")
        if self.shape is None:
            return self.by_sizes(arguments)
        out = arguments.get("out")
        value = self.call(arguments, lambda dim, n: 1)
        if isinstance(value, Exception):
            return self.failed(value, arguments)
        shape = self.shape({**_defaults(self.signature), **arguments})
        if shape is BOTTOM:
            return BOTTOM  # type: ignore[no-any-return]
        is_out = isinstance(out, Array) and isinstance(value, np.ndarray)  # methods of numbers give numbers
        return type_of(out) if is_out else shaped_result(value, shape)

    def call(self, arguments: dict[str, Any], size: Callable[[Dim, int], int]) -> Any:
        counter = itertools.count()

        def stand_in(leaf: Any) -> Any:
            if isinstance(leaf, Array):
                shape = tuple(size(d, next(counter)) for d in leaf.shape or ())
                if math.prod(shape) > STAND_IN_SIZE:
                    raise TooLarge
                return self.fill(shape, leaf.dtype)
            return sample(leaf) if isinstance(leaf, Type) else leaf

        bound = inspect.BoundArguments(self.signature, map_tree(stand_in, arguments))
        return quietly(self.fn, *bound.args, **bound.kwargs)

    def failed(self, error: Exception, arguments: dict[str, Any]) -> Type:
        """What it means that the function refused the stand-ins."""
        if isinstance(error, Refuse):
            raise error
        if isinstance(error, (TypeError, np.exceptions.AxisError)):
            return BOTTOM
        return self.tried(arguments, error)

    def tried(self, arguments: dict[str, Any], error: Exception) -> Type:
        if all(known(t.shape) for t in leaves(arguments) if isinstance(t, Array)):
            exact = self.by_sizes(arguments)
            if exact is BOTTOM:
                return exact
        raise Refuse(f"the type of the result of '{self.name}' is not known ({error})")

    def by_sizes(self, arguments: dict[str, Any]) -> Type:
        """The result type by calls with arrays of several sizes; exact for small arrays of known shapes."""
        arrays = [t for t in leaves(arguments) if isinstance(t, Array)]
        counts = [math.prod(d for d in t.shape or () if d is not None) for t in arrays]
        total = sum(n if known(t.shape) else EXACT_SIZE + 1 for n, t in zip(counts, arrays))
        if total <= EXACT_SIZE:
            value = self.call(arguments, lambda dim, n: dim or 0)
            if isinstance(value, ValueError):  # perhaps the values were to blame
                zeros = _Probe(self.fn, self.signature, None, np.zeros).call(
                    arguments, lambda dim, n: dim or 0
                )
                value = value if isinstance(zeros, Exception) else zeros
            if not isinstance(value, Exception):
                return exact_result(value)
            if not isinstance(value, (ValueError, TypeError, IndexError)) or isinstance(
                value, np.linalg.LinAlgError
            ):
                raise Refuse(f"the type of the result of '{self.name}' is not known ({value})")
            return BOTTOM
        ordered = sorted({d for t in arrays for d in t.shape or () if d is not None and d > 4})
        results: list[tuple[Any, dict[int, int]]] = []
        errors: list[Exception] = []
        for base, step, unknown in ((5, 3, 29), (31, 11, 6), (7, 5, None), (6, 0, 6), (3, 0, 3), (2, 0, 2)):
            if results and (step == 0 or (base == 7 and len(results) > 1 and not ordered)):
                break
            table = {d: base + step * i for i, d in enumerate(ordered)}

            def size(
                dim: Dim,
                n: int,
                table: dict[int, int] = table,
                unknown: int | None = unknown,
                base: int = base,
            ) -> int:
                if dim is None:
                    return base + 4 + 2 * n if unknown is None else unknown
                return table.get(dim, dim)

            try:
                value = self.call(arguments, size)
            except TooLarge:
                continue
            if isinstance(value, Exception):
                errors.append(value)
            else:
                results.append((value, table))
        if not results:
            if all(isinstance(e, TypeError) for e in errors):
                return BOTTOM
            raise Refuse(f"the type of the result of '{self.name}' is not known ({errors[:1]})")
        return join(*(_inverse(value, results) for value in [tuple(v for v, _ in results)]))


def _inverse(values: tuple[Any, ...], results: list[tuple[Any, dict[int, int]]]) -> Type:
    """The type of results of calls with several sizes, each with the table of what the sizes stood for."""
    first = values[0]
    if isinstance(first, tuple):
        if any(type(v) is not type(first) or len(v) != len(first) for v in values):
            return SeqT(join(*(_inverse((i,), []) for v in values for i in v)))
        return TupleT(tuple(_inverse(items, results) for items in zip(*values)), type(first))
    if any(type(v) is not type(first) for v in values):
        return join(*(_inverse((v,), []) for v in values))
    if type(first) is not np.ndarray:
        return join(*(exact_result(v) for v in values))
    if any(v.ndim != first.ndim or v.dtype != first.dtype for v in values):
        return join(*(_inverse((v,), []) for v in values))
    dims: list[Dim] = []
    for axis in range(first.ndim):
        found = [
            {d for d, s in table.items() if s == v.shape[axis]} for v, (_, table) in zip(values, results)
        ]
        agreed = set.intersection(*found) if len(found) > 1 else set()
        dims.append(agreed.pop() if len(agreed) == 1 else None)
    checked_dtype(first.dtype)
    return Array(first.dtype, tuple(dims))


def exact_result(value: Any) -> Type:
    """The type of a result of the same shapes as at run time (numbers lose their value)."""
    if isinstance(value, tuple):
        return TupleT(tuple(exact_result(v) for v in value), type(value))
    if isinstance(value, (list, dict, set)):
        raise Refuse(
            f"a function that makes a {type(value).__name__} of arrays",
            "",
            "Use a function that gives arrays.",
        )
    if isinstance(value, (np.ndarray, np.generic)):
        checked_dtype(value.dtype)
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            raise Refuse(f"an array of class '{type(value).__name__}'")
        return Array(value.dtype, value.shape)
    return generalize(result_type(value))


def shaped_result(value: Any, shape: Any) -> Type:
    """The type of a sample result with `shape` (a list of shapes for a tuple) in place of its own."""
    if isinstance(value, tuple) and isinstance(shape, list):
        return TupleT(tuple(shaped_result(v, s) for v, s in zip(value, shape)), type(value))
    if isinstance(value, (list, dict, set)):
        return exact_result(value)
    return generalize(result_type(value, shape))


def _defaults(signature: inspect.Signature) -> dict[str, Any]:
    return {n: p.default for n, p in signature.parameters.items() if p.default is not p.empty}


def _ones(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    return np.ones(shape, dtype)


def method_signature(text: str) -> inspect.Signature:
    return _signature(len, text)


def broadcast_rule(*names: str) -> Callable[[dict[str, Any]], Any]:
    """A `shape` for `probed`: the named arguments (those that are not None) broadcast."""

    def shape(arguments: dict[str, Any]) -> Any:
        return broadcast(*(shape_of(arguments[n]) for n in names if is_given(arguments.get(n))))

    return shape


def is_given(value: Any) -> bool:
    return value is not None and value is not np._NoValue


def sizes(shape: Any, what: str = "shape") -> Shape | Type:
    """The shape that an integer or a sequence of integers stands for; BOTTOM if it never fits.

    >>> sizes((3, Py(int))), sizes(4), sizes(SeqT(Py(int))), sizes(-1)
    ((3, None), (4,), None, never)
    """
    t = type_of(shape)
    items, length = sequence(t)
    if items is None:
        if isinstance(t, Array):
            if t.shape is None or len(t.shape) > 1:
                return None if t.shape is None else BOTTOM
            if t.dtype.kind not in "biu":
                return () if t.shape and t.shape[0] in (0, None) else BOTTOM  # no items, of whatever type
            return (None,) if t.shape == () else None if t.shape[0] is None else (None,) * t.shape[0]
        items, length = (t,), 1
    if length != len(items):
        if length is None:
            return None
        items = items * length
    out: list[Dim] = []
    for item in items:
        dims: list[Any] = [_size(member, what) for member in members(item)]
        dims = [d for d in dims if d is not BOTTOM]
        if not dims:
            return BOTTOM
        out.append(dims[0] if len(set(dims)) == 1 else None)
    return tuple(out)


def _size(t: Type, what: str) -> Any:
    if isinstance(t, Const):
        try:
            value = t.value.__index__()
        except (AttributeError, TypeError):
            return BOTTOM
        return BOTTOM if value < 0 else value
    if isinstance(t, (Scalar, Array)):
        return None if t.dtype.kind in "biu" and (isinstance(t, Scalar) or t.shape in ((), None)) else BOTTOM
    return None if isinstance(t, Py) and t.cls in (int, bool) else BOTTOM


def numpy_op(path: str, rule: Rule, *traits: str, module: Any = np, out: int | None = None) -> None:
    """Declares the function at `np.<path>`, if this NumPy has it and no op answers for it yet."""
    fn = module
    for part in path.split("."):
        fn = getattr(fn, part, None)
    name = f"{module.__name__.replace('numpy', 'np')}.{path}"
    if fn is None or fn in BY_FUNCTION or name in OPS:
        return
    define(name, fn, rule, *traits, handles=(fn,), out=out)
