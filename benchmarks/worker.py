"""A process that runs kernels with one engine, and the handle by which another process asks it to.

    python -m benchmarks.worker numpy|autograph|numba|numba-parallel

Each line of JSON on the standard input is a request, and is answered by one on the standard output. The
process stays alive and idle between requests, so several engines can be measured in turn.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import pickle
import queue
import statistics
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.kernels import KERNELS, difference, result

__all__ = ["ENGINES", "ROOT", "Worker", "has"]

ROOT = Path(__file__).resolve().parent.parent
THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "AUTOGRAPH_THREADS"]
Answer = dict[str, Any]
Function = Callable[..., Any]


def plain(function: Function) -> Function:
    """The function as it is."""
    return function


def graph(function: Function) -> Function:
    """The function in graph mode."""
    import autograph as ag

    ag.set_mode("graph")
    return ag.to_graph(function)


def jitted(function: Function, parallel: bool) -> Function:
    """The function under Numba, and under it too the functions of its module that it calls."""
    import numba

    done: dict[types.FunctionType, Any] = {}

    def jit(function: types.FunctionType) -> Any:
        if function not in done:
            done[function] = numba.njit(parallel=parallel)(function)
            for name in function.__code__.co_names:
                called = function.__globals__.get(name)
                if isinstance(called, types.FunctionType) and called.__module__ == function.__module__:
                    function.__globals__[name] = jit(called)
        return done[function]

    assert isinstance(function, types.FunctionType)
    return jit(function)


ENGINES: dict[str, Callable[[Function], Function]] = {
    "numpy": plain,
    "autograph": graph,
    "numba": functools.partial(jitted, parallel=False),
    "numba-parallel": functools.partial(jitted, parallel=True),
}


class Session:
    """The kernel that is measured at the moment."""

    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.function: Function = plain
        self.arguments: tuple[Any, ...] = ()

    def start(self, kernel: str, tiny: bool, size: list[int] | None, reference: str) -> Answer:
        """Runs the kernel for the first time; NumPy writes the reference, the others compare with it."""
        chosen = KERNELS[kernel]
        self.arguments = chosen.make(*size) if size else chosen.inputs(tiny)
        arguments = copy.deepcopy(self.arguments)
        begin = time.perf_counter()
        try:
            self.function = ENGINES[self.engine](chosen.function)
            got = result(self.function, arguments)
        except Exception as error:
            text = " ".join(line.strip() for line in str(error).splitlines() if line.strip())
            return {"status": "refused", "reason": f"{type(error).__name__}: {text}"[:400]}
        answer: Answer = {"status": "ready", "first": time.perf_counter() - begin, "difference": None}
        if self.engine == "numpy":
            Path(reference).write_bytes(pickle.dumps(got))
        else:
            expected = pickle.loads(Path(reference).read_bytes())
            types_too = self.engine == "autograph"
            answer["difference"] = difference(expected, got, loose=1.0 if tiny else 100.0, types=types_too)
        return answer

    def sample(self, seconds: float, processor: bool = False) -> Answer:
        """The median time of the calls that fit into some seconds; the copies of the inputs do not count."""
        clock = time.process_time if processor else time.perf_counter
        times: list[float] = []
        end = time.perf_counter() + seconds
        while not times or (time.perf_counter() < end and len(times) < 1000):
            arguments = copy.deepcopy(self.arguments)
            begin = clock()
            self.function(*arguments)
            times.append(clock() - begin)
        return {"status": "sample", "time": statistics.median(times)}


def serve(engine: str) -> None:
    """Answers requests until the standard input ends; what a kernel prints goes to the standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    session = Session(engine)
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(session, request.pop("do"))(**request)
        print(json.dumps(answer), file=out, flush=True)


class Worker:
    """The handle of such a process, which is started when first asked, and again after it was ended."""

    def __init__(self, engine: str, python: str, threads: int | None = None) -> None:
        self.command = [python, "-m", "benchmarks.worker", engine]
        self.environment = dict(
            os.environ, PYTHONPATH=str(ROOT), PYTHONWARNINGS="ignore", PYTHONIOENCODING="utf-8"
        )
        if threads is not None:
            self.environment |= dict.fromkeys(THREADS, str(threads))
        self.process: subprocess.Popen[str] | None = None
        self.lines: queue.Queue[str] = queue.Queue()

    def ask(self, timeout: float, **request: Any) -> Answer:
        """The answer to a request; a process that does not give it in time is ended."""
        if self.process is None:
            self.begin()
        assert self.process is not None and self.process.stdin is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.lines.get(timeout=timeout)
        except (queue.Empty, BrokenPipeError):
            line = "late"
        if line in ("", "late"):
            status = "timeout" if line else "died"
            self.end()
            return {"status": status, "reason": "no answer in time" if line else "the process died"}
        answer: Answer = json.loads(line)
        return answer

    def begin(self) -> None:
        """Starts the process and a thread that reads its answers; an empty line says that it has ended."""
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=self.environment,
            encoding="utf-8",
        )
        self.lines = queue.Queue()
        threading.Thread(target=read, args=(self.process, self.lines), daemon=True).start()

    def end(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def read(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    """Passes on the lines that a process writes, then an empty one."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")


def has(python: str, module: str) -> bool:
    """Whether an interpreter finds a module."""
    program = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    try:
        return subprocess.run([python, "-c", program], capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    serve(sys.argv[1])
