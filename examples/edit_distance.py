"""Edit distance: how many words separate two versions of a text.

One row of the table of distances is an array that is written in place, element by element.
"""

from pathlib import Path

import numpy as np

import autograph as ag

DATA = Path(__file__).parent / "data"


@ag.to_graph
def edit_distance(a, b):
    """The least number of insertions, deletions and replacements that turn `a` into `b`."""
    row = np.arange(len(b) + 1)
    for i in range(len(a)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            above = row[j + 1]
            if a[i] == b[j]:
                row[j + 1] = diagonal
            else:
                row[j + 1] = 1 + min(diagonal, above, row[j])
            diagonal = above
    return row[-1]


def read_numbered_words(*paths):
    """The words of each file as an array of numbers; equal words have equal numbers."""
    numbers: dict[str, int] = {}
    texts = []
    for path in paths:
        words = path.read_text(encoding="utf-8").split()
        texts.append(np.array([numbers.setdefault(word, len(numbers)) for word in words]))
    return texts


def main():
    draft, revised = read_numbered_words(DATA / "draft.txt", DATA / "revised.txt")
    as_graph = edit_distance(draft, revised)
    with ag.eager():
        as_python = edit_distance(draft, revised)
    assert as_graph == as_python == edit_distance.python_function(draft, revised)
    assert type(as_graph) is type(as_python)
    assert edit_distance(draft, draft) == 0
    assert edit_distance(draft, draft[:0]) == len(draft)
    print(f"{len(draft)} words became {len(revised)}: {as_graph} words were added, removed or replaced")


if __name__ == "__main__":
    main()
