"""Knows which code objects are converted code: a trace asks it about each frame that it meets."""

from __future__ import annotations

import types
import weakref

__all__ = ["is_generated", "is_part", "note_generated"]

# By identity: code objects compare by content, and a user's function may have the same content.
_generated: dict[int, weakref.ref[types.CodeType]] = {}
_parts: dict[int, weakref.ref[types.CodeType]] = {}


def note_generated(code: types.CodeType, part: bool) -> None:
    """Notes converted code until it is gone, whether it is a part of the user's function around it."""
    key = id(code)
    _generated[key] = weakref.ref(code, lambda _: _generated.pop(key, None))
    if part:
        _parts[key] = weakref.ref(code, lambda _: _parts.pop(key, None))


def is_generated(code: types.CodeType) -> bool:
    """True for the code of a converted function, and of the functions nested in it.

    >>> is_generated(is_generated.__code__)
    False
    """
    reference = _generated.get(id(code))
    return reference is not None and reference() is code


def is_part(code: types.CodeType) -> bool:
    """True for converted code that is a part of the user's function around it, such as the body of a loop."""
    reference = _parts.get(id(code))
    return reference is not None and reference() is code
