"""What a turn of a loop costs, as far as that can be told before the loop."""

from __future__ import annotations

from typing import Any

from autograph.compiler.elementwise import UFUNC_OF
from autograph.compiler.ir import float_literal
from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import Known, Number
from autograph.graph.graph import Operation, Region, Tensor
from autograph.graph.types import Array, Const, Py

GUESS = 8
"""How many turns a loop takes of which it is not known before."""
ELEMENTS = 32
"""And how many elements an axis has."""
DEPTH = 6
"""Sums and products in the bounds of a loop, at most."""
COSTS = {
    **dict.fromkeys(("truediv", "itruediv"), 20),
    **dict.fromkeys(("floordiv", "mod", "ifloordiv", "imod"), 40),
    **dict.fromkeys(("pow", "ipow"), 160),
    **dict.fromkeys((f"np.{name}" for name in UFUNC_OF.values()), 6),
    **dict.fromkeys(
        ("range_item", "len", "ndarray.shape", "item", "complex", "complex.real", "complex.imag"), 1
    ),
    **dict.fromkeys(("math.sqrt", "np.sqrt", "math.floor", "math.ceil", "math.fabs", "np.abs"), 20),
}
"""Of operations, in eighths of a nanosecond; other functions of `math` and NumPy take `FUNCTION`."""
SIMPLE, FUNCTION = 6, 100


class Cost:
    """The cost of a turn: a number, or an expression that is computed before the loop."""

    def __init__(
        self, f: FunctionLowering, loop: Operation, counter: int, ends: tuple[Number, Number]
    ) -> None:
        self.f = f
        self.nested = False  # there are loops inside
        self.middle = {id(loop.regions[1].params[counter]): ends}  # a counter is taken to be half way
        self.turn = self._region(loop.regions[1])

    def emitted(self) -> str:
        """The number, or the value of the expression."""
        return _text(self.turn)

    def _region(self, region: Region) -> Any:
        total: Any = 0.0
        for operation in region.ops:
            if operation.name == "while_loop":
                self.nested = True
                inner = self._made("fadd", *map(self._region, operation.regions))
                total = self._made("fadd", total, self._made("fmul", self._turns(operation), inner))
            elif operation.name == "cond":
                for arm in operation.regions:
                    if arm.results is not None:
                        total = self._made("fadd", total, self._made("fmul", 0.5, self._region(arm)))
            else:
                total = self._made("fadd", total, _cost(operation))
        return total

    def _turns(self, operation: Operation) -> Any:
        """How many turns an inner loop takes."""
        head, turn = operation.regions
        test = head.ops[0] if len(head.ops) == 1 else None
        for i, param in enumerate(head.params):
            if test is None or test.name != "lt" or test.args[0] is not param or turn.results is None:
                continue
            step = turn.results[i]._ag_op if isinstance(turn.results[i], Tensor) else None
            if step is None or step.name not in ("add", "iadd") or step.args[0] is not turn.params[i]:
                continue
            first, bound = self._estimate(operation.args[i], 0), self._estimate(test.args[1], 0)
            if first is not None and bound is not None:
                turns = self._made("fsub", bound, first)
                if isinstance(turns, float):
                    return max(turns, 0.0)
                return self.f.b.call("double", "llvm.maxnum.f64", f"double {turns}", "double 0.0")
        return float(GUESS)

    def _estimate(self, leaf: Any, depth: int) -> Any:
        """What an integer is half way through the loop; None where that is not known."""
        if isinstance(leaf, Tensor) and id(leaf) in self.middle:
            first, bound = (self._wide(n) for n in self.middle[id(leaf)])
            return self._made("fmul", 0.5, self._made("fadd", first, bound))
        known = not isinstance(leaf, Tensor) or isinstance(leaf._ag_type, Const) or id(leaf) in self.f.env
        if known:
            value = self.f.value_of(leaf)
            if isinstance(value, Known) and type(value.value) is not int:
                return None
            return self._wide(self.f.number(value)) if isinstance(value, (Known, Number)) else None
        operation = leaf._ag_op
        if operation is None or leaf._ag_type != Py(int) or depth > DEPTH:
            return None
        args = [self._estimate(arg, depth + 1) for arg in operation.args]
        if None in args or operation.name not in ("add", "sub", "mul", "range_item", "range_length"):
            return None
        if operation.name == "range_item":
            return self._made("fadd", args[1], self._made("fmul", args[0], args[2]))
        if operation.name == "range_length":
            first, bound = args[:2] if len(args) > 1 else (0.0, args[0])
            return self._made("fsub", bound, first)
        return self._made("f" + operation.name, *args)

    def _wide(self, n: Number) -> Any:
        if n.dtype.kind not in "iu":
            return None
        if not n.ir.startswith("%"):
            return float(int(n.ir))
        return self.f.b.value(f"sitofp i{8 * n.dtype.itemsize} {n.ir} to double")

    def _made(self, name: str, x: Any, y: Any) -> Any:
        if isinstance(x, float) and isinstance(y, float):
            return {"fadd": x + y, "fsub": x - y, "fmul": x * y}[name]
        return self.f.b.value(f"{name} double {_text(x)}, {_text(y)}")


def _text(x: Any) -> str:
    return x if isinstance(x, str) else float_literal(x)


def _cost(operation: Operation) -> float:
    known = COSTS.get(operation.name)
    if known is None:
        known = FUNCTION if operation.name.startswith(("np.", "math.", "ndarray.")) else SIMPLE
    count = 1
    arrays = [t._ag_type for t in (*operation.inputs, *operation.outputs) if isinstance(t._ag_type, Array)]
    if operation.name == "get_item":
        arrays = []  # a view
    if operation.name == "set_item":
        arrays = arrays[1:]
    for t in arrays:
        size = 1
        for d in t.shape or ():
            size *= ELEMENTS if d is None else d
        count = max(count, size)
    return float(known * count)
