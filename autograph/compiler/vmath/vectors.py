"""Values of LLVM IR with Python's operators: formulas over scalars or vectors become instructions."""

from __future__ import annotations

import struct
from typing import TypeAlias

__all__ = [
    "Block",
    "Number",
    "Value",
    "absolute",
    "as_bits",
    "as_float",
    "convert",
    "copysign",
    "fma",
    "is_equal",
    "is_nan",
    "round_to_zero",
    "select",
    "sqrt",
]

# Each kind of element with the name that the intrinsics have for it.
_SUFFIX = {"float": "f32", "double": "f64", "i1": "i1", "i32": "i32", "i64": "i64"}
_INTEGER_OF = {"float": "i32", "double": "i64"}
_FLOAT_OF = {"i32": "float", "i64": "double"}


class Value:
    """One scalar or vector of a block; operators and comparisons (`<`, `<=`, `>`, `>=`) emit instructions.

    Comparisons of floats are ordered (false for NaN), those of integers are signed; `>>` shifts in zeros.
    """

    __slots__ = ("block", "kind", "name")

    def __init__(self, block: Block, name: str, kind: str) -> None:
        self.block = block
        self.name = name
        self.kind = kind

    def __add__(self, other: Number) -> Value:
        return self._binary("add", self, other)

    def __radd__(self, other: float) -> Value:
        return self._binary("add", other, self)

    def __sub__(self, other: Number) -> Value:
        return self._binary("sub", self, other)

    def __rsub__(self, other: float) -> Value:
        return self._binary("sub", other, self)

    def __mul__(self, other: Number) -> Value:
        return self._binary("mul", self, other)

    def __rmul__(self, other: float) -> Value:
        return self._binary("mul", other, self)

    def __truediv__(self, other: Number) -> Value:
        return self._binary("div", self, other)

    def __rtruediv__(self, other: float) -> Value:
        return self._binary("div", other, self)

    def __neg__(self) -> Value:
        return self.block.emit(f"fneg {self.typed}", self.kind)

    def __and__(self, other: Value | int) -> Value:
        return self._bitwise("and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._bitwise("or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._bitwise("xor", other)

    def __lshift__(self, other: int) -> Value:
        return self._bitwise("shl", other)

    def __rshift__(self, other: int) -> Value:
        return self._bitwise("lshr", other)

    def __lt__(self, other: Number) -> Value:
        return self._compare("lt", other)

    def __le__(self, other: Number) -> Value:
        return self._compare("le", other)

    def __gt__(self, other: Number) -> Value:
        return self._compare("gt", other)

    def __ge__(self, other: Number) -> Value:
        return self._compare("ge", other)

    @property
    def typed(self) -> str:
        """The value as an instruction names its first operand: type and name."""
        return f"{self.block.type(self.kind)} {self.name}"

    def like(self, other: Number) -> Value:
        """Another operand as a value: a Python number becomes a constant of this value's kind."""
        return other if isinstance(other, Value) else self.block.constant(other, self.kind)

    def _binary(self, operation: str, left: Number, right: Number) -> Value:
        prefix = "" if self.kind.startswith("i") else "f"
        left, right = self.like(left), self.like(right)
        return self.block.emit(f"{prefix}{operation} {left.typed}, {right.name}", self.kind)

    def _bitwise(self, operation: str, other: Value | int) -> Value:
        return self.block.emit(f"{operation} {self.typed}, {self.like(other).name}", self.kind)

    def _compare(self, relation: str, other: Number) -> Value:
        predicate = f"icmp s{relation}" if self.kind.startswith("i") else f"fcmp o{relation}"
        return self.block.emit(f"{predicate} {self.typed}, {self.like(other).name}", "i1")


Number: TypeAlias = Value | float


class Block:
    """The instructions of one function as they grow, for vectors of `width` elements (1: scalars).

    >>> block = Block(width=4)
    >>> x = Value(block, "%x", "double")
    >>> y = x * x + 1.0
    >>> print("\\n".join(block.lines))
      %1 = fmul <4 x double> %x, %x
      %2 = fadd <4 x double> %1, splat (double 0x3FF0000000000000)
    """

    def __init__(self, width: int, has_fma: bool = True) -> None:
        self.width = width
        self.has_fma = has_fma
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self._count = 0

    def type(self, kind: str) -> str:
        """The LLVM type of a value with elements of this kind."""
        return kind if self.width == 1 else f"<{self.width} x {kind}>"

    def suffix(self, kind: str) -> str:
        """The ending of the names of functions for this type: f64, v8f64."""
        return _SUFFIX[kind] if self.width == 1 else f"v{self.width}{_SUFFIX[kind]}"

    def emit(self, instruction: str, kind: str) -> Value:
        """Appends an instruction with a result of this kind."""
        self._count += 1
        name = f"%{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return Value(self, name, kind)

    def constant(self, number: float, kind: str) -> Value:
        """A constant, the same in every element."""
        if kind.startswith("i"):
            literal = str(number)
        else:
            if kind == "float":
                number = struct.unpack("f", struct.pack("f", number))[0]
            literal = "0x" + struct.pack(">d", number).hex().upper()
        return Value(self, literal if self.width == 1 else f"splat ({kind} {literal})", kind)

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """Calls an LLVM intrinsic whose result is of its operands' type."""
        kind = operands[0].kind
        of_type, symbol = self.type(kind), f"@llvm.{name}.{self.suffix(kind)}"
        self.declarations.add(f"declare {of_type} {symbol}({', '.join([of_type] * len(operands))})")
        return self.emit(f"call {of_type} {symbol}({', '.join(x.typed for x in operands)})", kind)

    def any(self, mask: Value) -> str:
        """The name of an i1 that says whether any element of the mask is set."""
        if self.width == 1:
            return mask.name
        symbol = f"@llvm.vector.reduce.or.v{self.width}i1"
        self.declarations.add(f"declare i1 {symbol}({self.type('i1')})")
        return self.emit(f"call i1 {symbol}({mask.typed})", "i1").name


def fma(x: Value, y: Number, z: Number) -> Value:
    """`x * y + z`, rounded once where the target can do that in one instruction."""
    if not x.block.has_fma:
        return x * y + z
    return x.block.intrinsic("fma", x, x.like(y), x.like(z))


def select(mask: Value, chosen: Number, otherwise: Number) -> Value:
    """Elements of `chosen` where the mask is set, elsewhere of `otherwise`; one of them is a value."""
    if isinstance(chosen, Value):
        otherwise = chosen.like(otherwise)
    else:
        assert isinstance(otherwise, Value)
        chosen = otherwise.like(chosen)
    return mask.block.emit(f"select {mask.typed}, {chosen.typed}, {otherwise.typed}", chosen.kind)


def is_equal(x: Value, y: Number) -> Value:
    """Whether elements are equal; NaN is equal to nothing."""
    predicate = "icmp eq" if x.kind.startswith("i") else "fcmp oeq"
    return x.block.emit(f"{predicate} {x.typed}, {x.like(y).name}", "i1")


def is_nan(x: Value, y: Value) -> Value:
    """Whether one or the other is NaN."""
    return x.block.emit(f"fcmp uno {x.typed}, {y.name}", "i1")


def absolute(x: Value) -> Value:
    """The magnitude of a float."""
    return x.block.intrinsic("fabs", x)


def copysign(x: Value, sign: Value) -> Value:
    """The magnitude of `x` with the sign of the other."""
    return x.block.intrinsic("copysign", x, sign)


def sqrt(x: Value) -> Value:
    """The correctly rounded square root."""
    return x.block.intrinsic("sqrt", x)


def round_to_zero(x: Value) -> Value:
    """The integral part of a float."""
    return x.block.intrinsic("trunc", x)


def as_bits(x: Value) -> Value:
    """The bits of a float as an integer of the same size."""
    kind = _INTEGER_OF[x.kind]
    return x.block.emit(f"bitcast {x.typed} to {x.block.type(kind)}", kind)


def as_float(x: Value) -> Value:
    """The float with these bits."""
    kind = _FLOAT_OF[x.kind]
    return x.block.emit(f"bitcast {x.typed} to {x.block.type(kind)}", kind)


def convert(x: Value, kind: str) -> Value:
    """A float as the other kind of float, or a 32-bit integer as a float."""
    if x.kind == kind:
        return x
    if x.kind.startswith("i"):
        operation = "sitofp"
    else:
        operation = "fpext" if kind == "double" else "fptrunc"
    return x.block.emit(f"{operation} {x.typed} to {x.block.type(kind)}", kind)
