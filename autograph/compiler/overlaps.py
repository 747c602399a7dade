"""Whether a loop that writes an array may write an element that it is still to read.

Two arrays of one memory, such as `p[1:-1, j]` and `p[1:-1, j - 1]`, are known to be apart by how their
addresses are computed: as sums of products, whose difference is a number.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from autograph.compiler.ir import Builder
from autograph.compiler.values import Memory

_SUM = re.compile(r"(add|sub|mul) (?:nuw )?(?:nsw )?i64 (\S+), (\S+)$")
_PLACE = re.compile(r"getelementptr i8, ptr (\S+), i64 (\S+)$")

MANY = 16
"""With more multiples of a stride to try, arrays are taken to meet."""

Terms = dict[str, int]
"""A sum: the factor of each name, or product of names; "" is the name of 1."""


def terms(b: Builder, operand: str | int, factor: int = 1, found: Terms | None = None) -> Terms:
    """An address or integer as a sum.

    >>> from autograph.compiler.ir import Module
    >>> b = Builder(Module())
    >>> place = b.value("add nsw i64 %i, -1")
    >>> terms(b, b.value(f"getelementptr i8, ptr %x, i64 {b.value(f'mul nsw i64 8, {place}')}"))
    {'%x': 1, '%i': 8, '': -8}
    """
    found = {} if found is None else found
    text = str(operand)
    if not text.startswith("%"):
        if text.lstrip("-").isdigit():
            found[""] = found.get("", 0) + factor * int(text)
        else:
            found[text] = found.get(text, 0) + factor
        return found
    origin = b.origins.get(text)
    place = _PLACE.match(origin) if isinstance(origin, str) else None
    total = _SUM.match(origin) if isinstance(origin, str) else None
    if place:
        terms(b, place[1], factor, found)
        return terms(b, place[2], factor, found)
    if total and total[1] != "mul":
        terms(b, total[2], factor, found)
        return terms(b, total[3], factor if total[1] == "add" else -factor, found)
    if total:
        for one, other in ((2, 3), (3, 2)):
            if not total[one].startswith("%"):
                return terms(b, total[other], factor * int(total[one]), found)
        for (x, p), (y, q) in itertools.product(terms(b, total[2]).items(), terms(b, total[3]).items()):
            name = "*".join(sorted(name for name in (x, y) if name))
            found[name] = found.get(name, 0) + factor * p * q
        return found
    found[text] = found.get(text, 0) + factor
    return found


def distance(b: Builder, x: Memory, y: Memory) -> int | None:
    """How many bytes the first element of `x` lies behind that of `y`; None where that is not known."""
    difference = terms(b, y.data, -1, terms(b, x.data))
    far = difference.pop("", 0)
    return None if any(difference.values()) else far


Bounds = Callable[[str], "tuple[int, int] | None"]
"""Tells between what a dimension surely is."""


def apart(b: Builder, x: Memory, y: Memory, bounds: Bounds) -> bool:
    """Whether two arrays surely have no element in common."""
    far, steps = distance(b, x, y), _steps(x, y)
    size = max(x.dtype.itemsize, y.dtype.itemsize)
    if far is not None and steps is not None:
        return not _meet(far, steps, size)
    one, other = ([(s, d) for s, d in zip(m.strides, m.dims) if d != 1] for m in (x, y))
    if len(one) != 1 or len(other) != 1 or one[0][0] != other[0][0]:
        return False
    stride = one[0][0]
    if isinstance(stride, str):
        steps_far = least(terms(b, stride), bounds)
        return far is not None and abs(far) >= size and steps_far is not None and steps_far >= abs(far) + size
    if stride < 0:
        return False
    for first, second, length in (
        (x, y, other[0][1]),
        (y, x, one[0][1]),
    ):  # the first one lies behind the second
        room = terms(b, length, -stride, terms(b, second.data, -1, terms(b, first.data)))
        room[""] = room.get("", 0) + stride - size
        left = least(room, bounds)
        if left is not None and left >= 0:
            return True
    return False


def least(total: Terms, bounds: Bounds) -> int | None:
    """What a sum is at least, where that is known."""
    found = total.get("", 0)
    for name, factor in total.items():
        if name and factor:
            limits = bounds(name)
            if limits is None:
                return None
            found += factor * limits[0 if factor > 0 else 1]
    return found


def ahead(b: Builder, source: Memory, target: Memory) -> bool:
    """Whether a loop going upwards reads an element of `source` before it writes it as one of `target`."""
    far = distance(b, source, target)
    if far is None or far < 0 or source.dims != target.dims or source.dtype != target.dtype:
        return False
    steps = [(s, d) for s, t, d in zip(source.strides, target.strides, target.dims) if s == t and d != 1]
    if len(steps) != sum(d != 1 for d in target.dims):
        return False
    least = target.dtype.itemsize
    for step, count in reversed(steps):
        if not isinstance(step, int) or step < least:
            return False
        least = step * count if isinstance(count, int) else 1 << 63
    return True


def _steps(x: Memory, y: Memory) -> list[tuple[int, int]] | None:
    """The axes that two arrays have in common, as stride and larger dimension; None where they differ."""
    found: list[tuple[int, int]] = []
    for m in (x, y):
        axes: list[tuple[int, int]] = []
        for stride, d in zip(m.strides, m.dims):
            if not isinstance(d, int) or (d != 1 and not isinstance(stride, int)):
                return None
            if d != 1 and stride != 0:
                axes.append((int(stride), d))
        axes.sort(key=lambda axis: -abs(axis[0]))
        if m is y and [s for s, _ in axes] != [s for s, _ in found]:
            return None
        found = axes if m is x else [(abs(s), max(c, d)) for (s, c), (_, d) in zip(found, axes)]
    return found


def _meet(far: int, steps: list[tuple[int, int]], size: int) -> bool:
    """Whether `far` and multiples of the strides, each less often than its axis is long, nearly cancel."""
    if not steps:
        return abs(far) < size
    (stride, count), rest = steps[0], steps[1:]
    room = sum(s * (c - 1) for s, c in rest) + size - 1
    first, last = max(-((room + far) // stride), 1 - count), min((room - far) // stride, count - 1)
    if last - first > MANY:
        return True
    return any(_meet(far + stride * k, rest, size) for k in range(first, last + 1))
