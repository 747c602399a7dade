"""k-means: groups the rows of a CSV file.

Broadcasting, a reduction over an axis and boolean masks in a loop that ends when no row changes its group.
"""

from pathlib import Path

import numpy as np

import autograph as ag

DATA = Path(__file__).parent / "data"


@ag.to_graph
def kmeans(points, centres):
    """The group of each point, the centres of the groups, and the number of turns."""
    centres = centres.copy()
    groups = np.full(len(points), -1)
    turns = 0
    while True:
        offsets = points[:, None, :] - centres[None, :, :]
        nearest = np.argmin(np.sum(offsets**2, axis=2), axis=1)
        if np.all(nearest == groups):
            return groups, centres, turns
        groups = nearest
        for k in range(len(centres)):
            members = points[groups == k]
            if len(members) > 0:
                centres[k] = members.mean(axis=0)
        turns += 1


def main():
    points = np.loadtxt(DATA / "bills.csv", delimiter=",", skiprows=1)
    start = points[:3]
    as_graph = kmeans(points, start)
    with ag.eager():
        as_eager = kmeans(points, start)
    as_python = kmeans.python_function(points, start)
    for groups, centres, turns in (as_graph, as_eager):
        assert np.array_equal(groups, as_python[0])
        np.testing.assert_allclose(centres, as_python[1], rtol=1e-12)
        assert turns == as_python[2]

    groups, centres, turns = as_graph
    order = np.argsort(centres[:, 0] - centres[:, 1])
    np.testing.assert_allclose(centres[order], [[38.8, 18.4], [48.6, 18.6], [47.4, 14.9]], atol=0.8)
    print(f"{len(points)} rows in {turns} turns:")
    for k in order:
        length, depth = centres[k]
        print(f"  {np.sum(groups == k):3d} rows near length {length:.1f} mm, depth {depth:.1f} mm")


if __name__ == "__main__":
    main()
