"""The Python blocks of README.md and of the pages in docs/ run from top to bottom, page by page."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> str:
    """The blocks of a page as one program, each on the lines where it stands in the page."""
    text = page.read_text(encoding="utf-8")
    program: list[str] = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(1))
        program += [""] * (line - len(program))
        program += match.group(1).splitlines()
    return "\n".join(program) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run(page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = blocks(page)
    if not program.strip():
        pytest.skip("no Python block in this page")
    path = tmp_path / f"{page.stem.lower()}_blocks.py"
    path.write_text(program, encoding="utf-8")
    runpy.run_path(str(path))
    printed = capsys.readouterr().out
    for wanted in re.findall(r"print\(.*\) +# prints: (.*)$", program, re.MULTILINE):
        assert wanted in printed.splitlines()


def test_readme_has_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^python3 dev\.py \w+$", readme, re.MULTILINE) == [
        "python3 dev.py example",
        "python3 dev.py test",
    ]
