"""Checks whether scores are probabilities, by reliability in ten bins, expected calibration error, Brier score and AUC.

    ECE = sum over ten bins of (proportion of claims in the bin) * |mean score - proportion labelled attributable|
    Brier = mean of (score - label)^2
    AUC   = probability that an attributable claim scores higher than an unattributable one; ties count as half

The bins have equal width, from (0, 0.1] to (0.9, 1], and the first also contains 0 (Guo et al. 2017, section 2). ECE
and Brier score are best at 0. `brier_of_share` is the Brier score of always predicting the fraction of attributable
claims. An AUC of 0.5 is no better than chance. The ECE is biased upwards if bins contain few claims. None of these
measures has an interval. Godbole and Jia, who use only verdicts, do not report them.
"""

from __future__ import annotations

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Group
from factloop.evaluation.audit.table import PredictionTable, pooled_groups, scores_of

N_BINS = 10


class ScoreBin(Record):
    low: Share
    """Exclusive, except that the first bin contains 0."""
    high: Share
    n: Count
    mean_score: Share | None
    attributable: Share | None
    """Fraction labelled attributable, or None without claims. If scores are probabilities, it is near `mean_score`."""


class Reliability(Record):
    group: Group
    evaluator: str
    bins: tuple[ScoreBin, ...]
    ece: Share
    brier: Share
    brier_of_share: Share
    auc: Share | None
    """None if all claims have the same label."""
    n_attributable: Count
    n: Count


def reliability(table: PredictionTable, evaluator: str) -> tuple[Reliability, ...]:
    """Returns the reliability of scores on each data set, each task group and all claims. The result is empty if all
    scores are 0 or 1. Sampled claims are weighted by the inverse of their sampling probability."""
    scores = scores_of(table, evaluator)
    if not ((scores > 0.0) & (scores < 1.0)).any():
        return ()
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    places = [(group, np.flatnonzero(rows & ~np.isnan(scores))) for group, rows in pooled_groups(table)]
    return tuple(
        _reliability(group, evaluator, scores[rows], table.label[rows] == 1, weight[rows])
        for group, rows in places
        if len(rows)
    )


def _reliability(group: Group, evaluator: str, scores: Floats, holds: Bools, weight: Floats) -> Reliability:
    order = np.lexsort((weight, holds, scores))  # so that sums do not depend on the order of the rows
    scores, holds, weight = scores[order], holds[order], weight[order]
    # A score on a boundary belongs to the lower bin.
    number = np.searchsorted(np.arange(1, N_BINS) / N_BINS, scores, side="left")
    n = np.bincount(number, minlength=N_BINS).tolist()
    whole, scored, held = (np.bincount(number, values, N_BINS) for values in (weight, weight * scores, weight * holds))
    bins = tuple(
        ScoreBin(
            low=place / N_BINS,
            high=(place + 1) / N_BINS,
            n=n[place],
            mean_score=_share(float(scored[place] / whole[place])) if n[place] else None,
            attributable=_share(float(held[place] / whole[place])) if n[place] else None,
        )
        for place in range(N_BINS)
    )
    gaps = [abs((one.mean_score or 0.0) - (one.attributable or 0.0)) for one in bins]
    share = float(np.average(holds, weights=weight))
    return Reliability(
        group=group,
        evaluator=evaluator,
        bins=bins,
        ece=_share(float(whole / weight.sum() @ np.array(gaps))),
        brier=_share(float(np.average((scores - holds) ** 2, weights=weight))),
        brier_of_share=_share(share * (1.0 - share)),
        auc=_auc(scores, holds, weight),
        n_attributable=int(holds.sum()),
        n=len(scores),
    )


def _auc(scores: Floats, holds: Bools, weight: Floats) -> float | None:
    if holds.all() or not holds.any():
        return None
    number = np.unique(scores, return_inverse=True)[1]
    held, others = np.bincount(number, weight * holds), np.bincount(number, weight * ~holds)
    below = np.cumsum(others) - others
    return _share(float(held @ (below + others / 2.0) / (held.sum() * others.sum())))


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
