"""Every example runs from top to bottom, asserts its own result, and warns of nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("mode", ["graph", "ops"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, mode: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        encoding="utf-8",
        env=environment(mode),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip(), "an example prints a short report"


def environment(mode: str) -> dict[str, str]:
    """The environment of a user who has set no other switch of ours."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AUTOGRAPH_")}
    return {**kept, "AUTOGRAPH_MODE": mode, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
