"""Neural networks written out in NumPy: layers, whole forward passes, a training loop with its gradients."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from benchmarks.kernels.kernel import kernel, normal


def floats(*shape, seed=0):
    """Single precision weights of about the size that keeps signals alive."""
    return (normal(*shape, seed=seed) / np.sqrt(np.prod(shape[:-1]))).astype(np.float32)


def relu(x):
    """The positive part."""
    return np.maximum(x, 0)


def convolve(x, weights):
    """A convolution without padding, one output pixel of all images at a time."""
    k = weights.shape[0]
    n, h, w, _ = x.shape
    out = np.empty((n, h - k + 1, w - k + 1, weights.shape[3]), dtype=np.float32)
    for i in range(h - k + 1):
        for j in range(w - k + 1):
            out[:, i, j, :] = np.sum(
                x[:, i : i + k, j : j + k, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3)
            )
    return out


def pool(x):
    """The largest of each square of four."""
    n, h, w, c = x.shape
    out = np.empty((n, h // 2, w // 2, c), dtype=x.dtype)
    for i in range(h // 2):
        for j in range(w // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


@kernel(
    "arrays",
    lambda n, h, c, k: (normal(n, h, h, c, dtype=np.float32), floats(3, 3, c, k), floats(k)),
    size=(4, 20, 3, 16),
    tiny=(2, 5, 2, 3),
)
def conv2d_bias(x, weights, bias):
    """A convolution and a bias."""
    return convolve(x, weights) + bias


@kernel("arrays", lambda *shape: (normal(*shape, dtype=np.float32),), size=(64, 8, 64, 64), tiny=(2, 2, 3, 4))
def softmax(x):
    """The last axis as probabilities."""
    top = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - top)
    return e / np.sum(e, axis=-1, keepdims=True)


def mlp_inputs(n, a, b, c, d):
    """A batch and three layers."""
    layers = (floats(a, b), floats(b), floats(b, c), floats(c), floats(c, d), floats(d))
    return (normal(n, a, dtype=np.float32), *layers)


@kernel("arrays", mlp_inputs, size=(512, 784, 256, 128, 10), tiny=(3, 5, 4, 3, 2))
def mlp(x, w1, b1, w2, b2, w3, b3):
    """Three dense layers; the last gives probabilities."""
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    x = x @ w3 + b3
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def lenet_inputs(n, h):
    """A batch of square images and LeNet's ten arrays."""
    after = ((h - 4) // 2 - 4) // 2
    layers = [
        (5, 5, 1, 6),
        (6,),
        (5, 5, 6, 16),
        (16,),
        (16 * after * after, 120),
        (120,),
        (120, 84),
        (84,),
        (84, 10),
        (10,),
    ]
    return (normal(n, h, h, 1, dtype=np.float32), *(floats(*shape, seed=i) for i, shape in enumerate(layers)))


@kernel("arrays", lenet_inputs, size=(8, 28), tiny=(1, 16))
def lenet(x, conv1, bias1, conv2, bias2, w3, b3, w4, b4, w5, b5):
    """LeNet-5: two convolutions with pooling, three dense layers."""
    x = pool(relu(convolve(x, conv1) + bias1))
    x = pool(relu(convolve(x, conv2) + bias2))
    x = np.reshape(x, (x.shape[0], -1))
    x = relu(x @ w3 + b3)
    x = relu(x @ w4 + b4)
    return x @ w5 + b5


@kernel(
    "arrays",
    lambda n, h, c: (
        normal(n, h, h, c, dtype=np.float32),
        floats(c, c),
        floats(3, 3, c, c),
        floats(c, c, seed=1),
    ),
    size=(4, 16, 8),
    tiny=(1, 5, 2),
)
def residual_block(x, w1, w2, w3):
    """A bottleneck of three convolutions with normalisation, and the way around it."""
    n, h, w, c = x.shape
    y = relu(normalise(x @ w1))
    padded = np.zeros((n, h + 2, w + 2, c), dtype=np.float32)
    padded[:, 1:-1, 1:-1, :] = y
    y = relu(normalise(convolve(padded, w2)))
    return relu(normalise(y @ w3) + x)


def normalise(x):
    """Zero mean and unit variance over the batch."""
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + 1e-5)


@kernel(
    "arrays",
    lambda steps, n, a, h: (
        normal(steps, n, a, dtype=np.float32),
        floats(a, 4 * h),
        floats(h, 4 * h),
        floats(4 * h),
    ),
    size=(60, 16, 64, 64),
    tiny=(3, 2, 3, 2),
)
def lstm(x, wx, wh, b):
    """A layer of LSTM cells over a batch of sequences."""
    h = np.zeros((x.shape[1], wh.shape[0]), dtype=np.float32)
    c = np.zeros_like(h)
    m = wh.shape[0]
    outputs = np.zeros((x.shape[0], x.shape[1], m), dtype=np.float32)
    for t in range(x.shape[0]):
        z = x[t] @ wx + h @ wh + b
        i = 1 / (1 + np.exp(-z[:, :m]))
        f = 1 / (1 + np.exp(-z[:, m : 2 * m]))
        o = 1 / (1 + np.exp(-z[:, 2 * m : 3 * m]))
        c = f * c + i * np.tanh(z[:, 3 * m :])
        h = o * np.tanh(c)
        outputs[t] = h
    return outputs


@kernel(
    "arrays",
    lambda n, m, steps: (normal(n, m), (normal(n, seed=1) > 0).astype(np.float64), steps, 0.1),
    size=(500, 20, 200),
    tiny=(8, 3, 4),
)
def logistic_regression(x, y, steps, rate):
    """Weights by gradient descent, and the loss of every step."""
    w = np.zeros(x.shape[1])
    losses = np.zeros(steps)
    for i in range(steps):
        p = 1.0 / (1.0 + np.exp(-(x @ w)))
        losses[i] = -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))
        w -= rate * (x.T @ (p - y)) / len(y)
    return w, losses
