"""Compares random programs in every mode with plain Python, and reports the failures shrunk.

    python -m tests.programs.compare --level a --count 10000 --seed 0 --jobs 2 --shrink

Each program is compiled once; in each mode a fresh module of it is called on its three inputs in turn, then
on the first one again. A program that takes too long is a hang; a worker process that dies is a crash.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import linecache
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from tests.programs.generator import LEVELS, Program, compiled, generate, load, make_args
from tests.programs.oracle import SHORT_RTOL, HangError, Outcome, difference, magnitude, outcome

__all__ = ["MODES", "Failure", "Report", "check", "main", "run", "staged_counts"]

MODES = ("graph", "native", "eager", "ops")
STAGED_OPS = ("cond", "while_loop")
ROUNDING = re.compile(
    r"(np|ndarray|linalg|special)\W?\w*\.?(sum|mean|prod|std|var|dot|inner|vdot|outer|trace|average|norm|cumsum|cumprod|"
    r"median|percentile|quantile|interp|exp\w*|log\w*|sinh?|cosh?|tanh?|arc\w+|a(sin|cos|tan)h?|a(sinh|cosh|tanh)|atan2|"
    r"power|float_power|cbrt|hypot|erf\w*|sqrt|convolve|correlate|tensordot|einsum|solve|inv|det|\w+norm|f?min|f?max|a(min|max)|nan(min|max)|sort)$"
    r"|^(matmul|imatmul|i?pow|sum)$"
)
"""The ops that native code may round otherwise than NumPy; a graph without any must agree bit by bit.

Which of two zeros `fmin` and `fmax` give, is the least, or comes first depends in NumPy on their places.
"""
RTOL = 1e-12


@dataclass(frozen=True)
class Failure:
    """One mode that did something else than plain Python on one input (an index; 3 is the repeated first)."""

    mode: str
    input: int
    kind: str
    detail: str
    got: str = ""

    @property
    def cause(self) -> tuple[str, str, str]:
        """What is equal for failures of probably one cause."""
        return self.mode, self.kind, self.got


@dataclass
class Report:
    """What the check of one program found."""

    program: Program
    failures: list[Failure] = field(default_factory=list)
    refusals: list[Failure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def check(
    program: Program, modes: tuple[str, ...] = MODES, timeout: float = 5.0, counting: bool = False
) -> Report:
    """Runs a program plainly and in the modes, and collects the differences."""
    report = Report(program)
    report.counts["programs"] += 1
    code = compiled(program)
    try:
        _check(program, code, modes, timeout, counting, report)
    finally:
        linecache.cache.pop(code.co_filename, None)
    return report


def _check(
    program: Program, code: CodeType, modes: tuple[str, ...], timeout: float, counting: bool, report: Report
) -> None:
    order = [*range(len(program.inputs)), 0]
    namespace = load(program, code)
    expected = list(_calls(program, namespace, "plain", namespace["f"], (), order, timeout, report))
    if len(expected) < len(order):
        return
    for mode in modes:
        namespace = load(program, code)
        call, refusals = _callable(namespace["f"], mode)
        calls = _calls(program, namespace, mode, call, refusals, order, timeout, report)
        found = len(report.failures) + len(report.refusals)
        for position, (plain, got) in enumerate(zip(expected, calls)):

            def rounds(position: int = position, fn: Any = namespace["f"]) -> float:
                return _rounds(fn, make_args(program.inputs[order[position]], namespace)())

            if _compare(mode, position, plain, got, report, rounds):
                break  # the state of the globals may differ from here on
        if counting and mode == "graph" and len(report.failures) + len(report.refusals) == found:
            _count(call, make_args(program.inputs[0], namespace), report, timeout)
        if counting and mode == "native":
            _count_native(call, make_args(program.inputs[0], namespace), report)


def _rounds(fn: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """How far results may be apart: 0 if no op of the function's graph may be rounded otherwise than NumPy's.

    What is rounded to fewer digits than double precision has may become part of a double.
    """
    import autograph as ag

    try:
        operations = [o for o in ag.to_graph(fn).get_graph(*args).operations() if ROUNDING.search(o.name)]
    except Exception:
        return 0.0
    short = any(re.search("float16|float32|complex64", repr(t)) for o in operations for t in o.outputs)
    return SHORT_RTOL if short else RTOL if operations else 0.0


def _compare(
    mode: str, position: int, plain: Outcome, got: Outcome, report: Report, rounds: Callable[[], float]
) -> bool:
    """Notes what a mode did otherwise than plain Python in one call; False if it did the same."""
    if got.refused is not None and "internal error" in got.refused:
        report.failures.append(Failure(mode, position, "internal", got.refused, _template(got.refused)))
        return True
    if got.refused is not None:
        text = re.sub(r"\d+", "#", got.refused.strip().splitlines()[0])[:160]
        report.refusals.append(Failure(mode, position, "refused", got.refused, text))
        report.counts[f"{mode} refused"] += 1
        return True
    found = difference(plain, got)
    if found is not None and mode == "native" and (rtol := rounds()):
        report.counts["rounded"] += 1
        found = difference(plain, got, rtol=rtol, size=magnitude(plain, got))
    if found is None:
        return False
    plainly = type(plain.error).__name__ if plain.error is not None else "value"
    text = f"{plainly} / {_template(got.error)}" if found.kind == "exception" else ""
    report.failures.append(Failure(mode, position, found.kind, str(found), text))
    return True


def _calls(
    program: Program,
    namespace: dict[str, Any],
    mode: str,
    call: Callable[..., Any],
    refusals: tuple[type[BaseException], ...],
    order: list[int],
    timeout: float,
    report: Report,
) -> Iterator[Outcome]:
    """The outcomes of the calls in one mode, in one namespace; ends early at a hang."""
    for position in order:
        args = make_args(program.inputs[position], namespace)
        try:
            with _alarm(timeout):
                result = outcome(
                    call, args, watch=lambda: [namespace[name] for name in program.watched], refusals=refusals
                )
        except HangError:
            report.failures.append(Failure(mode, position, "hang", f"no end within {timeout} s"))
            return
        yield result


def _callable(
    fn: Callable[..., Any], mode: str
) -> tuple[Callable[..., Any], tuple[type[BaseException], ...]]:
    """The function to call in a mode, and the library's own exceptions."""
    import autograph as ag
    from autograph.errors import ConversionError, StagingError

    refusals = (StagingError, ConversionError)
    converted = ag.to_graph(fn)
    if mode in ("graph", "native"):
        return _with_backend(converted, "native" if mode == "native" else "interpreter"), refusals

    def call(*args: Any) -> Any:
        with ag.eager(ops=True) if mode == "ops" else ag.eager():
            return converted(*args)

    return call, refusals


def _with_backend(converted: Callable[..., Any], backend: str) -> Callable[..., Any]:
    @functools.wraps(converted)
    def call(*args: Any) -> Any:
        before = os.environ.get("AUTOGRAPH_BACKEND")
        os.environ["AUTOGRAPH_BACKEND"] = backend
        try:
            return converted(*args)
        finally:
            if before is None:
                del os.environ["AUTOGRAPH_BACKEND"]
            else:
                os.environ["AUTOGRAPH_BACKEND"] = before

    for name in ("get_graph", "explain"):
        setattr(call, name, getattr(converted, name))
    return call


def staged_counts(converted: Any, args: tuple[Any, ...]) -> Counter[str] | None:
    """How often each op stands in the graph for the arguments; None where the library cannot tell."""
    try:
        return Counter(converted.get_graph(*args).op_types())
    except Exception:
        return None


def explained(converted: Any, args: tuple[Any, ...]) -> tuple[int, int] | None:
    """The numbers of loops and branches that were staged and that were not though their test was traced."""
    try:
        text = str(converted.explain(*args))
    except Exception:
        return None
    lines = [line for line in text.splitlines() if re.search(r"(loop|branch|expression): ", line)]
    staged = sum(": staged" in line for line in lines)
    known = ("only known values", "short tuple", "short list", "peeled", "split in two")  # no refusals
    return staged, sum(": staged" not in line and not any(why in line for why in known) for line in lines)


def _count(converted: Any, args: Callable[[], tuple[Any, ...]], report: Report, timeout: float) -> None:
    with contextlib.suppress(HangError), _alarm(timeout), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ops = staged_counts(converted, args())
        if ops is not None:
            for name, number in ops.items():
                if name in STAGED_OPS or "host" in name:
                    report.counts[f"op {name}"] += number
        explanation = explained(converted, args())
        if explanation is not None:
            report.counts["staged"] += explanation[0]
            report.counts["not staged"] += explanation[1]


def _count_native(converted: Any, args: Callable[[], tuple[Any, ...]], report: Report) -> None:
    """Counts the graphs that became machine code and those that the compiler declined, by its reason."""
    from autograph.compiler import backend

    with contextlib.suppress(Exception):
        graph = converted.get_graph(*args())
        for native in (graph.native or {}).values():
            report.counts["native compiled" if native is not None else "native declined"] += 1
        if graph.native_reason.startswith(backend.INVALID):
            report.failures.append(Failure("native", 0, "internal", graph.native_reason, backend.INVALID))
        if graph.native_reason:
            report.counts[f"native declined: {re.sub(r'[0-9.]+', '#', graph.native_reason)[:60]}"] += 1


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise HangError

    previous = signal.signal(signal.SIGPROF, ring)
    # Processor time: a busy machine is no hang. Again each second: a bare except may swallow one.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _template(error: Any) -> str:
    """The first line of a message without names and numbers."""
    text = str(error) if isinstance(error, str) else f"{type(error).__name__}: {error}"
    text = text.strip().split("\n")[0]
    text = re.sub(r"'[^']*'", "'_'", text)
    return re.sub(r"\d+(\.\d+)?(e[+-]?\d+)?", "#", text)[:200]


# -- processes ----------------------------------------------------------------------------------------


def _work(connection: Any, level: str, modes: tuple[str, ...], timeout: float) -> None:
    """Checks the seeds that arrive until None does."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # a fifth of the time goes into looking for garbage otherwise
    while (seed := connection.recv()) is not None:
        connection.send((seed, check(generate(level, seed), modes, timeout, counting=True)))


@dataclass
class _Worker:
    process: Any
    connection: Any
    seed: int | None = None
    since: float = 0.0


def run(level: str, seeds: range, modes: tuple[str, ...], timeout: float, jobs: int) -> Iterator[Report]:
    """The reports for all seeds, from worker processes that are replaced when they die or stall."""
    context = multiprocessing.get_context("fork")
    waiting = iter(seeds)

    def start() -> _Worker:
        here, there = context.Pipe()
        process = context.Process(target=_work, args=(there, level, modes, timeout), daemon=True)
        process.start()
        there.close()
        return _Worker(process, here)

    def feed(worker: _Worker) -> bool:
        worker.seed, worker.since = next(waiting, None), time.monotonic()
        worker.connection.send(worker.seed)
        return worker.seed is not None

    workers = [worker for worker in (start() for _ in range(jobs)) if feed(worker)]
    while workers:
        ready = multiprocessing.connection.wait([worker.connection for worker in workers], timeout=1.0)
        for worker in list(workers):
            lost = None
            if worker.connection in ready:
                try:
                    yield worker.connection.recv()[1]
                except EOFError:
                    worker.process.join()
                    lost = f"worker ended with {worker.process.exitcode}"
            elif time.monotonic() - worker.since > timeout * 16:
                worker.process.kill()
                lost = "worker killed: it did not react to its timer"
            else:
                continue
            if lost is not None and worker.seed is not None:
                program = generate(level, worker.seed)
                yield Report(
                    program, [Failure("+".join(modes), 0, "crash", lost)], counts=Counter(programs=1)
                )
                workers.remove(worker)
                worker = start()
                workers.append(worker)
            if not feed(worker):
                workers.remove(worker)


def main(argv: list[str] | None = None) -> int:
    """The command; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--level", choices=LEVELS, default="a")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds of processor time for one call")
    parser.add_argument("--shrink", action="store_true", help="shrink one program per cause")
    parser.add_argument("--show", type=int, default=10, help="number of failing programs to print")
    options = parser.parse_args(argv)
    modes = tuple(options.modes.split(","))
    started = time.monotonic()
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    failing: dict[tuple[str, str, str], Report] = {}
    causes: Counter[tuple[str, str, str]] = Counter()
    refused_example: dict[str, Report] = {}
    bad: set[str] = set()
    refused: set[str] = set()
    for report in run(
        options.level, range(options.seed, options.seed + options.count), modes, options.timeout, options.jobs
    ):
        counts += report.counts
        for refusal in report.refusals[:1]:
            refusals[refusal.got] += 1
            refused.add(report.program.name)
            example = refused_example.get(refusal.got)
            if example is None or len(report.program.source) < len(example.program.source):
                refused_example[refusal.got] = Report(report.program, [refusal])
        for failure in report.failures:
            counts["hangs"] += failure.kind == "hang"
            counts["crashes"] += failure.kind == "crash"
            bad.add(report.program.name)
            causes[failure.cause] += 1
            print(f"{report.program.name}: {failure.mode}, {failure.kind}", file=sys.stderr, flush=True)
            known = failing.get(failure.cause)
            if known is None or len(report.program.source) < len(known.program.source):
                failing[failure.cause] = Report(report.program, [failure])
    for cause, number in causes.most_common(options.show):
        _show(failing[cause], number, options.shrink, options.timeout)
    for text, number in refusals.most_common():
        if options.shrink:
            _show(refused_example[text], number, True, options.timeout)
        else:
            print(f"refused {number} times (e.g. {refused_example[text].program.name}): {text}")
    _summary(options.level, counts, len(bad), len(causes), len(refused), time.monotonic() - started)
    return 1 if bad else 0


def _show(report: Report, number: int, shrinking: bool, timeout: float) -> None:
    from tests.programs.shrink import shrink

    failure, program = report.failures[0], report.program
    if shrinking and failure.kind != "crash":
        program, failure = shrink(program, failure, min(timeout, 2.0))
    print(
        f"=== {failure.mode}: {failure.kind} ({number} programs), "
        f"call {failure.input}: {failure.detail}\n{program}\n"
    )


def _summary(level: str, counts: Counter[str], bad: int, causes: int, refused: int, seconds: float) -> None:
    share = 100 * refused / max(1, counts["programs"])
    parts = [
        f"level {level}: {counts['programs']} programs x 3 inputs",
        f"{bad} mismatching ({causes} kinds)",
        f"{refused} refused ({share:.1f} %)",
        f"{counts['hangs']} hangs",
        f"{counts['crashes']} crashes",
        ", ".join(
            f"{key} {counts[key]}"
            for key in sorted(counts)
            if key.startswith(("op ", "staged", "not staged", "native ", "rounded"))
        ),
        f"{seconds:.0f} s",
    ]
    print("; ".join(part for part in parts if part))


if __name__ == "__main__":
    sys.exit(main())
