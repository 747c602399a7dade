"""Ops on lists, dicts, sets, strings and iterators: displays, subscripts, methods, builtins."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.graph.types import (
    BOTTOM,
    Array,
    Const,
    Host,
    IterT,
    Py,
    Ref,
    Scalar,
    SeqT,
    TupleT,
    Type,
    generalize,
    join,
    members,
    python_class,
)
from autograph.ops import base
from autograph.ops.arithmetic import BINARY, element_type
from autograph.ops.base import Op, Refuse, define, has_index, infer, type_of
from autograph.ops.core import BOOL, INT, NONE

# -- displays ------------------------------------------------------------------------------------------------


class Splat:
    """Marks an iterable (or a mapping) whose items are spread in a display."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _new_list(items: tuple[Any, ...]) -> list[Any]:
    return list(items)


def _new_list_rule(items: Any) -> Type:
    site = base.new_site("list", list)
    t = type_of(items)
    if isinstance(t, TupleT):
        site.made_with(t.items)
    else:
        site.made_with(())
        site.unfix()
        elem = element_type(t)
        if elem is None:
            return BOTTOM
        site.widen(elem)
    return Ref(site)


NEW_LIST = define("new_list", _new_list, _new_list_rule, "alloc")


def _new_set_rule(items: Any) -> Type:
    site = base.new_site("set", set)
    elem = element_type(type_of(items))
    if elem is None:
        return BOTTOM
    site.widen(elem)
    return Ref(site)


NEW_SET = define("new_set", lambda items: set(items), _new_set_rule, "alloc")


def _new_dict(keys: tuple[Any, ...], values: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(zip(keys, values))


def _new_dict_rule(keys: Any, values: Any) -> Type:
    site = base.new_site("dict", dict)
    names: list[Any] = []
    known = True
    for key, value in zip(type_of(keys).items, type_of(values).items):  # type: ignore[attr-defined]
        if is_key(key):
            names.append(constant_key(key))
            site.widen_field(names[-1], value)
        else:
            site.widen_key(key, value)
            known = False
    site.made += 1
    if not known or list(site.fields) != list(dict.fromkeys(names)):
        site.open_keys()
    return Ref(site)


NEW_DICT = define("new_dict", _new_dict, _new_dict_rule, "alloc")


def is_key(t: Type) -> bool:
    """Whether a dict key of this type is known."""
    if isinstance(t, TupleT):
        return all(is_key(i) for i in t.items)
    return isinstance(t, Const)


def constant_key(t: Type) -> Any:
    if isinstance(t, TupleT):
        items = tuple(constant_key(i) for i in t.items)
        return items if t.cls is tuple else t.cls(*items)
    assert isinstance(t, Const)
    return t.value


def merge_dict(target: Ref, source: Type) -> bool:
    """The types of `source` (a dict) may be written into `target`."""
    if not (isinstance(source, Ref) and source.kind == "dict"):
        return False
    source.site.was_read = True
    for name, value in list(source.site.fields.items()):
        if name not in target.site.fields:
            target.site.open_keys()
        target.site.widen_field(name, value)
    if source.site.key_type is not BOTTOM:
        target.site.widen_key(source.site.key_type, source.site.elem)
    return True


# -- subscripts ----------------------------------------------------------------------------------------------


_SLICES_ARE_KEYS = sys.version_info >= (3, 12)  # of dicts


def _get_item_rule(x: Any, index: Any) -> Type:
    t = type_of(x)
    if isinstance(t, (Array, Scalar)) or (
        isinstance(t, Const) and hasattr(t.value, "dtype") and hasattr(t.value, "shape")
    ):
        from autograph.ops.indexing import get_item_rule

        return get_item_rule(t, index)
    if isinstance(t, IterT) and t.cls is np.flatiter:
        from autograph.ops.indexing import get_item_rule

        return join(*(get_item_rule(a, index) for a in _flat_arrays(t)))
    i: Any = index if isinstance(index, slice) else type_of(index)
    is_slice = isinstance(i, slice) or python_class(i) is slice
    cls = python_class(t)
    if isinstance(t, Const) and cls not in (str, bytes, range, tuple) and t.value is not None:
        return _get_from_constant(t.value, index)
    if cls in (str, bytes):
        return (Py(cls) if cls is str or is_slice else INT) if is_slice or has_index(i) else BOTTOM
    if cls is range:
        return Py(range) if is_slice else (INT if has_index(i) else BOTTOM)
    if isinstance(t, TupleT):
        return _get_from_tuple(t, i)
    if isinstance(t, SeqT):
        return t if is_slice else (t.elem if has_index(i) else BOTTOM)
    if isinstance(t, Ref) and t.kind == "list":
        return _get_from_list(t, i, is_slice)
    if isinstance(t, Ref) and t.kind == "dict":
        if is_slice:
            return t.site.read() if _SLICES_ARE_KEYS else BOTTOM
        if is_key(i):
            key = constant_key(i)
            try:
                hash(key)
            except TypeError:
                return BOTTOM
            return t.site.read_field(key)
        return t.site.read()
    if isinstance(t, Host) and (t.cls is None or not issubclass(t.cls, BaseException)):
        raise Refuse(
            "a host call's result is subscripted, but its type is not known",
            "A function that is not converted runs on the host when the graph runs, "
            "so the graph cannot know what it returns.",
            "Declare it: ag.host_call(function, ..., result=ag.spec(dtype, shape)), or pass the value in as "
            "an argument.",
        )
    return BOTTOM


def _get_from_constant(value: Any, index: Any) -> Type:
    """np.mgrid, np.r_, Enum classes and their like, with an index that is known."""
    if not hasattr(type(value), "__getitem__") and not isinstance(value, type):
        return BOTTOM
    try:
        found = value[base.static(index, "the index")]
    except (TypeError, KeyError, IndexError, ValueError):
        return BOTTOM
    return type_of(tuple(found) if isinstance(found, list) else found)


def _get_from_tuple(t: TupleT, i: Any) -> Type:
    if isinstance(i, slice):
        bounds = [type_of(b) for b in (i.start, i.stop, i.step)]
        if all(isinstance(b, Const) for b in bounds):
            i = Const(slice(*(b.value for b in bounds)))  # type: ignore[attr-defined]
    if isinstance(i, Const):
        try:
            picked = t.items[i.value]
        except (IndexError, TypeError, ValueError):
            return BOTTOM
        return TupleT(picked) if isinstance(picked, tuple) else picked
    if isinstance(i, slice) or python_class(i) is slice:
        return SeqT(join(*t.items))
    return join(*t.items) if has_index(i) else BOTTOM


def _get_from_list(t: Ref, i: Any, is_slice: bool) -> Type:
    site = t.site
    if is_slice:
        new = base.new_site("list", list)
        fixed = site.fixed
        if (
            fixed is not None
            and isinstance(i, slice)
            and all(isinstance(type_of(b), Const) for b in (i.start, i.stop, i.step))
        ):
            site.was_read = True
            bounds = [type_of(b).value for b in (i.start, i.stop, i.step)]  # type: ignore[attr-defined]
            try:
                new.made_with(fixed[slice(*bounds)])
            except (TypeError, ValueError):
                return BOTTOM
            return Ref(new)
        new.made_with(())
        new.unfix()
        new.widen(site.read())
        return Ref(new)
    if not has_index(i):
        return BOTTOM
    if isinstance(i, Const) and site.fixed is not None:
        site.was_read = True
        if -len(site.fixed) <= int(i.value) < len(site.fixed):
            return join(site.fixed[int(i.value)], site.elem)
        return BOTTOM
    return site.read()


GET_ITEM = define("get_item", operator.getitem, _get_item_rule, "view", handles=(operator.getitem,))


def _flat_arrays(t: IterT) -> list[Array]:
    """What `x.flat` is indexed like."""
    return [Array(m.dtype, (None,)) for m in members(t.elem) if isinstance(m, Scalar)]


def _set_item_rule(x: Any, index: Any, value: Any) -> Type:
    t = type_of(x)
    if isinstance(t, Array):
        from autograph.ops.indexing import set_item_rule

        return set_item_rule(t, index, value)
    if isinstance(t, IterT) and t.cls is np.flatiter:
        from autograph.ops.indexing import get_item_rule

        return BOTTOM if all(get_item_rule(a, index) is BOTTOM for a in _flat_arrays(t)) else NONE
    if isinstance(t, Host) and (t.cls is None or hasattr(t.cls, "__setitem__")):
        return NONE
    if not isinstance(t, Ref) or t.kind not in ("list", "dict"):
        return BOTTOM
    v = type_of(value)
    i = index if isinstance(index, slice) else type_of(index)
    if t.kind == "list":
        if isinstance(i, slice) or python_class(i) is slice:
            elem = element_type(v)
            if elem is None:
                return BOTTOM
            t.site.unfix()
            t.site.widen(elem)
        elif not has_index(i):
            return BOTTOM
        elif isinstance(i, Const):
            t.site.widen_position(int(i.value), v)
        else:
            if t.site.fixed is not None:
                for position in range(len(t.site.fixed)):
                    t.site.widen_position(position, v)
            else:
                t.site.widen(v)
        return NONE
    if isinstance(i, slice) or python_class(i) is slice:
        if not _SLICES_ARE_KEYS:
            return BOTTOM
        i = Py(slice)
    write_dict(t, i, v)
    return NONE


def write_dict(t: Ref, key: Type, value: Type) -> None:
    if is_key(key):
        name = constant_key(key)
        if name not in t.site.fields:
            t.site.open_keys()
        t.site.widen_field(name, value)
    else:
        t.site.widen_key(key, value)


SET_ITEM = define("set_item", operator.setitem, _set_item_rule, "writes", handles=(operator.setitem,))


def _del_item_rule(x: Any, index: Any) -> Type:
    t = type_of(x)
    if isinstance(t, Host) and (t.cls is None or hasattr(t.cls, "__delitem__")):
        return NONE
    if not isinstance(t, Ref) or t.kind not in ("list", "dict"):
        return BOTTOM
    if t.kind == "list":
        t.site.unfix()
    else:
        t.site.open_keys()
    return NONE


DEL_ITEM = define("del_item", operator.delitem, _del_item_rule, "writes", handles=(operator.delitem,))


# -- length and iteration ------------------------------------------------------------------------------------


def _len_rule(x: Any) -> Type:
    t = type_of(x)
    if isinstance(t, Const):
        return Const(len(t.value)) if hasattr(type(t.value), "__len__") else BOTTOM
    if isinstance(t, Array):
        if t.shape == ():
            return BOTTOM
        return INT if t.shape is None or t.shape[0] is None else Const(t.shape[0])
    if isinstance(t, TupleT):
        return Const(len(t.items))
    if isinstance(t, Ref) and t.kind == "list" and t.site.fixed is not None:
        t.site.was_read = True
        return Const(len(t.site.fixed))
    if isinstance(t, Ref) and t.kind == "dict" and t.site.closed:
        t.site.was_read = True
        return Const(len(t.site.fields))
    if (
        isinstance(t, SeqT)
        or python_class(t) in (str, bytes, range)
        or (isinstance(t, Ref) and t.kind in ("list", "dict", "set"))
    ):
        return INT
    if isinstance(t, IterT) and t.cls is not None and hasattr(t.cls, "__len__"):
        return INT
    if isinstance(t, Host) and t.cls is not None and hasattr(t.cls, "__len__"):
        return INT
    if isinstance(t, Host) and t.cls is None:
        raise Refuse(
            "the length of a host call's result is used, but its type is not known",
            "A function that is not converted runs on the host when the graph runs, "
            "so the graph cannot know what it returns.",
            "Declare it: ag.host_call(function, ..., result=ag.spec(dtype, shape)), or pass the value in as "
            "an argument.",
        )
    return BOTTOM


LEN = define("len", len, _len_rule, handles=(len,), always=INT)


def _iter_rule(x: Any) -> Type:
    t = type_of(x)
    elem = element_type(t)
    if elem is None:
        if isinstance(t, Host) and (t.cls is None or hasattr(t.cls, "__iter__")):
            raise Refuse(
                "a loop runs over a host call's result, but its type is not known",
                "A function that is not converted runs on the host when the graph runs, "
                "so the graph cannot know what it returns.",
                "Declare it: ag.host_call(function, ..., result=ag.spec(dtype, shape)), or pass the items in "
                "as an argument.",
            )
        return BOTTOM
    return IterT(elem)


ITER = define("iter", iter, _iter_rule, "alloc")


def _next_item(iterator: Any) -> tuple[bool, Any]:
    for item in iterator:
        return True, item
    return False, None


def _next_item_rule(it: Any) -> Type:
    if not isinstance(it, IterT):
        return _iter_rule(it)  # refuses
    return TupleT((BOOL, join(it.elem, NONE)))


NEXT_ITEM = define("next_item", _next_item, _next_item_rule, "writes")
HAS_INDEX = define("has_index", lambda x, i: i < len(x), lambda x, i: BOOL)


def _to_sequence(cls: type) -> Any:
    def rule(x: Any = ()) -> Type:
        t = type_of(x)
        elem = element_type(t)
        if elem is None:
            return _iter_rule(x) if isinstance(t, Host) else BOTTOM
        if cls is tuple:
            if isinstance(t, TupleT):
                return TupleT(t.items)
            if isinstance(t, Ref) and t.kind == "list" and t.site.fixed is not None:
                t.site.was_read = True
                return TupleT(t.site.fixed)
            if (
                isinstance(t, Array)
                and t.shape is not None
                and t.shape
                and t.shape[0] is not None
                and t.shape[0] <= 64
            ):
                return TupleT((elem,) * t.shape[0])
            return SeqT(elem)
        site = base.new_site(cls.__name__, cls)
        fixed = (
            t.items
            if isinstance(t, TupleT)
            else (t.site.fixed if isinstance(t, Ref) and t.kind == "list" else None)
        )
        if cls is list:
            if isinstance(t, Ref):
                t.site.was_read = True
            if fixed is not None:
                site.made_with(fixed)
                return Ref(site)
            site.made_with(())
            site.unfix()
        site.widen(elem)
        return Ref(site)

    return rule


TO_LIST = define("list", list, _to_sequence(list), "alloc")
TO_TUPLE = define("tuple_of", tuple, _to_sequence(tuple))
SPREAD = define("spread", lambda x: (*x,), _to_sequence(tuple))


def _arguments_rule(x: Any) -> Type:
    found: Type = _to_sequence(tuple)(x)
    if found is BOTTOM and type_of(x) is not BOTTOM:
        raise Refuse(
            "'*' spreads a value that cannot be iterated over in a call",
            "The error that Python raises names the function, which is not known here.",
            "Pass a list or a tuple.",
        )
    return found


SPREAD_ARGUMENTS = define("spread_arguments", tuple, _arguments_rule)
TO_SET = define("set", set, _to_sequence(set), "alloc")


def _to_dict_rule(x: Any = (), /, **kwargs: Any) -> Type:
    site = base.new_site("dict", dict)
    site.open_keys()
    target = Ref(site)
    t = type_of(x)
    if not merge_dict(target, t):
        elem = element_type(t)
        if elem is None:
            return BOTTOM
        for m in members(elem):
            pair = sequence_pair(m)
            if pair is None:
                return BOTTOM
            write_dict(target, *pair)
    for name, value in kwargs.items():
        write_dict(target, Const(name), type_of(value))
    return target


def sequence_pair(t: Type) -> tuple[Type, Type] | None:
    """The key and value types of an item that makes a dict entry."""
    if isinstance(t, TupleT):
        return t.items if len(t.items) == 2 else None
    elem = element_type(t)
    return None if elem is None else (elem, elem)


TO_DICT = define("dict", dict, _to_dict_rule, "alloc")


def _sorted_rule(x: Any, reverse: Any = False) -> Type:
    elem = element_type(type_of(x))
    if elem is None:
        return BOTTOM
    site = base.new_site("list", list)
    site.made_with(())
    site.unfix()
    site.widen(elem)
    return Ref(site)


SORTED = define("sorted", lambda x, reverse=False: sorted(x, reverse=reverse), _sorted_rule, "alloc")


def _sorted_by(items: list[Any], keys: list[Any], reverse: bool = False) -> list[Any]:
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[i] for i in order]


SORTED_BY = define("sorted_by", _sorted_by, lambda items, keys, reverse=False: _sorted_rule(items), "alloc")


def _pick_by(pick: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(items: list[Any], keys: list[Any]) -> Any:
        return items[pick(range(len(items)), key=keys.__getitem__)]

    return kernel


MIN_BY = define("min_by", _pick_by(min), lambda items, keys: element_type(type_of(items)) or BOTTOM)
MAX_BY = define("max_by", _pick_by(max), lambda items, keys: element_type(type_of(items)) or BOTTOM)


def _extreme_rule(*args: Any, default: Any = BOTTOM) -> Type:
    if len(args) > 1:
        return join(
            *(
                generalize(type_of(a)) if not all(isinstance(type_of(b), Const) for b in args) else type_of(a)
                for a in args
            )
        )
    elem = element_type(type_of(args[0]))
    if elem is None:
        return _iter_rule(args[0]) if isinstance(type_of(args[0]), Host) else BOTTOM
    return join(elem, *([] if default is BOTTOM else [type_of(default)]))


MIN = define("min", min, _extreme_rule, "view", handles=(min,))
MAX = define("max", max, _extreme_rule, "view", handles=(max,))


def _sum_rule(x: Any, start: Any = 0) -> Type:
    elem = element_type(type_of(x))
    if elem is None:
        return BOTTOM
    total = result = generalize(type_of(start))
    if isinstance(type_of(x), TupleT):
        for item in type_of(x).items:  # type: ignore[attr-defined]
            total = infer(BINARY["+"], (total, item), {})
        return total
    known = type_of(x)
    if isinstance(known, Array) and known.shape and known.shape[0]:  # an item is added for certain
        total = result = infer(BINARY["+"], (total, elem), {})
    for _ in range(8):
        total = infer(BINARY["+"], (total, elem), {})
        wider = join(result, total)
        if wider == result:
            return result
        result = total = wider
    return result


SUM = define("sum", sum, _sum_rule, handles=(sum,))
ANY = define("any", any, lambda x: BOTTOM if element_type(type_of(x)) is None else BOOL, handles=(any,))
ALL = define("all", all, lambda x: BOTTOM if element_type(type_of(x)) is None else BOOL, handles=(all,))


def _range_rule(*args: Any) -> Type:
    return Py(range) if all(map(has_index, args)) else BOTTOM


RANGE = define("range", range, _range_rule)
RANGE_LENGTH = define(
    "range_length", lambda *a: len(range(*a)), lambda *a: BOTTOM if _range_rule(*a) is BOTTOM else INT
)
RANGE_ITEM = define(
    "range_item", lambda i, start, step: operator.index(start) + i * operator.index(step), lambda i, a, b: INT
)


# -- unpacking -----------------------------------------------------------------------------------------------


def _unpack(value: Any, before: int, after: int | None = None) -> tuple[Any, ...]:
    if after is None and type(value) in (tuple, list) and len(value) == before:
        return tuple(value)
    if after is None:
        targets = ", ".join(f"x{i}" for i in range(before)) + ("," if before == 1 else "")
        code = f"[{targets}] = v" if before else "[] = v"
        names = [f"x{i}" for i in range(before)]
    else:
        names = [f"x{i}" for i in range(before + after + 1)]
        starred = [("*" if i == before else "") + n for i, n in enumerate(names)]
        code = f"[{', '.join(starred)}] = v"
    scope: dict[str, Any] = {"v": value}
    exec(code, {}, scope)  # Python's own unpacking gives Python's own messages
    return tuple(scope[n] for n in names)


def _unpack_rule(value: Any, before: int, after: int | None = None) -> Type:
    t = type_of(value)
    if isinstance(t, Host):
        raise Refuse(
            "a host call's result is unpacked, but its type is not known",
            "A function that is not converted runs on the host when the graph runs, "
            "so the graph cannot know what it returns.",
            "Declare it: ag.host_call(function, ..., result=ag.spec(dtype, shape)), or pass the values in as "
            "arguments.",
        )
    elem = element_type(t)
    if elem is None:
        return BOTTOM
    items: tuple[Type, ...] | None = None
    if isinstance(t, TupleT):
        items = t.items
    elif isinstance(t, Ref) and t.kind == "list" and t.site.fixed is not None:
        t.site.was_read = True
        items = t.site.fixed
    elif isinstance(t, Array) and t.shape and t.shape[0] not in (None, before) and after is None:
        return BOTTOM
    if after is None:
        if items is not None:
            return TupleT(items) if len(items) == before else BOTTOM
        return TupleT((elem,) * before)
    site = base.new_site("list", list, "star")
    if items is not None:
        if len(items) < before + after:
            return BOTTOM
        site.made_with(items[before : len(items) - after])
        return TupleT((*items[:before], Ref(site), *items[len(items) - after :]))
    site.made_with(())
    site.unfix()
    site.widen(elem)
    return TupleT((*(elem,) * before, Ref(site), *(elem,) * after))


UNPACK = define("unpack", _unpack, _unpack_rule, "view")


# -- methods -------------------------------------------------------------------------------------------------

METHODS: dict[tuple[str, str], Op] = {}


def _method(kind: str, name: str, rule: Any, *traits: str) -> None:
    fn = getattr({"list": list, "dict": dict, "set": set}[kind], name)
    METHODS[kind, name] = define(f"{kind}.{name}", fn, rule, *traits)


def _append(x: Ref, value: Any) -> Type:
    x.site.unfix()
    x.site.widen(type_of(value))
    return NONE


def _extend(x: Ref, values: Any) -> Type:
    elem = element_type(type_of(values))
    if elem is None:
        return _iter_rule(values) if isinstance(type_of(values), Host) else BOTTOM
    x.site.unfix()
    x.site.widen(elem)
    return NONE


def _insert(x: Ref, index: Any, value: Any) -> Type:
    return _append(x, value) if has_index(index) else BOTTOM


def _shrink(x: Ref, *args: Any) -> Type:
    x.site.unfix()
    return NONE


def _pop(x: Ref, index: Any = -1) -> Type:
    x.site.unfix()
    return x.site.read() if has_index(index) else BOTTOM


def _list_copy(x: Ref) -> Type:
    site = base.new_site("list", list)
    x.site.was_read = True
    if x.site.fixed is not None:
        site.made_with(x.site.fixed)
    else:
        site.made_with(())
        site.unfix()
        site.widen(x.site.elem)
    return Ref(site)


def _sort_by(items: list[Any], keys: list[Any], reverse: bool = False) -> None:
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    items[:] = [items[i] for i in order]


def _list_sort(x: Ref, *, key: Any = None, reverse: Any = False) -> Type:
    if key is not None and not (isinstance(key, Const) and key.value is None):
        raise Refuse(
            "'list.sort' is called with a key",
            "The key is computed for a copy of the list.",
            "Write items[:] = sorted(items, key=...).",
        )
    x.site.unfix()
    return NONE


def _list_reverse(x: Ref) -> Type:
    x.site.unfix()
    return NONE


_method("list", "append", _append, "writes")
_method("list", "extend", _extend, "writes")
_method("list", "insert", _insert, "writes")
_method("list", "pop", _pop, "writes")
_method("list", "remove", _shrink, "writes")
_method("list", "clear", _shrink, "writes")
_method("list", "index", lambda x, *a: INT)
_method("list", "count", lambda x, *a: INT)
_method("list", "copy", _list_copy, "alloc")
_method("list", "sort", _list_sort, "writes")
_method("list", "reverse", _list_reverse, "writes")
SORT_BY = define("list.sort_by", _sort_by, lambda x, keys, reverse=False: _list_sort(x), "writes")


def _dict_get(x: Ref, key: Any, default: Any = None) -> Type:
    t = type_of(key)
    if is_key(t):
        name = constant_key(t)
        found = x.site.read_field(name)
        if x.site.closed:
            return found if name in x.site.fields else type_of(default)
        return join(found, type_of(default))
    return join(x.site.read(), type_of(default))


def _dict_pop(x: Ref, key: Any, default: Any = BOTTOM) -> Type:
    x.site.open_keys()
    t = type_of(key)
    found = x.site.read_field(constant_key(t)) if is_key(t) else x.site.read()
    return join(found, *([] if default is BOTTOM else [type_of(default)]))


def _dict_setdefault(x: Ref, key: Any, default: Any = None) -> Type:
    write_dict(x, type_of(key), type_of(default))
    return _dict_get(x, key, default)


def _dict_update(x: Ref, other: Any = None, /, **kwargs: Any) -> Type:
    x.site.open_keys()
    if other is not None:
        made = _to_dict_rule(other)
        if made is BOTTOM:
            return BOTTOM
        merge_dict(x, made)
    for name, value in kwargs.items():
        write_dict(x, Const(name), type_of(value))
    return NONE


def _dict_copy(x: Ref) -> Type:
    site = base.new_site("dict", dict)
    target = Ref(site)
    fresh = not site.fields and site.made == 0
    if not x.site.closed or not (fresh or list(site.fields) == list(x.site.fields)):
        site.open_keys()
    site.made += 1
    was_closed = site.closed
    merge_dict(target, x)
    site.closed = was_closed
    return target


def _dict_clear(x: Ref) -> Type:
    x.site.open_keys()
    return NONE


def _dict_popitem(x: Ref) -> Type:
    x.site.open_keys()
    return TupleT((x.site.read_key(), x.site.read()))


def _items_type(site: Any) -> Type:
    return TupleT((site.read_key(), site.read()))


_method("dict", "get", _dict_get)
_method("dict", "pop", _dict_pop, "writes")
_method("dict", "setdefault", _dict_setdefault, "writes")
_method("dict", "update", _dict_update, "writes")


def _spread_dict_rule(x: Ref, mapping: Any) -> Type:
    t = type_of(mapping)
    if isinstance(t, Host):
        raise Refuse(
            "'**' spreads a value of no known type",
            "What keys it has, is only known when the graph runs.",
            "Make a dict of known types first.",
        )
    return _dict_update(x, mapping) if isinstance(t, Ref) and t.kind == "dict" else BOTTOM


SPREAD_DICT = define(
    "spread_dict",
    lambda x, mapping: x.update({**mapping}),
    _spread_dict_rule,
    "writes",
)
_method("dict", "copy", _dict_copy, "alloc")
_method("dict", "clear", _dict_clear, "writes")
_method("dict", "popitem", _dict_popitem, "writes")
_method("dict", "keys", lambda x: IterT(x.site.read_key(), type({}.keys())), "view")
_method("dict", "values", lambda x: IterT(x.site.read(), type({}.values())), "view")
_method("dict", "items", lambda x: IterT(_items_type(x.site), type({}.items())), "view")


def _set_add(x: Ref, value: Any) -> Type:
    x.site.widen(type_of(value))
    return NONE


def _set_update(x: Ref, *others: Any) -> Type:
    for other in others:
        elem = element_type(type_of(other))
        if elem is None:
            return BOTTOM
        x.site.widen(elem)
    return NONE


def _set_made(x: Ref, *others: Any) -> Type:
    site = base.new_site("set", set)
    for part in (x, *others):
        elem = element_type(type_of(part))
        if elem is None:
            return BOTTOM
        site.widen(elem)
    return Ref(site)


_method("set", "add", _set_add, "writes")
_method("set", "discard", lambda x, v: NONE, "writes")
_method("set", "remove", lambda x, v: NONE, "writes")
_method("set", "pop", lambda x: x.site.read(), "writes")
_method("set", "clear", lambda x: NONE, "writes")
_method("set", "update", _set_update, "writes")
for _name in ("union", "intersection", "difference", "symmetric_difference", "copy"):
    _method("set", _name, _set_made, "alloc")
for _name in ("issubset", "issuperset", "isdisjoint"):
    _method("set", _name, lambda x, y: BOOL)
for _name in ("intersection_update", "difference_update", "symmetric_difference_update"):
    _method("set", _name, _set_update, "writes")
