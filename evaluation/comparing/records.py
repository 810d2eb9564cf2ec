"""Defines the records of paired comparisons: those shared by runs and experiments, and the comparison of two runs.

Every difference is second minus first, so that above 0 the second is higher. Shares and differences of shares are in
[-1, 1]; costs are in US dollars and tokens in numbers for one item (a claim, or a response).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.figure import Figure
from factloop.core.records import Count, Counts, Evidence, NonNegative, Record, Share, Usage, Verdict
from factloop.evaluation.runs.longform import AbstentionPolicy, K
from factloop.evaluation.runs.records import ResponseLine

Level = Annotated[float, Field(gt=0.0, lt=1.0)]


class Quantity(StrEnum):
    """A quantity measured of a side."""

    BALANCED_ACCURACY = "balanced_accuracy"
    """Mean of TPR and TNR; 0.5 is guessing, higher is better."""
    ACCURACY = "accuracy"
    """Share of verdicts that are people's label."""
    TPR = "tpr"
    """The share called supported of what people call supported; a verdict `irrelevant` is in neither rate."""
    TNR = "tnr"
    """The share called not supported of the claims that people call not supported."""
    BIAS = "bias"
    """Quantification bias: share called supported minus people's share, over the same claims; best at 0."""
    F1 = "f1"
    PRECISION = "precision"
    """Precision of a response; neither this nor F1@K says which judge is right."""
    FULL_SUPPORT = "fully_supported"
    """Share of responses whose claims are all supported; of runs."""
    ELIGIBLE_AND_SUPPORTED = "eligible_and_supported"
    UNSCORED_SHARE = "unscored_share"
    """Share of unscored claims; for responses, the mean of their shares."""
    IRRELEVANT_SHARE = "irrelevant_share"
    COVERAGE = "coverage"
    """How well responses are split into claims: this and the next four, where an experiment measures it."""
    ENTAILMENT = "entailment"
    SELF_CONTAINED = "self_contained"
    ATOMICITY = "atomicity"
    REDUNDANCY = "redundancy"
    COST_USD = "cost_usd"
    TOKENS = "tokens"


class GroupFigure(Figure):
    """A figure over items in groups, with its percentile bootstrap interval over the groups."""

    low: float | None = None
    high: float | None = None
    """None with fewer than two groups (of each label, for balanced accuracy), or if all resamples agree, as for
    a rate of 0 or 1, which does not mean certainty."""
    n: Count
    """Items it rests on: claims, or responses. An item counts once, however many repeats it has."""
    n_groups: Count
    """What is resampled: items of one response, document or prompt together, with all their repeats."""
    n_left_out: Count = 0
    """Items that it could rest on and that have no value: without any verdict, or without a label."""


class QuantityFigure(GroupFigure):
    """One quantity of one side."""

    quantity: Quantity
    k: K | None = None
    """The K of F1@K."""


class Outcome(StrEnum):
    """The outcome of a difference for the second side."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """Shown, for a quantity of which neither direction is better."""
    LOWER = "lower"
    NOT_SHOWN = "not_shown"
    """No difference was shown, which is not the same as none."""
    UNKNOWN = "unknown"
    """Nothing can be said."""

    @property
    def is_shown(self) -> bool:
        return self not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN)


class PairedDifference(GroupFigure):
    """How far two sides are apart in one quantity, over the items in which both have it. `value` is second - first.

    `n_left_out` counts the items in which either has none. The interval contains the differences that a sign-flip test
    of whole groups does not reject at `level`. It contains 0 exactly if no difference is shown; if a stepwise
    adjustment shows one that Bonferroni's inequality would not, the interval ends at 0.
    """

    first: str
    second: str
    quantity: Quantity
    k: K | None = None
    first_value: float | None
    second_value: float | None
    """Both values are of the same items; they are not the figures that each side has over all its own."""
    first_higher: Count
    equal: Count
    second_higher: Count
    """Numbers of items; rounding differences count as equal."""
    if_wrong: float | None = None
    if_right: float | None = None
    """`value` with missing verdicts counted as wrong on both sides, and as right; None if none
    is missing."""
    p: Share | None
    """Two-sided, by turning the signs of whole groups; exact where that is feasible. The largest of all three ways to
    count, and 1 where they do not point the same way: a side that drops hard claims is not called better."""
    p_corrected: Share | None
    """Adjusted within its family."""
    level: Level
    """Level of this interval by itself: 1 - (1 - the report's level) / m of the m differences of its family that vary,
    so that all together hold the truth at the report's level."""
    detectable: NonNegative | None = None
    """Approximate: a true difference of this size would be shown 4 times out of 5 with such groups, at alpha divided
    by the number of tests in the family that could show one. None if the groups do not vary
    or are too few to show anything."""
    is_headline: bool
    is_question: bool = False
    """Whether it is adjusted among what the experiment asks beside its headline."""
    outcome: Outcome
    words: str


class Family(Record):
    """Differences whose p-values are adjusted together."""

    name: Literal["headline", "questions", "details"]
    n_tests: Count
    n_counted: Count
    """The tests that could have shown a difference, which p-values are adjusted for."""
    words: str
    """The differences, in words."""


class Direction(StrEnum):
    """Whether a flip went towards the label or away from it."""

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    """There is no label, or neither verdict matches it."""


class FlipSide(Record):
    """One side of a claim that flipped."""

    claim_id: str
    verdict: Verdict
    """The majority verdict."""
    contradicted: bool | None = None
    """Whether a claim that is not supported is contradicted. Set only in experiments, like all
    fields below but `rationale`."""
    wrong: str = ""
    """The words of the claim that the passages have otherwise, if the judge names them."""
    n_repeats: Count = 1
    """Repeats with this verdict."""
    n_scored: Count = 1
    """Repeats with any verdict."""
    rationale: str
    """The rationale of the first repeat with this verdict; the passages are its own, too."""
    cited: tuple[Evidence, ...] = ()
    n_evidence: Count = 0
    """Passages it had, cited or not; a comparison of two runs keeps none."""
    exchanges: tuple[tuple[str, str], ...] = ()
    """Of an experiment with a run directory: each request in the first repeat by a prompt in which variants differ, and
    its reply."""


class Flip(Record):
    """A claim whose majority verdicts differ between two sides."""

    first: str
    second: str
    group: str
    """The group of a claim; the response that makes it if responses are judged."""
    claim: str
    """The claim as the first side words it, to be understood alone."""
    gold: Verdict | None
    """The verdict that is people's label; None without a label."""
    direction: Direction
    first_side: FlipSide
    second_side: FlipSide

    @property
    def deciding(self) -> tuple[Evidence, ...]:
        """The passages that the second side cites, or else those that it no longer accepts."""
        return self.second_side.cited or self.first_side.cited

    @property
    def cause(self) -> tuple[object, ...]:
        """The cause that groups flips: the kinds of both verdicts, the words at issue, and the deciding passages."""
        kinds = ((one.verdict, one.contradicted, one.wrong.casefold()) for one in (self.first_side, self.second_side))
        return self.first, self.second, *kinds, *sorted((one.source, one.passage) for one in self.deciding)


class FlipCount(Record):
    """Flips between two sides, among the claims on which both have a majority verdict."""

    first: str
    second: str
    n_claims: Count
    n_better: Count
    n_worse: Count
    n_neutral: Count
    n_split: Count
    """Claims on which the repeats of a side are split evenly, so that it has no such verdict."""
    n_unscored: Count
    """Claims on which a side has no verdict at all, or no result."""


class DemandResult(Record):
    """A demand on one pair of sides, and whether it is met."""

    metric: str
    """`tnr`, `f1@64`, `flips`, `must_pass`."""
    demand: str = ""
    """As it is written: `tnr:0.05`, `tpr >= 0.8`; since 3.3 of a comparison, 4.3 of an experiment."""
    first: str
    second: str
    margin: NonNegative | None = None
    value: float | None = None
    """What a bound was compared with: a figure of the second side, or a number of claims."""
    loss: float | None = None
    """By how much the second is worse, counted in the least favourable way; below 0 it is better."""
    largest_loss: float | None = None
    """The end of the one-sided interval: a larger loss is ruled out. None with too few groups."""
    p: Share | None = None
    """One-sided: with a margin, of a loss that is as large; without, of no loss."""
    p_corrected: Share | None = None
    """Without a margin adjusted over all such demands, as one of them is enough to fail. With a margin the same as `p`,
    as all of them must be met."""
    is_met: bool
    words: str
    caution: str = ""
    """What remains uncertain although a demand is met."""
    claims: tuple[str, ...] = ()
    """For an unmet demand: the claims that only the first side gets right. Of a least figure all
    that the second has not right, those that flipped first."""
    unscored: str = ""
    """Why claims have no verdict, where it could be met if they had one."""

    @property
    def said(self) -> str:
        """The words, with what is left open."""
        after = self.caution or (f"claims have no verdict: {self.unscored}" if self.unscored else "")
        return f"{self.words}: {after}" if after else self.words


class ComparisonKind(StrEnum):
    """The kind of a comparison of two runs, by the difference between its sides."""

    SYSTEMS = "systems"
    """The responses: two systems answered the same prompts, or one did so twice."""
    EVALUATORS = "evaluators"
    """The judge: the same responses were judged by two models or settings."""


class Side(Record):
    """One of the two sides compared: A or B."""

    run: str
    """The run's folder, as it was named."""
    data: str
    """What the run was over."""
    judge: str
    """Model and plan that judged."""
    systems: tuple[str, ...]
    """The systems that wrote the responses."""
    n_responses: Count
    n_abstained: Count
    n_unscored_responses: Count
    """Responses none of whose claims got a verdict."""
    counts: Counts
    figures: tuple[QuantityFigure, ...]
    """Over the compared responses and matched claims that have a value on this side."""
    usage: Usage
    """Usage of the whole run, even if only some of its systems are compared."""


class Setting(Record):
    """A setting in which the two runs differ; None if a run has no such setting."""

    name: str
    first: str | None
    second: str | None


class Pair(Record):
    """Two responses to one prompt, or one response judged twice."""

    first: ResponseLine
    second: ResponseLine
    same_text: bool


class ClaimAgreement(Record):
    """How two evaluators judge the same claims of the same responses."""

    n_matched: Count
    n_only_first: Count
    n_only_second: Count
    """Claims that only one side makes of a response."""
    n_labelled: Count
    """Matched claims with a label."""
    table: tuple[tuple[Count, ...], ...]
    """Matched claims: a row for each verdict of the first side, a column for each of the second, in the order
    supported, not supported, irrelevant, unscored."""
    agreement: GroupFigure
    """Share with the same verdict among matched claims that both sides judged."""
    kappa: GroupFigure
    """Cohen's kappa of the same claims over the three verdicts."""


class Changed(StrEnum):
    """What may change from one run to the next."""

    JUDGE = "judge"
    """The model, its snapshot, the plan, a prompt, or another setting that shapes verdicts."""
    SEARCH = "search"
    ANSWERS = "answers"
    COUNTING = "counting"
    """How repeated claims are counted."""
    VERSIONS = "versions"
    """The version of factloop, or of a library that affects results."""


class Step(Record):
    """A step from one run to the next."""

    run: str
    """The later run."""
    judge: str
    changed: tuple[Changed, ...]
    """Empty if nothing recorded has changed: the judge was only asked again."""
    parts: tuple[PairedDifference, ...]
    """How far F1 at each K and precision moved."""


class Attribution(Record):
    """The causes of the difference between two runs, over responses with a value in all runs."""

    steps: tuple[Step, ...]
    whole: tuple[PairedDifference, ...]
    """B minus A over the same responses: the sum of the parts."""


class Comparison(Record):
    """The comparison of two runs. Except for `created_at`, it depends only on runs, settings and seed."""

    schema_version: Literal["3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7"] = "3.7"
    kind: ComparisonKind
    first: Side
    second: Side
    settings: tuple[Setting, ...]
    """The settings in which the runs differ."""
    abstention: AbstentionPolicy
    alpha: Share
    level: Share
    """Level of the intervals: of the differences of a family together, and of each other figure alone."""
    n_resamples: Count
    """Resamples behind the intervals of figures and of agreement."""
    seed: int
    families: tuple[Family, ...]
    differences: tuple[PairedDifference, ...]
    """F1 at each K and precision; for evaluators, the quantities of an experiment on responses."""
    conclusions: tuple[str, ...]
    """The conclusions, in sentences: one for each difference, then on claims."""
    attribution: Attribution | None = None
    """None if no runs between the two were given."""
    demands: tuple[DemandResult, ...] = ()
    """What was demanded of the second side."""
    pairs: tuple[Pair, ...]
    """The pairs by prompt and system."""
    only_first: tuple[ResponseLine, ...]
    only_second: tuple[ResponseLine, ...]
    """Responses without a counterpart, which no difference rests on."""
    other_text: tuple[ResponseLine, ...] = ()
    """Responses of the first side whose counterpart has another text; left out if evaluators are compared."""
    claims: ClaimAgreement | None = None
    """None if systems are compared."""
    flip_counts: tuple[FlipCount, ...] = ()
    flips: tuple[Flip, ...] = ()
    created_at: datetime
    warnings: tuple[str, ...] = ()
