"""The kinds of report that the service shows; those of the evaluation package if it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from factloop.core.records import FactualityReport
from factloop.core.trust_records import TrustReport, TrustRun
from factloop.reports.figures import plural
from factloop.service.result_kind import ResultKind

HAS_EVALUATION = find_spec("factloop.evaluation") is not None


def _render_trust(run: TrustReport | TrustRun) -> str:
    from factloop.reports.trust.html import render_trust_html

    return render_trust_html(run)


def _render_check(report: FactualityReport) -> str:
    from factloop.reports.check.html import render_html

    return render_html(report)


def _check_words(report: FactualityReport) -> str:
    share = "undefined" if report.precision is None else f"{report.precision:.3f}"
    return f"precision {share} over {plural(report.counts.scored, 'scored claim')}"


def _evaluation_kinds() -> tuple[ResultKind, ...]:
    if not HAS_EVALUATION:
        return ()
    from factloop.service.evaluation_kinds import EVALUATION_KINDS

    return EVALUATION_KINDS


KINDS = (
    *_evaluation_kinds(),
    ResultKind(
        "trust",
        TrustRun,
        _render_trust,
        lambda run: plural(len(run.reports), "answer"),
        lambda run: f"TrustScore of {plural(len(run.reports), 'answer')}",
    ),
    ResultKind(
        "trust", TrustReport, _render_trust, lambda one: one.question, lambda _: "TrustScore of one answer", is_job=True
    ),
    ResultKind(
        "check",
        FactualityReport,
        _render_check,
        lambda report: report.prompt or report.response,
        _check_words,
        is_job=True,
    ),
)
"""All kinds, in the order in which they are tried."""
