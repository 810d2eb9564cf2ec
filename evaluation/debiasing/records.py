"""The records for raw and corrected figures."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.figure import Measurement
from factloop.core.records import Count, Record, Share

LEVEL = 0.95
Abstentions = Literal["zero", "exclude"]
"""Whether a response without scored claims counts as 0 or is excluded."""


class Method(StrEnum):
    RAW = "raw"
    PREDICTION_POWERED = "prediction_powered"
    """PPI++ (Angelopoulos, Duchi and Zrnic 2023). Valid if the labelled claims are like those of the run."""
    ADJUSTED_COUNT = "adjusted_count"
    """Rogan and Gladen 1978. Valid if the evaluator's TPR and FPR are the same on both samples."""
    DIFFERENCE = "difference"
    """Difference estimator for a finite population (Särndal, Swensson and Wretman 1992), using the run's own labels."""


class Target(StrEnum):
    PROMPTS = "prompts"
    """All claims that the system makes on prompts like the run's, of which the run's claims are a sample."""
    RUN = "run"
    """Only the claims of this run, as if all of them had been labelled."""


class Transfer(StrEnum):
    """What the labelled claims and the run are assumed to share."""

    VERDICTS = "verdicts"
    """The probability that a claim with a given verdict is truly supported. The claims must be of the same kind."""
    ERROR_RATES = "error_rates"
    """TPR and FPR. The run may contain more or fewer errors, but the evaluator detects them equally well."""


class Caution(StrEnum):
    FEW_LABELS = "few_labels"
    """There are too few labelled claims or groups of them for intervals based on the normal distribution."""
    FEW_OF_A_CLASS = "few_of_a_class"
    """Too few responses contain claims with one of the labels to tell how the evaluator treats such claims."""
    CLIPPED = "clipped"
    """The value was below 0 or above 1, because of sampling error or because the claims are of a different kind."""
    OUT_OF_RANGE = "out_of_range"
    """The whole interval was outside [0, 1], so the labelled claims do not match the run. There is no interval."""
    NO_SPREAD = "no_spread"
    """Nothing varies, so there is no interval. This does not mean that the value is certain."""
    WIDENED = "widened"
    """One label is rare, or few labels show no error. The interval was widened to include that of the labels alone."""
    ONE_GROUP = "one_group"
    """A sample consists of a single group, so there is no interval."""
    LABELLED_IN_PART = "labelled_in_part"
    """F1@K is undefined, because no response is known to have labels for all of its claims."""


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
    n_run_groups: Count
    n_labels: Count
    """Labelled claims that have a verdict, or 0 if the method does not use labels."""
    n_label_groups: Count
    weight: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """How much weight a prediction-powered value gives to the verdicts (lambda). 0 uses only the labels. None if every
    lambda gives the same value.

    The value is (1 - lambda) mean(label) + lambda (run rate + mean(label - verdict)).
    """

    uses_scores: bool = False
    """Whether scores replace verdicts because that narrows the interval."""

    cautions: tuple[Caution, ...] = ()


class EvaluatorRates(Record):
    """Error rates on the labelled claims. A rate is None if no claims have its label."""

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


class DebiasedPrecision(Record):
    raw: Estimate
    prediction_powered: Estimate
    adjusted_count: Estimate
    own_claims: Estimate | None = None
    """Precision of the run's own claims, estimated from the labelled ones. None if no claim is known to be labelled."""
    preferred: Method | None = None
    """The estimate with the more plausible assumption: prediction-powered if the labelled claims come from the system
    or the run, or are declared to be like them, and otherwise the adjusted count. None if it is undefined."""
    evaluator: EvaluatorRates
    n_run_unscored: Count
    """The run's claims without a verdict. Irrelevant claims are not counted anywhere."""


class DebiasedF1(Record):
    k: Annotated[int, Field(ge=1)]
    raw: Estimate
    corrected: Estimate
    transfer: Transfer
    abstentions: Abstentions
    n_responses: Count
    n_abstentions: Count
    """Responses without claims to score, whether they count as 0 or are excluded."""
    n_failed: Count
    """Responses excluded because none of their claims received a verdict. These are not abstentions."""
