"""Which of the documents given with a response bear out its claims, and whether it cites these for them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from langchain_core.documents import Document

from factloop.core.records import Citation, Citations, Claim, Sentence, Verdict
from factloop.setup.sources import Sources
from factloop.tools.search.base import SearchTool
from factloop.tools.search.given import GivenDocuments

_BRACKETED = re.compile(r"\[([^\[\]\n]{1,200})\]|【([^【】\n]{1,200})】")
_ONE = re.compile(r"[^,;\s][^,;]*")
_NUMBERED = re.compile(r"\^?(?:(?:doc|document|source|passage)s?[ _-]?)?(\d{1,3})", re.IGNORECASE)
_ID_KEYS = ("id", "doc_id", "document_id", "chunk_id", "source")
_WORD = re.compile(r"\w+")


class _Marker(NamedTuple):
    start: int
    end: int
    document: int | None


def documents_among(tools: Iterable[SearchTool]) -> tuple[Document, ...] | None:
    """The documents that were given with a response; None where none were."""
    return next((tool.documents for tool in tools if isinstance(tool, GivenDocuments)), None)


def documents_of_sources(sources: Sources | None) -> tuple[Document, ...] | None:
    return None if sources is None else documents_among(sources.tools)


def borne_out(claim: Claim, documents: Sequence[Document]) -> tuple[int, ...]:
    """The places of the documents that bear out a supported claim: those of the passages that its verdict rests on, and
    those that hold the deciding sentence, or else the passage, in the same words.
    """
    if claim.judgement.verdict is not Verdict.SUPPORTED:
        return ()
    cited = [item for item in claim.evidence if item.id in claim.judgement.cited]
    found = {item.document.index for item in cited if item.document is not None and item.document.index is not None}
    if not found:
        return ()  # it rests on what the checker itself has found
    said = [_words(claim.judgement.quote)] if claim.judgement.quote else [_words(item.passage) for item in cited]
    same = {place for place, one in enumerate(documents) if any(text in _words(one.page_content) for text in said)}
    return tuple(sorted(found | same))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def citations_of(
    response: str, sentences: Sequence[Sentence], claims: Sequence[Claim], documents: Sequence[Document] | None
) -> Citations | None:
    """The citations of a response whose claims say what bears them out; None where no documents were given."""
    if documents is None:
        return None
    by_id = {claim.id: claim for claim in claims}
    cited: list[Citation] = []
    outcomes: list[bool | None] = []
    for place, markers in enumerate(_by_sentence(response, sentences, documents)):
        own = [by_id[name] for name in sentences[place].claims]
        own = [one for one in own if one.judgement.verdict is not Verdict.IRRELEVANT]
        shown = {one.document for one in markers} - {None}
        if own:
            outcomes.append(_all([_borne_by(claim, shown) for claim in own]))
        for one in markers:
            bears_out = _any([_borne_by(claim, {one.document} - {None}) for claim in own]) if own else None
            span = (one.start, one.end)
            cited.append(Citation(span=span, sentence=place, document=one.document, bears_out=bears_out))
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


def _borne_by(claim: Claim, documents: Iterable[int | None]) -> bool | None:
    """Whether any of these documents bears out a claim: none of none. None where that is not known."""
    wanted = set(documents)
    if not wanted or not wanted.isdisjoint(claim.borne_out_by):
        return bool(wanted)
    return None if claim.judgement.verdict is None or claim.look_failed else False


def _all(found: Sequence[bool | None]) -> bool | None:
    return False if False in found else None if None in found else True


def _any(found: Sequence[bool | None]) -> bool | None:
    return True if True in found else None if None in found else False


def cited_documents(
    response: str, sentences: Sequence[Sentence], documents: Sequence[Document]
) -> Iterator[tuple[Sequence[str], frozenset[int]]]:
    """Of each sentence the ids of its claims, and the places of the documents that it cites."""
    for sentence, markers in zip(sentences, _by_sentence(response, sentences, documents), strict=True):
        yield sentence.claims, frozenset(one.document for one in markers if one.document is not None)


def _by_sentence(response: str, sentences: Sequence[Sentence], documents: Sequence[Document]) -> list[list[_Marker]]:
    """The citations of each sentence: those in it, those after it, and those before the first word of the next."""
    found: list[list[_Marker]] = [[] for _ in sentences]
    starts = [one.span[0] for one in sentences]
    for marker in _markers(response, documents):
        place = bisect_right(starts, marker.start) - 1
        if place > 0 and _leads(response[sentences[place - 1].span[1] : marker.end + 1]):
            place -= 1
        if place >= 0:
            found[place].append(marker)
    return found


def _leads(since: str) -> bool:
    """Whether nothing but citations stands between the end of a sentence and here, in the same paragraph."""
    return "\n" not in since and not _WORD.search(_BRACKETED.sub("", since))


def _markers(response: str, documents: Sequence[Document]) -> Iterator[_Marker]:
    """The numbers and ids in brackets. A number stands for the document of that id, else for the one in that place,
    from 1; what is neither a number nor the id of a document is no citation.
    """
    by_id: dict[str, int] = {}
    for place, document in enumerate(documents):
        for given in (document.id, *(document.metadata.get(key) for key in _ID_KEYS)):
            if given is not None and str(given).strip():
                by_id.setdefault(str(given).strip().casefold(), place)
    for group in _BRACKETED.finditer(response):
        start = group.start() + 1
        for one in _ONE.finditer(group[1] or group[2]):
            said = one[0].strip()
            number = _NUMBERED.fullmatch(said)
            found = by_id.get(said.casefold())
            if found is None and number is None:
                continue
            if found is None and number is not None and 0 < int(number[1]) <= len(documents):
                found = int(number[1]) - 1
            yield _Marker(start + one.start(), start + one.start() + len(said), found)
