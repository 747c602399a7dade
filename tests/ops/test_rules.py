"""The rules against the real functions: a call gives what its rule foretold, however little it was told."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Py,
    Ref,
    Scalar,
    SeqT,
    Site,
    conforms,
    generalize,
    join,
)
from autograph.ops.base import OPS, NeedConcrete, Op, Refuse, infer, type_of
from autograph.ops.ufuncs import UFUNCS, ufunc_method
from tests.samples import SAMPLES, A, Call, N

FIRST = "?,i1,u1,i4,i8,u8,f2,f4,f8,c8,c16".split(",")
SECOND = "i8,f4,u1,f8,i4,i8,f8,i2,c8,f4,?".split(",")
MODES = ("exact", "general", "erased", "some", "rank")
REFUSED: Counter[str] = Counter()
ASKED: Counter[str] = Counter()


def fill(value: Any, first: Any, second: Any, rng: Any) -> Any:
    """Real values for the placeholders."""
    if isinstance(value, A):
        return value.value(np.dtype(first), np.dtype(second), rng)
    if isinstance(value, N):
        return value.number
    if type(value) in (tuple, list):
        return type(value)(fill(v, first, second, rng) for v in value)
    return value


def tell(template: Any, value: Any, mode: str, rng: Any) -> Any:
    """What a rule is told of an argument: its type, with less and less detail."""
    if isinstance(template, N):
        return Const(value) if mode == "exact" else Py(int)
    if type(template) is tuple:
        items = tuple(tell(t, v, mode, rng) for t, v in zip(template, value))
        if mode == "rank" and any(isinstance(t, (A, N)) for t in template):
            return SeqT(join(*map(type_of, items)))
        return items
    if type(template) is list:
        items = tuple(type_of(tell(t, v, mode, rng)) for t, v in zip(template, value))
        site = Site("test", "list", list)
        site.made_with(items)
        if mode in ("erased", "rank"):
            site.unfix()
        return Ref(site)
    if isinstance(template, A) or isinstance(value, (np.ndarray, np.generic)):
        return tell_array(value, mode, rng)
    if isinstance(value, (bool, int, float, complex)) and mode != "exact" and isinstance(template, float):
        return generalize(Const(value))
    return value


def tell_array(value: Any, mode: str, rng: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return Const(value) if mode == "exact" else Scalar(value.dtype)
    if mode == "rank":
        return Array(value.dtype, None)
    keep = {"exact": 1.0, "general": 1.0, "erased": 0.0, "some": 0.5}[mode]
    return Array(value.dtype, tuple(d if rng.random() < keep else None for d in value.shape))


def real(op: Op, args: Any, kwargs: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return op.kernel(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        except Exception as error:
            return error


def check(op: Op, call: Call, first: Any, second: Any, seed: int = 0) -> Iterator[str]:
    rng = np.random.default_rng(seed)
    args = tuple(fill(a, first, second, rng) for a in call.args)
    kwargs = {k: fill(v, first, second, rng) for k, v in call.kwargs.items()}
    result = real(op, args, kwargs)
    for mode in MODES:
        told = tuple(tell(t, v, mode, rng) for t, v in zip(call.args, args))
        told_kwargs = {k: tell(call.kwargs[k], v, mode, rng) for k, v in kwargs.items()}
        try:
            foretold = infer(op, told, told_kwargs)
        except Refuse:
            if not isinstance(result, Exception):
                REFUSED[f"{op.name} {mode}"] += 1
            continue
        except NeedConcrete:
            ASKED[f"{op.name} {mode}"] += 1
            continue
        ASKED["all"] += 1
        if isinstance(result, Exception):
            continue
        if foretold is BOTTOM or not conforms(result, foretold):
            yield f"{op.name}{told}{told_kwargs} -> {foretold}, but {describe(result)}"


def describe(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(describe, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return f"{type(value).__name__} {value!r}"


NAMES = sorted(n for n in SAMPLES if n in OPS)


@pytest.mark.parametrize("name", NAMES)
def test_rule_agrees_with_function(name: str) -> None:
    wrong = []
    for call in SAMPLES[name]:
        for first, second in zip(FIRST, SECOND):
            wrong += check(OPS[name], call, first, second)
    assert not wrong, "\n" + "\n".join(wrong[:8]) + f"\n({len(wrong)} in all)"


OPERANDS: tuple[Any, ...] = (
    True, 3, 2.5, 1 + 2j, np.bool_(1), np.int8(3), np.uint8(3), np.uint64(3), np.float32(2), np.float64(2),
    np.complex64(1),
    np.array(3), np.array(2.5, np.float32), np.array([1, 2], np.int16), np.array([[1.0], [2.0]]),
    np.zeros((0, 2), np.float16),
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_kinds_of_operands(name: str) -> None:
    ufunc = UFUNCS[name]
    pairs = [(x,) for x in OPERANDS] if ufunc.nin == 1 else [(x, y) for x in OPERANDS for y in OPERANDS]
    wrong = []
    for args in pairs:
        result = real(OPS[f"np.{name}"], args, {})
        if isinstance(result, Exception):
            continue
        for mode in ("general", "rank") if ufunc.nin == 1 else ("general",):
            types = tuple(
                tell_array(a, mode, np.random.default_rng(0))
                if isinstance(a, (np.ndarray, np.generic))
                else Py(type(a))
                for a in args
            )
            foretold = infer(OPS[f"np.{name}"], types, {})
            if foretold is BOTTOM or not conforms(result, foretold):
                wrong.append(f"{name}{types} -> {foretold}, but {describe(result)}")
    assert not wrong, "\n".join(wrong[:8])


METHOD_CALLS = {
    "reduce": [
        Call((A(3, 4),), {}),
        Call((A(3, 4),), {"axis": None}),
        Call((A(3),), {"keepdims": True}),
        Call((A(2, 3), 1), {}),
        Call((A(),), {}),
    ],
    "accumulate": [Call((A(3, 4),), {}), Call((A(3, 4), 1), {})],
    "outer": [Call((A(3), A(2, 2)), {}), Call((A(3), 2), {})],
    "reduceat": [Call((A(5), [0, 2]), {}), Call((A(4, 3), np.array([0, 1])), {"axis": 1})],
    "at": [
        Call((A(5), [0, 0], 1), {}),
        Call((A(5), np.array([1, 2]), A(2)), {}),
        Call((A(2, 3), (0, [1, 1]), 2.5), {}),
    ],
}


@pytest.mark.parametrize("method", sorted(METHOD_CALLS))
def test_ufunc_methods(method: str) -> None:
    wrong: list[str] = []
    for ufunc in (np.add, np.multiply, np.maximum, np.logical_or, np.subtract, np.hypot):
        for call in METHOD_CALLS[method]:
            for first, second in zip(FIRST, SECOND):
                wrong += check(ufunc_method(ufunc, method), call, first, second)
    assert not wrong, "\n".join(wrong[:8])


def test_rules_seldom_refuse() -> None:
    total = ASKED.pop("all", 0)
    if total < 10_000:
        pytest.skip("needs the other tests of this file")
    refused, asked = sum(REFUSED.values()), sum(ASKED.values())
    assert refused < total * 0.02, REFUSED.most_common(20)
    assert asked < total * 0.02, ASKED.most_common(20)


def test_every_array_op_has_samples() -> None:
    unsampled = [n for n in OPS if n.startswith(("np.", "ndarray.")) and n not in SAMPLES]
    assert len(unsampled) < 120, unsampled
