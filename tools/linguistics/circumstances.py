"""Splits when, where and by whom a single event happened: each may be true or wrong by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.words import Word, tag_words

_WORD = r"[A-Z][^\W\d_.,;:()]{0,30}(?:[.'’&-][^\W\d_]{1,30}){0,3}\.?"
_NAME = rf"(?:the )?(?:[a-z]{{3,12}} of )?{_WORD}(?: (?:of |of the |de |von |van |and the )?{_WORD}){{0,5}}"
_CIRCUMSTANCE = re.compile(
    rf",? (?:(?P<time>(?:on|in|c\.|around) (?:[A-Z][a-z]{{2,8}} )?\d{{1,4}}(?: [A-Z][a-z]{{2,8}})?(?:,? \d{{4}})?)"
    rf"|(?P<place>(?:in|at|near) {_NAME}(?:, {_NAME}){{0,2}})|(?P<agent>by {_NAME})"
    r"|(?P<age>at (?:the )?age (?:of )?\d{1,3}|aged \d{1,3})|(?P<parents>to [^,.;:()]{3,200}$))(?=[ ,.]|$)"
)
_MONTH = re.compile(
    r"(?:in|near|at) (?:January|February|March|April|May|June|July|August|September|October|November|Dec)"
)
_BORN = re.compile(r"(?P<who>[^()]{2,80}?) \((?P<born>born [^()–—;]{4,120})\) (?P<rest>(?:is|was) .+)", re.DOTALL)
_RESTRICTED = re.compile(r"\b(?:not|never|only|if|either|neither|both|or)\b", re.IGNORECASE)


def split_parenthesis(text: str) -> list[str]:
    """*X (born on D) is a painter* is *X is a painter* and *X was born on D*."""
    found = _BORN.fullmatch(text)
    if found is None or re.search(r"\bdied\b| - ", found["born"]):
        return [text]
    born = re.sub(r"^born (?=(?:c\. )?(?:\d{4}$))", "born in ", found["born"])
    born = re.sub(r"^born (?=\d|[A-Z][a-z]{2,8} \d)", "born on ", born)
    return [f"{found['who']} {found['rest']}", f"{found['who']} was {born}"]


def split_circumstances(text: str) -> list[str]:
    """*X was born in P on D* is *X was born in P* and *X was born on D*; the same for *died*, *was founded by …* and so
    on. Only where nothing else follows the verb, so that no claim says less than it must."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None or _RESTRICTED.search(text) or not _is_single_event(words, clause.main):
        return [text]
    stem, end = text[: words[clause.main].end], len(text.rstrip("."))
    if words[clause.main].lower == "passed":
        stem += " away"
    position = len(stem)
    found: dict[str, str] = {}
    while position < end:
        match = _CIRCUMSTANCE.match(text, position, end)
        if match is None or match.lastgroup is None or match.lastgroup in found or _MONTH.match(match[match.lastgroup]):
            return [text]
        found[match.lastgroup] = match[match.lastgroup]
        position = match.end()
    return [f"{stem} {circumstance}" for circumstance in found.values()] if len(found) > 1 else [text]


def _is_single_event(words: Sequence[Word], main: int) -> bool:
    verb = words[main].lower
    return verb in lexicon.SINGLE_EVENTS or (
        verb == "passed" and main + 1 < len(words) and words[main + 1].lower == "away"
    )
