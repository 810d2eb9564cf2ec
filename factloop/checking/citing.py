"""Determines which of the supplied documents support a response's claims, and which ones the response cites."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from langchain_core.documents import Document

from factloop.core.records import Citation, Citations, Claim, Sentence, Verdict
from factloop.tools.search.base import SearchTool
from factloop.tools.search.given import GivenDocuments

_BRACKETED = re.compile(r"[\[【]([^\[\]【】\n]{1,200})[\]】]")
_ONE = re.compile(r"[^,;\s](?:[^,;]*[^,;\s])?")
_NUMBERED = re.compile(r"\^?(?:(?:doc|document|source|passage)s?[ _-]?)?(\d{1,3})", re.IGNORECASE)
_ID_KEYS = ("id", "doc_id", "document_id", "chunk_id", "source")
_WORD = re.compile(r"\w+")
_Marker = tuple[tuple[int, int], int | None]
"""The span of a number or id, and the index of the document that it refers to, if any."""


def documents_among(tools: Iterable[SearchTool]) -> tuple[Document, ...] | None:
    """Returns the documents supplied with a response, or None if there were none."""
    return next((tool.documents for tool in tools if isinstance(tool, GivenDocuments)), None)


def borne_out(claims: Sequence[Claim], documents: Sequence[Document]) -> dict[str, tuple[int, ...]]:
    """Maps each claim's id to the indexes of the documents that support it. Unsupported claims have none.

    A document supports a claim if a cited passage comes from it, or if it contains the decisive sentence word for word
    (or a cited passage, if the judge quotes no sentence).
    """
    texts = [_words(one.page_content) for one in documents]
    return {claim.id: _borne_out(claim, texts) for claim in claims}


def _borne_out(claim: Claim, documents: Sequence[str]) -> tuple[int, ...]:
    cited = [item for item in claim.evidence if item.id in claim.judgement.cited]
    found = {item.document.index for item in cited if item.document is not None and item.document.index is not None}
    if claim.judgement.verdict is not Verdict.SUPPORTED or not found:
        return ()
    texts = [claim.judgement.quote] if claim.judgement.quote else [item.passage for item in cited]
    said = [_words(text) for text in texts]
    same = {place for place, one in enumerate(documents) if any(text in one for text in said)}
    return tuple(sorted(found | same))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def citations_of(
    response: str, sentences: Sequence[Sentence], claims: Sequence[Claim], documents: Sequence[Document] | None
) -> Citations | None:
    """Returns the citations in a response, or None if no documents were supplied. `borne_out_by` must be set."""
    if documents is None:
        return None
    by_id = {claim.id: claim for claim in claims if claim.judgement.verdict is not Verdict.IRRELEVANT}
    cited: list[Citation] = []
    outcomes: list[bool | None] = []
    for place, markers in enumerate(cited_by(response, sentences, documents)):
        own = [by_id[name] for name in sentences[place].claims if name in by_id]
        shown = {document for _, document in markers if document is not None}
        borne = {_borne_by(claim, shown) for claim in own}
        outcomes += [False if False in borne else None if None in borne else True] if own else []
        for span, document in markers:
            bears_out = [_borne_by(claim, {document} - {None}) for claim in own]
            best = True if True in bears_out else None if None in bears_out or not own else False
            cited.append(Citation(span=span, sentence=place, document=document, bears_out=best))
    scored = [one for one in outcomes if one is not None]
    judged = [one.bears_out for one in cited if one.bears_out is not None]
    return Citations(
        n_documents=len(documents),
        used=tuple(sorted({place for claim in claims for place in claim.borne_out_by})),
        cited=tuple(cited),
        recall=sum(scored) / len(scored) if cited and scored else None,
        n_sentences=len(scored),
        n_unscored=len(outcomes) - len(scored),
        precision=sum(judged) / len(judged) if judged else None,
        n_citations=len(judged),
    )


def _borne_by(claim: Claim, documents: Collection[int | None]) -> bool | None:
    if not documents or not set(documents).isdisjoint(claim.borne_out_by):
        return bool(documents)
    return None if claim.judgement.verdict is None else False


def cited_by(response: str, sentences: Sequence[Sentence], documents: Sequence[Document]) -> list[list[_Marker]]:
    """Returns each sentence's citations, including those between the sentence and the first word of the next one."""
    found: list[list[_Marker]] = [[] for _ in sentences]
    starts = [one.span[0] for one in sentences]
    for marker in _markers(response, documents):
        (start, end), _ = marker
        place = bisect_right(starts, start) - 1
        since = response[sentences[place - 1].span[1] : end + 1] if place > 0 else "\n"
        if "\n" not in since and not _WORD.search(_BRACKETED.sub("", since)):
            place -= 1  # there are only citations between the previous sentence and this citation
        if place >= 0:
            found[place].append(marker)
    return found


def _markers(response: str, documents: Sequence[Document]) -> Iterator[_Marker]:
    """Yields citations: numbers and document ids in brackets. A number refers to the document with that id or, if there
    is none, to the document at that position, starting at 1."""
    by_id: dict[str, int] = {}
    for place, document in enumerate(documents):
        for given in (document.id, *(document.metadata.get(key) for key in _ID_KEYS)):
            if given not in (None, ""):
                by_id.setdefault(str(given).strip().casefold(), place)
    for group in _BRACKETED.finditer(response):
        for one in _ONE.finditer(group[1]):
            number, found = _NUMBERED.fullmatch(one[0]), by_id.get(one[0].casefold())
            if found is None and number is not None and 0 < int(number[1]) <= len(documents):
                found = int(number[1]) - 1
            if found is not None or number is not None:
                yield (group.start(1) + one.start(), group.start(1) + one.end()), found
