"""The whole audit of evaluators on one file of labelled claims, as one record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.adjustment import AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.chunking import ChunkingBias
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.quantification import Quantification
from factloop.evaluation.audit.ranking import MeanRanking, Ranking
from factloop.evaluation.audit.rates import Agreement, Rates
from factloop.evaluation.audit.reliability import Reliability
from factloop.evaluation.audit.surface import SurfaceBias
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


class AuditAt(Record):
    """All figures at one threshold."""

    threshold: Share
    rates: Rates
    agreement: Agreement
    quantification: Quantification
    rankings: tuple[Ranking, ...]
    """One for each level, evaluator and data set."""
    mean_rankings: tuple[MeanRanking, ...]
    """One for each level and evaluator on each task group, and on all data sets."""
    reliability: tuple[Reliability, ...] = ()
    """One for each evaluator with scores between 0 and 1, and group; the same at each threshold."""
    surface: tuple[SurfaceBias, ...]
    """One for each evaluator and group; empty without texts."""
    chunking: tuple[ChunkingBias, ...]
    """One for each evaluator with a chunked column, and group."""
    adjustment: tuple[AdjustmentReport, ...]
    """One for each evaluator and data set."""
    mean_adjustments: tuple[MeanAdjustment, ...] = ()
    """One for each evaluator on each task group, and on all data sets."""


class Use(StrEnum):
    FILTER_CLAIMS = "filter_claims"
    ERROR_RATE = "error_rate"
    HEADROOM = "headroom"
    COMPARE_SYSTEMS = "compare_systems"
    RANK_SYSTEMS = "rank_systems"
    LONG_DOCUMENTS = "long_documents"
    PARAPHRASED_CLAIMS = "paraphrased_claims"
    COPIED_CLAIMS = "copied_claims"


class Leave(StrEnum):
    """Whether the evaluator may be used so, here."""

    YES = "yes"
    WITH_CARE = "with_care"
    NO = "no"
    UNKNOWN = "unknown"
    """Not measured, or by too few claims or systems to tell."""


class Reason(StrEnum):
    """The condition that decided a piece of advice."""

    WITHIN_LIMITS = "within_limits"
    BETWEEN_LIMITS = "between_limits"
    BEYOND_LIMITS = "beyond_limits"
    WIDE_INTERVAL = "wide_interval"
    NOT_ABOVE_CHANCE = "not_above_chance"
    CHANCE_NOT_EXCLUDED = "chance_not_excluded"
    FEW_DIFFERENCES = "few_differences"
    NO_DIFFERENCES = "no_differences"
    NOT_MEASURED = "not_measured"
    TOO_FEW = "too_few"
    TOO_FEW_CLUSTERS = "too_few_clusters"
    UNDEFINED = "undefined"


class Measure(StrEnum):
    """A figure that advice rests on. All are shares, but for tau."""

    TPR = "tpr"
    TNR = "tnr"
    BALANCED_ACCURACY = "balanced_accuracy"
    MEAN_BIAS = "mean_bias"
    """Mean magnitude over systems."""
    HEADROOM_BIAS = "headroom_bias"
    """Magnitude of the lowest predicted minus the lowest labelled error rate; over data sets the mean."""
    WRONG_PAIRS = "wrong_pairs"
    REVERSED_PAIRS = "reversed_pairs"
    FOUND_PAIRS = "found_pairs"
    """Of the pairs that differ significantly by the labels, the share that differ likewise by predictions."""
    TAU = "tau"
    """Kendall's coefficient of error rates."""
    LOST_ACROSS_CHUNKS = "lost_across_chunks"
    """Of the claims that pass with the whole document and that no chunk carries, the share lost once it is cut."""
    TPR_DROP = "tpr_drop"
    """TPR over all claims less that of the claims with the least wording in common with the document."""
    TPR_LEAST_SIMILAR = "tpr_least_similar"
    TNR_LEAST_SIMILAR = "tnr_least_similar"
    """Over all claims where fewer than 30 of this kind are there; likewise `TPR_MOST_SIMILAR`."""
    TNR_DROP = "tnr_drop"
    """TNR over all claims less that of the claims with the most wording in common with the document."""
    TNR_MOST_SIMILAR = "tnr_most_similar"
    TPR_MOST_SIMILAR = "tpr_most_similar"


class AdviceFigure(Record):
    """A figure with the limits that it was held against."""

    measure: Measure
    value: float | None
    low: float | None
    high: float | None
    n: Count
    """Claims, systems or pairs of systems that it rests on."""
    good: float | None
    """The limit of good values; None where the figure can only speak against a use."""
    poor: float | None
    """The limit of poor values; None where it can only ask for care."""


class Advice(Record):
    use: Use
    leave: Leave
    reason: Reason
    figures: tuple[AdviceFigure, ...]
    """Empty where nothing was measured."""


class NoticeKind(StrEnum):
    """What is left out of an audit, or weakens it."""

    NO_SCORES = "no_scores"
    NO_TEXT = "no_text"
    NO_CHUNKS = "no_chunks"
    NO_TASKS = "no_tasks"
    NO_PROMPTS = "no_prompts"
    ONE_EVALUATOR = "one_evaluator"
    UNKNOWN_SYSTEM = "unknown_system"
    ONE_SYSTEM = "one_system"
    TWO_SYSTEMS = "two_systems"
    NO_UNATTRIBUTABLE = "no_unattributable"
    NO_ATTRIBUTABLE = "no_attributable"
    LABELS_ONLY = "labels_only"
    WEIGHTED = "weighted"
    UNSCORED = "unscored"
    UNSCORED_RESPONSES = "unscored_responses"
    NO_LONG_DOCUMENT = "no_long_document"
    NO_RESAMPLES = "no_resamples"
    FEW_RESAMPLES = "few_resamples"
    ONE_CLUSTER = "one_cluster"
    FEW_CLUSTERS = "few_clusters"


class Notice(Record):
    """One thing that is left out, or weakens the figures, with the number that shows it."""

    kind: NoticeKind
    about: str = ""
    """The evaluator or data set; empty for the whole audit."""
    n: Count | None = None
    of: Count | None = None
    """What `n` is a part of."""


class EvaluatorAdvice(Record):
    """The advice on one evaluator on one data set, on those of a task group, or on all."""

    evaluator: str
    group: Group
    advice: tuple[Advice, ...]


class AuditReport(Record):
    """The audit, whole. The same file, settings and seed give the same but for `created_at`."""

    schema_version: Literal["4.0"] = "4.0"
    data: AuditData
    settings: AuditSettings
    at: Annotated[tuple[AuditAt, ...], Field(min_length=1)]
    """The figures at each threshold, in their order."""
    advice: tuple[EvaluatorAdvice, ...]
    """The advice at the first threshold."""
    left_out: tuple[Notice, ...]
    """Parts that could not be computed."""
    created_at: datetime
    warnings: tuple[Notice, ...] = ()
