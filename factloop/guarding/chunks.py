"""The pieces that a stream arrives in, and the way between streams that are asynchronous and those that are not."""

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
    """The text of a piece: a text itself, or that of a message, which has none where a tool is called."""
    if isinstance(chunk, str):
        return chunk
    if isinstance(chunk, BaseMessage):
        return str(chunk.text)
    raise DataError(f"the stream: texts or messages are needed, not {type(chunk).__name__}")


class WholeCharacters:
    """Joins the halves of a character (a surrogate pair), which may come in two pieces. A half alone stays a half."""

    def __init__(self) -> None:
        self._first_half = ""

    def feed(self, text: str) -> str:
        """The text with halves joined, but for a first half at its end, which waits for the next piece."""
        text = self._first_half + text
        self._first_half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return text.removesuffix(self._first_half).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def end(self) -> str:
        """The half that still waited, if there is one."""
        return self._first_half


@asynccontextmanager
async def closed_after(chunks: AsyncIterable[object]) -> AsyncIterator[None]:
    """Closes the stream at the end, where it can be closed: by the task that reads it, as some insist on."""
    try:
        yield
    finally:
        if (aclose := getattr(chunks, "aclose", None)) is not None:
            await aclose()


async def in_thread(items: Iterable[T]) -> AsyncGenerator[T, None]:
    """The items, each waited for in another thread."""
    iterator, end = iter(items), object()
    try:
        while (item := await asyncio.to_thread(next, iterator, end)) is not end:
            yield item  # type: ignore[misc]  # it is not the end
    finally:
        if (close := getattr(iterator, "close", None)) is not None:
            with suppress(ValueError):  # a thread still waits for its next item, and ends it with that
                await asyncio.to_thread(close)


def pulled(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """The items, each made when it is asked for; the generator is closed with this one."""
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
