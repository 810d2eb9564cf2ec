"""Finds what must be read before a sentence so that *she*, *it* or *the firm* in it can be understood."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from factloop.tools.text.outline import Part

_PRONOUNS = r"(?:he|she|it|they|his|her|hers|its|their|theirs|him|them)"
_OPENERS = "in|on|at|by|from|for|to|of|with|under|over|after|before|during|since|until|as|if|when|while|though|although"
_WORD = r"[\w'’-]+"
_REFERS = re.compile(
    rf"\W*(?:(?:later|then|there|also)\b(?: {_WORD}){{0,3}} "
    rf"|(?:later|then|there|also|{_OPENERS})\b(?:[^,;]{{0,200}},|(?: {_WORD}){{1,3}}(?<! of)(?<! in)(?<! at)) )?"
    rf"(?:{_PRONOUNS}\b|(?:the|this|that|these|those|both|such) (?-i:[a-z\d])|(?:this|that|these|those)\b)",
    re.IGNORECASE,
)
"""A sentence whose subject is said elsewhere, after an opener such as *In 1850,* or none.

What stands right behind a preposition is its object, and no subject: *Over the years, Ada ...*, *In her youth Ada ...*
"""
_DEFINITE = re.compile(r"\b(?:[Tt]he|[Tt]his|[Tt]hat) ([a-z][\w-]+)")
_MOST_BACK = 6
"""Parts that a sentence brings with it at most."""
_FARTHEST = 40
"""Parts before a sentence among which the one that names its subject is looked for."""


class HeadNouns:
    """Words of names that a text also has in small letters: *the mill* is Swan Mill, if that was named before."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = {name.lower(): name for name in names if name[0].isalpha()}

    def named_by(self, text: str) -> set[str]:
        """The words of names that the text has in small letters after *the*."""
        nouns = (found[1] for found in _DEFINITE.finditer(text))
        return {self._names[noun] for noun in nouns if noun in self._names}


def referents(parts: Sequence[Part], names: Sequence[Collection[str]], nouns: HeadNouns) -> list[list[int]]:
    """For each part the numbers of those before it that say who or what it is about; empty where it says so itself.

    They reach back to the last one whose subject is a name (`names` holds the names in each part), and *the mill* to
    the last one that names a Mill.
    """
    is_about_another = [part.kind in ("prose", "item") and refers_back(part.text) for part in parts]
    latest: dict[str, int] = {}
    found: list[list[int]] = []
    for number, part in enumerate(parts):
        back = _stretch(number, is_about_another, names) if is_about_another[number] else []
        found.append([*back, *(latest[noun] for noun in sorted(nouns.named_by(part.text)) if noun in latest)])
        latest.update(dict.fromkeys(names[number], number))
    return found


def refers_back(text: str) -> bool:
    """Whether a sentence speaks of something named before it."""
    return _REFERS.match(text) is not None


def _stretch(number: int, is_about_another: Sequence[bool], names: Sequence[Collection[str]]) -> list[int]:
    """The last part before it whose subject is a name, and those between that name something."""
    for earlier in range(number - 1, max(-1, number - 1 - _FARTHEST), -1):
        if names[earlier] and not is_about_another[earlier]:
            between = [one for one in range(earlier + 1, number) if names[one] or one == number - 1]
            return [earlier, *between[-(_MOST_BACK - 1) :]]
    return []
