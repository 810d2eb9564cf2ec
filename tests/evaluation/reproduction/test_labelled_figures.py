"""Published figures that come out of labelled data, where they are found."""

from __future__ import annotations

import pytest

from factloop.evaluation.reproduction.inputs import Inputs, find_places
from factloop.evaluation.reproduction.records import Origin, Reproduction
from factloop.evaluation.reproduction.registry import find_entry
from tests.evaluation.datasets.dataset_files import DATA, published


def reproduced(name: str, *needed: str) -> Reproduction:
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
    found = from_labels(reproduced(name, file))
    assert [place for place, (_, _, is_equal) in found.items() if not is_equal] == []
    assert len(found) == n


@pytest.mark.statistical
def test_lexical_metrics_of_mixedqa() -> None:
    found = from_labels(reproduced("trustscore:table-1", "mixedqa.jsonl"))
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
