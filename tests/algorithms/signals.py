"""Transforms, convolutions and images."""

# Plain code, as in a notebook: no annotations.
# mypy: ignore-errors

import numpy as np

from tests.algorithms.sample import normal, sample


@sample(lambda: (normal(8) + 0j,), lambda: (normal(16) + 1j * normal(16),), lambda: (normal(1) + 0j,))
def recursive_fft(x):
    """Calls itself on halves."""
    n = len(x)
    if n == 1:
        return x
    even = recursive_fft(x[::2])
    odd = recursive_fft(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


@sample(lambda: (normal(8) + 0j,), lambda: (normal(16) + 1j * normal(16),), lambda: (normal(1) + 0j,))
def iterative_fft(x):
    """Bit reversal, then butterflies on slices in place."""
    n = len(x)
    bits = n.bit_length() - 1
    out = np.empty(n, dtype=complex)
    for i in range(n):
        r = 0
        for b in range(bits):
            if i >> b & 1:
                r |= 1 << (bits - 1 - b)
        out[r] = x[i]
    size = 2
    while size <= n:
        half = size // 2
        w = np.exp(-2j * np.pi * np.arange(half) / size)
        for s in range(0, n, size):
            a = out[s : s + half].copy()
            b = out[s + half : s + size] * w
            out[s : s + half] = a + b
            out[s + half : s + size] = a - b
        size *= 2
    return out


@sample(
    lambda: (normal(6, 6), normal(3, 3)),
    lambda: (normal(5, 7), normal(2, 3)),
    lambda: (normal(2, 2), normal(3, 3)),
)
def convolve2d(image, kernel):
    """The kernel may be larger than the image."""
    h, w = kernel.shape
    rows, columns = image.shape[0] - h + 1, image.shape[1] - w + 1
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = np.sum(image[i : i + h, j : j + w] * kernel)
    return out


@sample(
    lambda: (normal(2, 3, 6, 6), normal(4, 3, 3, 3), normal(4), 1, 1),
    lambda: (normal(1, 2, 5, 5), normal(2, 2, 2, 2), normal(2), 2, 0),
)
def convolution_layer(x, w, b, stride, pad):
    """A layer of a network by unfolding (im2col)."""
    n, c, h, wd = x.shape
    f, _, kh, kw = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    oh = (h + 2 * pad - kh) // stride + 1
    ow = (wd + 2 * pad - kw) // stride + 1
    cols = np.empty((n, c, kh, kw, oh, ow))
    for i in range(kh):
        for j in range(kw):
            cols[:, :, i, j] = padded[:, :, i : i + stride * oh : stride, j : j + stride * ow : stride]
    cols = cols.transpose(0, 4, 5, 1, 2, 3).reshape(n * oh * ow, -1)
    y = cols @ w.reshape(f, -1).T + b
    return y.reshape(n, oh, ow, f).transpose(0, 3, 1, 2)


def _image(*shape):
    return (normal(*shape) * 50 + 128).clip(0, 255).astype(np.uint8)


@sample(lambda: (_image(5, 6),), lambda: (np.full((3, 3), 7, np.uint8),), lambda: (_image(2, 2),))
def equalise_histogram(image):
    """A table of 256 grey values, looked up; an even image is returned as it is."""
    histogram = np.bincount(image.ravel(), minlength=256)
    cdf = histogram.cumsum()
    low = cdf[cdf > 0].min()
    if cdf[-1] == low:
        return image
    table = np.round((cdf - low) / (cdf[-1] - low) * 255).clip(0, 255).astype(np.uint8)
    return table[image]


@sample(lambda: (_image(5, 6),), lambda: (normal(4, 4),))
def sobel_edges(image):
    p = np.pad(image.astype(float), 1, mode="edge")
    gx = p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:] - p[:-2, :-2] - 2 * p[1:-1, :-2] - p[2:, :-2]
    down = p[2:] - p[:-2]
    gy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    magnitude = np.hypot(gx, gy)
    return (magnitude / magnitude.max() * 255).astype(np.uint8), np.arctan2(gy, gx)


@sample(lambda: (_image(5, 6),), lambda: (normal(4, 4),))
def median_filter(image):
    """Windows that are cut off at the borders."""
    out = image.copy()
    for (i, j), _ in np.ndenumerate(image):
        window = image[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]
        out[i, j] = np.median(window)
    return out
