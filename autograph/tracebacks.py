"""Tracebacks that show the user's own lines, and none of the library's."""

from __future__ import annotations

import ast
import functools
import os
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from autograph.errors import Location

__all__ = ["Spot", "at_spots", "spot_of", "without_library"]

MAX_FRAMES = 1000
"""Of a deeper chain of calls the two ends are shown: what Python's own limit of recursion would leave."""

_LIBRARY = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NAMESPACE: dict[str, Any] = {}  # the globals of all frames made here, by which they are known again


class Spot(NamedTuple):
    """A place in the user's source as a traceback shows it; columns count UTF-8 bytes, -1 is unknown."""

    filename: str
    function: str
    line: int
    end_line: int
    column: int = -1
    end_column: int = -1


def spot_of(location: Location) -> Spot:
    """The spot for a location of an error message."""
    if location.column is None or location.end_column is None:
        return Spot(location.filename, location.function, location.line, location.line)
    text = location.source_line()
    start, end = (len(text[:c].encode()) for c in (location.column, location.end_column))
    return Spot(location.filename, location.function, location.line, location.line, start, end)


def at_spots(spots: Iterable[Spot], inner: types.TracebackType | None = None) -> types.TracebackType | None:
    """A traceback of the given spots, the innermost first, around another one."""
    spots = list(spots)
    if len(spots) > MAX_FRAMES:
        spots = spots[: MAX_FRAMES // 2] + spots[-MAX_FRAMES // 2 :]
    traceback = inner
    for spot in spots:
        code, lasti = _code_at(spot)
        # The frame of a generator that has not begun refers to no frame below it: it keeps nothing alive.
        frame = types.FunctionType(code, _NAMESPACE)().gi_frame
        traceback = types.TracebackType(traceback, frame, lasti, spot.line)
    return traceback


@functools.lru_cache(maxsize=4096)
def _code_at(spot: Spot) -> tuple[types.CodeType, int]:
    """Code that stands at a spot of the user's file, and the offset of an instruction there."""
    tree = ast.parse("def f(): yield")
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            node.lineno, node.end_lineno = spot.line, spot.end_line  # type: ignore[attr-defined]
            node.col_offset, node.end_col_offset = spot.column, spot.end_column  # type: ignore[attr-defined]
    module = compile(tree, spot.filename, "exec", dont_inherit=True)
    code = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    names = {"co_name": spot.function}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = spot.function
    code = code.replace(**names)  # type: ignore[arg-type]
    index = 0
    if hasattr(code, "co_positions"):
        wanted = (spot.line, spot.end_line, *(c if c >= 0 else None for c in (spot.column, spot.end_column)))
        index = next((i for i, p in enumerate(code.co_positions()) if p == wanted), 0)
    return code, 2 * index


def without_library(
    traceback: types.TracebackType | None,
    continues: Callable[[types.CodeType], bool] = lambda code: False,
    only_made: bool = False,
) -> types.TracebackType | None:
    """The entries of a traceback that are not the library's.

    `continues(code)`: the code is a part of the function whose entry stands before it, and takes its place.
    `only_made`: only entries that `at_spots` made.
    """
    kept: list[types.TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if traceback.tb_frame.f_globals is _NAMESPACE:
            kept.append(traceback)
        elif not only_made and not code.co_filename.startswith(_LIBRARY):
            if kept and continues(code):
                kept.pop()
            kept.append(traceback)
        traceback = traceback.tb_next
    result: types.TracebackType | None = None
    for entry in reversed(kept):
        result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result
