"""Finds reasons to doubt a claim though most of its words stand in the evidence: its score is halved, no more.

None of this says that a claim is false (`conflict` does); it says that agreement of words is no evidence here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.polarity import find_denial
from factloop.tools.verifiers.terms import CONTENT, FIGURES, SentenceTerms, Term, TermKind

ESSENTIAL = FIGURES | {TermKind.NAME}

MAX_COUNTS = 50
"""Numbers with what they count that are looked up; no claim has more, and time stays bounded."""
COUNT_REACH = 2
"""Terms before a counted word in which its number stands: "seven thin layers"."""


def lacks_essential(comparison: ClaimComparison) -> bool:
    """Whether a name or figure of the claim stands nowhere in the evidence, or most of its other words do not.

    Evidence that only names the subject says nothing of what is claimed of it. People found 73 of 940 claims whose
    name or figure is absent supported in wice_dev and factcheckgpt_dev_stance, but 106 of 164 in expertqa_dev_claims,
    where 72 % of all are: there the rule costs more true claims than it stops false ones. Of the claims that it stops
    further for two thirds of the other words or more missing, 8 were supported in the former two and 26 not.
    """
    others = [term for term in comparison.terms if term.kind not in ESSENTIAL]
    n_missing = len(comparison.missing(CONTENT - ESSENTIAL))
    return bool(comparison.missing(ESSENTIAL)) or (bool(others) and 3 * n_missing >= 2 * len(others))


def find_doubt(claim: Sequence[SentenceTerms], comparison: ClaimComparison) -> str | None:
    """Why the words that were found do not bear the claim out, in words; None where there is no such reason."""
    return find_denial(claim, comparison) or _miscounted(claim, comparison) or _scattered(comparison)


def _miscounted(claim: Sequence[SentenceTerms], comparison: ClaimComparison) -> str | None:
    """A number of the claim that no sentence holds beside what the claim counts with it."""
    for number, counted in islice(_counts(claim), MAX_COUNTS):
        if not any(_says_count(sentence, number, counted) for sentence in comparison.read):
            return f"no sentence says '{number.surface} {counted.surface}'"
    return None


def _counts(claim: Sequence[SentenceTerms]) -> Iterator[tuple[Term, Term]]:
    """The numbers, each with the word right after it."""
    for sentence in claim:
        for number, counted in pairwise(sentence.terms):
            if number.kind is TermKind.NUMBER and counted.kind is TermKind.WORD:
                yield number, counted


def _says_count(sentence: SentenceTerms, number: Term, counted: Term) -> bool:
    """Whether the sentence holds both, and has no other number in the place of this one."""
    terms = sentence.terms
    for place, term in enumerate(terms):
        if matches(counted, term):
            near = [other.key for other in terms[max(0, place - COUNT_REACH) : place] if other.kind is TermKind.NUMBER]
            if number.key in near or (not near and any(other.key == number.key for other in terms)):
                return True
    return False


def _scattered(comparison: ClaimComparison) -> str | None:
    """Names, figures and the last word, mostly what is said of them, that stand only in different passages."""
    asked = [term for term in comparison.terms if term.kind in ESSENTIAL or term is comparison.terms[-1]]
    return None if comparison.stand_together(asked) else "its names, figures and last word stand in no one passage"
