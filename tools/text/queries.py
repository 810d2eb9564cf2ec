"""Derives search queries from claims and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.tools.text.markup import plain_text
from factloop.tools.text.words import content_words

MAX_WORDS = 16
MAX_CHARACTERS = 300
_EDGES = "\"'“”‘’«»()[]{},;:!?*_`."


def search_query(text: str, topic: str = "") -> str:
    """Returns up to 16 distinct content words of a text, spelled as in the text, as a query for BM25 or web search.

    If the text contains no name, the words of `topic` come first. *The first tower*, for example, can be found only
    together with the name of its lighthouse.
    """
    keywords = _keywords(text)
    if topic and not any(word[:1].isupper() for word in keywords):
        keywords = [*_keywords(topic), *keywords]
    return _joined(keywords) or plain_text(text)[:MAX_CHARACTERS]


def next_query(claim: str, asked: Sequence[str]) -> str | None:
    """Returns a query made of the claim's words that has not been tried yet, or None if there are no more.

    Queries that differ only in word order count as the same. Words of the first query that are not in the claim are its
    topic, which every later query contains too.
    """
    known = {frozenset(query.lower().split()) for query in asked}
    own = set(map(str.lower, _keywords(claim)))
    topic = [word for word in asked[0].split() if word.lower() not in own] if asked and own else []
    queries = (_joined([*topic, *words]) for words in _selections(claim))
    return next((query for query in queries if frozenset(query.lower().split()) not in known), None)


def looser_queries(query: str) -> Iterator[str]:
    """Yields queries with fewer and fewer words, down to two names, for search engines that require all words."""
    known = {query.lower()}
    for looser in map(_joined, _selections(query)):
        if looser.lower() not in known:
            known.add(looser.lower())
            yield looser


def topic_of(prompt: str | None) -> str:
    """Returns the names in a prompt, or its content words if it contains no names.

    Only the last line with content words is used, because what comes before is usually instructions.
    """
    lines = [line for line in (prompt or "").splitlines() if content_words(line)]
    if not lines:
        return ""
    words = plain_text(lines[-1][-MAX_CHARACTERS:]).split()
    names = [word for place, word in enumerate(words) if place and word[:1].isupper()]
    return _joined(_keywords(" ".join(names)) or _keywords(" ".join(words)))


def _selections(text: str) -> Iterator[list[str]]:
    keywords = _keywords(text)
    names = [word for word in keywords if word[:1].isupper()]
    figures = [word for word in keywords if any(map(str.isdigit, word))]
    others = [word for word in keywords if word not in names and word not in figures]
    for words in (keywords, [*names, *others], [*names, *figures], [*names, *others[-3:]], names, names[:2]):
        if words:
            yield words


def _keywords(text: str) -> list[str]:
    kept: dict[str, str] = {}
    for raw in plain_text(text).split():
        word = raw.strip(_EDGES).removesuffix("'s").removesuffix("’s")
        if content_words(word):
            kept.setdefault(word.lower(), word)
    return list(kept.values())


def _joined(words: Sequence[str]) -> str:
    return " ".join(list(dict.fromkeys(words))[:MAX_WORDS])[:MAX_CHARACTERS]
