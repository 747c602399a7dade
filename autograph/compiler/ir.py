"""Writes LLVM IR as text: blocks that may be continued, phis that are completed later."""

from __future__ import annotations

import re
import struct

from autograph.compiler.support import DECLARATIONS


def float_literal(value: float, type_: str = "double") -> str:
    """The exact literal of a float.

    >>> float_literal(1.5)
    '0x3FF8000000000000'
    """
    if type_ == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0] if abs(value) < 3.5e38 else value
    return "0x" + struct.pack(">d", value).hex().upper()


def constant_float(literal: str) -> float:
    """The number of a floating-point literal.

    >>> constant_float(float_literal(2.5))
    2.5
    """
    return float(struct.unpack(">d", bytes.fromhex(literal[2:]))[0])


class Phi:
    """A phi whose incoming values may be added until the function is finished."""

    def __init__(self, name: str, type: str) -> None:
        self.name, self.type = name, type
        self.incoming: list[tuple[str, str]] = []

    def text(self) -> str:
        pairs = ", ".join(f"[ {value}, %{block} ]" for value, block in self.incoming)
        return f"  {self.name} = phi {self.type} {pairs}"


COLD = frozenset({"ag_call0", "ag_failed", "ag_look", "ag_push"})
"""Functions that are called where an exception is about to be raised, or once in many turns."""

SHORT = frozenset(
    {
        *("Py_IncRef", "Py_DecRef", "PyFloat_FromDouble", "PyLong_FromLongLong", "PyLong_AsLongLong"),
        *("PyBool_FromLong", "PyTuple_New", "PyList_Append"),
    }
)
"""Functions that nearly always take less than a microsecond: they make no turn of a loop a long one."""

INLINED = 2
"""How often a function of vector mathematics is used in a module, at most, to be inlined."""


class Module:
    """The functions, declarations and globals of one compilation."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self.globals: dict[str, str] = {}
        self.parts: dict[str, str] = {}  # the names of the outlined functions, by their bodies

    def declare(self, name: str, result: str, *params: str, attributes: str = "") -> str:
        text = f"declare {result} @{name}({', '.join(params)}) {attributes}".rstrip()
        self.declarations.setdefault(name, DECLARATIONS.get(name, text))
        return f"@{name}"

    def text(self) -> str:
        functions = {name: self._inlined(name, body) for name, body in self.functions.items()}
        parts = [*self.globals.values(), *self.declarations.values(), *functions.values()]
        return "\n".join(parts) + "\n"

    def _inlined(self, name: str, body: str) -> str:
        """A function; vector mathematics that is used little is inlined, which is faster in all ways."""
        if not name.startswith("ag.") or " noinline" in body:
            return body
        uses = sum(other.count(f"@{name}(") for other in self.functions.values()) - 1
        return body.replace(" nounwind", " alwaysinline nounwind", 1) if uses <= INLINED else body


PURE = re.compile(
    r"(?:getelementptr|add|sub|mul|and|or|xor|shl|[al]shr|icmp|select|[sz]ext|trunc|[us]div|[us]rem) [^<]*$"
    r"|call i64 @llvm\.(?:[su]m(?:in|ax)|abs)\."
    r"|load ptr, .*!invariant\.load"
)
"""Instructions that give the same again for the same operands: indices, addresses, tests of them."""


class LateJump(Exception):
    """A jump to a block comes from where values may be missing that were taken for known in that block."""


class Dominators:
    """Which block is sure to have run before another one, as far as the jumps that are written tell.

    The blocks that jump to a block are known when it is opened, but for those of a loop that turn back, which
    the block itself dominates. A block that is opened before any jump to it is never run, unless it is told
    what is above it.
    """

    def __init__(self) -> None:
        self.parent: dict[str, str] = {}  # the nearest block that dominates it; the first block has itself
        self.far: dict[str, str] = {}  # some block above it, further away
        self.depth: dict[str, int] = {}
        self.jumps: dict[str, list[str]] = {}  # to blocks that are not open yet
        self.dead: set[str] = set()

    def jump(self, source: str, target: str) -> None:
        """Notes a jump from a block to another one."""
        if target not in self.depth:
            self.jumps.setdefault(target, []).append(source)
        elif source not in self.dead and (
            target in self.dead or not self.dominates(self.parent[target], source)
        ):
            raise LateJump(target)

    def open(self, label: str, parent: str | None = None) -> None:
        """Opens a block: what jumps to it later comes from blocks that it, or its `parent`, dominates."""
        sources = [source for source in self.jumps.pop(label, []) if source not in self.dead]
        if sources and parent is None:
            parent = sources[0]
            for source in sources[1:]:
                parent = self.common(parent, source)
        if parent is None:
            if self.depth:
                self.dead.add(label)
            self.depth[label], self.parent[label], self.far[label] = 0, label, label
            return
        if parent in self.dead:
            self.dead.add(label)
        self.parent[label] = parent
        self.depth[label] = self.depth[parent] + 1
        near, far = self.far[parent], self.far[self.far[parent]]
        even = self.depth[parent] - self.depth[near] == self.depth[near] - self.depth[far]
        self.far[label] = far if even else parent

    def above(self, label: str, depth: int) -> str:
        """The block of a depth that dominates a block."""
        while self.depth[label] > depth:
            far = self.far[label]
            label = far if self.depth[far] >= depth else self.parent[label]
        return label

    def dominates(self, first: str, second: str) -> bool:
        """Whether the first block, or what is written in it, comes before the second one."""
        depth = self.depth[first]
        return depth <= self.depth[second] and self.above(second, depth) == first

    def common(self, a: str, b: str) -> str:
        """The last block that dominates both."""
        depth = min(self.depth[a], self.depth[b])
        a, b = self.above(a, depth), self.above(b, depth)
        while a != b:
            if self.depth[a] == 0:
                raise LateJump(b)
            a, b = self.parent[a], self.parent[b]
        return a


class Builder:
    """The body of one function; instructions go to the end of the current block.

    An instruction that gives what one before it gave is not written again: so equal indices, dimensions and
    addresses have one name, by which they are known to be equal.
    """

    def __init__(self, module: Module, numbered: bool = True) -> None:
        self.module = module
        self.numbered = numbered
        self.dominators = Dominators()
        self.known: dict[str, list[tuple[str, str]]] = {}  # by instruction: block and name
        self.true: dict[str, list[str]] = {}  # by the name of a test: blocks from which on it holds
        self.blocks: dict[str, list[str | Phi]] = {}
        self.counter = 0
        self.allocas: list[str] = []
        self.block = ""
        self.heavy = False  # something was written that may take long: a loop over elements, a call
        self.origins: dict[str, str | Phi] = {}  # what makes each value
        self.outlining = False  # what is written stays together: no part of it becomes a function
        self.prefix = ""  # of new names
        self.start("entry")

    def name(self, hint: str = "v") -> str:
        self.counter += 1
        return f"%{self.prefix}{hint}{self.counter}"

    def label(self, hint: str) -> str:
        self.counter += 1
        return f"{self.prefix}{hint}{self.counter}"

    def start(self, label: str, after: str | None = None) -> None:
        """Opens a new block and goes to its end; `after` is a block that will jump to it, or lead there."""
        if self.numbered:
            self.dominators.open(label, after)
        self.blocks[label] = []
        self.block = label

    def switch(self, label: str) -> None:
        """Goes on at the end of an earlier block."""
        self.block = label

    def emit(self, text: str) -> None:
        self.blocks[self.block].append("  " + text)

    def value(self, text: str, hint: str = "v") -> str:
        if self.numbered and PURE.match(text):
            known = self.known.setdefault(text, [])
            for block, name in known:
                if self.dominators.dominates(block, self.block):
                    return name
            name = self.name(hint)
            known.append((self.block, name))
        else:
            name = self.name(hint)
        self.blocks[self.block].append(f"  {name} = {text}")
        self.origins[name] = text
        return name

    def alloca(self, type_: str, align: int = 8) -> str:
        name = self.name("a")
        self.allocas.append(f"  {name} = alloca {type_}, align {align}")
        self.origins[name] = "alloca"
        return name

    def phi(self, type_: str, hint: str = "p") -> Phi:
        phi = Phi(self.name(hint), type_)
        self.origins[phi.name] = phi
        block = self.blocks[self.block]
        at = 0
        while at < len(block) and isinstance(block[at], Phi):
            at += 1
        block.insert(at, phi)
        return phi

    def holds(self, test: str) -> bool:
        """Whether a test is known to be true here."""
        return self.numbered and any(
            self.dominators.dominates(block, self.block) for block in self.true.get(test, ())
        )

    def follows(self, block: str) -> bool:
        """Whether a block is sure to have run before what is written now."""
        return (
            self.numbered and block in self.dominators.depth and self.dominators.dominates(block, self.block)
        )

    def is_true(self, text: str) -> bool:
        """Whether the test that an instruction makes is known to be true here."""
        return any(self.holds(name) for _, name in self.known.get(text, ()))

    def jump(self, label: str, attachment: str = "") -> None:
        if self.numbered:
            self.dominators.jump(self.block, label)
        self.emit(f"br label %{label}{attachment}")

    def branch(self, test: str, then: str, orelse: str, unlikely: str = "") -> None:
        """`unlikely` names the side that is hardly ever taken: "then", "else" or neither."""
        for label in (then, orelse) if self.numbered else ():
            self.dominators.jump(self.block, label)
        weights = {"then": ", !prof !1", "else": ", !prof !0"}.get(unlikely, "")
        self.emit(f"br i1 {test}, label %{then}, label %{orelse}{weights}")

    def call(self, result: str, name: str, *args: str, attributes: str = "") -> str:
        """Calls a function that is declared on the way; `args` are 'type value' pairs."""
        types = [arg[: arg.index(">") + 1] if arg[0] == "<" else arg.split(" ", 1)[0] for arg in args]
        if name not in self.module.functions and name not in self.module.declarations:
            self.module.declare(name, result, *types, attributes=attributes)
        light = name.startswith("llvm.") or name in COLD | SHORT or "memory(none)" in attributes
        self.heavy = self.heavy or not light
        text = f"call {result} @{name}({', '.join(args)})"
        if result == "void":
            self.emit(text)
            return ""
        return self.value(text)

    def function(self, head: str) -> str:
        """The text of the function; `head` is all that stands before the body."""
        lines = [head + " {"]
        for label, block in self.blocks.items():
            lines.append(f"{label}:")
            if label == "entry":
                lines += self.allocas
            lines += [item if isinstance(item, str) else item.text() for item in block]
        lines.append("}")
        return "\n".join(lines)


PROFILE = '!0 = !{!"branch_weights", i32 2000, i32 1}\n!1 = !{!"branch_weights", i32 1, i32 2000}\n'
"""The metadata that `Builder.branch` refers to."""
