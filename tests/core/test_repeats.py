from __future__ import annotations

import pytest

from factloop.core.factuality import claims_that_count, score_claims
from factloop.core.records import Claim, Counts, Judgement, UnscoredReason, Verdict

S, N = Verdict.SUPPORTED, Verdict.NOT_SUPPORTED


def claim(number: int, text: str, verdict: Verdict | None, *, of: int | None = None) -> Claim:
    reason = None if verdict is not None else UnscoredReason.AMBIGUOUS
    contradicted = False if verdict is N else None
    return Claim(
        id=f"c{number}",
        sentence=text,
        span=(number, number + 1),
        text=text,
        self_contained=text,
        relevant=True,
        duplicate_of=None if of is None else f"c{of}",
        judgement=Judgement(
            verdict=verdict, unscored_reason=reason, rationale="", judged_by="test", contradicted=contradicted
        ),
    )


CLAIMS = [
    claim(1, "Ada was born in London.", S),
    claim(2, "Ada was born in London.", S, of=1),
    claim(3, "ada was born in London", S),
    claim(4, "Ada wrote notes.", S),
]
"""Two facts, one of them said three times: twice found to be a repeat, and once in the same words apart from case."""


def test_two_facts_in_four_claims() -> None:
    """K = 4. Each: S = 4, recall 1, F1 1. Once: S = 2, recall 1/2, F1 2 * 1 * 0.5 / 1.5 = 2/3."""
    each, once = (score_claims(CLAIMS, [4], policy) for policy in ("each", "once"))
    assert (each.counts, each.at_k[0].recall, each.at_k[0].f1) == (Counts(supported=4), 1.0, 1.0)
    assert (once.counts, once.at_k[0].recall) == (Counts(supported=2, repeated=2), 0.5)
    assert once.at_k[0].f1 == pytest.approx(2 / 3)
    assert once.counts.total == each.counts.total == 4


def test_the_first_counts_whatever_its_verdict() -> None:
    claims = [claim(1, "Ada sang.", None), claim(2, "Ada sang.", S), claim(3, "", N), claim(4, "", N)]
    assert [one.id for one in claims_that_count(claims, "once")] == ["c1", "c3", "c4"]
    assert claims_that_count(claims, "each") == claims
