"""Shows a function's converted code, its graph or its explanation from a shell, or runs it.

    python -m autograph code    FILE:FUNCTION
    python -m autograph graph   FILE:FUNCTION [ARGS...]
    python -m autograph explain FILE:FUNCTION [ARGS...]
    python -m autograph native  [--kind llvm|asm|loops] FILE:FUNCTION [ARGS...]
    python -m autograph run     FILE:FUNCTION [ARGS...]

FUNCTION may be dotted (`Class.method`). Each of ARGS is a Python expression, or `name=expression`; it sees
`np` and the names of the file.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import autograph as ag
from autograph.errors import StagingError

__all__ = ["main"]

NAMED = re.compile(r"([^\W\d]\w*)=(?!=)(.*)", re.DOTALL)


class UsageError(Exception):
    """The command line names something that is not there, in one line of text."""


def load_file(path: Path) -> ModuleType:
    """The module that a file defines, loaded as `python FILE` would, but not as `__main__`."""
    if not path.is_file():
        raise UsageError(f"there is no file {str(path)!r}")
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "autograph_user_file"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{str(path)!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UsageError(f"{error.filename}:{error.lineno}: {error.msg}") from error
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1]
        reason = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1]
        raise UsageError(f"{line.filename}:{line.lineno}: {reason}") from error
    return module


def find_function(target: str) -> tuple[Any, ModuleType]:
    """The function that `FILE:FUNCTION` names, as a graph function, and the module of its file."""
    file, colon, name = target.rpartition(":")
    if not colon or not file or not name:
        raise UsageError(f"{target!r} is not of the form FILE:FUNCTION")
    module = load_file(Path(file))
    found: Any = module
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(f"there is no {name!r} in {file}") from None
    if not callable(found):
        raise UsageError(f"{name!r} in {file} is not a function, it is {type(found).__name__}")
    return (found if hasattr(found, "get_graph") else ag.to_graph(found)), module


def evaluate(texts: Sequence[str], module: ModuleType) -> tuple[list[Any], dict[str, Any]]:
    """The values of the arguments: positional ones, and those of the form `name=expression`."""
    names = {"np": np, **vars(module)}
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for text in texts:
        named = NAMED.fullmatch(text)
        try:
            value = eval(named[2] if named else text, names)
        except Exception as error:
            raise UsageError(f"argument {text!r}: {type(error).__name__}: {error}") from error
        if named:
            keywords[named[1]] = value
        else:
            positional.append(value)
    return positional, keywords


def check_call(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> None:
    """Refuses arguments that do not fit the function's parameters."""
    try:
        signature = inspect.signature(getattr(function, "python_function", function))
    except (TypeError, ValueError):
        return  # nothing is known of its parameters: the call itself will tell
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        raise UsageError(f"{error}; the parameters are {signature}") from error


def show(text: str, language: str | None = None) -> None:
    """Prints a text: in colours on a terminal, exactly as it is elsewhere."""
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.syntax import Syntax

    if language is None:
        Console().print(text, markup=False, highlight=True, soft_wrap=True)
    else:
        Console().print(Syntax(text, language, background_color="default"), soft_wrap=True)


def perform(command: str, target: str, texts: Sequence[str], kind: str = "llvm") -> None:
    """Does what one command line asks for."""
    function, module = find_function(target)
    arguments, keywords = evaluate(texts, module)
    if command == "code":
        if texts:
            raise UsageError("code takes no arguments for the function")
        show(function.code.rstrip("\n"), "python")
        return
    check_call(function, arguments, keywords)
    if command == "graph":
        show(str(function.get_graph(*arguments, **keywords)).rstrip("\n"))
    elif command == "native":
        show(function.get_native(*arguments, kind=kind, **keywords).rstrip("\n"))
    elif command == "explain":
        show(str(function.explain(*arguments, **keywords)).rstrip("\n"))
    else:
        result = function(*arguments, **keywords)
        if result is not None:
            show(repr(result))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line; gives 0, or 1 for what cannot be staged, or 2 for a wrong command line.

    An exception of the user's own passes, with its traceback.

    >>> main(["code", "missing.py:f"])
    2
    """
    parser = argparse.ArgumentParser(prog="python -m autograph", description="Looks inside a function.")
    parser.add_argument("--kind", choices=("llvm", "asm", "loops"), default="llvm", help="of machine code")
    parser.add_argument(
        "command", choices=("code", "graph", "explain", "native", "run"), help="what to show, or run"
    )
    parser.add_argument("target", metavar="FILE:FUNCTION", help="a Python file and a function in it")
    parser.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="Python expressions, `np` is NumPy"
    )
    chosen = parser.parse_args(arguments)
    try:
        perform(chosen.command, chosen.target, chosen.arguments, chosen.kind)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except StagingError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
