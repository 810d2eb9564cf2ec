"""Dates: another year or month of the same event, and *since* for *until*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import Term, TermKind
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import AGAIN, ENDS_OF_TIME, REPEATED

_ARTICLES = frozenset({"the", "a", "an", "each", "every", "its", "their"})
_OPENING_RANGE = frozenset({"from", "between"})
_JOINING_ENDS = frozenset({"to", "and", "until", "till"})
_A_YEAR_ON = re.compile(r"(?:year (?:after|before|earlier|later|late|early)|(?:follow|following|next|previous) year)")


def other_dates(alignment: Alignment) -> Iterator[Mismatch]:
    """A year or month that is not in the sentence, where that has another."""
    claim, sentence = alignment.claim, alignment.sentence
    for kind in (TermKind.YEAR, TermKind.MONTH):
        for place in claim.of_kind(kind):
            others = [one for one in sentence.of_kind(kind) if sentence.terms[one].key not in alignment.claim_keys]
            if place in alignment.pairs or not others:
                continue
            term = claim.terms[place]
            if (
                _is_relative(sentence)
                or follows_from(sentence, term)
                or any(_may_be_one(term, sentence.terms[one]) for one in others)
                or is_within_range(sentence, term)
            ):
                continue
            told = _clauses_of_verb(alignment, place) or frozenset({alignment.main})
            near = max(others, key=lambda one: (*_nearness(sentence, one, told), -one))
            is_once = not _may_come_again(alignment, place)
            yield Mismatch("date", (place,), (near,), excludes=is_once and sentence.clauses[near] in told)


def _clauses_of_verb(alignment: Alignment, date: int) -> frozenset[int]:
    """The clauses that say of the claim's date what it is the date of: that hold the verb nearest to it."""
    verb = verb_of(alignment, date)
    return frozenset() if verb is None else alignment.clauses_of(verb)


def verb_of(alignment: Alignment, figure: int) -> int | None:
    """The verb of the claim that stands nearest to a figure, of those with a partner."""
    verbs = [place for place in alignment.pairs if is_verb(alignment.claim.terms[place])]
    return min(verbs, key=lambda one: abs(one - figure), default=None)


def _nearness(sentence: Reading, place: int, clauses: frozenset[int]) -> tuple[bool, bool]:
    """Whether a place is in one of the clauses, and whether it is in a sentence of theirs."""
    own = sentence.clauses[place]
    return own in clauses, sentence.sentence_of[own] in {sentence.sentence_of[clause] for clause in clauses}


def is_within_range(sentence: Reading, date: Term) -> bool:
    """Whether a year or month lies between two that the sentence joins: *July* is of *from June to August*."""
    dates = sentence.of_kind(date.kind)
    ranges = (
        (sentence.terms[one].key, sentence.terms[two].key)
        for one, two in pairwise(dates)
        if two == one + 2 and sentence.terms[one + 1].key in _JOINING_ENDS
        if one and sentence.terms[one - 1].key in _OPENING_RANGE
    )
    order = _order(date.key)
    return order is not None and any((_order(first) or 0) <= order <= (_order(last) or 0) for first, last in ranges)


def _order(date: str) -> int | None:
    """A year as a number, and a month as its place in the year."""
    digits = date.removeprefix("month ")
    return int(digits) if digits.isdigit() else None


def _may_come_again(alignment: Alignment, date: int) -> bool:
    """Whether the claim's event may have other dates as well: one wins in many years, and the evidence may say that
    something came *again*."""
    verb = verb_of(alignment, date)
    is_repeated = verb is not None and alignment.claim.terms[verb].key in REPEATED
    return is_repeated or any(term.key in AGAIN for term in alignment.sentence.terms)


def follows_from(sentence: Reading, year: Term) -> bool:
    """Whether a year is another of the sentence and a number of years: "eight years later", "the year after"."""
    if not year.key.isdigit():
        return False
    terms = sentence.terms
    years = [int(terms[place].key) for place in sentence.of_kind(TermKind.YEAR) if terms[place].key.isdigit()]
    spans = [
        int(terms[place].key)
        for place in sentence.of_kind(TermKind.NUMBER)
        if terms[place].key.isdigit() and terms[place + 1 : place + 2] and terms[place + 1].key == "year"
    ]
    if _A_YEAR_ON.search(" ".join(term.key for term in terms)):
        spans.append(1)
    return any(int(year.key) in {one - span, one + span} for one in years for span in spans)


def _is_relative(sentence: Reading) -> bool:
    """Whether the sentence dates something by the day it was written: "this year"."""
    words = sentence.words
    return any(one in {"this", "last"} and two in {"year", "month", "season"} for one, two in pairwise(words))


def _may_be_one(term: Term, other: Term) -> bool:
    """Whether one is a decade or century that holds the other."""
    return any(one.period is not None and two.key.startswith(one.period) for one, two in ((term, other), (other, term)))


def other_ends(alignment: Alignment) -> Iterator[Mismatch]:
    """*Since* of the claim where the evidence says *until* and nowhere *since*, or *before* and *after*."""
    said = {ENDS_OF_TIME.get(term.key) for term in alignment.sentence.terms}
    for place, other in alignment.pairs.items():
        ours, theirs = _before_article(alignment.claim, place), _before_article(alignment.sentence, other)
        if ours is None or theirs is None:
            continue
        words = alignment.claim.terms[ours].key, alignment.sentence.terms[theirs].key
        one, two = ENDS_OF_TIME.get(words[0]), ENDS_OF_TIME.get(words[1])
        is_of_time = (ours, theirs) == (place - 1, other - 1) or set(words) == {"before", "after"}
        if one is not None and two is not None and one not in said and is_of_time:
            yield Mismatch("value", (ours,), (theirs,), excludes=True)


def _before_article(reading: Reading, place: int) -> int | None:
    """The place of the word before a noun, be it before its article: *before* of *before the end*."""
    place -= 1
    if place > 0 and reading.words[place] in _ARTICLES:
        place -= 1
    return place if place >= 0 else None
