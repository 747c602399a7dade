"""Calls: of converted functions (inlined, or traced once into their own graph), classes, ops and the host."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from autograph.core.generated import is_generated
from autograph.errors import StagingError
from autograph.graph.graph import Graph, Operation, Tensor
from autograph.graph.types import (
    BOTTOM,
    Array,
    ClosureT,
    Const,
    Host,
    Ref,
    TupleT,
    Type,
    TypeChoice,
    Union,
    generalize_deep,
    join,
    members,
    walk,
)
from autograph.operators.external import is_user_module
from autograph.operators.tracer import (
    UNKNOWN_ERROR,
    DeadEnd,
    Note,
    Restart,
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
    unflatten,
    user_place,
    vtype,
)
from autograph.ops import core
from autograph.ops.base import BY_FUNCTION
from autograph.records import record_class

MAX_INLINE_DEPTH = 16
MAX_INLINED_CALLS = 256
MAX_GRAPH_DEPTH = 12
"""Graphs of one function in the middle of one another, before all its calls share one."""
MAX_SPREAD = 32
"""Rows of an array that `*` spreads one by one."""

HANDLERS: dict[Any, Callable[..., Any]] = {}
"""Functions that the operators answer for themselves: builtins that call user code or need known values."""


def handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            HANDLERS[function] = handler
        return handler

    return register


def _nothing_converted(fn: types.FunctionType) -> types.FunctionType | None:
    return None


converter: Callable[[types.FunctionType], types.FunctionType | None] = _nothing_converted
"""Gives the converted form of a user's function (None for unconverted code); set by `function.py`."""


class BoundMethod(TracedValue):
    """A method bound to a traced object."""

    def __init__(self, function: Any, self_: Any) -> None:
        self.function, self.self = function, self_

    def pack(self) -> Any:
        trace = current()
        assert trace is not None
        trace.refuse(
            "a bound method of a traced object is kept as a value",
            "A graph has no values for methods of objects that exist only in it.",
            "Call the method where it is looked up, or wrap it in a lambda.",
        )

    def truth(self) -> bool:
        return True


class BoundOp(TracedValue):
    """A method that an op answers for, bound to its operand."""

    def __init__(self, op: Any, self_: Any) -> None:
        self.op, self.self = op, self_

    def pack(self) -> Any:
        return emit(core.GET_ATTR, self.self, self.op.name.rpartition(".")[2], type_=Host())

    def truth(self) -> bool:
        return True


def call(fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`fn(*args, **kwargs)`."""
    trace = current()
    if trace is None:
        return call_now(fn, args, kwargs)
    if isinstance(fn, Tensor):
        return call_tensor(trace, fn, args, kwargs)
    if isinstance(fn, BoundMethod):
        return call(fn.function, fn.self, *args, **kwargs)
    if hasattr(type(fn), "__autograph_call__"):
        return fn.__autograph_call__(*args, **kwargs)
    if isinstance(fn, BoundOp):
        return call_op(fn.op, (fn.self, *args), kwargs)
    if isinstance(fn, TracedValue):
        trace.refuse(
            f"a {type(fn).__name__.lower()} is called",
            "It is not a function, and exists only while the graph is built.",
            "Loop over it, or use it in a with statement, as its kind asks for.",
        )
    try:
        handler = HANDLERS.get(fn)
        op = BY_FUNCTION.get(fn)
    except TypeError:
        handler = op = None
    if handler is not None:
        return _handled(handler, fn, args, kwargs)
    if op is not None:
        return call_op(op, args, kwargs)
    if isinstance(fn, functools.partial):
        return call(fn.func, *fn.args, *args, **{**fn.keywords, **kwargs})
    if isinstance(fn, types.MethodType):
        return call_method(trace, fn, args, kwargs)
    if isinstance(fn, types.FunctionType):
        return call_function(trace, fn, args, kwargs)
    if isinstance(fn, type):
        from autograph.operators.objects import instantiate

        return instantiate(trace, fn, args, kwargs)
    return call_host(trace, fn, args, kwargs)


_ITERATING = {
    "list.extend",
    "set.update",
    "set.union",
    "set.intersection",
    "set.difference",
    "str.join",
    "method.join",
}


def _is_user_object(value: Any) -> bool:
    return isinstance(value, Tensor) and any(
        isinstance(m, Ref) and m.kind == "object" for m in members(value._ag_type)
    )


def _handled(handler: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A builtin that the operators answer for; what it raises on known values, the run raises."""
    if fn in _ONE_ARGUMENT and len(args) > 1:
        return host_call(fn, args, kwargs)
    try:
        return handler(*args, **kwargs)
    except StagingError:
        raise
    except Exception as error:
        if isinstance(error, TypeError) and _not_called(error):
            return host_call(
                fn, args, kwargs
            )  # the builtin does not fit the arguments either, in its own words
        if user_place(error) is not None or has_tensor(args) or has_tensor(tuple(kwargs.values())):
            raise
        return emit(core.HOST_CALL, fn, *args, type_=BOTTOM, **kwargs)


_ONE_ARGUMENT = (bool, list, tuple, set, frozenset, dict)


def _not_called(error: TypeError) -> bool:
    """Whether a call itself raised this, because the function does not take the arguments."""
    tb = error.__traceback__
    return tb is not None and tb.tb_next is None


def call_op(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An op on values of the trace; iterables that exist only in the trace become lists first."""
    from autograph.operators.containers import materialize

    iterates = op.name in _ITERATING
    args = tuple(
        materialize(a) if isinstance(a, TracedValue) or (iterates and _is_user_object(a)) else a for a in args
    )
    return emit(op, *args, **kwargs)


def call_method(trace: Trace, fn: types.MethodType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    owner = fn.__self__
    if not isinstance(owner, type):
        from autograph.operators.objects import outside_object

        owner = outside_object(trace, owner)
    return call(fn.__func__, owner, *args, **kwargs)


def get_attr_late(x: Any, name: str) -> Any:
    from autograph.operators.objects import get_attr

    return get_attr(x, name)


def call_now(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call in the eager op mode: converted code calls converted code, all else is called as it is."""
    from autograph.operators.generators import ContextManager, is_context_manager_function

    if isinstance(fn, types.FunctionType) and hasattr(fn, "__autograph_generator__"):
        return fn(*args, **kwargs)
    if is_context_manager_function(fn):
        return ContextManager(fn.__wrapped__, args, kwargs)
    if isinstance(fn, types.MethodType):
        converted = convert_function(fn.__func__) if isinstance(fn.__func__, types.FunctionType) else None
        if converted is not None:
            return converted(fn.__self__, *args, **kwargs)
    if isinstance(fn, types.FunctionType):
        converted = convert_function(fn)
        if converted is not None:
            return converted(*args, **kwargs)
    if fn is super:
        return super(*args)
    if hasattr(type(fn), "__autograph_call__"):
        return fn.__autograph_call__(*args, **kwargs)
    op = BY_FUNCTION.get(fn) if _hashable(fn) else None
    if getattr(fn, "__module__", None) != "autograph.hand":  # those note themselves
        record(op.name if op is not None else getattr(fn, "__name__", type(fn).__name__))
    return fn(*args, **kwargs)


def _hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


def convert_function(fn: types.FunctionType) -> Callable[..., Any] | None:
    """The converted form of a function: itself if it is converted code, None if it is not to be converted."""
    if is_generated(fn.__code__):
        return fn
    named = fn.__module__ not in (
        None,
        "builtins",
    )  # code run by exec without a __name__ has no module of its own
    if getattr(fn, "__autograph_do_not_convert__", False) or (named and not is_user_module(fn.__module__)):
        return None
    return converter(fn)


def call_tensor(trace: Trace, fn: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a value known only at run time: an object with `__call__`, or one of several functions."""
    from autograph.operators.branches import is_object, split
    from autograph.operators.objects import method_of

    t = fn._ag_type
    if isinstance(t, ClosureT):
        from autograph.operators.closures import rebuild

        return call(rebuild(fn), *args, **kwargs)
    if is_object(t):
        method = method_of(fn, "__call__")
        if method is not None:
            return call(method, *args, **kwargs)
    if isinstance(t, Union) and any(callable_type(m) for m in t.members):
        return split(
            fn,
            callable_type,
            lambda f: call(f, *args, **kwargs) if _reachable(trace, f) else emit(core.IMPOSSIBLE, f.__name__),
            lambda f: emit(core.HOST_CALL, f, *args, type_=BOTTOM, **kwargs),
        )
    if isinstance(t, Host):
        trace.host_calls += 1
        return host_call(fn, args, kwargs)
    return emit(core.HOST_CALL, fn, *args, type_=BOTTOM, **kwargs)  # raises TypeError: not callable


def _reachable(trace: Trace, fn: Any) -> bool:
    """Whether a function refers only to what exists here; one left over from an earlier pass may not."""
    from autograph.operators.closures import captured_tensors

    return all(t._ag_region is None or t._ag_region in trace.regions for t in captured_tensors(fn))


def with_defaults(trace: Trace, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, with defaults that are lists, arrays or objects outside the trace."""
    if is_generated(fn.__code__) or not (fn.__defaults__ or fn.__kwdefaults__):
        return kwargs
    from autograph.operators.objects import ObjectReference, outside_object
    from autograph.operators.variables import AttributeReference

    for attribute in ("__defaults__", "__kwdefaults__"):
        reference = AttributeReference(ObjectReference(fn), attribute)
        trace.guards[reference.key] = (reference, ("identity", getattr(fn, attribute)))
    code = fn.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = fn.__defaults__ or ()
    first = len(names) - len(defaults)
    missing = {n: d for i, (n, d) in enumerate(zip(names[first:], defaults), first) if i >= len(args)}
    missing.update(fn.__kwdefaults__ or {})
    found = dict(kwargs)
    for name, value in missing.items():
        if name in found or isinstance(value, (bool, int, float, complex, np.generic)):
            continue
        outside = outside_object(trace, value)
        if outside is value:
            continue
        if name in names[: code.co_posonlyargcount]:
            trace.refuse(
                f"the default of the positional-only parameter '{name}' is a {type(value).__name__}",
                "It exists outside the graph, and is passed by name.",
                "Pass the argument, or remove the '/' before it.",
            )
        found[name] = outside
    return found


def callable_type(t: Type) -> bool:
    if isinstance(t, ClosureT):
        return True
    if isinstance(t, Const):
        return callable(t.value) or isinstance(t.value, TracedValue)
    return isinstance(t, Ref) and t.kind == "object" and any("__call__" in vars(c) for c in t.cls.__mro__)


def call_function(trace: Trace, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from autograph.operators.generators import ContextManager, is_context_manager_function

    if hasattr(fn, "__autograph_generator__"):
        return fn(*args, **kwargs)
    if is_context_manager_function(fn):
        return ContextManager(fn.__wrapped__, args, kwargs)
    converted = convert_function(fn)
    if converted is None:
        return call_host(trace, fn, args, kwargs)
    kwargs = with_defaults(trace, fn, args, kwargs)
    if hasattr(converted, "__autograph_generator__"):
        for arg in args:
            if isinstance(arg, Splat):
                arg.pack()  # refuses
        return converted(*args, **kwargs)
    trace.step()
    code = converted.__code__
    spread = next((i for i, a in enumerate(args) if isinstance(a, Splat)), None)
    if spread is not None and (spread < code.co_argcount or not code.co_flags & inspect.CO_VARARGS):
        args[spread].pack()  # refuses
    if code in trace.decisions.graph_functions:
        return call_graph(trace, converted, args, kwargs)
    key = stable_key(TupleT((vtype(args), *(vtype(v) for v in kwargs.values()))))
    active = [k for c, k in trace.call_stack if c is code]
    if key in active or len(active) >= MAX_INLINE_DEPTH:
        trace.decisions.graph_functions.add(code)
        if key not in active:
            trace.decisions.generalized.add(code)
        trace.decisions.change(f"'{fn.__name__}' calls itself")
        raise Restart
    trace.inlined[code] = trace.inlined.get(code, 0) + 1
    if trace.inlined[code] > MAX_INLINED_CALLS and (has_tensor(args) or has_tensor(tuple(kwargs.values()))):
        trace.decisions.graph_functions.add(code)
        trace.decisions.change(f"'{fn.__name__}' is called often")
        raise Restart
    trace.call_stack.append((code, key))
    caller, trace.caller = trace.caller, trace.place()
    try:
        return converted(*args, **kwargs)
    except TypeError as error:
        if not is_of_the_call(error):
            raise
        trace.caller = caller
        trace.raise_here(error)
    finally:
        trace.caller = caller
        trace.call_stack.pop()


def stable_key(t: Type) -> Hashable:
    """A key for a type, the same in every pass of a trace: functions made in it count by their code."""
    if isinstance(t, Const):
        value = t.value
        if isinstance(value, types.FunctionType):
            return ("function", value.__code__)
        if isinstance(value, BoundMethod):
            return ("method", stable_key(Const(value.function)), stable_key(vtype(value.self)))
        if isinstance(value, TracedValue):
            return ("traced", type(value))
        return t
    if isinstance(t, TupleT):
        return (t.cls, tuple(stable_key(i) for i in t.items))
    if isinstance(t, Union):
        return ("union", frozenset(stable_key(m) for m in t.members))
    return t


@record_class
class Record:
    """A function traced into a graph of its own, or being traced."""

    graph: Graph
    assumed: Type
    done: bool = False
    recursive: bool = False
    function: Any = None


def call_graph(
    trace: Trace, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], consumer: Any = None
) -> Any:
    """A call of a graph, traced once for each static structure and types of its arguments.

    A generator's graph holds the body of its consumer, so each consumer has a graph of its own.
    """
    code = fn.__code__
    if consumer is not None and code in trace.decisions.widened:
        trace.refuse(
            f"the generator '{code.co_name}' runs itself with ever new types of arguments",
            "Each level would be a graph of its own, without end.",
            "Write a function that returns a list, and calls itself: out.extend(walk(...)).",
        )
    names = tuple(kwargs)
    values = (args, tuple(kwargs.values()))
    types_ = vtype(values)
    if code in trace.decisions.generalized:
        types_ = generalize_deep(types_)
    if code in trace.decisions.widened:
        shape = (code, names, len(args))
        types_ = join(trace.decisions.arguments.get(shape, BOTTOM), types_)
        trace.decisions.arguments[shape] = types_
    elif sum(c is code and k is None for c, k in trace.call_stack) >= MAX_GRAPH_DEPTH:
        trace.decisions.generalized.add(code)
        trace.decisions.widened.add(code)
        trace.decisions.change(f"'{fn.__name__}' calls itself with ever new types")
        raise Restart
    site = ("result", code, names, stable_key(types_))
    key = (id(fn), id(consumer), names, stable_key(types_))
    leaves: list[Any] = []
    flatten(values, types_, leaves)
    entry = trace.functions.get(key)
    if entry is None:
        entry = Record(
            Graph(code.co_name, trace.place()), trace.decisions.results.get(site, BOTTOM), function=fn
        )
        trace.functions[key] = entry
        _trace_body(trace, entry, fn, types_, names, site)
    elif not entry.done:
        entry.recursive = True
    result = entry.assumed
    operation = Operation("call", tuple(leaves), {}, [], callee=entry.graph, place=trace.place())
    types_out: list[Type] = []
    leaf_types(result, types_out)
    operation.outputs = [trace.tensor(t, operation) for t in types_out]
    trace.append(operation)
    if result is BOTTOM:
        raise DeadEnd
    return unflatten(result, iter(operation.outputs))


def is_of_the_call(error: TypeError) -> bool:
    """Whether a call raised this itself, in the frame that asks: the arguments do not fit the function."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def _called(trace: Trace, fn: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    try:
        return fn(*args, **kwargs)
    except TypeError as error:
        if not is_of_the_call(error):
            raise
        trace.raise_here(error)


def _trace_body(
    trace: Trace, entry: Record, fn: Any, types_: Type, names: tuple[str, ...], site: Hashable
) -> None:
    graph = entry.graph
    leaves: list[Type] = []
    leaf_types(types_, leaves)
    labels = _parameter_labels(fn.__code__, types_, names)
    graph.body.params = [Tensor(t, graph, None, label) for t, label in zip(leaves, labels)]
    args, extra = unflatten(types_, iter(graph.body.params))
    loops, trace.loops = trace.loops, []
    copy, trace.copy = trace.copy, ()
    handling, trace.handling = trace.handling, [UNKNOWN_ERROR]
    caller, trace.caller = trace.caller, None
    trace.graphs.append(graph)
    trace.regions.append(graph.body)
    trace.context.append(("result", fn.__code__) if fn.__code__ in trace.decisions.widened else site)
    trace.call_stack.append((fn.__code__, None))
    try:
        ended, value = trace.run(lambda: _called(trace, fn, args, dict(zip(names, extra))))
        result = join(entry.assumed, vtype(value) if ended else BOTTOM)
        outputs: list[Any] = []
        if ended:
            flatten(value, result, outputs)
    finally:
        trace.call_stack.pop()
        trace.context.pop()
        trace.regions.pop()
        trace.graphs.pop()
        trace.caller = caller
        trace.loops = loops
        trace.copy = copy
        trace.handling = handling
    graph.body.results = tuple(outputs) if ended else None
    graph.result_type = result
    if result != entry.assumed:
        trace.decisions.results[site] = result
        if entry.recursive:
            trace.decisions.change(f"the result of '{graph.name}' has more types than at first thought")
        entry.assumed = result
    entry.done = True


def _parameter_labels(code: types.CodeType, t: Any, keywords: tuple[str, ...]) -> list[str]:
    """The user's name for each leaf of a called graph's parameters."""
    args, extra = t.items
    named = code.co_varnames[: code.co_argcount]
    names = (named + ("args",) * len(args.items))[: len(args.items)]
    return leaf_names(args, names) + leaf_names(extra, keywords)


def call_host(trace: Trace, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Code that is not converted runs on the host, when the graph runs, in program order."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, (str, bytes, int, float, complex)) and not isinstance(fn, types.MethodType):
        from autograph.operators.objects import constant_method

        op = constant_method(owner, fn.__name__)
        if op is not None:
            return call_op(op, (owner, *args), kwargs)
    if isinstance(owner, np.ufunc):
        from autograph.ops.ufuncs import ufunc_method

        return call_op(ufunc_method(owner, fn.__name__), args, kwargs)
    if isinstance(fn, Tensor) or callable(fn):
        trace.host_calls += 1
        trace.notes.append(
            Note(
                trace.place(),
                f"call of {getattr(fn, '__name__', fn)!r}: runs on the host, it is not converted",
            )
        )
        return host_call(fn, args, kwargs)
    return emit(core.HOST_CALL, fn, *args, type_=BOTTOM, **kwargs)


def host_call(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A host call may write to what it is given: that containers and objects keep their types is checked."""
    args = tuple(map(pack, args))
    kwargs = {name: pack(value) for name, value in kwargs.items()}
    types_ = tuple(map(vtype, (*args, *kwargs.values())))
    sites: set[Any] = set()
    for t in types_:
        _expose(t, sites)
    if sites:
        return emit(core.HOST_CALL, fn, *args, ag__types=TypeChoice(types_), **kwargs)
    return emit(core.HOST_CALL, fn, *args, **kwargs)


def _expose(t: Type, seen: set[Any]) -> None:
    """The lengths and keys of all containers that are reached from a value of this type may change."""
    for part in walk(t):
        if isinstance(part, Ref) and part.site not in seen:
            site = part.site
            seen.add(site)
            if site.kind == "list":
                site.unfix()
            elif site.kind == "dict":
                site.open_keys()
            for inner in (site.read(), site.read_key(), *site.fields.values()):
                _expose(inner, seen)


def star(iterable: Any) -> Any:
    """`*iterable` in a call."""
    if current() is None:
        return iterable
    from autograph.operators.loops import Lazy, known_items

    if isinstance(iterable, tuple):
        return iterable
    if not isinstance(iterable, (Tensor, TracedValue)) and not hasattr(type(iterable), "__iter__"):
        return iterable  # Python says what is wrong with it
    known = known_items(iterable)
    if known is not None and isinstance(iterable, Lazy):
        iterable.use()
    if known is not None:
        return tuple(known)
    if isinstance(iterable, Tensor) and isinstance(t := iterable._ag_type, Array) and t.shape:
        length = t.shape[0]
        if length is not None and length <= MAX_SPREAD:
            from autograph.ops.containers import GET_ITEM

            return tuple(emit(GET_ITEM, iterable, i) for i in range(length))
    return Splat(iterable)


def star_items(iterable: Any) -> Any:
    """`*iterable` in a list or tuple."""
    return (*iterable,) if current() is None else _items(iterable)


def star_set(iterable: Any) -> Any:
    """`*iterable` in a set, of which Python complains in other words."""
    return tuple(iterable) if current() is None else _items(iterable)


def _items(iterable: Any) -> Any:
    found = star(iterable)
    return found if isinstance(found, Splat) or hasattr(type(found), "__iter__") else Splat(found)


class Spreading:
    """A function that is called with `*` or `**`: Python names it in its errors by these attributes."""

    def __init__(self, function: Any) -> None:
        self.function = function
        named = function.function if isinstance(function, BoundMethod) else function
        if isinstance(function, BoundOp):
            self.__module__, self.__qualname__ = None, function.op.name  # type: ignore[assignment]
        elif not isinstance(function, (Tensor, TracedValue)) or named is not function:
            self.__module__ = getattr(named, "__module__", None)  # type: ignore[assignment]
            if hasattr(named, "__qualname__"):
                self.__qualname__ = named.__qualname__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call(self.function, *args, **kwargs)

    def __str__(self) -> str:
        return str(self.function)


class Splat(TracedValue):
    """Items whose number is only known when the graph runs."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __iter__(self) -> Any:
        yield self

    def pack(self) -> Any:
        trace = current()
        assert trace is not None
        trace.refuse(
            "'*' spreads a value whose length is only known when the graph runs",
            "The number of arguments of a call must be known while the graph is built.",
            "Pass the list or array as one argument.",
        )

    def truth(self) -> bool:
        return True


def star_kwargs(mapping: Any) -> Any:
    """`**mapping` in a call."""
    trace = current()
    if trace is None or not isinstance(mapping, Tensor):
        return mapping
    t = mapping._ag_type
    if not (isinstance(t, Ref) and t.kind == "dict" and t.site.closed):
        trace.refuse(
            "'**' spreads a dict whose keys are only known when the graph runs",
            "The names of a call's arguments must be known while the graph is built.",
            "Pass the dict as one argument.",
        )
    t.site.was_read = True
    from autograph.ops.containers import GET_ITEM

    return {name: emit(GET_ITEM, mapping, name) for name in t.site.fields}
