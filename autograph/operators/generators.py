"""Generators: consumed where they are made, by calling the consumer's body at each `yield`."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

from autograph.core.generated import is_part
from autograph.graph.graph import Tensor
from autograph.graph.types import TupleT
from autograph.operators.branches import and_, not_, rename_unbound
from autograph.operators.calls import (
    call,
    call_graph,
    convert_function,
    get_attr_late,
    handles,
    stable_key,
)
from autograph.operators.exceptions import try_stmt
from autograph.operators.tracer import (
    Restart,
    TracedValue,
    current,
    emit,
    loops_around,
    require,
    vtype,
)
from autograph.operators.variables import Box
from autograph.ops import core

MAX_GENERATOR_DEPTH = 40
"""Calls of one generator in the middle of one another."""

_HELPER = contextlib.contextmanager(lambda: iter(())).__code__


def generator(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a converted generator function; its first parameter is called at each `yield`: is it to stop?"""

    @functools.wraps(fn)
    def start(*args: Any, **kwargs: Any) -> GeneratorValue:
        error = _misfit(fn, args, kwargs)
        if error is not None:
            trace = current()
            if trace is None:
                raise error
            trace.raise_here(error)
        return GeneratorValue(fn, args, kwargs)

    start.__autograph_generator__ = fn  # type: ignore[attr-defined]
    return start


def _misfit(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError | None:
    """What Python raises where a generator function is called with arguments that do not fit."""
    signature = inspect.signature(fn)
    parameters = list(signature.parameters.values())[1:]  # without the one that is called at each `yield`
    signature = signature.replace(parameters=parameters)
    with contextlib.suppress(TypeError):
        signature.bind(*args, **kwargs)
        return None
    names: dict[str, Any] = {}
    plain = [p if p.default is p.empty else p.replace(default=None) for p in parameters]
    exec(f"def f{signature.replace(parameters=plain)}: pass", names)
    probe = names["f"]
    probe.__qualname__ = fn.__qualname__
    try:
        probe(*args, **kwargs)
    except TypeError as error:
        return error.with_traceback(None)
    return None


def generator_exp(fn: Callable[..., Any], iterable: Any) -> Any:
    """A generator expression over its first iterable."""
    return fn(iterable)


class GeneratorValue(TracedValue):
    """A call of a generator function that has not begun."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self._thread: _Coroutine | None = None
        self.used = False
        self.home = loops_around()

    @property
    def name(self) -> str:
        """What an error message calls it."""
        code = getattr(self.fn, "__code__", None)
        return (
            "a generator expression" if code is None or is_part(code) else f"the generator '{code.co_name}'"
        )

    def run(self, callback: Callable[[Any], Any]) -> None:
        """Runs the generator to its end; `callback(item)` at each yield, which says whether to stop."""
        if current() is not None and (self.used or self.home != loops_around()):
            require().refuse(
                f"{self.name} is used twice",
                "In a graph a generator is consumed by one loop or builtin, where it is made.",
                "Make a list of it first: items = list(...).",
            )
        if self._thread is not None:
            for item in self:
                if callback(item):
                    return
            return
        if self.used:
            return
        self.used = True
        trace = current()
        if trace is None:
            self.fn(callback, *self.args, **self.kwargs)
            return
        code = self.fn.__code__
        if code in trace.decisions.graph_functions:
            call_graph(trace, self.fn, (callback, *self.args), self.kwargs, consumer=callback)
            return
        values = TupleT((vtype(self.args), *(vtype(v) for v in self.kwargs.values())))
        level = (code, id(callback), stable_key(values))
        if level in trace.generator_levels:
            trace.decisions.graph_functions.add(code)
            trace.decisions.change(f"{self.name} runs itself")
            raise Restart
        if trace.generators.count(code) >= MAX_GENERATOR_DEPTH:
            trace.refuse(
                f"{self.name} runs itself to a depth that is only known when the graph runs",
                "In a graph the loop over a generator is traced inside of it, once for each level.",
                "Write a function that returns a list, and calls itself: out.extend(walk(...)).",
            )
        trace.generators.append(code)
        trace.generator_levels.append(level)
        try:
            self.fn(callback, *self.args, **self.kwargs)
        finally:
            trace.generators.pop()
            trace.generator_levels.pop()

    def pack(self) -> Any:
        require().refuse(
            f"{self.name} is kept as a value",
            "In a graph a generator is consumed where it is made: by a for loop, or by list(), sum(), any(), "
            "...",
            "Make a list of it first: items = list(...).",
        )

    def truth(self) -> bool:
        return True

    def attribute(self, name: str) -> Any:
        require().refuse(
            f"'{name}' of {self.name} is used",
            "A graph cannot suspend a generator between two items.",
            "Consume it with a for loop.",
        )

    # in the eager op mode a generator is a real, lazy one

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._thread is None:
            if self.used:
                raise StopIteration
            self.used = True
            self._thread = _Coroutine(self)
        return self._thread.resume()

    def close(self) -> None:
        """Ends the generator early; its `finally` bodies run."""
        if self._thread is not None:
            self._thread.close()
        self.used = True

    def __del__(self) -> None:
        if self._thread is not None:
            self._thread.close()


GeneratorValue.__name__ = "generator"  # in the words of Python's errors


class _Coroutine:
    """Suspends a callback-style generator by running it in a thread that takes turns with its consumer."""

    def __init__(self, source: GeneratorValue) -> None:
        self.items: list[Any] = []
        self.error: BaseException | None = None
        self.done = self.stopped = False
        self.go, self.ready = threading.Semaphore(0), threading.Semaphore(0)
        fn, args, kwargs = source.fn, source.args, source.kwargs
        thread = threading.Thread(target=self._run, args=(fn, args, kwargs), daemon=True)
        thread.start()

    def _run(self, fn: Any, args: Any, kwargs: Any) -> None:
        self.go.acquire()
        if not self.stopped:
            try:
                fn(self._yield, *args, **kwargs)
            except BaseException as error:
                self.error = error
        self.done = True
        self.ready.release()

    def _yield(self, item: Any) -> bool:
        self.items.append(item)
        self.ready.release()
        self.go.acquire()
        return self.stopped

    def resume(self) -> Any:
        if self.done:
            raise StopIteration
        self.go.release()
        self.ready.acquire()
        if self.items:
            return self.items.pop()
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        raise StopIteration

    def close(self) -> None:
        if not self.done:
            self.stopped = True
            self.go.release()
            self.ready.acquire()


def for_generator(
    source: GeneratorValue,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[tuple[Any, ...]], None],
    names: tuple[str, ...],
) -> None:
    """A `for` over a generator: the body runs at each yield; what it rebinds is kept in boxes meanwhile."""
    trace = current()
    if trace is None:
        _for_generator_now(source, extra_test, body)
        return
    boxes = [
        Box(f"{name} in a generator loop {i}", value)
        for i, (name, value) in enumerate(zip(names, get_state()))
    ]

    def load() -> None:
        set_state(rename_unbound(tuple(emit(core.CELL_PEEK, box.cell) for box in boxes), names))

    def save() -> None:
        for box, value in zip(boxes, get_state()):
            box.set(value)

    depth = trace.try_depth
    failed = Box("error in a generator loop", None)
    watched = [False]

    def turn(item: Any) -> None:
        load()
        body(item)
        save()

    def callback(item: Any) -> Any:
        inner = current()
        assert inner is not None
        if inner.try_depth > depth:  # an exception of the loop's body is not the generator's to catch
            watched[0] = True
            try_stmt(lambda: turn(item), ((None, lambda error: failed.set(error)),))
            stop = core_is_not_none(failed)
        else:
            turn(item)
            stop = False
        if extra_test is None:
            return stop
        load()
        if stop is False:
            return not_(extra_test())
        from autograph.operators.branches import or_

        return or_(stop, lambda: not_(extra_test()))

    def stopped() -> Any:
        from autograph.operators.branches import or_

        load()
        stop: Any = core_is_not_none(failed)
        return stop if extra_test is None else or_(stop, lambda: not_(extra_test()))

    callback.stopped = stopped  # type: ignore[attr-defined]
    source.run(callback)
    load()
    if watched[0]:
        from autograph.operators.branches import if_stmt
        from autograph.operators.exceptions import raise_stmt

        if_stmt(
            core_is_not_none(failed),
            lambda: raise_stmt(failed.get()),
            lambda: None,
            lambda: (),
            lambda v: None,
            (),
        )


def yield_from(values: Any, callback: Callable[[Any], Any]) -> Any:
    """`yield from values`: each item goes to the callback; says whether the consumer has left.

    A generator gets the callback itself, so that one that runs itself keeps one consumer at every level.
    """
    if isinstance(values, GeneratorValue):
        values.run(callback)
        owner = getattr(callback, "__self__", callback)
        stopped = getattr(owner, "stopped", False)
        return stopped() if callable(stopped) else stopped
    if current() is None:
        return any(map(callback, values))
    from autograph.operators.loops import for_stmt

    stop = Box("whether the consumer has left", False)
    for_stmt(
        values,
        lambda: not_(stop.get()),
        lambda item: stop.set(callback(item)),
        lambda: (),
        lambda v: None,
        (),
    )
    return stop.get()


def core_is_not_none(box: Box) -> Any:
    from autograph.operators.branches import is_not

    return is_not(box.get(), None)


def _for_generator_now(source: GeneratorValue, extra_test: Any, body: Any) -> None:
    """In the eager op mode; an exception of the loop's body ends the generator and passes on."""
    if extra_test is not None and not extra_test():
        return
    failed: list[BaseException] = []

    def callback(item: Any) -> bool:
        try:
            body(item)
        except BaseException as error:
            failed.append(error)
            return True
        return extra_test is not None and not extra_test()

    def stopped() -> bool:
        return bool(failed) or (extra_test is not None and not extra_test())

    callback.stopped = stopped  # type: ignore[attr-defined]
    source.run(callback)
    if failed:
        raise failed[0]


class ContextManager(TracedValue):
    """A call of a function decorated with `contextlib.contextmanager`."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.fn, self.args, self.kwargs = fn, args, kwargs

    def pack(self) -> Any:
        require().refuse(
            f"the context manager '{self.fn.__name__}' is kept as a value",
            "In a graph it is run by the with statement that it is made for.",
            f"Write the call in the statement itself: with {self.fn.__name__}(...).",
        )

    def truth(self) -> bool:
        return True


def is_context_manager_function(fn: Any) -> bool:
    """Whether `contextlib.contextmanager` made it from a function that is converted."""
    if not (isinstance(fn, types.FunctionType) and fn.__code__ is _HELPER and hasattr(fn, "__wrapped__")):
        return False
    return hasattr(fn.__wrapped__, "__autograph_generator__") or convert_function(fn.__wrapped__) is not None


@handles(contextlib.contextmanager)
def contextmanager(fn: Any) -> Any:
    """`@contextmanager` on a function made in the trace."""
    return contextlib.contextmanager(fn)


def with_generator(manager: ContextManager, body: Callable[[Any], None]) -> None:
    """`with manager as value: body(value)`: the body runs at the yield."""

    def callback(value: Any) -> bool:
        body(value)
        return False

    source = call(manager.fn, *manager.args, **manager.kwargs)
    source.run(callback)


class NextIterator(TracedValue):
    """An object with `__next__`, or with `__getitem__` from 0 on (`by_index`), run over by a `for`."""

    def __init__(self, source: Tensor, by_index: bool = False) -> None:
        self.source, self.by_index = source, by_index

    def pack(self) -> Any:
        return self.source

    def truth(self) -> bool:
        return True


def stepped(iterable: NextIterator) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """(whether there is one more item: fetches it; the item fetched last)."""
    done, item = Box("the end of an iterator", False), Box("the item of an iterator")
    position = Box("the position of an iterator", 0)

    def step() -> None:
        if not iterable.by_index:
            item.set(call(get_attr_late(iterable.source, "__next__")))
            return
        item.set(call(get_attr_late(iterable.source, "__getitem__"), position.get()))
        position.set(position.get() + 1)

    def fetch() -> Any:
        ends = (IndexError, StopIteration) if iterable.by_index else StopIteration
        try_stmt(step, ((lambda: ends, lambda error: done.set(True)),))
        return not_(done.get())

    return fetch, item.get


def for_next(
    iterable: NextIterator, extra_test: Any, body: Any, get_state: Any, set_state: Any, names: tuple[str, ...]
) -> None:
    """A `for` that calls `__next__` until it raises StopIteration, or `__getitem__` until IndexError."""
    from autograph.operators.loops import while_stmt

    fetch, item = stepped(iterable)
    test = fetch if extra_test is None else (lambda: and_(extra_test(), fetch))
    while_stmt(test, lambda: body(item()), get_state, set_state, names)
