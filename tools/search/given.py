"""Searches documents supplied with an answer, using BM25 in memory."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import PrivateAttr

from factloop.core.records import SourceDocument
from factloop.tools.search.adapter import as_search_tool, hits_of, source_document
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.documents.index import PassageReader, StoredPassage, new_index, update_index
from factloop.tools.search.documents.markdown import markdown_blocks
from factloop.tools.search.documents.neighbours import PassageSearch
from factloop.tools.search.documents.sections import Section, first_heading, sections_of
from factloop.tools.search.documents.text import read_front_matter
from factloop.tools.search.handed_over import Documents, documents_of
from factloop.tools.search.passages import DEFAULT_SETTINGS

_IDENTITY = "given documents"


class GivenDocuments(PassageSearch):
    """Searches documents in memory, free of charge and without network access.

    The source, title and date come from a document's metadata, as with a retriever, or from its front matter and first
    heading. A document without a source is named `given_documents#` plus its position. Indexing 100,000 passages takes
    a second.
    """

    name: str = "given_documents"
    description: str = "Search the documents that the answer was written from."

    _documents: tuple[Document, ...] = PrivateAttr()
    _places: list[int] = PrivateAttr()

    def __init__(self, documents: Sequence[Document], **fields: Any) -> None:
        super().__init__(**fields)
        self._keep(documents)
        self._reader = _indexed(hits_of(documents, self.name))
        self._identity = f"{_IDENTITY} {contents_hash(documents)}"

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents as supplied. The `document.index` of a hit is an index into this tuple."""
        return self._documents

    def of_these(self, documents: Sequence[Document]) -> GivenDocuments:
        """Returns this index for documents with the same contents, but with their own ids and other metadata."""
        copy = self.model_copy()
        copy._keep(documents)
        return copy

    def _keep(self, documents: Sequence[Document]) -> None:
        self._documents = tuple(documents)
        self._places = [place for place, one in enumerate(documents) if one.page_content.strip()]

    def __reduce__(self) -> Any:
        return GivenDocuments, (self._documents,)

    def _document(self, stored: StoredPassage) -> SourceDocument | None:
        index = self._places[int(stored.key)]
        return source_document(self._documents[index], index)

    def _name_of(self, key: str) -> str:
        return key  # in the order of the documents

    def _source(self, stored: StoredPassage) -> str:
        return stored.url or stored.key

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        """Searches in the caller's thread, because starting another one would take longer."""
        return self.search(query, limit)


class GivenIndexes:
    """Caches the indexes of recently used sets of documents, so that answers based on the same set share an index."""

    def __init__(self, size: int = 32, characters: int = 50_000_000) -> None:
        self._size, self._characters = size, characters
        self._indexes: OrderedDict[str, GivenDocuments] = OrderedDict()
        self._lock = threading.Lock()

    async def tool_for(self, given: Documents | None) -> SearchTool | None:
        """Returns a search tool for the supplied documents, if there are any. Raises ConfigError or DataError."""
        if isinstance(given, BaseRetriever | VectorStore):
            return as_search_tool(given)
        return await self.of(documents_of("documents", given) or ())

    async def of(self, documents: Sequence[Document]) -> GivenDocuments | None:
        key = contents_hash(documents)
        with self._lock:
            kept = self._indexes.get(key)
        if kept is None:
            kept = await asyncio.to_thread(GivenDocuments, documents)
        with self._lock:
            self._indexes[key] = kept
            self._indexes.move_to_end(key)
            while len(self._indexes) > self._size or (self._length > self._characters and len(self._indexes) > 1):
                self._indexes.popitem(last=False)
        return kept.of_these(documents) if kept.n_passages else None

    @property
    def _length(self) -> int:
        return sum(len(one.page_content) for kept in self._indexes.values() for one in kept.documents)


def without_contents(identity: str) -> str:
    """Returns a search tool's identity, without the hash of the contents if it searches supplied documents."""
    return _IDENTITY if identity.startswith(f"{_IDENTITY} ") else identity


def is_given(identity: str) -> bool:
    return without_contents(identity) == _IDENTITY


def contents_hash(documents: Sequence[Document]) -> str:
    """Returns a hash of the texts, sources, titles and dates, in order, which determine the hits."""
    hits = hits_of(documents, GivenDocuments.model_fields["name"].default)
    shown = "\n".join(hit.model_dump_json(exclude={"document"}) for hit in hits)
    return hashlib.sha256(shown.encode()).hexdigest()[:32]


def _indexed(given: Sequence[SearchHit]) -> PassageReader:
    index = new_index(None)
    n_characters = sum(len(hit.passage) for hit in given)
    update_index(index, remove=(), add=_files(given), n_bytes=n_characters, settings=DEFAULT_SETTINGS)
    return PassageReader(index)


def _files(given: Sequence[SearchHit]) -> Iterator[tuple[str, Iterator[Section]]]:
    return ((f"{place:09}", _sections(hit)) for place, hit in enumerate(given))


def _sections(hit: SearchHit) -> Iterator[Section]:
    front, text = read_front_matter(_without_margin(hit.passage))
    blocks = markdown_blocks(text)
    title = hit.title or front.title or first_heading(blocks)
    return sections_of(blocks, title=title, url=hit.source, published=hit.published or front.published)


def _without_margin(text: str) -> str:
    first, line_end, rest = text.partition("\n")
    begins = first.lstrip(" \t")
    is_flush = begins == first and begins and not begins.startswith("#")
    return text if is_flush else begins + line_end + dedent(rest)
