"""Makes a failing program small: removes and simplifies parts of its syntax tree while it still fails alike.

The candidates are tried from large to small: whole functions, statements, compound statements replaced by
their bodies, then expressions replaced by a part of them or by a constant. The passes are repeated until
nothing can be removed.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import time
import warnings
from collections.abc import Iterator

from tests.programs.compare import Failure, check
from tests.programs.generator import Program

__all__ = ["shrink"]


def shrink(
    program: Program, failure: Failure, timeout: float = 2.0, seconds: float = 25.0
) -> tuple[Program, Failure]:
    """The smallest program found within `seconds` that still fails like `failure`, and how it fails."""
    ends = time.monotonic() + seconds
    best, found = program, failure
    start, changed = 0, False  # after a success go on from the same place: what was tried before fails again
    while time.monotonic() < ends:
        for number, candidate in enumerate(_candidates(best)):
            if time.monotonic() > ends:
                break
            if number < start:
                continue
            again = _fails(candidate, failure, timeout)
            if again is not None:
                best, found, start, changed = candidate, again, number, True
                break
        else:
            if not changed:
                break
            start, changed = 0, False
    return best, found


def _fails(program: Program, failure: Failure, timeout: float) -> Failure | None:
    """How the program fails in the same way, None if it does not."""
    try:
        report = check(program, (failure.mode,), timeout)
    except Exception:  # the candidate is no program
        return None
    return next(
        (other for other in (*report.failures, *report.refusals) if other.cause == failure.cause), None
    )


def _candidates(program: Program) -> Iterator[Program]:
    """Smaller programs, the boldest first."""
    for index in range(len(program.inputs)):
        if len(program.inputs) > 1:
            rest = program.inputs[:index] + program.inputs[index + 1 :]
            yield dataclasses.replace(program, inputs=rest)
    tree = ast.parse(program.source)
    size = sum(1 for _ in ast.walk(tree))
    for edit in (*_statement_edits(tree), *_expression_edits(tree)):
        smaller = copy.deepcopy(tree)
        if not _apply(smaller, edit):
            continue
        if sum(1 for _ in ast.walk(smaller)) >= size:
            continue
        try:
            text = ast.unparse(ast.fix_missing_locations(smaller)) + "\n"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                compile(text, "<shrink>", "exec")
        except (SyntaxError, ValueError):
            continue
        yield dataclasses.replace(program, source=text)


Edit = tuple[
    int, str, int, object
]  # position of the node in ast.walk, field, index in the field, replacement


def _statement_edits(tree: ast.Module) -> Iterator[Edit]:
    """Deletions of statements and replacements by their bodies."""
    for position, node in enumerate(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for index in reversed(range(len(block))):
                yield position, name, index, []
            if name in ("orelse", "finalbody") and block:
                yield position, name, -1, []
            for index, statement in enumerate(block):
                for inner in ("body", "orelse", "finalbody"):
                    part = getattr(statement, inner, None)
                    if (
                        isinstance(part, list)
                        and part
                        and not isinstance(statement, ast.FunctionDef | ast.ClassDef)
                    ):
                        yield position, name, index, part


def _expression_edits(tree: ast.Module) -> Iterator[Edit]:
    """Replacements of expressions by their parts and by constants, deletions of elements."""
    for position, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                for part in _parts(value):
                    yield position, name, -2, part
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if not isinstance(item, ast.expr):
                        continue
                    if isinstance(
                        node, ast.Tuple | ast.List | ast.Set | ast.Call | ast.BoolOp | ast.JoinedStr
                    ):
                        yield position, name, index, []
                    for part in _parts(item):
                        yield position, name, index, [part]


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.Constant) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return
    yield from (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    if not isinstance(node, ast.Name):
        for value in (0, 1, True, None):
            yield ast.Constant(value)
    else:
        yield ast.Constant(1)


def _apply(tree: ast.Module, edit: Edit) -> bool:
    position, name, index, replacement = edit
    node = next(node for number, node in enumerate(ast.walk(tree)) if number == position)
    replacement = copy.deepcopy(replacement)
    if index == -2:
        setattr(node, name, replacement)
        return True
    block = getattr(node, name)
    if index == -1:
        block.clear()
        return True
    if not isinstance(replacement, list):
        return False
    block[index : index + 1] = replacement
    if name == "body" and not block:
        block.append(ast.Pass())
    return not isinstance(node, ast.BoolOp) or len(node.values) > 1
