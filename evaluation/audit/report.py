"""The whole audit of evaluators on one file of labelled claims, as one record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.adjustment_records import AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.advice import Advice
from factloop.evaluation.audit.agreement import Agreement
from factloop.evaluation.audit.chunking import ChunkingBias
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.quantification import Quantification
from factloop.evaluation.audit.ranking import MeanRanking, Ranking
from factloop.evaluation.audit.rates import Rates
from factloop.evaluation.audit.reliability import Reliability
from factloop.evaluation.audit.surface import SurfaceBias
from factloop.evaluation.audit.system_groups import GroupHeadroom
from factloop.evaluation.statistics.significance import PValueAdjustment


class AuditData(Record):
    """The data that was audited."""

    name: str
    """The file's name, with the beginning of its SHA-256."""
    n_claims: Count
    n_responses: Count
    n_prompts: Count | None
    """None where no prompts are given."""
    datasets: tuple[str, ...]
    tasks: tuple[str, ...]
    """Task groups; empty where none are given."""
    task_of: Mapping[str, str] = Field(default_factory=dict)
    """Data set to its task group; empty where no groups are given."""
    systems: tuple[str, ...]
    evaluators: tuple[str, ...]
    has_text: bool
    """Whether claims and documents are given, which surface similarity and chunking need."""


class AuditSettings(Record):
    """The settings of an audit."""

    thresholds: tuple[Share, ...]
    """0.5 first, then the chosen one if there is one."""
    alpha: Share
    p_adjustment: PValueAdjustment
    """Adjustment of p-values for the number of tests over the pairs of systems of one data set."""
    n_resamples: Count
    level: Share
    """Level of the intervals."""
    seed: int
    system_groups: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Name of a group to its systems, whose headroom is given apart."""


class AuditAt(Record):
    """All figures at one threshold."""

    threshold: Share
    rates: Rates
    agreement: Agreement
    quantification: Quantification
    group_headrooms: tuple[GroupHeadroom, ...] = ()
    """Headroom of the groups of systems that the user named; empty without any."""
    rankings: tuple[Ranking, ...]
    """One for each level, evaluator and data set."""
    mean_rankings: tuple[MeanRanking, ...]
    """One for each level and evaluator on each task group, and on all data sets."""
    reliability: tuple[Reliability, ...] = ()
    """One for each evaluator with scores between 0 and 1, and group; the same at each threshold. Audits before version
    2.4 have none."""
    surface: tuple[SurfaceBias, ...]
    """One for each evaluator and group; empty without texts."""
    chunking: tuple[ChunkingBias, ...]
    """One for each evaluator with a chunked column, and group."""
    adjustment: tuple[AdjustmentReport, ...]
    """One for each evaluator and data set."""
    mean_adjustments: tuple[MeanAdjustment, ...] = ()
    """One for each evaluator on each task group, and on all data sets."""


class EvaluatorAdvice(Record):
    """The advice on one evaluator on one data set, on those of a task group, or on all."""

    evaluator: str
    group: Group
    advice: tuple[Advice, ...]


class AuditReport(Record):
    """The audit, whole. The same file, settings and seed give the same but for `created_at`."""

    schema_version: Literal["2.0", "2.1", "2.2", "2.3", "2.4"] = "2.4"
    data: AuditData
    settings: AuditSettings
    at: Annotated[tuple[AuditAt, ...], Field(min_length=1)]
    """The figures at each threshold, in their order."""
    advice: tuple[EvaluatorAdvice, ...]
    """The advice at the first threshold."""
    left_out: tuple[str, ...]
    """Parts that could not be computed, each with its reason in one sentence."""
    created_at: datetime
    warnings: tuple[str, ...] = ()
