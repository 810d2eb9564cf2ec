from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "factloop"
AT_THE_TOP = ("agents", "tools", "prompts", "evaluation")
"""Packages of factloop whose folders stand beside its own."""
DOORS = ("cli", "integrations", "service", "testing")
FLOORS = (
    ("core",),
    ("prompts",),
    ("tools",),
    ("setup",),
    ("agents", "reports"),
    ("checking",),
    ("correction", "guarding", "trust"),
    ("doctor", "evaluation"),
    ("entrance",),
    DOORS,
)
"""From the ground up. A folder imports from floors beneath its own, never from its neighbours (doors: see below)."""
NEVER = ("tests", "benchmarks")


def forbidden_to(folder: str) -> tuple[str, ...]:
    level = next(level for level, floor in enumerate(FLOORS) if folder in floor)
    neighbours = () if folder in DOORS else FLOORS[level]
    above = [name for floor in FLOORS[level + 1 :] for name in floor]
    return (*(f"factloop.{name}" for name in (*neighbours, *above) if name != folder), *NEVER)


def imported(source: str) -> Iterator[str]:
    """Full names of all imports, anywhere in the module; `from a import b` may name a module `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def forbidden_among(names: Iterable[str], forbidden: tuple[str, ...]) -> list[str]:
    return [name for name in names if f"{name}.".startswith(tuple(f"{module}." for module in forbidden))]


@cache
def imported_by(path: Path) -> tuple[str, ...]:
    """Cached, since several tests ask about most modules."""
    return (*imported(path.read_text(encoding="utf-8")),)


def wrong_in(path: Path, forbidden: tuple[str, ...]) -> list[str]:
    return forbidden_among(imported_by(path), forbidden)


def modules_of(folder: str) -> list[Path]:
    return list((ROOT / folder if folder in AT_THE_TOP else PACKAGE / folder).rglob("*.py"))


def test_every_folder_stands_on_a_floor() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted({*folders, *AT_THE_TOP}) == sorted(name for floor in FLOORS for name in floor)


@pytest.mark.parametrize("folder", [name for floor in FLOORS for name in floor])
def test_a_folder_imports_nothing_from_above(folder: str) -> None:
    paths = modules_of(folder)
    assert paths
    wrong = {str(path.relative_to(ROOT)): found for path in paths if (found := wrong_in(path, forbidden_to(folder)))}
    assert wrong == {}


def test_few_modules_stand_loose() -> None:
    """A module outside the folders has no layer; `schemas` names the records of all layers."""
    assert {path.name for path in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py", "schemas.py"}


def test_doors_lean_on_no_other_door() -> None:
    """The exceptions: the command line opens every interface, the pytest plugin belongs to `testing`, and evaluation
    harnesses share the words of `testing`.
    """
    within = ("harnesses", "langchain", "mcp", "pytest")
    doors = ("cli", "service", "testing", *(f"integrations/{name}" for name in within))
    opens = {
        "cli": {*doors},
        "integrations/harnesses": {"testing", "integrations/langchain"},
        "integrations/pytest": {"testing"},
    }
    for door in doors:
        others = {*doors} - opens.get(door, set()) - {door}
        forbidden = tuple(f"factloop.{other.replace('/', '.')}" for other in others)
        paths = modules_of(door)
        assert paths, door
        for path in paths:
            assert wrong_in(path, forbidden) == [], path


def test_no_folder_at_the_top_is_imported_by_its_bare_name() -> None:
    """`tools.x` beside `factloop.tools.x` would be a second copy of the module."""
    for folder in ("factloop", *AT_THE_TOP, *NEVER):
        for path in (ROOT / folder).rglob("*.py"):
            assert wrong_in(path, AT_THE_TOP) == [], path


@pytest.mark.parametrize(
    "source",
    [
        "from factloop.agents.safe import graph",
        "from factloop import agents",
        "import factloop.agents.safe.graph as graph",
        "def late():\n    from factloop.agents.safe.graph import build_safe_graph",
    ],
)
def test_every_way_to_import_is_seen(source: str) -> None:
    assert forbidden_among(imported(source), ("factloop.agents",)) != []
    assert forbidden_among(imported(source), ("factloop.agent",)) == []
