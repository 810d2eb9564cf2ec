from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from factloop.core.records import (
    CascadeSavings,
    CitationFigures,
    Count,
    FactualityReport,
    Fingerprint,
    Judgement,
    Record,
    Usage,
    Verdict,
)
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.debiasing.records import DebiasedF1, DebiasedPrecision, Transfer
from factloop.evaluation.runs.label_agreement import LabelAgreement
from factloop.evaluation.runs.longform import CountedResponse, CurvePoint, LongFormScores


class JudgedResponse(Record):
    """A line of `reports.jsonl`."""

    id: str
    system: str
    prompt_id: str
    """Shared by all systems' responses to the same prompt."""
    report: FactualityReport
    labels: Mapping[str, FactLabel] = Field(default_factory=dict)
    """Human labels by claim id. Empty if the claims were not supplied with labels."""

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The judgements of all claims and of the response's eligibility."""
        return (*(claim.judgement for claim in self.report.claims), *filter(None, [self.report.eligibility]))

    @property
    def counted(self) -> CountedResponse:
        verdict = None if self.report.eligibility is None else self.report.eligibility.verdict
        eligible = None if verdict is None else verdict is Verdict.SUPPORTED
        counts = self.report.counts
        return CountedResponse(system=self.system, prompt_id=self.prompt_id, counts=counts, eligible=eligible)


class ResponseLine(CountedResponse):
    id: str


class RunDebiasing(Record):
    system: str
    precision: DebiasedPrecision
    f1: tuple[DebiasedF1, ...]
    transfer: Transfer
    is_sampled: bool
    """Whether any labelled claim comes from the system or, if systems are unknown, from a prompt of the run."""
    n_of_prompts: Count
    """Labelled claims from the run's prompts. They are not an independent sample."""
    n_own: Count
    """Labelled claims that belong to the run itself."""


class Calibration(Record):
    data: str
    n_claims: Count
    n_unscored: Count
    """Labelled claims that could not be used because they have no verdict."""
    systems: tuple[RunDebiasing, ...]


class RunSummary(Record):
    """Attempts at the same run differ only in `usage` and `created_at`."""

    schema_version: Literal["2.0", "2.1"] = "2.1"
    kind: Literal["responses", "factscore"]
    data: str
    scores: LongFormScores
    curve: tuple[CurvePoint, ...]
    responses: tuple[ResponseLine, ...]
    labelled: LongFormScores | None = None
    """The scores computed from human labels at the same Ks. None without labels."""
    every_claim: LongFormScores | None = None
    """The scores with every claim counted, at the same Ks. None unless `scores` counts only core claims."""
    agreement: LabelAgreement | None = None
    calibration: Calibration | None = None
    usage: Usage
    fingerprint: Fingerprint
    cascade: CascadeSavings | None = None
    """The savings, summed over all responses. None without a cascade."""
    citations: CitationFigures | None = None
    """The figures, combined over all responses that cite at least one of their documents."""
    created_at: datetime
    warnings: tuple[str, ...] = ()
