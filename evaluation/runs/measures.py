"""The figures of a run over long answers, each declared once: field, words, value of one answer, where it is shown.

A new one is a field of `SystemScore`, or of `ScoreAtK` where there is one for each K, with its name in `Quantity`, and
a measure here. Scores, terminal, page, table to download and `factloop compare` go over these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from factloop.core.factuality import f1_at_k, precision, recall_at_k
from factloop.core.records import Counts
from factloop.evaluation.runs.longform_records import AbstentionPolicy, CountedResponse, Mean, Quantity, SystemScore


@dataclass(frozen=True)
class Measure:
    """A mean over a system's answers."""

    quantity: Quantity
    words: str
    of: Callable[[Counts, int], float | None]
    """The value of one answer by its claims and K; None where it has none."""
    at_k: bool = True
    """Whether it has a value for each K."""
    leads: bool = False
    """Whether it is on the terminal, at the head of the page and beside people's labels; the page's table has all."""
    is_compared: bool = False
    """Whether `factloop compare` tests it."""

    def heading(self, k: int | None) -> str:
        """`F1@64`, `Precision`."""
        return f"{self.words}@{k}" if self.at_k else self.words

    def value(self, response: CountedResponse, k: int | None, abstention: AbstentionPolicy) -> float | None:
        """The value of one answer; None where it has none, and where it does not count. `k` is not read but at K."""
        return self.of(response.counts, k or 1) if is_rated(response, abstention) else None


F1 = Measure(Quantity.F1, "F1", f1_at_k, leads=True, is_compared=True)
PRECISION = Measure(
    Quantity.PRECISION, "Precision", lambda counts, _: precision(counts), at_k=False, leads=True, is_compared=True
)
"""Precision, over answers with a claim that is supported or not supported."""
MEASURES = (F1, PRECISION, Measure(Quantity.RECALL, "Recall", recall_at_k))
"""All measures, in the order in which they are shown."""
BY_QUANTITY = {measure.quantity: measure for measure in MEASURES}


def is_rated(response: CountedResponse, abstention: AbstentionPolicy) -> bool:
    """Whether an answer counts in means: one without a verdict on any claim that counts never does."""
    if response.abstained:
        return abstention is AbstentionPolicy.ZERO
    return not response.unscored


def figures_of(system: SystemScore) -> Iterator[tuple[Measure, int | None, Mean]]:
    """The means of a system: each measure, with its K if it has one, and its mean."""
    for measure in MEASURES:
        if measure.at_k:
            yield from ((measure, at.k, getattr(at, measure.quantity)) for at in system.at_k)
        else:
            yield measure, None, getattr(system, measure.quantity)
