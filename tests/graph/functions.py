# mypy: allow-untyped-defs, allow-untyped-calls
"""Functions and their printed graphs; the text is the whole expectation, lines count from each `def`."""

from collections.abc import Callable
from typing import Any

import numpy as np


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def straight(x, y):
    z = x * 2 + y
    return z, -z


def branch(n):
    if n > 0:
        kind = "positive"
    else:
        kind = None
    return kind


def conditional(a, b):
    return a if a and b else 1.5


def loop(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def caught(x):
    try:
        y = 10 // x
    except ZeroDivisionError as error:
        print("caught", error)
        y = None
    else:
        print("fine")
    finally:
        print("done")
    return y


def raised(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def lists(n):
    out = [0.5]
    for i in range(n):
        out.append(i)
    pair = {"first": out[0], "n": n}
    pair["n"] += 1
    return out, pair


def objects(x):
    p = Point(x, 2)
    p.x += p.y
    return p.x


def arrays(x, i):
    x[i] += 1.0
    return np.sum(x[1:]), x.shape


def closure(n):
    count = 0

    def add(k):
        nonlocal count
        count += k

    add(n)
    add(2)
    return count


def never(n):
    while True:
        print(n)


def peeled(x, n):
    total, last = 0, None
    for i in range(n):
        last = total
        total += x[i]
    return total, last


def split(x, limit):
    total = 0
    for v in x:
        if v > limit:
            total += v
    return total


ARGUMENTS: dict[Callable[..., Any], tuple[Any, ...]] = {
    straight: (np.ones(3), 2),
    branch: (3,),
    conditional: (3, 2.0),
    loop: (4,),
    collatz: (6,),
    caught: (2,),
    raised: (2,),
    factorial: (4,),
    lists: (3,),
    objects: (3,),
    arrays: (np.ones(4), 2),
    closure: (3,),
    never: (3,),
    peeled: (np.ones(4), 4),
    split: (np.ones(4), 0.5),
}


if __name__ == "__main__":  # writes the expected graphs anew, to be read before they are committed
    from pathlib import Path

    import autograph as ag

    for function, arguments in ARGUMENTS.items():
        path = Path(__file__).parent / "golden" / f"{function.__name__}.txt"
        path.write_text(f"{ag.to_graph(function).get_graph(*arguments)}\n")
