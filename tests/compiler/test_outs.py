"""Operations that are given the array for their result: `out=`."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compiler.comparing import check


def chained(a, b, c):
    np.add(a, b, out=c)
    np.multiply(c, 2.0, c)
    r = np.sqrt(c, out=(c,))
    r += 1.0
    return r


def the_same(a, c):
    return np.add(a, 1.0, out=c) is c, np.sum(a, axis=0, out=c[0]) is c


def reduced(a, totals, largest, mean):
    np.sum(a, axis=0, out=totals)
    a.max(axis=1, out=largest)
    return np.mean(a, out=mean), totals, largest


def cumulated(a, c):
    np.cumsum(a, axis=1, out=c)
    return c


def multiplied(a, b, c):
    for _ in range(3):
        np.matmul(a, b, out=c)
        a += c * 0.25
    return np.dot(a, b, out=c)


def into_parts(a, c):
    np.negative(a, out=c[1:-1])
    for i in range(len(a)):
        np.maximum(c[: len(a)], a[i], out=c[: len(a)])
    return c


def overlapping(a):
    np.add(a[1:], a[:-1], out=a[1:])
    np.multiply(a[::-1], a, out=a)
    return a


def transposed(a):
    return np.subtract(a.T, 1.0, out=a)


def narrowed(a, c, flags):
    np.multiply(a, a, out=c)
    np.less(a, 2.0, out=flags)
    return c, flags


def broadcast(a, b, c):
    return np.hypot(a, b, out=c)


def of_waiting(a, b, c):
    x = a * b
    y = np.add(x, 1.0, out=c)
    return x + y, y


def in_branches(a, b, c):
    if a[0] > b[0]:
        r = np.add(a, b, out=c)
    else:
        r = np.subtract(a, b, out=a)
    r += 1.0
    return r


MATRIX = np.arange(12.0).reshape(3, 4) - 5.0


@pytest.mark.parametrize(
    "args",
    [
        (np.arange(5.0), np.ones(5), np.zeros(5)),
        (np.arange(5.0, dtype=np.float32), np.ones(5, np.float32), np.zeros(10)[::2]),
        (np.arange(3), np.ones((2, 3)), np.zeros((2, 3), np.float32)),
        (np.float64(2), 3.0, np.zeros(4)),
        (np.zeros(0), np.ones(0), np.zeros(0)),
    ],
)
def test_results_are_written_where_they_shall_be(args) -> None:
    check(chained, *args)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (reduced, (MATRIX, np.zeros(4), np.zeros(3), np.zeros(()))),
        (cumulated, (MATRIX, np.zeros((3, 4)))),
        (multiplied, (np.eye(3), MATRIX[:, :3].copy(), np.zeros((3, 3)))),
        (into_parts, (np.arange(4.0), np.zeros(6))),
        (overlapping, (np.arange(40.0),)),
        (transposed, (MATRIX[:, :3].copy(),)),
        (narrowed, (np.arange(4.0), np.zeros(4, np.float32), np.zeros(4))),
        (broadcast, (np.arange(3.0)[:, None], np.arange(4.0), np.zeros((2, 3, 4)))),
        (of_waiting, (np.arange(4.0), np.ones(4), np.zeros(4))),
        (in_branches, (np.arange(4.0), np.ones(4), np.zeros(4))),
        (in_branches, (np.ones(4), np.zeros(4), np.zeros(4))),
    ],
)
def test_no_operation_calls_back(fn, args) -> None:
    check(fn, *args)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (broadcast, (np.arange(3.0), np.arange(3.0), np.zeros(4))),
        (broadcast, (np.zeros((2, 3)), np.arange(3.0), np.zeros(3))),
        (broadcast, (np.arange(3.0), np.arange(3.0), np.zeros(3, np.int64))),
        (cumulated, (MATRIX, np.zeros((3, 4), np.float32))),
        (reduced, (MATRIX, np.zeros(4, np.int64), np.zeros(3), np.zeros(()))),
        (multiplied, (np.eye(3), np.eye(3), np.zeros((3, 3), np.float32))),
        (transposed, (MATRIX,)),
    ],
)
def test_an_array_that_cannot_hold_it_raises_as_in_numpy(fn, args) -> None:
    check(fn, *args, native=False)


def test_an_array_that_is_read_only_raises_as_in_numpy() -> None:
    def fn(a, flag):
        if flag:
            np.add(a, 1.0, out=a)
        return a.sum()

    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    for flag in (False, True):
        check(fn, fixed, flag, native=False)


def test_the_array_itself_is_given() -> None:
    check(the_same, MATRIX, np.zeros((3, 4)), native=False)


def of_a_number(x, c, n):
    return np.prod(x, out=c), x.mean(out=c), np.clip(x, 0, 1, out=c), np.round(x, 1, out=c), c.ndim == n


def dotted(a, c):
    return np.dot(a, a, out=c), c


def test_methods_of_numbers_give_numbers() -> None:
    """NumPy's numbers answer by methods of their own, which give the number that they wrote."""
    check(of_a_number, np.float64(1.25), np.zeros(()), 0, native=False)
    check(dotted, np.arange(3.0), np.zeros(()), native=False)
