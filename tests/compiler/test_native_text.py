"""Looking inside compiled code: IR, assembly, the list of loops, and what `explain` tells of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import lowering, machine
from autograph.compiler.lowering import POLL
from autograph.errors import StagingError


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")
    yield


def chain(x, y):
    return np.tanh(x * 2.0 + y).sum() + 1.0


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def sorts(x, n):
    total = 0.0
    for i in range(n):
        total = total + math.gamma(i + 1.0)
    return np.lexsort((x,)), total


def test_llvm_is_the_optimised_ir() -> None:
    text = ag.to_graph(collatz).get_native(27)
    assert "define ptr @ag_entry" in text
    assert "phi i64" in text and "alwaysinline" not in text


def test_assembly() -> None:
    text = ag.to_graph(collatz).get_native(27, kind="asm")
    assert "ag_entry:" in text


def test_loops_tell_where_values_live() -> None:
    lines = ag.to_graph(collatz).get_native(27, kind="loops").splitlines()
    assert lines[0] == "graph collatz"
    text, line = lines[1].split("# L")
    assert text.split() == ["loop;", "in", "registers:", "n:", "int,", "steps:", "int"]
    assert int(line) == collatz.__code__.co_firstlineno + 2


def test_loops_tell_what_is_computed_together() -> None:
    x = np.ones(100)
    text = ag.to_graph(chain).get_native(x, x, kind="loops")
    assert "of [100] of float64 over axes [0]: multiply, add, tanh, sum" in text


def test_loops_tell_what_is_called_back() -> None:
    text = ag.to_graph(sorts).get_native(np.ones(3), 4, kind="loops")
    assert "    calls back math.gamma" in text, "inside of the loop"


def test_explain_lists_what_is_called_back() -> None:
    text = ag.to_graph(sorts).explain(np.ones(3), 4)
    line = sorts.__code__.co_firstlineno + 3
    assert f"test_native_text.py:{line}: calls back: math.gamma" in text
    assert "native: " in text and "lower" in text


def test_explain_tells_what_was_found_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path))
    assert ", compiled (" in ag.to_graph(collatz).explain(27)
    assert ", found on disk (" in ag.to_graph(collatz).explain(27)


def test_explain_says_nothing_of_machine_code_that_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "interpreter")
    assert "native:" not in ag.to_graph(collatz).explain(27)


def test_a_graph_without_machine_code_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def decline(*args: Any) -> None:
        raise lowering.Unsupported("it is too odd")

    monkeypatch.setattr(lowering, "compile_graph", decline)
    f = ag.to_graph(collatz)
    assert "the interpreter runs it: it is too odd" in f.explain(27)
    with pytest.raises(StagingError, match="'collatz' has no machine code for these arguments"):
        f.get_native(27)
    assert f(27) == 111


def test_a_declared_function_needs_no_arguments() -> None:
    f = ag.to_graph(chain, signature=(ag.spec("float64", (8,)), ag.spec("float64", (8,))))
    assert "nest" in f.get_native(kind="loops") or "reduction" in f.get_native(kind="loops")


def test_methods() -> None:
    class Scale:
        factor = 3.0

        @ag.to_graph
        def apply(self, x):
            return x * self.factor

    assert "multiply" in Scale().apply.get_native(np.ones(50), kind="loops")


def test_a_check_that_fails_hardly_ever_does_not_make_a_loop_look_for_signals_often() -> None:
    def total(x, n):
        s = 0.0
        for i in range(n):
            s = s + x[i]
        return s

    f = ag.to_graph(total)
    assert f(np.ones(9), 9) == 9.0
    (native,) = f.get_graph(np.ones(9), 9).native.values()
    assert "@ag_look" in native.text and f", {POLL >> 4}\n" not in native.text


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="kind is 'c'"):
        ag.to_graph(collatz).get_native(27, kind="c")


def test_functions_and_calls_are_listed() -> None:
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    text = ag.to_graph(fibonacci).get_native(7, kind="loops")
    assert text.count("calls graph fibonacci") == 2 or "calls graph" in text
    assert ag.to_graph(fibonacci)(7) == 13


def test_no_pass_is_run_that_may_end_the_process() -> None:
    """`new_gvn` of LLVM 22 ends it by an assertion for some texts of a few loops and branches, too."""
    assert "new_gvn" not in machine.PASSES
