"""The generated code is plain where it can be, grows with the source, and carries the user's lines."""

import time
import traceback

import gast

from autograph import converters
from autograph.converters import convert, external_names
from autograph.converters.example import example
from autograph.core.parser import parse_function
from autograph.core.unparser import to_source
from tests.converters.oracle import convert_plainly
from tests.converters.samples import SAMPLES, Boom


def nested(depth):
    head = "".join(f"{'    ' * (i + 1)}for i{i} in range(n):\n" for i in range(depth))
    return f"def f(n):\n    s = 0\n{head}{'    ' * (depth + 1)}s += i0\n    return s"


def test_size_is_linear_in_the_depth_of_loops():
    sizes = [len(example(nested(depth)).replace(" ", "")) for depth in (2, 4, 6, 8)]
    growth = [sizes[i + 1] - sizes[i] for i in range(3)]
    assert max(growth) < 1.2 * min(growth)


def test_deep_loops_convert_quickly():
    start = time.process_time()
    example(nested(8))
    assert time.process_time() - start < 0.2


def test_long_chains_convert():
    elifs = "".join(f"    elif n == {i}:\n        return {i}\n" for i in range(1, 60))
    example(f"def f(n):\n    if n == 0:\n        return 0\n{elifs}    return -1")
    ifs = "".join(f"    if n == {i}:\n        return {i}\n" for i in range(60))
    example(f"def f(n):\n{ifs}    return -1")


def test_return_at_the_end_stays():
    assert example("def f(x):\n    y = x + 1\n    return y") == "def f(x):\n    y = x + 1\n    return y"


def test_return_in_both_branches_needs_no_flag():
    code = example("def f(x):\n    if x:\n        return 1\n    y = 2\n    return y")
    assert "do_return" not in code
    assert "Undefined('y')" not in code


def test_continue_at_the_end_of_a_branch_needs_no_flag():
    code = example("def f(x):\n    for v in x:\n        if v:\n            continue\n        print(v)")
    assert "did_continue" not in code


def test_local_of_a_branch_is_no_state():
    code = example("def f(x):\n    y = 0\n    if x:\n        t = x + 1\n        y = t\n    return y")
    assert "('y',)" in code
    assert "nonlocal t" not in code


def test_loop_variable_that_is_not_used_after_is_a_parameter():
    assert "def loop_body(v):" in example("def f(x):\n    for v in x:\n        print(v)")


def test_captured_once_is_not_boxed():
    assert "Box" not in example("def f(x):\n    y = x + 1\n    def g():\n        return y\n    return g")
    assert "Box" not in example("def f(x):\n    def g(n):\n        return g(n - x)\n    return g")
    assert "Box" in example("def f(x):\n    y = x\n    def g():\n        return y\n    y = 2\n    return g")


def test_names_of_the_user_are_not_reused():
    code = example("def f(x, if_body, retval_):\n    if x:\n        return if_body\n    return retval_")
    assert "def if_body_1" in code
    assert "retval__1" in code


def uses_everything(x):
    global written
    written = outer_function(x) + len(x) + Boom.code
    return [name for name in x if name.startswith(other)]


def test_external_names():
    names = external_names(parse_function(uses_everything))
    assert names == {"written", "outer_function", "Boom", "other"}
    assert "len" in external_names(parse_function(uses_everything), frozenset({"len"}))


def test_static_names_stay_bare_and_others_are_loaded():
    code = example("def f(x):\n    return np.pi * math.tau(x) + LIMIT", static="np")
    assert "np.pi" in code
    assert "ag__.load('math')" in code
    assert "ag__.load('LIMIT')" in code


def fails_here(x):
    for i in range(3):
        if i == x:
            raise Boom("here")
        y = [1 // (v - x) for v in range(2)]
    return y


def lines_of_error(function, x):
    try:
        function(x)
    except (Boom, ZeroDivisionError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [frame.lineno for frame in frames if frame.filename == __file__][-1]
    raise AssertionError("no error")


def test_errors_show_the_line_of_the_user():
    converted = convert_plainly(fails_here)
    for x in (0, 1, 2):
        assert lines_of_error(converted, x) == lines_of_error(fails_here, x)


def test_every_node_has_the_place_of_the_user_s_code():
    for function, _ in SAMPLES:
        source = parse_function(function)
        tree = convert(source, static=frozenset())
        first, last = source.node.lineno, source.node.end_lineno
        for node in gast.walk(tree):
            line = getattr(node, "lineno", None)
            assert line is None or first <= line <= last, (function.__name__, node, line)


def test_a_converter_that_is_left_out_would_change_nothing(monkeypatch):
    quick = [to_source(convert_plainly(function).tree) for function, _ in SAMPLES]
    monkeypatch.setattr(converters, "_NEEDS", {})
    assert [to_source(convert_plainly(function).tree) for function, _ in SAMPLES] == quick
