from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.whole import audit
from tests.evaluation.audit.prediction_rows import Row, table_of

WHEN = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
_WORDS = (
    *("amber", "birch", "cedar", "dune", "elm", "fern", "gull", "heath"),
    *("iris", "juniper", "kelp", "larch", "moss", "nettle", "oak", "pine"),
)


def audited(rows: Sequence[Row], **options: Any) -> AuditReport:
    """An audit with few resamples, for speed."""
    given = {"name": "sample", "created_at": WHEN, "resamples": 50, **options}
    return audit(table_of(rows), **given)


def sample_rows() -> list[Row]:
    """Two data sets in two task groups, three systems, 12 prompts each, two claims a response.

    `good` errs little, `weak` follows the wording and sometimes has no score, `weak@6` read chunks of six words.
    """
    draw, rows = Random(0), []
    for name, task in (("news", "summaries"), ("talk", "answers")):
        for prompt in range(12):
            document = " ".join(f"{' '.join(draw.sample(_WORDS, 4))}.".capitalize() for _ in range(3))
            for system, error_rate in (("a", 0.1), ("b", 0.3), ("c", 0.5)):
                for number in range(2):
                    label = int(draw.random() >= error_rate)
                    words = document.replace(".", "").split()[number * 2 : number * 2 + 6]
                    copied = draw.random() < 0.7
                    claim = " ".join(words if copied else sorted(words))
                    good = min(1.0, max(0.0, 0.15 + 0.7 * label + draw.uniform(-0.2, 0.2)))
                    weak = None if draw.random() < 0.1 else round(0.4 * copied + 0.5 * draw.random(), 3)
                    cut = None if weak is None else round(0.8 * weak, 3)
                    scores = {"good": round(good, 3), "weak": weak, "weak@6": cut}
                    rows.append(
                        Row(label, scores, system, f"{system}{prompt}", f"p{prompt}", name, task, claim, document)
                    )
    return rows
