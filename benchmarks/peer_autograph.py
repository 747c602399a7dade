"""This project's entry among the peers: each workload as plain NumPy Python under one decorator, no hints.

`WORKLOADS` has a factory for each workload that the peers are measured on. A factory makes the inputs,
decorates, and returns what does one unit; its inputs are arguments at run time, so no answer can be computed
beforehand. The module is loaded beside the peers' own (see run_workloads.py), where `data` makes the inputs.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import data as D
import numpy as np

import autograph as ag

NAME = "autograph"
CANNOT = dict.fromkeys(("lenet_grad", "compile_rnn_train"), "gradients of graphs are not there yet")

Inputs = dict[str, Any]
Unit = Callable[[], Any]
Factory = Callable[[Inputs], Unit]

WORKLOADS: dict[str, Callable[[], Unit]] = {}
MASKED: dict[str, Callable[[], Unit]] = {}  # other forms of workloads that are above too


def workload(*names: str, table: dict[str, Callable[[], Unit]] = WORKLOADS) -> Callable[[Factory], Factory]:
    """Enters a factory under the names of its workloads."""

    def add(make: Factory) -> Factory:
        for name in names:
            table[name] = lambda name=name: make(D.inputs(name))
        return make

    return add


@workload("collatz", "collatz_1k")
def collatz(d: Inputs) -> Unit:
    @ag.to_graph
    def longest(end):
        best = 0
        arg = 1
        for i in range(1, end):
            n = i
            c = 0
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                c += 1
            if c > best:
                best = c
                arg = i
        return np.array([best, arg], np.int64)

    return lambda: longest(d["n"])


@workload("collatz_single")
def collatz_single(d: Inputs) -> Unit:
    @ag.to_graph
    def steps(n):
        c = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            c += 1
        return c

    n = d["n"]
    return lambda: steps(n)


@workload("newton", "newton_10k")
def newton(d: Inputs) -> Unit:
    @ag.to_graph
    def roots(count, tol):
        s = 0.0
        c = 0
        for i in range(1, count + 1):
            a = float(i)
            x = 1.0
            e = 1.0
            while e > tol * x:
                y = 0.5 * (x + a / x)
                e = abs(y - x)
                x = y
                c += 1
            s += x
        return np.array([s, c], np.float64)

    return lambda: roots(d["n"], d["tol"])


@workload("rnn_64_32", "rnn_64_64", "rnn_64_128", "rnn_128_32", "rnn_128_64", "rnn_128_128")
def rnn(d: Inputs) -> Unit:
    @ag.to_graph
    def dynamic_rnn(x, lens, wx, wh, b):
        steps = x.transpose(1, 0, 2)
        state = np.zeros((x.shape[0], b.shape[0]), np.float32)
        outs = []
        for i in range(lens.max()):
            new = np.tanh(steps[i] @ wx + state @ wh + b)
            valid = (i < lens)[:, None]
            outs.append(np.where(valid, new, np.float32(0)))
            state = np.where(valid, new, state)
        return np.concatenate([np.stack(outs).transpose(1, 0, 2), state[:, None]], 1)

    return lambda: dynamic_rnn(d["x"], d["lens"], d["Wx"], d["Wh"], d["b"])


@workload("mnist_linear_train")
def mnist_linear_train(d: Inputs) -> Unit:
    @ag.to_graph
    def train(x, onehot, w, b, batch, steps, lr):
        w = w.copy()
        b = b.copy()
        batches = len(x) // batch
        loss = np.float32(0)
        for i in range(steps):
            j = (i % batches) * batch
            xb = x[j : j + batch]
            yb = onehot[j : j + batch]
            z = xb @ w + b
            z = z - z.max(1, keepdims=True)
            e = np.exp(z)
            s = e.sum(1, keepdims=True)
            loss = np.mean(np.log(s[:, 0]) - (z * yb).sum(1))
            g = (e / s - yb) / np.float32(batch)
            w -= lr * (xb.T @ g)
            b -= lr * g.sum(0)
        return np.concatenate([w.ravel(), b, np.array([loss])])

    args = [d["x"], d["onehot"], d["W"], d["b"], d["batch"], d["steps"], np.float32(d["lr"])]
    return lambda: train(*args)


@workload("mlp_train")
def mlp_train(d: Inputs) -> Unit:
    @ag.to_graph
    def train(x, onehot, params, batch, steps, lr, b1, b2, eps):
        f32 = np.float32
        p = [q.copy() for q in params]
        m = [np.zeros_like(q) for q in params]
        v = [np.zeros_like(q) for q in params]
        batches = len(x) // batch
        loss = f32(0)
        for t in range(steps):
            j = (t % batches) * batch
            xb = x[j : j + batch]
            yb = onehot[j : j + batch]
            h1 = np.maximum(xb @ p[0] + p[1], 0)
            h2 = np.maximum(h1 @ p[2] + p[3], 0)
            z = h2 @ p[4] + p[5]
            z = z - z.max(1, keepdims=True)
            e = np.exp(z)
            s = e.sum(1, keepdims=True)
            loss = np.mean(np.log(s[:, 0]) - (z * yb).sum(1))
            g = (e / s - yb) / f32(batch)
            g4, g5 = h2.T @ g, g.sum(0)
            g = (g @ p[4].T) * (h2 > 0)
            g2, g3 = h1.T @ g, g.sum(0)
            g = (g @ p[2].T) * (h1 > 0)
            gradients = [xb.T @ g, g.sum(0), g2, g3, g4, g5]
            rate = f32(lr * np.sqrt(1 - b2 ** (t + 1)) / (1 - b1 ** (t + 1)))
            for pk, mk, vk, gk in zip(p, m, v, gradients):
                mk *= f32(b1)
                mk += f32(1 - b1) * gk
                vk *= f32(b2)
                vk += f32(1 - b2) * gk * gk
                pk -= rate * mk / (np.sqrt(vk) + f32(eps))
        norms = [np.sqrt((q.astype(np.float64) ** 2).sum()) for q in p]
        return np.array([loss, *norms], np.float64)

    args = [d[k] for k in ("x", "onehot", "params", "batch", "steps", "lr", "b1", "b2", "eps")]
    return lambda: train(*args)


@workload("dispatch", "dispatch_np")
def dispatch(d: Inputs) -> Unit:
    @ag.to_graph
    def affine(x):
        return x * 2 + 1

    x = d["x"]
    return lambda: affine(x)


@workload("eager_add")
def eager_add(d: Inputs) -> Unit:
    @ag.to_graph
    def add(x, y):
        return x + y

    x, y = d["x"], d["y"]
    return lambda: add.eager(x, y)


@workload("elementwise")
def elementwise(d: Inputs) -> Unit:
    @ag.to_graph
    def chain(x):
        return np.tanh(x * 0.5 + 0.1) * np.exp(-x * x) + 0.3 * x / (1 + np.abs(x))

    return lambda: chain(d["x"])


@workload("blackscholes")
def blackscholes(d: Inputs) -> Unit:
    def normal_distribution(x):
        k = 1 / (1 + 0.2316419 * np.abs(x))
        p = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        c = 1 - 0.39894228 * np.exp(-0.5 * x * x) * p
        return np.where(x > 0, c, 1 - c)

    @ag.to_graph
    def call_price(s, k, t, r, vol):
        deviation = vol * np.sqrt(t)
        d1 = (np.log(s / k) + (r + vol * vol * 0.5) * t) / deviation
        d2 = d1 - deviation
        return s * normal_distribution(d1) - k * np.exp(-r * t) * normal_distribution(d2)

    return lambda: call_price(d["S"], d["K"], d["T"], d["r"], d["vol"])


@workload("ema", "ema_10k")
def ema(d: Inputs) -> Unit:
    @ag.to_graph
    def smooth(x, a):
        out = np.empty_like(x)
        s = 0.0
        for i in range(len(x)):
            s = a * x[i] + (1 - a) * s
            out[i] = s
        return out

    return lambda: smooth(d["x"], d["alpha"])


@workload("nbody", "nbody_2k")
def nbody(d: Inputs) -> Unit:
    @ag.to_graph
    def advance(p, v, m, dt, steps):
        p = p.copy()
        v = v.copy()
        n = len(m)
        for _ in range(steps):
            for i in range(n):
                for j in range(i + 1, n):
                    dx = p[i, 0] - p[j, 0]
                    dy = p[i, 1] - p[j, 1]
                    dz = p[i, 2] - p[j, 2]
                    r2 = dx * dx + dy * dy + dz * dz
                    mag = dt / (r2 * np.sqrt(r2))
                    a = m[j] * mag
                    b = m[i] * mag
                    v[i, 0] -= dx * a
                    v[i, 1] -= dy * a
                    v[i, 2] -= dz * a
                    v[j, 0] += dx * b
                    v[j, 1] += dy * b
                    v[j, 2] += dz * b
            for i in range(n):
                for k in range(3):
                    p[i, k] += dt * v[i, k]
        return np.concatenate([p, v])

    return lambda: advance(d["pos"], d["vel"], d["mass"], d["dt"], d["steps"])


@workload("lorenz", "lorenz_10k")
def lorenz(d: Inputs) -> Unit:
    def slope(u, s, r, b):
        return np.array([s * (u[1] - u[0]), u[0] * (r - u[2]) - u[1], u[0] * u[1] - b * u[2]])

    @ag.to_graph
    def integrate(u, s, r, b, dt, steps):
        for _ in range(steps):
            k1 = slope(u, s, r, b)
            k2 = slope(u + 0.5 * dt * k1, s, r, b)
            k3 = slope(u + 0.5 * dt * k2, s, r, b)
            k4 = slope(u + dt * k3, s, r, b)
            u = u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return u

    return lambda: integrate(d["state"], d["sigma"], d["rho"], d["beta"], d["dt"], d["steps"])


@workload("mandelbrot")
def mandelbrot(d: Inputs) -> Unit:
    @ag.to_graph
    def counts(re, im, limit):
        out = np.empty((len(im), len(re)), np.int32)
        for y in range(len(im)):
            for x in range(len(re)):
                a = 0.0
                b = 0.0
                n = 0
                while n < limit:
                    a, b = a * a - b * b + re[x], 2 * a * b + im[y]
                    if a * a + b * b > 4:
                        break
                    n += 1
                out[y, x] = n
        return out

    return lambda: counts(d["re"], d["im"], d["max_iter"])


@workload("mandelbrot", table=MASKED)
def mandelbrot_masked(d: Inputs) -> Unit:
    @ag.to_graph
    def counts(re, im, limit):
        cr, ci = np.meshgrid(re, im)
        zr = np.zeros_like(cr)
        zi = np.zeros_like(ci)
        n = np.zeros(cr.shape, np.int32)
        active = np.ones(cr.shape, bool)
        i = 0
        while i < limit and active.any():
            t = zr * zr - zi * zi + cr
            u = 2 * zr * zi + ci
            zr = np.where(active, t, zr)
            zi = np.where(active, u, zi)
            active = active & (zr * zr + zi * zi <= 4.0)
            n += active
            i += 1
        return n

    return lambda: counts(d["re"], d["im"], d["max_iter"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@workload("treelstm_rec")
def treelstm_rec(d: Inputs) -> Unit:
    @ag.to_graph
    def forward(left, right, word, x, wl, bl, wn, bn, roots):
        h = x.shape[1]

        def node(k):
            if left[k] < 0:
                z = x[word[k]] @ wl + bl
                c = sigmoid(z[:h]) * np.tanh(z[2 * h :])
                return sigmoid(z[h : 2 * h]) * np.tanh(c), c
            hl, cl = node(left[k])
            hr, cr = node(right[k])
            z = np.concatenate([hl, hr]) @ wn + bn
            c = (
                sigmoid(z[:h]) * np.tanh(z[4 * h :])
                + sigmoid(z[h : 2 * h]) * cl
                + sigmoid(z[2 * h : 3 * h]) * cr
            )
            return sigmoid(z[3 * h : 4 * h]) * np.tanh(c), c

        return np.stack([node(k)[0] for k in roots])

    args = [d[k] for k in ("left", "right", "word", "x", "Wl", "bl", "Wn", "bn", "roots")]
    return lambda: forward(*args)


@workload("treelstm_batched")
def treelstm_batched(d: Inputs) -> Unit:
    @ag.to_graph
    def forward(leaf_words, leaves, levels, x, wl, bl, wn, bn, nodes, roots):
        h = x.shape[1]
        hidden = np.zeros((nodes, h), np.float32)
        cell = np.zeros((nodes, h), np.float32)
        z = x[leaf_words] @ wl + bl
        c = sigmoid(z[:, :h]) * np.tanh(z[:, 2 * h :])
        hidden[leaves] = sigmoid(z[:, h : 2 * h]) * np.tanh(c)
        cell[leaves] = c
        for ids, lower, upper in levels:
            z = np.concatenate([hidden[lower], hidden[upper]], 1) @ wn + bn
            c = (
                sigmoid(z[:, :h]) * np.tanh(z[:, 4 * h :])
                + sigmoid(z[:, h : 2 * h]) * cell[lower]
                + sigmoid(z[:, 2 * h : 3 * h]) * cell[upper]
            )
            hidden[ids] = sigmoid(z[:, 3 * h : 4 * h]) * np.tanh(c)
            cell[ids] = c
        return hidden[roots]

    leaves, levels = D.tree_levels(d)
    weights = [d[k] for k in ("x", "Wl", "bl", "Wn", "bn")]
    args = [d["word"][leaves], leaves, levels, *weights, len(d["left"]), d["roots"]]
    return lambda: forward(*args)


@workload("matmul_chain")
def matmul_chain(d: Inputs) -> Unit:
    @ag.to_graph
    def two_layers(a, b, bias, c):
        return np.maximum(a @ b + bias, 0) @ c

    return lambda: two_layers(d["A"], d["B"], d["b"], d["C"])


@workload("softmax")
def softmax(d: Inputs) -> Unit:
    @ag.to_graph
    def probabilities(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return lambda: probabilities(d["x"])


@workload("layernorm")
def layernorm(d: Inputs) -> Unit:
    @ag.to_graph
    def normalise(x, g, b, eps):
        c = x - x.mean(-1, keepdims=True)
        v = (c * c).mean(-1, keepdims=True)
        return c / np.sqrt(v + eps) * g + b

    return lambda: normalise(d["x"], d["g"], d["b"], d["eps"])


@workload("conv2d")
def conv2d(d: Inputs) -> Unit:
    @ag.to_graph
    def convolve(x, w):
        n, height, width, _ = x.shape
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        out = np.zeros((n, height, width, w.shape[3]), np.float32)
        for i in range(3):
            for j in range(3):
                out += padded[:, i : i + height, j : j + width, :] @ w[i, j]
        return out

    return lambda: convolve(d["x"], d["w"])


@workload("compile_500ops")
def compile_500ops(d: Inputs) -> Unit:
    kinds = ["y = y * 1.01", "y = y + x", "y = np.tanh(y)", "y = y - 0.5"]
    lines = ["def chain(x):", "    y = x", *(f"    {kinds[i % 4]}" for i in range(d["n"])), "    return y"]
    text = "\n".join(lines) + "\n"
    linecache.cache["<chain>"] = (len(text), None, text.splitlines(True), "<chain>")
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, "<chain>", "exec"), namespace)
    chain = ag.to_graph(namespace["chain"])
    return lambda: chain(d["x"])


@workload("rosenbrock")
def rosenbrock(d: Inputs) -> Unit:
    @ag.to_graph
    def descend(x, y, lr, steps, gtol):
        i = 0
        g2 = 1.0
        while i < steps and g2 > gtol:
            gx = -2 * (1 - x) - 400 * x * (y - x * x)
            gy = 200 * (y - x * x)
            x = x - lr * gx
            y = y - lr * gy
            g2 = gx * gx + gy * gy
            i += 1
        return np.array([x, y, i], np.float64)

    x, y = (float(value) for value in d["x0"])
    return lambda: descend(x, y, d["lr"], d["steps"], d["gtol"])


@workload("beam_search")
def beam_search(d: Inputs) -> Unit:
    @ag.to_graph
    def decode(emb, wx, wh, bh, wo, bo, beam, steps, init, eos):
        words = len(emb)
        state = np.zeros((beam, len(bh)), np.float32)
        token = np.full(beam, init)
        score = np.full(beam, -1e9, np.float32)
        score[0] = 0
        ended = np.zeros(beam, bool)
        seq = np.zeros((beam, steps), np.int64)
        stay = np.where(np.arange(words) == eos, np.float32(0), np.float32(-1e9))
        i = 0
        while i < steps and not ended.all():
            new = np.tanh(emb[token] @ wx + state @ wh + bh)
            z = new @ wo + bo
            z = z - z.max(1, keepdims=True)
            lp = z - np.log(np.exp(z).sum(1, keepdims=True))
            lp = np.where(ended[:, None], stay, lp)
            flat = (score[:, None] + lp).ravel()
            best = np.argsort(-flat, kind="stable")[:beam]
            parent = best // words
            token = best % words
            score = flat[best]
            state = new[parent]
            ended = ended[parent] | (token == eos)
            seq = seq[parent]
            seq[:, i] = token
            i += 1
        return np.concatenate([seq.astype(np.float32), score[:, None]], 1)

    args = [d[k] for k in ("emb", "Wx", "Wh", "bh", "Wo", "bo", "beam", "steps", "init", "eos")]
    return lambda: decode(*args)
