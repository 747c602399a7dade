"""Dense linear algebra: factorisations, systems, products, statistics; slices and dots inside loops."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from benchmarks.kernels.kernel import kernel, normal, uniform


def spd(n):
    """A symmetric positive definite matrix."""
    a = normal(n, n)
    return a @ a.T / n + np.eye(n)


def dominant(n):
    """A matrix that needs no pivoting."""
    return normal(n, n) + 2 * n * np.eye(n)


def autocorrelation(n):
    """The lags 1 to n of a signal, over its power: what a stable Levinson recursion starts from."""
    x = normal(2 * n) + 0.5 * normal(2 * n, seed=1).cumsum() / np.sqrt(n)
    lags = np.array([x[: len(x) - k] @ x[k:] for k in range(n + 1)])
    return lags[1:] / (1.01 * lags[0])


@kernel("arrays", lambda n: (spd(n),), size=(120,), tiny=(7,))
def cholesky(a):
    """The lower triangular factor, in place of the lower triangle."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])


@kernel("loops", lambda n: (spd(n),), size=(60,), tiny=(6,))
def cholesky_loops(a):
    """The same, element by element."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


@kernel("arrays", lambda n: (autocorrelation(n),), size=(1200,), tiny=(8,))
def durbin(r):
    """The Yule-Walker equations of a Toeplitz matrix, by Levinson and Durbin's recursion."""
    n = len(r)
    y = np.zeros_like(r)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@kernel("arrays", lambda n: (np.tril(dominant(n)), normal(n)), size=(2000,), tiny=(6,))
def trisolv(lower, b):
    """Forward substitution."""
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


@kernel("arrays", lambda n: (dominant(n),), size=(130,), tiny=(6,))
def lu(a):
    """The factors without pivoting, in place; every element is one dot."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


@kernel("loops", lambda n: (dominant(n),), size=(50,), tiny=(5,))
def lu_loops(a):
    """Gaussian elimination, element by element."""
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


@kernel("arrays", lambda n: (dominant(n), normal(n)), size=(110,), tiny=(6,))
def ludcmp(a, b):
    """A linear system by its factors and two substitutions."""
    n = a.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


@kernel("arrays", lambda n, m: (1.5, 1.2, normal(n, n), normal(n, m)), size=(70, 60), tiny=(6, 4))
def syrk(alpha, beta, c, a):
    """A symmetric rank-k update of the lower triangle."""
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


@kernel(
    "arrays",
    lambda n, m: (1.5, 1.2, normal(n, n), normal(n, m), normal(n, m, seed=1)),
    size=(60, 50),
    tiny=(5, 4),
)
def syr2k(alpha, beta, c, a, b):
    """A symmetric rank-2k update of the lower triangle."""
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


@kernel("arrays", lambda m, n: (1.5, normal(m, m), normal(m, n)), size=(100, 120), tiny=(5, 6))
def trmm(alpha, a, b):
    """A product with a unit lower triangular matrix, in place."""
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
    b *= alpha


@kernel(
    "arrays", lambda m, n: (1.5, 1.2, normal(m, n), normal(m, m), normal(m, n)), size=(60, 80), tiny=(5, 6)
)
def symm(alpha, beta, c, a, b):
    """A product with a symmetric matrix of which only the lower triangle is read."""
    m, n = c.shape
    c *= beta
    for i in range(m):
        for j in range(n):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            c[i, j] += alpha * (b[i, j] * a[i, i] + b[:i, j] @ a[i, :i])


@kernel("arrays", lambda m, n: (normal(m, n),), size=(200, 100), tiny=(7, 5))
def gramschmidt(a):
    """Orthonormal columns and the triangular factor, by the modified Gram-Schmidt process."""
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = q[:, k] @ a[:, j]
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


@kernel("arrays", lambda n, m: (normal(n, m),), size=(500, 300), tiny=(8, 5))
def covariance(data):
    """The covariance of the columns, row by row of the upper triangle."""
    n, m = data.shape
    data -= np.sum(data, axis=0) / n
    cov = np.zeros((m, m))
    for i in range(m):
        cov[i, i:] = data[:, i] @ data[:, i:] / (n - 1.0)
        cov[i:, i] = cov[i, i:]
    return cov


@kernel("arrays", lambda n, m: (normal(n, m),), size=(500, 300), tiny=(8, 5))
def correlation(data):
    """The correlation of the columns; a column that hardly varies counts as of unit deviation."""
    n, m = data.shape
    data -= np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data /= np.sqrt(n) * deviation
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i, i + 1 :] = data[:, i] @ data[:, i + 1 :]
        corr[i + 1 :, i] = corr[i, i + 1 :]
    return corr


@kernel("arrays", lambda m, n: (normal(m, n), normal(n)), size=(2000, 2200), tiny=(5, 6))
def atax(a, x):
    """A transposed times A times x."""
    return (a @ x) @ a


@kernel("arrays", lambda m, n: (normal(m, n), normal(n), normal(m)), size=(2000, 2200), tiny=(5, 6))
def bicg(a, p, r):
    """The two products of a step of the biconjugate gradient method."""
    return r @ a, a @ p


@kernel(
    "arrays",
    lambda n: (normal(n), normal(n, seed=1), normal(n, seed=2), normal(n, seed=3), normal(n, n)),
    size=(2000,),
    tiny=(6,),
)
def mvt(x1, x2, y1, y2, a):
    """A product with a matrix and one with its transpose."""
    x1 += a @ y1
    x2 += y2 @ a


@kernel(
    "arrays",
    lambda n: (1.5, 1.2, normal(n, n), *(normal(n, seed=k) for k in range(8))),
    size=(1200,),
    tiny=(6,),
)
def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    """Two outer products and two products with vectors."""
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x


@kernel(
    "arrays", lambda n: (1.5, 1.2, normal(n, n), normal(n, n, seed=1), normal(n)), size=(1500,), tiny=(6,)
)
def gesummv(alpha, beta, a, b, x):
    """The sum of two products with a vector."""
    return alpha * a @ x + beta * b @ x


@kernel(
    "arrays",
    lambda n: (1.5, 1.2, normal(n, n), normal(n, n, seed=1), normal(n, n, seed=2)),
    size=(400,),
    tiny=(5,),
)
def gemm(alpha, beta, c, a, b):
    """A general product of matrices."""
    c[:] = alpha * a @ b + beta * c


@kernel("loops", lambda n: (normal(n, n), normal(n, n, seed=1)), size=(40,), tiny=(4,))
def matmul_loops(a, b):
    """A product of matrices as three loops."""
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            total = 0.0
            for k in range(m):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


@kernel("arrays", lambda r, q, p: (normal(r, q, p), normal(p, p)), size=(120, 100, 80), tiny=(3, 4, 5))
def doitgen(a, c4):
    """A product over the last axis, plane by plane, in place."""
    for r in range(a.shape[0]):
        a[r] = a[r] @ c4


@kernel("loops", lambda n: (spd(n),), size=(14,), tiny=(4,))
def jacobi_eigenvalues(a):
    """The eigenvalues of a symmetric matrix by Jacobi's rotations, sorted."""
    n = a.shape[0]
    for _ in range(50):
        off = 0.0
        for p in range(n):
            for q in range(p + 1, n):
                off += a[p, q] * a[p, q]
        if off < 1e-20:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-30:
                    continue
                theta = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    kp, kq = a[k, p], a[k, q]
                    a[k, p] = c * kp - s * kq
                    a[k, q] = s * kp + c * kq
                for k in range(n):
                    pk, qk = a[p, k], a[q, k]
                    a[p, k] = c * pk - s * qk
                    a[q, k] = s * pk + c * qk
    return np.sort(np.diag(a))


@kernel(
    "arrays",
    lambda steps, n: (
        normal(steps, n // 2),
        np.eye(n) + 0.1 * normal(n, n),
        normal(n // 2, n),
        0.1 * np.eye(n),
        0.5 * np.eye(n // 2),
    ),
    size=(300, 12),
    tiny=(4, 4),
)
def kalman_filter(measured, f, h, q, r):
    """The means of a linear state, with an inverse in every step."""
    n = f.shape[0]
    x = np.zeros(n)
    p = np.eye(n)
    states = np.zeros((len(measured), n))
    for t in range(len(measured)):
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ (measured[t] - h @ x)
        p = (np.eye(n) - gain @ h) @ p
        states[t] = x
    return states


@kernel("arrays", lambda n: (spd(n), uniform(n)), size=(250,), tiny=(5,))
def newton_system(a, b):
    """Solves A x + x**3 = b by Newton's method: a linear system in every step."""
    x = np.zeros_like(b)
    for step in range(50):  # noqa: B007 - read after the loop
        residual = a @ x + x**3 - b
        if np.linalg.norm(residual) < 1e-12:
            break
        x = x - np.linalg.solve(a + np.diag(3.0 * x**2), residual)
    return x, step


@kernel(
    "arrays",
    lambda points, n: (
        np.exp(2j * np.pi * np.arange(points) / points),
        normal(3, n, n) + 0j,
        normal(n, n) + 0j,
    ),
    size=(24, 60),
    tiny=(4, 4),
)
def contour_integral(points, coefficients, y):
    """Two moments of the inverse of a matrix polynomial along a circle: a complex system at every point."""
    n = y.shape[0]
    p0 = np.zeros((n, n), dtype=np.complex128)
    p1 = np.zeros((n, n), dtype=np.complex128)
    for z in points:
        t = np.zeros((n, n), dtype=np.complex128)
        power = 1.0 + 0.0j
        for k in range(len(coefficients)):
            t += power * coefficients[k]
            power *= z
        x = np.linalg.solve(t, y)
        p0 += z * x
        p1 += z * z * x
    return p0, p1


@kernel("arrays", lambda n: (spd(n), normal(n)), size=(1000,), tiny=(6,))
def conjugate_gradient(a, b):
    """A symmetric positive definite system by conjugate gradients."""
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rr = r @ r
    steps = 0
    while np.sqrt(rr) > 1e-10 and steps < 1000:
        ap = a @ p
        alpha = rr / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        new = r @ r
        p = r + (new / rr) * p
        rr = new
        steps += 1
    return x, steps
