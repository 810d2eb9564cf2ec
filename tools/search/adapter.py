"""Wraps anything that a user gives as a search into a `SearchTool`."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from factloop.core.errors import ConfigError, FactloopError, ToolError
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.own_code import failure_of_own_code
from factloop.tools.search.retriever import RetrieverSearch, hits_of


def as_search_tool(thing: object) -> SearchTool:
    """The thing itself if it is a `SearchTool`; else a retriever, or a LangChain tool of one string argument, wrapped.

    Raises ConfigError for anything else.
    """
    if isinstance(thing, SearchTool):
        return thing
    if isinstance(thing, BaseRetriever):
        return RetrieverSearch(thing)
    if isinstance(thing, BaseTool):
        return LangChainToolSearch(thing)
    raise ConfigError(
        f"{type(thing).__name__} is not a search: "
        "give a SearchTool, a LangChain retriever or a LangChain tool of one string argument"
    )


class LangChainToolSearch(SearchTool):
    """A LangChain tool that takes one string. Its text is one hit; an artifact of documents is one hit each."""

    tool: BaseTool
    argument: str

    def __init__(self, tool: BaseTool, **fields: Any) -> None:
        argument = _string_argument(tool)
        wrapped: dict[str, Any] = {
            "name": tool.name,
            "description": tool.description,
            "tool": tool,
            "argument": argument,
        }
        super().__init__(**wrapped | fields)

    @property
    def identity(self) -> str:
        kind = type(self.tool)
        return f"tool {kind.__module__}.{kind.__qualname__} {self.tool.name}"

    @property
    def cacheable(self) -> bool:
        """False: whether a user's tool would still answer the same cannot be seen from outside."""
        return False

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        try:
            answer = self.tool.invoke(self._call(query))
        except FactloopError:
            raise
        except Exception as error:  # the tool is the user's code and may raise anything
            raise failure_of_own_code(self.name, "the tool", error) from error
        return self._hits(answer)[:limit]

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        try:
            answer = await self.tool.ainvoke(self._call(query))
        except (FactloopError, asyncio.CancelledError):
            raise
        except Exception as error:  # the tool is the user's code and may raise anything
            raise failure_of_own_code(self.name, "the tool", error) from error
        return self._hits(answer)[:limit]

    def _call(self, query: str) -> dict[str, Any]:
        """A tool call rather than bare arguments: only then does a tool hand over its artifact."""
        return {"name": self.tool.name, "args": {self.argument: query}, "id": "search", "type": "tool_call"}

    def _hits(self, answer: object) -> list[SearchHit]:
        if not isinstance(answer, ToolMessage):
            raise ToolError(f"{self.name}: the tool answered with {type(answer).__name__}, not text", tool=self.name)
        if answer.status == "error":
            raise ToolError(f"{self.name}: the tool reported an error", tool=self.name)
        if isinstance(answer.artifact, list) and all(isinstance(item, Document) for item in answer.artifact):
            return hits_of(answer.artifact, self.name)
        text = str(answer.text).strip()
        return [SearchHit(source=self.name, passage=text)] if text else []


def _string_argument(tool: BaseTool) -> str:
    """Name of the only argument that must be given (or the only one there is). Raises ConfigError unless a string."""
    arguments = tool.args
    required = tool.get_input_jsonschema().get("required", [])
    names = required if len(required) == 1 else list(arguments)
    if len(names) != 1 or arguments[names[0]].get("type") != "string":
        raise ConfigError(f"the tool {tool.name!r} cannot search: it must take exactly one string argument")
    return str(names[0])
