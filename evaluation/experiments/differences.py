"""Paired differences between variants: how far, how sure, and how large a difference would have been seen.

The comparison is `factloop.evaluation.comparing.paired`, with groups as clusters: claims of one response resemble each
other, and the repeats of a claim say the same thing again, so that a group is drawn and turned with all of them.

Two families of p-values are adjusted apart: those of the headline quantity and those of all others, each over all
comparisons. A test that says which variant is better shall not pay for those that say how, and none for those that
could not have shown a difference: of variants without a flip, or shares of unscored claims that are all 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.comparing.paired import POWER, PairedMeans
from factloop.evaluation.experiments.quantities import ItemValues
from factloop.evaluation.experiments.report import FamilyAdjustment, Quantity
from factloop.evaluation.statistics.discrete_tests import (
    DiscreteTest,
    false_discovery_discrete,
    holm_tarone,
    n_testable,
)
from factloop.evaluation.statistics.significance import mcnemar
from factloop.evaluation.statistics.stratified_means import StratifiedMean

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Contrast:
    """One quantity of two variants, named by their places, over the items in which both have it."""

    values: ItemValues
    first: int
    second: int
    means: PairedMeans
    test: DiscreteTest | None
    p_mcnemar: float | None

    @property
    def apart(self) -> StratifiedMean:
        return self.means.apart

    @property
    def p(self) -> float | None:
        return None if self.test is None else self.test.p


def contrast(values: ItemValues, first: int, second: int, *, n_repeats: int) -> Contrast:
    """The comparison of two variants in one quantity."""
    means = values.paired(first, second)
    test = means.test()
    return Contrast(values, first, second, means, test, _mcnemar(values, first, second, n_repeats))


def _mcnemar(values: ItemValues, first: int, second: int, n_repeats: int) -> float | None:
    """McNemar's p-value where it holds: one verdict of each claim, and claims that are independent; else None."""
    if values.quantity is not Quantity.ACCURACY or n_repeats > 1:
        return None
    one, other = values.values[first], values.values[second]
    paired = values.eligible & ~np.isnan(one) & ~np.isnan(other)
    if not paired.any() or len(np.unique(values.cluster[paired])) < paired.sum():
        return None
    apart = (other - one)[paired]
    return mcnemar(int((apart < 0).sum()), int((apart > 0).sum()))


def adjust_family(
    tests: Sequence[DiscreteTest | None], p_adjustment: FamilyAdjustment, alpha: float
) -> list[float | None]:
    """The p-values of one family, adjusted, in the order given; None stays None and is no test."""
    known = [test for test in tests if test is not None]
    match p_adjustment:
        case FamilyAdjustment.HOLM:
            held = iter(holm_tarone(known))
        case FamilyAdjustment.BENJAMINI_HOCHBERG:
            held = iter(false_discovery_discrete(known, alpha))
        case FamilyAdjustment.NONE:
            held = iter([test.p for test in known])
    return [None if test is None else next(held) for test in tests]


def n_adjusted_for(tests: Sequence[DiscreteTest | None], p_adjustment: FamilyAdjustment, alpha: float) -> int:
    """How many tests of a family could show a difference, which are those that it is adjusted for; 1 at least."""
    leasts = [test.least for test in tests if test is not None]
    if p_adjustment is FamilyAdjustment.BENJAMINI_HOCHBERG:
        return max(1, sum(one <= alpha for one in leasts))
    return n_testable(leasts, alpha)


def detectable(apart: StratifiedMean, *, alpha: float, n_tests: int) -> float | None:
    """The true difference that would be shown with a chance of `POWER`, as if the sum over groups were normal.

    c SE by the standard error that was observed, c = z(1 - alpha / 2n) + z(power); and c^2 u where variants hardly ever
    disagree, u being the size of a group's part where it has one: so far apart are they if all parts point one way and
    are just enough to be shown (of single claims eight, for alpha = 0.05). Both are added as errors are, by squares.
    Approximate, and None where nothing varies or a stratum has fewer than two groups.
    """
    from scipy.special import ndtri  # type: ignore[import-untyped]  # its stubs are no dependency

    error = None if apart.value is None else apart.standard_error
    if not error or error < 1e-12:
        return None
    sizes = np.abs(apart.parts)
    both = float(ndtri(1.0 - alpha / (2.0 * max(1, n_tests))) + ndtri(POWER))
    return float(np.hypot(both * error, both**2 * (sizes**2).sum() / sizes.sum()))


def can_be_shown(n_groups: int, *, alpha: float, n_tests: int, p_adjustment: FamilyAdjustment) -> bool:
    """Whether any result could be: n groups that all point one way have p = 2^(1 - n), the least there is.

    For Holm's method the smallest p-value is held against alpha divided by the number of tests.
    """
    least = alpha / max(1, n_tests) if p_adjustment is FamilyAdjustment.HOLM else alpha
    return 2.0 ** (1 - n_groups) <= least
