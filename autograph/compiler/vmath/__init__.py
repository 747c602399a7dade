"""Vector mathematics as LLVM IR text: NumPy's elementary functions for floats and doubles, of any width.

Each function is one algorithm for all widths, so that a result does not depend on its place in an array: a
loop over vectors of 8 and the scalar loop over the rest give the same bits. Errors are below 2.5 units in the
last place, special values are NumPy's. There are no fast-math flags; `fma` is called where the target has
it, and elsewhere constants leave room for exact products.

The formulas are classics: the reductions are those of Cody and Waite ("Software Manual for the Elementary
Functions"), the polynomials those of FreeBSD's msun (also in musl) and of Cephes; a polynomial marked
"minimax" was found with the Remez algorithm in 45 digits. Arguments of sin, cos and tan that are too large
for a reduction in a few steps are rare; they go to the C library one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from autograph.compiler.vmath import exponentials, logarithms, powers, trigonometry
from autograph.compiler.vmath.vectors import Block, Value, absolute, convert, select
from autograph.records import record_class

__all__ = ["NAMES", "Definition", "function"]


@record_class(frozen=True)
class Definition:
    """One function of a module: its symbol with the `@`, its text, and what the module needs besides."""

    symbol: str
    text: str
    declarations: frozenset[str]
    needs: tuple[Definition, ...]


_UNARY: dict[str, Callable[[Value], Value]] = {
    "exp": exponentials.exp,
    "exp2": exponentials.exp2,
    "expm1": exponentials.expm1,
    "sinh": exponentials.sinh,
    "cosh": exponentials.cosh,
    "tanh": exponentials.tanh,
    "erf": exponentials.erf,
    "log": logarithms.log,
    "log2": logarithms.log2,
    "log10": logarithms.log10,
    "log1p": logarithms.log1p,
    "arcsinh": logarithms.arcsinh,
    "arccosh": logarithms.arccosh,
    "arctanh": logarithms.arctanh,
    "sin": trigonometry.sin,
    "cos": trigonometry.cos,
    "tan": trigonometry.tan,
    "arcsin": trigonometry.arcsin,
    "arccos": trigonometry.arccos,
    "arctan": trigonometry.arctan,
    "cbrt": powers.cbrt,
}
_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "arctan2": trigonometry.arctan2,
    "power": powers.power,
    "hypot": powers.hypot,
    "logaddexp": logarithms.logaddexp,
}

NAMES = dict.fromkeys(_UNARY, 1) | dict.fromkeys(_BINARY, 2)
"""NumPy's names of the functions (and erf), with the number of their arguments."""

# Scalars are computed in the first element of a register, where a selection is an instruction and no branch.
_REGISTER = {"float": 4, "double": 2}


@functools.cache
def function(name: str, dtype: str, width: int, has_fma: bool = True) -> Definition:
    """The definition of a function of NumPy for vectors of `width` floats or doubles (1: scalars).

    >>> print(function("hypot", "float", 4).text)
    define internal <4 x float> @ag.hypot.v4f32(<4 x float> %x, <4 x float> %y) nounwind memory(none) {
    entry:
      %1 = call <4 x float> @llvm.fabs.v4f32(<4 x float> %x)
    ...
    """
    outside = Block(width)
    parameters = [Value(outside, parameter, dtype) for parameter in ("%x", "%y")[: NAMES[name]]]
    block = Block(_REGISTER[dtype] if width == 1 else width, has_fma)
    if width == 1:
        arguments = [
            block.emit(f"insertelement {block.type(dtype)} zeroinitializer, {parameter.typed}, i64 0", dtype)
            for parameter in parameters
        ]
    else:
        arguments = [Value(block, parameter.name, dtype) for parameter in parameters]
    needs: tuple[Definition, ...] = ()
    if name in ("sin", "cos", "tan"):
        needs = (_library_function(name, dtype, block.width),)
        result = _with_library(_UNARY[name], needs[0].symbol, arguments[0])
    elif name in _UNARY:
        result = _UNARY[name](arguments[0])
    else:
        result = _BINARY[name](arguments[0], arguments[1])
    if width == 1:
        result = block.emit(f"extractelement {result.typed}, i64 0", dtype)
    body = "\n".join(block.lines)
    symbol = f"@ag.{name}.{outside.suffix(dtype)}"
    head = f"define internal {outside.type(dtype)} {symbol}({', '.join(x.typed for x in parameters)})"
    attributes = "nounwind" if needs else "nounwind memory(none)"
    text = f"{head} {attributes} {{\nentry:\n{body}\n  ret {outside.type(dtype)} {result.name}\n}}\n"
    return Definition(symbol, text, frozenset(block.declarations), needs)


def _with_library(formula: Callable[[Value], Value], library: str, x: Value) -> Value:
    """A trigonometric function where its reduction reaches; larger arguments go to the C library."""
    block, kind = x.block, x.kind
    work = x if block.has_fma else convert(x, "double")
    result = convert(formula(work), kind)
    is_large = absolute(x) >= trigonometry.LIMITS[work.kind, block.has_fma]
    vector = block.type(kind)
    block.lines.append(f"  br i1 {block.any(is_large)}, label %large, label %done\nlarge:")
    exact = block.emit(f"call {vector} {library}({x.typed}) cold", kind)
    mixed = select(is_large, exact, result)
    block.lines.append("  br label %done\ndone:")
    return block.emit(f"phi {vector} [ {result.name}, %entry ], [ {mixed.name}, %large ]", kind)


@functools.cache
def _library_function(name: str, dtype: str, width: int) -> Definition:
    """A function of the C library, applied to the elements of a vector one by one.

    Floats go through the double function: that is exact enough, and there on every platform.
    """
    block = Block(width)
    vector = block.type(dtype)
    symbol = f"@ag.library.{name}.{block.suffix(dtype)}"
    result = f"%result = call double @{name}(double %element)"
    if dtype == "float":
        result = f"""\
%wide = fpext float %element to double
  %exact = call double @{name}(double %wide)
  %result = fptrunc double %exact to float"""
    text = f"""\
define internal {vector} {symbol}({vector} %x) noinline nounwind {{
entry:
  %buffer = alloca {vector}
  store {vector} %x, ptr %buffer
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr inbounds {dtype}, ptr %buffer, i64 %i
  %element = load {dtype}, ptr %place
  {result}
  store {dtype} %result, ptr %place
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, {width}
  br i1 %more, label %loop, label %done
done:
  %results = load {vector}, ptr %buffer
  ret {vector} %results
}}
"""
    return Definition(symbol, text, frozenset({f"declare double @{name}(double)"}), ())
