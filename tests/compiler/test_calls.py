"""The quick way into machine code: which calls take it, and that all others are as they were."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StagingError

SCALE = 2.0


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def quick_calls(fn: Any) -> int:
    return 0 if fn._record is None else fn._record.hits


def test_the_third_call_is_quick_and_the_second_one_of_another_kind() -> None:
    f = ag.to_graph(lambda x, n: x * n + 1)
    x = np.ones(4, np.float32)
    for turn in range(5):
        assert np.array_equal(f(x, turn), x * turn + 1)
    assert quick_calls(f) == 3
    assert f.cache_info().hits == 4 and f.cache_info().misses == 1
    assert [f(2.0, 3), f(2.5, 3)] == [7.0, 8.5]
    assert quick_calls(f) == 4
    assert isinstance(f, type(ag.to_graph(lambda: 0)).__mro__[0]) or type(f).__name__ == "GraphFunction"


@pytest.mark.parametrize(
    "other",
    [
        np.ones(5, np.float32),
        np.ones(4, np.float64),
        np.ones((4, 1), np.float32),
        np.ones(8, np.float32)[::2],
        np.ones(4, ">f4").astype("<f4"),
        3,
        2.5,
        True,
        1j,
        np.float32(2),
    ],
    ids=repr,
)
def test_arguments_of_another_kind(other: Any) -> None:
    f = ag.to_graph(lambda x: x * 2 + 1)
    x = np.ones(4, np.float32)
    f(x), f(x)
    for value in (other, x, other, other):
        got, want = f(value), value * 2 + 1
        assert type(got) is type(want) and np.array_equal(got, want)
        if isinstance(want, np.ndarray):
            assert got.dtype == want.dtype


def test_integers_beyond_64_bits_are_refused() -> None:
    f = ag.to_graph(lambda n: n + 1)
    assert [f(1), f(2), f(-5)] == [2, 3, -4]
    with pytest.raises(OverflowError):
        f(2**70)
    assert f(7) == 8


def test_outside_names_are_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ag.to_graph(lambda x: x * SCALE)
    assert [f(1.0), f(2.0)] == [2.0, 4.0]
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert [f(1.0), f(2.0)] == [5.0, 10.0]
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert [f(1.0), f(2)] == [3.0, 6]


def test_variables_of_enclosing_functions() -> None:
    factor = 2

    @ag.to_graph
    def f(x):
        return x * factor

    assert [f(3), f(4)] == [6, 8]
    factor = 2.5
    assert [f(3), f(4)] == [7.5, 10.0]


def test_modes_and_error_state() -> None:
    lines: list[str] = []

    @ag.to_graph
    def f(x):
        return x / 2

    x = np.ones(3)
    f(x), f(x)
    before = quick_calls(f)
    with ag.eager():
        sys.settrace(lambda frame, event, arg: lines.append(frame.f_code.co_name))
        try:
            f(x)
        finally:
            sys.settrace(None)
    assert "f" in lines
    ag.set_mode("eager")
    try:
        f(x)
    finally:
        ag.set_mode("graph")
    with np.errstate(all="raise"), pytest.raises(StagingError):
        f(x)
    assert quick_calls(f) == before
    f(x)


def test_the_backend_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ag.to_graph(lambda x: x + 1)
    f(1), f(2)
    before = quick_calls(f)
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "interpreter")
    assert f(3) == 4 and quick_calls(f) == before


def test_arrays_that_overlap() -> None:
    def shift(x, y):
        for i in range(len(x)):
            y[i] = x[i] + 1.0
        return y

    f = ag.to_graph(shift)
    f(np.zeros(4), np.zeros(4)), f(np.zeros(4), np.zeros(4))
    base, plain = np.zeros(5), np.zeros(5)
    f(base[:4], base[1:])
    shift(plain[:4], plain[1:])
    assert np.array_equal(base, plain)


def test_dicts_of_arrays() -> None:
    f = ag.to_graph(lambda d: d["a"] + d["b"])
    d = {"a": np.ones(3), "b": np.zeros(3), "c": 1}
    for _ in range(4):
        assert np.array_equal(f(d), np.ones(3))
    assert quick_calls(f) == 2
    d["b"] = np.arange(3)
    assert np.array_equal(f(d), [1, 2, 3]) and f(d).dtype == np.float64
    d["b"] = np.arange(6).reshape(2, 3)
    assert f(d).shape == (2, 3)
    del d["c"]
    assert f(d).shape == (2, 3)
    with pytest.raises(KeyError, match="a"):
        f({"b": 1})


def test_errors_are_the_users() -> None:
    def third(x, i):
        return x[i]

    f = ag.to_graph(third)
    x = np.ones(4)
    assert f(x, 1) == f(x, 2) == 1.0
    with pytest.raises(IndexError, match="index 9 is out of bounds") as info:
        f(x, 9)
    assert info.traceback[-1].name == "third"
    try:
        raise KeyError("first")
    except KeyError as first:
        with pytest.raises(IndexError) as info:
            f(x, 9)
        assert info.value.__context__ is first


def test_nested_calls_while_a_function_is_captured() -> None:
    inner = ag.to_graph(lambda x: x + 1)
    inner(1), inner(2)
    outer = ag.to_graph(lambda x: inner(x) * inner(2))
    assert [outer(1), outer(2)] == [6, 9]


def test_no_references_are_lost_or_kept() -> None:
    f = ag.to_graph(lambda x, n: (x * 2, n, x))
    x, n = np.ones(16), 1 << 40
    f(x, n), f(x, n)
    before = sys.getrefcount(x), sys.getrefcount(n)
    for _ in range(1000):
        f(x, n)
    assert (sys.getrefcount(x), sys.getrefcount(n)) == before
    bad = ag.to_graph(lambda x, i: x[i] + x)
    for _ in range(3):
        with pytest.raises(IndexError):
            bad(x, 99)
    before = sys.getrefcount(x)
    for _ in range(1000):
        with pytest.raises(IndexError):
            bad(x, 99)
    assert sys.getrefcount(x) == before


def test_a_function_goes_with_its_code() -> None:
    def make() -> Any:
        f = ag.to_graph(lambda x: x + 1)
        f(1), f(2)
        return f

    f = make()
    call, dead = type(f).__call__, weakref.ref(f)
    del f
    gc.collect()
    assert call(3) == 4  # who holds the builtin holds the function
    del call
    gc.collect()
    assert dead() is None


def test_many_threads() -> None:
    f = ag.to_graph(lambda x: (x * x).sum())
    results: list[Any] = []

    def work(k: int) -> None:
        x = np.full(100, float(k))
        results.append(all(f(x) == 100.0 * k * k for _ in range(300)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 8


class Scaled:
    factor = 2.0

    def scaled(self, x):
        return x * self.factor

    def __call__(self, x):
        return self.scaled(x)


scale = Scaled()


def test_changes_of_an_outside_object_that_can_be_called_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    @ag.to_graph
    def f(x):
        return scale(x) + 1

    def agree() -> None:
        for _ in range(3):
            assert f(3.0) == scale(3.0) + 1

    agree()
    monkeypatch.setattr(scale, "factor", 5.0, raising=False)
    agree()
    monkeypatch.setattr(scale, "scaled", lambda x: x + 70, raising=False)
    agree()
    monkeypatch.setattr(Scaled, "__call__", lambda self, x: -x)
    agree()
    monkeypatch.setitem(globals(), "scale", np.sin)
    agree()
    monkeypatch.setitem(globals(), "scale", Scaled().scaled)
    agree()


def test_a_method_may_be_hidden_by_a_field_of_the_object() -> None:
    @ag.to_graph
    def f(x, given):
        return given.scaled(x) + 1

    plain, hidden = Scaled(), Scaled()
    hidden.scaled = lambda x: x + 7  # type: ignore[method-assign]
    for _ in range(2):
        assert f(1.0, plain) == 3.0
        assert f(1.0, hidden) == 9.0


def test_a_builtin_that_the_module_hides_later_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def inner(x):
        return [abs(v) for v in (x, -x)][1]

    @ag.to_graph
    def f(x):
        return inner(x) + len([x]) + x.sum()

    x = np.float64(-2.0)

    def agree() -> None:
        for _ in range(3):
            assert f(x) == inner(x) + len([x]) + x.sum()

    agree()
    quick = quick_calls(f)
    assert quick
    monkeypatch.setitem(globals(), "abs", lambda v: 100.0)
    agree()
    monkeypatch.setitem(globals(), "len", lambda v: 7)
    agree()
    monkeypatch.undo()
    agree()
