from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]  # has no type hints

from factloop.core.errors import DataError
from factloop.core.files.json import to_json
from factloop.evaluation.labels.exporting import ExportedLabels, export_labels
from factloop.evaluation.labels.people import DisagreementPolicy, settled
from factloop.reports.labels import GivenLabel, LabelFile, PersonLabel, claims_to_label, hash_of
from tests.evaluation.runs.finished_runs import judged

LABELS = {
    "s": PersonLabel.SUPPORTED,
    "n": PersonLabel.NOT_SUPPORTED,
    "i": PersonLabel.IRRELEVANT,
    "?": PersonLabel.CANNOT_TELL,
}
REPORT = judged("p", "ssssnnnnss").report


def saved(place: Path, labels: str) -> str:
    claims = claims_to_label(REPORT)
    given = [
        GivenLabel(response_id=one.response_id, claim_id=one.claim_id, label=LABELS[said], comment=said)
        for one, said in zip(claims, labels, strict=False)
        if said != "-"
    ]
    file = LabelFile(claims_hash=hash_of(claims), claims=claims, labels=tuple(given))
    place.write_text(to_json(file), encoding="utf-8")
    return str(place)


def exported(
    folder: Path, *labels: str, rule: DisagreementPolicy | None = DisagreementPolicy.LEFT_OUT
) -> ExportedLabels:
    places = [saved(folder / f"person{number}.json", given) for number, given in enumerate(labels)]
    return export_labels(places, differing=rule)


def test_kappa_and_share_by_hand_and_by_another_library(tmp_path: Path) -> None:
    """Of ten claims eight alike. By chance 0.6 * 0.6 + 0.4 * 0.4 = 0.52, so kappa (0.8 - 0.52) / 0.48 = 0.583."""
    first, second = "ssssssnnnn", "sssssnnnns"
    people = exported(tmp_path, first, second).people
    assert people is not None
    (pair,) = people.pairs
    assert (pair.alike.value, pair.alike.n) == (0.8, 10)
    assert pair.kappa.value == pytest.approx(0.5833, abs=1e-4)
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(list(first), list(second)))
    assert pair.kappa.interval is None, "all claims are of one prompt"
    assert (people.n_shared, people.n_differing, people.n_left_out) == (10, 2, 2)


def test_claims_on_which_people_differ_are_left_out_or_go_by_the_majority(tmp_path: Path) -> None:
    left_out = exported(tmp_path, "ssnn", "snnn")
    assert [row["label"] for row in left_out.rows] == [1, 0, 0]
    assert [row["n_people"] for row in left_out.rows] == [2, 2, 2]
    three = exported(tmp_path, "ssnn--", "snnn--", "snss-n", rule=DisagreementPolicy.MAJORITY)
    assert [row["label"] for row in three.rows] == [1, 0, 0, 0, 0]
    assert three.rows[1]["comment"] == "s; n; n"
    assert "n_people" not in three.rows[4], "of one person alone"
    assert three.n_empty == 5, "claims that nobody labelled"
    assert three.people is not None
    assert [(one.alike.n, one.kappa.n) for one in three.people.pairs] == [(4, 4)] * 3


@pytest.mark.parametrize(
    ("given", "rule", "label"),
    [
        ("ss", DisagreementPolicy.LEFT_OUT, "s"),
        ("s?", DisagreementPolicy.LEFT_OUT, "s"),
        ("??", DisagreementPolicy.MAJORITY, "?"),
        ("sn", DisagreementPolicy.MAJORITY, None),
        ("si", DisagreementPolicy.LEFT_OUT, None),
        ("ssn", DisagreementPolicy.LEFT_OUT, None),
        ("nns", DisagreementPolicy.MAJORITY, "n"),
        ("ssni", DisagreementPolicy.MAJORITY, None),
        ("ssn?", DisagreementPolicy.MAJORITY, "s"),
    ],
)
def test_the_rule(given: str, rule: DisagreementPolicy, label: str | None) -> None:
    assert settled([LABELS[one] for one in given], rule) is (None if label is None else LABELS[label])


def test_a_second_label_needs_a_rule(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="how to resolve conflicting labels"):
        exported(tmp_path, "ss", "sn", rule=None)
    place = saved(tmp_path / "one.json", "ss")
    (tmp_path / "same.json").symlink_to(place)
    for again in (place, str(tmp_path / "same.json")):
        with pytest.raises(DataError, match=r"this file is listed twice"):
            export_labels([place, again], differing=DisagreementPolicy.MAJORITY)
