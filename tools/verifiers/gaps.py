"""What of a claim no one place of the evidence says, though nothing there speaks against it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise

from factloop.tools.linguistics.mentions import GENERIC_NOUNS, TITLES
from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.reading import Reading, is_verb
from factloop.tools.verifiers.terms import FIGURES, Term, TermKind

ESSENTIAL = FIGURES | {TermKind.NAME}


def find_gap(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The words that stand nowhere, or in no one passage, where agreement of the others is no evidence; else none."""
    return _absent(comparison) or _unsaid(comparison) or _elsewhere(comparison) or _scattered(comparison)


def _absent(comparison: ClaimComparison) -> tuple[Term, ...]:
    """Names and figures that stand nowhere: whatever else agrees, of these the evidence says nothing."""
    names = _absent_names(comparison)
    return names if comparison.has_all_figures else (*names, *comparison.missing(FIGURES))


def _absent_names(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The names that stand nowhere, less words of one whose others do: *Barack* where the evidence says *Obama*."""
    missing = comparison.missing(frozenset({TermKind.NAME}))
    absent = {term.key for term in missing}
    names = comparison.alignment.claim.names() if absent else []
    known = {term.key for name in names if _stands_in_part(name, absent, comparison) for term in name}
    return tuple(term for term in missing if term.key not in known)


def _stands_in_part(name: Sequence[Term], absent: Container[str], comparison: ClaimComparison) -> bool:
    """Whether telling words of a name stand in the evidence, and nowhere beside a word of another name: *Isambard* is
    absent where the evidence says *Thomas Telford*."""
    held = {term.key for term in name if term.key not in absent} - GENERIC_NOUNS - TITLES
    claimed = {term.key for term in comparison.terms}
    beside = {
        other.key
        for sentence in comparison.candidates
        for one, two in pairwise(sentence.terms)
        for term, other in ((one, two), (two, one))
        if term.key in held and term.kind is other.kind is TermKind.NAME
    }
    return bool(held) and beside <= claimed | TITLES


def _unsaid(comparison: ClaimComparison) -> tuple[Term, ...]:
    """All of the ordinary words: evidence that only names the subject says nothing of it. A figure that is said of it
    does, but none of its name: *Lamp 1*.

    Or all from the verb on, where they stand nowhere: *tower* says nothing of *The tower has a swimming pool*, nor of
    *The tower is haunted*.
    """
    alignment = comparison.alignment
    said = _from_the_verb_on(alignment.claim)
    if any(term.kind in FIGURES for term in said or comparison.terms):
        return ()
    words = alignment.claim.of_kind(TermKind.WORD)
    if all(place not in alignment.pairs for place in words):
        return tuple(alignment.claim.terms[place] for place in words)
    return said if said and set(said) <= set(comparison.missing()) else ()


def _elsewhere(comparison: ClaimComparison) -> tuple[Term, ...]:
    """The one ordinary word that is said of a subject and its figure, where sentences with another one have the word.

    *She died in May 1958* and *lecturer from 1930 to 1946* do not say that she died in 1946.
    """
    alignment = comparison.alignment
    claim, evidence = alignment.claim, alignment.sentence
    said = _places_from_the_verb_on(claim)
    words = [place for place in said if claim.terms[place].kind is TermKind.WORD]
    figures = claim.of_kind(*FIGURES)
    if len(words) != 1 or len(figures) != 1 or words[0] not in alignment.pairs or figures[0] not in alignment.pairs:
        return ()
    (word,), (figure,) = words, figures
    apart = {evidence.sentence_at(place) for place in alignment.partners[word]}
    if apart & {evidence.sentence_at(place) for place in alignment.partners[figure]}:
        return ()
    others = evidence.of_kind(claim.terms[figure].kind)
    has_other = any(evidence.sentence_at(place) in apart for place in others)
    return (claim.terms[word], claim.terms[figure]) if has_other else ()


def _from_the_verb_on(claim: Reading) -> tuple[Term, ...]:
    return tuple(claim.terms[place] for place in _places_from_the_verb_on(claim))


def _places_from_the_verb_on(claim: Reading) -> list[int]:
    """The places of a claim's content from its first verb on."""
    verb = next((place for place, term in enumerate(claim.terms) if is_verb(term)), len(claim.terms))
    return [place for place in claim.content if place >= verb]


def _scattered(comparison: ClaimComparison) -> tuple[Term, ...]:
    """Names, figures and the last word, mostly what is said of them, that stand only in different passages; or the
    last word, where those that hold it hold less of the claim than another."""
    last = comparison.terms[-1]
    asked = [term for term in comparison.terms if term.kind in ESSENTIAL or term is last]
    if not comparison.stand_together(asked):
        return tuple(asked)
    return () if comparison.stands_with_most(last) else (comparison.terms[0], last)
