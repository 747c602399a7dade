"""The op declarations: importing this package registers all of them."""

from autograph.ops import (
    arithmetic,
    containers,
    core,
    creation,
    dtypes,
    indexing,
    linalg,
    math_ops,
    methods,
    reductions,
    selecting,
    shaping,
    ufuncs,
)

__all__ = [
    "arithmetic",
    "containers",
    "core",
    "creation",
    "dtypes",
    "indexing",
    "linalg",
    "math_ops",
    "methods",
    "reductions",
    "selecting",
    "shaping",
    "ufuncs",
]
