"""Slots: "made of granite" where the evidence says "made of oak", "the Team plan" for "the Enterprise plan", "a hammer
and a saw" for "a hammer and a chisel"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, FIGURES, TermKind
from factloop.tools.verifiers.verbs import is_verb

REACH = 4
"""Words back in which the word stands that a preposition belongs to."""
MIN_SHARE_OF_PLACE = 0.8
"""Share of the claim, its place apart, that a clause must hold to tell of another place."""
_OF_PLACE = frozenset({"to", "in", "within", "at"})
_ARTICLES = frozenset({"a", "an", "the", "its", "their", "some"})


def other_fillings(alignment: Alignment) -> Iterator[Mismatch]:
    """Another word in the slot of the one that the evidence lacks, or of a name that it has elsewhere."""
    claim = alignment.claim
    lacking = [place for place in claim.content if place not in alignment.pairs]
    moved = [place for place in claim.of_kind(TermKind.NAME) if place in alignment.pairs]
    for place in [*(lacking if len(lacking) == 1 else ()), *moved]:
        if claim.terms[place].kind in FIGURES or is_verb(claim.terms[place]):
            continue
        other = _after_preposition(alignment, place)
        if other is None and place in lacking:
            other = _after_and(alignment, place)
        if other is not None and alignment.sentence.clauses[other] in alignment.clauses_of(place):
            continue  # "on Team and Enterprise"
        if other is None and place in moved:
            other = _before_noun(alignment, place)
        if other is None or claim.terms[place].key == alignment.sentence.terms[other].key:
            continue
        if not alignment.sentence.phrase_denied[other]:
            yield Mismatch("value", (place,), (other,))


def other_modifiers(alignment: Alignment) -> Iterator[Mismatch]:
    """Another word with a capital before the noun of the claim's subject: *Business customers get a credit* says
    nothing of *Team customers*."""
    claim, sentence = alignment.claim, alignment.sentence
    place = next(iter(claim.content), None)
    if place is None or place in alignment.pairs or not _modifies(claim, place):
        return
    before = [one - 1 for one in alignment.partners.get(place + 1, ())]
    others = [one for one in before if one < 0 or sentence.terms[one].key != "other"]
    if others and all(_modifies(sentence, one) and one not in alignment.paired for one in others):
        yield Mismatch("value", (place,), (others[0],))


def other_places(alignment: Alignment) -> Iterator[Mismatch]:
    """Another name after a preposition of place, in a clause that holds the most of the claim and not its place: *free
    within the UK* does not say *free to Ireland*, though Ireland is spoken of elsewhere."""
    claim, sentence = alignment.claim, alignment.sentence
    last = next(iter(claim.content[::-1]), None)
    if last is None or claim.terms[last].kind is not TermKind.NAME or _place_opens(claim, last) is None:
        return
    rest = [one for one in claim.content if one not in _name_at(claim, last)]
    held = [one for one in rest if alignment.main in alignment.clauses_of(one)]
    if not rest or len(held) < MIN_SHARE_OF_PLACE * len(rest) or _says_half_beside(alignment, last, rest):
        return
    names = [one for one in sentence.of_kind(TermKind.NAME) if sentence.clauses[one] == alignment.main]
    others = [one for one in names if one not in alignment.paired and _place_opens(sentence, one) is not None]
    if others:
        yield Mismatch("value", (last,), (others[0],))


def _says_half_beside(alignment: Alignment, name: int, rest: Sequence[int]) -> bool:
    """Whether a sentence with the name holds half of the rest, or the clause with the most of the claim has it."""
    sentence, partners = alignment.sentence, alignment.partners
    told = {one: {sentence.sentence_at(other) for other in partners.get(one, ())} for one in (name, *rest)}
    n_beside = max((sum(number in told[one] for one in rest) for number in told[name]), default=0)
    return alignment.main in alignment.clauses_of(name) or 2 * n_beside >= len(rest)


def _name_at(reading: Reading, place: int) -> range:
    """The places of the name that ends here."""
    start = place
    while start and reading.terms[start - 1].kind is TermKind.NAME:
        start -= 1
    return range(start, place + 1)


def _place_opens(reading: Reading, place: int) -> int | None:
    """The place of the preposition before the name that ends here; None where another word stands there."""
    before = _name_at(reading, place)[0] - 1
    before -= before >= 0 and reading.terms[before].key == "the"
    return before if before >= 0 and reading.terms[before].key in _OF_PLACE else None


def _modifies(reading: Reading, place: int) -> bool:
    """Whether a word with a capital stands right before a common noun."""
    if not 0 <= place < len(reading.terms) - 1 or reading.clauses[place] != reading.clauses[place + 1]:
        return False
    term, noun = reading.terms[place], reading.terms[place + 1]
    is_noun = noun.kind is TermKind.WORD and noun.surface[:1].islower() and not is_verb(noun)
    return is_noun and term.kind in {TermKind.NAME, TermKind.WORD} and term.surface[:1].isupper() and not is_verb(term)


def _after_preposition(alignment: Alignment, place: int) -> int | None:
    """The word that stands in the sentence where this one stands in the claim; None where it is itself, or unlike."""
    claim, sentence = alignment.claim, alignment.sentence
    slot = _slot(claim, place)
    if slot is None or slot[0] not in alignment.pairs:
        return None
    start = alignment.pairs[slot[0]] + 1
    following = range(start, min(start + REACH, len(sentence.terms)))
    other = next((one for one in following if sentence.terms[one].kind in CONTENT), None)
    if other is None or other in alignment.paired or sentence.terms[other].kind is not claim.terms[place].kind:
        return None
    return other if _slot(sentence, other) == (start - 1, slot[1]) else None


def _after_and(alignment: Alignment, place: int) -> int | None:
    """The word after *and* that follows the same word as in the claim: of *a hammer and a chisel*, where the claim has
    *a hammer and a saw*."""
    claim, sentence = alignment.claim, alignment.sentence
    joined = _joined_to(claim, place)
    if joined is None or joined not in alignment.pairs:
        return None
    start = alignment.pairs[joined] + 1
    following = range(start, min(start + REACH, len(sentence.terms)))
    other = next((one for one in following if sentence.terms[one].kind in CONTENT), None)
    if other is None or other in alignment.paired or _joined_to(sentence, other) != start - 1:
        return None
    return (
        other if sentence.terms[other].kind is claim.terms[place].kind and not is_verb(sentence.terms[other]) else None
    )


def _joined_to(reading: Reading, place: int) -> int | None:
    """The word that *and* joins a word to, with but an article between: *hammer* for the *saw* of *a hammer and a
    saw*."""
    joining = place - 2 if place > 1 and reading.terms[place - 1].key in _ARTICLES else place - 1
    is_joined = joining > 0 and reading.terms[joining].key == "and" and reading.terms[joining - 1].kind in CONTENT
    return joining - 1 if is_joined else None


def _before_noun(alignment: Alignment, place: int) -> int | None:
    """The name before the noun of the main clause that this name stands before: "on the Team plan"."""
    claim, sentence = alignment.claim, alignment.sentence
    noun = place + 1
    if alignment.main in alignment.clauses_of(place) or noun not in alignment.pairs:
        return None
    other = alignment.pairs[noun] - 1
    if claim.terms[noun].kind is not TermKind.WORD or other < 0 or sentence.clauses[other + 1] != alignment.main:
        return None
    return other if sentence.terms[other].kind is TermKind.NAME and other not in alignment.paired else None


def _slot(reading: Reading, place: int) -> tuple[int, str] | None:
    """The word before, and the preposition between."""
    preposition: str | None = None
    for one in range(place - 1, max(-1, place - 1 - REACH), -1):
        term = reading.terms[one]
        if reading.clauses[one] != reading.clauses[place]:
            return None
        if term.kind in CONTENT:
            return None if preposition is None else (one, preposition)
        if preposition is None and term.key in lexicon.PREPOSITIONS:
            preposition = term.key
    return None
