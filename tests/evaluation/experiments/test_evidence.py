"""Whether a variant saw the baseline's evidence is found from the passages."""

from __future__ import annotations

from datetime import UTC, datetime

from factloop.core.records import Evidence, Judgement, Usage, Verdict
from factloop.evaluation.experiments.evidence import evidence_shared
from factloop.evaluation.experiments.records import JudgedClaim


def claim(variant: str, name: str, *passages: str, text: str = "A.", repeat: int = 1) -> JudgedClaim:
    evidence = tuple(
        Evidence(id=f"e{n}", source="s", passage=passage, query=variant, rank=n, retrieved_at=datetime.now(UTC))
        for n, passage in enumerate(passages, 1)
    )
    return JudgedClaim(
        variant=variant,
        repeat=repeat,
        claim_id=name,
        group="g",
        claim=text,
        gold=None,
        judgement=Judgement(verdict=Verdict.SUPPORTED),
        evidence=evidence,
        usage=Usage(),
    )


def shared(*claims: JudgedClaim, by_text: bool = False) -> tuple[int, int]:
    return evidence_shared(claims, "a", "b", by_text=by_text)


def test_equal_passages_in_equal_order_are_the_same_evidence_whatever_was_asked() -> None:
    assert shared(claim("a", "1", "x", "y"), claim("b", "1", "x", "y")) == (1, 1)
    assert shared(claim("a", "1", "x", "y"), claim("b", "1", "y", "x")) == (0, 1)
    assert shared(claim("a", "1", "x"), claim("b", "1", "x", "y")) == (0, 1)
    assert shared(claim("a", "1"), claim("b", "1")) == (1, 1)


def test_only_what_pairs_up_is_compared() -> None:
    one, other = claim("a", "1", "x"), claim("b", "2", "x")
    assert shared(one, other) == (0, 0)
    assert shared(one, other, by_text=True) == (1, 1)
    assert shared(one, claim("b", "1", "x", repeat=2)) == (0, 0)
    assert shared(one, claim("b", "9", "x", text=" a. "), by_text=True) == (1, 1)
