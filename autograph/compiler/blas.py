"""BLAS and LAPACK as C functions, under names of our own.

NumPy's wheels bring an OpenBLAS that is loaded already: its functions give bit for bit what NumPy gives, and
cost nothing to find. Where NumPy has none, SciPy publishes the addresses of the functions that it uses.
"""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import functools
import glob
import importlib
import importlib.machinery
import importlib.util
import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograph.compiler import machine

LETTER = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}
"""The letter that the name of a routine starts with, by the kind and size of the elements."""


@functools.cache
def _numpy_library() -> Any:
    """The OpenBLAS that NumPy's wheel brings, whose integers have 64 bits; None where there is none."""
    folder = os.path.dirname(np.__file__)
    for place in (os.path.join(os.path.dirname(folder), "numpy.libs"), os.path.join(folder, ".dylibs")):
        for path in glob.glob(os.path.join(place, "*openblas*")):
            try:
                library = ctypes.CDLL(path)
                library["scipy_dgemm_64_"]
                return library
            except (OSError, AttributeError):
                continue
    return None


@functools.cache
def _scipy_module(name: str) -> Any:
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


_later: contextvars.ContextVar[bool | None] = contextvars.ContextVar("later", default=None)


@contextlib.contextmanager
def linked_later(wanted: bool) -> Iterator[None]:
    """Within, routines are not those of this process but ones that the linker finds, if any are wanted."""
    token = _later.set(wanted)
    try:
        yield
    finally:
        _later.reset(token)


def is_routine(name: str) -> bool:
    """Whether a function is a routine that the linker is to find."""
    return re.fullmatch(r"[sdcz][a-z0-9]+_", name) is not None


def integer() -> str:
    """The IR type of the integers of the routines."""
    return "i32" if _later.get() is not None or _numpy_library() is None else "i64"


def symbol(routine: str) -> str | None:
    """The name by which the code calls a routine ("dgemm", "dgetrf"); None where there is none.

    >>> symbol("dgemm").startswith("ag_blas")
    True
    """
    later = _later.get()
    if later is not None:
        return f"{routine}_" if later else None
    return _loaded(routine)


@functools.cache
def _loaded(routine: str) -> str | None:
    address = _address(routine)
    if not address:
        return None
    name = f"ag_blas_{integer()}_{routine}"
    machine.add_symbol(name, address)
    return name


def _address(routine: str) -> int:
    library = _numpy_library()
    if library is not None:
        try:
            return ctypes.cast(library[f"scipy_{routine}_64_"], ctypes.c_void_p).value or 0
        except AttributeError:
            return 0
    for name in ("cython_blas", "cython_lapack"):
        module = _scipy_module(name)
        capsule = None if module is None else module.__pyx_capi__.get(routine)
        if capsule is not None:
            return _pointer(capsule)
    return 0


def _pointer(capsule: Any) -> int:
    api = ctypes.pythonapi
    name = api.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi["PyCapsule_GetPointer"]
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name(capsule)) or 0)
