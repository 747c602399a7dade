"""Operations that are given the array for their result, as in `np.add(x, y, out=z)`.

Such an operation is lowered as the one without `out`, and what that gives is written. All checks of the array
come before the first write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.compiler import arrays
from autograph.compiler.lowering import FunctionLowering, Rule
from autograph.compiler.values import Elements, Lazy, Memory, Number, Value, array_type, scalar_dtype
from autograph.graph.graph import Operation, Tensor
from autograph.graph.tree import map_tree

BUFFERED = frozenset(
    {"sum", "prod", "max", "min", "mean", "any", "all", "cumsum", "cumprod", "std", "var"}
    | {"dot", "matmul", "clip"}
)
"""Functions, besides ufuncs, that NumPy computes as if they read all of their operands before they write."""


def without(operation: Operation) -> tuple[Operation, Tensor] | None:
    """The operation that makes an array of its own, and the array that this one is given; else None."""
    args, kwargs = operation.args, {n: v for n, v in operation.kwargs.items() if n != "out"}
    given = operation.op.given(args, operation.kwargs)
    if len(args) > operation.op.out:
        if len(args) > operation.op.out + 1:
            return None  # several results, or options
        args = args[:-1]
    if isinstance(given, tuple) and len(given) == 1:
        given = given[0]
    made = operation.outputs[0]._ag_type if len(operation.outputs) == 1 else None
    if not isinstance(given, Tensor) or made is None or array_type(made) is None:
        return None

    def typed(leaf: Any) -> Any:
        return leaf._ag_type if isinstance(leaf, Tensor) else leaf

    try:
        t = operation.op.infer(*map_tree(typed, (args, kwargs)))
    except Exception:  # a rule that cannot tell: the kernel is called
        return None
    if t is None or (array_type(t) is None and scalar_dtype(t) is None):
        return None
    result = Tensor(t, operation.outputs[0]._ag_graph)
    return Operation(operation.name, args, kwargs, [result], place=operation.place, op=operation.op), given


def rule_for(rule: Rule) -> Rule:
    """The rule for an operation that writes the array it is given, and gives it."""
    return lambda f, operation, *args, **options: _lower(f, operation, rule)


def _lower(f: FunctionLowering, operation: Operation, rule: Rule) -> Value | None:
    found = without(operation)
    if found is None:
        return None
    plain, tensor = found
    target = f.env.get(id(tensor))
    if not isinstance(target, Memory) or not arrays.writeable(f, operation, target):
        return None
    args, options = f.operands(plain.args), f.operands(plain.kwargs)
    name = plain.name.removeprefix("np.")
    if isinstance(plain.op.kernel, np.ufunc) and plain.op.kernel.signature is None:
        values = [arrays.value_as_array(f, v) for v in args]
        if options or len(values) != plain.op.kernel.nin or any(v is None for v in values):
            return None
        made = arrays.mapping(operation, name, values)
        return target if made is not None and arrays.write_map(f, operation, target, *made) else None
    t = plain.outputs[0]._ag_type
    if (scalar_dtype(t) or array_type(t).dtype) != target.dtype or not target.contiguous:  # type: ignore[union-attr]
        return None
    roots = [v.root for t in plain.inputs if isinstance(v := f.env.get(id(t)), Memory)]
    apart = not any(f.may_alias(root, target.root) for root in roots)
    if not apart and plain.name.partition(".")[2] not in BUFFERED:
        return None
    source = rule(f, plain, *args, **options)
    if not isinstance(source, (Number, Memory, Elements, Lazy)) or arrays.dims_of(source) != target.dims:
        return None
    arrays.write(f, target, source)
    return target
