"""Records of comparing two runs: paired differences, agreement claim by claim, and all that these rest on.

The runs are `first` and `second`, A and B in reports. Every difference is second minus first, so that above 0 the
second is higher.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from factloop.core.figure import Figure, Undefined
from factloop.core.records import Count, Counts, NonNegative, Record, Share, Usage, Verdict
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.longform_records import AbstentionPolicy, K, Quantity
from factloop.evaluation.runs.records import ResponseLine

Difference = Annotated[float, Field(ge=-1.0, le=1.0)]


class ComparisonKind(StrEnum):
    """The kind of a comparison, by the difference between its sides."""

    SYSTEMS = "systems"
    """The responses: two systems answered the same prompts, or one did so twice."""
    EVALUATORS = "evaluators"
    """The judge: the same responses were judged by two models or settings."""


class Side(Record):
    """One of the two that are compared."""

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
    usage: Usage
    """Usage of the whole run, even if only some of its systems are compared."""


class Setting(Record):
    """A setting in which the two runs differ; None where a run has no such setting."""

    name: str
    first: str | None
    second: str | None


class Pair(Record):
    """Two responses to one prompt, or one response judged twice."""

    first: ResponseLine
    second: ResponseLine
    same_text: bool


class PairedDifference(Record):
    """The mean of a quantity on both sides, over the pairs in which both have a value, and how far apart they are."""

    quantity: Quantity
    k: K | None = None
    """The K of F1@K."""
    first: Share | None
    second: Share | None
    difference: Difference | None
    """Second minus first; None where no pair has two values."""
    low: Difference | None = None
    high: Difference | None = None
    """The differences that turning the signs of whole prompts does not reject at `level`. 0 is among them just where no
    difference is shown at one minus the comparison's level: where Holm's method shows one that Bonferroni's inequality
    would not, the interval ends at 0. None with fewer than two prompts, where all pairs are as far apart, and where so
    few prompts can rule out nothing."""
    level: Share | None = None
    """Level of this interval by itself, the same for all differences: 1 - (1 - the comparison's level) / m of the m
    that vary, so that all together hold the truth at the comparison's level. In version 1.2 it followed the p-value;
    None in version 1.1 and before, which have percentile bootstraps at the comparison's level."""
    n_pairs: Count
    n_prompts: Count
    n_left_out: Count
    """Pairs in which a side has no value: left out by the policy for abstentions, or without any verdict."""
    first_higher: Count
    equal: Count
    second_higher: Count
    """Numbers of pairs. What differs by rounding alone is equal."""
    p: Share | None
    """Two-sided, by turning the signs of whole prompts."""
    p_corrected: Share | None
    """Adjusted by Holm's method over the differences of the comparison that could have had so small a p-value."""

    @model_validator(mode="after")
    def _counts_every_pair(self) -> Self:
        if self.first_higher + self.equal + self.second_higher != self.n_pairs:
            raise ValueError("higher, lower and equal pairs are all pairs")
        return self


class ClaimFigure(Figure):
    """A figure in [-1, 1] over claims, with its interval over prompts."""

    value: Difference | None
    low: Difference | None = None
    high: Difference | None = None
    n: Count
    """Claims that it rests on."""

    @field_validator("undefined", mode="before")
    @classmethod
    def _reads_version_1_0(cls, value: Any) -> Any:
        """Comparisons of version 1.0 have the reason in words."""
        return next((reason for words, reason in _WORDS_OF_1_0 if value == words), value)


_WORDS_OF_1_0 = (
    ("no matched claim has a verdict of both", Undefined.NOT_BOTH_SCORED),
    ("no labelled claim has a verdict of both", Undefined.NOT_BOTH_SCORED),
    ("both give every claim one and the same verdict, so chance alone would agree", Undefined.ONE_CLASS),
    (
        "balanced accuracy needs claims that people call supported, and some that they call not supported",
        Undefined.CLASS_MISSING,
    ),
)


class ClaimAgreement(Record):
    """How two evaluators judge the same claims of the same responses."""

    n_responses: Count
    """Responses with the same text on both sides."""
    n_matched: Count
    n_only_first: Count
    n_only_second: Count
    """Claims that only one side makes of a response."""
    table: tuple[tuple[Count, ...], ...]
    """Matched claims: a row for each verdict of the first side, a column for each of the second, in the order
    supported, not supported, irrelevant, unscored."""
    agreement: ClaimFigure
    """Share with the same verdict among matched claims that both sides judged."""
    kappa: ClaimFigure
    """Cohen's kappa of the same claims over the three verdicts."""


class LabelComparison(Record):
    """How near each evaluator is to people's labels, on matched claims with a label."""

    n_labelled: Count
    n_conflicting: Count
    """Claims that the two runs give different labels; nothing rests on them."""
    n_unscored: Count
    """Labelled claims without a verdict of one side or of both; nothing rests on them."""
    both_right: Count
    first_right: Count
    """Only the first side's verdict is the label."""
    second_right: Count
    neither_right: Count
    agreement: tuple[ClaimFigure, ClaimFigure, ClaimFigure]
    """Share of verdicts that are the label: first, second, second minus first."""
    p_mcnemar: Share | None
    """McNemar's exact test, two-sided, which takes claims as independent."""
    p_by_prompt: Share | None
    """Two-sided p by turning the signs of whole prompts, which allows for their likeness."""
    balanced_accuracy: tuple[ClaimFigure, ClaimFigure, ClaimFigure]
    """Mean of TPR and TNR, over claims that the label and both verdicts call supported or not supported."""


class Flip(Record):
    """One claim on which the two evaluators have different verdicts."""

    system: str
    prompt_id: str
    response_id: str
    first_claim_id: str
    second_claim_id: str
    claim: str
    """The claim as the first side words it, to be understood alone."""
    first: Verdict
    second: Verdict
    first_rationale: str
    second_rationale: str
    label: FactLabel | None = None


class DemandResult(Record):
    """A demand on one pair of sides, and whether it is met."""

    metric: str
    """`tnr`, `f1@64`."""
    first: str
    second: str
    margin: NonNegative | None
    loss: float | None
    """By how much the second is worse, over the items in which both have a value; below 0 it is better."""
    largest_loss: float | None
    """The end of the one-sided interval: a larger loss is ruled out. None where so few groups rule out nothing."""
    p: Share | None
    """One-sided: with a margin, of a loss that is as large; without, of no loss."""
    p_corrected: Share | None
    """Without a margin adjusted over all such demands, as one of them is enough to fail. With a margin the same as `p`,
    as all of them must be met."""
    is_met: bool
    words: str


class Comparison(Record):
    """Two runs side by side, whole. The same runs, settings and seed give the same but for `created_at`."""

    schema_version: Literal["1.0", "1.1", "1.2", "1.3"] = "1.3"
    kind: ComparisonKind
    first: Side
    second: Side
    settings: tuple[Setting, ...]
    """The settings in which the runs differ."""
    abstention: AbstentionPolicy
    alpha: Share
    level: Share
    """Level of the intervals: of all differences together, and of each other figure alone."""
    n_resamples: Count
    """Resamples behind the intervals of agreement and of labels."""
    seed: int
    differences: tuple[PairedDifference, ...]
    """Differences of the measures that are compared: precision, then F1 at each K."""
    conclusions: tuple[str, ...]
    """What follows, in sentences: one for each difference, then on claims and labels."""
    demands: tuple[DemandResult, ...] = ()
    """What was demanded of the second side."""
    pairs: tuple[Pair, ...]
    """The pairs by prompt and system."""
    only_first: tuple[ResponseLine, ...]
    only_second: tuple[ResponseLine, ...]
    """Responses without a counterpart, which no difference rests on."""
    other_text: tuple[ResponseLine, ...] = ()
    """Responses of the first side whose counterpart has another text; left out where evaluators are compared."""
    claims: ClaimAgreement | None = None
    labels: LabelComparison | None = None
    """None where there are no labels, or where systems are compared."""
    flips: tuple[Flip, ...] = ()
    created_at: datetime
    warnings: tuple[str, ...] = ()
