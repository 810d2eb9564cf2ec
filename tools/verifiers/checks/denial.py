"""Denial: a clause of the claim that is denied where the evidence says it, or said where the evidence denies it."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.verifiers.alignment import Alignment, opposite_places
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, is_verb
from factloop.tools.verifiers.terms import TermKind

MIN_SHARE = 0.6
"""Share of a clause of the claim that the clauses must hold which say the contrary."""
NAME_WEIGHT, VERB_WEIGHT = 0.4, 1.5
"""A denial is of what is said, and less of whom it is said of."""
SLOT_REACH = 4
"""Words on either side of an opposite in which stands what it is said of."""
_DEGREES = {"more": 1, "less": -1, "fewer": -1}


def denials(alignment: Alignment) -> Iterator[Mismatch]:
    """The clauses of the claim of which most words are denied on one side only; an opposite counts as a denial."""
    claim = alignment.claim
    for clause in range(len(claim.clause_denied)):
        own = [one for one in claim.content if claim.clauses[one] == clause and not claim.negators[one]]
        shared = [one for one in own if one in alignment.pairs]
        if shared and claim.is_mostly(clause) and (len(claim.clause_denied) == 1 or _has_verb(alignment, clause)):
            phrases = [one for one in shared if claim.phrase_denied[one] or _partner_in_phrase(alignment, one)]
            deciding = phrases or shared
            if _differ(alignment, deciding, shared) and _held_together(alignment, own, deciding):
                yield _named(alignment, clause, shared)


def opposites(alignment: Alignment) -> Iterator[Mismatch]:
    """An opposite in the clause with most of the claim, and no denial on either side."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in sorted(alignment.opposed):
        other = alignment.pairs[place]
        denied = claim.is_denied(place) or sentence.is_denied(other)
        if not denied and _is_opposed(alignment, place) and sentence.clauses[other] == alignment.main:
            yield Mismatch("opposite", (place,), (other,), excludes=True)


def opposites_nearby(alignment: Alignment) -> Iterator[Mismatch]:
    """A word of the claim in one clause, and its opposite in that which has what follows it in the claim.

    "Opens at 10 and is closed on Mondays" does not say that it is open on Mondays.
    """
    claim, sentence = alignment.claim, alignment.sentence
    for place in alignment.pairs:
        others = () if place in alignment.opposed else opposite_places(claim.terms[place], sentence)
        if not others:
            continue
        own = alignment.clauses_of(place)
        rest = [one for one in claim.content if one > place and claim.clauses[one] == claim.clauses[place]]
        if not rest or any(alignment.clauses_of(one) & own for one in rest):
            continue
        for other in others:
            denied = claim.is_denied(place) or sentence.is_denied(other)
            if not denied and all(sentence.clauses[other] in alignment.clauses_of(one) for one in rest):
                yield Mismatch("opposite", (place,), (other,), excludes=True)


def other_degree(alignment: Alignment) -> Iterator[Mismatch]:
    """*Less power* where the sentence says *more power*; a comparison with *than* has sides, too (`roles`)."""
    if not (_compares(alignment.claim) and _compares(alignment.sentence)):
        for ours, theirs in turned_degrees(alignment):
            if not (alignment.claim.is_denied(ours) or alignment.sentence.is_denied(theirs)):
                yield Mismatch("opposite", (ours,), (theirs,), excludes=True)


def turned_degrees(alignment: Alignment) -> list[tuple[int, int]]:
    """Places of *more* and *less* or *fewer* before one word, one in the claim and the other in the sentence."""
    before = ((place - 1, other - 1) for place, other in sorted(alignment.pairs.items()) if place and other)
    return [
        (ours, theirs)
        for ours, theirs in before
        if _degree(alignment.claim, ours) * _degree(alignment.sentence, theirs) < 0
    ]


def _degree(reading: Reading, place: int) -> int:
    return _DEGREES.get(reading.terms[place].surface.lower(), 0)


def _has_verb(alignment: Alignment, clause: int) -> bool:
    claim = alignment.claim
    return any(is_verb(term) for place, term in enumerate(claim.terms) if claim.clauses[place] == clause)


def _partner_in_phrase(alignment: Alignment, place: int) -> bool:
    return alignment.sentence.phrase_denied[alignment.pairs[place]]


def _differ(alignment: Alignment, deciding: list[int], shared: list[int]) -> bool:
    claim, sentence = alignment.claim, alignment.sentence
    is_turned = len([one for one in shared if _is_opposed(alignment, one)]) % 2 == 1
    balance = 0.0
    for place in deciding:
        verb, name = is_verb(claim.terms[place]), claim.terms[place].kind is TermKind.NAME
        weight = NAME_WEIGHT if name else VERB_WEIGHT if verb else 1.0
        differs = claim.is_denied(place) != (sentence.is_denied(alignment.pairs[place]) != is_turned)
        balance += weight if differs else -weight
    return balance > 0


def _is_opposed(alignment: Alignment, place: int) -> bool:
    """Whether the partner is an opposite that denies nothing itself: *refused* already denies its clause.

    The opposite of a comparison may say the same: "smaller than" with its sides exchanged.
    """
    if _compares(alignment.claim) and _compares(alignment.sentence):
        return False
    is_opposed = place in alignment.opposed and not alignment.sentence.negators[alignment.pairs[place]]
    return is_opposed and _is_in_same_slot(alignment, place)


def _is_in_same_slot(alignment: Alignment, place: int) -> bool:
    """Whether a word and its opposite are said of one thing: a word near the one is the partner of one near the other.

    A *large company* is not a *small tilt*.
    """
    claim, other = alignment.claim, alignment.pairs[place]
    near = (one for one in alignment.pairs if one != place and claim.clauses[one] == claim.clauses[place])
    return any(
        abs(one - place) <= SLOT_REACH
        and any(
            abs(partner - other) <= SLOT_REACH
            and alignment.sentence.clauses[partner] == alignment.sentence.clauses[other]
            for partner in alignment.partners[one]
        )
        for one in near
    )


def _compares(reading: Reading) -> bool:
    return "than" in reading.places


def _held_together(alignment: Alignment, own: list[int], deciding: list[int]) -> bool:
    clauses = {alignment.sentence.clauses[alignment.pairs[place]] for place in deciding}
    held = [
        one for one in own if one in alignment.pairs and alignment.sentence.clauses[alignment.pairs[one]] in clauses
    ]
    return len(held) >= MIN_SHARE * len(own)


def _named(alignment: Alignment, clause: int, shared: list[int]) -> Mismatch:
    """The mismatch with the words that deny on either side, or the two opposites."""
    claim, sentence = alignment.claim, alignment.sentence
    opposite = next((one for one in shared if _is_opposed(alignment, one)), None)
    if opposite is not None:
        return Mismatch("opposite", (opposite,), (alignment.pairs[opposite],), excludes=True)
    clauses = {sentence.clauses[alignment.pairs[place]] for place in shared}
    ours = [place for place, negates in enumerate(claim.negators) if negates and claim.clauses[place] == clause]
    theirs = [
        place for place, negates in enumerate(sentence.negators) if negates and sentence.clauses[place] in clauses
    ]
    return Mismatch("denial", tuple(ours[:1]), tuple(theirs[:1]), excludes=True)
