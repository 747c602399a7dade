"""Exceptions: `try`, `raise`, `assert` and `with`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from autograph.errors import StagingError
from autograph.graph.graph import Operation, Tensor
from autograph.graph.types import Host, members, python_class
from autograph.operators.branches import if_stmt, is_object, not_, split, truth
from autograph.operators.tracer import UNKNOWN_ERROR, DeadEnd, Trace, current, emit, pack, vtype
from autograph.ops import core

Handler = tuple[Callable[[], Any] | None, Callable[[Any], None]]


def assert_stmt(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""
    from autograph.operators.calls import call

    def fail() -> None:
        args = () if message is None else (message(),)
        raise_stmt(call(AssertionError, *args))

    if not __debug__:
        return
    if current() is None:
        if not test:
            raise AssertionError(*(() if message is None else (message(),)))
        return
    if_stmt(test, lambda: None, fail, lambda: (), lambda values: None, ())


def raise_stmt(error: Any, *cause: Any) -> NoReturn:
    """`raise error from cause`."""
    trace = current()
    if trace is None:
        core._raise(error, *cause)
        raise AssertionError
    from autograph.operators.calls import call

    if isinstance(error, type) and issubclass(error, BaseException):
        error = call(error)
    emit(core.RAISE, pack(error), *(pack(c) for c in cause))
    raise DeadEnd


def reraise() -> NoReturn:
    """A bare `raise`."""
    trace = current()
    if trace is None:
        error = sys.exc_info()[1]
        if error is None:
            raise RuntimeError("No active exception to reraise")
        raise error
    if trace.handling:
        if trace.handling[-1] is UNKNOWN_ERROR:
            trace.refuse(
                "a 'raise' without an exception is not inside an 'except' clause",
                "Which exception is on its way in a 'finally' block, or in a function that calls itself, "
                "is only known when the graph runs.",
                "Catch the exception with 'except Exception as error', and raise it from there.",
            )
        emit(core.RERAISE, trace.handling[-1])
    emit(core.RAISE, emit(core.MAKE_EXCEPTION, RuntimeError, "No active exception to reraise"))
    raise DeadEnd


def try_stmt(
    body: Callable[[], None],
    handlers: tuple[Handler, ...],
    orelse: Callable[[], None] | None = None,
    finalbody: Callable[[], None] | None = None,
) -> None:
    """`try: body() except ...: handler(e) else: orelse() finally: finalbody()`."""
    trace = current()
    if trace is None:
        _try_now(body, handlers, orelse, finalbody)
        return
    regions = []
    alive = False

    def traced(fn: Callable[[], Any]) -> bool:
        with trace.nested() as region:
            regions.append(region)
            ended, _ = trace.run(fn)
            region.results = () if ended else None
        return ended

    trace.try_depth += 1
    try:
        ended = traced(body)
    finally:
        trace.try_depth -= 1
    types: list[Any] = []
    for classes, handler in handlers:
        caught = BaseException if classes is None else _exception_classes(trace, classes())
        types.append(caught)
        only = caught if isinstance(caught, type) else (caught[0] if len(caught) == 1 else Exception)
        with trace.nested() as region:
            regions.append(region)
            error = trace.param(region, Host(only), "error")
            trace.handling.append(error)
            try:
                handled, _ = trace.run(lambda handler=handler, error=error: handler(error))  # type: ignore[misc]
            finally:
                trace.handling.pop()
            region.results = () if handled else None
            alive = alive or handled
    if orelse is not None:
        ended = traced(orelse) and ended
    alive = alive or ended
    final = True
    if finalbody is not None:
        trace.handling.append(UNKNOWN_ERROR)
        try:
            final = traced(finalbody)
        finally:
            trace.handling.pop()
    operation = Operation(
        "try",
        (),
        {"handlers": tuple(types), "has_else": orelse is not None, "has_finally": finalbody is not None},
        [],
        regions=tuple(regions),
        place=trace.place(),
    )
    trace.append(operation)
    if not alive or not final:
        raise DeadEnd


def _exception_classes(trace: Trace, classes: Any) -> Any:
    for cls in classes if isinstance(classes, tuple) else (classes,):
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            trace.refuse(
                "an except clause names something that is not a known exception class",
                "Which exceptions a handler takes must be known while the graph is built.",
                "Name the classes directly.",
            )
    return classes


def _try_now(body: Any, handlers: Any, orelse: Any, finalbody: Any) -> None:
    """Python's own try, on values at hand; the library's refusals pass every handler."""
    try:
        try:
            body()
        except StagingError:
            raise
        except BaseException as error:
            for classes, handler in handlers:
                if classes is None or isinstance(error, classes()):
                    handler(error)
                    return
            raise
        else:
            if orelse is not None:
                orelse()
    finally:
        if finalbody is not None:
            finalbody()


def with_stmt(manager: Any, body: Callable[[Any], None]) -> None:
    """`with manager as value: body(value)`."""
    from autograph.operators.calls import call
    from autograph.operators.generators import ContextManager, with_generator
    from autograph.operators.objects import get_attr, has_object
    from autograph.operators.variables import Box

    trace = current()
    if isinstance(manager, ContextManager):
        with_generator(manager, body)
        return
    if trace is None:
        with manager as value:
            body(value)
        return
    if isinstance(manager, contextlib.nullcontext):
        body(manager.enter_result)
        return
    if isinstance(manager, Nullcontext):
        body(manager.value)
        return
    if isinstance(manager, Suppress):
        try_stmt(lambda: body(None), ((lambda: manager.classes, lambda error: None),))
        return
    if isinstance(manager, PrintOptions):
        with_print_options(manager, body)
        return
    if isinstance(manager, Tensor) and not is_object(manager._ag_type):
        alternatives = members(manager._ag_type)
        if any(map(is_object, alternatives)):
            split(manager, is_object, lambda m: with_stmt(m, body), lambda m: with_stmt(m, body))
            return
        if not any(isinstance(m, Host) for m in alternatives):
            emit(core.ENTER, manager)
    if not isinstance(manager, Tensor) and not hasattr(type(manager), "__enter__"):
        emit(core.ENTER, manager)
    if not has_object(manager):
        trace.refuse(
            f"'with' on a {_class_name(manager)} that is not converted",
            "What it does on entry and exit happens outside the graph.",
            "Use a context manager written in Python, or enter it outside the function.",
        )
    cls = python_class(manager._ag_type)
    if cls is not None and not (hasattr(cls, "__enter__") and hasattr(cls, "__exit__")):
        emit(core.ENTER, manager)
    leave = get_attr(manager, "__exit__")
    value = call(get_attr(manager, "__enter__"))

    left = Box("whether __exit__ has run", False)

    def failed(error: Any) -> None:
        left.set(True)
        swallowed = truth(call(leave, emit(core.TYPE, error), error, None))
        if_stmt(swallowed, lambda: None, reraise, lambda: (), lambda v: None, ())

    def finish() -> None:
        left.set(True)
        call(leave, None, None, None)

    def refused() -> None:  # the library's own errors pass every handler, but not `finally`
        if_stmt(
            not_(left.get()),
            lambda: call(leave, None, None, None),
            lambda: None,
            lambda: (),
            lambda v: None,
            (),
        )

    def whole() -> None:
        body(value)

    try_stmt(whole, ((None, failed),), finish, refused)


def _class_name(manager: Any) -> str:
    cls = python_class(vtype(manager)) or type(manager)
    return cls.__name__


class Nullcontext:
    """`contextlib.nullcontext(value)` made inside a trace."""

    def __init__(self, value: Any = None) -> None:
        self.value = value


class PrintOptions:
    """`np.printoptions(**options)` made inside a trace."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.args, self.options = args, options


def with_print_options(manager: PrintOptions, body: Callable[[Any], None]) -> None:
    """Sets NumPy's print options when the graph runs, and puts the old ones back however the body ends."""
    saved = emit(core.HOST_CALL, np.get_printoptions)

    def restore() -> None:
        emit(core.HOST_CALL, restore_print_options, saved)

    def whole() -> None:
        emit(core.HOST_CALL, np.set_printoptions, *manager.args, **manager.options)
        body(emit(core.HOST_CALL, np.get_printoptions))

    try_stmt(whole, (), None, restore)


def restore_print_options(options: dict[str, Any]) -> None:
    np.set_printoptions(**options)


class Suppress:
    """`contextlib.suppress(*classes)` made inside a trace."""

    def __init__(self, *classes: Any) -> None:
        self.classes = classes
