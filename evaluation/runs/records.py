"""Defines the records of a run over a data set: a line per response, and a summary of the whole run."""

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
    """A line of a run's `reports.jsonl`: a response with its complete report."""

    id: str
    system: str
    """The system that wrote the response."""
    prompt_id: str
    """The id of the prompt. Responses of different systems to the same prompt share it."""
    report: FactualityReport
    labels: Mapping[str, FactLabel] = Field(default_factory=dict)
    """Maps claim ids to human labels, if the claims were supplied with labels."""

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The judgements of the response's claims and of its eligibility."""
        return (*(claim.judgement for claim in self.report.claims), *filter(None, [self.report.eligibility]))

    @property
    def counted(self) -> CountedResponse:
        verdict = None if self.report.eligibility is None else self.report.eligibility.verdict
        eligible = None if verdict is None else verdict is Verdict.SUPPORTED
        counts = self.report.counts
        return CountedResponse(system=self.system, prompt_id=self.prompt_id, counts=counts, eligible=eligible)


class ResponseLine(CountedResponse):
    """A response as stored in the summary."""

    id: str


class RunDebiasing(Record):
    """One system's figures, debiased with labelled claims."""

    system: str
    precision: DebiasedPrecision
    f1: tuple[DebiasedF1, ...]
    """F1@K for each K in the run."""
    transfer: Transfer
    """What the labelled claims and the run are assumed to share, as requested or according to `is_sampled`."""
    is_sampled: bool
    """Whether labelled claims come from the system or, if their system is unknown, from prompts in the run."""
    n_of_prompts: Count
    """Number of labelled claims from the run's prompts. They were drawn with the run and are not a separate sample."""
    n_own: Count
    """Number of these claims that belong to the run itself."""


class Calibration(Record):
    """The labelled claims used to debias a run, and the debiased figures."""

    data: str
    """The name of the data and, for a file, its hash."""
    n_claims: Count
    n_unscored: Count
    """Number of labelled claims that are not used because they have no verdict."""
    systems: tuple[RunDebiasing, ...]


class RunSummary(Record):
    """The summary of a complete run. Attempts at the same run differ only in `usage` and `created_at`."""

    schema_version: Literal["2.0", "2.1"] = "2.1"
    kind: Literal["responses", "factscore"]
    data: str
    """The name of the data and, for a file, its hash."""
    scores: LongFormScores
    curve: tuple[CurvePoint, ...]
    """F1@K as a function of K."""
    responses: tuple[ResponseLine, ...]
    """The responses, ordered by system and prompt."""
    labelled: LongFormScores | None = None
    """The same scores computed from human labels, at the same Ks. None without labels."""
    every_claim: LongFormScores | None = None
    """The same scores if every claim counts, at the same Ks. None unless only core claims count in `scores`."""
    agreement: LabelAgreement | None = None
    """Agreement of the verdicts with human labels, claim by claim."""
    calibration: Calibration | None = None
    usage: Usage
    fingerprint: Fingerprint
    cascade: CascadeSavings | None = None
    """Total savings over all responses, or None without a cascade."""
    citations: CitationFigures | None = None
    """The combined figures of all responses that came with documents and cite at least one of them."""
    created_at: datetime
    warnings: tuple[str, ...] = ()
