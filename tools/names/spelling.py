"""Spellings of names: which are equal, and how a label reads in the form in which a text has a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

LONGEST_LABEL = 120
_EXPLANATION = re.compile(r"(?<=\S)\s+\([^()]*\)\s*$")
_SUFFIX = re.compile(r"(?:[jJ]r|[sS]r|[IVX]{1,4})\.?")
_EPITHETS = frozenset({"the", "of"})


@lru_cache(maxsize=1 << 14)
def fold(name: str) -> str:
    """The name without case, accents, full stops and odd spaces: equal for spellings of one name."""
    if name.isascii():
        lowered = name.lower()
        return lowered if lowered.isalpha() else " ".join(lowered.replace(".", "").split())
    plain = unicodedata.normalize("NFKD", name.replace("’", "'")).casefold()
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).replace(".", "").split())


def plain_label(label: str) -> str:
    """The label on one line, without what tells it from its namesakes: "Casablanca (film)" is "Casablanca"."""
    line = " ".join(label.split())
    return _EXPLANATION.sub("", line) or line


def is_usable(label: str) -> bool:
    """Whether it can stand in a sentence at all."""
    return 0 < len(label) <= LONGEST_LABEL and label.isprintable() and any(map(str.isalpha, label))


def fitted(label: str, name: str, own: str, *, is_person: bool) -> str:
    """`label` in the form in which `name` stands for the thing labelled `own`.

    What the text leaves out of its own name is left out here, too: "Boise" for "Boise, Idaho" asks for "Boston", not
    for "Boston, Massachusetts"; "Obama" asks for "Bush"; "King Solomon" for "King David".
    """
    label, own = plain_label(label), plain_label(own)
    if ", " in own and "," not in name:
        label = label.partition(", ")[0]
    words = label.split(), name.split(), own.split()
    return _as_person(*words) if is_person and all(words) else label


def _as_person(label: Sequence[str], name: Sequence[str], own: Sequence[str]) -> str:
    """Titles are the words before the name that its own label lacks. They stay, and the other's are left out."""
    titles = name[: next((at for at, word in enumerate(name) if _bare(word) in map(_bare, own)), 0)]
    rest = [_bare(word) for word in name[len(titles) :]]
    words = list(label)
    if rest != [_bare(word) for word in own]:
        if rest == [_bare(family_name(own))]:
            words = [family_name(label)]
        elif rest == [_bare(own[0])]:
            words = words[:1]
    if titles and len(words) > 1 and _bare(words[0]) in map(_bare, titles):
        words = words[1:]
    return " ".join([*titles, *words])


def family_name(words: Sequence[str]) -> str:
    """The last name: before "the Great" and "of Aragon", without "Jr." and "II"."""
    end = next((at for at, word in enumerate(words) if at and word in _EPITHETS), len(words))
    while end > 1 and _SUFFIX.fullmatch(words[end - 1]):
        end -= 1
    return words[end - 1].rstrip(",")


def _bare(word: str) -> str:
    return word.strip(".,").casefold()
