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
        claim="the judge's reply could not be read",
        belief="no choice could be read in the reply",
        documents="the judge's reply could not be read",
        failure=True,
    ),
    UnscoredReason.TOOL_FAILURE: About(
        claim="a model or search call failed",
        belief="a model call failed",
        documents="a model or search call failed",
        failure=True,
        mendable=True,
    ),
    UnscoredReason.REFUSAL: About(
        claim="the model declined to answer",
        belief="the subject declined to choose",
        documents="the judge declined to answer",
        failure=True,
    ),
    UnscoredReason.BUDGET: About(
        claim="the budget was used up",
        belief="the budget was used up",
        documents="the budget was used up",
        mendable=True,
    ),
    UnscoredReason.TIMEOUT: About(
        claim="no answer in time",
        belief="no answer in time",
        documents="no answer in time",
        failure=True,
        mendable=True,
    ),
    UnscoredReason.AMBIGUOUS: About(
        claim="the response leaves the claim ambiguous",
        belief="the reply names several options",
        documents="the answer is ambiguous",
    ),
    UnscoredReason.DISPUTED: About(
        claim="the sources disagree",
        belief="the reply says both",
        documents="the documents disagree",
    ),
    UnscoredReason.NEEDS_READING: About(
        claim="needs reading",
        belief="the reply needs reading",
        documents="the documents need reading",
    ),
    UnscoredReason.OTHER_LANGUAGE: About(
        claim="in another language than the judge reads",
        belief="in another language than the subject reads",
        documents="in another language than the judge reads",
    ),
    UnscoredReason.NO_SOURCE: About(
        claim="no source to check against",
        belief="no subject model was given",
        documents="no corpus to check against",
    ),
    UnscoredReason.TOO_FEW_DISTRACTORS: About(
        claim="too few distractors for a question",
        belief="fewer than three distractors could be made",
        documents="too few distractors",
    ),
}

FAILURES = frozenset(reason for reason, about in ABOUT.items() if about.failure)
"""What went wrong."""
MENDABLE = frozenset(reason for reason, about in ABOUT.items() if about.mendable)
"""What another attempt may do better."""
