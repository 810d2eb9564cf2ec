"""From a report to the sentences of its response, with what is wrong in each and what must stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from factloop.records import Claim, Evidence, FactualityReport, Verdict

MOST_PASSAGES = 8
"""Given to a rewriter, those that verdicts cite first."""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a response with its claims. `response[start:end]` is its text."""

    start: int
    end: int
    claims: tuple[Claim, ...]

    @property
    def wrong(self) -> tuple[Claim, ...]:
        """The claims that are not supported."""
        return tuple(claim for claim in self.claims if claim.judgement.verdict is Verdict.NOT_SUPPORTED)

    @property
    def kept(self) -> tuple[Claim, ...]:
        """All others: what is supported, irrelevant or has no verdict is not ours to take away."""
        return tuple(claim for claim in self.claims if claim.judgement.verdict is not Verdict.NOT_SUPPORTED)

    @property
    def is_contradicted(self) -> bool:
        return any(claim.judgement.contradicted for claim in self.wrong)


@dataclass(frozen=True)
class Fault:
    """What a rewriter gets to see of a faulty sentence."""

    prompt: str | None
    response: str
    start: int
    end: int
    wrong: tuple[Claim, ...]
    kept: tuple[Claim, ...]
    cited: tuple[Evidence, ...]
    """What the verdicts on `wrong` rest on."""
    evidence: tuple[Evidence, ...]
    """That, and what else was found; at most `MOST_PASSAGES`."""

    @property
    def text(self) -> str:
        return self.response[self.start : self.end]


def sentences_of(report: FactualityReport) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences with claims in the order of the response, not overlapping; and those that it does not hold.

    Where spans overlap, the later sentence is of the second kind: which of two to change is not known.
    """
    by_span: dict[tuple[int, int], list[Claim]] = {}
    for claim in report.claims:
        by_span.setdefault(claim.span, []).append(claim)
    placed: list[Sentence] = []
    placeless: list[Sentence] = []
    for (start, end), claims in sorted(by_span.items(), key=lambda item: item[0]):
        sentence = Sentence(start, end, tuple(claims))
        reached = placed[-1].end if placed else 0
        fits = reached <= start < end <= len(report.response)
        (placed if fits else placeless).append(sentence)
    return placed, placeless


def fault_of(report: FactualityReport, sentence: Sentence, by_id: Mapping[str, Claim]) -> Fault:
    """The sentence without marks that reach beyond it, and the evidence on what is wrong in it."""
    start, end = core(report.response, sentence.start, sentence.end)
    judged = [by_id.get(claim.duplicate_of or claim.id, claim) for claim in sentence.wrong]
    cited = _distinct(item for claim in judged for item in claim.evidence if item.id in claim.judgement.cited)
    found = _distinct(item for claim in judged for item in claim.evidence)
    return Fault(
        prompt=report.prompt,
        response=report.response,
        start=start,
        end=end,
        wrong=sentence.wrong,
        kept=sentence.kept,
        cited=cited[:MOST_PASSAGES],
        evidence=_distinct([*cited, *found])[:MOST_PASSAGES],
    )


def _distinct(items: Iterable[Evidence]) -> tuple[Evidence, ...]:
    passages: dict[tuple[str, str], Evidence] = {}
    for item in items:
        passages.setdefault((item.source, item.passage), item)
    return tuple(passages.values())


_SYMMETRIC = ("**", "__", "~~", "*", "_", "`", '"')
_PAIRS = (("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("『", "』"), ("(", ")"), ("[", "]"), ("（", "）"))
_OPENING_TAG = re.compile(r"<([a-zA-Z][\w-]{0,30})\b[^<>]{0,300}>\s*")
_CLOSING_TAG = re.compile(r"\s*</([a-zA-Z][\w-]{0,30})\s*>$")


def core(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without the marks at its ends whose other half lies outside: `**A.` of `**A. B.**` is `A.`"""
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
