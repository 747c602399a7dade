"""Converted functions on disk: what one process has converted, the next ones only load.

A file's name is a hash of all that the conversion of a function depends on: its code and the text that this
was compiled from, Python, and the files of the converters. Beside the code made of it stand the outside names
that it refers to, as the code depends on which of them are functions, classes and modules.
"""

from __future__ import annotations

import functools
import marshal
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import gast

from autograph.compiler import cache
from autograph.core.generated import is_part, note_generated
from autograph.core.parser import text_of

_FILES = ("converters", "core", "conversion.py", "kept.py")


class Record:
    """What is known of a function: its outside names, and the code made of it for each kind of them."""

    def __init__(self, name: str | None, names: list[str], made: dict[str, Any] | None = None) -> None:
        self.name, self.names, self.made = name, names, made or {}

    def code(self, kind: str) -> types.CodeType | None:
        """The code that was made, noted as converted; None where there is none."""
        if kind not in self.made:
            return None
        code, parts = self.made[kind]
        for each, part in zip(_codes(code), parts):
            note_generated(each, part)
        return code  # type: ignore[no-any-return]

    def add(self, kind: str, code: types.CodeType) -> None:
        """Keeps code that was made."""
        self.made[kind] = code, [is_part(each) for each in _codes(code)]
        if self.name is not None:
            cache.store(self.name, marshal.dumps((self.names, self.made)))


def name_of(fn: types.FunctionType, shadowed: frozenset[str]) -> str | None:
    """The name of a function's record; None where nothing is kept."""
    text, converters = text_of(fn), _converters()
    if text is None or not converters or cache.directory() is None:
        return None
    try:
        code = marshal.dumps(fn.__code__, 2).decode("latin-1")  # version 2: equal for equal code
    except ValueError:  # of code that was made by hand, with constants of any kind
        return None
    around = repr((sys.version, sys.flags.optimize, fn.__name__, fn.__qualname__, sorted(shadowed)))
    return cache.key("conversion", converters, around, text, code)


def load(name: str | None) -> Record | None:
    """The record of a name, if there is one."""
    found = None if name is None else cache.load(name)
    return None if found is None else Record(name, *marshal.loads(found))


@functools.cache
def _converters() -> str:
    """The state of the files that conversions depend on; nothing where it cannot be told."""
    here = os.path.dirname(__file__)
    paths = [gast.__file__, *(os.path.join(here, name) for name in _FILES)]
    try:
        for folder in [path for path in paths if not path.endswith(".py")]:
            with os.scandir(folder) as entries:
                paths += [entry.path for entry in entries if entry.name.endswith(".py")]
        states = [(path, os.stat(path)) for path in sorted(paths)]
    except OSError:
        return ""
    return repr([(path, state.st_mtime_ns, state.st_size) for path, state in states])


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those in it, always in the same order."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


__all__ = ["Record", "load", "name_of"]
