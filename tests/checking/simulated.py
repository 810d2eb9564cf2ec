"""Checkers and scorers that ask the simulator."""

from __future__ import annotations

from typing import Any

from factloop import FactChecker, TrustScorer
from tests.simulator import MODEL, RunningSimulator


def simulated_checker(sim: RunningSimulator, **settings: Any) -> FactChecker:
    """A checker with the simulated model and search, without a cache."""
    return FactChecker(**{"model": MODEL, "base_url": sim.base_url, "search": "serper", "cache": False, **settings})


def simulated_scorer(sim: RunningSimulator, **settings: Any) -> TrustScorer:
    """A scorer with the simulated model as its subject, without a cache."""
    return TrustScorer(**{"subject_model": MODEL, "base_url": sim.base_url, "cache": False, **settings})
