"""Staged loops: one `while_loop` op whose body is traced once, peeled where its first turns change types.

A loop whose carried type changes in its first turns (`s = 0`, then `s += v` with a float64) would carry a
union through every turn. Where a turn that starts with the types of the first gives simpler ones, the first
turn stands before the loop, as an `if`, and what is left starts with these:

    if test: body; while test: body

Where some turns leave the first types as they are (`if v > 0: s += v`), the loop is one that runs while they
stay, and then one that starts with the others:

    while s is an int and test: body
    if s is not an int: while test: body

Each part is a copy of the loop with decisions of its own. A plan that does not make what is carried simpler
is given up, and a nest of loops is peeled from the inside, up to a size: `MAX_INNER`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from autograph.graph.check import covers
from autograph.graph.graph import Operation, Region, Tensor
from autograph.graph.types import (
    BOTTOM,
    UNBOUND,
    Array,
    Const,
    Py,
    Ref,
    Scalar,
    TooManyTypes,
    TupleT,
    Type,
    TypeChoice,
    Union,
    generalize_deep,
    join,
    members,
)
from autograph.operators.branches import and_, if_stmt, narrow, not_, rename_unbound, truth
from autograph.operators.tracer import (
    Carried,
    DeadEnd,
    Note,
    Restart,
    Trace,
    emit,
    flatten,
    leaf_names,
    leaf_types,
    unflatten,
    vtype,
)
from autograph.ops import core
from autograph.records import record_class, replace

State = Callable[[], tuple[Any, ...]]
SetState = Callable[[tuple[Any, ...]], None]

MAX_TURNS = 3
"""At most so many first turns of a loop are peeled."""

MAX_PLANNED = 12
"""In so many passes of the trace loops may be decided to be peeled."""

MAX_INNER = 8
"""A loop is peeled only if there are at most so many bodies of loops in it. Inner loops are decided on first,
so the inner three of many nested loops are peeled, and the others carry unions."""


@record_class
class Loop:
    """A loop to be staged: its key, its code, and the state that its test and body may rebind."""

    key: Hashable
    test: Callable[[], Any]
    body: Callable[[], None]
    get_state: State
    set_state: SetState
    names: tuple[str, ...]
    unrollable: bool
    kind: str = "while"


def stage(trace: Trace, loop: Loop, within: Carried | None = None) -> None:
    """Puts a loop into the graph; `within` is the plan of which it is what is left after the first turns."""
    before = tuple(vtype(v) for v in loop.get_state())
    carried = _carried(trace, loop, before)
    if carried.plan == "first turn":
        _peel(trace, loop, carried)
    elif carried.plan == "while mixed":
        _split(trace, loop, carried, before)
    else:
        _while_loop(trace, loop, carried, within)


def _carried(trace: Trace, loop: Loop, before: tuple[Type, ...]) -> Carried:
    """What is known of this copy of a loop, called from here, started with values of these types."""
    from autograph.operators.calls import stable_key

    entry = tuple(generalize_deep(t) for t in before)
    key, copies = stable_key(TupleT(entry)), trace.decisions.loop(loop.key).copies
    here = copies.setdefault((trace.callers(), trace.copy), {})
    if key in here:
        return here[key]
    seed = trace.decisions.loop(loop.key).plans.get(key) if _may_peel(trace, loop) else None
    carried = Carried(key, entry) if seed is None else replace(seed, entry=entry, types=None)
    for other in here.values():  # what comes of fewer types comes of these
        if other.types is not None and all(map(covers, entry, other.entry)):
            carried.types = other.types
    here[key] = carried
    return carried


def _peel(trace: Trace, loop: Loop, carried: Carried) -> None:
    """`if test: body; <what is left>`."""
    carried.changes = trace.decisions.changes
    turn = 1 + sum(part == (loop.key, "after") for part in trace.copy)
    _note(trace, loop, carried, f"peeled {turn} turn{'s' * (turn > 1)}, in which")

    def turn_and_rest() -> None:
        if trace.region.loop is None and trace.region is not region:
            trace.region.loop = (loop.key, loop.unrollable)
        trace.bodies += 1
        with _part(trace, loop, "turn"):
            loop.body()
        with _copy(trace, loop, "after"):
            stage(trace, loop, carried)

    region = trace.region
    with _part(trace, loop, "turn"):
        more = truth(loop.test())
    if_stmt(more, turn_and_rest, lambda: None, loop.get_state, loop.set_state, loop.names)


def _split(trace: Trace, loop: Loop, carried: Carried, before: tuple[Type, ...]) -> None:
    """A loop that runs while a variable may have the types that it starts with, and one for the others."""
    carried.changes = trace.decisions.changes
    _note(trace, loop, carried, "split in two, where")
    chosen = [(i, generalize_deep(before[i])) for i, n in enumerate(loop.names) if n in carried.names]
    more: Any = False
    over: Any = False  # the test was asked, and ended the loop

    def changed() -> Any:
        state = loop.get_state()
        tests = [_has_left(trace, carried, state[i], first) for i, first in chosen]
        return and_(tests[0], *(lambda test=test: test for test in tests[1:]))

    def ask() -> None:
        nonlocal more, over
        more = truth(loop.test())
        over = not_(more)

    def test() -> Any:
        nonlocal more
        more = False
        if_stmt(not_(changed()), ask, lambda: None, get_all, set_all, ("more", "over", *loop.names))
        return more

    def get_all() -> tuple[Any, ...]:
        return (more, over, *loop.get_state())

    def set_all(values: tuple[Any, ...]) -> None:
        nonlocal more, over
        more, over, *rest = values
        loop.set_state(tuple(rest))

    def get_state() -> tuple[Any, ...]:
        return get_all()[1:]

    def set_state(values: tuple[Any, ...]) -> None:
        set_all((more, *values))

    def rest() -> None:
        state = list(loop.get_state())
        for i, first in chosen:
            if isinstance(state[i], Tensor):
                state[i] = narrow(state[i], _others(state[i]._ag_type, first))
        loop.set_state(tuple(state))
        with _copy(trace, loop, "after"):
            stage(trace, loop, carried)

    names = ("over", *loop.names)
    with _copy(trace, loop, "before"):
        first = replace(loop, test=test, get_state=get_state, set_state=set_state, names=names)
        stage(trace, first)
    if_stmt(not_(over), rest, lambda: None, loop.get_state, loop.set_state, loop.names)


def _others(t: Type, first: Type) -> tuple[Type, ...]:
    return tuple(m for m in members(t) if m not in members(first))


def _has_left(trace: Trace, carried: Carried, value: Any, first: Type) -> Any:
    """Whether a value has another type than those that it had before the loop."""
    others = _others(vtype(value), first)
    if not others or len(others) == len(members(vtype(value))):
        return bool(others)
    if not _tell(others):
        carried.plan = "whole"
        trace.decisions.change("a loop cannot be split where values of its types are not told apart")
        raise Restart
    return emit(core.IS_TYPE, value, TypeChoice(others))


def _tell(others: tuple[Type, ...]) -> bool:
    """Whether a look at a value tells if it is of one of these types."""
    return all(isinstance(t, (Py, Scalar, Array, Const, Ref)) for t in others)


@contextlib.contextmanager
def _copy(trace: Trace, loop: Loop, what: str) -> Iterator[None]:
    """Decisions on loops in it are those of this part alone."""
    before, trace.copy = trace.copy, (*trace.copy, (loop.key, what))
    try:
        yield
    finally:
        trace.copy = before


@contextlib.contextmanager
def _part(trace: Trace, loop: Loop, what: str) -> Iterator[None]:
    """As `_copy`, for code that is a turn of the loop though it stands outside the `while_loop`."""
    trace.loops += [(loop.key, loop.unrollable), (("turn", len(trace.copy)), False)]
    try:
        with _copy(trace, loop, what):
            yield
    finally:
        del trace.loops[-2:]


def _note(trace: Trace, loop: Loop, carried: Carried, what: str) -> None:
    names = " and ".join(f"'{n}'" for n in carried.names)
    trace.notes.append(Note(trace.place(), f"{loop.kind} loop: {what} the type of {names} changes"))


# -- the op --------------------------------------------------------------------------------------------------


def _while_loop(trace: Trace, loop: Loop, carried: Carried, within: Carried | None) -> None:
    """A `while_loop` op: one body computes the test, the other a turn; both take and give the state."""
    before = loop.get_state()
    entry = tuple(vtype(v) for v in before)
    types = _widen(trace, carried, entry, loop.names)
    initial: list[Any] = []
    for value, t in zip(before, types):
        flatten(value, t, initial)
    operation = Operation("while_loop", tuple(initial), {}, [], place=trace.place())
    changes, bodies = trace.decisions.changes, trace.bodies
    trace.loops.append((loop.key, loop.unrollable))
    try:
        head, value, asked = _body(trace, loop, types, lambda: truth(loop.test()))
        turns = asked is not None and value is not False
        turn, _, turned = _body(trace, loop, types, loop.body if turns else _never)
    finally:
        trace.loops.pop()
        loop.set_state(before)
    operation.regions = (head, turn)
    inner, trace.bodies = trace.bodies - bodies, trace.bodies + 1
    wider = types
    if asked is not None:
        wider = _join_states(trace, wider, tuple(vtype(v) for v in asked), loop.names)
    settled = wider == types and changes == trace.decisions.changes  # else a turn starts with other types
    if turned is not None:
        wider = _join_states(trace, wider, tuple(vtype(v) for v in turned), loop.names)
    if settled:
        last = None if turned is None else tuple(vtype(v) for v in turned)
        _plan(trace, loop, Traced(carried, within, entry, types, wider, last, (head, turn), inner))
    if wider != types:
        carried.types = wider
        trace.decisions.change("a loop carries more types than at first thought")
        head.results = turn.results = None
        trace.append(operation)  # this pass is thrown away; what follows sees the right types
        loop.set_state(rename_unbound(_stand_ins(trace, wider), loop.names))
        return
    head.results = None if asked is None else (value, *_leaves(trace, head, asked, types))
    turn.results = None if turned is None else _leaves(trace, turn, turned, types)
    labels = leaf_names(TupleT(types), loop.names)
    operation.outputs = [trace.tensor(t, operation, label) for t, label in zip(_leaf_types(types), labels)]
    trace.append(operation)
    if asked is None or value is True:
        raise DeadEnd
    outputs = iter(operation.outputs)
    loop.set_state(rename_unbound(tuple(unflatten(t, outputs) for t in types), loop.names))


def _body(
    trace: Trace, loop: Loop, types: tuple[Type, ...], code: Callable[[], Any]
) -> tuple[Region, Any, tuple[Any, ...] | None]:
    """A region with the state as parameters: (it, what the code gives, the state at its end, if any)."""
    with trace.nested() as region:
        region.loop = (loop.key, loop.unrollable)
        labels = leaf_names(TupleT(types), loop.names)
        tensors = iter([trace.param(region, t, label) for t, label in zip(_leaf_types(types), labels)])
        loop.set_state(rename_unbound(tuple(unflatten(t, tensors) for t in types), loop.names))
        ended, value = trace.run(code)
        return region, value, loop.get_state() if ended else None


def _never() -> None:
    raise DeadEnd


def _leaf_types(types: tuple[Type, ...]) -> list[Type]:
    leaves: list[Type] = []
    leaf_types(TupleT(types), leaves)
    return leaves


def _leaves(trace: Trace, region: Region, state: tuple[Any, ...], types: tuple[Type, ...]) -> tuple[Any, ...]:
    """What a body gives: the leaves of the state at its end."""
    results: list[Any] = []
    trace.regions.append(region)
    try:
        for value, t in zip(state, types):
            flatten(value, t, results)
    finally:
        trace.regions.pop()
    return tuple(results)


def _stand_ins(trace: Trace, types: tuple[Type, ...]) -> tuple[Any, ...]:
    tensors = iter([trace.tensor(t) for t in _leaf_types(types)])
    return tuple(unflatten(t, tensors) for t in types)


def _widen(
    trace: Trace, carried: Carried, types: tuple[Type, ...], names: tuple[str, ...]
) -> tuple[Type, ...]:
    """The types carried: those of the first turn without values, joined with those found before."""
    types = tuple(generalize_deep(t) for t in types)
    return types if carried.types is None else _join_states(trace, carried.types, types, names)


def _join_states(
    trace: Trace, a: tuple[Type, ...], b: tuple[Type, ...], names: tuple[str, ...]
) -> tuple[Type, ...]:
    out = []
    for name, x, y in zip(names, a, b):
        try:
            out.append(join(x, y))
        except TooManyTypes:
            trace.refuse(
                f"'{name}' changes its type in every turn of a loop",
                "What a loop carries must come to a fixed set of types.",
                f"Give '{name}' one type before the loop, or keep its items in a list.",
            )
    return tuple(out)


# -- how to peel ---------------------------------------------------------------------------------------------


@record_class
class Traced:
    """What one trace of a loop found: the types before it, carried, to be carried, and after a turn."""

    carried: Carried
    within: Carried | None
    entry: tuple[Type, ...]
    types: tuple[Type, ...]
    wider: tuple[Type, ...]
    last: tuple[Type, ...] | None  # None: no turn comes to its end
    regions: tuple[Region, Region]
    inner: int  # how many bodies of loops are in it

    def is_used(self, position: int) -> bool:
        """Whether a turn or the test computes with a variable, rather than passing it on."""
        start, end = len(_leaf_types(self.types[:position])), len(_leaf_types(self.types[: position + 1]))
        return any(_uses(r, {id(p) for p in r.params[start:end]}) for r in self.regions)


def alternatives(t: Type) -> int:
    """How many types beyond one a value, or the parts of a tuple, may have.

    >>> alternatives(Py(int)), alternatives(TupleT((join(Py(int), Py(float)), Py(str))))
    (0, 1)
    """
    if isinstance(t, TupleT):
        return sum(map(alternatives, t.items))
    return len(t.members) - 1 if isinstance(t, Union) else 0


def _plan(trace: Trace, loop: Loop, traced: Traced) -> None:
    """Decides to peel the loop, or to give up the plan of which it is a part."""
    carried, within = traced.carried, traced.within
    count = sum(map(alternatives, traced.wider))
    pointless = within is not None and (
        count >= within.alternatives or (within.plan == "while mixed" and traced.last is None)
    )
    if pointless:
        assert within is not None
        if trace.decisions.changes != within.changes:
            return
        within.plan = "whole"
        trace.decisions.loop(loop.key).plans.pop(within.key, None)
        trace.decisions.change("peeling a loop does not make what it carries simpler")
        return
    if count == 0 or carried.plan is not None or traced.last is None:
        return
    if traced.inner > MAX_INNER or not _may_peel(trace, loop):
        return
    plan, chosen = "first turn", [i for i in range(len(loop.names)) if _gets_simpler(traced, i)]
    if not chosen and traced.wider == traced.types:
        plan, chosen = "while mixed", [i for i in range(len(loop.names)) if _leaves_types(traced, i)]
    if chosen:
        trace.decisions.planned.add(trace.decisions.passes)
        carried.plan, carried.alternatives = plan, count
        carried.names = tuple(loop.names[i] for i in chosen)
        trace.decisions.loop(loop.key).plans[carried.key] = carried
        trace.decisions.change("the first turns of a loop change the types that it carries")


def _may_peel(trace: Trace, loop: Loop) -> bool:
    if trace.copy[-1:] == ((loop.key, "before"),):
        return False
    if len(trace.decisions.planned) >= MAX_PLANNED:
        return False
    return sum(part == (loop.key, "after") for part in trace.copy) < MAX_TURNS


def _gets_simpler(traced: Traced, i: int) -> bool:
    """Whether a turn gives a variable one type, where the loop has to carry several for it."""
    assert traced.last is not None
    last, wider = traced.last[i], traced.wider[i]
    if last is BOTTOM or alternatives(last) > 0 or alternatives(wider) == 0:
        return False
    if UNBOUND in members(wider) and alternatives(wider) == 1:
        return traced.is_used(i)  # else nothing asks whether it is bound
    return True


def _leaves_types(traced: Traced, i: int) -> bool:
    """Whether turns may take a variable, which they compute with, from its first types to another one."""
    others = _others(traced.wider[i], generalize_deep(traced.entry[i]))
    if len(others) != 1 or len(members(traced.wider[i])) == 1:
        return False
    return _tell(others) and traced.is_used(i)


def _uses(region: Region, same: set[int]) -> bool:
    """Whether an operation takes one of the tensors `same`, or what a branch or loop passes on of them."""
    for operation in region.ops:
        if operation.name in ("cond", "while_loop"):
            _follow(operation, same)
        elif any(id(tensor) in same for tensor in operation.inputs):
            return True
        if any(_uses(inner, same) for inner in operation.regions):
            return True
        if operation.name == "cond":
            for inner in operation.regions:
                given = zip(operation.outputs, inner.results or ())
                same |= {id(output) for output, value in given if id(value) in same}
    return False


def _follow(operation: Operation, same: set[int]) -> None:
    """Adds what a `while_loop` calls the tensors that it is given."""
    if operation.name != "while_loop":
        return
    for i, value in enumerate(operation.args):
        if id(value) in same:
            takers = [inner.params for inner in operation.regions] + [operation.outputs]
            same |= {id(tensors[i]) for tensors in takers if i < len(tensors)}
