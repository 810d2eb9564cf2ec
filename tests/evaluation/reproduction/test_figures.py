from __future__ import annotations

import re
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.registry import find_dataset
from factloop.evaluation.mixedqa.scores import ScoredResponse
from factloop.evaluation.reproduction.inputs import Inputs, find_places
from factloop.evaluation.reproduction.published import published_table
from factloop.evaluation.reproduction.records import ComparedFigure, Origin, Reproduction, Status
from factloop.evaluation.reproduction.registry import ENTRIES, PAPERS, Entry, find_entry
from factloop.evaluation.reproduction.views import outcome
from factloop.evaluation.reproduction.views import reproduction_sheet as sheet
from tests.evaluation.datasets.dataset_files import DATA, jsonl, published
from tests.evaluation.mixedqa.mixedqa_sample import respond, result_of


def reproduced(name: str) -> Reproduction:
    return find_entry(name).reproduce(Inputs())


def figure(found: Reproduction, *names: str, column: str) -> ComparedFigure:
    return next(one for one in found.figures if (one.names, one.column) == (names, column))


def test_derived_figures_come_out_as_printed() -> None:
    """In every table but the second, some figures follow from others: means, ranks, correlations, headroom."""
    derived = [
        (number, one)
        for number in range(1, 32)
        for one in reproduced(f"vwc:table-{number}").figures
        if one.origin is Origin.PRINTED and one.is_compared
    ]
    assert [(number, one) for number, one in derived if not one.is_equal] == []
    assert {number for number, _ in derived} == {*range(1, 32)} - {2}
    assert len(derived) == 1_559


def test_counts_of_fewer_systems_are_not_compared(tmp_path: Path) -> None:
    """Two systems make one pair and the paper's six make fifteen, so a share of 0 % may match by chance."""
    rows = [
        {
            "dataset": "ExpertQA", "system": system, "response_id": f"{system}{n}", "claim_id": "c", "label": label,
            "evaluators": {"Bespoke-7B": label},
        }
        for system, errors in (("a", 2), ("b", 8))
        for n, label in enumerate([0] * errors + [1] * 10)
    ]  # fmt: skip
    found = find_entry("vwc:table-22").reproduce(Inputs(results=jsonl(tmp_path / "p.jsonl", *rows)))
    assert [one for one in found.figures if one.origin is Origin.RESULTS and one.is_compared] == []
    shown = figure(found, "ExpertQA, 1 pair", "%Maj. Err", column="Bespoke-7B")
    assert (shown.ours, shown.n, shown.published) == (0.0, 1, None)
    assert any("2 systems and therefore 1 pair, but the paper has 15" in note for note in found.notes)


def lfqa(tmp_path: Path, **errors: int) -> Reproduction:
    """Table 24 from predictions that are the labels: ten claims of each system, of which so many are wrong."""
    rows = [
        {
            "dataset": "Lfqa", "system": system, "response_id": f"{system}{n}", "claim_id": "c",
            "label": int(n >= wrong), "evaluators": {"Bespoke-7B": int(n >= wrong)},
        }
        for system, wrong in errors.items()
        for n in range(10)
    ]  # fmt: skip
    return find_entry("vwc:table-24").reproduce(Inputs(results=jsonl(tmp_path / "p.jsonl", *rows)))


def test_headroom_of_other_systems_is_not_compared(tmp_path: Path) -> None:
    """The lowest of two systems, or one that includes claims of unknown systems, need not be the paper's."""
    found = lfqa(tmp_path, webgpt=3, alpaca=8, unknown=0)
    shown = figure(found, "Lfqa", "Headroom, 2 systems", column="labels")
    assert shown.ours == pytest.approx(30.0)
    assert (shown.published, shown.origin) == (None, Origin.RESULTS)
    assert figure(found, "Lfqa", "webgpt", column="labels").is_compared
    assert figure(found, "Lfqa", "Headroom", column="labels").origin is not Origin.RESULTS
    assert any("our 2 systems and the paper's 6 have only 2 names in common" in note for note in found.notes)
    papers = ("alpaca", "alpaca_wdoc", "gpt3", "gpt3_wdoc", "gpt3_whudoc", "webgpt")
    whole = lfqa(tmp_path, **dict.fromkeys(papers, 4))
    best = figure(whole, "Lfqa", "Headroom", column="labels")
    assert best.ours == pytest.approx(40.0)
    assert (best.origin, best.is_compared) == (Origin.RESULTS, True)
    assert not any("have the same names" in note for note in whole.notes)


def rates_of(tmp_path: Path, *datasets: str) -> Reproduction:
    """Table 4 from predictions: of the four claims that do not hold, one is passed on the first data set, then two."""
    rows = [
        {
            "dataset": name, "system": "s", "response_id": f"{n}", "claim_id": f"{n}",
            "label": int(n >= 4), "evaluators": {"Bespoke-7B": int(n >= 4 or n <= place)},
        }
        for place, name in enumerate(datasets)
        for n in range(8)
    ]  # fmt: skip
    return find_entry("vwc:table-4").reproduce(Inputs(results=jsonl(tmp_path / "p.jsonl", *rows)))


def test_averages_are_compared_over_the_same_data_sets(tmp_path: Path) -> None:
    """25 and 50 of ours, beside the mean of what the paper prints for these two; a third is not the paper's."""
    found = rates_of(tmp_path, "Lfqa", "Reveal", "own")
    table = published_table(4)
    mean = figure(found, "Bespoke-7B", column="Average of 2 data sets")
    assert mean.ours == pytest.approx((25 + 50) / 2)
    assert (mean.origin, mean.n) == (Origin.RESULTS, 8)
    theirs = (table.value(("Bespoke-7B",), "Lfqa") + table.value(("Bespoke-7B",), "Reveal")) / 2
    assert mean.published == pytest.approx(theirs, abs=0.051)
    assert figure(found, "Bespoke-7B", column="Average").origin is Origin.PRINTED
    assert "The average excludes own, which the paper does not use" in found.notes


def test_figures_are_compared_to_the_last_digit_that_is_printed() -> None:
    place = ComparedFigure(names=("a",), column="c", published=2.5, decimals=1)
    changes: list[dict[str, float]] = [{"ours": 2.549}, {"ours": 2.551}, {"ours": 2.6, "slack": 0.05}, {}]
    assert [place.model_copy(update=one).is_equal for one in changes] == [True, False, True, False]
    words = [ComparedFigure(names=(), column="", published="ABC", ours=ours) for ours in ("ABC", "AB")]
    assert [one.is_equal for one in words] == [True, False]
    known = [place.model_copy(update={"ours": 2.5, "origin": one}) for one in (Origin.LABELS, *Origin)]
    found = reproduced("vwc:table-1").model_copy(
        update={"figures": (*known, known[0].model_copy(update={"ours": 9.0}))}
    )
    counts = re.findall(r"\d of \d", outcome(found).partition(":")[2])
    assert counts == ["2 of 3", "1 of 1", "1 of 1", "1 of 1"]


@pytest.mark.statistical
def test_the_same_words_are_replaced_as_in_the_papers_questions() -> None:
    found = reproduced("trustscore:table-7")
    replaced = [one.ours for one in found.figures if one.column == "replaced"]
    assert replaced == ["1983", "Solomon", "Florida"]  # the paper replaces the title, too
    assert (found.n_compared, sum(one.is_equal for one in found.figures)) == (3, 2)


def scored_by(system: str) -> list[ScoredResponse]:
    """Labels 1 1 0 0 and TrustBC 1 0 0 0: r 1/√3. TrustFC is the label, and TrustOV 0.2 and 0.8 of them."""
    rows = [(1, 1.0), (1, 0.0), (0, 0.0), (0, 0.0)]
    return [
        respond(n, system, label, trust_bc=bc, trust_fc=float(label), trust_ov=0.2 * bc + 0.8 * label)
        for n, (label, bc) in enumerate(rows)
    ]


@pytest.mark.parametrize("name", ["trustscore:table-1", "trustscore:section-4"])
def test_systems_of_ones_own_are_shown_and_the_papers_are_named(name: str, tmp_path: Path) -> None:
    place = tmp_path / "result.json"
    place.write_text(result_of([*scored_by("one"), *scored_by("llama-7b")]).model_dump_json(), encoding="utf-8")
    found = find_entry(name).reproduce(Inputs(results=place))
    alone = [one for one in found.figures if one.column == "one"]
    assert {one.published for one in alone} == {None}
    first = next(one for one in alone if one.names == ("TrustBC",) or one.names == ("TrustOV less TrustFC",))
    assert (first.decimals, first.n) == (3, 4)
    if name.endswith("table-1"):
        assert first.ours == pytest.approx(3**-0.5)
        assert "0.577" in {cell.text for line in sheet(found).lines for cell in line.cells}
    assert any(one.is_compared for one in found.figures if one.column == "llama-7b")
    (note,) = (note for note in found.notes if "no figures for one" in note)
    assert "systems named flan-t5-xxl, llama-7b, gpt-3.5-turbo in the data" in note


def test_check_values_are_not_called_the_papers() -> None:
    entry, found = find_entry("safe:labels"), reproduced("safe:labels")
    assert (entry.status, found.against) == (Status.CHECKED, "check values")
    heads = [column.head for column in sheet(found).columns]
    assert "Check value" in heads
    assert "Paper" not in heads
    assert "Paper" in [column.head for column in sheet(reproduced("safe:longfact")).columns]
    counted = found.model_copy(
        update={
            "figures": tuple(
                one.model_copy(update={"ours": one.published, "origin": Origin.LABELS}) for one in found.figures
            )
        }
    )
    assert outcome(counted) == ("15 of 15 figures compared. Equal to the check values: 15 of 15 from labelled data.")


def reproduced_from_data(name: str, *needed: str) -> Reproduction:
    for file in needed:
        published(file)
    entry = find_entry(name)
    return entry.reproduce(Inputs(find_places(entry.data, str(DATA))))


def from_labels(found: Reproduction) -> dict[tuple[str, ...], tuple[object, object, bool]]:
    return {
        (*one.names, one.column): (one.published, one.ours, one.is_equal)
        for one in found.figures
        if one.origin is Origin.LABELS
    }


@pytest.mark.parametrize(
    ("name", "file", "n"),
    [
        ("vwc:table-11", "tofueval_mediasum_dev.jsonl", 7),  # six systems and the headroom
        ("vwc:table-13", "tofueval_mediasum_dev.jsonl", 7),
        ("vwc:table-12", "tofueval_mediasum_dev.jsonl", 2),  # 15 pairs do not differ, none does
        ("safe:longfact", "longfact_objects.jsonl", 3),
        ("safe:agreement", "factscore_bio.jsonl", 2),
        ("safe:labels", "factscore_bio.jsonl", 15),
    ],
)
def test_labels_come_out_as_printed(name: str, file: str, n: int) -> None:
    found = from_labels(reproduced_from_data(name, file))
    assert [place for place, (_, _, is_equal) in found.items() if not is_equal] == []
    assert len(found) == n


@pytest.mark.statistical
def test_lexical_metrics_of_mixedqa() -> None:
    found = from_labels(reproduced_from_data("trustscore:table-1", "mixedqa.jsonl"))
    differences = {
        place: round(ours - theirs, 3)
        for place, (theirs, ours, is_equal) in found.items()
        if not is_equal and isinstance(ours, float) and isinstance(theirs, float)
    }
    assert differences.pop(("METEOR", "gpt-3.5-turbo")) > 0.2
    for system in ("llama-7b", "gpt-3.5-turbo"):
        assert found["Exact Match", system] == ("undefined", "undefined", True), "printed as NAN: the same"
    assert {place[0] for place in differences} <= {"METEOR", "ROUGE-L"}
    assert max(map(abs, differences.values())) <= 0.006


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
    """Without data and results no figure is made up; a note says why it is missing."""
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
    with pytest.raises(ConfigError, match=r"'trustscore:table-9'; choose from trustscore:table-1, .*section-4$"):
        find_entry("trustscore:table-9")
    with pytest.raises(ConfigError, match=r"choose from safe:\.\.\., trustscore:\.\.\., vwc:\.\.\.$"):
        find_entry("nonsense")
