"""The Python side of compiled code: kernels that it calls back, exceptions, and the entry."""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compiler import backend, guards, listing, machine, support, threads
from autograph.errors import StagingError
from autograph.graph.graph import Operation, Tensor
from autograph.graph.tree import NESTED, map_tree
from autograph.graph.types import Array, Const, Host, IterT, Py, Ref, Scalar, Type, conforms, members
from autograph.runtime import interpreter
from autograph.runtime.interpreter import with_user_traceback


def array_api(index: int) -> int:
    """A pointer of NumPy's C API table."""
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    return int(table[index] or 0)


@functools.cache
def register_symbols() -> None:
    """Names of the functions that the code calls beyond those of the process."""
    machine.add_symbol("ag_array_new", array_api(94))
    machine.add_symbol("ag_array_scalar", array_api(60))
    machine.add_symbol("ag_array_base", array_api(282))
    machine.add_symbol("ag_array_type", array_api(2))
    machine.add_symbol("ag_set_handler", array_api(304))
    machine.add_symbol("ag_default_handler", array_api(306))
    threads.wanted()  # raises where the environment says something else than a number
    threads.pool()
    for names, text in support.PARTS.items():
        machine.add_part(names, text)
    if guards.wanted():
        guards.install()


STACK_MARGIN = 512 << 10
"""Bytes of a thread's stack that are left to what compiled code calls, at most a quarter of it."""


class _Attributes(ctypes.Structure):
    """Room for a `pthread_attr_t`."""

    _fields_ = (("room", ctypes.c_uint64 * 16),)


def stack_limit() -> int:
    """The lowest address that compiled code may use of this thread's stack; 0 where it is not known."""
    process = ctypes.CDLL(None)
    process.pthread_self.restype = ctypes.c_void_p
    thread = ctypes.c_void_p(process.pthread_self())
    low, size = ctypes.c_void_p(), ctypes.c_size_t()
    if hasattr(process, "pthread_getattr_np"):  # Linux
        attributes = _Attributes()
        if process.pthread_getattr_np(thread, ctypes.byref(attributes)):
            return 0
        process.pthread_attr_getstack(ctypes.byref(attributes), ctypes.byref(low), ctypes.byref(size))
        process.pthread_attr_destroy(ctypes.byref(attributes))
        lowest = low.value or 0
    elif hasattr(process, "pthread_get_stackaddr_np"):  # macOS
        process.pthread_get_stackaddr_np.restype = ctypes.c_void_p
        process.pthread_get_stacksize_np.restype = ctypes.c_size_t
        size.value = process.pthread_get_stacksize_np(thread)
        lowest = process.pthread_get_stackaddr_np(thread) - size.value
    else:
        return 0
    return int(lowest + min(STACK_MARGIN, size.value // 4))


def too_deep() -> Any:
    raise RecursionError("maximum recursion depth exceeded")


class Sites:
    """The operations that may raise, by number."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def number(self, operation: Operation) -> int:
        for i, known in enumerate(self.operations):
            if known is operation:
                return i
        self.operations.append(operation)
        return len(self.operations) - 1

    def instruction(self, site: int) -> tuple[Any, ...]:
        """The interpreter's instruction at a site: what its traceback functions understand."""
        if site < 0:
            return (interpreter.THROW, None)
        operation = self.operations[site]
        if operation.op is None:
            return (interpreter.CALL, operation.callee, (), (), operation.place)
        return (interpreter.OP, operation.op.kernel, None, None, False, operation, None, False)


class _Hole:
    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


_QUIET = ("autograph.ops.core", "autograph.ops.containers", "builtins")
"""Modules whose kernels make no floating point errors, but with numbers of NumPy's."""


def _is_quiet(operation: Operation) -> bool:
    """Whether a kernel is sure not to tell of floating point errors by a warning."""
    kinds = [m for t in operation.inputs for m in members(t._ag_type)]
    if operation.name in ("print", "host_call", "new_list", "new_dict", "new_set", "cell", "closure"):
        return True
    made = [m for t in operation.outputs for m in members(t._ag_type)]
    if operation.name.partition(".")[0] in _OWN:
        return True
    if not operation.name.startswith("np.") and not _numpy(kinds + made):
        return True
    kernel = operation.op.kernel
    home = getattr(kernel, "__module__", None) or getattr(kernel, "__objclass__", type(kernel)).__module__
    return home in _QUIET and not any(
        isinstance(m, (Array, Scalar))
        or (isinstance(m, Const) and isinstance(m.value, (np.ndarray, np.generic)))
        for m in kinds
    )


_OWN = frozenset({"str", "bytes", "int", "float", "complex", "dict", "set", "range"})
"""Classes whose methods compute nothing with what they are given or hold."""


def _numpy(types: list[Type]) -> bool:
    """Whether values of some of the types may be NumPy's, or hold such values."""
    return not all(
        isinstance(m, Py) or (isinstance(m, Const) and type(m.value) in (bool, int, float, complex, str))
        for m in types
    )


def _quietly(kernel: Callable[..., Any]) -> Callable[..., Any]:
    # errstate as a decorator copies attributes, which classes may lack
    def quiet(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*args, **kwargs)

    return quiet


def kernel_call(
    operation: Operation, tensors: dict[int, int], host: bool, must_raise: bool
) -> Callable[..., Any]:
    """A function of the traced arguments that runs the operation's kernel as the interpreter would."""
    kernel = interpreter._kernel(operation)
    if not _is_quiet(operation):
        kernel = _quietly(kernel)
    expected = operation.outputs[0]._ag_type if operation.outputs else None
    check_int = expected is not None and any(isinstance(m, Py) and m.cls is int for m in members(expected))
    reads = host and any(
        isinstance(m, (Ref, Host, IterT)) for t in operation.inputs for m in members(t._ag_type)
    )
    reads = reads or (host and operation.name == "load")
    tree = map_tree(
        lambda leaf: _Hole(tensors[id(leaf)]) if isinstance(leaf, Tensor) else leaf,
        (operation.args, operation.kwargs),
    )
    instruction = (interpreter.OP, kernel, None, None, check_int, operation, expected, reads)

    fits = _fits(expected)
    positional, named = _filler(tree[0]), _filler(tree[1]) if tree[1] else None

    def call(*values: Any) -> Any:
        value = kernel(*positional(values)) if named is None else kernel(*positional(values), **named(values))
        if check_int and type(value) is int and not -(2**63) <= value < 2**63:
            raise interpreter._overflow(operation)
        if not fits(value):
            interpreter._check(value, instruction)
        if must_raise:
            if type(value) is tuple and any(type(v) is int and not -(2**63) <= v < 2**63 for v in value):
                raise interpreter._overflow(operation)
            raise StagingError(
                f"internal error of autograph: '{operation.name}' was thought to raise for "
                f"{[type(v).__name__ for v in values]}, and did not",
                why="This is a bug of the library, not of the function.",
            )
        return value

    plain = all(type(leaf) is _Hole for leaf in tree[0]) and not tree[1]
    ordered = plain and [leaf.index for leaf in tree[0]] == list(range(len(tree[0])))
    if not ordered or must_raise:
        return call
    if expected is None:
        return kernel
    if not isinstance(expected, Py):
        return call
    cls = expected.cls

    def quick(*values: Any) -> Any:
        value = kernel(*values)
        is_expected = type(value) is cls
        if not is_expected:
            interpreter._check(value, instruction)
        elif check_int and not -(2**63) <= value < 2**63:
            raise interpreter._overflow(operation)
        return value

    return quick


def _fits(expected: Type | None) -> Callable[[Any], bool]:
    """Whether a value is of a type (None: any is)."""
    if expected is None:
        return lambda value: True
    if isinstance(expected, (Py, Ref)):
        cls = expected.cls
        return lambda value: type(value) is cls
    if isinstance(expected, Const) and expected.value is None:
        return lambda value: value is None
    return lambda value: conforms(value, expected)


def _filler(tree: Any) -> Callable[[tuple[Any, ...]], Any]:
    """A function of the values of the holes that gives the tree with these in it."""
    if type(tree) is _Hole:
        return operator.itemgetter(tree.index)
    if not isinstance(tree, NESTED):
        return lambda values: tree
    if type(tree) is tuple:
        if all(type(leaf) is _Hole for leaf in tree) and len(tree) > 1:
            return operator.itemgetter(*[leaf.index for leaf in tree])
        if len(tree) == 1 and type(tree[0]) is _Hole:
            at = tree[0].index
            return lambda values: (values[at],)
        parts = [_filler(part) for part in tree]
        return lambda values: tuple([part(values) for part in parts])
    return lambda values: map_tree(lambda leaf: values[leaf.index] if type(leaf) is _Hole else leaf, tree)


def caught(sites: Sites) -> Callable[..., None]:
    """Called with an exception that a handler of the graph is about to see."""

    def call(error: BaseException, trail: bytes, handling: list[BaseException], depth: int) -> None:
        numbers = np.frombuffer(trail, np.int32).tolist()
        _complete(error, sites, numbers, handling)
        del handling[depth:]

    return call


def failed(sites: Sites) -> Callable[..., Any]:
    """Called with an exception that leaves the graph; gives it with the user's lines as its traceback."""

    def call(error: BaseException, trail: bytes, handling: list[BaseException]) -> BaseException:
        done = _complete(error, sites, np.frombuffer(trail, np.int32).tolist(), handling)
        return done.with_traceback(backend.user_traceback(done))

    return call


def _complete(
    error: BaseException, sites: Sites, trail: list[int], handling: list[BaseException]
) -> BaseException:
    instruction = sites.instruction(trail[0]) if trail else (interpreter.THROW, None)
    if not (instruction[0] == interpreter.THROW or interpreter._operation(instruction) == "reraise"):
        _link_context(error, handling)
    places = [interpreter._place(instruction)]
    places += [sites.operations[site].place for site in trail[1:]]
    return with_user_traceback(error, places, instruction)


def _link_context(error: BaseException, handling: list[BaseException]) -> None:
    """`__context__`: the exception that was being handled when this one was raised."""
    handled = handling[-1] if handling else None
    if handled is None or handled is error:
        return
    seen = handled
    while seen.__context__ is not None and seen.__context__ is not handled:
        if seen.__context__ is error:
            seen.__context__ = None
            break
        seen = seen.__context__
    error.__context__ = handled


def matches(error: BaseException, classes: Any) -> bool:
    """Whether an `except` clause catches the exception; the library's own refusals are never caught."""
    return not isinstance(error, StagingError) and isinstance(error, classes)


def rethrow(error: BaseException) -> Any:
    raise error


def folded(operation: Operation) -> Callable[[], Any]:
    """Refuses to write an array whose elements share memory: what is left depends on NumPy's order."""

    def call() -> Any:
        raise StagingError(
            f"'{operation.name}' writes an array of which some elements share memory",
            why="Which of the values stays depends on the order in which NumPy writes them.",
            instead="Write to a copy, or run the function in eager mode.",
            location=None if operation.place is None else operation.place.location(),
        )

    return call


def unreachable(operation: Any) -> Callable[[], Any]:
    def call() -> Any:
        raise StagingError(
            "internal error of autograph: an operation that was thought to raise did not: "
            f"{'' if operation is None else operation.name}",
            why="This is a bug of the library, not of the function.",
        )

    return call


class Native:
    """A graph as machine code for arguments of one kind."""

    def __init__(self, library: Any, table: list[Any], text: str, times: dict[str, float]) -> None:
        self.library, self.objects, self.text, self.times = library, table, text, times
        self.table = (ctypes.py_object * max(len(table), 1))(*table)
        self.fallbacks: list[Operation] = []
        self.shared: list[Operation] = []
        self.notes: list[listing.Note] = []
        self._address = ctypes.addressof(self.table)
        self._entry = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)(
            library["ag_entry"]
        )

    def listing(self) -> str:
        """The loops, and what they compute, in words."""
        return listing.render(self.notes)

    def explanation(self) -> list[str]:
        """How long the compilation took, which loops threads share, and what is called back."""
        shared = map(listing.shared, self.shared)
        return [listing.timing(self.times), *shared, *map(listing.called_back, self.fallbacks)]

    @property
    def table_address(self) -> int:
        """Where the table of objects is."""
        return self._address

    def __call__(self, arguments: list[Any]) -> Any:
        values = (ctypes.py_object * max(len(arguments), 1))(*arguments)
        return self._entry(self._address, ctypes.addressof(values))
