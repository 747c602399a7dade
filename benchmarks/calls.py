"""What calls cost: the overhead of a call that finds its graph, first calls, a second process, the import.

    python benchmarks/calls.py [--repeats 7] [--json PATH] [--markdown PATH]

Overheads are microseconds above a call of an empty Python function with the same arguments, the median of
batches. First calls are milliseconds from the call to its result, trace and compilation included, in a fresh
process that has imported NumPy, autograph and what compiles; in the second process the cache on the disk is
filled. The import is what `import autograph` adds to `import numpy`. Wall time counts; the processor time
beside it is less disturbed by other programs on the machine.
"""

from __future__ import annotations

import argparse
import json
import linecache
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

Rows = list[dict[str, Any]]


def nothing(x):
    """An empty function."""


def affine(x):
    return x * 2 + 1


def total(weights):
    return weights["w0"][0] + weights["w9"][0]


def newton(n):
    s = 0.0
    for i in range(1, n):
        x = 1.0
        e = 1.0
        while e > 1e-9 * x:
            y = 0.5 * (x + i / x)
            e = abs(y - x)
            x = y
        s += x
    return s


def rnn(x, lens, wx, wh, b):
    h = np.zeros((x.shape[1], b.shape[0]), np.float32)
    outputs = np.zeros((x.shape[0], x.shape[1], b.shape[0]), np.float32)
    for t in range(lens.max()):
        new = np.tanh(x[t] @ wx + h @ wh + b)
        valid = (t < lens)[:, None]
        outputs[t] = np.where(valid, new, np.float32(0))
        h = np.where(valid, new, h)
    return outputs, h


def straight() -> Callable[..., Any]:
    """A function of 500 elementwise operations, written out."""
    kinds = ["y = y * 1.01", "y = y + x", "y = np.tanh(y)", "y = y - 0.5"]
    lines = ["def straight(x):", "    y = x", *(f"    {kinds[i % 4]}" for i in range(500)), "    return y"]
    text = "\n".join(lines) + "\n"
    linecache.cache["<straight>"] = (len(text), None, text.splitlines(True), "<straight>")
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, "<straight>", "exec"), namespace)
    return namespace["straight"]


def first_case(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function whose first call is measured, and its arguments."""
    if name == "scalar loop":
        return newton, (100,)
    if name == "500 operations":
        return straight(), (np.ones(1000, np.float32),)
    shapes = [(64, 32, 50), (50, 256), (256, 256), (256,)]
    x, wx, wh, b = (np.full(shape, 0.01, np.float32) for shape in shapes)
    return rnn, (x, np.full(32, 64), wx, wh, b)


FIRST_CALLS = {"scalar loop": 30.0, "500 operations": 150.0, "rnn step loop": 120.0}
SECOND_PROCESS = 10.0
OVERHEADS = {"float32[4]": 0.35, "dict of 10 arrays": 3.0}
IMPORT = 60.0


def seconds_per_call(function: Callable[[Any], Any], argument: Any, calls: int) -> float:
    """The mean time of a call within a batch."""
    times = range(calls)
    start = time.perf_counter()
    for _ in times:
        function(argument)
    return (time.perf_counter() - start) / calls


def overheads(repeats: int) -> Rows:
    """What a call costs beyond one of an empty function."""
    import autograph as ag

    arrays = {f"w{i}": np.ones(4, np.float32) for i in range(10)}
    cases = {"float32[4]": (affine, np.ones(4, np.float32)), "dict of 10 arrays": (total, arrays)}
    rows = []
    for name, (function, argument) in cases.items():
        converted = ag.to_graph(function)
        for _ in range(3):
            converted(argument)
        once = seconds_per_call(converted, argument, 10)
        calls = max(10, min(20000, int(0.05 / once)))
        pairs = [
            seconds_per_call(converted, argument, calls) - seconds_per_call(nothing, argument, calls)
            for _ in range(repeats)
        ]
        rows.append(row(f"call with {name}", 1e6 * statistics.median(pairs), "us", OVERHEADS[name]))
    return rows


def first_call(name: str) -> None:
    """In a process of its own: prints the wall and processor time of a first call, in milliseconds."""
    import importlib.util

    import autograph as ag

    if importlib.util.find_spec("llvmlite"):
        importlib.import_module("llvmlite.binding")
    function, args = first_case(name)
    converted = ag.to_graph(function)
    start, processor = time.perf_counter(), time.process_time()
    converted(*args)
    print(1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - processor))


def in_a_process(arguments: list[str], cache: str) -> list[float]:
    """The numbers that a fresh process prints."""
    environment = dict(os.environ, AUTOGRAPH_CACHE_DIR=cache)
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env=environment
    )
    return [float(word) for word in done.stdout.split()]


def first_calls(repeats: int) -> Rows:
    """The first call of each function, without the cache on the disk and with it."""
    rows = []
    for name, limit in FIRST_CALLS.items():
        cold, warm = [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(in_a_process([__file__, "--first-call", name], cache))
                warm.append(in_a_process([__file__, "--first-call", name], cache))
        for what, times, bound in ((name, cold, limit), (f"{name}, second process", warm, SECOND_PROCESS)):
            wall, processor = (statistics.median(column) for column in zip(*times))
            rows.append(row(f"first call: {what}", wall, "ms", bound, processor))
    return rows


def importing(repeats: int) -> Rows:
    """What `import autograph` adds to `import numpy`."""
    times: dict[str, list[list[float]]] = {"numpy": [], "numpy, autograph": []}
    for _ in range(repeats):
        for modules, runs in times.items():
            program = (
                f"import sys, time; sys.path.insert(0, {str(ROOT)!r}); start = time.perf_counter(); "
                f"import {modules}; print(1e3 * (time.perf_counter() - start), 1e3 * time.process_time())"
            )
            runs.append(in_a_process(["-c", program], tempfile.gettempdir()))
    base, both = ([statistics.median(column) for column in zip(*runs)] for runs in times.values())
    return [row("import autograph", both[0] - base[0], "ms", IMPORT, both[1] - base[1])]


def row(what: str, value: float, unit: str, limit: float, processor: float | None = None) -> dict[str, Any]:
    """A figure, its limit, and whether it is kept."""
    return {
        "what": what,
        "value": value,
        "unit": unit,
        "limit": limit,
        "processor": processor,
        "met": value <= limit,
    }


def text(entry: dict[str, Any]) -> str:
    """A line of the printed table."""
    processor = "" if entry["processor"] is None else f"{entry['processor']:.3g} {entry['unit']}"
    measured = f"{entry['value']:.3g} {entry['unit']}"
    met = "met" if entry["met"] else "NOT MET"
    return f"{entry['what']:<44}{measured:>13}{processor:>14}{entry['limit']:>8g}  {met}"


def markdown(rows: Rows) -> str:
    """The figures as a page."""
    lines = ["# Calls\n", "| | measured | processor time | limit | |", "|---|---|---|---|---|"]
    for entry in rows:
        processor = "" if entry["processor"] is None else f"{entry['processor']:.3g}"
        met = "met" if entry["met"] else "not met"
        measured = f"{entry['value']:.3g} {entry['unit']}"
        lines.append(f"| {entry['what']} | {measured} | {processor} | {entry['limit']:g} | {met} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--first-call", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first_call:
        first_call(options.first_call)
        return
    rows: Rows = []
    print(f"{'':<44}{'measured':>13}{'processor':>14}{'limit':>8}")
    for part in (overheads, first_calls, importing):
        for entry in part(options.repeats):
            rows.append(entry)
            print(text(entry), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(rows))


if __name__ == "__main__":
    main()
