"""Draws claims whose verdict differs from the human label, for an adjudicator who cannot tell which is which.

Wei et al. 2024 (section 4) had 100 such facts judged again, and SAFE was right on 76% of them. The sheet and the page
show the verdict and the label in random order. Only the key records which is which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from factloop.core.errors import ConfigError
from factloop.core.factuality import claims_that_count
from factloop.core.records import Claim, Count, Evidence, NonNegative, Record, Verdict
from factloop.evaluation.comparing.matching import RIGHT
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.records import JudgedResponse
from factloop.reports.downloads import Cell
from factloop.reports.labels import ClaimToSettle, hash_of

SHEET = ("item", "claim", "sentence", "prompt", "passages", "first", "second", "answer", "comment")
"""Columns of the sheet. `answer` accepts `first`, `second` or `neither`."""
PASSAGES = 5
"""Maximum number of the judge's passages per row."""


class DisputedClaim(Record):
    """A claim on the sheet, with information that is hidden from the adjudicator."""

    item: str
    response_id: str
    claim_id: str
    judge_is_first: bool
    verdict: Verdict
    label: FactLabel


class DisagreementKey(Record):
    """The key to a sheet or page of disagreements."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    data: str
    seed: Count
    n_labelled: Count
    """Labelled claims with a verdict. A claim repeated in a response counts once."""
    n_differing: Count
    """Labelled claims whose verdict differs from the label."""
    n_responses: Count
    cost_usd: NonNegative | None
    """Cost of judging all responses in the run. None if the price is unknown."""
    disputed: tuple[DisputedClaim, ...] = Field(min_length=1)
    claims_hash: str | None = None
    """Hash of the claims as shown on the page, repeated in the file of answers. None before version 1.1."""


@dataclass(frozen=True)
class DrawnDisagreement:
    """A claim as the adjudicator sees it, without anything that reveals the judge's side."""

    item: str
    to_settle: ClaimToSettle
    claim: Claim
    prompt: str

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The first passages found. Showing only cited passages would reveal the judge's side."""
        return self.claim.evidence[:PASSAGES]

    @property
    def row(self) -> tuple[Cell, ...]:
        one = self.to_settle
        passages = "\n\n".join(f"{item.source}: {item.passage}" for item in self.evidence)
        return (self.item, one.claim, self.claim.sentence, self.prompt, passages, one.first, one.second, "", "")


@dataclass(frozen=True)
class DisagreementDraw:
    drawn: tuple[DrawnDisagreement, ...]
    key: DisagreementKey


@dataclass(frozen=True)
class _Case:
    response: JudgedResponse
    claim: Claim
    verdict: Verdict
    label: FactLabel


def draw_disagreements(
    responses: Iterable[JudgedResponse], n: int, *, seed: int, data: str, cost_usd: float | None
) -> DisagreementDraw:
    """Draws `n` disagreements, or all of them if there are fewer, and creates the key.

    All disagreements are equally likely, whatever the order of the responses, and are held in memory. Raises
    ConfigError if no claims have both a label and a verdict, or if all verdicts agree with the labels.
    """
    n_responses = n_labelled = 0
    differing: list[_Case] = []
    for judged in responses:
        n_responses += 1
        for case in _cases(judged):
            n_labelled += 1
            if RIGHT[case.label] is not case.verdict:
                differing.append(case)
    if not n_labelled:
        raise ConfigError(
            f"{data}: no claims have both a label and a verdict; use a run created by `factloop eval factscore`"
        )
    if not differing:
        raise ConfigError(f"{data}: all verdicts agree with the labels, so there is nothing to settle")
    differing.sort(key=lambda one: (one.response.id, one.claim.id))
    rng = np.random.default_rng(seed)
    drawn = [differing[place] for place in rng.permutation(len(differing))[:n]]
    firsts = rng.random(len(drawn)) < 0.5
    disputed = [
        DisputedClaim(
            item=str(number),
            response_id=one.response.id,
            claim_id=one.claim.id,
            judge_is_first=bool(is_first),
            verdict=one.verdict,
            label=one.label,
        )
        for number, (one, is_first) in enumerate(zip(drawn, firsts, strict=True), 1)
    ]
    shown = tuple(_shown(one, by) for one, by in zip(drawn, disputed, strict=True))
    key = DisagreementKey(
        data=data,
        seed=seed,
        n_labelled=n_labelled,
        n_differing=len(differing),
        n_responses=n_responses,
        cost_usd=cost_usd,
        disputed=tuple(disputed),
        claims_hash=hash_of(one.to_settle for one in shown),
    )
    return DisagreementDraw(shown, key)


def _cases(judged: JudgedResponse) -> Iterator[_Case]:
    for claim in claims_that_count(judged.report.claims, "once"):
        label, verdict = judged.labels.get(claim.id), claim.judgement.verdict
        if label is not None and verdict is not None:
            yield _Case(judged, claim, verdict, label)


def _shown(case: _Case, by: DisputedClaim) -> DrawnDisagreement:
    """Presents both sides in the same way, without the rationale, which would reveal the judge's side."""
    judge, people = case.verdict.replace("_", " "), RIGHT[case.label].replace("_", " ")
    first, second = (judge, people) if by.judge_is_first else (people, judge)
    to_settle = ClaimToSettle(
        response_id=by.response_id, claim_id=by.claim_id, claim=case.claim.self_contained, first=first, second=second
    )
    return DrawnDisagreement(by.item, to_settle, case.claim, case.response.report.prompt or case.response.prompt_id)
