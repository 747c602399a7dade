"""Factorisations and iterative solvers."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from tests.algorithms.sample import normal, sample


def spd(n, seed=0):
    a = normal(n, n, seed=seed)
    return a @ a.T + n * np.eye(n)


def dominant(n, seed=0):
    return normal(n, n, seed=seed) + 8 * np.eye(n)


@sample(
    lambda: (normal(4, 4),),
    lambda: (normal(5, 5, seed=2),),
    lambda: (np.array([[1, 2], [3, 4]]),),
    lambda: (np.zeros((2, 2)),),
)
def lu(a):
    """LU decomposition with partial pivoting."""
    a = a.astype(float)
    n = a.shape[0]
    order = np.arange(n)
    for k in range(n):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if a[pivot, k] == 0:
            raise ZeroDivisionError(f"singular at {k}")
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return order, np.tril(a, -1) + np.eye(n), np.triu(a)


@sample(lambda: (spd(4),), lambda: (spd(3, seed=1),), lambda: (-np.eye(3),))
def cholesky(a):
    """The lower factor, element by element."""
    n = len(a)
    lower = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - lower[i, :j] @ lower[j, :j]
            if i == j:
                if s <= 0:
                    raise ValueError("not positive definite: pivot %d is %r" % (i, s))
                lower[i, i] = np.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    return lower


@sample(lambda: (normal(5, 3),), lambda: (normal(4, 4),), lambda: (normal(6, 2),))
def householder_qr(a):
    """QR decomposition by reflections."""
    m, n = a.shape
    q = np.eye(m)
    r = a.copy()
    for j in range(min(m - 1, n)):
        x = r[j:, j]
        sign = -np.sign(x[0]) if x[0] != 0 else -1.0
        v = x.copy()
        v[0] -= sign * np.linalg.norm(x)
        length = np.linalg.norm(v)
        if length < 1e-12:
            continue
        v /= length
        r[j:] -= 2 * np.outer(v, v @ r[j:])
        q[:, j:] -= 2 * np.outer(q[:, j:] @ v, v)
    return q, r


@sample(
    lambda: (dominant(4), normal(4), 1e-8),
    lambda: (dominant(3), normal(3), 1e-3),
    lambda: (normal(3, 3), normal(3), 1e-9),
)
def gauss_seidel(a, b, tolerance):
    """Iterates until the largest change is small; the last input does not converge."""
    x = np.zeros_like(b)
    for step in range(100):
        old = x.copy()
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ old[i + 1 :]) / a[i, i]
        if np.abs(x - old).max() < tolerance:
            break
    else:
        raise RuntimeError("no convergence")
    return x, step


@sample(lambda: (dominant(4), normal(4), 1.1), lambda: (dominant(3), normal(3), 0.9))
def successive_over_relaxation(a, b, omega):
    """SOR with two loops over scalars, and the residuals as a list of floats."""
    x = np.zeros(len(b))
    residuals = []
    for _ in range(50):
        for i in range(len(b)):
            sigma = 0.0
            for j in range(len(b)):
                if j != i:
                    sigma += a[i][j] * x[j]
            x[i] = (1 - omega) * x[i] + omega / a[i][i] * (b[i] - sigma)
        residuals.append(float(np.linalg.norm(a @ x - b)))
        if residuals[-1] < 1e-10:
            return x, residuals
    return x, residuals


@sample(lambda: (dominant(4), normal(4)), lambda: (dominant(3), normal(3)))
def jacobi(a, b):
    """Splits off the diagonal; `while True` with a return inside."""
    diagonal = np.diag(a)
    rest = a - np.diagflat(diagonal)
    x = np.zeros_like(b)
    count = 0
    while True:
        y = (b - rest @ x) / diagonal
        count += 1
        if np.allclose(x, y, rtol=1e-8):
            return y, count
        x = y


@sample(lambda: (spd(4), normal(4)), lambda: (spd(3), normal(3)))
def conjugate_gradient(a, b):
    """The residual and the direction are one array in the first step."""
    x = np.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    count = 0
    while np.sqrt(rs) > 1e-10 and count < 2 * len(b):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + new / rs * p
        rs = new
        count += 1
    return x, count


@sample(lambda: (spd(4),), lambda: (spd(3),))
def power_iteration(a):
    """The largest eigenvalue; it is None before the first step."""
    v = np.ones(a.shape[0])
    value = None
    for _ in range(1000):
        w = a @ v
        length = np.linalg.norm(w)
        v = w / length
        if value is not None and abs(length - value) < 1e-9 * length:
            break
        value = length
    return length, v


@sample(
    lambda: (np.array([1.0, 2, 3, 4]), np.array([0, 2, 1, 2]), np.array([0, 2, 3, 4]), normal(3)),
    lambda: (np.array([1.0]), np.array([0]), np.array([0, 0, 1]), normal(2)),
)
def sparse_matrix_vector(data, columns, starts, x):
    """Rows of a CSR matrix, by index and by slices."""
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        for k in range(starts[i], starts[i + 1]):
            y[i] += data[k] * x[columns[k]]
    z = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        part = slice(starts[i], starts[i + 1])
        z[i] = data[part] @ x[columns[part]]
    return y, z
