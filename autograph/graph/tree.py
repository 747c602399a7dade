"""Argument trees: tuples, named tuples, lists, dicts and slices with tensors or constants at the leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NESTED = (tuple, list, dict, slice)


def map_tree(fn: Callable[[Any], Any], tree: Any) -> Any:
    """The same structure with `fn(leaf)` at each leaf.

    >>> map_tree(lambda x: x + 1, (1, [2, slice(3, 4, 5)]))
    (2, [3, slice(4, 5, 6)])
    """
    kind = type(tree)
    if kind is tuple:
        return tuple([map_tree(fn, item) if isinstance(item, NESTED) else fn(item) for item in tree])
    if kind is dict:
        return {key: map_tree(fn, item) for key, item in tree.items()}
    if kind is list:
        return [map_tree(fn, item) for item in tree]
    if kind is slice:
        return slice(map_tree(fn, tree.start), map_tree(fn, tree.stop), map_tree(fn, tree.step))
    if isinstance(tree, tuple):
        items = [map_tree(fn, item) for item in tree]
        return kind(*items) if hasattr(tree, "_fields") else tuple(items)
    return fn(tree)


def leaves(tree: Any) -> list[Any]:
    """The leaves, in order.

    >>> leaves((1, [2, slice(3, 4, 5)]))
    [1, 2, 3, 4, 5]
    """
    found: list[Any] = []
    _collect(tree, found)
    return found


def _collect(tree: Any, found: list[Any]) -> None:
    if isinstance(tree, (tuple, list)):
        for item in tree:
            if isinstance(item, NESTED):
                _collect(item, found)
            else:
                found.append(item)
    elif type(tree) is dict:
        for item in tree.values():
            _collect(item, found)
    elif type(tree) is slice:
        _collect((tree.start, tree.stop, tree.step), found)
    else:
        found.append(tree)
