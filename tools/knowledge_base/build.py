"""Makes a table of typed entities from DBpedia's dumps: of types, of labels and, if wished, of links or ranks."""

from __future__ import annotations

import hashlib
import math
import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from factloop.core.errors import ConfigError, DataError
from factloop.tools.knowledge_base.names import fold
from factloop.tools.knowledge_base.rdf import Triple, read_triples
from factloop.tools.knowledge_base.table_format import APPLICATION_ID, FORMAT, INDEXES, SCHEMA, plain_label

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ONTOLOGY = "http://dbpedia.org/ontology/"
_NO_TYPES = frozenset({"http://www.w3.org/2002/07/owl#Thing", "http://www.w3.org/2002/07/owl#NamedIndividual"})
_BATCH = 20_000
_MAX_COUNTED = 500_000
"""Link targets counted in memory before their counts are added up on disk."""
_LONGEST_NAME = 200
"""Characters of a name that is looked for in texts."""

Progress = Callable[[Path, int], None]
"""Told a dump and how many of its triples have been read, now and then and at its end."""

_STAGE = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -131072;
CREATE TABLE typed (uri TEXT, type INTEGER, PRIMARY KEY (uri, type)) WITHOUT ROWID;
CREATE TABLE label (uri TEXT PRIMARY KEY, label TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fame (uri TEXT PRIMARY KEY, n REAL NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class TableStats:
    """The contents of a new table, in numbers."""

    path: Path
    entities: int
    types: int
    names: int
    unlabelled: int
    """Typed, but without a label in the language, and so left out."""
    with_popularity: int
    identity: str


def build_table(
    types: Sequence[Path],
    labels: Sequence[Path],
    out: Path,
    *,
    popularity: Sequence[Path] = (),
    language: str = "en",
    progress: Progress | None = None,
) -> TableStats:
    """Reads the dumps as streams and writes the table to `out`, whole or not at all.

    Labels count in `language` or without one. Popularity is the number of links to an entity, where the values of a
    dump are IRIs, or the number given, where they are literals; without it the order is that of the labels. The same
    dumps give the same file. Raises DataError for a dump that cannot be read or holds nothing to use, ConfigError where
    `out` cannot be written.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            with closing(sqlite3.connect(Path(folder) / "stage")) as stage:
                stage.executescript(_STAGE)
                names = _stage_types(stage, types, progress)
                _stage_labels(stage, labels, language, progress)
                _stage_popularity(stage, popularity, progress)
                stage.commit()
                stats = _write(stage, names, Path(folder) / "table", out)
            os.replace(Path(folder) / "table", out)
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"the table cannot be written to {out}: {error}") from error
    return stats


def _told(path: Path, progress: Progress | None) -> Iterator[Triple]:
    n = 0
    for n, triple in enumerate(read_triples(path), start=1):
        if progress is not None and n % 100_000 == 0:
            progress(path, n)
        yield triple
    if progress is not None:
        progress(path, n)


def _in_batches(stage: sqlite3.Connection, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    rows = iter(rows)
    while batch := list(islice(rows, _BATCH)):
        stage.executemany(statement, batch)


def _stage_types(stage: sqlite3.Connection, paths: Sequence[Path], progress: Progress | None) -> list[str]:
    """The IRIs of the types; staged rows name them by their places in this list."""
    known: dict[str, int] = {}
    for path in paths:
        rows = (
            (triple.subject, known.setdefault(triple.value, len(known)))
            for triple in _told(path, progress)
            if triple.predicate == RDF_TYPE and triple.is_link and triple.value not in _NO_TYPES
        )
        _in_batches(stage, "INSERT OR IGNORE INTO typed VALUES (?, ?)", rows)
    if not known:
        raise DataError("the dumps of types hold no triple with rdf:type", path=str(paths[0]) if paths else None)
    return list(known)


def _stage_labels(stage: sqlite3.Connection, paths: Sequence[Path], language: str, progress: Progress | None) -> None:
    """The first label of each typed entity."""
    wanted = language.lower()
    insert = "INSERT OR IGNORE INTO label SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM typed WHERE uri = ?1)"
    for path in paths:
        rows = (
            (triple.subject, triple.value)
            for triple in _told(path, progress)
            if triple.predicate == RDFS_LABEL
            and not triple.is_link
            and (triple.language is None or triple.language.split("-")[0] == wanted or triple.language == wanted)
            and triple.value.strip()
        )
        _in_batches(stage, insert, rows)
    if stage.execute("SELECT 1 FROM label").fetchone() is None:
        message = f"the dumps hold no label in {language!r} of an entity that has a type"
        raise DataError(message, path=str(paths[0]) if paths else None)


def _stage_popularity(stage: sqlite3.Connection, paths: Sequence[Path], progress: Progress | None) -> None:
    counts: Counter[str] = Counter()
    for path in paths:
        for triple in _told(path, progress):
            if triple.is_link:
                counts[triple.value] += 1
            elif (number := _number(triple.value)) is not None:
                _add_fame(stage, [(triple.subject, number)])
            if len(counts) >= _MAX_COUNTED:
                _add_fame(stage, counts.items())
                counts.clear()
    _add_fame(stage, counts.items())


def _add_fame(stage: sqlite3.Connection, rows: Iterable[tuple[str, float]]) -> None:
    stage.executemany(
        "INSERT INTO fame SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM label WHERE uri = ?1)"
        " ON CONFLICT (uri) DO UPDATE SET n = n + excluded.n",
        rows,
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _write(stage: sqlite3.Connection, iris: Sequence[str], path: Path, out: Path) -> TableStats:
    with closing(sqlite3.connect(path)) as table:
        table.executescript(
            f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA application_id = {APPLICATION_ID};"
        )
        table.executescript(f"PRAGMA user_version = {FORMAT}; {SCHEMA}")
        writer = _Writer(table, stage, iris)
        writer.write_entities()
        writer.write_types()
        table.executescript(INDEXES)
        table.execute("INSERT INTO meta VALUES ('identity', ?)", (writer.identity,))
        table.commit()
        (names,) = table.execute("SELECT COUNT(*) FROM name").fetchone()
    (typed,) = stage.execute("SELECT COUNT(DISTINCT uri) FROM typed").fetchone()
    (known,) = stage.execute("SELECT COUNT(*) FROM fame").fetchone()
    n = writer.n_entities
    return TableStats(out, n, len(writer.type_ids), names, typed - n, known, writer.identity)


class _Writer:
    """Fills one new table from the staged triples."""

    def __init__(self, table: sqlite3.Connection, stage: sqlite3.Connection, iris: Sequence[str]) -> None:
        self._table, self._stage, self._iris = table, stage, iris
        self._hash = hashlib.sha256(f"{FORMAT}".encode())
        self._sets: dict[tuple[int, ...], int] = {}
        self._best: list[int] = []
        counts = stage.execute("SELECT type, COUNT(*) FROM typed GROUP BY type")
        general_first = sorted(counts, key=lambda row: (-row[1], iris[row[0]]))
        self.type_ids = {place: number for number, (place, _) in enumerate(general_first, start=1)}
        self._counts = dict(general_first)
        self.n_entities = 0

    @property
    def identity(self) -> str:
        """A hash of all that the table says: entities in order, with labels and types."""
        return self._hash.hexdigest()[:32]

    def write_entities(self) -> None:
        rows = self._stage.execute(
            "SELECT label.uri, label, COALESCE(n, 0) FROM label LEFT JOIN fame USING (uri) ORDER BY 3 DESC, 2, 1"
        )
        entities = self._entities(rows)
        while batch := list(islice(entities, _BATCH)):
            self._table.executemany("INSERT INTO entity VALUES (?, ?, ?, ?, ?)", [row for row, _ in batch])
            names = [(name, row[0]) for row, label in batch for name in _names(label)]
            self._table.executemany("INSERT OR IGNORE INTO name VALUES (?, ?)", names)

    def _entities(self, rows: Iterable[tuple[str, str, float]]) -> Iterator[tuple[tuple[object, ...], str]]:
        for number, (uri, label, fame) in enumerate(rows, start=1):
            types = self._types_of(uri)
            self.n_entities = number
            self._hash.update(repr((uri, label, fame, [self._iris[t] for t in types])).encode("utf-8", "replace"))
            yield (number, uri, plain_label(label), fame, self._set_of(types, number)), label

    def _types_of(self, uri: str) -> list[int]:
        """The types of DBpedia's ontology where it has some: dumps repeat them in the words of other vocabularies."""
        types = [row[0] for row in self._stage.execute("SELECT type FROM typed WHERE uri = ?", (uri,))]
        own = [place for place in types if self._iris[place].startswith(ONTOLOGY)]
        return sorted(own or types, key=self.type_ids.__getitem__)

    def _set_of(self, types: Sequence[int], entity: int) -> int:
        key = tuple(self.type_ids[place] for place in types)
        if key not in self._sets:
            self._sets[key] = len(self._sets) + 1
            self._best.append(entity)
        return self._sets[key]

    def write_types(self) -> None:
        rows = [(n, _type_name(self._iris[place]), self._counts[place]) for place, n in self.type_ids.items()]
        self._table.executemany("INSERT INTO type VALUES (?, ?, ?)", rows)
        sets = [(n, ",".join(map(str, key)), self._best[n - 1]) for key, n in self._sets.items()]
        self._table.executemany("INSERT INTO type_set VALUES (?, ?, ?)", sets)
        pairs = [(one, n) for key, n in self._sets.items() for one in key]
        self._table.executemany("INSERT INTO set_of_type VALUES (?, ?)", pairs)


def _type_name(iri: str) -> str:
    return iri.removeprefix(ONTOLOGY) or iri


def _names(label: str) -> Iterator[str]:
    for name in (label, plain_label(label)):
        folded = fold(name)
        if folded and len(folded) <= _LONGEST_NAME:
            yield folded
