"""The two samples behind a corrected figure: labelled claims for calibration, and a run's judged responses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from factloop.core.records import Counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelledClaims:
    labels: Sequence[int]
    """1 means supported, 0 not supported."""
    verdicts: Sequence[int | None]
    """None means that the evaluator gave no verdict."""
    groups: Sequence[Hashable] | None = None
    """The response or prompt of each claim, because claims in a group resemble each other. None means that all claims
    are independent."""
    probabilities: Sequence[float] | None = None
    """The probability in (0, 1] that each claim was drawn for labelling. Claims are weighted by its inverse. None means
    that all are equal."""
    is_own: Sequence[bool] | None = None
    """Whether each claim was drawn from the run for labelling. None if unknown."""
    scores: Sequence[float | None] | None = None
    """Scores in [0, 1] (higher is better). None for a claim with only a verdict."""
    responses: Sequence[Hashable] | None = None
    """The response of each claim. None means that each group is a response."""


@dataclass(frozen=True)
class JudgedResponses:
    counts: Sequence[Counts]
    groups: Sequence[Hashable] | None = None
    """The prompt of each response. None means that responses are independent. Labelled claims of the run must use the
    same group names, or they would count as independent of it. If half the run were labelled, 95% intervals would then
    contain the true value in only 91% of cases."""
    score_sums: Sequence[float] | None = None
    """The sum of the scores in each response. A claim with only a verdict adds 1 if supported and 0 otherwise. None
    means that the evaluator gives no scores."""

    @classmethod
    def of_claims(cls, verdicts: Sequence[int | None], groups: Sequence[Hashable] | None = None) -> JudgedResponses:
        """Treats each claim as a response. This is suitable for precision, but not for F1@K."""
        single = {1: Counts(supported=1), 0: Counts(not_supported=1), None: Counts(unscored=1)}
        return cls([single[verdict] for verdict in verdicts], groups)


@dataclass(frozen=True)
class Samples:
    """Both samples as arrays with shared group numbers. Labelled claims without a verdict are left out."""

    label: Floats
    verdict: Floats
    """1 or 0, or the score if the samples were made by `by_scores`."""
    label_weight: Floats
    """The inverse of the probability of being drawn, normalized to a mean of 1."""
    label_group: Ints
    label_response: Ints
    """Shape (n_labels,), like all fields above."""
    supported: Floats
    """Number of claims judged supported, or the sum of scores."""
    scored: Floats
    run_group: Ints
    failed: Bools
    """Shape (n_responses,), like the previous three. A response failed if none of its claims received a verdict."""
    n_groups: int
    share_groups: bool
    are_independent: bool
    """Whether every claim in both samples is a group of its own."""
    n_unscored_labels: int
    n_unscored_run: int
    is_own: Bools
    """(n_labels,): which labelled claims are known to be the run's own."""
    label_chance: Floats | None
    """(n_labels,): the probability that each labelled claim was drawn. None if unknown."""
    shows_no_error: bool
    """Whether every label matches the verdict, even if scores replace verdicts."""

    @property
    def n_label_groups(self) -> int:
        return len(np.unique(self.label_group))

    @property
    def n_run_groups(self) -> int:
        """Groups that contain a scored claim."""
        return len(np.unique(self.run_group[self.scored > 0]))

    @property
    def is_evenly_drawn(self) -> bool:
        return bool((self.label_weight == 1.0).all())

    def labelled_mean(self, values: Floats, among: Floats | None = None) -> float:
        """Returns the weighted mean over the labelled claims for which `among` is 1."""
        return float(np.average(values, weights=self.label_weight if among is None else self.label_weight * among))


def as_samples(labelled: LabelledClaims, run: JudgedResponses) -> Samples:
    judged = [place for place, verdict in enumerate(labelled.verdicts) if verdict is not None]
    is_own, chance = labelled.is_own, labelled.probabilities
    label_names = _names("label", labelled.groups, len(labelled.labels))
    run_names = _names("run", run.groups, len(run.counts))
    kept = [label_names[place] for place in judged]
    responses = [(label_names if labelled.responses is None else labelled.responses)[place] for place in judged]
    response_number = {name: place for place, name in enumerate(dict.fromkeys(responses))}
    number = {name: place for place, name in enumerate(dict.fromkeys([*kept, *run_names]))}
    scored = np.array([counts.scored for counts in run.counts], dtype=np.float64)
    return Samples(
        label=np.array([labelled.labels[place] for place in judged], dtype=np.float64),
        verdict=np.array([labelled.verdicts[place] for place in judged], dtype=np.float64),
        label_weight=_weights(labelled.probabilities, judged),
        label_group=np.array([number[name] for name in kept], dtype=np.int64),
        label_response=np.array([response_number[name] for name in responses], dtype=np.int64),
        supported=np.array([counts.supported for counts in run.counts], dtype=np.float64),
        scored=scored,
        run_group=np.array([number[name] for name in run_names], dtype=np.int64),
        failed=np.array([not counts.scored and counts.unscored > 0 for counts in run.counts], dtype=np.bool_),
        n_groups=len(number),
        shows_no_error=all(labelled.labels[place] == labelled.verdicts[place] for place in judged),
        share_groups=not {*kept}.isdisjoint(run_names),
        are_independent=len(number) == len(kept) + len(run_names) and bool((scored <= 1).all()),
        n_unscored_labels=len(labelled.labels) - len(judged),
        n_unscored_run=sum(counts.unscored for counts in run.counts),
        is_own=np.array([is_own is not None and is_own[place] for place in judged], dtype=np.bool_),
        label_chance=None if chance is None else np.array([chance[place] for place in judged], dtype=np.float64),
    )


def by_scores(samples: Samples, labelled: LabelledClaims, run: JudgedResponses) -> Samples | None:
    """Replaces verdicts with scores. Returns None if either sample has no scores."""
    if run.score_sums is None or labelled.scores is None or all(score is None for score in labelled.scores):
        return None
    pairs = zip(labelled.verdicts, labelled.scores, strict=True)
    said = [verdict if score is None else score for verdict, score in pairs if verdict is not None]
    return replace(
        samples, verdict=np.array(said, dtype=np.float64), supported=np.array(run.score_sums, dtype=np.float64)
    )


def _weights(probabilities: Sequence[float] | None, judged: Sequence[int]) -> Floats:
    if probabilities is None or not judged:
        return np.ones(len(judged))
    weights = 1.0 / np.array([probabilities[place] for place in judged], dtype=np.float64)
    return np.ones(len(judged)) if np.ptp(weights) == 0.0 else weights / weights.mean()


def _names(sample: str, groups: Sequence[Hashable] | None, n: int) -> list[Hashable]:
    """Returns the given groups, or else a new name per item. Names are tuples, so new and given ones cannot clash."""
    return [("given", name) for name in groups] if groups is not None else [(sample, place) for place in range(n)]
