"""Placeholder."""

from tests.programs.generator import Writer


class BreadthWriter(Writer):
    pass
