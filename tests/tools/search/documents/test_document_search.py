from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from numpy.typing import NDArray

from factloop.core.errors import DataError
from factloop.tools.search.base import SearchTool
from factloop.tools.search.documents.neighbours import BEGINS_EARLIER, GOES_ON
from factloop.tools.search.documents.search import DocumentSearch
from factloop.tools.search.given import GivenDocuments
from factloop.tools.search.passages import PassageSettings
from tests.tools.search.documents.made_files import pdf


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


@pytest.mark.parametrize("query", ["", "  ", "AND (", '"', "title:", "*", "\\", "[a TO", "zzzz", "🙂", "\0"])
def test_queries_that_find_nothing(docs: Path, tmp_path: Path, query: str) -> None:
    assert search_in(docs, cache=tmp_path / "cache").search(query, 3) == []


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
    with pytest.raises(DataError, match="files of this kind are not supported"):
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


def test_a_dead_link_and_a_locked_file_are_named(docs: Path, tmp_path: Path) -> None:
    (docs / "dead.txt").symlink_to(docs / "nowhere.txt")
    (docs / "round.txt").symlink_to(docs / "round.txt")
    search = search_in(docs, cache=tmp_path / "cache")
    assert {file.path.name: file.why for file in search.unread if file.path.suffix == ".txt"} == {
        "dead.txt": "a broken link", "round.txt": "a broken link"
    }  # fmt: skip
    assert search.n_passages == 3


def test_links_that_lead_out_of_the_folder_are_not_followed(docs: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/plan.txt").write_text("Bo Kern lives in Vire.")
    (docs / "loop").symlink_to(docs.parent)
    (docs / "plan.txt").symlink_to(tmp_path / "secret/plan.txt")
    (docs / "below").mkdir()
    (docs / "below/again").symlink_to(docs)
    for place in (docs, f"{docs}/*"):
        search = DocumentSearch([place], in_memory=True)
        out = {file.path.name for file in search.unread if "a link that leads outside" in file.why}
        assert (out, search.n_passages) == ({"loop", "plan.txt"}, 3)
        assert "leads out" in " ".join(search.warnings)


def test_documents_without_any_text(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(DataError, match="the files contain no text"):
        search_in(tmp_path, cache=tmp_path / "cache")


class NearestToTheAsker:
    """Embeds a text as the angle in degrees that it begins with; a query is at 0."""

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


PARAGRAPHS = [" ".join([f"word{n}", *["filler"] * 78, f"end{n}."]) for n in range(12)]
"""Eighty words each: each is a passage."""


def documents_of(tmp_path: Path, text: str, name: str = "a.md") -> DocumentSearch:
    (tmp_path / name).write_text(text)
    return DocumentSearch([tmp_path], in_memory=True)


def in_file(tmp_path: Path) -> SearchTool:
    return documents_of(tmp_path, "\n\n".join(PARAGRAPHS))


def given(tmp_path: Path) -> SearchTool:  # noqa: ARG001 - as `in_file`
    return GivenDocuments([Document("\n\n".join(PARAGRAPHS))])


@pytest.fixture(params=[in_file, given])
def tool(request: pytest.FixtureRequest, tmp_path: Path) -> SearchTool:
    made: SearchTool = request.param(tmp_path)
    return made


def test_a_passage_that_begins_or_ends_within_a_sentence_says_so(tmp_path: Path) -> None:
    words = " ".join(f"w{n}x{'y' * 7}" for n in range(400))  # one sentence of five passages
    search = documents_of(tmp_path, words + ".")
    (hit,) = search.search("w200x" + "y" * 7, 1)
    assert hit.passage.startswith(f"{BEGINS_EARLIER} w160x")
    assert hit.passage.endswith(f" {GOES_ON}")
    inner = hit.passage.removeprefix(BEGINS_EARLIER).removesuffix(GOES_ON).strip()
    assert inner in words


def test_a_passage_over_several_pages_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("Ada was born in 1815.", "She died in 1852.", "Her notes remain."))
    search = search_in(tmp_path / "a.pdf", cache=tmp_path / "cache")
    (hit,) = search.search("died", 1)
    assert (hit.source.rpartition("#")[2], [page for _, page in hit.pages]) == ("page=1-3", [1, 2, 3])
    for (start, _), text in zip(hit.pages, ("Ada was", "She died", "Her notes"), strict=True):
        assert hit.passage.startswith(text, start)


def test_all_passages_come_once_in_reading_order(tool: SearchTool) -> None:
    most = sum(map(len, PARAGRAPHS)) + 12 * len("a")
    hits = tool.all_passages(most)
    assert hits is not None
    assert [hit.passage for hit in hits] == PARAGRAPHS
    assert tool.all_passages(sum(map(len, PARAGRAPHS)) - 1) is None
    assert tool.all_passages(5) is None
    assert tool.all_passages(most) == hits
