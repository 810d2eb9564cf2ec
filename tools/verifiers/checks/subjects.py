"""Subjects: "Dr. Shah is a dentist" where the evidence says it of another in the same sentence."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.tools.linguistics.english import is_known
from factloop.tools.linguistics.lexicon import MODALS
from factloop.tools.linguistics.mentions import GENERIC_NOUNS, TITLES
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.said_of import is_of_name
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import CONTENT, TermKind
from factloop.tools.verifiers.verbs import is_verb

PERSONAL = frozenset({"he", "she", "they", "his", "her", "hers", "their", "theirs", "him", "them"})
OWNED_REACH = 2
"""Words between an owner and the verb: *the museum's new café*."""
_OWNING = ("'s", "’s", "s'", "s’")
_SUBJECT_KINDS = frozenset({TermKind.NAME, TermKind.WORD})


def other_subjects(alignment: Alignment) -> Iterator[Mismatch]:
    """What the claim says of its subject stands in a clause with a subject of its own, and its subject in another."""
    claim, sentence = alignment.claim, alignment.sentence
    verb = _verb(claim, 0)
    if verb is None or len(claim.clause_denied) > 1 or any(term.key == "and" for term in claim.terms[:verb]):
        return
    subject = _telling(claim, [place for place in claim.content if place < verb])
    said = [place for place in claim.content if place > verb and place in alignment.pairs]
    clauses = [alignment.clauses_of(place) for place in said]
    if not subject or not said or any(len(one) != 1 for one in clauses) or len(frozenset.union(*clauses)) != 1:
        return
    (clause,) = clauses[0]
    if verb in alignment.pairs and clause not in alignment.clauses_of(verb):
        return
    apart = [place for place in subject if place in alignment.pairs and clause not in alignment.clauses_of(place)]
    strangers = _own_subject(sentence, clause)
    if not apart or not strangers or any(place in alignment.paired for place in _telling(sentence, strangers)):
        return
    number = sentence.sentence_of[clause]
    does_act = any(one in alignment.pairs and is_verb(claim.terms[one]) for one in (verb, verb + 1))
    is_of_two = does_act and _are_two_names(alignment, apart, strangers)
    if is_of_two or any(_acts_in(sentence, alignment.pairs[place], number) for place in apart):
        yield Mismatch("person", tuple(subject), tuple(_telling(sentence, strangers)))


def _are_two_names(alignment: Alignment, ours: list[int], theirs: list[int]) -> bool:
    """Whether both subjects are names: *Brightly was founded by Ruiz*, in a sentence of its own, is not of *Acme*."""
    claim, sentence = alignment.claim, alignment.sentence
    names = [*(claim.terms[place] for place in ours), *(sentence.terms[place] for place in theirs)]
    return all(term.kind is TermKind.NAME for term in names)


def owners(alignment: Alignment) -> Iterator[Mismatch]:
    """*The museum opened*, where the sentence says that something of the museum did: *the museum's café opened*."""
    claim, sentence = alignment.claim, alignment.sentence
    verb = _verb(claim, 0)
    deeds = (
        [] if not verb else [one for one in (verb, verb + 1) if one in alignment.pairs and is_verb(claim.terms[one])]
    )
    if not verb or not deeds or verb - 1 not in alignment.pairs:
        return
    subject, deed = alignment.pairs[verb - 1], alignment.pairs[deeds[0]]
    is_passive = deed > 0 and deeds[0] != verb and sentence.terms[deed - 1].key == claim.terms[verb].key
    between = range(subject + 1, deed - 1 if is_passive else deed)
    is_owner = sentence.terms[subject].surface.endswith(_OWNING) and not claim.terms[verb - 1].surface.endswith(_OWNING)
    is_alone = len(alignment.partners[verb - 1]) == 1 and bool(between) and len(between) <= OWNED_REACH
    if is_owner and is_alone and all(_is_stranger(alignment, place) for place in between):
        yield Mismatch("person", (verb - 1,), (subject, *between))


def namesakes(alignment: Alignment) -> Iterator[Mismatch]:
    """*Ida Kern*, where the sentence that has most of the claim speaks of *Marta Kern*.

    Initials, titles and other names of the person fit both, and who is *her father* has her name.
    """
    claim, sentence = alignment.claim, alignment.sentence
    number = sentence.sentence_of[alignment.main]
    personal = [place for place, word in enumerate(sentence.words) if word in PERSONAL]
    if any(sentence.sentence_at(place) == number for place in personal):
        return

    def here(place: int) -> list[int]:
        return [one for one in alignment.partners.get(place, ()) if sentence.sentence_at(one) == number]

    for place in alignment.partners:
        ours = _before_in_name(claim, place)
        if not ours or claim.terms[place].surface.endswith(_OWNING) or claim.terms[place].key in GENERIC_NOUNS:
            continue
        partners = here(place)
        if not partners or any(map(here, ours)):
            continue
        first = {claim.terms[one].surface[:1] for one in ours}
        theirs = [_before_in_name(sentence, one) for one in partners]
        if all(names and all(_is_other_name(alignment, one, first) for one in names) for names in theirs):
            yield Mismatch("person", (*ours, place), (*theirs[0], partners[0]))


def _is_other_name(alignment: Alignment, place: int, initials: set[str]) -> bool:
    return place not in alignment.paired and alignment.sentence.terms[place].surface[:1] not in initials


def others_by_number(alignment: Alignment) -> Iterator[Mismatch]:
    """*The R400* or *Class 7*, where the clause that has most of the claim speaks of *the R200* or *Class 6* alone."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in claim.of_kind(TermKind.NUMBER):
        if not is_of_name(claim, place):
            continue
        partners = alignment.partners.get(place - 1, ())
        numbers = [
            one + 1 for one in partners if sentence.clauses[one] == alignment.main and _has_number(sentence, one)
        ]
        if numbers and all(sentence.terms[one].key != claim.terms[place].key for one in numbers):
            yield Mismatch("person", (place - 1, place), (numbers[0] - 1, numbers[0]))


def _has_number(reading: Reading, place: int) -> bool:
    return reading.terms[place + 1 : place + 2] != () and reading.terms[place + 1].kind is TermKind.NUMBER


def _before_in_name(reading: Reading, place: int) -> list[int]:
    """The places of the names right before a name, but for titles and for words that are no names in lower case."""
    before: list[int] = []
    clause = reading.clauses[place]
    while place and reading.terms[place].kind is TermKind.NAME and reading.terms[place - 1].kind is TermKind.NAME:
        place -= 1
        if reading.clauses[place] != clause:
            break
        word = reading.words[place]
        if word not in TITLES and not is_known(word):
            before.insert(0, place)
    return before


def _is_stranger(alignment: Alignment, place: int) -> bool:
    """Whether a word of the sentence is a noun or the like that the claim does not have."""
    term = alignment.sentence.terms[place]
    return term.kind in _SUBJECT_KINDS and place not in alignment.paired and not is_verb(term)


def _verb(reading: Reading, start: int) -> int | None:
    """The first verb from a place on, in its clause."""
    places = (place for place in range(start, len(reading.terms)) if reading.clauses[place] == reading.clauses[start])
    return next((place for place in places if is_verb(reading.terms[place])), None)


def _telling(reading: Reading, places: list[int]) -> list[int]:
    """The names among these places, else all words: *Oslo* of *the Oslo office*."""
    named = [place for place in places if reading.terms[place].kind is TermKind.NAME]
    names = [place for place in named if reading.terms[place].key not in TITLES]
    return names or [place for place in places if reading.terms[place].kind is TermKind.WORD]


def _own_subject(reading: Reading, clause: int) -> list[int]:
    """The words of content before the first verb of a clause that begins with them; none where it has no subject."""
    places = [place for place, one in enumerate(reading.clauses) if one == clause]
    if places and reading.terms[places[0]].key in {"and", "but", "while", "whereas"}:
        places = places[1:]
    verb = next((place for place in places if is_verb(reading.terms[place])), None)
    before = [place for place in places if verb is not None and place < verb]
    is_plain = all(reading.terms[place].kind in CONTENT or reading.terms[place].key in _PLAIN for place in before)
    return [place for place in before if reading.terms[place].kind in _SUBJECT_KINDS] if is_plain else []


_PLAIN = frozenset({"the", "a", "an", *MODALS})


def _acts_in(reading: Reading, place: int, number: int) -> bool:
    """Whether a place is the subject of a clause of a sentence."""
    clause = reading.clauses[place]
    return reading.sentence_of[clause] == number and place in _own_subject(reading, clause)
