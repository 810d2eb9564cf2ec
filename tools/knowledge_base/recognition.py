"""People and named things among the capitalised mentions of a text, by their form and what stands around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from factloop.tools.knowledge_base.cues import ROLES, asked_for
from factloop.tools.knowledge_base.groups import group_kind
from factloop.tools.knowledge_base.name_lists import known_family, known_given
from factloop.tools.knowledge_base.names import NameWord, fold, name_words
from factloop.tools.knowledge_base.ordinary import CALENDAR, ordinary_words
from factloop.tools.knowledge_base.people import TITLES, read_name
from factloop.tools.knowledge_base.things import thing_kind
from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.english import is_known
from factloop.tools.linguistics.mentions import find_mentions

_PERSONAL_VERBS = re.compile(
    r"\s+(?:(?:was|is|were) (?:the (?:\w+ ){0,3}?(?:author|director|composer|father|mother|king|queen|actor|actress"
    r"|screenwriter|producer|president|founder|inventor|son|daughter|wife|husband|writer|singer|captain|brother)"
    r"|born|married|elected|appointed)|wrote|directed|composed|sang|sings|sung|starred|stars|played|plays|invented"
    r"|discovered|painted|founded|married|died|said|voiced|voices|portrayed|portrays|created|designed|served|produced)\b"
)
_BY = re.compile(
    r"\b(?:written|directed|composed|sung|played|performed|produced|painted|invented|discovered|founded|created|voiced"
    r"|portrayed|designed|recorded|led|sculpted|married)\s+(?:by|to)\s+$",
    re.IGNORECASE,
)
_INITIALS_BEFORE = re.compile(r"\b(?:[A-Z]\.\s*)+$")
"""The first initials of *A. P. J. Abdul Kalam*, which a mention leaves out where they open a sentence."""
_OPENING_QUOTES = frozenset('"“‘«')
_ADJECTIVES = frozenset({"i", "the", "a", "an"}) | lexicon.FUNCTION_WORDS
_MAX_NAMES = 5
_OF_THINGS = frozenset({"of", "for", "&"})
_NEVER_WITHIN = frozenset({"mr", "mrs", "ms", "dr"})
"""Titles that no name has in its middle, but titles of books have; *King* is a name there."""
_ACRONYM = re.compile(r"(?!(?:II|III|IV|VI|VII|VIII|IX|XI|XII|XIII|XIV|XV|XVI|JR|SR)$)[A-Z]{2,}|(?:[A-Z]\.)+C\.?")
_LAST_OF_OTHERS = lexicon.word_set(
    """
    junction central station club team tournament game games productions conference cross house band orchestra party
    league union council committee cup bowl festival olympics series show army empire dynasty division act
    """
)
"""What ends the names of other things than people."""
_MONARCHS = frozenset({"king", "queen", "emperor", "empress", "pope"})
_NUMERAL = re.compile(r"[IVX]+")
_ENGLISH = ("en_US", "en_GB")
_SAINTS = frozenset({"st", "saint"})
"""Titles of saints, which make no person by themselves: *St. Petersburg*."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """`text[start:end]` names a person or a thing."""

    kind: Literal["person", "thing"]
    start: int
    end: int
    detail: str
    """The kind of a thing: *school*, *water*."""
    sure: bool
    """Whether its own form decides, against the question and against places of that name."""


def recognise(text: str, question: str) -> tuple[NameMatch, ...]:
    """The people and things among the mentions of a text, in order. Places and nationalities are for others to find."""
    found = [known for mention in find_mentions(text) if (known := _read(text, mention.start, mention.end, question))]
    return (*found, *_in_lower_case(text))


def _read(text: str, start: int, end: int, question: str) -> NameMatch | None:
    ahead = _INITIALS_BEFORE.search(text[max(start - 12, 0) : start])
    start -= len(ahead.group()) if ahead else 0
    words: Sequence[NameWord] = [word for word in name_words(text) if start <= word.start and word.end <= end + 1]
    has_article = bool(words) and words[0].word.lower() == "the"
    words = words[1:] if has_article else words
    thing = thing_kind([word.word for word in words])
    if thing is not None and words[0].capitalised and not text[:start].endswith(("'s ", "’s ")):
        return NameMatch("thing", words[0].start, words[-1].end, thing[0], sure=True)
    quoted = text[max(start - 1, 0) : start] in _OPENING_QUOTES and start > 0
    group = None if quoted else group_kind(text[start:end], question)
    if group is not None and words:
        return NameMatch("thing", words[0].start, words[-1].end, group, sure=True)
    words = _without_realm(_without_office(words, text))
    if not words or quoted or len(words) > _MAX_NAMES or not _may_be_a_name(words):
        return None
    start, end = words[0].start, words[-1].end
    if asked_for(question) == {"company"} and fold(text[start:end]) not in fold(question):
        return NameMatch("thing", start, end, "company", sure=False)
    if _is_person_by_form(words):
        return NameMatch("person", start, end, "", sure=True)
    if not has_article and _is_person_by_place(text, words, question):
        return NameMatch("person", start, end, "", sure=False)
    return None


def _without_office(words: Sequence[NameWord], text: str) -> Sequence[NameWord]:
    """The words without capitalised nouns and adjectives before a name: *Chancellor Angela Merkel*, not *King Solomon*.

    The *A.* of *A. R. Rahman* is no article."""
    while (
        len(words) > 1
        and text[words[0].end : words[0].end + 1] != "."
        and words[0].word.lower() not in TITLES
        and words[0].word.lower() not in known_given()
    ):
        lower = words[0].word.lower()
        if lower not in ROLES and lower not in _ADJECTIVES:
            break
        words = words[1:]
    return words


def _without_realm(words: Sequence[NameWord]) -> Sequence[NameWord]:
    """*King Charles II* of *King Charles II of England*, *Louis XIV* of *Louis XIV of France*."""
    place = next((place for place, word in enumerate(words) if word.word == "of"), 0)
    reigns = place > 1 and (words[0].word.lower() in TITLES or _NUMERAL.fullmatch(words[place - 1].word) is not None)
    return words[:place] if reigns else words


def _may_be_a_name(words: Sequence[NameWord]) -> bool:
    own = [word for word in words if word.word.lower().rstrip(".") not in TITLES]
    if not own or any(letter.isdigit() for word in words for letter in word.word):
        return False
    if len(words) > 1 and any(word.word.lower().rstrip(".") in _NEVER_WITHIN for word in words[1:-1]):
        return False
    if _NUMERAL.fullmatch(words[-1].word) and _is_ordinary(own[0].word.lower()):
        return False
    if words[-1].word.lower() in _LAST_OF_OTHERS or _is_plural_noun(words[-1].word, len(words)):
        return False
    if any(word.word in _OF_THINGS or _ACRONYM.fullmatch(word.word) for word in words):
        return False
    if len(words) == 1 and (len(words[0].word) < 3 or words[0].word.isupper()):
        return False
    lower = [word.word.lower() for word in own]
    return not any(word in CALENDAR and word not in known_given() for word in lower) and not all(
        _is_ordinary(word) for word in lower
    )


def _is_plural_noun(word: str, n_words: int) -> bool:
    """*Rejects*, *Eagles*: a team or a band, unless it is a family name, too."""
    lower = word.lower()
    is_plural = n_words > 1 and lower.endswith("s") and lower in ordinary_words() and lower[:-1] in ordinary_words()
    return is_plural and lower not in known_family()


def _is_ordinary(lower: str) -> bool:
    """*Master*, though it is a family name somewhere; not *Woods*, which is one in English."""
    given, family = known_given().get(lower, ()), known_family().get(lower, ())
    return lower in ordinary_words() and not any(place in names for place in _ENGLISH for names in (given, family))


def _is_person_by_form(words: Sequence[NameWord]) -> bool:
    name = read_name(" ".join(word.word for word in words))
    if name is None:
        return False
    own = [word.lower() for word, part in zip(name.words, name.parts, strict=True) if part != "kept"]
    given = own[0] in known_given() or own[0].split("-")[0] in known_given()
    if words[0].word.lower().rstrip(".") in _SAINTS:
        return False
    if name.is_titled or "initials" in name.parts:
        return len(words) > 1 and not _is_ordinary(own[-1])
    if "reign" in name.parts:
        return not _is_ordinary(own[0])
    return given and len(own) > 1 and not _is_ordinary(own[-1])


def _is_person_by_place(text: str, words: Sequence[NameWord], question: str) -> bool:
    """A name where a person is asked for, after a role or *directed by*, or before what only people do."""
    name = text[words[0].start : words[-1].end]
    if read_name(name) is None or (len(words) == 1 and words[0].opens and _is_english(words[0].word.lower())):
        return False
    if "person" in asked_for(question) and fold(name) not in fold(question):
        return True
    before = text[: words[0].start]
    role = before.rstrip().rpartition(" ")[2].lower()
    return role in ROLES or bool(_BY.search(before[-40:])) or bool(_PERSONAL_VERBS.match(text, words[-1].end))


def _is_english(lower: str) -> bool:
    """Whether the capital of a sentence's first word says nothing: *Alchemist*, *Master*; not *Otsuichi*."""
    is_name = lower in known_given() or lower in known_family()
    return _is_ordinary(lower) or (not is_name and is_known(lower))


def _in_lower_case(text: str) -> Iterator[NameMatch]:
    """Names without capitals: a given name that is no other word before a family name or a word unknown to English, or
    *king* and *queen* before such a word."""
    words = name_words(text)
    ordinary = ordinary_words()
    for first, last in pairwise(words):
        given, family = first.word, last.word
        is_given = given in known_given() and given not in ordinary
        if not (given.islower() and family.islower()) or not (is_given or given in _MONARCHS):
            continue
        is_name = len(family) > 3 and family not in ordinary and family not in lexicon.FUNCTION_WORDS
        if text[first.end : last.start] == " " and is_name:
            yield NameMatch("person", first.start, last.end, "", sure=True)
