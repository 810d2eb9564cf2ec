"""Tells the meaning of a noun or adjective by its ending, so that like stands for like."""

from __future__ import annotations

import re
from functools import lru_cache

from factloop.tools.vocabulary.inflections import lemmas
from factloop.tools.vocabulary.lexicon import tag_of

_NOUNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (shape, re.compile(rf"[a-z]{{2,}}(?:{endings})$"))
    for shape, endings in (
        ("science", "ology|ography|onomy|istry|ometry|ics"),
        ("quality", "ness|ity|ism|ship|hood|cy|tude|dom|ance|ence|lty"),
        ("deed", "tion|sion|xion|ment|ing"),
        ("person", "ist|ian|eer|man|ster"),
    )
)
_ADJECTIVES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (shape, re.compile(rf"[a-z]{{2,}}(?:{endings})$"))
    for shape, endings in (
        ("of something", "al|ic|ar|ian|ary|ine|an"),
        ("able", "able|ible"),
        ("done", "ed|ing"),
        ("full of it", "ous|ful|y|ive|less|some"),
    )
)


@lru_cache(maxsize=1 << 14)
def shape_of(word: str, tag: str) -> str:
    """A name for the sort of meaning that the ending tells; empty where it tells none, or for other parts of speech.

    *biology* and *economics*; *freedom* and *courage*; *singer* and *dentist*; *ovarian* and *solar*."""
    lower = word.lower()
    if tag.startswith("JJ"):
        return next((shape for shape, ending in _ADJECTIVES if ending.match(lower)), "")
    if not tag.startswith("NN"):
        return ""
    singular = min(lemmas(lower), key=len) if tag == "NNS" else lower
    if singular.endswith(("er", "or")):
        return "person" if _is_agent(singular) else ""
    return next((shape for shape, ending in _NOUNS if ending.match(singular)), "")


def _is_agent(word: str) -> bool:
    """*runner*, *teacher*, *editor*: made of a verb, unlike *river* and *rumor*."""
    stems = {word[:-2], word[:-2] + "e"} if len(word) > 4 else set()
    if len(word) > 5 and word[-3] == word[-4]:
        stems.add(word[:-3])
    return any((tag_of(stem) or "").startswith("VB") for stem in stems)
