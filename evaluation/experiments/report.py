"""The report of an experiment: figures of each variant, paired differences with verdicts in words, flipped claims.

Every difference is second minus first; against the baseline the first is the baseline. Shares and differences of shares
are in [-1, 1], costs in US dollars and tokens in numbers for one item (a claim, or a response).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.figure import Figure
from factloop.core.reasons import UnscoredReason
from factloop.core.records import Count, Evidence, NonNegative, Record, Share, Usage, Verdict
from factloop.evaluation.comparing.records import DemandResult
from factloop.evaluation.experiments.records import Name, Repeat, Variant


class Quantity(StrEnum):
    """A quantity measured of a variant."""

    BALANCED_ACCURACY = "balanced_accuracy"
    """Mean of TPR and TNR; 0.5 is guessing, higher is better."""
    ACCURACY = "accuracy"
    """Share of verdicts that are people's label; `irrelevant` never is."""
    TPR = "tpr"
    """The share called supported of what people call supported; a verdict `irrelevant` is in neither rate."""
    TNR = "tnr"
    """The share called not supported of the claims that people call not supported."""
    BIAS = "bias"
    """Quantification bias: share called supported minus people's share, over the same claims; best at 0."""
    F1 = "f1"
    PRECISION = "precision"
    """Precision of a response; neither this nor F1@K says which variant is right."""
    UNSCORED_SHARE = "unscored_share"
    """Share of unscored claims; for responses, the mean of their shares."""
    IRRELEVANT_SHARE = "irrelevant_share"
    COST_USD = "cost_usd"
    TOKENS = "tokens"


class FamilyAdjustment(StrEnum):
    """How p-values are adjusted for the number of comparisons, within each family."""

    HOLM = "holm"
    """Bounds the chance of any false difference in the family by alpha; tests that could not have been so small do not
    count (Tarone 1990)."""
    BENJAMINI_HOCHBERG = "benjamini-hochberg"
    """Bounds the expected share of false ones among those called different."""
    NONE = "none"


class GroupFigure(Figure):
    """A figure over items in groups, with its percentile bootstrap interval over the groups."""

    low: float | None = None
    high: float | None = None
    """None with fewer than two groups (of each label, for balanced accuracy), and where all resamples give the same, as
    of a rate of 0 or 1: nothing varies, which is no certainty."""
    n: Count
    """Items it rests on: claims, or responses. An item counts once, however many repeats it has."""
    n_groups: Count
    """What is resampled: items of one response, document or prompt together, with all their repeats."""
    n_left_out: Count = 0
    """Items that it could rest on and that have no value: without any verdict, or without a label."""


class QuantityFigure(GroupFigure):
    """One quantity of one variant."""

    quantity: Quantity
    k: Annotated[int, Field(ge=1)] | None = None
    """The K of F1@K."""


class Stability(Record):
    """How far one variant's repeats agree with each other, over claims with a verdict in every repeat."""

    share: GroupFigure
    """Share of claims whose verdict is the same in all repeats."""
    kappa: GroupFigure
    """Fleiss' kappa of the repeats over the three verdicts: 1 is perfect, 0 what chance alone would give."""


class Latency(Record):
    """Seconds that an item took, over items and repeats; None without items."""

    median_s: NonNegative | None
    p95_s: NonNegative | None
    n: Count


class VariantReport(Record):
    """All that is said of one variant alone."""

    variant: Variant
    n_items: Count
    """Items with a result; in each repeat they count once."""
    n_missing: Count
    """Items of the data, times repeats, without any result: the experiment was stopped before."""
    figures: tuple[QuantityFigure, ...]
    stability: Stability
    latency: Latency
    usage: Usage
    """Usage over all items and repeats, as if it had been run alone."""
    why_unscored: str | None = None
    """The first cause, where every claim that it judged is unscored, so that it has no figure of agreement."""

    def find(self, quantity: Quantity, k: int | None = None) -> QuantityFigure | None:
        return next((one for one in self.figures if (one.quantity, one.k) == (quantity, k)), None)


class Outcome(StrEnum):
    """The outcome of a difference for the second variant."""

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """Shown, of a quantity of which neither direction is better."""
    LOWER = "lower"
    NOT_SHOWN = "not_shown"
    """No difference was shown, which is not the same as none."""
    UNKNOWN = "unknown"
    """Nothing can be said."""


class PairedDifference(GroupFigure):
    """How far two variants are apart in one quantity, over the items in which both have it. `value` is second - first.

    `n_left_out` counts the items in which either has none. The interval holds the differences that turning the signs of
    whole groups does not reject, at `level`: 0 is among them just where no difference is shown, and where a stepwise
    adjustment shows one that Bonferroni's inequality would not, the interval ends at 0.
    """

    first: Name
    second: Name
    quantity: Quantity
    k: Annotated[int, Field(ge=1)] | None = None
    first_value: float | None
    second_value: float | None
    """Both values are of the same items; they are not the figures that each variant has over all its own."""
    p: Share | None
    """Two-sided, by turning the signs of whole groups; exact where that is feasible."""
    p_corrected: Share | None
    """Adjusted within its family."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    """Level of this interval by itself: 1 - (1 - the report's level) / m of the m differences of its family that vary,
    so that all together hold the truth at the report's level; the report's own where nothing is adjusted. In version
    2.1 it followed the p-value; None in version 2.0, which has percentile bootstraps at the report's level."""
    p_mcnemar: Share | None = None
    """McNemar's exact test, for accuracy where every claim is a group of its own and there is one repeat."""
    detectable: NonNegative | None = None
    """Approximate: a true difference of this size would be shown 4 times out of 5 with such groups, at alpha divided
    by the number of tests in the family that could show one, where they are adjusted. None where the groups do not vary
    or are too few to show anything."""
    is_headline: bool
    outcome: Outcome
    words: str


class Family(Record):
    """Differences whose p-values are adjusted together."""

    name: Literal["headline", "details"]
    n_tests: Count
    n_counted: Count | None = None
    """The tests that could have shown a difference, which p-values are adjusted for. None in version 2.0."""
    words: str
    """The differences, in words."""


class FlipSide(Record):
    """One variant's side of a claim that flipped."""

    verdict: Verdict
    """The verdict of most repeats."""
    n_repeats: Count
    """Repeats with this verdict."""
    n_scored: Count
    """Repeats with any verdict."""
    rationale: str
    """The rationale of the first repeat with this verdict; the passages are its own, too."""
    cited: tuple[Evidence, ...] = ()
    n_evidence: Count
    """Passages it had, cited or not."""


class Direction(StrEnum):
    """Whether a flip went to people's label or away from it."""

    BETTER = "better"
    WORSE = "worse"
    NEUTRAL = "neutral"
    """There is no label, or neither verdict is it."""


class Flip(Record):
    """A claim of which the verdicts of most repeats differ between two variants."""

    first: Name
    second: Name
    claim_id: str
    group: str
    claim: str
    gold: bool | None
    direction: Direction
    first_side: FlipSide
    second_side: FlipSide


class FlipCount(Record):
    """Flips between two variants, among the claims on which both have a verdict of most repeats."""

    first: Name
    second: Name
    n_claims: Count
    n_better: Count
    n_worse: Count
    n_neutral: Count
    n_split: Count
    """Claims on which the repeats of a variant are split evenly, so that it has no such verdict."""
    n_unscored: Count
    """Claims on which a variant has no verdict at all, or no result."""


class ItemCell(Record):
    """What one variant made of one item."""

    verdict: Verdict | None = None
    """Of a claim the verdict of most repeats; None where none has most."""
    unscored_reason: UnscoredReason | None = None
    """Of a claim without any verdict, the reason in the first repeat."""
    value: float | None
    """Of a claim the share of its repeats with a verdict that give people's label; of a response F1 at the first K, or
    its precision where no K was asked for, as a mean over repeats. None where there is none."""
    n_scored: Count
    """Repeats with a verdict: of a response, with a scored claim."""
    n_repeats: Count
    """Repeats with any result."""


class ItemRow(Record):
    """One item against every variant."""

    item_id: str
    group: str
    """The group of a claim, the prompt of a response."""
    claim: str | None = None
    """None for a response."""
    gold: bool | None = None
    """People's label of a claim."""
    cells: tuple[ItemCell, ...]
    """One for each variant, in their order."""


class Conclusion(Record):
    """The headline of one comparison, in words."""

    first: Name
    second: Name
    outcome: Outcome
    words: str


class ExperimentReport(Record):
    """An experiment, whole. Equal results, settings and seed give equal reports but for `created_at`."""

    schema_version: Literal["2.0", "2.1", "2.2"] = "2.2"
    name: str
    kind: Literal["claims", "responses"]
    data: str
    n_items: Count
    n_labelled: Count
    """Distinct claims with a label of people; `n_supported` of them supported."""
    n_supported: Count
    repeats: Repeat
    baseline: Name
    k: tuple[Annotated[int, Field(ge=1)], ...]
    level: Annotated[float, Field(gt=0.0, lt=1.0)]
    """Level of the intervals, those of differences a family together; these are held against alpha, one minus this."""
    n_resamples: Count
    seed: Count
    p_adjustment: FamilyAdjustment
    families: tuple[Family, ...]
    headline: Quantity
    headline_k: Annotated[int, Field(ge=1)] | None = None
    conclusions: tuple[Conclusion, ...]
    """One for each variant but the baseline, or for each pair; empty for a single variant."""
    demands: tuple[DemandResult, ...] = ()
    """What was demanded of each variant but the baseline."""
    variants: tuple[VariantReport, ...]
    differences: tuple[PairedDifference, ...]
    flip_counts: tuple[FlipCount, ...]
    flips: tuple[Flip, ...]
    """Between baseline and each variant: worse first, then better, then neutral; then by group and claim."""
    items: tuple[ItemRow, ...] = ()
    """Every item of the data against every variant, by group and item. Empty in reports of version 2.0."""
    paid: Usage
    warnings: tuple[str, ...] = ()
    created_at: datetime | None = None

    def differences_of(self, first: str, second: str) -> tuple[PairedDifference, ...]:
        return tuple(one for one in self.differences if (one.first, one.second) == (first, second))
