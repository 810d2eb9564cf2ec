"""Figures: the same thing counted otherwise, or the figure of another thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from factloop.tools.linguistics import lexicon
from factloop.tools.verifiers.alignment import Alignment, says_same
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.checks.dates import is_within_range, verb_of
from factloop.tools.verifiers.checks.figure_labels import names_label
from factloop.tools.verifiers.reading import Reading, kept
from factloop.tools.verifiers.terms import FIGURES, Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import BEFORE_OTHER_ONES, DENIED_LIMITS, LIMITS, MEASURES, UNITS

COUNT_REACH = 4
"""Words after a number in which what it counts stands: "fourteen stone arches", "nine of the arches"."""
MIN_WEIGHT, MARGIN, MIN_SHARE = 1.0, 1.4, 0.2
"""By how much, and with what share of the claim, another clause must hold more of what a figure is said of."""
MIN_SHARE_ELSEWHERE = 0.6
"""Share of the claim, its figure apart, that another clause must hold for the figure to be no part of it."""

_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_DECIMAL = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
"""What is no version: *1.5.2*."""
_SINGLE = frozenset({"one", "single"})
_ONE_OR_A = _SINGLE | {"a", "an", "each", "every", "another"}
_OTHERS = frozenset({"other", "others", "another"})
"""With which *one* is one of several: *one particle acts on the other*."""


def count_alike(claim: Reading, ours: Sequence[int], sentence: Reading, theirs: Sequence[int]) -> bool:
    """Whether two numbers count one thing: *21 percent of the patients* are no number of patients, and *five unused
    days* are days."""
    one, two = unit_of(claim, ours), unit_of(sentence, theirs)
    if one is not None or two is not None:
        ours, theirs = ours[:1] if one is None else [one], theirs[:1] if two is None else [two]
    return any(says_same(claim.terms[one], sentence.terms[two]) for one in ours for two in theirs)


def unit_of(reading: Reading, things: Sequence[int]) -> int | None:
    """The place of the unit that a number counts, be it after a word that says more of it; None without one."""
    is_phrase = len(things) == 2 and things[1] == things[0] + 1
    return next((one for one in things[: 2 if is_phrase else 1] if reading.terms[one].key in MEASURES), None)


def has_unit(reading: Reading, things: Sequence[int]) -> bool:
    """Whether the first of these places, which a number counts, is a unit."""
    return any(reading.terms[one].key in MEASURES for one in things[:1])


def more_than_one(alignment: Alignment) -> Iterator[Mismatch]:
    """*One fan*, where the sentence counts more of them: *two fans*."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in [one for one, word in enumerate(claim.words) if word in _SINGLE]:
        things = counted(claim, place) if _counts_next(claim, place) else []
        if not things or UNITS.get(claim.terms[things[0]].key, ("",))[0] == "time":
            continue
        others = [
            other
            for other, term in enumerate(sentence.terms)
            if (term.kind is TermKind.NUMBER and not is_ordinal(sentence, other)) or term.surface.lower() in _ONE_OR_A
            if any(says_same(claim.terms[things[-1]], sentence.terms[one]) for one in counted(sentence, other))
        ]
        stands_alone = any(
            term.surface.lower() == "one" and not counted(sentence, other) for other, term in enumerate(sentence.terms)
        )
        if others and not stands_alone and all(sentence.terms[other].kind is TermKind.NUMBER for other in others):
            yield Mismatch("value", (place,), (others[0],), excludes=True)


def _counts_next(reading: Reading, place: int) -> bool:
    """Whether *one* is a number before a noun: *one fan*, but not *one of the fans*, *no one* and *one another*."""
    following = reading.terms[place + 1 : place + 2]
    is_alone = place == 0 or reading.terms[place - 1].key not in BEFORE_OTHER_ONES
    is_alone = is_alone and not reading.places.keys() & _OTHERS
    return is_alone and any(term.kind is TermKind.WORD and not is_verb(term) for term in following)


def strangers_figures(alignment: Alignment) -> Iterator[Mismatch]:
    """A figure of the claim in one clause, while another clause holds the rest of it, with a figure of its own."""
    claim = alignment.claim
    weigh = _weights(claim)
    for kind in (TermKind.NUMBER, TermKind.YEAR, TermKind.MONTH):
        for place in [one for one in claim.of_kind(kind) if one in alignment.pairs]:
            own, things = alignment.clauses_of(place), counted(claim, place)[:1]
            if any(alignment.clauses_of(one) & own for one in _content_before(claim, place)):
                continue  # "was lit in 1698", where the source says that it was lit then
            rest = [one for one in alignment.pairs if claim.terms[one].kind is not kind and one not in things]
            held = {
                clause: [one for one in rest if clause in alignment.clauses_of(one)]
                for clause in _others(alignment, rest, own)
            }
            for clause, ones in held.items():
                if _has_own_evidence(alignment, place, own, clause):
                    continue
                there = sum(weigh(one, place) for one in ones if not alignment.clauses_of(one) & own)
                here = sum(weigh(one, place) for one in rest if alignment.clauses_of(one) & own and one not in ones)
                rival = _own_figure(alignment, kind, clause)
                enough = there >= max(MIN_WEIGHT, MARGIN * here) and len(ones) >= MIN_SHARE * (len(claim.content) - 1)
                if enough and rival is not None and not _are_of_others(alignment, place, rival):
                    yield Mismatch("value", (place,), (rival,), excludes=True)
                    return


def figures_of_other_clauses(alignment: Alignment) -> Iterator[Mismatch]:
    """A figure of the claim, while a clause without it, with a figure of its own, holds more of the claim and the most
    of it: "900 copies in the first year; the second sold 40,000"."""
    claim = alignment.claim
    for kind in (TermKind.NUMBER, TermKind.YEAR, TermKind.MONTH):
        for place in [one for one in claim.of_kind(kind) if one in alignment.pairs]:
            own, rest = alignment.clauses_of(place), [one for one in claim.content if one != place]
            held = {clause: _n_held(alignment, rest, clause) for clause in (*own, *_others(alignment, rest, own))}
            here = max(held[clause] for clause in own)
            for clause in sorted(held.keys() - own):
                rival = _own_figure(alignment, kind, clause)
                if rival is None or _are_of_others(alignment, place, rival):
                    continue
                if _has_own_evidence(alignment, place, own, clause):
                    continue
                if here < held[clause] >= MIN_SHARE_ELSEWHERE * len(rest):
                    yield Mismatch("value", (place,), (rival,), excludes=True)
                    return


def _has_own_evidence(alignment: Alignment, figure: int, own: frozenset[int], other: int) -> bool:
    """Whether the evidence has the claim's figure in its own right: within a range, or with the claim's verb, where the
    other clause has another verb: *lost in 1949 and won in 1950*, of which the first names the subject for both."""
    claim, sentence, verb = alignment.claim, alignment.sentence, verb_of(alignment, figure)
    if is_within_range(sentence, claim.terms[figure]) or _takes_verb_over(alignment, own):
        return True
    there = [one for one in sentence.of_kind(TermKind.NUMBER) if sentence.clauses[one] == other]
    if names_label(alignment, alignment.partners[figure], there):
        return True
    if verb is None or verb in alignment.opposed or not alignment.clauses_of(verb) & own:
        return False
    paired = alignment.paired
    others = (place for place, clause in enumerate(sentence.clauses) if clause == other and place not in paired)
    return other not in alignment.clauses_of(verb) and any(is_verb(sentence.terms[place]) for place in others)


def _takes_verb_over(alignment: Alignment, own: frozenset[int]) -> bool:
    """Whether a clause with the claim's figure names its subject and leaves the verb to the one before it: *tablets
    keep for three years, drops for six months*."""
    claim, sentence = alignment.claim, alignment.sentence
    deed = next(
        (one for one in claim.content[1:] if is_verb(claim.terms[one]) or claim.terms[one].key in lexicon.VERBS), None
    )
    subject = None if deed is None else max(one for one in claim.content if one < deed)
    shared = own & alignment.clauses_of(subject) if subject is not None and subject not in alignment.opposed else own
    with_verb = {clause for clause, term in zip(sentence.clauses, sentence.terms, strict=True) if is_verb(term)}
    return subject is not None and bool(shared - with_verb)


def nearer_numbers(alignment: Alignment) -> Iterator[Mismatch]:
    """Another number of the same unit nearer to what the number is said of: "28 metres tall and 64 metres long"."""
    claim, sentence = alignment.claim, alignment.sentence
    for place in [one for one in claim.of_kind(TermKind.NUMBER) if one in alignment.pairs]:
        unit = counted(claim, place)[:1]
        words = [one for one in alignment.pairs if claim.terms[one].kind is TermKind.WORD and one not in unit]
        if not words or not unit or claim.terms[unit[0]].key not in UNITS:
            continue
        own = alignment.pairs[place]
        told = _after_unit(alignment, place, unit[0])
        if own in told:
            continue  # "64 metres long"
        anchor = alignment.pairs[min(words, key=lambda one: abs(one - place))]
        for other in sentence.of_kind(TermKind.NUMBER):
            if sentence.clauses[other] != sentence.clauses[own] or sentence.terms[other].key in alignment.claim_keys:
                continue
            theirs = counted(sentence, other)[:1]
            like = bool(theirs) and says_same(claim.terms[unit[0]], sentence.terms[theirs[0]])
            if like and abs(other - anchor) + 1 < abs(own - anchor):
                yield Mismatch("value", (place,), (other,), excludes=True)
                return


def _after_unit(alignment: Alignment, place: int, unit: int) -> list[int]:
    """The numbers of the sentence after whose unit stands the word that stands after the claim's: *metres long*."""
    claim, sentence = alignment.claim, alignment.sentence
    if unit != place + 1 or unit + 1 not in alignment.partners or claim.terms[unit + 1].kind is not TermKind.WORD:
        return []
    return [
        one - 2
        for one in alignment.partners[unit + 1]
        if one > 1 and sentence.terms[one - 2].kind is claim.terms[place].kind
    ]


def other_limits(alignment: Alignment) -> Iterator[Mismatch]:
    """A number that is a lower limit on one side and an upper limit on the other."""
    for place, other in alignment.pairs.items():
        if alignment.claim.terms[place].kind is TermKind.NUMBER:
            limits = limit_of(alignment.claim, place), limit_of(alignment.sentence, other)
            if None not in limits and limits[0] != limits[1]:
                yield Mismatch("limit", (place,), (other,), excludes=True)


def is_ordinal(reading: Reading, place: int) -> bool:
    """Whether a number tells which one, not how many."""
    return _ORDINAL.fullmatch(reading.words[place]) is not None


def counted(reading: Reading, number: int) -> list[int]:
    """The places of up to two words that a number counts; else of the one that it numbers: "version 3.9".

    None where it stands for people or things that were named: "the two exchanged letters". The first number of a range
    counts what the second does: "four to six hours".
    """
    found: list[int] = []
    if _stands_for_some(reading, number):
        return found
    number = _end_of_range(reading, number)
    for place in range(number + 1, min(number + 1 + COUNT_REACH, len(reading.terms))):
        term = reading.terms[place]
        if reading.clauses[place] != reading.clauses[number] or term.kind in FIGURES or len(found) == 2:
            break
        if term.kind in {TermKind.WORD, TermKind.NAME}:
            found.append(place)
        elif term.key not in {"of", "the", "a", "more", "per"}:
            break
    before = number - 1
    if found or before < 0 or reading.terms[before].kind is not TermKind.WORD or is_verb(reading.terms[before]):
        return found
    return [before] if reading.clauses[before] == reading.clauses[number] else []


def _end_of_range(reading: Reading, number: int) -> int:
    """The place of the second number of *four to six* and *4–6*; the number itself where it begins no range."""
    following = reading.terms[number + 1 : number + 3]
    if any(term.kind is TermKind.NUMBER for term in following[:1]):
        return number + 1 if reading.clauses[number + 1] != reading.clauses[number] else number
    is_range = len(following) == 2 and following[0].key in {"to", "or"} and following[1].kind is TermKind.NUMBER
    return number + 2 if is_range else number


def _stands_for_some(reading: Reading, number: int) -> bool:
    following = reading.terms[number + 1 : number + 2]
    return number > 0 and reading.terms[number - 1].key == "the" and any(map(is_verb, following))


def other_unit(term: Term, other: Term) -> bool:
    one, two = UNITS.get(term.key), UNITS.get(other.key)
    return one is not None and two is not None and one[0] == two[0] and one != two


def _content_before(claim: Reading, place: int) -> list[int]:
    """The content word before a figure."""
    return [one for one in claim.content if one < place][-1:]


def _others(alignment: Alignment, rest: list[int], own: frozenset[int]) -> list[int]:
    return sorted({clause for one in rest for clause in alignment.clauses_of(one)} - own)


def _n_held(alignment: Alignment, places: Sequence[int], clause: int) -> int:
    """How many of these places of the claim have a partner in a clause, or in its subject before an *and*."""
    subject, partners = _shared_subjects(alignment.sentence).get(clause, frozenset()), alignment.partners
    return sum(
        clause in alignment.clauses_of(place) or not subject.isdisjoint(partners.get(place, ())) for place in places
    )


@kept
def _shared_subjects(sentence: Reading) -> Mapping[int, frozenset[int]]:
    """For each clause that takes over the subject of the one before it, the places of that: of *it opened and grew*."""
    sharing = (clause for clause in range(1, len(sentence.clause_denied)) if sentence.shares_subject(clause))
    return {clause: _before_verb(sentence, clause - 1) for clause in sharing}


def _before_verb(sentence: Reading, clause: int) -> frozenset[int]:
    within = (place for place, one in enumerate(sentence.clauses) if one == clause)
    return frozenset(takewhile(lambda place: not is_verb(sentence.terms[place]), within))


def _own_figure(alignment: Alignment, kind: TermKind, clause: int) -> int | None:
    """A figure of a clause that the claim does not have."""
    sentence = alignment.sentence
    return next(
        (
            place
            for place in sentence.of_kind(kind)
            if sentence.clauses[place] == clause
            and sentence.terms[place].key not in alignment.claim_keys
            and place not in alignment.paired
        ),
        None,
    )


def _are_of_others(alignment: Alignment, place: int, rival: int) -> bool:
    """Whether the sentence has the claim's number of the things that the claim counts, and the rival of something else:
    *29 euros* speak neither for nor against *ten seats*, nor *42 patients* against *21 percent*. Two numbers of one
    unit are no numbers of one thing, though: much is measured in metres."""
    claim, sentence = alignment.claim, alignment.sentence
    if claim.terms[place].kind is not TermKind.NUMBER:
        return False
    ours, found, theirs = (
        counted(reading, number)
        for reading, number in ((claim, place), (sentence, alignment.pairs[place]), (sentence, rival))
    )
    if has_unit(claim, ours):
        return bool(theirs) and not has_unit(sentence, theirs)

    def are_alike(places: Sequence[int]) -> bool:
        return any(says_same(claim.terms[one], sentence.terms[two]) for one in ours for two in places)

    return are_alike(found) and bool(theirs) and not are_alike(theirs)


def _weights(claim: Reading) -> Callable[[int, int], float]:
    """How much a word of the claim tells of what a figure in it is said of: the subject and the nearest words most."""
    content, subject = claim.content, _subject(claim)

    def weigh(word: int, figure: int) -> float:
        between = sum(min(word, figure) < place < max(word, figure) for place in content)
        near = {0: 2.0, 1: 1.5}.get(between, 1.0)
        in_of = any(term.key == "of" for term in claim.terms[max(0, word - 3) : word])
        return near * (2.2 if word == subject else 1.0) * (0.4 if in_of and between else 1.0)

    return weigh


def _subject(claim: Reading) -> int | None:
    """The last word of the subject, before a preposition and the verb."""
    found: int | None = None
    for place, term in enumerate(claim.terms):
        if term.kind in {TermKind.WORD, TermKind.NAME} and not is_verb(term):
            found = place
        elif found is not None and (is_verb(term) or term.key in lexicon.PREPOSITIONS):
            break
    return found


_LIMITS = [
    (name, re.compile(pattern), is_denied)
    for forms, is_denied in ((DENIED_LIMITS, True), (LIMITS, False))
    for name, pattern in forms
]
_WORDS_BEFORE, _WORDS_AFTER = 5, 8


class Limit(NamedTuple):
    """What the words around a number make of it."""

    name: str
    """*at least* or *at most*."""
    is_denied: bool
    """Whether a denial does: *no more than 5*, *under 16 may not*."""


def limit_of(reading: Reading, place: int) -> str | None:
    """Whether the words around a number make it *at least* or *at most*; None where they do neither."""
    limit = told_limit(reading, place)
    return None if limit is None else limit.name


def told_limit(reading: Reading, place: int) -> Limit | None:
    """The limit that the words around a number make of it, the first found: *no more than* ends with another."""
    words = list(reading.words[max(0, place - _WORDS_BEFORE) : place + _WORDS_AFTER])
    words[min(_WORDS_BEFORE, place)] = "#"
    text = " ".join(words)
    return next((Limit(name, is_denied) for name, pattern, is_denied in _LIMITS if pattern.search(text)), None)


def states_one_limit(alignment: Alignment) -> bool:
    """Whether a number is the same limit on both sides, which a denial makes on one: a maximum, and what is not to be
    more."""
    limits = (
        (told_limit(alignment.claim, place), told_limit(alignment.sentence, other))
        for place, other in alignment.pairs.items()
        if alignment.claim.terms[place].kind is TermKind.NUMBER
    )
    return any(
        one is not None and two is not None and one.name == two.name and (one.is_denied or two.is_denied)
        for one, two in limits
    )


def keeps_limit(claim: Reading, place: int, sentence: Reading, other: int) -> bool:
    """Whether a number of the claim keeps the limit that the sentence makes of its own, and is no limit itself."""
    ours, theirs = (reading.terms[number].key for reading, number in ((claim, place), (sentence, other)))
    limit = limit_of(sentence, other)
    if limit is None or not _DECIMAL.fullmatch(ours) or not _DECIMAL.fullmatch(theirs) or limit_of(claim, place):
        return False
    return float(ours) < float(theirs) if limit == "at most" else float(ours) > float(theirs)
