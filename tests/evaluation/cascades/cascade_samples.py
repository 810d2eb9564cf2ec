from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from factloop.checking.cascade.records import CascadeFile, ErrorKind
from factloop.evaluation.cascades.labelled import ScoredLabels
from factloop.evaluation.cascades.thresholds import Tuning
from tests.reports.sample import HOSTILE


def tuned_cascade(n: int = 800) -> CascadeFile:
    """A useful verifier on `n` claims of each label."""
    rng = np.random.default_rng(2)
    labels = np.arange(n) % 2 == 0
    scores = np.where(labels, rng.beta(4, 1.5, n), rng.beta(1.5, 4, n))
    tuning = Tuning.of(ScoredLabels(scores, labels.astype(np.int8), np.arange(n)))
    tuned = tuning.tuned(0.1, ErrorKind.BALANCED, 0.95)
    return CascadeFile(
        verifier="baseline",
        identity={"verifier": "baseline", "weights": "0" * 64},
        upper=tuned.accepted.threshold,
        lower=tuned.rejected.threshold,
        data="labelled.jsonl (sha256 000000000000)",
        tuned=tuned.model_copy(update={"curve": tuning.curve(ErrorKind.BALANCED, 0.95)}),
        created_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    )


def hostile_cascade() -> CascadeFile:
    """Every text would break out of an element or a terminal."""
    name = f'"><script>alert(1)</script><b onmouseover="x">{HOSTILE}\x1b[2J\u202e'
    return tuned_cascade(60).model_copy(
        update={"verifier": name, "data": name, "identity": {name: name}, "warnings": (name,)}
    )


def set_by_hand() -> CascadeFile:
    return CascadeFile(verifier="baseline", identity={}, upper=0.9, lower=None)
