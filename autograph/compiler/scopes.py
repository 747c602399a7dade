"""Tells LLVM which arrays share no memory: metadata of the loads and stores of elements.

A scope stands for the arrays of one root (`lowering.Roots`). A load is in the scope of its array, and says
with which scopes it has nothing to do; so a store to another array does not make LLVM load again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FIRST = 100
"""The number of the first metadata; those below are written elsewhere."""


class Scopes:
    """The scopes of one compilation."""

    def __init__(self, may_alias: Callable[[Any, Any], bool]) -> None:
        self.may_alias = may_alias
        self.roots: dict[int, int] = {}  # the number of the first of three metadata of each root

    def note(self, root: Any) -> str:
        """The metadata of a load or store of an element."""
        if not isinstance(root, int):
            return ""
        at = self.roots.setdefault(root, FIRST + 1 + 3 * len(self.roots))
        return f", !alias.scope !{at + 1}, !noalias !{at + 2}"

    def text(self) -> str:
        """The definitions of the metadata."""
        lines = [f'!{FIRST} = distinct !{{!{FIRST}, !"arrays"}}'] if self.roots else []
        for root, at in self.roots.items():
            others = [o for r, o in self.roots.items() if r != root and not self.may_alias(r, root)]
            apart = ", ".join(f"!{o}" for o in others)
            lines.append(f"!{at} = distinct !{{!{at}, !{FIRST}}}")
            lines.append(f"!{at + 1} = !{{!{at}}}\n!{at + 2} = !{{{apart}}}")
        return "\n".join(lines)
