"""Functions of every kind whose lines run while they are traced, and never again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SHIFT = 3


def loops(n: int) -> int:
    total = 0
    for i in range(n):
        for j in range(i):
            if j == 4:
                break
            if (i + j) % 3 == 0:
                continue
            total += i * j
        else:
            total -= 1
    while total > 50:
        total //= 2
    return total


def branches(x: float) -> Any:
    if x < 0.0:
        return -x
    elif 1.0 < x < 2.0 or x == 5.0:
        y = x * 2
    else:
        y = x if x > 7.0 else None
    return y


def returns_from_a_loop(n: int) -> int:
    for i in range(n):
        if i * i > n:
            return i
    return -1


def exceptions(n: int) -> str:
    done = "start"
    for i in range(n, -2, -1):
        try:
            if i == -1:
                raise ValueError(f"bad {i}")
            done = f"{12 // i}"
        except ZeroDivisionError:
            done += " zero"
        except ValueError as error:
            return f"{done} {error}"
        else:
            done += "!"
        finally:
            done += "."
    return done


def raises(n: int) -> int:
    if n > 2:
        raise KeyError(n)
    return n


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def is_even(n: int) -> bool:
    return True if n == 0 else is_odd(n - 1)


def is_odd(n: int) -> bool:
    return False if n == 0 else is_even(n - 1)


def counted(n: int) -> Iterator[int]:
    for i in range(n):
        if i % 3 == 1:
            yield i
    yield from range(n, n + 2)


def generators(n: int) -> int:
    total = sum(i * i for i in range(n) if i % 2)
    for value in counted(n):
        total += value
    return total


class Account:
    """A class with fields, a property, operators and inheritance."""

    def __init__(self, balance: float) -> None:
        self.balance = balance
        self.history: list[float] = []

    def deposit(self, amount: float) -> Account:
        self.balance += amount
        self.history.append(amount)
        return self

    @property
    def rich(self) -> bool:
        return self.balance > 10

    def __add__(self, other: Account) -> Account:
        return Account(self.balance + other.balance)


class Saver(Account):
    """An account with interest."""

    def deposit(self, amount: float) -> Account:
        return super().deposit(amount * 1.5)


def objects(x: float, n: int) -> tuple[float, bool, list[float]]:
    account = Saver(x)
    for i in range(n):
        account.deposit(x * i)
    both = account + Account(x)
    return both.balance, both.rich, account.history


def closures(x: int, n: int) -> int:
    count = 0

    def step(by: int) -> int:
        nonlocal count
        count += by
        return count

    functions: list[Callable[[int], int]] = [lambda v: v + x, lambda v: v * x]
    for i in range(n):
        step(functions[0](i) - functions[1](i))
    return count + SHIFT


def prints(n: int) -> None:
    for i in range(n):
        if i % 2:
            print("odd", i, end="; ")
        else:
            print(f"even {i:>3}")


def arrays(x: Any) -> Any:
    y = x * 2
    for row in y:
        row[row > 3] = 0
    y[:, 0] += x[:, 1]
    return np.where(y > 1, y, -y).sum(axis=0)


def containers(n: int) -> tuple[Any, ...]:
    items = [i * i for i in range(n)]
    table = {"a": 0, "b": n}
    seen = set()
    for i in items:
        table["a"] += i
        seen.add(i % 3)
    items.sort(reverse=True)
    return items[:2], table, sorted(seen), sorted(items, key=lambda i: i % 5)


@contextlib.contextmanager
def noted(log: list[Any], name: Any) -> Iterator[Any]:
    log.append(name)
    try:
        yield name
    finally:
        log.append(None)


def contexts(n: int) -> list[Any]:
    log: list[Any] = []
    for i in range(n):
        with noted(log, i) as value:
            if value == 2:
                break
    return log


def matches(n: int) -> int:
    total = 0
    for i in range(n):
        match (i % 3, i):
            case (0, _):
                total += 1
            case (1, j) if j > 2:
                total += j
            case _:
                total -= 1
    return total


def calls(x: float, n: int) -> float:
    def apply(function: Any, *values: Any, **options: Any) -> Any:
        return function(*values, **options)

    for _ in range(n):
        x = apply(scaled, x, by=0.5) + max(x, 1.0, key=abs)
    return x


def scaled(x: float, by: float = 2.0) -> float:
    return x * by if x < 100 else x


ROWS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (loops, (9,)),
    (branches, (1.5,)),
    (branches, (-2.0,)),
    (returns_from_a_loop, (30,)),
    (exceptions, (3,)),
    (raises, (5,)),
    (fibonacci, (9,)),
    (is_even, (7,)),
    (generators, (8,)),
    (objects, (2.5, 4)),
    (closures, (2, 5)),
    (prints, (4,)),
    (arrays, (np.arange(6.0).reshape(2, 3),)),
    (containers, (6,)),
    (contexts, (5,)),
    (matches, (8,)),
    (calls, (3.0, 4)),
]
