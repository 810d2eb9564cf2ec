"""Variants made ready: which of them share their search tools, and which have their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.variants import ReadyVariant, all_settings, ready_variants
from factloop.setup.settings import CheckSettings
from factloop.tools.search.registry import built_in_searches
from tests.evaluation.experiments.small_plans import make_plan

TWO_VALUES = {
    "wikipedia_language": ("en", "de"),
    "wikipedia_url": ("http://127.0.0.1:1/w", "http://127.0.0.1:2/w"),
    "searxng_url": ("http://127.0.0.1:1", "http://127.0.0.1:2"),
}
OPTIONS = [(name, f"{name}_{option}") for name in built_in_searches() for option in CheckSettings().of_search(name)]


async def ready(plan: ExperimentPlan) -> list[ReadyVariant]:
    return await ready_variants(plan, all_settings(plan, None, {}))


@pytest.mark.parametrize(("search", "option"), OPTIONS)
async def test_a_variant_searches_as_its_own_settings_say(home: Path, search: str, option: str) -> None:
    """Each option of each built-in search; one that is new wants a line in TWO_VALUES."""
    first, second = TWO_VALUES[option]
    variants = {"a": {option: first}, "b": {option: second}}
    a, b = await ready(make_plan(home, variants, settings={"search": search, "model": None}))
    assert a.tools[0].identity != b.tools[0].identity


async def test_variants_that_search_alike_share_their_tools(home: Path) -> None:
    (home / "a.txt").write_text("Ada was born in London.", encoding="utf-8")
    shared: dict[str, Any] = {"docs": ["a.txt"], "search": "wikipedia", "model": None}
    variants: dict[str, dict[str, Any]] = {
        "a": {},
        "b": {"max_searches": 2},
        "c": {"searxng_url": "http://127.0.0.1:1", "max_searches": 3},
    }
    a, *others = await ready(make_plan(home, variants, settings=shared))
    assert [one.tools for one in others] == [a.tools] * 2


async def test_a_strict_variant_reads_the_documents_itself(home: Path) -> None:
    (home / "docs").mkdir()
    (home / "docs" / "a.txt").write_text("Ada was born in London.", encoding="utf-8")
    (home / "docs" / "b.pdf").write_bytes(b"no PDF")
    variants: dict[str, dict[str, Any]] = {"lenient": {}, "strict": {"strict_docs": True, "max_searches": 2}}
    with pytest.raises((ConfigError, DataError), match=r"b\.pdf"):
        await ready(make_plan(home, variants, settings={"docs": ["docs"], "model": None}))
