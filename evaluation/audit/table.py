"""Stores labelled claims and evaluators' scores as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.figures import Bools, Floats, Group, Ints
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM

Codes = NDArray[np.int32]
Scores = NDArray[np.float64]
Verdicts = NDArray[np.int8]
"""1 means attributable, 0 not attributable, and -1 no verdict."""

THRESHOLD = 0.5
"""A score at or above this threshold predicts that a claim is attributable (Godbole & Jia, section 2.1)."""


class Level(StrEnum):
    CLAIM = "claim"
    RESPONSE = "response"
    """A response is attributable if all of its claims are (Godbole & Jia, section 2.1)."""


@dataclass(frozen=True)
class Column:
    """A categorical column. `names` are sorted, and `names[codes[row]]` is the value in a row."""

    names: tuple[str, ...]
    codes: Codes


def are_known(systems: Sequence[str]) -> Bools:
    """Returns a mask of all systems except `UNKNOWN_SYSTEM`."""
    return np.array([name != UNKNOWN_SYSTEM for name in systems], np.bool_)


def column_of(values: Sequence[str]) -> Column:
    """Sorts the names, so that the order of the rows does not affect results."""
    names = sorted(set(values))
    code = {name: place for place, name in enumerate(names)}
    return Column(tuple(names), np.fromiter((code[value] for value in values), np.int32, len(values)))


def responses_of(dataset: Column, system: Column, response_id: Column) -> Column:
    """Encodes each response, identified by data set, system and id. `names` holds only ids, which may repeat."""
    cell = dataset.codes.astype(np.int64) * len(system.names) + system.codes
    keys, codes = np.unique(cell * max(len(response_id.names), 1) + response_id.codes, return_inverse=True)
    ids = keys % max(len(response_id.names), 1)
    return Column(tuple(response_id.names[place] for place in ids.tolist()), codes.astype(np.int32))


@dataclass(frozen=True)
class PredictionTable:
    """Each row is one claim from one response of one system on one data set."""

    dataset: Column
    system: Column
    response: Column
    label: NDArray[np.int8]
    """Shape (n_rows,): 1 means attributable, 0 not attributable."""
    scores: Mapping[str, Scores]
    """Each evaluator's scores in [0, 1], of shape (n_rows,). NaN means that the evaluator gave no score."""
    task: Column | None = None
    """Task group of the data set, such as summarisation. Each data set belongs to exactly one."""
    prompt: Column | None = None
    """The prompt that the response answers. Systems that share prompts can be compared prompt by prompt. Prompts of
    different data sets are distinct."""
    probability: Scores | None = None
    """(n_rows,): the probability in (0, 1] that each claim was drawn for labelling. None if no row gives it."""
    claim_text: Sequence[str] | None = field(default=None, repr=False)
    document: Sequence[str] | None = field(default=None, repr=False)
    without_scores: Sequence[str] = ()

    @property
    def n_rows(self) -> int:
        return len(self.label)

    @property
    def has_text(self) -> bool:
        return self.claim_text is not None and self.document is not None

    @cached_property
    def weight(self) -> Scores | None:
        """(n_rows,): the inverse of each claim's probability, scaled to a mean of 1. None means equal weights."""
        if self.probability is None or len(np.unique(self.probability)) < 2:
            return None
        inverse = 1.0 / self.probability
        return np.asarray(inverse / inverse.mean())

    @property
    def n_effective(self) -> float | None:
        """Number of equally weighted claims that would carry as much information (Kish 1965). None if weights are
        equal."""
        return None if self.weight is None else float(self.weight.sum() ** 2 / (self.weight**2).sum())

    @cached_property
    def is_of_known_system(self) -> Bools:
        """(n_rows,): False for claims of `UNKNOWN_SYSTEM`, which per-system figures exclude."""
        return np.asarray(are_known(self.system.names)[self.system.codes])

    @cached_property
    def lacks_document(self) -> Bools:
        """(n_rows,): whether the claim's document is blank although the table has documents."""
        if self.document is None:
            return np.zeros(self.n_rows, np.bool_)
        return np.fromiter((not text or text.isspace() for text in self.document), np.bool_, self.n_rows)


def rows_of(table: PredictionTable, dataset: str) -> Bools:
    """Returns a mask of the data set's rows. Raises ValueError if the table does not contain the data set."""
    if dataset not in table.dataset.names:
        raise ValueError(f"the table does not contain the data set {dataset!r}")
    return np.asarray(table.dataset.codes == table.dataset.names.index(dataset))


def scores_of(table: PredictionTable, evaluator: str) -> Scores:
    """Raises ValueError if the table does not contain the evaluator."""
    if evaluator not in table.scores:
        raise ValueError(f"the table does not contain the evaluator {evaluator!r}")
    return table.scores[evaluator]


def tasks_of(table: PredictionTable) -> tuple[str, ...] | None:
    """Returns the task group of each data set, or None if the table has no task groups. A data set without rows has the
    task group "". Raises ValueError if a data set has two task groups."""
    if table.task is None:
        return None
    n_tasks = len(table.task.names)
    found = np.unique(table.dataset.codes.astype(np.int64) * n_tasks + table.task.codes).tolist()
    tasks = {key // n_tasks: table.task.names[key % n_tasks] for key in found}
    if len(tasks) < len(found):
        raise ValueError("each data set must belong to exactly one task group")
    return tuple(tasks.get(place, "") for place in range(len(table.dataset.names)))


def pooled_groups(table: PredictionTable) -> list[tuple[Group, Bools]]:
    """Returns masks for the rows of each data set, then of each task group by name, and finally for all rows."""
    columns: list[tuple[Literal["dataset", "task"], Column]] = [("dataset", table.dataset)]
    if table.task is not None:
        columns.append(("task", table.task))
    groups = [
        (Group(kind=kind, name=name, pooled=kind == "task"), np.asarray(column.codes == code))
        for kind, column in columns
        for code, name in enumerate(column.names)
    ]
    return [*groups, (Group(kind="all", pooled=True), np.ones(table.n_rows, dtype=np.bool_))]


def numbered(codes: NDArray[np.int32] | Ints) -> tuple[NDArray[np.intp], int]:
    """Renumbers the codes from 0 without gaps, in the same order, and counts them. Faster than sorting."""
    occurs = np.bincount(codes) > 0
    return (np.cumsum(occurs) - 1)[codes], int(occurs.sum())


def any_within(flags: Bools, number: NDArray[np.intp], n_groups: int) -> Bools:
    return np.bincount(number[flags], minlength=n_groups) > 0


def clusters_of(table: PredictionTable) -> Ints:
    """Returns each row's prompt, unique across data sets, or its response if there are no prompts."""
    if table.prompt is None:
        keys = table.response.codes.astype(np.int64)
    else:
        keys = table.dataset.codes.astype(np.int64) * len(table.prompt.names) + table.prompt.codes
    return np.unique(keys, return_inverse=True)[1]


@dataclass(frozen=True)
class Cells:
    """The combinations of data set and system that have rows, sorted by name."""

    dataset: Ints
    system: Ints
    of_row: Ints


def cells_of(table: PredictionTable) -> Cells:
    n_systems = max(len(table.system.names), 1)
    keys = table.dataset.codes.astype(np.int64) * n_systems + table.system.codes
    keys, of_row = np.unique(keys, return_inverse=True)
    return Cells(keys // n_systems, keys % n_systems, of_row)


@dataclass(frozen=True)
class JudgedUnits:
    """The claims or responses of a table. A cell is one system on one data set. A cluster is the unit of resampling."""

    cell: Ints
    cluster: Ints
    label: Verdicts
    """Shape (n_units,); 0 or 1."""
    verdicts: Verdicts
    """Shape (n_evaluators, n_units)."""
    weight: Floats | None = None
    """Shape (n_units,). None means equal weights."""

    def at(self, rows: Ints) -> JudgedUnits:
        return JudgedUnits(
            self.cell[rows],
            self.cluster[rows],
            self.label[rows],
            self.verdicts[:, rows],
            None if self.weight is None else self.weight[rows],
        )


def judged_claims(table: PredictionTable, cells: Cells, threshold: float = THRESHOLD) -> JudgedUnits:
    verdicts = np.empty((len(table.scores), table.n_rows), np.int8)
    for place, scores in enumerate(table.scores.values()):
        verdicts[place] = np.where(np.isnan(scores), -1, scores >= threshold)
    return JudgedUnits(cells.of_row, clusters_of(table), table.label, verdicts, table.weight)


def judged_responses(table: PredictionTable, claims: JudgedUnits) -> JudgedUnits:
    """Returns verdicts on responses. A response is attributable if all of its claims are (Godbole & Jia, section 2.1).

    An evaluator that left a claim unscored has no verdict on the response, even if it rejects another claim. Otherwise,
    missing scores would raise the evaluator's error rate. All responses have the same weight, even if their claims do
    not. Raises ValueError if a response has two prompts or belongs to two systems or data sets.
    """
    _, first, of_row = np.unique(table.response.codes, return_index=True, return_inverse=True)
    if (claims.cluster[first][of_row] != claims.cluster).any() or (claims.cell[first][of_row] != claims.cell).any():
        raise ValueError("each response must belong to exactly one system and one prompt")

    def over_claims(verdicts: Verdicts) -> Verdicts:
        is_open, is_wrong = (any_within(verdicts == kind, of_row, len(first)) for kind in (-1, 0))
        return np.where(is_open, -1, ~is_wrong).astype(np.int8)

    verdicts = np.empty((len(claims.verdicts), len(first)), np.int8)
    for place, of_claims in enumerate(claims.verdicts):
        verdicts[place] = over_claims(of_claims)
    return JudgedUnits(claims.cell[first], claims.cluster[first], over_claims(claims.label), verdicts)
