"""Adds marks after unproven passages without changing any words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from factloop.core.findings import Finding, by_gravity, finding_of_claim, finding_of_silence
from factloop.core.records import Claim, FactualityReport, UnscoredReason
from factloop.correction.records import Contradicted, Doubt, Unscored, Unsupported
from factloop.reports.faults import faults
from factloop.tools.text.blocks import code_in
from factloop.tools.text.outline import Part, read_outline
from factloop.tools.text.rows import cell_of, cell_with

CONTRADICTED, UNVERIFIED, NOT_CHECKED = "[contradicted]", "[unverified]", "[unchecked]"

_RUNS_ON = ("(", "[", ":")  # after a closing bracket, these characters would turn the mark into a link
_PLAIN = re.compile(r"[^\[\]`<>|*_\\]+")

Span = tuple[int, int]


@dataclass(frozen=True)
class MarkPolicy:
    unsupported: Unsupported = "mark"
    unscored: Unscored = "auto"
    contradicted: Contradicted = "mark"

    def mark_for(self, finding: Finding) -> str | None:
        """Returns the mark for a passage with this finding, if any. Claims that should have been corrected or removed
        are marked, because they are still in the text. Code is not marked, because a mark would become part of it."""
        if finding is Finding.CONTRADICTED:
            return CONTRADICTED
        if finding is Finding.UNSUPPORTED:
            return None if self.unsupported == "keep" else UNVERIFIED
        return None if self.unscored == "keep" or finding is Finding.UNREAD else NOT_CHECKED


@dataclass(frozen=True)
class _Passage:
    span: Span
    findings: tuple[Finding, ...]
    claims: tuple[str, ...]
    is_to_read: bool
    """Whether all doubtful claims in the passage, if any, need reading."""


def marked(report: FactualityReport, policy: MarkPolicy) -> tuple[str, tuple[Doubt, ...]]:
    """Returns the response with its marks, and all doubtful passages in order, including those without a mark."""
    pieces: list[str] = []
    doubts: list[Doubt] = []
    code = list(code_in(report.response))
    reached = inserted = 0
    for passage in _in_doubt(report):
        start, end = passage.span
        if start < reached:  # overlaps the previous passage, whose mark would be inside this one
            at = min(start + inserted, reached + inserted)
            doubts.append(Doubt(span=(at, at), findings=passage.findings, claims=passage.claims))
            continue
        span = (start + inserted, end + inserted)
        may_be_marked = start < end and not any(first < end and start < last for first, last in code)
        is_left = passage.is_to_read and policy.unscored == "auto"
        mark = policy.mark_for(passage.findings[0]) if may_be_marked and not is_left else None
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
    findings: defaultdict[Span, list[Finding]] = defaultdict(list)
    claims: defaultdict[Span, list[str]] = defaultdict(list)
    others: set[Span] = set()
    faulty = [(claim, finding) for claim in report.claims if (finding := finding_of_claim(claim)) is not None]
    places = _places(report, [claim for claim, _ in faulty])
    for (claim, finding), place in zip(faulty, places, strict=True):
        findings[place].append(finding)
        claims[place].append(claim.id)
        if claim.judgement.unscored_reason is not UnscoredReason.NEEDS_READING:
            others.add(place)
    for sentence in report.claim_free:
        silence = finding_of_silence(sentence.no_claim)
        if silence is not None:
            findings[sentence.span].append(silence)
    return [
        _Passage(span, by_gravity(findings[span]), tuple(claims[span]), span not in others) for span in sorted(findings)
    ]


def _places(report: FactualityReport, faulty: Sequence[Claim]) -> Sequence[Span]:
    """Returns the passage to mark for each claim: its cell in a table row if all faulty claims in the row can be
    assigned to cells, its own wording if it is the only faulty claim in a sentence, or else the whole sentence."""
    rows = {(part.start, part.end): part for part in read_outline(report.response) if part.kind == "row"}
    cells = [_cell(claim, rows.get(claim.span)) for claim in faulty]
    unsure = {claim.span for claim, cell in zip(faulty, cells, strict=True) if cell is None}
    n_faulty = Counter(claim.span for claim in faulty)
    return [
        cell
        if cell is not None and claim.span not in unsure
        else _own_words(claim, report)
        if n_faulty[claim.span] == 1 and claim.span not in rows
        else claim.span
        for claim, cell in zip(faulty, cells, strict=True)
    ]


def _own_words(claim: Claim, report: FactualityReport) -> Span:
    start, end = claim.span
    text = report.response[start:end]
    beside = [one for one in report.claims if one.span == claim.span]
    own = [one for one in faults(text, beside) if one.claim == claim.id]
    if len(beside) == 1 or not own or not _PLAIN.fullmatch(text):
        return claim.span
    rest = re.split(r"[\s.,;:!?…]", text[own[-1].end :], maxsplit=1)[0]  # *50%* is not split
    last = end if own[-1].end == len(text.rstrip(".!?…")) else start + own[-1].end + len(rest)
    return start + own[0].start, last


def _cell(claim: Claim, row: Part | None) -> Span | None:
    if row is None:
        return None
    place = cell_of(claim.text, row.text, row.above.rpartition("\n")[2]) or cell_with(claim.judgement.wrong, row.text)
    return None if place is None else (row.start + place[0], row.start + place[1])
