"""Decides whether a claim has to do with what was asked: SAFE's relevance rule without a model."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.words import content_words, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

_REQUEST_WORDS = word_set(
    """
    question answer tell give write list describe explain provide please bio biography who what when where why how
    which details detail many possible specific examples example information know overview summary facts fact
    short long discuss summarize me let find name happened significance about as
    """
)
_LOOK_BACK_PRONOUNS = lexicon.POSSESSIVES | frozenset(["he", "she", "it", "they", "him", "them", "this", "these"])
_STEM = 6
"""Words that agree in their first six letters count as the same: *physics*, *physicist*."""


def is_relevant(claim: str, *, prompt: str | None, response: str, nlp: Language | None = None) -> bool:
    """Whether the subjects of claim and question are related, judging by the response (True without a question).

    False only where the claim shares no content word with the prompt, and no sentence of the response that is about the
    prompt names the subject of the claim either.
    """
    asked = _asked(prompt or "")
    stated = {_stem(word) for word in content_words(claim)}
    if not asked or not stated or asked & stated:
        return True
    connected = _connected(prompt or "", response)
    if not connected:
        return True  # the response never takes up the words of the question: nothing to judge by
    return bool(_subject(claim, nlp) & connected)


def _stem(word: str) -> str:
    return word.rstrip("s")[:_STEM] if len(word) > 3 else word


def _asked(prompt: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in content_words(prompt) if word not in _REQUEST_WORDS)


def _subject(claim: str, nlp: Language | None) -> set[str]:
    words = tag_words(claim, nlp)
    clause = find_clause(words)
    subject = claim if clause is None else claim[: words[clause.verb].start]
    return {_stem(word) for word in content_words(subject)} or {_stem(word) for word in content_words(claim)}


@lru_cache(maxsize=32)
def _connected(prompt: str, response: str) -> frozenset[str]:
    """Content words of the sentences about the prompt: those that share a word with it, and those that go on from such
    a sentence with a pronoun."""
    asked = _asked(prompt)
    connected: set[str] = set()
    continues = False
    for sentence in split_sentences(response):
        text = plain_text(sentence.text)
        found = {_stem(word) for word in content_words(text)}
        refers_back = any(word in _LOOK_BACK_PRONOUNS for word in text.lower().split()[:8])
        continues = bool(found & asked) or (continues and refers_back)
        if continues:
            connected |= found
    return frozenset(connected)
