from __future__ import annotations

from typing import Any

from factloop.core.records import Claim, Evidence, Judgement, Verdict
from tests.reports.sample import WHEN


def passage(number: int, text: str, *, title: str = "", source: str = "") -> Evidence:
    return Evidence(
        id=f"e{number}",
        source=source or f"notes/{number}.md",
        title=title,
        passage=text,
        query="q",
        rank=number,
        retrieved_at=WHEN,
    )


def claim(text: str, *passages: str, sentence: str = "", cited: tuple[str, ...] = ("e1",), **judged: Any) -> Claim:
    """A claim judged by these passages, contradicted by default."""
    fields: dict[str, Any] = {"verdict": Verdict.NOT_SUPPORTED, "contradicted": True, **judged}
    if fields["verdict"] is not Verdict.NOT_SUPPORTED:
        fields["contradicted"] = None
    evidence = tuple(passage(number, one) for number, one in enumerate(passages, 1))
    return Claim(
        id=text,
        sentence=sentence or text,
        span=(0, len(sentence or text)),
        text=text,
        self_contained=text,
        evidence=evidence,
        judgement=Judgement(cited=cited if evidence else (), **fields),
    )
