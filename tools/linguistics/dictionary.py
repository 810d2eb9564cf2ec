"""Whether an English dictionary has a word, where one is installed."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=4_096)
def is_english_word(lower: str) -> bool:
    """False for every word where the extra `offline` is not installed: plans with a model do without it."""
    try:
        import simplemma
    except ImportError:
        return False
    return simplemma.is_known(lower, lang="en")
