"""The list of what there is to reproduce, and the page made of it."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.registry import find_dataset
from factloop.evaluation.reproduction.documents import with_entries
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.records import Reproduction, Status
from factloop.evaluation.reproduction.registry import ENTRIES, PAPERS, Entry, find_entry
from tests.documents.shown import DOCS

IDS = [entry.id for entry in ENTRIES]


def test_every_table_of_figures_is_listed() -> None:
    """31 tables of "Verify with Caution", TrustScore's but for those that are prompts, and what SAFE's slides print."""
    wanted = {f"vwc:table-{number}" for number in range(1, 32)}
    wanted |= {f"trustscore:table-{number}" for number in (1, 2, 3, 7)}
    wanted |= {"trustscore:section-4"}
    wanted |= {f"safe:{name}" for name in ("agreement", "longfact", "labels", "disagreements")}
    assert wanted <= set(IDS)
    assert len(IDS) == len(set(IDS))
    assert list(dict.fromkeys(one.partition(":")[0] for one in IDS)) == [paper.key for paper in PAPERS]
    tables = [one for one in IDS if one.startswith("vwc:table-")]
    assert tables == [f"vwc:table-{number}" for number in range(1, 32)]


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_each_entry_says_what_it_needs_and_runs_without_any(entry: Entry) -> None:
    """Without data and results nothing is made up: what could not be computed has no figure, and a note says why."""
    assert entry.why.endswith(".")
    assert bool(entry.model) == bool(entry.command)
    for named in entry.data:
        name, part = named.split(":")
        assert find_dataset(name).part(part)
    found = entry.reproduce(Inputs())
    assert (found.entry, found.title) == (entry.id, entry.title)
    assert Reproduction.model_validate_json(found.model_dump_json()) == found
    if entry.status is Status.NEEDS_MODEL:
        assert entry.model
        assert found.notes
    assert all(one.origin is not None for one in found.figures if one.ours is not None)


def test_an_unknown_entry_is_answered_with_those_of_its_paper() -> None:
    with pytest.raises(
        ConfigError, match=r"'trustscore:table-9' to reproduce; known are trustscore:table-1, .*section-4$"
    ):
        find_entry("trustscore:table-9")
    with pytest.raises(ConfigError, match=r"known are safe:\.\.\., trustscore:\.\.\., vwc:\.\.\.$"):
        find_entry("nonsense")


def test_the_page_of_the_papers_has_the_list() -> None:
    """Written anew by `python -m factloop.evaluation.reproduction.documents docs/papers.md`."""
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert page == with_entries(page)
    assert all(f"`{one}`" in page for one in IDS)
