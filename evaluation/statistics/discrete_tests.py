"""Adjusts p-values of discrete tests. Each p-value is adjusted only for tests that could have reached it.

A sign-flip test of n differing groups cannot have a p-value below 2^(1 - n). A variant without differing groups can
therefore never be found different, yet Holm's method would count its test. Tarone (1990) excludes tests that can never
reject. Here, this is done in each of Holm's steps (Hommel and Krummenauer 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAME = 1e-9
"""P-values are sums of floats, so smaller relative differences are ignored."""


@dataclass(frozen=True)
class DiscreteTest:
    p: float
    least: float
    """The smallest p-value possible with these sizes of the differences, whatever their signs. It is at most p."""


def holm_tarone(tests: Sequence[DiscreteTest]) -> list[float]:
    """Returns Holm's adjusted p-values, in the same order. For each p, only the tests that could have reached it count.

    In increasing order, each p is multiplied by the number of remaining tests (including its own) whose `least` is at
    most p. No result is below the previous one. If every test can reach every p, this is Holm's method.

    The probability of any false finding is at most alpha, even if the tests are dependent. The first true hypothesis to
    be rejected has the smallest p-value, x. A test reaches x by chance with probability at most x, or 0 if its `least`
    is above x.
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
    """Returns the number of tests (at least 1) whose p-value can be below 1, because two or more groups differ.

    The number depends on the sizes of the differences but not on their signs, and therefore not on the results. Alpha
    may be divided by it, as for simultaneous intervals.
    """
    return max(1, sum(one.least < 1.0 for one in tests))


def n_testable(leasts: Sequence[float], alpha: float) -> int:
    """Returns Tarone's number, the smallest k (at least 1) such that no more than k tests could reach alpha / k. It
    depends on what the tests could show, not on their results."""
    return next(k for k in range(1, len(leasts) + 2) if sum(one <= alpha / k * (1.0 + _SAME) for one in leasts) <= k)
