"""What was so and has ended: *is free* where the evidence says *was free until May*, or of what *was switched off*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import AGAIN, ENDING, ENDING_WITH

_PAST_BE = frozenset({"was", "were", "been", "had", "did"})
_PRESENT = frozenset({"is", "are", "am", "has", "have", "do", "does", "can", "may", "cannot"})
_NOT_PAST = _PRESENT | lexicon.MODALS | {"be", "being"}
"""Before a participle that is no past: *is closed*, *will be provided*."""
_UNTIL = frozenset({"until", "till"})
_DATE_REACH = 3
"""Words after *until* in which its date stands: *until the end of May*."""


def past_for_present(alignment: Alignment) -> Iterator[Mismatch]:
    """A claim of the present all of which stands in a clause of a past that ended: *was free until May 2024*, *before
    2025 it was run by Serra*."""
    claim, sentence = alignment.claim, alignment.sentence
    ends = _ends_of_past(sentence)
    if not ends or not _is_of_the_present(claim) or any(claim.clause_denied) or not alignment.partners:
        return
    for place in ends:
        clause = sentence.clauses[place]
        said = [alignment.clauses_of(one) for one in alignment.partners]
        if all(clause in clauses for clauses in said) and any(clauses == {clause} for clauses in said):
            verb = next((one for one in _past_verbs(sentence) if sentence.clauses[one] == clause), place)
            yield Mismatch("value", (_present_verb(claim),), (min(verb, place), max(verb, place)))
            return


def ended_things(alignment: Alignment) -> Iterator[Mismatch]:
    """A claim of the present about what the evidence says has ended: *codes by SMS were switched off*."""
    claim = alignment.claim
    for verb in _endings(alignment.sentence):
        if not _is_of_the_present(claim) or any(claim.clause_denied):
            return
        if _is_all_of_claim(alignment, verb):
            yield Mismatch("value", (_present_verb(claim),), (verb,))
            return


def is_denied_as_ended(alignment: Alignment) -> bool:
    """Whether the claim denies what the evidence says has ended: *There is no night fee*, for *was abolished*."""
    endings = _endings(alignment.sentence)
    if not endings or not any(alignment.claim.clause_denied) or not _is_of_the_present(alignment.claim):
        return False
    return any(_is_all_of_claim(alignment, verb) for verb in endings)


def is_of_ended_past(alignment: Alignment, mismatch: Mismatch) -> bool:
    """Whether the evidence says of a past that ended what differs from a claim of the present: what *was closed until
    May* may be open."""
    sentence = alignment.sentence
    ended = {sentence.clauses[place] for place in _ends_of_past(sentence)}
    return (
        bool(ended)
        and _is_of_the_present(alignment.claim)
        and any(sentence.clauses[one] in ended for one in mismatch.said)
    )


def _is_all_of_claim(alignment: Alignment, verb: int) -> bool:
    """Whether what ended is what the claim speaks of: the claim has all its words, and no other noun of the evidence
    where it has but one. It must not say itself that it ended."""
    claim, sentence = alignment.claim, alignment.sentence
    ended = _subject(sentence, verb)
    said = {one for places in alignment.partners.values() for one in places}
    if not ended or verb in said or any(place not in said for place in ended):
        return False
    others = (place for place in alignment.partners if not is_verb(claim.terms[place]))
    clause = sentence.clauses[verb]
    return all(clause in alignment.clauses_of(place) for place in others)


def _subject(sentence: Reading, verb: int) -> Sequence[int]:
    """The content of the clause of a verb before it."""
    return [place for place in sentence.content if place < verb and sentence.clauses[place] == sentence.clauses[verb]]


@kept
def _endings(reading: Reading) -> Sequence[int]:
    """The places of the verbs that say that their subject has ended, as *discontinued* and *switched* of *were switched
    off*; none in what is to end, and none where something began anew."""
    if not reading.places.keys().isdisjoint(AGAIN):
        return ()
    return [place for place in range(1, len(reading.terms)) if _ends(reading, place)]


def _ends(reading: Reading, place: int) -> bool:
    key, following = reading.terms[place].key, reading.words[place + 1 : place + 2]
    is_ending = key in ENDING or any(word in ENDING_WITH.get(key, ()) for word in following)
    if not is_ending or reading.is_denied(place):
        return False
    return any(word in _PAST_BE for word in reading.words[max(0, place - 2) : place]) and not _is_to_come(
        reading, place
    )


def _is_to_come(reading: Reading, place: int) -> bool:
    clause = reading.clauses[place]
    before = (one for one in range(place) if reading.clauses[one] == clause)
    return any(reading.words[one] in lexicon.MODALS for one in before)


@kept
def _ends_of_past(reading: Reading) -> Sequence[int]:
    """The places of *until* before a date, and of *before* that opens a clause, before a year; only in clauses with a
    verb of the past that deny nothing: *not until May* is when it began."""
    found = []
    for place, word in enumerate(reading.words):
        if word in _UNTIL or (word == "before" and _opens_with_year(reading, place)):
            after = reading.terms[place + 1 : place + 1 + _DATE_REACH]
            clause = reading.clauses[place]
            is_past = any(reading.clauses[one] == clause for one in _past_verbs(reading))
            if is_past and any(term.kind in FIGURES for term in after) and not _denies(reading, clause):
                found.append(place)
    return found


def _opens_with_year(reading: Reading, place: int) -> bool:
    opens = place == 0 or reading.clauses[place - 1] != reading.clauses[place]
    return opens and any(term.kind is TermKind.YEAR for term in reading.terms[place + 1 : place + 2])


def _denies(reading: Reading, clause: int) -> bool:
    terms = (term for term, one in zip(reading.terms, reading.clauses, strict=True) if one == clause)
    return reading.clause_denied[clause] or any(term.kind is TermKind.NEGATION for term in terms)


@kept
def _past_verbs(reading: Reading) -> Sequence[int]:
    """The places of *was* and the like, and of pasts such as *led* and *worked* that no verb of the present stands
    before."""
    return [
        place
        for place, word in enumerate(reading.words)
        if word in _PAST_BE
        or (
            (word in lexicon.PAST or word.endswith("ed"))
            and is_verb(reading.terms[place])
            and _NOT_PAST.isdisjoint(reading.words[max(0, place - 2) : place])
        )
    ]


@kept
def _present_verb(reading: Reading) -> int:
    """The place of the first verb of the present; of the first word without one."""
    return next((place for place in range(len(reading.words)) if _is_present(reading, place)), 0)


@kept
def _is_of_the_present(reading: Reading) -> bool:
    """Whether a text says what is, and nothing of what was."""
    return not _past_verbs(reading) and any(_is_present(reading, place) for place in range(len(reading.words)))


def _is_present(reading: Reading, place: int) -> bool:
    word, term = reading.words[place], reading.terms[place]
    return word in _PRESENT or (word.endswith("s") and place > 0 and is_verb(term) and word not in lexicon.PAST)
