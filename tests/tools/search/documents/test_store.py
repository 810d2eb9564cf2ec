"""The index on disk: in step with the files, beside other processes and after damage."""

from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.documents.manifest import Manifest
from tests.rights import open_to_others


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("ada", "curie", "turing"):
        (folder / f"{name}.txt").write_text(f"Something about {name} and nothing else.")
        long_ago = time.time() - 3600
        os.utime(folder / f"{name}.txt", (long_ago, long_ago))
    return folder


def found(docs: Path, query: str) -> list[str]:
    search = DocumentSearch([docs], cache_dir=docs.parent / "cache")
    return [Path(hit.source).name for hit in search.search(query, 10)]


def manifest_path(docs: Path) -> Path:
    (path,) = (docs.parent / "cache").glob("*/manifest.json")
    return path


def test_only_what_changed_is_read_again(docs: Path) -> None:
    assert found(docs, "about") == ["ada.txt", "curie.txt", "turing.txt"]
    (docs / "curie.txt").unlink()
    (docs / "turing.txt").write_text("Now about Hopper.")
    (docs / "newton.txt").write_text("Something new about apples.")
    ada = docs / "ada.txt"
    before = ada.stat()
    ada.write_bytes(b"?" * before.st_size)  # same size and time stamp: what is trusted unread stays as it was indexed
    os.utime(ada, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(docs, "ada") == ["ada.txt"]
    assert found(docs, "curie") == []
    assert found(docs, "turing") == ["turing.txt"]  # by its title
    assert found(docs, "hopper") == ["turing.txt"]
    assert found(docs, "nothing") == ["ada.txt"]
    assert found(docs, "apples") == ["newton.txt"]
    assert len(list((docs.parent / "cache").glob("*/manifest.json"))) == 1


def test_a_file_that_has_just_changed_is_read_even_under_the_same_time_stamp(docs: Path) -> None:
    ada = docs / "ada.txt"
    ada.write_text("about AAAA")
    assert found(docs, "aaaa") == ["ada.txt"]
    before = ada.stat()
    ada.write_text("about BBBB")
    os.utime(ada, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(docs, "bbbb") == ["ada.txt"]
    assert found(docs, "aaaa") == []


def test_renamed_and_copied_files(docs: Path) -> None:
    found(docs, "about")
    (docs / "ada.txt").rename(docs / "countess.txt")
    (docs / "copy").mkdir()
    (docs / "copy" / "curie.txt").write_bytes((docs / "curie.txt").read_bytes())
    assert found(docs, "about") == ["curie.txt", "countess.txt", "turing.txt"]  # the copy in copy/ comes first


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


def test_an_update_broken_off_is_made_good(docs: Path) -> None:
    expected = found(docs, "about")
    path = manifest_path(docs)
    manifest = Manifest.read(path)
    assert manifest is not None
    keys = sorted(manifest.indexed)
    # Killed after the commit: the index holds what the manifest is unsure of. It must be neither doubled nor lost.
    Manifest(files=manifest.files, indexed=frozenset(keys[:1]), unsure=frozenset(keys[1:])).write(path)
    assert found(docs, "about") == expected
    repaired = Manifest.read(path)
    assert repaired is not None
    assert (repaired.files, repaired.indexed, repaired.unsure) == (manifest.files, manifest.indexed, frozenset())
    # Killed likewise, and the files are gone by the next run: nothing may stay behind.
    Manifest(indexed=frozenset(), unsure=frozenset(keys)).write(path)
    (docs / "ada.txt").unlink()
    assert found(docs, "about") == expected[1:]
    assert DocumentSearch([docs], cache_dir=docs.parent / "cache").n_passages == 2


def test_an_open_search_keeps_its_state(docs: Path) -> None:
    early = DocumentSearch([docs], cache_dir=docs.parent / "cache")
    (docs / "ada.txt").write_text("Now about Hopper.")
    assert found(docs, "hopper") == ["ada.txt"]
    assert early.search("hopper", 3) == []
    assert len(early.search("about", 3)) == 3


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


def test_a_cache_that_is_a_file_is_done_without(docs: Path, caplog: pytest.LogCaptureFixture) -> None:
    (docs.parent / "cache").write_text("in the way")
    assert found(docs, "about") == ["ada.txt", "curie.txt", "turing.txt"]
    assert (docs.parent / "cache").read_text() == "in the way"
    (message,) = caplog.messages
    assert message.startswith(f"{docs.parent / 'cache'}: no index can be kept there (")


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder where not even the superuser may write")
def test_a_cache_that_cannot_be_written_is_done_without(docs: Path, caplog: pytest.LogCaptureFixture) -> None:
    search = DocumentSearch([docs], cache_dir=Path("/sys/kernel/factloop"))
    assert len(search.search("about", 10)) == 3
    assert len(caplog.messages) == 1


def test_in_memory_nothing_is_written(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(docs.parent / "user"))
    search = DocumentSearch([docs], in_memory=True)
    kept = DocumentSearch([docs], cache_dir=docs.parent / "cache")
    assert search.search("about", 10) == kept.search("about", 10)
    assert search.identity == kept.identity
    assert {path.name for path in docs.parent.iterdir()} == {"docs", "cache"}


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
def test_an_index_is_its_owner_s_alone_also_where_it_was_not(docs: Path) -> None:
    cache = docs.parent / "cache"
    found(docs, "about")
    assert open_to_others(cache) == []
    index = manifest_path(docs).parent
    for path in (index, *index.iterdir()):
        path.chmod(0o777)
    found(docs, "about")
    assert open_to_others(cache) == []
