"""The status of a claim, in the five words that every report uses, and the mark of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from factloop.core.reasons import ABOUT, UnscoredReason
from factloop.core.records import Claim, NoClaim, Verdict


class Status(StrEnum):
    """The verdict, with its two kinds of `not_supported` apart, or unscored. Declared worst first."""

    CONTRADICTED = "contradicted"
    NO_EVIDENCE = "no_evidence"
    UNSCORED = "unscored"
    SUPPORTED = "supported"
    IRRELEVANT = "irrelevant"

    @property
    def words(self) -> str:
        return _WORDS[self]

    @property
    def symbol(self) -> str:
        """One character that tells the statuses apart without colour."""
        return _SYMBOLS[self]


_WORDS = {
    Status.CONTRADICTED: "contradicted",
    Status.NO_EVIDENCE: "no evidence found",
    Status.UNSCORED: "unscored",
    Status.SUPPORTED: "supported",
    Status.IRRELEVANT: "irrelevant",
}

_SYMBOLS = {
    Status.CONTRADICTED: "✗",
    Status.NO_EVIDENCE: "○",
    Status.UNSCORED: "?",
    Status.SUPPORTED: "✓",
    Status.IRRELEVANT: "–",
}

READING_ORDER = (Status.SUPPORTED, Status.CONTRADICTED, Status.NO_EVIDENCE, Status.IRRELEVANT, Status.UNSCORED)
"""The order of bars, counts and filters: what entered precision first."""

PROBLEMS = (Status.CONTRADICTED, Status.NO_EVIDENCE, Status.UNSCORED)
"""What a reader has to look into, worst first."""

REASON_WORDS = {reason: about.claim for reason, about in ABOUT.items()}

NO_CLAIM_WORDS = {
    NoClaim.HEADING: "heading",
    NoClaim.QUESTION: "question",
    NoClaim.REMARK: "remark",
    NoClaim.NO_STATEMENT: "states nothing",
    NoClaim.NO_CLAIM: "no claim found",
    NoClaim.CODE: "code, not read",
    NoClaim.NOT_READ: "not read",
}
NO_CLAIM_SYMBOL = "·"


def status_of(claim: Claim) -> Status:
    """The status that the claim's judgement gives it."""
    judgement = claim.judgement
    match judgement.verdict:
        case Verdict.SUPPORTED:
            return Status.SUPPORTED
        case Verdict.NOT_SUPPORTED:
            return Status.CONTRADICTED if judgement.contradicted else Status.NO_EVIDENCE
        case Verdict.IRRELEVANT:
            return Status.IRRELEVANT
        case None:
            return Status.UNSCORED


def status_words(claim: Claim) -> str:
    """The status in words, with the reason if the claim is unscored."""
    words, reason = status_of(claim).words, claim.judgement.unscored_reason
    return words if reason is None else f"{words}: {REASON_WORDS[reason]}"


def worst(claims: Sequence[Claim]) -> Status:
    """The status that decides the colour of a sentence with these claims. Raises ValueError without claims."""
    found = {status_of(claim) for claim in claims}
    return min(found, key=list(Status).index)


def problems_first(claims: Iterable[Claim]) -> list[Claim]:
    """Contradicted claims, then those without evidence, then unscored ones, then the others; each kind in its order."""
    rank = {status: place for place, status in enumerate(PROBLEMS)}
    return sorted(claims, key=lambda claim: rank.get(status_of(claim), len(PROBLEMS)))


def tally(claims: Iterable[Claim]) -> Counter[Status]:
    """Number of claims of each status."""
    return Counter(map(status_of, claims))


def tally_reasons(claims: Iterable[Claim]) -> Counter[UnscoredReason]:
    """Number of unscored claims by reason."""
    return Counter(claim.judgement.unscored_reason for claim in claims if claim.judgement.unscored_reason is not None)
