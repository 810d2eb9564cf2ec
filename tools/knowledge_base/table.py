"""A table of typed entities that was made from DBpedia's dumps, as a knowledge base: no network."""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from factloop.core.errors import ConfigError
from factloop.tools.knowledge_base.base import LinkedEntity, Sibling
from factloop.tools.knowledge_base.cues import asked_for
from factloop.tools.knowledge_base.names import NameWord, fold, name_words
from factloop.tools.knowledge_base.ordinary import CALENDAR, ordinary_words
from factloop.tools.knowledge_base.table_format import APPLICATION_ID, FORMAT
from factloop.tools.linguistics.lexicon import FUNCTION_WORDS

_LONGEST = 8
"""Words of the longest name that is looked for."""
_NAMESAKES = 30
"""Entities of one name among which the question chooses: the best known."""
_AT_ONCE = 500
_FETCHED = 32
_WORD_OF_TYPE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MARKS_BEHIND = re.compile(r"[^\w\s,;:\"”)\]]+(?=\s|$|[,;:\"”)\]])")
"""What may belong to a name at its end: *Warner Bros.*, *Mamma Mia!*, *C++*."""
_QUESTION_WORD = re.compile(r"[^\W\d_]+")
_CALLED = {
    "person": ("Person", "Agent"), "place": ("Place",), "city": ("City", "Settlement", "Town"), "country": ("Country",),
    "state": ("AdministrativeRegion", "Region"), "company": ("Company", "Organisation"), "language": ("Language",),
}  # fmt: skip
"""Types of DBpedia's ontology for what questions ask for in other words."""


class _EntityRow(NamedTuple):
    id: int
    uri: str
    label: str
    type_set: int


class _LabelMatch(NamedTuple):
    start: int
    end: int
    n_words: int
    row: _EntityRow


class TableKnowledgeBase:
    """Reads a table that `build_table` made. Raises ConfigError for other files, and for another version.

    Names are found by their spelling, the longest first. Of namesakes the one is taken whose types the question asks
    for, then the one spelled exactly so, then the best known.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = _opened(path)
        self._names_of_types = dict(self._connection.execute("SELECT id, name FROM type").fetchall())
        rows = self._connection.execute("SELECT id, types FROM type_set")
        self._types_of_set = {number: tuple(map(int, types.split(","))) for number, types in rows}
        self._linked = lru_cache(maxsize=256)(self._link)
        self._levels = lru_cache(maxsize=256)(self._read_levels)

    @property
    def identity(self) -> str:
        (value,) = self._connection.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        return f"table {value}"

    def close(self) -> None:
        self._connection.close()

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        return self._linked(text, question)

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        found = self._connection.execute("SELECT id, uri, label, type_set FROM entity WHERE uri = ?", (entity.key,))
        row = found.fetchone()
        return tuple(self._siblings(_EntityRow(*row), entity.name, limit)) if row is not None and limit > 0 else ()

    def _link(self, text: str, question: str) -> tuple[LinkedEntity, ...]:
        found: list[_LabelMatch] = []
        for one in sorted(self._candidates(text, question), key=lambda c: (-c.n_words, c.start, -c.end)):
            if all(one.end <= other.start or other.end <= one.start for other in found):
                found.append(one)
        return tuple(
            LinkedEntity(text[one.start : one.end], one.start, one.end, one.row.uri, self._type_names(one.row.type_set))
            for one in sorted(found)
        )

    def _type_names(self, type_set: int) -> tuple[str, ...]:
        return tuple(self._names_of_types[number] for number in self._types_of_set[type_set])

    def _candidates(self, text: str, question: str) -> Iterator[_LabelMatch]:
        words = name_words(text)
        spans = list(_spans(text, words))
        known = self._known({fold(text[start:end]) for start, end, _, _ in spans})
        for start, end, first, after in spans:
            name = text[start:end]
            if fold(name) not in known:
                continue
            asked, row = self._best(name, question)
            if name.endswith(".") and not row.label.endswith("."):
                continue  # the full stop is the sentence's; spellings are compared without
            if _is_name(
                text, words[first:after], asked=asked, exact=row.label == name, alone=len(words) == after - first
            ):
                yield _LabelMatch(start, end, after - first, row)

    def _known(self, names: set[str]) -> set[str]:
        ordered = sorted(name for name in names if name)
        known: set[str] = set()
        for place in range(0, len(ordered), _AT_ONCE):
            some = ordered[place : place + _AT_ONCE]
            query = f"SELECT DISTINCT folded FROM name WHERE folded IN ({','.join('?' * len(some))})"
            known.update(row[0] for row in self._connection.execute(query, some))
        return known

    def _best(self, name: str, question: str) -> tuple[bool, _EntityRow]:
        """Whether the question asks for its type, and the entity that the name means."""
        query = (
            "SELECT id, uri, label, type_set FROM name JOIN entity ON entity.id = name.entity"
            " WHERE folded = ? ORDER BY name.entity LIMIT ?"
        )
        rows = [_EntityRow(*row) for row in self._connection.execute(query, (fold(name), _NAMESAKES))]
        scored = [(self._n_asked(row.type_set, question), row.label == name, -row.id, row) for row in rows]
        n_asked, _, _, row = max(scored)
        return n_asked > 0, row

    def _n_asked(self, type_set: int, question: str) -> int:
        asked = _asked_words(question)
        called = {name for kind in asked_for(question) for name in _CALLED.get(kind, ())}
        return sum(name in called or (_words_of(name) or {name}) <= asked for name in self._type_names(type_set))

    def _siblings(self, row: _EntityRow, name: str, limit: int) -> Iterator[Sibling]:
        seen = {fold(row.label), fold(name)}
        types = self._types_of_set[row.type_set]
        for sets in self._levels(row.type_set):
            for label, type_set in self._best_known(sets):
                if fold(label) in seen:
                    continue
                seen.add(fold(label))
                shared = set(types).intersection(self._types_of_set[type_set])
                yield Sibling(label, tuple(self._names_of_types[number] for number in types if number in shared))
                limit -= 1
                if limit == 0:
                    return

    def _read_levels(self, type_set: int) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Sets of types that share some with this one, as pairs (best known entity, set): most shared first."""
        types = self._types_of_set[type_set]
        query = (
            "SELECT COUNT(*), best, id FROM set_of_type JOIN type_set ON id = type_set"
            f" WHERE type IN ({','.join('?' * len(types))}) GROUP BY id"
        )
        levels: dict[int, list[tuple[int, int]]] = {}
        for n_shared, best, number in self._connection.execute(query, types):
            levels.setdefault(n_shared, []).append((best, number))
        return tuple(tuple(sorted(levels[n_shared])) for n_shared in sorted(levels, reverse=True))

    def _best_known(self, sets: Sequence[tuple[int, int]]) -> Iterator[tuple[str, int]]:
        """Labels of the entities of all these sets with their sets, the best known first.

        Each set enters with its best known entity, so that those of little fame are never looked into.
        """
        streams = [(best, number) for best, number in sets]
        pending: dict[int, Iterator[tuple[int, str]]] = {}
        heapq.heapify(streams)
        while streams:
            _, number = streams[0]
            if number not in pending:
                pending[number] = self._of_set(number)
            _, label = next(pending[number])
            following = next(pending[number], None)
            if following is None:
                heapq.heappop(streams)
            else:
                pending[number] = chain([following], pending[number])
                heapq.heapreplace(streams, (following[0], number))
            yield label, number

    def _of_set(self, type_set: int) -> Iterator[tuple[int, str]]:
        last = 0
        query = "SELECT id, label FROM entity WHERE type_set = ? AND id > ? ORDER BY id LIMIT ?"
        while rows := self._connection.execute(query, (type_set, last, _FETCHED)).fetchall():
            yield from rows
            last = rows[-1][0]


def _opened(path: Path) -> sqlite3.Connection:
    """A read-only connection, used from the thread that runs the event loop."""
    refused = ConfigError(f"{path} is not a table of typed entities of this version: make one by `factloop kb build`")
    if not path.is_file():
        raise ConfigError(f"no table of typed entities at {path}: make one by `factloop kb build`")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
    except sqlite3.Error as error:
        raise refused from error
    if (application, version) != (APPLICATION_ID, FORMAT):
        connection.close()
        raise refused
    return connection


def _spans(text: str, words: Sequence[NameWord]) -> Iterator[tuple[int, int, int, int]]:
    """The places where names may stand, as (start, end, first word, after the last): with and without end marks."""
    for first in range(len(words)):
        for after in range(first + 1, min(first + _LONGEST, len(words)) + 1):
            start, end = words[first].start, words[after - 1].end
            yield start, end, first, after
            marks = _MARKS_BEHIND.match(text, end)
            if marks is not None:
                yield start, marks.end(), first, after


def _is_name(text: str, words: Sequence[NameWord], *, asked: bool, exact: bool, alone: bool) -> bool:
    """Whether words that spell a label are meant as a name, and not as what they mean in any sentence."""
    lower = [word.word.lower() for word in words]
    ordinary = all(word in ordinary_words() or word in FUNCTION_WORDS for word in lower)
    if not any(word[0].isalpha() for word in lower) or (len(words) == 1 and lower[0] in CALENDAR):
        return False
    if len(words) == 1 and lower[0] in FUNCTION_WORDS and not (alone and exact):
        return False
    shouted = not any(letter.islower() for letter in text)
    cased = text.lower() != text.upper()
    capitalised = cased and not shouted and all(w.capitalised for w in words if w.word.lower() not in FUNCTION_WORDS)
    if capitalised and not (len(words) == 1 and ordinary and words[0].opens and not alone and not asked):
        return True
    return not ordinary or asked or (exact and len(words) > 1 and any(word.capitalised for word in words))


@lru_cache(maxsize=2048)
def _asked_words(question: str) -> frozenset[str]:
    """Words of the question and what they may be the plurals of."""
    words = {word.lower() for word in _QUESTION_WORD.findall(question)}
    singular = {word[:-1] for word in words if word.endswith("s")} | {f"{w[:-3]}y" for w in words if w.endswith("ies")}
    return frozenset(words | singular)


@lru_cache(maxsize=4096)
def _words_of(type_name: str) -> frozenset[str]:
    """*BasketballPlayer* as basketball and player; the last part of an IRI."""
    return frozenset(word.lower() for word in _WORD_OF_TYPE.findall(re.split(r"[/#]", type_name)[-1]))
