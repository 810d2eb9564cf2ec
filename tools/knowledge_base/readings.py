"""Tells which known place, language or nationality a name in a text means, if any, by case, context and question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from factloop.tools.knowledge_base.cues import asked_for
from factloop.tools.knowledge_base.gazetteer import Entry, Gazetteer
from factloop.tools.knowledge_base.name_lists import known_family, known_given
from factloop.tools.knowledge_base.names import NameWord, fold, name_words, windows
from factloop.tools.knowledge_base.ordinary import ordinary_words
from factloop.tools.knowledge_base.places import takes_article
from factloop.tools.linguistics.lexicon import FUNCTION_WORDS

_ASKED = 10.0
_ASKED_PLACE = 3.0
_FAINT = 2.0
"""Fame below which a name is only what the question asks for: languages that few have heard of."""
_ASKED_FAINT = 5.0
_BESIDE = 4.0
_WELL_KNOWN = 9.0
"""Fame of countries and of the states of the USA."""
_BEYOND_PEOPLE = 8.0
"""Fame of nationalities. From it on, a name that no person has is taken as it stands, whatever the question asks."""
_FAIRLY_KNOWN = 5.3
"""A city of two hundred thousand."""
_LARGE = 6.0
"""A city of a million, a language that many countries speak."""
_ANY = 4.1
_ACRONYMS = frozenset({"us", "uk", "usa", "uae", "ussr", "dc"})
_PREPOSITION = re.compile(r"\b(?:in|at|from|to|near|of|across|through|into|outside|around|toward|towards)\s+$", re.I)
_LANGUAGE_BEFORE = re.compile(r"\b(?:speak|speaks|spoke|spoken|language|languages|in|into|is|are|learn|from)\s+$", re.I)
_LANGUAGE_AFTER = re.compile(r"\s+(?:language|translation|dialect|word|is spoken|was spoken)\b", re.I)
_CUE_OF_LANGUAGE = re.compile(r"\b(?:speak|spoken|speaks|language|languages|dialect|translat\w+)\b", re.I)


@dataclass(frozen=True, slots=True)
class Reading:
    """`text[start:end]` names this entry."""

    entry: Entry
    start: int
    end: int
    sure: bool
    """Whether it is certain: no person has the name, or the question asks for it."""


@dataclass(frozen=True, slots=True)
class _Name:
    """One name where it stands."""

    folded: str
    start: int
    end: int
    words: tuple[NameWord, ...]
    shouted: bool
    """The whole text is in capitals."""
    embedded: bool
    """Another capitalised word stands right beside it: *Teddy Roosevelt*, *Parker's Piece*."""
    behind_us_city: bool
    """*Atlanta, Georgia*."""

    @property
    def capitalised(self) -> bool:
        return not self.shouted and all(word.capitalised for word in self.words if word.word not in _SMALL)

    @property
    def ordinary(self) -> bool:
        return all(word.word.lower() in ordinary_words() for word in self.words)

    @property
    def personal(self) -> bool:
        return len(self.words) == 1 and (self.folded in known_given() or self.folded in known_family())


_BEFORE_COMMA = re.compile(r"((?:[^\W\d_]+\s+)?[^\W\d_]+),\s*$")
_SMALL = frozenset({"of", "the", "and", "de", "la", "le", "les", "del", "da", "do", "dos", "du", "el", "al"})


def place_readings(text: str, question: str, gazetteer: Gazetteer) -> Iterator[Reading]:
    """Readings of all names that the text may mean; they may overlap."""
    words = name_words(text)
    shouted = len(words) > 1 and not any(letter.islower() for letter in text)
    for first, after in windows(text, words, gazetteer.longest):
        start, end = words[first].start, words[after - 1].end
        folded = fold(text[start:end])
        entries = gazetteer.named(folded)
        if entries:
            embedded = _is_embedded(text, words, first, after)
            behind = _is_behind_us_city(text[max(start - 40, 0) : start], gazetteer)
            name = _Name(folded, start, end, words[first:after], shouted, embedded, behind)
            reading = _best(name, entries, text, question, alone=after - first == len(words))
            if reading is not None:
                yield reading


def _is_embedded(text: str, words: tuple[NameWord, ...], first: int, after: int) -> bool:
    before = words[first - 1] if first else None
    behind = words[after] if after < len(words) else None
    if before is not None and before.capitalised and before.word.lower() not in FUNCTION_WORDS:
        return text[before.end : words[first].start] == " "
    gap = text[words[after - 1].end : behind.start] if behind is not None else ""
    return behind is not None and behind.capitalised and gap in {" ", "'s ", "’s "}


def _is_behind_us_city(before: str, gazetteer: Gazetteer) -> bool:
    match = _BEFORE_COMMA.search(before)
    names = {fold(match[1]), fold(match[1].split()[-1])} if match is not None else set()
    return any("city_in_us" in entry.types for name in names for entry in gazetteer.named(name))


def _best(name: _Name, entries: Sequence[Entry], text: str, question: str, *, alone: bool) -> Reading | None:
    asked = asked_for(question)
    scored = [(_score(entry, name, text, question), entry) for entry in entries]
    score, entry = max(scored, key=lambda pair: (pair[0], pair[1].rank, pair[1].key))
    is_asked = entry.broad in asked or ("place" in asked and entry.types[0] == "place")
    in_place = entry.types[0] == "place" and _PREPOSITION.search(text[max(name.start - 12, 0) : name.start]) is not None
    if not _accepted(name, entry, score, is_asked=is_asked, in_place=in_place, alone=alone):
        return None
    start = name.start
    if takes_article(entry.label) and text[max(start - 4, 0) : start].lower() == "the ":
        start -= 4
    no_person = entry.broad == "nationality" or (not name.personal and entry.fame >= _BEYOND_PEOPLE)
    sure = no_person or ((is_asked or (in_place and not name.personal)) and "person" not in asked)
    return Reading(entry, start, name.end, sure)


def _score(entry: Entry, name: _Name, text: str, question: str) -> float:
    asked = asked_for(question)
    score = entry.fame - (1.0 if fold(entry.label) != name.folded and entry.fame < _WELL_KNOWN else 0.0)
    if entry.broad in asked:
        score += _ASKED if entry.fame >= _FAINT else _ASKED_FAINT
    if "place" in asked and entry.types[0] == "place":
        score += _ASKED_PLACE
    if entry.within and fold(entry.within) in fold(f"{text} {question}"):
        score += _BESIDE
    if "us_state" in entry.types and name.behind_us_city:
        score += _BESIDE
    if entry.broad == "language" and entry.fame >= _FAINT and _of_language(name, text, question):
        score += _ASKED
    return score


def _of_language(name: _Name, text: str, question: str) -> bool:
    if _LANGUAGE_AFTER.match(text, name.end):
        return True
    before = text[max(name.start - 14, 0) : name.start]
    return _LANGUAGE_BEFORE.search(before) is not None and _CUE_OF_LANGUAGE.search(f"{text} {question}") is not None


def _accepted(name: _Name, entry: Entry, score: float, *, is_asked: bool, in_place: bool, alone: bool) -> bool:
    if name.folded in _ACRONYMS:
        return name.words[0].word.isupper() and not name.shouted
    if entry.fame < _FAINT and not (is_asked and name.capitalised):
        return False
    if name.embedded and len(name.words) == 1 and entry.fame < _LARGE and not in_place:
        return False
    if is_asked:
        return name.capitalised or not name.ordinary or entry.fame >= _FAIRLY_KNOWN
    if not name.capitalised or (name.words[0].opens and name.ordinary and not alone):
        return _accepted_in_lower_case(name, entry, in_place)
    if len(name.words) > 1:
        return score >= _ANY
    if entry.fame >= _BEYOND_PEOPLE:
        return True
    if name.ordinary:
        return in_place and entry.fame >= _FAIRLY_KNOWN
    if name.personal:
        return score >= 7.0 or (in_place and score >= 4.0)
    return score >= (_ANY if in_place else _FAIRLY_KNOWN)


def _accepted_in_lower_case(name: _Name, entry: Entry, in_place: bool) -> bool:
    if name.ordinary:
        return (in_place and entry.fame >= _WELL_KNOWN) or (len(name.words) > 1 and entry.fame >= _WELL_KNOWN)
    return entry.fame >= (_FAIRLY_KNOWN if len(name.words) > 1 else _LARGE) and not name.personal
