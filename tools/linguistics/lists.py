"""Splits lists of professions, names and quoted titles where each item can stand alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import find_clause, is_comma, is_said_together
from factloop.tools.linguistics.words import Word, WordClass, capitalised, content_words, tag_words

_AGENT_NOUN = re.compile(
    r"(?:er|or|ist|ian|man|men|woman|ant|eer|ess|poet|king|queen|chemist|scholar|critic|chef|coach|judge|mathematician"
    r"|activist|philanthropist|musician|politician|academic|mystic|athlete|advocate|diplomat)s?$"
)
_LISTS = re.compile(r"(?:include[sd]?|including|such as|are|were|starred in|appeared in|worked with|featured in)$")
_GOVERNING: frozenset[WordClass] = frozenset({"preposition", "past", "ed", "present", "base", "participle"})
"""Classes of the word before a list of names: its preposition or its verb."""

_PAIR = 2
_WORDS_OF_ONE_OF_TWO = 2
"""Words that each of two joined names must have."""

_LAST_OF_OPENERS = frozenset({"include", "included", "includes", "including", "as", "are", "were", "in", "with"})
_QUOTED = re.compile(r"[\"“][^\"”]{1,120}[\"”]")


def names_profession(noun: str) -> bool:
    """Whether a noun, singular or plural, is a word for what people do."""
    return _AGENT_NOUN.search(noun.lower()) is not None


def split_professions(text: str) -> list[str]:
    """*was a physicist and philosopher* is *was a physicist* and *was a philosopher*."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None or words[clause.verb].lower not in lexicon.BE or clause.verb + 2 >= len(words):
        return [text]
    article = clause.verb + 1
    if words[article].lower not in {"a", "an"}:
        return [text]
    items: list[list[Word]] = [[]]
    for word in words[article + 1 :]:
        if word.text in {".", "!"}:
            break
        if is_comma(word) or word.lower == "and":
            if items[-1]:
                items.append([])
        elif word.word_class in {"other", "name"} or word.lower == "former":
            items[-1].append(word)
        else:
            return [text]
    if len(items) < 2 or not all(item and len(item) <= 4 and _AGENT_NOUN.search(item[-1].lower) for item in items):
        return [text]
    stem = text[: words[article].start]
    nouns = [text[item[0].start : item[-1].end] for item in items]
    articles = [words[article].text, *("an" if noun[0].lower() in "aeiou" else "a" for noun in nouns[1:])]
    return [f"{stem}{article_text} {noun}" for article_text, noun in zip(articles, nouns, strict=True)]


def split_titles(text: str) -> list[str]:
    """Quoted titles that end a sentence, each with what stands before them."""
    titles = list(_QUOTED.finditer(text))
    if len(titles) < 2:
        return [text]
    joints = [text[left.end() : right.start()].strip() for left, right in pairwise(titles)]
    inner = [
        joint if joint else "," if left.group()[-2] == "," else "" for joint, left in zip(joints, titles, strict=False)
    ]
    tail = text[titles[-1].end() :].strip(" .")
    if tail or joints[-1] not in {"and", ", and"} or not all(joint in {",", "and", ", and"} for joint in inner):
        return [text]
    stem = text[: titles[0].start()]
    return [f"{stem}{title.group()[0]}{title.group()[1:-1].rstrip(',.')}{title.group()[-1]}" for title in titles]


def split_names(text: str) -> list[str]:
    """Names in a list after *include*, *such as* and the like."""
    words = tag_words(text)
    openers = (i for i in reversed(range(len(words))) if words[i].lower in _LAST_OF_OPENERS and not words[i].enclosed)
    start = next((i for i in openers if _LISTS.search(text[: words[i].end].lower())), None)
    if start is None or start + 5 >= len(words) or find_clause(words) is None:
        return [text]
    end = len(words) - 1 if words[-1].text == "." else len(words)
    items = _items(words[start + 1 : end])
    n_least = _PAIR if words[start].lower in {"including", "as"} else _PAIR + 1
    if (
        len(items) < n_least
        or not all(_stands_alone(item, len(items)) for item in items)
        or not all(item and _is_name(item) for item in items)
        or words[end - len(items[-1]) - 1].lower != "and"
    ):
        return [text]
    stem = text[: words[start].end]
    claims = [f"{stem} {text[item[0].start : item[-1].end]}" for item in items]
    return [text] if not content_words(claims[0]) else claims


def _is_name(item: Sequence[Word]) -> bool:
    """A name, be it with an article of its own or a year in parentheses: *A Quiet Mill (1993)*."""
    return any(word.word_class == "name" for word in item) and all(
        word.word_class in {"name", "number"}
        or word.lower in {"of", "the", "de", "&"}
        or (word.enclosed and word.word_class == "mark")
        or (word.lower == "a" and capitalised(word.text))
        for word in item
    )


def split_final_names(text: str) -> list[str]:
    """*worked in Arden, Lindel and Oss*: names that end the sentence after a preposition or verb. Two names must each
    be of two words, since *Trinidad and Tobago* is one."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None or is_said_together(text):
        return [text]
    end = len(words) - 1 if words[-1].text == "." else len(words)
    start = end
    while start > clause.main + 1 and (
        _is_name([words[start - 1]]) or _joins(words[start - 1]) or words[start - 1].lower == "the"
    ):
        start -= 1
    before = words[start - 1]
    is_opened = before.word_class in _GOVERNING and before.lower not in {"of", "for", "from", "than", "as", "like"}
    items = _items(words[start:end])
    if (
        not is_opened
        or len(items) < 2
        or any(word.word_class == "number" or word.enclosed for word in words[start:end])
    ):
        return [text]
    if not all(item and _is_name(item) and _stands_alone(item, len(items)) for item in items):
        return [text]
    if words[end - len(items[-1]) - 1].lower != "and":
        return [text]
    stem = text[: before.end]
    return [f"{stem} {text[item[0].start : item[-1].end]}" for item in items]


def _joins(word: Word) -> bool:
    """A comma or *and* outside of quotations: *"Blue Rain and Other Poems"* is one title."""
    return is_comma(word) or (word.lower == "and" and not word.enclosed)


def _items(words: Sequence[Word]) -> list[list[Word]]:
    """The items of a list. Only its last *and* separates two; an earlier one is part of a name."""
    last_and = max((i for i, word in enumerate(words) if _joins(word) and not is_comma(word)), default=-1)
    items: list[list[Word]] = [[]]
    for index, word in enumerate(words):
        if not is_comma(word) and index != last_and:
            items[-1].append(word)
        elif items[-1]:
            items.append([])
    return items


def _stands_alone(item: Sequence[Word], n_items: int) -> bool:
    n_words = sum(word.word_class == "name" for word in item)
    return n_words >= (_WORDS_OF_ONE_OF_TWO if n_items == _PAIR else 1)
