"""The mode in which decorated functions run: as graphs, eagerly, or eagerly op by op."""

from __future__ import annotations

import contextlib
import contextvars
import os
from collections.abc import Iterator

from autograph.errors import StagingError

MODES = ("graph", "eager", "ops")

_mode: contextvars.ContextVar[str | None] = contextvars.ContextVar("autograph_mode", default=None)
_default: str | None = None


def get_mode() -> str:
    """The mode in force: "graph", "eager" or "ops" (eager, op by op).

    >>> with eager():
    ...     get_mode()
    'eager'
    """
    mode = _mode.get()
    if mode is not None:
        return mode
    if _default is not None:
        return _default
    mode = os.environ.get("AUTOGRAPH_MODE", "") or "graph"
    if mode not in MODES:
        raise StagingError(
            f"AUTOGRAPH_MODE is {mode!r}",
            why="It names the mode of all decorated functions.",
            instead="Use graph, eager or ops.",
        )
    return mode


def set_mode(mode: str) -> None:
    """Sets the mode of the whole process: "graph", "eager" or "ops".

    Raises ValueError for another name.

    >>> set_mode("eager"); get_mode()
    'eager'
    >>> set_mode("graph")
    """
    global _default
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, not {mode!r}")
    _default = mode


@contextlib.contextmanager
def _within(mode: str) -> Iterator[None]:
    token = _mode.set(mode)
    try:
        yield
    finally:
        _mode.reset(token)


def eager(*, ops: bool = False) -> contextlib.AbstractContextManager[None]:
    """A context in which decorated functions run eagerly: the original code, where breakpoints are hit.

    With `ops=True` the converted code runs instead, and each op is executed at once by its NumPy kernel.

    >>> with eager(ops=True):
    ...     get_mode()
    'ops'
    """
    return _within("ops" if ops else "eager")


def graph() -> contextlib.AbstractContextManager[None]:
    """A context in which decorated functions run as graphs.

    >>> with graph():
    ...     get_mode()
    'graph'
    """
    return _within("graph")
