"""Splits what follows *is a …*: participles and relative clauses about the subject; dates from places of birth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import PARTICIPIAL, find_clause
from factloop.tools.linguistics.words import FINITE, Word, tag_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spacy.language import Language

_COPULA_TAILS = {
    "known": "", "located": "", "situated": "", "based": "", "headquartered": "", "born": "was", "founded": "was",
    "established": "was", "directed": "was", "written": "was", "produced": "was", "published": "was", "released": "was",
    "built": "was", "developed": "was", "created": "was", "designed": "was", "composed": "",
}  # fmt: skip
"""Participles that may follow *is a …*; the auxiliary is `was`, or the copula of the clause where empty."""

_VITAL_EVENT = re.compile(
    r"(?P<who>.{1,120}?\b(?:born|died))"
    r"(?P<when> (?:on|in) (?:[A-Z][a-z]{2,8} )?\d{1,4}(?: [A-Z][a-z]{2,8})?(?:,? \d{4})?),?"
    r"(?P<where> (?:in|at|near) (?:the )?[A-Z][^()]{1,120}?)\.?",
    re.DOTALL,
)
"""*X was born on 4 May 1901, in Lindel*: the date and the place may differ in truth."""


def split_birth(text: str, nlp: Language | None = None) -> list[str]:  # noqa: ARG001 - every step has this signature
    """*X was born on D in P* is *X was born on D* and *X was born in P*; the same for *died*."""
    found = _VITAL_EVENT.fullmatch(text)
    if found is None or re.search(r"\b(?:and|who|which|to|as|when|where|while|of)\b|\d", found["where"]):
        return [text]
    return [f"{found['who']}{found['when']}", f"{found['who']}{found['where']}"]


def split_participle(text: str, nlp: Language | None = None) -> list[str]:
    """*X is an actor born in A and best known for B* is *X is an actor*, *X was born in A* and so on."""
    words = tag_words(text, nlp)
    clause = find_clause(words)
    if clause is None or clause.main != clause.verb or words[clause.verb].lower not in lexicon.BE:
        return [text]
    if clause.verb + 3 >= len(words) or words[clause.verb + 1].lower not in {"a", "an", "the", "one"}:
        return [text]
    subject = text[words[clause.subject].start : words[clause.verb - 1].end]
    for index in range(clause.verb + 3, len(words) - 1):
        word = words[index]
        if word.enclosed or word.word_class in {"preposition", "relative", "subordinator"} or word.lower == "to":
            return [text]
        if word.lower in _COPULA_TAILS and words[index - 1].word_class not in {"conjunction"}:
            begin = index
            while words[begin - 1].word_class == "adverb" or words[begin - 1].lower in {"best", "well", "better"}:
                begin -= 1
            head = text[: words[begin - 1].end].rstrip(" ,")
            auxiliary = _COPULA_TAILS[word.lower] or words[clause.verb].lower
            return [head, f"{subject} {auxiliary} {text[words[begin].start :]}"]
    return [text]


def split_predicate_relative(text: str, nlp: Language | None = None) -> list[str]:
    """*X is a company that makes Y* is *X is a company* and *X makes Y*."""
    words = tag_words(text, nlp)
    clause = find_clause(words)
    if clause is None or clause.main != clause.verb or words[clause.verb].lower not in lexicon.BE:
        return [text]
    article = clause.verb + 1
    if article + 3 >= len(words) or words[article].lower not in {"a", "an"}:
        return [text]
    relative = next((i for i in range(article + 2, len(words) - 2) if _ends_predicate(words[i])), None)
    if relative is None or words[relative].lower not in {"who", "that", "which"} or words[relative - 1].text == ",":
        return [text]
    verb = _skip_adverbs(words, relative + 1)
    if words[verb].word_class not in FINITE | PARTICIPIAL | {"base"} and not words[verb].lower.endswith("s"):
        return [text]
    subject = text[words[clause.subject].start : words[clause.verb - 1].end]
    if words[clause.subject].lower in {"this", "that", "there"}:
        return [text]
    return [text[: words[relative - 1].end], f"{subject} {text[words[relative + 1].start :]}"]


def _ends_predicate(word: Word) -> bool:
    return (
        word.enclosed or word.word_class in {"preposition", "relative", "subordinator"} or word.lower in {"that", "to"}
    )


def _skip_adverbs(words: Sequence[Word], index: int) -> int:
    while index < len(words) - 1 and words[index].word_class == "adverb":
        index += 1
    return index
