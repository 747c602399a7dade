"""Lowers a graph to LLVM IR: control flow, Python objects, calls back to kernels, exceptions.

Each graph becomes one function. Its numbers live in registers, its control flow is machine control flow. A
Python object lives in a slot of the frame, which owns the reference; leaving the frame, also by an exception,
releases the slots. An operation without a rule in `RULES`, or whose rule declines, calls back its kernel.

A choice that proves wrong (an array turns out to be needed as an object) is recorded in the `Plan`, and the
whole compilation starts again; choices only grow.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from autograph.compiler import bounded, fusing, host, listing, scopes, support, values
from autograph.compiler.backend import FOLDED, WRITEABLE
from autograph.compiler.dims import Dimensions
from autograph.compiler.elementwise import UFUNC_OF, Lanes
from autograph.compiler.ir import PROFILE, Builder, LateJump, Module, float_literal
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Object,
    Range,
    Tagged,
    Tuple,
    Value,
    alternatives,
    array_type,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Graph, Operation, Region, Tensor, region_operations
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Host,
    Py,
    Ref,
    Scalar,
    SeqT,
    Site,
    TupleT,
    Type,
    Union,
    members,
)
from autograph.records import field, record_class, replace
from autograph.transforms import memory

MAX_RETRIES = 200
POLL = 1 << 18
"""Cheap turns, or calls, between two looks for a Ctrl-C."""
SMALL = 16
"""Arrays of at most this many elements may live in registers."""


class Unsupported(Exception):
    """The compiler cannot honour something; the interpreter runs the graph."""


class Retry(Exception):
    """A choice was added to the plan."""


@record_class
class Plan:
    """Choices that hold for the whole compilation."""

    objects: set[int] = field(default_factory=set)  # tensors that must be Python objects
    strided: set[int] = field(default_factory=set)  # carried arrays that are not contiguous
    unordered: set[int] = field(default_factory=set)  # and those whose axes are in any order
    memory: set[int] = field(default_factory=set)  # small arrays that must not be in registers
    layouts: tuple[int, ...] = ()  # of the arguments, as `backend.layout` gives them
    distinct: bool = True  # no array argument overlaps another
    sizes: tuple[tuple[int, ...], ...] = ()  # of the arguments, as `backend.sizes` gives them
    numbered: bool = True  # equal instructions are written once
    standalone: bool = False  # one thread does it all, and there is no Python: what would call it fails
    bounded: dict[int, bounded.Bounded] = field(default_factory=dict)  # of each graph with loops

    fresh: set[int] = field(default_factory=set)  # tensors of choices made in this round

    def need(self, chosen: set[int], tensor: Any) -> None:
        self.want(chosen, tensor)
        raise Retry

    def want(self, chosen: set[int], tensor: Any) -> None:
        """As `need`, but this round goes on, so that the next one knows more of what is needed."""
        if id(tensor) in self.fresh:
            return
        if id(tensor) in chosen:
            raise Unsupported(f"{tensor!r} cannot be represented")
        chosen.add(id(tensor))
        self.fresh.add(id(tensor))


class Compilation:
    """All that the functions of one compilation share."""

    def __init__(self, graph: Graph, plan: Plan) -> None:
        self.graph, self.plan = graph, plan
        self.module = Module()
        self.table: list[Any] = []
        self._indices: dict[int, int] = {}
        self.sites = host.Sites()
        own = "ag.g" if plan.standalone else "g"
        self.names = {id(g): f"{own}{i}" for i, g in enumerate(graph.functions())}
        self.asked: set[int] = set()  # operations for which a standalone function would ask Python at times
        self.fallbacks: dict[int, Operation] = {}
        self.shared: list[Operation] = []  # loops whose turns threads share
        self.notes: list[listing.Note] = []
        self._functions: dict[str, Any] = {}
        self.marks: set[str] = set()  # comments that tell the machine how to treat the text
        self.roots = Roots(graph)
        self.scopes = scopes.Scopes(lambda a, b: self.roots.may_alias(a, b, plan.distinct))
        # what the user's code may do to arrays meanwhile nobody knows
        self.calls_host = any(
            o.op is not None and "host" in o.op.effects(o.args, o.kwargs) for o in graph.operations()
        )

        self.dense = _dense_lists(graph, plan.layouts) if not self.calls_host else set()

    def is_called(self, graph: Graph) -> bool:
        return any(o.callee is graph for o in self.graph.operations())

    def constant(self, value: Any) -> int:
        """The position of an object in the table."""
        found = self._indices.get(id(value))
        if found is None:
            found = self._indices[id(value)] = len(self.table)
            self.table.append(value)
        return found

    def table_function(self, name: str, make: Callable[[host.Sites], Any]) -> Any:
        if name not in self._functions:
            self._functions[name] = make(self.sites)
        return self._functions[name]

    def text(self, outside: Callable[[Compilation], None]) -> str:
        """The IR; `outside` adds the function that is called from outside."""
        for graph in self.graph.functions():
            FunctionLowering(self, graph).run()
        outside(self)
        self.module.globals["meta"] = "!2 = !{}\n!3 = !{i64 0, i64 9223372036854775807}\n!4 = !{i32 1}"
        self.module.globals["scopes"] = self.scopes.text()
        return "".join(f"{mark}\n" for mark in sorted(self.marks)) + PROFILE + self.module.text()


def _dense_lists(graph: Graph, layouts: tuple[int, ...]) -> set[Site]:
    """The lists among the arguments in which all arrays are contiguous, where no such list is written."""
    params = [p._ag_type for p in graph.params if not isinstance(p._ag_type, Const)]
    lists = [(t.site, code) for t, code in zip(params, layouts) if isinstance(t, Ref) and t.kind == "list"]
    found = {site for site, code in lists if code == 2} - {site for site, code in lists if code != 2}
    for operation in graph.operations() if found else ():
        if operation.op is not None and "writes" in operation.op.effects(operation.args, operation.kwargs):
            written = [m for t in operation.inputs for m in members(t._ag_type)]
            if any(isinstance(m, Ref) and m.kind == "list" and not m.site.made for m in written):
                return set()
    return {site for site in found if not site.made}


class Roots:
    """Which arrays may share memory, and which of these are written: flow-insensitive, over all graphs."""

    OUTSIDE = 0

    def __init__(self, graph: Graph) -> None:
        self._parent: dict[int, int] = {self.OUTSIDE: self.OUTSIDE}
        self.written: set[int] = set()
        writes: list[int] = []
        self._lists = _read_lists(graph)
        for g in graph.functions():
            self._results(g.body)
            for operation in region_operations(g.body):
                self._operation(operation, writes)
        self.written = {self.find(w) for w in writes}
        outside = self.find(self.OUTSIDE)
        self._given = {self.find(id(p)) for p in graph.params} | {outside}
        self._outside_written = outside in self.written
        self._given_written = bool(self._given & self.written)

    def may_alias(self, a: int, b: int, distinct: bool) -> bool:
        """Whether arrays of two different roots may overlap: both came from outside."""
        if a not in self._given or b not in self._given:
            return False
        return not distinct or self.find(self.OUTSIDE) in (a, b)

    def is_pure(self, t: int, distinct: bool) -> bool:
        """Whether nothing ever writes an array's memory; what came from outside may be one array twice."""
        root = self.find(t)
        if root in self.written:
            return False
        if root not in self._given:
            return True
        return not self._outside_written and (distinct or not self._given_written)

    def find(self, t: int) -> int:
        parent = self._parent.setdefault(t, t)
        if parent != t:
            parent = self._parent[t] = self.find(parent)
        return parent

    def unite(self, a: Any, b: Any) -> None:
        x = self.OUTSIDE if a is None else id(a)
        y = self.OUTSIDE if b is None else id(b)
        self._parent[self.find(x)] = self.find(y)

    def _arrays(self, tree: Any) -> list[Tensor]:
        return [t for t in leaves(tree) if isinstance(t, Tensor) and not values.is_number(t._ag_type)]

    def _results(self, region: Region) -> None:
        pass

    def _operation(self, operation: Operation, writes: list[int]) -> None:
        name = operation.name
        if name == "cond":
            for region in operation.regions:
                for out, result in zip(operation.outputs, region.results or ()):
                    for t in self._arrays(result):
                        self.unite(out, t)
        elif name == "while_loop":
            head, turn = operation.regions
            for i, param in enumerate(head.params):
                for t in self._arrays(operation.args[i]):
                    self.unite(param, t)
                for results in ((head.results or ())[1:], turn.results or ()):
                    if i < len(results):
                        for t in self._arrays(results[i]):
                            self.unite(param, t)
                self.unite(param, turn.params[i])
                self.unite(param, operation.outputs[i])
        elif name == "call":
            assert operation.callee is not None
            for param, arg in zip(operation.callee.params, operation.args):
                for t in self._arrays(arg):
                    self.unite(param, t)
            for out, result in zip(operation.outputs, operation.callee.body.results or ()):
                for t in self._arrays(result):
                    self.unite(out, t)
        elif operation.op is not None:
            effects = operation.op.effects(operation.args, operation.kwargs)
            inputs = self._arrays((operation.args, operation.kwargs))
            made: Any = operation.outputs[0] if operation.outputs else None
            if "host" in effects:  # it may write whatever it can reach, and keep it
                writes.append(self.OUTSIDE)
                for t in inputs:
                    self.unite(t, None)
            elif "writes" in effects:
                self._write(operation, inputs, writes)
            elif "effect" in effects:
                for t in inputs:
                    self.unite(t, None)
            if made is not None and values.may_hold_array(made._ag_type) and id(made) not in self._lists:
                if "view" in effects or not array_type(made._ag_type):
                    shared = inputs if "writes" not in effects else self._targets(operation)
                    for t in shared:
                        self.unite(made, t)
                if not array_type(made._ag_type) or name in CONTAINER_READS:
                    self.unite(made, None)
                    for t in inputs:
                        self.unite(t, None)

    def _targets(self, operation: Operation) -> list[Tensor]:
        """What an operation that writes may write: what it is given for its results, or its first operand."""
        given = operation.op.given(operation.args, operation.kwargs)
        return self._arrays(operation.args[:1] if given is None else given)

    def _write(self, operation: Operation, inputs: list[Tensor], writes: list[int]) -> None:
        targets = self._targets(operation)
        writes += [id(t) for t in targets if not isinstance(t._ag_type, Ref)]
        if not all(array_type(t._ag_type) for t in targets):  # a container keeps what is put there
            for t in inputs:
                self.unite(t, None)


def _read_lists(graph: Graph) -> set[int]:
    """The lists that are only read by operations that make arrays of them, as in `np.stack([x, y])`."""
    lists = {id(o.outputs[0]) for o in graph.operations() if o.name == "new_list"}
    if not lists:
        return lists
    for operation in graph.operations():
        used = {id(t) for t in operation.inputs} & lists
        if used and not _makes_arrays(operation):
            lists -= used
        for region in operation.regions:
            lists -= {id(leaf) for leaf in leaves(region.results or ())}
    for g in graph.functions():
        lists -= {id(leaf) for leaf in leaves(g.body.results or ())}
    return lists


def _makes_arrays(operation: Operation) -> bool:
    if operation.op is None or not operation.name.startswith("np."):
        return False
    effects = operation.op.effects(operation.args, operation.kwargs)
    made = all(array_type(t._ag_type) is not None for t in operation.outputs)
    return made and not effects & {"host", "writes", "effect", "view"}


CONTAINER_READS = frozenset({"cell_get", "cell_peek", "get_field", "get_attr", "load", "list.pop", "item"})

Rule = Callable[..., "Value | None"]
RULES: dict[str, Rule] = {}
"""The rules that lower operations, by name; a rule that returns None declines."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    def register_rule(fn: Rule) -> Rule:
        for name in names:
            RULES[name] = fn
        return fn

    return register_rule


def rule_of(name: str) -> Rule | None:
    """The rule that lowers an operation, if there is one."""
    if name not in RULES:
        _load_rules()
    return RULES.get(name)


@functools.cache
def _load_rules() -> None:
    """Loads the modules whose rules fewer functions need; none has a rule for what has one already."""
    from autograph.compiler import creation, linear, members, reducing, reductions, shaping, sorting  # noqa: F401


class FunctionLowering:
    """Lowers one graph to one function."""

    def __init__(self, compilation: Compilation, graph: Graph) -> None:
        self.compilation, self.graph = compilation, graph
        self.plan, self.roots = compilation.plan, compilation.roots
        self.b = Builder(compilation.module, self.plan.numbered)
        self.b.outlining = self.plan.standalone
        self.env: dict[int, Value] = {}
        self.slots = 0
        self.argv = self.cells = 0
        self.dead = False
        self.targets = ["error"]
        self.pending: list[Tensor] = []
        self.plain_adds: set[int] = set()
        self.counters: set[int] = set()
        self.uses = _uses(graph)
        self.users = _users(graph)
        self.evaluated: dict[Any, Any] = {}
        self.quick: Any = None  # the quick copy of a counted loop, while it is written
        self.shared: Any = None  # the pieces of a loop that threads share, while they are written
        self.begun: dict[
            int, dict[int, Value]
        ] = {}  # what loops carry that threads have begun, where it changed
        self.taken = ""  # what holds where the results of an arm are used that is computed in any case
        self.slot_sets: SlotSets = {}
        self.dims = Dimensions(self.b)
        self.apart: set[int] = set()  # slots of arrays whose elements surely share no memory
        self.fusion = fusing.fusion(graph)
        self.ends: dict[int, tuple[int, dict[int, float]]] | None = None  # of `_ends`, when asked for
        self.late: dict[
            int, int
        ] = {}  # by tensor: the place of the last operation with which a reader is lowered
        # how many functions an array that is put off takes, and whether one of them is read several times
        self.sizes: dict[int, tuple[Lazy, int, bool]] = {}
        self.depth = 0
        self.current: Operation | None = None
        self.grouped: set[int] = set()  # operations that are computed row by row with others
        self.products: dict[int, Operation] = {}  # by tensor: what made an array that nobody else has
        self.done: dict[int, Memory] = {}  # by operation: its result, where the operation before computed it
        self.polls = False

    # -- the function ----------------------------------------------------------------------------------------

    def run(self) -> None:
        b = self.b
        main = self.graph is self.compilation.graph
        params: list[str] = ["ptr %ctx"]
        layouts = iter(self.plan.layouts if main else ())
        called = not main or self.compilation.is_called(self.graph)
        sizes = iter(() if called else self.plan.sizes)
        b.blocks["entry"].append("  br label %start")
        b.start("start", after="entry")
        if called:
            self._check_stack()
        for i, param in enumerate(self.graph.params):
            t = param._ag_type
            dtype = scalar_dtype(t)
            if isinstance(t, Const):
                self.env[id(param)] = Known(t.value)
                continue
            layout, codes = next(layouts, 0), next(sizes, ())
            if dtype is not None:
                count = 2 if dtype.kind == "c" else 1
                names = tuple(f"%x{i}.{k}" for k in range(count))
                params += [f"{register(dtype)} {n}" for n in names]
                b.origins |= {n: f"parameter {register(dtype)}" for n in names}
                self.env[id(param)] = Number(t, dtype, names)
            else:
                params.append(f"ptr %x{i}")
                b.origins[f"%x{i}"] = "parameter ptr"
                slot = self.new_slot()
                self.set_slot(slot, self.incref(f"%x{i}"))
                value = self.from_slot(slot, t, param)
                if isinstance(value, Memory):
                    dims = self.dims.shared(codes, t.shape, value.dims)  # type: ignore[attr-defined]
                    value = replace(value, dims=dims)
                    if layout & FOLDED and not self.is_pure(param):
                        raise Unsupported("an array is written of which elements share memory")
                    self.apart |= {slot} if main else set()
                    value = self.as_contiguous(value) if layout & 3 == 2 else value
                    writeable = bool(layout & WRITEABLE) and not self.compilation.calls_host
                    value = replace(value, ordered=layout & 3 > 0, writeable=writeable)
                self.env[id(param)] = value
        results = self.graph.body.results or ()
        returns = self.signature()
        if self.region(self.graph.body):
            operands = []
            for leaf, kind in zip(results, self._result_kinds()):
                if kind == "known":
                    continue
                if kind == "object":
                    operands.append(("ptr", self.owned(leaf)))
                else:
                    number = self.number(
                        self.value_of(leaf), leaf._ag_type if isinstance(leaf, Tensor) else None
                    )
                    operands += [(register(number.dtype), p) for p in number.parts]
            self._release()
            self._return(returns, "false", operands)
        b.start("error")
        self._release()
        b.emit(f"ret {returns} {{ i1 true{self._undefined()} }}")
        entry_block = b.blocks["entry"]
        if self.slots:
            b.allocas.append(f"  %slots = alloca [{self.slots} x ptr], align 8")
            entry_block.insert(0, f"  store [{self.slots} x ptr] zeroinitializer, ptr %slots")
        if self.polls:
            b.allocas.append("  %poll = alloca i32, align 4")
            entry_block.insert(0, f"  store i32 {POLL}, ptr %poll")
        if self.argv:
            b.allocas.append(f"  %argv = alloca [{self.argv} x ptr], align 8")
        if self.cells:
            b.allocas.append(f"  %cells = alloca [{support.CELL * self.cells} x i8], align 16")
        name = self.compilation.names[id(self.graph)]
        attributes = "alwaysinline " if main else ""
        head = f"define internal {returns} @{name}({', '.join(params)}) {attributes}"
        self.compilation.module.functions[name] = b.function(head.rstrip())

    def _result_kinds(self) -> list[str]:
        kinds = []
        for leaf in self.graph.body.results or ():
            if not isinstance(leaf, Tensor):
                number = False
                kinds.append("object" if not number else "number")
            elif isinstance(leaf._ag_type, Const):
                kinds.append("known")
            else:
                kinds.append("object" if scalar_dtype(leaf._ag_type) is None else "number")
        return kinds

    def signature(self) -> str:
        return signature(self.graph)

    def _undefined(self) -> str:
        parts = self.signature()[2:-2].split(", ")[1:]
        return "".join(f", {p} undef" for p in parts)

    def _return(self, type_: str, flag: str, operands: list[tuple[str, str]]) -> None:
        current = self.b.value(f"insertvalue {type_} undef, i1 {flag}, 0")
        for i, (kind, operand) in enumerate(operands):
            current = self.b.value(f"insertvalue {type_} {current}, {kind} {operand}, {i + 1}")
        self.b.emit(f"ret {type_} {current}")

    def _release(self) -> None:
        self.b.module.declare("ag_release", "void", "ptr", "i64")
        self.b.blocks[self.b.block].append(_Release(self))  # type: ignore[arg-type]

    def _check_stack(self) -> None:
        b = self.b
        frame = b.call("ptr", "llvm.frameaddress.p0", "i32 0")
        address = b.value(f"ptrtoint ptr {frame} to i64")
        limit = b.value(f"load i64, ptr {self.field(16)}")
        low = b.value(f"icmp ult i64 {address}, {limit}")
        deep, fine = b.label("deep"), b.label("fine")
        b.branch(low, deep, fine, unlikely="then")
        b.start(deep)
        self._raise_now(host.too_deep)
        b.start(fine)
        place = self.field(48)
        left = b.value(f"sub i64 {b.value(f'load i64, ptr {place}')}, 1")
        b.emit(f"store i64 {left}, ptr {place}")
        look, on = b.label("look"), b.label("on")
        b.branch(b.value(f"icmp slt i64 {left}, 0"), look, on, unlikely="then")
        b.start(look)
        b.emit(f"store i64 {POLL}, ptr {place}")
        self._look(-1)
        b.jump(on)
        b.start(on)

    def bounds(self, param: Tensor) -> tuple[int | None, int | None]:
        """Between what an integer stays that a loop carries, where that is known."""
        found = self.plan.bounded.get(id(self.graph))
        if found is None:
            found = self.plan.bounded[id(self.graph)] = bounded.Bounded(self.graph)
        return found.bounds.get(id(param), (None, None))

    def poll(self, heavy: bool, operation: Operation) -> None:
        """Where a loop turns back: now and then a look for a Ctrl-C and for other threads."""
        b = self.b
        self.polls = self.polls or self.shared is None
        place = "%poll" if self.shared is None else self.shared.poll
        left, step = b.value(f"load i32, ptr {place}"), POLL >> 4 if heavy else 1
        look, on = b.label("look"), b.label("on")
        b.emit(f"store i32 {b.value(f'sub i32 {left}, {step}')}, ptr {place}")
        b.branch(b.value(f"icmp ult i32 {left}, {step}"), look, on, unlikely="then")  # the borrow of the sub
        b.start(look)
        b.emit(f"store i32 {POLL}, ptr {place}")
        if self.shared is None:
            self._look(self.compilation.sites.number(operation))
        else:
            self.shared.look()
        b.jump(on)
        b.start(on)

    def _look(self, site: int) -> None:
        b = self.b
        answer = b.call("i32", "ag_look")  # lets other threads run, too
        bad, fine = b.label("signal"), b.label("quiet")
        b.branch(b.value(f"icmp ne i32 {answer}, 0"), bad, fine, unlikely="then")
        b.start(bad)
        self.fail(site)
        b.start(fine)

    def _raise_now(self, fn: Callable[[], Any]) -> None:
        """Calls a Python function of no arguments that raises, outside of any operation."""
        if self.shared is None:
            self.b.call("void", "ag_call0", "ptr %ctx", f"i64 {self.compilation.constant(fn)}")
        self.b.jump(self.targets[-1])

    # -- slots and references --------------------------------------------------------------------------------

    def field(self, offset: int) -> str:
        return self.b.value(f"getelementptr i8, ptr %ctx, i64 {offset}")

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def slot_pointer(self, slot: int) -> str:
        return self.b.value(f"getelementptr ptr, ptr %slots, i64 {slot}")

    def get_slot(self, slot: int) -> str:
        return self.b.value(f"load ptr, ptr {self.slot_pointer(slot)}", "o")

    def set_slot(self, slot: int, owned: str) -> None:
        """Puts an owned reference into a slot; what was there is released."""
        pointer = self.slot_pointer(slot)
        old = self.b.value(f"load ptr, ptr {pointer}")
        self.b.emit(f"store ptr {owned}, ptr {pointer}")
        self.decref(old)

    def empty_slot(self, slot: int) -> None:
        """Releases what is in a slot that is nearly always empty: a call takes values out of registers."""
        b = self.b
        old = self.get_slot(slot)
        full, on = b.label("full"), b.label("empty")
        b.branch(b.value(f"icmp eq ptr {old}, null"), on, full, unlikely="else")
        heavy = b.heavy
        b.start(full)
        b.emit(f"store ptr null, ptr {self.slot_pointer(slot)}")
        self.decref(old)
        b.jump(on)
        b.start(on)
        b.heavy = heavy

    def incref(self, pointer: str) -> str:
        self.b.call("void", "Py_IncRef", f"ptr {pointer}")
        return pointer

    def decref(self, pointer: str) -> None:
        """Gives a reference back, which may be null."""
        self.b.call("void", "Py_DecRef", f"ptr {pointer}")

    def object_constant(self, value: Any) -> str:
        """A borrowed reference to an object of the table."""
        index = self.compilation.constant(value)
        table = self.b.value("load ptr, ptr %ctx, !invariant.load !2")
        pointer = self.b.value(f"getelementptr ptr, ptr {table}, i64 {index}")
        return self.b.value(f"load ptr, ptr {pointer}, !invariant.load !2")

    # -- errors ----------------------------------------------------------------------------------------------

    def fail(self, site: int) -> None:
        """Leaves with the exception that is set."""
        if self.shared is None:
            self.b.call("void", "ag_push", "ptr %ctx", f"i32 {site}")
        self.b.jump(self.targets[-1])

    def guard(self, good: str, operation: Operation, rare: str = "", of_shapes: bool = False) -> None:
        """Goes on where `good` holds; otherwise the real operation is run, which raises.

        `rare` is an instruction that tells whether all is well where `good` does not hold. `of_shapes`: it
        raises because of the shapes of arrays, so their elements are not computed for it.
        """
        b = self.b
        if good == "true" or b.holds(good) or (self.shared is not None and self.shared.front.holds(good)):
            return
        bad, fine = b.label("bad"), b.label("fine")
        second = b.label("second") if rare or self.taken else bad
        b.branch(good, fine, second, unlikely="else")
        if rare:
            b.start(second)
            second = b.label("second") if self.taken else bad
            b.branch(b.value(rare), fine, second)
        if self.taken:
            b.start(second)
            b.branch(self.taken, bad, fine)
        heavy = b.heavy
        b.start(bad)
        before = {id(t): self.env[id(t)] for t in operation.inputs if id(t) in self.env}
        self._kernel(operation, must_raise=True, of_shapes=of_shapes)
        self.env.update(before)  # what was put off is computed here for the kernel only
        b.jump(self.targets[-1])
        b.start(fine)
        if not (rare or self.taken):
            b.true.setdefault(good, []).append(fine)
        b.heavy = heavy  # for what is hardly ever run no loop looks for a Ctrl-C more often

    # -- values ----------------------------------------------------------------------------------------------

    def value_of(self, leaf: Any) -> Value:
        if isinstance(leaf, Tensor):
            if isinstance(leaf._ag_type, Const):
                return Known(leaf._ag_type.value)
            return self.env[id(leaf)]
        if isinstance(leaf, tuple) and any(isinstance(x, Tensor) for x in leaves(leaf)):
            return Tuple(tuple(self.value_of(x) for x in leaf), type(leaf))
        return Known(leaf)

    def operands(self, tree: Any) -> Any:
        """An argument tree with values at its leaves."""
        return map_tree(lambda leaf: self.value_of(leaf) if isinstance(leaf, Tensor) else Known(leaf), tree)

    def literal(self, value: Any, dtype: np.dtype[Any]) -> tuple[str, ...]:
        if dtype.kind == "c":
            z = complex(value)
            kind = register(dtype)
            return float_literal(z.real, kind), float_literal(z.imag, kind)
        if dtype.kind == "b":
            return ("true" if value else "false",)
        if dtype.kind == "f":
            return (float_literal(float(value), register(dtype)),)
        return (str(int(value)),)

    def number(self, value: Value, t: Type | None = None) -> Number:
        """A value as a number (of the type `t`, where it is known only as a constant)."""
        if isinstance(value, Number):
            return value
        if isinstance(value, Known):
            v = value.value
            cls = type(v)
            if isinstance(v, np.generic):
                own: Type = Scalar(v.dtype)
            elif cls in values.PYTHON:
                own = Py(cls)
            else:
                raise Unsupported(f"{v!r} is no number")
            if cls is int and not -(2**63) <= v < 2**63:
                raise Unsupported("an integer constant has more than 64 bits")
            dtype = scalar_dtype(own)
            if dtype is None:
                raise Unsupported(f"numbers of {own!r}")
            bounds = int(v) if dtype.kind in "iu" else None
            return Number(own, dtype, self.literal(v, dtype), bounds, bounds)
        raise Unsupported(f"{type(value).__name__} as a number")

    def whole(self, operation: Operation, n: Number) -> str:
        """An integer as one of 64 bits; the operation fails for those that are larger."""
        if n.dtype.kind == "u" and n.dtype.itemsize == 8 and n.high is None:
            self.guard(self.b.value(f"icmp sge i64 {n.ir}, 0"), operation)
        return Lanes(self.b).cast(n.parts, n.dtype, np.dtype(np.int64))[0]

    def test(self, value: Value) -> str:
        number = self.number(value)
        if number.dtype.kind != "b":
            raise Unsupported("a test that is no bool")
        return number.ir

    def dimension(self, d: int | str) -> str:
        return str(d)

    def from_slot(self, slot: int, t: Type, tensor: Tensor | None = None) -> Value:
        """The value of an object in a slot."""
        array = array_type(t)
        if array is not None:
            return self.unpack_array(slot, array, tensor)
        if types := alternatives(t):
            from autograph.compiler import unions

            return unions.unbox(self, self.get_slot(slot), types)
        return Object(t, slot)

    def unpack_array(self, slot: int, t: Any, tensor: Tensor | None) -> Memory:
        b = self.b
        pointer = self.get_slot(slot)
        data = b.value(f"load ptr, ptr {self.at(pointer, 16)}", "data")
        dims: list[int | str] = list(t.shape)
        strides: list[int | str] = []
        if dims:
            shape = b.value(f"load ptr, ptr {self.at(pointer, 32)}")
            steps = b.value(f"load ptr, ptr {self.at(pointer, 40)}")
            for axis, dim in enumerate(t.shape):
                if dim is None:
                    dims[axis] = b.value(f"load i64, ptr {self.at(shape, 8 * axis)}, !range !3", "dim")
                strides.append(b.value(f"load i64, ptr {self.at(steps, 8 * axis)}", "stride"))
        root = None if tensor is None else self.roots.find(id(tensor))
        return Memory(t.dtype, data, tuple(dims), tuple(strides), slot, True, not dims, root)

    def at(self, pointer: str, offset: int | str) -> str:
        if offset in (0, "0"):
            return pointer
        return self.b.value(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def as_contiguous(self, m: Memory) -> Memory:
        """The same array, known to be contiguous."""
        return replace(m, strides=self.contiguous_strides(m.dims, m.dtype.itemsize), contiguous=True)

    def contiguous_strides(self, dims: tuple[int | str, ...], itemsize: int) -> tuple[int | str, ...]:
        strides: list[int | str] = []
        step: int | str = itemsize
        for dim in reversed(dims):
            strides.append(step)
            step = self.times(step, dim)
        return tuple(reversed(strides))

    def times(self, a: int | str, b: int | str) -> int | str:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 1:
            return b
        if b == 1:
            return a
        return self.b.value(f"mul nsw i64 {a}, {b}")

    def plus(self, a: int | str, b: int | str) -> int | str:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if a == 0:
            return b
        if b == 0:
            return a
        return self.dims.plus(*((a, b) if isinstance(a, str) else (str(b), a)))

    # -- boxing ----------------------------------------------------------------------------------------------

    def box_leaf(self, leaf: Any) -> tuple[str, bool]:
        """A reference to the Python object of a leaf, and whether it is owned."""
        if isinstance(leaf, Tensor):
            if self.waits(leaf):
                self._settle(leaf)
            value = self.value_of(leaf)
            if (
                isinstance(value, (Lazy, Elements))
                or hasattr(value, "virtual")
                or (isinstance(value, Memory) and not value.is_object)
            ):
                self.plan.want(self.plan.objects, leaf)
                return "null", False
            return self.box(value)
        if isinstance(leaf, (tuple, list, dict, slice)) and any(isinstance(x, Tensor) for x in leaves(leaf)):
            return self.box_tree(leaf)
        return self.object_constant(leaf), False

    def box_tree(self, tree: Any) -> tuple[str, bool]:
        """A new tuple or slice of leaves."""
        if isinstance(tree, slice):
            parts = [self.box_leaf(x) for x in (tree.start, tree.stop, tree.step)]
            result = self.b.call("ptr", "PySlice_New", *(f"ptr {p}" for p, _ in parts))
            for p, owned in parts:
                if owned:
                    self.decref(p)
            return result, True
        if not isinstance(tree, tuple):
            raise Unsupported("a structure with tensors in it")
        return self._new_tuple([self.box_leaf(x) for x in tree], type(tree)), True

    def _new_tuple(self, parts: list[tuple[str, bool]], cls: type) -> str:
        for p, owned in parts:
            if not owned:
                self.incref(p)
        result = self.b.call("ptr", "PyTuple_New", f"i64 {len(parts)}")
        for i, (p, _) in enumerate(parts):
            self.b.emit(f"store ptr {p}, ptr {self.at(result, 24 + 8 * i)}")
        if cls is tuple:
            return result
        named = self.b.call(
            "ptr", "PyObject_CallObject", f"ptr {self.object_constant(_Maker(cls))}", f"ptr {result}"
        )
        self.decref(result)
        return named

    def _new_list(self, value: Any) -> str:
        """A list of items that are known."""
        result = self.b.call("ptr", "PyList_New", "i64 0")
        for item in value.virtual:
            if hasattr(item, "virtual"):
                pointer, owned = self._new_list(item), True
            else:
                pointer, owned = self.box(self.as_object(item, None))
            self.b.call("i32", "PyList_Append", f"ptr {result}", f"ptr {pointer}")
            if owned:
                self.decref(pointer)
        return result

    def box(self, value: Value) -> tuple[str, bool]:
        if isinstance(value, Known):
            return self.object_constant(value.value), False
        if isinstance(value, Object):
            return self.get_slot(value.slot), False
        if isinstance(value, Memory):
            if value.is_object and value.slot is not None:
                return self.get_slot(value.slot), False
            raise Unsupported("an array that is no object is boxed")
        if isinstance(value, Tuple):
            return self._new_tuple([self.box(x) for x in value.items], value.cls), True
        if isinstance(value, Range):
            parts = [self.box(x) for x in (value.start, value.stop, value.step)]
            result = self.call_object(self.object_constant(range), [p for p, _ in parts])
            for p, owned in parts:
                if owned:
                    self.decref(p)
            return result, True
        if isinstance(value, Number):
            return self.box_number(value), True
        if isinstance(value, Tagged):
            from autograph.compiler import unions

            return unions.box(self, value), True
        raise Unsupported(f"boxing {type(value).__name__}")

    def box_number(self, value: Number) -> str:
        b = self.b
        if isinstance(value.type, Py):
            if value.type.cls is float:
                return b.call("ptr", "PyFloat_FromDouble", f"double {value.ir}")
            if value.type.cls is int:
                return b.call("ptr", "PyLong_FromLongLong", f"i64 {value.ir}")
            if value.type.cls is bool:
                wide = b.value(f"zext i1 {value.ir} to i64")
                return b.call("ptr", "PyBool_FromLong", f"i64 {wide}")
            return b.call("ptr", "PyComplex_FromDoubles", *(f"double {p}" for p in value.parts))
        place = b.alloca("[2 x i64]", 16)
        self.store_scalar(place, value)
        descr = self.object_constant(value.dtype)
        return b.call("ptr", "ag_array_scalar", f"ptr {place}", f"ptr {descr}", "ptr null")

    def store_scalar(self, pointer: str, value: Number, note: str = "") -> None:
        b = self.b
        kind = register(value.dtype)
        if value.dtype.kind == "b":
            b.emit(f"store i8 {b.value(f'zext i1 {value.ir} to i8')}, ptr {pointer}{note}")
            return
        step = value.dtype.itemsize // len(value.parts)
        for i, p in enumerate(value.parts):
            b.emit(f"store {kind} {p}, ptr {self.at(pointer, step * i)}, align 1{note}")

    def load_scalar(self, pointer: str, dtype: np.dtype[Any], note: str = "") -> tuple[str, ...]:
        b = self.b
        if dtype.kind == "b":
            byte = b.value(f"load i8, ptr {pointer}{note}")
            return (b.value(f"icmp ne i8 {byte}, 0"),)  # a view of other bytes may hold any of them
        kind = register(dtype)
        size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        parts = [b.value(f"load {kind}, ptr {pointer}, align 1{note}")]  # arrays may be unaligned
        if dtype.kind == "c":
            parts.append(b.value(f"load {kind}, ptr {self.at(pointer, size)}, align 1{note}"))
        return tuple(parts)

    def owned(self, leaf: Any) -> str:
        """An owned reference to the object of a leaf (or of a value)."""
        pointer, is_owned = self.box(leaf) if isinstance(leaf, Value) else self.box_leaf(leaf)
        if not is_owned:
            self.incref(pointer)
        return pointer

    def unbox(self, pointer: str, t: Type, tensor: Tensor | None, owned: bool = True) -> Value:
        """The value of a Python object of a type; takes over an owned reference."""
        dtype = scalar_dtype(t)
        if isinstance(t, Const):
            if owned:
                self.decref(pointer)
            return Known(t.value)
        if dtype is not None:
            parts = self._unbox_parts(pointer, t, dtype)
            if owned:
                self.decref(pointer)
            return Number(t, dtype, parts)
        if types := alternatives(t):
            from autograph.compiler import unions

            number = unions.unbox(self, pointer, types)
            if owned:
                self.decref(pointer)
            return number
        slot = self.new_slot()
        self.set_slot(slot, pointer if owned else self.incref(pointer))
        return self.from_slot(slot, t, tensor)

    def _unbox_parts(self, pointer: str, t: Type, dtype: np.dtype[Any]) -> tuple[str, ...]:
        b = self.b
        if isinstance(t, Py) and t.cls is int:
            return (b.call("i64", "PyLong_AsLongLong", f"ptr {pointer}"),)
        if isinstance(t, Py) and t.cls is bool:
            return (b.value(f"icmp eq ptr {pointer}, {self.object_constant(True)}"),)
        return self.load_scalar(self.at(pointer, 16), dtype)

    # -- calls to Python -------------------------------------------------------------------------------------

    def call_object(self, callee: str, arguments: list[str]) -> str:
        b = self.b
        self.argv = max(self.argv, len(arguments), 1)
        for i, argument in enumerate(arguments):
            b.emit(f"store ptr {argument}, ptr {self.at('%argv', 8 * i)}")
        return b.call(
            "ptr", "PyObject_Vectorcall", f"ptr {callee}", "ptr %argv", f"i64 {len(arguments)}", "ptr null"
        )

    def callback(self, operation: Operation, must_raise: bool = False) -> str:
        """Runs an operation's kernel on Python objects; gives an owned reference."""
        b = self.b
        if self.shared is not None:
            return self.shared.left()  # type: ignore[no-any-return]
        self.compilation.asked.add(id(operation))
        result = self._kernel(operation)
        good = b.label("got")
        b.branch(b.value(f"icmp eq ptr {result}, null"), self.targets[-1], good, unlikely="then")
        b.start(good)
        return result

    def _kernel(self, operation: Operation, must_raise: bool = False, of_shapes: bool = False) -> str:
        """As `callback`, but gives null, with the operation in the trail, where the kernel raises."""
        from autograph.compiler import arrays

        if self.shared is not None:
            return "null"
        b = self.b
        if self.plan.standalone:
            b.call("void", "ag_push", "ptr %ctx", f"i32 {self.compilation.sites.number(operation)}")
            return "null"
        tensors: dict[int, Tensor] = {}
        for t in operation.inputs:
            tensors.setdefault(id(t), t)
        order = list(tensors)
        fn = host.kernel_call(operation, {t: i for i, t in enumerate(order)}, self.graph.host, must_raise)
        if len(order) > support.MAX_ARGUMENTS:
            return self._long_kernel(fn, [self.box_leaf(t) for t in tensors.values()], operation)
        kinds = 0
        cells: list[Number | str] = []
        for i, t in enumerate(tensors.values()):
            value = self.value_of(t)
            if isinstance(value, Number):
                cells.append(value)
                kind = support.kind_of(value)
            elif must_raise and _can_be_made(value):
                made = self.as_object(value, None)
                assert isinstance(made, Memory) and made.slot is not None
                cells.append(self.get_slot(made.slot))
                kind = support.BORROWED
            elif of_shapes and isinstance(value, Lazy):
                cells.append(arrays.blank(self, value))
                kind = support.OWNED
            elif must_raise and hasattr(value, "virtual"):
                cells.append(self._new_list(value))
                kind = support.OWNED
            else:
                pointer, owned = self.box_leaf(t)
                cells.append(pointer)
                kind = support.OWNED if owned else support.BORROWED
            kinds |= kind << (4 * i)
        self.cells = max(self.cells, len(cells), 1)
        for i, cell in enumerate(cells):
            place = self.at("%cells", support.CELL * i)
            if isinstance(cell, str):
                b.emit(f"store ptr {cell}, ptr {place}")
                continue
            self.store_scalar(place, cell)
            if support.kind_of(cell) == support.SCALAR:
                descr = self.object_constant(cell.dtype)
                b.emit(f"store ptr {descr}, ptr {self.at(place, 16)}")
        return b.call(
            "ptr", "ag_call", "ptr %ctx", f"i64 {self.compilation.constant(fn)}", f"i64 {len(cells)}",
            f"i64 {kinds}", "ptr %cells", f"i32 {self.compilation.sites.number(operation)}",
        )  # fmt: skip

    def _long_kernel(self, fn: Any, boxed: list[tuple[str, bool]], operation: Operation) -> str:
        """A call of a kernel with more arguments than the shared code takes."""
        b = self.b
        result = self.call_object(self.object_constant(fn), [p for p, _ in boxed])
        for p, owned in boxed:
            if owned:
                self.decref(p)
        bad, after = b.label("null"), b.label("called")
        b.branch(b.value(f"icmp eq ptr {result}, null"), bad, after, unlikely="then")
        b.start(bad)
        b.call("void", "ag_push", "ptr %ctx", f"i32 {self.compilation.sites.number(operation)}")
        b.jump(after)
        b.start(after)
        return result

    def fallback(self, operation: Operation) -> None:
        """Calls back the kernel of an operation without a rule."""
        if self.shared is not None:
            self.shared.give_up()
        if _asks_identity(operation):
            raise Unsupported(f"'{operation.name}' asks which floats are the same objects")
        self.compilation.fallbacks[id(operation)] = operation
        self.note(f"calls back {operation.name}")
        result = self.callback(operation)
        if not operation.outputs:
            self.decref(result)
            return
        out = operation.outputs[0]
        if out._ag_type is BOTTOM:
            self.decref(result)
            self._raise_now(host.unreachable(operation))
            self.dead = True
            return
        self.bind(out, self.unbox(result, out._ag_type, out))

    # -- operations ------------------------------------------------------------------------------------------

    def region(self, region: Region) -> bool:
        """The operations of a region; False if its end is never reached (and the block is closed)."""
        self.dead = False
        if self.shared is not None and region.results is None:
            self.b.jump(self.targets[-1])
            return False
        groups, grouped = self._row_groups(region)
        self.grouped |= {*groups, *grouped}
        dying = _dying(region, self.late)
        waiting: list[Tensor] = []
        for position, operation in enumerate(region.ops):
            if id(operation) in groups and groups[id(operation)]:
                self._row_group(groups[id(operation)])
            elif id(operation) not in grouped:
                self.operation(operation)
            if self.dead:
                self.dead = False
                return False
            waiting += dying.get(position, ())
            if id(operation) not in grouped:
                for tensor in waiting:
                    self.drop(tensor)
                waiting.clear()
        if region.results is None:
            self._raise_now(host.unreachable(region.ops[-1] if region.ops else None))
            return False
        return True

    def bind(self, tensor: Tensor, value: Value) -> None:
        if id(tensor) in self.plan.objects and not (isinstance(value, Lazy) and self.waits(tensor)):
            value = self.as_object(value, tensor)
        elif isinstance(value, Lazy):
            self.pending.append(tensor)
        self.env[id(tensor)] = self._rooted(value, tensor)

    def waits(self, tensor: Tensor) -> bool:
        """Whether an array is stored by the loop of a later operation, together with others."""
        together = self.fusion.together.get(id(tensor))
        return together is not None and together[-1] is not tensor

    def _rooted(self, value: Value, tensor: Tensor) -> Value:
        """An array that was made just now, with the root of the tensor that it is the value of."""
        if isinstance(value, Memory) and isinstance(value.root, tuple) and value.slot is not None:
            return replace(value, root=self.roots.find(id(tensor)), writeable=True)
        return value

    def _row_groups(self, region: Region) -> tuple[dict[int, Any], set[int]]:
        """The groups of operations that are computed row by row, and all their members but the last."""
        from autograph.compiler import rows

        groups = rows.plan(self, region)
        for position, operation in enumerate(region.ops if groups else ()):
            if id(operation) in groups:
                for t in [t for o in groups[id(operation)].operations for t in o.inputs]:
                    self.late[id(t)] = max(position, self.late.get(id(t), 0))
        return groups, {id(o) for g in groups.values() for o in g.operations[:-1]}

    def _row_group(self, group: Any) -> None:
        from autograph.compiler import rows

        for tensor in [t for operation in group.operations for t in operation.inputs]:
            if self.waits(tensor) and id(tensor) in self.env:
                self._settle(tensor)
        if not rows.lower(self, group):
            for operation in group.operations:
                self.operation(operation)

    def drop(self, tensor: Tensor) -> None:
        """Forgets a value after its last use; a large array that no other value refers to is released."""
        value = self.env.pop(id(tensor), None)
        if value is None:
            return
        large = _large_slots(value, self.slot_sets)
        if large:
            used = {slot for other in self.env.values() for slot in _slots(other, self.slot_sets)}
            for slot in sorted(large - used):
                self.set_slot(slot, "null")

    def is_spare(self, m: Memory, stored: set[int], done: bool) -> bool:
        """Whether nobody reads an array after some tensors are stored; `done`: nor the operation here."""
        if self.quick is not None or m.slot is None or self.current is None:
            return False
        position, last = self.place_of(self.current)
        return not any(
            m.slot in _slots(value, self.slot_sets)
            for key, value in self.env.items()
            if key not in stored and max(last.get(key, math.inf), self.late.get(key, -1)) >= position + done
        )

    def place_of(self, operation: Operation) -> tuple[int, dict[int, float]]:
        """The place of an operation in its region, and where the tensors of the region are used last."""
        if self.ends is None:
            self.ends = _ends(self.graph)
        return self.ends[id(operation)]

    def is_next(self, operation: Operation) -> bool:
        """Whether an operation follows the one that is lowered, and is lowered by itself."""
        if self.current is None or id(operation) in self.grouped:
            return False
        position, region = self.place_of(operation)
        before, other = self.place_of(self.current)
        return region is other and position == before + 1

    def is_only_for(self, operation: Operation, tensor: Tensor) -> bool:
        """Whether an array is a product that only an operation of the same region reads, and once."""
        made = self.products.get(id(tensor))
        if made is None or self.uses.get(id(tensor)) != 1 or id(tensor) in self.plan.objects:
            return False
        return self.place_of(made)[1] is self.place_of(operation)[1]

    def virtual_items(self, leaf: Any) -> tuple[Value, ...] | None:
        from autograph.compiler import containers

        return containers.items_of(self, leaf)

    def may_alias(self, a: Any, b: Any) -> bool:
        """Whether memory of two roots may overlap."""
        if a == b or a is None or b is None:
            return True
        if isinstance(a, tuple) or isinstance(b, tuple):
            return False
        return self.roots.may_alias(a, b, self.plan.distinct)

    def is_pure(self, tensor: Tensor) -> bool:
        """Whether nothing ever writes the memory of an array."""
        return self.roots.is_pure(id(tensor), self.plan.distinct)

    def is_private(self, tensor: Tensor) -> bool:
        """Whether nobody can tell a view from a copy: its memory is never written, and nobody keeps it."""
        return self.is_pure(tensor) and self._memory.private(tensor)

    @functools.cached_property
    def _memory(self) -> memory.Memory:
        return memory.Memory(self.graph)

    def as_object(self, value: Value, tensor: Tensor | None) -> Value:
        from autograph.compiler import arrays

        return arrays.as_object(self, value, tensor)

    def note(self, text: str) -> None:
        """Says in the listing what the current operation has become."""
        place = None if self.current is None else self.current.place
        line = None if place is None else place.line
        self.compilation.notes.append(listing.Note(self.graph.name, self.depth, line, text))

    def operation(self, operation: Operation) -> None:
        self.current = operation
        name = operation.name
        if name == "cond":
            self.flush()
            self.cond(operation)
        elif name == "while_loop":
            self.flush()
            self.while_loop(operation)
        elif name == "try":
            self.flush()
            self.try_(operation)
        elif name == "call":
            self.flush()
            self.call(operation)
        else:
            self._op(operation)
            for out in operation.outputs:
                self._store_waiting(out)

    def _store_waiting(self, last: Tensor) -> None:
        """Stores the arrays that waited for the loop of an operation, and needed one, where it made none."""
        together = self.fusion.together.get(id(last), [last])
        for t in together[:-1] if together[-1] is last else ():
            if id(t) in self.env and (id(t) in self.plan.objects or not self.is_pure(t)):
                self._settle(t)

    def _op(self, operation: Operation) -> None:
        from autograph.compiler import unrolled

        done = self.done.pop(id(operation), None)
        if done is not None:
            fresh = operation.name == "add"
            self.bind(operation.outputs[0], replace(done, root=("new", done.slot)) if fresh else done)
            return
        effects = operation.op.effects(operation.args, operation.kwargs)
        if operation.outputs and operation.outputs[0]._ag_type is BOTTOM:  # it raises: the kernel knows what
            self.flush()
            self.fallback(operation)
            return
        if self.depth and operation.outputs and unrolled.fold(self, operation):
            return
        unused = operation.outputs and not self.uses.get(id(operation.outputs[0]))
        harmless = "total" in effects and not effects & {"effect", "writes", "host"}
        if unused and (harmless or (operation.name in REMOVABLE and self._succeeds(operation))):
            return
        if effects & {"writes", "host", "effect"} and operation.name not in ("cell_get", "cell_set", "print"):
            self.flush(self._kept(operation))
        lower = rule_of(operation.name)
        if lower is not None:
            if any(isinstance(self.env.get(id(t)), Tagged) for t in operation.inputs):
                from autograph.compiler import unions

                lower = unions.rule_for(operation.name, lower)
            if "writes" in effects and operation.op.out is not None:
                from autograph.compiler import outs

                lower = outs.rule_for(lower)
            result = lower(self, operation, *self.operands(operation.args), **self.operands(operation.kwargs))
            if result is not None:
                if operation.outputs:
                    self._keep_identity(operation, result)
                    shares = "view" in effects and self._shows_given(operation)
                    if shares and isinstance(result, Elements):
                        result = replace(result, fresh=False)
                    self.bind(operation.outputs[0], result)
                return
        self.fallback(operation)

    def _kept(self, operation: Operation) -> list[Tensor]:
        """The arrays that an operation that writes may have put off: it computes them as it writes."""
        if operation.name == "set_item":
            return operation.inputs
        written = operation.args[0] if operation.name[1:] in UFUNC_OF else None
        if not isinstance(written, Tensor) or array_type(written._ag_type) is None:
            return []
        return [t for t in operation.inputs if t is not written]

    def _succeeds(self, operation: Operation) -> bool:
        """Whether a removable operation is sure not to raise."""
        types = [t._ag_type for t in operation.inputs]
        if any(isinstance(t, (Union, Host)) or (isinstance(t, Array) and not t.shape) for t in types):
            return False
        step = operation.args[2] if len(operation.args) > 2 else 1
        return operation.name not in ("range", "range_length") or (type(step) is int and step != 0)

    def _shows_given(self, operation: Operation) -> bool:
        """Whether a view is of elements of an array object; if the view must be one, so must the array."""
        given = [t for t in operation.inputs if isinstance(self.env.get(id(t)), Elements)]
        if given and id(operation.outputs[0]) in self.plan.objects:  # other views may be objects, too
            self.plan.need(self.plan.objects, given[0])
        return any(not self.env[id(t)].fresh for t in given)  # type: ignore[attr-defined]

    def _keep_identity(self, operation: Operation, result: Value) -> None:
        """An array that is passed on, and needed as an object, must be one where it comes from."""
        is_object = not isinstance(result, Elements) and getattr(result, "is_object", True)
        if is_object or id(operation.outputs[0]) not in self.plan.objects:
            return
        for t in operation.inputs:
            value = self.env.get(id(t))
            if any(v is result for v in (value, *getattr(value, "virtual", ()))):
                self.plan.need(self.plan.objects, t)

    def flush(self, keep: Any = ()) -> None:
        """Computes the arrays that were put off."""
        from autograph.compiler import arrays

        kept = {id(t) for t in keep}
        pending, self.pending = self.pending, []
        for tensor in pending:
            value = self.env.get(id(tensor))
            if not isinstance(value, Lazy):
                continue
            if id(tensor) in kept:
                self.pending.append(tensor)
                continue
            self.env[id(tensor)] = self._rooted(arrays.materialize(self, value, {id(tensor)}), tensor)

    # -- joins -----------------------------------------------------------------------------------------------

    def cond(self, operation: Operation) -> None:
        b = self.b
        test = self.value_of(operation.args[0])
        if isinstance(test, Known):
            region = operation.regions[0 if test.value else 1]
            if not self.region(region):
                self.dead = True
                return
            for out, result in zip(operation.outputs, region.results or ()):
                value = self.value_of(result)
                if alternatives(out._ag_type):
                    from autograph.compiler import unions

                    value = unions.like(self, value, out._ag_type)
                self.env[id(out)] = value
            return
        from autograph.compiler import selects

        if selects.lower(self, operation):
            return
        labels = b.label("then"), b.label("else")
        b.branch(self.test(test), *labels)
        ends: list[tuple[str, Region]] = []
        for label, region in zip(labels, operation.regions):
            b.start(label)
            saved = dict(self.env)
            pending = list(self.pending)
            if self.region(region):
                for result in region.results or ():
                    self._settle(result)
                ends.append((b.block, region, self.env))  # type: ignore[arg-type]
            self.env = saved
            self.pending = pending
        if not ends:
            self.dead = True
            return
        after = b.label("join")
        joins = Joins(self, [end[0] for end in ends])
        for i, out in enumerate(operation.outputs):
            joins.add(out, [(end[2], (end[1].results or ())[i]) for end in ends])  # type: ignore[misc]
        for end in joins.blocks:
            b.switch(end)
            b.jump(after)
        b.start(after)
        joins.finish()

    def _settle(self, leaf: Any) -> None:
        """What leaves a region is computed there."""
        from autograph.compiler import arrays

        if isinstance(leaf, Tensor):
            value = self.value_of(leaf)
            if isinstance(value, Lazy):
                self.env[id(leaf)] = self._rooted(arrays.materialize(self, value), leaf)

    def while_loop(self, operation: Operation) -> None:
        from autograph.compiler import loops

        loops.lower(self, operation)

    # -- try -------------------------------------------------------------------------------------------------

    def try_(self, operation: Operation) -> None:
        b = self.b
        regions = list(operation.regions)
        options = operation.kwargs
        body = regions.pop(0)
        final = regions.pop() if options["has_finally"] else None
        orelse = regions.pop() if options["has_else"] else None
        depth = b.value(f"load i64, ptr {self.field(8)}")
        outer = b.label("finally") if final is not None else None
        inner = b.label("except") if regions else None
        end = b.label("endtry")
        alive = False
        if outer:
            self.targets.append(outer)
        if inner:
            self.targets.append(inner)
        going = self.region(body)
        if inner:
            self.targets.pop()
        if going and orelse is not None:
            going = self.region(orelse)
        if going:
            self.flush()
            b.jump(end)
            alive = True
        if inner:
            alive = self._handlers(inner, regions, options["handlers"], depth, end) or alive
        if outer:
            self.targets.pop()
        if final is not None and outer is not None:
            after = b.label("after")
            alive_after = False
            if alive:
                b.start(end)
                if self.region(final):
                    self.flush()
                    b.jump(after)
                    alive_after = True
            b.start(outer)
            error = self._catch(depth)
            self._handle(error, +1)
            if self.region(final):
                self.flush()
                self._handle(error, -1)
                self._rethrow(error)
            alive, end = alive_after, after
        if alive:
            b.start(end)
        else:
            self.dead = True

    def _handlers(self, label: str, regions: list[Region], classes: Any, depth: str, end: str) -> bool:
        b = self.b
        alive = False
        b.start(label)
        error = self._catch(depth)
        for kinds, handler in zip(classes, regions):
            pointer = self.get_slot(error)
            answer = self.call_object(
                self.object_constant(host.matches), [pointer, self.object_constant(kinds)]
            )
            self._null_to_target(answer)
            yes = b.value(f"icmp eq ptr {answer}, {self.object_constant(True)}")
            self.decref(answer)
            then, other = b.label("handler"), b.label("next")
            b.branch(yes, then, other)
            b.start(then)
            self.env[id(handler.params[0])] = Object(handler.params[0]._ag_type, error)
            self._handle(error, +1)
            if self.region(handler):
                self.flush()
                self._handle(error, -1)
                b.jump(end)
                alive = True
            b.start(other)
        self._rethrow(error)
        return alive

    def _null_to_target(self, pointer: str) -> None:
        bad, good = self.b.label("null"), self.b.label("got")
        self.b.branch(self.b.value(f"icmp eq ptr {pointer}, null"), bad, good, unlikely="then")
        self.b.start(bad)
        self.fail(-1)
        self.b.start(good)

    def _catch(self, depth: str) -> int:
        """Takes the exception that is set into a slot, completed as the user's code may see it."""
        b = self.b
        slot = self.new_slot()
        self.set_slot(slot, b.call("ptr", "ag_fetch"))
        count = b.value(f"load i64, ptr {self.field(24)}")
        trail = b.value(f"load ptr, ptr {self.field(32)}")
        size = b.value(f"mul i64 {count}, 4")
        b.emit(f"store i64 0, ptr {self.field(24)}")
        b.emit(f"store i64 {depth}, ptr {self.field(8)}")
        text = b.call("ptr", "PyBytes_FromStringAndSize", f"ptr {trail}", f"i64 {size}")
        handling = b.value(f"load ptr, ptr {self.field(40)}")
        number = b.call("ptr", "PyLong_FromLongLong", f"i64 {depth}")
        fn = self.compilation.table_function("caught", host.caught)
        done = self.call_object(self.object_constant(fn), [self.get_slot(slot), text, handling, number])
        self.decref(text)
        self.decref(number)
        self._null_to_target(done)
        self.decref(done)
        return slot

    def _handle(self, error: int, step: int) -> None:
        """Enters or leaves the handling of an exception."""
        b = self.b
        place = self.field(8)
        depth = b.value(f"load i64, ptr {place}")
        moved = b.value(f"add i64 {depth}, {step}")
        b.emit(f"store i64 {moved}, ptr {place}")
        handling = b.value(f"load ptr, ptr {self.field(40)}")
        if step > 0:
            b.call("i32", "PyList_Append", f"ptr {handling}", f"ptr {self.get_slot(error)}")
        else:
            b.call("i32", "PyList_SetSlice", f"ptr {handling}", f"i64 {moved}", f"i64 {depth}", "ptr null")

    def _rethrow(self, error: int) -> None:
        done = self.call_object(self.object_constant(host.rethrow), [self.get_slot(error)])
        self.b.emit(f"; {done} is null")
        self.fail(-1)

    # -- calls -----------------------------------------------------------------------------------------------

    def call(self, operation: Operation) -> None:
        b = self.b
        callee = operation.callee
        assert callee is not None
        self.note(f"calls graph {callee.name}")
        arguments = ["ptr %ctx"]
        owned: list[str] = []
        for param, leaf in zip(callee.params, operation.args):
            t: Any = param._ag_type
            dtype = scalar_dtype(t)
            if isinstance(t, Const):
                continue
            if dtype is not None:
                number = self.number(self.value_of(leaf))
                arguments += [f"{register(dtype)} {p}" for p in number.parts]
            else:
                pointer, is_owned = self.box_leaf(leaf)
                arguments.append(f"ptr {pointer}")
                if is_owned:
                    owned.append(pointer)
        returns = signature(callee)
        result = b.value(f"call {returns} @{self.compilation.names[id(callee)]}({', '.join(arguments)})")
        for pointer in owned:
            self.decref(pointer)
        bad, good = b.label("raised"), b.label("returned")
        b.branch(b.value(f"extractvalue {returns} {result}, 0"), bad, good, unlikely="then")
        b.start(bad)
        self.fail(self.compilation.sites.number(operation))
        b.start(good)
        if not (callee.body.results or ()) and callee.body.results is None:
            self._raise_now(host.unreachable(operation))
            self.dead = True
            return
        at = 1
        for out, leaf in zip(operation.outputs, callee.body.results or ()):
            t = leaf._ag_type if isinstance(leaf, Tensor) else None
            dtype = scalar_dtype(t) if t is not None else None
            if t is not None and isinstance(t, Const):
                self.bind(out, Known(t.value))
                continue
            if dtype is None or t is None:
                pointer = b.value(f"extractvalue {returns} {result}, {at}")
                at += 1
                self.bind(out, self.unbox(pointer, out._ag_type, out))
                continue
            parts = []
            for _ in range(2 if dtype.kind == "c" else 1):
                parts.append(b.value(f"extractvalue {returns} {result}, {at}"))
                at += 1
            number = Number(t, dtype, tuple(parts))
            self.bind(out, number if scalar_dtype(out._ag_type) is not None else self._boxed(number, out))

    def _boxed(self, number: Number, out: Tensor) -> Value:
        return self.unbox(self.box_number(number), out._ag_type, out)


class _Maker:
    """Makes an instance of a named-tuple class of its items."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __call__(self, *items: Any) -> Any:
        return self.cls(*items)


def _can_be_made(value: Value) -> bool:
    """Whether an array that is no object becomes one in a few steps, for a kernel that raises anyway."""
    if isinstance(value, Memory):
        return not value.is_object and value.slot is not None
    return isinstance(value, Elements)


class _Release:
    """Releases the slots of the frame: how many there are is known at the end."""

    def __init__(self, function: FunctionLowering) -> None:
        self.function = function

    def text(self) -> str:
        count = self.function.slots
        return f"  call void @ag_release(ptr %slots, i64 {count})" if count else "  ; no slots"


def signature(graph: Graph) -> str:
    """The IR type of what a graph's function returns: a flag (it raised), then the results."""
    parts = ["i1"]
    for leaf in graph.body.results or ():
        if not isinstance(leaf, Tensor):
            parts.append("ptr")
            continue
        if isinstance(leaf._ag_type, Const):
            continue
        dtype = scalar_dtype(leaf._ag_type)
        if dtype is None:
            parts.append("ptr")
        else:
            parts += [register(dtype)] * (2 if dtype.kind == "c" else 1)
    return "{ " + ", ".join(parts) + " }"


EQUALITIES = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "contains"})
SEARCHES = frozenset({"index", "count", "remove"})


def _asks_identity(operation: Operation) -> bool:
    """Whether containers are searched for floats: a NaN is found by its identity, which registers lack."""
    if any(_is_keyed_by_floats(t._ag_type) for t in (*operation.inputs, *operation.outputs)):
        return True
    if operation.name not in EQUALITIES and operation.name.split(".")[-1] not in SEARCHES:
        return False
    floats = [isinstance(leaf, Tensor) and _may_be_float(leaf._ag_type) for leaf in leaves(operation.args)]
    containers = [
        isinstance(leaf, Tensor) and isinstance(m, (TupleT, SeqT, Ref))
        for leaf in leaves(operation.args)
        for m in (members(leaf._ag_type) if isinstance(leaf, Tensor) else (None,))
    ]
    return sum(floats) > 1 and (any(containers) or operation.name not in EQUALITIES)


def _is_keyed_by_floats(t: Type) -> bool:
    """Whether a dict's keys, or a set's items, may be floats that are no constants."""
    tables = [m.site for m in members(t) if isinstance(m, Ref) and m.kind in ("dict", "set")]
    return any(_may_be_float(site.key_type if site.kind == "dict" else site.elem) for site in tables)


def _may_be_float(t: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value, or something in it, may be a float that is no constant."""
    if isinstance(t, TupleT):
        return any(_may_be_float(x, seen) for x in t.items)
    if isinstance(t, SeqT):
        return _may_be_float(t.elem, seen)
    if isinstance(t, Ref):
        held = (t.site.elem, t.site.key_type, *(t.site.fixed or ()), *t.site.fields.values())
        return id(t.site) not in seen and any(_may_be_float(x, seen | {id(t.site)}) for x in held)
    if isinstance(t, Py):
        return t.cls in (float, complex)
    if isinstance(t, Scalar):
        return t.dtype.kind in "fc"
    parts = members(t)
    return len(parts) > 1 and any(_may_be_float(m, seen) for m in parts)


REMOVABLE = frozenset({"range", "range_length", "range_item", "len", "ndarray.shape"})


def _dying(region: Region, late: dict[int, int]) -> dict[int, list[Tensor]]:
    """The results of a region's operations, by the position of the last one that uses them, or `late`."""
    last: dict[int, int] = {}
    made: dict[int, Tensor] = {}
    for position, operation in enumerate(region.ops):
        for t in all_inputs(operation):
            if id(t) in made:
                last[id(t)] = position
        for t in operation.outputs:
            made[id(t)] = t
            last[id(t)] = position
    for leaf in leaves(region.results or ()):
        if isinstance(leaf, Tensor):
            last.pop(id(leaf), None)
    dying: dict[int, list[Tensor]] = {}
    for key, position in last.items():
        dying.setdefault(max(position, late.get(key, 0)), []).append(made[key])
    return dying


def _ends(graph: Graph) -> dict[int, tuple[int, dict[int, float]]]:
    """By operation: its place in its region, and where the tensors of the region are used there last.

    With the body of a loop, the tensors of the loop's test and its results are such that are not used.
    """
    found: dict[int, tuple[int, dict[int, float]]] = {}

    def walk(region: Region, others: Iterable[Tensor]) -> None:
        last: dict[int, float] = {id(t): -1 for t in (*region.params, *others)}
        for position, operation in enumerate(region.ops):
            last.update({id(t): position for t in operation.outputs})
            last.update({id(t): position for t in all_inputs(operation) if id(t) in last})
            found[id(operation)] = position, last
            for nested in operation.regions:
                is_turn = operation.name == "while_loop" and nested is operation.regions[1]
                head = operation.regions[0]
                tests = [*head.params, *(t for o in head.ops for t in o.outputs), *operation.outputs]
                walk(nested, tests if is_turn else ())
        last.update({id(t): math.inf for t in leaves(region.results or ()) if isinstance(t, Tensor)})

    walk(graph.body, ())
    return found


def all_inputs(operation: Operation) -> Iterator[Tensor]:
    yield from operation.inputs
    for region in operation.regions:
        for inner in region.ops:
            yield from all_inputs(inner)
        for leaf in leaves(region.results or ()):
            if isinstance(leaf, Tensor):
                yield leaf


SlotSets = dict[tuple[int, bool], tuple[Lazy, frozenset[int]]]
"""The slots that arrays which are put off (long chains) refer to: all, or the large ones."""


def _slots(value: Any, known: SlotSets) -> Iterable[int]:
    """The slots that a value refers to."""
    if isinstance(value, (Memory, Object)):
        if value.slot is not None:
            yield value.slot
    elif isinstance(value, Elements):
        if value.origin is not None:
            yield value.origin
    elif isinstance(value, Lazy):
        key = id(value), False
        if key not in known:
            known[key] = value, frozenset(slot for a in value.args for slot in _slots(a, known))
        yield from known[key][1]
    else:
        for item in getattr(value, "items", None) or getattr(value, "virtual", None) or ():
            yield from _slots(item, known)


LARGE = 4096


def _large_slots(value: Any, known: SlotSets) -> frozenset[int]:
    """The slots of arrays that may be large, in a value that dies."""
    if isinstance(value, Memory):
        if value.slot is None:
            return frozenset()
        size = value.dtype.itemsize
        for d in value.dims:
            size = size * d if isinstance(d, int) else LARGE
        return frozenset([value.slot] if size >= LARGE else ())
    if isinstance(value, Lazy):
        key = id(value), True
        if key not in known:
            known[key] = value, frozenset(slot for a in value.args for slot in _large_slots(a, known))
        return known[key][1]
    return frozenset()


def _uses(graph: Graph) -> dict[int, int]:
    counts: dict[int, int] = {}

    def count(tree: Any) -> None:
        for leaf in leaves(tree):
            if isinstance(leaf, Tensor):
                counts[id(leaf)] = counts.get(id(leaf), 0) + 1

    def walk(region: Region) -> None:
        for operation in region.ops:
            count((operation.args, operation.kwargs))
            for nested in operation.regions:
                walk(nested)
        count(region.results or ())

    walk(graph.body)
    return counts


def _users(graph: Graph) -> dict[int, Operation]:
    """The operation that uses a tensor as an argument (the last one of several), by the tensor's id."""
    users: dict[int, Operation] = {}

    def walk(region: Region) -> None:
        for operation in region.ops:
            users.update((id(t), operation) for t in operation.inputs)
            for nested in operation.regions:
                walk(nested)

    walk(graph.body)
    return users


class Joins:
    """Values that come to one place from several blocks, each with an environment of its own."""

    def __init__(self, function: FunctionLowering, blocks: list[str]) -> None:
        self.function, self.blocks = function, blocks
        self.todo: list[Callable[[], None]] = []

    def _in(self, i: int, env: dict[int, Value], work: Callable[..., Any], *args: Any) -> Any:
        """Does work at the end of a block, in its environment."""
        f = self.function
        saved, f.env = f.env, env
        f.b.switch(self.blocks[i])
        try:
            return work(*args)
        finally:
            self.blocks[i] = f.b.block
            f.env = saved

    def add(self, out: Tensor, sources: list[tuple[dict[int, Value], Any]]) -> None:
        """Joins the leaves of each block into the value of `out`."""
        f = self.function
        t = out._ag_type
        if isinstance(t, Const):
            f.env[id(out)] = Known(t.value)
            return
        if len(sources) == 1 and id(out) not in f.plan.objects:
            env, leaf = sources[0]
            value = self._in(0, env, lambda: f.value_of(leaf))
            if scalar_dtype(t) is not None:
                value = self._in(0, env, lambda: f.number(value))
            elif isinstance(value, Known):
                value = self._in(0, env, lambda: self._object(leaf, t, out))
            f.env[id(out)] = value
            return
        if alternatives(t):
            from autograph.compiler import unions

            mixed = [self._in(i, env, self._mixed, leaf, t) for i, (env, leaf) in enumerate(sources)]
            self.todo.append(lambda: f.env.__setitem__(id(out), unions.join(f, mixed, self.blocks)))
            return
        dtype = scalar_dtype(t)
        if dtype is not None:
            numbers = [self._in(i, env, self._numbered, leaf) for i, (env, leaf) in enumerate(sources)]
            self.todo.append(lambda: self._number(out, t, dtype, numbers))
            return
        array = array_type(t)
        if array is not None:
            self._array(out, array, sources)
            return
        slot = f.new_slot()
        for i, (env, leaf) in enumerate(sources):
            self._in(i, env, self._put, slot, leaf)
        self.todo.append(lambda: f.env.__setitem__(id(out), f.from_slot(slot, t, out)))

    def _numbered(self, leaf: Any) -> Number:
        return self.function.number(self.function.value_of(leaf))

    def _mixed(self, leaf: Any, t: Type) -> Value:
        from autograph.compiler import unions

        return unions.like(self.function, self.function.value_of(leaf), t)  # type: ignore[no-any-return]

    def _put(self, slot: int, leaf: Any) -> None:
        self.function.set_slot(slot, self.function.owned(leaf))

    def _share(self, slot: int, owner: int) -> None:
        self.function.set_slot(slot, self.function.incref(self.function.get_slot(owner)))

    def _object(self, leaf: Any, t: Type, out: Tensor) -> Value:
        return self.function.unbox(self.function.owned(leaf), t, out)

    def _number(self, out: Tensor, t: Type, dtype: np.dtype[Any], numbers: list[Number]) -> None:
        f = self.function
        parts = []
        for k in range(len(numbers[0].parts)):
            if all(n.parts[k] == numbers[0].parts[k] for n in numbers):
                parts.append(numbers[0].parts[k])
                continue
            phi = f.b.phi(register(dtype))
            phi.incoming = [(n.parts[k], block) for n, block in zip(numbers, self.blocks)]
            parts.append(phi.name)
        lows = [n.low for n in numbers]
        highs = [n.high for n in numbers]
        low = None if None in lows else min(x for x in lows if x is not None)
        high = None if None in highs else max(x for x in highs if x is not None)
        f.env[id(out)] = Number(t, dtype, tuple(parts), low, high)

    def _array(self, out: Tensor, t: Any, sources: list[tuple[dict[int, Value], Any]]) -> None:
        from autograph.compiler import arrays

        f = self.function
        found = [self._in(i, env, f.value_of, leaf) for i, (env, leaf) in enumerate(sources)]
        if id(out) in f.plan.objects:
            slot = f.new_slot()
            for i, (env, leaf) in enumerate(sources):
                self._in(i, env, self._put, slot, leaf)
            contiguous = all(isinstance(v, Memory) and v.contiguous for v in found)

            def unpack() -> None:
                m = f.unpack_array(slot, t, out)
                f.env[id(out)] = f.as_contiguous(m) if contiguous else m

            self.todo.append(unpack)
            return
        if all(isinstance(v, Elements) for v in found) and len({v.shape for v in found}) == 1:
            self.todo.append(lambda: self._elements(out, found))
            return
        memories = [
            self._in(i, env, arrays.lasting, f, v) for i, ((env, _), v) in enumerate(zip(sources, found))
        ]
        slot = f.new_slot()
        for i, m in enumerate(memories):
            if m.slot is not None:
                self._in(i, sources[i][0], self._share, slot, m.slot)
        self.todo.append(lambda: self._memory(out, t, memories, slot))

    def _elements(self, out: Tensor, found: list[Any]) -> None:
        f = self.function
        first = found[0]
        items = []
        for k in range(len(first.items)):
            parts = []
            for j in range(len(first.items[k])):
                phi = f.b.phi(register(first.dtype))
                phi.incoming = [(v.items[k][j], block) for v, block in zip(found, self.blocks)]
                parts.append(phi.name)
            items.append(tuple(parts))
        f.env[id(out)] = Elements(first.dtype, first.shape, tuple(items), fresh=False)

    def _memory(self, out: Tensor, t: Any, memories: list[Memory], slot: int) -> None:
        from autograph.compiler import arrays

        f = self.function

        def joined(operands: list[int | str], kind: str = "i64") -> int | str:
            if all(o == operands[0] for o in operands):
                return operands[0]
            phi = f.b.phi(kind)
            phi.incoming = [(str(o), block) for o, block in zip(operands, self.blocks)]
            return phi.name

        contiguous = all(m.contiguous for m in memories)
        ordered = all(arrays.in_order(m) for m in memories)
        dims = tuple(
            d if d is not None else joined([m.dims[axis] for m in memories]) for axis, d in enumerate(t.shape)
        )
        data = joined([m.data for m in memories], "ptr")
        strides: tuple[int | str, ...] = ()
        if not contiguous:
            strides = tuple(joined([m.strides[axis] for m in memories]) for axis in range(len(dims)))
        root = f.roots.find(id(out))
        value = Memory(t.dtype, str(data), dims, strides, slot, False, contiguous, root, ordered=ordered)
        self.late: list[Any] = getattr(self, "late", [])
        self.late.append((out, value))

    def finish(self) -> None:
        """Makes the phis; the current block is where the blocks meet."""
        for work in self.todo:
            work()
        for out, value in getattr(self, "late", []):
            f = self.function
            f.env[id(out)] = f.as_contiguous(value) if value.contiguous else value


def entry(compilation: Compilation) -> None:
    """The function that Python calls: unpacks the arguments, runs the graph, wraps the result."""
    graph = compilation.graph
    f = FunctionLowering(compilation, graph)
    b = f.b
    emit_entry(f, b)
    compilation.module.functions["ag_entry"] = b.function("define ptr @ag_entry(ptr %table, ptr %args)")


def emit_entry(f: FunctionLowering, b: Builder) -> None:
    graph, compilation = f.graph, f.compilation
    uses_try = any(o.name == "try" for o in graph.operations())
    b.allocas.append("  %ctx = alloca [7 x i64], align 16")
    b.allocas.append(f"  %trail = alloca [{support.TRAIL} x i32], align 16")
    b.emit("store ptr %table, ptr %ctx")
    b.emit(f"store i64 0, ptr {f.field(8)}")
    b.emit(f"store i64 0, ptr {f.field(24)}")
    b.emit(f"store ptr %trail, ptr {f.field(32)}")
    frame = b.call("ptr", "llvm.frameaddress.p0", "i32 0")
    address = b.value(f"ptrtoint ptr {frame} to i64")
    limit = b.call("i64", "ag_limit", f"ptr {f.object_constant(host.stack_limit)}")
    b.emit(f"store i64 {limit}, ptr {f.field(16)}")
    b.emit(f"store i64 {POLL}, ptr {f.field(48)}")
    deep, fine = b.label("deep"), b.label("fine")
    b.branch(b.value(f"icmp ult i64 {address}, {limit}"), deep, fine, unlikely="then")
    b.start(deep)
    b.call("void", "ag_call0", "ptr %ctx", f"i64 {compilation.constant(host.too_deep)}")
    b.emit("ret ptr null")
    b.start(fine)
    handling = b.call("ptr", "PyList_New", "i64 0") if uses_try else "null"
    b.emit(f"store ptr {handling}, ptr {f.field(40)}")
    arguments = ["ptr %ctx"]
    at = 0
    for param in graph.params:
        t: Any = param._ag_type
        if isinstance(t, Const):
            continue
        pointer = b.value(f"load ptr, ptr {f.at('%args', 8 * at)}")
        at += 1
        dtype = scalar_dtype(t)
        if dtype is None:
            arguments.append(f"ptr {pointer}")
        else:
            arguments += [f"{register(dtype)} {p}" for p in f._unbox_parts(pointer, t, dtype)]
    returns = signature(graph)
    result = b.value(f"call {returns} @{compilation.names[id(graph)]}({', '.join(arguments)})")
    raised = b.value(f"extractvalue {returns} {result}, 0")
    b.branch(raised, "failed", "worked", unlikely="then")
    b.start("worked")
    if graph.body.results is None:
        b.emit("ret ptr null")
    else:
        leaf = graph.body.results[0]
        t = leaf._ag_type if isinstance(leaf, Tensor) else None
        dtype = scalar_dtype(t) if t is not None else None
        if t is not None and isinstance(t, Const):
            answer = f.incref(f.object_constant(t.value))
        elif dtype is not None and t is not None:
            parts = tuple(
                b.value(f"extractvalue {returns} {result}, {i + 1}")
                for i in range(2 if dtype.kind == "c" else 1)
            )
            answer = f.box_number(Number(t, dtype, parts))
        else:
            answer = b.value(f"extractvalue {returns} {result}, 1")
        if uses_try:
            b.call("void", "Py_DecRef", f"ptr {handling}")
        b.emit(f"ret ptr {answer}")
    b.start("failed")
    failed = compilation.constant(compilation.table_function("failed", host.failed))
    b.call("void", "ag_failed", "ptr %ctx", f"i64 {failed}")
    b.emit("ret ptr null")


def compile_graph(
    graph: Graph,
    layouts: tuple[int, ...] = (),
    distinct: bool = True,
    sizes: tuple[tuple[int, ...], ...] = (),
    standalone: bool = False,
    outside: Callable[[Compilation], None] = entry,
) -> tuple[Compilation, str]:
    """Lowers a graph and those that it calls; gives the compilation and its IR (see `Compilation.text`)."""
    from autograph.compiler import always  # noqa: F401 - its modules register their rules

    plan = Plan(layouts=layouts, distinct=distinct, sizes=sizes, standalone=standalone)
    for g in graph.functions():  # without a look at the results, their second use would start all over
        for leaf in g.body.results or ():
            is_made = isinstance(leaf, Tensor) and leaf._ag_op is not None and leaf._ag_op.op is not None
            if is_made and array_type(leaf._ag_type) is not None:
                plan.objects.add(id(leaf))
    for _ in range(MAX_RETRIES):
        plan.fresh.clear()
        compilation = Compilation(graph, plan)
        try:
            text = compilation.text(outside)
        except Retry:
            continue
        except LateJump:
            plan.numbered = False
            continue
        except Exception:
            if not plan.fresh:
                raise
            continue  # it went on after a choice had proved wrong
        if not plan.fresh:
            return compilation, text
    raise Unsupported("the choices of the compiler do not settle")
