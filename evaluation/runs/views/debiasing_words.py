"""Corrected figures in words: the method, why there is no value, and what speaks against leaning on one."""

from __future__ import annotations

from factloop.evaluation.debiasing.records import Caution, Estimate, Method, Target, Transfer
from factloop.evaluation.runs.records import Calibration, RunDebiasing
from factloop.reports.figures import plural

METHOD_WORDS = {
    Method.RAW: "raw",
    Method.PREDICTION_POWERED: "prediction-powered",
    Method.ADJUSTED_COUNT: "adjusted count",
    Method.BOOTSTRAP: "corrected",
    Method.DIFFERENCE: "its labelled claims",
}

NO_INTERVAL_WORDS = {
    Caution.NO_SPREAD: "nothing varies",
    Caution.OUT_OF_RANGE: "beyond 0 or 1",
    Caution.ONE_GROUP: "a single group",
    Caution.LABELS_ALIKE: "few labels, all alike",
}
"""Why a value has no interval, in the width of one."""

CAUTION_WORDS = {
    Caution.FEW_LABELS: "few labelled claims for such an interval",
    Caution.FEW_OF_A_CLASS: "few labelled claims of one class",
    Caution.CLIPPED: "came out beyond 0 or 1 and was cut",
    Caution.OUT_OF_RANGE: "the whole interval lies beyond 0 or 1, so that the labels do not fit the run: there is none",
    Caution.NO_SPREAD: "nothing varies from prompt to prompt, which is no certainty: there is no interval",
    Caution.WIDENED: "a class is rare among the labels; the interval was widened for it",
    Caution.ONE_GROUP: "a sample is a single group, so there is no interval",
    Caution.LABELS_ALIKE: "all labels of a verdict, or of a class, are alike and they are few: no resample shows how "
    "far off they may be, so there is no interval",
    Caution.RESAMPLES_LOST: "more than a twentieth of the resamples had no value",
}

TRANSFER_WORDS = {
    Transfer.VERDICTS: "a claim with either verdict is truly supported as often as among the labelled claims: "
    "holds where those are claims of the same kind",
    Transfer.ERROR_RATES: "the evaluator's TPR and FPR are those on the labelled claims: the run may hold more or "
    "fewer errors, but is judged as well",
}


TARGET_WORDS = {
    Target.PROMPTS: "what the system says to such prompts; intervals take the run's as a draw of them",
    Target.RUN: "the claims of this run, as if people had labelled them all; intervals leave open the unlabelled ones",
}


PRECISION_WORDS = (
    "“Precision, all claims” is over all claims of a system together, so that long responses weigh more, and has an "
    "interval of its own; “Precision” of the scores is the mean over responses"
)


def targets(found: Calibration) -> list[str]:
    """What the figures are that of: a line for each kind there is."""
    said = [f"all but “this run alone”: {TARGET_WORDS[Target.PROMPTS]}"]
    if any(one.precision.own_claims is not None for one in found.systems):
        return [*said, f"this run alone: {TARGET_WORDS[Target.RUN]}"]
    return [TARGET_WORDS[Target.PROMPTS]]


def overlap_words(one: RunDebiasing) -> str:
    """How many labelled claims are drawn with the run; empty where it was not recorded."""
    n_labels = one.precision.prediction_powered.n_labels + one.precision.evaluator.n_unscored
    if one.n_of_prompts is None:
        return ""
    if not one.n_of_prompts:
        return f"none of {plural(n_labels, 'labelled claim')} is from its prompts: two samples"
    own = f", {one.n_own:,} of them its own claims" if one.n_own else ""
    return f"{one.n_of_prompts:,} of {plural(n_labels, 'labelled claim')} are from its prompts and drawn with them{own}"


def weight_words(estimate: Estimate) -> str:
    """`λ 0.18: 82% from labels alone`, with scores where they were used; empty without a lambda."""
    if estimate.weight is None or estimate.label_share is None:
        return ""
    by = ", by scores" if estimate.uses_scores else ""
    weight, share = (round(value, 2) + 0.0 for value in (estimate.weight, estimate.label_share))  # never -0.00
    return f"λ {weight:.2f}{by}: {share:.0%} from labels alone"
