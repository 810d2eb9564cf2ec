"""Given and family names of many languages, by Faker's lists of names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal

Gender = Literal["man", "woman"]

LOCALES = (
    "en_US", "en_GB", "fr_FR", "de_DE", "it_IT", "es_ES", "en_IN", "pt_BR", "nl_NL", "sv_SE", "da_DK", "no_NO", "fi_FI",
    "cs_CZ", "hu_HU", "ro_RO", "tr_TR", "ja_JP", "yo_NG", "ru_RU", "el_GR",
)  # fmt: skip
"""Locales in the order in which they win where a name is common to several."""
COMMON_GIVEN, COMMON_FAMILY = 120, 220
"""Of a list by use, the names that are drawn; all are known where they stand in a text."""
_MAC = re.compile(r"Mc([a-z])")
SCRIPTS: Mapping[str, str] = {"ru_RU": "CYRILLIC", "el_GR": "GREEK"}
"""Scripts of the locales whose names are not in Latin letters."""


@dataclass(frozen=True, slots=True)
class NameLists:
    """Names of one locale, in Faker's order, the commonest first where it has weights."""

    men: Sequence[str]
    women: Sequence[str]
    family: Sequence[str]
    family_of_men: Sequence[str]
    family_of_women: Sequence[str]
    """The same as `family` but where the ending tells the gender: *Иванов*, *Иванова*."""

    is_by_use: bool = False
    """The commonest names stand first."""

    def given(self, gender: Gender) -> Sequence[str]:
        return self.men if gender == "man" else self.women

    def common_given(self, gender: Gender) -> Sequence[str]:
        return self.given(gender)[: COMMON_GIVEN if self.is_by_use else None]

    def common_family(self, gender: Gender) -> Sequence[str]:
        return self.family_of(gender)[: COMMON_FAMILY if self.is_by_use else None]

    def family_of(self, gender: Gender) -> Sequence[str]:
        return self.family_of_men if gender == "man" else self.family_of_women


@lru_cache(maxsize=1)
def name_lists() -> Mapping[str, NameLists]:
    return {locale: _lists(locale) for locale in LOCALES}


@lru_cache(maxsize=1)
def known_given() -> Mapping[str, Mapping[str, frozenset[Gender]]]:
    """Given name in lower case to the locales that have it, each with the genders that it is given to there."""
    known: dict[str, dict[str, frozenset[Gender]]] = {}
    genders: tuple[Gender, Gender] = ("man", "woman")
    for locale, lists in name_lists().items():
        for gender in genders:
            for name in lists.given(gender):
                places = known.setdefault(name.lower(), {})
                places[locale] = places.get(locale, frozenset()) | {gender}
    return known


@lru_cache(maxsize=1)
def known_family() -> Mapping[str, frozenset[str]]:
    """Family name in lower case to the locales that have it."""
    known: dict[str, set[str]] = {}
    for locale, lists in name_lists().items():
        for name in lists.family:
            known.setdefault(name.lower(), set()).add(locale)
    return {name: frozenset(locales) for name, locales in known.items()}


def _lists(locale: str) -> NameLists:
    provider = import_module(f"faker.providers.person.{locale}").Provider
    romanised = hasattr(provider, "last_romanized_names")
    men = _names(provider, "first_romanized_names_male" if romanised else "first_names_male")
    women = _names(provider, "first_romanized_names_female" if romanised else "first_names_female")
    family = _names(provider, "last_romanized_names" if romanised else "last_names")
    of_men, of_women = _names(provider, "last_names_male"), _names(provider, "last_names_female")
    is_by_use = isinstance(getattr(provider, "last_names", ()), Mapping)
    return NameLists(men, women, family, of_men or family, of_women or family, is_by_use)


def _names(provider: Any, field: str) -> Sequence[str]:
    """Single words of letters only; weights are used for the order and then left. *Mcbride* is written *McBride*."""
    names = getattr(provider, field, ())
    if isinstance(names, Mapping):
        names = sorted(names, key=lambda name: (-names[name], name))
    fit = (name for name in names if len(name) > 1 and name.replace("-", "").isalpha() and name[0].isupper())
    return tuple(dict.fromkeys(_MAC.sub(lambda mac: f"Mc{mac[1].upper()}", name) for name in fit))
