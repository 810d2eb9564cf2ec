"""Marks after what is not proven: code puts them into the text, so that nothing is reworded. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from factloop.core.findings import Finding, by_gravity, finding_of_claim, finding_of_silence
from factloop.core.records import Claim, FactualityReport, UnscoredReason
from factloop.correction.records import Contradicted, Doubt, Unscored, Unsupported
from factloop.tools.text.blocks import code_in
from factloop.tools.text.outline import Part, read_outline
from factloop.tools.text.rows import cell_of, cell_with

CONTRADICTED, UNVERIFIED, NOT_CHECKED = "[contradicted]", "[unverified]", "[unchecked]"

_RUNS_ON = ("(", "[", ":")
"""After a closing bracket these would make a link of the mark."""

Span = tuple[int, int]


@dataclass(frozen=True)
class MarkPolicy:
    """The policy for content that is not supported and for which there is no better wording."""

    unsupported: Unsupported = "mark"
    unscored: Unscored = "mark"
    contradicted: Contradicted = "mark"

    def mark_for(self, finding: Finding) -> str | None:
        """The mark of a passage that stands in the text; None where it has none.

        What is contradicted and could not be mended is marked always, and so is what was to be removed and could not.
        Code is never marked: the mark would be part of it.
        """
        if finding is Finding.CONTRADICTED:
            return CONTRADICTED
        if finding is Finding.UNSUPPORTED:
            return None if self.unsupported == "keep" else UNVERIFIED
        return None if self.unscored == "keep" or finding is Finding.UNREAD else NOT_CHECKED


@dataclass(frozen=True)
class _Passage:
    """A sentence, or a cell of a row, with its findings."""

    span: Span
    findings: tuple[Finding, ...]
    claims: tuple[str, ...]


def marked(report: FactualityReport, policy: MarkPolicy) -> tuple[str, tuple[Doubt, ...]]:
    """The response of a report with its marks, and every passage in doubt, marked or not, in the order of the text."""
    pieces: list[str] = []
    doubts: list[Doubt] = []
    code = list(code_in(report.response))
    reached = inserted = 0
    for passage in _in_doubt(report):
        start, end = passage.span
        if start < reached:  # it overlaps the one before, whose mark would stand in the middle of it
            at = min(start + inserted, reached + inserted)
            doubts.append(Doubt(span=(at, at), findings=passage.findings, claims=passage.claims))
            continue
        span = (start + inserted, end + inserted)
        may_be_marked = start < end and not any(first < end and start < last for first, last in code)
        mark = policy.mark_for(passage.findings[0]) if may_be_marked else None
        pieces.append(report.response[reached:end])
        reached = end
        place: Span | None = None
        if mark is not None:
            said = f" {mark}{' ' if report.response.startswith(_RUNS_ON, end) else ''}"
            pieces.append(said)
            place = (span[1], span[1] + len(said))
            inserted += len(said)
        doubts.append(Doubt(span=span, findings=passage.findings, claims=passage.claims, mark=place))
    return "".join([*pieces, report.response[reached:]]), tuple(doubts)


def _in_doubt(report: FactualityReport) -> Sequence[_Passage]:
    """The passages in doubt. Claims that need reading are none: without a model they are many, and marks would drown
    what they mark."""
    findings: defaultdict[Span, list[Finding]] = defaultdict(list)
    claims: defaultdict[Span, list[str]] = defaultdict(list)
    judged = [one for one in report.claims if one.judgement.unscored_reason is not UnscoredReason.NEEDS_READING]
    faulty = [(claim, finding) for claim in judged if (finding := finding_of_claim(claim)) is not None]
    places = _places(report.response, [claim for claim, _ in faulty])
    for (claim, finding), place in zip(faulty, places, strict=True):
        findings[place].append(finding)
        claims[place].append(claim.id)
    for sentence in report.claim_free:
        silence = finding_of_silence(sentence.no_claim)
        if silence is not None:
            findings[sentence.span].append(silence)
    return [_Passage(span, by_gravity(findings[span]), tuple(claims[span])) for span in sorted(findings)]


def _places(response: str, claims: Sequence[Claim]) -> Sequence[Span]:
    """Where the mark of each claim stands: after its sentence; in a row after its cell, where that is certain for all
    claims on the row."""
    rows = {(part.start, part.end): part for part in read_outline(response) if part.kind == "row"} if claims else {}
    cells = [_cell(claim, rows.get(claim.span)) for claim in claims]
    unsure = {claim.span for claim, cell in zip(claims, cells, strict=True) if cell is None}
    return [
        claim.span if cell is None or claim.span in unsure else cell for claim, cell in zip(claims, cells, strict=True)
    ]


def _cell(claim: Claim, row: Part | None) -> Span | None:
    if row is None:
        return None
    place = cell_of(claim.text, row.text, row.above.rpartition("\n")[2]) or cell_with(claim.judgement.wrong, row.text)
    return None if place is None else (row.start + place[0], row.start + place[1])
