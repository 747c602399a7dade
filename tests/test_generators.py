"""Generators that run themselves: one consumer at every level, whatever the depth."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

import autograph as ag


def walk(n: Any) -> Any:
    if n > 0:
        yield from walk(n - 1)
        yield n


def collected(n: Any, m: Any) -> Any:
    return [v for v in walk(n)]


def left_early(n: Any, m: Any) -> Any:
    total = 0
    for v in walk(n):
        if v > m:
            break
        total += v
    else:
        total = -total
    return total, sum(walk(m)), any(v == 3 for v in walk(n))


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value
        self.left: Any = None
        self.right: Any = None

    def walk(self) -> Any:
        if self.left is not None:
            yield from self.left.walk()
        yield self.value
        if self.right is not None:
            yield from self.right.walk()


def insert(tree: Any, value: Any) -> Any:
    if tree is None:
        return Node(value)
    if value < tree.value:
        tree.left = insert(tree.left, value)
    else:
        tree.right = insert(tree.right, value)
    return tree


def tree(n: Any, m: Any) -> Any:
    root = None
    for i in range(n):
        root = insert(root, i * 7 % m)
    return list(root.walk()) if root is not None else []


def finished(n: Any, m: Any) -> Any:
    def numbers(k: Any) -> Any:
        try:
            yield k
            yield from range(k)
            yield from [7, 8]
        finally:
            print("done", k)

    out = []
    for v in numbers(n):
        if v == m:
            return out, "early"
        out.append(v)
    return out


def hanoi(n: Any, a: Any, b: Any, c: Any) -> Any:
    if n > 0:
        yield from hanoi(n - 1, a, c, b)
        yield (a, c)
        yield from hanoi(n - 1, b, a, c)


def moves(n: Any, m: Any) -> Any:
    return len(list(hanoi(n, "A", "B", "C"))), list(hanoi(m, 0, 1, 2))


@pytest.mark.parametrize("ops", [False, True], ids=["graph", "ops"])
@pytest.mark.parametrize("fn", [collected, left_early, tree, finished, moves])
@pytest.mark.parametrize("args", [(4, 3), (2, 3), (1, 1), (0, 2)])
def test_recursive_generators(fn: Any, args: Any, ops: bool) -> None:
    expected, got = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(expected):
        value = fn(*args)
    with contextlib.redirect_stdout(got), ag.eager(ops=True) if ops else ag.graph():
        assert ag.to_graph(fn)(*args) == value
    assert got.getvalue() == expected.getvalue()


def test_their_depth_costs_one_graph() -> None:
    graph = ag.to_graph(collected).get_graph(50, 0)
    assert graph.op_types()["call"] <= 3


def numbers(n: Any) -> Any:
    for i in range(n):
        yield i


def deletes_it(n: Any, b: Any) -> Any:
    """The loop's body leaves `b` without a value, in some turns."""
    total = 0
    for i in numbers(n):
        total += abs(b)
        while b > 90:
            return total
        del b
        if i < 1:
            b = i + 5
    return total, b


@pytest.mark.parametrize("backend", ["interpreter", "native"])
def test_a_variable_that_the_loop_deletes(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", backend)
    graph = ag.to_graph(deletes_it)
    for n, b in ((0, 3), (1, -4), (2, 3), (3, 3), (3, 99)):
        try:
            expected: Any = deletes_it(n, b)
        except UnboundLocalError as error:
            expected = str(error)
        try:
            got: Any = graph(n, b)
        except UnboundLocalError as error:
            got = str(error)
        assert got == expected, (n, b)
