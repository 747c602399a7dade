"""Random programs of level b: arrays, views, aliases, joins of references and writes in place.

Kinds of names: `f1`/`i1`/`m1` are one-dimensional arrays of floats, integers and truth values, `f2` is a
two-dimensional array of floats. Arguments mostly have one common length, so most programs run through;
arguments that are the same array or overlap occur too.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.programs.generator import Writer

__all__ = ["ArrayWriter"]

ARRAYS = ("f1", "i1", "m1", "f2")
NEW = {
    "f1": "np.arange(4.0)",
    "i1": "np.arange(4)",
    "m1": "np.array([True, False, True, False])",
    "f2": "np.ones((4, 3))",
}


class ArrayWriter(Writer):
    """Writes programs of level b."""

    param_kinds = ("f1", "f1", "f1", "i1", "f2", "int", "float", "num", "bool")
    array_weight = 1.0

    def inputs(self, kinds: list[str]) -> tuple[str, ...]:
        """Argument tuples; some pass one array twice, or overlapping arrays."""
        rows = []
        self.length = self.pick((2, 3, 4, 4, 5))
        for _ in range(3):
            values = [self.input(kind) for kind in kinds]
            same = [i for i, kind in enumerate(kinds) if kind == "f1"]
            if len(same) > 1 and self.chance(0.12):
                first, second = same[:2]
                shared = values[first]
                values[first], values[second] = "u", self.pick(("u", "u[::-1]", "u[:]"))
                rows.append(f"(lambda u: ({', '.join(values)},))({shared})")
            else:
                rows.append(f"({', '.join(values)},)")
            if self.chance(0.25):
                self.length = self.pick((0, 1, 2, 3, 6))
        return tuple(rows)

    def input(self, kind: str) -> str:
        """The text of one argument."""
        rng = self.rng
        if kind not in ARRAYS:
            return super().input(kind)
        length = self.length if self.chance(0.97) else self.length + 1
        if kind == "i1":
            values: list[object] = [rng.randint(-3, 6) for _ in range(length)]
            return self.integers(values)
        if kind == "m1":
            return f"np.array({[rng.random() < 0.5 for _ in range(length)]}, dtype=bool)"
        if kind == "f2":
            rows = [[self.real() for _ in range(3)] for _ in range(length)]
            tail = self.pick(("", "", "", ".T.copy().T", ".astype(np.float32)"))
            return f"np.array({rows}).reshape({length}, 3){tail}"
        reals = [self.real() for _ in range(length)]
        dtype = self.pick(("np.float64", "np.float64", "np.float64", "np.float64", "np.float32"))
        return f"np.array({reals}, dtype={dtype})" + self.pick(("", "", "", "", "[::-1]"))

    def integers(self, values: list[object]) -> str:
        """The text of an integer array."""
        dtype = self.pick(("np.int64", "np.int64", "np.int64", "np.int32"))
        return f"np.array({values}, dtype={dtype})"

    def real(self) -> float:
        """A float."""
        return float(self.pick((0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.25, 10.0, -0.0, 0.1, 4.0)))

    # -- statements -----------------------------------------------------------------------------------

    def statements(self) -> list[tuple[float, Callable[[], bool | None]]]:
        """Adds the statements about arrays."""
        weight = self.array_weight
        loop = weight if self.indent < 4 else 0.15
        return [
            *super().statements(),
            (2.0 * weight, self.view),
            (3.5 * weight, self.write),
            (2.5 * weight, self.array_assign),
            (1.2 * weight, self.reference_join),
            (0.7 * weight, self.array_swap),
            (1.2 * loop, self.array_loop),
            (1.0 * weight, self.scalar_from_array),
            (0.6 * weight, self.method_in_place),
        ]

    def arrays(self, *kinds: str) -> list[str]:
        """Names of arrays of the kinds."""
        wanted = kinds or ARRAYS
        return sorted(n for n, k in self.names.items() if k in wanted)

    def array(self, *kinds: str) -> str:
        """The name of an array, or a new array."""
        found = self.arrays(*kinds)
        return str(self.pick(found)) if found else NEW[kinds[0] if kinds else "f1"]

    def constant(self, kind: str) -> str:
        """A literal, or a new array."""
        return NEW.get(kind) or super().constant(kind)

    def array_target(self, kind: str) -> str:
        """A name for an array."""
        same = [n for n in self.arrays(kind) if len(n) > 1 or self.chance(0.2)]
        if same and self.chance(0.35):
            return str(self.pick(same))
        return self.new("x")

    def array_assign(self) -> None:
        """Binds a name to a new array."""
        kind = self.pick(("f1", "f1", "f1", "i1", "m1", "f2"))
        text = self.expr(kind, 2)
        name = self.array_target(kind)
        self.line(f"{name} = {text}")
        self.bind(name, kind)

    def view(self) -> None:
        """Binds a name to a view or an alias."""
        flat, table = self.arrays("f1", "i1"), self.arrays("f2")
        if table and self.chance(0.4):
            base = self.pick(table)
            kind, text = self.pick(
                (
                    ("f1", f"{base}[{self.index(base)}]"),
                    ("f1", f"{base}[:, {self.pick((0, 1, -1, 2))}]"),
                    ("f2", f"{base}[::-1]"),
                    ("f2", base),
                    ("f1", f"{base}.reshape(-1)"),
                    ("f1", f"{base}.ravel()"),
                    ("f2", f"{base}[{self.slice()}]"),
                    ("f1", f"{base}.T[{self.pick((0, 1))}]"),
                    ("f1", f"np.diagonal({base})"),
                    ("f2", f"np.asarray({base})"),
                )
            )
        elif flat:
            base = self.pick(flat)
            kind = self.names[base]
            kind, text = self.pick(
                (
                    (kind, base),
                    (kind, f"{base}[{self.slice()}]"),
                    (kind, f"{base}[{self.slice()}]"),
                    (kind, f"{base}[::-1]"),
                    (kind, f"{base}[:]"),
                    (kind, f"{base}[...]"),
                    (kind, f"{base}.view()"),
                    (kind, f"{base}.reshape(-1)"),
                    (kind, f"{base}[:, None][:, 0]"),
                    (kind, f"np.flip({base})"),
                    (kind, f"np.atleast_1d({base})"),
                    (kind, f"{base}.T"),
                    (kind, f"np.ravel({base})"),
                )
            )
        else:
            return self.array_assign()
        name = self.array_target(kind)
        self.line(f"{name} = {text}")
        self.bind(name, kind)
        return None

    def reference_join(self) -> None:
        """Binds a name to one array or another, or to a copy."""
        found = self.arrays("f1", "i1")
        if not found:
            return self.array_assign()
        first, second = self.pick(found), self.pick(found)
        name = self.array_target("f1")
        other = self.pick(
            (f"{first}.copy()", second, f"{second}[:]", f"{first} * 1", second, f"{first}[::-1]")
        )
        if self.chance(0.5):
            self.line(f"{name} = {first} if {self.test()} else {other}")
        else:
            self.line(f"if {self.test()}:")
            self.line(f"    {name} = {first}")
            self.line("else:")
            self.line(f"    {name} = {other}")
        self.bind(name, self.names[first])
        if self.chance(0.6):
            self.write(name)
        return None

    def array_swap(self) -> None:
        """Swaps two arrays."""
        found = [n for n in self.arrays("f1")]
        if len(found) < 2:
            return self.array_assign()
        x, y = self.rng.sample(found, 2)
        self.line(f"{x}, {y} = {y}, {x}")
        return None

    def array_loop(self) -> None:
        """Loops over the elements or rows of arrays, or over their indices."""
        name = self.array("f1", "i1", "f2")
        before = self.snapshot()
        item, index = self.new("e"), self.new("i")
        style = self.rng.random()
        element = (
            "f1" if self.names.get(name) == "f2" else ("int" if self.names.get(name) == "i1" else "float")
        )
        if style < 0.35:
            self.line(
                f"for {index} in range(len({name})):"
                if self.chance(0.5)
                else f"for {index} in range({name}.shape[0]):"
            )
            self.bind(index, "int")
        elif style < 0.65:
            self.line(f"for {item} in {name}:")
            self.bind(item, element)
        elif style < 0.8:
            self.line(f"for {index}, {item} in enumerate({name}):")
            self.bind(index, "int")
            self.bind(item, element)
        elif style < 0.9:
            other = self.array("f1")
            self.line(f"for {item}, {index} in zip({name}, {other}):")
            self.bind(item, element)
            self.bind(index, "float")
        else:
            self.line(
                f"for {item} in reversed({name}):" if self.chance(0.5) else f"for {item} in {name}[1:]:"
            )
            self.bind(item, element)
        self.loops += 1
        with self.block():
            if self.names.get(index) == "int" and self.chance(0.7):
                target = self.array("f1", "i1") if self.chance(0.4) else name
                self.line(f"{target}[{index}] {self.pick(('=', '+=', '-=', '*='))} {self.expr('num', 1)}")
            elif element == "f1" and item in self.names and self.chance(0.6):
                self.line(f"{item} {self.pick(('+=', '*='))} {self.pick((2, 0.5, self.atom('num')))}")
            for _ in range(self.rng.randint(1, 2)):
                if self.statement():
                    break
        self.loops -= 1
        self.loop_end(before)

    def write(self, name: str | None = None) -> None:
        """Writes into an array."""
        name = name or self.array("f1", "f1", "i1", "f2")
        if not name.isidentifier():
            return self.array_assign()
        kind = self.names[name]
        operator = self.rng.choices(("=", "+=", "-=", "*=", "/="), (6, 3, 1, 1, 0.4 if kind != "i1" else 0))[
            0
        ]
        number = self.clamp(self.expr("int" if kind == "i1" else "num", 1), "num")
        if kind == "f2":
            place, value = self.pick(
                (
                    (f"[{self.index(name)}, {self.pick((0, 1, 2, -1))}]", number),
                    (f"[{self.index(name)}]", self.pick((number, self.array("f1")))),
                    ("[:, 0]", self.pick((number, self.array("f1")))),
                    ("[...]", number),
                    (f"[{name} > {self.number()}]", number),
                    (f"[{self.slice()}]", number),
                    ("[:]", f"{self.array('f2')}"),
                    ("", number),
                    ("[[0, 1], [1, 0]]", number),
                    ("[:, [2, 0]]", number),
                    ("[:, 1]", f"{name}[:, 0]"),
                )
            )
        else:
            place, value = self.pick(
                (
                    (f"[{self.index(name)}]", number),
                    (f"[{self.index(name)}]", number),
                    (f"[{self.index(name)}]", number),
                    (f"[{self.slice()}]", number),
                    (f"[{self.slice()}]", number),
                    (f"[{self.mask(name)}]", number),
                    (f"[{self.mask(name)}]", number),
                    ("[[0, 1]]", number),
                    ("[[0, 0, 1]]", number),
                    ("[:]", self.array(kind)),
                    ("", number),
                    ("", self.array(kind)),
                    ("[...]", number),
                    ("[1:]", f"{name}[:-1]"),
                    (f"[{self.array('i1')}]", number),
                    ("[::2]", number),
                    ("[:-1]", f"{name}[1:]"),
                    (f"[{self.slice()}]", self.array(kind)),
                    (f"[{self.index(name)}]", f"{name}[{self.index(name)}]"),
                )
            )
        if not place and operator == "=":
            operator = "+="
        self.line(f"{name}{place} {operator} {value}")
        if self.chance(0.15):
            self.print_()
        return None

    def method_in_place(self) -> None:
        """Calls a method or function that writes into an array."""
        name = self.array("f1")
        if not name.isidentifier():
            return self.array_assign()
        other = self.array("f1")
        self.line(
            self.pick(
                (
                    f"{name}.fill({self.atom('num')})",
                    f"{name}.sort()",
                    f"np.add({name}, {other}, out={name})",
                    f"np.multiply({name}, 2.0, out={name})",
                    f"np.copyto({name}, {other})",
                    f"np.minimum({name}, {self.number()}, out={name})",
                    f"np.clip({name}, -2, 2, out={name})",
                    f"np.add.at({name}, [0, 0], 1.0)",
                    f"np.put({name}, [0], {self.number()})",
                    f"np.cumsum({name}, out={name})",
                    f"{name}[:], {other}[:] = {other}.copy(), {name}.copy()"
                    if other.isidentifier()
                    else f"{name}.sort()",
                )
            )
        )
        return None

    def scalar_from_array(self) -> None:
        """Binds a scalar taken from an array."""
        kind = self.pick(("float", "int", "bool"))
        name = self.target("num")
        self.line(f"{name} = {self.array_scalar(kind)}")
        self.bind(name, kind)

    # -- expressions ----------------------------------------------------------------------------------

    def slice(self) -> str:
        """A slice."""
        small = self.atom("int")
        return str(
            self.pick(
                (
                    "1:",
                    ":-1",
                    "::2",
                    ":2",
                    "::-1",
                    "1:3",
                    ":",
                    f":{small} % 4",
                    f"{small} % 3:",
                    "-2:",
                    f"{small}:",
                    "1:1",
                )
            )
        )

    def index(self, name: str) -> str:
        """An index, mostly within bounds."""
        whole = self.atom("int")
        return str(
            self.pick(
                (
                    "0",
                    "-1",
                    "1",
                    "0",
                    f"{whole} % len({name})",
                    f"{whole} % {name}.shape[0]",
                    whole,
                    f"{whole} % 2",
                    f"-({whole} % 2) - 1",
                )
            )
        )

    def mask(self, name: str) -> str:
        """A mask for an array."""
        found = self.arrays("m1")
        if found and self.chance(0.3):
            return str(self.pick(found))
        return str(
            self.pick(
                (
                    f"{name} > {self.number()}",
                    f"{name} < {self.atom('num')}",
                    f"({name} > 0) & ({name} < 3)",
                    f"~({name} > 1)",
                    f"np.isnan({name})",
                    f"{name} != 0",
                )
            )
        )

    def array_scalar(self, kind: str) -> str:
        """A scalar computed from an array."""
        x = self.array("f1", "i1") if kind != "int" else self.array("i1")
        if kind == "int":
            return str(
                self.pick(
                    (
                        f"len({self.array()})",
                        f"{self.array()}.shape[0]",
                        f"{x}[{self.index(x)}]",
                        f"int({x}.sum())",
                        f"{self.array()}.size",
                        f"{self.array()}.ndim",
                        f"np.argmax({self.array('f1')})",
                        f"int({self.array('f1')}.argmin())",
                        f"np.count_nonzero({self.array('f1', 'i1')})",
                        f"{x}.max()",
                    )
                )
            )
        if kind == "bool":
            return str(
                self.pick(
                    (
                        f"({x} > {self.number()}).any()",
                        f"({x} < {self.number()}).all()",
                        f"np.any({x})",
                        f"bool({x}.all())",
                        f"{x}[{self.index(x)}] > {self.number()}",
                        f"np.allclose({x}, {self.array('f1')})",
                        f"np.array_equal({x}, {self.array('f1', 'i1')})",
                        f"{x} is {self.array('f1')}",
                    )
                )
            )
        return str(
            self.pick(
                (
                    f"{x}[{self.index(x)}]",
                    f"{x}[{self.index(x)}]",
                    f"{x}.sum()",
                    f"np.mean({x})",
                    f"{x}.max()",
                    f"np.min({x})",
                    f"float({x}.sum())",
                    f"np.dot({x}, {x})",
                    f"{x}.item(0)",
                    f"sum({x})",
                    f"max({x})",
                    f"np.median({x})",
                    f"{x} @ {x}",
                    f"np.std({x})",
                    f"np.prod({x})",
                    f"np.ptp({x})",
                    f"np.linalg.norm({x})",
                    f"{self.array('f2')}[{self.pick((0, 1, -1))}, {self.pick((0, 1, 2))}]",
                    f"np.trace({self.array('f2')})",
                )
            )
        )

    def float_expr(self, d: int) -> str:
        """A float, sometimes from an array."""
        return self.array_scalar("float") if self.chance(0.25 * self.array_weight) else super().float_expr(d)

    def int_expr(self, d: int) -> str:
        """An integer, sometimes from an array."""
        return self.array_scalar("int") if self.chance(0.15 * self.array_weight) else super().int_expr(d)

    def bool_expr(self, d: int) -> str:
        """A test, sometimes about an array."""
        return self.array_scalar("bool") if self.chance(0.3 * self.array_weight) else super().bool_expr(d)

    def f1_expr(self, d: int) -> str:
        """A one-dimensional array of floats."""
        x = lambda: self.expr("f1", d)
        a = lambda: self.array("f1")
        return str(
            self.pick(
                (
                    lambda: f"{x()} + {x()}",
                    lambda: f"({x()} - {x()})",
                    lambda: f"({x()}) * {x()}",
                    lambda: f"({x()}) / {self.divisor('num')}",
                    lambda: f"{x()} + {self.atom('num')}",
                    lambda: f"({x()}) * {self.atom('num')}",
                    lambda: f"{self.atom('num')} - {x()}",
                    lambda: f"-({x()})",
                    lambda: f"abs({x()})",
                    lambda: f"({x()}) ** 2",
                    lambda: f"({x()}) // 2",
                    lambda: f"({x()}) % 3",
                    lambda: f"np.sin({x()})",
                    lambda: f"np.exp(-abs({x()}))",
                    lambda: f"np.sqrt(abs({x()}))",
                    lambda: f"np.tanh({x()})",
                    lambda: f"np.log1p(abs({x()}))",
                    lambda: f"np.floor({x()})",
                    lambda: f"np.maximum({x()}, {self.atom('num')})",
                    lambda: f"np.minimum({x()}, {x()})",
                    lambda: f"np.where({self.expr('m1', d)}, {x()}, {x()})",
                    lambda: f"np.where({a()} > 0, {a()}, 0)",
                    lambda: f"np.cumsum({x()})",
                    lambda: f"np.clip({x()}, -1, {self.number()})",
                    lambda: f"np.concatenate([{a()}, {a()}])[: len({a()})]",
                    lambda: f"np.roll({x()}, {self.pick((1, -1, self.atom('int')))})",
                    lambda: f"np.sort({x()})",
                    lambda: f"np.zeros_like({a()})",
                    lambda: f"np.ones(len({a()}))",
                    lambda: f"np.full({a()}.shape, {self.atom('num')})",
                    lambda: f"np.arange(len({a()})) * 1.0",
                    lambda: f"np.linspace(0, 1, len({a()}))",
                    lambda: f"{a()}.copy()",
                    lambda: f"{a()}.astype(np.{self.pick(('float64', 'float32', 'int64'))})",
                    lambda: f"np.array([{self.atom('num')} for _ in {a()}])",
                    lambda: f"{a()}[{self.array('m1')}]",
                    lambda: f"{a()}[np.argsort({a()})]",
                    lambda: f"np.take({a()}, [0, 1])",
                    lambda: f"{self.array('f2')}.sum(axis={self.pick((0, 1))})",
                    lambda: f"{self.array('f2')} @ np.arange(3.0)",
                    lambda: f"np.mean({self.array('f2')}, axis=1)",
                    lambda: f"np.repeat({a()}, 2)[::2]",
                    lambda: f"np.outer({a()}, {a()})[0]",
                    lambda: f"np.stack([{a()}, {a()}])[1]",
                    lambda: f"np.diff({a()}, prepend=0.0)",
                    lambda: f"np.interp({a()}, [0, 1], [2, 3])",
                    lambda: f"np.round({x()}, 1)",
                    lambda: f"np.array([{self.atom('num')}, {self.atom('num')}, 1.5])",
                    lambda: f"np.sign({x()})",
                    lambda: f"np.hypot({a()}, {a()})",
                    lambda: f"np.nan_to_num({x()})",
                    lambda: f"np.append({a()}, {self.atom('num')})[1:]",
                    lambda: f"np.square({x()})",
                    lambda: f"({self.array('i1')}) * {self.pick((1.0, 0.5, 2))}",
                    lambda: f"{a()} + {self.array('i1')}",
                    lambda: f"({a()} if {self.test()} else {x()})",
                    lambda: f"np.tile({a()}, 2)[:{a()}.size]",
                    lambda: f"np.zeros({a()}.shape)",
                )
            )()
        )

    def i1_expr(self, d: int) -> str:
        """A one-dimensional array of integers."""
        a = lambda: self.array("i1")
        return str(
            self.pick(
                (
                    lambda: f"{a()} + {self.atom('int')}",
                    lambda: f"({a()} * 2)",
                    lambda: f"({a()} // {self.divisor('int')})",
                    lambda: f"({a()} % 3)",
                    lambda: f"np.arange(len({self.array('f1')}))",
                    lambda: f"np.argsort({self.array('f1')}, kind='stable')",
                    lambda: f"({self.array('f1')} % 50).astype(int)",
                    lambda: f"np.abs({a()})",
                    lambda: f"({a()} & 3)",
                    lambda: f"np.cumsum({self.expr('m1', d)})",
                    lambda: f"np.nonzero({self.array('f1')})[0]",
                    lambda: f"np.searchsorted(np.sort({self.array('f1')}), {self.array('f1')})",
                    lambda: f"np.zeros({self.bound()}, dtype=int)",
                    lambda: f"np.array([{self.atom('int')}, {self.atom('int')}, 0, 1])",
                    lambda: f"np.where({self.expr('m1', d)}, 1, {self.atom('int')})",
                    lambda: f"np.flatnonzero({self.array('i1')} > 0)",
                    lambda: f"-({a()})",
                    lambda: f"np.bincount(abs({a()}))",
                    lambda: f"np.unique({a()})",
                    lambda: f"({a()} << 1)",
                    lambda: f"~({a()})",
                    lambda: f"{a()}.copy()",
                    lambda: f"np.arange({self.bound()}, 7)",
                )
            )()
        )

    def m1_expr(self, d: int) -> str:
        """A one-dimensional array of truth values."""
        x = self.array("f1", "i1")
        return str(
            self.pick(
                (
                    lambda: f"({x} > {self.atom('num')})",
                    lambda: f"({x} <= {x})",
                    lambda: f"({x} == {self.number()})",
                    lambda: f"~({self.expr('m1', d)})",
                    lambda: f"({self.expr('m1', d)} & {self.expr('m1', d)})",
                    lambda: f"({self.expr('m1', d)} | {self.expr('m1', d)})",
                    lambda: f"np.isnan({x})",
                    lambda: f"np.logical_not({x})",
                    lambda: f"({x} != {self.array('f1')})",
                    lambda: f"np.isfinite({x})",
                    lambda: f"np.zeros(len({x}), dtype=bool)",
                    lambda: f"np.isin({x}, [1, 2])",
                )
            )()
        )

    def f2_expr(self, d: int) -> str:
        """A two-dimensional array of floats."""
        x = lambda: self.expr("f2", d)
        a = lambda: self.array("f2")
        return str(
            self.pick(
                (
                    lambda: f"{x()} + {x()}",
                    lambda: f"({x()}) * {self.atom('num')}",
                    lambda: f"-({x()})",
                    lambda: f"{a()} - {a()}[0]",
                    lambda: f"{a()} * {self.array('f1')}[:, None]",
                    lambda: f"np.outer({self.array('f1')}, np.arange(3.0))",
                    lambda: f"np.zeros((len({self.array('f1')}), 3))",
                    lambda: f"{a()}.copy()",
                    lambda: f"np.sqrt(abs({x()}))",
                    lambda: f"np.cumsum({a()}, axis={self.pick((0, 1))})",
                    lambda: f"{a()}[np.argsort({a()}[:, 0], kind='stable')]",
                    lambda: f"np.where({a()} > 0, {a()}, {self.number()})",
                    lambda: f"{a()} @ np.eye(3)",
                    lambda: f"np.vstack([{a()}, {a()}])[:{a()}.shape[0]]",
                    lambda: f"np.tile(np.arange(3.0), (len({self.array('f1')}), 1))",
                    lambda: f"np.concatenate([{a()}[1:], {a()}[:1]])",
                    lambda: f"np.sort({a()}, axis=1)",
                    lambda: f"{a()}[:, ::-1] * 2",
                    lambda: f"np.broadcast_to(np.arange(3.0), ({a()}.shape[0], 3)).copy()",
                    lambda: f"({a()} if {self.test()} else {x()})",
                    lambda: f"np.column_stack([{self.array('f1')}, {self.array('f1')}, {self.array('f1')}])",
                    lambda: f"np.triu({a()})",
                    lambda: f"np.maximum({x()}, 0)",
                )
            )()
        )
