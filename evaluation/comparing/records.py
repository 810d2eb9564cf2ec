"""The records of a comparison. Those of paired differences, flips and demands are shared with experiments.

Every difference is second minus first, so it is positive if the second side is higher. Proportions and differences in
proportions are in [-1, 1]. Costs are in US dollars. Costs and token counts are per item (a claim or a response).
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
    BALANCED_ACCURACY = "balanced_accuracy"
    """Mean of TPR and TNR. Higher is better, and guessing gives 0.5."""
    ACCURACY = "accuracy"
    TPR = "tpr"
    """Proportion of the claims labelled supported that are judged supported. Like TNR, it excludes claims judged
    irrelevant."""
    TNR = "tnr"
    """Proportion of the claims labelled not supported that are judged not supported."""
    BIAS = "bias"
    """Quantification bias: the proportion judged supported minus the proportion labelled supported. Best at 0."""
    F1 = "f1"
    PRECISION = "precision"
    """Precision of a response. Like F1@K, it does not tell which judge is right."""
    FULL_SUPPORT = "fully_supported"
    """Proportion of responses whose claims are all supported. Computed only for runs."""
    ELIGIBLE_AND_SUPPORTED = "eligible_and_supported"
    UNSCORED_SHARE = "unscored_share"
    """Proportion of unscored claims. For responses, the mean of their proportions."""
    IRRELEVANT_SHARE = "irrelevant_share"
    COVERAGE = "coverage"
    """This quantity and the next four measure how well responses are split into claims. Only for experiments."""
    ENTAILMENT = "entailment"
    SELF_CONTAINED = "self_contained"
    ATOMICITY = "atomicity"
    REDUNDANCY = "redundancy"
    COST_USD = "cost_usd"
    TOKENS = "tokens"


class GroupFigure(Figure):
    """A figure over items in groups, with a percentile bootstrap interval that resamples whole groups."""

    low: float | None = None
    high: float | None = None
    """None if there are fewer than two groups (for balanced accuracy, fewer than two for either label). Also None if
    all resamples agree, as for a rate of 0 or 1, because that does not make the figure certain."""
    n: Count
    """Items (claims or responses) in the figure. Repeats do not count as further items."""
    n_groups: Count
    """Each group holds all items of a response, document or prompt, and is resampled as a whole."""
    n_left_out: Count = 0
    """Items excluded because they have no verdict or no label."""


class QuantityFigure(GroupFigure):
    quantity: Quantity
    k: K | None = None


class Outcome(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """A difference is shown, but neither direction is better."""
    LOWER = "lower"
    NOT_SHOWN = "not_shown"
    """No difference is shown, which does not prove that there is none."""
    UNKNOWN = "unknown"
    """The data do not allow a conclusion."""

    @property
    def is_shown(self) -> bool:
        return self not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN)


class PairedDifference(GroupFigure):
    """The difference in one quantity over the items for which both sides have a value.

    `n_left_out` counts the other items. The interval contains the differences that a sign-flip test of whole groups
    does not reject at `level`. It contains 0 if and only if no difference is shown, and ends at 0 if only a stepwise
    adjustment shows one.
    """

    first: str
    second: str
    quantity: Quantity
    k: K | None = None
    first_value: float | None
    second_value: float | None
    """Computed over the same items as the difference, so it may differ from the side's figure over all its items."""
    first_higher: Count
    equal: Count
    second_higher: Count
    """How many items are higher on the first side, equal up to rounding, or higher on the second side."""
    if_wrong: float | None = None
    if_right: float | None = None
    """`value` with missing verdicts counted as right on both sides (`if_wrong`: as wrong). None if none are missing."""
    p: Share | None
    """Two-sided p-value of a test that flips the signs of groups, exact if feasible. It is the largest over the three
    ways of counting missing verdicts, or 1 if their signs differ, so leaving hard claims unjudged does not help."""
    p_corrected: Share | None
    level: Level
    """The level of this interval alone: 1 - (1 - the report's level) / m, where m is the number of differences in the
    family that vary. All intervals hold jointly at the report's level."""
    detectable: NonNegative | None = None
    """The approximate true difference that would be shown 4 times out of 5 with groups like these, at alpha divided by
    the number of tests in the family that could show one. None if the groups do not vary or are too few."""
    is_headline: bool
    is_question: bool = False
    """Whether the difference belongs to the questions, which are secondary to the headline."""
    outcome: Outcome
    words: str


class Family(Record):
    name: Literal["headline", "questions", "details"]
    n_tests: Count
    n_counted: Count
    """The tests that could have shown a difference. P-values are adjusted for this number."""
    words: str


class Direction(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    """There is no label, or neither verdict matches it."""


class FlipSide(Record):
    claim_id: str
    verdict: Verdict
    contradicted: bool | None = None
    """Whether an unsupported claim is contradicted. Set only for experiments, like all fields below but `rationale`."""
    wrong: str = ""
    """The part of the claim that the passages contradict, if the judge names it."""
    n_repeats: Count = 1
    n_scored: Count = 1
    rationale: str
    """The rationale and the passages come from the first repeat with this verdict."""
    cited: tuple[Evidence, ...] = ()
    n_evidence: Count = 0
    """Passages that the side saw, cited or not. Comparisons of two runs do not store passages."""
    exchanges: tuple[tuple[str, str], ...] = ()
    """The first repeat's requests and replies for the prompts that differ between the variants. Set only for
    experiments with a run directory."""


class Flip(Record):
    first: str
    second: str
    group: str
    """The group of the claim or, if responses are judged, the response it comes from."""
    claim: str
    """The self-contained claim, as worded by the first side."""
    gold: Verdict | None
    """The verdict that corresponds to the human label."""
    direction: Direction
    first_side: FlipSide
    second_side: FlipSide

    @property
    def deciding(self) -> tuple[Evidence, ...]:
        """The passages that the second side cites, or the first side's if it cites none."""
        return self.second_side.cited or self.first_side.cited

    @property
    def cause(self) -> tuple[object, ...]:
        """The key that groups flips: both sides' verdicts, the words at issue and the deciding passages."""
        kinds = ((one.verdict, one.contradicted, one.wrong.casefold()) for one in (self.first_side, self.second_side))
        return self.first, self.second, *kinds, *sorted((one.source, one.passage) for one in self.deciding)


class FlipCount(Record):
    """Only claims with a majority verdict on both sides can flip."""

    first: str
    second: str
    n_claims: Count
    n_better: Count
    n_worse: Count
    n_neutral: Count
    n_split: Count
    """Claims without a majority verdict because a side's repeats are evenly split."""
    n_unscored: Count
    """Claims on which a side has no verdict or no result."""


class DemandResult(Record):
    metric: str
    """A metric such as `tnr`, `f1@64`, `flips` or `must_pass`."""
    demand: str = ""
    """The demand as written, such as `tnr:0.05`. Added in version 3.3 of comparisons and 4.3 of experiments."""
    first: str
    second: str
    margin: NonNegative | None = None
    value: float | None = None
    """The value compared with a bound: a figure of the second side, or a number of claims."""
    loss: float | None = None
    """How much worse the second side is if missing verdicts are counted to its disadvantage. Negative if better."""
    largest_loss: float | None = None
    """The end of the one-sided interval: larger losses are ruled out. None if there are too few groups."""
    p: Share | None = None
    """One-sided. The null hypothesis is a loss of at least the margin or, without a margin, no loss."""
    p_corrected: Share | None = None
    """Without a margin, `p` adjusted over all such demands, because any failure counts. With a margin, `p` itself,
    because all such demands must be met."""
    is_met: bool
    words: str
    caution: str = ""
    claims: tuple[str, ...] = ()
    """For an unmet demand, the claims that only the first side gets right. For a lower bound, all claims that the
    second side gets wrong or leaves without a verdict, flipped ones first."""
    unscored: str = ""
    """Why claims have no verdict. Set only if the demand could be met with verdicts on these claims."""

    @property
    def said(self) -> str:
        after = self.caution or (f"claims have no verdict: {self.unscored}" if self.unscored else "")
        return f"{self.words}; {after}" if after else self.words


class ComparisonKind(StrEnum):
    SYSTEMS = "systems"
    """Two systems answered the same prompts, or one system did so twice."""
    EVALUATORS = "evaluators"
    """Two models or settings judged the same responses."""


class Side(Record):
    run: str
    data: str
    judge: str
    systems: tuple[str, ...]
    n_responses: Count
    n_abstained: Count
    n_unscored_responses: Count
    """Responses with unscored claims and no scored ones."""
    counts: Counts
    figures: tuple[QuantityFigure, ...]
    """Each figure covers the compared responses and matched claims that have a value on this side."""
    usage: Usage
    """The usage of the whole run, even if only some of its systems are compared."""


class Setting(Record):
    """A setting that differs between the two runs. None means that a run lacks it."""

    name: str
    first: str | None
    second: str | None


class Pair(Record):
    """Two responses to one prompt, or one response judged twice."""

    first: ResponseLine
    second: ResponseLine
    same_text: bool


class ClaimAgreement(Record):
    n_matched: Count
    n_only_first: Count
    n_only_second: Count
    n_labelled: Count
    table: tuple[tuple[Count, ...], ...]
    """Counts of matched claims, with the first side's verdict in rows and the second's in columns, in the order
    supported, not supported, irrelevant, unscored."""
    agreement: GroupFigure
    """Proportion of identical verdicts among the matched claims that both sides judged."""
    kappa: GroupFigure
    """Cohen's kappa for the same claims, over the three verdicts."""


class Changed(StrEnum):
    JUDGE = "judge"
    """The model or its snapshot, the plan, a prompt, or another setting that affects verdicts."""
    SEARCH = "search"
    ANSWERS = "answers"
    COUNTING = "counting"
    VERSIONS = "versions"
    """The version of factloop, or of a library that affects results."""


class Step(Record):
    run: str
    judge: str
    changed: tuple[Changed, ...]
    """Empty if no recorded setting changed: the judge was merely called again."""
    parts: tuple[PairedDifference, ...]
    """The changes in F1 at each K and in precision."""


class Attribution(Record):
    steps: tuple[Step, ...]
    whole: tuple[PairedDifference, ...]
    """B minus A over the same responses: the sum of the parts."""


class Comparison(Record):
    """Except for `created_at`, a comparison depends only on the runs, the settings and the seed."""

    schema_version: Literal["3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8"] = "3.8"
    kind: ComparisonKind
    first: Side
    second: Side
    settings: tuple[Setting, ...]
    abstention: AbstentionPolicy
    alpha: Share
    level: Share
    """The level of the intervals: jointly for the differences in a family, individually for other figures."""
    n_resamples: Count
    seed: int
    families: tuple[Family, ...]
    differences: tuple[PairedDifference, ...]
    """F1 at each K and precision. For evaluators, also the quantities of an experiment on responses."""
    conclusions: tuple[str, ...]
    attribution: Attribution | None = None
    demands: tuple[DemandResult, ...] = ()
    pairs: tuple[Pair, ...]
    only_first: tuple[ResponseLine, ...]
    only_second: tuple[ResponseLine, ...]
    """Responses without a counterpart. They are excluded from all differences."""
    other_text: tuple[ResponseLine, ...] = ()
    """Responses of the first side whose counterparts have a different text. Evaluators are compared without them."""
    claims: ClaimAgreement | None = None
    flip_counts: tuple[FlipCount, ...] = ()
    flips: tuple[Flip, ...] = ()
    created_at: datetime
    warnings: tuple[str, ...] = ()
