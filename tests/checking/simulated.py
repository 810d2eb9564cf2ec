from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from factloop import FactChecker, TrustScorer
from factloop.tools.names.build import build_table
from tests.simulator import MODEL, RunningSimulator
from tests.simulator.triples import knowledge_base_triples

PATIENT: dict[str, Any] = {"cache": False, "timeout_s": 600.0}
"""On a busy machine, no request is sent again, so requests can be counted."""
PLANS = ("fused", pytest.param("paper", marks=pytest.mark.statistical))
"""For tests of whole checks by either plan; the paper's makes some 300 calls for a response."""


def simulated_checker(sim: RunningSimulator, **settings: Any) -> FactChecker:
    return FactChecker(**{"model": MODEL, "base_url": sim.base_url, "search": "serper", **PATIENT, **settings})


def simulated_scorer(sim: RunningSimulator, **settings: Any) -> TrustScorer:
    """The simulated model is the subject, its world supplies the distractors, and there is no cache."""
    table = _table_of(*knowledge_base_triples(sim.world))
    return TrustScorer(**{"subject_model": MODEL, "base_url": sim.base_url, **PATIENT, "kb": (table,), **settings})


@cache
def _table_of(types: str, labels: str) -> str:
    _FOLDERS.append(TemporaryDirectory())
    folder = Path(_FOLDERS[-1].name)
    (folder / "types.nt").write_text(types, encoding="utf-8")
    (folder / "labels.nt").write_text(labels, encoding="utf-8")
    return str(build_table([folder / "types.nt"], [folder / "labels.nt"], folder / "world.kb").path)


_FOLDERS: list[TemporaryDirectory[str]] = []
