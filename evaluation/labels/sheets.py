"""Writes a sheet of claims to label next, and reads the existing labels that guide the choice."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from factloop.core.errors import ConfigError, DataError
from factloop.core.factuality import counted_claims
from factloop.core.files.lines import place_name
from factloop.core.files.tables import read_rows
from factloop.core.records import Claim, Record, Share, Verdict
from factloop.evaluation.labels.sampling import (
    Pilot,
    fewest_labels,
    probabilities,
    share_of_draw,
    spreads,
    systematic_draw,
)
from factloop.evaluation.runs.records import JudgedResponse
from factloop.reports.downloads import Cell, without_apostrophe
from factloop.reports.labels import ClaimToLabel, Draw, Probability, hash_of
from factloop.reports.visible import visible

STEPS = 10**6
"""Scores and probabilities are rounded to this many steps. Spreadsheets may save nine or fewer decimals."""
_VERDICTS = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0}
_SEAL = re.compile("s-([0-9a-f]{12})-([0-9a-f]{6})")


def seal_of(claim: ClaimToLabel) -> str:
    """Returns a hash of the claim as it was drawn, followed by its verdict and score, masked with the hash.

    The hash shows whether cells were edited, because a label is valid only for the original claim and verdict. It
    excludes the cells that people fill in, and the prompt, sentence and passages, which a spreadsheet may truncate. The
    mask hides the verdict from the person who labels the claim. A seal begins with a letter so that spreadsheets do not
    read it as a number.
    """
    score = None if claim.score is None else round(claim.score * STEPS)
    digest = _hash(claim, score, round((claim.probability or 0.0) * STEPS))
    said = 2 * (0 if score is None else 1 + score) + (claim.verdict is Verdict.SUPPORTED)
    return f"s-{digest}-{said ^ int(digest[:6], 16):06x}"


def unsealed(claim: ClaimToLabel, seal: str) -> ClaimToLabel | None:
    """Returns the claim of a row with its verdict and score, or None if the row or the seal was edited. The probability
    may differ by less than one step."""
    if (found := _SEAL.fullmatch(seal)) is None:
        return None
    said = int(found[2], 16) ^ int(found[1][:6], 16)
    verdict, score = (Verdict.NOT_SUPPORTED, Verdict.SUPPORTED)[said % 2], said // 2 - 1 if said > 1 else None
    known = claim.model_copy(update={"verdict": verdict, "score": None if score is None else score / STEPS})
    chance = (claim.probability or 0.0) * STEPS
    return known if found[1] in {_hash(known, score, one) for one in (floor(chance), ceil(chance))} else None


def _hash(claim: ClaimToLabel, score: int | None, probability: int) -> str:
    fields = claim.model_dump(mode="json", exclude={"document"}) | {"score": score, "probability": probability}
    said = {name: value for name, value in fields.items() if isinstance(value, str)}
    # Programs differ in how they save spaces, and the apostrophe before a formula.
    plain = fields | {name: " ".join(without_apostrophe(visible(value)).split()) for name, value in said.items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:12]


SHEET = (
    "prompt", "claim", "sentence", "document", "label", "comment", "dataset", "system", "response_id", "group",
    "claim_id", "judge", "probability", "draw", "n_drawn", "n_claims", "n_before", "seal",
)  # fmt: skip
"""Columns of the sheet. `label` accepts 1 (supported) or 0 (not supported), and `comment` any text. No other cell may
be edited. `seal` is used to check this, and contains the verdict, which the sheet does not show."""


@dataclass(frozen=True)
class DrawnClaim:
    to_label: ClaimToLabel
    claim: Claim
    prompt: str

    @property
    def row(self) -> tuple[Cell, ...]:
        one, draw = self.to_label, self.to_label.draw
        shown = (self.prompt, one.claim, self.claim.sentence, one.document, None, None)
        named = (one.dataset, one.system, one.response_id, one.group, one.claim_id, one.judge, one.probability)
        of_draw = (None,) * 4 if draw is None else (draw.name, draw.n, draw.n_claims, draw.n_before)
        return (*shown, *named, *of_draw, seal_of(one))


@dataclass(frozen=True)
class Candidate:
    system: str
    response_id: str
    group: str
    judge: str
    claim: Claim
    prompt: str
    is_first: bool = False
    """Whether the claim has priority over others."""

    @property
    def key(self) -> ClaimKey:
        return self.system, self.response_id, self.claim.id, self.claim.self_contained, self.judge


@dataclass(frozen=True)
class NextLabels:
    drawn: tuple[DrawnClaim, ...]
    """The claims are in random order, so that the first few are also a random draw."""
    n_claims: int
    """Claims in the run with a verdict of supported or not supported."""
    n_unscored: int
    """Claims in the run without a verdict."""
    n_before: int
    """Claims in `n_claims` that already have a label and were left out of the draw."""
    pilot: Pilot | None
    n_to_learn: int
    n_first: int
    """Unlabelled claims with priority. `n_first_drawn` of them were drawn."""
    n_first_drawn: int

    @property
    def has_learnt(self) -> bool:
        return self.pilot is not None and self.pilot.n >= self.n_to_learn


def _empty_is_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _number(value: Any) -> Any:
    """Text that is not a number is returned unchanged, so that validation reports it."""
    value = _empty_is_none(value)
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _share(value: Any) -> Any:
    """Accepts a decimal comma, which many spreadsheet locales use."""
    return _number(value.replace(",", ".")) if isinstance(value, str) else value


def _whole(value: Any) -> Any:
    number = _number(value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _label(value: Any) -> Any:
    value = _empty_is_none(value)
    given = value.strip().lower() if isinstance(value, str) else value
    return int(given) if given in ("0", "1") else given


Binary = Annotated[Literal[0, 1], BeforeValidator(_label)]


class SheetRow(Record):
    model_config = ConfigDict(extra="ignore")

    dataset: str = ""
    system: str
    response_id: str
    group: str
    claim_id: str
    claim: Annotated[str, AfterValidator(without_apostrophe)]
    document: str | None = None
    judge: str
    verdict: Annotated[Literal[0, 1] | None, BeforeValidator(_label)] = None
    """None in rows of a sheet, whose `seal` contains the verdict and the score."""
    score: Annotated[Share | None, BeforeValidator(_share)] = None
    probability: Annotated[Probability, BeforeValidator(_share)]
    label: Annotated[Literal[0, 1] | None, BeforeValidator(_label)] = None
    blind: bool | None = None
    comment: str | None = None
    draw: Annotated[str | None, BeforeValidator(_empty_is_none)] = None
    n_drawn: Annotated[int, Field(ge=1), BeforeValidator(_whole)] | None = None
    n_claims: Annotated[int, Field(ge=1), BeforeValidator(_whole)] | None = None
    n_before: Annotated[int, Field(ge=0), BeforeValidator(_whole)] | None = None
    seal: Annotated[str | None, BeforeValidator(_empty_is_none)] = None
    """None in exported labels, which have a verdict instead."""

    @property
    def drawn_in(self) -> Draw | None:
        """None if any of the draw's cells is empty."""
        if self.draw is None or self.n_drawn is None or self.n_claims is None or self.n_before is None:
            return None
        return Draw(name=self.draw, n=self.n_drawn, n_claims=self.n_claims, n_before=self.n_before)


Text = Annotated[str | None, BeforeValidator(lambda value: None if value is None else str(value))]
ClaimKey = tuple[str | None, ...]
"""Identifies a claim in a run: system, response, claim id, text and judge."""


class PilotRow(Record):
    """A labelled claim to learn from. If it is in the run, the draw leaves it out."""

    model_config = ConfigDict(extra="ignore")

    label: Binary
    verdict: Annotated[Literal[0, 1] | None, BeforeValidator(_label)]
    score: Annotated[Share | None, BeforeValidator(_number)] = None
    system: Text = None
    response_id: Text = None
    claim_id: Text = None
    claim: Text = None
    judge: Text = None
    probability: Annotated[float | None, BeforeValidator(_number)] = None
    """None if the claim was not drawn. A new draw may then include it."""

    @property
    def key(self) -> ClaimKey:
        return self.system, self.response_id, self.claim_id, self.claim, self.judge


@dataclass(frozen=True)
class KnownLabels:
    pilot: Pilot
    claims: frozenset[ClaimKey] = frozenset()
    """Labelled claims from this run or another that were drawn with known probabilities."""


SELDOM = 0.01
"""The spread of a claim without priority. Claims with priority have a spread of 1."""


def candidates_of(responses: Iterable[JudgedResponse]) -> Iterator[Candidate]:
    for judged in responses:
        judge, prompt = judged.report.fingerprint.evaluator, judged.report.prompt or judged.prompt_id
        for claim in counted_claims(judged.report):
            yield Candidate(judged.system, judged.id, judged.prompt_id, judge, claim, prompt)


def draw_claims(
    candidates: Iterable[Candidate], n: int, *, data: str, seed: int, known: KnownLabels | None = None
) -> NextLabels:
    """Draws n claims with known probabilities, or all claims if there are fewer.

    Claims with priority are drawn first, except for the `EVEN` share of the draw. Claims that already have a label are
    left out. `labels.draws` explains how old and new labels are combined. The claims are in random order because people
    label a sheet from the top: in the order of the responses, a partly labelled sheet would cover only a few prompts or
    a single system. All claims of the run are held in memory.

    Raises ConfigError if no claims were judged supported or not supported, or if all such claims are already labelled.
    """
    every = sorted(candidates, key=lambda one: (one.response_id, one.claim.id))
    found = [one for one in every if one.claim.judgement.verdict in _VERDICTS]
    if not found:
        raise ConfigError(f"{data}: no claims were judged supported or not supported, so there is nothing to label")
    pilot = None if known is None else known.pilot
    judged = [one.claim.judgement for one in found]
    verdicts = np.array([_VERDICTS[one.verdict] for one in judged if one.verdict], np.int64)
    scores = np.array([one.score for one in judged], np.float64)  # NaN for None
    is_first = np.array([one.is_first for one in found])
    spread = np.where(is_first, 1.0, SELDOM) if is_first.any() else spreads(verdicts, scores, pilot)
    is_known = np.array([known is not None and one.key in known.claims for one in found])
    rest, n_before = np.flatnonzero(~is_known), int(is_known.sum())
    if not len(rest):
        raise ConfigError(f"{data}: every claim that could be drawn already has a label ({n_before:,} in all)")
    n = min(n, len(rest))
    share = share_of_draw(len(found), n_before, n)
    chance = probabilities(spread[rest], n, share)
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(systematic_draw(chance, rng)).tolist()
    counts_by = np.minimum(chance / share, 1.0).round(12).tolist()
    return NextLabels(
        drawn=_of_one_draw(
            [_drawn(found[rest[place]], data=data, probability=counts_by[place]) for place in drawn],
            Draw(name="", n=len(drawn), n_claims=len(found), n_before=n_before),
        ),
        n_claims=len(found),
        n_unscored=sum(one.claim.judgement.verdict is None for one in every),
        n_before=n_before,
        pilot=pilot,
        n_to_learn=fewest_labels(scores),
        n_first=int(is_first[rest].sum()),
        n_first_drawn=int(is_first[rest][drawn].sum()),
    )


def _of_one_draw(claims: Sequence[DrawnClaim], nameless: Draw) -> tuple[DrawnClaim, ...]:
    draw = nameless.model_copy(update={"name": f"d-{hash_of(one.to_label for one in claims)[:8]}"})
    return tuple(replace(one, to_label=one.to_label.model_copy(update={"draw": draw})) for one in claims)


def _drawn(one: Candidate, *, data: str, probability: float) -> DrawnClaim:
    claim = one.claim
    to_label = ClaimToLabel(
        dataset=data,
        system=one.system,
        response_id=one.response_id,
        group=one.group,
        claim_id=claim.id,
        claim=claim.self_contained,
        judge=one.judge,
        verdict=claim.judgement.verdict,
        score=claim.judgement.score,
        probability=probability,
        document="\n\n".join(item.passage for item in claim.evidence),
    )
    return DrawnClaim(to_label, claim, one.prompt)


def read_known(place: str | Path) -> KnownLabels:
    """Reads the labelled claims that guide a draw and are left out of it. Raises DataError if no claims are usable."""
    rows = [row.read_as(PilotRow) for row in read_rows(place)]
    known = [one for one in rows if one.verdict is not None]
    drawn = frozenset(one.key for one in rows if one.probability is not None)
    if not known and not drawn:
        raise DataError("the file contains no labelled claims with a verdict", path=place_name(place))
    pilot = Pilot(
        np.array([one.label for one in known], np.int64),
        np.array([one.verdict for one in known], np.int64),
        np.array([one.score for one in known], np.float64),
    )
    return KnownLabels(pilot, drawn)
