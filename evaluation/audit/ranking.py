"""Do an evaluator's predictions order the systems as the labels do? (Godbole & Jia, section 3.5 and appendix A.3.)

For every pair of systems a test says which has the lower error rate, or that the difference may be chance: once by the
labels, once by the predictions. The paper names no test; here a pair is compared prompt by prompt where the two
systems answered the same prompts, and otherwise by shares of errors over whole responses (`clustered_proportions`),
where each response counts as one draw, however many claims it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from statistics import fmean

import numpy as np

from factloop.core.records import Count, Record, Share
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.pair_tests import Difference, LabelTests, PairTest, PairTests, Unpaired
from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import Level, Units, units_of
from factloop.evaluation.statistics.correlation import Correlation, kendall, pearson
from factloop.evaluation.statistics.significance import PValueAdjustment, adjusted_p_values

ALPHA = 0.05


class Order(StrEnum):
    """The first system of a pair against the second."""

    BETTER = "better"
    """A lower error rate, significantly."""
    SAME = "no_difference"
    WORSE = "worse"


class SystemRates(Record):
    system: str
    n: Count
    """Claims or responses that the evaluator scored."""
    labelled: Share
    predicted: Share
    """Error rates."""


class PairOrder(Record):
    """Two systems; the first has the lower labelled error rate, or the earlier name if they are equal."""

    first: str
    second: str
    test: PairTest
    n_prompts: Count
    """Shared by both; 0 where the test is not paired."""
    p_labelled: Share
    p_predicted: Share
    """p-value by predictions, adjusted."""
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
    """One evaluator on the systems of one data set."""

    dataset: str
    evaluator: str
    level: Level
    threshold: float
    alpha: Share
    p_adjustment: PValueAdjustment
    """Adjustment of p-values for the number of pairs, for labels and for predictions apart."""
    systems: tuple[SystemRates, ...]
    """The systems by rising labelled error rate."""
    pairs: tuple[PairOrder, ...]
    cells: tuple[OrderCell, ...]
    """The 3 x 3 table, row by row. As pairs are turned so that the first is better by label, its row `worse` is empty
    but where a paired test, which sees only shared prompts, finds the opposite of all claims together."""
    n_pairs: Count
    n_wrong: Count
    """Pairs that differ by the predictions but not by the labels, or the other way round, or oppositely: `%Err`."""
    n_reversed: Count
    """Pairs with the opposite difference, significant by both: `%Maj. Err` of the paper."""
    share_wrong: Share | None
    share_reversed: Share | None
    """Share of all pairs; None where fewer than two systems have scored claims."""
    kendall: Correlation
    pearson: Correlation
    """Correlation of labelled with predicted error rates over systems; undefined with fewer than three."""
    n_left_out: Count
    """Claims without a score, or responses with such a claim."""


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
    known: LabelTests | None = None,
) -> Ranking:
    """Ranks every pair of systems by labels and by predictions, over what the evaluator scored.

    A difference is significant if its adjusted p-value is below `alpha`. The paper's tables are unadjusted as far as
    it says. No p-value is drawn; neither the order of rows nor other data sets change a result.
    `unpaired` is the test of systems that do not share prompts; two proportions take all claims for independent.
    `known` spares the tests by labels where several evaluators scored the same claims.
    """
    units = units_of(table, evaluator, dataset, level, threshold=threshold)
    rates = _rates(units, table.system.names)
    places = [table.system.names.index(rate.system) for rate in rates]
    tests, labelled = (known or LabelTests()).of(units, places, unpaired)
    pairs = _ordered(tests, labelled, tests.differences(units.is_flagged), rates, alpha, p_adjustment)
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
        kendall=kendall(*error_rates),
        pearson=pearson(*error_rates),
        n_left_out=units.n_left_out,
    )


def order_table(pairs: Sequence[PairOrder]) -> tuple[OrderCell, ...]:
    """How many pairs have each order by labels (rows) and by predictions (columns): nine cells."""
    found = [(pair.labelled, pair.predicted) for pair in pairs]
    return tuple(
        OrderCell(labelled=labelled, predicted=predicted, n_pairs=found.count((labelled, predicted)))
        for labelled in Order
        for predicted in Order
    )


class MeanRanking(Record):
    """One evaluator over several data sets: each counts the same, however many systems it has."""

    group: Group
    evaluator: str
    level: Level
    share_wrong: Share | None
    share_reversed: Share | None
    """None where no data set has a pair."""
    n_datasets: Count
    """Data sets with at least one pair."""
    n_pairs: Count
    kendall: float | None
    n_kendall: Count
    """Data sets whose coefficient is defined, over which the mean is taken."""
    pearson: float | None
    n_pearson: Count


def mean_ranking(group: Group, rankings: Sequence[Ranking]) -> MeanRanking:
    """Means over data sets, as the paper gives them. Raises ValueError without rankings or with a mixture of them."""
    if len({(ranking.evaluator, ranking.level) for ranking in rankings}) != 1:
        raise ValueError("a mean is taken over rankings of one evaluator at one level")
    taus = [ranking.kendall.value for ranking in rankings if ranking.kendall.value is not None]
    rs = [ranking.pearson.value for ranking in rankings if ranking.pearson.value is not None]
    wrong = [ranking.share_wrong for ranking in rankings if ranking.share_wrong is not None]
    turned = [ranking.share_reversed for ranking in rankings if ranking.share_reversed is not None]
    return MeanRanking(
        group=group,
        evaluator=rankings[0].evaluator,
        level=rankings[0].level,
        share_wrong=fmean(wrong) if wrong else None,
        share_reversed=fmean(turned) if turned else None,
        n_datasets=len(wrong),
        n_pairs=sum(ranking.n_pairs for ranking in rankings),
        kendall=fmean(taus) if taus else None,
        n_kendall=len(taus),
        pearson=fmean(rs) if rs else None,
        n_pearson=len(rs),
    )


def _rates(units: Units, names: Sequence[str]) -> list[SystemRates]:
    n = np.bincount(units.system, minlength=len(names)).tolist()
    labelled, predicted = (
        np.bincount(units.system[kind], minlength=len(names)).tolist() for kind in (units.is_error, units.is_flagged)
    )
    rates = [
        SystemRates(system=name, n=n[code], labelled=labelled[code] / n[code], predicted=predicted[code] / n[code])
        for code, name in enumerate(names)
        if n[code]
    ]
    return sorted(rates, key=lambda rate: (rate.labelled, rate.system))


def _ordered(
    tests: PairTests,
    labelled: Sequence[Difference],
    predicted: Sequence[Difference],
    rates: Sequence[SystemRates],
    alpha: float,
    p_adjustment: PValueAdjustment,
) -> list[PairOrder]:
    columns = zip(
        tests.first.tolist(),
        tests.second.tolist(),
        tests.tests,
        tests.n_prompts.tolist(),
        _orders(labelled, alpha, p_adjustment),
        _orders(predicted, alpha, p_adjustment),
        strict=True,
    )
    return [
        PairOrder(
            first=rates[first].system,
            second=rates[second].system,
            test=test,
            n_prompts=n_prompts if test is PairTest.PAIRED else 0,
            labelled=by_label,
            p_labelled=p_labelled,
            predicted=by_prediction,
            p_predicted=p_predicted,
        )
        for first, second, test, n_prompts, (by_label, p_labelled), (by_prediction, p_predicted) in columns
    ]


def _orders(found: Sequence[Difference], alpha: float, p_adjustment: PValueAdjustment) -> list[tuple[Order, float]]:
    p_values = adjusted_p_values([difference.p for difference in found], p_adjustment)
    return [
        (Order.SAME if p >= alpha else Order.BETTER if difference.rate < 0.0 else Order.WORSE, p)
        for difference, p in zip(found, p_values, strict=True)
    ]
