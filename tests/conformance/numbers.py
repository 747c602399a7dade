"""Cases about arithmetic and promotion, and small whole algorithms."""

import math

import numpy as np

from tests.conformance.case import Suite

suite = Suite()
add = suite.add
A = np.array


def floor_mod_negative(a, b):
    return a // b, a % b, a - b * (a // b), divmod(a, b), abs(a)


add(floor_mod_negative, [(7, 3), (-7, 3), (7, -3), (-7, -3)], "int_arith builtin")


def true_division(a, b):
    q = a / b
    if q > 1:
        q = q - 1
    return q


add(true_division, [(7, 2), (1, 4), (8, 4)], "promo int_arith if", "branch")


def power_ints(a, n):
    return a**n, a**2, 2**n


add(power_ints, [(3, 4), (-2, 3), (5, 0)], "int_arith promo")


def int_array_promotes(x):
    return x / 2, x * 2, x + 0.5, x // 2, x > 1


add(int_array_promotes, [(A([1, 2, 3]),), (A([[0, -1]]),)], "promo")


def float32_stays(x):
    y = x * 2 + 0.1
    for i in range(3):
        y = y * 0.5
    return y, np.sin(y), np.sum(y)


add(float32_stays, [(A([1.0, 2.0], dtype=np.float32),), (A([[4.0]], dtype=np.float32),)], "float32 promo")


def int32_wraps(x, n):
    for _ in range(n):
        x = x * x
    return x


add(
    int32_wraps,
    [
        (A([70000, 3], dtype=np.int32), 1),
        (A([70000, 3], dtype=np.int32), 0),
        (A([300, -7], dtype=np.int32), 3),
    ],
    "overflow for_range zero_trip",
)


def nan_compares(x):
    y = x * 0.0
    if y == y:
        r = 1
    else:
        r = 2
    if not (y < 1.0) and not (y >= 1.0):
        r += 10
    return r, np.isnan(y)


add(nan_compares, [(1.0,), (float("inf"),)], "nan if boolop", "branch")


def bool_counts(x):
    n = 0
    for v in x:
        n += v > 2
    return n, 3 * (n > 1), np.sum(x > 0), True + n


add(bool_counts, [(A([1, 3, 5]),), (A([0, 3, -5]),)], "bool_arith for_array")


def casts(x):
    return int(x), float(int(x)), bool(x), round(x), int(x) / 2


add(casts, [(2.7,), (-2.7,), (0.0,), (4.5,)], "builtin promo")


def min_max_sum(a, b, x):
    return min(a, b), max(a, b, 3), max(x), min(x), sum(x), abs(a - b)


add(min_max_sum, [(2, 9, A([4, 1, 8])), (-2, -9, A([0, 0, -1]))], "builtin")


def math_functions(x):
    if math.sqrt(x) > 2:
        return math.exp(-x) + math.floor(x)
    return math.sin(x) * math.pi + math.ceil(x)


add(math_functions, [(9.5,), (0.25,)], "math if return_multi", "branch")


def annotated(x: int, k: "float" = 0.5) -> float:
    """Says what it does: nothing much."""
    y: float = x * k
    z: int
    if y > 2:
        z: int = 1
    else:
        z = 0
    return y + z


add(annotated, [(10,), (2,), (3, 4.0)], "annotation if defaults", "branch")


def del_local(x):
    t = x * 2
    if x > 0:
        x = t + 1
    del t
    t = 5
    d = {"a": x, "b": t}
    del d["b"]
    return x, t, d


add(del_local, [(3,), (-3,)], "del if dict", "branch")


def none_and_tuple_results(x, how):
    if how == "nothing":
        return None
    if how == "pair":
        return x, -x
    return [x]


add(
    none_and_tuple_results,
    [(3, "nothing"), (3, "pair"), (3, "list")],
    "return_struct str_none_arg none_branch",
)


def struct_by_data(x):
    if x > 0:
        return x, x * 2
    return x


add(struct_by_data, [(3,), (-3,)], "return_struct return_multi")


def no_return_value(x):
    y = x * 2
    if y > 4:
        y = 0


add(no_return_value, [(3,), (1,)], "return_struct none_branch")


def gcd_lcm(a, b):
    x, y = a, b
    while y:
        x, y = y, x % y
    return x, a // x * b


add(gcd_lcm, [(48, 18), (7, 13), (5, 0)], "while algo unpack zero_trip", "while")


def newton_sqrt(x, tol):
    g = x if x > 1.0 else 1.0
    for k in range(50):
        nxt = 0.5 * (g + x / g)
        if abs(nxt - g) < tol:
            break
        g = nxt
    return g, k


add(newton_sqrt, [(2.0, 1e-09), (81.0, 0.001), (0.5, 1e-12)], "algo for_range break ifexp")


def bubble_sort(x):
    a = np.copy(x)
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


add(
    bubble_sort,
    [(A([3, 1, 2]),), (A([1, 2, 3]),), (A([9, 8, 7]),)],
    "algo nested_loop slice_write break unpack",
)


def binary_search(a, key):
    lo, hi = 0, len(a) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if a[mid] == key:
            return mid
        if a[mid] < key:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


add(
    binary_search,
    [(A([1, 3, 5, 7, 9]), 7), (A([1, 3, 5, 7, 9]), 1), (A([1, 3, 5, 7, 9]), 4)],
    "algo while return_loop",
    "while",
)


def prime_sieve(n):
    mark = np.ones(30, dtype=np.bool_)
    mark[:2] = False
    p = 2
    while p * p < n:
        if mark[p]:
            for q in range(p * p, n, p):
                mark[q] = False
        p += 1
    count = 0
    for i in range(n):
        if mark[i]:
            count += 1
    return count


add(prime_sieve, [(30,), (2,), (12,)], "algo while for_range slice_write nested_loop", "while")


def power_iteration(m, steps):
    v = np.ones(m.shape[0])
    lam = 0.0
    for _ in range(steps):
        w = np.dot(m, v)
        lam = np.sqrt(np.sum(w * w))
        v = w / lam
    return lam, v


add(
    power_iteration,
    [(A([[2.0, 0.0], [0.0, 1.0]]), 20), (A([[2.0, 1.0], [1.0, 3.0]]), 30), (A([[1.0]]), 0)],
    "algo for_range zero_trip",
    "while",
)


def euler_decay(y, h, t_end):
    t = 0.0
    n = 0
    while t < t_end - 1e-9:
        y = y + h * (-2.0 * y)
        t += h
        n += 1
    return y, n


add(
    euler_decay,
    [(1.0, 0.1, 1.0), (A([1.0, 4.0]), 0.25, 2.0), (1.0, 0.1, 0.0)],
    "algo while zero_trip",
    "while",
)
