"""Runs the kernels with NumPy, as graphs, and under Numba, side by side in one run, and prints the ratios.

    python benchmarks/run_kernels.py [--kernels lu,'jacobi*'] [--kind loops] [--numba-python PATH] [--tiny]

Each engine has a process of its own; its samples are taken in turn with those of the others, and the median
counts; a pause before each lets the threads of the others fall asleep. Numba is run plainly and with
parallel=True, and the better of the two counts; the table says where it refuses a function. All results are
compared with NumPy's. `--tiny` only compares, on small inputs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.kernels import KERNELS, Kernel
from benchmarks.worker import Worker, has

NUMBA = ("numba", "numba-parallel")
LIMITS = {"loops": 1.0, "arrays": 1.5}
OVER_NUMPY = 5.0


@dataclass
class Measured:
    """What one engine did with one kernel."""

    status: str
    reason: str = ""
    first: float = math.nan
    samples: list[float] = field(default_factory=list)

    @property
    def time(self) -> float:
        """The median of the samples, nan where there is none."""
        return statistics.median(self.samples) if self.samples else math.nan

    @property
    def counts(self) -> bool:
        """Whether it ran, and right."""
        return self.status == "right" and bool(self.samples)


@dataclass
class Row:
    """A kernel and what each engine did with it."""

    kernel: str
    kind: str
    engines: dict[str, Measured]

    def best_numba(self) -> Measured | None:
        """The faster of the ways in which Numba ran the kernel right."""
        ran = [self.engines[name] for name in NUMBA if name in self.engines and self.engines[name].counts]
        return min(ran, key=lambda measured: measured.time, default=None)

    def over(self, base: Measured | None) -> float:
        """How many times faster the graph is, nan where one of the two did not run."""
        mine = self.engines.get("autograph")
        if base is None or not base.counts or mine is None or not mine.counts:
            return math.nan
        return base.time / mine.time

    def remarks(self) -> str:
        """What went wrong, if anything."""
        wrong = {name: m for name, m in self.engines.items() if m.status != "right"}
        if all(name in wrong for name in NUMBA) and len({wrong[name].status for name in NUMBA}) == 1:
            wrong["numba"] = wrong.pop("numba-parallel")
        return "; ".join(f"{name} {m.status} ({m.reason})" for name, m in wrong.items())


def measure(kernel: Kernel, workers: dict[str, Worker], options: argparse.Namespace, folder: str) -> Row:
    """Runs one kernel with every engine: the first calls, then samples in turn."""
    row = Row(kernel.name, kernel.kind, {})
    reference = os.path.join(folder, kernel.name)
    for name, worker in workers.items():
        answer = worker.ask(
            options.timeout,
            do="start",
            kernel=kernel.name,
            tiny=options.tiny,
            size=options.size,
            reference=reference,
        )
        status, reason = answer["status"], answer.get("reason", "")
        if status == "ready":
            reason = answer["difference"] or ""
            status = "wrong" if reason else "right"
        row.engines[name] = Measured(status, reason, answer.get("first", math.nan))
    for turn in range(0 if options.tiny else options.rounds):
        for name in rotated(list(workers), turn):
            measured = row.engines[name]
            if measured.status != "right" or sum(measured.samples) > options.timeout / 4:
                continue
            time.sleep(options.pause)
            answer = workers[name].ask(
                options.timeout, do="sample", seconds=options.seconds, processor=options.processor_time
            )
            if answer["status"] == "sample":
                measured.samples.append(answer["time"])
            else:
                measured.status, measured.reason = answer["status"], answer["reason"]
    return row


def rotated(names: list[str], turn: int) -> list[str]:
    """The names, each turn from another one on."""
    turn %= len(names)
    return names[turn:] + names[:turn]


def geometric_mean(values: Iterable[float]) -> tuple[float, int]:
    """The geometric mean of those that are numbers, and how many those are."""
    logs = [math.log(value) for value in values if not math.isnan(value)]
    return (math.exp(sum(logs) / len(logs)) if logs else math.nan), len(logs)


def summary(rows: list[Row]) -> list[dict[str, Any]]:
    """The geometric means that the project is held to."""
    lines = []
    for kind, limit in LIMITS.items():
        mean, count = geometric_mean(row.over(row.best_numba()) for row in rows if row.kind == kind)
        lines.append(line(f"{kind}: times faster than Numba", mean, count, limit))
    for kind in LIMITS:
        mean, count = geometric_mean(row.over(row.engines.get("numpy")) for row in rows if row.kind == kind)
        lines.append(line(f"{kind}: times faster than NumPy", mean, count, None))
    mean, count = geometric_mean(row.over(row.engines.get("numpy")) for row in rows)
    lines.append(line("all: times faster than NumPy", mean, count, OVER_NUMPY))
    return lines


def line(what: str, mean: float, count: int, limit: float | None) -> dict[str, Any]:
    """One line of the summary."""
    met = None if limit is None or math.isnan(mean) else mean >= limit
    return {"what": what, "mean": mean, "kernels": count, "limit": limit, "met": met}


def milliseconds(seconds: float) -> str:
    """A time with three digits."""
    return "-" if math.isnan(seconds) else f"{1e3 * seconds:.3g}"


def ratio(value: float) -> str:
    """A ratio with two decimals, three digits where it is large."""
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


HEADS = [
    "kernel",
    "kind",
    "NumPy ms",
    "graph ms",
    "Numba ms",
    "x NumPy",
    "x Numba",
    "first ms",
    "Numba first ms",
]


def cells(row: Row) -> list[str]:
    """The columns of a row."""
    numba = row.best_numba()
    none = Measured("none")
    mine = row.engines.get("autograph", none)
    parallel = "p" if numba is not None and numba is row.engines.get("numba-parallel") else ""
    return [
        row.kernel,
        row.kind,
        milliseconds(row.engines["numpy"].time),
        milliseconds(mine.time),
        milliseconds((numba or none).time) + parallel,
        ratio(row.over(row.engines["numpy"])),
        ratio(row.over(numba)),
        milliseconds(mine.first),
        milliseconds((numba or none).first),
    ]


def text(values: list[str]) -> str:
    """A line of the printed table."""
    return f"{values[0]:<22}{values[1]:<8}" + "".join(
        f"{value:>{len(h) + 2}}" for h, value in zip(HEADS[2:], values[2:])
    )


def verdict(entry: dict[str, Any]) -> str:
    """A line of the summary as text."""
    end = ""
    if entry["limit"] is not None:
        met = {True: "met", False: "NOT MET", None: "not measured"}[entry["met"]]
        end = f" (limit {entry['limit']}: {met})"
    return f"{entry['what']}: {ratio(entry['mean'])} over {entry['kernels']} kernels{end}"


def markdown(rows: list[Row]) -> str:
    """The table and the summary as a page."""
    lines = [
        f"# Kernels\n\n{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n"
    ]
    lines += [f"- {verdict(entry)}" for entry in summary(rows)]
    lines += ["\n| " + " | ".join([*HEADS, "remarks"]) + " |", "|---" * (len(HEADS) + 1) + "|"]
    lines += ["| " + " | ".join([*cells(row), row.remarks().replace("|", "/")]) + " |" for row in rows]
    return "\n".join(lines) + "\n\nA p after a time says that parallel=True was the better one.\n"


def chosen(options: argparse.Namespace) -> list[Kernel]:
    """The kernels that the options name."""
    patterns = options.kernels.split(",")
    kernels = [k for k in KERNELS.values() if any(fnmatch.fnmatch(k.name, pattern) for pattern in patterns)]
    kernels = [k for k in kernels if options.kind in (None, k.kind)]
    if not kernels:
        sys.exit(f"no kernel is called {options.kernels}; there are {', '.join(KERNELS)}")
    return kernels


def engines(options: argparse.Namespace) -> dict[str, Worker]:
    """A process for each engine that is wanted and there."""
    threads = options.threads
    workers = {"numpy": Worker("numpy", sys.executable, threads)}
    if not options.no_autograph:
        workers["autograph"] = Worker("autograph", sys.executable, threads)
    if not options.no_numba:
        if has(options.numba_python, "numba"):
            workers |= {name: Worker(name, options.numba_python, threads) for name in NUMBA}
        else:
            print(f"{options.numba_python} has no Numba: skipped (see --numba-python)")
    return workers


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", default="*", help="names or patterns, with commas between them")
    parser.add_argument("--kind", choices=["loops", "arrays"], help="the kernels of one kind only")
    parser.add_argument("--tiny", action="store_true", help="only compare the results, on small inputs")
    parser.add_argument(
        "--size", type=lambda s: [int(n) for n in s.split(",")], help="in place of the kernel's own"
    )
    parser.add_argument("--rounds", type=int, default=5, help="samples for each engine")
    parser.add_argument("--seconds", type=float, default=0.05, help="how long a sample of short calls takes")
    parser.add_argument("--pause", type=float, default=0.15, help="seconds before each sample")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for an engine to answer")
    parser.add_argument("--threads", type=int, help="how many each engine may use (default: its own choice)")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="in place of wall time: with --threads 1 it is what other programs on the machine disturb least",
    )
    parser.add_argument("--no-numba", action="store_true")
    parser.add_argument("--no-autograph", action="store_true")
    parser.add_argument(
        "--numba-python",
        default=os.environ.get("PEERS_PYTHON", sys.executable),
        help="the interpreter that has Numba (default: $PEERS_PYTHON, or this one)",
    )
    parser.add_argument("--json", type=Path, help="where to write everything")
    parser.add_argument("--markdown", type=Path, help="where to write the table")
    return parser.parse_args(argv)


def main() -> int:
    """Measures, prints, writes; the status says whether the graphs were right."""
    options = arguments()
    kernels = chosen(options)
    workers = engines(options)
    rows: list[Row] = []
    print(text(HEADS))
    with tempfile.TemporaryDirectory() as folder:
        try:
            for kernel in kernels:
                rows.append(measure(kernel, workers, options, folder))
                print(text(cells(rows[-1])) + "  " + rows[-1].remarks()[:150], flush=True)
                write(options, rows)
        finally:
            for worker in workers.values():
                worker.end()
    if not options.tiny:
        print("\n" + "\n".join(verdict(entry) for entry in summary(rows)))
    wrong = [row.kernel for row in rows if row.engines.get("autograph", Measured("right")).status != "right"]
    if wrong:
        print(f"\n{len(wrong)} of {len(rows)} kernels did not run right as a graph: {', '.join(wrong)}")
    return bool(wrong)


def write(options: argparse.Namespace, rows: list[Row]) -> None:
    """Writes what there is so far to the paths that the options name."""
    if options.json:
        everything = {"summary": summary(rows), "kernels": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(everything, indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(rows))


if __name__ == "__main__":
    sys.exit(main())
