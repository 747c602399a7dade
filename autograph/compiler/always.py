"""The modules of the compiler that every first call needs: the package loads them, so that no call has to."""

from autograph.compiler import (
    arrays,
    containers,
    counted,
    exits,
    host,
    loops,
    lowering,
    machine,
    numbers,
    rows,
    shared,
    unions,
    unrolled,
)

__all__ = [
    "arrays",
    "containers",
    "counted",
    "exits",
    "host",
    "loops",
    "lowering",
    "machine",
    "numbers",
    "rows",
    "shared",
    "unions",
    "unrolled",
]
