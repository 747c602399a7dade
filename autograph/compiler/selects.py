"""Lowers a `cond` with a few integer operations in its arms to selections: both are computed, one is taken.

LLVM does so by itself where an arm has no check. In `n = n // 2 if n % 2 == 0 else 3 * n + 1` the product may
overflow; its check stays outside of the hot way, where it asks too whether the arm is the one that is taken.
What an arm that is not taken computes may be wrong in any way, and is never looked at.
"""

from __future__ import annotations

from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import Number, register, scalar_dtype
from autograph.graph.graph import Operation, Region
from autograph.graph.types import Const, Py

CHECKED = frozenset({"add", "sub", "mul", "iadd", "isub", "imul", "neg"})
"""Operations that look for an overflow."""
FREE = frozenset({"and", "or", "xor", "iand", "ior", "ixor", "invert", "lt", "le", "gt", "ge", "eq", "ne"})
BY_POWER = frozenset({"floordiv", "mod", "ifloordiv", "imod"})
MOST = 3
"""Operations in an arm: a branch that is guessed right costs less than more of them."""


def lower(f: FunctionLowering, operation: Operation) -> bool:
    """Emits the selections, where the `cond` is of that kind; its test is not known."""
    then, orelse = operation.regions
    if not (_cheap(then) and _cheap(orelse) and any(map(_checks, (then, orelse)))):
        return False
    if not all(isinstance(t._ag_type, Const) or _real(t) for t in operation.outputs):
        return False
    b = f.b
    test = f.test(f.value_of(operation.args[0]))
    sides = [(then, test), (orelse, b.value(f"xor i1 {test}, true"))]
    # what takes longer is begun first: processors choose the older of two instructions that are ready
    order = sorted((0, 1), key=lambda i: -_latency(sides[i][0]))
    found = {i: _arm(f, *sides[i]) for i in order}
    arms = [found[0], found[1]]
    for i, out in enumerate(operation.outputs):
        if isinstance(out._ag_type, Const):
            f.env[id(out)] = f.value_of(out)
            continue
        p, q = (arm[i] for arm in arms)
        kind = register(p.dtype)
        ir = p.ir
        if p.ir != q.ir:
            ir = b.value(f"select i1 {test}, {kind} {p.ir}, {kind} {q.ir}, !unpredictable !2")
        low = None if p.low is None or q.low is None else min(p.low, q.low)
        high = None if p.high is None or q.high is None else max(p.high, q.high)
        f.env[id(out)] = Number(out._ag_type, p.dtype, (ir,), low, high)
    return True


def _arm(f: FunctionLowering, region: Region, taken: str) -> list[Number]:
    """What an arm gives, if `taken` holds."""
    saved, f.env = f.env, dict(f.env)
    outer, f.taken = f.taken, taken if not f.taken else f.b.value(f"and i1 {f.taken}, {taken}")
    f.region(region)
    numbers = [f.number(f.value_of(leaf)) for leaf in region.results or ()]
    f.env, f.taken = saved, outer
    return numbers


def _cheap(region: Region) -> bool:
    return region.results is not None and len(region.ops) <= MOST and all(map(_is_cheap, region.ops))


def _is_cheap(operation: Operation) -> bool:
    if any(t._ag_type not in (Py(int), Py(bool)) for t in (*operation.inputs, *operation.outputs)):
        return False
    if operation.name in BY_POWER:
        divisor = operation.args[1]
        return type(divisor) is int and divisor > 0 and divisor.bit_count() == 1
    if operation.name in ("mul", "imul"):
        return any(type(a) is int for a in operation.args)
    return operation.name in CHECKED or operation.name in FREE


def _latency(region: Region) -> int:
    return sum(2 if operation.name in ("mul", "imul") else 1 for operation in region.ops)


def _checks(region: Region) -> bool:
    return any(operation.name in CHECKED for operation in region.ops)


def _real(tensor: object) -> bool:
    dtype = scalar_dtype(tensor._ag_type)  # type: ignore[attr-defined]
    return dtype is not None and dtype.kind != "c"
