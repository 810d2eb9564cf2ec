"""The base class for search tools, which are LangChain tools that also return typed hits."""

from __future__ import annotations

import asyncio
import contextvars
import os
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any, Literal

from langchain_core.tools import BaseTool
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr

from factloop.core.citations import heading
from factloop.core.errors import ToolError
from factloop.core.records import Record, SourceDocument

REACH_S = 10.0
"""Maximum number of seconds to spend on checking whether a server can be reached."""


Heading = Annotated[str, AfterValidator(lambda text: text[:1_000])]
"""A title, or the headings above a passage. It is kept short, because it precedes each piece of the passage."""


class SearchHit(Record):
    source: str
    title: Heading = ""
    section: Heading | None = None
    """The headings above the start of the passage, outermost first, or None if they are unknown."""
    passage: str
    published: str | None = None
    """The source's date as the search returned it, unparsed."""
    document: SourceDocument | None = None
    pages: tuple[tuple[int, int], ...] = ()
    """The offset in `passage` and the number of each page, if the passage spans several pages of a PDF."""


def textless(name: str) -> ToolError:
    """Returns the error for a search that found only pages without text, which is different from finding nothing."""
    return ToolError(f"{name}: the search found pages, but none of them contains text", tool=name, status=200)


def with_text(name: str, found: Sequence[SearchHit], limit: int) -> list[SearchHit]:
    """Returns at most `limit` hits that have text. Raises ToolError if there are hits but none has text."""
    hits = [hit for hit in found if hit.passage.strip()]
    if found and not hits:
        raise textless(name)
    return hits[:limit]


class SearchInput(BaseModel):
    query: str = Field(description="What to look for, as one would type it into a search box.")


class SearchTool(BaseTool):
    """Base class for search tools. Subclasses implement `search`, which the default `asearch` runs in a thread.

    As a LangChain tool, it takes a `query` and returns numbered passages as its content and the hits as its artifact.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    args_schema: Any = SearchInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    limit: int = 3
    usd_per_query: float | None = None
    """Price of one query in USD. If it is None (unknown), so is the cost of a run."""
    concurrency_limit: int = 64

    _pools: dict[int, ThreadPoolExecutor] = PrivateAttr(default_factory=dict)

    @abstractmethod
    def search(self, query: str, limit: int) -> list[SearchHit]:
        """Returns at most `limit` hits, best first, or an empty list if nothing was found. Raises ToolError."""

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        call = partial(contextvars.copy_context().run, self.search, query, limit)
        return await asyncio.get_running_loop().run_in_executor(self._threads(), call)

    def _threads(self) -> ThreadPoolExecutor:
        """Returns our own pool, because asyncio's is shared and small (six threads on two cores)."""
        process = os.getpid()  # a forked process inherits its parent's pool, but not the threads
        if process not in self._pools:
            self._pools[process] = ThreadPoolExecutor(self.concurrency_limit, thread_name_prefix=self.name)
        return self._pools[process]

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        return {**state, "__pydantic_private__": {**(state["__pydantic_private__"] or {}), "_pools": {}}}

    @property
    @abstractmethod
    def identity(self) -> str:
        """The name in cache keys, without secrets.

        It must change whenever answers may change, so include the hash of an index or the URL of a server.
        """

    @property
    def recorded_as(self) -> str | None:
        """The name in recordings: `identity` without the server's URL, or None for a local, repeatable search."""
        return self.identity

    @property
    def warnings(self) -> tuple[str, ...]:
        return ()

    def reach(self) -> None:
        """Checks, free of charge and within `REACH_S` seconds, that the server answers and accepts the key.

        Raises ToolError or ToolTimeout.
        """
        return

    async def areach(self) -> None:
        if type(self).reach is SearchTool.reach:
            return  # a local tool has no server to reach
        await asyncio.get_running_loop().run_in_executor(self._threads(), self.reach)

    def server_facts(self) -> tuple[str, ...]:
        """Returns facts that the server reports about itself, each in a few words. May send a free request.

        Raises ToolError, ToolTimeout, or ConfigError if the server needs something that is not installed here.
        """
        return ()

    async def aserver_facts(self) -> tuple[str, ...]:
        if type(self).server_facts is SearchTool.server_facts:
            return ()
        return await asyncio.get_running_loop().run_in_executor(self._threads(), self.server_facts)

    @property
    def cacheable(self) -> bool:
        """Whether answers are worth storing. Those of a local index are not, because it is faster than the cache."""
        return True

    @property
    def is_local(self) -> bool:
        """Whether the tool searches within this process, without a server to limit, wait for or retry."""
        return False

    @property
    def own_documents(self) -> bool:
        """Whether the tool searches the user's own documents, free of charge, instead of public sources."""
        return False

    def all_passages(self, most_characters: int) -> list[SearchHit] | None:  # noqa: ARG002 - for subclasses
        """Returns all passages in reading order, or None if they and their headings exceed `most_characters`."""
        return None

    def _run(self, query: str, **_: Any) -> tuple[str, list[SearchHit]]:
        return self._as_message(self.search(query, self.limit))

    async def _arun(self, query: str, **_: Any) -> tuple[str, list[SearchHit]]:
        return self._as_message(await self.asearch(query, self.limit))

    @staticmethod
    def _as_message(hits: list[SearchHit]) -> tuple[str, list[SearchHit]]:
        lines = [
            f"[{rank}] {heading(hit.title or hit.source, hit.section)}\n{hit.passage}"
            for rank, hit in enumerate(hits, 1)
        ]
        return "\n\n".join(lines) or "Nothing was found.", hits
