"""Registers sample functions with the arguments that they are called with, before and after conversion."""

from __future__ import annotations

SAMPLES = []


def sample(*calls):
    """Marks a function as a sample; each call is a tuple of arguments (none: one call without arguments)."""

    def register(function):
        SAMPLES.append((function, calls or ((),)))
        return function

    return register


class Boom(Exception):
    """An exception of the samples' own."""


class Log:
    """A context manager that prints, and may swallow exceptions or raise one at its end."""

    def __init__(self, name="log", swallow=False, fail=False, value=None):
        self.name, self.swallow, self.fail, self.value = name, swallow, fail, value

    def __enter__(self):
        print("enter", self.name)
        return self.name if self.value is None else self.value

    def __exit__(self, kind, error, traceback):
        print("exit", self.name, kind.__name__ if kind else None)
        if self.fail:
            raise Boom("exit " + self.name)
        return self.swallow


def tell(value, name=""):
    """Prints and returns a value: shows that, and when, an operand is evaluated."""
    print("tell", name, value)
    return value


class Spy:
    """An object whose attributes and elements print when they are used."""

    def __init__(self, name="spy"):
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "items", {})

    def __setattr__(self, key, value):
        print("set", key, value)
        object.__setattr__(self, key, value)

    def __delattr__(self, key):
        print("del", key)
        object.__delattr__(self, key)

    def __setitem__(self, key, value):
        print("setitem", key, value)
        self.items[key] = value

    def __getitem__(self, key):
        print("getitem", key)
        return self.items.get(key, 0)

    def __delitem__(self, key):
        print("delitem", key)
        del self.items[key]
