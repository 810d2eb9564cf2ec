"""Searches the user's own files with BM25 and, if there is an embedder, also by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path
from pydantic import PrivateAttr

from factloop.core.errors import DataError
from factloop.tools.search.base import SearchHit
from factloop.tools.search.documents.files import FoundFiles, UnreadFile, find_files
from factloop.tools.search.documents.index import NO_TEXT, StoredPassage
from factloop.tools.search.documents.neighbours import CANDIDATES, PassageSearch
from factloop.tools.search.documents.store import Snapshot, WantedFiles, open_snapshot, snapshot_in_memory
from factloop.tools.search.passages import DEFAULT_SETTINGS, PassageSettings

if TYPE_CHECKING:
    from factloop.tools.embeddings.nearest import Embedder

MOST_NAMED = 20
_FEW_PASSAGES = 2_000
"""With up to this number of passages, a search (about 0.2 ms) takes less time than starting it in a thread."""


class DocumentSearch(PassageSearch):
    """Searches files, folders and globs. It is free and needs no network access.

    The constructor reads and indexes files that have changed since the last time, and raises DataError for files that
    cannot be read. This takes about forty seconds for a million passages, or a few milliseconds if nothing has changed.
    Later changes to the files are not noticed. The passages stay on disk.
    """

    name: str = "documents"
    description: str = "Search the user's own documents."
    concurrency_limit: int = 4
    """Number of threads. Searches are CPU-bound, so more threads would not speed them up."""

    _files: FoundFiles = PrivateAttr()
    _snapshot: Snapshot = PrivateAttr()
    _embedder: Embedder | None = PrivateAttr(default=None)

    def __init__(
        self,
        paths: Sequence[str | Path],
        *,
        cache_dir: Path | None = None,
        in_memory: bool = False,
        strict: bool = False,
        embedder: Embedder | None = None,
        passages: PassageSettings = DEFAULT_SETTINGS,
        **fields: Any,
    ) -> None:
        """`cache_dir` contains the indexes. By default, it is the user's cache folder.

        With `in_memory`, nothing is written: all files are read and indexed each time, and passages stay in memory.
        Unreadable files in folders and globs are skipped and listed in `unread`. With `strict`, they are errors.
        """
        super().__init__(**fields)
        places = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
        self._files = find_files(places)
        if strict and self._files.unread:
            raise DataError(self._files.unread[0].why, path=str(self._files.unread[0].path))
        wanted = WantedFiles(self._files.paths, frozenset(self._files.paths) if strict else self._files.named)
        if in_memory:
            self._snapshot = snapshot_in_memory(wanted, passages)
        else:
            cache = cache_dir or user_cache_path("factloop") / "indexes"
            self._snapshot = open_snapshot(places, wanted, cache, passages)
        self._reader = self._snapshot.reader
        if self.n_passages == 0:
            broken = next((file for file in self._snapshot.unread if file.why != NO_TEXT), None)
            if broken is not None:
                raise DataError(f"{broken.why}; no other file contains text", path=str(broken.path))
            raise DataError("the files contain no text", path=", ".join(places))
        self._identity = f"documents {self._snapshot.identity}"
        self._embedder = embedder
        if embedder is not None:
            self._identity += f" reranked by {embedder.name}"

    @property
    def n_files(self) -> int:
        return len(self._files.paths) - len(self._snapshot.unread)

    @property
    def unread(self) -> tuple[UnreadFile, ...]:
        """Files in folders and globs that are broken or not supported, and all files without text."""
        return (*self._snapshot.unread, *self._files.unread)

    @property
    def warnings(self) -> tuple[str, ...]:
        return warnings_of(self.unread)

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        if self.n_passages <= _FEW_PASSAGES and self._embedder is None:
            return self.search(query, limit)
        return await super().asearch(query, limit)

    def _ranked(self, query: str, limit: int) -> list[StoredPassage]:
        ranked = super()._ranked(query, limit)
        if self._embedder is None:
            return ranked
        from factloop.tools.embeddings.nearest import rank_passages  # loads numpy, which BM25 does not need

        order = rank_passages(query, [stored.passage for stored in ranked[:CANDIDATES]], self._embedder)
        return [ranked[index] for index in order] + ranked[CANDIDATES:]

    def _name_of(self, key: str) -> str:
        return str(self._snapshot.path_of[key])

    def _source(self, stored: StoredPassage) -> str:
        file = self._name_of(stored.key)
        return stored.url or (f"{file}#{stored.fragment}" if stored.fragment else file)


def warnings_of(unread: Sequence[UnreadFile]) -> tuple[str, ...]:
    if not unread:
        return ()
    named = "; ".join(map(str, unread[:MOST_NAMED]))
    more = f"; and {len(unread) - MOST_NAMED:,} more" if len(unread) > MOST_NAMED else ""
    return (f"Documents that were not read ({len(unread):,}): {named}{more}.",)
