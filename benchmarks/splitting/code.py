"""Lines of code that one family of rules alone needs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import factloop.tools.linguistics

Name = tuple[str, str]
"""Module and name of something defined at its top level."""

_FOLDER = Path(next(iter(factloop.tools.linguistics.__path__)))
_REGISTERS = {"RULES", "SILENCES", "RESOLVERS"}
"""Hold every family, so that nothing would be a family's alone if they were followed."""


@dataclass(frozen=True, slots=True)
class _Definition:
    n_lines: int
    uses: frozenset[Name]


def lines_of(family: Iterable[Callable[..., Any]], others: Iterable[Callable[..., Any]]) -> int:
    """Lines of the functions and constants that `family` reaches and none of the `others` does, blank ones included."""
    own = _reached(map(_name_of, family)) - _reached(map(_name_of, others))
    return sum(_definitions()[name].n_lines for name in own)


def _name_of(function: Callable[..., Any]) -> Name:
    return function.__module__.rsplit(".", 1)[-1], function.__qualname__


def _reached(names: Iterable[Name]) -> set[Name]:
    found: set[Name] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and name[1] not in _REGISTERS and name in _definitions():
            found.add(name)
            waiting.extend(_definitions()[name].uses)
    return found


@cache
def _definitions() -> dict[Name, _Definition]:
    found: dict[Name, _Definition] = {}
    for path in _FOLDER.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = dict(_imported(tree))
        for node in tree.body:
            n_lines = (node.end_lineno or node.lineno) - node.lineno + 1
            uses = frozenset(_uses(node, path.stem, imported))
            found.update({(path.stem, name): _Definition(n_lines, uses) for name in _defined(node)})
    return found


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names that the module takes from a neighbour, and that neighbour."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((alias.name, node.module.rsplit(".", 1)[-1]) for alias in node.names)


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _uses(node: ast.stmt, module: str, imported: dict[str, str]) -> Iterator[Name]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield imported.get(part.id, module), part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield part.value.id, part.attr  # `lexicon.VERBS`
