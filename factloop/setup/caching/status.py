"""The status of the cache: what it holds, and what it may hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from factloop.core.files.holds import Hold
from factloop.core.records import Count, Record
from factloop.setup.caching.contents import Thing, database_bytes, things_in
from factloop.setup.caching.folder import ANSWERS, INDEXES, VECTORS, place_looked_at
from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import CallCache, hold_of


class CacheSection(Record):
    """One kind of entries in the cache."""

    n: Count
    n_bytes: Count
    oldest: datetime | None
    """When the oldest answer was written; of indexes and vectors, when the longest unused was used. None if empty."""


class CacheStatus(Record):
    """The answer of `cache show`."""

    schema_version: Literal["1.0"] = "1.0"
    folder: Path
    answers: CacheSection
    indexes: CacheSection
    """Indexes of documents."""
    vectors: CacheSection
    """Files of word vectors."""
    n_bytes: Count
    cache_mb: int
    """Millions of bytes that it may take."""
    cache_days: float
    """Days for which answers are kept, and indexes and vectors out of use."""


def status_of(settings: RunSettings) -> CacheStatus:
    """The status now. Removes nothing. Raises ConfigError for a damaged file of answers, or no folder."""
    folder = place_looked_at(settings)
    things = things_in(folder)
    answers = _answers(folder)
    indexes, vectors = (_kept([one for one in things if one.part == part]) for part in (INDEXES, VECTORS))
    return CacheStatus(
        folder=folder,
        answers=answers,
        indexes=indexes,
        vectors=vectors,
        n_bytes=answers.n_bytes + indexes.n_bytes + vectors.n_bytes,
        cache_mb=settings.cache_mb,
        cache_days=settings.cache_days,
    )


def number_of_answers(path: Path) -> tuple[int, float | None]:
    """The number of answers, and when the oldest was written. Raises ConfigError."""
    with closing(CallCache(path)) as answers:
        return answers.held()


def _answers(folder: Path) -> CacheSection:
    path = folder / ANSWERS
    if not path.is_file():
        return CacheSection(n=0, n_bytes=0, oldest=None)
    with Hold(hold_of(path)):
        number, oldest = number_of_answers(path)
    return CacheSection(n=number, n_bytes=database_bytes(path), oldest=None if oldest is None else _moment(oldest))


def _kept(things: Sequence[Thing]) -> CacheSection:
    there = [one for one in things if one.path.exists()]  # of some only a lock is left
    return CacheSection(
        n=len(there),
        n_bytes=sum(one.n_bytes for one in there),
        oldest=_moment(there[0].used_at) if there else None,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
