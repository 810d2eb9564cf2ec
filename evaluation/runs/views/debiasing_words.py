"""Corrected figures in words: the method, why there is no value, and what speaks against leaning on one."""

from __future__ import annotations

from factloop.evaluation.debiasing.records import Caution, Estimate, Method, Transfer

METHOD_WORDS = {
    Method.RAW: "raw",
    Method.PREDICTION_POWERED: "prediction-powered",
    Method.ADJUSTED_COUNT: "adjusted count",
    Method.BOOTSTRAP: "corrected",
}

CAUTION_WORDS = {
    Caution.FEW_LABELS: "few labelled claims for such an interval",
    Caution.FEW_OF_A_CLASS: "few labelled claims of one class",
    Caution.CLIPPED: "came out beyond 0 or 1 and was cut",
    Caution.NO_SPREAD: "a sample does not vary, so its uncertainty is left out",
    Caution.WIDENED: "a class is rare among the labels; the interval was widened for it",
    Caution.ONE_GROUP: "a sample is a single group, so there is no interval",
    Caution.RESAMPLES_LOST: "more than a twentieth of the resamples had no value",
}

TRANSFER_WORDS = {
    Transfer.VERDICTS: "a claim with either verdict is truly supported as often as among the labelled claims: "
    "holds where those are claims of the same kind",
    Transfer.ERROR_RATES: "the evaluator's TPR and FPR are those on the labelled claims: the run may hold more or "
    "fewer errors, but is judged as well",
}


def weight_words(estimate: Estimate) -> str:
    """`λ 0.18: 82% from labels alone`; empty without a lambda."""
    if estimate.weight is None or estimate.label_share is None:
        return ""
    return f"λ {estimate.weight:.2f}: {estimate.label_share:.0%} from labels alone"
