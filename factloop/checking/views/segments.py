"""Splits the response into sentences, each with its claims or the reason why it has none."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from factloop.core.records import Claim, FactualityReport, NoClaim
from factloop.tools.text.outline import read_outline


@dataclass(frozen=True)
class Segment:
    """A sentence with its claims or the reason why it has none, or the text between two sentences."""

    text: str
    claims: tuple[Claim, ...] = ()
    no_claim: NoClaim | None = None
    table_head: str | None = None
    """For a table row, the header of its table."""


def segments(report: FactualityReport) -> list[Segment]:
    """Splits the response into segments. Joining their texts gives exactly the response.

    If spans overlap, each character belongs to the sentence that starts first. Claims are omitted if their sentence is
    not in the response or has no characters left.
    """
    by_span: defaultdict[tuple[int, int], list[Claim]] = defaultdict(list)
    for claim in report.claims:
        by_span[claim.span].append(claim)
    silent = {one.span: one.no_claim for one in report.claim_free if one.span not in by_span}
    heads = _table_heads(report.response) if by_span else {}
    found: list[Segment] = []
    reached = 0
    for start, end in sorted({*by_span, *silent}):
        if end <= reached or start >= min(end, len(report.response)):
            continue
        if start > reached:
            found.append(Segment(report.response[reached:start]))
        claims = tuple(by_span.get((start, end), ()))
        text = report.response[max(start, reached) : end]
        found.append(Segment(text, claims, silent.get((start, end)), heads.get((start, end))))
        reached = end
    if reached < len(report.response):
        found.append(Segment(report.response[reached:]))
    return found


def _table_heads(response: str) -> dict[tuple[int, int], str]:
    if "|" not in response:
        return {}
    rows = (part for part in read_outline(response) if part.kind == "row")
    return {(row.start, row.end): row.above.rpartition("\n")[2] for row in rows}
