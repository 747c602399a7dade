"""Products of matrices of middle size: packed panels and tiles held in registers.

As in BLIS (Van Zee and van de Geijn, "BLIS: A Framework for Rapidly Instantiating BLAS Functionality", 2015):
the second matrix is copied to panels as wide as a tile, so many rows at a time that a panel stays in the
nearest caches; a tile adds up the products of some rows by one panel. The order of the sums depends on the
inner dimension only, so a product may be cut in rows and columns as one likes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from autograph.compiler.ir import PROFILE
from autograph.compiler.routines import BLOCK, MATRIX, Writer, block_columns, vector_bytes

VECTORS = 2
"""Vectors in a row of a tile."""
DEPTH = 256
"""Rows of a panel."""
FEW = 96
"""With at most so many rows of the first matrix, whole panels of the second one are read where they lie."""
TILE = "ptr noalias %c, i64 %cs, ptr %a, i64 %as, i64 %at, ptr %p, i64 %ps, i64 %n, i64 %k, i1 %more"
PRODUCT = MATRIX.replace("i64 %xs,", "i64 %xs, i64 %xt,") + ", i1 %plus"
PANEL = "ptr noalias %p, ptr %x, i64 %xs, i64 %xt, i64 %n, i64 %k"
BLOCKS = PRODUCT + ", i64 %begin, i64 %end"


@functools.cache
def rows_of_tile() -> int:
    """As many as the registers hold: vectors of 64 bytes come with 32 registers, others with 16."""
    return 8 if vector_bytes() == 64 else 4


class TiledWriter(Writer):
    """Writes the product of two matrices, and the tiles that it calls."""

    @property
    def _wide(self) -> int:
        return VECTORS * self.width

    def text(self, name: str) -> str:
        sizes = [rows_of_tile() >> i for i in range(rows_of_tile().bit_length())]
        for rows in sizes:
            self._another()._product_of_tile(rows, f"{name}_{rows}")
        self._another()._pack(f"{name}_pack")
        tiles = {rows: f"@{name}_{rows}" for rows in sizes}
        self._another()._product(f"{name}_whole", tiles, f"{name}_pack")
        self._blocks(name, f"{name}_whole")
        return PROFILE + self.module.text()

    def _another(self) -> TiledWriter:
        """A writer of another function of the module."""
        return TiledWriter(self.routine, self.element, self.width, self.module)

    def _product_of_tile(self, rows: int, name: str) -> None:
        """c = a @ p, or c += a @ p where there is more: some rows, and a panel of which n columns count.

        What c held before is read in any case, and dropped where it does not count.
        """
        b = self.b
        self._start()
        starts = [self._at("%a", (str(r), "%as")) for r in range(rows)]
        if rows == rows_of_tile():
            two = b.value(f"icmp sgt i64 %n, {self.width}")
            self._either(two, lambda: self._tile_of(starts, VECTORS), lambda: self._tile_of(starts, 1))
        else:
            self._tile_of(starts, VECTORS)
        b.emit("ret void")
        self.module.functions[name] = b.function(f"define internal void @{name}({TILE}) noinline")

    def _tile_of(self, starts: list[str], vectors: int) -> None:
        """The same for so many vectors of the panel."""
        b, rows = self.b, len(starts)
        sums = self._zeros(rows * vectors)

        def step(p: str) -> None:
            line = self._at("%p", (p, "%ps"))
            ys = [self._get(self._at(line, (str(v * self.width), self.size)), None) for v in range(vectors)]
            for r in range(rows):
                wide = self.lanes.splat(self._load(self._at(starts[r], (p, "%at"))), self.kind)
                for v in range(vectors):
                    self._add(sums[r * vectors + v], wide, ys[v])

        self._loop(0, "%k", 1, step)
        places = [
            (place, self._at("%c", (str(i // vectors), "%cs"), (str(i % vectors * self.width), self.size)))
            for i, place in enumerate(sums)
        ]

        def put(masks: list[str | None]) -> None:
            for i, (place, target) in enumerate(places):
                mask = masks[i % vectors]
                value = b.value(f"load {self.type}, ptr {place}")
                before = b.value(
                    f"select i1 %more, {self.type} {self._get(target, mask)}, {self.type} zeroinitializer"
                )
                self._put(target, b.value(f"fadd {self.type} {before}, {value}"), mask)

        masks = [self._mask(b.value(f"sub i64 %n, {v * self.width}")) for v in range(vectors)]
        if vectors < VECTORS:
            put(list(masks))
            return
        full = b.value(f"icmp sge i64 %n, {self._wide}")
        self._either(full, lambda: put([None] * vectors), lambda: put(list(masks)))

    def _blocks(self, name: str, whole: str) -> None:
        """Some blocks of c = a @ x, or c += a @ x, by number, column by column, one column at once."""
        b, columns = self.b, block_columns(self.size)
        self._start()
        down = b.value(f"udiv i64 {b.value(f'add nsw i64 %m, {BLOCK - 1}')}, {BLOCK}")

        def column(t: str) -> str:
            j = b.value(f"udiv i64 {t}, {down}")
            i = b.value(f"sub i64 {t}, {b.value(f'mul i64 {j}, {down}')}")
            left, wanted = b.value(f"sub i64 {down}, {i}"), b.value(f"sub i64 %end, {t}")
            rows = b.call("i64", "llvm.umin.i64", f"i64 {left}", f"i64 {wanted}")
            i, j = b.value(f"mul i64 {i}, {BLOCK}"), b.value(f"mul i64 {j}, {columns}")
            m = b.call(
                "i64", "llvm.umin.i64", f"i64 {b.value(f'sub i64 %m, {i}')}",
                f"i64 {b.value(f'mul i64 {rows}, {BLOCK}')}",
            )  # fmt: skip
            n = b.call("i64", "llvm.umin.i64", f"i64 {b.value(f'sub i64 %n, {j}')}", f"i64 {columns}")
            c, a = self._at("%c", (i, "%cs"), (j, self.size)), self._at("%a", (i, "%as"))
            b.emit(
                f"call void @{whole}(ptr {c}, i64 %cs, ptr {a}, i64 %as, i64 %at, "
                f"ptr {self._at('%x', (j, '%xt'))}, i64 %xs, i64 %xt, i64 {m}, i64 {n}, i64 %k, i1 %plus)"
            )
            return rows

        self._steps("%begin", "%end", column)
        b.emit("ret void")
        self.module.functions[name] = b.function(f"define void @{name}({BLOCKS})")

    def _product(self, name: str, tiles: dict[int, str], pack: str) -> None:
        """c = a @ x, or c += a @ x, for so many columns as are packed at once, or fewer."""
        self._start()
        b, size, most = self.b, self.size, rows_of_tile()
        panels = b.alloca(f"[{DEPTH * block_columns(size) * size} x i8]", 64)
        packed = b.alloca(f"[{DEPTH * most * size} x i8]", 64)
        turned = b.value(f"icmp eq i64 %as, {size}")
        few = b.value(f"icmp sle i64 %m, {FEW}")
        direct = b.value(f"and i1 {few}, {b.value(f'icmp eq i64 %xt, {size}')}")

        def deep(p: str) -> None:
            depth = b.call("i64", "llvm.smin.i64", f"i64 {b.value(f'sub i64 %k, {p}')}", f"i64 {DEPTH}")
            more = b.value(f"or i1 %plus, {b.value(f'icmp ne i64 {p}, 0')}")
            a0, x0 = self._at("%a", (p, "%at")), self._at("%x", (p, "%xs"))
            panel = b.value(f"mul nuw nsw i64 {depth}, {self._wide * size}")

            def each_panel(body: Callable[[int, str, str, str, str], None]) -> None:
                for q in range(0, block_columns(size), self._wide):

                    def one(q: int = q) -> None:
                        n = b.value(f"sub i64 %n, {q}")
                        at = self._at(x0, (str(q), "%xt"))
                        to = self._at(panels, (str(q // self._wide), panel))
                        whole = b.value(f"icmp sge i64 {n}, {self._wide}")
                        body(q, n, at, to, b.value(f"and i1 {direct}, {whole}"))

                    self._if(b.value(f"icmp slt i64 {q}, %n"), one)

            def packing(q: int, n: str, at: str, to: str, stays: str) -> None:
                given = f"ptr {to}, ptr {at}, i64 %xs, i64 %xt, i64 {n}, i64 {depth}"
                self._either(stays, lambda: None, lambda: b.emit(f"call void @{pack}({given})"))

            def tile(i: str) -> str:
                rows, fn = "1", tiles[1]
                for count in sorted(tiles)[1:]:
                    many = b.value(f"icmp sge i64 {b.value(f'sub i64 %m, {i}')}, {count}")
                    rows = b.value(f"select i1 {many}, i64 {count}, i64 {rows}")
                    fn = b.value(f"select i1 {many}, ptr {tiles[count]}, ptr {fn}")
                a, c = self._at(a0, (i, "%as")), self._at("%c", (i, "%cs"))
                copies = b.value(f"and i1 {turned}, {b.value(f'icmp eq i64 {rows}, {most}')}")
                self._if(copies, lambda: self._pack_rows(packed, a, depth))
                first = b.value(f"select i1 {copies}, ptr {packed}, ptr {a}")
                along = b.value(f"select i1 {copies}, i64 {most * size}, i64 %at")

                def one(q: int, n: str, at: str, to: str, stays: str) -> None:
                    place = b.value(f"select i1 {stays}, ptr {at}, ptr {to}")
                    step = b.value(f"select i1 {stays}, i64 %xs, i64 {self._wide * size}")
                    b.emit(
                        f"call void {fn}(ptr {self._at(c, (str(q), size))}, i64 %cs, ptr {first}, i64 %as, "
                        f"i64 {along}, ptr {place}, i64 {step}, i64 {n}, i64 {depth}, i1 {more})"
                    )

                each_panel(one)
                return rows

            each_panel(packing)
            self._steps("0", "%m", tile)

        self._up("%k", DEPTH, deep)
        b.emit("ret void")
        self.module.functions[name] = b.function(f"define internal void @{name}({PRODUCT}) noinline")

    def _steps(self, start: str, stop: str, body: Callable[[str], str]) -> None:
        """Goes up in steps that the body gives."""
        b = self.b
        head, turn, after = b.label("head"), b.label("turn"), b.label("done")
        before = b.block
        b.jump(head)
        b.start(head)
        i = b.phi("i64", "i")
        b.branch(b.value(f"icmp slt i64 {i.name}, {stop}"), turn, after)
        b.start(turn)
        step = body(i.name)
        i.incoming = [(start, before), (b.value(f"add nsw i64 {i.name}, {step}"), b.block)]
        b.jump(head)
        b.start(after)

    def _up(self, stop: str, step: int, body: Callable[[str], None]) -> None:
        """for i in range(0, stop, step)."""
        rounded = self.b.value(f"add nsw i64 {stop}, {step - 1}")
        count = self.b.value(f"udiv i64 {rounded}, {step}")
        self._loop(0, self.b.value(f"mul nuw nsw i64 {count}, {step}"), step, body)

    def _pack(self, name: str) -> None:
        """A panel: k rows of n columns of a matrix, and zeros behind them."""
        self._start()
        b, size = self.b, self.size
        full = b.value(f"icmp sge i64 %n, {self._wide}")
        masks = [self._mask(b.value(f"sub i64 %n, {v * self.width}")) for v in range(VECTORS)]

        def lines(masked: bool) -> None:
            def line(p: str) -> None:
                at, target = self._at("%x", (p, "%xs")), self._at("%p", (p, self._wide * size))
                for v in range(VECTORS):
                    step = (str(v * self.width), size)
                    value = self._get(self._at(at, step), masks[v] if masked else None)
                    self._put(self._at(target, step), value, None)

            self._loop(0, "%k", 1, line)

        def singles() -> None:
            def clear(p: str) -> None:
                for v in range(VECTORS):
                    target = self._at("%p", (p, self._wide * size), (str(v * self.width), size))
                    self._put(target, "zeroinitializer", None)

            def column(q: str) -> None:
                at, target = self._at("%x", (q, "%xt")), self._at("%p", (q, size))

                def copy(p: str) -> None:
                    value = self._load(self._at(at, (p, "%xs")))
                    place = self._at(target, (p, self._wide * size))
                    b.emit(f"store {self.kind} {value}, ptr {place}, align {size}")

                self._loop(0, "%k", 1, copy)

            self._either(full, lambda: None, lambda: self._loop(0, "%k", 1, clear))
            count = b.call("i64", "llvm.smin.i64", "i64 %n", f"i64 {self._wide}")
            self._loop(0, count, 1, column)

        dense = b.value(f"icmp eq i64 %xt, {size}")
        self._either(dense, lambda: self._either(full, lambda: lines(False), lambda: lines(True)), singles)
        b.emit("ret void")
        self.module.functions[name] = b.function(f"define internal void @{name}({PANEL}) noinline")

    def _load(self, pointer: str) -> str:
        return self.b.value(f"load {self.kind}, ptr {pointer}, align {self.size}")

    def _pack_rows(self, to: str, source: str, depth: str) -> None:
        """The rows of a tile, of a matrix that is dense by columns."""
        kind = f"<{rows_of_tile()} x {self.kind}>"

        def line(p: str) -> None:
            value = self.b.value(f"load {kind}, ptr {self._at(source, (p, '%at'))}, align {self.size}")
            target = self._at(to, (p, rows_of_tile() * self.size))
            self.b.emit(f"store {kind} {value}, ptr {target}, align {self.size}")

        self._loop(0, depth, 1, line)
