from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.core.records import Verdict
from factloop.reports.labels import (
    LabelFile,
    PersonLabel,
    claims_to_label,
    hash_of,
    labelling_of,
    read_saved,
    with_documents,
)
from tests.reports.sample import hostile_report, make_report, sample_report

CLAIMS = claims_to_label(sample_report())


def saved() -> dict[str, Any]:
    """A file as the page's script writes it: integers without a decimal point, labels for the first two claims."""
    rows = [one.model_dump(mode="json") for one in CLAIMS]
    labels = [
        {"response_id": row["response_id"], "claim_id": row["claim_id"], "label": "supported", "comment": "Clear."}
        for row in rows[:2]
    ]
    return {"schema_version": "1.0", "kind": "labels", "claims_hash": hash_of(CLAIMS), "claims": rows, "labels": labels}


def read(folder: Path, content: object) -> LabelFile:
    place = folder / "labels.json"
    place.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_saved(place, LabelFile)


def test_what_a_page_saves_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, saved())
    assert [one.label for one in found.labels] == [PersonLabel.SUPPORTED] * 2
    assert found.claims == CLAIMS
    assert {one.verdict for one in found.claims} == {*Verdict, None}


def test_claims_of_other_reports_have_other_names() -> None:
    again = sample_report().model_copy(update={"response": "Another answer."})
    assert hash_of(claims_to_label(again)) != hash_of(CLAIMS)
    assert {one.response_id for one in claims_to_label(again)} != {one.response_id for one in CLAIMS}
    assert {one.group for one in claims_to_label(again)} == {one.group for one in CLAIMS}, "the prompt is the same"
    (alone,) = {one.group for one in claims_to_label(sample_report().model_copy(update={"prompt": None}))}
    assert alone not in {one.group for one in CLAIMS}


def test_repeated_claims_are_labelled_as_they_count() -> None:
    once = sample_report().model_copy(
        update={"fingerprint": sample_report().fingerprint.model_copy(update={"repeats": "once"})}
    )
    assert len(claims_to_label(once)) == len(CLAIMS) - 1, "one claim of the sample repeats another"
    assert claims_to_label(make_report("Nothing.", ())) == ()


def test_passages_change_nothing_of_the_hash() -> None:
    with_them = with_documents(CLAIMS, sample_report())
    assert hash_of(with_them) == hash_of(CLAIMS)
    assert "Augusta Ada Byron came into the world" in (with_them[0].document or "")


FIRST, SECOND = saved()["labels"]
HOSTILE: dict[str, tuple[object, str]] = {
    "another claim": ({**saved(), "labels": [{**FIRST, "claim_id": "c99"}]}, "the page does not contain the claim"),
    "two labels": ({**saved(), "labels": [FIRST, SECOND, FIRST]}, "has two labels"),
    "a verdict that was changed": (
        {**saved(), "claims": [{**saved()["claims"][0], "verdict": "not_supported"}, *saved()["claims"][1:]]},
        "the claims differ from those on the page",
    ),
    "another report's hash": ({**saved(), "claims_hash": "0" * 64}, "the claims differ"),
    "an unknown label": ({**saved(), "labels": [{**FIRST, "label": "true"}]}, "is not a file of labels"),
    "a probability of zero": (
        {**saved(), "claims": [{**saved()["claims"][0], "probability": 0}]},
        "is not a file of labels",
    ),
    "half a file": (json.dumps(saved())[:-40], "is not a file of labels"),
    "deep": ("[" * 100_000, "is not a file of labels"),
    "ten million labels": (
        json.dumps({**saved(), "labels": []})[:-2] + ",".join(["{}"] * 3_300_000) + "]}",
        "is not a file of labels",
    ),
    "empty": ("", "is not a file of labels"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    content, message = HOSTILE[name]
    with pytest.raises(DataError, match=message) as refused:
        read(tmp_path, content)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400
    assert str(refused.value).startswith(str(tmp_path / "labels.json"))


def test_a_page_says_once_what_all_claims_have_in_common() -> None:
    told = labelling_of(CLAIMS)
    page = json.loads(told.page)
    whole = [{**page["common"], **json.loads(row)} for row in told.rows]
    assert whole == [one.model_dump(mode="json") for one in CLAIMS]
    assert "judge" in page["common"]
    assert told.row(CLAIMS[3].claim_id) == told.rows[3]
    assert told.row("no such claim") is None
    assert labelling_of(claims_to_label(hostile_report())).page.isascii()
