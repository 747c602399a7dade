"""Writes out what each name means: a plain local, a checked one, a box, or a name from outside."""

from __future__ import annotations

import builtins
from typing import Any

import gast

from autograph.converters.binary_op import SIGNS
from autograph.converters.context import Context
from autograph.core.scopes import Variable
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import StatementTransformer, Transformer, locate

__all__ = ["drop_declarations", "transform"]


def drop_declarations(tree: Any, ctx: Context) -> Any:
    """Removes what only declares names (global, nonlocal, `x: int`), once all names are resolved."""
    return _Declarations().visit(tree)


class _Declarations(StatementTransformer):
    def visit_Global(self, node: Any) -> Any:
        return gast.Pass()

    def visit_Nonlocal(self, node: Any) -> Any:
        return gast.Pass()

    def visit_AnnAssign(self, node: Any) -> Any:
        return node if self.in_class else gast.Pass()

    def visit_block(self, statements: list[Any]) -> list[Any]:
        result = super().visit_block(statements)
        return [s for s in result if not isinstance(s, gast.Pass)] or result[:1]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces the names of boxed and external variables, and checks those that may be unbound.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(n, c):
    ...     k = 1
    ...     g = lambda v: v * k
    ...     k = LIMIT
    ...     if c:
    ...         y = n
    ...     return g(y)'''))
    def f(n, c):
        k = ag__.Box('k')
        y = ag__.Undefined('y')
        k.set(1)
        g = lambda v: v * k.get_free()
        k.set(ag__.load('LIMIT'))
        def if_body():
            nonlocal y
            y = n
        def get_state():
            return (y,)
        def set_state(values):
            nonlocal y
            (y,) = values
        ag__.if_stmt(c, if_body, lambda: None, get_state, set_state, ('y',))
        return ag__.call(g, ag__.check(y, 'y'))
    """
    return _Variables(ctx).visit(tree)


class _Variables(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.bound: set[Variable] = set()  # what the Python function at hand binds itself

    # --- reading

    def visit_Name(self, node: Any) -> Any:
        variable = getattr(node, "variable", None)
        if variable is None:
            return node
        if not isinstance(node.ctx, gast.Load):
            if isinstance(node.ctx, gast.Store):
                self.bound.add(variable)
            return node
        if variable.external:
            return node if self.is_bare(variable) else self.external("load", variable)
        if variable.boxed:
            method = "get_free" if node.free else "get"
            return quote_expression(f"box.{method}()", box=self.box(variable))
        if getattr(node, "check", False):
            method = "check_free" if node.free else "check"
            return quote_expression(f"ag__.{method}(value, name)", value=variable.name, name=_text(variable))
        return node

    def is_bare(self, variable: Variable) -> bool:
        name = variable.name
        if variable.written:
            return False
        if name in self.ctx.static:
            return True
        return (
            hasattr(builtins, name) and name not in self.ctx.external_cells and name not in self.ctx.shadowed
        )

    def external(self, method: str, variable: Variable, *values: Any) -> Any:
        return quote_expression(f"ag__.{method}(name, values)", name=_text(variable), values=list(values))

    def box(self, variable: Variable) -> str:
        if variable.bound_by_statement and variable.box_name == variable.name:
            variable.box_name = self.ctx.namer.fresh(f"{variable.name}_box")
        return variable.box_name

    # --- writing

    def is_special(self, node: Any) -> bool:
        variable = getattr(node, "variable", None)
        return isinstance(node, gast.Name) and variable is not None and (variable.boxed or variable.external)

    def write(self, variable: Variable, value: Any) -> Any:
        if variable.external:
            return self.external("store", variable, value)
        return quote_expression("box.set(value)", box=self.box(variable), value=value)

    def visit_Assign(self, node: Any) -> Any:
        if getattr(node.targets[0], "marks", None) is not None:
            return node
        node.value = self.visit(node.value)
        if len(node.targets) == 1 and self.is_special(node.targets[0]):
            return gast.Expr(self.write(node.targets[0].variable, node.value))
        after: list[Any] = []
        if any(map(self.is_special, node.targets)):
            return self.several(node)
        for target in node.targets:
            if isinstance(target, gast.Tuple):
                target.elts = [self.part(each, after) for each in target.elts]
        node.targets = [self.visit(target) for target in node.targets]
        return [node, *after] if after else node

    def several(self, node: Any) -> list[Any]:
        value = self.ctx.namer.fresh("value")
        code = quote("value = source", value=value, source=node.value)
        for target in node.targets:
            name = gast.Name(value, gast.Load(), None, None)
            if self.is_special(target):
                code.append(gast.Expr(self.write(target.variable, name)))
            else:
                code.append(gast.Assign([self.visit(target)], name, None))
        return code

    def part(self, target: Any, after: list[Any]) -> Any:
        """An element of a tuple of targets; what is not a plain name is stored after it."""
        if not self.is_special(target):
            return target
        name = self.ctx.namer.fresh(f"{target.id}_value")
        after.append(gast.Expr(self.write(target.variable, gast.Name(name, gast.Load(), None, None))))
        return locate(gast.Name(name, gast.Store(), None, None), target)

    def visit_AugAssign(self, node: Any) -> Any:
        target = node.target
        value = node.value = self.visit(node.value)
        if not isinstance(target, gast.Name) or getattr(target, "variable", None) is None:
            node.target = self.visit(target)
            return node
        variable = target.variable
        is_checked = getattr(target, "check", False)
        if not (self.is_special(target) or is_checked or isinstance(node.op, gast.Mod)):
            self.bound.add(variable)
            return node
        load = gast.Name(target.id, gast.Load(), None, None)
        load.variable, load.free, load.check = variable, target.free, is_checked
        new = quote_expression(
            "ag__.aug_assign(sign, old, value)",
            sign=gast.Constant(SIGNS[type(node.op).__name__], None),
            old=self.visit(load),
            value=value,
        )
        if self.is_special(target):
            return gast.Expr(self.write(variable, new))
        self.bound.add(variable)
        return gast.Assign([gast.Name(target.id, gast.Store(), None, None)], new, None)

    def visit_NamedExpr(self, node: Any) -> Any:
        node.value = self.visit(node.value)
        if self.is_special(node.target):
            return self.write(node.target.variable, node.value)
        node.target = self.visit(node.target)
        return node

    def visit_Delete(self, node: Any) -> Any:
        target = node.targets[0]
        variable = getattr(target, "variable", None)
        if variable is None or len(node.targets) > 1:
            return self.generic_visit(node)
        if variable.external:
            return gast.Expr(self.external("delete", variable))
        if variable.boxed:
            # An unbound name of a function outside is another error than an unbound local.
            text = "box.get_free(); box.delete()" if target.free else "box.delete()"
            return quote(text, box=self.box(variable))
        self.bound.add(variable)
        code = quote("name = ag__.Undefined(text)", name=variable.name, text=_text(variable))
        if getattr(target, "check", False):
            code = quote("ag__.check(value, name)", value=variable.name, name=_text(variable)) + code
        return code

    # --- statements that bind a name

    def visit_FunctionDef(self, node: Any) -> Any:
        decorators, in_class = node.decorator_list, self.in_class
        outer, self.bound = self.bound, set()
        node.decorator_list = []
        is_block = getattr(node, "block", False)
        if not is_block and node.args.posonlyargs + node.args.args + node.args.kwonlyargs:
            self.bound, inner = outer, self.bound
            node.args = self.visit(node.args)
            outer, self.bound = self.bound, inner
        self.in_class = False
        body = self.visit_block(node.body)
        node.body = [s for s in body if not isinstance(s, gast.Pass)] or body[:1]
        self.in_class = in_class
        if is_block:
            shared = sorted({v for v in self.bound if v in node.shared}, key=lambda v: v.index)
            names = [v.name for v in shared if not (v.boxed or v.external)]
            if names:
                node.body.insert(0, locate(gast.Nonlocal(names), node))
        else:
            self.open_boxes(node)
        self.bound = outer
        if getattr(node, "generator", False):
            node.decorator_list = [locate(quote_expression("ag__.generator"), node)]
        if in_class:
            node.decorator_list = [self.visit(each) for each in decorators] + node.decorator_list
            return self.bind(node, node, [])
        return self.bind(node, node, decorators)

    def open_boxes(self, node: Any) -> None:
        """Makes the boxes of a function's variables where it starts."""
        scope = getattr(node, "scope", None)
        if scope is None:
            return
        code = []
        for variable in scope.variables.values():
            if not variable.boxed:
                continue
            value = [gast.Name(variable.name, gast.Load(), None, None)] if variable.parameter else []
            code += quote(
                "box = ag__.Box(name, value)", box=self.box(variable), name=_text(variable), value=value
            )
        first = node.body[0]
        is_text = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
        at = 1 if is_text and isinstance(first.value.value, str) else 0
        node.body[at:at] = locate(code, node)

    def visit_ClassDef(self, node: Any) -> Any:
        decorators, node.decorator_list = node.decorator_list, []
        super().visit_ClassDef(node)
        made = [locate(quote_expression("ag__.local_class"), node)]
        if self.in_class:
            node.decorator_list = [self.visit(each) for each in decorators] + made
            return self.bind(node, node, [])
        node.decorator_list = made
        return self.bind(node, node, decorators)

    def bind(self, node: Any, origin: Any, decorators: list[Any]) -> Any:
        variable: Variable | None = getattr(node, "variable", None)
        value = gast.Name(node.name, gast.Load(), None, None)
        for decorator in reversed(decorators):
            value = quote_expression("ag__.call(f, value)", f=self.visit(decorator), value=value)
        if variable is not None and (variable.boxed or variable.external):
            return [node, locate(gast.Expr(self.write(variable, value)), node)]
        if variable is not None:
            self.bound.add(variable)
        if decorators:
            target = gast.Name(node.name, gast.Store(), None, None)
            return [node, locate(gast.Assign([target], value, None), node)]
        return node

    def visit_Import(self, node: Any) -> Any:
        after = []
        for alias in node.names:
            variable = getattr(alias, "variable", None)
            if variable is None:
                continue
            if variable.boxed or variable.external:
                name = gast.Name(variable.name, gast.Load(), None, None)
                after.append(gast.Expr(self.write(variable, name)))
            else:
                self.bound.add(variable)
        return [node, *locate(after, node)] if after else node

    visit_ImportFrom = visit_Import


def _text(variable: Variable) -> Any:
    return gast.Constant(variable.name, None)
