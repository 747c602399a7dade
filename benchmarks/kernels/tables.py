"""Dynamic programming, sorting, sieving, checksums: tables of integers, filled element by element."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from benchmarks.kernels.kernel import kernel, uniform


def integers(n, below, seed=0):
    """Whole numbers from 0, the same ones every time."""
    return np.random.default_rng([seed, n]).integers(0, below, n)


@kernel("loops", lambda n: (integers(n, 4), integers(n + 3, 4, seed=1)), size=(160,), tiny=(6,))
def edit_distance(s, t):
    """How many insertions, deletions and replacements lead from one text to another."""
    n, m = len(s), len(t)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if s[i - 1] == t[j - 1]:
                d[i, j] = d[i - 1, j - 1]
            else:
                d[i, j] = 1 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


@kernel("loops", lambda n: (integers(n, 4),), size=(55,), tiny=(8,))
def nussinov(sequence):
    """The largest number of base pairs of a folded RNA."""
    n = len(sequence)
    table = np.zeros((n, n), dtype=np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table[0, n - 1]


@kernel(
    "loops", lambda n, c: (1 + integers(n, c // 3), integers(n, 100, seed=1), c), size=(60, 500), tiny=(4, 9)
)
def knapsack(weights, values, capacity):
    """The largest value that a bag can hold."""
    best = np.zeros(capacity + 1, dtype=np.int64)
    for i in range(len(weights)):
        w = weights[i]
        for c in range(capacity, w - 1, -1):
            if best[c - w] + values[i] > best[c]:
                best[c] = best[c - w] + values[i]
    return best[capacity]


@kernel("loops", lambda n: (np.array([1, 5, 12, 25, 50, 100]), n), size=(8000,), tiny=(30,))
def coin_change(coins, amount):
    """In how many ways an amount can be paid, modulo a large prime."""
    ways = np.zeros(amount + 1, dtype=np.int64)
    ways[0] = 1
    for coin in coins:
        for value in range(coin, amount + 1):
            ways[value] = (ways[value] + ways[value - coin]) % 1000000007
    return ways


@kernel("arrays", lambda n: (1 + integers(n * n, 99).reshape(n, n),), size=(180,), tiny=(5,))
def floyd_warshall(path):
    """The lengths of all shortest paths, in place."""
    n = path.shape[0]
    for k in range(n):
        path[:] = np.minimum(path[:], path[:, k : k + 1] + path[k : k + 1, :])


@kernel("loops", lambda n: (1 + integers(n * n, 99).reshape(n, n),), size=(36,), tiny=(4,))
def floyd_warshall_loops(path):
    """The same, element by element."""
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = path[i, k] + path[k, j]
                if through < path[i, j]:
                    path[i, j] = through


@kernel("loops", lambda n: (1 + integers(n + 1, 40),), size=(42,), tiny=(5,))
def matrix_chain(sizes):
    """The fewest multiplications for a product of matrices, and where to split it."""
    n = len(sizes) - 1
    cost = np.zeros((n, n), dtype=np.int64)
    split = np.zeros((n, n), dtype=np.int64)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = 2**62
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < cost[i, j]:
                    cost[i, j] = c
                    split[i, j] = k
    return cost[0, n - 1], split


@kernel("loops", lambda n: (n,), size=(120000,), tiny=(50,))
def sieve(n):
    """Eratosthenes' sieve: how many primes there are below n."""
    composite = np.zeros(n, dtype=np.bool_)
    count = 0
    for i in range(2, n):
        if not composite[i]:
            count += 1
            for k in range(i * i, n, i):
                composite[k] = True
    return count


@kernel("arrays", lambda n: (n,), size=(2000000,), tiny=(50,))
def sieve_slices(n):
    """The same sieve, a slice for each prime."""
    prime = np.ones(n, dtype=np.bool_)
    prime[:2] = False
    i = 2
    while i * i < n:
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return np.nonzero(prime)[0]


@kernel("loops", lambda n: (uniform(n),), size=(500,), tiny=(8,))
def insertion_sort(x):
    """Sorts in place."""
    for i in range(1, len(x)):
        value = x[i]
        j = i - 1
        while j >= 0 and x[j] > value:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = value


@kernel("loops", lambda n: (uniform(n), n // 3), size=(40000,), tiny=(15,))
def quickselect(x, k):
    """The k-th smallest element, by partitions in place."""
    low, high = 0, len(x) - 1
    while low < high:
        pivot = x[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return x[k]


@kernel("loops", lambda n, m: (np.sort(uniform(n)), uniform(m, seed=1)), size=(10000, 6000), tiny=(9, 6))
def binary_search(table, values):
    """For each value, how many entries of a sorted table are smaller."""
    places = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        low, high = 0, len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < values[i]:
                low = middle + 1
            else:
                high = middle
        places[i] = low
    return places


@kernel("loops", lambda n: (integers(n, 256).astype(np.uint8),), size=(6000,), tiny=(9,))
def crc16(data):
    """The CCITT checksum of a message, bit by bit."""
    crc = 0xFFFF
    for b in data:
        current = 0xFF & int(b)
        for _ in range(8):
            if (crc & 1) ^ (current & 1):
                crc = (crc >> 1) ^ 0x8408
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF


@kernel("loops", lambda n: (n,), size=(7,), tiny=(5,))
def queens(n):
    """In how many ways n queens can stand on a board without attack: backtracking on an array."""
    column = np.zeros(n, dtype=np.int64)
    count = 0
    row = 0
    column[0] = -1
    while row >= 0:
        column[row] += 1
        if column[row] == n:
            row -= 1
            continue
        free = True
        for r in range(row):
            apart = abs(column[r] - column[row])
            if apart == 0 or apart == row - r:
                free = False
                break
        if not free:
            continue
        if row == n - 1:
            count += 1
        else:
            row += 1
            column[row] = -1
    return count


@kernel("loops", lambda n: (12345, n), size=(60000,), tiny=(20,))
def random_pi(seed, n):
    """Pi by points in a square, from a linear congruential generator of 31 bits."""
    state = seed
    inside = 0
    for _ in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        x = state / 2147483648.0
        state = (1103515245 * state + 12345) % 2147483648
        y = state / 2147483648.0
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n
