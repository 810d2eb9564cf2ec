"""Records of debiasing: the raw figure, the debiased ones, and what each of them rests on."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from factloop.core.figure import Measurement
from factloop.core.records import Count, Record, Share

LEVEL = 0.95
Abstentions = Literal["zero", "exclude"]
"""How a response without a scored claim counts: as 0, since nothing is supported; or it is left out."""


class Method(StrEnum):
    RAW = "raw"
    """The evaluator's verdicts as they are."""
    PREDICTION_POWERED = "prediction_powered"
    """PPI++ (Angelopoulos, Duchi and Zrnic 2023): holds where the labelled claims are like those of the run."""
    ADJUSTED_COUNT = "adjusted_count"
    """Rogan and Gladen 1978: holds where the evaluator's TPR and FPR are the same on both."""
    BOOTSTRAP = "bootstrap"
    """Resamples of both samples: corrected F1@K in summaries before version 1.6."""
    DIFFERENCE = "difference"
    """Difference estimator of a finite population (Särndal, Swensson and Wretman 1992): labelled claims of the run."""


class Target(StrEnum):
    """What a figure is that of."""

    PROMPTS = "prompts"
    """The claims that the system makes of such prompts; those of the run are a draw of them."""
    RUN = "run"
    """The claims of this run alone, as if people had labelled them all."""


class Transfer(StrEnum):
    """The property of the labelled claims that holds for the run, too."""

    VERDICTS = "verdicts"
    """How often a claim of either verdict is truly supported: the claims are of the same kind."""
    ERROR_RATES = "error_rates"
    """TPR and FPR: the run may have more or fewer errors, but the evaluator finds them as well."""


class Caution(StrEnum):
    """A reason to lean less on a value."""

    FEW_LABELS = "few_labels"
    """Too few labelled claims, or groups of them, for intervals that rest on the normal distribution."""
    FEW_OF_A_CLASS = "few_of_a_class"
    """Too few responses hold a claim labelled supported, or not supported, to know how the evaluator treats them."""
    CLIPPED = "clipped"
    """The value came out below 0 or above 1, which sampling error or another kind of claims can do."""
    OUT_OF_RANGE = "out_of_range"
    """The interval, too, lies below 0 or above 1: the labelled claims and the run do not fit. There is none."""
    NO_SPREAD = "no_spread"
    """Nothing varies: there is no interval, for that is no certainty."""
    WIDENED = "widened"
    """A class is rare among the labels, or few labels show no error; the interval holds that of the labels, too."""
    ONE_GROUP = "one_group"
    """A sample is a single group: there is no interval."""
    LABELLED_IN_PART = "labelled_in_part"
    """No response is known to have a label for each claim, as F1@K needs: it is undefined."""
    LABELS_ALIKE = "labels_alike"
    RESAMPLES_LOST = "resamples_lost"
    """These two were of the bootstrap: in summaries before version 1.6."""


class Estimate(Measurement):
    """A share of supported claims or an F1@K in [0, 1], higher is better, or the reason why it is undefined."""

    method: Method
    target: Target = Target.PROMPTS
    value: Share | None
    low: Share | None = None
    high: Share | None = None
    """None where a sample is a single group, where nothing varies, and where they lie beyond 0 or 1."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_run: Count
    """Claims of the run that have a verdict."""
    n_run_groups: Count
    n_labels: Count
    """Labelled claims that have a verdict; 0 where the method uses none."""
    n_label_groups: Count
    weight: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """Prediction-powered: lambda, how far the verdicts are used; 0 leaves the labels alone. None where the value is the
    same for every lambda."""

    uses_scores: bool = False
    """Whether the evaluator's scores stand in the place of its verdicts: they do where the interval is narrower so."""

    @property
    def label_share(self) -> float | None:
        """1 - lambda: the weight of the labelled claims' own precision in a prediction-powered value.

        The value is (1 - lambda) mean(label) + lambda (rate of the run + mean(label - verdict)): the precision of the
        labelled claims themselves, and that of the run put right by them.
        """
        return None if self.weight is None else 1.0 - self.weight

    cautions: tuple[Caution, ...] = ()


class EvaluatorRates(Record):
    """How the evaluator did on the labelled claims; None without claims of the class."""

    tpr: Share | None
    """Share of the truly supported claims that it calls supported."""
    fpr: Share | None
    """Share of the other claims that it calls supported."""
    tpr_low: Share | None = None
    tpr_high: Share | None = None
    fpr_low: Share | None = None
    fpr_high: Share | None = None
    """None where the claims are of a single group, and in summaries before version 1.4."""
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = LEVEL
    n_supported: Count
    n_not_supported: Count
    n_unscored: Count
    """Labelled claims without a verdict, which nothing here rests on."""


class DebiasedPrecision(Record):
    """Supported claims as a share of all scored claims of a run, raw and corrected."""

    raw: Estimate
    prediction_powered: Estimate
    adjusted_count: Estimate
    own_claims: Estimate | None = None
    """That of the run's own claims, by those of them that people labelled. None where none of them is known to be, and
    in summaries before version 1.2."""
    preferred: Method | None = None
    """The estimate whose assumption holds as far as can be seen: prediction-powered where labelled claims come from the
    system or the run, or are said to be alike, otherwise the adjusted count. None where that one is undefined."""
    evaluator: EvaluatorRates
    n_run_unscored: Count
    """Claims of the run without a verdict; irrelevant claims are in neither count."""


class DebiasedF1(Record):
    """F1@K as a mean over the responses of a run, raw and corrected."""

    k: Annotated[int, Field(ge=1)]
    raw: Estimate
    corrected: Estimate
    transfer: Transfer
    abstentions: Abstentions
    n_responses: Count
    """Responses that the mean is taken over."""
    n_abstentions: Count
    """Responses without a claim to score, whether counted as 0 or left out."""
    n_failed: Count
    """Responses left out because none of their claims got a verdict, which is no abstention."""
    n_resamples: Count = 0
    n_resamples_undefined: Count = 0
    """Those of the bootstrap in summaries before version 1.6."""
