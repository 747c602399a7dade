"""Runs the project's jobs in a virtual environment that it sets up on first use; needs only Python >= 3.10.

    python3 dev.py example          the main example: result in both modes, generated code and graph
    python3 dev.py test [ARGS...]   the tests, doctests, examples and README blocks; ARGS go to pytest
    python3 dev.py lint             lint, format, types and layers
    python3 dev.py check            everything above: run it before a change is done

Each Python version gets an environment of its own (`.venv-3.12`), so that several can be tested side by side.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv-{}.{}".format(*sys.version_info)
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

LINT: list[list[str]] = [
    ["-m", "ruff", "check", "."],
    ["-m", "ruff", "format", "--check", "."],
    ["-m", "mypy"],
    ["-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
]


def run(arguments: list[str]) -> None:
    """Runs the environment's Python at the root of the repository; ends with its status where it fails."""
    status = subprocess.run([str(PYTHON), *arguments], cwd=ROOT).returncode
    if status:
        sys.exit(status)


def set_up(extra: str) -> None:
    """Makes the environment and installs the project with the named extra, unless that has been done."""
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = VENV / f"installed-{extra}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"setting up {VENV.name} ...", file=sys.stderr, flush=True)
    if not PYTHON.exists() and subprocess.run([sys.executable, "-m", "venv", str(VENV)]).returncode:
        sys.exit(
            "error: this Python has no working venv module (on Debian and Ubuntu: apt install python3-venv)"
        )
    run(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", f".[{extra}]"])
    stamp.write_text(wanted)


def main(arguments: list[str]) -> None:
    """Runs the job named by the first argument."""
    if sys.version_info < (3, 10):  # noqa: UP036 - this file is what an older Python is started with
        sys.exit("error: Python 3.10 or newer is needed, this is " + sys.version.split()[0])
    job, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if job == "example":
        set_up("test")
        run(["examples/main_job.py", *rest])
    elif job == "test":
        set_up("test")
        run(["-m", "pytest", *(rest or ["-n", "auto"])])
    elif job in ("lint", "check"):
        set_up("dev")
        for command in LINT:
            run(command)
        if job == "check":
            run(["-m", "pytest", *(rest or ["-n", "auto"])])
    else:
        sys.exit((__doc__ or "").strip())


if __name__ == "__main__":
    main(sys.argv[1:])
