"""The units that a level of the audit counts: claims or responses, each wrong or not by label and by prediction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.table import THRESHOLD, Codes, Column, PredictionTable, Scores

Bools = NDArray[np.bool_]


class Level(StrEnum):
    CLAIM = "claim"
    RESPONSE = "response"
    """A response is attributable if all of its claims are (Godbole & Jia, section 2.1)."""


@dataclass(frozen=True)
class Units:
    """Claims or responses of one data set, those that the evaluator scored; arrays of shape (n_units,)."""

    system: Codes
    prompt: Codes | None
    cluster: Codes
    """The prompt, or the response where there are no prompts: its claims resemble each other."""
    is_error: Bools
    """Not attributable by label."""
    is_flagged: Bools
    """Predicted not attributable by the evaluator."""
    n_left_out: int
    """Claims without a score, or responses with such a claim: whether all their claims hold is not known."""


def rows_of(table: PredictionTable, dataset: str) -> Bools:
    """Marks the rows of the data set. Raises ValueError for one that the table lacks."""
    if dataset not in table.dataset.names:
        raise ValueError(f"the table has no data set {dataset!r}")
    return np.asarray(table.dataset.codes == table.dataset.names.index(dataset))


def scores_of(table: PredictionTable, evaluator: str) -> Scores:
    """The evaluator's column. Raises ValueError for an evaluator that the table lacks."""
    if evaluator not in table.scores:
        raise ValueError(f"the table has no evaluator {evaluator!r}")
    return table.scores[evaluator]


def pooled_groups(table: PredictionTable) -> list[tuple[Group, Bools]]:
    """The rows of each data set, then of each task group by name, then all: what is taken over claims, not averaged."""
    columns: list[tuple[Literal["dataset", "task"], Column]] = [("dataset", table.dataset)]
    if table.task is not None:
        columns.append(("task", table.task))
    groups = [
        (Group(kind=kind, name=name, pooled=kind == "task"), np.asarray(column.codes == code))
        for kind, column in columns
        for code, name in enumerate(column.names)
    ]
    return [*groups, (Group(kind="all", pooled=True), np.ones(table.n_rows, dtype=np.bool_))]


def units_of(
    table: PredictionTable, evaluator: str, dataset: str, level: Level, *, threshold: float = THRESHOLD
) -> Units:
    """The scored claims or responses of the known systems of a data set, in the order of the table."""
    scores, rows = scores_of(table, evaluator), rows_of(table, dataset) & table.is_of_known_system
    claims = Units(
        table.system.codes[rows],
        None if table.prompt is None else table.prompt.codes[rows],
        (table.response if table.prompt is None else table.prompt).codes[rows],
        table.label[rows] == 0,
        scores[rows] < threshold,
        0,
    )
    is_scored = ~np.isnan(scores[rows])
    return _keep(claims, is_scored) if level is Level.CLAIM else _join(claims, is_scored, table.response.codes[rows])


def numbered(codes: Codes) -> tuple[NDArray[np.intp], int]:
    """The codes renumbered from 0 without gaps, in their order, and how many differ; faster than sorting."""
    occurs = np.bincount(codes) > 0
    return (np.cumsum(occurs) - 1)[codes], int(occurs.sum())


def _keep(units: Units, kept: Bools) -> Units:
    return Units(
        units.system[kept],
        None if units.prompt is None else units.prompt[kept],
        units.cluster[kept],
        units.is_error[kept],
        units.is_flagged[kept],
        int((~kept).sum()),
    )


def _join(claims: Units, is_scored: Bools, response: Codes) -> Units:
    number, n_responses = numbered(response)
    first = np.zeros(n_responses, dtype=np.intp)
    first[number[::-1]] = np.arange(len(number))[::-1]  # the last to be written is the first row
    whole = Units(
        claims.system[first],
        None if claims.prompt is None else claims.prompt[first],
        claims.cluster[first],
        _any_within(claims.is_error, number, n_responses),
        _any_within(claims.is_flagged, number, n_responses),
        0,
    )
    return _keep(whole, ~_any_within(~is_scored, number, n_responses))


def _any_within(flags: Bools, number: NDArray[np.intp], n_groups: int) -> Bools:
    return np.bincount(number[flags], minlength=n_groups) > 0
