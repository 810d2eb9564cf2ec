"""The whole audit of evaluators (Godbole & Jia, "Verify with Caution"): every part of it, at one or two thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import numpy as np

from factloop.evaluation.audit.adjustment import adjust, mean_adjustment
from factloop.evaluation.audit.adjustment_records import AdjustmentReport, MeanAdjustment
from factloop.evaluation.audit.advice import advise
from factloop.evaluation.audit.agreement import agreement
from factloop.evaluation.audit.bigrams import Floats
from factloop.evaluation.audit.chunking import (
    ChunkingBias,
    R2Differences,
    chunked_evaluators,
    chunking_bias,
    r2_differences,
)
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.groups import averaged_groups
from factloop.evaluation.audit.omissions import left_out, warnings
from factloop.evaluation.audit.pair_tests import LabelTests
from factloop.evaluation.audit.quantification import quantification
from factloop.evaluation.audit.ranking import ALPHA, MeanRanking, Ranking, mean_ranking, rank_systems
from factloop.evaluation.audit.rates import rates
from factloop.evaluation.audit.reading import findings_of
from factloop.evaluation.audit.reliability import reliability
from factloop.evaluation.audit.report import AuditAt, AuditData, AuditReport, AuditSettings, EvaluatorAdvice
from factloop.evaluation.audit.resampling import LEVEL, RESAMPLES, Basis, count, tasks_of
from factloop.evaluation.audit.surface import similarities, surface_bias
from factloop.evaluation.audit.system_groups import group_headrooms
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.statistics.significance import PValueAdjustment

Of = TypeVar("Of")
Mean = TypeVar("Mean")


def audit(
    table: PredictionTable,
    *,
    name: str,
    created_at: datetime,
    threshold: float | None = None,
    alpha: float = ALPHA,
    p_adjustment: PValueAdjustment = PValueAdjustment.NONE,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = 0,
    system_groups: Mapping[str, tuple[str, ...]] | None = None,
) -> AuditReport:
    """Computes every figure of every evaluator, at a threshold of 0.5 and at the chosen one if there is one.

    `name` is that of the data. No `resamples` means no intervals.
    The order of the rows changes nothing but rounding. What cannot be computed is undefined, with the reason, and in
    `left_out`. Costs no money. Raises ValueError for a data set with two task groups, and for a response of two systems
    or to two prompts.
    """
    chosen = (THRESHOLD,) if threshold in (None, THRESHOLD) else (THRESHOLD, threshold)
    settings = AuditSettings(
        thresholds=chosen,
        alpha=alpha,
        p_adjustment=p_adjustment,
        n_resamples=resamples,
        level=level,
        seed=seed,
        system_groups=system_groups or {},
    )
    texts = _Texts(table)
    known = LabelTests()
    at = tuple(_audit_at(table, one, settings, texts, known) for one in settings.thresholds)
    return AuditReport(
        data=_data(table, name, at[0].rates.basis),
        settings=settings,
        at=at,
        advice=_advice(at[0], table, level),
        left_out=left_out(table),
        warnings=warnings(table, at[0], settings),
        created_at=created_at,
    )


class _Texts:
    """Figures that follow from the texts alone, taken once for all evaluators and thresholds."""

    def __init__(self, table: PredictionTable) -> None:
        self.similarity: Floats | None = None
        self.chunked: list[tuple[str, str, R2Differences]] = []
        if table.claim_text is None or table.document is None:
            return
        self.similarity = similarities(table)
        named = chunked_evaluators(table.scores)
        by_size = {size: r2_differences(table, size) for size in sorted({size for _, _, size in named})}
        self.chunked = [(whole, column, by_size[size]) for whole, column, size in named]

    def chunking(self, table: PredictionTable, threshold: float) -> tuple[ChunkingBias, ...]:
        return tuple(
            bias
            for whole, column, differences in self.chunked
            for bias in chunking_bias(table, whole, column, differences, threshold=threshold)
        )


def _audit_at(
    table: PredictionTable, threshold: float, settings: AuditSettings, texts: _Texts, known: LabelTests
) -> AuditAt:
    # The same seed at each threshold draws the same resamples, so that two thresholds differ by nothing else.
    rng = np.random.default_rng(settings.seed) if settings.n_resamples else None
    counted = count(table, threshold=threshold, rng=rng, resamples=settings.n_resamples, level=settings.level)
    rankings, mean_rankings = _rankings(table, threshold, settings, known)
    adjustment, mean_adjustments = _adjustments(table, threshold)
    similarity = texts.similarity
    biases = quantification(counted)
    return AuditAt(
        threshold=threshold,
        rates=rates(counted),
        agreement=agreement(counted),
        quantification=biases,
        group_headrooms=group_headrooms(biases.systems, settings.system_groups),
        rankings=rankings,
        mean_rankings=mean_rankings,
        reliability=tuple(found for one in table.scores for found in reliability(table, one)),
        surface=()
        if similarity is None
        else tuple(bias for one in table.scores for bias in surface_bias(table, one, similarity, threshold=threshold)),
        chunking=texts.chunking(table, threshold),
        adjustment=adjustment,
        mean_adjustments=mean_adjustments,
    )


def _rankings(
    table: PredictionTable, threshold: float, settings: AuditSettings, known: LabelTests
) -> tuple[tuple[Ranking, ...], tuple[MeanRanking, ...]]:
    def rank(evaluator: str, dataset: str, level: Level) -> Ranking:
        return rank_systems(
            table,
            evaluator,
            dataset,
            level=level,
            threshold=threshold,
            alpha=settings.alpha,
            p_adjustment=settings.p_adjustment,
            known=known,
        )

    found: list[Ranking] = []
    means: list[MeanRanking] = []
    for level in Level:
        for evaluator in table.scores:
            ranked = [rank(evaluator, dataset, level) for dataset in table.dataset.names]
            found += ranked
            means += _over_groups(table, ranked, mean_ranking)
    return tuple(found), tuple(means)


def _adjustments(
    table: PredictionTable, threshold: float
) -> tuple[tuple[AdjustmentReport, ...], tuple[MeanAdjustment, ...]]:
    found: list[AdjustmentReport] = []
    means: list[MeanAdjustment] = []
    for evaluator in table.scores:
        adjusted = [adjust(table, evaluator, dataset, threshold=threshold) for dataset in table.dataset.names]
        found += adjusted
        means += _over_groups(table, adjusted, mean_adjustment)
    return tuple(found), tuple(means)


def _over_groups(
    table: PredictionTable, of_datasets: Sequence[Of], mean: Callable[[Group, Sequence[Of]], Mean]
) -> list[Mean]:
    """The mean for each task group and for all; `of_datasets` has one place for each data set."""
    groups = averaged_groups(len(table.dataset.names), tasks_of(table))
    return [mean(group, [of_datasets[place] for place in places]) for group, places in groups if places]


def _advice(at: AuditAt, table: PredictionTable, level: float) -> tuple[EvaluatorAdvice, ...]:
    names = table.dataset.names
    groups = [(Group(kind="dataset", name=name), [place]) for place, name in enumerate(names)]
    groups += averaged_groups(len(names), tasks_of(table))
    return tuple(
        EvaluatorAdvice(
            evaluator=evaluator,
            group=group,
            advice=advise(findings_of(at, evaluator, group, [names[place] for place in places], level)),
        )
        for evaluator in table.scores
        for group, places in groups
        if places
    )


def _data(table: PredictionTable, name: str, basis: Basis) -> AuditData:
    return AuditData(
        name=name,
        n_claims=table.n_rows,
        n_responses=basis.n_responses,
        n_prompts=basis.n_clusters if basis.clusters == "prompt" else None,
        datasets=table.dataset.names,
        task_of=dict(zip(table.dataset.names, tasks_of(table) or (), strict=False)),
        tasks=() if table.task is None else table.task.names,
        systems=tuple(name for name in table.system.names if name != UNKNOWN_SYSTEM),
        evaluators=tuple(table.scores),
        has_text=table.claim_text is not None and table.document is not None,
    )
