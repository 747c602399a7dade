"""Loops that all graphs share, compiled once: products of small matrices, dot products, copies.

The name of a routine tells what it is: `ag_loop_matrix_f8_8` is "matrix" for float64 in vectors of 8.
`define` makes what a name stands for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from autograph.compiler import arrays, machine
from autograph.compiler.dims import Dimensions
from autograph.compiler.elementwise import Lanes
from autograph.compiler.ir import PROFILE, Builder, Module
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import key, register

PREFIX = "ag_loop_"
MATRIX = "ptr noalias %c, i64 %cs, ptr %a, i64 %as, i64 %at, ptr %x, i64 %xs, i64 %m, i64 %n, i64 %k"
PARAMETERS = {
    "matrix": MATRIX,
    "plus": MATRIX,
    "row": MATRIX,
    "rows": "ptr noalias %c, ptr %a, i64 %as, ptr %x, i64 %m, i64 %k",
    "dot": "ptr %a, i64 %as, ptr %x, i64 %xs, i64 %n",
    "copy": "ptr noalias %c, ptr %a, i64 %as, i64 %at, i64 %m, i64 %n",
}
DEEP = 256
MANY_ROWS = 16
"""The rows of columns that are copied, at most, and the rows that are multiplied by them, at least."""
BLOCK = 32
"""Rows of a block, the least part of a product in tiles that a thread does."""


def block_columns(itemsize: int) -> int:
    """The columns of a block: as many as are packed at once, four panels."""
    return 8 * (vector_bytes() // itemsize)


def name_of(routine: str, dtype: np.dtype[Any], length: Any = None) -> str:
    """The name of a routine for a dtype; `length`: of the axis that is cut in vectors, if it is known."""
    width = 1 if routine == "copy" else vector_bytes() // dtype.itemsize
    while isinstance(length, int) and width >= 2 * length and width > 2:
        width //= 2
    kind = f"b{dtype.itemsize}" if routine == "copy" else key(dtype)
    return define(f"{PREFIX}{routine}_{kind}_{width}")


@functools.cache
def define(name: str) -> str:
    """Compiles the routine of a name, once; gives the name."""
    library = machine.compile_ir(text(name), (name,))
    machine.keep(library)
    machine.add_symbol(name, library[name])
    return name


def text(name: str) -> str:
    """The IR of the routine of a name."""
    routine, kind, width = name.removeprefix(PREFIX).split("_")
    writer: type[Writer] = Writer
    if routine == "tiled":
        from autograph.compiler import tiled

        writer = tiled.TiledWriter
    return writer(routine, kind, int(width)).text(name)


def vector_bytes() -> int:
    features = machine.host()[2].split(",")
    return 64 if "+avx512vl" in features else 32 if "+avx2" in features else 16


class Writer:
    """Writes one function. The last vector of an axis is masked, so no axis has a rest of single elements."""

    def __init__(self, routine: str, kind: str, width: int, module: Module | None = None) -> None:
        self.routine, self.width, self.element = routine, width, kind
        self.module = module or Module()
        self.b = Builder(self.module, numbered=False)
        self.dims = Dimensions(self.b)
        self.evaluated: dict[Any, Any] = {}
        self.lanes = Lanes(self.b, width)
        if routine == "copy":
            self.size = int(kind[1:])
            self.kind = "<2 x i64>" if self.size == 16 else f"i{8 * self.size}"
        else:
            self.size, self.kind = np.dtype(kind).itemsize, register(np.dtype(kind))
            self.type = self.lanes.type(self.kind)

    def text(self, name: str) -> str:
        self._start()
        getattr(self, f"_{self.routine}")()
        result = self.kind if self.routine == "dot" else "void"
        head = f"define {result} @{name}({PARAMETERS[self.routine]})"
        self.module.functions[name] = self.b.function(head)
        return PROFILE + self.module.text()

    def _start(self) -> None:
        self.b.emit("br label %start")
        self.b.start("start")

    def _loop(self, start: Any, stop: Any, step: int, body: Callable[[str], None]) -> None:
        arrays.count_loop(cast(FunctionLowering, self), start, stop, step, body)

    def _down(self, d: str, step: int) -> str:
        return self.b.value(f"and i64 {d}, {-step}")

    def _at(self, base: str, *terms: tuple[str, Any]) -> str:
        """The address after `index` times `stride` bytes for each term."""
        for index, stride in terms:
            distance = self.b.value(f"mul nsw i64 {index}, {stride}")
            base = self.b.value(f"getelementptr i8, ptr {base}, i64 {distance}")
        return base

    def _mask(self, left: str) -> str:
        """The first lanes, as many as are left."""
        numbers = ", ".join(f"i64 {i}" for i in range(self.width))
        whole = self.lanes.splat(left, "i64")
        return self.b.value(f"icmp slt <{self.width} x i64> <{numbers}>, {whole}")

    def _get(self, pointer: str, mask: str | None) -> str:
        if mask is None:
            return self.b.value(f"load {self.type}, ptr {pointer}, align {self.size}")
        return self.b.call(
            self.type, f"llvm.masked.load.{self.lanes.suffix(self.kind)}.p0", f"ptr {pointer}",
            f"i32 {self.size}", f"<{self.width} x i1> {mask}", f"{self.type} zeroinitializer",
        )  # fmt: skip

    def _put(self, pointer: str, value: str, mask: str | None) -> None:
        if mask is None:
            self.b.emit(f"store {self.type} {value}, ptr {pointer}, align {self.size}")
            return
        self.b.call(
            "void", f"llvm.masked.store.{self.lanes.suffix(self.kind)}.p0", f"{self.type} {value}",
            f"ptr {pointer}", f"i32 {self.size}", f"<{self.width} x i1> {mask}",
        )  # fmt: skip

    def _zeros(self, count: int) -> list[str]:
        places = [self.b.alloca(self.type, 64) for _ in range(count)]
        for p in places:
            self.b.emit(f"store {self.type} zeroinitializer, ptr {p}")
        return places

    def _add(self, place: str, x: str, y: str) -> None:
        old = self.b.value(f"load {self.type}, ptr {place}")
        self.b.emit(f"store {self.type} {self.lanes.intrinsic('fmuladd', self.kind, x, y, old)}, ptr {place}")

    def _across(self, place: str) -> str:
        """The sum of the lanes."""
        vector = self.b.value(f"load {self.type}, ptr {place}")
        name = f"llvm.vector.reduce.fadd.{self.lanes.suffix(self.kind)}"
        self.module.declare(name, self.kind, self.kind, self.type)
        return self.b.value(f"call reassoc {self.kind} @{name}({self.kind} 0.0, {self.type} {vector})")

    def _tile(
        self,
        i: str,
        j: str,
        rows: int,
        vectors: int,
        mask: str | None = None,
        panel: tuple[str, str] | None = None,
    ) -> None:
        """Some rows and columns of a product, in registers; `panel`: where the columns are, and a step."""
        b = self.b
        sums = self._zeros(rows * vectors)
        starts = [self._at("%a", (b.value(f"add nuw nsw i64 {i}, {r}"), "%as")) for r in range(rows)]
        first, along = panel or (self._at("%x", (j, self.size)), "%xs")

        def step(p: str) -> None:
            line = self._at(first, (p, along))
            ys = [self._get(self._at(line, (str(v * self.width), self.size)), mask) for v in range(vectors)]
            for r in range(rows):
                x = b.value(f"load {self.kind}, ptr {self._at(starts[r], (p, '%at'))}, align {self.size}")
                wide = self.lanes.splat(x, self.kind)
                for v in range(vectors):
                    self._add(sums[r * vectors + v], wide, ys[v])

        self._loop(0, "%k", 1, step)
        for r in range(rows):
            line = self._at("%c", (b.value(f"add nuw nsw i64 {i}, {r}"), "%cs"), (j, self.size))
            for v in range(vectors):
                value = b.value(f"load {self.type}, ptr {sums[r * vectors + v]}")
                target = self._at(line, (str(v * self.width), self.size))
                if self.routine == "plus":
                    value = b.value(f"fadd {self.type} {self._get(target, mask)}, {value}")
                self._put(target, value, mask)

    def _matrix(self) -> None:
        """c = a @ x, in tiles of 4 rows and 2 vectors.

        For many rows, columns whose vectors would lie in two lines of the cache each are copied first.
        """
        b, wide = self.b, 2 * self.width * self.size
        copy = b.alloca(f"[{DEEP * wide} x i8]", 64)
        shifted = b.value(f"and i64 {b.value('ptrtoint ptr %x to i64')}, {self.width * self.size - 1}")
        split = b.value(f"icmp ne i64 {shifted}, 0")
        fits = b.value(f"icmp ule i64 %k, {DEEP}")
        many = b.value(f"icmp sge i64 %m, {MANY_ROWS}")
        copies = b.value(f"and i1 {split}, {b.value(f'and i1 {fits}, {many}')}")
        along = b.value(f"select i1 {copies}, i64 {wide}, i64 %xs")

        def tile(j: str, rows: int, vectors: int, mask: Any, panel: Any, i: str) -> None:
            self._tile(i, j, rows, vectors, mask, panel)

        def columns(
            j: str, vectors: int, mask: str | None = None, panel: tuple[str, str] | None = None
        ) -> None:
            start = "0"
            for rows in (8, 4, 1) if vectors == 2 and self.width * self.size == 64 else (4, 1):
                stop = self._down("%m", rows)
                self._loop(start, stop, rows, functools.partial(tile, j, rows, vectors, mask, panel))
                start = stop

        def copied(first: str) -> None:
            def line(p: str) -> None:
                for v in ("0", str(self.width)):
                    value = self._get(self._at(first, (p, "%xs"), (v, self.size)), None)
                    self._put(self._at(copy, (p, wide), (v, self.size)), value, None)

            self._loop(0, "%k", 1, line)

        def pair(j: str) -> None:
            first = self._at("%x", (j, self.size))
            self._if(copies, lambda: copied(first))
            columns(j, 2, panel=(b.value(f"select i1 {copies}, ptr {copy}, ptr {first}"), along))

        whole = self._down("%n", 2 * self.width)
        self._loop(0, whole, 2 * self.width, pair)

        def rest(j: str) -> None:
            columns(j, 1, self._mask(b.value(f"sub i64 %n, {j}")))

        self._loop(whole, "%n", self.width, rest)
        b.emit("ret void")

    def _plus(self) -> None:
        """c += a @ x."""
        self._matrix()

    def _row(self) -> None:
        """c = a @ x for one row."""
        b = self.b
        whole = self._down("%n", 4 * self.width)
        self._loop(0, whole, 4 * self.width, lambda j: self._tile("0", j, 1, 4))

        def rest(j: str) -> None:
            self._tile("0", j, 1, 1, self._mask(b.value(f"sub i64 %n, {j}")))

        self._loop(whole, "%n", self.width, rest)
        b.emit("ret void")

    def _rows(self) -> None:
        """c = a @ x for a dense vector x and dense rows of a, 4 rows at a time."""
        b = self.b
        whole = self._down("%k", self.width)
        mask = self._mask(b.value(f"sub i64 %k, {whole}"))
        some = b.value(f"icmp slt i64 {whole}, %k")

        def rows(i: str, count: int) -> None:
            sums = self._zeros(count)
            starts = [self._at("%a", (b.value(f"add nuw nsw i64 {i}, {r}"), "%as")) for r in range(count)]

            def step(p: str, mask: str | None = None) -> None:
                x = self._get(self._at("%x", (p, self.size)), mask)
                for place, start in zip(sums, starts):
                    self._add(place, self._get(self._at(start, (p, self.size)), mask), x)

            self._loop(0, whole, self.width, step)
            self._if(some, lambda: step(whole, mask))
            for r, place in enumerate(sums):
                at = self._at("%c", (b.value(f"add nuw nsw i64 {i}, {r}"), self.size))
                b.emit(f"store {self.kind} {self._across(place)}, ptr {at}, align {self.size}")

        fours = self._down("%m", 4)
        self._loop(0, fours, 4, lambda i: rows(i, 4))
        self._loop(fours, "%m", 1, lambda i: rows(i, 1))
        b.emit("ret void")

    def _if(self, test: str, body: Callable[[], None]) -> None:
        then, after = self.b.label("then"), self.b.label("after")
        self.b.branch(test, then, after)
        self.b.start(then)
        body()
        self.b.jump(after)
        self.b.start(after)

    def _either(self, test: str, yes: Callable[[], None], no: Callable[[], None]) -> None:
        arrays.either(cast(FunctionLowering, self), test, yes, no)

    def _dot(self) -> None:
        """The dot product of two vectors: vectors with four sums where both are dense."""
        b, size, width = self.b, self.size, self.width
        first, second = (b.value(f"icmp eq i64 %{s}, {size}") for s in ("as", "xs"))
        dense, apart = b.label("dense"), b.label("apart")
        b.branch(b.value(f"and i1 {first}, {second}"), dense, apart)
        b.start(dense)
        sums = self._zeros(4)

        def step(i: str, count: int, mask: str | None = None) -> None:
            for v in range(count):
                at = b.value(f"add nuw nsw i64 {i}, {v * width}")
                x, y = (self._get(self._at(base, (at, size)), mask) for base in ("%a", "%x"))
                self._add(sums[v], x, y)

        fours, whole = self._down("%n", 4 * width), self._down("%n", width)
        self._loop(0, fours, 4 * width, lambda i: step(i, 4))
        self._loop(fours, whole, width, lambda i: step(i, 1))
        some = b.value(f"icmp slt i64 {whole}, %n")
        self._if(some, lambda: step(whole, 1, self._mask(b.value(f"sub i64 %n, {whole}"))))
        vectors = [b.value(f"load {self.type}, ptr {p}") for p in sums]
        while len(vectors) > 1:
            vectors = [b.value(f"fadd {self.type} {p}, {q}") for p, q in zip(vectors[::2], vectors[1::2])]
        b.emit(f"store {self.type} {vectors[0]}, ptr {sums[0]}")
        b.emit(f"ret {self.kind} {self._across(sums[0])}")
        b.start(apart)
        total = b.alloca(self.kind)
        b.emit(f"store {self.kind} 0.0, ptr {total}")
        scalar = Lanes(b)

        def single(i: str) -> None:
            x, y = (
                b.value(f"load {self.kind}, ptr {self._at(base, (i, stride))}, align {size}")
                for base, stride in (("%a", "%as"), ("%x", "%xs"))
            )
            old = b.value(f"load {self.kind}, ptr {total}")
            b.emit(f"store {self.kind} {scalar.intrinsic('fmuladd', self.kind, x, y, old)}, ptr {total}")

        self._loop(0, "%n", 1, single)
        result = b.value(f"load {self.kind}, ptr {total}")
        b.emit(f"ret {self.kind} {result}")

    def _copy(self) -> None:
        """The elements of a matrix, row by row."""
        b = self.b

        def row(i: str) -> None:
            source = self._at("%a", (i, "%as"))
            target = self._at("%c", (i, b.value(f"mul i64 %n, {self.size}")))

            def single(j: str) -> None:
                at = self._at(source, (j, "%at"))
                align = min(self.size, 8)
                x = b.value(f"load {self.kind}, ptr {at}, align {align}")
                b.emit(f"store {self.kind} {x}, ptr {self._at(target, (j, self.size))}, align {align}")

            self._loop(0, "%n", 1, single)

        self._loop(0, "%m", 1, row)
        b.emit("ret void")
