"""Operators on all kinds of numbers give in a graph what they give in Python.

A fixed sample runs by default; `AUTOGRAPH_TABLE=1.0` sets the share of all pairs of kinds that is tried.
"""

from __future__ import annotations

import os

import pytest

from tests.programs.table import BINARY, UNARY, check_operator

SHARE = float(os.environ.get("AUTOGRAPH_TABLE", "0.02"))
PAIRS = 1.0 if SHARE == 1.0 else 0.15


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
def test_operator_agrees_with_python(name: str) -> None:
    """Value, exact type, exception and message are those of Python."""
    problems, counts = check_operator(name, SHARE, PAIRS)
    assert not problems, "\n".join(problems[:5]) + f"\n({len(problems)} of {counts['calls']} calls)"
