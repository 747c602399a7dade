"""Random programs do in every mode what they do in plain Python; the oracle and the generator are sound."""

# ruff: noqa: E501

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.programs import compare
from tests.programs.compare import Failure, check, run
from tests.programs.generator import LEVELS, Program, generate, load, make_args
from tests.programs.oracle import difference, outcome
from tests.programs.shrink import shrink

CHECKED = 150
COMPILED = 30
INTERPRETED = tuple(mode for mode in compare.MODES if mode != "native")
SELF_CHECKED = 200


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("count", "modes"), [(CHECKED, INTERPRETED), (COMPILED, ("native",))])
def test_random_programs_agree_with_plain_python(level: str, count: int, modes: tuple[str, ...]) -> None:
    """No mismatch and no hang; few are refused."""
    reports = list(run(level, range(count), modes, 30.0, 2))
    failing = [report for report in reports if report.failures]
    text = "\n\n".join(f"{report.failures[0]}\n{report.program}" for report in failing[:3])
    assert not failing, f"{len(failing)} programs differ, for example\n{text}"
    refused = [report.refusals[0].detail for report in reports if report.refusals]
    assert len(refused) <= 0.02 * CHECKED, "\n".join(refused)


def _planted(correct: Callable[..., Any], wrong: Callable[..., Any], *args: Any) -> str:
    make = lambda: tuple(arg.copy() if hasattr(arg, "copy") else arg for arg in args)
    assert difference(outcome(correct, make), outcome(correct, make)) is None
    found = difference(outcome(correct, make), outcome(wrong, make))
    assert found is not None
    return found.kind


def _raise(error: Exception) -> None:
    raise error


def _write_then_raise(x: Any, value: Any) -> None:
    x[0] = value
    raise ValueError("late")


@pytest.mark.parametrize(
    ("kind", "correct", "wrong", "args"),
    [
        ("type", lambda x: x, float, (1,)),
        ("type", lambda x: x, np.float64, (1.0,)),
        ("type", lambda x: x, bool, (1,)),
        ("type", lambda x: x * 1, lambda x: (x * 1).astype(np.float32), (np.ones(2),)),
        ("type", lambda x: x.sum(), lambda x: np.array(x.sum()), (np.ones(2),)),
        ("value", lambda x: -x, lambda x: 0.0 - x, (0.0,)),
        ("value", lambda x: -x, lambda x: 0.0 - x, (np.zeros(2),)),
        ("value", lambda x: x / 3, lambda x: x * (1 / 3), (5.0,)),
        ("value", lambda x: x + 2, lambda x: x + 1, (np.ones(2),)),
        ("value", lambda x: [x], lambda x: [x, x], (1,)),
        ("type", lambda x: (x, x), lambda x: [x, x], (1,)),
        ("identity", lambda x: x, lambda x: x.copy(), (np.ones(2),)),
        ("identity", lambda x: x, list, ([1],)),
        ("identity", lambda x: (x[:], x[:]), lambda x: (x[:],) * 2, ([1],)),
        ("sharing", lambda x: x[1:], lambda x: x[1:].copy(), (np.ones(3),)),
        ("sharing", lambda x: x[1:], lambda x: x[:-1], (np.ones(3),)),
        ("sharing", lambda x: [x[:1], x[:1]], lambda x: [x[:1], x[:1].copy()], (np.ones(3),)),
        ("printed", lambda x: print(x), lambda x: print(x, end=""), (1,)),
        ("exception", lambda x: x, lambda x: _raise(ValueError()), (1,)),
        ("exception", lambda x: _raise(ValueError("a")), lambda x: _raise(ValueError("b")), (1,)),
        ("exception", lambda x: _raise(KeyError("a")), lambda x: _raise(ValueError("'a'")), (1,)),
        ("exception", lambda x: _raise(ValueError(1)), lambda x: _raise(ValueError("1")), (1,)),
        ("value", lambda x: x.append(1), lambda x: x.append(2), ([],)),
        ("value", lambda x: _write_then_raise(x, 1), lambda x: _write_then_raise(x, 2), ([0],)),
        ("value", lambda x: _write_then_raise(x, 1), lambda x: _write_then_raise(x, 2), (np.ones(1),)),
    ],
)
def test_oracle_sees(kind: str, correct: Any, wrong: Any, args: tuple[Any, ...]) -> None:
    """A planted difference is found, and named."""
    assert _planted(correct, wrong, *args) == kind


def test_oracle_takes_all_nans_for_equal() -> None:
    """The sign of a NaN has no meaning."""
    make = lambda: (np.nan,)
    assert difference(outcome(lambda x: x, make), outcome(lambda x: -x, make)) is None


def test_oracle_sees_watched_values() -> None:
    """Watched values are compared after the call."""
    first: list[int] = []
    second: list[int] = []
    a = outcome(first.append, lambda: (1,), watch=lambda: first)
    b = outcome(lambda x: None, lambda: (1,), watch=lambda: second)
    found = difference(a, b)
    assert found is not None and found.where.startswith("watched")


@pytest.mark.parametrize("level", LEVELS)
def test_generated_programs_are_deterministic_and_fast(level: str) -> None:
    """The same seed gives the same program, which runs in plain Python twice alike; most do not raise."""
    fine = calls = 0
    for seed in range(SELF_CHECKED):
        program = generate(level, seed)
        assert program == generate(level, seed)
        first, second = load(program), load(program)
        started = time.perf_counter()
        for text in program.inputs:
            a = outcome(first["f"], make_args(text, first))
            assert difference(a, outcome(second["f"], make_args(text, second))) is None
            calls += 1
            fine += a.exception is None
        assert time.perf_counter() - started < 2.0, str(program)
    assert fine > 0.6 * calls


CONSTRUCTS = {
    "a": ("if ", "elif ", "else:", "while ", "for ", "break", "continue", "return", "try:", "except ", "finally:", "raise ",
          "assert ", " and ", " or ", "not ", ":=", "f'", "print(", "del ", "divmod(", " if ", "reversed(", "None", "h0("),
    "b": ("[::-1]", ".copy()", "[:, None]", "np.where", "+= ", "for e", "zip(", "out=", "[...]", " > ", ".T", "axis="),
    "c": ("nonlocal ", "lambda ", "with ", ".append(", "del ", "yield", ".add(", ".level = ", "Sub(", "sorted(", "walk(",
          "search(", "gen(", "any(", "{", ".items()", ".pop(", "from e", "setattr("),
    "d": ("np.linalg", "keepdims", "np.concatenate", "np.einsum", ".astype(", "np.pad", "np.fft", "dtype=", "np.unique"),
}  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
def test_generated_programs_use_every_construct(level: str) -> None:
    """Each construct of a level occurs in many of its programs."""
    sources = [generate(level, seed).source.partition("\ndef f(")[2] for seed in range(2 * SELF_CHECKED)]
    rare = {text: n for text in CONSTRUCTS[level] if (n := sum(text in source for source in sources)) < 4}
    rare = {
        text: n for text, n in rare.items() if not any(text in generate(level, s).source for s in range(5))
    }
    assert not rare


def test_a_failing_program_is_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug (continue in a for loop taken for break) leaves a few lines."""
    source = generate("a", 1).source.partition("def f(")[0] + (
        "def f(a, b):\n    total = 0\n    for i in range(5):\n        if i % 2 == 0:\n            continue\n"
        "        total += i * a + b\n    print('done', total)\n    return total, a, b\n"
    )
    program = Program("planted", source, ("(1, 2)", "(3, 4)", "(5.0, 6)"))

    def planted(
        fn: Callable[..., Any], mode: str
    ) -> tuple[Callable[..., Any], tuple[type[BaseException], ...]]:
        if mode == "plain":
            return fn, ()
        text = "".join(compare.linecache.getlines(fn.__code__.co_filename)).replace("continue", "break")
        namespace: dict[str, Any] = {}
        exec(text, namespace)
        return namespace["f"], ()

    monkeypatch.setattr(compare, "_callable", planted)
    failures = check(program, ("graph",)).failures
    assert [failure.kind for failure in failures] == ["printed"]
    small, failure = shrink(program, failures[0], seconds=20.0)
    assert failure.kind == "printed"
    assert len(small.source.splitlines()) <= 7 and len(small.inputs) == 1, small.source


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that does not end is reported, not waited for."""

    def endless(*args: Any) -> None:
        while True:
            pass

    monkeypatch.setattr(compare, "_callable", lambda fn, mode: (fn if mode == "plain" else endless, ()))
    program = Program("hang", "def f(a):\n    return a\n", ("(1,)",))
    report = check(program, ("graph",), timeout=0.2)
    assert report.failures == [Failure("graph", 0, "hang", "no end within 0.2 s")]
