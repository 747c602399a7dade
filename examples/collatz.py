"""Collatz: the start below a limit that takes the most steps to reach 1.

Two nested loops whose lengths depend on the data, and a branch in the inner one.
"""

import autograph as ag


def steps_to_one(n):
    """How often the rule is applied until `n` is 1."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@ag.to_graph
def longest_chain(limit):
    """The start below `limit` with the longest way to 1, and the length of that way."""
    best, best_steps = 1, 0
    for start in range(1, limit):
        steps = steps_to_one(start)
        if steps > best_steps:
            best, best_steps = start, steps
    return best, best_steps


def main():
    limit = 100
    as_graph = longest_chain(limit)
    with ag.eager():
        as_python = longest_chain(limit)
    assert as_graph == as_python == longest_chain.python_function(limit) == (97, 118)
    assert longest_chain(2) == (1, 0)
    operations = longest_chain.get_graph(limit).op_types()
    print(f"below {limit}, {as_graph[0]} takes the most steps: {as_graph[1]}")
    print(f"the graph is one loop in another, whatever the limit: {sum(operations.values())} operations")


if __name__ == "__main__":
    main()
