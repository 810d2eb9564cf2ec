"""Groups a report's claims by sentence, and separates the claims to correct from those to keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from factloop.core.findings import Finding, finding_of_claim
from factloop.core.records import Claim, FactualityReport
from factloop.correction.records import Unscored, Unsupported


@dataclass(frozen=True)
class ResponseSentence:
    """A sentence in the response, `response[start:end]`, with its claims."""

    start: int
    end: int
    claims: tuple[Claim, ...]
    to_change: frozenset[Finding] = frozenset({Finding.CONTRADICTED})
    """Claims with these findings are corrected or removed. All other claims must be kept."""

    @property
    def contradicted(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if claim.judgement.contradicted)

    @property
    def unproven(self) -> tuple[Claim, ...]:
        """The claims without evidence that should be kept."""
        return tuple(claim for claim in self.kept if claim.judgement.contradicted is False)

    @property
    def wrong(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if finding_of_claim(claim) in self.to_change)

    @property
    def kept(self) -> tuple[Claim, ...]:
        return tuple(claim for claim in self.claims if finding_of_claim(claim) not in self.to_change)


def sentences_of(
    report: FactualityReport, unproven: Unsupported = "mark", unscored: Unscored = "auto"
) -> tuple[list[ResponseSentence], list[ResponseSentence]]:
    """Returns the sentences with claims, in order of appearance, and separately those that cannot be changed. A
    sentence cannot be changed if it is not in the response, or if it overlaps an earlier sentence."""
    to_change = {Finding.CONTRADICTED} | ({Finding.UNSUPPORTED} if unproven == "remove" else set())
    to_change |= {Finding.UNSCORED, Finding.IRRELEVANT} if unscored == "remove" else set()
    by_span: dict[tuple[int, int], list[Claim]] = {}
    for claim in report.claims:
        by_span.setdefault(claim.span, []).append(claim)
    placed: list[ResponseSentence] = []
    placeless: list[ResponseSentence] = []
    for (start, end), claims in sorted(by_span.items(), key=lambda item: item[0]):
        sentence = ResponseSentence(start, end, tuple(claims), frozenset(to_change))
        reached = placed[-1].end if placed else 0
        fits = reached <= start < end <= len(report.response)
        (placed if fits else placeless).append(sentence)
    return placed, placeless


_SYMMETRIC = ("**", "__", "~~", "*", "_", "`", '"')
_PAIRS = (("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("『", "』"), ("(", ")"), ("[", "]"), ("（", "）"))
_OPENING_TAG = re.compile(r"<([a-zA-Z][\w-]{0,30})\b[^<>]{0,300}>\s*")
_CLOSING_TAG = re.compile(r"\s*</([a-zA-Z][\w-]{0,30})\s*>$")


def core(text: str, start: int, end: int) -> tuple[int, int]:
    """Trims formatting marks whose counterpart is outside the range: `**A.` in `**A. B.**` becomes `A.`"""
    while (trimmed := _trimmed(text[start:end])) != (0, end - start):
        start, end = start + trimmed[0], start + trimmed[1]
    return start, end


def _trimmed(part: str) -> tuple[int, int]:
    for mark in _SYMMETRIC:
        if part.count(mark) % 2 and len(part) > len(mark):
            if part.startswith(mark):
                return len(mark), len(part)
            if part.endswith(mark):
                return 0, len(part) - len(mark)
    for opening, closing in _PAIRS:
        surplus = part.count(opening) - part.count(closing)
        if surplus > 0 and part.startswith(opening) and len(part) > 1:
            return 1, len(part)
        if surplus < 0 and part.endswith(closing) and len(part) > 1:
            return 0, len(part) - 1
    opened = _OPENING_TAG.match(part)
    if opened is not None and f"</{opened[1]}" not in part and opened.end() < len(part):
        return opened.end(), len(part)
    closed = _CLOSING_TAG.search(part[-340:])
    if closed is not None and f"<{closed[1]}" not in part and len(closed[0]) < len(part):
        return 0, len(part) - len(closed[0])
    return 0, len(part)


def ids(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(claim.id for claim in claims)
