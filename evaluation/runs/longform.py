"""F1@K for a run of long answers (Wei et al. 2024, arXiv 2403.18802, section 5), with intervals over prompts.

For an answer with S supported and N not supported claims, precision = S / (S + N) and recall@K = min(S / K, 1). F1@K is
their harmonic mean, or 0 if S = 0. It lies in [0, 1], and higher is better. Irrelevant claims are ignored. A run's
score is the mean over its answers.

Departures from the released code: an answer without claims (an abstention) scores 0 only under the `zero` policy. An
answer with unscored claims, but none judged supported or not supported, is left out and counted separately. The mean of
no answers is None, not 0.

An answer is fully supported if all its claims are (Godbole & Jia, section 2.1), ignoring irrelevant ones. It is left
out if the outcome depends on an unscored claim, or if it has no claims to support. FACTS Grounding (Jacovi et al. 2025,
arXiv 2501.03200) ranks models by the fraction of answers that are both eligible and fully supported. There, an
ineligible answer scores 0. An eligible answer without claims scores 1, unless abstentions are excluded. Both fractions
have Wilson intervals, because a system answers each prompt once.

To add a figure, add a `Measure` and a field to `SystemScore`, or to `ScoreAtK` if it depends on K. All outputs iterate
over the measures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import NormalDist, fmean, median
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
"""With fewer prompts, percentile intervals are too narrow: with five prompts, 95% intervals covered 83% of means."""
CURVE_POINTS = 50
ROUNDING = 1e-12
"""Smaller relative differences are rounding errors and do not affect ranks."""


K = Annotated[int, Field(ge=1)]


class AbstentionPolicy(StrEnum):
    """How to count an answer without claims."""

    ZERO = "zero"
    """It scores 0, as in the paper's code."""
    EXCLUDE = "exclude"
    """It is left out of all means and counted separately."""


class KRule(StrEnum):
    GIVEN = "given"
    MEDIAN = "median"
    """The median number of supported claims per answer, rounded up, at least 1."""
    MAXIMUM = "maximum"
    """The maximum number of supported claims per answer, at least 1."""


class CountedResponse(Record):
    system: str
    prompt_id: str
    counts: Counts
    eligible: bool | None = None
    """Whether the answer does what the prompt asks. None if unknown."""

    @property
    def as_counted(self) -> Counts:
        """The counts used for precision, recall and F1@K. In an ineligible answer, no claim counts as supported."""
        changes = {"supported": 0, "not_supported": self.counts.scored} if self.eligible is False else {}
        return self.counts.model_copy(update=changes)

    @property
    def abstained(self) -> bool:
        """Whether the answer makes no claims. An answer with only irrelevant claims is not an abstention."""
        return self.counts.total == 0

    @property
    def unscored(self) -> bool:
        """Whether some claims are unscored and none was judged supported or not supported."""
        return is_unknown(self.counts)


class ChosenK(Record):
    k: K
    rule: KRule


class PromptFigure(Figure):
    """A figure over answers or their claims, with a Wilson interval or a percentile bootstrap interval over prompts."""

    low: float | None = None
    high: float | None = None
    """None without a random generator, or with fewer than two prompts (of each class, for balanced accuracy). Also None
    if all resamples agree, as for a rate of 0 or 1: that does not make the figure certain."""
    n_prompts: Count


class Mean(PromptFigure):
    value: Share | None
    n: Count


class ScoreAtK(Record):
    k: K
    f1: Mean
    recall: Mean


class SystemScore(Record):
    system: str
    n_responses: Count
    n_abstained: Count
    n_unscored_responses: Count
    """Answers with unscored claims and no scored ones, which the means exclude."""
    counts: Counts
    """Counts over all the system's answers, including irrelevant and unscored claims."""
    precision: Mean
    """Mean over answers with at least one claim judged supported or not supported."""
    fully_supported: Mean | None = None
    """Fraction of answers whose claims are all supported. None in files from earlier versions."""
    eligible_and_supported: Mean | None = None
    """Fraction of answers that are eligible and whose claims are all supported. None if nobody judged whether they are
    eligible."""
    at_k: tuple[ScoreAtK, ...]


class Ranking(Record):
    """The systems, best first. Systems without a value are left out."""

    k: K
    systems: tuple[str, ...]
    ranks: Mapping[str, Annotated[float, Field(ge=1.0)]]
    """Ranks from 1. Tied systems share their mean rank."""


class LongFormScores(Record):
    abstention: AbstentionPolicy
    ks: tuple[ChosenK, ...]
    systems: tuple[SystemScore, ...]
    rankings: tuple[Ranking, ...]
    level: Annotated[float, Field(gt=0.0, lt=1.0)]
    n_resamples: Count


class CurvePoint(Record):
    k: K
    f1: Mapping[str, Share | None]


@dataclass(frozen=True)
class Measure:
    quantity: str
    words: str
    of: Callable[[CountedResponse, int], float | None]
    """Takes an answer and K. Returns None if the answer has no value."""
    at_k: bool = True
    leads: bool = False
    """Whether the terminal and the top of the page show the measure."""
    is_share: bool = False
    """Whether each answer's value is 0 or 1."""

    def heading(self, k: int | None) -> str:
        """Returns the column heading, such as `F1@64` or `Precision`."""
        return f"{self.words}@{k}" if self.at_k else self.words

    def value(self, response: CountedResponse, k: int | None, abstention: AbstentionPolicy) -> float | None:
        """Returns the answer's value, or None if it is undefined or excluded. `k` is ignored unless `at_k` is set."""
        is_known = is_rated(response, abstention) or (self.is_share and response.unscored)
        return self.of(response, k or 1) if is_known else None


def fully_supported(response: CountedResponse, _k: int = 1) -> float | None:
    """Returns 1 if all claims are supported and 0 if any is not. Returns None if the outcome depends on unscored
    claims, or if there are no claims to support."""
    counts = response.counts
    if counts.not_supported:
        return 0.0
    return None if counts.unscored or not counts.scored else 1.0


def eligible_and_supported(response: CountedResponse, _k: int = 1) -> float | None:
    """Returns 0 for an ineligible answer, 1 if an eligible one has no claims to support, else `fully_supported`."""
    if not response.eligible:
        return None if response.eligible is None else 0.0
    return 1.0 if not response.counts.scored + response.counts.unscored else fully_supported(response)


F1 = Measure("f1", "F1", lambda one, k: f1_at_k(one.as_counted, k), leads=True)
PRECISION = Measure("precision", "Precision", lambda one, _: precision(one.as_counted), at_k=False, leads=True)
RECALL = Measure("recall", "Recall", lambda one, k: recall_at_k(one.as_counted, k))
SHARES = (
    Measure("fully_supported", "Fully supported", fully_supported, False, True, True),
    Measure("eligible_and_supported", "Eligible and fully supported", eligible_and_supported, False, True, True),
)
MEASURES = (F1, PRECISION, *SHARES, RECALL)


def is_rated(response: CountedResponse, abstention: AbstentionPolicy) -> bool:
    """Whether the answer counts in means. The policy decides about abstentions; an unscored answer never counts."""
    if response.abstained:
        return abstention is AbstentionPolicy.ZERO
    return not response.unscored


def figures_of(system: SystemScore) -> Iterator[tuple[Measure, int | None, Mean]]:
    """Yields each of the system's means with its measure, and with K if the measure depends on it."""
    for measure in MEASURES:
        if measure.at_k:
            yield from ((measure, at.k, getattr(at, measure.quantity)) for at in system.at_k)
        elif (mean := getattr(system, measure.quantity)) is not None:
            yield measure, None, mean


def score_long_form(
    responses: Iterable[CountedResponse],
    ks: Sequence[int | Literal["median", "maximum"]],
    *,
    abstention: AbstentionPolicy,
    rng: np.random.Generator | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> LongFormScores:
    """Computes each system's means at each K, without intervals if `rng` is None.

    The bootstrap draws the same prompts for all systems. The order of responses does not matter. Raises ValueError if a
    K is below 1, or if a system answers a prompt twice.
    """
    given = sorted(responses, key=lambda response: (response.system, response.prompt_id))
    _refuse_second_answers(given)
    chosen = choose_ks((one for one in given if is_rated(one, abstention)), ks)
    names = sorted({response.system for response in given})
    of_system = {name: [response for response in given if response.system == name] for name in names}
    judged = any(one.eligible is not None for one in given)
    samples = {
        (name, measure.quantity, k): _sample(of_system[name], measure, k, abstention)
        for name in names
        for measure in MEASURES
        if judged or measure.quantity != "eligible_and_supported"
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
    """Resolves `median` and `maximum` and removes duplicates. Raises ValueError if a K is below 1."""
    supported = [response.as_counted.supported for response in responses]
    found: dict[int, ChosenK] = {}
    for k in ks:
        if k == "median":
            choice = ChosenK(k=max(1, math.ceil(median(supported or [0]))), rule=KRule.MEDIAN)
        elif k == "maximum":
            choice = ChosenK(k=max(1, *supported, 1), rule=KRule.MAXIMUM)
        elif isinstance(k, int) and k >= 1:
            choice = ChosenK(k=k, rule=KRule.GIVEN)
        else:
            raise ValueError("K must be a whole number of at least 1, 'median' or 'maximum'")
        found.setdefault(choice.k, choice)
    return tuple(found.values())


def f1_curve(
    responses: Iterable[CountedResponse], *, abstention: AbstentionPolicy, ks: Sequence[int] | None = None
) -> tuple[CurvePoint, ...]:
    """By default, K runs from 1 to the maximum number of supported claims."""
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
    """Returns up to `CURVE_POINTS` integers from 1 to `highest`, evenly spaced on a log scale."""
    if highest <= CURVE_POINTS:
        return list(range(1, highest + 1))
    steps = (round(highest ** (step / (CURVE_POINTS - 1))) for step in range(CURVE_POINTS))
    return sorted({*steps, highest})


def _refuse_second_answers(responses: Sequence[CountedResponse]) -> None:
    for one, other in pairwise(responses):
        if (one.system, one.prompt_id) == (other.system, other.prompt_id):
            raise ValueError(f"{one.system!r} answers the prompt {one.prompt_id!r} twice; keep only one answer")


_Sample = list[tuple[str, float]]
_Place = tuple[str, str, int | None]


def _sample(
    responses: Sequence[CountedResponse], measure: Measure, k: int | None, abstention: AbstentionPolicy
) -> _Sample:
    values = ((one.prompt_id, measure.value(one, k, abstention)) for one in responses)
    return [(prompt, value) for prompt, value in values if value is not None]


def _means(
    samples: Mapping[_Place, _Sample], rng: np.random.Generator | None, resamples: int, level: float
) -> dict[_Place, Mean]:
    intervals: dict[_Place, tuple[float, float] | None] = {}
    if rng is not None:
        import numpy as np

        from factloop.evaluation.debiasing.estimates import wilson
        from factloop.evaluation.statistics.stratified_means import clustered_mean, stratified_intervals

        drawn = {place: sample for place, sample in samples.items() if place[1] not in {one.quantity for one in SHARES}}
        prompts = sorted({prompt for sample in drawn.values() for prompt, _ in sample})
        number_of = {prompt: number for number, prompt in enumerate(prompts)}
        means = [
            clustered_mean(
                np.array([value for _, value in sample], dtype=np.float64),
                np.array([number_of[prompt] for prompt, _ in sample], dtype=np.int64),
                len(number_of),
            )
            for sample in drawn.values()
        ]
        intervals = dict(zip(drawn, stratified_intervals(means, rng, resamples, level), strict=True))
        quantile = NormalDist().inv_cdf((1.0 + level) / 2.0)
        for place, sample in samples.items():
            if place not in drawn and sample:
                intervals[place] = wilson(fmean(value for _, value in sample), len(sample), quantile)
    return {place: _mean(sample, intervals.get(place)) for place, sample in samples.items()}


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
        return {of: mean for (system, of, at_k), mean in means.items() if (system, at_k) == (name, k)}

    return SystemScore(
        system=name,
        n_responses=len(responses),
        n_abstained=sum(response.abstained for response in responses),
        n_unscored_responses=sum(response.unscored for response in responses),
        counts=Counts.sum_of(response.as_counted for response in responses),
        at_k=tuple(ScoreAtK(k=choice.k, **at(choice.k)) for choice in ks),
        **at(None),
    )


def _ranking(place: int, k: int, systems: Sequence[SystemScore]) -> Ranking:
    scores = {system.system: system.at_k[place].f1.value for system in systems}
    valued = {name: value for name, value in scores.items() if value is not None}
    ranks = {name: _rank(value, list(valued.values())) for name, value in valued.items()}
    return Ranking(k=k, systems=tuple(sorted(valued, key=lambda name: (ranks[name], name))), ranks=ranks)


def _rank(value: float, values: Sequence[float]) -> float:
    """Rank 1 is the highest. Values that differ only by rounding share their mean rank."""
    equal = sum(math.isclose(value, other, rel_tol=ROUNDING) for other in values)
    better = sum(other > value and not math.isclose(value, other, rel_tol=ROUNDING) for other in values)
    return better + (equal + 1) / 2
