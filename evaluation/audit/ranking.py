"""Compares how predictions and labels rank systems (Godbole & Jia, section 3.5 and appendix A.3).

For every pair of systems, a test decides whether one has a lower error rate or the difference may be due to chance. The
test is run once with the labels and once with the predictions. The paper does not say which test it uses. Here, systems
that answered the same prompts are compared prompt by prompt. Other systems are compared by their error rates over whole
responses (`clustered_proportions`), so that each response counts as one draw, however many claims it contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Literal

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.figures import Bools, Floats, Group, Ints
from factloop.evaluation.audit.table import (
    THRESHOLD,
    Codes,
    Level,
    PredictionTable,
    any_within,
    numbered,
    rows_of,
    scores_of,
)
from factloop.evaluation.statistics.clustered_proportions import ClusteredErrors, clustered_proportions
from factloop.evaluation.statistics.correlation import Correlation, Method, correlate
from factloop.evaluation.statistics.significance import PValueAdjustment, adjusted_p_values, sign_flips

ALPHA = 0.05
SHARED = 0.5
"""Pairs are compared by prompt if at least this fraction of each system's units belongs to shared prompts."""
LEAST_PROMPTS = 6
"""With five prompts that all favour the same system, a paired test still gives p = 1/16."""


class PairTest(StrEnum):
    PAIRED = "paired_sign_flips"
    """Compares systems prompt by prompt. With one claim (or response) per prompt, this is McNemar's exact test."""
    CLUSTERED = "clustered_proportions"
    """Compares whole responses, or whole prompts if known, because claims in a response resemble each other."""
    TWO_PROPORTIONS = "two_proportions"
    """Treats claims (or responses) as independent. Used on request, or if every response has only one claim."""


Unpaired = Literal[PairTest.CLUSTERED, PairTest.TWO_PROPORTIONS]


class Order(StrEnum):
    BETTER = "better"
    """The first system has a significantly lower error rate."""
    SAME = "no_difference"
    WORSE = "worse"


class SystemRates(Record):
    system: str
    n: Count
    labelled: Share
    predicted: Share
    """Computed over the same units as `labelled`."""


class PairOrder(Record):
    """The first system has the lower labelled error rate. Ties are ordered by name."""

    first: str
    second: str
    test: PairTest
    n_prompts: Count
    """Prompts that both systems answered, or 0 if the test is not paired."""
    p_labelled: Share
    p_predicted: Share
    """Both p-values are adjusted for the number of pairs."""
    labelled: Order
    predicted: Order

    @property
    def is_wrong(self) -> bool:
        return self.labelled is not self.predicted

    @property
    def is_reversed(self) -> bool:
        return {self.labelled, self.predicted} == {Order.BETTER, Order.WORSE}


class OrderCell(Record):
    labelled: Order
    predicted: Order
    n_pairs: Count


class Ranking(Record):
    dataset: str
    evaluator: str
    level: Level
    threshold: float
    alpha: Share
    p_adjustment: PValueAdjustment
    """Applied separately to labels and to predictions."""
    systems: tuple[SystemRates, ...]
    """Sorted by labelled error rate, lowest first."""
    pairs: tuple[PairOrder, ...]
    cells: tuple[OrderCell, ...]
    """The 3 x 3 table, row by row. The first system of a pair is the better one by label, so the `worse` row is empty
    unless a paired test, which covers only shared prompts, contradicts the rates over all claims."""
    n_pairs: Count
    n_wrong: Count
    """Pairs whose labelled and predicted orders differ (`%Err` in the paper)."""
    n_reversed: Count
    """Pairs with significant differences in opposite directions by label and by prediction (`%Maj. Err`)."""
    share_wrong: Share | None
    share_reversed: Share | None
    """Fraction of all pairs. None if fewer than two systems have scored claims."""
    kendall: Correlation
    pearson: Correlation
    """Correlation between labelled and predicted error rates. Undefined for fewer than three systems."""
    n_left_out: Count
    """Claims without a score, or responses with such a claim."""


class MeanRanking(Record):
    group: Group
    evaluator: str
    level: Level
    share_wrong: Share | None
    share_reversed: Share | None
    """None if no data set contains a pair of systems."""
    n_datasets: Count
    n_pairs: Count
    kendall: float | None
    n_kendall: Count
    """Data sets in the mean. The others have no defined coefficient."""
    pearson: float | None
    n_pearson: Count


@dataclass(frozen=True)
class Units:
    """The scored claims or responses of one data set. Arrays have shape (n_units,)."""

    system: Codes
    prompt: Codes | None
    cluster: Codes
    """The prompt, or the response if there are no prompts. Claims in a cluster resemble each other."""
    is_error: Bools
    is_flagged: Bools
    n_left_out: int
    """Units without a verdict: claims without a score, or responses with such a claim."""


def units_of(
    table: PredictionTable, evaluator: str, dataset: str, level: Level, *, threshold: float = THRESHOLD
) -> Units:
    """Returns the scored claims or responses of a data set's known systems, in the table's order."""
    scores, rows = scores_of(table, evaluator), rows_of(table, dataset) & table.is_of_known_system
    system, response = table.system.codes[rows], table.response.codes[rows]
    prompt = None if table.prompt is None else table.prompt.codes[rows]
    is_error, is_flagged, kept = table.label[rows] == 0, scores[rows] < threshold, ~np.isnan(scores[rows])
    if level is Level.RESPONSE:
        _, first = np.unique(response, return_index=True)
        number, n = numbered(response)
        is_error, is_flagged = any_within(is_error, number, n), any_within(is_flagged, number, n)
        kept = ~any_within(~kept, number, n)
        system, response = system[first], response[first]
        prompt = None if prompt is None else prompt[first]
    cluster = response if prompt is None else prompt
    n_left_out = int((~kept).sum())
    shared = None if prompt is None else prompt[kept]
    return Units(system[kept], shared, cluster[kept], is_error[kept], is_flagged[kept], n_left_out)


@dataclass(frozen=True)
class Difference:
    """The first system's error rate minus the second's, over the units that the test compares."""

    rate: float
    p: float


class PairTests:
    """Tests all pairs of systems in one data set over the same units, either by labels or by predictions.

    If two systems share enough prompts (`SHARED`, `LEAST_PROMPTS`), the test is `sign_flips` on one difference per
    shared prompt: (e1 - r n1) / N1 - (e2 - r n2) / N2. Here, e is the number of errors among the n claims on the
    prompt, N is the number of claims on all shared prompts, and r is the error rate of both systems combined. The
    differences add up to the difference between the error rates.

    Otherwise, the test is `unpaired`. A test that treats claims in a response as independent would reject too often:
    for two equally good systems with ten claims per response and an intraclass correlation of .5, in 42% of samples.
    """

    def __init__(self, units: Units, systems: Sequence[int], unpaired: Unpaired = PairTest.CLUSTERED) -> None:
        """`systems` holds the codes of the systems to compare, each of which must have at least one unit."""
        self._n_systems = n_systems = len(systems)
        place_of = np.zeros(int(units.system.max(initial=0)) + 1, dtype=np.int64)
        place_of[list(systems)] = np.arange(n_systems)
        self._place = place_of[units.system]
        self._prompt, self._is_shared, self._n_prompts = _shared(units, self._place, n_systems)
        self._total, self._n = self._tally(np.ones(len(units.system), dtype=np.bool_))
        keys, self._cluster = np.unique(
            units.cluster.astype(np.int64) * max(n_systems, 1) + self._place, return_inverse=True
        )
        self._cluster_system = keys % max(n_systems, 1)
        self.first, self.second = np.triu_indices(n_systems, 1)
        has = (self._n > 0).astype(np.float64)
        self._on_shared = self._n @ has.T
        """(n_systems, n_systems): claims of the first system on prompts that the second also answered."""
        covered = self._on_shared / self._total[:, None]
        self.n_prompts: Ints = (has @ has.T).astype(np.int64)[self.first, self.second]
        self.is_paired: Bools = (self.n_prompts >= LEAST_PROMPTS) & (
            np.minimum(covered, covered.T)[self.first, self.second] >= SHARED
        )
        no_errors = np.zeros(len(units.system), np.bool_)
        is_clustered = np.array([one.is_clustered for one in self._by_cluster(no_errors)], np.bool_)
        by_cluster = is_clustered[self.first] | is_clustered[self.second]
        self.tests: list[PairTest] = [
            PairTest.PAIRED if paired else unpaired if clustered else PairTest.TWO_PROPORTIONS
            for paired, clustered in zip(self.is_paired, by_cluster, strict=True)
        ]
        """(n_pairs,): with one unit per cluster, clustered proportions reduce to two proportions."""

    def differences(self, is_error: Bools) -> list[Difference]:
        total, on_prompt = self._tally(is_error)
        found = [Difference(0.0, 1.0)] * len(self.first)
        paired, unpaired = np.flatnonzero(self.is_paired), np.flatnonzero(~self.is_paired)
        for pair in paired.tolist():
            by_prompt = self._by_prompt(on_prompt, int(self.first[pair]), int(self.second[pair]))
            found[pair] = Difference(float(by_prompt.sum()), sign_flips(by_prompt))
        by_cluster = self._by_cluster(is_error) if len(unpaired) else []
        for pair in unpaired.tolist():
            first, second = int(self.first[pair]), int(self.second[pair])
            rate = total[first] / self._total[first] - total[second] / self._total[second]
            is_independent = self.tests[pair] is PairTest.TWO_PROPORTIONS
            p = clustered_proportions(by_cluster[first], by_cluster[second], rho=0.0 if is_independent else None)
            found[pair] = Difference(float(rate), p)
        return found

    def _tally(self, kind: Bools) -> tuple[Ints, Floats]:
        cell = (self._place * self._n_prompts + self._prompt)[kind & self._is_shared]
        on_prompt = np.bincount(cell, minlength=self._n_systems * self._n_prompts).astype(np.float64)
        total = np.bincount(self._place[kind], minlength=self._n_systems)
        return total, on_prompt.reshape(self._n_systems, self._n_prompts)

    def _by_prompt(self, errors: Floats, first: int, second: int) -> Floats:
        both = (self._n[first] > 0) & (self._n[second] > 0)
        totals = self._on_shared[first, second], self._on_shared[second, first]
        together = (errors[first] + errors[second])[both].sum() / (totals[0] + totals[1])
        one = (errors[first] - together * self._n[first]) / totals[0]
        other = (errors[second] - together * self._n[second]) / totals[1]
        return np.where(both, one - other, 0.0)

    def _by_cluster(self, is_error: Bools) -> list[ClusteredErrors]:
        owner, number = self._cluster_system, self._cluster
        totals = np.bincount(number, minlength=len(owner)).astype(np.float64)
        errors = np.bincount(number[is_error], minlength=len(owner)).astype(np.float64)
        of_system = [owner == place for place in range(self._n_systems)]
        return [ClusteredErrors.of(errors[own], totals[own]) for own in of_system]


def _shared(units: Units, place: Ints, n_systems: int) -> tuple[Ints, Bools, int]:
    if units.prompt is None:
        return np.zeros(len(place), dtype=np.int64), np.zeros(len(place), dtype=np.bool_), 0
    prompt, n_prompts = numbered(units.prompt)
    has = np.zeros((n_prompts, n_systems), dtype=np.bool_)
    has[prompt, place] = True
    is_shared = has.sum(axis=1) > 1
    return (np.cumsum(is_shared) - 1)[prompt], is_shared[prompt], int(is_shared.sum())


def rank_systems(
    table: PredictionTable,
    evaluator: str,
    dataset: str,
    *,
    level: Level = Level.CLAIM,
    threshold: float = THRESHOLD,
    alpha: float = ALPHA,
    p_adjustment: PValueAdjustment = PValueAdjustment.NONE,
    unpaired: Unpaired = PairTest.CLUSTERED,
) -> Ranking:
    """Compares every pair of systems by labels and by predictions, over the units that the evaluator scored.

    A difference is significant if its adjusted p-value is below `alpha`. The paper's p-values appear to be unadjusted.
    The results do not depend on the order of the rows or on other data sets. `unpaired` is the test for systems that do
    not share prompts.
    """
    units = units_of(table, evaluator, dataset, level, threshold=threshold)
    rates = _rates(units, table.system.names)
    tests = PairTests(units, [table.system.names.index(rate.system) for rate in rates], unpaired)
    orders = [_orders(tests.differences(errors), alpha, p_adjustment) for errors in (units.is_error, units.is_flagged)]
    places = zip(tests.first.tolist(), tests.second.tolist(), tests.tests, tests.n_prompts.tolist(), strict=True)
    pairs = [
        PairOrder(
            first=rates[first].system,
            second=rates[second].system,
            test=test,
            n_prompts=n_prompts if test is PairTest.PAIRED else 0,
            labelled=labelled,
            p_labelled=p_labelled,
            predicted=predicted,
            p_predicted=p_predicted,
        )
        for (first, second, test, n_prompts), (labelled, p_labelled), (predicted, p_predicted) in zip(
            places, *orders, strict=True
        )
    ]
    n_wrong, n_reversed = sum(pair.is_wrong for pair in pairs), sum(pair.is_reversed for pair in pairs)
    error_rates = [rate.labelled for rate in rates], [rate.predicted for rate in rates]
    return Ranking(
        dataset=dataset,
        evaluator=evaluator,
        level=level,
        threshold=threshold,
        alpha=alpha,
        p_adjustment=p_adjustment,
        systems=tuple(rates),
        pairs=tuple(pairs),
        cells=order_table(pairs),
        n_pairs=len(pairs),
        n_wrong=n_wrong,
        n_reversed=n_reversed,
        share_wrong=n_wrong / len(pairs) if pairs else None,
        share_reversed=n_reversed / len(pairs) if pairs else None,
        kendall=correlate(Method.KENDALL, *error_rates),
        pearson=correlate(Method.PEARSON, *error_rates),
        n_left_out=units.n_left_out,
    )


def order_table(pairs: Sequence[PairOrder]) -> tuple[OrderCell, ...]:
    found = [(pair.labelled, pair.predicted) for pair in pairs]
    return tuple(
        OrderCell(labelled=labelled, predicted=predicted, n_pairs=found.count((labelled, predicted)))
        for labelled in Order
        for predicted in Order
    )


def mean_ranking(group: Group, rankings: Sequence[Ranking]) -> MeanRanking:
    """Averages rankings over data sets, as in the paper. Raises ValueError if evaluators or levels are mixed."""
    if len({(ranking.evaluator, ranking.level) for ranking in rankings}) != 1:
        raise ValueError("averaging needs at least one ranking, all of the same evaluator and level")
    means, counts = dict[str, float | None](), dict[str, int]()
    for name in ("kendall", "pearson", "share_wrong", "share_reversed"):
        of_rankings = (getattr(ranking, name) for ranking in rankings)
        found = [getattr(one, "value", one) for one in of_rankings]
        known = [value for value in found if value is not None]
        means[name], counts[name] = fmean(known) if known else None, len(known)
    return MeanRanking(
        group=group,
        evaluator=rankings[0].evaluator,
        level=rankings[0].level,
        **means,
        n_datasets=counts["share_wrong"],
        n_pairs=sum(ranking.n_pairs for ranking in rankings),
        n_kendall=counts["kendall"],
        n_pearson=counts["pearson"],
    )


def _rates(units: Units, names: Sequence[str]) -> list[SystemRates]:
    kinds = (np.ones(len(units.system), np.bool_), units.is_error, units.is_flagged)
    n, labelled, predicted = (np.bincount(units.system[kind], minlength=len(names)).tolist() for kind in kinds)
    rates = [
        SystemRates(system=name, n=n[code], labelled=labelled[code] / n[code], predicted=predicted[code] / n[code])
        for code, name in enumerate(names)
        if n[code]
    ]
    return sorted(rates, key=lambda rate: (rate.labelled, rate.system))


def _orders(found: Sequence[Difference], alpha: float, p_adjustment: PValueAdjustment) -> list[tuple[Order, float]]:
    p_values = adjusted_p_values([difference.p for difference in found], p_adjustment)
    return [
        (Order.SAME if p >= alpha else Order.BETTER if difference.rate < 0.0 else Order.WORSE, p)
        for difference, p in zip(found, p_values, strict=True)
    ]
