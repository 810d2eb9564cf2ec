"""Reads labelled claims from a finished run, a file of rows, or the input of an audit.

Rows about the same claim are counted once, and rejected if they contradict each other. A duplicate would change the
figures, and could make a run appear completely labelled, with an interval of zero width.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, ConfigDict

from factloop.core.errors import ConfigError, DataError
from factloop.core.factuality import counted_claims
from factloop.core.files.lines import name_of_data, place_name
from factloop.core.files.rows import NotBlank, Row, shown
from factloop.core.files.tables import read_rows
from factloop.core.records import Fingerprint, Record, Share
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.datasets.mapping import refuse_misspelt
from factloop.evaluation.debiasing.samples import LabelledClaims
from factloop.evaluation.runs.reading import read_run
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.run_claims import VERDICTS, ClaimOrigin, RunClaims, origin_of, text_of
from factloop.reports.labels import Probability

if TYPE_CHECKING:
    from factloop.evaluation.audit.table import PredictionTable

T = TypeVar("T")

_NUMBER = re.compile(r"[0-9]*\.?[0-9]+(?:e-?[0-9]+)?")
_LABELS = {FactLabel.SUPPORTED: 1, FactLabel.NOT_SUPPORTED: 0}


@dataclass(frozen=True)
class CalibrationSample:
    data: str
    labels: tuple[int, ...]
    verdicts: tuple[int | None, ...]
    groups: tuple[str, ...] | None = None
    """The prompt or response of each claim, or None if all claims are independent."""
    n_irrelevant: int = 0
    """Claims left out because they were labelled or judged irrelevant."""
    fingerprint: Fingerprint | None = None
    """The fingerprint of the run that judged the claims. None for a file."""
    judges: frozenset[str] = frozenset()
    """The evaluators named in a file. Empty unless every row names one."""
    kind: Literal["responses", "factscore"] | None = None
    of_systems: tuple[str, ...] | None = None
    responses: tuple[Hashable, ...] | None = None
    """Identifies each claim's response across all systems. None if the groups are the responses."""
    probabilities: tuple[float, ...] | None = None
    """The probability that each claim was drawn for labelling. None if all were equally likely."""
    origins: tuple[ClaimOrigin, ...] | None = None
    """The origin of each claim, or None if it is unknown."""
    is_own: tuple[bool, ...] | None = None
    """Whether each claim belongs to the run being corrected. None until the sample is compared with a run."""
    scores: tuple[float | None, ...] | None = None
    n_judged_otherwise: int = 0
    """Claims whose verdict differs in the run. If there are any, no claim counts as the run's own."""

    @property
    def systems(self) -> frozenset[str]:
        return frozenset(self.of_systems or ())

    def held_against(self, run: RunClaims, *, can_own: bool = True) -> CalibrationSample:
        """Sets the groups to the run's prompt ids where known, and marks the claims that belong to the run.

        `can_own` must be False if annotators split the responses into claims. Any claim of the run with the same text
        is then a coincidence.
        """
        if self.origins is None:
            return self
        prompts = [run.prompt(one) for one in self.origins]
        n_judged_otherwise = run.n_judged_otherwise(self.origins, self.verdicts)
        is_own = run.own(self.origins) if can_own and not n_judged_otherwise else (False,) * len(self.origins)
        groups = self.groups
        if any(prompts):
            names = groups or [f"label {place} of {self.data}" for place in range(len(self.labels))]
            groups = tuple(prompt or name for prompt, name in zip(prompts, names, strict=True))
        return replace(self, groups=groups, is_own=is_own, n_judged_otherwise=n_judged_otherwise)

    def is_from(self, system: str, prompts: Collection[str]) -> bool:
        """Whether any claim comes from the system or, if systems are unknown, from one of the prompts."""
        if self.of_systems is not None:
            return system in self.systems
        return not {*(self.groups or ())}.isdisjoint(prompts)

    def for_system(self, name: str) -> LabelledClaims:
        """Returns the system's own claims. If it has none, returns all claims, with none marked as the run's own."""
        own = [place for place, one in enumerate(self.of_systems or ()) if one == name]
        kept = own or range(len(self.labels))
        is_of_others = self.of_systems is not None and not own
        return LabelledClaims(
            [self.labels[place] for place in kept],
            [self.verdicts[place] for place in kept],
            None if self.groups is None else [self.groups[place] for place in kept],
            None if self.probabilities is None else [self.probabilities[place] for place in kept],
            None if self.is_own is None else [self.is_own[place] and not is_of_others for place in kept],
            None if self.scores is None else [self.scores[place] for place in kept],
            None if self.responses is None else [self.responses[place] for place in kept],
        )


def sample_of_run(place: str | Path, evaluator: str | None) -> CalibrationSample:
    """Raises ConfigError if the run has no labelled claims, and DataError if it is damaged."""
    if evaluator is not None:
        raise ConfigError(f"{place} is a run, which has only one evaluator; do not specify {evaluator!r}")
    run = read_run(place)
    found = [one for judged in run for one in _labelled(judged)]
    claims = [one for one in found if one is not None]
    if not claims:
        raise ConfigError(f"{place} contains no labelled claims; use a run of `factloop eval factscore`")
    labels, verdicts, groups, origins, scores, responses = zip(*claims, strict=True)
    return CalibrationSample(
        data=f"a run over {run.summary.data}",
        labels=labels,
        verdicts=verdicts,
        groups=groups,
        n_irrelevant=found.count(None),
        fingerprint=run.summary.fingerprint,
        kind=run.summary.kind,
        of_systems=tuple(system for system, _ in responses),
        responses=responses,
        origins=origins,
        scores=scores,
    )


_LabelledClaim = tuple[int, int | None, str, ClaimOrigin, float | None, tuple[str, str]]


def _labelled(judged: JudgedResponse) -> Iterator[_LabelledClaim | None]:
    """Yields each labelled claim that counts in the figures, or None in place of an irrelevant one."""
    report = judged.report
    for claim in counted_claims(report):
        label, verdict = judged.labels.get(claim.id), claim.judgement.verdict
        if label is None:
            continue
        if label not in _LABELS or verdict not in VERDICTS:
            yield None
            continue
        origin = origin_of(
            system=judged.system,
            group=judged.prompt_id,
            response_id=judged.id,
            prompt=report.prompt,
            response=report.response,
            claim=text_of(claim),
        )
        response = (judged.system, judged.id)
        yield _LABELS[label], VERDICTS[verdict], judged.prompt_id, origin, claim.judgement.score, response


def _zero_or_one(value: Any) -> Any:
    if type(value) is not int or value not in (0, 1):
        raise ValueError("must be the number 1 (supported) or 0 (not supported); a verdict may also be null")
    return value


def _zero_one_or_none(value: Any) -> Any:
    return None if value is None else _zero_or_one(value)


def _name(value: Any) -> Any:
    return str(value) if type(value) is int else value


class LabelledRow(Record):
    model_config = ConfigDict(extra="ignore")

    label: Annotated[Literal[0, 1], BeforeValidator(_zero_or_one)]
    verdict: Annotated[Literal[0, 1] | None, BeforeValidator(_zero_one_or_none)]
    group: Annotated[NotBlank, BeforeValidator(_name)] | None = None
    system: NotBlank | None = None
    probability: Probability | None = None
    """The probability that the claim was drawn for labelling, as written by `factloop research labels next`."""
    response_id: Annotated[NotBlank, BeforeValidator(_name)] | None = None
    claim: str | None = None
    score: Share | None = None
    """The evaluator's score, used instead of the verdict where that narrows an interval."""
    judge: NotBlank | None = None
    """The evaluator, as written by `factloop research labels export`."""

    @property
    def origin(self) -> ClaimOrigin:
        return origin_of(system=self.system, group=self.group, response_id=self.response_id, claim=self.claim)


@dataclass
class NamedClaims:
    first: dict[tuple[object, ...], tuple[int, LabelledRow]] = field(default_factory=dict)

    def has(self, row: Row, read: LabelledRow) -> bool:
        """Whether an earlier row is about the same claim. Raises DataError if the two rows contradict each other."""
        key = _key(row, read)
        if key is None:
            return False
        line, earlier = self.first.setdefault(key, (row.line, read))
        if earlier is read:
            return False
        for name in ("judge", "label", "verdict", "probability"):
            here, there = getattr(read, name), getattr(earlier, name)
            if here != there:
                said = f"is {shown(here)} here but {shown(there)} in line {line} for the same claim of a response"
                raise row.error(f"{said}; keep only one row per claim", name)
        return True


def _key(row: Row, read: LabelledRow) -> tuple[object, ...] | None:
    """Returns None if two rows with equal keys could still be about different responses."""
    given = (row.fields.get(name) for name in ("dataset", "claim_id"))
    dataset, claim_id = ("" if value is None else str(value) for value in given)
    if read.response_id is None or (read.claim is None and not claim_id):
        return None
    return read.system, dataset, read.response_id, read.group, claim_id, read.claim


def read_labelled_rows(place: str | Path) -> CalibrationSample:
    """Reads rows with `label`, `verdict` and optionally `group` and `system` (JSON Lines, JSON, CSV or Parquet).

    Raises DataError if a row is malformed, a column is misspelled, two rows contradict each other, only some rows have
    a group or a system, or the file is empty. Raises ConfigError if the file is the input of an audit, which needs the
    name of an evaluator.
    """
    rows: list[LabelledRow] = []
    named = NamedClaims()
    first = 0
    is_text = str(place).lower().endswith(".csv")
    for row in read_rows(place):
        _refuse_predictions(row)
        refuse_misspelt(row, LabelledRow.model_fields)
        read = (_with_numbers(row) if is_text else row).read_as(LabelledRow)
        if rows:
            _refuse_unlike(row, read, rows[0], first)
        first = first or row.line
        if not named.has(row, read):
            rows.append(read)
    if not rows:
        raise DataError("the file has no rows", path=place_name(place))
    judges = {read.judge for read in rows}
    return CalibrationSample(
        name_of_data(place),
        tuple(read.label for read in rows),
        tuple(read.verdict for read in rows),
        _column(read.group for read in rows),
        of_systems=_column(read.system for read in rows),
        responses=_responses(rows),
        probabilities=_column(read.probability for read in rows),
        origins=tuple(read.origin for read in rows),
        scores=tuple(read.score for read in rows),
        judges=frozenset() if None in judges else frozenset(filter(None, judges)),
    )


def _responses(rows: Sequence[LabelledRow]) -> tuple[Hashable, ...] | None:
    named = tuple((row.system, row.group, row.response_id) for row in rows)
    return named if all(group or response for _, group, response in named) else None


def _refuse_unlike(row: Row, read: LabelledRow, first: LabelledRow, line: int) -> None:
    for name in ("group", "system", "probability"):
        is_known = getattr(first, name) is not None
        if (getattr(read, name) is None) == is_known:
            how = "missing here but present" if is_known else "present here but missing"
            raise row.error(f"is {how} in line {line}; set this field in every row or in none", name)


def _column(values: Iterable[T | None]) -> tuple[T, ...] | None:
    return tuple(value for value in values if value is not None) or None


def read_predictions(place: str | Path, evaluator: str) -> CalibrationSample:
    """Reads one evaluator's scores from the input of an audit. A score of at least 0.5 means supported.

    Claims are grouped by prompt, or by response if there are no prompts. Raises DataError if the file cannot be
    audited, and ConfigError if the evaluator is unknown.
    """
    from factloop.evaluation.audit.rows import load_predictions
    from factloop.evaluation.audit.table import THRESHOLD, clusters_of

    table = load_predictions(place)
    if evaluator not in table.scores:
        known = ", ".join(sorted(table.scores))
        raise ConfigError(f"{place_name(place)} contains no scores by {evaluator!r}; choose from {known}")
    if table.prompt is not None and len(table.dataset.names) == 1:
        groups = [table.prompt.names[code] for code in table.prompt.codes.tolist()]  # these may also be in a run
    else:
        groups = [f"cluster {cluster}" for cluster in clusters_of(table).tolist()]
    verdicts = (None if math.isnan(score) else int(score >= THRESHOLD) for score in table.scores[evaluator].tolist())
    return CalibrationSample(
        data=name_of_data(place),
        labels=tuple(table.label.tolist()),
        verdicts=tuple(verdicts),
        groups=tuple(groups),
        probabilities=None if table.probability is None else tuple(table.probability.tolist()),
        of_systems=tuple(table.system.names[code] for code in table.system.codes.tolist()),
        responses=tuple(zip(table.system.codes.tolist(), table.response.codes.tolist(), strict=True)),
        origins=tuple(_origins(table)),
    )


def _origins(table: PredictionTable) -> Iterator[ClaimOrigin]:
    prompts = None if table.prompt is None else table.prompt.codes.tolist()
    places = zip(table.system.codes.tolist(), table.response.codes.tolist(), strict=True)
    for row, (system, response) in enumerate(places):
        yield origin_of(
            system=table.system.names[system],
            group=None if prompts is None or table.prompt is None else table.prompt.names[prompts[row]],
            response_id=table.response.names[response],
            claim=None if table.claim_text is None else table.claim_text[row],
        )


def _refuse_predictions(row: Row) -> None:
    given = row.fields.get("evaluators")
    names = sorted(given) if isinstance(given, Mapping) else []
    names += sorted(name.removeprefix("evaluator:") for name in row.fields if name.startswith("evaluator:"))
    if names and "verdict" not in row.fields:
        raise ConfigError(f"{row.path} contains scores by {', '.join(names)}; specify which evaluator to use")


def _with_numbers(row: Row) -> Row:
    fields: dict[str, Any] = {name: value or None for name, value in row.fields.items()}
    for name in ("label", "verdict"):
        if fields.get(name) in ("0", "1"):
            fields[name] = json.loads(fields[name])
    for name in ("probability", "score"):
        if _NUMBER.fullmatch(str(fields.get(name))):
            fields[name] = float(fields[name])
    return row.renamed(fields, {})
