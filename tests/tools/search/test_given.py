from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from factloop.tools.search.documents.search import DocumentSearch
from factloop.tools.search.given import GivenDocuments, GivenIndexes
from factloop.tools.search.index_files import remove_index
from factloop.tools.search.passages import PassageSettings, split_passages
from tests.work import LINEAR, growth

ADA = Document("Ada was born in London.", metadata={"source": "a.txt", "title": "Ada", "date": 1815})
ROME = Document("Rome is the capital of Italy.", id="rome")


async def test_hits_keep_what_the_documents_say_of_themselves() -> None:
    tool = GivenDocuments([ROME, ADA, Document("Ada wrote.")])
    (first, second) = await tool.asearch("Where was Ada born?", 3)
    assert (first.source, first.title, first.published, first.passage) == ("a.txt", "Ada", "1815", ADA.page_content)
    assert second.source == "given_documents#3"
    assert tool.search("capital", 3)[0].source == "rome"
    assert tool.search("capital Ada", 1) == tool.search("capital Ada", 3)[:1]
    assert tool.search("", 3) == tool.search("zebra", 3) == tool.search("Ada", 0) == []


INDENTED = """
    # Plans

    The Team plan costs 29 €.
    ## Seats
    The Team plan has 10 seats:

        ten("seats")
    """


@pytest.mark.parametrize("text", [INDENTED, INDENTED.lstrip(), INDENTED.replace("    ", "\t")])
def test_headings_of_a_text_within_code_are_those_of_a_file(text: str) -> None:
    flush = GivenDocuments([Document(dedent(INDENTED))]).search("Team plan seats", 1)
    (hit,) = GivenDocuments([Document(text)]).search("Team plan seats", 1)
    assert (hit.title, hit.passage.expandtabs(4)) == (flush[0].title, flush[0].passage)
    assert hit.title == "Plans"
    assert "\n\nSeats\nThe Team plan has 10 seats:" in hit.passage


@pytest.mark.parametrize(
    "text", ["", "  \n", "\x00", "\ud83d half", "東京は日本の首都です。", "<script>", "{{ 6*7 }}", "a" * 10**6]
)
def test_any_text_can_be_given(text: str) -> None:
    tool = GivenDocuments([Document(text, metadata={"source": "../../etc", "title": None})])
    tool.search(text[:1000] or "x", 3)
    assert tool.identity


async def test_equal_documents_are_indexed_once_and_the_oldest_are_forgotten() -> None:
    indexes = GivenIndexes(size=2)
    first = await indexes.of([ADA])
    assert first is not None
    again = await indexes.of([Document(ADA.page_content, metadata={**ADA.metadata, "page": 3})])
    assert again is not None
    assert again._reader is first._reader
    assert (again.documents[0].metadata["page"], "page" in first.documents[0].metadata) == (3, False)
    for documents in ([Document(""), ADA], [ADA]):  # a blank shifts the places
        placed = await indexes.of(documents)
        assert placed is not None
        (hit,) = placed.search("Ada born", 1)
        assert hit.document is not None
        assert hit.document.index == documents.index(ADA)
    await asyncio.gather(indexes.of([ROME]), indexes.of([ROME, ADA]))
    later = await indexes.of([ADA])
    small = GivenIndexes(characters=30)
    await asyncio.gather(small.of([ADA]), small.of([ROME]))
    assert len(small._indexes) == 1
    assert later is not None
    assert later._reader is not first._reader
    assert await indexes.of([]) is None
    assert await indexes.of([Document("  ")]) is None


SMALL = PassageSettings(words=5, slack=2)


@pytest.mark.large
@pytest.mark.parametrize("unit", ["a", "漢", "a ", ". ", "\0", '."', " ", "\n\n", "é.\n\n", "\u0301"])
def test_a_million_characters_on_one_line_are_split(unit: str) -> None:
    """Quadratic work would exceed the test's time limit."""

    def split(n_characters: int) -> None:
        list(split_passages(unit * (n_characters // len(unit))))

    split(1_000_000)
    assert growth(split, 20_000) < LINEAR


@given(st.text(alphabet="ab. \n漢é", max_size=300))
def test_nothing_is_lost_or_repeated_and_no_passage_is_too_long(text: str) -> None:
    passages = list(split_passages(text, SMALL))
    joined = "".join("".join(passage.split()) for passage in passages)
    assert joined == "".join(text.split())
    assert all(passage and len(passage.split()) <= 7 for passage in passages)


@given(st.text(alphabet="ab. \t\n\x1f\xa0\u3000é\u0e01漢", max_size=60))
def test_short_texts_of_any_script_have_their_whitespace_collapsed_and_no_more(text: str) -> None:
    # At most 60 characters are no more than the 100 words that are kept whole.
    lines = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    assert list(split_passages(text)) == (["\n".join(line for line in lines if line)] if text.split() else [])


SEARCHER = """
import sys
from pathlib import Path
from factloop.tools.search.documents.search import DocumentSearch
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
