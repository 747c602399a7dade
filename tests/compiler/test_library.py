"""Functions as libraries for C: called from here by ctypes, and from C by the example."""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.compiler import library
from benchmarks.kernels import linear_algebra, networks, science, stencils, tables
from benchmarks.kernels.kernel import KERNELS

pytest.importorskip("llvmlite")
ROOT = Path(__file__).parent.parent.parent
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
assert linear_algebra and networks and science and stencils and tables  # they fill `KERNELS`
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler to link a library")

NUMBERS = {
    "b1": ctypes.c_bool, "i1": ctypes.c_int8, "i2": ctypes.c_int16, "i4": ctypes.c_int32,
    "i8": ctypes.c_int64,
    "u1": ctypes.c_uint8, "u2": ctypes.c_uint16, "u4": ctypes.c_uint32, "u8": ctypes.c_uint64,
    "f4": ctypes.c_float, "f8": ctypes.c_double,
}  # fmt: skip


class Failed(Exception):
    pass


class Loaded:
    """A function that was exported, called as Python calls it."""

    def __init__(self, fn: Callable[..., Any], specs: tuple[Any, ...], folder: Path, **options: Any) -> None:
        graph = ag.to_graph(fn)
        name = options.get("name", fn.__name__)
        place = Path(tempfile.mkdtemp(dir=folder))  # of one path the system loads one library
        path, self.header = graph.export_library(place / f"{name}.so", *specs, **options)
        declared = ag.to_graph(fn, signature=tuple(map(library.plain, specs))).get_graph()
        made = library.Library(declared, name, bool(options.get("libraries")))
        self.params, self.results = made.params, made.results
        found = ctypes.CDLL(str(path))
        self.call, self.free, self.error = found[name], found[f"{name}_free"], found[f"{name}_error"]
        self.free.restype, self.free.argtypes = None, [ctypes.c_void_p]
        self.error.restype = ctypes.c_char_p

    def __call__(self, *args: Any) -> Any:
        given: list[Any] = []
        for v, a in zip(self.params, args):
            if v.shape is None:
                given.append(NUMBERS[v.dtype.str[1:]](a))
            else:
                given.append(ctypes.c_void_p(a.ctypes.data))
                given += [ctypes.c_int64(a.shape[axis]) for axis in v.open]
        places: list[Any] = []
        for r in self.results:
            if r.shape:
                places.append((ctypes.c_void_p(), (ctypes.c_int64 * len(r.shape))()))
                given += [ctypes.byref(places[-1][0]), places[-1][1]]
            else:
                places.append(np.zeros((), r.dtype))
                given.append(ctypes.c_void_p(places[-1].ctypes.data))
        status = self.call(*given)
        if status:
            assert all(not p[0].value for p in places if isinstance(p, tuple))
            raise Failed(self.error(status).decode())
        return [self._taken(r, place) for r, place in zip(self.results, places)]

    def _taken(self, r: Any, place: Any) -> Any:
        if not r.shape:
            return place[()]
        shape = tuple(place[1])
        size = math.prod(shape) * r.dtype.itemsize
        data = ctypes.string_at(place[0].value, size)
        self.free(place[0])
        return np.frombuffer(data, r.dtype).reshape(shape)


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value


def spec(value: Any, known: bool) -> Any:
    if isinstance(value, np.ndarray):
        return ag.spec(value.dtype, tuple(d if known else None for d in value.shape))
    return ag.spec(type(value))


def check(fn: Callable[..., Any], folder: Path, *args: Any, known: bool = False) -> Loaded:
    """The library gives what the function gives, and writes what it writes."""
    loaded = Loaded(fn, tuple(spec(a, known) for a in args), folder)
    theirs, ours = ([np.array(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    expected, got = list(flat(fn(*theirs))), loaded(*ours)
    assert len(expected) == len(got)
    for x, y in zip([*expected, *theirs], [*got, *ours]):
        np.testing.assert_array_equal(x, y)
        assert not isinstance(x, np.ndarray) or x.dtype == y.dtype
    return loaded


HALF = 0.5


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def smoothed(x, w):
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) * w[0] * HALF
    x[0] = 7
    return y, y.sum(), x > 1, len(x), (x[::-1], np.outer(x, w)), x, 3, y.T, y[1:-1]


def all_kinds(flag, small, single, wide, grey, mask):
    wide[0] = -small
    return not flag, small + 1, single * 2, wide + 1, grey + 200, ~mask, np.float32(single), mask.any()


def without_axes(x):
    return x[1, ...], x[0] == x[1]


def total(x):
    s = 0.0
    for v in x:
        s += v
    return s


def halves(n):
    return 1 if n < 2 else halves(n // 2) + halves(n - n // 2)


def spectrum(z, n):
    return (z + z) * n, z.real - z.imag, z.conj()[::2]


def test_results_and_writes_are_those_of_the_function(tmp_path: Path) -> None:
    assert check(collatz, tmp_path, 27)(97) == [118]
    x = np.arange(12.0) % 5
    for args in ((x, x[:2]), (x[:1], x[:1]), (x[:2], x[:3])):
        check(smoothed, tmp_path, *args)
    wide, grey = np.arange(5, dtype=np.int16), np.arange(250, 256, dtype=np.uint8)
    check(all_kinds, tmp_path, True, -5, 2.5, wide, grey, np.array([True, False]))
    check(without_axes, tmp_path, x)
    check(total, tmp_path, x)
    check(halves, tmp_path, 100)
    z = np.array([1 + 2j, 0, -3j, 0.5])
    check(spectrum, tmp_path, z, 3)
    check(spectrum, tmp_path, z.astype(np.complex64), 3, known=True)
    transposed = Loaded(lambda x: (x.T, x[:, ::-1]), (ag.spec(float, (None, 3)),), tmp_path, name="turned")
    y = np.arange(6.0).reshape(2, 3)
    for a, b in zip(transposed(y), (y.T, y[:, ::-1])):
        np.testing.assert_array_equal(a, b)


def test_arrays_without_elements(tmp_path: Path) -> None:
    empty = np.zeros(0)
    loaded = Loaded(lambda x: (x + 1, x.sum()), (ag.spec(float, (None,)),), tmp_path, name="f")
    result, s = loaded(empty)
    assert result.shape == (0,) and s == 0


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        *("cholesky", "gemm", "durbin", "jacobi_2d", "edit_distance", "knapsack", "stockham_fft", "crc16"),
        *("spmv", "softmax", "mlp", "lstm"),
    ],
)
def test_kernels(name: str, known: bool, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    args = kernel.inputs(tiny=True)
    loaded = Loaded(kernel.function, tuple(spec(a, known) for a in args), tmp_path)
    theirs = kernel.inputs(tiny=True)
    ours = [np.array(a, order="C") if isinstance(a, np.ndarray) else a for a in args]
    expected = list(flat(kernel.function(*theirs)))
    got = loaded(*ours)
    for x, y in zip([*expected, *theirs], [*got, *ours]):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-8)
    assert len(expected) == len(got)


def picked(x, i):
    y = x + 1
    if i < -100:
        raise ValueError(f"far too small: {i}")
    assert i != 99, "not this one"
    return y[i], i * 4_000_000_000_000_000_000, 1 // (i - 5), y


def made(n):
    return np.zeros((n, n, n)), np.ones(3)


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def test_what_fails_says_where(tmp_path: Path) -> None:
    loaded = Loaded(picked, (ag.spec(float, (None,)), ag.spec(int)), tmp_path)
    x = np.arange(6.0)
    assert loaded(x, 1)[:3] == [2.0, 4_000_000_000_000_000_000, -1]
    assert loaded(x, 0)[3].tolist() == (x + 1).tolist()
    for i, text in (
        (-101, "raise ValueError"),
        (99, "assert i != 99"),
        (6, "return y[i]"),
        (3, "return y[i]"),
        (5, "i - 5"),
    ):
        with pytest.raises(Failed, match=r"test_library\.py:\d+: ") as caught:
            loaded(x, i)
        assert text in str(caught.value)
    with pytest.raises(Failed, match=r"return np.zeros\(\(n, n, n\)\)"):
        Loaded(made, (ag.spec(int),), tmp_path)(1 << 20)
    recursive = Loaded(deep, (ag.spec(int),), tmp_path)
    assert recursive(5000) == [5000]
    with pytest.raises(Failed, match="recursion is too deep"):
        recursive(10**7)
    loaded.call.restype = ctypes.c_int
    assert (
        loaded.call(None, ctypes.c_int64(-1), ctypes.c_int64(0), None, None, None, None, None)
        == library.NEGATIVE
    )


def not_finite(x, n):
    return x**2, math.exp(x), x * n, math.atan(x), n / 3


def quotient(m, n):
    return m / n


def product(a, b):
    return a @ b, (a @ b).sum()


def test_numbers_that_are_not_finite_and_products_of_nothing(tmp_path: Path) -> None:
    loaded = Loaded(not_finite, (ag.spec(float), ag.spec(int)), tmp_path)
    for x in (2.0, math.inf, math.nan, -0.0):
        np.testing.assert_array_equal(loaded(x, 3), not_finite(x, 3))
    for x in (1e200, 1e3):
        with pytest.raises(Failed, match="return x"):
            loaded(x, 1)
    exact = Loaded(quotient, (ag.spec(int), ag.spec(int)), tmp_path)
    assert exact(7, 2) == [3.5]
    with pytest.raises(Failed, match=r"return m / n \(for such values it would ask Python\)"):
        exact(2**53 + 1, 1)
    matrices = Loaded(product, (ag.spec(float, (None, None)),) * 2, tmp_path)
    for m, k, n in ((2, 0, 3), (40, 0, 50), (0, 2, 3), (40, 30, 50), (1, 0, 4)):
        a, b = np.ones((m, k)), np.ones((k, n))
        for x, y in zip(matrices(a, b), product(a, b)):
            np.testing.assert_array_equal(x, y)


def test_types_of_arguments_that_do_not_bind(tmp_path: Path) -> None:
    graph, number = ag.to_graph(quotient), ag.spec(float)
    for specs in ((), (number,), (number,) * 3):
        with pytest.raises(TypeError, match=r"missing a required argument|too many positional"):
            graph.export_library(tmp_path / "f.o", *specs)
    with pytest.raises(TypeError, match=r"the type of 'n' is given by ag.spec\(...\), not by 3.5"):
        graph.export_library(tmp_path / "f.o", number, 3.5)
    with pytest.raises(TypeError, match="a tuple of names"):
        graph.export_library(tmp_path / "f.o", number, number, libraries="m")
    assert Loaded(quotient, (ag.spec("float64"), ag.spec(np.dtype("int64"))), tmp_path)(1.0, 2) == [0.5]


TABLE = np.arange(3.0)


def printed(x):
    print(x)
    return x


def with_a_table(x):
    return x + TABLE


def texts(x):
    return str(x)


@pytest.mark.parametrize(
    ("fn", "specs", "said"),
    [
        (printed, (ag.spec(float),), r"print\(x\)"),
        (with_a_table, (ag.spec(float, (3,)),), r"return x \+ TABLE"),
        (texts, (ag.spec(float),), "The result is of type str"),
        (total, (ag.spec(str),), "The argument 'x' is of type str"),
        (total, (ag.spec(complex, None),), "The argument 'x' is of type complex"),
        (lambda x: x, (ag.spec(float),), "no name for a function in C"),
    ],
)
def test_what_needs_python_is_refused_and_nothing_is_written(
    fn: Callable[..., Any], specs: tuple[Any, ...], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ag.errors.StagingError, match=said):
        ag.to_graph(fn).export_library(tmp_path / "f.o", *specs)
    assert list(tmp_path.iterdir()) == []


def test_endings_names_and_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ag.to_graph(collatz)
    with pytest.raises(ValueError, match=r"ends with one of \.o, "):
        graph.export_library(tmp_path / "f.txt", ag.spec(int))
    for name in ("double", "exp", "no name", "1st", "ag_give", "operator", "_math"):
        with pytest.raises(ag.errors.StagingError, match="no name for a function in C"):
            graph.export_library(tmp_path / "f.o", ag.spec(int), name=name)
    with pytest.raises(OSError, match="could not be linked"):
        graph.export_library(tmp_path / "f.so", ag.spec(int), libraries=("no_such_library_at_all",))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match="no C compiler was found"):
        graph.export_library(tmp_path / "f.so", ag.spec(int))
    assert list(tmp_path.iterdir()) == []
    path, header = graph.export_library(tmp_path / "f.o", ag.spec(int), name="steps")
    assert path.name == "f.o" and "int steps(int64_t n, int64_t *result);" in header.read_text()


def keywords(int, double, ünder, x):
    return int + double + ünder + x


def like_others(x, x_0, result):
    return x[0] + x_0 + result


def test_parameters_whose_names_c_has_another_use_for(tmp_path: Path) -> None:
    number = ag.spec(float)
    loaded = Loaded(keywords, (number,) * 4, tmp_path)
    assert loaded(1.0, 2.0, 3.0, 4.0) == [10.0]
    text = "(double argument0, double argument1, double argument2, double x, double *result);"
    assert text in loaded.header.read_text()
    loaded = Loaded(like_others, (ag.spec(float, (None,)), number, number), tmp_path)
    assert loaded(np.array([1.0]), 2.0, 3.0) == [6.0]
    assert "(const double *argument0, int64_t argument0_0, double argument1, double argument2," in (
        loaded.header.read_text()
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the sanitizers are those of Linux")
def test_the_example_in_c_runs_and_leaks_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    example = ROOT / "examples" / "c_library"
    subprocess.run([sys.executable, str(example / "orbit.py"), str(tmp_path)], check=True, env=environment)
    build = [
        str(COMPILER),
        "-Wall",
        "-Wextra",
        "-Werror",
        "-g",
        "-I",
        str(tmp_path),
        str(example / "orbit.c"),
    ]
    last = [str(tmp_path / "orbit.o"), "-lm", "-o", str(tmp_path / "orbit")]
    if subprocess.run([*build, "-fsanitize=address", *last], capture_output=True, check=False).returncode:
        subprocess.run([*build, *last], check=True)
    done = subprocess.run([str(tmp_path / "orbit")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "1000 places; after a quarter of a year: 0.000 1.000",
        "at the end: 1.000 -0.000; the energy has changed by 6e-15",
        'without steps: orbit.py:27: raise ValueError("there must be a step")',
    ]
