"""The matrix of supported Python versions: `nox` runs the tests under each one that is installed."""

import nox

nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.10", "3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Tests, doctests, examples and README blocks; arguments after `--` go to pytest."""
    session.install(".[test]")
    session.run("pytest", *(session.posargs or ["-n", "auto"]))


@nox.session
def lint(session: nox.Session) -> None:
    """Lint, format, types and layers."""
    session.install(".[dev]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
