"""Each pass, text to text: a graph is parsed, the pass runs, the printed graph is compared."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from autograph import transforms
from autograph.graph.check import check
from autograph.graph.graph import Graph, Region, region_operations
from autograph.graph.parse import parse_text
from autograph.graph.text import to_text

Pass = Callable[[Graph], Graph]


def after(transform: Pass, text: str, constants: dict[str, Any] | None = None) -> str:
    """The graph that a pass makes of a text; what it was given is as before, and both keep all rules."""
    graph = parse_text(dedent(text), constants)
    check(graph)
    before = to_text(graph)
    result = transform(graph)
    assert to_text(graph) == before, "the pass has changed the graph that it was given"
    check(result)
    if result is not graph:
        assert not regions(graph) & regions(result), "the new graph shares a body with the old one"
    return to_text(result) if result is not graph else "the same"


def regions(graph: Graph) -> set[int]:
    found = [graph.body, *(r for o in region_operations(graph.body) for r in o.regions)]
    return {id(r) for r in found if isinstance(r, Region)}


def becomes(transform: Pass, text: str, wanted: str, constants: dict[str, Any] | None = None) -> None:
    found = after(transform, text, constants)
    assert found.strip() == (wanted if wanted == "the same" else dedent(wanted).strip())


# -- prune ---------------------------------------------------------------------------------------------------


def test_prune_keeps_what_may_raise_or_has_an_effect() -> None:
    becomes(
        transforms.prune,
        """
        graph f(x: float, n: int, a: float64[3], b: float64[?], c: float64[?]) -> =None
          t1: float = mul(x, x)
          t2: float = truediv(1.0, x)
          t3: float = truediv(x, 2.0)
          t4: float64[3] = add(a, a)
          t5: float64[?] = add(b, c)
          t6: float64 = get_item(a, 1)
          t7: float64 = get_item(a, n)
          print(x)
          return None
        """,
        """
        graph f(x: float, n: int, a: float64[3], b: float64[?], c: float64[?]) -> =None
          t2: float = truediv(1.0, x)
          t5: float64[?] = add(b, c)
          t7: float64 = get_item(a, n)
          print(x)
          return None
        """,
    )


def test_prune_knows_that_numbers_are_not_changed_in_place() -> None:
    becomes(
        transforms.prune,
        """
        graph f(x: float, a: float64[3], b: float64) -> =None
          t1: float = iadd(x, 1.0)
          t2: float64 = imul(b, 2.0)
          t3: float64[3] = iadd(a, 1.0)
          t4: float = itruediv(1.0, x)
          return None
        """,
        """
        graph f(x: float, a: float64[3], b: float64) -> =None
          t3: float64[3] = iadd(a, 1.0)
          t4: float = itruediv(1.0, x)
          return None
        """,
    )


def test_prune_drops_results_of_branches_and_empty_branches() -> None:
    becomes(
        transforms.prune,
        """
        graph f(c: bool, x: float) -> float
          y: float, z: float = cond(c)
            then
              t1: float = mul(x, 2.0)
              t2: float = mul(x, 3.0)
              yield t1, t2
            else
              yield x, x
          u: float = cond(c)
            then
              t3: float = add(z, 1.0)
              yield t3
            else
              yield x
          return y
        """,
        """
        graph f(c: bool, x: float) -> float
          y: float = cond(c)
            then
              t1: float = mul(x, 2.0)
              yield t1
            else
              yield x
          return y
        """,
    )


def test_prune_drops_what_loops_carry_for_themselves_only() -> None:
    becomes(
        transforms.prune,
        """
        graph f(n: int, x: float) -> int
          i: int, a: float, b: float = while_loop(0, x, x)
            test (i1: int, a1: float, b1: float)
              t1: bool = lt(i1, n)
              yield t1, i1, a1, b1
            body (i2: int, a2: float, b2: float)
              i3: int = add(i2, 1)
              a3: float = mul(a2, b2)
              b3: float = mul(b2, b2)
              yield i3, a3, b3
          return i
        """,
        """
        graph f(n: int, x: float) -> int
          i: int = while_loop(0)
            test (i1: int)
              t1: bool = lt(i1, n)
              yield t1, i1
            body (i2: int)
              i3: int = add(i2, 1)
              yield i3
          return i
        """,
    )


def test_prune_keeps_a_loop_and_a_branch_that_raises() -> None:
    text = """
        graph f(x: float) -> =None
          cond(True)
            then
              raise($ValueError)
              never
          return None
        """
    becomes(transforms.prune, text, "the same", {"ValueError": ValueError})


# -- dead_carried --------------------------------------------------------------------------------------------


def test_dead_carried_sees_through_inner_loops() -> None:
    becomes(
        transforms.dead_carried,
        """
        graph f(n: int, a: float64[3]) -> float64[3]
          i: int, b: float64[3] = while_loop(0, a)
            test (i1: int, b1: float64[3])
              t1: bool = lt(i1, n)
              yield t1, i1, b1
            body (i2: int, b2: float64[3])
              j: int, c: float64[3] = while_loop(0, b2)
                test (j1: int, c1: float64[3])
                  t2: bool = lt(j1, n)
                  yield t2, j1, c1
                body (j2: int, c2: float64[3])
                  set_item(c2, 0, 1.0)
                  j3: int = add(j2, 1)
                  yield j3, c2
              i3: int = add(i2, 1)
              yield i3, c
          return b
        """,
        """
        graph f(n: int, a: float64[3]) -> float64[3]
          i: int = while_loop(0)
            test (i1: int)
              t1: bool = lt(i1, n)
              yield t1, i1
            body (i2: int)
              j: int = while_loop(0)
                test (j1: int)
                  t2: bool = lt(j1, n)
                  yield t2, j1
                body (j2: int)
                  set_item(a, 0, 1.0)
                  j3: int = add(j2, 1)
                  yield j3
              i3: int = add(i2, 1)
              yield i3
          return a
        """,
    )


def test_dead_carried_keeps_what_is_exchanged_or_of_a_wider_type() -> None:
    becomes(
        transforms.dead_carried,
        """
        graph f(n: int, x: float, y: float) -> float
          i: int, a: float, b: float, c: int|float = while_loop(0, x, y, 1)
            test (i1: int, a1: float, b1: float, c1: int|float)
              t1: bool = lt(i1, n)
              yield t1, i1, a1, b1, c1
            body (i2: int, a2: float, b2: float, c2: int|float)
              i3: int = add(i2, 1)
              yield i3, b2, a2, c2
          return a
        """,
        "the same",
    )


# -- fold ----------------------------------------------------------------------------------------------------


def test_fold_computes_as_python_does() -> None:
    becomes(
        transforms.fold,
        """
        graph f() -> (int, int, float, bool, int)
          t1: int = floordiv(-7, 2)
          t2: int = add(True, True)
          t3: float = truediv(1, 3)
          t4: bool = lt(t3, t2)
          t5: int = mul(4611686018427387904, 4)
          t6: (int, int, float, bool, int) = tuple((t1, t2, t3, t4, t5))
          return t6
        """,
        """
        graph f() -> (int, int, float, bool, int)
          t5: int = mul(4611686018427387904, 4)
          t6: (int, int, float, bool, int) = tuple((-4, 2, 0.3333333333333333, True, t5))
          return t6
        """,
    )


def test_fold_leaves_what_raises() -> None:
    becomes(
        transforms.fold,
        """
        graph f() -> float
          t1: float = truediv(1, 0)
          return t1
        """,
        "the same",
    )


# -- simplify ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "result"),
    [
        ("int", "add(x, 0)", "x"),
        ("int", "sub(x, 0)", "x"),
        ("int", "mul(1, x)", "x"),
        ("int", "floordiv(x, 1)", "x"),
        ("int", "pow(x, 1)", "x"),
        ("int", "pos(x)", "x"),
        ("int", "int(x)", "x"),
        ("int", "range_item(x, 0, 1)", "x"),
        ("float", "mul(x, 1.0)", "x"),
        ("float", "mul(x, 1)", "x"),
        ("float", "truediv(x, 1)", "x"),
        ("float", "sub(x, 0.0)", "x"),
        ("float", "add(x, -0.0)", "x"),
        ("float", "float(x)", "x"),
        ("bool", "bool(x)", "x"),
        ("float64", "mul(x, 1.0)", "x"),
        # what would be wrong
        ("float", "add(x, 0.0)", None),
        ("float", "add(x, 0)", None),
        ("float", "sub(x, -0.0)", None),
        ("float", "mul(x, True)", None),
        ("bool", "mul(x, 1)", None),
        ("bool", "pos(x)", None),
        ("int", "mul(x, 1.0)", None),
        ("int", "truediv(x, 1)", None),
        ("int", "add(x, False)", None),
        ("float", "mul(x, 0.0)", None),
        ("float", "sub(x, x)", None),
        ("float64[3]", "mul(x, 1.0)", None),
        ("float32", "mul(x, 1.0)", None),
    ],
)
def test_simplify_is_exact(kind: str, text: str, result: str | None) -> None:
    given = {"bool": "int", "int": "float"}.get(kind, kind) if result is None else kind
    given = "int" if text == "add(x, False)" else given
    source = f"""
        graph f(x: {kind}) -> {given}
          y: {given} = {text}
          return y
        """
    wanted = "the same" if result is None else f"graph f(x: {kind}) -> {given}\n  return {result}"
    becomes(transforms.simplify, source, wanted)


def test_simplify_takes_the_branch_that_is_known() -> None:
    becomes(
        transforms.simplify,
        """
        graph f(x: float, c: bool) -> float
          t1: float = cond(False)
            then
              t2: float = mul(x, 2.0)
              yield t2
            else
              t3: float = mul(x, 3.0)
              print(t3)
              yield t3
          t6: float, t7: int|bool = cond(c)
            then
              yield t1, 1
            else
              yield t1, True
          t8: float = add(t6, t7)
          return t8
        """,
        """
        graph f(x: float, c: bool) -> float
          t3: float = mul(x, 3.0)
          print(t3)
          t6: float, t7: int|bool = cond(c)
            then
              yield t3, 1
            else
              yield t3, True
          t8: float = add(t3, t7)
          return t8
        """,
    )


def test_simplify_knows_the_items_of_a_tuple() -> None:
    becomes(
        transforms.simplify,
        """
        graph f(x: float, n: int) -> int
          t1: (float, int) = tuple((x, n))
          t2: int = get_item(t1, -1)
          return t2
        """,
        """
        graph f(x: float, n: int) -> int
          t1: (float, int) = tuple((x, n))
          return n
        """,
    )


# -- cse -----------------------------------------------------------------------------------------------------


def test_cse_merges_into_bodies_but_not_out_of_them() -> None:
    becomes(
        transforms.cse,
        """
        graph f(x: float, c: bool) -> float
          t1: float = mul(x, x)
          y: float = cond(c)
            then
              t2: float = mul(x, x)
              t3: float = mul(t2, x)
              yield t3
            else
              t4: float = mul(t1, x)
              yield t4
          t5: float = mul(t1, x)
          t6: float = add(y, t5)
          return t6
        """,
        """
        graph f(x: float, c: bool) -> float
          t1: float = mul(x, x)
          y: float = cond(c)
            then
              t3: float = mul(t1, x)
              yield t3
            else
              t4: float = mul(t1, x)
              yield t4
          t5: float = mul(t1, x)
          t6: float = add(y, t5)
          return t6
        """,
    )


def test_cse_reads_in_one_branch_what_the_other_one_writes() -> None:
    becomes(
        transforms.cse,
        """
        graph f(a: float64[3], c: bool) -> float64
          t1: float64 = get_item(a, 0)
          cond(c)
            then
              set_item(a, 0, 1.0)
              t2: float64 = get_item(a, 0)
              print(t2)
            else
              t3: float64 = get_item(a, 0)
              print(t3)
          t4: float64 = get_item(a, 0)
          t5: float64 = add(t1, t4)
          return t5
        """,
        """
        graph f(a: float64[3], c: bool) -> float64
          t1: float64 = get_item(a, 0)
          cond(c)
            then
              set_item(a, 0, 1.0)
              t2: float64 = get_item(a, 0)
              print(t2)
            else
              print(t1)
          t4: float64 = get_item(a, 0)
          t5: float64 = add(t1, t4)
          return t5
        """,
    )


def test_cse_reads_again_in_a_handler() -> None:
    text = """
        graph f(a: float64[3], i: int) -> float64
          t1: float64 = get_item(a, 0)
          try()
            body
              set_item(a, 0, 1.0)
              set_item(a, i, 2.0)
            except $IndexError (e: object[$IndexError])
              t2: float64 = get_item(a, 0)
              print(t2)
          t3: float64 = get_item(a, 0)
          t4: float64 = add(t1, t3)
          return t4
        """
    becomes(transforms.cse, text, "the same", {"IndexError": IndexError})


def test_cse_tells_constants_apart_by_class_and_sign() -> None:
    becomes(
        transforms.cse,
        """
        graph f(x: float) -> float
          t1: float = add(x, 1)
          t2: float = add(x, 1.0)
          t3: float = add(x, True)
          t4: float = add(x, 0.0)
          t5: float = add(x, -0.0)
          t6: float = max(t1, t2, t3, t4, t5)
          return t6
        """,
        "the same",
    )


def test_cse_reads_again_after_a_write() -> None:
    becomes(
        transforms.cse,
        """
        graph f(a: float64[3], b: float64[3]) -> float64
          made: float64[3] = np.zeros(3)
          t1: float64 = get_item(a, 0)
          set_item(made, 0, 1.0)
          t2: float64 = get_item(a, 0)
          set_item(b, 0, 1.0)
          t3: float64 = get_item(a, 0)
          t4: float64 = add(t1, t2)
          t5: float64 = add(t4, t3)
          return t5
        """,
        """
        graph f(a: float64[3], b: float64[3]) -> float64
          made: float64[3] = np.zeros(3)
          t1: float64 = get_item(a, 0)
          set_item(made, 0, 1.0)
          set_item(b, 0, 1.0)
          t3: float64 = get_item(a, 0)
          t4: float64 = add(t1, t1)
          t5: float64 = add(t4, t3)
          return t5
        """,
    )


def test_cse_knows_that_a_loop_reads_what_it_has_written() -> None:
    becomes(
        transforms.cse,
        """
        graph f(n: int, a: float64[3]) -> int
          t1: float64 = get_item(a, 0)
          i: int = while_loop(0)
            test (i1: int)
              t2: float64 = get_item(a, 0)
              t3: bool_ = lt(t2, t1)
              t4: bool = bool(t3)
              yield t4, i1
            body (i2: int)
              t5: float64 = get_item(a, 0)
              set_item(a, 0, t5)
              i3: int = add(i2, 1)
              yield i3
          return i
        """,
        "the same",
    )


@pytest.mark.parametrize(
    "use",
    [
        "t3: (float64[3], float64[3]) = tuple((t1, t2))",
        "set_item(t1, 0, 1.0)",
        "t3: float64[3] = iadd(t1, 1.0)",
        "t3: bool = is(t1, t2)",
        "t3: bool = np.shares_memory(t1, t2)",
        "print(t1)",
    ],
)
def test_cse_keeps_arrays_that_somebody_writes_or_keeps(use: str) -> None:
    text = f"""
        graph f(a: float64[3]) -> float64
          t1: float64[3] = np.exp(a)
          t2: float64[3] = np.exp(a)
          {use}
          t4: float64 = get_item(t2, 0)
          return t4
        """
    becomes(transforms.cse, text, "the same")


def test_cse_merges_arrays_and_views_that_are_only_read() -> None:
    becomes(
        transforms.cse,
        """
        graph f(a: float64[3]) -> float64[3]
          t1: float64[3] = np.exp(a)
          t2: float64[3] = np.exp(a)
          t3: float64[2] = get_item(a, slice(1, None, None))
          t4: float64[2] = get_item(a, slice(1, None, None))
          set_item(t4, 0, 1.0)
          t5: float64[3] = add(t1, t2)
          set_item(t3, 1, 2.0)
          return t5
        """,
        """
        graph f(a: float64[3]) -> float64[3]
          t1: float64[3] = np.exp(a)
          t3: float64[2] = get_item(a, slice(1, None, None))
          set_item(t3, 0, 1.0)
          t5: float64[3] = add(t1, t1)
          set_item(t3, 1, 2.0)
          return t5
        """,
    )


def test_cse_merges_what_adds_in_place_and_out_of_place() -> None:
    becomes(
        transforms.cse,
        """
        graph f(x: float, a: float64[3]) -> float64
          t1: float64 = get_item(a, 0)
          t2: float = iadd(x, 1.0)
          t3: float = add(x, 1.0)
          t4: float64 = get_item(a, 0)
          t5: float64 = mul(t1, t2)
          t6: float64 = mul(t4, t3)
          t7: float64 = add(t5, t6)
          return t7
        """,
        """
        graph f(x: float, a: float64[3]) -> float64
          t1: float64 = get_item(a, 0)
          t2: float = iadd(x, 1.0)
          t5: float64 = mul(t1, t2)
          t7: float64 = add(t5, t5)
          return t7
        """,
    )


def test_cse_sees_through_arrays_that_are_cheaper_to_compute_again() -> None:
    becomes(
        transforms.cse,
        """
        graph f(a: float64[3]) -> float64[3]
          t1: float64[3] = mul(a, 2.0)
          t2: float64[3] = np.exp(t1)
          t3: float64[3] = mul(a, 2.0)
          t4: float64[3] = np.exp(t3)
          t5: float64[2] = get_item(t1, slice(1, None, None))
          t6: float64[2] = get_item(t3, slice(1, None, None))
          t7: float64[2] = sub(t5, t6)
          t8: float64[3] = add(t2, t4)
          return t8
        """,
        """
        graph f(a: float64[3]) -> float64[3]
          t1: float64[3] = mul(a, 2.0)
          t2: float64[3] = np.exp(t1)
          t3: float64[3] = mul(a, 2.0)
          t5: float64[2] = get_item(t1, slice(1, None, None))
          t6: float64[2] = get_item(t3, slice(1, None, None))
          t7: float64[2] = sub(t5, t6)
          t8: float64[3] = add(t2, t2)
          return t8
        """,
    )


def test_cse_reads_an_array_that_was_written_after_it_was_equal() -> None:
    becomes(
        transforms.cse,
        """
        graph f(a: float64[3]) -> float64[3]
          t1: float64[3] = mul(a, 2.0)
          t3: float64[3] = mul(a, 2.0)
          t2: float64[3] = np.exp(t1)
          set_item(t1, 0, 1.0)
          t4: float64[3] = np.exp(t3)
          t5: float64[3] = np.exp(t1)
          t6: float64[3] = add(t2, t4)
          t8: float64[3] = add(t5, t6)
          return t8
        """,
        "the same",
    )


def test_cse_keeps_copies_that_are_written() -> None:
    text = """
        graph f(a: float64[3], i: int64[2]) -> float64
          t1: float64[2] = get_item(a, i)
          t2: float64[2] = get_item(a, i)
          set_item(t1, 0, 1.0)
          t3: float64 = get_item(t2, 0)
          return t3
        """
    becomes(transforms.cse, text, "the same")


# -- licm ----------------------------------------------------------------------------------------------------

LOOP = """
        graph f(n: int, x: float, a: float64[3], b: float64[3]) -> float
          i: int, y: float = while_loop(0, 1.0)
            test (i1: int, y1: float)
              t1: bool = lt(i1, {bound})
              yield t1, i1, y1
            body (i2: int, y2: float)
{body}
              i3: int = add(i2, 1)
              yield i3, y2
          return y
        """


def moved(body: list[str], bound: str = "n") -> int:
    """How many operations of the body of a loop move to before it."""
    text = after(transforms.licm, LOOP.format(bound=bound, body="\n".join(" " * 14 + line for line in body)))
    return (
        0
        if text == "the same"
        else text.split("\n").index(next(t for t in text.split("\n") if "while_" in t)) - 1
    )


def test_licm_moves_only_what_cannot_raise() -> None:
    assert moved(["t2: float = mul(x, x)"]) == 1
    assert moved(["t2: float = truediv(1.0, x)"]) == 0
    assert moved(["t2: int = sub(n, 1)"]) == 0  # it may be refused
    assert moved(["t2: float = mul(x, x)", "t3: float = sub(t2, 1.0)"]) == 2


def test_licm_moves_what_raises_where_the_first_turn_is_sure() -> None:
    assert moved(["t2: float = truediv(1.0, x)"], "3") == 1
    assert moved(["t2: float = truediv(1.0, x)", "t3: int = sub(n, 1)"], "3") == 2
    assert moved(["print(x)", "t2: float = truediv(1.0, x)"], "3") == 0
    assert moved(["t3: float = truediv(1.0, y2)", "t2: float = truediv(1.0, x)"], "3") == 0
    assert moved(["t2: float = truediv(1.0, x)"], "0") == 0


def test_licm_reads_memory_that_the_loop_does_not_write() -> None:
    assert moved(["t2: float64 = get_item(a, 1)"]) == 1
    assert moved(["t2: float64 = get_item(a, 1)", "set_item(b, 0, 1.0)"]) == 0
    assert moved(["t2: float64 = get_item(a, 1)", "print(x)"]) == 0
    assert (
        moved(["t4: float64[3] = np.zeros(3)", "t2: float64 = get_item(a, 1)", "set_item(t4, 0, 1.0)"]) == 1
    )


def test_licm_makes_an_array_once_only_if_it_stays_as_it_is() -> None:
    assert moved(["t2: float64[3] = mul(a, 2.0)", "t3: float64 = np.sum(t2)"]) == 2
    assert moved(["t2: float64[3] = mul(a, 2.0)", "set_item(t2, 0, y2)"]) == 0
    assert moved(["t2: float64[3] = mul(a, 2.0)", "t3: (float64[3],) = tuple((t2,))"]) == 0
    assert moved(["t2: float64[3] = np.zeros(3)", "t3: float64 = get_item(t2, i2)"]) == 0


def test_licm_moves_out_of_several_loops() -> None:
    becomes(
        transforms.licm,
        """
        graph f(n: int, x: float) -> int
          i: int = while_loop(0)
            test (i1: int)
              t1: bool = lt(i1, n)
              yield t1, i1
            body (i2: int)
              t2: float = mul(x, i2)
              j: int = while_loop(0)
                test (j1: int)
                  t3: bool = lt(j1, n)
                  yield t3, j1
                body (j2: int)
                  t4: float = mul(x, x)
                  t5: float = mul(t2, t4)
                  print(t5)
                  j3: int = add(j2, 1)
                  yield j3
              i3: int = add(i2, 1)
              yield i3
          return i
        """,
        """
        graph f(n: int, x: float) -> int
          t4: float = mul(x, x)
          i: int = while_loop(0)
            test (i1: int)
              t1: bool = lt(i1, n)
              yield t1, i1
            body (i2: int)
              t2: float = mul(x, i2)
              t5: float = mul(t2, t4)
              j: int = while_loop(0)
                test (j1: int)
                  t3: bool = lt(j1, n)
                  yield t3, j1
                body (j2: int)
                  print(t5)
                  j3: int = add(j2, 1)
                  yield j3
              i3: int = add(i2, 1)
              yield i3
          return i
        """,
    )


# -- compose -------------------------------------------------------------------------------------------------


def test_compose_keeps_objects_that_are_given_away_and_copies_that_may_be_written() -> None:
    text = """
        graph f(x: float64[2,3], y: float64[9], i: int64[2]) -> (float64[2,3], float64[6], float64[2])
          t1: float64[3,2] = ndarray.T(x)
          t2: float64[2,3] = ndarray.T(t1)
          t3: float64[3,2] = np.reshape(x, (3, 2))
          t4: float64[6] = np.reshape(t3, 6)
          t5: float64[2] = get_item(y, i)
          t6: float64[2] = get_item(t5, slice(None, None, None))
          t7: (float64[2,3], float64[6], float64[2]) = tuple((t2, t4, t6))
          return t7
        """
    becomes(transforms.compose, text, "the same")


def test_compose_goes_through_several() -> None:
    becomes(
        transforms.compose,
        """
        graph f(y: float64[9], z: float64[2,3]) -> float64[3]
          t1: float64[8] = get_item(y, slice(1, None, None))
          t2: float64[7] = get_item(t1, slice(1, None, None))
          t3: float64[3] = get_item(t2, slice(1, None, 2))
          t4: float64[2,3] = np.exp(z)
          t5: float64[6] = np.ravel(t4)
          t6: float64[3,2] = np.reshape(t5, (3, 2))
          t7: float64[3] = np.sum(t6, axis=1)
          t8: float64[3] = add(t3, t7)
          return t8
        """,
        """
        graph f(y: float64[9], z: float64[2,3]) -> float64[3]
          t1: float64[8] = get_item(y, slice(1, None, None))
          t2: float64[7] = get_item(y, slice(2, 9, 1))
          t3: float64[3] = get_item(y, slice(3, 9, 2))
          t4: float64[2,3] = np.exp(z)
          t5: float64[6] = np.ravel(t4)
          t6: float64[3,2] = np.reshape(t4, (3, 2))
          t7: float64[3] = np.sum(t6, axis=1)
          t8: float64[3] = add(t3, t7)
          return t8
        """,
    )


# -- inline --------------------------------------------------------------------------------------------------


def test_inline_leaves_recursion_and_effects() -> None:
    text = """
        graph f(n: int) -> int
          t1: int = call g(n)
          t2: int = call h(n)
          return t1

        graph g(n: int) -> int
          t3: int = call g(n)
          return t3

        graph h(n: int) -> int
          print(n)
          return n
        """
    becomes(transforms.inline, text, "the same")


def test_inline_keeps_the_place_of_the_call() -> None:
    text = """
        graph f(x: float) -> float                                              # a.py
          y: float = call g(x)                                                    # L3
          return y

        graph g(x: float) -> float
          y: float = truediv(1.0, x)                                              # L9
          return y
        """
    result = transforms.inline(parse_text(dedent(text).strip()))
    place = result.body.ops[0].place
    assert place is not None and [spot.line for spot in place.spots()] == [9, 3]


def test_cells_become_what_loops_carry_and_branches_give() -> None:
    becomes(
        transforms.cells,
        """
        graph f(n: int, x: float64[8]) -> int|float
          c: cell#1 = cell(0, cell#1)
          d: cell#2 = cell(unbound('d'), cell#2)
          i: int = while_loop(0)
            test (i_1: int)
              t1: bool = lt(i_1, n)
              yield t1, i_1
            body (i_2: int)
              t2: bool = lt(i_2, 4)
              cond(t2)
                then
                  t3: int|float = cell_peek(c)
                  t4: int|float = mul(t3, 1.5)
                  cell_set(c, t4)
                else
                  cell_set(d, i_2)
              i_3: int = add(i_2, 1)
              yield i_3
          t5: int = cell_get(d, 'd')
          t6: int|float = cell_get(c, 'c')
          t7: int|float = add(t6, t5)
          return t7

        where
          cell#1: cell of int|float
          cell#2: cell of unbound|int
        """,
        """
        graph f(n: int, x: float64[8]) -> int|float
          i: int, c: int|float, d: unbound|int = while_loop(0, 0, unbound('d'))
            test (i_1: int, c_1: int|float, d_1: unbound|int)
              t1: bool = lt(i_1, n)
              yield t1, i_1, c_1, d_1
            body (i_2: int, c_2: int|float, d_2: unbound|int)
              t2: bool = lt(i_2, 4)
              c_3: int|float, d_3: unbound|int = cond(t2)
                then
                  t4: int|float = mul(c_2, 1.5)
                  yield t4, d_2
                else
                  yield c_2, i_2
              i_3: int = add(i_2, 1)
              yield i_3, c_3, d_3
          t5: int = check_bound(d, 'd')
          t7: int|float = add(c, t5)
          return t7
        """,
    )


def test_cells_stay_where_others_see_them() -> None:
    """In the result, in a list, in a called graph, or across a `try`, which undoes nothing."""
    for text in (
        """
        graph f(n: int) -> cell#1
          c: cell#1 = cell(n, cell#1)
          return c

        where
          cell#1: cell of int
        """,
        """
        graph f(n: int) -> int
          c: cell#1 = cell(n, cell#1)
          t1: list#2 = new_list((c,))
          t2: int = cell_get(c, 'c')
          return t2

        where
          cell#1: cell of int
          list#2: list [cell#1]
        """,
    ):
        becomes(transforms.cells, text, "the same")


def test_every_pass_gives_back_what_it_does_not_change() -> None:
    for transform in transforms.PIPELINE:
        becomes(
            transform,
            """
            graph f(x: float) -> float
              t1: float = mul(x, x)
              return t1
            """,
            "the same",
        )
