"""What a response has said so far, as the rules read it: sentences, the names in them, and the topic asked about.

A response is read once; what one sentence may look back at is bounded, so that a response of any length takes linear
time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from factloop.core.extras import is_installed
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.mentions import Mention, find_mentions
from factloop.tools.linguistics.persons import ReadPersons, Referent, read_persons
from factloop.tools.linguistics.sentences import split_sentences

if TYPE_CHECKING:
    from spacy.language import Language

_PROMPT_TAIL = 1200
"""Characters at the end of the prompt that are read: what comes before is mostly instruction."""

_FIRST, _LAST = 20, 40
"""Sentences whose full names are known to a later one: those that introduce the topic, and those right before."""

_LOOK_BACK = 24
"""Sentences before its own that a pronoun may reach back, most of them going on with the same pronoun."""

_LONGEST_MARKER = 16
"""Characters of a list marker with its indentation."""

_HAS_DICTIONARY = is_installed("offline")
_PERSONAL = re.compile(r"\b(?:he|she|his|her|him|who (?:is|was))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """One sentence of a response."""

    text: str
    """Plain: without markup and citations."""
    mentions: tuple[Mention, ...]
    is_personal: bool
    """Whether it speaks of a *he* or *she*."""
    is_item: bool = False
    """Whether it opens a list item, a table row or a quote, or is a heading: it belongs to what introduces it."""
    pair: tuple[str, ...] = ()
    """The names of the two people in it; empty where it speaks of more or fewer."""
    is_english: bool = True


@dataclass(frozen=True, slots=True)
class Discourse:
    """A response and what it was asked, read once."""

    sentences: tuple[ReadSentence, ...]
    starts: tuple[int, ...]
    """Where each sentence begins in the response; ascending."""
    asked: ReadSentence
    persons: tuple[ReadPersons, ...]
    """Of each sentence, whom it speaks of."""


@dataclass(frozen=True, slots=True)
class Context:
    """What may be referred to from one sentence."""

    before: tuple[ReadSentence, ...]
    """The sentences right before it, in order, back to one in another language: the rules do not know its topic."""
    own: ReadSentence | None
    """The sentence itself; None where the response has none there."""
    asked: ReadSentence
    full_names: tuple[Mention, ...]
    """Names of two or more words from the prompt, the opening and the sentences before, each once."""
    about_person: bool
    referents: tuple[Referent, ...]
    """Whom its own personal pronouns stand for."""


@lru_cache(maxsize=128)
def read_prompt(prompt: str | None, nlp: Language | None = None) -> ReadSentence:
    """The end of a prompt, where it says what is asked about."""
    return _read((prompt or "")[-_PROMPT_TAIL:], nlp)


@lru_cache(maxsize=128)
def read_discourse(response: str, prompt: str | None, nlp: Language | None = None) -> Discourse:
    """The sentences of a response with their mentions. Cached: every sentence and claim of a response asks for it."""
    found = split_sentences(response)
    asked = read_prompt(prompt, nlp)
    sentences = tuple(
        replace(
            _read(sentence.text, nlp, is_item=_is_item(response, sentence.start)),
            is_english=_is_english(response, sentence.start, sentence.end),
        )
        for sentence in found
    )
    persons = tuple(read_persons([(said.text, said.mentions) for said in sentences], asked.mentions))
    sentences = tuple(replace(said, pair=one.pair) for said, one in zip(sentences, persons, strict=True))
    return Discourse(sentences, tuple(sentence.start for sentence in found), asked, persons)


def _is_english(response: str, start: int, end: int) -> bool:
    """Whether a sentence is English; taken for it where there is no dictionary to tell, as with a model alone."""
    if not _HAS_DICTIONARY:
        return True
    from factloop.tools.linguistics.language import is_english_at

    return is_english_at(response, start, end)


@lru_cache(maxsize=64)
def context_at(response: str, start: int, prompt: str | None, nlp: Language | None = None) -> Context:
    """The context of the sentence that begins at `start` of the response. Takes no longer in a longer response."""
    discourse = read_discourse(response, prompt, nlp)
    index = bisect_left(discourse.starts, start)
    earlier = _since_other_language(discourse.sentences[max(0, index - _LOOK_BACK) : index])
    opening, recent = discourse.sentences[: min(index, _FIRST)], discourse.sentences[max(_FIRST, index - _LAST) : index]
    own = bisect_right(discourse.starts, start) - 1
    return Context(
        before=earlier,
        own=discourse.sentences[own] if own >= 0 else None,
        asked=discourse.asked,
        full_names=_full_names(chain([discourse.asked], opening, recent)),
        about_person=discourse.asked.is_personal or any(said.is_personal for said in earlier),
        referents=discourse.persons[own].referents if own >= 0 else (),
    )


def _since_other_language(sentences: tuple[ReadSentence, ...]) -> tuple[ReadSentence, ...]:
    unread = max((place for place, said in enumerate(sentences) if not said.is_english), default=-1)
    return sentences[unread + 1 :]


def topic_of(asked: ReadSentence) -> str | None:
    """The one entity that the prompt names, without its article; None where it names none, or several."""
    named = {mention.names: mention.text for mention in asked.mentions}
    return next(iter(named.values())).removeprefix("the ").removeprefix("The ") if len(named) == 1 else None


def _read(text: str, nlp: Language | None, *, is_item: bool = False) -> ReadSentence:
    plain = plain_text(text)
    return ReadSentence(plain, find_mentions(plain, nlp), _PERSONAL.search(plain) is not None, is_item)


def _is_item(response: str, start: int) -> bool:
    """Whether nothing but a marker stands before it on its line."""
    before = response[max(0, start - _LONGEST_MARKER) : start]
    marker = re.split(r"[\r\n]", before)[-1].strip()
    at_line_start = len(before) < _LONGEST_MARKER or "\n" in before or "\r" in before
    return bool(marker) and at_line_start and not any(character.isalpha() for character in marker)


def _full_names(sentences: Iterable[ReadSentence]) -> tuple[Mention, ...]:
    named = (mention for said in sentences if said.is_english for mention in said.mentions if len(mention.names) > 1)
    return tuple({mention.names: mention for mention in named}.values())
