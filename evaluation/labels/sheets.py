"""The claims to label next, as a sheet to fill in, and labels to learn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field

from factloop.core.errors import ConfigError, DataError
from factloop.core.factuality import claims_that_count
from factloop.core.files.lines import place_name
from factloop.core.files.tables import read_rows
from factloop.core.records import Claim, Record, Share, Verdict
from factloop.evaluation.labels.sampling import Pilot, labels_needed, probabilities, spreads, systematic_draw
from factloop.evaluation.runs.records import JudgedResponse
from factloop.reports.downloads import Cell
from factloop.reports.labels import ClaimToLabel, Draw, hash_of

SHEET = (
    "dataset", "system", "response_id", "group", "claim_id", "claim", "sentence", "document", "judge", "verdict",
    "score", "probability", "label", "comment", "draw", "n_drawn",
)  # fmt: skip
"""Columns of the sheet: `label` takes 1 (supported), 0 (not), or `agree` for the verdict beside it."""
_VERDICTS = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0}


@dataclass(frozen=True)
class DrawnClaim:
    """A claim to be labelled, with the response that it is from."""

    to_label: ClaimToLabel
    claim: Claim
    prompt: str

    @property
    def row(self) -> tuple[Cell, ...]:
        """The claim as `SHEET` has it."""
        one = self.to_label
        verdict = None if one.verdict is None else _VERDICTS[one.verdict]
        named = (one.dataset, one.system, one.response_id, one.group, one.claim_id, one.claim, self.claim.sentence)
        drawn = (None, None) if one.draw is None else (one.draw.name, one.draw.n)
        return (*named, one.document, one.judge, verdict, one.score, one.probability, None, None, *drawn)


@dataclass(frozen=True)
class NextLabels:
    """A draw of claims to label."""

    drawn: tuple[DrawnClaim, ...]
    """In random order, so that any beginning of it is a smaller draw."""
    n_claims: int
    """Claims of the run with a verdict of supported or not, which it was drawn from."""
    n_pilot: int
    n_needed: int | None
    """Labels for the half width that was asked for; None where none was, and where no number would do."""


def _empty_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _number(value: Any) -> Any:
    """The number of a cell; any other text as it stands, to be refused by name."""
    value = _empty_is_none(value)
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _whole(value: Any) -> Any:
    number = _number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _label(value: Any) -> Any:
    value = _empty_is_none(value)
    given = value.strip().lower() if isinstance(value, str) else value
    return int(given) if given in ("0", "1") else given


Binary = Annotated[Literal[0, 1], BeforeValidator(_label)]


class SheetRow(Record):
    """One row of the sheet as it comes back."""

    model_config = ConfigDict(extra="ignore")

    dataset: str = ""
    system: str
    response_id: str
    group: str
    claim_id: str
    claim: str
    document: str | None = None
    judge: str
    verdict: Binary
    score: Annotated[Share | None, BeforeValidator(_number)] = None
    probability: Annotated[float, Field(gt=0.0, le=1.0), BeforeValidator(_number)]
    label: Annotated[Literal[0, 1, "agree"] | None, BeforeValidator(_label)] = None
    comment: str | None = None
    draw: Annotated[str | None, BeforeValidator(_empty_is_none)] = None
    n_drawn: Annotated[int | None, Field(ge=1), BeforeValidator(_whole)] = None


class PilotRow(Record):
    """One labelled claim that the draw learns from; other columns are not read."""

    model_config = ConfigDict(extra="ignore")

    label: Binary
    verdict: Annotated[Literal[0, 1] | None, BeforeValidator(_label)]
    score: Annotated[Share | None, BeforeValidator(_number)] = None


def draw_next(
    responses: Iterable[JudgedResponse],
    n: int,
    *,
    data: str,
    seed: int,
    pilot: Pilot | None = None,
    half_width: float | None = None,
) -> NextLabels:
    """A draw of n claims of the run with known probabilities; all of them where there are no more.

    They come in random order: who labels a part of a sheet begins at its top, and rows by response would make that part
    the claims of few prompts, or of one system. Holds the claims of the run in memory. Raises ConfigError
    where none has a verdict of supported or not.
    """
    found = sorted(
        ((judged, claim) for judged in responses for claim in _countable(judged)),
        key=lambda one: (one[0].id, one[1].id),
    )
    if not found:
        raise ConfigError(f"{data}: no claim has a verdict of supported or not supported")
    verdicts = np.array([_VERDICTS[claim.judgement.verdict] for _, claim in found if claim.judgement.verdict], np.int64)
    scores = np.array([claim.judgement.score for _, claim in found], np.float64)  # NaN for None
    spread = spreads(verdicts, scores, pilot)
    chance = probabilities(spread, n)
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(systematic_draw(chance, rng)).tolist()
    groups = [judged.prompt_id for judged, _ in found]
    return NextLabels(
        drawn=_of_one_draw(
            [_drawn(*found[place], data=data, probability=round(float(chance[place]), 12)) for place in drawn]
        ),
        n_claims=len(found),
        n_pilot=0 if pilot is None else len(pilot.labels),
        n_needed=None if half_width is None else labels_needed(spread, verdicts, half_width, groups),
    )


def _of_one_draw(claims: Sequence[DrawnClaim]) -> tuple[DrawnClaim, ...]:
    """The claims, each with their draw, which is named after all of them."""
    draw = Draw(name=f"d-{hash_of(one.to_label for one in claims)[:8]}", n=len(claims))
    return tuple(replace(one, to_label=one.to_label.model_copy(update={"draw": draw})) for one in claims)


def _countable(judged: JudgedResponse) -> Iterator[Claim]:
    for claim in claims_that_count(judged.report.claims, judged.report.fingerprint.repeats):
        if claim.judgement.verdict in _VERDICTS:
            yield claim


def _drawn(judged: JudgedResponse, claim: Claim, *, data: str, probability: float) -> DrawnClaim:
    to_label = ClaimToLabel(
        dataset=data,
        system=judged.system,
        response_id=judged.id,
        group=judged.prompt_id,
        claim_id=claim.id,
        claim=claim.self_contained,
        judge=judged.report.fingerprint.evaluator,
        verdict=claim.judgement.verdict,
        score=claim.judgement.score,
        probability=probability,
        document="\n\n".join(one.passage for one in claim.evidence),
    )
    return DrawnClaim(to_label, claim, judged.report.prompt or judged.prompt_id)


def read_pilot(place: str | Path) -> Pilot:
    """Labelled claims to learn from. Raises DataError for a malformed row and for no row."""
    rows = [row.read_as(PilotRow) for row in read_rows(place)]
    known = [one for one in rows if one.verdict is not None]
    if not known:
        raise DataError("there is no labelled claim with a verdict in it", path=place_name(place))
    return Pilot(
        np.array([one.label for one in known], np.int64),
        np.array([one.verdict for one in known], np.int64),
        np.array([one.score for one in known], np.float64),
    )
