"""From the results of an experiment to its report: figures, paired differences, verdicts in words, flips."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.report import Correction, ExperimentReport

LEVEL = 0.95
RESAMPLES = 2000


def assess(
    results: Results,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    correction: Correction | Literal["holm", "benjamini-hochberg", "none"] = Correction.HOLM,
    pairs: Literal["baseline", "all"] = "baseline",
    created_at: datetime | None = None,
) -> ExperimentReport:
    """The report of an experiment's results. Costs nothing."""
    raise NotImplementedError
