"""Claims that leave open what *it* or *them* means after their subject."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics.antecedents import is_plural
from factloop.tools.linguistics.clauses import EXPLETIVE, Clause, find_clause
from factloop.tools.linguistics.words import FINITE, Word

_IS_PLURAL = {"it": False, "them": True}


def leaves_thing_open(words: Sequence[Word]) -> bool:
    """Whether *it* or *them* stands after the verb and nothing before it in the claim can be meant.

    *Otto Berg died in it*, *she sold them*: a subject does nothing to itself. *The drug eases the pain and ends it* and
    *the tower fell when lightning struck it* leave nothing open.
    """
    clause = find_clause(words)
    text = " ".join(word.lower for word in words)
    if clause is None or EXPLETIVE.search(text) is not None:
        return False
    places = (i for i, word in enumerate(words) if i > clause.main and word.lower in _IS_PLURAL and not word.enclosed)
    return any(not _has_antecedent(words, clause, place) for place in places)


def _has_antecedent(words: Sequence[Word], clause: Clause, place: int) -> bool:
    """Whether a noun of its number stands before it, and in its own clause not as the subject."""
    is_own_clause = not any(
        word.word_class in FINITE | {"subordinator", "relative"} or word.lower == "that"
        for word in words[clause.main + 1 : place]
    )
    first = clause.main + 1 if is_own_clause else clause.subject
    plural = _IS_PLURAL[words[place].lower]
    nouns = [word for word in words[first:place] if word.word_class in {"other", "name"} and not word.enclosed]
    follows_another = any(word.lower in _IS_PLURAL for word in words[first:place])
    return follows_another or any(is_plural(word.lower) == plural for word in nouns)
