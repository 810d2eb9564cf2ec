"""Defines the records of paired comparisons, for both runs and experiments, and of the comparison of two runs.

Every difference is second minus first, so a positive value means that the second side is higher. Shares and differences
of shares are in [-1, 1]. Costs are in US dollars. Costs and token counts are per item (a claim or a response).
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
    """A quantity that is measured for each side."""

    BALANCED_ACCURACY = "balanced_accuracy"
    """Mean of TPR and TNR. Higher is better, and guessing gives 0.5."""
    ACCURACY = "accuracy"
    """Share of verdicts that match the human label."""
    TPR = "tpr"
    """Share of claims labelled supported that are judged supported. Like TNR, it excludes claims judged irrelevant."""
    TNR = "tnr"
    """Share of claims labelled not supported that are judged not supported."""
    BIAS = "bias"
    """Quantification bias: the share judged supported minus the share labelled supported. Best at 0."""
    F1 = "f1"
    PRECISION = "precision"
    """Precision of a response. Like F1@K, it does not show which judge is right."""
    FULL_SUPPORT = "fully_supported"
    """Share of responses whose claims are all supported. Only for runs."""
    ELIGIBLE_AND_SUPPORTED = "eligible_and_supported"
    UNSCORED_SHARE = "unscored_share"
    """Share of unscored claims. For responses, this is the mean of the responses' shares."""
    IRRELEVANT_SHARE = "irrelevant_share"
    COVERAGE = "coverage"
    """Like the next four quantities, it measures how well responses are split into claims. Only for experiments."""
    ENTAILMENT = "entailment"
    SELF_CONTAINED = "self_contained"
    ATOMICITY = "atomicity"
    REDUNDANCY = "redundancy"
    COST_USD = "cost_usd"
    TOKENS = "tokens"


class GroupFigure(Figure):
    """A figure over items in groups, with a percentile bootstrap interval that resamples the groups."""

    low: float | None = None
    high: float | None = None
    """None if there are fewer than two groups (for balanced accuracy, of each label). Also None if all resamples have
    the same value, as with a rate of 0 or 1, because this does not prove certainty."""
    n: Count
    """Number of items (claims or responses) in the figure. An item counts once, no matter how many repeats it has."""
    n_groups: Count
    """Number of groups, which are resampled as a whole. Each contains all items of a response, document or prompt."""
    n_left_out: Count = 0
    """Number of items excluded because they have no verdict at all or no label."""


class QuantityFigure(GroupFigure):
    """One side's figure for one quantity."""

    quantity: Quantity
    k: K | None = None
    """The K of F1@K."""


class Outcome(StrEnum):
    """What a difference means for the second side."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """A difference is shown, but neither higher nor lower is better."""
    LOWER = "lower"
    NOT_SHOWN = "not_shown"
    """No difference is shown. This does not prove that there is no difference."""
    UNKNOWN = "unknown"
    """The data do not allow a conclusion."""

    @property
    def is_shown(self) -> bool:
        return self not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN)


class PairedDifference(GroupFigure):
    """The difference in one quantity (second side minus first), over the items for which both sides have a value.

    `n_left_out` counts the items for which either side has no value. The interval contains the differences that a
    sign-flip test of whole groups does not reject at `level`. It contains 0 if and only if no difference is shown. If a
    difference is shown only because of a stepwise adjustment, the interval ends at 0.
    """

    first: str
    second: str
    quantity: Quantity
    k: K | None = None
    first_value: float | None
    second_value: float | None
    """Both values are over the same items, and may differ from each side's figure over all of its items."""
    first_higher: Count
    equal: Count
    second_higher: Count
    """Numbers of items on which the first or the second side is higher, or both are equal up to rounding."""
    if_wrong: float | None = None
    if_right: float | None = None
    """`value` with missing verdicts counted as right on both sides (`if_wrong`: as wrong). None if none are missing."""
    p: Share | None
    """Two-sided p-value from flipping the signs of whole groups, exact if feasible. It is the largest over the three
    ways of counting missing verdicts, or 1 if their directions differ, so dropping hard claims does not help."""
    p_corrected: Share | None
    """The p-value adjusted within its family."""
    level: Level
    """Level of this interval alone: 1 - (1 - the report's level) / m, where m is the number of differences in its
    family that vary. Together, the intervals contain the true differences at the report's level."""
    detectable: NonNegative | None = None
    """The approximate true difference that would be shown 4 times out of 5 with groups like these, at alpha divided by
    the number of tests in the family that could show a difference. None if groups do not vary or are too few."""
    is_headline: bool
    is_question: bool = False
    """Whether the p-value is adjusted in the family of questions, which are secondary to the headline."""
    outcome: Outcome
    words: str


class Family(Record):
    """A set of differences whose p-values are adjusted together."""

    name: Literal["headline", "questions", "details"]
    n_tests: Count
    n_counted: Count
    """Number of tests that could have shown a difference. P-values are adjusted for this number."""
    words: str
    """A description of the differences."""


class Direction(StrEnum):
    """Whether a flip is towards the label or away from it."""

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    """There is no label, or neither verdict matches the label."""


class FlipSide(Record):
    """One side's verdict on a flipped claim."""

    claim_id: str
    verdict: Verdict
    """The majority verdict."""
    contradicted: bool | None = None
    """Whether an unsupported claim is contradicted. Set only for experiments, like all fields below but `rationale`."""
    wrong: str = ""
    """The part of the claim that the passages contradict, if the judge names it."""
    n_repeats: Count = 1
    """Number of repeats with this verdict."""
    n_scored: Count = 1
    """Number of repeats with any verdict."""
    rationale: str
    """The rationale from the first repeat with this verdict. The passages come from the same repeat."""
    cited: tuple[Evidence, ...] = ()
    n_evidence: Count = 0
    """Number of passages that the side saw, cited or not. Comparisons of two runs do not store passages."""
    exchanges: tuple[tuple[str, str], ...] = ()
    """The requests, with their replies, in the first repeat that use a prompt in which the variants differ. Set only
    for experiments with a run directory."""


class Flip(Record):
    """A claim whose majority verdicts differ between two sides."""

    first: str
    second: str
    group: str
    """The group of the claim or, if responses are judged, the response that contains the claim."""
    claim: str
    """The claim as worded by the first side, in self-contained form."""
    gold: Verdict | None
    """The verdict that corresponds to the human label, or None without a label."""
    direction: Direction
    first_side: FlipSide
    second_side: FlipSide

    @property
    def deciding(self) -> tuple[Evidence, ...]:
        """The passages that the second side cites or, if it cites none, those that the first side cites."""
        return self.second_side.cited or self.first_side.cited

    @property
    def cause(self) -> tuple[object, ...]:
        """A key for grouping flips by cause: both sides' verdicts, the words at issue and the deciding passages."""
        kinds = ((one.verdict, one.contradicted, one.wrong.casefold()) for one in (self.first_side, self.second_side))
        return self.first, self.second, *kinds, *sorted((one.source, one.passage) for one in self.deciding)


class FlipCount(Record):
    """Counts of flips between two sides. Only claims with a majority verdict on both sides can flip."""

    first: str
    second: str
    n_claims: Count
    n_better: Count
    n_worse: Count
    n_neutral: Count
    n_split: Count
    """Number of claims for which a side's repeats are evenly split, so there is no majority verdict."""
    n_unscored: Count
    """Number of claims on which a side has no verdict or no result."""


class DemandResult(Record):
    """The result of checking a demand on one pair of sides."""

    metric: str
    """The metric, such as `tnr`, `f1@64`, `flips` or `must_pass`."""
    demand: str = ""
    """The demand as written, such as `tnr:0.05` or `tpr >= 0.8`. Added in 3.3 of comparisons and 4.3 of experiments."""
    first: str
    second: str
    margin: NonNegative | None = None
    value: float | None = None
    """The value that is compared with a bound: a figure of the second side, or a number of claims."""
    loss: float | None = None
    """How much worse the second side is if missing verdicts count in the least favourable way. Negative if better."""
    largest_loss: float | None = None
    """The end of the one-sided interval. Larger losses are ruled out. None if there are too few groups."""
    p: Share | None = None
    """One-sided p-value for a loss of at least the margin or, without a margin, for no loss."""
    p_corrected: Share | None = None
    """Without a margin, this is `p` adjusted over all such demands, because any failure counts. With a margin, it is
    `p` itself, because all such demands must be met."""
    is_met: bool
    words: str
    caution: str = ""
    """What remains uncertain even though the demand is met."""
    claims: tuple[str, ...] = ()
    """For an unmet demand, the claims that only the first side gets right. For a lower bound, all claims that the
    second side gets wrong or leaves without a verdict, with flipped ones first."""
    unscored: str = ""
    """Explains why claims have no verdict. Set only if the demand could be met with verdicts on these claims."""

    @property
    def said(self) -> str:
        """The result in words, followed by any uncertainty that remains."""
        after = self.caution or (f"claims have no verdict: {self.unscored}" if self.unscored else "")
        return f"{self.words}; {after}" if after else self.words


class ComparisonKind(StrEnum):
    """What differs between the two runs of a comparison."""

    SYSTEMS = "systems"
    """The responses differ: two systems answered the same prompts, or one system did so twice."""
    EVALUATORS = "evaluators"
    """The judge differs: two models or settings judged the same responses."""


class Side(Record):
    """One of the two sides compared: A or B."""

    run: str
    """The run's folder, as specified."""
    data: str
    """The run's data."""
    judge: str
    """The model and plan that judged the responses."""
    systems: tuple[str, ...]
    """The systems that wrote the responses."""
    n_responses: Count
    n_abstained: Count
    n_unscored_responses: Count
    """Number of responses whose claims all lack a verdict."""
    counts: Counts
    figures: tuple[QuantityFigure, ...]
    """The figures over the compared responses and matched claims that have a value on this side."""
    usage: Usage
    """Usage of the whole run, even if only some of its systems are being compared."""


class Setting(Record):
    """A setting that differs between the two runs. A run without the setting has the value None."""

    name: str
    first: str | None
    second: str | None


class Pair(Record):
    """Two responses to one prompt, or one response judged twice."""

    first: ResponseLine
    second: ResponseLine
    same_text: bool


class ClaimAgreement(Record):
    """The agreement between two evaluators on the same claims in the same responses."""

    n_matched: Count
    n_only_first: Count
    n_only_second: Count
    """Number of claims that only the second side extracts from the responses."""
    n_labelled: Count
    """Number of matched claims with a label."""
    table: tuple[tuple[Count, ...], ...]
    """Numbers of matched claims. Each row is a verdict of the first side, and each column one of the second, in the
    order supported, not supported, irrelevant, unscored."""
    agreement: GroupFigure
    """Share of identical verdicts among the matched claims that both sides judged."""
    kappa: GroupFigure
    """Cohen's kappa for the same claims, over the three verdicts."""


class Changed(StrEnum):
    JUDGE = "judge"
    """The model or its snapshot, the plan, a prompt, or another setting that affects verdicts."""
    SEARCH = "search"
    ANSWERS = "answers"
    COUNTING = "counting"
    """How repeated claims are counted."""
    VERSIONS = "versions"
    """The version of factloop, or of a library that affects results."""


class Step(Record):
    run: str
    """The later run."""
    judge: str
    changed: tuple[Changed, ...]
    """Empty if no recorded setting changed, in which case the judge was merely called again."""
    parts: tuple[PairedDifference, ...]
    """The changes in F1 at each K and in precision."""


class Attribution(Record):
    """The causes of the difference between two runs, over the responses that have a value in all runs."""

    steps: tuple[Step, ...]
    whole: tuple[PairedDifference, ...]
    """B minus A over the same responses: the sum of the parts."""


class Comparison(Record):
    """The comparison of two runs. Except for `created_at`, it depends only on the runs, the settings and the seed."""

    schema_version: Literal["3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8"] = "3.8"
    kind: ComparisonKind
    first: Side
    second: Side
    settings: tuple[Setting, ...]
    """The settings in which the runs differ."""
    abstention: AbstentionPolicy
    alpha: Share
    level: Share
    """Level of the intervals. It is joint for the differences in a family, and separate for other figures."""
    n_resamples: Count
    """Number of resamples for the intervals of figures and of agreement."""
    seed: int
    families: tuple[Family, ...]
    differences: tuple[PairedDifference, ...]
    """F1 at each K and precision. For evaluators, also the quantities of an experiment on responses."""
    conclusions: tuple[str, ...]
    """The conclusions as sentences: one for each difference, then some about claims."""
    attribution: Attribution | None = None
    """None if no intermediate runs were specified."""
    demands: tuple[DemandResult, ...] = ()
    """The results of checking the demands on the second side."""
    pairs: tuple[Pair, ...]
    """The pairs, by prompt and system."""
    only_first: tuple[ResponseLine, ...]
    only_second: tuple[ResponseLine, ...]
    """Responses without a counterpart, which are excluded from all differences."""
    other_text: tuple[ResponseLine, ...] = ()
    """Responses of the first side whose counterparts have a different text. Excluded if evaluators are compared."""
    claims: ClaimAgreement | None = None
    """None if systems are compared."""
    flip_counts: tuple[FlipCount, ...] = ()
    flips: tuple[Flip, ...] = ()
    created_at: datetime
    warnings: tuple[str, ...] = ()
