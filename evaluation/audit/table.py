"""Labelled claims with the scores of evaluators, as columns: what every part of the audit reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM

Codes = NDArray[np.int32]
Scores = NDArray[np.float64]

THRESHOLD = 0.5
"""At and above which a score predicts that a claim is attributable (Godbole & Jia, section 2.1)."""


@dataclass(frozen=True)
class Column:
    """One categorical column: `names[codes[row]]` is the value of a row. `names` are sorted: see `column_of`."""

    names: tuple[str, ...]
    codes: Codes
    """Shape (n_rows,)."""


def are_known(systems: Sequence[str]) -> NDArray[np.bool_]:
    """Shape (n_systems,): False for `UNKNOWN_SYSTEM`, which holds the claims whose system was not recorded."""
    return np.array([name != UNKNOWN_SYSTEM for name in systems], np.bool_)


def column_of(values: Sequence[str]) -> Column:
    """The values as a column. Its names are sorted, so that the order of the rows shows in no result."""
    names = sorted(set(values))
    code = {name: place for place, name in enumerate(names)}
    return Column(tuple(names), np.fromiter((code[value] for value in values), np.int32, len(values)))


def responses_of(dataset: Column, system: Column, response_id: Column) -> Column:
    """A code for each response: data set, system and id together. `names` holds ids, and may hold one repeatedly."""
    cell = dataset.codes.astype(np.int64) * len(system.names) + system.codes
    keys, codes = np.unique(cell * max(len(response_id.names), 1) + response_id.codes, return_inverse=True)
    ids = keys % max(len(response_id.names), 1)
    return Column(tuple(response_id.names[place] for place in ids.tolist()), codes.astype(np.int32))


@dataclass(frozen=True)
class PredictionTable:
    """Rows are claims, each of one response of one system on one data set.

    Raises ValueError for columns of different lengths, a label that is neither 0 nor 1, and a score outside [0, 1].
    """

    dataset: Column
    system: Column
    response: Column
    """Responses are told apart by data set, system and `response_id` together: see `responses_of`."""
    label: NDArray[np.int8]
    """1 attributable, 0 not; shape (n_rows,)."""
    scores: Mapping[str, Scores]
    """Evaluator to its scores in [0, 1], shape (n_rows,); NaN where it gave none."""
    claim_ids: Sequence[str] = field(repr=False)
    task: Column | None = None
    """Task group of the data set, such as summarisation; the same in all rows of a data set."""
    prompt: Column | None = None
    """What the response answers; systems that share prompts can be compared in pairs. Told apart within a data set."""
    probability: Scores | None = None
    """(n_rows,): how likely each claim was to be drawn for labelling, in (0, 1]. None: all as likely."""
    claim_text: Sequence[str] | None = field(default=None, repr=False)
    document: Sequence[str] | None = field(default=None, repr=False)
    without_scores: Sequence[str] = ()
    """Evaluators that the rows name, and of which none has a score."""

    def __post_init__(self) -> None:
        columns = (self.dataset, self.system, self.response, self.task, self.prompt)
        texts = (self.claim_ids, self.probability, self.claim_text, self.document)
        lengths = {len(column.codes) for column in columns if column is not None}
        lengths |= {len(values) for values in (*texts, *self.scores.values()) if values is not None}
        if lengths != {self.n_rows}:
            raise ValueError("all columns have one value for each row")
        if not np.isin(self.label, (0, 1)).all():
            raise ValueError("a label is 0 or 1")
        if self.probability is not None and not ((self.probability > 0.0) & (self.probability <= 1.0)).all():
            raise ValueError("a probability is above 0 and at most 1")
        for name, scores in self.scores.items():
            if not (np.isnan(scores) | ((scores >= 0.0) & (scores <= 1.0))).all():
                raise ValueError(f"{name!r} has a score outside [0, 1]")

    @property
    def n_rows(self) -> int:
        return len(self.label)

    @cached_property
    def weight(self) -> Scores | None:
        """(n_rows,): what each claim counts, the inverse of its probability; their mean is 1. None: all the same."""
        if self.probability is None or len(np.unique(self.probability)) < 2:
            return None
        inverse = 1.0 / self.probability
        return np.asarray(inverse / inverse.mean())

    @property
    def n_effective(self) -> float | None:
        """Claims that count the same and would say as much (Kish 1965): the square of the sum of weights over the sum
        of their squares. None where all count the same."""
        return None if self.weight is None else float(self.weight.sum() ** 2 / (self.weight**2).sum())

    @cached_property
    def is_of_known_system(self) -> NDArray[np.bool_]:
        """(n_rows,): claims whose system is known. The others tell nothing of any system, and count in rates alone."""
        return np.asarray(are_known(self.system.names)[self.system.codes])

    @cached_property
    def lacks_document(self) -> NDArray[np.bool_]:
        """(n_rows,): claims whose document is blank, though the table has documents."""
        if self.document is None:
            return np.zeros(self.n_rows, np.bool_)
        return np.fromiter((not text or text.isspace() for text in self.document), np.bool_, self.n_rows)
