"""Labels of DBpedia put into the form in which a text names things: as many names, the same title, no explanations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote

from factloop.tools.linguistics.lexicon import word_set

LONGEST_LABEL = 120
_RESOURCE = "/resource/"
_EXPLANATION = re.compile(r"(?<=\S)\s+\([^()]*\)\s*$")
_SUFFIXES = frozenset({"jr", "sr", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii"})
_EPITHET = frozenset({"the", "of"})
_TITLES = word_set(
    """
    king queen prince princess emperor empress pope saint st president chancellor senator governor general colonel
    captain dr doctor professor prof sir dame lord lady mr mrs ms justice judge reverend rev minister secretary
    """
)


def plain(label: str) -> str:
    """The label without what only tells it from its namesakes: "Casablanca (film)" is "Casablanca"."""
    return _EXPLANATION.sub("", " ".join(label.split()))


def is_usable(label: str) -> bool:
    """Whether it can stand in a sentence at all."""
    return 0 < len(label) <= LONGEST_LABEL and label.isprintable() and any(map(str.isalpha, label))


def label_of(address: str) -> str:
    """The label that an address of DBpedia shows: what follows in .../resource/Boise,_Idaho."""
    _, _, title = address.partition(_RESOURCE)
    return plain(unquote(title or address.rpartition("/")[2], errors="replace").replace("_", " "))


def fitted(label: str, name: str, own: str, *, is_person: bool) -> str:
    """`label` in the form in which `name` stands for the thing labelled `own`.

    What the text left out of its own name is left out here, too: "Boise" for "Boise, Idaho" asks for "Boston", not for
    "Boston, Massachusetts"; "Obama" asks for "Bush"; "King Solomon" for "King David".
    """
    label = plain(label)
    if ", " in own and "," not in name:
        label = label.partition(", ")[0]
    return _as_person(label, name.split(), own) if is_person else label


def _as_person(label: str, name: Sequence[str], own: str) -> str:
    title = list(name[: _n_titles(name)])
    rest = [_bare(word) for word in name[len(title) :]]
    whole = own.split()
    if not rest or not whole or rest == [_bare(word) for word in whole]:
        words = label.split()
    elif rest == [_bare(_family_name(whole))]:
        words = [_family_name(label.split())]
    elif rest == [_bare(whole[0])]:
        words = label.split()[:1]
    else:
        return label
    return " ".join([*title, *words[_n_titles(words) if title else 0 :]])


def _n_titles(words: Sequence[str]) -> int:
    """How many words at the front are titles; at least one word is no title."""
    n_titles = 0
    while n_titles < len(words) - 1 and _bare(words[n_titles]) in _TITLES:
        n_titles += 1
    return n_titles


def _family_name(words: Sequence[str]) -> str:
    """The last name: before "the Great" and "of Aragon", without "Jr." and "II"."""
    kept = list(words)
    for place, word in enumerate(words):
        if place and word in _EPITHET:
            kept = list(words[:place])
            break
    while len(kept) > 1 and _bare(kept[-1]) in _SUFFIXES:
        kept.pop()
    return kept[-1].rstrip(",")


def _bare(word: str) -> str:
    return word.strip(".,").casefold()
