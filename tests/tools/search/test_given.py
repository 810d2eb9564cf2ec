"""Documents given with an answer, as a search tool in memory."""

from __future__ import annotations

import asyncio
from textwrap import dedent

import pytest
from langchain_core.documents import Document

from factloop.tools.search.given import GivenDocuments, GivenIndexes

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
    assert later is not None
    assert later._reader is not first._reader
    assert await indexes.of([]) is None
    assert await indexes.of([Document("  ")]) is None
