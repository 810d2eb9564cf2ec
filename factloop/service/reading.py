"""Reads callers' files, each in its own process, because a file may be slow to read or malicious."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.responses import Response
from pydantic import ValidationError

from factloop.core.errors import ConfigError
from factloop.entrance.asks import LONGEST_DOCUMENT, MOST_DOCUMENTS, GivenDocument
from factloop.service.errors import RequestRefusal, stopping, unavailable
from factloop.service.limited import MOST_MEMORY, OUT_OF_MEMORY
from factloop.service.places import Places
from factloop.service.shapes import FileAsk, FileText

MOST_AT_ONCE = 4  # maximum number of files that are read concurrently; further ones wait
MOST_WAITING = 4  # maximum number of files per owner that are being read or waiting; all are in memory
LONGEST_S = 60  # maximum time to read a file, in seconds
_TOO_LARGE = f"the process needed more than {MOST_MEMORY / 1e9:g} GB of memory"
_KILLED = {OUT_OF_MEMORY: _TOO_LARGE, -9: "the process was killed, perhaps because the machine ran out of memory"}
_UNSAFE_IN_NAMES = re.compile(r"[^\w. -]|^\W+")
_LONGEST_NAME = 200  # in bytes; file systems allow 255

log = logging.getLogger(__name__)


async def output_of(longest_s: int, *arguments: str) -> bytes | None:
    """The output of `python -m ARGUMENTS`, or None after logging a failure. Cancelling kills the process.

    Raises TimeoutError after `longest_s` seconds, and MemoryError if the process ran out of memory or was killed."""
    limited = ("factloop.service.limited", str(longest_s), *arguments)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", *limited),  # -P: do not import modules from the working directory
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,  # an interrupt of the service must not reach this process
    )
    try:
        async with asyncio.timeout(longest_s):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return output
    if process.returncode in _KILLED:
        raise MemoryError(_KILLED[process.returncode])
    said = errors.decode(errors="replace").strip().splitlines()
    log.warning("%s ended with %d: %s", arguments[0], process.returncode, said[-1] if said else "no output")
    return None


async def read_file(most_bytes: int, ask: FileAsk) -> Response:
    """Returns a `FileText`. Raises ConfigError, or RequestRefusal (without the temporary path) if the file cannot be
    read or its text exceeds `most_bytes`, so that no request could contain it."""
    with TemporaryDirectory() as folder:
        name = _UNSAFE_IN_NAMES.sub("_", ask.name).encode()[-_LONGEST_NAME:].decode(errors="ignore")
        place = Path(folder, name)
        await asyncio.to_thread(place.write_bytes, ask.content)
        most = map(str, (MOST_DOCUMENTS, LONGEST_DOCUMENT, most_bytes))
        try:
            output = await output_of(LONGEST_S, "factloop.service.file_parts", str(place), *most)
        except TimeoutError:
            raise _unreadable(ask, "reading the file took too long; split the file") from None
        except MemoryError as error:
            raise _unreadable(ask, f"cannot be read: {error}; split the file") from None
    if output is None:
        raise _unreadable(ask, "cannot be read")
    return await asyncio.to_thread(_text_of, ask, output)


def _text_of(ask: FileAsk, output: bytes) -> Response:
    found: dict[str, Any] = json.loads(output)
    if "why" in found:
        raise _unreadable(ask, found["why"])
    if "not_set_up" in found:
        raise ConfigError(found["not_set_up"])
    try:
        text = FileText(documents=tuple(GivenDocument(source=ask.name, **part) for part in found["parts"]))
    except ValidationError as error:
        raise _unreadable(ask, f"one part is not a valid document: {error.errors()[0]['msg']}") from error
    return Response(text.model_dump_json(), media_type="application/json")


def _unreadable(ask: FileAsk, why: str) -> RequestRefusal:
    return RequestRefusal(422, "unreadable_file", f"{ask.name}: {why}")


class FileReader:
    """Reads a few files concurrently, but only one per owner. Bound to one event loop."""

    def __init__(self, places: Places, read: Callable[[FileAsk], Awaitable[Response]]) -> None:
        self._answers, self._read = places, read
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        self._n_of: Counter[str] = Counter()
        self._under_way: set[asyncio.Task[Response]] = set()

    async def read(self, ask: FileAsk, owner: str) -> Response:
        """Raises RequestRefusal if the file cannot be read, the owner has too many waiting, or the service stops."""
        if self._n_of[owner] >= MOST_WAITING:
            raise unavailable("busy", f"{MOST_WAITING} of your files are being read or waiting; try again later")
        self._n_of[owner] += 1
        task = asyncio.create_task(self._answers.unsent(owner, partial(self._in_turn, ask), "file"))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        task.add_done_callback(lambda _: self._n_of.subtract([owner]))
        try:
            return await task
        except asyncio.CancelledError:
            raise stopping() from None

    def stop(self) -> None:
        """Stops reading all files, including those that are waiting."""
        if self._under_way:
            log.warning("files not read completely: %d; send them again", len(self._under_way))
        for task in self._under_way:
            task.cancel()

    async def _in_turn(self, ask: FileAsk) -> Response:
        async with self._places:
            return await self._read(ask)
