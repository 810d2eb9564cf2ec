"""Describes a faulty sentence to a rewriter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from factloop.core.records import Claim, Evidence, FactualityReport
from factloop.correction.drafts import Draft
from factloop.correction.sentences import ResponseSentence, core

MOST_PASSAGES = 8  # maximum number of passages for a rewriter, beginning with cited passages


@dataclass(frozen=True)
class Contradiction:
    claim: Claim
    by: tuple[int, ...]
    """Positions of the contradicting passages in `Fault.evidence`, starting at 1."""


@dataclass(frozen=True)
class Fault:
    """A faulty sentence, without any formatting marks whose counterpart is in another sentence."""

    prompt: str | None
    response: str
    start: int
    end: int
    claims: tuple[Claim, ...]
    contradicted: tuple[Contradiction, ...]
    removed: tuple[Claim, ...]
    """Unproven or unchecked claims to remove."""
    unproven: tuple[Claim, ...]
    """Unproven claims to keep."""
    kept: tuple[Claim, ...]
    """All other claims to keep."""
    staying: tuple[Claim, ...]
    """All claims to keep, in order."""
    cited: tuple[Evidence, ...]
    evidence: tuple[Evidence, ...]
    """The cited evidence, followed by other passages for the contradicted claims, at most `MOST_PASSAGES` in all."""
    so_far: Draft

    @property
    def text(self) -> str:
        return self.response[self.start : self.end]

    @property
    def wrong(self) -> tuple[Claim, ...]:
        return (*(one.claim for one in self.contradicted), *self.removed)

    @property
    def before(self) -> str:
        return self.so_far.text_before(self.start)


def fault_of(report: FactualityReport, sentence: ResponseSentence, by_id: Mapping[str, Claim], so_far: Draft) -> Fault:
    """Describes what is wrong with a sentence. `by_id` contains all claims in the report."""
    start, end = core(report.response, sentence.start, sentence.end)
    judged = [by_id.get(claim.duplicate_of or claim.id, claim) for claim in sentence.contradicted]
    cited = _distinct(_cited(judged))
    found = _distinct(item for claim in judged for item in claim.evidence)
    evidence = _distinct([*cited, *found])[:MOST_PASSAGES]
    return Fault(
        prompt=report.prompt,
        response=report.response,
        start=start,
        end=end,
        claims=sentence.claims,
        contradicted=tuple(
            Contradiction(claim, _numbers([of], evidence))
            for claim, of in zip(sentence.contradicted, judged, strict=True)
        ),
        removed=tuple(claim for claim in sentence.wrong if not claim.judgement.contradicted),
        unproven=sentence.unproven,
        kept=tuple(claim for claim in sentence.kept if claim.judgement.contradicted is None),
        staying=sentence.kept,
        cited=cited[:MOST_PASSAGES],
        evidence=evidence,
        so_far=so_far,
    )


def _cited(claims: Iterable[Claim]) -> list[Evidence]:
    return [item for claim in claims for item in claim.evidence if item.id in claim.judgement.cited]


def _numbers(claims: Sequence[Claim], evidence: Sequence[Evidence]) -> tuple[int, ...]:
    said = {(item.source, item.passage) for item in _cited(claims)}
    return tuple(number for number, item in enumerate(evidence, 1) if (item.source, item.passage) in said)


def _distinct(items: Iterable[Evidence]) -> tuple[Evidence, ...]:
    passages: dict[tuple[str, str], Evidence] = {}
    for item in items:
        passages.setdefault((item.source, item.passage), item)
    return tuple(passages.values())
