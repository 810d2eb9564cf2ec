"""The documents that a request is held against: those in it, or those that the operator registered by name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from factloop.entrance.documents import RegisteredDocuments, open_documents
from factloop.service.errors import RequestRefusal
from factloop.service.shapes import Documents, DocumentsInfo
from factloop.setup.settings import CheckSettings
from factloop.tools.search.base import SearchTool
from factloop.tools.search.given import GivenIndexes


class Library:
    """The documents that the operator registered, and the indexes of those given last."""

    def __init__(self, registered: Mapping[str, RegisteredDocuments]) -> None:
        self.registered = registered
        self._indexes = GivenIndexes()

    @property
    def info(self) -> tuple[DocumentsInfo, ...]:
        return tuple(
            DocumentsInfo(name=name, title=name.replace("_", " ").replace("-", " "), n_files=tool.n_files)
            for name, tool in self.registered.items()
        )

    def refuse_unknown(self, documents: Documents | None) -> None:
        """Raises RequestRefusal for a name that no documents have."""
        if isinstance(documents, str) and documents not in self.registered:
            known = ", ".join(self.registered) or "none"
            raise RequestRefusal(
                422, "invalid_input", f"no documents of this name; there are: {known}", field="documents"
            )

    async def tool(self, documents: Documents) -> SearchTool | None:
        """The tool that searches them; None if given documents hold no text."""
        if isinstance(documents, str):
            return self.registered[documents]
        return await self._indexes.of([one.as_document() for one in documents])


async def open_library(documents: Mapping[str, Sequence[str]], settings: CheckSettings) -> Library:
    """Reads and indexes the registered documents, in a thread. Raises ConfigError, DataError."""
    return Library(
        {name: await asyncio.to_thread(open_documents, name, paths, settings) for name, paths in documents.items()}
    )
