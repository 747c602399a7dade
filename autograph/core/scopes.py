"""Resolves names: which variable each name in a function means, and which variables need a run-time cell.

The tree is expected after comprehensions became functions (with `comprehension` set on them): those run at
once, so what they read needs no cell. Notes left on the tree: `Name.variable`, `Name.free` (read from a
function nested in the owner), `FunctionDef.variable` and the like for statements that bind a name, and
`scope` on every function.
"""

from __future__ import annotations

import sys
from typing import Any

import gast

from autograph.core.tree import children

__all__ = ["Scope", "Variable", "resolve"]

# Comprehensions are functions of their own up to Python 3.11: the message for an unbound name shows it.
_COMPREHENSIONS_ARE_FUNCTIONS = sys.version_info < (3, 12)


class Variable:
    """A variable of one function, or a name from outside the converted function (`external`)."""

    def __init__(self, name: str, scope: Scope | None, index: int) -> None:
        self.name = name
        self.scope = scope
        self.index = index
        self.external = scope is None
        self.parameter = False
        self.bindings: list[tuple[int, bool]] = []  # (place in the walk, at the top level of the function)
        self.captured_at: int | None = None  # the first nested function that may read it later
        self.needs_cell = False  # for a reason of its own, whatever its bindings
        self.deleted = False
        self.written = False  # external names: stored or deleted by the converted function
        self.bound_by_statement = False  # by def, class or import: the statement itself binds a plain local
        self.box_name = name
        self.boxed = False

    def __repr__(self) -> str:
        return f"Variable({self.name!r})"

    def decide_boxed(self) -> None:
        """A variable lives in a cell if a function that runs later could see it change."""
        if self.external:
            return
        constant = (self.parameter and not self.bindings) or (
            not self.parameter
            and len(self.bindings) == 1
            and self.bindings[0][1]
            and not self.deleted
            and self.captured_at is not None
            and self.bindings[0][0] < self.captured_at
        )
        self.boxed = self.needs_cell or (self.captured_at is not None and not constant)


class Scope:
    """The names of one function, lambda or class body."""

    def __init__(self, node: Any, parent: Scope | None, place: int) -> None:
        self.node = node
        self.parent = parent
        self.place = place
        self.is_class = isinstance(node, gast.ClassDef)
        self.comprehension = bool(getattr(node, "comprehension", False))
        self.variables: dict[str, Variable] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.free_reads: set[Variable] = set()


def resolve(root: Any) -> dict[str, Variable]:
    """Notes on every name of the function `root` which variable it is; returns the names from outside."""
    resolver = _Resolver()
    resolver.function(root, None)
    resolver.link()
    return resolver.externals


class _Resolver:
    def __init__(self) -> None:
        self.externals: dict[str, Variable] = {}
        self.places = 0
        self.uses: list[tuple[Any, Scope, str, bool]] = []  # node, scope, kind of use, lazily evaluated
        self.all: list[Variable] = []

    def place(self) -> int:
        self.places += 1
        return self.places

    # --- first walk: scopes and bindings

    def function(self, node: Any, parent: Scope | None) -> None:
        scope = node.scope = Scope(node, parent, self.place())
        arguments = node.args
        for name in [
            *arguments.posonlyargs,
            *arguments.args,
            *([arguments.vararg] if arguments.vararg else []),
            *arguments.kwonlyargs,
            *([arguments.kwarg] if arguments.kwarg else []),
        ]:
            self.declare(scope, name.id).parameter = True
            self.uses.append((name, scope, "parameter", False))
        if isinstance(node, gast.Lambda):
            self.collect(node.body, scope)
            self.expression(node.body, scope, False)
            return
        for statement in node.body:
            self.collect(statement, scope)
        self.block(node.body, scope, True)

    def declare(self, scope: Scope, name: str) -> Variable:
        if name not in scope.variables:
            variable = Variable(name, scope, len(self.all))
            scope.variables[name] = variable
            self.all.append(variable)
        return scope.variables[name]

    def collect(self, node: Any, scope: Scope) -> None:
        """Declares what a statement binds in the scope, without entering nested scopes."""
        if isinstance(node, gast.Global):
            scope.globals.update(node.names)
        elif isinstance(node, gast.Nonlocal):
            scope.nonlocals.update(node.names)
        elif isinstance(node, gast.Name):
            if not isinstance(node.ctx, gast.Load):
                self.declare(scope, node.id)
        elif isinstance(node, (gast.Import, gast.ImportFrom)):
            for alias in node.names:
                self.declare(scope, (alias.asname or alias.name).split(".")[0])
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            self.declare(scope, node.name)
        if isinstance(node, (gast.FunctionDef, gast.Lambda)):
            for statement in node.body if isinstance(node, gast.FunctionDef) else []:
                # `:=` in a comprehension binds in the function around it.
                for name in statement.names if getattr(statement, "walrus", False) else []:
                    self.declare(scope, name)
            for child in [*getattr(node, "decorator_list", []), *node.args.defaults, *node.args.kw_defaults]:
                if child is not None:
                    self.collect(child, scope)
            return
        if isinstance(node, gast.ClassDef):
            for child in [*node.decorator_list, *node.bases, *node.keywords]:
                self.collect(child, scope)
            return
        if isinstance(node, gast.AnnAssign):
            for child in (node.target, node.value):
                if child is not None:
                    self.collect(child, scope)
            return
        for child in children(node):
            self.collect(child, scope)

    # --- second part of the walk: uses, in program order

    def block(self, statements: list[Any], scope: Scope, top: bool) -> None:
        for statement in statements:
            self.statement(statement, scope, top)

    def statement(self, node: Any, scope: Scope, top: bool) -> None:
        if isinstance(node, gast.FunctionDef):
            for decorator in node.decorator_list:
                self.expression(decorator, scope, False, top)
            self.defaults(node.args, scope, top)
            self.bind(node, scope, node.name, top)
            self.function(node, scope)
        elif isinstance(node, gast.ClassDef):
            for child in [*node.decorator_list, *node.bases, *node.keywords]:
                self.expression(child, scope, False, top)
            inner = node.scope = Scope(node, scope, self.place())
            for statement in node.body:
                self.collect(statement, inner)
            self.block(node.body, inner, True)
            self.bind(node, scope, node.name, top)
        elif isinstance(node, (gast.Import, gast.ImportFrom)):
            for alias in node.names:
                self.bind(alias, scope, (alias.asname or alias.name).split(".")[0], top)
        elif isinstance(node, (gast.Global, gast.Nonlocal)):
            pass
        elif isinstance(node, gast.AnnAssign):
            if scope.is_class:
                self.expression(node.annotation, scope, False)
            if node.value is not None:
                self.expression(node.value, scope, False, top)
            self.expression(node.target, scope, False, top and node.value is not None)
        elif isinstance(node, gast.Assign):
            self.expression(node.value, scope, False, top)
            for target in node.targets:
                self.expression(target, scope, False, top)
        elif isinstance(node, gast.AugAssign):
            self.expression(node.target, scope, False, top)
            self.expression(node.value, scope, False, top)
        elif isinstance(node, gast.Assert):
            self.expression(node.test, scope, False, top)
            if node.msg is not None:
                self.expression(node.msg, scope, True)
        elif isinstance(node, gast.ExceptHandler):
            if node.type is not None:
                self.expression(node.type, scope, True)
            if node.name is not None:
                self.expression(node.name, scope, False)
            self.block(node.body, scope, False)
        elif isinstance(node, gast.If):
            self.expression(node.test, scope, False, top)
            self.block(node.body, scope, False)
            self.block(node.orelse, scope, False)
        else:
            nested = isinstance(node, (gast.While, gast.For, gast.With, gast.Try))
            for child in children(node):
                if isinstance(child, (gast.stmt, gast.ExceptHandler)):
                    self.statement(child, scope, False)
                else:
                    self.expression(child, scope, False, top and not nested)

    def defaults(self, arguments: Any, scope: Scope, top: bool = False, lazy: bool = False) -> None:
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            if default is not None:
                self.expression(default, scope, lazy, top)

    def expression(self, node: Any, scope: Scope, lazy: bool, top: bool = False) -> None:
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load):
                self.uses.append((node, scope, "load", lazy))
            else:
                kind = "delete" if isinstance(node.ctx, gast.Del) else "store"
                self.bind(node, scope, node.id, top, kind, lazy)
        elif isinstance(node, gast.Lambda):
            self.defaults(node.args, scope, top, lazy)
            self.function(node, scope)
        elif isinstance(node, gast.NamedExpr):
            self.expression(node.value, scope, lazy, top)
            self.expression(node.target, scope, lazy, top)
        elif isinstance(node, gast.BoolOp):
            self.expression(node.values[0], scope, lazy, top)
            for value in node.values[1:]:
                self.expression(value, scope, True)
        elif isinstance(node, gast.IfExp):
            self.expression(node.test, scope, lazy, top)
            self.expression(node.body, scope, True)
            self.expression(node.orelse, scope, True)
        elif isinstance(node, gast.Compare) and len(node.ops) > 1:
            self.expression(node.left, scope, lazy, top)
            for value in node.comparators:
                self.expression(value, scope, True)
        else:
            for child in children(node):
                self.expression(child, scope, lazy, top)

    def bind(
        self, node: Any, scope: Scope, name: str, top: bool, kind: str = "store", lazy: bool = False
    ) -> None:
        self.uses.append((node, scope, kind, lazy))
        node.bound_name = name
        node.binding = (self.place(), top)

    # --- after the walk: link every use to its variable

    def link(self) -> None:
        for node, scope, kind, lazy in self.uses:
            name = node.id if isinstance(node, gast.Name) else node.bound_name
            variable = self.lookup(name, scope)
            node.variable = variable
            node.free = False
            if variable is None:
                continue
            if kind in ("store", "delete"):
                self.note_binding(variable, node, scope, kind, lazy)
            if not variable.external and variable.scope is not scope:
                self.note_capture(variable, node, scope, kind)
        for variable in self.all:
            variable.decide_boxed()

    def note_binding(self, variable: Variable, node: Any, scope: Scope, kind: str, lazy: bool) -> None:
        variable.written = True
        variable.bindings.append(node.binding)
        if kind == "delete":
            variable.deleted = True
        if not isinstance(node, gast.Name):
            variable.bound_by_statement = True
        if (lazy and not scope.is_class) or variable.scope is not scope:
            variable.needs_cell = True

    def note_capture(self, variable: Variable, node: Any, scope: Scope, kind: str) -> None:
        inner: Scope | None = scope
        later: Scope | None = None
        function: Scope | None = None
        while inner is not None and inner is not variable.scope:
            inner.free_reads.add(variable)
            if not inner.is_class:
                if not inner.comprehension:
                    later = inner
                if not inner.comprehension or _COMPREHENSIONS_ARE_FUNCTIONS:
                    function = inner
            elif function is None:
                function = inner
            inner = inner.parent
        node.free = function is not None
        if later is not None:
            # The outermost function on the way decides when the variable may first be seen.
            at = later.place
            variable.captured_at = at if variable.captured_at is None else min(at, variable.captured_at)

    def lookup(self, name: str, scope: Scope) -> Variable | None:
        if name == "ag__":
            return None
        if name in scope.globals:
            return self.external(name, declared=True)
        if name in scope.variables and name not in scope.nonlocals:
            return None if scope.is_class else scope.variables[name]
        parent = scope.parent
        while parent is not None:
            if name == "__class__" and parent.is_class:
                return None  # the compiler makes this cell for the methods of a class
            if not parent.is_class:
                if name in parent.globals:
                    return self.external(name, declared=True)
                if name in parent.variables and name not in parent.nonlocals:
                    return parent.variables[name]
            parent = parent.parent
        return self.external(name)

    def external(self, name: str, declared: bool = False) -> Variable:
        if name not in self.externals:
            self.externals[name] = Variable(name, None, -1)
        return self.externals[name]
