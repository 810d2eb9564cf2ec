"""Benjamini and Hochberg's adjustment: by hand, and as scipy has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.evaluation.statistics.significance import false_discovery


def test_by_hand() -> None:
    """Of four: 0.01 * 4/1 = 0.04; 0.02 * 4/2 = 0.04; 0.04 * 4/3 = 0.053 and 0.04 * 4/4 = 0.04: the least from above."""
    assert false_discovery([0.04, 0.01, 0.04, 0.02]) == pytest.approx([0.04, 0.04, 0.04, 0.04])
    assert false_discovery([0.9, 0.01]) == pytest.approx([0.9, 0.02])


def test_nothing_to_adjust() -> None:
    assert false_discovery([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_as_scipy_has_it(p_values: list[float]) -> None:
    assert false_discovery(p_values) == pytest.approx(list(np.minimum(false_discovery_control(p_values), 1.0)))
