"""Matrix products, joins and linear algebra as machine code, against NumPy."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Set
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import threads
from autograph.graph.graph import Graph

pytest.importorskip("llvmlite")

TOLERANCE = {"f4": 2e-4, "c8": 2e-4, "f8": 1e-11, "c16": 1e-11}


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def callbacks(graph: Graph) -> set[str]:
    """The operations that machine code calls back."""
    assert graph.native and all(graph.native.values()), graph.native_reason
    return {o.name for native in graph.native.values() for o in native.fallbacks}


def same(given: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(given) is type(expected) and len(given) == len(expected)
        for g, e in zip(given, expected):
            same(g, e)
        return
    assert type(given) is type(expected)
    assert np.shape(given) == np.shape(expected)
    if not hasattr(expected, "dtype"):
        assert given == expected
        return
    assert given.dtype == expected.dtype
    if expected.ndim > 1:
        assert given.flags.c_contiguous == expected.flags.c_contiguous
        assert given.flags.f_contiguous == expected.flags.f_contiguous
    tolerance = TOLERANCE.get(f"{expected.dtype.kind}{expected.dtype.itemsize}", 0)
    np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance)


def check(fn: Any, *args: Any, called: Set[str] = frozenset()) -> None:
    """Machine code gives what plain Python gives, and calls back only what is named."""
    staged = ag.to_graph(fn)
    same(staged(*args), fn(*args))
    assert callbacks(staged.get_graph(*args)) <= called


def make(shape: Any, dtype: str = "f8", seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "iub":
        return generator.integers(0, 2 if kind == "b" else 9, shape).astype(dtype)
    x = generator.standard_normal(shape)
    return (x + 1j * generator.standard_normal(shape) if kind == "c" else x).astype(dtype)


def layouts(x: Any) -> Any:
    """The same values in memory in several ways."""
    yield x
    for step in (2, -1):
        index = (slice(None, None, step),) * x.ndim
        wide = np.zeros([abs(step) * d for d in x.shape], x.dtype)
        wide[index] = x
        yield wide[index]
    if x.ndim == 2:
        yield np.ascontiguousarray(x.T).T
        wide = np.zeros((x.shape[0], x.shape[1] + 3), x.dtype)
        wide[:, 1:-2] = x
        yield wide[:, 1:-2]


def check_products(pairs: list[Any]) -> None:
    """All products of an array by the next one, in one graph."""
    text = "def products(*a):\n    return ("
    text += "".join(f"\n        a[{i}] @ a[{i + 1}]," for i in range(0, len(pairs), 2)) + "\n    )\n"
    name = f"products_{len(pairs)}.py"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec"), scope)
    check(scope["products"], *pairs)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "b1"])
def test_products_of_all_sizes(dtype: str) -> None:
    pairs = []
    for m, k, n in itertools.product((0, 1, 3, 21), (0, 1, 5, 18), (0, 1, 4, 35)):
        pairs += [make((m, k), dtype), make((k, n), dtype, 1)]
    for m, k in itertools.product((0, 1, 3, 19), (0, 1, 5, 35)):
        pairs += [make((m, k), dtype), make(k, dtype, 1), make(m, dtype), make((m, k), dtype, 1)]
        pairs += [make(k, dtype), make(k, dtype, 1)]
    for m, k, n in ((70, 80, 90), (1, 300, 200), (200, 300, 1)):
        pairs += [make((m, k), dtype), make((k, n), dtype, 1), make((m, k), dtype), make(k, dtype, 1)]
    check_products(pairs)


@pytest.mark.parametrize(("m", "k", "n"), [(3, 4, 5), (1, 4, 7), (50, 60, 70), (1, 300, 200), (200, 300, 1)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_of_all_layouts(m: int, k: int, n: int, dtype: str) -> None:
    pairs: list[Any] = []
    for a, b in itertools.product(layouts(make((m, k), dtype)), layouts(make((k, n), dtype, 1))):
        pairs += [a, b]
    for a in layouts(make((m, k), dtype)):
        for x, y in zip(layouts(make(k, dtype, 1)), layouts(make(m, dtype, 2))):
            pairs += [a, x, y, a, x, x]
    check_products(pairs)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_with_few_rows(dtype: str) -> None:
    pairs = []
    for m, k, n in ((8, 128, 257), (9, 300, 75), (32, 60, 250), (33, 64, 130), (64, 90, 100), (65, 90, 100)):
        pairs += [make((m, k), dtype), make((k, n), dtype, 1)]
    check_products(pairs)

    @ag.to_graph
    def some(a, b, rows):
        return a[:rows] @ b

    a, b = make((70, 90), dtype), make((90, 300), dtype, 1)
    for rows in (0, 1, 7, 8, 40, 64, 65, 70):
        np.testing.assert_allclose(some(a, b, rows), a[:rows] @ b, rtol=0, atol=TOLERANCE[dtype])


SIZES = [
    (1, 40000, 9),
    (13, 300, 70),
    (97, 257, 33),
    (130, 40, 129),
    (33, 513, 64),
    (257, 256, 65),
    (9, 700, 9),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_in_tiles(dtype: str, size: tuple[int, int, int]) -> None:
    m, k, n = size

    @ag.to_graph
    def into(c, a, b):
        c[1:-1, 2:] = a @ b
        return c

    first, second = make((m, k), dtype), make((k, n), dtype, 1)
    scale = TOLERANCE[dtype] * np.sqrt(k)
    for a, b in itertools.product(layouts(first), layouts(second)):
        c = into(np.full((m + 2, n + 2), 7, dtype), a, b)
        np.testing.assert_allclose(c[1:-1, 2:], first @ second, rtol=0, atol=scale)
        assert (c[0] == 7).all() and (c[-1] == 7).all() and (c[:, :2] == 7).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_products_are_the_same_on_any_number_of_threads(dtype: str) -> None:
    @ag.to_graph
    def products(a, b, steps):
        total = a @ b
        for i in range(steps):
            total = total + (a + i) @ b
        return total, b.T @ (a.T * 2), a[:40] @ b, a @ b[:, :20]

    a, b = make((300, 310), dtype), make((310, 333), dtype, 1)
    before, results = threads.pool().threads, []
    for count in (1, 2, 5):
        threads.use(count)
        results.append(products(a, b, 3))
    threads.use(before or 1)
    for other in results[1:]:
        assert all(p.tobytes() == q.tobytes() for p, q in zip(results[0], other))
    np.testing.assert_allclose(results[0][2], a[:40] @ b, rtol=0, atol=TOLERANCE[dtype] * 20)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8"])
def test_products_of_slices_of_unknown_sizes(dtype: str) -> None:
    @ag.to_graph
    def fn(a: Any, b: Any, i: Any, j: Any, k: Any) -> Any:
        x, y = a[:i, :k], b[:k, :j]
        return x @ y, x @ b[:k, 0], a[0, :k] @ y, a[0, :k] @ b[:k, 1], x @ a[:i, :k].T, a[:k, :i].T @ y

    a, b = make((80, 80), dtype), make((80, 80), dtype, 1)
    for i, j, k in [*itertools.product((0, 1, 6), repeat=3), (80, 1, 80), (80, 70, 60)]:
        graph = fn.get_graph(a, b, i, j, k)
        same(fn(a, b, i, j, k), fn.python_function(a, b, i, j, k))
        assert not callbacks(graph)


@pytest.mark.parametrize("p", ["f4", "f8", "i8", "i4", "b1", "c8"])
def test_products_of_two_dtypes(p: str) -> None:
    pairs: list[Any] = []
    for q in ("f4", "f8", "i8", "i4", "b1", "c8"):
        pairs += [make((3, 4), p), make((4, 5), q), make(4, p), make((4, 5), q), make(4, p), make(4, q)]
    check_products(pairs)


def test_batches() -> None:
    shapes = [
        ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((1, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (6, 4, 5)), ((2, 3, 4), (4,)), ((4,), (2, 4, 5)), ((0, 3, 4), (0, 4, 5)),
        ((3, 40, 50), (50, 60)), ((3, 40, 50), (3, 50, 60)),
    ]  # fmt: skip
    check_products([make(s, "f8", i) for i, s in enumerate(itertools.chain.from_iterable(shapes))])


def test_functions_for_products() -> None:
    def fn(a: Any, b: Any, x: Any, c: Any) -> Any:
        return (
            np.dot(a, b), a.dot(x), np.matmul(x, b), np.inner(a, b.T), np.inner(x, b.T), np.inner(a, x),
            np.vdot(x, x), np.inner(x, x), np.dot(c, b), np.dot(c, x), (2 * a) @ (b + 1),
        )  # fmt: skip

    check(fn, make((3, 20)), make((20, 20)), make(20), make((2, 5, 20)))


def test_not_a_number_goes_through() -> None:
    a = np.array([[np.nan, 1.0], [np.inf, 2.0]])
    check_products([a, a, a, np.zeros(2), np.zeros((0, 2)), a, a, a[:, :0], np.ones((3, 2)), a])


def test_wrong_sizes_raise_as_numpy() -> None:
    @ag.to_graph
    def fn(a: Any, b: Any, k: Any) -> Any:
        return a[:, :k] @ b

    a = make((3, 4))
    fn(a, a.T, 4)
    with pytest.raises(ValueError, match=r"size 4 is different from 2"):
        fn(a, a.T, 2)
    with pytest.raises(ValueError, match=r"size 3 is different from 4"):
        fn(a, a, 4)


def test_product_is_a_new_array() -> None:
    @ag.to_graph
    def fn(a: Any, b: Any) -> Any:
        c = a @ b
        d = c
        a[:] = a @ b
        d[0, 0] = 7.0
        b[0] -= a @ b[1]
        return a, c, b

    def run(call: Any) -> Any:
        a, b = make((5, 5)), make((5, 5), "f8", 1)
        return call(a, b), a, b

    same(run(fn), run(fn.python_function))


# -- joins ---------------------------------------------------------------------------------------------------


def test_joins_of_known_arrays() -> None:
    def fn(a: Any, b: Any, v: Any, w: Any) -> Any:
        return (
            np.stack([v, w]), np.stack((v, 2 * w), axis=1), np.stack([a, b], axis=-2),
            np.concatenate([v, w[:2]]),
            np.concatenate((a, b)), np.concatenate((a, b[:, :2], a), axis=1), np.concatenate([a, b], -1),
            np.hstack((v, w)), np.hstack([a, b]), np.vstack((v, a)), np.vstack([v, w]),
            np.column_stack((v, w)),
            np.column_stack([a, v]), np.concatenate([a[:0], b]), np.stack([a[::-1], b[::-1]]),
        )  # fmt: skip

    for n in (3, 30):
        check(fn, make((n, n)), make((n, n), "f4", 1), make(n, "f8", 2), make(n, "i4", 3))


def test_joins_of_arrays_in_a_list() -> None:
    def fn(a: Any, v: Any) -> Any:
        rows, matrices, parts = [], [], []
        for i in range(len(a)):
            rows.append(a[i] * 2)
            matrices.append(a[:3, ::2].T)
            parts.append(a[i, i:])
        rows.append(v)
        return (
            np.stack(rows), np.stack(rows, axis=1), np.vstack(rows), np.stack(matrices), np.hstack(rows),
            np.concatenate(rows), np.concatenate(parts), np.concatenate(matrices, axis=1),
            np.stack(matrices, -1),
        )  # fmt: skip

    for dtype in ("f4", "i8", "c16"):
        check(fn, make((7, 7), dtype), make(14, dtype)[::2], called={"new_list", "mul"})


def test_arrays_of_a_list() -> None:
    def fn(a: Any, v: Any) -> Any:
        rows, matrices, numbers, counts, none = [], [], [], [], []
        for i in range(len(a)):
            rows.append(a[i] * 2)
            matrices.append(a[:3, ::2].T)
            numbers.append(float(i) / 2)
            counts.append(i)
            if i > 100:
                none.append(v[0])
        rows.append(v)
        return (
            np.array(rows), np.array(matrices), np.asarray(numbers), np.array(counts), np.array(none),
            np.array([a[0], v[:7]]), np.array([[v[0], v[1]], [v[2], v[3]]]), np.array((a.T, a)),
        )  # fmt: skip

    for dtype in ("f4", "i8"):
        check(fn, make((7, 7), dtype), make(7, dtype), called={"new_list"})


def test_products_that_are_used_once() -> None:
    def fn(a: Any, b: Any) -> Any:
        c = a @ b
        c += 1.0
        d = a @ b
        e = d[0]
        d[0, 0] = 3.0
        a[1] = a @ b[0] + a[1]
        b[0] -= a @ b[1]
        b[2] = b[3] @ a
        out = []
        for i in range(3):
            g = a @ b + i
            out.append(g)
            out.append((a @ b).T)
            out.append(np.tanh(a @ b) @ b)
        return c, d, e, out

    for n in (4, 9):
        x, y = ([make((n, n)), make((n, n), "f8", 1)] for _ in range(2))
        staged = ag.to_graph(fn)
        same([staged(*x), x], [fn(*y), y])
        assert callbacks(staged.get_graph(*x)) <= {"new_list"}


def test_joins_that_do_not_fit_raise_as_numpy() -> None:
    @ag.to_graph
    def fn(a: Any, b: Any, i: Any, j: Any) -> Any:
        parts = [a[:k] for k in range(i, j)]
        return np.concatenate((a[:, :i], b[:, :j])), np.stack(parts)

    a = make((3, 4))
    for args in ((a, a, 2, 3), (a, a[:2], 3, 3), (a, a, 1, 3), (a, a, 1, 1)):
        try:
            expected = fn.python_function(*args)
        except ValueError as error:
            with pytest.raises(ValueError) as caught:
                fn(*args)
            assert str(caught.value) == str(error)
        else:
            same(fn(*args), expected)


def test_a_list_of_arrays_keeps_its_arrays() -> None:
    @ag.to_graph
    def fn(a: Any, b: Any) -> Any:
        pair = [a, b[1:]]
        joined = np.concatenate(pair)
        pair[0][0] = 7.0
        pair[1][0] += joined[1]
        pair.append(a)
        return joined, np.concatenate(pair), pair[2] is a, a, b

    same(fn(make(4), make(4)), fn.python_function(make(4), make(4)))


# -- contractions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_contractions(dtype: str) -> None:
    def fn(a: Any, b: Any, c: Any, v: Any) -> Any:
        return (
            np.einsum("ij,jk->ik", a, b), np.einsum("ij,jk", a, b), np.einsum("ij,kj->ik", a, b),
            np.einsum("jk,ij->ik", a, b), np.einsum("ij,j->i", a, v), np.einsum("i,j->ij", v, v),
            np.einsum("ij,ij->ij", a, a), np.einsum("bij,bjk->bik", c, c), np.einsum("bij,bkj->bik", c, c),
            np.einsum("bij,jk->bik", c, b), np.einsum("bij,bij->b", c, c),
            np.einsum("ij,jk -> ik", a[:, ::2], b[::2]),
            np.einsum("bij,cij->bc", c, c), np.einsum("bij,cji->bc", c, c), np.einsum("ij,k->kij", a, v),
            np.tensordot(a, b, axes=1), np.tensordot(c, b, axes=([1], [0])),
            np.tensordot(c, c, axes=([0, 2], [0, 1])),
            np.tensordot(v, v, axes=0), np.tensordot(c, c.T, 2), np.outer(v, 2 * v), np.outer(v[:2], v),
            np.kron(a, b),
            np.kron(v, v), np.trace(a), a[:3].trace(),
        )  # fmt: skip

    for n in (1, 4, 12):
        check(fn, make((n, n), dtype), make((n, n), dtype, 1), make((n, n, n), dtype, 2), make(n, dtype, 3))


def test_results_in_the_order_of_the_arrays() -> None:
    def fn(a: Any, c: Any, v: Any) -> Any:
        pair = [a.T for _ in range(2)]
        return (
            np.stack([a.T, a.T]), np.concatenate((a.T, a.T)), np.concatenate((a, a.T), 1), np.stack(pair, 1),
            np.einsum("ij,jk->ki", a, a), np.einsum("ji,jk->ik", a.T, a), np.einsum("ij,ij->ij", a.T, a.T),
            np.einsum("bij,bkj->kbi", c, c), c.transpose(1, 0, 2) @ a, c[None].transpose(1, 2, 0, 3) @ a,
            np.linalg.norm(c.T, axis=0), np.tensordot(c.T, a.T, 1), np.outer(v[::-1], v), np.kron(a.T, a.T),
            a.T @ a, np.linalg.inv((a + 1).T @ a.T), np.einsum("i,j->ji", v, v),
        )  # fmt: skip

    called = {"new_list", "np.stack", "np.concatenate", "np.einsum", "matmul", "np.linalg.norm", "add"}
    check(fn, make((5, 5)), make((5, 5, 5)), make(5), called=called)


def test_full_contractions() -> None:
    def fn(a: Any, v: Any) -> Any:
        return np.einsum("ij,ij->", a, a), np.einsum("i,i", v, v), np.einsum("ij,ji->", a, a)

    for n in (1, 4, 30):
        check(fn, make((n, n)), make(n))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_norms(dtype: str) -> None:
    def fn(a: Any, v: Any) -> Any:
        return (
            np.linalg.norm(v), np.linalg.norm(a), np.linalg.norm(a[::2, ::2]), np.linalg.norm(v[::-2]),
            np.linalg.norm(a, axis=0), np.linalg.norm(a, axis=-1), np.linalg.norm(a, axis=1, keepdims=True),
            np.linalg.norm(a, "fro"), np.linalg.norm(v, 2), np.linalg.norm(v - 1), np.linalg.norm(a.T @ a),
        )  # fmt: skip

    for n in (1, 4, 30):
        check(
            fn,
            make((n, n), dtype),
            make(n, dtype),
            called={"np.linalg.norm"} if dtype == "i4" else frozenset(),
        )


# -- systems of equations ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_systems_of_equations(dtype: str) -> None:
    def fn(a: Any, b: Any, v: Any) -> Any:
        s = a @ a.T + np.eye(len(a), dtype=a.dtype) * len(a)
        return (
            np.linalg.solve(s, v), np.linalg.solve(s.T, b), np.linalg.inv(s[::-1]), np.linalg.det(s / len(a)),
            np.linalg.det(-s[::-1] / len(a)), np.linalg.cholesky(s), np.linalg.solve(s, b[:, ::2]),
        )  # fmt: skip

    for n in (1, 2, 3, 8, 40):
        check(
            fn,
            make((n, n), dtype),
            make((n, 3), dtype, 1),
            make(n, dtype, 2),
            called={"np.eye", "ndarray.dtype", "mul"},
        )


def test_what_cannot_be_solved_raises_as_numpy() -> None:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])

    def solve(a: Any) -> Any:
        return np.linalg.solve(a, a[0])

    def inv(a: Any) -> Any:
        return np.linalg.inv(a)

    def cholesky(a: Any) -> Any:
        return np.linalg.cholesky(-a)

    def of_slices(a: Any) -> Any:
        return [np.linalg.inv(a[:k, :k]) for k in (1, 2)]

    for fn in (solve, inv, cholesky, of_slices):
        with pytest.raises(np.linalg.LinAlgError) as expected:
            fn(singular)
        with pytest.raises(np.linalg.LinAlgError) as caught:
            ag.to_graph(fn)(singular)
        assert str(caught.value) == str(expected.value)
    check(lambda a: np.linalg.det(a), singular)


def test_systems_of_unknown_sizes() -> None:
    @ag.to_graph
    def fn(a: Any, v: Any, n: Any, m: Any) -> Any:
        s = a[:n, :m]
        return np.linalg.solve(s, v[:n]), np.linalg.inv(s), np.linalg.det(s), np.linalg.cholesky(s @ s.T)

    a, v = make((9, 9)) + 3 * np.eye(9), make(9)
    for n, m in ((0, 0), (1, 1), (4, 4), (9, 9)):
        same(fn(a, v, n, m), fn.python_function(a, v, n, m))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        fn(a, v, 3, 4)


def test_many_loops_in_one_function() -> None:
    """LLVM has an assertion that a pass breaks where there are some hundred loops."""
    lines = [f"    a[:, {k % 5}] += b[{k % 3}] * {k}.5\n    b[1:] -= a[:-1]\n" for k in range(20)]
    text = "def many(a, b):\n" + "".join(lines) + "    return a\n"
    linecache.cache["many.py"] = len(text), None, text.splitlines(True), "many.py"
    scope: dict[str, Any] = {}
    exec(compile(text, "many.py", "exec"), scope)
    given, expected = make((7, 7)), make((7, 7))
    same(ag.to_graph(scope["many"])(given, make((7, 7))), scope["many"](expected, make((7, 7))))


def test_a_scaled_matrix_times_a_vector_is_not_stored() -> None:
    def scaled(a: Any, b: Any, x: Any) -> Any:
        return 2.0 * a @ x + (a - b) @ x[::-1], 3.0 * a[:0] @ x

    graph = ag.to_graph(scaled)
    for n, m in ((150, 160), (1, 160), (150, 1), (90, 190), (3, 4)):
        a, b, x = (np.arange(float(k)) % 7 for k in (n * m, n * m, m))
        given = a.reshape(n, m), b.reshape(n, m)[:, ::-1], x
        for got, wanted in zip(graph(*given), scaled(*given)):
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ValueError, match="mismatch"):
        graph(np.ones((150, 160)), np.ones((150, 160)), np.ones(150))
    listing = graph.get_native(np.ones((200, 160)), np.ones((200, 160)), np.ones(160), kind="loops")
    assert "nest [?, ?]" not in listing


def solved_and_written(a, b, x):
    m = a * b
    for scale in (b, 1.0):
        y = np.linalg.solve(m + scale * np.eye(3), m)
    if b > 5:
        m = m + 1
    elif b < 0:
        m[...] = 2.0
        np.add(m, b, out=m)
    return m, y, x


def test_an_array_that_a_failing_operation_needs_and_a_later_branch_writes() -> None:
    graph = ag.to_graph(solved_and_written)
    for b in (4, -2, 6):
        for got, expected in zip(graph(np.eye(3), b, 1), solved_and_written(np.eye(3), b, 1)):
            np.testing.assert_allclose(got, expected, rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        graph(np.zeros((3, 3)), 0, 1)


def accumulated(a, b, c, n):
    for _ in range(n):
        c += a @ b
    return c


def two_products(a, b, c, d):
    x = a @ b + c @ d
    x[0] = 1.0
    return x, a @ b


def outside_of_the_loop(a, b, c, d):
    p = a @ b
    for _ in range(3):
        q = p + c @ d
    return q, p


def into_itself(a):
    a += a @ a
    return a


def of_a_batch(x, w, out):
    out += x[:, ::2] @ w
    return out


SUMS = [
    (accumulated, ((40, 48), (48, 33), (40, 33)), 3, 1),
    (two_products, ((40, 48), (48, 33), (40, 33), (33, 33)), None, 1),
    (outside_of_the_loop, ((40, 48), (48, 33), (40, 33), (33, 33)), None, 0),
    (into_itself, ((40, 40),), None, 0),
    (of_a_batch, ((3, 40, 64), (64, 40), (3, 20, 40)), None, 1),
]


@pytest.mark.parametrize(("fn", "shapes", "last", "added"), SUMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_added_where_the_sum_goes(fn, shapes, last, added, dtype) -> None:
    def arguments() -> list:
        rng = np.random.default_rng(5)
        arrays = [rng.standard_normal(shape).astype(dtype) * 0.1 for shape in shapes]
        return arrays if last is None else [*arrays, last]

    graph = ag.to_graph(fn)
    for _ in range(2):
        given, expected = arguments(), arguments()
        results, wanted = graph(*given), fn(*expected)
        for got, right in zip(
            (*(results if isinstance(results, tuple) else (results,)), *given),
            (*(wanted if isinstance(wanted, tuple) else (wanted,)), *expected),
        ):
            np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)
    listing = str(graph.get_native(*arguments(), kind="loops"))
    assert listing.count(", added") == added, listing


def test_a_product_added_to_an_array_that_is_read_only_raises() -> None:
    graph = ag.to_graph(accumulated)
    a, b, c = np.ones((40, 48)), np.ones((48, 33)), np.zeros((40, 33))
    assert graph(a, b, c, 2).sum() == 2 * 48 * 40 * 33
    c.flags.writeable = False
    with pytest.raises(ValueError, match="output array is read-only"):
        graph(a, b, c, 2)
    assert c.sum() == 2 * 48 * 40 * 33
