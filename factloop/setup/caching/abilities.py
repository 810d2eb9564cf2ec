"""Keeps what was learnt of models' servers for some days, in one small file of the cache folder."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from factloop.core.errors import ConfigError
from factloop.core.files.json import write_atomically
from factloop.setup.caching.folder import ABILITIES, DAY_S, cache_folder
from factloop.setup.settings import RunSettings
from factloop.tools.models.abilities import Abilities, KnownAbilities
from factloop.tools.models.chat import ChatModel

KEPT_S = 7 * DAY_S
"""A server may be set up anew; after so long it is tried in every mode again."""

log = logging.getLogger(__name__)


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    known: KnownAbilities
    learnt_at: float
    """Seconds since the epoch, of the first thing that was learnt."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    servers: dict[str, _Entry] = {}


def abilities_of(settings: RunSettings, chat: ChatModel) -> Abilities:
    """The abilities of a model's server, with what earlier runs learnt; what this one learns is kept.

    Nothing is kept of models that a user built, nor where the settings want no cache or replay a recording.
    """
    folder = cache_folder(settings) if chat.persistent and settings.recording is None else None
    if folder is None:
        return Abilities()
    path, server = folder / ABILITIES, json.dumps([chat.identity.get("base_url"), chat.name])
    entry = _thread().submit(_read, path).result().servers.get(server)  # after what is being written
    known = entry.known if entry is not None else KnownAbilities()
    if known.gives_logprobs:  # it took the field once; whether it does is seen again at no cost
        known = known.model_copy(update={"gives_logprobs": None})
    return Abilities(known, lambda learnt: _aside(partial(_keep, path, server, learnt)))


def _thread() -> ThreadPoolExecutor:
    """The thread that reads and writes the file, one after the other; it ends its work before the process ends."""
    return _thread_of(os.getpid())


@cache
def _thread_of(process: int) -> ThreadPoolExecutor:  # noqa: ARG001 - a fork has its parent's pool, and not its thread
    return ThreadPoolExecutor(1, thread_name_prefix="factloop-abilities")


def _aside(work: Callable[[], None]) -> None:
    """Does the work; from within an event loop without waiting for it, so that the disk does not hold it up."""
    done = _thread().submit(work)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        done.result()


def _read(path: Path) -> _File:
    """What is kept and not too old. A file that cannot be read is as good as none: it costs a few requests."""
    try:
        kept = _File.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError):
        return _File()
    oldest = time.time() - KEPT_S
    return _File(servers={name: entry for name, entry in kept.servers.items() if entry.learnt_at > oldest})


def _keep(path: Path, server: str, known: KnownAbilities) -> None:
    kept = _read(path).servers  # read anew, since other processes learn of other servers
    before = kept.get(server)
    entry = _Entry(known=known, learnt_at=before.learnt_at if before is not None else time.time())
    try:
        write_atomically(path, _File(servers={**kept, server: entry}).model_dump_json(), private=True)
    except ConfigError as error:
        log.warning("%s: what servers can do is found out anew each time", error)
