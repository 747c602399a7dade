"""Native code does what plain Python does: layouts, aliases, errors, references, threads, signals."""

from __future__ import annotations

import gc
import itertools
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import lowering
from tests.compiler.comparing import check
from tests.programs.oracle import difference, outcome

LAYOUTS = (
    "contiguous",
    "reversed",
    "stepped",
    "fortran",
    "broadcast",
    "unaligned",
    "readonly",
    "part",
)


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")


def compared(fn: Callable[..., Any], *makes: Callable[[], tuple[Any, ...]], rtol: float = 0.0) -> None:
    """The function does natively, for each of the arguments, what it does plainly."""
    converted = ag.to_graph(fn)
    for make in makes:
        plain, got = outcome(fn, make), outcome(converted, make)
        assert difference(plain, got, rtol=rtol) is None, difference(plain, got, rtol=rtol)


def laid_out(values: Any, layout: str) -> Any:
    """An array of these values in a layout."""
    if layout == "reversed":
        return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    if layout == "stepped":
        big = np.zeros([2 * d for d in values.shape], values.dtype)
        view = big[tuple(slice(None, None, 2) for _ in values.shape)]
        view[...] = values
        return view
    if layout == "fortran":
        return np.array(values, order="F")
    if layout == "broadcast":
        return np.broadcast_to(values[..., :1], values.shape)
    if layout == "unaligned":
        room = np.zeros(values.nbytes + 1, np.uint8)[1:]
        view = room.view(values.dtype).reshape(values.shape)
        view[...] = values
        return view
    if layout == "readonly":
        values = values.copy()
        values.flags.writeable = False
        return values
    if layout == "part":
        big = np.zeros([d + 3 for d in values.shape], values.dtype)
        view = big[tuple(slice(1, 1 + d) for d in values.shape)]
        view[...] = values
        return view
    return values.copy()


def _read(x: Any, y: Any) -> Any:
    return x + y, x * 2 - y, x[::-1], x[1:] - x[:-1], x > y, x.T, np.where(x > 0, x, y), abs(x), x // 3, x[-1]


def _reduce(x: Any) -> Any:
    return (
        x.max(),
        x.min(axis=0),
        x.argmax(),
        (x > 0).any(),
        x.max(axis=-1, keepdims=True),
        (x == x).all(axis=0),
    )


def _write(x: Any, y: Any) -> Any:
    x[1:] = x[:-1]
    x[0] = 7
    x += y
    x[::2] *= 2
    v = x[1:]
    v -= 1
    return x, v


@pytest.mark.parametrize("dtype", [np.float64, np.int16])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_all_layouts(layout: str, dtype: Any) -> None:
    for shape in ((40,), (5, 7)):
        values = ((np.arange(math.prod(shape)) * 7) % 11).reshape(shape).astype(dtype)

        def make(values: np.ndarray = values) -> tuple[Any, ...]:
            return laid_out(values, layout), values[..., ::-1].copy()

        compared(_read, make)
        compared(_write, make)
        compared(_reduce, lambda: make()[:1])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_arrays_without_elements(shape: tuple[int, ...]) -> None:
    def fn(x: Any, y: Any) -> Any:
        x += y
        return x, x * 2, x.sum(), x.any(), x[1:], x[::-1], x.sum(axis=0), len(x)

    compared(fn, lambda: (np.zeros(shape), np.zeros(shape)))


@pytest.mark.parametrize("fn", [lambda x: x.max(), lambda x: x[0], lambda x: x.argmax()])
def test_what_arrays_without_elements_have_not_raises(fn: Callable[..., Any]) -> None:
    compared(fn, lambda: (np.zeros(0),), lambda: (np.zeros(3),), lambda: (np.zeros(0),))


def _pair(layout: str, values: np.ndarray, order: Any) -> tuple[Any, ...]:
    return laid_out(values, layout), np.array(values, order=order)


def test_results_keep_the_order_of_axes_that_numpy_gives_them() -> None:
    def fn(x: Any, y: Any) -> Any:
        z = x + 1
        w = (x.T * 2).reshape(-1)
        v = z.reshape(-1)
        v[0] = 100
        return z, v, w, x + y, (x > 0).ravel(), np.sqrt(abs(x)).T.reshape(-1)

    values = np.arange(35.0).reshape(5, 7)
    for layout in ("contiguous", "fortran", "part", "reversed"):
        compared(fn, partial(_pair, layout, values, "C"))
        compared(fn, partial(_pair, layout, values, "F"))


def _two(n: int) -> tuple[Any, ...]:
    return np.arange(float(n)), np.ones(n)


def test_arguments_that_overlap_see_the_writes() -> None:
    def fn(x: Any, y: Any) -> Any:
        z = y * 2
        x[1:] += y[:-1]
        x[:] = x + z
        y[0] = 5
        return x, y, x[::-1] + y

    def parts(n: int, a: slice, b: slice) -> Callable[[], tuple[Any, ...]]:
        def make() -> tuple[Any, ...]:
            base = np.arange(float(n))
            return base[a], base[b]

        return make

    whole = slice(None)
    for n in (5, 40):
        compared(
            fn,
            parts(n, whole, whole),
            parts(n + 1, slice(0, n), slice(1, n + 1)),
            parts(n + 1, slice(1, n + 1), slice(0, n)),
            parts(n, whole, slice(None, None, -1)),
            partial(_two, n),
        )


def test_an_argument_that_is_an_item_of_a_list_sees_the_writes() -> None:
    def fn(x: Any, items: list[Any]) -> Any:
        before = x * 2
        items[0][1] = 50.0
        y = x + items[0]
        x[2] = -1.0
        items.append(x)
        return before, y, items[0][2], items[0] is x

    def same() -> tuple[Any, ...]:
        x = np.arange(4.0)
        return x, [x]

    def view() -> tuple[Any, ...]:
        x = np.arange(4.0)
        return x, [x[:3]]

    compared(fn, same, view, lambda: (np.arange(4.0), [np.arange(4.0)]))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.int8, np.int64(300)),
        (np.int8, np.uint8(255)),
        (np.uint8, np.int8(-1)),
        (np.int32, np.int64(2**40)),
        (np.int64, np.uint64(2**63)),
        (np.uint64, np.int64(-1)),
        (np.int16, np.int64(12)),
        (np.int32, np.float64(2.75)),
        (np.int32, 3.5),
        (np.uint8, 300),
        (np.uint8, -1),
        (np.float32, np.float64(1e300)),
        (bool, np.int64(5)),
    ],
)
def test_numbers_written_into_arrays(dtype: Any, value: Any) -> None:
    def one(x: Any, v: Any) -> Any:
        x[1] = v
        return x

    def some(x: Any, v: Any) -> Any:
        x[1:] = v
        return x

    def masked(x: Any, v: Any) -> Any:
        x[x == 0] = v
        return x

    for fn in (one, some, masked):
        compared(fn, lambda: (np.zeros(4, dtype), value))


def test_casts_of_floats_out_of_range_are_the_machine_s() -> None:
    def fn(x: Any) -> Any:
        return (
            x.astype(np.int64),
            x.astype(np.int32),
            x.astype(np.uint64),
            x.astype(np.int8),
            x.astype(np.uint8),
        )

    values = np.array(
        [0.0, -1.0, 3.9, 1e10, -1e10, 1e19, -1e19, 1e30, np.nan, np.inf, -np.inf, 255.0, -7.0] * 3
    )
    compared(fn, lambda: (values,), lambda: (values[:5].copy(),))


def test_clip_keeps_zeros_and_nan() -> None:
    values = np.array([-0.0, 0.0, np.nan, 1.0, 5.0, -3.0] * 4)
    compared(lambda x: (np.clip(x, 0, 2), np.clip(x, -1.0, 0.0), x.clip(1, 3)), lambda: (values,))


def test_powers_of_floats_are_python_s_to_the_last_bit() -> None:
    def fn(values: Any) -> Any:
        return [(math.pow(v, 2), v**2, 2.0**v, v**0.5, v**3) for v in values]

    compared(fn, lambda: (np.random.default_rng(0).uniform(0.1, 10, 3000).tolist(),))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_second_powers_of_numpy_s_numbers_are_products(dtype: type) -> None:
    def fn(values: Any) -> Any:
        squares = np.empty_like(values)
        for i in range(len(values)):
            squares[i] = values[i] ** 2
        return squares

    values = np.random.default_rng(0).uniform(-10, 10, 3000).astype(dtype)
    values[:4] = np.nan, np.inf, -0.0, np.finfo(dtype).max
    with np.errstate(over="ignore"):
        expected = fn(values)
        np.testing.assert_array_equal(ag.to_graph(fn)(values), values * values)
    np.testing.assert_array_max_ulp(expected[4:], values[4:] ** 2, 1)


def _with(other: Any) -> tuple[Any, ...]:
    return np.arange(3.0), other


def test_a_scalar_of_numpy_equals_nothing_in_python_s_own_way() -> None:
    def fn(x: Any, other: Any) -> Any:
        return x[0] == other, other != x[0], (x[0] == other) is True

    for other in (None, "a", 1):
        compared(fn, partial(_with, other))


# -- identity and sharing --------------------------------------------------------------------------------


def test_small_arrays_in_registers_are_the_objects_they_were() -> None:
    def two(x: Any, n: int) -> Any:
        y = x
        for _ in range(n):
            y = y * 2.0
        for _ in range(n):
            y = y + 1.0
        return y, x

    def shrinks(x: Any) -> Any:
        b = x[1:]
        for _ in range(3):
            b = b[1:] if len(b) > 1 else b
        return b, x

    def listed(s: float) -> Any:
        items = [np.array([s, 1.0, 2.0]), np.array([s, s, s])]
        return items[0], items[0], items[1]

    compared(two, lambda: (np.arange(3.0), 0), lambda: (np.arange(3.0), 2))
    compared(
        shrinks,
        lambda: (np.arange(2),),
        lambda: (np.arange(6),),
        lambda: (laid_out(np.arange(2), "broadcast"),),
    )
    compared(listed, lambda: (1.5,))


# -- errors, references, stacks --------------------------------------------------------------------------


def _divides(x: Any, n: int) -> Any:
    y = x + 1
    for i in range(n):
        y = y * 2
        n // (n - i - 1)
    return y


def _leaves_a_list(x: Any, n: int) -> Any:
    items = [x, x * 2, [x]]
    for i in range(10 * n):
        items.append(x + i)
        x[i]
    return items


def _catches(x: Any, n: int) -> Any:
    k = 0
    for i in range(n):
        y = x * i
        try:
            y[i]
            k += 10 // (i - 2)
        except ZeroDivisionError:
            x = y + 1
        except IndexError:
            k += 100
        finally:
            x = x + 0.0
    return k, x


def _raises_deep(x: Any, n: int) -> Any:
    if n == 0:
        raise ValueError("deep")
    return _raises_deep(x * 2, n - 1)


@pytest.mark.parametrize("fn", [_divides, _leaves_a_list, _catches, _raises_deep])
def test_exceptions_leave_no_references(fn: Callable[..., Any]) -> None:
    compared(fn, lambda: (np.arange(5.0), 6))
    converted, x = ag.to_graph(fn), np.arange(5.0)

    def call() -> None:
        try:
            converted(x, 6)
        except (ZeroDivisionError, IndexError, ValueError):
            pass

    call()
    gc.collect()
    watched = (x, None, 0.0, float, np.dtype(float))
    before = [sys.getrefcount(v) for v in watched]
    for _ in range(500):
        call()
    gc.collect()
    after = [sys.getrefcount(v) for v in watched]
    assert all(abs(a - b) < 100 for a, b in zip(before, after)), (before, after)


def _descend(n: int) -> int:
    return 0 if n == 0 else 1 + _descend(n - 1)


@pytest.mark.parametrize("size", [0, 64 << 10, 256 << 10, 16 << 20])
def test_recursion_without_end_is_a_recursion_error_on_every_stack(size: int) -> None:
    converted = ag.to_graph(_descend)
    assert converted(100) == 100
    caught: list[str] = []

    def attempt() -> None:
        try:
            converted(10**12)
        except RecursionError as error:
            caught.append(str(error))

    before = threading.stack_size(size)
    try:
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    attempt()
    assert len(caught) == 2


# -- signals and threads ---------------------------------------------------------------------------------


@pytest.fixture
def interrupt() -> Iterator[list[float]]:
    """A signal that raises KeyboardInterrupt in 0.2 seconds; the list is given the time when it was sent."""
    sent: list[float] = []

    def ring(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, ring)
    yield sent
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def _spins(n: Any) -> Any:
    s = 0
    while True:
        s = (s * 7 + n) % 1000003


def _spins_nested(n: Any) -> Any:
    s = 0
    for _ in range(10**12):
        for j in range(1000):
            s = (s * 7 + j) % 1000003
    return s


def _spins_on_arrays(x: Any) -> Any:
    for _ in range(10**12):
        x = x * 0.5 + x[::-1]
    return x


def _spins_in_calls(n: int) -> int:
    return n if n < 2 else _spins_in_calls(n - 1) + _spins_in_calls(n - 2)


@pytest.mark.parametrize(
    ("fn", "argument", "short"),
    [
        (_spins_nested, 3, None),
        (_spins, 3, None),
        (_spins_on_arrays, np.ones(100_000), None),
        (_spins_in_calls, 90, 5),
    ],
)
def test_a_signal_ends_a_loop(
    interrupt: list[float], fn: Callable[..., Any], argument: Any, short: Any
) -> None:
    converted = ag.to_graph(fn)
    if short is not None:
        converted(short)
    delay = 3.0 if short is None else 0.2  # also for compiling
    signal.setitimer(signal.ITIMER_REAL, delay)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        converted(argument)
    assert time.monotonic() - started < delay + 1.0


def test_other_threads_run_while_a_loop_runs() -> None:
    seen: list[int] = []

    def long(n: int) -> int:
        s = 0
        for i in range(n):
            s = (s * 7 + i) % 1000003
        return s

    converted = ag.to_graph(long)
    converted(10)
    worker = threading.Thread(target=lambda: converted(300_000_000))
    worker.start()
    while worker.is_alive():
        seen.append(1)
        time.sleep(0.001)
    assert len(seen) > 5


def _range_from(seed: int, n: int) -> tuple[Any, ...]:
    return np.arange(float(n)) + seed, n


def test_one_function_in_many_threads() -> None:
    def work(x: Any, n: int) -> Any:
        items = []
        for i in range(n):
            x = x * 0.5 + i
            items.append(x[0])
            if i == 7:
                try:
                    items.append(x[n])
                except IndexError as error:
                    items.append(str(error))
        return x, items

    converted = ag.to_graph(work)
    wrong: list[str] = []

    def run(seed: int) -> None:
        for k in range(30):
            n = 5 + (seed + k) % 7 * 3
            make = partial(_range_from, seed, n)
            found = difference(outcome_quiet(work, make), outcome_quiet(converted, make))
            if found is not None:
                wrong.append(str(found))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]


def outcome_quiet(fn: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> Any:
    """An outcome recorded without taking over the process's output."""
    from tests.programs import oracle

    recorder = oracle.Recorder()
    args = make()
    recorder.describe(args)
    result = fn(*args)
    recorder.start_walk()
    return oracle.Outcome(recorder.describe(result), None, "", recorder.describe(args))


def test_a_bool_array_to_a_power_is_an_integer_array_of_the_width_that_numpy_chooses() -> None:
    compared(lambda x, n: x**n, *(partial(_powers, n) for n in (0, 1, 2, 3)))


def _powers(n: int) -> tuple[Any, ...]:
    return np.array([True, False, True]), n


def keyed_twice(x):
    table, y = {}, x + 0.0
    table[y] = 1
    table[y] = 2
    return len(table), y in table, [k is y for k in table]


def keyed_by_tuples(x):
    table, y = {}, x + 0.0
    table[1, y] = 1
    table[1, y] = 2
    return len(table)


def gathered(x):
    items, y = set(), x * 1.0
    items.add(y)
    items.add(y)
    return len(items), y in items, y + 1 in items


@pytest.mark.parametrize("fn", [keyed_twice, keyed_by_tuples, gathered])
@pytest.mark.parametrize("value", [1.5, float("nan"), np.float64("nan")], ids=repr)
def test_floats_as_keys_are_found_as_python_finds_them(
    fn: Any, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")
    assert ag.to_graph(fn)(value) == fn(value)


def test_only_zero_cannot_be_divided_by() -> None:
    def quotients(a, n):
        total = 0.0
        i = 0
        while i < n:
            total += 1.0 / (a - i)
            total += a / (i - 5.0)
            i += 1
        return total

    for a in (1.5, 3.0, 0.0, -0.0, float("nan"), float("inf"), 1e-320):
        for n in (1, 4, 6):
            check(quotients, a, n, native=False)


def test_powers_that_may_be_complex_are_real_for_what_is_not_negative() -> None:
    def powers(n, x, y):
        s = 0.0
        for i in range(1, n):
            s += i**0.5 + (i * 0.5) ** 2
        return s, x**y, n**0.5, x**0.5

    values = (0.0, -0.0, 1.5, -1.5, 1e300, float("inf"), float("-inf"), float("nan"), 5e-324)
    for n in (2, 9, -3):
        for x in values:
            for y in (0.5, -0.5, 2.0, 3.5, float("inf")):
                check(powers, n, x, y, native=False)


def test_parts_of_a_complex_number_are_read_without_python() -> None:
    def turns(c, limit):
        z = 0j
        n = 0
        while n < limit and z.real * z.real + z.imag * z.imag <= 4:
            z = z * z + c.conjugate()
            n += 1
        return n, z, z.real, z.imag

    for c in (0.1 + 0.2j, 1 - 1j, complex("nan"), complex(-0.0, 0.0)):
        check(turns, c, 50)


def test_kernels_of_python_are_called_and_checked() -> None:
    def called(n, text, table):
        bits = n.bit_length()
        rounded = round(n / 7, 2)
        joined = text + str(n)
        table[n % 3] = table.get(n % 3, 0) + n
        return bits, rounded, joined.upper(), len(joined), table, joined == text

    for n in (0, 5, -(2**63), 2**62 + 1):
        check(called, n, "x", {0: 1}, native=False)


def test_an_integer_that_a_kernel_makes_may_be_too_large() -> None:
    @ag.to_graph
    def parsed(text):
        return int(text) + 0

    assert parsed("9223372036854775807") == 2**63 - 1
    with pytest.raises(ag.errors.IntegerOverflow):
        parsed("9223372036854775808")


def test_lists_are_walked_and_popped_without_python() -> None:
    def walk(n):
        found = []
        for i in range(n):
            found.append(i * i)
        total = 0
        for v in found:
            total += v
            if v == 16:
                found.append(1000)
        return total, found

    def tree(n):
        stack = [1]
        count = 0
        while stack:
            k = stack.pop()
            count += 1
            if k < n:
                stack.append(2 * k)
                stack.append(2 * k + 1)
        return count, stack, not stack

    def mixed(n):
        stack = [1, 2.5]
        for i in range(n):
            stack.append(i / 2)
            stack.append(i)
        last = stack.pop()
        return last, stack.pop(), stack

    def drained(n):
        stack = [n]
        total = 0
        while total < 100:
            total += stack.pop()
        return total

    def of_arrays(x, n):
        stack = [x]
        for i in range(n):
            top = stack.pop()
            stack.append(top + i)
        return stack.pop(), len(stack)

    for n in (0, 1, 3, 6, 40):
        for fn in (walk, tree, mixed, drained):
            check(fn, n, native=False)
        check(of_arrays, np.arange(3.0), n, native=False)


def test_a_list_that_holds_the_only_reference_lets_go_of_what_is_popped() -> None:
    @ag.to_graph
    def last(things):
        return things.pop()

    x = np.arange(4.0)
    things = [np.zeros(2), x]
    count = sys.getrefcount(x)
    assert last(things) is x
    assert len(things) == 1
    assert sys.getrefcount(x) == count - 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_by_one_half_are_roots(dtype: Any) -> None:
    def power(a, b):
        return np.power(a, b)

    def operator(a, b):
        return a**b

    bases = [dtype(-np.inf), dtype(-0.0), np.array([-np.inf, -0.0, 3.3], dtype), np.array(-np.inf, dtype)]
    with np.errstate(all="ignore"):
        for fn in (power, operator):
            staged = ag.to_graph(fn)
            for a, b in itertools.product(bases, [0.5, 2.0, -1.0, np.float64(0.5), np.array([0.5]), 3]):
                got, want = staged(a, b), fn(a, b)
                assert type(got) is type(want) and got.dtype == want.dtype
                np.testing.assert_allclose(got, want, rtol=1e-6)
                known = ~np.isnan(want)
                assert np.array_equal(np.signbit(got)[known], np.signbit(want)[known]), (a, b)


NOT_DOMINATED = """
define i64 @broken(i1 %test) {
entry:
  br i1 %test, label %then, label %after
then:
  %x = add i64 1, 2
  br label %after
after:
  ret i64 %x
}
"""


@pytest.mark.parametrize("addition", [NOT_DOMINATED, "define i64 @broken() {"])
def test_code_that_is_not_valid_is_reported_and_not_run(
    addition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = lowering.compile_graph

    def broken(*args: Any) -> tuple[Any, str]:
        compilation, text = make(*args)
        return compilation, text + addition

    monkeypatch.setattr(lowering, "compile_graph", broken)
    graph = ag.to_graph(lambda x: x + 1)
    with pytest.warns(RuntimeWarning, match="the interpreter runs it; please report"):
        assert graph(1) == 2
    assert "the interpreter runs it: the compiler made code" in str(graph.explain(1))
