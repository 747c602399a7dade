"""The reference interpreter: runs each operation's kernel in program order on a stack of its own.

A graph is first lowered to a list of instructions with jumps, so that loops, handlers and calls need no
recursion of Python: a graph may call itself far deeper than Python's own limit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from autograph.errors import IntegerOverflow, StagingError
from autograph.graph.graph import Graph, Operation, Place, Region, Tensor
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import Host, IterT, Py, Ref, conforms, members
from autograph.records import record_class
from autograph.tracebacks import at_spots, without_library

MAX_DEPTH = 100_000
"""Calls of graphs may be nested this deep; beyond, RecursionError."""

OP, MOVE, JUMP, JUMP_IF_FALSE, CALL, RETURN, PUSH, POP, MATCH, THROW, UNREACHABLE, HANDLE, HANDLED = range(13)
_KINDS = [
    *("op", "move", "jump", "jump_if_false", "call", "return", "push", "pop", "match", "throw"),
    *("unreachable", "handle", "handled"),
]


@record_class(eq=False)
class Code:
    """A graph as instructions over numbered slots."""

    name: str
    instructions: list[tuple[Any, ...]]
    size: int
    params: list[int]

    def listing(self) -> str:
        """The instructions as text, one a line: number, kind, op or target, user's line."""
        lines = [f"code {self.name}: {self.size} slots, parameters in {self.params}"]
        for number, instruction in enumerate(self.instructions):
            kind = _KINDS[instruction[0]]
            detail = ""
            if instruction[0] == OP:
                detail = f"{instruction[5].name} -> {instruction[3]}"
            elif instruction[0] == CALL:
                detail = f"{instruction[1].name} -> {instruction[3]}"
            elif instruction[0] == MOVE:
                detail = f"-> {instruction[2]}"
            elif instruction[0] in (JUMP, PUSH):
                detail = f"to {instruction[1]}"
            elif instruction[0] == JUMP_IF_FALSE:
                detail = f"to {instruction[2]}"
            elif instruction[0] == MATCH:
                detail = f"else to {instruction[4]}"
            place = _place(instruction)
            lines.append(f"  {number:4} {kind} {detail}".rstrip() + (f"  # L{place.line}" if place else ""))
        return "\n".join(lines)


class _Lowering:
    """Turns the nested regions of one graph into a list of instructions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.slots: dict[int, int] = {}
        self.keep: list[Any] = []
        self.out: list[tuple[Any, ...]] = []
        self.size = 0
        self.params = [self.slot(p) for p in graph.params]

    def slot(self, tensor: Tensor) -> int:
        found = self.slots.get(id(tensor))
        if found is None:
            found = self.slots[id(tensor)] = self.size
            self.keep.append(tensor)
            self.size += 1
        return found

    def source(self, leaf: Any) -> Callable[[list[Any]], Any]:
        if isinstance(leaf, Tensor):
            i = self.slot(leaf)
            return lambda env: env[i]
        return lambda env: leaf

    def getter(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function env -> (args, kwargs), fast where the arguments are plain."""
        if not kwargs and all(isinstance(a, Tensor) or not _has_tensor(a) for a in args):
            if all(isinstance(a, Tensor) for a in args):
                slots = [self.slot(a) for a in args]
                return lambda env: ([env[i] for i in slots], {})
            parts = [self.source(a) for a in args]
            return lambda env: ([p(env) for p in parts], {})
        tree = map_tree(
            lambda leaf: _Slot(self.slot(leaf)) if isinstance(leaf, Tensor) else leaf, (args, kwargs)
        )

        def get(env: list[Any]) -> Any:
            return map_tree(lambda leaf: env[leaf.index] if type(leaf) is _Slot else leaf, tree)

        return get

    def emit(self, *instruction: Any) -> int:
        self.out.append(instruction)
        return len(self.out) - 1

    def patch(self, at: int, position: int) -> None:
        instruction = list(self.out[at])
        instruction[position] = len(self.out)
        self.out[at] = tuple(instruction)

    def region(self, region: Region, targets: list[int] | None = None) -> bool:
        """The body, then its results into `targets`; False if it never gets to its end."""
        for operation in region.ops:
            self.operation(operation)
        if region.results is None:
            self.emit(UNREACHABLE, region.ops[-1] if region.ops else None)
            return False
        if targets is not None:
            self.move(region.results, targets)
        return True

    def move(self, values: tuple[Any, ...], targets: list[int]) -> None:
        if values:
            self.emit(MOVE, [self.source(v) for v in values], targets)

    def operation(self, operation: Operation) -> None:
        if operation.name == "cond":
            self.cond(operation)
        elif operation.name == "while_loop":
            self.while_loop(operation)
        elif operation.name == "try":
            self.try_(operation)
        elif operation.name == "call":
            outs = [self.slot(t) for t in operation.outputs]
            self.emit(CALL, operation.callee, [self.source(a) for a in operation.args], outs, operation.place)
        else:
            out = self.slot(operation.outputs[0]) if operation.outputs else None
            expected = operation.outputs[0]._ag_type if operation.outputs else None
            getter = self.getter(operation.args, operation.kwargs)
            check = expected is not None and any(
                isinstance(m, Py) and m.cls is int for m in members(expected)
            )
            reads = self.graph.host and any(
                isinstance(m, (Ref, Host, IterT)) for t in operation.inputs for m in members(t._ag_type)
            )
            reads = reads or (self.graph.host and operation.name == "load")
            self.emit(OP, _kernel(operation), getter, out, check, operation, expected, reads)

    def cond(self, operation: Operation) -> None:
        then, orelse = operation.regions
        outs = [self.slot(t) for t in operation.outputs]
        test = self.emit(JUMP_IF_FALSE, self.source(operation.args[0]), None)
        self.region(then, outs)
        end = self.emit(JUMP, None)
        self.patch(test, 2)
        self.region(orelse, outs)
        self.patch(end, 1)

    def while_loop(self, operation: Operation) -> None:
        head, turn = operation.regions
        heads = [self.slot(p) for p in head.params]
        self.move(operation.args, heads)
        start = len(self.out)
        flag = self.size
        self.size += 1
        middle = [self.slot(p) for p in turn.params]
        if not self.region(head, [flag, *middle]):
            return
        test = self.emit(JUMP_IF_FALSE, lambda env: env[flag], None)
        if self.region(turn, heads):
            self.emit(JUMP, start)
        self.patch(test, 2)
        self.move(tuple(turn.params), [self.slot(t) for t in operation.outputs])

    def try_(self, operation: Operation) -> None:
        regions = list(operation.regions)
        options = operation.kwargs
        body = regions.pop(0)
        final = regions.pop() if options["has_finally"] else None
        orelse = regions.pop() if options["has_else"] else None
        error = self.size
        self.size += 1
        outer = self.emit(PUSH, None, error) if final is not None else None
        inner = self.emit(PUSH, None, error) if regions else None
        self.region(body)
        if inner is not None:
            self.emit(POP)
        if orelse is not None:
            self.region(orelse)
        ends = [self.emit(JUMP, None)]
        if inner is not None:
            self.patch(inner, 1)
            for classes, handler in zip(options["handlers"], regions):
                test = self.emit(MATCH, classes, error, self.slot(handler.params[0]), None)
                self.emit(HANDLE, error)
                self.region(handler)
                self.emit(HANDLED)
                ends.append(self.emit(JUMP, None))
                self.patch(test, 4)
            self.emit(THROW, error)
        for end in ends:
            self.patch(end, 1)
        if outer is not None:
            assert final is not None
            self.emit(POP)
            self.region(final)
            end = self.emit(JUMP, None)
            self.patch(outer, 1)
            self.emit(HANDLE, error)
            self.region(final)
            self.emit(HANDLED)
            self.emit(THROW, error)
            self.patch(end, 1)

    def code(self) -> Code:
        if self.region(self.graph.body):
            results = self.graph.body.results or ()
            self.emit(RETURN, [self.source(r) for r in results])
        return Code(self.graph.name, self.out, self.size, self.params)


def _kernel(operation: Operation) -> Callable[..., Any]:
    """The function that computes an operation; not for long where the result is sure to be refused."""
    kernel, wide = operation.op.kernel, operation.op.wide
    if wide is None:
        return kernel  # type: ignore[no-any-return]

    def bounded(*args: Any, **kwargs: Any) -> Any:
        if wide(*args, **kwargs):
            raise _overflow(operation)
        return kernel(*args, **kwargs)

    return bounded


class _Slot:
    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def _has_tensor(tree: Any) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in leaves(tree))


def code_of(graph: Graph) -> Code:
    if graph.code is None:
        graph.code = _Lowering(graph).code()
        if os.environ.get("AUTOGRAPH_DEBUG", "0") >= "3":
            print(graph.code.listing(), file=sys.stderr)
    code: Code = graph.code
    return code


class _Frame:
    __slots__ = ("code", "env", "handlers", "handling", "outs", "pc", "place")

    def __init__(self, code: Code, outs: list[int] | None, place: Place | None) -> None:
        self.code = code
        self.env: list[Any] = [None] * code.size
        self.pc = 0
        self.handlers: list[tuple[int, int, int]] = []
        self.handling: list[BaseException] = []
        self.outs = outs
        self.place = place


def run(graph: Graph, arguments: list[Any]) -> tuple[Any, ...]:
    """Runs a graph on the values of its parameters; gives the leaves of its result.

    An exception leaves with the user's own lines in its traceback.
    """
    checking = os.environ.get("AUTOGRAPH_CHECK") == "1"
    frame = _Frame(code_of(graph), None, None)
    for slot, value in zip(frame.code.params, arguments):
        frame.env[slot] = value
    stack: list[_Frame] = []
    while True:
        try:
            code, env = frame.code.instructions, frame.env
            pc = frame.pc
            while True:
                instruction = code[pc]
                kind = instruction[0]
                pc += 1
                if kind == OP:
                    args, kwargs = instruction[2](env)
                    value = instruction[1](*args, **kwargs)
                    if instruction[4] and type(value) is int and not -(2**63) <= value < 2**63:
                        raise _overflow(instruction[5])
                    if checking or instruction[7]:
                        _check(value, instruction)
                    if instruction[3] is not None:
                        env[instruction[3]] = value
                elif kind == MOVE:
                    values = [source(env) for source in instruction[1]]
                    for slot, value in zip(instruction[2], values):
                        env[slot] = value
                elif kind == JUMP:
                    pc = instruction[1]
                elif kind == JUMP_IF_FALSE:
                    if not instruction[1](env):
                        pc = instruction[2]
                elif kind == CALL:
                    if len(stack) >= MAX_DEPTH:
                        raise RecursionError("maximum recursion depth exceeded")
                    inner = _Frame(code_of(instruction[1]), instruction[3], instruction[4])
                    for slot, source in zip(inner.code.params, instruction[2]):
                        inner.env[slot] = source(env)
                    frame.pc = pc
                    stack.append(frame)
                    frame = inner
                    code, env, pc = frame.code.instructions, frame.env, 0
                elif kind == RETURN:
                    results = [source(env) for source in instruction[1]]
                    if not stack:
                        return tuple(results)
                    outs = frame.outs or []
                    frame = stack.pop()
                    code, env, pc = frame.code.instructions, frame.env, frame.pc
                    for slot, value in zip(outs, results):
                        env[slot] = value
                elif kind == PUSH:
                    frame.handlers.append((instruction[1], instruction[2], len(frame.handling)))
                elif kind == POP:
                    frame.handlers.pop()
                elif kind == MATCH:
                    error = env[instruction[2]]
                    if isinstance(error, StagingError) or not isinstance(error, instruction[1]):
                        pc = instruction[4]
                    else:
                        env[instruction[3]] = error
                elif kind == HANDLE:
                    frame.handling.append(env[instruction[1]])
                elif kind == HANDLED:
                    frame.handling.pop()
                elif kind == THROW:
                    raise env[instruction[1]]
                else:
                    last = instruction[1]
                    raise StagingError(
                        "internal error of autograph: an operation that was thought to raise did not: "
                        f"{'' if last is None else last.name} "
                        f"{[] if last is None else [t._ag_type for t in last.inputs]}",
                        why="This is a bug of the library, not of the function.",
                    )
        except BaseException as error:
            instruction = code[pc - 1]
            places = [_place(instruction)]
            _set_context(error, instruction, frame, stack)
            while not frame.handlers:
                places.append(frame.place)
                if not stack:
                    raise with_user_traceback(error, places, instruction)  # noqa: B904 - the same exception
                frame = stack.pop()
            with_user_traceback(error, places, instruction)
            frame.pc, slot, handling = frame.handlers.pop()
            del frame.handling[handling:]
            frame.env[slot] = error


def _operation(instruction: tuple[Any, ...]) -> str:
    return instruction[5].name if instruction[0] == OP else ""


def _place(instruction: tuple[Any, ...]) -> Place | None:
    """Where an instruction raised; what passes on, or comes from a bare `raise`, already has its place."""
    if instruction[0] == OP:
        return None if _operation(instruction) == "reraise" else instruction[5].place
    return instruction[4] if instruction[0] == CALL else None


def _set_context(
    error: BaseException, instruction: tuple[Any, ...], frame: _Frame, stack: list[_Frame]
) -> None:
    """`__context__`: the exception that was being handled when this one was raised."""
    if instruction[0] == THROW or _operation(instruction) == "reraise":
        return
    handled = next((f.handling[-1] for f in (frame, *reversed(stack)) if f.handling), None)
    if handled is None or handled is error:
        return
    seen = handled
    while seen.__context__ is not None and seen.__context__ is not handled:
        if seen.__context__ is error:
            seen.__context__ = None
            break
        seen = seen.__context__
    error.__context__ = handled


def _overflow(operation: Operation) -> IntegerOverflow:
    return IntegerOverflow(
        f"the result of '{operation.name}' does not fit in 64 bits",
        why="Python integers are 64 bits wide in a graph.",
        instead="Use floats, or NumPy integers, which wrap as in NumPy; or run the function in eager mode.",
        location=None if operation.place is None else operation.place.location(),
    )


def _check(value: Any, instruction: tuple[Any, ...]) -> None:
    expected = instruction[6]
    if expected is not None and not conforms(value, expected):
        if instruction[7]:
            raise StagingError(
                f"'{instruction[5].name}' finds {type(value).__name__} {value!r:.80}, "
                f"but {expected!r} was foretold",
                why="Code that runs on the host while the graph runs has changed a list, dict, object or "
                "variable that the graph reads.",
                instead="Let the graph make the change, or pass what changes to the next call.",
                location=None if instruction[5].place is None else instruction[5].place.location(),
            )
        raise StagingError(
            f"internal error of autograph: '{instruction[5].name}' gave {type(value).__name__} "
            f"{value!r:.80}, "
            f"but {expected!r} was foretold",
            location=None if instruction[5].place is None else instruction[5].place.location(),
        )


_HOST_FRAMES = frozenset({"host_call", "raise", "reraise"})


def with_user_traceback(
    error: BaseException, places: list[Place | None], instruction: tuple[Any, ...]
) -> BaseException:
    """The exception with a traceback made of the user's own lines, innermost last.

    What it already had is kept: the first place of one that is raised again, and the frames of the host's
    code.
    """
    host = instruction[0] == THROW or _operation(instruction) in _HOST_FRAMES
    inner = without_library(error.__traceback__, only_made=not host)
    spots = [spot for place in places if place is not None for spot in place.spots()]
    return error.with_traceback(at_spots(spots, inner))
