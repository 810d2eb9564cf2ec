"""The reasons why a verdict or a score is missing, with what is to be known of each and the words for reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class UnscoredReason(StrEnum):
    """Why a claim has no verdict."""

    PARSE_FAILURE = "parse_failure"
    TOOL_FAILURE = "tool_failure"
    REFUSAL = "refusal"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    AMBIGUOUS = "ambiguous"
    DISPUTED = "disputed"
    """The sources disagree, and none corrects another: both sides are cited, for a person to decide."""
    SPLIT_JURY = "split_jury"
    """Several models judged, and no verdict had the votes that the rule asks for: `votes` has what each said."""
    NEEDS_READING = "needs_reading"
    """The judge is not sure by itself: the passage that decides stands first, for a person to read."""
    OTHER_LANGUAGE = "other_language"
    """It is in a language that the judge does not read: the offline engine reads English alone."""
    NO_SOURCE = "no_source"
    """Nothing to check against was given: documents or a search tool, for TrustFC a corpus, for TrustBC a subject."""
    TOO_FEW_DISTRACTORS = "too_few_distractors"
    """Fewer than three distractors could be made, so no question could be asked (TrustBC)."""


@dataclass(frozen=True)
class About:
    """The facts about a reason."""

    claim: str
    """Words for an unscored claim."""
    belief: str
    """Words for an answer without TrustBC."""
    documents: str
    """Words for an answer without TrustFC."""
    failure: bool = False
    """Something went wrong. Other reasons say what was not given, or is not in the text."""
    mendable: bool = False
    """Another attempt may do better. What it was paid for comes from the journal: trying again pays for no more."""


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
        "no source to check against", "no subject model was given", "no corpus to check against"
    ),
    UnscoredReason.TOO_FEW_DISTRACTORS: About(
        "too few distractors for a question", "fewer than three distractors could be made", "too few distractors"
    ),
}

FAILURES = frozenset(reason for reason, about in ABOUT.items() if about.failure)
"""What went wrong."""
MENDABLE = frozenset(reason for reason, about in ABOUT.items() if about.mendable)
"""What another attempt may do better."""
