"""The files in which pages save human labels, together with the labelled claims.

A file can therefore be read without the report. It also contains a hash of the claims, so that labels are used only
with these claims and verdicts. Pages on disagreements save answers that say which of two sides is right.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import FailFast, Field, StringConstraints

from factloop.core.errors import DataError
from factloop.core.factuality import counted_claims
from factloop.core.files.lines import open_given
from factloop.core.files.rows import read_record
from factloop.core.records import Count, FactualityReport, Record, Share, Verdict

LARGEST_FILE = 64 * 2**20  # maximum size of a label file in bytes; 5,000 claims without documents take three million
LONGEST_COMMENT = 2_000  # maximum number of characters in a comment
REPORTS_DATASET = "reports"  # name of the data set for claims from single reports

Probability = Annotated[float, Field(ge=1e-9, le=1.0)]
"""Probability of drawing a claim for labelling. The minimum keeps its inverse, the claim's weight, finite."""


class PersonLabel(StrEnum):
    SUPPORTED = "supported"
    NOT_SUPPORTED = "not_supported"
    IRRELEVANT = "irrelevant"
    CANNOT_TELL = "cannot_tell"
    """The passages are not enough to decide. Statistics count this as neither a label nor a verdict."""


class Draw(Record):
    """A random draw of claims to label. Claims are weighted by the inverse of their probability of being drawn."""

    name: str
    n: Annotated[int, Field(ge=1)]
    n_claims: Annotated[int, Field(ge=1)]
    """Number of claims in the run (by `system`, if it is set), including those that already had a label."""
    n_before: Count = 0
    """Number of these claims that already had a label and were not drawn."""
    system: str | None = None
    """The only system whose claims were drawn. None if all systems were included."""


class _OfClaim(Record):
    response_id: str
    claim_id: str

    @property
    def key(self) -> tuple[str, str]:
        return self.response_id, self.claim_id


class ClaimToLabel(_OfClaim):
    """A claim for a person to label, with the judge's verdict."""

    dataset: str
    system: str = ""
    """The system that wrote the response. Empty if unknown."""
    group: str
    """A key shared by all claims from the same prompt, because they are alike."""
    claim: str
    judge: str
    """Name of the evaluator."""
    verdict: Verdict | None
    """None if the claim is unscored."""
    score: Share | None = None
    probability: Probability | None = None
    """Probability that the claim was drawn for labelling. None if there was no draw."""
    draw: Draw | None = None
    """None if there was no draw, or if it is unknown."""
    document: str | None = None
    """The passages that the claim was judged against."""


class GivenLabel(_OfClaim):
    label: PersonLabel
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] = ""
    blind: bool = False
    """Whether the verdict was hidden from the person until the label was given."""
    given_at: datetime | None = None


class ClaimToSettle(_OfClaim):
    """A claim on which two sides disagree. The page does not reveal which side is which."""

    claim: str
    first: str
    """The verdict of one side: `supported`, `not supported` or `irrelevant`."""
    second: str


class Answer(StrEnum):
    FIRST = "first"
    SECOND = "second"
    NEITHER = "neither"


class GivenAnswer(_OfClaim):
    answer: Answer
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] = ""
    given_at: datetime | None = None


class LabelFile(Record):
    """The labels for the claims on one page."""

    schema_version: Literal["1.0"] = "1.0"
    kind: Literal["labels"] = "labels"
    claims_hash: str
    """The hash of the claims, as returned by `hash_of`."""
    claims: Annotated[tuple[ClaimToLabel, ...], FailFast()]
    labels: Annotated[tuple[GivenLabel, ...], FailFast()]


class AnswerFile(Record):
    """The answers about the claims on one page."""

    schema_version: Literal["1.0"] = "1.0"
    kind: Literal["answers"] = "answers"
    claims_hash: str
    claims: Annotated[tuple[ClaimToSettle, ...], FailFast()]
    answers: Annotated[tuple[GivenAnswer, ...], FailFast()]


def claims_to_label(report: FactualityReport) -> tuple[ClaimToLabel, ...]:
    """Returns the claims that count towards a report's metrics, without their passages. A report does not name the
    system, so a hash of the prompt, response and time identifies the response."""
    fingerprint = report.fingerprint
    named = (report.prompt, report.response, report.created_at.isoformat())
    response_id = _hash(named)[:16]
    return tuple(
        ClaimToLabel(
            dataset=REPORTS_DATASET,
            response_id=response_id,
            group=_hash(report.prompt)[:16] if report.prompt else response_id,
            claim_id=claim.id,
            claim=claim.self_contained,
            judge=fingerprint.evaluator,
            verdict=claim.judgement.verdict,
            score=claim.judgement.score,
        )
        for claim in counted_claims(report)
    )


def with_documents(claims: Iterable[ClaimToLabel], report: FactualityReport) -> tuple[ClaimToLabel, ...]:
    """Adds the passages from the report to the claims, for audits of wording and chunks."""
    documents = {claim.id: "\n\n".join(item.passage for item in claim.evidence) for claim in report.claims}
    return tuple(one.model_copy(update={"document": documents[one.claim_id]}) for one in claims)


def hash_of(claims: Iterable[ClaimToLabel | ClaimToSettle]) -> str:
    """Hashes the claims without their passages. Returns 64 hexadecimal digits."""
    return _hash([one.model_dump(mode="json", exclude={"document"}) for one in claims])


def is_of_page(place: str | Path) -> bool:
    """Whether a page saved this file. Pages write a JSON object, whereas a sheet may be a JSON array."""
    if not str(place).lower().endswith(".json"):
        return False
    try:
        with open_given(place) as opened:
            return not opened.read(64).lstrip().startswith(b"[")
    except OSError:
        return True  # the error is reported when the file is read


_File = TypeVar("_File", LabelFile, AnswerFile)


def read_saved(place: str | Path, kind: type[_File]) -> _File:
    """Reads labels or answers saved by a page. Raises DataError if the file is larger than `LARGEST_FILE`, is not of
    this kind or was changed after it was saved, or if it contains two labels (or answers) for the same claim or one for
    an unknown claim."""
    what = "label" if kind is LabelFile else "answer"
    found = read_record(place, kind, f"a file of {what}s saved by a page", LARGEST_FILE)
    if hash_of(found.claims) != found.claims_hash:
        message = f"the claims differ from those on the page; save the {what}s again, and do not edit the file"
        raise DataError(message, path=str(place), field="claims")
    given = found.labels if isinstance(found, LabelFile) else found.answers
    refuse_wrong_labels(given, [one.key for one in found.claims], str(place), what)
    return found


def refuse_wrong_labels(
    labels: Iterable[GivenLabel | GivenAnswer], known: Iterable[tuple[str, str]], path: str, what: str = "label"
) -> None:
    """Raises DataError if a label is for an unknown claim, or if a claim has two labels."""
    names, labelled = {*known}, set()
    for place, label in enumerate(labels):
        field = f"{what}s[{place}]"
        if label.key not in names:
            raise DataError(f"the page does not contain the claim {'/'.join(label.key)!r}", path=path, field=field)
        if label.key in labelled:
            raise DataError(f"claim {'/'.join(label.key)!r} has two {what}s", path=path, field=field)
        labelled.add(label.key)


def _hash(value: Mapping[str, Any] | Sequence[Any] | str | None) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


STYLES = ("label.css",)
SCRIPTS = ("labelling.js",)  # scripts loaded after `list.js`


@dataclass(frozen=True)
class Labelling:
    """JSON for a page's script: data for the whole page, and one row for each claim to label."""

    page: str
    rows: tuple[str, ...]
    """The fields of each claim that differ between claims. Fields that all claims share are in `page`."""
    places: dict[str, int] = field(default_factory=dict)
    """Maps claim ids to positions in `rows`. Used only if all claims are from one response."""

    def row(self, claim_id: str) -> str | None:
        """Returns None if the claim should not be labelled."""
        return self.rows[self.places[claim_id]] if claim_id in self.places else None


def labelling_of(
    claims: Sequence[ClaimToLabel | ClaimToSettle],
    *,
    begins: bool = False,
    kind: Literal["labels", "answers"] = "labels",
) -> Labelling:
    """The data for a page. If `begins` is true, labelling starts at once, and otherwise on request. Verdicts are hidden
    until a claim is labelled. A page for `answers` asks which of two sides is right, and shows them in random order."""
    rows = [one.model_dump(mode="json") for one in claims]
    first = rows[0] if rows else {}
    common = {name: value for name, value in first.items() if all(row[name] == value for row in rows)}
    own = [{name: value for name, value in row.items() if name not in common} for row in rows]
    page = {"claims_hash": hash_of(claims), "common": common, "begins": begins, "kind": kind}
    return Labelling(_json(page), tuple(map(_json, own)), {one.claim_id: place for place, one in enumerate(claims)})


def _json(value: Any) -> str:
    """Returns ASCII without control characters, which HTML attributes do not preserve."""
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")
