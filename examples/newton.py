"""Newton's method: a root of any function, with a staged failure when it does not converge.

The function and its derivative are arguments: each pair gets a graph of its own. The loop returns from
inside, and an exception of the user's own class leaves the graph with its message.
"""

import math

import autograph as ag


class NoConvergence(ArithmeticError):
    """The iteration ended without a root."""


@ag.to_graph
def newton(function, derivative, x, tolerance=1e-12):
    """A root of `function` near `x`, and the number of turns it took."""
    for turn in range(50):
        value = function(x)
        if abs(value) < tolerance:
            return x, turn
        slope = derivative(x)
        if slope == 0.0:
            raise NoConvergence(f"flat at x = {x:.3f} after {turn} turns")
        x = x - value / slope
    raise NoConvergence(f"still {value:.3g} after {turn + 1} turns")


def cubic(x):
    return x**3 - 2.0 * x - 5.0


def cubic_slope(x):
    return 3.0 * x**2 - 2.0


def kepler(x):
    """Kepler's equation for eccentricity 0.3 and mean anomaly 1."""
    return x - 0.3 * math.sin(x) - 1.0


def kepler_slope(x):
    return 1.0 - 0.3 * math.cos(x)


def no_root(x):
    return x * x + 1.0


def no_root_slope(x):
    return 2.0 * x


def main():
    for name, function, slope, start in (
        ("Wallis' cubic", cubic, cubic_slope, 2.0),
        ("Kepler's equation", kepler, kepler_slope, 1.0),
    ):
        root, turns = newton(function, slope, start)
        with ag.eager():
            assert newton(function, slope, start) == (root, turns)
        assert newton.python_function(function, slope, start) == (root, turns)
        assert abs(function(root)) < 1e-12
        print(f"{name}: x = {root:.12f} in {turns} turns")

    for start in (0.0, 0.7):
        messages = []
        for run in (newton, newton.eager, newton.python_function):
            try:
                run(no_root, no_root_slope, start)
            except NoConvergence as error:
                messages.append(str(error))
        assert len(messages) == 3 and len(set(messages)) == 1, messages
        print(f"x² + 1 from {start}: {messages[0]}")


if __name__ == "__main__":
    main()
