"""Functions from everywhere: lambdas, shells, notebooks, exec, doctests, bytecode; all kinds of callables."""

from __future__ import annotations

import code
import doctest
import functools
import importlib.util
import linecache
import os
import pathlib
import py_compile
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag

ROOT = pathlib.Path(__file__).parent.parent


def staged(fn: Callable[..., Any], *args: Any) -> Any:
    """The result in graph mode, checked against the plain function, and the eager op mode."""
    f = ag.to_graph(fn)
    result, plain = f(*args), fn(*args)
    assert result == plain and type(result) is type(plain)
    with ag.eager(ops=True):
        assert f(*args) == plain
    assert "ag__" in f.code or "return" in f.code
    return result


# -- lambdas ------------------------------------------------------------------------------------------------

# fmt: off
ONE, TWO, THREE = (lambda x: x + 1), lambda x: x + 2, lambda x: (lambda y: y + 3)(x)
TABLE = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "both": (lambda a, b: a * b, lambda a, b: b)}
SAME = [lambda x: x * 2, lambda x: x * 2, lambda x: x * 3]
SPLIT = functools.reduce(
    lambda f, g: lambda x: g(f(x)), [
        lambda x: x + 1, lambda x: x *
        10, lambda x: x - 3,
    ]
)
# fmt: on


def defaults(f=lambda x: x + 1, *, g=lambda x, y=(lambda: 7): x * y()) -> tuple[Any, Any]:
    return f, g


def test_lambdas_on_one_line() -> None:
    assert [staged(f, 1) for f in (ONE, TWO, THREE)] == [2, 3, 4]
    assert [staged(f, 5) for f in SAME] == [10, 10, 15]
    assert [to_body(f) for f in SAME] == ["x * 2", "x * 2", "x * 3"]


def to_body(fn: Any) -> str:
    return ag.to_graph(fn).code.strip().split("return ")[-1].strip("()")


def test_lambdas_in_a_dict() -> None:
    assert [staged(TABLE[k], 5, 3) for k in ("add", "sub")] == [8, 2]
    assert [staged(f, 2, 3) for f in TABLE["both"]] == [6, 3]


def test_lambdas_in_a_call_over_lines() -> None:
    assert staged(SPLIT, 4) == 47


def test_lambdas_as_defaults() -> None:
    f, g = defaults()
    assert (staged(f, 1), staged(g, 3)) == (2, 21)
    assert staged(lambda x, k=lambda v: v * 5: k(x), 2) == 10


def test_lambda_of_a_comprehension_and_a_call() -> None:
    made = [lambda x, k=k: x + k for k in range(3)]
    assert [staged(f, 1) for f in made] == [1, 2, 3]
    assert sorted([3, -4, 1], key=ag.to_graph(lambda v: v * v)) == [1, 3, -4]


# -- text that is in no file --------------------------------------------------------------------------------

DOUBLE = "def double(x):\n    total = 0\n    for _ in range(2):\n        total += x\n    return total\n"


def executed(text: str, name: str, keep: bool = True) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "executed", "ag": ag}
    if keep:
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names)
    return names


def test_exec_with_a_linecache_entry() -> None:
    assert staged(executed(DOUBLE, "<made 1>")["double"], 4) == 8


def test_decorator_in_executed_text() -> None:
    names = executed("@ag.to_graph\n" + DOUBLE + "again = ag.to_graph(lambda x: double(x) + 1)\n", "<made 2>")
    assert (names["double"](4), names["again"](4)) == (8, 9)


def test_exec_without_source() -> None:
    names = executed(DOUBLE, "<made 3>", keep=False)
    f = ag.to_graph(names["double"])
    with pytest.raises(ag.ConversionError) as caught:
        f(4)
    assert str(caught.value).split("\n") == [
        "the source of 'double' cannot be found.",
        "  <made 3>:1:",
        "A function is converted from its source text. The code of 'double' says it is from '<made 3>', "
        "line 1, and there is no text under that name: it was made by exec or eval, typed into a shell that "
        "keeps no source, or its file is gone.",
        "Put the function into a file. For text given to exec, compile it under a file name of its own and "
        "keep the text: linecache.cache[name] = (len(text), None, text.splitlines(True), name).",
    ]
    assert f.eager(4) == 8
    with ag.eager():
        assert f(4) == 8


def test_helper_without_source() -> None:
    double = executed(DOUBLE, "<made 4>", keep=False)["double"]
    with pytest.raises(ag.ConversionError, match="the source of 'double' cannot be found"):
        ag.to_graph(lambda x: double(x) + 1)(3)


def test_do_not_convert_needs_no_source() -> None:
    double = ag.do_not_convert(executed(DOUBLE, "<made 5>", keep=False)["double"])
    assert ag.to_graph(lambda x: [double(x)])(3) == [6]


def test_bytecode_whose_source_is_gone(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "gone.py"
    file.write_text(DOUBLE)
    compiled = py_compile.compile(str(file), str(tmp_path / "gone.pyc"))
    assert compiled is not None
    file.unlink()
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location("gone", compiled)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(ag.ConversionError, match="the source of 'double' cannot be found"):
        ag.to_graph(module.double)(3)


def test_file_that_changed(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "changed.py"
    file.write_text(DOUBLE)
    names: dict[str, Any] = {"__name__": "changed"}
    exec(compile(DOUBLE, str(file), "exec"), names)
    file.write_text(DOUBLE.replace("range(2)", "range(3)"))
    with pytest.raises(ag.ConversionError, match="is not what the function was compiled from"):
        ag.to_graph(names["double"])(3)


def test_console() -> None:
    """`code.InteractiveConsole`, as the shells of many programs use it, with the text kept in linecache."""
    console = code.InteractiveConsole({"ag": ag, "__name__": "__console__"})
    text = "@ag.to_graph\n" + DOUBLE + "\n"
    linecache.cache["<console-1>"] = (len(text), None, text.splitlines(True), "<console-1>")
    assert console.runsource(text, "<console-1>", "exec") is False
    assert console.locals["double"](4) == 8  # type: ignore[index]


def test_doctest() -> None:
    text = ">>> @ag.to_graph\n... def f(n):\n...     return n if n > 3 else f(n + 2)\n>>> f(1)\n5\n"
    example = doctest.DocTestParser().get_doctest(text, {"ag": ag}, "sample", None, None)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    result = shell.run_cell(text)
    result.raise_error()
cell("import autograph as ag")
cell("@ag.to_graph\\ndef f(n):\\n    t = 0\\n    for i in range(n):\\n        t += i\\n    return t")
cell("print('got', f(5), f.get_graph(5).op_types()['while_loop'])")
cell("def helper(x):\\n    return x + 1")
cell("g, h = ag.to_graph(lambda x: helper(x)), ag.to_graph(lambda x: x * 2)")
cell("print('got', g(5), h(5))")
cell("def helper(x):\\n    return x + 2")
cell("print('got', g(5))")
cell("@ag.to_graph\\ndef bad(x):\\n    return [x][x]")
shell.run_cell("bad(3)")
"""


def run_python(*arguments: str, text: str = "", python: str = sys.executable) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(
        [python, *arguments], input=text, capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_notebook(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("IPython")
    file = tmp_path / "notebook.py"
    file.write_text(NOTEBOOK)
    out = run_python(str(file))
    assert [line for line in out.splitlines() if line.startswith("got")] == ["got 10 1", "got 6 10", "got 7"]
    out = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert "return [x][x]" in out and "list index out of range" in out and "operators" not in out


@pytest.mark.skipif(sys.version_info < (3, 13), reason="older shells keep no source")
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_shell() -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
        os.execve(sys.executable, [sys.executable, "-q"], environment)
    typed = [
        "import autograph as ag",
        "def f(x): return x * 2 if x > 3 else x",
        "",
        "g = ag.to_graph(f)",
        "print('<<', g(100), g(2), (ag.to_graph(lambda x: x + 7))(1), '>>')",
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
    assert b"<< 200 2 8 >>" in output


def test_minus_c_and_stdin() -> None:
    text = "import autograph as ag\nf = ag.to_graph(lambda x: x + 1)\n"
    text += "try: print(f(1))\nexcept ag.ConversionError as e: print(e)"
    for out in (run_python("-c", text), run_python("-", text=text + "\n")):
        first = out.splitlines()[0]
        assert first in ("2", "the source of '<lambda>' cannot be found.")


def test_module_run_as_main(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "main.py"
    file.write_text("import autograph as ag\n@ag.to_graph\n" + DOUBLE + "print(double(4))\n")
    assert run_python(str(file)) == "8\n"


# -- every kind of callable ---------------------------------------------------------------------------------


def counted(fn: Any) -> Any:
    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs) + 1

    return wrapper


def scaled(factor: int) -> Any:
    def decorate(fn: Any) -> Any:
        return lambda *args: fn(*args) * factor

    return decorate


@ag.to_graph
@counted
@scaled(3)
def decorated(x: int) -> int:
    return x if x > 0 else -x


@counted
@ag.to_graph
@scaled(2)
def decorated_inside(x: int) -> int:
    return x if x > 0 else -x


def test_stacked_decorators() -> None:
    assert (decorated(-2), decorated(2), decorated_inside(-2)) == (7, 7, 5)
    with ag.eager(ops=True):
        assert (decorated(-2), decorated_inside(-2)) == (7, 5)


class Shape:
    """Methods of every kind."""

    scale = 3

    def __init__(self, size: int) -> None:
        self.size = size

    @ag.to_graph
    def area(self, n: int) -> int:
        total = 0
        for _ in range(n):
            total += self.size * self.scale
        return total

    @classmethod
    @ag.to_graph
    def of(cls, n: int) -> int:
        return n * cls.scale

    @ag.to_graph
    @classmethod
    def of_too(cls, n: int) -> int:
        return n * cls.scale

    @staticmethod
    @ag.to_graph
    def twice(n: int) -> int:
        return n * 2

    @ag.to_graph
    @staticmethod
    def thrice(n: int) -> int:
        return n * 3

    def __call__(self, n: int) -> int:
        return self.size + n

    def plain(self, n: int) -> int:
        return self.size - n

    def __secret(self, n: int) -> int:
        return self.size**n

    def shown(self, n: int) -> int:
        return self.__secret(n)

    @property
    def half(self) -> int:
        return self.size // 2


class Square(Shape):
    """Inherits them."""

    scale = 4

    def plain(self, n: int) -> int:
        return super().plain(n) * 10


def test_methods() -> None:
    shape, square = Shape(2), Square(5)
    assert (shape.area(3), square.area(3)) == (18, 60)
    assert (Shape.of(2), Square.of(2), Shape.of_too(2), Square.of_too(2)) == (6, 8, 6, 8)
    assert (Shape.twice(4), shape.twice(4), Shape.thrice(4), shape.thrice(4)) == (8, 8, 12, 12)
    assert Shape.area(shape, 1) == 6


def test_bound_methods_callables_and_partials() -> None:
    shape = Square(5)
    assert staged(shape.plain, 2) == 30
    assert staged(shape, 2) == 7
    assert staged(shape.shown, 2) == 25
    assert staged(lambda n: shape.half + n, 1) == 3
    assert staged(functools.partial(shape.plain, 1)) == 40
    assert staged(functools.partial(lambda a, b, c=0: (a - b) * c, 9, c=2), 4) == 10
    assert staged(functools.partial(functools.partial(lambda a, b, c: a * 100 + b * 10 + c, 1), 2), 3) == 123


def test_nested_functions_and_closures() -> None:
    count = 10

    def outer(n: int) -> int:
        def inner(k: int) -> int:
            return k * count if k > 1 else n

        return inner(n) + inner(1)

    assert staged(outer, 3) == 33
    f = ag.to_graph(outer)
    assert f(3) == 33
    count = 20
    assert f(3) == outer(3) == 63


def test_functions_made_in_a_loop() -> None:
    functions = []
    for i in range(3):

        def f(x: int, i: int = i) -> int:
            return x * i

        functions.append(ag.to_graph(f))
    assert [f(5) for f in functions] == [0, 5, 10]


def test_names_are_kept() -> None:
    assert (Shape.area.__name__, Shape.area.__doc__, decorated_inside.__name__) == ("area", None, "<lambda>")
    assert ag.to_graph(ONE).__name__ == "<lambda>"
    assert ag.to_graph(functools.partial(ONE)).__name__ == "<lambda>"


def test_what_is_no_function() -> None:
    for value in (3, "text", print, int, len):
        with pytest.raises(TypeError, match="is not a Python function, method or callable object"):
            ag.to_graph(value)  # type: ignore[call-overload]


def test_program_text_with_odd_lines() -> None:
    text = textwrap.dedent(
        '''
        def tabs(x):
        \tif x > 1: x = x + \\
        \t\t\t1
        \treturn x ; y = """
        not code"""
        '''
    )
    assert staged(executed(text, "<made 6>")["tabs"], 4) == 5
