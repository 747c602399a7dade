"""Makes fresh names: readable ones that no name in the user's function can collide with."""

from __future__ import annotations

import builtins
import keyword
from typing import Any

import gast

from autograph.core.tree import walk

__all__ = ["Namer", "identifiers"]


class Namer:
    """Gives out names that are neither in the source of the function nor given out before.

    >>> namer = Namer({"if_body", "n"})
    >>> namer.fresh("if_body"), namer.fresh("if_body"), namer.fresh("item")
    ('if_body_1', 'if_body_2', 'item')
    """

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}
        self.given: dict[str, str] = {}  # by name: the stem

    def fresh(self, stem: str) -> str:
        """A name that starts with `stem` and was never seen; the first one is the stem itself."""
        count = self._counts.get(stem, 0)
        name = f"{stem}_{count}" if count else stem
        while name in self._taken or keyword.iskeyword(name) or hasattr(builtins, name):
            count += 1
            name = f"{stem}_{count}"
        self._counts[stem] = count + 1
        self._taken.add(name)
        self.given[name] = stem
        return name


def identifiers(tree: Any) -> set[str]:
    """Every name that occurs in a tree as a variable, parameter, function, class, import or declaration."""
    names: set[str] = {"ag__"}
    for node in walk(tree):
        if isinstance(node, gast.Name):
            names.add(node.id)
        elif isinstance(node, gast.expr):
            continue
        elif isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, gast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (gast.MatchAs, gast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, gast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names
