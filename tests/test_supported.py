"""Each row of docs/supported.md says what is so: its snippets run in three modes, or are refused."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import supported
from tests.programs.oracle import difference, outcome
from tests.supported import BUILTINS, DTYPES, NUMPY, REFUSED, ROWS, UFUNCS

PAGE = (Path(__file__).parent.parent / "docs" / "supported.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.+?) \| (.*?) \|(?: (.*?) ?\|)?$", PAGE, re.MULTILINE)
CELLS = {first for first, *_ in TABLE if first not in ("construct", "group", "")}
NUMPY_CELLS = dict(
    re.findall(r"^\| ((?!group)[a-z]+(?: [a-z]+)?) \| (.*) \|$", PAGE.partition("## NumPy")[2], re.MULTILINE)
)


def compared(function: Callable[..., Any], inputs: list[tuple[Any, ...]], rtol: float = 1e-12) -> None:
    """Checks that a function does the same plainly, as a graph and op by op, on all inputs in turn."""
    graph, ops = ag.to_graph(function), ag.to_graph(function)
    for given in inputs:
        make = lambda given=given: copy.deepcopy(given)
        plain = outcome(function, make)
        assert difference(plain, outcome(graph, make), rtol=rtol) is None
        with ag.eager():
            assert difference(plain, outcome(ops, make), rtol=rtol) is None
        with ag.eager(ops=True):
            assert difference(plain, outcome(ops, make), rtol=rtol) is None


SNIPPETS = [(cell, *snippet) for cell, snippets in ROWS.items() for snippet in snippets]


@pytest.mark.parametrize(
    ("cell", "function", "inputs", "ops"), SNIPPETS, ids=[function.__name__ for _, function, _, _ in SNIPPETS]
)
def test_row(cell: str, function: Callable[..., Any], inputs: list[tuple[Any, ...]], ops: str) -> None:
    compared(function, inputs)
    found = ag.to_graph(function).get_graph(*copy.deepcopy(inputs[0])).op_types()
    assert set(ops.split()) <= set(found), f"{cell}: {found}"


NAMED = {**{f"builtin {name}": row for name, row in BUILTINS.items()}, **NUMPY, **UFUNCS}


@pytest.mark.parametrize("name", NAMED)
def test_function(name: str) -> None:
    function, given = NAMED[name]
    compared(function, [given, given])


@pytest.mark.parametrize("first", DTYPES)
def test_dtype(first: str) -> None:
    for second in DTYPES:
        x, y = np.arange(3).astype(first), np.ones(3).astype(second)
        compared(supported.promoted, [(x, y, 2)])


REFUSALS = [(cell, *each) for cell, every in REFUSED.items() for each in every]


@pytest.mark.parametrize(
    ("cell", "function", "given", "message"),
    REFUSALS,
    ids=[function.__name__ for _, function, _, _ in REFUSALS],
)
def test_refused(cell: str, function: Callable[..., Any], given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ag.StagingError) as info:
        ag.to_graph(function)(*given)
    text = str(info.value)
    assert message in text
    assert "supported.py" in text


def test_every_row_has_a_snippet() -> None:
    listed = next(cell for cell in CELLS if cell.startswith("`abs all"))
    assert {*ROWS, *REFUSED, listed, *NUMPY_CELLS} == CELLS
    assert set(listed.strip("`").split()) == set(BUILTINS)


def test_every_function_of_numpy_has_a_snippet() -> None:
    functions = {
        name
        for group in ("creation", "reductions", "shape", "selection", "linear algebra", "ufuncs")
        for quoted in re.findall("`([^`]*)`", NUMPY_CELLS[group])
        for name in quoted.replace("np.linalg.", "").split()
        if name not in ("axis", "keepdims", "...")
    }
    assert functions == set(NUMPY)
    assert set(re.findall("[a-z]+", NUMPY_CELLS["ufuncs"].partition("`")[0])) == set(UFUNCS)


def test_dtypes_are_those_of_the_page() -> None:
    named = re.findall(r"(\w+)(?: to (\w+))?", NUMPY_CELLS["dtypes"].partition(";")[0])
    spelled = {n for pair in named for n in pair if n}
    assert {d for d in DTYPES if d not in ("int16", "int32", "uint16", "uint32")} == spelled
