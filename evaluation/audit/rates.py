"""How often an evaluator is right: balanced accuracy and the rates in it (Godbole & Jia, sections 2.2 and 3.2).

Attributable is the positive class. All are shares in [0, 1] of claims, or of responses; the gap lies in [-1, 1].

    TPR = of those labelled attributable, the share predicted so            FNR = 1 - TPR
    TNR = of those labelled unattributable, the share predicted so          FPR = 1 - TNR
    balanced accuracy = (TPR + TNR) / 2, higher is better                   gap = TPR - TNR, best at 0

A positive gap is an evaluator that lets errors pass, a negative one that finds them where there are none. Each is taken
over one data set, all its systems together; those of a task group and of all data sets are plain means, as in the
paper. Claims without a score are left out and counted. Where a data set has scored claims of one class only, the rate
of the other class and all that needs it is undefined.

Departures: the paper gives no intervals; task groups are not averaged there. A rate has an interval only if claims of
its class come from two prompts (or responses) or more, and differ in it: a single error says nothing of the next.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from factloop.core.figure import Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.audit.estimate import AuditFigure, Figures, Floats, Group, Ints
from factloop.evaluation.audit.groups import estimates_of_groups
from factloop.evaluation.audit.resampling import Basis, CountTable
from factloop.evaluation.audit.units import Level

MEASURES = ("balanced_accuracy", "tpr", "tnr", "fpr", "fnr", "gap")


class EvaluatorRates(Record):
    """The rates of one evaluator over one data set, or their means over several."""

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
    """Units with a verdict that are labelled so; over all data sets of the group."""
    n_unattributable: Count
    n_unscored: Count
    """Claims without a score, or responses with such a claim."""


class Rates(Record):
    """The rates of every evaluator at one threshold."""

    basis: Basis
    rates: tuple[EvaluatorRates, ...]

    def find(self, evaluator: str, group: Group, level: Level = Level.CLAIM) -> EvaluatorRates:
        """The rates of an evaluator on a group. Raises StopIteration if it was not audited there."""
        return next(r for r in self.rates if (r.evaluator, r.group, r.level) == (evaluator, group, level))


def rates(counted: CountTable, *, levels: Iterable[Level] = tuple(Level)) -> Rates:
    """The rates at each level of each evaluator on each group: the data sets, the task groups, then all."""
    found = [
        rate for level in levels for place in range(len(counted.evaluators)) for rate in _rates(counted, level, place)
    ]
    return Rates(basis=counted.basis, rates=tuple(found))


def _rates(counted: CountTable, level: Level, evaluator: int) -> list[EvaluatorRates]:
    tally = counted.tally(level)
    confusion = over_datasets(counted, tally.confusion[:, evaluator])
    by_label, n_all = confusion[0].sum(axis=2), over_datasets(counted, tally.labels)[0].sum(axis=1)
    columns = {
        name: estimates_of_groups(counted, Figures(values, n, n_clusters), _why(by_label))
        for name, (values, n, n_clusters) in _values(confusion, tally.label_clusters[evaluator]).items()
    }
    rows = zip(*columns.values(), strict=True)
    return [
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


def over_datasets(counted: CountTable, of_cells: Floats) -> Floats:
    """Counts (1 + n_resamples, n_cells, ...) added up to (1 + n_resamples, n_datasets, ...)."""
    sums = np.zeros((len(of_cells), len(counted.datasets), *of_cells.shape[2:]))
    datasets, starts = np.unique(counted.cell_dataset, return_index=True)
    sums[:, datasets] = np.add.reduceat(of_cells, starts, axis=1)
    return sums


def _values(confusion: Floats, label_clusters: Ints) -> dict[str, tuple[Floats, Ints, Ints]]:
    """The measures with the numbers of claims and clusters that each rests on: of both classes those of the rarer."""
    by_label = confusion.sum(axis=3)
    with np.errstate(invalid="ignore"):  # 0 / 0 is undefined: NaN
        tpr, tnr = confusion[:, :, 1, 1] / by_label[:, :, 1], confusion[:, :, 0, 0] / by_label[:, :, 0]
    n_negative, n_positive = by_label[0].astype(np.int64).T
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
    """The reasons why a measure is undefined on data sets where one class, or both, is absent."""
    return [
        Undefined.NOTHING_SCORED
        if not n_negative + n_positive
        else Undefined.NO_ATTRIBUTABLE
        if n_negative
        else Undefined.NO_UNATTRIBUTABLE
        for n_negative, n_positive in by_label.tolist()
    ]
