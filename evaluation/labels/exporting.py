"""Exports human labels to a file for `--calibration`, `research audit` and `research cascade tune`.

The labels come from completed sheets (`labels next --out`) and from files saved by a page. The file has a row for each
claim labelled supported or not supported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from factloop.core.errors import DataError
from factloop.core.files.rows import read_record
from factloop.core.files.tables import read_rows
from factloop.core.records import FactualityReport, Verdict
from factloop.evaluation.labels.draws import DrawnPart, counted, drawn_parts
from factloop.evaluation.labels.people import DisagreementPolicy, GivenBy, PeopleAgreement, compare_people, settled
from factloop.evaluation.labels.sheets import SheetRow, unsealed
from factloop.reports.labels import (
    ClaimToLabel,
    GivenLabel,
    LabelFile,
    PersonLabel,
    claims_to_label,
    hash_of,
    is_of_page,
    read_saved,
    with_documents,
)

UNNAMED = "unnamed"
"""The name for an unknown system, because audits require one."""
_LABELS = {PersonLabel.SUPPORTED: 1, PersonLabel.NOT_SUPPORTED: 0}
_VERDICTS = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0}
_EDITED = (
    "this row has changed since `labels next` wrote it: a person or a spreadsheet edited the claim, seal, "
    "probability or another cell; go back to the original sheet and fill in only `label` and `comment`"
)


@dataclass
class ExportedLabels:
    rows: list[dict[str, Any]] = field(default_factory=list)
    n_empty: int = 0
    left_out: Counter[PersonLabel] = field(default_factory=Counter)
    """Claims labelled *irrelevant* or *cannot tell*, by label."""
    n_blind: int = 0
    """Rows labelled before the verdict was shown."""
    n_seen: int = 0
    """Rows labelled with the verdict visible."""
    judged: Counter[tuple[Verdict | None, int]] = field(default_factory=Counter)  # rows by verdict and label
    runs: Counter[tuple[str, str]] = field(default_factory=Counter)
    unfinished: list[DrawnPart] = field(default_factory=list)
    """Partly answered draws. Their labels are weighted like those of a smaller draw."""
    people: PeopleAgreement | None = None
    """None if no rule was chosen for claims that people label differently."""

    def add(self, claim: ClaimToLabel, given: Sequence[GivenLabel], label: int) -> None:
        is_blind = all(one.blind for one in given)
        self.n_blind += is_blind
        self.n_seen += not is_blind
        self.judged[claim.verdict, label] += 1
        self.runs[claim.dataset, claim.judge] += 1
        self.rows.append(_row(claim, given, label))


@dataclass
class _LabelledClaim:
    claim: ClaimToLabel
    place: str
    given: dict[str, GivenLabel] = field(default_factory=dict)


def export_labels(
    places: Sequence[str | Path],
    *,
    system: str = UNNAMED,
    systems: Mapping[str, str] = MappingProxyType({}),
    reports: Mapping[str, FactualityReport] | None = None,
    differing: DisagreementPolicy | None = None,
) -> ExportedLabels:
    """Combines the labels in completed sheets and in files saved by pages.

    Reports do not name the system that wrote the response. `systems` names it for individual files, and `system` for
    all others. `reports` (see `reports_by_claims`) provide the passages. With `differing`, the rule for conflicting
    labels, each file must contain the labels of a different person.

    Raises DataError if a file is malformed or belongs to another report, if only some claims were drawn with known
    probabilities, or if no claims are labelled. Also raises DataError if a claim has two labels in one file or, without
    `differing`, in two files.
    """
    _refuse_repeated(places)
    found = ExportedLabels()
    labelled: dict[tuple[str, ...], _LabelledClaim] = {}
    drawn_in: dict[bool, str] = {}
    for place in map(str, places):
        for claim, given in _labels_in(place, systems.get(place, system), reports):
            of_draw = "" if claim.draw is None else claim.draw.name
            key = (claim.dataset, claim.system, *claim.key, of_draw)
            one = labelled.setdefault(key, _LabelledClaim(claim, place))
            if given is None:
                continue
            _refuse_second(one, place, differing)
            one.given[place] = given
            drawn_in.setdefault(claim.probability is not None, place)
    if len(drawn_in) > 1:
        known = f"the claims in {drawn_in[True]} were drawn with known probabilities, but these claims were not"
        raise DataError(f"{known}; export the files separately", path=drawn_in[False])
    answered = {key[:-1] for key, one in labelled.items() if one.given}
    found.n_empty = len({key[:-1] for key in labelled} - answered)
    every = [one for one in labelled.values() if one.claim.probability is not None]
    parts = drawn_parts((one.claim, one.place, bool(one.given)) for one in every).values()
    found.unfinished = [part for part in parts if part.n_answered and part.n_open]
    told = [(one, _said(one, differing)) for one in labelled.values() if one.given]
    kept = [(one, said) for one, said in told if said in _LABELS]
    claims = counted([one.claim for one, _ in kept], parts)
    _refuse_twice(one for one, _ in kept)
    found.left_out.update(said for _, said in told if said is not None and said not in _LABELS)
    for (one, said), claim in zip(kept, claims, strict=True):
        found.add(claim, list(one.given.values()), _LABELS[said])
    if differing is not None:
        found.people = compare_people(_by_group(labelled.values()), differing)
    if not found.rows:
        raise DataError(
            "label at least one claim as supported or not supported (in a sheet: 1 or 0)",
            path=", ".join(map(str, places)) or None,
        )
    if not all("document" in row for row in found.rows):  # audits require documents in all rows or in none
        for row in found.rows:
            row.pop("document", None)
    return found


def _said(one: _LabelledClaim, differing: DisagreementPolicy | None) -> PersonLabel | None:
    return settled([given.label for given in one.given.values()], differing or DisagreementPolicy.LEFT_OUT)


def _refuse_repeated(places: Sequence[str | Path]) -> None:
    first: set[Path] = set()
    for place in places:
        path = Path(place).resolve()
        if path in first:
            raise DataError("this file is listed twice; list it once", path=str(place))
        first.add(path)


def _refuse_twice(labelled: Iterable[_LabelledClaim]) -> None:
    first: dict[tuple[str, ...], str] = {}
    for one in labelled:
        key = (one.claim.dataset, one.claim.system, *one.claim.key)
        if key in first:
            name = "/".join(one.claim.key)
            message = f"claim {name!r} has a label from another draw in {first[key]}; export only one of the two files"
            raise DataError(message, path=one.place)
        first[key] = one.place


def _by_group(labelled: Iterable[_LabelledClaim]) -> Mapping[str, list[GivenBy]]:
    found: dict[str, list[GivenBy]] = {}
    for one in labelled:
        found.setdefault(one.claim.group, []).append({place: given.label for place, given in one.given.items()})
    return found


def reports_by_claims(places: Sequence[str | Path]) -> dict[str, FactualityReport] | None:
    """Reads reports saved by `factloop check --json`, and maps two hashes of each report's claims to the report.

    The first is the hash on the report's page. The second is the same for every run of an identical check. Returns None
    without files. Raises DataError if a file cannot be read or is not a report.
    """
    found: dict[str, FactualityReport] = {}
    for place in places:
        report = read_record(place, FactualityReport, "a factloop report")
        claims = claims_to_label(report)
        found |= {hash_of(claims): report, _hash_of_any_run(claims): report}
    return found or None


def _labels_in(
    place: str, system: str, reports: Mapping[str, FactualityReport] | None
) -> Iterator[tuple[ClaimToLabel, GivenLabel | None]]:
    if is_of_page(place):
        file = read_saved(place, LabelFile)
        given = {one.key: one for one in file.labels}
        for claim in _with_documents(file, place, reports):
            yield claim.model_copy(update={"system": claim.system or system}), given.get(claim.key)
        return
    for row in read_rows(place):
        read = row.read_as(SheetRow)
        claim, label = _of_sheet(read)
        is_exported = read.seal is None and "verdict" in read.model_fields_set
        known = claim if is_exported else unsealed(claim, read.seal or "")
        if known is None:
            raise row.error(_EDITED)
        yield known, label


def _with_documents(
    file: LabelFile, place: str, reports: Mapping[str, FactualityReport] | None
) -> tuple[ClaimToLabel, ...]:
    if reports is None:
        return file.claims
    report = reports.get(file.claims_hash) or reports.get(_hash_of_any_run(file.claims))
    if report is None:
        said = "these labels belong to none of the --report files; pass the report that was labelled"
        raise DataError(said, path=place, field="claims_hash")
    return with_documents(file.claims, report)


def _hash_of_any_run(claims: Iterable[ClaimToLabel]) -> str:
    """Returns a hash without the response's id, which depends on the time of the check."""
    return hash_of(
        one.model_copy(update={"response_id": "", "group": one.group.replace(one.response_id, "")}) for one in claims
    )


def _of_sheet(read: SheetRow) -> tuple[ClaimToLabel, GivenLabel | None]:
    claim = ClaimToLabel(
        dataset=read.dataset,
        system=read.system,
        response_id=read.response_id,
        group=read.group,
        claim_id=read.claim_id,
        claim=read.claim,
        judge=read.judge,
        verdict={1: Verdict.SUPPORTED, 0: Verdict.NOT_SUPPORTED, None: None}[read.verdict],
        score=read.score,
        probability=read.probability,
        draw=read.drawn_in,
        document=read.document,
    )
    if read.label is None:
        return claim, None
    said = PersonLabel.SUPPORTED if read.label else PersonLabel.NOT_SUPPORTED
    return claim, GivenLabel(
        response_id=read.response_id,
        claim_id=read.claim_id,
        label=said,
        blind=read.verdict is None if read.blind is None else read.blind,
        comment=read.comment or "",
    )


def _row(claim: ClaimToLabel, given: Sequence[GivenLabel], label: int) -> dict[str, Any]:
    verdict = None if claim.verdict is None else _VERDICTS.get(claim.verdict)
    scored = verdict is not None and claim.score is not None
    fields = claim.model_dump(mode="json", exclude={"verdict", "score", "draw"}, exclude_none=True)
    comment = "; ".join(one.comment for one in given if one.comment)
    return {
        "id": "/".join(claim.key),
        **fields,
        "prompt_id": claim.group,
        "verdict": verdict,
        **({"score": claim.score} if scored else {}),
        "label": label,
        "evaluators": {claim.judge: verdict} | ({f"{claim.judge}: score": claim.score} if scored else {}),
        "blind": all(one.blind for one in given),
        **({"n_people": len(given)} if len(given) > 1 else {}),
        **({"comment": comment} if comment else {}),
    }


def _refuse_second(one: _LabelledClaim, place: str, differing: DisagreementPolicy | None) -> None:
    if not one.given or (differing is not None and place not in one.given):
        return
    name = "/".join(one.claim.key)
    if place in one.given:
        raise DataError(f"claim {name!r} has two labels in this file; keep only one of them", path=place)
    message = f"claim {name!r} also has a label in {next(iter(one.given))}; if two people labelled it, use --differing "
    raise DataError(f"{message}to choose how to resolve conflicting labels", path=place)
