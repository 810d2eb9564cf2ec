"""Well-known people by what they are known for, so that an actor is replaced by another actor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from factloop.tools.knowledge_base.name_lists import Gender, known_given
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.vocabulary.data import packaged_lines

_LAST_NAMES: Mapping[str, frozenset[str]] = {
    "actor": word_set(
        """
        affleck alba aniston bacon bale bogart bullock carrey clooney cruise damon depp dicaprio fox hanks hathaway
        johansson jolie knightley monroe neeson pacino pitt portman reynolds roberts stone watson witherspoon
        """
    ),
    "singer": word_set(
        """
        aguilera bieber bowie carey cash cobain dylan geldof hendrix holiday jackson john knowles lavigne lennon marley
        mccartney mercury minaj perry presley sinatra spears streisand swift timberlake winehouse
        """
    ),
    "politician": word_set(
        """
        berlusconi bhutto castro churchill clinton gandhi jefferson lincoln mandela mccain nehru nixon obama
        palin peron putin reagan roosevelt thatcher walesa washington
        """
    ),
    "athlete": word_set(
        "ali beckham bolt brady bryant favre federer jordan maradona messi nash owens ronaldo ruth tyson woods zatopek"
    ),
    "writer": word_set("angelou austen dickens hemingway orwell rand shakespeare tolstoy wilde woolf"),
    "scientist": word_set("darwin einstein freud hawking hofmann pasteur schweitzer"),
    "director": word_set("aronofsky eastwood hitchcock nolan spielberg"),
}
"""Last words of names in TextBlob's list of people; it has no word on what they did. The commonest needs only."""
_LEFT_OUT = frozenset({"Christiano Ronaldo", "Mohammed Ali", "Olivia Wilde", "Raisa Gorbachev"})
"""Misspelt, or of another trade than their namesake."""

_CUES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (role, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for role, words in (
        ("director", r"directors?|directed|filmmaker"),
        (
            "singer",
            r"sings?|sang|sung|singers?|rapper|vocalist|musician|songwriter|album"
            r"|(?:wrote|writer of) the (?:song|music|lyrics)",
        ),
        ("actor", r"actors?|actress|plays?|played|playing|stars?|starr(?:ed|ing)|portray(?:s|ed)|voic(?:es|ed)|cast"),
        ("writer", r"wrote|authors?|writers?|novelist|poet|written|playwright"),
        ("politician", r"president|vice-president|minister|governor|senator|elected|mayor|politician|chancellor"),
        ("athlete", r"player|footballer|golfer|cricketer|boxer|champion|quarterback|medal|swimmer|scored|batsman"),
        ("scientist", r"scientist|invent(?:ed|or)|discover(?:ed|er)|physicist|chemist|biologist|mathematician"),
    )
)
_NO_ACTING = re.compile(
    r"\b(?:guitar|piano|drums|bass|football|baseball|basketball|golf|tennis|hockey|cricket|for|role in history)\b", re.I
)
"""*plays for Barcelona*."""


@lru_cache(maxsize=2048)
def role_asked_for(question: str) -> str | None:
    """The role of the person that the question asks for; None if it names none of these roles."""
    for role, cue in _CUES:
        if cue.search(question):
            return None if role == "actor" and _NO_ACTING.search(question) else role
    return None


@lru_cache(maxsize=64)
def known_people(role: str, gender: Gender | None, n_words: int) -> Sequence[str]:
    """Names of so many words; of any gender where it is None, else only those whose given name tells it."""
    last_names = _LAST_NAMES.get(role, frozenset())
    return tuple(
        name
        for name in _names()
        if len(words := name.split()) == n_words
        and words[-1].lower() in last_names
        and (gender is None or _gender(words[0]) == gender)
    )


def _gender(given: str) -> Gender | None:
    genders = frozenset[Gender]().union(*known_given().get(given.lower(), {}).values())
    return next(iter(genders)) if len(genders) == 1 else None


@lru_cache(maxsize=1)
def _names() -> Sequence[str]:
    lines = (line.strip() for line in packaged_lines("en-entities.txt"))
    names = (line.removesuffix(" PERS").strip() for line in lines if line.endswith(" PERS"))
    return tuple(dict.fromkeys(name for name in names if name not in _LEFT_OUT))
