"""Removing indexes of documents, open or not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.index_files import remove_index

SEARCHER = """
import sys
from pathlib import Path
from factloop.tools.search.documents import DocumentSearch
search = DocumentSearch([sys.argv[1]], cache_dir=Path(sys.argv[2]))
print("open", flush=True)
sys.stdin.readline()
print(len(search.search("about", 10)), flush=True)
"""

KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from factloop.tools.search.index_files import remove_index

def at_remove(event, arguments):
    if event == "os.remove":
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

left = int(sys.argv[2])
sys.addaudithook(at_remove)
remove_index(Path(sys.argv[1]))
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("ada", "curie", "turing"):
        (folder / f"{name}.txt").write_text(f"Something about {name} and nothing else.")
    return folder


def opened(docs: Path) -> DocumentSearch:
    return DocumentSearch([docs], cache_dir=docs.parent / "cache")


def index_of(docs: Path) -> Path:
    (manifest,) = (docs.parent / "cache").glob("*/manifest.json")
    return manifest.parent


def test_an_index_in_use_stays(docs: Path) -> None:
    search = opened(docs)
    index = index_of(docs)
    assert not remove_index(index)
    again = opened(docs)
    del search
    assert not remove_index(index)  # as long as one of them is left
    assert len(again.search("about", 10)) == 3
    del again
    assert remove_index(index)


@pytest.mark.process
def test_an_index_that_another_process_has_open_stays_until_that_ends(docs: Path) -> None:
    command = [sys.executable, "-c", SEARCHER, str(docs), str(docs.parent / "cache")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as searcher:
        assert searcher.stdout is not None
        assert searcher.stdout.readline() == "open\n"
        assert not remove_index(index_of(docs))
        said, _ = searcher.communicate("go\n")
    assert said == "3\n"
    assert remove_index(index_of(docs))


@pytest.mark.process
@pytest.mark.parametrize("n_files", [0, 1, 3, 8])
def test_a_process_killed_while_it_removes_leaves_what_is_built_anew(docs: Path, n_files: int) -> None:
    opened(docs)
    index = index_of(docs)
    assert len(list(index.iterdir())) > 8
    command = [sys.executable, "-c", KILLED, str(index), str(n_files)]
    killed = subprocess.run(command, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (index / "manifest.json").exists() == (n_files == 0)
    assert len(opened(docs).search("about", 10)) == 3
    assert remove_index(index)
    assert list((docs.parent / "cache").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "manifest.json").write_text("mine")
    link = tmp_path / ("0" * 32)
    link.symlink_to(elsewhere)
    assert not remove_index(link)
    assert (elsewhere / "manifest.json").read_text() == "mine"
    assert link.is_symlink()
