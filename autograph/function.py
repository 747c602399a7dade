"""`to_graph`: a function that runs as a graph, traced once for each signature of its arguments."""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import functools
import inspect
import itertools
import os
import sys
import threading
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from autograph import modes
from autograph.compiler import (
    always,  # noqa: F401 - it loads what every first call needs
    backend,
)
from autograph.conversion import converted
from autograph.core.generated import is_part
from autograph.errors import ConversionError, StagingError
from autograph.garbage import rarely_collected
from autograph.graph.graph import Graph, Place, Tensor, region_operations
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import (
    UNBOUND,
    Array,
    ClosureT,
    Const,
    Ref,
    TooManyTypes,
    TupleT,
    Type,
    Union,
    conforms,
    join,
    walk,
)
from autograph.operators import calls
from autograph.operators.closures import as_value, refers
from autograph.operators.external import Spec, abstract, fields_of, is_static, signature
from autograph.operators.objects import outside_object
from autograph.operators.tracer import (
    MAX_PASSES,
    Decisions,
    Restart,
    Trace,
    current,
    deep_calls,
    pack,
    recording,
    tracing,
    tracing_now,
    unflatten,
    vtype,
)
from autograph.tracebacks import at_spots, spot_of, without_library

if TYPE_CHECKING:
    from pathlib import Path

CACHE_LIMIT = 256
"""At most this many signatures are kept for one function; the least recently used go first."""


class CacheInfo(NamedTuple):
    """What `cache_info()` tells: traces kept, calls that found one, calls that traced, and the limit."""

    traces: int
    hits: int
    misses: int
    limit: int


class Concrete:
    """A function traced for one signature."""

    def __init__(
        self, key: Hashable, types_: tuple[Type, ...], trace: Trace, passes: int, reason: str
    ) -> None:
        self.key, self.types = key, types_
        self.graph = trace.graph
        self.guards = list(trace.guards.values())
        self.notes = trace.notes
        self.passes, self.reason = passes, reason
        self.reasons = trace.decisions.reasons
        self.keep_alive = trace.keep_alive
        self.known = [
            i
            for i, t in enumerate(types_)
            if isinstance(t, Const) and isinstance(t.value, (bool, int, float, complex, tuple, np.generic))
        ]
        self.host_calls = trace.host_calls

    def fits(self, values: tuple[Any, ...]) -> bool:
        """Whether the arguments have the values that the trace needed to know."""
        return all(conforms(values[i], self.types[i]) for i in self.known)

    def holds(self) -> bool:
        """Whether everything that the trace took from outside is still as it was."""
        return all(_guard_holds(reference, seen) for reference, seen in self.guards)

    def broken_guard(self) -> str | None:
        for reference, seen in self.guards:
            if not _guard_holds(reference, seen):
                return f"'{reference!r}' changed"
        return None


def _value_of(reference: Any) -> Any:
    try:
        return reference.get()
    except (NameError, AttributeError):
        return reference


def _guard_holds(reference: Any, seen: Any) -> bool:
    try:
        value = reference.get()
    except (NameError, AttributeError):
        return False
    if isinstance(seen, tuple) and len(seen) == 2 and seen[0] == "identity":
        return value is seen[1]
    if isinstance(seen, tuple) and len(seen) == 2 and seen[0] == "value":
        return type(value) is type(seen[1]) and bool(value == seen[1])
    if isinstance(seen, tuple) and len(seen) == 2 and seen[0] == "static":
        return value is seen[1] or bool(signature(value) == seen)
    return bool(signature(value) == seen)


def _conforms_deep(value: Any, t: Type, memo: set[int]) -> bool:
    """As `conforms`, also for what lists, dicts and objects hold (of the same structure)."""
    if not conforms(value, t):
        return False
    if isinstance(t, Union):
        return any(_conforms_deep(value, m, memo) for m in t.members)
    if isinstance(t, TupleT):
        return all(_conforms_deep(v, i, memo) for v, i in zip(value, t.items))
    if not isinstance(t, Ref) or id(value) in memo:
        return True
    memo.add(id(value))
    site = t.site
    if t.kind == "list" and site.fixed is not None:
        return len(site.fixed) == len(value) and all(
            _conforms_deep(v, i, memo) for v, i in zip(value, site.fixed)
        )
    if t.kind in ("list", "set"):
        return all(_conforms_deep(v, site.elem, memo) for v in value)
    held = value.items() if t.kind == "dict" else fields_of(value).items() if t.kind == "object" else ()
    return all(_conforms_deep(v, site.fields.get(k, site.elem), memo) for k, v in held)


def _erase(part: Any) -> Any:
    """A signature with ranks in the place of shapes."""
    if isinstance(part, tuple):
        if len(part) == 3 and part[0] == "array":
            return ("array", part[1], len(part[2]))
        return tuple(_erase(p) for p in part)
    return part


class GraphFunction:
    """A Python function that runs as a graph, or eagerly, as the mode says. Made by `to_graph`."""

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        static: Iterable[str] = (),
        signature: tuple[Any, ...] | None = None,
        recursive: bool = True,
    ) -> None:
        self._plain = plain_function(fn)
        self.python_function = fn
        self._static = frozenset([static] if isinstance(static, str) else static)
        self._signature = signature
        self._recursive = recursive
        self._lock = threading.RLock()
        self._traces: collections.OrderedDict[Hashable, list[Concrete]] = collections.OrderedDict()
        self._general: dict[Hashable, Concrete] = {}
        self._ungeneral: set[Hashable] = set()
        self._hits = self._misses = 0
        self._log: list[str] = []
        self._record: Any = (
            None  # of the quick way into machine code, and the traces that it has been told of
        )
        self._quick: list[Concrete] = []
        functools.update_wrapper(self, fn, updated=())
        if not hasattr(self, "__name__"):
            self.__name__ = self._plain.__name__
        unknown = self._static - set(self._parameter_names())
        if unknown:
            raise ValueError(f"static names {sorted(unknown)} are not parameters of '{self._plain.__name__}'")

    def _parameter_names(self) -> tuple[str, ...]:
        code = self._plain.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    # -- calling ---------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            return calls.call(self, *args, **kwargs)
        mode = modes.get_mode()
        if mode == "eager":
            return self.python_function(*args, **kwargs)
        try:
            return self._run(args, kwargs) if mode == "graph" else self._run_ops(args, kwargs)
        except BaseException as error:
            traceback = user_traceback(error) if self._takes(args, kwargs) else None
            raise error.with_traceback(traceback)  # noqa: B904 - the same exception

    def _takes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the function can be called so; if not, no line of the user's is inside of the call."""
        try:
            inspect.signature(self.python_function).bind(*args, **kwargs)
        except TypeError:
            return False
        except ValueError:
            return True
        return True

    def _run_ops(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        log: list[str] = []
        self._log = log
        with deep_calls(), recording(log):
            return calls.call(self.python_function, *args, **kwargs)

    def __autograph_call__(self, *args: Any, **kwargs: Any) -> Any:
        return calls.call(self.python_function, *args, **kwargs)

    def eager(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the original function, whatever the mode."""
        return self.python_function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundGraphFunction(self, instance)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        errors = np.geterr()
        if any(v in ("raise", "call", "print", "log") for v in errors.values()):
            raise StagingError(
                f"np.seterr asks for {errors}",
                why="NumPy's floating point errors are not reported by a graph.",
                instead="Use np.errstate(all='ignore') around the call, or run it in eager mode.",
            )
        first = not self._traces
        concrete = self._concrete(args, kwargs)
        arguments: list[Any] = []
        for value, t in zip((*args, *kwargs.values()), concrete.types):
            _argument_leaves(value, t, arguments)
        with np.errstate(all="ignore"):
            result = backend.run(concrete.graph, arguments)
        # Not after the first call, which may be the only one: the first of all quick ways takes milliseconds.
        variants = 0 if first or kwargs else len(concrete.graph.native or ())
        if self._quick.count(concrete) < variants:
            self._quicken(concrete, args)
        return result

    def _quicken(self, concrete: Concrete, args: tuple[Any, ...]) -> None:
        """Lets the next calls like this one go to machine code without a step in Python."""
        from autograph.compiler import entry, quick

        self._quick.append(concrete)
        if self._signature is not None or not entry.available() or len(self._quick) > entry.MAX_VARIANTS:
            return
        with self._lock:
            if self._record is None:
                slow = functools.partial(GraphFunction.__call__, self)
                self._record = entry.Record(slow, modes._mode, tracing_now)
                members = {"__call__": self._record.builtin}
                self.__class__ = type(type(self).__name__, (type(self),), members)
            outside = [
                (modes.__dict__, "_default", modes._default),
                entry.environment("AUTOGRAPH_MODE"),
                entry.environment("AUTOGRAPH_BACKEND"),
            ]
            self._record.process(outside)
            guards = [
                quick.guard(reference, _value_of(reference), functools.partial(_guard_holds, reference, seen))
                for reference, seen in concrete.guards
            ]
            quick.add(self._record, concrete.graph, concrete.types, args, guards)

    # -- tracing ---------------------------------------------------------------------------------------------

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
        memo: dict[int, int] = {}
        names = self._names(len(args), kwargs)
        parts = tuple(
            ("value", v) if n in self._static else signature(v, memo)
            for n, v in zip(names, (*args, *kwargs.values()))
        )
        return (len(args), tuple(kwargs), parts)

    def _names(self, count: int, kwargs: dict[str, Any]) -> list[str]:
        names = list(self._plain.__code__.co_varnames[: self._plain.__code__.co_argcount])
        fn: Any = self.python_function
        while isinstance(fn, (functools.partial, GraphFunction)):
            if isinstance(fn, functools.partial):
                names = names[len(fn.args) :]
            fn = fn.func if isinstance(fn, functools.partial) else fn.python_function
        if not isinstance(fn, (types.FunctionType, staticmethod)):
            names = names[1:]  # without `self`
        positional = (names + [""] * count)[:count]
        return [*positional, *kwargs]

    def _looked_up(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Concrete:
        try:
            return self._concrete(args, kwargs)
        except BaseException as error:
            raise error.with_traceback(user_traceback(error))  # noqa: B904 - the same exception

    def _concrete(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Concrete:
        if self._signature is not None:
            args = self._declared(args, kwargs)
        key = self._key(args, kwargs)
        try:
            found = self._traces.get(key)
        except TypeError as error:
            raise refusal(self._placed(self._unhashable(args, kwargs, error))) from None
        if found is not None:
            values = (*args, *kwargs.values())
            for concrete in found:
                if concrete.fits(values) and concrete.holds():
                    self._hits += 1
                    with contextlib.suppress(KeyError):  # another thread has just dropped it
                        self._traces.move_to_end(key)
                    return concrete
        with self._lock, rarely_collected():
            return self._trace_for(key, args, kwargs)

    def _unhashable(self, args: tuple[Any, ...], kwargs: dict[str, Any], error: TypeError) -> StagingError:
        names = self._names(len(args), kwargs)
        given = dict(zip(names, (*args, *kwargs.values())))
        bad = [
            f"'{n}'"
            for n in names
            if n in self._static and not isinstance(given[n], collections.abc.Hashable)
        ]
        return StagingError(
            f"the static argument {', '.join(bad) or 'given'} of '{self.__name__}' cannot be hashed: {error}",
            why="A static argument's value is part of the key of a trace.",
            instead="Pass a hashable value (a tuple instead of a list), or do not name it in static=.",
        )

    def _placed(self, error: StagingError) -> StagingError:
        """The error with the place of the function's definition, where it has none of its own."""
        if error.location is None:
            try:
                from autograph.core.parser import parse_function

                source = parse_function(self._plain)
            except ConversionError:
                return error
            error.location = source.location(source.node)
        return error

    def _declared(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The declared types in the place of the arguments, which must be of these types."""
        specs = self._signature
        assert specs is not None
        if not args and not kwargs:
            return specs
        if kwargs or len(args) != len(specs):
            raise StagingError(
                f"'{self.__name__}' has a signature of {len(specs)} positional arguments",
                why="to_graph(signature=...) declares the type of each of them.",
                instead="Pass them all, by position.",
            )
        for i, (value, declared) in enumerate(zip(args, specs)):
            if value != declared if isinstance(value, Spec) else not conforms(value, declared.type):
                raise StagingError(
                    f"argument {i} of '{self.__name__}' is {type(value).__name__}, but its declared type is "
                    f"{declared.type!r}",
                    why="to_graph(signature=...) declares the types of the arguments.",
                    instead="Convert the argument, or leave out the signature.",
                )
        return specs

    def _trace_for(self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Concrete:
        values = (*args, *kwargs.values())
        for concrete in self._traces.get(key, ()):
            if concrete.fits(values) and concrete.holds():
                self._hits += 1
                return concrete
        erased = _erase(key)
        general = self._general.get(erased)
        wider: tuple[Type, ...] | None = None
        if general is not None and general.key != key:
            memo: set[int] = set()
            if all(_conforms_deep(v, t, memo) for t, v in zip(general.types, values)) and general.holds():
                self._hits += 1
                self._remember(key, general)
                return general
            wider = general.types
        self._misses += 1
        reason = self._why(key)
        if wider is not None and erased not in self._ungeneral:
            try:
                concrete = self._trace(key, args, kwargs, wider, reason)
            except StagingError as error:
                if error.what.startswith("internal error"):
                    raise
                self._ungeneral.add(erased)  # one trace for each shape, then
                wider = None
        if wider is None or erased in self._ungeneral:
            concrete = self._trace(key, args, kwargs, None, reason)
        self._general[erased] = concrete
        self._remember(key, concrete)
        return concrete

    def _remember(self, key: Hashable, concrete: Concrete) -> None:
        kept = [c for c in self._traces.pop(key, []) if c is not concrete][-7:]
        self._traces[key] = [concrete, *kept]
        while len(self._traces) > CACHE_LIMIT:
            self._traces.popitem(last=False)

    def _why(self, key: Any) -> str:
        """Why a call traces: what differs from the last trace."""
        if not self._traces:
            return "first call"
        broken = [c.broken_guard() for c in self._traces.get(key, ())]
        if broken:
            return next((b for b in broken if b), "an outside value changed")
        last: Any = next(reversed(self._traces))
        if last[:2] != key[:2]:
            return "the number or the names of the arguments differ"
        names = self._names(key[0], dict.fromkeys(key[1]))
        changes = [
            f"argument '{n or i}' was {_describe(old)}, is {_describe(new)}"
            for i, (n, old, new) in enumerate(zip(names, last[2], key[2]))
            if old != new
        ]
        return "; ".join(changes) or "the arguments share memory differently"

    def _trace(
        self,
        key: Hashable,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        wider: tuple[Type, ...] | None,
        reason: str,
    ) -> Concrete:
        decisions = Decisions()
        for passes in range(1, MAX_PASSES + 1):
            decisions.begin_pass()
            trace = Trace(decisions, self.__name__)
            trace.recursive = self._recursive  # type: ignore[attr-defined]
            with tracing(trace):
                try:
                    types_ = self._trace_once(trace, args, kwargs, wider)
                except Restart:
                    continue
                except TooManyTypes as error:
                    if decisions.changed:
                        continue
                    raise StagingError(
                        f"a value in '{self.__name__}' may have too many different types: {error}",
                        why="What a list, dict, object or variable may hold must come to a fixed, small set "
                        "of types.",
                        instead="Give it one type.",
                    ) from None
                except StagingError as error:
                    if decisions.changed and passes < MAX_PASSES:
                        continue
                    raise refusal(self._placed(error)) from error.__cause__
            if trace.poison is not None and not decisions.changed:
                raise refusal(trace.poison) from trace.poison.__cause__
            if not decisions.changed:
                link(trace.graph)
                for graph in trace.graph.functions() if decisions.host_called else ():
                    graph.host = True
                if os.environ.get("AUTOGRAPH_CHECK") == "1":
                    from autograph.graph.check import check

                    check(trace.graph)
                concrete = Concrete(key, types_, trace, passes, reason)
                if os.environ.get("AUTOGRAPH_DEBUG", "0") >= "2":
                    print(trace.graph, file=sys.stderr)
                return concrete
        raise StagingError(
            f"'{self.__name__}' does not come to a fixed set of types",
            why="What its loops carry changes its type in every turn.",
            instead="Give each name one type before the loop.",
        )

    def _trace_once(
        self, trace: Trace, args: tuple[Any, ...], kwargs: dict[str, Any], wider: tuple[Type, ...] | None
    ) -> tuple[Type, ...]:
        memo: dict[int, Type] = {}
        names = self._names(len(args), kwargs)
        types_: list[Type] = []
        values: list[Any] = []
        for i, (name, value) in enumerate(zip(names, (*args, *kwargs.values()))):
            label = name or f"argument {i}"
            special = f"arg:{label}" in trace.decisions.specialized
            try:
                t = (
                    Const(value)
                    if name in self._static or special
                    else abstract(trace, value, ("arg", i), memo)
                )
            except StagingError as error:
                error.what = f"argument '{name or i}{error.inside}': {error.what}"
                raise
            if wider is not None and not special:
                t = join(t, wider[i]) if isinstance(wider[i], (Array, TupleT)) else t
            types_.append(t)
            tensors = iter(_parameters(trace, t, label))
            values.append(unflatten(t, tensors))
        callee = self.python_function
        if not isinstance(
            callee, (types.FunctionType, types.MethodType, functools.partial)
        ) and not is_static(callee):
            callee = outside_object(trace, callee)

        def body() -> Any:
            found = calls.call(callee, *values[: len(args)], **dict(zip(kwargs, values[len(args) :])))
            return pack(map_tree(as_value, found) if isinstance(found, tuple) else as_value(found))

        alive, result = trace.run(body)
        _refuse_functions(trace, result)
        trace.graph.body.results = (result,) if alive else None
        trace.graph.result_type = vtype(result) if alive else None
        return tuple(types_)

    # -- looking inside --------------------------------------------------------------------------------------

    @property
    def code(self) -> str:
        """The converted Python source."""
        return to_code(self._plain)

    def get_graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph for arguments like these (traced if need be, not run)."""
        return self._looked_up(args, kwargs).graph

    def get_native(self, *args: Any, kind: str = "llvm", **kwargs: Any) -> str:
        """The machine code for arguments like these (compiled if need be, not run), as text.

        `kind` is "llvm" for LLVM's intermediate code, "asm" for assembly, or "loops" for a list of the loops:
        which functions are computed together, where values live, and which operations are called back.
        """
        if kind not in ("llvm", "asm", "loops"):
            raise ValueError(f"kind is {kind!r}; it may be 'llvm', 'asm' or 'loops'")
        native = self._native(self._looked_up(args, kwargs), args, kwargs)
        if native is None:
            graph = self._looked_up(args, kwargs).graph
            raise refusal(
                self._placed(
                    StagingError(
                        f"'{self.__name__}' has no machine code for these arguments",
                        why=f"The interpreter runs it: {graph.native_reason}.",
                        instead="Look at get_graph() in its place.",
                    )
                )
            )
        return native.listing() if kind == "loops" else backend.code(native, kind)

    def export_library(
        self,
        path: str | os.PathLike[str],
        *specs: Any,
        name: str | None = None,
        libraries: Sequence[str] = (),
    ) -> tuple[Path, Path]:
        """Writes the function as a library for C, which needs no Python, and a header beside it.

        `specs` are the types of the arguments (see `spec`): real numbers, and arrays of a known number of
        axes. The results may be numbers, arrays and tuples of them. The ending of `path` says what is
        written: an object file (.o, .obj), or a shared library (.so, .dylib, .dll), which the C compiler
        links ($CC, or cc). The C function is called as this one, or `name`; it gives 0, or a number of
        which `<name>_error` tells the meaning, with the user's line. What the function reads from outside
        is as it is now. The code is for processors such as this one, and runs in the thread that calls it.

        `libraries` are those to link with, such as "openblas": with one, products of matrices and linear
        algebra call BLAS and LAPACK (with integers of 32 bits); without, products are computed by loops.

        Gives the paths of the library and of the header. Raises StagingError, with the line, where the
        function needs Python to run, ValueError for another ending, and OSError where no C compiler is there
        to link.

        >>> import colorsys
        >>> yiq = to_graph(colorsys.rgb_to_yiq)
        >>> number = ag.spec(float)  # doctest: +SKIP
        >>> yiq.export_library("yiq.o", number, number, number, name="yiq")  # doctest: +SKIP
        (PosixPath('yiq.o'), PosixPath('yiq.h'))
        """
        from autograph.compiler import library

        bound = inspect.signature(self._plain).bind(*specs)
        for parameter, given in bound.arguments.items():
            values = given if isinstance(given, tuple) else (given,)
            if parameter not in self._static and not all(isinstance(value, Spec) for value in values):
                raise TypeError(f"the type of '{parameter}' is given by ag.spec(...), not by {given!r}")
        declared = GraphFunction(
            self.python_function,
            static=self._static,
            signature=tuple(library.plain(s) if isinstance(s, Spec) else s for s in specs),
            recursive=self._recursive,
        )
        try:
            return library.write(declared.get_graph(), path, name or self.__name__, libraries)
        except StagingError as error:
            raise refusal(self._placed(error)) from error.__cause__

    def _native(self, concrete: Concrete, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = (*args, *kwargs.values())
        declared = self._signature is not None and (
            not given or any(isinstance(value, Spec) for value in given)
        )
        arguments: list[Any] = []
        for value, t in zip(given, () if declared else concrete.types):
            _argument_leaves(value, t, arguments)
        return backend.variant(concrete.graph, None if declared else arguments)

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What was decided for such arguments: each loop and branch with its line, and why this call traced.

        Where graphs run as machine code: how long it took to make, and the operations that it calls back.

        Without arguments, after a call under `eager(ops=True)`: the ops that it executed, in order.
        """
        if not args and not kwargs and self._log:
            return "executed ops: " + ", ".join(self._log)
        concrete = self._looked_up(args, kwargs)
        lines = [f"{self.__name__}: traced because: {concrete.reason}; {concrete.passes} pass(es)"]
        seen: set[str] = set()
        notes = [(n.place, n.what) for n in concrete.notes]
        notes += [
            (o.place, "branch: staged, its test is a traced value")
            for o in concrete.graph.operations()
            if o.name == "cond"
        ]
        for place, what in notes:
            where = "" if place is None else f"{place.code.co_filename}:{place.line}: "
            text = f"  {where}{what}"
            if text not in seen:
                seen.add(text)
                lines.append(text)
        lines += [f"  restarted: {r}" for r in dict.fromkeys(concrete.reasons)]
        if backend.backend() == "native":
            native = self._native(concrete, args, kwargs)
            lines += (
                [f"  the interpreter runs it: {concrete.graph.native_reason}"]
                if native is None
                else [f"  {line}" for line in native.explanation()]
            )
        return "\n".join(lines)

    def cache_info(self) -> CacheInfo:
        """How many traces are kept, and how often calls found one."""
        traces = {id(c) for kept in list(self._traces.values()) for c in kept}
        quick = 0 if self._record is None else self._record.hits
        return CacheInfo(len(traces), self._hits + quick, self._misses, CACHE_LIMIT)

    def __repr__(self) -> str:
        return f"<GraphFunction {getattr(self.python_function, '__qualname__', self.__name__)}>"


class BoundGraphFunction:
    """A `GraphFunction` looked up on an instance."""

    __self__: Any

    def __init__(self, function: GraphFunction, instance: Any) -> None:
        self._function, self.__self__ = function, instance
        self.__func__ = function
        functools.update_wrapper(self, function.python_function, updated=())

    @property
    def python_function(self) -> Any:
        return types.MethodType(self._function.python_function, self.__self__)

    @property
    def code(self) -> str:
        """The converted Python source."""
        return self._function.code

    @property
    def __call__(self) -> Callable[..., Any]:
        return functools.partial(self._function, self.__self__)  # a method would stand in every traceback

    def __autograph_call__(self, *args: Any, **kwargs: Any) -> Any:
        return calls.call(self.python_function, *args, **kwargs)

    def eager(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the original method."""
        return self._function.eager(self.__self__, *args, **kwargs)

    def get_graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph for arguments like these."""
        return self._function.get_graph(self.__self__, *args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """What was decided for arguments like these."""
        return self._function.explain(self.__self__, *args, **kwargs)

    def get_native(self, *args: Any, kind: str = "llvm", **kwargs: Any) -> str:
        """The machine code for arguments like these."""
        return self._function.get_native(self.__self__, *args, kind=kind, **kwargs)

    def cache_info(self) -> CacheInfo:
        """The traces of the method, over all instances."""
        return self._function.cache_info()


def refusal(error: StagingError) -> StagingError:
    """The error with a traceback of the user's lines, and without what happened inside the library before."""
    trail = error.trail or (() if error.location is None else (spot_of(error.location),))
    error.__context__ = None
    return error.with_traceback(at_spots(trail))


def user_traceback(error: BaseException) -> types.TracebackType | None:
    """The user's lines of an exception's traceback; all of it where there are none, or when debugging us."""
    if os.environ.get("AUTOGRAPH_DEBUG", "0") >= "1":
        return error.__traceback__
    if (
        isinstance(error, ConversionError)
        and error.location is not None
        and error.location.column is not None
    ):
        return at_spots([spot_of(error.location)])
    seen, linked = {id(error)}, [error.__context__, error.__cause__]
    while linked:
        other = linked.pop()
        if other is not None and id(other) not in seen:
            seen.add(id(other))
            linked += [other.__context__, other.__cause__]
            other.__traceback__ = without_library(other.__traceback__, is_part) or other.__traceback__
    kept = without_library(error.__traceback__, is_part)
    return error.__traceback__ if kept is None and not isinstance(error, StagingError) else kept


backend.set_user_traceback(user_traceback)


def _describe(part: Any) -> str:
    if isinstance(part, type):
        return part.__name__
    if isinstance(part, tuple) and part and part[0] == "array":
        return f"{part[1]}{list(part[2])}"
    if isinstance(part, tuple) and part and part[0] in ("static", "value"):
        return repr(part[1])
    if isinstance(part, tuple) and part and isinstance(part[0], str):
        return f"{part[0]} {part[1] if len(part) > 1 else ''}"
    return repr(part)


def _parameters(trace: Trace, t: Type, label: str) -> list[Tensor]:
    from autograph.operators.tracer import leaf_types

    types_: list[Type] = []
    leaf_types(t, types_)
    out = []
    for leaf in types_:
        tensor = Tensor(leaf, trace.graph, None, f"arg:{label}")
        trace.graph.body.params.append(tensor)
        out.append(tensor)
    return out


def _argument_leaves(value: Any, t: Type, out: list[Any]) -> None:
    if isinstance(t, Const) or t is UNBOUND:
        return
    if isinstance(t, TupleT):
        for item, item_type in zip(value, t.items):
            _argument_leaves(item, item_type, out)
        return
    out.append(value)


def _refuse_functions(trace: Trace, result: Any) -> None:
    """Refuses functions of the trace that would outlive it: returned, or put where others see them."""
    left = [vtype(leaf) for leaf in leaves(result)]
    left += [Ref(site) for site in trace.decisions.sites.values() if site.root is not None]
    left += [p._ag_type for p in trace.graph.params]
    stores = (operation for operation in trace.graph.operations() if operation.name == "store")
    left += [vtype(leaf) for store in stores for leaf in leaves(store.args)]
    seen: set[int] = set()
    for fn in itertools.chain.from_iterable(_trace_functions(t, seen) for t in left):
        error = StagingError(
            f"the function '{fn.__name__}', made in the graph, is returned or kept outside",
            why="It refers to values that exist only while the graph runs.",
            instead="Return the values, and make the function outside.",
        )
        trace.poison = trace.located(error, Place(fn.__code__, -1, fn.__code__.co_firstlineno))
        raise error


def _trace_functions(t: Type, seen: set[int]) -> Iterator[types.FunctionType]:
    """The functions of the trace, over values of the graph, that a value of a type may be or hold."""
    for part in walk(t):
        held: Iterable[Type] = ()
        if isinstance(part, Const):
            yield from filter(refers, _functions_of(part.value))
        elif isinstance(part, ClosureT):
            held = part.captures
        elif isinstance(part, Ref) and id(part.site) not in seen:
            seen.add(id(part.site))
            yield from filter(refers, _functions_of(part.cls))
            held = (part.site.elem, part.site.key_type, *(part.site.fixed or ()), *part.site.fields.values())
        for inner in held:
            yield from _trace_functions(inner, seen)


def _functions_of(value: Any) -> Iterator[Any]:
    """The functions in a constant: itself, what a partial function calls, the methods of a class."""
    if isinstance(value, functools.partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _functions_of(part)
    elif isinstance(value, type):
        yield from (getattr(v, "__func__", v) for v in vars(value).values())
    elif isinstance(value, tuple):
        for item in value:
            yield from _functions_of(item)
    else:
        yield getattr(value, "__autograph_generator__", value)


# -- closure conversion --------------------------------------------------------------------------------------


def link(graph: Graph) -> None:
    """Gives each called graph the values that it takes from the graphs around it, as parameters."""
    functions = graph.functions()
    if len(functions) == 1:
        return
    free: dict[int, dict[int, Tensor]] = {id(g): {} for g in functions}
    changed = True
    while changed:
        changed = False
        for g in functions:
            mine = free[id(g)]
            before = len(mine)
            for operation in region_operations(g.body):
                for t in operation.inputs:
                    if t._ag_graph is not g:
                        mine.setdefault(id(t), t)
                for region in operation.regions:
                    _free_results(region, g, mine)
                if operation.callee is not None:
                    for t in free[id(operation.callee)].values():
                        if t._ag_graph is not g:
                            mine.setdefault(id(t), t)
            _free_results(g.body, g, mine)
            changed = changed or len(mine) != before
    for g in functions:
        if free[id(g)]:
            _lift(g, free)
    for g in functions:
        _pass_captures(g, free)


def _free_results(region: Any, g: Graph, mine: dict[int, Tensor]) -> None:
    for t in leaves(region.results or ()):
        if isinstance(t, Tensor) and t._ag_graph is not g:
            mine.setdefault(id(t), t)


def _lift(g: Graph, free: dict[int, dict[int, Tensor]]) -> None:
    for t in free[id(g)].values():
        inner = Tensor(t._ag_type, g, None, t._ag_name)
        g.body.params.append(inner)
        g.captures.append((t, inner))
    mapping = {id(t): inner for t, inner in g.captures}

    def swap(leaf: Any) -> Any:
        return mapping.get(id(leaf), leaf) if isinstance(leaf, Tensor) else leaf

    def rewrite(region: Any) -> None:
        for operation in region.ops:
            operation.args, operation.kwargs = map_tree(swap, (operation.args, operation.kwargs))
            for nested in operation.regions:
                rewrite(nested)
        if region.results is not None:
            region.results = map_tree(swap, region.results)

    rewrite(g.body)


def _pass_captures(g: Graph, free: dict[int, dict[int, Tensor]]) -> None:
    mapping = {id(t): inner for t, inner in g.captures}
    for operation in region_operations(g.body):
        if operation.callee is not None:
            extra = tuple(mapping.get(id(t), t) for t, _ in operation.callee.captures)
            operation.args = (*operation.args, *extra)


# -- the public decorators -----------------------------------------------------------------------------------


def plain_function(fn: Any) -> types.FunctionType:
    """The Python function behind a callable: a method, partial, callable object or decorated function."""
    seen = 0
    while not isinstance(fn, types.FunctionType):
        seen += 1
        if seen > 50:
            raise TypeError(f"{fn!r} wraps too many others")
        if isinstance(fn, functools.partial):
            fn = fn.func
        elif isinstance(fn, (types.MethodType, classmethod, staticmethod)):
            fn = fn.__func__
        elif hasattr(fn, "python_function"):
            fn = fn.python_function
        elif not isinstance(fn, type) and callable(fn) and isinstance(type(fn).__call__, types.FunctionType):
            fn = type(fn).__call__
        else:
            raise TypeError(f"{fn!r} is not a Python function, method or callable object")
    return fn


@overload
def to_graph(
    fn: None = None,
    *,
    static: Iterable[str] = (),
    signature: tuple[Any, ...] | None = None,
    recursive: bool = True,
) -> Callable[[Callable[..., Any]], GraphFunction]: ...


@overload
def to_graph(
    fn: Callable[..., Any],
    *,
    static: Iterable[str] = (),
    signature: tuple[Any, ...] | None = None,
    recursive: bool = True,
) -> GraphFunction: ...


def to_graph(
    fn: Any = None,
    *,
    static: Iterable[str] = (),
    signature: tuple[Any, ...] | None = None,
    recursive: bool = True,
) -> Any:
    """Makes a function run as a graph: traced once for each signature of its arguments, then only run.

    `static` names parameters whose values are constants of the graph (each value has a trace of its own);
    `signature` gives the types of the arguments beforehand (see `spec`); with `recursive=False` the functions
    that it calls are not converted: they run on the host. Works with and without arguments, on functions,
    lambdas, methods, class and static methods, callables and partials.

    >>> import autograph as ag
    >>> @ag.to_graph
    ... def gcd(a, b):
    ...     while b:
    ...         a, b = b, a % b
    ...     return a
    >>> gcd(48, 18)
    6
    """
    options: dict[str, Any] = {"static": static, "signature": signature, "recursive": recursive}
    if fn is None:
        return lambda f: to_graph(f, **options)
    if isinstance(fn, (classmethod, staticmethod)):
        return type(fn)(to_graph(fn.__func__, **options))
    if isinstance(fn, (GraphFunction, BoundGraphFunction)):
        return fn
    return GraphFunction(fn, **options)


def to_code(fn: Callable[..., Any]) -> str:
    """The converted Python source of a function.

    >>> print(to_code(lambda x: x + 1).strip())  # doctest: +SKIP
    """
    from autograph.core.unparser import to_source

    plain = plain_function(fn)
    return to_source(converted(plain).tree(plain))


def do_not_convert(fn: Any) -> Any:
    """Marks a function that is never converted: in a graph it runs on the host, in program order.

    >>> do_not_convert(print) is print
    True
    """
    if isinstance(fn, types.FunctionType):
        fn.__autograph_do_not_convert__ = True  # type: ignore[attr-defined]
    return fn


__all__ = ["CacheInfo", "GraphFunction", "do_not_convert", "to_code", "to_graph"]
