"""Lines in bold alone: a title of what is below (*Prices*), or a sentence that is stressed (*It costs 9 euros.*)."""

from __future__ import annotations

import re

from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.words import Word, WordClass, tag_words

_LINE = re.compile(r"[ \t]*(\*{2,3}|_{2,3})(?![\s*_])((?:(?!\1)[^\n]){1,120})(?<![\s*_])\1[ \t]*:?[ \t]*")
_SHORT_TITLE = 2
"""Words: a line of no more is a title in spite of its full stop."""
_ASKING = frozenset({"who", "whom", "whose", "what", "where", "when", "which", "how", "why"})
_OPENS_PART: frozenset[WordClass] = frozenset({"subordinator", "relative", "preposition"})
"""*If you are ill* is a part of a sentence."""
_OPENS_PHRASE: frozenset[WordClass] = frozenset({"determiner", "possessive", "pronoun"})
"""Before a verb or after it: *The price rose*, *Telford built it*."""
_SURELY_VERBS: frozenset[WordClass] = frozenset({"auxiliary", "modal", "past"})


def words_in_bold(line: str) -> str | None:
    """What a line says that is bold alone, without its marks and the colon after them; None for any other line."""
    found = _LINE.fullmatch(line)
    return None if found is None else found[2].rstrip(": \t") or None


def is_bold_title(words: str) -> bool:
    """Whether the words of a bold line are a title: *How it works*, *Price increases*, but not *The price rose*."""
    tagged = tag_words(words)
    plain = [word for word in tagged if word.word_class != "mark"]
    if len(plain) <= _SHORT_TITLE or plain[0].lower in _ASKING:
        return True
    return not words.endswith((".", "!")) and not _has_clause(tagged, plain)


def _has_clause(tagged: tuple[Word, ...], plain: list[Word]) -> bool:
    clause = find_clause(tagged)
    if clause is None or tagged[clause.verb - 1].lower == "to":
        return False
    if plain[0].word_class in _OPENS_PART and all(word.text != "," for word in tagged):
        return False
    following = {word.word_class for word in tagged[clause.verb + 1 : clause.verb + 2]}
    return (
        tagged[clause.verb].word_class in _SURELY_VERBS
        or plain[0].word_class in _OPENS_PHRASE
        or not following.isdisjoint(_OPENS_PHRASE)
        or any(word.text[0].isdigit() for word in plain)
    )
