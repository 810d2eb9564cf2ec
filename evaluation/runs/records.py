"""Records of a run over a data set: a line for each response, and a summary of them all."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from factloop.core.records import CascadeSavings, CitationFigures, Count, FactualityReport, Fingerprint, Record, Usage
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.debiasing.records import DebiasedF1, DebiasedPrecision, Transfer
from factloop.evaluation.runs.label_agreement import LabelAgreement
from factloop.evaluation.runs.longform import CountedResponse, CurvePoint, LongFormScores


class JudgedResponse(Record):
    """One line of a run's `reports.jsonl`: a response with its whole report."""

    id: str
    system: str
    """The system that wrote the response."""
    prompt_id: str
    """Responses of several systems to one prompt share it."""
    report: FactualityReport
    labels: Mapping[str, FactLabel] = Field(default_factory=dict)
    """Claim id to people's label, where the claims were given with labels."""

    @property
    def counted(self) -> CountedResponse:
        return CountedResponse(system=self.system, prompt_id=self.prompt_id, counts=self.report.counts)


class ResponseLine(CountedResponse):
    """One response as the summary keeps it."""

    id: str


class RunDebiasing(Record):
    """Figures of one system debiased by labelled claims."""

    system: str
    precision: DebiasedPrecision
    f1: tuple[DebiasedF1, ...]
    """One for each K of the run."""
    transfer: Transfer
    """What of the labelled claims is taken to hold for the run: as asked for, or by `is_sampled`."""
    is_sampled: bool
    """Whether labelled claims come from the system, or from prompts of the run where their system is not known."""
    n_of_prompts: Count
    """Labelled claims from prompts of the run: they are drawn with it, and no sample of their own."""
    n_own: Count
    """Those of them that are the run's own claims."""


class Calibration(Record):
    """The labelled claims that a run was debiased by, and the debiased figures."""

    data: str
    """The name of the data, and its hash if it is a file."""
    n_claims: Count
    n_unscored: Count
    """Labelled claims without a verdict, which nothing rests on."""
    systems: tuple[RunDebiasing, ...]


class RunSummary(Record):
    """A run over a data set, whole. Two attempts at one run give the same but for `usage` and `created_at`."""

    schema_version: Literal["1.4", "1.5", "1.6"] = "1.6"
    kind: Literal["responses", "factscore"]
    data: str
    """The name of the data, and its hash if it is a file."""
    scores: LongFormScores
    curve: tuple[CurvePoint, ...]
    """F1@K against K."""
    responses: tuple[ResponseLine, ...]
    """The responses by system and prompt."""
    labelled: LongFormScores | None = None
    """The same scores by people's labels, where there are labels; for the same K."""
    agreement: LabelAgreement | None = None
    """Agreement of the verdicts with people's labels, claim by claim."""
    calibration: Calibration | None = None
    usage: Usage
    fingerprint: Fingerprint
    cascade: CascadeSavings | None = None
    """Savings over all responses; None without a cascade."""
    citations: CitationFigures | None = None
    """Of all responses together that came with documents and cite any."""
    created_at: datetime
    warnings: tuple[str, ...] = ()
