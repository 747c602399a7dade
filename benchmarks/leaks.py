"""Memory over many calls: nothing that a call makes may stay, whether it returns or raises.

    python benchmarks/leaks.py [--calls 1000000] [--only NAME ...] [--markdown PATH]

Each function is called over and over on the same arguments, after as many calls as it takes to warm up. The
table shows by how many bytes the process grew, and by how many objects of Python (`sys.getallocatedblocks`);
a growth of more than a tenth of a byte, or a thousandth of an object, a call is a leak.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import autograph as ag  # noqa: E402 - found by the line above

BYTES, OBJECTS = 0.1, 0.001


def scalars(n, x):
    total = 0.0
    for i in range(n):
        total += x / (i + 1) if i % 2 else x * i
    return total, n > 3


def arrays(x, y):
    z = np.where(x > 0, x * y, -x)
    return z.sum(), z[::2] + 1, x @ y


def in_place(x):
    for i in range(1, len(x)):
        x[i] = 0.5 * (x[i - 1] + x[i])
    x[1:3] += x[:2]


def lists(n):
    found = []
    for i in range(n):
        if i % 3:
            found.append((i, float(i)))  # noqa: PERF401
    return found, {"n": n, "last": found[-1]}


def texts(n):
    return f"{n}: {n / 3:.3f}" + str(n > 2)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def moved(self, by):
        return Point(self.x + by, self.y)


def objects(n):
    p = Point(n, 1.5)
    for _ in range(n):
        p = p.moved(2)
    return p.x, p


def recursion(n):
    return 1 if n < 2 else recursion(n - 1) + recursion(n - 2)


def generated(n):
    def numbers(k):
        for i in range(k):
            yield i * i

    return sum(numbers(n)), [v for v in numbers(n) if v > 2]


def returned(n):
    def add(v):
        return v + n

    return add


def caught(n, x):
    try:
        return x[n]
    except IndexError as error:
        return str(error)


def calls_back(x):
    return np.median(x), np.unique(x), np.argsort(x)


def index(x, n):
    y = x * 2
    return y[n] + y[0]


def division(n, x):
    found = [x]
    for i in range(3, -1, -1):
        found.append((i, n // i))  # noqa: PERF401
    return found


def shapes(x, y):
    z = x + 1
    return z + y[: len(y) - 1]


def raised(x, n):
    parts = [x * 2, {"n": n}]
    if n > 2:
        raise ValueError(f"too large: {n}", parts)
    return parts


def overflow(n):
    k = n
    for _ in range(100):
        k *= n
    return k


def key(d, n):
    return d["a"] + d["missing"]


def within(x):
    rows = []
    for row in x:
        rows.append(row.sum())
        if len(rows) > 2:
            rows[7] = 1
    return rows


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (scalars, (5, 2.5)),
    (arrays, (np.arange(8.0) - 3, np.arange(8.0))),
    (in_place, (np.arange(8.0),)),
    (lists, (7,)),
    (texts, (7,)),
    (objects, (3,)),
    (recursion, (5,)),
    (generated, (4,)),
    (returned, (4,)),
    (caught, (9, np.arange(3.0))),
    (calls_back, (np.arange(6.0) % 4,)),
    (index, (np.arange(4.0), 9)),
    (division, (5, np.arange(3.0))),
    (shapes, (np.arange(4.0), np.arange(4.0))),
    (raised, (np.arange(4.0), 7)),
    (overflow, (10,)),
    (key, ({"a": 1.5}, 2)),
    (within, (np.ones((4, 3)),)),
    (index, (np.ones(100_000), 1)),
    (index, (np.ones(100_000), 100_000)),
]


def resident() -> int:
    """Bytes of memory that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def run(f: Callable[..., Any], arguments: tuple[Any, ...], count: int) -> str:
    """Calls a function so often; what came of the last call."""
    outcome = "returns"
    for _ in range(count):
        try:
            f(*arguments)
        except Exception as error:
            outcome = type(error).__name__
    return outcome


def main() -> int:
    """Prints the table; the exit status is 1 if there is a leak."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    rows = [
        "| function | calls | ends with | µs a call | bytes | objects | |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(rows))
    leaks = 0
    for function, arguments in CASES:
        if options.only and function.__name__ not in options.only:
            continue
        f = ag.to_graph(function)
        calls = options.calls
        if any(isinstance(a, np.ndarray) and a.size > 10_000 for a in arguments):
            calls = max(calls // 20, 1)
        run(f, arguments, max(calls // 20, 1000))
        gc.collect()
        before, blocks, started = resident(), sys.getallocatedblocks(), time.perf_counter()
        outcome = run(f, arguments, calls)
        spent = time.perf_counter() - started
        gc.collect()
        grown, more = resident() - before, sys.getallocatedblocks() - blocks
        leak = grown > max(BYTES * calls, 2**20) or more > max(OBJECTS * calls, 200)
        leaks += leak
        row = (
            f"| {function.__name__} | {calls} | {outcome} | {spent / calls * 1e6:.2f} | {grown} | {more} "
            f"| {'leak' if leak else ''} |"
        )
        rows.append(row)
        print(row, flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
