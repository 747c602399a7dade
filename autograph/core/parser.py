"""Finds the source of a function and parses it: the tree that the running code was made from, or an error.

The function is looked up by its first line (of the first decorator, if any) and its name; several lambdas on
one line are told apart by the columns in the code object (Python 3.11), and otherwise by compiling them and
comparing code. The same comparison notices a file that was edited after the function was made: converting its
new text would silently give another function. An excerpt of the file is parsed first, as that is quick; where
the function is not found in it, the whole file is, once.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import inspect
import linecache
import threading
import types
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import gast
from gast.ast3 import Ast3ToGAst

from autograph.core.tree import children, statements
from autograph.errors import ConversionError, Location
from autograph.records import record_class

__all__ = ["FunctionSource", "parse_function", "text_of", "translate"]

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUTURE_FLAGS = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag, __future__.all_feature_names, 0
)
_warnings_lock = threading.Lock()  # the filters of warnings are one list for all threads


@record_class(frozen=True)
class FunctionSource:
    """A function's tree, and the text it came from.

    `node` is a gast FunctionDef, AsyncFunctionDef or Lambda with the line and column numbers of the file
    (columns count UTF-8 bytes, as Python's parser does), without its decorators, and with private names as
    the compiler mangles them (`__x` in a class C is `_C__x`).
    """

    node: Any
    filename: str
    name: str
    qualname: str
    lines: tuple[str, ...]

    def source(self, line: int) -> str:
        """The text of a line (from 1) of the file, without its line end; empty outside the file."""
        return self.lines[line - 1] if 1 <= line <= len(self.lines) else ""

    def location(self, node: Any) -> Location:
        """Where a node stands in the file, for an error; a node without a position stands for the function.

        A construct of several lines is underlined on its first line only.
        """
        if getattr(node, "lineno", None) is None:
            node = self.node
        line = node.lineno
        text = self.source(line)
        start = _characters(text, node.col_offset)
        one_line = getattr(node, "end_lineno", None) == line
        end = _characters(text, node.end_col_offset) if one_line else len(text.rstrip())
        return Location(self.filename, line, start, end, self.name)


def parse_function(fn: Any) -> FunctionSource:
    """Parses the source of a Python function, method or lambda, wherever it was typed.

    Each call returns a tree of its own. Raises ConversionError where no source is found, or where the source
    found is not what the function was compiled from.

    >>> functions = [lambda x: x + 1, lambda x: x + 2]; source = parse_function(functions[1])
    >>> source.name, gast.dump(source.node.body.right)
    ('<lambda>', 'Constant(value=2, kind=None)')
    """
    function = fn.__func__ if isinstance(fn, types.MethodType) else fn
    if not isinstance(function, types.FunctionType):
        raise ConversionError(
            f"{fn!r} is not a Python function.",
            why="Only functions, methods and lambdas written in Python have a source that can be converted.",
            instead="Pass a function, or wrap the call in one: lambda x: f(x).",
        )
    code = function.__code__
    texts = 0
    for text in _texts(function):
        texts += 1
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        found = _find(text, code)
        if found is not None:
            return FunctionSource(
                node=_to_gast(*found),
                filename=code.co_filename,
                name=function.__name__,
                qualname=function.__qualname__,
                lines=tuple(text.split("\n")),
            )
    if code.co_filename == "<string>":  # of exec; since Python 3.13 also the program of `python -c`
        raise _missing(function)
    raise _stale(function) if texts else _missing(function)


def text_of(function: types.FunctionType) -> str | None:
    """The text that a function was most likely compiled from; None where there is none."""
    return next(_texts(function), None)


def _missing(function: types.FunctionType) -> ConversionError:
    code = function.__code__
    return ConversionError(
        f"the source of {function.__qualname__!r} cannot be found.",
        location=Location(code.co_filename, code.co_firstlineno, function=function.__name__),
        why=(
            f"A function is converted from its source text. The code of {function.__qualname__!r} says it is "
            f"from {code.co_filename!r}, line {code.co_firstlineno}, and there is no text under that name: "
            "it was made by exec or eval, typed into a shell that keeps no source, or its file is gone."
        ),
        instead=(
            "Put the function into a file. For text given to exec, compile it under a file name of its own "
            "and keep the text: linecache.cache[name] = (len(text), None, text.splitlines(True), name)."
        ),
    )


def _stale(function: types.FunctionType) -> ConversionError:
    code = function.__code__
    return ConversionError(
        f"the source of {function.__qualname__!r} is not what the function was compiled from.",
        # No source line is shown: it would be a line of some other function.
        why=(
            f"The code of {function.__qualname__!r} says it is from {code.co_filename!r}, line "
            f"{code.co_firstlineno}, but the text there gives other code: the file was changed after the "
            "function was made, or a tool rewrote the function while it was imported."
        ),
        instead="Restart the program to import the file as it is now, or turn the tool off for this file.",
    )


def _texts(function: types.FunctionType) -> Iterator[str]:
    """The texts the function may have been compiled from, the likeliest first, each once."""
    seen = set()
    for lines in _all_lines(function):
        text = "".join(lines)
        if lines and text not in seen:
            seen.add(text)
            yield text


def _all_lines(function: types.FunctionType) -> Iterator[list[str]]:
    code = function.__code__
    of_code = getattr(linecache, "_getlines_from_code", None)  # Python 3.13: statements typed into the shell
    if of_code is not None:
        yield of_code(code)
    # First what was current when linecache was first asked (or a notebook's cell, a doctest), then the file.
    yield linecache.getlines(code.co_filename, function.__globals__)
    linecache.checkcache(code.co_filename)
    yield linecache.getlines(code.co_filename, function.__globals__)
    try:
        path = inspect.getsourcefile(function)  # a module that was moved after it was compiled
    except TypeError:
        path = None
    if path is not None and path != code.co_filename:
        yield linecache.getlines(path, function.__globals__)


def _find(text: str, code: types.CodeType) -> tuple[_FunctionNode, str | None] | None:
    """The node that `code` was compiled from, with the class around it; None if from another text."""
    flags = code.co_flags & _FUTURE_FLAGS
    part = _parsed(_excerpt(text, code.co_firstlineno), flags)
    found = None if part is None else part.find(code)
    if found is None:
        file = _parse_file(text, flags)
        found = None if file is None else file.find(code)
    return found


_INDENTED = " \t#)]}"


def _excerpt(text: str, line: int) -> str:
    """The imports of a file and what looks like the statement around a line, on the lines where they are.

    >>> _excerpt("import a\\nb = 1\\n@c\\ndef d():\\n    return 1\\n\\ne = 2", 5)
    'import a\\n\\n@c\\ndef d():\\n    return 1\\n'
    """
    lines = text.split("\n")
    starts = [i for i, each in enumerate(lines) if each[:1] not in _INDENTED] or [0]  # an empty one is in it
    ends = [*starts[1:], len(lines)]
    around = max((n for n, start in enumerate(starts) if start < line), default=0)
    first = last = around
    while first > 0 and lines[starts[first - 1]][0] == "@":
        first -= 1
    while last < len(starts) - 1 and lines[starts[last]][0] == "@":
        last += 1
    kept = [""] * ends[last]
    for n in range(last + 1):
        if n >= first or lines[starts[n]].startswith(("import ", "from ")):
            kept[starts[n] : ends[n]] = lines[starts[n] : ends[n]]
    return "\n".join(kept)


@functools.lru_cache(maxsize=32)
def _parse_file(text: str, flags: int) -> _File | None:
    return _parsed(text, flags)


def _parsed(text: str, flags: int) -> _File | None:
    try:
        return _File(text, flags)
    except (SyntaxError, ValueError):
        return None


class _File:
    """A parsed file: its lines, and its statements."""

    def __init__(self, text: str, flags: int) -> None:
        self.text = text
        self.flags = flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # a notebook's cell may await
        self.lines = tuple(self.text.split("\n"))
        self.body = self.parse()
        self._parts: dict[tuple[tuple[int, ...], bool], _Part] = {}

    def parse(self) -> list[ast.stmt]:
        """The statements of the file, made anew."""
        with _no_warnings():
            tree = compile(self.text, "<source>", "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        assert isinstance(tree, ast.Module)
        return tree.body

    def find(self, code: types.CodeType) -> tuple[_FunctionNode, str | None] | None:
        """The node that `code` was compiled from, with the class around it, or None if from another text.

        The statement around its first line is looked at first: no large file is walked for one function.
        """
        line = code.co_firstlineno
        around = [i for i, each in enumerate(self.body) if _start(each) <= line <= (each.end_lineno or line)]
        for numbers in (around, range(len(self.body))):
            key = tuple(numbers), code.co_name == "<lambda>"
            if key not in self._parts:
                self._parts[key] = _Part(self, *key)
            part = self._parts[key]
            node = part.find(code)
            if node is not None:
                return node, part.classes[node]
        return None


class _Part:
    """Some statements of a file: their functions, and the classes around each function."""

    def __init__(self, file: _File, numbers: tuple[int, ...], lambdas: bool) -> None:
        self.file, self.numbers, self.lambdas = file, numbers, lambdas
        self.tree = _chosen(file.body, numbers)
        self.classes: dict[_FunctionNode, str | None] = dict(_functions(self.tree, lambdas))
        self._codes: dict[int, dict[tuple[int, str], list[types.CodeType]]] = {}

    def find(self, code: types.CodeType) -> _FunctionNode | None:
        """The node that `code` was compiled from, or None where it was compiled from another text."""
        candidates = [node for node in self.classes if _matches(node, code)]
        exact = [node for node in candidates if _covers(node, code)]
        if len(exact) > 1:  # a lambda in the body of another: the inner one starts later
            exact = [max(exact, key=lambda node: node.col_offset)]
        candidates = exact or candidates
        if candidates and _is_rewritten_by_pytest(code):
            return candidates[0]
        # First as this process compiles, then as `compile(optimize=...)` may have been told.
        for level in (-1, 0, 1, 2):
            for node in candidates:
                codes = self._codes_at(node, level) if len(candidates) == 1 else self._codes_of(node, level)
                if any(_same_code(code, other) for other in codes):
                    return node
        return None

    def _codes_at(self, node: _FunctionNode, level: int) -> list[types.CodeType]:
        """What the statements compile to on the line of a function, under its name."""
        if level not in self._codes:
            self._codes[level] = self._compile(self.tree, level)
        return self._codes[level].get((_first_line(node), _code_name(node)), [])

    def _codes_of(self, node: _FunctionNode, level: int) -> list[types.CodeType]:
        """What they compile to for one of several lambdas on a line: it is moved to its own line."""
        index = list(self.classes).index(node)
        tree = _chosen(self.file.parse(), self.numbers)
        moved, _ = list(_functions(tree, self.lambdas))[index]
        distance = len(self.file.lines)
        # The body moves along: its lines relative to the lambda's decide which instructions are kept.
        # Defaults are no part of the lambda's code, and the lambdas in them stay.
        for part in (moved, *ast.walk(moved.body)) if isinstance(moved, ast.Lambda) else ():
            if isinstance(part, ast.expr):
                part.lineno += distance
                part.end_lineno = (part.end_lineno or part.lineno) + distance
        # Lambdas inside this one come later in the list.
        return self._compile(tree, level).get((_first_line(moved), _code_name(moved)), [])[:1]

    def _compile(self, tree: ast.Module, level: int) -> dict[tuple[int, str], list[types.CodeType]]:
        codes: dict[tuple[int, str], list[types.CodeType]] = {}
        try:
            with _no_warnings():
                module = compile(tree, "<source>", "exec", self.file.flags, dont_inherit=True, optimize=level)
        except SyntaxError:  # the text parses but has no meaning as a module
            return codes
        for code in _nested_codes(module):
            codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)
        return codes


@contextlib.contextmanager
def _no_warnings() -> Iterator[None]:
    """Compiles in silence: the user has seen the warnings of this text, or has asked not to."""
    with _warnings_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _chosen(body: list[ast.stmt], numbers: tuple[int, ...]) -> ast.Module:
    """Some statements as a module, with all imports: code depends on which names they bind (Python 3.11)."""
    chosen = [body[i] for i in numbers]
    return ast.Module(chosen if len(chosen) == len(body) else [*_imports(body), *chosen], [])


def _imports(body: list[ast.stmt]) -> list[ast.stmt]:
    """The imports among the statements of a module, those in functions and classes left out."""
    found: list[ast.stmt] = []
    pending: list[Any] = list(reversed(body))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for block in ("cases", "finalbody", "orelse", "handlers", "body"):
                pending += reversed(getattr(node, block, []))
    return found


def _functions(tree: ast.AST, lambdas: bool) -> Iterator[tuple[_FunctionNode, str | None]]:
    """The functions of a tree, each with the name of the class whose private names it sees.

    Lambdas, for which the expressions are looked through, are among them only where they are wanted.
    """
    parts = children if lambdas else _blocks
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        if isinstance(node, _FunctionNode):
            yield node, class_name
        if isinstance(node, ast.ClassDef):
            inside = [(child, node.name) for child in node.body]
            outside = [*node.bases, *node.keywords, *node.decorator_list, *getattr(node, "type_params", [])]
            pending += [*inside, *((child, class_name) for child in outside)]
        else:
            pending += [(child, class_name) for child in parts(node)]


def _blocks(node: ast.AST) -> list[Any]:
    """The statements in a statement."""
    found: list[Any] = []
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, block, None)
        found += inner if isinstance(inner, list) else []
    return found


def _start(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _code_name(node: _FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _first_line(node: _FunctionNode) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return decorators[0].lineno if decorators else node.lineno


def _matches(node: _FunctionNode, code: types.CodeType) -> bool:
    return _first_line(node) == code.co_firstlineno and _code_name(node) == code.co_name


def _covers(node: _FunctionNode, code: types.CodeType) -> bool:
    """True where all columns in a lambda's code lie in the body of this node (never before Python 3.11)."""
    if not isinstance(node, ast.Lambda) or not hasattr(code, "co_positions"):
        return False
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    known = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if None not in (line, end_line, column, end_column) and (column, end_column) != (0, 0)
    ]
    return bool(known) and all(start <= first and last <= end for first, last in known)


def _nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _nested_codes(constant)


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """True where two code objects do the same; where they stand, and what they are called, is no part of it.

    >>> _same_code((lambda x: x + 1).__code__, (lambda x: x + 1).__code__)
    True
    >>> _same_code((lambda x: x + 1).__code__, (lambda x: x + 1.0).__code__)
    False
    """
    return _code_content(a) == _code_content(b)


def _code_content(code: types.CodeType) -> tuple[Any, ...]:
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        tuple(_constant_content(constant) for constant in code.co_consts),
    )


def _constant_content(constant: Any) -> Any:
    if isinstance(constant, types.CodeType):
        return _code_content(constant)
    if isinstance(constant, (tuple, frozenset)):
        return type(constant)(map(_constant_content, constant))
    return type(constant), repr(constant)


def _is_rewritten_by_pytest(code: types.CodeType) -> bool:
    """True for a function whose assert statements pytest rewrote: its code differs, its meaning does not."""
    return any(
        any(name.startswith(("@py_", "@pytest_")) for name in (*c.co_names, *c.co_varnames))
        for c in (code, *_nested_codes(code))
    )


def _characters(text: str, column: int) -> int:
    """A column in characters, from one in UTF-8 bytes as the parser counts.

    >>> _characters("é = x", 5)
    4
    """
    return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))


class _ToGast(Ast3ToGAst):  # type: ignore[misc]
    """gast's translator, with a short way for the nodes that are the same in both, which is most of them."""

    _methods: ClassVar[dict[type, Any]] = {}
    _shared: ClassVar[dict[type, Any]] = {}  # operators and contexts: they hold nothing

    def visit(self, node: Any) -> Any:
        kind = type(node)
        if kind in self._shared:
            return self._shared[kind]
        if kind not in self._methods:
            self._methods[kind] = getattr(type(self), f"visit_{kind.__name__}", type(self).generic_visit)
        return self._methods[kind](self, node)

    def _visit(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._visit(item) for item in node]
        return self.visit(node) if isinstance(node, ast.AST) else node

    def generic_visit(self, node: Any) -> Any:
        kind = type(node)
        target = getattr(gast, kind.__name__)
        new = target.__new__(target)
        if not kind._fields and not kind._attributes:
            return self._shared.setdefault(kind, new)
        parts = new.__dict__
        for name, value in node.__dict__.items():
            parts[name] = self._visit(value) if isinstance(value, (list, ast.AST)) else value
        return new

    def visit_Name(self, node: Any) -> Any:
        new = self.generic_visit(node)
        new.annotation = new.type_comment = None
        return new


def translate(tree: ast.AST) -> Any:
    """A tree of `ast` as one of gast."""
    return _ToGast().visit(tree)


def _to_gast(node: _FunctionNode, class_name: str | None) -> Any:
    result = translate(node)
    if not isinstance(node, ast.Lambda):
        result.decorator_list = []
    if class_name is not None or any(isinstance(each, gast.ClassDef) for each in statements(result)):
        _mangle_tree(result, class_name)
    return result


def _mangle(name: str, class_name: str | None) -> str:
    """The name that the compiler gives to `name` inside a class.

    >>> _mangle("__x", "_Model"), _mangle("__init__", "Model"), _mangle("__x", None), _mangle("__x", "__")
    ('_Model__x', '__init__', '__x', '__x')
    """
    owner = (class_name or "").lstrip("_")
    if not owner or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{owner}{name}"


def _mangle_tree(tree: Any, class_name: str | None) -> None:
    """Mangles what the compiler mangles: variables, attributes, parameters, imports, functions and classes.

    The compiler leaves the keywords of calls and of class patterns alone, and so do we.
    """
    pending: list[tuple[Any, str | None]] = [(tree, class_name)]
    while pending:
        node, owner = pending.pop()
        inside = node.name if isinstance(node, gast.ClassDef) else owner
        body = set(map(id, node.body)) if isinstance(node, gast.ClassDef) else set()
        pending += [(child, inside if id(child) in body else owner) for child in children(node)]
        if node is tree:  # a method's own name is that of an attribute of the class
            continue
        for field in _mangled_fields(node):
            value = getattr(node, field)
            if isinstance(value, str):
                setattr(node, field, _mangle(value, owner))
            elif value is not None:
                setattr(node, field, [_mangle(name, owner) for name in value])


def _mangled_fields(node: Any) -> Iterable[str]:
    fields = {
        "Name": ("id",),
        "Attribute": ("attr",),
        "FunctionDef": ("name",),
        "AsyncFunctionDef": ("name",),
        "ClassDef": ("name",),
        "Global": ("names",),
        "Nonlocal": ("names",),
        "alias": ("name", "asname"),
        "MatchAs": ("name",),
        "MatchStar": ("name",),
        "MatchMapping": ("rest",),
    }
    return fields.get(type(node).__name__, ())
