"""The words of an audit, each for one value: uses, conditions, reasons, notices, figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from factloop.evaluation.audit.adjustment import FEWEST, AdjustmentMethod, CalibrationWarning, UnadjustedReason
from factloop.evaluation.audit.advice import CLUSTERS_WARNED, FEWEST_CLUSTERS, FEWEST_RESAMPLES
from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.ranking import Order, PairTest, Ranking
from factloop.evaluation.audit.report import Leave, Measure, Notice, NoticeKind, Reason, Use
from factloop.evaluation.audit.table import Level
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM
from factloop.evaluation.statistics.significance import PValueAdjustment

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
REASONS: Mapping[Reason, str] = {
    Reason.WITHIN_LIMITS: "Every figure is within its limit.",
    Reason.BETWEEN_LIMITS: "A figure lies between good and poor: report it beside every result.",
    Reason.BEYOND_LIMITS: "A figure is poor.",
    Reason.WIDE_INTERVAL: "An interval holds both poor and fair values: label more claims.",
    Reason.NOT_ABOVE_CHANCE: "The balanced accuracy is not shown to be above chance.",
    Reason.CHANCE_NOT_EXCLUDED: "Too few claims of each kind to rule out chance: label more claims.",
    Reason.FEW_DIFFERENCES: "By the labels, few pairs of systems differ: label more claims.",
    Reason.NO_DIFFERENCES: "By the labels, no two systems differ: label more claims.",
    Reason.NOT_MEASURED: "It was not measured.",
    Reason.TOO_FEW: "Too few claims, systems or pairs of systems.",
    Reason.TOO_FEW_CLUSTERS: f"Fewer than {FEWEST_CLUSTERS} prompts or responses.",
    Reason.UNDEFINED: "A figure is undefined here.",
}
"""What is said under each condition."""
MEASURES: Mapping[Measure, str] = {
    Measure.TPR: "TPR",
    Measure.TNR: "TNR",
    Measure.BALANCED_ACCURACY: "balanced accuracy",
    Measure.MEAN_BIAS: "mean bias",
    Measure.HEADROOM_BIAS: "bias of the lowest error rate",
    Measure.WRONG_PAIRS: "pairs ordered wrongly",
    Measure.REVERSED_PAIRS: "pairs reversed",
    Measure.FOUND_PAIRS: "differences found",
    Measure.TAU: "Kendall's tau",
    Measure.LOST_ACROSS_CHUNKS: "lost across chunks",
    Measure.TPR_DROP: "fall of TPR where least alike",
    Measure.TPR_LEAST_SIMILAR: "TPR where least alike",
    Measure.TNR_LEAST_SIMILAR: "TNR where least alike",
    Measure.TNR_DROP: "fall of TNR where most alike",
    Measure.TNR_MOST_SIMILAR: "TNR where most alike",
    Measure.TPR_MOST_SIMILAR: "TPR where most alike",
}
NOTICES: Mapping[NoticeKind, str] = {
    NoticeKind.NO_SCORES: "No row has a score of this evaluator.",
    NoticeKind.NO_TEXT: "Wording and chunks: the rows have no claims with their documents.",
    NoticeKind.NO_CHUNKS: "Chunks: no evaluator has a second column of scores on chunks, named NAME@500 beside NAME.",
    NoticeKind.NO_TASKS: "Task groups: the rows have no task.",
    NoticeKind.NO_PROMPTS: "Tests by prompt: without prompt_id, systems are compared by whole responses.",
    NoticeKind.ONE_EVALUATOR: "Agreement of evaluators: there is one, which is compared with the labels alone.",
    NoticeKind.UNKNOWN_SYSTEM: f"claims are of the system `{UNKNOWN_SYSTEM}`. Rates and agreement count them; "
    "headroom, ranking, bias by system and adjustment do not.",
    NoticeKind.ONE_SYSTEM: "Headroom, ranking and adjustment: there is one system.",
    NoticeKind.TWO_SYSTEMS: "Kendall's and Pearson's coefficients: there are two systems, and they need three.",
    NoticeKind.NO_UNATTRIBUTABLE: "TNR, FPR, balanced accuracy and gap: no claim is labelled unattributable.",
    NoticeKind.NO_ATTRIBUTABLE: "TPR, FNR, balanced accuracy and gap: no claim is labelled attributable.",
    NoticeKind.LABELS_ONLY: "Tuned thresholds: all scores of this evaluator are 0 or 1.",
    NoticeKind.WEIGHTED: "is the effective number of claims. Rates, scores, agreement and error rates of claims weight "
    "each by the inverse of its `probability`; all other figures are those of the labelled claims alone.",
    NoticeKind.UNSCORED: "claims have no score. The figures of this evaluator leave them out, and may rest on other "
    "claims than those of the others.",
    NoticeKind.UNSCORED_RESPONSES: "responses with an unscored claim have another that is called wrong. Figures of "
    "responses leave out all that have an unscored claim.",
    NoticeKind.NO_LONG_DOCUMENT: "No scored claim has a document longer than a chunk.",
    NoticeKind.NO_RESAMPLES: "No resamples were asked for, so there are no intervals.",
    NoticeKind.FEW_RESAMPLES: f"resamples leave the ends of intervals rough; take {FEWEST_RESAMPLES:,} or more.",
    NoticeKind.ONE_CLUSTER: "There are fewer than two prompts or responses to draw from, so there are no intervals.",
    NoticeKind.FEW_CLUSTERS: f"prompts or responses, fewer than {CLUSTERS_WARNED}: intervals are too narrow.",
}
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
P_ADJUSTMENTS: Mapping[PValueAdjustment, str] = {
    PValueAdjustment.NONE: "no adjustment for many pairs",
    PValueAdjustment.HOLM: "Holm's adjustment over the pairs of a data set",
}
_OTHERS: Mapping[StrEnum, str] = {
    UnadjustedReason.NO_ERRORS: "no errors to calibrate on",
    UnadjustedReason.NO_ATTRIBUTABLE: "nothing but errors",
    UnadjustedReason.EQUAL_RATES: "flags errors no more than others",
    UnadjustedReason.LABELS_ONLY: "no scores between 0 and 1",
    CalibrationWarning.FEW_ERRORS: f"fewer than {FEWEST} errors",
    CalibrationWarning.FEW_ATTRIBUTABLE: f"fewer than {FEWEST} attributable claims",
    CalibrationWarning.NOT_TOLD_APART: "errors hardly flagged more often than other claims",
}
VALUES: Mapping[tuple[type[StrEnum], StrEnum], str] = {
    (type(one), one): words for table in (LEVELS, ORDERS, METHODS, _OTHERS) for one, words in table.items()
}
"""What a table shows for a value of a record."""


def notice_text(one: Notice) -> str:
    """The notice with whom it is about and its numbers before it."""
    of = "" if one.of is None else f" of {one.of:,}"
    count = "" if one.n is None else f"{one.n:,}{of} "
    return f"{one.about + ': ' if one.about else ''}{count}{NOTICES[one.kind]}"


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
