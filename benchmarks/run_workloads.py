"""Runs the peers' workloads side by side in one run, and says which limits the graphs keep.

    python benchmarks/run_workloads.py --shared FOLDER [--peers-python PATH] [--only newton,ema]

FOLDER holds the workloads and the peers' programs (`data.py`, `peer_*.py`, `compare.py`). It is copied, this
project's entry is put beside them, and each peer runs under its own interpreter: this one for graphs, PATH
for the others. Without a folder there is nothing to measure against, and the script says so.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = ("c", "numpy", "numba", "jax")
MASKED = "autograph-masked"  # the other form of a workload: peer_autograph.MASKED
Results = dict[str, Any]


@dataclass(frozen=True)
class Limit:
    """The time of the graph, at most, as a multiple of another peer's."""

    workloads: tuple[str, ...]
    factor: float
    than: str  # a peer, or "best": the fastest of the peers but C
    form: str = "autograph"


SCALAR_LOOPS = ("collatz*", "newton*", "nbody*", "rosenbrock", "ema*")
LIMITS = [
    Limit(SCALAR_LOOPS, 1.15, "c"),
    Limit(SCALAR_LOOPS, 1.0, "numba"),
    Limit(("lorenz*",), 1.2, "c"),
    Limit(("mandelbrot",), 1.0, "numba"),
    Limit(("mandelbrot",), 0.5, "jax", MASKED),
    Limit(("elementwise",), 0.75, "best"),
    Limit(("blackscholes",), 1.0, "best"),
    Limit(("softmax", "layernorm"), 1.05, "best"),
    Limit(("rnn_*",), 0.75, "best"),
    Limit(("beam_search", "treelstm_batched"), 0.8, "best"),
    Limit(("treelstm_rec",), 0.6, "best"),
    Limit(("matmul_chain",), 1.05, "best"),
    Limit(("dispatch", "dispatch_np"), 0.4, "numba"),
]
FIRST_CALLS = {"compile_500ops": 0.150}


@dataclass
class Verdict:
    """A limit, and what was measured."""

    workload: str
    form: str
    than: str
    seconds: float
    ratio: float
    limit: float

    @property
    def met(self) -> bool | None:
        """Whether the limit is kept; None where one of the two did not run."""
        return None if math.isnan(self.ratio) else self.ratio <= self.limit

    def __str__(self) -> str:
        word = {True: "met", False: "NOT MET", None: "not measured"}[self.met]
        shown = "-" if math.isnan(self.ratio) else f"{self.ratio:.2f}"
        return f"{self.workload:<18}{self.form:<18}{shown:>10} x {self.than:<14} limit {self.limit:<6} {word}"


def estimate(results: Results, peer: str) -> float:
    """The time of a peer that ran right, nan otherwise."""
    answer = results.get(peer, {})
    return float(answer["est"]) if answer.get("ok") and "est" in answer else math.nan


def fastest(results: Results, peers: Sequence[str]) -> str:
    """The fastest of the peers that ran right, an empty text where none did."""
    times = {peer: estimate(results, peer) for peer in peers}
    ran = [peer for peer, seconds in times.items() if not math.isnan(seconds)]
    return min(ran, key=lambda peer: times[peer], default="")


def verdicts(workload: str, results: Results, peers: Sequence[str]) -> list[Verdict]:
    """How a workload stands against each of its limits."""
    found = []
    for limit in LIMITS:
        if not any(fnmatch(workload, pattern) for pattern in limit.workloads):
            continue
        rivals = [peer for peer in peers if peer != "c"]
        than = fastest(results, rivals) if limit.than == "best" else limit.than
        mine = estimate(results, limit.form)
        found.append(
            Verdict(workload, limit.form, than or "best", mine, mine / estimate(results, than), limit.factor)
        )
    if workload in FIRST_CALLS:
        mine = results.get("autograph", {})
        first = float(mine.get("first_s", math.nan)) if mine.get("ok") else math.nan
        bound = FIRST_CALLS[workload]
        found.append(Verdict(workload, "first call", "second", first, first, bound))
    return found


PAUSE = "time.sleep(0.01)"
"""What the peers' module does before each sample: threads that look for work go to sleep."""


def prepare(shared: Path, folder: Path, peers_python: str, pause: float) -> Any:
    """Copies the peers, adds this project's entry in its two forms, and loads the module that compares.

    It waits `pause` seconds before each sample: OpenBLAS's threads look for work for longer than it expects.
    """
    shutil.copytree(shared, folder, dirs_exist_ok=True)
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    shutil.copy(HERE / "peer_autograph.py", folder)
    masked = "from peer_autograph import MASKED as WORKLOADS\n\nCANNOT: dict[str, str] = {}\n"
    (folder / "peer_autograph_masked.py").write_text(masked)
    with (folder / "runner.py").open("a") as runner:
        runner.write(f'\nPEERS["{MASKED}"] = ("peer_autograph_masked", "autograph")\n')
        runner.write(f"PY.update(dict.fromkeys(('tf', 'jaxnb', 'torch'), {peers_python!r}))\n")
        runner.write(f"PY['autograph'] = {sys.executable!r}\n")
    comparing = folder / "compare.py"
    text = comparing.read_text()
    if PAUSE not in text:
        print(f"the pause between samples is that of {comparing.name}: there is no '{PAUSE}' in it")
    comparing.write_text(text.replace(PAUSE, f"time.sleep({pause})"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.parent), str(folder)])
    sys.path.insert(0, str(folder))
    return importlib.import_module("compare")


def milliseconds(seconds: float) -> str:
    """A time with three digits."""
    return "-" if math.isnan(seconds) else f"{1e3 * seconds:.3g}"


def report(all_results: dict[str, Results], peers: Sequence[str]) -> tuple[str, list[Verdict]]:
    """The table of times, the ratios to each peer, and the verdicts."""
    forms = ["autograph", MASKED]
    heads = [*forms, *peers]
    lines = [
        "# Workloads\n",
        "Milliseconds; in brackets how many times as long as that peer the graph takes.\n",
    ]
    lines += ["| workload | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    found: list[Verdict] = []
    for workload, results in all_results.items():
        mine = estimate(results, "autograph")
        cells = [milliseconds(estimate(results, form)) for form in forms]
        for peer in peers:
            ratio = mine / estimate(results, peer)
            shown = "" if math.isnan(ratio) else f" ({ratio:.2f})"
            cells.append(milliseconds(estimate(results, peer)) + shown)
        lines.append(f"| {workload} | " + " | ".join(cells) + " |")
        found += verdicts(workload, results, peers)
    lines += ["\n```", *(str(verdict) for verdict in found), "```"]
    kept = sum(verdict.met is True for verdict in found)
    lines.append(f"\n{kept} of {len(found)} limits met.\n")
    return "\n".join(lines), found


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shared", type=Path, help="the folder of the workloads and the peers' programs")
    parser.add_argument("--only", default="", help="workloads or patterns, with commas between them")
    parser.add_argument("--peers", default=",".join(PEERS), help="the peers to run beside the graphs")
    parser.add_argument(
        "--peers-python",
        default=os.environ.get("PEERS_PYTHON", sys.executable),
        help="the interpreter that has them (default: $PEERS_PYTHON, or this one)",
    )
    parser.add_argument("--cores", type=int, default=2, choices=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=15.0, help="seconds of samples for a workload")
    parser.add_argument("--pause", type=float, default=0.15, help="seconds before each sample")
    parser.add_argument("--timeout", type=float, default=240.0, help="seconds for a peer to answer")
    parser.add_argument("--skip", default="", help="peer:workload patterns, with commas between them")
    parser.add_argument("--json", type=Path, help="where to write everything")
    parser.add_argument("--markdown", type=Path, help="where to write the tables")
    return parser.parse_args()


def main() -> int:
    """Measures, prints, writes; the status says whether the graphs were right."""
    options = arguments()
    if options.shared is None:
        print("skipped: no folder of workloads and peers was given (--shared FOLDER)")
        return 0
    peers = options.peers.split(",") if options.peers else []
    all_results: dict[str, Results] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "peers"
        compare = prepare(options.shared.resolve(), folder, options.peers_python, options.pause)
        data = importlib.import_module("data")
        patterns = options.only.split(",") if options.only else ["*"]
        workloads = [name for name in data.WORKLOADS if any(fnmatch(name, pattern) for pattern in patterns)]
        names = ["autograph", *peers]
        # with one core all are bound to the same: another may be slower for what else it runs
        zygotes = {name: compare.Zygote(name, options.cores) for name in [*names, MASKED]}
        for workload in workloads:
            skip = [*options.skip.split(","), *([] if workload == "mandelbrot" else [f"{MASKED}:*"])]
            results = compare.compare(
                workload, zygotes, options.rounds, options.cores, options.budget, options.timeout, skip
            )
            compare.table(workload, results, options.cores)
            all_results[workload] = results
            if options.json:
                options.json.write_text(json.dumps(all_results, indent=1) + "\n")
        for zygote in zygotes.values():
            zygote.kill()
    page, found = report(all_results, peers)
    print("\n" + page)
    if options.markdown:
        options.markdown.write_text(page)
    if options.json:
        everything = {"workloads": all_results, "limits": [asdict(v) | {"met": v.met} for v in found]}
        options.json.write_text(json.dumps(everything, indent=1) + "\n")
    return wrong(all_results)


def wrong(all_results: dict[str, Results]) -> bool:
    """Whether the graphs gave a wrong result or failed anywhere."""
    mine = [results.get(form, {}) for results in all_results.values() for form in ("autograph", MASKED)]
    return any(answer.get("status") == "error" or answer.get("ok") is False for answer in mine)


if __name__ == "__main__":
    sys.exit(main())
