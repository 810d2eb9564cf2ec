"""Sums up the progress of each verifier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from factloop.evaluation.verification.records import Prediction, VerifierSummary

THRESHOLD = 0.5


def summaries(predictions: Iterable[Prediction], columns: Sequence[str]) -> tuple[VerifierSummary, ...]:
    """The progress of each column, in one pass over predictions that have them all."""
    scored, supported = Counter[str](), Counter[str]()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in columns}
    for found in predictions:
        for name in columns:
            score = found.evaluators[name]
            if score is None:
                reasons[name][found.unscored[name]] += 1
            else:
                scored[name] += 1
                supported[name] += score >= THRESHOLD
    return tuple(
        VerifierSummary(
            name=name,
            n_scored=scored[name],
            unscored=dict(reasons[name].most_common()),
            share_supported=supported[name] / scored[name] if scored[name] else None,
        )
        for name in columns
    )
