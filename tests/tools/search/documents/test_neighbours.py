"""A hit comes with what stands around it, and no text is shown twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.documents import Document

from factloop.tools.search.base import SearchTool
from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.documents.neighbours import BEGINS_EARLIER, GOES_ON
from factloop.tools.search.given import GivenDocuments

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


def test_all_passages_come_once_in_reading_order(tool: SearchTool) -> None:
    most = sum(map(len, PARAGRAPHS)) + 12 * len("a")
    hits = tool.all_passages(most)
    assert hits is not None
    assert [hit.passage for hit in hits] == PARAGRAPHS
    assert tool.all_passages(sum(map(len, PARAGRAPHS)) - 1) is None
    assert tool.all_passages(5) is None
    assert tool.all_passages(most) == hits
