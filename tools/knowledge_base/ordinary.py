"""Tells which words in lower case are ordinary English, by the part-of-speech lexicon that TextBlob carries."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.tools.linguistics.lexicon import word_set

CALENDAR = word_set(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """
)
"""Never names of places or people here: dates are replaced by dates."""


@lru_cache(maxsize=1)
def ordinary_words() -> frozenset[str]:
    """Words that the lexicon has in lower case as something else than a name: *turkey*, *reading*, but not *florida*.

    Read from its file: importing the library for it would cost a second.
    """
    words = set()
    for line in _lexicon_path().read_text(encoding="utf-8").splitlines():
        word, _, tag = line.partition(" ")
        if word.islower() and not word.startswith(";") and not tag.startswith("NNP"):
            words.add(word)
    return frozenset(words)


def _lexicon_path() -> Path:
    spec = find_spec("textblob")
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path(folders[0], "en", "en-lexicon.txt") if folders else None
    if path is None or not path.is_file():
        raise ConfigError("TextBlob's lexicon is not installed: install factloop with its dependencies")
    return path
