"""A knowledge base backed by a SQLite table of typed entities. `build` and `built_in` write such tables."""

from __future__ import annotations

import hashlib
import heapq
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from factloop.core.errors import ConfigError
from factloop.tools.names.asked import asked_for
from factloop.tools.names.base import LinkedEntity, Sibling, without_overlap
from factloop.tools.names.inflection import fold, plain_label
from factloop.tools.names.packaged import is_word
from factloop.tools.text.pipeline import load_pipeline, parse

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

APPLICATION_ID = 0x666C6B62
FORMAT = 1
"""Increase this number whenever the tables or their meaning change, so that older files are rejected."""
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE type (id INTEGER PRIMARY KEY, name TEXT NOT NULL, entities INTEGER NOT NULL);
CREATE TABLE type_set (id INTEGER PRIMARY KEY, types TEXT NOT NULL);
CREATE TABLE entity (id INTEGER PRIMARY KEY, uri TEXT NOT NULL, label TEXT NOT NULL, type_set INTEGER NOT NULL);
CREATE TABLE name (folded TEXT, entity INTEGER, PRIMARY KEY (folded, entity)) WITHOUT ROWID;
"""
"""Type ids start with the most general type, and entity ids with the best-known entity. `types` of a set contains the
ids of its types, separated by commas. Additional columns of earlier versions are ignored.
"""
INDEXES = """
CREATE UNIQUE INDEX entity_by_uri ON entity (uri);
CREATE INDEX entity_by_set ON entity (type_set, id);
"""
LONGEST_NAME = 200
_LONGEST = 8
_NAMESAKES = 30
_BATCH, _AT_ONCE, _FETCHED = 20_000, 500, 32
_WORD_OF_TYPE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CALLED: Mapping[str, tuple[str, ...]] = {
    "person": ("Person", "Agent"), "place": ("Place",), "city": ("City", "Settlement", "Town"), "country": ("Country",),
    "capital": ("City", "Settlement"), "town": ("Town", "Settlement"), "state": ("AdministrativeRegion", "Region"),
    "company": ("Company", "Organisation"), "language": ("Language",),
}  # fmt: skip
"""Maps words in questions to the DBpedia types that they refer to under another name."""


class NewEntity(NamedTuple):
    """`types` contains type ids, and `names` contains folded names."""

    uri: str
    label: str
    fame: float
    types: tuple[int, ...]
    names: tuple[str, ...]


def write_table(table: sqlite3.Connection, type_names: Sequence[str], entities: Iterable[NewEntity]) -> str:
    """Fills a new table with entities, which must be sorted by fame. `type_names` get the ids 1, 2, ..., most general
    first. Returns the table's identity, a hash of its entities with their labels and types.
    """
    table.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {SCHEMA}")
    content = hashlib.sha256(f"{FORMAT}".encode())
    sets: dict[tuple[int, ...], int] = {}
    counts = [0] * (len(type_names) + 1)
    numbered = enumerate(entities, start=1)
    while batch := list(islice(numbered, _BATCH)):
        rows = []
        for number, one in batch:
            named = [type_names[kind - 1] for kind in one.types]
            content.update(repr((one.uri, one.label, one.fame, named)).encode("utf-8", "replace"))
            for kind in one.types:
                counts[kind] += 1
            type_set = sets.setdefault(one.types, len(sets) + 1)
            rows.append((number, one.uri, plain_label(one.label), type_set))
        names = [(name, number) for number, one in batch for name in one.names if 0 < len(name) <= LONGEST_NAME]
        table.executemany("INSERT INTO entity VALUES (?, ?, ?, ?)", rows)
        table.executemany("INSERT OR IGNORE INTO name VALUES (?, ?)", names)
    types = [(number, name, counts[number]) for number, name in enumerate(type_names, start=1)]
    table.executemany("INSERT INTO type VALUES (?, ?, ?)", types)
    table.executemany("INSERT INTO type_set VALUES (?, ?)", [(n, ",".join(map(str, key))) for key, n in sets.items()])
    table.execute("INSERT INTO meta VALUES ('identity', ?)", (content.hexdigest()[:32],))
    table.executescript(INDEXES)
    table.commit()
    return content.hexdigest()[:32]


class EntityRow(NamedTuple):
    id: int
    uri: str
    label: str
    type_set: int


class LabelMatch(NamedTuple):
    """A span that names the entity `row`. `asked` is True if the question asks for one of its types."""

    span: Span
    row: EntityRow
    types: tuple[str, ...]
    asked: bool


_ROW = "SELECT id, uri, label, type_set FROM"


class NameTable:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT id, name, entities FROM type").fetchall()
        names = {number: name for number, name, _ in rows}
        self._counts: dict[str, int] = {name: count for _, name, count in rows}
        self.sets: dict[int, tuple[str, ...]] = {
            number: tuple(names[int(one)] for one in types.split(","))
            for number, types in connection.execute("SELECT id, types FROM type_set ORDER BY id")
        }
        """Maps the number of each set of types to its types. The set of the best-known entity comes first."""
        self._sets_of_type: dict[str, list[int]] = {}
        for number, types in self.sets.items():
            for kind in dict.fromkeys(types):
                self._sets_of_type.setdefault(kind, []).append(number)

    def close(self) -> None:
        self._connection.close()

    def types_of(self, row: EntityRow) -> tuple[str, ...]:
        return self.sets[row.type_set]

    def row_of(self, uri: str) -> EntityRow | None:
        row = self._connection.execute(f"{_ROW} entity WHERE uri = ?", (uri,)).fetchone()
        return EntityRow(*row) if row is not None else None

    def named(self, name: str) -> list[EntityRow]:
        query = f"{_ROW} name JOIN entity ON entity.id = name.entity WHERE folded = ? ORDER BY name.entity LIMIT ?"
        return [EntityRow(*row) for row in self._connection.execute(query, (fold(name), _NAMESAKES))]

    def known(self, names: Iterable[str]) -> set[str]:
        ordered = sorted({name for name in names if name})
        known: set[str] = set()
        for place in range(0, len(ordered), _AT_ONCE):
            some = ordered[place : place + _AT_ONCE]
            query = f"SELECT DISTINCT folded FROM name WHERE folded IN ({','.join('?' * len(some))})"
            known.update(row[0] for row in self._connection.execute(query, some))
        return known

    def names_of(self, number: int) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT folded FROM name WHERE entity = ?", (number,))]

    def count_of(self, kind: str) -> int:
        return self._counts.get(kind, 0)

    def sizes(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for number, n in self._connection.execute("SELECT type_set, COUNT(*) FROM entity GROUP BY type_set"):
            yield self.sets[number], n

    def sets_sharing(self, types: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yields each set that contains any of these types, as the shared types and the set's number."""
        for number in sorted({number for kind in types for number in self._sets_of_type.get(kind, ())}):
            yield tuple(kind for kind in types if kind in self.sets[number]), number

    def best_known(self, sets: Iterable[int]) -> Iterator[EntityRow]:
        """Yields the entities with any of these sets of types, best known first. Reads rows in batches as needed."""
        return heapq.merge(*map(self._of_set, sets))

    def _of_set(self, type_set: int) -> Iterator[EntityRow]:
        last = 0
        query = f"{_ROW} entity WHERE type_set = ? AND id > ? ORDER BY id LIMIT ?"
        while rows := self._connection.execute(query, (type_set, last, _FETCHED)).fetchall():
            yield from (EntityRow(*row) for row in rows)
            last = rows[-1][0]


class TableKnowledgeBase:
    """Reads a table built by `build_table`. Raises ConfigError if the file is not such a table or has another format.

    Names are found by their spelling, longest first. If several entities share a name, a type that the question asks
    for has priority, then the exact spelling, and then fame.
    """

    def __init__(self, path: Path) -> None:
        connection = _opened(path)
        (self._identity,) = connection.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        self._names = NameTable(connection)
        self._linked = lru_cache(maxsize=256)(self._link)

    @property
    def identity(self) -> str:
        return f"table {self._identity}"

    def close(self) -> None:
        self._names.close()

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        return self._linked(text, question)

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        row = self._names.row_of(entity.key)
        return tuple(islice(self._siblings(row, entity.name), limit)) if row is not None and limit > 0 else ()

    def _link(self, text: str, question: str) -> tuple[LinkedEntity, ...]:
        doc = parse(text, load_pipeline())
        found = (self._match(span, question) for span in known_spans(doc, self._names))
        return tuple(
            LinkedEntity(one.span.text, one.span.start_char, one.span.end_char, one.row.uri, one.types)
            for one in best_matches(match for match in found if match is not None)
        )

    def _match(self, span: Span, question: str) -> LabelMatch | None:
        n_asked, exact, _, row = max(
            (self._n_asked(row, question), row.label == span.text, -row.id, row) for row in self._names.named(span.text)
        )
        if span.text.endswith(".") and not row.label.endswith("."):
            return None  # the full stop ends the sentence; spellings are compared without it
        is_meant = _is_meant(span, asked=n_asked > 0, exact=exact)
        return LabelMatch(span, row, self._names.types_of(row), n_asked > 0) if is_meant else None

    def _n_asked(self, row: EntityRow, question: str) -> int:
        asked = asked_for(question)
        called = {name for word in asked for name in _CALLED.get(word, ())}
        return sum(name in called or _words_of(name) <= asked for name in self._names.types_of(row))

    def _siblings(self, row: EntityRow, name: str) -> Iterator[Sibling]:
        seen, levels = {fold(row.label), fold(name)}, dict[int, dict[int, tuple[str, ...]]]()
        for shared, number in self._names.sets_sharing(self._names.types_of(row)):
            levels.setdefault(len(shared), {})[number] = shared
        for n_shared in sorted(levels, reverse=True):
            for other in self._names.best_known(levels[n_shared]):
                if fold(other.label) not in seen:
                    seen.add(fold(other.label))
                    yield Sibling(other.label, levels[n_shared][other.type_set])


def known_spans(doc: Doc, names: NameTable) -> Iterator[Span]:
    spans = [
        doc[first:after]
        for first in range(len(doc))
        for after in range(first + 1, min(first + _LONGEST, len(doc)) + 1)
        if doc[first].text[0].isalnum() and not doc[after - 1].is_space
    ]
    known = names.known(fold(span.text) for span in spans)
    return (span for span in spans if fold(span.text) in known)


def best_matches(matches: Iterable[LabelMatch]) -> list[LabelMatch]:
    """Returns non-overlapping matches. Prefers matches that the question asks for, then longer ones."""
    return without_overlap(matches, lambda one: (one.span.start, one.span.end), first=lambda one: one.asked)


def _is_meant(span: Span, *, asked: bool, exact: bool) -> bool:
    content = [token for token in span if not token.is_stop and not token.is_punct]
    alone = len(span) == sum(not token.is_punct for token in span.doc)
    if not any(letter.isalpha() for letter in span.text) or any(t.ent_type_ in {"DATE", "TIME"} for t in span):
        return False
    if not content:
        return alone and exact
    is_shouted, opens = span.doc.text.isupper(), len(span) == 1 and span[0].is_sent_start
    is_name = all(token.text[:1].isupper() for token in content) and (alone or not (is_shouted or opens))
    is_title = exact and len(span) > 1 and not span.text.islower()
    return asked or is_name or is_title or not all(is_word(token.lower_) for token in content)


@lru_cache(maxsize=4096)
def _words_of(type_name: str) -> frozenset[str]:
    last = re.split(r"[/#]", type_name)[-1]
    return frozenset(word.lower() for word in _WORD_OF_TYPE.findall(last)) or frozenset({last})


def _opened(path: Path) -> sqlite3.Connection:
    refused = ConfigError(
        f"{path} is not an entity table in the current format; build one with `factloop research kb build`"
    )
    if not path.is_file():
        raise ConfigError(f"no entity table at {path}; build one with `factloop research kb build`")
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
