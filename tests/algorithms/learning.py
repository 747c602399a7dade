"""Clustering, networks, attention and filters of the machine learning kind."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import itertools

import numpy as np

from tests.algorithms.sample import normal, sample


@sample(
    lambda: (normal(20, 2), 3),
    lambda: (normal(15, 3, seed=1), 2),
    lambda: (normal(5, 2).astype(np.float32), 5),
)
def kmeans(points, k):
    """Lloyd's iteration until no label changes."""
    centers = points[:k].copy()
    labels = np.zeros(len(points), dtype=int)
    for step in range(20):
        distances = ((points[:, None, :] - centers[None]) ** 2).sum(axis=2)
        new = distances.argmin(axis=1)
        if (new == labels).all() and step > 0:
            break
        labels = new
        for j in range(k):
            members = points[labels == j]
            if len(members) > 0:
                centers[j] = members.mean(axis=0)
    return centers, labels, step


@sample(lambda: (normal(3, 4),), lambda: (normal(5),), lambda: (normal(2, 3, 2).astype(np.float32),))
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@sample(lambda: (normal(3, 4), normal(4), normal(4)), lambda: (normal(2, 3, 5), normal(5), normal(5)))
def layer_norm(x, scale, shift, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * scale + shift


def _network(sizes, rows):
    weights = [normal(a, b, seed=i) for i, (a, b) in enumerate(itertools.pairwise(sizes))]
    return weights, [np.zeros(b) for b in sizes[1:]], normal(rows, sizes[0]), np.arange(rows) % sizes[-1], 0.1


@sample(lambda: _network((4, 8, 3), 10), lambda: _network((2, 5, 4, 2), 6))
def train_mlp(weights, biases, x, y, rate):
    """A network of any depth, with backpropagation by hand; the lists of arrays are updated in place."""
    losses = []
    for _ in range(5):
        activations = [x]
        h = x
        for i, (w, b) in enumerate(zip(weights, biases)):
            h = h @ w + b
            if i < len(weights) - 1:
                h = np.maximum(h, 0)
            activations.append(h)
        p = np.exp(h - h.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        losses.append(-np.log(p[np.arange(len(y)), y]).mean())
        d = p.copy()
        d[np.arange(len(y)), y] -= 1
        d /= len(y)
        for i in reversed(range(len(weights))):
            dw = activations[i].T @ d
            db = d.sum(0)
            if i > 0:
                d = (d @ weights[i].T) * (activations[i] > 0)
            weights[i] -= rate * dw
            biases[i] -= rate * db
    return losses


@sample(
    lambda: (normal(7, 2, 3), normal(3, 16), normal(4, 16), normal(16)),
    lambda: (normal(2, 3, 3), normal(3, 20), normal(5, 20), normal(20)),
)
def lstm(xs, wx, wh, b):
    """State and output begin as one array."""
    size = wh.shape[0]
    h = c = np.zeros((xs.shape[1], size))
    hs = np.empty((len(xs), xs.shape[1], size))

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    for t, x in enumerate(xs):
        i, f, g, o = np.split(x @ wx + h @ wh + b, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        hs[t] = h
    return hs, c


@sample(
    lambda: (normal(5, 8), normal(8, 8), normal(8, 8), normal(8, 8), 2, True),
    lambda: (normal(3, 6), normal(6, 6), normal(6, 6), normal(6, 6), 3, False),
)
def attention(x, wq, wk, wv, heads, causal):
    """Multi-head attention; the size of a head is computed."""
    n, d = x.shape
    size = d // heads
    q = (x @ wq).reshape(n, heads, size).transpose(1, 0, 2)
    k = (x @ wk).reshape(n, heads, size).transpose(1, 0, 2)
    v = (x @ wv).reshape(n, heads, -1).swapaxes(0, 1)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
    if causal:
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    scores /= scores.sum(-1, keepdims=True)
    return np.einsum("hij,hjd->ihd", scores, v).reshape(n, d)


@sample(lambda: (np.log(np.abs(normal(5, 4))), 2), lambda: (np.log(np.abs(normal(3, 5, seed=3))), 3))
def beam_search(logs, width):
    """The number of beams and the length of the paths grow."""
    steps, words = logs.shape
    scores = np.zeros(1)
    paths = np.zeros((1, 0), dtype=int)
    for t in range(steps):
        total = (scores[:, None] + logs[t]).ravel()
        top = np.argsort(-total, kind="stable")[:width]
        scores = total[top]
        paths = np.hstack([paths[top // words], (top % words)[:, None]])
    return paths, scores


def _hidden(observed):
    transitions = np.array([[0.7, 0.3], [0.4, 0.6]])
    emissions = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    return np.array(observed), transitions, emissions, np.array([0.6, 0.4])


@sample(lambda: _hidden([0, 1, 2, 1]), lambda: _hidden([0]), lambda: _hidden([2, 2]))
def forward_backward(observed, transitions, emissions, start):
    """Lists of arrays that grow at both ends."""
    alpha = [start * emissions[:, observed[0]]]
    for o in observed[1:]:
        alpha.append((alpha[-1] @ transitions) * emissions[:, o])
    beta = [np.ones(len(start))]
    for o in observed[:0:-1]:
        beta.insert(0, transitions @ (emissions[:, o] * beta[0]))
    gamma = np.array(alpha) * np.array(beta)
    return gamma / gamma.sum(1, keepdims=True), alpha[-1].sum()


@sample(
    lambda: (normal(6, 1), np.array([[1.0, 1], [0, 1]]), np.array([[1.0, 0]]), np.eye(2) / 10, np.eye(1) / 2),
    lambda: (normal(3, 2), np.eye(3), normal(2, 3), np.eye(3) / 10, np.eye(2) / 2),
)
def kalman_filter(measured, f, h, q, r):
    n = f.shape[0]
    x = np.zeros(n)
    p = np.eye(n)
    out = []
    for z in measured:
        x = f @ x
        p = f @ p @ f.T + q
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ (z - h @ x)
        p = (np.eye(n) - gain @ h) @ p
        out.append(x.copy())
    return np.array(out), p


@sample(lambda: ((normal(5, 5) > 0).astype(float), 0.85), lambda: ((normal(4, 4) > 1).astype(int), 0.5))
def pagerank(links, damping):
    n = links.shape[0]
    degree = links.sum(axis=1)
    m = np.where(degree[:, None] > 0, links / np.where(degree == 0, 1, degree)[:, None], 1 / n).T
    rank = np.full(n, 1 / n)
    for step in range(100):
        new = damping * m @ rank + (1 - damping) / n
        if np.abs(new - rank).sum() < 1e-10:
            break
        rank = new
    return rank, step
