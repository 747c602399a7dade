"""Plain Python + NumPy functions become static graphs, and run eagerly or as a graph."""

from autograph import errors
from autograph.errors import ConversionError, IntegerOverflow, StagingError
from autograph.function import GraphFunction, do_not_convert, to_code, to_graph
from autograph.modes import eager, get_mode, graph, set_mode

__version__ = "0.1.0"

__all__ = [
    "ConversionError",
    "GraphFunction",
    "IntegerOverflow",
    "StagingError",
    "do_not_convert",
    "eager",
    "errors",
    "get_mode",
    "graph",
    "set_mode",
    "to_code",
    "to_graph",
]
