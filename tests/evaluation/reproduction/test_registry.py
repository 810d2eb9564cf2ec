"""The list of what there is to reproduce, and the page made of it."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.registry import find_dataset
from factloop.evaluation.reproduction.documents import papers_document
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.records import Entry, Origin, Reproduction, Status
from factloop.evaluation.reproduction.registry import PAPERS, all_entries, find_entry
from factloop.evaluation.reproduction.words import JOIN, VERIFY_JOINED
from tests.documents.shown import DOCS

IDS = [entry.id for entry in all_entries()]


def test_every_table_and_figure_of_the_papers_is_listed() -> None:
    """31 tables and 10 figures of "Verify with Caution", 7 tables of TrustScore, and what SAFE's slides print."""
    wanted = {f"vwc:table-{number}" for number in range(1, 32)}
    wanted |= {f"vwc:figure-{number}" for number in range(1, 11)}
    wanted |= {f"trustscore:table-{number}" for number in range(1, 8)}
    wanted |= {"trustscore:section-4"}
    wanted |= {f"safe:{name}" for name in ("agreement", "longfact", "f1-at-k", "disagreements")}
    wanted |= {f"safe:{name}" for name in ("length", "search-ablation")}
    assert wanted <= set(IDS)
    assert len(IDS) == len(set(IDS))


def test_papers_and_their_tables_stand_in_order() -> None:
    assert list(dict.fromkeys(one.partition(":")[0] for one in IDS)) == [paper.key for paper in PAPERS]
    tables = [one for one in IDS if one.startswith("vwc:table-")]
    assert tables == [f"vwc:table-{number}" for number in range(1, 32)]


@pytest.mark.parametrize("entry", all_entries(), ids=IDS)
def test_each_entry_says_what_it_needs_and_runs_without_any(entry: Entry) -> None:
    """Without data and results nothing is made up: what could not be computed has no figure, and a note says why."""
    assert entry.why.endswith(".")
    assert bool(entry.model) == bool(entry.command)
    for named in entry.data:
        name, part = named.split(":")
        assert find_dataset(name).part(part)
    assert entry.run is not None
    found = entry.run(Inputs())
    assert (found.entry, found.title) == (entry.id, entry.title)
    assert Reproduction.model_validate_json(found.model_dump_json()) == found
    if entry.status is Status.NEEDS_MODEL:
        assert entry.model
        assert found.notes
    assert all(one.origin is not None for one in found.figures if one.ours is not None)


@pytest.mark.parametrize("entry", all_entries(), ids=IDS)
def test_what_follows_from_printed_figures_alone_is_not_called_reproduced(entry: Entry) -> None:
    """Without data and results only printed figures, rules and our own prompts are at hand."""
    assert entry.run is not None
    origins = {one.origin for one in entry.run(Inputs()).figures if one.is_compared}
    if not entry.data and origins == {Origin.PRINTED}:
        assert entry.status in (Status.PRINTED, Status.NEEDS_MODEL)
    if entry.status is Status.PRINTED:
        assert Origin.PRINTED in origins
        assert not entry.data


def test_an_unknown_entry_is_answered_with_those_of_its_paper() -> None:
    with pytest.raises(
        ConfigError, match=r"'trustscore:table-9' to reproduce; there are trustscore:table-1, .*section-4$"
    ):
        find_entry("trustscore:table-9")
    with pytest.raises(ConfigError, match=r"there are safe:\.\.\., trustscore:\.\.\., vwc:\.\.\.$"):
        find_entry("nonsense")


def test_the_page_of_the_papers_is_the_list() -> None:
    """Written anew by `python -m factloop.evaluation.reproduction.documents docs/papers.md`."""
    assert (DOCS / "papers.md").read_text(encoding="utf-8") == papers_document()
    assert all(f"`{one}`" in papers_document() for one in IDS)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("vwc:table-3", VERIFY_JOINED),  # fourteen data sets, four of them RAGTruth's
        ("vwc:table-24", VERIFY_JOINED),
        ("vwc:figure-7", VERIFY_JOINED),
        ("vwc:table-6", VERIFY_JOINED),
        ("vwc:table-21", "factloop verify --dataset expertqa:claims --verifier NAME --out FILE"),
        (
            "vwc:table-11",
            "factloop verify --dataset tofueval:mediasum-dev --documents DOCUMENTS --verifier NAME --out FILE",
        ),
        ("vwc:table-8", "factloop verify --dataset NAME:PART --verifier NAME --out FILE"),
    ],
)
def test_commands_give_the_systems_that_a_table_needs(name: str, command: str) -> None:
    """Data sets that factloop has without systems must be joined first: `--dataset` has no RAGTruth, Lfqa or Reveal."""
    assert find_entry(name).command == command
    assert f"`{command}`" in papers_document()


def test_no_command_names_a_data_set_without_systems() -> None:
    assert not [one.id for one in all_entries() if "--dataset llm-aggrefact" in one.command]
    assert find_entry("vwc:table-30").command.startswith(f"{JOIN} && factloop verify JOINED")
