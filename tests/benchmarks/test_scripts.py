"""The benchmark scripts run, at sizes where nothing is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def run(script: str, *options: str) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_kernels_are_compared(tmp_path: Path) -> None:
    out = run(
        "run_kernels.py", "--tiny", "--no-numba", "--kernels", "crc16,tri*", "--json", str(tmp_path / "out")
    )
    assert "did not run right" not in out
    rows = json.loads((tmp_path / "out").read_text())["kernels"]
    assert [row["kernel"] for row in rows] == ["trisolv", "crc16"]
    assert {row["engines"]["autograph"]["status"] for row in rows} == {"right"}


def test_kernels_are_measured(tmp_path: Path) -> None:
    options = ["--no-numba", "--kernels", "sieve", "--size", "60", "--rounds", "1", "--seconds", "0.01"]
    out = run("run_kernels.py", *options, "--markdown", str(tmp_path / "out"))
    assert "loops: times faster than NumPy: " in out
    assert "| sieve | loops | " in (tmp_path / "out").read_text()


def test_workloads_are_skipped_without_a_folder() -> None:
    assert run("run_workloads.py").startswith("skipped: ")


def test_scaling_runs() -> None:
    out = run("scaling.py", "--largest", "1000", "--length", "1000")
    assert all(f"\n{name} " in out for name in ("sieve", "insertion_sort", "coin_table"))


@pytest.mark.slow
def test_calls_run() -> None:
    assert "import autograph" in run("calls.py", "--repeats", "1")


@pytest.mark.slow
def test_the_front_end_is_measured() -> None:
    assert "\nstraight " in run("frontend.py", "1")
