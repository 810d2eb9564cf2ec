"""Documents given with an answer, as a search tool in memory."""

from __future__ import annotations

import asyncio
from textwrap import dedent

import pytest
from langchain_core.documents import Document

from factloop.tools.search.given import GivenDocuments, GivenIndexes, contents_hash

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


def test_long_documents_are_cut_and_equal_passages_come_once() -> None:
    long = Document("Rome is old. " * 200 + "Ada was born in London. " + "Rome is large. " * 200)
    tool = GivenDocuments([long, ADA, ADA])
    assert tool.n_passages > 10
    hits = tool.search("Ada born London", 10)
    assert [hit.passage for hit in hits].count(ADA.page_content) == 1
    assert any("Ada was born" in hit.passage and len(hit.passage.split()) <= 120 for hit in hits)


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


def test_indented_code_under_a_line_stays_code() -> None:
    (hit,) = GivenDocuments([Document("Install it:\n    # as root\n    pip install it")]).search("install", 1)
    assert (hit.title, "# as root" in hit.passage) == ("", True)


def test_a_repeated_passage_stands_where_the_best_of_its_documents_does() -> None:
    """BM25 ranks the first by its title, then the second, the shorter passage, then the third, the first's copy."""
    documents = [
        Document("The tower is old.", metadata={"source": "1", "title": "Ulm"}),
        Document("A tower.", metadata={"source": "2", "title": "Bonn"}),
        Document("The tower is old.", metadata={"source": "3", "title": "Bonn"}),
    ]
    assert [hit.source for hit in GivenDocuments(documents).search("tower Ulm", 3)] == ["1", "2"]


@pytest.mark.parametrize(
    "text", ["", "  \n", "\x00", "\ud83d half", "東京は日本の首都です。", "<script>", "{{ 6*7 }}", "a" * 10**6]
)
def test_any_text_can_be_given(text: str) -> None:
    tool = GivenDocuments([Document(text, metadata={"source": "../../etc", "title": None})])
    tool.search(text[:1000] or "x", 3)
    assert tool.identity


def test_identity_follows_contents_order_and_metadata() -> None:
    again = Document(ADA.page_content, metadata=dict(ADA.metadata))
    assert contents_hash([ADA, ROME]) == contents_hash([again, ROME])
    others = [[ROME, ADA], [ADA], [], [Document(ADA.page_content), ROME], [Document("x", metadata=ADA.metadata), ROME]]
    assert len({contents_hash(documents) for documents in [[ADA, ROME], *others]}) == 6


async def test_equal_documents_are_indexed_once_and_the_oldest_are_forgotten() -> None:
    indexes = GivenIndexes(size=2)
    first = await indexes.of([ADA])
    assert first is not None
    assert await indexes.of([Document(ADA.page_content, metadata=dict(ADA.metadata))]) is first
    await asyncio.gather(indexes.of([ROME]), indexes.of([ROME, ADA]))
    assert await indexes.of([ADA]) is not first
    assert await indexes.of([]) is None
    assert await indexes.of([Document("  ")]) is None
