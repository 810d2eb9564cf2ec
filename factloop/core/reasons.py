"""Defines the reasons why a verdict or score can be missing, and how reports describe them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class UnscoredReason(StrEnum):
    PARSE_FAILURE = "parse_failure"
    TOOL_FAILURE = "tool_failure"
    REFUSAL = "refusal"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    AMBIGUOUS = "ambiguous"
    DISPUTED = "disputed"
    """The sources contradict each other, and neither corrects the other. Both sides are cited for a person to decide.
    """
    SPLIT_JURY = "split_jury"
    """No verdict received enough votes under the jury's rule. `votes` contains each model's vote."""
    NEEDS_READING = "needs_reading"
    """The judge is not certain, so a person should read the evidence. The decisive passage comes first."""
    OTHER_LANGUAGE = "other_language"
    """The judge cannot read the claim's language. The offline engine reads only English."""
    NO_SOURCE = "no_source"
    """There is nothing to check against: no documents or search tool, no corpus (TrustFC) or no subject (TrustBC)."""
    TOO_FEW_DISTRACTORS = "too_few_distractors"
    """TrustBC needs at least three distractors per question, and there were fewer."""


@dataclass(frozen=True)
class About:
    claim: str
    """How reports describe an unscored claim."""
    belief: str
    """How reports describe an answer without a TrustBC score."""
    documents: str
    """How reports describe an answer without a TrustFC score."""
    failure: bool = False
    """Whether something failed. False if the reason lies in the text or the sources."""
    mendable: bool = False
    """Whether another run, which reuses the answers in the journal, may help."""


ABOUT = {
    UnscoredReason.PARSE_FAILURE: About(
        "the judge's reply could not be read",
        "no choice could be read in the reply",
        "the judge's reply could not be read",
        failure=True,
    ),
    UnscoredReason.TOOL_FAILURE: About(
        "a model or search call failed",
        "a model call failed",
        "a model or search call failed",
        failure=True,
        mendable=True,
    ),
    UnscoredReason.REFUSAL: About(
        "the model declined to answer", "the subject declined to choose", "the judge declined to answer", failure=True
    ),
    UnscoredReason.BUDGET: About(
        "the budget was used up", "the budget was used up", "the budget was used up", mendable=True
    ),
    UnscoredReason.TIMEOUT: About(
        "no answer in time", "no answer in time", "no answer in time", failure=True, mendable=True
    ),
    UnscoredReason.AMBIGUOUS: About(
        "the response leaves the claim ambiguous", "the reply names several options", "the answer is ambiguous"
    ),
    UnscoredReason.DISPUTED: About("the sources disagree", "the reply says both", "the documents disagree"),
    UnscoredReason.SPLIT_JURY: About("the jury is split", "the jury is split", "the jury is split"),
    UnscoredReason.NEEDS_READING: About("needs reading", "the reply needs reading", "the documents need reading"),
    UnscoredReason.OTHER_LANGUAGE: About(
        "in a language that the judge does not read",
        "in a language that the subject does not read",
        "in a language that the judge does not read",
    ),
    UnscoredReason.NO_SOURCE: About(
        "no source to check against", "no subject model was set", "no corpus to check against"
    ),
    UnscoredReason.TOO_FEW_DISTRACTORS: About(
        "too few distractors for a question", "fewer than three distractors could be made", "too few distractors"
    ),
}

FAILURES = frozenset(reason for reason, about in ABOUT.items() if about.failure)
MENDABLE = frozenset(reason for reason, about in ABOUT.items() if about.mendable)
