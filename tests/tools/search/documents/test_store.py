from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from factloop.tools.search.documents.search import DocumentSearch


def found(docs: Path, query: str) -> list[str]:
    search = DocumentSearch([docs], cache_dir=docs.parent / "cache")
    return [Path(hit.source).name for hit in search.search(query, 10)]


def manifest_path(docs: Path) -> Path:
    (path,) = (docs.parent / "cache").glob("*/manifest.json")
    return path


@pytest.mark.parametrize("damage", ["empty", "garbage", "half", "gone"])
def test_a_damaged_index_is_built_anew(docs: Path, damage: str) -> None:
    expected = found(docs, "about")
    suffixes = sorted({path.suffix for path in manifest_path(docs).parent.iterdir() if path.name[0] != "."})
    assert len(suffixes) > 5
    for suffix in suffixes:
        path = next(path for path in manifest_path(docs).parent.glob(f"*{suffix}") if path.name[0] != ".")
        content = path.read_bytes()
        match damage:
            case "empty":
                path.write_bytes(b"")
            case "garbage":
                path.write_bytes(os.urandom(len(content)))
            case "half":
                path.write_bytes(content[: len(content) // 2])
            case "gone":
                path.unlink()
        assert found(docs, "about") == expected, path.name


def _found_into(queue: multiprocessing.Queue[list[str]], docs: Path) -> None:
    queue.put(found(docs, "about"))


@pytest.mark.process
def test_many_processes_at_once(docs: Path) -> None:
    context = multiprocessing.get_context("spawn")
    queue: multiprocessing.Queue[list[str]] = context.Queue()
    workers = [context.Process(target=_found_into, args=(queue, docs)) for _ in range(3)]
    for worker in workers:
        worker.start()
    answers = [queue.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert answers == [["ada.txt", "curie.txt", "turing.txt"]] * 3


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder where not even the superuser may write")
def test_a_cache_that_cannot_be_written_is_done_without(docs: Path, caplog: pytest.LogCaptureFixture) -> None:
    search = DocumentSearch([docs], cache_dir=Path("/sys/kernel/factloop"))
    assert len(search.search("about", 10)) == 3
    assert len(caplog.messages) == 1
