"""Linear algebra and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import BOTTOM, Array, Const, Dim, TupleT, Type, join
from autograph.ops.base import (
    Refuse,
    broadcast,
    result_type,
    sample,
    sequence,
    shape_of,
    static,
    type_of,
)
from autograph.ops.rules import Static, into, numpy_op, probed, quietly, sizes, typed
from autograph.ops.shaping import axes_of, dtype_in
from autograph.ops.ufuncs import reduced_shape

__all__ = ["matmul_shape"]


def _same(a: Dim, b: Dim) -> bool:
    return a is None or b is None or a == b


def matmul_shape(a: Any, b: Any) -> Any:
    """The shape of `a @ b`; BOTTOM where the shapes never fit.

    >>> matmul_shape((5, 2, 3), (3, 4)), matmul_shape((3,), (3,)), matmul_shape((3,), (4,))
    ((5, 2, 4), (), never)
    """
    if not a or not b:
        return BOTTOM
    inner = b[0] if len(b) == 1 else b[-2]
    if not _same(a[-1], inner):
        return BOTTOM
    batch = broadcast(a[:-2], b[:-2])
    if isinstance(batch, Type):
        return BOTTOM
    return (*batch, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))  # type: ignore[misc]


def dot_shape(a: Any, b: Any) -> Any:
    if not a or not b:
        return a or b
    inner = b[0] if len(b) == 1 else b[-2]
    if not _same(a[-1], inner):
        return BOTTOM
    return (*a[:-1], *b[:-2], *(b[-1:] if len(b) > 1 else ()))


def inner_shape(a: Any, b: Any) -> Any:
    if not a or not b:
        return a or b
    return (*a[:-1], *b[:-1]) if _same(a[-1], b[-1]) else BOTTOM


def vdot_shape(a: Any, b: Any) -> Any:
    return ()


def vecdot_shape(a: Any, b: Any) -> Any:
    if not a or not b or not _same(a[-1], b[-1]):
        return BOTTOM
    return broadcast(a[:-1], b[:-1])


def _product(fn: Any, shape: Callable[[Any, Any], Any]) -> Any:
    def body(a: Type, b: Type, /, out: Any = None, **options: Any) -> Type:
        fixed = {n: static(v, f"'{n}'") for n, v in options.items()}
        if "axis" in fixed or "axes" in fixed:
            raise Refuse(f"'np.{fn.__name__}' with axes", "", "Use np.moveaxis first.")
        value = quietly(fn, sample(a), sample(b), **fixed)
        if isinstance(value, Exception):
            return BOTTOM
        dims = shape(shape_of(a), shape_of(b))
        if isinstance(dims, Type):
            return BOTTOM
        if out is None:
            return result_type(value, dims)
        given = out.items[0] if isinstance(out, TupleT) else out[0] if isinstance(out, tuple) else out
        return into(given, fn is np.dot)

    return typed(body)


def _tensordot(a: Type, b: Type, axes: Static = 2) -> Type:
    first: Any = shape_of(a)
    second: Any = shape_of(b)
    if isinstance(axes, (int, np.integer)):
        left, right = tuple(range(-int(axes), 0)), tuple(range(int(axes)))
    else:
        left, right = (tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes)
    i, j = axes_of(left, len(first)), axes_of(right, len(second))
    if i is BOTTOM or j is BOTTOM or len(i) != len(j):
        return BOTTOM
    if any(not _same(first[p], second[q]) for p, q in zip(i, j)):
        return BOTTOM
    value = quietly(np.tensordot, sample(a), sample(b), axes)
    if isinstance(value, Exception):
        return BOTTOM
    rest = (*(d for p, d in enumerate(first) if p not in i), *(d for q, d in enumerate(second) if q not in j))
    return result_type(value, rest)


def _einsum(subscripts: Any, *operands: Type, out: Any = None, **options: Any) -> Type:
    text = static(subscripts, "'subscripts'")
    if not isinstance(text, str):
        raise Refuse("'np.einsum' without a string of subscripts", "", "Write the subscripts as a string.")
    fixed = {n: static(v, f"'{n}'") for n, v in options.items()}
    value = quietly(np.einsum, text, *map(sample, operands), **fixed)
    if isinstance(value, Exception):
        return BOTTOM
    if out is not None:
        return type_of(out)
    shape = _einsum_shape(text, [shape_of(o) for o in operands], np.ndim(value))
    return shape if shape is BOTTOM else result_type(value, shape)


def _einsum_shape(text: str, shapes: list[Any], rank: int) -> Any:
    text = text.replace(" ", "")
    if "..." in text:
        return (None,) * rank
    inputs, _, output = text.partition("->")
    letters = inputs.replace(",", "")
    if "->" not in text:
        output = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    dims: dict[str, Dim] = {}
    for term, shape in zip(inputs.split(","), shapes):
        for letter, dim in zip(term, shape):
            old = dims.get(letter, 1)
            if old == 1 or (old is None and dim not in (1, None)):
                dims[letter] = dim
            elif dim not in (None, 1, old):
                return BOTTOM
    return tuple(dims[c] for c in output)


def _trace(
    a: Type, offset: Any = 0, axis1: Static = 0, axis2: Static = 1, dtype: Static = None, out: Any = None
) -> Type:
    shape: Any = shape_of(a)
    places = axes_of((axis1, axis2), len(shape))
    value = quietly(np.trace, sample(a), 0, axis1, axis2, dtype)
    if places is BOTTOM or isinstance(value, Exception):
        return BOTTOM
    return (
        type_of(out)
        if out is not None
        else result_type(value, tuple(d for i, d in enumerate(shape) if i not in places))
    )


# -- numpy.linalg ----------------------------------------------------------------------------------


def _square(shape: Any) -> bool:
    return len(shape) >= 2 and _same(shape[-1], shape[-2])


def _unit(t: Any) -> Any:
    """A stand-in that has an inverse: a 1 x 1 identity in each place."""
    return np.ones((1,) * len(t.shape), t.dtype) if isinstance(t, Array) else sample(t)  # type: ignore[arg-type]


def _smaller(m: Dim, n: Dim) -> Dim:
    return 0 if 0 in (m, n) else None if m is None or n is None else min(m, n)


def _of_square(fn: Any, shapes: Callable[[Any], Any]) -> Any:
    """The rule of a function of square matrices; `shapes` gives a list of shapes, or one."""

    def body(a: Type, *rest: Any, **options: Any) -> Type:
        shape: Any = shape_of(a)
        if not _square(shape):
            return BOTTOM
        fixed = [static(v, "an argument") for v in rest]
        value = quietly(fn, _unit(a), *fixed, **{n: static(v, f"'{n}'") for n, v in options.items()})
        if isinstance(value, Exception):
            return BOTTOM
        return _shaped(value, shapes(shape))

    return typed(body)


def _shaped(value: Any, shapes: Any) -> Type:
    if isinstance(value, tuple):
        return TupleT(tuple(_shaped(v, s) for v, s in zip(value, shapes)), type(value))
    return result_type(value, shapes)


def _eig(fn: Any, vectors: bool) -> Any:
    """Eigenvalues of a real matrix are real or complex, as the values have it."""

    def body(a: Type) -> Type:
        shape: Any = shape_of(a)
        if not _square(shape):
            return BOTTOM
        value = quietly(fn, _unit(a))
        if isinstance(value, Exception):
            return BOTTOM
        shapes = [shape[:-1], shape] if vectors else shape[:-1]
        real = _shaped(value, shapes)
        matrix = np.zeros((1,) * (len(shape) - 2) + (2, 2), dtype_in(a))
        if matrix.dtype.kind in "c":
            return real
        if matrix.dtype.kind in "bu":
            matrix = matrix.astype(float)  # NumPy computes with float64 for integers
        matrix[..., 0, 1], matrix[..., 1, 0] = 1, -1
        return join(real, _shaped(quietly(fn, matrix), shapes))

    return typed(body)


def _solve(a: Type, b: Type) -> Type:
    first: Any = shape_of(a)
    second: Any = shape_of(b)
    if not _square(first) or not second:
        return BOTTOM
    value = quietly(np.linalg.solve, _unit(a), sample(b))
    if isinstance(value, Exception):
        return BOTTOM
    if len(second) == 1:
        if not _same(first[-1], second[0]):
            return BOTTOM
        batch = first[:-2]
        return result_type(value, (*batch, first[-1] if first[-1] is not None else second[0]))
    batch = broadcast(first[:-2], second[:-2])
    if isinstance(batch, Type) or not _same(first[-1], second[-2]):
        return BOTTOM
    return result_type(value, (*batch, second[-2], second[-1]))  # type: ignore[misc]


def _svd(a: Type, full_matrices: Static = True, compute_uv: Static = True, hermitian: Static = False) -> Type:
    shape: Any = shape_of(a)
    if len(shape) < 2 or (hermitian and not _square(shape)):
        return BOTTOM
    value = quietly(np.linalg.svd, _unit(a), full_matrices, compute_uv, hermitian)
    if isinstance(value, Exception):
        return BOTTOM
    *batch, m, n = shape
    k = _smaller(m, n)
    if not compute_uv:
        return result_type(value, (*batch, k))
    if full_matrices:
        return _shaped(value, [(*batch, m, m), (*batch, k), (*batch, n, n)])
    return _shaped(value, [(*batch, m, k), (*batch, k), (*batch, k, n)])


def _qr(a: Type, mode: Static = "reduced") -> Type:
    shape: Any = shape_of(a)
    if len(shape) < 2:
        return BOTTOM
    value = quietly(np.linalg.qr, _unit(a), mode)
    if isinstance(value, Exception):
        return BOTTOM
    *batch, m, n = shape
    k = _smaller(m, n)
    if mode == "r":
        return result_type(value, (*batch, k, n))
    if mode == "complete":
        return _shaped(value, [(*batch, m, m), (*batch, m, n)])
    if mode == "reduced":
        return _shaped(value, [(*batch, m, k), (*batch, k, n)])
    return _shaped(value, [(*batch, n, m), (*batch, k)])


def _lstsq(a: Type, b: Type, rcond: Any = None) -> Type:
    first: Any = shape_of(a)
    second: Any = shape_of(b)
    if len(first) != 2 or len(second) not in (1, 2) or not _same(first[0], second[0]):
        return BOTTOM
    value = quietly(np.linalg.lstsq, _unit(a), sample(b), None)
    if isinstance(value, Exception):
        return BOTTOM
    samples = (np.ones((1, 1)), np.ones((2, 1)), np.ones((2, 2)))
    rank = [result_type(np.linalg.lstsq(matrix, np.ones(len(matrix)), None)[2]) for matrix in samples]
    x, residuals, _, s = value
    return TupleT(
        (
            result_type(x, (first[1], *second[1:])),
            result_type(residuals, (None,)),
            join(*rank),
            result_type(s, (_smaller(*first),)),
        )
    )


def _pinv(a: Type, rcond: Any = None, hermitian: Static = False, *, rtol: Any = None) -> Type:
    shape: Any = shape_of(a)
    value = quietly(np.linalg.pinv, _unit(a), hermitian=hermitian)
    if len(shape) < 2 or isinstance(value, Exception):
        return BOTTOM
    return result_type(value, (*shape[:-2], shape[-1], shape[-2]))


def _matrix_power(a: Type, n: Any) -> Type:
    shape: Any = shape_of(a)
    power = type_of(n)
    if not _square(shape):
        return BOTTOM
    powers = [power.value] if isinstance(power, Const) else [2, -1]
    results = []
    for p in powers:
        value = quietly(np.linalg.matrix_power, _unit(a), min(p, 2) if isinstance(p, int) and p > 0 else p)
        if not isinstance(value, Exception):
            results.append(result_type(value, shape))
    return join(*results)


def _norm(x: Type, ord: Static = None, axis: Static = None, keepdims: Static = False) -> Type:
    shape: Any = shape_of(x)
    value = quietly(np.linalg.norm, _unit(x), ord, axis, keepdims)
    if isinstance(value, Exception):
        return BOTTOM
    return result_type(value, reduced_shape(shape, axis, keepdims))


def _matrix_rank(A: Type, tol: Any = None, hermitian: Static = False, *, rtol: Any = None) -> Type:
    shape: Any = shape_of(A)
    value = quietly(np.linalg.matrix_rank, _unit(A), hermitian=hermitian)
    if isinstance(value, Exception):
        return BOTTOM
    return result_type(value, shape[:-2])


def _cond(x: Type, p: Static = None) -> Type:
    shape: Any = shape_of(x)
    if len(shape) < 2:
        return BOTTOM
    value = quietly(np.linalg.cond, _unit(x), p)
    if isinstance(value, Exception):
        return BOTTOM
    return result_type(value, shape[:-2])


def _multi_dot(arrays: Any, *, out: Any = None) -> Type:
    items, length = sequence(type_of(arrays))
    if items is None or length != len(items) or length < 2:
        raise Refuse("'np.linalg.multi_dot' of an unknown number of arrays", "", "Use @ in a loop.")
    total = items[0]
    rule = _product(np.dot, dot_shape)
    for item in items[1:]:
        total = rule(total, item)
        if total is BOTTOM:
            return BOTTOM  # type: ignore[no-any-return]
    return into(out, number=True) if out is not None else total


for _name, _rule in (
    ("dot", _product(np.dot, dot_shape)),
    ("inner", _product(np.inner, inner_shape)),
    ("matmul", _product(np.matmul, matmul_shape)),
    ("vdot", _product(np.vdot, vdot_shape)),
):
    numpy_op(_name, _rule, out=2)
if hasattr(np, "vecdot"):
    numpy_op("vecdot", _product(np.vecdot, vecdot_shape), out=2)
numpy_op("tensordot", typed(_tensordot))
numpy_op("einsum", typed(_einsum))
numpy_op("trace", typed(_trace), out=5)

_VALUES_AND_VECTORS: Any = lambda s: [s[:-1], s]  # noqa: E731
for _path, _rule in (
    ("linalg.norm", typed(_norm)),
    ("linalg.inv", _of_square(np.linalg.inv, lambda s: s)),
    ("linalg.det", _of_square(np.linalg.det, lambda s: s[:-2])),
    ("linalg.slogdet", _of_square(np.linalg.slogdet, lambda s: [s[:-2], s[:-2]])),
    ("linalg.cholesky", _of_square(np.linalg.cholesky, lambda s: s)),
    ("linalg.eigh", _of_square(np.linalg.eigh, _VALUES_AND_VECTORS)),
    ("linalg.eigvalsh", _of_square(np.linalg.eigvalsh, lambda s: s[:-1])),
    ("linalg.eig", _eig(np.linalg.eig, True)),
    ("linalg.eigvals", _eig(np.linalg.eigvals, False)),
    ("linalg.solve", typed(_solve)),
    ("linalg.svd", typed(_svd)),
    ("linalg.qr", typed(_qr)),
    ("linalg.lstsq", typed(_lstsq)),
    ("linalg.pinv", typed(_pinv)),
    ("linalg.matrix_power", typed(_matrix_power)),
    ("linalg.matrix_rank", typed(_matrix_rank)),
    ("linalg.cond", typed(_cond)),
    ("linalg.multi_dot", _multi_dot),
    ("linalg.matmul", _product(np.matmul, matmul_shape)),
    ("linalg.svdvals", None),
    ("linalg.vector_norm", None),
    ("linalg.matrix_norm", None),
    ("linalg.outer", None),
    ("linalg.cross", None),
    ("linalg.tensorinv", None),
    ("linalg.tensorsolve", None),
):
    _part: Any = np
    for _piece in _path.split("."):
        _part = getattr(_part, _piece, None)
    if _part is not None:
        numpy_op(_path, _rule if _rule is not None else probed(_part))


# -- numpy.fft -------------------------------------------------------------------------------------


def _fft(fn: Any, length: Callable[[Any], Any]) -> Any:
    """The rule of a transform along one axis; `length` gives the length of the result."""

    def body(a: Type, n: Any = None, axis: Static = -1, norm: Static = None, out: Any = None) -> Type:
        shape: Any = shape_of(a)
        places = axes_of(axis, len(shape))
        if places is BOTTOM:
            return BOTTOM  # type: ignore[no-any-return]
        value = quietly(fn, np.ones((2,) * len(shape), dtype_in(a)), None, axis, norm)
        if isinstance(value, Exception):
            return BOTTOM
        if out is not None:
            return type_of(out)
        i = places[0]
        old = shape[i]
        if n is not None and type_of(n) != Const(None):
            count = type_of(n)
            new = length(count.value) if isinstance(count, Const) and isinstance(count.value, int) else None
            if isinstance(count, Const) and fn in (np.fft.irfft, np.fft.hfft):
                new = count.value
        else:
            new = None if old is None else length(old)
        return result_type(value, (*shape[:i], new, *shape[i + 1 :]))

    return typed(body)


for _name in ("fft", "ifft"):
    numpy_op(f"fft.{_name}", _fft(getattr(np.fft, _name), lambda n: n), out=4)
for _name in ("rfft", "ihfft"):
    numpy_op(f"fft.{_name}", _fft(getattr(np.fft, _name), lambda n: n // 2 + 1), out=4)
for _name in ("irfft", "hfft"):
    numpy_op(f"fft.{_name}", _fft(getattr(np.fft, _name), lambda n: 2 * (n - 1)), out=4)
for _name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn"):
    numpy_op(f"fft.{_name}", probed(getattr(np.fft, _name), static_names=("s", "axes")), out=4)


def _fftfreq(fn: Any) -> Any:
    def body(n: Any, d: Type = 1.0, device: Any = None) -> Type:  # type: ignore[assignment]
        dims = sizes(n)
        if not isinstance(dims, tuple) or len(dims) != 1:
            return BOTTOM
        value = quietly(fn, 3, sample(d))
        if isinstance(value, Exception):
            return BOTTOM
        count = dims[0]
        return Array(value.dtype, (count if fn is np.fft.fftfreq or count is None else count // 2 + 1,))

    return typed(body)


def _fftshift(fn: Any) -> Any:
    return probed(fn, lambda arguments: shape_of(arguments["x"]))


numpy_op("fft.fftfreq", _fftfreq(np.fft.fftfreq))
numpy_op("fft.rfftfreq", _fftfreq(np.fft.rfftfreq))
numpy_op("fft.fftshift", _fftshift(np.fft.fftshift))
numpy_op("fft.ifftshift", _fftshift(np.fft.ifftshift))
