from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.evaluation.statistics.discrete_tests import DiscreteTest, holm_tarone, n_testable, n_varying
from factloop.evaluation.statistics.significance import least_p

pytestmark = pytest.mark.usefixtures("frozen")

REACHABLE = st.builds(
    lambda p, share: DiscreteTest(p, p * share), st.floats(1e-6, 1.0), st.sampled_from((1e-4, 0.1, 0.5, 1.0))
)


def test_by_hand() -> None:
    """Four tests, p (least): 1/32 (1/32), 1/16 (1/128), 1 (1), 1/4 (1/16). At 1/32 two tests reach so far, the first
    and the second: 2/32. At 1/16, of the three left, the second and the last: 2/16. At 1/4, of two left, only itself:
    1/4. At 1 itself. Holm's own would be 4/32, 3/16, 2/4 and 1."""
    tests = [DiscreteTest(*one) for one in ((1 / 32, 1 / 32), (1 / 16, 1 / 128), (1.0, 1.0), (1 / 4, 1 / 16))]
    found = holm_tarone(tests)
    assert found == pytest.approx([2 / 32, 2 / 16, 1.0, 1 / 4])


def test_the_least_p_by_hand() -> None:
    """Six differences of one sign: 2 of 64 ways to turn them are as far from 0; a 0 turns nothing."""
    assert least_p(np.array([0.5, -0.25, 0.0, 1.0, 1.0, -1.0, 0.125])) == 2 / 64
    assert least_p(np.zeros(4)) == 1.0


@pytest.mark.parametrize(
    ("leasts", "alpha", "wanted"),
    [
        ([0.001, 0.001, 0.001], 0.05, 3),
        ([0.001, 1.0, 1.0], 0.05, 1),
        ([0.02, 0.03, 0.04], 0.05, 2),
        ([0.02, 0.02, 0.01], 0.05, 3),
        ([], 0.05, 1),
        ([1.0, 1.0], 0.05, 1),
    ],
)
def test_tarones_number_by_hand(leasts: list[float], alpha: float, wanted: int) -> None:
    """Of 0.02, 0.03 and 0.04 all three reach 0.05, more than one; of 0.025 one does: two suffice, and not one. Of 0.02,
    0.02 and 0.01 three reach 0.05 and three 0.025; 0.0167 only the last: three are taken."""
    assert n_testable(leasts, alpha) == wanted


@given(st.lists(REACHABLE, min_size=1, max_size=6), st.sampled_from((0.01, 0.05, 0.2)))
def test_it_rejects_nothing_that_closed_testing_does_not(tests: list[DiscreteTest], alpha: float) -> None:
    """Closed testing: a hypothesis is rejected if every set of hypotheses that holds it is, each by its smallest p."""

    def is_rejected(subset: tuple[int, ...]) -> bool:
        smallest = min(tests[place].p for place in subset)
        return smallest * sum(tests[place].least <= smallest * (1 + 1e-9) for place in subset) <= alpha

    sets = [subset for size in range(1, len(tests) + 1) for subset in combinations(range(len(tests)), size)]
    for place, one in enumerate(holm_tarone(tests)):
        if one <= alpha:
            assert all(is_rejected(subset) for subset in sets if place in subset)


def test_tests_that_vary_by_hand() -> None:
    """One group that differs leaves p at 1 whichever way it points; of no test at all one is taken."""
    assert n_varying([DiscreteTest(0.3, 2 / 64), DiscreteTest(1.0, 1.0), DiscreteTest(1.0, 0.5)]) == 2
    assert n_varying([]) == n_varying([DiscreteTest(1.0, 1.0)]) == 1
