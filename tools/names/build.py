"""Builds a table of typed entities from DBpedia dumps of types, labels and, optionally, links or ranks.

Dumps may be N-Triples or Turtle, uncompressed or compressed with gzip or bzip2. They are read as streams.
"""

from __future__ import annotations

import bz2
import gzip
import math
import os
import sqlite3
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, cast

from factloop.core.errors import ConfigError, DataError
from factloop.core.extras import require
from factloop.core.files.lines import open_given
from factloop.tools.names.inflection import fold, plain_label
from factloop.tools.names.table import NewEntity, write_table

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ONTOLOGY = "http://dbpedia.org/ontology/"
SUFFIXES = (".nt", ".ttl")
PACKED = (".gz", ".bz2")
_NO_TYPES = frozenset({"http://www.w3.org/2002/07/owl#Thing", "http://www.w3.org/2002/07/owl#NamedIndividual"})
_BATCH = 20_000

Progress = Callable[[Path, int], None]
"""Called with a dump and the number of triples read from it, periodically and at the end of the dump."""

_STAGE = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -131072;
CREATE TABLE typed (uri TEXT, type INTEGER, PRIMARY KEY (uri, type)) WITHOUT ROWID;
CREATE TABLE label (uri TEXT PRIMARY KEY, label TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE fame (uri TEXT PRIMARY KEY, n REAL NOT NULL) WITHOUT ROWID;
"""


class Triple(NamedTuple):
    """A triple whose subject is an IRI. Triples about blank nodes are skipped."""

    subject: str
    predicate: str
    value: str
    is_link: bool
    language: str | None


@dataclass(frozen=True, slots=True)
class TableStats:
    path: Path
    entities: int
    types: int
    names: int
    unlabelled: int
    """Number of typed entities omitted because they have no label in the language."""
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
    """Writes the table to `out`, which stays unchanged if an error occurs.

    Labels in `language` and labels without a language are used. Popularity is either a number in a dump or the number
    of links to an entity. Without a popularity dump, entities are sorted by label. The same dumps always give the same
    file. Raises DataError if a dump is unreadable or has nothing useful, and ConfigError if `out` cannot be written.
    """

    def triples(paths: Sequence[Path]) -> Iterator[Triple]:
        for path in paths:
            n = 0
            for n, triple in enumerate(read_triples(path), start=1):
                if progress is not None and n % 100_000 == 0:
                    progress(path, n)
                yield triple
            if progress is not None:
                progress(path, n)

    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            with closing(sqlite3.connect(Path(folder) / "stage")) as stage:
                stage.executescript(_STAGE)
                names = _stage_types(stage, triples(types))
                if not names:
                    raise DataError("the type dumps must contain rdf:type triples", path=_first(types))
                _stage_labels(stage, triples(labels), language.lower())
                if stage.execute("SELECT 1 FROM label").fetchone() is None:
                    said = f"the label dumps contain no {language!r} labels for the entities in the type dumps"
                    raise DataError(said, path=_first(labels))
                _stage_popularity(stage, triples(popularity))
                stage.commit()
                stats = _write(stage, names, Path(folder) / "table", out)
            os.replace(Path(folder) / "table", out)
    except (OSError, sqlite3.Error) as error:
        raise ConfigError(f"cannot write the table to {out}: {error}") from error
    return stats


def _first(paths: Sequence[Path]) -> str | None:
    return str(paths[0]) if paths else None


def read_triples(path: Path) -> Iterator[Triple]:
    """Yields the triples of a dump in order, using bounded memory. Raises DataError with the file and line.

    Unusual characters in IRIs are accepted, because they occur in real dumps.
    """
    require("kb", f"{path}: reading RDF")
    from pyoxigraph import Literal, NamedNode, RdfFormat, parse

    packed = path.suffix.lower() if path.suffix.lower() in PACKED else ""
    suffix = (path.with_suffix("") if packed else path).suffix.lower()
    if suffix not in SUFFIXES:
        said = f"the file name must end in {' or '.join(SUFFIXES)}, followed by {' or '.join(PACKED)} if compressed"
        raise DataError(said, path=str(path))
    kind = {".nt": RdfFormat.N_TRIPLES, ".ttl": RdfFormat.TURTLE}[suffix]
    try:
        with open_given(path), _opened(path, packed) as stream:
            for quad in parse(stream, format=kind, lenient=True, base_iri="http://relative.invalid/"):
                subject, predicate, value = quad.subject, quad.predicate.value, quad.object
                if isinstance(subject, NamedNode) and isinstance(value, NamedNode):
                    yield Triple(subject.value, predicate, value.value, True, None)
                elif isinstance(subject, NamedNode) and isinstance(value, Literal):
                    language = value.language.lower() if value.language else None
                    yield Triple(subject.value, predicate, value.value, False, language)
    except SyntaxError as error:
        raise DataError(f"invalid RDF: {error.msg}", path=str(path), line=error.lineno) from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read the file: {error}", path=str(path)) from error


def _opened(path: Path, packed: str) -> IO[bytes]:
    if packed == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return bz2.open(path, "rb") if packed else path.open("rb")


def _stage_types(stage: sqlite3.Connection, triples: Iterable[Triple]) -> list[str]:
    known: dict[str, int] = {}
    rows = (
        (triple.subject, known.setdefault(triple.value, len(known)))
        for triple in triples
        if triple.predicate == RDF_TYPE and triple.is_link and triple.value not in _NO_TYPES
    )
    stage.executemany("INSERT OR IGNORE INTO typed VALUES (?, ?)", rows)
    return list(known)


def _stage_labels(stage: sqlite3.Connection, triples: Iterable[Triple], language: str) -> None:
    """Stages the first label of each typed entity. The language *en* also accepts labels in *en-gb*."""
    rows = (
        (triple.subject, triple.value)
        for triple in triples
        if triple.predicate == RDFS_LABEL
        and not triple.is_link
        and (triple.language is None or language in {triple.language, triple.language.split("-")[0]})
        and triple.value.strip()
    )
    insert = "INSERT OR IGNORE INTO label SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM typed WHERE uri = ?1)"
    stage.executemany(insert, rows)


def _stage_popularity(stage: sqlite3.Connection, triples: Iterable[Triple]) -> None:
    insert = (
        "INSERT INTO fame SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM label WHERE uri = ?1)"
        " ON CONFLICT (uri) DO UPDATE SET n = n + excluded.n"
    )
    rows = ((one.value, 1.0) if one.is_link else (one.subject, _number(one.value)) for one in triples)
    while batch := list(islice(rows, _BATCH)):
        fame: Counter[str] = Counter()
        for uri, n in batch:
            fame[uri] += n  # type: ignore[assignment]  # a Counter can sum floats as well
        stage.executemany(insert, fame.items())


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def _write(stage: sqlite3.Connection, iris: Sequence[str], path: Path, out: Path) -> TableStats:
    counts = stage.execute("SELECT type, COUNT(*) FROM typed GROUP BY type").fetchall()
    general_first = [place for place, _ in sorted(counts, key=lambda row: (-row[1], iris[row[0]]))]
    names = [iris[place].removeprefix(ONTOLOGY) or iris[place] for place in general_first]
    with closing(sqlite3.connect(path)) as table:
        table.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        identity = write_table(table, names, _entities(stage, iris, general_first))
        (n_entities,) = table.execute("SELECT COUNT(*) FROM entity").fetchone()
        (n_names,) = table.execute("SELECT COUNT(*) FROM name").fetchone()
    (n_typed,) = stage.execute("SELECT COUNT(DISTINCT uri) FROM typed").fetchone()
    return TableStats(out, n_entities, len(names), n_names, n_typed - n_entities, identity)


def _entities(stage: sqlite3.Connection, iris: Sequence[str], general_first: Sequence[int]) -> Iterator[NewEntity]:
    """Yields entities, best known first. If an entity has types in DBpedia's ontology, any others are dropped."""
    ids = {place: number for number, place in enumerate(general_first, start=1)}
    rows = stage.execute(
        "SELECT label.uri, label, COALESCE(n, 0), (SELECT GROUP_CONCAT(type) FROM typed WHERE uri = label.uri)"
        " FROM label LEFT JOIN fame USING (uri) ORDER BY 3 DESC, 2, 1"
    )
    for uri, label, fame, types in rows:
        places = [int(place) for place in types.split(",")]
        own = [place for place in places if iris[place].startswith(ONTOLOGY)] or places
        names = (fold(label), fold(plain_label(label)))
        yield NewEntity(uri, label, fame, tuple(sorted(ids[place] for place in own)), names)
