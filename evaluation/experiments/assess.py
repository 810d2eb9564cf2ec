"""Makes the report of an experiment from its results: figures, paired differences, verdicts in words, flips."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, combinations
from typing import Literal

import numpy as np

from factloop.core.figure import ends
from factloop.core.records import Judgement
from factloop.evaluation.comparing.demands import Demand, judge_demands
from factloop.evaluation.experiments.conclusions import cautions, conclude
from factloop.evaluation.experiments.demands import demanded, refuse_demands
from factloop.evaluation.experiments.differences import contrast
from factloop.evaluation.experiments.flips import flips_of
from factloop.evaluation.experiments.matrix import item_rows
from factloop.evaluation.experiments.panel import Panel, panel_of
from factloop.evaluation.experiments.quantities import (
    ItemValues,
    claim_quantities,
    response_quantities,
    share_quantities,
    spent_quantities,
)
from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.report import (
    ExperimentReport,
    FamilyAdjustment,
    Quantity,
    QuantityFigure,
    VariantReport,
)
from factloop.evaluation.experiments.spending import total_usage
from factloop.evaluation.experiments.stability import latency_of, stability_of
from factloop.evaluation.experiments.verdicts import Interval, Verdicts
from factloop.evaluation.statistics.stratified_means import StratifiedMean, stratified_intervals

LEVEL = 0.95
RESAMPLES = 2000


def assess(
    results: Results,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    p_adjustment: FamilyAdjustment | Literal["holm", "benjamini-hochberg", "none"] = FamilyAdjustment.HOLM,
    pairs: Literal["baseline", "all"] = "baseline",
    demands: Sequence[Demand] = (),
    created_at: datetime | None = None,
) -> ExperimentReport:
    """The report of an experiment's results; the order of these changes nothing. It costs nothing.

    Differences are held against alpha = 1 - level, and their intervals are adjusted as their p-values are. Every
    variant is compared with the baseline, or every two with each other; flips are always those against the baseline.
    Without `resamples` there are no intervals. Time is linear in results and in resamples times groups. Raises
    DataError where a claim or response comes twice in one repeat of a variant or with two labels, and ValueError for a
    level outside (0, 1), resamples below 0, an unknown adjustment.
    """
    if not 0.0 < level < 1.0 or resamples < 0 or pairs not in ("baseline", "all"):
        raise ValueError("the level lies between 0 and 1, resamples are 0 or more, pairs are 'baseline' or 'all'")
    p_adjustment = FamilyAdjustment(p_adjustment)
    refuse_demands(demands)
    panel = panel_of(results)
    quantities = list(_quantities(panel, results))
    compared = _pairs(len(panel.variants), pairs)
    contrasts = [contrast(values, *pair, n_repeats=results.repeats) for pair in compared for values in quantities]
    verdicts = Verdicts(panel.variants, _headline(quantities), p_adjustment, level, results.kind, seed, resamples > 0)
    differences = verdicts.judge(contrasts)
    asked = list(demanded(demands, contrasts, panel.variants, results.kind))
    flips = [flips_of(panel, 0, place) for place in range(1, len(panel.variants))]
    variants = tuple(_variants(results, panel, quantities, seed=seed, resamples=resamples, level=level))
    return ExperimentReport(
        name=results.name,
        kind=results.kind,
        data=results.data,
        n_items=results.n_items,
        n_labelled=panel.claims.n_labelled,
        n_supported=panel.claims.n_supported,
        repeats=results.repeats,
        baseline=results.baseline,
        k=results.k,
        level=level,
        n_resamples=resamples,
        seed=seed,
        p_adjustment=p_adjustment,
        families=verdicts.families(contrasts),
        headline=verdicts.headline.quantity,
        headline_k=verdicts.headline.k,
        conclusions=conclude(differences),
        demands=judge_demands(asked, alpha=verdicts.alpha, seed=seed),
        variants=variants,
        differences=differences,
        flip_counts=tuple(count for count, _ in flips),
        flips=tuple(flip for _, found in flips for flip in found),
        items=tuple(item_rows(panel, results)),
        paid=results.paid,
        warnings=tuple(cautions(variants, differences, n_conflicting=panel.n_conflicting, repeats=results.repeats)),
        created_at=created_at,
    )


def _quantities(panel: Panel, results: Results) -> Iterator[ItemValues]:
    """The quantities that results allow: for responses, agreement with labels only if there are labels."""
    if panel.responses is None or panel.claims.n_labelled:
        yield from claim_quantities(panel.claims)
    if panel.responses is not None:
        yield from response_quantities(panel.responses, sorted({*results.k}))
    yield from share_quantities(panel.claims if panel.responses is None else panel.responses)
    yield from spent_quantities(panel.spent)


def _headline(quantities: Sequence[ItemValues]) -> ItemValues:
    """The quantity that decides between variants, chosen by the data alone and never by the results.

    Balanced accuracy where people's labels are of both kinds, accuracy where they are of one; of responses without
    labels F1 at the first K, or precision without any K.
    """
    first = quantities[0]
    if first.quantity is Quantity.BALANCED_ACCURACY:
        has_one_label = first.eligible.any() and len({*first.stratum[first.eligible].tolist()}) == 1
        return quantities[1] if has_one_label else first
    return first


def _pairs(n_variants: int, pairs: Literal["baseline", "all"]) -> list[tuple[int, int]]:
    if pairs == "all":
        return list(combinations(range(n_variants), 2))
    return [(0, place) for place in range(1, n_variants)]


def _variants(
    results: Results,
    panel: Panel,
    quantities: Sequence[ItemValues],
    *,
    seed: int,
    resamples: int,
    level: float,
) -> Iterator[VariantReport]:
    """The report of each variant alone."""
    figures = _figures(panel, quantities, seed=seed, resamples=resamples, level=level)
    by_name = {one.name: one for one in results.variants}
    judged = results.responses if results.kind == "responses" else results.claims
    for place, name in enumerate(panel.variants):
        is_there = panel.spent.is_there[place]
        yield VariantReport(
            variant=by_name[name],
            n_items=int(is_there.any(axis=0).sum()),
            n_missing=max(0, results.n_items * results.repeats - int(is_there.sum())),
            figures=tuple(figures[place]),
            stability=stability_of(panel.claims, place, seed=seed, resamples=resamples, level=level),
            latency=latency_of(panel.spent, place),
            usage=total_usage(one.usage for one in judged if one.variant == name),
            why_unscored=_why_unscored(one.judgement for one in results.claims if one.variant == name),
        )


def _why_unscored(judgements: Iterable[Judgement]) -> str | None:
    """The first cause where all are unscored; None where one has a verdict, and where there is none."""
    first: Judgement | None = None
    for one in judgements:
        if one.verdict is not None:
            return None
        first = first or one
    if first is None or first.unscored_reason is None:
        return None
    return " ".join(first.rationale.split()) or first.unscored_reason.value


def _figures(
    panel: Panel, quantities: Sequence[ItemValues], *, seed: int, resamples: int, level: float
) -> list[list[QuantityFigure]]:
    """The figures of each variant, their intervals from the same resamples."""
    means = [[values.mean(place) for values in quantities] for place in range(len(panel.variants))]
    alone = list(chain.from_iterable(means))
    intervals = iter(stratified_intervals(alone, np.random.default_rng(seed), resamples, level))
    return [
        [_measured(values, mean, next(intervals)) for values, mean in zip(quantities, of_variant, strict=True)]
        for of_variant in means
    ]


def _measured(values: ItemValues, mean: StratifiedMean, interval: Interval) -> QuantityFigure:
    return QuantityFigure(
        quantity=values.quantity,
        k=values.k,
        value=mean.value,
        undefined=values.undefined(mean),
        **ends(interval),
        n=mean.n,
        n_groups=mean.n_clusters,
        n_left_out=values.n_left_out(mean),
    )
