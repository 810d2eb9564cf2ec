from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document

from factloop import FactChecker, FactualityReport
from factloop.checking.citing import borne_out, citations_of
from factloop.core.citations import mentioned, named, renumbered
from factloop.core.files.json import to_json
from factloop.core.records import (
    CitationFigures,
    Citations,
    Claim,
    Evidence,
    Judgement,
    Sentence,
    SourceDocument,
    UnscoredReason,
)
from factloop.guarding import GuardFinished, StreamGuard
from factloop.integrations.langchain import FactCheckRunnable
from factloop.reports.figures import citations, place_of

BUILT, LIT, BURNT = (
    "John Smeaton built the third tower.",
    "The tower was lit in 1759.",
    "The second tower burnt in 1755.",
)
DOCUMENTS: list[Any] = [
    "",
    {"text": BUILT, "id": "doc_17", "page": 3, "file_path": "a.pdf", "score": np.float32(0.5), "on": date(2026, 1, 1)},
    Document(LIT, metadata={"chunk_id": "b", "vector": [0.123456789] * 1000, "half": "\ud83d"}),
    BURNT,
]


def check(response: str, documents: Any = DOCUMENTS, **settings: Any) -> FactualityReport:
    return FactChecker(cache=False, **settings).check(response, documents=documents)


def cited(report: FactualityReport) -> Citations:
    assert report.citations is not None
    return report.citations


def outcomes(report: FactualityReport) -> list[tuple[str, int | None, bool | None]]:
    return [(report.response[slice(*one.span)], one.document, one.bears_out) for one in cited(report).cited]


def test_evidence_has_place_id_and_metadata_of_its_document() -> None:
    report = check(f"{BUILT} {LIT}")
    first, second = (claim.evidence[0] for claim in report.claims)
    metadata = {"page": 3, "file_path": "a.pdf", "score": 0.5, "on": "2026-01-01"}
    assert first.document == SourceDocument(index=1, id="doc_17", metadata=metadata)
    assert second.document == SourceDocument(index=2, metadata={"chunk_id": "b", "half": "\ufffd"})  # not the vector
    assert (place_of(first), place_of(second)) == ("document 2, page 3", "document 3, b")  # its id is the source
    assert FactualityReport.model_validate_json(to_json(report)) == report
    one, other = (check(BUILT, [{"text": BUILT, "page": page}]).fingerprint for page in (1, 2))
    assert one == other  # what a run is resumed by, and answers are kept by, is the texts


def test_the_same_texts_again_lead_to_the_documents_given_then() -> None:
    checker = FactChecker(cache=False)
    reports = [checker.check(BUILT, documents=[{"text": BUILT, "chunk_id": name}]) for name in "ab"]
    assert [dict(report.claims[0].evidence[0].document.metadata) for report in reports] == [  # type: ignore[union-attr]  # it was given
        {"chunk_id": "a"},
        {"chunk_id": "b"},
    ]


def test_a_retriever_s_documents_have_their_metadata_and_no_place() -> None:
    report = FactChecker(search=lambda _: [{"text": BUILT, "page": 3}], cache=False).check(BUILT)
    assert report.claims[0].evidence[0].document == SourceDocument(metadata={"page": 3})
    assert report.citations is None


@pytest.mark.parametrize(
    ("response", "expected", "recall", "precision"),
    [
        (f"{BUILT[:-1]} [doc_17]. {LIT} [3]", [("doc_17", 1, True), ("3", 2, True)], 1.0, 1.0),
        (f"{BUILT} [DOC_17] {LIT}", [("DOC_17", 1, True)], 0.5, 1.0),  # one sentence cites nothing
        (
            f"{BUILT[:-1]} [2, 3]. {LIT}[3][2]",
            [("2", 1, True), ("3", 2, False), ("3", 2, True), ("2", 1, False)],
            1.0,
            0.5,
        ),
        (f"{BUILT[:-1]} [3].", [("3", 2, False)], 0.0, 0.0),
        (f"{BUILT[:-1]}【2】. {LIT} [9]", [("2", 1, True), ("9", None, False)], 0.5, 0.5),  # there is no ninth
        (f"{BUILT} [sic] It stood [there](https://example.org).", [], None, None),
    ],
)
def test_a_citation_bears_out_its_sentence_if_the_verdict_rests_on_that_document(
    response: str, expected: list[Any], recall: float | None, precision: float | None
) -> None:
    report = check(response)
    assert outcomes(report) == expected
    assert (cited(report).recall, cited(report).precision) == (recall, precision)


def test_a_document_that_says_the_same_bears_it_out_too() -> None:
    report = check(f"{LIT[:-1]} [4].", [BUILT, LIT, BURNT, f"As is known: {LIT}"])
    assert outcomes(report) == [("4", 3, True)]
    assert cited(report).used == (1, 3)
    assert cited(report).n_documents == 4


def test_chunks_that_overlap_keep_their_own_place() -> None:
    source = {"source": "handbook.md"}
    documents = [{"text": f"{BUILT} {LIT}", **source}, {"text": f"{LIT} {BURNT}", **source}]
    assert outcomes(check(f"{BURNT[:-1]} [2].", documents)) == [("2", 1, True)]


def claim(name: str, verdict: Any, *documents: int) -> Claim:
    judgement = Judgement(verdict=verdict, unscored_reason=None if verdict else UnscoredReason.TIMEOUT)
    said = {"id": name, "sentence": "A [1].", "span": (0, 6), "text": "A.", "self_contained": "A."}
    return Claim(**said, judgement=judgement, borne_out_by=documents)  # type: ignore[arg-type]  # they fit


@pytest.mark.parametrize(
    ("claims", "bears_out", "figures"),
    [
        ([claim("1", "supported", 0), claim("2", "supported", 1)], True, (0.0, 1, 0)),  # the second is of another
        ([claim("1", "supported", 0), claim("2", None)], True, (None, 0, 1)),
        ([claim("1", None)], None, (None, 0, 1)),  # a failure is never a verdict
        ([claim("1", "irrelevant"), claim("2", "supported", 0)], True, (1.0, 1, 0)),
    ],
)
def test_what_is_unscored_is_left_out(claims: list[Claim], bears_out: bool | None, figures: tuple[Any, ...]) -> None:
    sentence = Sentence(span=(0, 6), claims=tuple(one.id for one in claims))
    found = citations_of("A [1].", [sentence], claims, [Document("A"), Document("B")])
    assert found is not None
    assert [one.bears_out for one in found.cited] == [bears_out]
    assert (found.recall, found.n_sentences, found.n_unscored) == figures


def test_documents_are_read_once_for_all_claims() -> None:
    class Counted(Document):
        def __getattribute__(self, name: str) -> Any:
            n_reads.append(name)
            return super().__getattribute__(name)

    n_reads = list[str]()
    borne_out([claim(str(number), "supported", 0) for number in range(50)], [Counted(page_content="A")])
    assert n_reads.count("page_content") == 1


def test_figures_of_several_responses_are_pooled() -> None:
    one = CitationFigures(recall=1 / 3, n_sentences=3, precision=0.5, n_citations=2)
    other = CitationFigures(recall=1.0, n_sentences=1, n_unscored=2)
    pooled = CitationFigures.sum_of([one, other, CitationFigures()])
    assert pooled == CitationFigures(recall=0.5, n_sentences=4, n_unscored=2, precision=0.5, n_citations=2)
    assert pooled is not None
    assert citations(pooled) == "recall 0.50 of 4 sentences, precision 0.50 of 2 citations, 2 unscored"
    assert CitationFigures.sum_of([CitationFigures()]) is None


async def test_a_guard_and_a_chain_tell_them() -> None:
    async def written() -> Any:
        for piece in (f"{BUILT} [2]", f" {LIT} [2]"):
            yield piece

    guard = StreamGuard(FactChecker(cache=False))
    events = [one async for one in guard.aevents(written(), documents=DOCUMENTS)]
    assert isinstance(events[-1], GuardFinished)
    assert outcomes(events[-1].report) == [("2", 1, True), ("2", 1, False)]
    asked = {"response": f"{BUILT} [2]", "documents": DOCUMENTS}
    assert outcomes(await FactCheckRunnable(FactChecker(cache=False)).ainvoke(asked)) == [("2", 1, True)]


def evidence(title: str, source: str = "notes/a.md") -> Evidence:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    return Evidence(id="e", source=source, title=title, passage="p", query="q", rank=1, retrieved_at=moment)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("[3] gives 1931.", "[1] gives 1931."),
        ("Passage 3 gives 1931.", "[1] gives 1931."),
        ("According to passage 5, no.", "According to [2], no."),
        ("[3, 5] agree.", "[1] and [2] agree."),
        ("Passages 3 and 5 agree, [9] does not.", "[1] and [2] agree, another passage does not."),
        ("[Passage 3] says so.", "[1] says so."),
        ("Evidence 3 says so, and [Evidence 5] too.", "[1] says so, and [2] too."),
        ("Nothing says so.", "Nothing says so."),
        ("In [1931] and passage 1815.5 it is plain.", "In [1931] and passage 1815.5 it is plain."),
        ("", ""),
        ("Passage 12 of the Koran is meant.", "Passage 12 of the Koran is meant."),
        ("Passages 3 and 12 agree.", "[1] and another passage agree."),
        ("`arr[0]` is the first, arr[3] the fourth.", "`arr[0]` is the first, arr[3] the fourth."),
        ("m[3][5] is set, f(x)=[3] and y = [3, 5] too.", "m[3][5] is set, f(x)=[3] and y = [3, 5] too."),
        ("Indices [0, 3] hold by [3][5].", "Indices [0, 3] hold by [1][2]."),
    ],
)
def test_numbers_become_those_of_the_passages_that_the_claim_keeps(said: str, kept: str) -> None:
    assert renumbered(said, {3: 1, 5: 2}, n_shown=8) == kept


def test_without_the_passages_titles_stand_for_them() -> None:
    shown = [evidence("Eddystone"), evidence("")]
    assert named("[1] gives 1759, passage 2 1760, [3] nothing.", shown) == (
        "“Eddystone” gives 1759, “notes/a.md” 1760, another passage nothing."
    )


def test_where_no_passage_is_kept_none_is_spoken_of_by_number() -> None:
    assert (
        named("(Passage 1 says so.) Passages 2 and 3, too.", []) == "(another passage says so.) another passage, too."
    )
    assert named("Passage 12 of the Koran is meant.", []) == "Passage 12 of the Koran is meant."


def test_the_passages_that_a_text_speaks_of() -> None:
    first, second = evidence("Eddystone"), evidence("Smeaton")
    assert mentioned("Passage 2 says so, [1] does not, nor [2] elsewhere, nor [9].", [first, second]) == (second, first)
    assert mentioned("Nothing does.", [first]) == ()
