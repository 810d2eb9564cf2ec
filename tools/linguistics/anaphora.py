"""Tells text that refers back to what was said: pronouns, *there*, *then*, and definite nouns such as *the tower*."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics.clauses import PARTICIPIAL
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.words import NOMINAL, Word, capitalised

_REFERRING = word_set(
    """
    he she it they him her them his hers its their theirs himself herself itself themselves this these those such
    there then here later thereafter afterwards meanwhile former latter
    """
)
_PARTS = word_set("version release chapter section part volume season episode article appendix stage phase")
"""Nouns that are of something: *version 7.0* is that of the product which was spoken of."""
_UNIQUE = word_set(
    """
    air country earth environment equator future government internet moon ocean past poles present public sea sky sun
    universe weather west world north south east
    """
)
"""Nouns of which there is one, or one understood: *the sea* refers to nothing that was said before."""


def refers_back(words: Sequence[Word]) -> bool:
    """Whether any of the words can only be understood from the sentences before, or from the question."""
    return any(
        word.lower in _REFERRING
        or (word.lower == "the" and _is_anaphoric(words, index))
        or (word.lower in _PARTS and _is_numbered(words, index))
        for index, word in enumerate(words)
    )


def _is_numbered(words: Sequence[Word], part: int) -> bool:
    """Whether a number follows, and not what it is a part of: *in version 7.0*, but not *version 3 of Merrow*."""
    following = words[part + 1 : part + 3]
    return bool(following) and following[0].text[0].isdigit() and not any(word.lower == "of" for word in following)


def _is_anaphoric(words: Sequence[Word], article: int) -> bool:
    """False for names (*the Eiffel Tower*), nouns that say themselves which one is meant (*the town of Lindel*, *the
    year 1901*, *the bridge that fell*) and superlatives."""
    end = article + 1
    while end < len(words) and (words[end].word_class in NOMINAL | PARTICIPIAL or words[end].lower in {"one", "ones"}):
        end += 1
    phrase = words[article + 1 : end]
    if not phrase or any(capitalised(word.text) for word in phrase) or phrase[-1].text[0].isdigit():
        return False
    if any(word.lower == "most" or (word.lower.endswith("est") and len(word.lower) > 4) for word in phrase):
        return False
    return phrase[-1].lower not in _UNIQUE and not (
        end < len(words) and (words[end].lower in {"of", "that"} or words[end].word_class == "relative")
    )
