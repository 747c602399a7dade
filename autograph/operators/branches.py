"""Branches: `if`, conditional expressions, `and`, `or`, `not`, chained comparisons, `is` and `in`."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import (
    NESTED_TUPLES,
    Py,
    Ref,
    TooManyTypes,
    Type,
    TypeChoice,
    Unbound,
    Union,
    join,
)
from autograph.operators.tracer import (
    DeadEnd,
    Trace,
    TracedValue,
    current,
    emit,
    flatten,
    has_tensor,
    leaf_names,
    leaf_types,
    pack,
    record,
    shown,
    unflatten,
    vtype,
)
from autograph.ops import core
from autograph.ops.arithmetic import CONTAINS


def truth(value: Any) -> Any:
    """`bool(value)` as a plain bool, or as a traced one."""
    if isinstance(value, Tensor):
        if value._ag_type == Py(bool):
            return value
        from autograph.operators.objects import object_truth, split_objects

        if (handled := split_objects(value, object_truth, lambda v: emit(core.BOOLEAN, v))) is not None:
            return handled[0]
        return emit(core.BOOLEAN, value)
    if isinstance(value, tuple):
        return len(value) > 0
    if isinstance(value, TracedValue):
        return value.truth()
    return bool(value)


def cond(
    trace: Trace,
    test: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    names: tuple[str, ...] = (),
) -> Any:
    """Stages a `cond`: both bodies are traced, and the value that each returns is joined."""
    outcomes = []
    for fn in (body, orelse):
        with trace.nested() as region:
            trace.loops.append((("branch",), False))
            try:
                alive, value = trace.run(fn)
            finally:
                trace.loops.pop()
            outcomes.append((region, alive, value))
    types = [vtype(value) for _, alive, value in outcomes if alive]
    try:
        joined = join(*types)
    except TooManyTypes as error:
        listed = f": {', '.join(map(shown, names))}" if names else ""
        if str(error) == NESTED_TUPLES:
            trace.refuse(
                f"the values after an 'if' may be tuples nested too deep{listed}",
                "A tuple in a graph may hold tuples that hold tuples, and so on, six deep at most.",
                "Keep the items in a list.",
            )
        trace.refuse(
            f"the values after an 'if' may have too many different types{listed}",
            "A value in a graph may have 20 different types at most.",
            "Give the value one type in both branches.",
        )
    for region, alive, value in outcomes:
        results: list[Any] = []
        if alive:
            trace.regions.append(region)
            try:
                flatten(value, joined, results)
            finally:
                trace.regions.pop()
        region.results = tuple(results) if alive else None
    operation = Operation(
        "cond", (test,), {}, [], regions=tuple(r for r, _, _ in outcomes), place=trace.place()
    )
    leaves: list[Type] = []
    leaf_types(joined, leaves)
    labels = leaf_names(joined, names)
    operation.outputs = [trace.tensor(t, operation, label) for t, label in zip(leaves, labels)]
    trace.append(operation)
    if not types:
        raise DeadEnd
    return unflatten(joined, iter(operation.outputs))


def if_stmt(
    test: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: tuple[str, ...],
) -> None:
    """`if test: body() else: orelse()`; the state is what the branches may rebind."""
    trace = current()
    if trace is None:
        record("cond")
        (body if test else orelse)()
        return
    test = truth(test)
    if not isinstance(test, Tensor):
        (body if test else orelse)()
        return
    before = get_state()

    def branch(fn: Callable[[], None]) -> Callable[[], Any]:
        def traced() -> Any:
            set_state(before)
            fn()
            return get_state()

        return traced

    try:
        after = cond(trace, test, branch(body), branch(orelse), names)
    finally:
        set_state(before)
    set_state(rename_unbound(after, names))


def rename_unbound(values: tuple[Any, ...], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(Unbound(n) if isinstance(v, Unbound) else v for v, n in zip(values, names))


def if_exp(test: Any, body: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """`body() if test else orelse()`."""
    trace = current()
    if trace is None:
        record("cond")
        return body() if test else orelse()
    test = truth(test)
    if not isinstance(test, Tensor):
        return body() if test else orelse()
    return cond(trace, test, body, orelse)


def _same(value: Any) -> Any:
    return value


def _and_rest(first: Callable[[], Any], *rest: Callable[[], Any]) -> Any:
    return and_(first(), *rest)


def _or_rest(first: Callable[[], Any], *rest: Callable[[], Any]) -> Any:
    return or_(first(), *rest)


def and_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first and rest[0]() and ...`: short-circuits, and returns an operand as Python does."""
    for i, operand in enumerate(rest):
        test = truth(first)
        if isinstance(test, Tensor):
            return if_exp(test, functools.partial(_and_rest, *rest[i:]), functools.partial(_same, first))
        if not test:
            return first
        first = operand()
    return first


def or_(first: Any, *rest: Callable[[], Any]) -> Any:
    """`first or rest[0]() or ...`."""
    for i, operand in enumerate(rest):
        test = truth(first)
        if isinstance(test, Tensor):
            return if_exp(test, functools.partial(_same, first), functools.partial(_or_rest, *rest[i:]))
        if test:
            return first
        first = operand()
    return first


def not_(value: Any) -> Any:
    """`not value`."""
    value = truth(value) if current() is not None else value
    return emit(core.NOT, value) if isinstance(value, Tensor) else not value


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {}


def compare_chain(first: Any, symbols: tuple[str, ...], rest: tuple[Callable[[], Any], ...]) -> Any:
    """`first < rest[0]() < rest[1]() ...`: each operand is evaluated once, and only as far as needed."""
    right = rest[0]()
    result = _COMPARE[symbols[0]](first, right)
    if len(symbols) == 1:
        return result
    return and_(result, lambda: compare_chain(right, symbols[1:], rest[1:]))


def is_(a: Any, b: Any) -> Any:
    """`a is b`."""
    if current() is None:
        return a is b
    if not has_tensor(a) and not has_tensor(b):
        return a is b
    if isinstance(a, TracedValue) or isinstance(b, TracedValue):
        return a is b
    if isinstance(a, tuple) or isinstance(b, tuple):
        other = b if isinstance(a, tuple) else a
        if a is b:
            return True
        if not isinstance(other, (Tensor, tuple)):
            return False
    return emit(core.IS, pack(a), pack(b))


def is_not(a: Any, b: Any) -> Any:
    """`a is not b`."""
    result = is_(a, b)
    return emit(core.NOT, result) if isinstance(result, Tensor) else not result


def in_(value: Any, container: Any) -> Any:
    """`value in container`."""
    if current() is None:
        return value in container
    if not (has_tensor(value) or has_tensor(container)):
        with contextlib.suppress(TypeError):  # raised when the graph runs
            return value in container
        return emit(CONTAINS, container, value)
    from autograph.operators.objects import contains_object

    if (handled := contains_object(container, value)) is not None:
        return truth(handled[0])
    return emit(CONTAINS, pack(container), pack(value))


def not_in(value: Any, container: Any) -> Any:
    """`value not in container`."""
    if current() is None:
        return value not in container
    return not_(in_(value, container))


_COMPARE.update({"is": is_, "is not": is_not, "in": in_, "not in": not_in})


def split(
    value: Tensor, choose: Callable[[Type], bool], special: Callable[[Any], Any], rest: Callable[[Any], Any]
) -> Any:
    """Takes a union apart at run time: `special` for each member that `choose` accepts, else `rest`."""
    trace = current()
    assert trace is not None
    t = value._ag_type
    alternatives = t.members if isinstance(t, Union) else (t,)
    chosen = [m for m in alternatives if choose(m)]
    others = tuple(m for m in alternatives if not choose(m))

    def from_member(i: int) -> Any:
        if i == len(chosen):
            return rest(narrow(value, others))
        last = i == len(chosen) - 1 and not others
        if last:
            return special(narrow(value, (chosen[i],)))
        test = emit(core.IS_TYPE, value, TypeChoice((chosen[i],)))
        return cond(trace, test, lambda: special(narrow(value, (chosen[i],))), lambda: from_member(i + 1))

    return from_member(0)


def narrow(value: Tensor, alternatives: tuple[Type, ...]) -> Any:
    """The same value, known to be of one of these types."""
    t = join(*alternatives)
    if t == value._ag_type:
        return value
    return emit(core.NARROW, value, TypeChoice(alternatives), type_=t)


def is_object(t: Type) -> bool:
    """A reference to an instance of a user's class."""
    return isinstance(t, Ref) and t.kind == "object"
