"""The view of a faulty sentence that a rewriter gets: its claims by what becomes of each, evidence, what precedes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from factloop.core.records import Claim, Evidence, FactualityReport
from factloop.correction.drafts import Draft
from factloop.correction.sentences import ResponseSentence, core

MOST_PASSAGES = 8
"""Given to a rewriter, those that verdicts cite first."""


@dataclass(frozen=True)
class Contradiction:
    """A claim that evidence contradicts."""

    claim: Claim
    by: tuple[int, ...]
    """Numbers, from 1, of the passages in `Fault.evidence` that say otherwise."""


@dataclass(frozen=True)
class Fault:
    """A faulty sentence without marks that reach beyond it."""

    prompt: str | None
    response: str
    start: int
    end: int
    claims: tuple[Claim, ...]
    """All that it states."""
    contradicted: tuple[Contradiction, ...]
    removed: tuple[Claim, ...]
    """The unproven claims that are to go."""
    unproven: tuple[Claim, ...]
    """The unproven claims that are to stay."""
    kept: tuple[Claim, ...]
    """The other claims that are to stay."""
    staying: tuple[Claim, ...]
    """All that are to stay, in their order."""
    cited: tuple[Evidence, ...]
    """What the contradictions rest on."""
    evidence: tuple[Evidence, ...]
    """The cited evidence, and what else was found on the contradicted claims; at most `MOST_PASSAGES`."""
    so_far: Draft
    """The response with the wordings that earlier sentences have got."""

    @property
    def text(self) -> str:
        return self.response[self.start : self.end]

    @property
    def wrong(self) -> tuple[Claim, ...]:
        return (*(one.claim for one in self.contradicted), *self.removed)

    @property
    def before(self) -> str:
        """The text before it, already corrected."""
        return self.so_far.text_before(self.start)


def fault_of(report: FactualityReport, sentence: ResponseSentence, by_id: Mapping[str, Claim], so_far: Draft) -> Fault:
    """The fault of one sentence. `by_id`: all claims of the report."""
    start, end = core(report.response, sentence.start, sentence.end)
    judged = [by_id.get(claim.duplicate_of or claim.id, claim) for claim in sentence.contradicted]
    cited = _distinct(_cited(judged))
    found = _distinct(item for claim in judged for item in claim.evidence)
    evidence = _distinct([*cited, *found])[:MOST_PASSAGES]
    unproven = sentence.unproven
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
        removed=unproven if sentence.removes_unproven else (),
        unproven=() if sentence.removes_unproven else unproven,
        kept=tuple(claim for claim in sentence.claims if claim.judgement.contradicted is None),
        staying=sentence.kept,
        cited=cited[:MOST_PASSAGES],
        evidence=evidence,
        so_far=so_far,
    )


def _cited(claims: Iterable[Claim]) -> list[Evidence]:
    return [item for claim in claims for item in claim.evidence if item.id in claim.judgement.cited]


def _numbers(claims: Sequence[Claim], evidence: Sequence[Evidence]) -> tuple[int, ...]:
    """The numbers in `evidence` of the passages that judgements cite; equal passages have one number."""
    said = {(item.source, item.passage) for item in _cited(claims)}
    return tuple(number for number, item in enumerate(evidence, 1) if (item.source, item.passage) in said)


def _distinct(items: Iterable[Evidence]) -> tuple[Evidence, ...]:
    passages: dict[tuple[str, str], Evidence] = {}
    for item in items:
        passages.setdefault((item.source, item.passage), item)
    return tuple(passages.values())
