"""Sums of products by letters: np.einsum, np.tensordot, np.outer, np.kron; and np.trace and np.linalg.norm.

All of the first four name the axes of two arrays by letters. Letters that are summed make it a product of
matrices, once the others are merged into rows and columns; without them it is an elementwise product.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from autograph.compiler import arrays, linear, reductions
from autograph.compiler.elementwise import ELEMENT, Lanes
from autograph.compiler.linear import dot, equal, multiply, operand
from autograph.compiler.lowering import FunctionLowering, rule
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Value,
    array_type,
    scalar_dtype,
)
from autograph.graph.graph import Operation
from autograph.records import replace


def _array(f: FunctionLowering, v: Any) -> Any:
    """An array that is no number; else None."""
    v = arrays.value_as_array(f, v) if isinstance(v, Value) else None
    return v if isinstance(v, (Memory, Elements, Lazy)) and arrays.dims_of(v) else None


# -- letters -------------------------------------------------------------------------------------------------


def contract(
    f: FunctionLowering, operation: Operation, x: Any, y: Any, first: str, second: str, out: str
) -> Value | None:
    """The product of two arrays, their axes named by letters, summed over the letters not in `out`."""
    shared = set(first) & set(second)
    summed = [c for c in first if c in shared and c not in out]
    letters = set(first) | set(second)
    repeated = any(len(set(s)) != len(s) for s in (first, second, out))
    if repeated or set(out) - letters or (letters - set(out)) != set(summed):
        return None
    sizes: dict[str, Any] = dict(zip(first, arrays.dims_of(x)))
    for c, d in zip(second, arrays.dims_of(y)):
        if sizes.setdefault(c, d) != d:
            return None  # a dimension of 1 would be stretched
    if not summed:
        return _elementwise(f, operation, x, y, first, second, out)
    t = array_type(operation.outputs[0]._ag_type)
    dtype = t.dtype if t is not None else scalar_dtype(operation.outputs[0]._ag_type)
    if dtype is None or (t is None and dtype.kind != "f"):
        return None
    a, b = operand(f, x, dtype), operand(f, y, dtype)
    batch = [c for c in out if c in shared]
    rows = [c for c in out if c in first and c not in shared]
    columns = [c for c in out if c in second and c not in shared]
    if rows and columns and out.index(columns[0]) < out.index(rows[0]):
        a, b, first, second, rows, columns = b, a, second, first, columns, rows
    a = merged(f, a, first, [*([c] for c in batch), rows, summed])
    b = merged(f, b, second, [*([c] for c in batch), summed, columns])
    if t is None:
        k = a.dims[1]
        vectors = [replace(m, dims=(k,), strides=(m.strides[i],)) for m, i in ((a, 1), (b, 0))]
        return Number(operation.outputs[0]._ag_type, dtype, (dot(f, *vectors),))
    natural = "".join([*batch, *rows, *columns])
    target = arrays.allocate(f, dtype, tuple(sizes[c] for c in natural), operation)
    dims = (*(sizes[c] for c in batch), a.dims[-2], b.dims[-1])
    whole = f.as_contiguous(replace(target, dims=dims))

    def each(index: list[str]) -> None:
        multiply(f, *(linear.of_batch(f, m, index, dims[:-2]) for m in (whole, a, b)))

    linear.nest(f, list(dims[:-2]), each)
    if natural == out:
        return target
    return arrays._copied(f, _permuted(target, [natural.index(c) for c in out]))


def _permuted(m: Memory, order: list[int]) -> Memory:
    plain = order == list(range(len(order)))
    return replace(
        m,
        dims=tuple(m.dims[k] for k in order),
        strides=tuple(m.strides[k] for k in order),
        contiguous=m.contiguous and plain,
    )


def merged(f: FunctionLowering, m: Memory, letters: str, groups: list[list[str]]) -> Memory:
    """An array whose axes are groups of the letters of its axes; copied where they do not lie so."""
    order = [letters.index(c) for group in groups for c in group]
    p = _permuted(m, order)
    dims: list[Any] = []
    strides: list[Any] = []
    at = 0
    for group in groups:
        end = at + len(group)
        if not all(_follows(p, k, order, m.contiguous) for k in range(at, end - 1)):
            p = replace(p, contiguous=False)
            return merged(f, arrays._copied(f, p), "".join(letters[k] for k in order), groups)
        size: Any = 1
        for d in p.dims[at:end]:
            size = f.times(size, d)
        dims.append(size)
        strides.append(p.strides[end - 1] if group else p.dtype.itemsize)
        at = end
    return replace(p, dims=tuple(dims), strides=tuple(strides))


def _follows(p: Memory, k: int, order: list[int], dense: bool) -> bool:
    """Whether an axis and the next one can be one axis."""
    if dense and order[k + 1] == order[k] + 1:
        return True
    across, along, d = p.strides[k], p.strides[k + 1], p.dims[k + 1]
    known = isinstance(across, int) and isinstance(along, int) and isinstance(d, int)
    return known and across == along * d  # type: ignore[operator]


def _elementwise(
    f: FunctionLowering, operation: Operation, x: Any, y: Any, first: str, second: str, out: str
) -> Value | None:
    if array_type(operation.outputs[0]._ag_type) is None:
        return None
    args: list[Value] = []
    for v, letters in ((x, first), (y, second)):
        m = arrays.memory(f, v)
        dims = [m.dims[letters.index(c)] if c in letters else 1 for c in out]
        strides = [m.strides[letters.index(c)] if c in letters else 0 for c in out]
        dense = m.contiguous and letters == out
        args.append(replace(m, dims=tuple(dims), strides=tuple(strides), contiguous=dense, ordered=True))
    return arrays.elementwise(f, operation, "multiply", args)


def in_c_order(terms: list[str], out: str, sizes: dict[str, Any]) -> bool:
    """Whether np.einsum gives an array in C order for arrays in C order, whatever the unknown sizes are.

    It walks over all letters as NumPy's iterator does, the axes with the larger strides outside.

    >>> in_c_order(["ij", "jk"], "ik", {}), in_c_order(["ij", "jk"], "ki", {})
    (True, False)
    """
    letters = [*out, *sorted(set("".join(terms)) - set(out))]
    unknown = [c for c in letters if not isinstance(sizes.get(c, 2), int)]
    for chosen in range(1 << len(unknown)):
        ones = {c for k, c in enumerate(unknown) if chosen >> k & 1} | {
            c for c in letters if sizes.get(c) == 1
        }
        order = [c for c in _sorted_axes(terms, letters, ones) if c in out and c not in ones]
        if order != [c for c in out if c not in ones]:
            return False
    return True


def _sorted_axes(terms: list[str], letters: list[str], ones: set[str]) -> list[str]:
    """The letters from the outermost axis to the innermost one; `ones` have no stride."""
    order: list[str] = []
    for c in reversed(letters):
        place = len(order)
        for k in range(len(order) - 1, -1, -1):
            inner = order[k]
            both = [t for t in terms if c in t and inner in t and not {c, inner} & ones]
            if both and not all(t.index(inner) < t.index(c) for t in both):
                break
            place = k if both else place
        order.insert(place, c)
    return order[::-1]


@rule("np.einsum")
def einsum(f: FunctionLowering, operation: Operation, text: Any, *args: Any, **options: Any) -> Value | None:
    if options or len(args) != 2 or not isinstance(text, Known):
        return None
    x, y = _array(f, args[0]), _array(f, args[1])
    inputs, arrow, out = str(text.value).replace(" ", "").partition("->")
    terms = inputs.split(",")
    if x is None or y is None or len(terms) != 2 or not inputs.replace(",", "").isalpha():
        return None
    if not arrow:
        out = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    sizes = dict(zip("".join(terms), (*arrays.dims_of(x), *arrays.dims_of(y))))
    if not (arrays.in_order(x) and arrays.in_order(y) and in_c_order(terms, out, sizes)):
        return None
    return contract(f, operation, x, y, terms[0], terms[1], out)


def _known(v: Any) -> Any:
    """A number, or a sequence of these, that is known; else None."""
    if isinstance(v, Known):
        return v.value
    items = v if isinstance(v, tuple) else getattr(v, "virtual", None) or getattr(v, "items", None)
    found = [_known(i) for i in items] if isinstance(items, tuple) else [None]
    return None if None in found else found


@rule("np.tensordot")
def tensordot(f: FunctionLowering, operation: Operation, a: Any, b: Any, axes: Any = None) -> Value | None:
    x, y = _array(f, a), _array(f, b)
    given = 2 if axes is None else _known(axes)
    if x is None or y is None or given is None:
        return None
    dx, dy = arrays.dims_of(x), arrays.dims_of(y)
    if isinstance(given, (int, np.integer)):
        left, right = list(range(len(dx) - int(given), len(dx))), list(range(int(given)))
    elif isinstance(given, (tuple, list)) and len(given) == 2:
        left, right = ([*p] if isinstance(p, (tuple, list)) else [p] for p in given)
        left, right = [p % len(dx) for p in left], [p % len(dy) for p in right]
    else:
        return None
    if len(left) != len(right) or any(
        not 0 <= p < len(dx) or not 0 <= q < len(dy) or not equal(f, operation, dx[p], dy[q])
        for p, q in zip(left, right)
    ):
        return None
    names = iter(string.ascii_letters)
    first = [next(names) for _ in dx]
    second = [first[left[right.index(q)]] if q in right else next(names) for q in range(len(dy))]
    summed = {first[p] for p in left}
    out = [c for c in [*first, *second] if c not in summed]
    sizes = tuple(dx[left[right.index(q)]] if q in right else d for q, d in enumerate(dy))
    y = replace(arrays.memory(f, y), dims=sizes)
    return contract(f, operation, x, y, "".join(first), "".join(second), "".join(out))


@rule("np.outer")
def outer(f: FunctionLowering, operation: Operation, a: Any, b: Any) -> Value | None:
    x, y = _array(f, a), _array(f, b)
    if x is None or y is None or len(arrays.dims_of(x)) != 1 or len(arrays.dims_of(y)) != 1:
        return None
    return contract(f, operation, x, y, "i", "j", "ij")


# -- sums ----------------------------------------------------------------------------------------------------


@rule("np.trace", "ndarray.trace")
def trace(f: FunctionLowering, operation: Operation, a: Any) -> Value | None:
    x, out = _array(f, a), operation.outputs[0]._ag_type
    dtype = scalar_dtype(out)
    if x is None or dtype is None or len(arrays.dims_of(x)) != 2 or x.dtype.kind == "c":
        return None
    m, n = arrays.dims_of(x)
    diagonal: Any
    if isinstance(x, Elements):
        items = tuple(x.items[i * (n + 1)] for i in range(min(m, n)))
        diagonal = Elements(x.dtype, (len(items),), items)
    else:
        x = arrays.memory(f, x)
        known = isinstance(m, int) and isinstance(n, int)
        count = min(m, n) if known else f.b.call("i64", "llvm.smin.i64", f"i64 {m}", f"i64 {n}")
        diagonal = replace(x, dims=(count,), strides=(f.plus(*x.strides),), contiguous=False)
    return reductions.reduce(f, operation, "sum", diagonal, {0}, dtype, False, True)


@rule("np.linalg.norm")
def norm(f: FunctionLowering, operation: Operation, a: Any, *args: Any, **options: Any) -> Value | None:
    """The root of the sum of the squares: the norm of a vector, the norm of Frobenius of a matrix."""
    given = {**dict(zip(("ord", "axis", "keepdims"), args)), **options}
    if len(args) > 3 or set(given) - {"ord", "axis", "keepdims"}:
        return None
    if not all(isinstance(v, Known) for v in given.values()):
        return None
    kind, axis, keep = (given[n].value if n in given else None for n in ("ord", "axis", "keepdims"))
    x, out = _array(f, a), operation.outputs[0]._ag_type
    t = array_type(out)
    dtype = t.dtype if t is not None else scalar_dtype(out)
    if x is None or dtype is None or dtype.kind != "f" or x.dtype.kind == "c":
        return None
    dims = arrays.dims_of(x)
    if axis is None:
        if keep or not (kind is None or (kind == 2 and len(dims) == 1) or (kind == "fro" and len(dims) == 2)):
            return None
        axes = set(range(len(dims)))
    elif type(axis) is int and -len(dims) <= axis < len(dims) and kind in (None, 2):
        axes = {axis % len(dims)}
        if len(dims) > 2 and not arrays.in_order(x):
            return None
    else:
        return None
    total = _squares(f, operation, x, dtype, axes, bool(keep), t is None)
    if isinstance(total, Number):
        return Number(out, dtype, ELEMENT["sqrt"](Lanes(f.b), dtype, total.parts))
    return None if total is None else arrays.build(f, operation, arrays.Map("sqrt", (dtype,), dtype), [total])


def _squares(
    f: FunctionLowering,
    operation: Operation,
    x: Any,
    dtype: np.dtype[Any],
    axes: set[int],
    keep: bool,
    scalar: bool,
) -> Value | None:
    """The sum of the squares along some axes."""
    dims = arrays.dims_of(x)
    if scalar and isinstance(x, Memory) and x.dtype == dtype and (x.contiguous or len(dims) == 1):
        count: Any = 1
        for d in dims:
            count = f.times(count, d)
        vector = replace(x, dims=(count,), strides=x.strides[-1:])
        return Number(operation.outputs[0]._ag_type, dtype, (dot(f, vector, vector),))
    square: Any = Lazy(dtype, dims, arrays.Map("multiply", (dtype, dtype), dtype), (x, x))
    if isinstance(x, Elements):
        square = arrays.elements(f, square)
    return reductions.reduce(f, operation, "sum", square, axes, dtype, keep, scalar)


@rule("np.kron")
def kron(f: FunctionLowering, operation: Operation, a: Any, b: Any) -> Value | None:
    """All products, each axis of the first array beside the same axis of the second one."""
    x, y, t = _array(f, a), _array(f, b), array_type(operation.outputs[0]._ag_type)
    if x is None or y is None or t is None:
        return None
    dx, dy = arrays.dims_of(x), arrays.dims_of(y)
    if len(dx) != len(dy) or len(dx) > 8:
        return None
    first, second = string.ascii_lowercase[: len(dx)], string.ascii_uppercase[: len(dy)]
    out = "".join(p + q for p, q in zip(first, second))
    found = contract(f, operation, x, y, first, second, out)
    if found is None:
        return None
    m = arrays.memory(f, found)
    dims = tuple(f.times(p, q) for p, q in zip(dx, dy))
    return f.as_contiguous(replace(m, dims=dims, is_object=False, contiguous=True))
