"""Reads a stream's chunks and converts between synchronous and asynchronous streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from langchain_core.messages import BaseMessage

from factloop.core.errors import DataError
from factloop.core.sync import run_blocking

T = TypeVar("T")


def text_of(chunk: object) -> str:
    """Returns the text of a string or message (empty for a tool call). Raises DataError for anything else."""
    if isinstance(chunk, str):
        return chunk
    if isinstance(chunk, BaseMessage):
        return str(chunk.text)
    raise DataError(f"the stream must yield strings or messages, not {type(chunk).__name__}")


class ChunkTexts:
    """Reads the texts of chunks. Text after a tool call starts a paragraph, because it belongs to another message.
    Surrogate pairs that are split across two chunks are joined. Lone surrogates stay as they are."""

    def __init__(self) -> None:
        self._first_half, self._break, self._is_begun = "", "", False

    def feed(self, chunk: object) -> str:
        """Returns the text. If it ends with the first half of a pair, that half is kept for the next chunk."""
        if text := text_of(chunk):
            text, self._break, self._is_begun = f"{self._break}{text}", "", True
        if self._is_begun and (getattr(chunk, "tool_calls", False) or getattr(chunk, "tool_call_chunks", False)):
            self._break = "\n\n"
        text = self._first_half + text
        self._first_half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return text.removesuffix(self._first_half).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def end(self) -> str:
        """Returns the first half of a pair if the second half never arrived, or else an empty string."""
        return self._first_half


@asynccontextmanager
async def closed_after(chunks: AsyncIterable[object]) -> AsyncIterator[None]:
    """Closes the stream on exit, in the same task, if it has `aclose`."""
    try:
        yield
    finally:
        if (aclose := getattr(chunks, "aclose", None)) is not None:
            await aclose()


async def in_thread(items: Iterable[T]) -> AsyncGenerator[T, None]:
    """Iterates in another thread, to keep the event loop free."""
    iterator, end = iter(items), object()
    try:
        while (item := await asyncio.to_thread(next, iterator, end)) is not end:
            yield item  # type: ignore[misc]  # it is not the end
    finally:
        if (close := getattr(iterator, "close", None)) is not None:
            with suppress(ValueError):  # raised if a thread is still waiting for the next item, which will be the last
                await asyncio.to_thread(close)


def pulled(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Runs an asynchronous generator synchronously, producing each item on demand. Closing it also closes `items`."""
    end = object()

    async def following() -> T | object:
        return await anext(items, end)

    async def close() -> None:
        await items.aclose()

    try:
        while (item := run_blocking(following())) is not end:
            yield item  # type: ignore[misc]  # it is not the end
    finally:
        run_blocking(close())
