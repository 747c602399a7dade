"""Operators with an object of the user's on one side and a value of NumPy's on the other."""

from __future__ import annotations

import linecache
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autograph as ag


class Named:
    """Says which of its methods was called, and with what."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __add__(self, other: Any) -> Any:
        return "add", type(other).__name__, self.v

    def __radd__(self, other: Any) -> Any:
        return "radd", type(other).__name__, self.v

    def __rmul__(self, other: Any) -> Any:
        return other * 2

    def __rdivmod__(self, other: Any) -> Any:
        return "rdivmod", type(other).__name__, self.v

    def __rmatmul__(self, other: Any) -> Any:
        return "rmatmul", type(other).__name__

    def __eq__(self, other: Any) -> Any:
        return "eq", type(other).__name__, self.v

    def __ne__(self, other: Any) -> Any:
        return "ne", type(other).__name__, self.v

    def __lt__(self, other: Any) -> Any:
        return "lt", type(other).__name__, self.v

    def __gt__(self, other: Any) -> Any:
        return "gt", type(other).__name__, self.v


class Bare:
    def __init__(self, v: Any) -> None:
        self.v = v


class Aside(Named):
    __array_ufunc__ = None


class First(Named):
    __array_priority__ = 100


class Picky:
    """Answers for Python's own floats only."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __add__(self, other: Any) -> Any:
        print(type(other).__name__)
        return self.v + other if type(other) is float else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return divmod(self.v, other) if type(other) is float else NotImplemented

    def __eq__(self, other: Any) -> Any:
        return self.v == other if type(other) is float else NotImplemented


@dataclass(order=True)
class Pair:
    v: Any
    w: int = 1


CLASSES = (Named, Bare, Aside, First, Picky, Pair)
FORMS = (
    *("x + C(n)", "C(n) + x", "x * C(n)", "x @ C(n)", "x == C(n)", "C(n) == x", "x != C(n)", "C(n) != x"),
    *("x < C(n)", "x > C(n)", "C(n) < x", "x in [C(n)]", "divmod(x, C(n))", "divmod(C(n), x)"),
)


def written(text: str, cls: type) -> Callable[..., Any]:
    """The function whose body is `text`."""
    name = f"<{cls.__name__}: {text}>"
    source = f"def f(x, n):\n    {text}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"C": cls}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]  # type: ignore[no-any-return]


def result(fn: Callable[..., Any], x: Any) -> str:
    try:
        value = fn(x, 3)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return f"{type(value).__name__}: {value!r}"


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("form", FORMS)
def test_as_numpy_or_refused(form: str, cls: type, capsys: pytest.CaptureFixture[str]) -> None:
    fn = written(f"return {form}", cls)
    for x in (np.float32(2), np.float64(2.5), np.int64(3), np.arange(3.0), np.array(2.0), np.zeros((0, 2))):
        try:
            expected = result(fn, x), capsys.readouterr().out
            got = result(ag.to_graph(fn), x), capsys.readouterr().out
        except ag.StagingError as error:
            assert isinstance(x, np.ndarray), (form, x)
            assert "internal error" not in str(error)
        else:
            assert got == expected, (form, x)


@pytest.mark.parametrize("cls", CLASSES)
def test_in_place(cls: type) -> None:
    fn = written("x += C(n); return x", cls)
    for x in (np.float32(2), np.int64(3), np.arange(3.0)):
        try:
            expected = result(fn, x.copy())
            got = result(ag.to_graph(fn), x.copy())
        except ag.StagingError as error:
            assert isinstance(x, np.ndarray)
            assert "internal error" not in str(error)
        else:
            assert got == expected, x


def test_an_array_beside_an_object_is_refused_with_a_way_out() -> None:
    fn = written("return x * C(n)", Named)
    with pytest.raises(ag.StagingError) as raised:
        ag.to_graph(fn)(np.arange(3.0), 2)
    text = str(raised.value)
    assert "an operator (*) has an array and an object of the class Named" in text
    assert "__array_ufunc__ = None" in text


def test_a_scalar_or_a_number_beside_a_vector() -> None:
    class Vector:
        def __init__(self, x: Any, y: Any) -> None:
            self.x, self.y = x, y

        def __rmul__(self, k: Any) -> Any:
            return Vector(k * self.x, k * self.y)

    def scaled(x, n):
        v = Vector(1.0, 2)
        for i in range(len(x)):
            v = x[i] * v
        k = 2 if n > 0 else x[1]
        v = k * v
        return v.x, v.y, type(v.y) is int, type(v.y) is float

    graph = ag.to_graph(scaled)
    for n in (0, 1):
        expected = scaled(np.arange(1.0, 4.0), n)
        got = graph(np.arange(1.0, 4.0), n)
        assert got == expected
        assert [type(v) for v in got] == [type(v) for v in expected]


THINGS = (
    "{1: n}",
    "{n}",
    "set()",
    "range(n)",
    "slice(n)",
    "f'{n}'",
    "b'x' * n",
    "None if n > 2 else f'{n}'",
    "len",
)


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize("thing", THINGS)
def test_equality_with_what_is_no_array(thing: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", backend)
    fn = written(f"o = {thing}; return x == o, o != x", Bare)
    graph = ag.to_graph(fn)
    for x in (
        np.arange(3.0),
        np.array(1.0),
        np.float32(2),
        np.int8(1),
        np.zeros((0, 3)),
        np.zeros((2, 1), int),
    ):
        assert result(graph, x) == result(fn, x), x


def test_orders_of_dataclasses() -> None:
    def orders(x):
        a, b = Pair(x[0]), Pair(2.0)
        return a < b, a >= b, a == Pair(1.0), a != b, a == 1.0, x[0] == b, a != None  # noqa: E711

    assert ag.to_graph(orders)(np.arange(1.0, 4.0)) == orders(np.arange(1.0, 4.0))
    for compare in (operator.lt, operator.ge):

        def unordered(v, compare=compare):
            return compare(v, Pair(1.0))

        with pytest.raises(TypeError) as expected:
            unordered(2)
        with pytest.raises(TypeError) as got:
            ag.to_graph(unordered)(2)
        assert str(got.value) == str(expected.value)


class Left:
    def __add__(self, other: Any) -> Any:
        print("Left.__add__")
        return NotImplemented

    __iadd__ = __lt__ = __eq__ = __add__


class Right:
    def __radd__(self, other: Any) -> Any:
        print("Right.__radd__")
        return NotImplemented

    __rmul__ = __gt__ = __radd__

    def __index__(self) -> int:
        return 2


def in_place(x, n):
    a = Left()
    a += n
    return a


@pytest.mark.parametrize("backend", ["native", "interpreter"])
@pytest.mark.parametrize(
    "fn",
    [
        lambda x, n: Left() + n,
        lambda x, n: Left() + Right(),
        lambda x, n: Left() < Right(),
        lambda x, n: n < Right(),
        lambda x, n: Left() == n,
        lambda x, n: [n] + Right(),
        lambda x, n: [n] * Right(),
        lambda x, n: f"{n}" + Right(),
        lambda x, n: x + Right(),
        in_place,
    ],
)
def test_no_method_is_called_more_often_than_python_calls_it(
    fn: Any, backend: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", backend)
    expected = result(fn, np.float64(1.5)), capsys.readouterr().out
    assert expected[1]
    assert (result(ag.to_graph(fn), np.float64(1.5)), capsys.readouterr().out) == expected


class Unlike:
    def __ne__(self, other: Any) -> Any:
        return NotImplemented


class Alike:
    def __eq__(self, other: Any) -> Any:
        return True


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, n: Unlike() != Alike(),
        lambda x, n: Alike() != Unlike(),
        lambda x, n: Unlike() != n,
        lambda x, n: Unlike() != Unlike(),
    ],
)
def test_unequal_falls_back_on_equal(fn: Any) -> None:
    assert result(ag.to_graph(fn), 1) == result(fn, 1)
