"""Denial: a clause of the claim that is denied where the evidence says it, or said where the evidence denies it."""

from __future__ import annotations

from collections.abc import Container, Iterator

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment, holds_opposite, opposite_places, says_same
from factloop.tools.verifiers.checks import comparisons, conditions, denied_parts, duties, ended, equatives
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.figures import states_one_limit
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, FIGURES, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import FINDING

MIN_SHARE = 0.6
"""Share of a clause of the claim that the clauses must hold which say the contrary."""
NAME_WEIGHT, VERB_WEIGHT = 0.4, 1.5
"""A denial is of what is said, and less of whom it is said of."""
OBJECT_REACH = 4
"""Words after a verb in which its object stands."""
SLOT_REACH = 4
"""Words on either side of an opposite in which stands what it is said of."""


def denials(alignment: Alignment) -> Iterator[Mismatch]:
    """The clauses of the claim of which most words are denied on one side only; an opposite counts as a denial."""
    claim = alignment.claim
    for clause in range(len(claim.clause_denied)):
        if equatives.compares_in(alignment, clause) or denied_parts.bears_denial_out(alignment, clause):
            continue
        within = [one for one in claim.content if claim.clauses[one] == clause and not claim.negators[one]]
        own = [one for one in within if claim.terms[one].key not in FINDING]
        shared = [one for one in own if one in alignment.pairs]
        if _agree_otherwise(alignment):
            return
        if comparisons.direction(alignment) < 0:
            yield from comparisons.denied_the_other_way(alignment)
            return
        if shared and claim.is_mostly(clause) and (len(claim.clause_denied) == 1 or _has_verb(alignment, clause)):
            phrases = [one for one in shared if claim.phrase_denied[one] or _partner_in_phrase(alignment, one)]
            deciding = phrases or shared
            if _differ(alignment, deciding, shared) and _held_together(alignment, own, deciding):
                yield _named(alignment, clause, shared)


def parts(alignment: Alignment) -> Iterator[Mismatch]:
    """What the claim says of its subject, denied wherever the evidence speaks of it (`denied_parts`); none where a
    comparison or an opposite may turn the denial round."""
    is_turned = (
        alignment.opposed or comparisons.than_place(alignment.claim) or comparisons.than_place(alignment.sentence)
    )
    for mismatch in () if is_turned else denied_parts.denied_parts(alignment):
        is_other = holds_opposite(alignment.claim, alignment.sentence) or equatives.has_equative(alignment)
        if not is_other and not _agree_otherwise(alignment):
            yield mismatch


def _agree_otherwise(alignment: Alignment) -> bool:
    """Whether a denial on one side says in other words what the other side says without it."""
    agree = (states_one_limit, _says_first, duties.forbid_alike, conditions.is_turned, ended.is_denied_as_ended)
    return any(one(alignment) for one in agree)


def _says_first(alignment: Alignment) -> bool:
    """Whether one side says *first* and the other that there was none *before*."""
    sides = alignment.claim, alignment.sentence
    return any(
        "first" in one.places and "before" in two.places and any(two.clause_denied) and "first" not in two.places
        for one, two in (sides, sides[::-1])
    )


def opposites(alignment: Alignment) -> Iterator[Mismatch]:
    """An opposite in the clause with most of the claim, and no denial on either side."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in sorted(() if _stands_in_contrast(alignment) else alignment.opposed):
        other = alignment.pairs[place]
        denied = claim.is_denied(place) or sentence.is_denied(other)
        if not denied and _is_opposed(alignment, place) and sentence.clauses[other] == alignment.main:
            yield _opposite(alignment, place, other)


def _stands_in_contrast(alignment: Alignment) -> bool:
    """Whether the evidence denies a phrase of the claim alone: *open on Saturdays but not on Sundays*."""
    return any(_partner_in_phrase(alignment, place) for place in alignment.pairs)


def opposite_deeds(alignment: Alignment) -> Iterator[Mismatch]:
    """The opposite done to the same thing, whatever else the claim says: *weaken the effect* for *strengthens its
    effect*."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in sorted(alignment.opposed):
        other = alignment.pairs[place]
        objects = _object_of(claim, place), _object_of(sentence, other)
        same = all(objects) and says_same(claim.terms[objects[0] or 0], sentence.terms[objects[1] or 0])
        if same and claim.is_denied(place) == sentence.is_denied(other):
            yield _opposite(alignment, place, other)


def _object_of(reading: Reading, verb: int) -> int | None:
    """The first word of content right after a verb; None where a preposition stands between, or nothing follows."""
    for place in range(verb + 1, min(verb + 1 + OBJECT_REACH, len(reading.terms))):
        term = reading.terms[place]
        is_end = term.key in lexicon.PREPOSITIONS or term.key == "than"
        if reading.clauses[place] != reading.clauses[verb] or is_end:
            return None
        if term.kind in CONTENT:
            return place
    return None


def opposites_nearby(alignment: Alignment) -> Iterator[Mismatch]:
    """A word of the claim in one clause, and its opposite in that which has what follows it in the claim: from the
    verb on, where the word stands before the verb.

    "Opens at 10 and is closed on Mondays" does not say that it is open on Mondays.
    """
    claim, sentence = alignment.claim, alignment.sentence
    for place in () if equatives.has_equative(alignment) else alignment.pairs:
        others = () if place in alignment.opposed else opposite_places(claim.terms[place], sentence)
        if not others or _stands_in_contrast(alignment):
            continue
        own = alignment.clauses_of(place)
        rest = _said_after(claim, place)
        telling = [one for one in rest if claim.terms[one].kind in FIGURES] or rest
        if not rest or any(alignment.clauses_of(one) & own for one in telling):
            continue  # where *rose by 12 percent and fell by 3 percent*, the figure tells of which it is said
        for other in others:
            if _is_of_another(alignment, place, other):
                continue
            if all(_is_said_alike(alignment, one, sentence.clauses[other]) for one in rest):
                yield _opposite(alignment, place, other)


def _is_of_another(alignment: Alignment, place: int, other: int) -> bool:
    """Whether the opposite is said of another name, and the word of a name of the claim: *Tom supported the plan, while
    Ana opposed it*."""
    claim, sentence = alignment.claim, alignment.sentence
    own = alignment.clauses_of(place)
    names = [one for one in claim.of_kind(TermKind.NAME) if one < place]
    before = [one for one in sentence.of_kind(TermKind.NAME) if one < other]
    strangers = [one for one in before if sentence.clauses[one] == sentence.clauses[other]]
    is_of_claim = any(alignment.clauses_of(one) & own for one in names)
    return is_of_claim and bool(strangers) and alignment.paired.isdisjoint(strangers)


def _said_after(claim: Reading, place: int) -> list[int]:
    """The content after a place in its clause: from the verb on, where one follows."""
    after = range(place + 1, len(claim.terms))
    within = [one for one in after if claim.clauses[one] == claim.clauses[place]]
    verb = next((one for one in within if is_verb(claim.terms[one])), place)
    return [one for one in within if one >= verb and claim.terms[one].kind in CONTENT]


def _is_said_alike(alignment: Alignment, place: int, clause: int) -> bool:
    """Whether a clause has a partner of this place of the claim, denied like it."""
    partners = (one for one in alignment.partners.get(place, ()) if alignment.sentence.clauses[one] == clause)
    return any(alignment.claim.is_denied(place) == alignment.sentence.is_denied(one) for one in partners)


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
    if comparisons.both_compare(alignment) or equatives.has_equative(alignment):
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
        return _opposite(alignment, opposite, alignment.pairs[opposite])
    clauses = {sentence.clauses[alignment.pairs[place]] for place in shared}
    ours, theirs = _denying(claim, {clause}), _denying(sentence, clauses)
    return Mismatch("denial", tuple(ours[:1]), tuple(theirs[:1]), excludes=True)


def _opposite(alignment: Alignment, place: int, other: int) -> Mismatch:
    """The mismatch of two opposites; of one verb with the particles that make it two: *voted for*, *voted against*."""
    step = (0, 1) if alignment.claim.terms[place].key == alignment.sentence.terms[other].key else (0,)
    claimed, said = (tuple(start + one for one in step) for start in (place, other))
    return Mismatch("opposite", claimed, said, excludes=True)


def _denying(reading: Reading, clauses: Container[int]) -> list[int]:
    """The places of the words that deny these clauses; without any, of denied words in them, such as *fanless*."""
    within = [place for place, clause in enumerate(reading.clauses) if clause in clauses]
    negators = [place for place in within if reading.negators[place]]
    return negators or [place for place in within if reading.phrase_denied[place]]
