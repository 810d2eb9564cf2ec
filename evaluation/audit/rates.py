"""Measures how often evaluators are right, and whether they reject the same claims (Godbole & Jia, 2.2, 3.1, 3.2).

Attributable is the positive class. All measures are fractions of claims or of responses in [0, 1], except for the gap,
which is in [-1, 1].

    TPR = proportion of attributable units that are predicted attributable, FNR = 1 - TPR
    TNR = proportion of unattributable units that are predicted unattributable, FPR = 1 - TNR
    balanced accuracy = (TPR + TNR) / 2, higher is better; gap = TPR - TNR, best at 0
    IoU(A, B) = claims that both predict unattributable / claims that either does; likewise for attributable

An evaluator with a positive gap misses errors, and one with a negative gap reports errors that do not exist. Each
measure is computed per data set, over all its systems. The figure for all data sets is their unweighted mean, as in the
paper. Task groups are treated in the same way. Claims without a score (or, for agreement, without two scores) are
excluded, and their number is reported. A rate is undefined without scored claims of its class. The IoU of a verdict is
undefined if neither evaluator predicts it.

Departures: the paper gives no intervals, does not average over task groups, and does not compare evaluators with the
labels. A rate has an interval only if the claims of its class come from at least two prompts (or responses). On a
single data set, a rate of 0 or 1 does not vary between resamples, so it gets a Wilson interval (1927) that counts each
prompt (or response) as one case. The intervals for balanced accuracy and the gap are then combined from those of the
two rates (MOVER: Zou and Donner 2008).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot

import numpy as np

from factloop.core.figure import Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.audit.figures import AuditFigure, Figures, Floats, Group, Ints, estimates_of_groups, ratio
from factloop.evaluation.audit.resampling import CountTable
from factloop.evaluation.audit.table import Level


class EvaluatorRates(Record):
    evaluator: str
    level: Level
    group: Group
    balanced_accuracy: AuditFigure
    tpr: AuditFigure
    tnr: AuditFigure
    fpr: AuditFigure
    fnr: AuditFigure
    gap: AuditFigure
    n_attributable: Count
    """Units labelled attributable that have a verdict, over all data sets in the group."""
    n_unattributable: Count
    n_unscored: Count
    """Claims without a score, or responses with such a claim."""


def rates(counted: CountTable, *, levels: Iterable[Level] = tuple(Level)) -> tuple[EvaluatorRates, ...]:
    """Returns the rates for each level, evaluator and group: individual data sets, task groups, then all data sets."""
    return tuple(
        rate for level in levels for place in range(len(counted.evaluators)) for rate in _rates(counted, level, place)
    )


def _rates(counted: CountTable, level: Level, evaluator: int) -> list[EvaluatorRates]:
    tally = counted.tally(level)
    confusion = over_datasets(counted, tally.confusion[:, evaluator])
    by_label = over_datasets(counted, tally.n_confusion[None, evaluator])[0].sum(axis=2)
    n_all = over_datasets(counted, tally.n_labels[None])[0].sum(axis=1)
    columns = {
        name: estimates_of_groups(counted, Figures(values, n, n_clusters), _why(by_label))
        for name, (values, n, n_clusters) in _values(confusion, by_label, tally.label_clusters[evaluator]).items()
    }
    rows = zip(*columns.values(), strict=True)
    basis = counted.basis
    found = [
        EvaluatorRates(
            evaluator=counted.evaluators[evaluator],
            level=level,
            group=row[0][0],
            n_attributable=int(by_label[row[0][1], 1].sum()),
            n_unattributable=int(by_label[row[0][1], 0].sum()),
            n_unscored=int(n_all[row[0][1]].sum() - by_label[row[0][1]].sum()),
            **{name: estimate for name, (_, _, estimate) in zip(columns, row, strict=True)},
        )
        for row in rows
    ]
    return [_with_extreme_rates(one, basis.level) if basis.n_resamples else one for one in found]


def _with_extreme_rates(found: EvaluatorRates, level: float) -> EvaluatorRates:
    rates = found.tpr, found.tnr
    if found.group.kind != "dataset" or not any(one.value in (0.0, 1.0) for one in rates):
        return found
    tpr, tnr = (_wilson(one, level) if one.value in (0.0, 1.0) else one for one in rates)
    return found.model_copy(
        update={
            "tpr": tpr,
            "tnr": tnr,
            "fnr": _opposite(found.fnr, tpr),
            "fpr": _opposite(found.fpr, tnr),
            "balanced_accuracy": _combined(found.balanced_accuracy, tpr, tnr, sign=1.0, scale=0.5),
            "gap": _combined(found.gap, tpr, tnr, sign=-1.0, scale=1.0),
        }
    )


def _wilson(one: AuditFigure, level: float) -> AuditFigure:
    if one.n_clusters < 2 or one.value is None:
        return one
    from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # no type hints

    low, high = proportion_confint(one.value * one.n_clusters, one.n_clusters, 1.0 - level, "wilson")
    return one.model_copy(update={"low": float(low), "high": float(high)})


def _opposite(one: AuditFigure, rate: AuditFigure) -> AuditFigure:
    if rate.low is None or rate.high is None:
        return one
    return one.model_copy(update={"low": 1.0 - rate.high, "high": 1.0 - rate.low})


def _combined(one: AuditFigure, tpr: AuditFigure, tnr: AuditFigure, *, sign: float, scale: float) -> AuditFigure:
    """Adds the interval of scale * (TPR + sign * TNR) if both rates have an interval."""
    if tpr.interval is None or tnr.interval is None or tpr.value is None or tnr.value is None or one.value is None:
        return one
    (low, high), ends = tpr.interval, tnr.interval if sign > 0.0 else tnr.interval[::-1]
    below = scale * hypot(tpr.value - low, tnr.value - ends[0])
    above = scale * hypot(high - tpr.value, ends[1] - tnr.value)
    return one.model_copy(update={"low": one.value - below, "high": one.value + above})


def over_datasets(counted: CountTable, of_cells: Floats | Ints) -> Floats:
    """Sums counts over cells: (1 + n_resamples, n_cells, ...) becomes (1 + n_resamples, n_datasets, ...)."""
    sums = np.zeros((len(of_cells), len(counted.datasets), *of_cells.shape[2:]))
    datasets, starts = np.unique(counted.cell_dataset, return_index=True)
    sums[:, datasets] = np.add.reduceat(of_cells, starts, axis=1)
    return sums


def _values(confusion: Floats, n_by_label: Floats, label_clusters: Ints) -> dict[str, tuple[Floats, Ints, Ints]]:
    """Returns each measure's values, with the numbers of units and clusters behind them. If a measure uses both
    classes, only clusters with claims of the rarer class are counted."""
    by_label = confusion.sum(axis=3)
    tpr = ratio(confusion[:, :, 1, 1], by_label[:, :, 1])
    tnr = ratio(confusion[:, :, 0, 0], by_label[:, :, 0])
    n_negative, n_positive = n_by_label.astype(np.int64).T
    both, (negative, positive) = n_negative + n_positive, label_clusters.T
    rarer = np.minimum(negative, positive)
    return {
        "balanced_accuracy": ((tpr + tnr) / 2.0, both, rarer),
        "tpr": (tpr, n_positive, positive),
        "tnr": (tnr, n_negative, negative),
        "fpr": (1.0 - tnr, n_negative, negative),
        "fnr": (1.0 - tpr, n_positive, positive),
        "gap": (tpr - tnr, both, rarer),
    }


def _why(by_label: Floats) -> list[Undefined]:
    return [
        Undefined.NOTHING_SCORED
        if not n_negative + n_positive
        else Undefined.NO_ATTRIBUTABLE
        if n_negative
        else Undefined.NO_UNATTRIBUTABLE
        for n_negative, n_positive in by_label.tolist()
    ]


class PairAgreement(Record):
    """How two evaluators, or an evaluator and the labels, agree on each verdict."""

    evaluator: str
    other: str | None
    """None stands for the labels."""
    group: Group
    unattributable: AuditFigure
    attributable: AuditFigure
    n_left_out: Count


def agreement(counted: CountTable) -> tuple[PairAgreement, ...]:
    """Returns each pair's agreement on individual data sets, then on task groups, then on all data sets."""
    return tuple(found for place in range(len(counted.pairs)) for found in _agreement(counted, place))


def _agreement(counted: CountTable, pair: int) -> list[PairAgreement]:
    counts, n_clusters = counted.overlap[:, :, pair], counted.overlap_clusters[:, pair]
    n = counted.n_overlap[:, pair].sum(axis=1)
    n_all = over_datasets(counted, counted.claims.n_labels[None])[0].sum(axis=1)
    why = [Undefined.NONE_PREDICTED if scored else Undefined.NOTHING_SCORED for scored in n.tolist()]
    negative, positive = (
        estimates_of_groups(counted, Figures(ratio(both, both + counts[:, :, 2]), n, n_clusters), why)
        for both in (counts[:, :, 0], counts[:, :, 1])
    )
    one, other = counted.pairs[pair]
    return [
        PairAgreement(
            evaluator=counted.evaluators[one],
            other=counted.evaluators[other] if other < len(counted.evaluators) else None,
            group=group,
            unattributable=unattributable,
            attributable=attributable,
            n_left_out=int((n_all - n)[members].sum()),
        )
        for (group, members, unattributable), (_, _, attributable) in zip(negative, positive, strict=True)
    ]
