"""Loaded functions see the user's globals and lines, are named as the user named them, and leave no trace."""

from __future__ import annotations

import gc
import textwrap
import traceback
import types
from typing import Any

import gast
import pytest

from autograph.core.generated import _generated, is_generated
from autograph.core.loader import compile_factory


def definition(text: str) -> Any:
    return gast.parse(textwrap.dedent(text)).body[0]


def test_globals_are_shared_and_unchanged() -> None:
    names: dict[str, Any] = {"y": 1}
    factory = compile_factory(
        definition("def f(x): return x + y + ag__.k"), filename="m.py", fn_globals=names, static_free=()
    )
    f = factory(types.SimpleNamespace(k=10))
    assert f(100) == 111
    names["y"] = 2
    assert f(100) == 112
    assert set(names) == {"y"}
    assert f.__globals__ is names


def test_free_variables_are_the_factorys_arguments() -> None:
    factory = compile_factory(
        definition("def f(x): return a(x) + b"), filename="m.py", fn_globals={}, static_free=("a", "b")
    )
    assert factory(None, abs, 1)(-3) == 4
    assert factory(None, len, 2)("xy") == 4


@pytest.mark.parametrize("static_free", [("f",), ()])
def test_own_name_means_what_it_meant_outside(static_free: tuple[str, ...]) -> None:
    names: dict[str, Any] = {} if static_free else {"f": lambda n: ("decorated", n)}
    factory = compile_factory(
        definition("def f(n): return f(n - 1)"), filename="m.py", fn_globals=names, static_free=static_free
    )
    values = [lambda n: ("decorated", n)] if static_free else []
    assert factory(None, *values)(3) == ("decorated", 2)


def test_names_and_qualified_names_are_the_users() -> None:
    text = """
        def f():
            class C:
                def m(self): pass
            def g(): return lambda: 0
            return C, g
    """
    factory = compile_factory(
        definition(text), filename="m.py", fn_globals={}, static_free=(), qualname="A.f"
    )
    f = factory(None)
    kind, g = f()
    assert (f.__name__, f.__code__.co_name, f.__qualname__) == ("f", "f", "A.f")
    assert (g.__qualname__, g().__qualname__) == ("A.f.<locals>.g", "A.f.<locals>.g.<locals>.<lambda>")
    assert (kind.__qualname__, kind.m.__qualname__) == ("A.f.<locals>.C", "A.f.<locals>.C.m")
    same = compile_factory(definition("def f(): pass"), filename="m.py", fn_globals={}, static_free=())(None)
    assert same.__qualname__ == "f"


def test_defaults_decorators_and_generators() -> None:
    text = """
        @ag__.twice
        def f(a, b=2, *, c=3):
            yield a
            yield b + c
    """
    ag = types.SimpleNamespace(twice=lambda fn: lambda *args: list(fn(*args)) * 2)
    f = compile_factory(definition(text), filename="m.py", fn_globals={}, static_free=())(ag)
    assert f(1) == [1, 5, 1, 5]


def test_lines_are_the_users_also_for_nodes_without_a_position() -> None:
    node = definition("def f(x):\n    a = 1\n\n    b = (x +\n         1)\n    return b")
    node.body[0].value = gast.parse("1 /\\\n 0").body[0].value
    for part in gast.walk(node.body[0].value):
        for name in ("end_lineno", "end_col_offset"):
            if hasattr(part, name):
                delattr(part, name)
    inserted = gast.Expr(gast.Call(gast.Name("fail", gast.Load(), None, None), [], []))
    node.body[1].value.left = gast.Call(gast.Name("fail", gast.Load(), None, None), [], [])
    node.body[0] = inserted
    names: dict[str, Any] = {"fail": lambda: None}
    f = compile_factory(node, filename="user.py", fn_globals=names, static_free=())(None)
    with pytest.raises(TypeError) as error:
        f(1)
    frame = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (frame.filename, frame.lineno, frame.name) == ("user.py", 4, "f")


def test_the_tree_is_not_changed() -> None:
    node = definition("def f(): return 1")
    before = gast.dump(node, include_attributes=True)
    compile_factory(node, filename="m.py", fn_globals={}, static_free=())
    assert gast.dump(node, include_attributes=True) == before


def test_generated_code_is_known_by_identity() -> None:
    text = "def f():\n    def g(): return 1\n    return g"
    f = compile_factory(definition(text), filename="m.py", fn_globals={}, static_free=())(None)
    names: dict[str, Any] = {}
    exec(compile(text, "m.py", "exec"), names)
    assert is_generated(f.__code__) and is_generated(f().__code__)
    assert not is_generated(names["f"].__code__) and not is_generated(names["f"]().__code__)


def test_generated_code_is_forgotten_with_its_function() -> None:
    gc.collect()
    before = len(_generated)
    f = compile_factory(
        definition("def f(): return lambda: 1"), filename="m.py", fn_globals={}, static_free=()
    )
    assert len(_generated) > before
    del f
    gc.collect()
    assert len(_generated) == before
