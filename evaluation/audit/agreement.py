"""Whether evaluators call the same claims wrong (Godbole & Jia, section 3.1 and appendix A.8).

    IoU(A, B) = claims that both predict unattributable / claims that at least one of them does

in [0, 1], higher is more consistent; and the same for attributable. Beside every pair of evaluators, each is compared
with the labels in the place of the other. Claims to which one of the two gives no score are left out and counted. It is
undefined on a data set where neither predicts any. Over task groups and over all it is the plain mean of the data sets.

Departures: intervals, and the comparison with the labels, are not in the paper.
"""

from __future__ import annotations

import numpy as np

from factloop.core.figure import Undefined
from factloop.core.records import Count, Record
from factloop.evaluation.audit.estimate import AuditFigure, Figures, Floats, Group
from factloop.evaluation.audit.groups import estimates_of_groups
from factloop.evaluation.audit.rates import over_datasets
from factloop.evaluation.audit.resampling import Basis, CountTable


class PairAgreement(Record):
    """How far two evaluators, or one and the labels, name the same claims."""

    evaluator: str
    other: str | None
    """None for the labels."""
    group: Group
    unattributable: AuditFigure
    attributable: AuditFigure
    n_left_out: Count
    """Claims without a score by one of the two."""


class Agreement(Record):
    """The agreement of every pair of evaluators, and of each with the labels, at one threshold."""

    basis: Basis
    pairs: tuple[PairAgreement, ...]

    def find(self, evaluator: str, other: str | None, group: Group) -> PairAgreement:
        """The agreement of a pair, in either order. Raises StopIteration if the table lacks it."""
        names = {evaluator, other}
        return next(pair for pair in self.pairs if {pair.evaluator, pair.other} == names and pair.group == group)


def agreement(counted: CountTable) -> Agreement:
    """The agreement of each pair, by claims: on the data sets, on the task groups, then on all."""
    pairs = [found for place in range(len(counted.pairs)) for found in _agreement(counted, place)]
    return Agreement(basis=counted.basis, pairs=tuple(pairs))


def _agreement(counted: CountTable, pair: int) -> list[PairAgreement]:
    counts, n_clusters = counted.overlap[:, :, pair], counted.overlap_clusters[:, pair]
    n = counted.n_overlap[:, pair].sum(axis=1)
    n_all = over_datasets(counted, counted.claims.n_labels[None])[0].sum(axis=1)
    why = [Undefined.NONE_PREDICTED if scored else Undefined.NOTHING_SCORED for scored in n.tolist()]
    negative, positive = (
        estimates_of_groups(counted, Figures(_overlap(counts, verdict), n, n_clusters), why) for verdict in (0, 1)
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


def _overlap(counts: Floats, verdict: int) -> Floats:
    both, different = counts[:, :, verdict], counts[:, :, 2]
    with np.errstate(invalid="ignore"):  # 0 / 0 is undefined: NaN
        return np.asarray(both / (both + different))
