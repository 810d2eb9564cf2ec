"""Contrasts: the phrase that *not* denies alone, as in *by Lund, not by Berg* and *not by Berg but by Lund*."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.terms import Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import NO_NEGATION_BEFORE

_JOINING = frozenset({"but", "and"})
REACH = 12
"""Words after *not* in which its contrast ends."""


def contrasted(terms: Sequence[Term]) -> tuple[range, ...]:
    """The places of each phrase that is denied alone, its *not* among them where it stands right before."""
    negations = [place for place, term in enumerate(terms) if term.kind is TermKind.NEGATION]
    found = (_phrase(terms, place) for place in negations)
    return tuple(places for places in found if places is not None)


def _phrase(terms: Sequence[Term], place: int) -> range | None:
    return _after_not(terms, place) or _before_but(terms, place)


def _after_not(terms: Sequence[Term], place: int) -> range | None:
    """What follows *not* without a verb, after a clause with one: *but not on Mondays*."""
    word, before, following = terms[place].surface.lower(), terms[place - 1 : place], terms[place + 1 : place + 2]
    if word not in {"not", "no", "never"} or not before or not following or following[0].key in NO_NEGATION_BEFORE:
        return None
    joins = before[0].key in _JOINING or (before[0].kind is TermKind.MARK and word != "no")
    is_of_phrase = word == "not" and is_verb(before[0]) and following[0].key == "by"
    if following[0].key == "even" or any(term.kind is TermKind.NEGATION for term in terms[:place]):
        return None  # it denies no less than what stands before
    end = _end(terms, place)
    told = terms[place + 1 : end]
    is_alone = not any(map(is_verb, told)) and any(term.kind not in {TermKind.FUNCTION, TermKind.MARK} for term in told)
    has_verb = any(is_verb(term) or term.key == "be" for term in terms[:place])
    return range(place, end) if (joins or is_of_phrase) and is_alone and has_verb else None


def _before_but(terms: Sequence[Term], place: int) -> range | None:
    """What stands before *but* and the same preposition: *was not written by Berg but by Lund* was written."""
    end = _end(terms, place)
    following = terms[end + 1 : end + 2]
    if end >= len(terms) or terms[end].key != "but" or not following or following[0].key not in lexicon.PREPOSITIONS:
        return None
    within = [one for one in range(place + 1, end) if terms[one].key == following[0].key]
    rest = terms[end + 1 : _end(terms, end)]
    return None if not within or any(map(is_verb, rest)) else range(within[0], end)


def _end(terms: Sequence[Term], place: int) -> int:
    """Where the words after a place end: at a mark, at *but*, or with the sentence."""
    after = range(place + 1, min(place + 1 + REACH, len(terms)))
    return next((one for one in after if terms[one].kind is TermKind.MARK or terms[one].key == "but"), after.stop)


def joins_contrast(terms: Sequence[Term], place: int, phrases: Sequence[range]) -> bool:
    """Whether a word goes on with the clause before it, as a contrast, the *but* before one, or the *but* after one."""
    if any(place == phrase.start and terms[place].kind is TermKind.NEGATION for phrase in phrases):
        return True
    is_joining = terms[place].key in _JOINING
    opens = any(place + 1 == phrase.start for phrase in phrases)
    following = terms[place + 1 : place + 2]
    closes = any(place == phrase.stop for phrase in phrases) and any(
        one.key in lexicon.PREPOSITIONS for one in following
    )
    return is_joining and (opens or closes)
