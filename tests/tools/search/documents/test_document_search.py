from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from factloop.core.errors import DataError
from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.documents.search import MOST_NAMED
from factloop.tools.search.passages import PassageSettings


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "ada_lovelace.txt").write_text("She was born in London in 1815. She wrote notes on the engine.")
    (folder / "logic.md").write_text("# Kurt Gödel\n\nHe proved two theorems. Die Bücher. 漢字の本。", encoding="utf-8")
    (folder / "rows.jsonl").write_text('{"id": 7, "text": "Marie Curie won two prizes.", "date": 1911}')
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def search_in(*places: Path, cache: Path, **options: Any) -> DocumentSearch:
    return DocumentSearch(places, cache_dir=cache, **options)


def sources(search: DocumentSearch, query: str, limit: int = 3) -> list[str]:
    return [Path(hit.source).name for hit in search.search(query, limit)]


def test_hits_name_file_title_and_date(docs: Path, tmp_path: Path) -> None:
    search = search_in(docs, cache=tmp_path / "cache")
    (hit,) = search.search("Who won the prizes?", 1)
    assert (hit.source, hit.title, hit.published) == (f"{docs}/rows.jsonl#id=7", "rows", "1911")
    assert hit.passage == "Marie Curie won two prizes."
    assert (search.n_files, search.n_passages, len(search.unread)) == (3, 3, 1)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("When was Ada Lovelace born?", "ada_lovelace.txt"),  # by the name of the file, and "born"
        ("proving a THEOREM", "logic.md"),  # by the stem, in any case
        ("godel", "logic.md"),  # without accents
        ("bu\u0308cher", "logic.md"),  # with a combining accent
        ("漢字", "logic.md"),
        ('title:"Gödel" AND (', "logic.md"),  # no query syntax
        ("x" * 1_000_000 + " london", "ada_lovelace.txt"),
        ("\0 \x1b[31m engine \u202e", "ada_lovelace.txt"),
    ],
)
def test_free_text_queries(docs: Path, tmp_path: Path, query: str, found: str) -> None:
    assert sources(search_in(docs, cache=tmp_path / "cache"), query)[0] == found


@pytest.mark.parametrize("query", ["", "  ", "AND (", '"', "title:", "*", "\\", "[a TO", "zzzz", "🙂", "\0"])
def test_queries_that_find_nothing(docs: Path, tmp_path: Path, query: str) -> None:
    assert search_in(docs, cache=tmp_path / "cache").search(query, 3) == []


def test_equal_passages_are_given_once_and_ties_are_in_order_of_place(tmp_path: Path) -> None:
    for name in "cab":
        (tmp_path / f"{name}.jsonl").write_text('{"text": "same words", "title": "t"}\n' * 3)
    (tmp_path / "d.jsonl").write_text('{"text": "words same", "title": "t"}')
    search = search_in(tmp_path, cache=tmp_path / ".cache")
    assert sources(search, "same words", 5) == ["a.jsonl#line=1", "d.jsonl#line=1"]
    assert sources(search, "same words", 0) == []


@pytest.mark.parametrize("text", ["Plain words.", "Die Bu\u0308cher.", "漢字の本。", "half \\ud83d of a pair"])
def test_passages_read_as_they_were_written(tmp_path: Path, text: str) -> None:
    row = f'{{"text": "{text}", "title": "{text}", "url": "https://a.example/{text}", "date": "{text}"}}'
    (tmp_path / "rows.jsonl").write_text(row, encoding="utf-8")
    search = search_in(tmp_path, cache=tmp_path / ".cache")
    written = text.replace("\\ud83d", "?")  # a surrogate without its other half is not a character
    for query in ("words bücher half", "漢"):
        for hit in search.search(query, 1):
            assert (hit.passage, hit.title, hit.published) == (written, written, written)
            assert hit.source == f"https://a.example/{written}"
    assert search.search("words bücher half 漢", 1)


def test_many_threads_at_once(tmp_path: Path) -> None:
    rows = "".join(f'{{"text": "passage w{n} about w{n % 7}"}}\n' for n in range(500))
    (tmp_path / "rows.jsonl").write_text(rows)
    search = search_in(tmp_path, cache=tmp_path / ".cache")
    queries = [f"about w{n}" for n in range(32)]
    with ThreadPoolExecutor(32) as pool:
        together = list(pool.map(lambda query: search.search(query, 10), queries))
    assert together == [search.search(query, 10) for query in queries]
    assert [f"w{n}" in hits[0].passage.split() for n, hits in enumerate(together)] == [True] * 32


def test_long_documents_become_passages_that_share_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" ".join(f"w{n}" for n in range(250)))
    search = search_in(tmp_path / "a.txt", cache=tmp_path / "cache")
    assert search.n_passages == 3  # words 0-79, 80-159 and the 90 that are left, fewer than 80 and the slack
    short = search_in(tmp_path / "a.txt", cache=tmp_path / "cache", passages=PassageSettings(50, 0))
    assert short.n_passages == 5
    assert short.identity != search.identity


def test_identity_follows_contents_alone(docs: Path, tmp_path: Path) -> None:
    def identity() -> str:
        return search_in(docs, cache=tmp_path / "cache").identity

    before = identity()
    (docs / "ada_lovelace.txt").touch()
    assert identity() == before
    text = (docs / "ada_lovelace.txt").read_text()
    (docs / "ada_lovelace.txt").write_text(text.replace("1815", "1816"))
    assert identity() != before
    (docs / "ada_lovelace.txt").write_text(text)
    assert identity() == before
    moved = docs.rename(tmp_path / "moved")
    assert search_in(moved, cache=tmp_path / "cache").identity == before
    assert not search_in(moved, cache=tmp_path / "cache").cacheable


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.txt", b"caf\xe9"),
        ("bad.pdf", b"%PDF"),
        ("bad.jsonl", b'{"text": "This line is whole."}\n{'),
        ("bad.csv", b'text\nwhole\n"a'),
        ("bad.html", bytes(9)),
        ("bad.docx", b"PK"),
        ("bad.pptx", b""),
        ("bad.xlsx", b"x"),
        ("bad.epub", b"x"),
    ],
)
def test_an_unreadable_file_of_a_folder_is_left_out_and_named(
    docs: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    (docs / name).write_bytes(content)
    for _ in range(2):
        search = search_in(docs, cache=tmp_path / "cache")
        assert (search.n_files, search.n_passages) == (3, 3), "no passage of it, not even those before the fault"
        assert [file.path.name for file in search.unread if file.path.suffix != ".png"] == [name]
        (warning,) = search.warnings
        assert f"{docs / name} (" in warning
    with pytest.raises(DataError, match=name):
        DocumentSearch([docs / name, docs], cache_dir=tmp_path / "cache")
    (docs / name).unlink()
    assert search_in(docs, cache=tmp_path / "cache").n_passages == 3


def test_what_cannot_be_read_is_an_error_where_that_is_wanted(docs: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a file of this kind is not read"):
        DocumentSearch([docs], cache_dir=tmp_path / "cache", strict=True)
    for path in search_in(docs, cache=tmp_path / "cache").unread:
        path.path.unlink()
    (docs / "bad.csv").write_text('text\n"a')
    assert search_in(docs, cache=tmp_path / "cache").n_passages == 3
    with pytest.raises(DataError, match=r"bad\.csv:2: this is not CSV"):
        DocumentSearch([docs], cache_dir=tmp_path / "cache", strict=True)
    with pytest.raises(DataError, match=r"bad\.csv:2: this is not CSV"):
        DocumentSearch([docs], in_memory=True, strict=True)
    assert search_in(docs, cache=tmp_path / "cache").n_passages == 3


def test_a_file_that_was_mended_is_read(docs: Path, tmp_path: Path) -> None:
    (docs / "rows.csv").write_text('text\n"a')
    assert search_in(docs, cache=tmp_path / "cache").n_passages == 3
    (docs / "rows.csv").write_text("text\nMended words.\n")
    assert sources(search_in(docs, cache=tmp_path / "cache"), "mended") == ["rows.csv#line=2"]


def test_a_dead_link_and_a_locked_file_are_named(docs: Path, tmp_path: Path) -> None:
    (docs / "dead.txt").symlink_to(docs / "nowhere.txt")
    (docs / "round.txt").symlink_to(docs / "round.txt")
    search = search_in(docs, cache=tmp_path / "cache")
    assert {file.path.name: file.why for file in search.unread if file.path.suffix == ".txt"} == {
        "dead.txt": "a dead link", "round.txt": "a dead link"
    }  # fmt: skip
    assert search.n_passages == 3


@pytest.mark.parametrize("in_memory", [False, True])
def test_files_without_text_and_hidden_ones_are_told_of(docs: Path, tmp_path: Path, in_memory: bool) -> None:
    (docs / "picture.png").unlink()
    (docs / "empty.txt").write_text(" \n")
    (docs / "head.csv").write_text("name,town\n")
    (docs / ".old").mkdir()
    (docs / ".old" / "notes.md").write_text("Old words.")
    for _ in range(2):  # the second time from the index as it is
        search = search_in(docs, cache=tmp_path / "cache", in_memory=in_memory)
        assert search.warnings == (
            f"Not read of the documents, 2 in all: {docs}/empty.txt (it holds no text); "
            f"{docs}/head.csv (it holds no text).",
            f"Left out of the documents: 1 hidden file ({docs}/.old).",
        )
        assert (search.n_files, search.n_passages) == (3, 3)
    (docs / "empty.txt").write_text("Now it has words.")
    assert search_in(docs, cache=tmp_path / "cache", in_memory=in_memory).n_files == 4


def test_a_named_file_without_text_is_told_of(docs: Path, tmp_path: Path) -> None:
    (docs / "empty.txt").write_text("")
    for _ in range(2):
        search = search_in(docs / "logic.md", docs / "empty.txt", cache=tmp_path / "cache")
        assert [file.path.name for file in search.unread] == ["empty.txt"]


def test_many_unread_files_are_counted(docs: Path, tmp_path: Path) -> None:
    for number in range(MOST_NAMED + 5):
        (docs / f"{number:02}.png").write_bytes(b"")
    (warning,) = search_in(docs, cache=tmp_path / "cache").warnings
    assert warning.startswith(f"Not read of the documents, {MOST_NAMED + 6} in all: ")
    assert warning.endswith("; and 6 more.")
    assert warning.count("(a file of this kind is not read)") == MOST_NAMED


def test_documents_without_any_text(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(DataError, match="no text"):
        search_in(tmp_path, cache=tmp_path / "cache")


class NearestToTheAsker:
    """Knows texts as angles in degrees: the number they begin with; a query is at 0."""

    name = "angles"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        degrees = [float(text.split()[0]) if text[0].isdigit() else 0.0 for text in texts]
        angles = np.radians(np.array(degrees, dtype=np.float32))
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_reranking_by_meaning(tmp_path: Path) -> None:
    # BM25 ranks by how often "zz" stands in passages of equal length. By meaning, nearest to 0 degrees first, the order
    # is 10, 50, 60, 90. Reciprocal ranks: 90: 1/61 + 1/64 = .032018; 50: 1/62 + 1/62 = .032258;
    # 10: 1/63 + 1/61 = .032266; 60: 1/64 + 1/63 = .031498.
    rows = ["90 zz zz zz zz", "50 zz zz zz y", "10 zz zz y y", "60 zz y y y"]
    (tmp_path / "rows.jsonl").write_text("".join(f'{{"text": "{row}"}}\n' for row in rows))
    plain = search_in(tmp_path, cache=tmp_path / ".cache")
    assert [hit.passage[:2] for hit in plain.search("zz", 4)] == ["90", "50", "10", "60"]
    search = search_in(tmp_path, cache=tmp_path / ".cache", embedder=NearestToTheAsker())
    assert [hit.passage[:2] for hit in search.search("zz", 3)] == ["10", "50", "90"]
    assert search.identity == f"{plain.identity} reranked by angles"
