"""The command line: what each command prints, and one clear line for each mistake."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograph.__main__ import main

PROGRAM = """\
import autograph as ag


@ag.to_graph
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def scaled(x, by=2):
    return x.sum() * by


def fails(n):
    raise ValueError(f"not {n}")


async def later(n):
    return n


class Tools:
    @staticmethod
    def double(n):
        return n * 2


LIMIT = 27
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    yield str(path)
    for name in set(sys.modules) - before:
        if name in ("program", "autograph_user_file"):
            del sys.modules[name]


def test_code_is_python_source(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["code", f"{program}:collatz"]) == 0
    code = capsys.readouterr().out
    compile(code, "<code>", "exec")
    assert "while_stmt" in code and "\x1b" not in code


def test_graph_shows_the_ops(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", f"{program}:collatz", "27"]) == 0
    assert "while_loop" in capsys.readouterr().out


def test_explain_names_the_loop(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{program}:collatz", "27"]) == 0
    assert "staged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ([], "@ag_entry"),
        (["--kind", "asm"], "ag_entry:"),
        (["--kind", "loops"], "in registers: n: int, steps: int"),
    ],
    ids=["default", "asm", "loops"],
)
def test_native_shows_the_machine_code(
    program: str, kind: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["native", *kind, f"{program}:collatz", "27"]) == 0
    assert shown in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "printed"),
    [
        (["collatz", "27"], "111\n"),
        (["collatz", "LIMIT"], "111\n"),
        (["collatz", "n=3 + 3"], "8\n"),
        (["scaled", "np.arange(4.0)", "by=-1"], "np.float64(-6.0)\n"),
        (["Tools.double", "-4"], "-8\n"),
    ],
    ids=" ".join,
)
def test_run_prints_the_result(
    program: str, call: list[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", f"{program}:{call[0]}", *call[1:]]) == 0
    assert capsys.readouterr().out == printed


def test_run_lets_the_users_exception_pass(program: str) -> None:
    with pytest.raises(ValueError, match="not 3"):
        main(["run", f"{program}:fails", "3"])


def test_what_cannot_be_staged_is_status_1(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", f"{program}:later", "3"]) == 1
    assert capsys.readouterr().err.startswith("ConversionError: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["code", "absent.py:f"], "error: there is no file 'absent.py'"),
        (["code", "absent.py"], "error: 'absent.py' is not of the form FILE:FUNCTION"),
        (["code", "{program}:absent"], "error: there is no 'absent' in {program}"),
        (["code", "{program}:LIMIT"], "error: 'LIMIT' in {program} is not a function, it is int"),
        (["run", "{program}:collatz", "1 +"], "error: argument '1 +': SyntaxError: invalid syntax"),
        (
            ["run", "{program}:collatz", "no"],
            "error: argument 'no': NameError: name 'no' is not defined",
        ),
        (["run", "{program}:collatz"], "error: missing a required argument: 'n'; the parameters are (n)"),
        (["code", "{program}:collatz", "3"], "error: code takes no arguments for the function"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    program: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument.format(program=program) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith(message.format(program=program))
    assert printed.err.count("\n") == 1 and printed.out == ""


@pytest.mark.parametrize(("text", "reason"), [("def f(:", "invalid syntax"), ("1 / 0", "ZeroDivisionError")])
def test_file_that_does_not_load(
    text: str, reason: str, program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(program).write_text("\n" + text + "\n", encoding="utf-8")
    assert main(["code", f"{program}:f"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {program}:2: ") and reason in error and error.count("\n") == 1


def test_module_runs_from_a_shell(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "autograph", "run", f"{program}:collatz", "6"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "8\n", "")


def test_terminal_gets_colours_of_rich(
    program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["code", f"{program}:collatz"]) == 0
    assert "\x1b[" in capsys.readouterr().out


def test_import_loads_nothing_that_a_first_call_can_do_without() -> None:
    late = {"astunparse", "rich", "llvmlite", "scipy", "pathlib", "hashlib", "tempfile"}
    late |= {"autograph.graph.parse", "autograph.core.unparser", "autograph.compiler.entry"}
    late |= {f"autograph.compiler.{name}" for name in ("creation", "linear", "sorting", "lapack")}
    program = f"import sys, autograph; sys.exit(' '.join({late} & set(sys.modules)) or 0)"
    run = [sys.executable, "-c", program]
    assert subprocess.run(run, cwd=Path(__file__).parent.parent, capture_output=True).stderr == b""


def test_rich_is_loaded_only_for_a_terminal() -> None:
    program = "import sys, autograph, autograph.__main__; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parent.parent).returncode == 0
