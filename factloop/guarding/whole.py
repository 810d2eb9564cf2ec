"""One report on a whole answer, put together from those on its sentences."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.evaluation.metrics.factuality import at_each_k, count_verdicts, precision
from factloop.evaluation.reports.figures import plural
from factloop.guarding.sentence import Checked
from factloop.records import FactualityReport
from factloop.report_warnings import engine_warnings, unscored_warning
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.linguistics.blocks import code_in

GUARDED = (
    "Checked sentence by sentence while it was written: each with what stood before it, none with what came after."
)


def code_warning(text: str) -> tuple[str, ...]:
    """What passed unread."""
    n = sum(1 for _ in code_in(text))
    return (f"Fenced code passed unread (in {plural(n, 'place')}): code is not checked.",) if n else ()


def whole_report(
    empty: FactualityReport, text: str, parts: Sequence[Checked], ks: Sequence[int], elapsed_s: float
) -> FactualityReport:
    """The report on `text`. `empty` is one without claims of the same checker; `usage` is the sum over the parts."""
    claims = tuple(claim for part in parts for claim in part.claims)
    counts, meter = count_verdicts(claims), UsageMeter()
    for part in parts:
        if part.usage is not None:
            meter.add(part.usage)
    fingerprint = empty.fingerprint
    settings = engine_warnings(fingerprint) if claims else ()
    whole = {
        **dict(empty),
        "response": text,
        "claims": claims,
        "counts": counts,
        "precision": precision(counts),
        "at_k": at_each_k(counts, ks),
        "usage": meter.snapshot(elapsed_s),
        "warnings": (*settings, *empty.warnings, GUARDED, *code_warning(text), *unscored_warning(fingerprint, claims)),
    }
    return FactualityReport.model_validate(whole)
