"""The base of search tools: a LangChain tool that also answers with typed hits."""

from __future__ import annotations

import asyncio
import contextvars
import os
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from factloop.core.citations import heading
from factloop.core.errors import ToolError
from factloop.core.records import Record, SourceDocument

REACH_S = 10.0
"""Seconds to wait for a server that has not been asked anything yet."""


class SearchHit(Record):
    """One passage that a search found, best first in the list it comes in."""

    source: str
    """URL, or the path of a document."""
    title: str = ""
    section: str | None = None
    """The headings of the source that the passage begins under, outermost first; None where they are not known."""
    passage: str
    published: str | None = None
    """Date of the source as the search gave it, unparsed."""
    document: SourceDocument | None = None
    """What a retriever or the caller says of the document."""


def textless(name: str) -> ToolError:
    """The failure of a search that found pages and shows no text of any: that is not "found nothing"."""
    return ToolError(f"{name}: found pages, but none has a text", tool=name, status=200)


def with_text(name: str, found: Sequence[SearchHit], limit: int) -> list[SearchHit]:
    """At most `limit` hits, without those that have no text. Raises ToolError where none has any."""
    hits = [hit for hit in found if hit.passage.strip()]
    if found and not hits:
        raise textless(name)
    return hits[:limit]


class SearchInput(BaseModel):
    query: str = Field(description="What to look for, as one would type it into a search box.")


class SearchTool(BaseTool):
    """Base of all search tools. Implement `search`; `asearch` runs it in a thread unless it is overridden.

    As a LangChain tool it takes `query` and returns numbered passages as content and the hits as artifact.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    args_schema: Any = SearchInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    limit: int = 3
    """Hits returned when it is called as a LangChain tool."""
    usd_per_query: float | None = None
    """Price of one query; None where it is unknown, and then the cost of a run is, too."""
    concurrency_limit: int = 64
    """Calls that may be in flight at once: a bound on threads, or on the load put on one server."""

    _pools: dict[int, ThreadPoolExecutor] = PrivateAttr(default_factory=dict)

    @abstractmethod
    def search(self, query: str, limit: int) -> list[SearchHit]:
        """At most `limit` hits, best first; an empty list where nothing was found. Raises ToolError."""

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        call = partial(contextvars.copy_context().run, self.search, query, limit)
        return await asyncio.get_running_loop().run_in_executor(self._threads(), call)

    def _threads(self) -> ThreadPoolExecutor:
        """Threads of this tool's own: asyncio's default pool has six on two cores, and is shared with everything."""
        process = os.getpid()  # a fork has the pool of its parent, and none of the threads
        if process not in self._pools:
            self._pools[process] = ThreadPoolExecutor(self.concurrency_limit, thread_name_prefix=self.name)
        return self._pools[process]

    def __getstate__(self) -> dict[Any, Any]:
        """Without its threads, which stay in their process."""
        state = super().__getstate__()
        return {**state, "__pydantic_private__": {**(state["__pydantic_private__"] or {}), "_pools": {}}}

    @property
    @abstractmethod
    def identity(self) -> str:
        """Names what would answer: enters cache keys, so it changes when answers may (index hash, URL); no secrets."""

    @property
    def recorded_as(self) -> str | None:
        """Names it in recordings: as `identity`, but wherever its server is; None for what is local and repeatable."""
        return self.identity

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of a report must know of what it searched, a sentence each."""
        return ()

    def reach(self) -> None:
        """Sees, without asking anything that costs, that the tool's server answers and takes its key, if it has one.

        Takes `REACH_S` at most. Raises ToolError, ToolTimeout.
        """
        return

    async def areach(self) -> None:
        if type(self).reach is SearchTool.reach:
            return  # a local tool has no server to reach
        await asyncio.get_running_loop().run_in_executor(self._threads(), self.reach)

    def server_facts(self) -> tuple[str, ...]:
        """What its server says of itself that matters to a search, a few words each. May ask it; costs nothing.

        Raises ToolError, ToolTimeout, and ConfigError where the server needs what is not installed here.
        """
        return ()

    async def aserver_facts(self) -> tuple[str, ...]:
        if type(self).server_facts is SearchTool.server_facts:
            return ()
        return await asyncio.get_running_loop().run_in_executor(self._threads(), self.server_facts)

    @property
    def cacheable(self) -> bool:
        """Whether answers are worth keeping: False for a local index, which is faster than the cache."""
        return True

    @property
    def is_local(self) -> bool:
        """Whether it searches within this process: there is no server to pace, to wait for or to ask again."""
        return False

    @property
    def own_documents(self) -> bool:
        """Whether it searches what the user gave, at no price, rather than the world."""
        return False

    def all_passages(self, most_characters: int) -> list[SearchHit] | None:  # noqa: ARG002 - of a tool that knows them
        """All there is to find, each passage once, in reading order; None where it has more than so many characters,
        titles and headings included."""
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
