"""The cache folder: its location, its file names, and whether it can be used."""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

from factloop.core.errors import ConfigError
from factloop.core.files.private import make_private_folder, narrow
from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import CacheBounds

Part = Literal["indexes", "vectors"]
ANSWERS = "calls.sqlite"
INDEXES: Part = "indexes"
VECTORS: Part = "vectors"
DAY_S = 24 * 3600.0

log = logging.getLogger(__name__)


def cache_place(settings: RunSettings) -> Path:
    """The cache folder, whether or not it exists."""
    if settings.cache_dir is not None:
        return settings.cache_dir
    import platformdirs

    return Path(platformdirs.user_cache_dir("factloop", appauthor=False))


def place_looked_at(settings: RunSettings) -> Path:
    """The cache folder for commands that inspect or clear it. Raises ConfigError if it is not a folder."""
    place = cache_place(settings)
    if place.exists() and not place.is_dir():
        raise ConfigError(f"{place} is not a folder, so it cannot contain the cache; set `cache_dir` to a folder")
    return place


def bounds_of(settings: RunSettings) -> CacheBounds:
    return CacheBounds(max_bytes=settings.cache_mb * 1_000_000, max_age_s=settings.cache_days * DAY_S)


def cache_folder(settings: RunSettings, part: Part | None = None) -> Path | None:
    """Returns None if caching is off or if the folder cannot be used. The latter is logged as a warning."""
    if not settings.cache:
        return None
    try:
        return _usable(settings, part)
    except OSError as error:
        say_unusable(cache_place(settings), error.strerror or str(error))
        return None


def refuse_unusable(settings: RunSettings) -> None:
    """Creates the cache folder, as a run would. Raises ConfigError if it cannot be used."""
    try:
        _usable(settings, None)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot use {cache_place(settings)} as the cache folder ({reason})") from error


def _usable(settings: RunSettings, part: Part | None) -> Path:
    place = cache_place(settings)
    folder = place if part is None else place / part
    make_private_folder(place)
    if settings.cache_dir is None:  # a folder that the user chose may contain other files
        narrow(place)
    if part is not None:
        make_private_folder(folder)
        narrow(folder)
    with TemporaryFile(dir=folder):
        return folder


@cache
def say_unusable(place: Path, reason: str) -> None:
    log.warning("cannot use %s as the cache folder (%s), so answers and indexes are kept in memory", place, reason)
