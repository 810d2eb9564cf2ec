"""Leads of lists: *Tarn 4:* states nothing by itself, and names what the items under it are about."""

from __future__ import annotations

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.dictionary import is_english_word
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.words import NOMINAL, tag_words

_OF_PHRASES = NOMINAL | {"preposition", "conjunction"}
_MOST_WORDS = 6
_LONGEST = 60
"""Characters of a lead that is put before what it introduces."""


def is_bare_lead(text: str) -> bool:
    """Whether plain text is a noun phrase that introduces what follows: *Tarn 4:*, but not *If sick, take two:*."""
    words = [word for word in tag_words(text) if word.text != ":"]
    is_phrase = 0 < len(words) <= _MOST_WORDS and all(word.word_class in _OF_PHRASES for word in words)
    return is_phrase and text.endswith(":") and words[0].lower not in lexicon.VERBS


def under_lead(item: str, lead: str) -> str:
    """An item without a verb behind the lead that names what it is about: *Tarn 4: two ports*; else as it is."""
    label, words = plain_text(lead), tag_words(plain_text(item))
    if not words or len(label) > _LONGEST or not is_bare_lead(label) or not _names(label):
        return item
    if find_clause(words) is not None or words[0].lower in lexicon.VERBS or words[-1].text in {":", "?"}:
        return item
    is_noun = words[0].text.istitle() and is_english_word(words[0].lower)
    return f"{label} {item[:1].lower() if is_noun else item[:1]}{item[1:]}"


def _names(label: str) -> bool:
    words = tag_words(label)
    return any(
        word.word_class == "number" or (word.word_class == "name" and (place > 0 or not is_english_word(word.lower)))
        for place, word in enumerate(words)
    )
