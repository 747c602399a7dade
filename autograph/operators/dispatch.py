"""What Python's and NumPy's protocols mean on a tensor while a function is traced."""

from __future__ import annotations

import dis
import functools
import sys
import types
from typing import Any

import numpy as np

from autograph.core.generated import is_generated
from autograph.graph.graph import Tensor
from autograph.operators import branches, containers, loops
from autograph.operators.calls import HANDLERS, call, call_op
from autograph.operators.containers import del_item, get_item, set_item
from autograph.operators.objects import binary, compare, get_attr, inplace, set_attr, unary
from autograph.operators.tracer import require
from autograph.ops import arithmetic
from autograph.ops.base import BY_FUNCTION


@functools.lru_cache(maxsize=1024)
def _signs(code: types.CodeType) -> dict[int, str]:
    """The operators that code applies, by the offset of the instruction: '<', '+', '+=', ..."""
    found = {}
    for instruction in dis.get_instructions(code):
        if instruction.opname == "COMPARE_OP":
            found[instruction.offset] = instruction.argrepr.removeprefix("bool(").removesuffix(")")
        elif instruction.opname == "BINARY_OP":
            found[instruction.offset] = instruction.argrepr
        elif instruction.opname.startswith("INPLACE_"):  # Python 3.10
            found[instruction.offset] = "="
    return found


def _written() -> str:
    """The operator as the user wrote it, where converted code applies one right now; empty elsewhere.

    Python asks the right operand of `None < x` or `None += x` in other words (`x > None`, `None + x`): the
    difference shows in the message of the exception.
    """
    frame = sys._getframe(2)
    return _signs(frame.f_code).get(frame.f_lasti, "") if is_generated(frame.f_code) else ""


@functools.lru_cache(maxsize=1024)
def _lefts(code: types.CodeType) -> dict[int, tuple[bool, Any]]:
    """The left operands of comparisons, by the offset: (True, constant) or (False, variable)."""
    found = {}
    stack: list[tuple[bool, Any] | None] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "COMPARE_OP" and len(stack) > 1 and stack[-2] is not None:
            found[instruction.offset] = stack[-2]
        arg = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
        effect = dis.stack_effect(instruction.opcode, arg, jump=False)
        if effect < 0:
            del stack[effect:]
        stack += [None] * effect
        if instruction.opname == "LOAD_CONST":
            stack[-1] = True, instruction.argval
        elif instruction.opname in ("LOAD_FAST", "LOAD_DEREF", "LOAD_FAST_LOAD_FAST"):
            names = instruction.argval if effect == 2 else (instruction.argval,)
            stack[-effect:] = [(False, name) for name in names]
        elif stack:  # other instructions give at most one value
            stack[-1] = None
    return found


def _is_left(value: Any) -> bool:
    """Whether converted code that compares something right now has this value on the left.

    Python asks the right operand of `value == x` as it asks the left one of `x == value`.
    """
    frame = sys._getframe(2)
    if not is_generated(frame.f_code):
        return False
    left = _lefts(frame.f_code).get(frame.f_lasti)
    return left is not None and (left[1] if left[0] else frame.f_locals.get(left[1])) is value


def _binary(symbol: str, name: str) -> None:
    def forward(self: Any, other: Any) -> Any:
        return binary(symbol, self, other)

    def backward(self: Any, other: Any) -> Any:
        if _written().endswith("="):
            return inplace(symbol, other, self)
        return binary(symbol, other, self)

    def in_place(self: Any, other: Any) -> Any:
        return inplace(symbol, self, other)

    setattr(Tensor, f"__{name}__", forward)
    setattr(Tensor, f"__r{name}__", backward)
    setattr(Tensor, f"__i{name}__", in_place)


_REFLECTED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _compare(symbol: str, name: str) -> None:
    reflected = _REFLECTED.get(symbol)

    def method(self: Any, other: Any) -> Any:
        if reflected is not None and not isinstance(other, Tensor) and _written() == reflected:
            return compare(reflected, other, self)
        if reflected is None and type(other) is complex and _is_left(other):
            return compare(symbol, other, self)  # a bool for np.float64, the other way round a np.bool
        return compare(symbol, self, other)

    setattr(Tensor, f"__{name}__", method)
    branches._COMPARE[symbol] = getattr(containers, name)


def _refusing(name: str, what: str, instead: str) -> None:
    def method(self: Any, *args: Any) -> Any:
        require().refuse(
            what,
            "It is only known when the graph runs, and this code is not converted, so it runs while the "
            "graph is built.",
            instead,
        )

    setattr(Tensor, name, method)


def _array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if method == "__call__":
        op = BY_FUNCTION.get(ufunc)
        if op is None:
            return NotImplemented
        inputs = tuple(_scalar(x) for x in inputs)
        return call_op(op, inputs, kwargs)
    from autograph.ops.ufuncs import ufunc_method

    return call_op(ufunc_method(ufunc, method), inputs, kwargs)


def _scalar(x: Any) -> Any:
    """A NumPy scalar that NumPy itself has made an array of, on the way from `scalar > tensor`."""
    return x[()] if type(x) is np.ndarray and x.shape == () else x


def _array_function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if function not in BY_FUNCTION and function not in HANDLERS:
        name = f"{getattr(function, '__module__', 'numpy')}.{getattr(function, '__name__', function)}"
        require().refuse(
            f"'{name}' is called, and autograph has no op for it",
            "What it does and returns is not known while the graph is built.",
            f"Compose it from functions that have one, or declare its result: ag.host_call({name}, ..., "
            "result=ag.spec(...)).",
        )
    return call(function, *args, **kwargs)


def _getattr(self: Any, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    require()
    return get_attr(self, name)


def _iter(self: Any) -> Any:
    known = loops.known_items(self)
    if known is None:
        require().refuse(
            "code that is not converted iterates over a traced value",
            "How many items it has is only known when the graph runs.",
            "Convert the code, or loop over a range of its length.",
        )
    return iter(known)


def install() -> None:
    """Gives `Tensor` its operators."""
    for symbol, (name, _, _) in arithmetic.SYMBOLS.items():
        _binary(symbol, name)
    for symbol, name in (("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"), ("==", "eq"), ("!=", "ne")):
        _compare(symbol, name)
    namespace: dict[str, Any] = {
        "__hash__": object.__hash__,
        "__neg__": lambda self: unary("-", self),
        "__pos__": lambda self: unary("+", self),
        "__invert__": lambda self: unary("~", self),
        "__abs__": lambda self: call(abs, self),
        "__round__": lambda self, *n: call(round, self, *n),
        "__divmod__": lambda self, other: call(divmod, self, other),
        "__rdivmod__": lambda self, other: call(divmod, other, self),
        "__getitem__": get_item,
        "__setitem__": set_item,
        "__delitem__": del_item,
        "__getattr__": _getattr,
        "__setattr__": set_attr,
        "__call__": lambda self, *args, **kwargs: call(self, *args, **kwargs),
        "__iter__": _iter,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
    }
    for name, method in namespace.items():
        setattr(Tensor, name, method)
    _refusing(
        "__bool__",
        "the truth of a traced value is asked by code that is not converted",
        "Convert the code, or use ag.cond.",
    )
    for name in ("__int__", "__float__", "__index__", "__complex__"):
        _refusing(
            name,
            "a traced value is converted to a Python number by code that is not converted",
            "Convert the code.",
        )
    _refusing(
        "__len__", "the length of a traced value is asked by code that is not converted", "Use x.shape[0]."
    )
    _refusing("__contains__", "'in' on a traced value in code that is not converted", "Convert the code.")
    _refusing(
        "__str__",
        "a traced value is formatted by code that is not converted",
        "Use print() or an f-string in converted code.",
    )
    _refusing(
        "__format__",
        "a traced value is formatted by code that is not converted",
        "Use print() or an f-string in converted code.",
    )
    _refusing(
        "__array__",
        "a traced value is turned into an array by code that is not converted",
        "Use a NumPy function that has an op.",
    )
