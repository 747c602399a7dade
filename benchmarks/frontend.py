"""What the front end costs: the import, and for three functions their conversion and their trace.

    python benchmarks/frontend.py [REPEATS]

All figures are milliseconds of CPU time, the least of several repeats. The import is what `import autograph`
adds to `import numpy`, from byte-compiled files (`python -m compileall autograph`, where Python is told to
write none). "first" is the first conversion and trace in a process: it prepares what later ones share.
"""

from __future__ import annotations

import itertools
import linecache
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

LOOP = '''
def collatz(n):
    """How often the rule is applied until `n` is 1, and the largest number on the way."""
    steps, largest = 0, n
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        if n > largest:
            largest = n
        steps += 1
    return steps, largest
'''
STRAIGHT = (
    "import numpy as np\ndef straight(x, a, b):\n    y = x\n"
    + "    y = np.tanh(y * a + b)\n" * 250
    + "    return y\n"
)
RNN = '''
import numpy as np
def rnn(x, w, u, b, v):
    """The states and the last output of a recurrent cell."""
    h = np.zeros(u.shape[0])
    states = []
    for t in range(len(x)):
        z = x[t] @ w + h @ u + b
        h = np.tanh(z)
        if t > 0:
            h = 0.5 * (h + states[-1])
        states.append(h)
    return np.stack(states), h @ v
'''
_numbers = itertools.count()
PROGRAMS = {"collatz": LOOP, "straight": STRAIGHT, "rnn": RNN}


def function(name: str) -> Any:
    """The function of that name, made anew from a file of its own."""
    number = next(_numbers)
    text = f"{PROGRAMS[name]}# {number}\n"
    filename = f"<{name} {number}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def arguments(name: str) -> tuple[Any, ...]:
    """Arguments for the function of that name."""
    import numpy as np

    random = np.random.default_rng(0)
    if name == "collatz":
        return (27,)
    if name == "straight":
        return random.normal(size=8), 0.5, 0.25
    return tuple(random.normal(size=s) for s in [(5, 3), (3, 4), (4, 4), (4,), (4,)])


def spent(work: Callable[[], object]) -> float:
    """The CPU time that a call takes, in milliseconds."""
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def once(name: str) -> tuple[float, float]:
    """The time for the conversion and for the trace of a function made anew."""
    import autograph as ag

    f = ag.to_graph(function(name))
    values = arguments(name)
    from autograph.conversion import converted

    conversion = spent(lambda: converted(f.python_function))
    return conversion, spent(lambda: f.get_graph(*values))


def first(name: str) -> float:
    """The time for the first call of `get_graph` in this process."""
    import autograph as ag

    f = ag.to_graph(function(name))
    values = arguments(name)
    return spent(lambda: f.get_graph(*values))


def in_a_process(*argv: str) -> float:
    """What a fresh process prints for these arguments of this script."""
    run = subprocess.run([sys.executable, __file__, *argv], capture_output=True, text=True, check=True)
    return float(run.stdout)


def importing(modules: str, repeats: int) -> float:
    """The CPU time of a process that only imports."""
    program = f"import {modules}, time; print(1e3 * time.process_time())"
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def main(repeats: int) -> None:
    """Prints the table."""
    numpy = importing("numpy", repeats)
    print(f"{'import numpy':<16}{numpy:>10.1f}")
    print(f"{'import autograph':<16}{importing('numpy, autograph', repeats) - numpy:>+10.1f}")
    print(f"\n{'':<16}{'conversion':>10}{'trace':>10}{'together':>10}{'first':>10}")
    for name in PROGRAMS:
        conversion, trace = (min(times) for times in zip(*(once(name) for _ in range(repeats))))
        start = min(in_a_process("--first", name) for _ in range(max(3, repeats // 3)))
        print(f"{name:<16}{conversion:>10.1f}{trace:>10.1f}{conversion + trace:>10.1f}{start:>10.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--first"]:
        print(first(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
