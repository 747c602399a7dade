"""Turns comprehensions, generator expressions and lambdas that need statements into local functions.

A comprehension becomes a loop in a function that is made before the statement it stands in, and called
where it stood with the first iterable, which is evaluated there. A lambda keeps its place, parameters and
defaults; if its body needs statements, the body moves to such a function.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import quote, quote_expression
from autograph.core.tree import Transformer, children, locate, walk

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Hoists what needs statements out of expressions.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(x, k):
    ...     return sum([v * k for v in x if v > 0])''', transform))
    def f(x, k):
        def list_comp(iterable):
            result = ag__.list_builder()
            for v in iterable:
                if v > 0:
                    ag__.add_item(result, v * k)
            return ag__.built(result)
        return sum(list_comp(x))
    """
    return _Hoister(ctx).visit(tree)


class _Hoister(Transformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.before: list[Any] = []  # functions to make before the statement at hand

    def visit_block(self, statements: list[Any]) -> list[Any]:
        if self.in_class:  # a function made in a class body would become a method: it goes before the class
            return super().visit_block(statements)
        result = []
        for statement in statements:
            outer, self.before = self.before, []
            new = self.visit(statement)
            result.extend(locate(self.before, statement))
            self.before = outer
            result.append(new)
        return result

    def generic_visit(self, node: Any) -> Any:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                if name in ("body", "orelse", "finalbody"):
                    setattr(node, name, self.visit_block(value))
                else:
                    setattr(node, name, [self.visit(v) if isinstance(v, gast.AST) else v for v in value])
            elif isinstance(value, gast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_ListComp(self, node: Any) -> Any:
        return self.comprehension(node, "list_comp", "ag__.list_builder()", self.append, "ag__.built(result)")

    def visit_SetComp(self, node: Any) -> Any:
        return self.comprehension(node, "set_comp", "ag__.new_set()", self.add)

    def visit_DictComp(self, node: Any) -> Any:
        return self.comprehension(node, "dict_comp", "ag__.new_dict()", self.store)

    def append(self, node: Any, result: str) -> list[Any]:
        return quote("ag__.add_item(result, value)", result=result, value=node.elt)

    def add(self, node: Any, result: str) -> list[Any]:
        return quote("result.add(value)", result=result, value=node.elt)

    def store(self, node: Any, result: str) -> list[Any]:
        if isinstance(node.key, (gast.Name, gast.Constant)) and not _binds(node.value):
            return quote("result[key] = value", result=result, key=node.key, value=node.value)
        key = self.ctx.namer.fresh("key")  # the key is evaluated before the value
        return quote(
            "key = first; result[key] = value", result=result, key=key, first=node.key, value=node.value
        )

    def comprehension(self, node: Any, stem: str, empty: str, collect: Any, finished: str = "result") -> Any:
        namer = self.ctx.namer
        name, iterable, result = (
            namer.fresh(stem),
            self.ctx.shared_name("iterable"),
            self.ctx.shared_name("result"),
        )
        first = self.visit(node.generators[0].iter)
        [function] = quote(
            f"""
            def name(iterable):
                result = {empty}
                loop
                return {finished}
            """,
            name=name,
            iterable=iterable,
            result=result,
            loop=_loops(node.generators, iterable, collect(node, result)),
        )
        function.comprehension = True
        self.hoist(function, node)
        call = quote_expression("name(first)", name=name, first=first)
        call.generated = True
        call.func.function = function
        return call

    def visit_GeneratorExp(self, node: Any) -> Any:
        namer = self.ctx.namer
        name, iterable = namer.fresh("generator_exp"), self.ctx.shared_name("iterable")
        first = self.visit(node.generators[0].iter)
        [function] = quote(
            "def name(iterable): loop",
            name=name,
            iterable=iterable,
            loop=_loops(node.generators, iterable, [gast.Expr(gast.Yield(node.elt))]),
        )
        self.hoist(function, node)
        reference = gast.Name(name, gast.Load(), None, None)
        reference.function = function
        return quote_expression("ag__.generator_exp(function, first)", function=reference, first=first)

    def visit_Lambda(self, node: Any) -> Any:
        node.args = self.visit(node.args)
        if not _needs_statements(node.body):
            outer, self.in_class = self.in_class, False
            node.body = self.visit(node.body)
            self.in_class = outer
            return node
        arguments = node.args
        names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        names += [name for name in (arguments.vararg, arguments.kwarg) if name is not None]
        name = self.ctx.namer.fresh("lambda_body")
        [function] = quote("def name(): return body", name=name, body=node.body)
        function.args.args = [gast.Name(each.id, gast.Param(), None, None) for each in names]
        self.hoist(function, node)
        passed = [gast.Name(each.id, gast.Load(), None, None) for each in names]
        call = gast.Call(gast.Name(name, gast.Load(), None, None), passed, [])
        call.generated = True
        call.func.function = function
        node.body = locate(call, node)
        return node

    def hoist(self, function: Any, origin: Any) -> None:
        function.hoisted = True
        locate(function, origin)
        outer, self.before = self.before, []
        was_in_class, self.in_class = self.in_class, False
        self.visit(function)
        self.in_class = was_in_class
        assert not self.before
        self.before = outer
        self.before.append(function)


def _loops(generators: list[Any], iterable: str, body: list[Any]) -> list[Any]:
    """The nested loops and conditions of a comprehension around its innermost statements."""
    binding = sorted({name for each in body for name in _walrus_targets(each)})
    for index, generator in reversed(list(enumerate(generators))):
        for test in reversed(generator.ifs):
            binding.extend(_walrus_targets(test))
            body = locate([gast.If(test, body, [])], test)
        source = gast.Name(iterable, gast.Load(), None, None) if index == 0 else generator.iter
        body = [gast.For(generator.target, source, body, [], None)]
        locate(body, generator.target)
    if binding:  # a walrus in a comprehension binds in the function around it
        body = [gast.Nonlocal(sorted(set(binding))), *body]
        body[0].walrus = True
    return body


def _walrus_targets(node: Any) -> list[str]:
    """The names that `:=` binds in a tree, functions nested in it left out, comprehensions not."""
    found: list[str] = []
    pending = [node]
    while pending:
        inner = pending.pop()
        if isinstance(inner, gast.NamedExpr):
            found.append(inner.target.id)
        if not isinstance(inner, gast.Lambda):
            pending.extend(children(inner))
    return found


def _binds(node: Any) -> bool:
    return bool(_walrus_targets(node))


def _needs_statements(body: Any) -> bool:
    kinds = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.NamedExpr)
    return any(isinstance(node, kinds) for node in walk(body))
