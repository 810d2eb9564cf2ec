"""Any LangChain retriever as a search tool."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from factloop.core.errors import FactloopError
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.own_code import failure_of_own_code

_SOURCE_KEYS = ("url", "source", "link", "id")
_TITLE_KEYS = ("title", "name")
_DATE_KEYS = ("date", "published", "published_at")


class RetrieverSearch(SearchTool):
    """Hits from a retriever; source, title and date come from the metadata of its documents.

    What the retriever raises becomes a ToolError with its message, which is not retried: the retriever has its own
    policy.
    """

    name: str = "retriever"
    description: str = "Search the user's own collection."
    retriever: BaseRetriever

    def __init__(self, retriever: BaseRetriever, **fields: Any) -> None:
        super().__init__(**{"retriever": retriever, **fields})

    @property
    def identity(self) -> str:
        """The kind of retriever and its name: what it would answer cannot be seen from outside."""
        kind = type(self.retriever)
        return f"retriever {kind.__module__}.{kind.__qualname__} {self.retriever.get_name()}"

    @property
    def cacheable(self) -> bool:
        """False: two retrievers of one kind look alike, and their collections change unseen."""
        return False

    @property
    def own_documents(self) -> bool:
        return True

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        try:
            return hits_of(self.retriever.invoke(query), self.name)[:limit]
        except FactloopError:
            raise
        except Exception as error:  # a retriever is the user's code and may raise anything
            raise failure_of_own_code(self.name, "the retriever", error) from error

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        if type(self.retriever)._aget_relevant_documents is BaseRetriever._aget_relevant_documents:
            return await super().asearch(query, limit)  # no async path: threads of our own, not asyncio's few
        try:
            return hits_of(await self.retriever.ainvoke(query), self.name)[:limit]
        except (FactloopError, asyncio.CancelledError):
            raise
        except Exception as error:  # a retriever is the user's code and may raise anything
            raise failure_of_own_code(self.name, "the retriever", error) from error


def hits_of(documents: Iterable[Document], fallback_source: str) -> list[SearchHit]:
    """The hits, one for each document that holds text. A document without a source is named after tool and place."""
    return [
        SearchHit(
            source=_first(document.metadata, _SOURCE_KEYS) or document.id or f"{fallback_source}#{place}",
            title=_first(document.metadata, _TITLE_KEYS) or "",
            passage=document.page_content,
            published=_first(document.metadata, _DATE_KEYS),
        )
        for place, document in enumerate(documents, 1)
        if document.page_content.strip()
    ]


def _first(metadata: dict[str, Any], keys: Iterable[str]) -> str | None:
    return next((str(metadata[key]) for key in keys if metadata.get(key) not in (None, "")), None)
