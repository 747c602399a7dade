"""The heat equation on a rod: explicit steps until the end time, checked against the exact solution.

Views of one array on both sides of an in-place update, and an assertion that is part of the graph.
"""

import math

import numpy as np

import autograph as ag


@ag.to_graph
def diffuse(u, dx, dt, end):
    """Steps `u` in place to the time `end`; the ends of the rod keep their temperature."""
    ratio = dt / (dx * dx)
    assert ratio <= 0.5, f"the step is too long to be stable: {ratio:.2f} > 0.5"
    inner = u[1:-1]
    time = 0.0
    steps = 0
    while time < end - 1e-12:
        inner += ratio * (u[2:] - 2.0 * inner + u[:-2])
        time += dt
        steps += 1
    return steps


def main():
    n, dt, end = 33, 4e-4, 0.1
    x = np.linspace(0.0, 1.0, n)
    dx = 1.0 / (n - 1)
    rods = [np.sin(math.pi * x) for _ in range(3)]

    steps = diffuse(rods[0], dx, dt, end)
    with ag.eager():
        assert diffuse(rods[1], dx, dt, end) == steps
    assert diffuse.python_function(rods[2], dx, dt, end) == steps
    np.testing.assert_array_equal(rods[0], rods[2])
    np.testing.assert_array_equal(rods[1], rods[2])

    exact = math.exp(-(math.pi**2) * end) * np.sin(math.pi * x)
    error = np.max(np.abs(rods[0] - exact))
    assert error < 1e-3
    print(f"{steps} steps, middle at {rods[0][n // 2]:.4f}, largest error {error:.1e}")

    try:
        diffuse(rods[0], dx, 1e-3, end)
    except AssertionError as refused:
        print(f"refused: {refused}")
        assert str(refused) == "the step is too long to be stable: 1.02 > 0.5"
    else:
        raise AssertionError("the staged assertion did not fail")


if __name__ == "__main__":
    main()
