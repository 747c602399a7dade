"""Reading graphs: literals, types and tables, and a clear error for each way in which a text can be wrong."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest

from autograph.errors import GraphSyntaxError
from autograph.graph.parse import parse_text
from autograph.graph.text import constants, to_text
from autograph.runtime.interpreter import run

Pair = collections.namedtuple("Pair", "a b")

LITERALS = [
    "None", "True", "3", "-3", "1.5", "-0.0", "inf", "-inf", "nan", "1e+16", "1e-05", "complex(1.0, -0.0)",
    "complex(nan, inf)", "'a # b'", "b'\\x00'", "\"it's\"", "'\\n'", "...", "()", "(1,)", "(1, (2.0, 'x'))",
    "[1, 2]", "{'a': 1}", "slice(None, 3, None)", "range(0, 3, 1)", "float32(0.5)", "bool_(True)",
    "uint64(7)",    "complex128(complex(1.0, 2.0))", "dtype('<f8')", "unbound('x')", "<int|float64[3]>",
]  # fmt: skip

TYPES = [
    "int", "float", "str", "slice", "range", "bool", "bool_", "float64", "int8[]", "bool[3]", "float32[3,?]",
    "float64[...]", "dtype('>f8')[2]", "(int, float)", "(int,)", "()", "(int, ...)", "object",
    "object[$Pair]",
    "iter[int]", "iter[int, $Pair]", "$Pair(int, (int|float, ...))", "=3", "='a'|=None", "=(1, 2)", "=$Pair",
    "never", "unbound|int", "py[$Pair]", "=nan", "=-inf|=complex(0.0, 1.0)",
]  # fmt: skip


@pytest.mark.parametrize("literal", LITERALS)
def test_literal_reads_back(literal: str) -> None:
    text = f"graph f()\n  t1: object = host_call({literal}, k={literal})\n  return t1"
    graph = parse_text(text)
    assert to_text(graph) == text
    assert constants(graph) == {}


@pytest.mark.parametrize("written", TYPES)
def test_type_reads_back(written: str) -> None:
    text = f"graph f(x: {written})\n  return"
    graph = parse_text(text, {"Pair": Pair})
    assert to_text(graph).partition("\n\nconstants")[0] == text
    assert constants(graph) == ({"Pair": Pair} if "$" in written else {})


def test_parsed_graph_runs() -> None:
    graph = parse_text("""
        graph f(n: int) -> int
          k: int, total: int = while_loop(n, 0)  # model.py:3
            test (k_1: int, total_1: int)
              t1: bool = gt(k_1, 0)
              yield t1, k_1, total_1
            body (k_2: int, total_2: int)
              total_3: int = add(total_2, k_2)  # model.py:4
              k_3: int = sub(k_2, 1)
              yield k_3, total_3
          t2: $Pair(int, float) = namedtuple($Pair, total, nan)
          return total
    """.replace("\n        ", "\n"), {"Pair": Pair})  # fmt: skip
    assert run(graph, [4]) == (10,)
    assert graph.params[0]._ag_op is None
    loop = graph.body.ops[0]
    assert repr(loop.place) == "model.py:3" and loop.place is not None
    assert loop.place.location().function == "f"


def test_constants_are_the_values_given() -> None:
    graph = parse_text(
        "graph f()\n  t1: object = host_call($fn, $Pair(1, 2), [$fn])\n  return t1",
        {"fn": math.hypot, "Pair": Pair},
    )
    operation = graph.body.ops[0]
    assert operation.args == (math.hypot, Pair(1, 2), [math.hypot])
    assert type(operation.args[1]) is Pair


def test_constants_without_literal_get_names() -> None:
    payload = np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\x7f")[0]
    graph = parse_text(
        "graph f()\n  t1: object = host_call($x, $y, $x)\n  return t1", {"x": payload, "y": len}
    )
    assert list(constants(graph)) == ["float64", "len"]
    assert "host_call($float64, $len, $float64)" in to_text(graph)


def test_sites_read_back() -> None:
    text = """graph f(x: list#1, y: Pair#2) -> list#1
  return x

where
  list#1: list [int, dict#3]
  Pair#2: object $Pair {'a': cell#4, 'b': =2}
  dict#3: dict {'a': int, (1, 'x'): float} open by str of list#1
  cell#4: cell of unbound|set#5
  set#5: set of int"""
    graph = parse_text(text, {"Pair": Pair})
    assert to_text(graph).partition("\n\nconstants")[0] == text


def test_op_made_on_demand_is_found() -> None:
    graph = parse_text("graph f(x: int64[3]) -> int64\n  y: int64 = np.add.reduce(x)\n  return y")
    assert run(graph, [np.arange(3)]) == (3,)
    graph = parse_text("graph f(x: int64[3]) -> int64\n  y: int64 = method.sum(x)\n  return y")
    assert run(graph, [np.arange(3)]) == (3,)


HEAD = "graph f(n: int)\n"
WRONG = {
    "": "line 1: a graph begins with 'graph name(...)'",
    "graph f(n)": "line 1: expected ':', found ')'",
    "graph f(n: int) extra": "line 1: expected the end of the line, found 'extra'",
    "graph f(n: int, n: int)": "line 1: 'n' is defined twice",
    "graph f(n: integer)": "line 1: there is no type 'integer'",
    "graph f(n: list#1)\n  return": "line 1: list#1 is not in the table 'where'",
    "graph f()\n  return\ngraph f()\n  return": "line 3: a second graph 'f'",
    HEAD: "line 2: expected 'return' or 'never' at the end of the graph, found the end of the line",
    HEAD + "  x: int = add(n, 1": "line 2: expected ',' or ')', found the end of the line",
    HEAD + "  x: int = add(n, m)": "line 2: 'm' is not defined here",
    HEAD + "  x: int = add(x, 1)": "line 2: 'x' is not defined here",
    HEAD + "  n: int = add(n, 1)": "line 2: 'n' is defined twice",
    HEAD + "  x: int = plus(n, 1)": "line 2: there is no op 'plus'",
    HEAD + "  x: int = add(n, $one)": "line 2: there is no constant '$one' in the table given",
    HEAD + "  x: int = add(n, one(1))": "line 2: there is no literal one(...)",
    HEAD + "  x: int = add(n, )1": "line 2: expected the end of the line, found '1'",
    HEAD + "  x: int = add(n, 'a)": 'line 2: unexpected "\'"',
    HEAD + "  x: int = call g(n)": "line 2: there is no graph 'g'",
    HEAD + "    x: int = add(n, 1)": "line 2: unexpected indentation",
    HEAD + "  return n\n  print(n)": "line 3: an operation after the end of the body ('return' or 'never')",
    HEAD + "  cond(b)\n  return": "line 2: 'b' is not defined here",
    HEAD + "  cond(True)\n    then\n      m: int = add(n, 1)\n  return m": "line 5: 'm' is not defined here",
    HEAD
    + "  return n\nwhere\n  list: int": "line 4: expected an allocation site such as list#1, found 'list'",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_text(text: str) -> None:
    with pytest.raises(GraphSyntaxError) as caught:
        parse_text(text)
    assert str(caught.value).splitlines()[0] == WRONG[text]


def test_missing_body() -> None:
    with pytest.raises(
        GraphSyntaxError, match="line 3: expected 'then', two spaces deeper than its operation"
    ):
        parse_text(HEAD + "  cond(True)\n  return")


def test_error_shows_the_column() -> None:
    with pytest.raises(ValueError) as caught:
        parse_text(HEAD + "  x: int = add(n, m)")
    assert str(caught.value) == (
        "line 2: 'm' is not defined here\n"
        "  x: int = add(n, m)\n"
        "                  ^"
    )  # fmt: skip
