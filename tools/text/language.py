"""Detects by stop words whether a text is in English, the only language that the packaged pipeline can read."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from importlib import import_module

LANGUAGES = ("cs", "da", "de", "es", "fi", "fr", "hu", "it", "nb", "nl", "pl", "pt", "ro", "sv", "tr")
_WORD = re.compile(r"[^\W\d_]+")
_ADDRESS = re.compile(r"\S*(?://|@|www\.)\S*")
_LEAD = 2
"""Number of stop words by which another language must lead in a text of more than a few words."""
_AROUND = 1_000
"""Number of characters to check before and after a sentence, so that long paragraphs take no longer."""


def is_english_at(response: str, start: int, end: int) -> bool:
    """Whether `response[start:end]` is in English. If that is unclear, the text around it is checked.

    If the language is still unclear, the text counts as English.
    """
    first = max(0, start - _AROUND)
    paragraph = max(response.rfind("\n\n", first, start), first)
    after = response.find("\n\n", end, end + _AROUND)
    last = after if after >= 0 else end + _AROUND
    stretches = ((start, end), (paragraph, last), (first, end), (0, _AROUND))
    told = (_is_english(response[first:until]) for first, until in stretches)
    return next((one for one in told if one is not None), True)


@lru_cache(maxsize=4_096)
def _is_english(text: str) -> bool | None:
    words = _WORD.findall(_ADDRESS.sub(" ", text))
    letters = "".join(words)
    if letters and sum(map(_is_latin, letters)) < len(letters) / 2:
        return False
    words = [word for word in words if word.islower()]
    hits = {language: sum(word in known for word in words) for language, known in _stop_words().items()}
    english, other = hits.pop("en"), max(hits.values())
    if english and english >= other:
        return True
    return False if other - english >= min(_LEAD, 1 + len(words) // 8) else None


@lru_cache(maxsize=4_096)
def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    modules = {language: import_module(f"spacy.lang.{language}.stop_words") for language in ("en", *LANGUAGES)}
    return {name: frozenset(word for word in one.STOP_WORDS if len(word) > 1) for name, one in modules.items()}
