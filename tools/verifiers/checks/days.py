"""Days and seasons: *every day* where the evidence says *only on Sundays*, *all year* where it says *in summer*."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import TermKind

_WEEK = frozenset({"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"})
_DAYS = _WEEK | {"weekend", "weekday", "workday"}
_SEASONS = frozenset({"spring", "summer", "autumn", "winter"})
_EVERY_DAY = re.compile(
    r"\b(?:(?:every|each|any) (?:single )?day|(?<!the )(?<!a )(?<!its )(?<!their )daily|(?:7|seven) days a week"
    r"|all week|around the clock)\b"
)
_ALL_YEAR = re.compile(r"\b(?:all (?:the )?year|year round|throughout the year|all seasons)\b")


def not_every_day(alignment: Alignment) -> Iterator[Mismatch]:
    """*Every day* or *all year* of the claim, where the sentence with most of it names some days or seasons alone."""
    for always, named in ((_EVERY_DAY, _some_days), (_ALL_YEAR, _some_seasons)):
        claim = alignment.claim
        places = _spoken(claim, always)
        if not places or named(claim, None) or any(map(claim.is_denied, places)):
            continue
        number = alignment.sentence.sentence_of[alignment.main]
        said = [] if _spoken(alignment.sentence, always) else named(alignment.sentence, number)
        if said:
            within = _within(alignment.sentence, number)
            only = [one for one in alignment.sentence.places.get("only", ()) if one in within]
            instead = (*only[:1], said[0])
            yield Mismatch("quantity", tuple(places), instead, excludes=bool(only) and _says_no_more(alignment, said))
            return


def _says_no_more(alignment: Alignment, named: list[int]) -> bool:
    """Whether all else in the clause of these days is said by the claim: *the tower beside the museum* is another thing
    than *the museum*."""
    sentence = alignment.sentence
    said = {partner for partners in alignment.partners.values() for partner in partners}
    clause = sentence.clauses[named[0]]
    return all(one in said or one in named for one in sentence.content if sentence.clauses[one] == clause)


def _spoken(reading: Reading, always: re.Pattern[str]) -> list[int]:
    """The places of the words that say *always*."""
    words = reading.words
    found = always.search(" ".join(words))
    if found is None:
        return []
    start = found.string[: found.start()].count(" ")
    return list(range(start, start + found[0].count(" ") + 1))


def _some_days(reading: Reading, number: int | None) -> list[int]:
    """The places of the days that a sentence names; none where it names all seven."""
    found = [one for one in _within(reading, number) if reading.terms[one].key in _DAYS]
    keys = {reading.terms[one].key for one in found}
    is_all = keys >= _WEEK or ("weekday" in keys and ("weekend" in keys or keys >= {"saturday", "sunday"}))
    return [] if is_all or any(_spans_week(reading, one, two) for one, two in pairwise(found)) else found


def _spans_week(reading: Reading, one: int, two: int) -> bool:
    """Whether two days are those of *Monday to Sunday*."""
    between = {term.key for term in reading.terms[one + 1 : two]}
    return reading.terms[one].key == "monday" and reading.terms[two].key == "sunday" and not between & {"and", "or"}


def _some_seasons(reading: Reading, number: int | None) -> list[int]:
    """The places of the seasons and months that a sentence names; none where it names all seasons."""
    found = [one for one in _within(reading, number) if _is_season(reading, one)]
    is_all = {reading.terms[one].key for one in found} >= _SEASONS
    return [] if is_all else found


def _is_season(reading: Reading, place: int) -> bool:
    return reading.terms[place].key in _SEASONS or reading.terms[place].kind is TermKind.MONTH


def _within(reading: Reading, number: int | None) -> list[int]:
    """The places of a sentence, from 0; of all where no number is given."""
    return [one for one in range(len(reading.terms)) if number in {None, reading.sentence_at(one)}]
