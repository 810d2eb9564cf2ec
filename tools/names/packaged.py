"""Reads the packaged names: places from GeoNames, and people, things and nouns from WordNet and factloop's own list.

The types of a name are sorted from general to specific. The fame of a city is a logarithm of its population, that of a
country is higher, and that of a word is a logarithm of its frequency in texts. The most general type of every noun, and
no other type, begins with *noun.*, so a noun never replaces a name. `benchmarks.make_names` generates the tables.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import NamedTuple

from factloop.tools.names.inflection import fold, lemmas, words_of
from factloop.tools.names.made_up import gender_of

NOUN = "noun."
_LEAST_LISTED, _MOST_LISTED = 4.0, 8.0
_BRITISH = {"ENG": "England", "SCT": "Scotland", "WLS": "Wales", "NIR": "Northern Ireland"}
_WHOLES = {
    "United Kingdom": tuple(_BRITISH.values()),
    "Soviet Union": ("Russia",),
    "Germany": ("West Germany", "East Germany"),
}  # fmt: skip


class PackagedName(NamedTuple):
    key: str
    names: tuple[str, ...]
    """The names, starting with the label."""
    types: tuple[str, ...]
    fame: float


class Region(NamedTuple):
    """The location of a city, in words that a text may add to its name."""

    state: str
    """A state of the USA or a part of Britain, or an empty string for other countries."""
    state_code: str
    country: str


def _lines(name: str) -> Sequence[str]:
    data = files("factloop.tools.names").joinpath("data", name).read_bytes()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8").splitlines()


@cache
def senses() -> Sequence[PackagedName]:
    rows = (line.split("\t") for line in _lines("wordnet.txt.gz") if line[:1] not in {"#", "="})
    return [
        PackagedName(
            f"wordnet:{number}",
            tuple(names.split("|")),
            tuple(dict.fromkeys(types.split(","))),
            math.log2(1 + float(fame)),
        )
        for number, (fame, types, names) in enumerate(rows)
    ]


@lru_cache(maxsize=64)
def nouns_of(general: str) -> Sequence[str]:
    first: dict[str, str] = {}
    for sense in senses():
        if sense.names[0].isalpha() and sense.names[0].islower():
            first.setdefault(sense.names[0], sense.types[0])
    return [name for name, kind in first.items() if kind == general]


@cache
def well_known(n: int) -> tuple[str, ...]:
    """Returns the `n` best-known words, half of them nouns and half of them names."""
    nouns = (sense.names[0] for sense in senses() if sense.types[0].startswith(NOUN))
    names = (one.names[0] for one in packaged_names() if not one.types[0].startswith(NOUN))
    return tuple(dict.fromkeys((*islice(nouns, n // 2), *islice(names, n // 2))))


@cache
def _nouns() -> frozenset[str]:
    return frozenset(name for sense in senses() for name in sense.names if name.islower())


@lru_cache(maxsize=65_536)
def is_word(lower: str) -> bool:
    """Whether a lowercase word is a noun, verb or adjective in any form. Words that are only names do not count."""
    forms = lemmas(lower)
    return not all(known.isdisjoint(forms) for known in (_nouns(), words_of("verb"), words_of("adj")))


@cache
def words_of_types() -> Mapping[str, frozenset[str]]:
    """Maps each type to the words that ask for it: its name, its synonyms and, for people, verbs such as *write*."""
    rows = (line.split("\t") for line in _lines("wordnet.txt.gz") if line.startswith("="))
    words = {name: frozenset({name, *asking.lower().split("|")}) for _, name, asking in rows}
    for types, asking, _ in _lists():
        words[types[-1]] = words.get(types[-1], frozenset()) | {types[-1], *asking.split()}
    return words


@cache
def listed_types() -> frozenset[str]:
    return frozenset(types[-1] for types, _, _ in _lists())


def _lists() -> Iterator[tuple[tuple[str, ...], str, list[str]]]:
    types, asking = tuple[str, ...](), ""
    for line in _lines("known.txt"):
        if line.startswith("@"):
            head, _, asking = line[1:].partition("|")
            types = tuple(head.strip().split(","))
        elif not line.startswith("#"):
            yield types, asking.strip(), line.split("; ")


def packaged_names() -> list[PackagedName]:
    """Returns all names and nouns, best known first. A name that is in several lists has the types of all of them."""
    merged: dict[tuple[str, str], PackagedName] = {}
    for one in (*_places(), *_listed(), *senses()):
        is_apart = one.types[0] == "place" or one.types[0].startswith(NOUN)  # there are two Georgias
        key = one.types[0], one.key if is_apart else fold(one.names[0])
        other = merged.get(key)
        if other is not None:
            names, types = dict.fromkeys((*other.names, *one.names)), dict.fromkeys((*other.types, *one.types))
            one = other._replace(names=tuple(names), types=tuple(types), fame=max(one.fame, other.fame))
        merged[key] = one
    return sorted(merged.values(), key=lambda one: (-one.fame, one.key))


def _listed() -> Iterator[PackagedName]:
    for types, _, names in _lists():
        for place, name in enumerate(names):
            fame = _MOST_LISTED - (_MOST_LISTED - _LEAST_LISTED) * place / len(names)
            spellings = tuple(name.split(" = "))
            gender = gender_of(name) if types[0] == "person" else None
            own = (types[0], gender, *types[1:]) if gender else types
            yield PackagedName(f"{types[-1]}:{spellings[0]}", spellings, own, fame)


@cache
def _places() -> Sequence[PackagedName]:
    rows = (line.split("\t") for line in _lines("places.txt.gz") if not line.startswith("#"))
    return [
        PackagedName(key, tuple(names.split("|")), tuple(types.split(",")), float(fame))
        for key, fame, types, names in rows
    ]


@cache
def us_states() -> Mapping[str, str]:
    return {one.key.rpartition("-")[2]: one.names[0] for one in _places() if one.key.startswith("state:")}


@cache
def countries() -> Mapping[str, str]:
    return {one.key.partition(":")[2]: one.names[0] for one in _places() if one.key.startswith("country:")}


@lru_cache(maxsize=4096)
def region_of(key: str) -> Region | None:
    if not key.startswith("city:"):
        return None
    _, country, part, _ = key.split(":")
    state = us_states().get(part, "") if country == "US" else _BRITISH.get(part, "") if country == "GB" else ""
    return Region(state, part if country == "US" else "", countries().get(country, ""))


def region_like(written: str, other: Region) -> str:
    """Returns the state code, state or country of `other`, depending on which of these `written` is."""
    if written.strip(".") in us_states():
        return other.state_code
    return other.state or other.country if written in {*us_states().values(), *_BRITISH.values()} else other.country


def same_country(name: str) -> frozenset[str]:
    """Returns the country that contains `name`, or the parts of `name`. *England* may be right for *Great Britain*."""
    return frozenset(_WHOLES.get(name, ())) | {whole for whole, parts in _WHOLES.items() if name in parts}
