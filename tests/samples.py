"""One row per op: sample calls, from which the tests of rules, kernels and the rest are made.

The placeholders stand for values of a dtype that the tests choose: `A(2, 3)` an array of the first dtype,
`B(3)` of the second, `S` a number of the first; `N(4)` is an integer that may be traced. Everything else is
passed as it is.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from autograph.ops.ufuncs import UFUNCS

__all__ = ["SAMPLES", "A", "B", "Call", "N", "S", "Spd", "Square"]


class A:
    """An array of the first dtype."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def value(self, first: np.dtype[Any], second: np.dtype[Any], rng: np.random.Generator) -> Any:
        return _numbers(self.shape, first, rng)


class B(A):
    """An array of the second dtype."""

    def value(self, first: np.dtype[Any], second: np.dtype[Any], rng: np.random.Generator) -> Any:
        return _numbers(self.shape, second, rng)


class _Scalar(A):
    def value(self, first: np.dtype[Any], second: np.dtype[Any], rng: np.random.Generator) -> Any:
        return _numbers((), first, rng)[()]


S = _Scalar()


class Square(A):
    """A well-conditioned matrix."""

    def value(self, first: np.dtype[Any], second: np.dtype[Any], rng: np.random.Generator) -> Any:
        values = _numbers(self.shape, first, rng)
        return values if first.kind == "b" else (values + 9 * np.eye(self.shape[-1])).astype(first)


class Spd(A):
    """A symmetric positive definite matrix."""

    def value(self, first: np.dtype[Any], second: np.dtype[Any], rng: np.random.Generator) -> Any:
        return np.broadcast_to((5 * np.eye(self.shape[-1])).astype(first), self.shape).copy()


class N:
    """An integer that a trace may not know."""

    def __init__(self, number: int) -> None:
        self.number = number


def _numbers(shape: tuple[int, ...], dtype: np.dtype[Any], rng: np.random.Generator) -> Any:
    values = rng.integers(0, 5, shape)
    if dtype.kind in "fc":
        values = values + rng.random(shape).round(2)
    return np.asarray(values).astype(dtype)


@dataclasses.dataclass(frozen=True)
class Call:
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def c(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


_I = np.array([0, 1, 1])
_M = np.array([True, False, True])

_REDUCE = [c(A(3, 4)), c(A(3, 4), axis=0), c(A(3, 4), axis=(0, 1)), c(A(5)), c(S),
           c(A(2, 3, 4), axis=1, keepdims=True),
           c(A(0, 3), axis=0), c(A(3, 4), 7), c([1, 2.5]), c(A())]  # fmt: skip
_ARG = [c(A(3, 4)), c(A(3, 4), axis=0), c(A(5)), c(S), c(A(2, 3), axis=1, keepdims=True), c(A(3), 4)]
_RUN = [c(A(3, 4)), c(A(3, 4), axis=1), c(A(5)), c(S), c(A(0))]
_SAME = [c(A(3, 4)), c(A(0)), c(S), c(A())]
_WHERE = [c(A(3), where=_M), c(A(2, 3), axis=0, where=_M)]
_JOIN = [
    c((A(2, 3), B(2, 3))),
    c((A(3), A(3), B(3))),
    c([A(3), B(3)]),
    c(A(4, 2, 3)),
    c((A(3), B(2))),
    c((S, S)),
]
_PAIR = [
    c(A(3), B(3)),
    c(A(2, 3), B(3)),
    c(A(2, 3), B(3, 4)),
    c(A(3), B(4)),
    c(A(2, 3, 4), B(4)),
    c(A(2, 3, 4), B(2, 4, 5)),
]
_FFT = [c(A(6)), c(A(4, 6)), c(A(4, 6), axis=0), c(A(6), N(4)), c(A(2, 5), n=8)]
_SETS = [c(A(4), B(3)), c(A(2, 2), B(3)), c(A(0), B(3))]

SAMPLES: dict[str, list[Call]] = {
    # -- reductions
    "np.sum": [*_REDUCE, *_WHERE, c(A(3), initial=2), c(A(3), dtype=np.float32), c(A(3), out=np.zeros(()))],
    "np.prod": [*_REDUCE, *_WHERE, c(A(3), initial=2.5), c(A(3), dtype="int64")],
    "np.mean": [*_REDUCE, *_WHERE, c(A(3), dtype=np.float64)],
    "np.std": [*_REDUCE, *_WHERE, c(A(3), ddof=1)],
    "np.var": [*_REDUCE, *_WHERE, c(A(3), ddof=N(1))],
    "np.max": [*_REDUCE, c(A(3), initial=2, where=_M), c(A(3), initial=2.5)],
    "np.min": [*_REDUCE, c(A(3), initial=2, where=_M)],
    "np.amax": _REDUCE,
    "np.amin": _REDUCE,
    "np.all": [*_REDUCE, *_WHERE],
    "np.any": [*_REDUCE, *_WHERE],
    "np.argmax": _ARG,
    "np.argmin": _ARG,
    "np.ptp": _REDUCE,
    "np.median": _REDUCE,
    "np.count_nonzero": _REDUCE,
    **{f"np.{n}": _REDUCE for n in "nansum nanprod nanmean nanstd nanvar nanmax nanmin nanmedian".split()},
    "np.nanargmax": _ARG,
    "np.nanargmin": _ARG,
    "np.quantile": [
        c(A(5), 0.5),
        c(A(3, 4), 0.5, axis=0),
        c(A(3, 4), [0.1, 0.2], axis=0),
        c(A(5), np.array([0.5])),
        c(A(3, 4), 0.3, keepdims=True),
        c(A(5), 0.5, method="lower"),
    ],
    "np.percentile": [c(A(5), 50), c(A(3, 4), 50.0, axis=1), c(A(5), (10, 20)), c(A(5), S)],
    "np.nanquantile": [c(A(5), 0.5), c(A(3, 4), [0.1, 0.2], axis=0)],
    "np.nanpercentile": [c(A(5), 50), c(A(3, 4), [10, 20], axis=0)],
    "np.average": [
        c(A(3)),
        c(A(3), weights=B(3)),
        c(A(2, 3), axis=0),
        c(A(2, 3), 1, B(3)),
        c(A(3), weights=B(3), returned=True),
        c(A(2, 3), weights=B(2, 3)),
        c(A(2, 3), axis=0, keepdims=True),
        c(A(2, 3), None, None, True),
    ],
    "np.cumsum": [*_RUN, c(A(3), dtype=float)],
    "np.cumprod": _RUN,
    "np.nancumsum": _RUN,
    "np.nancumprod": _RUN,
    "np.cumulative_sum": [c(A(5)), c(A(2, 3), axis=1), c(A(3), include_initial=True)],
    "np.cumulative_prod": [c(A(5)), c(A(2, 3), axis=0)],
    "np.diff": [
        c(A(5)),
        c(A(3, 4)),
        c(A(3, 4), axis=0),
        c(A(5), n=2),
        c(A(3), prepend=0),
        c(A(3), append=B(2)),
        c(A(1)),
        c(A(3), 0),
    ],
    "np.ediff1d": [c(A(5)), c(A(2, 3)), c(A(0))],
    "np.trapezoid": [
        c(A(5)),
        c(A(3, 4)),
        c(A(5), B(5)),
        c(A(3, 4), axis=0),
        c(A(5), dx=0.5),
        c(A(5), dx=N(2)),
    ],
    # -- creation
    "np.zeros": [
        c(N(3)),
        c((2, 3)),
        c((N(2), N(3)), dtype=np.int32),
        c(()),
        c([2, 3], "float32"),
        c(-1),
        c(2.5),
        c(0),
    ],
    "np.ones": [c(N(3)), c((2, N(3)), dtype=bool), c((2,), np.dtype("i2"))],
    "np.empty": [c((N(2), 3)), c(4, complex)],
    "np.full": [
        c(N(3), S),
        c((2, 3), 1),
        c((2, 3), 2.5),
        c((2, N(3)), B(3)),
        c(3, 1, dtype=float),
        c((2, 2), A(3)),
    ],
    "np.zeros_like": [*_SAME, c(A(3), dtype=int), c(A(3), shape=(2, N(2))), c([1, 2])],
    "np.ones_like": [*_SAME, c(A(3), float)],
    "np.empty_like": [*_SAME, c(A(3), dtype=int)],
    "np.full_like": [c(A(3), 2), c(A(3), 2.5), c(S, 1), c(A(2, 3), B(3)), c(A(2), 1, dtype=float)],
    "np.arange": [
        c(N(5)),
        c(5),
        c(N(1), N(7)),
        c(1, 7, 2),
        c(7, 1, -2),
        c(0.0, 1.0, 0.25),
        c(N(5), dtype=float),
        c(S),
        c(0, S),
        c(N(0), N(5), 0.5),
        c(start=2, stop=N(5)),
        c(np.float32(3)),
        c(3, dtype="f4"),
        c(np.array(4)),
        c(1, None),
    ],
    "np.linspace": [
        c(0, 1),
        c(0, 1, N(5)),
        c(S, 1, 5),
        c(A(3), 1, 4),
        c(0, B(2), 4, axis=-1),
        c(0, 1, 5, retstep=True),
        c(0, 1, N(1), retstep=True),
        c(0, 5, 6, dtype=int),
        c(0, 1, 4, endpoint=False),
        c(A(2, 3), B(3), N(4), axis=1),
    ],
    "np.logspace": [c(0, 1, 5), c(0, 1, N(5)), c(S, 2, 3), c(0, 1, 5, base=2), c(0, A(2), 4)],
    "np.geomspace": [c(1, 10, 5), c(1, 100, N(3)), c(1.0, 5, 4)],
    "np.eye": [c(N(3)), c(3, 4), c(N(3), N(4), k=1), c(3, dtype=int), c(3, k=N(1))],
    "np.identity": [c(N(3)), c(3, dtype=np.float32)],
    "np.tri": [c(N(3)), c(3, 4, 1), c(3, dtype=int)],
    "np.array": [
        *_SAME,
        c([1, 2]),
        c([1, 2.5]),
        c([[1, 2], [3, 4]]),
        c([A(3), B(3)]),
        c([S, 1]),
        c((1, True)),
        c([]),
        c([[], []]),
        c([1, 2], dtype=np.float32),
        c(A(3), ndmin=3),
        c(A(3), copy=True),
        c([1j, 2]),
        c([[1], [1, 2]]),
        c([A(2), A(3)]),
        c(range(3)),
        c(A(3), dtype=complex),
        c([N(1), N(2)]),
    ],
    "np.asarray": [*_SAME, c([1, 2]), c(A(3), float), c([N(1), S])],
    "np.asanyarray": [*_SAME, c((1, 2.5))],
    "np.asarray_chkfinite": [c(A(3)), c([1.5])],
    "np.require": [c(A(3)), c(A(3), np.float32)],
    "np.ascontiguousarray": [*_SAME, c([1, 2], dtype=float)],
    "np.asfortranarray": [c(A(3, 4)), c(S)],
    "np.copy": [*_SAME, c([1, 2])],
    "np.meshgrid": [
        c(A(3), B(4)),
        c(A(3)),
        c(A(2), B(3), A(4)),
        c(A(3), B(4), indexing="ij"),
        c(A(3), B(4), sparse=True),
        c(A(3), S),
    ],
    "np.vander": [c(A(3)), c(A(3), 2), c(A(3), N(4)), c(A(3), increasing=True)],
    "np.indices": [c((2, 3)), c((N(2), N(3))), c((2, 3), dtype=float), c((2, 3), sparse=True), c((4,))],
    "np.fromiter": [c([1, 2, 3], float)],
    **{f"np.{n}": [c(N(5)), c(4), c(0)] for n in ("hamming", "hanning", "blackman", "bartlett")},
    "np.kaiser": [c(N(5), 2.0), c(5, 3)],
    "np.mgrid[]": [
        c(slice(0, 3)),
        c((slice(0, 3), slice(0, 4))),
        c((slice(0, 1, 5j), slice(0, 2))),
        c((slice(0, 2), slice(1, 2, 0.25))),
    ],
    "np.ogrid[]": [c(slice(0, 3)), c((slice(0, 3), slice(0, 4))), c((slice(0, 1, 5j), slice(0, 2)))],
    # -- shapes
    "np.reshape": [
        c(A(3, 4), (4, 3)),
        c(A(3, 4), -1),
        c(A(3, 4), (2, -1)),
        c(A(12), (N(3), N(4))),
        c(A(12), (N(3), -1)),
        c(S, (1, 1)),
        c(A(3, 4), (5, 2)),
        c(A(3, 4), (-1, 5)),
        c(A(1), ()),
        c(A(3, 4), [12]),
        c(A(0, 3), (-1, 3)),
        c(S, ()),
        c(S, -1),
        c(A(0), (0, -1)),
        c(A(6), np.array([2, 3])),
    ],
    "np.ravel": _SAME,
    "np.transpose": [
        *_SAME,
        c(A(2, 3, 4), (2, 0, 1)),
        c(A(2, 3), (0, 0)),
        c(A(2, 3), (-1, 0)),
        c(A(2, 3), (0, 1, 2)),
    ],
    "np.matrix_transpose": [c(A(2, 3)), c(A(4, 2, 3)), c(A(3))],
    "np.swapaxes": [c(A(2, 3, 4), 0, 2), c(A(2, 3), 0, -1), c(A(2, 3), 0, 2)],
    "np.moveaxis": [c(A(2, 3, 4), 0, -1), c(A(2, 3, 4), (0, 1), (-1, -2)), c(A(2, 3), 0, 5)],
    "np.rollaxis": [c(A(2, 3, 4), 2), c(A(2, 3, 4), 0, 3), c(A(2), 3)],
    "np.expand_dims": [c(A(3, 4), 0), c(A(3, 4), (0, -1)), c(S, 0), c(A(3), 4), c(A(3), -1)],
    "np.squeeze": [
        c(A(1, 3, 1)),
        c(A(1, 3, 1), 0),
        c(A(1, 3), 1),
        c(A(1, 1)),
        c(S),
        c(A(3, 4)),
        c(A(1, 3, 1), axis=(0, 2)),
        c(A(1), 0),
    ],
    "np.broadcast_to": [
        c(A(3), (2, 3)),
        c(S, (2, 3)),
        c(A(3, 1), (N(3), N(4))),
        c(A(3), (2,)),
        c(A(2, 3), (3,)),
        c(A(3), 3),
        c(S, ()),
    ],
    "np.broadcast_arrays": [c(A(3), B(2, 1)), c(A(3), S), c(S, S), c(A(3), A(2))],
    "np.broadcast_shapes": [c((2, 3), (3,)), c((N(2), 1), (N(3),)), c((2,), (3,))],
    "np.concatenate": [
        *_JOIN,
        c((A(2, 3), B(2, 1)), axis=1),
        c((A(2, 3), B(3)), axis=None),
        c((A(3), B(3)), dtype=np.float64),
        c((A(2, 3), B(2, 4))),
        c((A(3), [1, 2])),
        c((A(2, 3), B(2, 3)), axis=-1),
        c((A(3), A(3)), axis=1),
        c([A(0), B(0)]),
    ],
    "np.stack": [
        *_JOIN,
        c((A(2, 3), B(2, 3)), axis=1),
        c((A(2, 3), B(2, 3)), axis=-1),
        c((A(3), B(4))),
        c([S, 1, 2.5]),
        c((A(3), B(3)), 3),
    ],
    "np.hstack": [*_JOIN, c((A(2, 3), B(2, 1))), c((S, 1))],
    "np.vstack": [*_JOIN, c((A(3), B(2, 3))), c((S, 1))],
    "np.dstack": [*_JOIN, c((A(2, 3), B(2, 3)))],
    "np.block": [
        *_JOIN,
        c([A(3), B(2)]),
        c([[A(2, 2), B(2, 1)], [B(1, 2), S]]),
        c([[A(2, 2), B(1, 1)]]),
        c([A(2, 3), B(2, 1)]),
        c([[[A(3)]], [[B(3)]]]),
        c([[A(2), B(2)], [A(4)]]),
        c([1, 2.5, S]),
        c(A(2, 3)),
        c(S),
        c([A(2), [B(2)]]),
        c([[A(2)], []]),
        c([(A(2), B(2))]),
    ],
    "np.column_stack": [*_JOIN, c((A(3), B(3, 2)))],
    **{
        f"np.atleast_{n}d": [*_SAME, c(A(2, 3, 4)), c(A(3), S), c(A(2, 3, 1, 2)), c([1, 2])]
        for n in (1, 2, 3)
    },
    "np.repeat": [
        c(A(3), 2),
        c(A(2, 3), 2),
        c(A(2, 3), N(2), axis=0),
        c(A(2), [1, 2]),
        c(A(2, 3), [1, 2, 1], 1),
        c(S, 3),
        c(A(3), -1),
        c(A(3), np.array([1, 2, 3])),
        c(A(3), 1.5),
    ],
    "np.tile": [
        c(A(3), 2),
        c(A(3), (2, 2)),
        c(A(2, 3), N(2)),
        c(A(2, 3), (N(2), 1)),
        c(S, 3),
        c(A(2, 3, 4), (2,)),
        c(A(2), [2, 1]),
    ],
    "np.flip": [*_SAME, c(A(2, 3), 0), c(A(2, 3), (0, 1)), c(A(2), 1)],
    "np.fliplr": [c(A(2, 3)), c(A(3))],
    "np.flipud": [c(A(2, 3)), c(A(3)), c(S)],
    "np.roll": [
        c(A(5), 2),
        c(A(2, 3), N(1), axis=0),
        c(A(2, 3), 1),
        c(A(2, 3), (1, 1), axis=(0, 1)),
        c(A(3), 1, 1),
    ],
    "np.rot90": [c(A(2, 3)), c(A(2, 3), 2), c(A(2, 3), N(1)), c(A(2, 3, 4), axes=(1, 2)), c(A(3))],
    "np.pad": [
        c(A(3), 1),
        c(A(2, 3), ((1, 2), (0, 1))),
        c(A(3), (N(1), N(2))),
        c(A(3), 1, mode="edge"),
        c(A(2, 3), 1, constant_values=3),
        c(A(2, 3), (1, 2), "reflect"),
    ],
    "np.triu": [c(A(3, 4)), c(A(3, 3), 1), c(A(3), N(1)), c(A(2, 3, 3)), c(S)],
    "np.tril": [c(A(3, 4)), c(A(3, 3), N(-1)), c(A(3))],
    "np.diag": [
        c(A(3)),
        c(A(3, 4)),
        c(A(3), 1),
        c(A(3, 4), -1),
        c(A(3, 4), N(1)),
        c(A(2, 2, 2)),
        c(A(3, 4), 9),
        c(S),
    ],
    "np.diagflat": [c(A(3)), c(A(2, 2)), c(A(3), 1)],
    "np.diagonal": [
        c(A(3, 4)),
        c(A(3, 4), 1),
        c(A(2, 3, 4)),
        c(A(2, 3, 4), 0, 1, 2),
        c(A(3)),
        c(A(3, 4), N(1)),
    ],
    "np.outer": [c(A(3), B(4)), c(A(2, 2), B(3)), c(S, B(3)), c([1, 2], A(2))],
    "np.kron": [c(A(2), B(3)), c(A(2, 2), B(3)), c(A(2, 2), B(2, 3)), c(S, B(2)), c(S, S)],
    "np.append": [
        c(A(3), B(2)),
        c(A(3), S),
        c(A(2, 3), B(1, 3), axis=0),
        c(A(2, 3), B(2, 3)),
        c([1, 2], 3),
        c(A(2, 3), B(3), axis=0),
    ],
    "np.insert": [c(A(3), 1, S), c(A(2, 3), 1, B(3), axis=0), c(A(3), [0, 1], 5), c(A(2, 3), N(1), 0)],
    "np.delete": [c(A(3), 1), c(A(2, 3), 1, axis=1), c(A(3), [0, 1]), c(A(2, 3), N(1)), c(A(3), slice(0, 2))],
    "np.resize": [c(A(3), 5), c(A(3), (2, N(4))), c(S, (2, 2))],
    "np.trim_zeros": [c(A(4)), c(A(4), "f")],
    "np.lib.stride_tricks.sliding_window_view": [
        c(A(5), 2),
        c(A(4, 5), (2, 2)),
        c(A(4, 5), 2, axis=0),
        c(A(3), 4),
    ],
    "np.unstack": [c(A(3)), c(A(2, 3)), c(A(2, 3), axis=1)],
    # -- choosing, sorting, searching
    "np.where": [
        c(_M, A(3), B(3)),
        c(_M, A(3), 1),
        c(_M, A(2, 3), 2.5),
        c(A(3)),
        c(A(2, 3)),
        c(True, S, 1),
        c(A(3), 1, 2),
        c(_M, A(4), 0),
        c(_M, 1, 2.0),
        c(_M, A(3), B(2, 1)),
        c(S),
        c(S, 1, 2),
    ],
    "np.nonzero": [c(A(3)), c(A(2, 3)), c(S), c([0, 1])],
    "np.argwhere": [c(A(3)), c(A(2, 3)), c(S)],
    "np.flatnonzero": [c(A(3)), c(A(2, 3)), c(S)],
    "np.select": [
        c([_M, ~_M], [A(3), B(3)]),
        c([_M], [A(3)], 7),
        c([_M, _M], [A(3), 1], 2.5),
        c([_M], [A(2, 3)]),
    ],
    "np.choose": [
        c(np.array([0, 1, 0]), [A(3), B(3)]),
        c(np.array([1, 0]), (10, 20)),
        c(N(0), [A(3), B(3)]),
        c(np.array([0, 5]), [A(2), B(2)], mode="clip"),
        c(np.array(0), [S, 1]),
    ],
    "np.clip": [
        c(A(3), 1, 2),
        c(A(3), S, None),
        c(A(2, 3), B(3), 4),
        c(S, 1, 2),
        c(A(3), 0.5, 2.5),
        c(A(3), a_max=2),
        c(A(3), a_min=1),
        c(A(3), None, 3),
        c(A(3), 1, 2, dtype=float),
        c(A(), 1, 2),
    ],
    "np.take": [
        c(A(3), _I),
        c(A(2, 3), _I, axis=1),
        c(A(3), 1),
        c(A(3), N(1)),
        c(A(2, 3), 0, axis=0),
        c(A(3), [0, 1]),
        c(A(5), [[0], [1]]),
        c(A(3), np.array(1)),
        c(A(3), [7], mode="clip"),
        c(A(3), 1.5),
        c(A(2, 3), np.array([0]), 2),
    ],
    "np.take_along_axis": [
        c(A(2, 3), np.array([[0], [1]]), 1),
        c(A(3), _I, 0),
        c(A(3), _I, None),
        c(A(2, 3), np.array([[0, 0, 0]]), 0),
    ],
    "np.put": [c(A(3), [0, 1], B(2)), c(A(3), 1, S)],
    "np.put_along_axis": [c(A(2, 3), np.array([[0], [1]]), 9, 1)],
    "np.place": [c(A(3), _M, [1, 2])],
    "np.putmask": [c(A(3), _M, B(3))],
    "np.copyto": [c(A(3), B(3)), c(A(3), 1), c(A(2, 3), B(3), where=_M)],
    "np.fill_diagonal": [c(A(3, 3), S), c(A(3, 4), 1)],
    "np.compress": [c(_M, A(3)), c(_M, A(3, 2), axis=0), c([True, False], A(4)), c(_M, A(2, 3))],
    "np.extract": [c(_M, A(3)), c(A(2, 3), B(2, 3))],
    "np.sort": [*_RUN, c(A(3, 4), axis=0), c(A(3, 4), axis=None), c([3, 1]), c(A(3), 1)],
    "np.argsort": [*_RUN, c(A(3, 4), axis=0), c(A(3, 4), axis=None), c(A(3), kind="stable")],
    "np.partition": [c(A(5), 2), c(A(3, 4), 1, axis=0), c(A(3, 4), 1, axis=None)],
    "np.argpartition": [c(A(5), 2), c(A(3, 4), N(1), axis=0)],
    "np.sort_complex": [c(A(4)), c([3, 1])],
    "np.lexsort": [c((A(3), B(3))), c([A(3), B(3)]), c(A(2, 3)), c((A(2, 3), B(2, 3)), axis=0)],
    "np.searchsorted": [
        c(A(5), S),
        c(A(5), B(3)),
        c(A(5), 2),
        c(A(5), B(2, 3), side="right"),
        c(A(2, 2), 1),
        c([1, 2], 1.5),
        c(A(5), A()),
    ],
    "np.unique": [
        c(A(5)),
        c(A(2, 3)),
        c(A(5), return_index=True),
        c(A(2, 3), return_inverse=True),
        c(A(5), True, True, True),
        c(A(2, 3), axis=0),
        c(A(5), return_counts=True),
        c(A(2, 3), return_inverse=True, axis=1),
        c([1, 1]),
        c(S),
        c(A(0)),
    ],
    "np.unique_counts": [c(A(5)), c(A(2, 3))],
    "np.unique_inverse": [c(A(5)), c(A(2, 3))],
    "np.unique_all": [c(A(5))],
    "np.bincount": [
        c(np.array([0, 1, 1])),
        c(_I, A(3)),
        c(_I, weights=B(3)),
        c(_I, minlength=N(5)),
        c([0, 1]),
        c(A(3)),
    ],
    "np.histogram": [
        c(A(5)),
        c(A(5), 4),
        c(A(5), N(4)),
        c(A(5), np.array([0.0, 1, 2])),
        c(A(5), bins=[0, 1, 2]),
        c(A(5), 4, (0, 5)),
        c(A(5), density=True),
        c(A(5), weights=B(5)),
        c(A(2, 3), 3),
        c(A(0), 3),
    ],
    "np.histogram_bin_edges": [c(A(5)), c(A(5), 4), c(A(5), "auto")],
    "np.histogram2d": [c(A(5), B(5)), c(A(5), B(5), 3)],
    "np.digitize": [c(A(3), B(4)), c(S, [1, 2]), c(A(2, 3), np.array([0, 1])), c(A(3), [1, 2], right=True)],
    "np.isin": [c(A(3), B(2)), c(A(2, 3), [1, 2]), c(S, A(3)), c(A(3), [1], invert=True)],
    **{f"np.{n}": _SETS for n in ("union1d", "intersect1d", "setdiff1d", "setxor1d")},
    "np.interp": [
        c(A(3), [0, 1], [2, 3]),
        c(S, np.array([0.0, 1]), B(2)),
        c(0.5, [0, 1], [1j, 2]),
        c(A(2, 3), B(4), B(4)),
        c(A(), [0, 1], [2, 3]),
    ],
    "np.isclose": [c(A(3), B(3)), c(S, 1.0), c(A(2, 3), B(3)), c(A(3), 1), c(A(), 1)],
    "np.allclose": [c(A(3), B(3)), c(S, 1), c(A(3), B(4))],
    "np.array_equal": [c(A(3), B(3)), c(A(3), B(4)), c([1], [1])],
    "np.array_equiv": [c(A(3), B(3)), c(A(3), 1)],
    "np.tril_indices": [c(3), c(N(3)), c(3, 1, 4)],
    "np.triu_indices": [c(3), c(N(3), N(1))],
    "np.tril_indices_from": [c(A(3, 3)), c(A(3, 4))],
    "np.triu_indices_from": [c(A(3, 3)), c(A(3))],
    "np.diag_indices": [c(3), c(N(3)), c(3, 3)],
    "np.ix_": [c(_I, np.array([0])), c([0, 1], [True, False]), c(A(3))],
    "np.unravel_index": [c(5, (2, 3)), c(N(4), (N(2), N(3))), c(np.array([1, 2]), (2, 3)), c([1, 2], (3,))],
    "np.ravel_multi_index": [
        c((1, 2), (2, 3)),
        c((np.array([0, 1]), np.array([1, 1])), (2, 3)),
        c((N(1), N(2)), (2, 3)),
    ],
    "np.gradient": [
        c(A(5)),
        c(A(3, 4)),
        c(A(5), 0.5),
        c(A(5), np.float32(2)),
        c(A(3, 4), axis=0),
        c(A(5), np.array([0.0, 1, 2, 3, 4])),
        c(A(5), 2),
    ],
    "np.convolve": [
        c(A(5), B(3)),
        c(A(5), B(3), "same"),
        c(A(5), B(3), mode="valid"),
        c(A(2), [1, 2]),
        c(A(3), S),
        c(A(2, 2), B(2)),
    ],
    "np.correlate": [c(A(5), B(3)), c(A(5), B(3), "full"), c(A(3), B(5))],
    "np.polyval": [
        c(A(3), S),
        c(A(3), B(4)),
        c([1, 2], 2.5),
        c([1, 2], B(3)),
        c(A(3), 2),
        c([1, 2], 3),
        c(A(0), 2),
    ],
    "np.polyfit": [c(A(5), B(5), 1), c(np.arange(6), B(6), 2)],
    "np.polyadd": [c(A(3), B(2)), c([1, 2], [1])],
    "np.polymul": [c(A(3), B(2))],
    "np.polysub": [c(A(3), B(2))],
    "np.polyder": [c(A(4)), c(A(4), 2)],
    "np.polyint": [c(A(4))],
    "np.round": [*_SAME, c(A(3), 2), c(S, N(1)), c(2.567, 2), c(5, 1), c([1.25], 1), c(A(3), decimals=N(1))],
    "np.around": [c(A(3), 2), c(2.5)],
    "np.nan_to_num": [*_SAME, c(A(3), nan=1.0)],
    **{
        f"np.{n}": _SAME
        for n in "real imag angle sinc i0 unwrap isposinf isneginf isreal iscomplex fix".split()
    },
    "np.cov": [
        c(A(3, 5)),
        c(A(5)),
        c(A(5), B(5)),
        c(A(3, 5), rowvar=False),
        c(A(1, 5)),
        c(A(3, 5), bias=True),
    ],
    "np.corrcoef": [c(A(3, 5)), c(A(5), B(5)), c(A(5))],
    "np.cross": [c(A(3), B(3)), c(A(2, 3), B(3)), c(A(2, 3), B(2, 3))],
    # -- linear algebra
    "np.dot": [*_PAIR, c(S, B(3)), c(S, S), c(A(3), 2.0), c(A(2, 3), [1, 2, 3])],
    "np.inner": [*_PAIR, c(S, B(3)), c(A(2, 3), B(4, 3))],
    "np.vdot": [c(A(3), B(3)), c(A(2, 3), B(2, 3)), c(S, S)],
    "np.matmul": [*_PAIR, c(S, B(3)), c(A(3), B(2, 3, 4)), c(A(4, 2, 3), B(3, 2)), c(A(1, 2, 3), B(5, 3, 2))],
    "np.vecdot": [c(A(3), B(3)), c(A(2, 3), B(3)), c(A(2), B(3))],
    "np.tensordot": [
        c(A(2, 3), B(2, 3)),
        c(A(2, 3), B(3, 4), 1),
        c(A(2, 3, 4), B(4, 3), ((1, 2), (1, 0))),
        c(A(2), B(3), 0),
        c(A(2, 3), B(4), 1),
    ],
    "np.einsum": [
        c("ij,jk->ik", A(2, 3), B(3, 4)),
        c("ii", A(3, 3)),
        c("ij->ji", A(2, 3)),
        c("i,i", A(3), B(3)),
        c("ii->i", A(3, 3)),
        c("...i,i->...", A(2, 3), B(3)),
        c("ij,jk", A(2, 3), B(3, 4)),
        c("i,j->ij", A(2), B(3)),
        c("ij,jk->ik", A(2, 3), B(2, 4)),
    ],
    "np.trace": [c(A(3, 4)), c(A(3, 4), 1), c(A(2, 3, 4)), c(A(3, 3), dtype=float), c(A(3))],
    "np.linalg.norm": [
        c(A(3)),
        c(A(2, 3)),
        c(A(2, 3), axis=1),
        c(A(3), 1),
        c(A(2, 3), "fro"),
        c(A(3), np.inf),
        c(A(2, 3), axis=0, keepdims=True),
        c(A(2, 3), keepdims=True),
        c(A(2, 3), ord=2),
        c(A(3), 0),
        c(S),
        c(A(3), ord="fro"),
    ],
    "np.linalg.inv": [c(Square(3, 3)), c(Square(2, 3, 3)), c(A(2, 3)), c(A(3))],
    "np.linalg.det": [c(Square(3, 3)), c(Square(2, 3, 3)), c(A(2, 3))],
    "np.linalg.slogdet": [c(Square(3, 3)), c(Square(2, 3, 3))],
    "np.linalg.solve": [
        c(Square(3, 3), B(3)),
        c(Square(3, 3), B(3, 2)),
        c(Square(2, 3, 3), B(2, 3, 1)),
        c(Square(3, 3), B(4)),
    ],
    "np.linalg.cholesky": [c(Spd(3, 3)), c(Spd(2, 3, 3))],
    "np.linalg.eig": [c(Square(3, 3)), c(Spd(3, 3)), c(Square(2, 3, 3)), c(np.array([[0.0, 1], [-1, 0]]))],
    "np.linalg.eigvals": [c(Square(3, 3)), c(Spd(3, 3)), c(np.array([[0.0, 1], [-1, 0]]))],
    "np.linalg.eigh": [c(Spd(3, 3)), c(Spd(2, 3, 3))],
    "np.linalg.eigvalsh": [c(Spd(3, 3))],
    "np.linalg.svd": [
        c(A(3, 4)),
        c(A(3, 4), full_matrices=False),
        c(A(3, 4), compute_uv=False),
        c(A(2, 4, 3)),
        c(A(3)),
    ],
    "np.linalg.qr": [c(A(3, 4)), c(A(4, 3)), c(A(4, 3), "complete"), c(A(4, 3), mode="r")],
    "np.linalg.lstsq": [c(A(4, 2), B(4)), c(A(4, 2), B(4, 3)), c(Square(3, 3), B(3), None)],
    "np.linalg.pinv": [c(A(3, 4)), c(A(2, 3, 4))],
    "np.linalg.matrix_power": [
        c(Square(3, 3), 2),
        c(Square(3, 3), 0),
        c(Square(3, 3), -1),
        c(Square(3, 3), N(3)),
    ],
    "np.linalg.matrix_rank": [c(A(3, 4)), c(A(2, 3, 4)), c(A(3))],
    "np.linalg.cond": [c(Square(3, 3)), c(Square(3, 3), 1), c(A(2, 3, 4))],
    "np.linalg.multi_dot": [c([A(2, 3), B(3, 4), A(4)]), c((A(3), B(3, 2)))],
    "np.linalg.svdvals": [c(A(3, 4))],
    "np.linalg.vector_norm": [c(A(3)), c(A(2, 3), axis=1)],
    "np.linalg.matrix_norm": [c(A(2, 3))],
    **{f"np.fft.{n}": _FFT for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{
        f"np.fft.{n}": [c(A(4, 6)), c(A(2, 4, 6), axes=(0, 1))]
        for n in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn")
    },
    "np.fft.fftfreq": [c(8), c(N(8)), c(7, 0.5), c(N(8), S)],
    "np.fft.rfftfreq": [c(8), c(N(7)), c(7, 0.5)],
    "np.fft.fftshift": [c(A(5)), c(A(2, 3)), c(A(2, 3), axes=0)],
    "np.fft.ifftshift": [c(A(5)), c(A(2, 3))],
    # -- dtypes and shapes
    **{
        f"np.{np.dtype(k).type.__name__}": [
            c(S),
            c(A(3)),
            c(A()),
            c(N(3)),
            c(2.5),
            c(1j),
            c([1, 2]),
            c(),
            c("1"),
        ]
        for k in "?bBhHiIlLefdFD"
    },
    "np.shape": [*_SAME, c([1, 2])],
    "np.ndim": [*_SAME, c([[1]])],
    "np.size": [*_SAME, c(A(2, 3), 1), c([1, 2])],
    "np.isscalar": _SAME,
    "np.iterable": _SAME,
    "np.iscomplexobj": _SAME,
    "np.isrealobj": _SAME,
    "np.result_type": [c(A(3), B(2)), c(A(3), 1.5), c(S, N(1)), c(A(3), np.float32)],
    "np.can_cast": [c(np.float32, np.float64), c("i8", "f4")],
    "np.promote_types": [c("i4", "f4")],
    "np.issubdtype": [c(np.float32, np.floating)],
    # -- methods
    "ndarray.sum": [*_REDUCE[:-2], c(A()), *_WHERE],
    "ndarray.prod": [*_REDUCE[:-2], c(A(3), initial=3)],
    "ndarray.mean": [*_REDUCE[:-2], c(A()), *_WHERE],
    "ndarray.std": [*_REDUCE[:-2], c(A(3), ddof=1)],
    "ndarray.var": _REDUCE[:-2],
    "ndarray.max": _REDUCE[:-2],
    "ndarray.min": _REDUCE[:-2],
    "ndarray.any": _REDUCE[:-2],
    "ndarray.all": _REDUCE[:-2],
    "ndarray.argmax": _ARG,
    "ndarray.argmin": _ARG,
    "ndarray.cumsum": _RUN,
    "ndarray.cumprod": [*_RUN, c(A(3), 0)],
    "ndarray.reshape": [
        c(A(3, 4), 4, 3),
        c(A(3, 4), (2, -1)),
        c(A(3, 4), -1),
        c(A(12), N(3), N(4)),
        c(S, 1),
        c(S, ()),
        c(A(3), 2, 2),
        c(S, (1, 1)),
    ],
    "ndarray.transpose": [*_SAME, c(A(2, 3, 4), 2, 0, 1), c(A(2, 3), (1, 0)), c(A(2, 3), None)],
    "ndarray.ravel": _SAME,
    "ndarray.flatten": _SAME,
    "ndarray.squeeze": [c(A(1, 3)), c(A(1, 3), 0), c(S), c(A(1, 3), 1), c(A())],
    "ndarray.swapaxes": [c(A(2, 3), 0, 1), c(A(2, 3, 4), 0, -1)],
    "ndarray.diagonal": [c(A(3, 4)), c(A(3, 4), 1)],
    "ndarray.trace": [c(A(3, 4)), c(A(2, 3, 4))],
    "ndarray.repeat": [c(A(3), 2), c(A(2, 3), N(2), 1), c(S, 2)],
    "ndarray.take": [c(A(3), _I), c(A(3), 1), c(A(2, 3), [0], axis=1), c(A(3), np.array(1))],
    "ndarray.nonzero": [c(A(3)), c(A(2, 3))],
    "ndarray.searchsorted": [c(A(5), S), c(A(5), B(2))],
    "ndarray.dot": _PAIR,
    "ndarray.argsort": [c(A(5)), c(A(3, 4), axis=0), c(A(3, 4), None), c(S)],
    "ndarray.argpartition": [c(A(5), 2)],
    "ndarray.astype": [
        *(c(A(3), k) for k in (float, int, bool, complex, "f4", np.uint8, np.dtype("i2"))),
        c(S, np.float32),
        c(A(3), float, copy=False),
        c(A(2, 3), int, casting="safe"),
        c(A(), int),
    ],
    "ndarray.copy": _SAME,
    "ndarray.view": [c(A(4)), c(A(4), np.uint8), c(A(2, 4), np.int16), c(S, np.uint8), c(A(8), np.float64)],
    "ndarray.round": [*_SAME, c(A(3), 1), c(S, N(1))],
    "ndarray.clip": [
        c(A(3), 1, 2),
        c(A(3), 1),
        c(A(3), max=2),
        c(S, 1, 2),
        c(A(2, 3), B(3), 4),
        c(A(3), min=0.5),
    ],
    "ndarray.choose": [c(np.array([0, 1]), A(2), B(2)), c(np.array([0, 1]), [A(2), B(2)])],
    "ndarray.compress": [c(A(3), _M), c(A(3, 2), _M, axis=0)],
    "ndarray.conj": _SAME,
    "ndarray.conjugate": _SAME,
    "ndarray.fill": [c(A(3), S)],
    "ndarray.put": [c(A(3), [0], S)],
    "ndarray.partition": [c(A(3), 1)],
    "ndarray.sort": [c(A(3)), c(A(2, 3), 0), c(A(3), 1)],
    "ndarray.byteswap": [c(A(3)), c(S)],
    "ndarray.item": [c(A(1)), c(S), c(A(3), 1), c(A(2, 3), 0, 1), c(A(3)), c(A()), c(A(3), N(1))],
    "ndarray.tobytes": [c(A(3)), c(S)],
    "ndarray.is_integer": [c(S)],
    "ndarray.bit_count": [c(S)],
    **{
        f"ndarray.{n}": [*_SAME, c(A(2, 3, 4))]
        for n in "shape ndim size nbytes itemsize dtype T mT real imag strides".split()
    },
}

for _name, _ufunc in UFUNCS.items():
    if _ufunc.nin == 1:
        SAMPLES[f"np.{_name}"] = [
            *_SAME,
            c([1, 2]),
            c(A(3), where=_M),
            c(A(3), dtype=np.float64),
            c(A(3), out=np.zeros(3)),
            c(N(3)),
            c(2.5),
        ]
    else:
        SAMPLES[f"np.{_name}"] = [
            c(A(3), B(3)), c(A(2, 3), B(3)), c(A(3), B(4)), c(S, B(3)), c(A(3), 2), c(A(3), 2.5),
            c(2, B(2, 1)), c(S, S), c(S, 1), c(N(3), 2),
            c(A(0), B(1)), c(A(3), [1, 2, 3]), c(A(3), B(3), where=_M), c(A(3), B(3), dtype=np.float64),
            c(A(3), B(3), out=np.zeros(3)), c(A(), B()),
            c(A(3), True), c(A(3), 1j), c(A(), 2.5),
        ]  # fmt: skip
