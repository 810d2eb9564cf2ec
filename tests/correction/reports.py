from __future__ import annotations

from collections.abc import Sequence

from factloop.core.factuality import at_each_k, count_verdicts, precision
from factloop.core.records import (
    Claim,
    Evidence,
    FactualityReport,
    Judgement,
    NoClaim,
    Sentence,
    UnscoredReason,
    Usage,
    Verdict,
)
from tests.reports.sample import WHEN, make_report

JUDGEMENTS = {
    "s": Judgement(verdict=Verdict.SUPPORTED),
    "c": Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=True),
    "n": Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=False),
    "i": Judgement(verdict=Verdict.IRRELEVANT),
    "u": Judgement(unscored_reason=UnscoredReason.TIMEOUT),
    "a": Judgement(unscored_reason=UnscoredReason.AMBIGUOUS),
    "r": Judgement(unscored_reason=UnscoredReason.NEEDS_READING),
}
"""Supported, contradicted, nothing found, irrelevant, unscored by a failed call, as ambiguous or needing reading."""


def passage(text: str, number: int = 1) -> Evidence:
    return Evidence(id=f"e{number}", source=f"doc{number}.md", passage=text, query="q", rank=number, retrieved_at=WHEN)


def claims_of(sentence: str, start: int, letters: str, number: int, evidence: Sequence[Evidence] = ()) -> list[Claim]:
    """Claim `c3.2` is the second of sentence 3; its text is the sentence's, numbered if there are several."""
    return [
        Claim(
            id=f"c{number}.{place}",
            sentence=sentence,
            span=(start, start + len(sentence)),
            text=sentence if len(letters) == 1 else f"{sentence} ({place})",
            self_contained=sentence if len(letters) == 1 else f"{sentence} ({place})",
            evidence=tuple(evidence),
            judgement=JUDGEMENTS[letter].model_copy(
                update={"cited": tuple(item.id for item in evidence) if letter in "sc" else ()}
            ),
        )
        for place, letter in enumerate(letters, 1)
    ]


def report_of(
    *sentences: tuple[str, str], between: str = " ", evidence: Sequence[Evidence] = (), prompt: str | None = None
) -> FactualityReport:
    """The report on the joined sentences.

    ("Ann ran.", "sn") is a sentence with two claims and ("So?", "") one without. ("Ann ran.", "-") is a statement in
    which no claim was found.
    """
    claims: list[Claim] = []
    read: list[Sentence] = []
    start = 0
    for number, (sentence, letters) in enumerate(sentences, 1):
        own = claims_of(sentence, start, letters.strip("-"), number, evidence)
        claims += own
        silence = None if own else NoClaim.NO_CLAIM if letters else NoClaim.REMARK
        span = (start, start + len(sentence))
        read.append(Sentence(span=span, claims=tuple(claim.id for claim in own), no_claim=silence))
        start += len(sentence) + len(between)
    counts = count_verdicts(claims)
    base = make_report(between.join(sentence for sentence, _ in sentences), (), prompt=prompt)
    return FactualityReport(
        prompt=prompt,
        response=base.response,
        claims=tuple(claims),
        sentences=tuple(read),
        counts=counts,
        precision=precision(counts),
        at_k=at_each_k(counts, (64,)),
        usage=Usage(),
        fingerprint=base.fingerprint,
        created_at=WHEN,
    )
