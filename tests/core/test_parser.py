"""The parser finds the very source a function was compiled from, or says clearly why not."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gast
import pytest

from autograph.core import parser
from autograph.core.parser import FunctionSource, parse_function
from autograph.core.unparser import to_source
from autograph.errors import ConversionError


def text_of(fn: Any) -> str:
    return to_source(parse_function(fn).node).strip()


def load(path: Path, text: str) -> types.ModuleType:
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_text(text: str, filename: str, **names: Any) -> dict[str, Any]:
    text = textwrap.dedent(text)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), names)
    return names


def test_a_function_is_looked_for_in_the_statement_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class Part(parser._Part):
        def __init__(self, file: Any, numbers: tuple[int, ...], lambdas: bool) -> None:
            sizes.append(len(numbers))
            super().__init__(file, numbers, lambdas)

    monkeypatch.setattr(parser, "_Part", Part)
    monkeypatch.setattr(parser, "_excerpt", lambda text, line: "(")
    names = run_text(
        """
        try:
            import math, cmath as other
        except ImportError:
            pass
        def first(x):
            return math.sin(x) + other.sin(x)
        class A:
            x = 3
            @staticmethod
            def second(x): return [math.sin(y) for y in x]
        third = fourth = None; third = lambda x: math.sin(x)
        """,
        "<statements>",
    )
    assert text_of(names["first"]).endswith("return math.sin(x) + other.sin(x)")
    assert text_of(names["A"].second).endswith("return [math.sin(y) for y in x]")
    assert text_of(names["third"]) == "lambda x: math.sin(x)"
    assert sizes == [1, 1, 2]


def test_the_whole_file_is_parsed_where_an_excerpt_does_not_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole: list[str] = []
    parse_file = parser._parse_file
    monkeypatch.setattr(
        parser, "_parse_file", lambda text, flags: whole.append(text) or parse_file(text, flags)
    )
    text = """
        from __future__ import annotations
        import math, functools
        from cmath import (
            sin,
        )
        def same(x: str = "): "): return math.sin(x)
        @functools.lru_cache
        # between
        @functools.wraps(
            same
        )
        def first(
            x: Undefined,
        ):
            y = '''
        {text}'''
            return math.sin(x) + sin(x)
        class A:
            @staticmethod
            def second(x): return [math.sin(y) for y in x]
        def outer(y):
            def inner(x): return x + y
            return inner
        third = fourth = None; third = lambda x: math.sin(x)
        if third:
            def last(x): return 1
        else:
            def last(x): return 2
        """
    names = run_text(text.replace("{text}", "text"), "<excerpts>")
    kinds = (names["same"], names["A"].second, names["outer"](1), names["third"], names["last"])
    assert [text_of(f).partition("return")[2] for f in kinds[:3]] == [
        " math.sin(x)",
        " [math.sin(y) for y in x]",
        " x + y",
    ]
    assert text_of(kinds[3]) == "lambda x: math.sin(x)" and text_of(kinds[4]).endswith("return 1")
    assert whole == []
    assert text_of(names["first"].__wrapped__).endswith("return math.sin(x) + sin(x)")
    assert len(whole) == 1  # a text of several lines has one that begins like a statement


def test_function_keeps_the_lines_and_columns_of_its_file() -> None:
    class Model:
        def step(self, x):
            é = x; return é + 1  # fmt: skip  # noqa: E702

    source = parse_function(Model.step)
    first = Model.step.__code__.co_firstlineno
    assert isinstance(source.node, gast.FunctionDef)
    assert (source.node.lineno, source.node.col_offset) == (first, 8)
    assert source.source(first) == "        def step(self, x):"
    assert source.source(0) == source.source(10**6) == ""
    location = source.location(source.node.body[1].value.left)
    assert (location.line, location.column, location.end_column) == (first + 1, 26, 27)
    assert (location.filename, location.function) == (__file__, "step")
    assert source.name == "step" and source.qualname.endswith("Model.step")
    assert source.location(source.node).excerpt().endswith("^" * len("def step(self, x):"))
    assert source.location(gast.Pass()).line == first


def test_each_call_returns_its_own_tree() -> None:
    def f():
        return 1

    first = parse_function(f).node
    first.body.clear()
    assert len(parse_function(f).node.body) == 1


def test_bound_method_class_method_and_static_method() -> None:
    class Model:
        def plain(self):
            return 1

        @classmethod
        def of_class(cls):
            return 2

        @staticmethod
        def static():
            return 3

    assert text_of(Model().plain) == "def plain(self):\n    return 1"
    assert text_of(Model.of_class) == "def of_class(cls):\n    return 2"
    assert text_of(Model.static) == "def static():\n    return 3"


def identity(*_: Any) -> Callable[[Any], Any]:
    return lambda fn: fn


def test_decorators_are_dropped() -> None:
    @identity(
        1,
        2,
    )
    @identity()
    # between
    def f(x):
        return x

    source = parse_function(f)
    assert source.node.decorator_list == []
    assert source.source(source.node.lineno).strip() == "def f(x):"
    assert f.__code__.co_firstlineno < source.node.lineno


def test_wrapped_function_is_the_wrapper() -> None:
    def original():
        return 1

    @functools.wraps(original)
    def wrapper():
        return original()

    assert text_of(wrapper) == "def wrapper():\n    return original()"


def test_same_name_twice_in_one_file() -> None:
    def make(first):
        if first:

            def f():
                return 1
        else:

            def f():
                return 2

        return f

    assert text_of(make(True)).endswith("return 1")
    assert text_of(make(False)).endswith("return 2")


def test_lambdas_on_one_line() -> None:
    k = 1
    fs = [lambda x: x + 1, lambda x: x + 2, lambda y: y + 1, lambda x: x + 1.0, lambda x: x + k, lambda: k]
    assert [text_of(f) for f in fs] == [
        "lambda x: x + 1",
        "lambda x: x + 2",
        "lambda y: y + 1",
        "lambda x: x + 1.0",
        "lambda x: x + k",
        "lambda: k",
    ]


def test_lambdas_inside_lambdas() -> None:
    f = lambda x: lambda y: lambda: x + y
    assert text_of(f) == "lambda x: lambda y: lambda: x + y"
    assert text_of(f(1)) == "lambda y: lambda: x + y"
    assert text_of(f(1)(2)) == "lambda: x + y"
    g = lambda: lambda: 0
    assert text_of(g) == "lambda: lambda: 0"
    assert text_of(g()) == "lambda: 0"
    h = lambda f=lambda: 1: (f, lambda: 2, [lambda: i for i in (1, 2)])
    assert text_of(h()[0]) == "lambda: 1"
    assert text_of(h()[1]) == "lambda: 2"
    assert text_of(h()[2][1]) == "lambda: i"
    assert text_of(h).startswith("lambda f=lambda: 1: (f")


def test_lambda_in_dict_call_default_and_over_lines() -> None:
    # fmt: off
    table = {
        "a": lambda x: x * 2, "b": lambda x: x * 3,
        "c": (
            lambda x:
                x * 4
        ),
    }
    # fmt: on
    assert [text_of(f) for f in table.values()] == ["lambda x: x * 2", "lambda x: x * 3", "lambda x: x * 4"]
    # fmt: off
    kept = identity(
        lambda a, b: a + b,
    )(lambda a, b=(lambda: 7): (
        a - b()
    ))
    # fmt: on
    assert text_of(kept) == "lambda a, b=lambda: 7: a - b()"
    assert text_of(kept.__defaults__[0]) == "lambda: 7"

    def with_default(f=lambda x: -x, *, g=lambda x: +x):
        return f, g

    assert [text_of(f) for f in with_default()] == ["lambda x: -x", "lambda x: +x"]
    assert text_of(with_default) == "def with_default(f=lambda x: -x, *, g=lambda x: +x):\n    return f, g"


def test_identical_lambdas_on_one_line_are_told_apart_by_column() -> None:
    f, g = lambda x: x + 1, lambda x: x + 1
    columns = [parse_function(h).node.col_offset for h in (f, g)]
    if sys.version_info >= (3, 11):
        assert columns[0] < columns[1]
    assert text_of(f) == text_of(g) == "lambda x: x + 1"


def test_lambdas_without_columns_are_told_apart_by_their_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograph.core.parser._covers", lambda node, code: False)
    test_lambdas_on_one_line()
    test_lambdas_inside_lambdas()
    test_lambda_in_dict_call_default_and_over_lines()
    test_private_names_of_lambdas()


def test_private_names_of_lambdas() -> None:
    class A:
        f = lambda self: self.__x; g = lambda self: self.__y  # fmt: skip  # noqa: E702

    assert text_of(A.f) == "lambda self: self._A__x"
    assert text_of(A.g) == "lambda self: self._A__y"


def test_private_names_are_mangled_as_the_compiler_does() -> None:
    class _Owner:
        def __method(self, __a, *, __k=1):
            global __G
            __G = self.__x + __a.__dunder__ + __k
            import __b  # noqa: F401
            from c import __d as __e  # noqa: F401

            def __nested(__z):
                return __z

            match __a:
                case P(__attr=__cap):
                    pass
                case [*__st]:
                    pass
                case {"a": 1, **__rest}:
                    pass

            class Inner:
                __y = __nested

                def m(self):
                    return self.__y

            try:
                pass
            except Exception as __err:
                pass
            return f(__x=1)

        reach = __method

    assert text_of(_Owner.reach) == textwrap.dedent(
        """\
        def __method(self, _Owner__a, *, _Owner__k=1):
            global _Owner__G
            _Owner__G = self._Owner__x + _Owner__a.__dunder__ + _Owner__k
            import _Owner__b
            from c import _Owner__d as _Owner__e
            def _Owner__nested(_Owner__z):
                return _Owner__z
            match _Owner__a:
                case P(__attr=_Owner__cap):
                    pass
                case [*_Owner__st]:
                    pass
                case {'a': 1, **_Owner__rest}:
                    pass
            class Inner:
                _Inner__y = _Inner__nested

                def m(self):
                    return self._Inner__y
            try:
                pass
            except Exception as _Owner__err:
                pass
            return f(__x=1)"""
    )


def test_async_functions_and_generators_are_returned() -> None:
    async def a():
        return 1

    def g():
        yield 1

    assert isinstance(parse_function(a).node, gast.AsyncFunctionDef)
    assert text_of(g) == "def g():\n    yield 1"


def test_functions_with_assert_statements() -> None:
    def f(x):
        assert x > 0, "positive"

        def g():
            assert x

        return g

    assert text_of(f).startswith("def f(x):\n    assert x > 0, 'positive'")
    assert text_of(f(1)) == "def g():\n    assert x"


def test_module_with_form_feed_tabs_crlf_and_warnings(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    lines = [
        "# coding: latin-1",
        "x = 'é'",
        "\x0c",
        "class A:",
        "\tdef f(self):",
        "\t\treturn 'a\\d' + 'é'",
        "",
    ]
    path.write_bytes("\r\n".join(lines).encode("latin-1"))
    spec = importlib.util.spec_from_file_location("odd", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    text = path.read_bytes().decode("latin-1")
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text.encode("latin-1"), str(path), "exec"), module.__dict__)
    assert text_of(module.A.f) == "def f(self):\n    return 'a\\\\d' + 'é'"
    assert parse_function(module.A.f).node.lineno == 5


def test_future_import_and_optimised_code(tmp_path: Path) -> None:
    text = "from __future__ import annotations\ndef f(x: int) -> int:\n    assert x\n    return lambda: x\n"
    filename = str(tmp_path / "optimised.py")
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    names: dict[str, Any] = {}
    exec(compile(text, filename, "exec", optimize=2), names)
    assert text_of(names["f"]).startswith("def f(x: int) -> int:\n    assert x")
    assert text_of(names["f"](1)) == "lambda: x"


def test_exec_with_a_linecache_entry() -> None:
    names = run_text("def f(x):\n    return x + 1\n\ng = lambda: f(2)\n", "<my text 1>")
    assert text_of(names["f"]) == "def f(x):\n    return x + 1"
    assert text_of(names["g"]) == "lambda: f(2)"
    assert parse_function(names["f"]).filename == "<my text 1>"


def test_exec_without_source_is_one_clear_error() -> None:
    names: dict[str, Any] = {}
    exec(compile("def f(x):\n    return x + 1", "<made>", "exec"), names)
    with pytest.raises(ConversionError) as error:
        parse_function(names["f"])
    assert str(error.value) == (
        "the source of 'f' cannot be found.\n"
        "  <made>:1:\n"
        "A function is converted from its source text. The code of 'f' says it is from '<made>', line 1, "
        "and there is no text under that name: it was made by exec or eval, typed into a shell that keeps no "
        "source, or its file is gone.\n"
        "Put the function into a file. For text given to exec, compile it under a file name of its own and "
        "keep the text: linecache.cache[name] = (len(text), None, text.splitlines(True), name)."
    )


@pytest.mark.parametrize("value", [len, int, 3, functools.partial(print)])
def test_other_callables_are_refused(value: Any) -> None:
    with pytest.raises(ConversionError, match="is not a Python function"):
        parse_function(value)


def test_stale_source_is_refused(tmp_path: Path) -> None:
    module = load(tmp_path / "stale.py", "def f(x):\n    return x + 1\n")
    (tmp_path / "stale.py").write_text("def f(x):\n    return x - 1\n")
    linecache.cache.pop(module.__file__ or "", None)
    with pytest.raises(ConversionError) as error:
        parse_function(module.f)
    assert "the source of 'f' is not what the function was compiled from.\n" in str(error.value)
    assert "stale.py', line 1, but the text there gives other code" in str(error.value)


def test_file_read_before_it_changed_still_serves_old_and_new_functions(tmp_path: Path) -> None:
    old = load(tmp_path / "changing.py", "def f(x):\n    return x + 1\n")
    assert text_of(old.f).endswith("x + 1")
    new = load(tmp_path / "changing.py", "# longer\ndef f(x):\n    return x + 2222\n")
    assert text_of(old.f).endswith("x + 1")
    assert text_of(new.f).endswith("x + 2222")


def test_file_that_no_longer_parses_is_stale(tmp_path: Path) -> None:
    module = load(tmp_path / "broken.py", "def f(x):\n    return x + 1\n")
    (tmp_path / "broken.py").write_text("def f(x:\n")
    linecache.cache.pop(module.__file__ or "", None)
    with pytest.raises(ConversionError, match="is not what the function was compiled from"):
        parse_function(module.f)


def test_doctest_function() -> None:
    import doctest

    found: list[FunctionSource] = []
    text = ">>> x = 1\n>>> def f(a):\n...     return a + x\n>>> keep(f); keep(lambda: 5)\n"
    example = doctest.DocTestParser().get_doctest(
        text, {"keep": lambda f: found.append(parse_function(f))}, "sample", None, None
    )
    assert doctest.DocTestRunner().run(example).failed == 0
    assert [to_source(s.node).strip() for s in found] == ["def f(a):\n    return a + x", "lambda: 5"]


def run_python(text: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, *options], input=textwrap.dedent(text), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_notebook_cell() -> None:
    pytest.importorskip("IPython")
    out = run_python(
        """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_cell("from autograph.core.parser import parse_function")
        shell.run_cell("from autograph.core.unparser import to_source")
        shell.run_cell("%time 1\\ndef f(x):\\n    return x + 1")
        shell.run_cell("import asyncio\\nawait asyncio.sleep(0)\\ng, h = lambda: 1, lambda: 2")
        shell.run_cell("print('got', [to_source(parse_function(z).node) for z in (f, g, h)])")
        """,
        "-",
    )
    got = next(line for line in out.splitlines() if line.startswith("got"))
    assert ast.literal_eval(got[4:]) == ["def f(x):\n    return x + 1\n", "lambda: 1", "lambda: 2"]


@pytest.mark.skipif(sys.version_info < (3, 13), reason="older shells keep no source")
def test_function_typed_in_a_shell() -> None:
    pty = pytest.importorskip("pty")
    import os

    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-q"], {**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
    typed = [
        "def f(x): return x + 12345",
        "",
        "from autograph.core.parser import parse_function as p",
        "from autograph.core.unparser import to_source as s",
        "print('<<', repr(s(p(f).node)), '>>')",
        "exit()",
    ]
    output = b""
    try:
        for line in typed:
            os.write(terminal, line.encode() + b"\n")
        while chunk := os.read(terminal, 10000):
            output += chunk
    except OSError:  # the terminal closes with its program
        pass
    os.waitpid(pid, 0)
    assert b"<< 'def f(x):\\n    return x + 12345\\n' >>" in output


def test_no_source_in_minus_c() -> None:
    code = (
        "from autograph.core.parser import parse_function\n"
        "ns = {}; exec('def f(): return 1', ns)\n"
        "try: parse_function(ns['f'])\n"
        "except Exception as e: print(type(e).__name__, str(e).splitlines()[0])\n"
    )
    assert run_python("", "-c", code).startswith("ConversionError the source of 'f' ")


@pytest.mark.parametrize("module", ["textwrap", "statistics", "dataclasses", "inspect", "argparse", "heapq"])
def test_every_function_of_a_module_is_found(module: str) -> None:
    import importlib

    mod = importlib.import_module(module)
    checked = 0
    for value in list(vars(mod).values()):
        members = vars(value).values() if isinstance(value, type) else [value]
        for fn in members:
            if (
                isinstance(fn, types.FunctionType)
                and fn.__module__ == module
                and "<" not in fn.__code__.co_filename
            ):
                source = parse_function(fn)
                assert source.node.lineno >= fn.__code__.co_firstlineno
                checked += 1
    assert checked > 3


if sys.version_info >= (3, 12):

    def test_generic_function() -> None:
        names = run_text("def f[T](x: T) -> T:\n    return x\n", "<generic>")
        assert text_of(names["f"]) == "def f[T](x: T) -> T:\n    return x"
