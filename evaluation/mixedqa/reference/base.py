"""The interface of reference-based metrics: one score for each candidate, or None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Scores = list[float | None]
"""One for each candidate, higher is better. `evaluation.statistics.correlation` leaves None out and counts it."""
Texts = Sequence[str | None]
LONGEST = 512
"""Tokens that a metric reads of a text, where its model says nothing less."""


class ReferenceMetric(Protocol):
    """A measure of answers against right answers, or against their question or evidence (MixedQA's Table 1)."""

    @property
    def name(self) -> str:
        """The name as tables write it, with what tells its variants apart."""
        ...

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        """A score for each candidate; None where what it is compared with is missing or has no word in it.

        `references` holds the right answers to each question, best first; `evidence` a text for each candidate. A
        metric reads what it needs and passes over the rest. Raises ValueError where the lengths differ.
        """
        ...


def check_lengths(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    questions: Texts | None = None,
    evidence: Texts | None = None,
) -> None:
    """Raises ValueError where something is given for another number of candidates, or a text stands for a list."""
    for name, given in (("references", references), ("questions", questions), ("evidence", evidence)):
        if given is not None and len(given) != len(candidates):
            raise ValueError(f"{len(candidates)} candidates, but {len(given)} {name}")
    if any(isinstance(group, str) for group in references):
        raise ValueError("the references of a candidate are a list of texts, not one text")
