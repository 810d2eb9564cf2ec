"""Names in the place of *he*, *she* and their forms in a claim, and claims that leave open whom these mean."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics.mentions import find_mentions
from factloop.tools.linguistics.persons import GENDER_OF, Referent, is_possessive
from factloop.tools.linguistics.words import Word, content_words, tag_words


def name_persons(claim: str, referents: Sequence[Referent]) -> str:
    """The claim with a name for the first pronoun of each person that it does not name before."""
    words = tag_words(claim)
    written, done = "", 0
    for index, word in enumerate(words):
        name = _name_of(words, index, referents)
        if name is None or _names(written + claim[done : word.start], name):
            continue
        named = f"{name}'s" if is_possessive(words, index) else name
        written, done = f"{written}{claim[done : word.start]}{named}", word.end
    return written + claim[done:]


def leaves_person_open(claim: str, referents: Sequence[Referent]) -> bool:
    """Whether a pronoun fits several named people or none, and the claim names no person that it may mean."""
    words = tag_words(claim)
    for index, word in enumerate(words):
        if word.lower not in GENDER_OF or word.enclosed or _name_of(words, index, referents) is not None:
            continue
        if not _may_mean_one_named(claim, words, index):
            return True
    return False


def _may_mean_one_named(claim: str, words: Sequence[Word], index: int) -> bool:
    """Whether a person named before it in the claim may be meant: by an object not the subject, *Otto Berg met her*."""
    named = [one for one in find_mentions(claim) if one.start < words[index].start and one.kind != "thing"]
    is_object = words[index].lower in {"him", "her"} and not is_possessive(words, index)
    if is_object and len(named) == 1:
        return claim[named[0].end :].startswith(("'s", "’s"))
    return bool(named)


def _name_of(words: Sequence[Word], index: int, referents: Sequence[Referent]) -> str | None:
    """The name for a pronoun of the claim, by the pronouns of its sentence: of equal ones by what follows them."""
    word = words[index]
    if word.lower not in GENDER_OF or word.enclosed:
        return None
    equal = [one for one in referents if one.pronoun == word.lower]
    following = words[index + 1].lower if index + 1 < len(words) else ""
    names = {one.name for one in equal if one.following == following} or {one.name for one in equal}
    return names.pop() if len(names) == 1 else None


def _names(text: str, name: str) -> bool:
    """Whether the text has a person's name, at least its last word."""
    return name.split()[-1].lower() in content_words(text)
