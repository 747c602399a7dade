"""What cannot be converted: each error names the construct, the place, the reason and the way out."""

import linecache
import sys

import pytest

from autograph.converters import convert
from autograph.core.parser import parse_function
from autograph.errors import ConversionError
from tests.converters import refused

MESSAGES = {
    "async_function": """\
'async def' cannot be converted.
  FILE:LINE:  async def async_function(x):
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
A graph runs in program order and never waits for an event loop.
Write a plain function, and await its inputs before calling it.""",
    "yield_value": """\
the value of 'yield' is used, which cannot be converted.
  FILE:LINE:  y = yield x
                  ^^^^^^^
A generator is staged by running its consumer at each yield; nothing can be sent into it.
Write 'yield' as a statement of its own, and pass values in as arguments.""",
    "return_in_finally": """\
'return' inside 'finally' cannot be converted.
  FILE:LINE:  return x
              ^^^^^^^^
It would drop an exception on its way, which a staged 'finally' never does.
Move the 'return' after the try statement.""",
    "break_in_finally": """\
'break' inside 'finally' cannot be converted.
  FILE:LINE:  break
              ^^^^^
It would drop an exception on its way, which a staged 'finally' never does.
Move the 'break' after the try statement.""",
    "calls_locals": """\
'locals()' cannot be converted.
  FILE:LINE:  return locals()
                     ^^^^^^^^
It reads the variables of a running frame, and converted code keeps them elsewhere.
Name the variables: {'x': x, 'y': y}.""",
    "calls_eval": """\
'eval()' cannot be converted.
  FILE:LINE:  return eval("x + 1")
                     ^^^^^^^^^^^^^
The code it runs is only known at run time, so it cannot be converted.
Write the expression out, or choose between functions.""",
    "calls_exec": """\
'exec()' cannot be converted.
  FILE:LINE:  exec("x = 1")
              ^^^^^^^^^^^^^
The code it runs is only known at run time, so it cannot be converted.
Write the statements out, or choose between functions.""",
    "calls_vars": """\
'vars()' cannot be converted.
  FILE:LINE:  return vars()
                     ^^^^^^
It reads the variables of a running frame, and converted code keeps them elsewhere.
Name the variables: {'x': x, 'y': y}.""",
    "calls_globals": """\
'globals()' cannot be converted.
  FILE:LINE:  return globals()["x"]
                     ^^^^^^^^^
It gives out the module's variables for reading and writing, unseen by the graph.
Name the global variables that are needed, or pass them as arguments.""",
}


@pytest.mark.parametrize("name", MESSAGES)
def test_error_message(name):
    function = getattr(refused, name)
    with pytest.raises(ConversionError) as caught:
        convert(parse_function(function), static=frozenset())
    location = caught.value.location
    code = function.__code__
    assert location.filename == code.co_filename
    assert code.co_firstlineno <= location.line <= code.co_firstlineno + 8
    place = f"{location.filename}:{location.line}:"
    lines = str(caught.value).replace(place, "FILE:LINE:").splitlines()
    if lines[2].lstrip().startswith("^"):  # the caret line moves with the length of the file name
        lines[2] = lines[2][len(place) - len("FILE:LINE:") :]
    assert "\n".join(lines) == MESSAGES[name]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="'except*' is new in Python 3.11")
def test_except_star_is_refused():
    text = "def f(x):\n    try:\n        g(x)\n    except* ValueError:\n        pass\n"
    linecache.cache["<star>"] = (len(text), None, text.splitlines(True), "<star>")
    space = {}
    exec(compile(text, "<star>", "exec"), space)
    with pytest.raises(ConversionError, match=r"'except\*' cannot be converted") as caught:
        convert(parse_function(space["f"]), static=frozenset())
    assert caught.value.location.line == 2


def test_vars_of_an_object_is_converted():
    convert(parse_function(refused.allowed), static=frozenset())
