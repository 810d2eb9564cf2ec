"""The words of an audit: groups, uses, leave, and why a figure is undefined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from factloop.evaluation.audit.adjustment_records import (
    FEWEST,
    AdjustmentMethod,
    CalibrationWarning,
    UnadjustedReason,
)
from factloop.evaluation.audit.advice import Leave, Use
from factloop.evaluation.audit.estimate import Group
from factloop.evaluation.audit.pair_tests import PairTest
from factloop.evaluation.audit.ranking import Order, Ranking
from factloop.evaluation.audit.units import Level

USES: Mapping[Use, str] = {
    Use.FILTER_CLAIMS: "sort single claims",
    Use.ERROR_RATE: "estimate a system's error rate",
    Use.HEADROOM: "tell how much is left to improve",
    Use.COMPARE_SYSTEMS: "tell which of two systems is better",
    Use.RANK_SYSTEMS: "rank systems",
    Use.LONG_DOCUMENTS: "check against long documents in chunks",
    Use.PARAPHRASED_CLAIMS: "check paraphrased claims",
    Use.COPIED_CLAIMS: "check claims that copy the document",
}
LEAVES: Mapping[Leave, tuple[str, str, str]] = {
    Leave.YES: ("yes", "✓", "supported"),
    Leave.WITH_CARE: ("with care", "!", "no_evidence"),
    Leave.NO: ("no", "✗", "contradicted"),
    Leave.UNKNOWN: ("not known", "?", "irrelevant"),
}
"""In words, as a sign, and the tone of both."""
LEVELS: Mapping[Level, str] = {Level.CLAIM: "claims", Level.RESPONSE: "responses"}
ORDERS: Mapping[Order, str] = {Order.BETTER: "better", Order.SAME: "no difference", Order.WORSE: "worse"}
TESTS: Mapping[PairTest, str] = {
    PairTest.PAIRED: "prompt by prompt where they share prompts (paired sign flips)",
    PairTest.CLUSTERED: "by whole responses, or prompts, where they share none (clustered proportions)",
    PairTest.TWO_PROPORTIONS: "as independent where each prompt or response has one (two proportions)",
}
METHODS: Mapping[AdjustmentMethod, str] = {
    AdjustmentMethod.UNADJUSTED: "unadjusted",
    AdjustmentMethod.ADJUSTED_COUNTS: "adjusted counts",
    AdjustmentMethod.ZERO_BIAS: "threshold tuned to zero bias",
    AdjustmentMethod.BALANCED_ACCURACY: "threshold tuned to balanced accuracy",
}
WHY_UNADJUSTED: Mapping[UnadjustedReason, str] = {
    UnadjustedReason.NO_ERRORS: "no errors to calibrate on",
    UnadjustedReason.NO_ATTRIBUTABLE: "nothing but errors",
    UnadjustedReason.EQUAL_RATES: "flags errors no more than others",
    UnadjustedReason.LABELS_ONLY: "no scores between 0 and 1",
}
CALIBRATION_WARNINGS: Mapping[CalibrationWarning, str] = {
    CalibrationWarning.FEW_ERRORS: f"fewer than {FEWEST} errors: the rates of so good a system mean little",
    CalibrationWarning.FEW_ATTRIBUTABLE: f"fewer than {FEWEST} attributable claims",
    CalibrationWarning.NOT_TOLD_APART: "errors hardly flagged more often than other claims",
}


def tests_of(rankings: Iterable[Ranking]) -> str:
    """How pairs of systems were compared; empty where there is none."""
    used = {pair.test for one in rankings for pair in one.pairs}
    return "; ".join(words for test, words in TESTS.items() if test in used)


def title_of(group: Group) -> str:
    """As a heading has it."""
    return {"all": "All data sets", "task": f"Task group: {group.name}", "dataset": f"Data set: {group.name}"}[
        group.kind
    ]


def where(group: Group) -> str:
    """As it reads in a sentence."""
    return {"all": "all data sets", "task": f"the data sets of {group.name}", "dataset": group.name}[group.kind]
