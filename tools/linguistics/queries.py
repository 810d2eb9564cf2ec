"""Turns a claim into search queries: keywords first, then other selections of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.mentions import find_mentions
from factloop.tools.linguistics.words import capitalised, content_words, tag_words

_MAX_WORDS = 16
_MAX_CHARACTERS = 300
_MIN_WORDS = 2


def search_query(claim: str, topic: str | None = None) -> str:
    """The content words of a claim in their order, each once, for BM25 or web search; at most 16 words.

    The name of the topic comes first where the claim is about a part of it that has no name: *the first tower* is found
    only among the pages on its lighthouse.
    """
    text = plain_text(claim)
    keywords = _keywords(text)
    is_named = topic is not None and not _key(" ".join(keywords)).isdisjoint(content_words(topic))
    if topic is not None and not is_named and _has_nameless_subject(text):
        keywords = (*_keywords(topic), *keywords)[:_MAX_WORDS]
    return _join(keywords) or text[:_MAX_CHARACTERS]


def _has_nameless_subject(text: str) -> bool:
    """Whether a common noun with an article is the subject: *the present tower*, but not *the Eiffel Tower*."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None or words[clause.subject].lower != "the":
        return False
    return not any(capitalised(word.text) for word in words[clause.subject + 1 : clause.verb])


def next_query(claim: str, asked: Sequence[str]) -> str | None:
    """Another useful selection of the claim's words, none asked before in any order; None when out of ideas.

    What the first query held beyond the claim is its topic, and goes with every further one.
    """
    text = plain_text(claim)
    known = {_key(query) for query in asked}
    own = _key(text) | _key(" ".join(_keywords(text)))
    topic = [word for word in asked[0].split() if word.lower() not in own] if asked else []
    wordings = (_join([*topic, *selection.split()]) for selection in _formulations(text) if selection)
    return next((query for query in wordings if _key(query) not in known), None)


def looser_queries(query: str) -> Iterator[str]:
    """Its keywords, its names, its first name: for a search that wants every word of a query. Each only once."""
    text = plain_text(query)
    names = [_keywords(mention.text) for mention in find_mentions(text)]
    known = {_key(query)}
    for words in (_keywords(text), [word for name in names for word in name], names[0] if names else []):
        looser = _join(words)
        if looser and _key(looser) not in known:
            known.add(_key(looser))
            yield looser


@lru_cache(maxsize=1_000)
def _formulations(text: str) -> tuple[str, ...]:
    """Selections of the claim's words; kept, since each search of a claim asks for the next of them."""
    return tuple(_worded(text))


def _worded(text: str) -> Iterator[str]:
    keywords = _keywords(text)
    names = [word for mention in find_mentions(text) for word in _keywords(mention.text)]
    lower_names = {name.lower() for name in names}
    numbers = [word for word in keywords if any(character.isdigit() for character in word)]
    others = [word for word in keywords if word.lower() not in lower_names and word not in numbers]
    first = [word for mention in find_mentions(text)[:1] for word in _keywords(mention.text)]
    yield _join(keywords)
    yield _join([*names, *others]) if numbers else ""
    yield _join([*names, *numbers]) if names and numbers else ""
    yield _join([*first, *others[-3:]]) if first else ""
    yield _join(names) if len(names) >= _MIN_WORDS else ""
    yield _join([word for word in keywords if word not in first]) if first else ""
    yield _join(first)


@lru_cache(maxsize=1_000)
def _keywords(text: str) -> tuple[str, ...]:
    wanted = set(content_words(text))
    kept: dict[str, str] = {}
    for raw in text.split():
        word = raw.strip("\"'“”‘’«»()[]{},;:!?*_`").removesuffix("'s").removesuffix("’s").rstrip(".")
        if word.lower() in wanted or any(part in wanted for part in content_words(word)):
            kept.setdefault(word.lower(), word)
    return tuple(kept.values())[:_MAX_WORDS]


def _join(words: Sequence[str]) -> str:
    unique = {word.lower(): word for word in reversed(words)}
    return " ".join(word for word in dict.fromkeys(words) if unique[word.lower()] == word)[:_MAX_CHARACTERS]


def _key(query: str) -> frozenset[str]:
    return frozenset(query.lower().split())
