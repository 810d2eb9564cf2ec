"""The response cut at its sentences, so that each can be shown in place with the claims made in it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from factloop.records import Claim, FactualityReport


@dataclass(frozen=True)
class Segment:
    """A stretch of the response: a sentence with its claims, or what lies between sentences, with none."""

    text: str
    claims: tuple[Claim, ...] = ()


def segments(report: FactualityReport) -> list[Segment]:
    """The response in order: the texts of the segments joined are the response, character by character.

    Where spans overlap or reach past the end, each character goes to the sentence that starts first. A claim whose span
    is left with no character of its own appears in no segment.
    """
    by_span: defaultdict[tuple[int, int], list[Claim]] = defaultdict(list)
    for claim in report.claims:
        by_span[claim.span].append(claim)
    found: list[Segment] = []
    reached = 0
    for (start, end), claims in sorted(by_span.items(), key=lambda item: item[0]):
        if end <= reached or start >= min(end, len(report.response)):
            continue
        if start > reached:
            found.append(Segment(report.response[reached:start]))
        found.append(Segment(report.response[max(start, reached) : end], tuple(claims)))
        reached = end
    if reached < len(report.response):
        found.append(Segment(report.response[reached:]))
    return found
