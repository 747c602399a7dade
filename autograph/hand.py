"""Ops that can be written by hand, in both modes: `cond`, `while_loop`, `print`, `host_call`, and `spec`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.errors import StagingError
from autograph.graph.types import Array, Host, Py, Scalar, Type, conforms, join
from autograph.operators.branches import if_exp
from autograph.operators.builtin_functions import print_
from autograph.operators.calls import HANDLERS, call
from autograph.operators.external import Spec
from autograph.operators.loops import while_stmt
from autograph.operators.tracer import current, emit, pack, record
from autograph.ops import core
from autograph.ops.base import define

_PYTHON = {
    bool: np.dtype(bool),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
_KINDS = {"b": bool, "i": int, "f": float, "c": complex}


def spec(dtype: Any, shape: tuple[int | None, ...] | None = None) -> Spec:
    """The type of a value: a number (no shape), or an array of this shape (a dimension None: any length).

    `dtype` is a NumPy dtype (or its name), or a Python class: `spec(float)` is a Python float,
    `spec("float64")` a Python float or a NumPy float64, `spec(str)` text. Raises TypeError for a dtype that a
    graph cannot hold.

    >>> spec("float32", (None, 3))
    spec(float32[?,3])
    """
    if shape is None and any(dtype is cls for cls in (bool, int, float, complex, str, bytes)):
        return Spec(Py(dtype))
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc":
        raise TypeError(f"a graph holds numbers, not {dtype}")
    if shape is not None:
        return Spec(Array(dtype, tuple(shape)))
    python = _KINDS.get(dtype.kind)
    same = python is not None and _PYTHON[python] == dtype
    return Spec(join(Py(python), Scalar(dtype)) if same and python is not None else Scalar(dtype))


def cond(test: Any, body: Callable[..., Any], orelse: Callable[..., Any], *operands: Any) -> Any:
    """`body(*operands)` if `test` is true, else `orelse(*operands)`; only the one chosen runs.

    >>> cond(3 > 2, lambda x: x + 1, lambda x: x - 1, 10)
    11
    """
    return if_exp(test, lambda: call(body, *operands), lambda: call(orelse, *operands))


def while_loop(test: Callable[..., Any], body: Callable[..., Any], initial: Any) -> Any:
    """Repeats `state = body(state)` while `test(state)`, from `initial`; gives the last state.

    A tuple as state is spread: `body(*state)` gives a tuple of the same length.

    >>> while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + i), (0, 0))
    (5, 10)
    """
    spread = isinstance(initial, tuple)
    state = initial if spread else (initial,)

    def turn() -> None:
        nonlocal state
        new = call(body, *state)
        if spread and not (isinstance(new, tuple) and len(new) == len(state)):
            raise StagingError(
                f"the body of a while_loop gives {type(new).__name__}, not a tuple of {len(state)}",
                why="The state keeps its structure from turn to turn.",
                instead="Return one value for each part of the state.",
            )
        state = new if spread else (new,)

    def get() -> tuple[Any, ...]:
        return state

    def put(values: tuple[Any, ...]) -> None:
        nonlocal state
        state = values

    while_stmt(lambda: call(test, *state), turn, get, put, tuple(f"state {i}" for i in range(len(state))))
    return state if spread else state[0]


def print(*values: Any, **options: Any) -> None:
    """Python's `print`, at its place in the order of the program, in both modes.

    >>> print("x =", 3, sep=" ")
    x = 3
    """
    if current() is None:
        record("print")
        builtins.print(*values, **options)
    else:
        print_(*values, **options)


def _declared(fn: Any, expected: Spec, *args: Any, **kwargs: Any) -> Any:
    value = fn(*args, **kwargs)
    if not conforms(value, expected.type):
        raise StagingError(
            f"{getattr(fn, '__name__', fn)!r} gave {_describe(value)}, but its declared type is "
            f"{expected.type!r}",
            why="The graph was built for the declared type.",
            instead="Declare what it gives: ag.host_call(..., result=ag.spec(dtype, shape)).",
        )
    return value


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)}"
    return f"{type(value).__name__} {value!r:.60}"


def _declared_rule(fn: Any, expected: Spec, *args: Any, **kwargs: Any) -> Type:
    return expected.type


DECLARED_CALL = define("declared_host_call", _declared, _declared_rule, "host")


def host_call(fn: Callable[..., Any], *args: Any, result: Spec | None = None, **kwargs: Any) -> Any:
    """Calls `fn` on the host when the graph runs, in program order, with the real values.

    With `result=spec(...)` the value can be computed with; it is checked at run time (StagingError). Without,
    it can only be returned or passed to other host calls.

    >>> import math
    >>> host_call(math.sqrt, 9.0, result=spec(float))
    3.0
    """
    trace = current()
    if trace is None:
        record("host_call")
        return fn(*args, **kwargs)
    trace.host_calls += 1
    packed = [pack(a) for a in args]
    named = {k: pack(v) for k, v in kwargs.items()}
    if result is None:
        return emit(core.HOST_CALL, fn, *packed, type_=Host(), **named)
    return emit(DECLARED_CALL, fn, result, *packed, **named)


for _function in (spec, cond, while_loop, print, host_call):
    HANDLERS[_function] = _function
