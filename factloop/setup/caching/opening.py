"""Opens a run's caches and keeps the cache folder within its limits.

Answers may use all of `cache_mb`. Indexes and word vectors get the space that remains, because rebuilding them costs
only time. Files used in the last hour are kept, and so are indexes that a process has open.
"""

from __future__ import annotations

import time
from pathlib import Path

from factloop.core.errors import NoPlaceToKeep
from factloop.setup.caching.contents import database_bytes, things_in
from factloop.setup.caching.folder import ANSWERS, bounds_of, cache_folder, say_unusable
from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import PROTECTED_S, AnswersKept, CacheBounds, CallCache, MemoryAnswers


def open_answers(settings: RunSettings) -> AnswersKept:
    """Opens the answers that runs share, in a file or in memory. Raises ConfigError if the file is damaged."""
    folder = cache_folder(settings)
    if folder is None:
        return MemoryAnswers()
    bounds = bounds_of(settings)
    try:
        answers = CallCache(folder / ANSWERS, bounds)
    except NoPlaceToKeep as error:
        say_unusable(folder, str(error.__cause__))
        return MemoryAnswers()
    remove_excess(folder, bounds)
    return answers


def tidy(settings: RunSettings) -> None:
    """Removes indexes and word vectors that are too old or exceed the limit."""
    folder = cache_folder(settings)
    if folder is not None:
        remove_excess(folder, bounds_of(settings))


def remove_excess(folder: Path, bounds: CacheBounds) -> None:
    """Removes the least recently used indexes and word vectors until the limits are met. Safe to run concurrently."""
    now = time.time()
    things = things_in(folder)
    excess = database_bytes(folder / ANSWERS) + sum(thing.n_bytes for thing in things) - bounds.max_bytes
    for thing in things:
        unused_s = now - thing.used_at
        if unused_s > PROTECTED_S and (excess > 0 or unused_s > bounds.max_age_s) and thing.remove():
            excess -= thing.n_bytes
