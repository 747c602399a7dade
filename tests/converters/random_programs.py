"""Random functions with nested control flow, unbound names, closures and exceptions, as source text."""

from __future__ import annotations

import random

NAMES = ["a", "b", "c", "d", "e"]

PRELUDE = """
from tests.converters.samples import Boom, Log, tell

FUEL = [0]


def fuel():
    FUEL[0] -= 1
    return FUEL[0] > 0


def boom(x):
    if x in (1, 3):
        raise Boom(f"boom {x}")
    return x


g = 5
"""


class Generator:
    """Writes one random function; the same seed gives the same function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 0
        self.functions = 0
        self.uses_global = False
        self.size = self.random.choice([15, 30, 70])

    def program(self, name: str = "f") -> str:
        self.lines = []
        self.uses_global = self.random.random() < 0.2
        self.generator = False
        self.function(name, "a, b=2", top=True)
        return "\n".join(self.lines) + "\n"

    # --- helpers

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def pick(self, *options):
        return self.random.choice(options)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def name(self) -> str:
        return self.pick(*NAMES, *(["g"] if self.uses_global else []))

    # --- expressions

    def atom(self) -> str:
        return self.pick(
            self.name(), self.name(), self.name(), str(self.random.randint(0, 4)), "g", "None", "'s'"
        )

    def expression(self, depth: int = 0, scoped: bool = True) -> str:
        if depth > 2 or self.chance(0.4):
            return self.atom()
        sub = lambda: self.expression(depth + 1, scoped)
        kind = self.random.randint(0, 20)
        if kind < 6:
            return f"({sub()} {self.pick('+', '-', '*', '%', '//')} {sub()})"
        if kind < 8:
            return f"({sub()} {self.pick('and', 'or')} {sub()})"
        if kind == 8:
            return f"(not {sub()})"
        if kind == 9:
            return f"({sub()} if {self.test(depth + 1)} else {sub()})"
        if kind == 10:
            return f"tell({sub()})"
        if kind == 11:
            return f"boom({sub()})"
        if kind == 12:
            return f"[{sub()}, *[{sub()}]][{self.random.randint(0, 2)}]"
        if kind == 13 and scoped:
            return f"({self.pick(*NAMES)} := {sub()})"
        if kind == 14:
            v = self.pick("x", *NAMES)
            inner = self.expression(depth + 1, False)
            source = f"range({self.random.randint(0, 3)})"
            return f"len([{inner} for {v} in {source} if {v} != {self.random.randint(0, 2)}])"
        if kind == 15:
            v = self.pick("x", *NAMES)
            return f"sum({self.expression(depth + 1, False)} for {v} in range({self.random.randint(0, 3)}))"
        if kind == 16:
            return f"(lambda: {self.expression(depth + 1, scoped)})()"
        if kind == 17:
            return f"f'{{{self.name()}}}-{{{self.random.randint(0, 9)}:>3}}'"
        if kind == 18:
            return f"{{1: {sub()}}}[{self.random.randint(0, 2)}]"
        if kind == 19:
            return f"({self.random.randint(0, 3)} < {sub()} <= {sub()})"
        return f"({sub()}, {sub()})"

    def test(self, depth: int = 0) -> str:
        return self.pick(
            f"{self.atom()} == {self.atom()}",
            f"{self.name()} != {self.random.randint(0, 3)}",
            f"{self.atom()} is None",
            f"{self.name()}",
            f"tell({self.expression(depth + 1)})",
            f"{self.expression(depth + 1)} in (0, 1, 's')",
            f"not {self.name()}",
        )

    # --- statements

    def block(self, loop: bool, final: bool, size: int | None = None) -> None:
        self.depth += 1
        before = len(self.lines)
        for _ in range(size or self.random.randint(1, 4)):
            self.statement(loop, final)
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def statement(self, loop: bool, final: bool) -> None:
        deep = self.depth > 6 or len(self.lines) > self.size
        kind = self.random.randint(0, 11 if deep else 32)
        if kind < 3:
            self.emit(f"{self.name()} = {self.expression()}")
        elif kind == 3:
            self.emit(f"{self.name()} {self.pick('+=', '-=', '*=', '%=')} {self.expression()}")
        elif kind == 4:
            self.emit(f"print({self.expression()}, {self.name()})")
        elif kind == 5:
            self.emit(
                self.pick(
                    f"{self.name()}, {self.name()} = {self.atom()}, {self.atom()}",
                    f"{self.name()}, *{self.name()} = {self.expression()}, 1",
                    f"{self.name()} = {self.name()} = {self.expression()}",
                )
            )
        elif kind == 6:
            self.emit(f"del {self.pick(*NAMES)}" if self.chance(0.3) else "pass")
        elif kind in (7, 8):
            self.jump(loop, final)
        elif kind == 9:
            self.emit(
                self.pick(
                    f"raise Boom({self.atom()})",
                    f"assert {self.test()}, {self.atom()}",
                    "boom(1)",
                    "raise",
                    f"raise ValueError({self.atom()}) from None",
                )
            )
        elif kind in (10, 11):
            if self.generator and self.chance(0.6):
                self.emit(f"yield {self.expression()}")
            else:
                self.emit(self.expression())
        elif kind < 18:
            self.if_statement(loop, final)
        elif kind < 22:
            self.loop(final)
        elif kind < 28:
            self.try_statement(loop, final)
        elif kind == 28:
            swallow = self.pick(
                "", ", swallow=True", ", fail=True", f", fail={self.name()} == 1, swallow=True"
            )
            self.emit(f"with Log('w'{swallow}, value=1){self.pick('', ' as ' + self.name())}:")
            self.block(loop, final)
        elif kind == 29 and self.functions < 3:
            self.nested(final)
        elif kind == 30 and self.functions < 3:
            name = self.pick(*NAMES)
            self.emit(f"{name} = lambda {self.pick('', 'a', 'b=' + self.atom())}: {self.expression()}")
            if self.chance(0.5):
                self.emit(f"print({name}())")
        elif kind == 31:
            self.match(loop, final)
        else:
            self.if_statement(loop, final)

    def jump(self, loop: bool, final: bool) -> None:
        options = []
        if not final:
            options.append("return" if self.generator else f"return {self.expression()}")
            options.append("return")
        if loop:
            options += ["break", "continue", "break", "continue"]
        if options:
            self.emit(f"if {self.test()}: {self.pick(*options)}" if self.chance(0.6) else self.pick(*options))

    def if_statement(self, loop: bool, final: bool) -> None:
        self.emit(f"if {self.test()}:")
        self.block(loop, final)
        while self.chance(0.25):
            self.emit(f"elif {self.test()}:")
            self.block(loop, final)
        if self.chance(0.5):
            self.emit("else:")
            self.block(loop, final)

    def loop(self, final: bool) -> None:
        if self.chance(0.5):
            target = self.pick(*NAMES, *NAMES, f"{self.name()}, {self.pick(*NAMES)}")
            source = f"range({self.random.randint(0, 4)})"
            if "," in target:
                source = f"enumerate({source})"
            self.emit(f"for {target} in {source}:")
        else:
            test = self.pick("True", self.test(), self.test())
            self.emit(f"while fuel() and {test}:" if self.chance(0.8) or test == "True" else "while fuel():")
        # A loop inside `finally` may be left by its own jumps only.
        self.block(True, final)
        if self.chance(0.3):
            self.emit("else:")
            self.block(False, final)

    def try_statement(self, loop: bool, final: bool) -> None:
        self.emit("try:")
        self.block(loop, final)
        handlers = self.random.randint(0, 2)
        for _ in range(handlers):
            kind = self.pick("Boom", "(TypeError, Boom)", "Exception", "NameError", "ValueError")
            self.emit(f"except {kind}{self.pick('', ' as ' + self.pick(*NAMES))}:")
            self.block(loop, final)
        if handlers and self.chance(0.3):
            self.emit("else:")
            self.block(loop, final)
        if not handlers or self.chance(0.4):
            self.emit("finally:")
            self.block(False, True)

    def match(self, loop: bool, final: bool) -> None:
        self.emit(f"match {self.expression()}:")
        self.depth += 1
        patterns = [
            "1",
            f"[{self.pick(*NAMES)}, _]",
            "None | 's'",
            f"int({self.pick(*NAMES)})",
            f"(0, {self.pick('x', 'a')})",
        ]
        for _ in range(self.random.randint(1, 3)):
            guard = f" if {self.test()}" if self.chance(0.3) else ""
            self.emit(f"case {self.pick(*patterns)}{guard}:")
            self.block(loop, final)
        self.depth -= 1

    def nested(self, final: bool) -> None:
        self.functions += 1
        name = f"inner{self.functions}"
        was, self.generator = self.generator, self.chance(0.25)
        is_generator = self.generator
        self.function(name, self.pick("", "c=1", "*e"), top=False)
        self.generator = was
        call = f"list({name}())" if is_generator else f"{name}()"
        for _ in range(self.random.randint(0, 2)):
            self.emit(f"{self.name()} = {call}" if self.chance(0.5) else f"print({call})")

    def function(self, name: str, parameters: str, top: bool) -> None:
        self.emit(f"def {name}({parameters}):")
        self.depth += 1
        if self.uses_global:
            self.emit("global g")
        bound = {p.split("=")[0].strip(" *") for p in parameters.split(",")}
        mine = [n for n in NAMES if n not in bound]
        if not top and mine and self.chance(0.6):
            self.emit("nonlocal " + ", ".join(self.random.sample(mine, self.random.randint(1, len(mine)))))
        if top:
            self.emit("if a == 9: c = d = e = 0")  # all names are locals of the outermost function
            if self.chance(0.7):
                self.emit("c = 0; d = 1; e = None")
        self.depth -= 1
        start = len(self.lines)
        self.block(False, False, self.random.randint(3, 7) if top else None)
        if self.generator and not any("yield" in line for line in self.lines[start:]):
            self.depth += 1
            self.emit("yield 1")
            self.depth -= 1
