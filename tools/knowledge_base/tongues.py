"""Languages, currencies and nationalities, ordered by the people of the countries that have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from factloop.tools.knowledge_base.gazetteer import Entry
from factloop.tools.knowledge_base.names import fold
from factloop.tools.knowledge_base.places import continent_names, geonames

_NO_MONEY = re.compile(r"\(|\d|Unit|Unidad|Previsional|Codes|Mvdol|WIR|Accounting|Oro$")
_METALS = frozenset({"XAG", "XAU", "XPD", "XPT", "XXX", "XTS"})

NATIONALITIES: Mapping[str, str] = {
    "AF": "Afghan", "AL": "Albanian", "DZ": "Algerian", "AO": "Angolan", "AR": "Argentine Argentinian",
    "AM": "Armenian", "AU": "Australian", "AT": "Austrian", "AZ": "Azerbaijani", "BD": "Bangladeshi",
    "BY": "Belarusian", "BE": "Belgian", "BO": "Bolivian", "BA": "Bosnian", "BR": "Brazilian", "GB": "British",
    "BG": "Bulgarian", "KH": "Cambodian", "CM": "Cameroonian", "CA": "Canadian", "CL": "Chilean", "CN": "Chinese",
    "CO": "Colombian", "HR": "Croatian", "CU": "Cuban", "CY": "Cypriot", "CZ": "Czech", "DK": "Danish", "NL": "Dutch",
    "EC": "Ecuadorian", "EG": "Egyptian", "EE": "Estonian", "ET": "Ethiopian", "PH": "Filipino Philippine",
    "FI": "Finnish", "FR": "French", "GE": "Georgian", "DE": "German", "GH": "Ghanaian", "GR": "Greek",
    "GT": "Guatemalan", "HT": "Haitian", "HU": "Hungarian", "IS": "Icelandic", "IN": "Indian", "ID": "Indonesian",
    "IR": "Iranian", "IQ": "Iraqi", "IE": "Irish", "IL": "Israeli", "IT": "Italian", "JM": "Jamaican",
    "JP": "Japanese", "JO": "Jordanian", "KZ": "Kazakh", "KE": "Kenyan", "KR": "Korean", "LV": "Latvian",
    "LB": "Lebanese", "LY": "Libyan", "LT": "Lithuanian", "MY": "Malaysian", "MX": "Mexican", "MN": "Mongolian",
    "MA": "Moroccan", "NP": "Nepalese", "NG": "Nigerian", "NO": "Norwegian", "PK": "Pakistani", "PS": "Palestinian",
    "PE": "Peruvian", "PL": "Polish", "PT": "Portuguese", "RO": "Romanian", "RU": "Russian", "SA": "Saudi",
    "RS": "Serbian", "SG": "Singaporean", "SK": "Slovak", "SI": "Slovenian", "SO": "Somali", "ES": "Spanish",
    "SE": "Swedish", "CH": "Swiss", "SY": "Syrian", "TW": "Taiwanese", "TH": "Thai", "TN": "Tunisian", "TR": "Turkish",
    "UG": "Ugandan", "UA": "Ukrainian", "US": "American", "VE": "Venezuelan", "VN": "Vietnamese", "YE": "Yemeni",
    "ZM": "Zambian", "ZW": "Zimbabwean", "GB-ENG": "English", "GB-SCT": "Scottish", "GB-WLS": "Welsh",
}  # fmt: skip
"""Adjectives by ISO code, the usual one first. No library at hand has them; where one is missing nothing is linked."""


def tongue_entries() -> Iterator[Entry]:
    yield from _languages()
    yield from _currencies()
    yield from _nationalities()


@lru_cache(maxsize=1)
def _speakers() -> Counter[str]:
    """People of the countries that list a language first, by its two-letter code."""
    people: Counter[str] = Counter()
    for country in geonames().get_countries().values():
        people[country["languages"].split(",")[0].split("-")[0]] += country["population"]
    return people


def _languages() -> Iterator[Entry]:
    """Living languages; a bare mention counts only for those with a two-letter code, which are the well-known ones."""
    from pycountry import languages

    for language in languages:
        short = getattr(language, "alpha_2", None)
        label = re.sub(r"\s*\(.*\)", "", language.name).removeprefix("Modern ")
        if language.type == "S" or len(label) < 3 or "," in label:
            continue
        rank = float(_speakers()[short]) if short else -1.0
        fame = 6.0 if rank > 0 else 4.0 if short else 1.0
        aliases = {"zh": ("Mandarin", "Cantonese"), "tl": ("Filipino",), "pa": ("Punjabi",), "fa": ("Farsi",)}.get(
            short or "", ()
        )
        types = ("language", "widely_known_language") if short else ("language",)
        yield Entry(f"language:{language.alpha_3}", label, types, fame, rank, aliases)


def _currencies() -> Iterator[Entry]:
    """Currencies by ISO name and by that name without the country: *Egyptian Pound*, *Pound*."""
    from pycountry import currencies

    people: Counter[str] = Counter()
    bare: dict[str, str] = {}
    for country in geonames().get_countries().values():
        people[country["currencycode"]] += country["population"]
        bare[country["currencycode"]] = country["currencyname"]
    for money in currencies:
        code = money.alpha_3
        if _NO_MONEY.search(money.name) or code in _METALS:
            continue
        yield Entry(
            f"currency:{code}", money.name, ("currency",), 5.0, people[code], tuple(_money_names(money, bare.get(code)))
        )


def _money_names(money: Any, bare: str | None) -> Iterator[str]:
    if bare:
        yield bare
    if money.name.startswith("US "):
        yield from ("American dollar", "United States dollar")
    if money.alpha_3 == "GBP":
        yield from ("British pound", "pound sterling")
    if money.alpha_3 == "CNY":
        yield from ("yuan", "renminbi")


def _nationalities() -> Iterator[Entry]:
    countries = geonames().get_countries()
    for code, adjectives in NATIONALITIES.items():
        label, *others = adjectives.split()
        home = countries.get(code.split("-")[0])
        continent = fold(continent_names()[home["continentcode"]]).replace(" ", "_")
        people = home["population"] if "-" not in code else home["population"] // 2
        yield Entry(
            f"nationality:{code}", label, ("nationality", f"nationality_in_{continent}"), 8.0, people, tuple(others)
        )
