"""Makes a `SearchTool` from any kind of search that users supply."""

from __future__ import annotations

import inspect
import logging
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
from pydantic_core import from_json, to_json

from factloop.core.errors import ConfigError, DataError, FactloopError, ToolError
from factloop.core.records import SourceDocument, whole
from factloop.core.sync import run_blocking
from factloop.tools.calls.scrubbing import HIDDEN, scrubbed, secrets_in
from factloop.tools.models.failures import LONGEST_SAID, one_line, without_keys
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.handed_over import Retrieve, documents_of

log = logging.getLogger(__name__)

_QUERY = re.compile(r"(?<=[\w/])\?[^\s\"'<>()\\?=]*=[^\s\"'<>()\\]*")
_NAMED = re.compile(
    r"""((?:key|token|password|passwd|passphrase|pwd|secret|credential|authorization)s?   # the end of the name
        \\*["']?[ \t]*(?::(?!//)|=(?!=))[ \t]*)                                           # ":" or "="
        (?:b?\\*"[^"\n]*"?|b?\\*'[^'\n]*'?|(?:(?:Bearer|Basic|Token)[ ])?[^\s"',;&(){}\[\]\\]+)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Matches `password=…`, `x-api-key: …`, `{'api_key': '…'}`, even if the text is cut off before the second quote."""


@contextmanager
def _own_code(name: str, what: str) -> Iterator[None]:
    try:
        yield
    except FactloopError:
        raise
    except Exception as error:
        raise failure_of_own_code(name, what, error) from error


def failure_of_own_code(name: str, what: str, error: Exception) -> ToolError:
    """Returns a ToolError with the type and message of the error, and logs it, with its traceback at level DEBUG.

    Leaves out URL query strings, secrets in the request or environment, and values named like a key, token or password.
    """
    said = _without_secrets(one_line(error), error)[:LONGEST_SAID]
    kind = type(error).__name__
    message = f"{name}: {what} failed ({kind if said in ('', kind) else f'{kind}: {said}'})"
    log.warning("%s", message)
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s", _without_secrets("".join(traceback.format_exception(error)).rstrip(), error))
    return ToolError(message, tool=name)


def _without_secrets(text: str, error: Exception) -> str:
    seen: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in seen:
        seen.append(each)
        if isinstance(each, Exception):
            text = without_keys(text, each)
        each = each.__cause__ or each.__context__
    text = scrubbed(text, secrets_in(os.environ))
    return _NAMED.sub(rf"\1{HIDDEN}", _QUERY.sub(f"?{HIDDEN}", text))


_SOURCE_KEYS = ("url", "source", "link", "id")
_TITLE_KEYS = ("title", "name")
_DATE_KEYS = ("date", "published", "published_at")


class RetrieverSearch(SearchTool):
    """Searches with a retriever or a function that takes a query. Takes source, title and date from the metadata.

    If the retriever fails, raises a ToolError with the same message and does not retry.
    """

    name: str = "retriever"
    description: str = "Search the user's own collection."
    retriever: BaseRetriever | Retrieve

    def __init__(self, retriever: BaseRetriever | Retrieve, **fields: Any) -> None:
        super().__init__(**{"retriever": retriever, **fields})

    @property
    def identity(self) -> str:
        """The type and name of the retriever, because its collection cannot be seen from outside."""
        kind = type(self.retriever)
        if not isinstance(self.retriever, BaseRetriever):
            named = self.retriever if hasattr(self.retriever, "__qualname__") else kind
            return f"function {named.__module__}.{named.__qualname__}"
        return f"retriever {kind.__module__}.{kind.__qualname__} {self.retriever.get_name()}"

    @property
    def cacheable(self) -> bool:
        """Returns False, because retrievers of the same type look alike, and their collections may change unnoticed."""
        return False

    @property
    def own_documents(self) -> bool:
        return True

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        with _own_code(self.name, "the retriever"):
            if isinstance(self.retriever, BaseRetriever):
                return self._hits(self.retriever.invoke(query, **self._asking_for(limit)), limit)
            found = self.retriever(query)
            return self._hits(run_blocking(found) if inspect.iscoroutine(found) else found, limit)

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        if isinstance(self.retriever, BaseRetriever):
            has_async = type(self.retriever)._aget_relevant_documents is not BaseRetriever._aget_relevant_documents
            ask: Callable[[str], Any] = partial(self.retriever.ainvoke, **self._asking_for(limit))
        else:
            ask = self.retriever
            has_async = inspect.iscoroutinefunction(ask) or inspect.iscoroutinefunction(type(ask).__call__)
        if not has_async:
            return await super().asearch(query, limit)  # runs in our own threads, because asyncio has few
        with _own_code(self.name, "the retriever"):
            return self._hits(await ask(query), limit)

    def _asking_for(self, limit: int) -> dict[str, Any]:
        is_open = isinstance(self.retriever, VectorStoreRetriever) and "k" not in self.retriever.search_kwargs
        return {"k": limit} if is_open else {}

    def _hits(self, found: object, limit: int) -> list[SearchHit]:
        try:
            documents = documents_of("result", found, found=True)
        except DataError as error:
            raise ToolError(f"{self.name}: {error}", tool=self.name) from error
        if documents is None:
            raise ToolError(f"{self.name}: the retriever returned None, not a list of documents", tool=self.name)
        return hits_of(documents, self.name)[:limit]


def hits_of(documents: Iterable[Document], fallback_source: str) -> list[SearchHit]:
    """Returns a hit for each document with text. Documents without a source are named after the tool and numbered."""
    return [
        SearchHit(
            source=_first(document.metadata, _SOURCE_KEYS) or document.id or f"{fallback_source}#{place}",
            title=_first(document.metadata, _TITLE_KEYS) or "",
            passage=document.page_content,
            published=_first(document.metadata, _DATE_KEYS),
            document=source_document(document),
        )
        for place, document in enumerate(documents, 1)
        if document.page_content.strip()
    ]


MOST_METADATA = 1_000


def source_document(document: Document, index: int | None = None) -> SourceDocument | None:
    said = {name: _as_json(value) for name, value in document.metadata.items()}
    metadata = {name: from_json(value) for name, value in said.items() if len(value) <= MOST_METADATA}
    if index is None and document.id is None and not metadata:
        return None
    return SourceDocument(index=index, id=document.id, metadata=metadata)


def _as_json(value: object) -> bytes:
    try:
        return to_json(value, inf_nan_mode="null", fallback=lambda one: getattr(one, "tolist", lambda: str(one))())
    except ValueError:  # a lone surrogate
        return to_json(whole(str(value)))


def _first(metadata: dict[str, Any], keys: Iterable[str]) -> str | None:
    return next((str(metadata[key]) for key in keys if metadata.get(key) not in (None, "")), None)


def as_search_tool(thing: object) -> SearchTool:
    """Wraps a retriever, a vector store, a LangChain tool with one string argument, or a function that takes a query.

    Returns a `SearchTool` unchanged. Raises ConfigError for anything else.
    """
    if isinstance(thing, SearchTool):
        return thing
    if isinstance(thing, BaseRetriever):
        return RetrieverSearch(thing)
    if isinstance(thing, VectorStore):
        return RetrieverSearch(thing.as_retriever())
    if isinstance(thing, BaseTool):
        return LangChainToolSearch(thing)
    if callable(thing) and not isinstance(thing, type):
        return RetrieverSearch(thing)
    raise ConfigError(
        f"cannot search with an object of type {type(thing).__name__}; pass a SearchTool, a LangChain retriever, "
        "a vector store, a LangChain tool with one string argument, or a function that takes a query"
    )


class LangChainToolSearch(SearchTool):
    """Wraps a LangChain tool that takes one string. The documents in its artifact are the hits, or else its text."""

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
        """Returns False, because a user's tool may return different hits for the same query."""
        return False

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        with _own_code(self.name, "the tool"):
            answer = self.tool.invoke(self._call(query))
        return self._hits(answer)[:limit]

    async def asearch(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        with _own_code(self.name, "the tool"):
            answer = await self.tool.ainvoke(self._call(query))
        return self._hits(answer)[:limit]

    def _call(self, query: str) -> dict[str, Any]:
        """Returns a tool call, because the tool returns its artifact only for tool calls."""
        return {"name": self.tool.name, "args": {self.argument: query}, "id": "search", "type": "tool_call"}

    def _hits(self, answer: object) -> list[SearchHit]:
        if not isinstance(answer, ToolMessage):
            raise ToolError(f"{self.name}: the tool returned {type(answer).__name__}, not text", tool=self.name)
        if answer.status == "error":
            raise ToolError(f"{self.name}: the tool reported an error", tool=self.name)
        if isinstance(answer.artifact, list) and all(isinstance(item, Document) for item in answer.artifact):
            return hits_of(answer.artifact, self.name)
        text = str(answer.text).strip()
        return [SearchHit(source=self.name, passage=text)] if text else []


def _string_argument(tool: BaseTool) -> str:
    arguments = tool.args
    required = tool.get_input_jsonschema().get("required", [])
    names = required if len(required) == 1 else list(arguments)
    if len(names) != 1 or arguments[names[0]].get("type") != "string":
        raise ConfigError(f"cannot search with the tool {tool.name!r}: it must take exactly one string argument")
    return str(names[0])
