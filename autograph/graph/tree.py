"""Argument trees: tuples, named tuples, lists, dicts and slices with tensors or constants at the leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def map_tree(fn: Callable[[Any], Any], tree: Any) -> Any:
    """The same structure with `fn(leaf)` at each leaf.

    >>> map_tree(lambda x: x + 1, (1, [2, slice(3, 4, 5)]))
    (2, [3, slice(4, 5, 6)])
    """
    if isinstance(tree, tuple):
        items = [map_tree(fn, item) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if type(tree) is list:
        return [map_tree(fn, item) for item in tree]
    if type(tree) is dict:
        return {key: map_tree(fn, item) for key, item in tree.items()}
    if type(tree) is slice:
        return slice(map_tree(fn, tree.start), map_tree(fn, tree.stop), map_tree(fn, tree.step))
    return fn(tree)


def leaves(tree: Any) -> Iterator[Any]:
    """The leaves, in order."""
    if isinstance(tree, (tuple, list)):
        for item in tree:
            yield from leaves(item)
    elif type(tree) is dict:
        for item in tree.values():
            yield from leaves(item)
    elif type(tree) is slice:
        for item in (tree.start, tree.stop, tree.step):
            yield from leaves(item)
    else:
        yield tree
