"""Names that say what they name by a noun: *Yale University*, *Lake Erie*, *Ford Motor Company*; and others.

No list of them is needed: another is made of a name from Faker or a well-known city, in the same form.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from factloop.tools.knowledge_base.groups import GROUPS, known_groups
from factloop.tools.knowledge_base.name_lists import name_lists
from factloop.tools.knowledge_base.names import fold

_LAST: Mapping[str, str] = {
    "company": "company corporation inc corp ltd llc plc group motors industries enterprises holdings airlines records "
    "pictures entertainment studios",
    "school": "university college school academy institute seminary",
    "water": "river lake creek canal",
    "mountain": "mountain mountains hills peak",
    "island": "island islands",
    "church": "church cathedral abbey",
    "building": "museum theater theatre hotel stadium arena tower castle palace hospital bridge library",
    "road": "street avenue road highway boulevard",
    "park": "park forest gardens zoo",
    "award": "award prize medal trophy",
    "station": "station airport",
    "settlement": "town village city",
}
_FIRST: Mapping[str, str] = {
    "school": "university college",
    "water": "lake river",
    "mountain": "mount",
    "battle": "battle siege treaty",
    "station": "port fort",
}
_KIND_OF_LAST = {word: kind for kind, words in _LAST.items() for word in words.split()}
_KIND_OF_FIRST = {word: kind for kind, words in _FIRST.items() for word in words.split()}
_OF_CITIES = frozenset({"school", "battle", "station"})
_CITIES = (
    "Vienna", "Boston", "Toronto", "Lisbon", "Chicago", "Prague", "Sydney", "Warsaw", "Houston", "Dublin",
    "Seattle", "Madrid", "Montreal", "Bristol", "Denver", "Budapest", "Cologne", "Leeds", "Milan", "Athens",
    "Glasgow", "Atlanta", "Geneva", "Oslo", "Cleveland", "Zurich", "Hamburg", "Portland", "Naples", "Helsinki",
)  # fmt: skip
"""Cities for things that are named *of* a city."""
_BRANDS = ("{} Group", "{} Industries", "{}-{}", "{} and Sons", "{} Corporation", "{} Inc", "{}")

ThingForm = Literal["before", "after", "of", "brand"]


def thing_kind(words: Sequence[str]) -> tuple[str, ThingForm] | None:
    """The kind that the name says, and the place of its own part: before the noun, after it, or after *of*."""
    lower = [word.lower().rstrip(".,") for word in words]
    if len(lower) < 2:
        return None
    if lower[-1] in _KIND_OF_LAST and "of" not in lower and "the" not in lower[1:]:
        return _KIND_OF_LAST[lower[-1]], "before"
    if lower[0] in _KIND_OF_FIRST and len(lower) > 2 and lower[1] == "of":
        return _KIND_OF_FIRST[lower[0]], "of"
    if lower[0] in _KIND_OF_FIRST and "of" not in lower and len(lower) == 2:
        return _KIND_OF_FIRST[lower[0]], "after"
    return None


def other_things(name: str, kind: str, limit: int, rng: random.Random) -> Iterator[str]:
    """At most `limit` names: known ones of a team, a band or a brand; else made-up ones of the same form."""
    known = [other for other in known_groups(kind, name, rng) if fold(other) != fold(name)][:limit]
    yield from known
    if kind not in GROUPS:
        yield from (one for one in _made_up(name, limit - len(known), rng) if one not in known)


def _made_up(name: str, limit: int, rng: random.Random) -> Iterator[str]:
    """Made-up names of the kind; a name without a telling noun is taken as a brand."""
    words = name.split()
    article = words[:1] if words and words[0].lower() == "the" else []
    words = words[len(article) :]
    kind, form = thing_kind(words) or ("company", "brand")
    seen = {fold(word) for word in words}
    for _ in range(10 * limit + 50):
        if limit < 1:
            return
        own = _own_part(kind, form, rng)
        label = " ".join([*article, *_around(own, words, form, rng)])
        if fold(own) not in seen and fold(label) not in seen:
            seen |= {fold(own), fold(label)}
            limit -= 1
            yield label


def _own_part(kind: str, form: ThingForm, rng: random.Random) -> str:
    if form == "of" or (kind in _OF_CITIES and form == "before" and rng.random() < 0.3):
        return rng.choice(_CITIES)
    return rng.choice(name_lists()["en_US"].family)


def _around(own: str, words: Sequence[str], form: ThingForm, rng: random.Random) -> list[str]:
    if form == "brand":
        return [rng.choice(_BRANDS).format(own, rng.choice(name_lists()["en_US"].family))]
    if form == "of":
        return [*words[:2], own]
    if form == "after":
        return [words[0], own]
    first_noun = next(place for place, word in enumerate(words) if word.lower().rstrip(".,") in _KIND_OF_LAST)
    return [own, *words[max(first_noun, 1) :]]
