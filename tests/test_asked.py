"""Functions that map() calls are called when and as often as Python calls them."""

from __future__ import annotations

import linecache
from typing import Any

import pytest

import autograph as ag
from tests.compiler.comparing import same

LOOPS = [
    "for q in map(g, (1, 2, 3)):\n        if q > 4: break\n        n = n + q",
    "for q in map(g, xs):\n        if q > 4: break\n        n = n + q",
    "for q in map(g, range(3)):\n        if q > 4: break\n        n = n + q",
    "for i, q in enumerate(map(g, (1, 2, 3))):\n        if q > 4: break\n        n = n + q * i",
    "for p, q in zip(map(g, (1, 2, 3)), (4, 5)):\n        n = n + p * q",
    "for p, q in zip((4, 5), map(g, (1, 2, 3))):\n        n = n + p * q",
    "for p, q in zip(map(g, (1, 2, 3)), (4, 5, 6)):\n        if p > 4: break\n        n = n + p * q",
    "for p, q in zip(map(g, xs), (4, 5)):\n        n = n + p * q",
    "for p, q in zip(map(g, xs), xs[1:]):\n        n = n + p * q",
    "for p, q in zip(map(g, xs), map(g, xs[1:])):\n        n = n + p * q",
    "for p, q, r in zip(map(g, xs), map(g, xs), xs[1:]):\n        n = n + p * q * r",
    "for i, (p, q) in enumerate(zip(map(g, xs), xs[1:])):\n        n = n + p * q * i",
    "for i, (p, q) in enumerate(zip(map(g, (1, 2, 3)), (4, 5))):\n        n = n + p * q * i",
    "for i, (p, q) in enumerate(zip(map(g, (1, 2, 3)), (4, 5))):\n        if i: break\n        n = n + p * q",
    "for q in map(lambda pair: pair[0] + g(pair[1]), zip(map(g, (1, 2, 3)), (4, 5))):\n        n = n + q",
    "for p, q in zip(map(g, range(3)), range(2)):\n        n = n + q * p",
    "for p, q in zip(map(g, xs), xs):\n        if p > 4: break\n        n = n + p * q",
    "for p, q in zip(gen(), map(g, xs)):\n        n = n + p * q",
    "for p, q, r in zip(gen(), map(g, xs), (7, 8)):\n        n = n + p * q * r",
    "for p, q, r in zip(gen(), xs, map(g, (7, 8))):\n        n = n + p * q * r",
    "for p, q in zip(map(g, gen()), map(g, xs)):\n        n = n + p * q",
    "n = any(q > 4 for q in map(g, (1, 2, 3)))",
    "n = any(map(lambda z: g(z) > 4, xs))",
    "n = all(map(g, (1, 0, 3)))",
    "n = [q for q in map(g, (1, 2, 3)) if q > 4]",
    "n = sum(map(g, [2]))",
    "n = sum(p * q for p, q in zip(map(g, (1, 2, 3)), (4, 5)))",
    "n = list(zip(map(g, (1, 2)), map(g, (3, 4))))",
    "n = list(zip(map(g, xs), xs[1:]))",
    "n = dict(zip('ab', map(g, (1, 2))))",
    "n = 6 in map(g, (1, 2, 3))",
    "n = h(*map(g, (1, 2)))",
    "p, q = map(g, (1, 2))\n    n = p, q",
]


def function(loop: str, start: str) -> Any:
    text = f"""def f(a, xs):
    c = {start}
    n = 1
    def g(v):
        nonlocal c
        c = c + 1
        return v * c
    def h(x, y):
        return x - y
    def gen():
        nonlocal c
        for v in (1, 2, 3):
            c = c * 5 + 2
            yield v
    {loop}
    return n, c
"""
    name = f"<asked {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("start", ["a", "3"])
@pytest.mark.parametrize("loop", LOOPS)
def test_functions_are_called_as_often_as_python_calls_them(loop: str, start: str) -> None:
    plain, staged = function(loop, start), ag.to_graph(function(loop, start))
    for xs in ([1, 2, 3], [1], []):
        same(staged(3, xs), plain(3, xs))


@pytest.mark.parametrize("first", ["map(g, xs)", "enumerate(map(g, xs))"])
def test_a_function_that_would_be_asked_after_a_generator_is_refused(first: str) -> None:
    staged = ag.to_graph(function(f"for p, q in zip({first}, gen()):\n        n = n + q", "a"))
    with pytest.raises(ag.StagingError, match="asks a function for an item before it asks a generator"):
        staged(3, [1, 2])
