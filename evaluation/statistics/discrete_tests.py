"""Adjusts many p-values of discrete tests, ignoring tests that could not have reached such a small p-value.

A sign-flip test of n differing groups has no p-value below 2^(1 - n). A variant without a single flip can therefore
never be found different, yet Holm's method still divides alpha by it. Tarone (1990) excludes tests that cannot reject;
here this is done in each of Holm's steps (Hommel and Krummenauer 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAME = 1e-9
"""P-values whose relative difference is smaller than this are treated as equal, since they are sums of floats."""


@dataclass(frozen=True)
class DiscreteTest:
    """One test of a family."""

    p: float
    """In (0, 1]."""
    least: float
    """The smallest p-value that it could have had, given the sizes of its differences but not their signs; at most
    p."""


def holm_tarone(tests: Sequence[DiscreteTest]) -> list[float]:
    """Holm's adjusted p-values, in the given order, each being the smallest p times the number of tests that could have
    reached it.

    In increasing order of p: p times the number of tests, among this one and those after it, whose `least` is at most
    p, and never below the previous result. The probability of any false difference is at most alpha, whatever the
    dependence: the first true hypothesis to be rejected has the smallest p of all true ones, x, and a test reaches x by
    chance with probability at most x, and never if its `least` is above x. If every test can reach every p, this is
    Holm's method.
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
    """Number of tests that could have a p-value below 1 because at least two groups differ in them; at least 1.

    It depends on the sizes of the differences but not on their signs, so flipping signs does not change it: a number
    that alpha is divided by, as for simultaneous intervals, is fixed before the data show anything.
    """
    return max(1, sum(one.least < 1.0 for one in tests))


def n_testable(leasts: Sequence[float], alpha: float) -> int:
    """Tarone's number: the smallest k to divide alpha by such that no more than k tests could reach alpha / k; at least
    1.

    It is determined by what the tests could show, not by what they do show.
    """
    return next(k for k in range(1, len(leasts) + 2) if sum(one <= alpha / k * (1.0 + _SAME) for one in leasts) <= k)
