"""The record of a complete audit of evaluators on one file of labelled claims."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.adjustment import AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.chunking import ChunkingBias
from factloop.evaluation.audit.quantification import Quantification
from factloop.evaluation.audit.ranking import MeanRanking, Ranking
from factloop.evaluation.audit.rates import EvaluatorRates, PairAgreement
from factloop.evaluation.audit.reliability import Reliability
from factloop.evaluation.audit.resampling import Basis
from factloop.evaluation.audit.surface import SurfaceBias
from factloop.evaluation.statistics.significance import PValueAdjustment


class AuditData(Record):
    name: str
    """The file's name and the first characters of its SHA-256 hash."""
    n_claims: Count
    n_responses: Count
    n_prompts: Count | None
    datasets: tuple[str, ...]
    tasks: tuple[str, ...]
    task_of: Mapping[str, str] = Field(default_factory=dict)
    systems: tuple[str, ...]
    evaluators: tuple[str, ...]
    has_text: bool
    """Whether the rows contain claims and documents, which surface similarity and chunking require."""


class AuditSettings(Record):
    thresholds: tuple[Share, ...]
    """0.5, followed by the chosen threshold, if any."""
    alpha: Share
    p_adjustment: PValueAdjustment
    """How p-values are adjusted for the number of pairs of systems in a data set."""
    n_resamples: Count
    level: Share
    seed: int


class AuditAt(Record):
    threshold: Share
    basis: Basis
    rates: tuple[EvaluatorRates, ...]
    agreement: tuple[PairAgreement, ...]
    quantification: Quantification
    rankings: tuple[Ranking, ...]
    mean_rankings: tuple[MeanRanking, ...]
    reliability: tuple[Reliability, ...] = ()
    """One entry per group for each evaluator with scores between 0 and 1. It is the same at every threshold."""
    surface: tuple[SurfaceBias, ...]
    """One entry per evaluator and group. Empty if the rows contain no text."""
    chunking: tuple[ChunkingBias, ...]
    adjustment: tuple[AdjustmentReport, ...]
    mean_adjustments: tuple[MeanAdjustment, ...] = ()


class AuditReport(Record):
    """The same file, settings and seed produce the same report, except for `created_at`."""

    schema_version: Literal["5.0"] = "5.0"
    data: AuditData
    settings: AuditSettings
    at: Annotated[tuple[AuditAt, ...], Field(min_length=1)]
    left_out: tuple[str, ...]
    """The parts that could not be computed, each with a reason."""
    created_at: datetime
    warnings: tuple[str, ...] = ()
