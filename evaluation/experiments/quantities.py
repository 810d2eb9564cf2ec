"""The quantities, one value each for every variant and item, to be averaged over items: a repeat is never an item.

An item's value is the mean over those of its repeats that have one. Departures from the usual: a verdict `irrelevant`
agrees with no label, as in SAFE's agreement with people, and is in neither TPR nor TNR; claims without a verdict are in
no mean and counted. An answer without any claim has an F1@K of 0, as in the paper's code, and one whose every claim is
unscored has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Undefined
from factloop.evaluation.comparing.paired import Items, PairedMeans, paired_means
from factloop.evaluation.experiments.panel import (
    IRRELEVANT,
    MISSING,
    NOT_SUPPORTED,
    SUPPORTED,
    UNSCORED,
    ClaimPanel,
    ResponsePanel,
    SpentPanel,
)
from factloop.evaluation.experiments.report import Quantity
from factloop.evaluation.statistics.stratified_means import StratifiedMean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ItemValues:
    """One quantity of all variants."""

    quantity: Quantity
    values: Floats
    """(n_variants, n_items); NaN where an item has none."""
    eligible: Bools
    """(n_items,): those that the quantity is about."""
    cluster: Ints
    n_clusters: int
    stratum: Ints
    """(n_items,): a mean is that of the strata's means."""
    why: tuple[Undefined, ...]
    """Why the mean is undefined if this stratum alone is empty, for each."""
    nothing: Undefined = Undefined.NOTHING_SCORED
    """Why the mean is undefined where no item has a value."""
    ineligible: Undefined = Undefined.NOTHING_SCORED
    """Why the mean is undefined where no item is eligible."""
    k: int | None = None

    def mean(self, variant: int) -> StratifiedMean:
        return self._items.mean(self._eligible(variant))

    def paired(self, first: int, second: int) -> PairedMeans:
        """The paired means of two variants, over the items in which both have a value."""
        return paired_means(self._eligible(first), self._eligible(second), self._items)

    def undefined(self, mean: StratifiedMean) -> Undefined | None:
        """Why the mean has no value; None where it has one."""
        empty = mean.empty_strata
        if not empty:
            return None
        if not self.eligible.any():
            return self.ineligible
        return self.why[empty[0]] if mean.n else self.nothing

    def n_left_out(self, mean: StratifiedMean) -> int:
        return int(self.eligible.sum()) - mean.n

    def _eligible(self, variant: int) -> Floats:
        return np.where(self.eligible, self.values[variant], np.nan)

    @property
    def _items(self) -> Items:
        return Items(self.cluster, self.n_clusters, self.stratum, len(self.why))


def mean_of_repeats(values: Floats) -> Floats:
    """(n_variants, n_repeats, n_items) to (n_variants, n_items), over the repeats that are not NaN."""
    has = ~np.isnan(values)
    n = has.sum(axis=1)
    sums = np.where(has, values, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, n, out=np.full(sums.shape, np.nan), where=n > 0))


def claim_quantities(panel: ClaimPanel) -> Iterator[ItemValues]:
    """The quantities of agreement with labels, and bias."""
    verdicts, gold = panel.verdicts, panel.gold
    is_labelled, one = ~np.isnan(gold), np.zeros(len(gold), np.int64)
    label = np.where(is_labelled, gold, 0).astype(np.int64)
    right = np.where(label == 1, SUPPORTED, NOT_SUPPORTED)
    is_right = (verdicts == right).astype(np.float64)
    is_binary = (verdicts == SUPPORTED) | (verdicts == NOT_SUPPORTED)
    has_verdict = is_binary | (verdicts == IRRELEVANT)
    binary = mean_of_repeats(np.where(is_binary, is_right, np.nan))
    accuracy = mean_of_repeats(np.where(has_verdict, is_right, np.nan))
    supported = mean_of_repeats(np.where(is_binary, (verdicts == SUPPORTED).astype(np.float64), np.nan))
    missing = (Undefined.NO_UNSUPPORTED, Undefined.NO_SUPPORTED)
    nothing = (Undefined.NOTHING_SCORED,)

    def of(quantity: Quantity, values: Floats, why: tuple[Undefined, ...], stratum: Ints) -> ItemValues:
        labels = Undefined.NO_LABELS
        return ItemValues(
            quantity, values, is_labelled, panel.cluster, panel.n_clusters, stratum, why, ineligible=labels
        )

    yield of(Quantity.BALANCED_ACCURACY, binary, missing, label)
    yield of(Quantity.ACCURACY, accuracy, nothing, one)
    for quantity, wanted in ((Quantity.TPR, 1), (Quantity.TNR, 0)):
        why = missing[wanted] if is_labelled.any() else Undefined.NO_LABELS
        yield replace(of(quantity, binary, nothing, one), eligible=is_labelled & (label == wanted), ineligible=why)
    yield of(Quantity.BIAS, supported - label, nothing, one)


def share_quantities(panel: ClaimPanel | ResponsePanel) -> Iterator[ItemValues]:
    """The shares of claims that are unscored, and that are called irrelevant."""
    for quantity, code in ((Quantity.UNSCORED_SHARE, UNSCORED), (Quantity.IRRELEVANT_SHARE, IRRELEVANT)):
        if isinstance(panel, ClaimPanel):
            values = np.where(panel.verdicts == MISSING, np.nan, (panel.verdicts == code).astype(np.float64))
        else:
            totals = panel.counts.sum(axis=-1)
            part = panel.counts[..., code]
            values = np.divide(part, totals, out=np.full(totals.shape, np.nan), where=totals > 0)
        yield _unstratified(quantity, mean_of_repeats(values), panel.cluster, panel.n_clusters)


def response_quantities(panel: ResponsePanel, ks: Sequence[int]) -> Iterator[ItemValues]:
    """F1 at each K, and precision; of Wei et al. 2024, section 5."""
    supported = panel.counts[..., SUPPORTED]
    scored = supported + panel.counts[..., NOT_SUPPORTED]
    nothing_judged = (panel.counts[..., UNSCORED] > 0) & (scored == 0)
    precision = np.divide(supported, scored, out=np.full(scored.shape, np.nan), where=scored > 0)
    for k in ks:
        recall = np.minimum(supported / k, 1.0)
        p = np.where(scored > 0, precision, np.where(np.isnan(scored), np.nan, 0.0))
        f1 = np.divide(2.0 * p * recall, p + recall, out=np.where(np.isnan(p), np.nan, 0.0), where=p + recall > 0)
        yield _unstratified(
            Quantity.F1, mean_of_repeats(np.where(nothing_judged, np.nan, f1)), panel.cluster, panel.n_clusters, k
        )
    yield _unstratified(Quantity.PRECISION, mean_of_repeats(precision), panel.cluster, panel.n_clusters)


def spent_quantities(panel: SpentPanel) -> Iterator[ItemValues]:
    """Cost and tokens of an item. A variant with one item of unknown price has no cost: a part would be too little."""
    cost = mean_of_repeats(panel.cost_usd)
    unknown = (np.isnan(panel.cost_usd) & panel.is_there).any(axis=(1, 2))
    cost[unknown] = np.nan
    why = Undefined.PRICE_UNKNOWN if unknown.any() else Undefined.NOTHING_SCORED
    yield _unstratified(Quantity.COST_USD, cost, panel.cluster, panel.n_clusters, why=why)
    yield _unstratified(Quantity.TOKENS, mean_of_repeats(panel.tokens), panel.cluster, panel.n_clusters)


def _unstratified(
    quantity: Quantity,
    values: Floats,
    cluster: Ints,
    n_clusters: int,
    k: int | None = None,
    why: Undefined = Undefined.NOTHING_SCORED,
) -> ItemValues:
    n_items = values.shape[1]
    one = np.zeros(n_items, np.int64)
    return ItemValues(quantity, values, np.ones(n_items, np.bool_), cluster, n_clusters, one, (why,), why, why, k)
