"""Bands, teams and brands: which a name is, and others that are known."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from factloop.tools.knowledge_base.names import fold
from factloop.tools.vocabulary.data import packaged_lines

GROUPS = frozenset({"band", "musical group", "team", "club"})
_BANDS = (
    "Beatles", "Rolling Stones", "Doors", "Beach Boys", "Supremes", "Temptations", "Eagles", "Monkees", "Bee Gees",
    "Carpenters", "Kinks", "Ramones", "Animals", "Byrds", "Four Tops", "Pretenders", "Cranberries", "Smiths",
    "Foo Fighters", "Spice Girls",
)  # fmt: skip
"""Bands with an article: *the Beatles*."""
_DUOS = (
    "Coldplay", "Metallica", "Led Zeppelin", "Pink Floyd", "Black Sabbath", "Queen", "Nirvana", "Radiohead", "Oasis",
    "Aerosmith", "Fleetwood Mac", "Genesis", "Blondie", "Journey", "Backstreet Boys", "Take That", "Linkin Park",
    "Daft Punk", "Simon & Garfunkel", "Hall & Oates", "Guns N' Roses", "Eurythmics", "Toto",
)  # fmt: skip
"""Bands without an article."""
_CLUBS = (
    "Real Madrid", "Barcelona", "Manchester United", "Liverpool", "Bayern Munich", "Juventus", "Chelsea", "Arsenal",
    "AC Milan", "Inter Milan", "Ajax", "Benfica", "Porto", "Celtic", "Everton", "Valencia", "Sevilla", "Napoli",
    "Lazio", "Marseille", "Galatasaray", "Borussia Dortmund", "Manchester City", "Tottenham Hotspur", "Aston Villa",
    "Leeds United", "Feyenoord", "Santos", "Boca Juniors", "River Plate",
)  # fmt: skip
_KNOWN = {"band": _BANDS, "musical group": _DUOS, "club": _CLUBS}
_HOMES = (
    "Chicago", "Boston", "Dallas", "Denver", "Detroit", "Houston", "Atlanta", "Miami", "Seattle", "Philadelphia",
    "Cleveland", "Pittsburgh", "Baltimore", "Minnesota", "Toronto", "Los Angeles", "New York", "San Francisco",
)  # fmt: skip
_NICKNAMES = (
    "Tigers", "Bears", "Eagles", "Lions", "Hawks", "Falcons", "Panthers", "Bulls", "Kings", "Rangers", "Pirates",
    "Warriors", "Rockets", "Giants", "Cardinals", "Dolphins", "Broncos", "Raiders", "Stars", "Jets",
)  # fmt: skip
_PLURALS_OF_PLACES = frozenset({"islands", "hills", "falls", "springs", "mountains", "heights", "plains", "states"})
_NO_COMPANIES = frozenset(
    {"FC Barcelona", "FIFA", "Ivy League", "Manchester United", "McGill University", "Premier League", "Real Madrid",
     "Roman Empire", "Scientology", "WikiLeaks", "Wikipedia", "amazon.com", "Firefox", "Coco Chanel"}
)  # fmt: skip
_PLAYS_FOR = re.compile(
    r"\b(?:play(?:s|ed|ing)?|pitch(?:es|ed)?|sign(?:s|ed)?|coach(?:es|ed)?|draft(?:ed)?)\s+(?:\w+\s+){0,3}(?:for|with|by)\b"
    r"|\b(?:team|club|european cup)\b",
    re.IGNORECASE,
)
_SINGS = re.compile(r"\b(?:sings?|sang|sung|bands?|groups?|singles?|album|song by)\b", re.IGNORECASE)
_SPORTS = re.compile(
    r"\b(?:baseball|basketball|football|hockey|nfl|nba|mlb|nhl|super bowl|world series|won)\b", re.IGNORECASE
)


def group_kind(name: str, question: str) -> str | None:
    """*team*, *club*, *band*, *musical group*; None for any other name, and for one that the question has already.

    A band is known by its article or its *&* where the question is about music, a team by its city and plural, a club
    where the question asks for a player's club."""
    if fold(name) in fold(question):
        return None
    words = name.removeprefix("The ").removeprefix("the ").split()
    if _is_team(words, question):
        return "team"
    if any(fold(name).startswith(fold(club)) for club in _CLUBS) and _PLAYS_FOR.search(question):
        return "club"
    if not words or not _SINGS.search(question):
        return None
    if len(words) < len(name.split()):
        return "band"
    return "musical group" if "&" in words or fold(name) in {fold(group) for group in _DUOS} else None


def _is_team(words: Sequence[str], question: str) -> bool:
    """*New York Yankees*, *Houston Rockets*."""
    last = words[-1].lower() if words else ""
    is_plural = len(words) > 1 and last.endswith(("s", "sox")) and last not in _PLURALS_OF_PLACES
    of_a_home = any(" ".join(words[:-1]).startswith(home) for home in _HOMES)
    return (
        is_plural
        and (of_a_home or words[-1] in _NICKNAMES)
        and bool(_SPORTS.search(question) or _PLAYS_FOR.search(question) or words[-1] in _NICKNAMES)
    )


def known_groups(kind: str, name: str, rng: random.Random) -> Iterator[str]:
    """Others of the kind in random order; none for kinds without a list."""
    if kind == "team":
        nicknames = [one for one in _NICKNAMES if one not in name] * 2
        yield from dict.fromkeys(
            f"{rng.choice(_HOMES)} {nickname}" for nickname in rng.sample(nicknames, len(nicknames))
        )
        return
    known = _KNOWN.get(kind, ()) if kind != "company" else _companies() if len(name.split()) == 1 else ()
    yield from rng.sample(known, len(known))
    if kind == "band":
        yield from (one for one in rng.sample(_NICKNAMES, len(_NICKNAMES)) if one not in known)


@lru_cache(maxsize=1)
def _companies() -> Sequence[str]:
    """Companies of TextBlob's list of names."""
    lines = (line.strip() for line in packaged_lines("en-entities.txt"))
    names = (line.removesuffix(" ORG") for line in lines if line.endswith(" ORG"))
    return tuple(name for name in names if name not in _NO_COMPANIES)
