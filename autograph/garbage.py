"""The collector of garbage looks less often while a function is traced and compiled.

Thousands of objects are made then that live on. At its usual pace the collector looks through them, and all
others, again and again: a fifth of the whole time, and nothing found.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_OBJECTS = 50_000
"""So many objects may be made between two looks."""

_lock = threading.Lock()
_active = 0
_usual = _ours = (0, 0, 0)


@contextlib.contextmanager
def rarely_collected() -> Iterator[None]:
    """Within, in any thread, garbage is looked for more rarely; what the program has set comes back after."""
    global _active, _usual, _ours
    with _lock:
        _active += 1
        if _active == 1:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < _OBJECTS:
                gc.set_threshold(_OBJECTS, *_usual[1:])
            _ours = gc.get_threshold()
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if _active == 0 and gc.get_threshold() == _ours:
                gc.set_threshold(*_usual)


__all__ = ["rarely_collected"]
