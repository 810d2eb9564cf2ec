"""Checkers and scorers that ask the simulator."""

from __future__ import annotations

from typing import Any

import pytest

from factloop import FactChecker, TrustScorer
from tests.simulator import MODEL, RunningSimulator

PLANS = ("fused", pytest.param("paper", marks=pytest.mark.statistical))
"""For tests of whole checks by either plan; the paper's makes some 300 calls for a response."""


def simulated_checker(sim: RunningSimulator, **settings: Any) -> FactChecker:
    """A checker with the simulated model and search, without a cache."""
    return FactChecker(**{"model": MODEL, "base_url": sim.base_url, "search": "serper", "cache": False, **settings})


def simulated_scorer(sim: RunningSimulator, **settings: Any) -> TrustScorer:
    """A scorer with the simulated model as its subject, without a cache."""
    return TrustScorer(**{"subject_model": MODEL, "base_url": sim.base_url, "cache": False, **settings})
