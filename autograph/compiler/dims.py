"""What is known of dimensions and indices that are no constants: their bounds, and which of two is larger."""

from __future__ import annotations

import re
from typing import Any

from autograph.compiler.backend import HUGE, LARGE
from autograph.compiler.ir import Builder
from autograph.compiler.overlaps import least, terms

_LESS = re.compile(r"icmp slt i64 (%\S+), (\S+)$")
_MOVED = re.compile(r"add nsw i64 (%\S+), (-?\d+)$")


class Dimensions:
    """The dimensions of arguments of which something is known."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.large: set[str] = set()
        self.seen: dict[str, list[tuple[str, int, int]]] = {}  # block from which on bounds hold, and these
        self.smaller: dict[str, list[tuple[str, str]]] = {}  # block from which on it is less than another one
        self.names: dict[int, str] = {}  # by the code of a size in `backend.sizes`

    def shared(
        self, codes: tuple[int, ...], shape: tuple[Any, ...], dims: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Dimensions of an argument: those of equal size have one name."""
        left = iter(codes)
        found = []
        for d, known in zip(dims, shape):
            code = next(left, 0) if known is None else 0
            if code > 1:
                d = self.names.setdefault(code, d)
                if code & 1:
                    self.large.add(d)
            found.append(1 if code == 1 else d)
        return tuple(found)

    def _moved(self, d: str) -> tuple[str, int]:
        """An integer as another one and a number."""
        origin = self.b.origins.get(d)
        match = _MOVED.match(origin) if isinstance(origin, str) else None
        return (match[1], int(match[2])) if match else (d, 0)

    def bounds(self, d: Any) -> tuple[int, int] | None:
        """Between what a dimension surely is."""
        if isinstance(d, int):
            return d, d
        base, step = self._moved(d)
        if base in self.large:
            return LARGE + step, HUGE + step
        for name, move in ((d, 0), (base, step)):
            for block, low, high in self.seen.get(name, ()):
                if self.b.follows(block):
                    return low + move, high + move
        return None

    def note(self, d: Any, low: int, high: int) -> Any:
        """The same dimension, of which it is known from here on between what it is."""
        if isinstance(d, str) and d.startswith("%") and self.bounds(d) is None:
            self.seen.setdefault(d, []).append((self.b.block, low, high))
        return d

    def most(self, d: Any) -> int | None:
        """What a dimension is at most, where that is known."""
        found = self.bounds(d)
        return None if found is None else found[1]

    def least(self, d: Any) -> int:
        """What a dimension is at least."""
        found = self.bounds(d)
        return 0 if found is None else max(found[0], 0)

    def spans(self, d: Any, whole: Any) -> bool:
        """Whether a dimension that fits another one surely is the same, and not 1."""
        return d == whole or self.least(d) > 1

    def plus(self, a: str, b: int | str) -> str:
        """A sum; sums with numbers of one integer are written in one way."""
        if isinstance(b, int):
            base, step = self._moved(a)
            return base if step + b == 0 else self.b.value(f"add nsw i64 {base}, {step + b}")
        return self.b.value(f"add nsw i64 {a}, {b}")

    def minus(self, a: Any, b: Any) -> Any:
        """A difference, as the number or the sum with a number that it is; None where it is none of these."""
        found = terms(self.b, b, -1, terms(self.b, a))
        step = found.pop("", 0)
        left = {name: factor for name, factor in found.items() if factor}
        if not left:
            return step
        (name, factor), *more = left.items()
        return None if more or factor != 1 else self.plus(name, step) if step else name

    def at_most(self, x: Any, d: Any) -> bool:
        """Whether an integer is surely not more than a dimension."""
        far = terms(self.b, x, -1, terms(self.b, d))
        step = far.pop("", 0)
        if not any(far.values()):
            return step >= 0
        room = least({**far, "": step}, self.bounds)
        if room is not None and room >= 0:
            return True
        own = terms(self.b, x)
        step = own.pop("", 0)
        names = [name for name, factor in own.items() if factor]
        if len(names) != 1 or own[names[0]] != 1 or step > 1:
            return False
        return self.b.is_true(f"icmp slt i64 {names[0]}, {d}")

    def less(self, test: str) -> None:
        """Notes what a test tells that holds from here on, if it compares two integers."""
        origin = self.b.origins.get(test)
        match = _LESS.match(origin) if isinstance(origin, str) else None
        if match:
            self.smaller.setdefault(match[1], []).append((self.b.block, match[2]))

    def natural(self, x: Any) -> bool:
        """Whether an integer is surely not negative, as `n - 2 - i` is not where i is less than n - 2."""
        own = terms(self.b, x)
        found = least(own, self.bounds)
        if found is not None and found >= 0:
            return True
        for name, factor in own.items():
            for block, limit in self.smaller.get(name, ()) if factor == -1 else ():
                rest = terms(self.b, limit, -1, {**own, name: 0, "": own.get("", 0) + 1})
                found = least(rest, self.bounds)
                if found is not None and found >= 0 and self.b.follows(block):
                    return True
        return False

    def below(self, x: Any, d: Any) -> bool:
        """Whether an integer is surely less than a dimension."""
        return self.at_most(self.plus(x, 1) if isinstance(x, str) else x + 1, d)
