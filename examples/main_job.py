"""The main job, on two text files: the result in both modes, the converted code and the graph.

python examples/main_job.py [DRAFT REVISED]
"""

import sys
import time
from pathlib import Path

from edit_distance import DATA, edit_distance, read_numbered_words

import autograph as ag


def show(title, text):
    print(f"\n{title}\n{'=' * len(title)}\n{text}")


def main():
    paths = [Path(name) for name in sys.argv[1:3]]
    draft, revised = paths if len(paths) == 2 else (DATA / "draft.txt", DATA / "revised.txt")
    texts = read_numbered_words(draft, revised)
    print(
        f"Words to change from {draft.name} ({len(texts[0])} words) to {revised.name} ({len(texts[1])} words)"
    )

    results = []
    for mode, context in (
        ("graph", ag.graph()),
        ("eager", ag.eager()),
        ("eager, op by op", ag.eager(ops=True)),
    ):
        with context:
            start = time.perf_counter()
            results.append(edit_distance(*texts))
            seconds = time.perf_counter() - start
        print(f"  {mode + ':':17} {results[-1]}   ({seconds * 1000:.0f} ms)")
    assert set(results) == {edit_distance.python_function(*texts)}

    show("The converted code: edit_distance.code", edit_distance.code)
    graph = edit_distance.get_graph(*texts)
    show("The graph: edit_distance.get_graph(draft, revised)", graph)
    operations = graph.op_types()
    show(
        "What it consists of: .op_types()",
        ", ".join(f"{count} {op}" for op, count in operations.most_common()),
    )
    assert operations["while_loop"] == 2 and operations["cond"] >= 1


if __name__ == "__main__":
    main()
