"""Triples of RDF dumps, read as a stream: N-Triples and Turtle, plain or packed by gzip or bzip2."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, cast

from factloop.core.errors import DataError
from factloop.core.extras import require

SUFFIXES = (".nt", ".ttl")
PACKED = (".gz", ".bz2")


class Triple(NamedTuple):
    """One triple whose subject is an IRI; triples about blank nodes are left out."""

    subject: str
    predicate: str
    value: str
    is_link: bool
    """The value is an IRI, not a literal."""
    language: str | None
    """Language of a literal that names one, in lower case."""


def read_triples(path: Path) -> Iterator[Triple]:
    """The triples of one dump in order, in bounded memory. Raises DataError that names file and line.

    Odd characters in IRIs, which real dumps have, are accepted.
    """
    require("kb", f"{path}: reading RDF")
    from pyoxigraph import Literal, NamedNode, RdfFormat, parse

    kind = {".nt": RdfFormat.N_TRIPLES, ".ttl": RdfFormat.TURTLE}[_suffix(path)]
    try:
        with _opened(path) as stream:
            for quad in parse(stream, format=kind, lenient=True, base_iri="http://relative.invalid/"):
                subject, value = quad.subject, quad.object
                if not isinstance(subject, NamedNode):
                    continue
                if isinstance(value, NamedNode):
                    yield Triple(subject.value, quad.predicate.value, value.value, True, None)
                elif isinstance(value, Literal):
                    language = value.language.lower() if value.language else None
                    yield Triple(subject.value, quad.predicate.value, value.value, False, language)
    except SyntaxError as error:
        raise DataError(f"this is no RDF: {error.msg}", path=str(path), line=error.lineno) from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the file cannot be read: {error}", path=str(path)) from error


def _suffix(path: Path) -> str:
    name = path.with_suffix("") if path.suffix.lower() in PACKED else path
    if name.suffix.lower() not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise DataError(f"a dump ends in one of {known}, and {' or '.join(PACKED)} if it is packed", path=str(path))
    return name.suffix.lower()


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    return bz2.open(path, "rb") if path.suffix.lower() == ".bz2" else path.open("rb")
