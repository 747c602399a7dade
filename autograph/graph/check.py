"""The checker: whether a graph keeps the rules that every pass and both runtimes rely on.

Each tensor is defined once, before it is used, in the same or an enclosing body of the same graph; what a
body takes and gives has the number and the types that its operation says; and the type of each result covers
what the op's own rule gives for the operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from autograph.errors import GraphError
from autograph.graph.graph import Graph, Operation, Region, Tensor, region_operations
from autograph.graph.text import excerpt
from autograph.graph.tree import leaves, map_tree
from autograph.graph.types import (
    BOTTOM,
    UNBOUND,
    Array,
    Const,
    Host,
    Py,
    Ref,
    Site,
    TooManyTypes,
    TupleT,
    Type,
    Unbound,
    Union,
    join,
    walk,
)


def check(graph: Graph) -> None:
    """Raises `GraphError`, with the graph around the bad operation, unless the graph keeps all rules.

    >>> from autograph.graph.parse import parse_text
    >>> check(parse_text('''
    ... graph f(n: int) -> float
    ...   m: float = add(n, 1)
    ...   return m
    ... '''))
    Traceback (most recent call last):
    autograph.errors.GraphError: 'add' gives int for these operands, which float does not cover
      graph f(n: int) -> float
    >   m: float = add(n, 1)
        return m
    """
    _Checker(graph).check()


def type_of_value(value: Any) -> Type:
    """The type of a tensor or of a constant, as an argument or a result.

    >>> type_of_value((1, Unbound("x")))
    (=1, unbound)
    """
    if isinstance(value, Tensor):
        return value._ag_type
    if isinstance(value, Unbound):
        return UNBOUND
    if isinstance(value, tuple):
        return TupleT(tuple(map(type_of_value, value)), type(value))
    return Array(value.dtype, value.shape) if isinstance(value, np.ndarray) else Const(value)


def covers(wide: Type, narrow: Type) -> bool:
    """Whether every value of one type is a value of another.

    >>> covers(Py(int), Const(3)), covers(Const(3), Py(int))
    (True, False)
    """
    try:
        return join(wide, narrow) == wide
    except TooManyTypes:
        return False


class _Checker:
    def __init__(self, graph: Graph) -> None:
        self.top = graph
        self.current = graph
        self.sites = _sites(graph)
        self.defined: set[int] = set()
        self.visible: set[int] = set()

    def fail(self, what: str, bad: Operation | Region) -> NoReturn:
        raise GraphError(f"{what}\n{excerpt(self.top, bad)}")

    def require(self, holds: bool, what: str, bad: Operation | Region) -> None:
        if not holds:
            self.fail(what, bad)

    def check(self) -> None:
        for graph in self.top.functions():
            self.current = graph
            self.region(graph.body, graph.body)
            if graph.body.results is not None:
                self.result(graph)

    def result(self, graph: Graph) -> None:
        """A called graph returns the leaves of its result type; the outermost one returns one value."""
        expected = graph.result_type
        if expected is None:
            return
        results = graph.body.results or ()
        types = [expected] if graph is self.top and len(results) == 1 else leaf_types(expected)
        self.values(results, types, "the result of the graph", graph.body)

    # -- scopes ----------------------------------------------------------------------------------------------

    def region(self, region: Region, bad: Operation | Region) -> None:
        """A body; what it defines is seen in it and in the bodies inside it only."""
        self.require(region.graph is self.current, "a body belongs to another graph", bad)
        outer = self.visible
        self.visible = set(outer)
        for param in region.params:
            self.define(param, None, region)
        for operation in region.ops:
            self.operation(operation)
            self.ends(operation, region)
        for leaf in leaves(region.results or ()):
            self.use(leaf, "the results of the body use", region)
        self.visible = outer

    def ends(self, operation: Operation, region: Region) -> None:
        """An operation that always raises is the last one of a body that never gets to its end."""
        if any(t._ag_type is BOTTOM for t in operation.outputs):
            last = operation is region.ops[-1] and region.results is None
            self.require(last, f"'{operation.name}' always raises, but the body goes on after it", operation)

    def define(self, tensor: Tensor, operation: Operation | None, bad: Operation | Region) -> None:
        self.require(tensor._ag_graph is self.current, f"{tensor!r} belongs to another graph", bad)
        self.require(id(tensor) not in self.defined, f"{tensor!r} is defined twice", bad)
        self.require(tensor._ag_op is operation, f"{tensor!r} names another operation as its own", bad)
        self.defined.add(id(tensor))
        self.visible.add(id(tensor))

    def use(self, leaf: Any, what: str, bad: Operation | Region) -> None:
        if not isinstance(leaf, Tensor):
            return
        self.require(leaf._ag_graph is self.current, f"{what} {leaf!r} of another graph", bad)
        if id(leaf) not in self.visible:
            why = "outside the body that defines it" if id(leaf) in self.defined else "before it is defined"
            self.fail(f"{what} {leaf!r} {why}", bad)

    # -- operations ------------------------------------------------------------------------------------------

    def operation(self, operation: Operation) -> None:
        for leaf in leaves((operation.args, operation.kwargs)):
            self.use(leaf, f"'{operation.name}' uses", operation)
            constant_array = isinstance(leaf, np.ndarray)  # one run would see what another has written
            self.require(not constant_array, f"'{operation.name}' has an array as a constant", operation)
        if operation.op is not None:
            self.plain(operation)
        elif operation.name == "cond":
            self.cond(operation)
        elif operation.name == "while_loop":
            self.while_loop(operation)
        elif operation.name == "try":
            self.try_(operation)
        elif operation.name == "call":
            self.call(operation)
        else:
            self.fail(f"'{operation.name}' has no op", operation)
        for output in operation.outputs:
            self.define(output, operation, operation)

    def plain(self, operation: Operation) -> None:
        self.require(operation.op.name == operation.name, f"its op is '{operation.op.name}'", operation)
        self.require(not operation.regions and not operation.callee, "a plain op has no bodies", operation)
        self.require(len(operation.outputs) == 1, "a plain op has one result", operation)
        recorded = operation.outputs[0]._ag_type
        inferred = self.infer(operation)
        if recorded is BOTTOM or inferred is None or isinstance(inferred, Host):
            return  # the operators knew better than the rule
        self.require(
            covers(recorded, inferred),
            f"'{operation.name}' gives {inferred!r} for these operands, which {recorded!r} does not cover",
            operation,
        )

    def infer(self, operation: Operation) -> Type | None:
        """What the op's rule says; a rule may widen sites, but finds nothing to widen in a finished graph."""
        args, kwargs = map_tree(_abstract, (operation.args, operation.kwargs))
        before = [(site, dict(vars(site))) for site in self.sites]
        try:
            inferred: Type | None = operation.op.infer(args, kwargs)
        except Exception as error:
            self.fail(f"the rule of '{operation.name}' does not take these operands: {error}", operation)
        finally:
            changed = [site for site, state in before if _content(vars(site)) != _content(state)]
            for site, state in before:
                vars(site).update(state)
        if inferred is not None and changed:
            self.fail(f"'{operation.name}' puts into {changed[0]!r} what its table does not hold", operation)
        return inferred

    def cond(self, operation: Operation) -> None:
        self.require(len(operation.args) == 1, "a cond has one argument, its test", operation)
        self.require(len(operation.regions) == 2, "a cond has two bodies", operation)
        self.values(operation.args, [Py(bool)], "the test", operation)
        for region in operation.regions:
            self.require(not region.params, "the bodies of a cond have no parameters", region)
            self.region(region, operation)
            self.gives(region, operation.outputs, "the body", operation)

    def while_loop(self, operation: Operation) -> None:
        self.require(len(operation.regions) == 2, "a while_loop has two bodies", operation)
        test, body = operation.regions
        self.values(operation.args, types_of(test.params), "what the loop starts with", operation)
        self.region(test, operation)
        self.region(body, operation)
        if test.results is not None:
            self.require(len(test.results) > 0, "the test of a while_loop gives a truth value", test)
            self.values(test.results[:1], [Py(bool)], "the test", test)
            self.values(test.results[1:], types_of(body.params), "what the test passes on", test)
            self.values(test.results[1:], types_of(operation.outputs), "what the loop ends with", operation)
        self.gives(body, test.params, "the body", body)

    def try_(self, operation: Operation) -> None:
        options = operation.kwargs
        known = {"handlers", "has_else", "has_finally"}
        self.require(set(options) == known, f"a try has the options {sorted(known)}", operation)
        count = 1 + len(options["handlers"]) + options["has_else"] + options["has_finally"]
        self.require(len(operation.regions) == count, f"this try has {count} bodies", operation)
        self.require(not operation.args and not operation.outputs, "a try takes and gives nothing", operation)
        for i, region in enumerate(operation.regions):
            handler = 1 <= i <= len(options["handlers"])
            self.require(len(region.params) == handler, "only handlers have a parameter", region)
            self.require(region.results in ((), None), "the bodies of a try give nothing", region)
            self.region(region, operation)

    def call(self, operation: Operation) -> None:
        callee = operation.callee
        if callee is None:
            self.fail("a call has a graph", operation)
        self.values(operation.args, types_of(callee.params), f"an argument of {callee.name!r}", operation)
        if callee.body.results is not None:
            self.gives(callee.body, operation.outputs, f"{callee.name!r}", operation)

    # -- types -----------------------------------------------------------------------------------------------

    def gives(self, region: Region, takers: list[Tensor], what: str, bad: Operation | Region) -> None:
        if region.results is not None:
            self.values(region.results, types_of(takers), f"what {what} gives", bad)

    def values(
        self, values: Sequence[Any], types: Sequence[Type], what: str, bad: Operation | Region
    ) -> None:
        """As many values as types, and each type covers its value."""
        if len(values) != len(types):
            self.fail(f"{what}: {len(values)} values where {len(types)} are expected", bad)
        for i, (value, t) in enumerate(zip(values, types)):
            found = type_of_value(value)
            which = what if len(values) == 1 else f"{what} (value {i + 1})"
            self.require(covers(t, found), f"{which} is {found!r}, which {t!r} does not cover", bad)


def types_of(tensors: Iterable[Tensor]) -> list[Type]:
    """The types of some tensors."""
    return [t._ag_type for t in tensors]


def leaf_types(t: Type) -> list[Type]:
    """The types of what a value of type `t` needs to be made of: constants need nothing, tuples their items.

    >>> leaf_types(TupleT((Const(1), Py(int), TupleT((Py(float),)))))
    [int, float]
    """
    if isinstance(t, Const) or t is UNBOUND:
        return []
    if isinstance(t, TupleT):
        return [leaf for item in t.items for leaf in leaf_types(item)]
    return [t]


def _abstract(leaf: Any) -> Any:
    """An operand as rules see it; the name that is not bound is the reader's business."""
    if not isinstance(leaf, Tensor):
        return leaf
    t = leaf._ag_type
    return join(*(m for m in t.members if m is not UNBOUND)) if isinstance(t, Union) else t


def _content(state: dict[str, Any]) -> Any:
    return [state[name] for name in ("elem", "key_type", "fixed", "fields", "closed")]


def _sites(graph: Graph) -> list[Site]:
    """All allocation sites that a graph knows of, also through what others hold."""
    found: dict[int, Site] = {}
    todo: list[Type] = []
    for g in graph.functions():
        todo += types_of(g.params)
        for operation in region_operations(g.body):
            todo += types_of(operation.outputs)
            todo += [t for region in operation.regions for t in types_of(region.params)]
            constants = leaves((operation.args, operation.kwargs))
            todo += [Ref(leaf) for leaf in constants if isinstance(leaf, Site)]
    while todo:
        for t in walk(todo.pop()):
            if isinstance(t, Ref) and id(t.site) not in found:
                site = found[id(t.site)] = t.site
                todo += [site.elem, site.key_type, *(site.fixed or ()), *site.fields.values()]
    return list(found.values())
