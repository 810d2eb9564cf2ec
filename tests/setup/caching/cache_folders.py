"""A cache folder with every kind of entry, and files that are not factloop's."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path

from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import CallCache
from factloop.tools.search.documents.search import DocumentSearch

HOUR_S, DAY_S = 3600.0, 86400.0
VECTORS = f"words-{'a' * 32}.npy"
STRANGERS = ("notes.txt", "indexes/notes.txt", "indexes/mine/manifest.json", "vectors/words.npy", "calls.sqlite.bak")


def settings_at(folder: Path, **changes: object) -> RunSettings:
    return RunSettings.of(None, cache_dir=folder, **changes)


def keep_answers(folder: Path, n: int) -> None:
    with closing(CallCache(folder / "calls.sqlite")) as answers:
        for number in range(n):
            answers.put(str(number), "x" * 1000)


def keep_index(folder: Path, name: str) -> Path:
    place = folder.parent / "documents" / name
    place.mkdir(parents=True)
    (place / f"{name}.txt").write_text(f"Something about {name} and nothing else.")
    before = indexes(folder)
    DocumentSearch([place], cache_dir=folder / "indexes")
    (made,) = indexes(folder) - before
    return made


def indexes(folder: Path) -> set[Path]:
    return {path.parent for path in (folder / "indexes").glob("*/manifest.json") if len(path.parent.name) == 32}


def keep_vectors(folder: Path, name: str = VECTORS, n_bytes: int = 1000) -> Path:
    (folder / "vectors").mkdir(parents=True, exist_ok=True)
    path = folder / "vectors" / name
    path.write_bytes(b"x" * n_bytes)
    return path


def last_used(path: Path, ago_s: float) -> None:
    moment = time.time() - ago_s
    use = path.with_suffix(".use")
    os.utime(use if use.exists() else path, (moment, moment))


def put_strangers(folder: Path) -> None:
    for name in STRANGERS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")


def strangers(folder: Path) -> list[str]:
    return [name for name in STRANGERS if (folder / name).read_text() == "mine"]
