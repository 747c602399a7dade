"""The printed form of a graph: what users read and golden tests compare; `parse` reads it back.

One operation a line, nested bodies indented, the user's line at the end. What has no literal form
(functions, classes, objects) is a `$name` of the table of constants; what lists, dicts, objects and cells may
hold stands in the `where` table at the end.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autograph.graph.graph import Graph, Operation, Region, Tensor, region_operations
from autograph.graph.tree import leaves
from autograph.graph.types import (
    BOTTOM,
    UNBOUND,
    Array,
    Cell,
    ClosureT,
    Const,
    Host,
    IterT,
    Py,
    Ref,
    Scalar,
    SeqT,
    Site,
    TupleT,
    Type,
    TypeChoice,
    Unbound,
    Union,
    const_key,
)

PYTHON_TYPES = {cls.__name__: cls for cls in (bool, int, float, complex, str, bytes, slice, range)}
"""The classes that a type names without a constant."""

SITE_CLASSES: dict[str, type] = {"list": list, "dict": dict, "set": set, "cell": Cell}
"""The class that each kind of site has unless it says otherwise."""

RESERVED = frozenset({"True", "False", "None", "inf", "nan", "never", "call"})
"""Words that name no tensor."""

PLACE_COLUMN = 72


def to_text(graph: Graph) -> str:
    """The printed form of a graph and of the graphs that it calls.

    >>> from autograph.graph.parse import parse_text
    >>> print(to_text(parse_text('''
    ... graph double(x: float64[3]) -> float64[3]
    ...   y: float64[3] = mul(x, 2.0)
    ...   return y
    ... ''')))
    graph double(x: float64[3]) -> float64[3]
      y: float64[3] = mul(x, 2.0)
      return y
    """
    return _Printer(graph).text


def constants(graph: Graph) -> dict[str, Any]:
    """The values of the `$names` in the printed form.

    >>> constants(Graph("empty"))
    {}
    """
    return _Printer(graph).constants


def equal(a: Graph, b: Graph) -> bool:
    """Whether two graphs are the same but for the names of their tensors and graphs, and their lines.

    >>> equal(Graph("f"), Graph("g"))
    True
    """
    first, second = _Printer(a, anonymous=True), _Printer(b, anonymous=True)
    return first.text == second.text and all(
        const_key(value) == const_key(second.constants[name]) for name, value in first.constants.items()
    )


def excerpt(graph: Graph, bad: Operation | Region, around: int = 6) -> str:
    """The lines around an operation, or around the head of a region, which is marked by `>`."""
    lines = _Printer(graph, mark=bad).lines
    at = next((i for i, line in enumerate(lines) if line.startswith(">")), 0)
    return "\n".join(line.rstrip() for line in lines[max(0, at - around) : at + around + 1])


class _Names:
    """Gives names, each once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self.taken = set(reserved)

    def fresh(self, wish: str) -> str:
        name = wish
        for number in itertools.count(1):
            if name not in self.taken:
                break
            name = f"{wish}_{number}"
        self.taken.add(name)
        return name


def identifier(text: str) -> str:
    """A name made of any text.

    >>> identifier("argument 0"), identifier("<lambda>"), identifier("2x")
    ('argument_0', 'lambda', '_2x')
    """
    name = re.sub(r"\W+", "_", text).strip("_" if not text.startswith("_") else "") or "_"
    return f"_{name}" if name[0].isdigit() else name


class _Printer:
    def __init__(self, graph: Graph, anonymous: bool = False, mark: Operation | Region | None = None) -> None:
        self.constants: dict[str, Any] = {}
        self.anonymous, self.mark = anonymous, mark
        self.lines: list[str] = []
        self._constant_names: dict[int, str] = {}
        self._closures: dict[ClosureT, ClosureT] = {}
        self._sites: dict[int, tuple[str, Site]] = {}
        self._names = _Names()
        self._wishes: dict[int, str] = {}
        self._tensors: dict[int, str] = {}
        self._uses: set[int] = set()
        graphs = graph.functions()
        places = [o.place for g in graphs for o in region_operations(g.body) if o.place is not None]
        self._files = sorted({os.path.basename(p.code.co_filename) for p in places})
        names = _Names()
        self._graphs = {
            id(g): f"g{i}" if anonymous else names.fresh(identifier(g.name)) for i, g in enumerate(graphs)
        }
        for g in graphs:
            self._graph(g)
        self._where()
        self._table()
        self.text = "\n".join(self.lines)

    # -- lines ---------------------------------------------------------------------------------------------

    def _line(self, depth: int, text: str, place: str = "", marked: bool = False) -> None:
        line = "  " * depth + text
        if place:
            line = f"{line:<{PLACE_COLUMN}}  # {place}"
        self.lines.append("> " + line if marked else "  " + line if self.mark is not None else line)

    def _place(self, operation: Operation) -> str:
        place = operation.place
        if place is None or self.anonymous:
            return ""
        if len(self._files) == 1:
            return f"L{place.line}"
        return f"{os.path.basename(place.code.co_filename)}:{place.line}"

    def _graph(self, graph: Graph) -> None:
        if self.lines:
            self._line(0, "")
        self._name_tensors(graph)
        result = "" if graph.result_type is None else f" -> {self.type(graph.result_type)}"
        first = not self.lines and len(self._files) == 1 and not self.anonymous
        head = f"graph {self._graphs[id(graph)]}({self._params(graph.body.params)}){result}"
        self._line(0, head, self._files[0] if first else "", graph.body is self.mark)
        self._region(graph.body, 1, "return")

    def _region(self, region: Region, depth: int, end: str = "yield") -> None:
        for operation in region.ops:
            never = operation is region.ops[-1] and region.results is None
            self._operation(operation, depth, never)
        if region.results is None:
            self._line(depth, "never")
        elif region.results or end == "return":
            self._line(depth, f"{end} {', '.join(map(self.value, region.results))}".rstrip())

    def _operation(self, operation: Operation, depth: int, never: bool) -> None:
        text = self._left(operation, never) + self._right(operation)
        self._line(depth, text, self._place(operation), operation is self.mark)
        for label, region in self._labels(operation):
            if label == "else" and operation.name == "cond" and not region.ops and region.results == ():
                continue
            params = f" ({self._params(region.params)})" if region.params else ""
            self._line(depth + 1, label + params, "", region is self.mark)
            self._region(region, depth + 2)

    def _left(self, operation: Operation, never: bool) -> str:
        outputs = operation.outputs
        single = operation.op is not None and len(outputs) == 1 and id(outputs[0]) not in self._uses
        if not outputs or (single and outputs[0]._ag_type == (BOTTOM if never else Const(None))):
            return ""
        return self._params(outputs) + " = "

    def _right(self, operation: Operation) -> str:
        args = list(map(self.value, operation.args))
        if operation.name == "try" and operation.op is None:
            return "try()"
        args += [f"{_keyword(name)}={self.value(value)}" for name, value in operation.kwargs.items()]
        name = operation.name
        if operation.callee is not None:
            name = f"call {self._graphs[id(operation.callee)]}"
        return f"{name}({', '.join(args)})"

    def _labels(self, operation: Operation) -> Iterator[tuple[str, Region]]:
        regions = list(operation.regions)
        if operation.name == "cond":
            yield from zip(("then", "else"), regions)
        elif operation.name == "while_loop":
            yield from zip(("test", "body"), regions)
        elif operation.name == "try":
            handlers = operation.kwargs.get("handlers", ())
            yield "body", regions[0]
            for classes, region in zip(handlers, regions[1:]):
                yield f"except {self.value(classes)}", region
            more = [w for w in ("else", "finally") if operation.kwargs.get(f"has_{w}")]
            yield from zip(more, regions[1 + len(handlers) :])

    def _params(self, tensors: Iterable[Tensor]) -> str:
        return ", ".join(f"{self._tensor(t)}: {self.type(t._ag_type)}" for t in tensors)

    # -- names ---------------------------------------------------------------------------------------------

    def _name_tensors(self, graph: Graph) -> None:
        """Finds the names of the user's variables, also for what flows into a variable without being one."""
        self._names, self._wishes = _Names(RESERVED), {}
        self._number = itertools.count(1)
        operations = list(region_operations(graph.body))
        regions = [graph.body, *(region for o in operations for region in o.regions)]
        defined = [t for r in regions for t in r.params] + [t for o in operations for t in o.outputs]
        for tensor in defined:
            self._wish(tensor, tensor._ag_name)
        for operation in operations:
            self._uses.update(id(t) for t in operation.inputs)
            for region in operation.regions:
                self._flow(operation, region)
        for region in regions:
            self._uses.update(id(leaf) for leaf in leaves(region.results or ()))
        self._user_names = set(self._wishes.values())

    def _flow(self, operation: Operation, region: Region) -> None:
        results = region.results or ()
        if operation.name == "while_loop":
            results = results[1:] if region is operation.regions[0] else results
        for result, output in zip(results, operation.outputs):
            if isinstance(result, Tensor) and id(result) not in self._wishes:
                self._wish(result, output._ag_name)

    def _wish(self, tensor: Tensor, name: str) -> None:
        if name and not self.anonymous:
            wish = identifier(name.removeprefix("arg:"))
            self._wishes[id(tensor)] = f"{wish}_" if wish in RESERVED else wish

    def _tensor(self, tensor: Tensor) -> str:
        name = self._tensors.get(id(tensor))
        if name is None:
            name = self._tensors[id(tensor)] = self._new_name(tensor)
        return name

    def _new_name(self, tensor: Tensor) -> str:
        wish = self._wishes.get(id(tensor))
        if wish is not None:
            return self._names.fresh(wish)
        for number in self._number:
            name = f"t{number}"
            if name not in self._user_names and name not in self._names.taken:
                break
        return self._names.fresh(name)

    def _constant(self, value: Any) -> str:
        name = self._constant_names.get(id(value))
        if name is None:
            wish = getattr(value, "__name__", None) or getattr(value, "name", None)
            wish = identifier(wish if isinstance(wish, str) else type(value).__name__)
            name = wish
            for number in itertools.count(1):
                if name not in self.constants:
                    break
                name = f"{wish}_{number}"
            self.constants[name] = value
            self._constant_names[id(value)] = name
        return "$" + name

    def _site(self, site: Site) -> str:
        if id(site) not in self._sites:
            label = "cell" if site.kind == "cell" else identifier(site.cls.__name__)
            self._sites[id(site)] = f"{label}#{len(self._sites) + 1}", site
        return self._sites[id(site)][0]

    # -- values --------------------------------------------------------------------------------------------

    def value(self, tree: Any) -> str:
        """An argument tree."""
        if isinstance(tree, Tensor):
            return self._tensor(tree)
        if type(tree) is tuple:
            return f"({', '.join(map(self.value, tree))}{',' if len(tree) == 1 else ''})"
        if isinstance(tree, tuple) and hasattr(tree, "_fields"):
            return f"{self._constant(type(tree))}({', '.join(map(self.value, tree))})"
        if type(tree) is list:
            return f"[{', '.join(map(self.value, tree))}]"
        if type(tree) is dict:
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in tree.items()) + "}"
        if type(tree) is slice:
            return f"slice({self.value(tree.start)}, {self.value(tree.stop)}, {self.value(tree.step)})"
        if isinstance(tree, Unbound):
            return f"unbound({tree.name!r})"
        if isinstance(tree, Site):
            return self._site(tree)
        if isinstance(tree, TypeChoice):
            return f"<{'|'.join(map(self.type, tree.types))}>"
        literal = literal_text(tree)
        return self._constant(tree) if literal is None else literal

    def type(self, t: Type) -> str:
        """A type, with `$names` for classes and values."""
        if isinstance(t, Union):
            return "|".join(map(self.type, t.members))
        if t is BOTTOM or t is UNBOUND:
            return repr(t)
        if isinstance(t, Const):
            return f"={self.value(t.value)}"
        if isinstance(t, Py):
            name = t.cls.__name__
            return name if PYTHON_TYPES.get(name) is t.cls else f"py[{self._constant(t.cls)}]"
        if isinstance(t, Scalar):
            return "bool_" if t.dtype == np.bool_ else dtype_text(t.dtype)
        if isinstance(t, Array):
            shape = "..." if t.shape is None else ",".join("?" if d is None else str(d) for d in t.shape)
            return f"{dtype_text(t.dtype)}[{shape}]"
        return self._structure(t)

    def _structure(self, t: Type) -> str:
        if isinstance(t, TupleT):
            items = f"({', '.join(map(self.type, t.items))}{',' if len(t.items) == 1 else ''})"
            return items if t.cls is tuple else self._constant(t.cls) + items
        if isinstance(t, SeqT):
            return f"({self.type(t.elem)}, ...)"
        if isinstance(t, IterT):
            return f"iter[{self.type(t.elem)}{'' if t.cls is None else ', ' + self._constant(t.cls)}]"
        if isinstance(t, Host):
            return "object" if t.cls is None else f"object[{self._constant(t.cls)}]"
        if isinstance(t, ClosureT):  # its key and code have no text of their own
            return f"function[{self._constant(self._closures.setdefault(t, t))}]"
        assert isinstance(t, Ref), t
        return self._site(t.site)

    # -- tables --------------------------------------------------------------------------------------------

    def _where(self) -> None:
        if not self._sites:
            return
        self._line(0, "")
        self._line(0, "where")
        printed = 0
        while printed < len(self._sites):  # what a site holds may name further sites
            name, site = list(self._sites.values())[printed]
            self._line(1, f"{name}: {self._contents(site)}")
            printed += 1

    def _contents(self, site: Site) -> str:
        parts = [site.kind]
        if SITE_CLASSES.get(site.kind) is not site.cls:
            parts.append(self._constant(site.cls))
        if site.fixed is not None:
            parts.append(f"[{', '.join(map(self.type, site.fixed))}]")
        if site.fields:
            fields = (f"{self.value(k)}: {self.type(t)}" for k, t in site.fields.items())
            parts.append("{" + ", ".join(fields) + "}")
        if not site.closed:
            parts.append("open")
        if site.key_type is not BOTTOM:
            parts.append(f"by {self.type(site.key_type)}")
        if site.elem is not BOTTOM:
            parts.append(f"of {self.type(site.elem)}")
        return " ".join(parts)

    def _table(self) -> None:
        if not self.constants:
            return
        self._line(0, "")
        self._line(0, "constants")
        for name, value in self.constants.items():
            self._line(1, f"${name}: {_description(value)}")


def _description(value: Any) -> str:
    """What a constant is, in words that are the same in every run."""
    if isinstance(value, type):
        return f"class {value.__qualname__}"
    if isinstance(value, BaseException):
        return f"{type(value).__name__}{value.args!r}" if literal_text(value.args) else type(value).__name__
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"{type(value).__name__} {name}" if isinstance(name, str) else type(value).__name__


def _keyword(name: str) -> str:
    return name if name.isidentifier() else repr(name)


def dtype_text(dtype: np.dtype[Any]) -> str:
    """The name of a dtype of numbers; `dtype('...')` for all others.

    >>> dtype_text(np.dtype("f4")), dtype_text(np.dtype(">f4"))
    ('float32', "dtype('>f4')")
    """
    plain = dtype.kind in "biufc" and dtype.isnative
    return dtype.name if plain else f"dtype({dtype.str!r})"


def literal_text(value: Any) -> str | None:
    """The literal of a constant; None for what has none.

    >>> literal_text(-0.0), literal_text(np.float32(0.5)), literal_text(range(3)), literal_text(print)
    ('-0.0', 'float32(0.5)', 'range(0, 3, 1)', None)
    """
    cls = type(value)
    if value is None or value is Ellipsis or cls in (bool, int, str, bytes):
        return "..." if value is Ellipsis else repr(value)
    if cls is float:
        return repr(value) if const_key(value) == const_key(float(repr(value))) else None
    if cls is complex:
        parts = literal_text(value.real), literal_text(value.imag)
        return None if None in parts else f"complex({parts[0]}, {parts[1]})"
    if cls is range:
        return f"range({value.start}, {value.stop}, {value.step})"
    if isinstance(value, np.dtype):
        return f"dtype({value.str!r})" if value.names is None and np.dtype(value.str) == value else None
    if cls is tuple:
        items = [literal_text(item) for item in value]
        return None if None in items else f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"
    return _scalar_literal(value) if isinstance(value, np.generic) else None


def _scalar_literal(value: np.generic) -> str | None:
    """A NumPy number, where its value survives the way through Python's."""
    if value.dtype.kind not in "biufc" or value.dtype.itemsize > 16 or value.dtype.char in "gG":
        return None
    plain = value.item()
    inner = literal_text(plain)
    if inner is None or const_key(value.dtype.type(plain)) != const_key(value):
        return None
    return f"{'bool_' if value.dtype.kind == 'b' else value.dtype.name}({inner})"
