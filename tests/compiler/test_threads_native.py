"""Large loops on several threads: the same results whatever their number, and nothing that waits for ever."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import parallel, threads
from autograph.compiler.ir import Builder, Module

ROOT = Path(__file__).parents[2]
RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AUTOGRAPH_BACKEND", "native")
    before = threads.pool().threads
    yield
    if before:
        threads.use(before)


def chain(x: Any, y: Any) -> Any:
    return np.tanh(x * 0.5) * np.exp(-y * y) + x


def normalised(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def totals(x: Any) -> Any:
    return np.sum(np.exp(x)), np.max(x), np.min(x), np.mean(x * x), (x > 3.0).any(), (x < 9.0).all()


def along_axes(x: Any) -> Any:
    return x.sum(0), x.sum(1), (x * x).mean(0), x.max(1), x.min(axis=0, keepdims=True)


def stencil(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    y[0] = x.sum()
    x += y
    return y


def gathered(x: Any, i: Any) -> Any:
    return np.sqrt(np.abs(x[i])) + 1.0


def products(x: Any, y: Any) -> Any:
    return x @ y


def searched(x: Any) -> Any:
    return x.argmax(1), np.argmin(x, axis=1), np.cumsum(x, axis=1)


def cut_off(x: Any) -> Any:
    x[x > 1.0] = 1.0
    return x


def scaled(x: Any, factor: float, row: Any) -> Any:
    return np.where(x > row, x * factor, row - x).astype(np.float32)


BIG = RANDOM.standard_normal((317, 1003))
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (chain, (BIG, BIG[::-1].copy())),
    (chain, (BIG.astype(np.float32), BIG.astype(np.float32))),
    (chain, (RANDOM.standard_normal(300_001), np.float64(0.25))),
    (chain, (BIG[:, ::2], BIG[:, 1:503])),
    (normalised, (BIG,)),
    (normalised, (RANDOM.standard_normal((2, 3, 60, 700)).astype(np.float32),)),
    (normalised, (RANDOM.standard_normal((30, 5000)),)),
    (totals, (BIG,)),
    (totals, (RANDOM.standard_normal(1_000_003).astype(np.float32),)),
    (totals, (RANDOM.standard_normal((3, 400_000)),)),
    (along_axes, (BIG,)),
    (along_axes, (RANDOM.integers(-9, 9, (700, 800)),)),
    (stencil, (BIG,)),
    (gathered, (BIG, RANDOM.integers(-317, 317, 600))),
    (scaled, (BIG, 2.5, BIG[3].copy())),
    (products, (RANDOM.standard_normal((500, 12, 13)), RANDOM.standard_normal((500, 13, 14)))),
    (products, (RANDOM.integers(-9, 9, (90, 120)), RANDOM.integers(-9, 9, (120, 110)))),
    (searched, (BIG,)),
    (cut_off, (BIG,)),
    (gathered, (BIG[0].copy(), RANDOM.integers(-1003, 1003, 300_000))),
]


def run(fn: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    """The results, and the arguments afterwards."""
    args = tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args)
    result = fn(*args)
    return [*(result if isinstance(result, tuple) else (result,)), *args]


def equal(a: list[Any], b: list[Any]) -> None:
    for x, y in zip(a, b):
        assert np.asarray(x).dtype == np.asarray(y).dtype
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


@pytest.mark.parametrize(("fn", "args"), CASES)
def test_results_do_not_depend_on_the_number_of_threads(
    fn: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    compiled = ag.to_graph(fn)
    threads.use(1)
    alone = run(compiled, args)
    for x, y in zip(alone, run(fn, args)):
        np.testing.assert_allclose(x, y, rtol=1e-4 if np.asarray(y).dtype == np.float32 else 1e-11, atol=1e-5)
    for count in (2, 3, 7):
        threads.use(count)
        for _ in range(3):
            equal(alone, run(compiled, args))
    assert "@ag_parallel(ptr @ag_part" in text_of(compiled, args)


def text_of(compiled: Any, args: tuple[Any, ...]) -> str:
    graph = compiled.get_graph(*args)
    return "\n".join(variant.text for variant in graph.native.values())


def test_sizes_that_are_not_known_before_the_run() -> None:
    threads.use(3)
    for fn in (chain, totals, normalised, along_axes):
        compiled = ag.to_graph(fn)
        for rows in (300, 2, 1, 500, 7):
            x = RANDOM.standard_normal((rows, 1001))
            args = (x, x[::-1].copy()) if fn is chain else (x,)
            for a, b in zip(run(compiled, args), run(fn, args)):
                np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [(0,), (1,), (64,), (65,), (0, 5), (5, 0), (1, 100_000), (100_000, 1)])
def test_empty_tiny_and_thin_arrays(shape: tuple[int, ...]) -> None:
    threads.use(3)
    x = RANDOM.standard_normal(shape)
    compiled = ag.to_graph(chain)
    np.testing.assert_allclose(compiled(x, x), chain(x, x), rtol=1e-12)

    def total(x: Any) -> Any:
        return (x * 2.0).sum()

    np.testing.assert_allclose(ag.to_graph(total)(x), total(x), rtol=1e-12)


def test_arrays_of_a_list_that_another_thread_changes() -> None:
    """While the items of a list are copied the GIL is held: the list stays as it was looked at."""

    def joined(items: list[Any]) -> Any:
        return np.concatenate(items)

    threads.use(2)
    compiled = ag.to_graph(joined)
    x = RANDOM.standard_normal(150_000)
    items, stop = [x, x, x], threading.Event()
    compiled(items)

    def change() -> None:
        while not stop.is_set():
            items.extend([x] * 8)
            del items[3:]

    other = threading.Thread(target=change)
    other.start()
    try:
        for _ in range(20):
            result = compiled(items)
            count = result.size // x.size
            np.testing.assert_array_equal(result, np.concatenate([x] * count))
    finally:
        stop.set()
        other.join()


def test_loops_with_equal_bodies_are_one_function() -> None:
    def both(a: Any, b: Any) -> Any:
        return a * 2.0 + 1.0, b * 2.0 + 1.0

    args = (BIG, BIG[::-1].copy())
    text = text_of_called(both, args)
    assert text.count("call i1 @ag_parallel(") == 2
    assert text.count("define internal void @ag_part") == 1


def text_of_called(fn: Callable[..., Any], args: tuple[Any, ...]) -> str:
    compiled = ag.to_graph(fn)
    compiled(*args)
    return text_of(compiled, args)


def test_small_loops_stay_where_they_are() -> None:
    x = np.ones((10, 10))
    assert "ag_parallel" not in text_of_called(chain, (x, x))


def test_several_python_threads_at_once() -> None:
    threads.use(2)
    functions = [(ag.to_graph(fn), args) for fn, args in CASES[:8]]
    expected = [run(fn, args) for fn, args in functions]
    failures: list[BaseException] = []

    def work(start: int) -> None:
        try:
            for k in range(len(functions)):
                at = (start + k) % len(functions) if start % 2 else 0
                equal(expected[at], run(*functions[at]))
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(5)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(120)
    assert not failures and not any(w.is_alive() for w in workers)


def test_exceptions_between_large_loops() -> None:
    def late(x: Any, i: int) -> Any:
        y = np.exp(x)
        z = y[i] + 1.0
        return z * np.tanh(x)

    compiled = ag.to_graph(late)
    threads.use(3)
    for _ in range(3):
        with pytest.raises(IndexError, match="index 5000 is out of bounds for axis 0 with size 317"):
            compiled(BIG, 5000)
        np.testing.assert_allclose(compiled(BIG, 3), late(BIG, 3), rtol=1e-12)


@contextlib.contextmanager
def ticking() -> Iterator[list[int]]:
    """A thread of Python that counts while it gets the GIL."""
    ticks, stop, going = [0], threading.Event(), threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks[0] += 1
            going.set()
            time.sleep(0.0005)

    other = threading.Thread(target=tick)
    other.start()
    try:
        assert going.wait(60)
        yield ticks
    finally:
        stop.set()
        other.join()


def test_a_wrong_index_among_many_is_found() -> None:
    compiled = ag.to_graph(gathered)
    threads.use(3)
    indices = RANDOM.integers(0, 1003, 300_000)
    compiled(BIG[0], indices)
    for place in (0, 150_000, 299_999):
        wrong = indices.copy()
        wrong[place] = 1003
        with pytest.raises(IndexError, match="index 1003 is out of bounds for axis 0 with size 1003"):
            compiled(BIG[0], wrong)


def test_other_threads_run_during_a_large_loop() -> None:
    def long(x: Any) -> Any:
        return np.exp(np.tanh(np.exp(np.tanh(np.exp(np.tanh(np.exp(x) * 0.1)) * 0.1)) * 0.1))

    x = RANDOM.standard_normal(3_000_000)
    compiled = ag.to_graph(long)
    compiled(x)
    interval = sys.getswitchinterval()
    with ticking() as ticks:
        sys.setswitchinterval(100.0)  # nobody is asked to give the GIL away
        try:
            for count in (1, 2):
                threads.use(count)
                most = 0
                for _ in range(10):
                    before = ticks[0]
                    compiled(x)
                    most = max(most, ticks[0] - before)
                assert most > 2
        finally:
            sys.setswitchinterval(interval)


def test_other_threads_run_during_a_loop_of_numbers() -> None:
    def count(n: int) -> int:
        a, steps = 27, 0
        for i in range(n):
            a = a * 3 + i if a % 2 else a // 2
            a = a % 1000003
            steps += a
        return steps

    compiled = ag.to_graph(count)
    compiled(10)
    with ticking() as ticks:
        before = ticks[0]
        assert compiled(20_000_000) > 0
        assert ticks[0] - before > 3


def program(text: str, **environment: str) -> str:
    """What a program that is a file prints; it must end by itself."""
    variables = {**os.environ, "AUTOGRAPH_BACKEND": "native", "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, text], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PROGRAM = """
import os, sys, threading, time
import numpy as np
import autograph as ag
from autograph.compiler import threads

@ag.to_graph
def f(x):
    return np.tanh(x) * np.exp(x)

x = np.linspace(-1.0, 1.0, 400_000)
expected = np.tanh(x) * np.exp(x)

def check():
    np.testing.assert_allclose(f(x), expected, rtol=1e-12)
"""


def write(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM + textwrap.dedent(text))
    return str(path)


def test_threads_start_late_and_as_many_as_asked(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        f(x[:10]), f(x[:20])
        before = threads.pool().threads
        check()
        print(before, threads.pool().threads, threading.active_count())
        """,
    )
    assert program(path, AUTOGRAPH_THREADS="5") == "0 5 1"
    assert program(path, AUTOGRAPH_THREADS="1") == "0 1 1"


def test_the_number_can_be_set_before_anything_is_compiled(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        threads.use(4)
        check()
        print(threads.pool().threads)
        """,
    )
    assert program(path, AUTOGRAPH_THREADS="2") == "4"


def test_a_process_ends_while_threads_work(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        def forever():
            while True:
                f(x)

        check()
        for _ in range(3):
            threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.3)
        print("end", flush=True)
        """,
    )
    assert program(path, AUTOGRAPH_THREADS="3") == "end"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_process_starts_its_own_threads(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        check()
        stop = False

        def busy():
            while not stop:
                f(x)

        other = threading.Thread(target=busy)
        other.start()
        time.sleep(0.05)
        for _ in range(5):
            child = os.fork()
            if child == 0:
                none = threads.pool().threads
                check()
                os._exit(0 if (none, threads.pool().threads) == (0, 3) else 1)
            assert os.waitpid(child, 0)[1] == 0
            check()
        stop = True
        other.join()
        print("end")
        """,
    )
    assert program(path, AUTOGRAPH_THREADS="3") == "end"


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUTOGRAPH_THREADS", "3")
    assert threads.wanted() == 3
    monkeypatch.setenv("AUTOGRAPH_THREADS", "1000")
    assert threads.wanted() == threads.MOST
    for wrong in ("", "0", "-1", "many"):
        monkeypatch.setenv("AUTOGRAPH_THREADS", wrong)
        with pytest.raises(ValueError, match=f"AUTOGRAPH_THREADS is '{wrong}'; it may be a number"):
            threads.wanted()
    monkeypatch.delenv("AUTOGRAPH_THREADS")
    assert 1 <= threads.wanted() <= (os.cpu_count() or 1)
    assert threads.quota(tmp_path) == threads.MOST
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert threads.quota(tmp_path) == threads.MOST
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    assert threads.quota(tmp_path) == 2


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("add nuw nsw i64 %a, 1", "i64"),
        ("fneg <8 x double> %a", "<8 x double>"),
        ("load float, ptr %p, align 1", "float"),
        ("getelementptr i8, ptr %p, i64 8", "ptr"),
        ("icmp slt i64 %a, %b", "i1"),
        ("fcmp olt <4 x float> %a, %b", "<4 x i1>"),
        ("select i1 %t, double %a, double 0x0", "double"),
        ("select <8 x i1> splat (i1 true), <8 x float> %a, <8 x float> %b", "<8 x float>"),
        ("zext i1 %a to i64", "i64"),
        ("uitofp <8 x i1> %a to <8 x double>", "<8 x double>"),
        ("call reassoc double @llvm.vector.reduce.fadd.v8f64(double 0.0, <8 x double> %a)", "double"),
        ("call i64 @llvm.smax.i64(i64 %a, i64 0)", "i64"),
        ("extractvalue { i1, double, ptr } %r, 2", "ptr"),
        ("extractelement <8 x i32> %a, i64 2", "i32"),
        ("insertelement <8 x i32> poison, i32 %a, i64 0", "<8 x i32>"),
        ("shufflevector <8 x i32> %a, <8 x i32> poison, <4 x i32> zeroinitializer", "<4 x i32>"),
    ],
)
def test_types_are_read_off_the_instructions(text: str, kind: str) -> None:
    b = Builder(Module())
    assert parallel.type_of(b, b.value(text)) == kind


ENDLESS = {
    "sum": lambda x: (x[:, None] * x).sum(),
    "first": lambda x: (x[:, None] + x).sum(0),
    "last": lambda x: np.abs(x[:, None] - x).sum(axis=1),
    "any": lambda x: (x[:, None] * x > 1e300).any(),
    "rows": lambda x: np.linalg.norm(x[:, None] - x, axis=1),
}


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_what_numpy_would_have_no_memory_for(threads: str) -> None:
    """Arrays that are never made, of 10^12 elements: each loop would run for minutes."""
    program = """
import os, signal, threading
import numpy as np
import autograph as ag
from tests.compiler.test_threads_native import ENDLESS
for name, fn in ENDLESS.items():
    graph = ag.to_graph(fn)
    graph(np.ones(3))
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        graph(np.arange(1e6))
        print(name, "went on")
    except KeyboardInterrupt:
        print(name, "ended")
"""
    environment = {**os.environ, "AUTOGRAPH_THREADS": threads, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=100, env=environment, check=False,
    )  # fmt: skip
    assert done.stdout.split("\n")[:-1] == [f"{name} ended" for name in ENDLESS], done.stdout + done.stderr


PLACES = """
import os, time
import numpy as np
import autograph as ag

@ag.to_graph
def wave(x):
    return np.sin(x) * np.exp(-x * x)

x = np.linspace(0.0, 1.0, 2_000_000)
for _ in range(4):
    wave(x)
    time.sleep(0.05)  # the threads fall asleep
mine = os.sched_getaffinity(0)
tasks = [int(task) for task in os.listdir("/proc/self/task")]
others = [os.sched_getaffinity(task) for task in tasks if task != os.getpid()]
print(sum(len(mine - other) == 1 and other < mine for other in others) >= 1, all(o <= mine for o in others))
os.sched_setaffinity(0, {min(mine)})
expected = np.sin(x[:5]) * np.exp(-x[:5] * x[:5])
print(np.allclose(wave(x)[:5], expected))
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system has no such call")
def test_threads_are_woken_up_apart_from_the_caller(tmp_path: Path) -> None:
    """On the caller's processor they might wait for it; those that the caller may not use stay unused."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor")
    (tmp_path / "places.py").write_text(PLACES)
    lines = program(str(tmp_path / "places.py"), AUTOGRAPH_THREADS="2", OMP_NUM_THREADS="1").split("\n")
    assert lines == ["True True", "True"]
