"""Kinds of claims and a judge that knows more or less of each, for simulations of labels chosen by its verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.core.records import Counts
from factloop.evaluation.debiasing.samples import JudgedResponses

N_RESPONSES, A_RESPONSE = 200, 10

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class JudgeWorld:
    """Kinds of claims, each with how often such a claim is supported, and its share of all."""

    name: str
    rates: tuple[float, ...]
    """The judge calls a kind supported whose rate is 0.5 or more."""
    shares: tuple[float, ...]
    has_scores: bool = True
    """Whether the judge says the rates as its scores; otherwise it gives verdicts alone."""

    @property
    def truth(self) -> float:
        return float(np.dot(self.rates, self.shares))

    def run(self, rng: np.random.Generator) -> tuple[Ints, Ints, Floats, Ints]:
        """Labels, verdicts, scores (NaN without) and responses of a run's claims."""
        n = N_RESPONSES * A_RESPONSE
        rates = np.array(self.rates)[rng.choice(len(self.rates), n, p=self.shares)]
        labels = (rng.random(n) < rates).astype(np.int64)
        scores = rates if self.has_scores else np.full(n, np.nan)
        return labels, (rates >= 0.5).astype(np.int64), scores, np.repeat(np.arange(N_RESPONSES), A_RESPONSE)


def counted(verdicts: Ints, response: Ints) -> JudgedResponses:
    """A run's responses by the verdicts on their claims."""
    supported = np.bincount(response, verdicts, minlength=N_RESPONSES).astype(int).tolist()
    counts = [Counts(supported=n, not_supported=A_RESPONSE - n) for n in supported]
    return JudgedResponses(counts, [str(one) for one in range(N_RESPONSES)])


def names_of(response: Ints) -> list[str]:
    """The names of responses, as `counted` has them."""
    return [str(one) for one in response.tolist()]
