"""Runs the complete audit of evaluators (Godbole & Jia, "Verify with Caution") at one or two thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

import numpy as np

from factloop.evaluation.audit.adjustment import adjust, mean_adjustment
from factloop.evaluation.audit.chunking import R2Differences, chunked_evaluators, chunking_bias, r2_differences
from factloop.evaluation.audit.figures import Floats, Group, averaged_groups
from factloop.evaluation.audit.notices import left_out, warnings
from factloop.evaluation.audit.quantification import quantification
from factloop.evaluation.audit.ranking import ALPHA, mean_ranking, rank_systems
from factloop.evaluation.audit.rates import agreement, rates
from factloop.evaluation.audit.reliability import reliability
from factloop.evaluation.audit.report import AuditAt, AuditData, AuditReport, AuditSettings
from factloop.evaluation.audit.resampling import LEVEL, RESAMPLES, Basis, count, refuse_too_large
from factloop.evaluation.audit.surface import similarities, surface_bias
from factloop.evaluation.audit.table import THRESHOLD, Level, PredictionTable, tasks_of
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
) -> AuditReport:
    """Computes all figures for every evaluator at a threshold of 0.5, and also at `threshold` if set.

    `name` identifies the data. If `resamples` is 0, there are no intervals. The order of the rows affects only
    rounding. Figures that cannot be computed carry a reason and are listed in `left_out`. Costs no money. Raises
    DataError if the audit needs too much memory, and ValueError if a data set has two task groups, or if a response
    belongs to two systems or prompts.
    """
    refuse_too_large(table, resamples)
    chosen = (THRESHOLD,) if threshold in (None, THRESHOLD) else (THRESHOLD, threshold)
    settings = AuditSettings(
        thresholds=chosen, alpha=alpha, p_adjustment=p_adjustment, n_resamples=resamples, level=level, seed=seed
    )
    similarity = similarities(table) if table.has_text else None
    chunked = _chunked(table)
    at = tuple(_audit_at(table, one, settings, similarity, chunked) for one in settings.thresholds)
    return AuditReport(
        data=_data(table, name, at[0].basis),
        settings=settings,
        at=at,
        left_out=tuple(left_out(table)),
        warnings=tuple(warnings(table, at[0], settings)),
        created_at=created_at,
    )


def _chunked(table: PredictionTable) -> list[tuple[str, str, R2Differences]]:
    named = chunked_evaluators(table.scores) if table.has_text else []
    by_size = {size: r2_differences(table, size) for size in sorted({size for _, _, size in named})}
    return [(whole, column, by_size[size]) for whole, column, size in named]


def _audit_at(
    table: PredictionTable,
    threshold: float,
    settings: AuditSettings,
    similarity: Floats | None,
    chunked: Sequence[tuple[str, str, R2Differences]],
) -> AuditAt:
    # The seed is the same at each threshold, so both draw the same resamples and differ only in the threshold.
    rng = np.random.default_rng(settings.seed) if settings.n_resamples else None
    counted = count(table, threshold=threshold, rng=rng, resamples=settings.n_resamples, level=settings.level)
    names = table.dataset.names
    rank = partial(rank_systems, table, threshold=threshold, alpha=settings.alpha, p_adjustment=settings.p_adjustment)
    ranked = [[rank(one, dataset, level=level) for dataset in names] for level in Level for one in table.scores]
    adjusted = [
        [adjust(table, evaluator, dataset, threshold=threshold) for dataset in names] for evaluator in table.scores
    ]
    return AuditAt(
        threshold=threshold,
        basis=counted.basis,
        rates=rates(counted),
        agreement=agreement(counted),
        quantification=quantification(counted),
        rankings=tuple(one for of_datasets in ranked for one in of_datasets),
        mean_rankings=_over_groups(table, ranked, mean_ranking),
        reliability=tuple(found for one in table.scores for found in reliability(table, one)),
        surface=()
        if similarity is None
        else tuple(bias for one in table.scores for bias in surface_bias(table, one, similarity, threshold=threshold)),
        chunking=tuple(
            bias
            for whole, column, differences in chunked
            for bias in chunking_bias(table, whole, column, differences, threshold=threshold)
        ),
        adjustment=tuple(one for of_datasets in adjusted for one in of_datasets),
        mean_adjustments=_over_groups(table, adjusted, mean_adjustment),
    )


def _over_groups(
    table: PredictionTable, found: Sequence[Sequence[Of]], mean: Callable[[Group, Sequence[Of]], Mean]
) -> tuple[Mean, ...]:
    groups = averaged_groups(len(table.dataset.names), tasks_of(table))
    return tuple(
        mean(group, [of_datasets[place] for place in places])
        for of_datasets in found
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
        has_text=table.has_text,
    )
