"""With guards, an access past the end of an array, or to one that is gone, ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SETUP = """
import ctypes
import numpy as np
from numpy._core.multiarray import get_handler_name
import autograph as ag

@ag.to_graph
def f(x):
    y = x * 2 + 1
    for i in range(1, len(y)):
        y[i] += y[i - 1]
    return y[::2].copy()

assert f(np.arange(7.0)).tolist() == [1, 9, 25, 49]
x = f(np.arange(7.0))
assert get_handler_name(x) == get_handler_name(np.ones(3)) == "guarded"
x.resize(9, refcheck=False)
assert x.tolist() == [1, 9, 25, 49, 0, 0, 0, 0, 0]
y = np.zeros(7, np.int8)
address = y.ctypes.data
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("", 0),
        ("ctypes.memset(address + 6, 1, 1)", 0),
        ("ctypes.memset(address + 7, 1, 1); del y", -6),
        ("ctypes.memset(address - 1, 1, 1); del y", -6),
        ("ctypes.memset(address + 16, 1, 1)", -11),
        ("ctypes.string_at(address + 16)", -11),
        ("del y; ctypes.string_at(address)", -11),
    ],
)
def test_guards(what: str, status: int, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "AUTOGRAPH_GUARD": "1",
        "AUTOGRAPH_BACKEND": "native",
        "PYTHONPATH": str(ROOT),
    }
    program = tmp_path / "program.py"
    program.write_text(SETUP + what)
    done = subprocess.run(
        [sys.executable, str(program)], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == status, done.stderr
    assert ("were changed" in done.stderr) == (status == -6)
