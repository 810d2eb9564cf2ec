"""Parses a question to find what it asks for: nouns next to the question word or, for *who*, the verb and object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from factloop.tools.text.pipeline import load_pipeline, parse

if TYPE_CHECKING:
    from spacy.tokens import Token

PERSON, PLACE, TIME, NUMBER = "person", "place", "time", "number"
MAX_CHARS = 2_000
_IMPLIED: Mapping[str, str] = {"who": PERSON, "whom": PERSON, "whose": PERSON, "where": PLACE, "when": TIME}
_QUESTION_TAGS = frozenset({"WP", "WP$", "WDT", "WRB"})
_OF_VERB = frozenset({"nsubj", "nsubjpass", "dobj"})
_OPEN = frozenset({"NOUN", "ADJ", "NUM", "PROPN"})


@lru_cache(maxsize=2048)
def asked_for(question: str) -> frozenset[str]:
    """Returns what a question asks for, as lowercase lemmas: {"person", "write", "song"} for *who wrote the song*.

    *Who*, *where*, *when* and *how many* become `PERSON`, `PLACE`, `TIME` and `NUMBER`. The set may be empty.
    """
    doc = parse(question[:MAX_CHARS], load_pipeline())
    asking = (token for token in doc if token.tag_ in _QUESTION_TAGS and not _is_relative(token))
    return frozenset(word for token in asking for word in _asked_by(token))


def _is_relative(word: Token) -> bool:
    return any(one.dep_ == "relcl" and one.head.i < word.i for one in (word.head, word.head.head))


def _asked_by(word: Token) -> Iterator[str]:
    lower = word.lower_
    if lower == "how":
        if word.head.pos_ in {"ADJ", "ADV"}:
            yield NUMBER
        return
    if lower in _IMPLIED:
        yield _IMPLIED[lower]
    if word.dep_ in {"det", "poss"} or word.pos_ == "DET":
        yield from _noun_words(word.head)
    verb = next((one for one in (word, *word.ancestors) if one.pos_ in {"VERB", "AUX"}), None)
    if verb is not None and verb.lemma_ == "be" and word.dep_ in {"attr", "nsubj"}:
        for child in verb.children:
            if child.dep_ in {"attr", "nsubj"} and child != word:
                yield from _noun_words(child)
    elif verb is not None and word.tag_ == "WP" and (word.dep_ in _OF_VERB or word.head.dep_ == "agent"):
        if verb.lemma_ not in {"do", "have"}:
            yield verb.lemma_.lower()
        for child in verb.children:
            if child.dep_ == "dobj" and child.pos_ == "NOUN":
                yield child.lemma_.lower()
    yield from _noun_after(word)


def _noun_words(noun: Token) -> Iterator[str]:
    if noun.pos_ in {"PRON", "VERB", "AUX"}:
        return
    yield noun.lemma_.lower()
    yield from (child.lemma_.lower() for child in noun.children if child.dep_ in {"compound", "conj"})
    for child in noun.children:
        if child.dep_ == "prep" and child.lower_ == "of":
            yield from (one.lemma_.lower() for one in child.children if one.pos_ == "NOUN")


def _noun_after(word: Token) -> Iterator[str]:
    last = None
    for token in word.doc[word.i + 1 :]:
        if token.pos_ not in _OPEN:
            break
        last = token if last is None or token.pos_ in {"NOUN", "PROPN"} else last
    if last is not None and word.lower_ in {"which", "what"}:
        yield last.lemma_.lower()
