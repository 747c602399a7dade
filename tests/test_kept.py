"""Converted functions on disk: the next process does the same without converting anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import autograph as ag

ROOT = Path(__file__).parent.parent

PROGRAM = """
import sys
import traceback
import autograph as ag
from autograph import conversion

if "again" in sys.argv:
    def refuse(*args, **options):
        raise AssertionError("converted again")
    conversion.parse_function = conversion.convert = refuse

SCALE = 3

def helper(x):
    return x + SCALE

if "class" in sys.argv:
    class helper:
        def __init__(self, x):
            self.x = x * 100
        def __radd__(self, other):
            return self.x + other

class Model:
    __hidden = 2
    def method(self, x):
        return x * self.__hidden

@ag.to_graph
def f(n, model):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            total = total + helper(i)
        else:
            total += model.method(i)
    print(f"{total=}", [j for j in range(3)])
    return total

def outer(k):
    def inner(x):
        return helper(x) + k
    return ag.to_graph(inner)

@ag.to_graph
def fails(n):
    for i in range(n):
        if i == 2:
            raise ValueError("two")
    return n

@ag.to_graph
def numbers(n):
    for i in range(n):
        yield i * i

print(f(5, Model()))
print([outer(k)(4) for k in (1, 2)] if "class" not in sys.argv else "")
print(ag.to_graph(lambda x: x * 2 + 1)(4), ag.to_graph(lambda n: sum(v for v in numbers(n)))(4))
try:
    fails(4)
except ValueError:
    traceback.print_exc(file=sys.stdout)
if "again" not in sys.argv:
    print(f.code.count("ag__.for_stmt"))
"""


def run(folder: Path, *arguments: str, program: str = PROGRAM) -> str:
    """What a process prints that keeps code in a folder."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    environment = {**os.environ, "AUTOGRAPH_CACHE_DIR": str(folder / "code"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(path), *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


def test_the_next_process_converts_nothing(tmp_path: Path) -> None:
    first, second = run(tmp_path), run(tmp_path, "again")
    assert first == second + "2\n"
    assert "in fails\n    raise ValueError" in second and "loop_body" not in second


def test_what_is_converted_depends_on_what_outside_names_are(tmp_path: Path) -> None:
    first, other = run(tmp_path), run(tmp_path, "class")
    assert first != other
    assert run(tmp_path, "class", "again") + "2\n" == other
    assert run(tmp_path, "again") + "2\n" == first


@pytest.mark.parametrize("change", [("i % 2 == 0", "i % 2 == 1"), ("SCALE = 3", "SCALE = 4")])
def test_a_changed_program_is_converted_anew(tmp_path: Path, change: tuple[str, str]) -> None:
    first = run(tmp_path)
    changed = run(tmp_path, program=PROGRAM.replace(*change))
    assert changed.splitlines()[0] != first.splitlines()[0]
    assert run(tmp_path) == first


def test_the_source_of_a_loaded_function_can_be_seen(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path).endswith("\n2\n")


def test_code_with_constants_of_any_kind_is_no_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(x: int) -> int:
        return x + 1

    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path))
    constants = tuple(object() if c == 1 else c for c in f.__code__.co_consts)
    f.__code__ = f.__code__.replace(co_consts=constants)
    with pytest.raises(ag.errors.ConversionError, match="not what the function was compiled from"):
        ag.to_graph(f)(1)
