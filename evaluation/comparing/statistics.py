"""Paired differences of precision and F1@K between two sides that answered, or judged, the same prompts.

Prompts are what is drawn and what is turned: responses to one prompt resemble each other, and an easy prompt is easy
for both sides. Intervals are percentile bootstraps over whole prompts; p-values turn the sign of each prompt's summed
difference, which under the hypothesis of no difference is a matter of chance (Fisher 1935's paired randomisation test).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.comparing.records import Pair, PairedDifference, Quantity
from factloop.evaluation.runs.longform import value_of
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.statistics.significance import Correction, corrected, turned_signs
from factloop.evaluation.statistics.stratified_means import StratifiedMean, clustered_mean, stratified_intervals

Floats = NDArray[np.float64]

EQUAL = 1e-12
"""A difference below this is rounding."""


@dataclass(frozen=True)
class _Values:
    """One quantity of the pairs in which both sides have it."""

    quantity: Quantity
    k: int | None
    prompts: list[str]
    first: Floats
    second: Floats
    n_left_out: int

    def by_prompt(self, places: dict[str, int]) -> StratifiedMean:
        at = np.array([places[prompt] for prompt in self.prompts], dtype=np.int64)
        return clustered_mean(self.second - self.first, at, len(places))


def paired_differences(
    pairs: Sequence[Pair],
    ks: Sequence[int],
    *,
    abstention: AbstentionPolicy,
    rng: np.random.Generator,
    resamples: int,
    level: float,
) -> tuple[PairedDifference, ...]:
    """Precision, then F1 at each K. The order of the pairs changes nothing; exchanging the sides turns the signs.

    A pair in which a side has no value is left out and counted. Holm's correction is over all the differences that
    have a p-value: none but with this chance alpha is falsely called different.
    """
    ordered = sorted(pairs, key=lambda pair: (pair.first.prompt_id, pair.first.system, pair.second.system))
    places = {prompt: place for place, prompt in enumerate(sorted({pair.first.prompt_id for pair in pairs}))}
    values = [_values(ordered, Quantity.PRECISION, None, abstention)]
    values += [_values(ordered, Quantity.F1, k, abstention) for k in ks]
    sums = [one.by_prompt(places) for one in values]
    intervals = stratified_intervals(sums, rng, resamples, level)
    p_values = [
        None if not len(one.first) else turned_signs(of_prompt.sums[0], rng)
        for one, of_prompt in zip(values, sums, strict=True)
    ]
    held = iter(corrected([p for p in p_values if p is not None], Correction.HOLM))
    return tuple(
        _difference(one, of_prompt, interval, p, None if p is None else next(held))
        for one, of_prompt, interval, p in zip(values, sums, intervals, p_values, strict=True)
    )


def _values(pairs: Sequence[Pair], quantity: Quantity, k: int | None, abstention: AbstentionPolicy) -> _Values:
    both = [(value_of(pair.first, k, abstention), value_of(pair.second, k, abstention), pair) for pair in pairs]
    kept = [(one, other, pair.first.prompt_id) for one, other, pair in both if one is not None and other is not None]
    return _Values(
        quantity,
        k,
        [prompt for _, _, prompt in kept],
        np.array([one for one, _, _ in kept]),
        np.array([other for _, other, _ in kept]),
        len(pairs) - len(kept),
    )


def _difference(
    values: _Values, sums: StratifiedMean, interval: tuple[float, float] | None, p: float | None, held: float | None
) -> PairedDifference:
    apart = values.second - values.first
    low, high = interval if interval is not None else (None, None)
    return PairedDifference(
        quantity=values.quantity,
        k=values.k,
        first=_mean(values.first),
        second=_mean(values.second),
        difference=float(apart.mean()) if len(apart) else None,
        low=low,
        high=high,
        n_pairs=len(apart),
        n_prompts=sums.n_clusters,
        n_left_out=values.n_left_out,
        first_higher=int((apart < -EQUAL).sum()),
        equal=int((np.abs(apart) <= EQUAL).sum()),
        second_higher=int((apart > EQUAL).sum()),
        p=p,
        p_corrected=held,
    )


def _mean(values: Floats) -> float | None:
    return min(float(values.mean()), 1.0) if len(values) else None
