"""Turns contrasts into differences with a verdict: adjusted by family, then said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from factloop.core.figure import ends
from factloop.evaluation.experiments.differences import Contrast, adjust_family, can_be_shown, detectable
from factloop.evaluation.experiments.quantities import ItemValues
from factloop.evaluation.experiments.report import Family, FamilyAdjustment, Outcome, PairedDifference
from factloop.evaluation.experiments.words import DifferenceTest, difference_in_words, item_of, name_of, outcome_of

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Verdicts:
    """How differences are judged."""

    variants: Sequence[str]
    headline: ItemValues
    p_adjustment: FamilyAdjustment
    level: float
    kind: str

    @property
    def alpha(self) -> float:
        return round(1.0 - self.level, 12)

    def judge(self, contrasts: Sequence[Contrast], intervals: Sequence[Interval]) -> tuple[PairedDifference, ...]:
        """The differences in the order of the contrasts; there is an interval for each."""
        found: dict[int, PairedDifference] = {}
        for is_headline in (True, False):
            family = [place for place, one in enumerate(contrasts) if self._is_headline(one) is is_headline]
            p_values = [contrasts[place].p for place in family]
            n_tests = sum(p is not None for p in p_values)
            for place, held in zip(family, adjust_family(p_values, self.p_adjustment), strict=True):
                found[place] = self._difference(contrasts[place], intervals[place], held, n_tests, is_headline)
        return tuple(found[place] for place in sorted(found))

    def families(self, differences: Sequence[PairedDifference]) -> tuple[Family, ...]:
        """The families of differences adjusted together; empty without a comparison."""
        if not differences:
            return ()
        name = name_of(self.headline.quantity, self.headline.k)
        headline, details = (
            sum(one.is_headline is wanted and one.p is not None for one in differences) for wanted in (True, False)
        )
        return (
            Family(name="headline", n_tests=headline, words=f"{name}, in every comparison"),
            Family(name="details", n_tests=details, words="all other quantities, in every comparison"),
        )

    def _is_headline(self, one: Contrast) -> bool:
        return one.values is self.headline

    def _difference(
        self, one: Contrast, interval: Interval, held: float | None, n_tests: int, is_headline: bool
    ) -> PairedDifference:
        values, apart = one.values, one.apart
        outcome = self._outcome(one, held, n_tests)
        n_alike = 1 if self.p_adjustment is FamilyAdjustment.NONE else n_tests
        found = PairedDifference(
            first=self.variants[one.first],
            second=self.variants[one.second],
            quantity=values.quantity,
            k=values.k,
            value=apart.value,
            undefined=values.undefined(apart),
            **ends(interval),
            n=apart.n,
            n_groups=apart.n_clusters,
            n_left_out=values.n_left_out(apart),
            first_value=one.means.first.value,
            second_value=one.means.second.value,
            p=one.p,
            p_corrected=held,
            p_mcnemar=one.p_mcnemar,
            detectable=None if outcome is Outcome.UNKNOWN else detectable(apart, alpha=self.alpha, n_tests=n_alike),
            is_headline=is_headline,
            outcome=outcome,
            words="",
        )
        tested = DifferenceTest(self.alpha, self.level, n_tests, self.p_adjustment)
        words = difference_in_words(found, tested, item_of(values.quantity, self.kind))
        return found.model_copy(update={"words": words})

    def _outcome(self, one: Contrast, held: float | None, n_tests: int) -> Outcome:
        value = one.apart.value
        if value is None or held is None:
            return Outcome.UNKNOWN
        if held <= self.alpha:
            return outcome_of(one.values.quantity, value)
        n_groups = one.apart.n_clusters
        reachable = can_be_shown(n_groups, alpha=self.alpha, n_tests=n_tests, p_adjustment=self.p_adjustment)
        return Outcome.NOT_SHOWN if reachable else Outcome.UNKNOWN
