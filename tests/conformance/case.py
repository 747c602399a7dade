"""What a conformance case is, and what two runs of one must agree on.

A case is a plain function and its inputs; the oracle is the function itself on plain Python and NumPy. All
inputs go through the same converted function in turn, so that a value baked in by the first trace shows up.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import itertools
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **kwargs: Any) -> Arguments:
    """An input with keyword arguments."""
    return args, kwargs


@dataclasses.dataclass(frozen=True)
class Case:
    """A function, its inputs, and what its graph must show.

    `needs` names what the graph of the first input must hold: `while` and `cond` a staged loop or branch;
    `branch` a staged branch or a select; `guard` a staged branch or assertion; `dynamic` a staged branch or
    loop; `print` a staged print. `watch` names globals of the module that must look the same afterwards.
    `report` is the public report whose situation the case shows.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Arguments, ...]
    tags: tuple[str, ...]
    needs: frozenset[str]
    watch: tuple[str, ...] = ()
    report: str = ""


class Suite:
    """The cases of one module, by name."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}

    def add(
        self,
        function: Callable[..., Any],
        inputs: Iterable[Any],
        tags: str,
        needs: str = "",
        *,
        watch: str = "",
        name: str = "",
        report: str = "",
    ) -> None:
        """Declares a case; an input is a tuple of arguments, or a `call`."""
        name = name or function.__name__
        assert name not in self.cases, name
        each = tuple(given if is_call(given) else (tuple(given), {}) for given in inputs)
        needed = frozenset(needs.split())
        self.cases[name] = Case(
            name, function, each, tuple(tags.split()), needed, tuple(watch.split()), report
        )


def is_call(given: Any) -> bool:
    return len(given) == 2 and isinstance(given[0], tuple) and isinstance(given[1], dict)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one call did: everything that a caller can see."""

    result: Any
    exception: Exception | None
    printed: str
    arguments: Arguments
    watched: dict[str, Any]


def outcome(function: Callable[..., Any], case: Case, given: Arguments, module: ModuleType) -> Outcome:
    """Calls the function on a deep copy of the arguments."""
    args, kwargs = copy.deepcopy(given)
    result, exception, text = None, None, io.StringIO()
    with contextlib.redirect_stdout(text), np.errstate(all="ignore"):
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            exception = error
    watched = {name: copy.deepcopy(getattr(module, name)) for name in case.watch}
    return Outcome(result, exception, text.getvalue(), (args, kwargs), watched)


def assert_same(got: Outcome, wanted: Outcome) -> None:
    """Checks result, exception, printed text, arguments, watched globals, and what is shared between them."""
    if wanted.exception is None and got.exception is not None:
        raise got.exception
    assert type(got.exception).__name__ == type(wanted.exception).__name__
    assert str(got.exception) == str(wanted.exception)
    assert got.printed == wanted.printed
    compare(got.result, wanted.result, "result")
    compare(got.arguments, wanted.arguments, "arguments")
    compare(got.watched, wanted.watched, "globals")
    assert sharing(got) == sharing(wanted), "other objects are shared"


def compare(got: Any, wanted: Any, path: str) -> None:
    """Checks type, structure and value; floats may differ by what another order of summation does."""
    assert type(got).__name__ == type(wanted).__name__, f"{path}: {got!r} for {wanted!r}"
    if isinstance(wanted, (np.ndarray, np.generic)):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape, f"{path}: {got!r} for {wanted!r}"
        tolerance = 1e-6 if wanted.dtype in (np.float32, np.complex64) else 1e-13
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=0.0, err_msg=path)
    elif isinstance(wanted, float):
        assert got == wanted or (got != got and wanted != wanted), f"{path}: {got!r} for {wanted!r}"
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted), f"{path}: keys {list(got)} for {list(wanted)}"
        for key in wanted:
            compare(got[key], wanted[key], f"{path}[{key!r}]")
    elif isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted), f"{path}: {got!r} for {wanted!r}"
        for position, pair in enumerate(zip(got, wanted)):
            compare(*pair, f"{path}[{position}]")
    elif hasattr(wanted, "__dict__") and not callable(wanted):
        compare(vars(got), vars(wanted), path)
    else:
        assert got == wanted, f"{path}: {got!r} for {wanted!r}"


def sharing(run: Outcome) -> set[tuple[int, int, bool]]:
    """Which of the mutable objects in result and arguments are the same, or share memory."""
    found = list(mutables((run.result, run.arguments)))
    pairs = set()
    for (i, a), (j, b) in itertools.combinations(enumerate(found), 2):
        if a is b:
            pairs.add((i, j, True))
        elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.shares_memory(a, b):
            pairs.add((i, j, False))
    return pairs


def mutables(value: Any) -> Iterator[Any]:
    """The arrays, lists, dicts and objects within a value, outermost first."""
    if isinstance(value, (np.ndarray, list, dict)):
        yield value
    if isinstance(value, (tuple, list)):
        for element in value:
            yield from mutables(element)
    elif isinstance(value, dict):
        for element in value.values():
            yield from mutables(element)
    elif hasattr(value, "__dict__") and not callable(value):
        yield value
        yield from mutables(vars(value))
