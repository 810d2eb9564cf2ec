"""Turns contrasts into differences with a verdict: adjusted by family, then said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from factloop.core.figure import ends
from factloop.evaluation.comparing.paired import level_of_each, simultaneous_interval
from factloop.evaluation.experiments.differences import (
    Contrast,
    adjust_family,
    can_be_shown,
    detectable,
    n_adjusted_for,
)
from factloop.evaluation.experiments.quantities import ItemValues
from factloop.evaluation.experiments.report import Family, FamilyAdjustment, Outcome, PairedDifference
from factloop.evaluation.experiments.words import (
    DifferenceTest,
    difference_in_words,
    is_share,
    item_of,
    name_of,
    outcome_of,
)
from factloop.evaluation.statistics.discrete_tests import n_varying

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class _Adjustment:
    """What the tests of one family were adjusted for."""

    n_tests: int
    n_counted: int
    """Those that could have shown a difference; 1 at least."""
    n_intervals: int
    """Those whose intervals hold the truth together: all that vary, or each by itself where nothing is adjusted."""
    is_headline: bool


@dataclass(frozen=True)
class Verdicts:
    """How differences are judged."""

    variants: Sequence[str]
    headline: ItemValues
    p_adjustment: FamilyAdjustment
    level: float
    kind: str
    seed: int = 0
    has_intervals: bool = True

    @property
    def alpha(self) -> float:
        return round(1.0 - self.level, 12)

    def judge(self, contrasts: Sequence[Contrast]) -> tuple[PairedDifference, ...]:
        """The differences in the order of the contrasts."""
        found: dict[int, PairedDifference] = {}
        for is_headline in (True, False):
            family = [place for place, one in enumerate(contrasts) if self._is_headline(one) is is_headline]
            adjustment = self._adjustment(contrasts, is_headline=is_headline)
            tests = [contrasts[place].test for place in family]
            for place, held in zip(family, adjust_family(tests, self.p_adjustment, self.alpha), strict=True):
                found[place] = self._difference(contrasts[place], held, adjustment)
        return tuple(found[place] for place in sorted(found))

    def families(self, contrasts: Sequence[Contrast]) -> tuple[Family, ...]:
        """The families of differences adjusted together; empty without a comparison."""
        if not contrasts:
            return ()
        name = name_of(self.headline.quantity, self.headline.k)
        headline, details = (self._adjustment(contrasts, is_headline=wanted) for wanted in (True, False))
        every = "in every comparison"
        return (
            _family("headline", headline, f"{name}, {every}"),
            _family("details", details, f"all other quantities, {every}"),
        )

    def _adjustment(self, contrasts: Sequence[Contrast], *, is_headline: bool) -> _Adjustment:
        tests = [one.test for one in contrasts if self._is_headline(one) is is_headline and one.test is not None]
        n_intervals = 1 if self.p_adjustment is FamilyAdjustment.NONE else n_varying(tests)
        return _Adjustment(len(tests), n_adjusted_for(tests, self.p_adjustment, self.alpha), n_intervals, is_headline)

    def _is_headline(self, one: Contrast) -> bool:
        return one.values is self.headline

    def _difference(self, one: Contrast, held: float | None, adjustment: _Adjustment) -> PairedDifference:
        values, apart = one.values, one.apart
        outcome = self._outcome(one, held, adjustment.n_counted)
        n_alike = 1 if self.p_adjustment is FamilyAdjustment.NONE else adjustment.n_counted
        found = PairedDifference(
            first=self.variants[one.first],
            second=self.variants[one.second],
            quantity=values.quantity,
            k=values.k,
            value=apart.value,
            undefined=values.undefined(apart),
            **ends(self._interval(one, held, adjustment.n_intervals)),
            level=level_of_each(self.level, adjustment.n_intervals),
            n=apart.n,
            n_groups=apart.n_clusters,
            n_left_out=values.n_left_out(apart),
            first_value=one.means.first.value,
            second_value=one.means.second.value,
            p=one.p,
            p_corrected=held,
            p_mcnemar=one.p_mcnemar,
            detectable=None if outcome is Outcome.UNKNOWN else detectable(apart, alpha=self.alpha, n_tests=n_alike),
            is_headline=adjustment.is_headline,
            outcome=outcome,
            words="",
        )
        tested = DifferenceTest(self.alpha, adjustment.n_tests, adjustment.n_counted, self.p_adjustment)
        words = difference_in_words(found, tested, item_of(values.quantity, self.kind))
        return found.model_copy(update={"words": words})

    def _interval(self, one: Contrast, held: float | None, n_intervals: int) -> Interval:
        """The interval of the difference; of shares it keeps to what differences of shares can be."""
        if not self.has_intervals:
            return None
        found = simultaneous_interval(one.apart, held, self.level, n_intervals, np.random.default_rng(self.seed))
        if found is None or not is_share(one.values.quantity):
            return found
        return max(-1.0, found[0]), min(found[1], 1.0)

    def _outcome(self, one: Contrast, held: float | None, n_counted: int) -> Outcome:
        value = one.apart.value
        if value is None or held is None:
            return Outcome.UNKNOWN
        if held <= self.alpha:
            return outcome_of(one.values.quantity, value)
        n_groups = one.apart.n_clusters
        reachable = can_be_shown(n_groups, alpha=self.alpha, n_tests=n_counted, p_adjustment=self.p_adjustment)
        return Outcome.NOT_SHOWN if reachable else Outcome.UNKNOWN


def _family(name: Literal["headline", "details"], found: _Adjustment, words: str) -> Family:
    return Family(name=name, n_tests=found.n_tests, n_counted=min(found.n_counted, found.n_tests), words=words)
