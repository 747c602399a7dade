"""Plain Python as the oracle: records what a call did, so that two runs can be compared.

An `Outcome` holds everything a caller can observe: the result (values, exact types, structure), which
objects are the same object or share memory, the printed text, the exception, and the state of the
arguments and of watched values after the call, also when it raised. Objects are numbered in the order
in which a walk meets them, arguments first, so identity survives the comparison of two separate runs.

>>> def double(x):
...     x *= 2
...     return x
>>> def copied(x):
...     x *= 2
...     return x.copy()
>>> make_args = lambda: (np.ones(2),)
>>> print(difference(outcome(double, make_args), outcome(double, make_args)))
None
>>> print(difference(outcome(double, make_args), outcome(copied, make_args)))
identity at result: expected object 0, got object 1
"""

from __future__ import annotations

import contextlib
import enum
import io
import math
import re
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Difference", "HangError", "Node", "Outcome", "difference", "magnitude", "outcome", "same_number"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of an object that prints itself, other in each run
LEAVES = (type(None), bool, int, float, complex, str, bytes, slice, range, type(...), type(NotImplemented))


class HangError(BaseException):
    """Raised by a timer inside a call that takes too long; never part of an outcome."""


@dataclass(frozen=True)
class Node:
    """One described value: its exact type, its number if it is mutable, its payload and its parts."""

    type: str
    number: int | None = None
    payload: Any = None
    parts: tuple[tuple[str, Node], ...] = ()
    repeated: bool = False

    def __str__(self) -> str:
        if self.repeated:
            return f"<object {self.number}>"
        if self.parts:
            inside = ", ".join(f"{name}={part}" if name else str(part) for name, part in self.parts)
            return f"{self.type}({inside})"
        if isinstance(self.payload, np.ndarray):
            return f"{self.type}{self.payload.shape}({self.payload.tolist()})"
        return f"{self.type}({self.payload!r})" if self.payload is not None else self.type


@dataclass(frozen=True)
class Outcome:
    """What one call did. `refused` holds the text of a refusal by the library, None otherwise."""

    result: Node | None
    exception: Node | None
    printed: str
    arguments: Node
    watched: Node | None = None
    sharing: tuple[tuple[int, int, int], ...] = ()
    line: int | None = None
    refused: str | None = None
    error: BaseException | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        if self.refused is not None:
            return f"refused: {self.refused}"
        main = f"raises {self.exception}" if self.exception is not None else f"returns {self.result}"
        text = f"{main}; arguments after {self.arguments}"
        return text + (f"; printed {self.printed!r}" if self.printed else "")


@dataclass(frozen=True)
class Difference:
    """The first difference found between two outcomes; `kind` is one word, `where` a path."""

    kind: str
    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.where}: expected {self.expected}, got {self.got}"


class Recorder:
    """Describes values; numbers mutable objects once and keeps them alive, so ids stay unique."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._arrays: dict[int, np.ndarray] = {}
        self._seen: set[int] = set()

    def start_walk(self) -> None:
        """Forgets which objects were described, but not their numbers."""
        self._seen = set()

    def describe(self, value: Any) -> Node:
        """The description of a value, with a reference instead of an object that this walk met before."""
        name = type(value).__name__
        if isinstance(value, enum.Enum):
            return Node(name, payload=str(value))
        if isinstance(value, type):
            return Node("type", payload=value.__qualname__)
        if type(value) in LEAVES:
            return Node(name, payload=value)
        if isinstance(value, np.generic):
            return Node(f"numpy.{value.dtype}", payload=np.array(value))
        if isinstance(value, np.dtype):
            return Node("dtype", payload=value.str)
        if isinstance(value, tuple):
            fields = getattr(value, "_fields", None) or [str(i) for i in range(len(value))]
            return Node(name, payload=len(value), parts=tuple(zip(fields, map(self.describe, value))))
        if isinstance(value, BaseException):
            return self._exception(value)
        if isinstance(value, types.FunctionType | types.MethodType | types.BuiltinFunctionType | np.ufunc):
            return Node("function", payload=getattr(value, "__name__", name))
        if isinstance(value, types.ModuleType):
            return Node("module", payload=value.__name__)
        return self._object(value)

    def sharing(self) -> tuple[tuple[int, int, int], ...]:
        """Pairs of arrays that share memory, with the distance of their first elements in bytes."""
        pairs = []
        numbers = sorted(self._arrays)
        for i, first in enumerate(numbers):
            for second in numbers[i + 1 :]:
                a, b = self._arrays[first], self._arrays[second]
                if np.may_share_memory(a, b) and np.shares_memory(a, b):
                    pairs.append((first, second, b.ctypes.data - a.ctypes.data))
        return tuple(pairs)

    def _object(self, value: Any) -> Node:
        number = self._numbers.setdefault(id(value), len(self._kept))
        if number == len(self._kept):
            self._kept.append(value)
        name = type(value).__name__
        if number in self._seen:
            return Node(name, number, repeated=True)
        self._seen.add(number)
        if isinstance(value, np.ndarray):
            return self._array(value, number)
        payload, parts = self._parts(value)
        return Node(name, number, payload, parts)

    def _array(self, value: np.ndarray, number: int) -> Node:
        self._arrays[number] = value
        name = "array" if type(value) is np.ndarray else type(value).__name__
        label = f"{name}:{value.dtype.str if value.dtype.names is None else value.dtype}"
        if not value.flags.writeable:
            label += ":readonly"
        if value.dtype == object:
            parts = tuple((str(i), self.describe(item)) for i, item in enumerate(value.ravel().tolist()))
            return Node(label, number, value.shape, parts)
        return Node(label, number, np.array(value))

    def _parts(self, value: Any) -> tuple[Any, tuple[tuple[str, Node], ...]]:
        if isinstance(value, list | deque):
            return len(value), tuple((str(i), self.describe(item)) for i, item in enumerate(value))
        if isinstance(value, dict):
            keys = tuple(str(self.describe(key)) for key in value)
            return keys, tuple((key, self.describe(item)) for key, item in zip(keys, value.values()))
        if isinstance(value, set | frozenset):
            return tuple(sorted(str(self.describe(item)) for item in value)), ()
        if isinstance(value, bytearray):
            return bytes(value), ()
        return None, tuple((name, self.describe(item)) for name, item in sorted(_attributes(value)))

    def _exception(self, error: BaseException) -> Node:
        parts = [(f"args[{i}]", self.describe(item)) for i, item in enumerate(error.args)]
        cause = error.__cause__
        if cause is not None:
            parts.append(("cause", Node(type(cause).__qualname__, payload=_message(cause))))
        return Node(type(error).__qualname__, payload=_message(error), parts=tuple(parts))


def outcome(
    fn: Callable[..., Any],
    make_args: Callable[[], Sequence[Any]],
    *,
    watch: Callable[[], Any] | None = None,
    refusals: tuple[type[BaseException], ...] = (),
    filename: str | None = None,
) -> Outcome:
    """Calls `fn(*make_args())` and records what happened.

    `watch` returns further values (globals, captured objects) whose state is compared. Exceptions of the
    types in `refusals` are the library's own; they are recorded apart. `filename` asks for the line of
    that file where the exception was raised.
    """
    recorder = Recorder()
    args = tuple(make_args())
    recorder.describe(args)  # numbers what existed before the call
    if watch is not None:
        recorder.describe(watch())
    printed = io.StringIO()
    result: Node | None = None
    error: BaseException | None = None
    with _quiet(printed):
        try:
            value = fn(*args)
        except (KeyboardInterrupt, HangError):
            raise
        except BaseException as caught:
            error = caught
    recorder.start_walk()
    arguments = recorder.describe(args)
    recorder.start_walk()
    if error is None:
        result = recorder.describe(value)
    exception = recorder.describe(error) if error is not None else None
    recorder.start_walk()
    watched = recorder.describe(watch()) if watch is not None else None
    refused = f"{type(error).__name__}: {error}" if isinstance(error, refusals) else None
    return Outcome(
        result=result,
        exception=exception,
        printed=_ADDRESS.sub(" at 0x...", printed.getvalue()),
        arguments=arguments,
        watched=watched,
        sharing=recorder.sharing(),
        line=_line(error, filename) if error is not None and filename is not None else None,
        refused=refused,
        error=error,
    )


def difference(
    expected: Outcome, got: Outcome, *, rtol: float = 0.0, size: float = 0.0, lines: bool = False
) -> Difference | None:
    """The first difference between two outcomes, None if a caller cannot tell them apart.

    `rtol` allows floating arrays (not Python floats) to differ by rounding. With a `size`, all floats may,
    also Python's and those in texts, relative to themselves and to numbers of that size (at least
    `SHORT_RTOL` in single precision). `lines` compares the line of the exception too.
    """
    close = _Close(rtol, size)
    if (expected.exception is None) != (got.exception is None):
        return Difference("exception", "call", _short(expected), _short(got))
    checks: list[tuple[str, Node | None, Node | None]] = [
        ("exception", expected.exception, got.exception),
        ("result", expected.result, got.result),
        ("arguments", expected.arguments, got.arguments),
        ("watched", expected.watched, got.watched),
    ]
    for where, a, b in checks[:1]:
        if a is not None and b is not None and (found := _compare(a, b, where, close)):
            return Difference("exception", found.where, str(a), str(b))
    if not close.texts(expected.printed, got.printed):
        return Difference("printed", "stdout", repr(expected.printed), repr(got.printed))
    for where, a, b in checks[1:]:
        if a is not None and b is not None and (found := _compare(a, b, where, close)):
            return found
    if expected.sharing != got.sharing:
        return Difference("sharing", "memory", str(expected.sharing), str(got.sharing))
    if lines and expected.line != got.line:
        return Difference("line", "traceback", str(expected.line), str(got.line))
    return None


def same_number(a: Any, b: Any) -> bool:
    """Whether two numbers or arrays of one dtype have the same meaning bit by bit (NaNs are all equal).

    >>> same_number(0.0, -0.0), same_number(np.nan, -np.nan)
    (False, True)
    """
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype.kind == "c":
        return same_number(x.real, y.real) and same_number(x.imag, y.imag)
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    equal = (x == y) & (np.signbit(x) == np.signbit(y)) | np.isnan(x) & np.isnan(y)
    return bool(equal.all())


def _compare(a: Node, b: Node, where: str, close: _Close) -> Difference | None:
    if a.type != b.type:
        return Difference("type", where, str(a), str(b))
    if a.number != b.number:
        return Difference("identity", where, f"object {a.number}", f"object {b.number}")
    if a.repeated != b.repeated:
        return Difference("identity", where, str(a), str(b))
    if not _same_payload(a.payload, b.payload, close):
        return Difference("value", where, str(a), str(b))
    if [name for name, _ in a.parts] != [name for name, _ in b.parts]:
        return Difference("structure", where, str(a), str(b))
    for (name, part), (_, other) in zip(a.parts, b.parts):
        if found := _compare(part, other, f"{where}.{name}", close):
            return found
    return None


def _same_payload(a: Any, b: Any, close: _Close) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind not in "fc":
            return bool(a.tobytes() == b.tobytes())
        return close.numbers(a, b) or same_number(a, b)
    if isinstance(a, float | complex):
        return same_number(a, b) or (close.size > 0 and close.numbers(np.array(a), np.array(b)))
    if isinstance(a, str):
        return close.texts(a, b)
    return bool(a == b)


SHORT_RTOL = 1e-5
"""How far numbers of single precision may be apart."""

_FLOAT = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")


@dataclass(frozen=True)
class _Close:
    """How far apart floats may be."""

    rtol: float
    size: float

    def numbers(self, a: np.ndarray, b: np.ndarray) -> bool:
        if self.rtol <= 0:
            return False
        rtol = max(self.rtol, SHORT_RTOL) if self.size and a.dtype.char in "efF" else self.rtol
        return bool(np.allclose(a, b, rtol=rtol, atol=rtol * (self.size or 1.0), equal_nan=True))

    def texts(self, a: str, b: str) -> bool:
        if a == b or not self.size:
            return a == b
        if "".join(_FLOAT.sub("#", a).split()) != "".join(_FLOAT.sub("#", b).split()):  # columns differ
            return False
        pairs = zip(_FLOAT.findall(a), _FLOAT.findall(b))
        return all(
            self.numbers(np.array(float(x), np.float32), np.array(float(y), np.float32)) for x, y in pairs
        )


def magnitude(*outcomes: Outcome) -> float:
    """The largest absolute value of the finite numbers in outcomes, at least 1."""
    largest = 1.0
    waiting = [n for o in outcomes for n in (o.result, o.exception, o.arguments, o.watched) if n is not None]
    while waiting:
        node = waiting.pop()
        waiting += [part for _, part in node.parts]
        if isinstance(node.payload, int | float | complex):
            numbers: Any = np.array(node.payload)
        elif isinstance(node.payload, np.ndarray) and node.payload.dtype.kind in "biufc":
            numbers = node.payload
        else:
            continue
        if numbers.dtype == object:
            continue
        sizes = np.abs(numbers.astype(complex))
        finite = sizes[np.isfinite(sizes)]
        largest = max(largest, float(finite.max()) if finite.size else 0.0)
    return largest if math.isfinite(largest) else 1.0


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    yield from getattr(value, "__dict__", {}).items()
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                yield name, getattr(value, name)


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failure:  # a user's __str__ may fail
        return f"<str() raises {type(failure).__name__}>"


def _line(error: BaseException, filename: str) -> int | None:
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _short(result: Outcome) -> str:
    return f"raises {result.exception}" if result.exception is not None else f"returns {result.result}"


@contextlib.contextmanager
def _quiet(printed: io.StringIO) -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        yield
