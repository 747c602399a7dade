"""What a graph has become, in words: its loops, what they compute, where values live, what is called back."""

from __future__ import annotations

import collections
from typing import Any

from autograph.graph.graph import Operation
from autograph.records import record_class


@record_class(frozen=True)
class Note:
    """One line: something that the code of a graph's function does, inside so many loops."""

    graph: str
    depth: int
    line: int | None
    text: str


WIDTH = 80
"""Where the numbers of the user's lines stand."""


def render(notes: list[Note]) -> str:
    """The notes as text, each with the line of the user's code.

    >>> print(render([Note("f", 0, 4, "loop"), Note("f", 1, 5, "calls back math.gamma")]))
    graph f
      loop                                                                          # L4
        calls back math.gamma                                                       # L5
    """
    lines: list[str] = []
    graph = None
    for note in notes:
        if note.graph != graph:
            graph = note.graph
            lines.append(f"graph {graph}")
        text = "  " * (note.depth + 1) + note.text
        lines.append(text if note.line is None else f"{text:<{WIDTH - 1}} # L{note.line}")
    return "\n".join(lines)


def functions(names: list[str]) -> str:
    """The functions that one loop nest computes, in their order; many of them are counted.

    >>> functions(["multiply", "add"])
    'multiply, add'
    >>> functions(["multiply", "tanh"] * 10)
    '20 functions: 10 multiply, 10 tanh'
    """
    if len(names) <= 8:
        return ", ".join(names)
    counts = collections.Counter(names)
    return f"{len(names)} functions: " + ", ".join(f"{n} {name}" for name, n in counts.items())


def shape(dims: Any) -> str:
    """Dimensions as they are printed in a type; `?` for one that is known only when the graph runs.

    >>> shape((3, "%dim1"))
    '[3, ?]'
    """
    return "[" + ", ".join(str(d) if isinstance(d, int) else "?" for d in dims) + "]"


def called_back(operation: Operation) -> str:
    """An operation without machine code of its own, with its place."""
    return f"{_where(operation)}calls back: {operation.name}"


def shared(loop: Operation) -> str:
    """A loop of the user's on several threads, with its place."""
    return f"{_where(loop)}loop: threads share its turns"


def _where(operation: Operation) -> str:
    place = operation.place
    return "" if place is None else f"{place.code.co_filename}:{place.line}: "


def timing(times: dict[str, float]) -> str:
    """How long each step of a compilation took.

    >>> timing({"lower": 0.001, "load": 0.0002, "link": 0.0005})
    'native: 1.7 ms, found on disk (lower 1.0, load 0.2, link 0.5)'
    """
    total = 1000 * sum(times.values())
    source = "found on disk" if "load" in times else "compiled"
    steps = ", ".join(f"{name} {1000 * seconds:.1f}" for name, seconds in times.items())
    return f"native: {total:.1f} ms, {source} ({steps})"
