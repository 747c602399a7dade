"""Random functions do the same before and after conversion.

More of them: `python -m tests.converters.test_random_programs FIRST_SEED COUNT`.
"""

import linecache
import sys
import warnings

import pytest

from tests.converters.oracle import convert_plainly, outcome, show, to_source
from tests.converters.random_programs import PRELUDE, Generator

ARGUMENTS = [(0,), (1,), (2, 3), (None,), ("s", 1)]


def difference(seed):
    """A report of what differs for a seed's function, or None."""
    text = PRELUDE + Generator(seed).program()
    filename = f"<random {seed}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {"__name__": "random_program"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, filename, "exec"), space)
        converted = convert_plainly(space["f"])
    for args in ARGUMENTS:
        results = []
        for function in (space["f"], converted):
            space["FUEL"][0], space["g"] = 40, 5
            results.append((outcome(function, args), show(space["g"])))
        if repr(results[0]) != repr(results[1]):
            return f"seed {seed}, {args}\n{results[0]}\n{results[1]}\n{text}\n{to_source(converted.tree)}"
    del linecache.cache[filename]
    return None


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_programs_are_unchanged_by_conversion(first):
    for seed in range(first, first + 20):
        report = difference(seed)
        assert report is None, report


if __name__ == "__main__":
    start, count = map(int, sys.argv[1:])
    failures = [report for seed in range(start, start + count) if (report := difference(seed))]
    print("\n\n".join(failures[:3]))
    print(f"{len(failures)} of {count} programs differ")
    sys.exit(bool(failures))
