"""Cases about loops: while, for over everything, leaving early, shapes that change from turn to turn."""

import numpy as np

from tests.conformance.case import Suite

suite = Suite()
add = suite.add
A = np.array


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


add(collatz, [(6,), (1,), (27,)], "while if zero_trip", "while")


def while_with_array(x, tol):
    k = 0
    while np.sum(x * x) > tol:
        x = x * 0.5
        k += 1
    return x, k


add(while_with_array, [(A([3.0, 4.0]), 1.0), (A([0.1, 0.1]), 1.0)], "while zero_trip", "while")


def while_true_break(n):
    k = 0
    while True:
        if k * k >= n:
            break
        k += 1
    return k


add(while_true_break, [(50,), (0,), (1,)], "while break", "while")


def while_else(n, stop):
    out = 0
    while n > 0:
        n -= 1
        if n == stop:
            break
        out += n
    else:
        out = -out - 1
    return out


add(while_else, [(5, 2), (5, 9), (0, 1)], "while loop_else break zero_trip", "while")


def nested_while(a, b):
    count = 0
    while a > 0:
        j = b
        while j > a:
            j -= 1
            count += 1
        a -= 1
    return count


add(nested_while, [(3, 6), (0, 4), (2, 0)], "while nested_loop zero_trip", "while")


def continue_in_while(n):
    s = 0
    while n > 0:
        n -= 1
        if n % 3 == 0:
            continue
        s += n
    return s


add(continue_in_while, [(10,), (0,), (1,)], "while continue zero_trip", "while")


def walrus_while(a):
    i = 0
    while (v := a[i]) > 0:
        i += 1
    return i, v


add(walrus_while, [(A([5, 3, -1, 4]),), (A([-2, 7]),)], "while walrus zero_trip", "while")


def sum_range_step(lo, hi, step):
    t = 0
    for i in range(lo, hi, step):
        t = t * 2 + i
    return t


add(sum_range_step, [(0, 7, 2), (9, 1, -3), (4, 4, 1)], "for_range zero_trip", "while")


def range_loop_var_after(n):
    i = -5
    for i in range(n):
        pass
    return i


add(range_loop_var_after, [(4,), (0,)], "for_range loop_var zero_trip pass")


def loop_var_reassigned(n):
    out = 0
    for i in range(n):
        i = i * 10
        out += i
    return out, i


add(loop_var_reassigned, [(4,), (1,)], "for_range loop_var", "while")


def bound_evaluated_once(n):
    hits = 0
    for _ in range(n):
        n = 0
        hits += 1
    return hits, n


add(bound_evaluated_once, [(3,), (1,)], "for_range", "while")


def for_over_array(x):
    acc = 0.0
    for v in x:
        acc = acc * 0.5 + v
    return acc


add(for_over_array, [(A([1.0, 2.0, 3.0]),), (A([]),)], "for_array zero_trip")


def for_over_rows(m):
    out = np.zeros(2)
    for row in m:
        if np.sum(row) > 0:
            out = out + row
    return out


add(
    for_over_rows,
    [(A([[1.0, 2.0], [-5.0, 1.0], [3.0, 3.0]]),), (A([[-1.0, -1.0]]),)],
    "for_array if",
    "branch",
)


def enumerate_weighted(x):
    s = 0
    for i, v in enumerate(x):
        s += (i + 1) * v
    return s


add(enumerate_weighted, [(A([5, 6, 7]),), (A([2]),)], "for_iter unpack")


def zip_dot(a, b):
    s = 0.0
    for p, q in zip(a, b):
        if p > q:
            s += p * q
    return s


add(
    zip_dot,
    [(A([1.0, 5.0, 2.0]), A([2.0, 3.0, 1.0])), (A([1.0, 2.0]), A([3.0, 4.0, 9.0]))],
    "for_iter unpack if",
)


def reversed_range_digits(n):
    out = 0
    for d in reversed(range(n)):
        out = out * 10 + d
    return out


add(reversed_range_digits, [(4,), (0,), (1,)], "for_iter for_range zero_trip", "while")


def dict_items_loop(d, k):
    total = 0.0
    for name, v in d.items():
        if v > k:
            total += v
        else:
            total -= 1.0
    return total


add(dict_items_loop, [({"a": 1.0, "b": 5.0}, 2.0), ({"a": 1.0, "b": 5.0}, 9.0)], "for_iter dict if")


def string_loop(word, x):
    for ch in word:
        if ch == "d":
            x = x * 2
        elif ch == "i":
            x = x + 1
    return x


add(string_loop, [("idd", 3), ("", 3), ("dxi", -1)], "for_iter string str_none_arg zero_trip")


def nested_tuple_loop(pairs):
    s = 0
    for (a, b), c in pairs:
        s += a * b - c
    return s


add(nested_tuple_loop, [((((1, 2), 3), ((4, 5), 6)),), ((((0, 2), 3),),)], "for_iter unpack struct")


def break_first_negative(x):
    i = 0
    s = 0
    for v in x:
        if v < 0:
            break
        s += v
        i += 1
    return s, i


add(break_first_negative, [(A([3, 4, -1, 7]),), (A([3, 4, 1, 7]),), (A([-3, 4, 1, 7]),)], "for_array break")


def break_continue_mix(n):
    s = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > 7:
            break
        s += i
    return s


add(break_continue_mix, [(20,), (4,), (0,)], "for_range break continue zero_trip", "while")


def inner_break_only(n):
    total = 0
    for i in range(n):
        for j in range(n):
            if j > i:
                break
            total += j
        total += 100
    return total


add(inner_break_only, [(4,), (0,), (1,)], "for_range break nested_loop zero_trip", "while")


def for_else_prime(n):
    for d in range(2, n):
        if n % d == 0:
            kind = d
            break
    else:
        kind = 0
    return kind


add(for_else_prime, [(13,), (15,), (2,)], "for_range loop_else break zero_trip", "while")


def return_in_loop(x, t):
    s = 0
    for v in x:
        s += v
        if s > t:
            return v
    return -s


add(return_in_loop, [(A([1, 2, 3, 4]), 4), (A([1, 2, 3, 4]), 40)], "return_loop for_array return_multi")


def return_in_nested_loops(n, target):
    for i in range(n):
        for j in range(i):
            if i * j == target:
                return i, j
    return -1, -1


add(return_in_nested_loops, [(6, 12), (6, 7), (0, 0)], "return_loop for_range nested_loop zero_trip", "while")


def return_in_while_in_if(n):
    if n > 3:
        while True:
            n -= 3
            if n % 5 == 0:
                return n
            if n < 0:
                return 99
    return n * 2


add(return_in_while_in_if, [(13,), (4,), (2,), (6,)], "return_loop while if return_multi", "while")


def array_row_search(m, key):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] == key:
                return i * 10 + j
    return -1


add(
    array_row_search,
    [(A([[1, 2, 3], [4, 5, 6]]), 6), (A([[1, 2, 3], [4, 5, 6]]), 9)],
    "return_loop for_range nested_loop slice_read",
)


def grow_vector(n):
    v = np.zeros(1)
    for i in range(n):
        v = np.concatenate([v, np.ones(1) * (i + 1)])
    return v


add(grow_vector, [(3,), (0,), (5,)], "shape_change for_range zero_trip", "while")


def halve_vector(x):
    k = 0
    while x.shape[0] > 1 and x[0] > 0:
        x = x[::2]
        k += 1
    return x, k


add(
    halve_vector,
    [(A([1.0, 2.0, 3.0, 4.0, 5.0]),), (A([-1.0, 2.0]),)],
    "shape_change while slice_read boolop",
    "while",
)
