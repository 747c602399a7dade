"""Conway's game of life: runs a board until it repeats itself, and prints it from inside the graph.

Whole-array NumPy inside a loop that ends when the data says so; the prints are part of the graph.
"""

import contextlib
import io

import numpy as np

import autograph as ag

GLIDER = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]])


def draw(board):
    """Prints the board, a line a row."""
    for row in board:
        for cell in row:
            print("#" if cell else ".", end="")
        print()


@ag.to_graph
def run_until_repeated(board, limit):
    """The number of generations until the first board comes back, or None if it does not within `limit`."""
    first = board.copy()
    for generation in range(1, limit + 1):
        neighbours = np.zeros_like(board)
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                if (down, right) != (0, 0):
                    neighbours += np.roll(board, (down, right), axis=(0, 1))
        board[...] = (neighbours == 3) | ((board == 1) & (neighbours == 2))
        if np.array_equal(board, first):
            print(f"generation {generation} is the first one again:")
            draw(board)
            return generation
    return None


def printed(function, *arguments):
    """The result of a call and the text it printed."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        result = function(*arguments)
    return result, text.getvalue()


def main():
    board = np.zeros((8, 8), dtype=np.int64)
    board[1:4, 1:4] = GLIDER
    boards = [board.copy() for _ in range(3)]

    as_graph = printed(run_until_repeated, boards[0], 40)
    with ag.eager():
        as_eager = printed(run_until_repeated, boards[1], 40)
    as_python = printed(run_until_repeated.python_function, boards[2], 40)
    assert as_graph == as_eager == as_python
    assert as_graph[0] == 32  # a glider moves one cell every 4 generations, and the board is 8 cells wide
    for after in boards:
        assert np.array_equal(after, board)
    assert run_until_repeated(board, 31) is None  # and now the argument holds generation 31
    assert board.sum() == 5 and not np.array_equal(board, boards[0])
    print(as_graph[1], end="")


if __name__ == "__main__":
    main()
