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

    def least_ratio(self, n: int) -> float:
        """Width by n labels drawn with the best probabilities over that by n at random, where all rates are known.

        Both use the rates as predictions. To the variance of such prompts, t (1 - t) / N, the best draw adds
        mean(s)^2 / n - mean(s^2) / N, and one at random mean(s^2) (1 / n - 1 / N), with s^2 = r (1 - r) by kind.
        """
        rates, shares = np.array(self.rates), np.array(self.shares)
        square, size = rates * (1.0 - rates), N_RESPONSES * A_RESPONSE
        whole, among = self.truth * (1.0 - self.truth) / size, float(shares @ square)
        best = float(shares @ np.sqrt(square)) ** 2 / n - among / size
        return float(np.sqrt((whole + best) / (whole + among * (1.0 / n - 1.0 / size))))

    def run(self, rng: np.random.Generator) -> tuple[Ints, Ints, Floats, Ints]:
        """Labels, verdicts, scores (NaN without) and responses of a run's claims."""
        n = N_RESPONSES * A_RESPONSE
        rates = np.array(self.rates)[rng.choice(len(self.rates), n, p=self.shares)]
        labels = (rng.random(n) < rates).astype(np.int64)
        scores = rates if self.has_scores else np.full(n, np.nan)
        return labels, (rates >= 0.5).astype(np.int64), scores, np.repeat(np.arange(N_RESPONSES), A_RESPONSE)


def counted(verdicts: Ints, response: Ints, scores: Floats | None = None) -> JudgedResponses:
    """A run's responses by the verdicts on their claims, and by their scores where there are any."""
    supported = np.bincount(response, verdicts, minlength=N_RESPONSES).astype(int).tolist()
    counts = [Counts(supported=n, not_supported=A_RESPONSE - n) for n in supported]
    has_scores = scores is not None and not np.isnan(scores).any()
    sums = np.bincount(response, scores, minlength=N_RESPONSES).tolist() if has_scores else None
    return JudgedResponses(counts, [str(one) for one in range(N_RESPONSES)], sums)


def scores_of(scores: Floats) -> list[float | None]:
    """Scores of claims, None for NaN."""
    return [None if np.isnan(one) else float(one) for one in scores]


def names_of(response: Ints) -> list[str]:
    """The names of responses, as `counted` has them."""
    return [str(one) for one in response.tolist()]
