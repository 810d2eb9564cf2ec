"""F1@K over a run of long answers (Wei et al. 2024, arXiv 2403.18802, section 5), with intervals clustered by prompt.

For one answer: precision = S / (S + N), recall@K = min(S / K, 1), and F1@K is their harmonic mean, 0 if S = 0; in [0,
1], higher is better. Irrelevant claims affect neither. For a run: the mean over answers.

Departures from the released code: answers without any claims (abstentions) count as 0, as there, only under the policy
`zero`; an answer with unscored claims and none that is supported or not supported is left out and counted separately,
because nothing is known about it; a mean over no answers is None, not 0.

A new figure is a field of `SystemScore`, or of `ScoreAtK` if there is one for each K, with its name in `Quantity`, and
a `Measure`. Scores, terminal, page, downloadable table and `factloop research compare` all iterate over the measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from factloop.core.factuality import f1_at_k, is_unknown, precision, recall_at_k
from factloop.core.figure import Figure, Undefined, ends
from factloop.core.records import Count, Counts, Record, Share

if TYPE_CHECKING:
    import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
FEWEST_PROMPTS = 30
"""With fewer, percentile intervals are too narrow: for five simulated prompts, 95% intervals covered 83% of means."""
CURVE_POINTS = 50
ROUNDING = 1e-12
"""Smaller relative differences are rounding and do not determine an order."""


K = Annotated[int, Field(ge=1)]


class AbstentionPolicy(StrEnum):
    """How an answer without claims counts."""

    ZERO = "zero"
    """As an F1@K of 0, as in the paper's code."""
    EXCLUDE = "exclude"
    """Left out of all means and counted separately."""


class KRule(StrEnum):
    """A rule for choosing K."""

    GIVEN = "given"
    MEDIAN = "median"
    """The median of supported claims over the run's answers, rounded up, at least 1."""
    MAXIMUM = "maximum"
    """The maximum of supported claims, at least 1."""


class Quantity(StrEnum):
    """A quantity measured on answers; each is a field of `SystemScore` or `ScoreAtK`, declared in `measures`."""

    PRECISION = "precision"
    F1 = "f1"
    RECALL = "recall"


class CountedResponse(Record):
    """An answer by one system to one prompt."""

    system: str
    prompt_id: str
    counts: Counts

    @property
    def abstained(self) -> bool:
        """Whether it makes no claims at all. Irrelevant claims count, so such an answer has F1@K 0."""
        return self.counts.total == 0

    @property
    def unscored(self) -> bool:
        """Whether nothing is known about it: it has unscored claims, and none that is supported or not supported."""
        return is_unknown(self.counts)


class ChosenK(Record):
    k: K
    rule: KRule


class PromptFigure(Figure):
    """A figure over answers or their claims, with a percentile bootstrap interval over prompts."""

    low: float | None = None
    high: float | None = None
    """None without a generator, with fewer than two prompts (of each class, for balanced accuracy), and if all
    resamples are the same, as for a rate of 0 or 1, since a lack of variation does not mean certainty."""
    n_prompts: Count
    """Number of prompts that the items come from."""


class Mean(PromptFigure):
    """A mean over answers; undefined if none has a value."""

    value: Share | None
    n: Count
    """Number of answers that it is based on."""


class ScoreAtK(Record):
    k: K
    f1: Mean
    recall: Mean


class SystemScore(Record):
    system: str
    n_responses: Count
    n_abstained: Count
    n_unscored_responses: Count
    """Number of answers without a verdict on any claim; they are excluded from all means."""
    counts: Counts
    """Counts over the claims of all its answers, including irrelevant and unscored ones."""
    precision: Mean
    """Over answers with a claim that is supported or not supported; abstentions have no precision."""
    at_k: tuple[ScoreAtK, ...]


class Ranking(Record):
    """The systems at one K, best first; systems without a value are left out."""

    k: K
    systems: tuple[str, ...]
    ranks: Mapping[str, Annotated[float, Field(ge=1.0)]]
    """Ranks, starting at 1; systems with equal F1@K share the mean of their ranks."""


class LongFormScores(Record):
    """F1@K of each system in a run, by name, with everything that the figures are based on."""

    abstention: AbstentionPolicy
    ks: tuple[ChosenK, ...]
    systems: tuple[SystemScore, ...]
    rankings: tuple[Ranking, ...]
    level: Annotated[float, Field(gt=0.0, lt=1.0)]
    n_resamples: Count


class CurvePoint(Record):
    k: K
    f1: Mapping[str, Share | None]
    """Maps systems to their mean F1@K."""


@dataclass(frozen=True)
class Measure:
    """A mean over a system's answers."""

    quantity: Quantity
    words: str
    of: Callable[[Counts, int], float | None]
    """The value of an answer, given its claims and K; None if it has none."""
    at_k: bool = True
    """Whether there is a value for each K."""
    leads: bool = False
    """Whether it is shown on the terminal, at the top of the page and next to the figures by human labels."""
    is_compared: bool = False
    """Whether `factloop research compare` tests it."""

    def heading(self, k: int | None) -> str:
        """`F1@64`, `Precision`."""
        return f"{self.words}@{k}" if self.at_k else self.words

    def value(self, response: CountedResponse, k: int | None, abstention: AbstentionPolicy) -> float | None:
        """The value of an answer; None if it has none or does not count. `k` is only used for measures at K."""
        return self.of(response.counts, k or 1) if is_rated(response, abstention) else None


F1 = Measure(Quantity.F1, "F1", f1_at_k, leads=True, is_compared=True)
PRECISION = Measure(
    Quantity.PRECISION, "Precision", lambda counts, _: precision(counts), at_k=False, leads=True, is_compared=True
)
"""Precision, over answers with a claim that is supported or not supported."""
MEASURES = (F1, PRECISION, Measure(Quantity.RECALL, "Recall", recall_at_k))
"""All measures, in display order."""


def is_rated(response: CountedResponse, abstention: AbstentionPolicy) -> bool:
    """Whether an answer counts in means, which depends on the policy for abstentions; an answer about which nothing is
    known does not count."""
    if response.abstained:
        return abstention is AbstentionPolicy.ZERO
    return not response.unscored


def figures_of(system: SystemScore) -> Iterator[tuple[Measure, int | None, Mean]]:
    """The means for a system: each measure, its K if it has one, and its mean."""
    for measure in MEASURES:
        if measure.at_k:
            yield from ((measure, at.k, getattr(at, measure.quantity)) for at in system.at_k)
        else:
            yield measure, None, getattr(system, measure.quantity)


def score_long_form(
    responses: Iterable[CountedResponse],
    ks: Sequence[int | Literal["median", "maximum"]],
    *,
    abstention: AbstentionPolicy,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> LongFormScores:
    """Means over each system's answers at each K; without `rng`, there are no intervals.

    The same prompts are drawn for all systems. The order of the responses has no effect. Raises ValueError for a K
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
    """The Ks as distinct numbers. Raises ValueError for a K below 1."""
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
    """Mean F1@K of each system against K: at `ks`, otherwise from 1 to the maximum, denser for small K."""
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
    """Up to `CURVE_POINTS` integers from 1 to `highest`, evenly spaced on a logarithmic scale."""
    if highest <= CURVE_POINTS:
        return list(range(1, highest + 1))
    steps = (round(highest ** (step / (CURVE_POINTS - 1))) for step in range(CURVE_POINTS))
    return sorted({*steps, highest})


def _refuse_second_answers(responses: Sequence[CountedResponse]) -> None:
    for one, other in pairwise(responses):
        if (one.system, one.prompt_id) == (other.system, other.prompt_id):
            raise ValueError(f"{one.system!r} answers the prompt {one.prompt_id!r} twice")


_Sample = list[tuple[str, float]]
"""Prompt and value of each answer that has a value."""
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
        import numpy as np

        from factloop.evaluation.statistics.stratified_means import clustered_mean, stratified_intervals

        prompts = sorted({prompt for sample in samples.values() for prompt, _ in sample})
        number_of = {prompt: number for number, prompt in enumerate(prompts)}
        means = [
            clustered_mean(
                np.array([value for _, value in sample], dtype=np.float64),
                np.array([number_of[prompt] for prompt, _ in sample], dtype=np.int64),
                len(number_of),
            )
            for sample in samples.values()
        ]
        intervals = stratified_intervals(means, rng, resamples, level)
    return {
        place: _mean(sample, interval) for (place, sample), interval in zip(samples.items(), intervals, strict=True)
    }


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
        counts=Counts.sum_of(response.counts for response in responses),
        at_k=tuple(ScoreAtK(k=choice.k, **at(choice.k)) for choice in ks),
        **at(None),
    )


def _ranking(place: int, k: int, systems: Sequence[SystemScore]) -> Ranking:
    scores = {system.system: system.at_k[place].f1.value for system in systems}
    valued = {name: value for name, value in scores.items() if value is not None}
    ranks = {name: _rank(value, list(valued.values())) for name, value in valued.items()}
    return Ranking(k=k, systems=tuple(sorted(valued, key=lambda name: (ranks[name], name))), ranks=ranks)


def _rank(value: float, values: Sequence[float]) -> float:
    """The rank, with 1 for the highest; values equal up to rounding share the mean of their ranks."""
    equal = sum(math.isclose(value, other, rel_tol=ROUNDING) for other in values)
    better = sum(other > value and not math.isclose(value, other, rel_tol=ROUNDING) for other in values)
    return better + (equal + 1) / 2
