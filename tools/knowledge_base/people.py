"""The parts of a person's name, and other names of the same form."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from factloop.tools.knowledge_base.name_lists import (
    LOCALES,
    SCRIPTS,
    Gender,
    known_family,
    known_given,
    name_lists,
)
from factloop.tools.knowledge_base.names import fold
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.vocabulary.lexicon import count_of

Part = Literal["kept", "given", "family", "initials", "reign"]
"""What stands for a word in another name: the same word, another of its sort, or a name that monarchs have."""

_MEN = word_set("mr king prince sir lord emperor pope father brother duke count baron")
_WOMEN = word_set("mrs ms miss queen princess lady empress mother sister duchess countess dame")
_NOUNS_OF_MEN = _MEN - {"mr"} | word_set("husband boyfriend son grandfather uncle nephew boy footballer batsman he his")
_NOUNS_OF_WOMEN = _WOMEN - {"mrs", "ms"} | word_set(
    "wife girlfriend daughter grandmother aunt niece actress girl woman female heroine goddess she her"
)
_LETTERS = re.compile(r"[^\W\d_]+")
_WITH_REIGN = word_set("king queen emperor empress pope tsar czar prince princess saint st sultan")
_WITH_GIVEN = word_set("sir dame brother sister father mother")
TITLES = (
    _MEN
    | _WOMEN
    | _WITH_REIGN
    | word_set(
        """
    dr doctor prof professor president general captain colonel major admiral lieutenant sergeant senator governor judge
    justice chancellor chief reverend rev rabbi
    """
    )
)
_GERMANIC = frozenset({"en_US", "en_GB", "nl_NL", "sv_SE", "da_DK", "no_NO"})
_IN_ENGLISH_BOOKS = 3
_GENDERS: tuple[Gender, Gender] = ("man", "woman")
_NUMERAL = re.compile(r"[IVX]{1,5}$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+$|[^\W\d_]$")
_JUNIOR = frozenset({"jr", "sr"})


def _in_order(names: str) -> tuple[str, ...]:
    return tuple(names.split())


_REIGNS: dict[Gender, tuple[str, ...]] = {
    "man": _in_order(
        """
        Edward Henry William Charles Richard James Philip Louis Frederick Ferdinand Alfred Leopold Stephen David Robert
        Alexander Constantine Peter Nicholas Paul Gustav Christian Harald Magnus Olaf Eric Sigismund Otto Rudolf
        Maximilian Francis Joseph Alfonso Manuel John George Albert Harold Edmund Theodore Leo Basil Justin Michael
        """
    ),
    "woman": _in_order(
        """
        Elizabeth Mary Anne Catherine Margaret Isabella Eleanor Matilda Charlotte Caroline Adelaide Christina Victoria
        Alexandra Beatrice Philippa Joan Louise Sophia Helena Maria Augusta Wilhelmina Juliana Beatrix Ingrid Astrid
        Theodora Irene Zoe Constance Blanche Agnes Clara Cecilia Ursula Martha Emma Edith Maud
        """
    ),
}
_ENOUGH_REIGNS = 30
"""From then on any given name makes a monarch."""


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name, word by word, with the part that each word plays."""

    words: tuple[str, ...]
    parts: tuple[Part, ...]
    gender: Gender | None
    """Gender, by title or given name; None where they do not tell."""
    locale: str
    """The locale whose lists of names it fits best."""

    @property
    def is_titled(self) -> bool:
        return _bare(self.words[0]) in TITLES


def read_name(name: str) -> PersonName | None:
    """The form of a person's name; None for other names, and for scripts without lists of names."""
    words = tuple(name.split())
    parts = _parts(words)
    own = [word for word, part in zip(words, parts, strict=True) if part != "kept"]
    if not own or not all(word[0].isalpha() for word in own):
        return None
    locale = _locale(own)
    return None if locale is None else PersonName(words, parts, _gender(words, own, locale), locale)


def _bare(word: str) -> str:
    return word.rstrip(".").lower()


def _parts(words: Sequence[str]) -> tuple[Part, ...]:
    first, after = 0, len(words)
    while first < after - 1 and _bare(words[first]) in TITLES:
        first += 1
    if after - first == 3 and words[after - 2] == "the":
        after -= 2
    while after - first > 1 and (_NUMERAL.fullmatch(words[after - 1]) or _bare(words[after - 1]) in _JUNIOR):
        after -= 1
    reigns = _bare(words[after]) not in _JUNIOR if after < len(words) else False
    titles = [_bare(word) for word in words[:first]]
    core = _core(words[first:after], titles, reigns)
    kept: tuple[Part, ...] = ("kept",)
    return (*kept * first, *core, *kept * (len(words) - after))


def _core(words: Sequence[str], titles: Sequence[str], reigns: bool) -> tuple[Part, ...]:
    if len(words) == 1:
        return (_single(words[0], titles, reigns),)
    behind_particle = (False, *(word[0].islower() for word in words[:-1]))
    return tuple(_part(word, place == len(words) - 1 or behind_particle[place]) for place, word in enumerate(words))


def _single(word: str, titles: Sequence[str], reigns: bool) -> Part:
    """The part that a person's only name plays: *King Solomon*, *Harold II*, *Dr. Watson*, *Sir Lancelot*, *Plato*."""
    if reigns or (titles and titles[-1] in _WITH_REIGN):
        return "reign"
    if titles:
        return "given" if titles[-1] in _WITH_GIVEN else "family"
    return "family" if word.lower() in known_family() and word.lower() not in known_given() else "given"


def _part(word: str, is_family: bool) -> Part:
    """A name behind *de* or *van* is a family's wherever it stands."""
    if _INITIALS.match(word) and not is_family:
        return "initials"
    if word[0].islower():
        return "kept"
    return "family" if is_family else "given"


def _gender(words: Sequence[str], own: Sequence[str], locale: str) -> Gender | None:
    title = _bare(words[0])
    if title in _MEN or title in _WOMEN:
        return "man" if title in _MEN else "woman"
    known = known_given().get(own[0].lower(), {})
    genders = known.get(locale) or frozenset[Gender]().union(*known.values())
    return next(iter(genders)) if len(genders) == 1 else None


def _locale(own: Sequence[str]) -> str | None:
    """The locale that knows most of the names, the first of equals; None for a script that no list is in.

    Indian family names are at home in English lists, too; there an unknown given name tells."""
    script = unicodedata.name(own[0][0], "").split()[0]
    fitting = [locale for locale in LOCALES if SCRIPTS.get(locale, "LATIN") == script]
    given, family = known_given().get(own[0].lower(), {}), known_family().get(own[-1].lower(), frozenset())
    if not given and "en_IN" in family:
        return "en_IN"
    alone = _homes(own[0]) if not family else given.keys()
    return max(fitting, key=lambda at: (at in alone and at != "de_DE") + 2 * (at in family), default=None)


def _homes(given: str) -> Collection[str]:
    """The homes of a given name that stands with an unknown family name.

    Given names travel (*Dick* is in the Swedish list, *Julius* in the Dutch), and the German list has those of all
    Europe: only one that a single other list has, and no English book, tells."""
    homes = known_given().get(given.lower(), {}).keys() - {"de_DE"}
    travels = len(homes) > 1 or homes <= _GERMANIC or count_of(given) >= _IN_ENGLISH_BOOKS
    return () if travels else homes


def gender_asked_for(question: str) -> Gender | None:
    """The gender of the question's nouns, where the name does not tell: *which actress*; None if they name both."""
    words = {word.lower() for word in _LETTERS.findall(question)}
    is_man, is_woman = not words.isdisjoint(_NOUNS_OF_MEN), not words.isdisjoint(_NOUNS_OF_WOMEN)
    return None if is_man == is_woman else "man" if is_man else "woman"


def other_names(name: PersonName, gender: Gender | None, limit: int, rng: random.Random) -> Iterator[str]:
    """At most `limit` names of the same form, no two the same, none with a name of the original."""
    taken = {fold(word) for word, part in zip(name.words, name.parts, strict=True) if part != "kept"}
    seen: set[str] = set()
    for _ in range(10 * limit + 50):
        if len(seen) >= limit:
            return
        reigns = name.locale not in SCRIPTS and len(seen) < _ENOUGH_REIGNS
        some = _some_gender(name, rng) if gender is None else gender
        other = [
            _other(word, part, name.locale, some, rng, reigns)
            for word, part in zip(name.words, name.parts, strict=True)
        ]
        label = " ".join(other)
        fresh = all(fold(w) not in taken for w, part in zip(other, name.parts, strict=True) if part != "kept")
        if fresh and label not in seen:
            seen.add(label)
            yield label


def _some_gender(name: PersonName, rng: random.Random) -> Gender:
    """Either, but a man for a monarch of whom nothing is known."""
    return "man" if "reign" in name.parts else rng.choice(_GENDERS)


def _other(word: str, part: Part, locale: str, gender: Gender, rng: random.Random, reigns: bool) -> str:
    if part == "kept":
        return word
    lists = name_lists()[locale]
    if part == "initials":
        return "".join(rng.choice(lists.men)[0] if letter.isalpha() else letter for letter in word)
    if part == "family":
        return rng.choice(lists.common_family(gender))
    return rng.choice(_REIGNS[gender] if part == "reign" and reigns else lists.common_given(gender))
