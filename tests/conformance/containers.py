"""Cases about lists, comprehensions, unpacking, and reading and writing parts of arrays."""

import numpy as np

from tests.conformance.case import Suite

suite = Suite()
add = suite.add
A = np.array


def squares_list(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return np.array(out)


add(squares_list, [(4,), (1,), (6,)], "list for_range", "while")


def list_len_pop(n):
    stack = [1]
    while n > 0:
        stack.append(n % 10)
        n //= 10
    s = 0
    while len(stack) > 1:
        s = s * 10 + stack.pop()
    return s, len(stack)


add(list_len_pop, [(372,), (0,), (5,)], "list while builtin zero_trip", "while")


def list_static_methods(x):
    a = [x, x + 1]
    a.append(x * 2)
    a.insert(0, x - 1)
    a.extend([7, x])
    b = a.pop(1)
    return a, b, len(a), a[-1]


add(list_static_methods, [(3,), (-2,)], "list")


def list_append_if(x):
    items = [x]
    for v in (1, 5, 9):
        if x > v:
            items.append(v)
    return len(items), sum(items)


add(list_append_if, [(6,), (0,), (10,)], "list if builtin for_iter", "branch")


def list_filter_array(x):
    keep = []
    for v in x:
        if v > 1.5:
            keep.append(v * 2)
    return np.array(keep)


add(list_filter_array, [(A([1.0, 2.0, 3.0, 0.0]),), (A([9.0, 2.0, 3.0, 5.0]),)], "list for_array if")


def list_index_dynamic(xs, i):
    before = xs[i]
    xs[i] = before * 10
    return xs, before


add(list_index_dynamic, [([1, 2, 3], 1), ([1, 2, 3], -1)], "list struct_index")


def extend_and_index(x, n):
    out = [x]
    for i in range(n):
        out.extend([x + i, x * i])
    at = -1
    if 6 in out:
        at = out.index(6)
    return len(out), sum(out), at


add(extend_and_index, [(3, 4), (3, 0), (5, 2)], "list builtin for_range in_is if zero_trip", "while")


def sorted_values(a, b, c):
    s = sorted([a, b, c])
    if s[0] < 0:
        s = sorted(s, reverse=True)
    return s, s[1]


add(sorted_values, [(3, 1, 2), (5, -4, 9), (1, 1, 0)], "builtin list if", "branch")


def comprehension_sum(x, k):
    return sum([v * k for v in x if v > 0])


add(comprehension_sum, [(A([1, -2, 3]), 2), (A([-1, -2, -3]), 2)], "listcomp if builtin")


def comprehension_range(n):
    sq = [i * i + 1 for i in range(n)]
    return np.sum(np.array(sq))


add(comprehension_range, [(4,), (1,), (7,)], "listcomp for_range", "while")


def dict_comprehension(x):
    d = {i: v * v for i, v in enumerate(x)}
    return d[0] + d[len(d) - 1]


add(dict_comprehension, [(A([2.0, 3.0, 5.0]),), (A([4.0]),)], "dictcomp dict for_iter")


def genexp_any_all(x, k):
    if any(v == k for v in x):
        r = 1
    elif all(v > k for v in x):
        r = 2
    else:
        r = 3
    return r


add(genexp_any_all, [(A([3, 4]), 4), (A([5, 6]), 4), (A([1, 7]), 4)], "genexp builtin if", "branch")


def augmented_all(x, n):
    x += 3
    x -= n
    x *= 4
    x //= 3
    x %= 7
    x **= 2
    y = x
    y /= 2
    return x, y


add(augmented_all, [(10, 4), (-9, 2)], "augassign int_arith")


def swap_many(a, b, c, n):
    while n > 0:
        a, b, c = c, a, b
        n -= 1
    return a, b, c


add(swap_many, [(1, 2, 3, 4), (1, 2, 3, 0)], "unpack while zero_trip", "while")


def starred_unpack(x):
    first, *mid, last = (x, x + 1, x + 2, x + 3)
    return first, mid, last, [*mid, last]


add(starred_unpack, [(1,), (-4,)], "unpack list")


def slice_reads(x, i, j):
    return x[i:j], x[::-1], x[-2:], x[j]


add(slice_reads, [(A([1, 2, 3, 4, 5]), 1, 3), (A([1, 2, 3, 4, 5]), 0, 4)], "slice_read")


def matrix_reads(m, k):
    return m[k], m[:, k], m[k, ::-1], m[-1, -1], m[..., 0]


add(matrix_reads, [(A([[1.0, 2.0], [3.0, 4.0]]), 1), (A([[1.0, 2.0], [3.0, 4.0]]), 0)], "slice_read")


def write_in_loop(n):
    a = np.zeros(6)
    for i in range(n):
        a[i] = i * 1.5
    return a


add(write_in_loop, [(4,), (0,), (6,)], "slice_write for_range zero_trip", "while")


def write_slices(x, v):
    y = np.copy(x)
    y[1:3] = v
    y[-1] += 10
    y[::2] *= 2
    return y


add(write_slices, [(A([1, 2, 3, 4, 5]), 7), (A([0, 0, 0, 0, 0]), -1)], "slice_write augassign")


def write_2d_if(m, t):
    m = np.copy(m)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > t:
                m[i, j] -= t
            else:
                m[i, j] = 0.0
    return m


add(
    write_2d_if,
    [(A([[1.0, 5.0], [7.0, 2.0]]), 3.0), (A([[1.0, 5.0], [7.0, 2.0]]), 0.0)],
    "slice_write nested_loop if augassign",
)


def fancy_reads(x, idx):
    return x[idx], x[x > 2], x[np.argsort(-x)]


add(fancy_reads, [(A([3, 1, 4, 1]), A([2, 0])), (A([0, 1, 2, 9]), A([3, 3]))], "fancy")


def fancy_writes(x, idx, v):
    y = x + 0
    y[idx] = v
    y[y > 8] = 8
    return y


add(fancy_writes, [(A([3, 1, 4, 1]), A([2, 0]), 9), (A([3, 1, 4, 1]), A([1, 3]), -5)], "fancy slice_write")


def writes_into_argument(x, k):
    for i in range(len(x)):
        if x[i] > k:
            x[i] = k
    return np.sum(x)


add(writes_into_argument, [(A([1, 9, 4]), 5), (A([1, 2, 3]), 5)], "arg_mutation slice_write if")


def view_is_alias(x):
    a = np.copy(x)
    b = a[1:3]
    b[0] = 99
    a[2] = 50
    return a, b


add(view_is_alias, [(A([1, 2, 3, 4]),), (A([0, 0, 0, 0]),)], "alias slice_write")


def second_name_same_array(n):
    a = np.zeros(3)
    b = a
    while n > 0:
        b[n % 3] += n
        n -= 1
    return a


add(second_name_same_array, [(5,), (0,)], "alias slice_write while zero_trip", "while")


def dynamic_zeros(n):
    a = np.zeros(n)
    b = np.arange(n) * 2
    for i in range(n):
        a[i] = b[n - 1 - i]
    return a, np.sum(b), a.shape[0]


add(dynamic_zeros, [(4,), (0,), (6,)], "shape_change slice_write for_range zero_trip", "while")


def inplace_add_alias(x, n):
    y = np.copy(x)
    z = y
    y += n
    if n > 2:
        z *= 10
    y = y + 1
    return y, z


add(inplace_add_alias, [(A([1, 2]), 5), (A([1, 2]), 0)], "alias augassign if", "branch")
