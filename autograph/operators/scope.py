"""The object that converted code knows as `ag__`: all operators, and the outside names of one function."""

from __future__ import annotations

import types
from typing import Any

from autograph.operators import (
    branches,
    calls,
    containers,
    dispatch,
    exceptions,
    generators,
    loops,
    objects,
    variables,
)
from autograph.operators import builtin_functions as builtin_functions
from autograph.operators.variables import CellReference, GlobalReference, Reference

dispatch.install()


class Scope:
    """`ag__` in the converted form of one function."""

    if_stmt = staticmethod(branches.if_stmt)
    if_exp = staticmethod(branches.if_exp)
    and_ = staticmethod(branches.and_)
    or_ = staticmethod(branches.or_)
    not_ = staticmethod(branches.not_)
    compare_chain = staticmethod(branches.compare_chain)
    is_ = staticmethod(branches.is_)
    is_not = staticmethod(branches.is_not)
    in_ = staticmethod(branches.in_)
    not_in = staticmethod(branches.not_in)
    while_stmt = staticmethod(loops.while_stmt)
    for_stmt = staticmethod(loops.for_stmt)
    call = staticmethod(calls.call)
    spreading = staticmethod(calls.Spreading)
    star = staticmethod(calls.star)
    star_items = staticmethod(calls.star_items)
    star_set = staticmethod(calls.star_set)
    star_kwargs = staticmethod(calls.star_kwargs)
    get_attr = staticmethod(objects.get_attr)
    set_attr = staticmethod(objects.set_attr)
    del_attr = staticmethod(objects.del_attr)
    local_class = staticmethod(objects.local_class)
    get_item = staticmethod(containers.get_item)
    new_list = staticmethod(containers.new_list)
    new_tuple = staticmethod(containers.new_tuple)
    list_builder = staticmethod(containers.list_builder)
    add_item = staticmethod(containers.add_item)
    built = staticmethod(containers.built)
    varargs = staticmethod(containers.varargs)
    new_set = staticmethod(containers.new_set)
    new_dict = staticmethod(containers.new_dict)
    kwargs_dict = staticmethod(containers.kwargs_dict)
    splat = containers.splat
    unpack = staticmethod(containers.unpack)
    mod = staticmethod(containers.mod)
    eq = staticmethod(containers.eq)
    ne = staticmethod(containers.ne)
    lt = staticmethod(containers.lt)
    le = staticmethod(containers.le)
    gt = staticmethod(containers.gt)
    ge = staticmethod(containers.ge)
    aug_assign = staticmethod(containers.aug_assign)
    fstring = staticmethod(containers.fstring)
    format_value = staticmethod(containers.format_value)
    match_sequence = staticmethod(containers.match_sequence)
    match_mapping = staticmethod(containers.match_mapping)
    match_class = staticmethod(containers.match_class)
    assert_stmt = staticmethod(exceptions.assert_stmt)
    raise_stmt = staticmethod(exceptions.raise_stmt)
    reraise = staticmethod(exceptions.reraise)
    try_stmt = staticmethod(exceptions.try_stmt)
    with_stmt = staticmethod(exceptions.with_stmt)
    yield_from = staticmethod(generators.yield_from)
    generator = staticmethod(generators.generator)
    generator_exp = staticmethod(generators.generator_exp)
    Undefined = variables.Undefined
    Box = variables.Box
    check = staticmethod(variables.check)
    check_free = staticmethod(variables.check_free)
    slice = slice

    @staticmethod
    def decorator(function: Any) -> Any:
        """A decorator of a method, called through the operators."""
        return lambda value: calls.call(function, value)

    def __init__(
        self, namespace: dict[str, Any], cells: dict[str, types.CellType], static: dict[str, Reference]
    ) -> None:
        self._namespace, self._cells = namespace, cells
        self.static_references = static
        self._references: dict[str, Reference] = {}

    def reference(self, name: str) -> Reference:
        """The place of an outside name: a variable of an enclosing function, or a global."""
        found = self._references.get(name)
        if found is None:
            cell = self._cells.get(name)
            found = GlobalReference(self._namespace, name) if cell is None else CellReference(cell, name)
            self._references[name] = found
        return found

    def load(self, name: str) -> Any:
        """The value of an outside name."""
        return variables.load(self.reference(name))

    def store(self, name: str, value: Any) -> None:
        """Assigns to an outside name (`global` or `nonlocal`)."""
        variables.store(self.reference(name), value)

    def delete(self, name: str) -> None:
        """`del` of an outside name."""
        variables.delete(self.reference(name))
