"""Tells by its question words what a question asks for: a person, a city, a language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from factloop.tools.linguistics.lexicon import word_set

_TYPE_WORDS: Mapping[str, str] = {
    "country": "country countries nation nations kingdom",
    "state": "state states province provinces territory subdivision prefecture",
    "city": "city cities town towns capital capitals village municipality metropolis suburb birthplace hometown",
    "county": "county counties shire",
    "continent": "continent continents",
    "language": "language languages tongue dialect",
    "currency": "currency currencies money",
    "nationality": "nationality nationalities citizenship",
    "company": "company companies corporation firm brand manufacturer carmaker airline retailer publisher studio",
    "place": "place places location region area island",
}
ROLES = word_set(
    """
    actor actress artist astronaut astronomer athlete author ballplayer biologist boxer businessman captain cartoonist
    champion chancellor chef chemist choreographer coach comedian commander composer conqueror cricketer designer
    dictator director drummer economist emperor empress engineer explorer father filmmaker footballer founder general
    golfer governor guitarist hero heroine historian husband inventor journalist judge king leader lyricist man manager
    mathematician mayor minister model monarch mother musician naturalist novelist officer owner painter philosopher
    photographer physicist pianist playwright player poet politician pope presenter president prince princess producer
    professor quarterback queen rapper ruler scientist screenwriter sculptor secretary senator singer son daughter
    soldier songwriter star swimmer teacher vocalist wife woman writer brother sister character person people winner
    """
)
"""Nouns for people: asked for, they call for a person; before a name, they make it one."""

_TYPE_OF = {word: kind for kind, words in _TYPE_WORDS.items() for word in words.split()}
_WORD = re.compile(r"[^\W\d_]+")
_ASKING = frozenset({"what", "which", "whose", "name"})
_VERBS = word_set(
    """
    is was are were did does do has have had can could will would starred played won wrote became lies borders hosted
    of that who in on for from
    """
)
_REACH = 6
"""Words after *which* among which the noun that it asks for is looked for."""


@lru_cache(maxsize=2048)
def asked_for(question: str) -> frozenset[str]:
    """The types that the question asks for; empty where it does not tell."""
    words = [word.lower() for word in _WORD.findall(question)]
    found = {"person"} if {"who", "whom", "whose"} & set(words[:8]) else set()
    if "where" in words[:4]:
        found.add("place")
    for place, word in enumerate(words):
        if word in _ASKING:
            found |= _noun_after(words[place + 1 : place + 1 + _REACH], word == "name")
    return frozenset(found)


def _noun_after(words: list[str], strict: bool) -> set[str]:
    """The type of the last noun before a verb; *what is the capital of* looks past the verb."""
    if words[:1] and words[0] in {"is", "was", "are", "were"} and not strict:
        words = words[1:]
        if words[:1] == ["the"]:
            words = words[1:]
    kinds: list[str] = []
    for word in words:
        if word in _VERBS:
            break
        kind = "person" if word in ROLES else _TYPE_OF.get(word)
        if kind is not None:
            kinds.append(kind)
    return {kinds[-1]} if kinds else set()
