"""Viterbi: the most likely hidden states behind what was observed.

A table filled row by row, then read backwards with indices that are data themselves.
"""

import numpy as np

import autograph as ag

STATES = ("dry", "wet")
START = np.array([0.6, 0.4])
MOVE = np.array([[0.8, 0.2], [0.3, 0.7]])  # from dry, from wet
EMIT = np.array([[0.6, 0.3, 0.1], [0.1, 0.4, 0.5]])  # walk, shop, clean


@ag.to_graph
def viterbi(observed, start, move, emit):
    """The most likely path of states, and the logarithm of its probability."""
    steps, states = len(observed), len(start)
    score = np.log(start) + np.log(emit[:, observed[0]])
    came_from = np.zeros((steps, states), dtype=np.int64)
    for t in range(1, steps):
        candidates = score[:, None] + np.log(move)
        came_from[t] = np.argmax(candidates, axis=0)
        score = np.max(candidates, axis=0) + np.log(emit[:, observed[t]])
    path = np.zeros(steps, dtype=np.int64)
    path[-1] = np.argmax(score)
    for t in range(steps - 1, 0, -1):
        path[t - 1] = came_from[t, path[t]]
    return path, np.max(score)


def generate(length):
    """A fortnight and more of weather, and what was done on each day."""
    random = np.random.default_rng(3)
    weather = [int(random.choice(2, p=START))]
    while len(weather) < length:
        weather.append(int(random.choice(2, p=MOVE[weather[-1]])))
    return np.array(weather), np.array([int(random.choice(3, p=EMIT[state])) for state in weather])


def log_probability(path, observed):
    """The logarithm of the probability of a path, straight from the definition."""
    total = np.log(START[path[0]]) + np.log(EMIT[path[0], observed[0]])
    for t in range(1, len(path)):
        total += np.log(MOVE[path[t - 1], path[t]]) + np.log(EMIT[path[t], observed[t]])
    return total


def main():
    weather, observed = generate(60)
    path, score = viterbi(observed, START, MOVE, EMIT)
    with ag.eager():
        eager_path, eager_score = viterbi(observed, START, MOVE, EMIT)
    plain_path, plain_score = viterbi.python_function(observed, START, MOVE, EMIT)
    assert np.array_equal(path, plain_path) and np.array_equal(eager_path, plain_path)
    np.testing.assert_allclose([score, eager_score], plain_score, rtol=1e-12)
    np.testing.assert_allclose(score, log_probability(path, observed), rtol=1e-12)
    assert score >= log_probability(weather, observed)

    print("weather:", "".join(STATES[state][0] for state in weather))
    print("guessed:", "".join(STATES[state][0] for state in path))
    print(f"{np.mean(path == weather):.0%} of {len(path)} days right, log probability {score:.2f}")
    assert np.mean(path == weather) > 0.7


if __name__ == "__main__":
    main()
