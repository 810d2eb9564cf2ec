"""Splits what follows *is a …*: participles, relative clauses about the subject, and nationality."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import PARTICIPIAL, find_clause
from factloop.tools.linguistics.lists import names_profession
from factloop.tools.linguistics.words import FINITE, Word, tag_words

_COPULA_TAILS = {
    "known": "", "located": "", "situated": "", "based": "", "headquartered": "", "born": "was", "founded": "was",
    "established": "was", "directed": "was", "written": "was", "produced": "was", "published": "was", "released": "was",
    "built": "was", "developed": "was", "created": "was", "designed": "was", "composed": "",
}  # fmt: skip
"""Participles that may follow *is a …*; the auxiliary is `was`, or the copula of the clause where empty."""

_LONGEST_NOUN = 3
"""Words of a profession: *portrait painter*, *stage and film actor* is no longer one."""


def split_participle(text: str) -> list[str]:
    """*X is an actor born in A and best known for B* is *X is an actor*, *X was born in A* and so on."""
    words = tag_words(text)
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


def split_predicate_relative(text: str) -> list[str]:
    """*X is a company that makes Y* is *X is a company* and *X makes Y*."""
    words = tag_words(text)
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


def split_nationality(text: str) -> list[str]:
    """*X is a Danish painter* is *X is Danish* and *X is a painter*; *a French teacher* may teach French and stays."""
    words = tag_words(text.rstrip("."))
    clause = find_clause(words)
    if clause is None or words[clause.verb].lower not in lexicon.BE or clause.verb + 3 >= len(words):
        return [text]
    article, nationality, *noun = words[clause.verb + 1 :]
    if article.lower not in {"a", "an"} or nationality.lower not in lexicon.NATIONALITIES or len(noun) > _LONGEST_NOUN:
        return [text]
    head = noun[-1]
    if any(word.word_class != "other" for word in noun) or noun[0].lower == "football":
        return [text]
    if not names_profession(head.text) or head.lower in lexicon.TAUGHT_LANGUAGE:
        return [text]
    stem, rest = text[: words[clause.verb].end], text[noun[0].start :]
    return [f"{stem} {nationality.text}", f"{stem} {'an' if noun[0].lower[0] in 'aeiou' else 'a'} {rest}"]
