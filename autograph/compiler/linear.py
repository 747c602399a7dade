"""Matrix products by BLAS."""

from __future__ import annotations

from typing import Any

from autograph.compiler.lowering import FunctionLowering
from autograph.compiler.values import Value
from autograph.graph.graph import Operation


def product(f: FunctionLowering, operation: Operation, x: Any, y: Any) -> Value | None:
    """The product of two arrays, at least one of them a matrix."""
    return None
