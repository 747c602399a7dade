"""A graph as a library for C: an object file or a shared library without Python, and its header.

The code is that of `lowering`. Where it makes arrays or leaves with an error it calls functions of Python and
NumPy; here `standalone` has them. What needs more of Python than that is refused, with the user's line.
"""

from __future__ import annotations

import itertools
import linecache
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograph import transforms
from autograph.compiler import backend, blas, lowering, machine, routines, standalone, support
from autograph.compiler.ir import float_literal
from autograph.compiler.values import PYTHON, array_type, is_number, key, register, scalar_dtype
from autograph.errors import StagingError
from autograph.graph.graph import Graph, Operation, Region, Tensor
from autograph.graph.types import BOTTOM, Const, Py, Scalar, Type, Union, members
from autograph.operators.external import Spec
from autograph.ops import core
from autograph.ops.base import Op
from autograph.records import record_class
from autograph.transforms.rewrite import Changes, apply, copied

OBJECTS = (".o", ".obj")
SHARED = (".so", ".dylib", ".dll")

C_NAMES = {
    "b1": "bool", "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t", "u1": "uint8_t",
    "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t", "f4": "float", "f8": "double",
    "c8": "float _Complex", "c16": "double _Complex",
}  # fmt: skip
"""C's names of the dtypes."""

REAL = """acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor
fma fmod frexp hypot ldexp lgamma log log10 log1p log2 modf nextafter pow rint round sin sinh sqrt tan
tanh tgamma trunc"""
COMPLEX = "cacos cacosh casin casinh catan catanh ccos ccosh cexp clog cpow csin csinh csqrt ctan ctanh"
MEMORY = "free malloc memcmp memcpy memmove memset posix_memalign"
STACKS = "pthread_self pthread_getattr_np pthread_attr_getstack pthread_attr_destroy"
KNOWN = {f"{name}{kind}" for name in f"{REAL} {COMPLEX}".split() for kind in ("", "f")} | {
    *MEMORY.split(),
    *STACKS.split(),
}
"""What the C library has."""

WORDS = """abs alignas alignof and asm auto bcmp bitand bitor bool break case char class co_await compl
concept const const_cast consteval constexpr constinit continue copysign decltype default delete div do
double dynamic_cast else enum exit exp10 explicit export extern false float fmax fmin for friend goto if
index inline int labs linux long main mutable namespace new noexcept not nullptr operator or override
printf private protected public puts register reinterpret_cast requires restrict return roundeven short
signed sincos sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename typeof union unix unsigned using virtual void volatile wchar_t while
xor"""
WITH_LAPACK = ", or link with LAPACK: libraries=('openblas',)"
KEYWORDS = frozenset(WORDS.split())
"""What C or C++ has another use for."""

ASKED = " (for such values it would ask Python)"
NO_MEMORY, TOO_DEEP, NEGATIVE, FIRST = 1, 2, 3, 4
"""What a call returns instead of 0; from the last one on the number of a place, added to it."""
MESSAGES = (
    "no error",
    "there is not enough memory",
    "the recursion is too deep",
    "a size of an array is negative",
)
STACK = 256 << 10
"""Bytes of the stack that a recursion may use, where the system does not tell how many there are."""

USED = {
    "free": "void @free(ptr)",
    "ag_lowest": "i64 @ag_lowest(i64)",
    "ag_give": "i1 @ag_give(ptr, ptr, ptr)",
    "Py_DecRef": "void @Py_DecRef(ptr)",
    "llvm.frameaddress.p0": "ptr @llvm.frameaddress.p0(i32)",
}
"""What the functions for C use, declared."""


@record_class(frozen=True)
class Value:
    """A parameter or a result: its name in C, its dtype, and its dimensions if it is an array."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None = None
    written: bool = False

    @property
    def c_type(self) -> str:
        return C_NAMES[key(self.dtype)]

    @property
    def ir(self) -> str:
        """The IR type of a number as an argument of C."""
        kind = "i8" if self.dtype.kind == "b" else register(self.dtype)
        extended = {"b": " zeroext", "u": " zeroext", "i": " signext"}.get(self.dtype.kind, "")
        return kind + (extended if self.dtype.itemsize < 4 else "")

    @property
    def open(self) -> list[int]:
        """The axes whose length the caller gives."""
        return [axis for axis, d in enumerate(self.shape or ()) if d is None]

    def __str__(self) -> str:
        if self.shape is None:
            return str(self.dtype)
        return f"{self.dtype}[{','.join('?' if d is None else str(d) for d in self.shape)}]"


def refuse(name: str, why: str, instead: str) -> StagingError:
    return StagingError(f"'{name}' cannot be exported as a library", why=why, instead=instead)


def _value(name: str, t: Type, function: str, what: str) -> Value:
    array = array_type(t)
    if array is not None and array.shape is not None:
        return Value(name, array.dtype, tuple(array.shape))
    dtype = scalar_dtype(t)
    if dtype is None or dtype.kind == "c":
        raise refuse(
            function,
            f"{what} is of type {t!r}.",
            "Use real numbers of one type, such as ag.spec(float), and arrays of a known number of axes.",
        )
    return Value(name, dtype)


def _is_name(text: str) -> bool:
    """Whether C and C++ have no use of their own for a name, nor these libraries."""
    taken = text in KEYWORDS or re.match(r"_|ag_|Py|[A-Z][A-Z0-9]+_|NULL$", text) or text.endswith("_t")
    return re.fullmatch(r"[A-Za-z_]\w*", text, re.ASCII) is not None and not taken


def _names(params: list[Tensor]) -> list[str]:
    """Names for parameters: their own, where C has no other use for them."""
    own = [(p._ag_name or "").removeprefix("arg:") for p in params]
    taken = [re.sub(r"_\d+$", "", name) for name in own]  # `x_0` is the length of `x`

    def fits(name: str) -> bool:
        alone = taken.count(re.sub(r"_\d+$", "", name)) == 1
        return _is_name(name) and alone and not name.startswith(("result", "argument"))

    return [name if fits(name) else f"argument{i}" for i, name in enumerate(own)]


def _flat(leaf: Any) -> Iterator[Any]:
    """The results: the items of a tuple, and of those in it, each by itself."""
    made = leaf._ag_op if isinstance(leaf, Tensor) else None
    if made is not None and made.name == "tuple":
        leaf = made.args[0]
    if isinstance(leaf, (tuple, list)):
        for item in leaf:
            yield from _flat(item)
    else:
        yield leaf


def _dtype(t: Type) -> np.dtype[Any] | None:
    """As `scalar_dtype`, also for a known number."""
    if not isinstance(t, Const):
        return scalar_dtype(t)
    return t.value.dtype if isinstance(t.value, np.generic) else PYTHON.get(type(t.value))


def _raises(operation: Operation) -> bool:
    """Whether an operation always raises, for which a library has a message of its own."""
    return operation.name == "raise" or any(t._ag_type is BOTTOM for t in operation.outputs)


def _without_messages(region: Region) -> None:
    """Leaves out the texts and the objects that exceptions are made of."""
    for operation in region.ops:
        for inner in operation.regions:
            _without_messages(inner)
    if not region.ops or region.ops[-1].name != "raise":
        return
    region.ops[-1].args = ()
    for operation in reversed(region.ops[:-1]):
        made = operation.outputs and not any(
            is_number(t._ag_type) or array_type(t._ag_type) for t in operation.outputs
        )
        used = {id(t) for o in region.ops for t in lowering.all_inputs(o)}
        if made and not operation.regions and not any(id(t) in used for t in operation.outputs):
            region.ops.remove(operation)


def _plain(t: Union) -> tuple[type, Op] | None:
    """Python's class for numbers of several classes but one dtype, and what makes them of it."""
    dtypes = {_dtype(m) for m in members(t)}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return None if dtype is None else PLAIN.get(dtype)


def _one_class(graph: Graph) -> None:
    """Makes Python's numbers of results that are those or NumPy's: C cannot tell them apart."""
    found = []
    for leaf in _flat(graph.result):
        if isinstance(leaf, Tensor) and isinstance(leaf._ag_type, Union):
            op = _plain(leaf._ag_type)
            if op is not None:
                place = None if leaf._ag_op is None else leaf._ag_op.place
                operation = Operation(op[1].name, (leaf,), {}, [], place=place, op=op[1])
                leaf = Tensor(Py(op[0]), graph, operation, "")
                operation.outputs.append(leaf)
                graph.body.ops.append(operation)
        found.append(leaf)
    if graph.result is not None:
        graph.body.results = (tuple(found) if len(found) != 1 else found[0],)


PLAIN: dict[np.dtype[Any], tuple[type, Op]] = {
    np.dtype(np.float64): (float, core.TO_FLOAT),
    np.dtype(np.int64): (int, core.TO_INT),
    np.dtype(np.bool): (bool, core.BOOLEAN),
}
"""What makes a Python number of one of a dtype."""


def plain(spec: Spec) -> Spec:
    """The type of a number that is Python's or NumPy's is Python's: C cannot tell them apart."""
    op = _plain(spec.type) if isinstance(spec.type, Union) else None
    return spec if op is None else Spec(Py(op[0]))


def _constant(leaf: Any) -> Any:
    """What a result is if it is known; a `Tensor` if it is not."""
    known = isinstance(leaf, Tensor) and isinstance(leaf._ag_type, Const)
    return leaf._ag_type.value if known else leaf


def _fixed(graph: Graph) -> Graph:
    """The graph with the numbers that it reads from outside as they are now."""
    values: dict[int, Any] = {}
    dropped: set[int] = set()
    for operation in graph.operations():
        if operation.name == "load":
            try:
                value = operation.args[0].get()
            except NameError:  # it raises when it runs
                continue
            if isinstance(value, (bool, int, float, np.generic)):
                values[id(operation.outputs[0])] = value
                dropped.add(id(operation))
    return apply(graph, Changes(values=values, dropped=dropped))


def _line(operation: Operation) -> str:
    """Where an operation stands in the user's source, and what it is."""
    if operation.place is None:
        return f"'{operation.name}'"
    file, line = operation.place.code.co_filename, operation.place.line
    return f"{os.path.basename(file)}:{line}: {linecache.getline(file, line).strip() or operation.name}"


class Library:
    """The module of a graph's library, with its header."""

    def __init__(self, graph: Graph, name: str, with_blas: bool) -> None:
        self.name = name
        if not _is_name(name) or name in KNOWN:
            raise refuse(name, "That is no name for a function in C.", "Give it one: name='f'.")
        self.graph = copied(transforms.optimise(_fixed(graph)))
        _one_class(self.graph)
        for g in self.graph.functions():
            _without_messages(g.body)
        results = [_constant(leaf) for leaf in _flat(self.graph.result)]
        self.constants = {i: leaf for i, leaf in enumerate(results) if not isinstance(leaf, Tensor)}
        self.graph.body.results = tuple(leaf for leaf in results if isinstance(leaf, Tensor))
        if not results:
            raise refuse(name, "It raises whatever it is given.", "Look at get_graph().")
        if len(results) == 1 and results[0] is None:
            results = []
        params = [p for p in self.graph.params if not isinstance(p._ag_type, Const)]
        self.params = [
            _value(called, p._ag_type, name, f"The argument '{called}'")
            for p, called in zip(params, _names(params))
        ]
        self.results = [
            _value(
                "result" if len(results) == 1 else f"result{i}",
                _type_of(leaf),
                name,
                f"The result {i}" if len(results) > 1 else "The result",
            )
            for i, leaf in enumerate(results)
        ]
        writeable = tuple(backend.WRITEABLE + 2 if p.shape is not None else 0 for p in self.params)
        try:
            with blas.linked_later(with_blas):
                self.compilation, self.text = lowering.compile_graph(
                    self.graph, writeable, distinct=True, standalone=True, outside=lambda c: None
                )
        except lowering.Unsupported as reason:
            raise refuse(
                name, f"There is no machine code for it: {reason}.", "Look at get_graph()."
            ) from None
        operations = [o for o in self.compilation.fallbacks.values() if not _raises(o)]
        if operations:
            needed = "; ".join(dict.fromkeys(f"'{o.name}' in {_line(o)}" for o in operations))
            linear = not with_blas and any(o.name.startswith("np.linalg.") for o in operations)
            raise refuse(
                name,
                f"This needs Python or NumPy to run: {needed}.",
                "Leave it to the caller"
                + (", or link with LAPACK: libraries=('openblas',)." if linear else "."),
            )
        roots = self.compilation.roots
        self.params = [
            Value(v.name, v.dtype, v.shape, v.shape is not None and roots.find(id(p)) in roots.written)
            for v, p in zip(self.params, params)
        ]
        asked = self.compilation.asked
        self.sites = [
            _line(o) + (ASKED if id(o) in asked and not _raises(o) else "")
            for o in self.compilation.sites.operations
        ]

    # -- the IR ----------------------------------------------------------------------------------------------

    def outside(self) -> str:
        """The IR of the functions that C calls, and of the data that the code reads."""
        return "\n".join([*self._data(), self._entry(), self._free(), self._error()])

    def _data(self) -> list[str]:
        lines, places = [], []
        for i, value in enumerate(self.compilation.table):
            if isinstance(value, np.dtype):
                lines.append(
                    f"@ag.d{i} = internal global [2 x i64] [i64 {standalone.CONSTANT}, i64 {value.itemsize}]"
                )
                places.append(f"ptr @ag.d{i}")
            else:
                places.append("ptr @ag.nothing")
        lines.append(f"@ag.nothing = internal global [2 x i64] [i64 {standalone.CONSTANT}, i64 0]")
        lines.append(f"@ag.table = internal constant [{len(places)} x ptr] [{', '.join(places)}]")
        texts = [*MESSAGES, *self.sites, "there is no such status"]
        for i, text in enumerate(texts):
            data = text.encode() + b"\0"
            coded = "".join(chr(c) if 32 <= c < 127 and chr(c) not in '"\\' else f"\\{c:02X}" for c in data)
            lines.append(f'@ag.m{i} = private unnamed_addr constant [{len(data)} x i8] c"{coded}"')
        messages = ", ".join(f"ptr @ag.m{i}" for i in range(len(texts)))
        lines.append(f"@ag.messages = internal constant [{len(texts)} x ptr] [{messages}]")
        lines += [f"declare {declared}" for name, declared in USED.items() if f"@{name}(" not in self.text]
        return lines

    def _free(self) -> str:
        return f"define void @{self.name}_free(ptr %p) {{\n  call void @free(ptr %p)\n  ret void\n}}"

    def _error(self) -> str:
        count = len(MESSAGES) + len(self.sites)
        return f"""define ptr @{self.name}_error(i32 %status) {{
  %known = icmp ult i32 %status, {count}
  %i = select i1 %known, i32 %status, i32 {count}
  %w = zext i32 %i to i64
  %p = getelementptr ptr, ptr @ag.messages, i64 %w
  %m = load ptr, ptr %p
  ret ptr %m
}}"""

    def _entry(self) -> str:
        given: list[str] = []
        arguments = ["ptr %ctx"]
        allocas = ["  %ctx = alloca [7 x i64], align 16", "  %trail = alloca i32, align 4"]
        body: list[str] = []
        negative: list[str] = []
        descriptions: list[str] = []
        for i, v in enumerate(self.params):
            if v.shape is None:
                given.append(f"{v.ir} %p{i}")
                if v.dtype.kind == "b":
                    body.append(f"  %b{i} = icmp ne i8 %p{i}, 0")
                arguments.append(f"{register(v.dtype)} %{'b' if v.dtype.kind == 'b' else 'p'}{i}")
                continue
            given.append(f"ptr %p{i}")
            given += [f"i64 %p{i}.{axis}" for axis in v.open]
            negative += [f"%p{i}.{axis}" for axis in v.open]
            self._array(i, v, allocas, body, descriptions)
            arguments.append(f"ptr %o{i}")
        for i, r in enumerate(self.results):
            given.append(f"ptr %r{i}")
            if r.shape:
                given.append(f"ptr %r{i}.shape")
        tests: list[str] = []
        for i, size in enumerate(negative):
            tests += [f"  %n{i} = icmp slt i64 {size}, 0", f"  br i1 %n{i}, label %negative, label %size{i}"]
            tests.append(f"size{i}:")
        returns = lowering.signature(self.graph)
        name = self.compilation.names[id(self.graph)]
        lines = [
            *descriptions, f"define i32 @{self.name}({', '.join(given)}) {{",
            "entry:", *allocas, *tests, *body,
            *(f"  store ptr null, ptr %r{i}" for i, r in enumerate(self.results) if r.shape),
            "  store ptr @ag.table, ptr %ctx",
            *self._context(),
            f"  %r = call {returns} @{name}({', '.join(arguments)})",
            f"  %raised = extractvalue {returns} %r, 0",
            "  br i1 %raised, label %failed, label %worked",
            "worked:", *self._give(returns),
            "failed:",
            "  %site = load i32, ptr %trail",
            "  %placed = icmp sge i32 %site, 0",
            f"  %place = add i32 %site, {FIRST}",
            "  %deep = icmp eq i32 %site, -2",
            f"  %other = select i1 %deep, i32 {TOO_DEEP}, i32 {NO_MEMORY}",
            "  %status = select i1 %placed, i32 %place, i32 %other",
            "  ret i32 %status",
            "negative:", f"  ret i32 {NEGATIVE}", "}",
        ]  # fmt: skip
        return "\n".join(lines)

    def _recurs(self) -> bool:
        """Whether a function is called, which may call itself."""
        return any(o.callee is not None for o in self.graph.operations())

    def _context(self) -> list[str]:
        lines = [
            "  store i32 -1, ptr %trail",
            "  %frame = call ptr @llvm.frameaddress.p0(i32 0)",
            "  %address = ptrtoint ptr %frame to i64",
            f"  %least = sub i64 %address, {STACK}",
            "  %lowest = call i64 @ag_lowest(i64 %least)"
            if self._recurs()
            else "  %lowest = add i64 %least, 0",
        ]
        fields = {
            "depth": "i64 0", "limit": "i64 %lowest", "count": "i64 0", "trail": "ptr %trail",
            "handling": "ptr null", "calls": f"i64 {lowering.POLL}",
        }  # fmt: skip
        for name, value in fields.items():
            lines.append(f"  %f.{name} = getelementptr i8, ptr %ctx, i64 {support.CONTEXT[name]}")
            lines.append(f"  store {value}, ptr %f.{name}")
        return lines

    def _array(self, i: int, v: Value, allocas: list[str], body: list[str], descriptions: list[str]) -> None:
        """An argument as an array: its head lies on the stack, and nobody frees its elements."""
        assert v.shape is not None
        rank = len(v.shape)
        descriptions.append(
            f"@ag.p{i} = internal global [2 x i64] [i64 {standalone.CONSTANT}, i64 {v.dtype.itemsize}]"
        )
        allocas.append(f"  %o{i} = alloca [{standalone.STRUCT} x i8], align 16")
        allocas += [f"  %{name}{i} = alloca [{max(rank, 1)} x i64], align 8" for name in ("d", "s")]
        step = str(v.dtype.itemsize)
        for axis in reversed(range(rank)):
            d = v.shape[axis]
            size = f"%p{i}.{axis}" if d is None else str(d)
            for name, value in (("d", size), ("s", step)):
                place = f"%{name}{i}.{axis}"
                body.append(f"  {place} = getelementptr i64, ptr %{name}{i}, i64 {axis}")
                body.append(f"  store i64 {value}, ptr {place}")
            body.append(f"  %t{i}.{axis} = mul i64 {step}, {size}")
            step = f"%t{i}.{axis}"
        flags = 1281 + (2 if rank < 2 else 0)
        fields = {
            0: "i64 2", 16: f"ptr %p{i}", 24: f"i32 {rank}", 32: f"ptr %d{i}", 40: f"ptr %s{i}",
            48: "ptr null", 56: f"ptr @ag.p{i}", 64: f"i32 {flags}", 72: "ptr null",
        }  # fmt: skip
        for offset, value in fields.items():
            body.append(f"  %o{i}.{offset} = getelementptr i8, ptr %o{i}, i64 {offset}")
            body.append(f"  store {value}, ptr %o{i}.{offset}")

    def _give(self, returns: str) -> list[str]:
        """Hands over the results; if there is no memory for one, all are freed."""
        numbers = itertools.count(1)
        places = {i: next(numbers) for i in range(len(self.results)) if i not in self.constants}
        lines: list[str] = []
        given: list[int] = []
        for i, r in enumerate(self.results):
            if i in places:
                lines.append(f"  %v{i} = extractvalue {returns} %r, {places[i]}")
            if r.shape:
                given.append(i)
                lines.append(f"  %g{i} = call i1 @ag_give(ptr %v{i}, ptr %r{i}, ptr %r{i}.shape)")
                continue
            kind = f"[{r.dtype.itemsize} x i8]" if r.shape is not None else register(r.dtype)
            value = f"%v{i}" if i in places else self._literal(self.constants[i], r.dtype)
            if r.shape is not None:  # an array without axes is a number for C
                lines += [
                    f"  %h{i} = getelementptr i8, ptr %v{i}, i64 16", f"  %k{i} = load ptr, ptr %h{i}",
                    f"  %e{i} = load {kind}, ptr %k{i}, align 1", f"  call void @Py_DecRef(ptr %v{i})",
                ]  # fmt: skip
                value = f"%e{i}"
            elif r.dtype.kind == "b":
                lines.append(f"  %w{i} = zext i1 {value} to i8")
                kind, value = "i8", f"%w{i}"
            lines.append(f"  store {kind} {value}, ptr %r{i}, align 1")
        for i in given:
            lines += [f"  br i1 %g{i}, label %given{i}, label %lost", f"given{i}:"]
        lines.append("  ret i32 0")
        if given:
            lines.append("lost:")
            for i in given:
                lines += [
                    f"  %l{i} = load ptr, ptr %r{i}", f"  call void @free(ptr %l{i})",
                    f"  store ptr null, ptr %r{i}",
                ]  # fmt: skip
            lines.append(f"  ret i32 {NO_MEMORY}")
        return lines

    def _literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        if dtype.kind == "f":
            return float_literal(float(value), register(dtype))
        return str(bool(value)).lower() if dtype.kind == "b" else str(int(value))

    def module(self) -> Any:
        """All of it as one module of LLVM's, of which only the functions for C can be seen."""
        whole = machine.parsed(self.text + "\n" + self.outside())
        whole.link_in(machine.parsed(standalone.text()))
        for needed in iter(lambda: self._missing(whole), ""):
            text = routines.text(needed) if needed.startswith(routines.PREFIX) else _part(needed)
            whole.link_in(machine.parsed(text))
        public = (self.name, f"{self.name}_free", f"{self.name}_error")
        for function in whole.functions:
            if not function.is_declaration and function.name not in public:
                function.linkage = "internal"
        whole.verify()
        return whole

    def _missing(self, module: Any) -> str:
        """The name of a function that is declared only, and that another module has; "" if there is none."""
        for function in module.functions:
            name = function.name
            if function.is_declaration and (name.startswith(routines.PREFIX) or name in PURE_PARTS):
                return str(name)
        return ""

    # -- what is written -------------------------------------------------------------------------------------

    def object_code(self) -> bytes:
        """The machine code."""
        module = machine.optimised(self.module(), self.text.startswith(machine.QUICK_LOOPS))
        outside = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
        needed = [name for name in outside if name not in KNOWN and not blas.is_routine(name)]
        if needed:
            raise refuse(
                self.name,
                f"It uses objects of Python ({', '.join(sorted(needed))}).",
                "Use numbers, arrays and tuples of them only.",
            )
        return machine.target_machine().emit_object(module)  # type: ignore[no-any-return]

    def prototype(self) -> str:
        """The function as C declares it."""
        given = []
        for v in self.params:
            if v.shape is None:
                given.append(f"{v.c_type} {v.name}")
                continue
            given.append(f"{'' if v.written else 'const '}{v.c_type} *{v.name}")
            given += [f"int64_t {v.name}_{axis}" for axis in v.open]
        for r in self.results:
            given.append(f"{r.c_type} *{'*' if r.shape else ''}{r.name}")
            if r.shape:
                given.append(f"int64_t {r.name}_shape[{len(r.shape)}]")
        return f"int {self.name}({', '.join(given) or 'void'});"

    def header(self) -> str:
        """The header."""
        guard = f"AUTOGRAPH_{self.name}_H"
        described = [f" *   {v.name}: {v}{', written' if v.written else ''}" for v in self.params]
        described += [f" *   {r.name}: {r}" for r in self.results]
        lines = [
            f"/* The function {self.name}, compiled from Python by autograph.",
            " *", *described, " *",
            " * Arrays lie in C order and do not overlap one another. The arrays of the results are the",
            f" * caller's, who frees each with {self.name}_free. The answer is 0 if all went well; otherwise",
            f" * {self.name}_error tells what went wrong, and there are no results. */",
            f"#ifndef {guard}", f"#define {guard}", "",
            "#include <stdbool.h>", "#include <stdint.h>", "",
            "#ifdef __cplusplus", 'extern "C" {', "#endif", "",
            self.prototype(),
            f"void {self.name}_free(void *array);",
            f"const char *{self.name}_error(int status);",
            "", "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", "",
        ]  # fmt: skip
        return "\n".join(lines)


PURE_PARTS = ("ag_power", "ag_apart")
"""The parts of `support` that need nothing of Python."""


def _part(name: str) -> str:
    return {"ag_power": support.POWER, "ag_apart": support.APART}[name]


def _type_of(leaf: Any) -> Type:
    if isinstance(leaf, Tensor):
        return leaf._ag_type
    return Scalar(leaf.dtype) if isinstance(leaf, np.generic) else Py(type(leaf))


def write(
    graph: Graph, path: str | os.PathLike[str], name: str, libraries: Sequence[str]
) -> tuple[Path, Path]:
    """Writes the library and its header; gives their paths. Nothing is written if it cannot be made."""
    if isinstance(libraries, str):
        raise TypeError(f"libraries are given as a tuple of names: ({libraries!r},)")
    target = Path(path)
    if target.suffix not in OBJECTS + SHARED:
        endings = ", ".join((*OBJECTS, *SHARED))
        raise ValueError(f"a library is written to a file that ends with one of {endings}: not '{target}'")
    library = Library(graph, name, bool(libraries))
    code = library.object_code()
    header = target.with_suffix(".h")
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / "library.o"
        made.write_bytes(code)
        if target.suffix in SHARED:
            made = _linked(made, Path(folder) / target.name, libraries)
        (Path(folder) / "header").write_text(library.header())
        os.replace(made, target)
        os.replace(Path(folder) / "header", header)
    return target, header


def _linked(code: Path, target: Path, libraries: Sequence[str]) -> Path:
    """A shared library of an object file, by the C compiler that there is."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    compiler = next(
        (c for c in (shlex.split(command), ["cc"], ["gcc"], ["clang"]) if shutil.which(c[0])), None
    )
    if compiler is None:
        raise OSError(
            "no C compiler was found to link a shared library: set CC, or write an object file (.o)"
        )
    links = [f"-l{library}" for library in libraries]
    arguments = [*compiler, "-shared", "-o", str(target), str(code), *links, "-lm"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(
            f"the shared library could not be linked ({shlex.join(arguments)}):\n{done.stderr.strip()}"
        )
    return target
