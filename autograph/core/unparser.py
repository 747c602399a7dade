"""Writes a gast or ast tree as readable Python, and records which user line each written line came from.

astunparse 1.6.3 predates `match`, `except*`, type parameters and several changes of the tree, and puts
every operation in parentheses. The subclass keeps its engine (one method per node type, named after it)
and rewrites the methods that are wrong today. Parentheses appear only where Python's grammar needs them:
each expression has a precedence, and `_operand` writes a child in parentheses when it binds less tightly
than its place asks for.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import astunparse
from astunparse.unparser import INFSTR, interleave

__all__ = ["Unparser", "to_source", "to_source_lines"]

# Weakest first. A place that takes a full expression asks for _TEST.
_NAMED, _TEST, _OR, _AND, _NOT, _COMPARE = range(6)
_BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _SUM, _TERM, _FACTOR, _POWER, _AWAIT, _ATOM = range(6, 16)

_PRECEDENCE = {
    "NamedExpr": _NAMED,
    "Yield": _NAMED,
    "YieldFrom": _NAMED,
    "Lambda": _TEST,
    "IfExp": _TEST,
    "Or": _OR,
    "And": _AND,
    "Not": _NOT,
    "Compare": _COMPARE,
    "BitOr": _BIT_OR,
    "BitXor": _BIT_XOR,
    "BitAnd": _BIT_AND,
    "LShift": _SHIFT,
    "RShift": _SHIFT,
    "Add": _SUM,
    "Sub": _SUM,
    "Mult": _TERM,
    "MatMult": _TERM,
    "Div": _TERM,
    "Mod": _TERM,
    "FloorDiv": _TERM,
    "UAdd": _FACTOR,
    "USub": _FACTOR,
    "Invert": _FACTOR,
    "Pow": _POWER,
    "Await": _AWAIT,
}

# PEP 701: any quote and any backslash may stand inside the braces of an f-string.
_NESTED_QUOTES = sys.version_info >= (3, 12)
_QUOTES = ("'", '"', '"""', "'''")


class _CannotQuote(Exception):
    """A string has no spelling inside this f-string (before Python 3.12)."""


def _kind(node: Any) -> str:
    return type(node).__name__


def _precedence(node: Any) -> int:
    kind = _kind(node)
    if kind in ("BoolOp", "BinOp", "UnaryOp"):
        kind = _kind(node.op)
    if kind == "Constant" and _constant_text(node.value).startswith("-"):
        return _FACTOR
    return _PRECEDENCE.get(kind, _ATOM)


def _constant_text(value: Any) -> str:
    """The literal for a constant, also for those that only an optimiser or a converter puts into a tree.

    >>> _constant_text((1, 1e999, ...))
    '(1, 1e309, ...)'
    """
    if value is Ellipsis:
        return "..."
    if isinstance(value, tuple):
        inner = ", ".join(map(_constant_text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, frozenset):
        return f"frozenset({{{', '.join(map(_constant_text, value))}}})" if value else "frozenset()"
    if isinstance(value, (float, complex)):
        return repr(value).replace("nan", f"({INFSTR} - {INFSTR})").replace("inf", str(INFSTR))
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 2000:
        return hex(value)  # repr refuses to write very large integers in decimal
    return repr(value)


def _escape(text: str, quote: str) -> str:
    """The characters of a string literal between its quotes.

    >>> print(_escape('it\\'s "so"\\n', '"'))
    it's \\"so\\"\\n
    """
    body = repr('"' + text)[2:-1]  # the leading double quote makes repr choose (and escape) single quotes
    if quote[0] == "'":
        return body
    return body.replace("\\'", "'").replace('"', '\\"')


def _triple_quoted(text: str) -> str:
    """A docstring as people write it: its lines as lines.

    >>> print(_triple_quoted('One.\\n\\nTwo "quoted"'))
    \"""One.
    <BLANKLINE>
    Two "quoted\\"\"""
    """
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    text = "".join(c if c == "\n" or c.isprintable() else repr(c)[1:-1] for c in text)
    return '"""' + (text[:-1] + '\\"' if text.endswith('"') else text) + '"""'


class Unparser(astunparse.Unparser):  # type: ignore[misc]
    """Writes `tree` to `file`; `line_map` then holds user line by written line (both from 1).

    >>> out = io.StringIO()
    >>> unparser = Unparser(ast.parse("if n % 2 == 0:\\n\\n    x[1:2, ::3] = (n + 1) * 2"), out)
    >>> print(out.getvalue(), end="")
    if n % 2 == 0:
        x[1:2, ::3] = (n + 1) * 2
    >>> unparser.line_map
    {1: 1, 2: 3}
    """

    f: Any  # the file written to

    def __init__(self, tree: Any, file: Any = sys.stdout) -> None:
        self.line_map: dict[int, int] = {}
        self._line = 0
        self._user_line: int | None = None
        self._banned: tuple[str, ...] = ()  # what the f-strings around this place forbid, before Python 3.12
        super().__init__(tree, file)

    def fill(self, text: str = "") -> None:
        """Starts a new line (the first one needs no line end before it)."""
        if self._line:
            self.f.write("\n")
        self._start_line()
        self.f.write("    " * self._indent)
        self.write(text)

    def write(self, text: str) -> None:
        """Writes to the current line; line ends inside the text (in docstrings) are counted."""
        self.f.write(text)
        for _ in range(text.count("\n")):
            self._start_line()

    def _start_line(self) -> None:
        self._line += 1
        if self._user_line is not None:
            self.line_map[self._line] = self._user_line

    def _blank_line(self) -> None:
        if self._line:
            self.f.write("\n")
            self._line += 1

    def dispatch(self, tree: Any) -> None:
        """Writes a node, or each node of a list; an expression as a full expression."""
        if isinstance(tree, list):
            for node in tree:
                self.dispatch(node)
        elif isinstance(tree, ast.expr):
            self._operand(tree, _TEST)
        else:
            outer = self._user_line
            self._user_line = getattr(tree, "lineno", None) or outer
            super().dispatch(tree)
            self._user_line = outer

    def _operand(self, node: Any, minimum: int) -> None:
        if _precedence(node) >= minimum:
            super().dispatch(node)
        else:
            self.write("(")
            super().dispatch(node)
            self.write(")")

    def _bare(self, node: Any) -> None:
        """Writes an expression where a tuple needs no parentheses."""
        if _kind(node) == "Tuple" and len(node.elts) > 1:
            self._items(node.elts)
        else:
            self.dispatch(node)

    def _value(self, node: Any) -> None:
        """Writes an expression where a yield needs no parentheses."""
        self._operand(node, _NAMED if _kind(node) in ("Yield", "YieldFrom") else _TEST)

    def _items(self, nodes: Iterable[Any]) -> None:
        self._separated(self.dispatch, nodes)

    def _separated(self, write: Callable[[Any], None], items: Iterable[Any]) -> None:
        interleave(lambda: self.write(", "), write, items)

    def _text(self, node: Any, minimum: int) -> str:
        outer, self.f = self.f, io.StringIO()
        try:
            self._operand(node, minimum)
            return str(self.f.getvalue())
        finally:
            self.f = outer

    def _block(self, body: list[Any]) -> None:
        self.enter()
        self.dispatch(body)
        self.leave()

    def _spaced(self, body: list[Any]) -> None:
        """Writes the statements of a module or class, with blank lines around functions and classes."""
        previous = None
        for node in body:
            if previous is not None and any(
                _kind(n) in ("FunctionDef", "AsyncFunctionDef", "ClassDef") for n in (previous, node)
            ):
                self._blank_line()
            self.dispatch(node)
            previous = node

    def _Module(self, tree: Any) -> None:
        self._spaced(tree.body)

    def _Expr(self, tree: Any) -> None:
        self.fill()
        value = tree.value
        if _kind(value) == "Constant" and isinstance(value.value, str) and "\n" in value.value:
            self.write((value.kind or "") + _triple_quoted(value.value))
        else:
            self._value(value)

    def _ImportFrom(self, tree: Any) -> None:
        self.fill("from " + "." * (tree.level or 0) + (tree.module or "") + " import ")
        self._items(tree.names)

    def _Assign(self, tree: Any) -> None:
        self.fill()
        for target in tree.targets:
            self._bare(target)
            self.write(" = ")
        if _kind(tree.targets[-1]) == _kind(tree.value) == "Tuple":
            self._bare(tree.value)
        else:
            self._value(tree.value)

    def _AugAssign(self, tree: Any) -> None:
        self.fill()
        self.dispatch(tree.target)
        self.write(f" {self.binop[_kind(tree.op)]}= ")
        self._value(tree.value)

    def _AnnAssign(self, tree: Any) -> None:
        self.fill()
        # `(x): int` is not a declaration of the local x, unlike `x: int`; only `simple` tells them apart.
        bare = tree.simple or _kind(tree.target) != "Name"
        self.write(self._text(tree.target, _TEST) if bare else f"({self._text(tree.target, _TEST)})")
        self.write(": ")
        self.dispatch(tree.annotation)
        if tree.value is not None:
            self.write(" = ")
            self._value(tree.value)

    def _TypeAlias(self, tree: Any) -> None:
        self.fill("type ")
        self.dispatch(tree.name)
        self._type_parameters(tree)
        self.write(" = ")
        self.dispatch(tree.value)

    def _Return(self, tree: Any) -> None:
        self.fill("return")
        if tree.value is not None:
            self.write(" ")
            self._bare(tree.value)

    def _If(self, tree: Any) -> None:
        self.fill("if ")
        self._condition_and_body(tree)
        orelse = tree.orelse
        while len(orelse) == 1 and _kind(orelse[0]) == "If":
            branch = orelse[0]
            outer, self._user_line = self._user_line, getattr(branch, "lineno", None) or self._user_line
            self.fill("elif ")
            self._condition_and_body(branch)
            self._user_line = outer
            orelse = branch.orelse
        self._optional_block("else", orelse)

    def _While(self, tree: Any) -> None:
        self.fill("while ")
        self._condition_and_body(tree)
        self._optional_block("else", tree.orelse)

    def _condition_and_body(self, tree: Any) -> None:
        self._operand(tree.test, _NAMED if _kind(tree.test) == "NamedExpr" else _TEST)
        self._block(tree.body)

    def _optional_block(self, keyword: str, body: list[Any]) -> None:
        if body:
            self.fill(keyword)
            self._block(body)

    def _For(self, tree: Any) -> None:
        self._write_for("for ", tree)

    def _AsyncFor(self, tree: Any) -> None:
        self._write_for("async for ", tree)

    def _write_for(self, keyword: str, tree: Any) -> None:
        self.fill(keyword)
        self._bare(tree.target)
        self.write(" in ")
        self.dispatch(tree.iter)
        self._block(tree.body)
        self._optional_block("else", tree.orelse)

    def _With(self, tree: Any) -> None:
        self._write_with("with ", tree)

    def _AsyncWith(self, tree: Any) -> None:
        self._write_with("async with ", tree)

    def _write_with(self, keyword: str, tree: Any) -> None:
        self.fill(keyword)
        first = tree.items[0]
        if len(tree.items) == 1 and first.optional_vars is None and _kind(first.context_expr) == "Tuple":
            self.write(f"({self._text(first.context_expr, _TEST)})")  # `with (a, b):` would be two managers
        else:
            self._items(tree.items)
        self._block(tree.body)

    def _Try(self, tree: Any) -> None:
        self._write_try(tree, "except")

    def _TryStar(self, tree: Any) -> None:
        self._write_try(tree, "except*")

    def _write_try(self, tree: Any, keyword: str) -> None:
        self.fill("try")
        self._block(tree.body)
        for handler in tree.handlers:
            outer, self._user_line = self._user_line, getattr(handler, "lineno", None) or self._user_line
            self.fill(keyword)
            if handler.type is not None:
                self.write(" ")
                self.dispatch(handler.type)
            if handler.name:
                self.write(f" as {handler.name if isinstance(handler.name, str) else handler.name.id}")
            self._block(handler.body)
            self._user_line = outer
        self._optional_block("else", tree.orelse)
        self._optional_block("finally", tree.finalbody)

    def _ClassDef(self, tree: Any) -> None:
        self._decorators(tree)
        self.fill("class " + tree.name)
        self._type_parameters(tree)
        arguments = [*tree.bases, *tree.keywords]
        if arguments:
            self.write("(")
            self._items(arguments)
            self.write(")")
        self.enter()
        self._spaced(tree.body)
        self.leave()

    def _FunctionDef(self, tree: Any) -> None:
        self._write_function("def ", tree)

    def _AsyncFunctionDef(self, tree: Any) -> None:
        self._write_function("async def ", tree)

    def _write_function(self, keyword: str, tree: Any) -> None:
        self._decorators(tree)
        self.fill(keyword + tree.name)
        self._type_parameters(tree)
        self.write("(")
        self.dispatch(tree.args)
        self.write(")")
        if tree.returns is not None:
            self.write(" -> ")
            self.dispatch(tree.returns)
        self._block(tree.body)

    def _decorators(self, tree: Any) -> None:
        outer = self._user_line
        for decorator in tree.decorator_list:
            self._user_line = getattr(decorator, "lineno", None) or outer
            self.fill("@")
            self.dispatch(decorator)
        self._user_line = outer

    def _type_parameters(self, tree: Any) -> None:
        parameters = getattr(tree, "type_params", None)
        if parameters:
            self.write("[")
            self._items(parameters)
            self.write("]")

    def _TypeVar(self, tree: Any) -> None:
        self._type_parameter("", tree)

    def _TypeVarTuple(self, tree: Any) -> None:
        self._type_parameter("*", tree)

    def _ParamSpec(self, tree: Any) -> None:
        self._type_parameter("**", tree)

    def _type_parameter(self, star: str, tree: Any) -> None:
        self.write(star + tree.name)
        for separator, part in ((": ", "bound"), (" = ", "default_value")):
            if getattr(tree, part, None) is not None:
                self.write(separator)
                self.dispatch(getattr(tree, part))

    def _Match(self, tree: Any) -> None:
        self.fill("match ")
        self.dispatch(tree.subject)
        self.enter()
        self.dispatch(tree.cases)
        self.leave()

    def _match_case(self, tree: Any) -> None:
        outer, self._user_line = self._user_line, getattr(tree.pattern, "lineno", None) or self._user_line
        self.fill("case ")
        self._user_line = outer
        self.dispatch(tree.pattern)
        if tree.guard is not None:
            self.write(" if ")
            self.dispatch(tree.guard)
        self._block(tree.body)

    def _MatchValue(self, tree: Any) -> None:
        self.dispatch(tree.value)

    def _MatchSingleton(self, tree: Any) -> None:
        self.write(repr(tree.value))

    def _MatchSequence(self, tree: Any) -> None:
        self.write("[")
        self._items(tree.patterns)
        self.write("]")

    def _MatchStar(self, tree: Any) -> None:
        self.write("*" + (tree.name or "_"))

    def _MatchMapping(self, tree: Any) -> None:
        def write_pair(pair: Any) -> None:
            if isinstance(pair, str):
                self.write("**" + pair)
            else:
                self.dispatch(pair[0])
                self.write(": ")
                self.dispatch(pair[1])

        self.write("{")
        rest = [tree.rest] if tree.rest else []
        self._separated(write_pair, [*zip(tree.keys, tree.patterns, strict=True), *rest])
        self.write("}")

    def _MatchClass(self, tree: Any) -> None:
        def write_argument(argument: Any) -> None:
            if isinstance(argument, tuple):
                self.write(argument[0] + "=")
                argument = argument[1]
            self.dispatch(argument)

        self.dispatch(tree.cls)
        self.write("(")
        self._separated(
            write_argument, [*tree.patterns, *zip(tree.kwd_attrs, tree.kwd_patterns, strict=True)]
        )
        self.write(")")

    def _MatchAs(self, tree: Any) -> None:
        if tree.pattern is not None:
            self._closed_pattern(tree.pattern, ("MatchAs",))
            self.write(" as ")
        self.write(tree.name or "_")

    def _MatchOr(self, tree: Any) -> None:
        interleave(
            lambda: self.write(" | "),
            lambda p: self._closed_pattern(p, ("MatchAs", "MatchOr")),
            tree.patterns,
        )

    def _closed_pattern(self, pattern: Any, open_kinds: Sequence[str]) -> None:
        # A capture is a MatchAs too, one without a pattern of its own, and needs no parentheses.
        is_open = _kind(pattern) in open_kinds and getattr(pattern, "pattern", pattern) is not None
        self.write("(" if is_open else "")
        self.dispatch(pattern)
        self.write(")" if is_open else "")

    def _NamedExpr(self, tree: Any) -> None:
        self.dispatch(tree.target)
        self.write(" := ")
        self.dispatch(tree.value)

    def _Yield(self, tree: Any) -> None:
        self.write("yield")
        if tree.value is not None:
            self.write(" ")
            self.dispatch(tree.value)

    def _YieldFrom(self, tree: Any) -> None:
        self.write("yield from ")
        self.dispatch(tree.value)

    def _Await(self, tree: Any) -> None:
        self.write("await ")
        self._operand(tree.value, _ATOM)

    def _Lambda(self, tree: Any) -> None:
        parameters = self._arguments_text(tree.args)
        self.write(f"lambda {parameters}: " if parameters else "lambda: ")
        self.dispatch(tree.body)

    def _IfExp(self, tree: Any) -> None:
        self._operand(tree.body, _OR)
        self.write(" if ")
        self._operand(tree.test, _OR)
        self.write(" else ")
        self.dispatch(tree.orelse)

    def _BoolOp(self, tree: Any) -> None:
        word = " and " if _kind(tree.op) == "And" else " or "
        inner = _precedence(tree) + 1
        interleave(lambda: self.write(word), lambda value: self._operand(value, inner), tree.values)

    def _UnaryOp(self, tree: Any) -> None:
        symbol = self.unop[_kind(tree.op)]
        self.write(symbol + " " if symbol == "not" else symbol)
        self._operand(tree.operand, _precedence(tree))

    def _BinOp(self, tree: Any) -> None:
        level = _precedence(tree)
        is_power = level == _POWER  # binds to the right, and takes a sign there without parentheses
        self._operand(tree.left, _AWAIT if is_power else level)
        self.write(f" {self.binop[_kind(tree.op)]} ")
        self._operand(tree.right, _FACTOR if is_power else level + 1)

    def _Compare(self, tree: Any) -> None:
        self._operand(tree.left, _BIT_OR)
        for op, comparator in zip(tree.ops, tree.comparators, strict=True):
            self.write(f" {self.cmpops[_kind(op)]} ")
            self._operand(comparator, _BIT_OR)

    def _Attribute(self, tree: Any) -> None:
        if _kind(tree.value) == "Constant" and type(tree.value.value) is int:
            self.write(f"({_constant_text(tree.value.value)})")  # `1.real` would be read as a float
        else:
            self._operand(tree.value, _ATOM)
        self.write("." + tree.attr)

    def _Call(self, tree: Any) -> None:
        self._operand(tree.func, _ATOM)
        arguments = [*tree.args, *tree.keywords]
        if len(arguments) == 1 and _kind(arguments[0]) == "GeneratorExp":
            self.dispatch(arguments[0])
            return
        self.write("(")
        self._items(arguments)
        self.write(")")

    def _Starred(self, tree: Any) -> None:
        self.write("*")
        self._operand(tree.value, _BIT_OR)

    def _Subscript(self, tree: Any) -> None:
        self._operand(tree.value, _ATOM)
        self.write("[")
        index = tree.slice
        kinds = {_kind(element) for element in index.elts} if _kind(index) == "Tuple" else set()
        if "Slice" in kinds or ("Starred" in kinds and sys.version_info >= (3, 11)):
            self._items(index.elts)
            self.write("," if len(index.elts) == 1 else "")
        elif "Starred" in kinds:
            self.dispatch(index)
        else:
            self._bare(index)
        self.write("]")

    def _Dict(self, tree: Any) -> None:
        def write_item(item: tuple[Any, Any]) -> None:
            key, value = item
            if key is None:
                self.write("**")
                self._operand(value, _BIT_OR)
                return
            self.dispatch(key)
            self.write(": ")
            self.dispatch(value)

        self.write("{")
        self._separated(write_item, zip(tree.keys, tree.values, strict=True))
        self.write("}")

    def _Set(self, tree: Any) -> None:
        self.write("{")
        if tree.elts:
            self._items(tree.elts)
        else:
            self.write("*()")  # `{}` is a dict
        self.write("}")

    def _comprehension(self, tree: Any) -> None:
        self.write(" async for " if tree.is_async else " for ")
        self._bare(tree.target)
        self.write(" in ")
        self._operand(tree.iter, _OR)
        for condition in tree.ifs:
            self.write(" if ")
            self._operand(condition, _OR)

    def _arguments(self, tree: Any) -> None:
        self.write(self._arguments_text(tree))

    def _arguments_text(self, tree: Any) -> str:
        positional = [*tree.posonlyargs, *tree.args]
        defaults = [None] * (len(positional) - len(tree.defaults)) + list(tree.defaults)
        parts = [self._parameter(p, default) for p, default in zip(positional, defaults, strict=True)]
        if tree.posonlyargs:
            parts.insert(len(tree.posonlyargs), "/")
        if tree.vararg is not None:
            parts.append("*" + self._parameter(tree.vararg))
        elif tree.kwonlyargs:
            parts.append("*")
        parts += [self._parameter(p, d) for p, d in zip(tree.kwonlyargs, tree.kw_defaults, strict=True)]
        if tree.kwarg is not None:
            parts.append("**" + self._parameter(tree.kwarg))
        return ", ".join(parts)

    def _parameter(self, parameter: Any, default: Any = None) -> str:
        """A parameter is a Name in gast and an arg in ast."""
        text = str(parameter.id if hasattr(parameter, "id") else parameter.arg)
        if parameter.annotation is not None:
            text += ": " + self._text(parameter.annotation, _TEST)
        if default is None:
            return text
        equals = " = " if parameter.annotation is not None else "="
        return text + equals + self._text(default, _TEST)

    def _Constant(self, tree: Any) -> None:
        prefix = tree.kind or "" if isinstance(tree.value, str) else ""
        if self._banned and isinstance(tree.value, (str, bytes)):
            self.write(prefix + self._string_in_fstring(tree.value))
        else:
            self.write(prefix + _constant_text(tree.value))

    def _string_in_fstring(self, value: str | bytes) -> str:
        """A literal inside an f-string's braces, where old Pythons allow no backslash and no outer quote."""
        prefix, text = ("b", value.decode("latin-1")) if isinstance(value, bytes) else ("", value)
        for quote in _QUOTES:
            literal = f"{prefix}{quote}{text}{quote}"
            if "\\" in literal or any(banned in literal for banned in self._banned):
                continue
            try:
                if ast.literal_eval(literal) == value:
                    return literal
            except (SyntaxError, ValueError):
                continue
        raise _CannotQuote

    def _JoinedStr(self, tree: Any) -> None:
        if _NESTED_QUOTES:
            body = self._fstring_body(tree, "'")
            quote = '"' if "'" in body and '"' not in body else "'"
            self.write(f"f{quote}{self._fstring_body(tree, quote)}{quote}")
            return
        for quote in _QUOTES:
            try:
                self.write(f"f{quote}{self._fstring_body(tree, quote)}{quote}")
                return
            except _CannotQuote:
                continue
        if self._banned:
            raise _CannotQuote
        self._format_call(tree)

    def _FormattedValue(self, tree: Any) -> None:
        """A replacement field on its own, which only a converter can make."""
        self._JoinedStr(ast.JoinedStr([tree]))

    def _fstring_body(self, tree: Any, quote: str) -> str:
        return "".join(self._replacement_field(value, quote) for value in tree.values)

    def _replacement_field(self, node: Any, quote: str) -> str:
        """One piece of an f-string: literal text, or an expression in braces."""
        if _kind(node) == "Constant":
            return _escape(node.value, quote).replace("{", "{{").replace("}", "}}")
        outer = self._banned
        if not _NESTED_QUOTES:
            self._banned = (*outer, "\\", quote, *(["\n"] if len(quote) == 1 else []))
        try:
            # A colon would end the expression, so a lambda stands in parentheses.
            has_lambda = any(_kind(n) == "Lambda" for n in ast.walk(node.value))
            text = self._text(node.value, _OR if has_lambda else _TEST)
            if any(banned in text for banned in self._banned):
                raise _CannotQuote
        finally:
            self._banned = outer
        field = "{ " + text if text.startswith("{") else "{" + text
        if node.conversion not in (-1, None):
            field += "!" + chr(node.conversion)
        if node.format_spec is not None:
            field += ":" + self._fstring_body(node.format_spec, quote)
        return field + "}"

    def _format_call(self, tree: Any) -> None:
        """The same text by `str.format`, for an f-string that has no spelling before Python 3.12."""
        arguments: list[Any] = []

        def pattern(node: Any) -> str:
            if _kind(node) == "Constant":
                return str(node.value).replace("{", "{{").replace("}", "}}")
            if _kind(node) == "JoinedStr":
                return "".join(map(pattern, node.values))
            arguments.append(node.value)
            conversion = "" if node.conversion in (-1, None) else "!" + chr(node.conversion)
            spec = "" if node.format_spec is None else ":" + pattern(node.format_spec)
            return "{" + conversion + spec + "}"

        self.write(repr(pattern(tree)) + ".format(")
        self._items(arguments)
        self.write(")")


def to_source(node: Any) -> str:
    """The Python text of a gast or ast tree (or a list of statements).

    >>> print(to_source(ast.parse("if (a + b) * c ** -d: x = a[1:2, ::3]")), end="")
    if (a + b) * c ** -d:
        x = a[1:2, ::3]
    """
    return to_source_lines(node)[0]


def to_source_lines(node: Any) -> tuple[str, dict[int, int]]:
    """The text, and for each of its lines the line of the user's file that it came from, where known.

    >>> text, lines = to_source_lines(ast.parse("x = 1\\n\\n\\ny = 2"))
    >>> text, lines
    ('x = 1\\ny = 2\\n', {1: 1, 2: 4})
    """
    out = io.StringIO()
    unparser = Unparser(node, out)
    text = out.getvalue()
    return (text[:-1] if isinstance(node, ast.expr) else text), unparser.line_map
