"""Runs graphs: compiled to machine code, or by the reference interpreter (`AUTOGRAPH_BACKEND`)."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph import transforms
from autograph.garbage import rarely_collected
from autograph.graph.graph import Graph
from autograph.graph.types import Array, Const
from autograph.runtime import interpreter

DEFAULT = "native"

LARGE, HUGE = 16, 1 << 40
"""A dimension from the one to the other is known to be so."""
MOST = 8
"""Kinds of arguments of a graph of which the sizes are told apart."""
SIZES = 16
"""Different sizes that are told apart."""

INVALID = "the compiler made code that LLVM does not take"
"""How the reason begins for which a graph was declined by a mistake of the compiler's."""

_lock = threading.RLock()
_user_traceback: Callable[[BaseException], Any] | None = None


def set_user_traceback(fn: Callable[[BaseException], Any]) -> None:
    """Sets the function that tells what is left of a traceback for the user."""
    global _user_traceback
    _user_traceback = fn


def user_traceback(error: BaseException) -> Any:
    """What is left of an exception's traceback for the user."""
    return error.__traceback__ if _user_traceback is None else _user_traceback(error)


def backend() -> str:
    """What runs graphs: "native" or "interpreter"."""
    chosen = os.environ.get("AUTOGRAPH_BACKEND", DEFAULT)
    if chosen not in ("native", "interpreter"):
        raise ValueError(f"AUTOGRAPH_BACKEND is {chosen!r}; it may be 'native' or 'interpreter'")
    return chosen


def run(graph: Graph, arguments: list[Any]) -> Any:
    """The result of a graph for the values of its parameters."""
    if backend() == "interpreter":
        return interpreter.run(graph, arguments)[0]
    native = variant(graph, arguments)
    return interpreter.run(graph, arguments)[0] if native is None else native(arguments)


def variant(graph: Graph, arguments: list[Any] | None) -> Any:
    """The machine code for such arguments (None: any); None where the interpreter must run them."""
    if arguments is None:
        return _variant(graph, ((WRITEABLE + 2,) * len(graph.params), True, ()))
    arrays = [a for a in arguments if type(a) is np.ndarray]
    distinct = not any(np.may_share_memory(a, b) for a, b in itertools.combinations(arrays, 2))
    return _variant(graph, (tuple(map(layout, arguments)), distinct, sizes(graph, arguments)))


def sizes(graph: Graph, arguments: list[Any]) -> tuple[tuple[int, ...], ...]:
    """What is told of the dimensions of each argument that its type leaves open; nothing if it is too much.

    A dimension is 1, or has the number of its size times 2, and 3 if it is `LARGE`, else 2. So code is made
    for arrays of equal shapes that need not broadcast.
    """
    params = [p for p in graph.params if not isinstance(p._ag_type, Const)]
    numbers: dict[int, int] = {}
    found = []
    for param, value in zip(params, arguments):
        shape = param._ag_type.shape if isinstance(param._ag_type, Array) else None
        open_ = [d for d, known in zip(getattr(value, "shape", ()), shape or ()) if known is None]
        codes = (
            1 if d == 1 else 2 * numbers.setdefault(d, len(numbers)) + 2 + (LARGE <= d < HUGE) for d in open_
        )
        found.append(tuple(codes))
    if len(numbers) > SIZES or not any(found):
        return ()
    key = tuple(found)
    return key if graph.native is None or len(graph.native) < MOST or key in _kinds(graph) else ()


def _kinds(graph: Graph) -> set[Any]:
    """The sizes that there is code for."""
    return {kind for _, _, kind in graph.native or ()}


def _variant(graph: Graph, key: tuple[tuple[int, ...], bool, tuple[tuple[int, ...], ...]]) -> Any:
    if graph.native is None:
        graph.native = {}
    try:
        return graph.native[key]
    except KeyError:
        with _lock:
            if key not in graph.native:
                with rarely_collected():
                    graph.native[key] = compile_native(graph, *key)
            return graph.native[key]


def code(native: Any, kind: str) -> str:
    """The optimised LLVM IR ("llvm") or the assembly ("asm") of compiled code."""
    from autograph.compiler import machine

    return machine.assembly(native.text) if kind == "asm" else str(machine.optimise(native.text))


def all_plain(arguments: list[Any]) -> bool:
    """Whether the arrays are contiguous and aligned, and do not overlap."""
    arrays = [a for a in arguments if type(a) is np.ndarray]
    fine = all(a.flags.c_contiguous and a.flags.aligned for a in arrays)
    return fine and not any(np.may_share_memory(a, b) for a, b in itertools.combinations(arrays, 2))


WRITEABLE, FOLDED = 4, 8


def layout(a: Any) -> int:
    """Of an array: 2 if it is contiguous, 1 if its axes are in C order, else 0; `WRITEABLE` more if it is.

    `FOLDED` more if elements of it may share memory. Of a list: 2 if the arrays in it are contiguous.
    """
    if type(a) is list:
        return 2 * all(type(item) is not np.ndarray or item.flags.c_contiguous for item in a)
    if type(a) is not np.ndarray:
        return 0
    writeable = WRITEABLE * a.flags.writeable
    if a.flags.c_contiguous:
        return writeable + 2
    axes = [(abs(s), d) for s, d in zip(a.strides, a.shape) if d > 1]
    steps = [s for s, _ in axes]
    ordered = 0 not in steps and steps == sorted(steps, reverse=True)
    return writeable + ordered + (0 if lies_apart(axes, a.itemsize) else FOLDED)


def lies_apart(axes: list[tuple[int, int]], size: int) -> bool:
    """Whether no two elements share memory: each step is longer than all that is in shorter ones."""
    for step, length in sorted(axes):
        if step < size:
            return False
        size += step * (length - 1)
    return True


def compile_native(
    graph: Graph, layouts: tuple[int, ...], distinct: bool, sizes: tuple[tuple[int, ...], ...]
) -> Any:
    """Compiles a graph; None where the compiler declines it."""
    from autograph.compiler import host, lowering, machine

    host.register_symbols()
    started = time.perf_counter()
    if graph.optimised is None:
        graph.optimised = transforms.optimise(graph)
    times = {"optimise": time.perf_counter() - started}
    started = time.perf_counter()
    try:
        compilation, text = lowering.compile_graph(graph.optimised, layouts, distinct, sizes)
    except lowering.Unsupported as reason:
        graph.native_reason = str(reason)
        return None
    times["lower"] = time.perf_counter() - started
    if os.environ.get("AUTOGRAPH_DEBUG", "0") >= "3":
        print(text, file=sys.stderr)
    try:
        library = machine.compile_ir(text, ("ag_entry",), times)
    except machine.Invalid as error:
        graph.native_reason = f"{INVALID} ({error})"
        advice = "the interpreter runs it; please report this with the function"
        warnings.warn(f"'{graph.name}': {graph.native_reason}; {advice}", RuntimeWarning, stacklevel=2)
        return None
    native = host.Native(library, compilation.table, text, times)
    native.fallbacks = list(compilation.fallbacks.values())
    native.shared = compilation.shared
    native.notes = compilation.notes
    return native
