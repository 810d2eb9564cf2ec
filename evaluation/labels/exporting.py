"""Labels of people as the file that `--calibration`, `factloop audit` and `factloop cascade tune` read.

They come from sheets (`factloop labels next --out`, filled in), from files that a page saved, or from both: a row for
each claim that was labelled supported or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from factloop.core.errors import DataError
from factloop.core.files.tables import read_rows
from factloop.core.records import FactualityReport, Verdict
from factloop.evaluation.labels.sheets import SheetRow
from factloop.reports.labels import (
    ClaimToLabel,
    GivenLabel,
    LabelFile,
    PersonLabel,
    claims_to_label,
    hash_of,
    is_of_page,
    read_label_file,
    with_documents,
)

UNNAMED = "unnamed"
"""The system of claims whose system is not known: audits want one."""
_LABELS = {PersonLabel.SUPPORTED: 1, PersonLabel.NOT_SUPPORTED: 0}
_VERDICTS = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0}


@dataclass
class ExportedLabels:
    """Rows of labelled claims, and what was left out."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    n_empty: int = 0
    """Claims without a label."""
    left_out: Counter[PersonLabel] = field(default_factory=Counter)
    """Claims labelled irrelevant, or that the person could not tell of."""
    n_blind: int = 0
    """Of the rows, labels that were given before the verdict was shown."""
    n_seen: int = 0
    """Of the rows, labels that were given with the verdict in sight; a sheet shows it."""

    def add(self, claim: ClaimToLabel, given: GivenLabel) -> None:
        label = _LABELS.get(given.label)
        if label is None:
            self.left_out[given.label] += 1
            return
        self.n_blind += given.blind
        self.n_seen += not given.blind
        self.rows.append(_row(claim, given, label))


def export_labels(
    places: Sequence[str | Path], *, system: str = UNNAMED, reports: Mapping[str, FactualityReport] | None = None
) -> ExportedLabels:
    """The labels of all places together; `system` wrote the claims that do not say which system did.

    `reports`, by `hash_of` their claims, are those that the pages were of: they add the passages. Raises DataError for
    a malformed place, one of another report, a claim with labels in two places, claims of which only some were drawn
    with known probabilities, and where no claim has a label.
    """
    found = ExportedLabels()
    first_in: dict[tuple[str, ...], str] = {}
    drawn_in: dict[bool, str] = {}
    for place in map(str, places):
        before = len(found.rows)
        _add_place(found, place, system, reports)
        for row in found.rows[before:]:
            _refuse_second(row, place, first_in)
            drawn_in.setdefault("probability" in row, place)
    if len(drawn_in) > 1:
        message = (
            f"its claims were not drawn with known probabilities, those of {drawn_in[True]} were: export them apart"
        )
        raise DataError(message, path=drawn_in[False])
    if not found.rows:
        raise DataError(
            "no claim has a label of supported or not (in a sheet: 1, 0 or agree)",
            path=", ".join(map(str, places)) or None,
        )
    if not all("document" in row for row in found.rows):  # audits want it in every row or in none
        for row in found.rows:
            row.pop("document", None)
    return found


def reports_by_claims(places: Sequence[str | Path]) -> dict[str, FactualityReport] | None:
    """The reports in files of `factloop check --json`, by the hash of their claims; None without files.

    Raises DataError.
    """
    found = {}
    for place in places:
        try:
            report = FactualityReport.model_validate_json(Path(place).read_bytes())
        except (OSError, ValidationError) as error:
            why = (
                f"cannot be read ({error.strerror})" if isinstance(error, OSError) else "is no report of factloop check"
            )
            raise DataError(why, path=str(place)) from error
        found[hash_of(claims_to_label(report))] = report
    return found or None


def _add_place(found: ExportedLabels, place: str, system: str, reports: Mapping[str, FactualityReport] | None) -> None:
    if is_of_page(place):
        file = read_label_file(place)
        for claim, given in _labelled(file, place, reports):
            found.add(claim.model_copy(update={"system": claim.system or system}), given)
        found.n_empty += len(file.claims) - len(file.labels)
        return
    for row in read_rows(place):
        read = row.read_as(SheetRow)
        if read.label is None:
            found.n_empty += 1
        else:
            found.add(*_of_sheet(read))


def _labelled(
    file: LabelFile, place: str, reports: Mapping[str, FactualityReport] | None
) -> Iterable[tuple[ClaimToLabel, GivenLabel]]:
    claims = file.claims
    if reports is not None:
        if file.claims_hash not in reports:
            raise DataError(
                "these labels are of another report than those of --report", path=place, field="claims_hash"
            )
        claims = with_documents(claims, reports[file.claims_hash])
    by_key = {one.key: one for one in claims}
    return [(by_key[given.key], given) for given in file.labels]


def _of_sheet(read: SheetRow) -> tuple[ClaimToLabel, GivenLabel]:
    label = read.verdict if read.label == "agree" else read.label
    claim = ClaimToLabel(
        dataset=read.dataset,
        system=read.system,
        response_id=read.response_id,
        group=read.group,
        claim_id=read.claim_id,
        claim=read.claim,
        judge=read.judge,
        verdict=Verdict.SUPPORTED if read.verdict else Verdict.NOT_SUPPORTED,
        score=read.score,
        probability=read.probability,
        document=read.document,
    )
    said = PersonLabel.SUPPORTED if label else PersonLabel.NOT_SUPPORTED
    return claim, GivenLabel(
        response_id=read.response_id, claim_id=read.claim_id, label=said, comment=read.comment or ""
    )


def _row(claim: ClaimToLabel, given: GivenLabel, label: int) -> dict[str, Any]:
    verdict = None if claim.verdict is None else _VERDICTS.get(claim.verdict)
    scored = verdict is not None and claim.score is not None
    fields = claim.model_dump(mode="json", exclude={"verdict", "score"}, exclude_none=True)
    return {
        "id": "/".join(claim.key),
        **fields,
        "prompt_id": claim.group,
        "verdict": verdict,
        **({"score": claim.score} if scored else {}),
        "label": label,
        "evaluators": {claim.judge: verdict} | ({f"{claim.judge}: score": claim.score} if scored else {}),
        "blind": given.blind,
        **({"comment": given.comment} if given.comment else {}),
    }


def _refuse_second(row: Mapping[str, Any], place: str, first_in: dict[tuple[str, ...], str]) -> None:
    key = (row["dataset"], row["system"], row["response_id"], row["claim_id"])
    if key in first_in:
        earlier = "this file" if first_in[key] == place else first_in[key]
        raise DataError(f"claim {row['id']!r} has another label in {earlier}: give each claim one", path=place)
    first_in[key] = place
