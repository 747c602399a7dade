"""Stencils on grids: smoothing, heat, waves, implicit sweeps, weather, and small flow solvers."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from benchmarks.kernels.kernel import kernel, normal, uniform


@kernel("arrays", lambda n, steps: (steps, uniform(n), uniform(n, seed=1)), size=(4000, 400), tiny=(9, 3))
def jacobi_1d(steps, a, b):
    """Averages of three neighbours, to and fro between two rods."""
    for _ in range(steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


@kernel("arrays", lambda n, steps: (steps, uniform(n, n), uniform(n, n, seed=1)), size=(250, 60), tiny=(7, 3))
def jacobi_2d(steps, a, b):
    """Averages of five neighbours, to and fro between two plates."""
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


@kernel("loops", lambda n, steps: (steps, uniform(n, n)), size=(50, 8), tiny=(5, 2))
def jacobi_2d_loops(steps, a):
    """The same, element by element, with a new plate in every step."""
    n, m = a.shape
    for _ in range(steps):
        b = a.copy()
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        a = b
    return a


@kernel("loops", lambda n, steps: (steps, uniform(n, n)), size=(50, 6), tiny=(5, 2))
def seidel_2d(steps, a):
    """Averages of nine neighbours in place, each from the newest values."""
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (
                    a[i - 1, j - 1]
                    + a[i - 1, j]
                    + a[i - 1, j + 1]
                    + a[i, j - 1]
                    + a[i, j]
                    + a[i, j + 1]
                    + a[i + 1, j - 1]
                    + a[i + 1, j]
                    + a[i + 1, j + 1]
                ) / 9.0


@kernel("arrays", lambda n, steps: (steps, uniform(n, n), uniform(n, n, seed=1)), size=(80, 10), tiny=(6, 2))
def seidel_slices(steps, a, weight):
    """A sweep whose rows are half slices, half a recurrence along the row."""
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += weight[i, 1:-1] * (a[i - 1, :-2] + a[i - 1, 1:-1] + a[i + 1, 1:-1] + a[i, 2:])
            for j in range(1, m - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 6.0


@kernel("arrays", lambda n, steps: (steps, uniform(n, n, n), uniform(n, n, n)), size=(34, 30), tiny=(5, 2))
def heat_3d(steps, a, b):
    """The heat equation in a cube, to and fro between two arrays."""
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = (
            0.125 * (b[2:, 1:-1, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1])
            + 0.125 * (b[1:-1, 2:, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, :-2, 1:-1])
            + 0.125 * (b[1:-1, 1:-1, 2:] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, :-2])
            + b[1:-1, 1:-1, 1:-1]
        )


@kernel(
    "arrays",
    lambda n, m, steps: (uniform(n, m), uniform(n, m, seed=1), uniform(n, m, seed=2), uniform(steps)),
    size=(200, 220, 60),
    tiny=(6, 7, 3),
)
def fdtd_2d(ex, ey, hz, source):
    """An electromagnetic wave in the plane, driven along one edge."""
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@kernel("arrays", lambda n, steps: (steps, uniform(n, n)), size=(100, 10), tiny=(6, 2))
def adi(steps, u):
    """The heat equation by implicit steps in alternating directions; each sweep is a tridiagonal system."""
    n = u.shape[0]
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    along, across = 2.0 * n * n / steps, 1.0 * n * n / steps
    a, b, c = -along / 2.0, 1.0 + along, -along / 2.0
    d, e, f = -across / 2.0, 1.0 + across, -across / 2.0
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (
                -d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]
            ) / (a * p[1:-1, j - 1] + b)
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -f / (d * p[1:-1, j - 1] + e)
            q[1:-1, j] = (
                -a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]
            ) / (d * p[1:-1, j - 1] + e)
        u[1:-1, -1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


@kernel("arrays", lambda n, k: (normal(n + 4, n + 4, k), uniform(n, n, k)), size=(90, 40), tiny=(3, 2))
def horizontal_diffusion(field, coefficient):
    """Diffusion of the fourth order on the levels of a weather model, its fluxes limited by their signs."""
    n, m, _ = coefficient.shape
    lap = 4.0 * field[1 : n + 3, 1 : m + 3, :] - (
        field[2 : n + 4, 1 : m + 3, :]
        + field[0 : n + 2, 1 : m + 3, :]
        + field[1 : n + 3, 2 : m + 4, :]
        + field[1 : n + 3, 0 : m + 2, :]
    )
    flux_x = lap[1:, 1 : m + 1, :] - lap[:-1, 1 : m + 1, :]
    slope_x = field[2 : n + 3, 2 : m + 2, :] - field[1 : n + 2, 2 : m + 2, :]
    flux_x = np.where(flux_x * slope_x > 0.0, 0.0, flux_x)
    flux_y = lap[1 : n + 1, 1:, :] - lap[1 : n + 1, :-1, :]
    slope_y = field[2 : n + 2, 2 : m + 3, :] - field[2 : n + 2, 1 : m + 2, :]
    flux_y = np.where(flux_y * slope_y > 0.0, 0.0, flux_y)
    return field[2 : n + 2, 2 : m + 2, :] - coefficient * (
        flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :]
    )


@kernel(
    "arrays",
    lambda n, k: (normal(n, n, k), 0.1 * normal(n + 1, n, k, seed=1), 0.1 * normal(n, n, k, seed=2), 0.15),
    size=(70, 40),
    tiny=(3, 4),
)
def vertical_advection(u, w, tendency, dt):
    """Implicit advection along the columns of a weather model: Thomas's algorithm on whole levels."""
    levels = u.shape[2]
    upper = np.zeros_like(u)
    right = np.zeros_like(u)
    for k in range(levels):
        below = np.zeros_like(u[:, :, 0])
        above = np.zeros_like(u[:, :, 0])
        if k > 0:
            below = -0.25 * (w[1:, :, k] + w[:-1, :, k])
        if k < levels - 1:
            above = 0.25 * (w[1:, :, k + 1] + w[:-1, :, k + 1])
        d = u[:, :, k] / dt + tendency[:, :, k]
        b = 1.0 / dt - below - above
        if k > 0:
            d = d - below * right[:, :, k - 1]
            b = b - below * upper[:, :, k - 1]
        upper[:, :, k] = above / b
        right[:, :, k] = d / b
    out = np.empty_like(u)
    out[:, :, levels - 1] = right[:, :, levels - 1]
    for k in range(levels - 2, -1, -1):
        out[:, :, k] = right[:, :, k] - upper[:, :, k] * out[:, :, k + 1]
    return out


@kernel("arrays", lambda n, m: (0.25, uniform(n, m)), size=(400, 500), tiny=(5, 6))
def deriche(alpha, image):
    """A recursive smoothing filter over the rows and the columns, in both directions each."""
    decay = np.exp(-alpha)
    k = (1.0 - decay) ** 2 / (1.0 + 2.0 * alpha * decay - np.exp(-2.0 * alpha))
    a1, a2 = k, k * decay * (alpha - 1.0)
    a3, a4 = k * decay * (alpha + 1.0), -k * decay * decay
    b1, b2 = 2.0 * decay, -decay * decay
    n, m = image.shape
    forth = np.empty_like(image)
    back = np.empty_like(image)
    forth[:, 0] = a1 * image[:, 0]
    forth[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * forth[:, 0]
    for j in range(2, m):
        forth[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    back[:, -1] = 0.0
    back[:, -2] = a3 * image[:, -1]
    for j in range(m - 3, -1, -1):
        back[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    middle = forth + back
    forth[0, :] = a1 * middle[0, :]
    forth[1, :] = a1 * middle[1, :] + a2 * middle[0, :] + b1 * forth[0, :]
    for i in range(2, n):
        forth[i, :] = a1 * middle[i, :] + a2 * middle[i - 1, :] + b1 * forth[i - 1, :] + b2 * forth[i - 2, :]
    back[-1, :] = 0.0
    back[-2, :] = a3 * middle[-1, :]
    for i in range(n - 3, -1, -1):
        back[i, :] = a3 * middle[i + 1, :] + a4 * middle[i + 2, :] + b1 * back[i + 1, :] + b2 * back[i + 2, :]
    return forth + back


def pressure_source(b, rho, dt, u, v, dx, dy):
    """The right side of the pressure equation in the inner points."""
    ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)
    uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dy)
    vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx)
    vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy)
    b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux**2 - 2.0 * uy * vx - vy**2)


def relax_pressure(p, b, dx, dy, turns):
    """Poisson's equation by Jacobi's iteration; the lid is at pressure zero, no flow through the walls."""
    for _ in range(turns):
        old = p.copy()
        p[1:-1, 1:-1] = (
            (old[1:-1, 2:] + old[1:-1, :-2]) * dy**2
            + (old[2:, 1:-1] + old[:-2, 1:-1]) * dx**2
            - dx**2 * dy**2 * b[1:-1, 1:-1]
        ) / (2.0 * (dx**2 + dy**2))
        p[:, -1] = p[:, -2]
        p[:, 0] = p[:, 1]
        p[0, :] = p[1, :]
        p[-1, :] = 0.0


@kernel(
    "arrays",
    lambda n, steps: (steps, 10, np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), 1.0, 0.1, 0.001),
    size=(61, 40),
    tiny=(7, 3),
)
def cavity_flow(steps, turns, u, v, p, rho, nu, dt):
    """The Navier-Stokes equations in a box whose lid slides."""
    n, m = u.shape
    dx, dy = 2.0 / (m - 1), 2.0 / (n - 1)
    b = np.zeros_like(u)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        pressure_source(b, rho, dt, u, v, dx, dy)
        relax_pressure(p, b, dx, dy, turns)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2.0 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2.0 * un[1:-1, 1:-1] + un[1:-1, :-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2.0 * un[1:-1, 1:-1] + un[:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2.0 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2.0 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2.0 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
        )
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0


@kernel("arrays", lambda n: (np.zeros((n, 2 * n)), 1.0, 0.1, 0.01, 1e-3), size=(31,), tiny=(5,))
def channel_flow(u, force, nu, dt, enough):
    """The flow between two plates, periodic along them, until it hardly changes."""
    n, m = u.shape
    dx, dy = 2.0 / (m - 1), 2.0 / (n - 1)
    change = 1.0
    steps = 0
    while change > enough and steps < 2000:
        un = u.copy()
        right = np.roll(un, -1, axis=1)
        left = np.roll(un, 1, axis=1)
        u[1:-1, :] = (
            un[1:-1, :]
            + dt * force
            - dt / dx * un[1:-1, :] * (un[1:-1, :] - left[1:-1, :])
            + nu * dt / dx**2 * (right[1:-1, :] - 2.0 * un[1:-1, :] + left[1:-1, :]) * 0.1
            + nu * dt / dy**2 * (un[2:, :] - 2.0 * un[1:-1, :] + un[:-2, :])
        )
        u[0, :] = 0.0
        u[-1, :] = 0.0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


@kernel("arrays", lambda n, steps: (uniform(n, n) < 0.4, steps), size=(200, 30), tiny=(6, 3))
def game_of_life(alive, steps):
    """Conway's game on a torus."""
    for _ in range(steps):
        neighbours = np.zeros(alive.shape, dtype=np.int64)
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                if i != 0 or j != 0:
                    neighbours += np.roll(np.roll(alive, i, axis=0), j, axis=1)
        alive = (neighbours == 3) | (alive & (neighbours == 2))
    return alive
