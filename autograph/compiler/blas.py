"""BLAS and LAPACK as C functions: the addresses that SciPy publishes for Cython, under names of our own."""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.machinery
import importlib.util
import os
from typing import Any

from autograph.compiler import machine

PREFIX = "ag_blas_"
LETTER = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
"""The letter that the name of a routine starts with, by the kind and size of the elements."""


@functools.cache
def _module(name: str) -> Any:
    """An extension module of `scipy.linalg`, without loading the package (300 ms); None without SciPy."""
    package = importlib.util.find_spec("scipy")
    if package is None:
        return None
    folder = os.path.join((package.submodule_search_locations or [""])[0], "linalg")
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = os.path.join(folder, name + suffix)
        if os.path.exists(path):
            try:
                spec = importlib.util.spec_from_file_location(f"scipy.linalg.{name}", path)
                assert spec is not None and spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
            except (ImportError, OSError):
                break
    return importlib.import_module(f"scipy.linalg.{name}")


@functools.cache
def symbol(routine: str) -> str | None:
    """The name by which the code calls a routine ("dgemm", "dgetrf"); None where there is none.

    >>> symbol("dgemm")
    'ag_blas_dgemm'
    """
    for name in ("cython_blas", "cython_lapack"):
        module = _module(name)
        capsule = None if module is None else module.__pyx_capi__.get(routine)
        if capsule is not None:
            machine.add_symbol(PREFIX + routine, _pointer(capsule))
            return PREFIX + routine
    return None


def _pointer(capsule: Any) -> int:
    api = ctypes.pythonapi
    name = api.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi["PyCapsule_GetPointer"]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name(capsule)) or 0)
