"""The claims and the responses of a whole table, each with its label and a verdict of each evaluator, as codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.table import THRESHOLD, PredictionTable
from factloop.evaluation.audit.units import Level

Verdicts = NDArray[np.int8]
"""1 attributable, 0 not, -1 no verdict."""
Weights = NDArray[np.float64]
Places = NDArray[np.int64]
Thresholds = float | Mapping[str, float]
"""One threshold for all evaluators, or one for each; 0.5 for those that it does not name."""


@dataclass(frozen=True)
class JudgedUnits:
    """Claims or responses. A cell is one system on one data set; a cluster is what a resample draws."""

    level: Level
    cell: Places
    cluster: Places
    label: Verdicts
    """Shape (n_units,); 0 or 1."""
    verdicts: Verdicts
    """Shape (n_evaluators, n_units)."""
    weight: Weights | None = None
    """(n_units,): what each counts. None: all the same."""

    def at(self, rows: Places) -> JudgedUnits:
        return JudgedUnits(
            self.level,
            self.cell[rows],
            self.cluster[rows],
            self.label[rows],
            self.verdicts[:, rows],
            None if self.weight is None else self.weight[rows],
        )


@dataclass(frozen=True)
class Cells:
    """The pairs of data set and system that have rows, in the order of their names."""

    dataset: Places
    """Shape (n_cells,)."""
    system: Places
    of_row: Places
    """Shape (n_rows,)."""


def cells_of(table: PredictionTable) -> Cells:
    n_systems = max(len(table.system.names), 1)
    keys = table.dataset.codes.astype(np.int64) * n_systems + table.system.codes
    keys, of_row = np.unique(keys, return_inverse=True)
    return Cells(keys // n_systems, keys % n_systems, of_row)


def clusters_of(table: PredictionTable) -> Places:
    """(n_rows,): the prompt of each row, told apart within its data set, or its response where there are no prompts."""
    if table.prompt is None:
        keys = table.response.codes.astype(np.int64)
    else:
        keys = table.dataset.codes.astype(np.int64) * len(table.prompt.names) + table.prompt.codes
    return np.unique(keys, return_inverse=True)[1]


def threshold_of(evaluator: str, threshold: Thresholds) -> float:
    return threshold.get(evaluator, THRESHOLD) if isinstance(threshold, Mapping) else threshold


def judged_claims(table: PredictionTable, cells: Cells, threshold: Thresholds = THRESHOLD) -> JudgedUnits:
    """The claims of the table; a score at or above the threshold predicts that a claim is attributable."""
    verdicts = np.empty((len(table.scores), table.n_rows), np.int8)
    for place, (name, scores) in enumerate(table.scores.items()):
        verdicts[place] = np.where(np.isnan(scores), -1, scores >= threshold_of(name, threshold))
    return JudgedUnits(Level.CLAIM, cells.of_row, clusters_of(table), table.label, verdicts, table.weight)


def judged_responses(table: PredictionTable, claims: JudgedUnits) -> JudgedUnits:
    """The responses of the table: one is attributable if all its claims are (Godbole & Jia, section 2.1).

    An evaluator that gave no score to one of its claims has no verdict of the response, even where it predicts that
    another is unattributable: otherwise missing scores would raise its error rate. Each counts the same, also where
    claims were drawn with probabilities of their own, as a response is drawn with another. Raises ValueError for a
    response with two prompts, and for one of two systems or data sets.
    """
    _, first, of_row = np.unique(table.response.codes, return_index=True, return_inverse=True)
    if (claims.cluster[first][of_row] != claims.cluster).any() or (claims.cell[first][of_row] != claims.cell).any():
        raise ValueError("a response is that of one system to one prompt")

    def is_any(holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(of_row[holds], minlength=len(first)) > 0

    def over_claims(verdicts: Verdicts) -> Verdicts:
        return np.where(is_any(verdicts == -1), -1, ~is_any(verdicts == 0)).astype(np.int8)

    verdicts = np.empty((len(claims.verdicts), len(first)), np.int8)
    for place, of_claims in enumerate(claims.verdicts):
        verdicts[place] = over_claims(of_claims)
    return JudgedUnits(Level.RESPONSE, claims.cell[first], claims.cluster[first], over_claims(claims.label), verdicts)
