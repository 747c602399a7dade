"""Grids, particles, sequences and sorting."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from tests.algorithms.sample import normal, sample


@sample(lambda: ((normal(6, 6) > 0).astype(np.uint8), 4), lambda: (normal(5, 7) > 0, 3))
def game_of_life(grid, steps):
    """The grid's dtype changes in the first step."""
    for _ in range(steps):
        neighbours = sum(
            np.roll(np.roll(grid, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        grid = (neighbours == 3) | ((grid == 1) & (neighbours == 2))
    return grid


@sample(
    lambda: (normal(4, 3), normal(4, 3), np.abs(normal(4)), 3, 0.01),
    lambda: (normal(2, 2), normal(2, 2), np.abs(normal(2)), 5, 0.1),
)
def n_body(positions, velocities, masses, steps, dt):
    """Positions and velocities are moved in place."""
    energies = []
    for _ in range(steps):
        d = positions[None] - positions[:, None]
        r2 = (d**2).sum(-1) + 1e-3
        np.fill_diagonal(r2, 1)
        a = (d * (masses / r2**1.5)[:, :, None]).sum(1)
        velocities += a * dt
        positions += velocities * dt
        energies.append(0.5 * (masses * (velocities**2).sum(1)).sum())
    return energies


@sample(lambda: (5, 4, 20), lambda: (7, 3, 10))
def mandelbrot(width, height, limit):
    """A grid of complex numbers whose sizes are arguments, with masked updates."""
    y, x = np.mgrid[-1.2 : 1.2 : height * 1j, -2 : 0.6 : width * 1j]
    c = x + 1j * y
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=int)
    for _ in range(limit):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        counts += inside
    return counts


@sample(
    lambda: (np.random.default_rng(0).random((100, 2)),), lambda: (np.random.default_rng(1).random((7, 2)),)
)
def monte_carlo_pi(u):
    return 4 * np.count_nonzero((u**2).sum(1) < 1) / len(u), 4 * np.mean(np.hypot(u[:, 0], u[:, 1]) < 1)


@sample(lambda: (normal(6, 6), 5, 0.1), lambda: (normal(4, 8).astype(np.float32), 3, 0.2))
def heat(u, steps, alpha):
    """Written into the interior of the argument; None when it explodes."""
    for _ in range(steps):
        neighbours = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        u[1:-1, 1:-1] += alpha * (neighbours - 4 * u[1:-1, 1:-1])
        if np.abs(u).max() > 1e6:
            return None
    return u


@sample(
    lambda: (np.array([1, 3, 4]), np.array([1, 4, 5]), 7), lambda: (np.array([2, 3]), np.array([10, 1]), 4)
)
def knapsack(weights, values, capacity):
    """A table whose rows are filled by shifted slices."""
    table = np.zeros((len(weights) + 1, capacity + 1), int)
    for i in range(1, len(weights) + 1):
        w = weights[i - 1]
        table[i] = table[i - 1]
        if w <= capacity:
            table[i, w:] = np.maximum(table[i - 1, w:], table[i - 1, : capacity + 1 - w] + values[i - 1])
    return table[-1, -1], table


@sample(
    lambda: (np.array([0, 1, 2, 3, 0, 3, 1, 2]),),
    lambda: (np.array([0, 3, 0, 3]),),
    lambda: (np.zeros(0, int),),
)
def nussinov(bases):
    """RNA folding: a table filled from the last row up."""
    n = len(bases)
    best = np.zeros((n, n), int)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best[i, j] = max(best[i, j - 1], best[i + 1, j])
            pair = 1 if i < j - 1 and bases[i] + bases[j] == 3 else 0
            best[i, j] = max(best[i, j], best[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                best[i, j] = max(best[i, j], best[i, k] + best[k + 1, j])
    return best


@sample(
    lambda: (np.array([[0, 3, np.inf], [1, 0, 2], [np.inf, 7, 0]]),), lambda: (np.array([[0, 5], [2, 0]]),)
)
def floyd_warshall(distances):
    """All shortest paths, once with new arrays and once with `out=`."""
    d = distances.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k])
    e = distances.copy()
    for k in range(e.shape[0]):
        np.minimum(e, e[:, k : k + 1] + e[k : k + 1, :], out=e)
    return d, e


@sample(
    lambda: (np.array([170, 45, 75, 90, 802, 24, 2, 66]),),
    lambda: (np.array([3, 1]),),
    lambda: (np.zeros(0, int),),
)
def radix_sort(a):
    """Ten masks per digit, concatenated."""
    if a.size == 0:
        return a
    e = 1
    while a.max() // e > 0:
        digit = a // e % 10
        a = np.concatenate([a[digit == k] for k in range(10)])
        e *= 10
    return a


@sample(lambda: (normal(10),), lambda: (normal(3),), lambda: (normal(1),))
def merge_sort(a):
    """Recursion on views; short arrays are returned as they are."""
    if len(a) <= 1:
        return a
    middle = len(a) // 2
    left, right = merge_sort(a[:middle]), merge_sort(a[middle:])
    out = np.empty(len(a), a.dtype)
    i = j = 0
    for k in range(len(a)):
        if j >= len(right) or (i < len(left) and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@sample(lambda: (normal(10),), lambda: (normal(3),), lambda: (np.zeros(0),))
def quick_sort(a):
    """In place, by a nested function that calls itself."""

    def sort(low, high):
        if low >= high:
            return
        pivot = a[high]
        i = low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        sort(low, i - 1)
        sort(i + 1, high)

    sort(0, len(a) - 1)
    return a


@sample(lambda: (30,), lambda: (2,), lambda: (100,))
def sieve(n):
    """Primes up to n, by strided writes."""
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.nonzero(prime)[0], np.flatnonzero(prime).tolist()
