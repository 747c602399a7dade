"""Code that runs on the host while a graph runs: what it changes is seen, or the run is refused."""

from __future__ import annotations

from typing import Any

import pytest

import autograph as ag

items: list[Any] = [1]
table: dict[str, Any] = {"a": 1}
number: Any = 3


class Holder:
    value: Any = 1


holder = Holder()
holder.value = 1


@ag.do_not_convert
def change() -> None:
    global number
    items.append("s")
    table["b"] = 2
    holder.value = "x"
    number = "n"


def length(n: Any) -> Any:
    change()
    return len(items)


def last(n: Any) -> Any:
    change()
    return items[-1]


def each(n: Any) -> Any:
    change()
    return [v for v in items]


def keys(n: Any) -> Any:
    change()
    return len(table), [k for k in table]


def field(n: Any) -> Any:
    change()
    return holder.value


def name(n: Any) -> Any:
    change()
    return number


def around(n: Any) -> Any:
    return len(items), items[0], change(), len(items)


def reset() -> None:
    global number
    items[:] = [1]
    table.clear()
    table["a"] = 1
    holder.value = 1
    number = 3


@pytest.mark.parametrize("fn", [length, last, each, keys, field, name, around])
def test_a_change_by_the_host_is_seen_or_refused(fn: Any) -> None:
    reset()
    expected = fn(1)
    reset()
    try:
        assert ag.to_graph(fn)(1) == expected
    except ag.StagingError as error:
        assert "changed a list, dict, object or variable" in str(error)
    finally:
        reset()
