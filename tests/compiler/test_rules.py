"""The rules of the compiler: what is loaded when."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from autograph.compiler import arrays, containers, lowering, numbers, unions
first = dict(lowering.RULES)
assert "np.add" in first and "np.sort" not in first
assert lowering.rule_of("no such operation") is None
assert lowering.rule_of("np.sort").__module__ == "autograph.compiler.sorting"
assert {name: lowering.RULES[name] for name in first} == first
"""


def test_rules_loaded_later_replace_none() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
