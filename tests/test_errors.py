"""Errors: the message of every wrong program, and the user's own exceptions with their tracebacks."""

from __future__ import annotations

import copy
import linecache
import os
import pathlib
import re
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import failing_programs, wrong_programs

HERE = pathlib.Path(__file__).parent
LIBRARY = os.path.dirname(ag.__file__) + os.sep
MESSAGES = HERE / "wrong_programs.txt"
GENERATED = re.compile(
    r"ag__|get_state|set_state|loop_(body|test)|(if|else|try|except|with)_body|retval_?|do_return|did_(break|continue)"
    r"|__converted|factory|list_comp|yield__|<tensor|autograph[/\\.](operators|graph|ops|core|converters|runtime)"
)


def expected_messages() -> dict[str, str]:
    parts = re.split(r"^== (\w+)\n", MESSAGES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2])}


def without_carets(text: str) -> str:
    return re.sub(r"\n *\^+(?=\n|$)", "", text)


def failure(name: str) -> ag.StagingError:
    fn, args, options = wrong_programs.PROGRAMS[name]
    with pytest.raises(ag.StagingError) as caught:
        ag.to_graph(fn, **options)(*copy.deepcopy(args))
    return caught.value


def message(error: BaseException) -> str:
    return normalized(f"{type(error).__name__}: {error}", wrong_programs.__file__)


def normalized(text: str, file: str) -> str:
    """The text with the file's name in the place of its path; the carets move with it."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith(f"  {file}:"):
            lines[i] = line.replace(file, os.path.basename(file))
            if i + 1 < len(lines) and set(lines[i + 1]) == {" ", "^"}:
                lines[i + 1] = lines[i + 1][len(file) - len(os.path.basename(file)) :]
    return "\n".join(lines)


@pytest.mark.parametrize("name", wrong_programs.PROGRAMS)
def test_message(name: str) -> None:
    """AUTOGRAPH_WRITE_MESSAGES=1 pytest tests/test_errors.py -k test_message writes them anew."""
    error = failure(name)
    text = message(error)
    if os.environ.get("AUTOGRAPH_WRITE_MESSAGES"):
        known = expected_messages() if MESSAGES.exists() else {}
        known[name] = text
        kept = [n for n in wrong_programs.PROGRAMS if n in known]
        MESSAGES.write_text("\n".join(f"== {n}\n{known[n]}\n" for n in kept), encoding="utf-8")
    expected = expected_messages()[name]
    if sys.version_info >= (3, 11):
        assert text == expected
    elif (
        "the result of '" in expected and "host_call(" in expected
    ):  # older code objects know no columns, so the call is not quoted
        assert "host call" in text.split("\n")[0] and text.split("\n")[1] == expected.split("\n")[1]
    else:
        assert without_carets(text) == without_carets(expected)


@pytest.mark.parametrize("name", wrong_programs.PROGRAMS)
def test_message_has_its_parts(name: str) -> None:
    error = failure(name)
    location = error.location
    assert location is not None and location.filename == wrong_programs.__file__
    fn = wrong_programs.PROGRAMS[name][0]
    lines = range(fn.__code__.co_firstlineno, fn.__code__.co_firstlineno + 40)
    assert location.line in lines or "called" in name
    where, caret = str(error).split("\n")[1:3]
    assert where.endswith(linecache.getline(location.filename, location.line).strip())
    if sys.version_info >= (3, 11):
        assert set(caret.strip()) == {"^"}
    assert error.what and error.why.endswith(".") and error.instead.endswith((".", "..."))
    assert not GENERATED.search(message(error))


@pytest.mark.parametrize("name", wrong_programs.PROGRAMS)
def test_traceback_ends_at_the_users_line(name: str) -> None:
    error = failure(name)
    frames = traceback.extract_tb(error.__traceback__)
    assert [f.filename for f in frames if f.filename.startswith(LIBRARY)] == [LIBRARY + "function.py"]
    assert error.location is not None
    assert (frames[-1].filename, frames[-1].lineno) == (error.location.filename, error.location.line)
    assert not GENERATED.search("\n".join(f.name for f in frames))
    text = "".join(traceback.format_exception(error))
    assert error.what in text and error.why in text and error.instead in text


def test_traceback_shows_the_calls() -> None:
    error = failure("fails_in_a_function_that_is_called")
    frames = traceback.extract_tb(error.__traceback__)
    names = [f.name for f in frames if f.filename == wrong_programs.__file__]
    assert names == ["fails_in_a_function_that_is_called", "calls_deeply_middle", "calls_deeply_inner"]


def test_there_are_many() -> None:
    assert len(wrong_programs.PROGRAMS) >= 45
    assert set(expected_messages()) == set(wrong_programs.PROGRAMS)


def test_except_star(tmp_path: pathlib.Path) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("syntax of Python 3.11")
    text = "def f(x):\n    try:\n        x = 1 // x\n    except* ValueError:\n        x = 1\n    return x\n"
    with pytest.raises(ag.ConversionError) as caught:
        ag.to_graph(from_file(tmp_path, text)["f"])(1)
    assert normalized(str(caught.value), str(tmp_path / "made.py")).split("\n") == [
        "'except*' cannot be converted.",
        "  made.py:2:  try:",
        "              ^^^^",
        "Exception groups split one exception over several handlers, which a graph has no operation for.",
        "Use 'except' with a tuple of types.",
    ]


def from_file(folder: pathlib.Path, text: str) -> dict[str, Any]:
    file = folder / "made.py"
    file.write_text(text, encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": "made"}
    exec(compile(text, str(file), "exec"), namespace)
    return namespace


def test_without_source() -> None:
    namespace: dict[str, Any] = {"__name__": "nowhere"}
    exec(compile("def f(x): return x", "<nowhere>", "exec"), namespace)
    with pytest.raises(ag.ConversionError) as caught:
        ag.to_graph(namespace["f"])(1)
    text = str(caught.value)
    assert text.startswith("the source of 'f' cannot be found.\n  <nowhere>:1:\n")
    assert text.endswith("linecache.cache[name] = (len(text), None, text.splitlines(True), name).")


def test_unknown_static_name() -> None:
    def takes_none() -> None: ...

    with pytest.raises(ValueError, match=r"static names \['m'\] are not parameters of 'takes_none'"):
        ag.to_graph(takes_none, static="m")


def test_not_a_function() -> None:
    with pytest.raises(TypeError, match="3 is not a Python function, method or callable object"):
        ag.to_graph(3)  # type: ignore[call-overload]


def test_seterr_asks_for_errors() -> None:
    f = ag.to_graph(lambda x: 1.0 / x)
    asks = r"np.seterr asks for .*'divide': 'raise'"
    with np.errstate(divide="raise"), pytest.raises(ag.StagingError, match=asks):
        f(0.0)


def test_refusal_is_not_swallowed(capsys: pytest.CaptureFixture[str]) -> None:
    def f(n: int) -> int:
        try:
            return [n][hash(n)]
        except Exception:
            return -1

    with pytest.raises(ag.StagingError, match="hash"):
        ag.to_graph(f)(1)


# -- the user's own exceptions -------------------------------------------------------------------------------


def seen(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The exception that a call ends with: type, message, lines, and the same of its context and cause."""
    try:
        fn(*copy.deepcopy(args))
    except Exception as error:
        return described(error)
    raise AssertionError("it does not fail")


def described(error: BaseException | None) -> Any:
    if error is None:
        return None
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(f.lineno, f.name) for f in frames if f.filename == failing_programs.__file__]
    inside = (described(error.__context__), described(error.__cause__), error.__suppress_context__)
    return type(error), str(error), lines, inside


@pytest.mark.parametrize("name", failing_programs.PROGRAMS)
@pytest.mark.parametrize("mode", ["graph", "ops"])
def test_exception_is_pythons(name: str, mode: str) -> None:
    fn, args = failing_programs.PROGRAMS[name]
    plain = seen(fn, args)
    staged = ag.to_graph(fn)
    with ag.graph() if mode == "graph" else ag.eager(ops=True):
        assert seen(staged, args) == plain
        assert seen(staged, args) == plain, "the second call"
        try:
            staged(*copy.deepcopy(args))
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            assert sum(f.filename.startswith(LIBRARY) for f in frames) == 1
            text = "".join(traceback.format_exception(error))
            assert text.count(LIBRARY) == 1 and not GENERATED.search(text)


@pytest.mark.parametrize("name", failing_programs.PROGRAMS)
def test_exception_inside_a_handler_of_the_caller(name: str) -> None:
    fn, args = failing_programs.PROGRAMS[name]
    staged = ag.to_graph(fn)

    def in_handler(call: Callable[..., Any]) -> Any:
        try:
            raise LookupError("outer")
        except LookupError:
            return seen(call, args)

    assert in_handler(staged) == in_handler(fn)


@pytest.mark.parametrize("mode", ["graph", "ops"])
def test_finally_runs_on_overflow(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    def f(n: int) -> int:
        try:
            return n * 4
        except BaseException:
            return -1
        finally:
            print("finally")

    if mode == "graph":
        with pytest.raises(ag.IntegerOverflow):
            ag.to_graph(f)(2**62)
        assert capsys.readouterr().out == "finally\n"


def test_an_instance_raised_twice_is_the_same() -> None:
    error = ValueError("one")

    def f(n: int) -> int:
        if n > 0:
            raise error
        return n

    staged = ag.to_graph(f)
    for _ in range(3):
        error.__traceback__ = None
        with pytest.raises(ValueError) as caught:
            staged(1)
        assert caught.value is error
        assert [x.name for x in traceback.extract_tb(error.__traceback__)][-1] == "f"
        assert len(traceback.extract_tb(error.__traceback__)) == 3


def test_a_known_exception_is_new_each_time() -> None:
    def f(n: int) -> int:
        if n > 0:
            return 1 // 0
        return n

    staged = ag.to_graph(f)
    errors = []
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as caught:
            staged(1)
        errors.append(caught.value)
        assert len(traceback.extract_tb(caught.value.__traceback__)) == 3
    assert errors[0] is not errors[1]
