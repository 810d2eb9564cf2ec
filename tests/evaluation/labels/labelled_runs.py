from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from factloop.core.records import Counts, Verdict
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import DebiasedPrecision
from factloop.evaluation.debiasing.samples import JudgedResponses
from factloop.evaluation.labels.exporting import ExportedLabels, export_labels
from factloop.evaluation.labels.sheets import SHEET, NextLabels, candidates_of, draw_claims
from factloop.evaluation.runs.calibration import load_calibration
from factloop.evaluation.runs.records import JudgedResponse
from factloop.reports.downloads import csv_text
from factloop.reports.labels import ClaimToLabel, Draw
from tests.evaluation.runs.finished_runs import judged

DATA = "answers.jsonl"


def claim(**fields: Any) -> ClaimToLabel:
    drawn = {
        "dataset": DATA, "system": "one", "response_id": "r", "group": "p", "claim_id": "c1", "claim": "It is so.",
        "judge": "j", "verdict": Verdict.SUPPORTED, "score": 0.9010261468576273, "probability": 0.323589954977,
        "draw": Draw(name="d-1", n=3, n_claims=9),
    }  # fmt: skip
    return ClaimToLabel.model_validate(drawn | fields)


@dataclass(frozen=True)
class LabelledRun:
    """A run and people's verdict on each of its claims."""

    responses: Sequence[JudgedResponse]
    truth: dict[tuple[str, str], int]
    """By the ids of response and claim."""

    @property
    def precision(self) -> float:
        return float(np.mean([*self.truth.values()]))


def labelled_run(rng: np.random.Generator, n_responses: int, n_claims: int) -> LabelledRun:
    """Responses with different shares of supported claims, judged with a TPR of 0.9 and an FPR of 0.2."""
    responses: list[JudgedResponse] = []
    truth: dict[tuple[str, str], int] = {}
    for place in range(n_responses):
        labels = rng.random(n_claims) < rng.beta(3.0, 1.2)
        verdicts = rng.random(n_claims) < np.where(labels, 0.9, 0.2)
        one = judged(f"p{place}", "".join("s" if verdict else "n" for verdict in verdicts.tolist()))
        responses.append(one)
        truth |= {(one.id, f"c{number}"): int(label) for number, label in enumerate(labels.tolist())}
    return LabelledRun(responses, truth)


def filled_in(place: Path, drawn: NextLabels, run: LabelledRun, n_first: int | None = None) -> Path:
    """The sheet with true labels for its first `n_first` claims, or for all."""
    rows = [dict(zip(SHEET, one.row, strict=True)) for one in drawn.drawn]
    for row in rows[:n_first]:
        row["label"] = run.truth[str(row["response_id"]), str(row["claim_id"])]
    place.write_text(csv_text(SHEET, [tuple(row.values()) for row in rows]), encoding="utf-8")
    return place


def exported(out: Path, *places: Path, **options: Any) -> ExportedLabels:
    found = export_labels(places, **options)
    out.write_text("".join(json.dumps(row) + "\n" for row in found.rows), encoding="utf-8")
    return found


def corrected(labels: Path, run: LabelledRun) -> DebiasedPrecision:
    sample = load_calibration(labels)
    known = sample.for_system("one")
    own = type(known)(known.labels, known.verdicts, known.groups, known.probabilities, [True] * len(known.labels))
    return debiased_precision(own, of_run(run.responses))


def of_run(responses: Sequence[JudgedResponse]) -> JudgedResponses:
    counts = [
        Counts(supported=one.report.counts.supported, not_supported=one.report.counts.not_supported)
        for one in responses
    ]
    return JudgedResponses(counts, [one.prompt_id for one in responses])


def drawn_from(run: LabelledRun, n: int, seed: int, **options: Any) -> NextLabels:
    return draw_claims(candidates_of(run.responses), n, data=DATA, seed=seed, **options)
