"""A function of Python's as a library for C: `python examples/c_library/orbit.py FOLDER` writes it there.

`orbit.c` calls it, and needs no Python:

    python examples/c_library/orbit.py /tmp
    cc -I /tmp examples/c_library/orbit.c /tmp/orbit.o -lm -o /tmp/orbit
    /tmp/orbit
"""

import sys
from pathlib import Path

import numpy as np

import autograph as ag

GRAVITY = 4 * np.pi**2  # astronomical units, years, masses of the Sun


@ag.to_graph
def orbit(place, speed, years, steps):
    """Where a planet is after some years, by leapfrog, and how its energy has changed on the way.

    `place` and `speed` (float64[2]) become those at the end.
    """
    if steps < 1:
        raise ValueError("there must be a step")
    dt = years / steps
    path = np.zeros((steps, 2))
    before = (speed**2).sum() / 2 - GRAVITY / np.sqrt((place**2).sum())
    for i in range(steps):
        speed -= dt / 2 * GRAVITY * place / (place**2).sum() ** 1.5
        place += dt * speed
        speed -= dt / 2 * GRAVITY * place / (place**2).sum() ** 1.5
        path[i] = place
    after = (speed**2).sum() / 2 - GRAVITY / np.sqrt((place**2).sum())
    return path, after / before - 1


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    vector = ag.spec("float64", (2,))
    written = orbit.export_library(folder / "orbit.o", vector, vector, ag.spec(float), ag.spec(int))
    print("wrote", *written)
