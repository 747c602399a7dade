"""Eager mode runs the user's own code object: a debugger stops in it and shows the user's names."""

from __future__ import annotations

import io
import pdb  # noqa: T100 - the debugger is what is tested
import sys
from typing import Any

import pytest

import autograph as ag


def nested(n: Any) -> Any:
    total = 0
    for i in range(n):
        for j in range(i):
            total += i * j  # the breakpoint
    return total


LINE = nested.__code__.co_firstlineno + 4


def session(fn: Any, *commands: str) -> str:
    out = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    traced = sys.gettrace()
    try:
        debugger.runcall(fn, 4)
    finally:
        sys.settrace(traced)
    return out.getvalue()


def test_a_breakpoint_in_a_nested_loop_is_hit_and_shows_the_users_names() -> None:
    converted = ag.to_graph(nested)

    def run(n: Any) -> Any:
        with ag.eager():
            return converted(n)

    text = session(
        run, f"break {__file__}:{LINE}", "continue", "continue", "p i, j, total", "clear 1", "continue"
    )
    assert "total += i * j" in text
    assert "(2, 0, 0)" in text


def test_eager_calls_the_original_code_object() -> None:
    seen: list[Any] = []
    converted = ag.to_graph(nested)

    def watch(frame: Any, event: str, argument: Any) -> None:
        seen.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        assert converted.eager(4) == nested(4)
    finally:
        sys.setprofile(before)
    assert nested.__code__ in seen


@pytest.mark.parametrize("mode", ["eager", "ops", "graph"])
def test_modes_agree(mode: str) -> None:
    converted = ag.to_graph(nested)
    before = ag.get_mode()
    ag.set_mode(mode)
    try:
        assert converted(4) == nested(4)
    finally:
        ag.set_mode(before)


def test_executed_ops_are_listed() -> None:
    @ag.to_graph
    def f(n: Any) -> Any:
        while n > 3:
            print(n)
            n -= 1
        return n

    with ag.eager(ops=True):
        f(5)
    text = f.explain()
    assert "while_loop" in text
    assert "print" in text
