"""What every converter is given: the source, the names it may use, and the way to report an error."""

from __future__ import annotations

from typing import Any

import gast

from autograph.core.names import Namer
from autograph.core.parser import FunctionSource
from autograph.core.scopes import Scope, Variable
from autograph.errors import ConversionError
from autograph.records import field, record_class

__all__ = ["Context"]


@record_class
class Context:
    """One conversion.

    `static` names stay bare, `modules` (some of them) keep their attribute chains plain. `kinds` names
    the types of nodes in the code."""

    source: FunctionSource
    namer: Namer
    static: frozenset[str]
    external_cells: frozenset[str]
    modules: frozenset[str]
    shadowed: frozenset[str]
    slice_name: str = "slice"
    kinds: frozenset[str] = frozenset()
    externals: dict[str, Variable] = field(default_factory=dict)
    shared_names: dict[str, str] = field(default_factory=dict)

    def error(self, node: Any, what: str, why: str, instead: str) -> ConversionError:
        """An error about a construct of the user's code, with its place and source text."""
        return ConversionError(what, why=why, instead=instead, location=self.source.location(node))

    def shared_name(self, stem: str) -> str:
        """A name that all code of this conversion may use again, each in a function of its own."""
        if stem not in self.shared_names:
            self.shared_names[stem] = self.namer.fresh(stem)
        return self.shared_names[stem]

    def variable(self, stem: str, scope: Scope) -> Variable:
        """A new variable of a function, for the converter's own use."""
        variable = Variable(self.namer.fresh(stem), scope, 1_000_000 + len(scope.variables))
        scope.variables[variable.name] = variable
        return variable

    def name(self, variable: Variable, ctx: Any = None) -> Any:
        """A name node that means the variable."""
        node = gast.Name(variable.name, ctx or gast.Load(), None, None)
        node.variable = variable
        node.free = False
        return node
