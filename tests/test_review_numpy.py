"""Programs that once gave another answer than Python, or none: each is compared in graph and ops mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.programs.oracle import difference, outcome


@pytest.fixture(autouse=True)
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_CHECK", "1")


def same(fn: Callable[..., Any], *inputs: Callable[[], tuple[Any, ...]]) -> None:
    """`fn` does the same as a graph, and op by op, for each input in turn and for the first one again."""
    for mode in (ag.graph, lambda: ag.eager(ops=True)):
        converted = ag.to_graph(fn)

        def call(*args: Any, mode: Any = mode, converted: Any = converted) -> Any:
            with mode():
                return converted(*args)

        for make in (*inputs, inputs[0]):
            expected, got = outcome(fn, make), outcome(call, make, refusals=(ag.errors.StagingError,))
            assert got.refused is None
            assert difference(expected, got, rtol=1e-12) is None


class Pair:
    def __init__(self, value: Any) -> None:
        self.value = value

    def read(self) -> Any:
        return self.value


def test_a_loop_over_lists_made_at_two_places() -> None:
    def fn(n: int, s: float) -> Any:
        items, total = [(1, 0.0)], 0.0
        for _ in range(n):
            for _, score in items:
                total += score
            items = [(2, s)]
        return total, items

    same(fn, lambda: (3, 0.5), lambda: (0, 1.5))


def test_objects_made_at_two_places() -> None:
    def fn(n: int, s: float) -> Any:
        pair, total = Pair(1), 0.0
        for _ in range(n):
            total += pair.value + pair.read()
            pair = Pair(s)
        return total, pair

    same(fn, lambda: (3, 0.5), lambda: (0, 1.5))


def test_containers_of_two_places_in_a_loop() -> None:
    def fn(n: int, s: float) -> Any:
        table, group, nested, total = {1: 2}, {1}, [[1]], 0.0
        for _ in range(n):
            for key, value in table.items():
                total += key * value
            for item in group:
                total += item
            for row in nested:
                for item in row:
                    total += item
            for item in reversed(nested[0]):
                total += item
            table, group, nested = {2: s, 3: 1}, {s}, [[s, 2], [1]]
        return total, table, group, nested

    same(fn, lambda: (3, 0.5), lambda: (0, 1.5))


def test_lists_of_two_branches() -> None:
    def fn(n: int, s: float) -> Any:
        items = [1] if n > 2 else [s, 2]
        total = 0.0
        for item in items:
            total += item
        first, *_ = items
        return total, first, items

    same(fn, lambda: (3, 0.5), lambda: (0, 1.5))


def test_a_loop_over_tuples_of_two_lengths() -> None:
    def fn(n: int, s: float) -> Any:
        items: Any = (1,)
        total = 0.0
        for _ in range(n):
            for item in items:
                total += item
            items = (s, 2, total)
        return total, items

    same(fn, lambda: (3, 0.5), lambda: (0, 1.5))


def test_slices_as_values() -> None:
    def fn(x: Any, a: int, b: int) -> Any:
        part = slice(a, b)
        other = slice(a, b, 2) if a > 1 else slice(a, b)
        y = x[part].copy()
        x[other] = 0
        window = slice(0, 1)
        for i in range(a):
            x[window] += 1
            window = slice(i, i + 2)
        return y, x, part.start, part.indices(5), window, window.indices(5), np.outer(x, x)[part, part]

    same(fn, lambda: (np.arange(10.0), 2, 7), lambda: (np.arange(9), 1, 3))


def test_grids_of_traced_sizes() -> None:
    def fn(w: int, h: int) -> Any:
        y, x = np.mgrid[-1.2 : 1.2 : h * 1j, -2 : 0.6 : w * 1j]
        a, b = np.ogrid[0:h, 0:w]
        return y, x, a * b, np.mgrid[:h], np.mgrid[0:1:0.3, :w]

    same(fn, lambda: (5, 4), lambda: (2, 3), lambda: (1, 1))


def test_arrays_side_by_side() -> None:
    def fn(n: int, x: Any) -> Any:
        m = np.outer(x, x)
        return (
            np.r_[x, 0],
            np.r_[0:n, x],
            np.c_[x, x * 2],
            np.c_[m, x],
            np.r_[m, m],
            np.r_[n, 2.5],
            np.c_[n, x[:1]],
        )

    same(fn, lambda: (5, np.arange(4.0)), lambda: (2, np.arange(3)), lambda: (1, np.zeros(1)))


def test_rows_spread_by_a_star() -> None:
    def fn(u: Any) -> Any:
        return np.hypot(*u), [*u], (1, *u[:, 0])

    same(fn, lambda: (np.ones((2, 100)),), lambda: (np.ones((2, 5)),), lambda: (np.ones((3, 5)),))


def test_bincount_of_nothing_with_weights() -> None:
    def fn(x: Any) -> Any:
        return np.bincount(x, weights=x * 0.5), np.bincount(x, minlength=3)

    same(fn, lambda: (np.arange(3),), lambda: (np.zeros(0, int),), lambda: (np.arange(5),))


def test_print_options() -> None:
    def fn(x: Any) -> Any:
        with np.printoptions(precision=2, suppress=True):
            print(x / 3)
            text = f"{x / 7}"
        print(x / 3)
        return text

    same(fn, lambda: (np.arange(3.0),))


def test_an_axis_that_changes_from_call_to_call() -> None:
    def fn(x: Any, n: int, axis: Any) -> Any:
        return np.diff(x, n=n), x.sum(axis=axis), np.sort(x, axis=axis)

    x = np.arange(24.0).reshape(2, 3, 4)
    same(fn, lambda: (x, 3, 0), lambda: (x, 0, 1), lambda: (x, 1, -1), lambda: (x[:1], 1, 2))


def test_slices_as_arguments() -> None:
    def fn(x: Any, part: slice) -> Any:
        return x[part], x[:, part], part

    x = np.arange(24.0).reshape(2, 3, 4)
    same(fn, lambda: (x, slice(0, 2)), lambda: (x, slice(1, 2)), lambda: (x, slice(None)))


def test_items_of_flat() -> None:
    def fn(x: Any, k: int) -> Any:
        x.flat[k] = 9
        x.flat[1:k] = 0
        x.flat[[0, k]] += 5
        return x, x.flat[k], x.flat[::2], x.flat[x.ravel() > 2], sum(x.flat)

    same(fn, lambda: (np.arange(6.0).reshape(2, 3), 3), lambda: (np.arange(8).reshape(2, 4), 5))


def test_polynomials_whose_form_depends_on_values() -> None:
    def fn(p: Any) -> Any:
        return np.roots(p), np.poly(p), np.polymul(p, [0, 1, 2]), np.polydiv([1, 2, 3, 4], np.array(p) + 1)

    same(fn, *(lambda p=p: (p,) for p in ([1, -3, 2], [1, 0, 1], [0, 0], [1, 2, 0], [5], [1j, 2])))


AXIS, AXES = 0, (0, 1)


def test_axes_from_globals() -> None:
    def fn(x: Any) -> Any:
        return x.sum(axis=AXIS), x.mean(axis=AXES), np.moveaxis(x, AXES[0], AXES[1])

    global AXIS, AXES
    converted = ag.to_graph(fn)
    x = np.arange(24.0).reshape(2, 3, 4)
    try:
        for AXIS, AXES in ((0, (0, 1)), (1, (1, 2)), (2, (2, 0)), (0, (0, 1))):
            for expected, got in zip(fn(x), converted(x)):
                np.testing.assert_array_equal(expected, got)
    finally:
        AXIS, AXES = 0, (0, 1)


def test_a_global_that_the_function_makes() -> None:
    def fn(x: Any) -> Any:
        global _MADE
        _MADE = x
        return _MADE + 1

    for value in (1, 2.5):
        globals().pop("_MADE", None)
        assert ag.to_graph(fn)(value) == value + 1
        assert globals().pop("_MADE") == value


def test_einsum_of_lengths_that_do_not_fit() -> None:
    def fn(flag: bool, x: Any, y: Any) -> Any:
        return np.einsum("i,i->i", x, y).prod() if flag else None

    for length in (3, 2, 1):
        same(fn, lambda: (False, np.ones(2), np.ones(length)), lambda: (True, np.ones(2), np.ones(length)))


def test_sizes_without_items() -> None:
    same(lambda x: np.zeros(x), lambda: (np.array([]),))


def test_out_that_is_no_array() -> None:
    def fn(x: Any, n: int) -> Any:
        y: Any = x
        for _ in range(n):
            y = y.item(0) if isinstance(y, np.ndarray) else y
        return np.negative(y, out=y)

    same(fn, lambda: (np.arange(3.0), 0), lambda: (np.arange(3.0), 2))


def test_put_into_a_scalar_or_an_array() -> None:
    def fn(x: Any, c: bool) -> Any:
        y = x if c else x.sum()
        return np.put(y, [0], 9), y

    same(fn, lambda: (np.arange(3.0), True), lambda: (np.arange(3.0), False))


def test_flat_of_one_of_two_arrays() -> None:
    def fn(x: Any, c: bool) -> Any:
        y = x if c else x > 1
        y.flat[0] = 5
        return y.flat[0], y

    same(fn, lambda: (np.arange(3.0), True), lambda: (np.arange(3.0), False))


def test_an_array_of_any_rank_stays_one_alternative() -> None:
    def fn(x: Any, n: int) -> Any:
        y: Any = x
        for i in range(n):
            y = np.multiply.outer(y, [1, 2]) if i % 2 else y[:1] * 2
        for _ in range(n):
            y, x = x, y.sum(axis=0)
        return x, y

    same(fn, lambda: (np.arange(3.0), 3), lambda: (np.arange(4), 1))


def test_the_length_of_what_may_be_a_list() -> None:
    def fn(x: Any, n: int) -> Any:
        y: Any = x
        for i in range(n):
            if len(y) > 2 and i:
                y = y.tolist() if isinstance(y, np.ndarray) else [0]
        total = 0.0
        for a, b in zip(y, y):
            total += a * b
        return total, y

    same(fn, lambda: (np.arange(3.0), 2), lambda: (np.arange(4), 0), lambda: (np.arange(4), 3))


class Norm:
    def __init__(self, axis: int, keep: bool, times: int) -> None:
        self.axis, self.keep, self.times = axis, keep, times

    def __call__(self, x: Any) -> Any:
        mean = x.mean(axis=self.axis, keepdims=True)
        y = (x - mean) / (x.std(axis=self.axis, keepdims=True) + 1)
        joined = np.concatenate([x, x], axis=self.axis)
        return (
            y,
            y.sum(axis=self.axis, keepdims=self.keep),
            np.diff(x, n=self.times),
            joined,
            np.argmax(x, self.axis),
        )


def test_axes_from_attributes() -> None:
    def fn(norm: Norm, x: Any) -> Any:
        total = 0.0
        for part in norm(x):
            total += part.sum()
        return norm(x), total

    x = np.arange(24.0).reshape(2, 3, 4)
    same(
        fn,
        lambda: (Norm(0, True, 1), x),
        lambda: (Norm(1, False, 2), x),
        lambda: (Norm(-1, False, 0), x),
        lambda: (Norm(3, False, 1), x),
        lambda: (Norm(1, True, 1), x[0]),
    )


def test_shapes_inside_containers_that_change_from_call_to_call() -> None:
    def fn(rows: list[Any], pair: Pair, table: dict[str, Any]) -> Any:
        return [len(rows[0]), rows[0].shape, len(pair.value), pair.value.shape, len(table["w"]), rows[1].size]

    def arguments(n: int, m: int) -> Any:
        return lambda: ([np.ones(n), np.ones(m)], Pair(np.ones(n)), {"w": np.ones(m)})

    same(fn, arguments(2, 3), arguments(4, 3), arguments(4, 5), arguments(4, 4), arguments(5, 5))


def test_repeat_of_a_number_along_an_axis() -> None:
    def fn(x: Any) -> Any:
        y = x.sum() * 2 if x.size > 2 else np.array(1.5)
        return np.repeat(y, 2, axis=0), np.repeat(x[0], 3, axis=-1)

    same(fn, lambda: (np.arange(3.0),), lambda: (np.arange(2),))


def test_the_error_state_is_refused() -> None:
    def fn(x: Any) -> Any:
        np.seterr(all="warn")
        return x / 0

    with pytest.raises(ag.errors.StagingError, match="floating point errors"):
        ag.to_graph(fn)(np.ones(2))


def test_foreign_byte_order_is_refused() -> None:
    def fn(x: Any) -> Any:
        return x[0], x.astype(">f8")

    for x in (np.ones(2, ">f8"), np.ones(2)):
        with pytest.raises(ag.errors.StagingError, match="dtype"):
            ag.to_graph(fn)(x)


def test_a_number_is_not_subscriptable() -> None:
    def fn(x: Any, c: bool) -> Any:
        y = len(x) if c else x
        return y[np.array([0, 0])]

    same(fn, lambda: (np.arange(3.0), True), lambda: (np.arange(3.0), False))


def test_ndarray_makes_an_array_of_a_shape() -> None:
    def fn(x: np.ndarray, n: int) -> Any:
        out = np.ndarray((n, len(x)), dtype=x.dtype)
        for i in range(n):
            out[i] = x * i
        square = np.ndarray(x.shape)
        square[:] = x * x
        return out, square

    same(fn, lambda: (np.arange(3.0), 2), lambda: (np.arange(4, dtype=np.int32), 3))


def test_ndarray_of_the_memory_of_another_array_is_refused() -> None:
    @ag.to_graph
    def fn(x: np.ndarray) -> Any:
        return np.ndarray((2,), float, x)

    with pytest.raises(ag.errors.StagingError, match="more than a shape and a dtype"):
        fn(np.zeros(4))


def complex_on_either_side(v, a):
    z, same = 2j, []
    for x in (
        1j == v,
        1j != v,
        v == 1j,
        v != 1j,
        z == v,
        v == z,
        -1j == v,
        1j == np.median(a),
        z != a[0] + v,
    ):
        same.append((x, type(x)))
    chosen = 3 if 1j == v else 4
    return same, chosen, 1j == v == z, [z == x for x in (v, a[1])]


def test_a_complex_number_compared_with_a_float64_gives_pythons_bool_where_it_is_on_the_left() -> None:
    args = np.float64(1.5), np.arange(3.0)
    expected = complex_on_either_side(*args)
    assert {kind for _, kind in expected[0]} == {bool, np.bool}
    assert ag.to_graph(complex_on_either_side)(*args) == expected
