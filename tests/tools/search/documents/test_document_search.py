from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from factloop.errors import DataError
from factloop.tools.search.documents import DocumentSearch
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
    assert (search.n_files, search.n_passages, search.skipped) == (3, 3, 1)


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


def test_long_documents_become_overlapping_passages(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" ".join(f"w{n}" for n in range(250)))
    search = search_in(tmp_path / "a.txt", cache=tmp_path / "cache")
    assert search.n_passages == 3  # words 0-99, 80-179, 160-249
    assert len(search.search("w90", 5)) == 2
    short = search_in(tmp_path / "a.txt", cache=tmp_path / "cache", passages=PassageSettings(50, 0, 0))
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
    [("bad.txt", b"caf\xe9"), ("bad.pdf", b"%PDF"), ("bad.jsonl", b"{"), ("bad.csv", b"a\nb"), ("bad.html", bytes(9))],
)
def test_one_unreadable_file_is_an_error_and_the_next_run_recovers(
    docs: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    (docs / name).write_bytes(content)
    for _ in range(2):
        with pytest.raises(DataError, match=name):
            search_in(docs, cache=tmp_path / "cache")
    (docs / name).unlink()
    assert search_in(docs, cache=tmp_path / "cache").n_passages == 3


def test_documents_without_any_text(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(DataError, match="no text"):
        search_in(tmp_path, cache=tmp_path / "cache")


class BagOfLetters:
    """Counts of letters as unit rows: enough to tell one passage from another."""

    name = "letters"

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[Any]:
        self.encoded += texts
        counts = np.array([[text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float64)
        unit_rows: NDArray[Any] = counts / np.linalg.norm(counts, axis=1, keepdims=True)
        return unit_rows


def test_reranking_by_meaning(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": 1, "text": "zz zz qq"}\n{"id": 2, "text": "zz aaaaaaaaaa b c d e f"}')
    plain = search_in(tmp_path, cache=tmp_path / ".cache")
    assert sources(plain, "zz aa aaaaaa") == ["rows.jsonl#id=1", "rows.jsonl#id=2"]
    letters = BagOfLetters()
    search = search_in(tmp_path, cache=tmp_path / ".cache", embedder=letters)
    # Reciprocal ranks: both are 1/61 + 1/62, and a tie keeps the order of BM25.
    assert sources(search, "zz aa aaaaaa") == ["rows.jsonl#id=1", "rows.jsonl#id=2"]
    assert letters.encoded == ["zz aa aaaaaa", "zz zz qq", "zz aaaaaaaaaa b c d e f"]
    sources(search, "zz again")
    assert letters.encoded[3:] == ["zz again"], "passages are encoded once"
    assert search.identity == f"{plain.identity} reranked by letters"
