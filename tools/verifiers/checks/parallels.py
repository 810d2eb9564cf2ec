"""Parallel phrases: of *23 people in Leicester and 9 in Porto* each number is of its own town."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import CONTENT, Term, TermKind
from factloop.tools.verifiers.verbs import is_verb

MOST_TOLD = 2
"""Words before a preposition that are told of what follows it: *23 people in*, *mandatory on*."""
_LINKS = frozenset({"in", "on", "for", "at", "by", "with", "to", "from", "of"})
_JOINING = frozenset({"and", "or", "but", "while", "whereas"})
_OTHERS = frozenset({"other", "others", "rest"})
_BARE_DEEDS = frozenset({"be", "have", "do"})
_DETERMINING = frozenset({"all", "the", "a", "an", "any"})


class Phrase(NamedTuple):
    """What is told, and of what: places before and after a preposition."""

    told: tuple[int, ...]
    of: tuple[int, ...]


def exchanged_parallels(alignment: Alignment) -> Iterator[Mismatch]:
    """What the sentence tells of one thing, claimed of another of which it tells something else beside it."""
    for one, two in _parallels(alignment.sentence):
        for ours, theirs in ((one, two), (two, one)):
            found = _exchanged(alignment, ours, theirs)
            if found is not None:
                yield found
                return


def values_of_gaps(alignment: Alignment) -> Iterator[Mismatch]:
    """A figure of the clause before, where the claim's subject stands in one without a verb and with another figure:
    *the Dock comes with two years of warranty; the Printer with one year*."""
    claim = alignment.claim
    for place in [one for one in claim.of_kind(TermKind.NUMBER) if alignment.partners.get(one)]:
        own = alignment.clauses_of(place)
        subject = [one for one in claim.content if one < min(place, _first_deed(claim))]
        held = [alignment.clauses_of(one) for one in subject]
        for clause in sorted(frozenset.intersection(*held) - own) if held else ():
            rival = _figure_without_verb(alignment, clause)
            if rival is not None and not own & frozenset.union(*held) and clause - 1 in own:
                yield Mismatch("value", (place,), (rival,), excludes=True)
                return


def _first_deed(reading: Reading) -> int:
    """The place of the first verb, *is* and *has* included, and a bare one after the first word."""
    deeds = (place for place, term in enumerate(reading.terms) if _is_deed(term) or (place and _is_bare_verb(term)))
    return next(deeds, len(reading.terms))


def _is_deed(term: Term) -> bool:
    return is_verb(term) or term.key in _BARE_DEEDS


def _is_bare_verb(term: Term) -> bool:
    return term.kind is TermKind.WORD and term.key in lexicon.VERBS


def _figure_without_verb(alignment: Alignment, clause: int) -> int | None:
    """The figure of a clause without a verb, in digits or *one*, that the claim does not have."""
    sentence = alignment.sentence
    within = [place for place, one in enumerate(sentence.clauses) if one == clause]
    if any(_is_deed(sentence.terms[place]) for place in within):
        return None
    figures = [one for one in within if sentence.terms[one].kind is TermKind.NUMBER or sentence.words[one] == "one"]
    is_single = len(figures) == 1 and sentence.terms[figures[0]].key not in alignment.claim_keys
    return figures[0] if is_single else None


def _exchanged(alignment: Alignment, ours: Phrase, theirs: Phrase) -> Mismatch | None:
    """The mismatch of a claim that tells of what `theirs` is about what `ours` tells; None where it has more of one."""
    sentence, paired = alignment.sentence, alignment.paired
    keys = alignment.claim_keys
    told = [one for one in ours.told if one in paired and sentence.terms[one].key not in _keys(sentence, theirs.told)]
    is_of_theirs = not paired.isdisjoint(theirs.of) and _keys(sentence, ours.of).isdisjoint(keys)
    if not told or not is_of_theirs:
        return None
    rivals = [one for one in theirs.told if sentence.terms[one].key not in keys]
    if not rivals or any(sentence.terms[one].kind is TermKind.NUMBER for one in theirs.told if one not in rivals):
        return None
    place = next(place for place, other in alignment.pairs.items() if other == told[0])
    is_number = {alignment.claim.terms[place].kind, sentence.terms[rivals[0]].kind} == {TermKind.NUMBER}
    is_told_alike = is_number or any(term.key in _LINKS for term in alignment.claim.terms[place + 1 : place + 2])
    return Mismatch("value", (place,), (rivals[0],), excludes=is_number) if is_told_alike else None


def _keys(sentence: Reading, places: Sequence[int]) -> set[str]:
    return {sentence.terms[one].key for one in places}


@kept
def _parallels(reading: Reading) -> Sequence[tuple[Phrase, Phrase]]:
    """The pairs of phrases with the same preposition in one sentence, the second joined to the first: *optional on Free
    and Team and mandatory on Business*."""
    links = [place for place, term in enumerate(reading.terms) if term.key in _LINKS and term.kind is TermKind.FUNCTION]
    found: list[tuple[Phrase, Phrase]] = []
    for number, link in enumerate(links):
        alike = (one for one in links[number + 1 :] if reading.terms[one].key == reading.terms[link].key)
        following = next(alike, None)
        if following is None or reading.sentence_at(following) != reading.sentence_at(link):
            continue
        told = _told_before(reading, following)
        if not told:
            continue
        start = _before_articles(reading, told[0])
        is_joined = reading.terms[start].key in _JOINING or reading.clauses[start] != reading.clauses[told[0]]
        one = Phrase(_told_before(reading, link), _named(reading, range(link + 1, start + 1)))
        two = Phrase(told, _named(reading, range(following + 1, len(reading.terms))))
        if is_joined and one.told and one.of and two.of and _are_alike(reading, one, two):
            found.append((one, two))
    return found


def _before_articles(reading: Reading, place: int) -> int:
    """The place before a word and what determines it: before *all others*."""
    before, clauses = place - 1, reading.clauses
    while before > 0 and reading.terms[before].key in _DETERMINING and clauses[before] == clauses[place]:
        before -= 1
    return before


def _told_before(reading: Reading, link: int) -> tuple[int, ...]:
    """The words right before a preposition: of content, one of them a figure, or *others*."""
    places: list[int] = []
    for place in range(link - 1, max(-1, link - 1 - MOST_TOLD), -1):
        term = reading.terms[place]
        if reading.clauses[place] != reading.clauses[link] or not (term.kind in CONTENT or term.key in _OTHERS):
            break
        places.insert(0, place)
        if term.kind is TermKind.NUMBER:
            break
    return tuple(places)


def _named(reading: Reading, places: range) -> tuple[int, ...]:
    """The content after a preposition, up to a verb, another preposition or another sentence."""
    found: list[int] = []
    for place in places:
        term = reading.terms[place]
        ends = is_verb(term) or term.key in lexicon.PREPOSITIONS
        if ends or reading.sentence_at(place) != reading.sentence_at(places[0]):
            break
        if term.kind in CONTENT:
            found.append(place)
    return tuple(found)


def _are_alike(reading: Reading, one: Phrase, two: Phrase) -> bool:
    """Whether two phrases tell of like things: names or common words of both, and figures of both or of neither."""

    def kinds(places: Sequence[int]) -> set[TermKind]:
        return {reading.terms[place].kind for place in places}

    have_figures = [TermKind.NUMBER in kinds(phrase.told) for phrase in (one, two)]
    alike = kinds(one.of) & kinds(two.of) & {TermKind.NAME, TermKind.WORD}
    return bool(alike) and have_figures[0] == have_figures[1]
