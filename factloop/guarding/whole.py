"""One report on a whole answer, put together from those on its sentences."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.factuality import score_claims
from factloop.core.records import FactualityReport, NoClaim, Sentence
from factloop.core.report_warnings import engine_warnings, unscored_warning
from factloop.guarding.sentence import SentenceCheck
from factloop.reports.figures import plural
from factloop.tools.calls.meter import UsageMeter

GUARDED = (
    "Checked sentence by sentence while it was written: each with what stood before it, none with what came after."
)


def code_warning(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Reasons of sentences that were not read."""
    n = sum(one.no_claim is NoClaim.CODE for one in sentences)
    return (f"Code was not read (in {plural(n, 'place')}): the offline engine reads none.",) if n else ()


def whole_report(
    empty: FactualityReport, text: str, parts: Sequence[SentenceCheck], ks: Sequence[int], elapsed_s: float
) -> FactualityReport:
    """The report on `text`. `empty` is one without claims of the same checker; `usage` is the sum over the parts."""
    claims = tuple(claim for part in parts for claim in part.claims)
    sentences = tuple(part.sentence for part in parts if part.sentence is not None)
    scores, meter = score_claims(claims, ks, empty.fingerprint.repeats), UsageMeter()
    for part in parts:
        if part.usage is not None:
            meter.add(part.usage)
    fingerprint = empty.fingerprint
    settings = engine_warnings(fingerprint) if claims else ()
    found = (*code_warning(sentences), *unscored_warning(fingerprint, claims))
    whole = {
        **dict(empty),
        "response": text,
        "claims": claims,
        "sentences": sentences,
        **vars(scores),
        "usage": meter.snapshot(elapsed_s),
        "warnings": (*settings, *empty.warnings, GUARDED, *found),
    }
    return FactualityReport.model_validate(whole)
