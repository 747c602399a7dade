"""Cases that show the situations of public reports; each comment says what is right, or what went wrong."""

import numpy as np

from tests.conformance.case import Suite

suite = Suite()
add = suite.add
A = np.array
I, F = np.int64, np.float64


def last_index_survives(n, step):
    total = 0
    for k in range(0, n, step):
        total += k * k
    return total, k


# Loop index must still be bound after the loop, with its last value
add(last_index_survives, [(I(7), I(2)), (I(3), I(5))], "", "while", report="tensorflow/tensorflow#26293")


def collect_squares(n):
    kept = []
    for k in range(n):
        kept.append(k * k + 1)
    return np.sum(np.array(kept))


# A list filled in a loop of data-dependent length, then used as an array
add(collect_squares, [(I(5),), (I(1),), (I(0),)], "", "while", report="tensorflow/tensorflow#29504")


def skip_path(x, keep):
    if keep:
        saved = x * 2.0
    y = np.tanh(x)
    if keep:
        y = y + saved
    return y


# Name bound under a flag and read under the same flag later
add(
    skip_path,
    [(A([0.1, -2.0]), np.bool_(True)), (A([0.1, -2.0]), np.bool_(False))],
    "",
    "cond",
    report="pytorch/pytorch#57717",
)


def cube_or_zero(v):
    if v > 0:
        out = v * v * v
    else:
        out = 0.0
    return out


# An int in one branch, a float in the other: the result keeps the type of the branch taken
add(cube_or_zero, [(I(3),), (I(-4),)], "", "cond", report="tensorflow/tensorflow#23053")


def in_band(v, lo, hi):
    hits = 0
    for e in v:
        if lo < e <= hi:
            hits += 1
    return hits


# Chained comparison as a staged condition
add(
    in_band,
    [(A([0.0, 1.0, 2.0, 2.5]), F(0.0), F(2.0)), (A([5.0, -1.0]), F(0.0), F(2.0))],
    "",
    "while cond",
    report="tensorflow/tensorflow#55278",
)


def toggle_count(signal):
    opened = False
    flips = 0
    for s in signal:
        if s > 0.5:
            if opened is False:
                opened = True
                flips += 1
            else:
                opened = False
    return flips


# `is False` on a flag that became staged: silently always false elsewhere
add(
    toggle_count,
    [(A([1.0, 0.0, 1.0, 1.0]),), (A([0.2, 0.1]),)],
    "",
    "while cond",
    report="tensorflow/tensorflow#43111",
)


def ordered_prints(v):
    print("start", v)
    v = v + 1
    print("after add", v)
    if v % 2 == 0:
        v = v * 10
        print("even branch", v)
    print("end", v)
    return v


# Prints before, inside and after a branch come out in program order
add(ordered_prints, [(I(3),), (I(4),)], "", "cond print", report="tensorflow/tensorflow#33453")


def skip_some(xs, cap):
    best = -1.0
    for x in xs:
        y = x
        if y < 0:
            if y < -cap:
                y = -cap
            continue
        if y > best:
            best = y
    return best


# `continue` after a nested branch that rebinds a name: miscompiled once
add(
    skip_some,
    [(A([-9.0, 2.0, -1.0, 5.0]), F(3.0)), (A([-1.0]), F(3.0))],
    "",
    "while cond",
    report="numba/numba#1522",
)


def grow(x, n):
    acc = x[:1]
    k = 0
    while k < n:
        acc = np.concatenate([acc, acc[-1:] * 2.0])
        k += 1
    return acc


# A loop-carried array grows each turn
add(grow, [(A([1.5, 9.0]), I(3)), (A([1.5, 9.0]), I(0))], "", "while", report="tensorflow/tensorflow#21224")


def halvings(x, limit):
    for k in range(limit):
        if x < 1.0:
            return k
        x = x / 2.0
    return -1


# Return from inside a loop on a data-dependent test
add(halvings, [(F(9.0), I(10)), (F(0.5), I(10)), (F(9.0), I(2))], "", "while cond", report="jax-ml/jax#24740")


def doubled_many(x, n):
    y = x
    k = 0
    while k < n:
        y = y + y
        k += 1
    return y * y


# A carried value used twice in the body
add(doubled_many, [(F(1.5), I(4)), (F(-2.0), I(0))], "", "while", report="tensorflow/tensorflow#22504")


def guarded_root(x):
    if x > 0.0:
        y = np.sqrt(x)
    else:
        y = x * 0.5
    return y


# Only the branch taken runs: no NaN from the other
add(guarded_root, [(F(9.0),), (F(-3.0),)], "", "cond", report="jax-ml/jax#347")


def checked_mean(x, n):
    assert n > 0, "n must be positive"
    s = 0.0
    for k in range(n):
        s += x[k]
    return s / n


# An assert on a staged value is checked at run time, with its message; the next good call still works
add(
    checked_mean,
    [(A([1.0, 2.0, 6.0]), I(3)), (A([1.0, 2.0, 6.0]), I(0)), (A([1.0, 2.0, 6.0]), I(2))],
    "",
    "while",
    report="tensorflow/tensorflow#34715",
)


def pick_along(x, idx):
    s = 0.0
    for i in idx:
        s += x[i]
    return s


# Index from data: negative wraps like NumPy, out of range is IndexError, never a clamped or garbage value
add(
    pick_along,
    [(A([1.0, 2.0, 4.0]), A([0, 2, -1])), (A([1.0, 2.0, 4.0]), A([0, 3]))],
    "",
    "while",
    report="jax-ml/jax#278",
)


def weighted(xs):
    s = 0.0
    for pos, v in enumerate(xs, 1):
        s = s + pos * v
    return s


# Enumerate with a start value over staged data (hung elsewhere)
add(weighted, [(A([2.0, 3.0, 5.0]),), (A([7.0]),)], "", "while", report="tensorflow/tensorflow#30802")


def steps_to_one(n):
    if n == 1:
        return 0
    if n % 2 == 0:
        return 1 + steps_to_one(n // 2)
    return 1 + steps_to_one(3 * n + 1)


# Recursion on a staged test: deadlock elsewhere
add(steps_to_one, [(I(6),), (I(1),), (I(27),)], "", "cond", report="tensorflow/tensorflow#35540")


def reuse_name(n):
    for i in range(n):
        i = i * 0.5
    return i


# The loop variable is rebound to a float in the body; the next turn starts from the counter again
add(reuse_name, [(I(4),), (I(1),)], "", "while", report="numba/numba#1394")


scale = 100.0


def _make_scaled():
    scale = 3.0

    def scaled_sum(xs):
        s = 0.0
        for v in xs:
            s += scale * v
        return s

    return scaled_sum


# Closure variable wins over a module global of the same name
add(_make_scaled(), [(A([1.0, 2.0]),), (A([-1.0, 4.0, 0.5]),)], "", "while", report="apache/tvm#13640")


class _Acc:
    def __init__(self):
        self.total = 0.0


def through_object(xs):
    acc = _Acc()
    for v in xs:
        if v > 0:
            acc.total += v
    return acc.total


# Attribute of a local object updated under a staged branch in a staged loop
add(
    through_object,
    [(A([1.0, -2.0, 4.0]),), (A([-1.0]),)],
    "",
    "while cond",
    report="tensorflow/tensorflow#31363",
)


def capped_series(x, n, cap):
    s = 1.0
    term = 1.0
    for _ in range(n):
        term = term * x
        s = s + term
        if s > cap:
            break
    return s


# Break out of a loop over a running sum
add(
    capped_series,
    [(F(0.7), I(6), F(2.5)), (F(0.7), I(3), F(99.0))],
    "",
    "while cond",
    report="taichi-dev/taichi#2387",
)


def floor_mod(a, b, n):
    out = 0
    while n > 0:
        out += (a // b) * 10 + (a % b)
        a = a - 5
        n -= 1
    return out


# Floor division and modulo of negatives follow Python, not C
add(floor_mod, [(I(8), I(-3), I(4)), (I(-8), I(3), I(2))], "", "while", report="csarofeen/pytorch#2245")


def countdown(n):
    s = 0
    while n:
        s += n
        n -= 1
    return s


# A number, not a bool, as the loop condition: zero ends it
add(countdown, [(I(5),), (I(0),)], "", "while", report="PennyLaneAI/pennylane#9184")


def nested_search(x, go):
    if go:
        while x > 1.0:
            x = x / 3.0
    return x


# While inside if
add(
    nested_search,
    [(F(40.0), np.bool_(True)), (F(40.0), np.bool_(False))],
    "",
    "cond while",
    report="microsoft/onnxscript#879",
)


def running_max(x, n):
    out = np.zeros_like(x)
    for k in range(n):
        if k == 0:
            out[k] = x[k]
        else:
            out[k] = np.maximum(out[k - 1], x[k])
    return out


# Element assignment into a local array inside a loop
add(
    running_max,
    [(A([-1.0, 3.0, 2.0, 5.0]), I(4)), (A([4.0, 3.0]), I(1))],
    "",
    "while cond",
    report="tensorflow/tensorflow#46840",
)


def first_truthy(a, b):
    v = a or b
    w = a and b
    return v + 10.0 * w


# `or`/`and` give back an operand, as in Python, not a bool
add(
    first_truthy,
    [(F(2.0), F(5.0)), (F(0.0), F(5.0)), (F(0.0), F(0.0))],
    "",
    "cond",
    report="NVIDIA/DALI#4629",
)


def loud_poly(x, n):
    y = x
    for k in range(n):
        y = y * x + k
        print("k", k, "y", y)
    return y


# Print inside a loop: once per turn
add(loud_poly, [(F(2.0), I(3)), (F(-1.5), I(0))], "", "while print", report="google/tangent#86")


def tick(n):
    for k in range(n):
        print(k, end=",")
    print("|", n, "|", sep="")
    return n


# Print with end= and sep=, byte for byte
add(tick, [(I(3),), (I(1),)], "", "while print", report="numba/numba#3250")


def runs(xs, n):
    groups = 0
    k = 0
    while k < n:
        j = k
        while j < n:
            if xs[j] < 0:
                break
            j += 1
        if j > k:
            groups += 1
        k = j + 1
    return groups


# Break out of the inner of two loops, outer index moved on from it
add(
    runs,
    [(A([1.0, 2.0, -1.0, -1.0, 3.0]), I(5)), (A([-1.0]), I(1))],
    "",
    "while cond",
    report="tensorflow/tensorflow#32108",
)


def clear_low(b, n):
    k = 0
    while k < n:
        b = b & ~(np.uint64(1) << np.uint64(k))
        k += 1
    return b


# 64-bit unsigned arithmetic in a loop stays exact unsigned (became float64 elsewhere)
add(clear_low, [(np.uint64(255), I(3)), (np.uint64(2**63 + 7), I(2))], "", "while", report="numba/numba#7888")


_PAIR = (lambda x: x + 1 if x > 0 else x - 1), (lambda x: x * 2 if x > 5 else x * 3)

# Second of two lambdas on one source line: find the right one
add(_PAIR[1], [(I(7),), (I(2),)], "", "cond", report="tensorflow/tensorflow#38691", name="second_lambda")


def bump_in_branch(x, flag):
    buf = x * 1.0
    if flag:
        buf[0] = buf[0] + 10.0
        buf *= 2.0
    return buf


# In-place update of a local array in one branch only
add(
    bump_in_branch,
    [(A([1.0, 2.0]), np.bool_(True)), (A([1.0, 2.0]), np.bool_(False))],
    "",
    "cond",
    report="pytorch/pytorch#123972",
)


def uneven_loops(x):
    k = 0
    while x > 1.0:
        x = x / 2.0
        k += 1
    if x < 0.0:
        k = -1
    return x, k


# Loop counts differ from input to input
add(uneven_loops, [(F(0.3),), (F(40.0),), (F(-5.0),)], "", "while cond", report="jax-ml/jax#8409")
