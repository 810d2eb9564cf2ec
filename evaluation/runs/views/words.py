"""The figures of a run in words and digits, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from factloop.core.records import Repeats
from factloop.evaluation.runs.label_agreement import LabelAgreement
from factloop.evaluation.runs.longform import FEWEST_PROMPTS
from factloop.evaluation.runs.longform_records import (
    AbstentionPolicy,
    ChosenK,
    KRule,
    LongFormScores,
    Mean,
    PromptFigure,
)
from factloop.evaluation.runs.measures import figures_of
from factloop.reports.figures import plural
from factloop.reports.sheet.table import NOTHING

_POLICIES = {
    AbstentionPolicy.ZERO: "zero: a response without claims counts as F1@K 0, as in the paper's code",
    AbstentionPolicy.EXCLUDE: "exclude: a response without claims is left out of every mean",
}
_REPEATS: Mapping[Repeats, str] = {
    "each": "each: a claim that repeats another of its response counts again in precision, recall and F1@K, as in "
    "the paper's code",
    "once": "once: of claims that say the same the first counts, in every figure",
}

_RULES = {
    KRule.GIVEN: "",
    KRule.MEDIAN: " (the median of supported claims)",
    KRule.MAXIMUM: " (their maximum)",
}
AGREEMENTS = {
    "agreement": "Agreement",
    "kappa": "Cohen’s kappa",
    "balanced_accuracy": "Balanced accuracy",
    "tpr": "TPR",
    "tnr": "TNR",
}
"""Figures of agreement with labels, by their fields of `SystemAgreement`, in the order in which they are shown."""


def policy_words(policy: AbstentionPolicy) -> str:
    return _POLICIES[policy]


def repeats_words(repeats: Repeats) -> str:
    return _REPEATS[repeats]


def k_words(choice: ChosenK) -> str:
    """`K 64`, `K 31 (the median of supported claims)`."""
    return f"K {choice.k:,}{_RULES[choice.rule]}"


def share(value: float | None) -> str:
    """Three digits, or a dash."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """`[0.612, 0.701]`, or a dash."""
    return NOTHING if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def few_prompts(figures: Iterable[PromptFigure]) -> str:
    """The caution where intervals rest on few prompts, as a sentence; empty where none does."""
    fewest = min((one.n_prompts for one in figures if one.interval is not None), default=FEWEST_PROMPTS)
    if fewest >= FEWEST_PROMPTS:
        return ""
    return f"Fewer than {FEWEST_PROMPTS} prompts ({fewest:,} at the least), so that intervals are too narrow."


def few_prompts_of(scores: LongFormScores) -> str:
    """The caution for the means of a run's systems."""
    return few_prompts(mean for system in scores.systems for _, _, mean in figures_of(system))


def few_prompts_of_labels(found: LabelAgreement) -> str:
    """The caution for the agreement with people's labels."""
    return few_prompts(getattr(one, name) for one in (found.overall, *found.systems) for name in AGREEMENTS)


def mean_basis(mean: Mean) -> str:
    """What a mean rests on: `120 responses`, `240 responses to 120 prompts`."""
    responses = plural(mean.n, "response")
    return responses if mean.n == mean.n_prompts else f"{responses} to {plural(mean.n_prompts, 'prompt')}"
