"""Operators on all kinds of numbers give in a graph what they give in Python.

A fixed sample runs by default; `AUTOGRAPH_TABLE=1.0` sets the share of all pairs of kinds that is tried.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.programs.table import BINARY, UNARY, check_call, check_operator, make_function

SHARE = float(os.environ.get("AUTOGRAPH_TABLE", "0.02"))
PAIRS = 1.0 if SHARE == 1.0 else 0.1


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
def test_operator_agrees_with_python(name: str) -> None:
    """Value, exact type, exception and message are those of Python."""
    problems, counts = check_operator(name, SHARE, PAIRS)
    assert not problems, "\n".join(problems[:5]) + f"\n({len(problems)} of {counts['calls']} calls)"


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("a < b in (True, 2)", (1, np.int16(3))),
        ("a is not None is b", (1, None)),
        ("1 in a not in (2, 3)", ((1, 2), 0)),
        ("[10, 20, 30][a]", (np.array(1),)),
        ("(1, 2, 3)[a]", (np.array(1, np.uint8),)),
        ("'ab' * a", (np.uint16(2),)),
        ("a * b'ab'", (np.int64(2),)),
        ("[1, 2] * a", (np.array(3),)),
        ("x = [1, 2]; y = x; x *= a; return x, y", (np.array(3),)),
        ("x = [1, 2]; y = x; x *= a; return x, y", (np.int8(3),)),
        ("x = [1, 2]; y = x; x += a; return x, y", (np.array([3, 4]),)),
        ("x = [1, 2, 3]; x.insert(a, 9); return x", (np.array(1),)),
        ("a.__class__", (1,)),
        ("a.__class__", (np.zeros(2),)),
        ("a.index(2), a.count(True)", ((1, 2),)),
        ("a.index(b)", ((1, 2), 3)),
        ("a.foo", ((1, 2),)),
        ("np.equal(a, None)", (np.array([1, 2]),)),
        ("np.maximum(a, None)", (np.array([]),)),
        ("np.less(a, None)", (np.array([]),)),
        ("np.less(a, None)", (np.array([1]),)),
        ("a + None", (np.array([]),)),
        ("a < None", (np.array([]),)),
        ("a + None", (np.array([1.0]),)),
        ("2 in a, None in a", (np.array(2),)),
        ("[10, 20, 30][a]", (np.uint64(2**64 - 1),)),
        ("x = [1, 2, 3]; x[a] = 9; return x", (np.uint64(2**64 - 1),)),
        ("np.arange(6).reshape(a)", (np.uint64(2**64 - 1),)),
        ("np.repeat(np.arange(3), a)", (np.uint64(2),)),
        ("math.gcd(a, b)", (-(2**63), 10)),
        ("a / b", (1 + 2j, np.float64(0.0))),
        ("a / b", (complex(-0.0, -1.5), np.float64(2.5))),
        ("a /= b; return a", (1j, np.float64(-0.0))),
        ("a ** b", (np.array(True), 2)),
        ("a ** b", (np.array(True), 3)),
        ("math.gcd(a, b)", (0, -(2**63) + 1)),
    ],
)
def test_found_by_the_table(text: str, args: tuple[Any, ...]) -> None:
    """What the whole table once found."""
    assert check_call(text, *args) == []


@pytest.mark.parametrize(
    ("text", "arg"), [("a.__str__()", (1, 2)), ("a.__add__(1)", 1), ("a.numerator", np.int8(1))]
)
def test_attributes_without_an_op_are_refused(text: str, arg: Any) -> None:
    """They exist, so it is no AttributeError either."""
    with pytest.raises(ag.StagingError, match="of a traced value of class"):
        ag.to_graph(make_function(text))(arg)


@pytest.mark.parametrize(
    "text",
    ["3 ** a", "pow(a, a)", "x = 3; x **= a; return x", "True << a", "math.factorial(a)", "math.perm(a, 30)"],
)
def test_integer_that_python_takes_ages_to_compute_is_refused_at_once(text: str) -> None:
    """A result that is sure to be too wide is not computed first."""
    with pytest.raises(ag.IntegerOverflow):
        ag.to_graph(make_function(text))(2**40)


def test_a_quotient_that_does_not_fit_is_refused() -> None:
    @ag.to_graph
    def both(a: int, b: int) -> tuple[int, int]:
        return divmod(a, b)

    assert both(7, 2) == (3, 1)
    with pytest.raises(ag.IntegerOverflow, match="does not fit in 64 bits"):
        both(-(2**63), -1)
