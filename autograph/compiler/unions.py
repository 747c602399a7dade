"""Numbers of one of several types, `float|float64` or `int|float`: registers and a tag that tells the type.

An operation is lowered once for each type that an operand may have, and the tag chooses at run time; where
the machine does the same for all of them (a sum of floats is one, Python's or NumPy's), it is lowered once,
and only the tag of the result is chosen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.compiler import arrays, values
from autograph.compiler.elementwise import UFUNC_OF
from autograph.compiler.lowering import RULES, FunctionLowering, Rule, Unsupported, rule, rule_of
from autograph.compiler.values import (
    Elements,
    Known,
    Lazy,
    Memory,
    Number,
    Tagged,
    Value,
    alternatives,
    array_type,
    register,
    scalar_dtype,
)
from autograph.graph.graph import Operation, Tensor
from autograph.graph.tree import map_tree
from autograph.graph.types import BOTTOM, UNBOUND, Const, Py, Scalar, Type, Unbound, generalize, members
from autograph.graph.types import join as join_types
from autograph.records import replace

MOST = 6
"""Combinations of types that an operation is lowered for."""

BOOL = np.dtype(bool)

# -- values --------------------------------------------------------------------------------------------------


def tagged(f: FunctionLowering, value: Value, types: tuple[Type, ...]) -> Tagged:
    """A number as one that may be of these types."""
    if isinstance(value, Tagged):
        if value.types == types:
            return value
        if not set(value.types) <= set(types):
            raise Unsupported(f"a number of {value.types!r} as one of {types!r}")
        places = [types.index(t) for t in value.types]
        return Tagged(types, _filled(f, types, value.numbers), _chosen(f, [value], places))
    nothing = isinstance(value, Known) and isinstance(value.value, Unbound)
    number = Number(UNBOUND, BOOL, ("false",)) if nothing else f.number(value)
    if number.type not in types:
        raise Unsupported(f"a number of {number.type!r} as one of {types!r}")
    return Tagged(types, _filled(f, types, (number,)), str(types.index(number.type)))


def _filled(f: FunctionLowering, types: tuple[Type, ...], known: tuple[Number, ...]) -> tuple[Number, ...]:
    """A number for each type: in the registers of one that is known, or nothing."""
    parts = {n.dtype: n for n in known}
    numbers = []
    for t in types:
        dtype = values.alternative_dtype(t)
        assert dtype is not None
        same = parts.get(dtype)
        numbers.append(Number(t, dtype, f.literal(0, dtype) if same is None else same.parts))
    return tuple(numbers)


def _is(f: FunctionLowering, value: Tagged, place: int) -> str:
    return f.b.value(f"icmp eq i8 {value.tag}, {place}")


def _chosen(f: FunctionLowering, given: list[Tagged], results: list[int]) -> str:
    """A tag by the tags of some values: `results` is in the order of the product of their types."""
    if len(set(results)) == 1:
        return str(results[0])
    if len(given) == 1 and results == list(range(len(results))):
        return given[0].tag
    combinations = list(itertools.product(*(range(len(v.types)) for v in given)))
    tag = str(results[-1])
    for places, result in zip(combinations[:-1], results):
        tag = f.b.value(f"select i1 {_all(f, given, places)}, i8 {result}, i8 {tag}")
    return tag


def _all(f: FunctionLowering, given: list[Tagged], places: tuple[int, ...]) -> str:
    """Whether each value is of the type at a place among its types."""
    test = _is(f, given[0], places[0])
    for value, place in zip(given[1:], places[1:]):
        test = f.b.value(f"and i1 {test}, {_is(f, value, place)}")
    return test


def pieces(value: Value) -> list[tuple[str, str]]:
    """The IR types and names of the registers in which a number lies."""
    if isinstance(value, Number):
        return [(register(value.dtype), p) for p in value.parts]
    assert isinstance(value, Tagged)
    found = {n.dtype: pieces(n) for n in value.numbers}
    return [pair for pairs in found.values() for pair in pairs] + [("i8", value.tag)]


def rebuilt(value: Value, names: Iterator[str]) -> Any:
    """A number of the same types in other registers."""
    if isinstance(value, Number):
        return Number(value.type, value.dtype, tuple(next(names) for _ in value.parts))
    assert isinstance(value, Tagged)
    found = {n.dtype: len(n.parts) for n in value.numbers}
    parts = {dtype: tuple(next(names) for _ in range(count)) for dtype, count in found.items()}
    numbers = tuple(Number(n.type, n.dtype, parts[n.dtype]) for n in value.numbers)
    return Tagged(value.types, numbers, next(names))


def like(f: FunctionLowering, value: Value, t: Type) -> Any:
    """A value as the number, of one or of several types, that a type asks for."""
    types = alternatives(t)
    return tagged(f, value, types) if types else f.number(value)


def join(f: FunctionLowering, found: list[Any], blocks: list[str]) -> Any:
    """Phis of numbers of the same types, each from the end of a block."""
    names = []
    for column in zip(*map(pieces, found)):
        operands = [name for _, name in column]
        if all(o == operands[0] for o in operands):
            names.append(operands[0])
            continue
        phi = f.b.phi(column[0][0])
        phi.incoming = list(zip(operands, blocks))
        names.append(phi.name)
    return rebuilt(found[0], iter(names))


LEFT = object()

# -- objects -------------------------------------------------------------------------------------------------


def _branches(
    f: FunctionLowering, count: int, test: Callable[[int], str], work: Callable[[int], Any]
) -> tuple[list[Any], list[str]]:
    """Does work in a block of its own for the first test that holds, the last where none does; joins them.

    Gives the results and the blocks that they come from; a block whose work gives `LEFT` has ended already.
    """
    b = f.b
    after = b.label("joined")
    found, ends = [], []
    for place in range(count):
        if place < count - 1:
            then, other = b.label("case"), b.label("next")
            b.branch(test(place), then, other)
            b.start(then)
        result = work(place)
        if result is not LEFT:
            found.append(result)
            ends.append(b.block)
        if place < count - 1:
            b.start(other)
    for end in ends:
        b.switch(end)
        b.jump(after)
    b.start(after)
    return found, ends


def box(f: FunctionLowering, value: Tagged) -> str:
    """A new reference to the Python object of a number."""

    def boxed(k: int) -> str:
        if value.types[k] is UNBOUND:
            return f.incref(f.object_constant(values.NOTHING))
        return f.box_number(value.numbers[k])

    found, ends = _branches(f, len(value.types), lambda k: _is(f, value, k), boxed)
    phi = f.b.phi("ptr")
    phi.incoming = list(zip(found, ends))
    return phi.name


def unbox(f: FunctionLowering, pointer: str, types: tuple[Type, ...]) -> Tagged:
    """The number that an object is; borrows the reference."""
    b = f.b
    cls = b.value(f"load ptr, ptr {f.at(pointer, 8)}")

    def is_of(k: int) -> str:
        tests = [b.value(f"icmp eq ptr {cls}, {f.object_constant(c)}") for c in _classes(types[k])]
        test = tests[0]
        for other in tests[1:]:
            test = b.value(f"or i1 {test}, {other}")
        return test

    def read(k: int) -> Tagged:
        if types[k] is UNBOUND:
            return tagged(f, Known(values.NOTHING), types)
        dtype = scalar_dtype(types[k])
        assert dtype is not None
        number = Number(types[k], dtype, f._unbox_parts(pointer, types[k], dtype))
        return tagged(f, number, types)

    found, ends = _branches(f, len(types), is_of, read)
    return join(f, found, ends)  # type: ignore[no-any-return]


def _classes(t: Type) -> list[type]:
    """The classes of the objects of a type; NumPy has several for some dtypes."""
    if isinstance(t, Py):
        return [t.cls]
    if t is UNBOUND:
        return [Unbound]
    assert isinstance(t, Scalar)
    codes = [c for c in np.typecodes["All"] if c not in "SUVOMm"]
    return list(dict.fromkeys([t.dtype.type, *(np.dtype(c).type for c in codes if np.dtype(c) == t.dtype)]))


# -- operations ----------------------------------------------------------------------------------------------

SAME = frozenset({"add", "sub", "mul", "iadd", "isub", "imul", "neg", "pos", "abs"})
"""Functions of floats that are the same in Python and in NumPy."""
COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne"})
CONVERSIONS = frozenset({"bool", "not", "float", "int", "index", "round", "check_bound"})
INDEXED = frozenset({"get_item", "set_item", "range", "range_length", "range_item"})
ROUNDED = frozenset({"math.floor", "math.ceil"})
"""These go by way of a float where an integer is NumPy's."""
QUOTIENTS = frozenset({"truediv", "itruediv"})
WHOLE = frozenset(
    {
        *("tuple", "new_list", "cell_set", "set_field", "list.append", "is_type", "narrow", "min", "max"),
        *("print", "is", "new_cell"),
    }
)
"""Operations that take such numbers as they are."""


def rule_for(name: str, lower: Rule) -> Rule:
    """The rule for an operation with such numbers among its operands."""
    return lower if name in WHOLE else _lower


def _lower(f: FunctionLowering, operation: Operation, *args: Any, **options: Any) -> Value | None:
    """The result of an operation on numbers of several types, lowered for each of them."""
    if operation.name == "set_item" and not isinstance(args[0], Memory) and not isinstance(args[1], Tagged):
        return RULES[operation.name](f, operation, *args, **options)  # a list keeps the class of its items
    tensors = list({id(t): t for t in operation.inputs if isinstance(f.env.get(id(t)), Tagged)}.values())
    given: list[Any] = [f.env[id(t)] for t in tensors]
    if len(tensors) == 1 and (dtype := _computed_in(f, operation, given[0])) is not None:
        f.env[id(tensors[0])] = _merged(f, operation, given[0], dtype)
        made = RULES[operation.name](f, operation, *f.operands(operation.args))
        f.env[id(tensors[0])] = given[0]
        return made
    combinations = list(itertools.product(*(v.types for v in given)))
    if len(combinations) > MOST:
        return None
    results = _results(operation, tensors, combinations)
    if results is None:
        return None
    saved = dict(f.env)
    if _alike(f, operation, given, results):
        for t, value in zip(tensors, given):
            f.env[id(t)] = value.numbers[0]
        made = _lowered(f, operation, results[0])
        for t, value in zip(tensors, given):
            f.env[id(t)] = value
        types = alternatives(operation.outputs[0]._ag_type) if operation.outputs else ()
        if made is None or not types or len(set(results)) == 1:
            return made
        number = f.number(made)
        return Tagged(
            types,
            _filled(f, types, (number,)),
            _chosen(f, given, [types.index(t) for t in results]),
        )
    gives = any(t._ag_type != NOTHING_GIVEN for t in operation.outputs)  # `x[i] = n` does not
    if gives and not all(is_number_type(t._ag_type) for t in operation.outputs):
        return _only(f, operation, tensors, combinations, results)
    f.flush()
    saved = dict(f.env)
    places = list(itertools.product(*(range(len(v.types)) for v in given)))

    def work(k: int) -> Any:
        f.env = dict(saved)
        f.evaluated.clear()
        chosen = combinations[k]
        for t, value, kind in zip(tensors, given, chosen):
            number = value.numbers[value.types.index(kind)]
            f.env[id(t)] = Known(values.NOTHING) if kind is UNBOUND else number
        if results[k] is BOTTOM and gives:
            f._kernel(operation, must_raise=True)
            f.b.jump(f.targets[-1])
            return LEFT
        made = _lowered(f, operation, results[k])
        if made is None:
            made = _called(f, operation, results[k])
        return like(f, made, operation.outputs[0]._ag_type) if gives else None

    found, ends = _branches(f, len(places), lambda k: _all(f, given, places[k]), work)
    f.env = dict(saved)
    f.evaluated.clear()
    if not found:
        f.b.emit("unreachable")
        f.dead = True
        return Known(None)
    return join(f, found, ends) if gives else Known(None)


NOTHING_GIVEN = Const(None)
ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "iadd", "isub", "imul", "itruediv"})
"""Operations of an array of floats and a number that are computed in the array's dtype."""


def _computed_in(f: FunctionLowering, operation: Operation, number: Tagged) -> np.dtype[Any] | None:
    """The dtype of an array of floats that a number of several types becomes, whichever it is of."""
    if operation.kwargs or not (operation.name in ARITHMETIC or operation.name == "set_item"):
        return None
    operands = [f.value_of(a) if isinstance(a, Tensor) else a for a in operation.args]
    stored = operation.name == "set_item"
    places = operands[:1] if stored and operands[-1] is number else [] if stored else operands
    array = next((v for v in places if isinstance(v, (Memory, Elements, Lazy))), None)
    if array is None or array.dtype.kind != "f":
        return None
    for t in number.types:
        weak = isinstance(t, Py) and t.cls in (bool, int, float)
        if (
            not weak
            and t != Scalar(array.dtype)
            and not (stored and isinstance(t, Scalar) and t.dtype.kind in "biuf")
        ):
            return None
    return array.dtype


def _merged(f: FunctionLowering, operation: Operation, number: Tagged, dtype: np.dtype[Any]) -> Number:
    """A number of several types as one of a dtype."""
    parts = [arrays.convert(f, operation, n, dtype).ir for n in number.numbers]
    found = parts[0]
    for place, ir in enumerate(parts[1:], 1):
        kind = register(dtype)
        found = f.b.value(f"select i1 {_is(f, number, place)}, {kind} {ir}, {kind} {found}")
    return Number(Scalar(dtype), dtype, (found,))


def _only(
    f: FunctionLowering,
    operation: Operation,
    tensors: list[Tensor],
    combinations: list[tuple[Type, ...]],
    results: list[Type],
) -> Value | None:
    """The result of an operation that raises for all types of its numbers but one: `x[: n**2]`."""
    given: list[Any] = [f.env[id(t)] for t in tensors]
    right = [k for k, t in enumerate(results) if t is not BOTTOM]
    if len(right) != 1 or array_type(results[right[0]]) is None:
        return None
    places = tuple(v.types.index(kind) for v, kind in zip(given, combinations[right[0]]))
    f.guard(_all(f, given, places), operation)
    for t, value, place in zip(tensors, given, places):
        f.env[id(t)] = value.numbers[place]
    made = _lowered(f, operation, results[right[0]])
    for t, value in zip(tensors, given):
        f.env[id(t)] = value
    return made


def is_number_type(t: Type) -> bool:
    """Whether values of a type are numbers in registers."""
    return scalar_dtype(t) is not None or bool(alternatives(t))


def _results(
    operation: Operation, tensors: list[Tensor], combinations: list[tuple[Type, ...]]
) -> list[Type] | None:
    """The type of the result for each combination of types; None where one is not foretold.

    What the graph does not foretell raises: it is of constants, of which only the types are known here.
    """
    if not operation.outputs:
        return [BOTTOM] * len(combinations)
    results: list[Type] = []
    possible = {generalize(t) for t in members(operation.outputs[0]._ag_type)}
    for combination in combinations:
        known = {id(t): kind for t, kind in zip(tensors, combination)}

        def typed(leaf: Any, known: dict[int, Type] = known) -> Any:
            return known.get(id(leaf), leaf._ag_type) if isinstance(leaf, Tensor) else leaf

        try:
            t = operation.op.infer(*map_tree(typed, (operation.args, operation.kwargs)))
        except Exception:  # a rule that cannot tell: the kernel is called
            return None
        if t is None:
            return None
        kept = [generalize(m) for m in members(t) if generalize(m) in possible]
        results.append(join_types(*kept) if kept else BOTTOM)
    return results


def _alike(f: FunctionLowering, operation: Operation, given: list[Any], results: list[Type]) -> bool:
    """Whether the machine does the same for all combinations of types."""
    if operation.outputs and BOTTOM in results:
        return False
    dtypes = {n.dtype for v in given for n in v.numbers}
    if len(dtypes) != 1 or len({scalar_dtype(t) for t in results if t is not BOTTOM}) > 1:
        return False
    dtype = dtypes.pop()
    name = operation.name
    same_result = len(set(results)) == 1
    operands = [f.value_of(a) for a in operation.args]
    if any(isinstance(v, (Memory, Elements, Lazy)) for v in operands):
        if name in INDEXED:
            return name != "set_item" or _is_stored_alike(operands[0], operands[2])
        if not same_result or not operation.outputs:
            return False
        ufunc = UFUNC_OF.get(name) or (name[3:] if name.startswith("np.") else "")
        return _resolved_alike(ufunc, operands)
    if name == "set_item" and isinstance(operands[2], Tagged):
        return False
    if name in CONVERSIONS or name in INDEXED or name.startswith("math."):
        return same_result and (name not in ROUNDED or dtype.kind == "f")
    if dtype == values.PYTHON[float]:
        if not all(_is_float(v) for v in operands):
            return False
        if name in QUOTIENTS:
            return isinstance(operands[1], Known) and operands[1].value != 0
        return name in SAME or name in COMPARISONS
    return name in COMPARISONS and dtype.kind in "ib" and all(_dtype(v) == dtype for v in operands)


def _is_stored_alike(x: Any, value: Any) -> bool:
    """Whether an array takes a number of any of the types in the same way, or raises nothing."""
    if not isinstance(value, Tagged) or x.dtype.kind not in "iu":
        return True
    return bool(np.can_cast(value.numbers[0].dtype, x.dtype))


def _resolved_alike(name: str, operands: list[Any]) -> bool:
    """Whether a function of arrays computes with the same dtypes, whichever types the numbers have."""
    if any(not isinstance(v, (Memory, Elements, Lazy, Tagged, Number)) for v in operands):
        return False
    choices = itertools.product(*(v.numbers if isinstance(v, Tagged) else (v,) for v in operands))
    found = {arrays.resolve(name, list(choice)) for choice in choices}
    return len(found) == 1 and None not in found


def _dtype(v: Value) -> Any:
    if isinstance(v, Known):
        return values.PYTHON.get(type(v.value), getattr(v.value, "dtype", None))
    return v.numbers[0].dtype if isinstance(v, Tagged) else getattr(v, "dtype", None)


def _is_float(v: Value) -> bool:
    if isinstance(v, Known) and type(v.value) is int:
        return abs(v.value) <= 2**53
    return bool(_dtype(v) == values.PYTHON[float])


def _lowered(f: FunctionLowering, operation: Operation, result: Type) -> Value | None:
    """What the operation's rule makes of the operands, which are of one type each now."""
    lower = rule_of(operation.name)
    if lower is None:
        return None
    operation = _typed(operation, result)
    return lower(f, operation, *f.operands(operation.args), **f.operands(operation.kwargs))


def _typed(operation: Operation, result: Type) -> Operation:
    """The operation with a result of one type."""
    if not operation.outputs or operation.outputs[0]._ag_type == result:
        return operation
    out = operation.outputs[0]
    return replace(operation, outputs=[Tensor(result, out._ag_graph, operation, out._ag_name)])


def _called(f: FunctionLowering, operation: Operation, result: Type) -> Value:
    """The result of the kernel."""
    f.compilation.fallbacks[id(operation)] = operation
    f.note(f"calls back {operation.name}")
    pointer = f.callback(operation)
    if not operation.outputs or result == NOTHING_GIVEN:
        f.decref(pointer)
        return Known(None)
    return f.unbox(pointer, result, None)


# -- tests of types, and what chooses ------------------------------------------------------------------------


@rule("is_type")
def is_type(f: FunctionLowering, operation: Operation, value: Value, choice: Any) -> Value | None:
    wanted = operation.args[1].types
    if any(isinstance(t, Const) for t in wanted):
        return None
    out = operation.outputs[0]._ag_type
    if isinstance(value, Number):
        return Known(value.type in wanted) if not isinstance(out, Const) else None
    if not isinstance(value, Tagged):
        return None
    tests = [_is(f, value, k) for k, t in enumerate(value.types) if t in wanted]
    if len(tests) == len(value.types):
        return Known(True)
    test = "false"
    for other in tests:
        test = other if test == "false" else f.b.value(f"or i1 {test}, {other}")
    return Number(Py(bool), BOOL, (test,))


@rule("narrow")
def narrow(f: FunctionLowering, operation: Operation, value: Value, choice: Any) -> Value | None:
    """The number of the type, or types, that it is known to have here."""
    wanted = operation.args[1].types
    if any(isinstance(t, Const) for t in wanted):
        return None
    if isinstance(value, Number):
        return value if value.type in wanted else None
    if not isinstance(value, Tagged):
        return None
    types = tuple(t for t in value.types if t in wanted)
    numbers = tuple(n for n in value.numbers if n.type in wanted)
    if types == (UNBOUND,):
        return Known(values.NOTHING)
    if len(types) < 2:
        return numbers[0] if numbers else None
    places = [types.index(t) if t in types else 0 for t in value.types]
    return Tagged(types, numbers, _chosen(f, [value], places))


def extremum(f: FunctionLowering, operation: Operation, found: list[Any]) -> Value | None:
    """The smallest or largest of numbers of different types."""
    types = alternatives(operation.outputs[0]._ag_type)
    if any(n.dtype.kind not in "biuf" for v in found for n in _possible(v)):
        return None
    best, kinds = tagged(f, found[0], types), _possible(found[0])
    for value in found[1:]:
        other, others = tagged(f, value, types), _possible(value)
        better = _better(f, operation, other, others, best, kinds)
        if better is None:
            return None
        names = [
            p if p == q else f.b.value(f"select i1 {better}, {kind} {p}, {kind} {q}")
            for (kind, p), (_, q) in zip(pieces(other), pieces(best))
        ]
        best, kinds = rebuilt(best, iter(names)), kinds + others
    return best


def _possible(value: Any) -> list[Number]:
    """A number for each type that a value may have."""
    return list(value.numbers) if isinstance(value, Tagged) else [value]


def _better(
    f: FunctionLowering,
    operation: Operation,
    other: Tagged,
    others: list[Number],
    best: Tagged,
    kinds: list[Number],
) -> str | None:
    """Whether a number takes the place of the best one so far."""
    from autograph.compiler import numbers

    name = "lt" if operation.name == "min" else "gt"
    test = None
    first = {n.type: n for n in others}
    second = {n.type: n for n in kinds}
    floats = {n.dtype for n in (*others, *kinds)} == {values.PYTHON[float]}
    for p, q in itertools.product(first, second):
        i, j = best.types.index(p), best.types.index(q)
        found = numbers.compared_exactly(f, operation, name, other.numbers[i], best.numbers[j])
        if found is None or test is None or floats:
            test = found
        else:
            both = f.b.value(f"and i1 {_is(f, other, i)}, {_is(f, best, j)}")
            test = f.b.value(f"select i1 {both}, i1 {found}, i1 {test}")
        if test is None or floats:
            return test
    return test


__all__ = [
    "box",
    "extremum",
    "is_number_type",
    "join",
    "like",
    "pieces",
    "rebuilt",
    "rule_for",
    "tagged",
    "unbox",
]
