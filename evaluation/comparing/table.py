"""Stores a paired comparison as arrays over sides, repeats and items, and computes a value for each item.

An item is a claim or a response. Items are resampled in clusters: a claim's group or a response's prompt. An item's
value is the mean over the repeats that have one, so a repeat never counts as a separate item.

Departures from common practice: the verdict `irrelevant` agrees only with its own label, as in SAFE's agreement with
people, and counts in neither TPR nor TNR. Claims without a verdict are excluded from all means, and their number is
reported. As in the paper's code, a response without claims has an F1@K of 0. A response whose claims are all unscored
has no F1@K.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from factloop.core.figure import Undefined
from factloop.core.records import Counts, Verdict
from factloop.evaluation.comparing.paired import Items, PairedMeans, paired_means
from factloop.evaluation.comparing.records import Quantity
from factloop.evaluation.statistics.stratified_means import StratifiedMean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.int8]

SUPPORTED, NOT_SUPPORTED, IRRELEVANT, UNSCORED, MISSING, SPLIT = 0, 1, 2, 3, -1, -2
"""Codes of verdicts and labels. MISSING means that there is none. SPLIT means that the most frequent verdicts tie."""
VERDICTS = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED, Verdict.IRRELEVANT)
CODES: Mapping[Verdict | None, int] = {verdict: code for code, verdict in enumerate(VERDICTS)} | {None: UNSCORED}


@dataclass(frozen=True)
class ClaimPanel:
    cluster: Ints
    """(n_claims,)"""
    n_clusters: int
    gold: Codes
    """(n_claims,): the verdict that corresponds to the human label, or MISSING."""
    verdicts: Codes
    """(n_sides, n_repeats, n_claims)"""
    chance: Floats | None = None
    """(n_claims,): the probability that each labelled claim was drawn. None if claims were not sampled."""

    @property
    def n_labelled(self) -> int:
        return int((self.gold != MISSING).sum())


@dataclass(frozen=True)
class ResponsePanel:
    cluster: Ints
    n_clusters: int
    counts: Floats
    """(n_sides, n_repeats, n_responses, 4): supported, not supported, irrelevant, unscored. NaN if missing."""
    measured: Mapping[Quantity, Floats] = field(default_factory=dict)
    """(n_sides, n_repeats, n_responses): whether responses are fully supported, or how well they are split."""


@dataclass(frozen=True)
class SpentPanel:
    """What each item cost in each repeat, as if each side had been run alone. Missing or unknown costs are NaN."""

    cluster: Ints
    n_clusters: int
    is_there: Bools
    """(n_sides, n_repeats, n_items), like the arrays below."""
    cost_usd: Floats
    tokens: Floats
    wall_s: Floats


@dataclass(frozen=True, eq=False)
class ItemValues:
    quantity: Quantity
    values: Floats
    """(n_sides, n_items), with NaN for an item without a value."""
    eligible: Bools
    """(n_items,): whether the quantity applies to the item."""
    items: Items
    why: tuple[Undefined, ...] = (Undefined.NOTHING_SCORED,)
    """For each stratum, why the mean is undefined if only that stratum is empty."""
    ineligible: Undefined = Undefined.NOTHING_SCORED
    """Why the mean is undefined if no items are eligible."""
    k: int | None = None
    counting_all: tuple[Floats, ...] = ()
    """Two arrays like `values`, with missing verdicts counted as wrong and as right. Empty if verdicts do not
    matter."""

    has_sides: bool = True
    """False if only differences between sides can be estimated."""

    def mean(self, side: int) -> StratifiedMean:
        return self._of_side(self.values[side])

    def mean_if(self, side: int, *, right: bool) -> StratifiedMean:
        return self._of_side((*self.counting_all, self.values, self.values)[right][side])

    def _of_side(self, values: Floats) -> StratifiedMean:
        return self.items.mean(self._eligible(values) if self.has_sides else np.full(len(values), np.nan))

    def paired(self, first: int, second: int) -> tuple[PairedMeans, ...]:
        """Returns both sides' means over the items for which both have a value. If verdicts are missing, two more
        entries cover all items, with missing verdicts counted as wrong on both sides, then as right."""
        ways = (self.values, *self.counting_all)
        sides = [[self._eligible(way[side]) for side in (first, second)] for way in ways]
        if len(sides) > 1 and np.array_equal(sides[1], sides[2], equal_nan=True):
            sides = sides[:1]
        return tuple(paired_means(one, other, self.items) for one, other in sides)

    def undefined(self, mean: StratifiedMean) -> Undefined | None:
        empty = mean.empty_strata
        if not empty:
            return None
        if not self.has_sides:
            return Undefined.TOO_FEW
        if not self.eligible.any():
            return self.ineligible
        return self.why[empty[0]] if mean.n or len(self.why) == 1 else Undefined.NOTHING_SCORED

    def n_left_out(self, mean: StratifiedMean) -> int:
        return int(self.eligible.sum()) - mean.n if mean.n or self.has_sides else 0

    def _eligible(self, values: Floats) -> Floats:
        return np.where(self.eligible, values, np.nan)


def count_row(counts: Counts) -> tuple[int, int, int, int]:
    """Returns the counts in the order of the codes."""
    return counts.supported, counts.not_supported, counts.irrelevant, counts.unscored


def mean_of_repeats(values: Floats) -> Floats:
    """Averages (n_sides, n_repeats, n_items) to (n_sides, n_items) over the repeats that have a value."""
    has = ~np.isnan(values)
    return _share(np.where(has, values, 0.0).sum(axis=1), has.sum(axis=1))


def majority(verdicts: Codes) -> Codes:
    """(n_claims,): the majority verdict, SPLIT in a tie, or MISSING if no repeat is scored."""
    times = np.stack([(verdicts == code).sum(axis=0) for code in range(len(VERDICTS))])
    most = times.max(axis=0)
    found = np.where((times == most).sum(axis=0) > 1, SPLIT, times.argmax(axis=0))
    return np.where(most == 0, MISSING, found).astype(np.int8)


_MISSING_AS = (np.nan, 0.0, 1.0)
"""Values for a judgement without a verdict, which is excluded or counts as wrong or right."""


FEWEST_ALIKE = 5
"""With fewer labels on claims that all sides judge alike, only differences in accuracy can be estimated."""


def drawn_accuracy(panel: ClaimPanel, chance: Floats) -> ItemValues:
    """Estimates the accuracy on all claims from a random sample of labels (Horvitz and Thompson 1952).

    Each labelled claim is weighted by the inverse of its probability. Where all sides agree, the label cannot affect
    any difference, so differences come only from claims that flip. To keep proportions from exceeding 1, the weights
    are scaled to add up to the number of claims, separately for claims that flip and for the others
    (post-stratification). If too few of the others are labelled, only the difference is estimated.
    """
    is_labelled, is_right = panel.gold != MISSING, (panel.verdicts == panel.gold).astype(np.float64)
    has_verdict = (panel.verdicts >= 0) & (panel.verdicts != UNSCORED)
    weight = np.where(is_labelled, 1.0 / np.where(is_labelled, chance, 1.0), 0.0)
    most = np.stack([majority(of_side) for of_side in panel.verdicts])
    flips = ((most != most[0]) & (most >= 0) & (most[0] >= 0)).any(axis=0)
    for stratum in (flips, ~flips):
        weight[stratum] *= stratum.sum() / (weight[stratum].sum() or 1.0)
    has_sides = (is_labelled & ~flips).sum() >= min(FEWEST_ALIKE, (~flips).sum())
    first, *ways = (mean_of_repeats(np.where(has_verdict, is_right, one)) * weight for one in _MISSING_AS)
    items = Items.of_clusters(panel.cluster, panel.n_clusters)
    every = np.ones(len(panel.gold), np.bool_)
    return ItemValues(Quantity.ACCURACY, first, every, items, counting_all=tuple(ways), has_sides=bool(has_sides))


def claim_quantities(panel: ClaimPanel) -> Iterator[ItemValues]:
    """Yields bias and the measures of agreement with labels or, for sampled claims, only accuracy."""
    if panel.chance is not None:
        yield drawn_accuracy(panel, panel.chance)
        return
    verdicts, gold = panel.verdicts, panel.gold
    is_binary_gold = (gold == SUPPORTED) | (gold == NOT_SUPPORTED)
    is_binary = (verdicts == SUPPORTED) | (verdicts == NOT_SUPPORTED)
    is_right, is_supported = (verdicts == gold).astype(np.float64), (verdicts == SUPPORTED).astype(np.float64)
    has_verdict = is_binary | (verdicts == IRRELEVANT)
    binary, *ways = (mean_of_repeats(np.where(is_binary, is_right, one)) for one in _MISSING_AS)
    accuracy, *of_accuracy = (mean_of_repeats(np.where(has_verdict, is_right, one)) for one in _MISSING_AS)
    bias = mean_of_repeats(np.where(is_binary, is_supported, np.nan)) - (gold == SUPPORTED)
    plain = Items.of_clusters(panel.cluster, panel.n_clusters)
    by_label = Items(panel.cluster, panel.n_clusters, (gold == SUPPORTED).astype(np.int64), 2)
    missing = (Undefined.NO_UNSUPPORTED, Undefined.NO_SUPPORTED)
    no_labels = Undefined.NO_LABELS
    of_labels = partial(ItemValues, counting_all=tuple(ways))
    yield of_labels(Quantity.BALANCED_ACCURACY, binary, is_binary_gold, by_label, missing, ineligible=no_labels)
    is_labelled = gold != MISSING
    yield ItemValues(
        Quantity.ACCURACY, accuracy, is_labelled, plain, ineligible=no_labels, counting_all=tuple(of_accuracy)
    )
    for quantity, wanted, why in ((Quantity.TPR, SUPPORTED, missing[1]), (Quantity.TNR, NOT_SUPPORTED, missing[0])):
        why = why if is_binary_gold.any() else Undefined.NO_LABELS
        yield of_labels(quantity, binary, gold == wanted, plain, ineligible=why)
    yield ItemValues(Quantity.BIAS, bias, is_binary_gold, plain, ineligible=no_labels)


def share_quantities(panel: ClaimPanel | ResponsePanel) -> Iterator[ItemValues]:
    for quantity, code in ((Quantity.UNSCORED_SHARE, UNSCORED), (Quantity.IRRELEVANT_SHARE, IRRELEVANT)):
        if isinstance(panel, ClaimPanel):
            values = np.where(panel.verdicts == MISSING, np.nan, (panel.verdicts == code).astype(np.float64))
        else:
            values = _share(panel.counts[..., code], panel.counts.sum(axis=-1))
        yield _of_all(quantity, mean_of_repeats(values), panel=panel)


def response_quantities(panel: ResponsePanel, ks: Sequence[int]) -> Iterator[ItemValues]:
    """Yields F1 at each K, and precision (Wei et al. 2024, section 5)."""
    supported, unscored = panel.counts[..., SUPPORTED], panel.counts[..., UNSCORED]
    scored = supported + panel.counts[..., NOT_SUPPORTED]
    ways = ((supported, scored), (supported, scored + unscored), (supported + unscored, scored + unscored))
    for k in ks:
        f1 = [_f1(*way, k) for way in ways]
        f1[0][(unscored > 0) & (scored == 0)] = np.nan
        yield _of_all(Quantity.F1, *map(mean_of_repeats, f1), panel=panel, k=k)
    yield _of_all(Quantity.PRECISION, *(mean_of_repeats(_share(*way)) for way in ways), panel=panel)


def _f1(supported: Floats, scored: Floats, k: int) -> Floats:
    recall = np.minimum(supported / k, 1.0)
    p = np.where(scored > 0, _share(supported, scored), np.where(np.isnan(scored), np.nan, 0.0))
    return np.where(p + recall > 0, _share(2.0 * p * recall, p + recall), p)


def measured_quantities(panel: ResponsePanel) -> Iterator[ItemValues]:
    """Yields the quantities of responses that cannot be computed from counts of claims."""
    for quantity, values in panel.measured.items():
        yield _of_all(quantity, mean_of_repeats(values), panel=panel)


def spent_quantities(panel: SpentPanel) -> Iterator[ItemValues]:
    """Yields cost and tokens per item. If any price is unknown, the side has no cost, because a partial sum would be
    too low."""
    cost = mean_of_repeats(panel.cost_usd)
    unknown = (np.isnan(panel.cost_usd) & panel.is_there).any(axis=(1, 2))
    cost[unknown] = np.nan
    why = Undefined.PRICE_UNKNOWN if unknown.any() else Undefined.NOTHING_SCORED
    yield _of_all(Quantity.COST_USD, cost, panel=panel, why=why)
    yield _of_all(Quantity.TOKENS, mean_of_repeats(panel.tokens), panel=panel)


def headline_of(quantities: Sequence[ItemValues]) -> ItemValues:
    """Returns the quantity that decides which side is better. The choice depends on the labels, not on the results.

    It is balanced accuracy if both labels occur, or accuracy if only one does. For responses without labels, it is F1
    at the first K, or precision if there is no K.
    """
    first = quantities[0]
    if first.quantity is Quantity.BALANCED_ACCURACY:
        has_one_label = first.eligible.any() and len({*first.items.stratum[first.eligible].tolist()}) == 1
        return quantities[1] if has_one_label else first
    return first


def _of_all(
    quantity: Quantity,
    values: Floats,
    *counting_all: Floats,
    panel: ClaimPanel | ResponsePanel | SpentPanel,
    why: Undefined = Undefined.NOTHING_SCORED,
    k: int | None = None,
) -> ItemValues:
    items = Items.of_clusters(panel.cluster, panel.n_clusters)
    return ItemValues(quantity, values, np.ones(values.shape[1], np.bool_), items, (why,), why, k, counting_all)


def _share(part: Floats, whole: Floats | Ints) -> Floats:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))
