"""Branches of a few integer operations that become selections: what they compute, and where they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from autograph.errors import IntegerOverflow

MOST = 2**63 - 1
EDGES = sorted(
    {
        s * n
        for n in (0, 1, 2, 3, 7, 2**31, 2**62, 2**62 + 1, MOST // 3, MOST // 5, MOST // 9, MOST)
        for s in (1, -1)
    }
    | {MOST // 3 + 1, -(MOST // 3) - 1, MOST // 5 + 1, -(MOST // 5) - 1, MOST // 9 + 1, MOST - 1, -(2**63)}
)


def collatz(n):
    if n % 2 == 0:
        n = n // 2
    else:
        n = 3 * n + 1
    return n


def triple(n):
    if n & 1:
        n = n * 3
    else:
        n += 1
    return n


def factors(n):
    a = n
    b = n
    if n > 0:
        a = 5 * n
        b = b - 7
    else:
        b = n * 9 + 4
    return a, b


def less(n):
    if n < 100:
        m = -n
    else:
        m = n - 2**62
    return m


def nested(n):
    found = 0
    for i in range(3):
        if n > i:
            found += 1
            n = n * 5 - 1
        else:
            n = n - 3
    return found, n


def passed(n):
    a = 1.5
    b = 0
    if n >= 4:
        a = 2.5
        b = n + n
    return a, b


FUNCTIONS = (collatz, triple, factors, less, nested, passed)


def plain(fn: Callable[[int], Any], n: int) -> Any:
    """What a function gives, or the exception, where an integer of more than 64 bits is one."""

    class Checked(int):
        pass

    def whole(name: str) -> Any:
        def method(*args: int) -> Any:
            result = getattr(int, name)(*args)
            if type(result) is int and not -(2**63) <= result <= MOST:
                raise IntegerOverflow("64 bits")
            return Checked(result) if type(result) is int else result

        return method

    for name in ("add", "radd", "sub", "rsub", "mul", "rmul", "floordiv", "mod", "and", "neg"):
        setattr(Checked, f"__{name}__", whole(f"__{name}__"))
    try:
        return fn(Checked(n))
    except IntegerOverflow:
        return IntegerOverflow


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_selected_integers_are_those_of_python(fn: Callable[[int], Any]) -> None:
    compiled = ag.to_graph(fn)
    raised = 0
    for n in EDGES:
        expected = plain(fn, n)
        if expected is IntegerOverflow:
            raised += 1
            with pytest.raises(IntegerOverflow):
                compiled(n)
        else:
            got = compiled(n)
            assert got == expected, n
            assert [type(x) for x in (got if isinstance(got, tuple) else (got,))] == [
                float if isinstance(x, float) else int
                for x in (expected if isinstance(expected, tuple) else (expected,))
            ]
    assert raised


def test_bits_are_counted_as_python_does() -> None:
    @ag.to_graph
    def bits(n):
        return n.bit_length(), n.bit_count(), (n > 3).bit_length()

    for n in EDGES:
        assert bits(n) == (n.bit_length(), n.bit_count(), int(n > 3))


def test_a_short_branch_is_a_selection() -> None:
    text = ag.to_graph(collatz).get_native(27)
    assert "select i1" in text


def test_a_loop_of_selections_counts_as_python_does() -> None:
    @ag.to_graph
    def steps(n):
        count = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            count += 1
        return count

    assert steps(27) == 111
    assert steps(2**62) == 62
    with pytest.raises(IntegerOverflow):
        steps(MOST)
