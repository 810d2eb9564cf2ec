"""Where the subject of a question ends: *the Bramley bakery* of *When did the Bramley bakery open?*"""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics.lexicon import AUXILIARIES, BE, VERBS
from factloop.tools.linguistics.words import Word

_MOST_NOUNS = 2
_DO = frozenset({"did", "do", "does"})
_BEFORE_A_VERB = frozenset({"come", "dare", "go", "help", "let", "make", "need"})
"""Verbs that another one follows without *to*: *did the Red Cross help rebuild it*."""
_ACTIVE = frozenset({"built", "designed", "founded", "leads", "manages", "owned", "owns", "ran", "runs", "started"})
"""Verbs after which no word says what a thing became, as in *Who made the Titanic famous?*"""


def nouns_after(words: Sequence[Word], article: int, last: int) -> int:
    """How many nouns in small letters belong to the name between *the* and `last`; 0 wherever there is doubt, since
    many names with an article are whole: *When did the Titanic sink?*, *Why is the Louvre famous?*"""
    for n in range(1, _MOST_NOUNS + 1):
        if not _may_be_noun(words, last + n):
            return 0
        if _ends(words, article, last + n):
            return n
    return 0


def _may_be_noun(words: Sequence[Word], place: int) -> bool:
    return place < len(words) and words[place].word_class == "other" and words[place].text.islower()


def _ends(words: Sequence[Word], article: int, noun: int) -> bool:
    """Whether the verb of the question, or its end, follows the noun."""
    before = words[article - 1].lower if article else ""
    following = words[noun + 1] if noun + 1 < len(words) else None
    if before in _DO:
        return following is not None and following.lower in VERBS and words[noun].lower not in _BEFORE_A_VERB
    if before in BE | AUXILIARIES:
        is_told = words[0].lower in {"what", "where"} or (words[0].lower == "how" and article > 2)
        is_passive = following is not None and following.word_class in {"ed", "participle"}
        return is_passive or (is_told and _is_end(following))
    return before in _ACTIVE and _is_end(following)


def _is_end(word: Word | None) -> bool:
    return word is None or word.text in {"?", "."}
