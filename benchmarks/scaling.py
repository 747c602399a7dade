"""How cost grows: writes in loops, which must not depend on an array's size, and the memory of a fused chain.

    python benchmarks/scaling.py [--largest 1000000] [--length 10000000] [--json PATH] [--markdown PATH]

A sieve, an insertion sort of nearly sorted numbers, and a table of dynamic programming are run on arrays of
10^3 to 10^6 elements. The table shows nanoseconds for each write, which would grow with the size if a write
copied the array. The chain is ten operations over a long float32 array; its peak memory is that of a process
of its own, less the peak of one that only makes the input and an output.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import autograph as ag  # noqa: E402 - found by the line above

GROWTH = 2.0  # the cost of a write at the largest size, at most, as a multiple of that at the smallest
MEGABYTE = 2**20


def sieve(composite):
    """Marks the composite numbers; returns the number of writes."""
    n = len(composite)
    writes = 0
    for i in range(2, n):
        if i * i >= n:
            break
        if not composite[i]:
            for k in range(i * i, n, i):
                composite[k] = True
                writes += 1
    return writes


def insertion_sort(x):
    """Sorts in place; returns the number of writes."""
    writes = 0
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
            writes += 1
        x[j + 1] = value
        writes += 1
    return writes


def coin_table(ways):
    """In how many ways amounts can be paid with three coins; returns the number of writes."""
    n = len(ways)
    writes = 0
    ways[0] = 1
    for coin in (1, 5, 12):
        for value in range(coin, n):
            ways[value] = (ways[value] + ways[value - coin]) % 1000000007
            writes += 1
    return writes


RANDOM = np.random.default_rng(0)


def nearly_sorted(n: int) -> np.ndarray:
    """Numbers at most four places from where they belong, others each time: no processor foresees its way."""
    return np.arange(n) + 4.0 * RANDOM.random(n)


Program = Callable[..., int]
PROGRAMS: dict[Program, Callable[[int], np.ndarray]] = {
    sieve: lambda n: np.zeros(n, dtype=np.bool_),
    insertion_sort: nearly_sorted,
    coin_table: lambda n: np.zeros(n, dtype=np.int64),
}


def per_write(function: Program, make: Callable[[int], np.ndarray], n: int) -> float:
    """The nanoseconds of processor time of one write in an array of n elements, the least of some calls."""
    converted = ag.to_graph(function)
    converted(make(n))
    times = []
    for _ in range(max(3, 10**6 // n)):
        x = make(n)
        start = time.process_time()
        writes = converted(x)
        times.append(1e9 * (time.process_time() - start) / writes)
        if times[-1] * writes > 1e10:
            break
    return min(times)


def writes(largest: int) -> list[dict[str, Any]]:
    """A row for each program: the cost of a write by size, and its growth."""
    sizes = [n for n in (10**3, 10**4, 10**5, 10**6) if n <= largest]
    print(f"{'ns per write':<16}" + "".join(f"{n:>12}" for n in sizes) + f"{'growth':>10}")
    rows = []
    for function, make in PROGRAMS.items():
        costs = {n: per_write(function, make, n) for n in sizes}
        growth = costs[sizes[-1]] / costs[sizes[0]]
        rows.append({"program": function.__name__, "costs": costs, "growth": growth, "met": growth <= GROWTH})
        cells = "".join(f"{cost:>12.1f}" for cost in costs.values())
        print(f"{function.__name__:<16}{cells}{growth:>10.2f}", flush=True)
    return rows


def chain(x):
    """Ten operations, element by element."""
    y = x * 0.5 + 0.1
    y = np.tanh(y) * np.exp(-x * x)
    return y + 0.3 * x / (1.0 + np.abs(x))


STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    if (
        STATUS.exists()
    ):  # what `getrusage` tells begins, on Linux, with the peak of the process that started this one
        [line] = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM")]
        return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def forget_peak() -> None:
    """Lets the peak be what the process has now, where the system can."""
    with contextlib.suppress(OSError):
        CLEAR.write_text("5")


def one_chain(length: int, run: bool) -> None:
    """In a process of its own: prints by how much the peak grows from the warm-up on."""
    converted = ag.to_graph(chain)
    for n in (1000, 1001, 1002, 1_000_000):  # what later calls find is made by the first ones
        converted(np.ones(n, np.float32))
    forget_peak()
    before = peak()
    x = np.ones(length, np.float32)
    y = converted(x) if run else np.ones(length, np.float32)
    assert y.shape == x.shape
    print(peak() - before)


def memory(length: int) -> dict[str, Any]:
    """The peak of the chain beyond that of its input and output."""
    grown = []
    for job in ("--run-chain", "--make-arrays"):
        command = [sys.executable, __file__, job, "--length", str(length)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        grown.append(int(done.stdout))
    extra = grown[0] - grown[1]
    print(f"\npeak of 10 operations over {length} float32: input + output + {extra / MEGABYTE:.2f} MB")
    return {"length": length, "extra": extra, "met": extra < MEGABYTE}


def markdown(rows: list[dict[str, Any]], chained: dict[str, Any]) -> str:
    """The figures as a page."""
    sizes = list(rows[0]["costs"])
    lines = ["# Scaling\n", "Nanoseconds for each write.\n"]
    lines += [
        "| program | " + " | ".join(f"{n}" for n in sizes) + " | growth |",
        "|---" * (len(sizes) + 2) + "|",
    ]
    for row in rows:
        cells = [f"{cost:.1f}" for cost in row["costs"].values()]
        lines.append(f"| {row['program']} | " + " | ".join(cells) + f" | {row['growth']:.2f} |")
    lines.append(f"\nThe chain's peak is its input, its output and {chained['extra'] / MEGABYTE:.2f} MB.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", type=int, default=10**6, help="of the sizes, for a slow engine")
    parser.add_argument("--length", type=int, default=10**7, help="of the chain's array")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--run-chain", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--make-arrays", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run_chain or options.make_arrays:
        one_chain(options.length, options.run_chain)
        return
    rows, chained = writes(options.largest), memory(options.length)
    for what, met in [*((row["program"], row["met"]) for row in rows), ("memory", chained["met"])]:
        print(f"{what}: {'met' if met else 'NOT MET'}")
    if options.json:
        options.json.write_text(json.dumps({"writes": rows, "memory": chained}, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(rows, chained))


if __name__ == "__main__":
    main()
