"""The layout of a checked response, for a page that marks its sentences itself while they are judged."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from factloop.checking.views.segments import segments
from factloop.core.records import Count, FactualityReport, Record
from factloop.reports.deciding import marked_sentence
from factloop.reports.faults import faults
from factloop.reports.markdown import Tag, TextRun
from factloop.reports.prose import is_marked_up, readable_parts
from factloop.reports.status import Status
from factloop.reports.visible import visible


class LayoutTag(Record):
    """The start of an element, its end, or an element without content."""

    kind: Literal["tag"] = "tag"
    name: str
    closes: bool = False
    attributes: Mapping[str, str] = {}


class LayoutText(Record):
    """A run of the response, from `start` to `end` in characters of what was given."""

    kind: Literal["text"] = "text"
    start: Count
    end: Count
    text: str | None = None
    """What is shown in the place of these characters, such as `&` for `&amp;`; None where they stand for themselves."""
    code: bool = False
    href: str = ""


class LayoutFault(Record):
    """Words that fail, from `start` to `end` in characters of the response, and what is said of them."""

    start: Count
    end: Count
    status: Status
    said: str


class LayoutMark(Record):
    """The sentence of the evidence that decides a claim, or comes nearest to it, as the report marks it."""

    claim_id: str
    evidence_id: str
    start: Count
    """In the passage, in characters."""
    end: Count
    section: str | None
    """The headings that it stands under."""
    decides: bool


class ResponseLayout(Record):
    """The Markdown of a response as elements and text, and what the report marks in it and in the evidence."""

    parts: tuple[LayoutTag | LayoutText, ...]
    """Empty where the response is too long to be laid out."""
    is_marked_up: bool
    """Whether its layout reads differently from the text as written."""
    faults: tuple[LayoutFault, ...] | None
    """None before there is a report."""
    marks: tuple[LayoutMark, ...] = ()
    """Of the claims for which such a sentence is known; empty before there is a report."""


def layout_of(response: str, report: FactualityReport | None) -> ResponseLayout:
    """The layout, with the same elements and the same words marked as on the page of the report."""
    parts = readable_parts(visible(response))
    placed = _places(response)
    return ResponseLayout(
        parts=tuple(_part(part, placed) for part in parts or ()),
        is_marked_up=parts is not None and is_marked_up(parts),
        faults=None if report is None else tuple(_faults(report)),
        marks=() if report is None else tuple(_marks(report)),
    )


def _part(part: Tag | TextRun, placed: Callable[[int], int]) -> LayoutTag | LayoutText:
    if isinstance(part, Tag):
        return LayoutTag(name=part.name, closes=part.closes, attributes=part.attributes)
    text = None if part.is_literal else part.text
    return LayoutText(start=placed(part.start), end=placed(part.end), text=text, code=part.code, href=part.href)


def _faults(report: FactualityReport) -> Iterator[LayoutFault]:
    start = 0
    for segment in segments(report):
        placed = _places(segment.text)
        for fault in faults(visible(segment.text), segment.claims, segment.table_head):
            first, end = start + placed(fault.start), start + placed(fault.end)
            yield LayoutFault(start=first, end=end, status=fault.status, said=fault.said)
        start += len(segment.text)


def _marks(report: FactualityReport) -> Iterator[LayoutMark]:
    for claim in report.claims:
        marked = marked_sentence(claim)
        if marked is not None:
            yield LayoutMark(
                claim_id=claim.id,
                evidence_id=marked.evidence.id,
                start=marked.start,
                end=marked.end,
                section=marked.section,
                decides=marked.decides,
            )


def _places(text: str) -> Callable[[int], int]:
    """Maps places in the visible text to places in the text: only Windows line ends differ in length."""
    line_ends: list[int] = []
    at = text.find("\r\n")
    while at >= 0:
        line_ends.append(at - len(line_ends))
        at = text.find("\r\n", at + 2)
    return lambda place: place + bisect_left(line_ends, place)
