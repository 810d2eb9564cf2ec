"""Picks the findings on one evaluator on one data set or group from an audit's records, for advice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from factloop.evaluation.audit.adjustment_records import AdjustmentMethod, MethodAverage, MethodMean
from factloop.evaluation.audit.chunking import ChunkingBias
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.findings import NOT_MEASURED, Finding, Findings
from factloop.evaluation.audit.ranking import Order, Ranking
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.surface import SurfaceBias
from factloop.evaluation.audit.units import Level

METHOD_WORDS: Mapping[AdjustmentMethod, str] = {
    AdjustmentMethod.UNADJUSTED: "unadjusted",
    AdjustmentMethod.ADJUSTED_COUNTS: "adjusted counts",
    AdjustmentMethod.ZERO_BIAS: "threshold tuned to zero bias",
    AdjustmentMethod.BALANCED_ACCURACY: "threshold tuned to balanced accuracy",
}


def findings_of(at: AuditAt, evaluator: str, group: Group, datasets: Sequence[str], level: float) -> Findings:
    """The findings at claim level. `datasets` are those of the group. What is pooled is taken over all its claims.

    Raises StopIteration for an evaluator or group that was not audited.
    """
    rates, biases = at.rates.find(evaluator, group), at.quantification.find(evaluator, group)
    best = best_method(_methods(at, evaluator, group))
    n_compared = sum(_n_compared(at, evaluator, name) for name in datasets)
    return Findings(
        evaluator=evaluator,
        where=words_of(group),
        tpr=_figure(rates.tpr),
        tnr=_figure(rates.tnr),
        balanced_accuracy=_figure(rates.balanced_accuracy),
        mean_bias=_figure(biases.mean_absolute, biases.n_systems),
        worst_bias=_worst(at, evaluator, datasets),
        best_adjustment=None if best is None else METHOD_WORDS[best.method],
        adjusted_bias=None if best is None else best.mean_bias,
        unadjusted_bias=None if best is None else best.unadjusted_mean_bias,
        n_adjusted=0 if best is None else best.n_calibrations,
        headroom_bias=_figure(biases.headroom_bias, n_compared),
        headroom_size=NOT_MEASURED if group.kind == "dataset" else _figure(biases.headroom_absolute, n_compared),
        lost_across_chunks=_lost(at, evaluator, group),
        level=level,
        **_order(at, evaluator, group, datasets),
        **_by_wording(at, evaluator, group),
    )


def words_of(group: Group) -> str:
    """The group as it reads in a sentence."""
    return {"dataset": group.name, "task": f"the data sets of {group.name}", "all": "all data sets"}[group.kind]


def _figure(estimate: AuditFigure, n: int | None = None) -> Finding:
    """`n` where the figure rests on something else than claims."""
    n = estimate.n if n is None else n
    return Finding(estimate.value, n, estimate.low, estimate.high, n_clusters=estimate.n_clusters)


def _n_compared(at: AuditAt, evaluator: str, dataset: str) -> int:
    """How many systems the data set's headroom is the lowest of: 0 if it has one system only."""
    found = at.quantification.find(evaluator, Group(kind="dataset", name=dataset))
    return 0 if found.headroom_bias.value is None else found.n_systems


def _worst(at: AuditAt, evaluator: str, datasets: Sequence[str]) -> float | None:
    """The worst bias of any system of these data sets: a mean of the worst would not be the worst."""
    groups = [Group(kind="dataset", name=name) for name in datasets]
    worst = [at.quantification.find(evaluator, group).worst_absolute.value for group in groups]
    return max((value for value in worst if value is not None), default=None)


def _methods(at: AuditAt, evaluator: str, group: Group) -> Sequence[MethodMean | MethodAverage]:
    if group.kind == "dataset":
        wanted = (evaluator, group.name)
        return next(one.methods for one in at.adjustment if (one.evaluator, one.dataset) == wanted)
    return next(one.methods for one in at.mean_adjustments if (one.evaluator, one.group) == (evaluator, group))


def best_method(methods: Iterable[MethodMean | MethodAverage]) -> MethodMean | MethodAverage | None:
    """The method of the least mean bias, other than none at all; the first of equals.

    Of those that give something for the most choices of the calibration system: means over others are not alike.
    """
    tried = [one for one in methods if one.method is not AdjustmentMethod.UNADJUSTED and one.mean_bias is not None]
    return min(tried, key=lambda one: (-one.n_calibrations, one.mean_bias or 0.0), default=None)


class _Order(TypedDict):
    wrong_pairs: Finding
    reversed_pairs: float | None
    found_pairs: Finding
    tau: Finding


def _order(at: AuditAt, evaluator: str, group: Group, datasets: Sequence[str]) -> _Order:
    found = [
        one
        for one in at.rankings
        if one.evaluator == evaluator and one.level is Level.CLAIM and one.dataset in datasets
    ]
    n_ranked = sum(len(one.systems) for one in found if one.kendall.value is not None or group.kind == "dataset")
    if group.kind == "dataset":
        (one,) = found
        wrong, turned, tau, n_pairs = one.share_wrong, one.share_reversed, one.kendall.value, one.n_pairs
    else:
        wanted = (evaluator, Level.CLAIM, group)
        mean = next(one for one in at.mean_rankings if (one.evaluator, one.level, one.group) == wanted)
        wrong, turned, tau, n_pairs = mean.share_wrong, mean.share_reversed, mean.kendall, mean.n_pairs
    return {
        "wrong_pairs": Finding(wrong, n_pairs),
        "reversed_pairs": turned,
        "found_pairs": _found_pairs(found),
        "tau": Finding(tau, n_ranked),
    }


def _found_pairs(rankings: Sequence[Ranking]) -> Finding:
    """Share of differences found, over the pairs of all the data sets together: each may have few that differ."""
    apart = [pair for one in rankings for pair in one.pairs if pair.labelled is not Order.SAME]
    n_found = sum(not pair.is_wrong for pair in apart)
    return Finding(n_found / len(apart) if apart else None, len(apart))


def _is_of(one: SurfaceBias | ChunkingBias, group: Group) -> bool:
    """Whether the record is of the group's claims: pooled, not averaged."""
    return (one.group.kind, one.group.name) == (group.kind, group.name)


def _lost(at: AuditAt, evaluator: str, group: Group) -> Finding:
    """The largest loss over all sizes of chunks in which the evaluator read; said of its chunked column, too."""
    of_group = [one.across for one in at.chunking if _is_of(one, group) and evaluator in (one.evaluator, one.chunked)]
    lost = [Finding(one.n_lost / one.n_passed if one.n_passed else None, one.n_passed or 0) for one in of_group]
    return max(lost, key=lambda one: -1.0 if one.value is None else one.value, default=NOT_MEASURED)


class _Wording(TypedDict, total=False):
    tpr_by_wording: Finding
    tnr_by_wording: Finding
    tpr_least_similar: Finding
    tnr_least_similar: Finding
    tnr_most_similar: Finding
    tpr_most_similar: Finding


def _by_wording(at: AuditAt, evaluator: str, group: Group) -> _Wording:
    """The rates by wording; empty where all claims are equally similar, and so fall into one bin."""
    found = (one for one in at.surface if one.evaluator == evaluator and _is_of(one, group))
    bins = [each for one in found for each in one.bins if each.low is not None]
    if len(bins) < 2:
        return {}
    least, most = bins[0], bins[-1]
    return {
        "tpr_by_wording": _together([(one.tpr, one.n_attributable) for one in bins]),
        "tnr_by_wording": _together([(one.tnr, one.n_unattributable) for one in bins]),
        "tpr_least_similar": Finding(least.tpr, least.n_attributable),
        "tnr_least_similar": Finding(least.tnr, least.n_unattributable),
        "tnr_most_similar": Finding(most.tnr, most.n_unattributable),
        "tpr_most_similar": Finding(most.tpr, most.n_attributable),
    }


def _together(shares: Sequence[tuple[float | None, int]]) -> Finding:
    """The share in all bins together, of those in each with their numbers of claims."""
    n = sum(n_of_bin for _, n_of_bin in shares)
    return Finding(sum((share or 0.0) * n_of_bin for share, n_of_bin in shares) / n if n else None, n)
