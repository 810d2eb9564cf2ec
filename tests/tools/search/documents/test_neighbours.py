"""A hit comes with what stands around it, and no text is shown twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.documents import Document

from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.documents.neighbours import BEGINS_EARLIER, GOES_ON, MOST_CHARACTERS
from factloop.tools.search.given import GivenDocuments

PARAGRAPHS = [" ".join([f"word{n}", *["filler"] * 78, f"end{n}."]) for n in range(12)]
"""Eighty words each: each is a passage."""


def documents_of(tmp_path: Path, text: str, name: str = "a.md") -> DocumentSearch:
    (tmp_path / name).write_text(text)
    return DocumentSearch([tmp_path], in_memory=True)


def numbers(hit: SearchHit) -> list[int]:
    return [n for n in range(12) if f"word{n} " in hit.passage]


def in_file(tmp_path: Path) -> SearchTool:
    return documents_of(tmp_path, "\n\n".join(PARAGRAPHS))


def given(tmp_path: Path) -> SearchTool:  # noqa: ARG001 - as `in_file`
    return GivenDocuments([Document("\n\n".join(PARAGRAPHS))])


@pytest.fixture(params=[in_file, given])
def tool(request: pytest.FixtureRequest, tmp_path: Path) -> SearchTool:
    made: SearchTool = request.param(tmp_path)
    return made


def test_a_hit_comes_with_the_passages_before_and_after(tool: SearchTool) -> None:
    (hit,) = tool.search("word5", 3)
    assert hit.passage == "\n".join(PARAGRAPHS[4:7])
    assert [numbers(hit) for hit in tool.search("word0", 3)] == [[0, 1]]
    assert [numbers(hit) for hit in tool.search("word11", 3)] == [[10, 11]]


def test_hits_that_neighbour_each_other_are_one(tool: SearchTool) -> None:
    shown = [n for hit in tool.search("word2 word3 word5 word6", 5) for n in numbers(hit)]
    assert len(shown) == len(set(shown))
    assert {2, 3, 5, 6} <= set(shown)


def test_a_list_never_repeats_a_passage_nor_outgrows_its_bounds(tool: SearchTool) -> None:
    for limit in (1, 2, 3, 12):
        hits = tool.search("filler " + " ".join(f"word{n}" for n in range(12)), limit)
        shown = [n for hit in hits for n in numbers(hit)]
        assert len(hits) <= limit
        assert len(shown) == len(set(shown))
        assert all(len(hit.passage) <= MOST_CHARACTERS + 2 for hit in hits)
    assert sorted(shown) == list(range(12))


def test_documents_are_no_neighbours_of_each_other(tmp_path: Path) -> None:
    rows = "".join(f'{{"text": "{text}"}}\n' for text in PARAGRAPHS)
    search = documents_of(tmp_path, rows, "rows.jsonl")
    assert [numbers(hit) for hit in search.search("word5", 3)] == [[5]]
    tool = GivenDocuments([Document(text) for text in PARAGRAPHS])
    assert [numbers(hit) for hit in tool.search("word5", 3)] == [[5]]


def test_headings_between_neighbours_are_shown_and_the_first_is_the_section(tmp_path: Path) -> None:
    search = documents_of(tmp_path, "# Title\n\nBefore it.\n\n## One\n\nThe zebra.\n\n### Deep\n\nAfter it.\n")
    (hit,) = search.search("zebra", 3)
    assert (hit.title, hit.section) == ("Title", None)
    assert hit.passage == "Before it.\n\nOne\nThe zebra.\n\nOne › Deep\nAfter it."
    (hit,) = search.search("deep", 1)  # by its heading alone
    assert (hit.section, hit.passage) == ("One", "The zebra.\n\nOne › Deep\nAfter it.")


def test_a_passage_that_begins_or_ends_within_a_sentence_says_so(tmp_path: Path) -> None:
    words = " ".join(f"w{n}x{'y' * 7}" for n in range(400))  # one sentence of five passages
    search = documents_of(tmp_path, words + ".")
    (hit,) = search.search("w200x" + "y" * 7, 1)
    assert hit.passage.startswith(f"{BEGINS_EARLIER} w160x")
    assert hit.passage.endswith(f" {GOES_ON}")
    inner = hit.passage.removeprefix(BEGINS_EARLIER).removesuffix(GOES_ON).strip()
    assert inner in words


def test_all_passages_come_once_in_reading_order(tool: SearchTool) -> None:
    most = sum(map(len, PARAGRAPHS)) + 12 * len("a")
    hits = tool.all_passages(most)
    assert hits is not None
    assert [hit.passage for hit in hits] == PARAGRAPHS
    assert tool.all_passages(sum(map(len, PARAGRAPHS)) - 1) is None
    assert tool.all_passages(5) is None
    assert tool.all_passages(most) == hits
