"""Loops: `while` and `for`, run in Python while they only touch known values, staged otherwise."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from autograph.graph.graph import Tensor
from autograph.graph.types import (
    BOTTOM,
    Array,
    IterT,
    Py,
    Ref,
    SeqT,
    TupleT,
    Type,
    TypeChoice,
    Union,
    join,
    members,
    python_class,
)
from autograph.operators.branches import and_, if_stmt, narrow, truth
from autograph.operators.staging import Loop, SetState, State, stage
from autograph.operators.tracer import (
    UNROLL_LIMIT,
    Note,
    Restart,
    Trace,
    TracedValue,
    current,
    emit,
    has_tensor,
    loops_around,
    pack,
    record,
    require,
    vtype,
)
from autograph.ops import containers, core
from autograph.ops.base import define
from autograph.ops.base import type_of as base_type_of


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: State,
    set_state: SetState,
    names: tuple[str, ...],
) -> None:
    """`while test(): body()`; the state is what test and body may rebind."""
    trace = current()
    if trace is None:
        record("while_loop")
        while test():
            body()
        return
    key = trace.key("loop")
    decision = trace.decisions.loop(key)
    if decision.mode == "unroll":
        _run_in_python(trace, key, test, body)
        return
    if decision.mode is None:
        if not has_tensor(get_state()):
            _attempt(trace, key, lambda: _run_in_python(trace, key, test, body, attempt=True))
            trace.notes.append(Note(trace.place(), "while loop: ran in Python, it touches only known values"))
            return
        decision.reason = "it computes with traced values"
    trace.notes.append(Note(trace.place(), f"while loop: staged, {decision.reason}"))
    stage(trace, Loop(key, test, body, get_state, set_state, names, unrollable=False))


def _attempt(trace: Trace, key: Hashable, run: Callable[[], None]) -> None:
    trace.attempts.append(key)
    try:
        run()
    finally:
        trace.attempts.pop()


def _run_in_python(
    trace: Trace, key: Hashable, test: Callable[[], Any], body: Callable[[], None], attempt: bool = False
) -> None:
    while True:
        trace.step()
        value = truth(test())
        if isinstance(value, Tensor):
            if not attempt:
                trace.refuse(
                    "a loop must be unrolled, but how often it runs is only known when the graph runs",
                    f"It was to run while the graph is built: {trace.decisions.loop(key).reason}.",
                    "Loop over a range or tuple that is known, or name the argument that bounds it in "
                    "to_graph(static=...).",
                )
            decision = trace.decisions.loop(key)
            decision.mode, decision.reason = "stage", "its test is a traced value"
            raise Restart
        if not value:
            return
        body()


# -- for -----------------------------------------------------------------------------------------------------


class Iteration:
    """How a staged loop steps through something: whether there is an item number i, and the item."""

    def __init__(self, has: Callable[[Any], Any], item: Callable[[Any], Any], indexed: bool = True) -> None:
        self.has, self.item, self.indexed = has, item, indexed


def for_stmt(
    iterable: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: State,
    set_state: SetState,
    names: tuple[str, ...],
) -> None:
    """`for item in iterable: body(item)` while `extra_test()`, asked before the next item is fetched."""
    from autograph.operators.generators import GeneratorValue, NextIterator, for_generator, for_next

    trace = current()
    if isinstance(iterable, GeneratorValue):
        for_generator(iterable, extra_test, body, get_state, set_state, names)
        return
    if trace is None:
        record("while_loop")
        iterator = iter(iterable)
        while extra_test is None or extra_test():
            try:
                item = next(iterator)
            except StopIteration:
                break
            body(item)
        return
    if isinstance(iterable, (Map, Enumerate, Zip)) and is_stream(iterable):
        _for_stream(iterable, extra_test, body, get_state, set_state, names)
        return
    if isinstance(iterable, Lazy):
        iterable.use()
    if isinstance(iterable, Filtered):
        filtered = iterable

        def guarded(item: Any) -> None:
            keep = filtered.keep(item)
            if_stmt(keep, lambda: body(item), lambda: None, get_state, set_state, names)

        for_stmt(filtered.inner, extra_test, guarded, get_state, set_state, names)
        return
    if isinstance(iterable, NextIterator):
        for_next(iterable, extra_test, body, get_state, set_state, names)
        return
    if isinstance(iterable, Tensor):
        from autograph.operators.objects import object_iterator

        if (other := object_iterator(iterable)) is not None:
            for_stmt(other[0], extra_test, body, get_state, set_state, names)
            return
    key = trace.key("loop")
    decision = trace.decisions.loop(key)
    known = known_items(iterable)
    state = (get_state, set_state, names)
    if decision.mode == "unroll" and known is not None:
        trace.notes.append(Note(trace.place(), f"for loop: unrolled, {decision.reason}"))
        _unroll(trace, key, known, extra_test, body, state)
        return
    if known is not None and decision.mode is None:
        untraced = isinstance(iterable, range) or _calls(iterable) or not any(map(has_tensor, known))
        if not has_tensor(get_state()) and untraced:
            _attempt(trace, key, lambda: _unroll(trace, key, known, extra_test, body, state, attempt=True))
            trace.notes.append(Note(trace.place(), "for loop: ran in Python, it touches only known values"))
            return
        if not isinstance(iterable, range) and len(known) <= UNROLL_LIMIT:
            trace.notes.append(Note(trace.place(), "for loop: unrolled, it runs over a short tuple"))
            _unroll(trace, key, known, extra_test, body, state)
            return
        decision.reason = "it computes with traced values"
    elif known is not None and not isinstance(iterable, range) and len(known) <= UNROLL_LIMIT:
        trace.notes.append(Note(trace.place(), "for loop: unrolled, it runs over a short tuple"))
        _unroll(trace, key, known, extra_test, body, state)
        return
    if isinstance(iterable, Tensor) and isinstance(iterable._ag_type, Union):
        _for_union(trace, iterable, extra_test, body, get_state, set_state, names)
        return
    trace.notes.append(
        Note(trace.place(), f"for loop: staged, {decision.reason or 'it runs over a traced value'}")
    )
    unrollable = known is not None and len(known) <= UNROLL_LIMIT * 16
    iteration = iteration_of(trace, iterable)
    stage_for(trace, key, iteration, extra_test, body, get_state, set_state, names, unrollable)


def _for_union(
    trace: Trace, iterable: Tensor, extra_test: Any, body: Any, get_state: Any, set_state: Any, names: Any
) -> None:
    """A loop over one of several types: one loop for each."""
    alternatives = members(iterable._ag_type)

    def loop(i: int) -> None:
        item = narrow(iterable, (alternatives[i],))  # in the branch: only there it is of this type
        for_stmt(item, extra_test, body, get_state, set_state, names)

    def for_member(i: int) -> None:
        if i == len(alternatives) - 1:
            loop(i)
            return
        test = emit(core.IS_TYPE, iterable, TypeChoice((alternatives[i],)))
        if_stmt(
            test,
            lambda: loop(i),
            lambda: for_member(i + 1),
            get_state,
            set_state,
            names,
        )

    for_member(0)


def _unroll(
    trace: Trace,
    key: Hashable,
    items: Any,
    extra_test: Any,
    body: Callable[[Any], None],
    state: tuple[State, SetState, tuple[str, ...]],
    attempt: bool = False,
) -> None:
    def more() -> Any:
        """Whether the loop goes on, which is asked before an item is fetched."""
        test = True if extra_test is None else truth(extra_test())
        if attempt and isinstance(test, Tensor):
            decision = trace.decisions.loop(key)
            decision.mode, decision.reason = "stage", "its end depends on a traced value"
            raise Restart
        return test

    def guarded(run: Callable[[], None]) -> bool:
        test = more()
        if isinstance(test, Tensor):
            if_stmt(test, run, lambda: None, *state)
        elif test:
            run()
        return isinstance(test, Tensor) or bool(test)

    for i in range(len(items)):
        trace.step()
        if not guarded(lambda i=i: body(items[i])):  # type: ignore[misc]
            return
    if isinstance(items, (_Zipped, _Mapped)) and items.asks():
        guarded(items.finish)


def stage_for(
    trace: Trace,
    key: Hashable,
    iteration: Iteration,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: State,
    set_state: SetState,
    names: tuple[str, ...],
    unrollable: bool,
) -> None:
    """A `for` as a `while` over an index that joins the state."""
    index: list[Any] = [0]

    def test() -> Any:
        if extra_test is None:
            return iteration.has(index[0])
        return and_(extra_test(), lambda: iteration.has(index[0]))

    def turn() -> None:
        i = index[0]
        index[0] = i + 1
        body(iteration.item(i))

    def get() -> tuple[Any, ...]:
        return (index[0], *get_state())

    def put(values: tuple[Any, ...]) -> None:
        index[0] = values[0]
        set_state(values[1:])

    stage(trace, Loop(key, test, turn, get, put, ("index", *names), unrollable, "for"))


def known_items(iterable: Any) -> Any:
    """The items of an iterable whose length is known now; None for others."""
    if isinstance(iterable, (tuple, str, bytes, range)):
        return iterable
    if isinstance(iterable, Lazy):
        return iterable.known()
    if isinstance(iterable, Tensor):
        t = iterable._ag_type
        if isinstance(t, TupleT):
            from autograph.operators.tracer import unpack_tuple

            return unpack_tuple(iterable, t)
        if isinstance(t, Ref) and t.kind == "list" and t.site.fixed is not None:
            t.site.was_read = True
            return ItemsOf(iterable, len(t.site.fixed))
        if isinstance(t, Ref) and t.kind == "dict" and t.site.closed:
            t.site.was_read = True
            return tuple(t.site.fields)
        if isinstance(t, IterT) and t.cls is not None and iterable._ag_op is not None:
            return _known_view(iterable)
        return None
    if isinstance(iterable, (frozenset, np.dtype)) or (
        isinstance(iterable, type) and hasattr(iterable, "__members__")
    ):
        items: Any = iterable
        return tuple(items)
    return None


def _known_view(view: Tensor) -> Any:
    op = view._ag_op
    if op is None or not op.name.startswith("dict."):
        return None
    source = op.args[0]
    if (
        not isinstance(source, Tensor)
        or not isinstance(source._ag_type, Ref)
        or not source._ag_type.site.closed
    ):
        return None
    site = source._ag_type.site
    site.was_read = True
    keys = tuple(site.fields)
    if op.name == "dict.keys":
        return keys
    if op.name == "dict.values":
        return ItemsOf(source, len(keys), keys)
    if op.name == "dict.items":
        return ItemsOf(source, len(keys), keys, pairs=True)
    return None


class ItemsOf:
    """The items of a list (or dict) of fixed size, read one by one as the loop gets there."""

    def __init__(
        self, source: Tensor, length: int, keys: tuple[Any, ...] | None = None, pairs: bool = False
    ) -> None:
        self.source, self.length, self.keys, self.pairs = source, length, keys, pairs

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Any:
        for i in range(self.length):
            yield self[i]

    def __getitem__(self, i: int) -> Any:
        if not -self.length <= i < self.length:
            raise IndexError(i)
        key = i if self.keys is None else self.keys[i]
        value = emit(containers.GET_ITEM, self.source, key)
        return (key, value) if self.pairs else value


class Lazy(TracedValue):
    """An iterable made of others (enumerate, zip, reversed, map), consumed at once by a loop or builtin."""

    used = False
    home: tuple[Hashable, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = super().__new__(cls)
        self.home = loops_around()
        return self

    def use(self) -> None:
        """Marks what can be consumed only once; a second time, or in a loop around, it would be empty."""
        if self.used or self.home != loops_around():
            require().refuse(
                f"a {type(self).__name__.lower()} object is used twice",
                "It is consumed by the first loop or builtin that runs over it, and empty from then on.",
                "Make a list of it first: items = list(...).",
            )
        self.used = True
        if not isinstance(self, Filtered):
            for part in getattr(self, "parts", (getattr(self, "inner", None),)):
                if isinstance(part, Lazy) and not is_stream(part):
                    part.use()

    def known(self) -> Any:
        """The items, if their number is known and small parts of the trace; None otherwise."""
        return None

    def iteration(self, trace: Trace) -> Iteration:
        raise NotImplementedError

    def pack(self) -> Any:
        trace = current()
        assert trace is not None
        trace.refuse(
            f"a {type(self).__name__.lower()} object is kept as a value",
            "In a graph it is consumed where it is made: by a loop, or by list(), sum(), sorted(), ...",
            "Make a list of it first.",
        )

    def truth(self) -> bool:
        return True


def is_stream(value: Any) -> bool:
    """Whether items are made one by one by code that runs between the turns of the loop that uses them."""
    from autograph.operators.generators import GeneratorValue, NextIterator

    if isinstance(value, Map):
        return any(map(is_stream, value.parts))
    if isinstance(value, Enumerate):
        return is_stream(value.inner)
    if isinstance(value, Zip):
        return any(map(is_stream, value.parts)) or (_calls(value) and not value.is_even())
    return isinstance(value, (GeneratorValue, NextIterator, Filtered))


def _calls(value: Any) -> bool:
    """Whether items are what functions give, which may do more than that: they are asked for once."""
    if isinstance(value, Enumerate):
        return _calls(value.inner)
    return isinstance(value, Map) or (isinstance(value, Zip) and any(map(_calls, value.parts)))


def _for_stream(
    stream: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: State,
    set_state: SetState,
    names: tuple[str, ...],
) -> None:
    """A `for` over `map`, `enumerate` or `zip` of a generator, asked for one item at a time."""
    from autograph.operators.branches import not_
    from autograph.operators.variables import Box

    stream.use()
    if isinstance(stream, Map):
        for_stmt(stream.inner, extra_test, lambda v: body(stream._call(v)), get_state, set_state, names)
        return
    position = Box("the position in a loop", stream.start if isinstance(stream, Enumerate) else 0)

    def numbered(item: Any) -> None:
        i = position.get()
        position.set(i + 1)
        body((i, item))

    if isinstance(stream, Enumerate):
        for_stmt(stream.inner, extra_test, numbered, get_state, set_state, names)
        return
    trace = require()
    from autograph.operators.generators import NextIterator, stepped

    streams = [i for i, p in enumerate(stream.parts) if is_stream(p)]
    if not streams:
        _for_uneven(stream, extra_test, body, get_state, set_state, names)
        return
    streams.sort(key=lambda i: isinstance(stream.parts[i], NextIterator))
    if any(not isinstance(stream.parts[i], NextIterator) for i in streams[1:]):
        trace.refuse(
            "zip() runs over several generators",
            "A graph cannot suspend a generator between two items.",
            "Make lists of them first: zip(list(a), list(b)).",
        )
    at = streams[0]

    def iteration(part: Any) -> Iteration:
        if not isinstance(part, NextIterator):
            return iteration_of(trace, part)
        fetch, item = stepped(part)
        return Iteration(lambda i: fetch(), lambda i: item())

    others = {i: iteration(p) for i, p in enumerate(stream.parts) if i != at}
    ended = Box("whether a part of zip has ended", False)

    def has(parts: list[int]) -> Any:
        i = position.get()
        test: Any = True
        for number in parts:
            test = and_(test, functools.partial(others[number].has, i))
        return test

    before, after = [i for i in others if i < at], [i for i in others if i > at]
    if any(_calls(stream.parts[i]) for i in before):
        trace.refuse(
            "zip() asks a function for an item before it asks a generator for one",
            "In a graph the loop over the generator runs around the other parts, so it would be asked first.",
            "Make a list first: zip(list(map(...)), ...).",
        )

    def more() -> Any:
        return and_(not_(ended.get()), lambda: has(before))

    def turn(item: Any) -> None:
        i = position.get()

        def ask(waiting: list[int], got: dict[int, Any]) -> None:
            if not waiting:
                position.set(i + 1)
                body(tuple(got[k] for k in range(len(stream.parts))))
                return
            number, *rest = waiting

            def go_on() -> None:
                ask(rest, {**got, number: others[number].item(i)})

            if_stmt(others[number].has(i), go_on, lambda: ended.set(True), get_state, set_state, names)

        ask(after, {at: item} | {k: others[k].item(i) for k in before})

    def run() -> None:
        test = more if extra_test is None else (lambda: and_(extra_test(), more))
        for_stmt(stream.parts[at], test, turn, get_state, set_state, names)

    if_stmt(has(before), run, lambda: None, get_state, set_state, names)


def _for_uneven(
    parts_of: Zip,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: State,
    set_state: SetState,
    names: tuple[str, ...],
) -> None:
    """A `for` over `zip` of what functions give: each part is asked in turn, until one has ended."""
    from autograph.operators.branches import not_
    from autograph.operators.variables import Box

    parts = [iteration_of(require(), p) for p in parts_of.parts]
    position, ended = Box("the position in a loop", 0), Box("whether a part of zip has ended", False)

    def more() -> Any:
        return and_(not_(ended.get()), lambda: parts[0].has(position.get()))

    def turn() -> None:
        i = position.get()
        position.set(i + 1)

        def ask(items: tuple[Any, ...]) -> None:
            if len(items) == len(parts):
                body(items)
                return
            part = parts[len(items)]

            def go_on() -> None:
                ask((*items, part.item(i)))

            if items:
                if_stmt(part.has(i), go_on, lambda: ended.set(True), get_state, set_state, names)
            else:
                go_on()

        ask(())

    test = more if extra_test is None else (lambda: and_(extra_test(), more))
    while_stmt(test, turn, get_state, set_state, names)


class Enumerate(Lazy):
    """`enumerate(inner, start)`."""

    def __init__(self, inner: Any, start: Any = 0) -> None:
        self.inner, self.start = inner, start

    def known(self) -> Any:
        items = known_items(self.inner)
        return (
            None
            if items is None or isinstance(items, range)
            else _Mapped(items, lambda i, v: (self.start + i, v))
        )

    def iteration(self, trace: Trace) -> Iteration:
        inner = iteration_of(trace, self.inner)
        return Iteration(inner.has, lambda i: (i if _is(self.start, 0) else self.start + i, inner.item(i)))


class _Mapped:
    def __init__(self, items: Any, fn: Callable[[int, Any], Any]) -> None:
        self.items, self.fn = items, fn

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Any:
        for i, item in enumerate(self.items):
            yield self.fn(i, item)

    def __getitem__(self, i: int) -> Any:
        return self.fn(i, self.items[i])

    def asks(self) -> bool:
        """As for a zip, of which these may be the items."""
        return isinstance(self.items, (_Zipped, _Mapped)) and self.items.asks()

    def finish(self) -> None:
        self.items.finish()


class Zip(Lazy):
    """`zip(*parts, strict=...)`."""

    def __init__(self, parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def known(self) -> Any:
        if not self.parts:
            return ()
        items = [known_items(p) for p in self.parts]
        if any(i is None for i in items) or all(isinstance(i, range) for i in items):
            if not any(i is not None and not isinstance(i, range) for i in items):
                return None
            return self._partly_known(items)
        length = min(len(i) for i in items)
        return _Zipped(items, length)

    def _partly_known(self, items: list[Any]) -> Any:
        """Some parts have a known length; an array of known length may be read by index."""
        lengths = [_length(part) for part in self.parts]
        if None in lengths:
            return None
        full = [k if k is not None else _Rows(p) for k, p in zip(items, self.parts)]
        return _Zipped(full, min(n for n in lengths if n is not None))

    def is_even(self) -> bool:
        """Whether all parts are known to have as many items as the others, or each as many as are known."""
        lengths = {_length(part) for part in self.parts}
        return None not in lengths and (len(lengths) == 1 or self.known() is not None)

    def iteration(self, trace: Trace) -> Iteration:
        inner = [iteration_of(trace, p) for p in self.parts]

        def has(i: Any) -> Any:
            return and_(inner[0].has(i), *(lambda part=part: part.has(i) for part in inner[1:]))

        return Iteration(has, lambda i: tuple(part.item(i) for part in inner))


def _length(part: Any) -> int | None:
    """How many items a part of zip() has, where that is known."""
    known = known_items(part)
    if known is not None:
        return len(known)
    if isinstance(part, (Map, Enumerate)):
        return _length(part.inner)
    t = vtype(part)
    return t.shape[0] if isinstance(t, Array) and t.shape else None


class _Rows:
    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, i: int) -> Any:
        return emit(containers.GET_ITEM, self.array, i)


class _Zipped:
    def __init__(self, items: list[Any], length: int) -> None:
        self.items, self.length = items, length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Any:
        for i in range(self.length):
            yield self[i]
        self.finish()

    def asks(self) -> bool:
        """Whether a part is asked for one more item before another is found to have no more."""
        return any(isinstance(part, _Mapped) and len(part) > self.length for part in self.items)

    def finish(self) -> None:
        for part in self.items:
            if isinstance(part, _Rows) or len(part) == self.length:
                return
            if isinstance(part, _Mapped):
                part[self.length]

    def __getitem__(self, i: int) -> Any:
        return tuple(part[i] for part in self.items)


class Reversed(Lazy):
    """`reversed(inner)`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def known(self) -> Any:
        items = known_items(self.inner)
        if items is None:
            return None
        return items[::-1] if isinstance(items, (tuple, range, str)) else tuple(items)[::-1]

    def iteration(self, trace: Trace) -> Iteration:
        t = vtype(self.inner)
        if isinstance(t, (Array, SeqT, TupleT)) or python_class(t) in (str, bytes, range, tuple):
            from autograph.operators.builtin_functions import length

            inner = iteration_of(trace, self.inner)
            n = length(self.inner)
            return Iteration(lambda i: i < n, lambda i: inner.item(n - 1 - i))
        return _held(emit(HOLD_REVERSED, pack(self.inner)))


class Map(Lazy):
    """`map(fn, *parts)`."""

    def __init__(self, fn: Any, parts: tuple[Any, ...]) -> None:
        self.fn, self.parts = fn, parts
        self.inner = parts[0] if len(parts) == 1 else Zip(parts)

    def _call(self, item: Any) -> Any:
        from autograph.operators.calls import call

        return call(self.fn, item) if len(self.parts) == 1 else call(self.fn, *item)

    def known(self) -> Any:
        items = known_items(self.inner)
        return (
            None if items is None or isinstance(items, range) else _Mapped(items, lambda i, v: self._call(v))
        )

    def iteration(self, trace: Trace) -> Iteration:
        inner = iteration_of(trace, self.inner)
        return Iteration(inner.has, lambda i: self._call(inner.item(i)))


class Filtered(Lazy):
    """`filter(fn, inner)`."""

    def __init__(self, fn: Any, inner: Any) -> None:
        self.fn, self.inner = fn, inner

    def keep(self, item: Any) -> Any:
        from autograph.operators.calls import call

        return item if self.fn is None else call(self.fn, item)


def iteration_of(trace: Trace, iterable: Any) -> Iteration:
    """How to step through an iterable inside the graph."""
    if isinstance(iterable, Lazy):
        return iterable.iteration(trace)
    if isinstance(iterable, range):
        start, step, n = iterable.start, iterable.step, len(iterable)
        if start == 0 and step == 1:
            return Iteration(lambda i: i < n, lambda i: i)
        return Iteration(lambda i: i < n, lambda i: start + i * step)
    if isinstance(iterable, Tensor):
        op, t = iterable._ag_op, iterable._ag_type
        if op is not None and op.name == "range":
            return _range_iteration(op.args)
        if isinstance(t, Array) and t.shape != ():
            n = emit(containers.LEN, iterable)
            return Iteration(lambda i: i < n, lambda i: emit(containers.GET_ITEM, iterable, i))
        if isinstance(t, (SeqT, TupleT)) or python_class(t) in (str, bytes, range):
            n = emit(containers.LEN, iterable)
            return Iteration(lambda i: i < n, lambda i: emit(containers.GET_ITEM, iterable, i))
        if isinstance(t, Ref) and t.kind == "list":
            return Iteration(
                lambda i: emit(containers.HAS_INDEX, iterable, i),
                lambda i: emit(containers.GET_ITEM, iterable, i),
            )
        return _host_iteration(iterable)
    if isinstance(iterable, (tuple, str, bytes)):
        from autograph.operators.tracer import pack

        packed = pack(iterable)
        n = len(iterable)
        return Iteration(lambda i: i < n, lambda i: emit(containers.GET_ITEM, packed, i))
    return _host_iteration(iterable)


def _host_iteration(iterable: Any) -> Iteration:
    """Through Python's own iterator, which notices changes of a dict or set."""
    return _held(emit(HOLD, iterable))


def _held(iterator: Any) -> Iteration:
    return Iteration(
        lambda i: emit(core.ITEM, emit(containers.NEXT_ITEM, iterator, raw=True), 0),
        lambda i: emit(core.ITEM, emit(LAST_ITEM, iterator, raw=True), 0),
        indexed=False,
    )


class _Holder:
    """A run-time iterator that remembers the item that it gave last."""

    __slots__ = ("item", "iterator")

    def __init__(self, iterable: Any) -> None:
        self.iterator = iter(iterable)
        self.item: Any = None

    def __iter__(self) -> _Holder:
        return self

    def __next__(self) -> Any:
        self.item = next(self.iterator)
        return self.item


def _last_rule(it: Any) -> Type:
    return TupleT((it.elem,)) if isinstance(it, IterT) else containers.ITER.rule(it)  # which refuses


def _reversed_rule(x: Any) -> Type:
    t = base_type_of(x)
    if isinstance(t, IterT) and (t.cls is None or not hasattr(t.cls, "__reversed__")):
        return BOTTOM
    if isinstance(t, Ref) and t.kind == "set":
        return BOTTOM
    return containers.ITER.rule(x)


LAST_ITEM = define("last_item", lambda holder: (holder.item,), _last_rule, "effect")
HOLD_REVERSED = define("iterate_reversed", lambda x: _Holder(reversed(x)), _reversed_rule, "alloc")
NEXT = define("next", next, lambda it, *default: join(it.elem, *(base_type_of(d) for d in default)), "writes")
HOLD = define("iterate", _Holder, containers.ITER.rule, "alloc")


def _is(value: Any, number: int) -> bool:
    return type(value) is int and value == number


def _range_iteration(args: tuple[Any, ...]) -> Iteration:
    if len(args) == 1:
        start, stop, step = 0, args[0], 1
    elif len(args) == 2:
        start, stop, step = args[0], args[1], 1
    else:
        start, stop, step = args
    if _is(start, 0) and _is(step, 1) and isinstance(stop, Tensor) and stop._ag_type == Py(int):
        return Iteration(lambda i: i < stop, lambda i: i)
    n = emit(containers.RANGE_LENGTH, *args)
    if _is(start, 0) and _is(step, 1):
        return Iteration(lambda i: i < n, lambda i: i)
    return Iteration(lambda i: i < n, lambda i: emit(containers.RANGE_ITEM, i, start, step))
