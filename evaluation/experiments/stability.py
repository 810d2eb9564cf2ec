"""How far the repeats of one variant agree with each other, and how long its items took.

Fleiss' kappa (Fleiss 1971) takes the repeats as raters: with n_ij repeats of r that give claim i the verdict j,
P_i = (sum_j n_ij^2 - r) / (r (r - 1)), P their mean, p_j the share of verdict j, and kappa = (P - E) / (1 - E) with
E = sum_j p_j^2. Claims without a verdict in some repeat are left out and counted: raters are as many for each claim.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Undefined, ends
from factloop.evaluation.experiments.panel import MISSING, UNSCORED, VERDICTS, ClaimPanel, SpentPanel
from factloop.evaluation.experiments.report import GroupFigure, Latency, Stability
from factloop.evaluation.statistics.bootstrap import bootstrap, percentile_interval
from factloop.evaluation.statistics.stratified_means import clustered_mean, stratified_intervals

Floats = NDArray[np.float64]


def stability_of(panel: ClaimPanel, variant: int, *, seed: int, resamples: int, level: float) -> Stability:
    """The stability of the variant at this place in the panel."""
    verdicts = panel.verdicts[variant]
    n_repeats, n_claims = verdicts.shape
    whole = ((verdicts != UNSCORED) & (verdicts != MISSING)).all(axis=0)
    n_left_out = int(n_claims - whole.sum())
    if n_repeats < 2 or not whole.any():
        why = Undefined.ONE_REPEAT if n_repeats < 2 else Undefined.NOTHING_SCORED
        nothing = GroupFigure(value=None, undefined=why, n=0, n_groups=0, n_left_out=n_left_out)
        return Stability(share=nothing, kappa=nothing)
    times = np.stack([(verdicts == code).sum(axis=0) for code in range(len(VERDICTS))], axis=1)[whole].astype(float)
    cluster = panel.cluster[whole]
    same = (times.max(axis=1) == n_repeats).astype(np.float64)
    mean = clustered_mean(same, cluster, panel.n_clusters)
    (of_share,) = stratified_intervals([mean], np.random.default_rng(seed), resamples, level)
    basis: dict[str, Any] = {"n": len(same), "n_groups": mean.n_clusters, "n_left_out": n_left_out}
    share = GroupFigure(value=mean.value, **ends(of_share), **basis)
    by_cluster = _by_cluster(times, cluster, panel.n_clusters)
    kappa = float(fleiss_kappa(by_cluster.sum(axis=0, keepdims=True), n_repeats)[0])
    if np.isnan(kappa):
        return Stability(share=share, kappa=GroupFigure(value=None, undefined=Undefined.ONE_CLASS, **basis))
    of_kappa = None
    if mean.has_interval and resamples:
        rng = np.random.default_rng(seed)
        of_kappa = percentile_interval(
            bootstrap(by_cluster, lambda drawn: fleiss_kappa(drawn, n_repeats), rng, resamples), level
        )
    return Stability(share=share, kappa=GroupFigure(value=kappa, **ends(of_kappa), **basis))


def fleiss_kappa(sums: Floats, n_raters: int) -> Floats:
    """Fleiss' kappa of tables as rows of sums over claims: their number, squares of n_ij, then n_ij for each verdict.

    NaN where there is no claim, and where all verdicts are one.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        n = sums[:, 0]
        agreement = (sums[:, 1] / n - n_raters) / (n_raters * (n_raters - 1.0))
        by_chance = ((sums[:, 2:] / (n * n_raters)[:, None]) ** 2).sum(axis=1)
        return np.where(by_chance < 1.0 - 1e-12, (agreement - by_chance) / (1.0 - by_chance), np.nan)


def _by_cluster(times: Floats, cluster: NDArray[np.int64], n_clusters: int) -> Floats:
    """(n_clusters, 2 + n_verdicts): the sums that `fleiss_kappa` takes, for each cluster."""
    columns = np.column_stack([np.ones(len(times)), (times**2).sum(axis=1), times])
    sums = np.zeros((n_clusters, columns.shape[1]))
    np.add.at(sums, cluster, columns)
    return sums


def latency_of(panel: SpentPanel, variant: int) -> Latency:
    """Quantiles of the latency, with linear interpolation, over items and repeats."""
    seconds = panel.wall_s[variant][panel.is_there[variant]]
    if not len(seconds):
        return Latency(median_s=None, p95_s=None, n=0)
    median, p95 = np.quantile(seconds, [0.5, 0.95])
    return Latency(median_s=float(median), p95_s=float(p95), n=len(seconds))
