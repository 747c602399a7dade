"""Random programs as source text: level a, scalars and control flow, and the machinery of all levels.

A program is a module with a function `f`, and three inputs for it, also as text. A writer keeps a rough
idea of the kind of every name, so that most programs run through, some raise, and loops always end
(each `while` has a counter of its own). The same level and seed always give the same program.
"""

# ruff: noqa: E501

from __future__ import annotations

import contextlib
import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

__all__ = ["LEVELS", "Program", "Writer", "compiled", "generate", "load", "make_args"]

LEVELS = ("a", "b", "c", "d")

Names = dict[str, str]


@dataclass(frozen=True)
class Program:
    """Source text that defines `f`, inputs as the text of argument tuples, and globals to be compared."""

    name: str
    source: str
    inputs: tuple[str, ...]
    watched: tuple[str, ...] = ()

    def __str__(self) -> str:
        calls = "\n".join(f"# f(*{text})" for text in self.inputs)
        return f"# {self.name}\n{self.source.rstrip()}\n{calls}"


def generate(level: str, seed: int) -> Program:
    """The program of a level for a seed.

    >>> generate("a", 7) == generate("a", 7)
    True
    """
    from tests.programs.arrays import ArrayWriter
    from tests.programs.breadth import BreadthWriter
    from tests.programs.objects import ObjectWriter

    writers: dict[str, type[Writer]] = {"a": Writer, "b": ArrayWriter, "c": ObjectWriter, "d": BreadthWriter}
    return writers[level](random.Random(f"{level}-{seed}")).program(f"{level}-{seed}")


def compiled(program: Program) -> CodeType:
    """The code of the module text, whose source is found by `inspect` through linecache."""
    filename = f"<program {program.name}>"
    linecache.cache[filename] = (len(program.source), None, program.source.splitlines(True), filename)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # `1 is None`
        return compile(program.source, filename, "exec")


def load(program: Program, code: CodeType | None = None) -> dict[str, Any]:
    """Runs the module text in a fresh namespace; modules of one `code` share what the library keeps of it."""
    code = compiled(program) if code is None else code
    namespace: dict[str, Any] = {"__name__": "program", "__file__": code.co_filename}
    exec(code, namespace)
    return namespace


def make_args(text: str, namespace: dict[str, Any]) -> Callable[[], tuple[Any, ...]]:
    """A function that builds fresh arguments from their text."""
    code = compile(text, "<input>", "eval")
    return lambda: eval(code, {"np": np, **namespace})


class Writer:
    """Writes programs of level a. Levels add expressions and statements by overriding the tables."""

    param_kinds: tuple[str, ...] = ("int", "int", "float", "num", "num", "bool", "any")
    budget: tuple[int, int] = (4, 12)

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.indent = 0
        self.names: Names = {}
        self.maybe: Names = {}
        self.fresh = 0
        self.loops = 0
        self.handlers = 0
        self.left = 0
        self.helpers: dict[str, list[str]] = {}
        self.locked: set[str] = set()

    # -- programs -------------------------------------------------------------------------------------

    def program(self, name: str) -> Program:
        """Writes one program."""
        self.line("import math")
        self.line("import numpy as np")
        self.header()
        for _ in range(self.rng.choice((0, 0, 1, 1, 2))):
            self.helper()
        params = [
            (f"{letter}", self.pick(self.param_kinds))
            for letter in "abcd"[: self.rng.choice((1, 2, 2, 3, 3))]
        ]
        self.function("f", params, self.rng.randint(*self.budget))
        inputs = self.inputs([kind for _, kind in params])
        return Program(name, "\n".join(self.lines) + "\n", inputs, self.watched())

    def header(self) -> None:
        """Writes what stands before the functions."""

    def watched(self) -> tuple[str, ...]:
        """Names of globals whose state is compared."""
        return ()

    def helper(self) -> None:
        """Writes a function that the later ones may call."""
        name = f"h{len(self.helpers)}"
        params = [(letter, self.pick(("int", "float", "num"))) for letter in "pq"[: self.rng.choice((1, 2))]]
        if self.chance(0.3):
            self.recursive(name)
            self.helpers[name] = ["small", "num"]
            return
        self.function(name, params, self.rng.randint(2, 5))
        self.helpers[name] = [kind for _, kind in params]

    def recursive(self, name: str) -> None:
        """Writes a recursive function; the first argument bounds its depth."""
        test = self.pick(("n <= 0", "n <= 0 or v > 500", "n < 1", "not n > 0"))
        base = self.pick(("v", "n", "0", "1.5", "(v, n)[0]"))
        step = self.pick(("v + n", "v * 2 % 101", "v - 1.5", "n", "v / 2", "-v"))
        self.line(f"def {name}(n, v):")
        with self.block():
            self.line(f"if {test}:")
            self.line(f"    return {base}")
            shape = self.pick(
                (
                    f"{name}(n - 1, {step}) + 1",
                    f"{name}(n - 1, {step})",
                    f"{name}(n - 1, {step}) + {name}(n - 2, v)",
                    f"n * {name}(n - 1, {step}) % 1009",
                )
            )
            if self.chance(0.4):
                self.line(f"if v {self.pick(('>', '<', '>=', '=='))} {self.number()}:")
                self.line(f"    return {self.pick((shape, 'v', f'{name}(n - 2, v + 1)'))}")
            self.line(f"return {shape}")

    def function(self, name: str, params: list[tuple[str, str]], size: int) -> None:
        """Writes a function with a body of about `size` statements."""
        self.names, self.maybe, self.left = dict(params), {}, size
        self.line(f"def {name}({', '.join(param for param, _ in params)}):")
        with self.block():
            for _ in range(self.rng.choice((1, 2, 2, 3))):
                kind = self.pick(("int", "int", "float", "num", "none"))
                self.assign_new(kind)
            while self.left > 0:
                if self.statement():
                    return
            self.final_return()

    def final_return(self) -> None:
        """Returns a selection of the names, sometimes one that may be unbound."""
        names = [name for name in self.names if self.returnable(self.names[name])]
        if self.maybe and self.chance(0.25):
            names.append(self.pick(sorted(self.maybe)))
        shown = self.rng.sample(names, min(len(names), self.rng.choice((1, 2, 3, 4))))
        style = self.rng.random()
        if len(shown) == 1 and style < 0.7:
            self.line(f"return {shown[0]}")
        elif style < 0.85:
            self.line(f"return {', '.join(shown)}" + ("," if len(shown) == 1 else ""))
        elif style < 0.93:
            self.line(f"return [{', '.join(shown)}]")
        else:
            self.line("return {" + ", ".join(f"{name!r}: {name}" for name in shown) + "}")

    def returnable(self, kind: str) -> bool:
        """Whether a value of the kind may be part of a result."""
        return True

    def inputs(self, kinds: list[str]) -> tuple[str, ...]:
        """Three argument tuples: often of equal kinds, with other values."""
        rows = []
        for _ in range(3):
            values = [self.input(kind) for kind in kinds]
            rows.append(f"({', '.join(values)},)")
        return tuple(rows)

    def input(self, kind: str) -> str:
        """The text of one argument."""
        rng = self.rng
        integer = str(rng.choice((0, 1, 2, 3, 4, 5, 7, -1, -2, -3, 10, 12, 27)))
        real = str(rng.choice((0.0, 0.5, 1.0, -1.5, 2.25, 3.0, -0.0, 10.0, 0.1, 7.5)))
        if kind == "int":
            return integer
        if kind == "float":
            return (
                real
                if self.chance(0.93)
                else self.pick(("float('nan')", "float('inf')", "-float('inf')", "1e300"))
            )
        if kind == "bool":
            return self.pick(("True", "False"))
        if kind == "num":
            return self.pick(
                (
                    integer,
                    integer,
                    real,
                    real,
                    self.pick(("True", "False")),
                    f"np.float64({real})",
                    f"np.int64({integer})",
                    f"np.float32({real})",
                    f"np.int32({integer})",
                    "np.bool_(True)",
                )
            )
        return self.pick((integer, real, "None", "'txt'", "True", f"np.float64({real})", f"({integer}+2j)"))

    # -- text -----------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Writes a line at the present indentation."""
        self.lines.append("    " * self.indent + text)

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """Indents, and fills an empty block."""
        self.indent += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.indent -= 1

    def pick(self, options: Any) -> Any:
        """One of the options."""
        return self.rng.choice(options)

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return self.rng.random() < probability

    def new(self, stem: str) -> str:
        """A name not used before."""
        self.fresh += 1
        return f"{stem}{self.fresh}"

    # -- statements -----------------------------------------------------------------------------------

    def statements(self) -> list[tuple[float, Callable[[], bool | None]]]:
        """The statements with their weights; one returns True when it leaves the block."""
        loop = 1.0 if self.indent < 4 else 0.15
        table: list[tuple[float, Callable[[], bool | None]]] = [
            (3.0, self.assign),
            (1.5, self.augmented),
            (2.6 * loop, self.if_),
            (1.3 * loop, self.while_),
            (1.5 * loop, self.for_),
            (0.8 * loop, self.try_),
            (0.9, self.print_),
            (0.7, self.unpack),
            (0.4, self.guarded_leave),
            (0.15, self.assert_),
            (0.1, self.delete),
            (0.3, self.walrus),
            (0.6 if self.helpers else 0.0, self.call_helper),
        ]
        if self.loops:
            table.append((1.4, self.guarded_break))
        if self.indent > 1 and self.chance(0.3):
            table.append((0.5, self.leave))
        return table

    def statement(self) -> bool:
        """Writes one statement; True if nothing can follow it in the block."""
        self.left -= 1
        table = self.statements()
        choose = self.rng.choices([make for _, make in table], [weight for weight, _ in table])[0]
        return bool(choose())

    def body(self, most: int = 3) -> bool:
        """Writes an indented block; True if it always leaves."""
        with self.block():
            for _ in range(self.rng.randint(1, most)):
                if self.statement():
                    return True
        return False

    def branches(self, names: list[tuple[Names, Names, bool]]) -> None:
        """Joins the kinds of names after branches: (names, maybe, left the block)."""
        stay = [(bound, maybe) for bound, maybe, left in names if not left] or [
            (dict(self.names), dict(self.maybe))
        ]
        joined: Names = {}
        maybe: Names = {}
        for name in dict.fromkeys(name for bound, unbound in stay for name in (*bound, *unbound)):
            kinds = [bound.get(name) or unbound.get(name) for bound, unbound in stay]
            kind = self.join([k for k in kinds if k is not None])
            if all(name in bound for bound, _ in stay):
                joined[name] = kind
            else:
                maybe[name] = kind
        self.names, self.maybe = joined, maybe

    def join(self, kinds: list[str]) -> str:
        """The kind of a name that has one of several kinds."""
        if len(set(kinds)) == 1:
            return kinds[0]
        if set(kinds) <= {"int", "float", "bool", "num"}:
            return "num"
        return "any"

    def snapshot(self) -> tuple[Names, Names]:
        """Copies of what is known of the names."""
        return dict(self.names), dict(self.maybe)

    def restore(self, saved: tuple[Names, Names]) -> None:
        """Goes back to a snapshot."""
        self.names, self.maybe = dict(saved[0]), dict(saved[1])

    def bind(self, name: str, kind: str) -> None:
        """Records that a name is bound."""
        self.maybe.pop(name, None)
        self.names[name] = kind

    def target(self, kind: str) -> str:
        """A name to assign to: new, or an existing one whose kind may change."""
        existing = [n for n, k in self.names.items() if n not in self.locked]
        same = [n for n in existing if self.names[n] == kind]
        if same and self.chance(0.5):
            return str(self.pick(same))
        scalar = [
            n for n in existing if self.names[n] in ("int", "float", "num", "bool", "none", "any", "str")
        ]
        if scalar and self.chance(0.35):
            return str(self.pick(scalar))
        if self.maybe and self.chance(0.3):
            return str(self.pick(sorted(self.maybe)))
        return self.new("v")

    def scalar_kind(self) -> str:
        """The kind of a new scalar."""
        return str(
            self.rng.choices(
                ("int", "float", "num", "bool", "none", "str", "any"), (6, 5, 3, 2, 0.6, 0.5, 0.7)
            )[0]
        )

    def assign_new(self, kind: str) -> None:
        """Binds a new name to a simple value."""
        name = self.new("v")
        self.line(
            f"{name} = {self.constant(kind) if self.chance(0.6) else self.clamp(self.expr(kind, 1), kind)}"
        )
        self.bind(name, kind)

    def assign(self) -> None:
        """Writes `name = expression`."""
        kind = self.scalar_kind()
        text = self.expr(kind)
        name = self.target(kind)
        self.line(f"{name} = {self.clamp(text, kind)}")
        self.bind(name, kind)

    def clamp(self, text: str, kind: str) -> str:
        """Keeps numbers small, so that integers stay within 64 bits."""
        if (
            kind not in ("int", "float", "num")
            or text.isidentifier()
            or text.lstrip("-").replace(".", "").isdigit()
        ):
            return text
        if "*" in text or "<<" in text or (self.loops and ("+" in text or "-" in text)):
            return f"({text}) % {self.pick((1009, 997, 101, 13, 57))}"
        return text

    def augmented(self) -> None:
        """Writes an augmented assignment."""
        found = [n for n, k in self.names.items() if k in ("int", "float", "num") and n not in self.locked]
        if not found:
            return self.assign()
        name = self.pick(found)
        kind = self.names[name]
        operator = self.rng.choices(
            ("+", "-", "%", "//", "/", "*", "&", "|"), (6, 3, 1, 0.7, 0.7, 0.6, 0.3, 0.3)
        )[0]
        if operator in "&|" and kind != "int":
            operator = "+"
        if operator == "/" and kind == "int":
            kind = "float"
        other = self.pick(("int", kind))
        value = self.divisor(other) if operator in ("/", "//", "%") else self.expr(other, 1)
        if operator == "*":
            value = str(self.pick((2, 3, -1, 0.5, 1)))
            if value == "0.5":
                kind = self.join([kind, "float"])
        self.line(f"{name} {operator}= {value}")
        if operator == "*" or "*" in value or "<<" in value:
            self.line(f"{name} %= {self.pick((1009, 97))}")
        self.bind(name, self.join([kind, other]) if kind != other else kind)
        return None

    def if_(self) -> bool:
        """Writes if/elif/else."""
        before = self.snapshot()
        ends: list[tuple[Names, Names, bool]] = []
        self.line(f"if {self.test()}:")
        left = self.body()
        ends.append((*self.snapshot(), left))
        for _ in range(self.rng.choice((0, 0, 0, 0, 1, 1, 2))):
            self.restore(before)
            self.line(f"elif {self.test()}:")
            left = self.body()
            ends.append((*self.snapshot(), left))
        self.restore(before)
        if self.chance(0.5):
            self.line("else:")
            left = self.body()
            ends.append((*self.snapshot(), left))
        else:
            ends.append((*before, False))
        self.branches(ends)
        return all(left for _, _, left in ends)

    def while_(self) -> None:
        """Writes a while loop with a counter that bounds it."""
        counter = self.new("k")
        bound = self.pick((f"{counter} < {self.rng.randint(2, 7)}", f"{counter} < {self.bound()}"))
        test = self.pick(
            (
                bound,
                f"{bound} and {self.test()}",
                f"{self.test()} and {bound}",
                f"not {counter} >= {self.bound()}",
            )
        )
        limit = self.bound()
        self.line(f"{counter} = 0")
        self.bind(counter, "int")
        self.locked.add(counter)
        if self.chance(0.08):
            test = "True"
        before = self.snapshot()
        self.line(f"while {test}:")
        self.loops += 1
        with self.block():
            self.line(f"{counter} += 1")
            if test == "True":
                self.line(f"if {counter} > {limit}:")
                self.line("    break")
            for _ in range(self.rng.randint(1, 3)):
                if self.statement():
                    break
        self.loops -= 1
        self.locked.discard(counter)
        self.loop_end(before)

    def loop_end(self, before: tuple[Names, Names]) -> None:
        """Joins the names after a loop, writes `else` sometimes."""
        after = self.snapshot()
        self.branches([(*before, False), (*after, False)])
        if self.chance(0.15):
            saved = self.snapshot()
            self.line("else:")
            left = self.body(2)
            self.branches([(*saved, False), (*self.snapshot(), left)])

    def for_(self) -> None:
        """Writes a for loop over a range."""
        before = self.snapshot()
        item = self.new("i") if self.chance(0.8) else self.target("int")
        header = self.pick(
            (
                f"range({self.bound()})",
                f"range({self.bound()})",
                f"range({self.rng.randint(1, 5)})",
                f"range({self.rng.randint(-2, 2)}, {self.bound()})",
                f"range({self.bound()}, -1, -1)",
                f"range(0, {self.bound()}, {self.pick((2, 3))})",
                f"reversed(range({self.bound()}))",
                f"({self.atom('num')}, {self.atom('float')}, {self.number()})",
                f"[{self.atom('int')}, {self.number()}]",
            )
        )
        kind = "int" if "range" in header else "num"
        if self.chance(0.15):
            index = self.new("j")
            self.line(f"for {index}, {item} in enumerate({header}):")
            self.bind(index, "int")
        else:
            self.line(f"for {item} in {header}:")
        self.bind(item, kind)
        self.loops += 1
        self.body()
        self.loops -= 1
        self.loop_end(before)

    def try_(self) -> bool:
        """Writes try/except/else/finally."""
        before = self.snapshot()
        self.line("try:")
        self.handlers += 1
        with self.block():
            left = False
            for _ in range(self.rng.randint(1, 3)):
                if self.chance(0.4):
                    self.risky()
                if left := self.statement():
                    break
        self.handlers -= 1
        inside = (*self.snapshot(), left)
        # anything assigned in the body may or may not be bound in a handler
        self.branches([(*before, False), (*self.snapshot(), False)])
        broken = self.snapshot()
        ends = []
        for clause in self.except_clauses():
            self.restore(broken)
            self.line(f"except {clause}:")
            with self.block():
                if " as " in clause and self.chance(0.6):
                    name = clause.split(" as ")[1]
                    if self.chance(0.5):
                        self.line(f"print({name})")
                    else:
                        self.line(f"{self.new('s')} = str({name})")
                end = False
                for _ in range(self.rng.randint(0, 2)):
                    if end := self.statement():
                        break
                else:
                    if self.chance(0.12):
                        self.line(self.pick(("raise", "raise ValueError('again') from None")))
                        end = True
            ends.append((*self.snapshot(), end))
        self.restore((inside[0], inside[1]))
        if self.chance(0.25) and not left:
            self.line("else:")
            left = self.body(2)
            inside = (*self.snapshot(), left)
        ends.append(inside)
        all_left = all(end for _, _, end in ends)
        self.branches(ends)
        if self.chance(0.3):
            self.line("finally:")
            with self.block():
                self.handlers += 1
                for _ in range(self.rng.randint(1, 2)):
                    self.pick((self.assign, self.augmented, self.print_))()
                self.handlers -= 1
        return all_left

    def except_clauses(self) -> list[str]:
        """The exceptions of the handlers of a try."""
        options = [
            "ZeroDivisionError",
            "ValueError",
            "(TypeError, ValueError)",
            "Exception",
            "ArithmeticError",
            "KeyError",
            "IndexError",
            "LookupError",
            "UnboundLocalError",
            "AssertionError",
            "OverflowError",
        ]
        count = self.rng.choice((1, 1, 1, 2))
        chosen = [self.pick(options[:4]) if self.chance(0.75) else self.pick(options) for _ in range(count)]
        return [f"{clause} as {self.new('e')}" if self.chance(0.35) else clause for clause in chosen]

    def risky(self) -> None:
        """Writes a statement that raises for some inputs."""
        name = self.new("v")
        text = self.pick(
            (
                f"{self.expr('int', 1)} // {self.atom('int')}",
                f"{self.expr('float', 1)} / {self.atom('num')}",
                f"{self.number()} % {self.atom('num')}",
                f"int({self.atom('any')})",
                f"math.sqrt({self.atom('num')})",
                f"{self.atom('any')} + {self.atom('num')}",
                f"(1, 2, 3)[{self.atom('int')}]",
                f"math.log({self.atom('num')})",
                f"float({self.atom('any')})",
                f"1 << {self.atom('int')} % 60",
                f"[5, 6][{self.atom('int')}]",
            )
        )
        self.line(f"{name} = {text}")
        self.bind(name, "num")

    def print_(self) -> None:
        """Writes a print."""
        items = [self.printed() for _ in range(self.rng.choice((1, 1, 2, 3)))]
        option = self.pick(
            ("", "", "", "", ", sep='-'", ", end=';'", ", sep='', end='|\\n'", ", sep=None, flush=True")
        )
        self.line(f"print({', '.join(items)}{option})")

    def printed(self) -> str:
        """An expression to print."""
        name = self.atom("any")
        number = self.atom("num")
        kind = self.pick((0, 1, 2, 3, 4, 5, 6))
        if kind == 0:
            return repr(self.pick(("x", "loop", "a b", "")))
        if kind == 1:
            return f"f'{name}={{{name}}}'" if name.isidentifier() else f'f"{{{name}!r}}"'
        if kind == 2:
            spec = self.pick((":.2f", ":8.3e", "!r", ":>6", ":g", "!s:>8", "=", ":+.1f"))
            return f"f'<{{{number}{spec}}}>'" if number.isidentifier() else number
        if kind == 3:
            return self.expr(self.scalar_kind(), 2)
        return str(
            self.pick(
                (
                    name,
                    number,
                    f"str({name})",
                    f"repr({number})",
                    f"'%s' % {number}",
                    f"type({name}).__name__",
                )
            )
        )

    def unpack(self) -> None:
        """Writes tuple unpacking or a swap."""
        free = [n for n in self.names if n not in self.locked]
        style = self.rng.random()
        if style < 0.4 and len(free) >= 2:
            x, y = self.rng.sample(free, 2)
            self.line(f"{x}, {y} = {y}, {x}")
            self.names[x], self.names[y] = self.names[y], self.names[x]
        elif style < 0.5 and len(free) >= 3:
            x, y, z = self.rng.sample(free, 3)
            self.line(f"{x}, {y}, {z} = {y}, {z}, {x}")
            self.names[x], self.names[y], self.names[z] = self.names[y], self.names[z], self.names[x]
        elif style < 0.7:
            x, y = self.target("int"), self.new("v")
            self.line(f"{x}, {y} = divmod({self.expr('int', 1)}, {self.divisor('int')})")
            self.bind(x, "int")
            self.bind(y, "int")
        else:
            kinds = [self.pick(("int", "float", "num")) for _ in range(2)]
            values = [self.clamp(self.expr(kind, 1), kind) for kind in kinds]
            x, y = self.target(kinds[0]), self.new("v")
            pattern = self.pick((f"{x}, {y}", f"({x}, {y})", f"{x}, *{self.new('r')}, {y}"))
            self.line(f"{pattern} = {', '.join(values)}")
            self.bind(x, kinds[0])
            self.bind(y, kinds[1])

    def guarded_leave(self) -> None:
        """Writes a return or raise in an if."""
        self.line(f"if {self.test()}:")
        with self.block():
            self.leave()

    def guarded_break(self) -> None:
        """Writes a break or continue in an if."""
        self.line(f"if {self.test()}:")
        with self.block():
            if self.chance(0.3):
                self.pick((self.assign, self.augmented, self.print_))()
            self.line(self.pick(("break", "continue")))

    def leave(self) -> bool:
        """Writes a statement that leaves the block."""
        choice = self.rng.random()
        if self.loops and choice < 0.35:
            self.line(self.pick(("break", "continue")))
        elif choice < 0.8 or not (self.handlers or self.chance(0.4)):
            value = self.pick(
                (self.atom("any"), self.expr("num", 2), f"({self.atom('any')}, {self.number()})", "None", "")
            )
            self.line(f"return {value}".rstrip())
        else:
            self.line(f"raise {self.exception()}")
        return True

    def exception(self) -> str:
        """An exception to raise."""
        kind = self.pick(
            ("ValueError", "ValueError", "KeyError", "ZeroDivisionError", "RuntimeError", "TypeError")
        )
        return str(
            self.pick(
                (
                    kind,
                    f"{kind}('bad')",
                    f"{kind}({self.atom('num')})",
                    f"{kind}(f'bad {{{self.atom('num')}}}')",
                    f"{kind}('bad', {self.atom('num')})",
                )
            )
        )

    def assert_(self) -> None:
        """Writes an assert that mostly holds."""
        test = f"{self.test()} or {self.test()}" if self.chance(0.7) else self.test()
        self.line(
            f"assert {test}"
            + self.pick(("", ", 'failed'", f", f'got {{{self.atom('num')}}}'", f", {self.atom('num')}"))
        )

    def delete(self) -> None:
        """Deletes a name."""
        free = [n for n in self.names if n not in self.locked]
        if len(free) > 3:
            name = self.pick(free)
            self.line(f"del {name}")
            self.maybe[name] = self.names.pop(name)

    def walrus(self) -> None:
        """Writes an if with an assignment in its test."""
        name = self.new("w")
        value = self.expr("int", 2)
        test = self.pick(
            (f"({name} := {value}) > {self.number()}", f"{self.test()} and ({name} := {value}) > 0")
        )
        before = self.snapshot()
        self.line(f"if {test}:")
        saved = dict(self.names)
        self.bind(name, "int")
        left = self.body(2)
        inside = (*self.snapshot(), left)
        self.names = saved
        self.branches([inside, (*before, False)])
        if not test.startswith("("):
            return
        self.bind(name, "int")

    def call_helper(self) -> None:
        """Writes a call of a helper."""
        name = self.target("any")
        self.line(f"{name} = {self.helper_call()}")
        self.bind(name, "any")

    def helper_call(self) -> str:
        """The call of a helper."""
        helper = self.pick(sorted(self.helpers))
        values = [self.bound() if kind == "small" else self.expr(kind, 1) for kind in self.helpers[helper]]
        return f"{helper}({', '.join(values)})"

    # -- expressions ----------------------------------------------------------------------------------

    def number(self) -> str:
        """A literal."""
        return str(self.pick((0, 1, 2, 3, 5, -1, -2, 0.5, 2.0, -1.5, 10, 7)))

    def constant(self, kind: str) -> str:
        """A literal of a kind."""
        options = {
            "int": (0, 0, 1, 2, 3, -1, 5, 7),
            "float": (0.0, 1.0, 0.5, -2.5, 3.25),
            "num": (0, 1, 0.0, 2.5, True, "np.float64(1.5)"),
            "bool": (True, False),
            "none": (None,),
            "str": ("'s'", "'ab'", "''"),
            "any": (None, 0, 1.5, "'t'", True, "1j", "np.int64(3)"),
        }
        return str(self.pick(options.get(kind, options["any"])))

    def atom(self, kind: str) -> str:
        """A name of a kind if there is one, else a literal."""
        if kind == "any":
            found = [n for n in self.names if self.is_scalar(self.names[n])]
        elif kind == "num":
            found = [n for n, k in self.names.items() if k in ("int", "float", "num", "bool")]
        else:
            found = [n for n, k in self.names.items() if k == kind]
        if self.maybe and self.chance(0.03):
            found = [n for n in self.maybe if self.maybe[n] == kind or kind == "any"] or found
        if found and self.chance(0.93):
            given = [n for n in found if len(n) == 1]  # parameters: their values are not known to the trace
            return str(self.pick(given if given and self.chance(0.3) else sorted(found)))
        other = [n for n, k in self.names.items() if k in ("int", "float", "num", "bool")]
        if kind == "bool" and other:
            return f"({self.pick(other)} {self.pick(('<', '>', '<=', '!='))} {self.number()})"
        return self.constant(kind)

    def is_scalar(self, kind: str) -> bool:
        """Whether a kind is one of the scalars of level a."""
        return kind in ("int", "float", "num", "bool", "none", "str", "any")

    def bound(self) -> str:
        """A small number of turns that depends on a name."""
        value = self.atom("int")
        if not value.isidentifier() and self.chance(0.8):
            floats = [n for n, k in self.names.items() if k in ("float", "bool")]
            if floats:
                return (
                    f"int(min({self.pick(sorted(floats))}, 3))"
                    if self.chance(0.5)
                    else f"min(int(abs({self.pick(sorted(floats))}) < 2) + 1, 3)"
                )
        return str(
            self.pick(
                (
                    f"{value} % {self.rng.randint(2, 6)}",
                    f"min({value}, {self.rng.randint(2, 6)})",
                    f"abs({value}) % 5",
                )
            )
        )

    def divisor(self, kind: str) -> str:
        """A divisor that is zero only sometimes."""
        if self.chance(0.2):
            return self.atom(kind)
        if self.chance(0.5):
            return str(self.pick((2, 3, 7, -3, 0.5 if kind != "int" else 4)))
        return f"(abs({self.atom(kind)}) + 1)"

    def expr(self, kind: str, depth: int = 3) -> str:
        """An expression of a kind."""
        if depth <= 0 or self.chance(0.2):
            return self.atom(kind)
        maker = getattr(self, f"{kind}_expr", None)
        return str(maker(depth - 1)) if maker is not None else self.atom(kind)

    def test(self, depth: int = 2) -> str:
        """A test, mostly one that depends on names."""
        return self.expr("bool", depth) if self.chance(0.9) else self.atom("any")

    def int_expr(self, d: int) -> str:
        """An integer."""
        e = lambda: self.expr("int", d)
        return str(
            self.pick(
                (
                    lambda: f"{e()} + {e()}",
                    lambda: f"({e()} - {e()})",
                    lambda: f"({e()}) * {self.atom('int')}",
                    lambda: f"({e()}) // {self.divisor('int')}",
                    lambda: f"({e()}) % {self.divisor('int')}",
                    lambda: f"abs({e()})",
                    lambda: f"min({e()}, {e()})",
                    lambda: f"max({e()}, {e()}, {self.rng.randint(0, 3)})",
                    lambda: f"-({e()})",
                    lambda: f"({e()} if {self.expr('bool', d)} else {e()})",
                    lambda: f"({e()}) ** {self.pick((2, 0, 1, 3))}",
                    lambda: f"(({e()}) & {self.pick((7, 3, 12))})",
                    lambda: f"(({e()}) ^ ({e()}))",
                    lambda: f"(({e()} & 15) << ({self.atom('int')} & 3))",
                    lambda: f"(({e()}) >> 1)",
                    lambda: f"~({e()})",
                    lambda: f"int({self.finite(d)})",
                    lambda: f"round({self.finite(d)})",
                    lambda: f"int({self.expr('bool', d)})",
                    lambda: f"len(str({self.atom('int')}))",
                    lambda: f"pow({self.atom('int')} % 7, 3, 11)",
                    lambda: f"math.floor({self.finite(d)})",
                    lambda: f"divmod({e()}, 4)[1]",
                    lambda: f"{e()} + {self.number_int()}",
                    lambda: f"{e()} + {self.number_int()}",
                    lambda: f"math.gcd({self.atom('int')}, {self.atom('int')})",
                    lambda: f"({self.atom('int')} or {e()})",
                )
            )()
        )

    def number_int(self) -> str:
        """An integer literal."""
        return str(self.pick((1, 2, 3, 5, 10)))

    def finite(self, d: int) -> str:
        """A float that can be rounded (mostly finite)."""
        return f"({self.expr('float', d)}) % 50"

    def float_expr(self, d: int) -> str:
        """A float."""
        e = lambda: self.expr("float", d)
        n = lambda: self.expr("num", d)
        return str(
            self.pick(
                (
                    lambda: f"{e()} + {n()}",
                    lambda: f"({e()} - {n()})",
                    lambda: f"({e()}) * {self.atom('num')}",
                    lambda: f"({n()}) / {self.divisor('num')}",
                    lambda: f"({e()}) // {self.divisor('num')}",
                    lambda: f"({e()}) % {self.divisor('float')}",
                    lambda: f"abs({e()})",
                    lambda: f"float({n()})",
                    lambda: f"-({e()})",
                    lambda: f"({e()} if {self.expr('bool', d)} else {e()})",
                    lambda: f"math.sin({e()} % 10)",
                    lambda: f"math.sqrt(abs({e()}))",
                    lambda: f"math.exp(-abs({e()}))",
                    lambda: f"max({e()}, {e()})",
                    lambda: f"min({e()}, {n()})",
                    lambda: f"round({e()}, 2)",
                    lambda: f"({e()} % 7) ** {self.pick((2, 0.5, -1, 1.5))}",
                    lambda: f"math.hypot({e()}, {self.atom('float')})",
                    lambda: f"math.copysign({self.atom('float')}, {self.atom('float')})",
                    lambda: f"({self.atom('float')} and {e()})",
                    lambda: f"{e()} + 0.5",
                    lambda: f"np.float64({e()})",
                    lambda: f"math.fabs({n()})",
                )
            )()
        )

    def num_expr(self, d: int) -> str:
        """A number whose type varies."""
        e = lambda: self.expr("num", d)
        return str(
            self.pick(
                (
                    lambda: f"{e()} + {e()}",
                    lambda: f"({e()} - {e()})",
                    lambda: f"({e()}) * {self.atom('num')}",
                    lambda: f"({e()}) / {self.divisor('num')}",
                    lambda: f"({e()}) // {self.divisor('num')}",
                    lambda: f"({self.expr('int', d)} if {self.expr('bool', d)} else {self.expr('float', d)})",
                    lambda: f"max({e()}, {e()})",
                    lambda: f"min({e()}, {self.number()})",
                    lambda: f"abs({e()})",
                    lambda: f"-({e()})",
                    lambda: f"({e()} or {e()})",
                    lambda: f"({e()} and {e()})",
                    lambda: f"({self.atom('num')} % 5) ** ({self.atom('int')} % 3)",
                    lambda: f"2 ** ({self.atom('int')} % 5 - 2)",
                    lambda: f"sum(({e()}, {e()}))",
                    lambda: self.expr("int", d),
                    lambda: self.expr("float", d),
                    lambda: f"np.float32({self.atom('num')})",
                    lambda: f"round({self.finite(d)}, 1)",
                    lambda: f"({self.expr('bool', d)}) + {e()}",
                    lambda: f"np.sqrt(abs({e()}))",
                    lambda: f"np.maximum({e()}, {self.number()})",
                )
            )()
        )

    def any_expr(self, d: int) -> str:
        """A value of any scalar type."""
        if self.helpers and self.chance(0.2):
            return self.helper_call()
        return str(
            self.pick(
                (
                    lambda: f"({self.expr('num', d)} if {self.expr('bool', d)} else None)",
                    lambda: f"(None if {self.expr('bool', d)} else {self.expr('float', d)})",
                    lambda: f"({self.atom('any')} or {self.atom('any')})",
                    lambda: f"({self.atom('any')} if {self.atom('any')} is not None else 0)",
                    lambda: f"complex({self.atom('num')}, {self.number()})",
                    lambda: self.expr("num", d),
                    lambda: f"({self.atom('num')} + 1j)",
                    lambda: f"({self.atom('str')} if {self.expr('bool', d)} else {self.atom('num')})",
                )
            )()
        )

    def str_expr(self, d: int) -> str:
        """A string."""
        return str(
            self.pick(
                (
                    lambda: f"str({self.atom('num')})",
                    lambda: f'f"{{{self.atom("num")}}}!"',
                    lambda: f"({self.atom('str')} if {self.expr('bool', d)} else 'no')",
                    lambda: f"{self.atom('str')} + 'z'",
                )
            )()
        )

    def bool_expr(self, d: int) -> str:
        """A truth value, mostly a comparison."""
        n = lambda: self.expr("num", d)
        b = lambda: self.expr("bool", d)
        compare = lambda: self.pick(("<", "<=", ">", ">=", "==", "!="))
        return str(
            self.pick(
                (
                    lambda: f"{n()} {compare()} {n()}",
                    lambda: f"{self.atom('num')} {compare()} {self.number()}",
                    lambda: f"{self.atom('num')} > {n()}",
                    lambda: f"{self.expr('int', d)} % {self.pick((2, 3))} == {self.pick((0, 1))}",
                    lambda: f"({b()} and {b()})",
                    lambda: f"({b()} or {b()})",
                    lambda: f"not {b()}",
                    lambda: (
                        f"{self.number()} {self.pick(('<', '<='))} {self.atom('num')} {self.pick(('<', '<='))} {n()}"
                    ),
                    lambda: f"{self.atom('any')} is {self.pick(('None', 'not None'))}",
                    lambda: (
                        f"isinstance({self.atom('any')}, {self.pick(('int', 'float', '(int, float)', 'bool', 'np.floating'))})"
                    ),
                    lambda: f"{self.atom('int')} in (1, 2, {self.number()})",
                    lambda: f"{self.atom('any')} == {self.atom('any')}",
                    lambda: f"bool({n()})",
                    lambda: (
                        f"{self.atom('num')} {compare()} {self.atom('num')} {compare()} {self.atom('num')}"
                    ),
                    lambda: f"{self.atom('int')} not in range({self.bound()})",
                )
            )()
        )
