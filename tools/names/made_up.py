"""Makes up people's names from Faker's lists of given and family names."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import Literal

Gender = Literal["man", "woman"]
GENDERS: tuple[Gender, Gender] = ("man", "woman")
_LOCALES = ("en_US", "en_GB", "fr_FR", "de_DE", "it_IT", "es_ES", "en_IN", "nl_NL", "sv_SE")


@lru_cache(maxsize=1)
def _given() -> dict[str, frozenset[Gender]]:
    known: dict[str, frozenset[Gender]] = {}
    for locale in _LOCALES:
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for gender, field in zip(GENDERS, ("first_names_male", "first_names_female"), strict=True):
            for name in getattr(provider, field, ()):
                known[name.lower()] = known.get(name.lower(), frozenset()) | {gender}
    return known


def gender_of(name: str) -> Gender | None:
    """Returns the gender that a person's given name indicates, or None if the name fits both or neither."""
    genders = _given().get(name.split()[0].lower(), frozenset()) if name.split() else frozenset()
    return next(iter(genders)) if len(genders) == 1 else None


def _is_english(given: str) -> bool:
    providers = (import_module(f"faker.providers.person.{locale}").Provider for locale in _LOCALES[:2])
    return len(given.rstrip(".")) == 1 or any(given.title() in one.first_names for one in providers)


def made_up_people(name: str, limit: int, rng: random.Random) -> Iterator[str]:
    """Yields up to `limit` names with as many words as `name`, and of the same gender if that is known.

    Yields nothing unless `name` is English and has two or three words, because made-up names would stand out.
    """
    if len(name.split()) not in {2, 3} or not _is_english(name.split()[0]):
        return
    provider = import_module("faker.providers.person.en_US").Provider
    men, women = sorted(provider.first_names_male), sorted(provider.first_names_female)
    family, gender = sorted(provider.last_names), gender_of(name)
    given = men if gender == "man" else women if gender == "woman" else men + women
    before = name.split()[:-1]
    made: set[str] = set()
    while len(made) < limit:
        own = [rng.choice(given)[0] + "." if len(word.rstrip(".")) == 1 else rng.choice(given) for word in before]
        label = " ".join([*own, rng.choice(family)])
        if label not in made:
            made.add(label)
            yield label
