"""Reads the printed form of a graph back: `to_text(parse_text(text, constants))` is `text`.

The text is read line by line: indentation gives the nesting, and a line is a head, an operation or the end
of a body.
"""

from __future__ import annotations

import ast
import functools
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from autograph.errors import GraphSyntaxError
from autograph.graph.graph import FINDERS, Graph, Operation, Place, Region, Tensor
from autograph.graph.text import PYTHON_TYPES, SITE_CLASSES
from autograph.graph.types import (
    BOTTOM,
    UNBOUND,
    Array,
    ClosureT,
    Const,
    Host,
    IterT,
    Py,
    Ref,
    Scalar,
    SeqT,
    Site,
    TupleT,
    Type,
    TypeChoice,
    Unbound,
    Union,
)
from autograph.records import field, record_class

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<string>b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
    | (?P<site>[^\W\d]\w*\#\d+)
    | (?P<comment>\#.*)
    | (?P<number>-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|(?:inf|nan)\b(?!=)))
    | (?P<constant>\$\w+)
    | (?P<word>[^\W\d][\w.]*(?:\[\](?=\())?)
    | (?P<mark>->|\.\.\.|[()\[\]{}<>,:=|?])""",
    re.VERBOSE,
)

_END = ("end", "", 0)


def parse_text(text: str, constants: Mapping[str, Any] | None = None) -> Graph:
    """The graph that `text` describes, with the values of its `$names`.

    >>> graph = parse_text('''
    ... graph f(n: int) -> int
    ...   m: int = add(n, 1)
    ...   return m
    ... ''')
    >>> graph, graph.params
    (<graph f: 1 operations>, [<tensor n: int>])
    """
    return _Parser(text, constants or {}).graph()


def find_op(name: str) -> Any:
    """The op of a name; None if nobody knows it."""
    return next((op for op in (finder(name) for finder in FINDERS) if op is not None), None)


@functools.lru_cache(maxsize=256)
def _code(filename: str, name: str) -> types.CodeType:
    """A code object that stands for the user's function in a place."""
    return compile("", filename, "exec").replace(co_name=name)


class _Line:
    """One line as tokens, read from left to right."""

    def __init__(self, number: int, text: str) -> None:
        self.number, self.text = number, text
        self.depth = (len(text) - len(text.lstrip(" "))) // 2
        self.tokens: list[tuple[str, str, int]] = []
        self.comment = ""
        self.next = 0
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise GraphSyntaxError(f"unexpected {text[at]!r}", number, text, at)
            kind = str(match.lastgroup)
            if kind == "comment":
                self.comment = match.group()[1:].strip()
            elif kind != "space":
                self.tokens.append((kind, match.group(), at))
            at = match.end()

    def fail(self, what: str) -> NoReturn:
        column = self.tokens[self.next][2] if self.next < len(self.tokens) else len(self.text.rstrip())
        raise GraphSyntaxError(what, self.number, self.text, column)

    def expected(self, what: str) -> NoReturn:
        found = self.peek()[1]
        self.fail(f"expected {what}, found {repr(found) if found else 'the end of the line'}")

    def peek(self, ahead: int = 0) -> tuple[str, str, int]:
        at = self.next + ahead
        return self.tokens[at] if at < len(self.tokens) else _END

    def sees(self, *texts: str) -> bool:
        """Whether the next tokens are these marks or words."""
        return all(self.peek(i)[1] == t and self.peek(i)[0] in ("mark", "word") for i, t in enumerate(texts))

    def accept(self, text: str) -> bool:
        if not self.sees(text):
            return False
        self.next += 1
        return True

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.expected(repr(text))

    def take(self, kind: str, what: str) -> str:
        if self.peek()[0] != kind:
            self.expected(what)
        self.next += 1
        return self.tokens[self.next - 1][1]

    def finish(self) -> None:
        if self.next < len(self.tokens):
            self.expected("the end of the line")

    def items(self, close: str, item: Callable[[], Any]) -> tuple[list[Any], bool]:
        """Items between commas, up to a closing mark; and whether a comma stands before it."""
        out: list[Any] = []
        comma = False
        while not self.accept(close):
            if out and not comma:
                self.expected(f"',' or {close!r}")
            out.append(item())
            comma = self.accept(",")
        return out, comma


@record_class
class _Scope:
    """The tensors that a body may use: its own, and those of the bodies around it."""

    graph: Graph
    around: _Scope | None = None
    tensors: dict[str, Tensor] = field(default_factory=dict)

    def find(self, name: str) -> Tensor | None:
        found = self.tensors.get(name)
        return found if found is not None or self.around is None else self.around.find(name)


class _Parser:
    def __init__(self, text: str, constants: Mapping[str, Any]) -> None:
        self.constants = constants
        text, _, _ = text.partition("\nconstants\n")  # the table tells the reader, not us, what they are
        lines = [_Line(i, line) for i, line in enumerate(text.split("\n"), 1)]
        self.lines = [line for line in lines if line.tokens]
        self.at = 0
        self.graphs: dict[str, Graph] = {}
        self.sites: dict[str, Site] = {}
        self.used_sites: dict[str, _Line] = {}
        self.filename = ""
        self.names: set[str] = set()

    # -- lines -----------------------------------------------------------------------------------------------

    @property
    def line(self) -> _Line:
        return self.lines[self.at] if self.at < len(self.lines) else _Line(self.lines[-1].number + 1, "")

    def at_depth(self, depth: int) -> bool:
        """Whether there is another line in a body; a line that is too deep is an error."""
        if self.at == len(self.lines):
            return False
        if self.line.depth > depth:
            self.line.fail("unexpected indentation")
        return self.line.depth == depth

    def graph(self) -> Graph:
        heads = [line for line in self.lines if line.depth == 0 and line.sees("graph")]
        if not heads:
            raise GraphSyntaxError("a graph begins with 'graph name(...)'", 1, "", 0)
        for line in heads:
            name = line.peek(1)[1]
            if name in self.graphs:
                line.next = 1
                line.fail(f"a second graph {name!r}")
            self.graphs[name] = Graph(name)
        while self.at_depth(0):
            if self.line.sees("where"):
                self.where()
            else:
                self.graph_block()
        for name, line in self.used_sites.items():
            if self.sites[name].kind == "":
                line.next = len(line.tokens)
                line.fail(f"{name} is not in the table 'where'")
        return next(iter(self.graphs.values()))

    def graph_block(self) -> None:
        line = self.line
        line.expect("graph")
        graph = self.graphs[line.take("word", "the graph's name")]
        self.names = set()
        scope = _Scope(graph)
        if self.at == 0:
            self.filename = line.comment
        line.expect("(")
        graph.body.params = self.params(line, scope, ")")
        if line.accept("->"):
            graph.result_type = self.type(line)
        line.finish()
        self.at += 1
        if not self.body(graph.body, 1, scope, "return"):
            self.line.expected("'return' or 'never' at the end of the graph")

    def params(self, line: _Line, scope: _Scope, close: str) -> list[Tensor]:
        return line.items(close, lambda: self.declare(line, scope))[0]

    def declare(self, line: _Line, scope: _Scope) -> Tensor:
        name = line.peek()[1]
        if name in self.names:
            line.fail(f"{name!r} is defined twice")
        line.take("word", "a name")
        line.expect(":")
        self.names.add(name)
        tensor = scope.tensors[name] = Tensor(self.type(line), scope.graph, None, name)
        return tensor

    def body(self, region: Region, depth: int, scope: _Scope, end: str) -> bool:
        """The operations of a region and how it ends; False if it has no last line."""
        hidden: list[Operation] = []
        ended = False
        while not ended and self.at_depth(depth):
            line = self.line
            if line.sees("never") and len(line.tokens) == 1:
                region.results, ended = None, True
                self.at += 1
            elif line.accept(end):
                region.results, ended = self.results(line, scope), True
                self.at += 1
            else:
                operation = self.operation(depth, scope)
                region.ops.append(operation)
                if operation.op is not None and not operation.outputs:
                    hidden.append(operation)
        if ended and self.at_depth(depth):
            self.line.fail(f"an operation after the end of the body ('{end}' or 'never')")
        for operation in hidden:
            never = region.results is None and operation is region.ops[-1]
            operation.outputs = [Tensor(BOTTOM if never else Const(None), scope.graph, operation)]
        return ended

    def results(self, line: _Line, scope: _Scope) -> tuple[Any, ...]:
        out = []
        while line.next < len(line.tokens):
            out.append(self.value(line, scope))
            if line.next < len(line.tokens):
                line.expect(",")
        return tuple(out)

    # -- operations ------------------------------------------------------------------------------------------

    def operation(self, depth: int, scope: _Scope) -> Operation:
        line = self.line
        outputs: list[Tensor] = []
        inner = _Scope(scope.graph, scope)  # the results are no operands
        if line.peek()[0] == "word" and line.peek(1)[1] == ":":
            outputs = self.params(line, inner, "=")
        operation = Operation("", (), {}, outputs, place=self.place(line, scope.graph))
        if line.sees("call") and line.peek(1)[0] == "word":
            line.next += 1
            operation.name, operation.callee = "call", self.callee(line)
        else:
            operation.name = line.take("word", "an op's name")
            if operation.name not in ("cond", "while_loop", "try"):
                operation.op = find_op(operation.name)
                if operation.op is None:
                    line.next -= 1
                    line.fail(f"there is no op {operation.name!r}")
        line.expect("(")
        arguments, _ = line.items(")", lambda: self.argument(line, scope))
        operation.args = tuple(value for name, value in arguments if name is None)
        operation.kwargs = {name: value for name, value in arguments if name is not None}
        line.finish()
        self.at += 1
        if operation.op is None and operation.callee is None:
            self.nested(operation, depth, scope)
        for tensor in outputs:
            object.__setattr__(tensor, "_ag_op", operation)
        scope.tensors.update(inner.tensors)
        return operation

    def callee(self, line: _Line) -> Graph:
        name = line.peek()[1]
        if name not in self.graphs:
            line.fail(f"there is no graph {name!r}")
        line.next += 1
        return self.graphs[name]

    def place(self, line: _Line, graph: Graph) -> Place | None:
        if match := re.fullmatch(r"L(\d+)", line.comment):
            return Place(_code(self.filename, graph.name), -1, int(match[1]))
        if match := re.fullmatch(r"(.+):(\d+)", line.comment):
            return Place(_code(match[1], graph.name), -1, int(match[2]))
        return None

    def nested(self, operation: Operation, depth: int, scope: _Scope) -> None:
        """The bodies of a `cond`, `while_loop` or `try`, each below its label."""
        graph = scope.graph
        if operation.name == "cond":
            then = self.region("then", depth + 1, scope)
            more = self.labelled("else", depth + 1)
            operation.regions = then, self.region("else", depth + 1, scope) if more else Region(graph)
        elif operation.name == "while_loop":
            operation.regions = self.region("test", depth + 1, scope), self.region("body", depth + 1, scope)
        else:
            self.handlers(operation, depth + 1, scope)

    def handlers(self, operation: Operation, depth: int, scope: _Scope) -> None:
        regions = [self.region("body", depth, scope)]
        classes = []
        while self.labelled("except", depth):
            line = self.line
            line.next = 1
            single = line.peek()[0] == "constant"
            classes.append(self.constant(line) if single else self.value(line, scope))
            regions.append(self.region("", depth, scope))
        operation.kwargs = {"handlers": tuple(classes)}
        for label in ("else", "finally"):
            found = operation.kwargs[f"has_{label}"] = self.labelled(label, depth)
            if found:
                regions.append(self.region(label, depth, scope))
        operation.regions = tuple(regions)

    def labelled(self, label: str, depth: int) -> bool:
        return self.at < len(self.lines) and self.line.depth == depth and self.line.sees(label)

    def region(self, label: str, depth: int, scope: _Scope) -> Region:
        line = self.line
        if label:
            if not self.labelled(label, depth):
                line.expected(f"{label!r}, two spaces deeper than its operation")
            line.next = 1
        region = Region(scope.graph)
        inner = _Scope(scope.graph, scope)
        if line.accept("("):
            region.params = self.params(line, inner, ")")
        line.finish()
        self.at += 1
        self.body(region, depth + 1, inner, "yield")
        return region

    # -- values ----------------------------------------------------------------------------------------------

    def argument(self, line: _Line, scope: _Scope) -> tuple[str | None, Any]:
        kind, text, _ = line.peek()
        if kind in ("word", "string") and line.peek(1)[:2] == ("mark", "="):
            line.next += 2
            return (text if kind == "word" else ast.literal_eval(text)), self.value(line, scope)
        return None, self.value(line, scope)

    def constant(self, line: _Line) -> Any:
        name = line.peek()[1].removeprefix("$")
        if name not in self.constants:
            line.fail(f"there is no constant '${name}' in the table given")
        line.next += 1
        return self.constants[name]

    def value(self, line: _Line, scope: _Scope | None) -> Any:
        """An argument tree; without a scope, of constants only."""
        kind, text, _ = line.peek()

        def item() -> Any:
            return self.value(line, scope)

        if kind == "constant":
            value = self.constant(line)
            return value(*line.items(")", item)[0]) if line.accept("(") else value
        if kind == "word":
            return self.word(line, scope)
        if kind == "end" or (kind == "mark" and text not in ("(", "[", "{", "<", "...")):
            line.expected("a value")
        line.next += 1
        if kind == "number":
            return float(text) if set(text) & set(".ein") else int(text)
        if kind == "string":
            return ast.literal_eval(text)
        if kind == "site":
            line.next -= 1
            return self.site(line)
        if text == "(":
            return tuple(line.items(")", item)[0])
        if text == "[":
            return line.items("]", item)[0]
        if text == "{":
            return dict(line.items("}", lambda: self.entry(line, scope))[0])
        if text == "<":
            return TypeChoice(tuple(self.alternatives(line, ">")))
        return Ellipsis

    def entry(self, line: _Line, scope: _Scope | None) -> tuple[Any, Any]:
        key = self.value(line, scope)
        line.expect(":")
        return key, self.value(line, scope)

    def word(self, line: _Line, scope: _Scope | None) -> Any:
        """A tensor, a word of Python, or a literal that looks like a call."""
        name = line.peek()[1]
        if line.peek(1)[1] != "(":
            if name in ("True", "False", "None"):
                line.next += 1
                return ast.literal_eval(name)
            tensor = None if scope is None else scope.find(name)
            if tensor is None:
                line.fail(f"{name!r} is not defined here")
            line.next += 1
            return tensor
        maker = _LITERALS.get(name) or _scalar_maker(name)
        if maker is None:
            line.fail(f"there is no literal {name}(...)")
        line.next += 2
        items, _ = line.items(")", lambda: self.value(line, scope))
        return maker(*items)

    def site(self, line: _Line) -> Site:
        name = line.peek()[1]
        line.next += 1
        if name not in self.sites:
            self.sites[name] = Site(name, "", object)
            self.sites[name].number = int(name.partition("#")[2])
            self.used_sites[name] = line
        return self.sites[name]

    # -- types -----------------------------------------------------------------------------------------------

    def type(self, line: _Line) -> Type:
        found = [self.single(line)]
        while line.accept("|"):
            found.append(self.single(line))
        return found[0] if len(found) == 1 else Union(tuple(found))

    def alternatives(self, line: _Line, close: str) -> list[Type]:
        found = [self.single(line)]
        while not line.accept(close):
            line.expect("|")
            found.append(self.single(line))
        return found

    def single(self, line: _Line) -> Type:
        """A type that is no union."""
        kind = line.peek()[0]
        if line.accept("="):
            return Const(self.value(line, None))
        if kind == "site":
            return Ref(self.site(line))
        if kind == "constant":
            cls = self.constant(line)
            line.expect("(")
            return TupleT(tuple(line.items(")", lambda: self.type(line))[0]), cls)
        if line.accept("("):
            return self.tuple_type(line)
        if kind != "word":
            line.expected("a type")
        return self.named(line)

    def tuple_type(self, line: _Line) -> Type:
        items: list[Any] = []
        while not line.accept(")"):
            if items:
                line.expect(",")
                if line.accept("..."):
                    line.expect(")")
                    return SeqT(items[0])
                if line.accept(")"):
                    break
            items.append(self.type(line))
        return TupleT(tuple(items))

    def named(self, line: _Line) -> Type:
        name = line.take("word", "a type")
        if name in ("never", "unbound"):
            return BOTTOM if name == "never" else UNBOUND
        bracket = line.sees("[")
        if name in ("object", "py", "iter", "function"):
            return self.foreign(name, line)
        if name in PYTHON_TYPES and not bracket:
            return Py(PYTHON_TYPES[name])
        dtype = self.dtype(name, line)
        return self.shaped(dtype, line) if line.accept("[") else Scalar(dtype)

    def foreign(self, name: str, line: _Line) -> Type:
        """object[$class], py[$class], iter[type, $class], function[$type]."""
        if name == "object" and not line.sees("["):
            return Host()
        line.expect("[")
        if name == "iter":
            elem = self.type(line)
            cls = self.constant(line) if line.accept(",") else None
            line.expect("]")
            return IterT(elem, cls)
        cls = self.constant(line)
        line.expect("]")
        if name == "function":
            closure: ClosureT = cls
            return closure
        return Host(cls) if name == "object" else Py(cls)

    def dtype(self, name: str, line: _Line) -> np.dtype[Any]:
        if name == "dtype":
            line.expect("(")
            name = ast.literal_eval(line.take("string", "a dtype in quotes"))
            line.expect(")")
        elif name not in _DTYPES:
            line.next -= 1
            line.fail(f"there is no type {name!r}")
        return np.dtype(name)

    def shaped(self, dtype: np.dtype[Any], line: _Line) -> Type:
        if line.accept("..."):
            line.expect("]")
            return Array(dtype, None)

        def dimension() -> int | None:
            return None if line.accept("?") else int(line.take("number", "a dimension"))

        return Array(dtype, tuple(line.items("]", dimension)[0]))

    # -- tables ----------------------------------------------------------------------------------------------

    def where(self) -> None:
        self.at += 1
        while self.at_depth(1):
            line = self.line
            if line.peek()[0] != "site":
                line.expected("an allocation site such as list#1")
            site = self.site(line)
            line.expect(":")
            self.contents(site, line)
            line.finish()
            self.at += 1

    def contents(self, site: Site, line: _Line) -> None:
        site.kind = line.take("word", "the kind of the site")
        named = line.peek()[0] == "constant"
        site.cls = self.constant(line) if named else SITE_CLASSES.get(site.kind, object)
        if line.accept("["):
            site.fixed = tuple(line.items("]", lambda: self.type(line))[0])
        if line.accept("{"):
            site.fields = dict(line.items("}", lambda: self.field(line))[0])
        site.closed = not line.accept("open")
        if line.accept("by"):
            site.key_type = self.type(line)
        if line.accept("of"):
            site.elem = self.type(line)

    def field(self, line: _Line) -> tuple[Any, Type]:
        key = self.value(line, None)
        line.expect(":")
        return key, self.type(line)


def _make_range(*bounds: int) -> range:
    return range(*bounds)


_LITERALS: dict[str, Callable[..., Any]] = {
    "slice": slice,
    "range": _make_range,
    "complex": complex,
    "unbound": Unbound,
    "dtype": np.dtype,
}

_DTYPES = frozenset({np.dtype(code).name for code in "?bBhHiIlLqQefdgFDG"} | {"bool_"})


def _scalar_maker(name: str) -> Callable[..., Any] | None:
    return np.dtype(name).type if name in _DTYPES else None
