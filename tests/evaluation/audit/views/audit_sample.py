from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache

import numpy as np

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.whole import audit
from tests.evaluation.audit.prediction_rows import Row, table_of

WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
HOSTILE_NAMES = (
    '"><script>alert(1)</script>',
    "$x$ \\frac{1}{0} {{ 7 * 7 }}",
    "_hidden",
    "漢字かな交じり文",
    "x" * 300,
    "half \ufffd a character",
    "two\nlines\x1b[2J\u202e",
    "=HYPERLINK(1)",
    "\ufffe\uffff",
    "' onload='alert(1)",
)


def _rows(datasets: Sequence[tuple[str, str]], systems: Sequence[str], evaluators: Sequence[str]) -> Iterator[Row]:
    rng = np.random.default_rng(3)
    for dataset, task in datasets:
        for place, system in enumerate(systems):
            for prompt in range(10):
                for _ in range(2):
                    label = int(rng.random() > 0.1 + 0.5 * place / len(systems))
                    scores = {name: float(np.clip(rng.normal(0.3 + 0.4 * label, 0.2), 0, 1)) for name in evaluators}
                    yield Row(
                        label,
                        scores,
                        system=system,
                        response=f"{system} {prompt}",
                        prompt=f"{prompt}",
                        dataset=dataset,
                        task=task,
                        claim="the red house stands" if rng.random() < 0.5 else "the red house and a dog barks",
                        document="The red house stands here. A dog barks loud.",
                    )


@cache
def sample_audit() -> AuditReport:
    """Two data sets of one task group and one of another, four systems, one evaluator on chunks too, two thresholds."""
    datasets = (("minutes", "summaries"), ("news", "summaries"), ("questions", "answers"))
    rows = _rows(datasets, ("elm", "ash", "oak", "fir"), ("strict", "mild", "strict@5"))
    return audit(table_of([*rows]), name="rows.jsonl", created_at=WHEN, threshold=0.7, resamples=50)


@cache
def small_audit() -> AuditReport:
    rows = _rows((("minutes", "summaries"),), ("elm", "ash", "oak"), ("strict", "mild", "strict@5"))
    return audit(table_of([*rows]), name="rows.jsonl", created_at=WHEN, resamples=50)


@cache
def hostile_audit() -> AuditReport:
    """Every name that comes from a file tries to break out of its place."""
    names = HOSTILE_NAMES
    rows = _rows(((names[0], names[6]),), names[:6], (*names[1:], f"{names[4]}@5"))
    return audit(table_of([*rows]), name=names[0], created_at=WHEN, resamples=20)


@cache
def bare_audit() -> AuditReport:
    return audit(table_of([Row(1, {"e": 1.0})]), name="one", created_at=WHEN, resamples=10)
