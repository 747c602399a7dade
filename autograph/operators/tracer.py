"""The trace: the state of a function being captured, and how operations are added to its graph.

A trace is started again from the beginning (`Restart`) when a choice proves wrong; the choices are kept in
`Decisions`, which only grow, so the number of passes is bounded.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import threading
import types
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NoReturn

import numpy as np

from autograph.core.generated import is_generated, is_part
from autograph.errors import Location, StagingError
from autograph.graph import types as graph_types
from autograph.graph.graph import Graph, Operation, Place, Region, Tensor
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import (
    BOTTOM,
    NESTED_TUPLES,
    UNBOUND,
    Const,
    Py,
    Ref,
    Scalar,
    Site,
    TooManyTypes,
    TupleT,
    Type,
    Unbound,
    Union,
    join,
    members,
    without,
)
from autograph.ops import base
from autograph.ops.base import NeedConcrete, Op, Refuse, for_all_axes, infer
from autograph.records import field, record_class

STEP_BUDGET = 10_000
MAX_PASSES = 80
UNROLL_LIMIT = 64


class Restart(BaseException):
    """The trace starts again with the decisions made so far."""


class DeadEnd(BaseException):
    """The region being traced never gets past this point: an operation in it always raises."""


@record_class
class Carried:
    """What one copy of a loop carries, and how it is peeled (see `staging`)."""

    key: Hashable  # names the types that it starts with
    entry: tuple[Type, ...]
    types: tuple[Type, ...] | None = None
    plan: str | None = None  # None: not decided; 'whole', 'first turn', 'while mixed'
    names: tuple[str, ...] = ()  # the variables that it is peeled for
    alternatives: int = 0  # of what it would carry as a whole
    changes: int = 0  # of decisions, when this pass came to it


@record_class
class LoopDecision:
    """What was decided of one loop: how it runs (None, 'stage', 'unroll'), why, and what its copies carry."""

    mode: str | None = None
    reason: str = ""
    copies: dict[Hashable, dict[Hashable, Carried]] = field(default_factory=dict)
    plans: dict[Hashable, Carried] = field(default_factory=dict)  # by the types that it starts with


class Decisions:
    """What is kept from one pass of a trace to the next."""

    def __init__(self) -> None:
        self.sites: dict[Hashable, Site] = {}
        self.loops: dict[Hashable, LoopDecision] = {}
        self.results: dict[Hashable, Type] = {}
        self.sums: dict[Hashable, Any] = {}  # how what sum() is given is added, as `sums.kind_of` tells
        self.graph_functions: set[Hashable] = set()
        self.generalized: set[Hashable] = set()
        self.widened: set[Hashable] = set()  # functions with one graph for all arguments
        self.arguments: dict[Hashable, Type] = {}
        self.specialized: set[Hashable] = set()
        self.host_called = False  # host code runs in the graph: live lists and dicts may change their size
        self.touched: set[Hashable] = set()
        self.changed = False
        self.changes = 0
        self.passes = 0
        self.planned: set[int] = set()  # the passes in which it was decided to peel a loop
        self.reasons: list[str] = []

    def change(self, reason: str = "") -> None:
        self.changed = True
        self.changes += 1
        if reason:
            self.reasons.append(reason)

    def site(self, key: Hashable, kind: str, cls: type) -> Site:
        """The site of a place; a class that the trace itself defines is another object in every pass."""
        count = 0
        while True:
            name = (key, kind, cls.__qualname__, count)
            site = self.sites.get(name)
            if site is None:
                site = self.sites[name] = Site(key, kind, cls, self.change)
                site.number = len(self.sites)
                self.touched.add(name)
                return site
            if site.cls is cls:
                self.touched.add(name)
                return site
            if name not in self.touched:
                site.cls = cls
                self.touched.add(name)
                return site
            count += 1

    def merge(self, sites: tuple[Site, ...]) -> None:
        """Makes one site of several whose instances meet in one value; the trace starts again."""
        kept, *others = sites
        for other in others:
            kept.absorb(other)
        table = dict.fromkeys(others, kept)
        self.sites = {name: table.get(site, site) for name, site in self.sites.items()}
        for site in self.sites.values():
            site.replace(table)
        for carried in self.carried():
            if carried.types is not None:
                carried.types = tuple(graph_types.with_sites(t, table) for t in carried.types)
        self.results = {key: graph_types.with_sites(t, table) for key, t in self.results.items()}
        self.arguments = {key: graph_types.with_sites(t, table) for key, t in self.arguments.items()}
        self.change(f"a value is one of several objects of class {kept.cls.__name__}")
        raise Restart

    def loop(self, key: Hashable) -> LoopDecision:
        return self.loops.setdefault(key, LoopDecision())

    def carried(self) -> Iterator[Carried]:
        """What is known of each copy of each loop."""
        for decision in self.loops.values():
            for copies in decision.copies.values():
                yield from copies.values()

    def begin_pass(self) -> None:
        self.changed = False
        self.passes += 1
        self.touched = set()
        for site in self.sites.values():
            site.was_read = False
            site.made = 0
            site.forget(_is_of_one_pass)
        for carried in self.carried():
            if carried.types is not None:
                carried.types = tuple(without(t, _is_of_one_pass) for t in carried.types)
        self.results = {key: without(t, _is_of_one_pass) for key, t in self.results.items()}
        self.arguments = {key: without(t, _is_of_one_pass) for key, t in self.arguments.items()}


def _function_key(fn: types.FunctionType, seen: tuple[Any, ...] = ()) -> Hashable:
    """Functions made in a trace from the same code, over the same variables, are interchangeable.

    A variable counts as the same in every pass of the trace: by the place and number of its box, or its
    position among the parameters.
    """
    if not is_generated(fn.__code__):
        return id(fn)
    if fn in seen:
        return ("itself", seen.index(fn))
    parts: list[Hashable] = [id(fn.__code__)]
    for cell in fn.__closure__ or ():
        try:
            parts.append(_content_key(cell.cell_contents, (*seen, fn)))
        except ValueError:
            return id(fn)
    for name, default in (*enumerate(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).items()):
        parts.append((name, _content_key(default, (*seen, fn))))
    return tuple(parts)


def _content_key(content: Any, seen: tuple[Any, ...]) -> Hashable:
    if isinstance(content, Tensor):
        position = _position(content)
        return id(content) if position is None else ("parameter", position)
    if isinstance(content, types.FunctionType):
        return _function_key(content, seen)
    if isinstance(content, Variable):
        return id(content) if content.key is None else ("box", content.key)
    return graph_types.const_key(content)


def _position(tensor: Tensor) -> int | None:
    """Which parameter of the captured function a tensor is."""
    if tensor._ag_op is not None:
        return None
    for position, parameter in enumerate(tensor._ag_graph.params):
        if parameter is tensor:
            return position
    return None


UNKNOWN_ERROR = object()
"""In the place of the exception that is handled: there may be one, or none."""


class Variable:
    """Base of `Box`; `key` names it in every pass of a trace (None: it has no name)."""

    __slots__ = ("key", "owner")
    key: Hashable
    owner: Any


graph_types.function_key = _function_key


def _is_of_one_pass(t: Type) -> bool:
    """Functions and other things that a pass of the trace makes anew."""
    if not isinstance(t, Const):
        return False
    value = t.value
    if isinstance(value, TracedValue):
        return True
    return isinstance(value, types.FunctionType) and is_generated(value.__code__) and not _is_portable(value)


def _is_portable(fn: types.FunctionType, seen: tuple[Any, ...] = ()) -> bool:
    """Whether everything that a function refers to has its counterpart in every pass of the trace."""
    if not is_generated(fn.__code__) or fn in seen:
        return True
    try:
        contents = [cell.cell_contents for cell in fn.__closure__ or ()]
    except ValueError:
        return False
    contents += [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
    return all(_has_counterpart(content, (*seen, fn)) for content in contents)


_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, type)


def _has_counterpart(content: Any, seen: tuple[Any, ...]) -> bool:
    if isinstance(content, Tensor):
        return _position(content) is not None
    if isinstance(content, Variable):
        return content.key is not None
    if isinstance(content, types.FunctionType):
        return _is_portable(content, seen)
    return isinstance(content, _PLAIN) or type(content).__name__ == "Scope"


def fresh(value: Any) -> Any:
    """A function made by an earlier pass of the trace, over the variables of this one; other values as is."""
    if not isinstance(value, types.FunctionType) or not is_generated(value.__code__):
        return value
    trace = require()
    known = trace.refreshed.get(id(value))
    if known is not None:
        return known[1]
    made = _refresh(trace, value)
    if not _is_stale(trace, made):  # else its variables may be made later in this pass
        trace.refreshed[id(value)] = (value, made)
    return made


def _is_stale(trace: Trace, fn: types.FunctionType) -> bool:
    """Whether a function refers to a variable of an earlier pass."""
    contents = [cell.cell_contents for cell in fn.__closure__ or ()]
    return any(isinstance(c, Variable) and c.owner is not trace for c in contents)


def _refresh(trace: Trace, fn: types.FunctionType) -> types.FunctionType:
    parts = [_refresh_content(trace, cell.cell_contents, fn) for cell in fn.__closure__ or ()]
    defaults = [_refresh_content(trace, v, fn) for v in fn.__defaults__ or ()]
    keywords = {k: _refresh_content(trace, v, fn) for k, v in (fn.__kwdefaults__ or {}).items()}
    if not any(changed for changed, _ in (*parts, *defaults, *keywords.values())):
        return fn
    cells = tuple(types.CellType(content) for _, content in parts)
    made = types.FunctionType(
        fn.__code__, fn.__globals__, fn.__name__, tuple(v for _, v in defaults) or None, cells
    )
    made.__kwdefaults__ = {k: v for k, (_, v) in keywords.items()} or None
    made.__qualname__, made.__module__ = fn.__qualname__, fn.__module__
    for cell in cells:
        if cell.cell_contents is fn:
            cell.cell_contents = made
    return made


def _refresh_content(trace: Trace, content: Any, fn: types.FunctionType) -> tuple[bool, Any]:
    """(is it another object now, the counterpart in this pass)."""
    if content is fn:
        return False, content
    new = content
    if isinstance(content, Variable) and content.owner is not trace and content.key is not None:
        new = trace.boxes.get(content.key, content)
    elif (
        isinstance(content, Tensor)
        and content._ag_graph is not trace.graph
        and _position(content) is not None
    ):
        position = _position(content)
        same = [g for g in trace.graphs if g.name == content._ag_graph.name]
        if same and position is not None and position < len(same[-1].params):
            new = same[-1].params[position]
    elif isinstance(content, types.FunctionType):
        new = fresh(content)
    return new is not content, new


@record_class
class Note:
    """One line of `explain`: what was decided at a place."""

    place: Place | None
    what: str


_NOT_IN_A_GRAPH = "No operation of a graph does this."
_OUTSIDE = "Do it outside the function, and pass the result in as an argument."


class Trace:
    """One pass of capturing one function."""

    def __init__(self, decisions: Decisions, name: str) -> None:
        self.decisions = decisions
        self.graph = Graph(name)
        self.graphs: list[Graph] = [self.graph]
        self.regions: list[Region] = [self.graph.body]
        self.attempts: list[Hashable] = []
        self.loops: list[tuple[Hashable, bool]] = []  # staged loops around this point: key, could be unrolled
        self.copy: tuple[tuple[Hashable, str], ...] = ()  # the parts of peeled loops around this point
        self.bodies = 0  # of staged loops, traced so far
        self.notes: list[Note] = []
        self.steps = 0
        self.functions: dict[Hashable, Any] = {}
        self.inlined: dict[Hashable, int] = {}
        self.call_stack: list[Any] = []
        self.caller: Place | None = (
            None  # of the function being traced, where its call is a part of this graph
        )
        self.context: list[Hashable] = []  # the graph function being traced: part of the keys of sites
        self.guards: dict[Hashable, tuple[Any, Any]] = {}
        self.poison: StagingError | None = None
        self.host_calls = 0
        self.keep_alive: list[Any] = []
        self.external: dict[int, Type] = {}  # types of live objects met outside the trace, by id
        self.handling: list[Any] = []
        self.local_classes: list[type] = []
        self.reads_exceptions = False
        self.inferring = ""  # the op whose type is being found
        self.generators: list[types.CodeType] = []  # being run
        self.hint: Hashable = None  # tells apart what is made at one place of the code
        self.try_depth = 0
        self.generator_levels: list[Hashable] = []  # the generators being run: code, consumer, arguments
        self.boxes: dict[Hashable, Any] = {}  # the boxes made in this pass, by their key
        self.box_counts: dict[Hashable, int] = {}
        self.refreshed: dict[int, tuple[Any, Any]] = {}
        self.closing: list[Any] = []  # local functions that are becoming values
        self.closures: dict[int, tuple[Any, Any, Any, Tensor]] = {}  # local functions that became values

    # -- places and keys -------------------------------------------------------------------------------------

    def frame(self) -> types.FrameType | None:
        """The innermost frame of converted code."""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and not is_generated(frame.f_code):
            frame = frame.f_back
        return frame

    def place(self) -> Place | None:
        frame = self.frame()
        return None if frame is None else Place(frame.f_code, frame.f_lasti, frame.f_lineno, self.caller)

    def key(self, what: Hashable = "") -> Hashable:
        """Names the place of converted code that is running, the same in every pass."""
        frame = self.frame()
        context = self.context[-1] if self.context else None
        if frame is None:
            return (context, what)
        return (
            context,
            id(frame.f_code),
            frame.f_lasti,
            what,
        )  # by identity: equal code may stand on one line

    def callers(self) -> tuple[Hashable, ...]:
        """The calls, traced in their places, that lead to the function being traced."""
        out: list[Hashable] = []
        place = self.caller
        while place is not None:
            out.append((id(place.code), place.lasti))
            place = place.caller
        return tuple(out)

    def location(self) -> Location | None:
        place = self.place()
        return None if place is None else place.location()

    # -- errors ----------------------------------------------------------------------------------------------

    def refuse(self, what: str, why: str = "", instead: str = "") -> NoReturn:
        """Ends the trace with a StagingError at the user's line; nothing can swallow it."""
        error = self.located(StagingError(what, why=why or _NOT_IN_A_GRAPH, instead=instead or _OUTSIDE))
        self.poison = error
        raise error

    def located(self, error: StagingError, place: Place | None = None) -> StagingError:
        """The error with a place, otherwise that of the converted code that is running."""
        place = place or self.place()
        if place is not None:
            error.location = place.location()
            error.trail = tuple(place.spots())
        return error

    # -- growing the graph -----------------------------------------------------------------------------------

    @property
    def region(self) -> Region:
        return self.regions[-1]

    def append(self, operation: Operation) -> None:
        if self.attempts:
            for key in self.attempts:
                decision = self.decisions.loop(key)
                decision.mode, decision.reason = "stage", "its body computes with traced values"
            raise Restart
        self.region.ops.append(operation)

    def tensor(self, type_: Type, op: Operation | None = None, name: str = "") -> Tensor:
        if sites := graph_types.alike(type_):
            self.decisions.merge(sites)
        tensor = Tensor(type_, self.graphs[-1], op, name)
        object.__setattr__(tensor, "_ag_region", self.region)
        return tensor

    def reaches(self, tensor: Tensor) -> bool:
        """Whether an operation here can take a tensor as it is."""
        region = tensor._ag_region
        return region in self.regions and tensor._ag_graph is self.graphs[-1]

    def reach(self, tensor: Tensor) -> None:
        """Checks that a tensor exists where it is used: a function made in a loop's turn may carry it out."""
        region = tensor._ag_region
        if region is None or region in self.regions:
            return
        while region is not None:
            if region.loop is not None:
                key, unrollable = region.loop
                decision = self.decisions.loop(key)
                if unrollable and decision.mode != "unroll":
                    decision.mode = "unroll"
                    decision.reason = "a function made in its body carries a value out of it"
                    raise Restart
            region = region.parent
        self.refuse(
            "a function made in a branch or in a turn of a loop is called after it",
            "It refers to values that exist only there.",
            "Make the function outside the loop, and pass the values as arguments.",
        )

    @contextlib.contextmanager
    def nested(self) -> Iterator[Region]:
        """Operations go to a new region inside the current one."""
        region = Region(self.graphs[-1], parent=self.region)
        self.regions.append(region)
        try:
            yield region
        finally:
            self.regions.pop()

    @contextlib.contextmanager
    def within(self, region: Region) -> Iterator[None]:
        """Operations go to a region around the current one, before what holds that."""
        regions, graphs = self.regions, self.graphs
        self.regions = regions[: regions.index(region) + 1]
        self.graphs = graphs[: graphs.index(region.graph) + 1]
        try:
            yield
        finally:
            self.regions, self.graphs = regions, graphs

    def param(self, region: Region, type_: Type, name: str = "") -> Tensor:
        if sites := graph_types.alike(type_):
            self.decisions.merge(sites)
        tensor = Tensor(type_, region.graph, None, name)
        object.__setattr__(tensor, "_ag_region", region)
        region.params.append(tensor)
        return tensor

    def step(self) -> None:
        """Counts a turn of a loop or a call that runs in Python during the trace."""
        self.steps += 1
        if self.steps <= STEP_BUDGET:
            return
        if self.attempts:
            for key in self.attempts:
                decision = self.decisions.loop(key)
                decision.mode, decision.reason = "stage", f"it takes more than {STEP_BUDGET} steps"
            raise Restart
        self.refuse(
            f"more than {STEP_BUDGET} steps run while tracing",
            "Loops and calls on values that are known run in Python during the trace, up to a budget.",
            "Pass one of the values as an argument, so that the loop or recursion is staged.",
        )

    def run(self, body: Callable[[], Any]) -> tuple[bool, Any]:
        """Traces a body in the current region: (it gets to its end, what it returns).

        A user's exception raised by values that are known becomes a raise in the graph.
        """
        try:
            return True, body()
        except DeadEnd:
            return False, None
        except Exception as error:
            self.raise_known(error)
            return False, None

    def raise_here(self, error: Exception) -> NoReturn:
        """An exception of the user's that the operation at hand raises each time the graph runs."""
        from autograph.ops import core

        self.append(Operation("raise", (core.Made(error),), {}, [], place=self.place(), op=core.RAISE))
        raise DeadEnd

    def raise_known(self, error: Exception) -> None:
        """Puts an exception, raised by user code on known values during the trace, into the graph."""
        if isinstance(error, StagingError):
            raise error
        if isinstance(error, RecursionError) and self.call_stack:
            codes = [code for code, _ in self.call_stack]
            if self.decisions.graph_functions.issuperset(codes):
                raise internal_error(error, self) from error
            self.decisions.graph_functions.update(codes)
            self.decisions.generalized.update(codes)
            self.decisions.widened.update(codes)
            self.decisions.change("calls are nested too deeply")
            raise Restart from None
        place = user_place(error, self.caller)
        if place is None:
            raise internal_error(error, self) from error
        from autograph.ops import core
        from autograph.ops.core import RAISE

        operation = Operation("raise", (core.Made(error),), {}, [], place=place, op=RAISE)
        operation.outputs.append(self.tensor(BOTTOM, operation))
        self.append(operation)

    def need_concrete(self, what: str, args: Any, op: Op) -> Type:
        """An op needs an unknown value: unroll a loop, fix a scalar, try all axes; else refuse."""
        for key, possible in reversed(self.loops):
            decision = self.decisions.loop(key)
            if possible and decision.mode != "unroll":
                decision.mode, decision.reason = "unroll", f"its body needs the value of {what}"
                raise Restart
        for origin in origins(args):
            if origin not in self.decisions.specialized:
                self.decisions.specialized.add(origin)
                self.decisions.change(f"the value of {what} must be known")
                raise Restart
        if (found := for_all_axes(what, op, *map_tree(_abstract, args))) is not None:
            return found
        return self.refuse(
            f"'{op.name}' needs the value of {what} while the graph is built, but it is only known when the "
            "graph runs",
            "The rank and dtype of every array must be known.",
            f"Use a constant for {what}, or name the argument that it comes from in to_graph(static=...).",
        )


_state = threading.local()
tracing_now: contextvars.ContextVar[bool | None] = contextvars.ContextVar("autograph_tracing", default=None)
"""Whether a function is being captured here; machine code looks at it."""


def current() -> Trace | None:
    """The trace of this thread, if a function is being captured."""
    return getattr(_state, "trace", None)


RECURSION_LIMIT = 8_000
_limit_lock = threading.Lock()
_limit_users = 0
_limit_before = 0


@contextlib.contextmanager
def deep_calls() -> Iterator[None]:
    """Lets Python's calls nest deeper than the user's: converted code has more frames than the function."""
    global _limit_users, _limit_before
    with _limit_lock:
        if _limit_users == 0:
            _limit_before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit_before, RECURSION_LIMIT))
        _limit_users += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_users -= 1
            if _limit_users == 0:
                with contextlib.suppress(RecursionError):
                    sys.setrecursionlimit(_limit_before)


@contextlib.contextmanager
def tracing(trace: Trace | None) -> Iterator[None]:
    """Makes `trace` the current one of this thread."""
    before = current()
    _state.trace = trace
    token = tracing_now.set(None if trace is None else True)
    try:
        with deep_calls():
            yield
    finally:
        tracing_now.reset(token)
        _state.trace = before


def loops_around() -> tuple[Hashable, ...]:
    """The staged loops around the code that is running."""
    trace = current()
    return () if trace is None else tuple(key for key, _ in trace.loops if key != ("branch",))


def require() -> Trace:
    trace = current()
    if trace is None:
        raise StagingError(
            "a tensor of a graph is used after its trace has ended",
            why="It stands for a value that exists only while its graph runs.",
            instead="Return the value from the function instead of keeping it elsewhere.",
        )
    return trace


def user_place(error: BaseException, caller: Place | None = None) -> Place | None:
    """Where converted code, called from `caller`, raised this; None if the library itself did."""
    tb = error.__traceback__
    last = None
    calls: list[Place | None] = [caller]
    while tb is not None:
        last = tb
        code = tb.tb_frame.f_code
        if is_generated(code):
            if len(calls) > 1 and is_part(code):
                calls.pop()
            calls.append(Place(code, tb.tb_lasti, tb.tb_lineno, calls[-1]))
        tb = tb.tb_next
    return calls[-1] if last is not None and is_generated(last.tb_frame.f_code) else None


def internal_error(error: BaseException, trace: Trace) -> StagingError:
    result = StagingError(
        f"internal error of autograph: {type(error).__name__}: {error}",
        why="This is a bug of the library, not of the function.",
        instead="Run the function in eager mode meanwhile, and report this message with the function.",
    )
    trace.located(result)
    trace.poison = result
    return result


def origins(tree: Any) -> Iterator[Hashable]:
    """The inputs of the trace (scalars only) that the scalars in `tree` are computed from."""
    todo = [leaf for leaf in leaves(tree) if isinstance(leaf, Tensor)]
    seen: set[int] = set()
    while todo:
        tensor = todo.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        if not all(map(_foldable, members(tensor._ag_type))):
            continue
        op = tensor._ag_op
        if op is None:
            if tensor._ag_name.startswith("arg:"):
                yield tensor._ag_name
        elif op.name == "load":
            yield ("load", op.args[0].key)
        elif not op.regions:
            todo.extend(op.inputs)


# -- values --------------------------------------------------------------------------------------------------


def vtype(value: Any) -> Type:
    """The type of a value of the trace."""
    if isinstance(value, Tensor):
        return value._ag_type
    if isinstance(value, Unbound):
        return UNBOUND
    if isinstance(value, tuple):
        return TupleT(tuple(vtype(v) for v in value), type(value))
    if isinstance(value, slice) and has_tensor(value):
        return Py(slice)
    if isinstance(value, types.FunctionType) and _is_local(value):
        from autograph.operators.closures import closure_type

        return closure_type(value)
    return Const(value)


def has_tensor(value: Any) -> bool:
    """Whether a traced value is in it."""
    if isinstance(value, tuple):
        return any(has_tensor(v) for v in value)
    if isinstance(value, slice):
        return has_tensor((value.start, value.stop, value.step))
    if isinstance(value, types.FunctionType):
        return _is_local(value)
    return isinstance(value, (Tensor, TracedValue))


class TracedValue:
    """Base of what exists only in a trace and may hold tensors: bound methods, generators, iterables."""

    def pack(self) -> Any:
        """The value as one leaf of an operation, or a refusal."""
        raise NotImplementedError

    def truth(self) -> Any:
        """What `bool()` of the value gives."""
        raise NotImplementedError


def _no_operator(self: TracedValue, *args: Any) -> NoReturn:
    require().refuse(
        "an operator is applied to a generator, an iterator or a method",
        "In a graph it is no object of its own: it is used where it is made.",
        "Make a list of it first, or call it.",
    )


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift")
_OTHERS = ("lt", "le", "gt", "ge", "neg", "pos", "invert", "getitem", "setitem", "delitem", "int", "float")
for _name in (*_BINARY, "rshift", "divmod", *_OTHERS, "index", "complex", "abs", "round"):
    setattr(TracedValue, f"__{_name}__", _no_operator)
for _name in (*_BINARY, "rshift", "divmod"):
    setattr(TracedValue, f"__r{_name}__", _no_operator)


def pack(value: Any) -> Any:
    """One leaf for a value: a tensor, or a constant."""
    if isinstance(value, tuple) and has_tensor(value):
        from autograph.ops.core import MAKE_TUPLE

        if type(value) is tuple:
            return emit(MAKE_TUPLE, tuple(value), raw=True)
        from autograph.ops.core import MAKE_NAMEDTUPLE

        return emit(MAKE_NAMEDTUPLE, type(value), *value, raw=True)
    if isinstance(value, slice) and has_tensor(value):
        from autograph.ops.core import MAKE_SLICE

        return emit(MAKE_SLICE, value.start, value.stop, value.step)
    if isinstance(value, TracedValue):
        return value.pack()
    if isinstance(value, types.FunctionType) and _is_local(value):
        from autograph.operators.closures import pack_closure

        return pack_closure(value)
    check_constant(value)
    return value


def _is_local(fn: types.FunctionType) -> bool:
    if not is_generated(fn.__code__):
        return False
    from autograph.operators.closures import is_local

    return is_local(fn)


def check_constant(value: Any) -> None:
    """Neither integers beyond 64 bits enter a graph, nor arrays made by the trace: they may be written."""
    if isinstance(value, np.ndarray):
        require().refuse(
            "an array made by code that is not converted meets a traced value",
            "It was made once, while the graph was built, but each run must have its own.",
            "Make it with a NumPy function called by name (np.array, np.arange, ...), or pass it in as an "
            "argument.",
        )
    if type(value) is int and not -(2**63) <= value < 2**63:
        from autograph.errors import IntegerOverflow

        trace = require()
        error = IntegerOverflow(
            f"the integer {value if abs(value) < 10**40 else f'of {value.bit_length()} bits'} does not fit "
            "in 64 bits",
            why="Python integers are 64 bits wide in a graph.",
            instead="Use a float, or np.uint64.",
        )
        trace.located(error)
        trace.poison = error
        raise error


def flatten(value: Any, t: Type, out: list[Any]) -> None:
    """The leaves of `value` seen as type `t` (constants have none)."""
    if isinstance(t, Const) or t is UNBOUND:
        return
    if isinstance(t, TupleT):
        items = value if isinstance(value, tuple) else unpack_tuple(value, t)
        for item, item_type in zip(items, t.items):
            flatten(item, item_type, out)
        return
    leaf = pack(value)
    if isinstance(leaf, Tensor):
        require().reach(leaf)
    out.append(leaf)


def unpack_tuple(value: Tensor, t: TupleT) -> tuple[Any, ...]:
    from autograph.ops.core import ITEM

    return tuple(emit(ITEM, value, i) for i in range(len(t.items)))


def leaf_types(t: Type, out: list[Type]) -> None:
    if isinstance(t, Const) or t is UNBOUND:
        return
    if isinstance(t, TupleT):
        for item in t.items:
            leaf_types(item, out)
        return
    out.append(t)


def leaf_names(t: Type, names: tuple[str, ...]) -> list[str]:
    """The user's variable for each leaf of a state of these names; all empty for what is not a state."""
    leaves: list[Type] = []
    if not isinstance(t, TupleT) or len(names) != len(t.items):
        leaf_types(t, leaves)
        return [""] * len(leaves)
    out: list[str] = []
    for name, item in zip(names, t.items):
        leaves.clear()
        leaf_types(item, leaves)
        out += [name] * len(leaves)
    return out


def unflatten(t: Type, values: Iterator[Any]) -> Any:
    """The value of type `t` made of leaves."""
    if isinstance(t, Const):
        return fresh(t.value)
    if t is UNBOUND:
        return Unbound()
    if isinstance(t, TupleT):
        items = [unflatten(i, values) for i in t.items]
        return tuple(items) if t.cls is tuple else t.cls(*items)
    return next(values)


def settle(tensor: Tensor) -> Any:
    """A tensor, or the plain value where its type already tells it."""
    t = tensor._ag_type
    if isinstance(t, Const):
        return fresh(t.value)
    if t is UNBOUND:
        return Unbound()
    return tensor


# -- emitting ------------------------------------------------------------------------------------------------

_FOLDABLE = (Py, Scalar, Const)


def _with_names(refusal: Refuse, args: Any) -> tuple[str, str, str]:
    """The texts of a refusal, with the user's text of the host call that it is about."""
    texts = (refusal.what, refusal.why, refusal.instead)
    operations = (leaf._ag_op for leaf in leaves(args) if isinstance(leaf, Tensor))
    found = next(
        (o for o in operations if o is not None and o.name == "host_call" and o.place is not None), None
    )
    if found is None or found.place is None:
        return texts
    location = found.place.location()
    text = location.source_line()[location.column or 0 : location.end_column or 0]
    callee = text.partition("(")[0]
    if not text.endswith(")") or not callee.replace(".", "").isidentifier():
        return texts
    what = refusal.what.replace("the result of a host call", f"the result of '{text}'")
    what = what.replace("a host call's result", f"the result of '{text}'")
    why = refusal.why.replace("A function that is not converted", f"'{callee}' is not converted: it")
    arguments = text[len(callee) + 1 : -1]
    call = f"{callee}, {arguments}" if arguments else callee
    return what, why, refusal.instead.replace("ag.host_call(function, ...", f"ag.host_call({call}")


def shown(name: str) -> str:
    """A variable in the text of an error."""
    return "what the function returns" if name.startswith("retval_") else f"'{name}'"


def _too_many(op: Op, args: Any, error: TooManyTypes) -> tuple[str, str, str]:
    """The texts of a refusal of a value that may be of more types than a type can hold."""
    first = args[0] if args else None
    name = ""
    if isinstance(first, Tensor) and isinstance(first._ag_type, Ref) and first._ag_type.kind == "cell":
        name = shown(first._ag_name)
    if str(error) == NESTED_TUPLES:
        what = f"{name} may be" if name else f"'{op.name}' makes or takes"
        return (
            f"{what} tuples nested without bound",
            "What a value in a graph may be must come to a fixed set of types.",
            "Keep the items in a list, or leave the tuple before it goes into the next one.",
        )
    what = f"{name} is a value" if name else f"'{op.name}' makes a value"
    return (
        f"{what}, or a container of values, that may have too many different types",
        "A value in a graph, or an item of a list, may have 20 different types at most.",
        "Convert the values to one type first.",
    )


def _foldable(t: Type) -> bool:
    if isinstance(t, TupleT):
        return all(_foldable(i) for i in t.items)
    if isinstance(t, Union):
        return all(_foldable(m) for m in t.members)
    return isinstance(t, _FOLDABLE)


_NOT_A_LEAF = (tuple, list, dict, slice, TracedValue, types.FunctionType)
_NOT_PURE = frozenset({"writes", "host", "effect", "alloc"})


def _may_be_function(leaf: Any) -> bool:
    t = leaf._ag_type if type(leaf) is Tensor else None
    return type(leaf) is types.FunctionType or (
        type(t) is Union and any(type(m) is Const and type(m.value) is types.FunctionType for m in t.members)
    )


_INSIDE = frozenset({"cell", "cell_set", "check_bound", "is", "is_not", "is_type", "narrow"})
"""Ops that take functions of the trace as they are: what they give stays in the graph."""


def emit(op: Op, *args: Any, raw: bool = False, type_: Type | None = None, **kwargs: Any) -> Any:
    """Adds an operation to the graph and gives its result; computes at once what only depends on constants.

    `raw`: the tensor itself is wanted, even if its type tells the value. `type_`: the result's type, where
    the caller knows it. Raises DeadEnd where the operation always raises.
    """
    trace = current()
    if trace is None:
        record(op.name)
        return op.kernel(*args, **kwargs)
    if kwargs or any(isinstance(a, _NOT_A_LEAF) for a in args):
        args, kwargs = map_tree(_leaf, (args, kwargs))
        parts = leaves((args, kwargs))
    else:  # the usual case
        parts = list(args)
    if op.name not in _INSIDE and any(map(_may_be_function, parts)):
        from autograph.operators.closures import as_value

        args, kwargs = map_tree(as_value, (args, kwargs))
        parts = leaves((args, kwargs))
    traced = False
    for leaf in parts:
        if isinstance(leaf, Tensor):
            traced = True
            trace.reach(leaf)
        else:
            check_constant(leaf)
    if type_ is None:
        try:
            trace.inferring = op.name
            type_ = infer(op, *map_tree(_abstract, (args, kwargs)))
        except NeedConcrete as need:
            type_ = trace.need_concrete(need.what, (args, kwargs), op)
        except Refuse as refusal:
            trace.refuse(*_with_names(refusal, (args, kwargs)))
        except TooManyTypes as error:
            trace.refuse(*_too_many(op, args, error))
    if not traced and not (op.traits & _NOT_PURE) and (type_ is BOTTOM or _foldable(type_)):
        folded = _fold(op, args, kwargs)
        if folded is not None and not _holds_array(folded[0]):
            return folded[0]
        type_ = (
            BOTTOM if folded is None else base.type_of(folded[0])
        )  # if it raises on these constants, so it will when the graph runs
    if "host" in op.traits and not trace.decisions.host_called:
        trace.decisions.host_called = True
        trace.decisions.change(
            "the host runs code of its own, which may change what exists outside the graph"
        )
    operation = Operation(op.name, args, kwargs, [], place=trace.place(), op=op)
    output = trace.tensor(type_, operation)
    operation.outputs.append(output)
    trace.append(operation)
    if type_ is BOTTOM:
        raise DeadEnd
    return output if raw else settle(output)


def _holds_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, list)) or (
        isinstance(value, tuple) and any(map(_holds_array, value))
    )


def _fold(op: Op, args: Any, kwargs: Any) -> tuple[Any] | None:
    """The result on constants, in a 1-tuple; None if it raises (then it does so when the graph runs)."""
    try:
        with np.errstate(all="ignore"):
            value = op.kernel(*args, **kwargs)
    except Exception:
        return None
    return (value,)


def _abstract(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return without_unbound(leaf._ag_type)
    return leaf


def without_unbound(t: Type) -> Type:
    if isinstance(t, Union) and UNBOUND in t.members:
        return join(*(m for m in t.members if m is not UNBOUND))
    return t


def _leaf(value: Any) -> Any:
    return pack(value) if isinstance(value, (TracedValue, types.FunctionType)) else value


# -- executed ops, listed by explain() in the eager op mode --------------------------------------------------


def record(name: str) -> None:
    """Notes an op executed at once (`ag.eager(ops=True)`)."""
    log = getattr(_state, "log", None)
    if log is not None:
        log.append(name)


@contextlib.contextmanager
def recording(log: list[str]) -> Iterator[None]:
    before = getattr(_state, "log", None)
    _state.log = log
    try:
        yield
    finally:
        _state.log = before


def new_site(kind: str, cls: type, what: str = "") -> Site:
    """The allocation site for the place that is running (rules call it through `base`)."""
    trace = current()
    if trace is None:
        raise base.NeedsTrace
    return trace.decisions.site(trace.key(what or (trace.inferring, trace.hint)), kind, cls)


base.new_site = new_site
