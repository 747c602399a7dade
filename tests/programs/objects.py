"""Placeholder."""

from tests.programs.generator import Writer


class ObjectWriter(Writer):
    pass
