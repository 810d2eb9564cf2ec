"""Defines the records for raw and corrected figures, including the data behind each figure."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.figure import Measurement
from factloop.core.records import Count, Record, Share

LEVEL = 0.95
Abstentions = Literal["zero", "exclude"]
"""Whether a response without scored claims counts as 0 (because nothing is supported) or is excluded."""


class Method(StrEnum):
    RAW = "raw"
    """The evaluator's uncorrected verdicts."""
    PREDICTION_POWERED = "prediction_powered"
    """PPI++ (Angelopoulos, Duchi and Zrnic 2023). It is valid if the labelled claims are like those of the run."""
    ADJUSTED_COUNT = "adjusted_count"
    """Rogan and Gladen 1978. It is valid if the evaluator's TPR and FPR are the same on both samples."""
    DIFFERENCE = "difference"
    """Difference estimator for a finite population (Särndal, Swensson and Wretman 1992), using the run's own labels."""


class Target(StrEnum):
    """The claims that a figure describes."""

    PROMPTS = "prompts"
    """All claims that the system makes on prompts like the run's. The run's claims are a sample of these."""
    RUN = "run"
    """Only the claims of this run, as if all of them had been labelled."""


class Transfer(StrEnum):
    """What the labelled claims and the run are assumed to have in common."""

    VERDICTS = "verdicts"
    """The probability that a claim with a given verdict is truly supported. The claims must be of the same kind."""
    ERROR_RATES = "error_rates"
    """TPR and FPR. The run may contain more or fewer errors, but the evaluator detects them equally well."""


class Caution(StrEnum):
    """A reason to have less confidence in a value."""

    FEW_LABELS = "few_labels"
    """There are too few labelled claims or groups of them for intervals based on the normal distribution."""
    FEW_OF_A_CLASS = "few_of_a_class"
    """Too few responses contain claims with one of the labels to tell how the evaluator treats such claims."""
    CLIPPED = "clipped"
    """The value was below 0 or above 1, because of sampling error or because the claims are of a different kind."""
    OUT_OF_RANGE = "out_of_range"
    """The interval was also outside [0, 1], so the labelled claims do not match the run. There is no interval."""
    NO_SPREAD = "no_spread"
    """Nothing varies. This does not mean certainty, so there is no interval."""
    WIDENED = "widened"
    """One label is rare, or few labels show no error. The interval was therefore widened to include the labels' own."""
    ONE_GROUP = "one_group"
    """A sample consists of a single group, so there is no interval."""
    LABELLED_IN_PART = "labelled_in_part"
    """F1@K is undefined, because it requires a response with labels for all of its claims and none is known."""


class Estimate(Measurement):
    """A fraction of supported claims or an F1@K in [0, 1] (higher is better), or the reason why it is undefined."""

    method: Method
    target: Target = Target.PROMPTS
    value: Share | None
    low: Share | None = None
    high: Share | None = None
    """None if a sample is a single group, if nothing varies, or if the interval is outside [0, 1]."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_run: Count
    """Number of the run's claims that have a verdict."""
    n_run_groups: Count
    n_labels: Count
    """Number of labelled claims that have a verdict, or 0 if the method does not use labels."""
    n_label_groups: Count
    weight: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """How much weight a prediction-powered value gives to the verdicts (lambda). 0 means that only the labels are used.
    None if every lambda gives the same value.

    The value is (1 - lambda) mean(label) + lambda (run rate + mean(label - verdict)). The last factor is the run's
    precision, corrected with the labels.
    """

    uses_scores: bool = False
    """Whether the evaluator's scores replace its verdicts, because that narrows the interval."""

    cautions: tuple[Caution, ...] = ()


class EvaluatorRates(Record):
    """The evaluator's error rates on the labelled claims. A rate is None if no claims have its label."""

    tpr: Share | None
    """Fraction of the truly supported claims that the evaluator judges supported."""
    fpr: Share | None
    """Fraction of the other claims that the evaluator judges supported."""
    tpr_low: Share | None = None
    tpr_high: Share | None = None
    fpr_low: Share | None = None
    fpr_high: Share | None = None
    """None if the claims are in a single group."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_supported: Count
    n_not_supported: Count
    n_unscored: Count
    """Number of labelled claims that are excluded because they have no verdict."""


class DebiasedPrecision(Record):
    """Supported claims as a fraction of a run's scored claims, both raw and corrected."""

    raw: Estimate
    prediction_powered: Estimate
    adjusted_count: Estimate
    own_claims: Estimate | None = None
    """The precision of the run's own claims, estimated from the labelled ones. None if none is known to be labelled."""
    preferred: Method | None = None
    """The estimate with the more plausible assumption: prediction-powered if the labelled claims come from the system
    or the run, or are declared to be similar, and otherwise the adjusted count. None if it is undefined."""
    evaluator: EvaluatorRates
    n_run_unscored: Count
    """Number of the run's claims without a verdict. Irrelevant claims are not counted anywhere."""


class DebiasedF1(Record):
    """The mean F1@K over a run's responses, both raw and corrected."""

    k: Annotated[int, Field(ge=1)]
    raw: Estimate
    corrected: Estimate
    transfer: Transfer
    abstentions: Abstentions
    n_responses: Count
    """Number of responses in the mean."""
    n_abstentions: Count
    """Number of responses without claims to score, whether they count as 0 or are excluded."""
    n_failed: Count
    """Number of responses excluded because none of their claims received a verdict. These are not abstentions."""
