"""Large loops, cut in pieces for several threads: their body becomes a function of its own.

What the body uses of the function around it goes through a structure in memory. A body that touches Python,
or leaves to a block outside, stays where it is; so do loops that are known to be small.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from autograph.compiler import support, threads
from autograph.compiler.ir import Builder, Dominators, Phi
from autograph.compiler.lowering import FunctionLowering

BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "float": 4, "i64": 8, "double": 8, "ptr": 8}
LAST_AXIS = 64
"""Pieces of an axis that is read in vectors are multiples of this, so that the vectors are the same ones."""
EACH = 3
"""What reading and writing one element costs besides the mathematics."""

_NAME = re.compile(r"%([A-Za-z_][\w.]*)")
_FUNCTION = re.compile(r"@([\w.]+)")
_INSIDE = "p."
"""What all names begin with that are made inside of such a body, and no others."""
_FLAGS = "(?:(?:nuw|nsw|exact|disjoint|nneg|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*"
_TYPED = re.compile(rf"\w+ {_FLAGS}(<[^>]*>|\w+)")
_CALLED = re.compile(rf"call {_FLAGS}(<[^>]*>|\w+) @")
_CAST = re.compile(r"(?:[sz]ext|[su]itofp|fpto[su]i|fp(?:trunc|ext)|trunc|bitcast|ptrtoint|inttoptr) ")
_PYTHON = ("Py", "_Py", "ag_array_", "ag_blas_", *support.NAMES)
_FRAME = frozenset(("slots", "argv", "cells", "poll"))


def is_large(count: Any, cost: Any, worth: int = threads.WORTH) -> bool:
    """Whether a loop may have enough work for several threads."""
    return not (isinstance(count, int) and isinstance(cost, int) and count * cost < worth)


def split(
    f: FunctionLowering,
    count: Any,
    cost: Any,
    body: Callable[[Any, Any], None],
    unit: int = 1,
    worth: int = threads.WORTH,
) -> None:
    """Runs body(begin, end) for all of range(count): in pieces on several threads, if that is worth it.

    `cost` is that of one item, in eighths of a nanosecond; pieces are multiples of `unit` items. Less
    work than `worth` is never cut.
    """
    b = f.b
    if b.outlining or not is_large(count, cost, worth):
        body(0, count)
        return
    notes = len(f.compilation.notes)
    found = outlined(f, body)
    if found is None:
        del f.compilation.notes[notes:]
        body(0, count)
        return
    name, captured = found
    given = structure(f, captured)
    numbers = (f"i64 {n}" for n in (count, unit, cost))
    ended = b.call("i1", "ag_parallel", f"ptr @{name}", f"ptr {given}", *numbers)
    raised, on = b.label("signal"), b.label("done")
    b.branch(ended, raised, on, unlikely="then")
    b.start(raised)
    f.fail(-1 if f.current is None else f.compilation.sites.number(f.current))
    b.start(on)


@contextlib.contextmanager
def unlocked(f: FunctionLowering, work: Any) -> Iterator[None]:
    """Around code that touches nothing of Python: other threads may run, if the work is large."""
    if f.b.outlining or not is_large(work, 1):
        yield
        return
    state = f.b.call("ptr", "ag_unlock", f"i64 {work}")
    yield
    f.b.call("void", "ag_lock", f"ptr {state}")


@contextlib.contextmanager
def held(f: FunctionLowering) -> Iterator[None]:
    """Around code that reads what other threads of Python could change meanwhile: the GIL is not released."""
    before, f.b.outlining = f.b.outlining, True
    yield
    f.b.outlining = before


def structure(f: FunctionLowering, captured: list[tuple[str, str]]) -> str:
    """The address of a structure with what a body uses of the function around it."""
    b = f.b
    given = b.alloca(f"[{max(len(captured), 1)} x i64]", 8) if captured else "null"
    size, places = _layout(captured)
    if captured:
        b.allocas[-1] = f"  {given} = alloca [{size} x i8], align 16"
    for (value, kind), place in zip(captured, places):
        b.emit(f"store {kind} {value}, ptr {f.at(given, place)}, align 1")
    return given


def _layout(captured: list[tuple[str, str]]) -> tuple[int, list[int]]:
    """How large the structure is, and where each value lies."""
    places, size = [], 0
    for _, kind in captured:
        places.append(size)
        size += (_bytes(kind) + 7) // 8 * 8
    return size, places


def _bytes(kind: str) -> int:
    if kind.startswith("<"):
        count, inner = kind[1:-1].split(" x ")
        return int(count) * BYTES[inner]
    return BYTES[kind]


def outlined(
    f: FunctionLowering, body: Callable[[Any, Any], None]
) -> tuple[str, list[tuple[str, str]]] | None:
    """The name of a function (captured, begin, end) that does what `body` emits, and what it captures."""
    b = f.b
    saved = b.blocks, b.allocas, b.block, b.counter, b.dominators, b.known, b.true
    b.blocks, b.allocas, b.counter, b.outlining, b.prefix = {}, [], 0, True, _INSIDE
    b.dominators, b.known, b.true = Dominators(), {}, {}
    first = b.label("part")
    try:
        b.start(first)
        f.evaluated.clear()
        body("%begin", "%end")
        b.emit("ret void")
        lines = [*b.allocas, f"  br label %{first}", *_reached(b)]
    finally:
        b.blocks, b.allocas, b.block, b.counter, b.dominators, b.known, b.true = saved
        b.outlining, b.prefix = False, ""
        f.evaluated.clear()
    text = "\n".join(lines)
    if any(_is_outside(name) for name in set(_FUNCTION.findall(text))):
        return None
    return _function(b, text)


def _reached(b: Builder) -> list[str]:
    """The lines of the blocks, but for those that are never run."""
    lines: list[str] = []
    never = b.dominators.dead
    for label, block in b.blocks.items():
        if label in never:
            continue
        lines.append(f"{label}:")
        for item in block:
            if isinstance(item, Phi):
                item.incoming = [pair for pair in item.incoming if pair[1] not in never]
            lines.append(item if isinstance(item, str) else item.text())
    return lines


def _is_outside(name: str) -> bool:
    if name == "ag_stop":
        return False
    return name.startswith(_PYTHON) or (name[:1] == "g" and name[1:].isdecimal())


def _function(b: Builder, text: str) -> tuple[str, list[tuple[str, str]]] | None:
    captured = []
    for name in dict.fromkeys(_NAME.findall(text)):
        if not name.startswith(_INSIDE) and name not in ("begin", "end"):
            kind = None if name in _FRAME else type_of(b, "%" + name)
            if kind is None or (kind not in BYTES and not kind.startswith("<")):
                return None
            captured.append(("%" + name, kind))
    numbers = {name[1:]: f"%given{i}" for i, (name, _) in enumerate(captured)}
    if numbers:  # equal loops get equal texts
        text = _NAME.sub(lambda match: numbers.get(match[1], match[0]), text)
    _, places = _layout(captured)
    loads = []
    for i, ((_, kind), place) in enumerate(zip(captured, places)):
        loads.append(f"  %place{i} = getelementptr i8, ptr %given, i64 {place}")
        loads.append(f"  %given{i} = load {kind}, ptr %place{i}, align 1")
    return _named(b, "\n".join(["entry:", *loads, text])), captured


def _named(b: Builder, body: str) -> str:
    """The name of the function with this body: one for all that are equal."""
    module = b.module
    if body not in module.parts:
        name = f"ag_part{len(module.parts)}"
        module.parts[body] = name
        head = f"define internal void @{name}(ptr %given, i64 %begin, i64 %end) nounwind"
        module.functions[name] = f"{head} {{\n{body}\n}}"
    return module.parts[body]


def type_of(b: Builder, name: str) -> str | None:
    """The type of a value, by the instruction that makes it; None where that does not tell.

    >>> from autograph.compiler.ir import Builder, Module
    >>> b = Builder(Module())
    >>> type_of(b, b.value("fadd <8 x double> %x, %y"))
    '<8 x double>'
    """
    origin = b.origins.get(name)
    if isinstance(origin, Phi):
        return origin.type
    if origin is None:
        return "ptr" if name == "%ctx" else None
    word = origin.split(" ", 1)[0]
    if word in ("alloca", "getelementptr"):
        return "ptr"
    if _CAST.match(origin):
        return origin.split(", !", 1)[0].rsplit(" to ", 1)[1]
    if word in ("icmp", "fcmp"):
        vector = re.match(r"<(\d+) x ", origin.split(" ", 2)[2])
        return f"<{vector[1]} x i1>" if vector else "i1"
    if word == "call":
        called = _CALLED.match(origin)
        return called[1] if called else None
    if word == "select":
        chosen = re.match(r"select (?:<[^>]*>|\w+) [^,]*, (<[^>]*>|\w+) ", origin)
        return chosen[1] if chosen else None
    if word == "extractelement":
        return origin.split(" x ", 1)[1].split(">", 1)[0]
    if word == "extractvalue":
        fields, _, rest = origin[origin.index("{") + 1 :].partition("}")
        return fields.split(",")[int(rest.rsplit(",", 1)[1])].strip()
    if word == "shufflevector":
        return f"<{origin.rsplit('<', 1)[1].split(' ')[0]} x {origin.split(' x ', 1)[1].split('>', 1)[0]}>"
    typed = _TYPED.match(origin)
    return typed[1] if typed else None
