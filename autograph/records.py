"""Classes that are little more than their fields, made without compiling, which takes long.

`dataclasses.dataclass` writes and compiles up to six methods for a class. That takes about a millisecond: for
all of ours, longer than to load them all.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:  # a type checker sees a dataclass
    from dataclasses import dataclass as record_class
    from dataclasses import field
else:

    class field:
        """A field whose value is made anew for each object, unless one is given."""

        def __init__(self, default_factory: Callable[[], Any]) -> None:
            self.default_factory = default_factory

    def record_class(cls: Any = None, *, frozen: bool = False, eq: bool = True) -> Any:
        """Makes a class of annotated fields, as `dataclasses.dataclass` does, for objects that are few.

        Making an object takes about a microsecond; a class of which there are many has methods of its own.

        >>> @record_class(frozen=True)
        ... class Span:
        ...     start: int
        ...     length: int = 1
        >>> Span(2), Span(2) == Span(2, length=1), replace(Span(2), start=3)
        (Span(start=2, length=1), True, Span(start=3, length=1))
        """
        if cls is None:
            return lambda c: record_class(c, frozen=frozen, eq=eq)
        names = tuple(cls.__annotations__)
        defaults = {n: cls.__dict__[n] for n in names if n in cls.__dict__}
        made = {n: f.default_factory for n, f in defaults.items() if isinstance(f, field)}

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            values = self.__dict__
            values.update(defaults)
            values.update(zip(names, args), **kwargs)
            for name, make in made.items():
                if values[name] is defaults[name]:
                    values[name] = make()
            if len(args) > len(names) or values.keys() != set(names):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(names)}")

        def __repr__(self: Any) -> str:
            return f"{cls.__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"

        def __eq__(self: Any, other: object) -> bool:
            return type(other) is type(self) and vars(self) == vars(other)

        def __hash__(self: Any) -> int:
            return hash(tuple(vars(self)[n] for n in names))

        def __setattr__(self: Any, name: str, value: Any) -> None:
            raise AttributeError(f"{cls.__name__}.{name} is never changed")

        methods: list[Any] = [__init__, *([] if "__repr__" in cls.__dict__ else [__repr__])]
        methods += [__eq__, __hash__] if eq and frozen else [__eq__] if eq else []
        methods += [__setattr__] if frozen else []
        for method in methods:
            setattr(cls, method.__name__, method)
        if eq and not frozen:
            cls.__hash__ = None
        return cls


def replace(value: T, **changes: Any) -> T:
    """A copy of an object with other values in some of its fields."""
    new = copy.copy(value)
    for name, change in changes.items():
        object.__setattr__(new, name, change)
    return new


__all__ = ["field", "record_class", "replace"]
