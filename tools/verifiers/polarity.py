"""Whether a claim and the evidence differ in what they deny, as far as words tell without a syntax.

A negation denies what follows it in its clause: in "The bridge has three arches and does not carry cars" only "carry
cars". That misses "All that glitters is not gold", and takes too much where a second verb follows without a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.passage_index import matches
from factloop.tools.verifiers.terms import CONTENT, SentenceTerms, Term, TermKind, read_sentences

CLAUSE_END = re.compile(r"[,;:()—]|\b(?:but|while|whereas|although)\b")

_NO_NEGATION = frozenset({"only", "merely", "just", "simply", "solely"})
"""After "not": "not only a physicist" says that she was one."""

MIN_SHARE_CLAUSE = 0.67
"""Share of the claim that a clause must hold for its negation to count against a claim without one."""

CLAIM_DENIES = "the claim says '{}', the evidence does not"
EVIDENCE_DENIES = "the evidence says '{}', the claim does not"


def find_denial(claim: Sequence[SentenceTerms], comparison: ClaimComparison) -> str | None:
    """The statement denied on one side only, in words; None where claim and evidence agree.

    A negated claim agrees with evidence that denies any of the same. A claim without negation disagrees where every
    sentence that holds the most of it denies some of that, in a clause that holds most of the claim.
    """
    negation, denied = _denials(_clauses_of(claim))
    if negation is not None:
        keys = {term.key for term in denied}
        asked = [term for term in comparison.terms if term.key in keys]  # no more than a comparison takes
        agrees = any(_n_held(asked, _denials(_clauses(sentence))[1]) for sentence in comparison.read)
        return None if agrees else CLAIM_DENIES.format(negation.surface)
    first = _denial_of(comparison.terms, comparison.best)
    if first is None or not all(_denial_of(comparison.terms, sentence) for sentence in _closest(comparison)):
        return None
    return EVIDENCE_DENIES.format(first.surface)


def _closest(comparison: ClaimComparison) -> Iterator[SentenceTerms]:
    """The sentences that hold as much of the claim as the best one does."""
    most = _n_held(comparison.terms, comparison.best.terms)
    return (one for one in comparison.candidates if _n_held(comparison.terms, one.terms) == most)


def _denial_of(terms: Sequence[Term], sentence: SentenceTerms) -> Term | None:
    """The negation in a sentence that denies any of these terms, in a clause that holds most of them."""
    if all(term.kind is not TermKind.NEGATION for term in sentence.terms):
        return None
    for clause in _clauses(sentence):
        negation, denied = _denials([clause])
        enough = _n_held(terms, clause) >= MIN_SHARE_CLAUSE * len(terms)
        if negation is not None and enough and _n_held(terms, denied):
            return negation
    return None


def _clauses_of(sentences: Iterable[SentenceTerms]) -> Iterator[Sequence[Term]]:
    for sentence in sentences:
        yield from _clauses(sentence)


def _clauses(sentence: SentenceTerms) -> list[tuple[Term, ...]]:
    if all(term.kind is not TermKind.NEGATION for term in sentence.terms):
        return [sentence.terms]
    pieces = (read_sentences(piece) for piece in CLAUSE_END.split(sentence.text))
    return [tuple(term for part in parts for term in part.terms) for parts in pieces]


def _denials(clauses: Iterable[Sequence[Term]]) -> tuple[Term | None, tuple[Term, ...]]:
    """The first negation that denies anything, and the content that follows one in its clause."""
    first: Term | None = None
    denied: list[Term] = []
    for terms in clauses:
        place = next((place for place in range(len(terms)) if _negates(terms, place)), None)
        if place is not None:
            first = first or terms[place]
            denied.extend(term for term in terms[place:] if term.kind in CONTENT)
    return first, tuple(denied)


def _negates(terms: Sequence[Term], place: int) -> bool:
    """Whether a term negates. "Not until 1922" does not: it happened then."""
    following = terms[place + 1 :]
    return (
        terms[place].kind is TermKind.NEGATION
        and bool(following)
        and following[0].key not in _NO_NEGATION
        and all(term.key != "until" for term in following)
    )


def _n_held(asked: Sequence[Term], held: Sequence[Term]) -> int:
    return sum(any(matches(term, other) for other in held) for term in asked)
