"""Lowers `match` to if statements; patterns that look inside the subject call `ag__.match_...`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import Context
from autograph.core.templates import copy_tree, quote, quote_expression
from autograph.core.tree import StatementTransformer, locate, walk

__all__ = ["transform"]


def transform(tree: Any, ctx: Context) -> Any:
    """Replaces match statements.

    >>> from autograph.converters.example import example
    >>> print(example('''
    ... def f(n):
    ...     match n:
    ...         case 0:
    ...             return 'zero'
    ...         case [a, b]:
    ...             return a + b
    ...         case v if v < 0:
    ...             return v''', transform))
    def f(n):
        subject = n
        if subject == 0:
            return 'zero'
        else:
            fits, elements = ag__.match_sequence(subject, 2, None)
            if fits:
                a = elements[0]
                b = elements[1]
                return a + b
            else:
                v = subject
                if v < 0:
                    return v
    """
    return _Match(ctx).visit(tree)


class _Success(gast.Pass):  # type: ignore[misc]
    """Stands for what is done once the whole pattern has matched."""


class _Match(StatementTransformer):
    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.captured: dict[str, Any] = {}
        self.alternative = 0  # how many or-patterns are around the pattern at hand

    def visit_Match(self, node: Any) -> Any:
        self.generic_visit(node)
        subject = self.ctx.namer.fresh("subject")
        start = quote("subject = value", subject=subject, value=node.subject)
        return [*locate(start, node), *self.cases(node.cases, subject)]

    def cases(self, cases: list[Any], subject: str) -> list[Any]:
        if not cases:
            return []
        case, *rest = cases
        origin = case.pattern
        test = self.test(case.pattern, _name(subject))
        captures = self.captures(case.pattern, subject)
        if test is not None and captures is not None and (not captures or _always(test)):
            # The pattern is one expression, or binds without a test: no flag is needed.
            if case.guard is not None:
                test = case.guard if _always(test) else quote_expression("a and b", a=test, b=case.guard)
            if _always(test) and case.guard is None:
                return [*locate(captures, origin), *case.body]
            branch = gast.If(test, case.body, self.cases(rest, subject))
            return list(locate([*captures, branch], origin))
        return list(locate(self.general(case, rest, subject), origin))

    def general(self, case: Any, rest: list[Any], subject: str) -> list[Any]:
        """A case whose pattern needs statements: names are bound when all has matched, before the guard."""
        self.captured = {}
        success = _Success()
        code = self.statements(case.pattern, _name(subject), [success])
        bind = [gast.Assign([_stored(name)], value, None) for name, value in reversed(self.captured.items())]
        last = code[-1]
        if isinstance(last, gast.If) and last.body == [success]:
            # One test decides: the branch that it guards is the case itself.
            if case.guard is None:
                last.body, last.orelse = bind + case.body, self.cases(rest, subject)
                return code
            if not rest:
                last.body = [*bind, gast.If(case.guard, case.body, [])]
                return code
        matched = self.ctx.namer.fresh("matched")
        bind += quote("matched = True", matched=matched) if case.guard is None else []
        if case.guard is not None:
            bind.append(gast.If(case.guard, quote("matched = True", matched=matched), []))
        _put(code, success, bind)
        code = quote("matched = False", matched=matched) + code
        return [*code, gast.If(_name(matched), case.body, self.cases(rest, subject))]

    # --- patterns that are one expression

    def test(self, pattern: Any, subject: Any) -> Any:
        """The pattern as an expression without effects, or None where it needs statements."""
        if isinstance(pattern, gast.MatchValue):
            return quote_expression("subject == value", subject=subject, value=pattern.value)
        if isinstance(pattern, gast.MatchSingleton):
            value = gast.Constant(pattern.value, None)
            return quote_expression("subject is value", subject=subject, value=value)
        if isinstance(pattern, gast.MatchAs):
            return (
                gast.Constant(True, None) if pattern.pattern is None else self.test(pattern.pattern, subject)
            )
        if isinstance(pattern, gast.MatchOr):
            tests = [self.test(each, _name(subject.id)) for each in pattern.patterns]
            if any(test is None for test in tests) or any(map(_bound_names, pattern.patterns)):
                return None
            return gast.BoolOp(gast.Or(), tests)
        return None

    def captures(self, pattern: Any, subject: str) -> list[Any] | None:
        """The names that a simple pattern binds to the whole subject, as assignments."""
        if isinstance(pattern, gast.MatchAs):
            inner = [] if pattern.pattern is None else self.captures(pattern.pattern, subject)
            if inner is None or pattern.name is None:
                return inner
            return inner + quote("name = subject", name=pattern.name, subject=subject)
        return None if _bound_names(pattern) else []

    # --- patterns that need statements

    def statements(self, pattern: Any, subject: Any, success: list[Any]) -> list[Any]:
        """Code that runs `success` if the subject (a name or an element) matches."""
        if isinstance(pattern, (gast.MatchValue, gast.MatchSingleton)):
            return [gast.If(self.test(pattern, subject), success, [])]
        if isinstance(pattern, gast.MatchAs):
            if pattern.name is not None:
                success = self.capture(pattern.name, subject) + success
            if pattern.pattern is None:
                return success
            if pattern.name is not None and not isinstance(subject, gast.Name):
                subject = copy_tree(subject)
            return self.on_name(pattern.pattern, subject, success)
        if isinstance(pattern, gast.MatchOr):
            return self.alternatives(pattern, subject, success)
        return self.on_name(pattern, subject, success)

    def capture(self, name: str, subject: Any) -> list[Any]:
        """Notes what a name is to be bound to; only in one of several alternatives is it kept at once."""
        if not self.alternative:
            self.captured[name] = subject
            return []
        if name not in self.captured:
            self.captured[name] = _name(self.ctx.namer.fresh(f"{name}_matched"))
        return quote("t = s", t=self.captured[name].id, s=subject)

    def on_name(self, pattern: Any, subject: Any, success: list[Any]) -> list[Any]:
        if isinstance(subject, gast.Name):
            return self.inside(pattern, subject.id, success)
        item = self.ctx.namer.fresh("item")
        return quote("item = subject", item=item, subject=subject) + self.inside(pattern, item, success)

    def inside(self, pattern: Any, subject: str, success: list[Any]) -> list[Any]:
        if isinstance(pattern, gast.MatchSequence):
            return self.sequence(pattern, subject, success)
        if isinstance(pattern, gast.MatchMapping):
            return self.mapping(pattern, subject, success)
        if isinstance(pattern, gast.MatchClass):
            return self.instance(pattern, subject, success)
        return self.statements(pattern, _name(subject), success)

    def alternatives(self, pattern: Any, subject: Any, success: list[Any]) -> list[Any]:
        code = []
        if not isinstance(subject, gast.Name):
            item = self.ctx.namer.fresh("item")
            code += quote("item = subject", item=item, subject=subject)
            subject = _name(item)
        test = self.test(pattern, subject)
        if test is not None:
            return [*code, gast.If(test, success, [])]
        found = self.ctx.namer.fresh("found")
        code += quote("found = False", found=found)
        self.alternative += 1
        for index, each in enumerate(pattern.patterns):
            attempt = self.statements(each, _name(subject.id), quote("found = True", found=found))
            code += [gast.If(quote_expression("not found", found=found), attempt, [])] if index else attempt
        self.alternative -= 1
        return [*code, gast.If(_name(found), success, [])]

    def sequence(self, pattern: Any, subject: str, success: list[Any]) -> list[Any]:
        stars = [i for i, each in enumerate(pattern.patterns) if isinstance(each, gast.MatchStar)]
        before = stars[0] if stars else len(pattern.patterns)
        after = len(pattern.patterns) - before - 1 if stars else None
        values = self.ctx.namer.fresh("elements")
        parts = list(zip(pattern.patterns, _elements(values, len(pattern.patterns))))
        return self.look_inside(
            quote_expression(
                "ag__.match_sequence(subject, before, after)",
                subject=subject,
                before=gast.Constant(before, None),
                after=gast.Constant(after, None),
            ),
            values,
            parts,
            success,
        )

    def mapping(self, pattern: Any, subject: str, success: list[Any]) -> list[Any]:
        values = self.ctx.namer.fresh("elements")
        parts = list(zip(pattern.patterns, _elements(values, len(pattern.patterns))))
        if pattern.rest is not None:
            rest = self.ctx.namer.fresh("rest")
            success = self.capture(pattern.rest, _name(rest)) + success
        call = quote_expression(
            "ag__.match_mapping(subject, keys, rest)",
            subject=subject,
            keys=gast.Tuple(pattern.keys, gast.Load()),
            rest=gast.Constant(pattern.rest is not None, None),
        )
        return self.look_inside(call, values, parts, success, rest if pattern.rest is not None else None)

    def instance(self, pattern: Any, subject: str, success: list[Any]) -> list[Any]:
        values = self.ctx.namer.fresh("elements")
        patterns = [*pattern.patterns, *pattern.kwd_patterns]
        call = quote_expression(
            "ag__.match_class(subject, cls, count, names)",
            subject=subject,
            cls=pattern.cls,
            count=gast.Constant(len(pattern.patterns), None),
            names=gast.Tuple([gast.Constant(name, None) for name in pattern.kwd_attrs], gast.Load()),
        )
        return self.look_inside(call, values, list(zip(patterns, _elements(values, len(patterns)))), success)

    def look_inside(
        self, call: Any, values: str, parts: list[Any], success: list[Any], rest: str | None = None
    ) -> list[Any]:
        fits = self.ctx.namer.fresh("fits")
        for pattern, element in reversed(parts):
            if isinstance(pattern, gast.MatchStar):
                if pattern.name is not None:
                    success = self.capture(pattern.name, element) + success
            else:
                success = self.statements(pattern, element, success)
        target = "fits, values" if rest is None else "fits, values, rest"
        [assign] = quote(f"{target} = call", fits=fits, values=values, rest=rest or "", call=call)
        assign.generated = True
        return [assign, gast.If(_name(fits), success, [])]


def _name(name: str) -> Any:
    return gast.Name(name, gast.Load(), None, None)


def _stored(name: str) -> Any:
    return gast.Name(name, gast.Store(), None, None)


def _put(statements: list[Any], place: Any, code: list[Any]) -> None:
    for index, statement in enumerate(statements):
        if statement is place:
            statements[index : index + 1] = code
            return
        if isinstance(statement, gast.If):
            _put(statement.body, place, code)


def _elements(values: str, count: int) -> list[Any]:
    """`values[0]`, `values[1]`, ...: what a pattern found is a tuple, also while tracing."""
    return [gast.Subscript(_name(values), gast.Constant(index, None), gast.Load()) for index in range(count)]


def _always(test: Any) -> bool:
    return isinstance(test, gast.Constant) and test.value is True


def _bound_names(pattern: Any) -> list[str]:
    names: dict[str, None] = {}
    for node in walk(pattern):
        name = node.rest if isinstance(node, gast.MatchMapping) else None
        if isinstance(node, (gast.MatchAs, gast.MatchStar)):
            name = node.name
        if name is not None:
            names[name] = None
    return list(names)
