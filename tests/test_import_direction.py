"""Imports point one way: agents use tools and prompts, the evaluation scores plain records, nothing uses the tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = """
binding caching calls cascading checker checking cli correcting distractor_sources engine engine_pool experimenting
generating guarding integrations local recording runs scorer service settings_sources sources studio testing
trace_export traces trust_engine verifying waits
"""
ABOVE = tuple(f"factloop.{name}" for name in PUBLIC.split())

FORBIDDEN = {
    "tools": ("factloop.agents", "factloop.evaluation", *ABOVE, "tests", "benchmarks"),
    "prompts": ("factloop.agents", "factloop.evaluation", "factloop.tools", *ABOVE, "tests", "benchmarks"),
    "agents": ("factloop.evaluation", *ABOVE, "tests", "benchmarks"),
    "evaluation": ("factloop.agents", "factloop.tools", *ABOVE, "tests", "benchmarks"),
    "factloop": ("tests", "benchmarks"),
}


def imported(source: str) -> Iterator[str]:
    """Full names of all that a module imports, wherever in it; `from a import b` may name a module `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_in(source: str, forbidden: tuple[str, ...]) -> list[str]:
    return [name for name in imported(source) if f"{name}.".startswith(tuple(f"{module}." for module in forbidden))]


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_a_folder_imports_nothing_from_above(folder: str) -> None:
    paths = [path for path in (ROOT / folder).rglob("*.py") if path.resolve().is_relative_to(ROOT / folder)]
    assert len(paths) > 1 or folder == "prompts"
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in paths
        if (found := wrong_in(path.read_text(encoding="utf-8"), FORBIDDEN[folder]))
    }
    assert wrong == {}


def test_doors_lean_on_no_other_door() -> None:
    """The command line opens all of them, and the plugin of pytest is the door of `testing`."""
    doors = ("cli", "service", "testing", "integrations/langchain", "integrations/mcp", "integrations/pytest")
    opens = {"cli": {*doors}, "integrations/pytest": {"testing"}}
    for door in doors:
        others = {*doors} - opens.get(door, set()) - {door}
        forbidden = tuple(f"factloop.{other.replace('/', '.')}" for other in others)
        for path in (ROOT / "factloop" / door).rglob("*.py"):
            assert wrong_in(path.read_text(encoding="utf-8"), forbidden) == [], path


def test_no_real_folder_is_imported_by_its_bare_name() -> None:
    """`tools.x` beside `factloop.tools.x` would be a second copy of the module."""
    folders = ("agents", "tools", "prompts", "evaluation")
    for folder in (*FORBIDDEN, "tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            assert wrong_in(path.read_text(encoding="utf-8"), folders) == [], path


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
    assert wrong_in(source, ("factloop.agents",)) != []
    assert wrong_in(source, ("factloop.agent",)) == []
