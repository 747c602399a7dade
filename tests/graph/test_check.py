"""The checker finds each way in which a graph can be broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograph.errors import GraphError
from autograph.graph.check import check
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.parse import parse_text
from autograph.graph.types import BOTTOM, Array, Const, Py

TEXT = """
graph f(n: int, b: bool, xs: list#1) -> int
  m: int = cond(b)
    then
      t1: int = add(n, 1)
      yield t1
    else
      yield n
  k: int = while_loop(m)
    test (k_1: int)
      t2: bool = gt(k_1, 0)
      yield t2, k_1
    body (k_2: int)
      k_3: int = sub(k_2, 1)
      yield k_3
  try()
    body
      print(k)
    except $Exception (error: object[$Exception])
      print(error)
    finally
      print(m)
  t3: int = call g(k)
  t4: int = get_item(xs, 0)
  list.append(xs, 1)
  return t3

graph g(n: int) -> int
  return n

where
  list#1: list of int
"""


def graph() -> Graph:
    return parse_text(TEXT, {"Exception": Exception})


def ops(g: Graph) -> dict[str, Operation]:
    return {o.name: o for o in g.operations()}


def retype(tensor: Tensor, t: Any) -> None:
    object.__setattr__(tensor, "_ag_type", t)


def swap_first(g: Graph) -> None:
    g.body.ops[0], g.body.ops[1] = g.body.ops[1], g.body.ops[0]


def use_inner(g: Graph) -> None:
    g.body.results = (ops(g)["add"].outputs[0],)


def use_foreign(g: Graph) -> None:
    g.body.ops[-1].args = (g.body.ops[-1].args[0], ops(g)["call"].callee.params[0])  # type: ignore[union-attr]


def define_twice(g: Graph) -> None:
    g.body.ops.append(g.body.ops[0])


def wrong_type(g: Graph) -> None:
    retype(ops(g)["add"].outputs[0], Py(str))


def drop_result(g: Graph) -> None:
    ops(g)["cond"].regions[0].results = ()


def narrow_result(g: Graph) -> None:
    retype(ops(g)["cond"].outputs[0], Const(3))


def wrong_test(g: Graph) -> None:
    ops(g)["cond"].args = (g.params[0],)


def no_test(g: Graph) -> None:
    ops(g)["while_loop"].regions[0].results = ()


def start_type(g: Graph) -> None:
    ops(g)["while_loop"].args = (1.5,)


def turn_type(g: Graph) -> None:
    ops(g)["while_loop"].regions[1].results = ("text",)


def extra_argument(g: Graph) -> None:
    ops(g)["call"].args += (1,)


def wrong_argument(g: Graph) -> None:
    ops(g)["call"].args = ("a",)


def foreign_body(g: Graph) -> None:
    ops(g)["cond"].regions[1].graph = Graph("other")


def lost_body(g: Graph) -> None:
    ops(g)["try"].regions = ops(g)["try"].regions[:2]


def handler_without_error(g: Graph) -> None:
    ops(g)["try"].regions[1].params = []
    ops(g)["try"].regions[1].ops = []


def beyond_the_table(g: Graph) -> None:
    ops(g)["list.append"].args = (g.params[2], 2.5)


def after_never(g: Graph) -> None:
    retype(ops(g)["list.append"].outputs[0], BOTTOM)
    g.body.ops.append(Operation("cond", (True,), {}, [], (Region(g), Region(g))))


def array_constant(g: Graph) -> None:
    operation = ops(g)["add"]
    operation.args = (operation.args[0], np.ones(2))
    retype(operation.outputs[0], Array(np.dtype("f8"), (2,)))


def unknown_op(g: Graph) -> None:
    ops(g)["add"].op = None


def disowned(g: Graph) -> None:
    object.__setattr__(ops(g)["add"].outputs[0], "_ag_op", None)


def result_type(g: Graph) -> None:
    g.result_type = Py(float)


BREAKS: dict[Callable[[Graph], None], str] = {
    swap_first: "'while_loop' uses <tensor m: int> before it is defined",
    use_inner: "the results of the body use <tensor t1: int> outside the body that defines it",
    use_foreign: "'list.append' uses <tensor n: int> of another graph",
    define_twice: "<tensor t1: int> is defined twice",
    wrong_type: "'add' gives int for these operands, which str does not cover",
    drop_result: "what the body gives: 0 values where 1 are expected",
    narrow_result: "what the body gives is int, which =3 does not cover",
    wrong_test: "the test is int, which bool does not cover",
    no_test: "the test of a while_loop gives a truth value",
    start_type: "what the loop starts with is =1.5, which int does not cover",
    turn_type: "what the body gives is ='text', which int does not cover",
    extra_argument: "an argument of 'g': 2 values where 1 are expected",
    wrong_argument: "an argument of 'g' is ='a', which int does not cover",
    foreign_body: "a body belongs to another graph",
    lost_body: "this try has 3 bodies",
    handler_without_error: "only handlers have a parameter",
    beyond_the_table: "'list.append' puts into list#1 what its table does not hold",
    after_never: "'list.append' always raises, but the body goes on after it",
    array_constant: "'add' has an array as a constant",
    unknown_op: "'add' has no op",
    disowned: "<tensor t1: int> names another operation as its own",
    result_type: "the result of the graph is int, which float does not cover",
}


def test_whole_graph_passes() -> None:
    check(graph())


@pytest.mark.parametrize("change", BREAKS, ids=lambda f: f.__name__)
def test_broken_graph(change: Callable[[Graph], None]) -> None:
    broken = graph()
    change(broken)
    with pytest.raises(GraphError) as caught:
        check(broken)
    assert str(caught.value).splitlines()[0] == BREAKS[change]


def test_error_marks_the_operation() -> None:
    broken = graph()
    wrong_type(broken)
    with pytest.raises(AssertionError) as caught:
        check(broken)
    assert ">       t1: str = add(n, 1)" in str(caught.value).splitlines()


def test_check_leaves_the_tables_alone() -> None:
    broken = graph()
    beyond_the_table(broken)
    before = str(broken)
    with pytest.raises(GraphError):
        check(broken)
    assert str(broken) == before
