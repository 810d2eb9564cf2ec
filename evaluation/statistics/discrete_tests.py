"""Adjustment of many p-values of discrete tests: those that could not have been as small do not count.

A sign-flip test of n differing groups has no p-value below 2^(1 - n): a variant with not one flip can never be called
different, and Holm's method still divides alpha by it. Tarone (1990) leaves out what cannot reject; here it is done in
each of Holm's steps (Hommel and Krummenauer 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAME = 1e-9
"""Two p-values nearer than this share of themselves are one: they are sums of floats."""


@dataclass(frozen=True)
class DiscreteTest:
    """One test of a family."""

    p: float
    """In (0, 1]."""
    least: float
    """The smallest p-value that it could have had, by the sizes of its differences and not their signs; at most p."""


def holm_tarone(tests: Sequence[DiscreteTest]) -> list[float]:
    """Holm's adjusted p-values in the order given, each the smallest p times the tests that could have reached it.

    From the smallest p up: p times the number of tests, of this one and those after it, whose `least` is at most p, and
    never below the one before. The chance of any false difference is at most alpha, whatever the dependence: the first
    true hypothesis that is rejected has the smallest p of all true ones, x, and a test reaches x by chance in at most a
    share x of cases, and not at all if its `least` is above x. Where every test can reach every p it is Holm's method.
    """
    order = sorted(range(len(tests)), key=lambda place: tests[place].p)
    found: dict[int, float] = {}
    held = 0.0
    for step, place in enumerate(order):
        p = tests[place].p
        held = max(held, p * sum(tests[other].least <= p * (1.0 + _SAME) for other in order[step:]))
        found[place] = min(1.0, held)
    return [found[place] for place in range(len(tests))]


def n_varying(tests: Sequence[DiscreteTest]) -> int:
    """Tests that could have a p-value below 1, as two groups or more differ in them; 1 at least.

    It follows from the sizes of the differences and not from their signs, so that turning signs leaves it alone: what
    is divided by it, as alpha is for simultaneous intervals, is settled before the data show anything.
    """
    return max(1, sum(one.least < 1.0 for one in tests))


def n_testable(leasts: Sequence[float], alpha: float) -> int:
    """Tarone's number: the fewest tests k to divide alpha by, so that no more than k could reach alpha / k; 1 at least.

    It is chosen by what the tests could show, and not by what they show.
    """
    return next(k for k in range(1, len(leasts) + 2) if sum(one <= alpha / k * (1.0 + _SAME) for one in leasts) <= k)
