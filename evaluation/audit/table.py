"""Labelled claims with the scores of evaluators, as columns: what every part of the audit reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Scores = NDArray[np.float64]

THRESHOLD = 0.5
"""At and above which a score predicts that a claim is attributable (Godbole & Jia, section 2.1)."""


@dataclass(frozen=True)
class Column:
    """One categorical column: `names[codes[row]]` is the value of a row."""

    names: tuple[str, ...]
    codes: Codes
    """Shape (n_rows,)."""


@dataclass(frozen=True)
class PredictionTable:
    """Rows are claims, each of one response of one system on one data set."""

    dataset: Column
    system: Column
    response: Column
    """Responses are told apart by data set, system and `response_id` together."""
    label: NDArray[np.int8]
    """1 attributable, 0 not; shape (n_rows,)."""
    scores: Mapping[str, Scores]
    """Evaluator to its scores in [0, 1], shape (n_rows,); NaN where it gave none."""
    claim_ids: Sequence[str] = field(repr=False)
    task: Column | None = None
    """Task group of the data set, such as summarisation."""
    prompt: Column | None = None
    """What the response answers; systems that share prompts can be compared in pairs."""
    claim_text: Sequence[str] | None = field(default=None, repr=False)
    document: Sequence[str] | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        return len(self.label)
