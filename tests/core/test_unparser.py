"""What the unparser writes parses back to the tree it was given, reads well, and knows the user's lines."""

from __future__ import annotations

import ast
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import gast
import pytest

from autograph.core.unparser import to_source, to_source_lines

MODULES = """
    abc argparse ast base64 bdb bisect calendar cmd code codecs collections/__init__ colorsys
    concurrent/futures/_base configparser contextlib copy csv dataclasses datetime dis doctest
    email/message enum filecmp fractions functools glob heapq html/parser http/client
    importlib/_bootstrap inspect io json/decoder json/encoder keyword linecache locale
    logging/__init__ multiprocessing/pool numbers operator optparse pathlib pdb pickle pickletools
    plistlib pprint queue random re reprlib sched selectors shlex statistics string subprocess
    tarfile textwrap timeit tokenize traceback types typing unittest/case unittest/mock uuid
    warnings weakref xml/dom/minidom zipfile asyncio/base_events asyncio/tasks
    """.split()

STDLIB = Path(sysconfig.get_paths()["stdlib"])


def assert_round_trip(text: str) -> None:
    want = ast.dump(ast.parse(text))
    for tree in (ast.parse(text), gast.parse(text)):
        written = to_source(tree)
        assert ast.dump(ast.parse(written)) == want, written


@pytest.mark.parametrize("name", MODULES)
def test_standard_library_module_round_trips(name: str) -> None:
    path = STDLIB / f"{name}.py"
    if not path.exists():
        pytest.skip(f"this Python has no {name}.py")
    assert_round_trip(path.read_text(encoding="utf-8"))


def test_difficult_statements_round_trip() -> None:
    blocks = (Path(__file__).parent / "difficult.txt").read_text(encoding="utf-8").split("\n\n")
    needed = (3, 10)
    count = 0
    for block in blocks:
        if block.startswith("# Python "):
            header, _, block = block.partition("\n")
            needed = (3, int(header.rpartition(".")[2]))
        if block.strip() and sys.version_info >= needed:
            assert_round_trip(block)
            count += 1
    assert count > 40


@pytest.mark.parametrize(
    "text",
    [
        "n % 2 == 0",
        "3 * n + 1",
        "(a + b) * c - -d ** -e",
        "a - (b - c) - d",
        "(a ** b) ** c ** d",
        "(-1) ** 2 + ~x",
        "not a < b <= c and (d or e) or f",
        "not (a and b)",
        "(a if b else c) if d else e if f else g",
        "a[1:2, ::3]",
        "a[:, None, ..., x + 1:]",
        "a[()], a[b,], a[-1]",
        "f(lambda: 0, *a, k=lambda x, *y, z=1: x, **b)",
        "sum(i for i in y if i)",
        "[(y := f(x)) for x, *z in w if (y := x) > 1]",
        "f'{x!r:>{w}.3f} {a:{b}}'",
        "(1).real + 1.5.real",
        "{**a, 'b': 1, **(c or d)}",
        "(yield x)",
        "await x ** 2",
    ],
)
def test_expressions_are_written_as_people_write_them(text: str) -> None:
    tree = ast.parse(f"async def f():\n    return {text}")
    written = to_source(tree).removeprefix("async def f():\n    return ").rstrip("\n")
    assert written == text.replace("a[b,]", "a[(b,)]")


def test_statements_are_written_as_people_write_them() -> None:
    text = textwrap.dedent(
        '''\
        """Several
        lines, "quoted" \\\\ text."""
        import numpy as np
        from . import a as b

        @np.vectorize
        def f(x, /, y: int = 2, *rest, k=1, **more) -> float:
            """One line

            and more.
            """
            a, b = b, a
            def inner():
                nonlocal a
                (a,) = values
            if x:
                return
            elif y:
                return x, y
            else:
                x += yield
            while chunk := read():
                pass
            else:
                del x[0], y
            for i, (j, *k) in enumerate(x):
                continue
            with open(p) as f, g:
                assert x, 'message'
            try:
                raise E from None
            except (A, B) as error:
                raise
            finally:
                print(x)
            match point:
                case Point(0, y=1 | 2) as p if p.x:
                    pass
                case {'k': [_, *rest], **more}:
                    pass
            return lambda *, k: k

        class A(B, metaclass=C):
            x: int = 3

            def m(self):
                pass

            y = 1
        '''
    )
    text = text.replace(
        '''"""Several\nlines, "quoted" \\\\ text."""''', '''"""Several\nlines, "quoted" \\\\ text."""'''
    )
    assert to_source(gast.parse(text)) == text
    assert to_source(ast.parse(text)) == text


def test_lines_of_the_user_are_recorded() -> None:
    text = textwrap.dedent(
        """\
        x = 1

        @decorate
        @other(
            1)
        def f(a,
              b):
            # a comment
            if a:

                return (a +
                        b)
            elif b:
                '''text
                more'''
            else:
                try:
                    pass

                except E:
                    pass
            match a:

                case 1:
                    pass
        """
    )
    written, lines = to_source_lines(gast.parse(text))
    shown = [(line, lines.get(number)) for number, line in enumerate(written.splitlines(), 1)]
    assert shown == [
        ("x = 1", 1),
        ("", None),
        ("@decorate", 3),
        ("@other(1)", 4),
        ("def f(a, b):", 6),
        ("    if a:", 9),
        ("        return a + b", 11),
        ("    elif b:", 13),
        ('        """text', 14),
        ('        more"""', 14),
        ("    else:", 9),
        ("        try:", 17),
        ("            pass", 18),
        ("        except E:", 20),
        ("            pass", 21),
        ("    match a:", 22),
        ("        case 1:", 24),
        ("            pass", 25),
    ]


def test_generated_nodes_without_a_line_take_their_parents() -> None:
    tree = gast.parse("\n\nif a:\n    pass")
    tree.body[0].body = [gast.Pass()]
    assert to_source_lines(tree)[1] == {1: 3, 2: 3}
    assert to_source_lines(gast.Pass()) == ("pass\n", {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "(-1) ** x"),
        (-1.5, "(-1.5) ** x"),
        (2, "2 ** x"),
        (float("inf"), "1e309 ** x"),
        (float("-inf"), "(-1e309) ** x"),
        (1j, "1j ** x"),
        ((1, "a"), "(1, 'a') ** x"),
        (frozenset([1]), "frozenset({1}) ** x"),
        (None, "None ** x"),
        (..., "... ** x"),
    ],
)
def test_constants_that_no_parser_makes(value: Any, text: str) -> None:
    node = gast.BinOp(gast.Constant(value, None), gast.Pow(), gast.parse("x").body[0].value)
    assert to_source(node) == text


def test_huge_integer_and_nan_and_empty_set() -> None:
    value = 7**5000
    assert ast.literal_eval(to_source(gast.Constant(value, None))) == value
    assert to_source(gast.Constant(float("nan"), None)) == "(1e309 - 1e309)"
    assert to_source(gast.Set([])) == "{*()}"


def test_fstring_that_a_converter_made_means_the_same_on_every_python() -> None:
    text = gast.Constant("\n'\"\\", None)
    field = gast.FormattedValue(
        text,
        ord("r"),
        gast.JoinedStr([gast.Constant(">", None), gast.FormattedValue(gast.Constant(9, None), -1, None)]),
    )
    node = gast.JoinedStr([gast.Constant("{x}'\"\n", None), field])
    assert eval(to_source(node)) == "{x}'\"\n" + f"{text.value!r:>9}"
    assert eval(to_source(gast.FormattedValue(text, -1, None))) == text.value


def test_list_of_statements() -> None:
    assert to_source(gast.parse("x = 1\ny = 2").body) == "x = 1\ny = 2\n"
