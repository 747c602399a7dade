"""The errors that the library itself raises; a user's own exceptions keep their own types."""

from __future__ import annotations

import linecache
from typing import Any

from autograph.records import record_class


@record_class(frozen=True)
class Location:
    """A place in the user's source: file, line (1-based), columns (0-based, in characters) and function name.

    >>> print(Location("model.py", 12, function="step"))
    model.py:12
    """

    filename: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str = "<unknown>"

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"

    def source_line(self) -> str:
        """The text of the line, without its line end; empty where no source can be found."""
        return linecache.getline(self.filename, self.line).rstrip("\r\n")

    def excerpt(self) -> str:
        """`file:line:  source` and, where the columns are known, a second line that underlines them."""
        text = self.source_line()
        stripped = text.lstrip()
        head = f"  {self.filename}:{self.line}:  "
        if not stripped:
            return head.rstrip()
        lines = [head + stripped]
        if self.column is not None and self.end_column is not None and self.end_column > self.column:
            indent = len(text) - len(stripped)
            start = max(self.column - indent, 0)
            width = min(self.end_column, len(text)) - max(self.column, indent)
            if width > 0:
                lines.append(" " * (len(head) + start) + "^" * width)
        return "\n".join(lines)


class StagingError(Exception):
    """Something met while tracing cannot be part of a graph.

    The message says what was met, where, why a graph cannot do it, and what to write instead. Failing code
    and its repair::

        level = sensor.read() * 2                                                        # StagingError
        level = ag.host_call(sensor.read, result=ag.spec("float64")) * 2       # the type is declared
    """

    def __init__(
        self, what: str, *, why: str = "", instead: str = "", location: Location | None = None
    ) -> None:
        self.what, self.why, self.instead, self.location = what, why, instead, location
        self.trail: tuple[Any, ...] = ()  # the places for the traceback, the innermost first
        self.inside = ""  # the way from a named value to the part that is meant: ".field[0]"
        super().__init__(what)

    def __str__(self) -> str:
        parts = [self.what]
        if self.location is not None:
            parts.append(self.location.excerpt())
        if self.why:
            parts.append(self.why)
        if self.instead:
            parts.append(self.instead)
        return "\n".join(parts)


class ConversionError(StagingError, SyntaxError):
    """A function cannot be converted: it uses a construct that has no staged meaning, or it has no source.

    Failing code and its repair::

        async def f(x): ...        # ConversionError: 'async def' has no meaning in a graph
        def f(x): ...              # a plain function
    """

    def __init__(
        self, what: str, *, why: str = "", instead: str = "", location: Location | None = None
    ) -> None:
        StagingError.__init__(self, what, why=why, instead=instead, location=location)

    __str__ = StagingError.__str__

    @property
    def msg(self) -> str:  # type: ignore[override]
        """The whole message: a traceback shows this of a SyntaxError."""
        return str(self)


class IntegerOverflow(StagingError, OverflowError):
    """A Python integer left the 64 bits that an integer has in a graph; it never wraps.

    Failing code and its repair::

        2 ** n                      # IntegerOverflow for n = 64
        2.0 ** n                    # a float reaches further; np.uint64 wraps as in NumPy
    """


class GraphSyntaxError(ValueError):
    """The text of a graph cannot be read; the message shows the line and column.

    Failing text and its repair::

        y: int = add(x, 1             # GraphSyntaxError: line 2: expected ',' or ')', found the end
        y: int = add(x, 1)
    """

    def __init__(self, what: str, number: int, line: str, column: int) -> None:
        self.number, self.column = number, column
        stripped = line.lstrip()
        caret = " " * (2 + max(0, column - (len(line) - len(stripped)))) + "^"
        super().__init__(f"line {number}: {what}\n  {stripped}\n{caret}")


class GraphError(AssertionError):
    """A graph breaks its own rules: a bug of the library, or of the pass that made the graph.

    The message names the rule and shows the graph, with the bad operation marked by `>`. Failing graph and
    its repair::

        y: float = add(n, 1)          # GraphError, if n: int: the op gives int, which float does not cover
        y: int = add(n, 1)
    """
