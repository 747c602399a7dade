"""Plain Python + NumPy functions become static graphs, and run eagerly or as a graph."""

from autograph import errors
from autograph.errors import ConversionError, IntegerOverflow, StagingError
from autograph.function import GraphFunction, do_not_convert, to_code, to_graph
from autograph.hand import cond, host_call, print, spec, while_loop
from autograph.modes import eager, get_mode, graph, set_mode

__version__ = "0.1.0"

__all__ = [
    "ConversionError",
    "GraphFunction",
    "IntegerOverflow",
    "StagingError",
    "cond",
    "do_not_convert",
    "eager",
    "errors",
    "get_mode",
    "graph",
    "host_call",
    "print",
    "set_mode",
    "spec",
    "to_code",
    "to_graph",
    "while_loop",
]
