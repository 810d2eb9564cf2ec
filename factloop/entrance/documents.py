"""Searches the operator's documents without revealing their paths to callers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from factloop.checking.checker import FactChecker
from factloop.core.errors import DataError
from factloop.setup.caching.folder import INDEXES, cache_folder
from factloop.setup.caching.opening import tidy
from factloop.setup.search_tools import build_embedder
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.budget import Budget
from factloop.tools.models.chat import ChatModel
from factloop.tools.search.base import SearchHit
from factloop.tools.search.documents.files import find_files
from factloop.tools.search.documents.search import DocumentSearch, warnings_of
from factloop.trust.settings import TrustSettings

if TYPE_CHECKING:
    from factloop.tools.embeddings.nearest import Embedder

OWN, CORPUS = "documents", "corpus"
"""How evidence names the server's own documents for checks and for TrustScores."""


class RegisteredDocuments(DocumentSearch):
    """The operator's documents. Evidence shows `NAME/file` instead of a path."""

    description: str = "Search the documents."
    title: str

    _places: tuple[str, ...] = PrivateAttr()

    def __init__(self, title: str, paths: Sequence[str], **options: Any) -> None:
        super().__init__(paths, title=title, **options)
        folders = (_folder_of(path) for path in paths)
        self._places = tuple(sorted(set(folders), key=len, reverse=True))

    @property
    def warnings(self) -> tuple[str, ...]:
        return warnings_of([replace(file, path=Path(self._shown(str(file.path)))) for file in self.unread])

    def search(self, query: str, limit: int) -> list[SearchHit]:
        return [self._hidden(hit) for hit in super().search(query, limit)]

    def all_passages(self, most_characters: int) -> list[SearchHit] | None:
        found = super().all_passages(most_characters)
        return None if found is None else [self._hidden(hit) for hit in found]

    def _hidden(self, hit: SearchHit) -> SearchHit:
        if hit.source.startswith(("http://", "https://")):
            return hit
        return hit.model_copy(update={"source": self._shown(hit.source)})

    def _shown(self, path: str) -> str:
        place = next((place for place in self._places if path.startswith(place)), None)
        return f"{self.title}/{Path(path).name if place is None else path[len(place) :]}"


def open_documents(name: str, paths: Sequence[str], settings: CheckSettings) -> RegisteredDocuments:
    """Reads and indexes documents. Blocks the event loop. Raises ConfigError, DataError."""
    return _opened(name, paths, settings, embedder=build_embedder(settings))


def hiding_checker(
    model: ChatModel | None = None, *, settings: CheckSettings, budget: Budget | None = None
) -> FactChecker:
    """A checker that hides its documents' paths. Reading them blocks the event loop. Raises ConfigError, DataError."""
    own = (open_documents(OWN, settings.docs, settings),) if settings.docs else ()
    return FactChecker(
        model, search=(*settings.search, *own), settings=settings.model_copy(update={"docs": ()}), budget=budget
    )


def open_corpus(settings: TrustSettings) -> RegisteredDocuments | None:
    """Reads and indexes the corpus, if one is set. Blocks the event loop. Raises ConfigError, DataError."""
    return _opened(CORPUS, settings.corpus, settings) if settings.corpus else None


def _opened(
    name: str, paths: Sequence[str], settings: CheckSettings | TrustSettings, embedder: Embedder | None = None
) -> RegisteredDocuments:
    folder = cache_folder(settings, INDEXES)
    found = RegisteredDocuments(
        name, paths, cache_dir=folder, in_memory=folder is None, strict=settings.fail_if_unreadable, embedder=embedder
    )
    tidy(settings)
    return found


def state_of(place: str) -> Hashable:
    """Changes whenever a file at this path or glob changes. None if no file exists."""
    with suppress(DataError, OSError):
        found = ((path, path.stat()) for path in find_files([place]).paths)
        return tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in found)
    return None


def _folder_of(path: str) -> str:
    place = Path(path)
    if place.is_dir():
        return f"{place.as_posix().rstrip('/')}/"
    fixed = [part for part in place.parts if not set(part) & set("*?[")]
    parent = Path(*fixed) if len(fixed) < len(place.parts) else place.parent
    return f"{parent.as_posix().rstrip('/')}/"
