"""Particles, transforms, sparse and irregular data, fractals, and other pieces of scientific programs."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import math

import numpy as np

from benchmarks.kernels.kernel import kernel, normal, uniform


def acceleration(pos, mass, g, softening):
    """The gravity of all bodies on each, by arrays of all pairs; a body does not pull itself."""
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inverse = dx**2 + dy**2 + dz**2 + softening**2
    mask = inverse > 0
    inverse[mask] = inverse[mask] ** (-1.5)
    ax = g * (dx * inverse) @ mass
    ay = g * (dy * inverse) @ mass
    az = g * (dz * inverse) @ mass
    return np.hstack((ax, ay, az))


@kernel(
    "arrays",
    lambda n, steps: (uniform(n, 1) * 20.0 / n, normal(n, 3), normal(n, 3, seed=1), steps, 0.01, 1.0, 0.1),
    size=(60, 40),
    tiny=(4, 3),
)
def nbody(mass, pos, vel, steps, dt, g, softening):
    """Bodies under their own gravity, by the leapfrog method; the energies of motion along the way."""
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, g, softening)
    energy = np.zeros(steps)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, g, softening)
        vel += acc * dt / 2.0
        energy[i] = 0.5 * np.sum(mass * vel**2)
    return energy


@kernel("loops", lambda n: (4.0 * uniform(n, 3), 4.0), size=(60,), tiny=(5,))
def lennard_jones(pos, box):
    """Energy and forces of atoms in a periodic box, pair by pair, with a cutoff."""
    n = pos.shape[0]
    force = np.zeros((n, 3))
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dx = pos[i, 0] - pos[j, 0]
            dy = pos[i, 1] - pos[j, 1]
            dz = pos[i, 2] - pos[j, 2]
            dx -= box * round(dx / box)
            dy -= box * round(dy / box)
            dz -= box * round(dz / box)
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            if r2 > 4.0:
                continue
            s6 = 1.0 / (r2 * r2 * r2)
            energy += 4.0 * s6 * (s6 - 1.0)
            pull = 24.0 * s6 * (2.0 * s6 - 1.0) / r2
            force[i, 0] += pull * dx
            force[i, 1] += pull * dy
            force[i, 2] += pull * dz
            force[j, 0] -= pull * dx
            force[j, 1] -= pull * dy
            force[j, 2] -= pull * dz
    return energy, force


@kernel(
    "loops",
    lambda n, sweeps: (np.where(uniform(n, n) < 0.5, -1, 1), uniform(sweeps, n, n, seed=1), 0.5),
    size=(30, 10),
    tiny=(4, 2),
)
def ising(spin, random, beta):
    """Sweeps of Metropolis over a periodic lattice of spins."""
    n = spin.shape[0]
    for sweep in range(random.shape[0]):
        for i in range(n):
            for j in range(n):
                around = spin[(i + 1) % n, j] + spin[i - 1, j] + spin[i, (j + 1) % n] + spin[i, j - 1]
                cost = 2 * spin[i, j] * around
                if cost <= 0 or random[sweep, i, j] < math.exp(-beta * cost):
                    spin[i, j] = -spin[i, j]
    return spin.sum()


@kernel("arrays", lambda n: (normal(n) + 1j * normal(n, seed=1),), size=(2**16,), tiny=(8,))
def stockham_fft(x):
    """A fast Fourier transform of a power of two that needs no reordering."""
    half = len(x) // 2
    m = 1
    y = x
    while half >= 1:
        pairs = y.reshape(2, half, m)
        turn = np.exp(-1j * np.pi * np.arange(half) / half).reshape(half, 1)
        out = np.empty((half, 2, m), dtype=np.complex128)
        out[:, 0, :] = pairs[0] + pairs[1]
        out[:, 1, :] = turn * (pairs[0] - pairs[1])
        y = out.reshape(len(x))
        half //= 2
        m *= 2
    return y


def sparse(n, per_row):
    """A random matrix in compressed rows, and a vector."""
    rng = np.random.default_rng(n)
    counts = rng.integers(0, 2 * per_row, n)
    start = np.concatenate([[0], np.cumsum(counts)])
    return start, rng.integers(0, n, start[-1]), rng.standard_normal(start[-1]), rng.standard_normal(n)


@kernel("arrays", sparse, size=(8000, 60), tiny=(6, 3))
def spmv(start, columns, values, x):
    """A sparse matrix times a vector, a row at a time."""
    y = np.empty(len(start) - 1)
    for i in range(len(start) - 1):
        cols = columns[start[i] : start[i + 1]]
        vals = values[start[i] : start[i + 1]]
        y[i] = vals @ x[cols]
    return y


@kernel("loops", sparse, size=(4000, 20), tiny=(6, 3))
def spmv_loops(start, columns, values, x):
    """The same, an element at a time."""
    y = np.empty(len(start) - 1)
    for i in range(len(start) - 1):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y


@kernel("arrays", lambda n, bins: (uniform(n), uniform(n, seed=1), bins), size=(60000, 100), tiny=(20, 4))
def azimint_naive(data, radius, bins):
    """The mean of the data in each ring around a centre, by a mask for each ring."""
    top = radius.max()
    result = np.zeros(bins)
    for i in range(bins):
        low = top * i / bins
        high = top * (i + 1) / bins
        mask = np.logical_and(low <= radius, radius < high)
        result[i] = data[mask].mean()
    return result


@kernel("arrays", lambda n, bins: (uniform(n), uniform(n, seed=1), bins), size=(300000, 500), tiny=(20, 4))
def azimint_hist(data, radius, bins):
    """The same by two histograms."""
    counts = np.histogram(radius, bins)[0]
    sums = np.histogram(radius, bins, weights=data)[0]
    return sums / counts


@kernel("loops", lambda n, bins: (uniform(n), uniform(n, seed=1), bins), size=(40000, 500), tiny=(20, 4))
def azimint_loops(data, radius, bins):
    """The same in one loop over the data."""
    top = radius.max()
    sums = np.zeros(bins)
    counts = np.zeros(bins, dtype=np.int64)
    for i in range(len(data)):
        place = int(radius[i] / top * bins)
        if place == bins:
            place -= 1
        sums[place] += data[i]
        counts[place] += 1
    return sums / counts


@kernel("loops", lambda n, limit: (-2.0, 0.5, -1.25, 1.25, n, n, limit), size=(60, 60), tiny=(6, 9))
def mandelbrot_loops(xmin, xmax, ymin, ymax, nx, ny, limit):
    """How soon each point of a plane leaves the circle: two loops and a break."""
    counts = np.zeros((ny, nx), dtype=np.int64)
    for i in range(ny):
        for j in range(nx):
            cr = xmin + (xmax - xmin) * j / (nx - 1)
            ci = ymin + (ymax - ymin) * i / (ny - 1)
            re, im = 0.0, 0.0
            for _ in range(limit):
                re, im = re * re - im * im + cr, 2.0 * re * im + ci
                if re * re + im * im > 4.0:
                    break
                counts[i, j] += 1
    return counts


@kernel("arrays", lambda n, limit: (-2.0, 0.5, -1.25, 1.25, n, n, limit), size=(160, 60), tiny=(6, 9))
def mandelbrot_masks(xmin, xmax, ymin, ymax, nx, ny, limit):
    """The same with arrays of complex numbers under a mask."""
    x = np.linspace(xmin, xmax, nx)
    y = np.linspace(ymin, ymax, ny)
    c = x + y[:, None] * 1j
    counts = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for k in range(limit):
        inside = np.abs(z) < 2.0
        counts[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    counts[counts == limit - 1] = 0
    return z, counts


@kernel("arrays", lambda n, limit: (-2.0, 0.5, -1.25, 1.25, n, n, limit), size=(200, 60), tiny=(6, 9))
def mandelbrot_shrinking(xmin, xmax, ymin, ymax, nx, ny, limit):
    """The same on lists of points that get shorter as points leave."""
    xi = np.repeat(np.arange(nx), ny)
    yi = np.tile(np.arange(ny), nx)
    c = np.linspace(xmin, xmax, nx)[xi] + np.linspace(ymin, ymax, ny)[yi] * 1j
    counts = np.zeros((nx, ny), dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for k in range(limit):
        if len(z) == 0:
            break
        z = z * z + c
        gone = np.abs(z) > 2.0
        counts[xi[gone], yi[gone]] = k + 1
        stay = ~gone
        xi, yi, z, c = xi[stay], yi[stay], z[stay], c[stay]
    return counts


@kernel("arrays", lambda n: tuple(uniform(n, seed=k) for k in range(4)), size=(200000,), tiny=(9,))
def arc_distance(theta1, phi1, theta2, phi2):
    """The angle between pairs of points on a sphere."""
    t = (
        np.sin((theta2 - theta1) / 2.0) ** 2
        + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2.0) ** 2
    )
    return 2.0 * np.arctan2(np.sqrt(t), np.sqrt(1.0 - t))


@kernel("loops", lambda n: (normal(n, n),), size=(1500,), tiny=(5,))
def go_fast(a):
    """A loop over a diagonal, then one array expression."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


@kernel(
    "arrays",
    lambda n: (*(np.random.default_rng(k).integers(0, 1000, (n, n)) for k in range(2)), 4, 3, 9),
    size=(900,),
    tiny=(5,),
)
def compute(x, y, a, b, c):
    """Clipped and combined integers."""
    return np.clip(x, 2, 10) * a + y * b + c


@kernel(
    "arrays",
    lambda n: (10.0 + 40.0 * uniform(n), 10.0 + 40.0 * uniform(n, seed=1), 0.25 + uniform(n)),
    size=(100000,),
    tiny=(9,),
)
def black_scholes(spot, strike, years):
    """The prices of European calls, the normal distribution by a polynomial."""
    rate, volatility = 0.02, 0.3
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / deviation
    d2 = d1 - deviation
    return spot * normal_distribution(d1) - strike * np.exp(-rate * years) * normal_distribution(d2)


def normal_distribution(x):
    """Abramowitz and Stegun's formula 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    below = 1.0 - 0.39894228 * np.exp(-0.5 * x * x) * tail
    return np.where(x > 0, below, 1.0 - below)


def scattering_inputs(momenta, energies, frequencies, atoms, neighbours, orbitals):
    """Complex Green's functions, couplings, and a table of neighbours."""

    def values(*shape):
        return normal(*shape) + 1j * normal(*shape, seed=1)

    table = np.random.default_rng(0).integers(0, atoms, (atoms, neighbours))
    return (
        table,
        values(atoms, neighbours, 3, orbitals, orbitals),
        values(momenta, energies, atoms, orbitals, orbitals),
        values(momenta, frequencies, atoms, neighbours, 3, 3),
        np.zeros((momenta, energies, atoms, orbitals, orbitals), dtype=np.complex128),
    )


@kernel("arrays", scattering_inputs, size=(2, 3, 2, 5, 4, 4), tiny=(1, 2, 2, 2, 2, 2))
def scattering(neighbour, dh, g, d, sigma):
    """The self-energies of electrons scattered by phonons: small products in a deep nest of loops."""
    for k in range(g.shape[0]):
        for e in range(g.shape[1]):
            for q in range(d.shape[0]):
                for w in range(d.shape[1]):
                    if e < w:
                        continue
                    for i in range(sigma.shape[2]):
                        for j in range(d.shape[3]):
                            for a in range(3):
                                left = g[k - q, e - w, neighbour[i, j]] @ dh[i, j, a]
                                for b in range(3):
                                    sigma[k, e, i] += left @ (dh[i, j, b] * d[q, w, i, j, a, b])


@kernel(
    "arrays",
    lambda b, n, m: (normal(b, n, m), normal(m, n, seed=1), normal(b, n)),
    size=(100, 120, 100),
    tiny=(2, 3, 4),
)
def contractions(a, w, v):
    """Sums of products over several axes, as einsum writes them."""
    s = np.einsum("bij,ji->b", a, w)
    p = np.einsum("bij,bi->bj", a, v)
    return np.einsum("bj,ji,b->i", p, w, s)


@kernel(
    "arrays",
    lambda n, k: (normal(n, 2) + 3.0 * (np.arange(n) % k)[:, None], k, 12),
    size=(5000, 6),
    tiny=(12, 3),
)
def kmeans(points, k, steps):
    """Clusters around means: distances of all points to all means, then the means of the nearest."""
    centres = points[:k].copy()
    nearest = np.zeros(len(points), dtype=np.int64)
    for _ in range(steps):
        apart = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        nearest = apart.argmin(axis=1)
        for c in range(k):
            members = points[nearest == c]
            if len(members) > 0:
                centres[c] = members.mean(axis=0)
    return centres, nearest


@kernel(
    "arrays",
    lambda states, n: (uniform(n, states), uniform(states, states), uniform(states)),
    size=(40, 400),
    tiny=(3, 5),
)
def viterbi(emission, transition, start):
    """The likeliest path through a chain of hidden states."""
    n, states = emission.shape
    back = np.zeros((n, states), dtype=np.int64)
    score = np.log(start) + np.log(emission[0])
    log_transition = np.log(transition)
    for t in range(1, n):
        through = score[:, None] + log_transition
        back[t] = np.argmax(through, axis=0)
        score = np.max(through, axis=0) + np.log(emission[t])
    path = np.zeros(n, dtype=np.int64)
    path[n - 1] = np.argmax(score)
    for t in range(n - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score.max()


@kernel("loops", lambda n: (normal(n), 0.1), size=(60000,), tiny=(9,))
def moving_average(x, alpha):
    """An exponential average, and the largest distance from it."""
    out = np.empty_like(x)
    state = 0.0
    worst = 0.0
    for i in range(len(x)):
        state = alpha * x[i] + (1.0 - alpha) * state
        out[i] = state
        worst = max(worst, abs(x[i] - state))
    return out, worst


@kernel("loops", lambda steps: (np.array([1.0, 1.0, 1.0]), 1e-3, steps), size=(2000,), tiny=(5,))
def lorenz(state, dt, steps):
    """Lorenz's attractor by Runge and Kutta's method, the states along the way."""
    track = np.empty((steps, 3))
    for i in range(steps):
        k1 = lorenz_slope(state)
        k2 = lorenz_slope(state + 0.5 * dt * k1)
        k3 = lorenz_slope(state + 0.5 * dt * k2)
        k4 = lorenz_slope(state + dt * k3)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        track[i] = state
    return track


def lorenz_slope(s):
    """The right side of Lorenz's equations."""
    return np.array([10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 8.0 / 3.0 * s[2]])
