"""Random programs of level c: lists, dicts, sets, objects, closures, recursion, generators, `with`.

Kinds of names: `list` (of numbers), `dict` (from strings to numbers), `set`, `tup` (of numbers), `obj`
(an instance of `Acc` or `Sub`), `vec` (of `Vec`), `fn` (a function of one number); arrays occur as well.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable

from tests.programs.arrays import ArrayWriter

__all__ = ["ObjectWriter"]

GROWTH = re.compile(r"append|extend|insert|scope|\+= [\[(]|\.add|\.run|\[.*:.*\] =|^ *(with|def) ")
"""What stands in a line that may make a list longer, also a list under another name."""

CONTAINERS = ("list", "dict", "set", "tup", "obj", "vec")

VEC = """\
class Vec:
    def __init__(self, x, y=0):
        self.x = x
        self.y = y
    def __add__(self, other):
        if isinstance(other, Vec):
            return Vec(self.x + other.x, self.y + other.y)
        return Vec(self.x + other, self.y)
    __radd__ = __add__
    def __mul__(self, k):
        return Vec(self.x * k % 1009, self.y * k % 1009)
    def __neg__(self):
        return Vec(-self.x, -self.y)
    def __eq__(self, other):
        return isinstance(other, Vec) and self.x == other.x and self.y == other.y
    def __lt__(self, other):
        return self.x < other.x
    def __bool__(self):
        return self.x != 0
    def __iadd__(self, other):
        self.x += other.x
        self.y = @num
        return self
    def __repr__(self):
        return f'Vec({self.x}, {self.y})'
    def __abs__(self):
        return abs(self.x) + abs(self.y)
"""

ACC = """\
class Acc:
    made = 0
    def __init__(self, start=0):
        self.total = start
        self.items = []
        Acc.made += 1
    def add(self, v):
        self.total += v
        if v @compare @number:
            self.items.append(v)
        elif self.total > @number:
            @risky
        self.last = v
        return self
    @property
    def mean(self):
        return self.total / len(self.items)
    @property
    def level(self):
        return self._level if hasattr(self, '_level') else -1
    @level.setter
    def level(self, v):
        if v < 0:
            raise ValueError(f'negative {v}')
        self._level = v
    def __len__(self):
        return len(self.items)
    def __getitem__(self, i):
        return self.items[i]
    def __setitem__(self, i, v):
        self.total -= self.items[i]
        self.items[i] = v
        self.total += v
    def __iter__(self):
        for item in self.items:
            yield item
    def __contains__(self, v):
        return v in self.items
    def __call__(self, v, *more, scale=1):
        return self.total + v * scale + len(more)
    def __enter__(self):
        self.total += 1
        return self
    def __exit__(self, kind, error, trace):
        self.total -= @number
        return kind is @swallowed
    @classmethod
    def of(cls, v):
        return cls(v)
    @staticmethod
    def twice(v):
        return 2 * v
    def _helper(self, v):
        return v + 1
    def run(self, n):
        for i in range(n % 5):
            if self.total > 50:
                return i
            self.add(self._helper(i))
        return None
class Sub(Acc):
    def __init__(self, start=0, extra=1):
        super().__init__(start)
        self.extra = extra
    def add(self, v):
        if v > self.extra:
            return super().add(v - self.extra)
        self.extra = v
        return super().add(v)
    def _helper(self, v):
        return v * self.extra
class Bad(ValueError):
    def __init__(self, code):
        super().__init__(f'code {code}')
        self.code = code
"""

FUNCTIONS = """\
COUNT = 0
LOG = []
STATE = {'n': 0}
def count(v):
    global COUNT
    COUNT += 1
    if v > @number:
        LOG.append(v)
    STATE['n'] += COUNT
    return COUNT
def gen(n, v):
    i = 0
    while i < n:
        if i @compare @number:
            yield v + i
        elif v == i:
            return
        i += 1
    yield @number
def chained(n, v):
    yield from gen(n, v)
    try:
        yield n
    finally:
        LOG.append('end')
@contextmanager
def scope(items, v):
    items.append(v)
    try:
        yield len(items)
    @clause:
        items.append(@number)
        @reraise
    finally:
        items.append(-1)
def walk(tree):
    if isinstance(tree, (list, tuple)):
        total = 0
        for part in tree:
            total += walk(part)
        return total
    return tree
def search(items, v, lo=0, hi=None):
    if hi is None:
        hi = len(items)
    if lo >= hi:
        return lo
    mid = (lo + hi) // 2
    if items[mid] < v:
        return search(items, v, mid + 1, hi)
    return search(items, v, lo, mid)
def gcd(p, q):
    return p if q == 0 else gcd(q, p % q)
def even(n):
    return True if n <= 0 else odd(n - 1)
def odd(n):
    return False if n <= 0 else even(n - 1)
def fold(function, items, start=@number, *, limit=100):
    for item in items:
        start = function(start, item)
        if start > limit:
            break
    return start
def total(*values, scale=1, **named):
    result = sum(values) * scale
    for name in named:
        result += named[name]
    return result
def change(items, v):
    items[0] = v
    if v @compare @number:
        raise Bad(v)
    items.append(v)
    return items
"""


class ObjectWriter(ArrayWriter):
    """Writes programs of level c."""

    param_kinds = ("list", "list", "dict", "obj", "int", "int", "float", "num", "bool", "tup", "vec", "f1")
    array_weight = 0.15

    def header(self) -> None:
        """Writes the classes and functions."""
        self.line("from contextlib import contextmanager")
        for text in (VEC, ACC, FUNCTIONS):
            for row in text.splitlines():
                for hole, options in (
                    ("@number", ("0", "1", "2", "3", "5")),
                    ("@compare", ("<", ">", ">=", "!=")),
                    ("@num", ("self.y + other.y", "other.y", "self.y - 1")),
                    (
                        "@risky",
                        (
                            "raise Bad(v)",
                            "self.items[3] = v",
                            "self.total = None",
                            "self.total -= 50",
                            "self.items.pop()",
                        ),
                    ),
                    ("@swallowed", ("None", "ValueError", "Bad", "ZeroDivisionError", "not None")),
                    (
                        "@clause",
                        (
                            "except ValueError",
                            "except (ZeroDivisionError, IndexError)",
                            "except Exception",
                            "except Bad as e",
                        ),
                    ),
                    ("@reraise", ("raise", "pass", "raise KeyError(v)")),
                ):
                    while hole in row and not (hole == "@num" and "@number" in row):
                        row = row.replace(hole, self.pick(options), 1)
                self.line(row)

    def watched(self) -> tuple[str, ...]:
        """The globals that functions change."""
        return ("COUNT", "LOG", "STATE")

    def input(self, kind: str) -> str:
        """The text of one argument."""
        integers = [self.rng.randint(-3, 9) for _ in range(self.pick((0, 1, 2, 3, 3, 4, 5)))]
        if kind == "list":
            if self.chance(0.2):
                return repr([self.real() for _ in integers])
            return repr(integers)
        if kind == "tup":
            return repr(tuple(integers[:3]) or (1, 2))
        if kind == "dict":
            return repr({key: self.rng.randint(-3, 9) for key in ("a", "b", "c")[: self.pick((2, 3, 3))]})
        if kind == "obj":
            return str(self.pick(("Acc(1)", "Acc(0)", "Acc(2.5)", "Sub(1, 2)", "Sub(3)")))
        if kind == "vec":
            return f"Vec({self.rng.randint(-3, 5)}, {self.real()})"
        return super().input(kind)

    def returnable(self, kind: str) -> bool:
        """Functions are not compared."""
        return kind != "fn"

    # -- statements -----------------------------------------------------------------------------------

    def statements(self) -> list[tuple[float, Callable[[], bool | None]]]:
        """Adds the statements about objects."""
        loop = 1.0 if self.indent < 4 else 0.2
        return [
            *super().statements(),
            (3.0, self.list_statement),
            (1.6, self.dict_statement),
            (0.7, self.set_statement),
            (2.5, self.object_statement),
            (1.2, self.vector_statement),
            (1.5 * loop, self.closure),
            (1.6 * loop, self.container_loop),
            (1.2, self.call_function),
            (1.0 * loop, self.with_),
            (1.5, self.container_assign),
            (0.8, self.container_join),
            (0.8 * loop, self.broken_write),
        ]

    def of(self, *kinds: str) -> str | None:
        """A name of one of the kinds."""
        found = self.arrays(*kinds)
        return str(self.pick(found)) if found else None

    def place(self, kind: str) -> str:
        """A name for a container."""
        found = [name for name in self.arrays(kind) if name not in self.locked]
        if found and self.chance(0.25):
            return str(self.pick(found))
        return self.new("c")

    def container_assign(self) -> None:
        """Binds a name to a new container."""
        kind = self.pick(CONTAINERS)
        text = self.expr(kind, 2)
        name = self.place(kind)
        self.line(f"{name} = {text}")
        self.bind(name, kind)

    def container_join(self) -> None:
        """Binds a name to one container or another."""
        kind = self.pick(CONTAINERS)
        first = self.of(kind)
        if first is None:
            return self.container_assign()
        other = self.pick((self.of(kind), self.expr(kind, 1), self.expr(kind, 1)))
        name = self.place(kind)
        if self.chance(0.6):
            self.line(f"{name} = {first} if {self.test()} else {other}")
        else:
            self.line(f"{name} = {other}")
            self.line(f"if {self.test()}:")
            self.line(f"    {name} = {first}")
        self.bind(name, kind)
        return None

    def small(self, kind: str = "num") -> str:
        """A number that stays small."""
        return self.clamp(self.expr(kind, 1), kind)

    def list_statement(self) -> None:
        """Changes or reads a list."""
        name = self.of("list")
        if name is None:
            return self.container_assign()
        i, v = self.atom("int"), self.small()
        other = self.of("list") or "[1, 2]"
        if self.chance(0.25):
            target = self.target("num")
            self.line(
                f"{target} = "
                + self.pick(
                    (
                        f"{name}[{self.pick(('0', '-1', i, f'{i} % len({name})'))}]",
                        f"{name}.pop()",
                        f"len({name})",
                        f"{name}.count({v})",
                        f"{name}.index({v})",
                        f"sum({name})",
                        f"max({name})",
                        f"min({name}, default=0)",
                        f"{name}.pop(0)",
                    )
                )
            )
            self.bind(target, "num")
            return None
        self.line(
            self.pick(
                (
                    f"{name}.append({v})",
                    f"{name}.append({v})",
                    f"{name}.append({v})",
                    f"{name}[{self.pick(('0', '-1', i))}] = {v}",
                    f"{name}[{self.pick(('0', '-1', i))}] += {v}",
                    f"{name}.insert({i} % 3, {v})",
                    f"{name}.extend({other}[:3])",
                    f"{name} += [{v}]",
                    f"{name}[1:2] = [{v}, {v}]",
                    f"{name}[:] = {other}[:4]",
                    f"del {name}[0]",
                    f"{name}.remove({v})",
                    f"{name}.reverse()",
                    f"{name}.sort()",
                    f"{name}.sort(key=lambda t: -t)",
                    f"{name}.clear()",
                    f"{name}.pop()",
                    f"{name}.extend(range({self.bound()}))",
                    f"{name}[0], {name}[-1] = {name}[-1], {name}[0]",
                    f"del {name}[{i} % 2:]",
                    f"{name} += ({v},)",
                    f"print({name})",
                )
            )
        )
        return None

    def dict_statement(self) -> None:
        """Changes or reads a dict."""
        name = self.of("dict")
        if name is None:
            return self.container_assign()
        key, v = self.key(), self.small()
        if self.chance(0.3):
            target = self.target("num")
            self.line(
                f"{target} = "
                + self.pick(
                    (
                        f"{name}[{key}]",
                        f"{name}.get({key}, {v})",
                        f"{name}.pop({key}, 0)",
                        f"len({name})",
                        f"sum({name}.values())",
                        f"{name}.setdefault({key}, {v})",
                        f"({key} in {name})",
                        f"max({name}.values())",
                    )
                )
            )
            self.bind(target, "num")
            return None
        self.line(
            self.pick(
                (
                    f"{name}[{key}] = {v}",
                    f"{name}[{key}] = {v}",
                    f"{name}[{key}] += {v}",
                    f"{name}[{key}] = {name}.get({key}, 0) + 1",
                    f"{name}.update(a={v})",
                    f"del {name}[{key}]",
                    f"{name}.update({{{key}: {v}}})",
                    f"{name}.pop({key})",
                    f"print({name})",
                    f"print(list({name}.items()))",
                )
            )
        )
        return None

    def key(self) -> str:
        """A key of a dict, mostly a constant."""
        return str(self.pick(("'a'", "'b'", "'a'", "'c'", "'d'"))) if self.chance(0.93) else self.atom("int")

    def set_statement(self) -> None:
        """Changes or reads a set."""
        name = self.of("set")
        if name is None:
            return self.container_assign()
        v = self.atom("int")
        self.line(
            self.pick(
                (
                    f"{name}.add({v})",
                    f"{name}.discard({v})",
                    f"{name} |= {{{v}, 2}}",
                    f"{name}.remove({v})",
                    f"print(sorted({name}))",
                    f"{name}.update([{v}, 1])",
                    f"assert {v} in {name} or len({name}) < 9",
                )
            )
        )
        return None

    def object_statement(self) -> None:
        """Changes or reads an object."""
        name = self.of("obj")
        if name is None:
            return self.container_assign()
        v = self.small()
        other = self.of("obj") or "Acc()"
        self.pick(
            (
                lambda: self.line(f"{name}.add({v})"),
                lambda: self.line(f"{name}.add({v}).add({self.small()})"),
                lambda: self.line(f"{name}.total {self.pick(('=', '+=', '-='))} {v}"),
                lambda: self.line(f"{name}.level = {v}"),
                lambda: self.line(f"{name}.items.append({v})"),
                lambda: self.line(f"{name}.extra = {v}"),
                lambda: self.line(f"{name}[{self.pick(('0', '-1'))}] = {v}"),
                lambda: self.line(f"{name}.items = {self.of('list') or '[]'}"),
                lambda: self.line(f"{name}.total, {other}.total = {other}.total, {name}.total"),
                lambda: self.line(f"{name}.other = {other}"),
                lambda: self.line(f"del {name}.last"),
                lambda: self.line(f"setattr({name}, 'last', {v})"),
                lambda: self.number_from(
                    (
                        f"{name}.total",
                        f"{name}.mean",
                        f"len({name})",
                        f"{name}.level",
                        f"{name}[0]",
                        f"{name}({v})",
                        f"{name}({v}, 1, scale=2)",
                        f"{name}.last",
                        f"getattr({name}, 'last', 0)",
                        f"{name}.run({self.bound()})",
                        f"sum({name})",
                        f"Acc.twice({v})",
                        f"({v} in {name})",
                        "Acc.made",
                        f"{name}.twice({self.number()})",
                        f"max({name}, default=0)",
                    )
                ),
                lambda: self.number_from((f"{name}.total", f"{name}.total * 2 % 7", f"{name}.level")),
            )
        )()
        return None

    def number_from(self, options: tuple[str, ...]) -> None:
        """Binds a number."""
        text = self.pick(options)
        name = self.target("num")
        self.line(f"{name} = {text}")
        self.bind(name, "any" if "run" in text or "last" in text else "num")

    def vector_statement(self) -> None:
        """Changes or reads a vector."""
        name = self.of("vec")
        if name is None:
            return self.container_assign()
        other = self.of("vec") or "Vec(1, 2)"
        self.pick(
            (
                lambda: self.line(f"{name} += {other}"),
                lambda: self.line(f"{name}.x = {self.small()}"),
                lambda: self.line(f"{name}.y -= {self.small()}"),
                lambda: self.line(f"print({name})"),
                lambda: self.line(f"print(f'{{{name}}} {{{name}.x:.1f}}')"),
                lambda: self.number_from(
                    (
                        f"{name}.x",
                        f"abs({name})",
                        f"({name} == {other})",
                        f"({name} < {other})",
                        f"bool({name})",
                        f"max({name}, {other}).x",
                        f"({name} or {other}).y",
                        f"sum([{name}, {other}], Vec(0)).x",
                        f"(not {name})",
                    )
                ),
            )
        )()
        return None

    def closure(self) -> None:
        """Defines an inner function and calls it."""
        name, inner = self.new("g"), self.new("t")
        held = [n for n, k in self.names.items() if k in ("int", "float", "num") and n not in self.locked]
        style = self.rng.random()
        if style < 0.4 and held:
            cell = self.pick(sorted(held))
            self.line(f"def {name}({inner}):")
            with self.block():
                self.line(f"nonlocal {cell}")
                if self.chance(0.5):
                    self.line(f"if {inner} {self.pick(('<', '>'))} {self.number()}:")
                    self.line(f"    return {cell}")
                self.line(f"{cell} = {self.pick((f'{cell} + {inner}', f'({cell} - {inner}) % 101', inner))}")
                if self.chance(0.2):
                    self.line(f"if {cell} > {self.number()}: raise ValueError({cell})")
                self.line(f"return {cell} + 1")
            self.names[cell] = "num"
        elif style < 0.6:
            functions = self.new("q")
            item = self.new("i")
            late = self.pick((item, f"{item}={item}"))
            head = (
                f"lambda {inner}, {late}: {item} + {inner}"
                if "=" in late
                else f"lambda {inner}: {inner} + {item}"
            )
            self.line(
                f"{functions} = [{head} for {item} in {self.pick((f'range({self.bound()})', 'range(3)', f'(1, {self.atom(chr(110) + chr(117) + chr(109))})'))}]"
                if self.chance(0.5)
                else f"{functions} = [lambda {inner}: {inner} + {self.atom('num')}, abs]"
            )
            target = self.new("v")
            self.line(f"{target} = [{name}({self.small()}) for {name} in {functions}]")
            self.bind(target, "list")
            return
        else:
            free = self.atom("num")
            self.line(
                f"def {name}({inner}, extra={self.number()}):"
                if self.chance(0.5)
                else f"def {name}({inner}):"
            )
            with self.block():
                if self.chance(0.4):
                    self.line(f"for i in range({self.pick(('2', '3'))}):")
                    self.line(f"    if {inner} > {free}: return i")
                    self.line(f"    {inner} += {self.pick((1, 2, 0.5))}")
                self.line(f"return {inner} * 2 + {free}")
        self.bind(name, "fn")
        if held and self.chance(0.4):
            changed = self.pick(sorted(held))
            self.line(f"{changed} = {self.small()}")
            self.bind(changed, "num")
        target = self.target("num")
        call = f"{name}({self.small()})"
        self.line(
            f"{target} = "
            + self.pick(
                (
                    call,
                    call,
                    f"{call} + {name}({self.number()})",
                    f"sum(map({name}, [1, 2]))",
                    f"fold(lambda s, t: s + {name}(t), {self.of('list') or '(1, 2)'})",
                )
            )
        )
        self.bind(target, "any")

    def container_loop(self) -> None:
        """Loops over a container, generator or comprehension."""
        before = self.snapshot()
        item, index = self.new("e"), self.new("i")
        name = self.of("list", "tup") or "[1, 2, 3]"
        table = self.of("dict") or "{'a': 1, 'b': 2}"
        other = self.of("list", "tup") or "(4, 5)"
        header, kinds = self.pick(
            (
                (f"{item} in {name}", {item: "num"}),
                (f"{item} in {name}", {item: "num"}),
                (f"{index}, {item} in enumerate({name})", {item: "num", index: "int"}),
                (f"{item}, {index} in zip({name}, {other})", {item: "num", index: "num"}),
                (f"{item} in reversed({name})", {item: "num"}),
                (f"{item} in sorted({name})", {item: "num"}),
                (f"{index}, {item} in {table}.items()", {index: "str", item: "num"}),
                (f"{index} in {table}", {index: "str"}),
                (f"{item} in {table}.values()", {item: "num"}),
                (f"{item} in gen({self.bound()}, {self.atom('num')})", {item: "num"}),
                (f"{item} in chained({self.bound()}, {self.atom('int')})", {item: "num"}),
                (f"{item} in list({name})", {item: "num"}),
                (f"{item} in map(lambda t: t + 1, {name})", {item: "num"}),
                (f"{item} in filter(lambda t: t > {self.number()}, {name})", {item: "num"}),
                (f"{item} in (t * 2 for t in {name} if t > {self.atom('num')})", {item: "num"}),
                (f"{item} in {self.of('obj') or '[1]'}", {item: "num"}),
                (
                    f"{index}, {item} in enumerate(gen({self.bound()}, 2), start={self.number()})",
                    {index: "int", item: "num"},
                ),
                (f"{item} in {name}[1:]", {item: "num"}),
                (f"{item} in [{self.atom('num')}, {self.atom('num')}]", {item: "num"}),
                (f"{item} in sorted({self.of('set') or '{3, 1}'})", {item: "num"}),
            )
        )
        self.line(f"for {header}:")
        for bound, kind in kinds.items():
            self.bind(bound, kind)
        self.loops += 1
        growing = [n for n in re.findall(r"\w+", header) if before[0].get(n) in ("list", "obj")]
        held = set(growing) - self.locked
        self.locked |= held
        with self.block():
            start = len(self.lines)
            if (
                name.isidentifier()
                and self.names.get(name) == "list"
                and " sorted" not in header
                and self.chance(0.15)
            ):
                self.line(f"if len({name}) < 8: {name}.append({self.pick((item, '0'))})")
            for _ in range(self.rng.randint(1, 2)):
                if self.statement():
                    break
            if any(GROWTH.search(line) for line in self.lines[start:]):  # such a loop might never end
                for n in growing:
                    self.lines.insert(start, "    " * self.indent + f"if len({n}) > 40: break")
        self.locked -= held
        self.loops -= 1
        self.loop_end(before)

    def call_function(self) -> None:
        """Calls one of the functions of the header."""
        numbers = self.of("list", "tup") or "[3, 1]"
        n, v = self.bound(), self.small()
        target = self.target("num")
        self.line(
            f"{target} = "
            + self.pick(
                (
                    f"count({v})",
                    f"count({v})",
                    f"sum(gen({n}, {v}))",
                    f"max(gen({n}, {v}))",
                    f"walk([{v}, [{n}, ({v}, 2)]])",
                    f"walk({numbers})",
                    f"search(sorted({numbers}), {v})",
                    f"gcd(abs({self.atom('int')}), {n})",
                    f"even({n})",
                    f"len(list(chained({n}, {v})))",
                    f"fold(lambda s, t: s + t, {numbers})",
                    f"fold(lambda s, t: max(s, t), {numbers}, {v}, limit={self.number()})",
                    f"total({v}, *{numbers})",
                    f"total({v}, {n}, scale=2, k={v})",
                    f"total(**{{'p': {v}}})",
                    f"any(t > {v} for t in {numbers})",
                    f"all(t {self.pick(('>', '!='))} {v} for t in {numbers})",
                    f"sum([t for t in {numbers} if t > {v}])",
                    f"min(gen({n}, 1), default=0)",
                    f"sum(t * t for t in {numbers}) % 97",
                    f"sorted({numbers}, reverse=True)[0]",
                    f"next(iter({numbers}))" if self.chance(0.1) else f"list({numbers})[-1]",
                    f"len({{t % 3 for t in {numbers}}})",
                    f"max({numbers}, key=lambda t: -t)",
                    f"len(change([{v}, 2], {self.atom('int')}))",
                )
            )
        )
        self.bind(target, "num")

    def with_(self) -> None:
        """Writes a with statement."""
        items = self.of("list") or "LOG"
        name = self.new("w")
        owner = self.of("obj") or "Acc(1)"
        before = self.snapshot()
        header, kind = self.pick(
            (
                (f"scope({items}, {self.small()}) as {name}", "int"),
                (f"{owner} as {name}", "obj"),
                (f"{owner}", ""),
                (f"scope({items}, 1) as {name}, {owner}", "int"),
            )
        )
        self.line(f"with {header}:")
        if kind:
            self.bind(name, kind)
        self.handlers += 1
        with self.block():
            for _ in range(self.rng.randint(1, 3)):
                if self.chance(0.3):
                    self.risky()
                if self.statement():
                    break
        self.handlers -= 1
        self.branches([(*before, False), (*self.snapshot(), False)])

    def broken_write(self) -> None:
        """Writes a try whose body changes things before it may raise."""
        target = self.of("list", "dict", "obj", "vec")
        if target is None:
            return self.container_assign()
        kind = self.names[target]
        v = self.small()
        first = {
            "list": f"{target}.append({v})",
            "dict": f"{target}['a'] = {v}",
            "obj": f"{target}.add({v})",
            "vec": f"{target}.x = {v}",
        }[kind]
        second = {
            "list": f"{target}[{self.atom('int')}] = {v}",
            "dict": f"{target}['b'] += {target}[{self.key()}]",
            "obj": f"{target}.level = {v}",
            "vec": f"{target}.x, {target}.y = {v} / {self.atom('num')}, 1",
        }[kind]
        self.line("try:")
        self.line(f"    {first}")
        with self.block():
            if self.chance(0.5):
                self.risky()
        self.maybe.update(
            {name: self.names.pop(name) for name in list(self.names) if name == f"v{self.fresh}"}
        )
        self.line(f"    {second}")
        error = self.new("e")
        self.line(
            f"except {self.pick(('IndexError', 'Exception', '(KeyError, ZeroDivisionError)', 'ValueError', 'LookupError'))} as {error}:"
        )
        self.line(
            "    "
            + self.pick(
                (
                    f"print(type({error}).__name__, {error})",
                    f"count({self.number()})",
                    f"LOG.append(str({error}))",
                    "raise",
                    f"raise Bad(1) from {error}",
                )
            )
        )
        if self.chance(0.2):
            self.line("finally:")
            self.line(f"    count({self.number()})")
        return None

    # -- expressions ----------------------------------------------------------------------------------

    def atom(self, kind: str) -> str:
        """A name of a kind, or a display for containers."""
        if kind in CONTAINERS:
            return self.of(kind) or str(getattr(self, f"{kind}_expr")(0))
        return super().atom(kind)

    def list_expr(self, d: int) -> str:
        """A list of numbers."""
        x = self.of("list", "tup") or "(1, 2)"
        n = lambda: self.expr("num", d)
        return str(
            self.pick(
                (
                    lambda: f"[{n()}, {n()}]",
                    lambda: f"[{n()}, {n()}, {self.number()}]",
                    lambda: "[]",
                    lambda: f"[t + {self.atom('num')} for t in {x}]",
                    lambda: f"[t for t in {x} if t > {self.atom('num')}]",
                    lambda: f"list({x})",
                    lambda: f"sorted({x})",
                    lambda: f"[i * {self.atom('num')} for i in range({self.bound()})]",
                    lambda: f"[0] * ({self.bound()})",
                    lambda: f"list({x}) + [{n()}]",
                    lambda: f"list({x})[::-1]",
                    lambda: f"list(map(abs, {x}))",
                    lambda: f"[*{x}, {n()}]",
                    lambda: f"list(gen({self.bound()}, {self.atom('num')}))",
                    lambda: f"[a_ + b_ for a_ in {x} for b_ in (1, {self.atom('num')})][:5]",
                    lambda: f"list(range({self.bound()}))",
                    lambda: f"[p_ for p_, q_ in zip({x}, {x}) if q_ != 1]",
                )
            )()
        )

    def tup_expr(self, d: int) -> str:
        """A tuple of numbers."""
        x = self.of("list", "tup") or "[1, 2]"
        return str(
            self.pick(
                (
                    f"({self.expr('num', d)}, {self.expr('num', d)})",
                    f"tuple({x})",
                    f"({self.atom('num')}, *{x})",
                    f"({self.atom('num')},)",
                    f"tuple(t + 1 for t in {x})",
                )
            )
        )

    def dict_expr(self, d: int) -> str:
        """A dict of numbers."""
        other = self.of("dict") or "{}"
        return str(
            self.pick(
                (
                    f"{{'a': {self.expr('num', d)}, 'b': {self.expr('num', d)}}}",
                    f"dict({other})",
                    f"{{**{other}, 'c': {self.atom('num')}}}",
                    f"dict(a={self.atom('num')}, b=2)",
                    f"{other}.copy()",
                    f"{{k_: {self.atom('num')} for k_ in ('a', 'b')}}",
                    f"{{k_: v_ for k_, v_ in {other}.items() if v_ > {self.number()}}}",
                )
            )
        )

    def set_expr(self, d: int) -> str:
        """A set of numbers."""
        x = self.of("list", "tup") or "[1, 2]"
        return str(
            self.pick(
                (
                    f"{{{self.atom('int')}, {self.number_int()}}}",
                    f"set({x})",
                    f"{{t % 3 for t in {x}}}",
                    "set()",
                )
            )
        )

    def obj_expr(self, d: int) -> str:
        """An object."""
        return str(
            self.pick(
                (
                    f"Acc({self.expr('num', d)})",
                    f"Sub({self.atom('num')})",
                    f"Sub({self.atom('num')}, extra={self.atom('num')})",
                    f"Acc.of({self.atom('num')})",
                    f"Acc({self.atom('num')}).add({self.atom('num')})",
                )
            )
        )

    def vec_expr(self, d: int) -> str:
        """A vector."""
        a = self.of("vec") or "Vec(1)"
        return str(
            self.pick(
                (
                    f"Vec({self.expr('num', d)}, {self.atom('num')})",
                    f"{a} + {a}",
                    f"{a} * {self.atom('int')}",
                    f"-{a}",
                    f"{a} + {self.atom('int')}",
                    f"1 + {a}",
                    f"Vec(y={self.atom('num')}, x=2)",
                )
            )
        )

    def float_expr(self, d: int) -> str:
        """A float, mostly a scalar."""
        return super().float_expr(d)

    def bool_expr(self, d: int) -> str:
        """A test, sometimes about containers."""
        if not self.chance(0.25):
            return super().bool_expr(d)
        x, o = self.of("list", "tup", "set", "dict"), self.of("obj")
        if x is None or (o is not None and self.chance(0.4)):
            o = o or "Acc(1)"
            return str(
                self.pick(
                    (
                        f"{o}.total > {self.number()}",
                        f"len({o}) > 1",
                        f"isinstance({o}, Sub)",
                        f"hasattr({o}, 'last')",
                        f"{o} is {self.of('obj') or 'None'}",
                        f"{o}.level >= 0",
                    )
                )
            )
        return str(
            self.pick(
                (
                    f"{x}",
                    f"not {x}",
                    f"len({x}) > {self.number()}",
                    f"{self.atom('int')} in {x}",
                    f"{x} == {self.of('list', 'tup', 'dict') or '[]'}",
                    f"{x} is {self.of('list', 'dict') or 'None'}",
                    f"{self.atom('int')} not in {x}",
                    f"len({x}) == {self.atom('int')}",
                    f"{x} != []",
                )
            )
        )
