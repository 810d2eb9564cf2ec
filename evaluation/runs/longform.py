"""F1@K over a run of long answers (Wei et al. 2024, arXiv 2403.18802, section 5), with intervals clustered by prompt.

Of one answer: precision = S / (S + N), recall@K = min(S / K, 1), F1@K their harmonic mean, 0 where S = 0; in [0, 1],
higher is better. Irrelevant claims enter neither. Of a run: the mean over answers.

Departures from the released code: answers without any claim (abstentions) are counted as 0, as there, only under the
policy `zero`; an answer with unscored claims and none that is supported or not is left out and counted, as nothing is
known of it; a mean of no answer is None, not 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Literal

from factloop.core.figure import Undefined, ends
from factloop.core.records import Counts
from factloop.evaluation.runs.longform_records import (
    AbstentionPolicy,
    ChosenK,
    CountedResponse,
    CurvePoint,
    KRule,
    LongFormScores,
    Mean,
    Quantity,
    Ranking,
    ScoreAtK,
    SystemScore,
)
from factloop.evaluation.runs.measures import MEASURES, Measure, is_rated

if TYPE_CHECKING:
    import numpy as np

    from factloop.evaluation.statistics.stratified_means import StratifiedMean

RESAMPLES = 2000
LEVEL = 0.95
FEWEST_PROMPTS = 30
"""With fewer, percentile intervals are too narrow: of five simulated prompts those at 95 % held 83 % of true means."""
CURVE_POINTS = 50
ROUNDING = 1e-12
"""A difference below this share is rounding, and no order."""


def score_long_form(
    responses: Iterable[CountedResponse],
    ks: Sequence[int | Literal["median", "maximum"]],
    *,
    abstention: AbstentionPolicy,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> LongFormScores:
    """Means over each system's answers at each K; without `rng` there are no intervals.

    The same prompts are drawn for all systems. The order of the responses changes nothing. Raises ValueError for a K
    below 1 and for a system that answers a prompt twice.
    """
    given = sorted(responses, key=lambda response: (response.system, response.prompt_id))
    _refuse_second_answers(given)
    chosen = choose_ks((one for one in given if is_rated(one, abstention)), ks)
    names = sorted({response.system for response in given})
    of_system = {name: [response for response in given if response.system == name] for name in names}
    samples = {
        (name, measure.quantity, k): _sample(of_system[name], measure, k, abstention)
        for name in names
        for measure in MEASURES
        for k in ([choice.k for choice in chosen] if measure.at_k else [None])
    }
    means = _means(samples, rng, resamples, level)
    systems = tuple(_system_score(name, of_system[name], chosen, means) for name in names)
    return LongFormScores(
        abstention=abstention,
        ks=chosen,
        systems=systems,
        rankings=tuple(_ranking(place, choice.k, systems) for place, choice in enumerate(chosen)),
        level=level,
        n_resamples=resamples if rng is not None else 0,
    )


def choose_ks(
    responses: Iterable[CountedResponse], ks: Sequence[int | Literal["median", "maximum"]]
) -> tuple[ChosenK, ...]:
    """The Ks as numbers, each once. Raises ValueError for one below 1."""
    supported = [response.counts.supported for response in responses]
    found: dict[int, ChosenK] = {}
    for k in ks:
        if k == "median":
            choice = ChosenK(k=max(1, math.ceil(median(supported or [0]))), rule=KRule.MEDIAN)
        elif k == "maximum":
            choice = ChosenK(k=max(1, *supported, 1), rule=KRule.MAXIMUM)
        elif isinstance(k, int) and k >= 1:
            choice = ChosenK(k=k, rule=KRule.GIVEN)
        else:
            raise ValueError("K is a whole number from 1, 'median' or 'maximum'")
        found.setdefault(choice.k, choice)
    return tuple(found.values())


def f1_curve(
    responses: Iterable[CountedResponse], *, abstention: AbstentionPolicy, ks: Sequence[int] | None = None
) -> tuple[CurvePoint, ...]:
    """Mean F1@K of each system against K: at `ks`, else from 1 to the maximum, denser where K is small."""
    given = list(responses)
    if ks is None:
        (highest,) = choose_ks((one for one in given if is_rated(one, abstention)), ["maximum"])
        ks = _spread(highest.k)
    scores = score_long_form(given, ks, abstention=abstention)
    return tuple(
        CurvePoint(k=choice.k, f1={system.system: system.at_k[place].f1.value for system in scores.systems})
        for place, choice in enumerate(scores.ks)
    )


def _spread(highest: int) -> list[int]:
    """Up to `CURVE_POINTS` whole numbers from 1 to `highest`, evenly apart on a logarithmic scale."""
    if highest <= CURVE_POINTS:
        return list(range(1, highest + 1))
    steps = (round(highest ** (step / (CURVE_POINTS - 1))) for step in range(CURVE_POINTS))
    return sorted({*steps, highest})


def _refuse_second_answers(responses: Sequence[CountedResponse]) -> None:
    for one, other in pairwise(responses):
        if (one.system, one.prompt_id) == (other.system, other.prompt_id):
            raise ValueError(f"{one.system!r} answers the prompt {one.prompt_id!r} twice")


_Sample = list[tuple[str, float]]
"""Prompt and value of each answer that has one."""
_Place = tuple[str, Quantity, int | None]
"""System, quantity and K of a mean."""


def _sample(
    responses: Sequence[CountedResponse], measure: Measure, k: int | None, abstention: AbstentionPolicy
) -> _Sample:
    values = ((one.prompt_id, measure.value(one, k, abstention)) for one in responses)
    return [(prompt, value) for prompt, value in values if value is not None]


def _means(
    samples: Mapping[_Place, _Sample], rng: np.random.Generator | None, resamples: int, level: float
) -> dict[_Place, Mean]:
    intervals: list[tuple[float, float] | None] = [None] * len(samples)
    if rng is not None:
        from factloop.evaluation.statistics.stratified_means import stratified_intervals

        prompts = sorted({prompt for sample in samples.values() for prompt, _ in sample})
        number_of = {prompt: number for number, prompt in enumerate(prompts)}
        by_prompt = [_by_prompt(sample, number_of) for sample in samples.values()]
        intervals = stratified_intervals(by_prompt, rng, resamples, level)
    return {
        place: _mean(sample, interval) for (place, sample), interval in zip(samples.items(), intervals, strict=True)
    }


def _by_prompt(sample: _Sample, number_of: Mapping[str, int]) -> StratifiedMean:
    import numpy as np

    from factloop.evaluation.statistics.stratified_means import clustered_mean

    numbers = np.array([number_of[prompt] for prompt, _ in sample], dtype=np.int64)
    return clustered_mean(np.array([value for _, value in sample], dtype=np.float64), numbers, len(number_of))


def _mean(sample: _Sample, interval: tuple[float, float] | None) -> Mean:
    n_prompts = len({prompt for prompt, _ in sample})
    if not sample:
        return Mean(value=None, undefined=Undefined.NOTHING_SCORED, n=0, n_prompts=0)
    value = math.fsum(value for _, value in sample) / len(sample)
    return Mean(value=value, **ends(interval), n=len(sample), n_prompts=n_prompts)


def _system_score(
    name: str, responses: Sequence[CountedResponse], ks: Sequence[ChosenK], means: Mapping[_Place, Mean]
) -> SystemScore:
    def at(k: int | None) -> dict[str, Mean]:
        return {one.quantity.value: means[name, one.quantity, k] for one in MEASURES if one.at_k == (k is not None)}

    return SystemScore(
        system=name,
        n_responses=len(responses),
        n_abstained=sum(response.abstained for response in responses),
        n_unscored_responses=sum(response.unscored for response in responses),
        counts=_total(responses),
        at_k=tuple(ScoreAtK(k=choice.k, **at(choice.k)) for choice in ks),
        **at(None),
    )


def _total(responses: Sequence[CountedResponse]) -> Counts:
    return Counts.sum_of(response.counts for response in responses)


def _ranking(place: int, k: int, systems: Sequence[SystemScore]) -> Ranking:
    scores = {system.system: system.at_k[place].f1.value for system in systems}
    valued = {name: value for name, value in scores.items() if value is not None}
    ranks = {name: _rank(value, list(valued.values())) for name, value in valued.items()}
    return Ranking(k=k, systems=tuple(sorted(valued, key=lambda name: (ranks[name], name))), ranks=ranks)


def _rank(value: float, values: Sequence[float]) -> float:
    """The rank, from 1 for the highest; those equal but for rounding share the mean of their ranks."""
    equal = sum(math.isclose(value, other, rel_tol=ROUNDING) for other in values)
    better = sum(other > value and not math.isclose(value, other, rel_tol=ROUNDING) for other in values)
    return better + (equal + 1) / 2
