"""The two samples behind a corrected figure: labelled claims for calibration, and the judged responses of a run."""

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
    """Claims that people labelled and the evaluator judged. Raises ValueError for anything but 0, 1 and None."""

    labels: Sequence[int]
    """1 supported, 0 not."""
    verdicts: Sequence[int | None]
    """1 supported, 0 not, None where the evaluator gave no verdict."""
    groups: Sequence[Hashable] | None = None
    """The response or prompt of each claim: claims of one group resemble each other. None: all are independent."""
    probabilities: Sequence[float] | None = None
    """How likely each claim was to be drawn for labelling, in (0, 1]; each counts for 1 / p. None: all as likely."""
    is_own: Sequence[bool] | None = None
    """Whether each claim is one of the run's own, which it was drawn from. None: not known of any."""
    scores: Sequence[float | None] | None = None
    """How far the evaluator holds each claim for supported, in [0, 1]; None where it gave a verdict alone."""
    responses: Sequence[Hashable] | None = None
    """The response of each claim. None: a group is a response."""

    def __post_init__(self) -> None:
        if not len(self.labels) == len(self.verdicts) == len(self.verdicts if self.groups is None else self.groups):
            raise ValueError("each claim has a label and a verdict, and a group where groups are given")
        given = self.probabilities
        if given is not None and (len(given) != len(self.labels) or not all(0.0 < one <= 1.0 for one in given)):
            raise ValueError("a probability is above 0 and at most 1, and each claim has one where they are given")
        if self.is_own is not None and len(self.is_own) != len(self.labels):
            raise ValueError("it is said of each claim whether it is the run's, or of none")
        if self.scores is not None and len(self.scores) != len(self.labels):
            raise ValueError("each claim has a score or None where scores are given")
        if self.responses is not None and len(self.responses) != len(self.labels):
            raise ValueError("each claim has a response where responses are given")
        if not {*self.labels} <= {0, 1} or not {*self.verdicts} <= {0, 1, None}:
            raise ValueError("a label is 0 or 1, and a verdict is 0, 1 or None")


@dataclass(frozen=True)
class JudgedResponses:
    """The counts of verdicts that the evaluator gave to the responses of a run."""

    counts: Sequence[Counts]
    """Counts of each response."""
    groups: Sequence[Hashable] | None = None
    """The prompt of each response. None: responses are independent. Where some claims of the run are labelled, their
    groups are in both samples: name them alike, and they are drawn together. Under other names they would count as
    independent of the run, and intervals of half the run labelled would hold the truth in 91 % instead of 95 %."""
    score_sums: Sequence[float] | None = None
    """The sum of the scores of each response's scored claims, a verdict counting as 1 or 0 where there is none. None:
    the evaluator gives no scores."""

    def __post_init__(self) -> None:
        if self.groups is not None and len(self.groups) != len(self.counts):
            raise ValueError("each response has a group where groups are given")
        if self.score_sums is not None and len(self.score_sums) != len(self.counts):
            raise ValueError("each response has a sum of scores where there are scores")

    @classmethod
    def of_claims(cls, verdicts: Sequence[int | None], groups: Sequence[Hashable] | None = None) -> JudgedResponses:
        """Single claims, each a response of its own; good for precision, not for F1@K."""
        if not {*verdicts} <= {0, 1, None}:
            raise ValueError("a verdict is 0, 1 or None")
        single = {1: Counts(supported=1), 0: Counts(not_supported=1), None: Counts(unscored=1)}
        return cls([single[verdict] for verdict in verdicts], groups)


@dataclass(frozen=True)
class Samples:
    """Both samples as arrays, their groups numbered together; labelled claims without a verdict are left out."""

    label: Floats
    verdict: Floats
    """1 or 0; the score in its place in samples of `by_scores`."""
    label_weight: Floats
    """Inverse probabilities of being drawn, their mean 1."""
    label_group: Ints
    label_response: Ints
    """Each (n_labels,)."""
    supported: Floats
    """Claims called supported, or the sum of scores."""
    scored: Floats
    run_group: Ints
    failed: Bools
    """Each (n_responses,). Failed: there are claims, and none got a verdict."""
    n_groups: int
    share_groups: bool
    """Whether some group is in both samples."""
    are_independent: bool
    """Whether every claim of both samples is a group of its own."""
    n_unscored_labels: int
    n_unscored_run: int
    is_own: Bools
    """(n_labels,): labelled claims that are known to be the run's own."""
    label_chance: Floats | None
    """(n_labels,): the probability of each labelled claim to be drawn; None where it is not given."""
    shows_no_error: bool
    """Whether every label is as the verdict, whatever stands in the place of verdicts."""

    @property
    def n_label_groups(self) -> int:
        return len(np.unique(self.label_group))

    @property
    def n_run_groups(self) -> int:
        """Groups with a scored claim."""
        return len(np.unique(self.run_group[self.scored > 0]))

    @property
    def is_evenly_drawn(self) -> bool:
        """Whether every labelled claim counts as much."""
        return bool((self.label_weight == 1.0).all())

    def labelled_mean(self, values: Floats, among: Floats | None = None) -> float:
        """The mean of a value of the labelled claims by their weights, over those where `among` is 1."""
        return float(np.average(values, weights=self.label_weight if among is None else self.label_weight * among))


def as_samples(labelled: LabelledClaims, run: JudgedResponses) -> Samples:
    """Both samples as arrays."""
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
    """The samples with scores in the place of verdicts; None without scores on either side."""
    if run.score_sums is None or labelled.scores is None or all(score is None for score in labelled.scores):
        return None
    pairs = zip(labelled.verdicts, labelled.scores, strict=True)
    said = [verdict if score is None else score for verdict, score in pairs if verdict is not None]
    return replace(
        samples,
        verdict=np.array(said, dtype=np.float64),
        supported=np.array(run.score_sums, dtype=np.float64),
    )


def _weights(probabilities: Sequence[float] | None, judged: Sequence[int]) -> Floats:
    if probabilities is None or not judged:
        return np.ones(len(judged))
    weights = 1.0 / np.array([probabilities[place] for place in judged], dtype=np.float64)
    return np.ones(len(judged)) if np.ptp(weights) == 0.0 else weights / weights.mean()


def _names(sample: str, groups: Sequence[Hashable] | None, n: int) -> list[Hashable]:
    """The groups as given, or a name of its own for each; the pair keeps made-up names apart from given ones."""
    return [("given", name) for name in groups] if groups is not None else [(sample, place) for place in range(n)]
