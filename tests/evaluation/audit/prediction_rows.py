from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from factloop.evaluation.audit.table import PredictionTable, column_of, responses_of


@dataclass(frozen=True)
class Row:
    label: int
    scores: Mapping[str, float | None] = field(default_factory=dict)
    system: str = "a"
    response: str = "r1"
    prompt: str | None = None
    dataset: str = "d"
    task: str | None = None
    claim: str | None = None
    document: str | None = None
    probability: float | None = None


def table_of(rows: Sequence[Row]) -> PredictionTable:
    dataset, system = column_of([row.dataset for row in rows]), column_of([row.system for row in rows])
    names = list(dict.fromkeys(name for row in rows for name in row.scores))
    prompts, tasks = [row.prompt for row in rows], [row.task for row in rows]
    chances = [row.probability for row in rows]
    claims, documents = [row.claim for row in rows], [row.document for row in rows]
    return PredictionTable(
        dataset=dataset,
        system=system,
        response=responses_of(dataset, system, column_of([row.response for row in rows])),
        label=np.asarray([row.label for row in rows], dtype=np.int8),
        scores={name: np.asarray([row.scores.get(name, np.nan) for row in rows], dtype=np.float64) for name in names},
        task=None if None in tasks else column_of([task or "" for task in tasks]),
        prompt=None if None in prompts else column_of([prompt or "" for prompt in prompts]),
        probability=None if None in chances else np.asarray(chances, dtype=np.float64),
        claim_text=None if None in claims else [claim or "" for claim in claims],
        document=None if None in documents else [document or "" for document in documents],
    )
