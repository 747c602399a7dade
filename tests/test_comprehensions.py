"""List comprehensions: of known length while their loops are unrolled, else lists that grow."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from tests.compiler.comparing import outcome, same

PARAMETERS = [np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(4, 2), np.ones(2)]


def several_shapes(params, n):
    p = [q.copy() for q in params]
    m = [np.zeros_like(q) for q in p]
    for i in range(n):
        h = p[0] @ p[1] + p[2]
        for weight, mean, change in zip(p, m, [h @ p[1].T, p[0].T @ h, h.sum(0)]):
            mean *= 0.9
            mean += change * 0.01
            weight -= mean
    return [q.sum() for q in p]


def of_unknown_length(x, n):
    return [i * x[0] for i in range(n)]


def with_conditions(x, limit):
    return [v * 2 for v in (x[0], x[1], x[2]) if v > limit]


def loops_of_both_kinds(x, n):
    return [(a, i) for a in (x[0], x[1]) for i in range(n) if i != 1]


def after_some_items(x, n):
    return [a + b for i, a in enumerate((x[0], 1.0, x[1])) for b in ((1, 2) if i < 2 else [*range(n)])]


def grown_later(x, n):
    items = [v + 1 for v in (x[0], x[1])]
    for i in range(n):
        items.append(x[i])
    return items, len(items)


def nested(x):
    return [[a * b for b in (1, x[1])] for a in (x[0], 2)]


def recursive(x, depth):
    if depth == 0:
        return [x]
    return [v + 1 for part in (recursive(x, depth - 1), recursive(x * 2, depth - 1)) for v in part]


def raising(x, n):
    made = []
    try:
        return [made.append(i) or 1 // (n - i) for i in (0, 1, 2)]
    except ZeroDivisionError as error:
        return made, str(error)


def in_a_branch(x, n):
    items = [v for v in (x[0], x[1])] if n > 1 else [v for v in (x[2],)]
    return items


X = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (several_shapes, (PARAMETERS, 3)),
        *((fn, (X, n)) for fn in (of_unknown_length, loops_of_both_kinds, grown_later) for n in (0, 1, 3)),
        *((after_some_items, (X, n)) for n in (0, 3)),
        *((with_conditions, (X, limit)) for limit in (0.0, 1.5, 9.0)),
        (nested, (X,)),
        (recursive, (1, 3)),
        *((raising, (X, n)) for n in (0, 1, 2, 7)),
        *((in_a_branch, (X, n)) for n in (1, 2)),
    ],
)
@pytest.mark.parametrize("backend", ["native", "interpreter"])
def test_comprehensions_are_those_of_python(fn, args, backend, monkeypatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", backend)
    staged = ag.to_graph(fn)
    expected = outcome(fn, args)
    same_items(outcome(staged, args), expected)
    with ag.eager(ops=True):
        same_items(outcome(staged, args), expected)


def same_items(a, b) -> None:
    if isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            same_items(x, y)
    elif isinstance(a, tuple):
        assert isinstance(b, tuple)
        same_items(list(a), list(b))
    elif isinstance(a, (float, np.floating)):
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)
    elif isinstance(a, np.ndarray):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    else:
        same(a, b)


def test_arrays_of_several_shapes_keep_their_types() -> None:
    """Each item has a type of its own, so that what is computed with it is known."""
    text = str(ag.to_graph(several_shapes).get_graph(PARAMETERS, 3))
    assert "list [float64[3,4], float64[4,2], float64[2]]" in text
    assert "list.append" not in text


def doubled(params):
    like = [np.zeros_like(q) for q in params]
    for z, q in zip(like, params):
        z += q * 2.0
    return [z + q for z, q in zip(like, params)]


def rewritten(params, other, k):
    first = params[0] + 1.0
    params[k] = other
    return first, params[0] + 1.0, np.zeros_like(params[0])


def rewritten_by_another_name(params, same_list, other):
    same_list[0] = other
    return params[0] + 1.0


def layouts(found) -> list[tuple[bool, bool]]:
    return [(a.flags.c_contiguous, a.flags.f_contiguous) for a in found]


def test_arrays_in_a_list_have_any_layout() -> None:
    """What is compiled for contiguous arrays is not called with others, nor after the list was written."""
    c_order = np.arange(12.0).reshape(3, 4)
    f_order = np.asfortranarray(c_order)
    staged = ag.to_graph(doubled)
    for arrays in ([c_order, c_order], [c_order, f_order], [c_order[:, ::2], f_order.T], [c_order, c_order]):
        got, expected = staged(arrays), doubled(arrays)
        for a, b in zip(got, expected):
            np.testing.assert_array_equal(a, b)
        assert layouts(got) == layouts(expected)
    native = list(staged.get_graph([c_order, c_order]).native.values())
    assert any({o.name for o in variant.fallbacks} <= {"new_list"} for variant in native)
    staged = ag.to_graph(rewritten)
    for k in (0, 1):
        got = staged([c_order, c_order], f_order, k)
        expected = rewritten([c_order, c_order], f_order, k)
        for a, b in zip(got, expected):
            np.testing.assert_array_equal(a, b)
        assert layouts(got) == layouts(expected)
    staged = ag.to_graph(rewritten_by_another_name)
    for one in (False, True):
        results = []
        for fn in (staged, rewritten_by_another_name):
            items = [c_order, c_order]
            results.append(fn(items, items if one else [*items], f_order))
        assert layouts(results[:1]) == layouts(results[1:])
