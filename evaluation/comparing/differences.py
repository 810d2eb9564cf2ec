"""Tests the differences between sides, and estimates how large a difference could have been detected.

Items in a group resemble each other, and repeats of a claim are not additional items. Resampling and sign flips
therefore work on whole groups (`factloop.evaluation.comparing.paired`).

P-values are adjusted across all comparisons in three families: the headline quantity, the secondary questions (TPR and
TNR), and all other quantities. The tests in one family do not reduce the power of another. The adjustment ignores tests
that could not have shown a difference, such as those between sides without flips.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, get_args

import numpy as np

from factloop.core.figure import ends
from factloop.evaluation.comparing.paired import (
    POWER,
    PairedMeans,
    level_of_each,
    sign_flip_test,
    simultaneous_interval,
)
from factloop.evaluation.comparing.records import Family, Outcome, PairedDifference, Quantity, QuantityFigure
from factloop.evaluation.comparing.table import ItemValues
from factloop.evaluation.comparing.words import (
    DifferenceTest,
    difference_in_words,
    is_share,
    item_of,
    name_of,
    outcome_of,
)
from factloop.evaluation.statistics.discrete_tests import DiscreteTest, holm_tarone, n_testable, n_varying
from factloop.evaluation.statistics.stratified_means import StratifiedMean, stratified_intervals

LEVEL = 0.95
RESAMPLES = 2000


@dataclass(frozen=True)
class Contrast:
    """A comparison of two sides, given by index, in one quantity. It covers the items for which both have a value."""

    values: ItemValues
    first: int
    second: int
    ways: tuple[PairedMeans, ...]
    """One entry for each way of counting missing verdicts, from `ItemValues.paired`."""
    test: DiscreteTest | None

    @property
    def means(self) -> PairedMeans:
        return self.ways[0]

    @property
    def apart(self) -> StratifiedMean:
        return self.means.apart


def contrast(values: ItemValues, first: int, second: int) -> Contrast:
    ways = values.paired(first, second)
    return Contrast(values, first, second, ways, sign_flip_test([way.apart for way in ways]))


def detectable(apart: StratifiedMean, *, alpha: float, n_tests: int) -> float | None:
    """Returns the true difference that would be shown with probability `POWER`, assuming normally distributed sums.

    The result is the square root of (c SE)^2 + (c^2 u)^2. Here, SE is the observed standard error, c = z(1 - alpha /
    2n) + z(power), and u is the typical size of a group's non-zero contribution. The second term matters if the sides
    hardly ever disagree: differences that all point the same way are significant only if they add up to this much
    (eight single claims, for alpha = 0.05). Returns None if nothing varies or a stratum has fewer than two groups.
    """
    from scipy.special import ndtri  # type: ignore[import-untyped]  # its stubs are not a dependency

    error = None if apart.value is None else apart.standard_error
    if not error or error < 1e-12:
        return None
    sizes = np.abs(apart.parts)
    both = float(ndtri(1.0 - alpha / (2.0 * max(1, n_tests))) + ndtri(POWER))
    return float(np.hypot(both * error, both**2 * (sizes**2).sum() / sizes.sum()))


def can_be_shown(n_groups: int, *, alpha: float, n_tests: int) -> bool:
    """Whether any result could be significant. The smallest possible p, if all n groups agree, is 2^(1 - n)."""
    return 2.0 ** (1 - n_groups) <= alpha / max(1, n_tests)


FamilyName = Literal["headline", "questions", "details"]
QUESTIONS = (Quantity.TPR, Quantity.TNR)
"""Quantities that are secondary to the headline."""


@dataclass(frozen=True)
class Judging:
    sides: Sequence[str]
    kind: Literal["claims", "responses"]
    level: float = LEVEL
    seed: int = 0
    has_intervals: bool = True
    group: str = "group"

    @property
    def alpha(self) -> float:
        return round(1.0 - self.level, 12)

    def judge(
        self,
        contrasts: Sequence[Contrast],
        headline: Collection[ItemValues],
        questions: Collection[Quantity] = QUESTIONS,
    ) -> tuple[tuple[PairedDifference, ...], tuple[Family, ...]]:
        """Returns the differences in the order of the contrasts, and the families that were adjusted together."""
        found: dict[int, PairedDifference] = {}
        families = []
        names: list[FamilyName] = [
            "headline" if one.values in headline else "questions" if one.values.quantity in questions else "details"
            for one in contrasts
        ]
        for name in get_args(FamilyName):
            places = [at for at, of in enumerate(names) if of == name]
            tests = {at: test for at in places if (test := contrasts[at].test) is not None}
            held = dict(zip(tests, holm_tarone([*tests.values()]), strict=True))
            n_intervals = n_varying([*tests.values()])
            family = self._family(name, [contrasts[at] for at in places], [*tests.values()])
            families += [family] if places else []
            found |= {at: self._difference(contrasts[at], held.get(at), family, n_intervals) for at in places}
        return tuple(found[place] for place in sorted(found)), tuple(families)

    def _family(self, name: FamilyName, contrasts: Sequence[Contrast], tests: Sequence[DiscreteTest]) -> Family:
        named = dict.fromkeys(name_of(one.values.quantity, one.values.k) for one in contrasts)
        quantities = "all other quantities" if name == "details" else ", ".join(named)
        return Family(
            name=name,
            n_tests=len(tests),
            n_counted=min(n_testable([test.least for test in tests], self.alpha), len(tests)),
            words=f"{quantities}, in every comparison" if len(self.sides) > 2 else quantities,
        )

    def _difference(
        self, one: Contrast, p_corrected: float | None, family: Family, n_intervals: int
    ) -> PairedDifference:
        values, apart, means, n_counted = one.values, one.apart, one.means, max(1, family.n_counted)
        outcome = self._outcome(one, p_corrected, n_counted)
        found = PairedDifference(
            first=self.sides[one.first],
            second=self.sides[one.second],
            quantity=values.quantity,
            k=values.k,
            value=_bounded(apart.value, values.quantity),
            undefined=values.undefined(apart),
            **ends(self._interval(one, p_corrected, n_intervals)),
            level=level_of_each(self.level, n_intervals),
            n=apart.n,
            n_groups=apart.n_clusters,
            n_left_out=values.n_left_out(apart),
            **{name: way.apart.value for name, way in zip(("if_wrong", "if_right"), one.ways[1:], strict=False)},
            first_value=_bounded(means.first.value, values.quantity) if values.has_sides else None,
            second_value=_bounded(means.second.value, values.quantity) if values.has_sides else None,
            first_higher=means.first_higher,
            equal=means.equal,
            second_higher=means.second_higher,
            p=None if one.test is None else one.test.p,
            p_corrected=p_corrected,
            detectable=None if outcome is Outcome.UNKNOWN else detectable(apart, alpha=self.alpha, n_tests=n_counted),
            is_headline=family.name == "headline",
            is_question=family.name == "questions",
            outcome=outcome,
            words="",
        )
        noun = item_of(values.quantity, self.kind)
        tested = DifferenceTest(self.alpha, family.n_tests, n_counted, noun, self.group, self.has_intervals)
        return found.model_copy(update={"words": difference_in_words(found, tested)})

    def _interval(self, one: Contrast, p_corrected: float | None, n_intervals: int) -> tuple[float, float] | None:
        if not self.has_intervals:
            return None
        rng = np.random.default_rng(self.seed)
        found = simultaneous_interval(one.apart, p_corrected, self.level, n_intervals, rng)
        if found is None or not is_share(one.values.quantity):
            return found
        return max(-1.0, found[0]), min(found[1], 1.0)

    def _outcome(self, one: Contrast, p_corrected: float | None, n_counted: int) -> Outcome:
        value = one.apart.value
        if value is None or p_corrected is None:
            return Outcome.UNKNOWN
        if p_corrected <= self.alpha:
            return outcome_of(one.values.quantity, value)
        n_groups = one.apart.n_clusters
        reachable = can_be_shown(n_groups, alpha=self.alpha, n_tests=n_counted)
        return Outcome.NOT_SHOWN if reachable else Outcome.UNKNOWN


def figures_of(
    quantities: Sequence[ItemValues], n_sides: int, *, seed: int, resamples: int, level: float
) -> list[tuple[QuantityFigure, ...]]:
    """Returns each side's figures. All intervals come from the same resamples."""
    means = [[values.mean(place) for values in quantities] for place in range(n_sides)]
    alone = list(chain.from_iterable(means))
    intervals = iter(stratified_intervals(alone, np.random.default_rng(seed), resamples, level))
    return [
        tuple(
            QuantityFigure(
                quantity=values.quantity,
                k=values.k,
                value=_bounded(mean.value, values.quantity),
                undefined=values.undefined(mean),
                **{end: _bounded(at, values.quantity) for end, at in ends(next(intervals)).items()},
                n=mean.n,
                n_groups=mean.n_clusters,
                n_left_out=values.n_left_out(mean),
            )
            for values, mean in zip(quantities, of_side, strict=True)
        )
        for of_side in means
    ]


def _bounded(value: float | None, quantity: Quantity) -> float | None:
    """Clips a proportion to [-1, 1], which rounding and weighted labels can exceed."""
    return value if value is None or not is_share(quantity) else max(-1.0, min(value, 1.0))
