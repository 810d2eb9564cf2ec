"""Adjusts many p-values of discrete tests, ignoring tests that could not have reached such a small p-value.

A sign-flip test of n differing groups cannot have a p-value below 2^(1 - n). A variant without any differing group can
therefore never be found different, but Holm's method would still count its test. Tarone (1990) excludes tests that can
never reject. Here, this is done in each of Holm's steps (Hommel and Krummenauer 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAME = 1e-9
"""P-values with a smaller relative difference than this are treated as equal, since they are sums of floats."""


@dataclass(frozen=True)
class DiscreteTest:
    """One test of a family."""

    p: float
    """In (0, 1]."""
    least: float
    """The smallest p-value that the test could have, given the sizes but not the signs of the differences. At most
    p."""


def holm_tarone(tests: Sequence[DiscreteTest]) -> list[float]:
    """Returns Holm's adjusted p-values, in the same order, counting only tests that could have reached each p.

    In increasing order, each p is multiplied by the number of tests, among this one and later ones, whose `least` is at
    most p. No result is below the previous one. The probability of finding any false difference is at most alpha, even
    if the tests are dependent. The first true hypothesis to be rejected is the one with the smallest p, x. The
    probability that a test reaches x by chance is at most x, and it is 0 if the `least` of the test is above x. If
    every test can reach every p, this is Holm's method.
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
    """Returns the number of tests (but at least 1) whose p-value could be below 1, because two or more groups differ.

    The number depends on the sizes of the differences but not on their signs, so it does not depend on the results.
    Alpha may therefore be divided by it, as for simultaneous intervals.
    """
    return max(1, sum(one.least < 1.0 for one in tests))


def n_testable(leasts: Sequence[float], alpha: float) -> int:
    """Returns Tarone's number, the smallest k (at least 1) such that no more than k tests could reach alpha / k.

    It depends on the possible results of the tests, not on the actual ones.
    """
    return next(k for k in range(1, len(leasts) + 2) if sum(one <= alpha / k * (1.0 + _SAME) for one in leasts) <= k)
