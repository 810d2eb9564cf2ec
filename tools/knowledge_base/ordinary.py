"""Tells which words in lower case are ordinary English, by the part-of-speech lexicon that TextBlob carries."""

from __future__ import annotations

from functools import lru_cache

from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.vocabulary.data import packaged_tags

CALENDAR = word_set(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """
)
"""Never names of places or people here: dates are replaced by dates."""


@lru_cache(maxsize=1)
def ordinary_words() -> frozenset[str]:
    """Words that the lexicon has in lower case as something else than a name: *turkey*, but not *florida*."""
    tags_of = packaged_tags()
    return frozenset(word for word, tags in tags_of.items() if word.islower() and not tags.startswith("NNP"))
