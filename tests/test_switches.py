"""Every switch in the table of docs/switches.md works, and changes nothing that a program prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = (ROOT / "docs" / "switches.md").read_text(encoding="utf-8")
SWITCHES = re.findall(r"^\| `(AUTOGRAPH_\w+)=(\w+)` \|", TABLE, re.MULTILINE)
PROGRAM = """\
import autograph as ag

@ag.to_graph
def total(n):
    result = 0
    for i in range(n):
        if i % 2:
            print("odd", i)
        result += i
    return result

print(total(4), ag.get_mode())
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def run(program: Path, **switches: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUTOGRAPH_")}
    return subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        env={**kept, "PYTHONPATH": str(ROOT), **switches},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_table_has_the_switches() -> None:
    names = ("MODE", "DEBUG", "CHECK", "BACKEND", "CACHE_DIR", "THREADS", "GUARD")
    assert {name for name, _ in SWITCHES} == {f"AUTOGRAPH_{name}" for name in names}


def test_without_a_switch_nothing_is_shown(program: Path) -> None:
    done = run(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "odd 1\nodd 3\n6 graph\n", "")


@pytest.mark.parametrize(("name", "value"), SWITCHES, ids=["=".join(switch) for switch in SWITCHES])
def test_switch(name: str, value: str, program: Path) -> None:
    done = run(program, **{name: value})
    mode = value if name == "AUTOGRAPH_MODE" else "graph"
    assert (done.returncode, done.stdout) == (0, f"odd 1\nodd 3\n6 {mode}\n"), done.stderr
    assert bool(done.stderr) == (name == "AUTOGRAPH_DEBUG")


def test_unknown_mode_is_refused(program: Path) -> None:
    done = run(program, AUTOGRAPH_MODE="fast")
    assert done.returncode != 0
    assert "AUTOGRAPH_MODE" in done.stderr and "'fast'" in done.stderr
